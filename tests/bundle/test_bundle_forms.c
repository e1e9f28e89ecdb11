/* Tests of forms of bundles: the connection A and the metric M follow from the form G = ((P, Q), (Q^T, R)), derivatives
 * agree with differences of the values, and forms are twice the kinetic energy. r: shape; xi: body velocity. */
#include "bundle/bundle_private.h"
#include "check.h"
#include "numerics/small.h"
#include "numerics/tableau.h"
#include "yaml/yaml.h"

enum { SIZE = CB_GROUP_DIM + CB_SHAPE_MAX };

/* Bundles with parameters that are not the defaults, because a class has no complete defaults or because other
 * parameters give another group. Random shapes are in (low, high). */
static const struct {
  const char *name, *text;
  double low, high;
} cases[] = {
    {"falling_cat", "{arm_1: 0.7, arm_2: 1.3, inertia_2: 0.4}", -3, 3},
    {"floating_snake", "{links: 3}", -2, 2},
    {"floating_snake", "{links: 6, base: 2, shares: [1, 2, 1.5, .5, 1, 3]}", -2, 2},
    {"purcell", "{links: 4, ratio: 1.7}", -2, 2},
    {"hopping_leg", "{mass: 0.6}", .1, 1},
    {"sphere_robot", "{inertia: 0.3}", -1, 1},
    {"constant_curvature_swimmer", "{space: S3, legs: 3}", .1, 1.2},
    {"constant_curvature_swimmer", "{space: H2}", .1, 1.2},
    {"raft_pendulum", "{mass: 0.7, yaw: true}", -1, 1},
    {"raft_pendulum", "{mass: 0.7, yaw: false}", -1, 1},
    {"perfect_fish", "{nodes: 40}", -.7, .7},
    {"links",
     "{of: inertia, shape: [a, b], links: [{length: 1}, {length: .7, parent: 0, angle: a + b^2},"
     " {length: .5, parent: 1, angle: b}]}",
     -1, 1},
    {"links",
     "{of: inertia, space: space, shape: [a, b], links: [{length: 1, radius: .1}, {length: .7, parent: 0,"
     " angle: a, axis: [0, 1, .3], radius: .1}, {length: .5, parent: 0, at: 0, angle: a*b, axis: [0, 0, 1],"
     " radius: .2}]}",
     -1, 1},
    {"points",
     "{space: h2, chart: polar, shape: [a, b], points: [{mass: 1, at: [a, b]}, {mass: 2, at: [1 + a*b, 2]},"
     " {mass: .7, at: [.5, -a]}]}",
     .2, 1},
};
enum { CASES = sizeof cases / sizeof *cases, TRIES = 5 };

static cb_bundle *make(const char *name, const char *text) {
  cb_tree *tree;
  cb_bundle *b;
  check_ok(cb_yaml_read_text("test", text, strlen(text), &tree));
  check_ok(cb_bundle_create(name, cb_tree_root(tree), &b));
  cb_tree_free(tree);
  return b;
}

/* P A = Q and M = R - Q^T A hold to round-off. The rate of the form along a random velocity of the shape agrees with a
 * central difference of order 4. With the step h, the error of this difference is about 1e-13/h. */
static void form_gives_connection_metric_and_slopes(void **state) {
  uint64_t random = check_seed();
  for (int i = 0; i < CASES; i++)
    for (int k = 0; k < TRIES; k++) {
      cb_bundle *b = make(cases[i].name, cases[i].text);
      const int n = b->n, dim = b->group->dim, N = dim + n;
      double r[CB_SHAPE_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX];
      static double G[SIZE * SIZE], dG[CB_SHAPE_MAX * SIZE * SIZE], near[4][SIZE * SIZE];
      double scale = 0;
      for (int a = 0; a < n; a++) r[a] = check_uniform(&random, cases[i].low, cases[i].high);
      check_ok(cb_bundle_connection(b, r, A, NULL, M, NULL));
      check_ok(b->class_->form(b, r, G, dG));
      for (int q = 0; q < N * N; q++) scale = fmax(scale, fabs(G[q]));
      for (int a = 0; a < dim; a++)
        for (int j = 0; j < n; j++) {
          double PA = 0;
          for (int c = 0; c < dim; c++) PA += G[a * N + c] * A[c * n + j];
          check_near(PA, G[a * N + dim + j], 1e-12 * scale);
        }
      for (int a = 0; a < n; a++)
        for (int j = 0; j < n; j++) {
          double value = G[(dim + a) * N + dim + j];
          for (int c = 0; c < dim; c++) value -= G[c * N + dim + a] * A[c * n + j];
          check_near(M[a * n + j], value, 1e-12 * scale);
        }
      for (int a = 0; a < n; a++) {
        const double h = 1e-3, at = r[a];
        for (int p = 0; p < 4; p++) {
          r[a] = at + h * (p < 2 ? p - 2 : p - 1);
          check_ok(b->class_->form(b, r, near[p], NULL));
        }
        r[a] = at;
        for (int q = 0; q < N * N; q++) {
          const double rate = (near[0][q] - near[3][q] + 8 * (near[2][q] - near[1][q])) / (12 * h);
          if (!(fabs(rate - dG[a * N * N + q]) <= 1e-8 * scale))
            fail_msg("%s: d_%d G[%d] is %.12g, by differences %.12g", cases[i].name, a, q, dG[a * N * N + q], rate);
        }
      }
      cb_bundle_free(b);
    }
}

/* --- forms against the kinetic energy of points --- */

/* Writes coordinates x of a model for which |x'|^2 is twice the kinetic energy: positions of masses, times the square
 * roots of the masses, and angles, times the square roots of the moments of inertia. The coordinates follow from the
 * description of each model, with the parameters in `mechanisms`. Returns their number. */
typedef int places(const double *g, const double *r, double *x);

static int cat(const double *g, const double *r, double *x) {
  const double m = .8 * 1.5 / (.8 + 1.5), first = g[0], second = g[0] + r[0]; /* m: the reduced mass */
  x[0] = sqrt(m) * (.7 * cos(first) + 1.3 * cos(second));
  x[1] = sqrt(m) * (.7 * sin(first) + 1.3 * sin(second));
  x[2] = sqrt(.6) * first;
  x[3] = sqrt(.4) * second;
  return 4;
}

static int leg(const double *g, const double *r, double *x) {
  const double length = 1.2 + r[1];
  x[0] = sqrt(.6) * length * cos(g[0] + r[0]);
  x[1] = sqrt(.6) * length * sin(g[0] + r[0]);
  x[2] = sqrt(1.7) * g[0];
  return 3;
}

static int robot(const double *g, const double *r, double *x) {
  const double R = 1.4;
  int n = 0;
  x[n++] = sqrt(.3) * g[0];
  for (int side = -1; side <= 1; side += 2) {
    x[n++] = side * sqrt(.9) * R * cos(g[0] + r[0]);
    x[n++] = side * sqrt(.9) * R * sin(g[0] + r[0]);
    x[n++] = sqrt(.5) * R * cos(r[1]) * cos(g[0]);
    x[n++] = sqrt(.5) * R * cos(r[1]) * sin(g[0]);
    x[n++] = side * sqrt(.5) * R * sin(r[1]);
  }
  return n;
}

static int raft(const double *g, const double *r, double *x) {
  const double l = 1.1, w = 1 / (1 + r[0] * r[0] + r[1] * r[1]), p[2] = {2 * l * w * r[0], 2 * l * w * r[1]};
  const double c = cos(g[2]), d = sin(g[2]);
  x[0] = sqrt(1.6) * g[0];
  x[1] = sqrt(1.6) * g[1];
  x[2] = sqrt(.9) * g[2];
  x[3] = sqrt(.7) * (g[0] + c * p[0] - d * p[1]);
  x[4] = sqrt(.7) * (g[1] + d * p[0] + c * p[1]);
  x[5] = sqrt(.7) * 2 * l * (1 - w);
  return 6;
}

static int raft_without_yaw(const double *g, const double *r, double *x) {
  const double whole[3] = {g[0], g[1], 0};
  return raft(whole, r, x);
}

/* Coordinates of the swimmer on the sphere of radius 2. The apex is on the equator at the longitude g/2, and the tips
 * are at the latitudes b and -b. */
static int swimmer(const double *g, const double *r, double *x) {
  const double R = 2, apex = g[0] / R, l = r[0] / R, b = asin(sin(l) * sin(r[1])),
               tip = apex + atan(tan(l) * cos(r[1]));
  int n = 0;
  x[n++] = sqrt(.8) * R * cos(apex);
  x[n++] = sqrt(.8) * R * sin(apex);
  for (int side = -1; side <= 1; side += 2) {
    x[n++] = sqrt(.6) * R * cos(b) * cos(tip);
    x[n++] = sqrt(.6) * R * cos(b) * sin(tip);
    x[n++] = side * sqrt(.6) * R * sin(b);
  }
  return n;
}

static const struct {
  const char *name, *text;
  double low, high;
  places *at;
} mechanisms[] = {
    {"falling_cat", "{mass_1: .8, mass_2: 1.5, inertia_1: .6, inertia_2: .4, arm_1: .7, arm_2: 1.3}", -3, 3, cat},
    {"hopping_leg", "{inertia: 1.7, mass: .6, length: 1.2}", -.5, 1, leg},
    {"sphere_robot", "{radius: 1.4, inertia: .3, equator_mass: .9, across_mass: .5}", -1, 1, robot},
    {"raft_pendulum", "{raft_mass: 1.6, raft_inertia: .9, mass: .7, length: 1.1}", -1, 1, raft},
    {"raft_pendulum", "{raft_mass: 1.6, mass: .7, length: 1.1, yaw: false}", -1, 1, raft_without_yaw},
    {"constant_curvature_swimmer", "{space: S2, radius: 2, apex_mass: .8, tip_mass: .6}", .2, 1.2, swimmer},
};

/* <G u, u> = |x'|^2 for random u = (xi, v), where x' is the rate of x along g exp(t xi) and r + t v, computed by
 * central differences of order 8. */
static void forms_are_twice_the_kinetic_energy(void **state) {
  uint64_t random = check_seed();
  for (size_t i = 0; i < sizeof mechanisms / sizeof *mechanisms; i++)
    for (int k = 0; k < TRIES; k++) {
      cb_bundle *b = make(mechanisms[i].name, mechanisms[i].text);
      const cb_group *group = b->group;
      const int n = b->n, dim = group->dim, N = dim + n;
      static double G[SIZE * SIZE];
      double r[CB_SHAPE_MAX], u[SIZE], start[CB_GROUP_SIZE], rate[32] = {0}, energy = 0, sum = 0;
      int count = 0;
      for (int a = 0; a < n; a++) r[a] = check_uniform(&random, mechanisms[i].low, mechanisms[i].high);
      for (int a = 0; a < N; a++) u[a] = check_uniform(&random, -1, 1);
      group->exp(group, (const double[]){.3, -.2, .7}, start);
      check_ok(b->class_->form(b, r, G, NULL));
      for (int a = 0; a < N; a++) energy += u[a] * cb_dot(N, G + a * N, u);
      for (int step = -4; step <= 4; step++) {
        static const double h = 2e-2;
        double xi[CB_GROUP_DIM], at[CB_SHAPE_MAX], g[CB_GROUP_SIZE], x[32];
        if (!step) continue;
        for (int a = 0; a < dim; a++) xi[a] = step * h * u[a];
        for (int a = 0; a < n; a++) at[a] = r[a] + step * h * u[dim + a];
        group->exp(group, xi, g);
        group->multiply(group, start, g, g);
        count = mechanisms[i].at(g, at, x);
        for (int q = 0; q < count; q++) rate[q] += (step > 0 ? 1 : -1) * cb_central_weight[abs(step) - 1] * x[q] / h;
      }
      for (int q = 0; q < count; q++) sum += rate[q] * rate[q];
      if (!(fabs(energy - sum) <= 1e-9 * sum))
        fail_msg("%s: the form gives %.12g, the points %.12g", mechanisms[i].name, energy, sum);
      cb_bundle_free(b);
    }
}

/* For swimmers in H2 and S3, P is the sum of m |X|^2 over the masses m, where X is a Killing field at the position of
 * the mass. X translates along a geodesic through the apex. The tips are at the distance .7 from the apex, in
 * directions at the angle .4 to this geodesic. */
static void locked_swimmers_have_the_inertia_of_a_killing_field(void **state) {
  const struct {
    const char *text;
    double tip;
  } spaces[] = {{"{space: H2, apex_mass: .3, tip_mass: .5}", pow(cosh(.7), 2) - pow(sinh(.7) * cos(.4), 2)},
                {"{space: S3, legs: 3, apex_mass: .3, tip_mass: .5}", pow(cos(.7), 2) + pow(sin(.7) * cos(.4), 2)}};
  for (int i = 0; i < 2; i++) {
    cb_bundle *b = make("constant_curvature_swimmer", spaces[i].text);
    double P;
    check_ok(cb_bundle_locked(b, (const double[]){.7, .4}, &P));
    check_near(P, .3 + (2 + i) * .5 * spaces[i].tip, 1e-14);
    cb_bundle_free(b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(form_gives_connection_metric_and_slopes),
                                     cmocka_unit_test(forms_are_twice_the_kinetic_energy),
                                     cmocka_unit_test(locked_swimmers_have_the_inertia_of_a_killing_field)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
