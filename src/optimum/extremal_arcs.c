/* Extremals along bounds. Their arcs are guessed, solved and corrected. If bounds are far inside a gait, they are moved
 * to their values in steps. */
#include "optimum/extremal_private.h"

#include <math.h>
#include <string.h>

/* Finds the sets of shape variables that are held at their bounds, on a grid of times, from a gait or from an extremal
 * that may have wrong arcs.
 *
 * From a gait: a variable is held where the gait is at its bound or beyond. From an extremal: a variable is held on a
 * held arc where the bound pushes, and on a free arc where the extremal is beyond the bound. The force k of the bound
 * is an additional term of Wong's equations (wong.h):
 *   p_i' = v'd_iM v/2 + <lambda, d_iA v> + k
 * For a minimum of the cost k >= 0 at an upper bound (like a string over an obstacle), and k <= 0 at a lower bound.
 */

static double least(const problem *p, int i) { return p->o->lower ? p->o->lower[i] : -INFINITY; }
static double maximum(const problem *p, int i) { return p->o->upper ? p->o->upper[i] : INFINITY; }

/* Returns the set of held variables: those with excess >= 0. If all are held, the variable with the smallest excess
 * stays free. */
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
      /* relative to the distance between the bounds, or to 1 if the distance is larger; a gait may meet a bound only at
       * its nodes */
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

/* Consecutive arcs. On each of them the same variables are held. */
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

/* Sets the bounds at which the arcs of m hold variables. */
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

/* Computes the marks (bounds_of_gait) of a solution; *kept: the marks agree with the arcs of m. */
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

/* Creates a mesh on arcs of these durations, with `dense` panels per unit of time, and starts it along the gait. */
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

/* Solves on the arcs of the marks. The first mesh has the number of panels that resolves the rates along the start. */
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

/* Corrects the arcs until their bounds push and no bound is crossed; CB_STEP_NO_CONVERGENCE after 12 rounds. */
cb_status bounds_solve(const problem *p, const cb_gait *start, const double *lambda, double amount, cb_extremal *e) {
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

/* Copies the bounds of o to lower and upper. If the range low .. high of an extremal exceeds a bound, the bound is
 * placed between the range and its own value, at the fraction `share` of the way. Returns true if any bound is
 * exceeded. */
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

cb_status bounds_tighten(const problem *p, const cb_gait *start, const double *lambda, double amount, cb_extremal *e) {
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
