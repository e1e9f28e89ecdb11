/* Certifies a solution of the direct search as an optimum: refines it, compares it with Wong's equations (extremal.h),
 * and tests the second-order conditions.
 *
 *   index: the number of negative eigenvalues of the second variation of mu E/2 + <nu, c> over gaits at the target,
 *          without the shift of time;  flat: the number of eigenvalues that are 0 to round-off
 * E: cost; mu: its multiplier; c: conditions; nu: their multipliers (direct.h).
 */
#include "optimum/extremal.h"
#include "optimum/find.h"

#include <math.h>
#include <string.h>

enum {
  SIZE_MAX_OF_BASIS = 64,
  CORNER_DEGREE = 32,
  BOUND_DEGREE = 12,
  STEPS = 40,
  LAST = 2 /* the end of the search for conjugate times; the gait ends at 1 */
};

/* Returns the largest of the last fifth of the coefficients, relative to the largest of all. The coefficients are those
 * of the rate r', so that the truncated part of the gait itself is smaller than the last of them. */
static double tail(const cb_direct *d) {
  const int f = d->basis->functions, n = d->v->n, arcs = d->basis->harmonics ? 0 : d->basis->arcs;
  const int each = arcs ? d->basis->degree - 1 : f, last = each - (arcs ? each + 1 : f) / 5; /* on arcs each + 1 is the
                                                                                              * degree */
  double maximum = 0, end = 0;
  for (int i = 0; i < n; i++)
    for (int a = 1; a < f; a++) {
      maximum = fmax(maximum, fabs(d->c[i * f + a]));
      if (a >= arcs && (a - arcs) % each >= last) end = fmax(end, fabs(d->c[i * f + a]));
    }
  return maximum > 0 ? end / maximum : 0;
}

static int size_of(const cb_direct *d) { return d->basis->harmonics ? d->basis->harmonics : d->basis->degree / 2; }

/* Solves the gait of d again on arcs that end where the gait meets corners of constraints or its bounds. *out is NULL
 * if the gait meets none of these, or if the equations have no solution. */
static cb_status edge(cb_direct *d, cb_direct **out) {
  const cb_optimum_problem *p = d->problem;
  cb_status status = cb_direct_sharpen(d, CORNER_DEGREE, out);
  if (!*out && status != CB_ERROR_MEMORY && (p->lower || p->upper))
    status = cb_direct_active_bounds(d, BOUND_DEGREE, out);
  return status == CB_ERROR_MEMORY ? status : CB_OK;
}

static cb_status finer(const cb_direct *d, cb_direct **out) {
  cb_gait *gait = NULL;
  cb_status status = cb_basis_gait(d->basis, d->v->n, d->c, &gait);
  if (!status) status = cb_direct_create(d->problem, 2 * size_of(d), out);
  if (!status) status = cb_direct_from(*out, gait);
  if (status) {
    cb_gait_free(gait);
    return status;
  }
  (*out)->amount = d->amount;
  /* Newton's steps suffice, since the start is near the solution */
  (*out)->stationary = !cb_direct_held(d) && !d->problem->flow;
  if (isfinite(d->amount)) cb_gait_target_set(d->problem->bundle->group, &(*out)->target, d->amount);
  status = d->crossings ? cb_direct_multiphase(out, gait, 2 * d->basis->degree, STEPS) : cb_direct_solve(*out, STEPS);
  cb_gait_free(gait);
  return status;
}

cb_status cb_direct_refine(cb_direct **at, bool *settled) {
  static const double small = 1e-6; /* the relative error of the cost is about the square of this tail */
  cb_status status = CB_OK;
  *settled = true;
  while (!status) {
    cb_direct *d = *at, *other = NULL;
    const bool held = cb_direct_held(d);
    const int maximum =
        held || !d->basis->harmonics ? SIZE_MAX_OF_BASIS / 2 : SIZE_MAX_OF_BASIS; /* on arcs: half the degree */
    if (held && !d->crossings) status = edge(d, &other);
    const bool last = other != NULL;
    if (!status && !last) {
      if ((!held && tail(d) <= small) || 2 * size_of(d) > maximum) return CB_OK;
      status = finer(d, &other);
    }
    if (status) {
      cb_direct_free(other);
      *settled = false;
      return status == CB_ERROR_MEMORY ? status : CB_OK;
    }
    cb_direct_free(d);
    *at = other;
    if (last) return CB_OK;
  }
  return status;
}

/* Computes shape, rate and momentum p = M r' + <lambda, A> (wong.h) at the start of the gait. */
static cb_status start(const cb_direct *d, cb_optimum *o) {
  const cb_bundle *b = d->problem->bundle;
  const int n = b->n, dim = b->group->dim;
  double A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX];
  cb_gait_at(o->gait, 0, o->r, o->rate);
  const cb_status status = cb_bundle_connection(b, o->r, A, NULL, M, NULL);
  for (int i = 0; i < n; i++) {
    o->p[i] = 0;
    for (int j = 0; j < n; j++) o->p[i] += M[i * n + j] * o->rate[j];
    for (int a = 0; a < dim; a++) o->p[i] += o->lambda[a] * A[a * n + i];
  }
  return status;
}

static cb_status judge(cb_direct *d, cb_optimum *o) {
  const cb_status status = cb_direct_second_variation(d);
  if (!status) cb_direct_signs(d, &o->index, &o->flat);
  return status;
}

/* Replaces the gait of *o by that of the extremal. A gait with a barrier is not exact along bounds, but the extremal
 * is. */
static cb_status adopt(const cb_group *G, const cb_extremal *e, cb_optimum *o) {
  cb_gait *gait;
  const cb_status status = cb_extremal_gait(e, &gait);
  if (status) return status;
  cb_gait_free(o->gait);
  o->gait = gait;
  o->cost = e->cost;
  o->length = sqrt(e->cost);
  o->amount = e->amount;
  memcpy(o->g, e->g, (size_t)G->size * sizeof *o->g);
  return CB_OK;
}

/* True if lambda X/E is above 1e5 for the multiplier lambda, the cost E, and X the amount or the largest component of
 * log g(1). This ratio is about 1 for a small gait, and diverges where no change of the gait changes its holonomy. */
static bool abnormal(const cb_direct *d, const cb_optimum *o) {
  static const double endless = 1e5;
  const cb_group *G = d->problem->bundle->group;
  double y[CB_GROUP_DIM], far = 0, maximum = 0;
  if (isfinite(o->amount))
    far = fabs(o->amount);
  else if (!G->log(G, o->g, y))
    for (int a = 0; a < G->dim; a++) far = fmax(far, fabs(y[a]));
  for (int a = 0; a < G->dim; a++) maximum = fmax(maximum, fabs(o->lambda[a]));
  return maximum * far > endless * o->cost;
}

/* False if the gait is held by a barrier and its extremal violates a constraint. This can happen because Wong's
 * equations include bounds, but not that lines of the plot may not cross. */
static bool keeps_within(cb_direct *d, const cb_extremal *e) {
  static const double round_off = 1e-9;
  cb_barrier *b = d->barrier;
  cb_gait *gait;
  bool within = true;
  if (!cb_direct_held(d) || d->corners || !b) return true;
  if (cb_extremal_gait(e, &gait)) return false;
  for (int q = 0; within && q < b->basis->nodes; q++) {
    double r[CB_SHAPE_MAX];
    cb_gait_at(gait, b->basis->time[q], r, NULL);
    within = !cb_shape_constraints_at(b->constraints, 0, r, b->trial, NULL, NULL);
    for (int k = 0; within && k < b->constraints->count; k++) within = b->trial[k] > -round_off * b->constraints->size;
  }
  cb_gait_free(gait);
  return within;
}

/* The gait is reported without Wong's equations if it crosses breaks, if it has several corners, or if it has one
 * corner besides a given start shape. This is also so if the equations have no solution whose cost agrees with that of
 * the gait up to the relative difference `near`, or if this solution violates a constraint. */
cb_status cb_optimum_by_wong(cb_direct *d, cb_optimum *o) {
  /* a gait that was found with a barrier, in few functions of time, is farther from its extremal */
  const double near = cb_direct_held(d) ? 2e-2 : 1e-3;
  cb_extremal *e;
  o->wong = o->speed = o->momentum = o->casimir = NAN;
  o->conjugates = -1;
  o->conjugate[0] = o->conjugate[1] = INFINITY;
  if (d->crossings || d->corners > 1 || (d->corners && d->problem->start_shape)) return CB_OK;
  cb_optimum_problem p = *d->problem;
  if (d->corners) p.start_shape = o->r; /* at the corner the momentum jumps, as at a given start shape */
  const cb_status status = cb_extremal_solve(&p, o->gait, o->lambda, d->amount, &e);
  if (status) return status == CB_ERROR_MEMORY ? status : CB_OK;
  if (fabs(e->cost - o->cost) > near * o->cost || !keeps_within(d, e)) {
    cb_extremal_free(e);
    return CB_OK;
  }
  const size_t n = (size_t)d->problem->bundle->n, dim = (size_t)d->problem->bundle->group->dim;
  o->wong = e->cost;
  o->abnormal = o->abnormal || e->mu == 0;
  memcpy(o->r, e->r, n * sizeof *o->r);
  memcpy(o->rate, e->v, n * sizeof *o->rate); /* exact to round-off */
  memcpy(o->p, e->p, n * sizeof *o->p);
  memcpy(o->lambda, e->lambda, dim * sizeof *o->lambda);
  o->speed = e->speed;
  o->momentum = e->momentum;
  o->casimir = e->casimir;
  if (cb_direct_held(d) && !d->corners) {
    const cb_status held = adopt(d->problem->bundle->group, e, o);
    if (held) {
      cb_extremal_free(e);
      return held;
    }
  }
  cb_conjugate c;
  if (d->problem->start_shape && !cb_conjugate_find(d->problem, e, LAST, &c)) {
    o->conjugates = c.count;
    o->conjugate[0] = c.time[0];
    o->conjugate[1] = c.time[1];
  }
  cb_extremal_free(e);
  return CB_OK;
}

cb_status cb_optimum_certify(cb_direct *d, cb_optimum *o) {
  const cb_group *G = d->problem->bundle->group;
  *o = (cb_optimum){.cost = d->v->cost, .length = sqrt(d->v->cost), .amount = d->amount, .found = 1};
  memcpy(o->g, d->v->g, (size_t)G->size * sizeof *o->g);
  memcpy(o->lambda, d->lambda, (size_t)G->dim * sizeof *o->lambda);
  o->abnormal = abnormal(d, o);
  cb_status status = cb_basis_gait(d->basis, d->v->n, d->c, &o->gait);
  if (!status) status = start(d, o);
  if (!status) status = judge(d, o);
  if (!status) status = cb_optimum_by_wong(d, o);
  if (status) {
    cb_gait_free(o->gait);
    o->gait = NULL;
  }
  return status;
}
