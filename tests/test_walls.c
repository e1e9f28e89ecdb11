/* Bounds, and lines that may not cross: walls, their barrier, and direct searches within them.
 * labels: medium */
#include "link_trees.h"
#include "optimum/direct.h"
#include <curvebody/holonomy.h>

static cb_walls *walls(const cb_optimum_problem *o) {
  cb_walls *w;
  check_ok(cb_walls_create(o, &w));
  assert_non_null(w);
  return w;
}

static double wall(cb_walls *w, int k, double soft, const double *r) {
  double s[64];
  check_ok(cb_walls_at(w, soft, r, s, NULL, NULL));
  return s[k];
}

/* Links 1 and 3 of three equal ones: an isosceles triangle of two links closes where the tip meets the third. */
static void three_equal_links_cross_beyond_two_lines(void **state) {
  (void)state;
  uint64_t seed = check_seed();
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {.bundle = b, .apart = true};
  cb_walls *w = walls(&o);
  assert_int_equal(w->count, 1);
  for (int k = 0; k < 4000; k++) {
    double r[2];
    random_shape(&seed, 2, M_PI, r);
    const double x = fabs(r[0]), y = fabs(r[1]), room = 2 * M_PI - fmin(x + 2 * y, 2 * x + y);
    if (fabs(room) < 1e-6) continue;
    assert_int_equal(wall(w, 0, 0, r) > 0, r[0] * r[1] < 0 || room > 0);
  }
  const double tips[2] = {2 * M_PI / 3, 2 * M_PI / 3};
  check_near(wall(w, 0, 0, tips), 0, 1e-15);
  cb_walls_free(w);
  cb_bundle_free(b);
}

/* Of a chain, and of the same as a tree of links, whose hinges are points of their own. */
static void hinged_links_are_no_wall(void **state) {
  (void)state;
  uint64_t seed = check_seed();
  for (int links = 3; links < 7; links++) {
    char text[32];
    snprintf(text, sizeof text, "links %d", links);
    cb_bundle *b = model("purcell", text);
    tree t = chain("space: plane", links, 1. / links);
    const cb_optimum_problem o = {.bundle = b, .apart = true}, p = {.bundle = t.b, .apart = true};
    cb_walls *v = walls(&o), *w = walls(&p);
    assert_int_equal(v->count, (links - 1) * (links - 2) / 2);
    assert_int_equal(w->count, v->count);
    double r[CB_SHAPE_MAX], s[64], u[64];
    random_shape(&seed, links - 1, 2, r);
    check_ok(cb_walls_at(v, 0, r, s, NULL, NULL));
    check_ok(cb_walls_at(w, 0, r, u, NULL, NULL));
    check_at_most(difference(s, u, v->count), 1e-14);
    cb_walls_free(v), cb_walls_free(w);
    tree_free(&t);
    cb_bundle_free(b);
  }
}

/* Soft ones are below by at most log 16 of their softness. */
static void soft_walls_are_within(void **state) {
  (void)state;
  uint64_t seed = check_seed();
  cb_bundle *b = model("purcell", "links 4");
  const cb_optimum_problem o = {.bundle = b, .apart = true};
  cb_walls *w = walls(&o);
  for (int k = 0; k < 1000; k++) {
    double r[CB_SHAPE_MAX];
    random_shape(&seed, 3, 2, r);
    for (int i = 0; i < w->count; i++) {
      const double less = wall(w, i, 0, r) - wall(w, i, .02, r);
      check_at_least(less, 0);
      check_at_most(less, .02 * w->size * log(16) * (1 + 1e-12));
    }
  }
  cb_walls_free(w);
  cb_bundle_free(b);
}

/* Against differences of order 4, with steps of a fortieth of a width in which a soft wall bends: 1e-4 of the largest. */
static void walls_have_their_slopes(void **state) {
  (void)state;
  uint64_t seed = check_seed();
  const double lower[] = {-2, -INFINITY, -2.5, -2}, upper[] = {INFINITY, 2.5, 2, 2}, soft = .2, h = 2e-3;
  cb_bundle *b = model("purcell", "links 5");
  const cb_optimum_problem o = {.bundle = b, .apart = true, .lower = lower, .upper = upper};
  cb_walls *w = walls(&o);
  const int n = 4, count = w->count;
  assert_int_equal(count, 6 + 6);
  for (int trial = 0; trial < 50; trial++) {
    double r[4], s[16], ds[16 * 4], dds[16 * 16], way[4], near[5][16], slope[5][16 * 4], none[16 * 16];
    random_shape(&seed, n, 2, r);
    check_direction(&seed, n, way);
    check_ok(cb_walls_at(w, soft, r, s, ds, dds));
    for (int k = 0; k < 5; k++) {
      double x[4];
      for (int i = 0; i < n; i++) x[i] = r[i] + (k - 2) * h * way[i];
      check_ok(cb_walls_at(w, soft, x, near[k], slope[k], none));
    }
    for (int k = 0; k < count; k++) {
      double along = 0;
      for (int i = 0; i < n; i++) {
        double bend = 0;
        along += ds[k * n + i] * way[i];
        for (int j = 0; j < n; j++) bend += dds[(k * n + i) * n + j] * way[j];
        const int e = k * n + i;
        check_near(bend, (8 * (slope[3][e] - slope[1][e]) - slope[4][e] + slope[0][e]) / (12 * h), 1e-6);
      }
      check_near(along, (8 * (near[3][k] - near[1][k]) - near[4][k] + near[0][k]) / (12 * h), 1e-8);
    }
  }
  cb_walls_free(w);
  cb_bundle_free(b);
}

/* Each of them is smooth on either side of where the greatest changes. */
static void terms_have_their_slopes(void **state) {
  (void)state;
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {.bundle = b, .apart = true};
  cb_walls *w = walls(&o);
  const double r[2] = {2.2, 1.9}, h = 1e-3;
  int term[2];
  double f, df[2], ddf[4];
  check_ok(cb_walls_leading(w, 0, r, term));
  check_ok(cb_walls_term(w, 0, term[0], r, &f, df, ddf));
  check_near(f, wall(w, 0, 0, r), 1e-15);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 2; i++) {
      double d[2][2], none[4], at[2];
      check_ok(cb_walls_term(w, 0, term[k], r, &f, df, ddf));
      for (int side = 0; side < 2; side++) {
        double x[2] = {r[0], r[1]};
        x[i] += side ? h : -h;
        check_ok(cb_walls_term(w, 0, term[k], x, &at[side], d[side], none));
      }
      check_near(df[i], (at[1] - at[0]) / (2 * h), 1e-6); /* h^2 */
      for (int j = 0; j < 2; j++) check_near(ddf[i * 2 + j], (d[1][j] - d[0][j]) / (2 * h), 1e-6);
    }
  cb_walls_free(w);
  cb_bundle_free(b);
}

static cb_gait *ring(double x, double y, double radius, double way) {
  const double mean[2] = {x, y}, cosine[2] = {radius, 0}, sine[2] = {0, way * radius};
  cb_gait *g;
  check_ok(cb_gait_fourier(2, 1, mean, cosine, sine, &g));
  return g;
}

static double barrier_value(cb_barrier *b, const double *c) {
  double *r = calloc((size_t)(b->basis->nodes * b->n), sizeof *r);
  const int f = b->basis->functions;
  for (int q = 0; q < b->basis->nodes; q++)
    for (int i = 0; i < b->n; i++)
      for (int a = 0; a < f; a++) r[q * b->n + i] += c[i * f + a] * b->basis->phi[q * f + a];
  check_ok(cb_barrier_at(b, r, true));
  free(r);
  return b->value;
}

/* With z = tau/s the primal-dual Hessian is the barrier's own. */
static void barriers_have_their_slopes(void **state) {
  (void)state;
  uint64_t seed = check_seed();
  enum { SIZE = 3, U = 2 * (2 * SIZE + 1) };
  const double upper[2] = {2, INFINITY}, h = 1e-4;
  cb_bundle *bundle = model("purcell", "");
  const cb_optimum_problem o = {.bundle = bundle, .apart = true, .upper = upper};
  cb_basis *basis;
  cb_barrier *b;
  cb_gait *loop = ring(1.2, 1.2, .5, 1);
  double c[U], way[U], g[U] = {0}, H[U * U] = {0}, side[2], slope[2][U];
  check_ok(cb_basis_fourier(SIZE, 0, &basis));
  check_ok(cb_barrier_create(&o, basis, &b));
  check_ok(cb_basis_project(basis, loop, c));
  b->tau = .3, b->soft = .05;
  barrier_value(b, c);
  cb_barrier_begin(b, true);
  cb_barrier_gradient(b, g);
  cb_barrier_hessian(b, U, H);
  check_direction(&seed, U, way);
  for (int k = 0; k < 2; k++) {
    double x[U];
    for (int a = 0; a < U; a++) x[a] = c[a] + (k ? h : -h) * way[a], slope[k][a] = 0;
    side[k] = barrier_value(b, x);
    cb_barrier_gradient(b, slope[k]);
  }
  double along = 0;
  for (int a = 0; a < U; a++) {
    double bend = 0;
    along += g[a] * way[a];
    for (int e = 0; e < U; e++) bend += H[a * U + e] * way[e];
    check_near(bend, (slope[1][a] - slope[0][a]) / (2 * h), 1e-6); /* h^2 */
  }
  check_near(along, (side[1] - side[0]) / (2 * h), 1e-7);
  cb_gait_free(loop);
  cb_barrier_free(b);
  cb_basis_free(basis);
  cb_bundle_free(bundle);
}

static cb_direct *solved(const cb_optimum_problem *o, cb_gait *start, int size) {
  cb_direct *d;
  check_ok(cb_direct_create(o, size, &d));
  check_ok(cb_direct_from(d, start));
  check_ok(cb_direct_solve(d, 60));
  check_at_least(cb_barrier_least(d->barrier, d->c), 0);
  cb_gait_free(start);
  return d;
}

/* Shooting with arcs at bounds gives E and lambda. A bound that is held makes r'' jump, so that N harmonics leave N^-3. */
static void a_gait_keeps_to_its_bounds(void **state) {
  (void)state;
  const double lower[2] = {-.7, -.7}, upper[2] = {.7, .7};
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .03}, .lower = lower, .upper = upper};
  for (int size = 8; size <= 24; size += 8) {
    cb_direct *d = solved(&o, ring(0, 0, .9, 1), size); /* begins outside */
    check_relative(d->v->cost, .134475538116, 2 / pow(size, 3));
    check_relative(hypot(d->lambda[0], d->lambda[1]), 4.33272289, 40 / pow(size, 3));
    cb_direct_free(d);
  }
  cb_bundle_free(b);
}

/* The farthest loop within a square about 0 is the square, since the curvature has one sign there; corners are rounded. */
static void a_target_beyond_the_bounds_is_told_their_most(void **state) {
  (void)state;
  const double lower[2] = {-.8, -.8}, upper[2] = {.8, .8}, corner[8] = {.8, .8, -.8, .8, -.8, -.8, .8, -.8};
  double most, g[CB_GROUP_SIZE];
  cb_bundle *b = model("purcell", "");
  cb_gait *start = ring(0, 0, .5, 1), *square;
  const cb_optimum_problem o = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .05}, .lower = lower, .upper = upper};
  cb_direct *d;
  check_ok(cb_direct_create(&o, 12, &d));
  check_ok(cb_direct_from(d, start));
  assert_int_equal(cb_direct_solve(d, 60), CB_STEP_NO_CONVERGENCE);
  check_ok(cb_direct_most(&o, start, 12, &most));
  check_ok(cb_gait_polygon(2, 4, corner, &square));
  check_ok(cb_holonomy(b, square, 0, g, NULL, NULL));
  check_at_most(most, hypot(g[0], g[1]));
  check_relative(most, hypot(g[0], g[1]), 3e-3);
  cb_direct_free(d);
  cb_gait_free(start), cb_gait_free(square);
  cb_bundle_free(b);
}

/* As without them, to the last digit: the most efficient gait with angles within a right angle. */
static void walls_that_are_not_met_do_not_count(void **state) {
  (void)state;
  const double lower[2] = {-M_PI_2, -M_PI_2}, upper[2] = {M_PI_2, M_PI_2};
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {.bundle = b,
                                .target = {.kind = CB_GAIT_MOVE, .value = .05},
                                .seek = CB_SEEK_EFFICIENCY,
                                .lower = lower,
                                .upper = upper,
                                .apart = true};
  cb_direct *d = solved(&o, ring(0, 0, 1, 1), 24);
  check_relative(d->amount * d->amount / d->v->cost, .012364154621884, 1e-9); /* harmonics beyond the last */
  cb_direct_free(d);
  cb_bundle_free(b);
}

/* Without walls .034936705669; the tips meet once, where the loop has a corner: harmonics leave their square. */
static void links_touch_and_do_not_cross(void **state) {
  (void)state;
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_TURN, .value = .1}, .apart = true};
  for (int size = 8; size <= 16; size *= 2) {
    cb_direct *d = solved(&o, ring(1.8, 1.8, .3, -1), size);
    check_relative(d->v->cost, .034983464790, .01 / (size * size));
    check_at_least(d->v->cost, .034936705669);
    cb_direct_free(d);
  }
  cb_bundle_free(b);
}

/* Coefficients' rate at a time. */
static void rate_at(const cb_direct *d, double t, double *v) {
  double phi[256], rate[256];
  const int f = d->basis->functions;
  cb_basis_at(d->basis, t, phi, rate);
  for (int i = 0; i < d->v->n; i++) {
    v[i] = 0;
    for (int a = 0; a < f; a++) v[i] += d->c[i * f + a] * rate[a];
  }
}

/* Speeds on both sides are the same, since the corner's time is free, and what the momentum jumps by presses on both
 * lines: of the gait alone, to the accuracy of the ends of its polynomials. */
static void check_corner(const cb_direct *d, double *r) {
  const int n = d->v->n, f = d->basis->functions;
  double before[CB_SHAPE_MAX], after[CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX], jump[CB_SHAPE_MAX], speed[2] = {0};
  double gram[3] = {0}, right[2] = {0}, rest = 0, all = 0;
  const cb_corner *at = &d->corner[0];
  assert_int_equal(d->corners, 1);
  assert_int_equal(at->vertex, 0);
  for (int i = 0; i < n; i++) r[i] = d->c[i * f];
  check_near(wall(d->barrier->walls, at->wall, 0, r), 0, 1e-12);
  rate_at(d, 0, after);
  rate_at(d, nextafter(1, 0), before);
  check_ok(cb_bundle_connection(d->problem->bundle, r, NULL, NULL, M, NULL));
  for (int i = 0; i < n; i++) {
    jump[i] = 0;
    for (int j = 0; j < n; j++) {
      jump[i] += M[i * n + j] * (after[j] - before[j]);
      speed[0] += before[i] * M[i * n + j] * before[j], speed[1] += after[i] * M[i * n + j] * after[j];
    }
    gram[0] += at->df[0][i] * at->df[0][i], gram[1] += at->df[0][i] * at->df[1][i];
    gram[2] += at->df[1][i] * at->df[1][i];
    right[0] += at->df[0][i] * jump[i], right[1] += at->df[1][i] * jump[i];
  }
  check_relative(speed[0], speed[1], 1e-6);
  check_relative(speed[0], d->v->cost, 1e-6);
  const double det = gram[0] * gram[2] - gram[1] * gram[1];
  const double x = (gram[2] * right[0] - gram[1] * right[1]) / det;
  const double y = (gram[0] * right[1] - gram[1] * right[0]) / det;
  for (int i = 0; i < n; i++) {
    rest = fmax(rest, fabs(jump[i] - x * at->df[0][i] - y * at->df[1][i]));
    all = fmax(all, fabs(jump[i]));
  }
  check_at_most(rest, 1e-5 * all);
  check_at_most(x, -1e-2 * all);
  check_at_most(y, -1e-2 * all);
}

/* The tips meet at (2 pi/3, 2 pi/3), once. */
static void a_gait_turns_about_a_corner(void **state) {
  (void)state;
  double r[CB_SHAPE_MAX];
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_TURN, .value = .1}, .apart = true};
  cb_direct *d = solved(&o, ring(1.8, 1.8, .3, -1), 8), *sharp;
  check_ok(cb_direct_sharpen(d, 32, &sharp));
  assert_non_null(sharp);
  check_relative(sharp->v->cost, .034983464790, 2e-11); /* as printed */
  check_corner(sharp, r);
  check_near(r[0], 2 * M_PI / 3, 1e-12);
  check_near(r[1], 2 * M_PI / 3, 1e-12);
  cb_direct_free(sharp), cb_direct_free(d);
  cb_bundle_free(b);
}

/* Tips of the first and the last of four links: the corner is a curve, on which the gait finds its place. */
static void a_corner_may_be_anywhere_on_an_edge(void **state) {
  (void)state;
  const double mean[3] = {1.6, 1.6, 1.6}, cosine[3] = {.05, 0, -.05}, sine[3] = {.1, -.2, .1};
  double r[CB_SHAPE_MAX];
  cb_gait *start;
  cb_bundle *b = model("purcell", "links 4");
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_TURN, .value = .1}, .apart = true};
  check_ok(cb_gait_fourier(3, 1, mean, cosine, sine, &start));
  cb_direct *d = solved(&o, start, 8), *sharp;
  check_ok(cb_direct_sharpen(d, 24, &sharp));
  assert_non_null(sharp);
  check_relative(sharp->v->cost, d->v->cost, 3e-3);
  check_corner(sharp, r);
  cb_direct_free(sharp), cb_direct_free(d);
  cb_bundle_free(b);
}

/* A bound is smooth, and without walls there is nothing. */
static void a_gait_without_corners_stays(void **state) {
  (void)state;
  const double lower[2] = {-.7, -.7}, upper[2] = {.7, .7};
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .03}, .lower = lower, .upper = upper, .apart = true};
  cb_direct *d = solved(&o, ring(0, 0, .5, 1), 8), *sharp;
  check_ok(cb_direct_sharpen(d, 24, &sharp));
  assert_null(sharp);
  cb_direct_free(d);
  cb_bundle_free(b);
}

/* The best of a search from one start, with its verdict. */
static cb_optima *found(cb_optimum_problem *o, cb_gait *start) {
  cb_optima *all;
  o->start = start;
  check_ok(cb_optimum_find(o, &all));
  assert_int_equal(all->item[0].index, 0);
  assert_int_equal(all->item[0].flat, 0);
  check_relative(all->item[0].wong, all->item[0].cost, 1e-10); /* Wong's equations on their own mesh */
  cb_gait_free(start);
  return all;
}

/* The extremal's arcs, with what is held constant there: nowhere beyond, and its cost that of shooting, as printed. */
static void bounds_are_met_exactly(void **state) {
  (void)state;
  const double lower[2] = {-.7, -.7}, upper[2] = {.7, .7};
  cb_bundle *b = model("purcell", "");
  cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .03}, .lower = lower, .upper = upper};
  cb_optima *all = found(&o, ring(0, 0, .5, 1));
  const cb_optimum *best = &all->item[0];
  double most = 0;
  check_relative(best->cost, .134475538116, 1e-11);
  check_near(hypot(best->lambda[0], best->lambda[1]), 4.33272289, 5e-8);
  for (int k = 0; k < 1000; k++) {
    double r[2];
    cb_gait_at(best->gait, k / 1000., r, NULL);
    most = fmax(most, fmax(fabs(r[0]), fabs(r[1])));
  }
  check_near(most, .7, 1e-9); /* polynomials between */
  cb_optima_free(all);
  cb_bundle_free(b);
}

static void tips_meet_exactly(void **state) {
  (void)state;
  cb_bundle *b = model("purcell", "");
  cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_TURN, .value = .1}, .apart = true};
  cb_optima *all = found(&o, ring(1.8, 1.8, .3, -1));
  check_relative(all->item[0].cost, .034983464790, 2e-11);
  cb_optima_free(all);
  cb_bundle_free(b);
}

static void what_no_cycle_does_is_said(void **state) {
  (void)state;
  const double lower[2] = {-.8, -.8}, upper[2] = {.8, .8};
  cb_bundle *b = model("purcell", "");
  cb_gait *start = ring(0, 0, .5, 1);
  const cb_optimum_problem o = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .05}, .lower = lower, .upper = upper, .start = start};
  cb_optima *all;
  assert_int_equal(cb_optimum_find(&o, &all), CB_STEP_NO_CONVERGENCE);
  assert_non_null(strstr(cb_error_text(), "a cycle does at most about 0.043"));
  cb_gait_free(start);
  cb_bundle_free(b);
}

static void what_is_no_wall_is_said(void **state) {
  (void)state;
  const double lower[2] = {1, 0}, upper[2] = {1, 0};
  cb_bundle *b = model("purcell", "");
  tree t = tree_of(
      "space: space\nspin: 1e-3\nshape: [a]\nlinks: [{length: 1}, {length: 1, angle: a, axis: [0, 1, 0]}, {length: 1, "
      "angle: a}]");
  cb_walls *w = NULL;
  cb_optimum_problem o = {.bundle = b, .lower = lower, .upper = upper};
  assert_int_equal(cb_walls_create(&o, &w), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "alpha1: 1 to 1 leave no room"));
  o = (cb_optimum_problem){.bundle = t.b, .apart = true};
  assert_int_equal(cb_walls_create(&o, &w), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "in space, where lines pass one another"));
  o = (cb_optimum_problem){.bundle = b};
  check_ok(cb_walls_create(&o, &w));
  assert_null(w);
  tree_free(&t);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(three_equal_links_cross_beyond_two_lines),
                                     cmocka_unit_test(hinged_links_are_no_wall),
                                     cmocka_unit_test(soft_walls_are_within),
                                     cmocka_unit_test(walls_have_their_slopes),
                                     cmocka_unit_test(terms_have_their_slopes),
                                     cmocka_unit_test(barriers_have_their_slopes),
                                     cmocka_unit_test(a_gait_keeps_to_its_bounds),
                                     cmocka_unit_test(a_target_beyond_the_bounds_is_told_their_most),
                                     cmocka_unit_test(walls_that_are_not_met_do_not_count),
                                     cmocka_unit_test(links_touch_and_do_not_cross),
                                     cmocka_unit_test(a_gait_turns_about_a_corner),
                                     cmocka_unit_test(a_corner_may_be_anywhere_on_an_edge),
                                     cmocka_unit_test(a_gait_without_corners_stays),
                                     cmocka_unit_test(bounds_are_met_exactly),
                                     cmocka_unit_test(tips_meet_exactly),
                                     cmocka_unit_test(what_no_cycle_does_is_said),
                                     cmocka_unit_test(what_is_no_wall_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
