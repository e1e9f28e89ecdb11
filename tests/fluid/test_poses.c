/* Tests of sequences of poses and of poses by expressions: interpolation in time, exact velocities, motions of parts,
 * and errors. */
#include "surface_measures.h"

#include "fluid/poses_private.h"

#include <time.h>

static const double pi = 3.14159265358979323846;

/* Computes the positions of three vertices at the time t in a motion of period 2 pi. */
static void wave(double t, double x[3][3]) {
  for (int v = 0; v < 3; v++) {
    x[v][0] = v + .1 * sin(t + v);
    x[v][1] = exp(.3 * cos(t - v));
    x[v][2] = sin(2 * t);
  }
}

static cb_poses *sequence(int poses, const double *time, double start, double step, double period, cb_poses_end end) {
  double(*x)[3] = malloc((size_t)poses * 3 * sizeof *x);
  for (int i = 0; i < poses; i++) wave(time ? time[i] : start + i * step, x + 3 * (size_t)i);
  cb_poses *p = NULL;
  check_ok(
      cb_poses_from_arrays(3, poses, (const double(*)[3])x, &(cb_poses_times){time, start, step, period, end}, &p));
  free(x);
  return p;
}

static double worst_error(const cb_poses *p, bool of_velocity) {
  double worst = 0;
  for (int i = 0; i < 1000; i++) {
    double t = -3 + 17 * i / 999., h = 1e-5, x[3][3], v[3][3], exact[3][3], before[3][3], after[3][3];
    check_ok(cb_poses_at(p, t, x, v));
    wave(t, exact);
    wave(t - h, before);
    wave(t + h, after);
    for (int n = 0; n < 3; n++)
      for (int k = 0; k < 3; k++)
        worst = fmax(
            worst, of_velocity ? fabs(v[n][k] - (after[n][k] - before[n][k]) / (2 * h)) : fabs(x[n][k] - exact[n][k]));
  }
  return worst;
}

static void a_periodic_sequence_converges_by_order_3(void **state) {
  double place[2], velocity[2];
  for (int r = 0; r < 2; r++) {
    int n = 40 << r;
    cb_poses *p = sequence(n, NULL, .3, 2 * pi / n, 0, CB_POSES_PERIODIC);
    place[r] = worst_error(p, false);
    velocity[r] = worst_error(p, true);
    cb_poses_free(p);
  }
  print_message("places %.2e %.2e, velocities %.2e %.2e\n", place[0], place[1], velocity[0], velocity[1]);
  check_near(log2(place[0] / place[1]), 3, .3);
  check_near(log2(velocity[0] / velocity[1]), 2, .3);
}

static void poses_are_met_and_repeat(void **state) {
  static const double uneven[] = {0, .7, 1, 2.5, 3, 4.4, 5.9};
  cb_poses *even = sequence(12, NULL, -1, 2 * pi / 12, 0, CB_POSES_PERIODIC);
  cb_poses *other = sequence(7, uneven, 0, 0, 2 * pi, CB_POSES_PERIODIC);
  double x[3][3], exact[3][3], v[3][3], w[3][3], y[3][3];
  for (int i = -3; i < 30; i++) {
    double t = -1 + i * 2 * pi / 12;
    check_ok(cb_poses_at(even, t, x, NULL));
    wave(t, exact);
    for (int k = 0; k < 9; k++) check_near(x[k / 3][k % 3], exact[k / 3][k % 3], 1e-13); /* round-off of t */
  }
  for (int i = 0; i < 7; i++)
    for (int turn = -1; turn < 3; turn++) {
      check_ok(cb_poses_at(other, uneven[i] + turn * 2 * pi, x, v));
      check_ok(cb_poses_at(other, uneven[i], y, w));
      wave(uneven[i], exact);
      for (int k = 0; k < 9; k++) {
        check_near(x[k / 3][k % 3], exact[k / 3][k % 3], 1e-13);
        check_near(v[k / 3][k % 3], w[k / 3][k % 3], 1e-12);
      }
    }
  assert_int_equal(cb_poses_vertices(even), 3);
  cb_poses_free(even);
  cb_poses_free(other);
}

/* Velocities at poses and between poses are compared with differences from both sides. */
static void velocities_are_continuous_derivatives(void **state) {
  static const double uneven[] = {0, .7, 1, 2.5, 3, 4.4, 5.9};
  cb_poses *p[3] = {sequence(7, uneven, 0, 0, 2 * pi, CB_POSES_PERIODIC),
                    sequence(7, uneven, 0, 0, 0, CB_POSES_CLAMPED), sequence(6, NULL, 1, .4, 0, CB_POSES_CLAMPED)};
  const double h = 1e-6;
  for (int c = 0; c < 3; c++) {
    for (int i = 0; i < 400; i++) {
      double t = i < 7 ? uneven[i] : i < 13 ? 1 + .4 * (i - 7) : -1 + 9. * (i - 13) / 386;
      double x[3][3], before[3][3], after[3][3], v[3][3];
      check_ok(cb_poses_at(p[c], t, x, v));
      check_ok(cb_poses_at(p[c], t - h, before, NULL));
      check_ok(cb_poses_at(p[c], t + h, after, NULL));
      for (int k = 0; k < 9; k++) {
        const double left = (x[k / 3][k % 3] - before[k / 3][k % 3]) / h,
                     right = (after[k / 3][k % 3] - x[k / 3][k % 3]) / h;
        /* The differences over the time h have the error h/2 times the second derivative, which is below 20, and
         * round-off/h. */
        check_near(left, v[k / 3][k % 3], 2e-5);
        check_near(right, v[k / 3][k % 3], 2e-5);
      }
    }
    cb_poses_free(p[c]);
  }
}

static void a_clamped_sequence_rests_outside(void **state) {
  cb_poses *p = sequence(5, NULL, 1, .5, 0, CB_POSES_CLAMPED);
  double x[3][3], v[3][3], first[3][3], last[3][3];
  wave(1, first);
  wave(3, last);
  static const double times[] = {-1e9, 0, 1, 3, 3.5, 1e9};
  for (int i = 0; i < 6; i++) {
    check_ok(cb_poses_at(p, times[i], x, v));
    for (int k = 0; k < 9; k++) {
      /* The tolerance is round-off: a compiler may evaluate the sine of a constant differently than the C library. */
      check_near(x[k / 3][k % 3], (i < 3 ? first : last)[k / 3][k % 3], 1e-15 * 4);
      assert_true(v[k / 3][k % 3] == 0);
    }
  }
  check_error(cb_poses_at(p, NAN, x, v), CB_STEP_NOT_FINITE, "poses at the time nan: expected a finite time");
  cb_poses_free(p);
}

static void wrong_sequences_are_refused_by_pose_and_vertex(void **state) {
  double x[9][3] = {{0}};
  const double(*c)[3] = (const double(*)[3])x;
  static const double back[] = {0, 1, 1}, good[] = {0, 1, 2};
  cb_poses *p = NULL;
  check_error(cb_poses_from_arrays(3, 1, c, &(cb_poses_times){.step = 1, .end = CB_POSES_CLAMPED}, &p),
              CB_ERROR_ARGUMENT, "1 poses: expected at least 2");
  check_error(cb_poses_from_arrays(3, 2, c, &(cb_poses_times){.step = 1}, &p), CB_ERROR_ARGUMENT,
              "2 poses: expected at least 3");
  check_error(cb_poses_from_arrays(3, 3, c, &(cb_poses_times){.step = 0}, &p), CB_ERROR_ARGUMENT,
              "poses from time 0 on with step 0: expected a finite start and a step > 0");
  check_error(cb_poses_from_arrays(3, 3, c, &(cb_poses_times){.time = back, .period = 9}, &p), CB_ERROR_ARGUMENT,
              "pose 3 at time 1: expected finite times that ascend");
  check_error(cb_poses_from_arrays(3, 3, c, &(cb_poses_times){.time = good, .period = 2}, &p), CB_ERROR_ARGUMENT,
              "period 2: expected more than the time from the first pose to the last, 2");
  check_error(cb_poses_from_arrays(3, 3, c, &(cb_poses_times){.time = good}, &p), CB_ERROR_ARGUMENT,
              "period 0: expected more than the time from the first pose to the last, 2");
  /* the times start + i step, rounded to floating-point numbers, must ascend and be finite */
  check_error(cb_poses_from_arrays(3, 3, c, &(cb_poses_times){.start = 1e17, .step = .1, .end = CB_POSES_CLAMPED}, &p),
              CB_ERROR_ARGUMENT, "pose 2 at time 1e+17: expected finite times that ascend");
  check_error(cb_poses_from_arrays(3, 3, c, &(cb_poses_times){.start = 1e308, .step = 1e308}, &p), CB_ERROR_ARGUMENT,
              "pose 2 at time inf: expected finite times that ascend");
  static const double late[] = {1e17, 1e17 + 16, 1e17 + 32};
  check_error(cb_poses_from_arrays(3, 3, c, &(cb_poses_times){.time = late, .period = 33}, &p), CB_ERROR_ARGUMENT,
              "period 33: expected more than the time from the first pose to the last, 32");
  x[7][2] = NAN;
  check_error(cb_poses_from_arrays(3, 3, c, &(cb_poses_times){.step = 1}, &p), CB_ERROR_DOMAIN,
              "pose 3: vertex 2: expected finite coordinates, found (0, 0, nan)");
  assert_null(p);
}

/* Between poses at +-1e308 the velocity overflows. Only one vertex has such poses. The test tries each vertex, because
 * the library computes most vertices in vector lanes and the last ones separately. */
static void what_overflows_between_poses_is_refused_by_vertex(void **state) {
  enum { MOST = 40 };
  static const int sizes[] = {1, 3, MOST};
  for (int n = 0; n < 3; n++)
    for (int vertex = 0; vertex < sizes[n]; vertex++) {
      double x[3][MOST][3] = {{{0}}}, y[MOST][3], v[MOST][3];
      double all[3 * MOST][3];
      x[0][vertex][1] = 1e308;
      x[1][vertex][1] = -1e308;
      x[2][vertex][1] = 1e308;
      for (int i = 0; i < 3; i++) memcpy(all[i * sizes[n]], x[i], (size_t)sizes[n] * sizeof **x);
      cb_poses *p = NULL;
      check_ok(cb_poses_from_arrays(sizes[n], 3, (const double(*)[3])all,
                                    &(cb_poses_times){.step = .1, .end = CB_POSES_CLAMPED}, &p));
      check_ok(cb_poses_at(p, .05, y, NULL));
      char text[100];
      snprintf(text, sizeof text, "pose at t = 0.05: y's velocity of vertex %d is -inf", vertex + 1);
      check_error(cb_poses_at(p, .05, y, v), CB_STEP_NOT_FINITE, text);
      check_ok(cb_poses_at(p, .2, y, v)); /* at the last pose the body is at rest */
      cb_poses_free(p);
    }
  /* It is not a failure if an intermediate sum overflows and the results do not. */
  double x[6][3] = {{1.5e308, 1.5e308, 1.5e308}, {1.5e308, 1.5e308, 1.5e308}, {0}}, y[3][3];
  memcpy(x[3], x[0], 3 * sizeof *x);
  cb_poses *p = NULL;
  check_ok(
      cb_poses_from_arrays(3, 2, (const double(*)[3])x, &(cb_poses_times){.step = 1, .end = CB_POSES_CLAMPED}, &p));
  check_ok(cb_poses_at(p, 0, y, NULL));
  cb_poses_free(p);
}

/* A vertex that several parts share moves with the first of these parts, for any order of the faces. A NULL expression
 * leaves the coordinate at rest. */
static void a_shared_vertex_moves_with_its_first_part(void **state) {
  enum { PARTS = 40000 };
  double(*x)[3] = calloc(PARTS + 2, sizeof *x), (*moved)[3] = malloc((PARTS + 2) * sizeof *moved);
  int(*face)[3] = malloc(PARTS * sizeof *face), *part = malloc(PARTS * sizeof *part);
  for (int i = 0; i < PARTS + 2; i++) {
    x[i][0] = i;
    x[i][1] = i % 2;
    x[i][2] = i % 3;
  }
  for (int i = 0; i < PARTS; i++) { /* a strip; triangle i is in part 7919 i modulo PARTS, which covers all parts */
    face[i][0] = i;
    face[i][1] = i + 1 + i % 2;
    face[i][2] = i + 2 - i % 2;
    part[i] = (int)(7919LL * i % PARTS);
  }
  cb_surface *s = NULL;
  check_ok(cb_surface_make(PARTS + 2, (const double(*)[3])x, PARTS, (const int(*)[3])face, part, &s));
  cb_poses *p = NULL;
  const cb_poses_motion motion[] = {
      {s->name[20], {NULL, "Y + 20*t", NULL}}, {NULL, {NULL, NULL, "Z + t"}}, {s->name[5], {"X + 5*t", NULL, NULL}}};
  const clock_t begin = clock();
  check_ok(cb_poses_from_expressions(s, motion, 3, NULL, NULL, NULL, NULL, &p));
  check_at_most((double)(clock() - begin) / CLOCKS_PER_SEC, .3); /* a search of all faces for each part takes seconds */
  check_ok(cb_poses_at(p, 2, moved, NULL));
  for (int i = 0; i < PARTS + 2; i++) {
    int first = PARTS;
    for (int f = i - 2 < 0 ? 0 : i - 2; f <= i && f < PARTS; f++) first = part[f] < first ? part[f] : first;
    check_near(moved[i][0], x[i][0] + (first == 5 ? 10 : 0), 0);
    check_near(moved[i][1], x[i][1] + (first == 20 ? 40 : 0), 0);
    check_near(moved[i][2], x[i][2] + (first == 5 || first == 20 ? 0 : 2), 0);
  }
  cb_poses_free(p);
  cb_surface_free(s);
  free(x);
  free(moved);
  free(face);
  free(part);
}

static void expressions_move_each_part(void **state) {
  cb_surface *s = shape("turtle", "resolution=8");
  static const cb_poses_motion motion[] = {
      {"flipper_front_left", {"X", "Y*cos(a*sin(w*t)) - Z*sin(a*sin(w*t))", "Y*sin(a*sin(w*t)) + Z*cos(a*sin(w*t))"}},
      {"shell", {"X + t^2", "Y*t", "Z - 3"}}};
  static const char *const names[] = {"a", "w"};
  static const double values[] = {.5, 3};
  cb_poses *p = NULL;
  check_ok(cb_poses_from_expressions(s, motion, 2, &(cb_poses_parameters){names, values, 2}, NULL, NULL, NULL, &p));
  double(*x)[3] = malloc((size_t)s->vertices * sizeof *x), (*v)[3] = malloc((size_t)s->vertices * sizeof *v);
  double t = .7, a = .5 * sin(3 * t), da = 1.5 * cos(3 * t);
  check_ok(cb_poses_at(p, t, x, v));
  for (int f = 0; f < s->faces; f++)
    for (int k = 0; k < 3; k++) {
      int n = s->face[f][k], part = s->part[f];
      const double *r = s->x[n];
      double place[3] = {r[0], r[1], r[2]}, velocity[3] = {0};
      if (part == part_called(s, "shell")) {
        place[0] = r[0] + t * t;
        place[1] = r[1] * t;
        place[2] = r[2] - 3;
        velocity[0] = 2 * t;
        velocity[1] = r[1];
      } else if (part == part_called(s, "flipper_front_left")) {
        place[1] = r[1] * cos(a) - r[2] * sin(a);
        place[2] = r[1] * sin(a) + r[2] * cos(a);
        velocity[1] = -da * place[2];
        velocity[2] = da * place[1];
      }
      for (int c = 0; c < 3; c++) {
        check_near(x[n][c], place[c], 1e-15 * 8);
        check_near(v[n][c], velocity[c], 1e-14);
      }
    }
  cb_poses_free(p);
  /* the first motion is for all parts except the shell */
  static const cb_poses_motion others[] = {{NULL, {"X", "Y", "Z + t"}}, {"shell", {"X", "Y", "Z"}}};
  check_ok(cb_poses_from_expressions(s, others, 2, NULL, NULL, NULL, NULL, &p));
  check_ok(cb_poses_at(p, 2, x, NULL));
  for (int f = 0; f < s->faces; f++) {
    int n = s->face[f][0];
    check_near(x[n][2], s->x[n][2] + (s->part[f] == part_called(s, "shell") ? 0 : 2), 1e-15 * 4);
  }
  cb_poses_free(p);
  free(x);
  free(v);
  cb_surface_free(s);
}

static void wrong_expressions_are_refused_by_part_and_place(void **state) {
  cb_surface *s = shape("fish", "resolution=8");
  cb_poses *p = NULL;
  size_t which, at;
  int coordinate;
  cb_poses_motion m[2] = {{"body", {"X", "Y + Q", "Z"}}, {"tail", {"X", "Y", "Z"}}};
  check_error_begins(cb_poses_from_expressions(s, m, 2, NULL, &which, &coordinate, &at, &p), CB_ERROR_INPUT,
                     "motion of part body, y: ");
  assert_int_equal(which, 0);
  assert_int_equal(coordinate, 1);
  assert_int_equal(at, 4);
  m[0].text[1] = "Y";
  m[1].part = "tial";
  check_error_begins(cb_poses_from_expressions(s, m, 2, NULL, &which, &coordinate, &at, &p), CB_ERROR_INPUT,
                     "unknown part 'tial', did you mean 'tail'?");
  assert_int_equal(which, 1);
  m[1].part = "body";
  check_error(cb_poses_from_expressions(s, m, 2, NULL, NULL, NULL, NULL, &p), CB_ERROR_INPUT,
              "a second motion of part 'body': expected one");
  m[0].part = m[1].part = NULL;
  check_error(cb_poses_from_expressions(s, m, 2, NULL, NULL, NULL, NULL, &p), CB_ERROR_INPUT,
              "a second motion of all parts: expected one");
  assert_null(p);
  m[0].text[2] = "Z/(t - 1)";
  check_ok(cb_poses_from_expressions(s, m, 1, NULL, NULL, NULL, NULL, &p));
  double(*x)[3] = malloc((size_t)s->vertices * sizeof *x), (*v)[3] = malloc((size_t)s->vertices * sizeof *v);
  check_ok(cb_poses_at(p, 0, x, v));
  check_error_begins(cb_poses_at(p, 1, x, v), CB_STEP_NOT_FINITE,
                     "pose at t = 1: z of vertex 1, at rest at (0, 0, 0), is ");
  cb_poses_free(p);
  m[0].text[2] = "Z + sqrt(t)";
  check_ok(cb_poses_from_expressions(s, m, 1, NULL, NULL, NULL, NULL, &p));
  check_ok(cb_poses_at(p, 0, x, NULL));
  check_error_begins(cb_poses_at(p, 0, x, v), CB_STEP_NOT_FINITE,
                     "pose at t = 0: z's velocity of vertex 1, at rest at ");
  cb_poses_free(p);
  free(x);
  free(v);
  cb_surface_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_periodic_sequence_converges_by_order_3),
                                     cmocka_unit_test(poses_are_met_and_repeat),
                                     cmocka_unit_test(velocities_are_continuous_derivatives),
                                     cmocka_unit_test(a_clamped_sequence_rests_outside),
                                     cmocka_unit_test(wrong_sequences_are_refused_by_pose_and_vertex),
                                     cmocka_unit_test(what_overflows_between_poses_is_refused_by_vertex),
                                     cmocka_unit_test(expressions_move_each_part),
                                     cmocka_unit_test(a_shared_vertex_moves_with_its_first_part),
                                     cmocka_unit_test(wrong_expressions_are_refused_by_part_and_place)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
