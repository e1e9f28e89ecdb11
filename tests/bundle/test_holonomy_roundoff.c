/* Tests of holonomies of connections that are not smooth. Steps are halved until results agree; round-off of the
 * connection A and the metric M ends the halving. Kinks and jumps are located by halving, or given as breaks. */
#include "bundle/bundle_private.h"
#include "bundles.h"
#include "gaits.h"

static const double place = .2;

typedef struct rough {
  cb_bundle b;
  cb_bundle inner;
  double noise, jump, kink; /* relative noise; a jump and a kink of A and M where the first shape variable is `place` */
  int asked;
} rough;

/* Returns a random number in [-1, 1] that is computed from all bits of the shape r and the number k of an entry. */
static double random_of(const double *r, int k) {
  uint64_t bits[2];
  memcpy(bits, r, sizeof bits);
  uint64_t seed = bits[0] * 0x9e3779b97f4a7c15u ^ (bits[1] + (uint64_t)k) * 0xc2b2ae3d27d4eb4fu;
  return check_uniform(&seed, -1, 1);
}

static cb_status rough_connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  rough *p = b->self;
  const double over = fmax(r[0] - place, 0), factor = 1 + p->jump * (over > 0) + p->kink * over;
  p->asked++;
  const cb_status status = cb_bundle_connection(&p->inner, r, A, dA, M, dM);
  for (int k = 0; A && k < b->group->dim * b->n; k++) A[k] *= factor * (1 + p->noise * random_of(r, k));
  for (int k = 0; M && k < b->n * b->n; k++)
    M[k] *= factor * (1 + p->noise * random_of(r, b->group->dim * b->n + (k ? k / 3 + 1 : 0)));
  return status;
}

static const cb_bundle_class rough_class = {.name = "rough", .connection = rough_connection};

static rough rough_of(const cb_bundle *b, double noise, double jump, double kink) {
  rough p = {.b = *b, .inner = *b, .noise = noise, .jump = jump, .kink = kink};
  p.b.class_ = &rough_class;
  return p;
}

typedef struct result {
  double g[CB_GROUP_SIZE], length, cost;
} result;

static int holonomy_of(rough *p, const cb_gait *gait, double error, result *out) {
  p->b.self = p;
  p->asked = 0;
  check_ok(cb_holonomy(&p->b, gait, error, out->g, &out->length, &out->cost));
  return p->asked;
}

static void compare(const cb_group *G, const result *a, const result *b, double error) {
  check_at_most(test_distance(G, a->g, b->g), error);
  check_near(a->length, b->length, error * fmax(1, b->length));
  check_near(a->cost, b->cost, error * fmax(1, b->cost));
}

static void roundoff_of_the_connection_ends_the_halving(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  const double origin[2] = {.2, .1};
  for (int k = 0; (G = test_group(k)); k++)
    for (int kind = 0; kind < 2; kind++) {
      random_bundle p, moved;
      result exact, rounded;
      random_bundles(&seed, G, 2, .5, &p, &moved);
      cb_gait *gait = kind ? random_polygon(&seed, 2, 4, origin, .6) : random_fourier(&seed, 2, .5);
      rough smooth = rough_of(&p.b, 0, 0, 0);
      const int asked = holonomy_of(&smooth, gait, 0, &exact);
      for (double noise = 1e-15; noise < 2e-12; noise *= 10) {
        rough noisy = rough_of(&p.b, noise, 0, 0);
        const int more = holonomy_of(&noisy, gait, 0, &rounded);
        check_at_most(more, 4 * asked);
        compare(G, &rounded, &exact, 2 * noise + 1e-12);
      }
      cb_gait_free(gait);
    }
}

/* cb_bundle_step halves its step until the error is below the tolerance. If the tolerance is below round-off, the
 * halving ends when the error is round-off. */
static void roundoff_ends_the_parts_of_a_step(void **state) {
  const cb_bundle purcell = test_purcell();
  cb_gait *gait = circle(0, 0, 1);
  double exact[3], length;
  check_ok(cb_holonomy(&purcell, gait, 0, exact, &length, NULL));
  rough p = rough_of(&purcell, 1e-13, 0, 0);
  p.b.self = &p;
  for (int order = 4; order <= 6; order += 2) {
    const cb_bundle_path path = {.bundle = &p.b, .gait = gait, .period = 1};
    cb_bundle_state s = {.t = 0};
    int maximum = 0;
    purcell.group->identity(purcell.group, s.g);
    for (int k = 0; k < 32; k++) {
      int taken;
      s.t = k / 32.;
      check_ok(cb_bundle_step(&path, order, 1e-17, 1 / 32., &s, &taken));
      if (taken > maximum) maximum = taken;
    }
    print_message("order %d: at most %d parts of a step, off %.1e, length %.1e\n", order, maximum,
                  test_distance(purcell.group, exact, s.g), fabs(s.length - length));
    check_at_most(maximum, order == 4 ? 511 : 63);
    check_at_most(test_distance(purcell.group, exact, s.g), 1e-12);
    check_near(s.length, length, 1e-12);
  }
  cb_gait_free(gait);
}

/* One step of cb_bundle_step over a whole cycle is halved in the same way as in cb_holonomy_by, so the results are
 * identical. */
static void a_step_over_a_cycle_is_the_holonomy(void **state) {
  const cb_bundle purcell = test_purcell();
  cb_gait *gait = circle(0, 0, 1);
  for (int order = 4; order <= 6; order += 2)
    for (double error = 1e-11; error < 1e-2; error *= 1e3) {
      const cb_bundle_path path = {.bundle = &purcell, .gait = gait, .period = 1};
      cb_bundle_state s = {.t = 0};
      double g[3], length, cost;
      int taken;
      purcell.group->identity(purcell.group, s.g);
      check_ok(cb_bundle_step(&path, order, error, 1, &s, &taken));
      check_ok(cb_holonomy_by(&purcell, gait, &(cb_holonomy_options){order, error, 1}, g, &length, &cost));
      assert_true(taken > 1);
      assert_memory_equal(s.g, g, sizeof g);
      assert_memory_equal(&s.length, &length, sizeof length);
      assert_memory_equal(&s.cost, &cost, sizeof cost);
    }
  cb_gait_free(gait);
}

/* A and M have a kink or jump where the first shape variable is `place`. Either the gait has breaks there, or the
 * bundle has one, or neither is declared. */
static void kinks_and_jumps_are_located(void **state) {
  const cb_bundle purcell = test_purcell();
  const double c = acos(place) / (2 * M_PI), breaks[2] = {c, 1 - c};
  cb_expression *r[2] = {expression("cos(2*pi*t)"), expression("sin(2*pi*t)")};
  cb_gait *gait, *cut;
  check_ok(cb_gait_expressions(2, (const cb_expression *const *)r, 0, NULL, &gait));
  check_ok(cb_gait_expressions(2, (const cb_expression *const *)r, 2, breaks, &cut));
  for (int kind = 0; kind < 2; kind++) {
    rough p = rough_of(&purcell, 0, kind == 0 ? .5 : 0, kind == 1 ? .5 : 0);
    result exact, found;
    const int least = holonomy_of(&p, cut, 0, &exact), maximum = holonomy_of(&p, gait, 0, &found);
    compare(purcell.group, &found, &exact, 1e-12);
    check_at_most(maximum, least + 2 * 6 * 60);
    p.b.breaks[0] = 1;
    p.b.at[0] = &place;
    const int asked = holonomy_of(&p, gait, 0, &found);
    compare(purcell.group, &found, &exact, 1e-13);
    check_at_most(asked, least);
    print_message("%s: %d evaluations, breaks of the bundle %d, of the gait %d\n", kind ? "kink" : "jump", maximum,
                  asked, least);
    const double t[2] = {.4, 1.7};
    double way[6], known[6];
    check_ok(cb_reconstruct(&p.b, gait, 0, 2, t, way));
    p.b.breaks[0] = 0;
    check_ok(cb_reconstruct(&p.b, cut, 0, 2, t, known));
    check_at_most(test_distance(purcell.group, way, known), 1e-13);
    check_at_most(test_distance(purcell.group, way + 3, known + 3), 1e-13);
  }
  cb_gait_free(gait);
  cb_gait_free(cut);
  cb_expression_free(r[0]);
  cb_expression_free(r[1]);
}

static void what_is_not_smooth_anywhere_is_an_error(void **state) {
  const cb_bundle purcell = test_purcell();
  cb_gait *gait = circle(0, 0, 1);
  result out = {.length = 7};
  rough p = rough_of(&purcell, 1e-6, 0, 0);
  p.b.self = &p;
  assert_int_equal(cb_holonomy(&p.b, gait, 0, out.g, &out.length, NULL), CB_ERROR_STEP);
  assert_non_null(strstr(cb_error_text(), ": a holonomy did not converge to round-off at time "));
  assert_null(strstr(strstr(cb_error_text(), "bundle rough") + 1, "bundle rough"));
  assert_int_equal(cb_holonomy(&p.b, gait, 1e-9, out.g, &out.length, NULL), CB_ERROR_STEP);
  assert_non_null(strstr(cb_error_text(), ": a holonomy did not converge to an error of 1e-09 at time "));
  check_near(out.length, 7, 0);
  holonomy_of(&p, gait, 1e-4, &out);
  cb_gait_free(gait);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(roundoff_of_the_connection_ends_the_halving),
      cmocka_unit_test(roundoff_ends_the_parts_of_a_step),
      cmocka_unit_test(a_step_over_a_cycle_is_the_holonomy),
      cmocka_unit_test(kinks_and_jumps_are_located),
      cmocka_unit_test(what_is_not_smooth_anywhere_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
