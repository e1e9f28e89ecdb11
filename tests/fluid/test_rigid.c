/* Tests of rigid bodies with all integrators that support constraints. The rigid rod and triangle of the thesis
 * (linked.h) are compared with the flow of a Killing field and with known multipliers. Further tests: lengths over long
 * times, a tetrahedron and a chain with three integrators, and Newton's method compared with fixed-point sweeps. */
#include "constrained.h"
#include "linked.h"

static const char *const spaces[] = {"h3", "s3", "e3"};
static const char *const flows[] = {"boost_x", "rotation_z", "translation_x"};
/* the multiplier of the rod of length D = 1 in these spaces: (m/2) v^2 sinh D, -(m/2) v^2 sin D, 0, with m = v = 1 */
static const double pull[] = {0.5876005968219, -0.4207354924039, 0};

/* Returns the expected multiplier of a rod. In the triangle only the rod between the two particles of the base (row 1)
 * has a multiplier other than 0. */
static double load(int space, bool triangle, int row) { return triangle && row != 1 ? 0 : pull[space]; }

/* --- the rod and triangle of figures 2.16, 2.20, 2.21 --- */

static void multipliers_are_those_of_the_killing_flow(void **unused) {
  static const char *const methods[] = {"lobatto {stages: 4}", "radau_iia {stages: 3, constraints: acceleration}"};
  for (int j = 0; j < 2; j++)
    for (int i = 0; i < 3; i++)
      for (int triangle = 0; triangle < 2; triangle++) {
        body_case c;
        cb_gram *gram;
        double worst = 0, v[MOST], lambda[8];
        open_rigid(&c, spaces[i], triangle);
        use_method(&c, methods[j]);
        check_ok(cb_gram_create(c.forces, cb_forces_constraints(c.forces), &gram));
        for (int step = 0; step < 1000; step++) {
          run_step(&c, 0.01);
          const double *own = c.integrator->multipliers; /* the multipliers that the integrator computed, or NULL */
          velocities(&c, v);
          check_ok(cb_gram_multipliers(gram, c.state->t, c.state->x, v, lambda, NULL));
          for (int r = 0; r < (triangle ? 3 : 1); r++) {
            worst = fmax(worst, fabs(lambda[r] - load(i, triangle, r)));
            if (own) worst = fmax(worst, fabs(own[r] - load(i, triangle, r)));
          }
        }
        print_message("%s, %s, %s: multipliers to %.2g\n", methods[j], spaces[i], triangle ? "triangle" : "rod", worst);
        check_at_most(worst, 1e-11);
        cb_gram_free(gram);
        close_case(&c);
      }
}

/* Returns the maximum distance of the particles from the points to which the Killing flow moves their start x0, in
 * coordinates relative to their origin. The origin is T(L) R, with the transvection T(L) = flow(L) and a rotation R, so
 * the expected coordinates x have R x = flow(t - L) x0. These numbers are of size 1. */
static double off_the_flow(const body_case *c, const cb_state *start, const char *flow) {
  const cb_origin *o = &c->state->origin[0];
  const int k = c->g->k, dim = c->g->dim;
  cb_isometry rest;
  double worst = 0;
  /* The origin must stay on the axis of the flow. L is its distance from the base point, and sinh(L) times the
   * transverse part of its direction is a bound for its distance from the axis. */
  check_at_most(sinh(o->length) * fmax(fabs(o->direction[1]), fabs(o->direction[2])), 1e-13);
  cb_isometry_flow(c->g, cb_killing_find(c->g, flow), c->state->t - o->length * o->direction[0], &rest);
  for (int a = 0; a < c->state->n; a++) {
    double expected[CB_COORD_MAX], turned[CB_COORD_MAX];
    const double *x = c->state->x + a * k;
    memcpy(turned, x, sizeof(double) * (size_t)k);
    for (int i = 0; i < dim && o->length != 0; i++) {
      turned[i] = 0;
      for (int j = 0; j < dim; j++) turned[i] += o->rotation[i * dim + j] * x[j];
    }
    cb_isometry_point(c->g, &rest, start->x + a * k, expected);
    worst = fmax(worst, check_distance_max(k, expected, turned));
  }
  return worst;
}

static void positions_are_on_the_killing_flow(void **unused) {
  static const struct {
    const char *method;
    int steps;
  } cases[] = {{"lobatto {stages: 4}", 1000}, {"radau_iia {stages: 3}", 1000}, {"radau_iia {stages: 4}", 1000}};
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++)
      for (int triangle = 0; triangle < 2; triangle++) {
        body_case c;
        open_rigid(&c, spaces[i], triangle);
        use_method(&c, cases[j].method);
        cb_state *start = clone_state(&c);
        for (int step = 0; step < cases[j].steps; step++) run_step(&c, 10.0 / cases[j].steps);
        check_near(c.state->t, 10, 1e-15);
        const double worst = off_the_flow(&c, start, flows[i]);
        print_message("%s, %s, %s: positions to %.2g\n", cases[j].method, spaces[i], triangle ? "triangle" : "rod",
                      worst);
        if (i == 0 && !triangle) { /* cosh a = cosh .5 cosh t for the distance a from the base point */
          double base[CB_COORD_MAX], d;
          cb_anchor anchor;
          cb_space_base_point(c.g, base);
          cb_anchor_make(c.g, &c.state->origin[0], base, &anchor);
          for (int a = 0; a < 2; a++) {
            check_ok(cb_anchor_distance(c.g, &anchor, c.state->x + 4 * a, &d, NULL, NULL));
            check_near(d, acosh(cosh(0.5) * cosh(10)), 1e-12);
          }
        }
        check_at_most(worst, 1e-12);
        cb_state_free(start);
        close_case(&c);
      }
}

static void lengths_are_kept_for_a_thousand_units_of_time(void **unused) {
  check_numbers_alone();
  static const char *const methods[] = {"lobatto {stages: 4}", "radau_iia {stages: 3}"};
  for (int j = 0; j < 2; j++)
    for (int i = 0; i < 3; i++)
      for (int triangle = 0; triangle < 2; triangle++) {
        body_case c;
        double worst = 0;
        open_rigid(&c, spaces[i], triangle);
        use_method(&c, methods[j]);
        for (int step = 0; step < 50000; step++) {
          run_step(&c, 0.02);
          for (int r = 0; r < (triangle ? 3 : 1); r++)
            worst = fmax(worst, fabs(separation(&c, triangle ? r : 0, triangle ? (r + 1) % 3 : 1) - 1));
        }
        print_message("%s, %s, %s: |d - D| %.2g\n", methods[j], spaces[i], triangle ? "triangle" : "rod", worst);
        check_near(c.state->t, 1000, 1e-12);
        check_at_most(worst, 1e-13);
        close_case(&c);
      }
}

/* --- the two solvers of Lobatto --- */

/* Creates three particles with the rods 0-1 and 1-2 and a damped spring 2-0. `rest` is the rest length of the spring,
 * relative to its length at the start. The velocities are ones that the rods allow. */
static void open_stiff(body_case *c, const char *space, double stiffness, double rest, double damping, uint64_t *seed) {
  double x[3][CB_COORD_MAX], v[CB_COORD_MAX];
  open_space(c, space);
  for (int a = 0; a < 3; a++) {
    do check_random_point(c->g, seed, 0.6, x[a]);
    while ((a > 0 && cb_distance(c->g, x[a], x[0]) < 0.3) || (a > 1 && cb_distance(c->g, x[a], x[1]) < 0.3));
    check_random_tangent(c->g, seed, x[a], 0.5, v);
    add_particle(c, check_uniform(seed, 0.6, 2.5), x[a], v);
  }
  for (int a = 0; a < 2; a++) check_ok(cb_builder_rod(c->builder, NULL, a, a + 1, as_it_starts));
  check_ok(cb_builder_spring(c->builder, 2, 0, stiffness, rest * cb_distance(c->g, x[2], x[0]), damping));
  finish_system(c);
  constrained_project(c, c->state);
}

static void newton_needs_three_iterations_and_agrees_with_sweeps(void **unused) {
  static const struct { double stiffness, damping, h; } cases[] = {{1, 0, 0.01}, {1e4, 0, 0.001}, {1e4, 20, 0.001}};
  static const char *const where[] = {"e3", "s3", "h3", "s2", "h2xe"};
  uint64_t seed = check_seed();
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 3; j++)
      for (int stages = 2; stages <= 5; stages++) {
        double x[2][MOST], p[2][MOST];
        int most = 0;
        for (int newton = 0; newton < 2; newton++) {
          body_case c;
          char method[64];
          uint64_t own = seed + (uint64_t)i;
          open_stiff(&c, where[i], cases[j].stiffness, 0.99, cases[j].damping, &own);
          snprintf(method, sizeof method, "lobatto {stages: %d, solver: %s}", stages,
                   newton ? "newton" : "fixed-point");
          use_method(&c, method);
          for (int step = 0; step < 100; step++) {
            check_ok(cb_integrator_step(c.integrator, c.state, cases[j].h));
            if (newton && step > 0) most = c.integrator->iterations > most ? c.integrator->iterations : most;
          }
          assert_string_equal(c.integrator->solver, newton ? "newton" : "fixed-point");
          memcpy(x[newton], c.state->x, (size_t)(3 * c.g->k) * sizeof(double));
          memcpy(p[newton], c.state->p, (size_t)(3 * c.g->k) * sizeof(double));
          if (newton) {
            const double off =
                fmax(check_distance_max(3 * c.g->k, x[0], x[1]), check_distance_max(3 * c.g->k, p[0], p[1]));
            /* in a product of spaces the lengths of rods have a larger round-off, so more iterations are needed */
            const int allowed = strcmp(where[i], "h2xe") ? 3 : 6;
            if (getenv("CB_TEST_VERBOSE") || !(off <= 1e-13 && most <= allowed))
              print_error("%s, %d stages, stiffness %g, damping %g: %d iterations, off by %.2g\n", where[i], stages,
                          cases[j].stiffness, cases[j].damping, most, off);
            check_at_most(off, 1e-13);
            check_at_most(most, allowed);
          }
          close_case(&c);
        }
      }
}

/* --- three integrators --- */

/* Computes the positions x of the particles in the world. */
static void world(const body_case *c, double *x) {
  for (int a = 0; a < c->state->n; a++)
    cb_origin_world_point(c->g, &c->state->origin[0], c->state->x + a * c->g->k, x + a * c->g->k);
}

static void check_agreement(void open(body_case *, const char *, bool, uint64_t *), const char *what, double end,
                            double h) {
  const struct {
    const char *method;
    double h, error;
  } cases[] = {{"lobatto {stages: 4}", h, 0},       /* order 6 */
               {"radau_iia {stages: 3}", h, 5e-8},  /* order 5 */
               {"radau_iia {stages: 4}", h, 5e-10}, /* order 7 */
               {"ida {rtol: 1e-11, atol: 1e-13}", 0.1, 5e-9}};
  uint64_t seed = check_seed();
  for (int i = 0; i < 3; i++)
    for (int potential = 0; potential < 2; potential++) {
      double x[4][MOST], start[MOST], off[4];
      for (int j = 0; j < 4; j++) {
        body_case c;
        uint64_t own = seed + (uint64_t)i;
        open(&c, spaces[i], potential, &own);
        use_method(&c, cases[j].method);
        world(&c, start);
        const long steps = lround(end / cases[j].h);
        for (long step = 0; step < steps; step++) {
          run_step(&c, cases[j].h);
          check_at_most(residual(&c), 2e-13);
        }
        check_near(c.state->t, end, 1e-14);
        world(&c, x[j]);
        const int count = c.state->n * c.g->k;
        off[j] = check_distance_max(count, x[j], x[0]);
        check_at_least(check_distance_max(count, x[j], start), 0.05); /* the body has moved */
        close_case(&c);
      }
      print_message("%s in %s%s: from Lobatto, Radau (3, 4 stages) %.2g %.2g, IDA %.2g\n", what, spaces[i],
                    potential ? " under a potential" : "", off[1], off[2], off[3]);
      for (int j = 1; j < 4; j++) check_at_most(off[j], cases[j].error);
    }
}

static void open_tetrahedron(body_case *c, const char *space, bool potential, uint64_t *seed) {
  open_frame(c, space, 4, false, potential, seed);
}

/* Creates a chain of ten rods from a fixed point, initially along a geodesic. If `potential` is set, a field pulls the
 * particles in another direction. */
static void open_falling(body_case *c, const char *space, bool potential, uint64_t *seed) {
  enum { LINKS = 10 };
  open_space(c, space);
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], x[CB_COORD_MAX], v[CB_COORD_MAX], u[CB_COORD_MAX];
  const int k = c->g->embedding;
  cb_space_base_point(c->g, base);
  cb_space_frame(c->g, base, frame);
  for (int a = 0; a < LINKS; a++) {
    for (int e = 0; e < k; e++) u[e] = 0.1 * (a + 1) * (0.8 * frame[e] + 0.6 * frame[k + e]);
    cb_exp(c->g, base, u, x, NULL);
    check_random_tangent(c->g, seed, x, 0.1, v);
    add_particle(c, check_uniform(seed, 0.6, 1.5), x, v);
  }
  check_ok(cb_builder_distance_to_point(c->builder, NULL, 0, base, as_it_starts));
  for (int a = 0; a + 1 < LINKS; a++) check_ok(cb_builder_rod(c->builder, NULL, a, a + 1, as_it_starts));
  if (potential) check_ok(cb_builder_potential(c->builder, -1, NULL, "0.5*m*(x + z)"));
  finish_system(c);
  constrained_project(c, c->state);
}

static void three_methods_agree_on_the_tetrahedron(void **unused) {
  check_agreement(open_tetrahedron, "tetrahedron", 3, 0.01);
}

static void three_methods_agree_on_the_chain(void **unused) { check_agreement(open_falling, "chain", 1.5, 0.005); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(multipliers_are_those_of_the_killing_flow),
      cmocka_unit_test(positions_are_on_the_killing_flow),
      cmocka_unit_test(lengths_are_kept_for_a_thousand_units_of_time),
      cmocka_unit_test(newton_needs_three_iterations_and_agrees_with_sweeps),
      cmocka_unit_test(three_methods_agree_on_the_tetrahedron),
      cmocka_unit_test(three_methods_agree_on_the_chain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
