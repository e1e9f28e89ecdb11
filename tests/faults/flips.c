/* Bytes of a record that have changed: single ones, runs of them, pages of zeros, ends that are gone; of finished,
 * killed and compressed records and of what lies beside them (record_rescue.h), mostly where HDF5 keeps what is its own.
 * Each is read, exported, shown, repaired, and resumed.
 *
 * Claims: nothing crashes or hangs; what a repair or a resumed run leaves is what was written, or the file is refused;
 * a plain reader that compares no digests takes other numbers only where numbers were changed.
 *
 *   flips [tries (default 400, or 10000 with CB_TEST_ALL in the environment) [seed (default 1) [first (default 0)]]]
 *
 * Tries are made in a child; one that ends it is told with its number, and those after it go on in another. */
#include "../fuzz/hdf5_edits.h"
#include "../fuzz/record_small.h"

#include <curvebody/view.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FINISHED, KILLED, BESIDE, PACKED, PACKED_KILLED, KINDS };
enum { READ, CSV, XDMF, VIEW, REPAIR, RESUME, WAYS };
enum { LIMIT = 10 /* seconds */, MORE = 12 /* rows after a resume */, MOST_FINDINGS = 100 };

static const char *const kind_name[KINDS] = {"finished", "killed", "beside a killed one", "compressed",
                                             "compressed, killed"};
static const char *const way_name[WAYS] = {"read", "export --csv", "export --xdmf", "view", "repair", "resume"};

/* Shared with the child. */
static struct counts {
  unsigned long long at, refused[WAYS], right[WAYS], fewer, unnoticed, different, hung, crashed;
  int way;
} * counts;

static char folder[64], path[100], beside[110], out[100];
static edited_file file[KINDS], killed;
static unsigned char *damaged;
static size_t damaged_size, first_byte, last_byte;
static uint64_t state;

static size_t below(size_t n) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return n ? (size_t)(state >> 20) % n : 0;
}

/* ---- Files */

static void write_file(const char *to, const unsigned char *from, size_t size) {
  FILE *f = fopen(to, "wb");
  if (!f || fwrite(from, 1, size, f) != size) exit(2);
  fclose(f);
}

static void make_files(void) {
  size_t most = 0;
  snprintf(folder, sizeof folder, "%s/curvebody-flips-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
  if (!mkdtemp(folder)) exit(2);
  snprintf(path, sizeof path, "%s/r.h5", folder);
  snprintf(beside, sizeof beside, "%s.rescue", path);
  snprintf(out, sizeof out, "%s/out", folder);
  for (int k = 0; k < KINDS; k++) {
    if (k == BESIDE) continue;
    small_record(path, k >= PACKED ? 6 : 0, k == KILLED || k == PACKED_KILLED);
    file[k] = edited_read(path);
    if (k == KILLED) file[BESIDE] = edited_read(beside);
  }
  killed = file[KILLED];
  for (int k = 0; k < KINDS; k++)
    if (file[k].size > most) most = file[k].size;
  if (!(damaged = malloc(most + MOST_ADDED))) exit(2);
}

static void remove_files(void) {
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  if (system(command)) exit(2);
  for (int k = 0; k < KINDS; k++) edited_free(&file[k]);
  free(damaged);
}

static void put_files(int kind) {
  if (kind == BESIDE) write_file(path, killed.bytes, killed.size);
  write_file(kind == BESIDE ? beside : path, damaged, damaged_size);
  if (kind == KILLED)
    write_file(beside, file[BESIDE].bytes, file[BESIDE].size);
  else if (kind != BESIDE)
    unlink(beside);
}

/* ---- Damage */

static const char *damage(const edited_file *f) {
  static char what[100];
  const bool own = f->owns && below(10) < 7;
  const size_t at = own ? f->own[below(f->owns)] : below(f->size);
  size_t n = 1;
  memcpy(damaged, f->bytes, damaged_size = f->size);
  switch (below(10)) {
    case 0: /* its end is gone */
      damaged_size = first_byte = at, last_byte = f->size - 1;
      return snprintf(what, sizeof what, "cut at %zu", at), what;
    case 1: /* pages that were not written */
      first_byte = at & ~(size_t)4095, n = 4096 * (1 + below(2));
      if (n > f->size - first_byte) n = f->size - first_byte;
      memset(damaged + first_byte, 0, n);
      last_byte = first_byte + n - 1;
      return snprintf(what, sizeof what, "zeros from %zu to %zu", first_byte, last_byte), what;
    case 2:
    case 3: n = 2 + below(31); /* fall through */
    default:
      for (size_t i = 0; i < n && at + i < f->size; i++) damaged[at + i] ^= (unsigned char)(1 + below(255));
      first_byte = at, last_byte = at + n - 1 < f->size ? at + n - 1 : f->size - 1;
      return snprintf(what, sizeof what, "other bytes from %zu to %zu", first_byte, last_byte), what;
  }
}

/* Whether numbers of datasets were changed, and the file is as long as it was. */
static bool has_numbers(const edited_file *f) {
  size_t own = 0;
  for (size_t i = 0; i < f->owns; i++) own += f->own[i] >= first_byte && f->own[i] <= last_byte;
  return damaged_size == f->size && own < last_byte - first_byte + 1;
}

/* ---- What is read */

static char wrong[200];

static bool same_rows(cb_reader *reader, cb_record_position have) {
  static double value[(SMALL_ROWS + MORE) * SMALL_MOST];
  const cb_reader_field *field;
  const size_t n = cb_reader_fields(reader, &field);
  if (n != SMALL_FIELDS || have.rows > SMALL_ROWS + MORE)
    return snprintf(wrong, sizeof wrong, "%zu fields, %llu rows", n, (unsigned long long)have.rows), false;
  for (size_t f = 0; f < n; f++) {
    if (strcmp(field[f].name, small_fields[f].name) || field[f].count != small_counts[f])
      return snprintf(wrong, sizeof wrong, "field %zu", f), false;
    if (cb_reader_rows(reader, f, 0, have.rows, value)) return true; /* it was said */
    for (size_t i = 0; i < have.rows * field[f].count; i++)
      if (value[i] != small_value(f, i / field[f].count, i % field[f].count))
        return snprintf(wrong, sizeof wrong, "%s[%zu]: %.17g", field[f].name, i, value[i]), false;
  }
  return true;
}

static bool same_events(cb_reader *reader, cb_record_position have) {
  cb_event_row event[SMALL_ROWS + MORE];
  if (have.events > SMALL_ROWS + MORE)
    return snprintf(wrong, sizeof wrong, "%llu events", (unsigned long long)have.events), false;
  if (cb_reader_events(reader, 0, have.events, event)) return true;
  for (uint64_t e = 0; e < have.events; e++) {
    const cb_event_row right = small_event(e), *found = &event[e];
    if (found->time != right.time || found->kind != right.kind || found->i != right.i || found->j != right.j ||
        found->gap != right.gap || found->speed_before != right.speed_before ||
        found->speed_after != right.speed_after || found->impulse != right.impulse)
      return snprintf(wrong, sizeof wrong, "event %llu", (unsigned long long)e), false;
  }
  return true;
}

static bool same_scenario(cb_reader *reader) {
  const cb_record_layout layout = small_layout();
  const char *text;
  if (cb_reader_scenario(reader, "resolved", &text) || !strcmp(text, layout.scenario_resolved)) return true;
  return snprintf(wrong, sizeof wrong, "scenario '%.40s'", text), false;
}

/* False: it says something else than what was written, and no word of it. */
static bool read_back(bool *refused, cb_record_position *have) {
  cb_reader *reader = NULL;
  *have = (cb_record_position){0};
  *refused = cb_reader_open(path, &reader);
  if (*refused) return true;
  *have = cb_reader_position(reader);
  const bool same = same_rows(reader, *have) && same_events(reader, *have) && same_scenario(reader);
  cb_reader_close(reader);
  return same;
}

static bool resume(bool *refused) {
  const cb_record_layout layout = small_layout();
  const cb_record_options options = {.buffer_bytes = 4096};
  small_blobs blobs, right;
  cb_record_position at, have;
  cb_record *record = NULL;
  small_fill(&blobs, 1000);
  *refused = cb_record_open_for_resume(path, &layout, &options, blobs.blob, 2, &at, &record);
  if (*refused) return true;
  small_fill(&right, at.rows);
  bool same =
      !memcmp(blobs.state, right.state, sizeof right.state) && !memcmp(blobs.turn, right.turn, sizeof right.turn);
  if (!same) snprintf(wrong, sizeof wrong, "checkpoint at row %llu", (unsigned long long)at.rows);
  const cb_sink sink = cb_record_sink(record);
  cb_status status = small_write(sink, at.rows, at.rows + MORE);
  if (!status) status = sink.close(sink.self, true);
  cb_record_free(record);
  *refused = status;
  if (!same || status) return same;
  same = read_back(refused, &have);
  if (same && !*refused && have.rows != at.rows + MORE)
    same = false, snprintf(wrong, sizeof wrong, "%llu rows of %llu", (unsigned long long)have.rows,
                           (unsigned long long)at.rows + MORE);
  return same;
}

/* False: other numbers, silently. */
static bool go(int way, bool *refused) {
  cb_record_position have;
  cb_repair_report report;
  switch (way) {
    case READ: return read_back(refused, &have);
    case CSV: return *refused = cb_record_export_csv(path, out, NULL), true;
    case XDMF: return *refused = cb_record_export_xdmf(path, out, NULL), true;
    case VIEW: return *refused = cb_view_write(path, out, NULL), true;
    case RESUME: return resume(refused);
    default:
      *refused = cb_record_repair(path, &report);
      if (*refused) return true;
      if (!read_back(refused, &have)) return false;
      counts->fewer += !*refused && have.rows < SMALL_ROWS;
      return !*refused ||
             (snprintf(wrong, sizeof wrong, "repaired, but not to be read: %.150s", cb_error_text()), false);
  }
}

/* ---- */

static void try_one(unsigned long long seed) {
  state = seed * 1000003 + counts->at;
  for (int i = 0; i < 4; i++) below(1);
  const int kind = (int)below(KINDS);
  const char *what = damage(&file[kind]);
  for (counts->way = 0; counts->way < WAYS; counts->way++) {
    bool refused = false;
    put_files(kind);
    alarm(LIMIT);
    const bool same = go(counts->way, &refused);
    alarm(0);
    if (same)
      ++*(refused ? &counts->refused[counts->way] : &counts->right[counts->way]);
    else if (counts->way == READ && has_numbers(&file[kind]))
      counts->unnoticed++;
    else {
      counts->different++;
      printf("try %llu: %s, %s: %s: other than was written: %s\n", counts->at, kind_name[kind], what,
             way_name[counts->way], wrong);
    }
  }
}

static void tell(int how) {
  const bool hangs = WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM;
  ++*(hangs ? &counts->hung : &counts->crashed);
  printf("try %llu: %s: ", counts->at, way_name[counts->way]);
  if (hangs)
    printf("hangs\n");
  else if (WIFSIGNALED(how))
    printf("signal %d\n", WTERMSIG(how));
  else
    printf("exit status %d\n", WEXITSTATUS(how));
}

int main(int argc, char **argv) {
  const unsigned long long tries = argc > 1                ? strtoull(argv[1], NULL, 0)
                                   : getenv("CB_TEST_ALL") ? 10000
                                                           : 400,
                           seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
  counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (counts == MAP_FAILED) return 2;
  make_files();
  counts->at = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;
  for (bool on = true; on; counts->at++) {
    int how = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) {
      for (; counts->at < tries; counts->at++) try_one(seed);
      fflush(stdout);
      _exit(0);
    }
    while (waitpid(child, &how, 0) < 0) continue;
    if (how) tell(how);
    on = how && counts->at + 1 < tries && counts->crashed + counts->hung < MOST_FINDINGS;
  }
  remove_files();
  for (int w = 0; w < WAYS; w++)
    printf("%-14s %llu right, %llu refused\n", way_name[w], counts->right[w], counts->refused[w]);
  printf(
      "%llu tries, seed %llu: %llu crash, %llu hang, %llu differ silently; %llu repaired with fewer rows; "
      "%llu changed numbers that a plain reader takes\n",
      tries, seed, counts->crashed, counts->hung, counts->different, counts->fewer, counts->unnoticed);
  return counts->crashed || counts->hung || counts->different;
}
