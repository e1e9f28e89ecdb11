/* Evaluates a metric that is given as text: g_ij, d_l g_ij and d_m d_l g_ij from jets of its entries (d_l is the
 * derivative with respect to coordinate l).
 *
 * The derivatives are exact. Cholesky's factors, g = L L^T, show whether the metric is positive definite. Source:
 * Griewank & Walther, Evaluating Derivatives, 2nd ed. (2008), chapter 13, doi:10.1137/1.9780898717761.
 */
#include "geometry/text_metric.h"

#include "numerics/expression_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A metric is singular if a pivot is smaller than this, relative to the diagonal entry. */
static const double singular = 1e-13;

/* A position as a text for messages, such as "u = 1, v = 0". */
typedef struct position {
  char text[160];
} position;

static position position_of(const cb_text_metric *t, const double *q) {
  position p = {""};
  for (int i = 0, used = 0; i < t->dim && used < (int)sizeof p.text; i++)
    used += snprintf(p.text + used, sizeof p.text - (size_t)used, "%s%s = %.15g", i ? ", " : "", t->name[i], q[i]);
  return p;
}

#define ALWAYS_INLINE static inline __attribute__((always_inline))

static void arguments(const cb_text_metric *t, const double *q, double *x) {
  for (int i = 0; i < t->dim; i++) x[i] = q[i];
  for (int i = t->dim; i < t->n_values; i++) x[i] = t->value[i];
}

/* Tests whether the point is in the domain; x contains the coordinates and the parameters. */
static cb_status in_domain(const cb_text_metric *t, const double *x) {
  for (int i = 0; i < t->dim; i++)
    if (!isfinite(x[i])) return cb_fail(CB_ERROR_DOMAIN, "%s: expected finite coordinates", position_of(t, x).text);
  for (int i = 0; i < t->n_domains; i++) {
    const double holds = cb_expression_value(t->domain[i], x);
    const bool beyond = holds * t->domain_at_base[i] < 0; /* its sign differs from that at the base point */
    if (holds == 0 || isnan(holds) || beyond)
      return cb_fail(CB_ERROR_DOMAIN, "%s is outside the domain of the space: expected %s%s", position_of(t, x).text,
                     t->domain_text[i], beyond ? ", with the sign that it has at the base" : "");
  }
  return CB_OK;
}

ALWAYS_INLINE cb_status positive(const cb_text_metric *t, int n, const double *q, const double *gij) {
  double l[CB_Q_MAX][CB_Q_MAX];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = gij[i * n + j];
      if (!isfinite(sum))
        return cb_fail(CB_ERROR_DOMAIN, "the metric is not finite at %s: entry %d, %d is %g", position_of(t, q).text,
                       i + 1, j + 1, sum);
      for (int k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
      if (j < i) {
        l[i][j] = sum / l[j][j];
        continue;
      }
      if (!(sum > singular * gij[i * n + i]))
        return cb_fail(CB_ERROR_DOMAIN, "the metric is not positive definite at %s: pivot %d of %d is %.6g",
                       position_of(t, q).text, i + 1, n, sum);
      l[i][i] = sqrt(sum);
    }
  return CB_OK;
}

/* Writes one entry, or one of its derivatives, to both of its places. */
ALWAYS_INLINE void put_value(int n, int i, int j, double value, double *gij) {
  gij[i * n + j] = gij[j * n + i] = value;
}

ALWAYS_INLINE void put_gradient(int n, int i, int j, const double *gradient, double *dg) {
  for (int l = 0; l < n; l++) put_value(n, i, j, gradient[l], dg + l * n * n);
}

ALWAYS_INLINE void put_hessian(int n, int i, int j, const double *packed, double *ddg) {
  for (int m = 0; m < n; m++)
    for (int l = 0; l < n; l++) put_value(n, i, j, packed[cb_jet_packed(m, l)], ddg + (m * n + l) * n * n);
}

/* Computes the metric and its derivatives at q. n is the dimension of the space; it is a constant in most calls, so
 * that the compiler unrolls the loops. */
ALWAYS_INLINE cb_status metric_at(const cb_text_metric *t, int n, const double *q, double *gij, double *dg,
                                  double *ddg) {
  enum { D = CB_Q_MAX };
  double x[CB_EXPRESSION_VARIABLES], value[D * D];
  struct {
    double g[D], h[CB_JET_PACKED];
  } of[CB_TEXT_ENTRIES]; /* derivatives of each entry */
  arguments(t, q, x);
  cb_status status = in_domain(t, x);
  if (status) return status;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) put_value(n, i, j, t->constant[i][j], value);
  for (int e = 0; e < t->n_entries; e++) {
    double v;
    if (ddg) {
      const cb_jet jet = cb_expression_jet(t->entry[e], x, n);
      v = jet.v;
      memcpy(of[e].g, jet.g, (size_t)n * sizeof *jet.g);
      memcpy(of[e].h, jet.h, (size_t)(n * (n + 1) / 2) * sizeof *jet.h);
    } else {
      v = dg ? cb_expression_gradient(t->entry[e], x, n, of[e].g) : cb_expression_value(t->entry[e], x);
    }
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++)
        if (t->index[i][j] == e) put_value(n, i, j, v, value);
  }
  status = positive(t, n, q, value);
  if (status) return status;
  memcpy(gij, value, (size_t)(n * n) * sizeof *gij);
  if (dg) memset(dg, 0, (size_t)(n * n * n) * sizeof *dg);
  if (ddg) memset(ddg, 0, (size_t)(n * n * n * n) * sizeof *ddg);
  for (int i = 0; dg && i < n; i++)
    for (int j = 0; j <= i; j++) {
      const int e = t->index[i][j];
      if (e < 0) continue;
      put_gradient(n, i, j, of[e].g, dg);
      if (ddg) put_hessian(n, i, j, of[e].h, ddg);
    }
  return CB_OK;
}

cb_status cb_text_metric_at(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  const cb_text_metric *t = g->data;
  switch (t->dim) {
    case 2: return metric_at(t, 2, q, gij, dg, ddg);
    case 3: return metric_at(t, 3, q, gij, dg, ddg);
    default: return metric_at(t, t->dim, q, gij, dg, ddg);
  }
}

cb_status cb_text_metric_inside(const cb_space *g, const double *q) {
  const cb_text_metric *t = g->data;
  double x[CB_EXPRESSION_VARIABLES];
  arguments(t, q, x);
  return in_domain(t, x);
}

bool cb_text_metric_margin(const cb_space *g, int i, const double *q, double *margin) {
  const cb_text_metric *t = g->data;
  double x[CB_EXPRESSION_VARIABLES];
  if (i >= t->n_domains) return false;
  arguments(t, q, x);
  *margin = cb_expression_margin(t->domain[i], x);
  return true;
}

void cb_text_metric_killing(const cb_space *g, int index, const double *q, double *x) {
  const cb_text_metric *t = g->data;
  (void)q;
  for (int i = 0; i < t->dim; i++) x[i] = i == t->cyclic[index];
}

void cb_text_metric_plot(const cb_space *g, const double *q, double *x, double *jacobian) {
  const cb_text_metric *t = g->data;
  double at[CB_EXPRESSION_VARIABLES];
  arguments(t, q, at);
  for (int a = 0; a < 3; a++)
    x[a] = jacobian ? cb_expression_gradient(t->plot[a], at, t->dim, jacobian + a * t->dim)
                    : cb_expression_value(t->plot[a], at);
}

void cb_text_metric_free(cb_space *g) {
  cb_text_metric *t = g->data;
  for (int e = 0; e < t->n_entries; e++) cb_expression_free(t->entry[e]);
  for (int i = 0; i < t->n_domains; i++) {
    cb_expression_free(t->domain[i]);
    free(t->domain_text[i]);
  }
  for (int a = 0; a < 3; a++) cb_expression_free(t->plot[a]);
}
