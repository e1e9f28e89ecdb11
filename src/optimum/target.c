/* Conditions on the holonomy of a gait, as functions of the numbers of an element. */
#include "optimum/target.h"

#include "core/failure.h"

#include <math.h>
#include <string.h>

static bool named(const cb_group *G, const char *name) { return !strcmp(G->name, name); }
static bool translations(const cb_group *G) { return G->abelian && !named(G, "so2"); }

static double length(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

/* In (0, 2 pi), smooth at a half turn; q and -q are one rotation. */
static double rotation_angle(const double *q, double near) {
  const double angle = 2 * atan2(length(q + 1, 3), q[0]);
  return fabs(2 * M_PI - angle - near) < fabs(angle - near) ? 2 * M_PI - angle : angle;
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

static void moved(const cb_group *G, double way, const double *g, double *c) {
  if (named(G, "se2")) {
    c[0] = length(g, 2) - way;
    c[1] = g[2];
  } else if (named(G, "se3")) {
    c[0] = length(g + 4, 3) - way;
    memcpy(c + 1, g + 1, 3 * sizeof *c);
  } else {
    c[0] = (G->size == 1 ? g[0] : length(g, G->size)) - way;
  }
}

static void turned(const cb_group *G, double angle, const double *g, double *c) {
  if (named(G, "se2") || named(G, "so2"))
    c[0] = g[named(G, "se2") ? 2 : 0] - angle;
  else
    c[0] = rotation_angle(g, angle) - angle;
}

static cb_status from_element(const cb_group *G, const double *e, const double *g, double *c) {
  double off[CB_GROUP_SIZE];
  G->inverse(G, e, off);
  G->multiply(G, g, off, off);
  return G->log(G, off, c);
}

/* The conditions' values alone. */
static cb_status values(const cb_group *G, const cb_gait_target *t, const double *g, double *c) {
  switch (t->kind) {
    case CB_GAIT_MOVE: moved(G, t->value, g, c); break;
    case CB_GAIT_TURN: turned(G, t->value, g, c); break;
    case CB_GAIT_ELEMENT: return from_element(G, t->element, g, c);
    case CB_GAIT_PARTS:
      for (int k = 0; k < G->size; k++)
        if (t->asked[k]) *c++ = g[k] - t->element[k];
  }
  return CB_OK;
}

/* c(exp(y) g) */
static cb_status displaced(const cb_group *G, const cb_gait_target *t, const double *g, const double *y, double *c) {
  double h[CB_GROUP_SIZE];
  G->exp(G, y, h);
  G->multiply(G, h, g, h);
  return values(G, t, h, c);
}

static cb_status slopes(const cb_group *G, const cb_gait_target *t, const double *g, int count, double *first) {
  static const double weight[4] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
  const double h = 1. / 64;
  for (int a = 0; a < G->dim; a++) {
    for (int k = 0; k < count; k++) first[k * G->dim + a] = 0;
    for (int s = 1; s <= 4; s++) {
      double y[CB_GROUP_DIM] = {0}, plus[CB_CONDITIONS_MAX], minus[CB_CONDITIONS_MAX];
      y[a] = s * h;
      cb_status status = displaced(G, t, g, y, plus);
      y[a] = -s * h;
      if (!status) status = displaced(G, t, g, y, minus);
      if (status) return status;
      for (int k = 0; k < count; k++) first[k * G->dim + a] += weight[s - 1] * (plus[k] - minus[k]) / h;
    }
  }
  return CB_OK;
}

/* By the mixed difference of order 4 with Richardson's extrapolation: these steer Newton's method only. */
static cb_status bends(const cb_group *G, const cb_gait_target *t, const double *g, int count, double *second) {
  const double h = 1. / 64;
  const int dim = G->dim;
  memset(second, 0, (size_t)(count * dim * dim) * sizeof *second);
  for (int a = 0; a < dim; a++)
    for (int b = 0; b <= a; b++)
      for (int scale = 1; scale <= 2; scale++)
        for (int s = 0; s < 4; s++) {
          double y[CB_GROUP_DIM] = {0}, c[CB_CONDITIONS_MAX];
          const double sign = s == 0 || s == 3 ? 1 : -1, share = scale == 1 ? 4. / 3 : -1. / 12;
          y[a] += (s & 1 ? -1 : 1) * scale * h;
          y[b] += (s & 2 ? -1 : 1) * scale * h;
          const cb_status status = displaced(G, t, g, y, c);
          if (status) return status;
          for (int k = 0; k < count; k++) second[(k * dim + a) * dim + b] += share * sign * c[k] / (4 * h * h);
        }
  for (int k = 0; k < count; k++)
    for (int a = 0; a < dim; a++)
      for (int b = 0; b < a; b++) second[(k * dim + b) * dim + a] = second[(k * dim + a) * dim + b];
  return CB_OK;
}

cb_status cb_gait_target_at(const cb_group *G, const cb_gait_target *t, const double *g, double *c, double *first,
                            double *second) {
  const int count = cb_gait_target_count(G, t), dim = G->dim;
  cb_status status = values(G, t, g, c);
  if (t->kind == CB_GAIT_ELEMENT) {
    for (int i = 0; first && i < dim * dim; i++) first[i] = i % (dim + 1) == 0;
    if (second) memset(second, 0, (size_t)(count * dim * dim) * sizeof *second);
    return status;
  }
  if (!status && first) status = slopes(G, t, g, count, first);
  if (!status && second) status = bends(G, t, g, count, second);
  return status;
}
