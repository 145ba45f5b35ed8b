/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks the records of .BTF.ext; layout in Documentation/bpf/btf.rst, ".BTF.ext section". */
#include <stddef.h>

#include <linux/btf.h>

#include "elf_file.h"

#define VERSION 1	/* linux/btf.h: BTF_VERSION */

struct btf_ext_head {
	uint16_t magic;
	uint8_t version;
	uint8_t flags;
	uint32_t hdr_len;
	struct {
		uint32_t offset;	/* from the header's end */
		uint32_t length;
	} records[XDPVM_BTF_EXT_KINDS];	/* those of relocations are absent when hdr_len ends before */
};

static const uint32_t record_sizes[XDPVM_BTF_EXT_KINDS] = {
	[XDPVM_BTF_EXT_FUNCS] = sizeof(struct bpf_func_info),
	[XDPVM_BTF_EXT_LINES] = sizeof(struct bpf_line_info),
	[XDPVM_BTF_EXT_RELOS] = sizeof(struct bpf_core_relo),
};

static const void *
take(struct xdpvm_bytes *view, size_t size)
{
	const void *at = view->at;

	if (view->size < size)
		return NULL;
	view->at += size;
	view->size -= size;
	return at;
}

/* The bytes of one kind of records; empty when the object has none. */
static int
find_records(const struct xdpvm_elf *elf, enum xdpvm_btf_ext_kind kind, struct xdpvm_bytes *view)
{
	struct xdpvm_bytes data = xdpvm_elf_bytes(elf, xdpvm_elf_find(elf, ".BTF.ext"));
	struct btf_ext_head head = { 0 };
	uint32_t offset, length;

	*view = (struct xdpvm_bytes){ 0 };
	if (data.at == NULL)
		return 0;
	if (data.size < offsetof(struct btf_ext_head, records[XDPVM_BTF_EXT_RELOS]))
		return -EINVAL;
	memcpy(&head, data.at, data.size < sizeof(head) ? data.size : sizeof(head));
	if (head.magic != BTF_MAGIC || head.version != VERSION || head.flags != 0 ||
	    head.hdr_len < offsetof(struct btf_ext_head, records[XDPVM_BTF_EXT_RELOS]) ||
	    head.hdr_len > data.size || head.hdr_len % sizeof(uint32_t) != 0)
		return -EINVAL;
	if (head.hdr_len < offsetof(struct btf_ext_head, records[kind + 1]))
		return 0;
	offset = head.records[kind].offset;
	length = head.records[kind].length;
	if (offset > data.size - head.hdr_len || length > data.size - head.hdr_len - offset ||
	    offset % sizeof(uint32_t) != 0)
		return -EINVAL;
	*view = (struct xdpvm_bytes){ data.at + head.hdr_len + offset, length };
	return 0;
}

static int
section_each(struct xdpvm_bytes *view, uint32_t size, xdpvm_btf_ext_fn fn, void *arg)
{
	const uint32_t *section = take(view, 2 * sizeof(uint32_t));
	int ret = 0;

	if (section == NULL || section[1] == 0)
		return -EINVAL;
	for (uint32_t i = 0; i < section[1] && ret == 0; i++) {
		const void *record = take(view, size);

		if (record == NULL)
			return -EINVAL;
		ret = fn(arg, section[0], record);
	}
	return ret;
}

int
xdpvm_btf_ext_each(const struct xdpvm_elf *elf, enum xdpvm_btf_ext_kind kind, xdpvm_btf_ext_fn fn,
		   void *arg)
{
	struct xdpvm_bytes view;
	const uint32_t *size;
	int ret = find_records(elf, kind, &view);

	if (ret != 0 || view.size == 0)
		return ret;
	size = take(&view, sizeof(*size));
	if (size == NULL || *size < record_sizes[kind] || *size % sizeof(uint32_t) != 0 ||
	    view.size == 0)
		return -EINVAL;
	while (view.size > 0 && ret == 0)
		ret = section_each(&view, *size, fn, arg);
	return ret;
}
