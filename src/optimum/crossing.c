/* Crossings: times at which a gait passes a break of its bundle, which is a value of a shape variable at which the
 * connection or the cost metric is not smooth (direct.h). This file finds the crossings of a gait and their optimal
 * times, and searches for gaits that have crossings. */
#include "bundle/gait_private.h"
#include "optimum/direct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- finding crossings --- */

bool cb_bundle_has_breaks(const cb_bundle *b) {
  for (int i = 0; i < b->n; i++)
    if (b->breaks[i]) return true;
  return false;
}

/* Returns the value of shape variable i at its break number `count`. Break number 1 is at[i][0] of the bundle. If the
 * variable has a period, the breaks repeat in each period. */
static double break_of(const cb_bundle *b, int i, double count) {
  const double turns = floor((count - 1) / b->breaks[i]);
  return b->at[i][(int)(count - 1 - turns * b->breaks[i])] + turns * b->period[i];
}

/* Adds the crossing at time t to the list if a variable is on different sides of a break just before and just after t.
 * Returns CB_ERROR_UNSUPPORTED if two variables cross breaks at t, or if the list is full. */
static cb_status add(const cb_bundle *b, const cb_gait *gait, double t, int *count, cb_crossing *list) {
  static const double offset = 1e-7, apart = 1e-6;
  double before[CB_SHAPE_MAX], after[CB_SHAPE_MAX];
  int found = -1;
  if (*count && t - list[*count - 1].time < apart) return CB_OK;
  cb_gait_at(gait, t < offset ? t + 1 - offset : t - offset, before, NULL);
  cb_gait_at(gait, t + offset < 1 ? t + offset : t + offset - 1, after, NULL);
  for (int i = 0; i < b->n; i++) {
    if (!b->breaks[i]) continue;
    const double p = cb_breaks_passed(b, i, before[i]), q = cb_breaks_passed(b, i, after[i]);
    if (p == q || fabs(after[i] - before[i]) > .4 * (b->period[i] > 0 ? b->period[i] : INFINITY)) continue;
    if (*count == CB_CROSSINGS_MAX)
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "the gait crosses breaks of the bundle more than %d times: expected at most that number",
                     CB_CROSSINGS_MAX);
    if (found >= 0)
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "the gait crosses breaks of %s and %s at once, at time %.6g: that is not supported; try bounds or "
                     "a start shape that prevent it",
                     b->shape[found], b->shape[i], t);
    found = i;
    list[(*count)++] = (cb_crossing){.variable = i, .at = break_of(b, i, fmax(p, q)), .time = t};
  }
  return CB_OK;
}

/* Fails if the gait runs along a break. The time is divided into 256 equal intervals. Returns CB_ERROR_UNSUPPORTED if
 * the gait is on the same break at both ends of an interval. */
static cb_status along(const cb_bundle *b, const cb_gait *gait) {
  enum { SAMPLES = 256 };
  static const double at = 1e-10;
  double r[2][CB_SHAPE_MAX];
  cb_gait_at(gait, 0, r[1], NULL);
  for (int k = 0; k < SAMPLES; k++) {
    memcpy(r[0], r[1], sizeof r[0]);
    cb_gait_at(gait, (k + 1.) / SAMPLES, r[1], NULL);
    for (int i = 0; i < b->n; i++)
      for (int e = 0; e < b->breaks[i]; e++) {
        const double off = r[0][i] - b->at[i][e], way = b->period[i] > 0 ? remainder(off, b->period[i]) : off;
        if (fabs(way) < at && fabs(r[1][i] - r[0][i]) < at)
          return cb_fail(CB_ERROR_UNSUPPORTED,
                         "the gait runs along %s = %.9g, a break of its bundle, at time %.6g: that is not supported; "
                         "try bounds that keep the gait off the break",
                         b->shape[i], b->at[i][e], (double)k / SAMPLES);
      }
  }
  return CB_OK;
}

cb_status cb_gait_crossings(const cb_bundle *b, const cb_gait *gait, int *count, cb_crossing *list) {
  *count = 0;
  if (!cb_bundle_has_breaks(b)) return CB_OK;
  cb_status status = along(b, gait);
  for (int k = 0; !status && k < cb_gait_edges(gait); k++) {
    const double end = cb_gait_edge(gait, k + 1);
    for (double t = cb_gait_edge(gait, k); !status && t < end; t = cb_gait_cut(b, gait, t, end))
      status = add(b, gait, t, count, list);
  }
  return status;
}

/* --- times --- */

double cb_direct_pace(const cb_direct *d, double *ends) {
  const cb_basis *s = d->basis;
  const int n = d->v->n;
  double all = 0, moved = 0;
  ends[0] = 0;
  for (int a = 0, q = 0; a < s->arcs; a++) {
    double cost = 0;
    for (; q < s->nodes && s->time[q] < s->end[a + 1]; q++)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          cost += s->weight[q] * d->v->v[q * n + i] * d->v->M[(q * n + i) * n + j] * d->v->v[q * n + j];
    ends[a + 1] = all += sqrt(cost * (s->end[a + 1] - s->end[a]));
  }
  for (int a = 1; a < s->arcs; a++) {
    ends[a] /= all;
    moved = fmax(moved, fabs(ends[a] - s->end[a]));
  }
  ends[s->arcs] = 1;
  return moved;
}

/* Divides the arcs into groups that begin and end at fixed vertices; of[arc] is the group of each arc. Fixed vertices
 * are those with pins or corners, and the start if it is given. If the start is free, the arcs after the last fixed
 * vertex belong to group 0, because the cycle continues with that group. Returns the number of groups. */
static int pieces(const cb_direct *d, int *of) {
  const int arcs = d->basis->arcs;
  bool held[CB_BASIS_ARCS_MAX + 1] = {false};
  int count = 0;
  held[0] = !cb_direct_smooth(d->problem);
  for (int k = 0; k < d->pins; k++) held[d->pin[k].vertex] = true;
  for (int k = 0; k < d->corners; k++) held[d->corner[k].vertex] = true;
  for (int a = 0; a < arcs; a++) of[a] = a > 0 && held[a] ? ++count : count;
  for (int a = 0; !held[0] && count > 0 && a < arcs; a++)
    if (of[a] == count) of[a] = 0;
  return held[0] || count == 0 ? count + 1 : count;
}

static cb_status divide(cb_direct *d) {
  const cb_basis *s = d->basis;
  int of[CB_BASIS_ARCS_MAX];
  const int count = pieces(d, of);
  int *piece = malloc((size_t)s->panels * sizeof *piece);
  if (!piece) return cb_fail(CB_ERROR_MEMORY, "no memory for the pieces of a gait");
  for (int k = 0, arc = 0; k < s->panels; k++) {
    while (arc + 1 < s->arcs && (s->edge[k] + s->edge[k + 1]) / 2 > s->end[arc + 1]) arc++;
    piece[k] = of[arc];
  }
  const cb_status status = cb_variation_divide(d->v, count, piece);
  free(piece);
  return status;
}

cb_status cb_gait_uncrossed(const cb_bundle *b, const cb_gait *gait) {
  cb_crossing list[CB_CROSSINGS_MAX];
  int count;
  const cb_status status = cb_gait_crossings(b, gait, &count, list);
  if (status || count == 0) return status;
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "the gait crosses %s = %.9g, a break of its bundle, and a family cannot be followed across a break: "
                 "expected a range without such gaits, or `optimize` for one of them",
                 b->shape[list[0].variable], list[0].at);
}

cb_status cb_direct_cross(cb_direct *d, int count, const cb_crossing *list) {
  static const double near = 1e-6;
  for (int k = 0; k < count; k++) {
    int vertex = 0;
    while (vertex + 1 < d->basis->arcs && list[k].time > d->basis->end[vertex] + near) vertex++;
    if (vertex == 0 && d->problem->start_shape) continue;
    d->pin[d->pins++] = (cb_pin){vertex, list[k].variable, list[k].at};
    d->crossings++;
  }
  return divide(d);
}

/* --- a direct search for gaits that cross breaks at ends of their arcs ---
 *
 * During one search the times of the crossings are constant, but the cost that is minimised is the cost at the optimal
 * times (variation.h). After the search the crossings are set to the optimal times. If the gait then has other
 * crossings, its arcs are chosen anew.
 */

enum { ROUNDS = 20, EXACT = 8 };

/* Tolerances of the times of crossings. The relative error of the cost is of the order of the square of these. From
 * round EXACT on, settled_roughly is used, because the times may not become more accurate for a gait in few functions
 * of time or with a barrier. */
static const double settled = 1e-9, settled_roughly = 1e-5;

/* Creates a search on arcs that end at the `count` crossings of the list. If count is 0, it is the search of
 * cb_direct_create. */
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
  if (status) {
    cb_direct_free(*out);
    *out = NULL;
  }
  return status;
}

/* Creates the gait of d with its arcs stretched in time, so that they end at the times ends[arcs + 1]. A gait in
 * harmonics does not change. */
static cb_status retimed(const cb_direct *d, const double *ends, cb_gait **out) {
  const cb_basis *s = d->basis;
  const int n = d->v->n, rows = s->degree + 1;
  cb_gait *gait;
  cb_status status = cb_basis_gait(s, n, d->c, &gait);
  if (status || s->harmonics) {
    *out = gait;
    return status;
  }
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

/* Finds the crossings of *gait. If the start of the gait is free and near a crossing, the start is first moved along
 * the cycle, to the middle between the last crossing and the first one. */
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

/* Solves for the gait on the arcs between the crossings of *gait. Replaces *gait by the result, with its times changed
 * so that the speed is the same on all arcs. *moved becomes the largest change of the time of a crossing. */
static cb_status once(cb_direct **d, cb_gait **gait, int count, const cb_crossing *list, int degree, int maximum,
                      double *moved) {
  const cb_direct *from = *d;
  double ends[CB_BASIS_ARCS_MAX + 1];
  cb_direct *next = NULL;
  cb_gait *paced = NULL;
  cb_status status = create(from->problem, count, list, degree, &next);
  if (status) return status;
  next->target = from->target;
  next->amount = from->amount;
  next->stationary = from->stationary;
  status = cb_direct_from(next, *gait);
  if (!status) status = cb_direct_solve(next, maximum);
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
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "the search for a gait across %s = %.9g, a break of its bundle, did not converge: the best gait may "
                 "run along it, which is not supported; try bounds near it",
                 b->shape[list[0].variable], list[0].at);
}

cb_status cb_direct_multiphase(cb_direct **d, const cb_gait *start, int degree, int maximum) {
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
    if (!status) status = once(d, &gait, count, list, degree, maximum, &moved);
    iterations += (*d)->iterations;
    if (status == CB_STEP_NO_CONVERGENCE && !kept && round < ROUNDS / 2) {
      status = CB_OK;
      moved = INFINITY;
    } else if (status == CB_STEP_NO_CONVERGENCE)
      status = unsettled(b, count, list);
    memcpy(before, list, sizeof list);
    last = count;
  }
  (*d)->iterations = iterations;
  cb_gait_free(gait);
  return status;
}
