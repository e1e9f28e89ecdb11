/* The broad phase's life: taking balls, listing near pairs in order, and the balls near to one.
 *
 * Pairs are found in no certain order, by each thread its own, and sorted by counting, first by j, then by i, so that
 * the list is the same whatever the cells and threads. Which pairs are near is decided by one function of two balls
 * (broad_phase_private.h).
 */
#include "core/threads.h"
#include "run/broad_phase_private.h"
#include <curvebody/intrinsic.h>

#include <stdlib.h>
#include <string.h>

static void describe_space(cb_broad *b) {
  const cb_geometry *g = b->g;
  b->unit = 1;
  b->dims = g->dim;
  b->kind = g->intrinsic ? CB_BROAD_BOX : CB_BROAD_FLAT;
  for (int f = 0; f < g->n_factors && !g->intrinsic; f++) {
    const cb_factor *factor = &g->factor[f];
    if (factor->curvature == 0) {
      for (int a = 0; a < factor->count; a++) b->flat_offset[b->flat++] = factor->offset + a;
    } else if (b->kind == CB_BROAD_FLAT) { /* a second curved factor would have more dimensions than there are */
      b->kind = factor->curvature > 0 ? CB_BROAD_SPHERE : CB_BROAD_HYPERBOLIC;
      b->curved_offset = factor->offset;
      b->m = factor->curvature > 0 ? factor->count : factor->count - 1;
      b->unit = sqrt(fabs(factor->curvature));
    }
  }
  if (g->intrinsic) {
    b->flat = g->dim;
    for (int a = 0; a < g->dim; a++) b->period[a] = g->intrinsic->period[a];
  }
  b->pure = b->m == 0 || b->flat == 0;
  const int bits[3][3] = {{6, 0, 0}, {3, 3, 0}, {2, 2, 2}};
  memcpy(b->bits, bits[b->dims - 1], sizeof b->bits);
}

void cb_broad_free(cb_broad *b) {
  if (!b) return;
  for (int t = 0; t < CB_BROAD_THREADS; t++) free(b->found[t].pair);
  free(b->sorted.pair);
  free(b->half_sorted.pair);
  free(b->given);
  free(b->slot);
  free(b->start);
  free(b->by_i);
  free(b->by_j);
  free(b->around);
  free(b);
}

/* The old contents are of no use: nothing is copied. */
static bool grow(void *pointer, size_t bytes) {
  void *fresh = malloc(bytes), **at = pointer;
  if (!fresh) return false;
  free(*at);
  *at = fresh;
  return true;
}

/* Room for n balls, and two cells a ball. */
static cb_status make_room(cb_broad *b, int n) {
  int bits = 1;
  while (bits < 24 && ((size_t)64 << bits) < 2 * (size_t)n) bits++;
  const size_t cells = ((size_t)64 << bits) + 1;
  if (n > b->capacity) {
    const int capacity = n + n / 8;
    const size_t size = (size_t)capacity;
    if (!grow(&b->given, size * sizeof *b->given) || !grow(&b->slot, size * sizeof *b->slot) ||
        !grow(&b->by_i, (size + 1) * sizeof *b->by_i) || !grow(&b->by_j, (size + 1) * sizeof *b->by_j) ||
        !grow(&b->around, 2 * size * sizeof *b->around))
      return cb_fail(CB_ERROR_MEMORY, "no memory for %d balls", n);
    b->capacity = capacity;
  }
  if (cells > b->start_capacity) {
    if (!grow(&b->start, cells * sizeof *b->start)) return cb_fail(CB_ERROR_MEMORY, "no memory for %d balls", n);
    b->start_capacity = cells;
  }
  b->block_bits = bits;
  return CB_OK;
}

cb_status cb_broad_create(const cb_geometry *g, bool all_pairs, cb_broad **out) {
  if (g->dim < 1 || g->dim > CB_DIM_MAX)
    return cb_fail(CB_ERROR_ARGUMENT, "the space %s has %d dimensions and no distances: expected 1 to %d",
                   g->kind ? g->kind->name : "?", g->dim, CB_DIM_MAX);
  cb_broad *b = calloc(1, sizeof *b);
  if (!b) return cb_fail(CB_ERROR_MEMORY, "no memory for a broad phase");
  b->g = g;
  b->all_pairs = all_pairs;
  describe_space(b);
  const cb_status status = make_room(b, 1);
  if (status) cb_broad_free(b);
  else *out = b;
  return status;
}

typedef struct taking {
  cb_broad *b;
  const double *x, *reach;
} taking;

static void take(void *context, int begin, int end) {
  const taking *t = context;
  for (int i = begin; i < end; i++) {
    cb_ball *ball = &t->b->given[i];
    cb_broad_ball(t->b, t->x + (size_t)i * (size_t)t->b->g->k, t->reach[i], ball);
    if (ball->index >= 0) ball->index = i;
  }
}

cb_status cb_broad_set(cb_broad *b, int n, const double *x, const double *reach) {
  if (n < 0) return cb_fail(CB_ERROR_ARGUMENT, "%d balls: expected 0 or more", n);
  for (int i = 0; i < n; i++)
    if (!(reach[i] >= 0)) return cb_fail(CB_ERROR_ARGUMENT, "ball %d has reach %g: expected >= 0", i, reach[i]);
  b->n = b->slots = b->in_grid = 0;
  b->pairs_known = false;
  const cb_status status = make_room(b, n);
  if (status) return status;
  b->n = n;
  cb_threads_range(cb_threads_for((size_t)n), n, take, &(taking){b, x, reach});
  cb_broad_levels(b);
  cb_broad_sort(b);
  return CB_OK;
}

static bool reserve(cb_broad_buffer *buffer, size_t count) {
  if (count <= buffer->capacity) return true;
  const size_t capacity = count + count / 2;
  if (!grow(&buffer->pair, capacity * sizeof *buffer->pair)) return false;
  buffer->capacity = capacity;
  return true;
}

/* All that was found, sorted, each pair once. */
static bool sort_pairs(cb_broad *b) {
  size_t count = 0, *by_i = b->by_i, *by_j = b->by_j;
  for (int t = 0; t < CB_BROAD_THREADS; t++) count += b->found[t].count;
  if (!reserve(&b->sorted, count) || !reserve(&b->half_sorted, count)) return false;
  memset(by_i, 0, ((size_t)b->n + 1) * sizeof *by_i);
  memset(by_j, 0, ((size_t)b->n + 1) * sizeof *by_j);
  for (int t = 0; t < CB_BROAD_THREADS; t++)
    for (size_t k = 0; k < b->found[t].count; k++) {
      by_i[b->found[t].pair[k].i + 1]++;
      by_j[b->found[t].pair[k].j + 1]++;
    }
  for (int i = 0; i < b->n; i++) {
    by_i[i + 1] += by_i[i];
    by_j[i + 1] += by_j[i];
  }
  for (int t = 0; t < CB_BROAD_THREADS; t++)
    for (size_t k = 0; k < b->found[t].count; k++)
      b->half_sorted.pair[by_j[b->found[t].pair[k].j]++] = b->found[t].pair[k];
  for (size_t k = 0; k < count; k++) b->sorted.pair[by_i[b->half_sorted.pair[k].i]++] = b->half_sorted.pair[k];
  size_t once = 0;
  cb_near_pair *pair = b->sorted.pair;
  for (size_t k = 0; k < count; k++)
    if (k == 0 || pair[k].i != pair[once - 1].i || pair[k].j != pair[once - 1].j) pair[once++] = pair[k];
  b->sorted.count = once;
  return true;
}

cb_status cb_broad_pairs(cb_broad *b, const cb_near_pair **pair, size_t *count) {
  if (!b->pairs_known) {
    const cb_status status = cb_broad_find(b);
    if (status) return status;
    if (!sort_pairs(b)) return cb_fail(CB_ERROR_MEMORY, "no memory for the near pairs of %d balls", b->n);
    b->pairs_known = true;
  }
  *pair = b->sorted.pair;
  *count = b->sorted.count;
  return CB_OK;
}

/* Shell's method with gaps that fall by 9/4: lists are short, and qsort may allocate. */
static void sort_numbers(int *list, int count) {
  int gap = 1;
  while (gap < count / 9 * 4) gap = (9 * gap + 3) / 4 + 1;
  for (;; gap = (4 * gap) / 9 > 0 ? (4 * gap) / 9 : 1) {
    for (int k = gap; k < count; k++) {
      const int value = list[k];
      int at = k;
      for (; at >= gap && list[at - gap] > value; at -= gap) list[at] = list[at - gap];
      list[at] = value;
    }
    if (gap <= 1) return;
  }
}

cb_status cb_broad_around(cb_broad *b, const double *x, double reach, double moved, const int **ball, int *count) {
  if (!(reach >= 0 && moved >= 0))
    return cb_fail(CB_ERROR_ARGUMENT, "a ball of reach %g among balls that moved by %g: expected both >= 0", reach,
                   moved);
  cb_ball about;
  cb_broad_ball(b, x, reach + moved, &about);
  int found = about.index < 0 || b->n == 0 ? 0 : cb_broad_find_around(b, &about, b->around), once = 0;
  sort_numbers(b->around, found);
  for (int k = 0; k < found; k++)
    if (k == 0 || b->around[k] != b->around[once - 1]) b->around[once++] = b->around[k];
  *ball = b->around;
  *count = once;
  return CB_OK;
}

bool cb_broad_apart(const cb_broad *b, const double *x, double reach_x, const double *y, double reach_y) {
  cb_ball one, other;
  cb_broad_ball(b, x, reach_x, &one);
  cb_broad_ball(b, y, reach_y, &other);
  return one.index >= 0 && other.index >= 0 && !cb_broad_near(b, b->kind, b->pure, &one, &other);
}
