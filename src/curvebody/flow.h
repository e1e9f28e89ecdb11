/* The velocity u(x, t) of the undisturbed fluid.
 *
 *   flow: {NAME: VALUE}                  a flow of the class NAME; `curvebody list flows` prints the classes
 *   flow: [{NAME: VALUE}, ..]            the sum of several flows
 *
 * A class of flows is one file src/fluid/flows/NAME.c with one const object cb_fluid_flow_NAME, which is for authors of
 * flows (cb_fluid_flow_class; curvebody/plugin.h). Its author writes the velocity once, on jets (curvebody/jet.h), and
 * the library computes all derivatives; a class may give closed forms in addition. The flows of the functions below are
 * those of the built-in classes, where their equations are.
 * SI units, world axes. A flow is immutable and is read from any thread; reading allocates nothing.
 * For users of bodies in a fluid. The caller frees a flow, after the bodies in it.
 */
#ifndef CURVEBODY_FLOW_H
#define CURVEBODY_FLOW_H

#include <curvebody/expression.h>
#include <curvebody/param.h>

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
/* The sum of n >= 1 flows, which it owns from now on; on failure they are freed, too. */
cb_status cb_flow_sum(int n, cb_flow *const *flows, cb_flow **out);
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

/* --- classes --- */

/* u, gradient[i][j] = du_i/dx_j and rate = du/dt at one place and time. */
typedef struct cb_flow_point {
  double u[3], gradient[3][3], rate[3];
} cb_flow_point;

/* The same data at many places, each coordinate in an array of its own. */
enum { CB_FLOW_BLOCK = 64 };
typedef struct cb_flow_block {
  double x[3][CB_FLOW_BLOCK], u[3][CB_FLOW_BLOCK];
  double gradient[3][3][CB_FLOW_BLOCK], rate[3][CB_FLOW_BLOCK];
} cb_flow_block;

/* Facts about a flow that init may set; all are 0 at first. */
typedef struct cb_flow_facts {
  bool even, steady;    /* u is the same at all places; at all times */
  double slope;         /* root mean square of the gradient of a grid over all of it */
  const cb_node *where; /* the node of a message about the divergence; NULL: the value of the flow */
} cb_flow_facts;

typedef struct cb_fluid_flow_class {
  const char *name, *title, *doc;
  const cb_param *params; /* the keys of the flow's map; NULL: init reads the value, which need not be a map */
  size_t size;            /* size of the struct `flow` below: the fields of params, and what init adds */
  /* Completes the struct, whose params were read, from the value of the flow and the parameters of the fluid. NULL:
   * there is nothing to do. */
  cb_status (*init)(void *flow, const cb_node *value, const cb_expression_scope *parameters, cb_flow_facts *facts);
  /* Instead of init, for a flow whose value in a scenario is the name of an HDF5 file with velocities on a grid. */
  cb_status (*from_grid)(void *flow, const cb_flow_grid *grid, cb_flow_facts *facts);
  void (*release)(void *flow); /* frees what init has made, also after it has failed; NULL: nothing to free */
  /* The velocity at x[0 .. 2] and at the time x[3]. All jets have 4 variables. */
  void (*velocity)(const void *flow, const cb_jet x[4], cb_jet u[3]);
  /* A closed form instead of `velocity`; gradient and rate only if slopes are wanted. The library checks whether the
   * results are finite. */
  void (*at)(const void *flow, double t, const double x[3], bool slopes, cb_flow_point *p);
  /* The same at n <= CB_FLOW_BLOCK places, next to `at`; may be NULL. Returns false if a value is not finite. */
  bool (*block)(const void *flow, double t, int n, bool slopes, bool rate, cb_flow_block *b);
} cb_fluid_flow_class;

/* All classes of flows: the built-in ones, then those of plugins; ended by NULL. */
extern const cb_fluid_flow_class *const *const cb_fluid_flow_classes;

/* Makes a flow of a class, which need not be in the registry, from its value in a scenario. parameters: names and
 * values, without variables; NULL: none. Includes cb_flow_check_divergence. */
cb_status cb_flow_create_class(const cb_fluid_flow_class *class_, const cb_node *value,
                               const cb_expression_scope *parameters, cb_flow **out);

CB_API_END
#endif
