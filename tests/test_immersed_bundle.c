/* Bundles of immersed bodies against the runs of the same bodies, closed forms, symmetry; their derivatives and
 * curvature; what is refused. labels: medium */
#include "bundle/gait.h"
#include "bundle/samples.h"
#include "check_error.h"
#include "fluid/immersed_bundle.h"
#include "immersed.h"

#include <pthread.h>

static const char *const ab[2] = {"a", "b"};
/* Two motions of a body, without symmetry; A and B are texts. */
#define MODES(A, B)                                                                                  \
  {                                                                                                  \
    NULL, {                                                                                          \
      "X + 0.1*" B "*Z", "Y + " A "*X^2 + 0.3*" B "*X*Z", "Z + 0.2*" A "*X*Y + " B "*(X^2 - 0.05)" \
    }                                                                                                \
  }

/* A bundle of a tank's body and fluid; the tank keeps the surface. */
static cb_bundle *bundle_of(tank *k, double density, int n, const char *const *names, const cb_poses_motion *motion) {
  cb_shape_surface *shape;
  cb_bundle *b;
  check_ok(cb_shape_surface_expressions(k->surface, n, names, 1, motion, &shape));
  const cb_immersed_bundle_options options = {.material = k->material, .n_points = k->options.n_points,
                                              .points = k->options.points, .lumped = k->options.lumped,
                                              .density = density};
  check_ok(cb_bundle_immersed_take(shape, &options, &b));
  return b;
}

static tank ellipsoid(double density) {
  mesh m = mesh_ellipsoid(3, 0.5, 0.2, 0.15);
  uint64_t seed = 7;
  mesh_shake(&m, &seed, 0.01);
  return tank_of(m, density, 0);
}

/* --- against the run --- */

/* r(t) once round in 2 pi */
#define A_OF_T "(0.4*sin(t))"
#define B_OF_T "(0.1 + 0.3*cos(t))"
static cb_gait *circle(void) {
  cb_gait *gait;
  check_ok(cb_gait_fourier(2, 1, (double[]){0, 0.1}, (double[]){0, 0.3}, (double[]){0.4, 0}, &gait));
  return gait;
}
static void on_circle(double t, double r[2], double rate[2]) {
  r[0] = 0.4 * sin(t), r[1] = 0.1 + 0.3 * cos(t);
  rate[0] = 0.4 * cos(t), rate[1] = -0.3 * sin(t);
}

/* Nothing but the fluid's momentum acts. */
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
  (void)unused;
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
    check_at_least(fabs(g[0]) < 1 ? sqrt(1 - g[0] * g[0]) : 0, 1e-4); /* it does move */
    check_near(pose_distance(&s.g, g), 0, 1e-8);
    /* half way */
    double half[7];
    check_ok(cb_reconstruct(b, gait, 1e-12, 1, (double[]){0.5}, half));
    const cb_rigid_state middle = run_by(k.problem, RKMK4, &at_origin, Y, PI, 400);
    check_near(pose_distance(&middle.g, half), 0, 1e-8);
    cb_gait_free(gait), cb_bundle_free(b), tank_empty(&k);
  }
}

/* Two closed bodies beside each other, of one part each. */
static mesh two_bodies(mesh a, mesh b) {
  mesh both = mesh_room(a.vertices + b.vertices, a.faces + b.faces);
  mesh one[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    const mesh m = one[i];
    const int first = both.vertices;
    for (int j = 0; j < m.vertices; j++) mesh_vertex(&both, m.x[j][0], m.x[j][1], m.x[j][2]);
    for (int j = 0; j < m.faces; j++) {
      both.part[both.faces] = i;
      mesh_face(&both, first + m.face[j][0], first + m.face[j][1], first + m.face[j][2]);
    }
    free(m.x), free(m.face), free(m.part);
  }
  return both;
}

enum { VACUUM, WATER, LUMPED, POINTS, SHEET, TWO, KINDS };
static tank body_of(int kind) {
  if (kind == SHEET) return tank_of(mesh_plate(5, 0.5, 0.2, false), 2700, 0.01);
  if (kind != TWO) return ellipsoid(700);
  mesh a = mesh_ellipsoid(3, 0.3, 0.2, 0.15), b = mesh_ball(2, 0.15);
  mesh_move(&a, (double[3]){-0.4, 0.05, 0}), mesh_move(&b, (double[3]){0.3, 0, 0.1});
  tank k = tank_of(two_bodies(a, b), 700, 0);
  k.material[1].density = 1200;
  return k;
}

/* G is the Hessian of the kinetic energy that the run records, and r'^T M r'/2 is that energy at momentum zero. */
static void the_form_is_the_kinetic_energy(void **unused) {
  (void)unused;
  static const cb_poses_motion motion = MODES("a", "b");
  uint64_t seed = check_seed();
  for (int kind = 0; kind < KINDS; kind++) {
    tank k = body_of(kind);
    const cb_point_mass points[2] = {{30, {0.1, 0.2, 0.05}, -1}, {20, {0}, 5}};
    k.options.lumped = kind == LUMPED;
    if (kind == POINTS) k.options.n_points = 2, k.options.points = points;
    swim(&k, kind ? 998 : 0);
    cb_bundle *b = bundle_of(&k, kind ? 998 : 0, 2, ab, &motion);
    for (int trial = 0; trial < 4; trial++) {
      const double t = check_uniform(&seed, 0, 6);
      double r[2], rate[2], G[64], M[4], A[12], Y[6], u[8], K[6][6], mu0[6], P[36], energy = 0, least = 0;
      on_circle(t, r, rate);
      check_ok(b->class->form(b, r, G));
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
      u[6] = rate[0], u[7] = rate[1];
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
    cb_bundle_free(b), tank_empty(&k);
  }
}

/* --- closed forms --- */

/* Two boxes in vacuum turn by Montgomery's connection, and their centre of mass stays. */
static void two_boxes_are_the_falling_cat(void **unused) {
  (void)unused;
  const double half[2][3] = {{0.5, 0.15, 0.1}, {0.7, 0.1, 0.1}};
  double I[2], mass[2], a[2];
  mesh box[2];
  for (int i = 0; i < 2; i++) {
    box[i] = mesh_box(2, half[i], false);
    a[i] = half[i][0] + 0.05;
    mass[i] = (i ? 1.5 : 0.8) * 8 * half[i][0] * half[i][1] * half[i][2];
    I[i] = mass[i] / 3 * (half[i][0] * half[i][0] + half[i][1] * half[i][1]);
  }
  mesh_move(&box[1], (double[3]){a[0] + a[1], 0, 0});
  tank k = tank_of(two_bodies(box[0], box[1]), 0.8, 0);
  k.material[1].density = 1.5;
  static const char *const names[1] = {"al"};
  const cb_poses_motion motion = {k.surface->name[1],
                                  {"0.55 + (X - 0.55)*cos(al) - Y*sin(al)", "(X - 0.55)*sin(al) + Y*cos(al)", "Z"}};
  cb_bundle *b = bundle_of(&k, 0, 1, names, &motion);
  const double m = mass[0] * mass[1] / (mass[0] + mass[1]), k1 = I[0] + m * a[0] * a[0], k2 = I[1] + m * a[1] * a[1];
  for (double al = -3; al < 3.2; al += 0.7) {
    const double c = m * a[0] * a[1] * cos(al), s = m * a[0] * a[1] * sin(al), J = k1 + k2 + 2 * c;
    double A[6], dA[6], M[1], dM[1];
    check_ok(cb_bundle_connection(b, &al, A, dA, M, dM));
    check_near(A[2], (k2 + c) / J, 1e-13);
    check_near(dA[2], -s / J + 2 * s * (k2 + c) / (J * J), 1e-10); /* differences */
    check_near(M[0], (k1 * k2 - c * c) / J, 1e-14);
    check_near(dM[0], 2 * c * s / J + 2 * s * (k1 * k2 - c * c) / (J * J), 1e-10);
    for (int i = 0; i < 2; i++) check_near(A[i], 0, 1e-14);
    check_near(A[5], 0, 1e-14);
    /* of the centre of mass, v + omega x c + dc/dal = 0: c in the frame of the first box */
    const double share = mass[1] / (mass[0] + mass[1]);
    const double cx = share * (0.55 + a[1] * cos(al)), cy = share * a[1] * sin(al);
    check_near(A[3], A[2] * cy - share * a[1] * sin(al), 1e-13);
    check_near(A[4], -A[2] * cx + share * a[1] * cos(al), 1e-13);
  }
  cb_bundle_free(b), tank_empty(&k);
}

/* --- symmetry --- */

static void symmetric_motions_do_not_turn_or_drift(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  /* mirrored in z (modes move x and y and are even in Z): only omega_z, v_x, v_y, and so is the curvature */
  mesh ball = mesh_ball(4, 1); /* all its mirrors are those of its faces too */
  for (int v = 0; v < ball.vertices; v++)
    for (int i = 0; i < 3; i++) ball.x[v][i] *= i == 0 ? 0.5 : i == 1 ? 0.3 : 0.2;
  tank k = tank_of(ball, 700, 0);
  static const cb_poses_motion plane = {NULL, {"X + 0.3*a*Z^2", "Y + a*X^2 + b*X^3", "Z*(1 + 0.2*b*X)"}};
  cb_bundle *b = bundle_of(&k, 998, 2, ab, &plane);
  for (int trial = 0; trial < 5; trial++) {
    const double r[2] = {check_uniform(&seed, -0.5, 0.5), check_uniform(&seed, -0.5, 0.5)};
    double A[12], B[6], most = 0;
    check_ok(cb_bundle_connection(b, r, A, NULL, NULL, NULL));
    check_ok(cb_bundle_curvatures(b, r, B));
    for (int i = 0; i < 6; i++) {
      most = fmax(most, fabs(B[i]));
      if (i >= 2 && i <= 4) continue;
      for (int j = 0; j < 2; j++) check_near(A[2 * i + j], 0, 1e-14);
      check_near(B[i], 0, 1e-12);
    }
    check_at_least(most, 1e-3);
  }
  cb_bundle_free(b);
  /* point symmetric in the axes: it stays */
  static const cb_poses_motion stretch = {NULL, {"X*(1 + a)", "Y*(1 + b)", "Z*(1 - a*b)"}};
  b = bundle_of(&k, 998, 2, ab, &stretch);
  double A[12];
  check_ok(cb_bundle_connection(b, (double[2]){0.2, -0.1}, A, NULL, NULL, NULL));
  for (int i = 0; i < 12; i++) check_near(A[i], 0, 1e-14);
  cb_bundle_free(b), tank_empty(&k);
  /* a pair of balls at distance 1 + a, the second swelling by b as the first shrinks: along the line only */
  mesh pair[2] = {mesh_ball(3, 0.3), mesh_ball(3, 0.3)};
  for (int i = 0; i < 2; i++) mesh_move(&pair[i], (double[3]){i ? 0.5 : -0.5, 0, 0});
  k = tank_of(two_bodies(pair[0], pair[1]), 900, 0);
  cb_shape_surface *shape;
  const cb_poses_motion motions[2] = {
      {k.surface->name[0], {"-0.5 + (X + 0.5)*(1 - b)", "Y*(1 - b)", "Z*(1 - b)"}},
      {k.surface->name[1], {"0.5 + a + (X - 0.5)*(1 + b)", "Y*(1 + b)", "Z*(1 + b)"}},
  };
  check_ok(cb_shape_surface_expressions(k.surface, 2, ab, 2, motions, &shape));
  const cb_immersed_bundle_options options = {.material = k.material, .density = 998};
  check_ok(cb_bundle_immersed_take(shape, &options, &b));
  for (int trial = 0; trial < 5; trial++) {
    const double r[2] = {check_uniform(&seed, 0, 0.5), check_uniform(&seed, -0.2, 0.2)};
    double B[6], inertia[2], G[64];
    check_ok(cb_bundle_connection(b, r, A, NULL, NULL, NULL));
    check_ok(cb_bundle_curvatures(b, r, B));
    for (int i = 0; i < 6; i++) {
      if (i != 3) check_near(A[2 * i], 0, 1e-14), check_near(A[2 * i + 1], 0, 1e-14), check_near(B[i], 0, 1e-12);
    }
    /* A_a = m2/(m1 + m2), m with the added masses of the two: delta A ~ radius^3 */
    check_ok(b->class->form(b, r, G));
    double volume = 0, own[2];
    cb_mass mass;
    check_ok(cb_mass_of(k.surface, NULL, k.material, &mass));
    volume = mass.volume / 2;
    const double added = (G[3 * 8 + 3] - mass.mass) / (pow(1 - r[1], 3) + pow(1 + r[1], 3));
    for (int i = 0; i < 2; i++) own[i] = 900 * volume + added * pow(1 + (i ? r[1] : -r[1]), 3), inertia[i] = own[i];
    check_near(A[6], inertia[1] / (inertia[0] + inertia[1]), 1e-12);
    check_near(A[7], 0, 1e-13);
    /* d_b of that */
    const double d[2] = {-3 * added * pow(1 - r[1], 2), 3 * added * pow(1 + r[1], 2)}, all = inertia[0] + inertia[1];
    check_near(B[3], -(d[1] - inertia[1] * (d[0] + d[1]) / all) / all, 1e-10);
  }
  cb_bundle_free(b), tank_empty(&k);
}

/* --- derivatives, curvature --- */

static void derivatives_are_those_of_the_connection(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  static const cb_poses_motion motion = MODES("a", "b");
  static const double weight[3] = {3. / 4, -3. / 20, 1. / 60};
  tank k = ellipsoid(700);
  cb_bundle *b = bundle_of(&k, 998, 2, ab, &motion);
  double worst[2] = {0};
  for (int trial = 0; trial < 5; trial++) {
    double r[2] = {check_uniform(&seed, -0.4, 0.4), check_uniform(&seed, -0.4, 0.4)}, A[12], dA[24], M[4], dM[8];
    check_ok(cb_bundle_connection(b, r, A, dA, M, dM));
    for (int i = 0; i < 2; i++) {
      double sum[12] = {0}, metric[4] = {0};
      const double h = 0.01, at = r[i];
      for (int step = -3; step <= 3; step++) {
        if (!step) continue;
        double beside[12], m[4];
        r[i] = at + step * h;
        check_ok(cb_bundle_connection(b, r, beside, NULL, m, NULL));
        const double w = (step < 0 ? -1 : 1) * weight[abs(step) - 1] / h;
        for (int e = 0; e < 12; e++) sum[e] += w * beside[e];
        for (int e = 0; e < 4; e++) metric[e] += w * m[e];
      }
      r[i] = at;
      for (int e = 0; e < 12; e++) worst[0] = fmax(worst[0], fabs(dA[i * 12 + e] - sum[e]));
      for (int e = 0; e < 4; e++) worst[1] = fmax(worst[1], fabs(dM[i * 4 + e] - metric[e]) / M[0]);
    }
  }
  print_message("  dA to %.1e, dM to %.1e of M\n", worst[0], worst[1]);
  check_at_most(worst[0], 1e-9);
  check_at_most(worst[1], 1e-9);
  cb_bundle_free(b), tank_empty(&k);
}

/* Where a motion begins with its second derivative, dx = 0: Q' is still found. */
static void a_motion_may_begin_slowly(void **unused) {
  (void)unused;
  tank k = ellipsoid(700);
  static const cb_poses_motion slow = {NULL, {"X", "Y + a^2*X^2", "Z + b*X^2"}},
                               fast = {NULL, {"X", "Y + a*X^2", "Z + b*X^2"}};
  cb_bundle *b = bundle_of(&k, 998, 2, ab, &slow), *other = bundle_of(&k, 998, 2, ab, &fast);
  double dA[24], A[12], M[4], dM[8];
  for (int i = 0; i < 2; i++) {
    const double a = i ? 1e-9 : 0; /* A_a(slow) = 2 a A_a(fast)(a^2), M_aa(slow) = 4 a^2 M_aa(fast) */
    check_ok(cb_bundle_connection(b, (double[2]){a, 0.1}, NULL, dA, NULL, dM));
    check_ok(cb_bundle_connection(other, (double[2]){a * a, 0.1}, A, NULL, M, NULL));
    for (int e = 0; e < 6; e++) check_near(dA[2 * e], 2 * A[2 * e], 1e-10);
    check_near(dM[0], 8 * a * M[0], 1e-12);
  }
  cb_bundle_free(b), cb_bundle_free(other), tank_empty(&k);
}

/* log g = -B pi e^2 + O(e^3). */
static void small_loops_turn_by_the_curvature(void **unused) {
  (void)unused;
  static const cb_poses_motion motion = MODES("a", "b");
  tank k = ellipsoid(700);
  cb_bundle *b = bundle_of(&k, 998, 2, ab, &motion);
  const double mean[2] = {0.15, -0.1};
  double B[6], error[4];
  check_ok(cb_bundle_curvatures(b, mean, B));
  for (int i = 0; i < 4; i++) {
    const double size = 0.04 / (1 << i), area = PI * size * size;
    cb_gait *gait;
    check_ok(cb_gait_fourier(2, 1, mean, (double[]){size, 0}, (double[]){0, size}, &gait));
    double g[7], a[6], off = 0;
    check_ok(cb_holonomy(b, gait, 1e-14, g, NULL, NULL));
    check_ok(b->group->log(b->group, g, a));
    for (int e = 0; e < 6; e++) off = fmax(off, fabs(a[e] + area * B[e]));
    error[i] = off / area;
    cb_gait_free(gait);
  }
  print_message("  log g/area + B: %.1e .. %.1e, order %.2f\n", error[0], error[3], fitted_order(error, 4));
  check_near(fitted_order(error, 4), 1, 0.1);
  check_at_most(error[3], 0.05 * fmax(fabs(B[1]), fabs(B[5])));
  cb_bundle_free(b), tank_empty(&k);
}

/* --- poses, tables, pictures --- */

static void a_pose_sequence_swims_as_its_run(void **unused) {
  (void)unused;
  enum { POSES = 16 };
  tank k = ellipsoid(700);
  const int vertices = k.surface->vertices;
  double(*x)[3] = malloc(sizeof *x * (size_t)(POSES * vertices));
  for (int p = 0; p < POSES; p++)
    for (int v = 0; v < vertices; v++) {
      const double *X = k.surface->x[v], s = sin(2 * PI * p / POSES), c = cos(2 * PI * p / POSES);
      double *at = x[p * vertices + v];
      at[0] = X[0], at[1] = X[1] + 0.4 * s * X[0] * X[0], at[2] = X[2] + 0.3 * c * X[0] * X[0] + 0.2 * s * X[0];
    }
  const cb_poses_times times = {.step = 0.125, .end = CB_POSES_PERIODIC}; /* period 2 */
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
  for (int p = 0; p < POSES; p++) breaks[p] = (double)p / POSES; /* steps end at poses */
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
  cb_gait_free(gait), cb_bundle_free(b), cb_shape_surface_free(shape), tank_empty(&k);
}

static void a_table_swims_alike(void **unused) {
  (void)unused;
  static const cb_poses_motion motion = MODES("a", "b");
  tank k = ellipsoid(700);
  cb_bundle *b = bundle_of(&k, 998, 2, ab, &motion), *fast;
  cb_bundle_table *table;
  cb_gait *gait = circle();
  check_ok(cb_bundle_sample(b, (double[]){-0.45, -0.25}, (double[]){0.45, 0.45}, (int[]){25, 25}, &table));
  check_ok(cb_bundle_samples(table, 5, &fast));
  cb_bundle_table_free(table);
  double g[7], h[7], back[7], a[6], told[6];
  check_ok(cb_holonomy(b, gait, 1e-12, g, NULL, NULL));
  check_ok(cb_holonomy(fast, gait, 1e-12, h, NULL, NULL));
  check_ok(cb_bundle_samples_holonomy_error(fast, gait, told));
  b->group->inverse(b->group, h, back);
  b->group->multiply(b->group, g, back, back);
  check_ok(b->group->log(b->group, back, a));
  for (int i = 0; i < 6; i++) check_at_most(fabs(a[i]), told[i]);
  for (int i = 0; i < 6; i++) check_at_most(told[i], 1e-4);
  cb_gait_free(gait), cb_bundle_free(b), cb_bundle_free(fast), tank_empty(&k);
}

static void it_is_drawn_by_its_edges(void **unused) {
  (void)unused;
  static const cb_poses_motion motion = MODES("a", "b");
  tank k = ellipsoid(700);
  cb_bundle *b = bundle_of(&k, 998, 2, ab, &motion);
  assert_int_equal(b->points, k.surface->vertices);
  assert_int_equal(b->lines, k.surface->faces * 3 / 2);
  double(*x)[3] = malloc(sizeof *x * (size_t)b->points), g[7], *X = k.surface->x[4], p[3], found[3];
  const double r[2] = {0.2, -0.3};
  memcpy(g, generic_pose.q, sizeof generic_pose.q), memcpy(g + 4, generic_pose.x, sizeof generic_pose.x);
  check_ok(b->class->picture(b, r, g, x));
  p[0] = X[0] + 0.1 * r[1] * X[2], p[1] = X[1] + r[0] * X[0] * X[0] + 0.3 * r[1] * X[0] * X[2];
  p[2] = X[2] + 0.2 * r[0] * X[0] * X[1] + r[1] * (X[0] * X[0] - 0.05);
  cb_pose_point(&generic_pose, p, found);
  for (int i = 0; i < 3; i++) check_near(x[4][i], found[i], 1e-15);
  for (int i = 0; i < b->lines; i++)
    assert_true(b->line[i][0] >= 0 && b->line[i][1] > b->line[i][0] && b->line[i][1] < b->points);
  free(x);
  cb_bundle_free(b), tank_empty(&k);
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
  (void)unused;
  enum { THREADS = 40 }; /* more than have work arrays of their own */
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
  cb_bundle_free(b), tank_empty(&k);
}

/* --- refused --- */

static void refused_by_what_is_missing(void **unused) {
  (void)unused;
  static const char *const names[1] = {"a"};
  static const cb_poses_motion motion = {NULL, {"X", "Y + a*X^2", "Z/(1 - a)"}};
  tank k = ellipsoid(0);
  cb_shape_surface *shape;
  cb_bundle *b = NULL;
  check_ok(cb_shape_surface_expressions(k.surface, 1, names, 1, &motion, &shape));
  cb_immersed_bundle_options options = {.material = k.material};
  check_error(cb_bundle_immersed(shape, &options, &b), CB_ERROR_DOMAIN,
              "the body has no inertia: no mass, and no fluid that moves with it");
  options.density = -1;
  check_error(cb_bundle_immersed(shape, &options, &b), CB_ERROR_ARGUMENT, "a fluid of -1 kg/m^3, expected 0 or more");
  options.density = NAN;
  check_error(cb_bundle_immersed(shape, &options, &b), CB_ERROR_ARGUMENT, "a fluid of nan kg/m^3, expected 0 or more");
  options.density = 0;
  /* masses on one line: K cannot be inverted */
  const cb_point_mass line[2] = {{1, {0, 0, 1}, -1}, {2, {0, 0, -1}, -1}};
  options.n_points = 2, options.points = line;
  check_ok(cb_bundle_immersed(shape, &options, &b));
  double A[6], M[1];
  check_error(cb_bundle_connection(b, (double[]){0.25}, A, NULL, NULL, NULL), CB_STEP_SINGULAR,
              "bundle immersed at a = 0.25: the locked inertia has no inverse: 0 of 0 is left along omega_z");
  cb_bundle_free(b);
  k.material[0].density = 500;
  check_ok(cb_bundle_immersed(shape, &options, &b));
  check_error_begins(cb_bundle_connection(b, (double[]){1}, A, NULL, M, NULL), CB_STEP_NOT_FINITE,
                     "bundle immersed at a = 1: ");
  check_error_begins(cb_bundle_connection(b, (double[]){2}, A, NULL, M, NULL), CB_STEP_SINGULAR,
                     "bundle immersed at a = 2: part `");
  check_ok(cb_bundle_connection(b, (double[]){0.5}, A, NULL, M, NULL));
  cb_bundle_free(b);
  cb_shape_surface_free(shape), tank_empty(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_body_at_zero_momentum_moves_as_its_bundle_says),
      cmocka_unit_test(the_form_is_the_kinetic_energy),
      cmocka_unit_test(two_boxes_are_the_falling_cat),
      cmocka_unit_test(symmetric_motions_do_not_turn_or_drift),
      cmocka_unit_test(derivatives_are_those_of_the_connection),
      cmocka_unit_test(a_motion_may_begin_slowly),
      cmocka_unit_test(small_loops_turn_by_the_curvature),
      cmocka_unit_test(a_pose_sequence_swims_as_its_run),
      cmocka_unit_test(a_table_swims_alike),
      cmocka_unit_test(it_is_drawn_by_its_edges),
      cmocka_unit_test(threads_may_share_a_bundle),
      cmocka_unit_test(refused_by_what_is_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
