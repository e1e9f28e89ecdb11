/* Tests of bundles in a fluid that moves: rigid bodies in a shear against Jeffery's equation, a swimmer in a shear
 * against the drag integrated along its links, streams, rotations, and other body frames. */
#include "bundle/bundle_private.h"
#include "bundle/coordinates.h"
#include "fluid_mesh.h"
#include "memory_sink.h"
#include "numerics/vec3.h"
#include "run/bundle_run.h"
#include "scenario/bundle_scenario.h"
#include "surface_swimmers.h"

static const char *const circle = "gait: {fourier: {cosine: [[1, 0]], sine: [[0, 1]]}, period: 2}\n",
                         *const shear =
                             "flow: {shear: {gradient: [[0.3, 1.3, 0], [0.2, -0.3, 0], [0, 0, 0]], velocity: "
                             "[0.3, 0.1, 0]}}\n";

/* Runs a scenario and writes the group element at the end. */
static void end_of(const char *bundle, const char *gait, const char *flow, const char *start, const char *integrator,
                   double *g) {
  char text[4096];
  cb_scenario *s;
  memory_sink m;
  snprintf(text, sizeof text, "curvebody: 1\nbundle: %s\n%s%s%sintegrator: {name: magnus, %s}\n", bundle, gait, flow,
           start, integrator);
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  cb_run *run = cb_scenario_run(s);
  cb_sink sink = memory_open(&m, run);
  check_ok(cb_run_go(run, &sink, NULL, NULL, NULL));
  memcpy(g, cb_run_bundle(run)->g, sizeof cb_run_bundle(run)->g);
  memory_free(&m);
  cb_scenario_free(s);
}

static double farthest(int n, const double *a, const double *b) {
  double most = 0;
  for (int k = 0; k < n; k++) most = fmax(most, fabs(a[k] - b[k]));
  return most;
}

/* The angle phi of a slender rod in the flow (c y, 0, 0) satisfies Jeffery's equation phi' = -c sin(phi)^2, so that
 * cot(phi) = cot(phi_0) + c t. The middle of the rod moves with the fluid there. */
static void a_straight_chain_turns_as_a_slender_rod_in_a_shear(void **state) {
  const double c = 1.5, phi = 2.4, T = 4;
  double g[CB_GROUP_SIZE];
  end_of("{name: purcell, shares: [1, 2, 1.5], base: 2}", "gait: {fourier: {cosine: [[0, 0]]}, period: 4}\n",
         "flow: {shear: {gradient: [[0, 1.5, 0], [0, 0, 0], [0, 0, 0]]}}\n", "start: {group: [0.2, 0.7, 2.4]}\n",
         "step: 0.05", g);
  const double cot = cos(phi) / sin(phi) + c * T;
  /* The chain is straight. Its middle is at the distance d from the middle of link 2: (2.25 - 2)/4.5 */
  const double d = 0.25 / 4.5;
  check_near(cos(g[2]) / sin(g[2]), cot, 1e-9 * fabs(cot));
  const double y = 0.7 + d * sin(phi), x = 0.2 + d * cos(phi) + c * T * y;
  check_near(g[0] + d * cos(g[2]), x, 1e-10);
  check_near(g[1] + d * sin(g[2]), y, 1e-10);
}

/* A cross of two rods of lengths a and b, which are perpendicular to each other at their middles, has the drag
 * k_n (a^3 + b^3)/12 against rotation. In the flow (c y, 0, 0) the drag of the flow on both gives
 *   phi' = -c (a^3 sin(phi)^2 + b^3 cos(phi)^2)/(a^3 + b^3)
 * This is Jeffery's orbit of a spheroid with the ratio of axes s = (a/b)^(3/2), of the period 2 pi (s + 1/s)/c. If b is
 * 0 (the slender rod), the period is infinite. */
static void a_rigid_cross_has_the_period_of_jefferys_orbit(void **state) {
  static const double width[] = {0.7, 0.4};
  for (int i = 0; i < 2; i++) {
    char bundle[512], gait[128];
    double g[CB_GROUP_SIZE];
    const double s = pow(1 / width[i], 1.5), period = 2 * M_PI * (s + 1 / s) / 1.5;
    snprintf(bundle, sizeof bundle,
             "{name: links, shape: [a], origin: 0.5, links: [{length: 1}, {length: %g/2, parent: 0, at: 0.5, angle: "
             "a, offset: pi/2}, {length: %g/2, parent: 0, at: 0.5, offset: -pi/2}]}",
             width[i], width[i]);
    snprintf(gait, sizeof gait, "gait: {fourier: {cosine: [[0]]}, period: %.17g}\n", period);
    end_of(bundle, gait, "flow: {shear: {gradient: [[0, 1.5, 0], [0, 0, 0], [0, 0, 0]]}}\n",
           "start: {group: [0, 0, 0.3]}\n", "step: 0.02", g);
    check_near(g[2], 0.3 - 2 * M_PI, 1e-8);
    end_of(bundle, gait, "flow: {shear: {gradient: [[0, 1.5, 0], [0, 0, 0], [0, 0, 0]]}}\n",
           "start: {group: [0, 0, 0.3]}\ntime: {end: 1}\n", "step: 0.02", g);
    /* On Jeffery's orbit tan(phi) = tan(phase)/s. In the time t the phase decreases by c t/(s + 1/s); here the shear
     * rate c is 1.5, and t = 1. */
    const double phase = atan2(s * sin(0.3), cos(0.3)) - 1.5 / (s + 1 / s);
    check_near(tan(g[2]), tan(phase) / s, 1e-9);
  }
}

/* --- a swimmer of three links, with the drag integrated along the links by Gauss's rule --- */

static const double gradient[2][2] = {{0.3, 1.3}, {0.2, -0.3}}, stream[2] = {0.3, 0.1};

/* Computes g' for the gait `circle` from the balance of force and torque, a sum over the links:
 *
 *   sum int J^T D (u - v - J xi) ds = 0
 * At a point of a link, u is the velocity of the fluid, v the velocity by the change of shape, J xi the velocity by the
 * body velocity xi, and D the drag per length. */
static void swim(double t, const double g[3], double out[3]) {
  /* Gauss's rule with these two nodes is exact for the integrands, which have degree 2 */
  static const double node[2] = {-0.5773502691896257, 0.5773502691896257};
  const double l = 1. / 3, turn = M_PI, alpha[2] = {cos(turn * t), sin(turn * t)},
               rate[2] = {-turn * sin(turn * t), turn * cos(turn * t)};
  const double heading[3] = {-alpha[0], 0, alpha[1]}, spin[3] = {-rate[0], 0, rate[1]}, hinge[3] = {-l / 2, 0, l / 2};
  const double c = cos(g[2]), s = sin(g[2]);
  double P[3][3] = {{0}}, F[3] = {0};
  for (int k = 0; k < 3; k++)
    for (int q = 0; q < 2; q++) {
      const double tx = cos(heading[k]), ty = sin(heading[k]), way = (k - 1) * l / 2 + node[q] * l / 2;
      const double p[2] = {hinge[k] + way * tx, way * ty}, v[2] = {-spin[k] * p[1], spin[k] * (p[0] - hinge[k])};
      const double x = g[0] + c * p[0] - s * p[1], y = g[1] + s * p[0] + c * p[1];
      const double ux = stream[0] + gradient[0][0] * x + gradient[0][1] * y,
                   uy = stream[1] + gradient[1][0] * x + gradient[1][1] * y;
      const double w[2] = {c * ux + s * uy - v[0], -s * ux + c * uy - v[1]};
      const double J[2][3] = {{1, 0, -p[1]}, {0, 1, p[0]}};
      const double D[2][2] = {{tx * tx + 2 * ty * ty, -tx * ty}, {-tx * ty, ty * ty + 2 * tx * tx}};
      for (int i = 0; i < 3; i++)
        for (int a = 0; a < 2; a++)
          for (int b = 0; b < 2; b++) {
            F[i] += J[a][i] * D[a][b] * w[b];
            for (int j = 0; j < 3; j++) P[i][j] += J[a][i] * D[a][b] * J[b][j];
          }
    }
  for (int i = 0; i < 3; i++)
    for (int j = i + 1; j < 3; j++) {
      const double by = P[j][i] / P[i][i];
      for (int k = 0; k < 3; k++) P[j][k] -= by * P[i][k];
      F[j] -= by * F[i];
    }
  double xi[3];
  for (int i = 2; i >= 0; i--) {
    xi[i] = F[i];
    for (int j = i + 1; j < 3; j++) xi[i] -= P[i][j] * xi[j];
    xi[i] /= P[i][i];
  }
  out[0] = c * xi[0] - s * xi[1];
  out[1] = s * xi[0] + c * xi[1];
  out[2] = xi[2];
}

/* Integrates g' of `swim` from time 0 to T by the classical method of Runge and Kutta. g is the start, and then the
 * end. */
static void classical(int steps, double T, double g[3]) {
  const double h = T / steps, part[4] = {0, h / 2, h / 2, h}, weight[4] = {h / 6, h / 3, h / 3, h / 6};
  for (int n = 0; n < steps; n++) {
    double k[3] = {0}, sum[3] = {0};
    for (int stage = 0; stage < 4; stage++) {
      double at[3];
      for (int i = 0; i < 3; i++) at[i] = g[i] + part[stage] * k[i];
      swim(n * h + part[stage], at, k);
      for (int i = 0; i < 3; i++) sum[i] += weight[stage] * k[i];
    }
    for (int i = 0; i < 3; i++) g[i] += sum[i];
  }
}

/* Computes the reference by extrapolation of runs with 1000 and 2000 steps of order 4, to about 1e-13. */
static void reference(double out[3]) {
  double coarse[3] = {0.5, -0.3, 0.7}, fine[3] = {0.5, -0.3, 0.7};
  classical(1000, 2, coarse);
  classical(2000, 2, fine);
  for (int i = 0; i < 3; i++) out[i] = (16 * fine[i] - coarse[i]) / 15;
}

static void a_swimmer_in_a_shear_agrees_with_the_drag_along_its_links(void **state) {
  static const char *const from = "start: {group: [0.5, -0.3, 0.7]}\n",
                           *const links =
                               "{name: links, shape: [alpha1, alpha2], links: [{length: 1/3}, {length: 1/3, "
                               "parent: 0, at: 1, angle: alpha2}, {length: 1/3, parent: 0, at: 0, angle: "
                               "-alpha1, offset: pi}]}";
  double exact[3], g[CB_GROUP_SIZE];
  reference(exact);
  end_of("purcell", circle, shear, from, "step: 0.02", g);
  check_at_most(farthest(3, g, exact), 1e-10);
  end_of("purcell", circle, shear, from, "order: 4, step: 0.5, error: 1e-11", g);
  check_at_most(farthest(3, g, exact), 1e-10);
  end_of(links, circle, shear, from, "step: 0.02", g);
  check_at_most(farthest(3, g, exact), 1e-10);
}

/* For the orders 4 and 6, the errors at 20 and 40 steps of a cycle differ by the factors 2^4 and 2^6. */
static void the_order_in_a_shear_is_that_of_the_method(void **state) {
  for (int order = 4; order <= 6; order += 2) {
    double exact[3], g[CB_GROUP_SIZE], error[2];
    reference(exact);
    for (int i = 0; i < 2; i++) {
      char integrator[64];
      snprintf(integrator, sizeof integrator, "order: %d, step: 2/%d", order, 20 << i);
      end_of("purcell", circle, shear, "start: {group: [0.5, -0.3, 0.7]}\n", integrator, g);
      error[i] = farthest(3, g, exact);
    }
    check_near(log2(error[0] / error[1]), order, 0.4);
  }
}

/* Corners of a gait within steps do not reduce the order: the result with 37 steps agrees with one of 370 steps. */
static void corners_within_steps_keep_the_accuracy(void **state) {
  static const char *const square =
      "gait: {polygon: {corners: [[1, 0.7], [-0.9, 1], [-1, -0.6], [0.8, -1]]}, period: 2}\n";
  double coarse[CB_GROUP_SIZE], fine[CB_GROUP_SIZE];
  end_of("purcell", square, shear, "", "step: 2/37", coarse);
  end_of("purcell", square, shear, "", "step: 2/370", fine);
  check_at_most(farthest(3, coarse, fine), 1e-8);
}

static const char *const mesh_text =
    "shape: {name: ellipsoid, a: 0.5, b: 0.2, c: 0.15, resolution: 8}, variables: [a, "
    "b], motion: {y: \"Y + 0.4*a*X^2 + 0.3*b*X*Z\", z: \"Z + 0.3*b*X^2\"}";

/* In the frame that moves with a uniform stream u, the fluid is at rest. So the body's position at the time t is the
 * position without the stream plus u t, up to round-off. */
static void a_uniform_stream_only_carries_the_body_along(void **state) {
  char drag[512], immersed[512];
  snprintf(drag, sizeof drag, "{name: surface_drag, %s}", mesh_text);
  snprintf(immersed, sizeof immersed, "{name: immersed, %s, density: 900, fluid: {density: 998}}", mesh_text);
  const struct {
    const char *bundle, *offset;
    int place, n; /* index of the position in the group element; number of components of the position */
  } cases[] = {
      {"purcell", "", 0, 2},
      {"perfect_fish", "", 0, 2},
      {"three_sphere", ", scale: 0.2, offset: [1, 1]", 0, 1},
      {"pmpy", ", scale: 0.2, offset: [5, 4]", 0, 1},
      {"{name: purcell, coordinates: {minimum_perturbation: {low: [-1.1, -1.1], high: [1.1, 1.1]}}}", "", 0, 2},
      {drag, "", 4, 3},
      {immersed, "", 4, 3}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    static const double u[3] = {0.3, -0.2, 0.7};
    char gait[256], flow[128];
    double still[CB_GROUP_SIZE] = {0}, carried[CB_GROUP_SIZE] = {0};
    snprintf(gait, sizeof gait, "gait: {fourier: {cosine: [[1, 0]], sine: [[0, 1]]}, period: 2%s}\n", cases[k].offset);
    snprintf(flow, sizeof flow, "flow: {uniform: [%g, %g, %g]}\n", u[0], cases[k].n > 1 ? u[1] : 0,
             cases[k].n > 2 ? u[2] : 0);
    end_of(cases[k].bundle, gait, "", "", "step: 0.1", still);
    end_of(cases[k].bundle, gait, flow, "", "step: 0.1", carried);
    for (int i = 0; i < cases[k].n; i++) carried[cases[k].place + i] -= 2 * u[i];
    check_at_most(farthest(7, still, carried), 1e-14);
  }
}

/* In a fluid that rotates as a whole a viscous body moves as in a fluid at rest, and is rotated with the fluid. */
static void a_fluid_that_rotates_as_a_whole_turns_the_motion(void **state) {
  const double angle = 0.8 * 2, start[3] = {0.5, -0.3, 0.7};
  double still[CB_GROUP_SIZE], turned[CB_GROUP_SIZE];
  end_of("purcell", circle, "", "start: {group: [0.5, -0.3, 0.7]}\n", "step: 0.02", still);
  end_of("purcell", circle, "flow: {shear: {gradient: [[0, -0.8, 0], [0.8, 0, 0], [0, 0, 0]]}}\n",
         "start: {group: [0.5, -0.3, 0.7]}\n", "step: 0.02", turned);
  const double expected[3] = {cos(angle) * still[0] - sin(angle) * still[1],
                              sin(angle) * still[0] + cos(angle) * still[1], still[2] + angle};
  check_at_most(farthest(3, turned, expected), 1e-10);
  assert_true(farthest(3, still, start) > 1e-2);
}

/* In space, too, the motion in a rotating fluid is that in a fluid at rest, rotated with the fluid. The rotation by the
 * angle |W| T about the axis W moves the element g. */
static void a_fluid_that_rotates_in_space_turns_the_motion(void **state) {
  static const double W[3] = {0.4, -0.7, 0.3}, T = 2;
  const cb_group *G = cb_group_find("se3");
  char bundle[512], flow[256];
  double still[CB_GROUP_SIZE], turned[CB_GROUP_SIZE], by[CB_GROUP_SIZE];
  snprintf(bundle, sizeof bundle, "{name: surface_drag, %s}", mesh_text);
  snprintf(flow, sizeof flow, "flow: {shear: {gradient: [[0, %g, %g], [%g, 0, %g], [%g, %g, 0]]}}\n", -W[2], W[1], W[2],
           -W[0], -W[1], W[0]);
  end_of(bundle, circle, "", "start: {group: [0.6, 0.8, 0, 0, 0.5, -0.3, 0.7]}\n", "step: 0.05", still);
  end_of(bundle, circle, flow, "start: {group: [0.6, 0.8, 0, 0, 0.5, -0.3, 0.7]}\n", "step: 0.05", turned);
  G->exp(G, (const double[]){W[0] * T, W[1] * T, W[2] * T, 0, 0, 0}, by);
  G->multiply(G, by, still, still);
  const double sign = still[0] * turned[0] < 0 ? -1 : 1;
  for (int k = 0; k < 4; k++) turned[k] *= sign;
  check_at_most(farthest(7, still, turned), 1e-9);
}

/* The direction p of a slender rod in space satisfies Jeffery's equation p' = L p - p (p.L p) with the velocity
 * gradient L. The solution is p = P/|P| with P' = L P. */
static void a_rod_in_space_turns_as_jeffery_says(void **state) {
  static const double L[3][3] = {{0.2, 1.1, -0.4}, {0.3, -0.5, 0.8}, {-0.6, 0.1, 0.3}};
  double g[CB_GROUP_SIZE], P[3], term[3], R[3][3], x[3];
  end_of(
      "{name: links, space: space, spin: 0.1, shape: [a], links: [{length: 1}, {length: 0.4, parent: 0, at: 1, axis: "
      "[0, 0, 1], angle: a}]}",
      "gait: {fourier: {cosine: [[0]]}, period: 2}\n",
      "flow: {shear: {gradient: [[0.2, 1.1, -0.4], [0.3, -0.5, 0.8], [-0.6, 0.1, 0.3]]}}\n",
      "start: {group: [0.6, 0.8, 0, 0, 0.1, 0.2, 0.3]}\n", "step: 0.02", g);
  cb_group_place(cb_group_find("se3"), (const double[]){0.6, 0.8, 0, 0, 0.1, 0.2, 0.3}, R, x);
  for (int i = 0; i < 3; i++) P[i] = term[i] = R[i][0];
  for (int k = 1; k < 60; k++) { /* exp(2 L) P by its series */
    double next[3];
    for (int i = 0; i < 3; i++) next[i] = 2. / k * (L[i][0] * term[0] + L[i][1] * term[1] + L[i][2] * term[2]);
    for (int i = 0; i < 3; i++) P[i] += term[i] = next[i];
  }
  const double length = sqrt(P[0] * P[0] + P[1] * P[1] + P[2] * P[2]);
  cb_group_place(cb_group_find("se3"), g, R, x);
  for (int i = 0; i < 3; i++) check_near(R[i][0], P[i] / length, 1e-9);
}

/* Sums force and torque over the faces of a surface that moves with the twist xi in the flow E x. Each face is sampled
 * at three points. The drag coefficients per area are k_n along the normal and k_t tangential to the face. */
static void drag_of(const cb_surface *s, const double (*x)[3], const double xi[6], const double E[3][3], double k_n,
                    double k_t, double F[6], double *size) {
  memset(F, 0, 6 * sizeof *F);
  *size = 0;
  for (int f = 0; f < s->faces; f++) {
    const int *c = s->face[f];
    double a[3];
    cb_normal3(x[c[0]], x[c[1]], x[c[2]], a);
    const double twice = sqrt(cb_dot3(a, a));
    for (int q = 0; q < 3; q++) {
      double p[3], u[3], force[3], moment[3];
      for (int k = 0; k < 3; k++) p[k] = (x[c[q]][k] + x[c[(q + 1) % 3]][k]) / 2;
      cb_cross3(xi, p, u);
      for (int k = 0; k < 3; k++) u[k] += xi[3 + k] - cb_dot3(E[k], p);
      for (int k = 0; k < 3; k++)
        force[k] = twice / 6 * (k_t * u[k] + (k_n - k_t) * cb_dot3(u, a) * a[k] / (twice * twice));
      cb_cross3(p, force, moment);
      for (int k = 0; k < 3; k++) {
        F[k] += moment[k];
        F[3 + k] += force[k];
        *size += fabs(force[k]);
      }
    }
  }
}

static void no_force_acts_on_a_surface_in_a_strain(void **state) {
  static const int pair[CB_STRAINS][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
  static const char *const names[] = {"a", "b"};
  const cb_poses_motion motion = {NULL, {"X + 0.3", "Y + a*X^2 + 0.3*b*X*Z", "Z + 0.2*b*X*Y"}};
  mesh m = mesh_ellipsoid(2, 0.5, 0.2, 0.15);
  uint64_t seed = 3;
  mesh_shake(&m, &seed, 0.02);
  swimmer s = expressed(m, 2, names, 1, &motion, 2, 1);
  const double r[2] = {0.6, -0.4};
  double S[6 * CB_STRAINS], (*x)[3] = malloc((size_t)s.surface->vertices * sizeof *x);
  check_ok(cb_bundle_strain(s.b, r, S));
  check_ok(s.shape->at(s.shape, r, x, NULL, NULL));
  for (int k = 0; k < CB_STRAINS; k++) {
    double E[3][3] = {{0}}, xi[6], F[6], size;
    E[pair[k][0]][pair[k][1]] = E[pair[k][1]][pair[k][0]] = 1;
    for (int i = 0; i < 6; i++) xi[i] = S[i * CB_STRAINS + k];
    drag_of(s.surface, (const double(*)[3])x, xi, (const double(*)[3])E, 2, 1, F, &size);
    for (int i = 0; i < 6; i++) check_near(F[i], 0, 1e-13 * size);
    assert_true(size > 1e-3);
  }
  free(x);
  swimmer_free(&s);
}

/* The velocity of the flow along the line is c x. If the lengths l1 and l2 of the two links are equal and constant, the
 * swimmer moves with the velocity c X of the flow at the position X of its middle sphere. So X grows as exp(c t). A
 * swimmer with l1 = 2 l2 has a smaller X at the end. */
static void three_spheres_in_a_strain_along_their_line(void **state) {
  static const char *const flow = "flow: {shear: {gradient: [[0.5, 0, 0], [0, -0.25, 0], [0, 0, -0.25]]}}\n",
                           *const from = "start: {group: [0.4]}\n";
  double g[CB_GROUP_SIZE];
  end_of("three_sphere", "gait: {fourier: {mean: [1, 1], cosine: [[0, 0]]}, period: 2}\n", flow, from, "step: 0.1", g);
  check_near(g[0], 0.4 * exp(0.5 * 2), 1e-11);
  end_of("three_sphere", "gait: {fourier: {mean: [2, 1], cosine: [[0, 0]]}, period: 2}\n", flow, from, "step: 0.1", g);
  assert_true(g[0] < 0.4 * exp(0.5 * 2) - 0.1);
}

/* Two spheres of the radii a_1 and a_2 are at X + l/2 and X - l/2. They move with the mean of the flow, weighted by
 * their drag: c (X + e) with e = (l/2) (a_1 - a_2)/(a_1 + a_2). So X + e grows as exp(c t). Here l = 5, and the volumes
 * are 6 and 8 pi/3 - 6. */
static void a_pair_of_spheres_in_a_strain_along_their_line(void **state) {
  const double a_1 = cbrt(3 * 6 / (4 * M_PI)), a_2 = cbrt(3 * (8 * M_PI / 3 - 6) / (4 * M_PI)),
               e = 2.5 * (a_1 - a_2) / (a_1 + a_2);
  double g[CB_GROUP_SIZE];
  end_of("pmpy", "gait: {fourier: {mean: [5, 6], cosine: [[0, 0]]}, period: 2}\n",
         "flow: {shear: {gradient: [[0.5, 0, 0], [0, -0.25, 0], [0, 0, -0.25]]}}\n", "start: {group: [0.4]}\n",
         "step: 0.1", g);
  check_near(g[0], (0.4 + e) * exp(0.5 * 2) - e, 1e-11);
}

/* With minimum-perturbation coordinates the body frame is moved by h(r), where r is the shape. So the same motion has
 * the group element g h(r) instead of g. */
static void other_coordinates_give_the_same_motion_in_a_shear(void **state) {
  static const double low[2] = {-1.2, -1.2}, high[2] = {1.2, 1.2}, r[2] = {1, 0};
  static const int points[2] = {17, 17};
  cb_bundle *plain, *framed;
  double h[CB_GROUP_SIZE], g[CB_GROUP_SIZE], moved[CB_GROUP_SIZE], start[CB_GROUP_SIZE] = {0.5, -0.3, 0.7};
  check_ok(cb_bundle_create("purcell", NULL, &plain));
  check_ok(cb_bundle_minimum_perturbation(plain, low, high, points, &framed));
  check_ok(cb_bundle_frame(framed, r, h));
  const cb_group *G = plain->group;
  char from[128];
  G->multiply(G, start, h, start);
  snprintf(from, sizeof from, "start: {group: [%.17g, %.17g, %.17g]}\n", start[0], start[1], start[2]);
  end_of("purcell", circle, shear, "start: {group: [0.5, -0.3, 0.7]}\n", "step: 0.02", g);
  end_of(
      "{name: purcell, coordinates: {minimum_perturbation: {low: [-1.2, -1.2], high: [1.2, 1.2], points: [17, 17]}}}",
      circle, shear, from, "step: 0.02", moved);
  G->multiply(G, g, h, g);
  check_at_most(farthest(3, g, moved), 1e-9);
  assert_true(farthest(3, h, (double[3]){0}) > 1e-2);
  cb_bundle_free(framed);
  cb_bundle_free(plain);
}

/* The recorded momentum is the total drag P (xi - xi_u) + Q r' minus the drag due to the strain of the flow; it must be
 * zero. xi is the body velocity, xi_u the velocity of the flow, r' the shape rate, and P and Q are blocks of the form
 * (curvebody/bundle.h). */
static void the_recorded_drag_is_zero(void **state) {
  char text[1024];
  cb_scenario *s;
  memory_sink m;
  snprintf(
      text, sizeof text,
      "curvebody: 1\nbundle: {name: links, shape: [alpha1, alpha2], links: [{length: 1}, {length: 1, parent: 0, at: "
      "1, angle: alpha2}, {length: 1, parent: 1, at: 1, angle: alpha1}]}\n%s%sintegrator: {name: magnus, step: "
      "0.1}\nrecord: {observables: [momentum]}\n",
      circle, shear);
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  cb_run *run = cb_scenario_run(s);
  cb_sink sink = memory_open(&m, run);
  check_ok(cb_run_go(run, &sink, NULL, NULL, NULL));
  for (size_t row = 0; row < m.n_rows; row++)
    for (size_t k = 0; k < 3; k++) check_near(memory_value(&m, row, "momentum", k), 0, 1e-12);
  assert_true(fabs(memory_value(&m, 5, "body_velocity", 0)) > 1e-2);
  memory_free(&m);
  cb_scenario_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_straight_chain_turns_as_a_slender_rod_in_a_shear),
      cmocka_unit_test(a_rigid_cross_has_the_period_of_jefferys_orbit),
      cmocka_unit_test(a_swimmer_in_a_shear_agrees_with_the_drag_along_its_links),
      cmocka_unit_test(the_order_in_a_shear_is_that_of_the_method),
      cmocka_unit_test(corners_within_steps_keep_the_accuracy),
      cmocka_unit_test(a_uniform_stream_only_carries_the_body_along),
      cmocka_unit_test(a_fluid_that_rotates_as_a_whole_turns_the_motion),
      cmocka_unit_test(a_fluid_that_rotates_in_space_turns_the_motion),
      cmocka_unit_test(a_rod_in_space_turns_as_jeffery_says),
      cmocka_unit_test(no_force_acts_on_a_surface_in_a_strain),
      cmocka_unit_test(three_spheres_in_a_strain_along_their_line),
      cmocka_unit_test(a_pair_of_spheres_in_a_strain_along_their_line),
      cmocka_unit_test(other_coordinates_give_the_same_motion_in_a_shear),
      cmocka_unit_test(the_recorded_drag_is_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
