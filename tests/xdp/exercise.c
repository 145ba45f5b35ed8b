/* SPDX-License-Identifier: BSD-3-Clause */
/* See exercise.h. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "exercise.h"

#define PAGE 4096

/* A page with one on each side that is closed. */
static uint8_t *
guarded_page(void)
{
	static uint8_t *page;
	uint8_t *pages;

	if (page != NULL)
		return page;
	pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE) != 0)
		return NULL;
	return page = pages + PAGE;
}

/* IPv4 and UDP, so that programs do not stop at the first look; the rest counts up. */
static void
fill(uint8_t *data, uint32_t size)
{
	static const uint8_t head[] = {
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00,
		0x45, 0, 0, 48, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
		0x30, 0x39, 0, 53, 0, 28, 0, 0,
	};

	for (uint32_t i = 0; i < size; i++)
		data[i] = i < sizeof(head) ? head[i] : (uint8_t)i;
}

void
exercise_prog(struct xdpvm_prog *prog, struct exercise_runs *runs)
{
	static const uint32_t sizes[] = { 0, 14, 62, 1514 };
	uint8_t *page = guarded_page();
	struct xdpvm_buff buff;

	xdpvm_buff_init(&buff, 1, 0);
	if (page == NULL || xdpvm_buff_bind(&buff) != 0)
		return;
	for (unsigned int i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t size = sizes[i / 2];

		buff.hard_start = page;
		buff.frame_end = page + PAGE;
		buff.data = buff.data_meta = i % 2 ? page : page + PAGE - size;
		buff.data_end = buff.data + size;
		fill(buff.data, size);
		xdpvm_run(prog, &buff);
		runs->all++;
	}
	runs->aborts += buff.aborts;
}

static void
keep(void *arg, enum xdpvm_log_level level, const char *message)
{
	struct exercise *exercise = arg;

	if (level == XDPVM_LOG_ERROR)
		snprintf(exercise->sentence, sizeof(exercise->sentence), "%s", message);
}

int
exercise_object(const void *image, size_t size, enum xdpvm_verify verify, enum xdpvm_engine engine,
		struct exercise *exercise)
{
	struct xdpvm_options options = {
		.verify = verify, .engine = engine, .log = keep, .log_arg = exercise,
		.map_memory = 64u << 20,
	};
	struct xdpvm_prog *prog = NULL;
	struct xdpvm_object *object;
	int ret;

	*exercise = (struct exercise){ 0 };
	ret = xdpvm_object_open_memory(image, size, "damaged.o", &options, &object);
	if (ret != 0)
		return ret;
	ret = xdpvm_object_load(object);
	while (ret == 0 && (prog = xdpvm_prog_next(object, prog)) != NULL)
		exercise_prog(prog, &exercise->runs);
	xdpvm_object_close(object);
	return ret;
}
