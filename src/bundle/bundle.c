/* Bundles by name: connection and cost metric with their derivatives.
 *
 * Where a class gives its connection on jets only, A, dA, M, dM are values and gradients of those jets.
 */
#include "bundle/bundle_private.h"
#include "tree/scalar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cb_status cb_bundle_create_class(const cb_bundle_class *class_, const cb_node *node, cb_bundle **out) {
  static const char *const shared[] = {"name"};
  const cb_node *map = node && node->kind == CB_NODE_MAP ? node : NULL;
  void *params = calloc(1, class_->params_size ? class_->params_size : 1);
  cb_bundle *b = calloc(1, sizeof *b);
  if (!params || !b) {
    free(params);
    free(b);
    return cb_fail(CB_ERROR_MEMORY, "no memory for bundle %s", class_->name);
  }
  b->kind = class_;
  cb_status status = cb_params_bind(class_->params, map, node, shared, 1, params);
  if (!status) {
    status = class_->init(b, params);
    /* bad input has its place already, and the lack of memory has none */
    if (status && status != CB_ERROR_INPUT && status != CB_ERROR_MEMORY && map)
      status = cb_node_fail(map, "bundle %s: %s", class_->name, cb_error_text());
  }
  if (!status && (!b->group || b->n < 1 || b->n > CB_SHAPE_MAX))
    status = cb_fail(CB_ERROR_ARGUMENT, "bundle %s: %d shape variables, at most %d are possible", class_->name, b->n,
                     CB_SHAPE_MAX);
  if (!status && !class_->connection && b->n > CB_JET_MAX)
    status = cb_fail(CB_ERROR_ARGUMENT, "bundle %s: %d shape variables, jets take at most %d", class_->name, b->n,
                     CB_JET_MAX);
  free(params);
  if (status) {
    cb_bundle_free(b);
    return status;
  }
  *out = b;
  return CB_OK;
}

cb_status cb_bundle_create(const char *name, const cb_node *node, cb_bundle **out) {
  const cb_bundle_class *c = cb_bundle_classes[cb_registry_find(&cb_bundle_registry, name, strlen(name))];
  return c ? cb_bundle_create_class(c, node, out) : cb_fail_no_class(node, "bundle", name, &cb_bundle_registry);
}

void cb_bundle_free(cb_bundle *b) {
  if (!b) return;
  if (b->kind->destroy) b->kind->destroy(b);
  free(b);
}

/* A shape in words, "alpha1 = 0.5, alpha2 = 1", cut where the text ends. */
static void cb_bundle_shape_text(const cb_bundle *b, const double *r, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < b->n && used < size; i++) {
    const int more =
        snprintf(text + used, size - used, "%s%.20s = %.9g", i ? ", " : "", b->shape[i] ? b->shape[i] : "r", r[i]);
    if (more < 0) break;
    used += (size_t)more;
  }
}

cb_status cb_bundle_fail_at(const cb_bundle *b, const double *r, cb_status status) {
  char shape[CB_SHAPE_MAX * 64];
  cb_bundle_shape_text(b, r, shape, sizeof shape);
  return cb_fail(status, "bundle %s at %s: %s", b->kind->name, shape, cb_error_text());
}

/* Jets of a whole connection: only the entries in use are touched. */
typedef struct connection_jets {
  cb_jet r[CB_JET_MAX], A[CB_GROUP_DIM * CB_JET_MAX], M[CB_JET_MAX * CB_JET_MAX];
} connection_jets;

static void read_jets(const cb_jet *jets, int count, int n, double *value, double *derivative) {
  for (int k = 0; k < count; k++) {
    if (value) value[k] = jets[k].v;
    if (derivative)
      for (int i = 0; i < n; i++) derivative[i * count + k] = jets[k].g[i];
  }
}

static cb_status from_jets(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  connection_jets J;
  const int n = b->n;
  const bool metric = M || dM, connection = A || dA;
  for (int i = 0; i < n; i++) J.r[i] = cb_jet_variable(n, i, r[i]);
  const cb_status status = b->kind->on_jets(b, J.r, connection ? J.A : NULL, metric ? J.M : NULL);
  if (status) return status;
  if (connection) read_jets(J.A, b->group->dim * n, n, A, dA);
  if (metric) read_jets(J.M, n * n, n, M, dM);
  return CB_OK;
}

/* 0 times a number is 0 unless it is infinite or nan. */
static bool all_finite(const double *x, int count) {
  double sum = 0;
  for (int k = 0; x && k < count; k++) sum += 0 * x[k];
  return sum == 0;
}

cb_status cb_bundle_evaluate(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  const int n = b->n, count = b->group->dim * n;
  cb_status status = b->kind->connection ? b->kind->connection(b, r, A, dA, M, dM) : from_jets(b, r, A, dA, M, dM);
  if (!status &&
      !(all_finite(A, count) && all_finite(dA, n * count) && all_finite(M, n * n) && all_finite(dM, n * n * n)))
    status = cb_fail(CB_STEP_NOT_FINITE, "the connection is not finite");
  return status;
}

cb_status cb_bundle_connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  const cb_status status = cb_bundle_evaluate(b, r, A, dA, M, dM);
  return status ? cb_bundle_fail_at(b, r, status) : CB_OK;
}

cb_status cb_bundle_locked(const cb_bundle *b, const double *r, double *P) {
  enum { SIZE = CB_GROUP_DIM + CB_SHAPE_MAX };
  const int dim = b->group->dim, size = dim + b->n;
  double G[SIZE * SIZE];
  if (!b->kind->form)
    return cb_fail(CB_ERROR_UNSUPPORTED, "bundle %s has no form whose locked part could be told", b->kind->name);
  cb_status status = b->kind->form(b, r, G);
  for (int i = 0; !status && i < dim; i++)
    if (!all_finite(G + i * size, dim)) status = cb_fail(CB_STEP_NOT_FINITE, "the locked form is not finite");
  if (status) return cb_bundle_fail_at(b, r, status);
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) P[i * dim + j] = G[i * size + j];
  return CB_OK;
}
