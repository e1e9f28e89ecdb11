/* Gaits of the kinds `arcs` and `fourier` as text and as numbers (gait_text.h). */
#include "bundle/gait_private.h"

#include <stdio.h>

/* --- numbers --- */

enum { ARCS, ORDER, HEAD };

static const cb_gait_basis *basis_of(const cb_gait *g) { return g->backwards ? NULL : g->class->basis; }

size_t cb_gait_state_size(const cb_gait *g) { return basis_of(g) ? basis_of(g)->state(g, NULL) : 0; }

void cb_gait_state(const cb_gait *g, double *out) {
  if (basis_of(g)) basis_of(g)->state(g, out);
}

cb_status cb_gait_from_state(int n, size_t count, const double *s, cb_gait **out) {
  *out = NULL;
  if (count < HEAD || !(s[ARCS] >= 0 && s[ARCS] < (double)count && s[ORDER] >= 1 && s[ORDER] < (double)count))
    return CB_OK;
  const size_t arcs = (size_t)s[ARCS], order = (size_t)s[ORDER], row = (size_t)n;
  const size_t head = HEAD + (arcs ? arcs + 1 : row), rows = (arcs ? arcs * (order + 1) : 2 * order) * row;
  if (head + rows > count) return CB_OK;
  const double *x = s + head;
  const cb_status status = arcs ? cb_gait_arcs(n, (int)arcs, s + HEAD, (int)order, x, out)
                                : cb_gait_fourier(n, (int)order, s + HEAD, x, x + order * row, out);
  return status == CB_ERROR_ARGUMENT ? CB_OK : status;
}

/* --- text --- */

cb_status cb_gait_write(const cb_gait *g, cb_text *out) {
  if (!basis_of(g))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "a gait of class `%s`%s cannot be written as text: expected `fourier` or `arcs`", g->class->name,
                   g->backwards ? ", reversed," : "");
  cb_text_puts(out, "{");
  cb_text_puts(out, g->class->name);
  cb_text_puts(out, ": ");
  basis_of(g)->write(g, out);
  cb_text_puts(out, "}");
  return out->failed ? cb_fail(CB_ERROR_MEMORY, "no memory for the text of a gait") : CB_OK;
}

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
