/* The Hopf bundle, with the group U(1) over the unit sphere: the geometric phase of a spin whose direction moves around
 * a loop.
 *
 *   (x, y) = tan(theta/2) (cos phi, sin phi),  w = 1/(1 + x^2 + y^2)
 *   A = -(1 - cos theta)/2 dphi = w (y, -x),   B_xy = -2 w^2 = -(1/2) area form,   M = 4 w^2 1
 * theta and phi are the polar angles of the direction. A loop around the solid angle Omega changes the phase by
 * Omega/2. The shortest such loop is a circle of length L, L^2 = Omega (4 pi - Omega). The stereographic chart covers
 * all directions except theta = pi.
 * Source: Montgomery, A Tour of Subriemannian Geometries (2002), chapter 1; Berry, Proc. R. Soc. A 392 (1984) 45,
 * doi:10.1098/rspa.1984.0023. Dimensionless.
 */
#include "model.h"

static const cb_param params[] = {{0}};

CB_MODEL("so2", 0, "x", "y")

static cb_status on_jet2(const void *given, const jet2 *r, jet2 *A, jet2 *M) {
  (void)given;
  const jet2 w = inverse(shifted(1, plus(square(r[0]), square(r[1]))));
  if (A) {
    A[0] = times(w, r[1]);
    A[1] = scaled(-1, times(w, r[0]));
  }
  if (M) M[0] = M[3] = scaled(4, square(w));
  return CB_OK;
}

const cb_bundle_class cb_bundle_hopf = {
    .name = "hopf",
    .title = "Hopf bundle",
    .doc = "a direction, in stereographic coordinates; the fibre is a phase; a loop changes it by half its solid angle",
    .params = params,
    CB_MODEL_FUNCTIONS,
};
