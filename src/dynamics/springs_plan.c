/* Making the plan: which block computes which springs, and where their ends are in its copy. */
#include "dynamics/springs_plan.h"

#include "core/isa.h"
#include "dynamics/reorder.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = CB_REORDER_REGION };

static const cb_springs_kernels *kernels_of(cb_springs_shape shape) {
#if defined(__x86_64__)
  if (cb_isa_get() == CB_ISA_AVX512) return &cb_springs_kernels_avx512[shape];
  if (cb_isa_get() == CB_ISA_AVX2) return &cb_springs_kernels_avx2[shape];
#endif
  return &cb_springs_kernels_x86_64[shape];
}

static cb_springs_space space_of(const cb_geometry *space) {
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

static cb_status check(const cb_geometry *space, int n, size_t m, const cb_spring *spring) {
  if (space->chart) return cb_fail(CB_ERROR_UNSUPPORTED, "springs in a chart have no plan: they need its distance");
  if (n < 1) return cb_fail(CB_ERROR_ARGUMENT, "springs between %d particles", n);
  if ((unsigned)n > UINT32_MAX / 4)
    return cb_fail(CB_ERROR_ARGUMENT, "springs between %d particles: at most 1073741823", n);
  if (m >= UINT32_MAX) return cb_fail(CB_ERROR_ARGUMENT, "%zu springs: at most 4294967294", m);
  for (size_t e = 0; e < m; e++) {
    const cb_spring *s = &spring[e];
    if (s->i < 0 || s->i >= n || s->j < 0 || s->j >= n || s->i == s->j)
      return cb_fail(CB_ERROR_ARGUMENT, "spring %zu joins particles %d and %d of %d", e, s->i, s->j, n);
    if (!isfinite(s->stiffness) || !isfinite(s->damping) || !(s->rest >= 0) || !isfinite(s->rest))
      return cb_fail(CB_ERROR_ARGUMENT, "spring %zu has stiffness %g, rest length %g, damping %g", e, s->stiffness,
                     s->rest, s->damping);
  }
  return CB_OK;
}

static int low_end(const cb_spring *s) { return s->i < s->j ? s->i : s->j; }
static int high_end(const cb_spring *s) { return s->i < s->j ? s->j : s->i; }

/* One stable counting sort of numbers[m] by an end of the springs. count has n+1 entries. */
static void sort_by(int (*end)(const cb_spring *), size_t n, size_t m, const cb_spring *spring, const uint32_t *from,
                    uint32_t *to, size_t *count) {
  memset(count, 0, (n + 1) * sizeof *count);
  for (size_t e = 0; e < m; e++) count[end(&spring[e]) + 1]++;
  for (size_t i = 0; i < n; i++) count[i + 1] += count[i];
  for (size_t e = 0; e < m; e++) to[count[end(&spring[from[e]])]++] = from[e];
}

static size_t groups_for(size_t springs) { return (springs + CB_GROUP - 1) / CB_GROUP; }

/* The three ranges of a block's groups, and which of them block `of` has a spring in. */
enum { BOTH, UPWARD, DOWNWARD, RANGES };

static int range_of(const cb_spring *s, int of) {
  if (low_end(s) / BLOCK == high_end(s) / BLOCK) return BOTH;
  return low_end(s) / BLOCK == of ? UPWARD : DOWNWARD;
}

/* Where the groups of each block begin and end; next[block][range] is where the next spring goes. */
static size_t lay_out(cb_springs *plan, const cb_spring *spring, size_t (*next)[RANGES]) {
  for (size_t e = 0; e < plan->m; e++) {
    int low = low_end(&spring[e]) / BLOCK, high = high_end(&spring[e]) / BLOCK;
    next[low][range_of(&spring[e], low)]++;
    if (high != low) next[high][DOWNWARD]++;
  }
  size_t group = 0, slice = 0;
  for (int b = 0; b < plan->n_blocks; b++) {
    cb_springs_block *block = &plan->block[b];
    block->first = b * BLOCK;
    block->count = plan->n - block->first < BLOCK ? plan->n - block->first : BLOCK;
    block->group = group;
    block->cross = block->group + groups_for(next[b][BOTH]);
    block->owned = block->cross + groups_for(next[b][UPWARD]);
    block->end = group = block->owned + groups_for(next[b][DOWNWARD]);
    block->slice = slice;
    slice += (block->cross - block->group + CB_SLICE - 1) / CB_SLICE;
    next[b][BOTH] = CB_GROUP * block->group;
    next[b][UPWARD] = CB_GROUP * block->cross;
    next[b][DOWNWARD] = CB_GROUP * block->owned;
  }
  return slice;
}

/* Ends are particles until `localise`. */
static void put(cb_springs *plan, size_t at, const cb_spring *spring, uint32_t number, int a, int b) {
  cb_spring_group *group = &plan->group[at / CB_GROUP];
  size_t l = at % CB_GROUP;
  group->a[l] = (uint32_t)a;
  group->b[l] = (uint32_t)b;
  group->stiffness[l] = spring->stiffness;
  group->rest[l] = spring->rest;
  if (plan->damped) plan->damping[at] = spring->damping;
  plan->number[at] = number;
}

static void fill_groups(cb_springs *plan, const cb_spring *spring, const uint32_t *order, size_t (*next)[RANGES]) {
  for (int b = 0; b < plan->n_blocks; b++)
    for (size_t e = plan->block[b].group; e < plan->block[b].end; e++)
      for (int l = 0; l < CB_GROUP; l++) plan->group[e].a[l] = plan->group[e].b[l] = (uint32_t)plan->block[b].first;
  for (size_t e = 0; e < plan->m; e++) {
    const cb_spring *s = &spring[order[e]];
    int a = low_end(s), b = high_end(s);
    put(plan, next[a / BLOCK][range_of(s, a / BLOCK)]++, s, order[e], a, b);
    if (a / BLOCK != b / BLOCK) put(plan, next[b / BLOCK][DOWNWARD]++, s, order[e], b, a);
  }
}

static void find_reach(cb_springs *plan) {
  for (int b = 0; b < plan->n_blocks; b++) {
    const cb_springs_block *block = &plan->block[b];
    int reach = 0;
    for (size_t e = block->group; e < block->cross; e++) {
      for (int l = 0; l < CB_GROUP; l++) {
        int last = (int)plan->group[e].b[l] - block->first; /* the higher end */
        if (reach <= last) reach = last + 1;
      }
      plan->reach[block->slice + (e - block->group) / CB_SLICE] = reach;
    }
  }
}

/* Turns a block's particles into offsets: into the space's particles, or into the block's copy, whose halo it finds.
 * where[n] is 0 and is left so. */
static void localise(cb_springs *plan, cb_springs_block *block, size_t *where) {
  size_t count = (size_t)block->count, first = (size_t)block->first;
  for (size_t e = block->group; e < block->end; e++)
    for (int l = 0; l < CB_GROUP; l++) {
      uint32_t *end[2] = {&plan->group[e].a[l], &plan->group[e].b[l]};
      for (int s = 0; s < 2; s++) {
        size_t i = *end[s], index = i;
        if (plan->space.k != 4) {
          index = i - first;
          if (index >= count) {
            if (!where[i]) {
              plan->halo[block->halo + block->halo_count] = (int)i;
              where[i] = count + ++block->halo_count;
            }
            index = where[i] - 1;
          }
        }
        *end[s] = (uint32_t)(4 * index);
      }
    }
  for (size_t h = 0; h < block->halo_count; h++) where[plan->halo[block->halo + h]] = 0;
  if (plan->local_max < count + block->halo_count) plan->local_max = count + block->halo_count;
}

static int allocate(cb_springs *plan, size_t slices, size_t crossing) {
  size_t groups = plan->block[plan->n_blocks - 1].end;
  plan->group = aligned_alloc(64, (groups + CB_AHEAD) * sizeof *plan->group);
  plan->number = malloc((groups + 1) * CB_GROUP * sizeof *plan->number);
  plan->halo = malloc((2 * crossing + 1) * sizeof *plan->halo);
  plan->reach = malloc((slices + 1) * sizeof *plan->reach);
  if (plan->damped) plan->damping = calloc((groups + 1) * CB_GROUP, sizeof *plan->damping);
  if (!plan->group || !plan->number || !plan->halo || !plan->reach || (plan->damped && !plan->damping)) return 0;
  memset(plan->group, 0, (groups + CB_AHEAD) * sizeof *plan->group);
  memset(plan->number, 0xff, (groups + 1) * CB_GROUP * sizeof *plan->number);
  return 1;
}

static int fill(cb_springs *plan, const cb_spring *spring) {
  size_t n = (size_t)plan->n, m = plan->m, blocks = (size_t)plan->n_blocks, crossing = 0, halo = 0;
  plan->block = calloc(blocks, sizeof *plan->block);
  size_t(*next)[RANGES] = calloc(blocks, sizeof *next), *count = calloc(n + 1, sizeof *count);
  uint32_t *order = malloc((m + 1) * sizeof *order), *other = malloc((m + 1) * sizeof *other);
  for (size_t e = 0; e < m; e++) crossing += low_end(&spring[e]) / BLOCK != high_end(&spring[e]) / BLOCK;
  int ok = plan->block && next && count && order && other && allocate(plan, lay_out(plan, spring, next), crossing);
  if (ok) {
    /* By the lower end, then the higher, then as given: walks through a block from end to end. */
    for (size_t e = 0; e < m; e++) order[e] = (uint32_t)e;
    sort_by(high_end, n, m, spring, order, other, count);
    sort_by(low_end, n, m, spring, other, order, count);
    fill_groups(plan, spring, order, next);
    find_reach(plan);
    memset(count, 0, (n + 1) * sizeof *count);
    for (size_t b = 0; b < blocks; b++) {
      plan->block[b].halo = halo;
      localise(plan, &plan->block[b], count);
      halo += plan->block[b].halo_count;
    }
  }
  free(next);
  free(count);
  free(order);
  free(other);
  return ok;
}

/* The springs of a small plan once for each stage, in the order of its group. */
static int fill_together(cb_springs *plan) {
  size_t n = (size_t)plan->n, m = plan->m, lanes = m * CB_TOGETHER, groups = groups_for(lanes);
  plan->together = aligned_alloc(64, (groups + CB_AHEAD) * sizeof *plan->together);
  plan->together_damping = calloc(groups * CB_GROUP, sizeof *plan->together_damping);
  if (!plan->together || !plan->together_damping) return 0;
  memset(plan->together, 0, (groups + CB_AHEAD) * sizeof *plan->together);
  for (size_t lane = 0; lane < lanes; lane++) {
    size_t stage = lane / m, e = lane % m, from = e % CB_GROUP, to = lane % CB_GROUP;
    const cb_spring_group *source = &plan->group[e / CB_GROUP];
    cb_spring_group *group = &plan->together[lane / CB_GROUP];
    group->a[to] = source->a[from] + (uint32_t)(4 * n * stage);
    group->b[to] = source->b[from] + (uint32_t)(4 * n * stage);
    group->stiffness[to] = source->stiffness[from];
    group->rest[to] = source->rest[from];
    if (plan->damped) plan->together_damping[lane] = plan->damping[e];
  }
  if (plan->local_max < n * CB_TOGETHER) plan->local_max = n * CB_TOGETHER;
  return 1;
}

cb_status cb_springs_create(const cb_geometry *space, int n, size_t m, const cb_spring *spring, cb_springs **out) {
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
  if (!plan || !fill(plan, spring) || (small && !fill_together(plan))) {
    cb_springs_free(plan);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu springs", m);
  }
  *out = plan;
  return CB_OK;
}

void cb_springs_free(cb_springs *plan) {
  if (!plan) return;
  free(plan->block);
  free(plan->halo);
  free(plan->group);
  free(plan->damping);
  free(plan->number);
  free(plan->reach);
  free(plan->together);
  free(plan->together_damping);
  free(plan);
}

size_t cb_springs_count(const cb_springs *plan) { return plan->m; }
int cb_springs_damped(const cb_springs *plan) { return plan->damped; }

double cb_springs_repetition(const cb_springs *plan) {
  size_t computed = 0, groups = plan->block[plan->n_blocks - 1].end;
  for (size_t e = 0; e < CB_GROUP * groups; e++) computed += plan->number[e] != UINT32_MAX;
  return plan->m ? (double)computed / (double)plan->m : 1;
}
