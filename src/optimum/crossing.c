/* Crossings of breaks, and what the times of crossings that are given do to a gait. */
#include "optimum/crossing.h"

#include "bundle/gait_private.h"
#include "optimum/direct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- where they are --- */

bool cb_bundle_has_breaks(const cb_bundle *b) {
  for (int i = 0; i < b->n; i++)
    if (b->breaks[i]) return true;
  return false;
}

/* The break below which one fewer is passed than `count`, counted on over periods. */
static double break_of(const cb_bundle *b, int i, double count) {
  const double turns = floor((count - 1) / b->breaks[i]);
  return b->at[i][(int)(count - 1 - turns * b->breaks[i])] + turns * b->period[i];
}

static cb_status add(const cb_bundle *b, const cb_gait *gait, double t, int *count, cb_crossing *list) {
  static const double beside = 1e-7, apart = 1e-6;
  double before[CB_SHAPE_MAX], after[CB_SHAPE_MAX];
  int found = -1;
  if (*count && t - list[*count - 1].time < apart) return CB_OK;
  cb_gait_at(gait, t < beside ? t + 1 - beside : t - beside, before, NULL);
  cb_gait_at(gait, t + beside < 1 ? t + beside : t + beside - 1, after, NULL);
  for (int i = 0; i < b->n; i++) {
    if (!b->breaks[i]) continue;
    const double p = cb_breaks_passed(b, i, before[i]), q = cb_breaks_passed(b, i, after[i]);
    if (p == q || fabs(after[i] - before[i]) > .4 * (b->period[i] > 0 ? b->period[i] : INFINITY)) continue;
    if (*count == CB_CROSSINGS_MAX)
      return cb_fail(CB_ERROR_UNSUPPORTED, "a gait that crosses breaks of the bundle more than %d times",
                     CB_CROSSINGS_MAX);
    if (found >= 0)
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "the gait crosses breaks of %s and %s at once, at time %.6g: how it may is not "
                     "told",
                     b->shape[found], b->shape[i], t);
    found = i;
    list[(*count)++] = (cb_crossing){.variable = i, .at = break_of(b, i, fmax(p, q)), .time = t};
  }
  return CB_OK;
}

/* Somewhere on one break for a while. */
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
                         "the gait runs along %s = %.9g, a break of its bundle, at time %.6g: how it "
                         "may is not told",
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

/* Arcs between vertices that are held; where the cycle begins anywhere the last goes on over its end. */
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
  return cb_fail(
      CB_ERROR_UNSUPPORTED,
      "the gait crosses %s = %.9g, a break of its bundle, across which families are not followed: `optimize` "
      "finds gaits there",
      b->shape[list[0].variable], list[0].at);
}

cb_status cb_direct_cross(cb_direct *d, int count, const cb_crossing *list) {
  static const double near = 1e-6;
  for (int k = 0; k < count; k++) {
    int vertex = 0;
    while (vertex + 1 < d->basis->arcs && list[k].time > d->basis->end[vertex] + near) vertex++;
    if (vertex == 0 && d->problem->base) continue;
    d->pin[d->pins++] = (cb_pin){vertex, list[k].variable, list[k].at};
    d->crossings++;
  }
  return divide(d);
}
