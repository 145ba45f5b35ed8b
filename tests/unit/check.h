/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

/*
 * The smallest test frame: CHECK() tells what did not hold and goes on, and the
 * program ends with check_status(). SKIP ends a program that cannot run here.
 */

#include <stdio.h>
#include <stdlib.h>

static unsigned int check_failures;
static unsigned int check_count;

#define CHECK(condition, ...) do { \
	check_count++; \
	if (!(condition)) { \
		check_failures++; \
		fprintf(stderr, "%s:%d: %s: %s", __FILE__, __LINE__, __func__, #condition); \
		fprintf(stderr, "  " __VA_ARGS__); \
		fprintf(stderr, "\n"); \
	} \
} while (0)

#define SKIP(...) do { \
	printf("skipped: " __VA_ARGS__); \
	printf("\n"); \
	exit(77); \
} while (0)

static inline int
check_status(void)
{
	printf("%u checks, %u failed\n", check_count, check_failures);
	return check_failures != 0;
}

#endif /* TESTS_UNIT_CHECK_H */
