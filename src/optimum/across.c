/* A direct search across breaks of the bundle: where a gait crosses them is an end of its arcs.
 *
 * The times of crossings stay while a gait is sought, whose cost is that at the best times (variation.h); then they become
 * these. Where a gait no longer crosses what it did, or crosses more, its arcs are others.
 */
#include "optimum/direct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 20, EXACT = 8 };

/* Times settle to this, beyond which E errs by the square; in few functions, or within walls, whose barriers know nothing
 * of times, after some rounds to this. */
static const double settled = 1e-9, settled_roughly = 1e-5;

/* A search on arcs that end at these crossings; none: as it would be. */
static cb_status create(const cb_optimum_problem *p, int count, const cb_crossing *list, int degree, cb_direct **out) {
  double ends[CB_CROSSINGS_MAX + 2] = {0};
  int arcs = 1;
  if (count == 0) return cb_direct_create(p, degree, out);
  for (int k = 0; k < count; k++)
    if (list[k].time > 0) ends[arcs++] = list[k].time;
  ends[arcs] = 1;
  cb_basis *basis;
  cb_status status = cb_basis_arcs(arcs, ends, degree, 0, &basis);
  if (!status) status = cb_direct_create_on(p, basis, out);
  if (status) return status;
  status = cb_direct_cross(*out, count, list);
  if (status) cb_direct_free(*out), *out = NULL;
  return status;
}

/* The gait with arcs of other ends. */
static cb_status retimed(const cb_direct *d, const double *ends, cb_gait **out) {
  const cb_basis *s = d->basis;
  const int n = d->v->n, rows = s->degree + 1;
  cb_gait *gait;
  cb_status status = cb_basis_gait(s, n, d->c, &gait);
  if (status || s->harmonics) return *out = gait, status;
  double *value = malloc((size_t)(s->arcs * rows * n) * sizeof *value);
  if (!value) status = cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d arcs", s->arcs);
  for (int a = 0; !status && a < s->arcs; a++)
    for (int k = 0; k < rows; k++) {
      const double share = (1 - cos(M_PI * k / s->degree)) / 2;
      cb_gait_at(gait, s->end[a] + share * (s->end[a + 1] - s->end[a]), value + (a * rows + k) * n, NULL);
    }
  if (!status) status = cb_gait_arcs(n, s->arcs, ends, s->degree, value, out);
  free(value);
  cb_gait_free(gait);
  return status;
}

/* Its crossings; it begins far from them where its start is a place like any other. */
static cb_status begin_there(const cb_optimum_problem *p, cb_gait **gait, int *count, cb_crossing *list) {
  cb_status status = cb_gait_crossings(p->bundle, *gait, count, list);
  if (status || *count == 0 || !cb_direct_smooth(p)) return status;
  const double first = list[0].time, last = list[*count - 1].time - 1, start = (first + last) / 2;
  if (fabs(start) < .3 * (first - last)) return CB_OK;
  cb_gait *shifted;
  status = cb_gait_shifted(*gait, start, &shifted);
  if (status) return status;
  cb_gait_free(*gait);
  *gait = shifted;
  return cb_gait_crossings(p->bundle, *gait, count, list);
}

static bool same(int count, const cb_crossing *a, int others, const cb_crossing *b) {
  bool equal = count == others;
  for (int k = 0; equal && k < count; k++) equal = a[k].variable == b[k].variable && a[k].at == b[k].at;
  return equal;
}

/* Solved on the arcs of its crossings: *gait is then what it came to, at equal speed; moved: by how much times did. */
static cb_status once(cb_direct **d, cb_gait **gait, int count, const cb_crossing *list, int degree, int most,
                      double *moved) {
  const cb_direct *from = *d;
  double ends[CB_BASIS_ARCS_MAX + 1];
  cb_direct *next = NULL;
  cb_gait *paced = NULL;
  cb_status status = create(from->problem, count, list, degree, &next);
  if (status) return status;
  next->target = from->target, next->amount = from->amount, next->stationary = from->stationary;
  status = cb_direct_from(next, *gait);
  if (!status) status = cb_direct_solve(next, most);
  cb_direct_free(*d);
  *d = next;
  if (status && status != CB_STEP_NO_CONVERGENCE) return status;
  *moved = cb_direct_pace(next, ends);
  const cb_status made = isfinite(*moved) ? retimed(next, ends, &paced) : CB_STEP_NOT_FINITE;
  if (made) return made;
  cb_gait_free(*gait);
  *gait = paced;
  return status;
}

static cb_status unsettled(const cb_bundle *b, int count, const cb_crossing *list) {
  if (count == 0) return CB_STEP_NO_CONVERGENCE;
  return cb_fail(
      CB_STEP_NO_CONVERGENCE,
      "the search for a gait across %s = %.9g, a break of its bundle, does not settle: the best may run along it, "
      "which is not told; bounds there may do",
      b->shape[list[0].variable], list[0].at);
}

cb_status cb_direct_across(cb_direct **d, const cb_gait *start, int degree, int most) {
  const cb_bundle *b = (*d)->problem->bundle;
  cb_crossing list[CB_CROSSINGS_MAX], before[CB_CROSSINGS_MAX];
  int count = 0, last = -1, iterations = 0;
  double moved = INFINITY;
  cb_gait *gait = NULL;
  cb_status status = cb_gait_shifted(start, 0, &gait);
  for (int round = 0; !status; round++) {
    status = begin_there((*d)->problem, &gait, &count, list);
    if (status) break;
    const bool kept = same(count, list, last, before);
    if (kept && moved < (round < EXACT ? settled : settled_roughly)) break;
    if (round == ROUNDS) status = unsettled(b, count, list);
    if (!status) status = once(d, &gait, count, list, degree, most, &moved);
    iterations += (*d)->iterations;
    if (status == CB_STEP_NO_CONVERGENCE && !kept && round < ROUNDS / 2)
      status = CB_OK, moved = INFINITY;
    else if (status == CB_STEP_NO_CONVERGENCE)
      status = unsettled(b, count, list);
    memcpy(before, list, sizeof list), last = count;
  }
  (*d)->iterations = iterations;
  cb_gait_free(gait);
  return status;
}
