/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef TESTS_SYSTEM_MALLOC_COUNT_H
#define TESTS_SYSTEM_MALLOC_COUNT_H

#include <stdint.h>

/* Calls of malloc(), calloc() and realloc() by this thread so far. */
uint64_t malloc_count(void);

#endif /* TESTS_SYSTEM_MALLOC_COUNT_H */
