/* What the models of this folder share: their parameters kept beside their group. */
#pragma once

#include <curvebody/bundle.h>
#include "jet2.h"

#include <stdlib.h>
#include <string.h>

typedef struct cb_model {
  cb_group rn; /* where the fibre is R^k */
  _Alignas(max_align_t) unsigned char params[];
} cb_model;

/* group: a name, or NULL for R^fibre. The names of the shape variables are borrowed. */
static inline cb_status cb_model_init(cb_bundle *b, const char *group, int fibre, int n, const char *const *shape,
                                      const void *params, size_t size) {
  cb_model *own = calloc(1, sizeof *own + size);
  if (!own) return cb_fail(CB_ERROR_MEMORY, "no memory for a bundle");
  if (!group) own->rn = cb_group_rn(fibre);
  const cb_group *G = group ? cb_group_find(group) : &own->rn;
  if (!G) return free(own), cb_fail(CB_ERROR_ARGUMENT, "no group %s", group);
  memcpy(own->params, params, size);
  b->group = G;
  b->n = n;
  for (int i = 0; i < n; i++) b->shape[i] = shape[i];
  b->self = own;
  return CB_OK;
}

static inline void cb_model_destroy(cb_bundle *b) {
  free(b->self);
  b->self = NULL;
}

static inline const void *cb_model_params(const cb_bundle *b) { return ((const cb_model *)b->self)->params; }

/* on_jets of a model that is written on jet2: n <= 2. A is 0 and M the identity before. */
typedef cb_status cb_model_jet2(const void *params, const jet2 *r, jet2 *A, jet2 *M);

static inline cb_status cb_model_at(const cb_bundle *b, cb_model_jet2 *on_jet2, const jet2 *x, jet2 *A, jet2 *M) {
  const int n = b->n, count = b->group->dim * n;
  for (int k = 0; A && k < count; k++) A[k] = constant(0);
  for (int k = 0; M && k < n * n; k++) M[k] = constant(k % (n + 1) == 0);
  return on_jet2(cb_model_params(b), x, A, M);
}

static inline cb_status cb_model_on_jets(const cb_bundle *b, cb_model_jet2 *on_jet2, const cb_jet *r, cb_jet *A,
                                         cb_jet *M) {
  const int n = b->n, count = b->group->dim * n, variables = r->n;
  jet2 x[2] = {0}, a[2 * CB_GROUP_DIM], m[4];
  if (variables > 2) return cb_fail(CB_ERROR_ARGUMENT, "jets in %d variables: expected %d", variables, n);
  for (int i = 0; i < n; i++) x[i] = take(&r[i]);
  const cb_status status = cb_model_at(b, on_jet2, x, A ? a : NULL, M ? m : NULL);
  if (status) return status;
  for (int k = 0; A && k < count; k++) give(&A[k], variables, a[k]);
  for (int k = 0; M && k < n * n; k++) give(&M[k], variables, m[k]);
  return CB_OK;
}

/* The shape variables themselves. */
static inline void cb_model_shape(const cb_bundle *b, const double *r, jet2 *x) {
  x[1] = constant(0);
  for (int i = 0; i < b->n; i++) x[i] = (jet2){r[i], {i == 0, i == 1}, {0}};
}

static inline cb_status cb_model_connection(const cb_bundle *b, cb_model_jet2 *on_jet2, const double *r, double *A,
                                            double *dA, double *M, double *dM) {
  const int n = b->n, count = b->group->dim * n;
  jet2 x[2], a[2 * CB_GROUP_DIM], m[4];
  cb_model_shape(b, r, x);
  const cb_status status = cb_model_at(b, on_jet2, x, A || dA ? a : NULL, M || dM ? m : NULL);
  if (status) return status;
  for (int k = 0; A && k < count; k++) A[k] = a[k].v;
  for (int k = 0; M && k < n * n; k++) M[k] = m[k].v;
  for (int i = 0; i < n; i++) {
    for (int k = 0; dA && k < count; k++) dA[i * count + k] = a[k].g[i];
    for (int k = 0; dM && k < n * n; k++) dM[i * n * n + k] = m[k].g[i];
  }
  return CB_OK;
}

static inline cb_status cb_model_second(const cb_bundle *b, cb_model_jet2 *on_jet2, const double *r, double *ddA,
                                        double *ddM) {
  const int n = b->n, count = b->group->dim * n;
  jet2 x[2], a[2 * CB_GROUP_DIM], m[4];
  cb_model_shape(b, r, x);
  const cb_status status = cb_model_at(b, on_jet2, x, ddA ? a : NULL, ddM ? m : NULL);
  if (status) return status;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      for (int k = 0; ddA && k < count; k++) *ddA++ = a[k].h[i + j];
      for (int k = 0; ddM && k < n * n; k++) *ddM++ = m[k].h[i + j];
    }
  return CB_OK;
}

/* clang-format off */
/* on_jets, connection and second of the model of this file, by its on_jet2; and init, of a group (NULL: R^fibre) and names of shape variables. */
#define CB_MODEL_ON_JETS                                                                                   \
  static cb_model_jet2 on_jet2;                                                                            \
  static cb_status on_jets(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {                    \
    return cb_model_on_jets(b, on_jet2, r, A, M);                                                          \
  }                                                                                                        \
  static cb_status connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M,       \
                              double *dM) {                                                                \
    return cb_model_connection(b, on_jet2, r, A, dA, M, dM);                                               \
  }                                                                                                        \
  static cb_status second(const cb_bundle *b, const double *r, double *ddA, double *ddM) {                 \
    return cb_model_second(b, on_jet2, r, ddA, ddM);                                                       \
  }
#define CB_MODEL(group, fibre, ...)                                                                        \
  static cb_status init(cb_bundle *b, const void *p) {                                                     \
    static const char *const shape[] = {__VA_ARGS__};                                                      \
    return cb_model_init(b, group, fibre, sizeof shape / sizeof *shape, shape, p, b->kind->params_size);   \
  }                                                                                                        \
  CB_MODEL_ON_JETS
/* These as members of its class. */
#define CB_MODEL_FUNCTIONS                                                                                 \
  .init = init, .destroy = cb_model_destroy, .on_jets = on_jets, .connection = connection, .second = second
/* clang-format on */
