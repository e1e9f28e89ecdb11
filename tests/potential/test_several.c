/* Tests of several bodies in one perfect fluid: two spheres agree with the series of multipoles, the slope is the
 * derivative of the energy of the panels, and momenta and slopes have the symmetries of the energy.
 */
#include "potential.h"
#include "two_spheres.h"
#include "core/threads.h"
#include "potential/several.h"

#include <time.h>

enum { MOST = 3 };

static cb_several_body body_of(const solid_mesh *m) {
  return (cb_several_body){m->vertices, (const double(*)[3])m->x, m->faces, (const int(*)[3])m->face};
}

static cb_several *several_of(int n, const solid_mesh *mesh, const cb_kirchhoff_options *options) {
  cb_several_body body[MOST];
  cb_several *s;
  for (int i = 0; i < n; i++) body[i] = body_of(mesh + i);
  check_ok(cb_several_create(n, body, options, &s));
  return s;
}

/* Returns the pose g, rotated by e around axis k of the body (k < 3) or shifted by e along axis k - 3. */
static cb_pose moved(const cb_pose *g, int k, double e) {
  double xi[6] = {0};
  cb_pose by, out;
  xi[k] = e;
  cb_se3_tau(CB_SE3_EXPONENTIAL, xi, &by);
  cb_pose_multiply(g, &by, &out);
  return out;
}

/* Three generic ellipsoids of 72 faces. */
static const cb_pose generic[MOST] = {{{0.8, 0.36, 0.48, 0}, {0.3, -0.5, 0.2}},
                                      {{0.6, 0, 0.64, 0.48}, {2.1, 0.3, -0.2}},
                                      {{0.48, -0.8, 0.36, 0}, {0.9, 1.4, 1.1}}};
static const double twist[MOST][6] = {
    {0.3, -0.7, 0.5, 0.2, 0.4, -0.6}, {-0.2, 0.4, 0.1, -0.8, 0.3, 0.5}, {0.6, 0.1, -0.4, 0.3, -0.5, 0.2}};

static void take_generic(solid_mesh m[MOST]) {
  m[0] = ellipsoid_mesh(3, 1, 0.6, 0.4);
  m[1] = ellipsoid_mesh(3, 0.5, 0.9, 0.35);
  m[2] = ellipsoid_mesh(3, 0.6, 0.5, 0.7);
}

static void two_spheres_agree_with_their_series(void **unused) {
  for (int size = 0; size < 3; size++) {
    const double d = 2.2;
    const int edge[] = {5, 9, 13};
    solid_mesh m[2] = {ellipsoid_mesh(edge[size], 1, 1, 1), ellipsoid_mesh(edge[size], 0.7, 0.7, 0.7)};
    cb_several *s = several_of(2, m, NULL);
    double K[144], dK[12 * 144];
    const cb_pose g[2] = {{{1, 0, 0, 0}, {0, 0, 0}}, {{0.6, 0, 0, 0.8}, {0, 0, d}}};
    check_ok(cb_several_tensor(s, g, K, dK));
    const two_spheres along = two_spheres_of(1, 0.7, d, 0);
    printf("%d: %g %g %g\n", m->faces, K[5 * 12 + 5] / along.K[0][0] - 1, K[5 * 12 + 11] / along.K[0][1] - 1,
           K[11 * 12 + 11] / along.K[1][1] - 1);
    const double *e = dK + 11 * 144;
    printf("%d: %g %g %g\n", m->faces, e[5 * 12 + 5] / along.slope[0][0] - 1, e[5 * 12 + 11] / along.slope[0][1] - 1,
           e[11 * 12 + 11] / along.slope[1][1] - 1);
    cb_several_free(s);
    free_mesh(m);
    free_mesh(m + 1);
  }
}

static double energy(cb_several *s, int n, const cb_pose *g, const double (*Y)[6]) {
  double momentum[MOST][6], sum = 0;
  check_ok(cb_several_apply(s, g, Y, momentum, NULL, NULL));
  for (int k = 0; k < 6 * n; k++) sum += momentum[k / 6][k % 6] * Y[k / 6][k % 6] / 2;
  return sum;
}

static void check_slope(int n, const cb_kirchhoff_options *options) {
  solid_mesh m[MOST];
  double momentum[MOST][6], slope[MOST][6];
  cb_several_report report;
  take_generic(m);
  cb_several *s = several_of(n, m, options);
  check_ok(cb_several_apply(s, generic, twist, momentum, slope, &report));
  printf("iterations %d residual %g gap %g resolved %g\n", report.iterations, report.residual, report.gap,
         report.resolved);
  for (int c = 0; c < 6 * n; c++) {
    const double e = 1e-3;
    double side[4];
    for (int k = 0; k < 4; k++) {
      cb_pose g[MOST];
      memcpy(g, generic, sizeof g);
      g[c / 6] = moved(g + c / 6, c % 6, e * (k < 2 ? k - 2 : k - 1));
      side[k] = energy(s, n, g, twist);
    }
    /* The differences are of fourth order, with the error e^4 and the round-off 1e-15/e. */
    check_near(slope[c / 6][c % 6], (side[0] - 8 * side[1] + 8 * side[2] - side[3]) / (12 * e), 1e-11);
  }
  cb_several_free(s);
  for (int i = 0; i < MOST; i++) free_mesh(m + i);
}

static void the_slope_is_the_derivative_of_the_energy(void **unused) {
  check_slope(3, NULL);
  for (int kind = CB_MIRROR_RIGID; kind <= CB_MIRROR_FREE; kind++)
    for (int n = 1; n <= 3; n += 2)
      check_slope(n, &(cb_kirchhoff_options){.wall = {(cb_mirror_kind)kind, {1, -2, 2}, -1.3}});
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void speed(void **unused) {
  const int edge[] = {8, 11};
  cb_threads_set(1);
  for (int i = 0; i < 2; i++) {
    solid_mesh m[2] = {ellipsoid_mesh(edge[i], 1, 0.6, 0.4), ellipsoid_mesh(edge[i], 0.5, 0.9, 0.35)};
    cb_several *s = several_of(2, m, NULL);
    double momentum[2][6], slope[2][6], best[2] = {1, 1};
    for (int k = 0; k < 10; k++) {
      double t = seconds();
      check_ok(cb_several_apply(s, generic, twist, momentum, NULL, NULL));
      best[0] = fmin(best[0], seconds() - t);
      t = seconds();
      check_ok(cb_several_apply(s, generic, twist, momentum, slope, NULL));
      best[1] = fmin(best[1], seconds() - t);
    }
    print_message("2 bodies of %d faces: %.1f ms, with slope %.1f ms\n", m->faces, 1e3 * best[0], 1e3 * best[1]);
    cb_several_free(s);
    free_mesh(m);
    free_mesh(m + 1);
  }
  cb_threads_set(0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_spheres_agree_with_their_series),
      cmocka_unit_test(the_slope_is_the_derivative_of_the_energy),
      cmocka_unit_test(speed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
