/* Reads the names of a bundle in a scenario (shape variables, parameters, periods) and its symmetric matrices; and
 * makes a bundle with another cost metric M', which such matrices give.
 *
 *   M'_ij = (M_ij, or delta_ij, or e_ij(r)) + f_ij(r);   e, f: symmetric matrices of expressions of the shape r
 * M is the cost metric of the given bundle (the default), delta the identity. The connection is that of the given
 * bundle; derivatives of expressions are exact. M' must be positive definite, with pivots above 1e-14 n times its
 * diagonal for n shape variables; otherwise evaluation returns CB_STEP_SINGULAR.
 */
#include "bundle/bundle_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- a bundle with another cost metric --- */

enum { PARTS = 2, SYMMETRIC = CB_SHAPE_MAX * (CB_SHAPE_MAX + 1) / 2, SQUARE = CB_SHAPE_MAX * CB_SHAPE_MAX };

typedef struct sum_metric {
  cb_bundle_class class;
  const cb_bundle *inner;
  bool kept;                              /* M of the bundle is part of the sum */
  double diagonal;                        /* 1 if the identity is part of the sum, otherwise 0 */
  cb_expression *lower[PARTS][SYMMETRIC]; /* lower triangles of e (0) and f (1), row by row; NULL: 0 */
  cb_expression *upper[PARTS][SYMMETRIC]; /* the entry across the diagonal, if it is a different expression */
} sum_metric;

static void destroy(cb_bundle *b) {
  sum_metric *own = b->self;
  for (int p = 0; p < PARTS; p++)
    for (int k = 0; k < SYMMETRIC; k++) {
      cb_expression_free(own->lower[p][k]);
      cb_expression_free(own->upper[p][k]);
    }
  free(own);
}

/* --- evaluation --- */

/* Adds the expressions to M[n*n] and their derivatives to dM (may be NULL), in the order of cb_bundle_class. Returns
 * CB_STEP_DOMAIN if a value is not finite, and CB_ERROR_ARGUMENT if two entries across the diagonal differ. */
static cb_status add_expressions(const cb_bundle *b, const double *r, double *M, double *dM) {
  const sum_metric *own = b->self;
  const int n = b->n;
  for (int p = 0; p < PARTS; p++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) {
        const cb_expression *e = own->lower[p][cb_jet_packed(i, j)], *across = own->upper[p][cb_jet_packed(i, j)];
        double d[CB_SHAPE_MAX] = {0};
        if (!e) continue;
        const double value = dM ? cb_expression_gradient(e, r, n, d) : cb_expression_value(e, r);
        const double other = across ? cb_expression_value(across, r) : value;
        if (!isfinite(value) || !isfinite(other))
          return cb_fail(CB_STEP_DOMAIN, "the entry of the metric for %s and %s is %g: expected a finite number",
                         b->shape[i], b->shape[j], isfinite(value) ? other : value);
        if (fabs(value - other) > 1e-12 * (fabs(value) + fabs(other)))
          return cb_fail(CB_ERROR_ARGUMENT, "the metric is not symmetric: %.9g for %s and %s, but %.9g for %s and %s",
                         value, b->shape[i], b->shape[j], other, b->shape[j], b->shape[i]);
        M[i * n + j] += value;
        if (i != j) M[j * n + i] += value;
        for (int k = 0; dM && k < n; k++) {
          dM[(k * n + i) * n + j] += d[k];
          if (i != j) dM[(k * n + j) * n + i] += d[k];
        }
      }
  return CB_OK;
}

static cb_status check_positive(const cb_bundle *b, const double *M) {
  const int n = b->n;
  double L[CB_SHAPE_MAX][CB_SHAPE_MAX];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = M[i * n + j];
      for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
      if (j < i)
        L[i][j] = sum / L[j][j];
      else if (!(M[i * n + i] > 0 && sum > 1e-14 * n * M[i * n + i]))
        return cb_fail(CB_STEP_SINGULAR,
                       "the cost metric is not positive definite: a change of %s%s has a cost of 0 or less",
                       b->shape[i], M[i * n + i] > 0 ? " with others" : "");
      else
        L[i][i] = sqrt(sum);
    }
  return CB_OK;
}

static cb_status connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  const sum_metric *own = b->self;
  const int n = b->n;
  const bool wanted = M || dM, kept = own->kept && wanted;
  double sum[SQUARE] = {0};
  cb_status status = cb_bundle_evaluate(own->inner, r, A, dA, kept ? sum : NULL, kept ? dM : NULL);
  if (status || !wanted) return status;
  if (dM && !kept) memset(dM, 0, (size_t)(n * n * n) * sizeof *dM);
  for (int i = 0; i < n; i++) sum[i * n + i] += own->diagonal;
  status = add_expressions(b, r, sum, dM);
  if (!status) status = check_positive(b, sum);
  if (M) memcpy(M, sum, (size_t)(n * n) * sizeof *M);
  return status;
}

static cb_status second(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  const sum_metric *own = b->self;
  const int n = b->n;
  const cb_status status = cb_bundle_evaluate_second(own->inner, r, ddA, own->kept ? ddM : NULL);
  if (status || !ddM) return status;
  if (!own->kept) memset(ddM, 0, (size_t)(n * n * n * n) * sizeof *ddM);
  for (int p = 0; p < PARTS; p++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) {
        const cb_expression *e = own->lower[p][cb_jet_packed(i, j)];
        if (!e) continue;
        const cb_jet jet = cb_expression_jet(e, r, n);
        for (int k = 0; k < n; k++)
          for (int l = 0; l < n; l++) {
            const double h = jet.h[cb_jet_packed(k, l)];
            double *at = ddM + (k * n + l) * n * n;
            if (!isfinite(h))
              return cb_fail(CB_STEP_NOT_FINITE,
                             "a second derivative of the metric for %s and %s is %g: expected a finite number",
                             b->shape[i], b->shape[j], h);
            at[i * n + j] += h;
            if (i != j) at[j * n + i] += h;
          }
      }
  return CB_OK;
}

static cb_status plot(const cb_bundle *b, const double *r, const double *g, double (*x)[3]) {
  const cb_bundle *inner = ((const sum_metric *)b->self)->inner;
  return inner->class_->plot(inner, r, g, x);
}

static cb_status strain(const cb_bundle *b, const double *r, double *S) {
  const cb_bundle *inner = ((const sum_metric *)b->self)->inner;
  return inner->class_->strain(inner, r, S);
}

/* --- creation --- */

static const cb_bundle_class class_of_metrics = {
    .doc = "a bundle with another cost metric", .destroy = destroy, .connection = connection, .second = second};

/* Copies the expressions of the entries (NULL: there are none) to part p of the sum. Returns CB_ERROR_ARGUMENT if an
 * entry is on only one side of the diagonal. */
static cb_status take(sum_metric *own, int p, int n, const cb_expression *const *entry) {
  cb_status status = CB_OK;
  for (int i = 0; entry && i < n; i++)
    for (int j = 0; !status && j <= i; j++) {
      const cb_expression *e = entry[i * n + j], *across = entry[j * n + i];
      const int at = cb_jet_packed(i, j);
      if (!e != !across)
        return cb_fail(CB_ERROR_ARGUMENT,
                       "the metric has an entry %d, %d on only one side of its diagonal: expected both or none", i, j);
      if (n > CB_JET_MAX && e) own->class.second = NULL;
      if (e) status = cb_expression_copy(e, &own->lower[p][at]);
      if (!status && across != e) status = cb_expression_copy(across, &own->upper[p][at]);
    }
  return status;
}

cb_status cb_bundle_with_metric(const cb_bundle *b, const cb_bundle_metric *m, cb_bundle **out) {
  cb_bundle *made = calloc(1, sizeof *made);
  sum_metric *own = calloc(1, sizeof *own);
  if (!made || !own) {
    free(made);
    free(own);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a metric of bundle %s", b->class_->name);
  }
  *own = (sum_metric){
      .class = class_of_metrics, .inner = b, .kept = !m->identity && !m->entry, .diagonal = m->identity && !m->entry};
  own->class.name = b->class_->name;
  own->class.title = b->class_->title;
  if (b->class_->plot) own->class.plot = plot;
  if (b->class_->strain) own->class.strain = strain;
  *made = *b;
  made->class_ = &own->class;
  made->self = own;
  cb_status status = take(own, 0, b->n, m->entry);
  if (!status) status = take(own, 1, b->n, m->add);
  if (status)
    cb_bundle_free(made);
  else
    *out = made;
  return status;
}

/* --- the keys of a scenario --- */

/* Returns the scope that contains variable[n] and the parameters. */
static cb_expression_scope scope_of(const cb_bundle_names *s, const char *const *variable, int n) {
  return (cb_expression_scope){.names = variable,
                               .n = (size_t)n,
                               .parameters = s->name + s->shape,
                               .values = s->value + s->shape,
                               .n_parameters = (size_t)(s->count - s->shape)};
}

enum { CB_BUNDLE_BREAKS_MAX = 64 };

typedef cb_status check(const char *name, const cb_expression_scope *scope, const char *kind);

static cb_status add_name(cb_bundle_names *s, const cb_node *node, const char *what, check *checked) {
  const char *text;
  cb_status status = cb_node_string(node, &text);
  if (status) return status;
  const cb_expression_scope scope = scope_of(s, s->name, s->shape);
  status = checked(text, &scope, "shape variable");
  if (status) return cb_node_fail(node, "%s: %s", what, cb_error_text());
  if (s->count == CB_EXPRESSION_VARIABLES)
    return cb_node_fail(node, "%s: expected at most %d names", what, CB_EXPRESSION_VARIABLES);
  s->name[s->count++] = text;
  return CB_OK;
}

cb_status cb_bundle_read_expression(const cb_bundle_names *s, const cb_node *node, const char *what,
                                    const char *const *variable, int n, cb_expression **out) {
  const char *text;
  size_t at = 0;
  const cb_expression_scope scope = scope_of(s, variable, n);
  cb_status status = cb_node_string(node, &text);
  if (status) return status;
  status = cb_expression_parse_in(text, &scope, &at, out);
  return status == CB_ERROR_INPUT ? cb_node_fail_at(node, at, "%s: %s", what, cb_error_text()) : status;
}

cb_status cb_bundle_read_number(const cb_bundle_names *s, const cb_node *node, const char *what, double *value) {
  cb_expression *e = NULL;
  const cb_status status = cb_bundle_read_expression(s, node, what, NULL, 0, &e);
  if (status) return status;
  const double x = cb_expression_value(e, NULL);
  cb_expression_free(e);
  if (!isfinite(x)) return cb_node_fail(node, "%s: expected a finite number, found %g", what, x);
  *value = x;
  return CB_OK;
}

cb_status cb_bundle_read_shape(cb_bundle_names *s, const cb_node *list, int maximum) {
  if (list->kind != CB_NODE_LIST || list->count < 1 || list->count > (size_t)maximum)
    return cb_node_fail(list, "shape: expected a list of 1 to %d names of shape variables", maximum);
  for (size_t i = 0; i < list->count; i++) {
    const cb_status status = add_name(s, list->items[i], "shape", cb_expression_check_variable);
    if (status) return status;
    s->shape = s->count;
  }
  return CB_OK;
}

cb_status cb_bundle_read_parameters(cb_bundle_names *s, const cb_node *map) {
  if (!map) return CB_OK;
  if (map->kind != CB_NODE_MAP) return cb_node_fail(map, "parameters: expected a map of names and numbers");
  for (size_t i = 0; i < map->count; i++) {
    double value = 0;
    cb_status status = cb_bundle_read_number(s, map->items[i], map->keys[i]->text, &value);
    if (!status) status = add_name(s, map->keys[i], "parameters", cb_expression_check_parameter);
    if (status) return status;
    s->value[s->count - 1] = value;
  }
  return CB_OK;
}

cb_status cb_bundle_read_periods(const cb_bundle_names *s, const cb_node *map, double *period) {
  if (!map) return CB_OK;
  cb_status status = cb_node_check_keys(map, s->name, (size_t)s->shape);
  for (int i = 0; !status && i < s->shape; i++) {
    const cb_node *item = cb_node_get(map, s->name[i]);
    if (!item) continue;
    status = cb_bundle_read_number(s, item, "period", &period[i]);
    if (!status && !(period[i] > 0)) status = cb_node_fail(item, "period: expected a number > 0, found %g", period[i]);
  }
  return status;
}

static cb_status read_breaks_of(const cb_bundle_names *s, const cb_node *list, double period, int *count, double **at) {
  if (list->kind != CB_NODE_LIST || list->count > CB_BUNDLE_BREAKS_MAX)
    return cb_node_fail(list, "breaks: expected a list of at most %d numbers", CB_BUNDLE_BREAKS_MAX);
  *at = malloc((list->count + 1) * sizeof **at);
  if (!*at) return cb_fail(CB_ERROR_MEMORY, "no memory for a bundle");
  for (*count = 0; (size_t)*count < list->count; ++*count) {
    const cb_node *item = list->items[*count];
    double *x = *at + *count;
    const cb_status status = cb_bundle_read_number(s, item, "breaks", x);
    if (status) return status;
    if (*count && !(x[0] > x[-1]))
      return cb_node_fail(item, "breaks: expected numbers that increase, found %.9g, then %.9g", x[-1], *x);
    if (period > 0 && !(*x >= 0 && *x < period))
      return cb_node_fail(item, "breaks: expected a number in [0, %.9g), within one period, found %.9g", period, *x);
  }
  return CB_OK;
}

cb_status cb_bundle_read_breaks(const cb_bundle_names *s, const cb_node *map, const double *period, int *count,
                                double **at) {
  if (!map) return CB_OK;
  cb_status status = cb_node_check_keys(map, s->name, (size_t)s->shape);
  for (int i = 0; !status && i < s->shape; i++) {
    const cb_node *list = cb_node_get(map, s->name[i]);
    if (list) status = read_breaks_of(s, list, period[i], &count[i], &at[i]);
  }
  return status;
}

/* --- matrices --- */

cb_status cb_bundle_check_row(const cb_node *list, int row, size_t length, const char *matrix) {
  const cb_node *node = list->items[row];
  if (node->kind == CB_NODE_LIST && node->count == length) return CB_OK;
  if (node->kind != CB_NODE_LIST)
    return cb_node_fail(node, "row %d of %s: expected a list of %zu expressions", row + 1, matrix, length);
  return cb_node_fail(node, "row %d of %s has %zu expressions: expected %zu", row + 1, matrix, node->count, length);
}

/* Fails unless two expressions agree to a relative difference of 1e-12 at 64 shapes in (-3, 3). Shapes at which an
 * expression is not finite are skipped. The coordinates of the shapes are multiples of irrational numbers, modulo 6, so
 * that the shapes are evenly distributed. */
static cb_status check_same(const cb_node *node, const cb_bundle_names *s, const char *what, const cb_expression *lower,
                            const cb_expression *upper) {
  for (int k = 1; k <= 64; k++) {
    double r[CB_SHAPE_MAX];
    for (size_t i = 0; i < (size_t)s->shape; i++) {
      const double u = k * sqrt((double)(4 * i + 2));
      r[i] = 6 * (u - floor(u)) - 3;
    }
    const double a = cb_expression_value(lower, r), b = cb_expression_value(upper, r);
    if (isfinite(a) && isfinite(b) && fabs(a - b) > 1e-12 * (fabs(a) + fabs(b)) + 1e-300)
      return cb_node_fail(node, "%s is not symmetric: at this entry %.9g, but %.9g across the diagonal, at %s = %.9g%s",
                          what, b, a, s->name[0], r[0], s->shape > 1 ? ", .." : "");
  }
  return CB_OK;
}

static cb_status read_entry(const cb_bundle_names *s, const cb_node *node, const char *what, cb_expression **out) {
  return cb_bundle_read_expression(s, node, what, s->name, s->shape, out);
}

cb_status cb_bundle_read_symmetric(const cb_bundle_names *s, const cb_node *list, const char *what,
                                   cb_expression **lower) {
  const int n = s->shape;
  cb_status status = CB_OK;
  if (list->kind != CB_NODE_LIST || list->count != (size_t)n)
    return cb_node_fail(list, "expected %d rows of expressions, one per shape variable", n);
  bool diagonal = true;
  for (int i = 0; i < n; i++) diagonal = diagonal && list->items[i]->kind == CB_NODE_SCALAR;
  for (int i = 0; !status && diagonal && i < n; i++)
    status = read_entry(s, list->items[i], what, &lower[cb_jet_packed(i, i)]);
  if (diagonal) return status;
  const bool triangle = n > 1 && list->items[0]->kind == CB_NODE_LIST && list->items[0]->count == 1;
  for (int i = 0; !status && i < n; i++) {
    status = cb_bundle_check_row(list, i, (size_t)(triangle ? i + 1 : n), what);
    for (int j = 0; !status && j <= i; j++)
      status = read_entry(s, list->items[i]->items[j], what, &lower[cb_jet_packed(i, j)]);
  }
  for (int i = 0; !status && i < n && !triangle; i++)
    for (int j = i + 1; !status && j < n; j++) {
      const cb_node *node = list->items[i]->items[j];
      cb_expression *upper = NULL;
      status = read_entry(s, node, what, &upper);
      if (!status) status = check_same(node, s, what, lower[cb_jet_packed(j, i)], upper);
      cb_expression_free(upper);
    }
  return status;
}

cb_status cb_bundle_read_metric(const cb_bundle *b, const cb_node *metric, const cb_node *add, cb_bundle **out) {
  const int n = b->n;
  cb_bundle_names s = {.shape = n, .count = n};
  cb_expression *lower[2][SYMMETRIC] = {{NULL}};
  const cb_expression *all[2][SQUARE];
  const bool named = metric && metric->kind == CB_NODE_SCALAR, identity = named && !strcmp(metric->text, "identity");
  for (int i = 0; i < n; i++) s.name[i] = b->shape[i] ? b->shape[i] : "";
  if (named && !identity && strcmp(metric->text, "bundle"))
    return cb_node_fail(metric, "metric: expected bundle, identity or rows of expressions, found '%s'", metric->text);
  const cb_node *rows = named ? NULL : metric;
  cb_status status = rows ? cb_bundle_read_symmetric(&s, rows, "metric", lower[0]) : CB_OK;
  if (!status && add) status = cb_bundle_read_symmetric(&s, add, "add", lower[1]);
  for (int p = 0; p < 2; p++)
    for (int k = 0; k < n * n; k++) all[p][k] = lower[p][cb_jet_packed(k / n, k % n)];
  const cb_bundle_metric m = {.identity = identity, .entry = rows ? all[0] : NULL, .add = add ? all[1] : NULL};
  if (!status) status = cb_bundle_with_metric(b, &m, out);
  for (int p = 0; p < 2; p++)
    for (int k = 0; k < n * (n + 1) / 2; k++) cb_expression_free(lower[p][k]);
  return status;
}
