/* The grid: balls sorted by cells, and what lies in a window of cells.
 *
 * Cells are numbered by blocks of 64 neighbours, 2^bits along each axis: a block's place in the table is a hash of its
 * coordinates and tag, so that space may be unbounded, and balls next to each other lie together in memory. Balls of
 * other blocks with the same place are told apart by the key, all bits of the hash; were two keys of one window equal
 * all the same, a pair would be found twice, which is put right when pairs are sorted.
 * Source: Teschner et al., Optimized spatial hashing for collision detection, VMV (2003), with blocks.
 */
#include "core/threads.h"
#include "run/broad_phase_private.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BITS = 6 };

/* Odd multipliers and shifts of a bijection of 64 bits: Steele et al. (2014), doi:10.1145/2660193.2660195. */
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

void cb_broad_sort(cb_broad *b) {
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
    b->start[c] = sum; /* the end of the cell; filled from behind */
  }
  int last = b->slots;
  for (int i = b->n - 1; i >= 0; i--) {
    const cb_ball *ball = &b->given[i];
    if (ball->index < 0) continue;
    b->slot[ball->level < 0 ? --last : --b->start[ball->cell]] = *ball;
  }
}

/* --- what is found --- */

typedef struct finder {
  const cb_broad *b;
  cb_broad_buffer *to; /* pairs, or */
  int *list, count;    /* balls about one */
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
              if (other->key == key && cb_broad_near(b, kind, pure, ball, other)) add(f, ball->index, other->index);
            }
          }
      }
}

INLINE void scan_slots(finder *f, cb_broad_kind kind, bool pure, const cb_ball *ball, int from, int to) {
  for (int p = from; p < to; p++)
    if (cb_broad_near(f->b, kind, pure, ball, &f->b->slot[p])) add(f, ball->index, f->b->slot[p].index);
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

/* Pairs of the slots [begin, end) with slots after them in their level, with all in coarser levels, and of those in no
 * level with all before them. */
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

/* Cells of a level that a reach covers, about, as a double; a query of more cells than balls looks at all balls. */
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

/* The loops are compiled for each kind of space. */
#define FOR_EACH_KIND(call, f, ...)                                                               \
  switch ((f)->b->kind) {                                                                         \
  case CB_BROAD_BOX: call(f, CB_BROAD_BOX, true, __VA_ARGS__); break;                             \
  case CB_BROAD_FLAT: call(f, CB_BROAD_FLAT, true, __VA_ARGS__); break;                           \
  case CB_BROAD_SPHERE:                                                                           \
    if ((f)->b->pure) call(f, CB_BROAD_SPHERE, true, __VA_ARGS__);                                \
    else call(f, CB_BROAD_SPHERE, false, __VA_ARGS__);                                            \
    break;                                                                                        \
  case CB_BROAD_HYPERBOLIC:                                                                       \
    if ((f)->b->pure) call(f, CB_BROAD_HYPERBOLIC, true, __VA_ARGS__);                            \
    else call(f, CB_BROAD_HYPERBOLIC, false, __VA_ARGS__);                                        \
    break;                                                                                        \
  }

int cb_broad_find_around(const cb_broad *b, const cb_ball *ball, int *out) {
  finder f = {.b = b, .list = out};
  FOR_EACH_KIND(find_around, &f, ball)
  return f.count;
}

/* One of `parts` parts of all slots; those in no level, each of which is compared with all, in turn. */
static bool find_part(cb_broad *b, int part, int parts) {
  finder f = {.b = b, .to = &b->found[part]};
  f.to->count = 0;
  const int regular = b->all_pairs ? 0 : b->in_grid;
  const int begin = (int)((long long)regular * part / parts), end = (int)((long long)regular * (part + 1) / parts);
  FOR_EACH_KIND(find_pairs, &f, begin, end)
  for (int p = regular + part; p < b->slots; p += parts) FOR_EACH_KIND(find_pairs, &f, p, p + 1)
  return !f.failed;
}

cb_status cb_broad_find(cb_broad *b) {
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
