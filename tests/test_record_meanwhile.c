/* labels: medium
 *
 * A record that another process goes on with, and closes, after it was read here and before it is opened for writing:
 * refused, and left as the other made it. */
#include "record_sample.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { ROWS = 500, MORE = 400, EVERY = 100 };

extern char **environ;
static int opens, at_open; /* of the record, to be written; before which the other goes on, 0: never */
static const char *other;
static bool gone_on;

static void let_go_on(void) {
  pid_t child;
  int end = -1;
  char *const words[] = {(char *)"test", (char *)other, NULL};
  assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ), 0);
  assert_int_equal(waitpid(child, &end, 0), child);
  gone_on = end == 0; /* it may have been told that the record is in use */
}

/* Under our own driver. */
int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = va_arg(more, int);
  va_end(more);
  if (other && (flags & O_ACCMODE) == O_RDWR && !strcmp(path, other) && ++opens == at_open) let_go_on();
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static cb_status go_on(const char *path, uint64_t more) {
  cb_record_layout layout = sample_layout();
  sample_state state;
  cb_record_position at;
  cb_record *record = NULL;
  sample_set_state(&state, 0);
  cb_status status = cb_record_open_for_resume(path, &layout, NULL, state.blobs, SAMPLE_BLOBS, &at, &record);
  if (status) return status;
  const cb_sink sink = cb_record_sink(record);
  status = sample_write(sink, at.rows, at.rows + more, EVERY);
  if (!status) status = sink.close(sink.self, true);
  cb_record_free(record);
  return status;
}

static void what_another_has_gone_on_with_is_refused(void **unused) {
  (void)unused;
  char *path = sample_path("r.h5"), why[300];
  snprintf(why, sizeof why, "%s: cannot resume: another process went on with it meanwhile", path);
  sample_record(path, ROWS, EVERY, true, NULL);
  other = path, opens = 0;
  check_ok(go_on(path, MORE));
  const int taken = opens;
  int refused = 0;
  for (int n = 1; n <= taken; n++) {
    sample_record(path, ROWS, EVERY, true, &(cb_record_options){.overwrite = true});
    at_open = n, opens = 0, gone_on = false;
    const cb_status status = go_on(path, MORE);
    at_open = 0;
    if (status && gone_on) {
      assert_string_equal(cb_error_text(), why);
      refused++;
    } else {
      check_ok(status);
    }
    assert_int_equal(sample_check(path).rows, ROWS + (gone_on ? 3 * MORE : 0) + (status ? 0 : MORE));
  }
  print_message("opened %d times, refused after %d of them\n", taken, refused);
  assert_true(refused > 0);
  free(path);
}

int main(int argc, char **argv) {
  if (argc == 2) return go_on(argv[1], 3 * MORE) != CB_OK;
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_another_has_gone_on_with_is_refused)};
  return cmocka_run_group_tests(tests, sample_make_folder, sample_remove_folder);
}
