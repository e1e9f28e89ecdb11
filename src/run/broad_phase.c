/* The broad phase: stores balls, sorts them into a grid, and lists near pairs and the balls near a given ball.
 *
 * Each thread finds pairs (i, j), i < j, in its own order. A counting sort, first by j, then by i, puts them in order,
 * so the list does not depend on the cells or the number of threads. One function of two balls, are_near, decides
 * which pairs are near.
 */
#include "core/threads.h"
#include "run/broad_phase.h"
#include <curvebody/intrinsic.h>

#include <stdlib.h>
#include <string.h>

/* --- near --- */

static inline double square_of(const double *x, const double *y, int from, int to) {
  double sum = 0;
  for (int a = from; a < to; a++) sum += (x[a] - y[a]) * (x[a] - y[a]);
  return sum;
}

static inline double square_of_all(const double *x, const double *y) {
  const double e0 = x[0] - y[0], e1 = x[1] - y[1], e2 = x[2] - y[2], e3 = x[3] - y[3];
  return (e0 * e0 + e1 * e1) + (e2 * e2 + e3 * e3);
}

static inline bool boxes_meet(const cb_broad *b, const cb_ball *x, const cb_ball *y) {
  for (int a = 0; a < b->flat; a++) {
    double e = fabs(x->x[a] - y->x[a]);
    if (b->period[a] > 0 && e > b->period[a] - e) e = b->period[a] - e;
    if (!(e <= x->half[a] + y->half[a])) return false;
  }
  return true;
}

/* Returns whether d^2 + e^2 <= D^2, up to CB_BROAD_SLACK. d is the distance in the curved factor, e^2 (`square`) the
 * square of the distance in the flat factor, D (`sum`) the sum of the reaches. */
static inline bool are_within(double d, double square, double sum) {
  return d * d + square <= sum * sum * CB_BROAD_SLACK;
}

static inline __attribute__((always_inline)) bool are_near(const cb_broad *b, cb_broad_kind kind, bool pure,
                                                           const cb_ball *x, const cb_ball *y) {
  if (x->always || y->always) return true;
  if (kind == CB_BROAD_BOX) return boxes_meet(b, x, y);
  const double sum = x->reach + y->reach;
  const double flat = pure ? 0 : square_of(x->x, y->x, b->m, b->m + b->flat);
  const double e = pure ? square_of_all(x->x, y->x) : square_of(x->x, y->x, 0, b->m);
  if (kind == CB_BROAD_FLAT) return e <= sum * sum * CB_BROAD_SLACK;
  if (!pure && !(flat <= sum * sum * CB_BROAD_SLACK)) return false;
  const double maximum = x->s * y->c + x->c * y->s;
  if (kind == CB_BROAD_SPHERE) {
    if (sum < 3.14159265358979323846 && !(e <= 4 * maximum * maximum * CB_BROAD_SLACK)) return false;
    return pure || are_within(2 * asin(fmin(1, 0.5 * sqrt(e))), flat, sum);
  }
  const double limit = maximum * maximum * CB_BROAD_SLACK, gg = 0.25 * x->g * y->g;
  const double radial = (x->grow - y->grow) * (x->grow - y->grow) / (4 * x->grow * y->grow);
  /* The test below uses t^2 with t = u - E, u = sqrt(e) and E = CB_BROAD_DIRECTION. Because (u - E)^2 >= u^2/2 - E^2,
   * this first test excludes most pairs without a square root. */
  if (!(radial + gg * (0.5 * e - CB_BROAD_DIRECTION * CB_BROAD_DIRECTION) <= limit)) return false;
  const double across = sqrt(e) - CB_BROAD_DIRECTION, t = across > 0 ? across : 0, half = radial + gg * t * t;
  return half <= limit && (pure || are_within(2 * asinh(sqrt(half)), flat, sum));
}

/* The grid: balls sorted by cells. A window is a range of cells whose balls are searched.
 *
 * Cells are numbered in blocks of 64 neighbours, 2^bits along each axis, so that balls that are near each other are
 * also near each other in memory. The index of a block in the table is a hash of its coordinates and tag, because the
 * space may be unbounded. The key, which has all bits of the hash, distinguishes the balls of different blocks with the
 * same index. If two blocks of one window have equal keys nevertheless, a pair is found twice; sort_pairs removes the
 * copy. Source: Teschner et al., Optimized spatial hashing for collision detection, VMV (2003), which has no blocks.
 */

enum { BLOCK_BITS = 6 };

/* Returns the hash of a tag and the coordinates of a block: a sum with odd multipliers, followed by the 64-bit
 * bijection of Steele et al. (2014), doi:10.1145/2660193.2660195. */
static uint64_t block_key(uint64_t tag, int64_t x, int64_t y, int64_t z) {
  uint64_t h = tag * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)x * UINT64_C(0xc2b2ae3d27d4eb4f) +
               (uint64_t)y * UINT64_C(0x165667b19e3779f9) + (uint64_t)z * UINT64_C(0xd6e8feb86659fd93);
  h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
  return h ^ h >> 31;
}

static int block_of(const cb_broad *b, uint64_t key) { return (int)(key >> (64 - b->block_bits)) << BLOCK_BITS; }

static void locate(void *context, int begin, int end) {
  const cb_broad *b = context;
  const int *bits = b->bits;
  for (int i = begin; i < end; i++) {
    cb_ball *ball = &b->given[i];
    if (ball->level < 0) continue;
    cb_broad_window home;
    cb_broad_home(b, ball, &home);
    const int64_t *c = home.lo;
    ball->key = block_key(home.tag, c[0] >> bits[0], c[1] >> bits[1], c[2] >> bits[2]);
    const int64_t inner[3] = {c[0] & ((1 << bits[0]) - 1), c[1] & ((1 << bits[1]) - 1), c[2] & ((1 << bits[2]) - 1)};
    ball->cell = block_of(b, ball->key) + (int)((inner[2] << bits[1] | inner[1]) << bits[0] | inner[0]);
  }
}

static void sort_balls(cb_broad *b) {
  const int cells = 1 << (b->block_bits + BLOCK_BITS);
  cb_threads_range(cb_threads_for((size_t)b->n), b->n, locate, b);
  memset(b->start, 0, ((size_t)cells + 1) * sizeof *b->start);
  b->in_grid = b->slots = 0;
  for (int i = 0; i < b->n; i++) {
    b->slots += b->given[i].index >= 0;
    if (b->given[i].level < 0) continue;
    b->in_grid++;
    b->start[b->given[i].cell]++;
  }
  for (int c = 0, sum = 0; c <= cells; c++) {
    sum += b->start[c];
    b->start[c] = sum; /* the end of the cell; the cell is filled backwards */
  }
  int last = b->slots;
  for (int i = b->n - 1; i >= 0; i--) {
    const cb_ball *ball = &b->given[i];
    if (ball->index < 0) continue;
    b->slot[ball->level < 0 ? --last : --b->start[ball->cell]] = *ball;
  }
}

/* --- finding --- */

typedef struct finder {
  const cb_broad *b;
  cb_broad_buffer *to; /* if `list` is NULL: the pairs that were found */
  int *list, count;    /* for the search around one ball: the indices of the balls that were found; otherwise NULL */
  bool failed;
} finder;

static inline void add(finder *f, int i, int j) {
  if (f->list) {
    f->list[f->count++] = j;
    return;
  }
  cb_broad_buffer *to = f->to;
  if (to->count == to->capacity) {
    const size_t capacity = 2 * to->capacity + 1024;
    cb_near_pair *more = f->failed ? NULL : realloc(to->pair, capacity * sizeof *more);
    if (!more) {
      f->failed = true;
      return;
    }
    to->pair = more;
    to->capacity = capacity;
  }
  to->pair[to->count++] = i < j ? (cb_near_pair){i, j} : (cb_near_pair){j, i};
}

#define INLINE static inline __attribute__((always_inline))

INLINE void scan_window(finder *f, cb_broad_kind kind, bool pure, const cb_ball *ball, const cb_broad_window *w,
                        int from) {
  const cb_broad *b = f->b;
  const int *bits = b->bits;
  int64_t lo[3], hi[3];
  for (int a = 0; a < 3; a++) {
    lo[a] = w->lo[a] >> bits[a];
    hi[a] = w->hi[a] >> bits[a];
  }
  for (int64_t z = lo[2]; z <= hi[2]; z++)
    for (int64_t y = lo[1]; y <= hi[1]; y++)
      for (int64_t x = lo[0]; x <= hi[0]; x++) {
        const int64_t block[3] = {x, y, z};
        const uint64_t key = block_key(w->tag, x, y, z);
        const int base = block_of(b, key);
        int first[3], last[3];
        for (int a = 0; a < 3; a++) {
          const int64_t corner = block[a] * (1 << bits[a]), width = (1 << bits[a]) - 1;
          first[a] = (int)(w->lo[a] > corner ? w->lo[a] - corner : 0);
          last[a] = (int)(w->hi[a] < corner + width ? w->hi[a] - corner : width);
        }
        if (b->start[base + (1 << BLOCK_BITS)] == b->start[base]) continue;
        for (int v = first[2]; v <= last[2]; v++)
          for (int u = first[1]; u <= last[1]; u++) {
            const int row = base + ((v << bits[1] | u) << bits[0]), end = b->start[row + last[0] + 1];
            int p = b->start[row + first[0]];
            for (p = p < from ? from : p; p < end; p++) {
              const cb_ball *other = &b->slot[p];
              if (other->key == key && are_near(b, kind, pure, ball, other)) add(f, ball->index, other->index);
            }
          }
      }
}

INLINE void scan_slots(finder *f, cb_broad_kind kind, bool pure, const cb_ball *ball, int from, int to) {
  for (int p = from; p < to; p++)
    if (are_near(f->b, kind, pure, ball, &f->b->slot[p])) add(f, ball->index, f->b->slot[p].index);
}

INLINE void scan_level(finder *f, cb_broad_kind kind, bool pure, const cb_ball *ball, int level, int from) {
  int64_t lo, hi;
  cb_broad_window window[CB_BROAD_WINDOWS];
  cb_broad_layers(f->b, ball, level, &lo, &hi);
  for (int64_t layer = lo; layer <= hi; layer++) {
    const int count = cb_broad_windows(f->b, ball, level, layer, window);
    for (int k = 0; k < count; k++) scan_window(f, kind, pure, ball, &window[k], from);
  }
}

/* Finds the pairs of the balls in the slots [begin, end). Each of these balls is compared with those in later slots of
 * its level, and with all balls of levels of larger reaches. A ball without a level is compared with the balls in all
 * slots before its own. With b->all_pairs, every ball is compared in this way. */
INLINE void find_pairs(finder *f, cb_broad_kind kind, bool pure, int begin, int end) {
  const cb_broad *b = f->b;
  for (int p = begin; p < end; p++) {
    const cb_ball *ball = &b->slot[p];
    if (b->all_pairs || ball->level < 0) {
      scan_slots(f, kind, pure, ball, 0, p);
      continue;
    }
    for (int level = 0; level <= ball->level; level++)
      if (b->level[level].count) scan_level(f, kind, pure, ball, level, level == ball->level ? p + 1 : 0);
  }
}

/* Returns about how many cells of a level a search around this ball covers. If the search covers more cells, over all
 * levels, than 64 plus the number of balls in the grid, find_around tests all balls instead. */
static double cells_within(const cb_broad *b, const cb_ball *ball, const cb_broad_level *l) {
  double cells = 1;
  for (int a = 0; a < b->flat; a++) {
    const double reach = b->kind == CB_BROAD_BOX ? ball->half[a] + l->half[a] : ball->reach + l->reach;
    cells *= 2 * reach * l->cells[a] + 1;
  }
  if (b->m == 0) return cells;
  const double reach = ball->reach + l->reach;
  if (b->kind == CB_BROAD_HYPERBOLIC) cells *= 2 * reach / l->thickness + 1;
  const double across = b->kind == CB_BROAD_SPHERE ? 2 * fmin(reach, 2) * l->per : 4 * sinh(0.5 * reach) * l->per;
  return cells * pow(across + 1, b->m - 1);
}

INLINE void find_around(finder *f, cb_broad_kind kind, bool pure, const cb_ball *ball) {
  const cb_broad *b = f->b;
  double cells = 0;
  for (int level = 0; level < CB_BROAD_LEVELS; level++)
    if (b->level[level].count) cells += cells_within(b, ball, &b->level[level]);
  if (b->all_pairs || ball->always || !(cells <= 64 + b->in_grid)) {
    scan_slots(f, kind, pure, ball, 0, b->slots);
    return;
  }
  for (int level = 0; level < CB_BROAD_LEVELS; level++)
    if (b->level[level].count) scan_level(f, kind, pure, ball, level, 0);
  scan_slots(f, kind, pure, ball, b->in_grid, b->slots);
}

/* Calls find_around with constant arguments, so that the compiler makes one version of its loops for each kind of
 * space. */
static void find_around_in_space(finder *f, const cb_ball *ball) {
  switch (f->b->kind) {
    case CB_BROAD_BOX: find_around(f, CB_BROAD_BOX, true, ball); break;
    case CB_BROAD_FLAT: find_around(f, CB_BROAD_FLAT, true, ball); break;
    case CB_BROAD_SPHERE:
      if (f->b->pure)
        find_around(f, CB_BROAD_SPHERE, true, ball);
      else
        find_around(f, CB_BROAD_SPHERE, false, ball);
      break;
    case CB_BROAD_HYPERBOLIC:
      if (f->b->pure)
        find_around(f, CB_BROAD_HYPERBOLIC, true, ball);
      else
        find_around(f, CB_BROAD_HYPERBOLIC, false, ball);
      break;
  }
}

static void find_pairs_in_space(finder *f, int begin, int end) {
  switch (f->b->kind) {
    case CB_BROAD_BOX: find_pairs(f, CB_BROAD_BOX, true, begin, end); break;
    case CB_BROAD_FLAT: find_pairs(f, CB_BROAD_FLAT, true, begin, end); break;
    case CB_BROAD_SPHERE:
      if (f->b->pure)
        find_pairs(f, CB_BROAD_SPHERE, true, begin, end);
      else
        find_pairs(f, CB_BROAD_SPHERE, false, begin, end);
      break;
    case CB_BROAD_HYPERBOLIC:
      if (f->b->pure)
        find_pairs(f, CB_BROAD_HYPERBOLIC, true, begin, end);
      else
        find_pairs(f, CB_BROAD_HYPERBOLIC, false, begin, end);
      break;
  }
}

static int find_balls_around(const cb_broad *b, const cb_ball *ball, int *out) {
  finder f = {.b = b, .list = out};
  find_around_in_space(&f, ball);
  return f.count;
}

/* Finds the pairs of one of `parts` equal ranges of the slots. The slots without a level, which are compared with all
 * others, are distributed over these parts one by one. */
static bool find_part(cb_broad *b, int part, int parts) {
  finder f = {.b = b, .to = &b->found[part]};
  f.to->count = 0;
  const int regular = b->all_pairs ? 0 : b->in_grid;
  const int begin = (int)((long long)regular * part / parts), end = (int)((long long)regular * (part + 1) / parts);
  find_pairs_in_space(&f, begin, end);
  for (int p = regular + part; p < b->slots; p += parts) find_pairs_in_space(&f, p, p + 1);
  return !f.failed;
}

static cb_status find_all_pairs(cb_broad *b) {
  int threads = cb_threads_for((size_t)b->n), failed = 0;
  if (threads > CB_BROAD_THREADS) threads = CB_BROAD_THREADS;
  for (int t = 0; t < CB_BROAD_THREADS; t++) b->found[t].count = 0;
  if (threads <= 1) {
    failed = !find_part(b, 0, 1);
  } else {
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : failed)
    for (int t = 0; t < threads; t++) failed += !find_part(b, t, threads);
  }
  return failed ? cb_fail(CB_ERROR_MEMORY, "no memory for the near pairs of %d balls", b->n) : CB_OK;
}

/* --- the broad phase itself --- */

static void describe_space(cb_broad *b) {
  const cb_space *g = b->g;
  b->unit = 1;
  b->dims = g->dim;
  b->kind = g->intrinsic ? CB_BROAD_BOX : CB_BROAD_FLAT;
  for (int f = 0; f < g->n_factors && !g->intrinsic; f++) {
    const cb_factor *factor = &g->factor[f];
    if (factor->curvature == 0) {
      for (int a = 0; a < factor->count; a++) b->flat_offset[b->flat++] = factor->offset + a;
    } else if (b->kind == CB_BROAD_FLAT) { /* the only curved factor: two would exceed CB_DIM_MAX dimensions */
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

/* Replaces a buffer by a larger one without copying its contents, which the callers do not need. Returns false, and
 * leaves the buffer unchanged, if there is no memory. */
static bool grow(void *pointer, size_t bytes) {
  void *fresh = malloc(bytes), **at = pointer;
  if (!fresh) return false;
  free(*at);
  *at = fresh;
  return true;
}

/* Enlarges the arrays for n balls. The grid gets at least two cells per ball, but at most 2^30 cells; block_bits is set
 * for this number of cells. */
static cb_status reserve_balls(cb_broad *b, int n) {
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

cb_status cb_broad_create(const cb_space *g, bool all_pairs, cb_broad **out) {
  if (g->dim < 1 || g->dim > CB_DIM_MAX)
    return cb_fail(CB_ERROR_ARGUMENT, "the space %s has %d dimensions and no distances: expected 1 to %d",
                   g->class_ ? g->class_->name : "?", g->dim, CB_DIM_MAX);
  cb_broad *b = calloc(1, sizeof *b);
  if (!b) return cb_fail(CB_ERROR_MEMORY, "no memory for a broad phase");
  b->g = g;
  b->all_pairs = all_pairs;
  describe_space(b);
  const cb_status status = reserve_balls(b, 1);
  if (status)
    cb_broad_free(b);
  else
    *out = b;
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
  const cb_status status = reserve_balls(b, n);
  if (status) return status;
  b->n = n;
  cb_threads_range(cb_threads_for((size_t)n), n, take, &(taking){b, x, reach});
  cb_broad_levels(b);
  sort_balls(b);
  return CB_OK;
}

static bool reserve(cb_broad_buffer *buffer, size_t count) {
  if (count <= buffer->capacity) return true;
  const size_t capacity = count + count / 2;
  if (!grow(&buffer->pair, capacity * sizeof *buffer->pair)) return false;
  buffer->capacity = capacity;
  return true;
}

/* Sorts all pairs that were found, and removes copies. Returns false if there is no memory. */
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
    const cb_status status = find_all_pairs(b);
    if (status) return status;
    if (!sort_pairs(b)) return cb_fail(CB_ERROR_MEMORY, "no memory for the near pairs of %d balls", b->n);
    b->pairs_known = true;
  }
  *pair = b->sorted.pair;
  *count = b->sorted.count;
  return CB_OK;
}

/* Sorts the list by Shell's method, with gaps that shrink by the factor 9/4, because the lists are short and qsort may
 * allocate memory. */
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
  int found = about.index < 0 || b->n == 0 ? 0 : find_balls_around(b, &about, b->around), once = 0;
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
  return one.index >= 0 && other.index >= 0 && !are_near(b, b->kind, b->pure, &one, &other);
}
