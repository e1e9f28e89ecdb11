/* Tests of bodies that swim by changing their shape in curved spaces: three balls compared with multipoles, the
 * connection of a body in another frame, the limit of flat space, and volumes that change. */
#include "curved_bodies.h"
#include "immersed_bundles.h"

/* Creates the bundle of a surface that the exponential chart embeds in the space of curvature K. There is one motion
 * for the complete surface or one for each part; the same holds for shifts. */
static cb_status laid_bundle(cb_surface *s, double K, int n, const char *const *names, int motions,
                             const cb_poses_motion *motion, int shifts, const cb_shape_shift *shift,
                             const cb_immersed_bundle_options *options, cb_bundle **out) {
  cb_shape_surface *flat, *shape;
  check_ok(cb_shape_surface_expressions(s, n, names, motions, motion, &flat));
  check_ok(cb_shape_surface_embed(flat, (cb_surface_embedding){K, CB_CHART_EXPONENTIAL},
                                  &(cb_shape_shifts){shifts, shift, NULL}, NULL, NULL, NULL, &shape));
  check_ok(cb_surface_embed(s, K, CB_CHART_EXPONENTIAL));
  return cb_bundle_immersed_take(shape, options, out);
}

static cb_fluid_model *exact_model(void) {
  cb_fluid_model *m;
  check_ok(cb_fluid_model_create("exact", NULL, &m));
  return m;
}

/* --- three balls --- */

static mesh three_balls(double radius) {
  cb_surface *ball = curved_ball(radius, 12, 0, CB_CHART_EXPONENTIAL);
  mesh all = mesh_room(3 * ball->vertices, 3 * ball->faces);
  for (int part = 0; part < 3; part++) {
    const int first = all.vertices;
    for (int v = 0; v < ball->vertices; v++) mesh_vertex(&all, ball->x[v][0], ball->x[v][1], ball->x[v][2]);
    for (int f = 0; f < ball->faces; f++) {
      all.part[all.faces] = part;
      mesh_face(&all, first + ball->face[f][0], first + ball->face[f][1], first + ball->face[f][2]);
    }
  }
  cb_surface_free(ball);
  return all;
}

/* Returns the displacement along x of the gait around the rectangle .3 <= l <= 1, .4 <= alpha <= 1.2 of the shape
 * variables, by Gauss's rule on its sides. By symmetry the motion is along one line. */
static double way(const cb_bundle *b) {
  static const double corner[5][2] = {{.3, .4}, {1, .4}, {1, 1.2}, {.3, 1.2}, {.3, .4}},
                      node[4] = {-.861136311594053, -.339981043584856, .339981043584856, .861136311594053},
                      weight[4] = {.347854845137454, .652145154862546, .652145154862546, .347854845137454};
  double sum = 0;
  for (int side = 0; side < 4; side++)
    for (int k = 0; k < 4; k++) {
      const double t = (1 + node[k]) / 2,
                   d[2] = {corner[side + 1][0] - corner[side][0], corner[side + 1][1] - corner[side][1]};
      double A[12];
      check_ok(cb_bundle_connection(b, (double[]){corner[side][0] + t * d[0], corner[side][1] + t * d[1]}, A, NULL,
                                    NULL, NULL));
      for (int i = 0; i < 6; i++)
        if (i != 3) check_near(A[2 * i] * d[0] + A[2 * i + 1] * d[1], 0, 1e-6); /* 0 up to the solver's residual */
      sum -= weight[k] / 2 * (A[6] * d[0] + A[7] * d[1]);
    }
  return sum;
}

static const char *const legs[2] = {"l", "alpha"};

static cb_bundle *swimmer(cb_surface *s, double K, const cb_fluid_model *model) {
  const cb_material matter[3] = {{1, 0}, {1, 0}, {1, 0}};
  const cb_poses_motion motion[2] = {{s->name[1], {"X*cos(alpha) - Y*sin(alpha)", "X*sin(alpha) + Y*cos(alpha)", "Z"}},
                                     {s->name[2], {"X*cos(alpha) + Y*sin(alpha)", "Y*cos(alpha) - X*sin(alpha)", "Z"}}};
  const cb_shape_shift shift[2] = {{s->name[1], {"l*cos(alpha)", "l*sin(alpha)", "0"}},
                                   {s->name[2], {"l*cos(alpha)", "-l*sin(alpha)", "0"}}};
  const cb_immersed_bundle_options options = {.material = matter, .density = 1, .added_mass = model};
  cb_bundle *b;
  check_ok(laid_bundle(s, K, 2, legs, 2, motion, 2, shift, &options, &b));
  return b;
}

/* The expected displacements of balls of radius .025 were computed with multipoles that interact. With added masses but
 * no interaction they are -.10051356558 and .06148161579. */
static void three_balls_swim_by_curvature_alone(void **unused) {
  static const double K[2] = {1, -1}, expected[2] = {-.100660024, .061431614};
  cb_fluid_model *exact = exact_model();
  for (int k = 0; k < 2; k++) {
    cb_surface *s = mesh_surface(three_balls(.025));
    cb_bundle *b = swimmer(s, K[k], exact);
    assert_string_equal(b->group->name, k ? "so31" : "so4");
    const double X = way(b);
    print_message("  K %g: X %.9f, %.2e of the multipoles' beside them\n", K[k], X, X / expected[k] - 1);
    /* The tolerance is for the error of the panels of a ball of resolution 12. Without interaction the difference would
     * be at least .0008. */
    check_relative(X, expected[k], 5e-4);
    cb_bundle_free(b);
    cb_surface_free(s);
  }
  cb_fluid_model_free(exact);
}

/* --- frames --- */

static cb_surface *bean(void) {
  mesh m = mesh_ellipsoid(3, 0.5, 0.2, 0.15);
  uint64_t seed = 7;
  mesh_shake(&m, &seed, 0.01);
  return mesh_surface(m);
}

static const cb_material light = {.density = 700};

/* If a transvection moves the body in its frame, the connection A becomes Ad A, with the adjoint matrix Ad of the
 * transvection. The metric M does not change. */
static void a_body_in_another_frame_has_the_connection_of_it(void **unused) {
  static const cb_poses_motion motion = MODES("a", "b");
  static const cb_shape_shift shift = {NULL, {"0.3", "-0.4", "0.5"}};
  const double s[3] = {.3, -.4, .5}, r[2] = {.2, -.3};
  for (int k = 0; k < 3; k++) {
    const double K = k ? -.36 : .36, R = 1 / .6;
    double A[2][12], M[2][4], Ad[36], g[CB_GROUP_SIZE], twist[6] = {0};
    const cb_immersed_bundle_options options = {.material = &light, .density = k == 2 ? 998 : 0};
    const cb_group *G = NULL;
    for (int moved = 0; moved < 2; moved++) {
      cb_surface *surface = bean();
      cb_bundle *b;
      check_ok(laid_bundle(surface, K, 2, ab, 1, &motion, moved, &shift, &options, &b));
      check_ok(cb_bundle_connection(b, r, A[moved], NULL, M[moved], NULL));
      G = b->group;
      cb_bundle_free(b);
      cb_surface_free(surface);
    }
    for (int i = 0; i < 3; i++) twist[3 + i] = s[i] / R;
    G->exp(G, twist, g);
    G->adjoint(G, g, Ad);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 2; j++) {
        double sum = 0;
        for (int c = 0; c < 6; c++) sum += Ad[i * 6 + c] * A[0][2 * c + j];
        check_near(A[1][2 * i + j], sum, 1e-11); /* round-off divided by the smallest inertia */
      }
    for (int i = 0; i < 4; i++) check_near(M[1][i], M[0][i], 1e-11 * M[0][0]);
  }
}

static void the_kinetic_energy_is_positive(void **unused) {
  uint64_t seed = check_seed();
  static const cb_poses_motion motion = MODES("a", "b");
  for (int k = 0; k < 3; k++) {
    const cb_immersed_bundle_options options = {.material = &light, .density = k == 2 ? 998 : 0};
    cb_surface *surface = bean();
    cb_bundle *b;
    check_ok(laid_bundle(surface, k ? -1 : 1, 2, ab, 1, &motion, 0, NULL, &options, &b));
    for (int trial = 0; trial < 20; trial++) {
      double G[64], z[8], twice = 0;
      const double r[2] = {check_uniform(&seed, -.4, .4), check_uniform(&seed, -.4, .4)};
      check_ok(b->class_->form(b, r, G, NULL));
      for (int i = 0; i < 8; i++) z[i] = check_uniform(&seed, -1, 1);
      for (int i = 0; i < 64; i++) {
        twice += z[i / 8] * G[i] * z[i % 8];
        check_near(G[i], G[i % 8 * 8 + i / 8], 1e-12 * G[3 * 8 + 3]);
      }
      check_at_least(twice, 0);
    }
    cb_bundle_free(b);
    cb_surface_free(surface);
  }
}

/* The connections in spaces of small positive and negative curvature K tend to that of flat space. The groups of curved
 * spaces measure translations in units of R = 1/sqrt|K|. The motions are shears, whose velocities are linear and keep
 * the volume. */
static void flat_space_is_the_limit(void **unused) {
  static const cb_poses_motion motion = {NULL, {"X + 0.3*a*Y + a*b*Z", "Y + b*Z", "Z"}};
  const double r[2] = {.2, -.3};
  for (int wet = 0; wet < 2; wet++) {
    double A[3][12], M[3][4];
    const cb_immersed_bundle_options options = {.material = &light, .density = wet ? 998 : 0};
    for (int k = 0; k < 3; k++) {
      cb_surface *surface = bean();
      cb_bundle *b;
      check_ok(laid_bundle(surface, (k - 1) * 1e-6, 2, ab, 1, &motion, 0, NULL, &options, &b));
      check_ok(cb_bundle_connection(b, r, A[k], NULL, M[k], NULL));
      for (int i = 6; i < 12 && k != 1; i++) A[k][i] *= 1e3;
      cb_bundle_free(b);
      cb_surface_free(surface);
    }
    for (int k = 0; k < 3; k += 2) {
      for (int i = 0; i < 12; i++) check_near(A[k][i], A[1][i], 1e-6);
      for (int i = 0; i < 4; i++) check_near(M[k][i], M[1][i], 1e-6 * M[1][0]);
    }
  }
}

/* --- volume --- */

static const char *const one[1] = {"a"};
static const cb_poses_motion grows = {NULL, {"X*(1 + a)", "Y*(1 + a)", "Z*(1 + a)"}};

/* A ball whose radius a grows gives the fluid of density rho in H3 the kinetic energy 2 pi rho sinh(a)^4 (coth a - 1)
 * a'^2. In S3 the volume of a body must not change. */
static void a_ball_that_grows_pushes_the_fluid_of_h3(void **unused) {
  static const double pi = 3.14159265358979323846;
  const cb_material none = {0, 0};
  cb_fluid_model *exact = exact_model();
  const cb_immersed_bundle_options options = {.material = &none, .density = 3, .added_mass = exact};
  double off[2];
  for (int k = 0; k < 2; k++) {
    cb_surface *s = curved_ball(.8, k ? 32 : 16, 0, CB_CHART_EXPONENTIAL);
    cb_bundle *b;
    double G[49];
    check_ok(laid_bundle(s, -1, 1, one, 1, &grows, 0, NULL, &options, &b));
    /* The shape variable .25 gives the radius .8 (1 + .25) = 1. G[48] is for the rate 1 of the shape variable, at which
     * the radius grows at the rate .8. */
    check_ok(b->class_->form(b, (double[]){.25}, G, NULL));
    off[k] = G[48] / (4 * pi * 3 * pow(sinh(1), 4) * (1 / tanh(1) - 1) * .64) - 1;
    cb_bundle_free(b);
    cb_surface_free(s);
  }
  print_message("  2 T off by %.2e and %.2e\n", off[0], off[1]);
  check_at_most(fabs(off[1]), .04);
  check_near(off[0] / off[1], 4, 1); /* the error of the mesh is of second order */
  cb_surface *s = curved_ball(.8, 16, 0, CB_CHART_EXPONENTIAL);
  cb_bundle *b;
  check_error_begins(laid_bundle(s, 1, 1, one, 1, &grows, 0, NULL, &options, &b), CB_ERROR_DOMAIN,
                     "the volume changes by ");
  assert_non_null(
      strstr(cb_error_text(), " m^3 per unit of a, 1 of the volume that the surface sweeps: expected a shape of"));
  cb_surface_free(s);
  cb_fluid_model_free(exact);
}

/* --- limits of the chart --- */

static void shapes_beyond_the_chart_are_singular(void **unused) {
  static const cb_poses_motion still = {NULL, {"X", "Y*(1 + a)", "Z"}};
  static const cb_shape_shift shift = {NULL, {"4*a", "0", "0"}};
  for (int shifted = 0; shifted < 2; shifted++) {
    cb_surface *s = bean();
    const cb_immersed_bundle_options options = {.material = &light};
    cb_bundle *b;
    double A[6], r = shifted ? 1 : 40;
    check_ok(laid_bundle(s, 1, 1, one, 1, shifted ? &still : &grows, shifted, &shift, &options, &b));
    check_ok(cb_bundle_connection(b, (double[]){.1}, A, NULL, NULL, NULL));
    assert_int_equal(cb_bundle_connection(b, &r, A, NULL, NULL, NULL), CB_STEP_DOMAIN);
    assert_non_null(strstr(cb_error_text(), shifted ? "the shift (4, 0, 0) reaches the antipode of the origin"
                                                    : "is outside the chart of the space of curvature 1"));
    cb_bundle_free(b);
    cb_surface_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_balls_swim_by_curvature_alone),
      cmocka_unit_test(a_body_in_another_frame_has_the_connection_of_it),
      cmocka_unit_test(the_kinetic_energy_is_positive),
      cmocka_unit_test(flat_space_is_the_limit),
      cmocka_unit_test(a_ball_that_grows_pushes_the_fluid_of_h3),
      cmocka_unit_test(shapes_beyond_the_chart_are_singular),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
