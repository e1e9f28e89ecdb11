/* The kinematic snake: three equal links on passive wheels at their middles; no link slips sideways.
 *
 *   headings: theta of the middle link, theta - alpha_1 of link 1, theta + alpha_2 of link 3
 *   s_1 xi_x + c_1 xi_y - h (1 + c_1) xi_theta + h alpha_1' = 0
 *   xi_y = 0
 *   -s_2 xi_x + c_2 xi_y + h (1 + c_2) xi_theta + h alpha_2' = 0
 *   D = s_1 (1 + c_2) - s_2 (1 + c_1):  A = (h (1 + c_2, 1 + c_1), (0, 0), (s_2, s_1))/D,   M = 1
 * s_i, c_i: sine and cosine of the angles alpha_i; xi: velocity of the middle link in its own frame; h: half the length
 * of a link, 1/6 of the parameter `length`. The three constraints fix the motion. Shapes with D = 0 are singular, for
 * example alpha_1 = alpha_2: the axes of the wheels meet in one point.
 * Source: Ostrowski & Burdick, Int. J. Robotics Res. 17 (1998) 683, doi:10.1177/027836499801700701. Units: lengths,
 * radians; cost: rates squared.
 */
#include "model.h"

#include <math.h>

typedef struct snake {
  double length;
} snake;

static const cb_param params[] = {
    {"length", CB_PARAM_REAL, offsetof(snake, length), "1", "length", "> 0", NULL, "total length of the three links"},
    {0},
};

CB_MODEL("se2", 0, "alpha1", "alpha2")

static cb_status on_jet2(const void *given, const jet2 *r, jet2 *A, jet2 *M) {
  (void)M;
  const double h = ((const snake *)given)->length / 6;
  const jet2 s1 = sine(r[0]), s2 = sine(r[1]), c1 = shifted(1, cosine(r[0])), c2 = shifted(1, cosine(r[1]));
  const jet2 D = minus(times(s1, c2), times(s2, c1));
  if (!(fabs(D.v) > 1e-14))
    return cb_fail(CB_STEP_SINGULAR,
                   "kinematic_snake: the axes of the wheels meet in one point (alpha = %.6g, %.6g): expected a gait "
                   "that avoids this shape",
                   r[0].v, r[1].v);
  if (A) {
    const jet2 inv = inverse(D);
    A[0] = scaled(h, times(c2, inv));
    A[1] = scaled(h, times(c1, inv));
    A[4] = times(s2, inv);
    A[5] = times(s1, inv);
  }
  return CB_OK;
}

const cb_bundle_class cb_bundle_kinematic_snake = {
    .name = "kinematic_snake",
    .title = "kinematic snake",
    .doc = "three links on wheels that do not slip sideways",
    .params = params,
    .params_size = sizeof(snake),
    CB_MODEL_FUNCTIONS,
};
