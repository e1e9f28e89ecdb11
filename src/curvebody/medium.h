/* The density of the fluid at rest: uniform, in layers, or an expression of place; and its integrals over a surface in
 * it.
 *
 *   density of a face     rho_f = (1/A) int rho dA, with its derivative in the three corners
 *   displaced mass        int_V rho dV      = closed integral of Q <n, up> dA,   Q = int_0^h rho dh, h = <x, up>
 *   its moment            int_V rho x_h dV  = closed integral of Q x_h <n, up> dA, x_h the part of x across up
 *   potential             -|g| int_V Q dV   (uniform: -|g| rho int_V h dV)
 * rho: density; A, n: area and normal of a face; V: the volume of the body; g: gravity; up: the unit vector against g;
 * x: a point. Buoyancy is then the integral of the hydrostatic pressure over the faces, the force |g| up int rho dV at
 * the centre of the displaced mass. This force has this potential if the density depends only on height. (A fluid whose
 * density also varies horizontally cannot be at rest; the force is still this integral.) Layers are cut exactly: a face
 * that an interface crosses is divided along it; a face in an interface belongs to the layer above. Expressions are
 * integrated by quadrature (medium_expression.c): of degree 5 on faces, so that they should be smooth over a face. They
 * are evaluated within the body's bounding box (with one axis along up) and, for the potential, straight down or up
 * from the middle of the box to height 0. SI units, world axes.
 * For users of bodies in a fluid. The caller frees a medium, after the bodies in it.
 */
#ifndef CURVEBODY_MEDIUM_H
#define CURVEBODY_MEDIUM_H

#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>

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

/* Finds the density of the medium of this name (`none`: 0); returns whether there is one. */
enum { CB_MEDIUM_NAMES = 3 };
extern const char *const cb_medium_names[CB_MEDIUM_NAMES];
bool cb_medium_named(const char *name, double *density);

bool cb_medium_is_uniform(const cb_medium *m);
/* Computes the density at a place. CB_STEP_NOT_FINITE if an expression is negative or not finite. */
cb_status cb_medium_at(const cb_medium *m, const double x[3], double *density);

CB_API_END
#endif
