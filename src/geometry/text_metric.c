/* Reads a metric that is given as text, checks its keys, and evaluates it: g_ij, d_l g_ij and d_m d_l g_ij from jets of
 * its entries (d_l is the derivative with respect to coordinate l). The message of every error gives the place in the
 * file.
 *
 * The derivatives are exact. Cholesky's factors, g = L L^T, show whether the metric is positive definite. Source:
 * Griewank & Walther, Evaluating Derivatives, 2nd ed. (2008), chapter 13, doi:10.1137/1.9780898717761.
 */
#include "geometry/text_metric.h"

#include "numerics/expression_private.h"
#include "tree/scalar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- evaluation --- */

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

/* Computes the metric and its derivatives, as cb_chart.metric does. Returns CB_ERROR_DOMAIN outside the domain, and if
 * the metric is not positive definite. */
static cb_status text_metric_at(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  const cb_text_metric *t = g->data;
  switch (t->dim) {
    case 2: return metric_at(t, 2, q, gij, dg, ddg);
    case 3: return metric_at(t, 3, q, gij, dg, ddg);
    default: return metric_at(t, t->dim, q, gij, dg, ddg);
  }
}

/* These functions are the members of cb_intrinsic for spaces whose metric is given as text. */
static cb_status text_metric_inside(const cb_space *g, const double *q) {
  const cb_text_metric *t = g->data;
  double x[CB_EXPRESSION_VARIABLES];
  arguments(t, q, x);
  return in_domain(t, x);
}

static bool text_metric_margin(const cb_space *g, int i, const double *q, double *margin) {
  const cb_text_metric *t = g->data;
  double x[CB_EXPRESSION_VARIABLES];
  if (i >= t->n_domains) return false;
  arguments(t, q, x);
  *margin = cb_expression_margin(t->domain[i], x);
  return true;
}

static void text_metric_killing(const cb_space *g, int index, const double *q, double *x) {
  const cb_text_metric *t = g->data;
  (void)q;
  for (int i = 0; i < t->dim; i++) x[i] = i == t->cyclic[index];
}

static void text_metric_plot(const cb_space *g, const double *q, double *x, double *jacobian) {
  const cb_text_metric *t = g->data;
  double at[CB_EXPRESSION_VARIABLES];
  arguments(t, q, at);
  for (int a = 0; a < 3; a++)
    x[a] = jacobian ? cb_expression_gradient(t->arm[t->n_arms][a], at, t->dim, jacobian + a * t->dim)
                    : cb_expression_value(t->arm[t->n_arms][a], at);
}

int cb_text_metric_arms(const cb_space *g, const double *q, double (*x)[3]) {
  if (g->class_ != &cb_text_metric_class) return 0;
  const cb_text_metric *t = g->data;
  double at[CB_EXPRESSION_VARIABLES];
  arguments(t, q, at);
  for (int i = 0; i < 3 * t->n_arms; i++) x[i / 3][i % 3] = cb_expression_value(t->arm[i / 3][i % 3], at);
  return t->n_arms;
}

static void text_metric_free(cb_space *g) {
  cb_text_metric *t = g->data;
  for (int e = 0; e < t->n_entries; e++) cb_expression_free(t->entry[e]);
  for (int i = 0; i < t->n_domains; i++) {
    cb_expression_free(t->domain[i]);
    free(t->domain_text[i]);
  }
  for (int i = 0; i <= t->n_arms; i++)
    for (int a = 0; a < 3; a++) cb_expression_free(t->arm[i][a]);
}

/* --- the keys of a scenario --- */

/* Entries above and below the diagonal are the same function if value, gradient and Hessian differ by less than this,
 * relative to their size. This is larger than the round-off from two ways of writing the same function. */
static const double agreement = 1e-10;

typedef struct text_metric_params {
  const cb_node *metric, *coordinates, *parameters, *domain, *periodic, *base, *plot;
} text_metric_params;

#define ROW(field, fallback_, doc_) \
  { #field, CB_PARAM_NODE, offsetof(text_metric_params, field), fallback_, "", "", NULL, doc_ }
static const cb_param table[] = {
    ROW(metric, NULL, "rows of numbers and expressions: the full matrix or its lower triangle, of dimension 1 to 3"),
    ROW(coordinates, "", "names of the coordinates (default u, v, w)"),
    ROW(parameters, "", "named constants, each a number or an expression of the constants before it"),
    ROW(domain, "",
        "an expression such as `u > 0`, or a list: the domain is the set of points where each expression is not 0 and "
        "has the sign that it has at the base"),
    ROW(periodic, "", "period of each coordinate, 0 for none"),
    ROW(base, "", "a point of the space to start from (default 0)"),
    ROW(plot, "",
        "three expressions for the plot coordinates of a point (default the coordinates), or a list of points, which "
        "`view` joins by lines; the last one has the plot coordinates"),
    {0}};

static cb_status no_init(cb_space *g, const void *params) {
  (void)g;
  (void)params;
  return cb_fail(CB_ERROR_ARGUMENT, "a metric given as text is made by cb_text_metric_create");
}

const cb_space_class cb_text_metric_class = {
    "metric",
    "a metric given as text",
    "A map with `metric` in place of `name`: {metric: [[1], [0, \"sinh(u)^2\"]], coordinates: [u, v]}. All other "
    "quantities follow from it.",
    table,
    sizeof(text_metric_params),
    no_init};

bool cb_text_metric_is(const cb_node *node) { return cb_node_get(node, "metric") && !cb_node_get(node, "name"); }

/* Adds the place of node in the file to the last error if it is CB_ERROR_DOMAIN or CB_ERROR_ARGUMENT. Other errors have
 * a place already, or need none. */
static cb_status placed(const cb_node *node, cb_status status) {
  if (status != CB_ERROR_DOMAIN && status != CB_ERROR_ARGUMENT) return status;
  return cb_node_fail(node, "%s", cb_error_text());
}

static cb_status parse(const cb_text_metric *t, const cb_node *node, int n, cb_expression **out) {
  const char *names[CB_EXPRESSION_VARIABLES];
  for (int i = 0; i < n; i++) names[i] = t->name[i];
  return cb_node_expression(node, &(cb_expression_scope){.names = names, .n = (size_t)n}, out);
}

/* --- names: coordinates, then parameters --- */

static cb_status add_name(cb_text_metric *t, const cb_node *node, const char *text) {
  const bool coordinate = t->n_values < t->dim;
  const char *names[CB_EXPRESSION_VARIABLES];
  for (int i = 0; i < t->n_values; i++) names[i] = t->name[i];
  const size_t n = (size_t)t->n_values, own = coordinate ? n : (size_t)t->dim;
  const cb_expression_scope scope = {.names = names, .n = own, .parameters = names + own, .n_parameters = n - own};
  const cb_status status = coordinate ? cb_expression_check_variable(text, &scope, "coordinate")
                                      : cb_expression_check_parameter(text, &scope, "coordinate");
  if (status) return cb_node_fail(node, "%s", cb_error_text());
  if (t->n_values == CB_EXPRESSION_VARIABLES)
    return cb_node_fail(node, "expected at most %d coordinates and parameters", CB_EXPRESSION_VARIABLES);
  strcpy(t->name[t->n_values++], text);
  return CB_OK;
}

static cb_status read_coordinates(cb_text_metric *t, const cb_node *node, const cb_node *where) {
  static const char *const usual[CB_DIM_MAX] = {"u", "v", "w"};
  cb_status status = CB_OK;
  if (node && (node->kind != CB_NODE_LIST || node->count != (size_t)t->dim))
    return cb_node_fail(node, "coordinates: expected a list of %d name%s, as many as the metric has rows", t->dim,
                        t->dim > 1 ? "s" : "");
  if (!node && t->dim > CB_DIM_MAX)
    return cb_node_fail(where, "missing key 'coordinates': expected a list of %d names", t->dim);
  for (int i = 0; i < t->dim && !status; i++) {
    const char *text = node ? "" : usual[i];
    if (node) status = cb_node_string(node->items[i], &text);
    if (!status) status = add_name(t, node ? node->items[i] : where, text);
  }
  return status;
}

/* Reads a number; its expression may use the first n names, but no coordinate. */
static cb_status read_constant(const cb_text_metric *t, const char *what, const cb_node *node, int n, double *value) {
  cb_expression *e;
  const cb_status status = parse(t, node, n, &e);
  if (status) return status;
  int used = -1;
  for (int c = 0; c < t->dim; c++)
    if (cb_expression_uses(e, (size_t)c)) used = c;
  *value = used < 0 ? cb_expression_value(e, t->value) : 0;
  cb_expression_free(e);
  if (used >= 0) return cb_node_fail(node, "%s: expected a constant, found the coordinate '%s'", what, t->name[used]);
  return isfinite(*value) ? CB_OK : cb_node_fail(node, "%s: expected a finite number, found %g", what, *value);
}

static cb_status read_constants(const cb_text_metric *t, const char *what, const cb_node *node, double *value) {
  if (node->kind != CB_NODE_LIST || node->count != (size_t)t->dim)
    return cb_node_fail(node, "%s: expected a list of %d number%s, as many as the metric has rows", what, t->dim,
                        t->dim > 1 ? "s" : "");
  cb_status status = CB_OK;
  for (int i = 0; i < t->dim && !status; i++) status = read_constant(t, what, node->items[i], t->n_values, &value[i]);
  return status;
}

static cb_status read_parameters(cb_text_metric *t, const cb_node *node) {
  if (!node) return CB_OK;
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "parameters: expected a map of names and values");
  for (size_t i = 0; i < node->count; i++) {
    const int before = t->n_values;
    cb_status status = add_name(t, node->keys[i], node->keys[i]->text);
    if (!status) status = read_constant(t, t->name[before], node->items[i], before, &t->value[before]);
    if (status) return status;
  }
  return CB_OK;
}

/* --- the matrix --- */

static bool varies(const cb_text_metric *t, const cb_expression *e) {
  for (int c = 0; c < t->dim; c++)
    if (cb_expression_uses(e, (size_t)c)) return true;
  return false;
}

/* Reads g_ij; entries with the same text share one expression. */
static cb_status read_entry(cb_text_metric *t, const cb_node *metric, int i, int j) {
  const cb_node *node = metric->items[i]->items[j];
  cb_expression *e;
  for (int k = 0; k <= i; k++)
    for (int l = 0; l <= k && l < (k < i ? CB_Q_MAX : j); l++)
      if (node->kind == CB_NODE_SCALAR && !strcmp(node->text, metric->items[k]->items[l]->text)) {
        t->index[i][j] = t->index[k][l];
        t->constant[i][j] = t->constant[k][l];
        return CB_OK;
      }
  cb_status status = parse(t, node, t->n_values, &e);
  if (status) return status;
  if (varies(t, e)) {
    t->index[i][j] = t->n_entries;
    t->entry[t->n_entries++] = e;
    return CB_OK;
  }
  t->index[i][j] = -1;
  t->constant[i][j] = cb_expression_value(e, t->value);
  cb_expression_free(e);
  if (!isfinite(t->constant[i][j]))
    return cb_node_fail(node, "metric: expected a finite entry, found %g", t->constant[i][j]);
  return CB_OK;
}

static const char riemannian[] =
    "; the metric must be Riemannian: Lorentzian metrics, of time and space, are not supported";

static cb_status read_shape(cb_text_metric *t, const cb_node *node, int maximum) {
  if (node->kind != CB_NODE_LIST || node->count < 1 || node->count > (size_t)maximum)
    return cb_node_fail(node, "metric: expected a list of 1 to %d rows%s", maximum,
                        node->kind == CB_NODE_LIST && node->count == 4 ? riemannian : "");
  t->dim = (int)node->count;
  bool triangle = true, full = true;
  for (int i = 0; i < t->dim; i++) {
    const cb_node *row = node->items[i];
    if (row->kind != CB_NODE_LIST)
      return cb_node_fail(row, "metric: expected row %d as a list of numbers and expressions", i + 1);
    triangle = triangle && row->count == (size_t)i + 1;
    full = full && row->count == (size_t)t->dim;
    if (!triangle && !full)
      return cb_node_fail(row,
                          "metric: expected a matrix of %d rows and columns, or its lower triangle; row %d has %zu "
                          "entr%s",
                          t->dim, i + 1, row->count, row->count == 1 ? "y" : "ies");
  }
  return CB_OK;
}

/* Returns whether the entry `above` the diagonal has the same value and derivatives at q as entry i, j below it. */
static bool same(const cb_text_metric *t, const cb_expression *above, int i, int j, const double *q) {
  double x[CB_EXPRESSION_VARIABLES];
  memcpy(x, t->value, sizeof x);
  memcpy(x, q, (size_t)t->dim * sizeof *x);
  const cb_jet a = cb_expression_jet(above, x, t->dim),
               b = t->index[i][j] < 0 ? cb_jet_constant(t->dim, t->constant[i][j])
                                      : cb_expression_jet(t->entry[t->index[i][j]], x, t->dim);
  double error = fabs(a.v - b.v), size = fabs(a.v);
  for (int k = 0; k < t->dim; k++) {
    error = fmax(error, fabs(a.g[k] - b.g[k]));
    size = fmax(size, fabs(a.g[k]));
  }
  for (int k = 0; k < t->dim * (t->dim + 1) / 2; k++) {
    error = fmax(error, fabs(a.h[k] - b.h[k]));
    size = fmax(size, fabs(a.h[k]));
  }
  return !(error > agreement * size); /* NaN values count as equal here */
}

/* Compares the entries of the metric above the diagonal with those below it, at the base point and at a generic point
 * near it. */
static cb_status check_symmetry(const cb_text_metric *t, const cb_node *metric, const double *base) {
  static const double aside[CB_Q_MAX] = {0.0714, 0.0531, 0.0917, 0.0613, 0.0829, 0.0467,
                                         0.0771, 0.0589, 0.0943, 0.0637, 0.0411, 0.0853};
  double near[CB_Q_MAX];
  for (int i = 0; i < t->dim; i++) near[i] = base[i] + aside[i];
  for (int i = 0; i < t->dim; i++)
    for (int j = 0; j < i; j++) {
      if (metric->items[j]->count <= (size_t)i) return CB_OK;
      const cb_node *node = metric->items[j]->items[i];
      cb_expression *above;
      const cb_status status = parse(t, node, t->n_values, &above);
      if (status) return status;
      const bool agrees = same(t, above, i, j, base) && same(t, above, i, j, near);
      cb_expression_free(above);
      if (!agrees)
        return cb_node_fail(node, "metric: entry %d, %d is `%.60s`, expected the same as entry %d, %d, `%.60s`", j + 1,
                            i + 1, node->text, i + 1, j + 1, metric->items[i]->items[j]->text);
    }
  return CB_OK;
}

static cb_status read_metric(cb_text_metric *t, const cb_node *node) {
  for (int i = 0; i < t->dim; i++)
    for (int j = 0; j <= i; j++) {
      const cb_status status = read_entry(t, node, i, j);
      if (status) return status;
    }
  return CB_OK;
}

/* --- domain, periods, base, plot --- */

static cb_status add_domain(cb_text_metric *t, const cb_node *node) {
  if (t->n_domains == CB_TEXT_DOMAINS)
    return cb_node_fail(node, "domain: expected at most %d expressions", CB_TEXT_DOMAINS);
  cb_expression *e;
  const cb_status status = parse(t, node, t->n_values, &e);
  if (status) return status;
  t->domain[t->n_domains] = e;
  t->domain_text[t->n_domains] = strdup(node->text);
  return t->domain_text[t->n_domains++] ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a domain");
}

static cb_status read_domain(cb_text_metric *t, const cb_node *node) {
  if (!node) return CB_OK;
  if (node->kind != CB_NODE_LIST) return add_domain(t, node);
  cb_status status = CB_OK;
  for (size_t i = 0; i < node->count && !status; i++) status = add_domain(t, node->items[i]);
  return status;
}

static cb_status read_periods(cb_text_metric *t, const cb_node *node) {
  if (!node) return CB_OK;
  const cb_status status = read_constants(t, "periodic", node, t->hooks.period);
  if (status) return status;
  for (int i = 0; i < t->dim; i++)
    if (t->hooks.period[i] < 0)
      return cb_node_fail(node->items[i], "periodic: expected a period, or 0 for none, found %g", t->hooks.period[i]);
  return CB_OK;
}

/* Fails unless the metric near the base point is the same one period away, up to the round-off of its evaluation. */
static cb_status check_periods(const cb_space *g, const cb_text_metric *t, const cb_node *node) {
  enum { D = CB_Q_MAX };
  const int n = t->dim;
  for (int c = 0; node && c < n; c++) {
    double q[D] = {0}, here[D * D], there[D * D];
    if (t->hooks.period[c] == 0) continue;
    memcpy(q, t->hooks.base, (size_t)n * sizeof *q);
    q[c] += 0.0714 * t->hooks.period[c];
    if (text_metric_at(g, q, here, NULL, NULL)) continue; /* the base point is near an edge of the domain */
    q[c] += t->hooks.period[c];
    const cb_status status = text_metric_at(g, q, there, NULL, NULL);
    if (status) return placed(node->items[c], status);
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) {
        const double difference = there[i * n + j] - here[i * n + j];
        if (fabs(difference) > agreement * sqrt(here[i * n + i] * here[j * n + j]))
          return cb_node_fail(node->items[c],
                              "periodic: expected a metric that is the same one period away, but it differs by %.3g at "
                              "a distance of one period of %s = %g",
                              difference, t->name[c], t->hooks.period[c]);
      }
  }
  return CB_OK;
}

static cb_status read_base(const cb_space *g, cb_text_metric *t, const cb_node *node, const cb_node *where) {
  cb_status status = node ? read_constants(t, "base", node, t->hooks.base) : CB_OK;
  if (status) return status;
  double gij[CB_Q_MAX * CB_Q_MAX];
  status = text_metric_at(g, t->hooks.base, gij, NULL, NULL);
  for (int i = 0; !status && i < t->n_domains; i++) {
    double x[CB_EXPRESSION_VARIABLES];
    for (int a = 0; a < t->n_values; a++) x[a] = a < t->dim ? t->hooks.base[a] : t->value[a];
    t->domain_at_base[i] = cb_expression_value(t->domain[i], x);
  }
  if (!status || status == CB_ERROR_MEMORY) return status;
  const char *pivot = strstr(cb_error_text(), "not positive definite") ? strrchr(cb_error_text(), ' ') : NULL;
  const char *signature = pivot && strtod(pivot, NULL) < 0 ? riemannian : "";
  if (node) return *signature ? cb_node_fail(node, "%s%s", cb_error_text(), signature) : placed(node, status);
  return cb_node_fail(where, "%s; expected a point where the metric is positive definite in the key `base`%s",
                      cb_error_text(), signature);
}

/* Reads three expressions, or a list of points that are three expressions each. */
static cb_status read_plot(cb_text_metric *t, const cb_node *node) {
  if (!node) return CB_OK;
  const bool many = node->kind == CB_NODE_LIST && node->count && node->items[0]->kind == CB_NODE_LIST;
  if (many && node->count > CB_TEXT_POINTS)
    return cb_node_fail(node, "plot: expected at most %d points, found %zu", CB_TEXT_POINTS, node->count);
  t->n_arms = many ? (int)node->count - 1 : 0;
  for (int i = 0; i <= t->n_arms; i++) {
    const cb_node *point = many ? node->items[i] : node;
    if (point->kind != CB_NODE_LIST || point->count != 3)
      return cb_node_fail(point, "plot: expected a list of 3 expressions in the coordinates");
    for (int a = 0; a < 3; a++) {
      const cb_status status = parse(t, point->items[a], t->n_values, &t->arm[i][a]);
      if (status) return status;
    }
  }
  t->hooks.plot = text_metric_plot;
  return CB_OK;
}

/* --- Killing fields: translations along coordinates that no entry depends on --- */

static void find_cyclic(cb_space *g, cb_text_metric *t) {
  for (int i = 0; i < t->dim; i++) {
    bool used = false;
    for (int e = 0; e < t->n_entries; e++) used = used || cb_expression_uses(t->entry[e], (size_t)i);
    if (used || g->n_killing == CB_KILLING_MAX) continue;
    char *name = t->killing[g->n_killing];
    snprintf(name, sizeof t->killing[0], "translation_%s", t->name[i]);
    t->cyclic[g->n_killing] = i;
    g->killing[g->n_killing++].name = name;
  }
  t->hooks.killing = text_metric_killing;
}

/* --- building the space --- */

static cb_status build(cb_space *g, const cb_node *node, const text_metric_params *p, int maximum) {
  cb_text_metric *t = calloc(1, sizeof *t);
  if (!t) return cb_fail(CB_ERROR_MEMORY, "no memory for a metric");
  g->data = t;
  g->intrinsic = &t->hooks;
  t->hooks.inside = text_metric_inside;
  t->hooks.margin = text_metric_margin;
  t->hooks.free = text_metric_free;
  cb_status status = read_shape(t, p->metric, maximum);
  if (!status) status = read_coordinates(t, p->coordinates, node);
  if (!status) status = read_parameters(t, p->parameters);
  if (!status) status = read_metric(t, p->metric);
  if (!status) status = read_domain(t, p->domain);
  if (!status) status = read_periods(t, p->periodic);
  if (!status) status = read_plot(t, p->plot);
  if (status) return status;
  find_cyclic(g, t);
  cb_chart chart = {.name = "coordinates", .doc = "the coordinates of the given metric", .metric = text_metric_at};
  for (int i = 0; i < t->dim; i++) chart.coordinates[i] = t->name[i];
  status = placed(node, cb_space_init_intrinsic(g, t->dim, &chart, &t->hooks));
  if (!status) status = read_base(g, t, p->base, p->metric);
  if (!status) status = check_symmetry(t, p->metric, t->hooks.base);
  if (!status) status = check_periods(g, t, p->periodic);
  return status;
}

static cb_status create(const cb_node *node, const char *const *extra, size_t n, int maximum, cb_space **out) {
  text_metric_params p;
  cb_status status = cb_params_bind(table, node, node, extra, n, &p);
  if (status) return status;
  cb_space *g = calloc(1, sizeof *g);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a space");
  g->class_ = &cb_text_metric_class;
  status = build(g, node, &p, maximum);
  if (status) {
    cb_space_free(g);
    return status;
  }
  *out = g;
  return CB_OK;
}

cb_status cb_text_metric_create(const cb_node *node, cb_space **out) { return create(node, NULL, 0, CB_DIM_MAX, out); }

cb_status cb_text_metric_create_system(const cb_node *node, const char *const *extra, size_t n, cb_space **out) {
  return create(node, extra, n, CB_Q_MAX, out);
}

size_t cb_text_metric_parameters(const cb_space *g, const char **names, const double **values) {
  const cb_text_metric *t = g->data;
  for (int i = t->dim; i < t->n_values; i++) names[i - t->dim] = t->name[i];
  *values = t->value + t->dim;
  return (size_t)(t->n_values - t->dim);
}
