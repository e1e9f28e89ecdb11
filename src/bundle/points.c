/* Locked inertia, connection and metric of points, with exact derivatives (equations: points.h). */
#include "bundle/form.h"
#include "bundle/points.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIM = 6, N = CB_JET_MAX, W = DIM + N, K = CB_COORD_MAX };

/* One point: x, d_i x and, where derivatives are wanted, d_ij x. */
typedef struct placed {
  double x[K], d[N][K], dd[N][N][K];
} placed;

static cb_status outside(const cb_points *p, int m, int c, double q) {
  return cb_fail(CB_STEP_DOMAIN, "point %d: %s = %g", m, p->chart->coordinates[c], q);
}

/* x and d_i x = J d_i q */
static cb_status place_first(const cb_points *p, int m, const double *r, placed *out) {
  const int n = p->n, size = p->chart->size, k = p->space->embedding;
  double q[K], slope[K][N], J[K * K];
  for (int s = 0; s < size; s++) {
    q[s] = cb_expression_gradient(p->point[m].at[s], r, n, slope[s]);
    if (!isfinite(q[s])) return outside(p, m, s, q[s]);
  }
  if (p->chart->to_point(p->space, q, out->x, J)) return cb_fail(CB_STEP_DOMAIN, "point %d: %s", m, cb_error_text());
  for (int i = 0; i < n; i++)
    for (int a = 0; a < k; a++) {
      out->d[i][a] = 0;
      for (int s = 0; s < size; s++) out->d[i][a] += J[a * size + s] * slope[s][i];
    }
  return CB_OK;
}

/* and d_ij x = J d_ij q + H(d_i q, d_j q), q(r) on jets */
static cb_status place_second(const cb_points *p, int m, const double *r, placed *out) {
  const int n = p->n, size = p->chart->size, k = p->space->embedding;
  cb_jet u[K];
  double q[K];
  cb_point_jet c;
  for (int s = 0; s < size; s++) {
    u[s] = cb_expression_jet(p->point[m].at[s], r, n);
    q[s] = u[s].v;
    if (!isfinite(q[s])) return outside(p, m, s, q[s]);
  }
  if (cb_points_chart(p->space, p->chart, q, &c)) return cb_fail(CB_STEP_DOMAIN, "point %d: %s", m, cb_error_text());
  memcpy(out->x, c.x, sizeof c.x);
  for (int i = 0; i < n; i++)
    for (int a = 0; a < k; a++) {
      out->d[i][a] = 0;
      for (int s = 0; s < size; s++) out->d[i][a] += c.d[s][a] * u[s].g[i];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int a = 0; a < k; a++) {
        double sum = 0;
        for (int s = 0; s < size; s++) {
          double bend = 0;
          for (int t = 0; t < size; t++) bend += c.dd[s][t][a] * u[t].g[j];
          sum += c.d[s][a] * u[s].h[cb_jet_packed(i, j)] + bend * u[s].g[i];
        }
        out->dd[i][j][a] = out->dd[j][i][a] = sum;
      }
  return CB_OK;
}

/* A v (+ b) of a field */
static void field_at(const cb_points *p, int k, const double *v, bool affine, double *out) {
  const cb_killing *X = &p->field[k];
  for (int a = 0; a < p->space->embedding; a++) {
    out[a] = affine ? X->b[a] : 0;
    for (int b = 0; b < p->space->embedding; b++) out[a] += X->a[a][b] * v[b];
  }
}

void cb_points_field(const cb_bundle *b, int k, const double *x, double *v) { field_at(b->self, k, x, true, v); }

/* G = ((P, Q), (Q^T, R)) and, where wanted, dG[n], rows of dim + n numbers: a point moves by u_k = a_k, then d_i x. */
typedef struct form {
  double size, mass; /* sum of m |x|^2 in the embedding, and of m */
  double G[W * W];
  double dG[N * W * W]; /* set where they are wanted */
} form;

static void add_point(const cb_points *p, double m, const placed *x, bool derivatives, form *F) {
  const cb_geometry *g = p->space;
  const int n = p->n, dim = p->dim, w = dim + n;
  double u[W][K], du[W][N][K];
  for (int e = 0; e < g->embedding; e++) F->size += m * x->x[e] * x->x[e];
  F->mass += m;
  for (int k = 0; k < dim; k++) {
    field_at(p, k, x->x, true, u[k]);
    for (int i = 0; derivatives && i < n; i++) field_at(p, k, x->d[i], false, du[k][i]);
  }
  for (int j = 0; j < n; j++) {
    memcpy(u[dim + j], x->d[j], sizeof u[0]);
    for (int i = 0; derivatives && i < n; i++) memcpy(du[dim + j][i], x->dd[j][i], sizeof du[0][0]);
  }
  for (int a = 0; a < w; a++)
    for (int b = 0; b <= a; b++) {
      F->G[a * w + b] += m * cb_inner(g, u[a], u[b]);
      for (int i = 0; derivatives && i < n; i++)
        F->dG[(i * w + a) * w + b] += m * (cb_inner(g, du[a][i], u[b]) + cb_inner(g, u[a], du[b][i]));
    }
}

static void mirror(int w, double *G) {
  for (int a = 0; a < w; a++)
    for (int b = 0; b < a; b++) G[b * w + a] = G[a * w + b];
}

static cb_status build(const cb_points *p, const double *r, bool derivatives, form *F) {
  const int w = p->dim + p->n;
  placed x;
  F->size = F->mass = 0;
  memset(F->G, 0, (size_t)(w * w) * sizeof *F->G);
  if (derivatives) memset(F->dG, 0, (size_t)(p->n * w * w) * sizeof *F->dG);
  for (int m = 0; m < p->points; m++) {
    const cb_status status = derivatives ? place_second(p, m, r, &x) : place_first(p, m, r, &x);
    if (status) return status;
    add_point(p, p->mass[m], &x, derivatives, F);
  }
  mirror(w, F->G);
  for (int i = 0; derivatives && i < p->n; i++) mirror(w, F->dG + i * w * w);
  return CB_OK;
}

/* --- singular shapes --- */

/* A combination of axes that has no inertia, from the rows of L that are done and the next one: z = (z_done, 1, 0) with
 * L_done^T z_done = -L_next^T; order: the axes of the rows. */
static cb_status fail_singular(const cb_points *p, const cb_group *group, double L[DIM][DIM], const int *order,
                               int done) {
  double z[DIM] = {0}, largest = 1; /* by axis */
  char text[DIM * 48] = "";
  z[order[done]] = 1;
  for (int i = done - 1; i >= 0; i--) {
    double sum = 0;
    for (int j = i + 1; j <= done; j++) sum -= L[j][i] * z[order[j]];
    z[order[i]] = sum / L[i][i];
    largest = fmax(largest, fabs(z[order[i]]));
  }
  for (int axis = 0; axis < p->dim; axis++) {
    const double part = z[axis] / largest;
    const size_t used = strlen(text);
    const char *plus = used ? " + " : "";
    if (fabs(part) < 1e-6) continue;
    if (part == 1)
      snprintf(text + used, sizeof text - used, "%s%s", plus, group->axis[axis]);
    else
      snprintf(text + used, sizeof text - used, "%s%.4g %s", plus, part, group->axis[axis]);
  }
  return cb_fail(CB_STEP_SINGULAR, "the locked inertia is singular: the points have none about the axis %s", text);
}

/* A pivot smaller than this is round-off, relative to what the axis would be for the masses at their distances. */
static const double singular = 64 * DBL_EPSILON;

/* Cholesky's factors of P with pivots: does any motion of the space leave all points at rest? */
static cb_status check_inertia(const cb_points *p, const cb_group *group, const form *F) {
  const int dim = p->dim, w = dim + p->n;
  double S[DIM][DIM], L[DIM][DIM] = {{0}}, scale[DIM];
  int order[DIM];
  for (int a = 0; a < dim; a++) {
    order[a] = a;
    scale[a] = F->size * p->field_size[a] + F->mass * p->shift_size[a];
    memcpy(S[a], F->G + a * w, (size_t)dim * sizeof *S[a]);
  }
  for (int k = 0; k < dim; k++) {
    int best = k;
    for (int i = k + 1; i < dim; i++) {
      const int a = order[i], b = order[best];
      if (S[a][a] * scale[b] > S[b][b] * scale[a]) best = i;
    }
    const int axis = order[best];
    order[best] = order[k], order[k] = axis;
    for (int j = 0; j < k; j++) {
      const double kept = L[k][j];
      L[k][j] = L[best][j], L[best][j] = kept;
    }
    if (!(S[axis][axis] > singular * scale[axis])) return fail_singular(p, group, L, order, k);
    L[k][k] = sqrt(S[axis][axis]);
    for (int i = k + 1; i < dim; i++) L[i][k] = S[order[i]][axis] / L[k][k];
    for (int i = k + 1; i < dim; i++)
      for (int j = k + 1; j < dim; j++) S[order[i]][order[j]] -= L[i][k] * L[j][k];
  }
  return CB_OK;
}

/* --- the functions of the class --- */

cb_status cb_points_form(const cb_points *p, const double *r, double *G) {
  const int w = p->dim + p->n;
  form F;
  const cb_status status = build(p, r, false, &F);
  if (!status) memcpy(G, F.G, (size_t)(w * w) * sizeof *G);
  return status;
}

cb_status cb_points_connection(const cb_points *p, const cb_group *group, const double *r, double *A, double *dA,
                               double *M, double *dM) {
  const bool derivatives = dA || dM;
  form F;
  cb_status status = build(p, r, derivatives, &F);
  if (!status) status = check_inertia(p, group, &F);
  return status ? status : cb_form_reduce(group, p->n, F.G, derivatives ? F.dG : NULL, A, dA, M, dM);
}

cb_status cb_points_place(const cb_bundle *b, const double *r, double *x, double *dx) {
  const cb_points *p = b->self;
  const size_t k = (size_t)p->space->embedding;
  placed one;
  for (int m = 0; m < p->points; m++) {
    const cb_status status = place_first(p, m, r, &one);
    if (status) return status;
    memcpy(x + (size_t)m * k, one.x, k * sizeof *x);
    for (int i = 0; dx && i < p->n; i++) memcpy(dx + (size_t)(m * p->n + i) * k, one.d[i], k * sizeof *dx);
  }
  return CB_OK;
}

cb_status cb_points_picture(const cb_bundle *b, const double *r, const double *g, double (*out)[3]) {
  const cb_points *p = b->self;
  cb_isometry move;
  cb_points_isometry(b, g, &move);
  for (int m = 0; m < p->points; m++) {
    double q[K], x[K];
    for (int s = 0; s < p->chart->size; s++) q[s] = cb_expression_value(p->point[m].at[s], r);
    if (p->chart->to_point(p->space, q, x, NULL)) return cb_fail(CB_STEP_DOMAIN, "point %d: %s", m, cb_error_text());
    cb_isometry_point(p->space, &move, x, x);
    cb_picture(p->space, x, NULL, out[m], NULL);
  }
  return CB_OK;
}

const cb_geometry *cb_points_space(const cb_bundle *b) { return ((const cb_points *)b->self)->space; }
int cb_points_count(const cb_bundle *b) { return ((const cb_points *)b->self)->points; }
const double *cb_points_masses(const cb_bundle *b) { return ((const cb_points *)b->self)->mass; }
