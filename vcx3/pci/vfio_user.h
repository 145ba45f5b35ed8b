/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server's end of a vfio-user connection: one client at a time, messages in, replies
 * out (connectx3-pci.md A.2; QEMU docs/interop/vfio-user).
 */
#ifndef VCX3_PCI_VFIO_USER_H
#define VCX3_PCI_VFIO_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../core/runner.h"
#include "pci.h"

#define VCX3_VFU_FDS 16
#define VCX3_VFU_DATA 65536 /* of a register access */
#define VCX3_VFU_BODY (VCX3_VFU_DATA + 64)

struct vcx3_vfu {
	struct vcx3_pci *pci;
	struct vcx3_runner *runner; /* its lock guards the pci */
	int fd; /* of the client, -1: none */
	uint8_t body[VCX3_VFU_BODY];
	uint8_t reply[VCX3_VFU_BODY];
};

/**
 * Listens at a path; a socket that nobody serves any more is replaced.
 *
 * @return a descriptor or a negative errno with a sentence.
 */
int vcx3_vfu_listen(const char *path, char *reason, size_t size);

/** Takes a client; it must speak before anything else happens. */
int vcx3_vfu_accept(struct vcx3_vfu *vfu, int listener);

/**
 * Receives one message and answers it.
 *
 * @return 0, or a negative errno: the connection cannot go on.
 */
int vcx3_vfu_serve(struct vcx3_vfu *vfu);

/** Ends the connection: the guest's memory and interrupts go, the device is reset. */
void vcx3_vfu_disconnect(struct vcx3_vfu *vfu);

/**
 * The answer to one message, for tests; under the lock.
 *
 * @param fds
 *   Descriptors that came along; those that are kept are set to -1.
 * @return bytes of reply, or a negative errno.
 */
int vcx3_vfu_handle(struct vcx3_vfu *vfu, uint16_t command, uint32_t length, int *fds,
		    unsigned int nb_fds);

#endif
