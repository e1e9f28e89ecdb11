/* Tests of the far field against direct sums of exact rows. The error is within the requested error, and not much
 * smaller, on bodies that are round, thin, separate or graded, and on triangles at random places or in one place.
 * Further tests are of gradients, of identical results with any number of threads, and of products without
 * allocation. */
#include "count_allocations.h"

#include "core/threads.h"
#include "panel_formulas.h"
#include "panel_sets.h"
#include "potential/far.h"

enum { COLUMNS = 7, TARGETS = 150 };

/* Returns the density of a column on panel i. The columns are random, constant, smooth, and the three components of the
 * normals. Across a thin body the sources of the normals cancel. */
static double density(const cb_panels *p, int column, int i, uint64_t *seed) {
  const double *x = p->centre[i], *n = p->normal[i];
  switch (column) {
    case 0: return check_uniform(seed, -1, 1);
    case 1: return 1;
    case 2: return x[0] * x[1] + x[2];
    case 3: return sin(3 * x[0]) * cos(2 * x[1]);
    default: return n[column - 4];
  }
}

static double *densities(const cb_panels *p, uint64_t seed) {
  double *d = malloc((size_t)p->n * COLUMNS * sizeof *d);
  for (int k = 0; k < COLUMNS; k++)
    for (int i = 0; i < p->n; i++) d[k * p->n + i] = density(p, k, i, &seed);
  return d;
}

/* Returns the maximum error over the columns, of sources or of dipoles, relative to the maximum potential of the
 * column. */
static double error_of(const cb_panels *p, double asked, bool dipoles, uint64_t *seed) {
  cb_far *f;
  check_ok(cb_far_create(p, asked, &f));
  double *rho = densities(p, *seed), *out = calloc((size_t)p->n * COLUMNS, sizeof *out),
         *row = malloc((size_t)p->n * sizeof *row), worst[COLUMNS] = {0}, size[COLUMNS] = {0}, error = 0;
  check_ok(cb_far_apply(f, COLUMNS, dipoles ? NULL : rho, dipoles ? rho : NULL, out));
  for (int t = 0; t < TARGETS; t++) {
    const int i = (int)(check_uniform(seed, 0, 1) * p->n);
    cb_panels_row(p, p->centre[i], p->n, NULL, i, dipoles ? NULL : row, dipoles ? row : NULL);
    for (int k = 0; k < COLUMNS; k++) {
      double sum = 0;
      for (int j = 0; j < p->n; j++) sum += row[j] * rho[k * p->n + j];
      worst[k] = fmax(worst[k], fabs(sum - out[k * p->n + i]));
    }
  }
  for (int k = 0; k < COLUMNS; k++) {
    for (int i = 0; i < p->n; i++) size[k] = fmax(size[k], fabs(out[k * p->n + i]));
    /* If cancelling terms leave only round-off, nothing is compared. */
    if (size[k] > 1e-8) error = fmax(error, worst[k] / size[k]);
  }
  free(rho);
  free(out);
  free(row);
  cb_far_free(f);
  return error;
}

/* Checks the errors for three requested errors, and frees p. sharp: also checks that the error is at least 1e-3 of the
 * requested one. cancelled: a factor by which the error of sources may be larger, because the sources of a column
 * cancel. */
static void meets_with(const char *what, cb_panels *p, bool sharp, double cancelled) {
  uint64_t seed = check_seed();
  const double asked[] = {1e-3, 1e-6, 1e-10};
  for (int i = 0; i < 3; i++) {
    const double error[2] = {error_of(p, asked[i], false, &seed), error_of(p, asked[i], true, &seed)};
    print_message("%s, %d panels, %g asked: %.1e of sources, %.1e of dipoles\n", what, p->n, asked[i], error[0],
                  error[1]);
    check_at_most(error[0], cancelled * asked[i]);
    check_at_most(error[1], asked[i]);
    if (sharp) check_at_least(fmax(error[0], error[1]), asked[i] / 1e3);
  }
  cb_panels_free(p);
}

static void meets(const char *what, cb_panels *p, bool sharp) { meets_with(what, p, sharp, 1); }

static void round_bodies(void **unused) {
  meets("sphere", panels_of_ellipsoid(20, 1, 1, 1), true);
  meets("spindle", panels_of_ellipsoid(16, 10, 1, 1), true);
}

static void thin_bodies(void **unused) {
  meets("disc of thickness 1e-3", panels_of_ellipsoid(18, 1, 1, 1e-3 / 2), true);
  meets_with("disc of thickness 1e-4", panels_of_ellipsoid(18, 1, 1, 1e-4 / 2), true, 5);
}

static void bodies_apart(void **unused) {
  panel_set s = panel_set_room(2 * 12 * 14 * 14);
  panel_set_ellipsoid(&s, 14, (double[3]){1, 1, 1}, (double[3]){-50, 0, 0}, 1);
  panel_set_ellipsoid(&s, 14, (double[3]){1, 1, 1}, (double[3]){50, 3, 0}, 1);
  meets("two spheres 100 apart", panel_set_close(&s), true);
}

static void graded_bodies(void **unused) {
  panel_set s = panel_set_room(12 * 20 * 20);
  panel_set_ellipsoid(&s, 20, (double[3]){1, 1, 1}, (double[3]){0}, 4);
  meets("sphere of areas from 1e-8 to 1", panel_set_close(&s), false);
  uint64_t seed = 3;
  s = panel_set_room(4000);
  panel_set_anywhere(&s, 4000, 1e-4, 0.5, &seed);
  meets("triangles of sides 1e-4 to .5 anywhere", panel_set_close(&s), false);
}

static void few_and_coinciding_panels(void **unused) {
  meets("one cell", panels_of_ellipsoid(2, 1, 1, 1), false);
  panel_set s = panel_set_room(1);
  panel_set_add(&s, (double[3]){0}, (double[3]){1, 0, 0}, (double[3]){0, 1, 0});
  meets("one panel", panel_set_close(&s), false);
  s = panel_set_room(700);
  for (int i = 0; i < 700; i++) panel_set_add(&s, (double[3]){0}, (double[3]){1, 0, 0}, (double[3]){0, 1, 0});
  meets("one place", panel_set_close(&s), false);
  s = panel_set_room(4000);
  for (int i = 0; i < 4000; i++) {
    const double x = i % 80, y = i / 80;
    panel_set_add(&s, (double[3]){x, y}, (double[3]){x + 1, y}, (double[3]){x, y + 1});
  }
  meets("one plane", panel_set_close(&s), false);
}

/* The result of sources and dipoles together is the sum of both. There are more columns than one pass can process.
 * Results are added to `out`. */
static void sums_are_linear(void **unused) {
  cb_panels *p = panels_of_ellipsoid(12, 2, 1, 1);
  const size_t n = (size_t)p->n * COLUMNS;
  double *rho = densities(p, 5), *mu = densities(p, 6), *three = malloc(3 * n * sizeof *three),
         *out = calloc(3 * n, sizeof *out), *sum = calloc(n, sizeof *sum), size = 0, worst = 0;
  cb_far *f;
  check_ok(cb_far_create(p, 1e-10, &f));
  check_ok(cb_far_apply(f, COLUMNS, rho, NULL, sum));
  check_ok(cb_far_apply(f, COLUMNS, NULL, mu, sum));
  check_ok(cb_far_apply(f, COLUMNS, rho, mu, out));
  for (size_t i = 0; i < n; i++) {
    size = fmax(size, fabs(sum[i]));
    worst = fmax(worst, fabs(sum[i] - out[i]));
  }
  check_at_most(worst, 1e-10 * size);
  memset(out, 0, n * sizeof *out);
  for (size_t i = 0; i < 3 * n; i++) three[i] = mu[i % n];
  check_ok(cb_far_apply(f, 3 * COLUMNS, NULL, three, out));
  check_ok(cb_far_apply(f, COLUMNS, rho, NULL, out));
  for (size_t i = 0; i < n; i++) {
    check_near(out[i], sum[i], 1e-14 * size);
    assert_true(out[n + i] == out[2 * n + i]);
  }
  cb_far_free(f);
  cb_panels_free(p);
  free(rho);
  free(mu);
  free(three);
  free(out);
  free(sum);
}

static void field_at(cb_far *f, cb_far_kind kind, int columns, const double *rho, const double *mu, int points,
                     const double (*x)[3], double *out) {
  cb_far_field *a = NULL;
  check_ok(cb_far_field_create(f, kind, columns, rho, mu, &a));
  check_ok(cb_far_field_at(a, points, x, out));
  cb_far_field_free(a);
}

/* Tests points near and far, isolated and in clusters. The potential is compared with sums over all panels. The
 * velocity is compared with differences of fourth order of the potential, whose relative error is below
 * (h/distance)^4. */
static void fields_at_points(void **unused) {
  enum { POINTS = 60 };
  const double h = 2e-3, at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
  uint64_t seed = check_seed();
  cb_panels *p = panels_of_ellipsoid(14, 1, 1, 0.5);
  double *rho = densities(p, 8), *mu = densities(p, 9), x[POINTS][3], phi[POINTS * COLUMNS], u[POINTS][3],
         moved[POINTS][3], there[4][POINTS * COLUMNS], slope[COLUMNS][3][POINTS] = {0},
         *S = malloc((size_t)p->n * sizeof *S), *D = malloc((size_t)p->n * sizeof *D);
  for (int i = 0; i < POINTS; i++) {
    check_direction(&seed, 3, x[i]);
    const double r = check_uniform(&seed, 0, 1) < 0.3 ? 30 : check_uniform(&seed, 1.1, 2);
    for (int a = 0; a < 3; a++) x[i][a] = i % 4 ? x[i - i % 4][a] + 0.01 * x[i][a] : r * x[i][a];
  }
  cb_far *f;
  check_ok(cb_far_create(p, 1e-8, &f));
  field_at(f, CB_FAR_POTENTIAL, COLUMNS, rho, mu, POINTS, (const double(*)[3])x, phi);
  field_at(f, CB_FAR_VELOCITY, 4, rho, mu, POINTS, (const double(*)[3])x, *u);
  double error = 0, size = 0, u_error = 0, u_size = 0;
  for (int i = 0; i < POINTS; i++) {
    double g[4][3] = {{0}};
    cb_panels_row(p, x[i], p->n, NULL, -1, S, D);
    for (int j = 0; j < p->n; j++) {
      double s[3], d[3];
      panel_velocity((const double(*)[3])p->corner[j], x[i], s, d);
      for (int k = 0; k < 4; k++)
        for (int a = 0; a < 3; a++) g[k][a] += s[a] * rho[k * p->n + j] + d[a] * mu[k * p->n + j];
    }
    for (int k = 0; k < COLUMNS; k++) {
      double sum = 0;
      for (int j = 0; j < p->n; j++) sum += S[j] * rho[k * p->n + j] + D[j] * mu[k * p->n + j];
      error = fmax(error, fabs(phi[k * POINTS + i] - sum));
      size = fmax(size, fabs(sum));
    }
    for (int a = 0; a < 3; a++) {
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      const double sum = g[c][b] - g[b][c] + g[3][a];
      u_error = fmax(u_error, fabs(u[i][a] - sum));
      u_size = fmax(u_size, fabs(sum));
    }
  }
  print_message("at points, 1e-8 asked: %.1e of potentials, %.1e of velocities\n", error / size, u_error / u_size);
  check_at_most(error, 1e-8 * size);
  check_at_least(error, 1e-12 * size); /* not only round-off: some points are in the far field */
  check_at_most(u_error, 1e-7 * u_size);
  for (int a = 0; a < 3; a++) {
    for (int q = 0; q < 4; q++) {
      memcpy(moved, x, sizeof moved);
      for (int i = 0; i < POINTS; i++) moved[i][a] += at[q] * h;
      field_at(f, CB_FAR_POTENTIAL, COLUMNS, rho, mu, POINTS, (const double(*)[3])moved, there[q]);
    }
    for (int i = 0; i < POINTS * COLUMNS; i++)
      for (int q = 0; q < 4; q++) slope[i / POINTS][a][i % POINTS] += weight[q] * there[q][i] / (12 * h);
  }
  for (int i = 0; i < POINTS; i++)
    for (int a = 0; a < 3; a++) {
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      check_near(u[i][a], slope[c][b][i] - slope[b][c][i] + slope[3][a][i], 1e-5 * u_size);
    }
  cb_far_field *refused = NULL;
  check_error_begins(cb_far_field_create(f, CB_FAR_VELOCITY, 3, rho, NULL, &refused), CB_ERROR_ARGUMENT,
                     "a field of 3");
  cb_far_free(f);
  cb_panels_free(p);
  free(rho);
  free(mu);
  free(S);
  free(D);
}

/* Tests slopes of the potential along the normals of the panels of a disc near a ball, with sources and dipoles
 * together. At the panels of the ball the potential itself is tested. */
static void slopes_of_sheets(void **unused) {
  panel_set s = panel_set_room(2 * 12 * 14 * 14);
  panel_set_ellipsoid(&s, 14, (double[3]){1, 1, 1}, (double[3]){0}, 1);
  const int solids = s.n;
  panel_set_ellipsoid(&s, 14, (double[3]){2, 1, 1e-9}, (double[3]){0, 0, 1.4}, 1); /* a disc whose two sides coincide */
  cb_panels *p = panel_set_close(&s);
  double *rho = densities(p, 8), *mu = densities(p, 9), *S = malloc((size_t)p->n * sizeof *S),
         *D = malloc((size_t)p->n * sizeof *D), *out = malloc((size_t)p->n * COLUMNS * sizeof *out);
  for (int i = 0; i < COLUMNS * p->n; i++) rho[i] = i % p->n < solids ? rho[i] : 0;
  const double asked[] = {1e-3, 1e-6, 1e-10};
  for (int e = 0; e < 3; e++) {
    cb_far *f;
    double worst[2] = {0}, size[2] = {0};
    check_ok(cb_far_create_sheets(p, solids, asked[e], &f));
    memset(out, 0, (size_t)p->n * COLUMNS * sizeof *out);
    check_ok(cb_far_apply(f, COLUMNS, rho, mu, out));
    for (int i = 0; i < p->n; i += 29) {
      const int slope = i >= solids;
      if (slope)
        cb_panels_slopes(p, p->centre[i], p->normal[i], (cb_panel_choice){0, p->n, NULL, i}, S, D);
      else
        cb_panels_range(p, p->centre[i], 0, p->n, i, S, D);
      for (int k = 0; k < COLUMNS; k++) {
        double sum = 0;
        for (int j = 0; j < p->n; j++) sum += S[j] * rho[k * p->n + j] + D[j] * mu[k * p->n + j];
        worst[slope] = fmax(worst[slope], fabs(sum - out[k * p->n + i]));
        size[slope] = fmax(size[slope], fabs(sum));
      }
    }
    print_message("%g asked: %.1e of potentials, %.1e of slopes\n", asked[e], worst[0] / size[0], worst[1] / size[1]);
    check_at_most(worst[0], asked[e] * size[0]);
    check_at_most(worst[1], asked[e] * size[1]);
    check_at_least(worst[1], 1e-6 * asked[e] * size[1]);
    cb_far_free(f);
  }
  cb_panels_free(p);
  free(rho);
  free(mu);
  free(S);
  free(D);
  free(out);
}

/* The neighbours of a group are its own panels and the panels nearest to it. */
static void neighbours_of_groups(void **unused) {
  enum { MOST = 150 };
  cb_panels *p = panels_of_ellipsoid(14, 1, 1, 0.5);
  cb_far *f;
  check_ok(cb_far_create(p, 1e-6, &f));
  for (int g = 0; g < cb_far_groups(f); g += 7) {
    int first, own, near[MOST];
    const int *numbers;
    double low[3], high[3], last = -1;
    bool *taken = calloc((size_t)p->n, sizeof *taken);
    cb_far_group(f, g, &first, &own, &numbers);
    assert_int_equal(cb_far_near(f, g, MOST, near), MOST);
    assert_memory_equal(near, numbers, (size_t)own * sizeof *near);
    for (int k = 0; k < 3; k++) {
      low[k] = INFINITY;
      high[k] = -INFINITY;
    }
    for (int i = 0; i < own; i++)
      for (int k = 0; k < 3; k++) {
        low[k] = fmin(low[k], p->centre[near[i]][k]);
        high[k] = fmax(high[k], p->centre[near[i]][k]);
      }
    for (int pass = 0; pass < 2; pass++)
      for (int i = 0; i < (pass ? p->n : MOST); i++) {
        double d2 = 0;
        const double *x = p->centre[pass ? i : near[i]];
        for (int k = 0; k < 3; k++) d2 += pow(fmax(0, fmax(low[k] - x[k], x[k] - high[k])), 2);
        if (!pass) {
          assert_false(taken[near[i]]);
          taken[near[i]] = true;
          if (i >= own) last = fmax(last, d2);
        } else if (!taken[i])
          check_at_least(d2, last);
      }
    free(taken);
  }
  cb_far_free(f);
  cb_panels_free(p);
}

static void threads_change_no_byte(void **unused) {
  cb_panels *p = panels_of_ellipsoid(16, 1, 1, 1);
  const size_t n = (size_t)p->n * COLUMNS;
  double *rho = densities(p, 1), *out[3], *phi[3], (*u[3])[3];
  for (int t = 0; t < 3; t++) {
    cb_far *f;
    out[t] = calloc(n, sizeof(double));
    phi[t] = calloc(n, sizeof(double));
    u[t] = calloc(500, sizeof(double[3]));
    cb_threads_set(t + 1);
    check_ok(cb_far_create(p, 1e-6, &f));
    check_ok(cb_far_apply(f, COLUMNS, rho, rho, out[t]));
    field_at(f, CB_FAR_POTENTIAL, COLUMNS, rho, rho, 500, (const double(*)[3])p->corner, phi[t]);
    field_at(f, CB_FAR_VELOCITY, 4, rho, NULL, 500, (const double(*)[3])p->corner, *u[t]);
    cb_far_free(f);
    assert_memory_equal(out[t], out[0], n * sizeof(double));
    assert_memory_equal(phi[t], phi[0], n * sizeof(double));
    assert_memory_equal(u[t], u[0], 500 * sizeof(double[3]));
  }
  cb_threads_set(0);
  for (int t = 0; t < 3; t++) {
    free(out[t]);
    free(phi[t]);
    free(u[t]);
  }
  free(rho);
  cb_panels_free(p);
}

static void instruction_sets_agree(void **unused) {
  const char *const names[] = {CB_ISA_BASE, "avx2", "avx512"};
  cb_panels *p = panels_of_ellipsoid(12, 1, 1, 1);
  double *rho = densities(p, 1), *out[3] = {NULL}, size = 0;
  const size_t n = (size_t)p->n * COLUMNS;
  for (int isa = 0; isa < 3; isa++) {
    if (cb_isa_set(names[isa])) continue;
    cb_far *f;
    out[isa] = calloc(n, sizeof(double));
    check_ok(cb_far_create(p, 1e-6, &f));
    check_ok(cb_far_apply(f, COLUMNS, rho, rho, out[isa]));
    cb_far_free(f);
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(out[0][i]));
    for (size_t i = 0; i < n; i++) check_near(out[isa][i], out[0][i], 1e-12 * size);
  }
  check_ok(cb_isa_set("auto"));
  for (int isa = 0; isa < 3; isa++) free(out[isa]);
  free(rho);
  cb_panels_free(p);
}

/* Every panel is in exactly one group, and products allocate no memory. */
static void groups_and_memory(void **unused) {
  cb_panels *p = panels_of_ellipsoid(16, 1, 1, 1);
  cb_far *f;
  /* OpenMP allocates a new team for every parallel region of one thread, but keeps a team of several threads. So the
   * allocations of products are counted with two threads. */
  cb_threads_set(2);
  check_ok(cb_far_create(p, 1e-6, &f));
  int next = 0, *seen = calloc((size_t)p->n, sizeof *seen);
  for (int g = 0; g < cb_far_groups(f); g++) {
    int first, n;
    const int *numbers;
    cb_far_group(f, g, &first, &n, &numbers);
    assert_int_equal(first, next);
    for (int i = 0; i < n; i++) seen[numbers[i]]++;
    next += n;
  }
  assert_int_equal(next, p->n);
  for (int i = 0; i < p->n; i++) assert_int_equal(seen[i], 1);
  double *rho = densities(p, 1), *out = calloc((size_t)p->n * COLUMNS, sizeof *out);
  check_ok(cb_far_apply(f, COLUMNS, rho, rho, out));
  count_from_here();
  check_ok(cb_far_apply(f, COLUMNS, rho, rho, out));
  assert_int_equal(count_so_far(), 0);
  cb_threads_set(0);
  cb_far_free(f);
  cb_panels_free(p);
  free(seen);
  free(rho);
  free(out);
}

static void wrong_errors_are_refused(void **unused) {
  cb_panels *p = panels_of_ellipsoid(2, 1, 1, 1);
  cb_far *f = NULL;
  const double wrong[] = {0, -1, 1e-12, 1, NAN};
  for (int i = 0; i < 5; i++) {
    check_error_begins(cb_far_create(p, wrong[i], &f), CB_ERROR_ARGUMENT, "error ");
    assert_int_equal(cb_far_bytes(p, p->n, wrong[i]), 0);
    assert_null(f);
  }
  cb_panels_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_bodies),
      cmocka_unit_test(thin_bodies),
      cmocka_unit_test(bodies_apart),
      cmocka_unit_test(graded_bodies),
      cmocka_unit_test(few_and_coinciding_panels),
      cmocka_unit_test(sums_are_linear),
      cmocka_unit_test(fields_at_points),
      cmocka_unit_test(slopes_of_sheets),
      cmocka_unit_test(neighbours_of_groups),
      cmocka_unit_test(threads_change_no_byte),
      cmocka_unit_test(instruction_sets_agree),
      cmocka_unit_test(groups_and_memory),
      cmocka_unit_test(wrong_errors_are_refused),
      cmocka_unit_test(the_counter_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
