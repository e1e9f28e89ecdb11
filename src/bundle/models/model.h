/* Code that the models of this folder share: second-order jets in two variables, memory for the parameters and the
 * group of a model, and the functions of models that are plane chains. */
#pragma once

#include "bundle/chain.h"
#include <curvebody/bundle.h>
#include <curvebody/jet.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A second-order jet in two variables: value, gradient, and Hessian (00, 10, 11). Models with at most two shape
 * variables use it, because cb_jet has space for thirteen variables and copying it would cost more than the model. The
 * rules are those of curvebody/jet.h. */
typedef struct jet2 {
  double v, g[2], h[3];
} jet2;

/* take converts a cb_jet in one or two variables to a jet2, and give converts it back. */
static inline jet2 take(const cb_jet *a) {
  if (a->n < 2) return (jet2){a->v, {a->g[0]}, {a->h[0]}};
  return (jet2){a->v, {a->g[0], a->g[1]}, {a->h[0], a->h[1], a->h[2]}};
}

static inline void give(cb_jet *out, int n, jet2 a) {
  out->n = n;
  out->v = a.v;
  for (int i = 0; i < n; i++) out->g[i] = a.g[i];
  for (int k = 0; k < n * (n + 1) / 2; k++) out->h[k] = a.h[k];
}

static inline jet2 constant(double v) { return (jet2){.v = v}; }
static inline jet2 scaled(double s, jet2 a) {
  return (jet2){s * a.v, {s * a.g[0], s * a.g[1]}, {s * a.h[0], s * a.h[1], s * a.h[2]}};
}
static inline jet2 shifted(double s, jet2 a) {
  a.v += s;
  return a;
}
static inline jet2 plus(jet2 a, jet2 b) {
  return (jet2){a.v + b.v, {a.g[0] + b.g[0], a.g[1] + b.g[1]}, {a.h[0] + b.h[0], a.h[1] + b.h[1], a.h[2] + b.h[2]}};
}
static inline jet2 minus(jet2 a, jet2 b) {
  return (jet2){a.v - b.v, {a.g[0] - b.g[0], a.g[1] - b.g[1]}, {a.h[0] - b.h[0], a.h[1] - b.h[1], a.h[2] - b.h[2]}};
}
static inline jet2 times(jet2 a, jet2 b) {
  return (jet2){a.v * b.v,
                {a.v * b.g[0] + b.v * a.g[0], a.v * b.g[1] + b.v * a.g[1]},
                {a.v * b.h[0] + b.v * a.h[0] + 2 * a.g[0] * b.g[0],
                 a.v * b.h[1] + b.v * a.h[1] + a.g[0] * b.g[1] + a.g[1] * b.g[0],
                 a.v * b.h[2] + b.v * a.h[2] + 2 * a.g[1] * b.g[1]}};
}
/* Returns the jet of f(a), from f, f' and f'' at the value a.v. */
static inline jet2 compose(jet2 a, double f, double df, double ddf) {
  return (jet2){
      f,
      {df * a.g[0], df * a.g[1]},
      {df * a.h[0] + ddf * a.g[0] * a.g[0], df * a.h[1] + ddf * a.g[0] * a.g[1], df * a.h[2] + ddf * a.g[1] * a.g[1]}};
}
static inline jet2 square(jet2 a) { return compose(a, a.v * a.v, 2 * a.v, 2); }
static inline jet2 inverse(jet2 a) {
  const double f = 1 / a.v;
  return compose(a, f, -f * f, 2 * f * f * f);
}
static inline jet2 over(jet2 a, jet2 b) { return times(a, inverse(b)); }
static inline jet2 sine(jet2 a) {
  const double s = sin(a.v);
  return compose(a, s, cos(a.v), -s);
}
static inline jet2 cosine(jet2 a) {
  const double c = cos(a.v);
  return compose(a, c, -sin(a.v), -c);
}
static inline jet2 hyperbolic_sine(jet2 a) {
  const double s = sinh(a.v);
  return compose(a, s, cosh(a.v), s);
}
static inline jet2 hyperbolic_cosine(jet2 a) {
  const double c = cosh(a.v);
  return compose(a, c, sinh(a.v), c);
}

/* --- models --- */

typedef struct cb_model {
  cb_group rn; /* the group if the fibre is R^k */
  _Alignas(max_align_t) unsigned char params[];
} cb_model;

/* Initialises a model. `group` is a name, or NULL for R^fibre. The names of the shape variables are borrowed;
 * params[size] is copied. */
static inline cb_status cb_model_init(cb_bundle *b, const char *group, int fibre, int n, const char *const *shape,
                                      const void *params, size_t size) {
  cb_model *own = calloc(1, sizeof *own + size);
  if (!own) return cb_fail(CB_ERROR_MEMORY, "no memory for a bundle");
  if (!group) own->rn = cb_group_rn(fibre);
  const cb_group *G = group ? cb_group_find(group) : &own->rn;
  if (!G) {
    free(own);
    return cb_fail(CB_ERROR_ARGUMENT, "no group is named %s", group);
  }
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

/* The function that a model with n <= 2 shape variables has in place of on_jets. It writes A[dim][n] and M[n][n],
 * either of which may be NULL. Before the call A is 0 and M is the identity. */
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

/* Sets x to the shape variables as jets. */
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

/* The function that computes the inertia P[dim][dim] of a model with a locked shape. Before the call P is 0. */
typedef void cb_model_locked(const void *params, const jet2 *r, jet2 *P);

/* Computes the form of a model from P, A and M: G = ((P, P A), (A^T P, M + A^T P A)). */
static inline cb_status cb_model_form(const cb_bundle *b, cb_model_jet2 *on_jet2, cb_model_locked *locked,
                                      const double *r, double *G, double *dG) {
  enum { DIM = 3, ALL = DIM + 2 };
  const int n = b->n, dim = b->group->dim, N = dim + n;
  jet2 x[2], A[2 * CB_GROUP_DIM], M[4], P[DIM * DIM], form[ALL][ALL];
  cb_model_shape(b, r, x);
  const cb_status status = cb_model_at(b, on_jet2, x, A, M);
  if (status) return status;
  for (int k = 0; k < dim * dim; k++) P[k] = constant(0);
  locked(cb_model_params(b), x, P);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      form[i][j] = i < dim && j < dim ? P[i * dim + j] : i < dim || j < dim ? constant(0) : M[(i - dim) * n + j - dim];
  for (int a = 0; a < dim; a++)
    for (int i = 0; i < n; i++) {
      for (int c = 0; c < dim; c++) form[a][dim + i] = plus(form[a][dim + i], times(P[a * dim + c], A[c * n + i]));
      form[dim + i][a] = form[a][dim + i];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int a = 0; a < dim; a++)
        form[dim + i][dim + j] = plus(form[dim + i][dim + j], times(A[a * n + i], form[a][dim + j]));
  for (int k = 0; k < N * N; k++) {
    G[k] = form[k / N][k % N].v;
    for (int i = 0; dG && i < n; i++) dG[i * N * N + k] = form[k / N][k % N].g[i];
  }
  return CB_OK;
}

/* clang-format off */
/* CB_MODEL_ON_JETS defines the functions on_jets, connection and second of the model that includes this file, from the
 * function on_jet2 of the model. CB_MODEL also defines init, from a group (NULL: R^fibre) and the names of the shape
 * variables. */
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
/* CB_MODEL_FORM defines the function `form` of a model, from its function `locked`. */
#define CB_MODEL_FORM                                                                                      \
  static cb_status form(const cb_bundle *b, const double *r, double *G, double *dG) {                      \
    return cb_model_form(b, on_jet2, locked, r, G, dG);                                                    \
  }
#define CB_MODEL(group, fibre, ...)                                                                        \
  static cb_status init(cb_bundle *b, const void *p) {                                                     \
    static const char *const shape[] = {__VA_ARGS__};                                                      \
    return cb_model_init(b, group, fibre, sizeof shape / sizeof *shape, shape, p, b->class_->params_size);   \
  }                                                                                                        \
  CB_MODEL_ON_JETS
/* These macros list the functions above as initialisers for the class of the model. */
#define CB_MODEL_ON_JETS_FUNCTIONS                                                                         \
  .destroy = cb_model_destroy, .on_jets = on_jets, .connection = connection, .second = second
#define CB_MODEL_FUNCTIONS .init = init, CB_MODEL_ON_JETS_FUNCTIONS
/* clang-format on */

/* --- models that are plane chains (bundle/chain.h): a model adds only the tensors D of its links --- */

static inline cb_status chain_init(cb_bundle *b, const cb_chain *c) {
  const cb_status status = cb_model_init(b, "se2", 0, c->links - 1, cb_chain_names, c, sizeof *c);
  if (!status) {
    b->points = c->links + 1;
    b->lines = c->links;
    b->line = cb_chain_lines;
  }
  return status;
}

static inline cb_status chain_on_jets(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {
  return cb_chain_on_jets(cb_model_params(b), r, A, M);
}

static inline cb_status chain_connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M,
                                         double *dM) {
  return cb_chain_connection(cb_model_params(b), r, A, dA, M, dM);
}

static inline cb_status chain_form(const cb_bundle *b, const double *r, double *G, double *dG) {
  return cb_chain_form(cb_model_params(b), r, G, dG);
}

static inline cb_status chain_second(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  return cb_chain_second(cb_model_params(b), r, ddA, ddM);
}

static inline cb_status chain_strain(const cb_bundle *b, const double *r, double *S) {
  return cb_chain_strain(cb_model_params(b), r, S);
}

static inline cb_status chain_plot(const cb_bundle *b, const double *r, const double *g, double (*x)[3]) {
  cb_chain_plot(cb_model_params(b), r, g, x);
  return CB_OK;
}

#define CB_CHAIN_FUNCTIONS                                                                             \
  .init = init, .destroy = cb_model_destroy, .on_jets = chain_on_jets, .connection = chain_connection, \
  .second = chain_second, .form = chain_form, .strain = chain_strain, .plot = chain_plot
