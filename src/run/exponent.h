/* The largest Lyapunov exponent of a motion, lim (1/t) log |w(t)| for t -> infinity, from the variational equation of
 * the integrator itself. The derivative of each step maps a tangent vector w:
 *
 *   w -> D Phi_h(z) w = (Phi_h(z + e w) - Phi_h(z - e w))/(2 e) + O(e^2),   |w| is reset to 1 after each step
 *
 * Phi_h is one step of length h, D Phi_h(z) its derivative at the state z. With e = 1e-6 each step determines w to
 * about 1e-9, for any system. For particles z consists of their coordinates and momenta. For a body in a fluid z
 * consists of the pose, which a twist xi displaces by exp(xi), and of the momentum in the body frame, in the units of
 * tangent_units (exponent.c). Bodies that act on each other are one system. The exponent is 0 if neighbouring motions
 * neither separate nor approach exponentially: for example for a displacement along the motion itself, or of the
 * starting position of a body. Source: Benettin, Galgani, Giorgilli & Strelcyn, Meccanica 15 (1980) 9,
 * doi:10.1007/BF02128236.
 */
#pragma once

#include <curvebody/run.h>
#include "core/arena.h"

typedef struct cb_exponent {
  /* value: the exponent, the mean growth rate of log |w|; error: the standard error of the mean over eight equal parts
   * of the time. If |w| grows like a power of the time, value is 0 and error is the growth rate in the last part. */
  double value, error;
  double from, to; /* the times of the measurement */
  bool shared;     /* true: all bodies act on each other and have the same exponent */
} cb_exponent;

/* Measures the exponent of the motion that continues the state of the run for `time`, at least 64 steps. The run itself
 * stays unchanged. The first tenth of the time, in which w rotates to the direction of growth, does not count. body:
 * index of the body in a fluid. Returns CB_ERROR_UNSUPPORTED for runs with contacts, walls, events, laws of controls, a
 * floor that reflects, or joints with friction or limits that reflect. It also returns this error for runs of gaits,
 * and for bodies that are in a curved space, in one run with particles, or without momentum and weight. Returns
 * CB_ERROR_ARGUMENT for less than 64 steps, and CB_ERROR_STEP if a step fails. */
cb_status cb_run_exponent(const cb_run *run, int body, double time, cb_exponent *out);

/* --- for a class of motion (cb_motion.tangent) --- */

/* The displacement e of the differences in the formula at the beginning of this file. */
#define CB_EXPONENT_NUDGE 1e-6

/* A state with a tangent vector. */
typedef struct cb_tangent {
  cb_arena *arena;
  bool shared; /* as in cb_exponent */
  size_t n;
  double *w; /* [n]: the tangent vector at the present state */
  /* Makes one step of length h of the state and of w. */
  cb_status (*step)(struct cb_tangent *m, double h);
  void (*free)(struct cb_tangent *m); /* NULL: nothing is freed */
  void *self;
} cb_tangent;

/* These functions create a state with a tangent vector, from the present state of a run: cb_particles_tangent for runs
 * of particles, cb_fluid_run_tangent for body number `body` of a run of bodies in a fluid. */
cb_status cb_particles_tangent(const cb_run *run, int body, cb_tangent *m);
cb_status cb_fluid_run_tangent(const cb_run *run, int body, cb_tangent *m);
