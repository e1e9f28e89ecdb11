/* Gaits over a grid (family.h), each found from the gaits of its neighbours. */
#include "optimum/family.h"

#include "bundle/bundle_private.h"
#include "optimum/direct.h"

#include <math.h>
#include <stdlib.h>

enum { SIZE = 12, SEARCH = 60, SWEEPS = 6, ANCHORS = 4 };

typedef struct grid {
  const cb_optimum_problem *problem;
  const cb_family_axis *axis;
  cb_family_grid_report report;
  void *context;
  cb_family_node *node;
  int turn, known; /* turn: the current turn (cb_family_node); known: the last turn whose result the nodes already have,
                    * or -1 */
} grid;

static void ask(const grid *g, int k, cb_optimum_problem *p) {
  const cb_family_axis *a = g->axis;
  *p = *g->problem;
  p->objective = CB_OBJECTIVE_COST;
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

/* Stores a solution in the node if the node has no gait, or one that costs more. Fails if the solution passes a
 * singular shape. */
static cb_status keep(grid *g, cb_direct *d, cb_family_node *node) {
  cb_gait *gait;
  const double cost = d->v->cost;
  int flat;
  if (node->gait && !(cost < node->cost * (1 - 1e-9))) return CB_OK;
  cb_status status = cb_basis_gait(d->basis, d->v->n, d->c, &gait);
  if (status) return status;
  status = cb_gait_regular(g->problem->bundle, gait);
  if (!status) status = cb_direct_second_variation(d);
  if (status) {
    cb_gait_free(gait);
    return status;
  }
  if (!node->gait) node->first = g->turn;
  cb_gait_free(node->gait);
  node->gait = gait;
  node->cost = cost;
  node->last = g->turn;
  cb_direct_signs(d, &node->index, &flat);
  const bool order = g->axis[0].number < g->axis[1].number; /* the multipliers follow the order of the conditions */
  for (int i = 0; i < 2; i++) node->multiplier[i] = -d->nu[order ? i : 1 - i] / d->mu;
  return CB_OK;
}

/* --- searches --- */

/* Searches from a gait (NULL: from all starts). If the search fails, the node does not change. */
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

static cb_status report_node(grid *g, int k) {
  return g->report(g->context, k, g->node[k].gait && g->node[k].last == g->turn);
}

/* Does one turn: a search, unless its result is known. *found: the search gave the node its first gait. */
static cb_status try_from(grid *g, int turn, int k, const cb_gait *start, bool *found) {
  g->turn = turn;
  cb_status status = turn > g->known ? search_from(g, k, start) : CB_OK;
  if (!status && turn > g->known) status = report_node(g, k);
  *found = g->node[k].gait && g->node[k].first == turn;
  return status;
}

/* Returns the neighbour of node k on one of four sides, or -1 outside the grid. */
static int neighbour(const grid *g, int k, int side) {
  const int columns = g->axis[1].count, row = k / columns, column = k % columns;
  const int r = row + (side == 0 ? -1 : side == 1 ? 1 : 0), c = column + (side == 2 ? -1 : side == 3 ? 1 : 0);
  return r < 0 || c < 0 || r >= g->axis[0].count || c >= columns ? -1 : r * columns + c;
}

/* True if the node had a gait before this turn. */
static bool has(const grid *g, int k, int turn) { return g->node[k].gait && g->node[k].first < turn; }

/* Tries all starts at some nodes, then moves outwards. Each other node is searched from the neighbour that reaches it
 * first. */
static cb_status outwards(grid *g) {
  enum { FIRST = (ANCHORS + 1) * (ANCHORS + 1) }; /* the first turn that searches from neighbours */
  const int all = g->axis[0].count * g->axis[1].count, columns = g->axis[1].count;
  const int last[2] = {g->axis[0].count - 1, g->axis[1].count - 1};
  const int anchors[2] = {last[0] < ANCHORS ? last[0] : ANCHORS, last[1] < ANCHORS ? last[1] : ANCHORS};
  int *queue = malloc((size_t)all * sizeof *queue), head = 0, tail = 0;
  cb_status status = queue ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a grid of %d gaits", all);
  bool found;
  for (int i = 0; i <= anchors[0] && !status; i++)
    for (int j = 0; j <= anchors[1] && !status; j++) {
      const int k = i * last[0] / anchors[0] * columns + j * last[1] / anchors[1];
      if (stays(g, k)) continue;
      status = try_from(g, i * (ANCHORS + 1) + j, k, NULL, &found);
      if (found) queue[tail++] = k;
    }
  for (; !status && head < tail; head++)
    for (int side = 0; side < 4 && !status; side++) {
      const int next = neighbour(g, queue[head], side), turn = FIRST + 4 * head + side;
      if (next < 0 || has(g, next, turn) || stays(g, next)) continue;
      status = try_from(g, turn, next, g->node[queue[head]].gait, &found);
      if (found) queue[tail++] = next;
    }
  free(queue);
  g->turn = FIRST + 4 * all;
  if (status || tail) return status;
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "no gait was found that reaches any value of the grid: try more `starts`, or a `gait` near it");
}

/* Searches at node k from the gait of the node `next`. While node k has no gait, or one that costs more than 1.2 times
 * that gait, the search is repeated from the same cycle with other starting points. The displacement of a gait with a
 * net rotation depends on the starting point. */
static cb_status try_beside(grid *g, int k, int next) {
  enum { SHIFTS = 8 };
  static const double much = 1.2;
  const cb_family_node *from = &g->node[next], *node = &g->node[k];
  cb_status status = search_from(g, k, from->gait);
  for (int i = 1; i < SHIFTS && !status && !(node->cost <= much * from->cost); i++) {
    cb_gait *shifted;
    status = cb_gait_shifted(from->gait, (double)i / SHIFTS, &shifted);
    if (status) break;
    status = search_from(g, k, shifted);
    cb_gait_free(shifted);
  }
  return status;
}

/* Gives each node a turn. *changes: some node changed. */
static cb_status sweep(grid *g, bool back, bool *changes) {
  const int all = g->axis[0].count * g->axis[1].count;
  cb_status status = CB_OK;
  *changes = g->known >= g->turn;
  for (int i = 0; i < all && !status; i++, g->turn++) {
    const int k = back ? all - 1 - i : i;
    if (g->turn <= g->known || stays(g, k)) continue;
    for (int side = back; side < 4 && !status; side += 2) { /* the neighbours from which the sweep comes */
      const int next = neighbour(g, k, side);
      if (next >= 0 && g->node[next].gait) status = try_beside(g, k, next);
    }
    if (!status) status = report_node(g, k);
    *changes = *changes || (g->node[k].gait && g->node[k].last == g->turn);
  }
  return status;
}

cb_status cb_family_grid(const cb_optimum_problem *problem, const cb_family_axis *axis, cb_family_grid_report report,
                         void *context, cb_family_node *node) {
  grid g = {problem, axis, report, context, node, 0, -1};
  for (int k = 0; k < axis[0].count * axis[1].count; k++) {
    const double cost = stays(&g, k) ? 0 : NAN;
    if (!node[k].gait)
      node[k] = (cb_family_node){.cost = cost, .multiplier = {NAN, NAN}, .index = cost == 0 ? 0 : -1};
    else if (node[k].last > g.known)
      g.known = node[k].last;
  }
  cb_status status = outwards(&g);
  bool changes = true;
  for (int k = 0; k < SWEEPS && !status && (k % 2 || changes); k++) status = sweep(&g, k % 2, &changes);
  return status;
}
