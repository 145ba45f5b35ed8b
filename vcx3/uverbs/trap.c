/* SPDX-License-Identifier: BSD-3-Clause */

/* See trap.h. */

#include "trap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "doorbell.h"
#include "real.h"
#include "store.h"

#define MAX_TRAPS 64

struct trap {
	uint8_t *program; /* NULL = free */
	uint8_t *device;
	const struct uv_context *context; /* NULL = another process has it, and device is ours */
};

static struct trap traps[MAX_TRAPS];
static struct uv_card *trap_card;
static struct sigaction before; /* the program's own */
static bool installed;

static struct trap *
find(const uint8_t *address)
{
	unsigned int i;

	for (i = 0; i < MAX_TRAPS; i++)
		if (traps[i].program != NULL && address >= traps[i].program &&
		    address < traps[i].program + UV_PAGE)
			return &traps[i];
	return NULL;
}

/* General registers by their number in the encoding. */
static uint64_t
general_register(const ucontext_t *machine, uint8_t number)
{
	static const int names[16] = {
		REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
		REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	};

	return machine->uc_mcontext.gregs[names[number]];
}

/* Upper halves of YMM are in the extended state, which sits at a place the processor chooses. */
static bool
fetch(const ucontext_t *machine, const struct uv_store *store, uint8_t *bytes)
{
	uint64_t value;

	if (store->source == UV_STORE_VECTOR) {
		if (store->size > 16 || machine->uc_mcontext.fpregs == NULL)
			return false;
		memcpy(bytes, &machine->uc_mcontext.fpregs->_xmm[store->reg], 16);
		return true;
	}
	value = store->source == UV_STORE_CONSTANT ? store->constant :
						     general_register(machine, store->reg);
	memcpy(bytes, &value, sizeof(value));
	return true;
}

/* The store itself: one access of its own width where there is one. */
static void
store_to(uint8_t *to, const uint8_t *bytes, uint8_t size)
{
	uint32_t word;
	uint64_t wide;

	if (size == 4) {
		memcpy(&word, bytes, sizeof(word));
		*(volatile uint32_t *)to = word;
	} else if (size == 8) {
		memcpy(&wide, bytes, sizeof(wide));
		*(volatile uint64_t *)to = wide;
	} else {
		memcpy(to, bytes, size);
	}
}

static void
ring(const struct trap *trap, const struct uv_doorbell *doorbell)
{
	if (trap->context == NULL) {
		uv_doorbell_send(trap_card, doorbell);
		return;
	}
	uv_lock(trap_card);
	uv_doorbell_ring(trap_card, doorbell);
	uv_unlock(trap_card);
}

static void
report_undecoded(const ucontext_t *machine, uint32_t offset)
{
	const uint8_t *code = (const uint8_t *)machine->uc_mcontext.gregs[REG_RIP];
	char text[200];
	int length;

	length = snprintf(text, sizeof(text), "vcx3: access to the doorbell page at offset 0x%x by "
			  "an instruction that is no known store: %02x %02x %02x %02x %02x %02x "
			  "%02x %02x\n", offset, code[0], code[1], code[2], code[3], code[4],
			  code[5], code[6], code[7]);
	if (uv_real()->write(STDERR_FILENO, text, length) < 0)
		return;
}

/* A fault that is not ours goes where the program wanted it. */
static void
pass_on(int number, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO && before.sa_sigaction != NULL) {
		before.sa_sigaction(number, info, context);
	} else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(number);
	} else {
		/* Runs into the fault again, without a handler. */
		uv_real()->sigaction(SIGSEGV, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	}
}

static void
on_fault(int number, siginfo_t *info, void *context)
{
	const uint8_t *address = info->si_addr;
	struct trap *trap = find(address);
	ucontext_t *machine = context;
	struct uv_store store;
	struct uv_doorbell doorbell = {0};
	int saved = errno;

	if (trap == NULL) {
		pass_on(number, info, context);
		return;
	}
	doorbell.offset = address - trap->program;
	if (!uv_store_decode((const uint8_t *)machine->uc_mcontext.gregs[REG_RIP], &store) ||
	    doorbell.offset + store.size > UV_PAGE || !fetch(machine, &store, doorbell.bytes)) {
		report_undecoded(machine, doorbell.offset);
		pass_on(number, info, context);
		return;
	}
	doorbell.size = store.size;
	store_to(trap->device + doorbell.offset, doorbell.bytes, store.size);
	ring(trap, &doorbell);
	machine->uc_mcontext.gregs[REG_RIP] += store.length;
	errno = saved;
}

static void
install(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigemptyset(&action.sa_mask);
	uv_real()->sigaction(SIGSEGV, &action, &before);
	installed = true;
}

static int
add(struct uv_card *card, const struct trap *trap)
{
	unsigned int i;

	for (i = 0; i < MAX_TRAPS && traps[i].program != NULL; i++)
		;
	if (i == MAX_TRAPS)
		return -ENOSPC;
	trap_card = card;
	if (!installed)
		install();
	traps[i].device = trap->device;
	traps[i].context = trap->context;
	__atomic_store_n(&traps[i].program, trap->program, __ATOMIC_RELEASE);
	return 0;
}

int
uv_trap_add(struct uv_card *card, struct uv_context *context, void *program, void *device)
{
	return add(card, &(struct trap){program, device, context});
}

int
uv_trap_add_other(struct uv_card *card, void *program, void *device)
{
	int ret = uv_doorbell_prepare(card);

	return ret == 0 ? add(card, &(struct trap){program, device, NULL}) : ret;
}

void
uv_trap_remove(void *program)
{
	struct trap *trap = installed ? find(program) : NULL;

	if (trap == NULL)
		return;
	__atomic_store_n(&trap->program, NULL, __ATOMIC_RELEASE);
	if (trap->context == NULL)
		uv_real()->munmap(trap->device, UV_PAGE);
}

void
uv_trap_forget(const struct uv_context *context)
{
	unsigned int i;

	for (i = 0; i < MAX_TRAPS; i++)
		if (traps[i].context == context)
			traps[i].program = NULL;
}

bool
uv_trap_sigaction(int number, const struct sigaction *to, struct sigaction *from)
{
	if (number != SIGSEGV || !installed)
		return false;
	if (from != NULL)
		*from = before;
	if (to != NULL)
		before = *to;
	return true;
}
