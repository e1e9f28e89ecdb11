/* Tests of moving origins: the group that they form, and the effect of a change of frame on points. */
#include "check_origins.h"

static void origins_compose_as_isometries_do(void **s) {
  uint64_t state = check_seed();
  double worst = 0;
  for (int i = 0; i < SPACES; i++) {
    cb_space *g = space(i);
    for (int trial = 0; trial < 200; trial++) {
      cb_origin a, b, ab, inverse, one;
      cb_isometry ma, mb, mab, m;
      random_origin(g, &state, 0.8, &a, &ma);
      random_origin(g, &state, trial % 2 ? 0.8 : 1e-6, &b, &mb);
      cb_origin_compose(g, &a, &b, &ab);
      cb_isometry_compose(g, &ma, &mb, &mab);
      cb_origin_isometry(g, &ab, &m);
      double scale = g->factor[0].curvature ? exp(ab.length / radius(g)) : 1 + ab.length;
      worst = fmax(worst, isometry_difference(g, &m, &mab) / scale);
      cb_origin_inverse(g, &ab, &inverse);
      cb_origin_compose(g, &inverse, &ab, &one);
      check_at_most(one.length, 1e-12 * radius(g)); /* round-off times cosh of up to 5 */
      cb_origin_relative(g, &a, &ab, &one);
      check_near(one.length, b.length, 1e-12 * radius(g));
      cb_origin_relative(g, &a, &a, &one);
      check_at_most(one.length, 0);
    }
    cb_space_free(g);
  }
  print_message("origins against matrices: %.1e of exp(length)\n", worst);
  check_at_most(worst, 1e-14);
}

static void compositions_are_associative_at_any_length(void **s) {
  uint64_t state = check_seed();
  cb_space *g = space(0);
  double worst = 0, worst_direction = 0, worst_rotation = 0;
  for (int trial = 0; trial < 2000; trial++) {
    cb_origin a, b, c, left, right, step, ab, bc;
    cb_isometry unused;
    random_origin(g, &state, 0.8, &a, &unused);
    random_origin(g, &state, 0.8, &b, &unused);
    random_origin(g, &state, 0.8, &c, &unused);
    double far = pow(10, check_uniform(&state, -6, 5));
    check_ok(cb_origin_flow(g, trial % 3, far, &step));
    cb_origin_compose(g, &step, &a, &a);
    cb_origin_compose(g, &a, &b, &ab);
    cb_origin_compose(g, &ab, &c, &left);
    cb_origin_compose(g, &b, &c, &bc);
    cb_origin_compose(g, &a, &bc, &right);
    worst = fmax(worst, fabs(left.length - right.length) / fmax(1, right.length));
    /* At small lengths the direction is less accurate, so its error is multiplied by the length. */
    worst_direction =
        fmax(worst_direction, fmin(1, right.length) * check_distance_max(3, left.direction, right.direction));
    worst_rotation = fmax(worst_rotation, fmin(1, right.length) * check_distance_max(9, left.rotation, right.rotation));
  }
  print_message("associativity: length %.1e, direction %.1e, rotation %.1e\n", worst, worst_direction, worst_rotation);
  check_at_most(worst, 5e-15);
  check_at_most(worst_direction, 2e-14);
  check_at_most(worst_rotation, 2e-14);
  cb_space_free(g);
}

static void a_straight_way_adds_lengths_up_to_1e5(void **s) {
  cb_space *g = space(0);
  double base[K], y[K], v[K] = {0.6, 0.8, 0, 0};
  cb_origin o;
  cb_recentring change;
  cb_space_base_point(g, base);
  cb_exp(g, base, v, y, NULL);
  cb_origin_identity(g, &o);
  for (int i = 1; i <= 100000; i++) {
    cb_origin_shift(g, &o, y, &change);
    if (i == 1 || i == 10 || i == 1000 || i == 100000) {
      check_near(o.length, i, 1e-14 * i);
      check_near(o.direction[0], 0.6, 2e-16);
      check_near(o.rotation[0], 1, 1e-12);
    }
  }
  for (int a = 0; a < 3; a++) y[a] = -y[a];
  for (int i = 0; i < 100000; i++) cb_origin_shift(g, &o, y, &change);
  /* The length is at most 1e5, and its round-off after 1e5 steps about sqrt(1e5) ulp(1e5) = 5e-9. */
  check_at_most(o.length, 1e-7);
  cb_space_free(g);
}

static void shifts_leave_the_world_where_it_was(void **s) {
  uint64_t state = check_seed();
  for (int i = 0; i < SPACES; i++) {
    cb_space *g = space(i);
    for (int trial = 0; trial < 50; trial++) {
      cb_origin o;
      cb_isometry m, change;
      double x[K], p[K], y[K], before[K], after[K], moved[K], low[K] = {0}, p_low[K] = {0}, v[2][K];
      random_origin(g, &state, 0.5, &o, &m);
      check_random_point(g, &state, radius(g), x);
      check_random_point(g, &state, radius(g), y);
      check_random_tangent(g, &state, x, 1, p);
      cb_origin_world_point(g, &o, x, before);
      cb_origin_world_vector(g, &o, p, v[0]);
      memcpy(moved, x, sizeof moved);
      check_ok(cb_origin_recentre(g, &o, y, &(cb_local_points){1, moved, low, p, p_low}, &change));
      cb_origin_world_point(g, &o, moved, after);
      cb_origin_world_vector(g, &o, p, v[1]);
      check_at_most(check_distance_max(g->embedding, before, after), 1e-12);
      check_at_most(check_distance_max(g->embedding, v[0], v[1]), 1e-12);
      cb_isometry_point(g, &change, x, after);
      check_at_most(check_distance_max(g->embedding, after, moved), 1e-15 * 30);
      cb_space_base_point(g, before);
      cb_isometry_point(g, &change, y, after);
      check_at_most(check_distance_max(g->embedding, before, after), 1e-14);
    }
    cb_space_free(g);
  }
}

/* Returns <u, v> in double-double arithmetic; u_low and v_low are the low parts. */
static cb_dd dd_inner(const cb_space *g, const double *u, const double *u_low, const double *v, const double *v_low) {
  cb_dd sum = {0, 0};
  for (int a = 0; a < g->embedding; a++) {
    cb_dd product = cb_dd_mul((cb_dd){u[a], u_low[a]}, (cb_dd){v[a], v_low[a]});
    sum = g->form[a] < 0 ? cb_dd_sub(sum, product) : cb_dd_add(sum, product);
  }
  return sum;
}

static void recentring_1e5_times_costs_nothing(void **s) {
  uint64_t state = check_seed();
  for (int i = 0; i < SPACES; i++) {
    cb_space *g = space(i);
    int k = g->embedding;
    double x[2 * K], x_low[2 * K] = {0}, p[2 * K], p_low[2 * K] = {0}, y[K];
    check_random_point(g, &state, 0.5, x);
    check_random_point(g, &state, 0.5, x + k);
    check_random_tangent(g, &state, x, 1, p);
    check_random_tangent(g, &state, x + k, 1, p + k);
    double d = cb_distance(g, x, x + k);
    cb_dd xx = dd_inner(g, x, x_low, x, x_low), pp = dd_inner(g, p, p_low, p, p_low),
          xp = dd_inner(g, x, x_low, p, p_low);
    cb_origin o;
    cb_origin_identity(g, &o);
    /* If n is even, the origin moves to the first point. If n is odd, it moves to a random point at a distance of at
     * most radius(g). */
    for (int n = 0; n < (i ? 10000 : 100000); n++) {
      memcpy(y, x, sizeof y);
      if (n % 2) check_random_point(g, &state, radius(g), y);
      check_ok(cb_origin_recentre(g, &o, y, &(cb_local_points){2, x, x_low, p, p_low}, NULL));
    }
    double shell = fabs(cb_dd_double(cb_dd_sub(dd_inner(g, x, x_low, x, x_low), xx)) / xx.hi);
    double mass = fabs(cb_dd_double(cb_dd_sub(dd_inner(g, p, p_low, p, p_low), pp)) / pp.hi);
    double tangent = fabs(cb_dd_double(cb_dd_sub(dd_inner(g, x, x_low, p, p_low), xp)));
    double length = fabs(cb_distance(g, x, x + k) - d);
    bool flat = g->factor[0].curvature == 0;
    print_message("%s: distance %.1e, <p,p> %.1e, <x,x> %.1e, <x,p> %.1e\n", g->class_->name, length, mass,
                  flat ? 0 : shell, flat ? 0 : tangent);
    check_at_most(length, 1e-15); /* round-off of the coordinates, here and at the start */
    check_at_most(mass, 1e-26);   /* 1e5 changes, each of a few 2^-104 cosh(1)^2 */
    if (!flat) check_at_most(fmax(shell, tangent), 1e-26);
    cb_space_free(g);
  }
}

static void the_change_is_an_isometry_to_1e30(void **s) {
  uint64_t state = check_seed();
  for (int i = 0; i < SPACES; i++) {
    cb_space *g = space(i);
    if (g->factor[0].curvature == 0) {
      cb_space_free(g);
      continue;
    }
    for (int trial = 0; trial < 20; trial++) {
      double y[K];
      cb_origin o;
      cb_recentring c;
      cb_origin_identity(g, &o);
      check_random_point(g, &state, 2 * radius(g), y);
      cb_origin_shift(g, &o, y, &c);
      for (int a = 0; a < g->embedding; a++)
        for (int b = 0; b < g->embedding; b++) {
          cb_dd sum = cb_dd_of(a == b ? -g->form[a] : 0);
          for (int e = 0; e < g->embedding; e++) {
            cb_dd product = cb_dd_mul(c.m[e][a], c.m[e][b]);
            sum = g->form[e] < 0 ? cb_dd_sub(sum, product) : cb_dd_add(sum, product);
          }
          check_at_most(fabs(cb_dd_double(sum)), 1e-29); /* round-off: a few times cosh(2)^2 2^-104 */
        }
    }
    cb_space_free(g);
  }
}

/* In spaces whose origins do not move, every origin is the identity. */
static void spheres_static_charts_and_ih_have_no_moving_origins(void **s) {
  uint64_t state = check_seed();
  cb_space *g[3];
  check_map m;
  check_ok(cb_space_create("s3", NULL, &g[0]));
  check_ok(cb_space_create("ih", NULL, &g[1]));
  check_ok(cb_space_create("h3", check_map_fill(&m, "chart", "polar", NULL, NULL), &g[2]));
  for (int i = 0; i < 3; i++) {
    cb_origin o, flow;
    double x[K], y[K], v[K], z[K], low[K] = {0}, p[K], p_low[K] = {0}, plot[2][3], rate[2][3], d;
    assert_false(cb_origin_moves(g[i]));
    check_near(cb_origin_flow(g[i], 0, 1, &flow), CB_ERROR_UNSUPPORTED, 0);
    cb_origin_identity(g[i], &o);
    check_random_point(g[i], &state, 1, x);
    check_random_point(g[i], &state, 1, y);
    check_random_tangent(g[i], &state, x, 1, v);
    memcpy(z, x, sizeof z);
    memcpy(p, v, sizeof p);
    check_ok(cb_origin_recentre(g[i], &o, y, &(cb_local_points){1, z, low, p, p_low}, NULL));
    check_at_most(check_distance_max(g[i]->embedding, x, z) + o.length, 0);
    cb_origin_plot(g[i], &o, x, v, plot[0], rate[0]);
    cb_plot_coordinates(g[i], x, v, plot[1], rate[1]);
    check_at_most(check_distance_max(3, plot[0], plot[1]) + check_distance_max(3, rate[0], rate[1]), 0);
    cb_anchor anchor;
    cb_anchor_make(g[i], &o, y, &anchor);
    check_ok(cb_anchor_distance(g[i], &anchor, x, &d, NULL, NULL));
    check_near(d, cb_distance(g[i], x, y), 0);
    cb_space_free(g[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(origins_compose_as_isometries_do),
      cmocka_unit_test(compositions_are_associative_at_any_length),
      cmocka_unit_test(a_straight_way_adds_lengths_up_to_1e5),
      cmocka_unit_test(shifts_leave_the_world_where_it_was),
      cmocka_unit_test(recentring_1e5_times_costs_nothing),
      cmocka_unit_test(the_change_is_an_isometry_to_1e30),
      cmocka_unit_test(spheres_static_charts_and_ih_have_no_moving_origins),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
