/* Tests of embeddings of flat coordinates into curved spaces. Embedded points, moved by a transvection, are compared
 * with the product of two half turns (reflections in points), and derivatives with differences. Further tests: the
 * limit of flat space, antipodes, and points outside a chart. */
#include "check.h"

#include "fluid/shape_surface.h"
#include "numerics/numerics_curved.h"

enum { N = 3, PAIRS = N * (N + 1) / 2 };
static const double pi = 3.14159265358979323846;
static const char *const chart_name[2] = {"exponential", "gnomonic"};

/* --- a reference --- */

/* Reflects y in the point m of the space of curvature K. */
static void half_turn(double K, const double m[4], double y[4]) {
  const double along = 2 * cb_curved_form(K, m, y);
  for (int i = 0; i < 4; i++) y[i] = along * m[i] - y[i];
}

/* Computes the embedded point y of x, moved by the transvection from the origin along `shift` (NULL: not moved). This
 * transvection is the half turn about the origin, followed by the half turn about the midpoint of its path. */
static void oracle(cb_surface_embedding to, const double *shift, const double x[3], double y[4]) {
  static const double origin[4] = {0, 0, 0, 1};
  if (to.chart == CB_CHART_GNOMONIC) {
    const double w = 1 / sqrt(1 + to.K * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
    for (int i = 0; i < 3; i++) y[i] = w * x[i];
    y[3] = w;
  } else {
    cb_curved_point(to.K, x, y);
  }
  if (!shift) return;
  double middle[4];
  cb_curved_point(to.K, (const double[3]){shift[0] / 2, shift[1] / 2, shift[2] / 2}, middle);
  half_turn(to.K, origin, y);
  half_turn(to.K, middle, y);
}

/* --- places that move --- */

/* Coefficients of six polynomials of degree 2 in N variables: the three coordinates of a point, and the three
 * components of the shift by which its embedded point is moved. */
typedef struct motion {
  double c[6][1 + N + PAIRS];
} motion;

static motion any_motion(uint64_t *seed, double size) {
  motion m;
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 1 + N + PAIRS; k++) m.c[i][k] = check_uniform(seed, -size, size);
  return m;
}

static cb_jet moved(const motion *m, int i, const double r[N], int n) {
  cb_jet sum = cb_jet_constant(n, m->c[i][0]);
  for (int k = 0; k < N; k++) {
    const cb_jet a = n ? cb_jet_variable(n, k, r[k]) : cb_jet_constant(0, r[k]);
    cb_jet factor = cb_jet_constant(n, m->c[i][1 + k]);
    for (int l = 0; l <= k; l++) {
      const cb_jet b = n ? cb_jet_variable(n, l, r[l]) : cb_jet_constant(0, r[l]),
                   term = cb_jet_scale(&b, m->c[i][1 + N + cb_jet_packed(k, l)]);
      factor = cb_jet_add(&factor, &term);
    }
    factor = cb_jet_mul(&factor, &a);
    sum = cb_jet_add(&sum, &factor);
  }
  return sum;
}

static void laid(cb_surface_embedding to, const motion *m, bool shifted, const double r[N], int n, cb_jet x[3]) {
  cb_jet shift[3];
  for (int i = 0; i < 3; i++) {
    x[i] = moved(m, i, r, n);
    shift[i] = moved(m, 3 + i, r, n);
  }
  cb_surface_embedding_jets(to, shifted ? shift : NULL, x);
}

static void places_and_derivatives_are_those_of_the_isometries(void **unused) {
  uint64_t seed = check_seed();
  static const double h = 0.01, weight[3] = {3. / 4, -3. / 20, 1. / 60}, sign[3] = {-1, 1, 0};
  double worst[3] = {0};
  for (int trial = 0; trial < 600; trial++) {
    /* curvatures around 1, and some so small that the series are used */
    const double K = trial % 7 == 6 ? 0 : sign[trial % 2] * exp(check_uniform(&seed, trial % 5 ? -3 : -30, 1));
    const cb_surface_embedding to = {K, (cb_surface_chart)(trial / 2 % 2)};
    const bool shifted = trial % 3 != 0;
    const motion m = any_motion(&seed, 0.2);
    double r[N], place[3], y[4], found[4];
    cb_jet x[3], beside[3];
    for (int k = 0; k < N; k++) r[k] = check_uniform(&seed, -0.5, 0.5);
    laid(to, &m, shifted, r, N, x);
    double flat[3], shift[3];
    for (int i = 0; i < 3; i++) {
      flat[i] = moved(&m, i, r, 0).v;
      shift[i] = moved(&m, 3 + i, r, 0).v;
      place[i] = x[i].v;
    }
    oracle(to, shifted ? shift : NULL, flat, y);
    cb_curved_point(K, place, found);
    for (int i = 0; i < 4; i++) worst[0] = fmax(worst[0], fabs(found[i] - y[i]));
    laid(to, &m, shifted, r, 0, beside);
    for (int i = 0; i < 3; i++) check_near(beside[i].v, x[i].v, 0); /* the values are the same without derivatives */
    for (int k = 0; k < N; k++) {
      double slope[3] = {0}, second[3][N] = {{0}};
      const double at = r[k];
      for (int step = -3; step <= 3; step++) {
        if (!step) continue;
        const double w = (step < 0 ? -1 : 1) * weight[abs(step) - 1] / h;
        r[k] = at + step * h;
        laid(to, &m, shifted, r, N, beside);
        for (int i = 0; i < 3; i++) {
          slope[i] += w * beside[i].v;
          for (int l = 0; l < N; l++) second[i][l] += w * beside[i].g[l];
        }
      }
      r[k] = at;
      for (int i = 0; i < 3; i++) {
        worst[1] = fmax(worst[1], fabs(x[i].g[k] - slope[i]));
        for (int l = 0; l < N; l++) worst[2] = fmax(worst[2], fabs(x[i].h[cb_jet_packed(k, l)] - second[i][l]));
      }
    }
  }
  print_message("  places to %.1e, derivatives to %.1e, second ones to %.1e\n", worst[0], worst[1], worst[2]);
  check_at_most(worst[0], 2e-15); /* round-off */
  check_at_most(worst[1], 1e-10); /* the error with the step h is h^6/140 times the seventh derivative */
  check_at_most(worst[2], 1e-9);  /* the error with the step h is h^6/140 times the eighth derivative */
}

/* --- identities --- */

static void charts_keep_what_they_say(void **unused) {
  uint64_t seed = check_seed();
  for (int trial = 0; trial < 200; trial++) {
    const double K = (trial % 2 ? 1 : -1) * check_uniform(&seed, 0.1, 3);
    double x[3], v[3], size = 0;
    for (int i = 0; i < 3; i++) {
      x[i] = check_uniform(&seed, -0.3, 0.3);
      size += x[i] * x[i];
    }
    size = sqrt(size);
    cb_surface_embedding_point((cb_surface_embedding){K, CB_CHART_EXPONENTIAL}, x, v);
    assert_memory_equal(v, x, sizeof x); /* the exponential chart keeps normal coordinates exactly */
    cb_surface_embedding_point((cb_surface_embedding){K, CB_CHART_GNOMONIC}, x, v);
    const double root = sqrt(fabs(K)), ratio = (K > 0 ? atan(root * size) : atanh(root * size)) / (root * size);
    for (int i = 0; i < 3; i++) check_near(v[i], ratio * x[i], 1e-16 + 2e-15 * size); /* round-off */
    /* The shift moves the origin to the point `shift`. A point on the ray from the origin through `shift` moves along
     * the ray by the length of the shift. */
    cb_jet shift[3], y[3];
    for (int i = 0; i < 3; i++) {
      shift[i] = cb_jet_constant(0, x[i]);
      y[i] = cb_jet_constant(0, 0);
    }
    cb_surface_embedding_jets((cb_surface_embedding){K, (cb_surface_chart)(trial / 2 % 2)}, shift, y);
    for (int i = 0; i < 3; i++) check_near(y[i].v, x[i], 2e-15);
    for (int i = 0; i < 3; i++) y[i] = cb_jet_constant(0, 0.5 * x[i]);
    cb_surface_embedding_jets((cb_surface_embedding){K, CB_CHART_EXPONENTIAL}, shift, y);
    for (int i = 0; i < 3; i++) check_near(y[i].v, 1.5 * x[i], 2e-15);
  }
}

/* For small positive and negative curvatures K, the embedded points and their derivatives differ from those in flat
 * space by a term of order K. */
static void flat_space_is_the_limit(void **unused) {
  uint64_t seed = check_seed();
  const motion m = any_motion(&seed, 0.5);
  const double r[N] = {0.3, -0.2, 0.4};
  for (int chart = 0; chart < 2; chart++)
    for (int sign = -1; sign <= 1; sign += 2) {
      cb_jet flat[3], x[3];
      double worst = 0;
      laid((cb_surface_embedding){0, (cb_surface_chart)chart}, &m, true, r, N, flat);
      laid((cb_surface_embedding){sign * 1e-8, (cb_surface_chart)chart}, &m, true, r, N, x);
      for (int i = 0; i < 3; i++) {
        check_near(flat[i].v, moved(&m, i, r, 0).v + moved(&m, 3 + i, r, 0).v, 1e-15);
        worst = fmax(worst, fabs(x[i].v - flat[i].v));
        for (int k = 0; k < N; k++) worst = fmax(worst, fabs(x[i].g[k] - flat[i].g[k]));
        for (int k = 0; k < PAIRS; k++) worst = fmax(worst, fabs(x[i].h[k] - flat[i].h[k]));
      }
      print_message("  K %g %s: %.1e\n", sign * 1e-8, chart_name[chart], worst);
      /* The difference is |K| = 1e-8 times products of positions and derivatives, which are up to about 10. */
      check_at_most(worst, 2e-7);
      check_at_least(worst, 1e-10);
    }
}

/* --- limits --- */

static void antipodes_are_neared_but_not_reached(void **unused) {
  for (double left = 1e-1; left > 1e-7; left /= 10) {
    const double K = 0.25, far = pi / sqrt(K), s[3] = {0, 0.6 * (far - 2), 0.8 * (far - 2)};
    const double x[3] = {0, 0.6 * (2 - left), 0.8 * (2 - left)};
    cb_jet shift[3], y[3];
    for (int i = 0; i < 3; i++) {
      shift[i] = cb_jet_constant(1, s[i]);
      y[i] = cb_jet_constant(1, x[i]);
      y[i].g[0] = x[i];
    }
    cb_surface_embedding_jets((cb_surface_embedding){K, CB_CHART_EXPONENTIAL}, shift, y);
    for (int i = 0; i < 3; i++) {
      check_near(y[i].v, s[i] + x[i], 1e-14 / left); /* round-off, divided by the distance `left` from the antipode */
      check_near(y[i].g[0], x[i], 2e-14 / (left * left));
    }
  }
}

static bool finite_at(cb_surface_embedding to, const double *s, const double x[3]) {
  cb_jet shift[3], y[3];
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    y[i] = cb_jet_constant(1, x[i]);
    y[i].g[0] = 1;
    if (s) shift[i] = cb_jet_constant(1, s[i]);
  }
  cb_surface_embedding_jets(to, s ? shift : NULL, y);
  for (int i = 0; i < 3; i++) sum += y[i].v;
  return isfinite(sum);
}

static void what_no_chart_reaches_is_not_finite(void **unused) {
  for (int k = 0; k < 4; k++) {
    const cb_surface_embedding to = {k < 2 ? -0.25 : 0.25, (cb_surface_chart)(k % 2)};
    const double reach = cb_surface_embedding_reach(to), half[3] = {0, -0.5, 0};
    const double expected = k == 0 || k == 3 ? INFINITY : k == 1 ? 2 : 2 * pi;
    if (isfinite(expected))
      check_relative(reach, expected, 1e-15);
    else
      assert_true(reach == INFINITY);
    for (int shifted = 0; shifted < 2; shifted++) {
      const double *s = shifted ? half : NULL, far = isfinite(reach) ? reach : 40;
      assert_true(finite_at(to, s, (const double[3]){0.6 * 0.999 * far, 0.8 * 0.999 * far, 0}));
      assert_true(isfinite(reach) != finite_at(to, s, (const double[3]){0.6 * 1.001 * far, 0.8 * 1.001 * far, 0}));
      assert_true(isfinite(reach) != finite_at(to, s, (const double[3]){far, 0, 0}));
    }
    /* on a sphere a shift by more than half of a great circle is invalid */
    for (int over = 0; over < 2; over++) {
      const double s[3] = {0, 0, 2 * pi * (over ? 1.001 : 0.999)}, at[3] = {0.1, 0, 0};
      assert_int_equal(finite_at(to, s, at), to.K < 0 || !over);
    }
  }
  assert_true(cb_surface_embedding_reach((cb_surface_embedding){0, CB_CHART_EXPONENTIAL}) == INFINITY);
  assert_true(cb_surface_embedding_reach((cb_surface_embedding){0, CB_CHART_GNOMONIC}) == INFINITY);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_and_derivatives_are_those_of_the_isometries),
      cmocka_unit_test(charts_keep_what_they_say),
      cmocka_unit_test(flat_space_is_the_limit),
      cmocka_unit_test(antipodes_are_neared_but_not_reached),
      cmocka_unit_test(what_no_chart_reaches_is_not_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
