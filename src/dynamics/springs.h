/* Many springs between particles of a space: forces, potential, separations, exact Jacobian.
 *
 *   V = sum over springs of (k/2) (d - D)^2,   c^2 = <x-y, x-y>,   d = 2R asin(c/2R) | 2R asinh(c/2R) | c
 *   grad d = (x - y) / (c sqrt(1 - K c^2/4)),   d' = <grad d, x' - y'>
 *   force on x, raised:  F = -(k (d - D) + gamma d') grad d,   on y:  -F
 *
 * V is taken as a function on the linear space, so F has a normal component, which the methods remove. In a product of
 * factors f: d^2 = sum d_f^2, grad d = sum (d_f/d) grad d_f.
 *
 * A plan is immutable and shared; a cb_springs_work holds the scratch of one caller. Particles are cut into blocks of
 * neighbouring numbers, and a block computes every spring that touches it: springs between blocks are computed on
 * either side, so nothing is shared while forces are summed, and the sums have one order whatever the number of
 * threads: same bytes. Numbers should be local (reorder.h).
 *
 * Vectors have n*k numbers, k = space->embedding, best aligned to 64 bytes. Coincident particles of a spring exert no
 * force: with D = 0 there is none, with D > 0 it has no direction. Antipodal ones give forces that are not finite.
 */
#pragma once

#include <curvebody/system.h>
#include <stddef.h>

typedef struct cb_springs cb_springs;
typedef struct cb_springs_work cb_springs_work;

typedef struct cb_spring {
  int i, j;
  double stiffness, rest, damping;
} cb_spring;

/* A plan for m springs between n particles of `space` in its embedding. Nothing is borrowed. CB_ERROR_ARGUMENT for
 * indices out of range, a spring from a particle to itself, negative rest length, numbers that are not finite;
 * CB_ERROR_UNSUPPORTED in a chart. */
cb_status cb_springs_create(const cb_geometry *space, int n, size_t m, const cb_spring *spring, cb_springs **out);
void cb_springs_free(cb_springs *plan);

/* Scratch for up to `threads` threads (the plan is borrowed). */
cb_status cb_springs_work_create(const cb_springs *plan, int threads, cb_springs_work **out);
void cb_springs_work_free(cb_springs_work *work);

/* Sets force[s] (all n*k numbers) at positions x[s] and velocities v[s] for `stages` stages at once, which reads the
 * springs only once. v may be NULL without damping. The same bytes as stage after stage. */
void cb_springs_force(cb_springs_work *work, int stages, const double *const *x, const double *const *v,
                      double *const *force);

double cb_springs_potential(cb_springs_work *work, const double *x);

/* d[m], in the order of the springs given to cb_springs_create. */
void cb_springs_separation(cb_springs_work *work, const double *x, double *d);

/* Adds dF_i/dx_j to dx and dF_i/dv_j to dv (NULL: not wanted), block by block in the order of `pattern`. v may be NULL
 * without damping. CB_STEP_DOMAIN where the force has no derivative (ends that coincide, with D > 0, or are antipodal),
 * CB_ERROR_ARGUMENT if the pattern lacks a block; some springs are added by then. */
cb_status cb_springs_jacobian(const cb_springs *plan, const cb_pattern *pattern, const double *x, const double *v,
                              double *dx, double *dv);
