/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCX3_WIRE_H
#define VCX3_WIRE_H

/**
 * @file
 * What a port of the virtual card is plugged into.
 *
 * A wire has two directions, named from the card's side: rx frames come out of
 * the wire into the port, tx frames go from the port into the wire. Frames are
 * Ethernet frames without FCS. A wire never loses an rx frame by itself: the
 * frame stays first in line until the port consumes it; a port that has no
 * receiver simply does not look. A wire that has no room refuses tx frames and
 * the port tries again later.
 *
 * Thread safety: none. One thread at a time uses a wire, and the two wires of a
 * peer pair count as one. Nothing here blocks, except opening and closing.
 *
 * No call between opening and closing allocates memory. Every function that can
 * fail returns a negative errno; those that take @p reason write a sentence
 * there that names the wire, the cause and the choices or the limit.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Ports of a card. */
#define VCX3_WIRE_PORTS 2
/** Longest frame that any wire carries, in bytes without FCS. */
#define VCX3_WIRE_FRAME_MAX 16384
/**
 * Shortest frame that a generator makes and a host's frame is padded to, in bytes
 * without FCS (IEEE 802.3: 64 with it).
 */
#define VCX3_WIRE_FRAME_MIN 60
/** Most flows of a generator; flow ids run from 1 to this. */
#define VCX3_WIRE_FLOWS_MAX 65536
/** Room that is enough for every sentence. */
#define VCX3_WIRE_REASON_SIZE 512

/* ---- Naming a wire ---- */

/** Kinds of wire: name in the text, what it is. */
#define VCX3_WIRE_KINDS(X) \
	X(PEER, "peer", "the other port of this card") \
	X(SELF, "self", "what the port sends comes back to it") \
	X(SINK, "sink", "takes every frame, brings none") \
	X(PCAP, "pcap", "plays a capture file, records another") \
	X(GEN, "gen", "makes frames") \
	X(PACKET, "packet", "a network interface of this machine (AF_PACKET)") \
	X(TAP, "tap", "a TAP interface, created and removed") \
	X(UNIX, "unix", "the card of another process, over a UNIX socket")

enum vcx3_wire_kind {
#define VCX3_WIRE_KIND_ENUM(upper, name, what) VCX3_WIRE_##upper,
	VCX3_WIRE_KINDS(VCX3_WIRE_KIND_ENUM)
#undef VCX3_WIRE_KIND_ENUM
	VCX3_WIRE_KIND_COUNT
};

/** Protocols of generated frames. */
enum vcx3_wire_proto {
	VCX3_WIRE_UDP4,
	VCX3_WIRE_TCP4,
	VCX3_WIRE_UDP6,
	VCX3_WIRE_TCP6,
	VCX3_WIRE_MIX,	/**< flow i uses protocol i modulo 4, in the order above */
};

/** Longest interface name, socket path and file name, each with its end. */
#define VCX3_WIRE_PATH_SIZE 1024

/** One wire as the user wrote it; filled by vcx3_wire_parse(). */
struct vcx3_wire_spec {
	enum vcx3_wire_kind kind;
	char name[VCX3_WIRE_PATH_SIZE];	/**< packet, tap: interface; unix: socket path */
	char rx_file[VCX3_WIRE_PATH_SIZE]; /**< pcap: capture to play, "" = none */
	char tx_file[VCX3_WIRE_PATH_SIZE]; /**< pcap: capture to write, "" = none */
	uint64_t loop;		/**< pcap: times to play, 0 = without end */
	uint64_t count;		/**< gen: frames to make, 0 = without end */
	uint64_t rate_pps;	/**< gen: frames per second, 0 = as fast as they are taken */
	uint64_t seed;		/**< gen: chooses addresses and ports */
	uint32_t size;		/**< gen: frame length in bytes without FCS; never below the headers */
	uint32_t flows;		/**< gen: different flows, sent in turn */
	enum vcx3_wire_proto proto;	/**< gen */
	bool hold;		/**< pcap, gen: brings nothing until vcx3_wire_go() */
};

/** The wires of a card. */
struct vcx3_wire_plan {
	uint32_t ports;			/**< 1 or 2 */
	bool given[VCX3_WIRE_PORTS];	/**< the user named a wire for this port */
	struct vcx3_wire_spec spec[VCX3_WIRE_PORTS];	/**< [0] is port 1 */
};

/** Reads "KIND" or "KIND:..." into @p spec. -EINVAL with a sentence. */
int vcx3_wire_parse(const char *text, struct vcx3_wire_spec *spec, char *reason, size_t size);

/**
 * Asks the system whether the wire could be opened now, and changes nothing:
 * the capture is there and whole, the interface exists, the TAP name is free ...
 * peer is always possible here.
 */
int vcx3_wire_check(const struct vcx3_wire_spec *spec, char *reason, size_t size);

/** Starts a plan in which no port has a wire yet. */
void vcx3_wire_plan_init(struct vcx3_wire_plan *plan, uint32_t ports);

/** Adds "PORT=SPEC". -EINVAL: bad text, no such port, port named twice. */
int vcx3_wire_plan_add(struct vcx3_wire_plan *plan, const char *text, char *reason, size_t size);

/**
 * Gives the ports without a wire their default (two of them: peer; one: sink)
 * and refuses a peer whose other end is plugged in elsewhere.
 */
int vcx3_wire_plan_finish(struct vcx3_wire_plan *plan, char *reason, size_t size);

/** vcx3_wire_check() of each wire of a finished plan. */
int vcx3_wire_plan_check(const struct vcx3_wire_plan *plan, char *reason, size_t size);

/**
 * Writes text for --help: a line for each kind and each option with its range.
 * @return length of the whole text, as snprintf() does.
 */
size_t vcx3_wire_help(char *text, size_t size);

/**
 * Removes what processes that were killed have left behind, here a UNIX socket
 * on which nobody listens. For a launcher, after its child has ended.
 */
void vcx3_wire_plan_cleanup(const struct vcx3_wire_plan *plan);

/* ---- Using a wire ---- */

/** What the owner of the card provides; copied by the open functions. */
struct vcx3_wire_env {
	uint64_t (*now_ns)(void *ctx);	/**< time for rates and captures; required */
	void (*log)(void *ctx, const char *sentence);	/**< an event worth telling; or NULL */
	void *ctx;
	uint8_t mac[6];		/**< of the port: generated frames are sent to it */
};

/** An rx frame. */
struct vcx3_frame {
	const uint8_t *data;
	uint32_t len;		/**< bytes without FCS */
	/**
	 * Frames of one wire with equal id are equal in every byte, so that parse
	 * and hash results may be kept by id; small numbers from 1. 0: unknown.
	 */
	uint32_t flow_id;
	uint64_t arrival_ns;	/**< 0: now */
};

/** Counters of a wire, for what the port cannot see itself. */
#define VCX3_WIRE_COUNTERS(X) \
	X(rx_frames, "frames taken by the port") \
	X(rx_bytes, "their bytes") \
	X(rx_dropped, "frames that could not be brought: too long, malformed, unknown offload") \
	X(rx_csum_completed, "frames whose checksum was left open by the sending host and completed") \
	X(rx_segmented, "super-frames of a host that were cut into frames") \
	X(tx_frames, "frames given by the port") \
	X(tx_bytes, "their bytes") \
	X(tx_dropped, "frames that the far side refused: link down, too long, write error") \
	X(tx_full, "times that the wire had no room for a frame")

struct vcx3_wire_stats {
#define VCX3_WIRE_COUNTER_FIELD(name, what) uint64_t name;
	VCX3_WIRE_COUNTERS(VCX3_WIRE_COUNTER_FIELD)
#undef VCX3_WIRE_COUNTER_FIELD
};

struct vcx3_wire;

/** What a kind of wire does; a NULL entry has nothing to do. */
struct vcx3_wire_ops {
	uint32_t (*rx_peek)(struct vcx3_wire *wire, struct vcx3_frame *frames, uint32_t n);
	void (*rx_consume)(struct vcx3_wire *wire, uint32_t n);
	void *(*tx_reserve)(struct vcx3_wire *wire, uint32_t len);
	void (*tx_commit)(struct vcx3_wire *wire, uint32_t len);
	void (*flush)(struct vcx3_wire *wire);
	void (*service)(struct vcx3_wire *wire);
	int (*poll_fd)(const struct vcx3_wire *wire);
	int (*go)(struct vcx3_wire *wire);
	void (*set_link)(struct vcx3_wire *wire, bool up);
	void (*close)(struct vcx3_wire *wire);
};

/** The part that all kinds share; a kind's own state follows it. */
struct vcx3_wire {
	const struct vcx3_wire_ops *ops;
	bool carrier;		/**< the far end is there; read it with vcx3_wire_carrier() */
	enum vcx3_wire_kind kind;
	struct vcx3_wire_stats stats;
	struct vcx3_wire_env env;
};

/**
 * Opens a wire that stands alone. peer is refused: it needs both ports, see
 * vcx3_wire_plan_open(). @p out is written on success only.
 */
int vcx3_wire_open(const struct vcx3_wire_spec *spec, const struct vcx3_wire_env *env,
	struct vcx3_wire **out, char *reason, size_t size);

/**
 * Opens all wires of a finished plan, @p env and @p wires by port index; on
 * failure none is open.
 */
int vcx3_wire_plan_open(const struct vcx3_wire_plan *plan, const struct vcx3_wire_env *env,
	struct vcx3_wire **wires, char *reason, size_t size);

/** Writes out what is pending, frees everything, removes what opening created. */
void vcx3_wire_close(struct vcx3_wire *wire);

/**
 * Shows up to @p n frames, first in line first. They stay valid and in line
 * until consumed; looking again shows the same ones first.
 */
static inline uint32_t
vcx3_wire_rx_peek(struct vcx3_wire *wire, struct vcx3_frame *frames, uint32_t n)
{
	return wire->ops->rx_peek ? wire->ops->rx_peek(wire, frames, n) : 0;
}

/** Takes the first @p n of the frames that the last peek showed. */
static inline void
vcx3_wire_rx_consume(struct vcx3_wire *wire, uint32_t n)
{
	wire->ops->rx_consume(wire, n);
}

/**
 * Contiguous room for one frame of @p len bytes, 1 to VCX3_WIRE_FRAME_MAX, or
 * NULL when the wire is full now. To reserve again without commit replaces
 * the reservation.
 */
static inline void *
vcx3_wire_tx_reserve(struct vcx3_wire *wire, uint32_t len)
{
	return wire->ops->tx_reserve(wire, len);
}

/** Sends the first @p len bytes of the reserved room; @p len not above what was reserved. */
static inline void
vcx3_wire_tx_commit(struct vcx3_wire *wire, uint32_t len)
{
	wire->stats.tx_frames++;
	wire->stats.tx_bytes += len;
	wire->ops->tx_commit(wire, len);
}

/** End of an engine slice: hands committed frames on. Cheap when there are none. */
static inline void
vcx3_wire_flush(struct vcx3_wire *wire)
{
	if (wire->ops->flush)
		wire->ops->flush(wire);
}

/**
 * Housekeeping that may cost a system call: far end came or went, interface
 * lost its link. Call it about every millisecond, and once in each step.
 */
static inline void
vcx3_wire_service(struct vcx3_wire *wire)
{
	if (wire->ops->service)
		wire->ops->service(wire);
}

/** Whether the far end is there and its link is up. */
static inline bool
vcx3_wire_carrier(const struct vcx3_wire *wire)
{
	return wire->carrier;
}

/**
 * Tells the far end that this port's link is up or down (up after opening).
 * Seen at the other end of peer, unix and tap; other kinds have no way to show it.
 */
static inline void
vcx3_wire_set_link(struct vcx3_wire *wire, bool up)
{
	if (wire->ops->set_link)
		wire->ops->set_link(wire, up);
}

/**
 * A descriptor that becomes readable when the wire may have frames or news, or
 * -1 when there is none (look often, or after the other wire moved). It may
 * change in vcx3_wire_service(): ask again before each wait, and wait only after
 * a peek that showed nothing.
 */
static inline int
vcx3_wire_poll_fd(const struct vcx3_wire *wire)
{
	return wire->ops->poll_fd ? wire->ops->poll_fd(wire) : -1;
}

/** Starts a source that was opened with hold=1. -ENOTSUP: not a source. */
int vcx3_wire_go(struct vcx3_wire *wire);

#endif /* VCX3_WIRE_H */
