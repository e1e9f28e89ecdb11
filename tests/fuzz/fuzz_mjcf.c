/* libFuzzer entry for MJCF, the model format of MuJoCo. No input may cause a crash, undefined behaviour or a leak. An
 * error names its line and column. In a model that was read, bodies have positive masses and rotations are unit
 * quaternions. Omitted elements are listed line by line, and the written text is valid YAML.
 *
 * clang -fsanitize=fuzzer,address,undefined; AFL++ takes the same entry through afl-clang-fast -fsanitize=fuzzer. */
#include "mjcf/mjcf.h"
#include "yaml/yaml.h"
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void demand(bool truth) {
  if (!truth) abort();
}

static void check_pose(const cb_pose *p) {
  double square = 0;
  for (int i = 0; i < 4; i++) square += p->q[i] * p->q[i];
  demand(fabs(square - 1) < 1e-9);
}

static void check_left_out(const char *text) {
  while (*text) {
    int line = 0, column = 0, end = 0;
    const char *eol = strchr(text, '\n');
    demand(eol && !strncmp(text, "fuzz", 4));
    demand(sscanf(text, "fuzz:%d:%d: left out: %n", &line, &column, &end) == 2 && end > 0 && line > 0 && column > 0);
    text = eol + 1;
  }
}

static void check_model(const cb_mjcf *m) {
  int n = 0;
  for (const cb_mjcf_body *b = m->bodies; b; b = b->next, n++) {
    demand(b->links && b->inertial.mass > 0);
    check_pose(&b->place);
    check_pose(&b->reference);
    for (const cb_mjcf_link *l = b->links; l; l = l->next) {
      demand(l->inertial.mass >= 0);
      check_pose(&l->pose);
      for (const cb_mjcf_geom *g = l->geoms; g; g = g->next) {
        check_pose(&g->pose);
        demand(g->type >= 0 && g->type < CB_MJCF_TYPES && g->mass >= 0);
      }
    }
  }
  demand(n == m->n && n > 0);
  check_left_out(m->left_out);
}

/* Inputs with the word "file" are skipped, because mutations could make such an input read any file of the computer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gsl_set_error_handler_off();
  char *text = malloc(size + 1);
  cb_mjcf *m = NULL;
  if (!text) return 0;
  if (size) memcpy(text, data, size);
  text[size] = 0;
  const bool named = strstr(text, "file") != NULL, key = strstr(text, "<key ") != NULL && size % 2;
  const cb_status status =
      named ? CB_OK : cb_mjcf_read_text("fuzz", text, size, key ? &(cb_mjcf_choices){.key = "0"} : NULL, &m);
  free(text);
  if (named) return 0;
  if (status) {
    int line = 0, column = 0, end = 0;
    demand(!m && status == CB_ERROR_INPUT);
    demand(sscanf(cb_error_text(), "fuzz:%d:%d: error: %n", &line, &column, &end) == 2 && end > 0);
    return 0;
  }
  cb_text written = {0};
  cb_tree *tree = NULL;
  check_model(m);
  demand(cb_mjcf_write(m, 1, &written) == CB_OK);
  demand(cb_yaml_read_text("written", written.data, written.length, &tree) == CB_OK);
  cb_tree_free(tree);
  cb_text_free(&written);
  cb_mjcf_free(m);
  return 0;
}
