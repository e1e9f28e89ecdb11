/* Tests of the momenta and slopes of several bodies in one perfect fluid. They are the derivatives of one energy, and
 * have its symmetries. They do not depend on earlier calls or on the number of threads. Bodies that overlap, or whose
 * panels do not resolve the gap between them, are rejected.
 */
#include "several.h"
#include "core/threads.h"

#include <time.h>

static cb_kirchhoff_options before(int kind) {
  return (cb_kirchhoff_options){.wall = {(cb_mirror_kind)kind, {1, -2, 2}, -1.3}};
}

/* --- one energy --- */

static double energy(cb_several *s, int n, const cb_pose *g) {
  double momentum[SEVERAL_GENERIC][6];
  check_ok(cb_several_apply(s, g, several_twist, momentum, NULL, NULL));
  return several_dot(n, (const double(*)[6])momentum, several_twist) / 2;
}

/* Compares the slope for n bodies and the wall with differences of the energy. They are of fourth order, with the error
 * e^4 and the round-off 1e-15/e. */
static void check_slope(int n, int kind) {
  solid_mesh m[SEVERAL_GENERIC];
  const cb_kirchhoff_options options = before(kind);
  const double e = 1e-3;
  double momentum[SEVERAL_GENERIC][6], slope[SEVERAL_GENERIC][6];
  several_generic(m);
  cb_several *s = several_of(n, m, &options);
  check_ok(cb_several_apply(s, several_pose, several_twist, momentum, slope, NULL));
  for (int c = 0; c < 6 * n; c++) {
    double side[4];
    for (int k = 0; k < 4; k++) {
      cb_pose g[SEVERAL_GENERIC];
      memcpy(g, several_pose, sizeof g);
      g[c / 6] = several_moved(g + c / 6, c % 6, e * (k < 2 ? k - 2 : k - 1));
      side[k] = energy(s, n, g);
    }
    check_near(slope[c / 6][c % 6], (side[0] - 8 * side[1] + 8 * side[2] - side[3]) / (12 * e), 2e-11);
  }
  several_free(s, SEVERAL_GENERIC, m);
}

static void the_slope_is_the_derivative_of_the_energy(void **unused) {
  for (int kind = CB_MIRROR_NONE; kind <= CB_MIRROR_FREE; kind++)
    for (int n = kind ? 1 : 2; n <= SEVERAL_GENERIC; n++) check_slope(n, kind);
}

/* The momentum is linear in the twists Y, and <momentum(Y), Z> = <momentum(Z), Y> for all twists Y and Z. It is
 * therefore the derivative of the energy <momentum(Y), Y>/2. */
static void the_momentum_is_the_derivative_of_the_energy(void **unused) {
  for (int kind = CB_MIRROR_NONE; kind <= CB_MIRROR_FREE; kind++) {
    solid_mesh m[SEVERAL_GENERIC];
    const cb_kirchhoff_options options = before(kind);
    double Z[SEVERAL_GENERIC][6], both[SEVERAL_GENERIC][6], p[3][SEVERAL_GENERIC][6];
    several_generic(m);
    cb_several *s = several_of(SEVERAL_GENERIC, m, &options);
    for (int k = 0; k < 6 * SEVERAL_GENERIC; k++) {
      Z[k / 6][k % 6] = sin(1 + k * k);
      both[k / 6][k % 6] = 2 * several_twist[k / 6][k % 6] + Z[k / 6][k % 6];
    }
    const double(*Y[3])[6] = {several_twist, (const double(*)[6])Z, (const double(*)[6])both};
    for (int k = 0; k < 3; k++) check_ok(cb_several_apply(s, several_pose, Y[k], p[k], NULL, NULL));
    check_near(several_dot(SEVERAL_GENERIC, (const double(*)[6])p[0], Y[1]),
               several_dot(SEVERAL_GENERIC, (const double(*)[6])p[1], Y[0]), 1e-14);
    for (int k = 0; k < 6 * SEVERAL_GENERIC; k++)
      check_near(p[2][k / 6][k % 6], 2 * p[0][k / 6][k % 6] + p[1][k / 6][k % 6], 2e-14);
    several_free(s, SEVERAL_GENERIC, m);
  }
}

/* With the twists Y, cb_several_apply gives the momenta (K - K0) Y and the slopes <dK Y, Y>/2. K and its derivative dK
 * are computed by cb_several_tensor, and K0 contains the added mass of each body alone. */
static void the_tensor_has_the_same_energy(void **unused) {
  enum { N = 6 * SEVERAL_GENERIC };
  static double K[N * N], dK[N * N * N];
  for (int kind = CB_MIRROR_NONE; kind <= CB_MIRROR_RIGID; kind++) {
    solid_mesh m[SEVERAL_GENERIC];
    const cb_kirchhoff_options options = before(kind);
    double momentum[SEVERAL_GENERIC][6], slope[SEVERAL_GENERIC][6];
    const double *Y = several_twist[0];
    several_generic(m);
    cb_several *s = several_of(SEVERAL_GENERIC, m, &options);
    check_ok(cb_several_apply(s, several_pose, several_twist, momentum, slope, NULL));
    check_ok(cb_several_tensor(s, several_pose, K, dK));
    for (int a = 0; a < N; a++) {
      double own[6][6], sum = 0, form = 0;
      cb_several_own(s, a / 6, own);
      for (int b = 0; b < N; b++) {
        sum += (K[a * N + b] - (a / 6 == b / 6 ? own[a % 6][b % 6] : 0)) * Y[b];
        for (int c = 0; c < N; c++) {
          form += dK[(a * N + b) * N + c] * Y[b] * Y[c] / 2;
          assert_true(dK[(a * N + b) * N + c] == dK[(a * N + c) * N + b]);
        }
      }
      check_near(momentum[a / 6][a % 6], sum, 1e-14);
      check_near(slope[a / 6][a % 6], form, 1e-14);
    }
    several_free(s, SEVERAL_GENERIC, m);
  }
}

/* A motion of all bodies together does not change K: the wrenches on them have the sum 0 in the world. Near a plane
 * this holds for the motions that leave the plane unchanged: along the plane and about its normal. */
static void action_is_reaction(void **unused) {
  for (int kind = CB_MIRROR_NONE; kind <= CB_MIRROR_FREE; kind++) {
    solid_mesh m[SEVERAL_GENERIC];
    const cb_kirchhoff_options options = before(kind);
    double momentum[SEVERAL_GENERIC][6], slope[SEVERAL_GENERIC][6], sum[6] = {0}, size = 0;
    several_generic(m);
    cb_several *s = several_of(SEVERAL_GENERIC, m, &options);
    check_ok(cb_several_apply(s, several_pose, several_twist, momentum, slope, NULL));
    for (int i = 0; i < SEVERAL_GENERIC; i++) {
      double world[6];
      cb_se3_momentum_to_world(several_pose + i, slope[i], world);
      for (int k = 0; k < 6; k++) {
        sum[k] += world[k];
        size = fmax(size, fabs(world[k]));
      }
    }
    check_at_least(size, 1e-2);
    if (kind) {
      check_near(sum[0] / 3 - 2 * sum[1] / 3 + 2 * sum[2] / 3, 0, 1e-16);
      check_near(2 * sum[3] + sum[4], 0, 1e-16);
      check_near(sum[4] + sum[5], 0, 1e-16);
    } else
      for (int k = 0; k < 6; k++) check_near(sum[k], 0, 1e-16);
    several_free(s, SEVERAL_GENERIC, m);
  }
}

/* --- the same bits --- */

typedef struct result {
  double momentum[SEVERAL_MAX][6], slope[SEVERAL_MAX][6];
} result;

/* A ring of n equal bodies, so large that all loops use several threads. The bodies share one shape. */
typedef struct ring {
  int n;
  solid_mesh m;
  cb_several *s;
  cb_pose g[SEVERAL_MAX];
  double Y[SEVERAL_MAX][6];
} ring;

static ring ring_of(int n, int edge) {
  ring r = {.n = n, .m = ellipsoid_mesh(edge, 1, 0.6, 0.4)};
  solid_mesh same[SEVERAL_MAX];
  for (int i = 0; i < n; i++) {
    const double angle = 2 * M_PI * i / n, spin[3] = {0.3 * i, 0.1, -0.2 * i};
    same[i] = r.m;
    cb_se3_tau(CB_SE3_CAYLEY, (const double[6]){spin[0], spin[1], spin[2]}, r.g + i);
    r.g[i].x[0] = 3.5 * cos(angle);
    r.g[i].x[1] = 3.5 * sin(angle);
    for (int k = 0; k < 6; k++) r.Y[i][k] = sin(1 + 3 * i + k * k);
  }
  r.s = several_of(n, same, NULL);
  return r;
}

static result applied(const ring *r) {
  result out;
  memset(&out, 0, sizeof out);
  check_ok(cb_several_apply(r->s, r->g, (const double(*)[6])r->Y, out.momentum, out.slope, NULL));
  return out;
}

static void threads_do_not_change_the_result(void **unused) {
  ring r = ring_of(CHECK_SANITIZED ? 3 : 8, CHECK_SANITIZED ? 3 : 8);
  result by[3];
  for (int k = 0; k < 3; k++) {
    cb_threads_set(k + 1);
    by[k] = applied(&r);
  }
  cb_threads_set(0);
  assert_memory_equal(by, by + 1, sizeof *by);
  assert_memory_equal(by, by + 2, sizeof *by);
  several_free(r.s, 1, &r.m);
}

static void apply_in_thread(void *context, int begin, int end) {
  const ring *r = ((void **)context)[0];
  result *out = ((void **)context)[1];
  for (int k = begin; k < end; k++) out[k] = applied(r);
}

/* A call at another pose, or calls from several threads at once, do not change the bits of a result. */
static void earlier_calls_do_not_change_the_result(void **unused) {
  ring r = ring_of(3, 3);
  const result first = applied(&r);
  const cb_pose g = r.g[1];
  r.g[1].x[2] += 0.7;
  applied(&r);
  r.g[1] = g;
  const result again = applied(&r);
  assert_memory_equal(&first, &again, sizeof first);
  result by[8];
  cb_threads_range(4, 8, apply_in_thread, (void *[]){&r, by});
  for (int k = 0; k < 8; k++) assert_memory_equal(&first, by + k, sizeof first);
  several_free(r.s, 1, &r.m);
}

/* --- gaps --- */

/* Makes two octahedra, whose corners are on their axes at the distances 1 and `size`. The second one has the pose
 * `second`. Returns the status of cb_several_apply. */
static cb_status octahedra(double size, const cb_pose *second, cb_several_report *report) {
  solid_mesh m[2] = {ellipsoid_mesh(1, 1, 1, 1), ellipsoid_mesh(1, size, size, size)};
  cb_several *s = several_of(2, m, NULL);
  double momentum[2][6];
  const cb_pose g[2] = {{{1, 0, 0, 0}, {0, 0, 0}}, *second};
  const cb_status status = cb_several_apply(s, g, several_twist, momentum, NULL, report);
  several_free(s, 2, m);
  return status;
}

/* Returns the rotation that takes a to b, both of length 1. */
static cb_pose turning(const double a[3], const double b[3]) {
  const double w = sqrt((1 + a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / 2);
  return (cb_pose){{w, (a[1] * b[2] - a[2] * b[1]) / (2 * w), (a[2] * b[0] - a[0] * b[2]) / (2 * w),
                    (a[0] * b[1] - a[1] * b[0]) / (2 * w)},
                   {0, 0, 0}};
}

static void the_gap_is_the_distance_of_the_surfaces(void **unused) {
  const double third = 1 / sqrt(3.), half = sqrt(0.5), along[3] = {third, third, third};
  cb_several_report report;
  /* The nearest points of the two octahedra are two corners. */
  check_ok(octahedra(1, &(cb_pose){{1, 0, 0, 0}, {0, 2.6, 0}}, &report));
  check_near(report.gap, 0.6, 1e-14);
  /* The faces of the first body are the larger ones. Their area is sqrt(3)/2. */
  check_ok(octahedra(0.5, &(cb_pose){{1, 0, 0, 0}, {0, 2.1, 0}}, &report));
  check_near(report.gap, 0.6, 1e-14);
  check_near(report.resolved, sqrt(sqrt(3.) / 2) / 3, 1e-14);
  /* The nearest points are a corner of one octahedron and the middle of a face of the other one. The middle of a face
   * is at the distance 1/sqrt(3) from its centre. */
  cb_pose g = turning((const double[3]){0, 0, -1}, (const double[3]){-third, -third, -third});
  for (int k = 0; k < 3; k++) g.x[k] = (third + 1 + 0.5) * along[k];
  check_ok(octahedra(1, &g, &report));
  check_near(report.gap, 0.5, 1e-14);
  /* The nearest points are the middles of two edges, which are at right angles to each other. The middle of an edge is
   * at the distance sqrt(1/2) from the centre of its octahedron. */
  g = (cb_pose){{half, half * half, half * half, 0}, {(1 + 0.4 * half), (1 + 0.4 * half), 0}};
  check_ok(octahedra(1, &g, &report));
  check_near(report.gap, 2 * half * (1 + 0.4 * half) / 1 - 2 * half, 1e-14);
  assert_int_equal(report.body[0], 0);
  assert_int_equal(report.body[1], 1);
}

static void bodies_that_touch_are_refused(void **unused) {
  /* The faces have the area sqrt(3)/2. A third of the square root of this area is 0.31, the smallest gap that is
   * resolved. */
  check_error_begins(octahedra(1, &(cb_pose){{1, 0, 0, 0}, {2.3, 0, 0}}, NULL), CB_STEP_DOMAIN,
                     "the gap between bodies 1 and 2 is 0.3, but their faces resolve only gaps above 0.310202: "
                     "expected an earlier end of the run, or smaller faces");
  check_ok(octahedra(1, &(cb_pose){{1, 0, 0, 0}, {2.32, 0, 0}}, NULL));
  check_error_begins(octahedra(1, &(cb_pose){{0.8, 0.6, 0, 0}, {0.9, 0.2, 0.1}}, NULL), CB_STEP_DOMAIN,
                     "bodies 1 and 2 overlap: expected a gap of at least 0.31");
  /* A body inside another one is refused as an overlap, although the two surfaces do not intersect. */
  solid_mesh m[2] = {ellipsoid_mesh(3, 1, 1, 1), ellipsoid_mesh(3, 0.2, 0.2, 0.2)};
  cb_several *s = several_of(2, m, NULL);
  double momentum[2][6] = {{0}};
  const cb_pose g[2] = {{{1, 0, 0, 0}, {0, 0, 0}}, {{1, 0, 0, 0}, {0.1, 0, 0}}};
  check_error_begins(cb_several_apply(s, g, several_twist, momentum, NULL, NULL), CB_STEP_DOMAIN,
                     "bodies 2 and 1 overlap");
  assert_true(momentum[0][0] == 0);
  several_free(s, 2, m);
}

static void a_body_at_its_wall_is_refused(void **unused) {
  solid_mesh m = ellipsoid_mesh(3, 1, 1, 1);
  cb_several *s = several_of(1, &m, &(cb_kirchhoff_options){.wall = {CB_MIRROR_RIGID, {0, 0, 2}, 1}});
  double momentum[1][6];
  cb_pose g = {{1, 0, 0, 0}, {0, 0, 1.9}};
  check_error_begins(cb_several_apply(s, &g, several_twist, momentum, NULL, NULL), CB_STEP_DOMAIN,
                     "body 1 is behind its wall: a corner is at the height -0.1 above the wall: expected more than 0");
  g.x[2] = 2.01;
  check_error_begins(cb_several_apply(s, &g, several_twist, momentum, NULL, NULL), CB_STEP_DOMAIN,
                     "body 1 is at the distance 0.01 from the wall, but its faces resolve only distances above 0.0");
  g.x[2] = 2.2;
  cb_several_report report;
  check_ok(cb_several_apply(s, &g, several_twist, momentum, NULL, &report));
  check_near(report.gap, 0.4, 1e-14);
  several_free(s, 1, &m);
}

static void what_cannot_be_computed_is_refused(void **unused) {
  solid_mesh m[2] = {ellipsoid_mesh(3, 1, 1, 1), ellipsoid_mesh(3, 0.5, 0.5, 0.5)};
  cb_several_body body[2] = {several_body(m), several_body(m + 1)};
  cb_several *s = NULL;
  check_error(cb_several_create(2, body, &(cb_kirchhoff_options){.memory = 165000}, &s), CB_ERROR_ARGUMENT,
              "the matrices of 2 bodies with 144 faces in one fluid take 0.000166 GB, more than `memory` = 0.000165 "
              "GB: expected fewer faces or more `memory`");
  check_error_begins(cb_several_create(2, body, &(cb_kirchhoff_options){.sheets = true}, &s), CB_ERROR_UNSUPPORTED,
                     "sheets are not supported with several bodies");
  check_error_begins(cb_several_create(2, body, &(cb_kirchhoff_options){.wall = {CB_MIRROR_RIGID, {0, 0, 0}, 1}}, &s),
                     CB_ERROR_ARGUMENT, "a wall with the normal (0, 0, 0)");
  check_error(
      cb_several_create(2, body, &(cb_kirchhoff_options){.curvature = 1, .wall = {CB_MIRROR_RIGID, {0, 0, 1}, -9}}, &s),
      CB_ERROR_UNSUPPORTED, "a wall in a curved space is not supported: expected no `wall`");
  body[1].faces--;
  check_error_begins(cb_several_create(2, body, NULL, &s), CB_ERROR_DOMAIN, "body 2: the surface");
  assert_null(s);
  free_mesh(m);
  free_mesh(m + 1);
}

static void numbers_that_are_not_finite_are_refused(void **unused) {
  solid_mesh m[SEVERAL_GENERIC];
  double momentum[SEVERAL_GENERIC][6], Y[SEVERAL_GENERIC][6];
  cb_pose g[SEVERAL_GENERIC];
  several_generic(m);
  cb_several *s = several_of(SEVERAL_GENERIC, m, NULL);
  memcpy(Y, several_twist, sizeof Y);
  memcpy(g, several_pose, sizeof g);
  Y[1][2] = INFINITY;
  check_error(cb_several_apply(s, g, (const double(*)[6])Y, momentum, NULL, NULL), CB_STEP_NOT_FINITE,
              "the potential of 3 bodies is not finite: expected finite twists");
  g[2].x[0] = NAN;
  check_error(cb_several_apply(s, g, several_twist, momentum, NULL, NULL), CB_STEP_NOT_FINITE,
              "the pose of body 3 is not finite: expected finite poses");
  /* After the two failed calls, a call with finite numbers gives a finite result: the work memory keeps no nan. */
  check_ok(cb_several_apply(s, several_pose, several_twist, momentum, NULL, NULL));
  assert_true(isfinite(momentum[0][0]));
  several_free(s, SEVERAL_GENERIC, m);
}

/* --- speed, which is only printed --- */

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* processor time, since the computer may be busy */
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void the_time_of_a_call_is_printed(void **unused) {
  check_numbers_alone();
  cb_threads_set(1);
  for (int edge = 8; edge <= 11; edge += 3) {
    solid_mesh m[2] = {ellipsoid_mesh(edge, 1, 0.6, 0.4), ellipsoid_mesh(edge, 0.5, 0.9, 0.35)};
    cb_several *s = several_of(2, m, NULL);
    cb_several_report report;
    double momentum[2][6], slope[2][6], best[2] = {INFINITY, INFINITY};
    for (int k = 0; k < 10; k++) {
      const double start = seconds();
      check_ok(cb_several_apply(s, several_pose, several_twist, momentum, k % 2 ? slope : NULL, &report));
      best[k % 2] = fmin(best[k % 2], seconds() - start);
    }
    print_message("2 bodies of %d faces, %d iterations: %.1f ms, with slope %.1f ms\n", m->faces, report.iterations,
                  1e3 * best[0], 1e3 * best[1]);
    several_free(s, 2, m);
  }
  cb_threads_set(0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_slope_is_the_derivative_of_the_energy),
      cmocka_unit_test(the_momentum_is_the_derivative_of_the_energy),
      cmocka_unit_test(the_tensor_has_the_same_energy),
      cmocka_unit_test(action_is_reaction),
      cmocka_unit_test(threads_do_not_change_the_result),
      cmocka_unit_test(earlier_calls_do_not_change_the_result),
      cmocka_unit_test(the_gap_is_the_distance_of_the_surfaces),
      cmocka_unit_test(bodies_that_touch_are_refused),
      cmocka_unit_test(a_body_at_its_wall_is_refused),
      cmocka_unit_test(what_cannot_be_computed_is_refused),
      cmocka_unit_test(numbers_that_are_not_finite_are_refused),
      cmocka_unit_test(the_time_of_a_call_is_printed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
