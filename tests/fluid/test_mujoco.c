/* Tests of MuJoCo's two fluid models. Forces and virtual masses are compared with those of MuJoCo 3.14.0, with its
 * quadrature and with exact integrals (tables in tests/mujoco). Other tests check derivatives, the limits below which
 * version 2.2 changes its formulas, and the sum over several geoms at their places. */
#include "csv.h"
#include "fluid/ellipsoid.h"
#include "fluid_models.h"
#include "numerics/vec3.h"

static const double round_off = 1e-12; /* round-off of sums of ten terms, relative to the largest term */

static cb_mass mass_of(double m, double x, double y, double z) {
  cb_mass mass = {.mass = m};
  const double I[6] = {x, y, z, m, m, m};
  for (int i = 0; i < 6; i++) mass.inertia[i][i] = I[i];
  return mass;
}

typedef struct reference_body {
  const char *name, *geom;
  double m, I[3]; /* I: moments of inertia per unit mass */
} reference_body;

static const reference_body bodies[] = {
    {"sphere", "{type: sphere, size: [0.1]", 2, {0.4 * 0.01, 0.4 * 0.01, 0.4 * 0.01}},
    {"prolate", "{type: ellipsoid, size: [0.05, 0.05, 0.2]", 1.5, {0.2 * 0.0425, 0.2 * 0.0425, 0.2 * 0.005}},
    {"plate", "{type: box, size: [0.2, 0.1, 0.005]", 0.4, {0.010025 / 3, 0.040025 / 3, 0.05 / 3}},
    {"disc", "{type: ellipsoid, size: [0.15, 0.15, 0.01]", 0.5, {0.2 * 0.0226, 0.2 * 0.0226, 0.2 * 0.045}},
    {"coin",
     "{type: cylinder, size: [0.01213, 0.000875]",
     0.00567,
     {(3 * 0.01213 * 0.01213 + 4 * 0.000875 * 0.000875) / 12, (3 * 0.01213 * 0.01213 + 4 * 0.000875 * 0.000875) / 12,
      0.01213 * 0.01213 / 2}}};

static void forces_are_those_that_mujoco_computes(void **unused) {
  csv c = csv_open("mujoco/forces.csv", 3);
  int rows = 0;
  for (; csv_next(&c); rows++) {
    const reference_body *b = bodies;
    while (strcmp(b->name, c.word[0])) b++;
    const bool boxed = !strcmp(c.word[1], "inertiabox"), own = !strcmp(c.word[2], "coef"),
               windy = !strcmp(c.word[2], "wind"), water = !strcmp(c.word[2], "water"),
               stokes = !strcmp(c.word[2], "stokes");
    const double rho = own      ? 1.5
                       : water  ? 1000
                       : stokes ? 0
                                : 1.2,
                 viscosity = own      ? 0.01
                             : water  ? 9e-4
                             : stokes ? 1
                                      : 1.8e-5,
                 wind[3] = {1.5, -0.7, 2};
    const cb_mass mass = mass_of(b->m, b->m * b->I[0], b->m * b->I[1], b->m * b->I[2]);
    double V[6], R[3][3], turned[3];
    memcpy(V, csv_numbers(&c, "wx"), sizeof V);
    cb_quaternion_rotation(csv_numbers(&c, "qw"), R);
    cb_apply3_transposed(R, wind, turned);
    for (int i = 0; i < 3 && windy; i++) V[3 + i] -= turned[i];
    for (int ideal = 0; ideal < 2; ideal++) {
      char text[512];
      if (boxed)
        snprintf(text, sizeof text, "{viscosity: %.17g}", viscosity);
      else
        snprintf(text, sizeof text, "{viscosity: %.17g, kappa: %s, geoms: [%s%s}]}", viscosity,
                 ideal ? "exact" : "mujoco", b->geom, own ? ", coefficients: [0.7, 0.1, 0.9, 2, 0.3]" : "");
      subject s = subject_of(boxed ? "mujoco_inertia_box" : "mujoco_ellipsoid", text, &mass);
      const double *want = csv_numbers(&c, ideal ? "tx_ideal" : "tx_314");
      double F[6], greatest[2];
      wrench_of(&s, rho, V, F, greatest);
      greatest[0] = fmax(greatest[0], 0.01 * greatest[1]); /* a lower limit, because the torques may cancel */
      for (int i = 0; i < 6; i++) check_near(F[i], want[i], round_off * greatest[i / 3]);
      subject_end(&s);
    }
  }
  assert_int_equal(rows, 250);
  fclose(c.file);
}

static void virtual_masses_are_those_that_mujoco_has(void **unused) {
  csv c = csv_open("mujoco/virtual-mass.csv", 0);
  int rows = 0;
  for (; csv_next(&c); rows++)
    for (int exact = 0; exact < 2; exact++) {
      const double *m = csv_numbers(&c, exact ? "mx_exact" : "mx_314"),
                   *kappa = csv_numbers(&c, exact ? "kx_exact" : "kx_mj15");
      cb_ellipsoid e = {.r = {0}};
      double own[3];
      memcpy(e.r, csv_numbers(&c, "rx"), sizeof e.r);
      const cb_ellipsoid_rule rule = exact ? CB_ELLIPSOID_EXACT : CB_ELLIPSOID_MUJOCO;
      cb_ellipsoid_finish(&e, rule);
      cb_ellipsoid_kappa(e.r, rule, own);
      const double moments = fmax(m[3], fmax(m[4], m[5]));
      for (int i = 0; i < 3; i++) {
        check_near(own[i], kappa[i], 1e-13);
        /* the mass of MuJoCo has the factor 1/(2 - kappa), which magnifies the round-off of its coefficients kappa */
        check_near(e.mass[i], m[i], 1e-12 * fmax(m[0], fmax(m[1], m[2])) * (exact ? 1 : 1 / (2 - kappa[i]) + 1));
        check_near(e.inertia[i], m[3 + i], 1e-10 * moments);
      }
    }
  assert_int_equal(rows, 50);
  fclose(c.file);
}

/* The derivatives by the twist agree with differences. At rest only viscous forces, which are linear in the twist, have
 * a derivative. */
static void derivatives_are_those_of_differences(void **unused) {
  static const char *const text[] = {
      ("{viscosity: 0.3, geoms: [{type: box, size: [0.2, 0.1, 0.03], position: [1, 2, 0.5], quaternion: [1, 2, -0.5, "
       "0.3], coefficients: [0.7, 0.1, 0.9, 2, 0.3]}, {type: capsule, size: [0.1, 0.2]}]}"),
      "{viscosity: 0.3, compat: \"2.2\", geoms: [{size: [0.2, 0.1, 0.03]}]}",
      /* the body is small enough for one of the two limits of version 2.2 */
      "{viscosity: 0.3, compat: \"2.2\", geoms: [{size: [0.002, 0.003, 0.001]}]}",
      /* the body is small enough for both limits of version 2.2 */
      "{viscosity: 0.3, compat: \"2.2\", geoms: [{size: [2e-5, 1e-5, 3e-5]}]}", "{viscosity: 0.3}"};
  const cb_mass mass = mass_of(0.7, 0.02, 0.05, 0.06);
  uint64_t seed = check_seed();
  for (int model = 0; model < 5; model++) {
    subject s = subject_of(model == 4 ? "mujoco_inertia_box" : "mujoco_ellipsoid", text[model], &mass);
    check_subject_slopes(&s, &seed);
    double V[6] = {0}, F[CB_FLUID_TERMS][6] = {{0}}, dF[CB_FLUID_TERMS][6][6] = {{{0}}}, sum = 0;
    check_ok(s.model->class_->on_twist(s.model, s.body, 0, 1.3, V, F, dF));
    for (int k = 0; k < s.terms; k++)
      for (int i = 0; i < 36; i++) {
        if (k + 1 < s.terms) assert_true(F[k][i % 6] == 0 && dF[k][i / 6][i % 6] == 0);
        sum += dF[k][i / 6][i % 6];
      }
    assert_true(sum < 0);
    subject_end(&s);
  }
}

/* For two geoms that are rotated and shifted, the wrench is the sum of the wrenches of both, each computed in the axes
 * of its geom and moved to the origin. */
static void geoms_act_where_they_are(void **unused) {
  static const char *const size[2] = {"type: box, size: [0.2, 0.1, 0.03]", "type: capsule, size: [0.1, 0.2]"};
  static const double place[2][3] = {{1, 2, 0.5}, {-0.3, 0, 0.4}}, turn[2][4] = {{1, 2, -0.5, 0.3}, {0.2, -1, 0.4, 2}};
  char text[2][256], both[1024];
  uint64_t seed = check_seed();
  for (int g = 0; g < 2; g++)
    snprintf(text[g], sizeof text[g], "{%s, position: [%g, %g, %g], quaternion: [%g, %g, %g, %g]}", size[g],
             place[g][0], place[g][1], place[g][2], turn[g][0], turn[g][1], turn[g][2], turn[g][3]);
  snprintf(both, sizeof both, "{viscosity: 0.2, geoms: [%s, %s]}", text[0], text[1]);
  subject whole = subject_of("mujoco_ellipsoid", both, NULL);
  for (int round = 0; round < 10; round++) {
    double V[6], F[6], sum[6] = {0}, greatest[2];
    for (int i = 0; i < 6; i++) V[i] = check_uniform(&seed, -2, 2);
    wrench_of(&whole, 1.1, V, F, greatest);
    for (int g = 0; g < 2; g++) {
      double q[4], R[3][3], own[6], f[6], at[6], torque[3], unused_[2];
      memcpy(q, turn[g], sizeof q);
      cb_quaternion_project(q);
      cb_quaternion_rotation(q, R);
      memcpy(at, V, sizeof at);
      cb_cross3(V, place[g], torque);
      for (int i = 0; i < 3; i++) at[3 + i] += torque[i];
      for (int i = 0; i < 2; i++) cb_apply3_transposed(R, at + 3 * i, own + 3 * i);
      snprintf(both, sizeof both, "{viscosity: 0.2, geoms: [{%s}]}", size[g]);
      subject alone = subject_of("mujoco_ellipsoid", both, NULL);
      wrench_of(&alone, 1.1, own, f, unused_);
      for (int i = 0; i < 2; i++) cb_apply3(R, f + 3 * i, at + 3 * i);
      cb_cross3(place[g], at + 3, torque);
      for (int i = 0; i < 6; i++) sum[i] += at[i] + (i < 3 ? torque[i] : 0);
      subject_end(&alone);
    }
    for (int i = 0; i < 6; i++) check_near(F[i], sum[i], 1e-13 * (greatest[0] + greatest[1]));
  }
  subject_end(&whole);
}

/* In version 2.2 of MuJoCo a body of 1 cm has nearly no lift at low speeds (here 0.02 m/s). At high speeds (here 30
 * m/s) it has the lift of version 3.14. */
static void floors_take_the_lift_from_small_bodies(void **unused) {
  subject s[2] = {subject_of("mujoco_ellipsoid", "{geoms: [{size: [0.01, 0.01, 0.002]}]}", NULL),
                  subject_of("mujoco_ellipsoid", "{compat: \"2.2\", geoms: [{size: [0.01, 0.01, 0.002]}]}", NULL)};
  for (int fast = 0; fast < 2; fast++) {
    const double speed = fast ? 30 : 0.02, V[6] = {0, 0, 0, 0.8 * speed, 0, 0.6 * speed};
    double F[2][5][6] = {{{0}}};
    for (int old = 0; old < 2; old++)
      check_ok(s[old].model->class_->on_twist(s[old].model, s[old].body, 0, 1.2, V, F[old], NULL));
    const double ratio = F[1][2][5] / F[0][2][5];
    if (fast)
      check_near(ratio, 1, 1e-14);
    else
      assert_true(fabs(ratio) < 1e-3);
  }
  for (int old = 0; old < 2; old++) subject_end(&s[old]);
}

/* With the half axes r and the velocity v, version 2.2 uses q_i = (r_j r_k)^2 v_i, D = q.q and N = q.v. If D and N |v|
 * are below the limit f = 1e-15, the lift is rho pi (D/f)^(1/2) (N/f) (N v - |v|^2 q), where rho is the density of the
 * fluid. The drag then uses the area pi (D/f)^(1/2). */
static void below_the_floors_forces_are_those_of_2_2(void **unused) {
  const double r[3] = {2e-5, 1e-5, 3e-5}, V[6] = {0, 0, 0, 0.8, -0.3, 0.6}, *v = V + 3, f = 1e-15, rho = 1.3;
  subject s = subject_of("mujoco_ellipsoid", "{compat: 2.2, slender: 0, geoms: [{size: [2e-5, 1e-5, 3e-5]}]}", NULL);
  double F[5][6] = {{0}}, q[3], D = 0, N = 0;
  check_ok(s.model->class_->on_twist(s.model, s.body, 0, rho, V, F, NULL));
  for (int i = 0; i < 3; i++) {
    q[i] = pow(r[(i + 1) % 3] * r[(i + 2) % 3], 2) * v[i];
    D += q[i] * q[i];
    N += q[i] * v[i];
  }
  const double square = cb_dot3(v, v), area = M_PI * sqrt(D / f), lift = rho * area * N / f;
  for (int i = 0; i < 3; i++) {
    const double want[2] = {lift * (N * v[i] - square * q[i]), -0.5 * rho * area * sqrt(square) * v[i]};
    check_near(F[2][3 + i], want[0], 1e-14 * lift * N);
    check_near(F[3][3 + i], want[1], 1e-14 * area);
  }
  subject_end(&s);
}

/* The ellipsoid of a capsule is as long as the capsule with its caps. In `size` the half length is that of the cylinder
 * without the caps. */
static void a_capsule_is_as_long_as_its_ellipsoid(void **unused) {
  const double V[6] = {0.3, -0.8, 0.5, 1.1, 0.2, -0.7};
  double F[2][6], greatest[2];
  for (int k = 0; k < 2; k++) {
    subject s = subject_of(
        "mujoco_ellipsoid",
        k ? "{geoms: [{type: capsule, size: [0.125, 0.25]}]}" : "{geoms: [{size: [0.125, 0.125, 0.375]}]}", NULL);
    wrench_of(&s, 1.3, V, F[k], greatest);
    subject_end(&s);
  }
  assert_memory_equal(F[0], F[1], sizeof F[0]);
}

static void fails(const char *name, const char *parameters, const char *text) {
  cb_tree *tree;
  cb_fluid_model *model = NULL;
  void *body = NULL;
  check_ok(cb_yaml_read_text("parameters", parameters, strlen(parameters), &tree));
  cb_status status = cb_fluid_model_create(name, cb_tree_root(tree), &model);
  if (!status) status = model->class_->prepare(model, NULL, NULL, &body);
  check_error_begins(status, CB_ERROR_INPUT, text);
  cb_fluid_model_free(model);
  cb_tree_free(tree);
}

static void geoms_that_are_none_are_refused_with_their_place(void **unused) {
  fails("mujoco_ellipsoid", "{geoms: 3}", "parameters:1:9: error: geoms: expected a list of {type: .., size: [..]}");
  fails("mujoco_ellipsoid", "{geoms: [{type: sphere, size: [0]}]}",
        "parameters:1:32: error: geoms: size: expected a number > 0, found 0");
  fails("mujoco_ellipsoid", "{geoms: [{type: plane, size: [1]}]}", "parameters:1:17: error: type");
  fails("mujoco_ellipsoid", "{geoms: [{type: box, size: [1, 2]}]}",
        "parameters:1:28: error: geoms: size: expected a list of 3 numbers");
  fails("mujoco_ellipsoid", "{geoms: [{type: box}]}", "parameters:1:10: error: geoms: the key `size` is missing");
  fails("mujoco_ellipsoid", "{geoms: [{size: [1, 1, 1], coefficients: [0.5, -1, 1, 1, 1]}]}",
        "parameters:1:48: error: geoms: coefficients: expected a number >= 0, found -1");
  fails("mujoco_ellipsoid", "{geoms: [{size: [1, 1, 1], quaternion: [0, 0, 0, 0]}]}",
        "parameters:1:40: error: geoms: quaternion: expected");
  fails("mujoco_ellipsoid", "{blunt: -0.5}", "parameters:1:9: error: blunt");
  fails("mujoco_ellipsoid", "{compat: 2.1}", "parameters:1:10: error: compat");
  fails("thin_plate", "{geoms: [{size: [1, 1, 1], coefficients: [1, 1, 1, 1, 1]}]}",
        "parameters:1:42: error: geoms: coefficients: expected no such key for this model");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_are_those_that_mujoco_computes),
      cmocka_unit_test(virtual_masses_are_those_that_mujoco_has),
      cmocka_unit_test(derivatives_are_those_of_differences),
      cmocka_unit_test(geoms_act_where_they_are),
      cmocka_unit_test(floors_take_the_lift_from_small_bodies),
      cmocka_unit_test(below_the_floors_forces_are_those_of_2_2),
      cmocka_unit_test(a_capsule_is_as_long_as_its_ellipsoid),
      cmocka_unit_test(geoms_that_are_none_are_refused_with_their_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
