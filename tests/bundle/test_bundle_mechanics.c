/* Tests of models of bundles against mechanics: forces and momenta of the bodies vanish, their power or energy equals
 * the metric, and wheels do not slip. With another base link, the holonomy is conjugated. Symbols: r the shape, r' its
 * rate, A the connection, M the cost metric, xi = -A r' the body velocity, g the holonomy. */
#include "models.h"

enum { ENTRIES = CB_GROUP_DIM * CB_SHAPE_MAX, SQUARES = CB_SHAPE_MAX * CB_SHAPE_MAX };

/* Computes position and heading p[3] of the point of link k at the distance s from its middle, for links of these
 * lengths and angles r between them. The base link has the position and heading motion[3]. */
static void chain_place(int base, const double *length, const double *r, const double *motion, int k, double s,
                        double *p) {
  double heading = motion[2], x = motion[0], y = motion[1];
  for (int j = base; j < k; j++) {
    x += length[j] / 2 * cos(heading);
    y += length[j] / 2 * sin(heading);
    heading += r[j];
    x += length[j + 1] / 2 * cos(heading);
    y += length[j + 1] / 2 * sin(heading);
  }
  for (int j = base; j > k; j--) {
    x -= length[j] / 2 * cos(heading);
    y -= length[j] / 2 * sin(heading);
    heading -= r[j - 1];
    x -= length[j - 1] / 2 * cos(heading);
    y -= length[j - 1] / 2 * sin(heading);
  }
  p[0] = x + s * cos(heading);
  p[1] = y + s * sin(heading);
  p[2] = heading;
}

/* If the chain moves by xi, the total force and torque on all links vanish, and their power is <M r', r'>. The drag of
 * a link per unit length is `density` along the link and ratio * density across the link. If `ratio` is 1, the same
 * formula gives a momentum. Each link is integrated by Gauss's rule with two points, which is exact for these quadratic
 * functions of the position on the link. */
static void check_chain(const char *name, const char *text, double ratio, double density, int base,
                        const double *length, uint64_t *seed) {
  cb_bundle *b = model(name, text);
  const int n = b->n, links = n + 1;
  double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], A[ENTRIES], M[SQUARES], motion[3], total[3] = {0}, power = 0, square = 0;
  for (int i = 0; i < n; i++) {
    r[i] = check_uniform(seed, -1.5, 1.5);
    rate[i] = check_uniform(seed, -1, 1);
  }
  check_ok(cb_bundle_connection(b, r, A, NULL, M, NULL));
  for (int c = 0; c < 3; c++) {
    motion[c] = 0;
    for (int i = 0; i < n; i++) motion[c] -= A[c * n + i] * rate[i];
  }
  for (int k = 0; k < links; k++)
    for (int q = 0; q < 2; q++) {
      const double s = (q ? .5 : -.5) * length[k] / sqrt(3), h = 2e-3, weight[3] = {3. / 4, -3. / 20, 1. / 60};
      double at[3], v[2] = {0};
      for (int e = 1; e <= 3; e++)
        for (int sign = -1; sign <= 1; sign += 2) {
          double x[CB_SHAPE_MAX], moved[3], p[3];
          for (int i = 0; i < n; i++) x[i] = r[i] + sign * e * h * rate[i];
          for (int c = 0; c < 3; c++) moved[c] = sign * e * h * motion[c];
          chain_place(base, length, x, moved, k, s, p);
          for (int c = 0; c < 2; c++) v[c] += sign * weight[e - 1] / h * p[c];
        }
      chain_place(base, length, r, (double[]){0, 0, 0}, k, s, at);
      const double cs = cos(at[2]), sn = sin(at[2]), along = cs * v[0] + sn * v[1], across = cs * v[1] - sn * v[0];
      const double f = density * length[k] / 2 * along, g = ratio * density * length[k] / 2 * across;
      const double force[2] = {cs * f - sn * g, sn * f + cs * g};
      total[0] += force[0];
      total[1] += force[1];
      total[2] += at[0] * force[1] - at[1] * force[0];
      power += force[0] * v[0] + force[1] * v[1];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) square += M[i * n + j] * rate[i] * rate[j];
  for (int c = 0; c < 3; c++) check_near(total[c], 0, 1e-11 * density);
  check_near(square, power, 1e-10 * density);
  cb_bundle_free(b);
}

static void chains_have_neither_force_nor_momentum_and_the_power_of_their_metric(void **state) {
  uint64_t seed = check_seed();
  double even[12];
  for (int k = 0; k < 12; k++) even[k] = .1;
  for (int trial = 0; trial < 4; trial++) {
    check_chain("purcell", "links 10", 2, 1, 4, even, &seed);
    check_chain("purcell", "links 12 base 1 length 1.2 ratio 1.7 drag .6", 1.7, .6, 0, even, &seed);
    check_chain("purcell", "links 4 base 3 length 1 shares [1,4,2,3]", 2, 1, 2, (double[]){.1, .4, .2, .3}, &seed);
    check_chain("floating_snake", "links 3", 1, 1, 1, (double[]){1, 1, 1}, &seed);
    check_chain("floating_snake", "links 5 base 5 length 1 mass 2 shares [1,2,4,2,1]", 1, 2, 4,
                (double[]){.1, .2, .4, .2, .1}, &seed);
  }
}

/* Let h be the position of a second body frame in the first one at the start. If g is the holonomy in the first frame,
 * the holonomy in the second frame is h^-1 g h. The lengths of gaits do not change. */
static void another_base_link_conjugates_the_holonomy(void **state) {
  const model_circle c = {.3, -.5, .9, -M_PI / 2};
  double g[2][3], length[2], h[3], back[3];
  for (int k = 0; k < 2; k++) {
    cb_bundle *b = model("purcell", k ? "base 2" : "base 1");
    model_loop(b, on_circle, &c, 300, g[k], &length[k]);
    cb_bundle_free(b);
  }
  const cb_group *G = cb_group_find("se2");
  chain_place(0, (double[]){1. / 3, 1. / 3, 1. / 3}, (double[]){c.x + c.radius, c.y}, (double[]){0, 0, 0}, 1, 0, h);
  G->inverse(G, h, back);
  G->multiply(G, back, g[0], g[0]);
  G->multiply(G, g[0], h, g[0]);
  for (int k = 0; k < 3; k++) check_near(g[0][k], g[1][k], 1e-12);
  check_near(length[0], length[1], 1e-12);
}

/* Computes the three points p of the swimmer in a curved plane, as points of the embedding. The apex is at the distance
 * X along a geodesic, and two tips are at the distance l from it, at the angles a and -a to the geodesic. The geodesic
 * is (C(X), S(X), 0), where C and S are cos and sin or cosh and sinh. The form of the embedding has the signs (+, +, +)
 * or (-, +, +). The Killing field along the geodesic rotates or boosts the first two coordinates. */
static void swimmer_points(bool hyperbolic, double X, double l, double a, double p[3][3]) {
  const double S = hyperbolic ? sinh(l) : sin(l), C = hyperbolic ? cosh(l) : cos(l);
  const double cx = hyperbolic ? cosh(X) : cos(X), sx = hyperbolic ? sinh(X) : sin(X);
  const double own[3][3] = {{1, 0, 0}, {C, S * cos(a), S * sin(a)}, {C, S * cos(a), -S * sin(a)}};
  for (int k = 0; k < 3; k++) {
    p[k][0] = cx * own[k][0] + (hyperbolic ? sx : -sx) * own[k][1];
    p[k][1] = sx * own[k][0] + cx * own[k][1];
    p[k][2] = own[k][2];
  }
}

static void curved_swimmer_has_no_killing_momentum_and_the_energy_of_its_metric(void **state) {
  uint64_t seed = check_seed();
  const double mass[3] = {1.4, .6, .6}, h = 2e-3, weight[3] = {3. / 4, -3. / 20, 1. / 60};
  for (int trial = 0; trial < 10; trial++) {
    const bool hyperbolic = trial % 2;
    const double form = hyperbolic ? -1 : 1;
    cb_bundle *b = model("constant_curvature_swimmer",
                         hyperbolic ? "space H2 apex_mass 1.4 tip_mass .6" : "space S2 apex_mass 1.4 tip_mass .6");
    const double r[2] = {check_uniform(&seed, .2, 1.3), check_uniform(&seed, .1, 1.4)};
    const double rate[2] = {check_uniform(&seed, -1, 1), check_uniform(&seed, -1, 1)};
    double A[2], M[4], at[3][3], v[3][3] = {{0}}, momentum = 0, energy = 0;
    check_ok(cb_bundle_connection(b, r, A, NULL, M, NULL));
    const double forward = -(A[0] * rate[0] + A[1] * rate[1]);
    for (int e = 1; e <= 3; e++)
      for (int sign = -1; sign <= 1; sign += 2) {
        double p[3][3];
        const double t = sign * e * h;
        swimmer_points(hyperbolic, .3 + forward * t, r[0] + rate[0] * t, r[1] + rate[1] * t, p);
        for (int k = 0; k < 9; k++) v[k / 3][k % 3] += sign * weight[e - 1] / h * p[k / 3][k % 3];
      }
    swimmer_points(hyperbolic, .3, r[0], r[1], at);
    for (int k = 0; k < 3; k++) {
      momentum += mass[k] * (at[k][0] * v[k][1] - at[k][1] * v[k][0]);
      energy += mass[k] * (form * v[k][0] * v[k][0] + v[k][1] * v[k][1] + v[k][2] * v[k][2]);
    }
    check_near(momentum, 0, 1e-11); /* velocities are difference quotients with this error */
    check_near(M[0] * rate[0] * rate[0] + 2 * M[1] * rate[0] * rate[1] + M[3] * rate[1] * rate[1], energy, 1e-10);
    cb_bundle_free(b);
  }
}

/* Total momenta and energy are computed from the velocities of raft and pendulum in the frame of the raft. The momenta
 * are 0, and twice the energy is <M r', r'>. */
static void raft_has_no_momentum_and_the_energy_of_its_metric(void **state) {
  uint64_t seed = check_seed();
  const double mr = 3, m = 2, l = 1.5, inertia = .6, h = 2e-3, weight[3] = {3. / 4, -3. / 20, 1. / 60};
  for (int trial = 0; trial < 10; trial++) {
    const bool yaw = trial % 2;
    cb_bundle *b = model("raft_pendulum", yaw ? "raft_mass 3 mass 2 length 1.5 raft_inertia .6"
                                              : "raft_mass 3 mass 2 length 1.5 yaw false");
    const double r[2] = {check_uniform(&seed, -.9, .9), check_uniform(&seed, -.9, .9)};
    const double rate[2] = {check_uniform(&seed, -1, 1), check_uniform(&seed, -1, 1)};
    double A[6] = {0}, M[4], xi[3] = {0}, p[3] = {0}, dp[3] = {0};
    check_ok(cb_bundle_connection(b, r, A, NULL, M, NULL));
    for (int c = 0; c < b->group->dim; c++) xi[c] = -(A[2 * c] * rate[0] + A[2 * c + 1] * rate[1]);
    for (int e = 0; e <= 3; e++)
      for (int sign = -1; sign <= 1; sign += 2) {
        const double t = sign * e * h, x = r[0] + rate[0] * t, y = r[1] + rate[1] * t;
        const double theta = 2 * atan(hypot(x, y)), phi = atan2(y, x);
        const double place[3] = {l * sin(theta) * cos(phi), l * sin(theta) * sin(phi), -l * cos(theta)};
        for (int c = 0; c < 3; c++)
          if (e)
            dp[c] += sign * weight[e - 1] / h * place[c];
          else
            p[c] = place[c];
      }
    const double v[3] = {xi[0] - xi[2] * p[1] + dp[0], xi[1] + xi[2] * p[0] + dp[1], dp[2]};
    check_near(mr * xi[0] + m * v[0], 0, 1e-11);
    check_near(mr * xi[1] + m * v[1], 0, 1e-11);
    if (yaw) check_near(inertia * xi[2] + m * (p[0] * v[1] - p[1] * v[0]), 0, 1e-11);
    const double energy =
        mr * (xi[0] * xi[0] + xi[1] * xi[1]) + inertia * xi[2] * xi[2] + m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    check_near(M[0] * rate[0] * rate[0] + 2 * M[1] * rate[0] * rate[1] + M[3] * rate[1] * rate[1], energy, 1e-10);
    cb_bundle_free(b);
  }
}

/* The velocity of each wheel across its link is 0. */
static void kinematic_snake_does_not_slip(void **state) {
  uint64_t seed = check_seed();
  const double length[3] = {.5, .5, .5}, h = 2e-3, weight[3] = {3. / 4, -3. / 20, 1. / 60};
  cb_bundle *b = model("kinematic_snake", "length 1.5");
  for (int trial = 0; trial < 10; trial++) {
    const double r[2] = {check_uniform(&seed, .2, 1.5), check_uniform(&seed, -1.5, -.2)};
    const double rate[2] = {check_uniform(&seed, -1, 1), check_uniform(&seed, -1, 1)};
    double A[6], xi[3];
    check_ok(cb_bundle_connection(b, r, A, NULL, NULL, NULL));
    for (int c = 0; c < 3; c++) xi[c] = -(A[2 * c] * rate[0] + A[2 * c + 1] * rate[1]);
    for (int k = 0; k < 3; k++) {
      double at[3], v[2] = {0};
      for (int e = 1; e <= 3; e++)
        for (int sign = -1; sign <= 1; sign += 2) {
          const double t = sign * e * h, x[2] = {r[0] + t * rate[0], r[1] + t * rate[1]};
          double p[3];
          chain_place(1, length, x, (double[]){t * xi[0], t * xi[1], t * xi[2]}, k, 0, p);
          for (int c = 0; c < 2; c++) v[c] += sign * weight[e - 1] / h * p[c];
        }
      chain_place(1, length, r, (double[]){0, 0, 0}, k, 0, at);
      check_near(cos(at[2]) * v[1] - sin(at[2]) * v[0], 0, 1e-11);
    }
  }
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_have_neither_force_nor_momentum_and_the_power_of_their_metric),
      cmocka_unit_test(another_base_link_conjugates_the_holonomy),
      cmocka_unit_test(curved_swimmer_has_no_killing_momentum_and_the_energy_of_its_metric),
      cmocka_unit_test(raft_has_no_momentum_and_the_energy_of_its_metric),
      cmocka_unit_test(kinematic_snake_does_not_slip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
