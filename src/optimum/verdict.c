/* A gait held against the conditions of an optimum. */
#include "optimum/verdict.h"

#include "bundle/gait_private.h"
#include "core/failure.h"
#include "optimum/find.h"
#include <curvebody/holonomy.h>

#include <math.h>
#include <string.h>

enum { SIZE_FIRST = 8, SIZE_LAST = 64 };

/* What the gait does, as the target. */
static void own_target(const cb_group *G, const double *g, cb_gait_target *t) {
  double c[CB_CONDITIONS_MAX];
  if (t->kind == CB_GAIT_ELEMENT || t->kind == CB_GAIT_PARTS) {
    for (int k = 0; k < G->size; k++)
      if (t->kind == CB_GAIT_ELEMENT || t->asked[k]) t->element[k] = g[k];
  } else {
    t->value = 0;
    if (!cb_gait_target_at(G, t, g, c, NULL, NULL)) t->value = c[0];
  }
}

/* The largest distance at the nodes, and of rates by their size. */
static double distance(const cb_direct *d, const cb_gait *gait) {
  const int n = d->v->n;
  double most = 0, fastest = 0, off = 0;
  for (int q = 0; q < d->basis->nodes; q++) {
    double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX];
    cb_gait_at(gait, d->basis->time[q], r, rate);
    for (int i = 0; i < n; i++) {
      most = fmax(most, fabs(r[i] - d->v->r[q * n + i]));
      off = fmax(off, fabs(rate[i] - d->v->v[q * n + i]));
      fastest = fmax(fastest, fabs(rate[i]));
    }
  }
  return fmax(most, fastest > 0 ? off / fastest : 0);
}

/* A gait as a loop and the whole periods that it goes round in its cycle. */
static cb_status unwind(const cb_bundle *b, const cb_gait *gait, double *drift, cb_gait **loop) {
  double back[CB_SHAPE_MAX];
  cb_gait_gap(gait, drift);
  for (int i = 0; i < b->n; i++) {
    drift[i] = b->period[i] > 0 ? b->period[i] * rint(drift[i] / b->period[i]) : 0;
    back[i] = -drift[i];
  }
  return cb_gait_drifting(gait, back, loop);
}

/* In as many functions as it needs, or can have. */
static cb_status fitted(const cb_optimum_problem *p, const cb_gait *gait, const double *drift, const cb_gait *loop,
                        cb_direct **out, double *fit) {
  const int last = cb_direct_smooth(p) ? SIZE_LAST : SIZE_LAST / 2;
  for (int size = SIZE_FIRST;; size *= 2) {
    cb_direct *d;
    cb_status status = cb_direct_create(p, size, &d);
    if (status) return status;
    memcpy(d->v->drift, drift, sizeof d->v->drift);
    status = cb_direct_from(d, loop);
    if (!status) status = cb_variation_at(d->v, d->c, 0);
    if (!status) *fit = distance(d, gait);
    if (!status && (*fit < 1e-9 || 2 * size > last)) return *out = d, CB_OK;
    cb_direct_free(d);
    if (status) return status;
  }
}

static cb_status check(const cb_optimum_problem *p, const cb_gait *gait) {
  const cb_bundle *b = p->bundle;
  double r[CB_SHAPE_MAX];
  const cb_status status = cb_gait_closed(b, gait);
  if (status) return status;
  cb_gait_at(gait, 0, r, NULL);
  for (int i = 0; p->base && i < b->n; i++)
    if (fabs(r[i] - p->base[i]) > 1e-9 * (1 + fabs(r[i])))
      return cb_fail(CB_ERROR_ARGUMENT, "the gait begins at %s = %.9g, its base is at %.9g", b->shape[i], r[i],
                     p->base[i]);
  return CB_OK;
}

static void tell_stationary(cb_direct *d, const cb_gait *gait, cb_verdict *v) {
  cb_optimum o = {.cost = v->cost};
  memcpy(o.lambda, v->lambda, sizeof o.lambda);
  if (cb_gait_shifted(gait, 0, &o.gait)) return;
  if (!cb_optimum_by_wong(d, &o)) v->wong = o.wong;
  v->conjugates = o.conjugates;
  memcpy(v->conjugate, o.conjugate, sizeof v->conjugate);
  cb_gait_free(o.gait);
}

cb_status cb_verdict_of(const cb_optimum_problem *problem, const cb_gait *gait, cb_verdict *v) {
  const cb_group *G = problem->bundle->group;
  cb_optimum_problem p = *problem;
  double drift[CB_SHAPE_MAX];
  cb_gait *loop = NULL;
  cb_direct *d;
  *v = (cb_verdict){.wong = NAN, .conjugates = -1, .conjugate = {INFINITY, INFINITY}};
  cb_status status = check(&p, gait);
  if (!status) status = cb_holonomy(p.bundle, gait, 0, v->g, &v->length, &v->cost);
  if (status) return status;
  own_target(G, v->g, &p.target);
  p.seek = problem->seek == CB_SEEK_EFFICIENCY ? CB_SEEK_EFFICIENCY : CB_SEEK_COST;
  status = unwind(p.bundle, gait, drift, &loop);
  if (!status) status = fitted(&p, gait, drift, loop, &d, &v->fit);
  cb_gait_free(loop);
  if (status) return status;
  status = cb_direct_bend(d);
  if (!status) {
    cb_direct_signs(d, &v->index, &v->flat);
    memcpy(v->lambda, d->lambda, sizeof v->lambda);
    v->amount = d->amount;
    v->slope = d->slope;
    v->stationary = v->slope <= 1e-7 + 10 * v->fit;
    status = cb_direct_flow(d, &v->gain);
  }
  if (!status && v->stationary) tell_stationary(d, gait, v);
  cb_direct_free(d);
  return status;
}
