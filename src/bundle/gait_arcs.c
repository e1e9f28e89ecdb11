/* Gaits in the two bases of the search, arcs and Fourier series, and functions that write them as text and numbers.
 *
 * On each arc the gait is the polynomial through its values at the Chebyshev-Lobatto points u_j = sin^2(pi j/(2 d)) of
 * the arc, u in [0, 1]; it is continuous and closed, with corners only at the ends of arcs.
 *
 *   r(u) = sum_j w_j r_j/(u - u_j) / sum_j w_j/(u - u_j),  w_j = (-1)^j, halved for j = 0 and d
 *   r'(u_i) = sum_j (w_j/w_i) (r_j - r_i)/(u_i - u_j), and r'(u) between the points by the same formula from r'(u_i)
 * d: degree of the polynomial; r_j: values at u_j. The formula is stable for any d: the error is one rounding error in
 * r, and at most d^2 rounding errors of r in r'.
 * Source: Berrut & Trefethen, SIAM Rev. 46 (2004) 501, eqs. 4.2, 5.4, 9.4, doi:10.1137/S0036144502417715.
 */
#include "bundle/gait_private.h"

#include "bundle/gait_text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Writes n numbers as "[1, 2]", and rows of n as "[[1, 2], [3, 4]]". */
static void write_numbers(cb_text *out, int n, const double *x) {
  for (int i = 0; i < n; i++) {
    char number[40];
    snprintf(number, sizeof number, "%s%.17g", i ? ", " : "[", x[i]);
    cb_text_puts(out, number);
  }
  cb_text_puts(out, "]");
}

static void write_rows(cb_text *out, int rows, int n, const double *x) {
  for (int k = 0; k < rows; k++) {
    cb_text_puts(out, k ? ", " : "[");
    write_numbers(out, n, x + k * n);
  }
  cb_text_puts(out, "]");
}

/* The numbers of the gait: end[arcs + 1], degree, u[degree + 1], r[arcs][degree + 1][n], and r', the derivative by u,
 * of the same size. */
typedef struct arc_table {
  int degree;
  const double *end, *u, *r, *slope;
} arc_table;

static arc_table table_of(const cb_gait *g) {
  const double *end = cb_gait_own_numbers(g), *u = end + g->count + 2;
  const int degree = (int)u[-1];
  const double *r = u + degree + 1;
  return (arc_table){degree, end, u, r, r + g->count * (degree + 1) * g->n};
}

static double weight(int degree, int j) { return (j % 2 ? -1 : 1) * (j == 0 || j == degree ? .5 : 1); }

/* Evaluates the polynomial through the rows value[degree + 1][n] at u. */
static void interpolate(int n, int degree, const double *node, const double *value, double u, double *out) {
  double sum = 0;
  memset(out, 0, (size_t)n * sizeof *out);
  for (int j = 0; j <= degree; j++, value += n) {
    const double away = u - node[j];
    if (fabs(away) < DBL_EPSILON * DBL_EPSILON) {
      memcpy(out, value, (size_t)n * sizeof *out);
      return;
    }
    const double part = weight(degree, j) / away;
    sum += part;
    for (int i = 0; i < n; i++) out[i] += part * value[i];
  }
  for (int i = 0; i < n; i++) out[i] /= sum;
}

static void arcs_at(const cb_gait *g, double t, double *r, double *rate) {
  const arc_table a = table_of(g);
  int low = 0, high = g->count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (t >= a.end[middle])
      low = middle;
    else
      high = middle;
  }
  const double share = a.end[low + 1] - a.end[low], u = (t - a.end[low]) / share;
  const int first = low * (a.degree + 1) * g->n;
  if (r) interpolate(g->n, a.degree, a.u, a.r + first, u, r);
  if (rate) interpolate(g->n, a.degree, a.u, a.slope + first, u, rate);
  for (int i = 0; rate && i < g->n; i++) rate[i] /= share;
}

static void write_arcs(const cb_gait *g, cb_text *out) {
  const arc_table a = table_of(g);
  cb_text_puts(out, "{ends: ");
  write_numbers(out, g->count + 1, a.end);
  cb_text_puts(out, ", points: ");
  for (int k = 0; k < g->count; k++) {
    cb_text_puts(out, k ? ", " : "[");
    write_rows(out, a.degree + 1, g->n, a.r + k * (a.degree + 1) * g->n);
  }
  cb_text_puts(out, "]}");
}

static const cb_gait_class arcs_class = {"arcs", arcs_at, write_arcs};

static cb_status check_ends(int arcs, const double *ends) {
  for (int k = 0; k <= arcs; k++)
    if (!(isfinite(ends[k]) && (k == 0 ? ends[k] == 0 : ends[k] > ends[k - 1])))
      return cb_fail(CB_ERROR_ARGUMENT, "end %d of a gait's arcs is %.9g: expected ends that increase from 0 to 1", k,
                     ends[k]);
  if (ends[arcs] == 1) return CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT, "the last end of a gait's arcs is %.9g, expected 1", ends[arcs]);
}

/* Fails unless each arc begins where the previous one ends, and the first where the last ends. */
static cb_status check_joints(int n, int arcs, int degree, const double *values) {
  for (int k = 0; k < arcs; k++)
    for (int i = 0; i < n; i++) {
      const double end = values[(k * (degree + 1) + degree) * n + i];
      const double start = values[(k + 1) % arcs * (degree + 1) * n + i];
      if (!(fabs(end - start) <= cb_gait_slack(end, start)))
        return cb_fail(CB_ERROR_ARGUMENT,
                       "arc %d of a gait ends with %.9g in variable %d, but %s with %.9g: expected equal values", k,
                       end, i, k + 1 < arcs ? "the next begins" : "the first begins", start);
    }
  return CB_OK;
}

static void differentiate(int n, int degree, const double *r, double *slope) {
  const double step = M_PI / (2 * degree);
  for (int p = 0; p <= degree; p++)
    for (int j = 0; j <= degree; j++) {
      if (j == p) continue;
      const double away = sin((p + j) * step) * sin((p - j) * step); /* u_p - u_j */
      const double part = weight(degree, j) / weight(degree, p) / away;
      for (int i = 0; i < n; i++) slope[p * n + i] += part * (r[j * n + i] - r[p * n + i]);
    }
}

cb_status cb_gait_arcs(int n, int arcs, const double *ends, int degree, const double *values, cb_gait **out) {
  cb_status status = cb_gait_check("arcs", n, arcs, 1, NULL);
  if (!status) status = cb_gait_check("points on an arc", n, degree + 1, 2, NULL);
  if (!status) status = cb_gait_check("points on its arcs", n, arcs * (degree + 1), 2, values);
  if (!status) status = check_ends(arcs, ends);
  if (!status) status = check_joints(n, arcs, degree, values);
  if (status) return status;
  const int points = degree + 1;
  const size_t row = (size_t)points * (size_t)n, rows = (size_t)arcs * row;
  cb_gait *g = cb_gait_block(&arcs_class, n, arcs, arcs, (size_t)arcs + 2 + (size_t)points + 2 * rows);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d arcs", arcs);
  double *end = g->data + arcs, *u = end + arcs + 2, *r = u + points, *slope = r + rows;
  memcpy(g->data, ends, (size_t)arcs * sizeof *ends);
  memcpy(end, ends, ((size_t)arcs + 1) * sizeof *ends);
  memcpy(r, values, rows * sizeof *values);
  end[arcs + 1] = degree;
  for (int j = 0; j < points; j++) u[j] = pow(sin(M_PI * j / (2 * degree)), 2);
  for (int k = 0; k < arcs; k++) { /* neighbouring arcs share the value at their joint exactly */
    memcpy(r + ((size_t)k + 1) * row - n, r + (size_t)((k + 1) % arcs) * row, (size_t)n * sizeof *r);
    differentiate(n, degree, r + (size_t)k * row, slope + (size_t)k * row);
  }
  g->pieces = degree;
  *out = g;
  return CB_OK;
}

/* Gaits by Fourier series: r(t) = a_0 + sum_k a_k cos 2 pi k t + b_k sin 2 pi k t, k = 1..harmonics.
 *
 * a_0 is the mean; a_k and b_k are rows k - 1 of cosine[harmonics][n] and sine[harmonics][n]. The powers of exp(2 pi i
 * t) are computed by repeated multiplication.
 */

static void fourier_at(const cb_gait *g, double t, double *r, double *rate) {
  const double *mean = cb_gait_own_numbers(g), *cosine = mean + g->n, *sine = cosine + g->count * g->n;
  const double turn = 2 * M_PI, angle = turn * (t - rint(t)), c1 = cos(angle), s1 = sin(angle);
  double c = 1, s = 0;
  for (int i = 0; i < g->n; i++) {
    if (r) r[i] = mean[i];
    if (rate) rate[i] = 0;
  }
  for (int k = 1; k <= g->count; k++, cosine += g->n, sine += g->n) {
    const double next = c * c1 - s * s1;
    s = s * c1 + c * s1;
    c = next;
    for (int i = 0; i < g->n; i++) {
      if (r) r[i] += cosine[i] * c + sine[i] * s;
      if (rate) rate[i] += turn * k * (sine[i] * c - cosine[i] * s);
    }
  }
}

static void write_fourier(const cb_gait *g, cb_text *out) {
  const double *mean = cb_gait_own_numbers(g), *cosine = mean + g->n, *sine = cosine + g->count * g->n;
  cb_text_puts(out, "{mean: ");
  write_numbers(out, g->n, mean);
  cb_text_puts(out, ", cosine: ");
  write_rows(out, g->count, g->n, cosine);
  cb_text_puts(out, ", sine: ");
  write_rows(out, g->count, g->n, sine);
  cb_text_puts(out, "}");
}

static const cb_gait_class fourier_class = {"fourier", fourier_at, write_fourier};

cb_status cb_gait_fourier(int n, int harmonics, const double *mean, const double *cosine, const double *sine,
                          cb_gait **out) {
  cb_status status = cb_gait_check("harmonics", n, harmonics, 1, cosine);
  if (!status) status = cb_gait_check("harmonics", n, harmonics, 1, sine);
  if (!status) status = cb_gait_check("means", n, 1, 1, mean);
  if (status) return status;
  const size_t row = (size_t)n, rows = (size_t)harmonics * row;
  cb_gait *g = cb_gait_block(&fourier_class, n, harmonics, 0, row + 2 * rows);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d harmonics", harmonics);
  g->pieces = 12 * harmonics;
  memcpy(g->data, mean, row * sizeof *mean);
  memcpy(g->data + row, cosine, rows * sizeof *cosine);
  memcpy(g->data + row + rows, sine, rows * sizeof *sine);
  *out = g;
  return CB_OK;
}

/* --- gaits as numbers (gait_text.h) --- */

enum { ARCS, ORDER, HEAD };

static bool is_of_class(const cb_gait *g, const cb_gait_class *class) { return !g->backwards && g->class == class; }

size_t cb_gait_state_size(const cb_gait *g) {
  const size_t n = (size_t)g->n, count = (size_t)g->count;
  if (is_of_class(g, &fourier_class)) return HEAD + n + 2 * count * n;
  return is_of_class(g, &arcs_class) ? HEAD + count + 1 + count * ((size_t)cb_gait_own_numbers(g)[count + 1] + 1) * n
                                     : 0;
}

void cb_gait_state(const cb_gait *g, double *out) {
  const size_t size = cb_gait_state_size(g), count = (size_t)g->count;
  const double *x = cb_gait_own_numbers(g);
  if (!size) return;
  const bool arcs = is_of_class(g, &arcs_class);
  out[ARCS] = arcs ? g->count : 0;
  out[ORDER] = arcs ? x[count + 1] : g->count;
  const size_t head = arcs ? count + 1 : 0; /* for arcs, the degree and its points follow */
  memcpy(out + HEAD, x, head * sizeof *x);
  x += arcs ? head + 2 + (size_t)out[ORDER] : 0;
  memcpy(out + HEAD + head, x, (size - HEAD - head) * sizeof *x);
}

cb_status cb_gait_from_state(int n, size_t count, const double *s, cb_gait **out) {
  *out = NULL;
  if (count < HEAD || !(s[ARCS] >= 0 && s[ARCS] < (double)count && s[ORDER] >= 1 && s[ORDER] < (double)count))
    return CB_OK;
  const size_t arcs = (size_t)s[ARCS], order = (size_t)s[ORDER], row = (size_t)n;
  const size_t head = HEAD + (arcs ? arcs + 1 : row), rows = (arcs ? arcs * (order + 1) : 2 * order) * row;
  if (head + rows > count) return CB_OK;
  const double *x = s + head;
  const cb_status status = arcs ? cb_gait_arcs(n, (int)arcs, s + HEAD, (int)order, x, out)
                                : cb_gait_fourier(n, (int)order, s + HEAD, x, x + order * row, out);
  return status == CB_ERROR_ARGUMENT ? CB_OK : status;
}

/* --- gaits as text (gait_text.h) --- */

cb_status cb_gait_write(const cb_gait *g, cb_text *out) {
  if (!g->class->write || g->backwards)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "a gait of class `%s`%s cannot be written as text: expected `fourier` or `arcs`", g->class->name,
                   g->backwards ? ", reversed," : "");
  cb_text_puts(out, "{");
  cb_text_puts(out, g->class->name);
  cb_text_puts(out, ": ");
  g->class->write(g, out);
  cb_text_puts(out, "}");
  return out->failed ? cb_fail(CB_ERROR_MEMORY, "no memory for the text of a gait") : CB_OK;
}
