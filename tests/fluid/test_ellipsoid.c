/* Tests of the fluid models `ellipsoid`, which adds corrections to MuJoCo's model, and `thin_plate`. Without
 * corrections `ellipsoid` equals MuJoCo's model, and each correction is tested separately. The added mass is compared
 * with closed forms and panels. `thin_plate` is compared with the planar equations of falling plates. */
#include "fluid/ellipsoid.h"
#include "fluid_models.h"
#include "immersed.h"
#include "numerics/vec3.h"
#include "potential.h"

static const char *const geoms =
    "geoms: [{type: box, size: [0.2, 0.1, 0.03], position: [1, 2, 0.5], quaternion: [1, 2, -0.5, 0.3]}, "
    "{type: capsule, size: [0.1, 0.2], position: [-0.4, 0, 0.2]}]";

static subject of(const char *name, const char *rest) {
  char text[1024];
  snprintf(text, sizeof text, "{%s%s}", rest, geoms);
  return subject_of(name, text, NULL);
}

static void random_twist(uint64_t *seed, double V[6]) {
  for (int i = 0; i < 6; i++) V[i] = check_uniform(seed, -2, 2);
}

static void without_corrections_it_is_mujocos(void **unused) {
  uint64_t seed = check_seed();
  subject own = of("ellipsoid",
                   "viscosity: 0.1, blunt: 0.5, slender: 0.25, angular: 1.5, kutta: 1, magnus: 1, inertia: "
                   "false, area: section, lift: volume, spin: slender, kappa: mujoco, "),
          mujoco = of("mujoco_ellipsoid", "viscosity: 0.1, ");
  assert_int_equal(own.terms, mujoco.terms);
  for (int round = 0; round < 20; round++)
    for (int p = 0; p < own.places; p++) {
      double V[6], F[2][5][6] = {{{0}}};
      random_twist(&seed, V);
      check_ok(own.model->class_->on_twist(own.model, own.body, p, 1.3, V, F[0], NULL));
      check_ok(mujoco.model->class_->on_twist(mujoco.model, mujoco.body, p, 1.3, V, F[1], NULL));
      assert_memory_equal(F[0], F[1], sizeof F[0]);
    }
  cb_added_mass none = {.kinetic = 0};
  check_ok(own.model->class_->added_mass(own.model, own.body, NULL, NULL, NULL, &none));
  own.model->class_->added_mass_of(own.model, own.body, 0, none.K);
  for (int i = 0; i < 36; i++) assert_true(none.K[i / 6][i % 6] == 0);
  subject_end(&own);
  subject_end(&mujoco);
}

static void each_correction_acts_by_itself(void **unused) {
  static const char *const key[] = {"inertia: false", "area: section", "lift: volume", "spin: slender"},
                           *const to[] = {"inertia: true", "area: shadow", "lift: chord", "spin: angular"};
  static const int term[] = {0, 3, 1, 3};
  uint64_t seed = check_seed();
  double V[6];
  random_twist(&seed, V);
  for (int c = 0; c < 4; c++) {
    double F[2][5][6] = {{{0}}};
    for (int on = 0; on < 2; on++) {
      char text[512] = "slender: 0.3, ";
      for (int k = 0; k < 4; k++) {
        strcat(text, on && k == c ? to[k] : key[k]);
        strcat(text, ", ");
      }
      subject s = of("ellipsoid", text);
      check_ok(s.model->class_->on_twist(s.model, s.body, 0, 1.3, V, F[on], NULL));
      subject_end(&s);
    }
    for (int k = 0; k < 5; k++) assert_int_equal(memcmp(F[0][k], F[1][k], sizeof F[0][k]) != 0, k == term[c]);
  }
}

/* The drag uses the projected area. For an ellipsoid that moves along one of its axes, this is pi times the product of
 * the other two half axes. */
static void the_shadow_is_what_is_seen(void **unused) {
  static const double r[3] = {0.2, 0.1, 0.03};
  subject s = subject_of("ellipsoid", "{blunt: 0.8, slender: 0, geoms: [{size: [0.2, 0.1, 0.03]}]}", NULL);
  for (int i = 0; i < 3; i++) {
    double V[6] = {0}, F[5][6] = {{0}};
    V[3 + i] = -1.7;
    check_ok(s.model->class_->on_twist(s.model, s.body, 0, 1.3, V, F, NULL));
    check_near(F[3][3 + i], 1.3 * 0.8 * M_PI * r[(i + 1) % 3] * r[(i + 2) % 3] * 1.7 * 1.7, 1e-15);
  }
  subject_end(&s);
}

/* For a spin w around axis i and a velocity v along the next axis j, the lift is C rho (4 pi/3) r_i max(r_j, r_k)^2 w v
 * along the third axis k. C is the parameter `magnus`, rho the density of the fluid, and r_i, r_j, r_k are the half
 * axes. */
static void the_lift_of_spinning_is_by_area_times_chord(void **unused) {
  static const double r[3] = {0.2, 0.1, 0.03}, wide[3] = {0.1, 0.2, 0.2};
  subject s = subject_of("ellipsoid", "{magnus: 0.8, geoms: [{size: [0.2, 0.1, 0.03]}]}", NULL);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    double V[6] = {0}, F[5][6] = {{0}};
    V[i] = 2;
    V[3 + j] = 1.7;
    check_ok(s.model->class_->on_twist(s.model, s.body, 0, 1.3, V, F, NULL));
    check_near(F[1][3 + k], 0.8 * 1.3 * 4 * M_PI / 3 * r[i] * wide[i] * wide[i] * 2 * 1.7, 1e-15);
  }
  subject_end(&s);
}

static void derivatives_are_those_of_differences(void **unused) {
  uint64_t seed = check_seed();
  static const char *const name[] = {"ellipsoid", "ellipsoid", "thin_plate"},
                           *const text[] = {"viscosity: 0.2, slender: 0.3, inertia: false, ",
                                            "area: section, lift: volume, spin: slender, ", "speed: 0.8, "};
  for (int k = 0; k < 3; k++) {
    subject s = of(name[k], text[k]);
    check_subject_slopes(&s, &seed);
    subject_end(&s);
  }
}

/* The default coefficients are those of falling plates in the literature. */
static void its_coefficients_are_those_of_plates(void **unused) {
  subject s[2] = {of("ellipsoid", ""),
                  of("ellipsoid", "viscosity: 0, blunt: 1.2, slender: 0, angular: 0.75, kutta: 1.2, magnus: 2, ")};
  double F[2][6], greatest[2], V[6];
  uint64_t seed = check_seed();
  random_twist(&seed, V);
  for (int k = 0; k < 2; k++) {
    wrench_of(&s[k], 1.3, V, F[k], greatest);
    subject_end(&s[k]);
  }
  assert_memory_equal(F[0], F[1], sizeof F[0]);
}

static void without_geoms_it_is_that_of_the_box(void **unused) {
  static const double none[CB_ELLIPSOID_COEFFICIENTS], low[3] = {1, -2, 0.5}, high[3] = {3, -1, 1};
  double x[2][3];
  for (int i = 0; i < 3; i++) {
    x[0][i] = low[i];
    x[1][i] = high[i];
  }
  const cb_surface box = {.vertices = 2, .x = x};
  cb_ellipsoids *all;
  check_ok(cb_ellipsoids_read(NULL, &box, NULL, none, CB_ELLIPSOID_EXACT, &all));
  assert_int_equal(all->n, 1);
  for (int i = 0; i < 3; i++) {
    check_near(all->of->r[i], (high[i] - low[i]) / 2, 1e-15);
    check_near(all->place[0][i], (high[i] + low[i]) / 2, 1e-15);
  }
  cb_ellipsoids_free(all);
}

/* --- added mass --- */

/* The closed forms are those of Lamb, Hydrodynamics, articles 114 and 115, evaluated to 14 digits. If the centre c of
 * the ellipsoid is not the origin, the added mass is X^T D X: D is the diagonal matrix about the centre, and X converts
 * the twist of the body to the twist of the point c. */
static void the_added_mass_is_that_of_closed_forms(void **unused) {
  static const double mass[3] = {4.6560012697569, 9.1619709065627, 34.218917658493},
                      moment[3] = {9.6325576313697, 35.599830507688, 3.9141914749957}, c[3] = {0.3, -1.2, 0.7};
  subject s[2] = {subject_of("ellipsoid", "{geoms: [{size: [3, 2, 1]}]}", NULL),
                  subject_of("thin_plate", "{geoms: [{size: [3, 2, 1], position: [0.3, -1.2, 0.7]}]}", NULL)};
  for (int moved = 0; moved < 2; moved++) {
    cb_added_mass own = {.kinetic = 0};
    check_ok(s[moved].model->class_->added_mass(s[moved].model, s[moved].body, NULL, NULL, NULL, &own));
    for (int j = 0; j < 6; j++) {
      double Y[6] = {0}, at[6], l[6], torque[3];
      Y[j] = 1;
      memcpy(at, Y, sizeof at);
      cb_cross3(Y, c, torque);
      for (int i = 0; i < 3 && moved; i++) at[3 + i] += torque[i];
      for (int i = 0; i < 3; i++) {
        l[i] = moment[i] * at[i];
        l[3 + i] = mass[i] * at[3 + i];
      }
      cb_cross3(c, l + 3, torque);
      for (int i = 0; i < 6; i++) check_near(own.K[i][j], l[i] + (moved && i < 3 ? torque[i] : 0), 1e-12 * 60);
    }
    subject_end(&s[moved]);
  }
}

/* An ellipsoid that is rotated by R and has the twist (w, v) has the same kinetic energy as the ellipsoid without
 * rotation with the twist (R^T w, R^T v). */
static void the_added_mass_turns_with_its_ellipsoid(void **unused) {
  static const double Y[6] = {0.3, -0.8, 0.5, 1.1, 0.2, -0.7};
  subject s[2] = {subject_of("ellipsoid", "{geoms: [{size: [3, 2, 1]}]}", NULL),
                  subject_of("ellipsoid", "{geoms: [{size: [3, 2, 1], quaternion: [1, 2, -0.5, 0.3]}]}", NULL)};
  double q[4] = {1, 2, -0.5, 0.3}, R[3][3], own[6], energy[2] = {0};
  cb_quaternion_project(q);
  cb_quaternion_rotation(q, R);
  for (int i = 0; i < 2; i++) cb_apply3_transposed(R, Y + 3 * i, own + 3 * i);
  for (int turned = 0; turned < 2; turned++) {
    const double *at = turned ? Y : own;
    cb_added_mass added = {.kinetic = 0};
    check_ok(s[turned].model->class_->added_mass(s[turned].model, s[turned].body, NULL, NULL, NULL, &added));
    for (int i = 0; i < 36; i++) energy[turned] += at[i / 6] * added.K[i / 6][i % 6] * at[i % 6];
    subject_end(&s[turned]);
  }
  check_near(energy[0], energy[1], 1e-13 * energy[0]);
}

/* A disc of radius 1 has the added mass 8/3 across its plane and the added moment of inertia 16/45 about a diameter. An
 * ellipsoid of thickness 1e-9 has nearly the same. A formula that subtracts nearly equal numbers would lose half of the
 * digits. */
static void the_added_mass_of_thin_ones_is_not_lost(void **unused) {
  cb_ellipsoid e = {.r = {1, 1, 1e-9}};
  cb_ellipsoid_finish(&e, CB_ELLIPSOID_EXACT);
  check_near(e.mass[2], 8. / 3, 5e-9);
  check_near(e.inertia[0], 16. / 45, 5e-9);
}

/* The added mass of an ellipsoid agrees with that from 1152 panels to 1.4 %, the error of these panels. */
static void the_added_mass_is_that_of_panels(void **unused) {
  solid_mesh m = ellipsoid_mesh(12, 1, 0.7, 0.4);
  cb_kirchhoff *k = NULL;
  cb_kirchhoff_mass panels;
  cb_added_mass own = {.kinetic = 0};
  subject s = subject_of("ellipsoid", "{geoms: [{size: [1, 0.7, 0.4]}]}", NULL);
  check_ok(cb_kirchhoff_create(m.vertices, (const double(*)[3])m.x, m.faces, (const int(*)[3])m.face, NULL, &k));
  check_ok(cb_kirchhoff_added_mass(k, NULL, &panels));
  check_ok(s.model->class_->added_mass(s.model, s.body, NULL, NULL, NULL, &own));
  for (int i = 0; i < 36; i++) {
    const int row = i / 6, column = i % 6;
    check_near(panels.K[row][column], own.K[row][column], 0.014 * (row < 3 && column < 3 ? own.K[1][1] : own.K[5][5]));
  }
  cb_kirchhoff_free(k);
  subject_end(&s);
  free_mesh(&m);
}

/* --- flows and densities that vary --- */

static const cb_pose somewhere = {{0.5, 0.5, -0.1, 0.7}, {0.4, -0.3, 0.8}};
static const double twist[6] = {0.3, -0.8, 0.5, 1.1, 0.2, -0.7};

/* Makes a ball that `model` represents by ellipsoids, without drag. The fluid depends on `what`: 0 at rest, 1 a wind, 2
 * a shear whose gradient is 0, 3 a vortex, 4 layers, 5 a density that varies. */
static tank ball_in(int what, const cb_fluid_model *model) {
  static const double u[3] = {0.4, -0.2, 0.6}, even[3][3], up[3] = {0, 0, 1}, level = 0.9, layers[2] = {1.3, 0.4};
  tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
  cb_flow *flow = NULL;
  cb_medium *medium;
  if (what == 1) check_ok(cb_flow_uniform(u, &flow));
  if (what == 2) check_ok(cb_flow_shear(u, even, &flow));
  if (what == 3) check_ok(cb_flow_vortex((double[3]){2, 1, 0}, (double[3]){0.3, 0.1, 1}, 4, 0.7, &flow));
  if (what == 4)
    check_ok(cb_medium_layers(1, &level, layers, up, &medium));
  else if (what == 5)
    check_ok(cb_medium_expression("0.9 + 0.3*z + 0.1*x^2", 0, NULL, NULL, up, NULL, &medium));
  else
    check_ok(cb_medium_uniform(0.9, &medium));
  k.fluid.flow = flow;
  k.fluid.medium = medium;
  k.options.added_mass_of = model;
  k.options.drag = false;
  tank_fill(&k);
  return k;
}

static double kinetic_at(const tank *k, const cb_pose *g) {
  cb_rigid_state s;
  double wrench[8][6];
  check_ok(cb_rigid_start(k->problem, 0.3, g, twist, &s));
  return row_of(k, &s, wrench).kinetic;
}

static void a_wind_is_a_flow_that_does_not_vary(void **unused) {
  subject s = of("ellipsoid", "");
  double K[2][6][6], mu0[2][6], F[2][6], dF[2][6][6], energy[2];
  for (int varying = 0; varying < 2; varying++) {
    tank k = ball_in(1 + varying, s.model);
    check_ok(k.problem->inertia(k.problem->self, 0.3, &somewhere, K[varying], mu0[varying]));
    wrenches_of(&k, 0.3, &somewhere, twist, F[varying], dF[varying]);
    energy[varying] = kinetic_at(&k, &somewhere);
    tank_empty(&k);
  }
  check_near(energy[0], energy[1], 1e-13); /* round-off of numbers of size 10 */
  for (int i = 0; i < 6; i++) {
    check_near(mu0[0][i], mu0[1][i], 1e-13);
    check_near(F[0][i], F[1][i], 1e-13);
    for (int j = 0; j < 6; j++) {
      check_near(K[0][i][j], K[1][i][j], 1e-13);
      check_near(dF[0][i][j], dF[1][i][j], 1e-13);
    }
  }
  subject_end(&s);
}

/* The wrench is compared with differences of the kinetic energy along the pose at a constant twist. Its derivative by
 * the twist is compared with differences of the wrench. Both differences are of fourth order. The model neglects the
 * gradient of the vorticity, so the test in a vortex uses a sphere, which has no added moment of inertia. */
static void the_wrench_is_that_of_the_energy(void **unused) {
  static const double weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12}, h = 1e-3;
  for (int what = 3; what <= 5; what++) {
    subject s = what == 3
                    ? subject_of("ellipsoid", "{geoms: [{type: sphere, size: [0.5], position: [0.2, 0.1, 0.4]}]}", NULL)
                    : of("ellipsoid", "");
    tank k = ball_in(what, s.model);
    double F[6] = {0}, dF[6][6] = {{0}}, changed[6][6] = {{0}};
    check_ok(k.problem->inertia_wrench(k.problem->self, 0.3, &somewhere, twist, F, dF));
    for (int c = 0; c < 6; c++) {
      double slope = 0;
      for (int n = 0; n < 4; n++) {
        const double by = h * (n < 2 ? n - 2 : n - 1);
        const cb_pose moved = pose_moved(&somewhere, c, by);
        double at[6], f[6] = {0};
        slope += weight[n] * kinetic_at(&k, &moved) / h;
        memcpy(at, twist, sizeof at);
        at[c] += by;
        check_ok(k.problem->inertia_wrench(k.problem->self, 0.3, &somewhere, at, f, NULL));
        for (int i = 0; i < 6; i++) changed[i][c] += weight[n] * f[i] / h;
      }
      check_near(F[c], slope, 1e-8); /* the tolerance includes the errors of the differences */
    }
    for (int i = 0; i < 36; i++) check_near(dF[i / 6][i % 6], changed[i / 6][i % 6], 1e-9);
    tank_empty(&k);
    subject_end(&s);
  }
}

/* --- plates --- */

/* Computes the forces F[0] along and F[1] across a plate and the torque F[2] from the circulation, drag and torque of
 * Andersen, Pesavento & Wang, as they are printed (models/thin_plate.c names the paper and defines the speed U). u and
 * v are the velocities along and across the plate divided by U, and w is its angular velocity in units of U divided by
 * the half chord. */
static void planar(const double u, const double v, const double w, double F[3]) {
  const double speed = sqrt(u * u + v * v), circulation = 2 / M_PI * (-1.2 * u * v / speed + M_PI * w),
               drag = (1.4 - (u * u - v * v) / (speed * speed)) * speed / M_PI, torque = (0.3 + 0.2 * fabs(w)) * w;
  F[0] = -circulation * v - drag * u;
  F[1] = circulation * u - drag * v;
  F[2] = -torque;
}

static void plates_fall_by_the_planar_equations(void **unused) {
  const double a = 0.3, span = 2, rho = 1.3, U = 0.7, S = M_PI * a * span,
               unit = rho * M_PI * a * a * U * U / a * S / (2 * a);
  uint64_t seed = check_seed();
  subject s = subject_of("thin_plate", "{mu1: 0.3, speed: 0.7, geoms: [{size: [0.3, 2, 0.01]}]}", NULL);
  for (int round = 0; round < 20; round++) {
    double V[6] = {0}, F[6], want[3], greatest[2];
    const double u = check_uniform(&seed, -2, 2), v = check_uniform(&seed, -2, 2), w = check_uniform(&seed, -2, 2);
    planar(u, v, w, want);
    V[3] = U * u;
    V[5] = U * v;
    V[1] = -U / a * w; /* a positive rotation in the plane of x and z is around -y */
    V[2] = 3;          /* a rotation around the normal of the plate has no torque */
    wrench_of(&s, rho, V, F, greatest);
    check_near(F[3], unit * want[0], 1e-13 * greatest[1]);
    check_near(F[5], unit * want[1], 1e-13 * greatest[1]);
    check_near(F[1], -unit * a * want[2], 1e-13 * greatest[0]);
    assert_true(F[0] == 0 && F[2] == 0 && F[4] == 0);
  }
  subject_end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_corrections_it_is_mujocos),
      cmocka_unit_test(each_correction_acts_by_itself),
      cmocka_unit_test(the_shadow_is_what_is_seen),
      cmocka_unit_test(its_coefficients_are_those_of_plates),
      cmocka_unit_test(without_geoms_it_is_that_of_the_box),
      cmocka_unit_test(the_lift_of_spinning_is_by_area_times_chord),
      cmocka_unit_test(derivatives_are_those_of_differences),
      cmocka_unit_test(the_added_mass_is_that_of_closed_forms),
      cmocka_unit_test(the_added_mass_turns_with_its_ellipsoid),
      cmocka_unit_test(the_added_mass_of_thin_ones_is_not_lost),
      cmocka_unit_test(the_added_mass_is_that_of_panels),
      cmocka_unit_test(a_wind_is_a_flow_that_does_not_vary),
      cmocka_unit_test(the_wrench_is_that_of_the_energy),
      cmocka_unit_test(plates_fall_by_the_planar_equations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
