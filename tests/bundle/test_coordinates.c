/* Tests of minimum-perturbation coordinates (bundle/coordinates.h): the connection is minimal, and the new body frame
 * does not change the motion. r: shape; A: connection; B: its curvature, DB: covariant derivative of B; M: cost metric;
 * g: group element; h(r): the new body frame in the given one; Ad_h: the adjoint map of h. Symbols with a prime belong
 * to the new frame. */
#include "bundle/coordinates.h"
#include "bundle/bundle_private.h"
#include <curvebody/holonomy.h>
#include "models.h"

#include <gsl/gsl_integration.h>

enum { ENTRIES = CB_GROUP_DIM * 3, NODES = 18 };

/* A bundle with the window low .. high of its shape, and the number of points for its coordinates. The cases cover a
 * commutative group, the groups of the plane and the sphere, and one to three shape variables. */
typedef struct window {
  const char *name, *text;
  double low[3], high[3];
  int points[3];
} window;

static const window windows[] = {
    {"pmpy", "", {3, 2}, {5, 5}, {9, 9}},
    {"purcell", "", {-1.1, -1.1}, {1.1, 1.1}, {9, 9}},
    {"purcell", "links 4", {-.6, -.5, -.4}, {.5, .6, .6}, {4, 4, 4}},
    {"rolling_ball", "radius .7", {-.6, -.5}, {.6, .9}, {8, 9}},
    {"falling_cat", "", {-1, -1}, {1, 1}, {12, 0}},
};
enum { WINDOWS = sizeof windows / sizeof *windows };

static void open_window(const window *w, cb_bundle **b, cb_bundle **moved) {
  *b = model(w->name, w->text);
  *moved = NULL;
  check_ok(cb_bundle_minimum_perturbation(*b, w->low, w->high, w->points, moved));
}

/* Computes a quadratic function value[dim] whose mean over the window is 0, and its gradient d[n][dim]. q[dim][6] are
 * the coefficients of the Legendre polynomials of degree 1 and 2 in each variable. */
static void quadratic(const window *win, const double (*q)[6], int n, int dim, const double *r, double *value,
                      double (*d)[CB_GROUP_DIM]) {
  for (int a = 0; a < dim; a++) {
    value[a] = 0;
    for (int i = 0; i < n; i++) {
      const double half = (win->high[i] - win->low[i]) / 2, x = (r[i] - win->low[i]) / half - 1;
      value[a] += q[a][i] * x + q[a][3 + i] * (3 * x * x - 1) / 2;
      d[i][a] = (q[a][i] + 3 * x * q[a][3 + i]) / half;
    }
  }
}

static void times(int dim, const double *m, const double *v, double *out) {
  for (int a = 0; a < dim; a++) {
    out[a] = 0;
    for (int c = 0; c < dim; c++) out[a] += m[a * dim + c] * v[c];
  }
}

/* Returns sum_i L_i^2 |A''_i|^2 at r, where L_i is the width of the window in variable i. A''_i is column i of the
 * connection in the frame exp(w + by f), where f is the function `quadratic` and exp(w) = h is the frame of `moved`.
 * The derivative dw follows from h^-1 dh = Ad_h^-1 A - A' = J dw with J = dexp_-w, the derivative of the exponential
 * map. */
static double square_at(const cb_bundle *b, const cb_bundle *moved, const window *win, const double *r,
                        const double (*q)[6], double by) {
  const cb_group *G = b->group;
  const int n = b->n, dim = G->dim;
  double A[ENTRIES], new[ENTRIES], h[CB_GROUP_SIZE], w[CB_GROUP_DIM], back[CB_GROUP_DIM], change[CB_GROUP_DIM];
  double Ad[CB_GROUP_DIM * CB_GROUP_DIM], inverse[CB_GROUP_DIM * CB_GROUP_DIM], J[CB_GROUP_DIM * CB_GROUP_DIM];
  double d[3][CB_GROUP_DIM], square = 0;
  check_ok(cb_bundle_connection(b, r, A, NULL, NULL, NULL));
  check_ok(cb_bundle_connection(moved, r, new, NULL, NULL, NULL));
  check_ok(cb_bundle_frame(moved, r, h));
  check_ok(G->log(G, h, w));
  for (int a = 0; a < dim; a++) back[a] = -w[a];
  check_ok(cb_group_dexp_inverse(G, back, inverse));
  quadratic(win, q, n, dim, r, change, d);
  for (int a = 0; a < dim; a++) back[a] -= by * change[a];
  cb_group_dexp(G, back, J);
  double there[CB_GROUP_SIZE], old_Ad[CB_GROUP_DIM * CB_GROUP_DIM];
  G->inverse(G, h, h);
  G->adjoint(G, h, old_Ad);
  G->exp(G, back, there); /* the inverse of exp(w + by f) */
  G->adjoint(G, there, Ad);
  for (int i = 0; i < n; i++) {
    double column[CB_GROUP_DIM], turned[CB_GROUP_DIM], dw[CB_GROUP_DIM], theta[CB_GROUP_DIM];
    for (int a = 0; a < dim; a++) column[a] = A[a * n + i];
    times(dim, old_Ad, column, turned);
    for (int a = 0; a < dim; a++) turned[a] -= new[a * n + i];
    times(dim, inverse, turned, dw);
    for (int a = 0; a < dim; a++) dw[a] += by * d[i][a];
    times(dim, J, dw, theta);
    times(dim, Ad, column, turned);
    for (int a = 0; a < dim; a++) square += pow((win->high[i] - win->low[i]) * (turned[a] - theta[a]), 2);
  }
  return square;
}

/* Returns the functional F, the mean of square_at over the window, by Gauss's quadrature with NODES nodes per
 * variable. */
static double functional(const cb_bundle *b, const cb_bundle *moved, const window *win, const double (*q)[6],
                         double by) {
  const int n = b->n;
  gsl_integration_glfixed_table *table = gsl_integration_glfixed_table_alloc(NODES);
  double sum = 0;
  int nodes = 1;
  for (int i = 0; i < n; i++) nodes *= NODES;
  for (int k = 0; k < nodes; k++) {
    double r[3], weight = 1;
    for (int i = 0, rest = k; i < n; i++, rest /= NODES) {
      double factor;
      gsl_integration_glfixed_point(win->low[i], win->high[i], (size_t)(rest % NODES), &r[i], &factor, table);
      weight *= factor / (win->high[i] - win->low[i]);
    }
    sum += weight * square_at(b, moved, win, r, q, by);
  }
  gsl_integration_glfixed_table_free(table);
  return sum;
}

/* For frames exp(w + s f) with random f, the functional F (see `functional`) has its minimum at s = 0, where the frame
 * is h: dF/ds = 0 and d^2F/ds^2 > 0. */
static void the_connection_is_the_least_of_all_frames(void **state) {
  uint64_t seed = check_seed();
  for (int k = 0; k < WINDOWS; k++) {
    const window *w = &windows[k];
    cb_bundle *b, *moved;
    double q[CB_GROUP_DIM][6] = {{0}}, before = 0;
    open_window(w, &b, &moved);
    const double least = functional(b, moved, w, (const double(*)[6])q, 0);
    for (int i = 0; i < 40; i++) { /* the mean over random shapes estimates F in the given frame */
      double r[3], A[ENTRIES];
      for (int c = 0; c < b->n; c++) r[c] = check_uniform(&seed, w->low[c], w->high[c]);
      check_ok(cb_bundle_connection(b, r, A, NULL, NULL, NULL));
      for (int e = 0; e < b->group->dim * b->n; e++)
        before += pow((w->high[e % b->n] - w->low[e % b->n]) * A[e], 2) / 40;
    }
    check_at_most(least, .7 * before);
    if (b->n == 1) check_at_most(least, 1e-20); /* with one variable there is always a frame in which A is 0 */
    for (int trial = 0; trial < 2; trial++) {
      for (int a = 0; a < CB_GROUP_DIM; a++)
        for (int i = 0; i < 6; i++) q[a][i] = check_uniform(&seed, -1, 1);
      const double h = 1e-3, up = functional(b, moved, w, (const double(*)[6])q, h),
                   down = functional(b, moved, w, (const double(*)[6])q, -h),
                   far = functional(b, moved, w, (const double(*)[6])q, .1);
      const double second = (up - 2 * least + down) / (h * h);
      check_at_least(second, 1e-3 * before);
      /* The first derivative F' by s is 0. Its difference quotient with the step h has the error h^2 F'''/6, where F'''
       * is of the size of F''. */
      check_at_most(fabs(up - down) / (2 * h), 1e-5 * second);
      check_at_least(far, least);
    }
    cb_bundle_free(moved);
    cb_bundle_free(b);
  }
}

static cb_gait *loop_in(const window *w, int n) {
  double mean[3], cosine[6] = {0}, sine[6] = {0};
  cb_gait *g = NULL;
  for (int i = 0; i < n; i++) {
    const double half = (w->high[i] - w->low[i]) / 2;
    mean[i] = w->low[i] + half;
    cosine[i] = (i % 2 ? .2 : .7) * half;
    sine[i] = (i % 2 ? .7 : .1) * half;
    cosine[n + i] = .1 * half;
  }
  check_ok(cb_gait_fourier(n, 2, mean, cosine, sine, &g));
  return g;
}

static double distance(const cb_group *G, const double *a, const double *b) {
  double d[CB_GROUP_SIZE], w[CB_GROUP_DIM], largest = 0;
  G->inverse(G, a, d);
  G->multiply(G, d, b, d);
  check_ok(G->log(G, d, w));
  for (int k = 0; k < G->dim; k++) largest = fmax(largest, fabs(w[k]));
  return largest;
}

static void holonomies_are_conjugates_and_lengths_the_same(void **state) {
  for (int k = 0; k < WINDOWS; k++) {
    cb_bundle *b, *moved;
    open_window(&windows[k], &b, &moved);
    cb_gait *gait = loop_in(&windows[k], b->n);
    double g[CB_GROUP_SIZE], new[CB_GROUP_SIZE], h[CB_GROUP_SIZE], r[3], length[2];
    check_ok(cb_holonomy(b, gait, 0, g, &length[0], NULL));
    check_ok(cb_holonomy(moved, gait, 0, new, &length[1], NULL));
    cb_gait_at(gait, 0, r, NULL);
    check_ok(cb_bundle_frame(moved, r, h));
    cb_group_conjugate(b->group, h, new, new);
    check_at_most(distance(b->group, g, new), 1e-12);
    check_near(length[0], length[1], 1e-12);
    cb_gait_free(gait);
    cb_bundle_free(moved);
    cb_bundle_free(b);
  }
}

/* The position of the body in space does not depend on its frame: h(r(0)) g'(t) h(r(t))^-1 = g(t). */
static void the_body_moves_through_space_as_before(void **state) {
  const double t[4] = {.2, .45, .8, 1.3};
  for (int k = 0; k < WINDOWS; k++) {
    cb_bundle *b, *moved;
    open_window(&windows[k], &b, &moved);
    const cb_group *G = b->group;
    cb_gait *gait = loop_in(&windows[k], b->n);
    double g[4 * CB_GROUP_SIZE], new[4 * CB_GROUP_SIZE], h[CB_GROUP_SIZE], start[CB_GROUP_SIZE], r[3];
    check_ok(cb_reconstruct(b, gait, 0, 4, t, g));
    check_ok(cb_reconstruct(moved, gait, 0, 4, t, new));
    cb_gait_at(gait, 0, r, NULL);
    check_ok(cb_bundle_frame(moved, r, start));
    for (int row = 0; row < 4; row++) {
      double *there = new + row * G->size;
      cb_gait_at(gait, t[row], r, NULL);
      check_ok(cb_bundle_frame(moved, r, h));
      G->multiply(G, start, there, there);
      if (b->class_->plot) {
        double x[64][3], y[64][3];
        assert_true(b->points <= 64);
        check_ok(b->class_->plot(b, r, g + row * G->size, x));
        check_ok(moved->class_->plot(moved, r, there, y));
        for (int p = 0; p < b->points; p++)
          for (int i = 0; i < 3; i++) check_near(x[p][i], y[p][i], 1e-11);
      }
      G->inverse(G, h, h);
      G->multiply(G, there, h, there);
      check_at_most(distance(G, g + row * G->size, there), 1e-12);
    }
    cb_gait_free(gait);
    cb_bundle_free(moved);
    cb_bundle_free(b);
  }
}

/* B' = Ad_h^-1 B holds if dA' is the derivative of A' and both use the same h. The derivative dA' is also compared with
 * differences of order 6. */
static void curvature_and_derivatives_are_those_of_one_frame(void **state) {
  static const double weight[3] = {3. / 4, -3. / 20, 1. / 60};
  uint64_t seed = check_seed();
  for (int k = 0; k < WINDOWS; k++) {
    const window *w = &windows[k];
    cb_bundle *b, *moved;
    open_window(w, &b, &moved);
    const cb_group *G = b->group;
    const int n = b->n, dim = G->dim, pairs = n * (n - 1) / 2;
    for (int trial = 0; trial < 5; trial++) {
      double r[3], h[CB_GROUP_SIZE], Ad[CB_GROUP_DIM * CB_GROUP_DIM], B[3 * CB_GROUP_DIM], new[3 * CB_GROUP_DIM];
      double A[ENTRIES], dA[3 * ENTRIES], plus[ENTRIES], minus[ENTRIES];
      for (int i = 0; i < n; i++) r[i] = w->low[i] + (w->high[i] - w->low[i]) * check_uniform(&seed, .1, .9);
      check_ok(cb_bundle_frame(moved, r, h));
      check_ok(cb_bundle_curvatures(b, r, B));
      check_ok(cb_bundle_curvatures(moved, r, new));
      G->adjoint(G, h, Ad);
      for (int p = 0; p < pairs; p++)
        for (int a = 0; a < dim; a++) {
          double turned = 0;
          for (int c = 0; c < dim; c++) turned += Ad[a * dim + c] * new[p * dim + c];
          check_near(turned, B[p * dim + a], 1e-12);
        }
      check_ok(cb_bundle_connection(moved, r, A, dA, NULL, NULL));
      for (int c = 0; c < n; c++) {
        double slope[ENTRIES] = {0};
        const double at = r[c], step = .01;
        for (int s = 1; s <= 3; s++) {
          r[c] = at + s * step;
          check_ok(cb_bundle_connection(moved, r, plus, NULL, NULL, NULL));
          r[c] = at - s * step;
          check_ok(cb_bundle_connection(moved, r, minus, NULL, NULL, NULL));
          for (int e = 0; e < dim * n; e++) slope[e] += weight[s - 1] * (plus[e] - minus[e]) / step;
        }
        r[c] = at;
        for (int e = 0; e < dim * n; e++) check_near(dA[c * dim * n + e], slope[e], 1e-8);
      }
    }
    cb_bundle_free(moved);
    cb_bundle_free(b);
  }
}

/* DB' = Ad_h^-1 DB. Second derivatives of `moved` are computed by differences and compared with those of b, also at the
 * edges and corners of the window. Outside of the window `moved` is not defined. */
static void second_derivatives_are_those_of_one_frame(void **state) {
  uint64_t seed = check_seed();
  for (int k = 0; k < WINDOWS; k++) {
    const window *w = &windows[k];
    cb_bundle *b, *moved;
    open_window(w, &b, &moved);
    const cb_group *G = b->group;
    const int n = b->n, dim = G->dim, count = n * n * (n - 1) / 2;
    for (int trial = 0; trial < 20; trial++) {
      double r[3], h[CB_GROUP_SIZE], Ad[CB_GROUP_DIM * CB_GROUP_DIM], DB[2][9 * CB_GROUP_DIM], ddM[2][81];
      for (int i = 0; i < n; i++) {
        const double u = check_uniform(&seed, -.2, 1.2); /* 2 of 7 coordinates are at an edge of the window */
        r[i] = u < 0 ? w->low[i] : u > 1 ? w->high[i] : w->low[i] + (w->high[i] - w->low[i]) * u;
      }
      check_ok(cb_bundle_frame(moved, r, h));
      check_ok(cb_bundle_covariant(b, r, DB[0]));
      check_ok(cb_bundle_covariant(moved, r, DB[1]));
      G->adjoint(G, h, Ad);
      for (int p = 0; p < count; p++) {
        double turned[CB_GROUP_DIM];
        times(dim, Ad, DB[1] + p * dim, turned);
        for (int a = 0; a < dim; a++)
          check_near(turned[a], DB[0][p * dim + a], 1e-9); /* the tolerance allows for the round-off of one-sided
                                                            * differences */
      }
      check_ok(cb_bundle_second(b, r, NULL, ddM[0]));
      check_ok(cb_bundle_second(moved, r, NULL, ddM[1]));
      for (int e = 0; e < n * n * n * n; e++) check_near(ddM[0][e], ddM[1][e], 1e-8 * (1 + fabs(ddM[0][e])));
    }
    cb_bundle_free(moved);
    cb_bundle_free(b);
  }
}

/* A form on se(2) x R^2: G = S^T S, where S is near the identity. smooth_connection computes A and M from G without
 * derivatives. */
static cb_status smooth_form(const cb_bundle *b, const double *r, double *G, double *dG) {
  double S[25];
  for (int k = 0; k < 25; k++) S[k] = (k % 6 == 0) + .3 * sin(k + r[0] + (1 + k % 3) * r[1]);
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++) {
      G[5 * i + j] = 0;
      for (int k = 0; k < 5; k++) G[5 * i + j] += S[5 * k + i] * S[5 * k + j];
    }
  return CB_OK;
}

static cb_status smooth_connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  double G[25];
  smooth_form(b, r, G, NULL);
  return cb_form_reduce(b->group, b->n, G, NULL, A, dA, M, dM);
}

/* P' = Ad_h^T P Ad_h for the locked block P of the form, and A' and M follow from the form in the new frame. */
static void the_form_goes_along(void **state) {
  const cb_bundle_class formed = {.name = "formed", .form = smooth_form, .connection = smooth_connection};
  const cb_bundle b = {.class_ = &formed, .group = cb_group_find("se2"), .n = 2, .shape = {"a", "b"}};
  const double low[2] = {-.4, -.3}, high[2] = {.4, .5}, r[2] = {.3, .1};
  const int points[2] = {6, 6};
  cb_bundle *moved = NULL, *plain = model("heisenberg", "");
  double G[25], A[6], M[4], reduced[6], metric[4], P[9], new[9], h[3], Ad[9];
  check_ok(cb_bundle_minimum_perturbation(&b, low, high, points, &moved));
  check_ok(moved->class_->form(moved, r, G, NULL));
  check_ok(cb_form_reduce(b.group, 2, G, NULL, reduced, NULL, metric, NULL));
  check_ok(cb_bundle_connection(moved, r, A, NULL, M, NULL));
  for (int k = 0; k < 6; k++) check_near(A[k], reduced[k], 1e-12);
  for (int k = 0; k < 4; k++) check_near(M[k], metric[k], 1e-12);
  check_ok(cb_bundle_locked(&b, r, P));
  check_ok(cb_bundle_locked(moved, r, new));
  check_ok(cb_bundle_frame(moved, r, h));
  b.group->adjoint(b.group, h, Ad);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) sum += Ad[3 * k + i] * P[3 * k + l] * Ad[3 * l + j];
      check_near(new[3 * i + j], sum, 1e-13);
    }
  cb_bundle_free(moved);
  if (!plain->class_->form) assert_int_equal(cb_bundle_locked(plain, r, P), CB_ERROR_UNSUPPORTED);
  cb_bundle_free(plain);
}

/* Compares the body velocity integral with the exact displacement for circles of Purcell's swimmer, in the frame of the
 * middle link and in minimum-perturbation coordinates. The displacements in both frames are conjugates. For radius 1
 * the integral in the frame of the middle link is .0519181, and the displacement is .0512808. */
static void body_velocity_integrals_come_nearer(void **state) {
  cb_bundle *b = model("purcell", ""), *moved;
  static const double radius[] = {.5, 1, 1.5, 2};
  for (int k = 0; k < 4; k++) {
    const double side = 1.05 * radius[k], low[2] = {-side, -side}, high[2] = {side, side};
    double g[3], new[3], old_cbvi[3], cbvi[3];
    cb_gait *gait = NULL;
    check_ok(cb_gait_fourier(2, 1, (const double[]){0, 0}, (const double[]){radius[k], 0},
                             (const double[]){0, radius[k]}, &gait));
    check_ok(cb_bundle_minimum_perturbation(b, low, high, (const int[]){9, 9}, &moved));
    check_ok(cb_holonomy(b, gait, 0, g, NULL, NULL));
    check_ok(cb_holonomy(moved, gait, 0, new, NULL, NULL));
    check_ok(cb_body_velocity_integral(b, gait, old_cbvi));
    check_ok(cb_body_velocity_integral(moved, gait, cbvi));
    const double exact = hypot(g[0], g[1]);
    check_near(hypot(new[0], new[1]), exact, 1e-12); /* the gait causes no rotation, so conjugate displacements have the
                                                      * same length */
    check_at_most(fabs(hypot(cbvi[0], cbvi[1]) - exact), .2 * fabs(hypot(old_cbvi[0], old_cbvi[1]) - exact));
    check_at_most(fabs(cbvi[0] - new[0]),
                  .05 * fabs(exact)); /* the components of integral and displacement are close, too */
    check_at_most(fabs(cbvi[1] - new[1]), .1 * fabs(exact));
    if (radius[k] == 1) {
      check_near(exact, .0512808, 5e-8);
      check_near(hypot(old_cbvi[0], old_cbvi[1]), .0519181, 5e-8);
    }
    cb_gait_free(gait);
    cb_bundle_free(moved);
  }
  cb_bundle_free(b);
}

static void wrong_windows_are_named(void **state) {
  cb_bundle *b = model("purcell", ""), *five = model("purcell", "links 5"), *pmpy = model("pmpy", ""), *moved = NULL;
  const double low[4] = {-1, -1, -1, -1}, high[4] = {1, 1, 1, 1}, outside[2] = {0, 1.2};
  const int points[4] = {4, 4, 4, 4}, few[2] = {4, 1};
  double A[6] = {7}, h[3] = {7};
  assert_int_equal(cb_bundle_minimum_perturbation(five, low, high, points, &moved), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_bundle_minimum_perturbation(b, high, low, points, &moved), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_bundle_minimum_perturbation(b, low, high, few, &moved), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_bundle_minimum_perturbation(pmpy, low, high, points, &moved), CB_STEP_DOMAIN);
  assert_null(moved);
  assert_int_equal(cb_bundle_frame(b, outside, h), CB_ERROR_ARGUMENT);
  check_ok(cb_bundle_minimum_perturbation(b, low, high, points, &moved));
  assert_int_equal(cb_bundle_connection(moved, outside, A, NULL, NULL, NULL), CB_STEP_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "outside the window"));
  assert_int_equal(cb_bundle_frame(moved, outside, h), CB_STEP_DOMAIN);
  check_near(A[0], 7, 0);
  check_near(h[0], 7, 0);
  cb_bundle_free(moved);
  cb_bundle_free(b);
  cb_bundle_free(five);
  cb_bundle_free(pmpy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_connection_is_the_least_of_all_frames),
      cmocka_unit_test(holonomies_are_conjugates_and_lengths_the_same),
      cmocka_unit_test(the_body_moves_through_space_as_before),
      cmocka_unit_test(curvature_and_derivatives_are_those_of_one_frame),
      cmocka_unit_test(second_derivatives_are_those_of_one_frame),
      cmocka_unit_test(the_form_goes_along),
      cmocka_unit_test(body_velocity_integrals_come_nearer),
      cmocka_unit_test(wrong_windows_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
