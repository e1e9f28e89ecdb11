/* Tests of geoms that move with parts of a surface (`part`). A wing that is a part of a body and flaps by poses agrees
 * with the same wing as a second body on a driven hinge, with MuJoCo's forces on a hinged wing, and with geoms that are
 * fixed where the part is. Wrong parts are reported by their place in the scenario. */
#include "fluid/part_motion.h"
#include "immersed_bundles.h"
#include "numerics/vec3.h"
#include "scenario/warnings.h"
#include "simulate.h"
#include "yaml/yaml.h"

#ifdef CB_MUJOCO
#include <mujoco/mujoco.h>
#endif

/* --- a hull with a wing, in a scenario --- */

#define FLUID "medium: {density: 1000}, gravity: [0, 0, 0]"
#define HULL "{type: ellipsoid, size: [0.3, 0.2, 0.15]}"
#define WING "size: [0.05, 0.25, 0.02]"
#define MESH(a, b, c) "{name: ellipsoid, a: " #a ", b: " #b ", c: " #c ", resolution: 12}"
#define ENDS "integrator: {name: hamilton_pontryagin, step: 1/200}\ntime: {end: 0.5}\nrecord: {every: 1}\n"

enum { ROOM = 4096 };

static void put(char *text, size_t room, const char *format, ...) {
  va_list args;
  va_start(args, format);
  assert_true(vsnprintf(text, room, format, args) < (int)room);
  va_end(args);
}

static const char *const sine = "0.6*sin(4*t)", *const square = "0.6*sin(4*t)^2";

/* Writes poses that turn the wing about an axis along x through (0, 0.22, 0). */
static const char *flaps(const char *angle, char text[ROOM]) {
  put(text, ROOM,
      "{parts: [{part: wing, y: \"0.22 + (Y - 0.22)*cos(%s) - Z*sin(%s)\", z: \"(Y - 0.22)*sin(%s) + "
      "Z*cos(%s)\"}]}",
      angle, angle, angle, angle);
  return text;
}

static const char *fluid_of(const char *model, const char *hull, const char *wing, char text[ROOM]) {
  put(text, ROOM, "{" FLUID ", model: {%s, geoms: [%s, {" WING ", position: [0, 0.5, 0]%s}]}}", model, hull, wing);
  return text;
}

/* Writes a scenario of a body of a hull and a wing; `poses` may be empty. */
static void write_body(const char *fluid, const char *poses, char text[2 * ROOM]) {
  put(text, 2 * ROOM,
           "curvebody: 1\nfluid: %s\nbodies:\n  - name: b\n    density: 1100\n    shape: [{name: hull, shape: " MESH(
               0.3, 0.2, 0.15) "}, {name: wing, shape: " MESH(0.05, 0.25, 0.02) ", position: [0, 0.5, 0]}]\n"
                               "%s%s\n" ENDS,
           fluid, *poses ? "    poses: " : "", poses);
}

/* Runs it with 1/steps seconds a step, and rows at every so many steps. */
static simulation *run_body(const char *fluid, const char *poses, int steps, int between, const char *const *fields) {
  char text[2 * ROOM], set[64], every[64];
  const char *sets[2] = {set, every};
  write_body(fluid, poses, text);
  put(set, sizeof set, "integrator.step=1/%d", steps);
  put(every, sizeof every, "record.every=%d", between);
  return simulate(text, sets, 2, fields);
}

/* The same as two bodies with a hinge, whose angle is driven. */
static simulation *run_hinge(const char *model, const char *angle, int steps, int between, const char *const *fields) {
  char text[ROOM], set[64], every[64];
  const char *sets[2] = {set, every};
  put(text, sizeof text,
      "curvebody: 1\nfluid: {" FLUID
      ", model: {%s}}\nbodies:\n"
      "  - {name: hull, shape: " MESH(
          0.3, 0.2, 0.15) ", density: 1100, model: {%s, geoms: [" HULL
                          "]}}\n  - {name: wing, shape: " MESH(
                              0.05, 0.25, 0.02) ", density: 1100, model: {%s, geoms: [{" WING
                                                "}]}}\njoints:\n  - {kind: hinge, name: h, of: [hull, wing], at: "
                                                "[0, 0.22, 0], in: [0, -0.28, 0], axis: "
                                                "[1, 0, 0], drive: \"%s\"}\n" ENDS,
      model, model, model, angle);
  put(set, sizeof set, "integrator.step=1/%d", steps);
  put(every, sizeof every, "record.every=%d", between);
  return simulate(text, sets, 2, fields);
}

/* Adds a wrench in the axes of a body with the pose [x, q] to `out`, in the world's axes about the world's origin. */
static void add_to_world(const double *pose, const double F[6], double out[6]) {
  double r[3][3], turned[6], moment[3];
  cb_quaternion_rotation(pose + 3, r);
  cb_turn6((const double(*)[3])r, F, turned);
  cb_cross3(pose, turned + 3, moment);
  for (int i = 0; i < 6; i++) out[i] += turned[i] + (i < 3 ? moment[i] : 0);
}

enum { POSE, KINETIC, FORCES }; /* of the fields below */

/* Finds the largest differences of the pose of the hull, the kinetic energy and the sum of the forces over the rows,
 * each relative to its largest value. */
static void differences(const simulation *body, const simulation *hinge, double out[3]) {
  double off[3] = {0}, size[3] = {0};
  assert_int_equal(body->rows, hinge->rows);
  for (size_t r = 0; r < body->rows; r++) {
    double F[2][6] = {{0}};
    for (int f = FORCES; f < body->n_fields; f++) {
      add_to_world(body->value[POSE] + 7 * r, body->value[f] + 6 * r, F[0]);
      for (size_t k = 0; k < 2; k++)
        add_to_world(hinge->value[POSE] + 7 * (2 * r + k), hinge->value[f] + 6 * (2 * r + k), F[1]);
    }
    for (int i = 0; i < 7; i++) {
      const double is = body->value[POSE][7 * r + i], was = hinge->value[POSE][14 * r + i];
      off[POSE] = fmax(off[POSE], fabs(is - was));
      size[POSE] = fmax(size[POSE], fabs(was - hinge->value[POSE][i]));
    }
    off[KINETIC] = fmax(off[KINETIC], fabs(body->value[KINETIC][r] - hinge->value[KINETIC][r]));
    size[KINETIC] = fmax(size[KINETIC], hinge->value[KINETIC][r]);
    for (int i = 0; i < 6; i++) {
      off[FORCES] = fmax(off[FORCES], fabs(F[0][i] - F[1][i]));
      size[FORCES] = fmax(size[FORCES], fabs(F[1][i]));
    }
  }
  for (int i = 0; i < 3; i++) out[i] = off[i] / size[i];
}

static const char *const models[] = {"name: ellipsoid", "name: ellipsoid, inertia: false, viscosity: 0.3",
                                     "name: mujoco_ellipsoid, viscosity: 0.5"};
static const char *const fields[] = {"pose",         "kinetic_energy", "wrench_added_mass", "wrench_magnus",
                                     "wrench_kutta", "wrench_drag",    "wrench_viscous",    NULL};

/* Both are of order 2, with different errors: the difference falls by 4 if the step is halved. */
static void a_wing_by_poses_moves_as_on_a_driven_hinge(void **unused) {
  for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
    double off[2][3];
    char fluid[ROOM], poses[ROOM];
    fluid_of(models[m], HULL, ", part: wing", fluid);
    for (int k = 0; k < 2; k++) {
      simulation *body = run_body(fluid, flaps(sine, poses), 200 << k, 10 << k, fields),
                 *hinge = run_hinge(models[m], sine, 200 << k, 10 << k, fields);
      differences(body, hinge, off[k]);
      simulation_free(body);
      simulation_free(hinge);
    }
    for (int i = 0; i < 3; i++) {
      check_at_most(off[0][i], 1e-3); /* the square of 4 rad/s times the step is 4e-4 */
      check_at_least(off[0][i] / off[1][i], 3.5);
      check_at_most(off[0][i] / off[1][i], 4.5);
    }
  }
}

/* The work of the drive up to each 1/20 s; the effort of a row is that of the step before it. */
static void find_work(const char *model, int steps, double work[11]) {
  simulation *hinge = run_hinge(model, square, steps, 1, (const char *const[]){"effort", "rate", NULL});
  double done = 0;
  assert_int_equal(hinge->rows, steps / 2 + 1);
  for (size_t r = 1; r < hinge->rows; r++) {
    done += hinge->value[0][r] * (hinge->value[1][r - 1] + hinge->value[1][r]) / 2 / steps;
    if (r % (size_t)(steps / 20) == 0) work[r / (size_t)(steps / 20)] = done;
  }
  simulation_free(hinge);
}

/* Without drag and lift, the work of the hinge's drive is the energy of the body with poses and its fluid, and the
 * momentum of body and fluid stays. Efforts are of order 1 in the step, so the work is extrapolated. */
static void without_drag_the_energy_is_that_of_the_drive_and_momentum_stays(void **unused) {
  static const char *const model = "name: ellipsoid, blunt: 0, slender: 0, angular: 0, kutta: 0, magnus: 0",
                           *const own[] = {"kinetic_energy", "spatial_momentum", NULL};
  double work[2][11] = {{0}}, greatest = 0;
  char fluid[ROOM], poses[ROOM];
  for (int k = 0; k < 2; k++) find_work(model, 800 << k, work[k]);
  simulation *body = run_body(fluid_of(model, HULL, ", part: wing", fluid), flaps(square, poses), 1600, 80, own);
  assert_int_equal(body->rows, 11);
  for (size_t r = 0; r < body->rows; r++) greatest = fmax(greatest, body->value[0][r]);
  check_at_least(greatest, 0.1);
  for (size_t r = 0; r < body->rows; r++) {
    /* errors of order 2 of steps in which the drive's phase advances by .005 */
    check_near(body->value[0][r], 2 * work[1][r] - work[0][r], 1e-4 * greatest);
    /* the body starts at rest; this is round-off of the momentum of the hull alone, some 20 N s */
    for (int i = 0; i < 6; i++) check_near(body->value[1][6 * r + i], 0, 1e-12);
  }
  simulation_free(body);
}

/* --- the same bytes --- */

static void check_same(simulation *a, simulation *b) {
  assert_int_equal(a->rows, b->rows);
  for (int f = 0; f < a->n_fields; f++)
    assert_memory_equal(a->value[f], b->value[f], a->rows * a->width[f] * sizeof(double));
  simulation_free(a);
  simulation_free(b);
}

/* No poses; poses that move the wing; poses that move nothing. */
static void a_part_that_does_not_move_is_as_no_part(void **unused) {
  char with[ROOM], without[ROOM], poses[ROOM];
  const char *const motion[] = {"", flaps(sine, poses), "{parts: [{part: wing, z: \"Z + 0*t\"}]}"};
  for (int m = 0; m < 3; m++)
    for (int k = 0; k < 3; k++) {
      fluid_of(models[m], "{size: [0.3, 0.2, 0.15], part: hull}", ", part: wing", with);
      fluid_of(models[m], HULL, k == 1 ? ", part: wing" : "", without);
      check_same(run_body(with, motion[k], 200, 10, fields), run_body(without, motion[k], 200, 10, fields));
    }
}

static void check_alike(simulation *a, simulation *b, double tolerance) {
  assert_int_equal(a->rows, b->rows);
  for (int f = 0; f < a->n_fields; f++)
    for (size_t i = 0; i < a->rows * a->width[f]; i++)
      check_near(a->value[f][i], b->value[f][i], tolerance * (1 + fabs(b->value[f][i])));
  simulation_free(a);
  simulation_free(b);
}

/* Writes the semi-axes and the position of the box of a part. */
static void put_box(const cb_surface *s, int part, char text[256]) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int i = 0; i < 9 * s->faces; i++)
    if (s->part[i / 9] == part) {
      const double x = s->x[s->face[i / 9][i / 3 % 3]][i % 3];
      low[i % 3] = fmin(low[i % 3], x);
      high[i % 3] = fmax(high[i % 3], x);
    }
  put(text, 256, "size: [%.17g, %.17g, %.17g], position: [%.17g, %.17g, %.17g]", (high[0] - low[0]) / 2,
      (high[1] - low[1]) / 2, (high[2] - low[2]) / 2, (high[0] + low[0]) / 2, (high[1] + low[1]) / 2,
      (high[2] + low[2]) / 2);
}

/* Without `geoms` a part that moves has the ellipsoid of its box, and the others together have one. */
static void without_geoms_each_part_that_moves_has_an_ellipsoid(void **unused) {
  char fluid[ROOM], poses[ROOM], box[2][256];
  simulation *a = run_body("{" FLUID ", model: ellipsoid}", flaps(sine, poses), 200, 10, fields);
  for (int p = 0; p < 2; p++) put_box(cb_immersed_surface(cb_scenario_body(a->scenario, 0)), p, box[p]);
  put(fluid, sizeof fluid, "{" FLUID ", model: {name: ellipsoid, geoms: [{%s}, {%s, part: wing}]}}", box[0], box[1]);
  check_same(a, run_body(fluid, poses, 200, 10, fields));
}

/* In layers the added mass is that of the places (fluid/terms/parts.c); deep in one layer it is that of a uniform
 * medium. */
static void deep_in_a_layer_it_is_as_in_a_uniform_fluid(void **unused) {
  char fluid[ROOM], layers[2 * ROOM], poses[ROOM];
  flaps(sine, poses);
  fluid_of(models[0], HULL, ", part: wing", fluid);
  put(layers, sizeof layers, "{medium: {layers: [{below: 50, density: 1000}, {density: 1}]}%s",
      strstr(fluid, ", gravity"));
  check_alike(run_body(layers, poses, 200, 10, fields), run_body(fluid, poses, 200, 10, fields),
              1e-10); /* other sums */
}

/* --- one time: the motion of a part, and the inertia --- */

/* A body of two parts without mass: a hull, and a wing that turns by `angle` about x through (0, 0.22, 0) and slides
 * along x, or deforms. */
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

static const double weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12}; /* of f(t + (-2, -1, 1, 2) h), over h */
static double moment_of(double t, int n, double h) { return t + h * (n < 2 ? n - 2 : n - 1); }

/* The spin is the rate of the rotation, also of a part that deforms: differences of order 4. */
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
      /* h^4 times fifth derivatives, some 1e3 */
      check_near(spin[(i + 2) % 3][(i + 1) % 3], m.omega[i], 1e-8);
      check_near(c[i], m.velocity[i], 1e-8);
    }
    if (deforms) {
      check_at_least(m.residual, 1e-3);
    } else {
      const double a = 0.6 * sin(4 * t), of_a = 2.4 * cos(4 * t);
      check_near(m.R[1][1], cos(a), 1e-14); /* round-off; a thin wing loses a digit */
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

/* K' = -(ad_xi^T K + K ad_xi) and mu_0 = K xi for a part that moves rigidly with the twist xi in the body frame. K is
 * also that of a geom which is fixed where the part is. */
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
  /* the twist at the origin: the wing turns about (0, 0.22, 0) and slides along x */
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
    check_near(mu0[i], momentum[i], 1e-12 * 40); /* round-off; momenta are some 40 N s */
    for (int j = 0; j < 6; j++) {
      double change = 0;
      for (int l = 0; l < 6; l++) change -= ad[l][i] * K[l][j] + K[i][l] * ad[l][j];
      check_near(K[i][j], at[i][j], 1e-12 * 40);
      check_near(rate[i][j], change, 1e-6); /* h^4 times fifth derivatives of numbers of size 40 */
    }
  }
  tank_empty(&k);
  tank_empty(&still);
  cb_fluid_model_free(m);
  cb_fluid_model_free(fixed);
  cb_tree_free(tree);
  cb_tree_free(fixed_tree);
}

/* --- MuJoCo --- */

#ifdef CB_MUJOCO
/* The passive forces of MuJoCo on the free joint of the hull, with a wing on a hinge that has the angle and the rate of
 * the poses. */
static void on_a_hinged_wing_it_is_as_by_mujoco(void **unused) {
  static const char *const mjcf =
      "<mujoco><option density='1000' viscosity='0.3'/><worldbody><body><freejoint/><inertial pos='0 0 0' mass='1' "
      "diaginertia='1 1 1'/><geom type='ellipsoid' size='0.3 0.2 0.15' fluidshape='ellipsoid' "
      "fluidcoef='0.5 0.25 1.5 1 1'/><body pos='0 0.22 0'><joint type='hinge' axis='1 0 0'/><inertial pos='0 0.28 0' "
      "mass='1' diaginertia='1 1 1'/><geom type='ellipsoid' pos='0 0.28 0' size='0.05 0.25 0.02' "
      "fluidshape='ellipsoid' "
      "fluidcoef='0.5 0.25 1.5 1 1'/></body></body></worldbody></mujoco>";
  static mjVFS files; /* too large for the stack */
  char told[1000] = "";
  mj_defaultVFS(&files);
  mj_makeEmptyFileVFS(&files, "body.xml", (int)strlen(mjcf) + 1);
  memcpy(files.filedata[0], mjcf, strlen(mjcf) + 1);
  mjModel *model = mj_loadXML("body.xml", &files, told, sizeof told);
  mj_deleteVFS(&files);
  if (!model) fail_msg("MuJoCo: %s", told);
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

/* --- messages --- */

static void check_refused(const char *model, const char *wing, const char *const *messages) {
  char fluid[ROOM], poses[ROOM], text[2 * ROOM];
  cb_scenario *s = NULL;
  write_body(fluid_of(model, HULL, wing, fluid), flaps(sine, poses), text);
  assert_int_not_equal(cb_scenario_open_text("wing.yaml", text, NULL, 0, &s), CB_OK);
  for (; *messages; messages++)
    if (!strstr(cb_error_text(), *messages)) fail_msg("expected `%s` in: %s", *messages, cb_error_text());
}

static void wrong_parts_are_reported(void **unused) {
  char fluid[ROOM], text[2 * ROOM];
  for (int m = 0; m < 3; m++) {
    check_refused(models[m], ", part: wnig",
                  (const char *const[]){"wing.yaml:2:", "unknown part 'wnig'", "wing", NULL});
    check_refused(models[m], "",
                  (const char *const[]){"wing.yaml:4:5: error", "`part: wing`", "but its poses move vertex", NULL});
  }
  cb_scenario *s;
  write_body(fluid_of(models[0], HULL, ", part: wing", fluid), "{parts: [{part: wing, z: \"Z + 0.2*Y^2*sin(4*t)\"}]}",
             text);
  check_ok(cb_scenario_open_text("wing.yaml", text, NULL, 0, &s));
  check_ok(cb_scenario_warn(s));
  const cb_run_warning *list;
  assert_int_equal(cb_run_warnings(cb_scenario_run(s), &list), 1);
  assert_non_null(strstr(list[0].text, "wing.yaml:2:"));
  assert_non_null(strstr(list[0].text, "part `wing` deforms"));
  cb_scenario_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_wing_by_poses_moves_as_on_a_driven_hinge),
                                     cmocka_unit_test(without_drag_the_energy_is_that_of_the_drive_and_momentum_stays),
                                     cmocka_unit_test(a_part_that_does_not_move_is_as_no_part),
                                     cmocka_unit_test(without_geoms_each_part_that_moves_has_an_ellipsoid),
                                     cmocka_unit_test(deep_in_a_layer_it_is_as_in_a_uniform_fluid),
                                     cmocka_unit_test(the_spin_is_the_rate_of_the_rotation),
                                     cmocka_unit_test(the_inertia_changes_by_the_motion_of_the_part),
                                     cmocka_unit_test(on_a_hinged_wing_it_is_as_by_mujoco),
                                     cmocka_unit_test(wrong_parts_are_reported)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
