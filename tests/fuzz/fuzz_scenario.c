/* libFuzzer entry for scenarios. No text may cause a crash, undefined behaviour or a leak. An error names its line and
 * column. The resolved form of an accepted scenario reads back as the same scenario. A scenario with at most 16
 * particles also makes one step, which may fail only with an error text.
 *
 * clang -fsanitize=fuzzer,address,undefined; AFL++ takes the same entry through afl-clang-fast -fsanitize=fuzzer. */
#include <curvebody/scenario.h>
#include <gsl/gsl_errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void demand(bool truth) {
  if (!truth) abort();
}

static void check_error(cb_status status) {
  const char *text = cb_error_text();
  demand(status < 0 && *text);
  if (status == CB_ERROR_MEMORY) return;
  demand(status == CB_ERROR_INPUT || status == CB_ERROR_FILE);
  /* The place is searched in the text, because an error of a mesh begins with the name of the mesh. */
  const char *place = strstr(text, ": error: ");
  demand(place && place > text && place[-1] >= '0' && place[-1] <= '9');
}

/* Returns whether a text contains a word for sizes that would need much time or memory (lattices, copies, fine
 * surfaces), or for names of files. */
static bool is_large(const char *text) {
  static const char *const words[] = {"size", "file", "count", "resolution", "mesh", "sequence", "grid"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr(text, words[i])) return true;
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gsl_set_error_handler_off();
  char *text = malloc(size + 1);
  if (!text) return 0;
  if (size) memcpy(text, data, size);
  text[size] = 0;
  cb_scenario *s = NULL, *again = NULL;
  if (is_large(text)) {
    free(text);
    return 0;
  }
  cb_status status = cb_scenario_open_text("fuzz", text, NULL, 0, &s);
  free(text);
  if (status) {
    demand(!s);
    check_error(status);
    return 0;
  }
  const char *resolved = cb_scenario_resolved(s);
  demand(cb_scenario_open_text("again", resolved, NULL, 0, &again) == CB_OK);
  demand(strcmp(cb_scenario_resolved(again), resolved) == 0);
  demand(cb_scenario_layout(s)->n_fields == cb_scenario_layout(again)->n_fields);
  cb_scenario_free(again);

  const cb_system *system = cb_scenario_system(s);
  cb_state *state;
  if (system && cb_system_particles(system) <= 16 && cb_state_create(system, &state) == CB_OK) {
    if (cb_system_start(system, state) == CB_OK) {
      status = cb_integrator_step(cb_scenario_integrator(s), state, 0.01);
      demand(status == CB_OK || *cb_error_text());
    }
    cb_state_free(state);
  }
  cb_scenario_free(s);
  return 0;
}
