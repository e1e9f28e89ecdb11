/* Tests of the first and second variations of the cost E and the holonomy g in a basis of functions of time. */
#include "bundles.h"
#include "gaits.h"
#include "optimum/variation.h"

enum { N = 2, UNKNOWNS_MAX = 64 };

static cb_basis *basis_of(int k) {
  cb_basis *b;
  const double ends[] = {0, .3, .55, 1};
  check_ok(k ? cb_basis_arcs(3, ends, 4, 24, &b) : cb_basis_fourier(3, 24, &b));
  return b;
}

static void random_loop(uint64_t *seed, int count, double *c) {
  for (int k = 0; k < count; k++) c[k] = check_uniform(seed, -.4, .4);
}

/* Runs the test `claim` for every group. The bundle is random. The gait is given in harmonics and in arcs, by random
 * coefficients c. */
static void everywhere(void (*claim)(cb_variation *v, uint64_t *seed, const double *c)) {
  uint64_t seed = check_seed();
  const cb_group *G;
  for (int k = 0; (G = test_group(k)); k++)
    for (int kind = 0; kind < 2; kind++) {
      random_bundle p, moved;
      cb_basis *basis = basis_of(kind);
      cb_variation *v;
      double c[UNKNOWNS_MAX];
      random_bundles(&seed, G, N, .5, &p, &moved);
      check_ok(cb_variation_create(&p.b, basis, &v));
      random_loop(&seed, v->unknowns, c);
      claim(v, &seed, c);
      cb_variation_free(v);
      cb_basis_free(basis);
    }
}

/* The cost and holonomy of the variation agree with those of cb_holonomy. They share no quadrature: cb_holonomy
 * halves the steps of Magnus's method until the error is round-off. */
static void are_those_of_the_gait(cb_variation *v, uint64_t *seed, const double *c) {
  cb_gait *gait;
  double g[CB_GROUP_SIZE], cost, back[UNKNOWNS_MAX];
  check_ok(cb_variation_at(v, c, 0));
  check_ok(cb_basis_gait(v->basis, N, c, &gait));
  check_ok(cb_holonomy(v->bundle, gait, 0, g, NULL, &cost));
  check_relative(v->cost, cost, 1e-9);
  check_at_most(test_distance(v->bundle->group, v->g, g), 1e-8);
  check_ok(cb_basis_project(v->basis, gait, back));
  for (int a = 0; a < v->unknowns; a++) check_near(back[a], c[a], 1e-12); /* the tolerance is round-off */
  cb_gait_free(gait);
}

static void cost_and_holonomy_are_those_of_the_gait(void **state) { everywhere(are_those_of_the_gait); }

/* At the coefficients c + s d, computes the cost E and y = log(g(c + s d) g^-1). g is the holonomy at the coefficients
 * c, and d is a direction. */
static void displaced(cb_variation *v, const double *c, const double *d, double s, const double *g, double *cost,
                      double *y) {
  const cb_group *G = v->bundle->group;
  double x[UNKNOWNS_MAX], back[CB_GROUP_SIZE];
  for (int a = 0; a < v->unknowns; a++) x[a] = c[a] + s * d[a];
  check_ok(cb_variation_at(v, x, 0));
  *cost = v->cost;
  G->inverse(G, g, back);
  G->multiply(G, v->g, back, back);
  check_ok(G->log(G, back, y));
}

static double quadratic(const double *H, const double *d, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += H[i * n + j] * d[i] * d[j];
  return sum;
}

/* Compares derivatives along random directions with differences of order 4. The error of the differences is about
 * 1e-16/h^2 + h^4. */
static void are_derivatives(cb_variation *v, uint64_t *seed, const double *c) {
  const int u = v->unknowns, dim = v->dim;
  const double h = 2e-3, mu = check_uniform(seed, .5, 1);
  double d[UNKNOWNS_MAX], g[CB_GROUP_SIZE], Lambda[CB_GROUP_DIM], W[CB_GROUP_DIM * CB_GROUP_DIM];
  double cost[5], y[5][CB_GROUP_DIM], H[UNKNOWNS_MAX * UNKNOWNS_MAX];
  random_loop(seed, u, d);
  random_loop(seed, dim, Lambda);
  for (int a = 0; a < dim; a++)
    for (int b = 0; b <= a; b++) W[a * dim + b] = W[b * dim + a] = check_uniform(seed, -1, 1);
  check_ok(cb_variation_at(v, c, 1));
  check_ok(cb_variation_hessian(v, mu, Lambda, W, H));
  double slope = 0, way[CB_GROUP_DIM] = {0}, size = quadratic(H, d, u), curvature = 0, spread = 0;
  for (int a = 0; a < u; a++) slope += v->dcost[a] * d[a];
  for (int a = 0; a < dim; a++)
    for (int b = 0; b < u; b++) way[a] += v->dy[a * u + b] * d[b];
  memcpy(g, v->g, sizeof g);
  for (int s = -2; s <= 2; s++) displaced(v, c, d, s * h, g, &cost[s + 2], y[s + 2]);
  check_near((8 * (cost[3] - cost[1]) - cost[4] + cost[0]) / (12 * h), slope, 1e-7 * (1 + fabs(slope)));
  curvature = mu / 2 * (16 * (cost[3] + cost[1]) - cost[4] - cost[0] - 30 * cost[2]) / (12 * h * h);
  for (int a = 0; a < dim; a++) {
    check_near((8 * (y[3][a] - y[1][a]) - y[4][a] + y[0][a]) / (12 * h), way[a], 1e-7);
    curvature += Lambda[a] * (16 * (y[3][a] + y[1][a]) - y[4][a] - y[0][a] - 30 * y[2][a]) / (12 * h * h);
    for (int b = 0; b < dim; b++) spread += W[a * dim + b] * way[a] * way[b];
  }
  check_near(curvature + spread, size, 1e-6 * (1 + fabs(size)));
  for (int a = 0; a < u; a++)
    for (int b = 0; b < a; b++) check_near(H[a * u + b], H[b * u + a], 0);
}

static void variations_are_derivatives(void **state) { everywhere(are_derivatives); }

/* Compares derivatives for pieces with separate durations: the first and the last of three arcs form one piece, the
 * second arc another. */
static void are_derivatives_in_pieces(cb_variation *v, uint64_t *seed, const double *c) {
  const cb_basis *s = v->basis;
  int piece[64];
  double whole, cost = 0;
  if (s->harmonics) return;
  assert_in_range(s->panels, 3, 64);
  check_ok(cb_variation_at(v, c, 1));
  whole = v->cost;
  for (int k = 0; k < s->panels; k++) piece[k] = s->edge[k] > s->end[1] - 1e-9 && s->edge[k] < s->end[2] - 1e-9;
  check_ok(cb_variation_divide(v, 2, piece));
  check_ok(cb_variation_at(v, c, 1));
  assert_true(v->cost < whole && cb_variation_uneven(v, &cost) > 0);
  check_relative(cost, whole, 1e-14);
  are_derivatives(v, seed, c);
}

static void variations_of_pieces_are_derivatives(void **state) { everywhere(are_derivatives_in_pieces); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cost_and_holonomy_are_those_of_the_gait),
                                     cmocka_unit_test(variations_are_derivatives),
                                     cmocka_unit_test(variations_of_pieces_are_derivatives)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
