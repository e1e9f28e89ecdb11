/* Tests of the search for motions of bodies with inertia that need the least squared torques or the least work. E is
 * the cost, T the duration, tau are the torques, and mu is the momentum. */
#include "gaits.h"
#include "optimum/direct.h"
#include "optimum/find.h"

static cb_bundle *bundle(const char *name) {
  cb_bundle *b;
  check_ok(cb_bundle_create(name, NULL, &b));
  return b;
}

/* Creates the falling cat of two equal discs of inertia 1 without arms. Its inertia M = 1/2 for the shape variable is
 * constant. */
static cb_bundle *discs(void) {
  cb_node key[2] = {{.kind = CB_NODE_SCALAR, .text = "arm_1"}, {.kind = CB_NODE_SCALAR, .text = "arm_2"}};
  cb_node value = {.kind = CB_NODE_SCALAR, .text = "0"}, *keys[2] = {&key[0], &key[1]}, *items[2] = {&value, &value};
  cb_node map = {.kind = CB_NODE_MAP, .count = 2};
  cb_bundle *b;
  map.keys = (void *)keys;
  map.items = (void *)items;
  check_ok(cb_bundle_create("falling_cat", &map, &b));
  return b;
}

static cb_optima *found(const cb_optimum_problem *p) {
  cb_optima *all;
  check_ok(cb_optimum_find(p, &all));
  return all;
}

/* If the inertia M is constant, the motion from rest to rest with the least squared torque is a cubic polynomial. Its
 * cost for the angle d is E = 12 M^2 d^2/T^3, and its largest torque is 6 M d/T^2, at both ends. */
static void the_cat_with_constant_inertia_moves_along_a_cubic(void **state) {
  cb_bundle *b = discs();
  const double from = .3, to = 1.5, T = 2, M = .5, d = to - from;
  const cb_optimum_problem p = {.bundle = b,
                                .target = {.kind = CB_GAIT_PARTS},
                                .objective = CB_OBJECTIVE_TORQUE,
                                .start_shape = &from,
                                .end_shape = &to,
                                .duration = T};
  cb_optima *all = found(&p);
  const cb_optimum *o = &all->item[0];
  /* the tolerance is the round-off of second derivatives */
  check_relative(o->cost, 12 * M * M * d * d / (T * T * T), 1e-11);
  assert_int_equal(o->index, 0);
  for (int k = 0; k <= 10; k++) { /* the gait reaches its end shape after half of its time */
    double r;
    const double s = k / 10.;
    cb_gait_at(o->gait, s / 2, &r, NULL);
    check_near(r, from + d * s * s * (3 - 2 * s), 1e-10);
  }
  check_near(o->work[0], 0, 1e-12); /* the motion is from rest to rest */
  /* The mechanical work is twice the largest kinetic energy. The tolerance is large because the integrand has
   * kinks. */
  check_near(o->mechanical, M * pow(1.5 * d / T, 2), 2e-3);
  cb_optima_free(all);
  cb_bundle_free(b);
}

/* The inertia M is constant, and the limit L of the torque is below 6 M d/T^2. For the least squared torque, the torque
 * is L until a time t_1, and then falls linearly to -L at T - t_1:
 *
 *   M d = L (T t_1 - t_1^2 + (2/3) (T/2 - t_1)^2),  E = 2 L^2 (t_1 + (T/2 - t_1)/3)
 * For the least work, the torque is L until t_1, then 0, and -L from T - t_1:
 *
 *   t_1 (T - t_1) = M d/L,  E = (L t_1)^2/M
 * A polynomial follows kinks and jumps of the torque only roughly. */
static void the_limited_cat_agrees_with_closed_forms(void **state) {
  cb_bundle *b = discs();
  const double from = 0, to = 1.2, T = 2, M = .5, d = to - from, L = .8 * 6 * M * d / (T * T);
  for (int work = 0; work < 2; work++) {
    const cb_optimum_problem p = {.bundle = b,
                                  .target = {.kind = CB_GAIT_PARTS},
                                  .objective = work ? CB_OBJECTIVE_WORK : CB_OBJECTIVE_TORQUE,
                                  .start_shape = &from,
                                  .end_shape = &to,
                                  .largest_torque = &L,
                                  .duration = T};
    double low = 0, high = T / 2;
    for (int k = 0; k < 60; k++) {
      const double t = (low + high) / 2, way = T * t - t * t + (work ? 0 : 2. / 3 * (T / 2 - t) * (T / 2 - t));
      *(L * way < M * d ? &low : &high) = t;
    }
    const double exact = work ? L * L * low * low / M : 2 * L * L * (low + (T / 2 - low) / 3);
    cb_optima *all = found(&p);
    const cb_optimum *o = &all->item[0];
    check_relative(o->cost, exact, work ? 1e-2 : 2e-4);
    check_at_least(o->cost, exact * (1 - 1e-6)); /* the exact motion has the least cost of all */
    check_at_most(o->largest[0], L);             /* the limit holds at the nodes */
    check_at_least(o->largest[0], .999 * L);
    cb_optima_free(all);
  }
  cb_bundle_free(b);
}

/* A body of constant inertia M must turn by the angle d in the time T, from rest to rest. If the limit of the torque is
 * below 4 M d/T^2, this is not possible. */
static void a_limit_that_cannot_be_kept_is_refused(void **state) {
  cb_bundle *b = discs();
  const double from = 0, to = 1.2, T = 2, L = .99 * 4 * .5 * 1.2 / (T * T);
  const cb_optimum_problem p = {.bundle = b,
                                .target = {.kind = CB_GAIT_PARTS},
                                .objective = CB_OBJECTIVE_TORQUE,
                                .start_shape = &from,
                                .end_shape = &to,
                                .largest_torque = &L,
                                .duration = T};
  cb_optima *all;
  check_error_begins(cb_optimum_find(&p, &all), CB_STEP_NO_CONVERGENCE,
                     "no gait was found that reaches the target: no motion within the torques was found");
  cb_bundle_free(b);
}

enum { SIZE = 5 };

/* Makes a search with random coefficients in arcs, with springs, a damper and wide limits of torques. In some problems
 * the body also has momentum. */
static cb_direct *random_search(const cb_optimum_problem *p, uint64_t *seed) {
  cb_direct *d;
  check_ok(cb_direct_create(p, SIZE, &d));
  for (int a = 0; a < d->v->unknowns; a++) d->c[a] = check_uniform(seed, -1, 1) / (1 + a % d->basis->functions);
  if (!d->effort->squared) d->effort->smooth = .3;
  d->effort->barrier = .1;
  check_ok(cb_variation_at(d->v, d->c, 1));
  d->effort->relaxed = 1.5 * d->effort->share;
  check_ok(cb_variation_at(d->v, d->c, 1));
  return d;
}

static const double shape[2] = {.4, -.3}, end[2] = {.1, .5}, limit[2] = {1, 2}, stiffness[2] = {.5, .2},
                    rest_value[2] = {.1, 0}, damping[2] = {.05, .1}, momentum[3] = {.4, -.2, .3};

static cb_optimum_problem problem(const cb_bundle *b, cb_objective objective, bool moving) {
  return (cb_optimum_problem){.bundle = b,
                              .target = {.kind = CB_GAIT_PARTS, .asked = {true}, .element = {.5}},
                              .objective = objective,
                              .start_shape = shape,
                              .end_shape = end,
                              .duration = 1.7,
                              .largest_torque = limit,
                              .stiffness = stiffness,
                              .rest = rest_value,
                              .damping = damping,
                              .momentum = moving ? momentum : NULL};
}

/* Compares derivatives with central differences of order 4: the gradient of E, and the derivative of y, where exp(y) g
 * is the holonomy near g. */
static void the_gradient_is_that_of_differences(void **state) {
  static const char *const names[] = {"floating_snake", "hopping_leg"};
  uint64_t seed = check_seed();
  for (int k = 0; k < 8; k++) {
    cb_bundle *b = bundle(names[k % 2]);
    const cb_optimum_problem p = problem(b, k / 2 % 2 ? CB_OBJECTIVE_WORK : CB_OBJECTIVE_TORQUE, k / 4);
    cb_direct *d = random_search(&p, &seed);
    const int u = d->v->unknowns, dim = d->v->dim;
    double *dcost = calloc((size_t)(u * (dim + 1)), sizeof *dcost), *dy = dcost + u, g[CB_GROUP_SIZE], largest = 0;
    memcpy(dcost, d->v->dcost, (size_t)u * sizeof *dcost);
    memcpy(dy, d->v->dy, (size_t)(u * dim) * sizeof *dy);
    memcpy(g, d->v->g, sizeof g);
    b->group->inverse(b->group, g, g);
    for (int a = 0; a < u; a++) largest = fmax(largest, fabs(dcost[a]));
    for (int a = 0; a < u; a += 3) {
      static const double weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12}, at[4] = {-2, -1, 1, 2};
      const double h = 1e-4;
      double slope = 0, turn[CB_GROUP_DIM] = {0}, y[CB_GROUP_DIM], off[CB_GROUP_SIZE];
      for (int s = 0; s < 4; s++) {
        memcpy(d->trial, d->c, (size_t)u * sizeof *d->c);
        d->trial[a] += at[s] * h;
        check_ok(cb_variation_at(d->v, d->trial, 0));
        slope += weight[s] * d->v->cost / h;
        b->group->multiply(b->group, d->v->g, g, off);
        check_ok(b->group->log(b->group, off, y));
        for (int e = 0; e < dim; e++) turn[e] += weight[s] * y[e] / h;
      }
      check_near(slope, dcost[a], 1e-8 * largest); /* the differences have errors of order h^4, and round-off */
      for (int e = 0; e < dim; e++) check_near(turn[e], dy[e * u + a], 1e-8);
    }
    free(dcost);
    cb_direct_free(d);
    cb_bundle_free(b);
  }
}

/* Computes the gradient of E/2 + <Lambda, y> + y^T W y/2 for W = 1, where exp(y) g_0 is the holonomy. The derivative of
 * y follows from log(exp(dy) exp(y)) = y + dy - [y, dy]/2 + .. */
static void gradient(const cb_direct *d, const double *Lambda, const double *g_0, double *out) {
  const cb_group *G = d->v->bundle->group;
  const int dim = d->v->dim, u = d->v->unknowns;
  double off[CB_GROUP_SIZE], y[CB_GROUP_DIM], turned[CB_GROUP_DIM], force[CB_GROUP_DIM];
  G->inverse(G, g_0, off);
  G->multiply(G, d->v->g, off, off);
  check_ok(G->log(G, off, y));
  for (int a = 0; a < dim; a++) force[a] = Lambda[a] + y[a];
  cb_group_ad_dual(G, y, force, turned);
  for (int p = 0; p < u; p++) {
    out[p] = d->v->dcost[p] / 2;
    for (int a = 0; a < dim; a++) out[p] += (force[a] - turned[a] / 2) * d->v->dy[a * u + p];
  }
}

/* Compares the Hessian with central differences of the gradient. The library computes the Hessian by second
 * differences, which have errors of about 1e-6. */
static void the_hessian_is_that_of_differences(void **state) {
  static const char *const names[] = {"floating_snake", "hopping_leg"};
  uint64_t seed = check_seed();
  for (int k = 0; k < 8; k++) {
    cb_bundle *b = bundle(names[k % 2]);
    const cb_optimum_problem p = problem(b, k / 2 % 2 ? CB_OBJECTIVE_WORK : CB_OBJECTIVE_TORQUE, k / 4);
    cb_direct *d = random_search(&p, &seed);
    const int u = d->v->unknowns, dim = d->v->dim;
    const double Lambda[CB_GROUP_DIM] = {.3, -.5, .2}, h = 2e-5;
    double *H = calloc((size_t)(u * (u + 2)), sizeof *H), *plus = H + u * u, *minus = plus + u, largest = 0,
           W[CB_GROUP_DIM * CB_GROUP_DIM] = {0}, g[CB_GROUP_SIZE];
    for (int a = 0; a < dim; a++) W[a * (dim + 1)] = 1;
    memcpy(g, d->v->g, sizeof g);
    check_ok(cb_variation_hessian(d->v, 1, Lambda, W, H));
    for (int a = 0; a < u * u; a++) largest = fmax(largest, fabs(H[a]));
    for (int a = 0; a < u; a += 2) {
      for (int side = -1; side <= 1; side += 2) {
        memcpy(d->trial, d->c, (size_t)u * sizeof *d->c);
        d->trial[a] += side * h;
        check_ok(cb_variation_at(d->v, d->trial, 1));
        gradient(d, Lambda, g, side > 0 ? plus : minus);
      }
      for (int i = 0; i < u; i++) check_near((plus[i] - minus[i]) / (2 * h), H[a * u + i], 1e-5 * largest);
    }
    free(H);
    cb_direct_free(d);
    cb_bundle_free(b);
  }
}

/* A floating snake turns by half a radian from rest to rest. The gait is a minimum, and polynomials of degrees 40, 52
 * and 64 agree: the error of the cost is about halved by every two degrees. */
static void the_snake_turns_at_the_same_cost_in_three_bases(void **state) {
  cb_bundle *b = bundle("floating_snake");
  const double at[2] = {0, 0};
  const cb_optimum_problem p = {.bundle = b,
                                .target = {.kind = CB_GAIT_PARTS, .asked = {[2] = true}, .element = {[2] = .5}},
                                .objective = CB_OBJECTIVE_TORQUE,
                                .start_shape = at,
                                .duration = 2,
                                .starts = 2,
                                .seed = 1};
  cb_optima *all = found(&p);
  double cost[2];
  for (int k = 0; k < 2; k++) {
    cb_direct *d;
    check_ok(cb_direct_create(&p, 20 + 6 * k, &d));
    check_ok(cb_direct_from(d, all->item[0].gait));
    check_ok(cb_direct_solve(d, 50));
    cost[k] = d->effort->cost;
    cb_direct_free(d);
  }
  check_relative(cost[0], cost[1], 2e-5);
  check_relative(all->item[0].cost, cost[1], 2e-6);
  assert_int_equal(all->item[0].index, 0);
  check_near(all->item[0].g[2], .5, 1e-13); /* the tolerance to which the search satisfies the target */
  check_at_most(all->item[0].quadrature[0], 1e-12);
  cb_optima_free(all);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_cat_with_constant_inertia_moves_along_a_cubic),
                                     cmocka_unit_test(the_limited_cat_agrees_with_closed_forms),
                                     cmocka_unit_test(a_limit_that_cannot_be_kept_is_refused),
                                     cmocka_unit_test(the_gradient_is_that_of_differences),
                                     cmocka_unit_test(the_hessian_is_that_of_differences),
                                     cmocka_unit_test(the_snake_turns_at_the_same_cost_in_three_bases)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
