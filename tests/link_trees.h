/* Trees of links for the tests, made from their text in a scenario. */
#pragma once

#include "yaml/yaml.h"
#include "models.h"

typedef struct tree {
  cb_tree *source;
  cb_bundle *b;
} tree;

static inline cb_status tree_create(const char *text, tree *t) {
  check_ok(cb_yaml_read_text("test.yaml", text, strlen(text), &t->source));
  const cb_status status = cb_bundle_create("links", cb_tree_root(t->source), &t->b);
  if (status) cb_tree_free(t->source);
  return status;
}

static inline tree tree_of(const char *text) {
  tree t;
  check_ok(tree_create(text, &t));
  return t;
}

static inline void tree_free(tree *t) {
  cb_bundle_free(t->b);
  cb_tree_free(t->source);
}

/* Creates a chain of equal links with the angles alpha1, alpha2, ... between them. `head` is the text of its other
 * keys. */
static inline tree chain(const char *head, int links, double length) {
  char text[4096];
  size_t used = 0;
  used += (size_t)snprintf(text, sizeof text, "%s\nshape: [", head);
  for (int k = 1; k < links; k++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%salpha%d", k > 1 ? ", " : "", k);
  used += (size_t)snprintf(text + used, sizeof text - used, "]\nlinks:\n  - {length: %.17g}\n", length);
  for (int k = 1; k < links; k++)
    used += (size_t)snprintf(text + used, sizeof text - used, "  - {length: %.17g, angle: alpha%d}\n", length, k);
  return tree_of(text);
}

typedef struct values {
  double A[CB_GROUP_DIM * CB_SHAPE_MAX], dA[CB_SHAPE_MAX * CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX],
      dM[CB_SHAPE_MAX * CB_SHAPE_MAX * CB_SHAPE_MAX];
} values;

static inline void values_at(const cb_bundle *b, const double *r, values *v) {
  check_ok(cb_bundle_connection(b, r, v->A, v->dA, v->M, v->dM));
}

static inline double difference(const double *a, const double *b, int n) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]));
  return worst;
}

static inline void random_shape(uint64_t *seed, int n, double size, double *r) {
  for (int i = 0; i < n; i++) r[i] = check_uniform(seed, -size, size);
}

/* Compares the derivatives dA and dM with differences of order 6 with the step h = 4e-3. The errors of the differences
 * are h^6 = 4e-15 times a seventh derivative, and 1e-15/h from round-off. */
static inline void check_derivatives(const cb_bundle *b, const double *r, double tolerance) {
  static values v, w;
  static double dA[CB_GROUP_DIM * CB_SHAPE_MAX], dM[CB_SHAPE_MAX * CB_SHAPE_MAX];
  const double h = 4e-3, weight[3] = {.75, -.15, 1. / 60};
  const int n = b->n, count = b->group->dim * n;
  values_at(b, r, &v);
  for (int k = 0; k < n; k++) {
    double x[CB_SHAPE_MAX];
    memcpy(x, r, sizeof(double) * (size_t)n);
    memset(dA, 0, sizeof dA);
    memset(dM, 0, sizeof dM);
    for (int s = -3; s <= 3; s++) {
      if (!s) continue;
      const double f = (s > 0 ? weight[s - 1] : -weight[-s - 1]) / h;
      x[k] = r[k] + s * h;
      check_ok(cb_bundle_connection(b, x, w.A, NULL, w.M, NULL));
      for (int i = 0; i < count; i++) dA[i] += f * w.A[i];
      for (int i = 0; i < n * n; i++) dM[i] += f * w.M[i];
    }
    check_at_most(difference(v.dA + k * count, dA, count), tolerance);
    check_at_most(difference(v.dM + k * n * n, dM, n * n), tolerance);
  }
}

#define BRANCHES                                                                 \
  "shape: [a, b, c]\n"                                                           \
  "parameters: {f: 0.3}\n"                                                       \
  "links:\n"                                                                     \
  "  - {length: 1.1}\n"                                                          \
  "  - {length: 0.7, angle: a}\n"                                                \
  "  - {length: 0.4, parent: 0, at: 0.3, angle: b + a^2/4, offset: pi/2}\n"      \
  "  - {length: 0.9, parent: 1, at: 0.5, angle: f*a*sin(c) - 2*b, offset: -1}\n" \
  "  - {length: 0.5, parent: 2, angle: c}\n"                                     \
  "  - {length: 0.3, parent: 2, at: 0, offset: 0.4}\n"
