/* The spaces that geometric property tests run over: every class of the registry that is made of quadrics, with its
 * default curvature and, where it is curved, with another one; and products that are no part of the library, as an
 * author outside its tree would write them. */
#ifndef CB_TESTS_CHECK_SPACES_H
#define CB_TESTS_CHECK_SPACES_H

#include "check_geometry.h"

/* A map node {key: text, ...} of at most two keys, for parameters without a file. */
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

static cb_status check_init_h2xe(cb_geometry *g, const void *params) {
  (void)params;
  return cb_geometry_init_product(g, 2, (int[]){2, 1}, (double[]){-1, 0});
}

static cb_status check_init_exs2(cb_geometry *g, const void *params) {
  (void)params;
  return cb_geometry_init_product(g, 2, (int[]){1, 2}, (double[]){0, 0.7});
}

static const cb_geometry_class check_h2xe = {
    .name = "h2xe", .title = "H2 x E", .doc = "a test's own", .init = check_init_h2xe};
static const cb_geometry_class check_exs2 = {
    .name = "exs2", .title = "E x S2", .doc = "a test's own", .init = check_init_exs2};

typedef void (*check_space_test)(const cb_geometry *g, uint64_t *state);

static inline void check_one_space(cb_geometry *g, uint64_t *state, check_space_test test) {
  test(g, state);
  cb_geometry_free(g);
}

/* Runs test in each of the spaces that are known by the metric of one chart. */
static inline void check_every_intrinsic_space(check_space_test test) {
  uint64_t state = check_seed();
  for (int i = 0; cb_geometry_classes[i]; i++) {
    cb_geometry *g;
    check_ok(cb_geometry_create_class(cb_geometry_classes[i], NULL, &g));
    if (g->intrinsic) check_one_space(g, &state, test);
    else cb_geometry_free(g);
  }
}

/* Runs test in each of the spaces that are made of quadrics and flat factors. */
static inline void check_every_space(check_space_test test) {
  uint64_t state = check_seed();
  check_map m;
  cb_geometry *g;
  for (int i = 0; cb_geometry_classes[i]; i++) {
    check_ok(cb_geometry_create_class(cb_geometry_classes[i], NULL, &g));
    if (g->intrinsic) {
      cb_geometry_free(g);
      continue;
    }
    double curvature = g->n_factors ? g->factor[0].curvature : 0;
    check_one_space(g, &state, test);
    if (curvature == 0) continue;
    const cb_node *node = check_map_fill(&m, "curvature", curvature > 0 ? "2.5" : "-0.3", NULL, NULL);
    check_ok(cb_geometry_create_class(cb_geometry_classes[i], node, &g));
    check_one_space(g, &state, test);
  }
  check_ok(cb_geometry_create_class(&check_h2xe, NULL, &g));
  check_one_space(g, &state, test);
  check_ok(cb_geometry_create_class(&check_exs2, NULL, &g));
  check_one_space(g, &state, test);
}

/* A radius inside which points have no antipodes: 1, or 0.4 pi R in a sphere. */
static inline double check_radius(const cb_geometry *g) {
  double r = 1;
  for (int f = 0; f < g->n_factors; f++)
    if (g->factor[f].curvature > 0) r = fmin(r, 0.4 * 3.14159265358979 / sqrt(g->factor[f].curvature));
  return r;
}

#endif
