/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A hostile guest: the input is a list of actions, each a byte that names it and bytes
 * that it takes. It writes its memory, firmware commands with their mailboxes, registers
 * and doorbells, sends any vfio-user message, and changes its memory map under way. What
 * the device may touch are mappings between pages that nobody may, so that a step outside
 * ends the program.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/port.h"
#include "pci/bar.h"
#include "pci/be.h"
#include "pci/cmd.h"
#include "pci/vfio_user.h"
#include "input.h"
#include "one_frame.h"

#define REGION_SIZE (16 * VCX3_DMA_PAGE)
#define REGIONS 4
#define IOVA(region) (0x100000 + (uint64_t)(region) * REGION_SIZE)
#define FRAME_SIZE 512
#define MAX_WRITE 128
#define VFU_COMMANDS 16

/* A mailbox of this guest, and another for answers. */
#define IN_AT IOVA(0)
#define OUT_AT (IOVA(0) + VCX3_DMA_PAGE)

static struct world {
	struct vcx3_pci pci;
	struct vcx3_core *core;
	struct vcx3_vfu vfu;
	struct one_frame_wire cable;
	uint8_t bytes[FRAME_SIZE];
	bool mapped[REGIONS];
} w;

static uint32_t
take_32(struct input *input)
{
	uint32_t high = take(input) << 8 | take(input);

	return high << 16 | take(input) << 8 | take(input);
}

/* Where a region lies in this process: between pages that are never mapped. */
static uint8_t *
place_of(unsigned int region)
{
	static uint8_t *area;

	if (area == NULL)
		area = mmap(NULL, REGIONS * (REGION_SIZE + VCX3_DMA_PAGE) + VCX3_DMA_PAGE,
			    PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		abort();
	return area + region * (REGION_SIZE + VCX3_DMA_PAGE) + VCX3_DMA_PAGE;
}

static uint8_t *
set_access(unsigned int region, int access)
{
	uint8_t *host = mmap(place_of(region), REGION_SIZE, access,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (host == MAP_FAILED)
		abort();
	return host;
}

static void
map_region(unsigned int region)
{
	struct vcx3_dma_region entry = { .iova = IOVA(region), .size = REGION_SIZE,
					 .read = true, .write = region != 3 };

	if (w.mapped[region])
		return;
	entry.host = set_access(region, PROT_READ | PROT_WRITE);
	w.mapped[region] = vcx3_pci_dma_map(&w.pci, &entry) == 0;
	if (!w.mapped[region])
		set_access(region, PROT_NONE);
}

/* What left the device's table was unmapped with it: nothing else may come to lie there. */
static void
close_unmapped(void)
{
	for (unsigned int region = 0; region < REGIONS; region++) {
		if (!w.mapped[region] ||
		    vcx3_dma_at(&w.pci.dma, IOVA(region), REGION_SIZE, false) != NULL)
			continue;
		set_access(region, PROT_NONE);
		w.mapped[region] = false;
	}
}

static void
command(uint16_t opcode, uint8_t opmod, uint32_t modifier, uint64_t in, uint64_t out)
{
	const uint32_t words[] = { in >> 32, in, modifier, out >> 32, out, 0x1234 << 16,
				   1U << 23 | (uint32_t)opmod << 12 | opcode };
	uint8_t bytes[4];

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		put_be32(bytes, 0, words[i]);
		vcx3_pci_write(&w.pci, VCX3_REGION_BAR0, VCX3_REG_HCR + 4 * i, bytes, 4);
	}
}

/* As far as a driver is when it makes its first object. */
static void
start_function(bool dmfs, bool cqe_64)
{
	uint8_t *in = vcx3_dma_at(&w.pci.dma, IN_AT, VCX3_DMA_PAGE, true);

	memset(in, 0, VCX3_DMA_PAGE);
	put_be64(in, 8, IOVA(1) | 4); /* 16 pages of context memory at 0 */
	command(0xffa, 0, 1, IN_AT, 0);
	memset(in, 0, VCX3_DMA_PAGE);
	put_be32(in, 0x14, dmfs ? 1U << 6 : 0);
	put_be32(in, 0x58, cqe_64 ? 3U << 29 : 0);
	command(0x007, 0, 0, IN_AT, 0);
	command(0x009, 0, 1, 0, 0);
}

static void
create(uint8_t flags)
{
	struct vcx3_pci_config pci = { .device = flags % 2, .ports = 1, .cqe_64 = flags & 4 };
	struct vcx3_core_config config = {
		.device = pci.device, .ports = 1, .mtu = 9000, .strict = flags & 8,
		.log_max_qp = 10, .log_max_cq = 8, .log_max_srq = 8, .log_max_mpt = 10,
		.memory_ops = &vcx3_icm_memory_ops, .memory_ctx = vcx3_pci_memory_ctx(&w.pci),
		.sink = &vcx3_pci_sink, .sink_ctx = &w.pci,
	};

	if (vcx3_pci_init(&w.pci, &pci) != 0 || vcx3_core_create(&config, &w.core) != 0)
		abort();
	vcx3_pci_set_core(&w.pci, w.core);
	one_frame_init(&w.cable);
	vcx3_port_attach_wire(w.core, 1, &w.cable.wire);
	w.vfu = (struct vcx3_vfu){ .pci = &w.pci, .fd = -1 };
	for (unsigned int region = 0; region < REGIONS; region++)
		map_region(region);
	if (flags & 16)
		start_function(flags & 32, flags & 4);
}

/* Addresses of its memory come up in what a guest writes more often than by chance. */
static void
write_memory(struct input *input)
{
	uint64_t at = IOVA(take(input) % REGIONS) + take(input) * 16 + take(input) % 16 * 4096;
	uint32_t len = take(input) % MAX_WRITE;
	uint8_t *host = vcx3_dma_at(&w.pci.dma, at, MAX_WRITE, true);

	for (uint32_t i = 0; host != NULL && i < len; i++) {
		uint8_t byte = take(input);

		if (byte == 0xa5 && i % 8 == 0 && i + 8 <= len) {
			put_be64(host, i, IOVA(take(input) % REGIONS) + take(input) * 64);
			i += 7;
		} else {
			host[i] = byte;
		}
	}
}

static void
run_command(struct input *input)
{
	static const uint16_t opcodes[] = {
		0x004, 0xfff, 0x034, 0x003, 0xffd, 0xffa, 0xff9, 0x007, 0x008, 0x00b, 0x013, 0x014,
		0x012, 0x00d, 0x00f, 0x02f, 0x016, 0x017, 0x02c, 0x035, 0x036, 0x037, 0x040, 0x019,
		0x01a, 0x01b, 0x01c, 0x01e, 0x021, 0x022, 0x043, 0x009, 0x00a, 0x00c, 0x049, 0x024,
		0x065, 0x066, 0x030,
	};
	uint8_t choice = take(input);
	uint16_t opcode = choice < 250 ? opcodes[choice % (sizeof(opcodes) / sizeof(opcodes[0]))] :
		take(input) << 4;
	uint8_t opmod = take(input) & 0xf;
	uint32_t modifier = take(input) & 3 ? take(input) : take_32(input);
	uint64_t in = take(input) & 7 ? IN_AT : take_32(input);

	command(opcode, opmod, modifier, in, take(input) & 7 ? OUT_AT : take_32(input));
}

static void
write_register(struct input *input)
{
	static const uint32_t regions[] = { VCX3_REGION_BAR0, VCX3_REGION_BAR2, VCX3_REGION_CONFIG };
	uint32_t region = regions[take(input) % 3];
	uint64_t offset = take(input) & 1 ? take(input) * 4 : take_32(input) & 0x7fffff;
	uint32_t len = 1U << take(input) % 4;
	uint8_t bytes[8];

	for (uint32_t i = 0; i < len; i++)
		bytes[i] = take(input);
	vcx3_pci_write(&w.pci, region, offset, bytes, len);
	vcx3_pci_read(&w.pci, region, offset, bytes, len);
}

static void
send_message(struct input *input)
{
	uint16_t number = take(input) % VFU_COMMANDS;
	uint32_t len = take(input);

	for (uint32_t i = 0; i < len; i++)
		w.vfu.body[i] = take(input);
	vcx3_vfu_handle(&w.vfu, number, len, NULL, 0);
}

static void
push_frame(struct input *input)
{
	uint32_t len = 14 + take(input) * 2 % (FRAME_SIZE - 14);

	for (uint32_t i = 0; i < len; i++)
		w.bytes[i] = take(input);
	w.cable.frame = (struct vcx3_frame){ .data = w.bytes, .len = len };
}

static void
act(struct input *input)
{
	uint8_t action = take(input) % 16;

	if (action < 5)
		write_memory(input);
	else if (action < 10)
		run_command(input);
	else if (action < 12)
		write_register(input);
	else if (action == 12)
		push_frame(input);
	else if (action == 13)
		send_message(input);
	else if (action == 14)
		vcx3_pci_dma_unmap(&w.pci, IOVA(take(input) % REGIONS), REGION_SIZE);
	else
		map_region(take(input) % REGIONS);
	close_unmapped();
	vcx3_core_run(w.core);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	create(take(&input));
	while (input.len > 0)
		act(&input);
	vcx3_irqs_fini(&w.pci.irqs);
	vcx3_pci_dma_unmap_all(&w.pci);
	close_unmapped();
	vcx3_pci_fini(&w.pci);
	vcx3_core_destroy(w.core);
	return 0;
}
