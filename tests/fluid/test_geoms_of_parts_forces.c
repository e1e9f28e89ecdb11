/* Tests of the motion of parts, and of the forces and the inertia of geoms that move with them, at one time. The
 * results are compared with geoms that are fixed at the present place of the part, with differences in time, and with
 * the forces of MuJoCo on a hinged wing. */
#include "fluid/immersed_private.h"
#include "immersed_bundles.h"
#include "numerics/vec3.h"

#ifdef CB_MUJOCO
#include <mujoco/mujoco.h>
#endif

static void put(char *text, size_t room, const char *format, ...) {
  va_list args;
  va_start(args, format);
  assert_true(vsnprintf(text, room, format, args) < (int)room);
  va_end(args);
}

/* Makes a body without mass of two parts, a hull and a wing. The wing rotates by the angle 0.6 sin 4t about the axis
 * along x through (0, 0.22, 0), and slides along x or deforms. */
static tank flapper(const cb_fluid_model *model, bool deforms) {
  mesh wing = mesh_ellipsoid(3, 0.05, 0.25, 0.02);
  mesh_move(&wing, (double[3]){0, 0.5, 0});
  tank k = tank_of(two_bodies(mesh_ellipsoid(3, 0.3, 0.2, 0.15), wing), 0, 0);
  const cb_poses_motion motion[2] = {{"part1", {"X", "Y", "Z"}},
                                     {"part2",
                                      {deforms ? "X + 0.1*sin(t)*Y^2" : "X + 0.1*sin(3*t)",
                                       "0.22 + (Y - 0.22)*cos(0.6*sin(4*t)) - Z*sin(0.6*sin(4*t))",
                                       "(Y - 0.22)*sin(0.6*sin(4*t)) + Z*cos(0.6*sin(4*t))"}}};
  check_ok(cb_poses_from_expressions(k.surface, motion, 2, NULL, NULL, NULL, NULL, &k.poses));
  tank_water(&k, 1000);
  if (model) tank_model(&k, model);
  return k;
}

static cb_fluid_model *model_of(const char *name, const char *parameters, cb_tree **tree) {
  cb_fluid_model *m;
  check_ok(cb_tree_read("parameters", parameters, tree));
  check_ok(cb_fluid_model_create(name, cb_tree_root(*tree), &m));
  return m;
}

/* the derivative f'(t) is the sum of weight times f(t + n h) for n = -2, -1, 1, 2, divided by h */
static const double weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12};
static double moment_of(double t, int n, double h) { return t + h * (n < 2 ? n - 2 : n - 1); }

/* The angular velocity of a part is the rate of its rotation, even if the part deforms. The rate is computed by
 * differences of order 4. */
static void the_spin_is_the_rate_of_the_rotation(void **unused) {
  for (int deforms = 0; deforms < 2; deforms++) {
    tank k = flapper(NULL, deforms);
    cb_arena *arena = cb_arena_create();
    cb_part_fit fit;
    double(*x)[3] = calloc((size_t)k.surface->vertices, sizeof *x),
    (*v)[3] = calloc((size_t)k.surface->vertices, sizeof *v);
    const double t = 0.31, h = 1e-3;
    cb_part_motion m, at;
    double rate[3][3] = {{0}}, spin[3][3] = {{0}}, c[3] = {0};
    check_ok(cb_part_fit_create(arena, k.surface, 1, &fit));
    for (int n = 0; n < 4; n++) {
      check_ok(cb_poses_at(k.poses, moment_of(t, n, h), x, v));
      check_ok(cb_part_motion_at(&fit, (const double(*)[3])x, (const double(*)[3])v, &at));
      for (int i = 0; i < 9; i++) rate[i / 3][i % 3] += weight[n] / h * at.R[i / 3][i % 3];
      for (int i = 0; i < 3; i++) c[i] += weight[n] / h * at.centre[i];
    }
    check_ok(cb_poses_at(k.poses, t, x, v));
    check_ok(cb_part_motion_at(&fit, (const double(*)[3])x, (const double(*)[3])v, &m));
    for (int i = 0; i < 9; i++)
      for (int j = 0; j < 3; j++) spin[i / 3][i % 3] += rate[i / 3][j] * m.R[i % 3][j]; /* R' R^T = hat(omega) */
    for (int i = 0; i < 3; i++) {
      /* The error of the differences with the step h is h^4 times fifth derivatives of about 1e3. */
      check_near(spin[(i + 2) % 3][(i + 1) % 3], m.omega[i], 1e-8);
      check_near(c[i], m.velocity[i], 1e-8);
    }
    if (deforms) {
      check_at_least(m.residual, 1e-3);
    } else {
      const double a = 0.6 * sin(4 * t), of_a = 2.4 * cos(4 * t);
      check_near(m.R[1][1], cos(a), 1e-14); /* round-off; the thin wing loses one digit */
      check_near(m.R[2][1], sin(a), 1e-14);
      check_near(m.omega[0], of_a, 1e-13);
      check_at_most(m.residual, 1e-14);
    }
    free(x);
    free(v);
    cb_arena_free(arena);
    tank_empty(&k);
  }
}

/* A part moves rigidly with the twist xi in the body frame. Then the inertia K of the body and the momentum mu_0
 * satisfy K' = -(ad_xi^T K + K ad_xi) and mu_0 = K xi. K also equals the inertia with a geom that is fixed at the
 * present place of the part. */
static void the_inertia_changes_by_the_motion_of_the_part(void **unused) {
  cb_tree *tree, *fixed_tree;
  const double t = 0.31, h = 1e-3, a = 0.6 * sin(4 * t), of_a = 2.4 * cos(4 * t), x = 0.1 * sin(3 * t);
  cb_fluid_model *m =
      model_of("ellipsoid", "{geoms: [{size: [0.05, 0.25, 0.02], position: [0, 0.5, 0], part: part2}]}", &tree);
  char text[512];
  put(text, sizeof text,
      "{geoms: [{size: [0.05, 0.25, 0.02], position: [%.17g, %.17g, %.17g], quaternion: [%.17g, %.17g, 0, 0]}]}", x,
      0.22 + 0.28 * cos(a), 0.28 * sin(a), cos(a / 2), sin(a / 2));
  cb_fluid_model *fixed = model_of("ellipsoid", text, &fixed_tree);
  tank k = flapper(m, false), still = flapper(fixed, false);
  cb_poses_free(still.poses);
  still.poses = NULL;
  tank_fill(&k);
  tank_fill(&still);
  double K[6][6], mu0[6], at[6][6], unused_mu[6], rate[6][6] = {{0}}, ad[6][6] = {{0}};
  for (int n = 0; n < 4; n++) {
    check_ok(k.problem->inertia(k.problem->self, moment_of(t, n, h), &at_origin, at, unused_mu));
    for (int i = 0; i < 36; i++) rate[i / 6][i % 6] += weight[n] / h * at[i / 6][i % 6];
  }
  check_ok(still.problem->inertia(still.problem->self, 0, &at_origin, at, unused_mu));
  check_ok(k.problem->inertia(k.problem->self, t, &at_origin, K, mu0));
  /* The twist about the origin: the wing rotates about the axis through (0, 0.22, 0) and slides along x. */
  const double xi[6] = {of_a, 0, 0, 0.3 * cos(3 * t), 0, -0.22 * of_a};
  double momentum[6];
  cb_apply6((const double(*)[6])K, xi, momentum);
  for (int i = 0; i < 3; i++) { /* ad_xi (w, v) = (xi_w × w, xi_w × v + xi_v × w) */
    double block[3][3] = {{0}}, lower[3][3] = {{0}};
    cb_add_hat3(block, 1, xi);
    cb_add_hat3(lower, 1, xi + 3);
    for (int j = 0; j < 3; j++) {
      ad[i][j] = ad[3 + i][3 + j] = block[i][j];
      ad[3 + i][j] = lower[i][j];
    }
  }
  for (int i = 0; i < 6; i++) {
    check_near(mu0[i], momentum[i], 1e-12 * 40); /* round-off; the momenta are about 40 N s */
    for (int j = 0; j < 6; j++) {
      double change = 0;
      for (int l = 0; l < 6; l++) change -= ad[l][i] * K[l][j] + K[i][l] * ad[l][j];
      check_near(K[i][j], at[i][j], 1e-12 * 40);
      /* the error of differences with the step h is h^4 times fifth derivatives of numbers of size 40 */
      check_near(rate[i][j], change, 1e-6);
    }
  }
  tank_empty(&k);
  tank_empty(&still);
  cb_fluid_model_free(m);
  cb_fluid_model_free(fixed);
  cb_tree_free(tree);
  cb_tree_free(fixed_tree);
}

/* In a fluid at rest, a body has the twist Y, and a part of it moves with the twist xi relative to the body. The wrench
 * and its derivatives equal those on a body with the twist Y + xi, whose geom is fixed at the present place of the
 * part. */
static void the_forces_are_those_of_the_motion_of_the_part(void **unused) {
  static const char *const parameters[][3] = {
      {"ellipsoid", "viscosity: 0.3, geoms", "size: [0.05, 0.25, 0.02]"},
      {"mujoco_ellipsoid", "viscosity: 0.3, geoms", "size: [0.05, 0.25, 0.02]"},
      {"thin_plate", "geoms", "size: [0.05, 0.25, 0.02]"},
      {"mujoco_inertia_box", "viscosity: 0.3, boxes", "mass: 2, inertia: [0.03, 0.01, 0.035]"}};
  const double t = 0.31, a = 0.6 * sin(4 * t), of_a = 2.4 * cos(4 * t), x = 0.1 * sin(3 * t),
               xi[6] = {of_a, 0, 0, 0.3 * cos(3 * t), 0, -0.22 * of_a}, Y[6] = {0.3, -0.8, 0.5, 1.1, 0.2, -0.7};
  for (size_t m = 0; m < sizeof parameters / sizeof *parameters; m++) {
    char text[2][512];
    cb_tree *tree[2];
    cb_fluid_model *model[2];
    tank k[2];
    double F[2][6], dF[2][6][6], whole[6], greatest = 0;
    put(text[0], sizeof *text, "{%s: [{%s, position: [0, 0.5, 0], part: part2}]}", parameters[m][1], parameters[m][2]);
    put(text[1], sizeof *text, "{%s: [{%s, position: [%.17g, %.17g, %.17g], quaternion: [%.17g, %.17g, 0, 0]}]}",
        parameters[m][1], parameters[m][2], x, 0.22 + 0.28 * cos(a), 0.28 * sin(a), cos(a / 2), sin(a / 2));
    for (int i = 0; i < 6; i++) whole[i] = Y[i] + xi[i];
    for (int i = 0; i < 2; i++) {
      model[i] = model_of(parameters[m][0], text[i], &tree[i]);
      k[i] = flapper(model[i], false);
      for (int p = 0; p < 2; p++) k[i].material[p].density = 1000;
      if (i) cb_poses_free(k[i].poses);
      if (i) k[i].poses = NULL;
      tank_fill(&k[i]);
      wrenches_of(&k[i], t, &at_origin, i ? whole : Y, F[i], dF[i]);
    }
    for (int i = 0; i < 36; i++) greatest = fmax(greatest, fabs(dF[1][i / 6][i % 6]));
    assert_true(greatest > 1);
    for (int i = 0; i < 36; i++) { /* equal up to round-off */
      check_near(F[0][i / 6], F[1][i / 6], 1e-13 * greatest);
      check_near(dF[0][i / 6][i % 6], dF[1][i / 6][i % 6], 1e-13 * greatest);
    }
    for (int i = 0; i < 2; i++) {
      tank_empty(&k[i]);
      cb_fluid_model_free(model[i]);
      cb_tree_free(tree[i]);
    }
  }
}

/* --- MuJoCo --- */

#ifdef CB_MUJOCO
static mjModel *load(const char *mjcf) {
  static mjVFS files; /* too large for the stack */
  char told[1000] = "";
  mj_defaultVFS(&files);
  mj_makeEmptyFileVFS(&files, "body.xml", (int)strlen(mjcf) + 1);
  memcpy(files.filedata[0], mjcf, strlen(mjcf) + 1);
  mjModel *model = mj_loadXML("body.xml", &files, told, sizeof told);
  mj_deleteVFS(&files);
  if (!model) fail_msg("MuJoCo: %s", told);
  return model;
}

/* Compares the forces on the body with the passive forces that MuJoCo computes for the free joint of a hull. In MuJoCo
 * the wing is on a hinge whose angle and rate are those of the poses. */
static void on_a_hinged_wing_it_is_as_by_mujoco(void **unused) {
  static const char *const mjcf =
      "<mujoco><option density='1000' viscosity='0.3'/><worldbody><body><freejoint/><inertial pos='0 0 0' mass='1' "
      "diaginertia='1 1 1'/><geom type='ellipsoid' size='0.3 0.2 0.15' fluidshape='ellipsoid' "
      "fluidcoef='0.5 0.25 1.5 1 1'/><body pos='0 0.22 0'><joint type='hinge' axis='1 0 0'/><inertial pos='0 0.28 0' "
      "mass='1' diaginertia='1 1 1'/><geom type='ellipsoid' pos='0 0.28 0' size='0.05 0.25 0.02' "
      "fluidshape='ellipsoid' "
      "fluidcoef='0.5 0.25 1.5 1 1'/></body></body></worldbody></mujoco>";
  mjModel *model = load(mjcf);
  mjData *d = mj_makeData(model);
  cb_tree *tree;
  cb_fluid_model *own = model_of("mujoco_ellipsoid",
                                 "{compat: \"2.2\", viscosity: 0.3, geoms: [{size: [0.3, 0.2, 0.15]}, {size: [0.05, "
                                 "0.25, 0.02], position: [0, 0.5, 0], part: part2}]}",
                                 &tree);
  tank k = flapper(own, false);
  cb_poses_free(k.poses);
  const cb_poses_motion turns = {"part2",
                                 {"X", "0.22 + (Y - 0.22)*cos(0.6*sin(4*t)) - Z*sin(0.6*sin(4*t))",
                                  "(Y - 0.22)*sin(0.6*sin(4*t)) + Z*cos(0.6*sin(4*t))"}};
  check_ok(cb_poses_from_expressions(k.surface, &turns, 1, NULL, NULL, NULL, NULL, &k.poses));
  for (int p = 0; p < 2; p++) k.material[p].density = 1000;
  k.options.no_buoyancy = true;
  tank_fill(&k);
  uint64_t seed = check_seed();
  for (int round = 0; round < 50; round++) {
    const double t = check_uniform(&seed, 0, 2);
    cb_pose g = {.x = {0.3, -0.2, 0.1}};
    double Y[6], r[3][3], F[6], force[3], greatest = 0;
    for (int i = 0; i < 4; i++) g.q[i] = check_uniform(&seed, -1, 1);
    cb_quaternion_project(g.q);
    for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -1, 1);
    cb_pose_rotation(&g, r);
    for (int i = 0; i < 3; i++) d->qpos[i] = g.x[i];
    for (int i = 0; i < 4; i++) d->qpos[3 + i] = g.q[i];
    d->qpos[7] = 0.6 * sin(4 * t);
    cb_apply3((const double(*)[3])r, Y + 3, d->qvel);
    for (int i = 0; i < 3; i++) d->qvel[3 + i] = Y[i];
    d->qvel[6] = 2.4 * cos(4 * t);
    mj_forward(model, d);
    wrenches_of(&k, t, &g, Y, F, NULL);
    cb_apply3_transposed((const double(*)[3])r, d->qfrc_passive, force);
    for (int i = 0; i < 3; i++) greatest = fmax(greatest, fmax(fabs(force[i]), fabs(d->qfrc_passive[3 + i])));
    for (int i = 0; i < 3; i++) { /* round-off of the sums and of the angle */
      check_near(F[i], d->qfrc_passive[3 + i], 1e-11 * greatest);
      check_near(F[3 + i], force[i], 1e-11 * greatest);
    }
  }
  tank_empty(&k);
  cb_fluid_model_free(own);
  cb_tree_free(tree);
  mj_deleteData(d);
  mj_deleteModel(model);
}
#else
static void on_a_hinged_wing_it_is_as_by_mujoco(void **unused) { skip(); }
#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_spin_is_the_rate_of_the_rotation),
                                     cmocka_unit_test(the_inertia_changes_by_the_motion_of_the_part),
                                     cmocka_unit_test(the_forces_are_those_of_the_motion_of_the_part),
                                     cmocka_unit_test(on_a_hinged_wing_it_is_as_by_mujoco)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
