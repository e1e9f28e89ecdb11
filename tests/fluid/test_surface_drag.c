/* Tests of bundles of surfaces that swim by drag: rigid surfaces in closed form, Purcell's swimmer as a ribbon and as
 * tubes, derivatives, threads, and speed. */
#include "surface_swimmers.h"

#include <pthread.h>
#include <time.h>

static const char *const one_name[] = {"a"};
static const cb_poses_motion still = {NULL, {NULL, NULL, NULL}};

/* Computes the block P of the form of the bundle, which is the drag matrix of a rigid surface. `normal` and
 * `tangential` are the drag coefficients. */
static void rigid_drag(mesh m, double normal, double tangential, double P[6][6]) {
  swimmer s = expressed(m, 1, one_name, 1, &still, normal, tangential);
  double G[49];
  check_ok(s.b->class_->form(s.b, (double[]){0}, G, NULL));
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) P[i][j] = G[7 * i + j];
  swimmer_free(&s);
}

static void check_diagonal(double P[6][6], const double expected[6], double tolerance) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) check_near(P[i][j], i == j ? expected[i] : 0, tolerance);
}

static void rigid_surfaces_have_their_closed_drag(void **state) {
  double P[6][6], error[2];
  const double kn = 2.5, kt = .8;
  /* With the drag coefficients k_n and k_t, a sphere of radius R and area S has the drag S (k_n + 2 k_t)/3 for
   * translations and 2 S k_t R^2/3 for rotations. The error of the mesh is of second order. */
  for (int k = 0; k < 2; k++) {
    const double R = 1.5, area = 4 * PI * R * R, turn = kt * area * 2 * R * R / 3, push = area * (kn + 2 * kt) / 3;
    rigid_drag(mesh_ellipsoid(12 << k, R, R, R), kn, kt, P);
    error[k] = 0;
    for (int i = 0; i < 6; i++) error[k] = fmax(error[k], fabs(P[i][i] / (i < 3 ? turn : push) - 1));
  }
  print_message("sphere: relative errors %.2e, %.2e\n", error[0], error[1]);
  check_near(log2(error[0] / error[1]), 2, .05);
  /* for equal coefficients P follows from the area of the mesh and its moments */
  rigid_drag(mesh_box(3, (double[]){1, 1, 1}, false), 2, 2, P); /* a cube of side 2 */
  /* Four sides of the cube are parallel to the axis of rotation, and two are normal to it. */
  const double turn = 2 * (4 * 4 * (1 + 1. / 3) + 2 * 4 * (2. / 3));
  check_diagonal(P, (const double[]){turn, turn, turn, 48, 48, 48}, 1e-12);
  /* a plate a x b in the plane z = 0 */
  const double a = 1.2, b = .7;
  rigid_drag(mesh_plate(4, a, b, false), kn, kt, P);
  const double plate = a * b, plate_drag[6] = {kn * plate * b * b / 12,
                                               kn * plate * a * a / 12,
                                               kt * plate * (a * a + b * b) / 12,
                                               kt * plate,
                                               kt * plate,
                                               kn * plate};
  check_diagonal(P, plate_drag, 1e-14);
  /* A tube around z with 400 sides has, per area, the drag k_t along its axis and (k_n + k_t)/2 across its axis. */
  const double R = .3, h = 1, area = 2 * PI * R * 2 * h;
  rigid_drag(mesh_tube(3, 400, R, h, false), kn, kt, P);
  check_relative(P[5][5], kt * area, 1e-4);
  check_relative(P[3][3], (kn + kt) / 2 * area, 1e-4);
  check_relative(P[2][2], kt * R * R * area, 1e-4);
  check_relative(P[0][0], (kn + kt) / 2 * area * h * h / 3 + kt * area * R * R / 2, 1e-4);
}

/* The sums over many faces have little round-off, because a holonomy adds up the results of many steps. */
static void many_faces_make_little_round_off(void **state) {
  double P[6][6];
  rigid_drag(mesh_plate(100, 1.2, .7, false), 2.5, .8, P);
  check_relative(P[5][5], 2.5 * 1.2 * .7, 5e-15);
  check_relative(P[2][2], .8 * 1.2 * .7 * (1.2 * 1.2 + .7 * .7) / 12, 5e-15);
}

static void a_shape_that_only_moves_as_a_whole_stays_where_it_is(void **state) {
  const char *names[] = {"shift", "turn"};
  const cb_poses_motion motion = {NULL, {"X*cos(turn) - Y*sin(turn) + shift", "X*sin(turn) + Y*cos(turn)", NULL}};
  uint64_t seed = check_seed();
  mesh m = mesh_ellipsoid(4, 1, .7, .4);
  mesh_shake(&m, &seed, .05);
  swimmer s = expressed(m, 2, names, 1, &motion, 3, 1);
  double A[12], M[4];
  const double r[2] = {.4, 1.1};
  /* the two motions are x' = (1, 0, 0) and x' = e_z × (x - shift) */
  const double expected[12] = {0, 0, 0, 0, 0, 1, 1, 0, 0, -.4, 0, 0};
  check_ok(cb_bundle_connection(s.b, r, A, NULL, M, NULL));
  for (int i = 0; i < 12; i++) check_near(A[i], expected[i], 1e-13);
  for (int i = 0; i < 4; i++) check_near(M[i], 0, 1e-12);
  swimmer_free(&s);
}

/* ---- Purcell's swimmer ---- */

/* Three links of length 1 are separate parts. The outer links rotate around the ends of the middle link. */
static const char *const purcell_names[] = {"alpha1", "alpha2"};
static const cb_poses_motion purcell_motion[] = {
    {"part1", {"-0.5 + (X + 0.5)*cos(alpha1) + Y*sin(alpha1)", "Y*cos(alpha1) - (X + 0.5)*sin(alpha1)", NULL}},
    {"part2", {NULL, NULL, NULL}},
    {"part3", {"0.5 + (X - 0.5)*cos(alpha2) - Y*sin(alpha2)", "Y*cos(alpha2) + (X - 0.5)*sin(alpha2)", NULL}}};

/* Makes three links of length 1 along x: strips of width w along z, or tubes of radius w with k sides. */
static mesh three_links(double w, bool tubes, int k) {
  mesh m = mesh_room(3 * (2 * k + 2), 3 * 4 * k + 12);
  for (int link = 0; link < 3; link++) {
    const int first = m.vertices, before = m.faces;
    for (int end = 0; end < 2; end++)
      for (int j = 0; j < (tubes ? k : 2); j++) {
        const double a = 2 * PI * (j + .25) / k;
        mesh_vertex(&m, link - 1.5 + end, tubes ? w * cos(a) : 0, tubes ? w * sin(a) : w * (j - .5));
      }
    if (tubes)
      mesh_grid(&m, first, 2, k, false);
    else
      mesh_quad(&m, first, first + 2, first + 3, first + 1);
    for (int f = before; f < m.faces; f++) m.part[f] = link;
  }
  return m;
}

/* Returns the maximum difference of A and dA, and of M and dM divided by `drag`, from those of Purcell's swimmer in the
 * library. */
static double purcell_difference(const swimmer *s, double ratio, double drag) {
  static const int at[3] = {3, 4, 2}; /* the indices of v_x, v_y and omega_z in (omega, v) */
  char text[100];
  double worst = 0;
  snprintf(text, sizeof text, "length 3 ratio %.17g drag %.17g", ratio, drag);
  cb_bundle *p = model("purcell", text);
  for (int trial = 0; trial < 5; trial++) {
    const double r[2] = {.3 * trial - .7, .9 - .4 * trial};
    double A[12], dA[24], M[4], dM[8], B[6], dB[12], N[4], dN[8];
    check_ok(cb_bundle_connection(s->b, r, A, dA, M, dM));
    check_ok(cb_bundle_connection(p, r, B, dB, N, dN));
    for (int j = 0; j < 2; j++)
      for (int i = 0; i < 3; i++) {
        worst = fmax(worst, fabs(A[at[i] * 2 + j] - B[i * 2 + j]));
        for (int k = 0; k < 2; k++) worst = fmax(worst, fabs(dA[(k * 6 + at[i]) * 2 + j] - dB[(k * 3 + i) * 2 + j]));
      }
    for (int i = 0; i < 4; i++) worst = fmax(worst, fabs(M[i] - N[i]) / drag);
    for (int i = 0; i < 8; i++) worst = fmax(worst, fabs(dM[i] - dN[i]) / drag);
    for (int j = 0; j < 2; j++) worst = fmax(worst, fmax(fmax(fabs(A[j]), fabs(A[2 + j])), fabs(A[10 + j])));
  }
  cb_bundle_free(p);
  return worst;
}

static void a_ribbon_of_three_links_is_purcells_swimmer(void **state) {
  swimmer s = expressed(three_links(.05, false, 2), 2, purcell_names, 3, purcell_motion, 2.3, .9);
  check_at_most(purcell_difference(&s, 2.3 / .9, .9 * .05), 1e-12);
  swimmer_free(&s);
}

static void thin_tubes_become_purcells_swimmer(void **state) {
  double error[3];
  const int k = 8; /* number of sides of a tube of radius w; each side is 2 w sin(pi/k) wide */
  for (int i = 0; i < 3; i++) {
    const double w = .04 / (1 << i), around = k * 2 * w * sin(PI / k);
    swimmer s = expressed(three_links(w, true, k), 2, purcell_names, 3, purcell_motion, 3, 1);
    error[i] = purcell_difference(&s, (3 + 1) / 2., around);
    swimmer_free(&s);
  }
  print_message("tubes of radius .04, .02, .01: %.2e %.2e %.2e\n", error[0], error[1], error[2]);
  check_near(log2(error[0] / error[1]), 2, .05);
  check_near(log2(error[1] / error[2]), 2, .05);
}

/* ---- derivatives and loops ---- */

static const char *const three_names[] = {"a", "b", "c"};
static const cb_poses_motion bends = {
    NULL, {"X*(1 + 0.1*c)", "Y*(1 + a*b/4) + 0.3*a*cos(2*X) + 0.3*b*sin(2*X)", "Z + 0.2*b*X^2 - 0.2*c*sin(X + a)"}};

static void derivatives_are_exact(void **state) {
  enum { N = 3 };
  swimmer s = expressed(eel(11), N, three_names, 1, &bends, 2.2, .7);
  const double r[N] = {.3, -.5, .4}, h = 4e-3, weight[3] = {.75, -.15, 1. / 60};
  double A[6 * N], dA[6 * N * N], M[N * N], dM[N * N * N];
  check_ok(cb_bundle_connection(s.b, r, A, dA, M, dM));
  for (int k = 0; k < N; k++) {
    double slope[6 * N] = {0}, more[N * N] = {0};
    for (int step = -3; step <= 3; step++) {
      double x[N] = {r[0], r[1], r[2]}, B[6 * N], L[N * N];
      if (!step) continue;
      const double w = (step > 0 ? weight[step - 1] : -weight[-step - 1]) / h;
      x[k] += step * h;
      check_ok(cb_bundle_connection(s.b, x, B, NULL, L, NULL));
      for (int i = 0; i < 6 * N; i++) slope[i] += w * B[i];
      for (int i = 0; i < N * N; i++) more[i] += w * L[i];
    }
    /* The differences with the step h have the errors 1e-15/h and h^6. */
    for (int i = 0; i < 6 * N; i++) check_near(dA[k * 6 * N + i], slope[i], 1e-10);
    for (int i = 0; i < N * N; i++) check_near(dM[k * N * N + i], more[i], 1e-10);
  }
  swimmer_free(&s);
}

/* A small loop in shape space has the holonomy g with log g = -B area + O(radius^3), where B is the curvature. */
static void small_loops_measure_the_curvature(void **state) {
  const char *names[] = {"a", "b"};
  const cb_poses_motion two = {NULL, {NULL, "Y + 0.3*a*cos(2*X) + 0.3*b*sin(2*X)", "Z + 0.2*b*X^2"}};
  swimmer s = expressed(eel(11), 2, names, 1, &two, 2.2, .7);
  double error[2], B[6];
  check_ok(cb_bundle_curvature(s.b, (double[]){.5, -.3}, 0, 1, B));
  for (int k = 0; k < 2; k++) {
    const double radius = .01 / (1 << k);
    const model_circle c = {.5, -.3, radius, -M_PI / 2};
    double g[7], w[6];
    model_loop(s.b, on_circle, &c, 30, g, NULL);
    check_ok(s.b->group->log(s.b->group, g, w));
    error[k] = 0;
    for (int i = 0; i < 6; i++) error[k] = fmax(error[k], fabs(w[i] + B[i] * M_PI * radius * radius));
  }
  print_message("|log g + B area|: %.2e, half the radius %.2e\n", error[0], error[1]);
  check_near(log2(error[0] / error[1]), 3, .2);
  swimmer_free(&s);
}

static void a_body_far_from_its_frame_loses_no_digits(void **state) {
  const char *names[] = {"a", "b"};
  const cb_poses_motion near = {NULL, {NULL, "Y + 0.3*a*cos(2*X) + 0.3*b*sin(2*X)", "Z + 0.2*b*X^2"}},
                        far = {NULL, {"X + 1024", "Y - 4096 + 0.3*a*cos(2*X) + 0.3*b*sin(2*X)", "Z + 0.2*b*X^2"}};
  const double r[2] = {.5, -.3}, c[3] = {1024, -4096, 0};
  double A[12], B[12], dA[24], dB[24], M[4], N[4];
  swimmer s = expressed(eel(11), 2, names, 1, &near, 2.2, .7), t = expressed(eel(11), 2, names, 1, &far, 2.2, .7);
  check_ok(cb_bundle_connection(s.b, r, A, dA, M, NULL));
  check_ok(cb_bundle_connection(t.b, r, B, dB, N, NULL));
  /* far from the origin, the round-off of positions is 2^12 times larger */
  for (int i = 0; i < 4; i++) check_near(N[i], M[i], 1e-11);
  for (int j = 0; j < 2; j++)
    for (int i = 0; i < 3; i++) {
      const int k = (i + 1) % 3, l = (i + 2) % 3;
      check_near(B[i * 2 + j], A[i * 2 + j], 1e-11);
      /* The origins of the two body frames differ by c, so the velocities of the frames differ by omega × c. */
      const double cross = B[k * 2 + j] * c[l] - B[l * 2 + j] * c[k];
      check_near(B[(3 + i) * 2 + j] + cross, A[(3 + i) * 2 + j], 1e-11);
      check_near(dB[12 + i * 2 + j], dA[12 + i * 2 + j], 1e-10);
    }
  /* The form G contains the drag matrices P and Q about the origin of the frame. The connection B satisfies P B = Q. */
  double G[64];
  check_ok(t.b->class_->form(t.b, r, G, NULL));
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 2; j++) {
      double sum = -G[i * 8 + 6 + j], size = fabs(sum);
      for (int k = 0; k < 6; k++) {
        sum += G[i * 8 + k] * B[k * 2 + j];
        size += fabs(G[i * 8 + k] * B[k * 2 + j]);
      }
      check_near(sum, 0, 1e-12 * size);
    }
  swimmer_free(&s);
  swimmer_free(&t);
}

static void plots_are_the_vertices_moved(void **state) {
  swimmer s = expressed(eel(5), 3, three_names, 1, &bends, 2, 1);
  /* g rotates by a quarter turn about z and then shifts by (1, 2, 3) */
  const double r[3] = {.3, -.5, .4}, g[7] = {sqrt(.5), 0, 0, sqrt(.5), 1, 2, 3};
  const int n = s.surface->vertices;
  double(*x)[3] = malloc((size_t)n * sizeof *x), (*y)[3] = malloc((size_t)n * sizeof *y);
  assert_int_equal(s.b->points, n);
  /* each edge of a closed surface belongs to two faces, and is one line */
  assert_int_equal(s.b->lines, 3 * s.surface->faces / 2);
  check_ok(s.shape->at(s.shape, r, y, NULL, NULL));
  check_ok(s.b->class_->plot(s.b, r, g, x));
  for (int v = 0; v < n; v++) {
    check_near(x[v][0], 1 - y[v][1], 1e-14);
    check_near(x[v][1], 2 + y[v][0], 1e-14);
    check_near(x[v][2], 3 + y[v][2], 1e-14);
  }
  free(x);
  free(y);
  swimmer_free(&s);
}

static void what_is_wrong_is_refused(void **state) {
  cb_bundle *b;
  double A[6];
  /* without tangential drag, an exact sphere could rotate freely */
  swimmer s = expressed(mesh_ellipsoid(6, 1, 1, 1), 1, one_name, 1, &still, 1, 0);
  assert_int_equal(cb_bundle_connection(s.b, (double[]){0}, A, NULL, NULL, NULL),
                   CB_OK); /* there is no error, because the mesh is not exactly a sphere */
  assert_int_equal(cb_bundle_surface_drag(s.shape, -1, 1, &b), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_bundle_surface_drag(s.shape, 0, 0, &b), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_bundle_surface_drag(s.shape, NAN, 1, &b), CB_ERROR_ARGUMENT);
  swimmer_free(&s);
  /* without tangential drag, the plate can slide and rotate freely in its plane */
  s = expressed(mesh_plate(3, 1, 1, false), 1, one_name, 1, &still, 1, 0);
  assert_int_equal(cb_bundle_connection(s.b, (double[]){.25}, A, NULL, NULL, NULL), CB_STEP_SINGULAR);
  assert_non_null(strstr(cb_error_text(), "surface_drag at a = 0.25"));
  assert_non_null(strstr(cb_error_text(), "omega_z"));
  swimmer_free(&s);
  const cb_poses_motion root = {NULL, {"X*sqrt(a)", NULL, NULL}};
  s = expressed(mesh_plate(3, 1, 1, false), 1, one_name, 1, &root, 1, 1);
  assert_int_equal(cb_bundle_connection(s.b, (double[]){-1}, A, NULL, NULL, NULL), CB_STEP_NOT_FINITE);
  swimmer_free(&s);
}

static void *many_values(void *context) {
  const cb_bundle *b = context;
  static const double r[3] = {.3, -.5, .4};
  double first[54], *same = calloc(1, sizeof *same);
  for (int k = 0; k < 50; k++) {
    double dA[54];
    if (cb_bundle_connection(b, r, NULL, dA, NULL, NULL) || (k && memcmp(dA, first, sizeof dA))) return same;
    if (!k) memcpy(first, dA, sizeof dA);
  }
  *same = first[53];
  return same;
}

static void any_thread_may_ask(void **state) {
  enum { THREADS = 20 };
  swimmer s = expressed(eel(5), 3, three_names, 1, &bends, 2, 1);
  pthread_t thread[THREADS];
  double expected = 0, dA[54];
  check_ok(cb_bundle_connection(s.b, (double[]){.3, -.5, .4}, NULL, dA, NULL, NULL));
  expected = dA[53];
  for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_create(&thread[k], NULL, many_values, s.b), 0);
  for (int k = 0; k < THREADS; k++) {
    void *value;
    pthread_join(thread[k], &value);
    check_near(*(double *)value, expected, 0);
    free(value);
  }
  swimmer_free(&s);
}

static const cb_poses_motion wave = {NULL, {NULL, "Y + 0.15*(X + 1.2)*sin(3*X - pi*t)", "Z + 0.05*X*cos(pi*t)"}};
static void prints_its_time_a_triangle(void **state) {
  const cb_poses_motion two = {NULL, {NULL, "Y + 0.3*a*cos(2*X) + 0.3*b*sin(2*X)", "Z + 0.2*b*X^2"}};
  const char *const *names = three_names;
  for (int k = 0; k < 3; k++) {
    swimmer s = phased(eel(400), &wave, 24, 2, 1);
    if (k) {
      swimmer_free(&s);
      s = expressed(eel(400), k + 1, names, 1, k == 1 ? &two : &bends, 2, 1);
    }
    double best[3] = {INFINITY, INFINITY, INFINITY}, r[3] = {.3, .2, .1};
    const int vertices = s.surface->vertices, n = s.b->n;
    double(*x)[3] = malloc((size_t)(1 + n) * (size_t)vertices * sizeof *x);
    for (int round = 0; round < 20; round++)
      for (int what = 0; what < 3; what++) {
        double A[18], dA[54], M[9], dM[27];
        struct timespec from, to;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        if (what < 2)
          check_ok(cb_bundle_connection(s.b, r, A, what ? dA : NULL, M, what ? dM : NULL));
        else
          check_ok(s.shape->at(s.shape, r, x, x + vertices, NULL));
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        best[what] = fmin(best[what], (to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec));
      }
    const double faces = s.surface->faces;
    print_message("%d variables, %d triangles: A and M %.0f ns a triangle, of it places %.0f; with dA and dM %.0f\n", n,
                  s.surface->faces, best[0] / faces, best[2] / faces, best[1] / faces);
#if defined(__OPTIMIZE__) && !defined(CURVEBODY_SANITIZED)
    check_at_most(best[0] / faces, 1000);
#endif
    free(x);
    swimmer_free(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rigid_surfaces_have_their_closed_drag),
      cmocka_unit_test(many_faces_make_little_round_off),
      cmocka_unit_test(a_shape_that_only_moves_as_a_whole_stays_where_it_is),
      cmocka_unit_test(a_ribbon_of_three_links_is_purcells_swimmer),
      cmocka_unit_test(thin_tubes_become_purcells_swimmer),
      cmocka_unit_test(derivatives_are_exact),
      cmocka_unit_test(small_loops_measure_the_curvature),
      cmocka_unit_test(a_body_far_from_its_frame_loses_no_digits),
      cmocka_unit_test(plots_are_the_vertices_moved),
      cmocka_unit_test(what_is_wrong_is_refused),
      cmocka_unit_test(any_thread_may_ask),
      cmocka_unit_test(prints_its_time_a_triangle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
