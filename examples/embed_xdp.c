/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How to run an XDP object in a program of one's own: no driver, no interface, no DPDK application.
 * Takes one frame from standard input and prints what the object's first program decides.
 *
 * usage: embed_xdp OBJECT < FRAME
 */
#include <stdio.h>
#include <unistd.h>

#include <xdpvm.h>

#define HEADROOM 256

static const char *const actions[] = { "ABORTED", "DROP", "PASS", "TX", "REDIRECT" };

/* Every failure of the library is one sentence that comes here. */
static void
say(void *arg, enum xdpvm_log_level level, const char *message)
{
	if (level == XDPVM_LOG_ERROR)
		fprintf(stderr, "%s\n", message);
}

/* One page as a driver has it: headroom, the frame, room to grow. */
static int
judge(struct xdpvm_prog *prog)
{
	static uint8_t page[4096];
	struct xdpvm_buff buff;
	ssize_t size = read(STDIN_FILENO, page + HEADROOM, sizeof(page) - HEADROOM);

	if (size < 0)
		return 1;
	xdpvm_buff_init(&buff, 1, 0);	/* interface 1, queue 0 */
	if (xdpvm_buff_bind(&buff) != 0)
		return 1;
	buff.hard_start = page;
	buff.data = buff.data_meta = page + HEADROOM;
	buff.data_end = buff.data + size;
	buff.frame_end = page + sizeof(page);
	printf("%s\n", actions[xdpvm_run(prog, &buff)]);
	xdpvm_thread_quiescent();	/* after each burst: nothing of the program is held any more */
	return 0;
}

int
main(int argc, char **argv)
{
	struct xdpvm_options options = { .log = say };
	struct xdpvm_object *object;
	int status = 1;

	if (argc != 2 || xdpvm_thread_register(XDPVM_THREAD_ANY) < 0 ||
	    xdpvm_object_open(argv[1], &options, &object) != 0)
		return 1;
	if (xdpvm_object_load(object) == 0)
		status = judge(xdpvm_prog_find(object, NULL));
	xdpvm_object_close(object);
	xdpvm_thread_unregister();
	return status;
}
