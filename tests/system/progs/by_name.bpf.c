/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps whose entries are maps and programs: what they hold shows in the verdicts. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct table {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
};

struct table drops SEC(".maps"), calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct table);
} tables SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u32);
} programs SEC(".maps");

/* No table: PASS. A table that holds 0: DROP; else the program, ABORTED without one. */
SEC("xdp")
int xdp_asks_tables(struct xdp_md *ctx)
{
	__u32 key = 1, first = 0, *value;
	void *table = bpf_map_lookup_elem(&tables, &key);

	if (!table)
		return XDP_PASS;
	value = bpf_map_lookup_elem(table, &first);
	if (value && !*value)
		return XDP_DROP;
	bpf_tail_call(ctx, &programs, 1);
	return XDP_ABORTED;
}

SEC("xdp")
int xdp_sends_back(struct xdp_md *ctx)
{
	return XDP_TX;
}

char _license[] SEC("license") = "Dual BSD/GPL";
