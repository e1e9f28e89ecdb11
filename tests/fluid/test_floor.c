/* Tests of the stiff floor: its wrench with exact derivatives, its energy, and friction. Other kinds of floor have no
 * wrench. */
#include "fluid_mesh.h"
#include "fluid/floor.h"
#include "rigid.h"

static const double up[3] = {0.28, -0.96 * 0.6, 0.96 * 0.8};

typedef struct ground {
  cb_floor floor;
  body b;
  mesh m;
  double (*v)[3];
} ground;

static ground make(const cb_floor *floor, uint64_t *seed) {
  ground g = {.floor = *floor, .m = mesh_ellipsoid(3, 0.5, 0.4, 0.3)};
  g.v = calloc((size_t)g.m.vertices, sizeof *g.v);
  mesh_shake(&g.m, seed, 0.05);
  for (int i = 0; i < g.m.vertices; i++)
    for (int k = 0; k < 3; k++) g.v[i][k] = check_uniform(seed, -0.3, 0.3);
  return g;
}

static void done(ground *g) {
  free(g->m.x);
  free(g->m.face);
  free(g->m.part);
  free(g->v);
}

static void wrench(const ground *g, const cb_pose *pose, const double Y[6], double F[6], double dF[6][6],
                   double dpose[6][6], double *energy) {
  memset(F, 0, 6 * sizeof *F);
  cb_floor_wrench(&g->floor,
                  &(cb_floor_body){g->m.vertices, (const double(*)[3])g->m.x, (const double(*)[3])g->v, pose, Y}, F, dF,
                  dpose, energy);
}

static const cb_floor generic = {.kind = CB_FLOOR_STIFF,
                                 .up = {0.28, -0.96 * 0.6, 0.96 * 0.8},
                                 .height = 0.2,
                                 .stiffness = 300,
                                 .damping = 20,
                                 .friction = 0.4,
                                 .creep = 0.1};

static cb_pose some_pose(uint64_t *seed, double height) {
  cb_pose g;
  double size = 0;
  for (int i = 0; i < 4; i++) {
    g.q[i] = check_uniform(seed, -1, 1);
    size += g.q[i] * g.q[i];
  }
  for (int i = 0; i < 4; i++) g.q[i] /= sqrt(size);
  for (int i = 0; i < 3; i++) g.x[i] = height * up[i];
  g.x[0] += 0.96;
  g.x[1] += 0.28 * 0.6;
  g.x[2] -= 0.28 * 0.8; /* the shift is perpendicular to `up` */
  return g;
}

/* The wrench equals the sum over the vertices, in the axes of the world, of the formula in fluid/floor.h. */
static void wrench_is_the_sum_over_vertices(void **unused) {
  uint64_t seed = check_seed();
  ground g = make(&generic, &seed);
  int below = 0, pulled = 0;
  for (int trial = 0; trial < 20; trial++) {
    const cb_pose pose = some_pose(&seed, check_uniform(&seed, 0.2, 0.7));
    double Y[6], F[6], sum[6] = {0}, energy = 0, stored = 0, r[3][3], body_axes[6];
    for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -2, 2);
    wrench(&g, &pose, Y, F, NULL, NULL, &energy);
    cb_pose_rotation(&pose, r);
    for (int i = 0; i < g.m.vertices; i++) {
      double at[3], w[3], u[3], force[3], arm[3], torque[3];
      cb_pose_point(&pose, g.m.x[i], at);
      const double d = 0.2 - cb_dot3(at, up);
      if (d < 0) continue;
      below++;
      cb_cross3(Y, g.m.x[i], w);
      for (int k = 0; k < 3; k++) w[k] += Y[3 + k] + g.v[i][k];
      cb_apply3(r, w, u);
      const double rise = cb_dot3(u, up), N = (300 * d - 20 * rise) / g.m.vertices;
      stored += 300 * d * d / 2 / g.m.vertices;
      pulled += N < 0;
      if (N < 0) continue;
      for (int k = 0; k < 3; k++) {
        u[k] -= rise * up[k];
        arm[k] = at[k] - pose.x[k];
      }
      const double slide = sqrt(cb_dot3(u, u) + 0.01);
      for (int k = 0; k < 3; k++) force[k] = N * up[k] - 0.4 * N * u[k] / slide;
      cb_cross3(arm, force, torque);
      for (int k = 0; k < 3; k++) {
        sum[k] += torque[k];
        sum[3 + k] += force[k];
      }
    }
    cb_apply3_transposed(r, sum, body_axes);
    cb_apply3_transposed(r, sum + 3, body_axes + 3);
    for (int i = 0; i < 6; i++) check_near(F[i], body_axes[i], 1e-12);
    check_near(energy, stored, 1e-12);
  }
  assert_true(below > 50 && pulled > 5);
  done(&g);
}

static void derivatives_are_those_of_differences(void **unused) {
  uint64_t seed = check_seed();
  ground g = make(&generic, &seed);
  const double e = 1e-6;
  for (int trial = 0; trial < 20; trial++) {
    const cb_pose pose = some_pose(&seed, check_uniform(&seed, 0.2, 0.6));
    double Y[6], F[6], dF[6][6] = {{0}}, dpose[6][6] = {{0}}, only[6][6] = {{0}};
    for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -2, 2);
    wrench(&g, &pose, Y, F, dF, dpose, NULL);
    wrench(&g, &pose, Y, F, NULL, only, NULL);
    assert_memory_equal(only, dpose, sizeof only);
    for (int j = 0; j < 6; j++) {
      double sides[2][2][6];
      for (int side = 0; side < 2; side++) {
        double there[6], xi[6] = {0};
        cb_pose move, moved;
        memcpy(there, Y, sizeof there);
        there[j] += side ? e : -e;
        xi[j] = side ? e : -e;
        cb_se3_tau(CB_SE3_EXPONENTIAL, xi, &move);
        cb_pose_multiply(&pose, &move, &moved);
        wrench(&g, &pose, there, sides[0][side], NULL, NULL, NULL);
        wrench(&g, &moved, Y, sides[1][side], NULL, NULL, NULL);
      }
      /* the errors of the differences with the step e are of the size e^2, or e if the force of a vertex begins or ends
       * within the step */
      for (int i = 0; i < 6; i++) {
        check_near(dF[i][j], (sides[0][1][i] - sides[0][0][i]) / (2 * e), 1e-6);
        check_near(dpose[i][j], (sides[1][1][i] - sides[1][0][i]) / (2 * e), 1e-6);
      }
    }
  }
  done(&g);
}

static void no_floor_and_one_that_reflects_have_no_wrench(void **unused) {
  uint64_t seed = check_seed();
  ground g = make(&generic, &seed);
  const cb_pose pose = some_pose(&seed, 0);
  static const double Y[6], zero[36];
  double F[6], dF[6][6] = {{0}}, energy = 0;
  for (int kind = 0; kind < 3; kind++) {
    g.floor.kind = (cb_floor_kind[]){CB_FLOOR_NONE, CB_FLOOR_REFLECTING, CB_FLOOR_STIFF}[kind];
    wrench(&g, &pose, Y, F, dF, NULL, &energy);
    if (kind == 2) break;
    assert_memory_equal(F, zero, sizeof F);
    assert_memory_equal(dF, zero, sizeof dF);
    assert_true(energy == 0);
  }
  check_at_least(energy, 1);
  done(&g);
}

/* Without creep the friction of a vertex that does not slide is 0, and a vertex that slides has the full friction. */
static void friction_without_creep_is_finite(void **unused) {
  uint64_t seed = check_seed();
  ground g = make(&generic, &seed);
  const cb_pose pose = some_pose(&seed, 0.3);
  double Y[6] = {0}, F[6], dF[6][6] = {{0}}, r[3][3], push[3];
  g.floor.creep = 0;
  g.floor.damping = 0;
  memset(g.v, 0, sizeof(double[3]) * (size_t)g.m.vertices);
  cb_pose_rotation(&pose, r);
  wrench(&g, &pose, Y, F, dF, NULL, NULL);
  cb_apply3(r, F + 3, push);
  const double N = cb_dot3(push, up);
  for (int i = 0; i < 3; i++) check_near(push[i], N * up[i], 1e-13);
  for (int i = 0; i < 36; i++) assert_true(isfinite(dF[i / 6][i % 6]));
  const double across[3] = {0, 0.8, 0.6};
  cb_apply3_transposed(r, across, Y + 3);
  wrench(&g, &pose, Y, F, NULL, NULL, NULL);
  cb_apply3(r, F + 3, push);
  for (int i = 0; i < 3; i++) check_near(push[i], N * (up[i] - 0.4 * across[i]), 1e-13);
  done(&g);
}

/* --- in motion --- */

static cb_status ground_inertia(void *self, double t, const cb_pose *at, double K[6][6], double mu0[6]) {
  return body_inertia(&((ground *)self)->b, t, at, K, mu0);
}

static cb_status ground_wrench(void *self, double t, const cb_pose *at, const double Y[6], double F[6],
                               double dF[6][6]) {
  ground *g = self;
  const cb_status status = body_wrench(&g->b, t, at, Y, F, dF);
  cb_floor_wrench(&g->floor, &(cb_floor_body){g->m.vertices, (const double(*)[3])g->m.x, NULL, at, Y}, F, dF, NULL,
                  NULL);
  return status;
}

static cb_status ground_derivative(void *self, double t, const cb_pose *at, const double Y[6], double dmu[6][6],
                                   double dF[6][6]) {
  ground *g = self;
  const cb_status status = body_derivative(&g->b, t, at, Y, dmu, dF);
  cb_floor_wrench(&g->floor, &(cb_floor_body){g->m.vertices, (const double(*)[3])g->m.x, NULL, at, Y}, NULL, NULL, dF,
                  NULL);
  return status;
}

static cb_rigid_problem problem_on(ground *g) {
  return (cb_rigid_problem){
      .self = g, .inertia = ground_inertia, .wrench = ground_wrench, .pose_derivative = ground_derivative};
}

static double energy_on(ground *g, const cb_rigid_state *s) {
  double K[6][6], mu0[6], Y[6], F[6], sum = 0, r[3][3], arm[3];
  check_ok(ground_inertia(g, s->t, &s->g, K, mu0));
  check_ok(cb_rigid_twist(&(cb_rigid_problem){.self = g, .inertia = ground_inertia}, s, Y));
  for (int i = 0; i < 6; i++) sum += Y[i] * (s->momentum[i] - mu0[i]) / 2;
  cb_pose_rotation(&s->g, r);
  cb_apply3(r, g->b.moment, arm);
  for (int i = 0; i < 3; i++) sum -= g->b.g[i] * (g->b.weight * s->g.x[i] + arm[i]);
  wrench(g, &s->g, Y, F, NULL, NULL, &sum);
  return sum;
}

static ground tumbler(const cb_floor *floor, uint64_t *seed) {
  ground g = make(floor, seed);
  memset(g.v, 0, sizeof(double[3]) * (size_t)g.m.vertices);
  g.b = (body){.weight = 1.5, .moment = {.1, -.05, .08}, .g = {0, 0, -10}};
  generic_tensor(g.b.K0);
  return g;
}

/* Without damping and friction the energy of a body with a full inertia matrix is conserved over several bounces,
 * except for an error that decreases with order 1.5 or more in the step. With damping and friction the energy
 * decreases. */
static void energy_is_kept_to_second_order_without_damping(void **unused) {
  uint64_t seed = check_seed();
  const cb_floor floor = {.kind = CB_FLOOR_STIFF, .up = {0, 0, 1}, .stiffness = 3000};
  ground g = tumbler(&floor, &seed);
  const cb_rigid_problem p = problem_on(&g);
  double error[5];
  for (int i = 0; i < 5; i++) {
    cb_rigid_state s;
    check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
    s.g.x[2] = 1;
    const double first = energy_on(&g, &s);
    error[i] = 0;
    for (int n = 0; n < 500 << i; n++) {
      step_by(&p, CB_SE3_CAYLEY, 4. / (500 << i), &s);
      error[i] = fmax(error[i], fabs(energy_on(&g, &s) / first - 1));
    }
  }
  print_message("  energy to %.1e .. %.1e, order %.2f\n", error[0], error[4], fitted_order(error, 5));
  check_at_least(fitted_order(error, 5), 1.5); /* below 2, because vertices reach the floor within steps */
  g.floor.damping = 30;
  g.floor.friction = 0.3;
  g.floor.creep = 0.01;
  cb_rigid_state s;
  check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
  s.g.x[2] = 1;
  double energy = energy_on(&g, &s);
  for (int n = 0; n < 8000; n++) {
    /* The damping force jumps when a vertex reaches the floor, so Newton's method may alternate between two states. */
    if (cb_rigid_step_pontryagin(&p, CB_SE3_CAYLEY, 5e-4, &s, NULL))
      for (int half = 0; half < 2; half++) step_by(&p, CB_SE3_CAYLEY, 2.5e-4, &s);
    const double now = energy_on(&g, &s);
    check_at_most(now, energy + 1e-4);
    energy = fmin(energy, now);
  }
  done(&g);
}

/* A plate rests at the depth at which stiffness times depth is its weight. While it slides with the speed v, its
 * acceleration is -mu g v/sqrt(v^2 + c^2), where mu is the friction, g gravity and c the creep. Therefore
 * sqrt(v^2 + c^2) - c asinh(c/|v|) + mu g t is constant. */
static void a_plate_sinks_by_its_weight_and_slides_to_a_halt(void **unused) {
  const cb_floor floor = {.kind = CB_FLOOR_STIFF,
                          .up = {0, 0, 1},
                          .height = 0.5,
                          .stiffness = 1e4,
                          .damping = 200,
                          .friction = 0.3,
                          .creep = 0.05};
  ground g = {.floor = floor, .m = mesh_plate(4, 2, 2, false), .b = {.weight = 2, .g = {0, 0, -10}}};
  for (int i = 0; i < 3; i++) {
    g.b.K0[i][i] = 1;
    g.b.K0[3 + i][3 + i] = 2;
  }
  const cb_rigid_problem p = problem_on(&g);
  const cb_pose start = {{1, 0, 0, 0}, {0, 0, 0.5 - 20 / 1e4}};
  const double Y[6] = {0, 0, 0, 1.5, 0, 0}, c = floor.creep;
  cb_rigid_state s;
  check_ok(cb_rigid_start(&p, 0, &start, Y, &s));
  const double first = sqrt(1.5 * 1.5 + c * c) - c * asinh(c / 1.5);
  for (int n = 0; n < 4600; n++) {
    step_by(&p, CB_SE3_CAYLEY, 1.25e-4, &s);
    const double v = s.momentum[3] / 2;
    check_near(sqrt(v * v + c * c) - c * asinh(c / v) + 3 * s.t, first, 1e-5);
    /* Friction acts in the plane of the plate, so the plate does not rotate. */
    check_near(s.g.x[2], 0.5 - 20 / 1e4, 1e-9);
  }
  check_near(s.momentum[3] / 2, 0, 1e-3);
  for (int n = 0; n < 8000; n++) step_by(&p, CB_SE3_CAYLEY, 1.25e-4, &s); /* until the plate is at rest */
  check_near(s.momentum[3] / 2, 0, 1e-12);
  free(g.m.x);
  free(g.m.face);
  free(g.m.part);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrench_is_the_sum_over_vertices),
      cmocka_unit_test(derivatives_are_those_of_differences),
      cmocka_unit_test(no_floor_and_one_that_reflects_have_no_wrench),
      cmocka_unit_test(friction_without_creep_is_finite),
      cmocka_unit_test(energy_is_kept_to_second_order_without_damping),
      cmocka_unit_test(a_plate_sinks_by_its_weight_and_slides_to_a_halt),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
