/* The spaces in which tests of geometric properties run:
 * (1) every class of the registry that is a product of quadrics and flat factors, with its default curvature and, if
 *     its first factor is curved, with another one; and a product that is not in the library;
 * (2) spaces that are given by the metric of one chart: the spaces of the registry, some of them also with other
 *     parameters, and spaces whose metric is given as text;
 * (3) the static charts of a space of (1). */
#pragma once

#include "check_geometry.h"
#include "geometry/text_metric.h"
#include "yaml/yaml.h"

/* A node for the map {key: text, ...} with at most two keys, which gives parameters without a file. */
typedef struct check_map {
  cb_node map, key[2], value[2];
  const cb_node *keys[2], *values[2];
} check_map;

static inline const cb_node *check_map_fill(check_map *m, const char *key1, const char *value1, const char *key2,
                                            const char *value2) {
  const char *keys[2] = {key1, key2}, *values[2] = {value1, value2};
  memset(m, 0, sizeof *m);
  m->map = (cb_node){.kind = CB_NODE_MAP, .file = "test", .line = 1, .column = 1, .items = m->values, .keys = m->keys};
  for (int i = 0; i < 2 && keys[i]; i++) {
    m->key[i] = (cb_node){.kind = CB_NODE_SCALAR, .file = "test", .line = 1, .column = 2, .text = keys[i]};
    m->value[i] = (cb_node){.kind = CB_NODE_SCALAR, .file = "test", .line = 1, .column = 9, .text = values[i]};
    m->keys[i] = &m->key[i];
    m->values[i] = &m->value[i];
    m->map.count++;
  }
  return &m->map;
}

static cb_status check_init_exs2(cb_space *g, const void *params) {
  return cb_space_init_product(g, 2, (int[]){1, 2}, (double[]){0, 0.7});
}

static const cb_space_class check_exs2 = {
    .name = "exs2", .title = "E x S2", .doc = "a test's own", .init = check_init_exs2};

typedef void (*check_space_test)(const cb_space *g, uint64_t *state);

static inline void check_one_space(cb_space *g, uint64_t *state, check_space_test test) {
  test(g, state);
  cb_space_free(g);
}

/* Metrics as a user writes them. In this order: H3 in the half-space and in the ball; a paraboloid (u, v) with a third
 * coordinate w that is not orthogonal to it; a paraboloid with plot coordinates; a skew torus; a line; E2 in polar
 * coordinates. */
static const char *const check_text_metrics[] = {
    "{metric: [[1/z^2], [0, 1/z^2], [0, 0, 1/z^2]], coordinates: [x, y, z], domain: z > 0, base: [0, 0, 1]}",
    "{metric: [[c/(4 - x^2 - y^2 - z^2)^2], [0, c/(4 - x^2 - y^2 - z^2)^2], [0, 0, c/(4 - x^2 - y^2 - z^2)^2]], "
    "coordinates: [x, y, z], parameters: {c: 16}, domain: x^2 + y^2 + z^2 < 4}",
    "{metric: [[1 + u^2], [u*v, 1 + v^2], [0.2*sin(w), 0, 2 + cos(u)]], coordinates: [u, v, w]}",
    "{metric: [[1 + u^2], [u*v, 1 + v^2]], coordinates: [u, v], plot: [u, v, (u^2 + v^2)/2]}",
    "{metric: [[1], [0.3, 1]], coordinates: [a, b], periodic: [2*pi, 3]}",
    "{metric: [[1 + s^2]], coordinates: [s]}",
    "{metric: [[1], [0, r^2]], coordinates: [r, phi], periodic: [0, 2*pi], domain: r > 0, base: [1, 0], plot: "
    "[r*cos(phi), r*sin(phi), 0]}"};

static inline cb_space *check_text_space(const char *text) {
  cb_tree *tree;
  cb_space *g = NULL;
  check_ok(cb_yaml_read_text("test", text, strlen(text), &tree));
  check_ok(cb_text_metric_create(cb_tree_root(tree), &g));
  cb_tree_free(tree);
  return g;
}

/* Runs a test in each space that is defined by the metric of one chart: the spaces of the registry, some of them also
 * with other parameters, and spaces whose metric is given as text. */
static inline void check_every_intrinsic_space(check_space_test test) {
  static const char *const others[][5] = {{"flat_torus", "dimension", "2", "period_x", "3"},
                                          {"schwarzschild", "mass", "1.5", NULL, NULL},
                                          {"ellipsoid", "a", "1.2", NULL, NULL}, /* of revolution, because the default
                                                                                  * of b is 1.2 */
                                          {"torus", "major_radius", "5", "minor_radius", "0.8"}};
  uint64_t state = check_seed();
  cb_space *g;
  int found = 0;
  for (int i = 0; cb_space_classes[i]; i++) {
    check_ok(cb_space_create_class(cb_space_classes[i], NULL, &g));
    found += g->intrinsic != NULL;
    if (g->intrinsic)
      check_one_space(g, &state, test);
    else
      cb_space_free(g);
  }
  assert_true(found >= 8);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    check_map m;
    const cb_node *node = check_map_fill(&m, others[i][1], others[i][2], others[i][3], others[i][4]);
    check_ok(cb_space_create(others[i][0], node, &g));
    check_one_space(g, &state, test);
  }
  for (size_t i = 0; i < sizeof check_text_metrics / sizeof *check_text_metrics; i++)
    check_one_space(check_text_space(check_text_metrics[i]), &state, test);
}

/* Runs a test in each space that is a product of quadrics and flat factors. */
static inline void check_every_space(check_space_test test) {
  uint64_t state = check_seed();
  check_map m;
  cb_space *g;
  for (int i = 0; cb_space_classes[i]; i++) {
    check_ok(cb_space_create_class(cb_space_classes[i], NULL, &g));
    if (g->intrinsic) {
      cb_space_free(g);
      continue;
    }
    double curvature = g->n_factors ? g->factor[0].curvature : 0;
    check_one_space(g, &state, test);
    if (curvature == 0) continue;
    const cb_node *node = check_map_fill(&m, "curvature", curvature > 0 ? "2.5" : "-0.3", NULL, NULL);
    check_ok(cb_space_create_class(cb_space_classes[i], node, &g));
    check_one_space(g, &state, test);
  }
  check_ok(cb_space_create_class(&check_exs2, NULL, &g));
  check_one_space(g, &state, test);
}

/* Runs a test in each space of check_every_space and check_every_intrinsic_space. */
static inline void check_every_space_of_both_kinds(check_space_test test) {
  check_every_space(test);
  check_every_intrinsic_space(test);
}

/* Runs a test in the embedding of a space and in each of its static charts. */
static inline void check_every_chart_of(const cb_space *given, uint64_t *state, check_space_test test) {
  cb_space *g = (cb_space *)(uintptr_t)given; /* its members are changed here and restored at the end */
  test(g, state);
  for (int i = 0; !g->intrinsic && i < g->n_charts; i++) {
    if (!g->charts[i].metric || !g->charts[i].distance) continue;
    g->chart = &g->charts[i];
    g->k = g->dim;
    test(g, state);
    g->chart = NULL;
    g->k = g->embedding;
  }
}

/* Returns the radius of a ball that contains no antipodes: 1, or 0.4 pi R if a factor is a sphere of a radius R for
 * which this is less than 1. */
static inline double check_radius(const cb_space *g) {
  double r = 1;
  for (int f = 0; f < g->n_factors; f++)
    if (g->factor[f].curvature > 0) r = fmin(r, 0.4 * 3.14159265358979 / sqrt(g->factor[f].curvature));
  return r;
}
