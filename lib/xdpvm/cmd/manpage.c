/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the man page as roff; commands and options come from the table that parses them. */
#include "options.h"

int
main(void)
{
	printf(".TH XDPVM 1\n.SH NAME\nxdpvm \\- run Linux XDP objects in user space\n"
	       ".SH SYNOPSIS\n.B xdpvm run\n\\fIOBJECT\\fR \\-\\-pcap \\fIFILE\\fR [options]\n.br\n"
	       ".B xdpvm compare\n\\fIOBJECT\\fR \\-\\-pcap \\fIFILE\\fR [options]\n.br\n"
	       ".B xdpvm check\n\\fIOBJECT\\fR [options]\n.br\n"
	       ".B xdpvm dump\n\\fIOBJECT\\fR [options]\n"
	       ".SH DESCRIPTION\nThe object is an ELF file as clang \\-target bpf writes it and "
	       "as a network driver of Linux takes it. No network interface is needed. A packet "
	       "lies in a page as BPF_PROG_TEST_RUN puts it: 256 bytes of headroom, at most 3520 "
	       "bytes of packet. The packets of a run come from interface 1, queue 0.\n");
	options_roff(stdout);
	printf(".SH OUTPUT\nrun prints lines of bpf_trace_printk(), records of perf and ring "
	       "buffers, and a histogram of verdicts. Bytes are hexadecimal, in the order in which "
	       "they lie in memory.\n"
	       ".SH EXIT STATUS\n0: done. 1: compare found a difference; check found a program "
	       "that would not load. 2: the command line was refused. 3: the object or a capture "
	       "cannot be used; the reason is on standard error.\n"
	       ".SH EXAMPLES\n.nf\nxdpvm run counter.bpf.o \\-\\-pcap in.pcap \\-\\-maps\n"
	       "xdpvm compare firewall.bpf.o \\-\\-pcap in.pcap \\-\\-set "
	       "refused:20000000c0000200=0000000000000000 \\-n 20\n"
	       "xdpvm dump drop.bpf.o \\-p xdp_drop \\-\\-code drop.bin\n.fi\n");
	return 0;
}
