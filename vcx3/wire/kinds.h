/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCX3_WIRE_KINDS_H
#define VCX3_WIRE_KINDS_H

/*
 * What the kinds of wire share with each other and with nobody else: one check
 * and one open function for each kind, and the helpers that they are written with.
 */

#include "wire.h"

/* Writes the sentence and returns -error. */
__attribute__((format(printf, 4, 5)))
int vcx3_wire_refuse(char *reason, size_t size, int error, const char *format, ...);

/* Tells the owner of the card about an event. */
__attribute__((format(printf, 2, 3)))
void vcx3_wire_log(const struct vcx3_wire *wire, const char *format, ...);

const char *vcx3_wire_kind_name(enum vcx3_wire_kind kind);

/* Zeroed memory of bytes >= sizeof(struct vcx3_wire), the shared part filled, carrier up. */
void *vcx3_wire_alloc(size_t bytes, enum vcx3_wire_kind kind, const struct vcx3_wire_ops *ops,
	const struct vcx3_wire_env *env);

#define VCX3_WIRE_CHECK(name) \
	int vcx3_##name##_check(const struct vcx3_wire_spec *spec, char *reason, size_t size)
#define VCX3_WIRE_OPEN(name) \
	int vcx3_##name##_open(const struct vcx3_wire_spec *spec, \
		const struct vcx3_wire_env *env, struct vcx3_wire **out, char *reason, size_t size)

VCX3_WIRE_CHECK(pcap);
VCX3_WIRE_CHECK(gen);
VCX3_WIRE_CHECK(packet);
VCX3_WIRE_CHECK(tap);
VCX3_WIRE_CHECK(unix);

VCX3_WIRE_OPEN(self);
VCX3_WIRE_OPEN(sink);
VCX3_WIRE_OPEN(pcap);
VCX3_WIRE_OPEN(gen);
VCX3_WIRE_OPEN(packet);
VCX3_WIRE_OPEN(tap);
VCX3_WIRE_OPEN(unix);

/* Opens both ends of a peer pair. */
int vcx3_peer_open(const struct vcx3_wire_env env[2], struct vcx3_wire *out[2],
	char *reason, size_t size);

/* Removes the socket at path if nobody listens on it. */
void vcx3_unix_cleanup(const char *path);

/* Flags (IFF_...) of a network interface by way of any socket, or 0 when it is gone. */
uint32_t vcx3_interface_flags(int fd, const char *name);

/* Writes all bytes to fd. 0 or a negative errno. */
int vcx3_write_all(int fd, const void *bytes, size_t count);

#endif /* VCX3_WIRE_KINDS_H */
