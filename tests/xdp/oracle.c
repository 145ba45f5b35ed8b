/* SPDX-License-Identifier: BSD-3-Clause */
/* See oracle.h. */
#include <stdarg.h>
#include <stdio.h>

#include "helper.h"
#include "interp.h"
#include "oracle.h"

#define REGIONS_MAX 4096

enum rights { READ, WRITE };

struct region {
	uint64_t start;
	uint64_t size;
	enum rights rights;
	bool record;
};

static struct {
	bool on;
	struct xdpvm_buff *buff;
	const struct raw_maps *maps;
	struct region regions[REGIONS_MAX];
	uint32_t n;
	const struct xdpvm_prog *caller;	/* of the helper that is about to be called */
	uint32_t helper;
	uint64_t looked_at;
	char fault[256];
} oracle;

static void __attribute__((format(printf, 1, 2)))
tell(const char *format, ...)
{
	va_list args;

	if (oracle.fault[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(oracle.fault, sizeof(oracle.fault), format, args);
	va_end(args);
}

/* ---- What a program owns --------------------------------------------------------------------- */

static void
add_region(uint64_t start, uint64_t size, enum rights rights, bool record)
{
	struct region region = { start, size, rights, record };
	uint32_t i = 0;

	while (i < oracle.n && oracle.regions[i].size != 0 &&
	       (oracle.regions[i].start != start || oracle.regions[i].size != size))
		i++;
	if (i == REGIONS_MAX)
		tell("more than %u regions", REGIONS_MAX);
	else
		oracle.regions[i] = region;
	oracle.n += i == oracle.n;
}

static bool
within(uint64_t address, uint64_t size, uint64_t start, uint64_t end)
{
	return address >= start && address <= end && size <= end - address;
}

static bool
in_packet(uint64_t address, uint64_t size)
{
	const struct xdpvm_buff *buff = oracle.buff;
	uint8_t *start = buff->data_meta < buff->data ? buff->data_meta : buff->data;

	return within(address, size, (uintptr_t)start, (uintptr_t)buff->data_end);
}

static bool
in_stack(uint64_t address, uint64_t size)
{
	for (struct xdpvm_frame *frame = oracle.buff->interp; frame != NULL; frame = frame->outer)
		if (within(address, size, (uintptr_t)frame->stack,
			   (uintptr_t)frame->stack + XDPVM_FRAME_STACK))
			return true;
	return false;
}

static bool
in_region(uint64_t address, uint64_t size, enum rights rights)
{
	for (uint32_t i = 0; i < oracle.n; i++) {
		const struct region *region = &oracle.regions[i];

		if (within(address, size, region->start, region->start + region->size) &&
		    rights <= region->rights)
			return true;
	}
	return false;
}

/* A whole field of the context, as the rewrite reads it. */
static bool
in_context(uint64_t address, uint64_t size)
{
	switch (address - (uintptr_t)oracle.buff) {
	case offsetof(struct xdpvm_buff, data):
	case offsetof(struct xdpvm_buff, data_end):
	case offsetof(struct xdpvm_buff, data_meta):
		return size == 8;
	case offsetof(struct xdpvm_buff, ingress_ifindex):
	case offsetof(struct xdpvm_buff, rx_queue_index):
	case offsetof(struct xdpvm_buff, egress_ifindex):
		return size == 4;
	default:
		return false;
	}
}

static bool
owned(uint64_t address, uint64_t size, enum rights rights)
{
	oracle.looked_at++;
	return in_packet(address, size) || in_stack(address, size) ||
	       in_region(address, size, rights);
}

/* ---- Instructions ---------------------------------------------------------------------------- */

uint64_t __real_xdpvm_load(const struct bpf_insn *insn, const void *address);
void __real_xdpvm_store(const struct bpf_insn *insn, void *address, uint64_t value);
void __real_xdpvm_atomic(const struct bpf_insn *insn, void *address, uint64_t *src, uint64_t *r0);
uint64_t __wrap_xdpvm_load(const struct bpf_insn *insn, const void *address);
void __wrap_xdpvm_store(const struct bpf_insn *insn, void *address, uint64_t value);
void __wrap_xdpvm_atomic(const struct bpf_insn *insn, void *address, uint64_t *src, uint64_t *r0);

static unsigned int
size_of(const struct bpf_insn *insn)
{
	switch (BPF_SIZE(insn->code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

static bool
may_access(const struct bpf_insn *insn, const void *address, enum rights rights)
{
	uint64_t place = (uintptr_t)address;
	unsigned int size = size_of(insn);

	if (!oracle.on || owned(place, size, rights) ||
	    (rights == READ && in_context(place, size)))
		return true;
	tell("%s %u bytes at %p", rights == WRITE ? "writes" : "reads", size, address);
	return false;
}

uint64_t
__wrap_xdpvm_load(const struct bpf_insn *insn, const void *address)
{
	return may_access(insn, address, READ) ? __real_xdpvm_load(insn, address) : 0;
}

void
__wrap_xdpvm_store(const struct bpf_insn *insn, void *address, uint64_t value)
{
	if (may_access(insn, address, WRITE))
		__real_xdpvm_store(insn, address, value);
}

void
__wrap_xdpvm_atomic(const struct bpf_insn *insn, void *address, uint64_t *src, uint64_t *r0)
{
	if (oracle.on && (uintptr_t)address % size_of(insn) != 0)
		tell("an atomic operation at %p is not aligned", address);
	if (may_access(insn, address, WRITE))
		__real_xdpvm_atomic(insn, address, src, r0);
}

/* ---- Helpers --------------------------------------------------------------------------------- */

xdpvm_helper_fn __real_xdpvm_helper_entry(const struct xdpvm_prog *prog, uint32_t id);
xdpvm_helper_fn __wrap_xdpvm_helper_entry(const struct xdpvm_prog *prog, uint32_t id);
uint64_t __real_xdpvm_interp_callback(struct xdpvm_buff *buff, uint64_t callback, uint64_t r1,
				      uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5);
uint64_t __wrap_xdpvm_interp_callback(struct xdpvm_buff *buff, uint64_t callback, uint64_t r1,
				      uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5);

struct call {
	const struct xdpvm_prog *caller;
	const struct xdpvm_helper *helper;
	uint32_t id;
	uint64_t args[5];
	const struct xdpvm_map *map;
};

static const struct xdpvm_map *
known_map(uint64_t address)
{
	for (uint32_t i = 0; i < oracle.maps->n; i++)
		if (address == (uintptr_t)&oracle.maps->maps[i])
			return &oracle.maps->maps[i];
	return NULL;
}

/* Helpers that take the map's own state for that of their type. */
static bool
right_type(uint32_t id, const struct xdpvm_map *map)
{
	switch (id) {
	case BPF_FUNC_perf_event_output:
		return map->type == BPF_MAP_TYPE_PERF_EVENT_ARRAY;
	case BPF_FUNC_ringbuf_reserve:
	case BPF_FUNC_ringbuf_output:
	case BPF_FUNC_ringbuf_query:
		return map->type == BPF_MAP_TYPE_RINGBUF;
	default:
		return true;
	}
}

static bool
right_map(struct call *call, uint64_t address)
{
	call->map = known_map(address);
	return call->map != NULL && right_type(call->id, call->map);
}

/* The record that starts there, or NULL. */
static struct region *
record_at(uint64_t address)
{
	for (uint32_t i = 0; i < oracle.n; i++)
		if (oracle.regions[i].record && oracle.regions[i].start == address)
			return &oracle.regions[i];
	return NULL;
}

static bool
is_function(const struct xdpvm_prog *prog, uint64_t address)
{
	for (uint32_t i = 0; i < prog->n_subprogs; i++)
		if (address == (uintptr_t)&prog->subprogs[i])
			return true;
	return false;
}

static bool
is_string(uint64_t address)
{
	const struct xdpvm_map *map = &oracle.maps->maps[RAW_RODATA];
	uint64_t end = (uintptr_t)map->base + map->value_size;

	return within(address, 1, (uintptr_t)map->base, end) &&
	       memchr((const void *)(uintptr_t)address, 0, end - address) != NULL;
}

static bool
sized(const struct call *call, unsigned int arg, enum rights rights)
{
	uint64_t size = call->args[arg + 1];

	return size == 0 ? call->helper->args[arg + 1] == XDPVM_ARG_SIZE_OR_ZERO :
			   owned(call->args[arg], size, rights);
}

static bool
right_argument(struct call *call, unsigned int arg)
{
	uint64_t value = call->args[arg];

	switch (call->helper->args[arg]) {
	case XDPVM_ARG_CTX:
		return value == (uintptr_t)oracle.buff;
	case XDPVM_ARG_MAP:
		return right_map(call, value);
	case XDPVM_ARG_MAP_KEY:
		return call->map->key_size == 0 || owned(value, call->map->key_size, READ);
	case XDPVM_ARG_MAP_VALUE:
		return call->map->value_size == 0 || owned(value, call->map->value_size, READ);
	case XDPVM_ARG_MAP_VALUE_OUT:
		return call->map->value_size == 0 || owned(value, call->map->value_size, WRITE);
	case XDPVM_ARG_MEM:
	case XDPVM_ARG_MEM_OR_NULL:
		return sized(call, arg, READ);
	case XDPVM_ARG_MEM_OUT:
		return sized(call, arg, WRITE);
	case XDPVM_ARG_U32_OUT:
		return value % 4 == 0 && owned(value, 4, WRITE);
	case XDPVM_ARG_STRING:
		return is_string(value);
	case XDPVM_ARG_FUNCTION:
		return is_function(call->caller, value);
	case XDPVM_ARG_RINGBUF_MEM:
		return record_at(value) != NULL;
	case XDPVM_ARG_SPIN_LOCK:
	case XDPVM_ARG_FIXED_MEM:
		return false;	/* no helper that a proven program may call */
	default:
		return true;
	}
}

static bool
right_arguments(struct call *call)
{
	for (unsigned int arg = 0; arg < 5; arg++) {
		if (right_argument(call, arg))
			continue;
		tell("%s gets 0x%llx as R%u", call->helper->name,
		     (unsigned long long)call->args[arg], arg + 1);
		return false;
	}
	return true;
}

/* What the program may use from now on, and no more. */
static void
note_result(const struct call *call, uint64_t result)
{
	bool of_maps = call->map != NULL && (call->map->type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
					     call->map->type == BPF_MAP_TYPE_HASH_OF_MAPS);

	if (call->helper->args[0] == XDPVM_ARG_RINGBUF_MEM)
		*record_at(call->args[0]) = (struct region){ 0 };
	if (result == 0)
		return;
	if (call->helper->ret == XDPVM_RET_MAP_VALUE_OR_NULL && !of_maps)
		add_region(result, call->map->value_size, call->map->type == BPF_MAP_TYPE_DEVMAP ||
			   (call->map->flags & BPF_F_RDONLY_PROG) ? READ : WRITE, false);
	if (call->helper->ret == XDPVM_RET_RINGBUF_MEM_OR_NULL)
		add_region(result, call->args[1], WRITE, true);
}

static uint64_t
checked_helper(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5,
	       struct xdpvm_buff *buff)
{
	struct call call = {
		.caller = oracle.caller, .id = oracle.helper,
		.helper = xdpvm_helper_get(oracle.helper), .args = { r1, r2, r3, r4, r5 },
	};
	uint64_t result;

	if (!right_arguments(&call))
		return 0;
	result = __real_xdpvm_helper_entry(call.caller, call.id)(r1, r2, r3, r4, r5, buff);
	note_result(&call, result);
	return result;
}

xdpvm_helper_fn
__wrap_xdpvm_helper_entry(const struct xdpvm_prog *prog, uint32_t id)
{
	if (!oracle.on)
		return __real_xdpvm_helper_entry(prog, id);
	oracle.caller = prog;
	oracle.helper = id;
	return checked_helper;
}

uint64_t
__wrap_xdpvm_interp_callback(struct xdpvm_buff *buff, uint64_t callback, uint64_t r1, uint64_t r2,
			     uint64_t r3, uint64_t r4, uint64_t r5)
{
	const struct xdpvm_map *map = known_map(r1);

	/* bpf_loop() gives a number first, and no map lies that low. */
	if (oracle.on && map != NULL) {
		add_region(r2, map->key_size, READ, false);
		add_region(r3, map->value_size, map->flags & BPF_F_RDONLY_PROG ? READ : WRITE,
			   false);
	}
	return __real_xdpvm_interp_callback(buff, callback, r1, r2, r3, r4, r5);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Arrays that instructions name directly. */
static void
add_globals(const struct raw_maps *maps)
{
	for (uint32_t i = 0; i < maps->n; i++)
		if (maps->maps[i].layout == XDPVM_LAYOUT_ARRAY)
			add_region((uintptr_t)maps->maps[i].base, maps->maps[i].value_size,
				   maps->maps[i].flags & BPF_F_RDONLY_PROG ? READ : WRITE, false);
}

const char *
oracle_run(struct xdpvm_prog *prog, struct xdpvm_buff *buff, const struct raw_maps *maps,
	   uint32_t *action)
{
	oracle.buff = buff;
	oracle.maps = maps;
	oracle.n = 0;
	oracle.fault[0] = '\0';
	add_globals(maps);
	oracle.on = true;
	*action = xdpvm_run(prog, buff);
	oracle.on = false;
	for (uint32_t i = 0; i < oracle.n; i++)
		if (oracle.regions[i].record)
			tell("keeps a record of %llu bytes",
			     (unsigned long long)oracle.regions[i].size);
	return oracle.fault[0] != '\0' ? oracle.fault : NULL;
}

uint64_t
oracle_looked_at(void)
{
	return oracle.looked_at;
}
