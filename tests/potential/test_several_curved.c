/* Tests of several bodies in one perfect fluid that fills a space of constant curvature: two balls agree with their
 * series, bodies that move together with one body, and slopes with differences of the energy.
 */
#include "several.h"
#include "numerics/numerics_curved.h"
#include <curvebody/pose.h>

/* Curvatures other than -1 and 1, so that the unit of length is not the radius of curvature. */
static const double curvature[] = {-0.81, 0.36};

/* Two balls of radius 0.5 whose centres are at the distance 1.25 in H3. The expected numbers were computed by a program
 * with multipoles, which agrees with the known values for two spheres in flat space to 13 digits. Values of two meshes
 * are extrapolated. */
static void two_balls_agree_with_their_series(void **unused) {
  static const double known[2][2] = {{0.2673917139831, -0.0459608044042}, {0.2634014023324, 0.0120685879514}};
  double K[2][144];
  for (int i = 0; i < 2; i++) {
    solid_mesh m = ellipsoid_mesh(i ? 12 : 6, 0.5, 0.5, 0.5), both[2] = {m, m};
    cb_several *s = several_of(2, both, &(cb_kirchhoff_options){.curvature = -1});
    cb_several_report report;
    const cb_pose g[2] = {{{1, 0, 0, 0}, {0, 0, -0.5}}, {{0.8, 0, 0, 0.6}, {0, 0, 0.75}}};
    double momentum[2][6];
    check_ok(cb_several_tensor(s, g, K[i], NULL));
    check_ok(cb_several_apply(s, g, several_twist, momentum, NULL, &report));
    /* The nearest points are corners of the two meshes. The gap is computed from the positions in the gnomonic chart,
     * so its relative error is about (gap/2 + h)^2, where h is the size of the faces. */
    check_relative(report.gap, 0.25, 0.06);
    several_free(s, 1, &m);
  }
  check_near(extrapolated(K[0][5 * 12 + 5], K[1][5 * 12 + 5]), known[0][0], 3e-4);
  check_near(extrapolated(K[0][5 * 12 + 11], K[1][5 * 12 + 11]), known[0][1], 3e-4);
  check_near(extrapolated(K[0][3 * 12 + 3], K[1][3 * 12 + 3]), known[1][0], 3e-4);
  /* The second ball is turned about z by the angle whose half has the cosine 0.8. */
  check_near(extrapolated(K[0][3 * 12 + 9], K[1][3 * 12 + 9]), known[1][1] * (0.64 - 0.36), 3e-4);
}

/* Makes the bodies of several.h smaller by the factor `scale`, with faces of another size. */
static void take(solid_mesh m[SEVERAL_GENERIC], cb_pose g[SEVERAL_GENERIC], double scale, int edge) {
  const double axes[SEVERAL_GENERIC][3] = {{1, 0.6, 0.4}, {0.5, 0.9, 0.35}, {0.6, 0.5, 0.7}};
  for (int i = 0; i < SEVERAL_GENERIC; i++) {
    m[i] = ellipsoid_mesh(edge, scale * axes[i][0], scale * axes[i][1], scale * axes[i][2]);
    g[i] = several_pose[i];
    for (int k = 0; k < 3; k++) g[i].x[k] *= scale;
  }
}

static void bodies_that_move_together_are_one(void **unused) {
  for (int c = 0; c < 2; c++) {
    const double K = curvature[c];
    solid_mesh m[SEVERAL_GENERIC], placed[SEVERAL_GENERIC];
    cb_pose g[SEVERAL_GENERIC];
    const cb_kirchhoff_options options = {.method = CB_POTENTIAL_DENSE, .curvature = K};
    take(m, g, 0.6, 3);
    for (int i = 0; i < SEVERAL_GENERIC; i++) {
      placed[i] = shifted_mesh(m + i, (const double[3]){0, 0, 0});
      for (int k = 0; k < m[i].vertices; k++) cb_pose_point_in(K, g + i, m[i].x[k], placed[i].x[k]);
    }
    solid_mesh two = joined_mesh(placed, placed + 1), all = joined_mesh(&two, placed + 2);
    cb_several *s = several_of(SEVERAL_GENERIC, m, &options);
    const cb_kirchhoff_mass mass = mass_of(&all, &options, NULL);
    for (int a = 0; a < 6; a++) {
      double Y[SEVERAL_GENERIC][6], momentum[SEVERAL_GENERIC][6], adjoint[SEVERAL_GENERIC][6][6], sum[6] = {0};
      for (int i = 0; i < SEVERAL_GENERIC; i++) {
        cb_pose back;
        cb_pose_inverse(g + i, &back);
        cb_pose_adjoint_in(K, &back, adjoint[i]);
        for (int k = 0; k < 6; k++) Y[i][k] = adjoint[i][k][a];
      }
      check_ok(cb_several_apply(s, g, (const double(*)[6])Y, momentum, NULL, NULL));
      for (int i = 0; i < SEVERAL_GENERIC; i++) {
        double own[6][6];
        cb_several_own(s, i, own);
        for (int k = 0; k < 36; k++) momentum[i][k / 6] += own[k / 6][k % 6] * Y[i][k % 6];
        for (int k = 0; k < 36; k++) sum[k % 6] += adjoint[i][k / 6][k % 6] * momentum[i][k / 6];
      }
      for (int k = 0; k < 6; k++) check_near(sum[k], mass.K[k][a], 1e-13);
    }
    several_free(s, SEVERAL_GENERIC, m);
    for (int i = 0; i < SEVERAL_GENERIC; i++) free_mesh(placed + i);
    free_mesh(&two);
    free_mesh(&all);
  }
}

static double energy(cb_several *s, const cb_pose *g) {
  double momentum[SEVERAL_GENERIC][6];
  check_ok(cb_several_apply(s, g, several_twist, momentum, NULL, NULL));
  return several_dot(SEVERAL_GENERIC, (const double(*)[6])momentum, several_twist) / 2;
}

/* The differences are of fourth order, with the error e^4 and the round-off 1e-15/e. For small panels the energy has
 * jumps below 1e-14 where a panel becomes near or far, and for large ones below 1e-12 (several.h). */
static void the_slope_is_the_derivative_of_the_energy(void **unused) {
  for (int c = 0; c < 2; c++)
    for (int small = 0; small < 2; small++) {
      const double K = curvature[c], e = 2e-4;
      solid_mesh m[SEVERAL_GENERIC];
      cb_pose g[SEVERAL_GENERIC];
      double momentum[SEVERAL_GENERIC][6], slope[SEVERAL_GENERIC][6], sum[6] = {0}, size = 0;
      take(m, g, small ? 0.25 : 0.6, small ? 4 : 3);
      cb_several *s = several_of(SEVERAL_GENERIC, m, &(cb_kirchhoff_options){.curvature = K});
      check_ok(cb_several_apply(s, g, several_twist, momentum, slope, NULL));
      for (int k = 0; k < 6 * SEVERAL_GENERIC; k++) {
        double side[4], xi[6] = {0};
        for (int l = 0; l < 4; l++) {
          cb_pose by, at[SEVERAL_GENERIC];
          memcpy(at, g, sizeof at);
          xi[k % 6] = e * (l < 2 ? l - 2 : l - 1);
          cb_pose_tau_in(CB_SE3_EXPONENTIAL, K, xi, &by);
          cb_pose_multiply_in(K, g + k / 6, &by, at + k / 6);
          side[l] = energy(s, at);
        }
        check_near(slope[k / 6][k % 6], (side[0] - 8 * side[1] + 8 * side[2] - side[3]) / (12 * e),
                   small ? 2e-11 : 2e-9);
      }
      for (int i = 0; i < SEVERAL_GENERIC; i++) {
        cb_pose back;
        double adjoint[6][6];
        cb_pose_inverse(g + i, &back);
        cb_pose_adjoint_in(K, &back, adjoint);
        for (int k = 0; k < 36; k++) sum[k % 6] += adjoint[k / 6][k % 6] * slope[i][k / 6];
        for (int k = 0; k < 6; k++) size = fmax(size, fabs(slope[i][k]));
      }
      /* A motion of all bodies together does not change the energy. */
      check_at_least(size, 1e-4);
      for (int k = 0; k < 6; k++) check_near(sum[k], 0, 1e-15);
      several_free(s, SEVERAL_GENERIC, m);
    }
}

/* A ball of radius 2 fills three quarters of the sphere. A smaller ball is accepted in the remaining quarter, and is
 * refused inside the large ball. */
static void a_body_may_fill_most_of_a_sphere(void **unused) {
  solid_mesh m[2] = {ellipsoid_mesh(9, 2, 2, 2), ellipsoid_mesh(4, 0.3, 0.3, 0.3)};
  cb_several *s = several_of(2, m, &(cb_kirchhoff_options){.curvature = 1});
  cb_pose g[2] = {several_pose[0], {{1, 0, 0, 0}, {0, 0, 2.9}}};
  const cb_pose centre = g[0];
  double momentum[2][6];
  cb_pose_multiply_in(1, &centre, g + 1, g + 1);
  check_ok(cb_several_apply(s, g, several_twist, momentum, NULL, NULL));
  g[1] = (cb_pose){{1, 0, 0, 0}, {0, 0, 1}};
  cb_pose_multiply_in(1, &centre, g + 1, g + 1);
  check_error_begins(cb_several_apply(s, g, several_twist, momentum, NULL, NULL), CB_STEP_DOMAIN,
                     "bodies 2 and 1 overlap");
  several_free(s, 2, m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_balls_agree_with_their_series),
      cmocka_unit_test(bodies_that_move_together_are_one),
      cmocka_unit_test(the_slope_is_the_derivative_of_the_energy),
      cmocka_unit_test(a_body_may_fill_most_of_a_sphere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
