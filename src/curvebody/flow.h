/* The velocity u(x, t) of the fluid where no body is: uniform, shear, vortex, expressions, or a grid.
 *
 *   uniform      u
 *   shear        u + G x
 *   vortex       Gamma/(2 pi r^2) (1 - exp(-r^2/a^2)) axis × r, r the part of x - centre across the axis (Lamb & Oseen)
 *   expressions  of x, y, z and t
 *   grid         values on a regular grid of places, and of times, interpolated by cubic splines (continuous with
 *                their second derivatives); outside the grid periodic, or held as at the border
 * SI units, world axes. Immutable; read from any thread; reading allocates nothing.
 * For users of bodies in a fluid. The caller frees a flow, after the bodies in it.
 */
#ifndef CURVEBODY_FLOW_H
#define CURVEBODY_FLOW_H

#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>

CB_API_BEGIN

typedef struct cb_flow cb_flow;

cb_status cb_flow_uniform(const double u[3], cb_flow **out);
cb_status cb_flow_shear(const double u[3], const double gradient[3][3], cb_flow **out); /* gradient[i][j] = du_i/dx_j */
cb_status cb_flow_vortex(const double centre[3], const double axis[3], double circulation, double core, cb_flow **out);
/* CB_ERROR_INPUT with *which (0 to 2) and *at, the offset in that text; either may be NULL. */
cb_status cb_flow_expressions(const char *const text[3], size_t n, const char *const *names, const double *values,
                              size_t *which, size_t *at, cb_flow **out);
typedef struct cb_flow_grid {
  int n[3];                    /* points along x, y, z: at least 2 (1: the flow does not depend on it) */
  double origin[3], spacing[3];
  int times;                   /* 1: steady */
  double start, interval;      /* of the times */
  bool periodic[4];            /* x, y, z (then point n is point 0 again), t */
  const double *u;             /* [times][n[0]][n[1]][n[2]][3], copied */
} cb_flow_grid;
/* CB_ERROR_ARGUMENT for sizes, CB_ERROR_DOMAIN for a value that is not finite, with its indices. */
cb_status cb_flow_from_grid(const cb_flow_grid *grid, cb_flow **out);
void cb_flow_free(cb_flow *f);

bool cb_flow_is_uniform(const cb_flow *f); /* the same everywhere (and at all times) */
bool cb_flow_is_even(const cb_flow *f);    /* the same everywhere at any one time: a gust */
bool cb_flow_is_steady(const cb_flow *f);
/* u[n] at places x[n], gradient[n][i][j] = du_i/dx_j (NULL) and rate[n] = du/dt at the place (NULL).
 * CB_STEP_NOT_FINITE with the place, the first of them; outputs are then partly filled. */
cb_status cb_flow_at(const cb_flow *f, double t, int n, const double (*x)[3], double (*u)[3], double (*gradient)[3][3],
                     double (*rate)[3]);

/* CB_ERROR_DOMAIN with a place for a flow whose divergence is nowhere 0, as far as it has a gradient. Grids, which are
 * not free of it between their points, and flows that are free of it somewhere are for the run to watch. */
cb_status cb_flow_check_divergence(const cb_flow *f);

CB_API_END
#endif
