/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An object from a stranger: the bytes of an ELF file are opened, loaded with the prover's word,
 * and run in native code on packets between closed pages. libbpf has no sanitizer here; what it
 * must not see has been refused before.
 */
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool registered;
	struct exercise exercise;

	if (!registered)
		registered = xdpvm_thread_register(XDPVM_THREAD_ANY) >= 0;
	exercise_object(data, size, XDPVM_VERIFY_INTERNAL, XDPVM_ENGINE_AUTO, &exercise);
	return 0;
}
