/* Gaits over a grid, each from its neighbours'. */
#include "optimum/family_grid.h"

#include "bundle/poles.h"
#include "optimum/direct.h"

#include <math.h>
#include <stdlib.h>

enum { SIZE = 12, SEARCH = 60, SWEEPS = 6, ANCHORS = 4 };

typedef struct grid {
  const cb_optimum_problem *problem;
  const cb_family_axis *axis;
  const cb_family_grid_watch *watch; /* or NULL */
  cb_family_node *node;
  int searches, known, changes; /* so far; of those that are known; nodes that became cheaper */
  int count, room;
  cb_family_search *search; /* those that changed a node */
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
  if (status) return status;
  status = cb_gait_regular(g->problem->bundle, gait);
  if (!status) status = cb_direct_bend(d);
  if (status) {
    cb_gait_free(gait);
    return status;
  }
  cb_gait_free(node->gait);
  node->gait = gait, node->cost = cost;
  g->changes++;
  cb_direct_signs(d, &node->index, &flat);
  const bool order = g->axis[0].number < g->axis[1].number; /* of the conditions */
  for (int i = 0; i < 2; i++) node->multiplier[i] = -d->nu[order ? i : 1 - i] / d->mu;
  return CB_OK;
}

/* --- searches, which are done or known --- */

static cb_status note(grid *g, int k) {
  if (g->count == g->room) {
    g->room = 2 * g->room + 64;
    cb_family_search *wide = realloc(g->search, (size_t)g->room * sizeof *wide);
    if (!wide) return cb_fail(CB_ERROR_MEMORY, "no memory for %d searches", g->room);
    g->search = wide;
  }
  g->search[g->count++] = (cb_family_search){g->searches, k, g->node[k].cost};
  return CB_OK;
}

/* True where the search that follows is known: then the node is what it was after it. */
static bool recall(grid *g, int k) {
  const cb_family_grid_watch *w = g->watch;
  if (g->searches >= g->known) return false;
  const cb_family_search *s = g->count < w->count ? &w->search[g->count] : NULL;
  if (!s || s->number != g->searches) return true;
  if (s->node != k || !(g->node[k].gait || w->node[k].gait)) return g->known = 0, false; /* another grid's */
  if (!g->node[k].gait) g->node[k] = w->node[k], w->node[k].gait = NULL;
  g->node[k].cost = s->cost;
  g->changes++;
  return true;
}

/* From a gait, NULL: from all starts. A failure of the search leaves the node as it is. */
static cb_status search_from(grid *g, int k, const cb_gait *start) {
  cb_optimum_problem p;
  cb_optima *all = NULL;
  cb_direct *d = NULL;
  ask(g, k, &p);
  cb_status status = start ? CB_OK : cb_optimum_find(&p, &all);
  if (!status) status = cb_gait_uncrossed(p.bundle, start ? start : all->item[0].gait);
  if (!status) status = cb_direct_create(&p, SIZE, &d);
  if (!status) status = cb_direct_from(d, start ? start : all->item[0].gait);
  if (!status) status = cb_direct_solve(d, SEARCH);
  if (!status) status = keep(g, d, &g->node[k]);
  cb_direct_free(d);
  cb_optima_free(all);
  return status > 0 ? CB_OK : status;
}

static cb_status try_from(grid *g, int k, const cb_gait *start) {
  const int before = g->changes;
  const bool known = recall(g, k);
  cb_status status = known ? CB_OK : search_from(g, k, start);
  if (!status && g->changes > before) status = note(g, k);
  g->searches++;
  if (status || known || !g->watch) return status;
  const cb_family_log log = {g->searches, g->count, g->search, g->node};
  return g->watch->tell(g->watch->context, &log);
}

/* The neighbour of k on one of four sides; -1 beyond the edge. */
static int beside(const grid *g, int k, int side) {
  const int columns = g->axis[1].count, row = k / columns, column = k % columns;
  const int r = row + (side == 0 ? -1 : side == 1 ? 1 : 0), c = column + (side == 2 ? -1 : side == 3 ? 1 : 0);
  return r < 0 || c < 0 || r >= g->axis[0].count || c >= columns ? -1 : r * columns + c;
}

/* Outwards from nodes at which all starts are tried: each from the gait by which it is first reached. */
static cb_status outwards(grid *g) {
  const int all = g->axis[0].count * g->axis[1].count, columns = g->axis[1].count;
  const int last[2] = {g->axis[0].count - 1, g->axis[1].count - 1};
  const int many[2] = {last[0] < ANCHORS ? last[0] : ANCHORS, last[1] < ANCHORS ? last[1] : ANCHORS};
  int *queue = malloc((size_t)all * sizeof *queue), head = 0, tail = 0;
  cb_status status = queue ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a grid of %d gaits", all);
  for (int i = 0; i <= many[0] && !status; i++)
    for (int j = 0; j <= many[1] && !status; j++) {
      const int k = i * last[0] / many[0] * columns + j * last[1] / many[1];
      if (stays(g, k)) continue;
      status = try_from(g, k, NULL);
      if (g->node[k].gait) queue[tail++] = k;
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
  if (status || tail) return status;
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "no gait was found that does any of it: more `starts` or a `gait` near it may do");
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

cb_status cb_family_grid(const cb_optimum_problem *problem, const cb_family_axis *axis,
                         const cb_family_grid_watch *watch, cb_family_node *node) {
  grid g = {.problem = problem, .axis = axis, .watch = watch, .node = node, .known = watch ? watch->searches : 0};
  for (int k = 0; k < axis[0].count * axis[1].count; k++) {
    const double cost = stays(&g, k) ? 0 : NAN;
    node[k] = (cb_family_node){.cost = cost, .multiplier = {NAN, NAN}, .index = cost == 0 ? 0 : -1};
  }
  cb_status status = outwards(&g);
  for (int k = 0; k < SWEEPS && !status; k++) {
    g.changes = 0;
    status = sweep(&g, k % 2);
    if (k % 2 && !g.changes) break;
  }
  free(g.search);
  return status;
}
