/* First variation y of the holonomy of a gait, for any group: if r changes to r + eps d, g(1) changes to exp(eps y +
 * ...) g(1), with
 *
 *   y = A d(0) - Ad_{g(1)} A d(0) + int sum_{i<j} Ad_g B_ij (r_i' d_j - r_j' d_i) dt,   the first two A: at r(0)
 * r: the gait; d: its change, which is closed; g(t): the path in the group; A, B: connection and curvature
 * (curvebody/bundle.h). The integral uses Gauss's rule with 8 nodes (order 16) on panels. Panels end at breaks of both
 * gaits and of the bundle. The number of panels is doubled until the change of the integral is below the tolerance, or
 * is only round-off of B.
 * Source: Koon & Marsden, SIAM J. Control Optim. 35 (1997) 901, doi:10.1137/S0363012995290367, with the sign of xi = -A
 * r'.
 */
#include "bundle/gait_private.h"
#include "numerics/tableau.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 8, DOUBLINGS = 9, PAIRS_MAX = CB_SHAPE_MAX * (CB_SHAPE_MAX - 1) / 2 };

typedef struct integral {
  const cb_bundle *b;
  const cb_gait *gait, *change;
  double error;
  cb_tableau gauss;
  int pieces;
  double *edge;     /* [pieces + 1]: the times at which pieces begin and end */
  double *time, *g; /* times, and group elements of the path, at the nodes */
  /* sum: the integral; size: the integral of the largest absolute value of a component of the integrand */
  double sum[CB_GROUP_DIM], size;
} integral;

/* Finds the pieces on which both gaits and the bundle are smooth. */
static cb_status cut(integral *I) {
  const cb_gait *both[2] = {I->gait, I->change};
  int edges = 1, cuts = 0;
  for (int i = 0; i < I->b->n; i++) cuts += I->b->breaks[i];
  I->edge = calloc((size_t)(2 + I->gait->breaks + I->change->breaks), sizeof *I->edge);
  if (!I->edge) return cb_fail(CB_ERROR_MEMORY, "no memory for a variation");
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < both[k]->breaks; i++) I->edge[edges++] = both[k]->data[i];
  edges = cb_gait_sort_breaks(I->edge, edges);
  I->edge[edges] = 1;
  for (int k = 0; cuts && k < edges; k++) {
    const double at = cb_gait_cut(I->b, I->gait, I->edge[k], I->edge[k + 1]);
    if (!(at < I->edge[k + 1])) continue;
    double *more = realloc(I->edge, ((size_t)edges + 2) * sizeof *more);
    if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for a variation");
    I->edge = more;
    memmove(more + k + 2, more + k + 1, (size_t)(edges - k) * sizeof *more);
    more[k + 1] = at;
    edges++;
  }
  I->pieces = edges;
  return CB_OK;
}

/* Adds w Ad_g B(r', d) at the time t to the sum. g is the element of the path at this time. */
static cb_status add(integral *I, double t, double w, const double *g) {
  const cb_group *G = I->b->group;
  const int n = I->b->n, dim = G->dim;
  double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], d[CB_SHAPE_MAX], B[PAIRS_MAX * CB_GROUP_DIM];
  double Ad[CB_GROUP_DIM * CB_GROUP_DIM], turn[CB_GROUP_DIM] = {0}, largest = 0;
  cb_gait_at(I->gait, t, r, rate);
  cb_gait_at(I->change, t, d, NULL);
  const cb_status status = cb_bundle_curvatures(I->b, r, B);
  if (status) return status;
  const double *pair = B;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++, pair += dim)
      for (int a = 0; a < dim; a++) turn[a] += pair[a] * (rate[i] * d[j] - rate[j] * d[i]);
  G->adjoint(G, g, Ad);
  for (int a = 0; a < dim; a++) {
    double here = 0;
    for (int c = 0; c < dim; c++) here += Ad[a * dim + c] * turn[c];
    I->sum[a] += w * here;
    largest = fmax(largest, fabs(here));
  }
  I->size += w * largest;
  return CB_OK;
}

static cb_status integrate(integral *I, int panels) {
  const int count = I->pieces * panels * NODES;
  const size_t nodes = (size_t)count, size = (size_t)I->b->group->size;
  free(I->time);
  free(I->g);
  I->time = malloc(nodes * sizeof *I->time);
  I->g = malloc(nodes * size * sizeof *I->g);
  if (!I->time || !I->g) return cb_fail(CB_ERROR_MEMORY, "no memory for a variation");
  for (int k = 0; k < count; k++) {
    const int piece = k / NODES / panels, panel = k / NODES % panels;
    const double from = I->edge[piece], width = (I->edge[piece + 1] - from) / panels;
    I->time[k] = from + (panel + I->gauss.c[k % NODES]) * width;
  }
  cb_status status = cb_reconstruct(I->b, I->gait, I->error, count, I->time, I->g);
  memset(I->sum, 0, sizeof I->sum);
  I->size = 0;
  for (int k = 0; !status && k < count; k++) {
    const int piece = k / NODES / panels;
    const double width = (I->edge[piece + 1] - I->edge[piece]) / panels;
    status = add(I, I->time[k], I->gauss.b[k % NODES] * width, I->g + (size_t)k * size);
  }
  return status;
}

/* Doubles the number of panels until two sums agree. If the curvature B has more round-off than double precision, the
 * doubling stops when the change is only this round-off. */
static cb_status settle(integral *I) {
  const int least = 1 + (I->gait->pieces > I->change->pieces ? I->gait->pieces : I->change->pieces) / 8;
  double before = INFINITY;
  cb_status status = integrate(I, least);
  for (int k = 1; !status && k <= DOUBLINGS; k++) {
    double old[CB_GROUP_DIM], off = 0;
    memcpy(old, I->sum, sizeof old);
    status = integrate(I, least << k);
    for (int a = 0; a < I->b->group->dim; a++) off = fmax(off, fabs(I->sum[a] - old[a]));
    if (status || off <= fmax(I->error, 64 * DBL_EPSILON * I->size)) return status;
    if (off <= 1e-9 * I->size && off >= before / 16) return CB_OK;
    before = off;
  }
  if (status) return status;
  const char *const name = I->b->class_->name;
  return I->error > 0
             ? cb_fail(
                   CB_ERROR_STEP,
                   "bundle %s: the variation of a holonomy did not converge to an error of %.3g: try a larger error",
                   name, I->error)
             : cb_fail(CB_ERROR_STEP,
                       "bundle %s: the variation of a holonomy did not converge to round-off: try an error above 0",
                       name);
}

/* Adds A d(0) - Ad_g A d(0) to the sum, where g is the holonomy. */
static cb_status add_start(integral *I) {
  const cb_group *G = I->b->group;
  const int n = I->b->n, dim = G->dim;
  double r[CB_SHAPE_MAX], d[CB_SHAPE_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX], a[CB_GROUP_DIM] = {0};
  double g[CB_GROUP_SIZE], Ad[CB_GROUP_DIM * CB_GROUP_DIM];
  cb_gait_at(I->gait, 0, r, NULL);
  cb_gait_at(I->change, 0, d, NULL);
  cb_status status = cb_bundle_connection(I->b, r, A, NULL, NULL, NULL);
  if (!status) status = cb_holonomy(I->b, I->gait, I->error, g, NULL, NULL);
  if (status) return status;
  G->adjoint(G, g, Ad);
  for (int k = 0; k < dim; k++)
    for (int i = 0; i < n; i++) a[k] += A[k * n + i] * d[i];
  for (int k = 0; k < dim; k++) {
    I->sum[k] += a[k];
    for (int c = 0; c < dim; c++) I->sum[k] -= Ad[k * dim + c] * a[c];
  }
  return CB_OK;
}

cb_status cb_holonomy_variation(const cb_bundle *b, const cb_gait *gait, const cb_gait *change, double error,
                                double *y) {
  integral I = {.b = b, .gait = gait, .change = change, .error = error};
  cb_status status = cb_gait_fits(b, gait);
  if (!status) status = cb_gait_fits(b, change);
  if (!status) status = cb_gait_closed(b, gait);
  if (!status && change->open)
    status = cb_fail(CB_ERROR_ARGUMENT, "the change of a gait is not closed: expected equal values at times 0 and 1");
  if (!status && !(error >= 0))
    status = cb_fail(CB_ERROR_ARGUMENT, "a holonomy with the error %.3g: expected a number >= 0", error);
  if (!status) status = cb_tableau_gauss(NODES, &I.gauss);
  if (!status) status = cut(&I);
  if (!status) status = settle(&I);
  if (!status) status = add_start(&I);
  if (!status) memcpy(y, I.sum, (size_t)b->group->dim * sizeof *y);
  free(I.edge);
  free(I.time);
  free(I.g);
  return status;
}
