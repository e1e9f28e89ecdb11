/* Contacts of two bodies at generic attitudes, with the added mass of each, against equations that share no code with
 * the library. The states just before and after a contact follow from Kirchhoff's equations (kirchhoff.h): from the row
 * before the contact, and backwards from the row after it.
 *
 *   ellipsoids   max over l in (0, 1) of S = l (1 - l) r^T C^-1 r = 1,  C = (1 - l) A + l B,  n ~ q = C^-1 r,
 *                x = x_A + (1 - l) A q   (Perram & Wertheim (1985), doi:10.1016/0021-9991(85)90171-8)
 *   capsules     the distance of two segments, less the sum of the radii
 *   boxes        the largest gap along the normals of the faces and the products of edges
 *   impulse      J = -(1 + e) s'/w,  s' = G Y,  w = G I^-1 G^T,  G = (-((x - x_A) × n, n), ((x - x_B) × n, n))
 *   energy       T+ - T- = -(1 - e^2) s'^2/(2 w)
 * x_A and x_B are the centres, and r = x_B - x_A. A and B are the matrices R diag(a^2) R^T with the half axes a and the
 * rotation R. n is the normal from A to B, x the contact point, s' the rate of the gap, e the restitution, I the
 * inertia of body and fluid, Y are the twists, and T- and T+ the energies before and after the contact. Lengths are in
 * m, and the density of the fluid is 1. */
#include "kirchhoff.h"
#include "memory_sink.h"

/* A pose as a rotation and a position. */
typedef struct place {
  double R[3][3], x[3];
} place;

typedef struct touch {
  double gap, n[3], x[3];
} touch;

/* size: half axes of an ellipsoid, half edges of a box, or radius and half length of a capsule along z */
typedef void find_touch(const place g[2], const double (*size)[3], touch *out);

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* --- ellipsoids --- */

static void tensor(const place *g, const double a[3], double A[3][3]) {
  for (int i = 0; i < 9; i++) {
    A[i / 3][i % 3] = 0;
    for (int k = 0; k < 3; k++) A[i / 3][i % 3] += g->R[i / 3][k] * a[k] * a[k] * g->R[i % 3][k];
  }
}

static double form(const double A[3][3], const double q[3]) {
  return q[0] * dot(A[0], q) + q[1] * dot(A[1], q) + q[2] * dot(A[2], q);
}

static void touch_of_ellipsoids(const place g[2], const double (*size)[3], touch *out) {
  double A[2][3][3], q[3], r[3], low = 0, high = 1, l = .5;
  for (int k = 0; k < 2; k++) tensor(&g[k], size[k], A[k]);
  for (int i = 0; i < 3; i++) r[i] = g[1].x[i] - g[0].x[i];
  for (int n = 0; n < 60; n++) { /* bisection: dS/dl = (1 - l)^2 q^T A q - l^2 q^T B q decreases */
    double C[6][6];
    l = (low + high) / 2;
    for (int i = 0; i < 3; i++) {
      q[i] = r[i];
      for (int j = 0; j < 3; j++) C[i][j] = (1 - l) * A[0][i][j] + l * A[1][i][j];
    }
    kirchhoff_solve(3, C, q);
    *((1 - l) * (1 - l) * form(A[0], q) > l * l * form(A[1], q) ? &low : &high) = l;
  }
  const double length = sqrt(dot(q, q));
  for (int i = 0; i < 3; i++) {
    out->n[i] = q[i] / length;
    out->x[i] = g[0].x[i] + (1 - l) * dot(A[0][i], q);
  }
  out->gap = dot(r, out->n) - sqrt(form(A[0], out->n)) - sqrt(form(A[1], out->n));
}

/* --- capsules --- */

static double clamp(double x, double limit) { return fmax(-limit, fmin(limit, x)); }

/* Finds the nearest points x_k + s_k u_k, |s_k| <= h_k, of two segments. Either they are inside both segments, or one
 * of them is an end. */
static void touch_of_capsules(const place g[2], const double (*size)[3], touch *out) {
  double r[3], u[2][3], least = INFINITY;
  for (int i = 0; i < 3; i++) {
    r[i] = g[1].x[i] - g[0].x[i];
    for (int k = 0; k < 2; k++) u[k][i] = g[k].R[i][2];
  }
  const double c = dot(u[0], u[1]), a = dot(r, u[0]), b = dot(r, u[1]), inside = (a - b * c) / (1 - c * c);
  for (int n = 0; n < 5; n++) {
    double s[2], d[3];
    s[0] = n == 0 ? inside : n == 1 ? size[0][1] : n == 2 ? -size[0][1] : 0;
    s[1] = n == 3 ? size[1][1] : n == 4 ? -size[1][1] : c * s[0] - b;
    if (n > 2) s[0] = a + c * s[1];
    if (n == 0 && (fabs(s[0]) > size[0][1] || fabs(s[1]) > size[1][1])) continue;
    for (int k = 0; k < 2; k++) s[k] = clamp(s[k], size[k][1]);
    for (int i = 0; i < 3; i++) d[i] = r[i] + s[1] * u[1][i] - s[0] * u[0][i];
    const double distance = sqrt(dot(d, d));
    if (!(distance < least)) continue;
    least = distance;
    for (int i = 0; i < 3; i++) {
      out->n[i] = d[i] / distance;
      out->x[i] = g[0].x[i] + s[0] * u[0][i] + size[0][0] * out->n[i];
    }
  }
  out->gap = least - size[0][0] - size[1][0];
}

/* --- boxes --- */

/* Finds the corner of a box that is farthest in the direction n if sign = 1, or -n if sign = -1. If `edge` is below 3,
 * finds the midpoint of the farthest edge that is parallel to axis `edge` instead. */
static void farthest(const place *g, const double h[3], const double n[3], double sign, int edge, double out[3]) {
  memcpy(out, g->x, 3 * sizeof *out);
  for (int k = 0; k < 3; k++) {
    const double axis[3] = {g->R[0][k], g->R[1][k], g->R[2][k]}, side = k == edge                 ? 0
                                                                        : sign * dot(n, axis) > 0 ? 1
                                                                                                  : -1;
    for (int i = 0; i < 3; i++) out[i] += side * h[k] * axis[i];
  }
}

/* Tries the normal d or -d, whichever points from A to B. d is the vector product of axis i of A and axis j of B. With
 * i = 3, d is axis j of B; with j = 3, d is axis i of A. */
static void try_normal(const place g[2], const double (*size)[3], const double d[3], int i, int j, touch *out) {
  double n[3], p[2][3], r[3], u[2][3];
  const double length = sqrt(dot(d, d));
  for (int k = 0; k < 3; k++) r[k] = g[1].x[k] - g[0].x[k];
  const double sign = dot(d, r) > 0 ? 1 : -1;
  if (length < 1e-6) return; /* the edges are parallel */
  for (int k = 0; k < 3; k++) n[k] = sign * d[k] / length;
  farthest(&g[0], size[0], n, 1, i < 3 && j < 3 ? i : 3, p[0]);
  farthest(&g[1], size[1], n, -1, i < 3 && j < 3 ? j : 3, p[1]);
  const double gap = dot(n, p[1]) - dot(n, p[0]);
  if (!(gap > out->gap)) return;
  out->gap = gap;
  memcpy(out->n, n, sizeof n);
  memcpy(out->x, i < 3 ? p[1] : p[0], sizeof n);
  if (i == 3 || j == 3) return;
  for (int k = 0; k < 3; k++) {
    r[k] = p[1][k] - p[0][k];
    u[0][k] = g[0].R[k][i];
    u[1][k] = g[1].R[k][j];
  }
  const double c = dot(u[0], u[1]), s = (dot(r, u[0]) - dot(r, u[1]) * c) / (1 - c * c);
  for (int k = 0; k < 3; k++) out->x[k] = p[0][k] + s * u[0][k];
}

static void touch_of_boxes(const place g[2], const double (*size)[3], touch *out) {
  out->gap = -INFINITY;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      double d[3];
      if (i == 3 && j == 3) continue;
      const double a[3] = {g[0].R[0][i % 3], g[0].R[1][i % 3], g[0].R[2][i % 3]},
                   b[3] = {g[1].R[0][j % 3], g[1].R[1][j % 3], g[1].R[2][j % 3]};
      kirchhoff_cross(a, b, d);
      try_normal(g, size, j == 3 ? a : i == 3 ? b : d, i, j, out);
    }
}

/* --- states at a contact --- */

typedef struct state {
  place g[2];
  double mu[2][6], Y[2][6], energy;
} state;

/* Finds the state at the time `after` after a row. If `after` is negative, this is before the row, and the motion is
 * reversed. */
static void state_at(const memory_sink *m, size_t row, double after, kirchhoff *k, state *out) {
  const double sign = after < 0 ? -1 : 1;
  double z[2 * KIRCHHOFF_BODY] = {0};
  for (int b = 0; b < 2; b++) {
    const double *pose = memory_field(m, row, "pose") + 7 * b, *q = pose + 3,
                 *Y = memory_field(m, row, "twist") + 6 * b;
    double *g = z + KIRCHHOFF_BODY * b;
    for (int i = 0; i < 3; i++) {
      const int j = (i + 1) % 3, l = (i + 2) % 3;
      g[5 * i] = 1 - 2 * (q[1 + j] * q[1 + j] + q[1 + l] * q[1 + l]);
      g[4 * i + j] = 2 * (q[1 + i] * q[1 + j] - q[0] * q[1 + l]);
      g[4 * j + i] = 2 * (q[1 + i] * q[1 + j] + q[0] * q[1 + l]);
      g[4 * i + 3] = pose[i];
    }
    g[15] = 1;
    for (int i = 0; i < 36; i++) g[16 + i / 6] += sign * k->inertia[b][i / 6][i % 6] * Y[i % 6];
  }
  if (after != 0) solve_reference(kirchhoff_rhs, k, 2 * KIRCHHOFF_BODY, fabs(after), z);
  out->energy = 0;
  for (int b = 0; b < 2; b++) {
    const double *g = z + KIRCHHOFF_BODY * b;
    double I[6][6];
    for (int i = 0; i < 12; i++) *(i % 4 < 3 ? &out->g[b].R[i / 4][i % 4] : &out->g[b].x[i / 4]) = g[i];
    for (int i = 0; i < 6; i++) out->Y[b][i] = out->mu[b][i] = sign * g[16 + i];
    memcpy(I, k->inertia[b], sizeof I);
    kirchhoff_solve(6, I, out->Y[b]);
    for (int i = 0; i < 6; i++) out->energy += out->mu[b][i] * out->Y[b][i] / 2;
  }
}

/* Computes the gradient G of the gap, as wrenches on both bodies in their frames. Returns w = G I^-1 G^T. */
static double gradient(const state *s, const touch *t, const kirchhoff *k, double G[2][6]) {
  double w = 0;
  for (int b = 0; b < 2; b++) {
    double arm[3], world[6], I[6][6], answer[6];
    for (int i = 0; i < 3; i++) {
      arm[i] = t->x[i] - s->g[b].x[i];
      world[3 + i] = b ? t->n[i] : -t->n[i];
    }
    kirchhoff_cross(arm, world + 3, world);
    for (int i = 0; i < 6; i++) {
      G[b][i] = 0;
      for (int j = 0; j < 3; j++) G[b][i] += s->g[b].R[j][i % 3] * world[i / 3 * 3 + j];
    }
    memcpy(I, k->inertia[b], sizeof I);
    memcpy(answer, G[b], sizeof answer);
    kirchhoff_solve(6, I, answer);
    for (int i = 0; i < 6; i++) w += G[b][i] * answer[i];
  }
  return w;
}

typedef struct errors {
  double gap, pose, impulse, jump, energy;
  int contacts, left_out;
} errors;

/* Compares a contact between two rows with the equations at the head of this file. e: restitution. */
static void compare(const memory_sink *m, size_t row, const cb_event_row *contact, double e, kirchhoff *k,
                    find_touch *find, const double (*size)[3], errors *out) {
  state s[2];
  touch t;
  double G[2][6], rate = 0;
  for (int i = 0; i < 2; i++)
    state_at(m, row + (size_t)i, contact->time - *memory_field(m, row + (size_t)i, "time"), k, &s[i]);
  find(s[0].g, size, &t);
  const double w = gradient(&s[0], &t, k, G);
  for (int i = 0; i < 12; i++) rate += G[i / 6][i % 6] * s[0].Y[i / 6][i % 6];
  const double J = -(1 + e) * rate / w, loss = (1 - e * e) * rate * rate / (2 * w);
  out->gap = fmax(out->gap, fabs(t.gap));
  out->impulse = fmax(out->impulse, fabs(contact->impulse / J - 1));
  out->energy = fmax(out->energy, fabs(s[1].energy - s[0].energy + loss) / s[0].energy);
  for (int i = 0; i < 12; i++)
    out->jump = fmax(out->jump, fabs(s[1].mu[i / 6][i % 6] - s[0].mu[i / 6][i % 6] - J * G[i / 6][i % 6]) / J);
  for (int b = 0; b < 2; b++)
    for (int i = 0; i < 12; i++) out->pose = fmax(out->pose, fabs((&s[1].g[b].R[0][0])[i] - (&s[0].g[b].R[0][0])[i]));
  out->contacts++;
}

/* --- random pairs --- */

/* Computes the added mass of an ellipsoid with the half axes h = (a, b, c) and the volume V, for translations and
 * rotations (Lamb, Hydrodynamics (1932), articles 114 and 115):
 *   a_i = a b c int_0^inf dl/((h_i^2 + l) sqrt((a^2 + l)(b^2 + l)(c^2 + l))),
 *   V a_i/(2 - a_i),   V/5 (h_j^2 - h_k^2)^2 (a_k - a_j)/(2 (h_j^2 - h_k^2) + (h_j^2 + h_k^2) (a_j - a_k)) */
static void added_mass_of_ellipsoid(const double h[3], double K[6]) {
  double a[3] = {0, 0, 0};
  const double all = h[0] * h[1] * h[2], volume = 4 * M_PI / 3 * all, du = .1;
  for (int n = -800; n <= 800; n++) { /* l = exp(u): the trapezoidal rule converges exponentially */
    const double l = exp(n * du), root = sqrt((h[0] * h[0] + l) * (h[1] * h[1] + l) * (h[2] * h[2] + l));
    for (int i = 0; i < 3; i++) a[i] += all * du * l / ((h[i] * h[i] + l) * root);
  }
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double d = h[j] * h[j] - h[k] * h[k], s = h[j] * h[j] + h[k] * h[k];
    K[i] = volume / 5 * d * d * (a[k] - a[j]) / (2 * d + s * (a[j] - a[k]));
    K[3 + i] = volume * a[i] / (2 - a[i]);
  }
}

typedef struct kind {
  const char *shape; /* a format of printf for the shape, with three sizes */
  const char *model; /* text of the fluid model of both bodies */
  find_touch *find;
  void (*fluid)(const double size[3],
                double K[6]);  /* computes the diagonal of the added mass; NULL: it is read from the record */
  double factor[3], low, high; /* factor: sizes in the scenario divided by those in `size`; low, high: range of sizes */
  double restitution;          /* restitution of every second pair; the other pairs have the restitution 1 */
} kind;

/* Writes a scenario of two bodies with random sizes, inertias, attitudes and spins. The second body moves towards the
 * first one. */
static void write_pair(uint64_t *seed, const kind *of, double e, double size[2][3], double inertia[2][6], char *text,
                       size_t room) {
  double axis[2][3], spin[2][3], u[3], v[3], far = 0;
  char *at = text, *end = text + room;
  at += snprintf(at, (size_t)(end - at),
                 "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0], model: %s}\n"
                 "contacts: {shapes: true, restitution: %.17g}\nbodies:\n",
                 of->model, e);
  for (int b = 0; b < 2; b++) {
    check_direction(seed, 3, axis[b]);
    check_direction(seed, 3, spin[b]);
    for (int i = 0; i < 3; i++) {
      size[b][i] = check_uniform(seed, of->low, of->high);
      far += size[b][i];
    }
  }
  check_direction(seed, 3, u);
  check_direction(seed, 3, v);
  for (int b = 0; b < 2; b++) {
    const double mass = check_uniform(seed, .1, .6), fast = check_uniform(seed, .3, 2);
    for (int i = 0; i < 6; i++) inertia[b][i] = i < 3 ? .04 * mass * check_uniform(seed, .8, 1) : mass;
    at += snprintf(at, (size_t)(end - at), "  - {name: %c, drag: false, shape: ", b ? 'b' : 'a');
    at += snprintf(at, (size_t)(end - at), of->shape, of->factor[0] * size[b][0], of->factor[1] * size[b][1],
                   of->factor[2] * size[b][2]);
    at += snprintf(at, (size_t)(end - at),
                   ", inertial: {mass: %.17g, inertia: [%.17g, %.17g, %.17g]},\n"
                   "     place: {position: [%.17g, %.17g, %.17g], rotation: {axis: [%.17g, %.17g, %.17g], angle: "
                   "%.17g}},\n     motion: {velocity: [%.17g, %.17g, %.17g], spin: [%.17g, %.17g, %.17g]}}\n",
                   mass, inertia[b][0], inertia[b][1], inertia[b][2], b * far * u[0], b * far * u[1], b * far * u[2],
                   axis[b][0], axis[b][1], axis[b][2], check_uniform(seed, 0, 3), b * (.2 * v[0] - u[0]),
                   b * (.2 * v[1] - u[1]), b * (.2 * v[2] - u[2]), fast * spin[b][0], fast * spin[b][1],
                   fast * spin[b][2]);
  }
  snprintf(at, (size_t)(end - at),
           "integrator: {name: hamilton_pontryagin, order: 4, step: 0.0025}\ntime: {end: 3}\n"
           "record: {observables: [inertia]}\n");
}

/* Returns the number of contacts between two rows; *at becomes the index of the first one. */
static int contacts_between(const memory_sink *m, size_t row, size_t *at) {
  const double from = *memory_field(m, row, "time"), to = *memory_field(m, row + 1, "time");
  int n = 0;
  for (size_t i = 0; i < m->n_events; i++)
    if (m->event[i].kind == CB_EVENT_REFLECT && m->event[i].time > from && m->event[i].time <= to && n++ == 0) *at = i;
  return n;
}

/* Checks the contacts of random pairs. A pair is checked only up to its first step with two contacts, because contacts
 * with a restitution below 1 can accumulate. */
static void check_pairs(const char *what, const kind *of, int pairs, int least) {
  uint64_t seed = check_seed();
  errors most = {0};
  for (int i = 0; i < pairs; i++) {
    const double e = i % 2 ? of->restitution : 1;
    char text[4096];
    double size[2][3], own[2][6];
    memory_sink m;
    kirchhoff k = {.bodies = 2};
    write_pair(&seed, of, e, size, own, text, sizeof text);
    cb_scenario *s;
    check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
    cb_sink sink = memory_open(&m, cb_scenario_run(s));
    const cb_status status = cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL);
    if (e == 1 || status != CB_ERROR_CONTACT_ACCUMULATION) check_ok(status);
    for (int b = 0; b < 2; b++) {
      double fluid[6];
      memcpy(k.inertia[b], memory_field(&m, 0, "inertia") + 36 * b, sizeof k.inertia[b]);
      if (!of->fluid) continue;
      of->fluid(size[b], fluid);
      memset(k.inertia[b], 0, sizeof k.inertia[b]);
      for (int a = 0; a < 6; a++) k.inertia[b][a][a] = own[b][a] + fluid[a];
    }
    int n = 0;
    for (size_t row = 0, at = 0; row + 1 < m.n_rows && n < 2; row++) {
      n = contacts_between(&m, row, &at);
      if (n == 1) compare(&m, row, &m.event[at], e, &k, of->find, (const double(*)[3])size, &most);
    }
    most.left_out += n > 1;
    memory_free(&m);
    cb_scenario_free(s);
  }
  print_message("%s: %d contacts, %d left out; gap %.2g, impulse %.2g, jump %.2g, energy %.2g, pose %.2g\n", what,
                most.contacts, most.left_out, most.gap, most.impulse, most.jump, most.energy, most.pose);
  check_at_least(most.contacts, least);
  check_at_most(most.left_out, pairs / 4);
  check_at_most(most.gap, 1e-11);    /* tolerance: the error of the step, of order 4 */
  check_at_most(most.pose, 5e-11);   /* the error of the step times spins, which exceed 2/s after a contact */
  check_at_most(most.impulse, 1e-9); /* the error of the pose, divided by sizes and velocities */
  check_at_most(most.jump, 1e-9);    /* tolerance: the error of the impulse */
  check_at_most(most.energy, 1e-12); /* the step conserves the energy more accurately than poses */
}

/* --- the tests --- */

static void ellipsoids_reflect_in_the_metric_of_body_and_fluid(void **unused) {
  (void)unused;
  static const kind of = {
      .shape =
          "{name: ellipsoid, a: %1$.17g, b: %2$.17g, c: %3$.17g, resolution: 8},\n"
          "     model: {name: ellipsoid, geoms: [{type: ellipsoid, size: [%1$.17g, %2$.17g, %3$.17g]}]}",
      .model = "ellipsoid",
      .find = touch_of_ellipsoids,
      .fluid = added_mass_of_ellipsoid,
      .factor = {1, 1, 1},
      .low = .15,
      .high = .5,
      .restitution = .5};
  check_pairs("ellipsoids", &of, 24, 15);
}

static void capsules_reflect_in_the_metric_of_body_and_fluid(void **unused) {
  (void)unused;
  static const kind of = {.shape = "{name: capsule, radius: %1$.17g, length: %2$.17g, resolution: 8}",
                          .model = "local, added_mass: {name: exact, refine: false}",
                          .find = touch_of_capsules,
                          .factor = {1, 2, 1},
                          .low = .15,
                          .high = .4,
                          .restitution = .5};
  check_pairs("capsules", &of, 12, 10);
}

static void boxes_reflect_in_the_metric_of_body_and_fluid(void **unused) {
  (void)unused;
  static const kind of = {.shape = "{name: box, a: %1$.17g, b: %2$.17g, c: %3$.17g}",
                          .model = "local, added_mass: {name: exact, refine: false}",
                          .find = touch_of_boxes,
                          .factor = {2, 2, 2},
                          .low = .1,
                          .high = .4,
                          .restitution = 1};
  check_pairs("boxes", &of, 20, 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ellipsoids_reflect_in_the_metric_of_body_and_fluid),
                                     cmocka_unit_test(capsules_reflect_in_the_metric_of_body_and_fluid),
                                     cmocka_unit_test(boxes_reflect_in_the_metric_of_body_and_fluid)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
