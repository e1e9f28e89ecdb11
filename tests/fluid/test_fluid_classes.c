/* Tests of all classes of flows and media. Derivatives are compared with differences at random places and times, and
 * results for many places with results for one place. Other tests compare classes that are functions on jets with
 * expressions, and check sums of flows and the fluid at one place. */
#include "flow_slopes.h"
#include "fluid/medium_surfaces.h"
#include "medium.h"

/* An example of a built-in class: its name, and its value in a scenario. NULL stands for a flow on a grid. */
typedef struct example {
  const char *name, *value;
} example;

static const example flow_examples[] = {
    {"grid", NULL},
    {"shear", "{velocity: [0.3, -1, 2], gradient: [[0.1, 1, -2], [0.5, 0.2, 1], [3, -1, -0.3]]}"},
    {"uniform", "[1, -2, 0.5]"},
    {"velocity", "['sin(2*y)*cos(t)', 'x*z + t^2', 'exp(-x^2)*k']"},
    {"vortex", "{centre: [0.1, 0.2, 0.3], axis: [1, 2, 3], circulation: 1.5, core: 0.7}"},
    {NULL, NULL}};

static const example medium_examples[] = {
    {"air", "{}"},
    {"density", "1000 - 20*tanh(z) + k*x*y"},
    {"layers", "[{below: -0.2, density: 1030}, {below: 0.3, density: 998}, {density: 1.2}]"},
    {"none", "{}"},
    {"water", "{}"},
    {NULL, NULL}};

static const char *const names[] = {"k"};
static const double numbers[] = {2};
static const cb_expression_scope parameters = {.parameters = names, .values = numbers, .n_parameters = 1};

static const example *example_of(const example *all, const char *name) {
  while (all->name && strcmp(all->name, name)) all++;
  if (!all->name) fail_msg("the class `%s` has no example", name);
  return all;
}

static cb_tree *tree_of(const char *text) {
  cb_tree *tree;
  check_ok(cb_tree_read("example", text, &tree));
  return tree;
}

/* Creates a flow of the class c. The grid has 5 x 4 x 6 points, 4 times and random velocities. */
static cb_flow *flow_of(const cb_fluid_flow_class *c, uint64_t *seed) {
  enum { COUNT = 4 * 5 * 4 * 6 };
  double u[COUNT][3];
  cb_flow *f;
  const example *e = example_of(flow_examples, c->name);
  if (e->value) {
    cb_tree *tree = tree_of(e->value);
    check_ok(cb_flow_create_class(c, cb_tree_root(tree), &parameters, &f));
    cb_tree_free(tree);
    return f;
  }
  for (int i = 0; i < COUNT; i++) random_place(seed, 1, u[i]);
  check_ok(cb_flow_create_grid(
      c, &(cb_flow_grid){{5, 4, 6}, {-1, -1, -1}, {0.5, 0.7, 0.4}, 4, 0, 1, {false, true, false, false}, u[0]}, &f));
  return f;
}

static cb_medium *medium_of(const cb_fluid_medium_class *c, const double up[3]) {
  cb_medium *m;
  cb_tree *tree = tree_of(example_of(medium_examples, c->name)->value);
  check_ok(cb_medium_create_class(c, cb_tree_root(tree), &parameters, up, &m));
  cb_tree_free(tree);
  return m;
}

/* Compares derivatives with differences, and the results for 200 places in one call with those for one place. */
static void check_flow(const cb_flow *f, uint64_t *seed, double tolerance) {
  enum { N = 200 };
  double x[N][3], u[N][3], gradient[N][3][3], rate[N][3];
  const double t = check_uniform(seed, 0.1, 2.9);
  for (int i = 0; i < N; i++) random_place(seed, 0.95, x[i]);
  check_ok(cb_flow_at(f, t, N, (const vec *)x, u, gradient, rate));
  for (int i = 0; i < N; i++) {
    vec one, change;
    mat slope;
    check_slopes(f, t, x[i], 1e-3, tolerance);
    at(f, t, x[i], one, slope, change);
    for (int k = 0; k < 3; k++) {
      check_near(u[i][k], one[k], 1e-13);
      check_near(rate[i][k], change[k], 1e-12);
      for (int j = 0; j < 3; j++) check_near(gradient[i][k][j], slope[k][j], 1e-12);
    }
  }
}

static void every_flow_has_the_derivatives_of_its_velocity(void **unused) {
  uint64_t seed = check_seed();
  enum { MAX = 64 };
  cb_flow *all[MAX], *sum;
  int n = 0;
  for (; n < MAX && cb_fluid_flow_classes[n]; n++) {
    const bool splines = cb_fluid_flow_classes[n]->from_grid; /* the third derivatives of splines jump */
    all[n] = flow_of(cb_fluid_flow_classes[n], &seed);
    check_flow(all[n], &seed, splines ? 1e-3 : 1e-9);
  }
  vec x, u, total = {0};
  random_place(&seed, 0.95, x);
  for (int i = 0; i < n; i++) {
    at(all[i], 0.7, x, u, NULL, NULL);
    for (int k = 0; k < 3; k++) total[k] += u[k];
  }
  check_ok(cb_flow_sum(n, all, &sum));
  at(sum, 0.7, x, u, NULL, NULL);
  for (int k = 0; k < 3; k++) check_near(u[k], total[k], 1e-14);
  check_flow(sum, &seed, 1e-3);
  cb_flow_free(sum);
}

/* Compares the acceleration of the fluid with the change of its velocity u along its path, and the gradient of the
 * density with the change of the density along this path. */
static void check_point(const cb_flow *f, const cb_medium *m, double t, const vec x, double tolerance) {
  const double h = 1e-4;
  cb_fluid_point p, side[2];
  check_ok(cb_fluid_point_at(f, m, t, x, &p));
  for (int k = 0; k < 2; k++) {
    const double d = k ? h : -h;
    check_ok(cb_fluid_point_at(f, m, t + d, (vec){x[0] + d * p.u[0], x[1] + d * p.u[1], x[2] + d * p.u[2]}, &side[k]));
  }
  for (int i = 0; i < 3; i++)
    check_near(p.acceleration[i], (side[1].u[i] - side[0].u[i]) / (2 * h), tolerance * (1 + fabs(p.acceleration[i])));
  check_near(cb_dot3(p.density_gradient, p.u), (side[1].density - side[0].density) / (2 * h), 1000 * tolerance);
}

static void the_fluid_at_a_place_has_its_acceleration(void **unused) {
  static const vec up = {0, 0, 1};
  uint64_t seed = check_seed();
  cb_medium *m = NULL;
  for (int i = 0; cb_fluid_medium_classes[i]; i++)
    if (!strcmp(cb_fluid_medium_classes[i]->name, "density")) m = medium_of(cb_fluid_medium_classes[i], up);
  for (int i = 0; cb_fluid_flow_classes[i]; i++) {
    cb_flow *f = flow_of(cb_fluid_flow_classes[i], &seed);
    for (int k = 0; k < 50; k++) {
      vec x;
      random_place(&seed, 0.9, x);
      check_point(f, m, check_uniform(&seed, 0.2, 2.8), x, cb_fluid_flow_classes[i]->from_grid ? 1e-4 : 1e-6);
    }
    cb_flow_free(f);
  }
  cb_fluid_point p;
  check_ok(cb_fluid_point_at(NULL, NULL, 1, up, &p));
  check_near(p.density + fabs(p.u[0]) + fabs(p.acceleration[2]), 0, 0);
  cb_medium_free(m);
}

/* --- media --- */

/* Compares the gradient with differences, except across an interface between layers. */
static void check_medium(const cb_medium *m, const vec x, double h) {
  double density, gradient[3], side[2];
  check_ok(cb_medium_gradient(m, x, &density, gradient));
  check_ok(cb_medium_at(m, x, &side[0]));
  check_near(side[0], density, 1e-12 * density);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 2; k++) {
      vec y = {x[0], x[1], x[2]};
      y[i] += k ? h : -h;
      check_ok(cb_medium_at(m, y, &side[k]));
    }
    if (fabs(side[1] - side[0]) > 1) continue; /* there is an interface between the two points */
    check_near(gradient[i], (side[1] - side[0]) / (2 * h), 1e-5);
  }
}

static void every_medium_has_the_derivatives_of_its_density(void **unused) {
  uint64_t seed = check_seed();
  vec up;
  random_direction(&seed, up);
  for (int i = 0; cb_fluid_medium_classes[i]; i++) {
    cb_medium *m = medium_of(cb_fluid_medium_classes[i], up);
    double number;
    if (cb_medium_named(cb_fluid_medium_classes[i]->name, &number)) {
      assert_true(number == 0 ? !m : cb_medium_is_uniform(m));
    } else {
      assert_false(cb_medium_is_uniform(m));
    }
    for (int k = 0; m && k < 200; k++) {
      vec x;
      random_place(&seed, 1, x);
      check_medium(m, x, 1e-4);
    }
    cb_medium_free(m);
  }
}

/* --- classes of the user's own, on jets --- */

static void waves(const void *flow, const cb_jet x[4], cb_jet u[3]) {
  const cb_jet two = cb_jet_scale(&x[1], 2), s = cb_jet_sin(&two), c = cb_jet_cos(&x[3]), tt = cb_jet_mul(&x[3], &x[3]),
               xz = cb_jet_mul(&x[0], &x[2]), xx = cb_jet_mul(&x[0], &x[0]), minus = cb_jet_scale(&xx, -1),
               e = cb_jet_exp(&minus);
  u[0] = cb_jet_mul(&s, &c);
  u[1] = cb_jet_add(&xz, &tt);
  u[2] = cb_jet_scale(&e, 2);
}

static void expansion(const void *flow, const cb_jet x[4], cb_jet u[3]) {
  for (int i = 0; i < 3; i++) u[i] = x[i];
}

static cb_jet stratified(const void *medium, const cb_jet x[3]) {
  const cb_jet step = cb_jet_tanh(&x[2]), down = cb_jet_scale(&step, -20), xy = cb_jet_mul(&x[0], &x[1]),
               twice = cb_jet_scale(&xy, 2), sum = cb_jet_add(&down, &twice);
  return cb_jet_shift(&sum, 1000);
}

static void a_flow_on_jets_is_that_of_the_same_expressions(void **unused) {
  static const cb_fluid_flow_class mine = {.name = "waves", .velocity = waves},
                                   bad = {.name = "expansion", .velocity = expansion};
  uint64_t seed = check_seed();
  cb_flow *f, *twin = NULL, *none = NULL;
  check_ok(cb_flow_create_class(&mine, NULL, NULL, &f));
  for (int i = 0; cb_fluid_flow_classes[i]; i++)
    if (!strcmp(cb_fluid_flow_classes[i]->name, "velocity")) twin = flow_of(cb_fluid_flow_classes[i], &seed);
  assert_true(!cb_flow_is_even(f) && !cb_flow_is_steady(f));
  check_flow(f, &seed, 1e-9);
  for (int k = 0; k < 50; k++) {
    vec x, u, v, du, dv;
    mat G, H;
    random_place(&seed, 1, x);
    at(f, 0.3, x, u, G, du);
    at(twin, 0.3, x, v, H, dv);
    for (int i = 0; i < 12; i++)
      check_near(i < 9 ? G[i / 3][i % 3] : du[i - 9], i < 9 ? H[i / 3][i % 3] : dv[i - 9], 1e-14);
    for (int i = 0; i < 3; i++) check_near(u[i], v[i], 1e-15);
  }
  check_error_begins(cb_flow_create_class(&bad, NULL, NULL, &none), CB_ERROR_DOMAIN, "the fluid is incompressible");
  assert_null(none);
  cb_flow_free(f);
  cb_flow_free(twin);
}

/* A medium whose density is a function on jets gives the same results as the same density as an expression: at places,
 * over faces and in closed surfaces. */
static void a_medium_on_jets_is_that_of_the_same_expression(void **unused) {
  static const cb_fluid_medium_class mine = {.name = "stratified", .density = stratified};
  static const vec up = {0, 0, 1};
  static const double corner[4][3] = {{0.1, 0, -0.2}, {1, 0.1, 0}, {0, 1, 0.1}, {0.2, 0.1, 0.9}};
  static const int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  double x[4][3][3], rho[2][4], slope[2][4][3][3], mass[2], moment[2][3], along[2][3] = {{0}};
  cb_medium *m[2];
  uint64_t seed = check_seed();
  check_ok(cb_medium_create_class(&mine, NULL, NULL, up, &m[0]));
  check_ok(cb_medium_expression("1000 - 20*tanh(z) + 2*x*y", 0, NULL, NULL, up, NULL, &m[1]));
  for (int f = 0; f < 4; f++)
    for (int k = 0; k < 3; k++) memcpy(x[f][k], corner[face[f][k]], sizeof x[f][k]);
  for (int k = 0; k < 2; k++) {
    vec place;
    random_place(&seed, 1, place);
    check_medium(m[k], place, 1e-4);
    check_ok(cb_medium_faces(m[k], 4, (const double(*)[3][3])x, rho[k], slope[k]));
    check_ok(cb_medium_displaced(m[k], 4, (const double(*)[3][3])x, NULL, &mass[k], moment[k], along[k]));
  }
  check_relative(mass[0], mass[1], 1e-14);
  for (int f = 0; f < 4; f++) {
    check_relative(rho[0][f], rho[1][f], 1e-14);
    for (int k = 0; k < 9; k++) check_near(slope[0][f][k / 3][k % 3], slope[1][f][k / 3][k % 3], 1e-13);
  }
  for (int k = 0; k < 3; k++) {
    check_near(moment[0][k], moment[1][k], 1e-12);
    check_near(along[0][k], along[1][k], 1e-12);
  }
  cb_medium_free(m[0]);
  cb_medium_free(m[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_flow_has_the_derivatives_of_its_velocity),
                                     cmocka_unit_test(the_fluid_at_a_place_has_its_acceleration),
                                     cmocka_unit_test(every_medium_has_the_derivatives_of_its_density),
                                     cmocka_unit_test(a_flow_on_jets_is_that_of_the_same_expressions),
                                     cmocka_unit_test(a_medium_on_jets_is_that_of_the_same_expression)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
