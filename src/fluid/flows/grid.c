/* A flow from values on a regular grid, by cubic splines in every direction of place and in time.
 *
 *   u(x, t) = sum over i, j, k, l of c_lijk B(s_t - l) B(s_x - i) B(s_y - j) B(s_z - k),   s_x = (x - origin)/spacing
 *
 * B is the cubic B-spline, and s_x, s_y, s_z, s_t are the coordinates and the time in spacings of the grid. i, j, k and
 * l number the nodes along x, y, z and t. The coefficients c are such that u equals the data at the nodes, as a tensor
 * product of splines in one direction. In one direction with the data u_i, i = 0 .. n - 1,
 *
 *   (c_i-1 + 4 c_i + c_i+1)/6 = u_i,  periodic, or with ends where the third derivative is continuous at the first and
 *   last inner node (`not-a-knot`): c_1 = (8 u_1 - u_0 - u_2)/6. With 3 points u is a parabola, with 2 a line.
 *
 * The flow is continuous with its second derivatives, with an error O(spacing^4); it is exact for cubics (in directions
 * with at least 4 points). Beyond a border that is not periodic, u is that of the nearest point of the grid. At the
 * border u is continuous, but its gradient is not. Sources: C. de Boor, A Practical Guide to Splines (2001), chapter
 * IV; M. Unser, A. Aldroubi & M. Eden, IEEE Trans. Signal Process. 41 (1993) 821, doi:10.1109/78.193220 (periodic: the
 * recursions with the pole sqrt 3 - 2).
 */
#include "fluid/fluid_shared.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { T, X, Y, Z, AXES };

typedef struct axis {
  int n, coefficients;
  bool periodic;
  double origin, spacing;
  size_t stride; /* number of doubles from one coefficient to the next */
} axis;

typedef struct grid {
  axis axis[AXES];
  double *c; /* the coefficients [t][x][y][z][3]; in a direction of more than one point their numbers begin at -1 */
} grid;

/* --- coefficients --- */

/* Finds the coefficients c[-1 .. n] from the data u[n], n >= 4. ratio[n] is a work array. */
static void solve_open(int n, const double *u, double *c, double *ratio) {
  c[1] = (8 * u[1] - u[0] - u[2]) / 6;
  c[n - 2] = (8 * u[n - 2] - u[n - 1] - u[n - 3]) / 6;
  ratio[1] = 0;
  for (int i = 2; i < n - 2; i++) { /* elimination in c_i-1 + 4 c_i + c_i+1 = 6 u_i between the ends */
    ratio[i] = 1 / (4 - ratio[i - 1]);
    c[i] = (6 * u[i] - c[i - 1]) * ratio[i];
  }
  for (int i = n - 3; i > 1; i--) c[i] -= ratio[i] * c[i + 1];
  for (int i = 1; i >= 0; i--) c[i - 1] = 6 * u[i] - 4 * c[i] - c[i + 1];
  for (int i = n - 2; i < n; i++) c[i + 1] = 6 * u[i] - 4 * c[i] - c[i - 1];
}

/* Finds the coefficients c[-1 .. n + 1] from the periodic data u[n]: c_i = 6 z/(z^2 - 1) sum over k of z^|k| u_i+k,
 * with z = sqrt 3 - 2, by one recursion with increasing i and one with decreasing i. up[n] is a work array. */
static void solve_periodic(int n, const double *u, double *c, double *up) {
  const double z = sqrt(3) - 2;
  double power = 1, sum = 0;
  for (int k = 0; k < n; k++, power *= z) sum += power * u[(n - k) % n];
  up[0] = sum / (1 - power);
  for (int i = 1; i < n; i++) up[i] = u[i] + z * up[i - 1];
  power = 1;
  sum = 0;
  for (int k = 0; k < n; k++, power *= z) sum += power * up[(n - 1 + k) % n];
  c[n - 1] = -6 * z * sum / (1 - power);
  for (int i = n - 2; i >= 0; i--) c[i] = z * (c[i + 1] - 6 * up[i]);
  c[-1] = c[n - 1];
  c[n] = c[0];
  c[n + 1] = c[1 % n];
}

/* Replaces the data on one line of the array, which begin at the second entry, by their coefficients. work has
 * 3 (n + 4) numbers for n points. */
static void filter(const axis *a, double *line, double *work) {
  double *u = work, *c = u + a->n + 4, *other = c + a->n + 4;
  for (int i = 0; i < a->n; i++) u[i] = line[(size_t)(i + 1) * a->stride];
  if (a->periodic) {
    solve_periodic(a->n, u, c + 1, other);
  } else {
    int n = a->n;
    if (n == 2) u[n++] = 2 * u[1] - u[0];
    if (n == 3) u[n++] = u[0] - 3 * u[1] + 3 * u[2];
    solve_open(n, u, c + 1, other);
  }
  for (int i = 0; i < a->coefficients; i++) line[(size_t)i * a->stride] = c[i];
}

static void filter_all(grid *g, size_t size, double *work) {
  for (int k = 0; k < AXES; k++) {
    const axis *a = &g->axis[k];
    const size_t block = a->stride * (size_t)a->coefficients;
    for (size_t i = 0; a->n > 1 && i < size; i += block)
      for (size_t j = 0; j < a->stride; j++) filter(a, g->c + i + j, work);
  }
}

/* --- reading --- */

/* The coefficients of one direction that are needed at a place. There are `count` of them, beginning with number
 * `first`. They have the weights w, and d are the derivatives of w. */
typedef struct stencil {
  int first, count;
  double w[4], d[4];
} stencil;

static bool stencil_at(const axis *a, double x, stencil *s) {
  *s = (stencil){.count = 1, .w = {1}};
  if (!isfinite(x)) return false;
  if (a->n == 1) return true;
  const int cells = a->periodic ? a->n : a->n - 1;
  double at = (x - a->origin) / a->spacing;
  if (a->periodic) at -= a->n * floor(at / a->n);
  const bool held = at < 0 || at > cells;
  at = fmin(fmax(at, 0), cells);
  const int i = at < cells ? (int)at : cells - 1;
  const double u = at - i, v = 1 - u, scale = held ? 0 : 1 / a->spacing;
  *s = (stencil){.first = i,
                 .count = 4,
                 .w = {v * v * v / 6, (4 - 3 * u * u * (1 + v)) / 6, (4 - 3 * v * v * (1 + u)) / 6, u * u * u / 6},
                 .d = {-v * v / 2, u * (1.5 * u - 2), v * (2 - 1.5 * v), u * u / 2}};
  for (int k = 0; k < 4; k++) s->d[k] *= scale;
  return true;
}

/* The members are sums of rows of coefficients. A row has four coefficients along z of three components each (ROW
 * numbers), and the sums run over the other axes. In slot VALUE the weight of each of these axes is w. In slot 1 + k
 * the weight of axis k is replaced by its derivative d. */
enum { VALUE, SLOTS = Z + 1, ROW = 12 };
typedef struct sums {
  double of[SLOTS][ROW];
} sums;

/* Adds point i of the stencil s along axis k. Each slot gains s->w[i] times the same slot of `from`, and slot 1 + k
 * gains s->d[i] times slot VALUE of `from`. */
static inline __attribute__((always_inline)) void add(sums *to, const double (*from)[ROW], const stencil *s, int i,
                                                      int k, bool slopes) {
  for (int slot = VALUE; slot < (slopes ? SLOTS : 1); slot++) {
    /* The slots of axes that are summed later than axis k are still 0. Slot 1 + k is treated by the last loop. */
    if (slot > VALUE && slot <= k + 1) continue;
    for (int q = 0; q < ROW; q++) to->of[slot][q] += s->w[i] * from[slot][q];
  }
  for (int q = 0; slopes && q < ROW; q++) to->of[1 + k][q] += s->d[i] * from[VALUE][q];
}

static inline __attribute__((always_inline)) void sum_up(const grid *g, const stencil s[AXES], bool slopes, sums *sum) {
  const size_t *stride = (const size_t[]){g->axis[T].stride, g->axis[X].stride, g->axis[Y].stride};
  const double *c = g->c + (size_t)s[Z].first * g->axis[Z].stride;
  for (int l = 0; l < s[T].count; l++) {
    sums at_t = {0};
    for (int i = 0; i < s[X].count; i++) {
      sums at_x = {0};
      for (int j = 0; j < s[Y].count; j++) {
        const double *row = c + (size_t)(s[T].first + l) * stride[T] + (size_t)(s[X].first + i) * stride[X] +
                            (size_t)(s[Y].first + j) * stride[Y];
        /* For axis Y, `add` reads only slot VALUE, which is `row`. */
        add(&at_x, (const double(*)[ROW])row, &s[Y], j, Y, slopes);
      }
      add(&at_t, (const double(*)[ROW])at_x.of, &s[X], i, X, slopes);
    }
    add(sum, (const double(*)[ROW])at_t.of, &s[T], l, T, slopes);
  }
}

static void at(const void *flow, double t, const double x[3], bool slopes, cb_flow_point *p) {
  const grid *g = flow;
  const double place[AXES] = {t, x[0], x[1], x[2]};
  stencil s[AXES];
  bool inside = true;
  for (int k = 0; k < AXES; k++) inside &= stencil_at(&g->axis[k], place[k], &s[k]);
  sums sum = {0};
  if (inside && slopes)
    sum_up(g, s, true, &sum);
  else if (inside)
    sum_up(g, s, false, &sum);
  *p = (cb_flow_point){0};
  for (int q = 0; q < 3; q++) {
    if (!inside) p->u[q] = NAN;
    for (int k = 0; k < 4; k++) {
      p->u[q] += s[Z].w[k] * sum.of[VALUE][3 * k + q];
      p->rate[q] += s[Z].w[k] * sum.of[1 + T][3 * k + q];
      p->gradient[q][0] += s[Z].w[k] * sum.of[1 + X][3 * k + q];
      p->gradient[q][1] += s[Z].w[k] * sum.of[1 + Y][3 * k + q];
      p->gradient[q][2] += s[Z].d[k] * sum.of[VALUE][3 * k + q];
    }
  }
}

static void release(void *flow) { free(((grid *)flow)->c); }

/* --- making --- */

static cb_status axis_of(const char *name, int n, double origin, double spacing, bool periodic, axis *a) {
  if (n < 1 || n > 1 << 30)
    return cb_fail(CB_ERROR_ARGUMENT, "flow grid: %d points along %s: expected from 1 to 2^30", n, name);
  if (n > 1 && (!isfinite(origin) || !isfinite(spacing) || !(spacing > 0)))
    return cb_fail(CB_ERROR_ARGUMENT,
                   "flow grid: along %s from %g with spacing %g: expected finite numbers, and a spacing > 0", name,
                   origin, spacing);
  *a = (axis){.n = n, .coefficients = n == 1 ? 1 : n + (periodic ? 3 : 2), .periodic = periodic};
  a->origin = origin;
  a->spacing = spacing;
  return CB_OK;
}

/* Copies the data into the middle of the array of coefficients. Node (l, i, j, k) goes to the entry from which `filter`
 * reads it. */
static cb_status copy(grid *g, const double *u) {
  const axis *a = g->axis;
  size_t pad = 0;
  for (int k = 0; k < AXES; k++) pad += a[k].n > 1 ? a[k].stride : 0;
  for (int l = 0; l < a[T].n; l++)
    for (int i = 0; i < a[X].n; i++)
      for (int j = 0; j < a[Y].n; j++) {
        double *row = g->c + pad + (size_t)l * a[T].stride + (size_t)i * a[X].stride + (size_t)j * a[Y].stride;
        for (int k = 0; k < a[Z].n; k++)
          for (int q = 0; q < 3; q++, u++) {
            if (!isfinite(*u))
              return cb_fail(CB_ERROR_DOMAIN,
                             "flow grid: velocity %c is %g at time %d, point (%d, %d, %d), counted from 0: expected a "
                             "finite number",
                             "xyz"[q], *u, l, i, j, k);
            row[3 * k + q] = *u;
          }
      }
  return CB_OK;
}

/* Returns the root mean square of the norm of the gradient, from differences of neighbours along x, y and z. */
static double slope(const cb_flow_grid *g) {
  const size_t stride[3] = {3 * (size_t)g->n[1] * (size_t)g->n[2], 3 * (size_t)g->n[2], 3},
               count = (size_t)g->times * (size_t)g->n[0] * stride[0];
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    const size_t block = (size_t)g->n[k] * stride[k], inner = block - stride[k];
    double squares = 0;
    for (size_t first = 0; first < count; first += block)
      for (size_t i = first; i < first + inner; i++)
        squares += (g->u[i + stride[k]] - g->u[i]) * (g->u[i + stride[k]] - g->u[i]);
    if (inner) sum += 3 * squares / (double)(count / block * inner) / (g->spacing[k] * g->spacing[k]);
  }
  return sqrt(sum);
}

static cb_status from_grid(void *flow, const cb_flow_grid *from, cb_flow_facts *facts) {
  grid *g = flow;
  axis *a = g->axis;
  cb_status status = axis_of("t", from->times, from->start, from->interval, from->periodic[3], &a[T]);
  for (int k = 0; k < 3 && !status; k++)
    status = axis_of((const char *[]){"x", "y", "z"}[k], from->n[k], from->origin[k], from->spacing[k],
                     from->periodic[k], &a[X + k]);
  if (status) return status;
  size_t size = 3;
  bool even = true, too_large = false;
  int maximum = 0;
  for (int k = AXES; k-- > 0;) {
    a[k].stride = size;
    even &= k == T || a[k].n == 1;
    too_large |= __builtin_mul_overflow(size, (size_t)a[k].coefficients, &size) || size > SIZE_MAX / 16;
    maximum = a[k].n > maximum ? a[k].n : maximum;
  }
  *facts = (cb_flow_facts){.even = even, .steady = a[T].n == 1};
  /* If z has one point, a row is shorter than ROW, and the numbers behind it are read with weights 0. */
  g->c = too_large ? NULL : calloc(size + ROW, sizeof *g->c);
  double *work = g->c ? malloc(3 * ((size_t)maximum + 4) * sizeof *work) : NULL;
  if (!work)
    status = cb_fail(CB_ERROR_MEMORY, "no memory for a flow grid of %d x %d x %d points and %d times", a[X].n, a[Y].n,
                     a[Z].n, a[T].n);
  if (!status) status = copy(g, from->u);
  if (!status) facts->slope = slope(from);
  if (!status) filter_all(g, size, work);
  free(work);
  return status;
}

const cb_fluid_flow_class cb_fluid_flow_grid = {
    .name = "grid",
    .title = "Velocities on a grid",
    .doc =
        "The value is the name of an HDF5 file with the dataset velocity[x, y, z, 3] or velocity[time, x, y, z, 3], "
        "which is interpolated by cubic splines",
    .size = sizeof(grid),
    .from_grid = from_grid,
    .release = release,
    .at = at,
};

cb_status cb_flow_from_grid(const cb_flow_grid *values, cb_flow **out) {
  return cb_flow_create_grid(&cb_fluid_flow_grid, values, out);
}
