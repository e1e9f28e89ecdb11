/* What the lanes' kernels work on. Number i of lane l stands at [i*width + l]. */
#ifndef CB_INTEGRATORS_LANES_PRIVATE_H
#define CB_INTEGRATORS_LANES_PRIVATE_H

#include "core/arena.h"
#include "integrators/lanes.h"
#include "integrators/lobatto.h"

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

#endif
