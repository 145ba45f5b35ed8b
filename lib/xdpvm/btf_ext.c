/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks the records of .BTF.ext; layout in Documentation/bpf/btf.rst, ".BTF.ext section". */
#include <linux/btf.h>

#include "elf_file.h"

struct btf_ext_head {
	uint16_t magic;
	uint8_t version;
	uint8_t flags;
	uint32_t hdr_len;
	uint32_t func_info_off, func_info_len;
	uint32_t line_info_off, line_info_len;
	uint32_t core_relo_off, core_relo_len;	/* absent when hdr_len ends before */
};

struct view {
	const uint8_t *at;
	size_t left;
};

static const void *
take(struct view *view, size_t size)
{
	const void *at = view->at;

	if (view->left < size)
		return NULL;
	view->at += size;
	view->left -= size;
	return at;
}

/* The bytes of one kind of records; empty when the object has none. */
static int
find_records(const struct xdpvm_elf *elf, enum xdpvm_btf_ext_kind kind, struct view *view)
{
	Elf_Data *data = xdpvm_elf_section(elf, ".BTF.ext", NULL);
	struct btf_ext_head head = { 0 };
	uint32_t offset, length;

	*view = (struct view){ 0 };
	if (data == NULL || data->d_buf == NULL)
		return 0;
	if (data->d_size < offsetof(struct btf_ext_head, core_relo_off))
		return -EINVAL;
	memcpy(&head, data->d_buf, data->d_size < sizeof(head) ? data->d_size : sizeof(head));
	if (head.magic != BTF_MAGIC || head.hdr_len > data->d_size)
		return -EINVAL;
	offset = kind == XDPVM_BTF_EXT_LINES ? head.line_info_off : head.core_relo_off;
	length = kind == XDPVM_BTF_EXT_LINES ? head.line_info_len : head.core_relo_len;
	if (kind == XDPVM_BTF_EXT_RELOS && head.hdr_len < sizeof(head))
		return 0;
	if (offset > data->d_size - head.hdr_len || length > data->d_size - head.hdr_len - offset)
		return -EINVAL;
	*view = (struct view){ (const uint8_t *)data->d_buf + head.hdr_len + offset, length };
	return 0;
}

static int
section_each(struct view *view, uint32_t size, xdpvm_btf_ext_fn fn, void *arg)
{
	const uint32_t *section = take(view, 2 * sizeof(uint32_t));
	int ret = 0;

	if (section == NULL)
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
xdpvm_btf_ext_each(const struct xdpvm_elf *elf, enum xdpvm_btf_ext_kind kind, size_t record_size,
		   xdpvm_btf_ext_fn fn, void *arg)
{
	const uint32_t *size;
	struct view view;
	int ret = find_records(elf, kind, &view);

	if (ret != 0 || view.left == 0)
		return ret;
	size = take(&view, sizeof(*size));
	if (size == NULL || *size < record_size)
		return -EINVAL;
	while (view.left > 0 && ret == 0)
		ret = section_each(&view, *size, fn, arg);
	return ret;
}
