/* The density of the fluid at rest: uniform, in layers, or an expression of place; and what it does to a surface in it.
 *
 *   density of a face     rho_f = (1/A) int rho dA, with its derivative in the three corners
 *   displaced mass        int_V rho dV      = closed integral of Q <n, up> dA,   Q = int_0^h rho dh, h = <x, up>
 *   its moment            int_V rho x_h dV  = closed integral of Q x_h <n, up> dA, x_h the part of x across up
 *   potential             -|g| int_V Q dV   (uniform: -|g| rho int_V h dV)
 * so that buoyancy is the hydrostatic pressure over the faces, |g| up int rho dV at that centre, and has that potential
 * where the density depends on height alone (with any other no fluid is at rest; the force is still that integral).
 * Layers are cut exactly: a face that an interface crosses is parted along it; a face in an interface belongs to the
 * layer above. Expressions are integrated by quadrature (medium_expression.c): faces by degree 5, so that they should
 * be smooth over a face. They are evaluated within the bounding box (of axes with up) of a body and, for the potential,
 * straight down or up from its middle to height 0. SI units, world axes.
 * For users of bodies in a fluid. The caller frees a medium, after the bodies in it.
 */
#ifndef CURVEBODY_MEDIUM_H
#define CURVEBODY_MEDIUM_H

#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>

CB_API_BEGIN

typedef struct cb_medium cb_medium;

/* rho >= 0. */
cb_status cb_medium_uniform(double density, cb_medium **out);
/* density[0] below level[0], density[i] between level[i-1] and level[i], density[n] above level[n-1]; ascending. */
cb_status cb_medium_layers(int n, const double *level, const double *density, const double up[3], cb_medium **out);
/* An expression of x, y, z and of parameters. CB_ERROR_INPUT with *at (may be NULL), the offset in text. */
cb_status cb_medium_expression(const char *text, size_t n, const char *const *names, const double *values,
                               const double up[3], size_t *at, cb_medium **out);
void cb_medium_free(cb_medium *m);

/* The density of a medium of this name (`none`: 0); is there one? */
enum { CB_MEDIUM_NAMES = 3 };
extern const char *const cb_medium_names[CB_MEDIUM_NAMES];
bool cb_medium_named(const char *name, double *density);

bool cb_medium_is_uniform(const cb_medium *m);
/* Density at a place. CB_STEP_NOT_FINITE where an expression is not finite or negative. */
cb_status cb_medium_at(const cb_medium *m, const double x[3], double *density);

CB_API_END
#endif
