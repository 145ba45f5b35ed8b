/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256, FIPS 180-4: for program tags and for the names of accepted objects. */
#ifndef XDPVM_SHA256_H
#define XDPVM_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define XDPVM_SHA256_BYTES 32

void xdpvm_sha256(const void *message, size_t size, uint8_t digest[XDPVM_SHA256_BYTES]);

#endif /* XDPVM_SHA256_H */
