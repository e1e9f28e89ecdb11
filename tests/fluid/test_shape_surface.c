/* Tests of surfaces that are functions of shape variables. Positions and derivatives are compared with poses in time,
 * closed forms and differences. */
#include "fluid_mesh.h"

#include "fluid/shape_surface.h"

enum { MOST = 8 };

typedef double vector[3];

typedef struct places {
  vector *x, *dx, *ddx;
} places;

static places places_at(const cb_shape_surface *s, const double *r) {
  const size_t v = (size_t)s->surface->vertices, n = (size_t)s->n;
  places p = {calloc(v, sizeof(vector)), calloc(n * v, sizeof(vector)), calloc(n * (n + 1) / 2 * v, sizeof(vector))};
  void *work = malloc(s->work_size + 1);
  check_ok(s->at(s, r, p.x, p.dx, work));
  check_ok(s->second(s, r, p.ddx, work));
  check_ok(s->at(s, r, p.x, NULL, work));
  free(work);
  return p;
}
static void places_free(places *p) {
  free(p->x);
  free(p->dx);
  free(p->ddx);
}

static double difference(const vector *a, const vector *b, int vertices) {
  double worst = 0;
  for (int v = 0; v < vertices; v++)
    for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(a[v][k] - b[v][k]));
  return worst;
}

/* Compares the first derivatives dx of the positions with differences of the positions, and the second derivatives ddx
 * with differences of dx. The differences have order 4 and the step h. */
static void check_derivatives(const cb_shape_surface *s, const double *r, double h, double tolerance) {
  const int vertices = s->surface->vertices, n = s->n;
  static const double weight[2] = {2. / 3, -1. / 12};
  places p = places_at(s, r);
  vector *slope = calloc((size_t)(n + 1) * (size_t)vertices, sizeof(vector));
  for (int i = 0; i < n; i++) {
    memset(slope, 0, (size_t)(n + 1) * (size_t)vertices * sizeof(vector));
    for (int step = -2; step <= 2; step++) {
      double at[MOST];
      if (!step) continue;
      memcpy(at, r, sizeof(double) * (size_t)n);
      at[i] += step * h;
      places q = places_at(s, at);
      const double w = (step > 0 ? weight[step - 1] : -weight[-step - 1]) / h;
      for (int v = 0; v < vertices; v++)
        for (int k = 0; k < 3; k++) {
          slope[v][k] += w * q.x[v][k];
          for (int j = 0; j < n; j++) slope[(1 + j) * vertices + v][k] += w * q.dx[j * vertices + v][k];
        }
      places_free(&q);
    }
    check_at_most(difference((const vector *)slope, (const vector *)(p.dx + i * vertices), vertices), tolerance);
    for (int j = 0; j < n; j++) {
      const int pair = i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
      check_at_most(
          difference((const vector *)(slope + (1 + j) * vertices), (const vector *)(p.ddx + pair * vertices), vertices),
          tolerance);
    }
  }
  free(slope);
  places_free(&p);
}

/* Makes two separate boxes, the parts "part1" and "part2". */
static cb_surface *two_boxes(void) {
  mesh m = mesh_room(2 * 8, 2 * 12);
  for (int k = 0; k < 2; k++) {
    mesh box = mesh_box(1, (double[]){1, .5, .3}, false);
    const int first = m.vertices;
    for (int v = 0; v < box.vertices; v++) mesh_vertex(&m, box.x[v][0] + 4 * k, box.x[v][1], box.x[v][2]);
    for (int f = 0; f < box.faces; f++) {
      m.part[m.faces] = k;
      mesh_face(&m, first + box.face[f][0], first + box.face[f][1], first + box.face[f][2]);
    }
    free(box.x);
    free(box.face);
    free(box.part);
  }
  return mesh_surface(m);
}

static void expressions_have_their_values_and_derivatives(void **state) {
  cb_surface *s = two_boxes();
  const char *names[] = {"bend", "swell"};
  const cb_poses_motion motion[] = {
      {NULL, {"X*(1 + swell)", "Y + bend*X^2/10", NULL}},
      {"part2", {"X + 1", "Y*cos(bend*swell) - Z*sin(bend*swell)", "Y*sin(bend*swell) + Z*cos(bend*swell)"}}};
  cb_shape_surface *shape;
  check_ok(cb_shape_surface_expressions(s, 2, names, 2, motion, &shape));
  assert_int_equal(shape->n, 2);
  assert_string_equal(shape->name[1], "swell");
  assert_true(shape->period[0] == 0 && shape->surface == s);
  const double r[2] = {.7, -.2};
  places p = places_at(shape, r);
  const int n = s->vertices;
  for (int v = 0; v < n; v++) {
    const double *X = s->x[v], c = cos(r[0] * r[1]), d = sin(r[0] * r[1]);
    double x[3] = {X[0] * .8, X[1] + .07 * X[0] * X[0], X[2]}, by_bend[3] = {0, X[0] * X[0] / 10, 0};
    double twice[3] = {0, 0, 0}; /* the mixed second derivative by the variables `bend` and `swell` */
    if (v >= 8) {
      x[0] = X[0] + 1;
      x[1] = X[1] * c - X[2] * d;
      x[2] = X[1] * d + X[2] * c;
      by_bend[1] = -r[1] * x[2];
      by_bend[2] = r[1] * x[1];
      twice[1] = -x[2] - r[0] * r[1] * x[1];
      twice[2] = x[1] - r[0] * r[1] * x[2];
    }
    for (int k = 0; k < 3; k++) {
      check_near(p.x[v][k], x[k], 1e-14);
      check_near(p.dx[v][k], by_bend[k], 1e-14);
      check_near(p.ddx[n + v][k], twice[k], 1e-14);
    }
  }
  places_free(&p);
  check_derivatives(shape, r, 1e-3, 1e-10);
  cb_shape_surface_free(shape);
  cb_surface_free(s);
}

/* Makes a tube around the z axis. */
static cb_surface *wave_surface(void) { return mesh_surface(mesh_tube(9, 6, .2, 1, true)); }

/* Makes a wave of period 2, by expressions of time or as a sequence of poses. */
static cb_poses *wave(const cb_surface *s, bool sequence, int poses) {
  const cb_poses_motion motion = {NULL,
                                  {"X + 0.3*sin(3*Z - pi*t)", "Y + 0.1*cos(2*pi*t)*Z^2", "Z*(1 + 0.1*sin(pi*t))"}};
  cb_poses *p, *q;
  check_ok(cb_poses_from_expressions(s, &motion, 1, NULL, NULL, NULL, NULL, &p));
  if (!sequence) return p;
  vector *x = malloc((size_t)poses * (size_t)s->vertices * sizeof *x);
  for (int i = 0; i < poses; i++) check_ok(cb_poses_at(p, 2. * i / poses, x + (size_t)i * (size_t)s->vertices, NULL));
  cb_poses_free(p);
  check_ok(cb_poses_from_arrays(s->vertices, poses, (const double(*)[3])x,
                                &(cb_poses_times){.step = 2. / poses, .end = CB_POSES_PERIODIC}, &q));
  free(x);
  return q;
}

static void a_phase_is_the_poses_in_time(void **state) {
  cb_surface *s = wave_surface();
  vector *x = malloc((size_t)s->vertices * sizeof *x), *v = malloc((size_t)s->vertices * sizeof *v);
  for (int sequence = 0; sequence < 2; sequence++) {
    cb_poses *p = wave(s, sequence, 12);
    cb_shape_surface *shape;
    check_ok(cb_shape_surface_of_poses(p, s, .3, 2, &shape));
    assert_string_equal(shape->name[0], "phase");
    check_near(shape->period[0], 1, 0);
    for (double phase = -1.2; phase < 2; phase += .37) {
      places q = places_at(shape, &phase);
      check_ok(cb_poses_at(p, .3 + 2 * phase, x, v));
      for (int i = 0; i < s->vertices; i++)
        for (int k = 0; k < 3; k++) v[i][k] *= 2;
      check_at_most(difference((const vector *)q.x, (const vector *)x, s->vertices), 1e-14);
      check_at_most(difference((const vector *)q.dx, (const vector *)v, s->vertices), 1e-13);
      places_free(&q);
      /* The error of differences with the step h is h^4 times a fifth derivative. */
      check_derivatives(shape, &phase, 5e-4, 1e-8);
    }
    cb_shape_surface_free(shape);
    cb_poses_free(p);
  }
  free(x);
  free(v);
  cb_surface_free(s);
}

static void second_derivatives_of_a_sequence_converge(void **state) {
  cb_surface *s = wave_surface();
  cb_poses *exact = wave(s, false, 0);
  cb_shape_surface *smooth, *cubics;
  double error[2];
  check_ok(cb_shape_surface_of_poses(exact, s, 0, 2, &smooth));
  for (int k = 0; k < 2; k++) {
    cb_poses *p = wave(s, true, 40 << k);
    check_ok(cb_shape_surface_of_poses(p, s, 0, 2, &cubics));
    error[k] = 0;
    for (double phase = .003; phase < 1; phase += .0071) {
      places a = places_at(smooth, &phase), b = places_at(cubics, &phase);
      error[k] = fmax(error[k], difference((const vector *)a.ddx, (const vector *)b.ddx, s->vertices));
      places_free(&a);
      places_free(&b);
    }
    cb_shape_surface_free(cubics);
    cb_poses_free(p);
  }
  print_message("second derivatives of 40 and 80 poses: %.3g %.3g\n", error[0], error[1]);
  check_near(log2(error[0] / error[1]), 1,
             .15); /* velocities at the poses have errors of order 2, so second derivatives have errors of order 1 */
  cb_shape_surface_free(smooth);
  cb_poses_free(exact);
  cb_surface_free(s);
}

static void an_open_phase_has_no_period(void **state) {
  cb_surface *s = wave_surface();
  cb_poses *p = wave(s, false, 0);
  cb_shape_surface *shape;
  check_ok(cb_shape_surface_of_poses(p, s, 0, 1.5, &shape));
  check_near(shape->period[0], 0, 0);
  cb_shape_surface_free(shape);
  cb_poses_free(p);
  cb_surface_free(s);
}

static void what_is_wrong_is_refused(void **state) {
  cb_surface *s = two_boxes(), *other = wave_surface();
  cb_poses *p = wave(other, false, 0);
  cb_shape_surface *shape;
  size_t which = 9, at = 9;
  int coordinate = 9;
  const char *names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"}, *twice[] = {"a", "a"}, *rest[] = {"X"};
  const cb_poses_motion motion[] = {{"part1", {"X", "Y", "Z"}}, {"part2", {"X", "Y + q", "Z"}}};
  assert_int_equal(cb_shape_surface_of_poses(p, s, 0, 1, &shape), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "expected 16, as the surface has"));
  assert_int_equal(cb_shape_surface_of_poses(p, other, 0, 0, &shape), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_shape_surface_expressions(s, 9, names, 1, motion, &shape), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_shape_surface_expressions(s, 2, twice, 1, motion, &shape), CB_ERROR_INPUT);
  assert_int_equal(cb_shape_surface_expressions(s, 1, rest, 1, motion, &shape), CB_ERROR_INPUT);
  assert_int_equal(
      cb_shape_surface_expressions_in(s, &(cb_shape_text){1, names, 2, motion, NULL}, &which, &coordinate, &at, &shape),
      CB_ERROR_INPUT);
  assert_true(which == 1 && coordinate == 1 && at == 4);
  assert_non_null(strstr(cb_error_text(), "part2"));
  const cb_poses_motion root = {NULL, {"X*sqrt(a)", NULL, NULL}};
  check_ok(cb_shape_surface_expressions(s, 2, names, 1, &root, &shape));
  vector x[16], dx[32];
  assert_int_equal(shape->at(shape, (double[]){-1, 2}, x, dx, NULL), CB_STEP_NOT_FINITE);
  assert_non_null(strstr(cb_error_text(), "a = -1, b = 2"));
  cb_shape_surface_free(shape);
  cb_poses_free(p);
  cb_surface_free(s);
  cb_surface_free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions_have_their_values_and_derivatives),
      cmocka_unit_test(a_phase_is_the_poses_in_time),
      cmocka_unit_test(second_derivatives_of_a_sequence_converge),
      cmocka_unit_test(an_open_phase_has_no_period),
      cmocka_unit_test(what_is_wrong_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
