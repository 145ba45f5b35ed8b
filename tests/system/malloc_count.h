/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef TESTS_SYSTEM_MALLOC_COUNT_H
#define TESTS_SYSTEM_MALLOC_COUNT_H

#include <stdint.h>

/* Calls of malloc(), calloc() and realloc() so far, in the whole process. */
uint64_t malloc_count(void);

#endif /* TESTS_SYSTEM_MALLOC_COUNT_H */
