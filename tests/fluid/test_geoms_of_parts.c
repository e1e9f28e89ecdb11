/* Tests of geoms (ellipsoids and boxes that a fluid model uses in place of the surface) that move with a part of the
 * surface (`part`). A wing that is a part of a body and flaps by poses moves in the same way as the same wing as a
 * second body on a driven hinge. Geoms of parts that do not move give the same bytes as geoms without `part`. Wrong
 * parts are reported with their place in the scenario. */
#include "immersed.h"
#include "numerics/vec3.h"
#include "scenario/warnings.h"
#include "simulate.h"

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

/* Writes poses that rotate the wing by `angle` about the axis along x through (0, 0.22, 0). */
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

/* Writes a scenario with one body, which has a hull and a wing as parts. `poses` may be empty. */
static void write_body(const char *fluid, const char *poses, char text[2 * ROOM]) {
  put(text, 2 * ROOM,
           "curvebody: 1\nfluid: %s\nbodies:\n  - name: b\n    density: 1100\n    shape: [{name: hull, shape: " MESH(
               0.3, 0.2, 0.15) "}, {name: wing, shape: " MESH(0.05, 0.25, 0.02) ", position: [0, 0.5, 0]}]\n"
                               "%s%s\n" ENDS,
           fluid, *poses ? "    poses: " : "", poses);
}

/* Runs the scenario of write_body with `steps` steps per second, and records a row every `between` steps. */
static simulation *run_body(const char *fluid, const char *poses, int steps, int between, const char *const *fields) {
  char text[2 * ROOM], set[64], every[64];
  const char *sets[2] = {set, every};
  write_body(fluid, poses, text);
  put(set, sizeof set, "integrator.step=1/%d", steps);
  put(every, sizeof every, "record.every=%d", between);
  return simulate(text, sets, 2, fields);
}

/* Runs the scenario of write_body with the hull and the wing as two bodies, which a hinge joins. The drive of the hinge
 * gives it the angle `angle`. */
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

/* Adds a wrench F in the axes of a body with the pose [x, q] to `out`, in the axes of the world and about its
 * origin. */
static void add_to_world(const double *pose, const double F[6], double out[6]) {
  double r[3][3], turned[6], moment[3];
  cb_quaternion_rotation(pose + 3, r);
  cb_turn6((const double(*)[3])r, F, turned);
  cb_cross3(pose, turned + 3, moment);
  for (int i = 0; i < 6; i++) out[i] += turned[i] + (i < 3 ? moment[i] : 0);
}

enum { POSE, KINETIC, FORCES }; /* indices of the recorded fields; the forces are FORCES and all later fields */

/* Computes the maximum differences of the pose of the hull, of the kinetic energy and of the sum of the forces over all
 * rows. The difference of the pose is relative to the maximum change of the pose since the start, and the other
 * differences are relative to the maximum of the quantity. */
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

/* Both runs have errors of order 2, but with different coefficients. So the difference decreases by a factor of 4 if
 * the step is halved. */
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
      /* the tolerance allows for errors of order 2: the square of 4 rad/s times the step is 4e-4 */
      check_at_most(off[0][i], 1e-3);
      check_at_least(off[0][i] / off[1][i], 3.5);
      check_at_most(off[0][i] / off[1][i], 4.5);
    }
  }
}

/* Computes the work of the drive from the start to each multiple of 1/20 s. The effort in a row belongs to the step
 * before this row. */
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

/* Without drag and lift, the work of the drive of the hinge equals the kinetic energy of the body with poses and its
 * fluid, and the momentum of body and fluid is conserved. Efforts have errors of order 1 in the step, so the work is
 * extrapolated. */
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
    /* the tolerance is for errors of order 2 in steps in which the phase of the drive advances by 0.005 */
    check_near(body->value[0][r], 2 * work[1][r] - work[0][r], 1e-4 * greatest);
    /* The body starts at rest. The tolerance is for round-off of the momentum of the hull alone, about 20 N s. */
    for (int i = 0; i < 6; i++) check_near(body->value[1][6 * r + i], 0, 1e-12);
  }
  simulation_free(body);
}

/* --- results that are identical --- */

static void check_same(simulation *a, simulation *b) {
  assert_int_equal(a->rows, b->rows);
  for (int f = 0; f < a->n_fields; f++)
    assert_memory_equal(a->value[f], b->value[f], a->rows * a->width[f] * sizeof(double));
  simulation_free(a);
  simulation_free(b);
}

/* The key `part` of a geom changes nothing if this part does not move. The body has no poses, poses that move the wing,
 * or poses that move nothing. */
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

/* Writes the half axes and the position of the bounding box of a part. */
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

/* Without `geoms`, each part that moves has the ellipsoid of its bounding box. All other parts together have one
 * ellipsoid. */
static void without_geoms_each_part_that_moves_has_an_ellipsoid(void **unused) {
  char fluid[ROOM], poses[ROOM], box[2][256];
  simulation *a = run_body("{" FLUID ", model: ellipsoid}", flaps(sine, poses), 200, 10, fields);
  for (int p = 0; p < 2; p++) put_box(cb_immersed_surface(cb_scenario_body(a->scenario, 0)), p, box[p]);
  put(fluid, sizeof fluid, "{" FLUID ", model: {name: ellipsoid, geoms: [{%s}, {%s, part: wing}]}}", box[0], box[1]);
  check_same(a, run_body(fluid, poses, 200, 10, fields));
}

/* In layers, the model uses the density at the place of each geom (fluid/terms/parts.c). Deep in one layer, the result
 * is that of a uniform medium. */
static void deep_in_a_layer_it_is_as_in_a_uniform_fluid(void **unused) {
  char fluid[ROOM], layers[2 * ROOM], poses[ROOM];
  flaps(sine, poses);
  fluid_of(models[0], HULL, ", part: wing", fluid);
  put(layers, sizeof layers, "{medium: {layers: [{below: 50, density: 1000}, {density: 1}]}%s",
      strstr(fluid, ", gravity"));
  check_alike(run_body(layers, poses, 200, 10, fields), run_body(fluid, poses, 200, 10, fields),
              1e-10); /* the tolerance is for round-off, because the sums differ */
}

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
                                     cmocka_unit_test(wrong_parts_are_reported)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
