/* Tests of bodies in a perfect fluid in the plane: ellipses in closed form, conformal images of a circle by Fourier
 * series, two circles by image dipoles, convergence, limits, frames, derivatives of K in the poses by differences, and
 * errors. K is the tensor of added mass: a rotation and two translations per body. phi is the potential and psi the
 * stream function of the flow.
 */
#include "check.h"

#include "numerics/tableau.h"
#include "numerics/lie_private.h"
#include "potential/plane_flow.h"

enum { UNITS = 9 };

static cb_plane_body *make(cb_plane_curve curve, int nodes) {
  cb_plane_body *b = NULL;
  check_ok(cb_plane_body_create(&curve, nodes, &b));
  return b;
}

/* A flow around up to three bodies, with the velocities of all bodies for each of the 3 unit motions of each body. */
typedef struct scene {
  int bodies, units;
  cb_plane_body *body[3];
  cb_plane_flow *flow;
  double unit[UNITS * UNITS];
} scene;

static void open_scene(scene *s, int bodies, const cb_plane_curve *curve, int nodes) {
  const cb_plane_body *list[3];
  *s = (scene){.bodies = bodies, .units = 3 * bodies};
  for (int i = 0; i < bodies; i++) list[i] = s->body[i] = make(curve[i], nodes);
  for (int k = 0; k < s->units; k++) s->unit[k * s->units + k] = 1;
  check_ok(cb_plane_flow_create(bodies, list, s->units, 2, &s->flow));
}

static void close_scene(scene *s) {
  cb_plane_flow_free(s->flow);
  for (int i = 0; i < s->bodies; i++) cb_plane_body_free(s->body[i]);
}

static void tensor(scene *s, const double (*pose)[3], double *K) {
  check_ok(cb_plane_flow_solve(s->flow, pose, s->units, s->unit, K));
}

static double difference(int n, const double *a, const double *b) {
  double most = 0;
  for (int k = 0; k < n; k++) most = fmax(most, fabs(a[k] - b[k]));
  return most;
}

/* --- one body --- */

static void ellipses_have_their_closed_form(void **state) {
  static const double axes[][2] = {{1, 1}, {2, 1}, {.3, 2}, {1, .25}, {1, .1}};
  for (int k = 0; k < 5; k++) {
    const double a = axes[k][0], b = axes[k][1], c = a * a - b * b, m = M_PI * fmax(fmax(a * a, b * b), c * c / 8);
    const double K[3][3] = {{M_PI * c * c / 8}, {0, M_PI * b * b}, {0, 0, M_PI * a * a}};
    const double mass[3][3] = {{M_PI * a * b * (a * a + b * b) / 4}, {0, M_PI * a * b}, {0, 0, M_PI * a * b}};
    cb_plane_body *body = make(cb_plane_ellipse(a, b), 64);
    check_at_most(difference(9, *body->added, *K), 1e-13 * m);
    check_at_most(difference(9, *body->mass, *mass), 1e-14 * m);
    cb_plane_body_free(body);
  }
}

/* Computes K from the stream function psi[a] of unit motion a. The exterior of a circle is mapped conformally to that
 * of the body. On the circle psi_a = sum_m p_am e^{-ims} + the conjugate, with the angle s, which is the parameter of
 * these curves. The complex potential is sum_m 2i p_am e^{-ims}, so K_ab = 4 pi sum_m m Re(p_am conj(p_bm)). */
static void conformal_tensor(const cb_plane_curve *curve, double K[3][3]) {
  enum { POINTS = 4096, MODES = 1000 };
  static double psi[3][POINTS];
  memset(K, 0, 9 * sizeof(double));
  for (int k = 0; k < POINTS; k++) {
    double complex z[3];
    curve->at(curve->number, 2 * M_PI * k / POINTS, z);
    psi[0][k] = -.5 * creal(z[0] * conj(z[0]));
    psi[1][k] = cimag(z[0]);
    psi[2][k] = -creal(z[0]);
  }
  for (int m = 1; m <= MODES; m++) {
    double complex p[3] = {0};
    for (int k = 0; k < POINTS; k++) {
      const double s = 2 * M_PI * ((long)m * k % POINTS) / POINTS;
      for (int a = 0; a < 3; a++) p[a] += psi[a][k] / POINTS * cb_lie_complex(cos(s), sin(s));
    }
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) K[a][b] += 4 * M_PI * m * creal(p[a] * conj(p[b]));
  }
}

/* For a thinner tail the accuracy is lower: the error is 1e-16 divided by the distance between the sides of the
 * tail. */
static void foils_agree_with_the_conformal_map_down_to_a_cusp(void **state) {
  static const struct {
    double tail;
    int nodes;
    double tolerance;
  } cases[] = {{.3, 32, 1e-11},  {.3, 64, 1e-13}, {.1, 64, 1e-13}, {.01, 64, 1e-11},
               {1e-3, 32, 1e-9}, {0, 16, 1e-8},   {0, 32, 1e-9},   {0, 64, 1e-9}};
  for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++) {
    const cb_plane_curve curve = cb_plane_joukowski(2, .1, cases[k].tail);
    double K[3][3];
    conformal_tensor(&curve, K);
    cb_plane_body *body = make(curve, cases[k].nodes);
    print_message("tail %g, %d nodes, %d points: error %.1e\n", cases[k].tail, body->n, body->fine,
                  difference(9, *body->added, *K));
    check_at_most(difference(9, *body->added, *K), cases[k].tolerance);
    cb_plane_body_free(body);
  }
  cb_plane_body *plate = make(cb_plane_ellipse(1, 1e-3), 64); /* the error grows as 1/(1 - q), q = (a - b)/(a + b) */
  check_near(plate->added[2][2], M_PI, 1e-10);
  check_near(plate->added[0][0], M_PI / 8 * pow(1 - 1e-6, 2), 1e-10);
  cb_plane_body_free(plate);
}

/* Area, first moments and moment of inertia equal those of a polygon on the curve, summed from triangles with a corner
 * at the origin. */
static void masses_are_those_of_the_inside(void **state) {
  enum { CORNERS = 1 << 16 };
  const cb_plane_curve curve = cb_plane_joukowski(2, .2, .1);
  cb_plane_body *body = make(curve, 32);
  double T[3][3] = {{0}};
  double complex z[3], last[3];
  curve.at(curve.number, 0, last);
  for (int k = 1; k <= CORNERS; k++) {
    curve.at(curve.number, k * (2 * M_PI / CORNERS), z);
    const double area = cimag(conj(last[0]) * z[0]) / 2;
    const double complex first = area * (last[0] + z[0]) / 3;
    T[1][1] += area;
    T[2][2] += area;
    T[0][1] -= cimag(first);
    T[1][0] -= cimag(first);
    T[0][2] += creal(first);
    T[2][0] += creal(first);
    T[0][0] += area / 6 * creal(last[0] * conj(last[0]) + last[0] * conj(z[0]) + z[0] * conj(z[0]));
    memcpy(last, z, sizeof z);
  }
  check_at_least(fabs(T[0][2]), 0.01);                 /* the centroid of the area is not at the origin */
  check_at_most(difference(9, *body->mass, *T), 1e-8); /* the error is of order 1/CORNERS^2 */
  cb_plane_body_free(body);
}

/* --- two circles --- */

/* Computes, by image dipoles, the part of K that belongs to the translations of two circles. Circle theorem: outside of
 * a circle of radius a around c, a dipole m at z has the image -conj(m a^2/(z - c)^2) at c + a^2/conj(z - c). A circle
 * that moves with the velocity U is a dipole -a^2 U at its centre. The integral of phi around a circle is
 * int phi dw = 2 pi i s + i pi a^2 U, where w is a point of the circle and s the sum of all dipoles inside it. */
static void image_tensor(const double *radius, const double complex *centre, double K[4][4]) {
  for (int a = 0; a < 4; a++) {
    const double complex U = a % 2 ? I : 1;
    double complex m = -radius[a / 2] * radius[a / 2] * U, z = centre[a / 2], sum[2] = {0};
    sum[a / 2] = m;
    for (int k = 1; k < 400 && cabs(m) > 1e-20; k++) {
      const int in = (a / 2 + k) % 2;
      const double complex d = z - centre[in];
      m = -conj(m * radius[in] * radius[in] / (d * d));
      z = centre[in] + radius[in] * radius[in] / conj(d);
      sum[in] += m;
    }
    for (int b = 0; b < 4; b++) {
      const double complex e = b % 2 ? I : 1, own = b / 2 == a / 2 ? M_PI * radius[a / 2] * radius[a / 2] * U : 0;
      K[a][b] = -creal(conj(e) * (2 * M_PI * sum[b / 2] + own));
    }
  }
}

static void two_circles_agree_with_their_image_dipoles(void **state) {
  static const double distance[] = {4, 2.5, 2.1, 1.75}; /* distances of the centres; the radii are 1 and .7 */
  static const int nodes[] = {64, 64, 128, 640};
  const double radius[2] = {1, .7};
  for (int k = 0; k < 4; k++) {
    const double complex centre[2] = {cb_lie_complex(.3, -.2),
                                      centre[0] + distance[k] * cb_lie_complex(cos(.4), sin(.4))};
    const double pose[2][3] = {{.5, creal(centre[0]), cimag(centre[0])}, {-1, creal(centre[1]), cimag(centre[1])}};
    double expected[4][4], K[36], turned[4][4];
    scene s;
    open_scene(&s, 2, (cb_plane_curve[]){cb_plane_ellipse(1, 1), cb_plane_ellipse(.7, .7)}, nodes[k]);
    tensor(&s, pose, K);
    image_tensor(radius, centre, expected);
    for (int p = 0; p < 6; p++)
      for (int q = 0; q < 3; q += 3) check_near(K[p * 6 + q], 0, 1e-13); /* a rotating circle moves no fluid */
    for (int p = 0; p < 4; p++)                                          /* K is in the frames of the bodies */
      for (int q = 0; q < 4; q++) {
        const double *a = pose[p / 2], *b = pose[q / 2];
        const double u[2] = {p % 2 ? sin(a[0]) : cos(a[0]), p % 2 ? cos(a[0]) : -sin(a[0])};
        const double v[2] = {q % 2 ? sin(b[0]) : cos(b[0]), q % 2 ? cos(b[0]) : -sin(b[0])};
        turned[p][q] = 0;
        for (int i = 0; i < 2; i++)
          for (int j = 0; j < 2; j++) turned[p][q] += u[i] * v[j] * K[(3 * (p / 2) + 1 + i) * 6 + 3 * (q / 2) + 1 + j];
      }
    check_at_most(difference(16, *turned, *expected), 1e-12);
    close_scene(&s);
  }
}

/* --- several bodies --- */

static const cb_plane_curve *three(void) {
  static cb_plane_curve curve[3];
  curve[0] = cb_plane_ellipse(1, .2);
  curve[1] = cb_plane_joukowski(1.6, .15, .05);
  curve[2] = cb_plane_ellipse(.5, .4);
  return curve;
}
static const double three_poses[3][3] = {{.3, -1, -.2}, {2.5, .9, .4}, {0, -.3, 1.7}};

/* The error is about .02 q^nodes with a number q below 1, down to round-off: if the number of nodes is doubled, q^nodes
 * is squared. Two thin ellipses almost touch at their tips. */
static void error_falls_geometrically(void **state) {
  const cb_plane_curve curve[2] = {cb_plane_ellipse(1, .1), cb_plane_ellipse(1, .1)};
  const double pose[2][3] = {{0, 0, 0}, {.5, 1.03 + 1.03 * cos(.5), 1.03 * sin(.5)}};
  double K[36], exact[36], error[4];
  scene s;
  open_scene(&s, 2, curve, 384);
  tensor(&s, pose, exact);
  close_scene(&s);
  for (int k = 0; k < 4; k++) {
    open_scene(&s, 2, curve, 32 << k);
    tensor(&s, pose, K);
    error[k] = difference(36, K, exact);
    const cb_plane_error told = cb_plane_flow_error(s.flow);
    print_message("%3d nodes: error %.1e, asymmetry %.1e, closest %.1e\n", 32 << k, error[k], told.asymmetry,
                  told.closest);
    check_at_most(error[k], fmax(told.closest, 1e-12));
    close_scene(&s);
    if (k) check_at_most(error[k], fmax(1e-12, 100 * error[k - 1] * error[k - 1]));
  }
  check_at_least(error[0], 1e-6);
}

static void frames_do_not_matter_and_energy_is_positive(void **state) {
  uint64_t seed = check_seed();
  double K[81], moved[81], pose[3][3], w[9];
  scene s;
  open_scene(&s, 3, three(), 96);
  tensor(&s, three_poses, K);
  for (int i = 0; i < 3; i++) {
    const double *p = three_poses[i], turn = 1.1;
    pose[i][0] = p[0] + turn;
    pose[i][1] = 3 + cos(turn) * p[1] - sin(turn) * p[2];
    pose[i][2] = -2 + sin(turn) * p[1] + cos(turn) * p[2];
  }
  tensor(&s, pose, moved);
  check_at_most(difference(81, K, moved), 1e-12);
  for (int trial = 0; trial < 50; trial++) {
    double energy = 0, alone = 0;
    check_direction(&seed, 9, w);
    for (int a = 0; a < 9; a++)
      for (int b = 0; b < 9; b++) {
        energy += w[a] * w[b] * K[a * 9 + b];
        if (a / 3 == b / 3) alone += w[a] * w[b] * s.body[a / 3]->added[a % 3][b % 3];
      }
    check_at_least(energy, 1e-3 * alone);
  }
  close_scene(&s);
}

/* At twice the distance, the coupling is a quarter, since a body acts as a dipole on the other. The change of the added
 * mass of one body is a sixteenth, since the dipole of its image acts on it. */
static void far_bodies_are_alone(void **state) {
  double coupling[2] = {0}, own[2] = {0};
  for (int k = 0; k < 2; k++) {
    const double d = k ? 80 : 40, pose[2][3] = {{.2, 0, 0}, {1, d, .3 * d}};
    double K[36];
    scene s;
    open_scene(&s, 2, (cb_plane_curve[]){cb_plane_ellipse(1, .2), cb_plane_ellipse(.8, .3)}, 32);
    tensor(&s, pose, K);
    for (int a = 0; a < 6; a++)
      for (int b = 0; b < 6; b++) {
        const double alone = a / 3 == b / 3 ? s.body[a / 3]->added[a % 3][b % 3] : 0;
        double *most = a / 3 == b / 3 ? own : coupling;
        most[k] = fmax(most[k], fabs(K[a * 6 + b] - alone));
      }
    close_scene(&s);
  }
  check_near(coupling[1] / coupling[0], 1. / 4, 1e-3);
  check_near(own[1] / own[0], 1. / 16, 1e-3);
}

/* The derivatives of K for changes of the poses by exp(e V) from the left, and of the velocities by e du, agree with
 * differences of order 8. Their errors are h^8 1e3 and the round-off 1e-14/h.
 */
static void changes_of_poses_agree_with_differences(void **state) {
  enum { MOTIONS = 9 };
  uint64_t seed = check_seed();
  double V[2 * 9], du[2 * MOTIONS * 9], G[81], dG[162], beside[81], sum[81];
  scene s;
  open_scene(&s, 3, three(), 64);
  for (int k = 0; k < 18; k++) V[k] = check_uniform(&seed, -.3, .3);
  for (int k = 0; k < 2 * MOTIONS * 9; k++) du[k] = check_uniform(&seed, -1, 1);
  tensor(&s, three_poses, G);
  cb_plane_flow_change(s.flow, 2, V, du, dG);
  for (int c = 0; c < 2; c++) {
    const double h = .01;
    memset(sum, 0, sizeof sum);
    for (int k = -4; k <= 4; k++) {
      double pose[3][3], u[81];
      if (!k) continue;
      for (int i = 0; i < 3; i++) { /* a rotation about the fixed point of the twist */
        const double *v = V + (c * 3 + i) * 3, turn = k * h * v[0], x = -v[2] / v[0], y = v[1] / v[0],
                     a = three_poses[i][1] - x, b = three_poses[i][2] - y;
        pose[i][0] = three_poses[i][0] + turn;
        pose[i][1] = x + cos(turn) * a - sin(turn) * b;
        pose[i][2] = y + sin(turn) * a + cos(turn) * b;
      }
      for (int e = 0; e < 81; e++) u[e] = s.unit[e] + k * h * du[c * 81 + e];
      check_ok(cb_plane_flow_solve(s.flow, pose, MOTIONS, u, beside));
      for (int e = 0; e < 81; e++) sum[e] += (k < 0 ? -1 : 1) * cb_central_weight[abs(k) - 1] * beside[e] / h;
    }
    check_at_most(difference(81, dG + c * 81, sum), 1e-10);
  }
  close_scene(&s);
}

/* --- errors --- */

static void clockwise(const double *p, double s, double complex z[3]) {
  z[0] = cb_lie_complex(2 * cos(s), -sin(s));
  z[1] = cb_lie_complex(-2 * sin(s), -cos(s));
  z[2] = -z[0];
}
static void eight(const double *p, double s, double complex z[3]) {
  z[0] = cb_lie_complex(cos(s), sin(2 * s) + .1);
  z[1] = cb_lie_complex(-sin(s), 2 * cos(2 * s));
  z[2] = cb_lie_complex(-cos(s), -4 * sin(2 * s));
}

static void check_refused(cb_plane_curve curve, int nodes, cb_status status, const char *text) {
  cb_plane_body *b = NULL;
  assert_int_equal(cb_plane_body_create(&curve, nodes, &b), status);
  assert_null(b);
  if (!strstr(cb_error_text(), text)) fail_msg("\"%s\" lacks \"%s\"", cb_error_text(), text);
}

static void what_is_no_body_is_refused(void **state) {
  check_refused(cb_plane_ellipse(1, .5), 63, CB_ERROR_ARGUMENT, "63 nodes: expected an even number");
  check_refused(cb_plane_ellipse(1, .5), 6, CB_ERROR_ARGUMENT, "6 nodes");
  check_refused((cb_plane_curve){clockwise, {0}}, 32, CB_ERROR_DOMAIN, "clockwise");
  check_refused((cb_plane_curve){eight, {0}}, 32, CB_ERROR_DOMAIN, "intersects itself");
  check_refused(cb_plane_ellipse(1, 1e-6), 32, CB_ERROR_DOMAIN, "too thin");
  check_refused(cb_plane_joukowski(2, .1, 0), 256, CB_ERROR_DOMAIN, "too sharp for 256 nodes (fewer");
  check_refused(cb_plane_ellipse(1, NAN), 32, CB_ERROR_DOMAIN, "not finite");
}

static void bodies_that_overlap_or_all_but_touch_are_refused(void **state) {
  const double across[2][3] = {{0, 0, 0}, {1, .5, 0}}, within[2][3] = {{0, 0, 0}, {0, .9, 0}},
               touching[2][3] = {{0, 0, 0}, {0, 2.0101, 0}}, apart[2][3] = {{0, 0, 0}, {0, 2.2, 0}};
  double K[36];
  scene s;
  open_scene(&s, 2, (cb_plane_curve[]){cb_plane_ellipse(1, .2), cb_plane_ellipse(1, .2)}, 32);
  assert_int_equal(cb_plane_flow_solve(s.flow, across, 6, s.unit, K), CB_STEP_DOMAIN);
  assert_string_equal(cb_error_text(), "bodies 1 and 2 overlap: expected bodies that do not touch");
  assert_int_equal(cb_plane_flow_solve(s.flow, within, 6, s.unit, K), CB_STEP_DOMAIN);
  assert_string_equal(cb_error_text(), "bodies 1 and 2 overlap: expected bodies that do not touch");
  assert_int_equal(cb_plane_flow_solve(s.flow, touching, 6, s.unit, K), CB_STEP_DOMAIN);
  if (!strstr(cb_error_text(), "too close for 32 nodes")) fail_msg("%s", cb_error_text());
  check_ok(cb_plane_flow_solve(s.flow, apart, 6, s.unit, K));
  close_scene(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ellipses_have_their_closed_form),
      cmocka_unit_test(foils_agree_with_the_conformal_map_down_to_a_cusp),
      cmocka_unit_test(masses_are_those_of_the_inside),
      cmocka_unit_test(two_circles_agree_with_their_image_dipoles),
      cmocka_unit_test(error_falls_geometrically),
      cmocka_unit_test(frames_do_not_matter_and_energy_is_positive),
      cmocka_unit_test(far_bodies_are_alone),
      cmocka_unit_test(changes_of_poses_agree_with_differences),
      cmocka_unit_test(what_is_no_body_is_refused),
      cmocka_unit_test(bodies_that_overlap_or_all_but_touch_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
