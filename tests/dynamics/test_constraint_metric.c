/* Tests of angles and knife edges in spaces that are given only by a metric. In such a
 * space their values are compared with those in the built-in space with the same metric, and their derivatives with
 * finite differences. Other tests are about motion by different integrators, and about errors. */
#include "check_intrinsic.h"
#include "constrained.h"
#include "linked.h"

extern const cb_constraint_class cb_constraint_angle, cb_constraint_knife_edge;

enum { K = CB_COORD_MAX, SIZE = 3 * K };

static void element_at(const cb_space *g, const cb_constraint_class *class, int width, double (*x)[K], int order,
                       cb_element *e) {
  cb_constraints c = {.space = g};
  cb_constraint row = {.class = class, .elements = 1, .width = width, .world = -1};
  const double *at[CB_ELEMENT_PARTICLES];
  for (int i = 0; i < width; i++) at[i] = x[i];
  memset(e, 0, sizeof *e);
  check_ok(class->element(&c, &row, 0, 0, at, order, e));
}

/* --- against closed forms --- */

static const struct {
  const char *space, *chart, *text;
  double low[3], high[3];
} twins[] = {
    {"s3",
     "polar",
     "{metric: [[1], [0, sin(a)^2], [0, 0, (sin(a)*sin(b))^2]], base: [1, 1, 0], coordinates: [a, b, g]}",
     {0.5, 0.8, -0.7},
     {1.5, 2.2, 0.7}},
    {"h3",
     "poincare",
     "{metric: [[4*f], [0, 4*f], [0, 0, 4*f]], coordinates: [x, y, z], domain: x^2 + y^2 + z^2 < 1}",
     {-0.4, -0.4, -0.4},
     {0.4, 0.4, 0.4}},
    {"h2xe",
     "polar",
     "{metric: [[1], [0, sinh(a)^2], [0, 0, 1]], coordinates: [a, b, z], base: [1, 0, 0]}",
     {0.5, -0.8, -0.6},
     {1.5, 0.8, 0.6}},
    {"h2",
     "polar",
     "{metric: [[1], [0, sinh(a)^2]], coordinates: [a, b], base: [1, 0]}",
     {0.5, -0.8, 0},
     {1.5, 0.8, 0}},
    {"s2", "stereographic", "{metric: [[4*f], [0, 4*f]], coordinates: [x, y]}", {-0.6, -0.6, 0}, {0.6, 0.6, 0}}};

/* Makes a space from the text of a metric in which `*f` stands for multiplication by 1/(1 + sign |x|^2)^2. */
static cb_space *text_of(const char *text, int dim, int sign) {
  char whole[1024] = "", f[64];
  snprintf(f, sizeof f, dim == 3 ? "/(1 %c x^2 %c y^2 %c z^2)^2" : "/(1 %c x^2 %c y^2)^2", sign > 0 ? '+' : '-',
           sign > 0 ? '+' : '-', sign > 0 ? '+' : '-');
  for (const char *at = text; *at; at++) {
    const size_t n = strlen(whole);
    if (at[0] == '*' && at[1] == 'f' && at++)
      snprintf(whole + n, sizeof whole - n, "%s", f);
    else
      snprintf(whole + n, sizeof whole - n, "%c", *at);
  }
  return check_text_space(whole);
}

static bool stands_well(const cb_space *g, double (*x)[K]) {
  for (int i = 0; i < 3; i++) {
    double u[K], v[K], uu = 0, vv = 0, uv = 0, gij[9];
    const int j = (i + 1) % 3, k = (i + 2) % 3, n = g->dim;
    if (!(cb_distance(g, x[i], x[j]) > 0.2)) return false;
    check_ok(cb_log(g, x[i], x[j], u));
    check_ok(cb_log(g, x[i], x[k], v));
    metric_at(g, x[i], gij, NULL, NULL);
    for (int a = 0; a < n; a++)
      for (int b = 0; b < n; b++) {
        uu += gij[a * n + b] * u[a] * u[b];
        vv += gij[a * n + b] * v[a] * v[b];
        uv += gij[a * n + b] * u[a] * v[b];
      }
    if (fabs(uv) > 0.97 * sqrt(uu * vv)) return false;
  }
  return true;
}

static void angles_and_knife_edges_are_those_of_closed_forms(void **s) {
  uint64_t state = check_seed();
  for (size_t t = 0; t < sizeof twins / sizeof *twins; t++) {
    cb_space *closed;
    check_ok(cb_space_create(twins[t].space, NULL, &closed));
    closed->chart = cb_chart_find(closed, twins[t].chart);
    closed->k = closed->dim;
    cb_space *text = text_of(twins[t].text, closed->dim, twins[t].space[0] == 's');
    double worst[3] = {0};
    for (int trial = 0; trial < (CHECK_SANITIZED ? 3 : 20); trial++) {
      static cb_element a, b;
      double x[3][K];
      do
        for (int i = 0; i < 3; i++)
          for (int c = 0; c < closed->dim; c++) x[i][c] = check_uniform(&state, twins[t].low[c], twins[t].high[c]);
      while (!stands_well(text, x));
      for (int which = 0; which < (closed->dim == 2 ? 2 : 1); which++) {
        const cb_constraint_class *class = which ? &cb_constraint_knife_edge : &cb_constraint_angle;
        const int width = which ? 2 : 3, size = width * closed->dim;
        element_at(closed, class, width, x, 2, &a);
        element_at(text, class, width, x, 2, &b);
        /* The order of the coordinates determines the left side of a knife edge, so the sign may differ. */
        const double sign = which && a.gradient[0] * b.gradient[0] < 0 ? -1 : 1;
        for (int i = 0; which && i < size * size; i++) b.hessian[i] *= sign;
        for (int i = 0; which && i < size; i++) b.gradient[i] *= sign;
        double scale = 1;
        for (int i = 0; i < size * size; i++) scale = fmax(scale, fabs(a.hessian[i]));
        worst[0] = fmax(worst[0], fabs(a.value - b.value));
        worst[1] = fmax(worst[1], check_distance_max(size, a.gradient, b.gradient) / sqrt(scale));
        worst[2] = fmax(worst[2], check_distance_max(size * size, a.hessian, b.hessian) / scale);
      }
    }
    print_message("%s %s: value %.1e, gradient %.1e, Hessian %.1e\n", closed->class_->name, twins[t].chart, worst[0],
                  worst[1], worst[2]);
    check_at_most(worst[0], 1e-11);
    check_at_most(worst[1], 1e-9);
    check_at_most(worst[2], 1e-7); /* the Hessian comes from differences of values with errors of 1e-10 */
    cb_space_free(text);
    cb_space_free(closed);
  }
}

/* --- in every space --- */

/* Makes the coordinates x of three points at distances of 0.15 to 0.35 from a random centre. They are more than 0.2
 * apart, and no angle of their triangle is near 0 or pi (stands_well). */
static void some_triangle(const cb_space *g, uint64_t *state, double (*x)[K]) {
  do {
    double centre[K], v[K];
    random_coordinates(g, state, centre);
    for (int i = 0; i < 3; i++) {
      double size = 0, gij[9];
      check_random_tangent(g, state, centre, 1, v);
      metric_at(g, centre, gij, NULL, NULL);
      for (int a = 0; a < g->dim; a++)
        for (int b = 0; b < g->dim; b++) size += gij[a * g->dim + b] * v[a] * v[b];
      const double length = check_uniform(state, 0.15, 0.35);
      for (int a = 0; a < g->dim; a++) v[a] *= length / sqrt(size);
      cb_exp(g, centre, v, x[i], NULL);
    }
  } while (!stands_well(g, x));
}

static void check_element(const cb_space *g, const cb_constraint_class *class, int width, double (*x)[K]) {
  static const double weight[3] = {45. / 60, -9. / 60, 1. / 60}, h = 5e-4;
  static cb_element e, moved;
  const int n = g->dim, size = width * n;
  double by_value[SIZE] = {0}, by_gradient[SIZE][SIZE] = {{0}}, scale = 1, steep = 1;
  element_at(g, class, width, x, 2, &e);
  for (int j = 0; j < size; j++) {
    const double at = x[j / n][j % n];
    for (int k = 1; k <= 3; k++)
      for (int sign = -1; sign <= 1; sign += 2) {
        x[j / n][j % n] = at + sign * k * h;
        element_at(g, class, width, x, 1, &moved);
        by_value[j] += sign * weight[k - 1] / h * moved.value;
        for (int i = 0; i < size; i++) by_gradient[i][j] += sign * weight[k - 1] / h * moved.gradient[i];
      }
    x[j / n][j % n] = at;
  }
  for (int i = 0; i < size; i++) steep = fmax(steep, fabs(e.gradient[i]));
  for (int i = 0; i < size * size; i++) scale = fmax(scale, fabs(e.hessian[i]));
  for (int i = 0; i < size; i++) {
    if (!class->velocity) check_near(by_value[i], e.gradient[i], 1e-8 * steep);
    for (int j = 0; j < size; j++) check_near(by_gradient[i][j], e.hessian[i * size + j], 1e-7 * scale);
  }
}

static void derivatives_in(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < (CHECK_SANITIZED ? 1 : 4) && g->dim > 1; trial++) {
    double x[3][K];
    some_triangle(g, state, x);
    check_element(g, &cb_constraint_angle, 3, x);
    check_element(g, &(cb_constraint_class){.element = cb_constraint_angle.cosine}, 3, x);
    if (g->dim == 2) check_element(g, &cb_constraint_knife_edge, 2, x);
  }
}
static void derivatives_are_those_of_differences(void **s) { check_every_intrinsic_space(derivatives_in); }

/* The row of a knife edge is the unit covector across the direction to the second particle, which cb_log computes. */
static void blades_in(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < 10 && g->dim == 2; trial++) {
    static cb_element e;
    double x[3][K], u[K], gij[4], d = 0;
    some_triangle(g, state, x);
    element_at(g, &cb_constraint_knife_edge, 2, x, 1, &e);
    check_ok(cb_log(g, x[0], x[1], u));
    metric_at(g, x[0], gij, NULL, NULL);
    for (int i = 0; i < 4; i++) d += gij[i] * u[i / 2] * u[i % 2];
    const double root = sqrt(gij[0] * gij[3] - gij[1] * gij[2]) / sqrt(d);
    check_near(e.gradient[0], -root * u[1], 1e-11);
    check_near(e.gradient[1], root * u[0], 1e-11);
    check_near(e.gradient[2], 0, 0);
  }
}
static void a_knife_edge_cuts_along_the_geodesic(void **s) { check_every_intrinsic_space(blades_in); }

/* By Gauss and Bonnet the sum of the angles of a small triangle exceeds pi by its area times the curvature K, up to
 * terms of third order in its sides. On the paraboloid z = (u^2 + v^2)/2 the curvature is 1/(1 + u^2 + v^2)^2. */
static void small_triangles_have_the_excess_of_their_curvature(void **s) {
  cb_space *g = check_text_space(check_text_metrics[3]);
  const double u = 0.4, v = 0.3, f = 1 + u * u + v * v, side = 0.02;
  double x[5][K] = {{u, v}, {u + side, v}, {u, v + side}, {u, v}, {u + side, v}}, sum = 0;
  for (int i = 0; i < 3; i++) {
    static cb_element e;
    element_at(g, &cb_constraint_angle, 3, x + i, 0, &e);
    sum += e.value;
  }
  const double area = sqrt(f) * side * side / 2;
  check_near(sum - acos(-1), area / (f * f), 0.03 * area);
  assert_true(sum - acos(-1) > 0.5 * area);
  cb_space_free(g);
}

/* --- motion --- */

static const double start[3][3] = {{0.4, 0.1, 0.1}, {-0.1, 0.35, -0.2}, {-0.25, -0.3, 0.15}};

/* Makes three unequal masses that springs join, with an angle or a knife edge as constraint. They begin to move at
 * start + shift. */
static void open_held(body_case *c, const char *space, const double *shift, bool knife_edge) {
  memset(c, 0, sizeof *c);
  check_ok(*space == '{' ? ((c->g = check_text_space(space)), CB_OK) : cb_space_create(space, NULL, &c->g));
  check_ok(cb_builder_create(c->g, &c->builder));
  check_ok(cb_builder_body(c->builder, "body", NULL));
  for (int a = 0; a < 3; a++) {
    double x[K] = {0}, v[K] = {0.2 - 0.1 * a, 0.1 * a - 0.05, 0.05 + 0.1 * a};
    for (int i = 0; i < c->g->dim; i++) x[i] = start[a][i] + shift[i];
    add_particle(c, 1 + 0.6 * a, x, v);
  }
  for (int a = 0; a < 3; a++) check_ok(cb_builder_spring(c->builder, a, (a + 1) % 3, 4, 0.6, 0));
  if (knife_edge)
    check_ok(cb_builder_knife_edge(c->builder, NULL, 0, 1));
  else
    check_ok(cb_builder_angle(c->builder, NULL, 0, 1, 2, as_it_starts));
  finish_system(c);
  constrained_project(c, c->state);
}

static void held_bodies_move_alike_by_every_method(void **s) {
  static const struct {
    const char *space;
    double shift[3];
    bool knife_edge;
  } cases[] = {{"ih", {0.3, 0.2, 0.1}, false},
               {"nil", {0.1, 0.1, 0}, false},
               {"torus", {0.3, 0.4, 0}, false},
               {"torus", {0.3, 0.4, 0}, true},
               {"{metric: [[1 + u^2], [u*v, 1 + v^2]], coordinates: [u, v]}", {0.2, 0.1, 0}, true},
               {"{metric: [[1 + u^2], [u*v, 1 + v^2], [0.2*sin(w), 0, 2 + cos(u)]]}", {0.2, 0.1, 0.3}, false}};
  static const struct {
    const char *method;
    double h;
    bool velocity;
  } methods[] = {{"radau_iia {stages: 3}", 0.025, true},
                 {"ida {rtol: 1e-10, atol: 1e-12}", 0.25, true},
                 {"lobatto {stages: 4}", 0.05, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double x[3][64], v[3][64];
    for (int j = 0; j < 3; j++) {
      body_case c;
      if (cases[i].knife_edge && !methods[j].velocity) continue;
      open_held(&c, cases[i].space, cases[i].shift, cases[i].knife_edge);
      use_method(&c, methods[j].method);
      const double before = energy(&c);
      advance(&c, methods[j].h, (int)lround(0.5 / methods[j].h));
      check_at_most(residual(&c), 1e-10);
      check_near(energy(&c), before, 1e-7 * fabs(before));
      const int count = c.state->n * c.state->k;
      memcpy(x[j], c.state->x, (size_t)count * sizeof(double));
      velocities(&c, v[j]);
      const double apart = fmax(check_distance_max(count, x[j], x[0]), check_distance_max(count, v[j], v[0]));
      if (j)
        print_message("%.40s, %s: %s %.1e\n", cases[i].space, cases[i].knife_edge ? "knife_edge" : "angle",
                      methods[j].method, apart);
      check_at_most(apart, 1e-7);
      close_case(&c);
    }
  }
}

/* --- errors --- */

static void figures_that_sides_do_not_tell_are_refused(void **s) {
  static const int triangle[1][3] = {{0, 1, 2}};
  cb_space *g;
  cb_builder *b;
  check_ok(cb_space_create("ih", NULL, &g));
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", NULL));
  for (int i = 0; i < 3; i++) check_ok(cb_builder_particle(b, NULL, 1, 0, 0, start[i], NULL, NULL));
  check_error(cb_builder_area(b, NULL, 1, triangle, as_it_starts), CB_ERROR_UNSUPPORTED,
              "area: expected a space of constant curvature, found ih: sides do not determine a figure there");
  check_error(cb_builder_volume(b, NULL, 1, triangle, as_it_starts), CB_ERROR_UNSUPPORTED,
              "volume: expected a space of constant curvature, found ih: sides do not determine a figure there");
  check_error(cb_builder_knife_edge(b, NULL, 0, 1), CB_ERROR_ARGUMENT,
              "knife_edge: expected a space of dimension 2, found 3");
  check_error_begins(cb_builder_angle(b, NULL, 0, 1, 2, (cb_target){4, NULL}), CB_ERROR_ARGUMENT, "angle: value 4");
  cb_builder_free(b);
  cb_space_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(angles_and_knife_edges_are_those_of_closed_forms),
      cmocka_unit_test(derivatives_are_those_of_differences),
      cmocka_unit_test(a_knife_edge_cuts_along_the_geodesic),
      cmocka_unit_test(small_triangles_have_the_excess_of_their_curvature),
      cmocka_unit_test(held_bodies_move_alike_by_every_method),
      cmocka_unit_test(figures_that_sides_do_not_tell_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
