/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which symbols of the kernel an object declares, for messages: the undefined ones. (libbpf puts
 * a placeholder in place of their names in BTF.)
 */
#include <stdio.h>

#include "elf_file.h"
#include "object.h"

void
xdpvm_object_ksyms(const struct xdpvm_object *object, char *names, size_t size)
{
	struct xdpvm_elf elf;
	const char *name;
	size_t used = 0;

	snprintf(names, size, "no name known");
	if (object->image == NULL)
		return;
	xdpvm_elf_open(&elf, object->image);
	for (uint32_t i = 1; i < elf.n_symbols && used < size; i++) {
		name = xdpvm_elf_symbol_name(&elf, i);
		if (name[0] != '\0' && elf.symbols[i].st_shndx == SHN_UNDEF)
			used += snprintf(names + used, size - used, "%s%s", used > 0 ? ", " : "",
					 name);
	}
}
