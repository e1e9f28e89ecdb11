/* Conditions on the holonomy of a gait, as functions of the numbers of an element. */
#include "optimum/target.h"

#include "numerics/small.h"
#include "numerics/differences.h"

#include <math.h>
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

/* In (0, 2 pi), smooth at a half turn; q and -q are one rotation: that which is nearer is taken. */
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

/* The only number asked of parts that is not 0, as a number of the element; -1. */
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

/* move and turn as functions of the numbers of an element. */
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

/* Numbers of exp(y) g. */
static void displaced(const cb_group *G, const double *g, int a, double ya, int b, double yb, double *out) {
  double y[CB_GROUP_DIM] = {0};
  y[a] += ya, y[b] += yb;
  G->exp(G, y, out);
  G->multiply(G, out, g, out);
}

/* V[dim][size] = d numbers/dy, by central differences of order 8 in steps of 1/64: exact to about 1e-14. */
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

/* VV[size] = d^2 numbers/dy_a dy_b, by mixed differences of order 4: they steer Newton's method only. */
static void bends(const cb_group *G, const double *g, int a, int b, double *VV) {
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

/* Of conditions c[count] that are jets in the numbers of g. */
static void derivatives(const cb_group *G, const double *g, int count, const cb_jet *c, double *first, double *second) {
  const int dim = G->dim, size = G->size;
  double V[CB_GROUP_DIM * CB_GROUP_SIZE], VV[CB_GROUP_SIZE];
  slopes(G, g, V);
  for (int k = 0; first && k < count; k++)
    for (int a = 0; a < dim; a++) first[k * dim + a] = cb_dot(size, c[k].g, V + a * size);
  for (int a = 0; second && a < dim; a++)
    for (int b = 0; b <= a; b++) {
      bends(G, g, a, b, VV);
      for (int k = 0; k < count; k++)
        second[(k * dim + a) * dim + b] = second[(k * dim + b) * dim + a] =
            along(size, &c[k], V + a * size, V + b * size) + cb_dot(size, c[k].g, VV);
    }
}

/* Of single numbers of g, of which there may be more than variables of a jet. */
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
      bends(G, g, a, b, VV);
      for (int i = 0, k = 0; i < size; i++)
        if (t->asked[i]) second[(k * dim + a) * dim + b] = second[(k * dim + b) * dim + a] = VV[i], k++;
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
  if (t->kind == CB_GAIT_PARTS) return parts(G, t, g, c, first, second), CB_OK;
  if (G->size > CB_JET_MAX)
    return cb_fail(CB_ERROR_UNSUPPORTED, "group %s has no %s", G->name, t->kind == CB_GAIT_MOVE ? "distance" : "angle");
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
