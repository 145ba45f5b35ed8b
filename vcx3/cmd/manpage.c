/* SPDX-License-Identifier: BSD-3-Clause */

/* Prints the man page of vcx3 as roff; the lists come from the tables that parse the words. */

#include <stdio.h>

#include "../wire/wire.h"
#include "options.h"
#include "verbs.h"

static void
print_verbs(void)
{
#define VERB_PARAGRAPH(name, words, text) \
	printf(".TP\n\\fB" #name "\\fR \\fI%s\\fR\n%s\n", words, text);
	VCX3_CONTROL_VERBS(VERB_PARAGRAPH)
#undef VERB_PARAGRAPH
}

int
main(void)
{
	char wires[8192];

	printf(".TH VCX3 1\n.SH NAME\nvcx3 \\- run a program with a virtual ConnectX\\-3\n"
	       ".SH SYNOPSIS\n.B vcx3\n[options] \\-\\- \\fICOMMAND\\fR...\n.br\n"
	       ".B vcx3 ctl\n\\fISOCKET VERB\\fR...\n"
	       ".SH DESCRIPTION\nThe program, and every program it starts, finds one Mellanox "
	       "ConnectX\\-3 through libibverbs, libmlx4 and DPDK. No kernel module and no card "
	       "is needed. The card exists in the process that opens objects on it.\n"
	       ".SH OPTIONS\n");
	vcx3_options_roff(stdout);
	vcx3_wire_help(wires, sizeof(wires));
	printf(".SH WIRES\n.nf\n%s.fi\n.SH FAULTS\n.nf\n", wires);
	vcx3_faults_help(stdout);
	printf(".fi\n.SH CONTROL\n");
	print_verbs();
	printf(".SH EXIT STATUS\nThat of COMMAND, 128 + N when signal N killed it. 2: the command "
	       "line was refused. 3: a rule of \\-\\-strict was violated.\n"
	       ".SH EXAMPLES\n.nf\nvcx3 \\-\\- ibv_devinfo \\-v\n"
	       "vcx3 \\-\\-wire 1=gen:size=60 \\-\\-wire 2=sink \\-\\- "
	       "dpdk\\-testpmd \\-l 0,1 \\-\\- \\-i\n.fi\n");
	return 0;
}
