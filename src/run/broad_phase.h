/* Finds the balls of a space that may touch each other. With a grid over the space the time is proportional to the
 * number of balls plus the number of near pairs. No near pair is missed.
 *
 * A ball i is a point x_i with a reach rho_i; two balls are near if d(x_i, x_j) <= rho_i + rho_j, where d is the
 * distance in the space. The result may contain further pairs. The cells of the grid depend on the space:
 *   E^n       cells of the coordinates
 *   S^n       cells of the embedding; points are compared by chords, which are not longer than arcs
 *   H^n       layers of the distance from the base point, divided by direction
 *   products  cells of the factors
 *   a space that is given by a metric: boxes of coordinates
 * The result is sorted, and depends neither on the number of threads nor on the size of the cells. Source: Ericson,
 * Real-Time Collision Detection (2005), chapter 7.
 */
#pragma once

#include <curvebody/space.h>

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cb_broad cb_broad;
typedef struct cb_near_pair {
  int i, j; /* i < j */
} cb_near_pair;

/* Creates a broad phase for a space, which is borrowed. all_pairs: every pair is compared, without a grid; the result
 * is the same, and tests compare it with the result of the grid. Returns CB_ERROR_ARGUMENT if the space has less than 1
 * or more than CB_DIM_MAX dimensions. */
cb_status cb_broad_create(const cb_space *g, bool all_pairs, cb_broad **out);
void cb_broad_free(cb_broad *b);
/* Stores n balls: their centres x[n*k] (world coordinates in the embedding, or chart coordinates in a chart space; k =
 * g->k) and reach[n]. A ball whose centre is not finite is not near any ball. Memory is allocated only when n or the
 * number of pairs grows. Returns CB_ERROR_ARGUMENT if n < 0, or if a reach is negative or nan. */
cb_status cb_broad_set(cb_broad *b, int n, const double *x, const double *reach);
/* Finds all near pairs of the stored balls, sorted by i, then j. The list is borrowed until the next call. */
cb_status cb_broad_pairs(cb_broad *b, const cb_near_pair **pair, size_t *count);
/* Finds all stored balls that may be near the ball with centre x[k] and this reach, if each stored ball has moved by at
 * most `moved` since cb_broad_set. The list has their indices in ascending order and is borrowed until the next call.
 * Returns CB_ERROR_ARGUMENT if `reach` or `moved` is negative or nan. */
cb_status cb_broad_around(cb_broad *b, const double *x, double reach, double moved, const int **ball, int *count);

/* Returns whether two balls with centres x[k] and y[k] and these reaches are certainly not near each other. The balls
 * need not be stored. */
bool cb_broad_apart(const cb_broad *b, const double *x, double reach_x, const double *y, double reach_y);

/* --- the files of the broad phase ---
 *
 * The data of the broad phase: the balls as they are stored, the cells of the grid, and the test whether two balls are
 * near.
 *
 * Lengths are in units of the radius of curvature R if the space has one. The test are_near of broad_phase.c depends
 * only on two balls and is exactly symmetric in floating point; the grid only chooses the pairs that are tested. Balls
 * at x and y are near if
 *
 *   E^n    |x - y| <= D,   D = rho_x + rho_y
 *   S^n    |x - y| <= 2 sin(D/2)
 *   H^n    sinh^2((a - b)/2) + sinh a sinh b |m - n|^2/4 <= sinh^2(D/2),   x = (sinh a m, cosh a), y likewise
 *   products  the distances in the factors, d1^2 + d2^2 <= D^2
 *   charts    the boxes of coordinates that contain the balls intersect
 *
 * rho_x and rho_y are the reaches of the balls. In H^n, a and b are the distances of x and y from the base point, and m
 * and n their unit directions; d1 and d2 are the distances in the factors. In H^n the coordinates of a point have a
 * relative error e (CB_BROAD_DIRECTION), which is an error e sinh a perpendicular to the radius. The test therefore
 * lowers |m - n| by e. For balls that are far out in the same direction, only the difference of their distances a and b
 * decides.
 */

typedef enum cb_broad_kind { CB_BROAD_FLAT, CB_BROAD_SPHERE, CB_BROAD_HYPERBOLIC, CB_BROAD_BOX } cb_broad_kind;

/* The reaches of the balls of one level differ by at most a factor 4. The first level has the largest reaches; the last
 * level also has all reaches that are too small for the others. Balls that cannot be in a grid have no level and are
 * compared with all others. */
enum { CB_BROAD_LEVELS = 16, CB_BROAD_NO_LEVEL = -1, CB_BROAD_WINDOWS = 8, CB_BROAD_THREADS = 64 };

/* DIRECTION: the relative error e of a direction in H^n; SLACK: the factor by which the test enlarges its limit,
 * because of round-off. */
static const double CB_BROAD_DIRECTION = 1e-14, CB_BROAD_SLACK = 1 + 1e-14;

typedef struct cb_ball {
  double
      x[4]; /* S^n: the point; H^n: its direction; then the flat coordinates, then 0. Charts: the centre of the box */
  union {
    struct {
      double reach, s, c; /* s, c: sine and cosine (in H^n the hyperbolic ones) of reach/2 */
      double a, grow, g;  /* H^n: a is the distance of the point from the base point, grow = e^a, g = sinh a */
    };
    double half[3]; /* charts: half the edges of the box */
  };
  uint64_t key; /* hash of the block of cells that contains the ball */
  int index;    /* index of the ball in the arrays of the caller; -1: the point is not finite */
  int level, cell;
  bool always; /* the ball counts as near every ball */
} cb_ball;

typedef struct cb_broad_level {
  int count;
  double reach, s, c, half[3]; /* reach, s and c (cb_ball) of the ball with the largest reach; half: the largest half
                                * edges of the boxes */
  double per;                  /* number of cells per unit length; H^n: per unit length perpendicular to the radius */
  double thickness;            /* H^n: the thickness of a layer: its range of the distance a from the base point */
  double cells[3];             /* cells per unit length, of flat coordinates or of boxes */
  int64_t layers[2];           /* H^n: the first and last layer that contains a ball */
} cb_broad_level;

typedef struct cb_broad_buffer {
  cb_near_pair *pair;
  size_t count, capacity;
} cb_broad_buffer;

struct cb_broad {
  const cb_space *g;
  bool all_pairs;
  cb_broad_kind kind;
  bool pure;                         /* there is only one factor: all of x is compared at once */
  int m, curved_offset;              /* curved factor: m: number of compared coordinates (H^n: all except the last);
                                      * curved_offset: index of the first one in the embedding */
  int flat, flat_offset[CB_DIM_MAX]; /* the flat coordinates, and their offsets in the embedding */
  double unit;                       /* the factor of lengths: 1/R, or 1 without a curved factor */
  double period[CB_DIM_MAX], scale[CB_DIM_MAX];
  int dims, bits[3]; /* the number of dimensions of a cell; a block is 2^bits[a] cells wide along axis a */

  int n, slots, in_grid; /* number of balls; of finite balls; of balls with a level */
  cb_ball *given, *slot; /* the balls sorted by index; and sorted by cell, where balls without a level come last */
  int *start;            /* the first slot of each cell, and one more entry */
  int block_bits;
  cb_broad_level level[CB_BROAD_LEVELS];
  int capacity;
  size_t start_capacity;

  cb_broad_buffer found[CB_BROAD_THREADS], sorted, half_sorted;
  size_t *by_i, *by_j; /* [n + 1]: counts of pairs for the counting sort */
  bool pairs_known;
  int *around; /* the list that cb_broad_around returns, and scratch */
};

/* The cells lo..hi of a grid. The tag is made from a level and a face (broad_phase_cells.c); only the balls with this
 * tag are in the window. */
typedef struct cb_broad_window {
  uint64_t tag;
  int64_t lo[3], hi[3];
} cb_broad_window;

/* Makes a ball from a point; ball->index = -1 if the point is not finite. */
void cb_broad_ball(const cb_broad *b, const double *x, double reach, cb_ball *ball);
/* Finds the levels, the sizes of their cells, and the level of each ball. */
void cb_broad_levels(cb_broad *b);
/* Finds the cell of a ball in its level, as a window with lo = hi. */
void cb_broad_home(const cb_broad *b, const cb_ball *ball, cb_broad_window *home);
/* cb_broad_layers finds the layers *lo to *hi of a level in which balls near this ball may lie. Outside H^n there is
 * only the layer 0. cb_broad_windows finds the windows of cells in one layer, and returns their number. */
void cb_broad_layers(const cb_broad *b, const cb_ball *ball, int level, int64_t *lo, int64_t *hi);
int cb_broad_windows(const cb_broad *b, const cb_ball *ball, int level, int64_t layer,
                     cb_broad_window out[CB_BROAD_WINDOWS]);
