/* libFuzzer entry of records: small ones, finished, killed and compressed, with what lies beside them, changed as the
 * input says, then read, exported, repaired or resumed. Whatever they have become: no crash, no undefined behaviour, no
 * leak, no wait; an error has a text; what was repaired can be read. */
#include "hdf5_target.h"
#include "record_small.h"

#include <curvebody/view.h>

enum { BESIDE = 3, FILES = 4, WAYS = 6 };

static char beside[110], out[100];

static void make_files(void) {
  target_begin();
  snprintf(beside, sizeof beside, "%s.rescue", target_path);
  snprintf(out, sizeof out, "%s/out", target_folder);
  small_record(target_path, 0, false);
  target_add(target_path);
  small_record(target_path, 0, true);
  target_add(target_path);
  small_record(target_path, 9, true);
  target_add(target_path);
  small_record(target_path, 0, true);
  target_add(beside); /* of the second */
}

static cb_status read_all(void) {
  static double value[SMALL_ROWS * SMALL_MOST * 16];
  cb_event_row event[SMALL_ROWS];
  cb_reader *reader = NULL;
  const cb_reader_field *field;
  const char *text;
  const char *const *labels;
  small_blobs blobs;
  cb_status status = cb_reader_open(target_path, &reader);
  if (status) return demand(!reader), status;
  const size_t n = cb_reader_fields(reader, &field);
  const cb_record_position have = cb_reader_position(reader);
  for (size_t f = 0; f < n; f++) {
    uint64_t rows = have.rows;
    if (rows > SMALL_ROWS) rows = SMALL_ROWS;
    if (field[f].count <= SMALL_MOST * 16) check_status(cb_reader_rows(reader, f, 0, rows, value));
    for (int d = 0; d < field[f].rank; d++) check_status(cb_reader_labels(reader, field[f].dims[d], &labels));
  }
  check_status(cb_reader_events(reader, 0, have.events < SMALL_ROWS ? have.events : SMALL_ROWS, event));
  check_status(cb_reader_scenario(reader, "resolved", &text));
  check_status(cb_reader_attribute(reader, "title", &text));
  small_fill(&blobs, 0);
  check_status(cb_reader_checkpoint(reader, blobs.blob, 2, NULL));
  cb_reader_close(reader);
  return CB_OK;
}

static cb_status resume(void) {
  const cb_record_layout layout = small_layout();
  const cb_record_options options = {.buffer_bytes = 4096};
  small_blobs blobs;
  cb_record_position at;
  cb_record *record = NULL;
  small_fill(&blobs, 0);
  cb_status status = cb_record_open_for_resume(target_path, &layout, &options, blobs.blob, 2, &at, &record);
  if (status) return demand(!record), status;
  const cb_sink sink = cb_record_sink(record);
  status = small_write(sink, at.rows, at.rows + 6);
  if (!status) status = sink.close(sink.self, true);
  cb_record_free(record);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!target_files) make_files();
  const unsigned flags = size ? data[0] >> 1 : 0;
  const int which = (int)(flags % FILES);
  if (which == BESIDE)
    target_put(target_path, target_file[1].bytes, target_file[1].size);
  else
    unlink(beside);
  if (which == 1 && flags / FILES / WAYS % 2) target_put(beside, target_file[BESIDE].bytes, target_file[BESIDE].size);
  target_change(which, data, size, which == BESIDE ? beside : target_path);
  cb_status status;
  switch (flags / FILES % WAYS) {
    case 0: status = read_all(); break;
    case 1:
      check_status(status = resume());
      status = read_all();
      break;
    case 2: status = cb_record_export_csv(target_path, out, NULL); break;
    case 3: status = cb_record_export_xdmf(target_path, out, NULL); break;
    case 4: status = cb_view_write(target_path, out, NULL); break;
    default:
      status = cb_record_repair(target_path, NULL);
      if (!status) demand(read_all() == CB_OK);
  }
  check_unchanged(status, size);
  return 0;
}
