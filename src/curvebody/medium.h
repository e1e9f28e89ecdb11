/* Media: the density of the fluid at rest, and its integrals over a body in the fluid.
 *
 *   medium: NAME, {NAME: VALUE}, a number or an expression     `curvebody list media` prints the classes
 *
 * A class of media is one file src/fluid/media/NAME.c with one const object cb_fluid_medium_NAME, or an object in a
 * plugin. A medium has one density, or layers, or a smooth density, which its author writes once, on jets
 * (curvebody/jet.h).
 *
 *   density of a face     rho_f = (1/A) int rho dA, and its derivatives by the three corners
 *   displaced mass        int_V rho dV      = closed integral of Q <n, up> dA
 *   its moment            int_V rho x_h dV  = closed integral of Q x_h <n, up> dA
 *   potential energy      -|g| int_V Q dV, which for one density is -|g| rho int_V h dV
 * rho is the density, A and n are area and outer normal of a face, V is the volume of the body, g gravity and up the
 * unit vector against g. h = <x, up> is the height of a point x, x_h its part perpendicular to up, and
 * Q = int_0^h rho dh. The buoyancy is the integral of the hydrostatic pressure over the faces. It is the force
 * |g| up int_V rho dV at the centre of the displaced mass, and has this potential energy if the density depends only on
 * height. (A fluid whose density also varies horizontally cannot be at rest; the force is still this integral.)
 *
 * Layers are exact: a face that crosses the border of two layers is divided along the border, and a face in the border
 * belongs to the layer above. A smooth density is integrated by quadrature (src/fluid/medium_displaced.c), of degree 5
 * on faces; it should be smooth over each face. It is evaluated at points in the bounding box of the body; one edge of
 * this box is along up. For the potential energy it is also evaluated on the vertical line from the middle of this box
 * to height 0.
 * SI units; positions are in the axes of the world.
 * For users of bodies in a fluid, and for authors of media. The caller frees a medium, after the bodies in it.
 */
#ifndef CURVEBODY_MEDIUM_H
#define CURVEBODY_MEDIUM_H

#include <curvebody/expression.h>
#include <curvebody/param.h>

CB_API_BEGIN

typedef struct cb_medium cb_medium;

/* In these functions up is a direction of any length > 0. CB_ERROR_ARGUMENT for a density < 0, for levels that do not
 * ascend, and for numbers that are not finite. The caller frees *out with cb_medium_free. */
/* Makes a medium of one density, in kg/m3. */
cb_status cb_medium_uniform(double density, cb_medium **out);
/* Makes a medium of n + 1 layers, with borders at the heights level[n], in m, which ascend. density[0] is the density
 * below level[0], density[i] that between level[i-1] and level[i], and density[n] that above level[n-1]. */
cb_status cb_medium_layers(int n, const double *level, const double *density, const double up[3], cb_medium **out);
/* Makes a medium whose density is an expression of x, y, z and of the parameters names[n], which stand for values[n].
 * CB_ERROR_INPUT for an error in the expression; *at (at may be NULL) is then its offset in the text. */
cb_status cb_medium_expression(const char *text, size_t n, const char *const *names, const double *values,
                               const double up[3], size_t *at, cb_medium **out);
void cb_medium_free(cb_medium *m);

/* Sets *density to the density of a medium that is only a name: `air`, `water` or `none` (0), for example. Returns
 * false if there is no such medium. */
bool cb_medium_named(const char *name, double *density);

bool cb_medium_is_uniform(const cb_medium *m);
/* Computes the density at x. CB_STEP_NOT_FINITE if it is negative or not finite. */
cb_status cb_medium_at(const cb_medium *m, const double x[3], double *density);

/* --- classes --- */

/* Facts about a medium that cb_fluid_medium_class.init may set. */
typedef struct cb_medium_facts {
  bool uses[3]; /* whether the density depends on x, y and z; true at first. All false: the density is the same
                 * everywhere. */
  /* The layers of a medium that has layers, as in cb_medium_layers: level[levels] and density[levels + 1]. The arrays
   * belong to the class's struct. NULL, the initial value: there are no layers. */
  int levels;
  const double *level, *density;
} cb_medium_facts;

typedef struct cb_fluid_medium_class {
  const char *name, *title, *doc;
  const cb_param *params; /* the keys of the medium's map; NULL: init reads the value, which need not be a map */
  size_t size;            /* bytes of the struct `medium`: the members that params fills, and others, which init sets */
  double uniform;         /* the density, if init, density and at are NULL; 0: there is no fluid */
  bool scalar;            /* true for one class, which reads `medium: TEXT` if TEXT is not the name of a class */
  /* Completes the struct `medium`, after its parameters were read. value: the value of the medium in the scenario;
   * NULL: only the name was given. parameters: those of the fluid, for expressions. NULL: there is nothing to do. */
  cb_status (*init)(void *medium, const cb_node *value, const cb_expression_scope *parameters, cb_medium_facts *facts);
  void (*release)(void *medium); /* frees what init has made, also if init failed; NULL: there is nothing to free */
  /* Returns the density at x. All jets have 3 variables. The library checks that it is >= 0. */
  cb_jet (*density)(const void *medium, const cb_jet x[3]);
  /* Returns the density at x and computes its gradient (gradient may be NULL). It is used in place of `density`. */
  double (*at)(const void *medium, const double x[3], double gradient[3]);
  /* Computes at n points, with the coordinates x[0][n], x[1][n] and x[2][n], the density[n] and its derivatives
   * slope[n] by coordinate k (slope may be NULL). Returns whether all results are finite. If the member is NULL, the
   * library calls `at` for each point. */
  bool (*values)(const void *medium, int n, const double *const x[3], int k, double *density, double *slope);
} cb_fluid_medium_class;

/* All classes of media: the built-in ones, then those of plugins; ended by NULL. */
extern const cb_fluid_medium_class *const *const cb_fluid_medium_classes;

/* Makes a medium of a class, which need not be in cb_fluid_medium_classes. value: its value in a scenario; NULL: only
 * the name was given. parameters: names and values for expressions, without variables; NULL: none. *out becomes NULL if
 * the medium means that there is no fluid. CB_ERROR_INPUT for an error in the value. */
cb_status cb_medium_create_class(const cb_fluid_medium_class *class_, const cb_node *value,
                                 const cb_expression_scope *parameters, const double up[3], cb_medium **out);

CB_API_END
#endif
