/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Secondary processes of net_mlx4x: this program runs itself as one. The primary polls
 * receive queue 0, the secondary queue 1 and sends on send queue 1. Flows of UDP spread
 * over both by the hash; all frames come back to the port.
 *
 * The secondary is told what to do by lines on its standard input, and answers each.
 * When the input ends it closes its port and ends.
 *
 *   mlx4x_secondary_test EAL... [NAME of one test]
 *   mlx4x_secondary_test EAL... leave|die	the primary ends first, orderly or not
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>

#include <rte_pmd_mlx4x.h>

#include "self_port.h"

#define NB_FRAMES 400
#define DEVICE "0000:03:00.0"

static struct rte_mempool *send_pool;

/* Of a secondary: the primary, while it lives. */
static pid_t parent;

/* Sends NB_FRAMES on a queue; how many went. */
static unsigned int
send_all(uint16_t queue)
{
	unsigned int nb, ms = 0;

	for (nb = 0; nb < NB_FRAMES && ms < WAIT_MS;) {
		struct rte_mbuf *mbuf = udp_frame(send_pool, nb);

		while (mbuf != NULL && rte_eth_tx_burst(PORT, queue, &mbuf, 1) == 0 &&
		       ms++ < WAIT_MS)
			rte_delay_us_sleep(1000);
		if (mbuf != NULL)
			nb++;
		else if (ms++ < WAIT_MS)	/* the sent ones come back to the pool */
			rte_delay_us_sleep(1000);
	}
	return nb;
}

/* Receives up to max frames on a queue and frees them; how many came. */
static unsigned int
receive_all(uint16_t queue, unsigned int max)
{
	unsigned int nb = 0, ms = 0;

	while (nb < max && ms < WAIT_MS) {
		struct rte_mbuf *mbuf;

		if (rte_eth_rx_burst(PORT, queue, &mbuf, 1) == 1) {
			rte_pktmbuf_free(mbuf);
			nb++;
		} else {
			rte_delay_us_sleep(1000);
			ms++;
		}
	}
	return nb;
}

/* Waits for a value of the port's counter; what it is in the end. */
static unsigned int
wait_for_phy(unsigned int wanted)
{
	unsigned int ms;

	for (ms = 0; ms < WAIT_MS && port_xstat(PORT, "rx_phy_packets") != wanted; ms++)
		rte_delay_us_sleep(1000);
	return port_xstat(PORT, "rx_phy_packets");
}

/*
 * The primary is gone and its engine with it, the card. What a polling application goes on
 * calling comes back, with nothing or an error, and memory that nobody can register is
 * refused.
 */
static int
go_on_alone(void)
{
	struct rte_eth_stats stats;
	struct rte_eth_link link;
	struct rte_mbuf *mbuf;
	unsigned int i;

	CHECK_SOON(getppid() != parent);
	send_pool = rte_pktmbuf_pool_create("alone", 255, 0, 0, 2176, SOCKET_ID_ANY);
	for (i = 0; i < 2 * RING; i++) {
		if (rte_eth_rx_burst(PORT, 1, &mbuf, 1) == 1)
			rte_pktmbuf_free(mbuf);
		mbuf = send_pool != NULL ? rte_pktmbuf_alloc(send_pool) : NULL;
		if (mbuf == NULL)
			continue;
		write_frame(mbuf, i);
		if (rte_eth_tx_burst(PORT, 1, &mbuf, 1) == 0)
			rte_pktmbuf_free(mbuf);
	}
	rte_eth_stats_get(PORT, &stats);
	rte_eth_xstats_get(PORT, NULL, 0);
	rte_eth_link_get_nowait(PORT, &link);
	rte_eth_dev_is_removed(PORT);
	fprintf(stderr, "the secondary went on alone\n");
	return 0;
}

static unsigned int
obey(const char *line)
{
	struct rte_eth_stats stats;
	struct rte_eth_link link;
	unsigned int number;
	char name[32];

	if (strncmp(line, "send", 4) == 0)
		return send_all(1);
	if (sscanf(line, "receive %u", &number) == 1)
		return receive_all(1, number);
	if (sscanf(line, "phy %u", &number) == 1)
		return wait_for_phy(number);
	if (sscanf(line, "value %31s", name) == 1)
		return port_xstat(PORT, name);
	if (strncmp(line, "xstats", 6) == 0)
		return rte_eth_xstats_get_names(PORT, NULL, 0);
	if (strncmp(line, "go on alone", 11) == 0)
		return go_on_alone();
	if (strncmp(line, "poll", 4) == 0)
		return rte_eth_rx_burst(PORT, 1, (struct rte_mbuf *[1]){ NULL }, 1);
	if (strncmp(line, "link", 4) == 0)
		return -rte_eth_link_get_nowait(PORT, &link);
	if (strncmp(line, "attach", 6) == 0)
		return -rte_pmd_mlx4x_xdp_set(PORT, NULL);
	if (strncmp(line, "own pool", 8) == 0)
		send_pool = rte_pktmbuf_pool_create("own", 255, 0, 0, 2176, SOCKET_ID_ANY);
	else if (strncmp(line, "drop pool", 9) == 0) {
		rte_eth_tx_done_cleanup(PORT, 1, 0);
		rte_mempool_free(send_pool);
		send_pool = rte_mempool_lookup("frames");
	} else if (strncmp(line, "stats", 5) == 0) {
		rte_eth_stats_get(PORT, &stats);
		return stats.q_opackets[1];
	} else if (strncmp(line, "ports", 5) == 0)
		return rte_eth_dev_count_avail();
	return send_pool != NULL;
}

static int
secondary(void)
{
	char line[64];

	send_pool = rte_mempool_lookup("frames");
	if (send_pool == NULL || rte_eth_dev_count_avail() != 1)
		return 1;
	printf("0\n");
	while (fgets(line, sizeof(line), stdin) != NULL)
		printf("%u\n", obey(line));
	rte_eth_dev_close(PORT);
	return rte_eal_cleanup();
}

/* The running secondary process. */
static struct {
	pid_t pid;
	FILE *to;
	FILE *from;
} child;

static char **own_words;

static bool
is_answer(unsigned int wanted)
{
	char line[64] = "";
	bool ok = fgets(line, sizeof(line), child.from) != NULL &&
		strtoul(line, NULL, 10) == wanted;

	if (!ok)
		printf("the secondary says \"%s\", not %u\n", line, wanted);
	return ok;
}

static bool
ask(const char *what, unsigned int wanted)
{
	fprintf(child.to, "%s\n", what);
	fflush(child.to);
	return is_answer(wanted);
}

/* The same words, with another role; lcore 1 where the primary has 0. */
static void
become_secondary(int in, int out)
{
	char *words[32] = { NULL };
	unsigned int i;

	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	for (i = 0; own_words[i] != NULL && i < RTE_DIM(words) - 2; i++)
		words[i] = strcmp(own_words[i], "--proc-type=primary") == 0 ?
			strdup("--proc-type=secondary") : own_words[i];
	execv("/proc/self/exe", words);
	_exit(127);
}

static bool
start_secondary(void)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
		return false;
	child.pid = fork();
	if (child.pid == 0)
		become_secondary(to[0], from[1]);
	close(to[0]);
	close(from[1]);
	child.to = fdopen(to[1], "w");
	child.from = fdopen(from[0], "r");
	return child.pid > 0 && is_answer(0);
}

/* Its exit status, or -signal. */
static int
end_secondary(int signal_number)
{
	int status = 0;

	if (signal_number != 0)
		kill(child.pid, signal_number);
	fclose(child.to);
	waitpid(child.pid, &status, 0);
	fclose(child.from);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int
configure(uint16_t nb_queues)
{
	struct rte_eth_conf conf = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_UDP,
	};
	uint16_t i;

	CHECK(rte_eth_dev_configure(PORT, nb_queues, nb_queues, &conf) == 0);
	for (i = 0; i < nb_queues; i++) {
		CHECK(rte_eth_rx_queue_setup(PORT, i, 512, SOCKET_ID_ANY, NULL, pool) == 0);
		CHECK(rte_eth_tx_queue_setup(PORT, i, RING, SOCKET_ID_ANY, NULL) == 0);
	}
	return 0;
}

/* The secondary sends NB_FRAMES; both receive what the hash gives each of them. */
static int
exchange(void)
{
	long before = card_counter("rx_frames");
	unsigned int nb0, nb1;
	char line[64];

	CHECK(ask("send", NB_FRAMES));
	CHECK_SOON(card_counter("rx_frames") == before + NB_FRAMES);
	nb0 = rte_eth_rx_queue_count(PORT, 0);
	nb1 = rte_eth_rx_queue_count(PORT, 1);
	CHECK(nb0 + nb1 == NB_FRAMES);
	CHECK(nb0 > NB_FRAMES / 4 && nb1 > NB_FRAMES / 4);
	snprintf(line, sizeof(line), "receive %u", nb1);
	CHECK(ask(line, nb1));
	CHECK(receive_all(0, nb0) == nb0);
	return 0;
}

/* It comes while the port runs. */
static int
test_attach_running(void)
{
	CHECK(configure(2) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(start_secondary());
	CHECK(exchange() == 0);
	CHECK(ask("stats", NB_FRAMES));
	CHECK(end_secondary(0) == 0);
	return 0;
}

/* The secondary asks the kernel's interface itself, and tells the same as the primary. */
static int
test_xstats(void)
{
	char line[64];
	int nb;

	CHECK(configure(2) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(rte_eth_xstats_reset(PORT) == 0);
	CHECK(start_secondary());
	nb = rte_eth_xstats_get_names(PORT, NULL, 0);
	CHECK(nb > 0 && ask("xstats", nb));
	CHECK(exchange() == 0);
	snprintf(line, sizeof(line), "phy %u", NB_FRAMES);
	CHECK(ask(line, NB_FRAMES));
	CHECK(exchange() == 0);
	snprintf(line, sizeof(line), "phy %u", 2 * NB_FRAMES);
	CHECK(ask(line, 2 * NB_FRAMES));
	CHECK(port_xstat(PORT, "rx_phy_packets") == 2 * NB_FRAMES);
	CHECK(end_secondary(0) == 0);
	return 0;
}

static uint64_t
drop(struct xdpvm_buff *buff)
{
	return XDP_DROP;
}

/*
 * With a program the queues are the primary's: the secondary gets nothing past it, and
 * receives again when the program is gone.
 */
static int
test_program(void)
{
	static const struct rte_pmd_mlx4x_xdp_prog prog = { .hook = drop };
	long before;

	CHECK(configure(2) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(start_secondary());
	CHECK(exchange() == 0);
	CHECK(ask("attach", ENOTSUP));
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) == 0);
	before = card_counter("rx_frames");
	CHECK(ask("send", NB_FRAMES));
	CHECK_SOON(card_counter("rx_frames") == before + NB_FRAMES);
	CHECK(ask("poll", 0));
	CHECK_SOON(rte_eth_rx_burst(PORT, 0, (struct rte_mbuf *[1]){ NULL }, 1) == 0 &&
		rte_eth_rx_burst(PORT, 1, (struct rte_mbuf *[1]){ NULL }, 1) == 0 &&
		port_xstat(PORT, "rx_xdp_drop") == NB_FRAMES);
	CHECK(ask("value rx_xdp_drop", NB_FRAMES));
	CHECK(ask("value rx_xdp_pass", 0));
	CHECK(ask("value tx_q1_packets", 2 * NB_FRAMES));
	CHECK(ask("value rx_good_packets", port_xstat(PORT, "rx_good_packets")));
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, NULL) == 0);
	CHECK(exchange() == 0);
	CHECK(end_secondary(0) == 0);
	return 0;
}

/* It comes before there are queues; the port starts, stops, and starts with others. */
static int
test_attach_before_start(void)
{
	CHECK(start_secondary());
	CHECK(configure(2) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(exchange() == 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(configure(3) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(exchange() == 0);
	CHECK(end_secondary(0) == 0);
	return 0;
}

/* Frames of a pool that only the secondary knows of: the primary registers it. */
static int
test_own_memory(void)
{
	CHECK(configure(2) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(start_secondary());
	CHECK(ask("own pool", 1));
	CHECK(exchange() == 0);
	CHECK(ask("drop pool", 1));
	CHECK(exchange() == 0);
	CHECK(send_errors() == 0);
	CHECK(end_secondary(0) == 0);
	return 0;
}

/* Killed, and another one comes; the queue goes on. */
static int
test_killed(void)
{
	unsigned int i;

	CHECK(configure(2) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	for (i = 0; i < 3; i++) {
		CHECK(start_secondary());
		CHECK(exchange() == 0);
		CHECK(end_secondary(SIGKILL) == -SIGKILL);
	}
	return 0;
}

/* The card stops the secondary's queue: the primary repairs it. */
static int
test_broken_queue(void)
{
	struct rte_eth_stats stats;

	CHECK(configure(2) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(start_secondary());
	CHECK(card_ctl("inject tx_error:port=1,skip=10,syndrome=4"));
	CHECK(ask("send", NB_FRAMES));
	CHECK_SOON(rte_eth_stats_get(PORT, &stats) == 0 && stats.oerrors > 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(exchange() == 0);
	CHECK(end_secondary(0) == 0);
	return 0;
}

/* The device goes and comes again in both processes; the fast path of both follows. */
static int
test_hotplug(void)
{
	unsigned int i;

	CHECK(start_secondary());
	for (i = 0; i < 3; i++) {
		CHECK(configure(2) == 0);
		CHECK(rte_eth_dev_start(PORT) == 0);
		CHECK(exchange() == 0);
		CHECK(rte_eal_hotplug_remove("pci", DEVICE) == 0);
		CHECK(rte_eth_dev_count_avail() == 0);
		CHECK(ask("ports", 0));
		CHECK(card_census() == 0);
		CHECK(rte_eal_hotplug_add("pci", DEVICE, "") == 0);
		CHECK(ask("ports", 1));
	}
	CHECK(configure(2) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(exchange() == 0);
	CHECK(end_secondary(0) == 0);
	return 0;
}

/* The primary closes the port under the secondary, for which it is gone, and comes again. */
static int
test_closed_by_primary(void)
{
	unsigned int i;

	CHECK(start_secondary());
	for (i = 0; i < 2; i++) {
		CHECK(configure(2) == 0);
		CHECK(rte_eth_dev_start(PORT) == 0);
		CHECK(exchange() == 0);
		CHECK(rte_eth_dev_stop(PORT) == 0);
		CHECK(rte_eth_dev_close(PORT) == 0);
		CHECK(ask("ports", 0));
		CHECK(ask("link", ENODEV));
		CHECK(ask("poll", 0));
		CHECK(rte_eal_hotplug_remove("pci", DEVICE) == 0);
		CHECK(rte_eal_hotplug_add("pci", DEVICE, "") == 0);
		CHECK(ask("ports", 1));
	}
	CHECK(configure(2) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(exchange() == 0);
	CHECK(end_secondary(0) == 0);
	return 0;
}

static const struct self_test tests[] = {
	{ "attach_running", test_attach_running },
	{ "xstats", test_xstats },
	{ "attach_before_start", test_attach_before_start },
	{ "own_memory", test_own_memory },
	{ "program", test_program },
	{ "killed", test_killed },
	{ "hotplug", test_hotplug },
	{ "closed_by_primary", test_closed_by_primary },
	{ "broken_queue", test_broken_queue },
};

/* The primary ends while the secondary has its queues; its exit status. */
static int
end_first(bool orderly)
{
	if (configure(2) != 0 || rte_eth_dev_start(PORT) != 0 || !start_secondary() ||
	    exchange() != 0 || fputs("go on alone\n", child.to) < 0 || fflush(child.to) != 0)
		return 1;
	if (!orderly)
		raise(SIGKILL);
	rte_eth_dev_stop(PORT);
	rte_eth_dev_close(PORT);
	return rte_eal_cleanup();
}

int
main(int argc, char **argv)
{
	const char *only;
	int used, i;

	own_words = calloc(argc + 1, sizeof(*own_words));
	for (i = 0; i < argc; i++) {
		own_words[i] = argv[i];
		if (strcmp(argv[i], "--proc-type=secondary") == 0) {
			setlinebuf(stdout);
			parent = getppid();
			return rte_eal_init(argc, argv) < 0 ? 1 : secondary();
		}
	}
	used = self_init(argc, argv);
	if (used < 0)
		return 1;
	send_pool = pool;
	only = used + 1 < argc ? argv[used + 1] : NULL;
	if (only != NULL && (strcmp(only, "leave") == 0 || strcmp(only, "die") == 0))
		return end_first(only[0] == 'l');
	return self_run(tests, RTE_DIM(tests), only);
}
