/* Forms of bundles: the connection and the metric follow from them, and derivatives are those of the values. */
#include "bundle/bundle_private.h"
#include "check.h"
#include "yaml/yaml.h"

enum { SIZE = CB_GROUP_DIM + CB_SHAPE_MAX };

/* Bundles whose defaults cannot be used, or that have other groups with other parameters. Random shapes are in
 * (low, high). */
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

static cb_bundle *make(int i) {
  cb_tree *tree;
  cb_bundle *b;
  check_ok(cb_yaml_read_text("test", cases[i].text, strlen(cases[i].text), &tree));
  check_ok(cb_bundle_create(cases[i].name, cb_tree_root(tree), &b));
  cb_tree_free(tree);
  return b;
}

/* P A = Q and M = R - Q^T A, to round-off; the rate of the form along a random shape velocity is a central difference,
 * of order 4, whose error is about 1e-13/h. */
static void form_gives_connection_metric_and_slopes(void **state) {
  uint64_t random = check_seed();
  for (int i = 0; i < CASES; i++)
    for (int k = 0; k < TRIES; k++) {
      cb_bundle *b = make(i);
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(form_gives_connection_metric_and_slopes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
