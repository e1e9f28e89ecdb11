/* Tests that the broad phase, which finds pairs of balls that may touch, finds the same pairs as a comparison of all
 * pairs, in every space. The balls touch, form clusters, have equal or very different sizes, are larger than the space,
 * or are far out in H^n. */
#include "check_spaces.h"
#include "core/threads.h"
#include "count_allocations.h"
#include "run/broad_phase.h"

enum { N = CHECK_SANITIZED ? 300 : 2000, QUERIES = 30 };

typedef struct balls {
  int n;
  double x[CB_COORD_MAX * N], reach[N];
} balls;

/* Converts a point of the embedding to the coordinates that the broad phase expects: those of the chart, or the point
 * itself if the space has no chart. */
static bool give(const cb_space *g, const double *point, double *x) {
  if (g->chart && !g->intrinsic) return !g->chart->from_point(g, point, x);
  return memcpy(x, point, (size_t)g->k * sizeof *x);
}

static bool take(const cb_space *g, const double *x, double *point) {
  if (g->chart && !g->intrinsic) return !g->chart->to_point(g, x, point, NULL);
  return memcpy(point, x, (size_t)g->k * sizeof *x);
}

static const cb_near_pair *pairs_of(cb_broad *b, const balls *s, size_t *count) {
  const cb_near_pair *pair;
  check_ok(cb_broad_set(b, s->n, s->x, s->reach));
  check_ok(cb_broad_pairs(b, &pair, count));
  return pair;
}

static bool listed(const cb_near_pair *pair, size_t count, int i, int j) {
  size_t lo = 0, hi = count;
  while (lo < hi) {
    const size_t at = (lo + hi) / 2;
    if (pair[at].i < i || (pair[at].i == i && pair[at].j < j))
      lo = at + 1;
    else
      hi = at;
  }
  return lo < count && pair[lo].i == i && pair[lo].j == j;
}

/* Checks that the pairs, and the balls near a given ball, are the same as by a comparison of all pairs. */
static void check_same(const cb_space *g, const balls *s, uint64_t *state, const char *what) {
  cb_broad *grid, *all;
  size_t count, expected;
  check_ok(cb_broad_create(g, false, &grid));
  check_ok(cb_broad_create(g, true, &all));
  const cb_near_pair *a = pairs_of(grid, s, &count), *b = pairs_of(all, s, &expected);
  for (size_t k = 0; k < count || k < expected; k++)
    if (k >= count || k >= expected || a[k].i != b[k].i || a[k].j != b[k].j)
      fail_msg("%s, %s: pair %zu of %zu is not that of all pairs, which are %zu", g->class_->name, what, k, count,
               expected);
  for (int q = 0; q < QUERIES; q++) {
    const int i = (int)check_uniform(state, 0, s->n);
    const double reach = s->reach[i] * pow(10, check_uniform(state, -2, 2)), moved = q % 3 ? 0 : reach;
    const int *near, *near_all;
    int n, n_all;
    check_ok(cb_broad_around(grid, s->x + i * g->k, reach, moved, &near, &n));
    check_ok(cb_broad_around(all, s->x + i * g->k, reach, moved, &near_all, &n_all));
    assert_int_equal(n, n_all);
    assert_memory_equal(near, near_all, (size_t)n * sizeof *near);
  }
  cb_broad_free(grid);
  cb_broad_free(all);
}

/* Returns the radius of the region in which balls are placed. It is pi/sqrt(K), which covers the complete sphere, if a
 * factor of the space has a curvature K > 0. Otherwise it is 3, or 0.8 in a space that is given by a metric
 * (intrinsic). */
static double throw(const cb_space *g) {
  if (g->intrinsic) return 0.8;
  for (int f = 0; f < g->n_factors; f++)
    if (g->factor[f].curvature > 0) return 3.1415 / sqrt(g->factor[f].curvature);
  return 3;
}

static void random_balls(const cb_space *g, uint64_t *state, balls *s) {
  double point[CB_COORD_MAX];
  s->n = N;
  for (int i = 0; i < N; i++) {
    do check_random_point(g, state, throw(g), point);
    while (!give(g, point, s->x + i * g->k));
    s->reach[i] = 0.03 * throw(g);
  }
}

static void every_pair_is_found(const cb_space *g, uint64_t *state) {
  static balls s, t;
  random_balls(g, state, &s);
  check_same(g, &s, state, "even");

  t = s;
  for (int i = 0; i < N; i++) t.reach[i] = throw(g) * pow(10, check_uniform(state, -6, -0.3));
  check_same(g, &t, state, "sizes over six orders");

  t = s;
  for (int i = 0; i < 4; i++) t.reach[i * 77] = i < 3 ? 1e3 : INFINITY;
  for (int i = 0; i < 4; i++) t.x[(i * 97 + 5) * g->k + i % g->k] = NAN;
  check_same(g, &t, state, "larger than the space, and not finite");

  t = s;
  for (int i = 20; i < N; i++) {
    memcpy(t.x + i * g->k, t.x + (i % 20) * g->k, (size_t)g->k * sizeof(double));
    t.reach[i] = i % 3 ? 1e-3 : 0;
  }
  check_same(g, &t, state, "equal points");

  for (int i = 20; i < N; i++) {
    t.reach[i] = pow(10, check_uniform(state, -5, -3));
    if (g->chart)
      for (int a = 0; a < g->k; a++) t.x[i * g->k + a] += check_uniform(state, -1e-3, 1e-3);
    else {
      double v[CB_COORD_MAX], y[CB_COORD_MAX];
      check_random_tangent(g, state, t.x + i * g->k, 1e-3, v);
      cb_exp(g, t.x + i * g->k, v, y, NULL);
      memcpy(t.x + i * g->k, y, (size_t)g->k * sizeof *y);
    }
  }
  check_same(g, &t, state, "clusters");

  t = s;
  t.n = N < 300 ? N : 300;
  for (int i = 0; i < t.n; i++) t.reach[i] = 0.5 * throw(g);
  check_same(g, &t, state, "half the space");
}

/* Ball i + N/2 is at the end of the geodesic that starts at the position of ball i with the velocity v and takes the
 * time 1. |v| is slightly less than the sum of the two reaches. Therefore the balls touch: in any space their distance
 * is at most |v|. */
static void balls_that_touch_are_found(const cb_space *g, uint64_t *state) {
  static balls s;
  random_balls(g, state, &s);
  int left = 0;
  for (int i = 0; i < N / 2; i++) {
    const int j = i + N / 2;
    double x[CB_COORD_MAX], v[CB_COORD_MAX], y[CB_COORD_MAX] = {0};
    s.reach[i] = throw(g) * pow(10, check_uniform(state, -6, -0.5));
    s.reach[j] = i % 2 ? s.reach[i] : throw(g) * pow(10, check_uniform(state, -6, -0.5));
    const double sum = s.reach[i] + s.reach[j];
    bool ok = take(g, s.x + i * g->k, x);
    if (g->intrinsic) {
      double frame[CB_DIM_MAX * CB_DIM_MAX], c[CB_DIM_MAX], square = 0;
      cb_space_frame(g, x, frame);
      for (int a = 0; a < g->dim; a++) {
        c[a] = check_uniform(state, -1, 1);
        square += c[a] * c[a];
      }
      for (int a = 0; a < g->dim; a++) {
        v[a] = 0;
        for (int e = 0; e < g->dim; e++) v[a] += frame[e * g->dim + a] * c[e] / sqrt(square) * sum * (1 - 1e-9);
      }
    } else {
      do check_random_tangent(g, state, x, 1, v);
      while (!(cb_inner(g, v, v) > 0.01));
      const double scale = sum * (1 - 1e-9) / sqrt(cb_inner(g, v, v));
      for (int a = 0; a < g->embedding; a++) v[a] *= scale;
    }
    cb_exp(g, x, v, y, NULL);
    for (int a = 0; a < g->embedding; a++) ok = ok && isfinite(y[a]);
    ok = ok && (!g->intrinsic || !cb_space_check_point(g, y, 1)) && give(g, y, s.x + j * g->k);
    if (!ok) {
      s.reach[i] = -1;
      left++;
    }
  }
  assert_true(left < N / 4);
  for (int i = 0; i < N / 2; i++)
    if (s.reach[i] < 0) {
      s.x[i * g->k] = NAN;
      s.reach[i] = 0;
    }
  cb_broad *b;
  size_t count;
  check_ok(cb_broad_create(g, false, &b));
  const cb_near_pair *pair = pairs_of(b, &s, &count);
  for (int i = 0; i < N / 2; i++)
    if (isfinite(s.x[i * g->k]) && !listed(pair, count, i, i + N / 2))
      fail_msg("%s: balls %d and %d with reaches %g and %g touch and are not found", g->class_->name, i, i + N / 2,
               s.reach[i], s.reach[i + N / 2]);
  cb_broad_free(b);
}

/* In spaces that are products of quadrics, the found pairs must be those whose distance is at most the sum of their
 * reaches. */
static void pairs_are_those_of_the_distance(const cb_space *g, uint64_t *state) {
  static balls s;
  random_balls(g, state, &s);
  for (int i = 0; i < N; i++) s.reach[i] = 0.1 * throw(g) * pow(10, check_uniform(state, -2, 0));
  /* On a sphere, the first balls are centred at the points where the coordinate axes of R^(n+1) meet the sphere. */
  for (int a = 0; a < 2 * g->k && g->n_factors == 1 && g->factor[0].curvature > 0; a++) {
    memset(s.x + a * g->k, 0, (size_t)g->k * sizeof(double));
    s.x[a * g->k + a / 2] = (a % 2 ? -1 : 1) / sqrt(g->factor[0].curvature);
    s.reach[a] = (a % 4 < 2 ? 0.5 : 0.25) * 3.14159265358979 / sqrt(g->factor[0].curvature);
  }
  cb_broad *b;
  size_t count, k = 0;
  check_ok(cb_broad_create(g, false, &b));
  const cb_near_pair *pair = pairs_of(b, &s, &count);
  for (int i = 0; i < N; i++)
    for (int j = i + 1; j < N; j++) {
      const double d = cb_distance(g, s.x + i * g->k, s.x + j * g->k), sum = s.reach[i] + s.reach[j];
      const bool found = k < count && pair[k].i == i && pair[k].j == j;
      k += found;
      /* The round-off of the distance between nearly antipodal points is up to 1e-7. */
      if (found ? d > sum + 1e-7 : d <= sum) fail_msg("%s: d = %.17g, reaches %.17g", g->class_->name, d, sum);
    }
  assert_int_equal(k, count);
  /* Every ball moves by at most `moved`. If it is then near to ball c, it must be in the list for balls that may move
   * this far. */
  const double moved = 0.05;
  for (int q = 0; q < QUERIES; q++) {
    const int *near, c = (int)check_uniform(state, 0, N);
    int n, at = 0;
    check_ok(cb_broad_around(b, s.x + c * g->k, s.reach[c], moved, &near, &n));
    for (int i = 0; i < N; i++) {
      double v[CB_COORD_MAX], y[CB_COORD_MAX];
      check_random_short_tangent(g, state, s.x + i * g->k, moved, v);
      cb_exp(g, s.x + i * g->k, v, y, NULL);
      while (at < n && near[at] < i) at++;
      if (cb_distance(g, s.x + c * g->k, y) <= s.reach[c] + s.reach[i]) assert_true(at < n && near[at] == i);
    }
  }
  cb_broad_free(b);
}

static void in_every_space_the_grid_finds_what_all_pairs_find(void **unused) {
  check_every_space_of_both_kinds(every_pair_is_found);
}

static void in_every_space_balls_that_touch_are_found(void **unused) {
  check_every_space_of_both_kinds(balls_that_touch_are_found);
}

static void in_every_quadric_space_pairs_are_those_of_the_distance(void **unused) {
  check_every_space(pairs_are_those_of_the_distance);
}

static void in_static_charts_of_quadrics_the_same_holds(void **unused) {
  static const char *const cases[][2] = {{"h3", "polar"},    {"s3", "polar"}, {"e3", "polar"},
                                         {"h3", "poincare"}, {"h2", "polar"}, {"h2xe", "polar"}};
  uint64_t state = check_seed();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_map m;
    cb_space *g;
    check_ok(cb_space_create(cases[i][0], check_map_fill(&m, "chart", cases[i][1], NULL, NULL), &g));
    every_pair_is_found(g, &state);
    balls_that_touch_are_found(g, &state);
    cb_space_free(g);
  }
}

/* Balls are on rays from the base point at intervals of half a unit, up to a distance of 300. Each ball is near only to
 * its neighbours on the same ray. The direction of a ray is known only to round-off, and at the distance 300 this is a
 * length of about e^264 across the ray. The first five balls of each ray are left out of this check. */
static void far_out_in_h3_neighbours_along_a_ray_are_found(void **unused) {
  cb_space *g;
  cb_broad *b;
  check_ok(cb_space_create("h3", NULL, &g));
  check_ok(cb_broad_create(g, false, &b));
  uint64_t state = check_seed();
  enum { RAYS = 20, ALONG = 601 };
  static double x[4 * RAYS * ALONG], reach[RAYS * ALONG];
  for (int r = 0; r < RAYS; r++) {
    double n[3], square = 0;
    for (int a = 0; a < 3; a++) {
      n[a] = r == 0 ? a == 2 : check_uniform(&state, -1, 1);
      square += n[a] * n[a];
    }
    for (int k = 0; k < ALONG; k++) {
      double *y = x + 4 * (r * ALONG + k), a = 0.5 * k;
      for (int c = 0; c < 3; c++) y[c] = n[c] / sqrt(square) * sinh(a);
      y[3] = cosh(a);
      reach[r * ALONG + k] = 0.2501;
    }
  }
  const cb_near_pair *pair;
  size_t count;
  check_ok(cb_broad_set(b, RAYS * ALONG, x, reach));
  check_ok(cb_broad_pairs(b, &pair, &count));
  for (int r = 0; r < RAYS; r++)
    for (int k = 0; k + 1 < ALONG; k++) assert_true(listed(pair, count, r * ALONG + k, r * ALONG + k + 1));
  for (size_t k = 0; k < count; k++) {
    const int at = pair[k].i % ALONG;
    if (at < 5 || pair[k].j % ALONG < 5) continue; /* near the base point the rays are close together */
    assert_int_equal(pair[k].j, pair[k].i + 1);
  }
  cb_broad_free(b);
  cb_space_free(g);
}

/* Places n balls at constant density, so that each has some neighbours: in a cube of E3, on the complete S3, or in a
 * ball of H3. */
static void gas(const cb_space *g, uint64_t *state, int n, double *x, double *reach) {
  const double k = g->factor[0].curvature, r = k < 0 ? asinh(n / 6.) / 2 : cbrt(n);
  for (int i = 0; i < n; i++) {
    double *y = x + (size_t)i * (size_t)g->k, v[3];
    if (k == 0) {
      for (int a = 0; a < 3; a++) y[a] = check_uniform(state, 0, r);
    } else if (k > 0) {
      check_direction(state, 4, y);
    } else {
      check_direction(state, 3, v);
      const double a = 0.5 * asinh(sinh(2 * r) * check_uniform(state, 0, 1));
      for (int c = 0; c < 3; c++) y[c] = v[c] * sinh(a);
      y[3] = cosh(a);
    }
    reach[i] = k > 0 ? 0.5 * cbrt(20. / n) : 0.5;
  }
}

static void threads_change_nothing_and_nothing_is_allocated_again(void **unused) {
  enum { MANY = 60000 };
  static const char *const spaces[] = {"e3", "s3", "h3"};
  uint64_t state = check_seed();
  double *x = malloc(MANY * 4 * sizeof *x), *reach = malloc(MANY * sizeof *reach);
  for (int i = 0; i < 3; i++) {
    cb_space *g;
    cb_broad *b[2];
    const cb_near_pair *pair[2];
    size_t count[2];
    check_ok(cb_space_create(spaces[i], NULL, &g));
    gas(g, &state, MANY, x, reach);
    for (int t = 0; t < 2; t++) {
      cb_threads_set(t + 1);
      check_ok(cb_broad_create(g, false, &b[t]));
      check_ok(cb_broad_set(b[t], MANY, x, reach));
      check_ok(cb_broad_pairs(b[t], &pair[t], &count[t]));
    }
    assert_int_equal(count[0], count[1]);
    assert_true(count[0] > MANY / 2);
    assert_memory_equal(pair[0], pair[1], count[0] * sizeof **pair);
    for (int t = 0; t < 2; t++) {
      const int *near;
      int n;
      cb_threads_set(t + 1);
      cb_status status = CB_OK;
      count_from_here();
      for (int k = 0; k < 2 && !status; k++) {
        status = cb_broad_set(b[t], MANY - k, x, reach);
        if (!status) status = cb_broad_pairs(b[t], &pair[t], &count[t]);
        if (!status) status = cb_broad_around(b[t], x, 0.1, 0.1, &near, &n);
      }
      const size_t calls_made = count_so_far();
      check_ok(status);
      assert_int_equal(calls_made, 0);
    }
    for (int t = 0; t < 2; t++) cb_broad_free(b[t]);
    cb_space_free(g);
  }
  cb_threads_set(0);
  free(x);
  free(reach);
}

static void none_one_and_what_is_no_ball(void **unused) {
  cb_space *g;
  cb_broad *b;
  const cb_near_pair *pair;
  const int *near;
  size_t count;
  int n;
  check_ok(cb_space_create("s3", NULL, &g));
  const double x[4] = {0, 0, 0, 1};
  check_ok(cb_broad_create(g, false, &b));
  for (int k = 0; k < 2; k++) { /* no ball, and one ball */
    check_ok(cb_broad_pairs(b, &pair, &count));
    assert_int_equal(count, 0);
    check_ok(cb_broad_around(b, x, 0, 0, &near, &n));
    assert_int_equal(n, k);
    check_ok(cb_broad_set(b, 1, x, (double[]){0}));
  }
  assert_int_equal(cb_broad_set(b, 1, x, (double[]){-1}), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_broad_set(b, 1, x, (double[]){NAN}), CB_ERROR_ARGUMENT);
  cb_broad_free(b);
  cb_space_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_counter_counts),
      cmocka_unit_test(none_one_and_what_is_no_ball),
      cmocka_unit_test(in_every_quadric_space_pairs_are_those_of_the_distance),
      cmocka_unit_test(in_every_space_the_grid_finds_what_all_pairs_find),
      cmocka_unit_test(in_every_space_balls_that_touch_are_found),
      cmocka_unit_test(in_static_charts_of_quadrics_the_same_holds),
      cmocka_unit_test(far_out_in_h3_neighbours_along_a_ray_are_found),
      cmocka_unit_test(threads_change_nothing_and_nothing_is_allocated_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
