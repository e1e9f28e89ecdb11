/* Functions for the tests of bundles. They create the bundle of a model by its name, with parameters as text, and
 * compute the holonomy of loops in shape space. */
#pragma once

#include <curvebody/bundle.h>
#include "check.h"

enum { MODEL_KEYS = 8 };

/* Creates the bundle of a model. `text` has its parameters as "key value key value", with the values as in a scenario.
 * A list is written [a,b,c] without spaces. */
static inline cb_status model_create(const char *name, const char *text, cb_bundle **out) {
  static char store[512];
  static cb_node nodes[64];
  static const cb_node *keys[MODEL_KEYS], *values[MODEL_KEYS], *items[40];
  cb_node map = {.kind = CB_NODE_MAP, .file = "test", .line = 1, .column = 1, .items = values, .keys = keys};
  size_t used = 0, listed = 0;
  snprintf(store, sizeof store, "%s", text);
  for (char *word = strtok(store, " "); word; word = strtok(NULL, " ")) {
    cb_node *node = &nodes[used++];
    *node = (cb_node){.kind = CB_NODE_SCALAR, .file = "test", .line = 1, .column = 1, .text = word};
    if (used % 2 == 1) {
      keys[map.count] = node;
      continue;
    }
    values[map.count++] = node;
  }
  for (size_t v = 0; v < map.count; v++) {
    cb_node *node = (cb_node *)values[v];
    if (node->text[0] != '[') continue;
    node->kind = CB_NODE_LIST;
    node->items = items + listed;
    char *rest = NULL;
    for (char *word = strtok_r((char *)node->text + 1, ",]", &rest); word; word = strtok_r(NULL, ",]", &rest)) {
      cb_node *item = &nodes[used++];
      *item = (cb_node){.kind = CB_NODE_SCALAR, .file = "test", .line = 1, .column = 1, .text = word};
      items[listed++] = item;
      node->count++;
    }
  }
  return cb_bundle_create(name, &map, out);
}

static inline cb_bundle *model(const char *name, const char *text) {
  cb_bundle *b = NULL;
  check_ok(model_create(name, text, &b));
  return b;
}

/* A piece of a path in shape space: computes the shape r and its rate at t in [0, 1]. */
typedef void (*model_path)(const void *data, double t, double *r, double *rate);

typedef struct model_circle {
  double x, y, radius;
  double ahead; /* phase of the second variable, in radians; -pi/2 makes a circle */
} model_circle;

static inline void on_circle(const void *data, double t, double *r, double *rate) {
  const model_circle *c = data;
  const double turn = 2 * M_PI, a = turn * t, b = a + c->ahead;
  r[0] = c->x + c->radius * cos(a);
  r[1] = c->y + c->radius * cos(b);
  rate[0] = -turn * c->radius * sin(a);
  rate[1] = -turn * c->radius * sin(b);
}

typedef struct side {
  double from[2], to[2];
} side;

static inline void on_side(const void *data, double t, double *r, double *rate) {
  const side *s = data;
  for (int i = 0; i < 2; i++) {
    rate[i] = s->to[i] - s->from[i];
    r[i] = s->from[i] + t * rate[i];
  }
}

/* Replaces g by g times the holonomy of the path, and adds the length and the cost of the path to *length and *cost
 * (each may be NULL). Integrates the equation (g^-1)' = A r' g^-1 by the Magnus method of order 6 with the three points
 * of Gauss's rule (Blanes, Casas & Ros, BIT 40 (2000) 434, doi:10.1023/A:1022311628317). */
static inline void model_carry(const cb_bundle *b, model_path path, const void *data, int steps, double *g,
                               double *length, double *cost) {
  static const double weight[3] = {5. / 18, 8. / 18, 5. / 18};
  const double node = sqrt(0.15), h = 1. / steps;
  const cb_group *G = b->group;
  const int dim = G->dim, n = b->n;
  for (int s = 0; s < steps; s++) {
    double a[3][CB_GROUP_DIM], one[CB_GROUP_DIM], two[CB_GROUP_DIM], three[CB_GROUP_DIM];
    for (int k = 0; k < 3; k++) {
      double r[CB_SHAPE_MAX], v[CB_SHAPE_MAX] = {0}, A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX];
      path(data, (s + 0.5 + (k - 1) * node) * h, r, v);
      check_ok(cb_bundle_connection(b, r, A, NULL, M, NULL));
      for (int i = 0; i < dim; i++) {
        a[k][i] = 0;
        for (int j = 0; j < n; j++) a[k][i] += A[i * n + j] * v[j]; /* A v is minus the body velocity */
      }
      double square = 0;
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) square += M[i * n + j] * v[i] * v[j];
      if (length) *length += h * weight[k] * sqrt(square);
      if (cost) *cost += h * weight[k] * square;
    }
    double c1[CB_GROUP_DIM], c2[CB_GROUP_DIM], left[CB_GROUP_DIM], right[CB_GROUP_DIM], step[CB_GROUP_SIZE];
    for (int i = 0; i < dim; i++) {
      one[i] = h * a[1][i];
      two[i] = h * sqrt(15) / 3 * (a[2][i] - a[0][i]);
      three[i] = h * 10. / 3 * (a[2][i] - 2 * a[1][i] + a[0][i]);
    }
    G->bracket(G, one, two, c1);
    for (int i = 0; i < dim; i++) left[i] = 2 * three[i] + c1[i];
    G->bracket(G, one, left, c2);
    for (int i = 0; i < dim; i++) {
      left[i] = -20 * one[i] - three[i] + c1[i];
      right[i] = two[i] - c2[i] / 60;
    }
    double omega[CB_GROUP_DIM];
    G->bracket(G, left, right, omega);
    for (int i = 0; i < dim; i++) omega[i] = -(one[i] + three[i] / 12 + omega[i] / 240);
    G->exp(G, omega, step);
    G->multiply(G, g, step, g);
  }
}

static inline void model_loop(const cb_bundle *b, model_path path, const void *data, int steps, double *g,
                              double *length) {
  double ignored = 0;
  b->group->identity(b->group, g);
  if (length) *length = 0;
  model_carry(b, path, data, steps, g, length ? length : &ignored, NULL);
}

/* Computes the holonomy g and the length of a polygon in shape space, from corner to corner and back to the first
 * one. */
static inline void model_polygon(const cb_bundle *b, int corners, const double (*corner)[2], int steps, double *g,
                                 double *length) {
  double ignored = 0;
  b->group->identity(b->group, g);
  if (length) *length = 0;
  for (int k = 0; k < corners; k++) {
    const double *p = corner[k], *q = corner[(k + 1) % corners];
    const side s = {{p[0], p[1]}, {q[0], q[1]}};
    model_carry(b, on_side, &s, steps, g, length ? length : &ignored, NULL);
  }
}
