/* Iterations for the stages of one step: one loop, ended by the rule of a method.
 *
 * An iteration that changes the stages by delta and contracts by rho leaves an error of delta rho/(1-rho), and ends
 * when that is below what is asked for, or when the changes are noise and contract no more. Source: Hairer, McLachlan &
 * Razakarivony, Achieving Brouwer's law with implicit Runge-Kutta methods, BIT 48 (2008) 231,
 * doi:10.1007/s10543-008-0170-3.
 */
#pragma once

#include <curvebody/integrator.h>

#include <float.h>

/* What one iteration did: how far it moved the stages (the largest change, the largest move in the step, the largest
 * coordinate, the largest change of a multiplier), and what is known of the ones before. */
typedef struct cb_stage_change {
  double change, size, position, multiplier;
  int iteration;   /* counted from 1 */
  double before;   /* the last change; infinite in the first iteration */
  double relative; /* change/size; while the iteration is made, that of the last one */
  double rho;      /* contraction: change/before unless the iteration measured it; -1: not measured */
  bool noise;      /* told by the iteration where `change` is not a move of the stages */
} cb_stage_change;

/* A few units of round-off of the moves in a step, or `units` of the coordinates, at which forces are evaluated. */
static inline bool cb_stage_change_is_noise(const cb_stage_change *c, double units) {
  return c->change <= 256 * DBL_EPSILON * c->size || c->change <= units * DBL_EPSILON * c->position;
}
/* Whether Newton's matrix is to be made: old factors cut the change by about their own relative age, so that below 1e-5
 * one iteration more with them reaches round-off. */
static inline bool cb_stage_change_asks_matrix(const cb_stage_change *c) {
  return c->iteration == 1 || c->relative > 1e-5;
}

typedef enum cb_stage_end { CB_STAGE_ON, CB_STAGE_ENDED, CB_STAGE_LOST } cb_stage_end;

typedef struct cb_iteration cb_iteration;
struct cb_iteration {
  const char *name, *what, *advice; /* for errors: of the method; what stands at the last size; what may do better */
  cb_status (*pass)(void *method, cb_stage_change *c);
  cb_stage_end (*end)(const cb_iteration *how, const cb_stage_change *c);
  double target;       /* relative to the largest move in the step */
  double noise;        /* what the stage equations do not resolve: see the rule */
  double rounding;     /* what they do not, relative to the largest move in the step */
  double stall, lost;  /* contraction above which noise contracts no more, and above which all is lost */
  int most;            /* iterations */
  double *contraction; /* as last measured, 0: not yet; NULL: not kept from step to step */
};
#define CB_FIXED_POINT \
  "the fixed-point iteration stands at a relative change", "a smaller step or `solver: newton` may do"
#define CB_NEWTON "Newton's method stands at a relative change", "a smaller step may do"

/* Iterates until the rule ends it, and says in `in` how far it came. */
cb_status cb_iterate(const cb_iteration *how, cb_integrator *in, void *method);

/* The error by the contraction is below the target; noise: units of cb_stage_change_is_noise. */
cb_stage_end cb_end_by_contraction(const cb_iteration *how, const cb_stage_change *c);
/* The change is below the target, or below 1e-12 or `rounding` of the largest move or `noise` and falls no longer. */
cb_stage_end cb_end_by_change(const cb_iteration *how, const cb_stage_change *c);

/* sum[count] = h sum_j a_j value_j over s stages, value_j being `stride` apart */
void cb_stage_sum(size_t count, int s, double h, const double *a, const double *value, size_t stride, double *sum);
/* Moves of a stage from x0 become those in `next`; notes how far they change, and returns the sum of the changes, which
 * is not finite once one of them is not. */
double cb_stage_move(size_t count, const double *next, const double *x0, double *moves, cb_stage_change *c);

/* CB_STEP_NOT_FINITE */
cb_status cb_stage_not_finite(const char *name, int iteration);
