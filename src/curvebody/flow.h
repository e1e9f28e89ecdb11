/* The velocity u(x, t) of the undisturbed fluid: uniform, shear, vortex, expressions, or a grid.
 *
 *   uniform      u
 *   shear        u + G x, G the gradient
 *   vortex       Gamma/(2 pi r^2) (1 - exp(-r^2/a^2)) axis × r, r the part of x - centre across the axis, Gamma the
 *                circulation, a the radius of the core (Lamb & Oseen)
 *   expressions  of x, y, z and t
 *   grid         values on a regular grid in space and time, interpolated by cubic splines (with continuous second
 *                derivatives); outside the grid periodic, or constant from the border on
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
/* On CB_ERROR_INPUT, *which (0 to 2) is the component and *at the offset in its text; either may be NULL. */
cb_status cb_flow_expressions(const char *const text[3], size_t n, const char *const *names, const double *values,
                              size_t *which, size_t *at, cb_flow **out);
typedef struct cb_flow_grid {
  /* points along x, y, z, at least 2 each (1: the flow does not depend on this coordinate) */
  int n[3];
  double origin[3], spacing[3];
  int times;              /* number of times; 1: the flow is steady */
  double start, interval; /* the first time, and the distance between times */
  bool periodic[4];       /* periodic in x, y, z (point n is then point 0 again) and t */
  const double *u;        /* [times][n[0]][n[1]][n[2]][3], copied */
} cb_flow_grid;
/* CB_ERROR_ARGUMENT for wrong sizes, CB_ERROR_DOMAIN for a value that is not finite; the message has its indices. */
cb_status cb_flow_from_grid(const cb_flow_grid *grid, cb_flow **out);
void cb_flow_free(cb_flow *f);

bool cb_flow_is_uniform(const cb_flow *f); /* u is the same at all places and times */
bool cb_flow_is_even(const cb_flow *f);    /* at each time u is the same at all places: a gust */
bool cb_flow_is_steady(const cb_flow *f);
/* Computes u[n] at places x[n], gradient[n][i][j] = du_i/dx_j (may be NULL) and rate[n] = du/dt at the place (may be
 * NULL). CB_STEP_NOT_FINITE with the first place where the flow is not finite; outputs are then partly filled. */
cb_status cb_flow_at(const cb_flow *f, double t, int n, const double (*x)[3], double (*u)[3], double (*gradient)[3][3],
                     double (*rate)[3]);

/* CB_ERROR_DOMAIN with a place if the divergence of the flow is 0 at none of 64 sampled places and times, for flows
 * whose gradient is known. Not checked here, but watched by the run: grids, whose divergence is not exactly 0 between
 * grid points, and flows with zero divergence in some places only. */
cb_status cb_flow_check_divergence(const cb_flow *f);

CB_API_END
#endif
