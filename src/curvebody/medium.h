/* The density of the fluid at rest, and its integrals over a surface in it.
 *
 *   medium: NAME, {NAME: VALUE}, a number or an expression     `curvebody list media` prints the classes
 *
 * A class of media is one file src/fluid/media/NAME.c with one const object cb_fluid_medium_NAME, which is for authors
 * of media (cb_fluid_medium_class; curvebody/plugin.h). A medium has one density, or layers, or a smooth density, which
 * its author writes once, on jets (curvebody/jet.h).
 *
 *   density of a face     rho_f = (1/A) int rho dA, with its derivative in the three corners
 *   displaced mass        int_V rho dV      = closed integral of Q <n, up> dA,   Q = int_0^h rho dh, h = <x, up>
 *   its moment            int_V rho x_h dV  = closed integral of Q x_h <n, up> dA, x_h the part of x across up
 *   potential             -|g| int_V Q dV   (uniform: -|g| rho int_V h dV)
 * rho: density; A, n: area and normal of a face; V: the volume of the body; g: gravity; up: the unit vector against g;
 * x: a point. Buoyancy is then the integral of the hydrostatic pressure over the faces, the force |g| up int rho dV at
 * the centre of the displaced mass. This force has this potential if the density depends only on height. (A fluid whose
 * density also varies horizontally cannot be at rest; the force is still this integral.) Layers are cut exactly: a face
 * that an interface crosses is divided along it; a face in an interface belongs to the layer above. A smooth
 * density is integrated by quadrature (medium_smooth.c): of degree 5 on faces, over each of which it should be smooth.
 * It is evaluated within the body's bounding box (with one axis along up) and, for the potential, straight down or up
 * from the middle of the box to height 0. SI units, world axes.
 * For users of bodies in a fluid. The caller frees a medium, after the bodies in it.
 */
#ifndef CURVEBODY_MEDIUM_H
#define CURVEBODY_MEDIUM_H

#include <curvebody/expression.h>
#include <curvebody/param.h>

CB_API_BEGIN

typedef struct cb_medium cb_medium;

/* Creates a uniform density, which must be >= 0. */
cb_status cb_medium_uniform(double density, cb_medium **out);
/* Creates layers: density[0] below level[0], density[i] between level[i-1] and level[i], density[n] above level[n-1];
 * levels ascend. */
cb_status cb_medium_layers(int n, const double *level, const double *density, const double up[3], cb_medium **out);
/* Creates the density given by an expression of x, y, z and of parameters. CB_ERROR_INPUT with *at (may be NULL), the
 * offset of the error in text. */
cb_status cb_medium_expression(const char *text, size_t n, const char *const *names, const double *values,
                               const double up[3], size_t *at, cb_medium **out);
void cb_medium_free(cb_medium *m);

/* Finds the density of a medium that is only a name: `air`, `water`, `none` (0). Returns whether there is one. */
bool cb_medium_named(const char *name, double *density);

bool cb_medium_is_uniform(const cb_medium *m);
/* Computes the density at a place. CB_STEP_NOT_FINITE if an expression is negative or not finite. */
cb_status cb_medium_at(const cb_medium *m, const double x[3], double *density);

/* --- classes --- */

/* Facts about a medium that init may set. */
typedef struct cb_medium_facts {
  bool uses[3]; /* does the density depend on x, y, z? true at first; all false: one density */
  /* Layers: density[levels + 1] and level[levels] as in cb_medium_layers, which `medium` owns; NULL at first: a smooth
   * density */
  int levels;
  const double *level, *density;
} cb_medium_facts;

typedef struct cb_fluid_medium_class {
  const char *name, *title, *doc;
  const cb_param *params; /* the keys of the medium's map; NULL: init reads the value, which need not be a map */
  size_t size;            /* size of the struct `medium` below: the fields of params, and what init adds */
  double uniform;         /* the density, if init, density and at are NULL; 0: no fluid */
  bool scalar;            /* the class reads `medium: TEXT` if TEXT is not the name of a class; only one does */
  /* Completes the struct, whose params were read, from the value of the medium (NULL: the name only) and the parameters
   * of the fluid. NULL: there is nothing to do. */
  cb_status (*init)(void *medium, const cb_node *value, const cb_expression_scope *parameters, cb_medium_facts *facts);
  void (*release)(void *medium); /* frees what init has made, also after it has failed; NULL: nothing to free */
  /* The density at x. All jets have 3 variables. The library checks whether it is >= 0. */
  cb_jet (*density)(const void *medium, const cb_jet x[3]);
  /* A closed form instead of `density`; gradient NULL: not wanted. */
  double (*at)(const void *medium, const double x[3], double gradient[3]);
  /* The same at n places, next to `at`; may be NULL. slope[n] (NULL: not wanted) is the derivative along x_k. Returns
   * whether all results are finite. */
  bool (*values)(const void *medium, int n, const double *const x[3], int k, double *density, double *slope);
} cb_fluid_medium_class;

/* All classes of media: the built-in ones, then those of plugins; ended by NULL. */
extern const cb_fluid_medium_class *const *const cb_fluid_medium_classes;

/* Makes a medium of a class, which need not be in the registry, from its value in a scenario (NULL: the name only).
 * parameters: names and values, without variables; NULL: none. *out is NULL if there is no fluid. */
cb_status cb_medium_create_class(const cb_fluid_medium_class *class_, const cb_node *value,
                                 const cb_expression_scope *parameters, const double up[3], cb_medium **out);

CB_API_END
#endif
