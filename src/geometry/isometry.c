/* Isometries x -> m x + b of the embedding, and the flows of Killing fields.
 *
 *   flow of A x + b for time s: exp(s B) with B = (A b; 0 0). The usual fields satisfy B^3 = l B:
 *   exp(s B) = 1 + S B + 2 T B^2,  S = s_K(s), T = s_K(s/2)^2, K = -l  (trig.h)
 * Other fields (a screw motion) take the Taylor series of exp(s B/2^n), squared n times.
 * In a space known by its metric: left translations of a group, m = m(a), b = a (intrinsic.h), and fields that happen
 * to be affine in its coordinates.
 */
#include "geometry/origin_private.h"
#include "numerics/trig.h"

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

/* Adds s a to c. */
static void add(matrix *c, double s, const matrix *a) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) c->m[i][j] += s * a->m[i][j];
}

static const matrix one = {{{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 1, 0}, {0, 0, 0, 0, 1}}};

/* exp(a) by scaling and squaring: 20 terms at norm 1/2 leave 2^-20/20! = 4e-25. */
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

/* Does b^3 = l b hold? l is the ratio at b's largest entry. */
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

/* Is a field of a space known by its metric X = A q + b? Read off at 0 and the unit points, tried at three others. */
static bool is_affine(const cb_geometry *g, int index, cb_killing *out) {
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
      for (int j = 0; j < n; j++) sum += out->a[i][j] * trial[t][j], size += fabs(out->a[i][j] * trial[t][j]);
      affine = affine && fabs(x[i] - sum) <= 1e-14 * size;
    }
  }
  return affine;
}

void cb_isometry_flow(const cb_geometry *g, int index, double s, cb_isometry *out) {
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

void cb_isometry_identity(const cb_geometry *g, cb_isometry *out) {
  memset(out, 0, sizeof *out);
  for (int a = 0; a < g->embedding && a < CB_COORD_MAX; a++) out->m[a][a] = 1;
}

void cb_isometry_vector(const cb_geometry *g, const cb_isometry *a, const double *v, double *w) {
  double sum[CB_COORD_MAX] = {0};
  const int n = g->embedding < CB_COORD_MAX ? g->embedding : CB_COORD_MAX;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum[i] += a->m[i][j] * v[j];
  memmove(w, v, (size_t)g->embedding * sizeof *w); /* a space of more dimensions has the identity alone */
  memcpy(w, sum, (size_t)n * sizeof *w);
}

void cb_isometry_point(const cb_geometry *g, const cb_isometry *a, const double *x, double *y) {
  cb_isometry_vector(g, a, x, y);
  for (int i = 0; i < g->embedding && i < CB_COORD_MAX; i++) y[i] += a->b[i];
}

void cb_isometry_compose(const cb_geometry *g, const cb_isometry *a, const cb_isometry *b, cb_isometry *out) {
  cb_isometry c = {0};
  const int n = g->embedding;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) c.m[i][j] += a->m[i][k] * b->m[k][j];
  cb_isometry_point(g, a, b->b, c.b);
  *out = c;
}

/* m^-1 = I m^T I, I = diag(form): m keeps the form. */
void cb_isometry_inverse(const cb_geometry *g, const cb_isometry *a, cb_isometry *out) {
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
