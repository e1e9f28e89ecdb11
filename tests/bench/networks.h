/* Networks of any size in S3 and H3. Their particles are numbered at random, so the builder has to reorder them. */
#pragma once

#include "check.h"
#include <curvebody/system.h>

typedef enum network_kind { NETWORK_LATTICE, NETWORK_MESH, NETWORK_RANDOM, NETWORK_KINDS } network_kind;

static const char *const network_names[NETWORK_KINDS] = {"cubic lattice", "triangulated torus", "random graph"};

typedef struct network {
  cb_space *g;
  cb_builder *builder;
  cb_system *system;
  cb_state *start;
  size_t n, m;
} network;

typedef struct network_grid {
  network_kind kind;
  size_t side[3], n;
  uint64_t seed;
} network_grid;

static inline size_t network_whole(uint64_t *seed, size_t n) { return (size_t)check_uniform(seed, 0, (double)n); }

/* Returns a grid of about `size` particles. */
static inline network_grid network_grid_of(network_kind kind, double size) {
  const size_t edge = (size_t)(kind == NETWORK_LATTICE ? cbrt(size) + 0.999 : sqrt(size) + 0.999);
  network_grid grid = {kind, {edge, edge, kind == NETWORK_LATTICE ? edge : 1}, 0, 42};
  grid.n = grid.side[0] * grid.side[1] * grid.side[2];
  return grid;
}

/* Writes the first three coordinates u of particle i in the embedding. They are at most 0.35 in absolute value. */
static inline void network_place(network_grid *grid, size_t i, double *u) {
  const size_t a = i % grid->side[0], b = i / grid->side[0] % grid->side[1], c = i / (grid->side[0] * grid->side[1]);
  const double step[3] = {1.0 / grid->side[0], 1.0 / grid->side[1], 1.0 / grid->side[2]};
  if (grid->kind == NETWORK_MESH) {
    const double around = 2 * M_PI * a * step[0], along = 2 * M_PI * b * step[1], radius = 0.25 + 0.1 * cos(around);
    u[0] = radius * cos(along);
    u[1] = radius * sin(along);
    u[2] = 0.1 * sin(around);
  } else if (grid->kind == NETWORK_LATTICE) {
    u[0] = 0.5 * a * step[0] - 0.25;
    u[1] = 0.5 * b * step[1] - 0.25;
    u[2] = 0.5 * c * step[2] - 0.25;
  } else {
    for (int e = 0; e < 3; e++) u[e] = check_uniform(&grid->seed, -0.25, 0.25);
  }
}

/* Returns the particle at the other end of spring `way` (0, 1 or 2) of particle i, or i if there is no such spring. */
static inline size_t network_other(network_grid *grid, size_t i, int way) {
  const size_t *side = grid->side;
  const size_t at[3] = {i % side[0], i / side[0] % side[1], i / (side[0] * side[1])};
  if (grid->kind == NETWORK_RANDOM) return network_whole(&grid->seed, grid->n);
  if (grid->kind == NETWORK_MESH) {
    const size_t a = (at[0] + (way != 1)) % side[0], b = (at[1] + (way != 0)) % side[1];
    return b * side[0] + a;
  }
  const size_t stride[3] = {1, side[0], side[0] * side[1]};
  return at[way] + 1 < side[way] ? i + stride[way] : i;
}

static inline void network_swap(size_t *a, size_t *b) {
  const size_t c = *a;
  *a = *b;
  *b = c;
}

static inline network network_open(const char *space, network_kind kind, double size) {
  network w = {0};
  network_grid grid = network_grid_of(kind, size);
  uint64_t seed = 7;
  check_ok(cb_space_create(space, NULL, &w.g));
  check_ok(cb_builder_create(w.g, &w.builder));
  int body;
  check_ok(cb_builder_body(w.builder, "network", &body));

  size_t *number = malloc(grid.n * sizeof *number), *site = malloc(grid.n * sizeof *site);
  for (size_t i = 0; i < grid.n; i++) site[i] = i;
  for (size_t i = grid.n - 1; i > 0; i--) network_swap(&site[i], &site[network_whole(&seed, i + 1)]);
  for (size_t i = 0; i < grid.n; i++) number[site[i]] = i;
  for (size_t i = 0; i < grid.n; i++) {
    double x[4], v[4] = {0};
    network_place(&grid, site[i], x);
    x[3] = sqrt(1 - w.g->factor[0].curvature * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
    for (int e = 0; e < 3; e++)
      v[e] = check_uniform(&seed, -0.2, 0.2) / (double)grid.side[0]; /* proportional to the lengths of springs */
    cb_space_project_tangent(w.g, x, v);
    check_ok(cb_builder_particle(w.builder, NULL, 1, 0, 0, x, v, NULL));
  }
  for (size_t i = 0; i < grid.n; i++)
    for (int way = 0; way < 3; way++) {
      const size_t other = network_other(&grid, i, way);
      if (other != i) check_ok(cb_builder_spring(w.builder, (int)number[i], (int)number[other], 1, -1, 0));
    }
  free(number);
  free(site);
  check_ok(cb_builder_finish(w.builder, &w.system));
  check_ok(cb_state_create(w.system, &w.start));
  check_ok(cb_system_start(w.system, w.start));
  w.n = grid.n;
  w.m = (size_t)cb_system_bonds(w.system);
  return w;
}

static inline void network_close(network *w) {
  cb_state_free(w->start);
  cb_system_free(w->system);
  cb_builder_free(w->builder);
  cb_space_free(w->g);
}
