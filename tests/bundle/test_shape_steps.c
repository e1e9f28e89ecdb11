/* Tests of steps of shape variables that move by themselves: the order of the error against a reference by GSL, the
 * number of Newton iterations, conserved momentum and energy, reversibility, symplecticity, dry friction, and variables
 * that rest at their limits. */
#include "integrators/shapes.h"
#include "shape_reference.h"

/* Bundles with inertia, with a momentum at the start and all kinds of forces. */
static const shape_case with_inertia[] = {
    {"floating_snake",
     "{links: 3}",
     {".3*sin(2*t) - .1*alpha2_rate*alpha1", NULL},
     {NULL},
     NULL,
     {.6, -.3, .5},
     {.4, -.6},
     {.5, -.2},
     {.2, .3},
     {0, .05}},
    {"floating_snake",
     "{links: 4, base: 1}",
     {NULL, ".2*alpha1"},
     {".4*sin(t)", NULL, NULL},
     NULL,
     {.2, .1, -.4},
     {0, .3, .5},
     {0, .4, -.3},
     {0, .1, .2},
     {0}},
    {"floating_snake",
     "{links: 3}",
     {NULL},
     {NULL},
     "2*g1 + .3*g0*g0 + cos(g2)*alpha1 + .2*alpha2^2",
     {.1, 0, .2},
     {.3, .2},
     {.1, .4},
     {0},
     {0}},
    {"falling_cat",
     "{arm_1: 0.7, arm_2: 1.3, inertia_2: 0.4}",
     {"-.4*sin(alpha)"},
     {NULL},
     NULL,
     {.8},
     {.5},
     {.7},
     {.2},
     {0}},
    {"hopping_leg", "{mass: 0.6}", {NULL}, {NULL, NULL}, NULL, {.9}, {.1, .5}, {.4, -.3}, {.3, 2}, {0}},
    {"raft_pendulum",
     "{mass: 0.7}",
     {NULL},
     {NULL},
     "3*(1 - 1/(1 + x^2 + y^2))",
     {.2, -.1, .3},
     {.4, .1},
     {.3, .5},
     {0},
     {0}},
    {"links",
     "{of: inertia, space: space, shape: [a, b], links: [{length: 1, radius: .1}, {length: .7, parent: 0, angle: a,"
     " axis: [0, 1, .3], radius: .1}, {length: .5, parent: 0, at: 0, angle: a*b, axis: [0, 0, 1], radius: .2}]}",
     {NULL},
     {NULL},
     NULL,
     {.05, -.04, .06, .3, .1, -.2},
     {.4, .7},
     {.5, -.3},
     {.1, .1},
     {0}},
    {"points",
     "{space: h2, chart: polar, shape: [a, b], points: [{mass: 1, at: [a, b]}, {mass: 2, at: [1 + a*b, 2]},"
     " {mass: .7, at: [.5, -a]}]}",
     {NULL},
     {NULL},
     NULL,
     {.1, .2, -.3},
     {.5, .6},
     {.2, -.1},
     {1, .5},
     {0}},
    {"expressions",
     "{group: se2, shape: [a, b], A: [[\"sin(b)\", 0], [.2, \"a\"], [\"cos(a)\", .5]],"
     " M: [[\"2 + cos(b)\"], [.3, \"1.5 + sin(a)^2\"]]}",
     {NULL, ".2*cos(t)"},
     {NULL},
     NULL,
     {0},
     {.3, .5},
     {.6, -.4},
     {.4, .7},
     {0}},
};
enum { INERTIA_CASES = sizeof with_inertia / sizeof *with_inertia };

/* Bundles with drag and without inertia. */
static const shape_case with_drag[] = {
    {"purcell", "{links: 3}", {NULL}, {"sin(3*t)", NULL}, NULL, {0}, {0, .3}, {0}, {0, .02}, {0, .003}},
    {"purcell",
     "{links: 4, ratio: 1.7}",
     {".01*sin(4*t)", NULL, NULL},
     {NULL, ".6*cos(2*t)", NULL},
     ".05*g1 + .01*alpha1^2",
     {0},
     {.2, 0, -.4},
     {0},
     {.02, 0, .01},
     {0}},
    {"three_sphere", "{radius: .1}", {NULL}, {"1 + .3*sin(t)", NULL}, NULL, {0}, {1, 1.2}, {0}, {0, .1}, {0}},
};
enum { DRAG_CASES = sizeof with_drag / sizeof *with_drag };

static double distance(const moving_shape *m, const cb_shape_state *s, const double *y) {
  const int size = m->bundle->group->size;
  double most = 0;
  for (int k = 0; k < size; k++) most = fmax(most, fabs(s->g[k] - y[k]));
  for (int i = 0; i < m->bundle->n; i++) most = fmax(most, fabs(s->r[i] - y[size + i]));
  return most;
}

/* Creates the integrator `text`, a map in YAML with its name. */
static cb_integrator *create(moving_shape *m, const char *text) {
  static const cb_problem *const inertia[] = {&cb_problem_shapes_with_inertia, NULL}, *const drag[] = {
                                                                                          &cb_problem_shapes_with_drag,
                                                                                          NULL};
  cb_tree *tree;
  cb_integrator *in;
  check_ok(cb_yaml_read_text("test", text, strlen(text), &tree));
  const cb_node *root = cb_tree_root(tree);
  check_ok(cb_integrator_create_for(cb_node_get(root, "name")->text, root, m->problem.drag ? drag : inertia,
                                    &m->problem, &in));
  cb_tree_free(tree);
  return in;
}

/* Makes n steps with the integrator `text`. */
static void go(moving_shape *m, const char *text, double h, int n, cb_shape_state *s) {
  cb_integrator *in = create(m, text);
  for (int k = 0; k < n; k++) check_ok(cb_integrator_step(in, s, h));
  cb_integrator_free(in);
}

/* Returns the mean number of iterations of Newton's method in 100 steps. If `restarts` is set, each step makes its
 * first guess only from the velocity at its start. */
static double mean_iterations(const shape_case *c, double h, bool restarts) {
  moving_shape m;
  shape_open(c, false, &m);
  cb_shape_state s = m.start;
  cb_integrator *in = create(&m, "{name: hamilton_pontryagin}");
  double mean = 0;
  for (int k = 0; k < 100; k++) {
    if (restarts) cb_integrator_reset(in);
    check_ok(cb_integrator_step(in, &s, h));
    mean += in->iterations / 100.;
  }
  print_message("%s, step %g: %.2f iterations%s\n", c->name, h, mean, restarts ? " from the node" : "");
  cb_integrator_free(in);
  shape_close(&m);
  return mean;
}

/* Newton's matrix is accurate to second order in the rotation of the body in a step, also if the momentum rotates in
 * the frame of the body. At small steps at most two iterations are needed if the first guess is made from the steps
 * before, and four or five if it is made from the velocity at the start. If the matrix were wrong in first order, one
 * more iteration would be needed; if it were wrong in second order, two more iterations at a large step. */
static void newton_needs_few_iterations(void **state) {
  for (int i = 0; i < INERTIA_CASES; i++) {
    check_at_most(mean_iterations(&with_inertia[i], .01, false), 1.8);
    check_at_most(mean_iterations(&with_inertia[i], .01, true), 4.5);
    if (!strcmp(with_inertia[i].name, "links")) check_at_most(mean_iterations(&with_inertia[i], .2, true), 9.2);
  }
}

/* If the step is halved, the error is divided by 2^order. The errors of the reference are about 1e-12. The order is
 * computed from the errors at the two smaller steps of three. */
static void check_order(const shape_case *c, bool drag, const char *integrator, double order, int steps, double end) {
  moving_shape m;
  double y[CB_GROUP_SIZE + CB_SHAPE_MAX], error[3];
  shape_open(c, drag, &m);
  shape_reference(&m, end, y);
  for (int k = 0; k < 3; k++) {
    cb_shape_state s = m.start;
    go(&m, integrator, end / (steps << k), steps << k, &s);
    error[k] = distance(&m, &s, y);
  }
  const double found = log2(error[1] / error[2]);
  print_message("%s, %s: %.2f, errors %.2g %.2g %.2g\n", c->name, integrator, found, error[0], error[1], error[2]);
  check_near(found, order, error[2] < 1e-10 ? .5 : .15);
  shape_close(&m);
}

static void steps_with_inertia_have_their_orders(void **state) {
  for (int i = 0; i < INERTIA_CASES; i++) {
    check_order(&with_inertia[i], false, "{name: hamilton_pontryagin}", 2, 40, 2);
    check_order(&with_inertia[i], false, "{name: hamilton_pontryagin, order: 4}", 4, 40, 2);
  }
}

static void steps_with_drag_have_their_orders(void **state) {
  for (int i = 0; i < DRAG_CASES; i++) {
    check_order(&with_drag[i], true, "{name: gauss, stages: 1}", 2, 40, 2);
    check_order(&with_drag[i], true, "{name: gauss, stages: 2}", 4, 20, 2);
    check_order(&with_drag[i], true, "{name: radau_iia, stages: 2}", 3, 40, 2);
    check_order(&with_drag[i], true, "{name: radau_iia, stages: 3}", 5, 10, 2);
  }
}

static void spatial_momentum(const moving_shape *m, const cb_shape_state *s, double *out) {
  const cb_group *G = m->bundle->group;
  double back[CB_GROUP_SIZE];
  G->inverse(G, s->g, back);
  cb_group_adjoint_dual(G, back, s->mu, out);
}

/* Over 1e5 steps the momentum of the group is constant up to the round-off of the steps. The maximum energy error in
 * the second half is at most 1.5 times that in the first half. */
static void momentum_and_energy_are_kept_for_long(void **state) {
  shape_case c = with_inertia[0];
  c.torque[0] = NULL;
  c.damping[1] = 0;
  moving_shape m;
  shape_open(&c, false, &m);
  cb_shape_state s = m.start;
  double first[CB_GROUP_DIM], now[CB_GROUP_DIM], u[CB_SHAPE_FORM], error[2] = {0}, moved = 0;
  spatial_momentum(&m, &s, first);
  check_ok(cb_shape_velocity(&m.problem, &s, u));
  const double E = cb_shape_energy(&m.problem, &s, u);
  for (int k = 0; k < 1000; k++) {
    go(&m, "{name: hamilton_pontryagin}", .02, 100, &s);
    spatial_momentum(&m, &s, now);
    for (int a = 0; a < 3; a++) moved = fmax(moved, fabs(now[a] - first[a]) / (1 + hypot(s.g[0], s.g[1])));
    check_ok(cb_shape_velocity(&m.problem, &s, u));
    error[k / 500] = fmax(error[k / 500], fabs(cb_shape_energy(&m.problem, &s, u) - E));
  }
  print_message("momentum %.2g, energy %.2g %.2g of %.3g\n", moved, error[0], error[1], E);
  check_at_most(moved, 1e-13);
  check_at_most(error[1], 1.5 * error[0]);
  check_at_most(error[0], 1e-3 * E);
  shape_close(&m);
}

/* Without losses, steps forwards and then backwards return to the start. */
static void steps_can_be_reversed(void **state) {
  for (int i = 0; i < INERTIA_CASES; i++) {
    shape_case c = with_inertia[i];
    for (int k = 0; k < 3; k++) {
      c.damping[k] = 0;
      if (c.torque[k] && strstr(c.torque[k], "rate")) c.torque[k] = NULL;
    }
    moving_shape m;
    shape_open(&c, false, &m);
    cb_shape_state s = m.start;
    go(&m, "{name: hamilton_pontryagin}", .02, 100, &s);
    go(&m, "{name: hamilton_pontryagin}", -.02, 100, &s);
    double y[CB_GROUP_SIZE + CB_SHAPE_MAX];
    memcpy(y, m.start.g, sizeof m.start.g);
    memcpy(y + m.bundle->group->size, m.start.r, sizeof m.start.r);
    check_at_most(distance(&m, &s, y), 2e-12); /* round-off of 200 steps */
    shape_close(&m);
  }
}

/* Computes canonical coordinates of the snake: x, y, theta and the shape; then the momenta in the axes of the world,
 * the momentum about the body's origin, and the momenta of the shape. */
static void canonical(const cb_shape_state *s, double *z) {
  const double c = cos(s->g[2]), d = sin(s->g[2]);
  for (int i = 0; i < 3; i++) z[i] = s->g[i];
  for (int i = 0; i < 2; i++) z[3 + i] = s->r[i];
  z[5] = c * s->mu[0] - d * s->mu[1];
  z[6] = d * s->mu[0] + c * s->mu[1];
  z[7] = s->mu[2];
  z[8] = s->p[0];
  z[9] = s->p[1];
}

static void from_canonical(const double *z, cb_shape_state *s) {
  const double c = cos(z[2]), d = sin(z[2]);
  for (int i = 0; i < 3; i++) s->g[i] = z[i];
  for (int i = 0; i < 2; i++) s->r[i] = z[3 + i];
  s->mu[0] = c * z[5] + d * z[6];
  s->mu[1] = -d * z[5] + c * z[6];
  s->mu[2] = z[7];
  s->p[0] = z[8];
  s->p[1] = z[9];
}

/* M^T J M = J for the derivative M of one step and the canonical matrix J. M is computed by central differences of
 * order 8 with the step h, whose round-off is about 1e-13/h. */
static void steps_are_symplectic(void **state) {
  enum { Z = 10 };
  shape_case c = with_inertia[2];
  c.stiffness[0] = .4;
  moving_shape m;
  double z[Z], M[Z][Z] = {{0}}, worst = 0;
  shape_open(&c, false, &m);
  canonical(&m.start, z);
  for (int j = 0; j < Z; j++)
    for (int k = -4; k <= 4; k++) {
      static const double h = 2e-3;
      cb_shape_state s = m.start;
      double at[Z], end[Z];
      if (!k) continue;
      memcpy(at, z, sizeof at);
      at[j] += k * h;
      from_canonical(at, &s);
      go(&m, "{name: hamilton_pontryagin}", .1, 1, &s);
      canonical(&s, end);
      for (int i = 0; i < Z; i++) M[i][j] += (k > 0 ? 1 : -1) * cb_central_weight[abs(k) - 1] * end[i] / h;
    }
  for (int i = 0; i < Z; i++)
    for (int j = 0; j < Z; j++) {
      double sum = 0;
      for (int k = 0; k < Z / 2; k++) sum += M[k][i] * M[k + 5][j] - M[k + 5][i] * M[k][j];
      worst = fmax(worst, fabs(sum - (j == i + 5) + (i == j + 5)));
    }
  print_message("|M^T J M - J| = %.2g\n", worst);
  check_at_most(worst, 1e-10);
  shape_close(&m);
}

/* A variable of inertia 1 on a spring of stiffness 1 with dry friction f starts at 1. It reverses its direction at the
 * places -(1 - 2 f), 1 - 4 f, ... and then rests. */
static void dry_friction_stops_at_the_known_places(void **state) {
  static const shape_case c = {
      "expressions", "{group: r1, shape: [a], A: [[0]], M: [[1]]}", {NULL}, {NULL}, NULL, {0}, {1}, {0}, {1}, {0}};
  static const double turns[] = {-.82, .64, -.46, .28, -.10};
  moving_shape m;
  int turned = 0;
  shape_open(&c, false, &m);
  m.variable[0].rest = 0;
  m.variable[0].friction = .09;
  cb_shape_state s = m.start;
  double before = 0;
  for (int k = 0; k < 4000; k++) {
    const double at = s.r[0];
    go(&m, "{name: hamilton_pontryagin}", .005, 1, &s);
    const double v = s.r[0] - at;
    if (v == 0) continue;
    if (v * before < 0 && turned < 5) check_near(at, turns[turned++], 2e-5); /* error of order 2 in the step */
    before = v;
  }
  assert_int_equal(turned, 5);
  check_near(s.r[0], -.08, 2e-5); /* the force of the spring, .08, is then less than the friction, .09 */
  shape_close(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_with_inertia_have_their_orders),
                                     cmocka_unit_test(steps_with_drag_have_their_orders),
                                     cmocka_unit_test(newton_needs_few_iterations),
                                     cmocka_unit_test(momentum_and_energy_are_kept_for_long),
                                     cmocka_unit_test(steps_can_be_reversed),
                                     cmocka_unit_test(steps_are_symplectic),
                                     cmocka_unit_test(dry_friction_stops_at_the_known_places)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
