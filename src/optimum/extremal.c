/* Solves for an extremal (extremal.h): reads the problem, refines meshes until they resolve the extremal, and reports
 * the result. If variables are held at bounds along arcs of the gait, these arcs are guessed, solved and corrected. If
 * the extremal without bounds goes far beyond the bounds, the bounds are first placed outside of it and then moved to
 * their values in steps. */
#include "optimum/extremal_private.h"

#include "bundle/gait_private.h"
#include <curvebody/holonomy.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Extremals at and near the maximum of their target, and abnormal ones, are solved in homogeneous multipliers
 * (extremal.h): the weight mu of the cost, and lambda, with mu^2 + |lambda/w|^2 = 1. These stay finite, whereas
 * lambda/mu diverges at the maximum and has the opposite sign after it. The scale w is the cost divided by the amount
 * of the target, or divided by |log g| for the holonomy g.
 *
 * If the amount of the target is the maximum, Newton's method meets a double root in mu. With mu = 0 given and the
 * amount free the root is simple, and the resulting amount is compared with the amount of the target. A target without
 * an amount gets a free slack along its multipliers instead.
 */

/* Thresholds. lambda and the weight mu of the cost are explained above. If |lambda amount/cost| is above `large`, the
 * equations are solved again in homogeneous multipliers. A weight mu that is below `small` at the start may become 0. A
 * weight below `none` counts as 0. An amount counts as the maximum if it differs from the maximum by less than `same`,
 * relative to it. */
static const double large = 1, small = .1, none = 1e-8, same = 1e-8;

/* Reports a solution in homogeneous multipliers. The multipliers are divided by the weight mu of the cost unless mu is
 * 0. */
static cb_status homogeneous_report(const extremal_mesh *m, cb_extremal *e) {
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

/* Computes the size of the target: the amount, or |log g| of the holonomy g if there is no amount or it is 0. */
static cb_status size_of_target(const problem *p, const double *g, double amount, double *size) {
  double y[CB_GROUP_DIM];
  *size = fabs(amount);
  if (p->row >= 0 && *size > 0) return CB_OK;
  const cb_status status = p->G->log(p->G, g, y);
  *size = 0;
  for (int a = 0; !status && a < p->dim; a++) *size = hypot(*size, y[a]);
  return status;
}

/* For a target without an amount: sets p->slack, the direction in which the conditions may be violated. It is the
 * direction of the multipliers. */
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

/* --- meshes --- */

/* Returns the tolerance of the last coefficient (mesh_roughness). This coefficient decreases as the power CB_STAGES of
 * the length of a panel, and the error at the nodes is about its square. In homogeneous multipliers the error is the
 * coefficient itself, because v is not a function of the values at the nodes. */
static double roughness(const problem *p) { return p->homogeneous ? 1e-11 : 5e-7; }

/* Returns the factor by which the number of panels has to grow. It is at most 1 if the panels resolve the extremal. */
static double extremal_factor(const extremal_mesh *m) {
  const double factor = pow(mesh_roughness(m) / roughness(m->p), 1. / CB_STAGES);
  return factor > 1 ? 1.1 * factor : factor;
}

/* Solves for the extremal by Newton's method on a mesh, and refines the mesh until it resolves the extremal. */
static cb_status extremal_resolve(extremal_mesh **m) {
  bool rough;
  cb_status status = mesh_solve(*m, roughness((*m)->p), &rough);
  while (!status && rough) {
    extremal_mesh *fine = NULL;
    status = mesh_refine(*m, fmin(extremal_factor(*m), 2), &fine);
    if (status) return status;
    mesh_free(*m);
    *m = fine;
    status = mesh_solve(fine, roughness(fine->p), &rough);
  }
  return status;
}

/* --- the report --- */

static cb_status arrays(const extremal_mesh *m, cb_extremal *e) {
  const size_t panels = (size_t)m->panels, size = (size_t)m->p->size, each = (size_t)m->p->G->size;
  e->arena = cb_arena_create();
  e->end = cb_arena_alloc(e->arena, (size_t)m->arcs + 1, sizeof *e->end);
  e->held = cb_arena_alloc(e->arena, (size_t)m->arcs, sizeof *e->held);
  e->time = cb_arena_alloc(e->arena, panels + 1, sizeof *e->time);
  e->x = cb_arena_alloc(e->arena, (panels + 1) * size, sizeof *e->x);
  e->stage = cb_arena_alloc(e->arena, panels * CB_STAGES * size, sizeof *e->stage);
  e->element = cb_arena_alloc(e->arena, (panels + 1) * each, sizeof *e->element);
  if (!e->end || !e->held || !e->time || !e->x || !e->stage || !e->element)
    return cb_fail(CB_ERROR_MEMORY, "no memory for an extremal");
  memcpy(e->held, m->held, (size_t)m->arcs * sizeof *e->held);
  memcpy(e->x, m->at.x, (panels + 1) * size * sizeof *e->x);
  memcpy(e->stage, m->at.stage, panels * CB_STAGES * size * sizeof *e->stage);
  memcpy(e->element, m->element, (panels + 1) * each * sizeof *e->element);
  for (int a = 0; a < m->arcs; a++) {
    const int count = m->first[a + 1] - m->first[a];
    e->end[a + 1] = a + 1 < m->arcs ? e->end[a] + m->at.duration[a] : 1;
    for (int k = 0; k <= count; k++) e->time[m->first[a] + k] = e->end[a] + (e->end[a + 1] - e->end[a]) * k / count;
  }
  return CB_OK;
}

static cb_status extremal_report(const extremal_mesh *m, cb_extremal *e) {
  const problem *p = m->p;
  const int n = p->n, last = m->panels * p->size;
  double v[CB_SHAPE_MAX];
  e->wong = p->wong;
  e->mu = !p->abnormal;
  e->arcs = m->arcs;
  e->panels = m->panels;
  e->iterations = m->iterations;
  e->wong.speed *= p->abnormal ? m->at.duration[0] : 0;
  e->cost = p->abnormal ? pow(e->wong.speed, 2) : m->cost;
  e->amount = p->row >= 0 ? m->at.amount : NAN;
  memcpy(e->gap, p->gap, sizeof e->gap);
  e->residual = m->residual;
  e->error = pow(mesh_roughness(m), 2);
  memcpy(e->g, m->g1, sizeof e->g);
  memcpy(e->nu, m->at.nu, sizeof e->nu);
  memcpy(e->r, m->at.x, (size_t)n * sizeof *e->r);
  memcpy(e->p, m->at.x + n, (size_t)n * sizeof *e->p);
  memcpy(e->lambda, m->at.x + 2 * n, (size_t)p->dim * sizeof *e->lambda);
  cb_status status = arrays(m, e);
  if (!status && p->homogeneous) return homogeneous_report(m, e);
  if (!status) status = cb_wong_at(&e->wong, m->held[0], m->at.x, &(cb_wong_rates){.v = e->v});
  if (!status) status = cb_wong_at(&e->wong, m->held[m->arcs - 1], m->at.x + last, &(cb_wong_rates){.v = v});
  for (int i = 0; !status && i < n; i++) e->jump[i] = e->v[i] - v[i];
  return status ? status : extremal_invariants(m, e);
}

/* --- arcs along bounds --- */

/* Finds, on a grid of times, the sets of shape variables that are held at their bounds. They are found from a gait, or
 * from an extremal that may have wrong arcs.
 *
 * From a gait: a variable is held where the gait is at its bound or beyond. From an extremal: a variable is held on a
 * held arc where the bound pushes, and on a free arc where the extremal is beyond the bound. The force k of the bound
 * is an additional term of Wong's equations (extremal.h):
 *   p_i' = v'd_iM v/2 + <lambda, d_iA v> + k
 * For a minimum of the cost k >= 0 at an upper bound (like a string over an obstacle), and k <= 0 at a lower bound.
 */

static double least(const problem *p, int i) { return p->o->lower ? p->o->lower[i] : -INFINITY; }
static double maximum(const problem *p, int i) { return p->o->upper ? p->o->upper[i] : INFINITY; }

/* Returns the set of variables that are held at a bound: those with excess[i] >= 0, where excess[i] is the distance of
 * variable i beyond its bound, or the force of the bound. If this would hold all variables, the one with the smallest
 * excess stays free. */
static unsigned set_of(int n, const double *excess) {
  unsigned set = 0;
  int last = 0;
  for (int i = 0; i < n; i++) {
    if (excess[i] >= 0) set |= 1u << i;
    if (excess[i] < excess[last]) last = i;
  }
  return set == (1u << n) - 1 ? set & ~(1u << last) : set;
}

/* Fills mark[CB_MARKS], the sets of variables at bounds at the times (k + 1/2)/CB_MARKS. */
static void bounds_of_gait(const problem *p, const cb_gait *start, unsigned *mark) {
  static const double near =
      /* A variable within this distance of a bound counts as at the bound, because a gait may meet a bound only at its
       * nodes. The distance is relative to the smaller of 1 and the distance between the bounds. */
      1e-3;
  for (int k = 0; k < CB_MARKS; k++) {
    double r[CB_SHAPE_MAX], excess[CB_SHAPE_MAX];
    cb_gait_at(start, (k + .5) / CB_MARKS, r, NULL);
    for (int i = 0; i < p->n; i++) {
      const double slack = near * fmin(1, maximum(p, i) - least(p, i));
      excess[i] = fmax(r[i] - maximum(p, i), least(p, i) - r[i]) + slack;
    }
    mark[k] = set_of(p->n, excess);
  }
}

/* Consecutive arcs. The same variables are held along the whole of an arc. */
typedef struct arcs {
  int count;
  double duration[CB_ARCS_MAX];
  unsigned held[CB_ARCS_MAX];
} arcs;

static cb_status bounds_arcs(const unsigned *mark, arcs *a) {
  a->count = 0;
  for (int k = 0; k < CB_MARKS; k++) {
    if (k > 0 && mark[k] == a->held[a->count - 1]) {
      a->duration[a->count - 1] += 1. / CB_MARKS;
      continue;
    }
    if (a->count == CB_ARCS_MAX)
      return cb_fail(CB_STEP_NO_CONVERGENCE, "the gait meets its bounds more than %d times: try wider bounds",
                     CB_ARCS_MAX / 2);
    a->held[a->count] = mark[k];
    a->duration[a->count++] = 1. / CB_MARKS;
  }
  return CB_OK;
}

/* For each arc of m and each variable that is held along the arc, sets the value of the bound that holds it: the lower
 * or the upper bound, whichever is nearer to the shape of the gait `start` at the middle of the arc. */
static void bounds_set(extremal_mesh *m) {
  for (int a = 0; a < m->arcs; a++)
    for (int i = 0; i < m->p->n; i++) {
      if (!(m->held[a] >> i & 1)) continue;
      double r[CB_SHAPE_MAX], t = m->at.duration[a] / 2;
      for (int b = 0; b < a; b++) t += m->at.duration[b];
      cb_gait_at(m->start, t, r, NULL);
      m->bound[a][i] = r[i] - least(m->p, i) < maximum(m->p, i) - r[i] ? least(m->p, i) : maximum(m->p, i);
    }
}

/* Computes excess[n] at x: for a free variable its distance beyond its bound, for a held variable the force of its
 * bound, both in scaled units. If a held variable has a negative excess, its bound pulls and the variable has to be
 * released. */
static cb_status excesses(const extremal_mesh *m, int a, const double *x, double *excess) {
  static const double slack = 1e-7;
  const problem *p = m->p;
  double force[CB_SHAPE_MAX];
  const cb_status status = cb_wong_bound_force(&p->wong, m->held[a], x, force);
  for (int i = 0; i < p->n; i++) {
    const bool at_maximum = m->bound[a][i] == maximum(p, i);
    if (m->held[a] >> i & 1)
      excess[i] = (at_maximum ? force[i] : -force[i]) / m->pscale[i] + slack;
    else
      excess[i] = fmax(x[i] - maximum(p, i), least(p, i) - x[i]) / m->rscale[i] - slack;
  }
  return status;
}

/* Computes the sets of held variables (marks, as in bounds_of_gait) of a solution. *kept becomes true if each mark is
 * the set that is held on the arc of m at that time. */
static cb_status bounds_check(const extremal_mesh *m, unsigned *mark, bool *kept) {
  *kept = true;
  double begin = 0;
  int a = 0;
  for (int k = 0; k < CB_MARKS; k++) {
    const double t = (k + .5) / CB_MARKS;
    double x[CB_WONG_MAX], excess[CB_SHAPE_MAX];
    while (a + 1 < m->arcs && t >= begin + m->at.duration[a]) begin += m->at.duration[a++];
    mesh_sample(m, a, (t - begin) / m->at.duration[a], x);
    const cb_status status = excesses(m, a, x, excess);
    if (status) return status;
    mark[k] = set_of(m->p->n, excess);
    *kept = *kept && mark[k] == m->held[a];
  }
  return CB_OK;
}

/* Creates a mesh on arcs of these durations, with `dense` panels per unit of time. Newton's method will start from the
 * gait. */
static cb_status begin(const problem *p, const arcs *on, double dense, const cb_gait *start, const double *lambda,
                       double amount, extremal_mesh **out) {
  enum { LEAST = 2 };
  int panels[CB_ARCS_MAX];
  for (int a = 0; a < on->count; a++) panels[a] = (int)fmax(LEAST, ceil(dense * on->duration[a]));
  cb_status status = mesh_create(p, on->count, panels, on->held, out);
  if (status) return status;
  extremal_mesh *m = *out;
  memcpy(m->at.duration, on->duration, (size_t)on->count * sizeof *on->duration);
  m->start = start;
  bounds_set(m);
  status = mesh_start(m, lambda, amount);
  return status ? status : panels_evaluate(m, &m->at, false);
}

/* Solves for an extremal on the arcs that the marks describe. The first mesh has as many panels as are needed to
 * resolve the rates along the start. */
static cb_status solve_arcs(const problem *p, const unsigned *mark, const cb_gait *start, const double *lambda,
                            double amount, extremal_mesh **out) {
  enum { PANELS = 4 };
  arcs on;
  extremal_mesh *m = NULL;
  cb_status status = bounds_arcs(mark, &on);
  if (!status) status = begin(p, &on, PANELS, start, lambda, amount, &m);
  const double factor = status ? 1 : extremal_factor(m);
  if (factor > 1) {
    mesh_free(m);
    m = NULL;
    status = begin(p, &on, PANELS * fmin(factor, 4), start, lambda, amount, &m);
  }
  if (!status) status = extremal_resolve(&m);
  if (status)
    mesh_free(m);
  else
    *out = m;
  return status;
}

/* Solves for an extremal and corrects its arcs until all bounds push and no bound is crossed. Returns
 * CB_STEP_NO_CONVERGENCE after 12 rounds. */
static cb_status bounds_solve(const problem *p, const cb_gait *start, const double *lambda, double amount,
                              cb_extremal *e) {
  enum { ROUNDS = 12 };
  unsigned mark[CB_MARKS] = {0};
  const bool bounded = p->o->lower || p->o->upper;
  cb_gait *own = NULL;
  bool kept = false;
  cb_status status = CB_OK;
  if (bounded) bounds_of_gait(p, start, mark);
  for (int round = 0; !status && !kept && round < ROUNDS; round++) {
    extremal_mesh *m = NULL;
    status = solve_arcs(p, mark, own ? own : start, lambda, amount, &m);
    kept = !bounded;
    if (!status && bounded) status = bounds_check(m, mark, &kept);
    if (!status) {
      cb_arena_free(e->arena);
      *e = (cb_extremal){0};
      status = extremal_report(m, e);
    }
    mesh_free(m);
    if (status || kept) break;
    cb_gait_free(own);
    own = NULL;
    status = cb_extremal_gait(e, &own);
    lambda = e->lambda;
    amount = e->amount;
  }
  cb_gait_free(own);
  return status || kept
             ? status
             : cb_fail(CB_STEP_NO_CONVERGENCE,
                       "arcs along bounds did not converge in %d rounds: try another start or wider bounds", ROUNDS);
}

/* Copies the bounds of o to lower and upper. If an extremal with the range low .. high exceeds a bound, the copy of
 * this bound is moved towards the range: it is at the fraction `share` of the way from the end of the range to the
 * bound. Returns true if any bound is exceeded. */
static bool bring(const cb_optimum_problem *o, const double *low, const double *high, double share, double *lower,
                  double *upper) {
  bool beyond = false;
  for (int i = 0; i < o->bundle->n; i++) {
    lower[i] = o->lower ? o->lower[i] : -INFINITY;
    upper[i] = o->upper ? o->upper[i] : INFINITY;
    beyond = beyond || low[i] < lower[i] || high[i] > upper[i];
    if (low[i] < lower[i]) lower[i] = low[i] + share * (lower[i] - low[i]);
    if (high[i] > upper[i]) upper[i] = high[i] + share * (upper[i] - high[i]);
  }
  return beyond;
}

static void extent(const cb_extremal *e, double *low, double *high) {
  const int size = e->wong.size;
  for (int i = 0; i < e->wong.n; i++) {
    low[i] = high[i] = e->r[i];
    for (int s = 0; s < e->panels * CB_STAGES; s++) {
      low[i] = fmin(low[i], e->stage[s * size + i]);
      high[i] = fmax(high[i], e->stage[s * size + i]);
    }
  }
}

/* Solves for an extremal without bounds, and then again while the bounds move to their values in steps. */
static cb_status bounds_tighten(const problem *p, const cb_gait *start, const double *lambda, double amount,
                                cb_extremal *e) {
  static const double least = 1. / 64;
  double lower[CB_SHAPE_MAX], upper[CB_SHAPE_MAX], low[CB_SHAPE_MAX], high[CB_SHAPE_MAX], done = 0, step = 1. / 4;
  cb_optimum_problem within = *p->o;
  problem q = *p;
  within.lower = within.upper = NULL;
  q.o = &within;
  cb_status status = bounds_solve(&q, start, lambda, amount, e);
  if (status) return status;
  extent(e, low, high);
  if (!bring(p->o, low, high, 1, lower, upper)) return CB_OK;
  within.lower = lower;
  within.upper = upper;
  while (!status && done < 1) {
    const double share = fmin(1, done + step);
    cb_extremal next = {0};
    cb_gait *from = NULL;
    bring(p->o, low, high, share, lower, upper);
    status = cb_extremal_gait(e, &from);
    if (!status) status = bounds_solve(&q, from, e->lambda, e->amount, &next);
    cb_gait_free(from);
    if (!status) {
      cb_arena_free(e->arena);
      *e = next;
      done = share;
      step *= 1.5;
      continue;
    }
    cb_arena_free(next.arena);
    if (status > 0 && (step /= 2) >= least) status = CB_OK;
  }
  return status <= 0
             ? status
             : cb_fail(CB_STEP_NO_CONVERGENCE,
                       "no extremal was found within the bounds: moving the bounds in steps from the extremal without "
                       "bounds stopped at %.3g of the way, at cost %.9g; try wider bounds or another start",
                       done, e->cost);
}

/* --- solution --- */

/* Solves for an abnormal extremal (the weight mu of the cost is 0). lambda is scaled to the length p->weight, and the
 * sign of the velocity is chosen so that it agrees with the velocity of the start. */
static cb_status abnormal_solve(problem *p, const cb_gait *start, const double *lambda, double amount, cb_extremal *e) {
  const int n = p->n;
  double x[CB_WONG_MAX] = {0}, rate[CB_SHAPE_MAX], v[CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX], size = 0, along = 0;
  double scaled[CB_GROUP_DIM];
  for (int a = 0; a < p->dim; a++) size = hypot(size, lambda[a]);
  for (int a = 0; a < p->dim; a++) x[2 * n + a] = scaled[a] = lambda[a] * p->weight / size;
  p->homogeneous = false;
  p->abnormal = p->amount_free = true;
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

/* Returns whether the abnormal extremal meets the target, with an error of at most 1e-8 of the size of the target. */
static bool asked(const problem *p, const cb_extremal *e) {
  double c[CB_CONDITIONS_MAX], size;
  if (cb_gait_target_at(p->G, &p->target, e->g, c, NULL, NULL) || size_of_target(p, e->g, e->amount, &size))
    return false;
  for (int k = 0; k < p->count; k++)
    if (fabs(c[k]) > same * size) return false;
  return true;
}

/* Solves in homogeneous multipliers. The extremal is abnormal if the problem requires that, or if an abnormal extremal
 * has the amount of the target. If `otherwise` is an error and lambda is not large, returns `otherwise`. */
static cb_status homogeneous_solve(problem *p, const cb_gait *start, const double *lambda, double amount,
                                   cb_status otherwise, cb_extremal *e) {
  double g[CB_GROUP_SIZE], size = 0, length = 0, turned[CB_GROUP_DIM];
  const bool farthest = p->o->objective == CB_OBJECTIVE_TARGET && !isfinite(p->o->length),
             given = p->o->objective == CB_OBJECTIVE_COST;
  cb_status status = cb_holonomy(p->o->bundle, start, 0, g, NULL, &p->begin[1]);
  if (!status) status = size_of_target(p, g, given ? cb_gait_target_get(p->G, &p->target) : amount, &size);
  if (status) return status;
  for (int a = 0; a < p->dim; a++) length = hypot(length, lambda[a]);
  if (otherwise && !(length * size > large * p->begin[1])) return otherwise;
  p->homogeneous = true;
  p->weight = p->begin[1] / size;
  const double norm = farthest ? length / p->weight : hypot(1, length / p->weight);
  if (!(norm > 0)) return cb_fail(CB_ERROR_ARGUMENT, "the multiplier of an extremal is 0: expected a nonzero lambda");
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
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "no extremal was found nearby: the maximum amount of the target there is %.12g; try a smaller amount",
                 e->amount);
}

static cb_status ask(const cb_optimum_problem *o, problem *p) {
  const cb_group *G = o->bundle->group;
  *p = (problem){.o = o, .G = G, .target = o->target, .n = o->bundle->n, .dim = G->dim, .free = !o->start_shape};
  cb_wong_init(&p->wong, o->bundle);
  p->size = p->wong.size;
  p->count = cb_gait_target_count(G, &p->target);
  p->row = cb_gait_target_amount(G, &p->target);
  p->amount_free = o->objective != CB_OBJECTIVE_COST;
  p->shifts = p->free && (G->abelian || o->target.kind == CB_GAIT_MOVE || o->target.kind == CB_GAIT_TURN);
  if (p->amount_free && p->row < 0)
    return cb_fail(
        CB_ERROR_ARGUMENT,
        "the target has no amount that could be maximised: expected a distance, an angle, or one nonzero number");
  return cb_tableau_gauss(CB_STAGES, &p->gauss);
}

static cb_status check(const cb_optimum_problem *o, const cb_gait *start, const double *lambda) {
  const int n = o->bundle->n;
  if (cb_gait_variables(start) != n)
    return cb_fail(CB_ERROR_ARGUMENT, "the gait has %d shape variables: expected those of bundle %s, %d",
                   cb_gait_variables(start), o->bundle->class_->name, n);
  for (int a = 0; a < o->bundle->group->dim; a++)
    if (!isfinite(lambda[a]))
      return cb_fail(CB_ERROR_ARGUMENT, "a multiplier of an extremal is not finite: expected finite numbers");
  return CB_OK;
}

cb_status cb_extremal_solve(const cb_optimum_problem *o, const cb_gait *start, const double *lambda, double amount,
                            cb_extremal **out) {
  problem p;
  cb_extremal *e = calloc(1, sizeof *e);
  cb_status status = e ? check(o, start, lambda) : cb_fail(CB_ERROR_MEMORY, "no memory for an extremal");
  if (!status) status = ask(o, &p);
  if (!status) cb_gait_gap(start, p.gap);
  const bool farthest = o->objective == CB_OBJECTIVE_TARGET && !isfinite(o->length);
  if (!status && !farthest) status = bounds_solve(&p, start, lambda, amount, e);
  if (status > 0 && (o->lower || o->upper))
    status = bounds_tighten(&p, start, lambda, amount, e);
  else if (status > 0 || (!status && farthest))
    status = homogeneous_solve(&p, start, lambda, amount, status, e);
  if (status) {
    cb_extremal_free(e);
    return status;
  }
  *out = e;
  return CB_OK;
}

void cb_extremal_free(cb_extremal *e) {
  if (e) cb_arena_free(e->arena);
  free(e);
}
