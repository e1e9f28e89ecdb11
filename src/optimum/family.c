/* Follows families of gaits (family.h): branches from starts and from bifurcations, with their members and events; and
 * finds gaits over a grid, each from the gaits of its neighbours. */
#include "optimum/family_private.h"

#include "bundle/bundle_private.h"
#include "optimum/direct.h"
#include "optimum/family.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEARCH = 60 };

static void drop_members(cb_family *f) {
  for (int k = 0; k < f->members; k++) {
    cb_gait_free(f->member[k].gait);
    free(f->member[k].state);
  }
  f->members = 0;
}

void cb_family_free(cb_family *f) {
  if (!f) return;
  drop_members(f);
  free(f->member);
  free(f->event);
  free(f);
}

/* --- starts --- */

/* Finds the point *out that has the first amount of the range, starting from a gait nearby. Creates the system of the
 * walk if there is none. */
static cb_status start_from(family_work *k, const cb_optimum_problem *o, const cb_gait *gait, family_point **out) {
  cb_optimum_problem at = *o;
  cb_direct *d = NULL;
  const cb_group *G = o->bundle->group;
  at.objective = CB_OBJECTIVE_COST;
  at.lower = at.upper = NULL;
  at.no_crossing = false; /* constraints are ignored here; end_at_constraints applies them to the branch */
  cb_gait_target_set(G, &at.target, k->range->from);
  cb_status status = cb_gait_uncrossed(o->bundle, gait);
  if (!status) status = cb_direct_create(&at, FAMILY_FIRST, &d);
  if (!status) status = cb_direct_from(d, gait);
  if (!status) status = cb_direct_solve(d, SEARCH);
  if (status) {
    cb_direct_free(d);
    return status;
  }
  const int count = cb_gait_target_count(G, &at.target);
  double scale = 0;
  for (int i = 0; i < count; i++) scale = hypot(scale, d->nu[i]);
  if (!k->walk.y)
    status = family_system_create(o, FAMILY_FIRST, scale, &k->walk.y);
  else
    status = family_harmonics(&k->walk, FAMILY_FIRST);
  if (!status) status = family_point_create(k->walk.y, out);
  if (!status) {
    family_system *y = k->walk.y;
    double *z = (*out)->z, size = 1;
    int iterations;
    memcpy(z, d->c, (size_t)y->u * sizeof *z);
    for (int i = 0; i < count; i++) {
      z[y->u + i] = d->nu[i] / y->scale;
      size = hypot(size, z[y->u + i]);
    }
    for (int i = 0; i < count; i++) z[y->u + i] /= size;
    z[y->mu] = 1 / size;
    status = family_correct(y, FAMILY_AMOUNT, NULL, k->range->from, *out, &iterations);
    if (!status) status = family_resolve(&k->walk, out, FAMILY_AMOUNT, &k->range->from);
    if (!status) status = family_look(k->walk.y, NULL, *out);
    for (int i = 0; !status && k->range->to < k->range->from && i < (*out)->size; i++) (*out)->tangent[i] *= -1;
    if (status) {
      family_point_free(*out);
      *out = NULL;
    }
  }
  cb_direct_free(d);
  return status;
}

static bool known(family_work *k, const family_point *p) {
  for (int b = 0; b < k->branches; b++)
    if (family_passes(&k->walk, &k->branch[b], p)) return true;
  return false;
}

/* --- events --- */

static cb_status note(void *context, const cb_family_event *event, const family_point *p) {
  family_work *k = context;
  cb_family *f = k->f;
  const cb_status status = family_widen((void **)&f->event, f->events, &k->event_capacity, sizeof *f->event);
  if (status) return status;
  f->event[f->events] = *event;
  f->event[f->events].branch = k->now;
  if (event->kind == CB_FAMILY_CHEAPER) f->event[f->events].other = k->other;
  f->events++;
  if (event->kind != CB_FAMILY_TURNING || !isinf(k->range->to) || k->turning) return CB_OK;
  return family_point_copy(k->walk.y, p, &k->turning);
}

/* --- reports before the family is complete --- */

/* Adds a point to the family as a member, together with the state from which its branch can be continued. A start has
 * the branch -1. */
static cb_status note_state(family_work *k, int branch, const family_point *p, double h, bool whole) {
  if (!k->watch) return CB_OK;
  cb_status status = family_put_knot(k, branch, p);
  if (status) return status;
  cb_family_member *m = &k->f->member[k->f->members - 1];
  k->f->branches = k->branches;
  return family_state_make(k->walk.y, p, h, whole, &m->state, &m->states);
}

static cb_status report_family(family_work *k) { return k->watch ? k->watch->report(k->watch->context, k->f) : CB_OK; }

static cb_status pushed(void *context, const family_point *p, double h, bool whole) {
  family_work *k = context;
  const cb_status status = note_state(k, k->now, p, h, whole);
  return status ? status : report_family(k);
}

static bool same_point(const family_point *a, const family_point *b) {
  double off = 0, size = 0;
  for (int i = 0; a->size == b->size && i < a->size; i++) {
    off = hypot(off, a->z[i] - b->z[i]);
    size = hypot(size, a->z[i]);
  }
  return a->size == b->size && off <= 1e-9 * size;
}

/* Adds the known knots (cb_family_watch) of the current branch, unless the first known knot differs from the first knot
 * of the branch. *h becomes the next step. */
static cb_status restore(family_work *k, family_branch *b, double *h) {
  const cb_family_watch *w = k->watch;
  cb_status status = CB_OK;
  bool begun = false;
  *h = 0;
  for (int i = 0; w && i < w->known && !status; i++) {
    family_point *p;
    double step;
    bool whole;
    if (w->branch[i] != k->now) continue;
    status = family_state_read(&k->walk, k->walk.y->o, w->states, w->state + (size_t)i * (size_t)w->states, &p, &step,
                               &whole);
    const bool goes_on = p && (begun ? p->s > b->knot[b->knots - 1]->s : same_point(b->knot[0], p));
    if (status || !goes_on) {
      family_point_free(p);
      return status;
    }
    *h = step;
    b->whole = whole;
    if (begun) status = family_branch_push(b, p);
    if (begun && !status) status = note_state(k, k->now, p, step, whole);
    if (!begun) family_point_free(p);
    begun = true;
  }
  return status;
}

/* --- constraints --- */

static bool at_constraint(const cb_optimum_problem *o, const cb_family_event *event) {
  return event->kind == CB_FAMILY_BOUND || (event->kind == CB_FAMILY_CROSSING && o->no_crossing);
}

/* The constraint that a branch reaches first (or several constraints, if it reaches them at the same point), and the
 * point at which it reaches them. */
typedef struct first_constraints {
  const cb_optimum_problem *o;
  int count;
  cb_family_event event[2 * CB_SHAPE_MAX + 1];
  family_point *point; /* the point at which the branch reaches them; owned */
  const family_walk *walk;
} first_constraints;

static cb_status note_constraint(void *context, const cb_family_event *event, const family_point *p) {
  static const double together = 1e-7;
  first_constraints *f = context;
  const int capacity = sizeof f->event / sizeof *f->event;
  if (!at_constraint(f->o, event)) return CB_OK;
  if (f->point && p->s > f->point->s * (1 + together)) return CB_OK;
  if (f->point && p->s < f->point->s * (1 - together)) {
    f->count = 0;
    family_point_free(f->point);
    f->point = NULL;
  }
  if (f->count < capacity) f->event[f->count++] = *event;
  return f->point ? CB_OK : family_point_copy(f->walk->y, p, &f->point);
}

/* Ends a branch where it reaches a constraint. If the start of the branch violates a constraint, the branch keeps only
 * its start. */
static cb_status end_at_constraints(family_work *k, family_branch *b) {
  const cb_optimum_problem *o = k->walk.y->o;
  first_constraints f = {.o = o, .walk = &k->walk};
  bool outside;
  if (!o->lower && !o->no_crossing) return CB_OK;
  cb_status status = family_outside(&k->walk, b->knot[0], &outside);
  if (!status && !outside) status = family_events(&k->walk, b, note_constraint, &f);
  if (status) {
    family_point_free(f.point);
    return status;
  }
  if (!outside && !f.point) return CB_OK;
  k->held[k->now] = true;
  while (b->knots > 1 && (outside || b->knot[b->knots - 1]->s >= f.point->s)) family_point_free(b->knot[--b->knots]);
  for (int i = 0; i < f.count && !status; i++) status = note(k, &f.event[i], f.point);
  if (f.point && !status) status = family_harmonics(&k->walk, f.point->harmonics);
  if (f.point && !status) status = family_look(k->walk.y, f.point->tangent, f.point);
  if (status) {
    family_point_free(f.point);
    return status;
  }
  return f.point ? family_branch_push(b, f.point) : CB_OK;
}

/* --- branches from bifurcations --- */

typedef struct leaving {
  family_work *k;
  int count;
  family_point *from[FAMILY_BRANCHES];
} leaving;

static cb_status note_and_leave(void *context, const cb_family_event *event, const family_point *p) {
  leaving *l = context;
  /* end_at_constraints has reported this event */
  if (l->k->held[l->k->now] && at_constraint(l->k->walk.y->o, event)) return CB_OK;
  const cb_status status = note(l->k, event, p);
  const bool symmetric = l->k->branch[l->k->now].knot[0]->flat > 0; /* an eigenvalue 0 may be a shift of time */
  if (status || event->kind != CB_FAMILY_BIFURCATION || symmetric || l->count == FAMILY_BRANCHES) return status;
  const cb_status copied = family_point_copy(l->k->walk.y, p, &l->from[l->count]);
  if (!copied) l->count++;
  return copied;
}

static cb_status follow(family_work *k, family_point *first);

/* At a bifurcation p another branch crosses. Follows the other branch in both of its directions, but only in the first
 * one if the gaits of the second are their mirror images. To find this out, the start in the second direction is 1.3
 * times as far from p as that in the first: its mirror image is then a gait of the branch that was followed first. */
static cb_status leave(family_work *k, const family_point *p) {
  static const double far = .05;
  double *across = malloc((size_t)p->size * sizeof *across), size = 0;
  if (!across) return cb_fail(CB_ERROR_MEMORY, "no memory for a branch");
  cb_status status = family_harmonics(&k->walk, p->harmonics);
  if (!status) status = family_transverse(k->walk.y, p, across);
  for (int i = 0; i < p->size - 1; i++) size = hypot(size, p->z[i]);
  for (int side = 0; side < 2 && !status && k->branches < FAMILY_BRANCHES; side++) {
    family_point *q = NULL;
    int iterations;
    status = family_harmonics(&k->walk, p->harmonics);
    if (!status) status = family_point_copy(k->walk.y, p, &q);
    for (int i = 0; !status && i < p->size; i++) q->z[i] += (side ? -1.3 : 1) * far * size * across[i];
    if (!status) status = family_correct(k->walk.y, FAMILY_ALONG, across, 0, q, &iterations);
    for (int i = 0; side && !status && i < p->size; i++) across[i] = -across[i];
    if (!status) status = family_look(k->walk.y, across, q);
    if (!status && !known(k, q))
      status = follow(k, q);
    else
      family_point_free(q);
    if (status > 0) status = CB_OK; /* no branch leaves in this direction */
  }
  free(across);
  return status;
}

/* Follows a branch from a point that has a tangent; the branch then owns the point. Finds the events of the branch, and
 * follows the branches that leave it at bifurcations. */
static cb_status follow(family_work *k, family_point *first) {
  const int now = k->branches;
  family_branch *b = &k->branch[now];
  leaving l = {.k = k};
  k->branches++;
  k->now = now;
  double h = 0;
  cb_status status = family_branch_push(b, first);
  if (!status) status = note_state(k, now, first, 0, false);
  if (!status) status = restore(k, b, &h);
  if (!status) status = family_branch_trace(&k->walk, h, b);
  if (!status) status = end_at_constraints(k, b);
  if (!status) status = family_events(&k->walk, b, note_and_leave, &l);
  if (k->turning && !status) {
    k->turning->s = fmin(k->turning->s, b->knot[b->knots - 1]->s);
    family_point_free(b->knot[b->knots - 1]);
    b->knot[b->knots - 1] = k->turning;
    k->turning = NULL;
  }
  if (!status) status = family_cycles(&k->walk, b, note, k);
  for (int i = 0; i < l.count; i++) {
    if (!status) status = leave(k, l.from[i]);
    family_point_free(l.from[i]);
  }
  return status;
}

/* --- the complete family --- */

static cb_status check(const cb_optimum_problem *o, const cb_family_range *r) {
  if (cb_gait_target_amount(o->bundle->group, &o->target) < 0)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "the target has no amount along which a family can be followed: expected a distance, an angle, or "
                   "one nonzero number");
  if (!isfinite(r->from) || r->from == 0 || r->to == r->from || r->members < 2)
    return cb_fail(
        CB_ERROR_ARGUMENT,
        "family from %g to %g with %d members: expected two different amounts, the first not 0, and at least 2 members",
        r->from, r->to, r->members);
  return CB_OK;
}

/* Finds the points of the starts: the known points if there are any, and otherwise the points of the given gaits. */
static cb_status find_starts(family_work *k, const cb_optimum_problem *o, int starts, const cb_gait *const *start,
                             family_point **first, int *count) {
  const cb_family_watch *w = k->watch;
  cb_status status = CB_OK, why = CB_OK;
  double h;
  bool whole;
  *count = 0;
  for (int i = 0; w && i < w->known && *count < FAMILY_BRANCHES && !status; i++) {
    if (w->branch[i] >= 0) continue;
    status =
        family_state_read(&k->walk, o, w->states, w->state + (size_t)i * (size_t)w->states, &first[*count], &h, &whole);
    if (!status && first[*count]) ++*count;
  }
  const bool earlier = *count > 0;
  for (int i = 0; i < starts && !earlier && !status && *count < FAMILY_BRANCHES; i++) {
    status = start_from(k, o, start[i], &first[*count]);
    if (status > 0) {
      why = status;
      status = CB_OK;
    }
    if (first[*count]) ++*count;
  }
  for (int i = 0; i < *count && !status; i++) status = note_state(k, -1, first[i], 0, false);
  if (!status && !*count)
    return why ? why : cb_fail(CB_ERROR_ARGUMENT, "a family needs a gait to start from: give a `gait`");
  /* Known starts were reported before; new starts are reported here, all at once. */
  return status || earlier ? status : report_family(k);
}

static cb_status run(family_work *k, const cb_optimum_problem *o, int starts, const cb_gait *const *start) {
  family_point *first[FAMILY_BRANCHES] = {NULL};
  int count;
  cb_status status = find_starts(k, o, starts, start, first, &count);
  for (int i = 0; i < count; i++)
    if (!status && k->branches < FAMILY_BRANCHES && !known(k, first[i]))
      status = follow(k, first[i]);
    else
      family_point_free(first[i]);
  for (k->now = 0; k->now < k->branches && !status; k->now++)
    for (k->other = 0; k->other < k->branches && !status; k->other++)
      if (k->now < k->other) status = family_meet(&k->walk, &k->branch[k->now], &k->branch[k->other], note, k);
  drop_members(k->f);
  for (int b = 0; b < k->branches && !status; b++) status = family_members_of(k, b);
  k->f->branches = k->branches;
  family_mark(k->f);
  return status;
}

cb_status cb_family_follow(const cb_optimum_problem *problem, int starts, const cb_gait *const *start,
                           const cb_family_range *range, const cb_family_watch *watch, cb_family **out) {
  cb_status status = check(problem, range);
  if (status) return status;
  /* amounts that differ from range->from only by round-off are inside the range */
  const double edge = range->from * (1 - (range->to > range->from ? 1e-9 : -1e-9));
  family_work k = {.range = range, .watch = watch, .f = calloc(1, sizeof *k.f)};
  k.walk = (family_walk){.from = edge, .to = range->to, .pushed = watch ? pushed : NULL, .context = &k};
  if (!k.f) return cb_fail(CB_ERROR_MEMORY, "no memory for a family");
  status = run(&k, problem, starts, start);
  for (int b = 0; b < k.branches; b++) family_branch_free(&k.branch[b]);
  family_point_free(k.turning);
  family_system_free(k.walk.y);
  if (status) {
    cb_family_free(k.f);
    return status;
  }
  *out = k.f;
  return CB_OK;
}

/* --- gaits over a grid --- */

enum { SIZE = 12, GRID_SEARCH = 60, SWEEPS = 6, ANCHORS = 4 };

typedef struct grid {
  const cb_optimum_problem *problem;
  const cb_family_axis *axis;
  cb_family_grid_report report;
  void *context;
  cb_family_node *node;
  /* turn: the current turn (cb_family_node); known: the last turn whose result is already in the nodes, or -1 */
  int turn, known;
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

/* Stores a solution in the node if it costs less than the gait of the node, or if the node has no gait. Fails if the
 * solution passes a singular shape. */
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
  /* d->nu has the multipliers of axes 0 and 1 in this order if `order` is true, otherwise in the reverse order */
  const bool order = g->axis[0].number < g->axis[1].number;
  for (int i = 0; i < 2; i++) node->multiplier[i] = -d->nu[order ? i : 1 - i] / d->mu;
  return CB_OK;
}

/* --- searches at the nodes of the grid --- */

/* Searches for a gait at node k, from the gait `start` (NULL: from all starts). If the search fails, the node does not
 * change. */
static cb_status search_from(grid *g, int k, const cb_gait *start) {
  cb_optimum_problem p;
  cb_optima *all = NULL;
  cb_direct *d = NULL;
  ask(g, k, &p);
  cb_status status = start ? CB_OK : cb_optimum_find(&p, &all);
  if (!status) status = cb_gait_uncrossed(p.bundle, start ? start : all->item[0].gait);
  if (!status) status = cb_direct_create(&p, SIZE, &d);
  if (!status) status = cb_direct_from(d, start ? start : all->item[0].gait);
  if (!status) status = cb_direct_solve(d, GRID_SEARCH);
  if (!status) status = keep(g, d, &g->node[k]);
  cb_direct_free(d);
  cb_optima_free(all);
  return status > 0 ? CB_OK : status;
}

static cb_status report_node(grid *g, int k) {
  return g->report(g->context, k, g->node[k].gait && g->node[k].last == g->turn);
}

/* Takes one turn: searches at node k, unless the result of the turn is known. *found becomes true if the node got its
 * first gait in this turn. */
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

/* Returns whether node k had a gait before the turn number `turn`. */
static bool has(const grid *g, int k, int turn) { return g->node[k].gait && g->node[k].first < turn; }

/* Searches from all starts at some nodes, and then moves outwards from these nodes: at each other node it searches from
 * the gait of the neighbour that reaches this node first. */
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

/* Searches at node k from the gait of the node `next`. If node k then has no gait, or a gait that costs more than 1.2
 * times that of `next`, the search is repeated from the same cycle with other starting points. This may help because
 * the displacement of a gait with a net rotation depends on the starting point. */
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

/* Searches once at each node (a turn), from the gaits of neighbours. *changes becomes true if a node changed. */
static cb_status sweep(grid *g, bool back, bool *changes) {
  const int all = g->axis[0].count * g->axis[1].count;
  cb_status status = CB_OK;
  *changes = g->known >= g->turn;
  for (int i = 0; i < all && !status; i++, g->turn++) {
    const int k = back ? all - 1 - i : i;
    if (g->turn <= g->known || stays(g, k)) continue;
    for (int side = back; side < 4 && !status; side += 2) { /* the two neighbours that this sweep has already visited */
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
