/* The fluid that a surface displaces, as an integral over its faces.
 *
 *   closed   mass = sum_f <a, up> mean(p_1),  moment across up = sum_f <a, up> mean(p_1 x),
 *            along up = sum_f <a, up> mean(p_2) + Q_0 volume,  volume = sum_f <a, up> mean(h)
 *   sheet    the same with p_0, p_0 x, p_1 and 1 in the means, and the weight |a| thickness
 *
 * a is the area vector of a face f, and mean() the mean over it. p_j are the repeated integrals of the density rho
 * along up (fluid/medium_surfaces.h). Places x and heights h are measured from a point o: a corner, or for smooth
 * densities the mean of all corners. Q_0 is the integral of rho from height 0 of the world to o. Sums are made over
 * pieces of the surface, whose number does not depend on the number of threads. The first part evaluates smooth
 * densities.
 */
#include "fluid/medium_surfaces.h"

#include "core/threads.h"

#include <math.h>
#include <string.h>

/* --- smooth densities ---
 *
 * A medium with a smooth density rho: the density and its gradient, and quadratures over faces and along up.
 *
 *   face    seven points x_q of degree 5 (Radon 1948, doi:10.1007/BF01525334), with weights w_q and barycentric
 *           coordinates lambda_qc: the mean has an error O(size^6); its derivative in corner c is that of the
 *           sum over q, which is sum_q w_q lambda_qc grad rho(x_q)
 *   p_j     (fluid/medium_surfaces.h) over faces by the same points. If the density depends only on the height, the
 *           integrals are those of medium.c. Otherwise they are taken along a line down or up to the height of o: for a
 *           point at the height h above o, p_1 = int rho ds and p_2 = int (h - s) rho ds over heights s from 0 to h, by
 *           panels of four Gauss points with an error O(panel^8). The number of panels is the same for every point, so
 *           that the panels move with the surface and the sums are smooth functions of its pose.
 *   column  int_0^h rho dh along up through a point at the height h, by halving 16 panels until the sum over the halves
 *           of a panel agrees with that over the panel, to 1e-12 of the integral; a feature narrower than 1/64 of the
 *           column may be missed
 *
 * The density should be smooth over a face. A density that jumps should be given as layers.
 */

double cb_smooth_at(const cb_medium *m, const double x[3], double gradient[3]) {
  if (m->class_->at) return m->class_->at(m->data, x, gradient);
  cb_jet place[3];
  for (int i = 0; i < 3; i++) place[i] = cb_jet_variable(3, i, x[i]);
  const cb_jet rho = m->class_->density(m->data, place);
  for (int i = 0; gradient && i < 3; i++) gradient[i] = rho.g[i];
  return rho.v;
}

static bool smooth_values(const cb_medium *m, int n, const double *const x[3], int k, double *density, double *slope) {
  if (m->class_->values) return m->class_->values(m->data, n, x, k, density, slope);
  double sum = 0, g[3];
  for (int p = 0; p < n; p++) {
    density[p] = cb_smooth_at(m, (const double[3]){x[0][p], x[1][p], x[2][p]}, slope ? g : NULL);
    if (slope) slope[p] = g[k];
    sum += density[p] + (slope ? slope[p] : 0);
  }
  return isfinite(sum);
}

cb_status cb_smooth_value(const cb_medium *m, const double x[3], double *density) {
  const double rho = cb_smooth_at(m, x, NULL);
  if (!(rho >= 0) || !isfinite(rho))
    return cb_fail(CB_STEP_NOT_FINITE, "density at (%g, %g, %g) is %g: expected a number >= 0", x[0], x[1], x[2], rho);
  *density = rho;
  return CB_OK;
}

cb_status cb_smooth_gradient(const cb_medium *m, const double x[3], double *density, double gradient[3]) {
  *density = cb_smooth_at(m, x, gradient);
  if (!(*density >= 0) || !isfinite(*density)) return cb_smooth_value(m, x, density); /* this call reports the error */
  if (!isfinite(gradient[0] + gradient[1] + gradient[2]))
    return cb_fail(CB_STEP_NOT_FINITE,
                   "gradient of the density at (%g, %g, %g) is (%g, %g, %g): expected finite numbers", x[0], x[1], x[2],
                   gradient[0], gradient[1], gradient[2]);
  return CB_OK;
}

/* Radon's rule: lambda = (1, 1, 1)/3 with the weight 9/40, and the permutations of (1 - 2 b, b, b) for
 * b = (6 ∓ sqrt 15)/21 with the weights (155 ∓ sqrt 15)/1200. */
enum { POINTS = 7 };
static const struct {
  double weight, lambda[3];
} radon[POINTS] = {
#define B1 0.10128650732345633
#define B2 0.47014206410511509
#define W1 0.12593918054482715
#define W2 0.13239415278850618
    {0.225, {1. / 3, 1. / 3, 1. / 3}}, {W1, {1 - 2 * B1, B1, B1}}, {W1, {B1, 1 - 2 * B1, B1}},
    {W1, {B1, B1, 1 - 2 * B1}},        {W2, {1 - 2 * B2, B2, B2}}, {W2, {B2, 1 - 2 * B2, B2}},
    {W2, {B2, B2, 1 - 2 * B2}},
};

/* Nodes and weights of the rule of Gauss and Legendre on [0, 1]. */
enum { GAUSS = 4 };
static const double node[GAUSS] = {0.069431844202973712, 0.33000947820757187, 0.66999052179242813, 0.93056815579702629},
                    share[GAUSS] = {0.17392742256872693, 0.32607257743127307, 0.32607257743127307, 0.17392742256872693};

static void place(const double x[3][3], const double lambda[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = lambda[0] * x[0][i] + lambda[1] * x[1][i] + lambda[2] * x[2][i];
}

static cb_status face(const cb_medium *m, const double x[3][3], double *density, double slope[3][3]) {
  double sum = 0, d[3][3] = {{0}};
  for (int q = 0; q < POINTS; q++) {
    double at[3], rho = 0, g[3];
    place(x, radon[q].lambda, at);
    const cb_status status = slope ? cb_smooth_gradient(m, at, &rho, g) : cb_smooth_value(m, at, &rho);
    if (status) return status;
    sum += radon[q].weight * rho;
    if (slope) cb_add_outer3(d, radon[q].weight, radon[q].lambda, g);
  }
  *density = sum;
  for (int c = 0; slope && c < 3; c++)
    for (int i = 0; i < 3; i++) slope[c][i] = d[c][i];
  return CB_OK;
}

/* Finds the points of Radon's rule on n faces, measured from o. Coordinate i of point q of face f is out[i][q * n + f].
 */
static void places(int n, const double (*x)[3][3], const double o[3], double out[3][POINTS * CB_MEDIUM_BLOCK]) {
  for (int f = 0; f < n; f++)
    for (int i = 0; i < 3; i++) {
      const double a = x[f][0][i] - o[i], b = x[f][1][i] - o[i], c = x[f][2][i] - o[i];
      for (int q = 0; q < POINTS; q++)
        out[i][q * n + f] = radon[q].lambda[0] * a + radon[q].lambda[1] * b + radon[q].lambda[2] * c;
    }
}

/* Finds the densities rho[n] at n places x. Returns whether all values are finite and >= 0. */
static bool densities(const cb_medium *m, int n, const double *const x[3], double *rho) {
  bool good = smooth_values(m, n, x, 0, rho, NULL);
  for (int p = 0; p < n; p++) good &= rho[p] >= 0;
  return good;
}

static bool block(const cb_medium *m, int n, const double (*x)[3][3], double *density, double (*slope)[3][3]) {
  static const double origin[3];
  double at[3][POINTS * CB_MEDIUM_BLOCK], rho[POINTS * CB_MEDIUM_BLOCK], g[POINTS * CB_MEDIUM_BLOCK];
  const double *const coordinate[3] = {at[0], at[1], at[2]};
  bool good = true;
  places(n, x, origin, at);
  if (slope)
    memset(slope, 0, (size_t)n * sizeof *slope);
  else
    good = smooth_values(m, POINTS * n, coordinate, 0, rho, NULL);
  for (int i = 0; slope && i < 3; i++) {
    if (!m->facts.uses[i]) continue;
    good &= smooth_values(m, POINTS * n, coordinate, i, rho, g);
    for (int f = 0; f < n; f++) { /* slope: the derivative of the mean by corner c, sum_q w_q lambda_qc g_q */
      const double middle = radon[0].weight / 3 * g[f], *g1 = g + n + f, *g2 = g + 4 * n + f;
      const double all = middle + W1 * B1 * (g1[0] + g1[n] + g1[2 * n]) + W2 * B2 * (g2[0] + g2[n] + g2[2 * n]);
      for (int c = 0; c < 3; c++)
        slope[f][c][i] = all + (W1 * (1 - 3 * B1) * g1[c * n] + W2 * (1 - 3 * B2) * g2[c * n]);
    }
  }
  for (int p = 0; p < POINTS * n; p++) good &= rho[p] >= 0;
  for (int f = 0; good && f < n; f++) {
    double sum = 0;
    for (int q = 0; q < POINTS; q++) sum += radon[q].weight * rho[q * n + f];
    density[f] = sum;
  }
  return good;
}

cb_status cb_smooth_faces(const cb_medium *m, int n, const double (*x)[3][3], double *density, double (*slope)[3][3],
                          int *at) {
  if (block(m, n, x, density, slope)) return CB_OK;
  for (*at = 0; *at < n; ++*at) { /* this loop finds and reports the reason of the failure */
    const cb_status status = face(m, x[*at], &density[*at], slope ? slope[*at] : NULL);
    if (status) return status;
  }
  return CB_OK;
}

/* Finds *one = int rho ds and *two = int (h - s) rho ds over heights s from h - d to h, along up. The point x is at the
 * height h. Returns CB_STEP_NOT_FINITE for a density that is not finite or < 0. */
static cb_status line(const cb_medium *m, const double x[3], double d, int panels, double *one, double *two) {
  double first = 0, second = 0, at[3][GAUSS * CB_MEDIUM_PANELS], rho[GAUSS * CB_MEDIUM_PANELS],
         down[GAUSS * CB_MEDIUM_PANELS];
  const int n = GAUSS * panels;
  for (int k = 0; k < n; k++) {
    down[k] = d * (k / GAUSS + node[k % GAUSS]) / panels;
    for (int i = 0; i < 3; i++) at[i][k] = x[i] - down[k] * m->up[i];
  }
  if (!densities(m, n, (const double *const[3]){at[0], at[1], at[2]}, rho))
    for (int k = 0; k < n; k++) { /* this loop finds and reports the reason of the failure */
      const cb_status status = cb_smooth_value(m, (const double[3]){at[0][k], at[1][k], at[2][k]}, &rho[k]);
      if (status) return status;
    }
  for (int k = 0; k < n; k++) {
    const double w = d * share[k % GAUSS] / panels * rho[k];
    first += w;
    second += w * down[k];
  }
  *one = first;
  *two = second;
  return CB_OK;
}

static cb_status smooth_means(const cb_medium_origin *from, int n, const double (*x)[3][3], int j, cb_medium_means *out,
                              int *at) {
  double y[3][POINTS * CB_MEDIUM_BLOCK];
  places(n, x, from->o, y);
  for (*at = 0; *at < n; ++*at) {
    cb_medium_means mean = {0};
    for (int q = 0; q < POINTS; q++) {
      const int k = q * n + *at;
      const double own[3] = {y[0][k], y[1][k], y[2][k]}, h = cb_dot3(own, from->m->up), w = radon[q].weight;
      double p[3] = {0};
      if (from->profile) {
        cb_profile_at(from->profile, h, p);
      } else {
        const double there[3] = {from->o[0] + own[0], from->o[1] + own[1], from->o[2] + own[2]};
        cb_status status = j ? CB_OK : cb_smooth_value(from->m, there, &p[0]);
        if (!status) status = line(from->m, there, h, from->panels, &p[1], &p[2]);
        if (status) return status;
      }
      mean.p += w * p[j];
      for (int i = 0; i < 3; i++) mean.px[i] += w * p[j] * own[i];
      mean.next += w * p[j + 1];
    }
    out[*at] = mean;
  }
  return CB_OK;
}

/* Returns int rho ds over heights s from h - d to h along up. The point x is at the height h. */
static double panel(const cb_medium *m, const double x[3], double d) {
  double sum = 0;
  for (int q = 0; q < GAUSS; q++) {
    double at[3];
    for (int i = 0; i < 3; i++) at[i] = x[i] - d * node[q] * m->up[i];
    sum += d * share[q] * cb_smooth_at(m, at, NULL);
  }
  return sum;
}

/* Returns the integral of rho over a panel of length d below x. The panel is halved until the sum over its halves
 * agrees with `whole`, the integral over the complete panel by one Gauss rule. *left is the number of halvings that are
 * still allowed; it bounds the work if an expression jumps. */
static double halve(const cb_medium *m, const double x[3], double d, double whole, double tolerance, int *left) {
  double middle[3];
  for (int i = 0; i < 3; i++) middle[i] = x[i] - d / 2 * m->up[i];
  const double above = panel(m, x, d / 2), below = panel(m, middle, d / 2);
  if (!(fabs(above + below - whole) > tolerance) || --*left <= 0) return above + below;
  return halve(m, x, d / 2, above, tolerance / 2, left) + halve(m, middle, d / 2, below, tolerance / 2, left);
}

enum { COLUMN_PANELS = 16, MAX_HALVINGS = 4000 };

static cb_status smooth_column(const cb_medium *m, const double x[3], double *column) {
  const double h = cb_dot3(x, m->up), d = h / COLUMN_PANELS;
  double top[COLUMN_PANELS][3], whole[COLUMN_PANELS], size = 0, sum = 0;
  for (int p = 0; p < COLUMN_PANELS; p++) {
    for (int i = 0; i < 3; i++) top[p][i] = x[i] - p * d * m->up[i];
    whole[p] = panel(m, top[p], d);
    size += fabs(whole[p]);
  }
  int left = MAX_HALVINGS;
  for (int p = 0; p < COLUMN_PANELS; p++) sum += halve(m, top[p], d, whole[p], 1e-12 * size, &left);
  if (!isfinite(sum) || left <= 0)
    return cb_fail(CB_STEP_NOT_FINITE, "the integral of the density from (%g, %g, %g) along `up` to height 0 %s", x[0],
                   x[1], x[2], isfinite(sum) ? "does not converge" : "is not finite");
  *column = sum;
  return CB_OK;
}

/* --- the displaced fluid --- */

enum { PIECES = 64 };

/* The sums of a piece: a first pass computes the sum of its corners and the range of its heights, and a second pass the
 * sums of the file head. */
typedef struct piece {
  double corners[3], low, high;
  double mass, first[3], along, volume;
} piece;

typedef struct task {
  cb_medium_origin from;
  int n, pieces;
  const double (*corner)[3][3];
  const double *thickness;
  piece piece[PIECES];
  atomic_int failed;
} task;

static int first_face(const task *t, int i) { return (int)((long long)t->n * i / t->pieces); }

static void measure_pieces(void *context, int begin, int end) {
  task *t = context;
  for (int i = begin; i < end; i++) {
    piece sum = {.low = INFINITY, .high = -INFINITY};
    for (int f = first_face(t, i); f < first_face(t, i + 1); f++)
      for (int k = 0; k < 3; k++) {
        const double *x = t->corner[f][k], h = cb_dot3(x, t->from.m->up);
        for (int s = 0; s < 3; s++) sum.corners[s] += x[s];
        sum.low = h < sum.low ? h : sum.low;
        sum.high = h > sum.high ? h : sum.high;
      }
    t->piece[i] = sum;
  }
}

static inline __attribute__((always_inline)) void add_face(const task *t, int f, const cb_medium_means *mean,
                                                           piece *sum) {
  const double *up = t->from.m->up, (*x)[3] = t->corner[f];
  double e1[3], e2[3], a[3], h = 0;
  for (int i = 0; i < 3; i++) {
    e1[i] = x[1][i] - x[0][i];
    e2[i] = x[2][i] - x[0][i];
    h += (x[0][i] - t->from.o[i] + (e1[i] + e2[i]) / 3) * up[i];
  }
  cb_cross3(e1, e2, a);
  const double weight = t->thickness ? sqrt(cb_dot3(a, a)) / 2 * t->thickness[f] : cb_dot3(a, up) / 2;
  sum->mass += weight * mean->p;
  for (int i = 0; i < 3; i++) sum->first[i] += weight * mean->px[i];
  sum->along += weight * mean->next;
  sum->volume += weight * (t->thickness ? 1 : h);
}

/* Adds the parts of n faces, from face f on, to the sums of a piece. If the density is invalid at a face, *at becomes
 * the index of this face. */
static inline __attribute__((always_inline)) cb_status add_block(const task *t, int f, int n, piece *sum, int *at) {
  const cb_medium_origin *from = &t->from;
  const int j = !t->thickness;
  cb_medium_means mean[CB_MEDIUM_BLOCK];
  if (from->m->smooth) {
    const cb_status status = smooth_means(from, n, t->corner + f, j, mean, at);
    if (status) return status;
  } else {
    for (int i = 0; i < n; i++) {
      double y[3][3];
      for (int k = 0; k < 9; k++) y[k / 3][k % 3] = t->corner[f + i][k / 3][k % 3] - from->o[k % 3];
      cb_layers_means(from, y, j, &mean[i]);
    }
  }
  for (int i = 0; i < n; i++) add_face(t, f + i, &mean[i], sum);
  return CB_OK;
}

static void add_pieces(void *context, int begin, int end) {
  task *t = context;
  for (int i = begin; i < end; i++) {
    piece sum = {0};
    const int last = first_face(t, i + 1);
    for (int f = first_face(t, i), at = 0; f < last; f += CB_MEDIUM_BLOCK)
      if (add_block(t, f, last - f < CB_MEDIUM_BLOCK ? last - f : CB_MEDIUM_BLOCK, &sum, &at)) {
        cb_threads_least(&t->failed, f + at);
        break;
      }
    t->piece[i] = sum;
  }
}

/* Finds the mean o of the corners, and how the density is integrated from there. For n faces let e = sqrt(n)/6, rounded
 * up. The number e is about half the height of a closed surface divided by the length of an edge. Along a line, e/2
 * panels are used (at most CB_MEDIUM_PANELS). If the density depends only on the height, a profile of 4 e cells (at
 * most CB_PROFILE_CELLS) over the full height is used. */
static cb_status begin_smooth(task *t, int threads, cb_medium_profile *profile) {
  cb_medium_origin *from = &t->from;
  cb_threads_range(threads, t->pieces, measure_pieces, t);
  const double edges = ceil(sqrt(t->n) / 6);
  double low = INFINITY, high = -INFINITY;
  memset(from->o, 0, sizeof from->o);
  for (int i = 0; i < t->pieces; i++) {
    for (int s = 0; s < 3; s++) from->o[s] += t->piece[i].corners[s];
    low = fmin(low, t->piece[i].low);
    high = fmax(high, t->piece[i].high);
  }
  for (int s = 0; s < 3; s++) from->o[s] /= 3. * t->n;
  from->panels = (int)fmin(ceil(edges / 2), CB_MEDIUM_PANELS);
  if (!from->m->profile) return CB_OK;
  const double middle = cb_dot3(from->o, from->m->up);
  from->profile = profile;
  return cb_profile_make(from->m, from->o, low - middle, high - middle, (int)fmin(4 * edges, CB_PROFILE_CELLS),
                         profile);
}

static cb_status finish(const task *t, const piece *sum, double *mass, double moment[3], double *along) {
  const double *o = t->from.o, *up = t->from.m->up;
  double column = 0, first[3];
  if (along && t->from.m->smooth) {
    const cb_status status = smooth_column(t->from.m, o, &column);
    if (status) return status;
  } else if (along) {
    column = cb_layers_column(t->from.m, cb_dot3(o, up));
  }
  if (!isfinite(sum->mass + sum->first[0] + sum->first[1] + sum->first[2] + sum->along))
    return cb_fail(CB_STEP_NOT_FINITE,
                   "the displaced mass of a surface at (%g, %g, %g) is %g: expected a finite number", o[0], o[1], o[2],
                   sum->mass);
  for (int i = 0; i < 3; i++) first[i] = sum->first[i] + sum->mass * o[i];
  const double across = cb_dot3(first, up);
  *mass = sum->mass;
  for (int i = 0; i < 3; i++) moment[i] = first[i] - across * up[i];
  for (int i = 0; along && i < 3; i++) along[i] += (sum->along + column * sum->volume) * up[i];
  return CB_OK;
}

cb_status cb_medium_displaced(const cb_medium *m, int n, const double (*corner)[3][3], const double *thickness,
                              double *mass, double moment[3], double along[3]) {
  if (n == 0) {
    *mass = moment[0] = moment[1] = moment[2] = 0;
    return CB_OK;
  }
  const int threads = cb_threads_for((size_t)n), pieces = n < CB_THREADS_MIN_ELEMENTS ? 1 : PIECES;
  task t = {.from = {.m = m}, .n = n, .pieces = pieces, .corner = corner, .thickness = thickness, .failed = n};
  cb_medium_profile profile;
  memcpy(t.from.o, corner[0][0], sizeof t.from.o);
  const cb_status status = m->smooth ? begin_smooth(&t, threads, &profile) : CB_OK;
  if (status) return status;
  t.from.layer = cb_medium_layer(m, cb_dot3(t.from.o, m->up));
  cb_threads_range(threads, pieces, add_pieces, &t);
  piece sum = {0};
  int at;
  if (t.failed < n) return add_block(&t, t.failed, 1, &sum, &at);
  for (int i = 0; i < pieces; i++) {
    const piece *p = &t.piece[i];
    sum.mass += p->mass;
    for (int s = 0; s < 3; s++) sum.first[s] += p->first[s];
    sum.along += p->along;
    sum.volume += p->volume;
  }
  return finish(&t, &sum, mass, moment, along);
}
