/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fields of a completion that need more than a change of byte order: the time stamp, whose
 * halves are not taken at once (Linux: mlx4_en_get_hwtstamp()), and the owner bit, whose
 * meaning turns around with each lap.
 */

#include "check.h"
#include "cqe.h"

static uint64_t
stamp(uint32_t high, uint8_t middle, uint8_t low)
{
	const struct mlx4x_cqe cqe = {
		.ts_47_16 = rte_cpu_to_be_32(high), .ts_15_8 = middle, .ts_7_0 = low,
	};

	return mlx4x_cqe_timestamp(&cqe);
}

static void
test_timestamp(void)
{
	CHECK(stamp(0x12345678, 0xab, 0xcd) == UINT64_C(0x12345678abcd));
	CHECK(stamp(5, 0, 1) == 0x50001);
	CHECK(stamp(5, 1, 0) == 0x50100);
	CHECK(stamp(5, 0xff, 0xff) == 0x5ffff);
	CHECK(stamp(5, 0, 0) == 0x60000);	/* the carry is yet to come */
	CHECK(stamp(UINT32_MAX, 0, 0) == 0);
}

static void
test_owner(void)
{
	struct mlx4x_cqe cqe = { .owner_sr_opcode = 0 };
	uint32_t ci;

	for (ci = 0; ci < 4 * 64; ci++) {
		bool second = ci / 64 % 2 != 0;

		cqe.owner_sr_opcode = second ? MLX4X_CQE_OWNER_MASK : 0;
		CHECK(mlx4x_cqe_is_ready(&cqe, ci, 64));
		cqe.owner_sr_opcode ^= MLX4X_CQE_OWNER_MASK;
		CHECK(!mlx4x_cqe_is_ready(&cqe, ci, 64));
	}
}

int
main(void)
{
	test_timestamp();
	test_owner();
	return check_status();
}
