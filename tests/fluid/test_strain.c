/* Tests of the exact added mass in flows that vary with the place: ellipsoids in a strain against the pressure of the
 * potential flow around them, derivatives, first integrals, moving frames, and the limits of spheres and of uniform
 * flows. */
#include "ellipsoid_in_strain.h"
#include "immersed_bundles.h"
#include "surface_measures.h"

static const double at_rest[6], strain[3][3] = {{0.4, 0.7, -0.5}, {0.7, -0.9, 0.3}, {-0.5, 0.3, 0.5}},
                                shear[3][3] = {{0.2, 1.1, -0.4}, {0.3, -0.5, 0.8}, {-0.6, 0.1, 0.3}},
                                stream[3] = {0.3, -0.2, 0.5}, density = 1.7;

static void tank_gradient(tank *k, const double u[3], const double G[3][3]) {
  cb_flow *flow;
  check_ok(cb_flow_shear(u, G, &flow));
  k->fluid.flow = flow;
}

/* Finds the wrench called `name` at the pose g and the twist Y, and returns the row of the record. */
static cb_immersed_row named_wrench(const tank *k, const char *name, const cb_pose *g, const double Y[6], double F[6]) {
  double wrench[8][6];
  cb_rigid_state s;
  check_ok(cb_rigid_start(k->problem, 0, g, Y, &s));
  const cb_immersed_row row = row_of(k, &s, wrench);
  const int i = wrench_named(k, name);
  assert_true(i >= 0);
  memcpy(F, wrench[i], 6 * sizeof *F);
  return row;
}

/* Finds the wrench F on an ellipsoid at the pose g, whose centre is at c in the body frame. The wrench of the pressure
 * in the undisturbed flow is subtracted. */
static void expected_wrench(const strained_ellipsoid *o, const double c[3], const cb_pose *g, double F[6]) {
  double r[3][3], x[3], at[3], u[3], E[3][3] = {{0}}, pressure[6], torque[3];
  cb_pose_rotation(g, r);
  cb_apply3((const double(*)[3])r, c, x);
  for (int i = 0; i < 3; i++) x[i] += g->x[i];
  for (int i = 0; i < 3; i++) at[i] = stream[i] + cb_dot3(strain[i], x);
  cb_apply3_transposed((const double(*)[3])r, at, u);
  for (int i = 0; i < 81; i++)
    E[i / 27][i / 9 % 3] += r[i / 3 % 3][i / 27] * strain[i / 3 % 3][i % 3] * r[i % 3][i / 9 % 3];
  oracle_wrench(o, u, (const double(*)[3])E, F);
  oracle_pressure(o, u, (const double(*)[3])E, pressure);
  for (int i = 0; i < 6; i++) F[i] = density * (F[i] - pressure[i]);
  cb_cross3(c, F + 3, torque);
  for (int i = 0; i < 3; i++) F[i] += torque[i];
}

static double largest(const double *a, const double *b, int n) {
  double out = 0;
  for (int i = 0; i < n; i++) out = fmax(out, fabs(a[i] - (b ? b[i] : 0)));
  return out;
}

/* --- ellipsoids --- */

/* The class `analytic` has the added mass of an ellipsoid about the body's origin in closed form. */
static const strained_ellipsoid *known;

static cb_status analytic_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface,
                               const double (*x)[3], const double (*v)[3], cb_added_mass *out) {
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double b = known->a[j] * known->a[j], c = known->a[k] * known->a[k], J = known->J[j][k];
    out->K[i][i] = known->volume / 5 * (b - c) * (b - c) * J / (2 - (b + c) * J);
    out->K[3 + i][3 + i] = known->volume * known->alpha[i] / (2 - known->alpha[i]);
  }
  return CB_OK;
}

static cb_status analytic_form(const cb_fluid_model *m, const void *body, const cb_surface *surface, int n,
                               const double (*A)[3][3], const double c[3], double *G) {
  cb_added_mass mass = {.kinetic = 0};
  assert_int_equal(n, 5);
  for (int i = 0; i < 3; i++) check_near(c[i], 0, 1e-15); /* round-off: the vertices lie symmetrically */
  check_ok(analytic_mass(m, body, surface, NULL, NULL, &mass));
  for (int i = 0; i < 36; i++) G[i / 6 * 11 + i % 6] = mass.K[i / 6][i % 6];
  for (int k = 0; k < n; k++) {
    for (int l = 0; l < n; l++) G[(6 + k) * 11 + 6 + l] = strain_energy(known, A[k], A[l]);
    for (int i = 0; i < 3; i++) G[(6 + k) * 11 + i] = G[i * 11 + 6 + k] = strain_spin(known, A[k], i);
  }
  return CB_OK;
}

static const cb_fluid_model_class analytic = {
    .name = "analytic", .title = "", .doc = "", .added_mass = analytic_mass, .linear_form = analytic_form};

static void the_closed_form_gives_the_pressure_on_an_ellipsoid(void **unused) {
  static const double axes[3][3] = {{3, 2, 1}, {1, 0.9, 0.4}, {0.5, 1.5, 0.8}}, centre[3];
  cb_fluid_model *model;
  check_ok(cb_fluid_model_create_class(&analytic, NULL, &model));
  for (int i = 0; i < 3; i++) {
    const strained_ellipsoid o = oracle_of(axes[i][0], axes[i][1], axes[i][2]);
    double F[6], expected[6];
    tank k = tank_of(mesh_ellipsoid(3, axes[i][0], axes[i][1], axes[i][2]), 1, 0);
    known = &o;
    tank_water(&k, density);
    tank_model(&k, model);
    tank_gradient(&k, stream, strain);
    tank_fill(&k);
    named_wrench(&k, "flow", &generic_pose, at_rest, F);
    expected_wrench(&o, centre, &generic_pose, expected);
    check_at_least(largest(expected, NULL, 3), 1e-2 * largest(expected, NULL, 6)); /* a torque acts, too */
    check_at_most(largest(F, expected, 6), 1e-12 * largest(expected, NULL, 6));    /* round-off of the quadrature */
    tank_empty(&k);
  }
  cb_fluid_model_free(model);
}

/* Finds the momentum -int rho phi (x × n, n) dA of the fluid around a fixed ellipsoid, whose centre is the origin. rho
 * is the density, phi the potential, and n the normal at the point x of the surface. */
static void expected_momentum(const strained_ellipsoid *o, double mu[6]) {
  for (int i = 0; i < 3; i++) {
    mu[i] = -density * strain_spin(o, strain, i);
    mu[3 + i] = -density * o->volume * o->alpha[i] / (2 - o->alpha[i]) * stream[i];
  }
}

static void panels_converge_to_it_with_order_two(void **unused) {
  static const double centre[3] = {0.4, -0.3, 0.6};
  const strained_ellipsoid o = oracle_of(1.5, 1, 0.7);
  const cb_pose g = {{1, 0, 0, 0}, {-centre[0], -centre[1], -centre[2]}};
  cb_fluid_model *model = exact_of("{method: dense}");
  double error[3], of_momentum[3], expected[6], expected_mu[6];
  expected_wrench(&o, centre, &generic_pose, expected);
  expected_momentum(&o, expected_mu);
  for (int i = 0; i < 3; i++) {
    double F[6];
    mesh m = mesh_ellipsoid(4 << i, 1.5, 1, 0.7);
    mesh_move(&m, centre);
    tank k = tank_of(m, 1, 0);
    tank_water(&k, density);
    tank_model(&k, model);
    tank_gradient(&k, stream, strain);
    tank_fill(&k);
    named_wrench(&k, "flow", &generic_pose, at_rest, F);
    error[i] = largest(F, expected, 6) / largest(expected, NULL, 6);
    double mu[6], turn[3];
    momentum_of(&k, 0, &g, at_rest, mu);
    cb_cross3(centre, mu + 3, turn);
    for (int j = 0; j < 3; j++) mu[j] -= turn[j]; /* the angular momentum about the centre of the ellipsoid */
    of_momentum[i] = largest(mu, expected_mu, 3) / largest(expected_mu, NULL, 3);
    tank_empty(&k);
  }
  print_message("  wrench: errors %.2e %.2e %.2e, order %.2f\n", error[0], error[1], error[2], fitted_order(error, 3));
  print_message("  angular momentum: errors %.2e %.2e %.2e, order %.2f\n", of_momentum[0], of_momentum[1],
                of_momentum[2], fitted_order(of_momentum, 3));
  /* the coarsest mesh is not yet in the asymptotic range */
  check_near(fitted_order(error, 3), 2, 0.3);
  check_near(fitted_order(of_momentum, 3), 2, 0.3);
  check_at_most(of_momentum[2], 2e-2);
  check_at_most(error[2], 1e-2);
  cb_fluid_model_free(model);
}

/* --- the term --- */

static tank in_shear(uint64_t *seed, const cb_fluid_model *model, const double G[3][3]) {
  mesh m = mesh_ellipsoid(3, 0.8, 0.5, 0.3);
  mesh_shake(&m, seed, 0.02);
  mesh_move(&m, (double[3]){0.3, 0.1, -0.2});
  tank k = tank_of(m, 1.3, 0);
  tank_water(&k, density);
  tank_model(&k, model);
  tank_gradient(&k, stream, G);
  tank_fill(&k);
  return k;
}

/* Without `refine: false` the faces are refined on the true surface, so that the given faces have no effect. */
static void refined_faces_give_it_whatever_the_given_faces(void **unused) {
  static const double centre[3];
  const strained_ellipsoid o = oracle_of(1.5, 1, 0.7);
  cb_fluid_model *model;
  double F[2][6], expected[6];
  expected_wrench(&o, centre, &generic_pose, expected);
  check_ok(cb_fluid_model_create("exact", NULL, &model));
  for (int i = 0; i < 2; i++) {
    tank k = tank_of(mesh_ball(1, 1), 1, 0);
    cb_surface_free(k.surface);
    k.surface = shape("ellipsoid", i ? "a=1.5 b=1 c=0.7 resolution=32" : "a=1.5 b=1 c=0.7 resolution=16");
    tank_water(&k, density);
    tank_model(&k, model);
    tank_gradient(&k, stream, strain);
    tank_fill(&k);
    named_wrench(&k, "flow", &generic_pose, at_rest, F[i]);
    /* The option `error` of the model has its default 1e-2. The true error is smaller. */
    check_at_most(largest(F[i], expected, 6), 2e-3 * largest(expected, NULL, 6));
    tank_empty(&k);
  }
  check_at_most(largest(F[1], F[0], 6), 1e-6 * largest(expected, NULL, 6)); /* the tolerance of the solver */
  cb_fluid_model_free(model);
}

/* A body consists of two balls of different sizes. If its frame has another origin, the wrench on the body about the
 * same point does not change. */
static void the_origin_of_the_body_has_no_effect(void **unused) {
  static const double d[3] = {0.7, -0.4, 0.5};
  cb_fluid_model *model = exact_of("{method: dense}");
  double F[2][6], turn[3];
  for (int i = 0; i < 2; i++) {
    mesh a = mesh_ball(4, 0.5), b = mesh_ball(4, 0.3);
    mesh_move(&b, (double[3]){0.9, 0.2, 0});
    mesh both = two_bodies(a, b);
    if (i) mesh_move(&both, d);
    tank k = tank_of(both, 1.3, 0);
    tank_water(&k, density);
    tank_model(&k, model);
    tank_gradient(&k, stream, shear);
    tank_fill(&k);
    const cb_pose g = pose_along(&generic_pose, (double[6]){0, 0, 0, -i * d[0], -i * d[1], -i * d[2]});
    double Y[6];
    memcpy(Y, generic_twist, sizeof Y);
    cb_cross3(d, Y, turn); /* with the twist (omega, v), the other origin has the velocity v - omega × d */
    for (int j = 0; i && j < 3; j++) Y[3 + j] += turn[j];
    named_wrench(&k, "flow", &g, Y, F[i]);
    if (i) cb_cross3(d, F[1] + 3, turn);
    for (int j = 0; i && j < 3; j++) F[1][j] -= turn[j];
    tank_empty(&k);
  }
  /* the tolerance is for the error of the solver, because the faces are the same up to round-off */
  check_at_most(largest(F[1], F[0], 6), 1e-12 * largest(F[0], NULL, 6));
  cb_fluid_model_free(model);
}

/* The derivatives of the wrench `pressure`, that of the undisturbed flow, neglect a term. This test uses a sheet
 * without thickness, on which this wrench does not act. */
static void its_derivatives_are_those_of_its_wrench(void **unused) {
  static const cb_point_mass points[4] = {{.mass = 1, .x = {0.3, 0, 0}, .vertex = -1},
                                          {.mass = 1, .x = {0, 0.4, 0.1}, .vertex = -1},
                                          {.mass = 1, .x = {0, 0, -0.5}, .vertex = -1},
                                          {.mass = 1, .x = {-0.2, 0.1, 0}, .vertex = -1}};
  uint64_t seed = check_seed();
  cb_fluid_model *model = exact_of("{method: dense}");
  mesh m = mesh_plate(4, 1, 0.8, false);
  mesh_shake(&m, &seed, 0.05);
  tank k = tank_of(m, 0, 0);
  k.options.points = points;
  k.options.n_points = 4;
  tank_water(&k, density);
  tank_model(&k, model);
  tank_gradient(&k, stream, shear);
  tank_fill(&k);
  assert_int_equal(wrench_named(&k, "pressure"), -1);
  check_derivatives(&k, 0, &generic_pose, generic_twist, 1e-8, 1e-8); /* the error of the differences */
  tank_empty(&k);
  cb_fluid_model_free(model);
}

static cb_status fluid_energy(const tank *k, const cb_pose *g, double *energy) {
  const cb_surface *s = k->surface;
  double r[3][3];
  cb_pose_rotation(g, r);
  *energy = 0;
  for (int f = 0; f < s->faces; f++) { /* |u|^2 is quadratic on the tetrahedron of the face and the origin */
    double u[4][3], sum[3] = {0}, a[3], square = 0;
    for (int c = 0; c < 4; c++) {
      double x[3] = {0};
      if (c < 3) cb_apply3((const double(*)[3])r, s->x[s->face[f][c]], x);
      for (int i = 0; i < 3; i++) x[i] += g->x[i];
      for (int i = 0; i < 3; i++) sum[i] += u[c][i] = stream[i] + cb_dot3(strain[i], x);
      square += cb_dot3(u[c], u[c]);
    }
    cb_area3(s->x[s->face[f][0]], s->x[s->face[f][1]], s->x[s->face[f][2]], a);
    *energy += density / 2 * cb_dot3(a, s->x[s->face[f][0]]) / 3 * (square + cb_dot3(sum, sum)) / 20;
  }
  return CB_OK;
}

/* In a steady irrotational flow with the velocity u and the density rho, H = <K Y, Y>/2 - T_0 - (rho/2) int |u|^2 dV is
 * constant for a body with the twist Y. The integral is over the volume of the body. K is the inertia of body and
 * fluid, and T_0 is the kinetic energy of the flow around the body at Y = 0. */
static double first_integral(const tank *k, const cb_rigid_state *s) {
  double wrench[8][6], of_flow, energy = 0;
  cb_rigid_state still;
  const cb_immersed_row row = row_of(k, s, wrench);
  check_ok(cb_rigid_start(k->problem, 0, &s->g, at_rest, &still));
  const cb_immersed_row without = row_of(k, &still, wrench);
  check_ok(fluid_energy(k, &s->g, &of_flow));
  for (int i = 0; i < 36; i++) energy += row.K[i / 6][i % 6] * row.twist[i / 6] * row.twist[i % 6] / 2;
  return energy - without.kinetic - of_flow;
}

static void a_steady_irrotational_flow_keeps_its_first_integral(void **unused) {
  uint64_t seed = check_seed();
  cb_fluid_model *model = exact_of("{method: dense}");
  tank k = in_shear(&seed, model, strain);
  double change[3], moved = 0;
  for (int i = 0; i < 3; i++) {
    cb_rigid_state s;
    check_ok(cb_rigid_start(k.problem, 0, &generic_pose, generic_twist, &s));
    const double H = first_integral(&k, &s);
    double first, last;
    check_ok(fluid_energy(&k, &s.g, &first));
    s = run_by(k.problem, RKMK4, &generic_pose, generic_twist, 1, 50 << i);
    check_ok(fluid_energy(&k, &s.g, &last));
    moved = fabs(last - first);
    change[i] = fabs(first_integral(&k, &s) - H);
  }
  print_message("  changes of the first integral: %.1e %.1e %.1e\n", change[0], change[1], change[2]);
  assert_true(moved > 0.1);
  check_at_least(fitted_order(change, 3), 3.7);
  check_at_most(change[2], 1e-6 * moved); /* the error of the integrator */
  tank_empty(&k);
  cb_fluid_model_free(model);
}

static void a_frame_that_moves_sees_the_same_motion(void **unused) {
  static const double wind[3] = {0.6, -0.3, 0.2};
  uint64_t seed = check_seed(), again = seed;
  cb_fluid_model *model = exact_of("{method: dense}");
  tank still = in_shear(&seed, model, shear), moved = in_shear(&again, model, shear);
  char text[3][256];
  const char *moving[3] = {text[0], text[1], text[2]};
  cb_flow *flow;
  for (int i = 0; i < 3; i++)
    snprintf(text[i], sizeof text[i], "%.17g + %.17g*(x - %.17g*t) + %.17g*(y - %.17g*t) + %.17g*(z - %.17g*t)",
             stream[i] + wind[i], shear[i][0], wind[0], shear[i][1], wind[1], shear[i][2], wind[2]);
  check_ok(cb_flow_expressions(moving, 0, NULL, NULL, NULL, NULL, &flow));
  cb_immersed_workspace_free(moved.workspace);
  cb_immersed_free(moved.body);
  cb_flow_free((cb_flow *)moved.fluid.flow);
  moved.fluid.flow = flow;
  tank_fill(&moved);
  double Y[6], r[3][3], turned[3];
  memcpy(Y, generic_twist, sizeof Y);
  cb_pose_rotation(&generic_pose, r);
  cb_apply3_transposed((const double(*)[3])r, wind, turned);
  for (int i = 0; i < 3; i++) Y[3 + i] += turned[i];
  const cb_rigid_state a = run_by(still.problem, RKMK4, &generic_pose, generic_twist, 1, 400),
                       b = run_by(moved.problem, RKMK4, &generic_pose, Y, 1, 400);
  /* the tolerance covers the errors of the integrator in both frames */
  for (int i = 0; i < 4; i++) check_near(b.g.q[i], a.g.q[i], 1e-8);
  for (int i = 0; i < 3; i++) check_near(b.g.x[i], a.g.x[i] + wind[i], 1e-8);
  tank_empty(&still);
  tank_empty(&moved);
  cb_fluid_model_free(model);
}

/* --- limits --- */

static void a_flow_without_gradient_is_a_uniform_flow(void **unused) {
  static const char *const text[3] = {"0.3 + 0*x", "-0.2 + 0*y", "0.5 + 0*z"};
  cb_fluid_model *model;
  double F[2][6], mu[2][6];
  check_ok(cb_fluid_model_create("exact", NULL, &model));
  for (int i = 0; i < 2; i++) {
    mesh m = mesh_ellipsoid(4, 0.8, 0.5, 0.3);
    mesh_move(&m, (double[3]){0.3, 0.1, -0.2});
    tank k = tank_of(m, 1.3, 0);
    cb_flow *flow;
    tank_water(&k, density);
    tank_model(&k, model);
    if (i)
      check_ok(cb_flow_expressions(text, 0, NULL, NULL, NULL, NULL, &flow));
    else
      check_ok(cb_flow_uniform(stream, &flow));
    k.fluid.flow = flow;
    tank_fill(&k);
    named_wrench(&k, "flow", &generic_pose, generic_twist, F[i]);
    momentum_of(&k, 0, &generic_pose, generic_twist, mu[i]);
    tank_empty(&k);
  }
  for (int i = 0; i < 6; i++) { /* round-off: K is moved to the centre and back */
    check_near(F[1][i], F[0][i], 1e-14);
    check_near(mu[1][i], mu[0][i], 1e-14);
  }
  cb_fluid_model_free(model);
}

/* The force on a fixed sphere is m_f ((1 + C) Du/Dt + C u × curl u), with the displaced mass m_f and the added mass
 * C m_f. In an irrotational flow this is the force of Taylor (1928). With vorticity and C = 1/2, the second term is the
 * lift of Auton (1987). */
static void a_sphere_feels_the_acceleration_and_the_lift(void **unused) {
  cb_fluid_model *model = exact_of("{method: dense}");
  for (int i = 0; i < 2; i++) {
    const double(*G)[3] = i ? shear : strain;
    tank k = tank_of(mesh_ball(6, 0.5), 1, 0);
    tank_water(&k, density);
    tank_model(&k, model);
    tank_gradient(&k, stream, G);
    tank_fill(&k);
    const double curl[3] = {G[2][1] - G[1][2], G[0][2] - G[2][0], G[1][0] - G[0][1]};
    double wrench[2][6], lift[3];
    named_wrench(&k, "pressure", &at_origin, at_rest, wrench[0]);
    const cb_immersed_row row = named_wrench(&k, "flow", &at_origin, at_rest, wrench[1]);
    const double m_f = density * row.mass.volume, C = (row.K[3][3] - row.mass.mass) / m_f;
    check_near(C, 0.5, 0.01);
    cb_cross3(stream, curl, lift);
    for (int j = 0; j < 3; j++) {
      const double expected = m_f * ((1 + C) * cb_dot3(G[j], stream) + C * lift[j]);
      check_near(wrench[0][3 + j] + wrench[1][3 + j], expected, 1e-6); /* the tolerance of the solver */
    }
    tank_empty(&k);
  }
  cb_fluid_model_free(model);
}

static void poses_and_layers_are_refused(void **unused) {
  for (int i = 0; i < 2; i++) {
    cb_fluid_model *model = exact_of("{method: dense}");
    tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
    cb_medium *medium;
    k.options.material = k.material;
    tank_model(&k, model);
    k.fluid.models = k.model;
    tank_gradient(&k, stream, strain);
    if (i) {
      check_ok(cb_medium_expression("0.9 + 0.1*z", 0, NULL, NULL, (double[3]){0, 0, 1}, NULL, &medium));
      k.fluid.medium = medium;
    } else {
      tank_water(&k, density);
      tank_moves(&k, "X*(1 + 0.1*sin(t))", "Y", "Z");
    }
    const cb_status status = cb_immersed_create(&k.fluid, k.surface, k.poses, &k.options, NULL, NULL, NULL, &k.body);
    check_error(
        status, CB_ERROR_UNSUPPORTED,
        i ? "the added mass of the fluid model `exact` needs a uniform medium: expected `added_mass: local`, or "
            "a body without added mass"
          : "the added mass of the fluid model `exact` needs a uniform flow if the body has `poses`: expected "
            "`added_mass: local`, or a body without added mass");
    k.body = NULL;
    tank_empty(&k);
    cb_fluid_model_free(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_closed_form_gives_the_pressure_on_an_ellipsoid),
      cmocka_unit_test(panels_converge_to_it_with_order_two),
      cmocka_unit_test(refined_faces_give_it_whatever_the_given_faces),
      cmocka_unit_test(the_origin_of_the_body_has_no_effect),
      cmocka_unit_test(its_derivatives_are_those_of_its_wrench),
      cmocka_unit_test(a_steady_irrotational_flow_keeps_its_first_integral),
      cmocka_unit_test(a_frame_that_moves_sees_the_same_motion),
      cmocka_unit_test(a_flow_without_gradient_is_a_uniform_flow),
      cmocka_unit_test(a_sphere_feels_the_acceleration_and_the_lift),
      cmocka_unit_test(poses_and_layers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
