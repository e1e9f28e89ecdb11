/* Tests of bodies in a fluid that fills a curved space: the drag of a ball, the derivatives of drag by the twist,
 * potentials and buoyancy compared with integrals over faces, the energy that drag removes, and the orders of the
 * integrators. */
#include "immersed.h"

#include "scenario/fluid.h"
#include "numerics/numerics_curved.h"
#include <curvebody/pose.h>

static tank curved_tank(double K, mesh m, double density) {
  tank k = tank_of(m, density, 0);
  check_ok(cb_surface_embed(k.surface, K, CB_CHART_EXPONENTIAL));
  k.fluid.curvature = K;
  tank_water(&k, 1);
  return k;
}

/* --- drag --- */

/* The drag of a ball of radius 1 whose centre has the speed v is C_d pi S^2 v^2/2 in a fluid of density 1, with
 * S = sinh 1 in H3 and sin 1 in S3. C_d is the integral of |u| <u, n>^2 over the sphere, divided by pi S^2 v^3, where u
 * is the velocity and n the normal at each point. The error of the mesh is of second order in the size of its faces. */
static void drag_of_a_ball(void **unused) {
  static const double cd[2] = {1.650102514764, 1.118449855134};
  for (int space = 0; space < 2; space++) {
    const double K = space ? 1 : -1, S = space ? sin(1) : sinh(1), v = 0.7, Y[6] = {0, 0, 0, 0, 0, v};
    double error[3];
    for (int level = 0; level < 3; level++) {
      tank k = curved_tank(K, mesh_ball(6 << level, 1), 2);
      double F[6];
      k.options.added_mass = false;
      tank_fill(&k);
      wrenches_of(&k, 0, &at_origin, Y, F, NULL);
      error[level] = -F[5] / (v * v / 2 * M_PI * S * S * cd[space]) - 1;
      for (int i = 0; i < 5; i++) check_near(F[i], 0, 1e-12);
      tank_empty(&k);
    }
    print_message("  K %g: %.2e %.2e %.2e\n", K, error[0], error[1], error[2]);
    check_near(error[1] / error[2], 4, 0.2);
    check_near((4 * error[2] - error[1]) / 3, 0, 1e-4); /* the remaining error is of fourth order */
  }
}

static void derivatives_of_drag(void **unused) {
  uint64_t seed = check_seed();
  for (int space = 0; space < 2; space++)
    for (int linear = 0; linear < 2; linear++) {
      tank k = curved_tank(space ? 0.7 : -1.3, mesh_ellipsoid(4, 0.6, 0.4, 0.3), 2);
      k.options.added_mass = false;
      k.options.drag = !linear;
      if (linear) {
        k.options.c_n = 0.8;
        k.options.c_t = 0.3;
      }
      tank_fill(&k);
      double Y[6], F[6], dF[6][6], ahead[6], back[6];
      for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -1, 1);
      wrenches_of(&k, 0, &at_origin, Y, F, dF);
      for (int j = 0; j < 6; j++) {
        const double at = Y[j], h = 1e-5;
        Y[j] = at + h;
        wrenches_of(&k, 0, &at_origin, Y, ahead, NULL);
        Y[j] = at - h;
        wrenches_of(&k, 0, &at_origin, Y, back, NULL);
        Y[j] = at;
        /* the tolerance includes the error of the central differences, about 1e-8 */
        for (int i = 0; i < 6; i++) check_near(dF[i][j], (ahead[i] - back[i]) / (2 * h), 1e-7);
      }
      tank_empty(&k);
    }
}

/* --- potentials --- */

static cb_scenario *open_stone(int space, const char *potential, const char *density, int resolution) {
  char text[2048];
  snprintf(text, sizeof text,
           "curvebody: 1\nspace: {name: %s, curvature: %g}\nfluid: {medium: 1, added_mass: local}\n"
           "potentials: [%s]\nbodies:\n  - shape: {name: ellipsoid, a: 0.3, b: 0.2, c: 0.15, resolution: %d}\n"
           "    density: %s\n    drag: false\n    place: {position: [0.6, 0.2, -0.3], rotation: {axis: [1, 2, 3], "
           "angle: 1}}\n"
           "    motion: {velocity: [0, 0.5, 0.2], spin: [0.1, 0, 1]}\n"
           "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1}\n",
           space ? "s3" : "h3", space ? 1. : -1., potential, resolution, density);
  cb_scenario *s;
  check_ok(cb_scenario_open_text("text", text, NULL, 0, &s));
  return s;
}

/* Computes the wrench -excess int V m dA of the potential V = 2 d^2 on a body at the pose g. excess is the density of
 * the body minus that of the fluid, m is the flux of cb_curved_flux, and d is the distance from the base point. */
static void by_faces(const cb_surface *s, const cb_pose *g, double excess, double F[6]) {
  const double K = s->curvature;
  memset(F, 0, 6 * sizeof *F);
  for (int f = 0; f < s->faces; f++) {
    double y[3][4], plane[4];
    for (int k = 0; k < 3; k++) cb_curved_point(K, s->x[s->face[f][k]], y[k]);
    const double norm = cb_curved_plane(K, y[0], y[1], y[2], plane);
    for (int k = 0; k < CB_CURVED_POINTS; k++) {
      double q[4], v[3], at[3], m[6];
      const double c = cb_curved_node(K, (const double(*)[4])y, k, q);
      cb_curved_normal(K, q, v);
      cb_pose_point_in(K, g, v, at);
      cb_curved_flux(K, plane, q, m);
      const double weight = cb_curved_rule[k][3] * norm / (2 * c * sqrt(c)), V = 2 * cb_dot3(at, at);
      for (int i = 0; i < 6; i++) F[i] -= excess * weight * V * m[i];
    }
  }
}

static void potentials_are_integrals_over_faces(void **unused) {
  for (int space = 0; space < 2; space++) {
    cb_scenario *s = open_stone(space, "{central: {expression: \"m*2*d^2\"}}", "3", 24);
    const cb_immersed *b = cb_fluid_scenario_of(s)->kind[0].body;
    cb_immersed_workspace *w;
    check_ok(cb_immersed_workspace_create(b, &w));
    const cb_rigid_problem *p = cb_immersed_workspace_problem(w);
    const cb_rigid_state *state = cb_run_body(s->run, 0);
    double F[6] = {0}, wanted[6], size = 0;
    check_ok(p->wrench(p->self, 0, &state->g, generic_twist, F, NULL));
    by_faces(cb_immersed_surface(b), &state->g, 2, wanted);
    for (int i = 0; i < 6; i++) size = fmax(size, fabs(wanted[i]));
    /* a quadrature of degree 2 over faces of a tenth of the size of the body has an error of about 1e-4 */
    for (int i = 0; i < 6; i++) check_near(F[i], wanted[i], 3e-4 * size);
    /* F = -dU, by central differences along the axes of the body */
    double rows[8][6];
    cb_immersed_row row = {.wrench = rows};
    for (int i = 0; i < 6; i++) {
      double U[2];
      for (int side = 0; side < 2; side++) {
        double xi[6] = {0};
        cb_rigid_state moved = *state;
        cb_pose by;
        xi[i] = side ? 1e-4 : -1e-4;
        cb_pose_tau_in(CB_SE3_EXPONENTIAL, p->curvature, xi, &by);
        cb_pose_multiply_in(p->curvature, &state->g, &by, &moved.g);
        check_ok(cb_immersed_workspace_measure(w, &moved, &row));
        U[side] = row.potential;
      }
      check_near(F[i], -(U[1] - U[0]) / 2e-4, 1e-7 * size);
    }
    cb_immersed_workspace_free(w);
    cb_scenario_free(s);
  }
}

static void a_neutral_body_has_no_weight(void **unused) {
  for (int space = 0; space < 2; space++) {
    cb_scenario *s = open_stone(space, "{central: {pair_potential: gravity, strength: 5}}", "1", 8);
    cb_immersed_workspace *w;
    check_ok(cb_immersed_workspace_create(cb_fluid_scenario_of(s)->kind[0].body, &w));
    const cb_rigid_problem *p = cb_immersed_workspace_problem(w);
    double F[6] = {0};
    check_ok(p->wrench(p->self, 0, &cb_run_body(s->run, 0)->g, generic_twist, F, NULL));
    for (int i = 0; i < 6; i++) check_near(F[i], 0, 1e-14);
    cb_immersed_workspace_free(w);
    cb_scenario_free(s);
  }
}

static double energy_of(cb_immersed_workspace *w, const cb_rigid_state *state) {
  double rows[8][6];
  cb_immersed_row row = {.wrench = rows};
  check_ok(cb_immersed_workspace_measure(w, state, &row));
  return row.kinetic + row.potential;
}

/* The error of the energy has the order of the integrator: half the step divides it by more than 3 for
 * Hamilton-Pontryagin, and by more than 8 for rkmk4. */
static void energy_under_a_potential(void **unused) {
  for (int space = 0; space < 2; space++) {
    cb_scenario *s = open_stone(space, "{central: {expression: \"m*2*d^2\"}}", "3", 8);
    cb_immersed_workspace *w;
    check_ok(cb_immersed_workspace_create(cb_fluid_scenario_of(s)->kind[0].body, &w));
    const cb_rigid_problem *p = cb_immersed_workspace_problem(w);
    const cb_rigid_state begin = *cb_run_body(s->run, 0);
    double rows[8][6];
    cb_immersed_row row = {.wrench = rows};
    check_ok(cb_immersed_workspace_measure(w, &begin, &row));
    const double before = row.kinetic + row.potential;
    for (int method = 0; method <= RKMK4; method += RKMK4) {
      double error[2];
      for (int k = 0; k < 2; k++) {
        const cb_rigid_state end = run_by(p, method, &begin.g, row.twist, 1, 40 << k);
        error[k] = fabs(energy_of(w, &end) - before) / before;
      }
      print_message("  K %d method %d: %.2e %.2e\n", space ? 1 : -1, method, error[0], error[1]);
      assert_true(error[0] < (method ? 1e-4 : 1e-2) && error[1] < error[0] / (method ? 8 : 3));
    }
    cb_immersed_workspace_free(w);
    cb_scenario_free(s);
  }
}

/* --- drag in motion --- */

/* The change of the energy is the work int <F, Y> dt of the drag F, with the twist Y, by Simpson's rule over the steps
 * h of rkmk4. Runs with rkmk4 have errors of order h^4, and runs with Hamilton-Pontryagin have errors of order h^2. */
static void drag_takes_its_power(void **unused) {
  for (int space = 0; space < 2; space++) {
    tank k = curved_tank(space ? 1 : -1, mesh_ellipsoid(4, 0.6, 0.5, 0.4), 2);
    tank_fill(&k);
    cb_rigid_state s;
    double work = 0, at[3] = {0};
    const int steps = 400;
    check_ok(cb_rigid_start(k.problem, 0, &at_origin, generic_twist, &s));
    const double before = energy_of(k.workspace, &s);
    for (int n = 0; n <= steps; n++) {
      double Y[6], F[6];
      check_ok(cb_rigid_twist(k.problem, &s, Y));
      wrenches_of(&k, s.t, &s.g, Y, F, NULL);
      at[n % 2] = 0;
      for (int i = 0; i < 6; i++) at[n % 2] += F[i] * Y[i];
      work += (n == 0 || n == steps ? 1 : n % 2 ? 4 : 2) * at[n % 2] * 2 / steps / 3;
      if (n < steps) step_by(k.problem, RKMK4, 2. / steps, &s);
    }
    const double after = energy_of(k.workspace, &s);
    print_message("  K %d: energy %g to %g, work %g\n", space ? 1 : -1, before, after, work);
    assert_true(after < 0.9 * before);
    check_near(after - before, work, 1e-9 * before);
    double last[2] = {0};
    for (int method = 0; method <= RKMK4; method += RKMK4) {
      double error[3];
      for (int i = 0; i < 3; i++) {
        const cb_rigid_state end = run_by(k.problem, method, &at_origin, generic_twist, 2, 20 << i);
        error[i] = state_distance(&end, &s);
      }
      print_message("  method %d: %.2e %.2e %.2e\n", method, error[0], error[1], error[2]);
      last[method != 0] = log2(error[1] / error[2]);
    }
    check_near(last[0], 2, 0.15);
    check_near(last[1], 4, 0.3);
    tank_empty(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drag_of_a_ball),
      cmocka_unit_test(derivatives_of_drag),
      cmocka_unit_test(potentials_are_integrals_over_faces),
      cmocka_unit_test(a_neutral_body_has_no_weight),
      cmocka_unit_test(energy_under_a_potential),
      cmocka_unit_test(drag_takes_its_power),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
