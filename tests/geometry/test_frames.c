/* Tests of moving frames: their plots and momenta in the world, and distances between them. */
#include "casimirs.h"
#include "check_origins.h"

static void world_plots(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < 50; trial++) {
    cb_origin o;
    cb_isometry m;
    double x[K], v[K], y[K], u[K], plot[3], rate[3], expected[3], expected_rate[3];
    random_origin(g, state, 0.8, &o, &m);
    check_random_point(g, state, radius(g), x);
    check_random_tangent(g, state, x, 1, v);
    cb_isometry_point(g, &m, x, y);
    cb_isometry_vector(g, &m, v, u);
    cb_plot_coordinates(g, y, u, expected, expected_rate);
    cb_origin_plot(g, &o, x, v, plot, rate);
    check_at_most(check_distance_max(3, plot, expected), 1e-11);
    check_at_most(check_distance_max(3, rate, expected_rate), 1e-11);
    cb_origin_world_point(g, &o, x, u);
    check_at_most(check_distance_max(g->embedding, u, y), 1e-11);
  }
}

static void plots_of_frames_are_those_of_the_world(void **s) {
  uint64_t state = check_seed();
  for (int i = 0; i < SPACES; i++) {
    cb_space *g = space(i);
    world_plots(g, &state);
    cb_space_free(g);
  }
  check_map map;
  cb_space *g;
  check_ok(cb_space_create("h2", check_map_fill(&map, "plot", "poincare", NULL, NULL), &g));
  world_plots(g, &state);
  cb_space_free(g);
}

static void plots_stay_in_the_ball_at_any_length(void **s) {
  uint64_t state = check_seed();
  cb_space *g = space(0);
  for (int trial = 0; trial < 500; trial++) {
    cb_origin o, step;
    cb_isometry m;
    double x[K], v[K], plot[3], rate[3];
    random_origin(g, &state, 0.8, &o, &m);
    check_ok(cb_origin_flow(g, trial % 3, pow(10, check_uniform(&state, 0, 5)), &step));
    cb_origin_compose(g, &step, &o, &o);
    check_random_point(g, &state, 1, x);
    check_random_tangent(g, &state, x, 1, v);
    cb_origin_plot(g, &o, x, v, plot, rate);
    check_at_most(hypot(hypot(plot[0], plot[1]), plot[2]), 1 + 1e-15);
    /* The speed in the plot is |rate| = |v| (1 - |plot|^2)/2. The distance of the point from the base point of the
     * world differs from o.length by a bounded number, which gives the two bounds. */
    double speed = hypot(hypot(rate[0], rate[1]), rate[2]);
    check_at_most(speed, 2 * sqrt(cb_inner(g, v, v)) * exp(1.5 - o.length + 2));
    if (o.length < 300) check_at_least(speed, 0.5 * sqrt(cb_inner(g, v, v)) * exp(-o.length - 3.5));
  }
  cb_space_free(g);
}

static void momenta(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < 50; trial++) {
    cb_origin o;
    cb_isometry m;
    double x[K], p[K], y[K], u[K], local[CB_KILLING_MAX] = {0}, world[CB_KILLING_MAX], expected[CB_KILLING_MAX] = {0};
    random_origin(g, state, 0.8, &o, &m);
    check_random_point(g, state, radius(g), x);
    check_random_tangent(g, state, x, 1, p);
    cb_isometry_point(g, &m, x, y);
    cb_isometry_vector(g, &m, p, u);
    cb_killing_momentum_add(g, x, p, local);
    cb_killing_momentum_add(g, y, u, expected);
    cb_origin_killing(g, &o, local, world);
    double scale = g->factor[0].curvature ? exp(o.length / radius(g)) : 1 + o.length;
    check_at_most(check_distance_max(g->n_killing, world, expected), 1e-13 * scale);
    check_killing_sizes(g, &o, x, y);
    double c[2], cw[2];
    killing_casimirs(g, local, c);
    killing_casimirs(g, world, cw);
    check_near(cw[0], c[0], 1e-13 * scale * scale);
    check_near(cw[1], c[1], 1e-13 * scale * scale);
    /* The invariants of one particle are the square of its momentum and 0. */
    check_near(c[0], cb_inner(g, p, p), 1e-13);
    check_near(c[1], 0, 1e-13);
  }
}

static void killing_momenta_go_to_the_world(void **s) {
  uint64_t state = check_seed();
  for (int i = 0; i < SPACES; i++) {
    cb_space *g = space(i);
    momenta(g, &state);
    cb_space_free(g);
  }
}

/* If a particle moves along the axis of boost_x, its momenta of all Killing fields except boost_x are 0, at any
 * distance. Near the axis, the Killing fields whose flows map the axis to itself have the same sizes as near the base
 * point. */
static void momentum_of_a_flight_along_an_axis_stays_pure(void **s) {
  cb_space *g = space(0);
  double local[6] = {1.7, 0, 0, 0, 0, 0}, world[6], size[6], x[K] = {0, 0.75, 0, 1.25};
  cb_origin o;
  check_ok(cb_origin_flow(g, 0, 5000, &o));
  cb_origin_killing(g, &o, local, world);
  check_at_most(check_distance_max(6, world, local), 0);
  check_ok(cb_origin_killing_sizes(g, &o, x, size));
  assert_true(size[0] == 1.25 && size[3] == 0.75); /* at x, boost_x has the length w = 1.25 and rotation_x the length y
                                                    * = 0.75 */
  for (int i = 0; i < 6; i++) assert_true(i == 0 || i == 3 || size[i] == INFINITY);
  cb_space_free(g);
}

/* --- distances between frames --- */

static void frames_measure_as_the_world_does(void **s) {
  uint64_t state = check_seed();
  double worst = 0, worst_gradient = 0, worst_hessian = 0;
  for (int i = 0; i < SPACES; i++) {
    cb_space *g = space(i);
    int k = g->embedding, n = 2 * k;
    for (int trial = 0; trial < 100; trial++) {
      cb_origin a, b;
      cb_isometry ma, mb;
      cb_frames frames;
      double z[2 * K], wx[K], wy[K], d, gradient[2 * K], hessian[4 * K * K];
      random_origin(g, &state, trial % 2 ? 0.3 : 0.9, &a, &ma);
      random_origin(g, &state, trial % 2 ? 0.3 : 0.9, &b, &mb);
      check_random_point(g, &state, radius(g), z);
      check_random_point(g, &state, radius(g), z + k);
      cb_isometry_point(g, &ma, z, wx);
      cb_isometry_point(g, &mb, z + k, wy);
      cb_frames_make(g, &a, &b, &frames);
      check_ok(cb_frames_distance(g, &frames, z, z + k, &d, gradient, hessian));
      double size = wx[k - 1] * wx[k - 1] + wy[k - 1] * wy[k - 1]; /* the factor by which round-off of world coordinates
                                                                    * affects their distance */
      worst = fmax(worst, fabs(d - cb_distance(g, wx, wy)) / (1 + size));
      for (int c = 0; c < n; c++) {
        double side[2], dside[2][2 * K], h = 1e-5, at = z[c];
        if (d < 0.3) continue;
        for (int e = 0; e < 2; e++) {
          z[c] = at + (e ? h : -h);
          check_ok(cb_frames_distance(g, &frames, z, z + k, &side[e], dside[e], NULL));
        }
        z[c] = at;
        if (!frames.far) { /* for far pairs the library computes derivatives along the quadric only */
          worst_gradient = fmax(worst_gradient, fabs(gradient[c] - (side[1] - side[0]) / (2 * h)));
          for (int e = 0; e < n; e++)
            worst_hessian = fmax(worst_hessian, fabs(hessian[e * n + c] - (dside[1][e] - dside[0][e]) / (2 * h)));
        }
      }
      /* Along geodesics with velocities v: d' = gradient.v and d'' = v.hessian.v + gradient.x'', where x'' is the
       * second derivative of the geodesic. */
      double v[2 * K], ends[2], h = 1e-3, slope = 0, second = 0, moved[2 * K], half[2 * K];
      check_random_tangent(g, &state, z, 1, v);
      check_random_tangent(g, &state, z + k, 1, v + k);
      for (int e = 0; e < 2; e++) {
        for (int c = 0; c < n; c++) half[c] = (e ? h : -h) * v[c];
        cb_exp(g, z, half, moved, NULL);
        cb_exp(g, z + k, half + k, moved + k, NULL);
        check_ok(cb_frames_distance(g, &frames, moved, moved + k, &ends[e], NULL, NULL));
      }
      /* On geodesics x'' = -K <x', x'> x in curvature K. */
      double speed[2] = {cb_inner(g, v, v), cb_inner(g, v + k, v + k)};
      for (int c = 0; c < n; c++) {
        slope += gradient[c] * v[c];
        second -= gradient[c] * g->factor[0].curvature * speed[c >= k] * z[c];
        for (int e = 0; e < n; e++) second += v[c] * hessian[c * n + e] * v[e];
      }
      if (d < 0.5) continue;
      worst_gradient = fmax(worst_gradient, 1e-3 * fabs(slope - (ends[1] - ends[0]) / (2 * h)));
      worst_hessian = fmax(worst_hessian, 1e-3 * fabs(second - (ends[1] - 2 * d + ends[0]) / (h * h)));
    }
    cb_space_free(g);
  }
  print_message("frames: distance %.1e, gradient %.1e, Hessian %.1e\n", worst, worst_gradient, worst_hessian);
  check_at_most(worst, 1e-14);
  check_at_most(worst_gradient, 1e-7);
  check_at_most(worst_hessian, 1e-6);
}

/* Two frames are at the distance L along a geodesic. Two points are at the distances p and q from this geodesic, on the
 * same side. Their distance d satisfies cosh d = cosh p cosh q cosh L - sinh p sinh q. */
static void pairs_far_apart_have_the_right_distance(void **s) {
  cb_space *g = space(0);
  static const double lengths[] = {0.3, 1, 3, 10, 30, 100, 300, 1000, 1e5};
  const double p = 0.7, q = 0.4;
  double x[K] = {0, sinh(p), 0, cosh(p)}, y[K] = {0, sinh(q), 0, cosh(q)}, d;
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    double L = lengths[i];
    cb_origin a, b, common, turn;
    cb_frames frames;
    /* Each frame is placed separately, at L/2 from the origin of the world. */
    check_ok(cb_origin_flow(g, 0, -L / 2, &a));
    check_ok(cb_origin_flow(g, 0, L / 2, &b));
    check_ok(cb_origin_flow(g, 4, 0.9, &turn));
    check_ok(cb_origin_flow(g, 3, 0.3, &common));
    cb_origin_compose(g, &common, &turn, &common);
    cb_origin_compose(g, &common, &a, &a);
    cb_origin_compose(g, &common, &b, &b);
    cb_frames_make(g, &a, &b, &frames);
    check_ok(cb_frames_distance(g, &frames, x, y, &d, NULL, NULL));
    double E = exp(-L), u = (cosh(p) * cosh(q) * (1 + E * E) - 2 * E * sinh(p) * sinh(q)) / 2;
    double expected = L < 20 ? acosh(u / E) : L + log(2 * u);
    check_near(d, expected, 2e-15 * (2 + L));
  }
  cb_space_free(g);
}

static void anchors(const cb_space *g, uint64_t *state) {
  int k = g->embedding;
  for (int trial = 0; trial < 50; trial++) {
    cb_origin o;
    cb_isometry m;
    cb_anchor anchor;
    double x[K], c[K], w[K], d, gradient[K], hessian[K * K], alone;
    random_origin(g, state, trial % 2 ? 0.2 : 0.9, &o, &m);
    check_random_point(g, state, radius(g), x);
    check_random_point(g, state, radius(g), c);
    cb_anchor_make(g, &o, c, &anchor);
    check_ok(cb_anchor_distance(g, &anchor, x, &d, gradient, hessian));
    check_ok(cb_anchor_distance(g, &anchor, x, &alone, NULL, NULL));
    check_near(alone, d, 1e-14 * (1 + d));
    cb_origin_world_point(g, &o, x, w);
    check_near(d, cb_distance(g, w, c), 1e-14 * (1 + w[k - 1] * w[k - 1]));
    /* The gradient of d along the space has length 1. Its index is raised, and its normal part is removed. */
    double n[K];
    for (int a = 0; a < k; a++) n[a] = g->form[a] * gradient[a];
    cb_space_project_tangent(g, x, n);
    for (int a = 0; a < k; a++) n[a] = g->form[a] * gradient[a];
    double normal = cb_inner(g, n, x) * g->factor[0].curvature;
    for (int a = 0; a < k; a++) n[a] -= normal * x[a];
    check_near(cb_inner(g, n, n), 1, 1e-11);
    check_near(hessian[1], hessian[k], 1e-13 * (1 + fabs(hessian[1])));
    /* If the origin is the identity, the coordinates of the centre do not change. */
    cb_origin_identity(g, &o);
    cb_anchor_make(g, &o, c, &anchor);
    check_at_most(check_distance_max(k, anchor.x, c), 0);
  }
}

static void anchors_measure_as_the_world_does(void **s) {
  uint64_t state = check_seed();
  for (int i = 0; i < SPACES; i++) {
    cb_space *g = space(i);
    anchors(g, &state);
    cb_space_free(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plots_of_frames_are_those_of_the_world),
      cmocka_unit_test(plots_stay_in_the_ball_at_any_length),
      cmocka_unit_test(killing_momenta_go_to_the_world),
      cmocka_unit_test(momentum_of_a_flight_along_an_axis_stays_pure),
      cmocka_unit_test(frames_measure_as_the_world_does),
      cmocka_unit_test(pairs_far_apart_have_the_right_distance),
      cmocka_unit_test(anchors_measure_as_the_world_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
