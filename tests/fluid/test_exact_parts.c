/* Tests of the exact added mass of parts that move relative to each other and interact through the fluid. Two spheres
 * in one body are compared with the series of two_spheres.h, also as a bundle. The bundle is compared with a run, its
 * derivatives with differences, and the model with the local model where this is nearly exact. */
#include "immersed_bundles.h"
#include "potential/kirchhoff.h"
#include "two_spheres.h"

/* Makes two spheres of radius 1, of 8 n^2 faces each, with the centres at +-d/2 on the x axis. */
static mesh spheres(int n, double d) {
  mesh a = mesh_ball(n, 1), b = mesh_ball(n, 1);
  mesh_move(&a, (double[3]){d / 2, 0, 0});
  mesh_move(&b, (double[3]){-d / 2, 0, 0});
  return two_bodies(a, b);
}

/* Computes the form G of two spheres, twice the kinetic energy of the fluid as a function of their twist and of four
 * motions: in opposite directions along x and along y, and together along x and along y. */
static void pair_form(int n, double d, double G[10][10]) {
  enum { APART, SHEAR, ALONG, ACROSS };
  cb_surface *s = mesh_surface(spheres(n, d));
  double(*v)[3] = calloc(4 * (size_t)s->vertices, sizeof *v);
  cb_kirchhoff *k;
  for (int i = 0; i < s->vertices; i++) {
    const double side = s->x[i][0] > 0 ? 1 : -1;
    v[APART * s->vertices + i][0] = side;
    v[SHEAR * s->vertices + i][1] = side;
    v[ALONG * s->vertices + i][0] = 1;
    v[ACROSS * s->vertices + i][1] = 1;
  }
  check_ok(cb_kirchhoff_create(s->vertices, (const double(*)[3])s->x, s->faces, (const int(*)[3])s->face, NULL, &k));
  check_ok(cb_kirchhoff_form(k, 4, (const double(*)[3])v, &G[0][0]));
  cb_kirchhoff_free(k);
  cb_surface_free(s);
  free(v);
}

static double limit(double coarse, double fine) { return fine + (fine - coarse) / 3; }

static void two_spheres_that_move_against_each_other_are_the_series(void **unused) {
  /* The distance d of the centres, and the added mass per sphere of two spheres of radius 1 that move together along
   * the line of the centres, together across this line, and in opposite directions across this line. */
  static const double oracle[2][4] = {{2.5, 1.7310312089664, 2.3090610478758, 1.9050591820032},
                                      {4, 1.9980469137778, 2.1439821448999, 2.0457971849735}};
  for (int i = 0; i < 2; i++) {
    double G[2][10][10];
    for (int fine = 0; fine < 2; fine++) pair_form(fine ? 16 : 8, oracle[i][0], G[fine]);
    double per[10][10];
    for (int k = 0; k < 100; k++) per[k / 10][k % 10] = limit(G[0][k / 10][k % 10], G[1][k / 10][k % 10]) / 2;
    print_message("  d = %g: axial %.6f opposed %.6f (%.6f), across %.6f opposed %.6f\n", oracle[i][0], per[8][8],
                  per[6][6], axial(oracle[i][0], 1), per[9][9], per[7][7]);
    check_near(axial(oracle[i][0], -1), oracle[i][1], 1e-12);
    check_relative(per[8][8], oracle[i][1], 1e-3);
    check_relative(per[9][9], oracle[i][2], 1e-3);
    check_relative(per[7][7], oracle[i][3], 1e-3);
    check_relative(per[6][6], axial(oracle[i][0], 1), 1e-3);
    for (int fine = 0; fine < 2; fine++)
      for (int a = 0; a < 6; a++) {
        /* ALONG and ACROSS (columns 8 and 9) are motions of the complete body */
        check_near(G[fine][a][8], G[fine][a][3], 1e-6);
        check_near(G[fine][a][9], G[fine][a][4], 1e-6);
      }
    check_near(G[1][8][8], G[1][3][3], 1e-6);
    check_near(G[1][6][8], 0, 1e-6);
  }
}

/* --- the bundle --- */

static const char *const apart[1] = {"a"};
static const cb_poses_motion opening = {NULL, {"X + a*sign(X)", "Y", "Z"}};

static cb_bundle *exact_bundle(tank *k, const cb_fluid_model *model, int n, const char *const *names,
                               const cb_poses_motion *motion) {
  cb_shape_surface *shape;
  cb_bundle *b;
  check_ok(cb_shape_surface_expressions(k->surface, n, names, 1, motion, &shape));
  const cb_immersed_bundle_options options = {.material = k->material, .density = 998, .added_mass = model};
  check_ok(cb_bundle_immersed_take(shape, &options, &b));
  return b;
}

/* By symmetry the connection A is 0. The metric M is the mass of the spheres plus their added mass for motions in
 * opposite directions. */
static void the_bundle_of_two_spheres_is_the_series(void **unused) {
  cb_fluid_model *model = exact_of("{method: dense}");
  double M[2][3], dM[2], volume[2];
  for (int fine = 0; fine < 2; fine++) {
    tank k = tank_of(spheres(fine ? 12 : 6, 2.5), 1000, 0);
    cb_bundle *b = exact_bundle(&k, model, 1, apart, &opening);
    cb_mass mass;
    check_ok(cb_mass_of(k.surface, NULL, k.material, &mass));
    volume[fine] = mass.volume;
    for (int i = 0; i < 3; i++) {
      const double r = 0.3 + 1e-3 * (i == 1 ? -1 : i == 2 ? 1 : 0);
      double A[6], dA[6];
      check_ok(b->class_->connection(b, &r, A, dA, &M[fine][i], i == 0 ? &dM[fine] : NULL));
      for (int j = 0; j < 6; j++) check_near(A[j], 0, 1e-12);
    }
    check_relative(dM[fine], (M[fine][2] - M[fine][1]) / 2e-3, 1e-3); /* the error of the central difference */
    cb_bundle_free(b);
    tank_empty(&k);
  }
  const double is = limit(M[0][0] - 1000 * volume[0], M[1][0] - 1000 * volume[1]), slope = limit(dM[0], dM[1]),
               h = 1e-4, expected = 998 * 2 * axial(3.1, 1),
               steep = 998 * 2 * (axial(3.1 + 2 * h, 1) - axial(3.1 - 2 * h, 1)) / (2 * h);
  print_message("  M %.6g (%.6g), dM %.6g (%.6g)\n", is, expected, slope, steep);
  check_relative(is, expected, 2e-3);
  check_relative(slope, steep, 2e-2); /* the error of coarse faces on the inner sides of the spheres */
  cb_fluid_model_free(model);
}

static void far_apart_the_local_model_is_nearly_exact(void **unused) {
  cb_fluid_model *model = exact_of("{}");
  tank k = tank_of(spheres(10, 30), 1000, 0);
  cb_bundle *b[2] = {exact_bundle(&k, model, 1, apart, &opening), exact_bundle(&k, NULL, 1, apart, &opening)};
  double G[2][49], r = 0.1;
  for (int i = 0; i < 2; i++) check_ok(b[i]->class_->form(b[i], &r, G[i], NULL));
  /* For a sphere the added mass of the local model is .998 of the exact one. The added mass is a third of the sum of
   * mass and added mass. */
  for (int i = 3; i < 7; i++) check_relative(G[0][8 * i], G[1][8 * i], 5e-3);
  for (int i = 0; i < 2; i++) cb_bundle_free(b[i]);
  tank_empty(&k);
  cb_fluid_model_free(model);
}

/* The exact model has a function `form`, which computes the form of the kinetic energy in one call. The result equals
 * the form of the same model without this function, which follows from added masses. */
static void all_at_once_is_as_by_energies(void **unused) {
  static const cb_poses_motion motion = MODES("a", "b");
  cb_fluid_model *model = exact_of("{method: dense}");
  cb_fluid_model_class plain = *model->class_;
  plain.form = NULL;
  const cb_fluid_model other = {.class_ = &plain, .params = model->params};
  tank k = ellipsoid(700);
  cb_bundle *b[2] = {exact_bundle(&k, model, 2, ab, &motion), exact_bundle(&k, &other, 2, ab, &motion)};
  double G[2][64], r[2] = {0.2, -0.1};
  for (int i = 0; i < 2; i++) check_ok(b[i]->class_->form(b[i], r, G[i], NULL));
  for (int i = 0; i < 64; i++) {
    check_near(G[0][i], G[1][i], 1e-12 * sqrt(G[0][9 * (i / 8)] * G[0][9 * (i % 8)]));
    check_near(G[0][i], G[0][8 * (i % 8) + i / 8], 1e-14 * sqrt(G[0][9 * (i / 8)] * G[0][9 * (i % 8)]));
  }
  for (int i = 0; i < 2; i++) cb_bundle_free(b[i]);
  tank_empty(&k);
  cb_fluid_model_free(model);
}

/* The derivative dA of the connection agrees with central differences of A with two steps, extrapolated to order 4. */
static void its_derivatives_are_differences(void **unused) {
  static const cb_poses_motion motion = MODES("a", "b");
  cb_fluid_model *model = exact_of("{method: dense}");
  tank k = ellipsoid(700);
  cb_bundle *b = exact_bundle(&k, model, 2, ab, &motion);
  double r[2] = {0.2, -0.1}, A[12], dA[24], M[4], dM[8], size = 0, worst = 0;
  check_ok(b->class_->connection(b, r, A, dA, M, dM));
  for (int i = 0; i < 12; i++) size = fmax(size, fabs(A[i]));
  for (int a = 0; a < 2; a++) {
    double side[4][12];
    for (int i = 0; i < 4; i++) {
      double at[2] = {r[0], r[1]};
      at[a] += (i < 2 ? 2e-3 : 1e-3) * (i % 2 ? 1 : -1);
      check_ok(b->class_->connection(b, at, side[i], NULL, NULL, NULL));
    }
    for (int i = 0; i < 12; i++) {
      const double wide = (side[1][i] - side[0][i]) / 4e-3, narrow = (side[3][i] - side[2][i]) / 2e-3;
      worst = fmax(worst, fabs(dA[12 * a + i] - limit(wide, narrow)));
    }
  }
  print_message("  dA to %.1e of A\n", worst / size);
  check_at_most(worst / size, 1e-8); /* the tolerance includes the errors of the differences, of order 4 */
  cb_bundle_free(b);
  tank_empty(&k);
  cb_fluid_model_free(model);
}

/* A body with momentum 0 moves by the holonomy of its bundle. */
static void a_run_at_zero_momentum_is_the_bundle(void **unused) {
  static const cb_poses_motion modes = MODES("a", "b"), stroke = MODES("(0.4*sin(t))", "(0.1 + 0.3*cos(t))");
  cb_fluid_model *model = exact_of("{method: dense, table: 1e-6}");
  tank k = ellipsoid(700);
  check_ok(cb_poses_from_expressions(k.surface, &stroke, 1, NULL, NULL, NULL, NULL, &k.poses));
  check_ok(cb_poses_set_period(k.poses, 2 * PI));
  tank_water(&k, 998);
  k.fluid.added_mass = model;
  k.options.drag = false;
  tank_fill(&k);
  cb_bundle *b = exact_bundle(&k, model, 2, ab, &modes);
  cb_gait *gait;
  double g[7], length, cost, Y[6], error[3];
  check_ok(cb_gait_fourier(2, 1, (double[]){0, 0.1}, (double[]){0, 0.3}, (double[]){0.4, 0}, &gait));
  check_ok(cb_holonomy(b, gait, 1e-8, g, &length, &cost));
  const cb_rigid_state rest = {.g = at_origin};
  check_ok(cb_rigid_twist(k.problem, &rest, Y));
  for (int i = 0; i < 3; i++) {
    const cb_rigid_state s = run_by(k.problem, CB_SE3_CAYLEY, &at_origin, Y, 2 * PI, 100 << i);
    error[i] = sqrt(pow(s.g.x[0] - g[4], 2) + pow(s.g.x[1] - g[5], 2) + pow(s.g.x[2] - g[6], 2));
  }
  print_message("  displacement %.3g, errors %.1e %.1e %.1e\n", sqrt(g[4] * g[4] + g[5] * g[5] + g[6] * g[6]), error[0],
                error[1], error[2]);
  check_near(fitted_order(error, 3), 2, 0.1);
  cb_gait_free(gait);
  cb_bundle_free(b);
  tank_empty(&k);
  cb_fluid_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_spheres_that_move_against_each_other_are_the_series),
      cmocka_unit_test(the_bundle_of_two_spheres_is_the_series),
      cmocka_unit_test(far_apart_the_local_model_is_nearly_exact),
      cmocka_unit_test(all_at_once_is_as_by_energies),
      cmocka_unit_test(its_derivatives_are_differences),
      cmocka_unit_test(a_run_at_zero_momentum_is_the_bundle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
