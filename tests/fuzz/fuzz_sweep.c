/* libFuzzer entry for texts of sweeps. No text may cause a crash, undefined behaviour or a leak. An error has a text.
 * For the first and last member of an accepted sweep, the values are computed or an error is returned. Texts with large
 * numbers, which would need much time or memory, are skipped, and so are texts that name files. */
#include "sweep/plan.h"

#include <ctype.h>
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static void demand(bool truth) {
  if (!truth) abort();
}

static void remove_file(void) { unlink(path); }

static void make_file(void) {
  snprintf(path, sizeof path, "%s/curvebody-fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
  const int file = mkstemp(path);
  if (file < 0 || close(file) < 0) exit(2);
  atexit(remove_file);
}

static bool is_left_out(const uint8_t *data, size_t size) {
  for (size_t i = 0, digits = 0; i < size; i++) {
    digits = isdigit(data[i]) ? digits + 1 : 0;
    if (digits > 4 || (i && (data[i] | 32) == 'e' && isdigit(data[i - 1])) || data[i] == '*' || data[i] == '^')
      return true;
    if (size - i >= 4 && (!memcmp(data + i, "file", 4) || !memcmp(data + i, "yaml", 4))) return true;
  }
  return false;
}

static void put(const uint8_t *data, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size) exit(2);
  fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static cb_member_value value[CB_SWEEP_VALUES];
  cb_sweep_plan *plan = NULL;
  gsl_set_error_handler_off();
  if (!*path) make_file();
  if (is_left_out(data, size)) return 0;
  put(data, size);
  const cb_status status = cb_sweep_plan_open(path, NULL, 0, &plan);
  demand(!status == !!plan);
  demand(!status || status == CB_ERROR_INPUT || status == CB_ERROR_FILE || status == CB_ERROR_MEMORY);
  demand(!status || *cb_error_text());
  for (int end = 0; plan && end < 2; end++) {
    size_t n = 0;
    cb_arena *arena = cb_arena_create();
    if (arena)
      demand(cb_sweep_values(plan, end ? plan->members - 1 : 0, arena, value, &n) <= 0 && n <= CB_SWEEP_VALUES);
    cb_arena_free(arena);
  }
  cb_sweep_plan_free(plan);
  return 0;
}
