/* The equations of a family: residuals, their derivatives, points and tangents. */
#include "optimum/family_private.h"

#include "optimum/family_solve.h"
#include "numerics/small.h"

#include <stdlib.h>
#include <string.h>

/* Newton's steps relative to z: below the first its matrix is kept, `done` is round-off; near a bifurcation that is
 * larger in one direction, along which nothing changes but in second order. */
static const double near_enough = 1e-2, done = 1e-12, noise = 1e-6;
enum { MOST = 14 };

cb_status family_system_create(const cb_optimum_problem *o, int harmonics, double scale, family_system **out) {
  const cb_bundle *b = o->bundle;
  family_system *y = calloc(1, sizeof *y);
  if (!y) return cb_fail(CB_ERROR_MEMORY, "no memory for a family");
  *y = (family_system){.o = o, .target = o->target, .n = b->n, .harmonics = harmonics, .scale = scale};
  y->smooth = cb_direct_smooth(o);
  y->count = cb_gait_target_count(b->group, &y->target);
  y->row = cb_gait_target_amount(b->group, &y->target);
  const double ends[2] = {0, 1};
  cb_status status = y->smooth ? cb_basis_fourier(harmonics, harmonics + 4, &y->basis)
                               : cb_basis_arcs(1, ends, 2 * harmonics, 0, &y->basis);
  if (!status) status = cb_variation_create(b, y->basis, &y->v);
  if (!status) {
    y->u = y->v->unknowns;
    y->extra = o->base ? y->n : y->smooth;
    y->size = y->u + y->count + y->extra + 2;
    y->mu = y->size - 2, y->amount = y->size - 1;
    status = cb_reduced_create(y->u, y->count + y->extra + 1, &y->reduced);
  }
  if (!status) {
    const size_t size = (size_t)y->size;
    y->K = calloc(size * size + 4 * size + (size_t)(y->extra * y->u), sizeof *y->K);
    y->pivot = calloc(2 * size, sizeof *y->pivot);
    if (!y->K || !y->pivot) status = cb_fail(CB_ERROR_MEMORY, "no memory for a family of %d unknowns", y->size);
    if (y->K) y->f = y->K + size * size, y->step = y->f + size, y->work = y->step + size, y->column = y->work + size;
    if (y->K) y->rows = y->column + size;
  }
  if (status) return family_system_free(y), status;
  *out = y;
  return CB_OK;
}

void family_system_free(family_system *y) {
  if (!y) return;
  cb_reduced_free(y->reduced);
  cb_variation_free(y->v);
  cb_basis_free(y->basis);
  free(y->K);
  free(y->pivot);
  free(y);
}

cb_status family_point_create(const family_system *y, family_point **out) {
  const size_t size = (size_t)y->size;
  family_point *p = calloc(1, sizeof *p);
  if (p) p->z = calloc(3 * size, sizeof *p->z);
  if (!p || !p->z) return free(p), cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d unknowns", y->size);
  p->size = y->size, p->harmonics = y->harmonics;
  p->tangent = p->z + size, p->eigen = p->tangent + size;
  *out = p;
  return CB_OK;
}

void family_point_free(family_point *p) {
  if (!p) return;
  free(p->z);
  free(p);
}

/* From the layout of one basis to that of another with at least as many functions. */
static void widen(const family_system *y, const family_point *from, const double *z, double *out) {
  const int rest = y->size - y->u, u = from->size - rest, f = u / y->n, now = y->u / y->n;
  memset(out, 0, (size_t)y->size * sizeof *out);
  for (int i = 0; i < y->n; i++) memcpy(out + i * now, z + i * f, (size_t)f * sizeof *z);
  memcpy(out + y->u, z + u, (size_t)rest * sizeof *z);
}

cb_status family_point_copy(const family_system *y, const family_point *from, family_point **out) {
  const cb_status status = family_point_create(y, out);
  if (status) return status;
  widen(y, from, from->z, (*out)->z);
  widen(y, from, from->tangent, (*out)->tangent);
  (*out)->cost = from->cost, (*out)->s = from->s, (*out)->index = from->index, (*out)->flat = from->flat;
  return CB_OK;
}

double family_tail(const family_system *y, const family_point *p) {
  const int f = y->basis->functions, last = y->smooth ? 4 : 2;
  double most = 0, tail = 0;
  for (int a = 0; a < y->u; a++) {
    if (a % f) most = fmax(most, fabs(p->z[a]));
    if (a % f >= f - last) tail = fmax(tail, fabs(p->z[a]));
  }
  return tail / most;
}

/* --- the equations --- */

/* What fixes the base, or the start of a loop whose start is a place like any other: no step along r'. */
static void fix(family_system *y, const double *c) {
  const int f = y->basis->functions;
  double size = 0;
  memset(y->rows, 0, (size_t)(y->extra * y->u) * sizeof *y->rows);
  for (int i = 0; y->o->base && i < y->n; i++) y->rows[i * y->u + i * f] = 1;
  if (y->o->base || !y->smooth) return;
  for (int a = 0; a < y->u; a++) {
    const int k = (a % f + 1) / 2;
    y->rows[a] = k == 0 ? 0 : a % f % 2 ? k * c[a + 1] : -k * c[a - 1];
    size += y->rows[a] * y->rows[a];
  }
  for (int a = 0; size > 0 && a < y->u; a++) y->rows[a] /= sqrt(size);
}

typedef struct conditions {
  double c[CB_CONDITIONS_MAX], first[CB_CONDITIONS_MAX * CB_GROUP_DIM];
  double second[CB_CONDITIONS_MAX * CB_GROUP_DIM * CB_GROUP_DIM];
} conditions;

/* f at z, but for its last row. */
static cb_status residual(family_system *y, const double *z, int order, conditions *k) {
  const cb_group *G = y->o->bundle->group;
  const int u = y->u, dim = G->dim;
  double *f = y->f;
  cb_gait_target_set(G, &y->target, z[y->amount]);
  cb_status status = cb_variation_at(y->v, z, order);
  if (!status) status = cb_gait_target_at(G, &y->target, y->v->g, k->c, k->first, order > 1 ? k->second : NULL);
  if (status) return status;
  for (int a = 0; a < u; a++) f[a] = z[y->mu] * y->v->dcost[a] / 2;
  for (int i = 0; i < y->count; i++)
    for (int a = 0; a < dim; a++) {
      const double s = y->scale * z[u + i] * k->first[i * dim + a];
      for (int p = 0; p < u; p++) f[p] += s * y->v->dy[a * u + p];
    }
  double unit = z[y->mu] * z[y->mu] - 1;
  for (int i = 0; i < y->count; i++) f[u + i] = k->c[i], unit += z[u + i] * z[u + i];
  for (int j = 0; j < y->extra; j++) {
    const double *row = y->rows + j * u;
    for (int p = 0; p < u; p++) f[p] += z[u + y->count + j] * row[p];
    f[u + y->count + j] = y->o->base ? z[j * y->basis->functions] - y->o->base[j] : 0;
  }
  f[y->mu] = unit / 2;
  return CB_OK;
}

static void second_variation(family_system *y, const double *z, const conditions *k, double *H) {
  const int dim = y->o->bundle->group->dim;
  double Lambda[CB_GROUP_DIM] = {0}, W[CB_GROUP_DIM * CB_GROUP_DIM] = {0};
  for (int i = 0; i < y->count; i++)
    for (int a = 0; a < dim; a++) {
      const double nu = y->scale * z[y->u + i];
      Lambda[a] += nu * k->first[i * dim + a];
      for (int b = 0; b < dim; b++) W[a * dim + b] += nu * k->second[(i * dim + a) * dim + b];
    }
  cb_variation_hessian(y->v, z[y->mu], Lambda, W, H);
}

/* Gradients of conditions and of what is fixed: [count + extra][u] */
static void gradients(const family_system *y, const conditions *k, double *J) {
  const int u = y->u, dim = y->o->bundle->group->dim;
  memset(J, 0, (size_t)(y->count * u) * sizeof *J);
  for (int i = 0; i < y->count; i++)
    for (int a = 0; a < dim; a++)
      for (int p = 0; p < u; p++) J[i * u + p] += k->first[i * dim + a] * y->v->dy[a * u + p];
  memcpy(J + y->count * u, y->rows, (size_t)(y->extra * u) * sizeof *J);
}

/* The last row: of what closes the system. */
static void close_with(const family_system *y, family_row row, const double *direction, double *K) {
  double *last = K + (y->size - 1) * y->size;
  memset(last, 0, (size_t)y->size * sizeof *last);
  if (row == FAMILY_ALONG)
    memcpy(last, direction, (size_t)(y->size - 1) * sizeof *last);
  else
    last[row == FAMILY_AMOUNT ? y->amount : y->mu] = 1;
}

/* K and H, J of y->reduced, after residual(order 2). */
static void matrix(family_system *y, const double *z, const conditions *k) {
  const int u = y->u, size = y->size, rows = y->count + y->extra;
  double *H = y->reduced->H, *J = y->reduced->J, *K = y->K;
  second_variation(y, z, k, H);
  gradients(y, k, J);
  memset(K, 0, (size_t)size * (size_t)size * sizeof *K);
  for (int p = 0; p < u; p++) {
    memcpy(K + p * size, H + p * u, (size_t)u * sizeof *K);
    for (int i = 0; i < rows; i++) {
      K[p * size + u + i] = J[i * u + p] * (i < y->count ? y->scale : 1);
      K[(u + i) * size + p] = J[i * u + p];
    }
    K[p * size + y->mu] = y->v->dcost[p] / 2;
  }
  K[(u + y->row) * size + y->amount] = -1;
  if (!y->o->base) /* the multiplier of a shift of time is 0 */
    for (int j = 0; j < y->extra; j++) K[(u + y->count + j) * size + u + y->count + j] = 0;
  for (int i = 0; i < y->count; i++) K[y->mu * size + u + i] = z[u + i];
  K[y->mu * size + y->mu] = z[y->mu];
}

/* --- points --- */

cb_status family_correct(family_system *y, family_row row, const double *direction, double value, family_point *p,
                         int *iterations) {
  const int size = y->size;
  conditions k;
  int rank = 0, sign;
  bool keep = false;
  double before = INFINITY;
  if (row != FAMILY_ALONG) p->z[row == FAMILY_AMOUNT ? y->amount : y->mu] = value;
  memcpy(y->column, p->z, (size_t)size * sizeof *p->z); /* the guess */
  fix(y, p->z);
  for (*iterations = 0; *iterations < MOST; ++*iterations) {
    const cb_status status = residual(y, p->z, keep ? 1 : 2, &k);
    if (status) return status;
    y->f[size - 1] = 0;
    for (int i = 0; row == FAMILY_ALONG && i < size - 1; i++) y->f[size - 1] += direction[i] * (p->z[i] - y->column[i]);
    if (!keep) {
      matrix(y, p->z, &k);
      close_with(y, row, direction, y->K);
      rank = family_factor(size, y->K, y->pivot, &sign);
    }
    family_solve(size, y->K, y->pivot, rank, y->f, y->work, y->step);
    const double length = sqrt(cb_dot(size, y->step, y->step) / cb_dot(size, p->z, p->z));
    if (!(length < 1) || (*iterations > 1 && length > 2 * before && before > noise)) break;
    for (int i = 0; i < size; i++) p->z[i] -= y->step[i];
    if (length < done || (length > before / 4 && length < noise)) {
      p->cost = y->v->cost;
      return CB_OK;
    }
    keep = length < near_enough && (!keep || length < before / 10);
    before = length;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE, "a family of gaits cannot be followed past %g", p->z[y->amount]);
}

cb_status family_look(family_system *y, const double *before, family_point *p) {
  const int size = y->size;
  conditions k;
  fix(y, p->z);
  const cb_status status = residual(y, p->z, 2, &k);
  if (status) return status;
  p->cost = y->v->cost;
  matrix(y, p->z, &k);
  const double *guide = before;
  if (guide)
    close_with(y, FAMILY_ALONG, guide, y->K);
  else
    close_with(y, FAMILY_AMOUNT, NULL, y->K);
  memset(y->f, 0, (size_t)size * sizeof *y->f);
  y->f[size - 1] = 1;
  const int rank = family_factor(size, y->K, y->pivot, &p->sign);
  family_solve(size, y->K, y->pivot, rank, y->f, y->work, p->tangent);
  const double length = sqrt(cb_dot(size - 1, p->tangent, p->tangent));
  for (int i = 0; i < size; i++) p->tangent[i] /= length;
  double rates = 0, c2 = 0;
  for (int a = 0; a < y->u; a++) c2 += a % y->basis->functions ? p->z[a] * p->z[a] : 0;
  rates = p->cost / c2;
  y->reduced->unknowns = y->u, y->reduced->rows = y->count + y->extra;
  cb_reduced_eigenvalues(y->reduced);
  /* of curvature, a share of what the cost alone has */
  const double none = 1e-7 * fabs(p->z[y->mu]) * rates;
  p->index = p->flat = p->values = 0;
  for (int i = 0; i < y->reduced->values; i++) {
    const double e = y->reduced->eigen[i];
    if (fabs(e) <= none) {
      p->flat++;
      continue;
    }
    p->index += e < 0;
    p->eigen[p->values++] = e;
  }
  return CB_OK;
}

cb_status family_across(family_system *y, const family_point *p, double *direction) {
  const int size = y->size;
  conditions k;
  int sign;
  fix(y, p->z);
  const cb_status status = residual(y, p->z, 2, &k);
  if (status) return status;
  matrix(y, p->z, &k);
  close_with(y, FAMILY_ALONG, p->tangent, y->K);
  family_factor(size, y->K, y->pivot, &sign);
  family_null(size, y->K, y->pivot, y->work, direction);
  const double length = sqrt(cb_dot(size - 1, direction, direction));
  for (int i = 0; i < size; i++) direction[i] /= length;
  return CB_OK;
}
