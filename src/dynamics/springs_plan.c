/* This file creates the plan of springs: it assigns springs to blocks, and finds the offsets of their ends in the
 * block's copy. It also numbers the vertices of a graph by growing compact regions, so that blocks of consecutive
 * numbers have few springs between them, and finds the connected components of a graph (springs.h). */
#include "dynamics/springs.h"

#include "core/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- numbering the vertices of a graph --- */

typedef struct graph {
  int n;
  size_t *start; /* [n + 1]: where the neighbours of each vertex begin */
  int *neighbour;
} graph;

static void link_edges(graph *g, size_t m, const int *i, const int *j) {
  for (size_t e = 0; e < m; e++) {
    g->start[i[e] + 1]++;
    g->start[j[e] + 1]++;
  }
  for (int v = 0; v < g->n; v++) g->start[v + 1] += g->start[v];
  for (size_t e = 0; e < m; e++) {
    g->neighbour[g->start[i[e]]++] = j[e];
    g->neighbour[g->start[j[e]]++] = i[e];
  }
  for (int v = g->n; v > 0; v--) g->start[v] = g->start[v - 1];
  g->start[0] = 0;
}

/* Breadth-first search from `root` over vertices whose mark is `from`. The function sets the mark of the vertices that
 * it finds to `to`, writes them to `queue` in the order in which they are found, and returns their number. */
static int search(const graph *g, int root, int *mark, int from, int to, int *queue) {
  int head = 0, tail = 0;
  queue[tail++] = root;
  mark[root] = to;
  while (head < tail) {
    int v = queue[head++];
    for (size_t e = g->start[v]; e < g->start[v + 1]; e++) {
      int u = g->neighbour[e];
      if (mark[u] != from) continue;
      mark[u] = to;
      queue[tail++] = u;
    }
  }
  return tail;
}

enum { UNSEEN = -1, REACHED = -2, WAITING = -3, DONE = -4 }; /* a mark >= 0 is the number of the vertex's region */

/* Numbers the vertices of a component, which have the mark REACHED, starting at `root`. `count` vertices of other
 * components have numbers already. Returns how many vertices then have numbers. frontier is a first-in first-out list
 * of the vertices that full regions have found. */
static int grow(const graph *g, int root, int *mark, int *order, int count, int *region, int *frontier) {
  int first = 0, last = 0, head = 0, tail = 0;
  frontier[last++] = root;
  for (;;) {
    if (head == tail) { /* The region has no more neighbours: continue from the oldest waiting vertex. */
      while (first < last && mark[frontier[first]] == DONE) first++;
      if (first == last) return count;
      head = tail = 0;
      region[tail++] = frontier[first++];
      mark[region[0]] = count / CB_REORDER_REGION;
    }
    int v = region[head++], number = count / CB_REORDER_REGION;
    order[count++] = v;
    mark[v] = DONE;
    for (size_t e = g->start[v]; e < g->start[v + 1]; e++) {
      int u = g->neighbour[e];
      if (mark[u] != REACHED && mark[u] != WAITING) continue;
      mark[u] = number;
      region[tail++] = u;
    }
    if (count % CB_REORDER_REGION) continue;
    /* The region is full. The vertices that it has found but not numbered wait in `frontier` for a later region. A
     * vertex may be in `frontier` more than once. */
    for (; head < tail; head++) {
      mark[region[head]] = WAITING;
      frontier[last++] = region[head];
    }
  }
}

cb_status cb_reorder(int n, size_t m, const int *i, const int *j, int *order) {
  for (size_t e = 0; e < m; e++)
    if (i[e] < 0 || i[e] >= n || j[e] < 0 || j[e] >= n)
      return cb_fail(CB_ERROR_ARGUMENT, "edge %zu joins %d and %d: expected vertices from 0 to below %d", e, i[e], j[e],
                     n);
  size_t size = (size_t)n;
  graph g = {.n = n, .start = calloc(size + 1, sizeof *g.start), .neighbour = malloc((2 * m + 1) * sizeof(int))};
  /* A vertex enters the waiting list at most once per neighbour. */
  int *mark = malloc((size + 1) * sizeof *mark), *queue = malloc((size + 1) * sizeof *queue),
      *frontier = malloc((size + 2 * m + 1) * sizeof *frontier);
  cb_status status = CB_OK;
  if (!g.start || !g.neighbour || !mark || !queue || !frontier) {
    status = cb_fail(CB_ERROR_MEMORY, "no memory to number %d vertices", n);
  } else {
    link_edges(&g, m, i, j);
    for (int v = 0; v < n; v++) mark[v] = UNSEEN;
    int count = 0;
    for (int v = 0; v < n; v++) {
      if (mark[v] != UNSEEN) continue;
      /* The numbering starts at an end of the component. To find an end, a first search finds a vertex far from v, and
       * a second search from that vertex finds the vertex farthest from it. */
      int found = search(&g, v, mark, UNSEEN, WAITING, queue);
      search(&g, queue[found - 1], mark, WAITING, REACHED, queue);
      count = grow(&g, queue[found - 1], mark, order, count, queue, frontier);
    }
  }
  free(g.start);
  free(g.neighbour);
  free(mark);
  free(queue);
  free(frontier);
  return status;
}

/* Connected components by union-find. The root of a tree is its smallest element. */

void cb_components_start(int n, int *parent) {
  for (int i = 0; i < n; i++) parent[i] = i;
}

static int root(int *parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

void cb_components_join(int *parent, int i, int j) {
  i = root(parent, i);
  j = root(parent, j);
  if (i < j)
    parent[j] = i;
  else
    parent[i] = j;
}

int cb_components_number(int n, int *parent, int *component) {
  int count = 0;
  for (int i = 0; i < n; i++) parent[i] = root(parent, i);
  /* A root comes before the other elements of its tree, so its number is known when they need it. */
  for (int i = 0; i < n; i++) {
    if (parent[i] == i)
      component[i] = count++;
    else
      component[i] = component[parent[i]];
  }
  return count;
}

/* --- the plan --- */

enum { BLOCK = CB_REORDER_REGION };

static const cb_springs_kernels *kernels_of(cb_springs_shape shape) {
#if defined(__x86_64__)
  if (cb_isa_get() == CB_ISA_AVX512) return &cb_springs_kernels_avx512[shape];
  if (cb_isa_get() == CB_ISA_AVX2) return &cb_springs_kernels_avx2[shape];
#endif
  return &cb_springs_kernels_x86_64[shape];
}

static cb_springs_space space_of(const cb_space *space) {
  cb_springs_space s = {.k = space->embedding};
  double curvature = space->factor[0].curvature;
  s.shape = space->n_factors > 1 ? CB_SPRINGS_PRODUCT
            : curvature > 0      ? CB_SPRINGS_SPHERE
            : curvature < 0      ? CB_SPRINGS_HYPERBOLOID
                                 : CB_SPRINGS_FLAT;
  for (int a = 0; a < CB_COORD_MAX; a++) s.form[a] = a < s.k ? space->form[a] : 1;
  for (int f = 0; f < space->n_factors; f++) {
    const cb_factor *factor = &space->factor[f];
    s.quarter[f] = factor->curvature / 4;
    for (int a = factor->offset; a < factor->offset + factor->count; a++) s.member[f][a] = 1;
  }
  return s;
}

static cb_status check(const cb_space *space, int n, size_t m, const cb_spring *spring) {
  if (space->chart)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "springs in a chart have no plan, because they need the distance of the chart: expected a space "
                   "without `chart`");
  if (n < 1) return cb_fail(CB_ERROR_ARGUMENT, "springs between %d particles: expected at least 1", n);
  if ((unsigned)n > UINT32_MAX / 4)
    return cb_fail(CB_ERROR_ARGUMENT, "springs between %d particles: expected at most 1073741823", n);
  if (m >= UINT32_MAX) return cb_fail(CB_ERROR_ARGUMENT, "%zu springs: expected at most 4294967294", m);
  for (size_t e = 0; e < m; e++) {
    const cb_spring *s = &spring[e];
    if (s->i < 0 || s->i >= n || s->j < 0 || s->j >= n || s->i == s->j)
      return cb_fail(CB_ERROR_ARGUMENT,
                     "spring %zu joins particles %d and %d: expected two different particles from 0 to below %d", e,
                     s->i, s->j, n);
    if (!isfinite(s->stiffness) || !isfinite(s->damping) || !(s->rest >= 0) || !isfinite(s->rest))
      return cb_fail(
          CB_ERROR_ARGUMENT,
          "spring %zu has stiffness %g, rest length %g, damping %g: expected finite numbers, and a rest length >= 0", e,
          s->stiffness, s->rest, s->damping);
  }
  return CB_OK;
}

static int low_end(const cb_spring *s) { return s->i < s->j ? s->i : s->j; }
static int high_end(const cb_spring *s) { return s->i < s->j ? s->j : s->i; }

/* Sorts the numbers of the springs, from[m], by one end of each spring, and writes them to to[m]. This is a stable
 * counting sort. count is scratch of n+1 numbers. */
static void sort_by(int (*end)(const cb_spring *), size_t n, size_t m, const cb_spring *spring, const uint32_t *from,
                    uint32_t *to, size_t *count) {
  memset(count, 0, (n + 1) * sizeof *count);
  for (size_t e = 0; e < m; e++) count[end(&spring[e]) + 1]++;
  for (size_t i = 0; i < n; i++) count[i + 1] += count[i];
  for (size_t e = 0; e < m; e++) to[count[end(&spring[from[e]])]++] = from[e];
}

/* The types of springs of a block: both ends lie in the block, the other end lies in a higher block, or in a lower
 * block. kind_of returns the type that a spring has for block `of`. */
enum { NEAR, UP, DOWN, KINDS };

static int kind_of(const cb_spring *s, int of) {
  if (low_end(s) / BLOCK == high_end(s) / BLOCK) return NEAR;
  return low_end(s) / BLOCK == of ? UP : DOWN;
}

typedef struct extent {
  size_t groups, near, far, slices;
} extent;

/* Counts the springs of each type in each block, and finds where the springs of each block begin. */
static extent lay_out(cb_springs *plan, const cb_spring *spring) {
  for (size_t e = 0; e < plan->m; e++) {
    int low = low_end(&spring[e]) / BLOCK, high = high_end(&spring[e]) / BLOCK;
    if (low == high) {
      plan->block[low].near++;
    } else {
      plan->block[low].up++;
      plan->block[high].down++;
    }
  }
  extent at = {0};
  for (int b = 0; b < plan->n_blocks; b++) {
    cb_springs_block *block = &plan->block[b];
    size_t near = cb_springs_groups(block->near), far = cb_springs_groups(block->up) + cb_springs_groups(block->down);
    block->first = b * BLOCK;
    block->count = plan->n - block->first < BLOCK ? plan->n - block->first : BLOCK;
    block->group = at.groups;
    block->near_group = at.near;
    block->far_group = at.far;
    block->slice = at.slices;
    at.groups += near + far;
    at.near += near;
    at.far += far;
    at.slices += (near + CB_SLICE - 1) / CB_SLICE;
  }
  return at;
}

static int allocate(cb_springs *plan, const cb_spring *spring) {
  extent all = lay_out(plan, spring);
  size_t lanes = CB_GROUP * all.groups, far = CB_GROUP * all.far;
  int same_stiffness = 1, same_rest = 1;
  for (size_t e = 1; e < plan->m; e++) {
    same_stiffness &= spring[e].stiffness == spring[0].stiffness;
    same_rest &= spring[e].rest == spring[0].rest;
  }
  plan->stiffness_step = same_stiffness ? 0 : CB_GROUP;
  plan->rest_step = same_rest ? 0 : CB_GROUP;
  plan->a = calloc(lanes + 1, sizeof *plan->a);
  plan->near = calloc(CB_GROUP * all.near + 1, sizeof *plan->near);
  plan->far = calloc(far + CB_GROUP * CB_AHEAD, sizeof *plan->far);
  plan->stiffness = calloc(same_stiffness ? CB_GROUP : lanes, sizeof *plan->stiffness);
  plan->rest = calloc(same_rest ? CB_GROUP : lanes, sizeof *plan->rest);
  if (plan->damped) plan->damping = calloc(lanes, sizeof *plan->damping);
  plan->number = malloc((lanes + 1) * sizeof *plan->number);
  plan->halo = malloc((far + 1) * sizeof *plan->halo);
  plan->reach = calloc(all.slices + 1, sizeof *plan->reach);
  if (!plan->a || !plan->near || !plan->far || !plan->stiffness || !plan->rest || (plan->damped && !plan->damping) ||
      !plan->number || !plan->halo || !plan->reach)
    return 0;
  memset(plan->number, 0xff, lanes * sizeof *plan->number);
  for (int l = 0; plan->m && l < CB_GROUP; l++) {
    if (same_stiffness) plan->stiffness[l] = spring->stiffness;
    if (same_rest) plan->rest[l] = spring->rest;
  }
  return 1;
}

/* Writes a spring, except for its far end, to an entry (lane) of a group. */
static void put(cb_springs *plan, size_t lane, const cb_spring *spring, uint32_t number, int a) {
  plan->a[lane] = (uint16_t)(4 * a);
  if (plan->stiffness_step) plan->stiffness[lane] = spring->stiffness;
  if (plan->rest_step) plan->rest[lane] = spring->rest;
  if (plan->damped) plan->damping[lane] = spring->damping;
  plan->number[lane] = number;
}

/* Writes the springs to the lanes of their blocks; the far ends are numbers of particles until finish() makes them
 * offsets. next[block][type] is the number of springs of this type that the block already has. */
static void fill(cb_springs *plan, const cb_spring *spring, const uint32_t *order, size_t (*next)[KINDS]) {
  for (size_t i = 0; i < plan->m; i++) {
    const cb_spring *s = &spring[order[i]];
    int end[2] = {low_end(s), high_end(s)};
    for (int side = 0; side < 2; side++) {
      int b = end[side] / BLOCK, kind = kind_of(s, b);
      const cb_springs_block *block = &plan->block[b];
      size_t at = next[b][kind]++, near = cb_springs_groups(block->near);
      if (kind == NEAR) {
        put(plan, CB_GROUP * block->group + at, s, order[i], end[0] - block->first);
        plan->near[CB_GROUP * block->near_group + at] = (uint16_t)(4 * (end[1] - block->first));
        int *reach = &plan->reach[block->slice + at / (CB_GROUP * CB_SLICE)];
        if (*reach <= end[1] - block->first) *reach = end[1] - block->first + 1;
        break;
      }
      if (kind == DOWN) at += CB_GROUP * cb_springs_groups(block->up);
      put(plan, CB_GROUP * (block->group + near) + at, s, order[i], end[side] - block->first);
      plan->far[CB_GROUP * block->far_group + at] = (uint32_t)end[1 - side];
    }
  }
}

/* Completes a block: sets the ends of the empty entries, the far ends as offsets, the halo, which begins at
 * plan->halo[halo], and the reach of each slice. Returns where the next halo begins. where[n] is scratch; all its
 * numbers must be 0, and they are 0 again afterwards. */
static size_t finish(cb_springs *plan, cb_springs_block *block, size_t halo, size_t *where) {
  size_t count = (size_t)block->count, near = cb_springs_groups(block->near);
  size_t lanes = CB_GROUP * (cb_springs_groups(block->up) + cb_springs_groups(block->down));
  uint32_t *far = plan->far + CB_GROUP * block->far_group;
  const uint32_t *number = plan->number + CB_GROUP * (block->group + near);
  block->halo = halo;
  for (size_t l = 0; l < lanes; l++) {
    size_t i = number[l] == UINT32_MAX ? (size_t)block->first : far[l];
    if (plan->space.k == 4) {
      far[l] = (uint32_t)(4 * i);
    } else if (number[l] == UINT32_MAX) {
      far[l] = 0;
    } else {
      if (!where[i]) {
        plan->halo[halo + block->halo_count] = (int)i;
        where[i] = count + ++block->halo_count;
      }
      far[l] = (uint32_t)(4 * (where[i] - 1));
    }
  }
  for (size_t h = 0; h < block->halo_count; h++) where[plan->halo[halo + h]] = 0;
  for (size_t s = 1; s < (near + CB_SLICE - 1) / CB_SLICE; s++)
    if (plan->reach[block->slice + s] < plan->reach[block->slice + s - 1])
      plan->reach[block->slice + s] = plan->reach[block->slice + s - 1];
  if (plan->local_max < count + block->halo_count) plan->local_max = count + block->halo_count;
  return halo + block->halo_count;
}

static int arrange(cb_springs *plan, const cb_spring *spring) {
  size_t n = (size_t)plan->n, m = plan->m, blocks = (size_t)plan->n_blocks, halo = 0;
  plan->block = calloc(blocks, sizeof *plan->block);
  size_t(*next)[KINDS] = calloc(blocks, sizeof *next), *count = calloc(n + 1, sizeof *count);
  uint32_t *order = malloc((m + 1) * sizeof *order), *other = malloc((m + 1) * sizeof *other);
  int ok = plan->block && next && count && order && other && allocate(plan, spring);
  if (ok) {
    /* Sorts the springs by the lower end, then by the higher end, then as given, so that a block is traversed from end
     * to end. */
    for (size_t e = 0; e < m; e++) order[e] = (uint32_t)e;
    sort_by(high_end, n, m, spring, order, other, count);
    sort_by(low_end, n, m, spring, other, order, count);
    fill(plan, spring, order, next);
    memset(count, 0, (n + 1) * sizeof *count);
    for (size_t b = 0; b < blocks; b++) halo = finish(plan, &plan->block[b], halo, count);
  }
  free(next);
  free(count);
  free(order);
  free(other);
  return ok;
}

/* Makes the run plan->together, with which a small plan computes up to CB_TOGETHER stages in one call. The run repeats
 * the springs of the plan for each stage. */
static int arrange_together(cb_springs *plan) {
  size_t n = (size_t)plan->n, m = plan->m, springs = m * CB_TOGETHER, lanes = CB_GROUP * cb_springs_groups(springs);
  uint16_t *a = calloc(lanes, sizeof *a), *near = calloc(lanes, sizeof *near);
  double *stiffness = calloc(lanes, sizeof *stiffness), *rest = calloc(lanes, sizeof *rest);
  double *damping = plan->damped ? calloc(lanes, sizeof *damping) : NULL;
  plan->together = (cb_spring_run){springs, a, near, NULL, stiffness, rest, damping, CB_GROUP, CB_GROUP};
  if (!a || !near || !stiffness || !rest || (plan->damped && !damping)) return 0;
  for (size_t lane = 0; lane < springs; lane++) {
    size_t e = lane % m, shift = 4 * n * (lane / m);
    a[lane] = (uint16_t)(plan->a[e] + shift);
    near[lane] = (uint16_t)(plan->near[e] + shift);
    stiffness[lane] = plan->stiffness[plan->stiffness_step ? e : 0];
    rest[lane] = plan->rest[plan->rest_step ? e : 0];
    if (damping) damping[lane] = plan->damping[e];
  }
  if (plan->local_max < n * CB_TOGETHER) plan->local_max = n * CB_TOGETHER;
  return 1;
}

static cb_spring_run run_of(const cb_springs *plan, size_t group, size_t springs) {
  return (cb_spring_run){.springs = springs,
                         .a = plan->a + CB_GROUP * group,
                         .stiffness = plan->stiffness + group * plan->stiffness_step,
                         .rest = plan->rest + group * plan->rest_step,
                         .damping = plan->damped ? plan->damping + CB_GROUP * group : NULL,
                         .stiffness_step = plan->stiffness_step,
                         .rest_step = plan->rest_step};
}

cb_spring_run cb_springs_near(const cb_springs *plan, const cb_springs_block *block, size_t first, size_t springs) {
  cb_spring_run run = run_of(plan, block->group + first / CB_GROUP, springs);
  run.near = plan->near + CB_GROUP * block->near_group + first;
  return run;
}

cb_spring_run cb_springs_up(const cb_springs *plan, const cb_springs_block *block) {
  cb_spring_run run = run_of(plan, block->group + cb_springs_groups(block->near), block->up);
  run.far = plan->far + CB_GROUP * block->far_group;
  return run;
}

cb_spring_run cb_springs_down(const cb_springs *plan, const cb_springs_block *block) {
  size_t up = cb_springs_groups(block->up);
  cb_spring_run run = run_of(plan, block->group + cb_springs_groups(block->near) + up, block->down);
  run.far = plan->far + CB_GROUP * (block->far_group + up);
  return run;
}

cb_status cb_springs_create(const cb_space *space, int n, size_t m, const cb_spring *spring, cb_springs **out) {
  cb_status status = check(space, n, m, spring);
  if (status) return status;
  cb_springs *plan = calloc(1, sizeof *plan);
  if (plan) {
    plan->space = space_of(space);
    plan->kernels = kernels_of(plan->space.shape);
    plan->n = n;
    plan->m = m;
    plan->n_blocks = (n + BLOCK - 1) / BLOCK;
    for (size_t e = 0; e < m; e++) plan->damped |= spring[e].damping != 0;
  }
  int small = m > 0 && m <= CB_SMALL && n <= CB_SMALL;
  if (!plan || !arrange(plan, spring) || (small && !arrange_together(plan))) {
    cb_springs_free(plan);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu springs", m);
  }
  *out = plan;
  return CB_OK;
}

void cb_springs_free(cb_springs *plan) {
  if (!plan) return;
  void *owned[] = {plan->block, plan->a,       plan->near,   plan->far,   plan->stiffness,
                   plan->rest,  plan->damping, plan->number, plan->reach, plan->halo};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  const void *together[] = {plan->together.a, plan->together.near, plan->together.stiffness, plan->together.rest,
                            plan->together.damping};
  for (size_t i = 0; i < sizeof together / sizeof *together; i++) free((void *)together[i]);
  free(plan);
}
