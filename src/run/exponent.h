/* The largest Lyapunov exponent of a motion, lim (1/t) log |w(t)|, by the method's own variational equation: a tangent
 * vector w is carried by the derivative of each step,
 *
 *   w -> D Phi_h(z) w = (Phi_h(z + e w) - Phi_h(z - e w))/(2 e) + O(e^2),   |w| = 1 again after each step
 *
 * with e = 1e-6: w is right to about 1e-9 a step, whatever the system is made of. z: coordinates and momenta of
 * particles; of a body in a fluid the pose, moved by exp(xi), and the momentum in its frame, by its radius of gyration
 * r and its momentum at the start or m sqrt(g r). Where what is near stays near but does not come together, as along
 * the motion itself or where the body only begins elsewhere, the exponent is 0.
 * Source: Benettin, Galgani, Giorgilli & Strelcyn, Meccanica 15 (1980) 9, doi:10.1007/BF02128236.
 */
#pragma once

#include <curvebody/run.h>
#include "core/arena.h"

typedef struct cb_exponent {
  /* error: standard error of the mean of eight parts of the time; of growth by a power of the time, for which value is
   * 0, the rate of the last part */
  double value, error;
  double from, to;     /* times */
} cb_exponent;

/* From the run's state, which is left as it is, over a time of at least 64 of its steps, of which the first tenth does
 * not count: w turns to where it grows. body: of bodies in a fluid. CB_ERROR_UNSUPPORTED for contacts, walls and
 * events, a floor that reflects, gaits. */
cb_status cb_run_exponent(const cb_run *run, int body, double time, cb_exponent *out);

/* A motion with a tangent vector, as exponent.c carries it: shared with the files of the two kinds. */

#define CB_EXPONENT_NUDGE 1e-6

typedef struct cb_tangent {
  cb_arena *arena;
  size_t n;
  double *w; /* [n] at the state */
  /* One step of the state and of w. */
  cb_status (*step)(struct cb_tangent *m, double h);
  void (*free)(struct cb_tangent *m);
  void *self;
} cb_tangent;

/* From a copy of the run's state; m->free, if it is there, is called on failure too. */
cb_status cb_tangent_of_particles(const cb_run *run, cb_tangent *m);
cb_status cb_tangent_of_body(const cb_run *run, int body, cb_tangent *m);
