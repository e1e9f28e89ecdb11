/* Locked inertia, connection and cost metric of points, with exact derivatives (equations: points.h). The file also has
 * the charts of their space on jets. */
#include "bundle/points.h"

#include "bundle/bundle_private.h"
#include "geometry/quadric.h"
#include "numerics/numerics_curved.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIM = 6, N = CB_JET_MAX, W = DIM + N, K = CB_COORD_MAX };

/* The position x of one point, its first derivatives d_i x and, if requested, its second derivatives d_ij x in the
 * shape. */
typedef struct placed {
  double x[K], d[N][K], dd[N][N][K];
} placed;

static cb_status outside(const cb_points *p, int m, int c, double q) {
  return cb_fail(CB_STEP_DOMAIN, "point %d: %s = %g", m, p->chart->coordinates[c], q);
}

/* Computes x and d_i x = J d_i q of point m, where q are the coordinates of the point in the chart, and J = dx/dq.
 * Returns CB_STEP_DOMAIN outside the domain of the chart or of the expressions q(r). */
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

/* Computes x, d_i x and d_ij x = J d_ij q + H(d_i q, d_j q) of point m, where H are the second derivatives of x(q).
 * q(r) is evaluated on jets. */
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
          double curvature = 0;
          for (int t = 0; t < size; t++) curvature += c.dd[s][t][a] * u[t].g[j];
          sum += c.d[s][a] * u[s].h[cb_jet_packed(i, j)] + curvature * u[s].g[i];
        }
        out->dd[i][j][a] = out->dd[j][i][a] = sum;
      }
  return CB_OK;
}

/* Computes the Killing field x -> a x + b of axis k at v, or only its linear part a v if `affine` is false. */
static void field_at(const cb_points *p, int k, const double *v, bool affine, double *out) {
  const cb_killing *X = &p->field[k];
  for (int a = 0; a < p->space->embedding; a++) {
    out[a] = affine ? X->b[a] : 0;
    for (int b = 0; b < p->space->embedding; b++) out[a] += X->a[a][b] * v[b];
  }
}

void cb_points_field(const cb_bundle *b, int k, const double *x, double *v) { field_at(b->self, k, x, true, v); }

/* The form G = ((P, Q), (Q^T, R)) (points.h) and, if requested, dG[n], in rows of dim + n numbers. The generalised
 * velocities of a point are u_k = a_k, the Killing fields, followed by d_i x. */
typedef struct form {
  /* size: the sum of m |x|^2 over the points; mass: the sum of m; m: mass of a point; x: its position in the
   * embedding */
  double size, mass;
  double G[W * W];
  double dG[N * W * W]; /* set if derivatives are requested */
} form;

static void add_point(const cb_points *p, double m, const placed *x, bool derivatives, form *F) {
  const cb_space *g = p->space;
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

/* Fails. The message names a combination z of axes that has no inertia. z is computed from the finished rows of L and
 * the next row: z = (z_done, 1, 0) with L_done^T z_done = -L_next^T. `order` lists the axes of the rows. */
static cb_status fail_singular(const cb_points *p, const cb_group *group, double L[DIM][DIM], const int *order,
                               int done) {
  double z[DIM] = {0}, largest = 1; /* z: factors of the axes in the combination that has no inertia */
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
  return cb_fail(CB_STEP_SINGULAR,
                 "the locked inertia is singular: the points have no inertia about the axis %s; expected points that "
                 "are not on this axis",
                 text);
}

/* A pivot below this number times the scale of its axis is only round-off. The scale of an axis with the Killing field
 * a x + b is (sum of m |x|^2) |a|^2 + (sum of m) |b|^2. Here m and x are the masses and positions of the points, and
 * |a|^2 and |b|^2 are the sums of squares of the entries of a and b. */
static const double singular = 64 * DBL_EPSILON;

/* Factors the locked inertia P by Cholesky's method with pivots. Returns CB_STEP_SINGULAR if a motion of the space
 * leaves all points at rest. */
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
    order[best] = order[k];
    order[k] = axis;
    for (int j = 0; j < k; j++) {
      const double kept = L[k][j];
      L[k][j] = L[best][j];
      L[best][j] = kept;
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

cb_status cb_points_form(const cb_points *p, const double *r, double *G, double *dG) {
  const size_t w = (size_t)(p->dim + p->n);
  form F;
  const cb_status status = build(p, r, dG != NULL, &F);
  if (!status) memcpy(G, F.G, w * w * sizeof *G);
  if (!status && dG) memcpy(dG, F.dG, (size_t)p->n * w * w * sizeof *dG);
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

cb_status cb_points_plot(const cb_bundle *b, const double *r, const double *g, double (*out)[3]) {
  const cb_points *p = b->self;
  cb_isometry move;
  cb_points_isometry(b, g, &move);
  for (int m = 0; m < p->points; m++) {
    double q[K], x[K];
    for (int s = 0; s < p->chart->size; s++) q[s] = cb_expression_value(p->point[m].at[s], r);
    if (p->chart->to_point(p->space, q, x, NULL)) return cb_fail(CB_STEP_DOMAIN, "point %d: %s", m, cb_error_text());
    cb_isometry_point(p->space, &move, x, x);
    cb_plot_coordinates(p->space, x, NULL, out[m], NULL);
  }
  return CB_OK;
}

const cb_space *cb_points_space(const cb_bundle *b) { return ((const cb_points *)b->self)->space; }
int cb_points_count(const cb_bundle *b) { return ((const cb_points *)b->self)->points; }
const double *cb_points_masses(const cb_bundle *b) { return ((const cb_points *)b->self)->mass; }

/* These functions compute the points x(q) of a chart, in products of spaces of constant curvature, on jets, which give
 * second derivatives.
 *
 * The formulae are those of the charts polar, translation and stereographic in src/geometry. They are smooth in q even
 * on the axis of polar coordinates, where the metric of the chart is singular.
 */

/* s_K(q) and c_K(q): the functions that correspond to sine and cosine in a factor of curvature K (cb_trig_s,
 * cb_trig_c). */
static cb_jet sine(cb_trig k, const cb_jet *q) {
  const double s = cb_trig_s(k, q->v);
  return cb_jet_compose(q, s, cb_trig_c(k, q->v), -k.k * s);
}

static cb_jet cosine(cb_trig k, const cb_jet *q) {
  const double c = cb_trig_c(k, q->v);
  return cb_jet_compose(q, c, -k.k * cb_trig_s(k, q->v), -k.k * c);
}

static cb_jet times(cb_jet a, cb_jet b) { return cb_jet_mul(&a, &b); }

static void polar(cb_trig k, int dim, const cb_jet *q, cb_jet *x) {
  const cb_trig unit = {1, 1};
  const cb_jet s = sine(k, &q[0]), cg = cosine(unit, &q[dim - 1]), sg = sine(unit, &q[dim - 1]);
  cb_jet across = s;
  if (dim == 3) {
    across = times(s, sine(unit, &q[1]));
    x[2] = times(s, cosine(unit, &q[1]));
  }
  x[0] = times(across, cg);
  x[1] = times(across, sg);
  if (k.k == 0) return;
  x[dim] = cosine(k, &q[0]);
  x[dim] = cb_jet_scale(&x[dim], 1 / k.r);
}

static void translation(cb_trig k, int dim, const cb_jet *q, cb_jet *x) {
  const cb_jet ca = cosine(k, &q[0]), cc = times(ca, cosine(k, &q[1]));
  x[0] = times(ca, sine(k, &q[1]));
  x[1] = sine(k, &q[0]);
  if (dim == 3) x[2] = times(cc, sine(k, &q[2]));
  if (k.k == 0) return;
  x[dim] = dim == 3 ? times(cc, cosine(k, &q[2])) : cc;
  x[dim] = cb_jet_scale(&x[dim], 1 / k.r);
}

/* Computes x_i = 2 q_i/u and x_dim = R (2 - u)/u with u = 1 + K|q|^2 for the curvature K and R = 1/sqrt(|K|). The
 * result is nan for u <= 0, outside the ball of a hyperbolic factor. */
static void stereographic(cb_trig k, int dim, const cb_jet *q, cb_jet *x) {
  cb_jet u = cb_jet_constant(q[0].n, 1);
  for (int i = 0; i < dim; i++) {
    cb_jet square = times(q[i], q[i]);
    square = cb_jet_scale(&square, k.k);
    u = cb_jet_add(&u, &square);
  }
  const double v = u.v > 0 ? u.v : NAN;
  const cb_jet scale = cb_jet_compose(&u, 2 / v, -2 / (v * v), 4 / (v * v * v));
  for (int i = 0; i < dim; i++) x[i] = times(scale, q[i]);
  x[dim] = cb_jet_shift(&scale, -1);
  x[dim] = cb_jet_scale(&x[dim], 1 / k.r);
}

typedef void (*factor_chart)(cb_trig k, int dim, const cb_jet *q, cb_jet *x);

static const struct {
  const char *name;
  factor_chart of;
  bool curved_only; /* true: only curved factors use this chart; a flat factor keeps Cartesian coordinates */
} charts[] = {{"polar", polar, false},
              {"translation", translation, false},
              {"stereographic", stereographic, true},
              {"poincare", stereographic, true},
              {"embedding", NULL, true}};
enum { CHARTS = sizeof charts / sizeof *charts };

static int find(const cb_chart *chart) {
  for (int i = 0; i < CHARTS; i++)
    if (!strcmp(charts[i].name, chart->name)) return i;
  return -1;
}

bool cb_points_knows(const cb_chart *chart) { return find(chart) >= 0; }

cb_status cb_points_chart(const cb_space *g, const cb_chart *chart, const double *q, cb_point_jet *out) {
  const int which = find(chart), size = chart->size, k = g->embedding;
  memset(out, 0, sizeof *out);
  cb_status status = chart->to_point(g, q, out->x, NULL);
  if (status) return status;
  if (!charts[which].of) {
    for (int i = 0; i < k; i++) out->d[i][i] = 1;
    return CB_OK;
  }
  cb_jet u[CB_COORD_MAX], x[CB_COORD_MAX] = {0};
  for (int i = 0; i < size; i++) u[i] = cb_jet_variable(size, i, q[i]);
  for (int f = 0, at = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    const int dim = cb_factor_dim(factor);
    const bool cartesian = factor.curvature == 0 && (charts[which].curved_only || factor.count == 1);
    if (cartesian)
      memcpy(x + factor.offset, u + at, (size_t)dim * sizeof *x);
    else
      charts[which].of(cb_trig_of(factor.curvature), dim, u + at, x + factor.offset);
    at += dim;
  }
  for (int a = 0; a < k; a++)
    for (int i = 0; i < size; i++) {
      out->d[i][a] = x[a].g[i];
      for (int j = 0; j < size; j++) out->dd[i][j][a] = x[a].h[cb_jet_packed(i, j)];
    }
  return CB_OK;
}
