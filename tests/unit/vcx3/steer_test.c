/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steering against an oracle that tries every rule, with random rules and frames.
 */
#include "frames.h"

#define RULES 40
#define QPS 8
#define BASE_QPN 0x80

struct live_rule {
	struct vcx3_rule rule;
	uint64_t handle;
	uint32_t age;
};

static struct live_rule rules[RULES];
static unsigned int nb_rules;
static uint32_t age;
static uint64_t seed = 42;

/* ---- The oracle: (packet & mask) == (value & mask), first by priority, then by age ---- */

static bool
oracle_bytes(const uint8_t *a, const uint8_t *b, const uint8_t *mask, int len)
{
	for (int i = 0; i < len; i++)
		if ((a[i] & mask[i]) != (b[i] & mask[i]))
			return false;
	return true;
}

static bool
oracle_matches(const struct vcx3_rule *rule, const struct frame *frame,
	       const struct frame_spec *spec)
{
	const uint8_t *ip = frame->bytes + frame->l3, *l4 = frame->bytes + frame->l4;

	if (!oracle_bytes(frame->bytes, rule->dst_mac, rule->dst_mac_mask, 6))
		return false;
	if (rule->vlan_mask && (spec->tags == 0 ||
				(spec->tci & rule->vlan_mask) != (rule->vlan & rule->vlan_mask)))
		return false;
	if (rule->match_ipv4 &&
	    (spec->version != 4 ||
	     (rig_get32(ip + 12) & rule->src_ip_mask) != (rule->src_ip & rule->src_ip_mask) ||
	     (rig_get32(ip + 16) & rule->dst_ip_mask) != (rule->dst_ip & rule->dst_ip_mask)))
		return false;
	return rule->l4_protocol == 0 ||
	       (spec->version != 0 && spec->protocol == rule->l4_protocol && !spec->fragment &&
		(rig_get16(l4) & rule->src_port_mask) == (rule->src_port & rule->src_port_mask) &&
		(rig_get16(l4 + 2) & rule->dst_port_mask) == (rule->dst_port & rule->dst_port_mask));
}

/* Class of a rule in the order of E.2. */
static int
oracle_rank(const struct vcx3_rule *rule, const struct frame *frame)
{
	if (rule->type == VCX3_RULE_REGULAR)
		return 0;
	if (rule->type == VCX3_RULE_MC_DEFAULT)
		return frame->bytes[0] & 1 ? 1 : -1;
	return 2;
}

static bool
oracle_is_before(const struct live_rule *a, const struct live_rule *b, const struct frame *frame)
{
	int rank_a = oracle_rank(&a->rule, frame), rank_b = oracle_rank(&b->rule, frame);

	if (rank_a != rank_b)
		return rank_a < rank_b;
	return a->rule.priority != b->rule.priority ? a->rule.priority < b->rule.priority :
						      a->age < b->age;
}

/* Counts the copies that each QP gets. */
static void
oracle_steer(const struct frame *frame, const struct frame_spec *spec, unsigned int copies[QPS])
{
	bool used[RULES] = { false };
	bool goes_on = true;

	memset(copies, 0, QPS * sizeof(*copies));
	while (goes_on) {
		int best = -1;

		for (unsigned int i = 0; i < nb_rules; i++)
			if (!used[i] && oracle_rank(&rules[i].rule, frame) >= 0 &&
			    oracle_matches(&rules[i].rule, frame, spec) &&
			    (best < 0 || oracle_is_before(&rules[i], &rules[best], frame)))
				best = i;
		if (best < 0)
			return;
		used[best] = true;
		copies[rules[best].rule.qpn - BASE_QPN]++;
		goes_on = rules[best].rule.dont_trap;
	}
}

/* ---- Random rules and frames, from few values so that they meet ---- */

static bool
chance(unsigned int one_in)
{
	return rig_random(&seed) % one_in == 0;
}

static void
random_mac(uint8_t mac[6])
{
	uint8_t value[6] = { chance(3) ? 0x01 : 0x02, 0, 0, 0, 0, rig_random(&seed) % 4 };

	memcpy(mac, value, 6);
}

static void
random_rule(struct vcx3_rule *rule)
{
	static const enum vcx3_rule_type types[] = {
		VCX3_RULE_REGULAR, VCX3_RULE_REGULAR, VCX3_RULE_REGULAR, VCX3_RULE_REGULAR,
		VCX3_RULE_ALL_DEFAULT, VCX3_RULE_MC_DEFAULT,
	};

	*rule = (struct vcx3_rule){ .type = types[rig_random(&seed) % 6], .port = 1,
				    .priority = rig_random(&seed) % 4,
				    .qpn = BASE_QPN + rig_random(&seed) % QPS };
	if (rule->type != VCX3_RULE_REGULAR)
		return;
	rule->dont_trap = chance(5);
	random_mac(rule->dst_mac);
	memset(rule->dst_mac_mask, 0xff, 6);
	if (chance(4))
		memset(rule->dst_mac_mask, 0, chance(2) ? 6 : 3);
	if (chance(4)) {
		rule->vlan = rig_random(&seed) % 3;
		rule->vlan_mask = chance(2) ? 0xfff : 1;
	}
	rule->match_ipv4 = chance(3);
	if (rule->match_ipv4 && chance(2)) {
		rule->src_ip = 0x0a000001 + rig_random(&seed) % 3;
		rule->src_ip_mask = chance(2) ? 0xffffffff : 0xffffff00;
	}
	if (!chance(3))
		return;
	rule->l4_protocol = chance(2) ? 6 : 17;
	rule->dst_port = 2000 + 7 * (rig_random(&seed) % 3);
	rule->dst_port_mask = chance(3) ? 0 : 0xffff;
}

static void
random_frame(struct frame *frame, struct frame_spec *spec)
{
	static const int versions[] = { 0, 4, 4, 6 };

	*spec = (struct frame_spec){ .version = versions[rig_random(&seed) % 4],
				     .protocol = chance(4) ? 1 : chance(2) ? 6 : 17,
				     .payload = 60, .salt = rig_random(&seed) % 3,
				     .tags = chance(3), .tci = rig_random(&seed) % 3,
				     .fragment = chance(8) };
	frame_make(frame, spec);
	random_mac(frame->bytes);
}

static void
change_rules(struct rig *rig)
{
	if (nb_rules > 0 && (nb_rules == RULES || chance(3))) {
		unsigned int victim = rig_random(&seed) % nb_rules;

		CHECK_EQUAL(vcx3_rule_detach(rig->core, rules[victim].handle), VCX3_OK);
		CHECK_EQUAL(vcx3_rule_detach(rig->core, rules[victim].handle), VCX3_BAD_INDEX);
		rules[victim] = rules[--nb_rules];
		return;
	}
	random_rule(&rules[nb_rules].rule);
	rules[nb_rules].age = age++;
	CHECK_EQUAL(vcx3_rule_attach(rig->core, &rules[nb_rules].rule, &rules[nb_rules].handle),
		    VCX3_OK);
	nb_rules++;
}

static void
test_random(void)
{
	static struct rig rig;
	struct rig_cq cqs[QPS];
	struct rig_qp qps[QPS];
	unsigned int wanted[QPS], total = 0;
	struct frame_spec spec;
	struct frame frame;
	struct rig_cqe cqe;
	uint8_t *buffer;

	rig_create(&rig, NULL);
	buffer = rig_alloc(&rig, 2048);
	for (uint32_t i = 0; i < QPS; i++) {
		rig_cq(&rig, &cqs[i], i, 6, NULL);
		rig_qp(&rig, &qps[i], BASE_QPN + i, i, -1, 6, 1, NULL);
	}
	for (int round = 0; round < 20000; round++) {
		if (round % 4 == 0)
			change_rules(&rig);
		random_frame(&frame, &spec);
		oracle_steer(&frame, &spec, wanted);
		for (uint32_t i = 0; i < QPS; i++)
			while ((uint16_t)(qps[i].rq_posted - cqs[i].ci) < 16)
				rig_post_recv(&qps[i], rig.lkey, buffer, 2048);
		rig_push(&rig, 1, frame.bytes, frame.len, 0);
		rig_run(&rig);
		for (uint32_t i = 0; i < QPS; i++) {
			unsigned int got = 0;

			while (rig_poll(&cqs[i], &cqe))
				got++;
			CHECK_EQUAL(got, wanted[i]);
			total += got;
		}
	}
	CHECK(total > 10000); /* the rules did meet frames */
	CHECK_EQUAL(vcx3_counters_get(rig.core)->live_rules, nb_rules);
	rig_destroy(&rig);
}

static void
test_mirrors(void)
{
	static struct rig rig;
	struct rig_cq cqs[3];
	struct rig_qp qps[3];
	struct frame frame;
	struct rig_cqe cqe;
	struct rig_wqe wqe;
	uint8_t *buffer, *sent;
	uint32_t len;

	rig_create(&rig, NULL);
	buffer = rig_alloc(&rig, 2048);
	for (uint32_t i = 0; i < 3; i++) {
		rig_cq(&rig, &cqs[i], i, 6, NULL);
		rig_qp(&rig, &qps[i], BASE_QPN + i, i, 6, 6, 1, NULL);
		for (int j = 0; j < 8; j++)
			rig_post_recv(&qps[i], rig.lkey, buffer, 2048);
	}
	rig_rule_default(&rig, 1, VCX3_RULE_ALL_DEFAULT, BASE_QPN);
	rig_rule_default(&rig, 1, VCX3_RULE_MIRROR_RX, BASE_QPN + 1);
	rig_rule_default(&rig, 1, VCX3_RULE_MIRROR_TX, BASE_QPN + 2);
	frame_make(&frame, &(struct frame_spec){ 4, 6, 60 });
	rig_push(&rig, 1, frame.bytes, frame.len, 3);
	rig_run(&rig);
	CHECK(rig_poll(&cqs[0], &cqe) && rig_poll(&cqs[1], &cqe) && !rig_poll(&cqs[2], &cqe));
	memcpy(buffer + 1024, frame.bytes, frame.len);
	rig_wqe_start(&wqe);
	rig_wqe_data(&wqe, rig.lkey, buffer + 1024, frame.len);
	rig_post_send(&qps[0], &wqe, 0x0a, 0);
	rig_run(&rig);
	CHECK(!rig_poll(&cqs[0], &cqe) && !rig_poll(&cqs[1], &cqe) && rig_poll(&cqs[2], &cqe));
	CHECK_EQUAL(cqe.byte_count, frame.len);
	sent = rig_pop(&rig, 1, &len);
	CHECK(sent != NULL && len == frame.len && memcmp(sent, frame.bytes, len) == 0);
	free(sent);
	rig_destroy(&rig);
}

int
main(void)
{
	test_random();
	test_mirrors();
	return 0;
}
