/* The cells of the broad phase: the coordinates by which balls are compared, the level of a ball, and the cells of a
 * grid in which near balls may lie. Symbols are as in broad_phase.h; x_i is coordinate i of a point x, and d
 * the distance of x and y.
 *
 *   E^n    cubes of the coordinates
 *   S^n    a cube around the sphere: the face of the greatest |x_i|, divided into squares of the other coordinates;
 *          |x_i - y_i| <= |x - y| = 2 sin(d/2)
 *   H^n    layers of the distance a of x from the base point; in each of them the sphere of directions has cells whose
 *          size is proportional to 1/sinh a; from  sinh a sinh b |m - n|^2/4 <= sinh^2(D/2)
 *   charts cells of the centres of the boxes, modulo the periods
 *
 * Cell indices are monotone functions of the coordinates, also in floating point, and windows are widened by more than
 * the round-off of their borders, so no cell is missed.
 */
#include "run/broad_phase.h"
#include "geometry/numeric.h"

#include <string.h>

/* Finds a box of coordinates q_i around a point that no curve of at most a given length from this point can leave. s is
 * the length along a curve, and g^ij the inverse metric.
 *
 * |dq_i/ds| <= sqrt(g^ii(q)). A curve that leaves through a side of the box must cross a slab of width w next to that
 * side. Its length in the slab is at least w / (maximum of sqrt(g^ii) over the slab).
 *
 * The box grows in steps, each for a part of the length; in a step each side moves by the width that its slab requires.
 * The maximum is taken over the points of a lattice and enlarged by half of the variation of sqrt(g^ii) among them.
 * There is no box if the metric is singular in it, or if it leaves the domain of the chart.
 */

enum { D = CB_DIM_MAX };

/* Computes sqrt(g^ii) at q for each i. Returns false if q is outside the domain, or if one of the results is not below
 * 1e150. */
static bool speeds(const cb_space *g, const double *q, double *speed) {
  const int n = g->dim;
  double m[D * D];
  if (cb_numeric_metric(g, q, m, NULL, NULL)) return false;
  double inverse[D];
  if (n == 1) {
    inverse[0] = 1 / m[0];
  } else if (n == 2) {
    const double det = m[0] * m[3] - m[1] * m[2];
    inverse[0] = m[3] / det;
    inverse[1] = m[0] / det;
  } else {
    const double c0 = m[4] * m[8] - m[5] * m[7], c1 = m[0] * m[8] - m[2] * m[6], c2 = m[0] * m[4] - m[1] * m[3];
    const double det = m[0] * c0 - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
    inverse[0] = c0 / det;
    inverse[1] = c1 / det;
    inverse[2] = c2 / det;
  }
  for (int i = 0; i < n; i++) {
    speed[i] = sqrt(inverse[i]);
    if (!(speed[i] < 1e150)) return false;
  }
  return true;
}

/* Computes maximum[i], an upper estimate of sqrt(g^ii) in the box. Returns false if there is no bound, or if the values
 * at two points of the lattice have a ratio above `ratio`. */
static bool greatest(const cb_space *g, const double *lo, const double *hi, double ratio, double *maximum) {
  const int n = g->dim;
  double least[D], speed[D];
  int points = 1;
  for (int i = 0; i < n; i++) {
    points *= 3;
    least[i] = INFINITY;
    maximum[i] = 0;
  }
  for (int k = 0; k < points; k++) {
    double q[D] = {0};
    for (int i = 0, rest = k; i < n; i++, rest /= 3) q[i] = lo[i] + 0.5 * (rest % 3) * (hi[i] - lo[i]);
    if (!speeds(g, q, speed)) return false;
    for (int i = 0; i < n; i++) {
      maximum[i] = fmax(maximum[i], speed[i]);
      least[i] = fmin(least[i], speed[i]);
    }
  }
  for (int i = 0; i < n; i++) {
    if (!(maximum[i] <= ratio * least[i])) return false;
    maximum[i] += 0.5 * (maximum[i] - least[i]);
  }
  return true;
}

/* Finds a box with the point q in its centre that no curve from q of the length `reach` can leave. The box is enlarged
 * up to TRIES times. Returns false if no such box is found. */
static bool small_box(const cb_space *g, const double *q, double reach, double *lo, double *hi) {
  enum { TRIES = 8 };
  double half[D], maximum[D];
  if (!speeds(g, q, half)) return false;
  for (int i = 0; i < g->dim; i++) half[i] *= 1.01 * reach;
  for (int k = 0; k < TRIES; k++) {
    bool covered = true;
    for (int i = 0; i < g->dim; i++) {
      lo[i] = q[i] - half[i];
      hi[i] = q[i] + half[i];
    }
    if (!greatest(g, lo, hi, 1.5, maximum)) return false;
    for (int i = 0; i < g->dim; i++) {
      covered &= reach * maximum[i] <= half[i];
      half[i] = fmax(half[i], 1.02 * reach * maximum[i]);
    }
    if (covered) return true;
  }
  return false;
}

/* Enlarges the box lo, hi so that no curve of length ds that starts in it can leave the larger box. Each side is first
 * moved by 1.05 times the width that follows from sqrt(g^ii) on this side. If sqrt(g^ii) in the slab that the side
 * crosses requires more, the side is moved by 1.02 times that width. Returns false if no such box is found. */
static bool grow_box(const cb_space *g, double ds, double *lo, double *hi) {
  enum { TRIES = 12 };
  const int n = g->dim;
  double wide_lo[D], wide_hi[D], maximum[D], step[2 * D];
  for (int side = 0; side < 2 * n; side++) {
    const int a = side / 2;
    memcpy(wide_lo, lo, sizeof wide_lo);
    memcpy(wide_hi, hi, sizeof wide_hi);
    if (side % 2)
      wide_lo[a] = hi[a];
    else
      wide_hi[a] = lo[a];
    if (!greatest(g, wide_lo, wide_hi, INFINITY, maximum)) return false;
    step[side] = 1.05 * ds * maximum[a];
  }
  for (int k = 0; k < TRIES; k++) {
    bool covered = true;
    for (int i = 0; i < n; i++) {
      wide_lo[i] = lo[i] - step[2 * i];
      wide_hi[i] = hi[i] + step[2 * i + 1];
    }
    for (int side = 0; side < 2 * n; side++) {
      const int a = side / 2;
      double slab_lo[D], slab_hi[D];
      memcpy(slab_lo, wide_lo, sizeof slab_lo);
      memcpy(slab_hi, wide_hi, sizeof slab_hi);
      if (side % 2)
        slab_lo[a] = hi[a];
      else
        slab_hi[a] = lo[a];
      if (!greatest(g, slab_lo, slab_hi, 1e3, maximum)) return false;
      covered &= ds * maximum[a] <= step[side];
      step[side] = fmax(step[side], 1.02 * ds * maximum[a]);
    }
    if (covered) {
      memcpy(lo, wide_lo, (size_t)n * sizeof *lo);
      memcpy(hi, wide_hi, (size_t)n * sizeof *hi);
      return true;
    }
  }
  return false;
}

static bool find_box(const cb_space *g, const double *q, double reach, double *lo, double *hi) {
  if (small_box(g, q, reach, lo, hi)) return true;
  for (int steps = 8; steps <= 32; steps *= 4) {
    bool grown = true;
    memcpy(lo, q, (size_t)g->dim * sizeof *lo);
    memcpy(hi, q, (size_t)g->dim * sizeof *hi);
    for (int k = 0; grown && k < steps; k++) grown = grow_box(g, reach / steps, lo, hi);
    if (grown) return true;
  }
  return false;
}

static const double WIDER = 1 + 1e-12, WIDE = 1e-14;
/* A ball of H^n with a reach above this intersects so many layers that it is compared with all balls instead. */
static const double HYPERBOLIC_MAX = 32;
/* The edge of a cell, in units of the largest reach of its level. With larger cells fewer cells are searched, but they
 * contain more balls that are not near. This value is the fastest one in measurements. */
static const double CELL = 4;

static void point_of_quadric(const cb_broad *b, const double *x, double reach, cb_ball *ball) {
  double square = 0;
  const double *curved = x + b->curved_offset;
  for (int a = 0; a < b->m; a++) {
    ball->x[a] = curved[a] * b->unit;
    square += ball->x[a] * ball->x[a];
  }
  for (int a = 0; a < b->flat; a++) ball->x[b->m + a] = x[b->flat_offset[a]] * b->unit;
  ball->reach = reach * b->unit * (1 + 1e-15) + (b->kind == CB_BROAD_FLAT ? 0 : WIDE);
  if (b->kind == CB_BROAD_SPHERE) {
    ball->s = sin(0.5 * ball->reach);
    ball->c = cos(0.5 * ball->reach);
  }
  if (b->kind != CB_BROAD_HYPERBOLIC) return;
  if (!(square < 1e290)) { /* the product of e^a of two balls would overflow */
    ball->always = true;
    return;
  }
  ball->g = sqrt(square);
  ball->grow = ball->g + sqrt(1 + square);
  ball->a = log(ball->grow);
  for (int a = 0; a < b->m; a++) ball->x[a] = ball->g > 0 ? ball->x[a] / ball->g : a == 0;
  const double e = exp(0.5 * ball->reach);
  ball->s = ball->reach < 1e-2 ? sinh(0.5 * ball->reach) : 0.5 * (e - 1 / e);
  ball->c = 0.5 * (e + 1 / e);
}

static void box_of_chart(const cb_broad *b, const double *q, double reach, cb_ball *ball) {
  double lo[CB_DIM_MAX], hi[CB_DIM_MAX];
  if (!find_box(b->g, q, reach, lo, hi)) {
    ball->always = true;
    return;
  }
  for (int a = 0; a < b->flat; a++) {
    const double period = b->period[a], middle = 0.5 * (lo[a] + hi[a]);
    ball->half[a] = 0.5 * (hi[a] - lo[a]) * WIDER + 1e-15 * (fabs(middle) + period);
    ball->x[a] = period > 0 ? fmin(fmax(middle - period * floor(middle / period), 0), period) : middle;
  }
}

void cb_broad_ball(const cb_broad *b, const double *x, double reach, cb_ball *ball) {
  double point[CB_COORD_MAX];
  memset(ball, 0, sizeof *ball);
  ball->index = -1;
  ball->level = CB_BROAD_NO_LEVEL;
  for (int a = 0; a < b->g->k; a++)
    if (!isfinite(x[a])) return;
  ball->index = 0;
  if (!(reach <= 1e150)) {
    ball->always = true;
  } else if (b->kind == CB_BROAD_BOX) {
    box_of_chart(b, x, reach, ball);
  } else if (b->g->chart) {
    ball->always = b->g->chart->to_point(b->g, x, point, NULL) != CB_OK;
    for (int a = 0; a < b->g->embedding; a++) ball->always |= !isfinite(point[a]);
    if (!ball->always) point_of_quadric(b, point, reach, ball);
  } else {
    point_of_quadric(b, x, reach, ball);
  }
}

/* --- levels --- */

static int binary_exponent(double x) { return x > 1e-300 ? ilogb(x) : -1000; }

/* Returns the size of a ball, which determines its level. */
static double measure(const cb_broad *b, const cb_ball *ball) {
  if (b->kind != CB_BROAD_BOX) return ball->reach;
  double maximum = 0;
  for (int a = 0; a < b->flat; a++) maximum = fmax(maximum, ball->half[a] / b->scale[a]);
  return maximum;
}

static bool has_level(const cb_broad *b, const cb_ball *ball) {
  return ball->index >= 0 && !ball->always && (b->kind != CB_BROAD_HYPERBOLIC || ball->reach <= HYPERBOLIC_MAX);
}

/* Returns the distance between the quartiles of coordinate a, from a sample of the balls. If this distance is 0,
 * returns the range of the sample; if the range is 0 as well, returns max(|x_a|, 1). Returns 1 without balls.
 * cb_broad_levels makes no cell smaller than a small fraction of the result. A single ball that is far away hardly
 * changes the distance between quartiles. */
static double spread(const cb_broad *b, int a) {
  enum { SAMPLE = 64 };
  double sample[SAMPLE];
  int count = 0;
  const int stride = b->n / SAMPLE + 1;
  for (int i = 0; i < b->n; i += stride) {
    if (!has_level(b, &b->given[i])) continue;
    const double x = b->given[i].x[a];
    int k = count++;
    for (; k > 0 && sample[k - 1] > x; k--) sample[k] = sample[k - 1];
    sample[k] = x;
  }
  if (count == 0) return 1;
  const double middle = sample[3 * count / 4] - sample[count / 4], all = sample[count - 1] - sample[0];
  return middle > 0 ? middle : all > 0 ? all : fmax(fabs(sample[0]), 1);
}

void cb_broad_levels(cb_broad *b) {
  int top = -1000;
  memset(b->level, 0, sizeof b->level);
  for (int a = 0; a < b->flat; a++) {
    b->scale[a] = 1e-300;
    for (int i = 0; b->kind == CB_BROAD_BOX && i < b->n; i++)
      if (has_level(b, &b->given[i])) b->scale[a] = fmax(b->scale[a], b->given[i].half[a]);
  }
  for (int i = 0; i < b->n; i++)
    if (has_level(b, &b->given[i])) {
      b->given[i].level = binary_exponent(measure(b, &b->given[i]));
      if (b->given[i].level > top) top = b->given[i].level;
    }
  for (int i = 0; i < b->n; i++) {
    cb_ball *ball = &b->given[i];
    if (!has_level(b, ball)) continue;
    const int level = (top - ball->level) / 2;
    ball->level = level < CB_BROAD_LEVELS ? level : CB_BROAD_LEVELS - 1;
    cb_broad_level *l = &b->level[ball->level];
    l->count++;
    if (b->kind == CB_BROAD_BOX)
      for (int a = 0; a < b->flat; a++) l->half[a] = fmax(l->half[a], ball->half[a]);
    else if (ball->reach >= l->reach) {
      l->reach = ball->reach;
      l->s = ball->s;
      l->c = ball->c;
    }
  }
  double least[CB_DIM_MAX] = {0};
  for (int a = 0; a < b->flat; a++) least[a] = 0x1p-30 * spread(b, b->kind == CB_BROAD_BOX ? a : b->m + a);
  for (int k = 0; k < CB_BROAD_LEVELS; k++) {
    cb_broad_level *l = &b->level[k];
    for (int a = 0; a < b->flat; a++)
      l->cells[a] = 1 / fmax(least[a], CELL * (b->kind == CB_BROAD_BOX ? l->half[a] : l->reach));
    l->thickness = fmin(1, fmax(CELL * l->reach, WIDE));
    l->per = 1 / fmax(CELL * (b->kind == CB_BROAD_HYPERBOLIC ? sinh(l->reach) : l->reach), WIDE);
    l->layers[0] = INT64_MAX;
    l->layers[1] = -1;
  }
  for (int i = 0; b->kind == CB_BROAD_HYPERBOLIC && i < b->n; i++) {
    if (b->given[i].level < 0) continue;
    cb_broad_level *l = &b->level[b->given[i].level];
    const int64_t layer = (int64_t)(b->given[i].a / l->thickness);
    if (layer < l->layers[0]) l->layers[0] = layer;
    if (layer > l->layers[1]) l->layers[1] = layer;
  }
}

/* --- cells --- */

/* Returns floor(x per), limited to 2^60 in absolute value. It uses comparisons, which compile to fewer instructions
 * than fmin. */
static inline int64_t cell_of(double x, double per) {
  const double maximum = (double)(INT64_C(1) << 60);
  double q = x * per;
  q = q < maximum ? q : maximum;
  q = q > -maximum ? q : -maximum;
  const int64_t i = (int64_t)q;
  return i - (q < (double)i);
}

/* Returns a lower bound of sinh a, a the distance from the base point, at the inner border of a layer. */
static double inner_sinh(double thickness, int64_t layer) {
  const double a = (double)layer * thickness, inner = a - WIDE * (1 + a);
  if (inner < 1e-2) return inner > 0 ? inner : 0;
  const double e = exp(inner);
  return 0.5 * (e - 1 / e);
}

/* Returns the number of cells per unit of the direction (a unit vector) in a layer of H^n. per: the number of cells per
 * unit length; inner: sinh a at the inner border of the layer. If the result is below 1/2, each face of the cube of
 * directions has only one cell. */
static double lateral_cells(double per, double inner) { return inner * per < 1 / WIDE ? inner * per : 1 / WIDE; }

static cb_broad_window *add_window(const cb_broad_window *from, int *count, cb_broad_window *out) {
  out[*count] = *from;
  return &out[(*count)++];
}

/* Finds the faces of the cube that may contain points at a distance of at most `chord` from the ball's point x. Writes
 * to `out`, for each face, the window of cells of the m - 1 other coordinates, and returns the number of faces. home:
 * finds only the face of x itself and, with chord 0, only its cell. */
static int faces(const cb_broad *b, const cb_ball *ball, double chord, double per, bool home,
                 const cb_broad_window *from, cb_broad_window *out) {
  int count = 0, own = 0;
  for (int a = 1; a < b->m; a++)
    if (fabs(ball->x[a]) > fabs(ball->x[own])) own = a;
  const double maximum = fabs(ball->x[own]);
  for (int axis = 0; axis < b->m; axis++)
    for (int sign = 0; sign < 2; sign++) {
      const double height = sign ? -ball->x[axis] : ball->x[axis];
      if (home ? axis != own || sign != (ball->x[axis] < 0) : !(height >= maximum - 2 * chord - WIDE)) continue;
      cb_broad_window *w = add_window(from, &count, out);
      w->tag = from->tag << 3 | (uint64_t)(2 * axis + sign);
      for (int a = 0, k = 0; a < b->m; a++) {
        if (a == axis) continue;
        w->lo[k] = per < 0.5 ? 0 : cell_of(ball->x[a] - chord, per);
        w->hi[k++] = per < 0.5 ? 0 : cell_of(ball->x[a] + chord, per);
      }
    }
  return count;
}

void cb_broad_home(const cb_broad *b, const cb_ball *ball, cb_broad_window *home) {
  const cb_broad_level *l = &b->level[ball->level];
  cb_broad_window from = {.tag = (uint64_t)ball->level};
  const int first = b->dims - b->flat; /* flat coordinates come last */
  for (int a = 0; a < b->flat; a++) from.lo[first + a] = from.hi[first + a] = cell_of(ball->x[b->m + a], l->cells[a]);
  if (b->kind == CB_BROAD_FLAT || b->kind == CB_BROAD_BOX) {
    *home = from;
    return;
  }
  double per = l->per;
  if (b->kind == CB_BROAD_HYPERBOLIC) {
    const int64_t layer = (int64_t)(ball->a / l->thickness);
    from.lo[b->m - 1] = from.hi[b->m - 1] = layer;
    per = lateral_cells(l->per, inner_sinh(l->thickness, layer));
  }
  faces(b, ball, 0, per, true, &from, home);
}

void cb_broad_layers(const cb_broad *b, const cb_ball *ball, int level, int64_t *lo, int64_t *hi) {
  *lo = *hi = 0;
  if (b->kind != CB_BROAD_HYPERBOLIC) return;
  const cb_broad_level *l = &b->level[level];
  const double a = ball->a, reach = (ball->reach + l->reach) * WIDER + WIDE * (1 + a);
  const double first = fmax((a - reach) / l->thickness, (double)l->layers[0]);
  const double last = fmin((a + reach) / l->thickness, (double)l->layers[1]);
  *lo = (int64_t)first;
  *hi = last < 0 ? -1 : (int64_t)last;
}

static int box_windows(const cb_broad *b, const cb_ball *ball, const cb_broad_level *l, cb_broad_window *out) {
  int count = 1;
  for (int a = 0; a < b->flat; a++) {
    const double x = ball->x[a], per = l->cells[a], period = b->period[a], reach = (ball->half[a] + l->half[a]) * WIDER;
    const double lo = x - reach, hi = x + reach;
    const bool whole = period > 0 && 2 * reach >= period, seam = period > 0 && !whole && (lo < 0 || hi > period);
    for (int k = 0, now = count; k < now; k++) {
      if (seam) {
        cb_broad_window *w = add_window(&out[k], &count, out);
        w->lo[a] = cell_of(lo < 0 ? lo + period * (1 - 1e-14) : 0, per);
        w->hi[a] = cell_of(lo < 0 ? period : hi - period * (1 - 1e-14), per);
      }
      out[k].lo[a] = cell_of(period > 0 ? whole ? 0 : fmax(lo, 0) : lo, per);
      out[k].hi[a] = cell_of(period > 0 ? whole ? period : fmin(hi, period) : hi, per);
      if (seam && out[count - 1].lo[a] <= out[k].hi[a] && out[k].lo[a] <= out[count - 1].hi[a]) {
        out[k].lo[a] = 0; /* the two windows share a cell: use one window of all cells */
        out[k].hi[a] = cell_of(period, per);
        count--;
      }
    }
  }
  return count;
}

int cb_broad_windows(const cb_broad *b, const cb_ball *ball, int level, int64_t layer,
                     cb_broad_window out[CB_BROAD_WINDOWS]) {
  const cb_broad_level *l = &b->level[level];
  cb_broad_window from = {.tag = (uint64_t)level};
  if (b->kind == CB_BROAD_BOX) {
    out[0] = from;
    return box_windows(b, ball, l, out);
  }
  const double sum = ball->reach + l->reach, reach = sum * WIDER;
  const int first = b->dims - b->flat;
  for (int a = 0; a < b->flat; a++) {
    from.lo[first + a] = cell_of(ball->x[b->m + a] - reach, l->cells[a]);
    from.hi[first + a] = cell_of(ball->x[b->m + a] + reach, l->cells[a]);
  }
  if (b->kind == CB_BROAD_FLAT) {
    out[0] = from;
    return 1;
  }
  const double sine = ball->s * l->c + ball->c * l->s;
  if (b->kind == CB_BROAD_SPHERE)
    return faces(b, ball, sum < 3.14 ? 2 * sine * WIDER + WIDE : 2, l->per, false, &from, out);
  const double inner = inner_sinh(l->thickness, layer), across = ball->g * inner;
  const double chord = sine * sine < across ? 2 * sine / sqrt(across) * WIDER + 2 * CB_BROAD_DIRECTION : 2;
  from.lo[b->m - 1] = from.hi[b->m - 1] = layer;
  return faces(b, ball, chord, lateral_cells(l->per, inner), false, &from, out);
}
