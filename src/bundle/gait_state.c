/* Gaits as numbers. See gait_state.h. */
#include "bundle/gait_state.h"
#include "bundle/gait_private.h"

#include <string.h>

enum { ARCS, ORDER, HEAD };

static bool of_kind(const cb_gait *g, const char *name) { return !g->backwards && !strcmp(g->kind->name, name); }

size_t cb_gait_state_size(const cb_gait *g) {
  const size_t n = (size_t)g->n, count = (size_t)g->count;
  if (of_kind(g, "fourier")) return HEAD + n + 2 * count * n;
  return of_kind(g, "arcs") ? HEAD + count + 1 + count * ((size_t)cb_gait_numbers(g)[count + 1] + 1) * n : 0;
}

void cb_gait_state(const cb_gait *g, double *out) {
  const size_t size = cb_gait_state_size(g), count = (size_t)g->count;
  const double *x = cb_gait_numbers(g);
  if (!size) return;
  const bool arcs = of_kind(g, "arcs");
  out[ARCS] = arcs ? g->count : 0;
  out[ORDER] = arcs ? x[count + 1] : g->count;
  const size_t head = arcs ? count + 1 : 0; /* then the degree and its points */
  memcpy(out + HEAD, x, head * sizeof *x);
  x += arcs ? head + 2 + (size_t)out[ORDER] : 0;
  memcpy(out + HEAD + head, x, (size - HEAD - head) * sizeof *x);
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
