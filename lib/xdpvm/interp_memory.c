/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads, stores and atomic operations of the interpreter. Accesses may be unaligned. */
#include "interp.h"

uint64_t
xdpvm_load(const struct bpf_insn *insn, const void *address)
{
	bool is_signed = BPF_MODE(insn->code) == BPF_MEMSX;
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
	} value;

	switch (BPF_SIZE(insn->code)) {
	case BPF_B:
		memcpy(&value, address, 1);
		return is_signed ? (uint64_t)(int8_t)value.u8 : value.u8;
	case BPF_H:
		memcpy(&value, address, 2);
		return is_signed ? (uint64_t)(int16_t)value.u16 : value.u16;
	case BPF_W:
		memcpy(&value, address, 4);
		return is_signed ? (uint64_t)(int32_t)value.u32 : value.u32;
	default:
		memcpy(&value, address, 8);
		return value.u64;
	}
}

void
xdpvm_store(const struct bpf_insn *insn, void *address, uint64_t value)
{
	/* Little-endian: the low bytes come first. */
	switch (BPF_SIZE(insn->code)) {
	case BPF_B:
		memcpy(address, &value, 1);
		break;
	case BPF_H:
		memcpy(address, &value, 2);
		break;
	case BPF_W:
		memcpy(address, &value, 4);
		break;
	default:
		memcpy(address, &value, 8);
	}
}

static uint32_t
atomic32(int operation, uint32_t *address, uint32_t operand, uint32_t *expected)
{
	switch (operation & ~BPF_FETCH) {
	case BPF_ADD:
		return __atomic_fetch_add(address, operand, __ATOMIC_SEQ_CST);
	case BPF_AND:
		return __atomic_fetch_and(address, operand, __ATOMIC_SEQ_CST);
	case BPF_OR:
		return __atomic_fetch_or(address, operand, __ATOMIC_SEQ_CST);
	case BPF_XOR:
		return __atomic_fetch_xor(address, operand, __ATOMIC_SEQ_CST);
	case BPF_XCHG & ~BPF_FETCH:
		return __atomic_exchange_n(address, operand, __ATOMIC_SEQ_CST);
	default:	/* BPF_CMPXCHG: leaves the old value in expected */
		__atomic_compare_exchange_n(address, expected, operand, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
		return *expected;
	}
}

static uint64_t
atomic64(int operation, uint64_t *address, uint64_t operand, uint64_t *expected)
{
	switch (operation & ~BPF_FETCH) {
	case BPF_ADD:
		return __atomic_fetch_add(address, operand, __ATOMIC_SEQ_CST);
	case BPF_AND:
		return __atomic_fetch_and(address, operand, __ATOMIC_SEQ_CST);
	case BPF_OR:
		return __atomic_fetch_or(address, operand, __ATOMIC_SEQ_CST);
	case BPF_XOR:
		return __atomic_fetch_xor(address, operand, __ATOMIC_SEQ_CST);
	case BPF_XCHG & ~BPF_FETCH:
		return __atomic_exchange_n(address, operand, __ATOMIC_SEQ_CST);
	default:
		__atomic_compare_exchange_n(address, expected, operand, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
		return *expected;
	}
}

void
xdpvm_atomic(const struct bpf_insn *insn, void *address, uint64_t *src, uint64_t *r0)
{
	uint32_t expected32 = *r0;
	uint64_t expected64 = *r0;
	uint64_t old;

	if (BPF_SIZE(insn->code) == BPF_W)
		old = atomic32(insn->imm, address, *src, &expected32);
	else
		old = atomic64(insn->imm, address, *src, &expected64);
	if (insn->imm == BPF_CMPXCHG)
		*r0 = old;
	else if (insn->imm & BPF_FETCH)
		*src = old;
}
