/* Shapes of the library by name and parameters, and measures of surfaces, for the tests of surfaces, shapes and
 * poses. */
#pragma once

#include "check.h"

#include "fluid/surface_mesh.h"

enum { MOST_KEYS = 8 };

/* A map of scalars, as if it were read from a file. map_of fills it from a text "key=value key=value". */
typedef struct map_node {
  cb_node map, scalar[2 * MOST_KEYS];
  const cb_node *key[MOST_KEYS], *value[MOST_KEYS];
  char text[256];
} map_node;

static inline const cb_node *map_of(map_node *m, const char *text) {
  memset(m, 0, sizeof *m);
  m->map = (cb_node){.kind = CB_NODE_MAP, .file = "a.yaml", .line = 1, .column = 1, .keys = m->key, .items = m->value};
  snprintf(m->text, sizeof m->text, "%s", text);
  char *rest = m->text;
  while (*rest) {
    size_t n = m->map.count++;
    assert_true(n < MOST_KEYS);
    char *equal = strchr(rest, '='), *end = strchr(rest, ' ');
    assert_non_null(equal);
    *equal = 0;
    if (end) *end = 0;
    const char *words[2] = {rest, equal + 1};
    for (size_t k = 0; k < 2; k++)
      m->scalar[2 * n + k] = (cb_node){
          .kind = CB_NODE_SCALAR, .file = "a.yaml", .line = (int)n + 2, .column = k ? 10 : 1, .text = words[k]};
    m->key[n] = &m->scalar[2 * n];
    m->value[n] = &m->scalar[2 * n + 1];
    rest = end ? end + 1 : rest + strlen(rest);
    rest = end ? rest : (char *)"";
  }
  return &m->map;
}

static inline cb_status try_shape(const char *name, const char *text, cb_surface **out) {
  map_node m;
  return cb_shape_create(name, map_of(&m, text), out);
}

static inline cb_surface *shape(const char *name, const char *text) {
  cb_surface *s = NULL;
  check_ok(try_shape(name, text, &s));
  return s;
}

typedef struct measures {
  double area, volume;
  int vertices, edges, faces, borders; /* vertices: only those that faces use */
  double least_angle;                  /* minimum angle in a face, in degrees */
} measures;

static inline void difference(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

static inline double length_of(const double a[3]) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

static inline double angle_at(const double *a, const double *b, const double *c) {
  double p[3], q[3];
  difference(b, a, p);
  difference(c, a, q);
  double cosine = (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]) / (length_of(p) * length_of(q));
  return acos(fmax(-1, fmin(1, cosine))) * 180 / 3.14159265358979323846;
}

/* Measures one part of the surface, or all parts together if `part` is -1. */
static inline measures measure_surface(const cb_surface *s, int part) {
  measures m = {.least_angle = 180};
  char *used = calloc((size_t)s->vertices, 1);
  for (int f = 0; f < s->faces; f++) {
    if (part >= 0 && s->part[f] != part) continue;
    const double *a = s->x[s->face[f][0]], *b = s->x[s->face[f][1]], *c = s->x[s->face[f][2]];
    double p[3], q[3];
    difference(b, a, p);
    difference(c, a, q);
    const double n[3] = {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]};
    m.area += length_of(n) / 2;
    m.volume += (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]) / 6;
    m.faces++;
    m.least_angle = fmin(m.least_angle, fmin(angle_at(a, b, c), fmin(angle_at(b, c, a), angle_at(c, a, b))));
    for (int k = 0; k < 3; k++) used[s->face[f][k]] = 1;
  }
  for (int v = 0; v < s->vertices; v++) m.vertices += used[v];
  free(used);
  cb_surface_edge *edge = NULL;
  int n = 0;
  check_ok(cb_surface_edges(s, &edge, &n));
  for (int e = 0; e < n; e++) {
    if (part >= 0 && s->part[edge[e].face[0]] != part) continue;
    m.edges++;
    m.borders += edge[e].face[1] < 0;
  }
  free(edge);
  return m;
}

static inline int part_called(const cb_surface *s, const char *name) {
  for (int p = 0; p < s->parts; p++)
    if (!strcmp(s->name[p], name)) return p;
  print_error("no part is called %s\n", name);
  fail();
  return -1;
}
