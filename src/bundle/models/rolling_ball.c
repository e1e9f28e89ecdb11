/* A ball of radius R that rolls on the plane without slipping or spinning.
 *
 *   rotation Q from the ball to space, angular velocity in space  omega = (-y', x', 0)/R:   Q' = hat(omega) Q
 *   g = Q^-1:  xi = g^-1 g' = -omega:   A = ((0, -1), (1, 0), (0, 0))/R,   B_xy = (0, 0, -1/R^2),   M = 1
 * Shape: the point of contact (x, y). The symmetry rotates the material of the ball, Q -> Q h^-1, so that the left
 * action is on the inverse of Q: an element g of the fibre is the rotation from space to the ball. A circle of radius
 * rho R gives Q = exp(2 pi (hat(-rho, 0, 0) - hat(e_z))), a rotation by 2 pi (sqrt(1 + rho^2) - 1). hat(a): the matrix
 * with hat(a) b = a x b.
 * Source: Jurdjevic, Arch. Rational Mech. Anal. 124 (1993) 305, doi:10.1007/BF00375605. Units: lengths, radians. The
 * length of a gait is that of the path of contact; its cost is int |r'|^2 dt.
 */
#include "model.h"

typedef struct rolling_ball {
  double radius;
} rolling_ball;

static const cb_param params[] = {
    {"radius", CB_PARAM_REAL, offsetof(rolling_ball, radius), "1", "length", "> 0", NULL, "radius R of the ball"},
    {0},
};

CB_MODEL("so3", 0, "x", "y")

static cb_status on_jet2(const void *given, const jet2 *r, jet2 *A, jet2 *M) {
  const rolling_ball *p = given;
  (void)r;
  (void)M;
  if (A) {
    A[1].v = -1 / p->radius;
    A[2].v = 1 / p->radius;
  }
  return CB_OK;
}

const cb_bundle_class cb_bundle_rolling_ball = {
    .name = "rolling_ball",
    .title = "ball rolling on the plane",
    .doc = "shape: the point of contact; the fibre is the rotation from space to the ball",
    .params = params,
    .params_size = sizeof(rolling_ball),
    CB_MODEL_FUNCTIONS,
};
