/* A direct search within walls: without them, or by barriers that fall. */
#include "optimum/direct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Barriers relative to the cost. The last sets how far from a wall a gait that touches it stays; at most `enough` of it
 * is taken where lower ones do not settle, since nodes can slip along the gait without a change. */
static const double first_tau = 1e-2, last_tau = 1e-7, enough_tau = 1e-4, decade = .1;
/* The slope at which a barrier's gait is taken: its error in E is of the order of the square. */
static const double rest = 1e-6;
/* A gait that a wall holds is far nearer to it than this. */
static const double clear = 1e-4;
/* pace E of a free length: small, since it rounds corners that walls leave, but not so that a gait runs round twice. */
static const double pace_share = .05;

/* The greatest amount at any length is nothing without walls. */
static bool longest(const cb_direct *d) { return d->problem->seek == CB_SEEK_TARGET && !isfinite(d->problem->length); }

static void restore(cb_direct *d, const double *c, double amount) {
  memcpy(d->c, c, (size_t)d->v->unknowns * sizeof *c);
  d->amount = amount;
  if (d->problem->seek != CB_SEEK_COST) cb_gait_target_set(d->problem->bundle->group, &d->target, amount);
}

/* The gait of the barrier as it is, from c; z goes on from the one before. */
static cb_status settle(cb_direct *d, bool rough, bool afresh, int most) {
  const double slope = d->enough, off = d->enough_off;
  cb_status status = cb_barrier_at(d->barrier, d->v->r, true);
  if (status) return status;
  cb_barrier_begin(d->barrier, afresh);
  d->enough = fmax(rest, 1e-2 * d->barrier->soft), d->enough_off = rough ? fmax(off, 1e-3 * d->barrier->soft) : off;
  status = cb_direct_settle(d, most);
  d->enough = slope, d->enough_off = off;
  return status;
}

/* From a barrier's gait that no wall holds, the same without it; where there is none near, it stays. */
static cb_status without(cb_direct *d, int most) {
  cb_barrier *b = d->barrier;
  const double tau = b->tau, amount = d->amount;
  double *c = malloc((size_t)d->v->unknowns * sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for a search");
  memcpy(c, d->c, (size_t)d->v->unknowns * sizeof *c);
  b->tau = 0;
  cb_status status = cb_direct_settle(d, most);
  if (status || !(cb_barrier_least(b, d->c) >= 0)) {
    restore(d, c, amount);
    b->tau = tau;
    status = cb_variation_at(d->v, d->c, 0);
    if (!status) status = settle(d, false, true, most);
  }
  free(c);
  return status;
}

/* held: room for the gait of the last barrier that settled. */
static cb_status fall(cb_direct *d, int most, double *held) {
  double amount = d->amount, pace = 0;
  cb_barrier *b = d->barrier, before = {0};
  int iterations = 0;
  cb_status status = cb_barrier_enter(b, d->problem->base, d->c);
  for (double tau = first_tau; !status && tau > last_tau * sqrt(decade); tau *= decade) {
    status = cb_variation_at(d->v, d->c, 0);
    if (status) return status;
    d->pace = pace_share / d->v->cost;
    b->tau = d->problem->seek == CB_SEEK_COST ? tau * d->v->cost : tau, b->soft = tau;
    status = settle(d, tau * sqrt(decade) > enough_tau, tau == first_tau, most);
    iterations += d->iterations;
    if (!status) {
      before = *b, amount = d->amount, pace = d->pace;
      memcpy(held, d->c, (size_t)d->v->unknowns * sizeof *held);
    } else if (status == CB_STEP_NO_CONVERGENCE && before.tau == 0 && !(d->off > 1e-3 * fabs(d->amount))) {
      status = CB_OK; /* the next one may settle, but where the target is beyond reach */
    }
  }
  if (status == CB_STEP_NO_CONVERGENCE && before.tau > 0 && before.soft * sqrt(decade) < enough_tau) {
    restore(d, held, amount);
    b->tau = before.tau, b->soft = before.soft, d->pace = pace;
    status = cb_variation_at(d->v, d->c, 0);
    if (!status) status = settle(d, false, true, most);
  }
  if (!status && !longest(d) && cb_barrier_least(b, d->c) > clear) status = without(d, most);
  d->iterations = iterations;
  return status;
}

cb_status cb_direct_solve(cb_direct *d, int most) {
  cb_barrier *b = d->barrier;
  if (!b) return cb_direct_settle(d, most);
  const double amount = d->amount;
  const size_t unknowns = (size_t)d->v->unknowns;
  double *c = malloc(2 * unknowns * sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for a search");
  memcpy(c, d->c, unknowns * sizeof *c);
  b->tau = 0;
  cb_status status = CB_OK;
  if (longest(d) || cb_direct_settle(d, most) || !(cb_barrier_least(b, d->c) >= 0)) {
    restore(d, c, amount);
    status = fall(d, most, c + unknowns);
  }
  free(c);
  return status;
}

cb_status cb_direct_most(const cb_optimum_problem *problem, const cb_gait *start, int size, double *amount) {
  cb_optimum_problem most = *problem;
  cb_direct *d = NULL;
  most.seek = CB_SEEK_TARGET, most.length = INFINITY;
  cb_status status = cb_direct_create(&most, size, &d);
  if (!status) status = cb_direct_from(d, start);
  if (!status) status = cb_direct_solve(d, 60);
  if (!status) *amount = d->amount;
  cb_direct_free(d);
  return status;
}
