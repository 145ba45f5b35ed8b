/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xdpvm: runs unmodified Linux XDP objects in user space.
 *
 * An object (an ELF file as clang writes it) is opened, loaded (checked by the kernel's verifier or
 * by the internal prover) and translated to native code once; after that a program is a function
 * that takes a buffer and returns an XDP action. Nothing here knows a driver.
 *
 * Thread rules, for the whole library:
 * - Objects: open, load and close of one object from one thread at a time; different objects are
 *   independent. After a load, every function on programs and maps is safe from any thread.
 * - Running: only on a thread that called xdpvm_thread_register(). Such a thread reports a
 *   quiescent state between bursts, or goes offline before it blocks; otherwise a close, or memory
 *   that waits for readers, is held up.
 * - A buffer belongs to one thread at a time.
 */
#ifndef XDPVM_H
#define XDPVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Most threads that may be registered at once; the CPU numbers that programs see are below it. */
#define XDPVM_MAX_THREADS 128

struct xdpvm_map;
struct xdpvm_object;
struct xdpvm_prog;
struct xdpvm_buff;

/* ---- Messages ------------------------------------------------------------------------------- */

enum xdpvm_log_level {
	XDPVM_LOG_ERROR,	/**< why a call failed: one sentence with object, reason and limit */
	XDPVM_LOG_WARNING,
	XDPVM_LOG_INFO,
	XDPVM_LOG_VERIFIER,	/**< the kernel verifier's own text, many lines in one message */
	XDPVM_LOG_DEBUG,
};

/** Receives one message without a trailing newline; valid during the call only. */
typedef void (*xdpvm_log_fn)(void *arg, enum xdpvm_log_level level, const char *message);

/* ---- Buffers -------------------------------------------------------------------------------- */

/** Where a program that returned XDP_REDIRECT wants the packet to go. */
enum xdpvm_redirect_kind {
	XDPVM_REDIRECT_NONE,
	XDPVM_REDIRECT_IFINDEX,	/**< bpf_redirect(): target is an ifindex */
	XDPVM_REDIRECT_DEV,	/**< DEVMAP, DEVMAP_HASH: target is an ifindex */
	XDPVM_REDIRECT_CPU,	/**< CPUMAP: target is the key, that is the CPU */
	XDPVM_REDIRECT_XSK,	/**< XSKMAP: target is the value that the application stored */
	XDPVM_REDIRECT_DEV_ALL,	/**< BPF_F_BROADCAST: to every entry of map */
};

struct xdpvm_redirect {
	struct xdpvm_map *map;	/**< NULL for XDPVM_REDIRECT_IFINDEX */
	struct xdpvm_prog *prog;	/**< of the entry, for the embedder to run there, or NULL */
	const void *value;	/**< the map's value (bpf_devmap_val, bpf_cpumap_val) or NULL */
	uint64_t key;
	uint32_t target;
	uint32_t flags;		/**< as the program gave them: BPF_F_EXCLUDE_INGRESS, ... */
	enum xdpvm_redirect_kind kind;
};

/**
 * One packet as programs see it: one structure per queue, refilled for every packet. It stands
 * behind struct xdp_md; 64-bit pointers replace the 32-bit fields.
 *
 * Before a run the embedder sets data, data_end, data_meta (equal to data when there is no
 * metadata), hard_start and frame_end. A program may move data, data_end and data_meta inside
 * [hard_start, frame_end); the embedder reads them back. Bytes of [hard_start, data_meta) and
 * [data_end, frame_end) may be overwritten. As in the kernel, the first XDPVM_FRAME_RESERVED bytes
 * after hard_start are never given to a program.
 */
struct xdpvm_buff {
	uint8_t *data;
	uint8_t *data_end;
	uint8_t *data_meta;
	uint8_t *hard_start;	/**< first byte of headroom */
	uint8_t *frame_end;	/**< one past the last byte that a packet may grow to */
	uint64_t percpu_offset;	/**< set by xdpvm_buff_bind() */
	uint32_t ingress_ifindex;
	uint32_t rx_queue_index;
	uint32_t egress_ifindex;
	uint32_t tail_calls;	/**< the engine's; not for embedders */

	struct xdpvm_redirect redirect;	/**< valid after XDP_REDIRECT, until the next run */

	struct xdpvm_thread *thread;	/**< set by xdpvm_buff_bind() */
	const struct xdpvm_services *services;	/**< what the device offers, or NULL */
	void *opaque;		/**< the embedder's; reaches the services */
	struct xdpvm_frame *interp;	/**< the engine's; not for embedders */
	void *jit_stack;	/**< the engine's; not for embedders */
	uint32_t aborts;	/**< runs that a run-time check ended; each returned XDP_ABORTED */
	uint32_t fuel;		/**< the engine's; not for embedders */
};

/** Bytes after hard_start that stay out of a program's reach: sizeof(struct xdp_frame) in Linux. */
#define XDPVM_FRAME_RESERVED 40

struct bpf_fib_lookup;

/** Device services behind helpers. Every member may be NULL; called on the running thread. */
struct xdpvm_services {
	/**
	 * bpf_fib_lookup(). Returns a BPF_FIB_LKUP_RET_* or a negative errno. Without it every
	 * lookup answers BPF_FIB_LKUP_RET_NOT_FWDED.
	 */
	int (*fib_lookup)(struct xdpvm_buff *buff, struct bpf_fib_lookup *params, int size,
			  uint32_t flags);
	/**
	 * MTU of an interface for bpf_check_mtu(): 0 asks for the ingress interface.
	 * Negative errno when there is no such interface. Without it: -ENODEV.
	 */
	int (*mtu)(struct xdpvm_buff *buff, uint32_t ifindex);
};

/**
 * Clears the structure and sets what never changes.
 * Not bound to a thread yet: see xdpvm_buff_bind().
 */
void xdpvm_buff_init(struct xdpvm_buff *buff, uint32_t ingress_ifindex, uint32_t rx_queue_index);

/**
 * Binds the buffer to the calling thread, which is registered: per-CPU maps and the CPU number are
 * this thread's from now on. Cheap; once per burst when queues wander between threads.
 *
 * @return 0, or -EPERM when the thread is not registered.
 */
int xdpvm_buff_bind(struct xdpvm_buff *buff);

/* ---- Threads -------------------------------------------------------------------------------- */

/** Takes the lowest free number. */
#define XDPVM_THREAD_ANY (-1)

/**
 * Registers the calling thread for running programs, online.
 *
 * @param cpu  the CPU number that programs see here, below XDPVM_MAX_THREADS and unused; it selects
 *             the copy of per-CPU maps. XDPVM_THREAD_ANY: the lowest free one.
 * @return the number, -EBUSY when it is taken, -ENOSPC when all are, -EINVAL, -EEXIST when this
 *         thread is registered already.
 */
int xdpvm_thread_register(int cpu);

/** Ends the registration of the calling thread; counters in per-CPU maps stay. */
void xdpvm_thread_unregister(void);

/** Between two bursts: this thread holds no pointer into programs or maps. Under 1 ns. */
void xdpvm_thread_quiescent(void);

/**
 * Before blocking: nobody has to wait for this thread until it is online again. Both are so cheap
 * that a thread may be online just within each burst: two stores, and a fence only where the
 * kernel has no membarrier(2).
 */
void xdpvm_thread_offline(void);
void xdpvm_thread_online(void);

/**
 * What the two functions above write for the calling thread, for an embedder that is online just
 * within each burst and inlines them. Good until the thread is unregistered.
 */
struct xdpvm_presence {
	uint64_t *online;	/**< 0 while the thread is offline */
	const uint64_t *now;	/**< what it is set to otherwise */
	struct xdpvm_thread *thread;	/**< of buffers that are bound to this thread */
	bool fences;	/**< the kernel has no membarrier(2) */
};

/** @return 0, or -EPERM when the calling thread is not registered. */
int xdpvm_thread_presence(struct xdpvm_presence *presence);

/** xdpvm_thread_online() of the thread that the presence is of. */
static inline void
xdpvm_presence_begin(const struct xdpvm_presence *presence)
{
	__atomic_store_n(presence->online, __atomic_load_n(presence->now, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
	if (presence->fences)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/** xdpvm_thread_offline() of the thread that the presence is of. */
static inline void
xdpvm_presence_end(const struct xdpvm_presence *presence)
{
	__atomic_store_n(presence->online, 0, __ATOMIC_RELEASE);
}

/**
 * Returns after every online thread has been quiescent once (the caller, if registered, counts as
 * quiescent). This is how an embedder frees what it unpublished. It interrupts each processor that
 * runs a thread of this process, for about a microsecond.
 */
void xdpvm_synchronize(void);

/* ---- Objects -------------------------------------------------------------------------------- */

/** Who vouches for a program's memory safety. */
enum xdpvm_verify {
	XDPVM_VERIFY_AUTO,	/**< KERNEL when this process may load programs, else INTERNAL */
	XDPVM_VERIFY_KERNEL,	/**< the kernel's verifier accepts the very instructions we run */
	XDPVM_VERIFY_INTERNAL,	/**< own prover; run-time checks where it cannot prove */
	XDPVM_VERIFY_CACHED,	/**< a kernel accepted this very object before: see cache_dir */
	XDPVM_VERIFY_NONE,	/**< nobody: a bad program is memory corruption */
};

enum xdpvm_engine {
	XDPVM_ENGINE_AUTO,	/**< JIT where there is one */
	XDPVM_ENGINE_JIT,
	XDPVM_ENGINE_INTERP,
};

/** How to open and load an object; zero means default everywhere. Copied, strings too. */
struct xdpvm_options {
	enum xdpvm_verify verify;
	enum xdpvm_engine engine;
	const char *program;	/**< function name of the only program wanted; NULL: all XDP ones */
	const char *section;	/**< the same by ELF section; with program both must match */
	/**
	 * A bpffs folder: maps are reused from it and pinned in it (see also xdpvm_sync.h); a mode
	 * other than VERIFY_KERNEL has no kernel maps and is refused then. NULL: nothing is pinned.
	 */
	const char *pin_dir;
	const char *cache_dir;	/**< where verify=cached and verify=kernel keep accepted hashes */
	uint32_t max_entries;	/**< > 0: maps larger than this are refused */
	/**
	 * > 0: bytes that all maps of the object may take together, else 4 GiB or half of the
	 * machine's memory, what is less. Of per-CPU values one copy is counted.
	 */
	uint64_t map_memory;
	xdpvm_log_fn log;	/**< NULL: silent */
	void *log_arg;
};

/**
 * Whether a folder can be a cache_dir: it is there, belongs to root or to this user, and nobody
 * else may write to it.
 *
 * @return 0; -EPERM when others could vouch for programs in it; -ENOENT and the like.
 */
int xdpvm_cache_dir_check(const char *path);

/**
 * Opens an ELF object; nothing is loaded yet, maps may still be resized.
 *
 * @param object  receives the object; close it with xdpvm_object_close().
 * @return 0 or a negative errno, the reason goes to options->log: -ENOENT no such file, program or
 *         section, -EINVAL not a BPF object or a damaged one, -E2BIG or -EFBIG more of something
 *         than is looked at, -ENOTSUP something that cannot be honoured.
 */
int xdpvm_object_open(const char *path, const struct xdpvm_options *options,
		      struct xdpvm_object **object);

/** The same from memory, which is not needed after the call. @p name appears in messages. */
int xdpvm_object_open_memory(const void *image, size_t size, const char *name,
			     const struct xdpvm_options *options, struct xdpvm_object **object);

/**
 * Creates maps, checks programs, compiles.
 *
 * @return 0 or a negative errno: -EACCES the verifier refused, -EPERM verify=kernel without
 *         CAP_BPF, -E2BIG the maps want more than options->map_memory, -ENOTSUP, -ENOMEM.
 */
int xdpvm_object_load(struct xdpvm_object *object);

/**
 * Frees programs, native code and maps. Nobody may enter a program of it any more; waits until
 * nobody is inside (xdpvm_synchronize()). NULL is allowed.
 */
void xdpvm_object_close(struct xdpvm_object *object);

/**
 * Where messages go from now on: what the options said may end with the caller's stack frame.
 * Not while another call on this object runs. NULL: silent.
 */
void xdpvm_object_set_log(struct xdpvm_object *object, xdpvm_log_fn log, void *log_arg);

/** The mode that vouched: never AUTO after a load. */
enum xdpvm_verify xdpvm_object_verify(const struct xdpvm_object *object);

/* ---- Programs ------------------------------------------------------------------------------- */

/** A loaded program by function name; NULL name: the first (only) one. NULL when there is none. */
struct xdpvm_prog *xdpvm_prog_find(struct xdpvm_object *object, const char *name);

/** Walks the XDP programs of an object; NULL starts, NULL ends. */
struct xdpvm_prog *xdpvm_prog_next(struct xdpvm_object *object, const struct xdpvm_prog *prog);

const char *xdpvm_prog_name(const struct xdpvm_prog *prog);
const char *xdpvm_prog_section(const struct xdpvm_prog *prog);

/** Bytes in a program tag. */
#define XDPVM_TAG_SIZE BPF_TAG_SIZE

/**
 * The tag: of a program that the kernel loaded, the kernel's; else as Linux 6.18 computes it, the
 * first eight bytes of a SHA-256 over the instructions (older ones: SHA-1).
 */
void xdpvm_prog_tag(const struct xdpvm_prog *prog, uint8_t tag[XDPVM_TAG_SIZE]);

/** Descriptor of the kernel's own copy of the program (verify=kernel), or -1; not to be closed. */
int xdpvm_prog_fd(const struct xdpvm_prog *prog);

/** The forms in which a program's instructions can be seen. */
enum xdpvm_form {
	XDPVM_FORM_LINKED,	/**< as the loader linked them: what a verifier reads */
	XDPVM_FORM_REWRITTEN,	/**< as the engines run them: a context load is a buffer load */
};

/** Instructions of a loaded program; valid until the object is closed. */
const struct bpf_insn *xdpvm_prog_insns(const struct xdpvm_prog *prog, enum xdpvm_form form,
					uint32_t *n);

/** Native code and its length in bytes; NULL and 0 without it. Valid as the instructions are. */
const void *xdpvm_prog_code(const struct xdpvm_prog *prog, size_t *size);

/** Where an instruction comes from. */
struct xdpvm_source {
	const char *file;
	const char *text;	/**< the line itself, with its indentation */
	uint32_t line;
	bool first;		/**< the instruction is the first one of this piece of source */
};

/** @return false when the object's BTF does not tell. */
bool xdpvm_prog_source(const struct xdpvm_prog *prog, uint32_t insn, struct xdpvm_source *source);

/**
 * What names the program in the bpf_prog.fd of a DEVMAP's or CPUMAP's value, besides the kernel's
 * own descriptor: a number above 0, for maps of the same object only.
 */
int xdpvm_prog_ref(const struct xdpvm_prog *prog);

/** Native code: one program run; returns what the program returned, which may be no XDP action. */
typedef uint64_t (*xdpvm_entry_fn)(struct xdpvm_buff *buff);

/**
 * The native function, for embedders that hoist it out of their loop. It serves all threads. It
 * stays valid until the object is closed. NULL when the interpreter was asked for.
 */
xdpvm_entry_fn xdpvm_prog_entry(const struct xdpvm_prog *prog);

/**
 * Runs one packet.
 *
 * @param buff  bound to the calling thread.
 * @return an XDP action; a value that is none becomes XDP_ABORTED.
 */
uint32_t xdpvm_run(struct xdpvm_prog *prog, struct xdpvm_buff *buff);

/** One packet of a burst: in and out. */
struct xdpvm_packet {
	uint8_t *data;
	uint8_t *data_end;
	uint8_t *data_meta;
	uint8_t *hard_start;
	uint8_t *frame_end;
	uint32_t action;	/**< out: XDP action */
	struct xdpvm_redirect redirect;	/**< out: valid with XDP_REDIRECT */
};

/** Runs @p n packets in order through @p buff. */
void xdpvm_run_burst(struct xdpvm_prog *prog, struct xdpvm_buff *buff,
		     struct xdpvm_packet *packets, unsigned int n);

struct xdpvm_prog_stats {
	uint64_t runs;
	uint64_t run_time_ns;	/**< 0 unless time was asked for */
	uint64_t actions[XDP_REDIRECT + 1];	/**< by action; unknown values count as ABORTED */
};

enum xdpvm_stats_mode {
	XDPVM_STATS_OFF,
	XDPVM_STATS_COUNT,
	XDPVM_STATS_TIME,	/**< and nanoseconds, about 20 ns per burst or run */
};

/**
 * Off by default. Counts xdpvm_run() and xdpvm_run_burst(), not calls of xdpvm_prog_entry().
 * @return 0 or -ENOMEM.
 */
int xdpvm_prog_stats_mode(struct xdpvm_prog *prog, enum xdpvm_stats_mode mode);

/** Sums over all threads; counters never go back. */
void xdpvm_prog_stats(const struct xdpvm_prog *prog, struct xdpvm_prog_stats *stats);

/* ---- Maps ----------------------------------------------------------------------------------- */

struct xdpvm_map_info {
	const char *name;
	enum bpf_map_type type;
	uint32_t key_size;	/**< bytes */
	uint32_t value_size;	/**< bytes, of one copy */
	uint32_t max_entries;
	uint32_t flags;		/**< BPF_F_* as the object has them */
	int fd;			/**< of the kernel's map, or -1 */
};

struct xdpvm_map *xdpvm_map_find(struct xdpvm_object *object, const char *name);

/** Walks the maps of an object, .rodata/.data/.bss included; NULL starts, NULL ends. */
struct xdpvm_map *xdpvm_map_next(struct xdpvm_object *object, const struct xdpvm_map *map);

void xdpvm_map_info(const struct xdpvm_map *map, struct xdpvm_map_info *info);

/** Before the load only. -EBUSY after it. */
int xdpvm_map_set_max_entries(struct xdpvm_map *map, uint32_t max_entries);

/**
 * Bytes that lookup and update move: value_size, or for per-CPU maps XDPVM_MAX_THREADS copies, each
 * rounded up to 8 bytes, indexed by CPU number.
 */
size_t xdpvm_map_value_bytes(const struct xdpvm_map *map);

/** Copies a value out. @return 0 or a negative errno: -ENOENT no such key, -ENOTSUP not loaded. */
int xdpvm_map_lookup(struct xdpvm_map *map, const void *key, void *value);

/**
 * @param flags  BPF_ANY, BPF_NOEXIST or BPF_EXIST, and BPF_F_LOCK for values that have a
 *               struct bpf_spin_lock. That field is never written, and is zero in a lookup.
 * @return 0 or the kernel's negative errno.
 */
int xdpvm_map_update(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags);

int xdpvm_map_delete(struct xdpvm_map *map, const void *key);

/**
 * Copies a value out and deletes it, in one step: hashes, and QUEUE and STACK, which have no keys
 * (key NULL; xdpvm_map_update() pushes, xdpvm_map_lookup() peeks).
 */
int xdpvm_map_take(struct xdpvm_map *map, const void *key, void *value);

/**
 * The key after @p key, or the first one when @p key is NULL or not in the map.
 * @return 0, -ENOENT at the end.
 */
int xdpvm_map_next_key(struct xdpvm_map *map, const void *key, void *next_key);

/** Puts a program into a PROG_ARRAY; NULL empties the slot. The object must outlive its use. */
int xdpvm_map_update_prog(struct xdpvm_map *map, uint32_t index, struct xdpvm_prog *prog);

/** Puts a map into an ARRAY_OF_MAPS or HASH_OF_MAPS; the inner map's object must outlive that. */
int xdpvm_map_update_map(struct xdpvm_map *map, const void *key, struct xdpvm_map *inner,
			 uint64_t flags);

/**
 * The second program of an entry, by the bpf_prog.id of a value that xdpvm_map_lookup() copied out
 * of a DEVMAP or CPUMAP. NULL for id 0.
 */
struct xdpvm_prog *xdpvm_map_entry_prog(const struct xdpvm_map *map, uint32_t id);

/** Pins the kernel's map. @return 0 or a negative errno; -ENOTSUP when there is no kernel map. */
int xdpvm_map_pin(struct xdpvm_map *map, const char *path);

/*
 * Readers of ring buffers, perf buffers and the trace log are declared in xdpvm_events.h, kernel
 * maps kept in step in xdpvm_sync.h, several programs on one hook in xdpvm_chain.h.
 */

#ifdef __cplusplus
}
#endif

#endif /* XDPVM_H */
