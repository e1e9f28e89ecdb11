/* Tests of gaits that cross breaks of their bundle (values of a shape variable where the connection A or the metric M
 * is not smooth). At a break, optimal gaits are refracted like light: in closed forms, and as limits of smooth bundles.
 * Gaits that are not refracted are not optimal, and unsupported cases are reported by name. */
#include "bundle/gait_private.h"
#include "gaits.h"
#include "yaml/yaml.h"
#include "optimum/find.h"

static cb_bundle *bundle_of(const char *text) {
  cb_tree *tree;
  cb_bundle *b;
  check_ok(cb_yaml_read_text("b.yaml", text, strlen(text), &tree));
  check_ok(cb_bundle_create("expressions", cb_tree_root(tree), &b));
  cb_tree_free(tree);
  return b;
}

/* Creates a bundle in the shapes (a, b). For a < 0 it has the metric M = 1, the connection A = (0, a) and the curvature
 * 1. For a > 0 it has M = n^2, A = (0, c a) and the curvature c. */
static cb_bundle *two_media(double n, double c) {
  char text[400];
  snprintf(text, sizeof text,
           "group: r1\nshape: [a, b]\nbreaks: {a: [0]}\nparameters: {m: %.17g, c: %.17g}\n"
           "A: [[\"0\", \"if(a < 0, a, c*a)\"]]\nM: [\"if(a < 0, 1, m)\", \"if(a < 0, 1, m)\"]\n",
           n * n, c);
  return bundle_of(text);
}

/* Describes the gait through (-1, 0) in the plane of the shapes (a, b) of two_media, symmetric about b = 0. For a < 0
 * it has two arcs of radius rho, which meet the line a = 0 at b = -h and h at the angle p to its normal. For a > 0 it
 * has one arc of radius n rho/c, which begins at the angle q, so h = n rho/c cos q. off: the residuals of Snell's law
 * sin p = n sin q and of the area. Returns the cost E = length^2. */
static double lens(double n, double c, double area, double rho, double q, double off[2]) {
  const double R = n * rho / c, h = R * cos(q), half = asin(hypot(1, h) / (2 * rho)), p = half - atan(h);
  const double turn = M_PI - 2 * q;
  off[0] = sin(p) - n * sin(q);
  off[1] = h + rho * rho * (2 * half - sin(2 * half)) + c * R * R / 2 * (turn - sin(turn)) - area;
  return pow(4 * half * rho + n * turn * R, 2);
}

/* Solves off = 0 of `lens` for rho and q by Newton's method with differences, from the given values. Returns the
 * cost E, and in *h half the distance between the two crossings. */
static double least_lens(double n, double c, double area, double rho, double q, double *h) {
  const double e = 1e-6;
  double off[2], a[2], b[2];
  for (int k = 0; k < 100; k++) {
    double J[2][2];
    for (int i = 0; i < 2; i++) {
      lens(n, c, area, rho + (i == 0) * e, q + (i == 1) * e, a);
      lens(n, c, area, rho - (i == 0) * e, q - (i == 1) * e, b);
      for (int j = 0; j < 2; j++) J[j][i] = (a[j] - b[j]) / (2 * e);
    }
    lens(n, c, area, rho, q, off);
    const double det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
    const double x = (J[1][1] * off[0] - J[0][1] * off[1]) / det, y = (J[0][0] * off[1] - J[1][0] * off[0]) / det;
    const double part = fmin(1, .2 / fmax(fabs(x), fabs(y)));
    rho -= part * x;
    q -= part * y;
  }
  const double E = lens(n, c, area, rho, q, off);
  check_at_most(hypot(off[0], off[1]), 1e-13);
  *h = n * rho / c * cos(q);
  return E;
}

/* For the first crossing of a = 0, computes its coordinate b in *place, and the sines of the angles to the normal and
 * the speeds just before and after it. */
static void sines(const cb_bundle *b, const cb_gait *gait, double *sine, double *speed, double *place) {
  double t = 0, r[2], v[2];
  for (int k = 0; k < cb_gait_edges(gait); k++) { /* the crossing is a vertex between two arcs */
    cb_gait_at(gait, cb_gait_edge(gait, k), r, NULL);
    if (fabs(r[0]) < 1e-12) t = cb_gait_edge(gait, k);
    if (t > 0) break;
  }
  cb_gait_at(gait, t, r, NULL);
  *place = r[1];
  for (int side = 0; side < 2; side++) {
    double M[4];
    cb_gait_at(gait, t + (side ? 1e-9 : -1e-9), r, v);
    check_ok(cb_bundle_connection(b, r, NULL, NULL, M, NULL));
    sine[side] = v[1] / hypot(v[0], v[1]);
    speed[side] = sqrt(M[0]) * hypot(v[0], v[1]);
  }
}

/* Finds gaits that move by `amount`, from the given start and `starts` random starts. */
static cb_optima *best(const cb_bundle *b, double amount, const double *start_shape, const cb_gait *start, int starts) {
  const cb_optimum_problem p = {.bundle = b,
                                .target = {.kind = CB_GAIT_MOVE, .value = amount},
                                .start_shape = start_shape,
                                .start = start,
                                .starts = starts,
                                .seed = 1};
  cb_optima *o;
  check_ok(cb_optimum_find(&p, &o));
  return o;
}

static const double start_shape[2] = {-1, 0};

/* In the first case the metric is smaller beyond the break (n < 1), and A has a kink. In the second case only A has a
 * kink, and in the third only M jumps. */
static void a_gait_is_refracted_as_light(void **state) {
  const double media[3][2] = {{.9, 1.3}, {1, 3}, {.8, 1}};
  for (int k = 0; k < 3; k++) {
    const double n = media[k][0];
    cb_bundle *b = two_media(n, media[k][1]);
    cb_gait *start = circle(0, 0, 1);
    double h, sine[2], speed[2], place;
    const double E = least_lens(n, media[k][1], 3, 1.24, -.2, &h);
    cb_optima *o = best(b, -3, start_shape, start, 4);
    check_relative(o->item[0].cost, E, 1e-12);
    assert_int_equal(o->item[0].index, 0);
    sines(b, o->item[0].gait, sine, speed, &place);
    check_near(fabs(place), h, 1e-8); /* the cost E has an error of second order in the error of the shape */
    check_near(sine[0], sine[1] * n, 1e-7);
    check_relative(speed[0], speed[1], 1e-7);
    cb_optima_free(o);
    cb_gait_free(start);
    cb_bundle_free(b);
  }
}

/* A gait that crosses the break at other shapes, or that has another speed on one side of the break, is not
 * stationary. */
static void the_optimality_knows_what_is_refracted(void **state) {
  cb_bundle *b = two_media(.9, 1.3);
  cb_gait *start = circle(0, 0, 1), *bent, *paced;
  cb_optima *o = best(b, -3, start_shape, start, 4);
  const cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_MOVE}, .start_shape = start_shape};
  cb_optimality v;
  check_ok(cb_optimality_of(&p, o->item[0].gait, &v));
  assert_true(v.stationary);
  assert_int_equal(v.index, 0);
  check_relative(v.cost, o->item[0].cost, 1e-12);
  check_at_most(v.gain, 1e-12);
  /* This gait crosses the break at other shapes. */
  const double scale[2] = {1, 1.1}, offset[2] = {0, 0};
  check_ok(cb_gait_moved(o->item[0].gait, scale, offset, &bent));
  check_ok(cb_optimality_of(&p, bent, &v));
  assert_false(v.stationary);
  check_at_least(v.slope, 1e-3);
  check_at_least(v.gain, 1e-5);
  /* This gait runs through the same shapes, but with another speed on one side of the break. */
  double time[2], r[2];
  int count = 0;
  for (int k = 0; k < cb_gait_edges(o->item[0].gait); k++) {
    cb_gait_at(o->item[0].gait, cb_gait_edge(o->item[0].gait, k), r, NULL);
    if (fabs(r[0]) < 1e-9 && count < 2) time[count++] = cb_gait_edge(o->item[0].gait, k);
  }
  assert_int_equal(count, 2);
  char text[300];
  const double late = time[1] + .05;
  snprintf(text, sizeof text, "if(t < %.17g, t, if(t < %.17g, %.17g + (t - %.17g)*%.17g, 1 - (1 - t)*%.17g))", time[0],
           late, time[0], time[0], (time[1] - time[0]) / (late - time[0]), (1 - time[1]) / (1 - late));
  cb_expression *s = expression(text);
  check_ok(cb_gait_paced(o->item[0].gait, s, &paced));
  check_ok(cb_optimality_of(&p, paced, &v));
  assert_false(v.stationary);
  check_at_least(v.slope, .01);
  check_relative(v.gain, (v.cost - o->item[0].cost) / v.cost, 1e-3);
  cb_expression_free(s);
  cb_gait_free(paced);
  cb_gait_free(bent);
  cb_gait_free(start);
  cb_optima_free(o);
  cb_bundle_free(b);
}

/* Creates a bundle on SO(3) whose A and M contain `size`, a function of the shape variable a. With |a - 0.1| they have
 * kinks. With sqrt((a - 0.1)^2 + e^2) they are smooth, and the cost differs by e^2 log e. */
static cb_bundle *bent_bundle(const char *size, bool breaks) {
  char text[800];
  snprintf(text, sizeof text,
           "group: so3\nshape: [a, b]\n%s"
           "A: [[\"0\", \"a + 0.3*%s\"], [\"0.2*b\", \"0.1\"], [\"0\", \"0.2*a\"]]\n"
           "M: [\"1 + a^2 + b^2 + 0.2*%s\", \"1 + a^2 + b^2 + 0.4*%s\"]\n",
           breaks ? "breaks: {a: [0.1]}\n" : "", size, size, size);
  return bundle_of(text);
}

static double least_turn(cb_bundle *b, int index) {
  cb_gait *start = circle(.1, 0, .5);
  const cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_TURN, .value = .5}, .start = start};
  cb_optima *o;
  cb_optimality v;
  check_ok(cb_optimum_find(&p, &o));
  const double cost = o->item[0].cost;
  assert_int_equal(o->item[0].index, index);
  /* The loop may start anywhere. */
  for (int k = 0; k < 3; k++) {
    cb_gait *shifted;
    check_ok(cb_gait_shifted(o->item[0].gait, .31 * k, &shifted));
    check_ok(cb_optimality_of(&p, shifted, &v));
    assert_true(v.stationary);
    assert_int_equal(v.index, index);
    assert_int_equal(v.flat, 0);
    check_relative(v.cost, cost, 1e-11);
    cb_gait_free(shifted);
  }
  cb_optima_free(o);
  cb_gait_free(start);
  return cost;
}

static void kinks_are_limits_of_smooth_bundles(void **state) {
  cb_bundle *b = bent_bundle("abs(a - 0.1)", true);
  const double cost = least_turn(b, 0);
  double before = 0;
  cb_bundle_free(b);
  for (int k = 0; k < 3; k++) {
    char size[60];
    snprintf(size, sizeof size, "sqrt((a - 0.1)^2 + %g^2)", .04 / (1 << k));
    b = bent_bundle(size, false);
    const double off = least_turn(b, 0) - cost;
    check_at_least(off, 0);
    if (k) {
      check_at_least(before / off, 2.7);
      check_at_most(before / off, 4);
    }
    before = off;
    cb_bundle_free(b);
  }
}

/* In a narrow strip between expensive regions the cost is low, so the best gait runs along the edges of the strip,
 * which are breaks. The search and the check of optimality report an error for such a gait. */
static void what_runs_along_a_break_is_refused(void **state) {
  cb_bundle *b = bundle_of(
      "group: r1\nshape: [a, b]\nbreaks: {a: [-0.6, 0.6]}\nA: [[\"0\", \"a\"]]\n"
      "M: [\"if(abs(a) < 0.6, 1, 100)\", \"if(abs(a) < 0.6, 1, 100)\"]\n");
  const double corners[8] = {.6, -1, .6, 1, -.2, 1, -.2, -1}, r[6] = {-1, -1, 1, 1, -1, 1};
  cb_gait *start = circle(0, 0, .5), *along, *vertex;
  cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = -3}, .start = start};
  cb_optima *o;
  cb_optimality v;
  check_error_begins(
      cb_optimum_find(&p, &o), CB_STEP_NO_CONVERGENCE,
      "no gait was found that reaches the target: the search for a gait across a = 0.6, a break of its bundle, did "
      "not converge: the best gait may run along it");
  check_ok(cb_gait_polygon(2, 4, corners, &along));
  check_error(cb_optimality_of(&p, along, &v), CB_ERROR_UNSUPPORTED,
              "the gait runs along a = 0.6, a break of its bundle, at time 0: that is not supported; try bounds that "
              "keep the gait off the break");
  cb_bundle_free(b);
  b = bundle_of("group: r1\nshape: [a, b]\nbreaks: {a: [0], b: [0]}\nA: [[\"0\", \"abs(a)\"]]\n");
  check_ok(cb_gait_polygon(2, 3, r, &vertex));
  p.bundle = b;
  check_error_begins(cb_optimality_of(&p, vertex, &v), CB_ERROR_UNSUPPORTED,
                     "the gait crosses breaks of a and b at once, at time 0.20710");
  cb_gait_free(along);
  cb_gait_free(vertex);
  cb_gait_free(start);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_gait_is_refracted_as_light), cmocka_unit_test(the_optimality_knows_what_is_refracted),
      cmocka_unit_test(kinks_are_limits_of_smooth_bundles), cmocka_unit_test(what_runs_along_a_break_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
