/* SPDX-License-Identifier: BSD-3-Clause */

/* A program that uses vcx3.h runs without vcx3, too: nothing moves, nothing is counted. */

#include "check.h"
#include "vcx3.h"

int
main(void)
{
	char text[16] = "unchanged";

	CHECK(!vcx3_present(), "no card below a unit test");
	CHECK(vcx3_step(10) == 0, "nothing moves");
	CHECK(vcx3_counters_text(text, sizeof(text)) == 0 && text[0] == 'u', "no counters: %s", text);
	CHECK(vcx3_posted(NULL, 0) == 0, "nothing is posted");
	return check_status();
}
