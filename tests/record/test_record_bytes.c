/* timeout: 600 Records with one wrong byte: whatever it is, reading, repairing and resuming come back with a status.
 * labels: long
 *
 * Each try is a process of its own, which is killed if it has not come back after MOST_SECONDS. CB_BYTES: how many
 * bytes are taken at random. */
#include "record_sample.h"

#include <hdf5.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { MOST_SECONDS = 60, ROWS = 40, TEXT = 6000 };
enum { READ = 1, REPAIR = 2, RESUME = 4 };
typedef enum stage { OPEN, TEXTS, LABELS, EVENTS, CHECKPOINT, CSV, XDMF, MEND, RESUMING, WRITING, CLOSING } stage;
static const char *const stages[] = {"open",           "texts",  "labels", "events",     "checkpoint", "export as CSV",
                                     "export as XDMF", "repair", "resume", "write rows", "close"};

static char *closed, *killed, *damaged, *csv, *xdmf;
static volatile stage *reached; /* by the child */
static uint64_t seed;
static const cb_record_options options = {.overwrite = true, .flush_interval = 1e6};

/* ---- Two records: of a run that ended and of one that was killed */

static void write_both(void) {
  static char text[TEXT]; /* HDF5 reads up to 4096 bytes into a buffer of that size */
  cb_record_layout layout = sample_layout();
  cb_record *record = NULL;
  sample_state state;
  memset(text, '#', sizeof text - 1);
  layout.scenario_source = text;
  check_ok(cb_record_create(closed, &layout, &options, &record));
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, 0, ROWS, 10));
  sample_set_state(&state, ROWS);
  for (int twice = 0; twice < 2; twice++) /* the second waits for the first */
    check_ok(sink.checkpoint(sink.self, state.blobs, SAMPLE_BLOBS));
  sample_copy(closed, killed);
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
}

static int make(void **state) {
  int failed = sample_make_folder(state);
  closed = sample_path("closed.h5"), killed = sample_path("killed.h5"), damaged = sample_path("damaged.h5");
  csv = sample_path("out.csv"), xdmf = sample_path("out.xdmf");
  reached = mmap(NULL, sizeof *reached, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  seed = check_seed();
  write_both();
  return failed || reached == MAP_FAILED;
}
static int remove_all(void **state) {
  free(closed), free(killed), free(damaged), free(csv), free(xdmf);
  return sample_remove_folder(state);
}

/* ---- One try, in a child: 0 if it came back as it should */

static int wrong; /* statuses that no file may cause */

static bool passed(stage next, cb_status status) {
  if (status != CB_OK && status != CB_ERROR_FILE && status != CB_ERROR_INPUT) {
    fprintf(stderr, "%s: %s: %s\n", stages[*reached], cb_status_name(status), cb_error_text());
    wrong++;
  }
  *reached = next;
  return status == CB_OK;
}

static void read_all(void) {
  cb_reader *reader = NULL;
  const cb_reader_field *fields;
  const char *text;
  const char *const *labels;
  cb_event_row events[ROWS];
  sample_state state;
  sample_set_state(&state, 0);
  *reached = OPEN;
  if (passed(TEXTS, cb_reader_open(damaged, &reader))) {
    cb_reader_scenario(reader, "source", &text), cb_reader_scenario(reader, "resolved", &text);
    passed(LABELS, cb_reader_attribute(reader, "isa", &text));
    for (size_t f = 0, n = cb_reader_fields(reader, &fields); f < n; f++)
      for (int d = 0; d < fields[f].rank; d++) cb_reader_labels(reader, fields[f].dims[d], &labels);
    const uint64_t n = cb_reader_position(reader).events;
    *reached = EVENTS;
    passed(CHECKPOINT, cb_reader_events(reader, 0, n < ROWS ? n : ROWS, events));
    passed(CSV, cb_reader_checkpoint(reader, state.blobs, SAMPLE_BLOBS, NULL));
    cb_reader_close(reader);
  }
  *reached = CSV;
  passed(XDMF, cb_record_export_csv(damaged, csv, NULL));
  cb_status status = cb_record_export_xdmf(damaged, xdmf, NULL);
  if (status != CB_ERROR_ARGUMENT) passed(MEND, status); /* nothing to draw */
}

static void resume(void) {
  cb_record_layout layout = sample_layout();
  cb_record_position at;
  cb_record *record;
  sample_state state;
  sample_set_state(&state, 0);
  *reached = RESUMING;
  if (!passed(WRITING, cb_record_open_for_resume(damaged, &layout, &options, state.blobs, SAMPLE_BLOBS, &at, &record)))
    return;
  cb_sink sink = cb_record_sink(record);
  passed(CLOSING, sample_write(sink, at.rows, at.rows + 300, 100));
  passed(CLOSING, sink.close(sink.self, true));
  cb_record_free(record);
}

static void attempt(int what) {
  alarm(MOST_SECONDS);
  if (what & READ) read_all();
  if (what & RESUME) resume();
  *reached = MEND;
  if (what & REPAIR) passed(MEND, cb_record_repair(damaged, NULL));
  _exit(wrong);
}

/* ---- Tries */

typedef struct content {
  const char *path;
  char *bytes;
  size_t size;
} content;

static content content_of(const char *path) {
  content c = {.path = path};
  c.bytes = sample_read(path, &c.size);
  return c;
}

static void survives(content *c, size_t at, int what) {
  const int values[] = {0, 255, c->bytes[at] ^ 1, c->bytes[at] ^ 0x80};
  const char right = c->bytes[at], put = (char)values[(int)check_uniform(&seed, 0, 4)];
  if (put == right) return;
  c->bytes[at] = put;
  FILE *file = fopen(damaged, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(c->bytes, 1, c->size, file), c->size);
  fclose(file);
  c->bytes[at] = right;
  fflush(NULL);
  const pid_t child = fork();
  int status = -1;
  if (child == 0) attempt(what);
  assert_int_equal(waitpid(child, &status, 0), child);
  const bool killed_it = WIFSIGNALED(status);
  if (status)
    fail_msg("%s: byte %zu set to %02x from %02x: %s: %s %d", c->path, at, (unsigned char)put, (unsigned char)right,
             stages[*reached], killed_it && WTERMSIG(status) == SIGALRM ? "did not come back:" : "ended with",
             killed_it ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* ---- Claims */

/* Under the sanitizers a process takes long to begin: a choice of the bytes. */
#ifdef CURVEBODY_SANITIZED
enum { EVERY = 5 };
#else
enum { EVERY = 1 };
#endif

static size_t first_byte(void) { return (size_t)check_uniform(&seed, 0, EVERY); }

/* Where the headers of an object, all of its blocks, lie: from its address on, in a file that grew in this order. */
static void survives_in_header(content *c, const char *name) {
  H5O_info_t info;
  hid_t file = H5Fopen(closed, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(H5Oget_info_by_name2(file, name, &info, H5O_INFO_BASIC | H5O_INFO_HDR, H5P_DEFAULT) >= 0);
  H5Fclose(file);
  for (size_t at = info.addr + first_byte(); at < info.addr + info.hdr.space.total; at += EVERY)
    survives(c, at, RESUME);
}

static void any_byte_of_the_headers_of_checkpoints(void **unused) {
  (void)unused;
  static const char *const names[] = {"checkpoint", "checkpoint/slot0", "checkpoint/slot1", "checkpoint/slot0/seal",
                                      "checkpoint/slot1/seal", "checkpoint/slot0/state", "checkpoint/slot1/state",
                                      "checkpoint/slot0/history", "checkpoint/slot1/history"};
  content c = content_of(closed);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) survives_in_header(&c, names[i]);
  free(c.bytes);
}

/* The heads of the heaps and of the first texts in them, which have no checksum; and where the long text is said to be,
 * the only value in its dataset. */
static void any_byte_of_the_heads_of_texts(void **unused) {
  (void)unused;
  content c = content_of(closed);
  size_t heaps = 0;
  for (char *heap = c.bytes; (heap = memmem(heap, c.size - (size_t)(heap - c.bytes), "GCOL\1", 5)); heap++, heaps++)
    for (size_t i = first_byte(); i < 160; i += EVERY) survives(&c, (size_t)(heap - c.bytes) + i, READ);
  assert_true(heaps >= 2);
  hid_t file = H5Fopen(closed, H5F_ACC_RDONLY, H5P_DEFAULT), dataset = H5Dopen2(file, "scenario/source", H5P_DEFAULT);
  const haddr_t at = H5Dget_offset(dataset);
  H5Dclose(dataset);
  H5Fclose(file);
  for (size_t i = 0; i < 16; i++)
    for (int turn = 0; turn < 4; turn++) survives(&c, at + i, READ);
  free(c.bytes);
}

static void bytes_at_random(const char *path) {
  const char *text = getenv("CB_BYTES");
  const int tries = text ? atoi(text) : 300;
  content c = content_of(path);
  for (int i = 0; i < tries; i++) { /* half of them where most is not numbers */
    const double end = i % 2 ? (double)c.size : 48e3;
    survives(&c, (size_t)check_uniform(&seed, 0, end), READ | REPAIR | RESUME);
  }
  free(c.bytes);
}

static void bytes_of_a_closed_record(void **unused) { (void)unused, bytes_at_random(closed); }
static void bytes_of_a_killed_record(void **unused) { (void)unused, bytes_at_random(killed); }

int main(void) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* of the calls made here */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_byte_of_the_headers_of_checkpoints),
      cmocka_unit_test(any_byte_of_the_heads_of_texts),
      cmocka_unit_test(bytes_of_a_closed_record),
      cmocka_unit_test(bytes_of_a_killed_record),
  };
  return cmocka_run_group_tests(tests, make, remove_all);
}
