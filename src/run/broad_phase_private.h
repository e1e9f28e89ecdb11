/* What the files of the broad phase share: balls as they are kept, when two of them are near, and the grid's cells.
 *
 * Lengths are in units of the radius of curvature R where there is one. near() is one function of two balls,
 * symmetric to the last bit and independent of the grid, which only chooses the pairs that it is asked of.
 *
 *   E^n    |x - y| <= D,   D = rho_x + rho_y
 *   S^n    |x - y| <= 2 sin(D/2)
 *   H^n    sinh^2((a - b)/2) + sinh a sinh b |m - n|^2/4 <= sinh^2(D/2),   x = (sinh a m, cosh a), y likewise
 *   products  the factors' distances, d1^2 + d2^2 <= D^2
 *   charts    boxes of coordinates that hold the balls meet
 *
 * In H^n a point a far out is known to a relative error e of its embedding, so to e sinh a across: |m - n| is
 * lessened by e, and far out balls in one direction are near by their radii a alone.
 */
#pragma once

#include "run/broad_phase.h"

#include <math.h>
#include <stdint.h>

typedef enum cb_broad_kind { CB_BROAD_FLAT, CB_BROAD_SPHERE, CB_BROAD_HYPERBOLIC, CB_BROAD_BOX } cb_broad_kind;

/* Balls of one level have reaches within a factor 4 (all smaller ones are in the last); larger ones are before. Those
 * that no grid is made for are in none and are compared with all. */
enum { CB_BROAD_LEVELS = 16, CB_BROAD_NO_LEVEL = -1, CB_BROAD_WINDOWS = 8, CB_BROAD_THREADS = 64 };

/* Of directions in H^n, relative; and of the near test itself. */
static const double CB_BROAD_DIRECTION = 1e-14, CB_BROAD_SLACK = 1 + 1e-14;

typedef struct cb_ball {
  double x[4]; /* S^n: the point; H^n: its direction; then flat coordinates, then 0. Boxes: the middle */
  union {
    struct {
      double reach, s, c; /* s, c: sine and cosine (or hyperbolic) of reach/2 */
      double a, grow, g;  /* H^n: a, e^a, sinh a */
    };
    double half[3]; /* boxes: half of the edges */
  };
  uint64_t key; /* of its block of cells */
  int index;    /* as given; -1: not finite */
  int level, cell;
  bool always; /* near to all */
} cb_ball;

typedef struct cb_broad_level {
  int count;
  double reach, s, c, half[3]; /* the greatest of its balls */
  double per;                  /* cells to the unit length; H^n: of directions, divided by sinh a */
  double thickness;            /* H^n: of layers in a */
  double cells[3];             /* cells to the unit, in flat coordinates or of boxes */
  int64_t layers[2];           /* H^n: first and last with balls in it */
} cb_broad_level;

typedef struct cb_broad_buffer {
  cb_near_pair *pair;
  size_t count, capacity;
} cb_broad_buffer;

struct cb_broad {
  const cb_geometry *g;
  bool all_pairs;
  cb_broad_kind kind;
  bool pure;                                /* one kind of coordinates: x is compared as a whole */
  int m, curved_offset;                     /* numbers of a direction; where the curved factor is in the embedding */
  int flat, flat_offset[CB_DIM_MAX];        /* flat coordinates, and where they are in the embedding */
  double unit;                              /* 1/R, or 1 */
  double period[CB_DIM_MAX], scale[CB_DIM_MAX];
  int dims, bits[3];                        /* of cells; a block is 2^bits[a] cells wide */

  int n, slots, in_grid;                    /* balls given; of these finite; of these in a level */
  cb_ball *given, *slot;                    /* by index; by cell, those in no level last */
  int *start;                               /* first slot of each cell, and one more */
  int block_bits;
  cb_broad_level level[CB_BROAD_LEVELS];
  int capacity;
  size_t start_capacity;

  cb_broad_buffer found[CB_BROAD_THREADS], sorted, half_sorted;
  size_t *by_i, *by_j; /* n + 1 each */
  bool pairs_known;
  int *around;
};

/* Cells lo..hi of a grid, of those balls that have the same tag (level and face). */
typedef struct cb_broad_window {
  uint64_t tag;
  int64_t lo[3], hi[3];
} cb_broad_window;

/* A ball from a point; ball->index = -1 where it is not finite. */
void cb_broad_ball(const cb_broad *b, const double *x, double reach, cb_ball *ball);
/* The box about q that holds all points within reach; false where there is no bound. */
bool cb_broad_box(const cb_geometry *g, const double *q, double reach, double *lo, double *hi);
/* Levels, their cells, and each given ball's level. */
void cb_broad_levels(cb_broad *b);
/* The cell of a ball in its level (lo = hi). */
void cb_broad_home(const cb_broad *b, const cb_ball *ball, cb_broad_window *home);
/* Layers of a level where balls near to this one may be (one, 0, outside of H^n), and windows there. */
void cb_broad_layers(const cb_broad *b, const cb_ball *ball, int level, int64_t *lo, int64_t *hi);
int cb_broad_windows(const cb_broad *b, const cb_ball *ball, int level, int64_t layer,
                     cb_broad_window out[CB_BROAD_WINDOWS]);
/* Sorts balls into cells, and finds pairs. */
void cb_broad_sort(cb_broad *b);
cb_status cb_broad_find(cb_broad *b);
int cb_broad_find_around(const cb_broad *b, const cb_ball *ball, int *out);

static inline double cb_broad_square(const double *x, const double *y, int from, int to) {
  double sum = 0;
  for (int a = from; a < to; a++) sum += (x[a] - y[a]) * (x[a] - y[a]);
  return sum;
}

static inline double cb_broad_square_all(const double *x, const double *y) {
  const double e0 = x[0] - y[0], e1 = x[1] - y[1], e2 = x[2] - y[2], e3 = x[3] - y[3];
  return (e0 * e0 + e1 * e1) + (e2 * e2 + e3 * e3);
}

static inline bool cb_broad_boxes_meet(const cb_broad *b, const cb_ball *x, const cb_ball *y) {
  for (int a = 0; a < b->flat; a++) {
    double e = fabs(x->x[a] - y->x[a]);
    if (b->period[a] > 0 && e > b->period[a] - e) e = b->period[a] - e;
    if (!(e <= x->half[a] + y->half[a])) return false;
  }
  return true;
}

/* d^2 + e^2 <= D^2 with e^2 of the flat factor. */
static inline bool cb_broad_within(double d, double square, double sum) {
  return d * d + square <= sum * sum * CB_BROAD_SLACK;
}

static inline __attribute__((always_inline)) bool cb_broad_near(const cb_broad *b, cb_broad_kind kind, bool pure,
                                                                const cb_ball *x, const cb_ball *y) {
  if (x->always || y->always) return true;
  if (kind == CB_BROAD_BOX) return cb_broad_boxes_meet(b, x, y);
  const double sum = x->reach + y->reach;
  const double flat = pure ? 0 : cb_broad_square(x->x, y->x, b->m, b->m + b->flat);
  const double e = pure ? cb_broad_square_all(x->x, y->x) : cb_broad_square(x->x, y->x, 0, b->m);
  if (kind == CB_BROAD_FLAT) return e <= sum * sum * CB_BROAD_SLACK;
  if (!pure && !(flat <= sum * sum * CB_BROAD_SLACK)) return false;
  const double most = x->s * y->c + x->c * y->s;
  if (kind == CB_BROAD_SPHERE) {
    if (sum < 3.14159265358979323846 && !(e <= 4 * most * most * CB_BROAD_SLACK)) return false;
    return pure || cb_broad_within(2 * asin(fmin(1, 0.5 * sqrt(e))), flat, sum);
  }
  const double limit = most * most * CB_BROAD_SLACK, gg = 0.25 * x->g * y->g;
  const double radial = (x->grow - y->grow) * (x->grow - y->grow) / (4 * x->grow * y->grow);
  /* (t - e)^2 >= t^2/2 - e^2: most pairs need no root */
  if (!(radial + gg * (0.5 * e - CB_BROAD_DIRECTION * CB_BROAD_DIRECTION) <= limit)) return false;
  const double across = sqrt(e) - CB_BROAD_DIRECTION, t = across > 0 ? across : 0, half = radial + gg * t * t;
  return half <= limit && (pure || cb_broad_within(2 * asinh(sqrt(half)), flat, sum));
}
