/* Tests of bundles of bodies in a fluid. The bundles are compared with runs of the same bodies, whose shapes are given
 * by expressions, poses and tables. Other tests are about plots, threads and errors. */
#include "immersed_bundles.h"
#include "sampled.h"

#include <pthread.h>

/* --- compared with the run --- */

/* the two shape variables as functions of time, with the period 2 pi */
#define A_OF_T "(0.4*sin(t))"
#define B_OF_T "(0.1 + 0.3*cos(t))"
static cb_gait *circle(void) {
  cb_gait *gait;
  check_ok(cb_gait_fourier(2, 1, (double[]){0, 0.1}, (double[]){0, 0.3}, (double[]){0.4, 0}, &gait));
  return gait;
}
static void on_circle(double t, double r[2], double rate[2]) {
  r[0] = 0.4 * sin(t);
  r[1] = 0.1 + 0.3 * cos(t);
  rate[0] = 0.4 * cos(t);
  rate[1] = -0.3 * sin(t);
}

/* Makes a body whose shape changes as A_OF_T and B_OF_T, in a fluid of density `water` or in a vacuum (0). There is no
 * drag, so no wrench acts on it. */
static void swim(tank *k, double water) {
  static const cb_poses_motion motion = MODES(A_OF_T, B_OF_T);
  check_ok(cb_poses_from_expressions(k->surface, &motion, 1, NULL, NULL, NULL, NULL, &k->poses));
  if (water > 0) tank_water(k, water);
  k->options.drag = false;
  tank_fill(k);
  assert_int_equal(cb_immersed_wrenches(k->body), 0);
}

static double pose_distance(const cb_pose *a, const double *g) {
  double dot = 0, worst = 0;
  for (int i = 0; i < 4; i++) dot += a->q[i] * g[i];
  for (int i = 0; i < 4; i++) worst = fmax(worst, fabs(a->q[i] - (dot < 0 ? -g[i] : g[i])));
  for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(a->x[i] - g[4 + i]));
  return worst;
}

static void a_body_at_zero_momentum_moves_as_its_bundle_says(void **unused) {
  static const cb_poses_motion motion = MODES("a", "b");
  for (int wet = 0; wet < 2; wet++) {
    tank k = ellipsoid(700);
    swim(&k, wet ? 998 : 0);
    cb_bundle *b = bundle_of(&k, wet ? 998 : 0, 2, ab, &motion);
    cb_gait *gait = circle();
    double g[7], length, cost, error[4], Y[6];
    check_ok(cb_holonomy(b, gait, 1e-12, g, &length, &cost));
    const cb_rigid_state rest = {.g = at_origin};
    check_ok(cb_rigid_twist(k.problem, &rest, Y));
    for (int i = 0; i < 4; i++) {
      const cb_rigid_state s = run_by(k.problem, CB_SE3_CAYLEY, &at_origin, Y, 2 * PI, 100 << i);
      for (int j = 0; j < 6; j++) check_near(s.momentum[j], 0, 1e-11);
      error[i] = pose_distance(&s.g, g);
    }
    check_near(fitted_order(error, 4), 2, 0.05);
    const cb_rigid_state s = run_by(k.problem, RKMK4, &at_origin, Y, 2 * PI, 800);
    print_message("  %s: swims (%.6f, %.6f, %.6f), turned by %.6f; run of order 2 to %.1e, of order 4 to %.1e\n",
                  wet ? "water" : "vacuum", g[4], g[5], g[6], 2 * acos(g[0]), error[3], pose_distance(&s.g, g));
    check_at_least(fabs(g[0]) < 1 ? sqrt(1 - g[0] * g[0]) : 0, 1e-4); /* the body does move */
    check_near(pose_distance(&s.g, g), 0, 1e-8);
    /* at half of the period */
    double half[7];
    check_ok(cb_reconstruct(b, gait, 1e-12, 1, (double[]){0.5}, half));
    const cb_rigid_state middle = run_by(k.problem, RKMK4, &at_origin, Y, PI, 400);
    check_near(pose_distance(&middle.g, half), 0, 1e-8);
    cb_gait_free(gait);
    cb_bundle_free(b);
    tank_empty(&k);
  }
}

enum { VACUUM, WATER, LUMPED, POINTS, SHEET, TWO, KINDS };
static tank body_of(int kind) {
  if (kind == SHEET) return tank_of(mesh_plate(5, 0.5, 0.2, false), 2700, 0.01);
  if (kind != TWO) return ellipsoid(700);
  mesh a = mesh_ellipsoid(3, 0.3, 0.2, 0.15), b = mesh_ball(2, 0.15);
  mesh_move(&a, (double[3]){-0.4, 0.05, 0});
  mesh_move(&b, (double[3]){0.3, 0, 0.1});
  tank k = tank_of(two_bodies(a, b), 700, 0);
  k.material[1].density = 1200;
  return k;
}

/* The form G of the bundle is the Hessian of the kinetic energy that a run records. r'^T M r'/2 is this energy if the
 * momentum is 0, where r' are the rates of the shape variables and M is the metric of the bundle. */
static void the_form_is_the_kinetic_energy(void **unused) {
  static const cb_poses_motion motion = MODES("a", "b");
  uint64_t seed = check_seed();
  for (int kind = 0; kind < KINDS; kind++) {
    tank k = body_of(kind);
    const cb_point_mass points[2] = {{.mass = 30, .x = {0.1, 0.2, 0.05}, .vertex = -1}, {.mass = 20, .vertex = 5}};
    k.options.lumped = kind == LUMPED;
    if (kind == POINTS) {
      k.options.n_points = 2;
      k.options.points = points;
    }
    swim(&k, kind ? 998 : 0);
    cb_bundle *b = bundle_of(&k, kind ? 998 : 0, 2, ab, &motion);
    for (int trial = 0; trial < 4; trial++) {
      const double t = check_uniform(&seed, 0, 6);
      double r[2], rate[2], G[64], M[4], A[12], Y[6], u[8], K[6][6], mu0[6], P[36], energy = 0, least = 0;
      on_circle(t, r, rate);
      check_ok(b->class_->form(b, r, G, NULL));
      check_ok(cb_bundle_locked(b, r, P));
      check_ok(cb_bundle_connection(b, r, A, NULL, M, NULL));
      check_ok(k.problem->inertia(k.problem->self, t, &at_origin, K, mu0));
      for (int i = 0; i < 6; i++) {
        double own = 0;
        for (int j = 0; j < 6; j++) {
          check_near(G[i * 8 + j], K[i][j], 1e-12 * fabs(K[5][5]));
          assert_true(P[i * 6 + j] == G[i * 8 + j]);
        }
        for (int j = 0; j < 2; j++) own += G[i * 8 + 6 + j] * rate[j];
        check_near(own, mu0[i], 1e-12 * fabs(K[5][5]));
        u[i] = Y[i] = check_uniform(&seed, -1, 1);
      }
      u[6] = rate[0];
      u[7] = rate[1];
      for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) energy += u[i] * G[i * 8 + j] * u[j] / 2;
      cb_rigid_state s;
      double wrench[8][6];
      check_ok(cb_rigid_start(k.problem, t, &at_origin, Y, &s));
      check_relative(row_of(&k, &s, wrench).kinetic, energy, 1e-12);
      memset(&s.momentum, 0, sizeof s.momentum);
      const cb_immersed_row row = row_of(&k, &s, wrench);
      for (int i = 0; i < 6; i++) check_near(row.twist[i], -A[2 * i] * rate[0] - A[2 * i + 1] * rate[1], 1e-13);
      for (int i = 0; i < 4; i++) least += rate[i / 2] * M[i] * rate[i % 2] / 2;
      check_relative(row.kinetic, least, 1e-12);
    }
    cb_bundle_free(b);
    tank_empty(&k);
  }
}

/* --- poses, tables, plots --- */

static void a_pose_sequence_swims_as_its_run(void **unused) {
  enum { POSES = 16 };
  tank k = ellipsoid(700);
  const int vertices = k.surface->vertices;
  double(*x)[3] = malloc(sizeof *x * (size_t)(POSES * vertices));
  for (int p = 0; p < POSES; p++)
    for (int v = 0; v < vertices; v++) {
      const double *X = k.surface->x[v], s = sin(2 * PI * p / POSES), c = cos(2 * PI * p / POSES);
      double *at = x[p * vertices + v];
      at[0] = X[0];
      at[1] = X[1] + 0.4 * s * X[0] * X[0];
      at[2] = X[2] + 0.3 * c * X[0] * X[0] + 0.2 * s * X[0];
    }
  const cb_poses_times times = {.step = 0.125, .end = CB_POSES_PERIODIC}; /* the poses have the period 2 */
  check_ok(cb_poses_from_arrays(vertices, POSES, (const double(*)[3])x, &times, &k.poses));
  free(x);
  tank_water(&k, 998);
  k.options.drag = false;
  tank_fill(&k);
  cb_shape_surface *shape;
  cb_bundle *b;
  cb_gait *gait;
  check_ok(cb_shape_surface_of_poses(k.poses, k.surface, 0, 2, &shape));
  const cb_immersed_bundle_options options = {.material = k.material, .density = 998};
  check_ok(cb_bundle_immersed(shape, &options, &b));
  assert_int_equal(b->n, 1);
  assert_true(b->period[0] == 1);
  double breaks[POSES], half[7], Y[6];
  for (int p = 0; p < POSES; p++) breaks[p] = (double)p / POSES; /* steps end at breaks, so they end at poses */
  cb_expression *e;
  const char *const t[1] = {"t"};
  check_ok(cb_expression_parse("t", t, 1, NULL, &e));
  check_ok(cb_gait_expressions(1, (const cb_expression *const[]){e}, POSES, breaks, &gait));
  cb_expression_free(e);
  check_ok(cb_reconstruct(b, gait, 1e-11, 1, (double[]){0.8}, half));
  const cb_rigid_state rest = {.g = at_origin};
  check_ok(cb_rigid_twist(k.problem, &rest, Y));
  const cb_rigid_state s = run_by(k.problem, RKMK4, &at_origin, Y, 1.6, 12800); /* steps do not end at poses */
  print_message("  poses: run to %.1e\n", pose_distance(&s.g, half));
  check_near(pose_distance(&s.g, half), 0, 1e-8);
  cb_gait_free(gait);
  cb_bundle_free(b);
  cb_shape_surface_free(shape);
  tank_empty(&k);
}

static void a_table_swims_alike(void **unused) {
  static const cb_poses_motion motion = MODES("a", "b");
  tank k = ellipsoid(700);
  cb_bundle *b = bundle_of(&k, 998, 2, ab, &motion);
  cb_gait *gait = circle();
  cb_bundle *fast = sampled(b, (double[]){-0.45, -0.25}, (double[]){0.45, 0.45}, (int[]){25, 25}, 5);
  double g[7], h[7], back[7], a[6], told[6];
  check_ok(cb_holonomy(b, gait, 1e-12, g, NULL, NULL));
  check_ok(cb_holonomy(fast, gait, 1e-12, h, NULL, NULL));
  check_ok(cb_bundle_samples_holonomy_error(fast, gait, told));
  b->group->inverse(b->group, h, back);
  b->group->multiply(b->group, g, back, back);
  check_ok(b->group->log(b->group, back, a));
  for (int i = 0; i < 6; i++) check_at_most(fabs(a[i]), told[i]);
  for (int i = 0; i < 6; i++) check_at_most(told[i], 1e-4);
  cb_gait_free(gait);
  cb_bundle_free(b);
  cb_bundle_free(fast);
  tank_empty(&k);
}

static void it_is_drawn_by_its_edges(void **unused) {
  static const cb_poses_motion motion = MODES("a", "b");
  tank k = ellipsoid(700);
  cb_bundle *b = bundle_of(&k, 998, 2, ab, &motion);
  assert_int_equal(b->points, k.surface->vertices);
  assert_int_equal(b->lines, k.surface->faces * 3 / 2);
  double(*x)[3] = malloc(sizeof *x * (size_t)b->points), g[7], *X = k.surface->x[4], p[3], found[3];
  const double r[2] = {0.2, -0.3};
  memcpy(g, generic_pose.q, sizeof generic_pose.q);
  memcpy(g + 4, generic_pose.x, sizeof generic_pose.x);
  check_ok(b->class_->plot(b, r, g, x));
  p[0] = X[0] + 0.1 * r[1] * X[2];
  p[1] = X[1] + r[0] * X[0] * X[0] + 0.3 * r[1] * X[0] * X[2];
  p[2] = X[2] + 0.2 * r[0] * X[0] * X[1] + r[1] * (X[0] * X[0] - 0.05);
  cb_pose_point(&generic_pose, p, found);
  for (int i = 0; i < 3; i++) check_near(x[4][i], found[i], 1e-15);
  for (int i = 0; i < b->lines; i++)
    assert_true(b->line[i][0] >= 0 && b->line[i][1] > b->line[i][0] && b->line[i][1] < b->points);
  free(x);
  cb_bundle_free(b);
  tank_empty(&k);
}

/* --- threads --- */

typedef struct share {
  const cb_bundle *b;
  double A[20][12], dA[20][24];
  cb_status status;
} share;

static void *evaluate(void *of) {
  share *s = of;
  for (int i = 0; i < 20 && !s->status; i++)
    s->status = cb_bundle_connection(s->b, (double[]){0.02 * i, 0.1 - 0.01 * i}, s->A[i], s->dA[i], NULL, NULL);
  return NULL;
}

static void threads_may_share_a_bundle(void **unused) {
  enum { THREADS = 40 }; /* more threads than the bundle has work arrays at the start */
  static const cb_poses_motion motion = MODES("a", "b");
  static share shares[THREADS];
  tank k = ellipsoid(700);
  cb_bundle *b = bundle_of(&k, 998, 2, ab, &motion);
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++) {
    shares[i] = (share){.b = b};
    assert_int_equal(pthread_create(&thread[i], NULL, evaluate, &shares[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    check_ok(shares[i].status);
    assert_memory_equal(shares[i].A, shares[0].A, sizeof shares[0].A);
    assert_memory_equal(shares[i].dA, shares[0].dA, sizeof shares[0].dA);
  }
  cb_bundle_free(b);
  tank_empty(&k);
}

/* --- errors --- */

static void refused_by_what_is_missing(void **unused) {
  static const char *const names[1] = {"a"};
  static const cb_poses_motion motion = {NULL, {"X", "Y + a*X^2", "Z/(1 - a)"}};
  tank k = ellipsoid(0);
  cb_shape_surface *shape;
  cb_bundle *b = NULL;
  check_ok(cb_shape_surface_expressions(k.surface, 1, names, 1, &motion, &shape));
  cb_immersed_bundle_options options = {.material = k.material};
  check_error(cb_bundle_immersed(shape, &options, &b), CB_ERROR_DOMAIN,
              "the body has no inertia: expected a mass > 0, or a fluid with a density > 0");
  options.density = -1;
  check_error(cb_bundle_immersed(shape, &options, &b), CB_ERROR_ARGUMENT,
              "density of the fluid: expected a number >= 0 in kg/m^3, found -1");
  options.density = NAN;
  check_error(cb_bundle_immersed(shape, &options, &b), CB_ERROR_ARGUMENT,
              "density of the fluid: expected a number >= 0 in kg/m^3, found nan");
  options.density = 0;
  /* masses on one line have a singular inertia */
  const cb_point_mass line[2] = {{.mass = 1, .x = {0, 0, 1}, .vertex = -1}, {.mass = 2, .x = {0, 0, -1}, .vertex = -1}};
  options.n_points = 2;
  options.points = line;
  check_ok(cb_bundle_immersed(shape, &options, &b));
  double A[6], M[1];
  check_error(cb_bundle_connection(b, (double[]){0.25}, A, NULL, NULL, NULL), CB_STEP_SINGULAR,
              "bundle immersed at a = 0.25: the form P of the locked body is 0 on axis omega_z: expected more than 0");
  cb_bundle_free(b);
  k.material[0].density = 500;
  check_ok(cb_bundle_immersed(shape, &options, &b));
  check_error_begins(cb_bundle_connection(b, (double[]){1}, A, NULL, M, NULL), CB_STEP_NOT_FINITE,
                     "bundle immersed at a = 1: ");
  check_error_begins(cb_bundle_connection(b, (double[]){2}, A, NULL, M, NULL), CB_STEP_SINGULAR,
                     "bundle immersed at a = 2: part `");
  check_ok(cb_bundle_connection(b, (double[]){0.5}, A, NULL, M, NULL));
  cb_bundle_free(b);
  cb_shape_surface_free(shape);
  tank_empty(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_body_at_zero_momentum_moves_as_its_bundle_says),
      cmocka_unit_test(the_form_is_the_kinetic_energy),
      cmocka_unit_test(a_pose_sequence_swims_as_its_run),
      cmocka_unit_test(a_table_swims_alike),
      cmocka_unit_test(it_is_drawn_by_its_edges),
      cmocka_unit_test(threads_may_share_a_bundle),
      cmocka_unit_test(refused_by_what_is_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
