/* Gaits as text. See gait_text.h. */
#include "bundle/gait_private.h"

#include <stdio.h>

void cb_gait_write_numbers(cb_text *out, int n, const double *x) {
  for (int i = 0; i < n; i++) {
    char number[40];
    snprintf(number, sizeof number, "%s%.17g", i ? ", " : "[", x[i]);
    cb_text_puts(out, number);
  }
  cb_text_puts(out, "]");
}

void cb_gait_write_rows(cb_text *out, int rows, int n, const double *x) {
  for (int k = 0; k < rows; k++) {
    cb_text_puts(out, k ? ", " : "[");
    cb_gait_write_numbers(out, n, x + k * n);
  }
  cb_text_puts(out, "]");
}

cb_status cb_gait_write(const cb_gait *g, cb_text *out) {
  if (!g->kind->write || g->backwards)
    return cb_fail(CB_ERROR_UNSUPPORTED, "a gait of kind `%s`%s is not written as text", g->kind->name,
                   g->backwards ? ", reversed," : "");
  cb_text_puts(out, "{");
  cb_text_puts(out, g->kind->name);
  cb_text_puts(out, ": ");
  g->kind->write(g, out);
  cb_text_puts(out, "}");
  return out->failed ? cb_fail(CB_ERROR_MEMORY, "no memory for the text of a gait") : CB_OK;
}
