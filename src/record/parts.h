/* Names of files that are half made. A program that a library ends in the middle takes them away. Internal.
 *
 * For want of memory libgomp and HDF5 call exit, and HDF5 may crash: nobody returns to those who made the file.
 */
#pragma once

/* From here on `part`, which stays the caller's, is half made; until it has its name or is gone. */
void cb_part_begin(const char *part);
void cb_part_end(const char *part);

/* Takes all of them away. May be called from a signal handler. */
void cb_parts_remove(void);
