/* Tests of moving origins in products and in groups with a left-invariant metric, compared with the isometries of the
 * embedding, or of the coordinates of the group. */
#include "check_origins.h"

static const char *const products[] = {"h2xe", "s2xe"};
static const char *const groups[] = {"nil", "sol", "sl2", "flat_torus"};
enum { PRODUCTS = 2, GROUPS = 4, ALL = PRODUCTS + GROUPS, TRIALS = 50 };

static cb_space *open_space(int i) {
  cb_space *g;
  check_ok(cb_space_create(i < PRODUCTS ? products[i] : groups[i - PRODUCTS], NULL, &g));
  assert_true(cb_origin_moves(g));
  return g;
}

/* Runs TRIALS trials in each space, starting with the space of number `first`. */
static void each(int first, void (*trial)(const cb_space *g, uint64_t *state)) {
  uint64_t state = check_seed();
  for (int i = first; i < ALL; i++) {
    cb_space *g = open_space(i);
    for (int n = 0; n < TRIALS; n++) trial(g, &state);
    cb_space_free(g);
  }
}

static void some_point(const cb_space *g, uint64_t *state, double *x) {
  if (g->intrinsic)
    for (int i = 0; i < g->dim; i++) x[i] = check_uniform(state, -0.5, 0.5);
  else
    check_random_point(g, state, 0.5, x);
}

static void some_vector(const cb_space *g, uint64_t *state, const double *x, double *v) {
  if (g->intrinsic)
    for (int i = 0; i < g->dim; i++) v[i] = check_uniform(state, -1, 1);
  else
    check_random_tangent(g, state, x, 1, v);
}

/* A random origin o, a point, and a vector at the point: x and v are their coordinates relative to the origin, y and w
 * those in the world. */
typedef struct seen {
  cb_origin o;
  double x[K], v[K], y[K], w[K];
} seen;

static seen some_seen(const cb_space *g, uint64_t *state) {
  seen s = {0};
  cb_isometry m;
  random_origin(g, state, 1, &s.o, &m);
  some_point(g, state, s.x);
  some_vector(g, state, s.x, s.v);
  cb_isometry_point(g, &m, s.x, s.y);
  cb_isometry_vector(g, &m, s.v, s.w);
  return s;
}

/* Adds the momenta in the world of a point whose position x and momentum p are relative to the origin o. */
static void add_momenta(const cb_space *g, const cb_origin *o, const double *x, const double *p, double *momenta) {
  if (g->intrinsic) {
    cb_origin_killing_add(g, o, x, p, momenta);
  } else {
    double local[CB_KILLING_MAX] = {0};
    cb_killing_momentum_add(g, x, p, local);
    cb_origin_killing(g, o, local, momenta);
  }
}

static void compose_and_invert(const cb_space *g, uint64_t *state) {
  cb_origin a, b, ab, one, identity;
  cb_isometry ma, mb, mab, m, inverse;
  random_origin(g, state, 1, &a, &ma);
  random_origin(g, state, 1, &b, &mb);
  cb_origin_compose(g, &a, &b, &ab);
  cb_isometry_compose(g, &ma, &mb, &mab);
  cb_origin_isometry(g, &ab, &m);
  check_at_most(isometry_difference(g, &m, &mab), 1e-12); /* the entries are of size exp(2 sqrt 2) */
  cb_isometry_inverse(g, &mab, &inverse);
  cb_origin_inverse(g, &ab, &one);
  cb_origin_isometry(g, &one, &m);
  check_at_most(isometry_difference(g, &m, &inverse), 1e-12);
  cb_origin_relative(g, &a, &ab, &one);
  cb_origin_isometry(g, &one, &m);
  check_at_most(isometry_difference(g, &m, &mb), 1e-11);
  cb_origin_relative(g, &ab, &ab, &one);
  cb_origin_identity(g, &identity);
  assert_memory_equal(&one, &identity, sizeof one);
}

static void origins_compose_and_invert_as_isometries_do(void **unused) { each(0, compose_and_invert); }

/* Positions, velocities and momenta in the world are the same before and after a change of origin. */
static void recentre(const cb_space *g, uint64_t *state) {
  cb_origin o;
  cb_isometry m, change;
  double x[K], y[K], p[K], low[K] = {0}, p_low[K] = {0}, before[K], after[K], j[2][CB_KILLING_MAX] = {{0}};
  random_origin(g, state, 1, &o, &m);
  some_point(g, state, x);
  some_point(g, state, y);
  some_vector(g, state, x, p);
  for (int pass = 0; pass < 2; pass++) {
    if (pass) check_ok(cb_origin_recentre(g, &o, y, &(cb_local_points){1, x, low, p, p_low}, &change));
    cb_origin_world_point(g, &o, x, pass ? after : before);
    add_momenta(g, &o, x, p, j[pass]);
  }
  check_at_most(check_distance_max(g->embedding, before, after), 1e-12);
  check_at_most(check_distance_max(g->n_killing, j[0], j[1]), 1e-11);
}

static void recentring_leaves_the_world_where_it_was(void **unused) { each(0, recentre); }

/* Momenta that are computed from coordinates relative to an origin equal those of the same point in the world. */
static void momenta(const cb_space *g, uint64_t *state) {
  const seen s = some_seen(g, state);
  double gij[D * D], p[K] = {0}, momentum[CB_KILLING_MAX] = {0}, expected[CB_KILLING_MAX] = {0};
  cb_killing_momentum_add(g, s.y, s.w, expected);
  memcpy(p, s.v, sizeof p);
  if (g->intrinsic) {
    check_ok(g->chart->metric(g, s.x, gij, NULL, NULL));
    for (int r = 0; r < g->dim; r++) {
      p[r] = 0;
      for (int c = 0; c < g->dim; c++) p[r] += gij[r * g->dim + c] * s.v[c];
    }
  }
  add_momenta(g, &s.o, s.x, p, momentum);
  check_at_most(check_distance_max(g->n_killing, momentum, expected), 1e-11);
  check_killing_sizes(g, &s.o, s.x, s.y);
}

static void momenta_are_those_of_the_world(void **unused) { each(0, momenta); }

static void plots(const cb_space *g, uint64_t *state) {
  const seen s = some_seen(g, state);
  double plot[2][3], rate[2][3];
  cb_plot_coordinates(g, s.y, s.w, plot[0], rate[0]);
  cb_origin_plot(g, &s.o, s.x, s.v, plot[1], rate[1]);
  check_at_most(check_distance_max(3, plot[0], plot[1]), 1e-12);
  check_at_most(check_distance_max(3, rate[0], rate[1]), 1e-12);
}

static void plots_are_those_of_the_world(void **unused) { each(0, plots); }

/* L_a is the left translation by a, and m(a) is its matrix. m(a) m(a)^-1 is the identity in double-double arithmetic.
 * The metric at q is the metric at y = L_a q, pulled back. */
static void left_translations(const cb_space *g, uint64_t *state) {
  const int n = g->dim;
  cb_recentring change;
  cb_origin o;
  cb_isometry m;
  double a[D], q[D], y[D], here[D * D], there[D * D];
  some_point(g, state, a);
  some_point(g, state, q);
  cb_origin_identity(g, &o);
  cb_origin_shift(g, &o, a, &change);
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++) { /* momenta are multiplied by m(a)^T, points by m(a)^-1 */
      cb_dd sum = cb_dd_of(r == c ? -1 : 0);
      for (int k = 0; k < n; k++) sum = cb_dd_add(sum, cb_dd_mul(change.m[r][k], change.momentum[c][k]));
      check_at_most(fabs(cb_dd_double(sum)), 1e-30);
    }
  cb_origin_isometry(g, &o, &m);
  cb_isometry_point(g, &m, q, y);
  check_ok(g->chart->metric(g, q, here, NULL, NULL));
  check_ok(g->chart->metric(g, y, there, NULL, NULL));
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++) {
      double sum = 0;
      for (int k = 0; k < n * n; k++) sum += m.m[k / n][r] * there[k] * m.m[k % n][c];
      check_near(sum, here[r * n + c], 1e-13);
    }
}

static void left_translations_are_isometries(void **unused) { each(PRODUCTS, left_translations); }

/* The distance D in H^2 x E satisfies D^2 = d^2 + z^2, where d is the distance in the hyperbolic plane and z the
 * difference along E. The derivatives of D agree with differences. */
static void centres_far_away_in_h2xe_are_measured_factor_by_factor(void **unused) {
  uint64_t state = check_seed();
  cb_space *g = open_space(0), *h2;
  check_ok(cb_space_create("h2", NULL, &h2));
  for (int trial = 0; trial < TRIALS; trial++) {
    cb_origin o, plane, step;
    cb_anchor anchor, anchor2;
    double x[K], centre[K], d, d2, gradient[K], hessian[K * K], v[K];
    const double by[2] = {check_uniform(&state, 3, 200), check_uniform(&state, -30, 30)};
    check_random_point(g, &state, 0.5, x);
    check_random_point(g, &state, 0.5, centre);
    check_ok(cb_origin_flow(g, 0, by[0], &o));
    check_ok(cb_origin_flow(g, 3, by[1], &step));
    cb_origin_compose(g, &step, &o, &o);
    check_ok(cb_origin_flow(h2, 0, by[0], &plane));
    cb_anchor_make(g, &o, centre, &anchor);
    cb_anchor_make(h2, &plane, centre, &anchor2);
    check_ok(cb_anchor_distance(g, &anchor, x, &d, gradient, hessian));
    check_ok(cb_anchor_distance(h2, &anchor2, x, &d2, NULL, NULL));
    check_relative(d, hypot(d2, x[3] + by[1] - centre[3]), 1e-14);
    check_random_tangent(g, &state, x, 1, v);
    double ends[2], slopes[2][K], slope = 0, turn[K] = {0};
    const double h = 1e-5;
    for (int side = 0; side < 2; side++) {
      double at[K];
      for (int a = 0; a < 4; a++) at[a] = x[a] + (side ? h : -h) * v[a];
      check_ok(cb_anchor_distance(g, &anchor, at, &ends[side], slopes[side], NULL));
    }
    for (int a = 0; a < 4; a++) {
      slope += gradient[a] * v[a];
      for (int b = 0; b < 4; b++) turn[a] += hessian[a * 4 + b] * v[b];
    }
    /* The round-off of the slope is 1e-16 times a distance of 200, divided by h = 1e-5. */
    check_near(slope, (ends[1] - ends[0]) / (2 * h), 1e-8);
    for (int a = 0; a < 4; a++) check_near(turn[a], (slopes[1][a] - slopes[0][a]) / (2 * h), 1e-8);
  }
  cb_space_free(g);
  cb_space_free(h2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(origins_compose_and_invert_as_isometries_do),
      cmocka_unit_test(recentring_leaves_the_world_where_it_was),
      cmocka_unit_test(momenta_are_those_of_the_world),
      cmocka_unit_test(plots_are_those_of_the_world),
      cmocka_unit_test(left_translations_are_isometries),
      cmocka_unit_test(centres_far_away_in_h2xe_are_measured_factor_by_factor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
