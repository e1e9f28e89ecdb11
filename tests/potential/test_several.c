/* Tests of the added mass of several bodies in one perfect fluid against other solutions: the series of two spheres,
 * the dipoles of bodies far from each other, one body that consists of several, and bodies near a plane.
 */
#include "several.h"
#include "two_spheres.h"
#include "potential/moving.h"

/* --- two spheres of radii 1 and 0.7, at the distance d along z --- */

typedef struct pair {
  /* [across][k]: added mass K_11, K_12, K_22 of the spheres and its derivative by d, for motions along z (across = 0)
   * or perpendicular to z (across = 1) */
  double K[2][3], slope[2][3];
} pair;

static pair series(double d) {
  pair out;
  for (int across = 0; across < 2; across++) {
    const two_spheres s = two_spheres_of(1, 0.7, d, across);
    for (int k = 0; k < 3; k++) {
      out.K[across][k] = s.K[k / 2][(k + 1) / 2];
      out.slope[across][k] = s.slope[k / 2][(k + 1) / 2];
    }
  }
  return out;
}

/* Computes the added mass and its slopes from spheres with 8 edge^2 panels each. The axes of the second body are not
 * those of the world. */
static pair by_panels(int edge, double d) {
  solid_mesh m[2] = {ellipsoid_mesh(edge, 1, 1, 1), ellipsoid_mesh(edge, 0.7, 0.7, 0.7)};
  cb_several *s = several_of(2, m, NULL);
  const cb_pose g[2] = {{{1, 0, 0, 0}, {2, 3, -4}}, {{0.5, 0.5, 0.5, 0.5}, {2, 3, d - 4}}};
  /* axis[across][sphere]: the axis z (across = 0) or x of the world in the axes of each sphere. For the second sphere z
   * of the world is its axis y, and x of the world is its axis z. */
  const int axis[2][2] = {{5, 4}, {3, 5}};
  double K[144], dK[12 * 144];
  pair out;
  check_ok(cb_several_tensor(s, g, K, dK));
  for (int across = 0; across < 2; across++)
    for (int k = 0; k < 3; k++) {
      const int a = k < 2 ? axis[across][0] : 6 + axis[across][1], b = k ? 6 + axis[across][1] : axis[across][0];
      out.K[across][k] = K[a * 12 + b];
      out.slope[across][k] = dK[10 * 144 + a * 12 + b]; /* the second sphere moves along z of the world */
      check_near(dK[5 * 144 + a * 12 + b], -out.slope[across][k], 1e-13);
    }
  several_free(s, 2, m);
  return out;
}

/* The expected added masses and slopes were computed by another program, with 60 terms of the series. */
static void the_series_has_the_known_numbers(void **unused) {
  static const pair known = {
      {{2.12084479556, -0.20426390914, 0.73156768850}, {2.10163032772, 0.10152185761, 0.72233068108}},
      {{-0.0813922910, 0.2859790307, -0.0459198136}, {-0.0226852729, -0.1398225484, -0.0142756657}}};
  const pair s = series(2.2);
  for (int k = 0; k < 6; k++) {
    check_near(s.K[k / 3][k % 3], known.K[k / 3][k % 3], 6e-12);
    check_near(s.slope[k / 3][k % 3], known.slope[k / 3][k % 3], 6e-11);
  }
}

/* The errors of K are relative to sqrt(K_11 K_22), and those of dK/dd to the largest derivative. With 1352 faces per
 * sphere, the error of K is below 1 % and, for a gap of 0.5, that of dK/dd below 3 %. The errors decrease with the
 * order 2. */
static void two_spheres_agree_with_their_series(void **unused) {
  for (int far = 0; far < 2; far++) {
    const double d = far ? 3 : 2.2;
    const pair exact = series(d), coarse = by_panels(7, d), fine = by_panels(13, d);
    for (int k = 0; k < 6; k++) {
      const int i = k / 3, j = k % 3;
      const double size = j == 1 ? sqrt(exact.K[i][0] * exact.K[i][2]) : exact.K[i][j], steep = fabs(exact.slope[i][1]);
      check_near(fine.K[i][j], exact.K[i][j], 1e-2 * size);
      check_near(fine.slope[i][j], exact.slope[i][j], 3e-2 * steep);
      const double order = log((coarse.K[i][j] - exact.K[i][j]) / (fine.K[i][j] - exact.K[i][j])) / log(13. / 7),
                   of_slope = log((coarse.slope[i][j] - exact.slope[i][j]) / (fine.slope[i][j] - exact.slope[i][j])) /
                              log(13. / 7);
      print_message("d %g, %s %d: errors %.2e %.2e, orders %.3f %.3f\n", d, i ? "across" : "along", j,
                    fine.K[i][j] / exact.K[i][j] - 1, fine.slope[i][j] / exact.slope[i][j] - 1, order, of_slope);
      check_near(order, 2, 0.1);
      check_near(of_slope, 2, 0.15);
    }
  }
}

/* --- other solutions --- */

/* Two bodies are at a large distance d along the unit vector e. The translational part of the tensor that couples them
 * is K_12 = -A_1 (3 e e^T - 1) A_2/(4 pi d^3), where A_i = K_vv + V is the translational added mass of body i alone
 * plus its volume (Lamb 1932, article 145). The next terms are smaller by the factor (size/d)^2, here about 1e-3. */
static void bodies_far_apart_are_dipoles(void **unused) {
  solid_mesh m[2] = {ellipsoid_mesh(8, 1, 0.6, 0.4), ellipsoid_mesh(8, 0.5, 0.9, 0.35)};
  cb_several *s = several_of(2, m, NULL);
  cb_pose g[2] = {several_pose[0], several_pose[1]};
  const double e[3] = {0.48, 0.6, 0.64}, d = 30;
  double K[144], A[2][3][3], r[2][3][3], dipole[9], size = 0;
  for (int k = 0; k < 3; k++) g[1].x[k] = g[0].x[k] + d * e[k];
  check_ok(cb_several_tensor(s, g, K, NULL));
  for (int i = 0; i < 2; i++) { /* A[i]: rows in the axes of the world, columns in those of body i */
    double own[6][6], volume = 0;
    cb_several_own(s, i, own);
    cb_pose_rotation(g + i, r[i]);
    for (int f = 0; f < m[i].faces; f++) {
      const double *a = m[i].x[m[i].face[f][0]], *b = m[i].x[m[i].face[f][1]], *c = m[i].x[m[i].face[f][2]];
      volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                 a[2] * (b[0] * c[1] - b[1] * c[0])) /
                6;
    }
    for (int k = 0; k < 9; k++) {
      A[i][k / 3][k % 3] = 0;
      for (int l = 0; l < 3; l++)
        A[i][k / 3][k % 3] += r[i][k / 3][l] * (own[3 + l][3 + k % 3] + (l == k % 3 ? volume : 0));
    }
  }
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      double sum = 0;
      for (int k = 0; k < 9; k++) sum -= A[0][k / 3][a] * (3 * e[k / 3] * e[k % 3] - (k / 3 == k % 3)) * A[1][k % 3][b];
      dipole[3 * a + b] = sum / (4 * M_PI * d * d * d);
      size = fmax(size, fabs(dipole[3 * a + b]));
    }
  for (int k = 0; k < 9; k++) check_near(K[(3 + k / 3) * 12 + 9 + k % 3], dipole[k], 3e-3 * size);
  several_free(s, 2, m);
}

/* Bodies that move together have the added mass of one body with the panels of all. */
static void bodies_that_move_together_are_one(void **unused) {
  for (int kind = CB_MIRROR_NONE; kind <= CB_MIRROR_FREE; kind++) {
    solid_mesh m[SEVERAL_GENERIC], placed[SEVERAL_GENERIC];
    const cb_kirchhoff_options options = {.method = CB_POTENTIAL_DENSE,
                                          .wall = {(cb_mirror_kind)kind, {1, -2, 2}, -1.3}};
    several_generic(m);
    for (int i = 0; i < SEVERAL_GENERIC; i++) {
      placed[i] = shifted_mesh(m + i, (const double[3]){0, 0, 0});
      for (int k = 0; k < m[i].vertices; k++) cb_pose_point(several_pose + i, m[i].x[k], placed[i].x[k]);
    }
    solid_mesh two = joined_mesh(placed, placed + 1), all = joined_mesh(&two, placed + 2);
    cb_several *s = several_of(SEVERAL_GENERIC, m, &options);
    const cb_kirchhoff_mass mass = mass_of(&all, &options, NULL);
    for (int a = 0; a < 6; a++) {
      double Y[SEVERAL_GENERIC][6], momentum[SEVERAL_GENERIC][6], sum[6] = {0};
      for (int i = 0; i < SEVERAL_GENERIC; i++) {
        cb_pose back;
        double adjoint[6][6];
        cb_pose_inverse(several_pose + i, &back);
        cb_pose_adjoint(&back, adjoint);
        for (int k = 0; k < 6; k++) Y[i][k] = adjoint[k][a];
      }
      check_ok(cb_several_apply(s, several_pose, (const double(*)[6])Y, momentum, NULL, NULL));
      for (int i = 0; i < SEVERAL_GENERIC; i++) {
        double own[6][6], world[6];
        cb_several_own(s, i, own);
        for (int k = 0; k < 36; k++) momentum[i][k / 6] += own[k / 6][k % 6] * Y[i][k % 6];
        cb_se3_momentum_to_world(several_pose + i, momentum[i], world);
        for (int k = 0; k < 6; k++) sum[k] += world[k];
      }
      for (int k = 0; k < 6; k++) check_near(sum[k], mass.K[k][a], 3e-13); /* round-off of numbers up to 20 */
    }
    several_free(s, SEVERAL_GENERIC, m);
    for (int i = 0; i < SEVERAL_GENERIC; i++) free_mesh(placed + i);
    free_mesh(&two);
    free_mesh(&all);
  }
}

/* --- one body near a plane --- */

static void a_body_near_a_plane_is_that_of_images(void **unused) {
  solid_mesh m = ellipsoid_mesh(4, 1, 0.6, 0.4);
  for (int kind = CB_MIRROR_RIGID; kind <= CB_MIRROR_FREE; kind++) {
    const cb_kirchhoff_options options = {.wall = {(cb_mirror_kind)kind, {1, -2, 2}, -0.3}};
    cb_several *s = several_of(1, &m, &options);
    cb_placed *p = NULL;
    cb_placed_form form;
    const cb_several_body body = several_body(&m);
    check_ok(cb_placed_create(body.vertices, body.x, body.faces, body.face, &options, &p));
    check_ok(cb_placed_at(p, body.x, NULL, several_pose, &form));
    double K[36], dK[216];
    check_ok(cb_several_tensor(s, several_pose, K, dK));
    for (int k = 0; k < 36; k++) {
      check_near(K[k], form.G[k / 6][k % 6], 1e-13);
      for (int c = 0; c < 6; c++) check_near(dK[36 * c + k], form.slope[c][k / 6][k % 6], 1e-13);
    }
    cb_placed_free(p);
    cb_several_free(s);
  }
  free_mesh(&m);
}

/* A sphere near a rigid wall moves like one of two equal spheres, whose motions are mirror images. The values are
 * extrapolated from two meshes. */
static void a_wall_is_an_equal_sphere(void **unused) {
  for (double gap = 0.5; gap < 2; gap *= 2) {
    const double d = 2 + 2 * gap;
    double K[2][36], dK[2][216];
    for (int i = 0; i < 2; i++) {
      solid_mesh m = ellipsoid_mesh(i ? 10 : 5, 1, 1, 1);
      cb_several *s = several_of(1, &m, &(cb_kirchhoff_options){.wall = {CB_MIRROR_RIGID, {0, 0, 2}, 1}});
      check_ok(cb_several_tensor(s, &(cb_pose){{1, 0, 0, 0}, {5, 7, 2 + gap}}, K[i], dK[i]));
      several_free(s, 1, &m);
    }
    for (int across = 0; across < 2; across++) {
      const two_spheres t = two_spheres_of(1, 1, d, across);
      const int a = across ? 3 * 6 + 3 : 5 * 6 + 5, at = 5 * 36 + a;
      const double sign = across ? 1 : -1;
      check_relative(extrapolated(K[0][a], K[1][a]), t.K[0][0] + sign * t.K[0][1], 1e-3);
      check_relative(extrapolated(dK[0][at], dK[1][at]), 2 * (t.slope[0][0] + sign * t.slope[0][1]), 1e-2);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_series_has_the_known_numbers),      cmocka_unit_test(two_spheres_agree_with_their_series),
      cmocka_unit_test(bodies_far_apart_are_dipoles),          cmocka_unit_test(bodies_that_move_together_are_one),
      cmocka_unit_test(a_body_near_a_plane_is_that_of_images), cmocka_unit_test(a_wall_is_an_equal_sphere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
