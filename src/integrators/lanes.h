/* Makes steps of several runs at once, one run per lane of a vector: particles joined by at most two springs, in flat
 * space, on a sphere or in hyperbolic space, with `lobatto` or `rk4`.
 *
 * A lane performs the same operations as the integrator alone, in the same order (integrators/lobatto_embedding.c,
 * lobatto_sweep.c, lobatto_kernel.h, integrators/rk4.c, dynamics/springs.c, geometry/frame.c), and gives the same bits.
 * A lane whose iteration has ended does not change while others continue. A lane that fails keeps the state from before
 * the step.
 *
 * The lanes of a group have the same particles, springs, stages and shape of space. Masses, stiffnesses, rest lengths,
 * curvature, the length of the step and the tolerance may differ.
 */
#pragma once

#include <stdbool.h>
#include "integrators/lobatto.h"

enum { CB_LANES_MAX = 8, CB_LANES_STAGES = 5, CB_LANES_SPRINGS = 2 };

typedef struct cb_lanes cb_lanes;

/* Returns the number of runs per step on this processor: 4 or 8, or 1 if it does not have the vector instructions for
 * this. */
size_t cb_lanes_width(void);
/* cb_lanes_serve returns whether runs with this integrator can be lanes. cb_lanes_agree returns whether two such runs
 * can be lanes of one group. */
bool cb_lanes_serve(const cb_integrator *in);
bool cb_lanes_agree(const cb_integrator *a, const cb_integrator *b);
/* Returns whether the next step of length h can be made in a lane. This is always so with rk4. With lobatto, the
 * integrator must have the data of a last step of the same length and must not use Newton's method. */
bool cb_lanes_ready(const cb_integrator *in, double h);

/* Prepares *lanes for integrators like `in`. *lanes may be NULL, or made for another group. `in` must exist as long as
 * *lanes is used. Returns CB_ERROR_MEMORY if there is no memory. */
cb_status cb_lanes_prepare(cb_lanes **lanes, const cb_integrator *in);
void cb_lanes_free(cb_lanes *lanes);

/* Begins a group of n lanes, where n is at most cb_lanes_width(). Each must then be loaded. */
void cb_lanes_begin(cb_lanes *lanes, size_t n);
/* Loads the state and history of one lane, for steps of length h. */
void cb_lanes_load(cb_lanes *lanes, size_t lane, const cb_integrator *in, const cb_state *state, double h);

/* The result of a step of all lanes, with one bit per lane. failed: lanes that did not change; leave: lanes that have
 * to continue outside the group; drifted: lanes whose origin may have to move (run/particles_change.c). */
typedef struct cb_lanes_step {
  unsigned failed, leave, drifted;
} cb_lanes_step;
cb_lanes_step cb_lanes_go(cb_lanes *lanes);

/* Stores the state of a lane, with or without its history; the caller sets the members `step` and `origin` of the
 * state. failed: the lane failed in the last step. */
void cb_lanes_store(cb_lanes *lanes, size_t lane, cb_integrator *in, cb_state *state, bool history, bool failed);

/* The data of the kernels, for n particles with k coordinates each, m springs and s stages. Number i of lane l is at
 * [i*width + l]. */
typedef enum cb_lanes_shape {
  CB_LANES_FLAT,
  CB_LANES_CURVED,
  CB_LANES_QUAD
} cb_lanes_shape; /* CB_LANES_QUAD: points have four coordinates, and the integrator is lobatto */

typedef struct cb_lanes_kernel {
  size_t width;
  /* Make one step, and return the bits of the lanes that failed. */
  unsigned (*lobatto)(cb_lanes *lanes), (*rk4)(cb_lanes *lanes);
  unsigned (*drifted)(const cb_lanes *lanes);
} cb_lanes_kernel;
extern const cb_lanes_kernel cb_lanes_kernel_avx2, cb_lanes_kernel_avx512;

struct cb_lanes {
  cb_arena *arena;
  const cb_lanes_kernel *kernel;
  bool lobatto, compensated, moves; /* moves: frames of particles have origins that may move */
  cb_lanes_shape shape;
  size_t lanes; /* number of lanes in use; the other lanes are copies of the first one */
  int n, k, s, m, components;
  const int *start;        /* the first particle of each component */
  const cb_system *system; /* the system of the first lane */
  double form[4];
  size_t i[CB_LANES_SPRINGS], j[CB_LANES_SPRINGS]; /* indices of the first coordinates of the two ends i and j of each
                                                    * spring */
  const cb_lobatto *tables;                        /* the coefficients c, b, W and so on of lobatto.h */
  double t[CB_LANES_MAX], t_low[CB_LANES_MAX], h[CB_LANES_MAX], K[CB_LANES_MAX], quarter[CB_LANES_MAX],
      tolerance[CB_LANES_MAX];
  int maximum[CB_LANES_MAX], iterations[CB_LANES_MAX];
  double residual_of[CB_LANES_MAX];
  double *mass;                  /* [n]: masses of the particles */
  double *stiffness, *tension;   /* [m], one per spring; tension is stiffness times rest length */
  double *x, *x_low, *p, *p_low; /* [n*k]: positions x and momenta p, with their low parts */
  double *X[CB_LANES_STAGES], *D[CB_LANES_STAGES], *F[CB_LANES_STAGES], *G[CB_LANES_STAGES], *old[CB_LANES_STAGES];
  double *off;                            /* [n]: <x,x> - 1/K of each particle, with the curvature K */
  double *dx, *dp, *sum_x, *sum_p, *at_p; /* work arrays of rk4 */
};
