/* Tests of the gap of two convex bodies. The gap is compared with closed forms, brute-force minimisation and
 * differences. */
#include "check.h"
#include "coupling/convex.h"
#include "numerics/vec3.h"

#include <curvebody/se3.h>
#include <gsl/gsl_multimin.h>

static cb_pose random_pose(uint64_t *seed, double range) {
  cb_pose g;
  check_direction(seed, 4, g.q);
  for (int i = 0; i < 3; i++) g.x[i] = check_uniform(seed, -range, range);
  return g;
}

static cb_convex random_ellipsoid(uint64_t *seed) {
  cb_pose g = random_pose(seed, 0);
  double r[3][3], axis[3][3], centre[3];
  cb_pose_rotation(&g, r);
  for (int k = 0; k < 3; k++) {
    const double a = check_uniform(seed, 0.2, 1);
    for (int i = 0; i < 3; i++) axis[i][k] = a * r[i][k];
    centre[k] = check_uniform(seed, -.3, .3);
  }
  return cb_convex_ellipsoid(centre, (const double(*)[3])axis);
}

static void box_of(double a, double b, double c, double x[8][3]) {
  for (int i = 0; i < 8; i++) {
    x[i][0] = i & 1 ? a : -a;
    x[i][1] = i & 2 ? b : -b;
    x[i][2] = i & 4 ? c : -c;
  }
}

/* Makes n random points. Their convex hull is a body. */
static void random_points(uint64_t *seed, int n, double (*x)[3]) {
  for (int i = 0; i < n; i++) {
    check_direction(seed, 3, x[i]);
    for (int k = 0; k < 3; k++) x[i][k] *= check_uniform(seed, .5, .8);
  }
}

static cb_convex_contact gap_of(const cb_convex *a, const cb_pose *ga, const cb_convex *b, const cb_pose *gb) {
  double guess[3] = {0};
  cb_convex_contact out;
  cb_convex_gap(a, ga, b, gb, guess, &out);
  return out;
}

/* --- closed forms --- */

static void balls_and_capsules_have_closed_forms(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int k = 0; k < 200; k++) {
    const cb_pose ga = random_pose(&seed, 2), gb = random_pose(&seed, 2);
    const double ends[4][3] = {{-.5, .1, 0}, {.5, 0, .2}, {0, 0, -.4}, {.1, .2, .6}};
    double p[4][3], least = INFINITY;
    const cb_convex one = cb_convex_ball(ends[0], .1), two = cb_convex_ball(ends[2], .2),
                    a = cb_convex_capsule(ends[0], ends[1], .1), b = cb_convex_capsule(ends[2], ends[3], .15);
    for (int i = 0; i < 4; i++) cb_pose_point(i < 2 ? &ga : &gb, ends[i], p[i]);
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = p[2][i] - p[0][i];
    check_near(gap_of(&one, &ga, &two, &gb).gap, sqrt(cb_dot3(d, d)) - .3, 1e-15 * 8);
    /* the distance of two segments is the distance of their lines, or of an end and the other segment (Ericson,
     * Real-Time Collision Detection, 2005) */
    double e[3], f[3], r[3];
    for (int i = 0; i < 3; i++) {
      e[i] = p[1][i] - p[0][i];
      f[i] = p[3][i] - p[2][i];
      r[i] = p[0][i] - p[2][i];
    }
    for (int side = 0; side < 5; side++) {
      const double A = cb_dot3(e, e), E = cb_dot3(f, f), F = cb_dot3(f, r), B = cb_dot3(e, f), C = cb_dot3(e, r);
      double s = (B * F - C * E) / (A * E - B * B), t = (B * s + F) / E;
      if (side == 0 || side == 1) t = fmin(fmax((B * (s = side) + F) / E, 0), 1);
      if (side == 2 || side == 3) s = fmin(fmax((B * (t = side - 2) - C) / A, 0), 1);
      if (s < 0 || s > 1 || t < 0 || t > 1) continue;
      double square = 0;
      for (int i = 0; i < 3; i++) square += pow(r[i] + s * e[i] - t * f[i], 2);
      least = fmin(least, sqrt(square));
    }
    check_near(gap_of(&a, &ga, &b, &gb).gap, least - .25, 1e-14);
  }
}

/* The gaps of two boxes with parallel faces along the axes are the distances of the centres minus the sums of the half
 * edges. If some of these gaps are positive, the gap of the boxes is the root of the sum of their squares. Otherwise it
 * is the largest of these gaps. */
static void parallel_boxes_have_closed_forms(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  double x[8][3], y[8][3];
  box_of(.5, .3, .2, x);
  box_of(.2, .4, .1, y);
  const cb_convex a = cb_convex_hull(8, (const double(*)[3])x), b = cb_convex_hull(8, (const double(*)[3])y);
  const double sum[3] = {.7, .7, .3};
  for (int k = 0; k < 300; k++) {
    cb_pose g = random_pose(&seed, 1), gb = g;
    double at[3], gap[3], square = 0, most = -INFINITY;
    for (int i = 0; i < 3; i++) {
      at[i] = check_uniform(&seed, -1, 1);
      gap[i] = fabs(at[i]) - sum[i];
      square += gap[i] > 0 ? gap[i] * gap[i] : 0;
      most = fmax(most, gap[i]);
    }
    cb_pose_point(&g, at, gb.x);
    check_near(gap_of(&a, &g, &b, &gb).gap, most > 0 ? sqrt(square) : most, 4e-15);
  }
}

/* For boxes that lie on each other, the gap and the normal are right up to round-off for gaps of any size, even if the
 * gap is 0 or of the size of round-off. */
static void faces_that_touch_have_an_exact_normal(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  static const double depth[] = {0, 1e-16, -1e-16, 1e-13, -1e-13, 1e-9, -1e-9, 1e-5, -1e-5, -1e-2};
  double x[8][3];
  box_of(.5, .3, .2, x);
  const cb_convex a = cb_convex_hull(8, (const double(*)[3])x);
  for (int k = 0; k < 100; k++) {
    const cb_pose g = random_pose(&seed, 1);
    cb_pose gb = g;
    const double angle = check_uniform(&seed, -3, 3), turn[4] = {cos(angle / 2), 0, 0, sin(angle / 2)},
                 at[3] = {check_uniform(&seed, -.6, .6), check_uniform(&seed, -.2, .2), .4 + depth[k % 10]};
    double r[3][3], up[3];
    cb_quaternion_multiply(g.q, turn, gb.q);
    cb_pose_point(&g, at, gb.x);
    cb_pose_rotation(&g, r);
    for (int i = 0; i < 3; i++) up[i] = r[i][2];
    const cb_convex_contact c = gap_of(&a, &g, &a, &gb);
    check_near(c.gap, depth[k % 10], 2e-15);
    check_near(cb_dot3(c.normal, up), 1, 1e-15);
  }
}

/* --- brute force --- */

typedef struct task {
  const cb_convex *a, *b;
  const cb_pose *ga, *gb;
} task;

static void on_ellipsoid(const cb_convex *c, const cb_pose *g, double u, double v, double out[3]) {
  const double w[3] = {cos(u) * cos(v), sin(u) * cos(v), sin(v)};
  double x[3];
  cb_apply3(c->axis, w, x);
  for (int i = 0; i < 3; i++) x[i] += c->centre[i];
  cb_pose_point(g, x, out);
}

static double distance(const gsl_vector *p, void *data) {
  const task *t = data;
  double x[3], y[3], d[3];
  on_ellipsoid(t->a, t->ga, gsl_vector_get(p, 0), gsl_vector_get(p, 1), x);
  on_ellipsoid(t->b, t->gb, gsl_vector_get(p, 2), gsl_vector_get(p, 3), y);
  for (int i = 0; i < 3; i++) d[i] = y[i] - x[i];
  return sqrt(cb_dot3(d, d));
}

/* Returns -g(n) of two ellipsoids. n is the unit vector with the angles p, and g(n) is the width of the gap along n:
 * the minimum of n.y over the second body minus the maximum of n.x over the first one. Both have closed forms. */
static double depth_of(const gsl_vector *p, void *data) {
  const task *t = data;
  const double u = gsl_vector_get(p, 0), v = gsl_vector_get(p, 1), n[3] = {cos(u) * cos(v), sin(u) * cos(v), sin(v)};
  double sum = 0;
  for (int k = 0; k < 2; k++) {
    const cb_convex *c = k ? t->b : t->a;
    const cb_pose *g = k ? t->gb : t->ga;
    double r[3][3], m[3], e[3], centre[3];
    cb_pose_rotation(g, r);
    cb_apply3_transposed(r, n, m);
    cb_apply3_transposed(c->axis, m, e);
    cb_pose_point(g, c->centre, centre);
    sum += (k ? -1 : 1) * cb_dot3(n, centre) + sqrt(cb_dot3(e, e));
  }
  return sum;
}

/* Returns the minimum of a function of n numbers, by searches from random starts. */
static double least_of(double (*f)(const gsl_vector *, void *), int n, task *t, uint64_t *seed, int starts) {
  gsl_multimin_function of = {f, (size_t)n, t};
  gsl_multimin_fminimizer *m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, (size_t)n);
  gsl_vector *at = gsl_vector_alloc((size_t)n), *size = gsl_vector_alloc((size_t)n);
  double least = INFINITY;
  for (int k = 0; k < starts; k++) {
    for (int i = 0; i < n; i++) gsl_vector_set(at, (size_t)i, check_uniform(seed, -3, 3));
    for (int again = 0; again < 3; again++) { /* the simplex may shrink before it reaches the minimum */
      gsl_vector_set_all(size, again ? .01 : .5);
      gsl_multimin_fminimizer_set(m, &of, at, size);
      for (int i = 0; i < 600 && gsl_multimin_fminimizer_size(m) > 1e-10; i++)
        if (gsl_multimin_fminimizer_iterate(m)) break;
      gsl_vector_memcpy(at, m->x);
    }
    least = fmin(least, m->fval);
  }
  gsl_vector_free(at);
  gsl_vector_free(size);
  gsl_multimin_fminimizer_free(m);
  return least;
}

static void ellipsoids_agree_with_minimisation(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  int apart = 0, inside = 0;
  for (int k = 0; k < 1000 && (apart < 20 || inside < 10); k++) {
    const cb_convex a = random_ellipsoid(&seed), b = random_ellipsoid(&seed);
    const cb_pose ga = random_pose(&seed, .8), gb = random_pose(&seed, .8);
    task t = {&a, &b, &ga, &gb};
    const double s = gap_of(&a, &ga, &b, &gb).gap;
    if (s < -.1) continue; /* for deep overlaps, the start determines which maximum is found */
    const double minus = -least_of(depth_of, 2, &t, &seed, 20);
    check_near(s, minus, 1e-12); /* at a minimum an error of 1e-10 in n changes the value by 1e-20 */
    if (s > 0) check_near(s, least_of(distance, 4, &t, &seed, 20), 1e-11);
    apart += s > 0;
    inside += s < 0;
  }
  check_at_least(apart, 10);
  check_at_least(inside, 10);
}

/* Returns g(n), the width of the gap along n: the minimum of n.y over b minus the maximum of n.x over a. The gap is the
 * maximum of g(n) over all n. The library returns the normal at which g has its maximum. The two contact points are in
 * the two bodies, on a line along this normal. */
static double g_of(const cb_convex *a, const cb_pose *ga, const cb_convex *b, const cb_pose *gb, const double n[3]) {
  double sum = 0;
  for (int k = 0; k < 2; k++) {
    const cb_convex *c = k ? b : a;
    const cb_pose *g = k ? gb : ga;
    double r[3][3], m[3], e[3], most = -INFINITY;
    cb_pose_rotation(g, r);
    cb_apply3_transposed(r, n, m);
    for (int i = 0; i < 3 && k; i++) m[i] = -m[i];
    for (int i = 0; i < c->n; i++) most = fmax(most, cb_dot3(m, c->x ? c->x[i] : c->own[i]));
    cb_apply3_transposed(c->axis, m, e);
    if (!c->n) most = cb_dot3(m, c->centre) + sqrt(cb_dot3(e, e));
    sum -= most + c->radius + (k ? -1 : 1) * cb_dot3(n, g->x);
  }
  return sum;
}

static void gap_is_the_largest_width(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  double x[24][3], y[8][3], ends[2][3] = {{-.4, 0, .1}, {.5, .1, 0}};
  random_points(&seed, 24, x);
  box_of(.5, .3, .2, y);
  const cb_convex set[5] = {cb_convex_hull(24, (const double(*)[3])x), cb_convex_hull(8, (const double(*)[3])y),
                            random_ellipsoid(&seed), cb_convex_capsule(ends[0], ends[1], .1),
                            cb_convex_hull(4, (const double(*)[3])y)}; /* a plate */
  double worst = 0;
  for (int k = 0; k < 2000; k++) {
    const cb_convex *a = &set[k % 5], *b = &set[k / 5 % 5];
    const cb_pose ga = random_pose(&seed, .1), gb = random_pose(&seed, 1.2);
    const cb_convex_contact c = gap_of(a, &ga, b, &gb);
    if (c.gap < -.05) continue; /* for deep overlaps, the start determines which maximum is found */
    double d[3], w[3], n[3], guess[3];
    check_near(cb_dot3(c.normal, c.normal), 1, 1e-14);
    check_direction(&seed, 3, w);
    for (int i = 0; i < 3; i++) guess[i] = c.normal[i] + .3 * w[i];
    const double length = sqrt(cb_dot3(guess, guess));
    for (int i = 0; i < 3; i++) guess[i] /= length;
    cb_convex_contact again;
    cb_convex_gap(a, &ga, b, &gb, guess, &again);
    if (c.gap > 0) check_near(again.gap, c.gap, 1e-13); /* the guess changes only gaps of bodies that overlap */
    worst = fmax(worst, fabs(c.gap - g_of(a, &ga, b, &gb, c.normal)));
    for (int i = 0; i < 3; i++) d[i] = c.b[i] - c.a[i];
    for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(d[i] - c.gap * c.normal[i]));
    for (int j = 0; j < 200; j++) { /* g_of is not larger in a direction near the normal, or in a random one */
      check_direction(&seed, 3, w);
      const double small = j & 1 ? 1 : pow(10, check_uniform(&seed, -6, 0));
      for (int i = 0; i < 3; i++) n[i] = (j & 1 ? 0 : c.normal[i]) + small * w[i];
      const double size = sqrt(cb_dot3(n, n));
      for (int i = 0; i < 3; i++) n[i] /= size;
      if (c.gap > 0 || small < .01) check_at_most(g_of(a, &ga, b, &gb, n), c.gap + 2e-14);
    }
  }
  print_message("largest error of a gap: %.3g\n", worst);
  /* the error of a point of an ellipsoid is the error of the normal times the radius of curvature */
  check_at_most(worst, 1e-13);
}

/* --- motion --- */

static void move(const cb_pose *g, const double Y[6], double t, cb_pose *out) {
  const double w[6] = {t * Y[0], t * Y[1], t * Y[2], t * Y[3], t * Y[4], t * Y[5]};
  cb_pose step;
  cb_se3_tau(CB_SE3_EXPONENTIAL, w, &step);
  cb_pose_multiply(g, &step, out);
}

static void velocity_at(const cb_pose *g, const double Y[6], const double x[3], double out[3]) {
  double r[3][3], d[3], local[3], v[3];
  cb_pose_rotation(g, r);
  for (int i = 0; i < 3; i++) d[i] = x[i] - g->x[i];
  cb_apply3_transposed(r, d, local);
  cb_cross3(Y, local, v);
  for (int i = 0; i < 3; i++) v[i] += Y[3 + i];
  cb_apply3(r, v, out);
}

/* The rate n.(v_B - v_A) agrees with the derivative of the gap by differences of order 6, for bodies that are apart and
 * for bodies that overlap. The vector `guess` passes the normal from call to call, so that all gaps of bodies that
 * overlap belong to the same direction of separation. */
static void rate_is_the_derivative_of_the_gap(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  const double ends[2][3] = {{-.4, 0, .1}, {.5, .1, 0}}, weight[3] = {.75, -.15, 1. / 60};
  int overlap = 0;
  for (int k = 0; k < 300; k++) {
    const cb_convex set[3] = {random_ellipsoid(&seed), random_ellipsoid(&seed),
                              cb_convex_capsule(ends[0], ends[1], .2)};
    const cb_convex *a = &set[0], *b = &set[k % 2 + 1];
    const cb_pose ga = random_pose(&seed, .1), gb = random_pose(&seed, 1);
    double Y[2][6], guess[3] = {0}, v[2][3], difference = 0, rate = 0;
    cb_convex_contact c, near;
    cb_convex_gap(a, &ga, b, &gb, guess, &c);
    if (c.gap < -.03) continue;
    overlap += c.gap < 0;
    for (int i = 0; i < 12; i++) Y[i / 6][i % 6] = check_uniform(&seed, -.5, .5);
    velocity_at(&ga, Y[0], c.a, v[0]);
    velocity_at(&gb, Y[1], c.b, v[1]);
    for (int i = 0; i < 3; i++) rate += c.normal[i] * (v[1][i] - v[0][i]);
    const double h = 1e-3;
    for (int j = 0; j < 6; j++) {
      const double t = (j & 1 ? -h : h) * (j / 2 + 1);
      cb_pose at, bt;
      move(&ga, Y[0], t, &at);
      move(&gb, Y[1], t, &bt);
      cb_convex_gap(a, &at, b, &bt, guess, &near);
      difference += (j & 1 ? -1 : 1) * weight[j / 2] * near.gap / h;
    }
    /* the segment of a capsule has ends, where the second derivative of the gap jumps */
    check_near(difference, rate, b == &set[2] ? 1e-4 : 1e-9);
  }
  check_at_least(overlap, 5);
}

/* A corner of a box moves through a face of a slab. The gap is the height of the corner above the face, also where it
 * changes its sign. */
static void gap_is_smooth_where_a_corner_enters_a_face(void **unused) {
  (void)unused;
  double x[8][3], y[8][3], guess[3] = {0};
  box_of(2, 2, .5, x);
  box_of(.1, .2, .3, y);
  const cb_convex slab = cb_convex_hull(8, (const double(*)[3])x), box = cb_convex_hull(8, (const double(*)[3])y);
  const cb_pose ga = {{1, 0, 0, 0}, {0, 0, -.5}};
  for (int k = -50; k <= 50; k++) {
    cb_pose gb = {{.8, .36, .48, 0}, {.3, .2, 0}};
    double low = INFINITY, p[3];
    for (int i = 0; i < 8; i++) {
      cb_pose_point(&gb, y[i], p);
      low = fmin(low, p[2]);
    }
    gb.x[2] = k * 1e-4 - low;
    cb_convex_contact c;
    cb_convex_gap(&slab, &ga, &box, &gb, guess, &c);
    check_near(c.gap, k * 1e-4, 1e-15);
    check_near(c.normal[2], 1, 1e-15);
  }
}

/* --- patches --- */

/* Computes the minimum and maximum of x and of y of the points of a patch, in the frame of a. All gaps of the points
 * must be 0. */
static void extent(const cb_convex *a, const cb_pose *ga, const cb_convex *b, const cb_pose *gb, int points,
                   double out[4]) {
  cb_convex_patch p;
  const cb_convex_contact c = gap_of(a, ga, b, gb);
  cb_convex_find_patch(a, ga, b, gb, c.normal, &p);
  assert_int_equal(p.n, points);
  assert_false(p.on_b);
  out[0] = out[2] = INFINITY;
  out[1] = out[3] = -INFINITY;
  for (int i = 0; i < p.n; i++) {
    double x[3], d[3], y[3], r[3][3];
    cb_pose_point(gb, p.point[i], x);
    for (int k = 0; k < 3; k++) d[k] = x[k] - ga->x[k];
    cb_pose_rotation(ga, r);
    cb_apply3_transposed(r, d, y);
    check_near(cb_dot3(p.normal, y), p.level[i], 4e-15);
    for (int k = 0; k < 2; k++) {
      out[2 * k] = fmin(out[2 * k], y[k]);
      out[2 * k + 1] = fmax(out[2 * k + 1], y[k]);
    }
  }
}

/* Tests a small box on a face, two bars that cross, and a capsule on a face. The points of the patch are the corners of
 * the area that both bodies share. */
static void patch_has_the_corners_of_the_common_part(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  const double ends[2][3] = {{-.2, 0, 0}, {.3, 0, 0}};
  double x[8][3], y[8][3], z[8][3], e[4];
  box_of(1, 1, .1, x);
  box_of(.3, .2, .1, y);
  box_of(.05, .4, .1, z);
  const cb_convex table = cb_convex_hull(8, (const double(*)[3])x), box = cb_convex_hull(8, (const double(*)[3])y),
                  bar = cb_convex_hull(8, (const double(*)[3])z), capsule = cb_convex_capsule(ends[0], ends[1], .1);
  for (int k = 0; k < 100; k++) {
    const cb_pose g = random_pose(&seed, 1);
    const double at[3] = {.1, .05, .2};
    cb_pose gb = g;
    cb_pose_point(&g, at, gb.x);
    extent(&table, &g, &box, &gb, 4, e);
    const double small[4] = {-.2, .4, -.15, .25}, cross[4] = {.05, .15, -.2, .2}, line[4] = {-.1, .4, .05, .05};
    for (int i = 0; i < 4; i++) check_near(e[i], small[i], 1e-14);
    extent(&box, &g, &bar, &gb, 4, e);
    for (int i = 0; i < 4; i++) check_near(e[i], cross[i], 1e-14);
    extent(&table, &g, &capsule, &gb, 2, e);
    for (int i = 0; i < 4; i++) check_near(e[i], line[i], 1e-14);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(balls_and_capsules_have_closed_forms),
                                     cmocka_unit_test(parallel_boxes_have_closed_forms),
                                     cmocka_unit_test(faces_that_touch_have_an_exact_normal),
                                     cmocka_unit_test(ellipsoids_agree_with_minimisation),
                                     cmocka_unit_test(gap_is_the_largest_width),
                                     cmocka_unit_test(rate_is_the_derivative_of_the_gap),
                                     cmocka_unit_test(gap_is_smooth_where_a_corner_enters_a_face),
                                     cmocka_unit_test(patch_has_the_corners_of_the_common_part)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
