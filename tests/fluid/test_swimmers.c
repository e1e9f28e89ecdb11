/* Tests that bodies fall and swim as real bodies do. Seeds and paper helicopters autorotate from any tilt, leaves
 * flutter, swimmers reach a steady speed and swim backwards with the reversed stroke, and a zeppelin follows its
 * rudder. */
#include "simulate.h"

static const char *const fields[] = {"centre", "pose", "twist", "wrench_drag", NULL};
enum { CENTRE, POSE, TWIST, DRAG };

/* The recorded rows of one body; the times of two rows differ by `interval`. */
typedef struct course {
  simulation *s;
  int body;
  double interval;
} course;

static const double *at(const course *c, int field, size_t row) {
  static const size_t size[] = {3, 7, 6, 6};
  return c->s->value[field] + row * c->s->width[field] + (size_t)c->body * size[field];
}

static double velocity(const course *c, size_t row, int axis) {
  return (at(c, CENTRE, row + 1)[axis] - at(c, CENTRE, row - 1)[axis]) / (2 * c->interval);
}

/* Returns the component along an axis of the world of the vector v, which is given in the axes of the body. */
static double in_world(const course *c, size_t row, const double *v, int axis) {
  const double *q = at(c, POSE, row) + 3, w = q[0], *n = q + 1;
  const double nv = n[0] * v[0] + n[1] * v[1] + n[2] * v[2], nn = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  return (w * w - nn) * v[axis] + 2 * nv * n[axis] + 2 * w * (n[i] * v[j] - n[j] * v[i]);
}

static double spin(const course *c, size_t row) { return in_world(c, row, at(c, TWIST, row), 2); }

/* Returns a component of the direction of the x axis of the body. */
static double nose(const course *c, size_t row, int axis) { return in_world(c, row, (const double[3]){1, 0, 0}, axis); }

static double number_after(const char *text, const char *key) {
  const char *found = strstr(text, key);
  assert_non_null(found);
  return strtod(found + strlen(key), NULL);
}

/* Runs the scenario, and computes the interval of its rows from "step: H" and "every: N" in its text. */
static simulation *swim(const char *text, const char *const *sets, size_t n_sets, double *interval) {
  *interval = number_after(text, "step: ") * number_after(text, "every: ");
  return simulate(text, sets, n_sets, fields);
}

/* --- autorotation --- */

typedef struct range {
  double low, high;
} range;

static range over(const course *c, double (*value)(const course *c, size_t row)) {
  range r = {INFINITY, -INFINITY};
  for (size_t row = 2 * c->s->rows / 3; row + 1 < c->s->rows; row++) {
    r.low = fmin(r.low, value(c, row));
    r.high = fmax(r.high, value(c, row));
  }
  return r;
}

static double mean(const course *c, double (*value)(const course *c, size_t row)) {
  double sum = 0;
  const size_t first = 2 * c->s->rows / 3, end = c->s->rows - 1;
  for (size_t row = first; row < end; row++) sum += value(c, row);
  return sum / (double)(end - first);
}

static double fall(const course *c, size_t row) { return -velocity(c, row, 2); }
static double lift(const course *c, size_t row) { return in_world(c, row, at(c, DRAG, row) + 3, 2); }
static double slope(const course *c, size_t row) { return nose(c, row, 2); }

/* Checks the speed of fall and the spin of all bodies. Over the last third of the run both are constant and equal to
 * those of the first body, up to `steady`. They agree with a second run, which has half the step, up to `converged`.
 * The drag balances the weight. `half` sets `step` and `every` of the second run, so that the rows of both runs have
 * the same interval. */
static void settles(const char *text, const char *const half[2], int bodies, double weight, range falls, range spins,
                    double steady, double converged) {
  double interval, first[2] = {0};
  simulation *s = swim(text, NULL, 0, &interval), *fine = swim(text, half, 2, &interval);
  assert_int_equal(s->rows, fine->rows);
  for (int b = 0; b < bodies; b++) {
    const course c = {s, b, interval}, f = {fine, b, interval};
    const range down = over(&c, fall), turn = over(&c, spin);
    const double fine_fall = mean(&f, fall), fine_spin = mean(&f, spin);
    const double carried = mean(&c, lift) / weight;
    print_message(
        "start %d: falls at %.4f m/s, changes by %.1e; turns at %.3f rad/s, by %.1e; drag by weight %.5f; "
        "at half the step %.4f m/s, %.3f rad/s\n",
        b, down.high, down.high - down.low, turn.high, turn.high - turn.low, carried, fine_fall, fine_spin);
    check_at_most(down.high - down.low, steady * down.high);
    check_at_most(turn.high - turn.low, steady * fabs(turn.high));
    check_at_least(down.low, falls.low);
    check_at_most(down.high, falls.high);
    check_at_least(turn.low, spins.low);
    check_at_most(turn.high, spins.high);
    /* The drag differs from the weight for two reasons. The buoyancy of the solid parts is about a thousandth of the
     * weight. The steps, in which the body rotates by 0.1, have an error. */
    check_near(carried, 1, 2e-3);
    if (!b) {
      first[0] = down.high;
      first[1] = turn.high;
    }
    check_relative(down.high, first[0], steady);
    check_relative(turn.high, first[1], steady);
    check_relative(mean(&c, fall), fine_fall, converged);
    check_relative(mean(&c, spin), fine_spin, converged);
  }
  simulation_free(s);
  simulation_free(fine);
}

#define SEED(vein, end, mass)                                                         \
  "curvebody: 1\nfluid: {medium: air}\nbodies:\n"                                     \
  "  - {name: seed, shape: {name: maple_seed, resolution: 12}, " mass                 \
  "density: 900,\n"                                                                   \
  "     parts: {wing: {density: 400, thickness: 0.0001}, vein: {density: " vein       \
  "}},\n"                                                                             \
  "     place: {rotation: {axis: [0, 1, 0], angle: 2*pi*i/5}}, repeat: {count: 5}}\n" \
  "integrator: {name: hamilton_pontryagin, step: 0.000625}\ntime: {end: " end "}\nrecord: {every: 8}\n"

static void a_maple_seed_autorotates_from_tilts_around_a_whole_turn(void **unused) {
  static const char *const half[] = {"integrator.step=0.0003125", "record.every=16"};
  settles(SEED("900", "4", "mass: 110e-6, "), half, 5, 9.81 * 110e-6, (range){1, 1.8}, (range){80, 140}, 2e-3, 2e-3);
}

/* Without weight in its vein the seed does not rotate. It falls with the nut down and the wing up, more than twice as
 * fast. */
static void a_maple_seed_without_weight_in_its_vein_dives(void **unused) {
  double interval;
  simulation *s = swim(SEED("0", "2", ""), NULL, 0, &interval);
  for (int b = 0; b < 5; b++) {
    const course c = {s, b, interval};
    const range down = over(&c, fall), up = over(&c, slope);
    print_message("start %d: falls at %.3f to %.3f m/s, wing's slope has the sine %.3f to %.3f\n", b, down.low,
                  down.high, up.low, up.high);
    check_at_least(down.low, 3.6);
    check_at_least(up.low, 0.9);
  }
  simulation_free(s);
}

/* The masses follow from the volumes and areas of the faces. If the error is of order 2, twice the resolution divides
 * it by 4. The order is log2 of the ratio of two successive differences. On these coarse meshes, terms of higher order
 * change the measured order by 0.2. */
static void fall_and_spin_of_a_maple_seed_converge_with_order_2_in_the_size_of_its_faces(void **unused) {
  static const char *const resolution[] = {"bodies.0.shape.resolution=12", "bodies.0.shape.resolution=24",
                                           "bodies.0.shape.resolution=48"};
  double down[3], turn[3];
  for (int i = 0; i < 3; i++) {
    double interval;
    simulation *s =
        swim(SEED("900", "3", ""), (const char *const[]){resolution[i], "bodies.0.repeat.count=1"}, 2, &interval);
    const course c = {s, 0, interval};
    down[i] = mean(&c, fall);
    turn[i] = mean(&c, spin);
    print_message("%s: falls at %.5f m/s, turns at %.4f rad/s\n", resolution[i], down[i], turn[i]);
    simulation_free(s);
  }
  check_near(log2((down[1] - down[0]) / (down[2] - down[1])), 2, 0.3);
  check_near(log2((turn[1] - turn[0]) / (turn[2] - turn[1])), 2, 0.3);
}

static void a_paper_copter_autorotates_from_three_tilts(void **unused) {
  static const char *const half[] = {"integrator.step=0.00125", "record.every=4"};
  settles(
      "curvebody: 1\nfluid: {medium: air}\nbodies:\n"
      "  - {name: copter, shape: paper_copter, mass: 0.0005, thickness: 120e-6,\n"
      "     points: [{mass: 0.001, at: [0, 0, -0.08]}],\n"
      "     place: {rotation: {axis: [1, 2, 0], angle: '0.01 + 0.7*i'}}, repeat: {count: 3}}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.0025}\ntime: {end: 7.5}\nrecord: {every: 2}\n",
      half, 3, 9.81 * 0.0015, (range){1.5, 2}, (range){-50, -35}, 2e-3, 3e-3);
}

/* --- leaves --- */

#define LEAF(points)                                                                                 \
  "curvebody: 1\nfluid: {medium: air}\nbodies:\n"                                                    \
  "  - {name: leaf, shape: {name: leaf, camber: 0.002, cup: 0.001, resolution: 20}, density: 500,\n" \
  "     thickness: 0.0002, points: [" points                                                         \
  "],\n"                                                                                             \
  "     place: {rotation: {axis: [0, 1, 0], angle: 0.3 + 0.9*i}}, repeat: {count: 2}}\n"             \
  "integrator: {name: hamilton_pontryagin, step: 0.005}\ntime: {end: 8}\nrecord: {every: 2}\n"

/* Returns the range of the slope of a leaf (its sine) in the last third of the run. *times is the number of its sign
 * changes. */
static range swings(const char *text, int body, int *times) {
  double interval;
  simulation *s = swim(text, NULL, 0, &interval);
  const course c = {s, body, interval};
  *times = 0;
  for (size_t row = 2 * s->rows / 3; row + 1 < s->rows; row++) *times += slope(&c, row) * slope(&c, row + 1) < 0;
  const range r = over(&c, slope);
  print_message("slope from %.4f to %.4f, %d times through 0\n", r.low, r.high, *times);
  simulation_free(s);
  return r;
}

static void a_leaf_with_a_stalk_flutters(void **unused) {
  for (int start = 0; start < 2; start++) {
    int times;
    const range r = swings(LEAF("{mass: 25e-6, at: [-0.05, 0, 0]}"), start, &times);
    check_at_most(r.low, -0.5);
    check_at_least(r.high, 0.5);
    check_at_most(r.high, 0.99); /* the leaf does not turn over */
    check_at_least(times, 6);
  }
}

static void a_leaf_without_sinks_flat(void **unused) {
  for (int start = 0; start < 2; start++) {
    int times;
    const range r = swings(LEAF(""), start, &times);
    check_at_most(r.high - r.low, 1e-3);
    check_near(r.high, 0, 1e-3);
  }
}

/* --- swimmers --- */

/* Returns the mean velocity in the direction of the nose during stroke number n. A stroke takes the time `period`. */
static double forward(const course *c, double period, int n) {
  const size_t rows = (size_t)(period / c->interval + .5), first = (size_t)n * rows;
  double heading[3] = {0}, along = 0, length = 0;
  for (int k = 0; k < 2; k++) {
    for (size_t row = first; row < first + rows; row++) heading[k] += nose(c, row, k);
    along += heading[k] * (at(c, CENTRE, first + rows)[k] - at(c, CENTRE, first)[k]);
    length += heading[k] * heading[k];
  }
  return along / (sqrt(length) * (double)rows * c->interval);
}

/* Checks that a swimmer accelerates from rest to a constant velocity, forwards for way = 1 and backwards for way = -1.
 * Its speed is between the bounds and changes by less than `steady` over the last two strokes. */
static void reaches_a_speed(const char *text, double period, int strokes, range speeds, double steady) {
  static const char *const sets[] = {"fluid.parameters.way=1", "fluid.parameters.way=-1"};
  for (int reversed = 0; reversed < 2; reversed++) {
    double interval;
    course c = {swim(text, sets + reversed, 1, &interval), 0, 0};
    c.interval = interval;
    const double early = forward(&c, period, 0), last = forward(&c, period, strokes - 1),
                 before = forward(&c, period, strokes - 3), sign = reversed ? -1 : 1;
    print_message("%s stroke: %.4f m/s over the first, %.4f, %.4f at the end\n", reversed ? "reversed" : "forward",
                  early, before, last);
    check_at_least(sign * last, speeds.low);
    check_at_most(sign * last, speeds.high);
    check_at_most(sign * early, 0.6 * sign * last);
    check_relative(before, last, steady);
    simulation_free(c.s);
  }
}

static void an_eel_reaches_a_speed_forwards_and_by_the_reversed_wave_backwards(void **unused) {
  /* The wave has the length 0.4 m and 1.25 periods per second, so its speed is 0.5 m/s. The eel is slower than the
   * wave. */
  reaches_a_speed(
      "curvebody: 1\nfluid: {medium: water, parameters: {way: 1}}\nbodies:\n"
      "  - {name: eel, shape: {name: eel, resolution: 8}, density: 998, poses: {y: \"Y + 0.05*(1 - "
      "1.6*X)*(1 - exp(-t^2))*sin(2*pi*((0.5 - X)/0.4 - way*1.25*t))\"}}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.005}\ntime: {end: 8}\nrecord: {every: 4}\n",
      0.8, 9, (range){0.3, 0.5}, 0.01);
}

#define CHORD "((X - rx)*sin(0.6*cos(2*pi*t)) + Z*cos(0.6*cos(2*pi*t)))"
#define FLIPPER(side, sign, minus)                                               \
  "{part: flipper_front_" side                                                   \
  ", x: \"rx + (X - rx)*cos(0.6*cos(2*pi*t)) - Z*sin(0.6*cos(2*pi*t))\", "       \
  "y: \"" sign "ry + (Y - " sign "ry)*cos(0.7*sin(way*2*pi*t)) " minus " " CHORD \
  "*sin(0.7*sin(way*2*pi*t))\", "                                                \
  "z: \"" sign "(Y - " sign "ry)*sin(0.7*sin(way*2*pi*t)) + " CHORD "*cos(0.7*sin(way*2*pi*t))\"}"

static void a_turtle_reaches_a_speed_forwards_and_by_the_reversed_stroke_backwards(void **unused) {
  reaches_a_speed("curvebody: 1\nfluid: {medium: water, parameters: {way: 1, rx: 0.2227, ry: 0.167}}\nbodies:\n"
                  "  - {name: turtle, shape: {name: turtle, front_sweep: 0, resolution: 12}, density: 998,\n"
                  "     poses: {parts: [\n" FLIPPER("left", "", "-") ",\n" FLIPPER("right", "-", "+") "]}}\n"
                  "integrator: {name: hamilton_pontryagin, step: 0.005}\ntime: {end: 8}\nrecord: {every: 2}\n",
                  1, 8, (range){0.25, 0.7}, 0.02);
}

/* --- zeppelin --- */

#define PROPELLER(side, y, way)                                                \
  "{part: propeller_" side                                                     \
  ", x: X, "                                                                   \
  "y: \"" y "0.63 + (Y - " y "0.63)*cos(" way "20*pi*t) - (Z + 0.93)*sin(" way \
  "20*pi*t)\", "                                                               \
  "z: \"-0.93 + (Y - " y "0.63)*sin(" way "20*pi*t) + (Z + 0.93)*cos(" way "20*pi*t)\"}"
#define RUDDER(which)                                   \
  "{part: rudder_" which                                \
  ", x: \"-2.38 + (X + 2.38)*cos(set) - Y*sin(set)\", " \
  "y: \"(X + 2.38)*sin(set) + Y*cos(set)\", z: Z}"

static void a_zeppelin_turns_to_the_side_of_its_rudder(void **unused) {
  static const char text[] =
      "curvebody: 1\nfluid: {medium: air, parameters: {set: 0}}\nbodies:\n"
      "  - name: zeppelin\n"
      "    shape: {name: zeppelin, length: 6, diameter: 1.4, fin: 1.1, fin_chord: 1, rudder_chord: 0.5, propeller: 0.6,"
      " propeller_chord: 0.08, pitch: 0.6, resolution: 12}\n"
      "    density: 100\n    thickness: 0.001\n    parts: {hull: {density: 0.75}}\n"
      "    points: [{mass: 2.5, at: [0.28, 0, -0.85]}]\n"
      "    poses: {parts: [" PROPELLER("left", "", "") ",\n" PROPELLER("right", "-", "-") ",\n" RUDDER("top") ",\n"
      RUDDER("bottom") "]}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 12}\nrecord: {every: 5}\n";
  static const char *const sets[] = {"fluid.parameters.set=0", "fluid.parameters.set=0.4", "fluid.parameters.set=-0.4"};
  double yaw[3], side[3];
  for (int i = 0; i < 3; i++) {
    double interval;
    course c = {swim(text, &sets[i], 1, &interval), 0, 0};
    const size_t last = c.s->rows - 1;
    yaw[i] = atan2(nose(&c, last, 1), nose(&c, last, 0));
    side[i] = at(&c, CENTRE, last)[1];
    print_message("%s: turned by %.4f rad, %.3f m ahead, %.3f m to the left\n", sets[i], yaw[i],
                  at(&c, CENTRE, last)[0], side[i]);
    check_at_least(at(&c, CENTRE, last)[0], 5);
    simulation_free(c.s);
  }
  /* The flights with the rudder to either side are mirror images, except for round-off that grows with time. */
  check_near(yaw[0], 0, 1e-9);
  check_at_most(yaw[1], -0.3);
  check_near(yaw[2], -yaw[1], 1e-9);
  check_at_most(side[1], -0.5);
  check_near(side[2], -side[1], 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_maple_seed_autorotates_from_tilts_around_a_whole_turn),
      cmocka_unit_test(a_maple_seed_without_weight_in_its_vein_dives),
      cmocka_unit_test(fall_and_spin_of_a_maple_seed_converge_with_order_2_in_the_size_of_its_faces),
      cmocka_unit_test(a_paper_copter_autorotates_from_three_tilts),
      cmocka_unit_test(a_leaf_with_a_stalk_flutters),
      cmocka_unit_test(a_leaf_without_sinks_flat),
      cmocka_unit_test(an_eel_reaches_a_speed_forwards_and_by_the_reversed_wave_backwards),
      cmocka_unit_test(a_turtle_reaches_a_speed_forwards_and_by_the_reversed_stroke_backwards),
      cmocka_unit_test(a_zeppelin_turns_to_the_side_of_its_rudder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
