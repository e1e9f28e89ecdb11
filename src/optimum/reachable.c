/* The algebra of holonomies, and whether a target is within it. */
#include "optimum/find.h"

#include "numerics/small.h"
#include <curvebody/holonomy.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = 24, PAIRS = CB_SHAPE_MAX * (CB_SHAPE_MAX - 1) / 2 };

/* Beside what A and dA could make of it: above the error of what is carried, and of derivatives by differences. */
static const double zero = 1e-8, carried_to = 1e-10;

/* What of v is outside the span of h[dim][n], in place; its length. */
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

/* B and its derivatives at a shape, carried by g. */
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

/* The axes of a vector, those that are round-off left out: "x - 0.2 theta". */
static void name(const cb_group *G, const double *v, char *text, size_t room) {
  double most = 0;
  size_t used = 0;
  for (int a = 0; a < G->dim; a++) most = fabs(v[a]) > fabs(most) ? v[a] : most;
  for (int a = 0; a < G->dim && used < room; a++) {
    const double share = v[a] / most;
    if (fabs(share) < 1e-7) continue;
    const char *sign = share < 0 ? used ? " - " : "-" : used ? " + " : "";
    char factor[24] = "";
    if (fabs(fabs(share) - 1) > 1e-7) snprintf(factor, sizeof factor, "%.3g ", fabs(share));
    used += (size_t)snprintf(text + used, room - used, "%s%s%s", sign, factor, G->axis[a]);
  }
}

static cb_status only(const cb_group *G, int dim, const double *h, const char *wanted) {
  char text[400] = "", one[120];
  size_t used = 0;
  for (int k = 0; k < dim && used < sizeof text; k++) {
    name(G, h + k * G->dim, one, sizeof one);
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? ", " : "", one);
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "no gait does it: %s is outside what the curvature and its derivatives span, which is %s", wanted,
                 text);
}

/* Which axis of the algebra turns. */
static bool turns(const cb_group *G, int a) {
  if (!strcmp(G->name, "se2")) return a == 2;
  if (!strcmp(G->name, "se3")) return a < 3;
  return !strcmp(G->name, "so2") || !strcmp(G->name, "so3");
}

/* The largest share of h in the axes that turn; and whether something of h does not turn. */
static double turning(const cb_group *G, int dim, const double *h, bool *shifts) {
  double turn[CB_GROUP_DIM * CB_GROUP_DIM], most = 0;
  int rank = 0;
  for (int k = 0; k < dim; k++) {
    double v[CB_GROUP_DIM] = {0}, size = 0;
    for (int a = 0; a < G->dim; a++) v[a] = turns(G, a) ? h[k * G->dim + a] : 0, size += v[a] * v[a];
    most = fmax(most, sqrt(size));
    widen(G->dim, 1e-7, v, &rank, turn);
  }
  *shifts = rank < dim;
  return most;
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
  if (p->bundle->n < 2) return cb_fail(CB_STEP_NO_CONVERGENCE, "no gait does it: one shape variable encloses nothing");
  cb_status status = cb_holonomy_algebra(p->bundle, gait, &dim, h);
  if (status) return status == CB_ERROR_MEMORY ? status : CB_OK;
  G->identity(G, e);
  status = cb_gait_target_at(G, &p->target, e, c, NULL, NULL);
  for (int k = 0; !status && k < cb_gait_target_count(G, &p->target); k++) idle = idle && fabs(c[k]) < 1e-12;
  if (status || idle) return CB_OK;
  if (!dim)
    return cb_fail(CB_STEP_NO_CONVERGENCE, "no gait does it: the curvature is zero, what a gait does is undone");
  const double most = turning(G, dim, h, &shifts);
  switch (p->target.kind) {
    case CB_GAIT_ELEMENT: return element(p, dim, h);
    case CB_GAIT_MOVE: return shifts || G->abelian ? CB_OK : only(G, dim, h, "a move without a turn");
    case CB_GAIT_TURN: return most > 1e-7 ? CB_OK : only(G, dim, h, "a turn");
    case CB_GAIT_PARTS: return CB_OK;
  }
  return CB_OK;
}
