/* Tests of holonomy and reconstruction: orders, error tolerances, gaits composed of gaits, and body frames. g: holonomy
 * or reconstruction; r: shape; r0: shape at the start. */
#include "bundles.h"
#include "gaits.h"

/* The slope of log error against log step over two halvings is the order, for the path and for its cost. The path is
 * not periodic, because for smooth periodic paths Gauss's quadrature has every order. The errors of ten bundles are
 * summed, because one bundle may have a small coefficient by accident. */
static void plain_steps_have_their_order(void **state) {
  enum { STEPS = 3 };
  uint64_t seed = check_seed();
  const cb_group *G;
  cb_expression *r[2] = {expression("2*t*(1 - t)*(1 + t^2)"), expression("1.5*t*(1 - t)*cos(3*t)")};
  cb_gait *gait;
  check_ok(cb_gait_expressions(2, (const cb_expression *const *)r, 0, NULL, &gait));
  for (int k = 0; (G = test_group(k)); k++)
    for (int order = 4; order <= 6; order += 2) {
      double error[STEPS] = {0}, off[STEPS] = {0};
      for (int trial = 0; trial < 10; trial++) {
        random_bundle p, moved;
        double exact[CB_GROUP_SIZE], g[CB_GROUP_SIZE], cost, dear;
        random_bundles(&seed, G, 2, .5, &p, &moved);
        check_ok(cb_holonomy(&p.b, gait, 0, exact, NULL, &cost));
        for (int s = 0; s < STEPS; s++) {
          const cb_holonomy_options plain = {.order = order, .step = ldexp(1. / 12, -s)};
          check_ok(cb_holonomy_by(&p.b, gait, &plain, g, NULL, &dear));
          error[s] += test_distance(G, exact, g);
          off[s] += fabs(dear - cost);
        }
      }
      check_near(log2(error[0] / error[STEPS - 1]) / (STEPS - 1), order, .4);
      check_near(log2(off[0] / off[STEPS - 1]) / (STEPS - 1), order, .4);
    }
  cb_gait_free(gait);
  cb_expression_free(r[0]);
  cb_expression_free(r[1]);
}

static void both_orders_keep_an_error_and_agree(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  for (int k = 0; (G = test_group(k)); k++) {
    random_bundle p, moved;
    double g[2][CB_GROUP_SIZE], length[2], cost[2];
    random_bundles(&seed, G, 2, .5, &p, &moved);
    cb_gait *gait = random_fourier(&seed, 2, .5);
    for (int i = 0; i < 2; i++) {
      const cb_holonomy_options o = {.order = 4 + 2 * i, .error = 1e-9, .step = i ? .2 : 0};
      check_ok(cb_holonomy_by(&p.b, gait, &o, g[i], &length[i], &cost[i]));
    }
    check_at_most(test_distance(G, g[0], g[1]), 2e-9);
    check_near(length[0], length[1], 2e-9);
    check_near(cost[0], cost[1], 2e-9);
    cb_gait_free(gait);
  }
}

static void the_error_asked_for_is_kept(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  for (int k = 0; (G = test_group(k)); k++) {
    random_bundle p, moved;
    double exact[CB_GROUP_SIZE], g[CB_GROUP_SIZE], length, cost, l, c;
    random_bundles(&seed, G, 2, .5, &p, &moved);
    cb_gait *gait = random_fourier(&seed, 2, .5);
    check_ok(cb_holonomy(&p.b, gait, 0, exact, &length, &cost));
    for (double error = 1e-4; error > 1e-12; error /= 10) {
      check_ok(cb_holonomy(&p.b, gait, error, g, &l, &c));
      check_at_most(test_distance(G, exact, g), error + 1e-13);
      check_near(l, length, error + 1e-13);
      check_near(c, cost, error + 1e-13 * cost);
    }
    cb_gait_free(gait);
  }
}

static void a_gait_backwards_gives_the_inverse(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  const double origin[3] = {.1, -.2, .3};
  for (int k = 0; (G = test_group(k)); k++)
    for (int kind = 0; kind < 3; kind++) {
      random_bundle p, moved;
      double g[CB_GROUP_SIZE], back[CB_GROUP_SIZE], r[12], time[4] = {.1, .3, .5, .8};
      cb_gait *gait = NULL, *reversed;
      random_bundles(&seed, G, 3, .4, &p, &moved);
      for (int i = 0; i < 12; i++) r[i] = check_uniform(&seed, -.5, .5);
      if (kind == 0) gait = random_fourier(&seed, 3, .4);
      if (kind == 1) gait = random_polygon(&seed, 3, 5, origin, .5);
      if (kind == 2) check_ok(cb_gait_spline(3, 4, time, r, &gait));
      check_ok(cb_gait_reversed(gait, &reversed));
      check_ok(cb_holonomy(&p.b, gait, 0, g, NULL, NULL));
      check_ok(cb_holonomy(&p.b, reversed, 0, back, NULL, NULL));
      G->inverse(G, back, back);
      check_at_most(test_distance(G, g, back), 1e-12);
      cb_gait_free(gait);
      cb_gait_free(reversed);
    }
}

static void two_gaits_in_a_row_multiply(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  for (int k = 0; (G = test_group(k)); k++) {
    random_bundle p, moved;
    double r[14], one[CB_GROUP_SIZE], two[CB_GROUP_SIZE], both[CB_GROUP_SIZE], length[3], cost[3];
    cb_gait *first, *second, *joined;
    random_bundles(&seed, G, 2, .5, &p, &moved);
    for (int i = 0; i < 14; i++) r[i] = check_uniform(&seed, -.6, .6);
    r[6] = r[0];
    r[7] = r[1];
    check_ok(cb_gait_polygon(2, 3, r, &first));
    check_ok(cb_gait_spline(2, 4, NULL, r + 6, &second));
    check_ok(cb_gait_sequence(2, (const cb_gait *const[]){first, second}, &joined));
    check_ok(cb_holonomy(&p.b, first, 0, one, &length[0], &cost[0]));
    check_ok(cb_holonomy(&p.b, second, 0, two, &length[1], &cost[1]));
    check_ok(cb_holonomy(&p.b, joined, 0, both, &length[2], &cost[2]));
    G->multiply(G, one, two, one);
    check_at_most(test_distance(G, one, both), 1e-12);
    check_near(length[2], length[0] + length[1], 1e-12 * length[2]);
    check_near(cost[2], 2 * (cost[0] + cost[1]), 1e-11 * cost[2]); /* in the sequence each gait takes half the time */
    cb_gait_free(first);
    cb_gait_free(second);
    cb_gait_free(joined);
    check_ok(cb_gait_polygon(2, 7, r, &joined)); /* a figure of eight as one gait */
    check_ok(cb_gait_polygon(2, 3, r, &first));
    check_ok(cb_gait_polygon(2, 4, r + 6, &second));
    check_ok(cb_holonomy(&p.b, first, 0, one, NULL, NULL));
    check_ok(cb_holonomy(&p.b, second, 0, two, NULL, NULL));
    check_ok(cb_holonomy(&p.b, joined, 0, both, NULL, NULL));
    G->multiply(G, one, two, one);
    check_at_most(test_distance(G, one, both), 1e-12);
    cb_gait_free(first);
    cb_gait_free(second);
    cb_gait_free(joined);
  }
}

/* If a gait begins at time s, its holonomy is g(s)^-1 g g(s), where g is the holonomy from time 0 and g(s) is the
 * reconstruction up to s. */
static void another_start_conjugates_the_holonomy(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  const double origin[2] = {.2, .1}, start = .37;
  for (int k = 0; (G = test_group(k)); k++) {
    random_bundle p, moved;
    double g[CB_GROUP_SIZE], late[CB_GROUP_SIZE], way[CB_GROUP_SIZE], length[2];
    cb_gait *shifted;
    random_bundles(&seed, G, 2, .4, &p, &moved);
    cb_gait *gait = random_polygon(&seed, 2, 5, origin, .6);
    check_ok(cb_gait_shifted(gait, start, &shifted));
    check_ok(cb_holonomy(&p.b, gait, 0, g, &length[0], NULL));
    check_ok(cb_holonomy(&p.b, shifted, 0, late, &length[1], NULL));
    check_ok(cb_reconstruct(&p.b, gait, 0, 1, &start, way));
    cb_group_conjugate(G, way, late, late);
    check_at_most(test_distance(G, g, late), 1e-12);
    check_near(length[0], length[1], 1e-12);
    cb_gait_free(gait);
    cb_gait_free(shifted);
  }
}

static void another_pace_changes_neither_holonomy_nor_length(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  const double origin[2] = {.1, .2};
  cb_expression *pace = expression("t + .1*sin(2*pi*t) + .01*(1 - cos(4*pi*t))");
  for (int k = 0; (G = test_group(k)); k++)
    for (int kind = 0; kind < 2; kind++) {
      random_bundle p, moved;
      double g[CB_GROUP_SIZE], h[CB_GROUP_SIZE], length, other, cost, dearer;
      random_bundles(&seed, G, 2, .5, &p, &moved);
      cb_gait *even = kind ? random_polygon(&seed, 2, 4, origin, .6) : circle(.1, .2, .5), *uneven;
      check_ok(cb_gait_paced(even, pace, &uneven));
      check_ok(cb_holonomy(&p.b, even, 0, g, &length, &cost));
      check_ok(cb_holonomy(&p.b, uneven, 0, h, &other, &dearer));
      check_at_most(test_distance(G, g, h), 1e-11);
      check_near(other, length, 1e-11);
      if (!kind) check_at_least(dearer, 1.01 * cost);
      check_at_least(cost, length * length * (1 - 1e-12));
      cb_gait_free(even);
      cb_gait_free(uneven);
    }
  cb_expression_free(pace);
}

/* h(r) is the body frame of the second bundle in the body frame of the first one. The second bundle reconstructs g' =
 * h(r0)^-1 g h(r). So both bundles give the second frame the same position in space, g h(r) = h(r0) g'. */
static void another_body_frame_conjugates_the_holonomy_and_moves_nothing(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  const double t[3] = {.3, .9, 1.6};
  for (int k = 0; (G = test_group(k)); k++) {
    random_bundle p, moved;
    double g[CB_GROUP_SIZE], other[CB_GROUP_SIZE], h[CB_GROUP_SIZE], there[CB_GROUP_SIZE], hdh[TEST_ENTRIES], r[3];
    double length, same, path[3 * CB_GROUP_SIZE], again[3 * CB_GROUP_SIZE];
    random_bundles(&seed, G, 3, .3, &p, &moved);
    cb_gait *gait = random_fourier(&seed, 3, .4);
    check_ok(cb_holonomy(&p.b, gait, 0, g, &length, NULL));
    check_ok(cb_holonomy(&moved.b, gait, 0, other, &same, NULL));
    cb_gait_at(gait, 0, r, NULL);
    test_frame(&p, r, h, hdh);
    cb_group_conjugate(G, h, other, other); /* h(r0) g' h(r0)^-1 */
    check_at_most(test_distance(G, g, other), 1e-11);
    check_near(same, length, 1e-12);
    check_ok(cb_reconstruct(&p.b, gait, 0, 3, t, path));
    check_ok(cb_reconstruct(&moved.b, gait, 0, 3, t, again));
    for (int row = 0; row < 3; row++) {
      cb_gait_at(gait, t[row], r, NULL);
      test_frame(&p, r, there, hdh);
      G->multiply(G, path + row * G->size, there, there);
      G->multiply(G, h, again + row * G->size, other);
      check_at_most(test_distance(G, there, other), 1e-11);
    }
    cb_gait_free(gait);
  }
}

static void the_path_ends_in_powers_of_the_holonomy(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  const double origin[2] = {.2, .1}, t[5] = {0, .37, 1, 1.37, 3};
  for (int k = 0; (G = test_group(k)); k++)
    for (int kind = 0; kind < 2; kind++) {
      random_bundle p, moved;
      double g[CB_GROUP_SIZE], path[5 * CB_GROUP_SIZE], w[CB_GROUP_SIZE];
      random_bundles(&seed, G, 2, .3, &p, &moved);
      cb_gait *gait = kind ? random_polygon(&seed, 2, 4, origin, .6) : random_fourier(&seed, 2, .3);
      check_ok(cb_holonomy(&p.b, gait, 0, g, NULL, NULL));
      check_ok(cb_reconstruct(&p.b, gait, 0, 5, t, path));
      G->identity(G, w);
      check_at_most(test_distance(G, w, path), 0);
      check_at_most(test_distance(G, g, path + 2 * G->size), 1e-11);
      G->multiply(G, g, path + G->size, w);
      check_at_most(test_distance(G, w, path + 3 * G->size), 1e-11);
      G->multiply(G, g, g, w);
      G->multiply(G, w, g, w);
      check_at_most(test_distance(G, w, path + 4 * G->size), 1e-11); /* boosts magnify round-off */
      cb_gait_free(gait);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_steps_have_their_order),
      cmocka_unit_test(both_orders_keep_an_error_and_agree),
      cmocka_unit_test(the_error_asked_for_is_kept),
      cmocka_unit_test(a_gait_backwards_gives_the_inverse),
      cmocka_unit_test(two_gaits_in_a_row_multiply),
      cmocka_unit_test(another_start_conjugates_the_holonomy),
      cmocka_unit_test(another_pace_changes_neither_holonomy_nor_length),
      cmocka_unit_test(another_body_frame_conjugates_the_holonomy_and_moves_nothing),
      cmocka_unit_test(the_path_ends_in_powers_of_the_holonomy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
