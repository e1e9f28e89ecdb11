/* Where in a file what lies, so that nothing is written over anything else: HDF5 1.10 believes a dataset that says that its
 * numbers are where another's are, or the header of the file, and fills a chunk that is shortened with zeros there.
 * Internal to src/io. */
#ifndef CB_IO_RECORD_TAKEN_H
#define CB_IO_RECORD_TAKEN_H

#include <curvebody/record.h>
#include <hdf5.h>

/* Parts of a file that were looked at: HDF5's own, of which some are parts of others, and numbers that do not lie in chunks. */
typedef struct cb_taken {
  struct cb_taken_part {
    uint64_t at, size;
    bool numbers;
  } *part;
  size_t count, room;
  bool lacking; /* memory for all of them */
} cb_taken;

/* NULL: nobody wants to know. */
void cb_taken_add(cb_taken *taken, uint64_t at, uint64_t size, bool numbers);
void cb_taken_free(cb_taken *taken);

/* Whether all that going on after `keep` rows and events writes over lies by itself: numbers out of chunks, and chunks that
 * are not before that. Of an open record that was looked at (record_check.c). CB_ERROR_INPUT, CB_ERROR_MEMORY, CB_ERROR_FILE. */
cb_status cb_taken_check(cb_taken *taken, hid_t file, const char *path, cb_record_position keep);

#endif
