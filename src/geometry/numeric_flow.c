/* Geodesics of a chart with transported vectors and Jacobi fields, by extrapolation of the midpoint rule.
 *
 *   q' = u,  g u' = -c(q, u),  c_m = d_j g_mk u^j u^k - d_m g_jk u^j u^k/2
 *   g w' = -A w/2,  A_mk = dc_m/du^k = d_k g_mj u^j + d_j g_mk u^j - d_m g_jk u^j
 *   D dq/dt = v,  D v/dt = -R(dq, u) u,  D/dt = d/dt + Gamma(u, .);   du = v - Gamma(u, dq)
 *   step: n = 2, 4, ..., 16 midpoint substeps of H/n, extrapolated in (H/n)^2 to 0; orders 4 to 16
 * q is the position, u the velocity, w a transported vector, and (dq, du) a Jacobi field. g is the metric, d_j =
 * d/dq^j, Gamma are the Christoffel symbols, R is the curvature, and H the length of the step.
 *
 * Substeps contain only y - y(0), so that round-off is relative to the increment. With v in place of du, Jacobi fields
 * keep the size of vectors where coordinates are nearly singular, for example near the axis of polar coordinates. The
 * fields start from the identity in each step, and their matrices are multiplied. Let Q be dq/du(0) before the step, Q1
 * dq/du(0) after it, and B dq1/du of the step itself. The second variation of broken geodesics then gives
 *   M = g B^-1 Q1 Q^-1, symmetric, is positive in every step  <=>  no conjugate point up to the end
 * This holds if a single step has no conjugate point, which follows from the accuracy of the step.
 * Source: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), section II.9,
 * doi:10.1007/978-3-540-78862-1; Milnor, Morse Theory (1963), sections 14-16.
 */
#include "geometry/numeric.h"

#include <math.h>
#include <string.h>

enum { D = CB_DIM_MAX, SIZE = 3 * D + 4 * D * D, COLUMNS = 8 };

/* If a step is shorter than this fraction of the geodesic, the geodesic cannot be continued. */
static const double shortest_step = 1e-7;
/* A point that is closer to an end of a step than this, as a fraction of the geodesic, counts as the end. */
static const double shortest_cut = 1e-10;

/* The maximum numbers of evaluations of the metric: for an accurate geodesic, and for a geodesic in a search, whose
 * tolerance is above `coarse`. */
enum { EVALUATIONS_MAX = 1400000, COARSE_EVALUATIONS_MAX = 14000 };
static const double coarse = 1e-9;

/* The end of a geodesic counts as before a conjugate point if h M, relative to the metric, is above this. h is the
 * length of the step. On a unit sphere h M is about sin(pi - x)/x at the length x. */
static const double short_of_conjugate = 1e-7;

typedef struct flow {
  const cb_space *g;
  int n, size;
  bool transport, jacobi;
  double length;           /* |u| */
  double tolerance;        /* the maximum error of one step */
  double y[SIZE], f[SIZE]; /* y: q, u, w and Jacobi fields (dq, v) at the start of the step; f: their rates */
  double metric[D * D];    /* the metric at the start of the step */
  double scale[D];         /* the largest sqrt(g_ii) so far */
  int *evaluations;
} flow;

/* At a point of the geodesic: the derivatives and the Cholesky factor of the metric, the matrix A, and the acceleration
 * u' (force). */
typedef struct point {
  double dg[D * D * D], ddg[D * D * D * D], chol[D * D], a[D][D], force[D];
} point;

/* Computes the rates f of the columns (dq, v) in y. */
static void jacobi_rates(int n, const point *p, const double *u, const double *y, double *f) {
  const double *dg = p->dg, *ddg = p->ddg;
  const int nn = n * n;
  /* nu = g^-1 A/2 = Gamma(u, .), with the matrix A = p->a, and tidal[m][k] = R_mjkl u^j u^l */
  double nu[D][D], tidal[D][D];
  for (int k = 0; k < n; k++) {
    double column[D];
    for (int m = 0; m < n; m++) column[m] = 0.5 * p->a[m][k];
    cb_cholesky_solve(n, p->chol, column);
    for (int m = 0; m < n; m++) nu[m][k] = column[m];
  }
  for (int m = 0; m < n; m++)
    for (int k = 0; k <= m; k++) {
      double second = 0, first = 0;
      for (int j = 0; j < n; j++) {
        for (int l = 0; l < n; l++)
          second += u[j] * u[l] *
                    (ddg[(j * n + k) * nn + m * n + l] + ddg[(m * n + l) * nn + j * n + k] -
                     ddg[(j * n + l) * nn + m * n + k] - ddg[(m * n + k) * nn + j * n + l]);
        first += p->force[j] * (dg[m * nn + j * n + k] + dg[k * nn + j * n + m] - dg[j * nn + m * n + k]);
        first += p->a[j][m] * nu[j][k];
      }
      tidal[m][k] = tidal[k][m] = 0.5 * (second + first);
    }
  for (int c = 0, at = 0; c < 2 * n; c++, at += 2 * n) {
    const double *dq = y + at, *v = dq + n;
    double pull[D];
    for (int m = 0; m < n; m++) {
      pull[m] = 0;
      for (int k = 0; k < n; k++) pull[m] += tidal[m][k] * dq[k];
    }
    cb_cholesky_solve(n, p->chol, pull);
    for (int m = 0; m < n; m++) {
      f[at + m] = v[m];
      f[at + n + m] = -pull[m];
      for (int k = 0; k < n; k++) {
        f[at + m] -= nu[m][k] * dq[k];
        f[at + n + m] -= nu[m][k] * v[k];
      }
    }
  }
}

static cb_status derivative(flow *s, const double *y, double *f, double *metric) {
  int n = s->n, nn = n * n;
  double gij[D * D];
  point p;
  const double *q = y, *u = y + n;
  ++*s->evaluations;
  for (int i = 0; i < 2 * n; i++)
    if (!isfinite(y[i]))
      return cb_fail(CB_ERROR_DOMAIN, "the geodesic has coordinates that are not finite: expected a smaller velocity");
  cb_status status = cb_numeric_metric(s->g, q, gij, p.dg, s->jacobi ? p.ddg : NULL);
  if (!status) status = cb_numeric_factor(s->g, q, gij, p.chol);
  if (status) return status;
  if (metric) memcpy(metric, gij, (size_t)nn * sizeof *gij);

  /* du[l][m] = d_l g_mk u^k */
  double du[D][D];
  for (int l = 0; l < n; l++)
    for (int m = 0; m < n; m++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += p.dg[l * nn + m * n + k] * u[k];
      du[l][m] = sum;
    }
  for (int m = 0; m < n; m++)
    for (int k = 0; k < n; k++) {
      double sum = du[k][m] - du[m][k];
      for (int j = 0; j < n; j++) sum += p.dg[j * nn + m * n + k] * u[j];
      p.a[m][k] = sum;
    }
  for (int m = 0; m < n; m++) {
    p.force[m] = 0;
    for (int k = 0; k < n; k++) p.force[m] -= 0.5 * p.a[m][k] * u[k];
  }
  cb_cholesky_solve(n, p.chol, p.force);
  memcpy(f, u, (size_t)n * sizeof *f);
  memcpy(f + n, p.force, (size_t)n * sizeof *f);
  int at = 2 * n;
  if (s->transport) {
    for (int m = 0; m < n; m++) {
      f[at + m] = 0;
      for (int k = 0; k < n; k++) f[at + m] -= 0.5 * p.a[m][k] * y[at + k];
    }
    cb_cholesky_solve(n, p.chol, f + at);
    at += n;
  }
  if (s->jacobi) jacobi_rates(n, &p, u, y + at, f + at);
  return CB_OK;
}

/* Returns the largest of the errors e of the components of the increment d, each divided by the scale of its component
 * and by the tolerance. A step is accepted if the result is at most 1. */
static double error_norm(const flow *s, const double *d, const double *e) {
  int n = s->n;
  double worst = 0, length = s->length > 0 ? s->length : 1, w = 0;
  for (int i = 0; i < n; i++) {
    double r = s->scale[i];
    worst = fmax(worst, r * fabs(e[i]) / fmax(length, r * fabs(d[i])));
    worst = fmax(worst, r * fabs(e[n + i]) / fmax(length, r * fmax(fabs(s->y[n + i]), fabs(s->y[n + i] + d[n + i]))));
  }
  int at = 2 * n;
  if (s->transport) {
    for (int i = 0; i < n; i++) w = fmax(w, s->scale[i] * fmax(fabs(s->y[at + i]), fabs(s->y[at + i] + d[at + i])));
    for (int i = 0; i < n && w > 0; i++) worst = fmax(worst, s->scale[i] * fabs(e[at + i]) / w);
    at += n;
  }
  /* The matrix of the Jacobi fields is scaled so that each field (column) starts from a unit vector. The error of each
   * row is then relative to the largest entry of the row. */
  for (int i = 0; s->jacobi && i < 2 * n; i++) {
    double maximum = 0, size = 0;
    for (int c = 0; c < 2 * n; c++) {
      int k = at + c * 2 * n + i;
      double r = 1 / sqrt(s->metric[(c % n) * (n + 1)]);
      if (i >= n && c < n) r /= length;
      maximum = fmax(maximum, r * fabs(e[k]));
      size = fmax(size, r * fabs(s->y[k] + d[k]));
    }
    worst = fmax(worst, maximum / size);
  }
  return isfinite(worst) ? worst / s->tolerance : INFINITY;
}

static cb_status rate(void *problem, const double *y, double *f) { return derivative(problem, y, f, NULL); }

/* Tries one step of this length. Computes its error (accepted up to 1), the factor for the next length, and the
 * increment, which is only written if the step is accepted. */
static cb_status extrapolate(flow *s, double length, double *increment, double *error, double *factor) {
  const cb_extrapolation how = {rate, s, s->size, s->y, s->f};
  double table[COLUMNS * SIZE], e[SIZE];
  *error = INFINITY;
  *factor = 0.25;
  for (int j = 0; j < COLUMNS; j++) {
    const cb_status status = cb_extrapolation_row(&how, length, j, table, e);
    if (status) return status;
    if (j == 0) continue;
    *error = error_norm(s, table + j * s->size, e);
    *factor = fmin(4, fmax(0.1, 0.9 * pow(0.5 / fmax(*error, 1e-30), 1.0 / (2 * j + 1)) * pow(1.25, COLUMNS - 2 - j)));
    if (*error <= 1) {
      memcpy(increment, table + j * s->size, (size_t)s->size * sizeof *increment);
      return CB_OK;
    }
    /* gain is the factor by which the remaining columns can still reduce the error. */
    double gain = 1;
    for (int k = j + 2; k <= COLUMNS; k++) gain *= (double)k * k;
    if (j >= 3 && *error > gain * 10) break;
  }
  *factor = fmin(*factor, 0.6);
  return CB_OK;
}

static void multiply(int n, const double *a, const double *b, double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      out[i * n + j] = sum;
    }
}

/* Returns whether h M - short_of_conjugate g is positive, where M is that of the comment at the top of this file. */
static bool still_minimal(const flow *s, double h, const double *b, const double *q, const double *q1) {
  int n = s->n;
  double inverse[D * D] = {0}, m[D * D], x[D * D], l[D * D];
  for (int i = 0; i < n; i++) inverse[i * n + i] = 1;
  if (!cb_numeric_divide(n, q, n, inverse)) return false;
  multiply(n, q1, inverse, m);
  if (!cb_numeric_divide(n, b, n, m)) return false;
  multiply(n, s->metric, m, x);
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      m[i * n + j] = 0.5 * h * (x[i * n + j] + x[j * n + i]) - short_of_conjugate * s->metric[i * n + j];
  return cb_cholesky(n, m, 0, l);
}

/* Multiplies the matrix of the Jacobi fields over this step by the matrix over the earlier steps, and looks for a
 * conjugate point. */
static void accumulate(const flow *s, double h, bool first, const double *columns, cb_geodesic_end *out) {
  int n = s->n, nn = n * n;
  cb_jacobi step, *j = &out->jacobi;
  for (int c = 0; c < n; c++)
    for (int i = 0; i < n; i++) {
      step.q_q[i * n + c] = columns[c * 2 * n + i];
      step.u_q[i * n + c] = columns[c * 2 * n + n + i];
      step.q_u[i * n + c] = columns[(n + c) * 2 * n + i];
      step.u_u[i * n + c] = columns[(n + c) * 2 * n + n + i];
    }
  if (first) {
    *j = step;
    return;
  }
  double part[D * D], qq[D * D] = {0}, qu[D * D] = {0}, uq[D * D] = {0}, uu[D * D] = {0};
  double *const result[] = {qq, qu, uq, uu};
  const double *const left[] = {step.q_q, step.q_q, step.u_q, step.u_q};
  const double *const right[] = {step.q_u, step.q_u, step.u_u, step.u_u};
  const double *const top[] = {j->q_q, j->q_u, j->q_q, j->q_u}, *const bottom[] = {j->u_q, j->u_u, j->u_q, j->u_u};
  for (int k = 0; k < 4; k++) {
    multiply(n, left[k], top[k], result[k]);
    multiply(n, right[k], bottom[k], part);
    for (int i = 0; i < nn; i++) result[k][i] += part[i];
  }
  if (!still_minimal(s, h, step.q_u, j->q_u, qu)) out->conjugate = true;
  memcpy(j->q_q, qq, sizeof qq);
  memcpy(j->q_u, qu, sizeof qu);
  memcpy(j->u_q, uq, sizeof uq);
  memcpy(j->u_u, uu, sizeof uu);
}

/* Computes nu = Gamma(u, .) at q, row after row. */
static cb_status connection(const cb_space *g, const double *q, const double *u, double *nu) {
  int n = g->dim;
  double gamma[D][D][D];
  cb_status status = cb_christoffel(g, q, gamma, NULL);
  for (int i = 0; !status && i < n; i++)
    for (int k = 0; k < n; k++) {
      nu[i * n + k] = 0;
      for (int j = 0; j < n; j++) nu[i * n + k] += gamma[i][j][k] * u[j];
    }
  return status;
}

/* Converts the Jacobi fields at both ends from (dq, v) to (dq, du), where v is the covariant derivative of dq. */
static void to_coordinates(int n, const double *nu0, const double *nu1, cb_jacobi *j) {
  double part[D * D];
  multiply(n, j->q_u, nu0, part);
  for (int i = 0; i < n * n; i++) j->q_q[i] += part[i];
  multiply(n, j->u_u, nu0, part);
  for (int i = 0; i < n * n; i++) j->u_q[i] += part[i];
  multiply(n, nu1, j->q_q, part);
  for (int i = 0; i < n * n; i++) j->u_q[i] -= part[i];
  multiply(n, nu1, j->q_u, part);
  for (int i = 0; i < n * n; i++) j->u_u[i] -= part[i];
}

/* Sets y at the start of a geodesic: position, velocity and, if they are requested, the vector w and the Jacobi
 * fields. */
static void begin(flow *s, const double *q, const double *u, const double *w) {
  int n = s->n;
  memset(s->y, 0, sizeof s->y);
  memcpy(s->y, q, (size_t)n * sizeof *q);
  memcpy(s->y + n, u, (size_t)n * sizeof *u);
  s->size = 2 * n;
  if (s->transport) {
    memcpy(s->y + s->size, w, (size_t)n * sizeof *w);
    s->size += n;
  }
  if (!s->jacobi) return;
  for (int c = 0; c < 2 * n; c++) s->y[s->size + c * 2 * n + c] = 1;
  s->size += 4 * n * n;
}

static cb_status lost(const flow *s, const double *q0, double t, cb_status cause) {
  char from[CB_POSITION_TEXT], at[CB_POSITION_TEXT], why[256] = "its steps become too small";
  if (cause) {
    strncpy(why, cb_error_text(), sizeof why - 1);
    why[sizeof why - 1] = 0;
  }
  return cb_fail(CB_ERROR_DOMAIN, "the geodesic from %s leaves the chart after a length of %.10g near %s: %s",
                 cb_numeric_position(s->n, q0, from), t * s->length, cb_numeric_position(s->n, s->y, at), why);
}

/* --- holes of the domain between the points at which the metric is evaluated --- */

/* Computes the margin of a condition (cb_intrinsic.margin) at the fraction `part` of the step, on Hermite's cubic
 * through the ends of the step. Returns false if there is no condition of this index. */
static bool margin_at(const flow *s, double h, const double *increment, int condition, double part, double *margin) {
  const double rest = 1 - part, a = part * part * (3 - 2 * part), b = part * rest * rest * h,
               c = -part * part * rest * h;
  double q[D];
  for (int i = 0; i < s->n; i++) {
    const double u0 = s->y[s->n + i], u1 = u0 + increment[s->n + i];
    q[i] = s->y[i] + a * increment[i] + b * u0 + c * u1;
  }
  return s->g->intrinsic->margin(s->g, condition, q, margin);
}

/* Returns the first fraction of the step at which the margin of a condition has a minimum below half of the larger
 * margin at the ends. Returns 1 if there is none. A step that ends there shows whether the margin is negative. The
 * cubic is only used to locate the minimum; its error is smaller for shorter steps. */
static double part_to_border(const flow *s, double h, const double *increment) {
  enum { PARTS = 16, THIRDS = 90 };
  double least = 1, margin[PARTS + 1];
  if (!s->g->intrinsic || !s->g->intrinsic->margin) return least;
  for (int condition = 0; margin_at(s, h, increment, condition, 0, margin); condition++) {
    for (int k = 1; k <= PARTS; k++) margin_at(s, h, increment, condition, (double)k / PARTS, &margin[k]);
    /* there may be a minimum between this place and its neighbours, also next to an end */
    for (int k = 0; k <= PARTS; k++) {
      const int before = k > 0 ? k - 1 : 0, after = k < PARTS ? k + 1 : PARTS;
      if (!(margin[k] <= margin[before] && margin[k] <= margin[after])) continue;
      double low = (double)before / PARTS, high = (double)after / PARTS, x = margin[k], y = margin[k];
      for (int turn = 0; turn < THIRDS && low < high; turn++) { /* the minimum is on the side of the smaller value */
        const double third = (high - low) / 3;
        margin_at(s, h, increment, condition, low + third, &x);
        margin_at(s, h, increment, condition, high - third, &y);
        *(x < y ? &high : &low) = x < y ? high - third : low + third;
      }
      const double part = (low + high) / 2;
      const bool is_inner = part * h > shortest_cut && (1 - part) * h > shortest_cut;
      if (is_inner && fmin(x, y) < 0.5 * fmax(margin[0], margin[PARTS])) least = fmin(least, part);
    }
  }
  return least;
}

/* Sets |u| at the start, and the largest sqrt(g_ii) so far. */
static void take_scales(flow *s, double t, const double *u) {
  const int n = s->n;
  if (t == 0) {
    double square = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) square += s->metric[i * n + j] * u[i] * u[j];
    s->length = sqrt(square);
  }
  for (int i = 0; i < n; i++) s->scale[i] = fmax(s->scale[i], sqrt(s->metric[i * n + i]));
}

/* Adds the increment of an accepted step of length h to the result. The matrix of the Jacobi fields becomes the matrix
 * of this step times that of the earlier steps. Overwrites `increment`. */
static void take_step(flow *s, const double *q, double h, bool first, double *increment, cb_geodesic_end *result) {
  const int n = s->n, columns = s->transport ? 3 * n : 2 * n;
  for (int i = 0; i < n; i++) {
    result->moved[i] += increment[i];
    result->q[i] = q[i] + result->moved[i];
    result->u[i] += increment[n + i];
    if (s->transport) result->w[i] += increment[2 * n + i];
  }
  if (!s->jacobi) return;
  for (int i = columns; i < s->size; i++) increment[i] += s->y[i];
  accumulate(s, h, first, increment + columns, result);
}

cb_status cb_flow_geodesic(const cb_space *g, const double *q, const double *u, const double *w, bool jacobi,
                           double tolerance, cb_geodesic_end *out) {
  const int n = g->dim;
  flow s = {.g = g,
            .n = n,
            .transport = w != NULL,
            .jacobi = jacobi,
            .tolerance = tolerance,
            .evaluations = &out->evaluations};
  cb_geodesic_end result = {0};
  memcpy(result.q, q, (size_t)n * sizeof *q);
  memcpy(result.u, u, (size_t)n * sizeof *u);
  if (w) memcpy(result.w, w, (size_t)n * sizeof *w);
  double t = 0, h = 1, increment[SIZE];
  out->evaluations = 0;
  const int evaluations_max = tolerance > coarse ? COARSE_EVALUATIONS_MAX : EVALUATIONS_MAX;
  for (int step = 0; t < 1; step++) {
    if (out->evaluations > evaluations_max) return lost(&s, q, t, CB_OK);
    begin(&s, result.q, result.u, result.w);
    cb_status status = derivative(&s, s.y, s.f, s.metric);
    if (status) return t > 0 ? lost(&s, q, t, status) : status;
    take_scales(&s, t, u);
    for (bool cut = false;;) {
      double error, factor;
      if (!cut && (h > 1 - t || 1.05 * h > 1 - t)) h = 1 - t;
      status = extrapolate(&s, h, increment, &error, &factor);
      const double part = status || error > 1 || cut ? 1 : part_to_border(&s, h, increment);
      cut = part < 1;
      if (cut) {
        h *= part;
        continue;
      }
      if (!status && error <= 1) {
        t = h >= 1 - t ? 1 : t + h;
        take_step(&s, q, h, step == 0, increment, &result);
        h *= factor;
        break;
      }
      h *= factor;
      if (h < shortest_step || out->evaluations > evaluations_max) return lost(&s, q, t, status);
    }
  }
  /* connection() fails if the end is outside the domain. */
  double nu0[D * D], nu1[D * D];
  cb_status status = connection(g, result.q, result.u, nu1);
  if (status) return lost(&s, q, 1, status);
  if (jacobi) {
    status = connection(g, q, u, nu0);
    if (status) return status;
    to_coordinates(n, nu0, nu1, &result.jacobi);
  }
  result.evaluations = out->evaluations;
  *out = result;
  return CB_OK;
}
