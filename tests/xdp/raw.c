/* SPDX-License-Identifier: BSD-3-Clause */
/* See raw.h. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "raw.h"

#define LOG_BYTES (1u << 20)

const char *const raw_engine_names[RAW_ENGINES] = { "interpreter", "jit", "kernel" };

static void
say(void *arg, enum xdpvm_log_level level, const char *message)
{
	fprintf(stderr, "%s\n", message);
}

struct xdpvm_prog *
raw_prog_new(struct xdpvm_object *object, const struct bpf_insn *insns, uint32_t n,
	     enum xdpvm_engine engine)
{
	struct xdpvm_prog *prog = calloc(1, sizeof(*prog));

	object->options.engine = engine;
	prog->object = object;
	prog->fd = -1;
	prog->name = strdup("raw");
	prog->section = strdup("xdp");
	prog->n_insns = n;
	prog->insns = malloc(n * sizeof(*insns));
	prog->original = malloc(n * sizeof(*insns));
	prog->info = calloc(n, sizeof(*prog->info));
	memcpy(prog->insns, insns, n * sizeof(*insns));
	memcpy(prog->original, insns, n * sizeof(*insns));
	if (xdpvm_prog_prepare(prog) != 0) {
		xdpvm_prog_free(prog);
		return NULL;
	}
	return prog;
}

static int
load_kernel(struct raw_prog *raw, const struct bpf_insn *insns, uint32_t n)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "raw", "GPL", insns, n, &opts);

	if (fd >= 0)
		return fd;
	raw->log = calloc(1, LOG_BYTES);
	opts.log_buf = raw->log;
	opts.log_size = LOG_BYTES;
	opts.log_level = 1;
	return bpf_prog_load(BPF_PROG_TYPE_XDP, "raw", "GPL", insns, n, &opts);
}

static int
load_own(struct raw_prog *raw, const struct bpf_insn *insns, uint32_t n)
{
	raw->fd = -1;
	raw->progs[RAW_INTERP] = raw_prog_new(&raw->object, insns, n, XDPVM_ENGINE_INTERP);
	if (raw->progs[RAW_INTERP] != NULL)
		raw->progs[RAW_JIT] = raw_prog_new(&raw->object, insns, n, XDPVM_ENGINE_JIT);
	if (raw->progs[RAW_JIT] == NULL) {
		raw_free(raw);
		return -1;
	}
	return 0;
}

int
raw_load(struct raw_prog *raw, const struct bpf_insn *insns, uint32_t n, bool quiet)
{
	*raw = (struct raw_prog){ .object.options.log = quiet ? NULL : say };
	if (load_own(raw, insns, n) != 0)
		return -1;
	raw->fd = load_kernel(raw, insns, n);
	return 0;
}

static void
keep(void *arg, enum xdpvm_log_level level, const char *message)
{
	const struct raw_prog *raw = arg;

	if (level == XDPVM_LOG_ERROR)
		snprintf(raw->sentence, raw->sentence_size, "%s", message);
}

int
raw_load_proven(struct raw_prog *raw, const struct bpf_insn *insns, uint32_t n,
		const struct raw_maps *maps, char *sentence, size_t size)
{
	*raw = (struct raw_prog){
		.object = { .verify = XDPVM_VERIFY_INTERNAL,
			    .options = { .log = keep, .log_arg = raw } },
		.sentence = sentence, .sentence_size = size,
	};
	if (maps != NULL) {
		raw->object.maps = maps->maps;
		raw->object.n_maps = maps->n;
	}
	sentence[0] = '\0';
	return load_own(raw, insns, n);
}

uint32_t
raw_length(const struct bpf_insn *insns, uint32_t room)
{
	static const struct bpf_insn none;

	while (room > 0 && memcmp(&insns[room - 1], &none, sizeof(none)) == 0)
		room--;
	return room;
}

bool
raw_kernel_takes(const struct bpf_insn *insns, uint32_t n, const struct raw_maps *maps)
{
	struct bpf_insn *copy = malloc(n * sizeof(*copy));
	struct raw_prog raw = { 0 };
	int fd;

	memcpy(copy, insns, n * sizeof(*copy));
	for (uint32_t i = 0; maps != NULL && i + 1 < n; i++) {
		if (!xdpvm_is_ld_imm64(&copy[i]))
			continue;
		if (copy[i].src_reg == BPF_PSEUDO_MAP_IDX)
			copy[i].src_reg = BPF_PSEUDO_MAP_FD;
		else if (copy[i].src_reg == BPF_PSEUDO_MAP_IDX_VALUE)
			copy[i].src_reg = BPF_PSEUDO_MAP_VALUE;
		else
			continue;
		copy[i].imm = maps->fds[copy[i].imm];
	}
	fd = load_kernel(&raw, copy, n);
	free(copy);
	free(raw.log);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void
raw_free(struct raw_prog *raw)
{
	for (unsigned int i = 0; i < RAW_KERNEL; i++)
		if (raw->progs[i] != NULL)
			xdpvm_prog_free(raw->progs[i]);
	if (raw->fd >= 0)
		close(raw->fd);
	free(raw->log);
}

static uint32_t
run_kernel(const struct raw_prog *raw, void *packet, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_out = packet,
		    .data_size_in = size, .data_size_out = size, .repeat = 1);

	return bpf_prog_test_run_opts(raw->fd, &opts) == 0 ? opts.retval : UINT32_MAX;
}

uint32_t
raw_run(const struct raw_prog *raw, enum raw_engine engine, void *packet, size_t size)
{
	uint8_t frame[4096];
	struct xdpvm_buff buff;
	uint32_t action;

	if (engine == RAW_KERNEL)
		return run_kernel(raw, packet, size);
	xdpvm_buff_init(&buff, 1, 0);
	if (xdpvm_buff_bind(&buff) != 0)
		return UINT32_MAX;
	buff.hard_start = frame;
	buff.data = buff.data_meta = frame + XDP_PACKET_HEADROOM;
	buff.data_end = buff.data + size;
	buff.frame_end = frame + sizeof(frame);
	memcpy(buff.data, packet, size);
	action = xdpvm_run(raw->progs[engine], &buff);
	memcpy(packet, buff.data, size);
	return action;
}

bool
raw_kernel_available(void)
{
	const struct bpf_insn insns[] = { ALU64_K(BPF_MOV, BPF_REG_0, XDP_PASS), EXIT() };
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "probe", "GPL", insns, 2, &opts);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
