/* The Heisenberg bundle (Dido's problem): a point of the plane, and the area that its position vector sweeps.
 *
 *   dz = (x dy - y dx)/2:   A = (y, -x)/2,   B_xy = -1,   M = 1
 * z: the fibre. The holonomy of a loop is the area within it. The shortest loop with the holonomy z is a circle of
 * length L, L^2 = 4 pi |z|; under Wong's equation with charge lambda, the first conjugate time is t = 2 pi/|lambda|.
 * Source: Montgomery, A Tour of Subriemannian Geometries (2002), chapter 1.
 * Units: shape in lengths, fibre R in areas.
 */
#include "model.h"

static const cb_param params[] = {{0}};

CB_MODEL(NULL, 1, "x", "y")

static cb_status on_jet2(const void *given, const jet2 *r, jet2 *A, jet2 *M) {
  (void)given;
  (void)M;
  if (A) {
    A[0] = scaled(0.5, r[1]);
    A[1] = scaled(-0.5, r[0]);
  }
  return CB_OK;
}

const cb_bundle_class cb_bundle_heisenberg = {
    .name = "heisenberg",
    .title = "Heisenberg bundle (Dido's problem)",
    .doc = "a point of the plane; the fibre is the area that its position vector sweeps",
    .params = params,
    CB_MODEL_FUNCTIONS,
};
