/* SPDX-License-Identifier: BSD-3-Clause */

/* Bytes as bpftool reads and prints them, and as the telemetry socket carries them. */

#ifndef MLX4X_CTL_HEX_H
#define MLX4X_CTL_HEX_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Bytes of words up to one that is no byte: each a number (0x.. hexadecimal, 0..
 * octal), or with "hex" as the first word two hexadecimal digits. Appends them as
 * hexadecimal to text. The number of words read, or -1 after a sentence.
 */
int hex_from_words(char **words, int nb_words, char *text, size_t size);

/* Prints "0a 00 ..", 16 bytes a line. */
void hex_print(const char *text);

#endif /* MLX4X_CTL_HEX_H */
