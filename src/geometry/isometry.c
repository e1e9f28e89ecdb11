/* Isometries x -> m x + b of the embedding, Killing fields, and the flows of Killing fields.
 *
 *   flow of A x + b for time s: exp(s B) with B = (A b; 0 0). The usual fields satisfy B^3 = l B:
 *   exp(s B) = 1 + S B + 2 T B^2,  S = s_K(s), T = s_K(s/2)^2, K = -l  (numerics_curved.h)
 * Other fields (a screw motion) use the Taylor series of exp(s B/2^n), which is squared n times. In a space that is
 * given by its metric, cb_isometry represents only two kinds of maps: the left translations of a group, m = m(a), b = a
 * (curvebody/intrinsic.h), and the flows of fields that are affine in its coordinates.
 */
#include "geometry/origin.h"
#include "numerics/numerics_curved.h"
#include "geometry/chart.h"
#include "geometry/numeric.h"
#include "numerics/tableau.h"
#include <curvebody/space.h>

#include <math.h>
#include <string.h>

enum { N = CB_COORD_MAX + 1 };

typedef struct matrix {
  double m[N][N];
} matrix;

static matrix multiply(const matrix *a, const matrix *b) {
  matrix c = {{{0}}};
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) c.m[i][j] += a->m[i][k] * b->m[k][j];
  return c;
}

static double largest(const matrix *a) {
  double max = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) max = fmax(max, fabs(a->m[i][j]));
  return max;
}

/* Adds s times the matrix a to c. */
static void add(matrix *c, double s, const matrix *a) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) c->m[i][j] += s * a->m[i][j];
}

static const matrix one = {{{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 1, 0}, {0, 0, 0, 0, 1}}};

/* Returns exp(a) by scaling and squaring. At norm 1/2 the last of 20 terms is at most 2^-20/20! = 4e-25. */
static matrix exponential(matrix a) {
  int squarings = 0;
  for (double size = N * largest(&a); size > 0.5 && squarings < 60; size /= 2) squarings++;
  matrix sum = one, term = one, scaled = {{{0}}};
  add(&scaled, ldexp(1, -squarings), &a);
  for (int n = 1; n <= 20; n++) {
    matrix product = multiply(&term, &scaled);
    term = (matrix){{{0}}};
    add(&term, 1. / n, &product);
    add(&sum, 1, &term);
  }
  while (squarings-- > 0) sum = multiply(&sum, &sum);
  return sum;
}

/* Returns whether b^3 = l b up to round-off, and sets l. l is the ratio of b^3 and b at the largest entry of b. */
static int is_simple(const matrix *b, const matrix *b2, double *l) {
  matrix b3 = multiply(b2, b);
  double size = largest(b), ratio = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      if (fabs(b->m[i][j]) == size && size > 0 && fabs(b3.m[i][j]) > fabs(ratio * size))
        ratio = b3.m[i][j] / b->m[i][j];
  add(&b3, -ratio, b);
  *l = ratio;
  return largest(&b3) <= 1e-15 * size * (size * size + fabs(ratio));
}

static void flow_of(int n, const cb_killing *field, double s, cb_isometry *out) {
  matrix b = {{{0}}}, flow = one;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < CB_COORD_MAX; j++) b.m[i][j] = field->a[i][j];
    b.m[i][N - 1] = field->b[i];
  }
  matrix b2 = multiply(&b, &b);
  double l;
  if (is_simple(&b, &b2, &l)) {
    cb_trig k = cb_trig_of(-l);
    double half = cb_trig_s(k, s / 2);
    add(&flow, cb_trig_s(k, s), &b);
    add(&flow, 2 * half * half, &b2);
  } else {
    matrix scaled = {{{0}}};
    add(&scaled, s, &b);
    flow = exponential(scaled);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) out->m[i][j] = flow.m[i][j];
    out->b[i] = flow.m[i][N - 1];
  }
}

/* Returns whether a field of a space that is given by its metric is affine, X = A q + b, and writes A and b to *out. A
 * and b follow from the field at 0 and at the unit points, and are tested at three other points. */
static bool is_affine(const cb_space *g, int index, cb_killing *out) {
  static const double trial[3][CB_DIM_MAX] = {{0.7, -1.3, 2.1}, {-3.9, 0.6, 1.7}, {5.3, 4.1, -2.9}};
  const int n = g->dim;
  double zero[CB_Q_MAX] = {0}, x[CB_Q_MAX];
  memset(out, 0, sizeof *out);
  if (n > CB_DIM_MAX) return false;
  cb_killing_at(g, index, zero, out->b);
  for (int j = 0; j < n; j++) {
    double unit[CB_Q_MAX] = {0};
    unit[j] = 1;
    cb_killing_at(g, index, unit, x);
    for (int i = 0; i < n; i++) out->a[i][j] = x[i] - out->b[i];
  }
  bool affine = true;
  for (int t = 0; t < 3; t++) {
    cb_killing_at(g, index, trial[t], x);
    for (int i = 0; i < n; i++) {
      double sum = out->b[i], size = fabs(sum);
      for (int j = 0; j < n; j++) {
        sum += out->a[i][j] * trial[t][j];
        size += fabs(out->a[i][j] * trial[t][j]);
      }
      affine = affine && fabs(x[i] - sum) <= 1e-14 * size;
    }
  }
  return affine;
}

void cb_isometry_flow(const cb_space *g, int index, double s, cb_isometry *out) {
  cb_origin origin;
  cb_killing field;
  cb_isometry_identity(g, out);
  if (!g->intrinsic) {
    flow_of(g->embedding, &g->killing[index], s, out);
  } else if (cb_origin_moves(g) && !cb_origin_flow(g, index, s, &origin)) {
    cb_origin_isometry(g, &origin, out);
  } else if (is_affine(g, index, &field)) {
    flow_of(g->dim, &field, s, out);
  } else {
    for (int i = 0; i < CB_COORD_MAX; i++) {
      out->b[i] = NAN;
      for (int j = 0; j < CB_COORD_MAX; j++) out->m[i][j] = NAN;
    }
  }
}

void cb_isometry_identity(const cb_space *g, cb_isometry *out) {
  memset(out, 0, sizeof *out);
  for (int a = 0; a < g->embedding && a < CB_COORD_MAX; a++) out->m[a][a] = 1;
}

void cb_isometry_vector(const cb_space *g, const cb_isometry *a, const double *v, double *w) {
  double sum[CB_COORD_MAX] = {0};
  const int n = g->embedding < CB_COORD_MAX ? g->embedding : CB_COORD_MAX;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum[i] += a->m[i][j] * v[j];
  /* Only a configuration space has more than CB_COORD_MAX coordinates. There `a` is the identity, so that w is equal to
   * v. */
  memmove(w, v, (size_t)g->embedding * sizeof *w);
  memcpy(w, sum, (size_t)n * sizeof *w);
}

void cb_isometry_point(const cb_space *g, const cb_isometry *a, const double *x, double *y) {
  cb_isometry_vector(g, a, x, y);
  for (int i = 0; i < g->embedding && i < CB_COORD_MAX; i++) y[i] += a->b[i];
}

void cb_isometry_compose(const cb_space *g, const cb_isometry *a, const cb_isometry *b, cb_isometry *out) {
  cb_isometry c = {0};
  const int n = g->embedding;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) c.m[i][j] += a->m[i][k] * b->m[k][j];
  cb_isometry_point(g, a, b->b, c.b);
  *out = c;
}

/* Inverts an isometry: m^-1 = I m^T I with I = diag(form), because m keeps the form. In a space that is given by its
 * metric, m is inverted numerically. */
void cb_isometry_inverse(const cb_space *g, const cb_isometry *a, cb_isometry *out) {
  cb_isometry c = {0};
  if (g->intrinsic) {
    cb_dd m[CB_COORD_MAX][CB_COORD_MAX], inverse[CB_COORD_MAX][CB_COORD_MAX];
    for (int i = 0; i < g->dim; i++)
      for (int j = 0; j < g->dim; j++) m[i][j] = cb_dd_of(a->m[i][j]);
    cb_dd_invert(g->dim, m, inverse);
    for (int i = 0; i < g->dim; i++)
      for (int j = 0; j < g->dim; j++) c.m[i][j] = inverse[i][j].hi;
  }
  for (int i = 0; !g->intrinsic && i < g->embedding; i++)
    for (int j = 0; j < g->embedding; j++) c.m[i][j] = g->form[i] * a->m[j][i] * g->form[j];
  cb_isometry_vector(g, &c, a->b, c.b);
  for (int i = 0; i < g->embedding; i++) c.b[i] = -c.b[i];
  *out = c;
}

/* --- Killing fields X(x) = A x + b and their momenta J = <X(x), p> ---
 *
 *   translation along axis i of a flat factor       b = E_i
 *   boost of a hyperbolic factor                    (w E_i + x_i E_w)/R
 *   rotation of a sphere in the plane of i and w    (w E_i - x_i E_w)/R
 *   rotation from axis i to axis j, any factor      x_i E_j - x_j E_i
 * R is 1/sqrt|K|, E_i the i-th axis, w the last coordinate of the factor, E_w its axis, and p the momentum. The first
 * three have unit speed on the geodesic through the base point along axis i, the last one has unit angular speed.
 */

/* Names of the fields by axis. A rotation from axis i to axis j has the name of the third axis. */
static const char *const translations[CB_DIM_MAX] = {"translation_x", "translation_y", "translation_z"};
static const char *const boosts[CB_DIM_MAX] = {"boost_x", "boost_y", "boost_z"};
static const char *const turns[CB_DIM_MAX] = {"rotation_wx", "rotation_wy", "rotation_wz"};
static const char *const rotations[CB_DIM_MAX] = {"rotation_x", "rotation_y", "rotation_z"};

static cb_killing *next(cb_space *g, const char *name) {
  cb_killing *field = &g->killing[g->n_killing++];
  memset(field, 0, sizeof *field);
  field->name = name;
  return field;
}

void cb_killing_build(cb_space *g, cb_factor f, int axis) {
  int dim = f.curvature == 0 ? f.count : f.count - 1, o = f.offset, w = o + f.count - 1;
  double curvature = f.curvature, r = curvature == 0 ? 0 : 1 / sqrt(fabs(curvature));
  for (int i = 0; i < dim; i++) {
    if (curvature == 0) {
      next(g, translations[axis + i])->b[o + i] = 1;
      continue;
    }
    cb_killing *field = next(g, curvature < 0 ? boosts[axis + i] : turns[axis + i]);
    field->a[o + i][w] = 1 / r;
    field->a[w][o + i] = curvature < 0 ? 1 / r : -1 / r;
  }
  for (int name = 0; name < CB_DIM_MAX; name++) { /* the rotation from axis i to axis j, where (i, j, name) is cyclic */
    int i = (name + 1) % CB_DIM_MAX - axis, j = (name + 2) % CB_DIM_MAX - axis;
    if (i < 0 || j < 0 || i >= dim || j >= dim) continue;
    cb_killing *field = next(g, rotations[name]);
    field->a[o + j][o + i] = 1;
    field->a[o + i][o + j] = -1;
  }
}

int cb_killing_find(const cb_space *g, const char *name) {
  for (int i = 0; i < g->n_killing; i++)
    if (strcmp(g->killing[i].name, name) == 0) return i;
  return -1;
}

void cb_killing_at(const cb_space *g, int index, const double *x, double *v) {
  if (g->intrinsic) {
    cb_intrinsic_killing_at(g, index, x, v);
    return;
  }
  const cb_killing *field = &g->killing[index];
  double sum[CB_COORD_MAX] = {0};
  for (int a = 0; a < g->embedding; a++) {
    sum[a] = field->b[a];
    for (int b = 0; b < g->embedding; b++) sum[a] += field->a[a][b] * x[b];
  }
  memcpy(v, sum, (size_t)g->embedding * sizeof *v);
}

/* Adds the Killing momenta of n points: J = sum_ab A_ab (form_a p_a x_b) + sum_a b_a form_a p_a for each Killing field
 * A x + b. The products of p and x are summed over the points once, and serve all fields. */
void cb_killing_momenta_add(const cb_space *g, int n, const double *x, const double *p, double *momentum) {
  double lowered[CB_COORD_MAX] = {0}, product[CB_COORD_MAX][CB_COORD_MAX] = {{0}};
  for (int k = g->embedding; n > 0; n--, x += k, p += k)
    for (int a = 0; a < k; a++) {
      const double low = g->form[a] * p[a];
      lowered[a] += low;
      for (int b = 0; b < k; b++) product[a][b] += low * x[b];
    }
  for (int i = 0; i < g->n_killing; i++) {
    const cb_killing *field = &g->killing[i];
    double row[CB_COORD_MAX];
    for (int a = 0; a < CB_COORD_MAX; a++) {
      row[a] = field->b[a] * lowered[a];
      for (int b = 0; b < CB_COORD_MAX; b++) row[a] += field->a[a][b] * product[a][b];
    }
    momentum[i] += (row[0] + row[1]) + (row[2] + row[3]);
  }
}

void cb_killing_momentum_add(const cb_space *g, const double *x, const double *p, double *momentum) {
  if (g->intrinsic)
    cb_intrinsic_killing_momentum_add(g, x, p, momentum);
  else
    cb_killing_momenta_add(g, 1, x, p, momentum);
}

/* --- the flow of a Killing field X at one point ---
 *
 *   y = q(s),  q' = X(q), q(0) = x;   Jacobian dy/dx = J(s),  J' = DX(q) J, J(0) = 1
 *
 * The flow has a closed form where the isometry is affine in the coordinates. Otherwise it is integrated by
 * extrapolated steps of 2, 4, ..., 16 parts (numeric.h), with DX from differences of eighth order. The relative error
 * is about 1e-13.
 */

enum { DIM = CB_DIM_MAX, SIZE = DIM + DIM * DIM, COLUMNS = 8, MAX_STEPS = 100000 };

/* A step is accepted if the relative difference of the last two columns of the extrapolation is at most `converged`.
 * The error of the last column is far smaller; the round-off of DX is a tenth of `converged`. A step shorter than
 * smallest_step times the whole time is always accepted. */
static const double converged = 1e-13, smallest_step = 1e-10;

typedef struct field {
  const cb_space *g;
  int index, n, size;
} field;

/* Computes dx[i][j] = dX_i/dq_j, the derivatives of the field X, by differences. */
static void differentiate(const field *f, const double *q, double dx[DIM][DIM]) {
  memset(dx, 0, DIM * sizeof *dx);
  for (int j = 0; j < f->n; j++) {
    const double h = 1e-2 * fmax(1, fabs(q[j]));
    for (int m = 1; m <= 4; m++) {
      double plus[DIM], minus[DIM], up[DIM], down[DIM];
      memcpy(plus, q, (size_t)f->n * sizeof *q);
      memcpy(minus, q, (size_t)f->n * sizeof *q);
      plus[j] += m * h;
      minus[j] -= m * h;
      cb_killing_at(f->g, f->index, plus, up);
      cb_killing_at(f->g, f->index, minus, down);
      for (int i = 0; i < f->n; i++) dx[i][j] += cb_central_weight[m - 1] * (up[i] - down[i]) / h;
    }
  }
}

/* Computes the rate dz of z = (q, J row after row). */
static cb_status rate(void *of, const double *z, double *dz) {
  const field *f = of;
  const int n = f->n;
  double dx[DIM][DIM];
  cb_killing_at(f->g, f->index, z, dz);
  if (f->size == n) return CB_OK;
  differentiate(f, z, dx);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      dz[n + i * n + j] = 0;
      for (int k = 0; k < n; k++) dz[n + i * n + j] += dx[i][k] * z[n + k * n + j];
    }
  return CB_OK;
}

/* Writes z = (q, J) after a step of length H to `end`. Returns the relative difference of the last two columns. */
static double step(const field *f, const double *z, double H, double *end) {
  double table[COLUMNS * SIZE], last[SIZE], dz[SIZE], error = 0, size = 1;
  const cb_extrapolation how = {rate, (void *)f, f->size, z, dz};
  rate((void *)f, z, dz);
  for (int c = 0; c < COLUMNS; c++) cb_extrapolation_row(&how, H, c, table, last);
  for (int i = 0; i < f->size; i++) {
    end[i] = z[i] + table[(COLUMNS - 1) * f->size + i];
    error = fmax(error, fabs(last[i]));
    size = fmax(size, fabs(end[i]));
  }
  return isfinite(error) ? error / size : INFINITY;
}

static cb_status integrate(const field *f, double s, double *z) {
  double t = 0, H = s;
  for (int n = 0; t != s && n < MAX_STEPS; n++) {
    double end[SIZE];
    if (fabs(H) > fabs(s - t)) H = s - t;
    const double error = step(f, z, H, end);
    if (error > converged && fabs(H) > smallest_step * fabs(s)) {
      H /= 2;
      continue;
    }
    memcpy(z, end, (size_t)f->size * sizeof *z);
    t = fabs(H) >= fabs(s - t) ? s : t + H;
  }
  for (int i = 0; i < f->size; i++)
    if (!isfinite(z[i])) t = INFINITY;
  if (t == s) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN, "the flow of %s for %g was not found: expected a smaller value, or another start",
                 f->g->killing[f->index].name, s);
}

cb_status cb_killing_flow(const cb_space *g, int index, double s, const double *x, double *y, double *jacobian) {
  cb_isometry linear;
  cb_isometry_flow(g, index, s, &linear);
  if (isfinite(linear.m[0][0])) {
    const int n = g->embedding;
    cb_isometry_point(g, &linear, x, y);
    for (int i = 0; jacobian && i < n * n; i++) jacobian[i] = linear.m[i / n][i % n];
    return CB_OK;
  }
  const int n = g->dim;
  if (n > DIM)
    return cb_fail(CB_ERROR_UNSUPPORTED, "the flow of %s is not available in dimension %d", g->killing[index].name, n);
  const field f = {g, index, n, jacobian ? n + n * n : n};
  double z[SIZE] = {0};
  memcpy(z, x, (size_t)n * sizeof *z);
  for (int i = 0; i < n; i++) z[n + i * n + i] = 1;
  const cb_status status = integrate(&f, s, z);
  if (status) return status;
  memcpy(y, z, (size_t)n * sizeof *y);
  if (jacobian) memcpy(jacobian, z + n, (size_t)(n * n) * sizeof *jacobian);
  return CB_OK;
}
