/* Sequences of gaits of equal durations that begin at the same shape. An open path continues by r(t + 1) = r(t) + d
 * with d = r(1) - r(0), so that a sequence of such paths is continuous.
 */
#include "bundle/gait_private.h"
#include "core/failure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const cb_gait_kind_class cb_gait_kind_sequence;

/* The numbers of a sequence are before[parts][n]: for each part, the sum of r(1) - r(0) of the parts before it. */
static void at(const cb_gait *g, double t, double *r, double *rate) {
  const int parts = g->parts, k = (int)fmin(floor(t * parts), parts - 1);
  const double *before = cb_gait_own_numbers(g) + k * g->n;
  cb_gait_at(g->part[k], fmin(fmax(t * parts - k, 0), 1), r, rate);
  for (int i = 0; i < g->n; i++) {
    if (r) r[i] += before[i];
    if (rate) rate[i] *= parts;
  }
}

typedef struct place {
  int part, parts;
} place;

static double in_sequence(const void *by, double t) {
  const place *p = by;
  return (p->part + t) / p->parts;
}

cb_status cb_gait_sequence(int count, const cb_gait *const *gaits, cb_gait **out) {
  if (count < 1) return cb_fail(CB_ERROR_ARGUMENT, "a sequence of %d gaits: expected at least 1", count);
  const int n = gaits[0]->n;
  double first[CB_SHAPE_MAX], start[CB_SHAPE_MAX], gap[CB_SHAPE_MAX];
  int breaks = count;
  cb_gait_at(gaits[0], 0, first, NULL);
  for (int k = 0; k < count; k++) {
    if (gaits[k]->n != n)
      return cb_fail(CB_ERROR_ARGUMENT,
                     "gait %d of a sequence has %d shape variables: expected %d, as in the first gait", k, gaits[k]->n,
                     n);
    cb_gait_at(gaits[k], 0, start, NULL);
    for (int i = 0; i < n; i++)
      if (!(fabs(start[i] - first[i]) <= cb_gait_slack(start[i], first[i])))
        return cb_fail(CB_ERROR_ARGUMENT,
                       "gait %d of a sequence starts at %.9g in variable %d, but the first gait starts at %.9g: "
                       "expected equal values",
                       k, start[i], i, first[i]);
    breaks += gaits[k]->breaks;
  }
  cb_gait *g = NULL;
  const cb_gait_contents contents = {.parts = count, .part = gaits};
  const cb_status status = cb_gait_compose(&cb_gait_kind_sequence, n, breaks, (size_t)(count * n), &contents, &g);
  if (status) return status;
  double *next = g->data;
  for (int k = 0; k < count; k++) {
    const place p = {k, count};
    *next++ = in_sequence(&p, 0);
    next = cb_gait_put_breaks(gaits[k], next, in_sequence, &p);
  }
  g->breaks = cb_gait_sort_breaks(g->data, breaks);
  double *before = g->data + g->breaks;
  memset(before, 0, (size_t)(count * n) * sizeof *before);
  for (int k = 0; k < count; k++) {
    cb_gait_gap(gaits[k], gap);
    g->open |= gaits[k]->open;
    for (int i = 0; k + 1 < count && i < n; i++) before[(k + 1) * n + i] = before[k * n + i] + gap[i];
    g->pieces = gaits[k]->pieces > g->pieces ? gaits[k]->pieces : g->pieces;
  }
  *out = g;
  return CB_OK;
}

static cb_status read_value(const cb_bundle *b, const cb_node *list, const void *params, cb_gait **out) {
  (void)params;
  if (list->kind != CB_NODE_LIST || list->count == 0)
    return cb_node_fail(list, "expected a list of gaits, such as [{polygon: {corners: ..}}, {fourier: ..}]");
  const int count = (int)list->count;
  cb_gait **part = calloc(list->count, sizeof *part);
  if (!part) return cb_fail(CB_ERROR_MEMORY, "no memory for %d gaits", count);
  cb_errors errors = cb_errors_begin();
  for (int k = 0; k < count; k++)
    cb_errors_add(&errors, list->items[k], cb_gait_read(b, list->items[k], NULL, NULL, &part[k]));
  cb_status status = cb_errors_end(&errors);
  if (!status) status = cb_gait_sequence(count, (const cb_gait *const *)part, out);
  for (int k = 0; k < count; k++) cb_gait_free(part[k]);
  free(part);
  return status;
}

const cb_gait_kind_class cb_gait_kind_sequence = {
    .name = "sequence",
    .title = "Gaits one after the other",
    .doc = "A list of gaits that begin at the same shape and have equal durations",
    .read = read_value,
    .at = at};
