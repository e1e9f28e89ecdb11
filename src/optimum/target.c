/* The conditions on the holonomy of a gait, as functions of the numbers of an element (target.h), and whether any gait
 * can meet them (find.h). */
#include "optimum/target.h"

#include "numerics/tableau.h"
#include "numerics/small.h"
#include "optimum/find.h"
#include <curvebody/holonomy.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool named(const cb_group *G, const char *name) { return !strcmp(G->name, name); }
static bool translations(const cb_group *G) { return G->abelian && !named(G, "so2"); }

static cb_jet length(const cb_jet *x, int n) {
  cb_jet sum = cb_jet_mul(&x[0], &x[0]);
  for (int i = 1; i < n; i++) {
    const cb_jet square = cb_jet_mul(&x[i], &x[i]);
    sum = cb_jet_add(&sum, &square);
  }
  return cb_jet_sqrt(&sum);
}

/* Returns the angle in (0, 2 pi) of the rotation by a unit quaternion q; it is smooth at pi. q and -q are the same
 * rotation, but their angles differ; the angle that is closer to `near` is returned. */
static cb_jet rotation_angle(const cb_jet *q, double near) {
  const cb_jet sine = length(q + 1, 3);
  cb_jet angle = cb_jet_atan2(&sine, &q[0]);
  angle = cb_jet_scale(&angle, 2);
  if (fabs(2 * M_PI - angle.v - near) >= fabs(angle.v - near)) return angle;
  angle = cb_jet_scale(&angle, -1);
  return cb_jet_shift(&angle, 2 * M_PI);
}

int cb_gait_target_count(const cb_group *G, const cb_gait_target *t) {
  int count = 0;
  switch (t->kind) {
    case CB_GAIT_MOVE: return named(G, "se2") ? 2 : named(G, "se3") ? 4 : 1;
    case CB_GAIT_TURN: return 1;
    case CB_GAIT_ELEMENT: return G->dim;
    case CB_GAIT_PARTS:
      for (int k = 0; k < G->size; k++) count += t->asked[k];
      return count;
  }
  return 0;
}

/* Returns the index of the prescribed number that is not 0. Returns -1 if all prescribed numbers are 0, or if more than
 * one is not 0. */
static int only_part(const cb_group *G, const cb_gait_target *t) {
  int only = -1;
  for (int k = 0; k < G->size; k++) {
    if (!t->asked[k] || t->element[k] == 0) continue;
    if (only >= 0) return -1;
    only = k;
  }
  return only;
}

int cb_gait_target_amount(const cb_group *G, const cb_gait_target *t) {
  const int only = t->kind == CB_GAIT_PARTS ? only_part(G, t) : -1;
  int row = 0;
  switch (t->kind) {
    case CB_GAIT_MOVE:
    case CB_GAIT_TURN: return 0;
    case CB_GAIT_ELEMENT: return translations(G) && G->dim == 1 ? 0 : -1;
    case CB_GAIT_PARTS:
      for (int k = 0; k < only; k++) row += t->asked[k];
      return only < 0 ? -1 : row;
  }
  return -1;
}

double cb_gait_target_get(const cb_group *G, const cb_gait_target *t) {
  const int part = t->kind == CB_GAIT_ELEMENT ? 0 : only_part(G, t);
  if (cb_gait_target_amount(G, t) < 0) return NAN;
  return t->kind == CB_GAIT_MOVE || t->kind == CB_GAIT_TURN ? t->value : t->element[part];
}

void cb_gait_target_set(const cb_group *G, cb_gait_target *t, double amount) {
  const int part = t->kind == CB_GAIT_PARTS ? only_part(G, t) : 0;
  if (t->kind == CB_GAIT_MOVE || t->kind == CB_GAIT_TURN)
    t->value = amount;
  else if (part >= 0)
    t->element[part] = amount;
}

/* Computes the conditions c of a target `move: way` as functions of the numbers g of a group element. `turned` computes
 * those of a target `turn: angle`. */
static void moved(const cb_group *G, double way, const cb_jet *g, cb_jet *c) {
  const bool plane = named(G, "se2"), space = named(G, "se3");
  const cb_jet far = plane ? length(g, 2) : space ? length(g + 4, 3) : G->size == 1 ? g[0] : length(g, G->size);
  c[0] = cb_jet_shift(&far, -way);
  if (plane) c[1] = g[2];
  for (int i = 1; space && i < 4; i++) c[i] = g[i];
}

static void turned(const cb_group *G, double angle, const cb_jet *g, cb_jet *c) {
  const cb_jet turn = named(G, "se2") ? g[2] : named(G, "so2") ? g[0] : rotation_angle(g, angle);
  c[0] = cb_jet_shift(&turn, -angle);
}

static cb_status from_element(const cb_group *G, const double *e, const double *g, double *c) {
  double off[CB_GROUP_SIZE];
  G->inverse(G, e, off);
  G->multiply(G, g, off, off);
  return G->log(G, off, c);
}

/* Computes the group element out = exp(y) g. y has only the components y_a = ya and y_b = yb; for a = b, y_a = ya +
 * yb. */
static void displaced(const cb_group *G, const double *g, int a, double ya, int b, double yb, double *out) {
  double y[CB_GROUP_DIM] = {0};
  y[a] += ya;
  y[b] += yb;
  G->exp(G, y, out);
  G->multiply(G, out, g, out);
}

/* Computes V[dim][size], the derivatives of the numbers of exp(y) g by y at y = 0. They are central differences of
 * order 8 in steps of 1/64, which are exact to about 1e-14. */
static void slopes(const cb_group *G, const double *g, double *V) {
  const double h = 1. / 64;
  memset(V, 0, (size_t)(G->dim * G->size) * sizeof *V);
  for (int a = 0; a < G->dim; a++)
    for (int s = 1; s <= 4; s++) {
      double plus[CB_GROUP_SIZE], minus[CB_GROUP_SIZE];
      displaced(G, g, a, s * h, a, 0, plus);
      displaced(G, g, a, -s * h, a, 0, minus);
      for (int i = 0; i < G->size; i++) V[a * G->size + i] += cb_central_weight[s - 1] * (plus[i] - minus[i]) / h;
    }
}

/* Computes VV[size], the second derivatives of the numbers of exp(y) g by y_a and y_b at y = 0, by mixed differences of
 * order 4. Their errors of about 1e-7 are small enough for Newton's steps and for the signs of eigenvalues. */
static void second_terms(const cb_group *G, const double *g, int a, int b, double *VV) {
  const double h = 1. / 64;
  memset(VV, 0, (size_t)G->size * sizeof *VV);
  for (int scale = 1; scale <= 2; scale++)
    for (int s = 0; s < 4; s++) {
      const double sign = s == 0 || s == 3 ? 1 : -1, share = scale == 1 ? 4. / 3 : -1. / 12;
      double x[CB_GROUP_SIZE];
      displaced(G, g, a, (s & 1 ? -1 : 1) * scale * h, b, (s & 2 ? -1 : 1) * scale * h, x);
      for (int i = 0; i < G->size; i++) VV[i] += share * sign * x[i] / (4 * h * h);
    }
}

static double along(int size, const cb_jet *c, const double *u, const double *v) {
  double sum = 0;
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) sum += c->h[cb_jet_packed(i, j)] * u[i] * v[j];
  return sum;
}

/* Computes the derivatives first and second (target.h) of conditions c[count], which are jets in the numbers of g. */
static void derivatives(const cb_group *G, const double *g, int count, const cb_jet *c, double *first, double *second) {
  const int dim = G->dim, size = G->size;
  double V[CB_GROUP_DIM * CB_GROUP_SIZE], VV[CB_GROUP_SIZE];
  slopes(G, g, V);
  for (int k = 0; first && k < count; k++)
    for (int a = 0; a < dim; a++) first[k * dim + a] = cb_dot(size, c[k].g, V + a * size);
  for (int a = 0; second && a < dim; a++)
    for (int b = 0; b <= a; b++) {
      second_terms(G, g, a, b, VV);
      for (int k = 0; k < count; k++)
        second[(k * dim + a) * dim + b] = second[(k * dim + b) * dim + a] =
            along(size, &c[k], V + a * size, V + b * size) + cb_dot(size, c[k].g, VV);
    }
}

/* Computes conditions on single numbers of g, and their derivatives. Jets are not used, because g may have more numbers
 * than a jet has variables. */
static void parts(const cb_group *G, const cb_gait_target *t, const double *g, double *c, double *first,
                  double *second) {
  const int dim = G->dim, size = G->size;
  double V[CB_GROUP_DIM * CB_GROUP_SIZE], VV[CB_GROUP_SIZE];
  if (first) slopes(G, g, V);
  for (int i = 0, k = 0; i < size; i++) {
    if (!t->asked[i]) continue;
    c[k] = g[i] - t->element[i];
    for (int a = 0; first && a < dim; a++) first[k * dim + a] = V[a * size + i];
    k++;
  }
  for (int a = 0; second && a < dim; a++)
    for (int b = 0; b <= a; b++) {
      second_terms(G, g, a, b, VV);
      for (int i = 0, k = 0; i < size; i++)
        if (t->asked[i]) {
          second[(k * dim + a) * dim + b] = second[(k * dim + b) * dim + a] = VV[i];
          k++;
        }
    }
}

cb_status cb_gait_target_at(const cb_group *G, const cb_gait_target *t, const double *g, double *c, double *first,
                            double *second) {
  const int count = cb_gait_target_count(G, t), dim = G->dim;
  if (t->kind == CB_GAIT_ELEMENT) {
    for (int i = 0; first && i < dim * dim; i++) first[i] = i % (dim + 1) == 0;
    if (second) memset(second, 0, (size_t)(count * dim * dim) * sizeof *second);
    return from_element(G, t->element, g, c);
  }
  if (t->kind == CB_GAIT_PARTS) {
    parts(G, t, g, c, first, second);
    return CB_OK;
  }
  if (G->size > CB_JET_MAX)
    return cb_fail(CB_ERROR_UNSUPPORTED, "group %s has no %s: expected another kind of target, `element` or `parts`",
                   G->name, t->kind == CB_GAIT_MOVE ? "distance" : "angle");
  cb_jet number[CB_JET_MAX], value[CB_CONDITIONS_MAX];
  for (int i = 0; i < G->size; i++) number[i] = cb_jet_variable(G->size, i, g[i]);
  if (t->kind == CB_GAIT_MOVE)
    moved(G, t->value, number, value);
  else
    turned(G, t->value, number, value);
  for (int k = 0; k < count; k++) c[k] = value[k].v;
  if (first || second) derivatives(G, g, count, value, first, second);
  return CB_OK;
}

/* --- the algebra of holonomies, and whether a target is within it --- */

enum { SHAPES = 24, PAIRS = CB_SHAPE_MAX * (CB_SHAPE_MAX - 1) / 2 };

/* zero: a part of the curvature counts as 0 if it is below this, relative to the size of the connection and its
 * derivatives. This number is larger than the errors of derivatives by differences. carried_to: the tolerance of the
 * parallel transport. */
static const double zero = 1e-8, carried_to = 1e-10;

/* Replaces v[n] by its part at right angles to the orthonormal vectors h[dim][n], and returns the length of that
 * part. */
static double outside(int n, int dim, const double *h, double *v) {
  for (int twice = 0; twice < 2; twice++)
    for (int k = 0; k < dim; k++) {
      const double share = cb_dot(n, v, h + k * n);
      for (int a = 0; a < n; a++) v[a] -= share * h[k * n + a];
    }
  return sqrt(cb_dot(n, v, v));
}

static void widen(int n, double floor, const double *v, int *dim, double *h) {
  double w[CB_GROUP_DIM] = {0};
  memcpy(w, v, (size_t)n * sizeof *w);
  const double size = *dim < n ? outside(n, *dim, h, w) : 0;
  if (!(size > floor)) return;
  for (int a = 0; a < n; a++) h[*dim * n + a] = w[a] / size;
  (*dim)++;
}

/* Computes the curvatures at the shape r and their covariant derivatives, transports them by Ad_g, and adds them to the
 * span of the vectors h. v is work memory. */
static cb_status gather(const cb_bundle *b, const double *r, const double *g, double *v, int *dim, double *h) {
  const cb_group *G = b->group;
  const int n = b->n, d = G->dim, count = (n + 1) * n * (n - 1) / 2;
  double Ad[CB_GROUP_DIM * CB_GROUP_DIM], A[CB_GROUP_DIM * CB_SHAPE_MAX], carried[CB_GROUP_DIM] = {0};
  double *dA = v + count * d;
  cb_status status = cb_bundle_connection(b, r, A, dA, NULL, NULL);
  if (!status) status = cb_bundle_curvatures(b, r, v);
  if (!status) status = cb_bundle_covariant(b, r, v + n * (n - 1) / 2 * d);
  if (status) return status;
  const double floor = zero * (cb_dot(d * n, A, A) + sqrt(cb_dot(n * d * n, dA, dA)) + 1e-300);
  G->adjoint(G, g, Ad);
  for (int k = 0; k < count; k++) {
    for (int a = 0; a < d; a++) carried[a] = cb_dot(d, Ad + a * d, v + k * d);
    widen(d, floor, carried, dim, h);
  }
  return CB_OK;
}

cb_status cb_holonomy_algebra(const cb_bundle *b, const cb_gait *gait, int *dim, double *h) {
  const cb_group *G = b->group;
  const size_t n = (size_t)b->n, d = (size_t)G->dim;
  double time[SHAPES], g[SHAPES * CB_GROUP_SIZE], r[CB_SHAPE_MAX];
  double *v = malloc(((n + 1) * n * (n - 1) / 2 + n * n) * d * sizeof *v);
  *dim = 0;
  if (!v) return cb_fail(CB_ERROR_MEMORY, "no memory for an algebra of holonomies");
  for (int k = 0; k < SHAPES; k++) time[k] = (double)k / SHAPES;
  cb_status status = CB_OK;
  G->identity(G, g);
  for (int k = 0; !status && *dim < G->dim && k < SHAPES; k++) {
    if (k == 1) status = cb_reconstruct(b, gait, carried_to, SHAPES, time, g);
    if (status) break;
    cb_gait_at(gait, time[k], r, NULL);
    status = gather(b, r, g + k * G->size, v, dim, h);
  }
  free(v);
  return status;
}

/* --- targets --- */

/* Writes a vector v of the algebra as a sum over its axes, such as "x - 0.2 theta". The vector is scaled so that its
 * largest component is 1, and components that are round-off are left out. */
static void name(const cb_group *G, const double *v, char *text, size_t capacity) {
  double maximum = 0;
  size_t used = 0;
  for (int a = 0; a < G->dim; a++) maximum = fabs(v[a]) > fabs(maximum) ? v[a] : maximum;
  for (int a = 0; a < G->dim && used < capacity; a++) {
    const double share = v[a] / maximum;
    if (fabs(share) < 1e-7) continue;
    const char *sign = share < 0 ? used ? " - " : "-" : used ? " + " : "";
    char factor[24] = "";
    if (fabs(fabs(share) - 1) > 1e-7) snprintf(factor, sizeof factor, "%.3g ", fabs(share));
    used += (size_t)snprintf(text + used, capacity - used, "%s%s%s", sign, factor, G->axis[a]);
  }
}

static cb_status only(const cb_group *G, int dim, const double *h, const char *wanted) {
  char text[400] = "", one[120];
  size_t used = 0;
  for (int k = 0; k < dim && used < sizeof text; k++) {
    name(G, h + k * G->dim, one, sizeof one);
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? ", " : "", one);
  }
  return cb_fail(
      CB_STEP_NO_CONVERGENCE,
      "no gait can reach the target: %s is outside the span of the curvature and its derivatives, which is %s", wanted,
      text);
}

/* Returns true if axis a of the algebra of se2, se3, so2 or so3 is a rotation; false for every other group. */
static bool turns(const cb_group *G, int a) {
  if (!strcmp(G->name, "se2")) return a == 2;
  if (!strcmp(G->name, "se3")) return a < 3;
  return !strcmp(G->name, "so2") || !strcmp(G->name, "so3");
}

/* Returns the largest length of the rotational parts of the vectors h[dim][group->dim]. *shifts becomes true if the
 * span of h has elements without rotation. */
static double turning(const cb_group *G, int dim, const double *h, bool *shifts) {
  double turn[CB_GROUP_DIM * CB_GROUP_DIM], maximum = 0;
  int rank = 0;
  for (int k = 0; k < dim; k++) {
    double v[CB_GROUP_DIM] = {0}, size = 0;
    for (int a = 0; a < G->dim; a++) {
      v[a] = turns(G, a) ? h[k * G->dim + a] : 0;
      size += v[a] * v[a];
    }
    maximum = fmax(maximum, sqrt(size));
    widen(G->dim, 1e-7, v, &rank, turn);
  }
  *shifts = rank < dim;
  return maximum;
}

static cb_status element(const cb_optimum_problem *p, int dim, const double *h) {
  const cb_group *G = p->bundle->group;
  double y[CB_GROUP_DIM], size;
  char text[120];
  if (G->log(G, p->target.element, y)) return CB_OK;
  size = sqrt(cb_dot(G->dim, y, y));
  name(G, y, text, sizeof text);
  if (!(outside(G->dim, dim, h, y) > 1e-7 * size)) return CB_OK;
  return only(G, dim, h, text);
}

cb_status cb_target_reachable(const cb_optimum_problem *p, const cb_gait *gait) {
  const cb_group *G = p->bundle->group;
  double h[CB_GROUP_DIM * CB_GROUP_DIM], e[CB_GROUP_SIZE], c[CB_CONDITIONS_MAX];
  int dim;
  bool shifts, idle = true;
  if (p->bundle->n < 2)
    return cb_fail(CB_STEP_NO_CONVERGENCE,
                   "no gait can reach the target: with one shape variable every cycle has zero holonomy");
  cb_status status = cb_holonomy_algebra(p->bundle, gait, &dim, h);
  if (status) return status == CB_ERROR_MEMORY ? status : CB_OK;
  G->identity(G, e);
  status = cb_gait_target_at(G, &p->target, e, c, NULL, NULL);
  for (int k = 0; !status && k < cb_gait_target_count(G, &p->target); k++) idle = idle && fabs(c[k]) < 1e-12;
  if (status || idle) return CB_OK;
  if (!dim)
    return cb_fail(CB_STEP_NO_CONVERGENCE,
                   "no gait can reach the target: the curvature is zero, so every cycle has zero holonomy");
  const double maximum = turning(G, dim, h, &shifts);
  switch (p->target.kind) {
    case CB_GAIT_ELEMENT: return element(p, dim, h);
    case CB_GAIT_MOVE: return shifts || G->abelian ? CB_OK : only(G, dim, h, "a move without a turn");
    case CB_GAIT_TURN: return maximum > 1e-7 ? CB_OK : only(G, dim, h, "a turn");
    case CB_GAIT_PARTS: return CB_OK;
  }
  return CB_OK;
}
