/* The corrected ellipsoid model and thin plates: MuJoCo's model where nothing is corrected, each correction alone, the
 * added mass against closed forms and against panels, and the planar equations of falling plates across a plate.
 * labels: medium
 * timeout: 300
 */
#include "check_error.h"
#include "fluid/ellipsoid.h"
#include "fluid_models.h"
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
  (void)unused;
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
      check_ok(own.model->kind->on_twist(own.model, own.body, p, 1.3, V, F[0], NULL));
      check_ok(mujoco.model->kind->on_twist(mujoco.model, mujoco.body, p, 1.3, V, F[1], NULL));
      assert_memory_equal(F[0], F[1], sizeof F[0]);
    }
  cb_added_mass none = {.kinetic = 0};
  check_ok(own.model->kind->added_mass(own.model, own.body, NULL, NULL, NULL, &none));
  for (int i = 0; i < 36; i++) assert_true(none.K[i / 6][i % 6] == 0);
  subject_end(&own);
  subject_end(&mujoco);
}

static void each_correction_acts_by_itself(void **unused) {
  (void)unused;
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
      check_ok(s.model->kind->on_twist(s.model, s.body, 0, 1.3, V, F[on], NULL));
      subject_end(&s);
    }
    for (int k = 0; k < 5; k++) assert_int_equal(memcmp(F[0][k], F[1][k], sizeof F[0][k]) != 0, k == term[c]);
  }
}

/* Of a plate of half sides a, b, c that moves along each axis, the drag of the area that is seen: pi times the others. */
static void the_shadow_is_what_is_seen(void **unused) {
  (void)unused;
  static const double r[3] = {0.2, 0.1, 0.03};
  subject s = subject_of("ellipsoid", "{blunt: 0.8, slender: 0, geoms: [{size: [0.2, 0.1, 0.03]}]}", NULL);
  for (int i = 0; i < 3; i++) {
    double V[6] = {0}, F[5][6] = {{0}};
    V[3 + i] = -1.7;
    check_ok(s.model->kind->on_twist(s.model, s.body, 0, 1.3, V, F, NULL));
    check_near(F[3][3 + i], 1.3 * 0.8 * M_PI * r[(i + 1) % 3] * r[(i + 2) % 3] * 1.7 * 1.7, 1e-15);
  }
  subject_end(&s);
}

static void derivatives_are_those_of_differences(void **unused) {
  (void)unused;
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

/* --- added mass --- */

/* Closed forms: Lamb, articles 114 and 115, evaluated to 14 digits; and X^T diag X where the body's frame is elsewhere. */
static void the_added_mass_is_that_of_closed_forms(void **unused) {
  (void)unused;
  static const double mass[3] = {4.6560012697569, 9.1619709065627, 34.218917658493},
                      moment[3] = {9.6325576313697, 35.599830507688, 3.9141914749957}, c[3] = {0.3, -1.2, 0.7};
  subject s[2] = {subject_of("ellipsoid", "{geoms: [{size: [3, 2, 1]}]}", NULL),
                  subject_of("thin_plate", "{geoms: [{size: [3, 2, 1], position: [0.3, -1.2, 0.7]}]}", NULL)};
  for (int moved = 0; moved < 2; moved++) {
    cb_added_mass own = {.kinetic = 0};
    check_ok(s[moved].model->kind->added_mass(s[moved].model, s[moved].body, NULL, NULL, NULL, &own));
    for (int j = 0; j < 6; j++) {
      double Y[6] = {0}, at[6], l[6], torque[3];
      Y[j] = 1;
      memcpy(at, Y, sizeof at);
      cb_cross3(Y, c, torque);
      for (int i = 0; i < 3 && moved; i++) at[3 + i] += torque[i];
      for (int i = 0; i < 3; i++) l[i] = moment[i] * at[i], l[3 + i] = mass[i] * at[3 + i];
      cb_cross3(c, l + 3, torque);
      for (int i = 0; i < 6; i++) check_near(own.K[i][j], l[i] + (moved && i < 3 ? torque[i] : 0), 1e-12 * 60);
    }
    subject_end(&s[moved]);
  }
}

/* Panels on the same ellipsoid, to the error of 1.4 % that 1 152 of them have. */
static void the_added_mass_is_that_of_panels(void **unused) {
  (void)unused;
  solid_mesh m = ellipsoid_mesh(12, 1, 0.7, 0.4);
  cb_kirchhoff *k = NULL;
  cb_kirchhoff_mass panels;
  cb_added_mass own = {.kinetic = 0};
  subject s = subject_of("ellipsoid", "{geoms: [{size: [1, 0.7, 0.4]}]}", NULL);
  check_ok(cb_kirchhoff_create(m.vertices, (const double(*)[3])m.x, m.faces, (const int(*)[3])m.face, NULL, &k));
  check_ok(cb_kirchhoff_added_mass(k, NULL, &panels));
  check_ok(s.model->kind->added_mass(s.model, s.body, NULL, NULL, NULL, &own));
  for (int i = 0; i < 36; i++) {
    const int row = i / 6, column = i % 6;
    check_near(panels.K[row][column], own.K[row][column], 0.014 * (row < 3 && column < 3 ? own.K[1][1] : own.K[5][5]));
  }
  cb_kirchhoff_free(k);
  subject_end(&s);
  free_mesh(&m);
}

/* --- plates --- */

/* Andersen, Pesavento & Wang's circulation, drag and torque, in units of the half chord and of U, as they print them. */
static void planar(const double u, const double v, const double w, double F[3]) {
  const double speed = sqrt(u * u + v * v), circulation = 2 / M_PI * (-1.2 * u * v / speed + M_PI * w),
               drag = (1.4 - (u * u - v * v) / (speed * speed)) * speed / M_PI, torque = (0.2 + 0.2 * fabs(w)) * w;
  F[0] = -circulation * v - drag * u;
  F[1] = circulation * u - drag * v;
  F[2] = -torque;
}

static void plates_fall_by_the_planar_equations(void **unused) {
  (void)unused;
  const double a = 0.3, span = 2, rho = 1.3, U = 0.7, S = M_PI * a * span,
               unit = rho * M_PI * a * a * U * U / a * S / (2 * a);
  uint64_t seed = check_seed();
  subject s = subject_of("thin_plate", "{speed: 0.7, geoms: [{size: [0.3, 2, 0.01]}]}", NULL);
  for (int round = 0; round < 20; round++) {
    double V[6] = {0}, F[6], want[3], greatest[2];
    const double u = check_uniform(&seed, -2, 2), v = check_uniform(&seed, -2, 2), w = check_uniform(&seed, -2, 2);
    planar(u, v, w, want);
    V[3] = U * u, V[5] = U * v, V[1] = -U / a * w; /* in the plane of x and z: the positive turn is about -y */
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
      cmocka_unit_test(derivatives_are_those_of_differences),
      cmocka_unit_test(the_added_mass_is_that_of_closed_forms),
      cmocka_unit_test(the_added_mass_is_that_of_panels),
      cmocka_unit_test(plates_fall_by_the_planar_equations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
