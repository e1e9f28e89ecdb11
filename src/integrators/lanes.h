/* Steps of several runs at once, one run a lane of a vector: particles joined by at most two springs in E, S or H, by
 * `lobatto` or `rk4`.
 *
 * What a lane does is what its method does alone, operation by operation (integrators/lobatto_embedding.c,
 * lobatto_sweep.c, lobatto_kernel.h, integrators/rk4.c, dynamics/springs_small.c, geometry/quadric.c): same bytes. A
 * lane whose iteration has ended is kept as it is while others go on. A lane that fails is left as it was before the
 * step.
 *
 * The lanes of a group have the same particles, springs, stages and shape of space; masses, stiffnesses, rest lengths,
 * curvature, length of the step, tolerance may differ.
 */
#pragma once

#include <stdbool.h>
#include "integrators/lobatto.h"

enum { CB_LANES_MOST = 8, CB_LANES_STAGES = 5, CB_LANES_SPRINGS = 2 };

typedef struct cb_lanes cb_lanes;

/* How many runs are stepped at once on this processor: 4 or 8; 1: it has no such vectors. */
size_t cb_lanes_width(void);
/* Whether a method can be a lane; whether two can be lanes of one group. */
bool cb_lanes_serve(const cb_integrator *in);
bool cb_lanes_agree(const cb_integrator *a, const cb_integrator *b);
/* Whether the next step of length h may be done in a lane: what the method keeps of steps before is there. */
bool cb_lanes_ready(const cb_integrator *in, double h);

/* Makes *lanes, NULL or of another group, ready for one like `in`, which is borrowed as long as that lives. */
cb_status cb_lanes_prepare(cb_lanes **lanes, const cb_integrator *in);
void cb_lanes_free(cb_lanes *lanes);

/* Begins a group of n lanes, at most the width: each is then to be loaded. */
void cb_lanes_begin(cb_lanes *lanes, size_t n);
/* Takes state and history of one, for steps of length h. */
void cb_lanes_load(cb_lanes *lanes, size_t lane, const cb_integrator *in, const cb_state *state, double h);

/* A step of all lanes. failed: bits of lanes that are left as they were; leave: of those that are to go by themselves
 * from here on; drifted: of those whose origin may have to move (run/particles_recentre.c). */
typedef struct cb_lanes_step {
  unsigned failed, leave, drifted;
} cb_lanes_step;
cb_lanes_step cb_lanes_go(cb_lanes *lanes);

/* Gives back the state of a lane (step and origin are the caller's), with or without its history. failed: in the last
 * step. */
void cb_lanes_store(cb_lanes *lanes, size_t lane, cb_integrator *in, cb_state *state, bool history, bool failed);

/* What the lanes' kernels work on. Number i of lane l stands at [i*width + l]. */
typedef enum cb_lanes_shape {
  CB_LANES_FLAT,
  CB_LANES_CURVED,
  CB_LANES_QUAD
} cb_lanes_shape; /* quad: of lobatto_kernel.h */

typedef struct cb_lanes_kernel {
  size_t width;
  /* One step; bits of lanes that failed. */
  unsigned (*lobatto)(cb_lanes *lanes), (*rk4)(cb_lanes *lanes);
  unsigned (*drifted)(const cb_lanes *lanes);
} cb_lanes_kernel;
extern const cb_lanes_kernel cb_lanes_kernel_avx2, cb_lanes_kernel_avx512;

struct cb_lanes {
  cb_arena *arena;
  const cb_lanes_kernel *kernel;
  bool lobatto, compensated, moves; /* moves: origins do */
  cb_lanes_shape shape;
  size_t lanes; /* in use; the others copy the first */
  int n, k, s, m, components;
  const int *start;        /* of components */
  const cb_system *system; /* of the first */
  double form[4];
  size_t i[CB_LANES_SPRINGS], j[CB_LANES_SPRINGS]; /* first number of a spring's ends */
  const cb_lobatto *tables;                        /* c, b, W, ... */
  double t[CB_LANES_MOST], t_low[CB_LANES_MOST], h[CB_LANES_MOST], K[CB_LANES_MOST], quarter[CB_LANES_MOST],
      tolerance[CB_LANES_MOST];
  int most[CB_LANES_MOST], iterations[CB_LANES_MOST];
  double residual_of[CB_LANES_MOST];
  double *mass;                  /* [n] */
  double *stiffness, *tension;   /* [m] */
  double *x, *x_low, *p, *p_low; /* [n*k] */
  double *X[CB_LANES_STAGES], *D[CB_LANES_STAGES], *F[CB_LANES_STAGES], *G[CB_LANES_STAGES], *old[CB_LANES_STAGES];
  double *off;                            /* [n]: <x,x> - 1/K */
  double *dx, *dp, *sum_x, *sum_p, *at_p; /* of rk4 */
};
