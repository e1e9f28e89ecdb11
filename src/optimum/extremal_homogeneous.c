/* Extremals at and near the most of their target, and abnormal ones: mu of the cost and lambda, mu^2 + |lambda/w|^2 = 1,
 * w = E/amount (or over |log g|): near the most of a target lambda/mu grows without end, and passes to the other sign.
 *
 * At an amount that is the most, Newton's method meets a double root in mu; with mu = 0 given and the amount free it
 * meets a simple one, and the amount says whether it is the one that is asked. Of a target without an amount a slack
 * along its multipliers is free instead.
 */
#include "optimum/extremal_private.h"

#include <curvebody/holonomy.h>

#include <math.h>
#include <string.h>

/* lambda amount/E from which on equations are worth solving again; mu of a start that may be 0; that is 0; how near an
 * amount is the most. */
static const double large = 1, small = .1, none = 1e-8, same = 1e-8;

cb_status homogeneous_tell(const extremal_mesh *m, cb_extremal *e) {
  const problem *p = m->p;
  const int n = p->n, dim = p->dim, size = p->size, stages = m->panels * CB_STAGES;
  const double mu = m->at.global[0], by = fabs(mu) < none ? 1 : 1 / mu;
  double end[CB_SHAPE_MAX];
  e->rate = cb_arena_alloc(e->arena, (size_t)stages * (size_t)n, sizeof *e->rate);
  if (!e->rate) return cb_fail(CB_ERROR_MEMORY, "no memory for an extremal");
  e->mu = fabs(mu) < none ? 0 : 1;
  e->error = mesh_roughness(m);
  if (p->row < 0) e->amount = NAN;
  for (int s = 0; s < stages; s++) {
    memcpy(e->stage + s * size, m->P + s * size, (size_t)size * sizeof *e->stage);
    memcpy(e->rate + s * n, m->at.stage + s * size + n, (size_t)n * sizeof *e->rate);
    for (int i = n; i < size; i++) e->stage[s * size + i] *= by;
  }
  for (int k = 0; k <= m->panels; k++)
    for (int i = n; i < size; i++) e->x[k * size + i] *= by;
  for (int i = 0; i < n; i++) e->p[i] *= by;
  for (int a = 0; a < dim; a++) e->lambda[a] *= by;
  for (int k = 0; k < p->count; k++) e->nu[k] *= by;
  mesh_interpolate(&p->gauss, n, NULL, e->rate, 0, e->v);
  mesh_interpolate(&p->gauss, n, NULL, e->rate + (stages - CB_STAGES) * n, 1, end);
  for (int i = 0; i < n; i++) e->jump[i] = e->v[i] - end[i];
  return extremal_invariants(m, e);
}

/* Of what the target is asked, or does. */
static cb_status size_of_target(const problem *p, const double *g, double amount, double *size) {
  double y[CB_GROUP_DIM];
  *size = fabs(amount);
  if (p->row >= 0 && *size > 0) return CB_OK;
  const cb_status status = p->G->log(p->G, g, y);
  *size = 0;
  for (int a = 0; !status && a < p->dim; a++) *size = hypot(*size, y[a]);
  return status;
}

/* The direction of slack, where the target has no amount: that of the multipliers. */
static cb_status slacken(problem *p, const double *g, const double *lambda) {
  double c[CB_CONDITIONS_MAX], first[CB_CONDITIONS_MAX * CB_GROUP_DIM], size = 0;
  const cb_status status = cb_gait_target_at(p->G, &p->target, g, c, first, NULL);
  for (int k = 0; !status && k < p->count; k++) {
    p->slack[k] = 0;
    for (int a = 0; p->row < 0 && a < p->dim; a++) p->slack[k] += first[k * p->dim + a] * lambda[a];
    size = hypot(size, p->slack[k]);
  }
  for (int k = 0; k < p->count && size > 0; k++) p->slack[k] /= size;
  return status;
}

/* At mu = 0: lambda of length `weight`, and v along the start. */
static cb_status abnormal_solve(problem *p, const cb_gait *start, const double *lambda, double amount, cb_extremal *e) {
  const int n = p->n;
  double x[CB_WONG_MAX] = {0}, rate[CB_SHAPE_MAX], v[CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX], size = 0, along = 0;
  double scaled[CB_GROUP_DIM];
  for (int a = 0; a < p->dim; a++) size = hypot(size, lambda[a]);
  for (int a = 0; a < p->dim; a++) x[2 * n + a] = scaled[a] = lambda[a] * p->weight / size;
  p->homogeneous = false, p->abnormal = p->seeks = true;
  p->wong.speed = sqrt(p->begin[1]);
  cb_gait_at(start, 0, x, rate);
  cb_status status = cb_bundle_connection(p->o->bundle, x, NULL, NULL, M, NULL);
  if (!status) status = cb_wong_abnormal_velocity(&p->wong, x, v, NULL);
  if (status) return status;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) along += rate[i] * M[i * n + j] * v[j];
  if (along < 0) p->wong.speed *= -1;
  return bounds_solve(p, start, scaled, amount, e);
}

/* Whether what has mu = 0 does what is asked. */
static bool asked(const problem *p, const cb_extremal *e) {
  double c[CB_CONDITIONS_MAX], size;
  if (cb_gait_target_at(p->G, &p->target, e->g, c, NULL, NULL) || size_of_target(p, e->g, e->amount, &size))
    return false;
  for (int k = 0; k < p->count; k++)
    if (fabs(c[k]) > same * size) return false;
  return true;
}

cb_status homogeneous_solve(problem *p, const cb_gait *start, const double *lambda, double amount, cb_status otherwise,
                            cb_extremal *e) {
  double g[CB_GROUP_SIZE], size = 0, length = 0, turned[CB_GROUP_DIM];
  const bool farthest = p->o->seek == CB_SEEK_TARGET && !isfinite(p->o->length), given = p->o->seek == CB_SEEK_COST;
  cb_status status = cb_holonomy(p->o->bundle, start, 0, g, NULL, &p->begin[1]);
  if (!status) status = size_of_target(p, g, given ? cb_gait_target_get(p->G, &p->target) : amount, &size);
  if (status) return status;
  for (int a = 0; a < p->dim; a++) length = hypot(length, lambda[a]);
  if (otherwise && !(length * size > large * p->begin[1])) return otherwise;
  p->homogeneous = true;
  p->weight = p->begin[1] / size;
  const double norm = farthest ? length / p->weight : hypot(1, length / p->weight);
  if (!(norm > 0)) return cb_fail(CB_ERROR_ARGUMENT, "the multiplier of an extremal is 0");
  for (int a = 0; a < p->dim; a++) turned[a] = lambda[a] / norm;
  p->begin[0] = 1 / norm;
  if (farthest) return abnormal_solve(p, start, turned, amount, e);
  status = bounds_solve(p, start, turned, amount, e);
  if (status <= 0 || !given || p->begin[0] > small) return status;
  cb_arena_free(e->arena);
  *e = (cb_extremal){0};
  status = slacken(p, g, turned);
  if (!status) status = abnormal_solve(p, start, turned, size, e);
  if (status || asked(p, e)) return status;
  return cb_fail(CB_STEP_NO_CONVERGENCE, "no extremal near: the most of the target there is %.12g", e->amount);
}
