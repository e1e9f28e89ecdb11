/* Tests that compare both of MuJoCo's fluid models, with `compat: "2.2"`, with the library of that version. Random
 * bodies of one to three geoms are in a wind, and their forces agree to 1e-12 of the largest term. The tests are
 * skipped if the library (Debian: libmujoco-dev) is not installed. */

#ifdef CB_MUJOCO
#include "fluid_models.h"
#include "numerics/vec3.h"

#include <mujoco/mujoco.h>

enum { BODIES = 200, ROOM = 4096, TYPES = 5 };

static double draw(uint64_t *seed, double low, double high) { return check_uniform(seed, low, high); }

static void draw_quaternion(uint64_t *seed, double q[4]) {
  for (int i = 0; i < 4; i++) q[i] = draw(seed, -1, 1);
  cb_quaternion_project(q);
}

typedef struct texts {
  char mjcf[ROOM], geoms[ROOM];
} texts;

static void join(char *text, const char *format, ...) {
  const size_t length = strlen(text);
  va_list args;
  va_start(args, format);
  assert_true(vsnprintf(text + length, ROOM - length, format, args) < (int)(ROOM - length));
  va_end(args);
}

/* Adds a random geom to two texts, the model of MuJoCo and the parameters of curvebody. */
static void draw_geom(uint64_t *seed, bool ellipsoid, texts *t) {
  static const char *const type[TYPES] = {"sphere", "capsule", "cylinder", "ellipsoid", "box"};
  const int k = (int)draw(seed, 0, TYPES), sizes = k == 0 ? 1 : k < 3 ? 2 : 3;
  double x[3], q[4], size[3], c[5];
  for (int i = 0; i < 3; i++) {
    x[i] = draw(seed, -0.3, 0.3);
    size[i] = exp(draw(seed, -4, -1));
  }
  for (int i = 0; i < 5; i++) c[i] = draw(seed, 0, 2);
  draw_quaternion(seed, q);
  join(t->mjcf, "<geom type='%s' mass='0' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g' size='%.17g", type[k],
       x[0], x[1], x[2], q[0], q[1], q[2], q[3], size[0]);
  join(t->geoms, "%s{type: %s, position: [%.17g, %.17g, %.17g], quaternion: [%.17g, %.17g, %.17g, %.17g], size: [%.17g",
       *t->geoms ? ", " : "", type[k], x[0], x[1], x[2], q[0], q[1], q[2], q[3], size[0]);
  for (int i = 1; i < sizes; i++) {
    join(t->mjcf, " %.17g", size[i]);
    join(t->geoms, ", %.17g", size[i]);
  }
  join(t->mjcf, "' fluidcoef='%.17g %.17g %.17g %.17g %.17g' fluidshape='%s'/>", c[0], c[1], c[2], c[3], c[4],
       ellipsoid ? "ellipsoid" : "none");
  join(t->geoms, "], coefficients: [%.17g, %.17g, %.17g, %.17g, %.17g]}", c[0], c[1], c[2], c[3], c[4]);
}

static mjModel *load(const char *text) {
  char told[1000] = "";
  static mjVFS files; /* too large for the stack */
  mj_defaultVFS(&files);
  mj_makeEmptyFileVFS(&files, "body.xml", (int)strlen(text) + 1);
  memcpy(files.filedata[0], text, strlen(text) + 1);
  mjModel *m = mj_loadXML("body.xml", &files, told, sizeof told);
  mj_deleteVFS(&files);
  if (!m) fail_msg("MuJoCo: %s: %s", told, text);
  return m;
}

/* Compares the fluid forces on one random body in one random state with those of the library. */
static void compare(uint64_t *seed, bool ellipsoid) {
  const double mass = draw(seed, 0.1, 2), viscosity = draw(seed, 0, 0.1), density = draw(seed, 0, 2),
               a = draw(seed, 1, 2), b = draw(seed, 1, 2), c = draw(seed, 1, 2), J[3] = {b + c, a + c, a + b};
  double wind[3], r[3][3], relative[3];
  texts t = {"", ""};
  for (int i = 0; i < 3; i++) wind[i] = draw(seed, -2, 2);
  join(t.mjcf,
       "<mujoco><option density='%.17g' viscosity='%.17g' wind='%.17g %.17g %.17g'/><worldbody><body><freejoint/>"
       "<inertial pos='0 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>",
       density, viscosity, wind[0], wind[1], wind[2], mass, mass * J[0], mass * J[1], mass * J[2]);
  for (int n = (int)draw(seed, 1, 4); n > 0; n--) draw_geom(seed, ellipsoid, &t);
  join(t.mjcf, "</body></worldbody></mujoco>");

  mjModel *m = load(t.mjcf);
  mjData *d = mj_makeData(m);
  draw_quaternion(seed, d->qpos + 3);
  for (int i = 0; i < 6; i++) d->qvel[i] = draw(seed, -3, 3);
  mj_forward(m, d);

  char parameters[ROOM + 80];
  snprintf(parameters, sizeof parameters,
           ellipsoid ? "{viscosity: %.17g, compat: \"2.2\", geoms: [%s]}" : "{viscosity: %.17g, compat: \"2.2\"}",
           viscosity, t.geoms);
  cb_mass own = {.mass = mass};
  for (int i = 0; i < 3; i++) {
    own.inertia[i][i] = mass * J[i];
    own.inertia[3 + i][3 + i] = mass;
  }
  subject s = subject_of(ellipsoid ? "mujoco_ellipsoid" : "mujoco_inertia_box", parameters, &own);
  double V[6], F[6], force[3], greatest[2];
  cb_quaternion_rotation(d->qpos + 3, r);
  for (int i = 0; i < 3; i++) {
    V[i] = d->qvel[3 + i];
    relative[i] = d->qvel[i] - wind[i];
  }
  cb_apply3_transposed((const double(*)[3])r, relative, V + 3);
  wrench_of(&s, density, V, F, greatest);
  cb_apply3_transposed((const double(*)[3])r, d->qfrc_passive, force);
  for (int i = 0; i < 3; i++) {
    check_near(F[i], d->qfrc_passive[3 + i], 1e-12 * greatest[0]); /* round-off of the sums */
    check_near(F[3 + i], force[i], 1e-12 * greatest[1]);
  }
  subject_end(&s);
  mj_deleteData(d);
  mj_deleteModel(m);
}

static void ellipsoids_are_pushed_as_by_the_library(void **unused) {
  uint64_t seed = 1;
  for (int i = 0; i < BODIES; i++) compare(&seed, true);
}

static void boxes_of_inertia_are_pushed_as_by_the_library(void **unused) {
  uint64_t seed = 2;
  for (int i = 0; i < BODIES; i++) compare(&seed, false);
}
#else
static void ellipsoids_are_pushed_as_by_the_library(void **unused) { skip(); }
static void boxes_of_inertia_are_pushed_as_by_the_library(void **unused) { skip(); }
#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ellipsoids_are_pushed_as_by_the_library),
                                     cmocka_unit_test(boxes_of_inertia_are_pushed_as_by_the_library)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
