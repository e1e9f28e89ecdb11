/* The velocity u(x, t) of the undisturbed fluid.
 *
 *   flow: {NAME: VALUE}                  a flow of the class NAME; `curvebody list flows` prints the classes
 *   flow: [{NAME: VALUE}, ..]            the sum of several flows
 *
 * For users of bodies in a fluid, and for authors of classes of flows (cb_fluid_flow_class; curvebody/plugin.h). A
 * class is one file src/fluid/flows/NAME.c with one const object cb_fluid_flow_NAME. Its author writes the velocity
 * once, on jets (curvebody/jet.h), and the library computes all derivatives; or the author gives closed forms. The
 * functions cb_flow_uniform, cb_flow_shear, cb_flow_vortex, cb_flow_expressions and cb_flow_from_grid make flows of the
 * built-in classes; the files of these classes have the equations.
 * SI units, world axes. A flow is immutable and may be read from any thread; reading allocates nothing. The caller
 * frees a flow, after the bodies in it.
 */
#ifndef CURVEBODY_FLOW_H
#define CURVEBODY_FLOW_H

#include <curvebody/expression.h>
#include <curvebody/param.h>

CB_API_BEGIN

typedef struct cb_flow cb_flow;

/* Creates the flow with the same velocity u (m/s) at all places and times. */
cb_status cb_flow_uniform(const double u[3], cb_flow **out);
/* Creates a linear flow: u (m/s) is the velocity at the origin, and gradient[i][j] = du_i/dx_j in 1/s. */
cb_status cb_flow_shear(const double u[3], const double gradient[3][3], cb_flow **out);
/* Creates a vortex around the axis through the point `centre` (m), with the circulation in m^2/s. core: the radius of
 * the vortex core, in m. */
cb_status cb_flow_vortex(const double centre[3], const double axis[3], double circulation, double core, cb_flow **out);
/* Creates the flow whose velocity (m/s) is given by three expressions of x, y, z, t and of the parameters names[n] with
 * the values values[n]. On CB_ERROR_INPUT, *which (0 to 2) is the index of the wrong text, and *at the offset of the
 * error in this text; either pointer may be NULL. */
cb_status cb_flow_expressions(const char *const text[3], size_t n, const char *const *names, const double *values,
                              size_t *which, size_t *at, cb_flow **out);
typedef struct cb_flow_grid {
  int n[3];                     /* numbers of points along x, y, z; 1: the flow does not depend on this coordinate */
  double origin[3], spacing[3]; /* the first point, and the distances between neighbours along x, y, z, in m */
  int times;                    /* number of times; 1: the flow is steady */
  double start, interval;       /* the first time, and the distance between times, in s */
  bool periodic[4];             /* periodic in x, y, z and t: point n is then point 0 again */
  const double *u;              /* velocities in m/s, [times][n[0]][n[1]][n[2]][3], copied */
} cb_flow_grid;
/* Creates the flow that interpolates the velocities of a grid by cubic splines. CB_ERROR_ARGUMENT for wrong sizes;
 * CB_ERROR_DOMAIN for a velocity that is not finite, whose indices are in the message. */
cb_status cb_flow_from_grid(const cb_flow_grid *grid, cb_flow **out);
/* Creates the sum of n >= 1 flows. The sum owns them; if this function fails, it frees them. */
cb_status cb_flow_sum(int n, cb_flow *const *flows, cb_flow **out);
void cb_flow_free(cb_flow *f);

bool cb_flow_is_uniform(const cb_flow *f); /* u is the same at all places and times */
bool cb_flow_is_even(const cb_flow *f);    /* at each time u is the same at all places: a gust */
bool cb_flow_is_steady(const cb_flow *f);
/* Computes, at n places x and the time t: the velocity u[n]; gradient[n][i][j] = du_i/dx_j (may be NULL); and rate[n],
 * the derivative of u in t at a fixed place (may be NULL). CB_STEP_NOT_FINITE, with the first place where the flow is
 * not finite; outputs are then partly filled. */
cb_status cb_flow_at(const cb_flow *f, double t, int n, const double (*x)[3], double (*u)[3], double (*gradient)[3][3],
                     double (*rate)[3]);

/* Checks that a flow has no divergence, at 64 places and times. Places where the gradient is 0 or not finite do not
 * count. The flow is accepted if the divergence is at most 1e-6 of the gradient at one or more of the remaining places,
 * or if no place remains. Otherwise CB_ERROR_DOMAIN with a place. A flow whose divergence is 0 at some places only is
 * accepted; a run checks the divergence where its bodies are. Do not call it for a flow from a grid, whose divergence
 * is not exactly 0 between the points of the grid. */
cb_status cb_flow_check_divergence(const cb_flow *f);

/* --- classes --- */

/* The velocity u, gradient[i][j] = du_i/dx_j, and the derivative `rate` of u in the time, at one place and time. */
typedef struct cb_flow_point {
  double u[3], gradient[3][3], rate[3];
} cb_flow_point;

/* The same quantities as in cb_flow_point, at up to CB_FLOW_BLOCK places x, with an array for each component: x[k][i],
 * u[k][i], gradient[k][j][i] and rate[k][i] are those of place i. */
enum { CB_FLOW_BLOCK = 64 };
typedef struct cb_flow_block {
  double x[3][CB_FLOW_BLOCK], u[3][CB_FLOW_BLOCK];
  double gradient[3][3][CB_FLOW_BLOCK], rate[3][CB_FLOW_BLOCK];
} cb_flow_block;

/* Facts about a flow, which `init` or `from_grid` of its class sets; all are 0 at first. */
typedef struct cb_flow_facts {
  bool even, steady;    /* even: u is the same at all places; steady: u is the same at all times */
  double slope;         /* for a grid: root mean square of the gradient over the grid, 1/s */
  const cb_node *where; /* node whose place a message about the divergence has; NULL: the value of the flow */
} cb_flow_facts;

typedef struct cb_fluid_flow_class {
  const char *name, *title, *doc;
  const cb_param *params; /* the keys of the flow's map; NULL: init reads the value, which need not be a map */
  size_t size;            /* size of the struct `flow`, an argument of the functions below: the fields of params, then
                           * those that init fills */
  /* Completes the struct flow, whose params were already read. value: the value of the flow in a scenario; parameters:
   * names and values that expressions may use. NULL: there is nothing to complete. */
  cb_status (*init)(void *flow, const cb_node *value, const cb_expression_scope *parameters, cb_flow_facts *facts);
  /* Fills the struct flow from the velocities on a grid in an HDF5 file; called in place of init if the value in a
   * scenario is the name of such a file. NULL: the value cannot be the name of a file. */
  cb_status (*from_grid)(void *flow, const cb_flow_grid *grid, cb_flow_facts *facts);
  void (*release)(void *flow); /* frees what init has made, also if init failed; NULL: nothing to free */
  /* Computes the velocity u at the place x[0 .. 2] and the time x[3]. All jets have 4 variables. */
  void (*velocity)(const void *flow, const cb_jet x[4], cb_jet u[3]);
  /* Computes the velocity in closed form, in place of `velocity`; if slopes is true, also p->gradient and p->rate. The
   * library checks whether the results are finite. NULL: `velocity` is used. */
  void (*at)(const void *flow, double t, const double x[3], bool slopes, cb_flow_point *p);
  /* Does the same as `at`, which the class must also have, at n <= CB_FLOW_BLOCK places: computes b->u; if slopes is
   * true, b->gradient; if rate is true, b->rate. Returns false if a value is not finite. NULL: the library calls `at`
   * for each place. */
  bool (*block)(const void *flow, double t, int n, bool slopes, bool rate, cb_flow_block *b);
} cb_fluid_flow_class;

/* All classes of flows: the built-in ones, then those of plugins; ended by NULL. */
extern const cb_fluid_flow_class *const *const cb_fluid_flow_classes;

/* Makes a flow of a class, which need not be in the registry, from its value in a scenario, and calls
 * cb_flow_check_divergence. parameters: names and values that expressions may use, without variables; NULL: none. */
cb_status cb_flow_create_class(const cb_fluid_flow_class *class_, const cb_node *value,
                               const cb_expression_scope *parameters, cb_flow **out);

CB_API_END
#endif
