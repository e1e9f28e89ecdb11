/* Tests of the forces of single springs. The forces are compared with closed forms in extended precision and with
 * differences. Symmetries and the limits of the domain are tested, too. */
#include "check_springs.h"
#include "dynamics/springs_series.h"

enum { K = CB_COORD_MAX, PAIRS = 40000 };

/* Computes psi(t) = asin(u)/(u sqrt(1 - t)) with u = sqrt|t|, where asinh replaces asin if t < 0. Near t = 0 it uses
 * the series of psi. */
static long double psi(long double t) {
  if (fabsl(t) < 1e-6L) return 1 + 2 * t / 3 + 8 * t * t / 15;
  long double u = sqrtl(fabsl(t));
  return (t > 0 ? asinl(u) : asinhl(u)) / (u * sqrtl(1 - t));
}

/* Returns the relative error of a compared with b, in units of DBL_EPSILON. */
static double ulps(double a, long double b) { return (double)fabsl((a - b) / b) / DBL_EPSILON; }

static void series_has_the_accuracy_of_double(void **state) {
  uint64_t seed = check_seed();
  double near = 0, far = 0;
  for (int i = 0; i < 200000; i++) {
    double t = check_uniform(&seed, -1, 0.5), small = t * exp2(check_uniform(&seed, -60, 0));
    near = fmax(near, fmax(ulps(cb_psi(t), psi(t)), ulps(cb_psi(small), psi(small))));
    double wide = i % 2 ? -exp2(check_uniform(&seed, 0, 900)) : check_uniform(&seed, 0.5, 1);
    /* As t -> 1, psi grows like 1/sqrt(1 - t). No error is magnified, because the argument of psi is exact here. */
    far = fmax(far, ulps(cb_psi(wide), psi(wide)));
  }
  print_message("psi: %.2f eps near 0, %.2f eps elsewhere\n", near, far);
  check_at_most(near, 2.0); /* round-off of the last two sums and two products */
  check_at_most(far, 8.0);  /* each halving of the angle in cb_psi_far adds an error; t = -2^900 needs nine halvings */
}

/* Makes a pair of points x and y, which range from nearly coincident to nearly antipodal. In a hyperbolic space their
 * distance is at most 12. */
static void random_pair(const cb_space *g, uint64_t *seed, double *x, double *y) {
  double size = exp(check_uniform(seed, -12, 0));
  double reach = g->factor[0].curvature > 0 ? 3.1 / sqrt(g->factor[0].curvature) : g->factor[0].curvature < 0 ? 6 : 10;
  check_space_point(g, seed, reach * (check_uniform(seed, 0, 1) < 0.5 ? 0.3 : 1), x);
  check_space_point(g, seed, reach, y);
  if (check_uniform(seed, 0, 1) < 0.5) return;
  /* Moves y off the space: the potential is a function on all of R^k. */
  for (int a = 0; a < g->embedding; a++) y[a] = x[a] + size * (y[a] - x[a]);
  if (check_uniform(seed, 0, 1) < 0.2)
    for (int a = 0; a < g->embedding; a++) y[a] = -y[a];
}

static void one_spring_has_the_closed_form(void **state) {
  uint64_t seed = check_seed();
  double worst_d = 0, worst_f = 0;
  cb_spring *spring = malloc(PAIRS * sizeof *spring);
  double *x = malloc(2 * PAIRS * K * sizeof *x), *f = malloc(2 * PAIRS * K * sizeof *f), *d = malloc(PAIRS * sizeof *d);
  for (int s = 0; s < CHECK_SPACES; s++) {
    cb_space g = check_space(s);
    int k = g.embedding;
    for (int e = 0; e < PAIRS; e++) {
      random_pair(&g, &seed, x + 2 * e * k, x + 2 * e * k + k);
      long double gradient[K];
      double condition,
          rest = (double)check_spring_distance(&g, x + 2 * e * k, x + 2 * e * k + k, gradient, &condition);
      spring[e] = (cb_spring){2 * e, 2 * e + 1, check_uniform(&seed, 0.5, 2), 0, 0};
      if (rest > 0) spring[e].rest = rest * check_uniform(&seed, 0, 2);
    }
    for (int isa = 0; isa < 3; isa++) {
      if (cb_isa_set(check_isa[isa])) continue;
      check_plan p = check_plan_create(&g, 2 * PAIRS, PAIRS, spring, 1);
      check_force(p, x, NULL, f);
      cb_springs_separation(p.work, x, d);
      for (int e = 0; e < PAIRS; e++) {
        long double gradient[K],
            exact = check_spring_distance(&g, x + 2 * e * k, x + 2 * e * k + k, gradient, &(double){0});
        double condition;
        check_spring_distance(&g, x + 2 * e * k, x + 2 * e * k + k, gradient, &condition);
        if (!(exact > 0) || !(condition < 1e8))
          continue; /* x - y is nearly lightlike or longer than a diameter, so there is nothing to compare */
        worst_d = fmax(worst_d, ulps(d[e], exact) / condition);
        long double pull = spring[e].stiffness * (exact - spring[e].rest), size = 0;
        for (int a = 0; a < k; a++) size = fmaxl(size, fabsl(gradient[a]));
        size *= spring[e].stiffness * (exact + spring[e].rest);
        for (int a = 0; a < k; a++) {
          double error =
              (double)(fabsl(f[2 * e * k + a] + pull * g.form[a] * gradient[a]) / size) / DBL_EPSILON / condition;
          worst_f = fmax(worst_f, error);
          assert_true(f[2 * e * k + a] == -f[2 * e * k + k + a]);
        }
      }
      check_plan_free(p);
    }
    cb_isa_set("auto");
  }
  print_message("d: %.2f eps, force: %.2f eps, over their condition\n", worst_d, worst_f);
  /* The bounds are for the round-off of |x - y|^2 (four squares of rounded differences), of cb_psi, and of two square
   * roots. */
  check_at_most(worst_d, 5);
  check_at_most(worst_f, 8);
  free(spring);
  free(x);
  free(f);
  free(d);
}

/* A few particles, each joined to all others. */
enum { N = 6, M = N * (N - 1) / 2 };

static void random_body(const cb_space *g, uint64_t *seed, double damping, cb_spring *spring, double *x, double *v) {
  size_t e = 0;
  for (int i = 0; i < N; i++) {
    check_space_point(g, seed, 1.1, x + i * g->embedding);
    for (int a = 0; a < g->embedding; a++) v[i * g->embedding + a] = check_uniform(seed, -1, 1);
    for (int j = 0; j < i; j++)
      spring[e++] = (cb_spring){i, j, check_uniform(seed, 0.5, 2), check_uniform(seed, 0, 1),
                                damping * check_uniform(seed, 0, 1)};
  }
}

static void force_is_minus_the_gradient_of_the_potential(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < CHECK_SPACES; s++) {
    cb_space g = check_space(s);
    int k = g.embedding;
    cb_spring spring[M];
    double x[N * K], v[N * K], f[N * K];
    random_body(&g, &seed, 0, spring, x, v);
    check_plan p = check_plan_create(&g, N, M, spring, 1);
    check_force(p, x, NULL, f);
    for (int a = 0; a < N * k; a++) {
      double h = 1e-5, keep = x[a];
      x[a] = keep + h;
      double above = cb_springs_potential(p.work, x);
      x[a] = keep - h;
      double below = cb_springs_potential(p.work, x);
      x[a] = keep;
      /* The difference with the step h has an error of h^2 times the third derivative, which is between 10 and 100. */
      check_near(f[a], -g.form[a % k] * (above - below) / (2 * h), 2e-8);
    }
    check_plan_free(p);
  }
}

static void damping_acts_along_the_spring_against_its_rate(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < CHECK_SPACES; s++) {
    cb_space g = check_space(s);
    int k = g.embedding;
    cb_spring spring[M];
    double x[N * K], v[N * K], f[N * K], with[N * K], expected[N * K] = {0};
    random_body(&g, &seed, 1, spring, x, v);
    check_plan p = check_plan_create(&g, N, M, spring, 1);
    check_force(p, x, v, with);
    for (int e = 0; e < M; e++) {
      int i = spring[e].i * k, j = spring[e].j * k;
      long double gradient[K], rate = 0;
      double condition;
      check_spring_distance(&g, x + i, x + j, gradient, &condition);
      for (int a = 0; a < k; a++) rate += gradient[a] * ((long double)v[i + a] - v[j + a]);
      for (int a = 0; a < k; a++) {
        expected[i + a] -= (double)(spring[e].damping * rate * g.form[a] * gradient[a]);
        expected[j + a] += (double)(spring[e].damping * rate * g.form[a] * gradient[a]);
      }
      spring[e].damping = 0;
    }
    check_plan_free(p);
    p = check_plan_create(&g, N, M, spring, 1);
    check_force(p, x, NULL, f);
    for (int a = 0; a < N * k; a++)
      check_near(with[a] - f[a], expected[a], 1e-12); /* round-off of sums whose terms are up to some hundreds */
    check_plan_free(p);
  }
}

/* Writes the pattern of a matrix in which all N x N blocks, each of size k x k, are present. */
static cb_pattern dense(int k, int *start, int *column) {
  for (int i = 0; i <= N; i++) start[i] = i * N;
  for (int i = 0; i < N * N; i++) column[i] = i % N;
  return (cb_pattern){N, k, start, column};
}

static void jacobian_is_the_derivative_of_the_force(void **state) {
  uint64_t seed = check_seed();
  int start[N + 1], column[N * N];
  for (int s = 0; s < CHECK_SPACES; s++)
    for (int damped = 0; damped < 2; damped++) {
      cb_space g = check_space(s);
      int k = g.embedding;
      cb_spring spring[M];
      double x[N * K], v[N * K], above[N * K], below[N * K], dx[N * N * K * K] = {0}, dv[N * N * K * K] = {0};
      random_body(&g, &seed, damped, spring, x, v);
      check_plan p = check_plan_create(&g, N, M, spring, 1);
      cb_pattern pattern = dense(k, start, column);
      check_ok(cb_springs_jacobian(p.plan, &pattern, x, v, dx, dv));
      double *vary[2] = {x, v}, *block[2] = {dx, dv};
      for (int which = 0; which < 2; which++)
        for (int b = 0; b < N * k; b++) {
          double h = 1e-5, keep = vary[which][b];
          vary[which][b] = keep + h;
          check_force(p, x, v, above);
          vary[which][b] = keep - h;
          check_force(p, x, v, below);
          vary[which][b] = keep;
          for (int a = 0; a < N * k; a++) {
            double analytic = block[which][(a / k * N + b / k) * k * k + a % k * k + b % k];
            check_near(analytic, (above[a] - below[a]) / (2 * h),
                       1e-7 * (1 + fabs(analytic))); /* the difference has an error of order 2 in the step */
          }
        }
      check_plan_free(p);
    }
}

/* In each factor of the space, every linear field that keeps the form is a Killing field. In flat factors, translations
 * are Killing fields too. The potential has these symmetries as a function on R^k. */
static void forces_have_no_momentum_along_isometries(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < CHECK_SPACES; s++) {
    cb_space g = check_space(s);
    int k = g.embedding;
    cb_spring spring[M];
    double x[N * K], v[N * K], f[N * K];
    random_body(&g, &seed, 1, spring, x, v);
    check_plan p = check_plan_create(&g, N, M, spring, 1);
    check_force(p, x, v, f);
    for (int factor = 0; factor < g.n_factors; factor++) {
      int first = g.factor[factor].offset, last = first + g.factor[factor].count;
      for (int a = first; a < last; a++)
        for (int b = first; b < last; b++) {
          /* The Killing field of the axes a and b is x_b form_b e_a - x_a form_a e_b. e_a and e_b are unit vectors, and
           * `form` is the diagonal of the inner product. For a = b the field is the translation e_a. */
          double sum = 0, size = 0;
          for (int i = 0; i < N; i++) {
            double one = a == b ? f[i * k + a]
                                : g.form[a] * g.form[b] * (x[i * k + b] * f[i * k + a] - x[i * k + a] * f[i * k + b]);
            sum += one;
            size += fabs(f[i * k + a]) + fabs(f[i * k + b]);
          }
          if (a == b && g.factor[factor].curvature != 0) continue;
          check_near(sum, 0, 8 * DBL_EPSILON * size); /* the tolerance allows for the round-off of the sum and of the
                                                       * forces */
        }
    }
    check_plan_free(p);
  }
}

static void coincident_particles_are_at_rest_and_antipodal_ones_fail(void **state) {
  cb_space g = check_space(3);
  double x[4 * K] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1, 1, 0, 0, 0}, f[4 * K];
  for (int few = 0; few < 2; few++) {
    cb_spring spring[] = {{0, 1, 1, 0, 0}, {0, 1, 1, 0.5, 0}, {0, 1, 2, 0, 0}};
    check_plan p = check_plan_create(&g, 4, few ? 1 : 3, spring, 1);
    check_force(p, x, NULL, f);
    for (int a = 0; a < 4 * K; a++) assert_true(f[a] == 0);
    check_plan_free(p);
    for (int e = 0; e < 3; e++) spring[e].j = 2;
    p = check_plan_create(&g, 4, few ? 1 : 3, spring, 1);
    check_force(p, x, NULL, f);
    assert_false(isfinite(f[3]));
    check_plan_free(p);
  }
  /* With the rest length 0, the force has a derivative even where the ends coincide. */
  int start[] = {0, 2, 4}, column[] = {0, 1, 0, 1};
  double dx[4 * K * K] = {0};
  cb_pattern pattern = {2, K, start, column};
  check_plan p = check_plan_create(&g, 2, 1, &(cb_spring){0, 1, 3, 0, 0}, 1);
  check_ok(cb_springs_jacobian(p.plan, &pattern, x, NULL, dx, NULL));
  for (int a = 0; a < K * K; a++) assert_true(dx[a] == (a % (K + 1) ? 0 : -3));
  check_plan_free(p);
  p = check_plan_create(&g, 2, 1, &(cb_spring){0, 1, 3, 1, 0}, 1);
  assert_int_equal(cb_springs_jacobian(p.plan, &pattern, x, NULL, dx, NULL), CB_STEP_DOMAIN);
  check_plan_free(p);
}

static void bad_springs_are_refused(void **state) {
  cb_space g = check_space(3), chart = g;
  cb_chart any = {.name = "polar"};
  chart.chart = &any;
  cb_springs *plan = NULL;
  const cb_spring bad[] = {{0, 3, 1, 1, 0},   {-1, 0, 1, 1, 0},       {1, 1, 1, 1, 0},  {0, 1, 1, -1, 0},
                           {0, 1, NAN, 1, 0}, {0, 1, 1, INFINITY, 0}, {0, 1, 1, 1, NAN}};
  for (size_t e = 0; e < sizeof bad / sizeof *bad; e++)
    assert_int_equal(cb_springs_create(&g, 3, 1, &bad[e], &plan), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_springs_create(&g, 0, 0, bad, &plan), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_springs_create(&chart, 3, 1, &(cb_spring){0, 1, 1, 1, 0}, &plan), CB_ERROR_UNSUPPORTED);
  assert_null(plan);
}

static void instruction_sets_are_chosen_by_name(void **state) {
  assert_int_equal(cb_isa_set("sse9"), CB_ERROR_ARGUMENT);
  for (int isa = 0; isa < 3; isa++) {
    if (cb_isa_set(check_isa[isa])) continue;
    assert_string_equal(cb_isa_name(), check_isa[isa]);
  }
  check_ok(cb_isa_set("auto"));
  static const char *const base[] = {"x86-64", "aarch64", "portable"};
  for (int k = 0; k < 3; k++) /* only the name of the instruction set for which this library was compiled is accepted */
    assert_int_equal(cb_isa_set(base[k]), strcmp(base[k], CB_ISA_BASE) ? CB_ERROR_UNSUPPORTED : CB_OK);
#if defined(__aarch64__)
  assert_string_equal(CB_ISA_BASE, "aarch64");
#endif
  check_ok(cb_isa_set("auto"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(series_has_the_accuracy_of_double),
      cmocka_unit_test(one_spring_has_the_closed_form),
      cmocka_unit_test(force_is_minus_the_gradient_of_the_potential),
      cmocka_unit_test(damping_acts_along_the_spring_against_its_rate),
      cmocka_unit_test(jacobian_is_the_derivative_of_the_force),
      cmocka_unit_test(forces_have_no_momentum_along_isometries),
      cmocka_unit_test(coincident_particles_are_at_rest_and_antipodal_ones_fail),
      cmocka_unit_test(bad_springs_are_refused),
      cmocka_unit_test(instruction_sets_are_chosen_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
