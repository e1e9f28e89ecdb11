/* Tests of every class of couplings (fluid/body_coupling.h), for generic bodies at random poses in each space. Momentum
 * and slope are the derivatives of one energy, which does not change when all bodies move together. */
#include "check.h"
#include "fluid/body_coupling.h"
#include "scenario/fluid.h"

#include <curvebody/pose.h>
#include <curvebody/scenario.h>
#include <math.h>
#include <string.h>

enum { N = 3 };

typedef struct coupled {
  cb_scenario *scenario;
  const cb_body_coupling_class *class;
  void *self;
  double curvature;
} coupled;

/* Creates a coupling. Returns false if its class does not support the space. */
static bool make(coupled *c, const char *coupling, const char *space) {
  char text[2048];
  const cb_immersed *body[N];
  int which;
  snprintf(text, sizeof text,
           "curvebody: 1\n%sfluid: {medium: 1.3, added_mass: {name: exact, refine: false}, coupling: %s%s}\nbodies:\n"
           "  - {name: a, shape: {name: ellipsoid, a: 0.25, b: 0.15, c: 0.1, resolution: 8}, density: 1, drag: false}\n"
           "  - {name: b, shape: {name: ellipsoid, a: 0.12, b: 0.2, c: 0.15, resolution: 8}, density: 1, drag: false,\n"
           "     place: {position: [0.7, 0, 0]}}\n"
           "  - {name: c, shape: {name: ellipsoid, a: 0.17, b: 0.1, c: 0.15, resolution: 8}, density: 1, drag: false,\n"
           "     place: {position: [0, 0.8, 0]}}\n"
           "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1}\n",
           space, coupling, *space ? "" : ", gravity: [0, 0, 0]");
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &c->scenario));
  const cb_fluid_scenario *m = cb_fluid_scenario_of(c->scenario);
  for (int i = 0; i < N; i++) body[i] = m->body[i].body;
  const cb_coupled_fluid of = {.fluid = &m->fluid, .density = 1.3, .n = N, .body = body};
  c->class = m->coupling->class_;
  c->curvature = m->fluid.curvature;
  const cb_status status = c->class->prepare(m->coupling, &of, &which, &c->self);
  if (status == CB_ERROR_UNSUPPORTED) cb_scenario_free(c->scenario);
  if (status != CB_ERROR_UNSUPPORTED) check_ok(status);
  return !status;
}

static void drop(coupled *c) {
  c->class->release(c->self);
  cb_scenario_free(c->scenario);
}

static double energy(const coupled *c, const cb_pose *g, const double (*Y)[6]) {
  double momentum[N][6], share[N], sum = 0;
  check_ok(c->class->apply(c->self, 0, g, Y, momentum, NULL, share));
  for (int i = 0; i < N; i++) sum += share[i];
  return sum;
}

/* Replaces g by g exp(hat(xi)). */
static void move(const coupled *c, const double xi[6], cb_pose *g) {
  cb_pose by, out;
  cb_pose_tau_in(CB_SE3_EXPONENTIAL, c->curvature, xi, &by);
  cb_pose_multiply_in(c->curvature, g, &by, &out);
  *g = out;
}

static void random_state(const coupled *c, uint64_t *seed, cb_pose g[N], double Y[N][6]) {
  static const double place[N][3] = {{0, 0, 0}, {.6, .1, -.1}, {-.1, .65, .2}};
  for (int i = 0; i < N; i++) {
    double xi[6];
    g[i] = (cb_pose){{1, 0, 0, 0}, {place[i][0], place[i][1], place[i][2]}};
    for (int k = 0; k < 6; k++) {
      xi[k] = check_uniform(seed, -1, 1) * (k < 3 ? 1 : .05);
      Y[i][k] = check_uniform(seed, -1, 1);
    }
    move(c, xi, &g[i]);
  }
}

/* Returns the difference of fourth order of the energy, along component k of the twist of body i or of a motion of its
 * pose. */
static double difference(const coupled *c, const cb_pose *g, const double (*Y)[6], int i, int k, bool of_pose,
                         double h) {
  double sum = 0;
  for (int s = -2; s <= 2; s++) {
    static const double weight[] = {1. / 12, -2. / 3, 0, 2. / 3, -1. / 12};
    cb_pose at[N];
    double twist[N][6], xi[6] = {0};
    if (s == 0) continue;
    memcpy(at, g, sizeof at);
    memcpy(twist, Y, sizeof twist);
    xi[k] = s * h;
    if (of_pose)
      move(c, xi, &at[i]);
    else
      twist[i][k] += s * h;
    sum += weight[s + 2] * energy(c, at, (const double(*)[6])twist);
  }
  return sum / h;
}

static void check_state(const coupled *c, const cb_pose g[N], const double Y[N][6]) {
  double momentum[N][6], slope[N][6], share[N], again[N][6], size = 0, largest = 0, along = 0, wrong[2] = {0};
  check_ok(c->class->apply(c->self, 0, g, Y, momentum, slope, share));
  check_ok(c->class->apply(c->self, 0, g, Y, again, NULL, NULL));
  assert_memory_equal(momentum, again, sizeof again);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 6; k++) {
      size = fmax(size, fabs(momentum[i][k]));
      largest = fmax(largest, fabs(slope[i][k]));
      wrong[0] = fmax(wrong[0], fabs(difference(c, g, Y, i, k, false, 1e-2) - momentum[i][k]));
      wrong[1] = fmax(wrong[1], fabs(difference(c, g, Y, i, k, true, 1e-3) - slope[i][k]));
    }
  /* if all bodies move together by eta in the world, body i moves by Ad_{g_i}^-1 eta, and the energy does not change */
  for (int k = 0; k < 6; k++) {
    double sum = 0;
    for (int i = 0; i < N; i++) {
      cb_pose back;
      double Ad[6][6];
      cb_pose_inverse(&g[i], &back);
      cb_pose_adjoint_in(c->curvature, &back, Ad);
      for (int j = 0; j < 6; j++) sum += Ad[j][k] * slope[i][j];
    }
    along = fmax(along, fabs(sum));
  }
  print_message("  derivatives in twists %.1e of %.1e, in poses %.1e of %.1e, sum of slopes %.1e\n", wrong[0], size,
                wrong[1], largest, along);
  /* the energy is quadratic in the twists, so the error is only round-off divided by h */
  check_at_most(wrong[0], 1e-11 * size);
  /* the difference with the step h has errors of order h^4, and round-off divided by h; in curved spaces panels are
   * integrated numerically */
  check_at_most(wrong[1], (c->curvature == 0 ? 1e-9 : 2e-6) * largest);
  check_at_most(along, 1e-13 * largest);
}

static void momentum_and_slope_are_derivatives_of_one_energy(void **unused) {
  (void)unused;
  static const char *const spaces[] = {"", "space: s3\n", "space: h3\n"};
  uint64_t seed = check_seed();
  for (int s = 0; s < 3; s++)
    for (size_t k = 0; cb_body_coupling_classes[k]; k++) {
      coupled c;
      if (!make(&c, cb_body_coupling_classes[k]->name, spaces[s])) continue;
      for (int n = 0; n < 2; n++) {
        cb_pose g[N];
        double Y[N][6];
        print_message("%s, curvature %g\n", c.class->name, c.curvature);
        random_state(&c, &seed, g, Y);
        check_state(&c, g, (const double(*)[6])Y);
      }
      drop(&c);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(momentum_and_slope_are_derivatives_of_one_energy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
