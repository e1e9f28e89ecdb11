/* The largest Lyapunov exponent of a motion, lim (1/t) log |w(t)| for t -> infinity, from the variational equation of
 * the integrator itself. The derivative of each step maps a tangent vector w:
 *
 *   w -> D Phi_h(z) w = (Phi_h(z + e w) - Phi_h(z - e w))/(2 e) + O(e^2),   |w| is reset to 1 after each step
 *
 * Phi_h is one step of length h, D Phi_h(z) its derivative at the state z. With e = 1e-6 each step determines w to
 * about 1e-9, for any system. z contains the coordinates and momenta of particles; for a body in a fluid it contains
 * the pose, moved by exp(xi), and the momentum in the body frame, in units of the radius of gyration r and of the
 * momentum at the start or m sqrt(g r), whichever is larger (m: mass, g: gravity). The exponent is 0 if neighbouring
 * motions neither separate nor approach exponentially: for example for a displacement along the motion itself, or of
 * the starting position of a body. Source: Benettin, Galgani, Giorgilli & Strelcyn, Meccanica 15 (1980) 9,
 * doi:10.1007/BF02128236.
 */
#pragma once

#include <curvebody/run.h>
#include "core/arena.h"

typedef struct cb_exponent {
  /* error: the standard error of the mean over eight parts of the time. If the growth is a power of the time, value is
   * 0 and error is the growth rate in the last part. */
  double value, error;
  double from, to; /* the times of the measurement */
} cb_exponent;

/* Starts from the state of the run, which stays unchanged, and continues it for a time of at least 64 steps. The first
 * tenth, in which w rotates to the growing direction, does not count. body: index of the body in a fluid.
 * CB_ERROR_UNSUPPORTED for contacts, walls and events, for a floor that reflects, for bodies in a curved space or
 * without momentum and weight, and for gaits; CB_ERROR_ARGUMENT for a shorter time; CB_ERROR_STEP if a step fails. */
cb_status cb_run_exponent(const cb_run *run, int body, double time, cb_exponent *out);

/* --- for a class of motion (cb_motion.tangent) --- */

/* The number e above. */
#define CB_EXPONENT_NUDGE 1e-6

/* A state with a tangent vector. */
typedef struct cb_tangent {
  cb_arena *arena;
  size_t n;
  double *w; /* [n], at the present state */
  /* Makes one step of the state and of w. */
  cb_status (*step)(struct cb_tangent *m, double h);
  void (*free)(struct cb_tangent *m); /* NULL: nothing is freed */
  void *self;
} cb_tangent;

/* Make a tangent vector at the state of a run of particles, or of one body in a fluid. */
cb_status cb_particles_tangent(const cb_run *run, int body, cb_tangent *m);
cb_status cb_fluid_run_tangent(const cb_run *run, int body, cb_tangent *m);
