/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of helpers: every argument is what the helper's contract (helper_table.c) asks for, or the
 * program is refused; nothing about arguments is left to run time.
 */
#include "prove.h"

struct call {
	struct prover *prover;
	uint32_t i;
	struct prove_state *state;
	int32_t id;		/* of the helper */
	const struct xdpvm_helper *helper;
	const struct xdpvm_map *map;	/* its map argument */
	uint64_t const_size;
};

static const struct prove_value *
argument(const struct call *call, unsigned int arg)
{
	return &prove_top(call->state)->regs[BPF_REG_1 + arg];
}

static int
refuse(const struct call *call, unsigned int arg, const char *wanted)
{
	return xdpvm_prove_refuse(call->prover, call->i, BPF_REG_1 + arg, argument(call, arg),
				  wanted);
}

/* Helpers that look inside the map's own state without asking for its type. */
static uint32_t
type_wanted(int32_t helper)
{
	switch (helper) {
	case BPF_FUNC_tail_call:
		return BPF_MAP_TYPE_PROG_ARRAY;
	case BPF_FUNC_perf_event_output:
		return BPF_MAP_TYPE_PERF_EVENT_ARRAY;
	case BPF_FUNC_ringbuf_reserve:
	case BPF_FUNC_ringbuf_output:
	case BPF_FUNC_ringbuf_query:
		return BPF_MAP_TYPE_RINGBUF;
	default:
		return BPF_MAP_TYPE_UNSPEC;
	}
}

/* Linux: record_func_map(). Memory of read-only maps may really be so. */
static bool
writes_to_map(int32_t helper)
{
	return helper == BPF_FUNC_map_update_elem || helper == BPF_FUNC_map_delete_elem ||
	       helper == BPF_FUNC_map_push_elem || helper == BPF_FUNC_map_pop_elem;
}

static int
check_map(struct call *call, unsigned int arg)
{
	const struct prove_value *value = argument(call, arg);
	uint32_t wanted = type_wanted(call->id);

	if (value->kind != PROVE_MAP || value->maybe_null)
		return refuse(call, arg, "a map");
	call->map = value->map;
	if ((value->map->flags & BPF_F_RDONLY_PROG) != 0 && writes_to_map(call->id))
		return xdpvm_prog_fail(call->prover->prog, call->i, -EACCES,
				       "map %s may not be written by programs", value->map->name);
	/* A template is no map that the engines know before the run. */
	if (wanted == BPF_MAP_TYPE_UNSPEC || (wanted == value->map->type && value->map->ops != NULL))
		return 0;
	return xdpvm_prog_fail(call->prover->prog, call->i, -EACCES,
			       "%s cannot be used with map %s of type %u", call->helper->name,
			       value->map->name, value->map->type);
}

static int
check_region(const struct call *call, unsigned int arg, uint64_t size, bool write)
{
	uint32_t *bytes = &call->prover->bytes[call->i];

	if (size == 0)
		return 0;
	if (*bytes < size)
		*bytes = size;
	return xdpvm_prove_region(call->prover, call->i, call->state, BPF_REG_1 + arg, size, write);
}

/* Memory whose size is the next argument. */
static int
check_sized(const struct call *call, unsigned int arg, bool write)
{
	const struct prove_value *size = argument(call, arg + 1);
	bool zero = call->helper->args[arg + 1] == XDPVM_ARG_SIZE_OR_ZERO;
	bool null = call->helper->args[arg] == XDPVM_ARG_MEM_OR_NULL &&
		    prove_is_null(argument(call, arg));

	if (size->kind != PROVE_NUMBER || size->max > PROVE_OFFSET_MAX)
		return refuse(call, arg + 1, "a size that is proven to be small");
	if (size->min == 0 && !zero)
		return refuse(call, arg + 1, "proven to be more than 0");
	if (null && size->max > 0)
		return refuse(call, arg + 1, "0, as the memory is NULL");
	return check_region(call, arg, size->max, write);
}

/* Four aligned bytes: on the stack and in map values, whose values start aligned. */
static int
check_u32(const struct call *call, unsigned int arg)
{
	const struct prove_value *value = argument(call, arg);

	if ((value->kind != PROVE_STACK && value->kind != PROVE_VALUE) || value->id != 0 ||
	    value->offset % sizeof(uint32_t) != 0)
		return refuse(call, arg, "aligned to 4 bytes, on the stack or in a map value");
	return check_region(call, arg, sizeof(uint32_t), true);
}

/* A string that cannot change and ends inside its map. */
static int
check_string(const struct call *call, unsigned int arg)
{
	const struct prove_value *value = argument(call, arg);
	const struct xdpvm_map *map = value->map;

	if (value->kind != PROVE_VALUE || value->maybe_null || !map->frozen ||
	    map->layout != XDPVM_LAYOUT_ARRAY || map->max_entries != 1 || value->id != 0 ||
	    value->offset < 0 || (uint32_t)value->offset >= map->value_size ||
	    memchr(map->base + value->offset, 0, map->value_size - value->offset) == NULL)
		return refuse(call, arg, "a string in read-only data");
	return 0;
}

static int
check_const_size(struct call *call, unsigned int arg)
{
	const struct prove_value *value = argument(call, arg);

	if (!prove_is_constant(value) || value->min > PROVE_OFFSET_MAX)
		return refuse(call, arg, "a constant size");
	call->const_size = value->min;
	return 0;
}

static int
check_record(const struct call *call, unsigned int arg)
{
	const struct prove_value *value = argument(call, arg);

	if (value->kind != PROVE_MEMORY || value->read_only || value->maybe_null ||
	    value->id != 0 || value->offset != 0)
		return refuse(call, arg, "the start of a record that was reserved");
	return 0;
}

static int
check_argument(struct call *call, unsigned int arg)
{
	const struct prove_value *value = argument(call, arg);

	switch (call->helper->args[arg]) {
	case XDPVM_ARG_ANYTHING:
	case XDPVM_ARG_SIZE:		/* checked with the memory before it */
	case XDPVM_ARG_SIZE_OR_ZERO:
		return 0;
	case XDPVM_ARG_CTX:
		return value->kind == PROVE_CTX && value->offset == 0 ? 0 :
		       refuse(call, arg, "the context");
	case XDPVM_ARG_MAP:
		return check_map(call, arg);
	case XDPVM_ARG_MAP_KEY:
		return check_region(call, arg, call->map->key_size, false);
	case XDPVM_ARG_MAP_VALUE:
		return check_region(call, arg, call->map->value_size, false);
	case XDPVM_ARG_MAP_VALUE_OUT:
		return check_region(call, arg, call->map->value_size, true);
	case XDPVM_ARG_MEM:
	case XDPVM_ARG_MEM_OR_NULL:
		return check_sized(call, arg, false);
	case XDPVM_ARG_MEM_OUT:
		return check_sized(call, arg, true);
	case XDPVM_ARG_U32_OUT:
		return check_u32(call, arg);
	case XDPVM_ARG_STRING:
		return check_string(call, arg);
	case XDPVM_ARG_FUNCTION:
		return value->kind == PROVE_FUNCTION ? 0 : refuse(call, arg, "a function");
	case XDPVM_ARG_STACK_OR_NULL:
		return value->kind == PROVE_STACK || prove_is_null(value) ? 0 :
		       refuse(call, arg, "a place on the stack or NULL");
	case XDPVM_ARG_RINGBUF_MEM:
		return check_record(call, arg);
	case XDPVM_ARG_CONST_SIZE:
		return check_const_size(call, arg);
	case XDPVM_ARG_FIXED_MEM:
		return check_region(call, arg, call->helper->fixed_size, false);
	default:
		/*
		 * XDPVM_ARG_SPIN_LOCK: a run that ends early would keep the lock, and nothing
		 * keeps a program from writing over it and waiting for ever.
		 */
		return xdpvm_prog_fail(call->prover->prog, call->i, -ENOTSUP,
				       "%s needs verify=kernel", call->helper->name);
	}
}

static int
check_arguments(struct call *call)
{
	int ret = 0;

	for (unsigned int arg = 0; arg < 5 && ret == 0; arg++) {
		if (call->helper->args[arg] == XDPVM_ARG_NONE)
			break;
		ret = xdpvm_prove_readable(call->prover, call->i, call->state, BPF_REG_1 + arg);
		if (ret == 0)
			ret = check_argument(call, arg);
	}
	return ret;
}

/* A place of the frame that goes away cannot be used by whoever comes after. */
static int
check_tail_call(const struct call *call)
{
	if (call->state->depth != 0)
		return xdpvm_prog_fail(call->prover->prog, call->i, -ENOTSUP,
				       "tail calls from functions need verify=kernel");
	if (call->state->record)
		return xdpvm_prog_fail(call->prover->prog, call->i, -EACCES,
				       "a reserved record must be submitted or discarded before");
	return 0;
}

static void
make_stale(struct prove_value *value, void *arg)
{
	if (value->kind == PROVE_PACKET || value->kind == PROVE_META || value->kind == PROVE_END)
		*value = (struct prove_value){ .kind = PROVE_STALE, .width = value->width };
}

/* Only one record is held at a time, so whatever points into a record points into that one. */
static void
drop_record(struct prove_value *value, void *arg)
{
	if (value->kind == PROVE_MEMORY && !value->read_only)
		*value = (struct prove_value){ .kind = PROVE_UNSET };
}

static void
take_effect(const struct call *call)
{
	struct prove_state *state = call->state;

	if (call->helper->flags & XDPVM_HELPER_MOVES_PACKET) {
		xdpvm_prove_each(state, make_stale, NULL);
		state->packet_range = 0;
		state->meta_range = 0;
	}
	if (call->helper->args[0] == XDPVM_ARG_RINGBUF_MEM) {
		xdpvm_prove_each(state, drop_record, NULL);
		state->record = false;
	}
}

bool
xdpvm_prove_read_only_values(const struct xdpvm_map *map)
{
	switch (map->type) {
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
	case BPF_MAP_TYPE_CPUMAP:
	case BPF_MAP_TYPE_XSKMAP:
		return true;
	default:
		return false;
	}
}

static struct prove_value
found_value(const struct call *call)
{
	struct prove_value value = {
		.kind = PROVE_VALUE, .maybe_null = true, .map = call->map,
		.read_only = xdpvm_prove_read_only_values(call->map), .id = ++call->prover->next_id,
	};

	if (call->map->type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
	    call->map->type == BPF_MAP_TYPE_HASH_OF_MAPS) {
		value.kind = PROVE_MAP;
		value.map = call->map->inner_template;
		value.read_only = false;
	}
	return value;
}

static int
set_result(const struct call *call, struct prove_value *result)
{
	switch (call->helper->ret) {
	case XDPVM_RET_VOID:
		*result = (struct prove_value){ .kind = PROVE_UNSET };
		return 0;
	case XDPVM_RET_MAP_VALUE_OR_NULL:
		*result = found_value(call);
		return 0;
	case XDPVM_RET_RINGBUF_MEM_OR_NULL:
		if (call->state->record)
			return xdpvm_prog_fail(call->prover->prog, call->i, -ENOTSUP, "two records "
					       "at a time need verify=kernel");
		call->state->record = true;
		*result = (struct prove_value){
			.kind = PROVE_MEMORY, .maybe_null = true, .range = call->const_size,
			.id = ++call->prover->next_id,
		};
		return 0;
	default:
		*result = xdpvm_prove_unknown(call->prover, 8);
		return 0;
	}
}

int
xdpvm_prove_helper(struct prover *prover, uint32_t i, struct prove_state *state)
{
	struct prove_value *regs = prove_top(state)->regs;
	struct call call = {
		.prover = prover, .i = i, .state = state, .id = prover->prog->insns[i].imm,
		.helper = xdpvm_helper_get(prover->prog->insns[i].imm),
	};
	int ret = check_arguments(&call);

	if (ret == 0 && (call.helper->flags & XDPVM_HELPER_TAIL_CALL))
		ret = check_tail_call(&call);
	if (ret == 0)
		ret = set_result(&call, &regs[BPF_REG_0]);
	if (ret != 0)
		return ret;
	take_effect(&call);
	for (unsigned int reg = BPF_REG_1; reg <= BPF_REG_5; reg++)
		regs[reg] = (struct prove_value){ .kind = PROVE_UNSET };
	return 0;
}
