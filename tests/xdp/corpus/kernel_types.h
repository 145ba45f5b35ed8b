/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What samples/bpf of Linux takes from headers inside the kernel, which are not there when only its
 * user headers are: included before each of them.
 */
#ifndef KERNEL_TYPES_H
#define KERNEL_TYPES_H

#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <linux/udp.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#define __force
#define __packed __attribute__((packed))
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define htons(number) __builtin_bswap16(number)
#define cpu_to_be32(number) __builtin_bswap32(number)
#define ntohs(number) __builtin_bswap16(number)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))

/* As in include/linux/socket.h. */
#define AF_INET 2
#define AF_INET6 10

struct vlan_hdr {
	__be16 h_vlan_TCI;
	__be16 h_vlan_encapsulated_proto;
};

#endif /* KERNEL_TYPES_H */
