/* Tests of a gait that is a sequence of poses. The velocity has kinks at the poses. Steps end there, so they keep their
 * order. */
#include "surface_swimmers.h"

#include "bundle/bundle_private.h"
#include <curvebody/holonomy.h>

static const cb_poses_motion wave = {NULL, {NULL, "Y + 0.15*(X + 1.2)*sin(3*X - pi*t)", "Z + 0.05*X*cos(pi*t)"}};
enum { POSES = 12, STEPS = 3 };

typedef struct counted {
  cb_bundle b;
  const cb_bundle *inner;
  int asked;
} counted;

static cb_status counted_connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  counted *c = b->self;
  c->asked++;
  return cb_bundle_connection(c->inner, r, A, dA, M, dM);
}

static const cb_bundle_class counted_class = {.name = "counted", .connection = counted_connection};

static double off(const double *a, const double *b) {
  double most = 0;
  for (int i = 0; i < 7; i++) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

/* Goes through one period, which is 2, in `steps` steps of cb_bundle_step, and writes the group element at the end to
 * g. */
static void go(const cb_bundle *b, const cb_gait *gait, int order, int steps, double *g) {
  const cb_bundle_path path = {.bundle = b, .gait = gait, .period = 2};
  cb_bundle_state s = {.t = 0};
  b->group->identity(b->group, s.g);
  for (int k = 0; k < steps; k++) {
    int taken;
    s.t = 2. * k / steps;
    check_ok(cb_bundle_step(&path, order, 0, 2. / steps, &s, &taken));
  }
  memcpy(g, s.g, 7 * sizeof *g);
}

static void steps_keep_their_order(void **state) {
  swimmer s = phased(eel(11), &wave, POSES, 2, 1);
  cb_gait *gait;
  double exact[7], g[7];
  assert_int_equal(s.b->breaks[0], POSES);
  for (int i = 0; i < POSES; i++) check_near(s.b->at[0][i], (double)i / POSES, 1e-15);
  check_ok(cb_gait_loop(1, 0, (double[]){.0371}, 1, &gait));
  check_ok(cb_holonomy(s.b, gait, 0, exact, NULL, NULL));
  for (int order = 4; order <= 6; order += 2) {
    double error[STEPS], run[STEPS], without[STEPS];
    for (int k = 0; k < STEPS; k++) {
      const cb_holonomy_options plain = {.order = order, .step = 1. / (2 * POSES << k)};
      check_ok(cb_holonomy_by(s.b, gait, &plain, g, NULL, NULL));
      error[k] = off(g, exact);
      go(s.b, gait, order, 2 * POSES << k, g);
      run[k] = off(g, exact);
      s.b->breaks[0] = 0;
      check_ok(cb_holonomy_by(s.b, gait, &plain, g, NULL, NULL));
      without[k] = off(g, exact);
      s.b->breaks[0] = POSES;
    }
    print_message("order %d: errors %.1e %.1e %.1e, in a run %.1e %.1e %.1e, without breaks %.1e %.1e %.1e\n", order,
                  error[0], error[1], error[2], run[0], run[1], run[2], without[0], without[1], without[2]);
    check_near(log2(error[0] / error[STEPS - 1]) / (STEPS - 1), order, .4);
    /* A pose divides a step of a run into parts of different lengths, so the errors follow the order less closely. */
    check_near(log2(run[0] / run[STEPS - 1]) / (STEPS - 1), order, .6);
  }
  cb_gait_free(gait);
  swimmer_free(&s);
}

static void fewer_evaluations_are_as_exact(void **state) {
  swimmer s = phased(eel(11), &wave, POSES, 2, 1);
  counted c = {.b = *s.b, .inner = s.b};
  c.b.class_ = &counted_class;
  c.b.self = &c;
  cb_gait *gait;
  check_ok(cb_gait_loop(1, 0, (double[]){.0371}, 1, &gait));
  double exact[7], way;
  check_ok(cb_holonomy(s.b, gait, 0, exact, &way, NULL));
  for (double error = 1e-6; error > 1e-13; error *= 1e-3) {
    double g[2][7], length[2];
    int asked[2];
    for (int known = 0; known < 2; known++) {
      c.asked = 0;
      c.b.breaks[0] = known ? POSES : 0;
      check_ok(cb_holonomy(&c.b, gait, error, g[known], &length[known], NULL));
      asked[known] = c.asked;
    }
    print_message("error %.0e: %d evaluations, off %.1e %.1e; without breaks %d, off %.1e %.1e\n", error, asked[1],
                  off(g[1], exact), fabs(length[1] - way), asked[0], off(g[0], exact), fabs(length[0] - way));
    check_at_most(off(g[1], exact), error);
    check_at_most(fabs(length[1] - way), error);
    check_at_most(asked[1], .7 * asked[0]);
  }
  cb_gait_free(gait);
  swimmer_free(&s);
}

/* The breaks of a phase are at the poses. The phase covers two periods of the sequence, one period, or a quarter of a
 * period. Expressions have no breaks. */
static void breaks_are_where_poses_are(void **state) {
  swimmer s = phased(eel(5), &wave, POSES, 2, 1);
  const double from[3] = {.1, -7.3, 2}, duration[3] = {4, 2, .5};
  const int count[3] = {2 * POSES, POSES, POSES / 4};
  for (int k = 0; k < 3; k++) {
    cb_shape_surface *shape;
    check_ok(cb_shape_surface_of_poses(s.poses, s.surface, from[k], duration[k], &shape));
    assert_int_equal(shape->breaks[0], count[k]);
    for (int i = 0; i < count[k]; i++) {
      const double poses = (from[k] + duration[k] * shape->break_at[0][i]) * POSES / 2;
      check_near(poses, round(poses), 1e-12);
      check_at_least(shape->break_at[0][i], i ? shape->break_at[0][i - 1] + .1 / count[k] : 0);
      check_at_most(shape->break_at[0][i], 1);
    }
    cb_shape_surface_free(shape);
  }
  swimmer_free(&s);
  s = phased(eel(5), &wave, 0, 2, 1);
  assert_int_equal(s.b->breaks[0], 0);
  swimmer_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_keep_their_order),
      cmocka_unit_test(fewer_evaluations_are_as_exact),
      cmocka_unit_test(breaks_are_where_poses_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
