/* Corners of walls that a gait turns about: found from its barrier, then equations at vertices of arcs. */
#include "optimum/direct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What of the longest line a corner found may be off, and what of the largest a force may pull. */
static const double off_small = 1e-9, pull_small = 1e-8;

cb_status cb_corner_at(cb_walls *w, cb_corner *corner, int functions, const double *c, bool slopes, double *f) {
  double r[CB_SHAPE_MAX];
  for (int i = 0; i < w->n; i++) r[i] = c[i * functions + corner->vertex];
  cb_status status = CB_OK;
  for (int e = 0; !status && e < 2; e++)
    status = cb_walls_term(w, corner->wall, corner->term[e], r, &f[e], slopes ? corner->df[e] : NULL,
                           slopes ? corner->ddf[e] : NULL);
  return status;
}

/* --- where they are --- */

typedef struct meeting {
  cb_corner corner;
  double time;
} meeting;

/* The nearest shape where both terms vanish, by Newton's method of shortest steps. False where there is none near. */
static bool nearest(cb_walls *w, cb_corner *corner, double *r) {
  double f[2] = {0};
  for (int k = 0; k < 20; k++) {
    double gram[3] = {0};
    if (cb_corner_at(w, corner, 1, r, true, f)) return false;
    if (fmax(fabs(f[0]), fabs(f[1])) < 1e-14 * w->size) return true;
    for (int i = 0; i < w->n; i++) {
      gram[0] += corner->df[0][i] * corner->df[0][i];
      gram[1] += corner->df[0][i] * corner->df[1][i];
      gram[2] += corner->df[1][i] * corner->df[1][i];
    }
    const double det = gram[0] * gram[2] - gram[1] * gram[1];
    if (!(det > 1e-10 * gram[0] * gram[2])) return false;
    const double x = (gram[2] * f[0] - gram[1] * f[1]) / det, y = (gram[0] * f[1] - gram[1] * f[0]) / det;
    for (int i = 0; i < w->n; i++) r[i] -= x * corner->df[0][i] + y * corner->df[1][i];
  }
  return fmax(fabs(f[0]), fabs(f[1])) < 1e-12 * w->size;
}

/* Near a node that is nearer to a wall than those beside it: a corner within two nodes. */
static bool meets(const cb_direct *d, int k, int q, meeting *m) {
  const cb_basis *s = d->basis;
  cb_walls *w = d->barrier->walls;
  const int n = w->n, count = w->count, before = (q + s->nodes - 1) % s->nodes, after = (q + 1) % s->nodes;
  const double here = d->barrier->s[q * count + k], *r = d->v->r + q * n, *v = d->v->v + q * n;
  double at[CB_SHAPE_MAX], step = 0, way = 0, along = 0, speed = 0;
  if (here > d->barrier->s[before * count + k] || here >= d->barrier->s[after * count + k]) return false;
  *m = (meeting){.corner = {.wall = k}};
  memcpy(at, r, (size_t)n * sizeof *at);
  if (cb_walls_leading(w, k, r, m->corner.term) || !nearest(w, &m->corner, at)) return false;
  for (int i = 0; i < n; i++) {
    const double beside = fmax(fabs(d->v->r[before * n + i] - r[i]), fabs(d->v->r[after * n + i] - r[i]));
    step += beside * beside, way += (at[i] - r[i]) * (at[i] - r[i]);
    along += v[i] * (at[i] - r[i]), speed += v[i] * v[i];
  }
  m->time = s->time[q] + along / speed;
  m->time -= floor(m->time);
  return way <= 4 * step;
}

static int by_time(const void *a, const void *b) {
  const double s = ((const meeting *)a)->time, t = ((const meeting *)b)->time;
  return s < t ? -1 : s > t;
}

/* In their order in time; of those that are as near as nodes are, one. */
static int find(const cb_direct *d, meeting *list) {
  const cb_basis *s = d->basis;
  int count = 0, kept = 0;
  for (int k = 0; k < d->barrier->walls->count; k++)
    for (int q = 0; q < s->nodes && d->barrier->walls->wall[k].variable < 0; q++)
      if (count < CB_CORNERS_MAX && meets(d, k, q, &list[count])) count++;
  qsort(list, (size_t)count, sizeof *list, by_time);
  for (int k = 0; k < count; k++)
    if (kept == 0 || list[k].time - list[kept - 1].time > 4. / s->nodes) list[kept++] = list[k];
  if (kept > 1 && list[0].time + 1 - list[kept - 1].time < 4. / s->nodes) kept--;
  return kept;
}

/* --- the gait --- */

/* Both forces press outwards, and no other wall is passed. */
static cb_status holds(cb_direct *d) {
  const double *nu = d->qp->multiplier + d->qp->rows - 2 * d->corners; /* the last rows */
  double largest = 0;
  for (int k = 0; k < 2 * d->corners; k++) largest = fmax(largest, fabs(nu[k]));
  for (int k = 0; k < 2 * d->corners; k++)
    if (nu[k] > pull_small * largest)
      return cb_fail(CB_STEP_NO_CONVERGENCE, "a corner where lines touch does not hold the gait");
  if (!(cb_barrier_least(d->barrier, d->c) >= -off_small * d->barrier->walls->size))
    return cb_fail(CB_STEP_NO_CONVERGENCE, "a gait at corners where lines touch passes a wall elsewhere");
  return CB_OK;
}

static cb_status solve(const cb_direct *d, const cb_gait *gait, const meeting *list, int count, const double *ends,
                       int arcs, int degree, cb_direct **out) {
  cb_basis *basis = NULL;
  cb_direct *fine = NULL;
  cb_status status = cb_basis_arcs(arcs, ends, degree, 0, &basis);
  if (!status) status = cb_direct_create_on(d->problem, basis, &fine);
  if (status) return status;
  fine->corners = count, fine->amount = d->amount, fine->target = d->target;
  for (int k = 0; k < count; k++) {
    fine->corner[k] = list[k].corner;
    fine->corner[k].vertex = arcs - count + k;
  }
  status = cb_direct_from(fine, gait);
  if (!status) status = cb_direct_settle(fine, 60);
  if (status) return cb_direct_free(fine), status;
  *out = fine;
  return CB_OK;
}

cb_status cb_direct_sharpen(cb_direct *d, int degree, cb_direct **out) {
  enum { ROUNDS = 30 };
  meeting list[CB_CORNERS_MAX];
  double ends[CB_CORNERS_MAX + 2] = {0};
  cb_gait *gait = NULL, *shifted = NULL;
  cb_direct *fine = NULL;
  *out = NULL;
  if (!d->barrier || !(d->barrier->tau > 0)) return CB_OK;
  cb_status status = cb_variation_at(d->v, d->c, 0);
  if (!status) status = cb_barrier_at(d->barrier, d->v->r, true);
  if (status) return status;
  const int count = find(d, list);
  if (count == 0) return CB_OK;
  /* the first at the start, where that may be anywhere */
  const double start = d->basis->harmonics ? list[0].time : 0;
  const int arcs = d->basis->harmonics ? count : count + 1;
  for (int k = 0; k < count; k++) ends[arcs - count + k] = list[k].time - start;
  ends[arcs] = 1;
  status = cb_basis_gait(d->basis, d->v->n, d->c, &gait);
  if (!status) status = cb_gait_shifted(gait, start, &shifted);
  for (int round = 0; !status; round++) {
    cb_direct_free(fine), fine = NULL;
    status = solve(d, shifted, list, count, ends, arcs, degree, &fine);
    if (status || cb_direct_pace(fine, ends) < 1e-8) break; /* E errs by the square */
    if (round == ROUNDS) status = cb_fail(CB_STEP_NO_CONVERGENCE, "times where lines touch do not settle");
  }
  cb_gait_free(gait), cb_gait_free(shifted);
  if (!status) status = holds(fine);
  if (status) return cb_direct_free(fine), status;
  *out = fine;
  return CB_OK;
}
