/* A bundle written in the scenario: expressions of the shape variables.
 *
 *   bundle: {name: expressions, group: se2, shape: [a, b], parameters: {k: 2}, period: {a: 2*pi},
 *            breaks: {b: [0.5]}, A: [["..", ".."], ..], M: [["..", ".."], [..]]}
 *   breaks  values of a shape variable at which A or M has a kink or jumps
 *   A       a row for each axis of the group's algebra, a column for each shape variable: xi = -A(r) r'
 *   M       symmetric: all rows, the rows of the lower triangle, or the diagonal; the identity if absent
 * Derivatives are exact (curvebody/expression.h). Evaluation returns CB_STEP_DOMAIN outside the domain of an
 * expression.
 */
#include "bundle/bundle_private.h"
#include "tree/scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = CB_GROUP_DIM * CB_JET_MAX, SYMMETRIC = CB_JET_MAX * (CB_JET_MAX + 1) / 2 };

typedef struct given {
  const cb_node *group, *shape, *parameters, *A, *M, *period, *breaks;
} given;

static const cb_param params[] = {
    {"group", CB_PARAM_NODE, offsetof(given, group), NULL, "", "", NULL,
     "group of the fibre: se2, so3, r1 .. r12, ..."},
    {"shape", CB_PARAM_NODE, offsetof(given, shape), NULL, "", "", NULL, "list: names of the shape variables"},
    {"parameters", CB_PARAM_NODE, offsetof(given, parameters), "", "", "", NULL, "map: names and their values"},
    {"A", CB_PARAM_NODE, offsetof(given, A), NULL, "", "", NULL, "rows of expressions: xi = -A r'"},
    {"M", CB_PARAM_NODE, offsetof(given, M), "", "", "", NULL,
     "rows of expressions, or a diagonal; default: the identity"},
    {"period", CB_PARAM_NODE, offsetof(given, period), "", "", "", NULL, "map: shape variables and their periods"},
    {"breaks", CB_PARAM_NODE, offsetof(given, breaks), "", "", "", NULL,
     "map: shape variables and the list of values at which A or M has a kink or jumps"},
    {0},
};

typedef struct expressions {
  char *name[CB_JET_MAX];
  double *breaks[CB_JET_MAX];
  cb_expression *A[ENTRIES];
  cb_expression *M[SYMMETRIC]; /* lower triangle of the metric, row by row; NULL: the entry is 0 */
  bool metric;
} expressions;

static void destroy(cb_bundle *b) {
  expressions *own = b->self;
  if (!own) return;
  for (int i = 0; i < CB_JET_MAX; i++) {
    free(own->name[i]);
    free(own->breaks[i]);
  }
  for (int k = 0; k < ENTRIES; k++) cb_expression_free(own->A[k]);
  for (int k = 0; k < SYMMETRIC; k++) cb_expression_free(own->M[k]);
  free(own);
  b->self = NULL;
}

/* --- names --- */

static cb_status take_names(const given *p, cb_bundle *b, cb_bundle_names *s, expressions *own) {
  cb_status status = cb_bundle_read_shape(s, p->shape, CB_JET_MAX);
  if (!status) status = cb_bundle_read_parameters(s, p->parameters);
  if (!status) status = cb_bundle_read_periods(s, p->period, b->period);
  for (int i = 0; !status && i < s->shape; i++) {
    own->name[i] = strdup(s->name[i]);
    if (!own->name[i]) return cb_fail(CB_ERROR_MEMORY, "no memory for a bundle");
    b->shape[i] = own->name[i];
    b->n = i + 1;
  }
  if (!status) status = cb_bundle_read_breaks(s, p->breaks, b->period, b->breaks, own->breaks);
  for (int i = 0; i < b->n; i++) b->at[i] = own->breaks[i];
  return status;
}

/* --- matrices --- */

static cb_status parse(const cb_node *node, const cb_bundle_names *s, const char *what, cb_expression **out) {
  return cb_bundle_read_expression(s, node, what, s->name, s->shape, out);
}

static cb_status take_connection(const cb_node *list, const cb_bundle *b, const cb_bundle_names *s, expressions *own) {
  const int dim = b->group->dim;
  if (list->kind != CB_NODE_LIST || list->count != (size_t)dim)
    return cb_node_fail(list, "expected %d rows of expressions, one per axis of %s", dim, b->group->name);
  for (int i = 0; i < dim; i++) {
    cb_status status = cb_bundle_check_row(list, i, (size_t)b->n, "A");
    for (int j = 0; !status && j < b->n; j++) status = parse(list->items[i]->items[j], s, "A", &own->A[i * b->n + j]);
    if (status) return status;
  }
  return CB_OK;
}

static cb_status take_group(const cb_node *node, cb_bundle *b) {
  const char *name, *known[16];
  size_t count = 0;
  const cb_status status = cb_node_string(node, &name);
  if (status) return status;
  b->group = cb_group_find(name);
  if (b->group) return CB_OK;
  for (const cb_group *const *G = cb_groups; *G && count < sizeof known / sizeof *known; G++)
    known[count++] = (*G)->name;
  return cb_fail_unknown(node, "group", name, known, count);
}

static cb_status init(cb_bundle *b, const void *params_) {
  const given *p = params_;
  cb_bundle_names s = {.count = 0};
  expressions *own = calloc(1, sizeof *own);
  if (!own) return cb_fail(CB_ERROR_MEMORY, "no memory for a bundle");
  b->self = own;
  cb_status status = take_group(p->group, b);
  if (!status) status = take_names(p, b, &s, own);
  if (!status) status = take_connection(p->A, b, &s, own);
  if (!status && p->M) status = cb_bundle_read_symmetric(&s, p->M, "M", own->M);
  own->metric = p->M;
  return status;
}

/* --- evaluation --- */

/* Returns the expression of M_ij. If it is NULL, M_ij is 1 on the diagonal and 0 elsewhere. */
static const cb_expression *of_metric(const expressions *own, int i, int j) {
  return own->metric ? own->M[i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i] : NULL;
}

/* Evaluates the expressions of A and M. Returns CB_STEP_DOMAIN if a value is not finite. */
static cb_status values(const cb_bundle *b, const double *r, double *A, double *M) {
  const expressions *own = b->self;
  const int n = b->n;
  for (int k = 0; A && k < b->group->dim * n; k++) {
    A[k] = cb_expression_value(own->A[k], r);
    if (!isfinite(A[k]))
      return cb_fail(CB_STEP_DOMAIN, "the entry (%s, %s) of A is %g: expected a finite number", b->group->axis[k / n],
                     b->shape[k % n], A[k]);
  }
  for (int i = 0; M && i < n; i++)
    for (int j = 0; j <= i; j++) {
      const cb_expression *e = of_metric(own, i, j);
      const double value = M[i * n + j] = M[j * n + i] = e ? cb_expression_value(e, r) : i == j;
      if (!isfinite(value))
        return cb_fail(CB_STEP_DOMAIN, "the entry (%s, %s) of M is %g: expected a finite number", b->shape[i],
                       b->shape[j], value);
    }
  return CB_OK;
}

static cb_jet jet(const cb_expression *e, double constant, const double *x, const cb_jet *r, int n, bool plain) {
  cb_jet out = e ? cb_expression_jet(e, x, n) : cb_jet_constant(n, constant);
  if (!plain) cb_jet_of_shape(&out, r, n, &out);
  return out;
}

static cb_status on_jets(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {
  const expressions *own = b->self;
  const int n = b->n;
  const bool plain = cb_jets_are_variables(r, n);
  double x[CB_JET_MAX], a[ENTRIES], m[CB_JET_MAX * CB_JET_MAX];
  for (int i = 0; i < n; i++) x[i] = r[i].v;
  const cb_status status = values(b, x, A ? a : NULL, M ? m : NULL);
  if (status) return status;
  for (int k = 0; A && k < b->group->dim * n; k++) A[k] = jet(own->A[k], 0, x, r, n, plain);
  for (int i = 0; M && i < n; i++)
    for (int j = 0; j <= i; j++) M[i * n + j] = M[j * n + i] = jet(of_metric(own, i, j), i == j, x, r, n, plain);
  return CB_OK;
}

/* Writes the gradient of the expression e (NULL: 0) to slope[0], slope[stride], ... */
static void gradient(const cb_expression *e, const double *r, int n, double *slope, int stride) {
  double g[CB_JET_MAX] = {0};
  if (e) cb_expression_gradient(e, r, n, g);
  for (int i = 0; i < n; i++) slope[i * stride] = g[i];
}

static cb_status connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  const expressions *own = b->self;
  const int n = b->n, count = b->group->dim * n;
  double a[ENTRIES], m[CB_JET_MAX * CB_JET_MAX];
  const cb_status status = values(b, r, A || dA ? a : NULL, M || dM ? m : NULL);
  if (status) return status;
  if (A) memcpy(A, a, (size_t)count * sizeof *a);
  if (M) memcpy(M, m, (size_t)(n * n) * sizeof *m);
  for (int k = 0; dA && k < count; k++) gradient(own->A[k], r, n, dA + k, count);
  for (int k = 0; dM && k < n * n; k++) gradient(of_metric(own, k / n, k % n), r, n, dM + k, n * n);
  return CB_OK;
}

const cb_bundle_class cb_bundle_expressions = {
    .name = "expressions",
    .title = "connection and metric as expressions",
    .doc = "A and M as expressions of the shape variables, on any group",
    .params = params,
    .params_size = sizeof(given),
    .init = init,
    .destroy = destroy,
    .on_jets = on_jets,
    .connection = connection,
};
