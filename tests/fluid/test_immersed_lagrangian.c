/* Tests of the momentum and the wrench of the fluid on a body. Momentum and wrench are the derivatives of the
 * Lagrangian L of the fluid by the twist Y and by the pose g. They are compared with differences of L. This file
 * computes L face by face with the midpoint rule. */
#include "immersed.h"

/* The kinds of flow; velocity() has their formulas. */
typedef enum current { STILL, UNIFORM, GUST, SHEAR, VORTEX, WAVES, CURRENTS, SPIN } current;
static const double steady[3] = {0.3, -0.2, 0.5};
static const double gradient[3][3] = {{0.2, 1.1, -0.4}, {0.3, -0.5, 0.8}, {-0.6, 0.1, 0.3}};
static void velocity(current kind, double t, const double x[3], double u[3]) {
  const double centre[3] = {0.4, -0.6, 0.2}, rr = pow(x[0] - centre[0], 2) + pow(x[1] - centre[1], 2);
  const double round = 2.5 / (2 * PI * rr) * (1 - exp(-rr / (0.3 * 0.3)));
  switch (kind) {
    case STILL: u[0] = u[1] = u[2] = 0; break;
    case UNIFORM: memcpy(u, steady, sizeof steady); break;
    case GUST:
      u[0] = sin(t);
      u[1] = 0.3 * t;
      u[2] = -0.2;
      break;
    case SHEAR:
      for (int i = 0; i < 3; i++) u[i] = steady[i] + cb_dot3(gradient[i], x);
      break;
    case VORTEX:
      u[0] = -round * (x[1] - centre[1]);
      u[1] = round * (x[0] - centre[0]);
      u[2] = 0;
      break;
    default:
      u[0] = sin(x[1] + 2 * t);
      u[1] = 0.5 * cos(x[0] - t) * x[2];
      u[2] = exp(-x[0] * x[0]);
  }
}
static void pour(tank *k, current kind) {
  cb_flow *flow = NULL;
  static const char *const gust[3] = {"sin(t)", "0.3*t", "-0.2"}, *const waves[3] = {"sin(y + 2*t)", "0.5*cos(x - t)*z",
                                                                                     "exp(-x*x)"};
  if (kind == UNIFORM) check_ok(cb_flow_uniform(steady, &flow));
  if (kind == SHEAR) check_ok(cb_flow_shear(steady, gradient, &flow));
  if (kind == SPIN)
    check_ok(cb_flow_shear(steady, (const double[3][3]){{0, -0.8, 0.5}, {0.8, 0, -0.3}, {-0.5, 0.3, 0}}, &flow));
  if (kind == VORTEX) check_ok(cb_flow_vortex((double[3]){0.4, -0.6, 0.2}, (double[3]){0, 0, 1}, 2.5, 0.3, &flow));
  if (kind == GUST) check_ok(cb_flow_expressions(gust, 0, NULL, NULL, NULL, NULL, &flow));
  if (kind == WAVES) check_ok(cb_flow_expressions(waves, 0, NULL, NULL, NULL, NULL, &flow));
  k->fluid.flow = flow;
}

/* The kinds of density: constant, linear in position, or in layers. The density of a face is its mean over the face:
 * for a linear density the mean of the corners, for layers the result of curvebody/medium.h. */
typedef enum depth { EVEN, LINEAR, LAYERS, DEPTHS } depth;
static void fill_with(tank *k, depth kind) {
  cb_medium *medium;
  const double up[3] = {0, 0, 1}, level[2] = {-0.3, 0.4}, density[3] = {998, 400, 1.2};
  if (kind == EVEN) check_ok(cb_medium_uniform(998, &medium));
  if (kind == LINEAR) check_ok(cb_medium_expression("998 - 130*z + 70*x", 0, NULL, NULL, up, NULL, &medium));
  if (kind == LAYERS) check_ok(cb_medium_layers(2, level, density, up, &medium));
  k->fluid.medium = medium;
}
static double density_of(const tank *k, depth kind, const double x[3][3]) {
  double rho, mean = 0;
  if (kind == EVEN) return 998;
  for (int c = 0; c < 3; c++) mean += (998 - 130 * x[c][2] + 70 * x[c][0]) / 3;
  if (kind == LINEAR) return mean;
  check_ok(cb_medium_faces(k->fluid.medium, 1, (const double(*)[3][3])x, &rho, NULL));
  return rho;
}

/* Returns the mean over a closed part of the normal velocity <x', n> of its surface, and 0 for an open part. */
static double mean_of(const tank *k, const double (*x)[3], const double (*v)[3], int part) {
  const cb_surface *s = k->surface;
  double through = 0, area = 0;
  if (s->open[part]) return 0;
  for (int f = 0; f < s->faces; f++) {
    const int *c = s->face[f];
    double a[3];
    if (s->part[f] != part) continue;
    cb_normal3(x[c[0]], x[c[1]], x[c[2]], a);
    area += sqrt(cb_dot3(a, a)) / 2;
    for (int j = 0; j < 3; j++) through += cb_dot3(v[c[j]], a) / 6;
  }
  return through / area;
}

static double lagrangian(const tank *k, current kind, depth water, double t, const cb_pose *g, const double Y[6]) {
  const cb_surface *s = k->surface;
  double(*x)[3] = calloc((size_t)s->vertices, sizeof *x), (*v)[3] = calloc((size_t)s->vertices, sizeof *v), r[3][3];
  cb_mass mass;
  cb_local_part part[8];
  double L = 0;
  check_ok(cb_immersed_shape(k->body, t, x, v));
  check_ok(cb_immersed_mass(k->body, t, &mass, part));
  cb_pose_rotation(g, r);
  for (int f = 0; f < s->faces; f++) {
    const int *c = s->face[f];
    double world[3][3], w[3][3], a[3], sum = 0;
    const double mean = mean_of(k, (const double(*)[3])x, (const double(*)[3])v, s->part[f]);
    cb_normal3(x[c[0]], x[c[1]], x[c[2]], a);
    const double area = sqrt(cb_dot3(a, a)) / 2;
    for (int j = 0; j < 3; j++) {
      double u[3], own[3];
      cb_pose_point(g, x[c[j]], world[j]);
      velocity(kind, t, world[j], u);
      cb_cross3(Y, x[c[j]], own);
      for (int i = 0; i < 3; i++) own[i] += Y[3 + i] + v[c[j]][i];
      cb_apply3(r, own, w[j]);
      for (int i = 0; i < 3; i++) w[j][i] -= u[i];
    }
    double n[3];
    cb_apply3(r, a, n);
    for (int j = 0; j < 3; j++) {
      const int l = (j + 1) % 3;
      const double normal = (cb_dot3(w[j], n) + cb_dot3(w[l], n)) / (4 * area) - mean;
      sum += normal * normal / 3;
    }
    L += density_of(k, water, world) * part[s->part[f]].delta * (s->open[s->part[f]] ? 2 : 1) * area * sum / 2;
  }
  free(x);
  free(v);
  return L;
}

/* Makes a body of an ellipsoid and a sheet with random vertices, whose shapes change. If `open` is set, a face of the
 * ellipsoid is missing, and the body has no mass. */
static tank pair(uint64_t *seed, bool open) {
  mesh m = mesh_ellipsoid(2, 0.5, 0.4, 0.3), sheet = mesh_plate(3, 0.8, 0.5, false);
  mesh_shake(&m, seed, 0.05);
  mesh_shake(&sheet, seed, 0.04);
  mesh both = mesh_room(m.vertices + sheet.vertices, m.faces + sheet.faces);
  for (int i = 0; i < m.vertices; i++) mesh_vertex(&both, m.x[i][0], m.x[i][1], m.x[i][2]);
  for (int i = 0; i < sheet.vertices; i++) mesh_vertex(&both, sheet.x[i][0] + 1, sheet.x[i][1], sheet.x[i][2] + 0.2);
  for (int i = open; i < m.faces; i++) mesh_face(&both, m.face[i][0], m.face[i][1], m.face[i][2]);
  for (int i = 0; i < sheet.faces; i++) {
    both.part[both.faces] = 1;
    mesh_face(&both, m.vertices + sheet.face[i][0], m.vertices + sheet.face[i][1], m.vertices + sheet.face[i][2]);
  }
  free(m.x);
  free(m.face);
  free(m.part);
  free(sheet.x);
  free(sheet.face);
  free(sheet.part);
  tank k = tank_of(both, open ? 0 : 700, 0);
  k.material[1].thickness = open ? 0 : 0.02;
  tank_moves(&k, "X*(1 + 0.1*sin(t))", "Y + 0.1*sin(3*X - 2*t)", "Z*(1 + 0.2*cos(t)) + 0.05*cos(X + t)*Y");
  return k;
}

static void random_motion(uint64_t *seed, cb_pose *g, double Y[6]) {
  double xi[6];
  for (int i = 0; i < 6; i++) {
    xi[i] = check_uniform(seed, -0.7, 0.7);
    Y[i] = check_uniform(seed, -1, 1);
  }
  cb_se3_tau(CB_SE3_EXPONENTIAL, xi, g);
}

static void compare(current kind, depth water, uint64_t *seed) {
  const double h = 2e-4;
  tank k = pair(seed, false);
  fill_with(&k, water);
  pour(&k, kind);
  tank_fill(&k);
  const double t = check_uniform(seed, 0, 3);
  cb_pose g;
  double Y[6], mu[6], mu_b[6], F[6] = {0}, K[6][6], worst[2] = {0}, scale[2] = {0};
  random_motion(seed, &g, Y);
  momentum_of(&k, t, &g, Y, mu);
  tank dry = k; /* the same body without a fluid, for the momentum of the body */
  dry.fluid.medium = NULL;
  tank_fill(&dry);
  momentum_of(&dry, t, &g, Y, mu_b);
  check_ok(k.problem->inertia(k.problem->self, t, &g, K, (double[6]){0}));
  if (k.problem->inertia_wrench) check_ok(k.problem->inertia_wrench(k.problem->self, t, &g, Y, F, NULL));
  for (int j = 0; j < 6; j++) {
    double by_Y[2], by_g[2];
    for (int side = 0; side < 2; side++) { /* differences with the steps h and 2 h combine to an error O(h^4) */
      const double step = h * (side + 1);
      double up[6], down[6];
      memcpy(up, Y, sizeof up);
      memcpy(down, Y, sizeof down);
      up[j] += step;
      down[j] -= step;
      by_Y[side] = (lagrangian(&k, kind, water, t, &g, up) - lagrangian(&k, kind, water, t, &g, down)) / (2 * step);
      const cb_pose ahead = pose_moved(&g, j, step), behind = pose_moved(&g, j, -step);
      by_g[side] =
          (lagrangian(&k, kind, water, t, &ahead, Y) - lagrangian(&k, kind, water, t, &behind, Y)) / (2 * step);
    }
    const double expected[2] = {(4 * by_Y[0] - by_Y[1]) / 3, (4 * by_g[0] - by_g[1]) / 3};
    const double found[2] = {mu[j] - mu_b[j], F[j]};
    for (int i = 0; i < 2; i++) {
      scale[i] = fmax(scale[i], fabs(expected[i]));
      worst[i] = fmax(worst[i], fabs(found[i] - expected[i]));
    }
  }
  check_at_most(worst[0], 1e-8 * scale[0]);
  /* where the set of faces cut by an interface changes, L has kinks in its second derivative */
  check_at_most(worst[1], (water == LAYERS ? 1e-6 : 1e-7) * fmax(scale[1], 1e-4 * scale[0]));
  cb_immersed_workspace_free(dry.workspace);
  cb_immersed_free(dry.body);
  tank_empty(&k);
}

static void momentum_and_wrench_are_those_of_the_lagrangian(void **unused) {
  uint64_t seed = check_seed();
  for (int kind = 0; kind < CURRENTS; kind++)
    for (int water = 0; water < DEPTHS; water++)
      for (int i = 0; i < 3; i++) compare((current)kind, (depth)water, &seed);
}

/* The derivative of the wrench along the pose is exact for a constant density in uniform flows and in a flow that
 * rotates rigidly. Otherwise the library omits some of its terms: part of the strain, second derivatives of flow and
 * density, and the pressure. This only makes Newton's method slower. */
static void derivatives_are_those_of_differences(void **unused) {
  uint64_t seed = check_seed();
  for (int kind = 0; kind <= SPIN; kind++)
    for (int water = 0; kind != CURRENTS && water < LAYERS; water++) {
      tank k = pair(&seed, kind == SPIN); /* an open part has no pressure force */
      fill_with(&k, (depth)water);
      pour(&k, (current)kind);
      k.options.c_n = 20;
      k.options.c_t = 300;
      tank_fill(&k);
      cb_pose g;
      double Y[6];
      random_motion(&seed, &g, Y);
      check_derivatives(&k, 0.4, &g, Y, 1e-8, (kind <= GUST || kind == SPIN) && water == EVEN ? 1e-8 : INFINITY);
      tank_empty(&k);
    }
}

/* The pressure wrench is rho int (x × a, a) dV, where a is the acceleration of the fluid. In the flow u = u0 + G x it
 * is a = G u = a0 + B x, so the integral follows from the moments of a body of density 1. */
static void pressure_is_the_integral_of_a_linear_field(void **unused) {
  uint64_t seed = check_seed();
  for (int open = 0; open < 2; open++) {
    tank k = pair(&seed, open);
    fill_with(&k, EVEN);
    pour(&k, SHEAR);
    for (int p = 0; p < 2; p++) k.material[p] = (cb_material){1, open || p ? 0.03 : 0};
    tank_fill(&k);
    cb_pose g;
    cb_rigid_state s;
    double Y[6], wrench[8][6], B[3][3] = {{0}}, a0[3], second[3][3], world[6];
    random_motion(&seed, &g, Y);
    check_ok(cb_rigid_start(k.problem, 0.7, &g, Y, &s));
    row_of(&k, &s, wrench);
    cb_mass mass;
    double(*x)[3] = calloc((size_t)k.surface->vertices, sizeof *x);
    check_ok(cb_immersed_shape(k.body, 0.7, x, NULL));
    for (int i = 0; i < k.surface->vertices; i++) { /* to coordinates of the world */
      double at[3];
      cb_pose_point(&g, x[i], at);
      memcpy(x[i], at, sizeof at);
    }
    check_ok(cb_mass_of(k.surface, (const double(*)[3])x, k.material, &mass));
    free(x);
    for (int i = 0; i < 3; i++) {
      a0[i] = cb_dot3(gradient[i], steady);
      for (int j = 0; j < 9; j++) B[i][j % 3] += gradient[i][j / 3] * gradient[j / 3][j % 3];
    }
    const double trace = (mass.inertia[0][0] + mass.inertia[1][1] + mass.inertia[2][2]) / 2;
    for (int i = 0; i < 9; i++) second[i / 3][i % 3] = (i / 3 == i % 3 ? trace : 0) - mass.inertia[i / 3][i % 3];
    /* The moment needs int x_i a_j dV = m c_i a0_j + second_ik B_jk. m is the mass, c the centre, and second_ik = int
     * x_i x_k dV. */
    for (int i = 0; i < 3; i++) {
      const int j = (i + 1) % 3, l = (i + 2) % 3;
      const double *c = mass.centre, m = mass.mass;
      world[3 + i] = 998 * m * (a0[i] + cb_dot3(B[i], c));
      world[i] = 998 * (m * (c[j] * a0[l] - c[l] * a0[j]) + cb_dot3(second[j], B[l]) - cb_dot3(second[l], B[j]));
    }
    double expected[6];
    cb_se3_wrench_to_body(&g, world, expected);
    const double *found = wrench[wrench_named(&k, "pressure")];
    for (int i = 0; i < 6; i++) check_near(found[i], expected[i], 1e-10 * 998);
    tank_empty(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(momentum_and_wrench_are_those_of_the_lagrangian),
      cmocka_unit_test(derivatives_are_those_of_differences),
      cmocka_unit_test(pressure_is_the_integral_of_a_linear_field),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
