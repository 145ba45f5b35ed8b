/* SPDX-License-Identifier: BSD-3-Clause */

/* The text of a wire: what is taken, what is refused, and in which words. */

#include <errno.h>

#include "wire_env.h"

#define NAME_108 \
	"/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct bad_text {
	const char *text;
	const char *says;
};

static const struct bad_text bad_texts[] = {
	{"", "the kinds are peer, self, sink, pcap, gen, packet, tap, unix"},
	{"wire", "no kind of wire \"wire\""},
	{"Peer", "no kind of wire"},
	{"peers", "no kind of wire"},
	{"peer:", "takes nothing after it"},
	{"self:1", "takes nothing after it"},
	{"sink:size=60", "takes nothing after it"},
	{"pcap", "needs rx=FILE"},
	{"pcap:", "is not NAME=VALUE"},
	{"pcap:loop=2", "needs rx=FILE"},
	{"pcap:rx=", "needs a file name"},
	{"pcap:rx=a,tx=a", "same file"},
	{"pcap:rx=a,loop=-1", "loop=-1 is not a number from 0"},
	{"pcap:rx=a,loop=2x", "is not a number"},
	{"pcap:rx=a,rx=b", "given twice"},
	{"pcap:size=60", "options are rx, tx, loop, hold"},
	{"pcap:rx=a,hold=2", "hold=2 is not a number from 0 to 1"},
	{"gen:", "is not NAME=VALUE"},
	{"gen:size", "is not NAME=VALUE"},
	{"gen:size=", "is not a number"},
	{"gen:size=59", "from 60 to 16384"},
	{"gen:size=16385", "from 60 to 16384"},
	{"gen:size=60,", "is not NAME=VALUE"},
	{"gen:size=60,,flows=1", "is not NAME=VALUE"},
	{"gen:sise=60", "options are size, flows, count, rate, proto, seed, hold"},
	{"gen:flows=0", "from 1 to 65536"},
	{"gen:flows=65537", "from 1 to 65536"},
	{"gen:count=18446744073709551616", "is not a number"},
	{"gen:rate=1000000001", "from 0 to 1000000000"},
	{"gen:rate=1e6", "is not a number"},
	{"gen:rate= 5", "is not a number"},
	{"gen:proto=icmp", "protocols are udp4, tcp4, udp6, tcp6, mix"},
	{"gen:proto=", "protocols are"},
	{"gen:seed=+1", "is not a number"},
	{"packet", "write packet:IFNAME"},
	{"packet:", "write packet:IFNAME"},
	{"packet:a/b", "cannot be an interface name"},
	{"packet:a b", "cannot be an interface name"},
	{"packet:..", "cannot be an interface name"},
	{"packet:fifteen_letters", NULL},
	{"packet:sixteen_letters_x", "longer than 15 bytes"},
	{"tap:%d", "cannot be an interface name"},
	{"tap", "write tap:NAME"},
	{"unix:", "write unix:PATH"},
	{"unix:" NAME_108, "longer than 107 bytes"},
};

static void
test_bad_texts(void)
{
	struct vcx3_wire_spec spec;

	for (size_t i = 0; i < sizeof(bad_texts) / sizeof(bad_texts[0]); i++) {
		const struct bad_text *bad = &bad_texts[i];
		int ret;

		reason[0] = '\0';
		ret = vcx3_wire_parse(bad->text, &spec, reason, sizeof(reason));
		CHECK(ret == (bad->says ? -EINVAL : 0), "%s -> %d", bad->text, ret);
		CHECK(!bad->says || strstr(reason, bad->says), "%s -> %s", bad->text, reason);
	}
}

static void
test_values(void)
{
	struct vcx3_wire_spec spec;
	int ret = vcx3_wire_parse("gen:size=128,flows=3,count=7,rate=1000,proto=tcp6,seed=0x10,hold=1",
		&spec, reason, sizeof(reason));

	CHECK(ret == 0, "%s", reason);
	CHECK(spec.kind == VCX3_WIRE_GEN && spec.size == 128 && spec.flows == 3);
	CHECK(spec.count == 7 && spec.rate_pps == 1000 && spec.seed == 16 && spec.hold);
	CHECK(spec.proto == VCX3_WIRE_TCP6);

	ret = vcx3_wire_parse("gen", &spec, reason, sizeof(reason));
	CHECK(ret == 0 && spec.size == 60 && spec.flows == 16 && spec.count == 0);
	CHECK(spec.rate_pps == 0 && spec.proto == VCX3_WIRE_UDP4 && spec.seed == 1 && !spec.hold);

	ret = vcx3_wire_parse("pcap:tx=/t:o=ut,loop=0,rx=in", &spec, reason, sizeof(reason));
	CHECK(ret == 0 && strcmp(spec.tx_file, "/t:o=ut") == 0 && strcmp(spec.rx_file, "in") == 0);
	CHECK(spec.loop == 0);

	ret = vcx3_wire_parse("unix:/tmp/a,b:c", &spec, reason, sizeof(reason));
	CHECK(ret == 0 && strcmp(spec.name, "/tmp/a,b:c") == 0);
}

/* Adds the texts and finishes; the first error. */
static int
plan_of(struct vcx3_wire_plan *plan, uint32_t ports, const char *one, const char *two)
{
	int ret = 0;

	vcx3_wire_plan_init(plan, ports);
	reason[0] = '\0';
	if (one != NULL)
		ret = vcx3_wire_plan_add(plan, one, reason, sizeof(reason));
	if (ret == 0 && two != NULL)
		ret = vcx3_wire_plan_add(plan, two, reason, sizeof(reason));
	return ret != 0 ? ret : vcx3_wire_plan_finish(plan, reason, sizeof(reason));
}

static void
test_plan_defaults(void)
{
	struct vcx3_wire_plan plan;

	CHECK(plan_of(&plan, 2, NULL, NULL) == 0);
	CHECK(plan.spec[0].kind == VCX3_WIRE_PEER && plan.spec[1].kind == VCX3_WIRE_PEER);
	CHECK(plan_of(&plan, 1, NULL, NULL) == 0 && plan.spec[0].kind == VCX3_WIRE_SINK);
	CHECK(plan_of(&plan, 2, "2=gen", NULL) == 0);
	CHECK(plan.spec[0].kind == VCX3_WIRE_SINK && plan.spec[1].kind == VCX3_WIRE_GEN);
	CHECK(plan_of(&plan, 2, "1=peer", "2=peer") == 0);
}

struct bad_plan {
	uint32_t ports;
	const char *one;
	const char *two;
	const char *says;
};

static const struct bad_plan bad_plans[] = {
	{2, "", NULL, "write PORT=SPEC"},
	{2, "peer", NULL, "write PORT=SPEC"},
	{2, "1", NULL, "write PORT=SPEC"},
	{2, "0=peer", NULL, "no port 0; the card has ports 1 and 2"},
	{2, "3=peer", NULL, "no port 3"},
	{1, "2=sink", NULL, "the card has port 1 only"},
	{2, "1=sink", "1=gen", "port 1 has a wire already"},
	{2, "1=", NULL, "the kinds are"},
	{1, "1=peer", NULL, "peer needs two ports"},
	{2, "1=peer", NULL, "port 2 is plugged into sink"},
	{2, "2=peer", "1=gen", "port 1 is plugged into gen"},
	{2, "1=tap:a", "2=tap:a", "both plugged into tap:a"},
	{2, "1=packet:a", "2=packet:a", "both plugged into packet:a"},
	{2, "1=pcap:tx=a", "2=pcap:tx=a", "port 1 writes a"},
	{2, "1=pcap:tx=a", "2=pcap:rx=a", "port 1 writes a"},
	{2, "1=pcap:rx=a", "2=pcap:tx=a", "port 2 writes a"},
};

static void
test_bad_plans(void)
{
	struct vcx3_wire_plan plan;

	for (size_t i = 0; i < sizeof(bad_plans) / sizeof(bad_plans[0]); i++) {
		const struct bad_plan *bad = &bad_plans[i];
		int ret = plan_of(&plan, bad->ports, bad->one, bad->two);

		CHECK(ret == -EINVAL, "row %zu -> %d", i, ret);
		CHECK(strstr(reason, bad->says), "row %zu -> %s", i, reason);
	}
}

static void
check_refused(const char *text, int error, const char *says)
{
	struct vcx3_wire_spec spec;
	int ret;

	CHECK(vcx3_wire_parse(text, &spec, reason, sizeof(reason)) == 0, "%s", reason);
	reason[0] = '\0';
	ret = vcx3_wire_check(&spec, reason, sizeof(reason));
	CHECK(ret == -error && strstr(reason, says), "%s -> %d %s", text, ret, reason);
}

static void
test_checks(void)
{
	check_refused("pcap:rx=/nowhere/in.pcap", ENOENT, "/nowhere/in.pcap: cannot read it");
	check_refused("pcap:rx=/dev", EISDIR, "cannot read it");
	check_refused("pcap:tx=/nowhere/out.pcap", ENOENT, "cannot write it");
	check_refused("packet:vcx3_none", ENODEV, "no such network interface");
	check_refused("tap:lo", EEXIST, "packet:lo joins an existing one");
	check_refused("unix:/dev/null", ENOTSOCK, "no socket is there");
	check_refused("unix:/nowhere/s", ENOENT, "cannot make a socket there");
	check_refused("gen:flows=65536,size=9000", EINVAL, "at most 256 MiB");
}

static void
test_help(void)
{
	char text[4096];
	char small[16];
	size_t len = vcx3_wire_help(text, sizeof(text));

	CHECK(len == strlen(text), "%zu", len);
	CHECK(strstr(text, "packet:IFNAME") && strstr(text, "unix:PATH") && strstr(text, "seed"));
	CHECK(vcx3_wire_help(small, sizeof(small)) == len && strlen(small) == 15);
}

int
main(void)
{
	test_bad_texts();
	test_values();
	test_plan_defaults();
	test_bad_plans();
	test_checks();
	test_help();
	return check_status();
}
