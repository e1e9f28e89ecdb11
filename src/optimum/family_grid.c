/* Gaits over a grid, each from its neighbours'. */
#include "optimum/family_grid.h"

#include "core/failure.h"
#include "optimum/direct.h"

#include <math.h>
#include <stdlib.h>

enum { SIZE = 12, SEARCH = 60, SWEEPS = 6 };

typedef struct grid {
  const cb_optimum_problem *problem;
  const cb_family_axis *axis;
  cb_family_node *node;
  int changes; /* nodes that became cheaper */
} grid;

static void ask(const grid *g, int k, cb_optimum_problem *p) {
  const cb_family_axis *a = g->axis;
  *p = *g->problem;
  p->seek = CB_SEEK_COST;
  p->target = (cb_gait_target){.kind = CB_GAIT_PARTS};
  const int at[2] = {k / a[1].count, k % a[1].count};
  for (int i = 0; i < 2; i++) {
    p->target.asked[a[i].number] = true;
    p->target.element[a[i].number] = a[i].value[at[i]];
  }
}

static bool stays(const grid *g, int k) {
  cb_optimum_problem p;
  double one[CB_GROUP_SIZE];
  ask(g, k, &p);
  p.bundle->group->identity(p.bundle->group, one);
  for (int i = 0; i < 2; i++)
    if (p.target.element[g->axis[i].number] != one[g->axis[i].number]) return false;
  return true;
}

/* What a solution is, where it is cheaper than what the node has. */
static cb_status keep(grid *g, cb_direct *d, cb_family_node *node) {
  cb_gait *gait;
  const double cost = d->v->cost;
  int flat;
  if (node->gait && !(cost < node->cost * (1 - 1e-9))) return CB_OK;
  cb_status status = cb_basis_gait(d->basis, d->v->n, d->c, &gait);
  if (!status) status = cb_direct_bend(d);
  if (status) return status;
  cb_gait_free(node->gait);
  node->gait = gait, node->cost = cost;
  g->changes++;
  cb_direct_signs(d, &node->index, &flat);
  const bool order = g->axis[0].number < g->axis[1].number; /* of the conditions */
  for (int i = 0; i < 2; i++) node->multiplier[i] = -d->nu[order ? i : 1 - i] / d->mu;
  return CB_OK;
}

/* From a gait; a failure of the search leaves the node as it is. */
static cb_status try_from(grid *g, int k, const cb_gait *start) {
  cb_optimum_problem p;
  cb_direct *d = NULL;
  ask(g, k, &p);
  cb_status status = cb_direct_create(&p, SIZE, &d);
  if (!status) status = cb_direct_from(d, start);
  if (!status) status = cb_direct_solve(d, SEARCH);
  if (!status) status = keep(g, d, &g->node[k]);
  cb_direct_free(d);
  return status > 0 ? CB_OK : status;
}

/* The neighbour of k on one of four sides; -1 beyond the edge. */
static int beside(const grid *g, int k, int side) {
  const int columns = g->axis[1].count, row = k / columns, column = k % columns;
  const int r = row + (side == 0 ? -1 : side == 1 ? 1 : 0), c = column + (side == 2 ? -1 : side == 3 ? 1 : 0);
  return r < 0 || c < 0 || r >= g->axis[0].count || c >= columns ? -1 : r * columns + c;
}

/* Outwards from the starts: each from the gait by which it is first reached. */
static cb_status outwards(grid *g, int starts, const int *at, const cb_gait *const *start) {
  const int all = g->axis[0].count * g->axis[1].count;
  int *queue = malloc(((size_t)all + (size_t)starts) * sizeof *queue), head = 0, tail = 0;
  cb_status status = queue ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a grid of %d gaits", all);
  for (int k = 0; k < starts && !status; k++) {
    const bool before = g->node[at[k]].gait != NULL;
    status = try_from(g, at[k], start[k]);
    if (!before && g->node[at[k]].gait) queue[tail++] = at[k];
  }
  while (!status && head < tail) {
    const int k = queue[head++];
    for (int side = 0; side < 4 && !status; side++) {
      const int next = beside(g, k, side);
      if (next < 0 || g->node[next].gait || stays(g, next)) continue;
      status = try_from(g, next, g->node[k].gait);
      if (g->node[next].gait) queue[tail++] = next;
    }
  }
  free(queue);
  return status;
}

/* From a neighbour; where that is much cheaper, from its other starts of the cycle as well: a gait that turns moves by
 * other amounts as seen from other shapes. */
static cb_status try_beside(grid *g, int k, int next) {
  enum { SHIFTS = 8 };
  static const double much = 1.2;
  const cb_family_node *from = &g->node[next], *node = &g->node[k];
  cb_status status = try_from(g, k, from->gait);
  for (int i = 1; i < SHIFTS && !status && !(node->cost <= much * from->cost); i++) {
    cb_gait *shifted;
    status = cb_gait_shifted(from->gait, (double)i / SHIFTS, &shifted);
    if (status) break;
    status = try_from(g, k, shifted);
    cb_gait_free(shifted);
  }
  return status;
}

static cb_status sweep(grid *g, bool back) {
  const int all = g->axis[0].count * g->axis[1].count;
  cb_status status = CB_OK;
  for (int i = 0; i < all && !status; i++) {
    const int k = back ? all - 1 - i : i;
    for (int side = back; side < 4 && !status && !stays(g, k); side += 2) { /* those that the sweep comes from */
      const int next = beside(g, k, side);
      if (next >= 0 && g->node[next].gait) status = try_beside(g, k, next);
    }
  }
  return status;
}

cb_status cb_family_grid(const cb_optimum_problem *problem, const cb_family_axis *axis, int starts, const int *at,
                         const cb_gait *const *start, cb_family_node *node) {
  grid g = {.problem = problem, .axis = axis, .node = node};
  for (int k = 0; k < axis[0].count * axis[1].count; k++) {
    const double cost = stays(&g, k) ? 0 : NAN;
    node[k] = (cb_family_node){.cost = cost, .multiplier = {NAN, NAN}, .index = cost == 0 ? 0 : -1};
  }
  cb_status status = outwards(&g, starts, at, start);
  for (int k = 0; k < SWEEPS && !status; k++) {
    g.changes = 0;
    status = sweep(&g, k % 2);
    if (k % 2 && !g.changes) break;
  }
  return status;
}
