/* Compares two motions of particles whose distances are prescribed functions of time: the full Lagrangian motion, and
 * the reconstruction by the mechanical connection for the same shapes. The positions in space agree at all times. */
#include "constrained_state.h"
#include "points.h"

enum { DISTANCES = 16, TEXT = 4096, TIMES = 8, LARGEST = 6 };

/* A body of particles, for the full motion and for the reconstruction. In one period, t from 0 to 1, each of the shape
 * variables u and v is mean + cosine cos 2 pi t + sine sin 2 pi t, so the shape describes an ellipse. */
typedef struct pair_case {
  const char *space;
  int points;
  double mass[LARGEST];
  double mean[2], cosine[2], sine[2];
  char shape[2][128], shape_rate[2][128]; /* the shape variables and their rates, as functions of t */
  char bundle[2 * TEXT];                  /* text of the chart and points of the bundle */
  int distances, i[DISTANCES], j[DISTANCES];
  char law[DISTANCES][TEXT]; /* law[d]: the distance of points i[d] and j[d], as a function of t */
  bool heights;              /* in H2 x E, rate[] gives the rates of the heights of points relative to point 0 */
  char rate[LARGEST][512];
} pair_case;

static pair_case *open_pair(const char *space, int points, const double *mass, const double *mean, const double *cosine,
                            const double *sine) {
  pair_case *p = calloc(1, sizeof *p);
  p->space = space;
  p->points = points;
  for (int m = 0; m < points; m++) p->mass[m] = mass[m];
  for (int k = 0; k < 2; k++) {
    p->mean[k] = mean[k];
    p->cosine[k] = cosine[k];
    p->sine[k] = sine[k];
    snprintf(p->shape[k], sizeof p->shape[k], "(%.17g + %.17g*cos(2*pi*t) + %.17g*sin(2*pi*t))", mean[k], cosine[k],
             sine[k]);
    snprintf(p->shape_rate[k], sizeof p->shape_rate[k], "2*pi*(%.17g*cos(2*pi*t) - %.17g*sin(2*pi*t))", sine[k],
             cosine[k]);
  }
  return p;
}

static void append(char *text, size_t capacity, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t capacity, const char *format, ...) {
  const size_t used = strlen(text);
  va_list list;
  va_start(list, format);
  const int length = vsnprintf(text + used, capacity - used, format, list);
  va_end(list);
  assert_true(length >= 0 && (size_t)length < capacity - used);
}

/* --- the full motion --- */

static void start(const pair_case *p, const cb_bundle *b, const cb_gait *gait, body_case *c) {
  const cb_space *g = cb_points_space(b);
  const int n = b->n, dim = b->group->dim, k = g->embedding;
  double r[2], rate[2], A[CB_GROUP_DIM * 2], x[LARGEST * CB_COORD_MAX], dx[2 * LARGEST * CB_COORD_MAX];
  double momentum[CB_KILLING_MAX] = {0};
  cb_gait_at(gait, 0, r, rate);
  check_ok(cb_bundle_connection(b, r, A, NULL, NULL, NULL));
  check_ok(cb_points_place(b, r, x, dx));
  for (int m = 0; m < p->points; m++) {
    double v[CB_COORD_MAX] = {0}, field[CB_COORD_MAX], mv[CB_COORD_MAX];
    for (int i = 0; i < n; i++)
      for (int e = 0; e < k; e++) v[e] += rate[i] * dx[(m * n + i) * k + e];
    for (int a = 0; a < dim; a++) {
      cb_points_field(b, a, x + m * k, field);
      for (int i = 0; i < n; i++)
        for (int e = 0; e < k; e++) v[e] -= A[a * n + i] * rate[i] * field[e];
    }
    for (int e = 0; e < k; e++) mv[e] = p->mass[m] * v[e];
    cb_killing_momentum_add(g, x + m * k, mv, momentum);
    add_particle(c, p->mass[m], x + m * k, v);
  }
  for (int a = 0; a < g->n_killing; a++) check_near(momentum[a], 0, 1e-13);
}

/* Computes both motions over `cycles` cycles with steps h and returns the maximum difference of a coordinate in
 * space. */
static double compare(const pair_case *p, const char *method, double h, int cycles) {
  char text[3 * TEXT] = "";
  body_case c;
  cb_gait *gait;
  append(text, sizeof text, "{space: %s, shape: [u, v], %s}", p->space, p->bundle);
  cb_bundle *b = points_from(text);
  check_ok(cb_gait_fourier(2, 1, p->mean, p->cosine, p->sine, &gait));
  open_space(&c, p->space);
  start(p, b, gait, &c);
  for (int d = 0; d < p->distances; d++)
    check_ok(cb_builder_rod(c.builder, NULL, p->i[d], p->j[d], (cb_target){0, p->law[d]}));
  for (int m = 1; p->heights && m < p->points; m++) {
    /* These are the coefficients of the velocities of (x, y, w, z) of both points. */
    const char *coefficient[2 * CB_COORD_MAX] = {[3] = "-1", [7] = "1"};
    check_ok(cb_builder_velocity(c.builder, NULL, 2, (const int[]){0, m}, NULL, coefficient, p->rate[m]));
  }
  finish_system(&c);
  /* The lengths in the texts are rounded, so the state at the start does not satisfy the constraints to round-off. */
  constrained_project(&c, c.state);
  use_method(&c, method);
  double t[TIMES], g[TIMES * CB_GROUP_SIZE], worst = 0, moved = 0;
  const int rows = TIMES, steps = (int)round(cycles / (rows * h));
  for (int s = 0; s < rows; s++) t[s] = (s + 1) * steps * h;
  check_ok(cb_reconstruct(b, gait, 0, rows, t, g));
  for (int s = 0; s < rows; s++) {
    double reduced[POINTS_MOST][CB_COORD_MAX], full[CB_COORD_MAX];
    for (int k = 0; k < steps; k++) run_step(&c, h);
    check_near(c.state->t, t[s], 1e-12);
    points_world(b, gait, t[s] - floor(t[s] + 1e-12), g + s * b->group->size, reduced);
    for (int m = 0; m < p->points; m++) {
      const int place = cb_system_index(c.system, m);
      cb_origin_world_point(c.g, &c.state->origin[cb_system_component(c.system, place)], c.state->x + place * c.g->k,
                            full);
      for (int e = 0; e < c.g->embedding; e++) worst = fmax(worst, fabs(full[e] - reduced[m][e]));
    }
  }
  double log[CB_GROUP_DIM];
  check_ok(b->group->log(b->group, g + (rows - 1) * b->group->size, log));
  for (int a = 0; a < b->group->dim; a++) moved = fmax(moved, fabs(log[a]));
  print_message("%s, %d points, %s: difference %.2e, moved %.3g\n", p->space, p->points, method, worst, moved);
  close_case(&c);
  cb_gait_free(gait);
  cb_bundle_free(b);
  return worst;
}

static void check_both(pair_case *p) {
  if (!p->heights) check_at_most(compare(p, "lobatto {stages: 5}", 1. / 400, 1), 1e-9);
  check_at_most(compare(p, "radau_iia {stages: 4}", 1. / 400, 1), 1e-9);
  check_at_most(compare(p, "ida {rtol: 1e-12, atol: 1e-14}", 1. / 40, 1), 1e-9);
  free(p);
}

static void distance(pair_case *p, int i, int j, const char *format, ...) __attribute__((format(printf, 4, 5)));
static void distance(pair_case *p, int i, int j, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int n = p->distances++;
  assert_true(n < DISTANCES);
  p->i[n] = i;
  p->j[n] = j;
  const int length = vsnprintf(p->law[n], TEXT, format, list);
  assert_true(length < TEXT);
  va_end(list);
}

/* --- swimmers in spaces of constant curvature ---
 *
 * An apex has two or three legs of length u, each at the angle v to the axis of the swimmer. Three legs are 120 degrees
 * apart about the axis.
 */

static void swims(const char *space, int legs) {
  static const double mass[] = {1.2, 0.8, 0.8, 0.8}, mean[] = {0.6, 0.8}, cosine[] = {0.25, 0}, sine[] = {0, 0.3};
  const bool sphere = space[0] == 's';
  pair_case *p = open_pair(space, 1 + legs, mass, mean, cosine, sine);
  append(p->bundle, sizeof p->bundle, "chart: polar, points: [{mass: 1.2, at: %s}", legs == 2 ? "[0, 0]" : "[0, 0, 0]");
  for (int k = 0; k < legs; k++) {
    char at[64];
    if (legs == 2)
      snprintf(at, sizeof at, "[u, %s]", k ? "-v" : "v");
    else
      snprintf(at, sizeof at, "[u, v, 2*pi*%d/3]", k);
    append(p->bundle, sizeof p->bundle, ", {mass: 0.8, at: %s}", at);
    distance(p, 0, 1 + k, "%s", p->shape[0]);
    /* The distance d of two tips satisfies s(d/2) = s(l) sin(gamma/2). Here s is sin or sinh, l is the leg length, and
     * gamma is the angle between the two legs. */
    for (int i = 0; i < k; i++)
      distance(p, 1 + i, 1 + k, "2*%s(%s(%s)*sin(%s)*%s)", sphere ? "asin" : "asinh", sphere ? "sin" : "sinh",
               p->shape[0], p->shape[1], legs == 2 ? "1" : "sqrt(3)/2");
  }
  append(p->bundle, sizeof p->bundle, "]");
  check_both(p);
}

static void swimmers_of_the_sphere_and_the_hyperbolic_plane_move_as_the_whole_lagrangian_says(void **state) {
  swims("s2", 2);
  swims("h2", 2);
}

static void swimmers_of_three_legs_move_as_the_whole_lagrangian_says(void **state) {
  swims("s3", 3);
  swims("h3", 3);
}

/* --- uneven bodies --- */

typedef char coordinate[512];

/* Writes the distance of the points x and y as text. In E^n the coordinates are Cartesian. In a sphere or hyperbolic
 * space they are those of the translation chart, and the distance is 2 asin(sqrt F) or 2 asinh(sqrt F), with F as
 * below. In H2 x E the theorem of Pythagoras gives the distance. */
static void distance_text(const char *space, int dim, coordinate *x, coordinate *y, char *out) {
  const bool product = !strcmp(space, "h2xe"), sphere = space[0] == 's';
  const char *S = sphere ? "sin" : "sinh", *C = sphere ? "cos" : "cosh", *arc = sphere ? "asin" : "asinh";
  out[0] = 0;
  if (space[0] == 'e') {
    append(out, TEXT, "sqrt(0");
    for (int c = 0; c < dim; c++) append(out, TEXT, " + (%s - (%s))^2", x[c], y[c]);
    append(out, TEXT, ")");
    return;
  }
  append(out, TEXT, "%s2*%s(sqrt(", product ? "sqrt((" : "", arc);
  const int last = product ? 1 : dim - 1;
  /* F = S((a1-a2)/2)^2 + C(a1) C(a2) (S((b1-b2)/2)^2 + ...) for points (a1, b1, ..) and (a2, b2, ..), where S is sin or
   * sinh and C is cos or cosh. */
  for (int c = 0; c <= last; c++) {
    append(out, TEXT, "%s((%s - (%s))/2)^2", S, x[c], y[c]);
    if (c < last) append(out, TEXT, " + %s(%s)*%s(%s)*(", C, x[c], C, y[c]);
  }
  append(out, TEXT, "%s))", last == 2 ? "))" : ")");
  if (product) append(out, TEXT, ")^2 + (%s - (%s))^2)", x[2], y[2]);
}

/* Compares both motions of an irregular body, whose coordinates are c0 + c1 u + c2 v with constants c0, c1 and c2.
 * The distances of all pairs of points are prescribed, except the last `dropped` ones. In H2 x E heights are
 * prescribed, too. */
static void moves(const char *space, int dim, int points, int dropped, uint64_t *seed) {
  static const double corner[LARGEST][3] = {{0.5, 0.1, 0.2}, {-0.4, 0.4, -0.1}, {-0.2, -0.5, 0.1},
                                            {0.3, 0.6, 0.6}, {0.2, -0.3, -0.4}, {0.4, 0.35, -0.3}};
  static const double mean[] = {0.1, -0.1}, cosine[] = {0.6, 0.2}, sine[] = {-0.1, 0.7};
  double mass[LARGEST];
  for (int m = 0; m < points; m++) mass[m] = check_uniform(seed, 0.5, 2);
  pair_case *p = open_pair(space, points, mass, mean, cosine, sine);
  static coordinate at[LARGEST][3];
  double slopes[LARGEST][2] = {{0}}; /* derivatives of the points' heights by the shape variables u and v */
  p->heights = !strcmp(space, "h2xe");
  append(p->bundle, sizeof p->bundle, "chart: %s, points: [", space[0] == 'e' ? "cartesian" : "translation");
  for (int m = 0; m < points; m++) {
    append(p->bundle, sizeof p->bundle, "%s{mass: %.17g, at: [", m ? ", " : "", mass[m]);
    for (int c = 0; c < dim; c++) {
      const double k1 = check_uniform(seed, -0.15, 0.15), k2 = check_uniform(seed, -0.15, 0.15);
      append(p->bundle, sizeof p->bundle, "%s\"%.17g + %.17g*u + %.17g*v\"", c ? ", " : "", corner[m][c], k1, k2);
      slopes[m][0] = k1;
      slopes[m][1] = k2;
      at[m][c][0] = 0;
      append(at[m][c], sizeof at[m][c], "%.17g + %.17g*%s + %.17g*%s", corner[m][c], k1, p->shape[0], k2, p->shape[1]);
    }
    append(p->bundle, sizeof p->bundle, "]}");
    append(p->rate[m], sizeof p->rate[m], "%.17g*%s + %.17g*%s", slopes[m][0] - slopes[0][0], p->shape_rate[0],
           slopes[m][1] - slopes[0][1], p->shape_rate[1]);
  }
  append(p->bundle, sizeof p->bundle, "]");
  const int all = points * (points - 1) / 2;
  for (int i = 0; i < points; i++)
    for (int j = i + 1; j < points && p->distances < all - dropped; j++) {
      char text[TEXT];
      distance_text(space, dim, at[i], at[j], text);
      distance(p, i, j, "%s", text);
    }
  check_both(p);
}

static void uneven_bodies_of_every_space_move_as_the_whole_lagrangian_says(void **state) {
  uint64_t seed = check_seed();
  moves("e2", 2, 3, 0, &seed);
  moves("e3", 3, 4, 0, &seed);
  moves("s2", 2, 3, 0, &seed);
  moves("h2", 2, 3, 0, &seed);
  moves("s3", 3, 4, 0, &seed);
  moves("h3", 3, 4, 0, &seed);
}

/* In H2 x E the shape of n points has 3 n - 4 numbers: five distances and three heights for four points. */
static void an_uneven_body_of_h2_x_e_moves_as_the_whole_lagrangian_says(void **state) {
  uint64_t seed = check_seed();
  moves("h2xe", 3, 4, 1, &seed);
}

/* --- a floating chain of three links ---
 *
 * The points are the two ends and the two hinges. The links keep their lengths and are never all in one line.
 */

static void a_floating_chain_turns_as_the_whole_lagrangian_says(void **state) {
  static const double mass[] = {0.7, 1.6, 0.9, 1.3}, mean[] = {1.3, -1.4}, cosine[] = {0.9, 0.1}, sine[] = {0.2, 0.8};
  pair_case *p = open_pair("e2", 4, mass, mean, cosine, sine);
  append(p->bundle, sizeof p->bundle,
         "chart: cartesian, points: [{mass: 0.7, at: [\"-0.8*cos(u)\", \"0.8*sin(u)\"]}, {mass: 1.6, at: [0, 0]}, "
         "{mass: 0.9, at: [1.1, 0]}, {mass: 1.3, at: [\"1.1 + 0.9*cos(v)\", \"0.9*sin(v)\"]}]");
  distance(p, 0, 1, "0.8");
  distance(p, 1, 2, "1.1");
  distance(p, 2, 3, "0.9");
  distance(p, 0, 2, "sqrt(0.8^2 + 1.1^2 + 2*0.8*1.1*cos(%s))", p->shape[0]);
  distance(p, 1, 3, "sqrt(0.9^2 + 1.1^2 + 2*0.9*1.1*cos(%s))", p->shape[1]);
  check_both(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(swimmers_of_the_sphere_and_the_hyperbolic_plane_move_as_the_whole_lagrangian_says),
      cmocka_unit_test(swimmers_of_three_legs_move_as_the_whole_lagrangian_says),
      cmocka_unit_test(uneven_bodies_of_every_space_move_as_the_whole_lagrangian_says),
      cmocka_unit_test(an_uneven_body_of_h2_x_e_moves_as_the_whole_lagrangian_says),
      cmocka_unit_test(a_floating_chain_turns_as_the_whole_lagrangian_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
