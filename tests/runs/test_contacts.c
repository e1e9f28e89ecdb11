/* Tests of head-on contacts of balls in every kind of space and with every integrator, compared with closed forms. On a
 * geodesic the distance d of the centres decreases from d0 with the relative speed V. At the sum R of the radii, at the
 * time t1, an impulse reverses V for any masses:
 *
 *   t1 = (d0 - R)/V,  d(t) = R + V (t - t1) after t1;  on a great circle of length 2 pi again every (2 pi - 2 R)/V
 */
#include "collide.h"

static const double pi = 3.14159265358979323846;

typedef struct head_on {
  double d0, v[2], radius[2], mass[2], end;
} head_on;

/* the cases of the thesis (see analysis/README.md), and one case in which all numbers are different */
static const head_on equal_open = {4, {0.5, 0.5}, {0.5, 0.5}, {1, 1}, 10};
static const head_on equal_closed = {3, {0.5, 0.5}, {0.5, 0.5}, {1, 1}, 10};
static const head_on unequal = {2.4, {0.7, 0.2}, {0.15, 0.4}, {3.1, 0.4}, 10};

/* These functions return the time of contact n (from 0), and the distance at the end, on a line (length 0) or on a
 * closed geodesic of this length. */
static double contact_time(const head_on *h, double length, int n) {
  const double R = h->radius[0] + h->radius[1], V = h->v[0] + h->v[1];
  if (length == 0) return n == 0 ? (h->d0 - R) / V : INFINITY;
  return (h->d0 - R) / V + n * (length - 2 * R) / V;
}

static double distance_at_the_end(const head_on *h, double length) {
  const double R = h->radius[0] + h->radius[1], V = h->v[0] + h->v[1];
  int n = 0;
  while (contact_time(h, length, n) <= h->end) n++;
  const double since = V * (h->end - contact_time(h, length, n - 1)), arc = R + since;
  return length == 0 ? arc : fmin(arc, length - arc);
}

static void expect(collision *k, const head_on *h, double length, const char *method, double step, double tolerance) {
  collide(k, method, step, h->end);
  double time[16], worst = 0;
  const int n = contact_times(k, 16, time);
  for (int i = 0; i < n && i < 16; i++) worst = fmax(worst, fabs(time[i] - contact_time(h, length, i)));
  worst = fmax(worst, fabs(apart(k, 0, 1) - distance_at_the_end(h, length)));
  const bool all = contact_time(h, length, n) > h->end && n > 0;
  if (!all || !(worst <= tolerance)) print_error("%s: %d contacts, error %.3g\n", method, n, worst);
  if (getenv("CB_TEST_SHOW")) print_message("%-50s h %-6g %d contacts, error %.3g\n", method, step, n, worst);
  assert_true(all);
  check_at_most(worst, tolerance);
}

/* Adds the two balls at the distance d0 from each other, on a geodesic through the base point. `coefficients` are the
 * components of the geodesic's direction in the frame at the base point; their size does not matter. */
static void open_line(collision *k, const char *space, const double *coefficients, const head_on *h) {
  open_collision(k, space, NULL);
  const cb_space *g = k->c.g;
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], size = 0;
  cb_space_base_point(g, base);
  cb_space_frame(g, base, frame);
  for (int i = 0; i < g->dim; i++) size += coefficients[i] * coefficients[i];
  for (int b = 0; b < 2; b++) {
    double u[CB_COORD_MAX] = {0}, x[CB_COORD_MAX], w[CB_COORD_MAX];
    const double along = (b ? -0.45 : 0.55) * h->d0;
    for (int i = 0; i < g->dim; i++)
      for (int e = 0; e < g->embedding; e++) u[e] += along * coefficients[i] / sqrt(size) * frame[i * g->embedding + e];
    cb_exp(g, base, u, x, w);
    for (int e = 0; e < g->embedding; e++) w[e] *= -h->v[b] / fabs(along);
    add_ball(k, h->mass[b], h->radius[b], x, w);
  }
}

typedef struct method {
  const char *text;
  double step, tolerance;
} method;

/* Tolerances are the round-off of 1000 steps; h^4/2 for methods of order 4 with the step h; and for IDA a hundred times
 * its own tolerance or more. */
static const method methods[] = {{"lobatto {stages: 4}", 0.01, 1e-12},
                                 {"lobatto {stages: 5}", 0.1, 1e-12},
                                 {"lobatto {stages: 3}", 0.01, 5e-9},
                                 {"gauss {stages: 3}", 0.01, 1e-12},
                                 {"gauss {stages: 4, symmetric: false}", 0.05, 1e-12},
                                 {"radau_iia {stages: 4}", 0.01, 1e-12},
                                 {"rk4", 0.01, 5e-9},
                                 {"ida {rtol: 1e-12, atol: 1e-14}", 0.01, 1e-8}};

static const struct {
  const char *name;
  double length, direction[CB_DIM_MAX];
} spaces[] = {{"e3", 0, {1, 0, 0}},
              {"e3", 0, {0.3, -0.8, 0.5}},
              {"s3", 2 * 3.14159265358979323846, {1, 0, 0}},
              {"s3", 2 * 3.14159265358979323846, {0.2, 0.7, -0.4}},
              {"h3", 0, {0, 1, 0}},
              {"h3", 0, {-0.6, 0.1, 0.5}},
              {"h2xe", 0, {0.6, 0.2, 0.8}},
              {"h2xe", 0, {1, 0, 0}}};

static void balls_meet_head_on_as_the_closed_form_says_by_every_method(void **unused) {
  for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++)
    for (int which = 0; which < 2; which++) {
      const head_on *h = which ? &unequal : spaces[s].length > 0 ? &equal_closed : &equal_open;
      collision k;
      open_line(&k, spaces[s].name, spaces[s].direction, h);
      for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        if (getenv("CB_TEST_SHOW")) print_message("%s %d ", spaces[s].name, which);
        expect(&k, h, spaces[s].length, methods[m].text, methods[m].step, methods[m].tolerance);
      }
      close_collision(&k);
    }
}

/* Tests the positions and velocities of the balls that the thesis uses (see analysis/README.md). */
static void the_cases_of_the_thesis_come_out_to_1e_12(void **unused) {
  static const double x[2][2] = {{2, 0}, {2, 3.14159265358979323846}};
  for (int sphere = 0; sphere < 2; sphere++) {
    collision k;
    open_collision(&k, sphere ? "s3" : "h3", NULL);
    for (int b = 0; b < 2; b++) {
      const double q[3] = {sphere ? pi / 2 : x[b][0], pi / 2, sphere ? (b ? 1.5 : -1.5) : x[b][1]},
                   u[3] = {sphere ? 0 : -0.5, 0, sphere ? (b ? -0.5 : 0.5) : 0};
      double point[CB_COORD_MAX], v[CB_COORD_MAX];
      const cb_chart *polar = cb_chart_find(k.c.g, "polar");
      check_ok(polar->to_point(k.c.g, q, point, NULL));
      check_ok(cb_chart_push(k.c.g, polar, q, u, point, v));
      add_ball(&k, 1, 0.5, point, v);
    }
    collide(&k, "lobatto {stages: 4}", 0.01, 10);
    double time[4];
    assert_int_equal(contact_times(&k, 4, time), sphere ? 2 : 1);
    check_near(time[0], sphere ? 2 : 3, 1e-12);
    if (sphere) check_near(time[1], 2 * pi, 1e-12);
    check_near(apart(&k, 0, 1), sphere ? 4 * pi - 11 : 8, 1e-12);
    close_collision(&k);
  }
}

/* Balls move in charts, in directions in which they do not reach a pole before the end. The tolerances of IDA and rk4
 * are larger. */
static void balls_meet_head_on_in_charts(void **unused) {
  static const char *const charts[] = {"h3 {chart: polar}", "h3 {chart: poincare}", "s3 {chart: polar}",
                                       "s3 {chart: stereographic}", "e3 {chart: polar}"};
  static const method in_charts[] = {{"gauss {stages: 4}", 0.01, 1e-11},
                                     {"lobatto {stages: 5}", 0.01, 1e-11},
                                     {"radau_iia {stages: 4}", 0.01, 1e-11},
                                     {"rk4", 0.005, 1e-7},
                                     {"ida {rtol: 1e-11, atol: 1e-13}", 0.01, 1e-7}};
  head_on h = unequal;
  h.end = 3; /* the run ends before the balls reach a pole of the chart */
  for (size_t c = 0; c < sizeof charts / sizeof *charts; c++) {
    collision k;
    const double direction[3] = {0.5, 0.3, 0.2};
    open_line(&k, charts[c], direction, &h);
    for (size_t m = 0; m < sizeof in_charts / sizeof *in_charts; m++) {
      if (getenv("CB_TEST_SHOW")) print_message("%s ", charts[c]);
      expect(&k, &h, charts[c][0] == 's' ? 2 * pi : 0, in_charts[m].text, in_charts[m].step, in_charts[m].tolerance);
    }
    close_collision(&k);
  }
}

/* Returns the arc length s from the origin to the point (a, 0, 0) of the space `ih`, whose metric is r^2 + 2 times the
 * identity, with the distance r from the origin in the coordinates: s = asinh(a/sqrt 2) + (a/2) sqrt(a^2 + 2). In the
 * half-space of the next test, s = log z on a vertical line. */
static double length_ih(double a) { return asinh(a / sqrt(2)) + a / 2 * sqrt(a * a + 2); }

static double place_ih(double s) {
  double a = s / 2;
  for (int i = 0; i < 60; i++) a -= (length_ih(a) - s) / sqrt(a * a + 2);
  return a;
}

static void balls_meet_head_on_in_spaces_known_by_their_metric(void **unused) {
  static const char half_space[] =
      "metric {metric: [[1/z^2], [0, 1/z^2], [0, 0, 1/z^2]], coordinates: [x, y, z], "
      "domain: z > 0, base: [0, 0, 1]}";
  static const method in_metrics[] = {{"gauss {stages: 3}", 0.01, 1e-10},
                                      {"lobatto {stages: 4}", 0.01, 1e-10},
                                      {"radau_iia {stages: 3}", 0.01, 1e-9},
                                      {"ida {rtol: 1e-11, atol: 1e-13}", 0.01, 1e-7}};
  head_on h = unequal;
  h.end = 3;
  for (int which = 0; which < 2; which++) {
    collision k;
    open_collision(&k, which ? half_space : "ih", NULL);
    for (int b = 0; b < 2; b++) {
      const double s = (b ? -0.45 : 0.55) * h.d0, rate = -copysign(h.v[b], s);
      double x[3] = {0}, v[3] = {0};
      if (which) {
        x[0] = 0.3;
        x[1] = -0.2;
        x[2] = exp(s);
        v[2] = rate * exp(s);
      } else {
        x[0] = place_ih(s);
        v[0] = rate / sqrt(x[0] * x[0] + 2);
      }
      add_ball(&k, h.mass[b], h.radius[b], x, v);
    }
    for (size_t m = 0; m < sizeof in_metrics / sizeof *in_metrics; m++) {
      if (getenv("CB_TEST_SHOW")) print_message("%s ", which ? "half space" : "ih");
      expect(&k, &h, 0, in_metrics[m].text, in_metrics[m].step, in_metrics[m].tolerance);
    }
    close_collision(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_cases_of_the_thesis_come_out_to_1e_12),
      cmocka_unit_test(balls_meet_head_on_as_the_closed_form_says_by_every_method),
      cmocka_unit_test(balls_meet_head_on_in_charts),
      cmocka_unit_test(balls_meet_head_on_in_spaces_known_by_their_metric),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
