/* Extremals along bounds: arcs are guessed, solved and corrected; bounds far within a gait are brought there. */
#include "optimum/extremal_private.h"

#include <math.h>
#include <string.h>

/* The start on arcs of these durations, with `dense` panels to the whole time. */
static cb_status begin(const problem *p, int arcs, const double *duration, const unsigned *held, double dense,
                       const cb_gait *start, const double *lambda, double amount, extremal_mesh **out) {
  enum { LEAST = 2 };
  int panels[CB_ARCS_MAX];
  for (int a = 0; a < arcs; a++) panels[a] = (int)fmax(LEAST, ceil(dense * duration[a]));
  cb_status status = mesh_create(p, arcs, panels, held, out);
  if (status) return status;
  extremal_mesh *m = *out;
  memcpy(m->at.duration, duration, (size_t)arcs * sizeof *duration);
  m->start = start;
  bounds_set(m);
  status = mesh_start(m, lambda, amount);
  return status ? status : panels_evaluate(m, &m->at, false);
}

/* Solved on the arcs that are marked, at first with as many panels as would resolve x' along the start. */
static cb_status solve_arcs(const problem *p, const unsigned *mark, const cb_gait *start, const double *lambda,
                            double amount, extremal_mesh **out) {
  enum { PANELS = 4 };
  int arcs;
  double duration[CB_ARCS_MAX];
  unsigned held[CB_ARCS_MAX];
  extremal_mesh *m = NULL;
  cb_status status = bounds_arcs(mark, &arcs, duration, held);
  if (!status) status = begin(p, arcs, duration, held, PANELS, start, lambda, amount, &m);
  const double factor = status ? 1 : extremal_factor(m);
  if (factor > 1) {
    mesh_free(m);
    m = NULL;
    status = begin(p, arcs, duration, held, PANELS * fmin(factor, 4), start, lambda, amount, &m);
  }
  if (!status) status = extremal_resolve(&m);
  if (status)
    mesh_free(m);
  else
    *out = m;
  return status;
}

/* Arcs are corrected until bounds push and none is crossed. */
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
      status = extremal_tell(m, e);
    }
    mesh_free(m);
    if (status || kept) break;
    cb_gait_free(own);
    own = NULL;
    status = cb_extremal_gait(e, &own);
    lambda = e->lambda, amount = e->amount;
  }
  cb_gait_free(own);
  return status || kept ? status
                        : cb_fail(CB_STEP_NO_CONVERGENCE, "arcs along bounds are not settled in %d rounds", ROUNDS);
}

/* The bounds of o, or of where e goes where that is beyond: a share of the way from these to those. Whether any is
 * beyond. */
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
  within.lower = lower, within.upper = upper;
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
      done = share, step *= 1.5;
      continue;
    }
    cb_arena_free(next.arena);
    if (status > 0 && (step /= 2) >= least) status = CB_OK;
  }
  return status <= 0
             ? status
             : cb_fail(CB_STEP_NO_CONVERGENCE,
                       "no extremal within the bounds: followed from the free one for %.3g of the way, at cost %.9g",
                       done, e->cost);
}
