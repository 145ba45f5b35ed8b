/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that a network shows to a program, and some that it should not: Ethernet with up to two
 * VLAN tags, ARP, IPv4 with options and fragments, IPv6 with fragment headers, TCP, UDP, ICMP,
 * tunnels, cut short, all noise, up to the size of a frame; now and then with metadata. Addresses
 * and ports come from small pools, so that maps can be filled with what packets will ask for.
 */
#ifndef PACKETS_H
#define PACKETS_H

#include "testrun.h"

uint32_t packets_random(void);	/* repeatable, 24 bits */
void packets_next(struct frame *frame);

/* A key that packets may ask for, for a map with keys of this size. */
void packets_key(void *key, uint32_t size, bool prefix, uint32_t max_entries);

#endif /* PACKETS_H */
