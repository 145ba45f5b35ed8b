/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs made of instructions in an array, without an ELF file, in all three engines: the
 * interpreter, the compiler and the kernel.
 */
#ifndef XDPVM_TEST_RAW_H
#define XDPVM_TEST_RAW_H

#include "object.h"

enum raw_engine {
	RAW_INTERP,
	RAW_JIT,
	RAW_KERNEL,
	RAW_ENGINES,
};

extern const char *const raw_engine_names[RAW_ENGINES];

#define RAW_MAPS_MAX 16

/* Maps that instructions name by index (BPF_PSEUDO_MAP_IDX); see raw_maps.h. */
struct raw_maps {
	struct xdpvm_map *maps;
	uint32_t n;
	int fds[RAW_MAPS_MAX];	/* of the kernel's, or -1 */
};

struct raw_prog {
	struct xdpvm_object object;
	struct xdpvm_prog *progs[RAW_KERNEL];
	int fd;			/* the kernel's, or -1 */
	char *log;		/* the verifier's, when it refused */
	char *sentence;		/* where the prover's refusal goes */
	size_t sentence_size;
};

/*
 * 0 when our engines have it; the kernel may still have refused (fd < 0). Says why on stderr when
 * they have not, unless quiet.
 */
int raw_load(struct raw_prog *raw, const struct bpf_insn *insns, uint32_t n, bool quiet);
void raw_free(struct raw_prog *raw);

/*
 * The same with the prover (verify=internal) in front, and not in the kernel; what the prover says
 * goes to sentence. maps: NULL for a program without.
 */
int raw_load_proven(struct raw_prog *raw, const struct bpf_insn *insns, uint32_t n,
		    const struct raw_maps *maps, char *sentence, size_t size);

/* Instructions in an array with room for so many, the rest of which is zero. */
uint32_t raw_length(const struct bpf_insn *insns, uint32_t room);

/* Whether the kernel's verifier takes it. */
bool raw_kernel_takes(const struct bpf_insn *insns, uint32_t n, const struct raw_maps *maps);

/* One of them for one engine, with the object's maps and verify mode; NULL when it is refused. */
struct xdpvm_prog *raw_prog_new(struct xdpvm_object *object, const struct bpf_insn *insns,
				uint32_t n, enum xdpvm_engine engine);

/* Runs one packet in place; size is its length in bytes. The kernel wants at least 14. */
uint32_t raw_run(const struct raw_prog *raw, enum raw_engine engine, void *packet, size_t size);

/* Whether this process may load XDP programs into the kernel. */
bool raw_kernel_available(void);

/* ---- Instructions --------------------------------------------------------------------------- */

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define ALU64_K(op, d, i) INSN(BPF_ALU64 | (op) | BPF_K, d, 0, 0, i)
#define ALU64_X(op, d, s) INSN(BPF_ALU64 | (op) | BPF_X, d, s, 0, 0)
#define ALU32_K(op, d, i) INSN(BPF_ALU | (op) | BPF_K, d, 0, 0, i)
#define ALU32_X(op, d, s) INSN(BPF_ALU | (op) | BPF_X, d, s, 0, 0)
#define LD64(d, v) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, d, 0, 0, (uint32_t)(uint64_t)(v)), \
	INSN(0, 0, 0, 0, (uint32_t)((uint64_t)(v) >> 32))
#define LDX(size, d, s, o) INSN(BPF_LDX | BPF_MEM | (size), d, s, o, 0)
#define LDSX(size, d, s, o) INSN(BPF_LDX | BPF_MEMSX | (size), d, s, o, 0)
#define STX(size, d, s, o) INSN(BPF_STX | BPF_MEM | (size), d, s, o, 0)
#define ST(size, d, o, i) INSN(BPF_ST | BPF_MEM | (size), d, 0, o, i)
#define ATOMIC(size, d, s, o, op) INSN(BPF_STX | BPF_ATOMIC | (size), d, s, o, op)
#define JMP_K(op, d, i, o) INSN(BPF_JMP | (op) | BPF_K, d, 0, o, i)
#define JMP_X(op, d, s, o) INSN(BPF_JMP | (op) | BPF_X, d, s, o, 0)
#define JMP32_K(op, d, i, o) INSN(BPF_JMP32 | (op) | BPF_K, d, 0, o, i)
#define JMP32_X(op, d, s, o) INSN(BPF_JMP32 | (op) | BPF_X, d, s, o, 0)
#define CALL(id) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, id)
#define CALL_FUNCTION(distance) INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, distance)
#define EXIT() INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

#endif /* XDPVM_TEST_RAW_H */
