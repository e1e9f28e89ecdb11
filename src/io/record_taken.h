/* Where in a file what lies, so that nothing is written over anything else: HDF5 1.10 believes a dataset that says that its
 * numbers are where another's are, or the header of the file, and fills a chunk that is shortened with zeros there.
 * Internal to src/io. */
#ifndef CB_IO_RECORD_TAKEN_H
#define CB_IO_RECORD_TAKEN_H

#include "io/record_rescue.h"
#include <hdf5.h>

/* Parts of a file that were looked at: of HDF5's own, and numbers that do not lie in chunks. */
typedef struct cb_taken {
  cb_stretch *own, *numbers;
  size_t n_own, n_numbers, room_own, room_numbers;
  bool lacking; /* memory for all of them */
} cb_taken;

/* NULL: nobody wants to know. */
void cb_taken_add(cb_taken *taken, uint64_t at, uint64_t size);
void cb_taken_add_numbers(cb_taken *taken, uint64_t at, uint64_t size);
void cb_taken_free(cb_taken *taken);

/* Whether all that going on after `keep` rows and events writes over lies by itself: numbers out of chunks, and chunks that
 * are not before that. Of an open record that was looked at (record_check.c). CB_ERROR_INPUT, CB_ERROR_MEMORY. */
cb_status cb_taken_check(cb_taken *taken, hid_t file, const char *path, cb_record_position keep);

#endif
