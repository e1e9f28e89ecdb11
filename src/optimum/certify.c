/* Certifies a solution of the direct search as an optimum: refines it, compares it with Wong's equations (extremal.h),
 * and tests the second-order conditions.
 *
 *   index: the number of negative eigenvalues of the second variation of mu E/2 + <nu, c> over gaits at the target,
 *          without the shift of time;  flat: the number of eigenvalues that are 0 to round-off
 * E: cost; mu: its multiplier; c: conditions; nu: their multipliers (direct.h).
 *
 * The second part of this file computes how far a given gait is from an optimum (cb_optimality_of in find.h).
 */
#include "optimum/find.h"

#include "bundle/gait_private.h"
#include "optimum/extremal.h"

#include <math.h>
#include <string.h>

enum {
  SIZE_MAX_OF_BASIS = 64,
  CORNER_DEGREE = 32,
  BOUND_DEGREE = 12,
  STEPS = 40,
  LAST = 2 /* the end of the search for conjugate times; the gait ends at 1 */
};

/* Returns the largest of the last fifth of the coefficients of the rate r', relative to the largest coefficient. It is
 * an estimate of the part of r' that the basis leaves out. The part of r that it leaves out is smaller. */
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

/* Solves the gait of d again on arcs. The arcs end where the gait meets corners of constraints or its bounds. *out is
 * NULL if the gait meets none of these, or if the equations have no solution. */
static cb_status edge(cb_direct *d, cb_direct **out) {
  const cb_optimum_problem *p = d->problem;
  if (d->effort) return CB_OK;
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
  if (d->effort) (*out)->coarse = d->effort->cost;
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
      d->coarse = INFINITY;
      return status == CB_ERROR_MEMORY ? status : CB_OK;
    }
    cb_direct_free(d);
    *at = other;
    if (last) return CB_OK;
  }
  return status;
}

/* Computes shape, rate and momentum p = M r' + <lambda, A> (extremal.h) at the start of the gait. */
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

/* Replaces the gait of *o by that of the extremal. Along bounds the extremal is exact, but a gait with a barrier is
 * not. */
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

/* Returns whether lambda X/E is above 1e5, where lambda is the largest component of the multiplier, E the cost, and X
 * the amount or the largest component of log g(1). This ratio is about 1 for a small gait. It grows without limit as
 * the gait approaches one at which no change of the gait changes its holonomy. */
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

/* Returns false if the gait is held by a barrier and its extremal violates a constraint. This can happen because Wong's
 * equations include the bounds, but not the condition that lines of the plot may not cross. */
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

/* Solves Wong's equations, starting from the members gait, cost and lambda of *o, and writes the results to *o. Wong's
 * equations are not used if the gait crosses breaks, if it has several corners, or if it has a corner and a given start
 * shape. Their solution is not used if its cost differs from that of the gait by more than the relative difference
 * `near`, or if it violates a constraint. */
static cb_status solve_by_wong(cb_direct *d, cb_optimum *o) {
  /* a gait that was found with a barrier has few functions of time, and is farther from its extremal */
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
  memcpy(o->rate, e->v, n * sizeof *o->rate); /* accurate to round-off, unlike the rate from the gait */
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

/* Computes two changes that twice as many nodes cause for the same gait: the change of the cost, relative to the cost,
 * and the largest change of a number of the holonomy. A body that does not move has the cost 0. */
static cb_status finer_quadrature(const cb_direct *d, double *change) {
  const cb_basis *s = d->basis;
  const cb_group *G = d->problem->bundle->group;
  cb_basis *fine = NULL;
  cb_direct *twice = NULL;
  cb_status status = s->harmonics ? cb_basis_fourier(s->harmonics, 2 * s->panels, &fine)
                                  : cb_basis_arcs(s->arcs, s->end, s->degree, 2 * s->panels, &fine);
  if (!status) status = cb_direct_create_on(d->problem, fine, &twice);
  if (status) return status;
  status = cb_variation_at(twice->v, d->c, 0);
  const double cost = d->effort->cost, other = twice->effort->cost;
  change[0] = other == cost ? 0 : fabs(other / cost - 1);
  change[1] = 0;
  for (int k = 0; k < G->size; k++) change[1] = fmax(change[1], fabs(twice->v->g[k] - d->v->g[k]));
  cb_direct_free(twice);
  return status;
}

/* Fills *o for the cost of torques, to which Wong's equations do not apply. */
static cb_status certify_torques(cb_direct *d, cb_optimum *o) {
  const cb_effort *e = d->effort;
  const size_t n = (size_t)d->v->n;
  cb_status status = judge(d, o);
  o->cost = e->cost;
  o->length = o->wong = o->speed = o->momentum = o->casimir = NAN;
  o->conjugates = -1;
  o->conjugate[0] = o->conjugate[1] = INFINITY;
  o->mechanical = e->mechanical;
  o->basis = d->coarse > 0 ? fabs(d->coarse / e->cost - 1) : NAN; /* infinite after a failed refinement */
  memcpy(o->largest, e->largest, n * sizeof *o->largest);
  memcpy(o->work, e->work, n * sizeof *o->work);
  memcpy(o->g, d->v->g, (size_t)d->problem->bundle->group->size * sizeof *o->g);
  memcpy(o->lambda, d->lambda, (size_t)d->v->dim * sizeof *o->lambda);
  if (!status) status = cb_effort_gait(d->v, d->c, &o->gait);
  if (!status) status = finer_quadrature(d, o->quadrature);
  if (!status) cb_gait_at(o->gait, 0, o->r, o->rate);
  return status;
}

cb_status cb_optimum_certify(cb_direct *d, cb_optimum *o) {
  const cb_group *G = d->problem->bundle->group;
  *o = (cb_optimum){.cost = d->v->cost, .length = sqrt(d->v->cost), .amount = d->amount, .found = 1};
  memcpy(o->g, d->v->g, (size_t)G->size * sizeof *o->g);
  memcpy(o->lambda, d->lambda, (size_t)G->dim * sizeof *o->lambda);
  cb_status status = CB_OK;
  if (d->effort) {
    status = certify_torques(d, o);
    if (status) cb_gait_free(o->gait);
    if (status) o->gait = NULL;
    return status;
  }
  o->abnormal = abnormal(d, o);
  status = cb_basis_gait(d->basis, d->v->n, d->c, &o->gait);
  if (!status) status = start(d, o);
  if (!status) status = judge(d, o);
  if (!status) status = solve_by_wong(d, o);
  if (status) {
    cb_gait_free(o->gait);
    o->gait = NULL;
  }
  return status;
}

/* --- the optimality of a given gait --- */

enum { SIZE_FIRST = 8, SIZE_LAST = 64, FUNCTIONS_MAXIMUM = 300 };

/* A gait counts as stationary if its slope is at most this; arcs along constraints are found less accurately, and have
 * the second tolerance. The relative error of the cost is about the square of the slope. */
static const double stationary = 1e-7, stationary_at_constraints = 1e-6;

/* Sets the target to the holonomy of the gait. */
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

/* Returns the largest difference between the gait of d and a given gait at the nodes. Differences of shapes and
 * differences of rates, divided by the largest rate, are both considered. */
static double distance(const cb_direct *d, const cb_gait *gait) {
  const int n = d->v->n;
  double maximum = 0, fastest = 0, off = 0;
  for (int q = 0; q < d->basis->nodes; q++) {
    double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX];
    cb_gait_at(gait, d->basis->time[q], r, rate);
    for (int i = 0; i < n; i++) {
      maximum = fmax(maximum, fabs(r[i] - d->v->r[q * n + i]));
      off = fmax(off, fabs(rate[i] - d->v->v[q * n + i]));
      fastest = fmax(fastest, fabs(rate[i]));
    }
  }
  return fmax(maximum, fastest > 0 ? off / fastest : 0);
}

/* A gait, prepared for the computation of its optimality. */
typedef struct cut_gait {
  const cb_gait *gait; /* borrowed */
  cb_gait *loop;       /* the gait minus drift*t, which closes after a cycle; owned */
  double drift[CB_SHAPE_MAX];
  int arcs;
  double end[CB_ACTIVE_CONSTRAINT_EDGES_MAX + 1];
  bool at_bounds;
  int crossings;
  cb_crossing crossing[CB_CROSSINGS_MAX];
} cut_gait;

/* Splits the gait into a loop and a drift, which is the number of full periods by which each variable changes in a
 * cycle. */
static cb_status unwind(const cb_bundle *b, cut_gait *c) {
  double back[CB_SHAPE_MAX];
  cb_gait_gap(c->gait, c->drift);
  for (int i = 0; i < b->n; i++) {
    c->drift[i] = b->period[i] > 0 ? b->period[i] * rint(c->drift[i] / b->period[i]) : 0;
    back[i] = -c->drift[i];
  }
  return cb_gait_drifting(c->gait, back, &c->loop);
}

static cb_status cut(const cb_optimum_problem *p, const cb_gait *gait, cut_gait *c) {
  cb_shape_constraints *constraints;
  *c = (cut_gait){.gait = gait};
  cb_status status = cb_shape_constraints_create(p, &constraints);
  if (!status) status = cb_active_constraint_arcs(p->bundle, constraints, gait, &c->arcs, c->end, &c->at_bounds);
  cb_shape_constraints_free(constraints);
  if (!status) status = cb_gait_crossings(p->bundle, gait, &c->crossings, c->crossing);
  return status ? status : unwind(p->bundle, c);
}

/* Creates a search in `size` harmonics if `smooth` is true. Otherwise creates a search on the arcs of c, with
 * polynomials of degree `size` (of degree 2 size if there is only one arc), and with corners at the ends of the arcs.
 */
static cb_status create(const cb_optimum_problem *p, const cut_gait *c, bool smooth, int size, cb_direct **out) {
  if (smooth) return cb_direct_create(p, size, out);
  cb_basis *basis;
  cb_status status = cb_basis_arcs(c->arcs, c->end, c->arcs == 1 ? 2 * size : size, 0, &basis);
  if (!status) status = cb_direct_create_on(p, basis, out);
  if (status) return status;
  status = cb_direct_cross(*out, c->crossings, c->crossing);
  if (status) cb_direct_free(*out);
  return status;
}

/* Fits the gait in as many functions as are needed, or in the maximum number. *fit becomes the distance between the
 * gait and its fit. The functions are harmonics unless the gait has corners, crosses breaks, or is at constraints. */
static cb_status fitted(const cb_optimum_problem *p, const cut_gait *c, cb_direct **out, double *fit) {
  static const double exact = 1e-9, rough = 1e-6;
  bool smooth = !c->at_bounds && !c->crossings && cb_direct_smooth(p);
  for (int size = SIZE_FIRST;; size *= 2) {
    cb_direct *d;
    cb_status status = create(p, c, smooth, size, &d);
    if (status) return status;
    memcpy(d->v->drift, c->drift, sizeof d->v->drift);
    status = cb_direct_from(d, c->loop);
    if (!status) status = cb_variation_at(d->v, d->c, 0);
    if (!status) *fit = distance(d, c->gait);
    const bool last =
        2 * size > (smooth ? SIZE_LAST : SIZE_LAST / 2) || (!smooth && c->arcs * 2 * size > FUNCTIONS_MAXIMUM);
    if (!status && (*fit < exact || (last && !(smooth && *fit > rough)))) {
      *out = d;
      return CB_OK;
    }
    cb_direct_free(d);
    if (status) return status;
    if (last) {
      smooth = false;
      size = SIZE_FIRST / 2;
    }
  }
}

/* Computes the forces of the active constraints of the gait. After this call the slope, the steps and the second
 * variation of d are restricted to changes that the constraints allow. */
static cb_status press(cb_direct *d, const cut_gait *c, cb_optimality *v) {
  cb_active_constraints *active_constraints;
  if (!c->at_bounds) return CB_OK;
  const int unknowns = d->v->unknowns + (d->problem->objective != CB_OBJECTIVE_COST);
  cb_status status =
      cb_active_constraints_create(d->barrier->constraints, d->basis, c->gait, unknowns, &active_constraints);
  if (!status) status = cb_direct_press(d, active_constraints);
  if (status) return status;
  v->active_constraints = active_constraints->count;
  memcpy(v->active_constraint, active_constraints->item, sizeof v->active_constraint);
  return CB_OK;
}

/* Computes the second variation. An active constraint may have no force although the gait does not move away from it.
 * Then the second variation is computed twice: first without these constraints, then with them as equations. */
static cb_status second_variation(cb_direct *d, cb_optimality *v) {
  cb_status status = cb_direct_second_variation(d);
  if (status) return status;
  cb_direct_signs(d, &v->index, &v->flat);
  if (!d->active_constraints || !d->active_constraints->idle) return CB_OK;
  int held, flat;
  d->active_constraints->all = true;
  status = cb_direct_second_variation(d);
  d->active_constraints->all = false;
  if (!status) cb_direct_signs(d, &held, &flat);
  if (!status) v->loose = v->index - held;
  return status;
}

static cb_status check(const cb_optimum_problem *p, const cb_gait *gait) {
  const cb_bundle *b = p->bundle;
  double r[CB_SHAPE_MAX];
  const cb_status status = cb_gait_closed(b, gait);
  if (status) return status;
  cb_gait_at(gait, 0, r, NULL);
  for (int i = 0; p->start_shape && i < b->n; i++)
    if (fabs(r[i] - p->start_shape[i]) > 1e-9 * (1 + fabs(r[i])))
      return cb_fail(CB_ERROR_ARGUMENT, "the gait begins at %s = %.9g: expected the start shape, %.9g", b->shape[i],
                     r[i], p->start_shape[i]);
  return CB_OK;
}

/* Compares a stationary gait with Wong's equations (extremal.h). These equations include bounds of the shape variables,
 * but not the option no_crossing, by which lines of the body's drawing may not cross. A gait at which such lines touch
 * is therefore not compared. */
static void certify_stationary(cb_direct *d, const cut_gait *c, cb_optimality *v) {
  cb_optimum o = {.cost = v->cost};
  for (int k = 0; k < v->active_constraints; k++)
    if (d->barrier->constraints->constraint[v->active_constraint[k].constraint].variable < 0) return;
  memcpy(o.lambda, v->lambda, sizeof o.lambda);
  if (cb_gait_shifted(c->gait, 0, &o.gait)) return;
  if (!solve_by_wong(d, &o)) v->wong = o.wong;
  cb_gait_free(o.gait);
  if (v->active_constraints) return;
  v->conjugates = o.conjugates;
  memcpy(v->conjugate, o.conjugate, sizeof v->conjugate);
}

static cb_status judge_given(cb_direct *d, const cut_gait *c, cb_optimality *v) {
  cb_status status = press(d, c, v);
  if (!status) status = second_variation(d, v);
  if (status) return status;
  memcpy(v->lambda, d->lambda, sizeof v->lambda);
  v->amount = d->amount;
  double uneven;
  v->slope = hypot(d->slope, cb_variation_uneven(d->v, &uneven));
  v->stationary = v->slope <= (v->active_constraints ? stationary_at_constraints : stationary) + 10 * v->fit;
  status = cb_direct_flow(d, &v->gain);
  if (uneven > d->v->cost) v->gain = 1 - (1 - v->gain) * d->v->cost / uneven;
  if (!status && v->stationary) certify_stationary(d, c, v);
  return status;
}

cb_status cb_optimality_of(const cb_optimum_problem *problem, const cb_gait *gait, cb_optimality *v) {
  const cb_group *G = problem->bundle->group;
  cb_optimum_problem p = *problem;
  cut_gait c = {0};
  cb_direct *d;
  *v = (cb_optimality){.wong = NAN, .conjugates = -1, .conjugate = {INFINITY, INFINITY}};
  cb_status status = check(&p, gait);
  if (!status) status = cb_holonomy(p.bundle, gait, 0, v->g, &v->length, &v->cost);
  if (status) return status;
  own_target(G, v->g, &p.target);
  p.objective = problem->objective == CB_OBJECTIVE_EFFICIENCY ? CB_OBJECTIVE_EFFICIENCY : CB_OBJECTIVE_COST;
  status = cut(&p, gait, &c);
  if (!status) status = fitted(&p, &c, &d, &v->fit);
  if (!status) {
    status = judge_given(d, &c, v);
    cb_direct_free(d);
  }
  cb_gait_free(c.loop);
  return status;
}
