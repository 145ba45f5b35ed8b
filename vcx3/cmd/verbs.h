/* SPDX-License-Identifier: BSD-3-Clause */

/* The verbs of `vcx3 ctl`: one table for the client, the server's help and the man page. */

#ifndef VCX3_CMD_VERBS_H
#define VCX3_CMD_VERBS_H

#define VCX3_CONTROL_VERBS(X) \
	X(link, "PORT up|down", "change the carrier of a port") \
	X(unplug, "", "remove the card: a fatal event, then every command fails with EIO") \
	X(replug, "", "a new card is there for those who open it now") \
	X(inject, "FAULT", "add a fault, in the words of --fault") \
	X(fail, "COMMAND N [ERRNO]", "fail the Nth command of this name from now on") \
	X(stall, "sq|rq|cq NUMBER", "hold this queue until resume") \
	X(resume, "", "clear all faults and stalls") \
	X(go, "", "start the sources that were opened with hold=1") \
	X(step, "[N]", "run N turns of the engine (1 unless told), in step mode") \
	X(counters, "", "print all counters as JSON") \
	X(census, "", "print the live objects as JSON") \
	X(violations, "", "print the number of violations and the rules broken") \
	X(help, "", "print this list")

#endif /* VCX3_CMD_VERBS_H */
