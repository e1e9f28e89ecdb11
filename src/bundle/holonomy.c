/* Holonomy of a gait and its path in the group by Magnus's method.
 *
 *   g' = g xi, xi = -A(r(t)) r'(t);   length' = sqrt(r'Mr'), cost' = r'Mr' by Gauss's quadrature at the same nodes
 * xi, A, r and M are those of curvebody/bundle.h. A step of length h and order p is compared with its two halves: their
 * difference divided by 2^p - 1 is added to the result of the halves, which raises the order by 2. If the error is too
 * large, each half is halved in the same way. Steps end at breaks of the gait and of the bundle. The kind of gait sets
 * the number of steps of the first integration, so that a symmetry cannot hide an error. Halving ends when the halves
 * differ from the step only by round-off of A and M. If the caller gives a step but no error, the method takes plain
 * steps of that length, without error control.
 *
 * Around a pole of A r' with residue c, h |A r'| stays of the order of c for any step h; at a jump or an integrable
 * singularity it tends to 0. A step across a pole therefore never converges, which is reported as an error. The
 * quadrature may miss a pole, since the two sides of a pole in the middle of a step cancel. A step is therefore also
 * halved if A r' at its nodes is far from the straight line between its values at the first and the last node. A plain
 * step is tested by halving in the same case, and also if it is longer than the first steps that the kind of gait sets.
 * Singular shapes along gaits and between the nodes of a grid are found by this test (declared in bundle_private.h).
 */
#include "bundle/bundle_private.h"

#include "bundle/gait_private.h"
#include <curvebody/lie.h>

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* --- steps, and the search for poles --- */

/* One step of Magnus's method for the path of a group, orders 4 and 6.
 *
 *   g' = -g a(t): g <- g exp(-W), W: Magnus's exponent for Y' = a(t) Y, of which g^-1 is a solution
 *   order 4:  a_1, a_2 at 1/2 -+ sqrt(3)/6:   W = h (a_1 + a_2)/2 - sqrt(3)/12 h^2 [a_1, a_2]
 *   order 6:  a_1, a_2, a_3 at 1/2 - c, 1/2, 1/2 + c, c = sqrt(15)/10;
 *     p = h a_2, q = sqrt(15)/3 h (a_3 - a_1), s = 10/3 h (a_3 - 2 a_2 + a_1);
 *     C = [p, q], D = -[p, 2 s + C]/60, W = p + s/12 + [-20 p - s + C, q + D]/240
 * h: length of the step; a_i: a at Gauss's nodes, as fractions of the step.
 * Source: Blanes, Casas, Oteo & Ros, Physics Reports 470 (2009) 151, doi:10.1016/j.physrep.2008.11.001, section 5.4.
 */

enum { NODES = 3 };

typedef struct magnus {
  int order, nodes;
  double node[NODES], weight[NODES]; /* Gauss's nodes and weights on [0, 1] */
} magnus;

static const double root3 = 1.7320508075688772, root15 = 3.872983346207417;

static const magnus of_order_4 = {4, 2, {.2113248654051871, .7886751345948129}, {.5, .5}};
static const magnus of_order_6 = {6, 3, {.1127016653792583, .5, .8872983346207417}, {5. / 18, 4. / 9, 5. / 18}};

/* Returns NULL for orders other than 4 and 6. */
static const magnus *magnus_of_order(int order) { return order == 4 ? &of_order_4 : order == 6 ? &of_order_6 : NULL; }

static void exponent_4(const cb_group *G, double h, double (*a)[CB_GROUP_DIM], double *out) {
  double C[CB_GROUP_DIM] = {0};
  if (!G->abelian) G->bracket(G, a[0], a[1], C);
  for (int k = 0; k < G->dim; k++) out[k] = root3 / 12 * h * h * C[k] - h / 2 * (a[0][k] + a[1][k]);
}

static void exponent_6(const cb_group *G, double h, double (*a)[CB_GROUP_DIM], double *out) {
  const int dim = G->dim;
  double p[CB_GROUP_DIM] = {0}, q[CB_GROUP_DIM] = {0}, s[CB_GROUP_DIM], C[CB_GROUP_DIM], D[CB_GROUP_DIM];
  double left[CB_GROUP_DIM] = {0}, right[CB_GROUP_DIM] = {0};
  for (int k = 0; k < dim; k++) {
    p[k] = h * a[1][k];
    q[k] = root15 / 3 * h * (a[2][k] - a[0][k]);
    s[k] = 10. / 3 * h * (a[2][k] - 2 * a[1][k] + a[0][k]);
    out[k] = -(p[k] + s[k] / 12);
  }
  if (G->abelian) return;
  G->bracket(G, p, q, C);
  for (int k = 0; k < dim; k++) left[k] = 2 * s[k] + C[k];
  G->bracket(G, p, left, D);
  for (int k = 0; k < dim; k++) {
    left[k] = -20 * p[k] - s[k] + C[k];
    right[k] = q[k] - D[k] / 60;
  }
  G->bracket(G, left, right, D);
  for (int k = 0; k < dim; k++) out[k] -= D[k] / 240;
}

/* Computes out = -W, so that the step is g <- g exp(out), from the length h of the step and a at its nodes. */
static void magnus_exponent(const magnus *m, const cb_group *G, double h, double (*a)[CB_GROUP_DIM], double *out) {
  if (m->order == 4)
    exponent_4(G, h, a, out);
  else
    exponent_6(G, h, a, out);
}

enum { DEPTH_MAX = 40, STEPS_MAX = 200000, PERIODS_MAX = 1000000 };

/* The purpose of an integral, which selects the error message: the holonomy itself, or a test for poles along a gait or
 * along a line between shapes. */
typedef enum purpose { FOR_ITSELF, FOR_POLES_OF_A_GAIT, FOR_POLES_OF_A_LINE } purpose;

typedef struct integral {
  const cb_bundle *b;
  const cb_gait *gait;
  const magnus *method;
  double error;      /* tolerance of the integral over a complete cycle */
  double longest;    /* maximum length of the first steps; 0: the kind of gait sets it */
  bool length, cost; /* true if they are requested */
  int steps;         /* number of steps on the present smooth piece */
  int taken;         /* number of all steps so far */
  bool plain;        /* the integral only tests a plain step for a pole; the error message says so */
  purpose purpose;
  double square; /* the largest r'Mr' so far; the round-off of r'Mr' is in proportion to it */
  double usual;  /* the largest mean of r'Mr' over a step that has not been halved */
} integral;

/* The integral of length' or cost' over a step (all), and the integrand at the nodes (at). */
typedef struct sum {
  double all, at[NODES];
} sum;

typedef struct step {
  double g[CB_GROUP_SIZE];
  double a[NODES][CB_GROUP_DIM]; /* A r' at the nodes */
  sum length, cost;
} step;

/* Errors of length and cost of the two steps that contain this step: [0] the step of twice its length, [1] the step of
 * four times its length. They are infinite if there is no such step. */
typedef struct past {
  double length[2], cost[2];
} past;

/* The round-off of M for a surface with many faces, in units of the largest r'Mr'. */
static const double roundoff = 16384 * DBL_EPSILON;

/* Suppose that the shortest step, of length h, does not converge. If h |A r'| is below this limit, the cause is a jump
 * of A r' and not a pole. */
static const double negligible = 1e-10;
/* The tolerance of the test for a pole in a plain step: if halving the step does not reach it, the step counts as one
 * across a pole. */
static const double looked_at = 1e-6;

static cb_status take(integral *I, double t, double h, step *out) {
  const magnus *m = I->method;
  const cb_group *G = I->b->group;
  double W[CB_GROUP_DIM], square = 0;
  out->length.all = out->cost.all = 0;
  I->taken++;
  for (int k = 0; k < m->nodes; k++) {
    const cb_status status =
        cb_gait_velocity(I->b, I->gait, t + m->node[k] * h, out->a[k], I->length || I->cost ? &square : NULL);
    if (status) return status;
    out->cost.at[k] = square;
    out->length.at[k] = sqrt(fmax(square, 0));
    out->cost.all += m->weight[k] * h * square;
    out->length.all += m->weight[k] * h * out->length.at[k];
    I->square = fmax(I->square, square);
  }
  magnus_exponent(m, G, h, out->a, W);
  G->exp(G, W, out->g);
  return CB_OK;
}

static void join(const integral *I, const step *first, const step *second, step *out) {
  const cb_group *G = I->b->group;
  G->multiply(G, first->g, second->g, out->g);
  out->length.all = first->length.all + second->length.all;
  out->cost.all = first->cost.all + second->cost.all;
}

/* Returns whether the error of the halves is small enough on a step of length h. Let p be the order, and d the
 * difference between the step and its halves. On a smooth piece d is O(h^(p+1)). After the correction d/(2^p - 1) the
 * error is O(h^(p+3)), which is about d^(2/(p+1)) times the correction. The test uses four times this estimate; an
 * error below round-off is also accepted. `scale` is the largest number of the group element. */
static bool path_agrees(const integral *I, double h, double d, double scale) {
  const int p = I->method->order;
  return d / ((1 << p) - 1) * fmin(1, 4 * pow(d / scale, 2. / (p + 1))) <= fmax(I->error * h, DBL_EPSILON * scale);
}

/* One integral over a step (whole) and over its two halves. before: the errors on the two steps that contain this step,
 * as in `past`. after: the same for the halves; after[0] is the error on this step. */
typedef struct halving {
  const sum *whole, *first, *second;
  const double *before;
  double *after;
} halving;

/* Computes *all, an integral over a step, from its integrand at all nodes of the step and of its halves. Also computes
 * the error s->after[0] of this integral. Returns true if the error is small enough.
 *
 * Let d be the difference between the integral over the step and that over its halves. At order 6 the nine nodes give a
 * quadrature of order 10. Half of the difference between this quadrature and the corrected halves is taken as the
 * error. The error is at least d/2^12, because this difference may vanish by chance. Where the gait pauses, the
 * integrand varies strongly between the nodes and the speed has a kink; the error is then 4 d. At order 4 the error is
 * always d. Two halvings reduce the error by 2^14 if the integrand is smooth (2^10 at order 4), by 2^4 at a kink, and
 * by 2^2 if the error is round-off. In the last case halving stops. */
static bool sum_agrees(const integral *I, double h, double scale, const halving *s, double *all) {
  static const double weight[3] = {-.049302549302549302549, 1.3756613756613756614, -.049302549302549302549};
  static const double halved[3] = {.1579912640528468656, .3187052598817304699657, -.6152246624627158637};
  const double halves = s->first->all + s->second->all, d = halves - s->whole->all;
  const double corrected = halves + d / ((1 << I->method->order) - 1);
  const double bound = fmax(I->error * h / 2, fmax(64 * h, 1) * DBL_EPSILON * scale);
  double nine = 0, least = INFINITY, maximum = 0, off = fabs(d);
  *all = corrected;
  for (int k = 0; k < 3 && I->method->order == 6; k++) {
    const double v[3] = {s->whole->at[k], s->first->at[k], s->second->at[k]};
    nine += h * (weight[k] * v[0] + halved[k] * v[1] + halved[2 - k] * v[2]);
    least = fmin(least, fmin(v[0], fmin(v[1], v[2])));
    maximum = fmax(maximum, fmax(v[0], fmax(v[1], v[2])));
  }
  if (I->method->order == 6 && least > .5 * maximum) {
    *all = nine;
    off = fmax(fabs(nine - corrected) / 2, fabs(d) / 4096);
  } else if (I->method->order == 6) {
    off = 4 * fabs(d);
  }
  s->after[0] = off;
  s->after[1] = s->before[0];
  return off <= bound || (off <= roundoff * h * scale && off >= s->before[1] / 16);
}

static double fastest(const integral *I, const step *s) {
  double maximum = 0;
  for (int k = 0; k < I->method->nodes; k++)
    for (int a = 0; a < I->b->group->dim; a++) maximum = fmax(maximum, fabs(s->a[k][a]));
  return maximum;
}

/* Returns whether A r' is far from the straight line between its values at the first and the last node. This happens if
 * a pole is in the step or at its ends. The nodes are those of a step of length h (parts = 1), or of its two halves
 * (parts = 2). If there are only two nodes, returns whether the two values differ much. */
static bool uneven(const integral *I, double h, int parts, const step *part) {
  static const double far_of_two = .5;
  const double far = parts == 1 ? .1 : .3;
  const magnus *m = I->method;
  const int nodes = parts * m->nodes;
  const double *last = part[parts - 1].a[m->nodes - 1];
  const double begin = m->node[0] / parts, width = 1 - 2 * begin;
  double maximum = 0, off = 0;
  for (int k = 0; k < parts; k++) maximum = fmax(maximum, fastest(I, &part[k]));
  if (h * maximum <= negligible) return false;
  for (int k = 1; k < nodes - 1; k++) {
    const double share = ((k / m->nodes + m->node[k % m->nodes]) / parts - begin) / width;
    const double *a = part[k / m->nodes].a[k % m->nodes];
    for (int d = 0; d < I->b->group->dim; d++)
      off = fmax(off, fabs(a[d] - (1 - share) * part[0].a[0][d] - share * last[d]));
  }
  for (int d = 0; nodes == 2 && d < I->b->group->dim; d++)
    off = fmax(off, far / far_of_two * fabs(part[0].a[0][d] - last[d]));
  return off > far * maximum;
}

/* Must be called for the shortest step if it does not converge. Returns whether the contribution of this step to the
 * motion and to the cost is negligible. */
static bool ends_there(const integral *I, double h, const step *both, const step *half) {
  const double way = h * fmax(fastest(I, &half[0]), fastest(I, &half[1]));
  return way <= fmax(I->error, negligible) && (!I->cost || both->cost.all <= fmax(I->error, negligible) * I->usual) &&
         (!I->length || both->length.all <= fmax(I->error, negligible) * sqrt(I->usual));
}

static cb_status unsettled(const integral *I, double t) {
  static const char *const why = "the connection is singular there or not smooth: try a gait that avoids this shape";
  double r[CB_SHAPE_MAX];
  cb_gait_at(I->gait, t, r, NULL);
  if (I->purpose == FOR_POLES_OF_A_LINE)
    cb_fail(CB_ERROR_STEP, "the connection is singular or not smooth at this shape");
  else if (I->purpose == FOR_POLES_OF_A_GAIT)
    cb_fail(CB_ERROR_STEP, "the gait passes this shape at time %.9g: %s", t, why);
  else if (I->plain)
    cb_fail(CB_ERROR_STEP, "a step without error control passes over this shape at time %.9g: %s", t, why);
  else if (I->error > 0)
    cb_fail(CB_ERROR_STEP, "a holonomy did not converge to an error of %.3g at time %.9g: %s", I->error, t, why);
  else
    cb_fail(CB_ERROR_STEP, "a holonomy did not converge to round-off at time %.9g: %s", t, why);
  return cb_bundle_fail_at(I->b, r, CB_ERROR_STEP);
}

/* Computes the step [t, t + h] to the required error, by halving if necessary. `whole` is the result of one step over
 * this interval. `before` has the errors of the two steps that contain it. */
static cb_status refine(integral *I, double t, double h, const step *whole, int depth, const past *before, step *out) {
  const cb_group *G = I->b->group;
  step half[2], both;
  past now = *before;
  if ((I->steps += 2) > STEPS_MAX) return unsettled(I, t);
  for (int k = 0; k < 2; k++) {
    const cb_status status = take(I, t + k * h / 2, h / 2, &half[k]);
    if (status) return status;
  }
  join(I, &half[0], &half[1], &both);
  double largest = 1, d = 0;
  bool finite = true;
  for (int k = 0; k < G->size; k++) {
    largest = fmax(largest, fabs(both.g[k]));
    d = fmax(d, fabs(whole->g[k] - both.g[k]));
    finite &= isfinite(both.g[k]) != 0;
  }
  bool good = finite && path_agrees(I, h, d, largest) && !uneven(I, h, 2, half);
  const halving length = {&whole->length, &half[0].length, &half[1].length, before->length, now.length};
  const halving cost = {&whole->cost, &half[0].cost, &half[1].cost, before->cost, now.cost};
  if (I->length) good &= sum_agrees(I, h, sqrt(I->square), &length, &both.length.all);
  if (I->cost) good &= sum_agrees(I, h, I->square, &cost, &both.cost.all);
  if (!good && depth < DEPTH_MAX) {
    step left, right;
    cb_status status = refine(I, t, h / 2, &half[0], depth + 1, &now, &left);
    if (!status) status = refine(I, t + h / 2, h / 2, &half[1], depth + 1, &now, &right);
    if (!status) join(I, &left, &right, out);
    return status;
  }
  if (!good && !ends_there(I, h, &both, half)) return unsettled(I, t);
  *out = both;
  double back[CB_GROUP_SIZE], more[CB_GROUP_DIM];
  G->inverse(G, whole->g, back);
  G->multiply(G, back, both.g, back);
  if (G->log(G, back, more))
    /* the logarithm does not exist if the step and its halves differ by a rotation of pi, which happens only at the
     * last depth */
    return CB_OK;
  const double share = 1. / ((1 << I->method->order) - 1);
  for (int k = 0; k < G->dim; k++) more[k] *= share;
  G->exp(G, more, back);
  G->multiply(G, both.g, back, out->g);
  return CB_OK;
}

/* Fails if a plain step passes over a pole. The steps of this test are not counted in I->steps. */
static cb_status look(const integral *I, double t, double h, const step *whole) {
  const past none = {{INFINITY, INFINITY}, {INFINITY, INFINITY}};
  integral close = *I;
  step fine;
  close.error = looked_at;
  close.plain = true;
  close.steps = 0;
  close.length = close.cost = false;
  return refine(&close, t, h, whole, 0, &none, &fine);
}

/* Multiplies `path` by the motion from t to `end`, an interval on which the motion is smooth, and adds the length and
 * the cost of the motion. `share` is the length of this interval divided by the length of the smooth piece of the gait
 * that contains it. */
static cb_status follow_smooth(integral *I, double t, double end, double share, step *path) {
  const double steps = I->longest > 0 ? (end - t) / I->longest * (1 - 1e-12) : share * I->gait->pieces;
  if (!(steps <= STEPS_MAX))
    return cb_fail(CB_ERROR_ARGUMENT, "a holonomy needs %.3g steps, which are too many: try a larger step", steps);
  const int pieces = (int)fmax(1, ceil(steps));
  const bool plain = I->longest > 0 && I->error == 0;
  const double h = (end - t) / pieces;
  const bool coarse = h * I->gait->pieces > 1; /* the nodes are so far apart that they may not resolve the motion */
  const past none = {{INFINITY, INFINITY}, {INFINITY, INFINITY}};
  I->steps = 0;
  for (int k = 0; k < pieces; k++) {
    step whole, fine;
    cb_status status = take(I, t + k * h, h, &whole);
    I->usual = fmax(I->usual, whole.cost.all / h);
    if (!status && !plain) status = refine(I, t + k * h, h, &whole, 0, &none, &fine);
    if (!status && plain && (coarse || uneven(I, h, 1, &whole))) status = look(I, t + k * h, h, &whole);
    if (status) return status;
    join(I, path, plain ? &whole : &fine, path);
  }
  return CB_OK;
}

/* Multiplies `path` by the motion from t to `end`, which must be in one smooth piece of the gait. The interval is
 * divided at breaks of the bundle. `share` is as in follow_smooth. */
static cb_status follow(integral *I, double t, double end, double share, step *path) {
  const double whole = end - t;
  while (t < end) {
    const double to = cb_gait_cut(I->b, I->gait, t, end);
    const cb_status status = follow_smooth(I, t, to, share * ((to - t) / whole), path);
    if (status) return status;
    t = to;
  }
  return CB_OK;
}

static cb_status prepare(const cb_bundle *b, const cb_gait *gait, const cb_holonomy_options *o, integral *I) {
  const int order = o->order ? o->order : 6;
  *I = (integral){.b = b, .gait = gait, .method = magnus_of_order(order), .error = o->error, .longest = o->step};
  if (!I->method) return cb_fail(CB_ERROR_ARGUMENT, "a holonomy of order %d: expected 4 or 6", order);
  if (!(o->error >= 0))
    return cb_fail(CB_ERROR_ARGUMENT, "a holonomy with the error %.3g: expected a number >= 0", o->error);
  if (!(o->step >= 0))
    return cb_fail(CB_ERROR_ARGUMENT, "a holonomy with steps of %.3g: expected a number >= 0", o->step);
  return cb_gait_fits(b, gait);
}

cb_status cb_bundle_along(const cb_bundle *b, const cb_gait *gait, int order, double error, double t, double end,
                          cb_bundle_sum *total, int *steps) {
  const cb_holonomy_options o = {.order = order, .error = error, .step = end - t};
  const size_t bytes = (size_t)b->group->size * sizeof *total->g;
  integral I;
  step path = {.length = {.all = total->length}, .cost = {.all = total->cost}};
  cb_status status = prepare(b, gait, &o, &I);
  if (status) return status;
  I.length = I.cost = true;
  memcpy(path.g, total->g, bytes);
  status = follow(&I, t, end, 1, &path);
  if (status == CB_ERROR_STEP) status = CB_STEP_NO_CONVERGENCE;
  *steps += I.taken;
  memcpy(total->g, path.g, bytes);
  total->length = path.length.all;
  total->cost = path.cost.all;
  return status;
}

cb_status cb_holonomy_by(const cb_bundle *b, const cb_gait *gait, const cb_holonomy_options *options, double *g,
                         double *length, double *cost) {
  const cb_group *G = b->group;
  integral I;
  step path = {.length = {.all = 0}};
  cb_status status = prepare(b, gait, options, &I);
  if (!status) status = cb_gait_closed(b, gait);
  I.length = length;
  I.cost = cost;
  G->identity(G, path.g);
  for (int k = 0; !status && k < cb_gait_edges(gait); k++)
    status = follow(&I, cb_gait_edge(gait, k), cb_gait_edge(gait, k + 1), 1, &path);
  if (status) return status;
  G->project(G, path.g);
  if (g) memcpy(g, path.g, (size_t)G->size * sizeof *g);
  if (length) *length = path.length.all;
  if (cost) *cost = path.cost.all;
  return CB_OK;
}

cb_status cb_holonomy(const cb_bundle *b, const cb_gait *gait, double error, double *g, double *length, double *cost) {
  return cb_holonomy_by(b, gait, &(cb_holonomy_options){.error = error}, g, length, cost);
}

/* Multiplies `path` by the motion from time t to `end`, both in [0, 1], and adds its length and cost. */
static cb_status follow_between(integral *I, double t, double end, step *path) {
  const cb_gait *gait = I->gait;
  for (int k = 0; k < cb_gait_edges(gait); k++) {
    const double low = cb_gait_edge(gait, k), high = cb_gait_edge(gait, k + 1);
    const double from = fmax(t, low), to = fmin(end, high);
    if (to <= from) continue;
    const cb_status status = follow(I, from, to, (to - from) / (high - low), path);
    if (status) return status;
  }
  return CB_OK;
}

/* Fails with CB_STEP_SINGULAR, and a message that gives the shape, if the integral along a gait, closed or not, does
 * not converge to this error, as happens at a pole of A r'. With `is_line` the gait runs along a line and back; then
 * only the first half is examined, and messages give no times. */
static cb_status bundle_has_no_poles(const cb_bundle *b, const cb_gait *gait, double error, bool is_line) {
  integral I;
  step path = {.length = {.all = 0}};
  cb_status status = prepare(b, gait, &(cb_holonomy_options){.error = error, .step = is_line ? .5 : 0}, &I);
  if (status) return status;
  I.purpose = is_line ? FOR_POLES_OF_A_LINE : FOR_POLES_OF_A_GAIT;
  I.length = I.cost = is_line;
  b->group->identity(b->group, path.g);
  status = is_line ? follow(&I, 0, .5, 1, &path) : follow_between(&I, 0, 1, &path);
  return status == CB_ERROR_STEP ? CB_STEP_SINGULAR : status;
}

cb_status cb_reconstruct(const cb_bundle *b, const cb_gait *gait, double error, int count, const double *t, double *g) {
  const cb_group *G = b->group;
  const size_t size = (size_t)G->size;
  integral I;
  step path = {.length = {.all = 0}};
  cb_status status = prepare(b, gait, &(cb_holonomy_options){.error = error}, &I);
  if (!status && count > 0 && t[count - 1] > 1) status = cb_gait_closed(b, gait);
  for (int k = 0; !status && k < count; k++)
    if (!(t[k] >= (k ? t[k - 1] : 0) && t[k] <= PERIODS_MAX))
      status =
          cb_fail(CB_ERROR_ARGUMENT, "time %d of a path is %.9g: expected times that increase from 0 to at most %d", k,
                  t[k], (int)PERIODS_MAX);
  if (status) return status;
  double *rows = malloc((count > 0 ? (size_t)count : 1) * size * sizeof *rows);
  if (!rows) return cb_fail(CB_ERROR_MEMORY, "no memory for a path of %d times", count);
  double period = 0, now = 0; /* the path is known up to the time period + now */
  G->identity(G, path.g);
  for (int k = 0; !status && k < count; k++) {
    while (!status && t[k] >= period + 1) {
      status = follow_between(&I, now, 1, &path);
      period += 1;
      now = 0;
    }
    if (!status) status = follow_between(&I, now, t[k] - period, &path);
    now = t[k] - period;
    G->project(G, path.g);
    memcpy(rows + (size_t)k * size, path.g, size * sizeof *rows);
  }
  if (!status && count > 0) memcpy(g, rows, (size_t)count * size * sizeof *g);
  free(rows);
  return status;
}

/* --- singular shapes along gaits and in grids --- */

enum { CELLS_MAX = 256 };

/* The tolerance of the integration along a path; poles with a smaller residue are not detected. */
static const double seen = 1e-6;

cb_status cb_gait_regular(const cb_bundle *b, const cb_gait *gait) { return bundle_has_no_poles(b, gait, seen, false); }

/* Fails if there is a singular shape on the straight line from one shape to another. */
static cb_status line_regular(const cb_bundle *b, const double *from, const double *to) {
  const size_t n = (size_t)b->n;
  double corner[2 * CB_SHAPE_MAX];
  cb_gait *line;
  memcpy(corner, from, n * sizeof *corner);
  memcpy(corner + n, to, n * sizeof *corner);
  cb_status status = cb_gait_polygon(b->n, 2, corner, &line);
  if (status) return status;
  status = bundle_has_no_poles(b, line, seen, true);
  cb_gait_free(line);
  return status;
}

/* Returns whether a component of A differs between the four corners of a cell by more than half of the largest absolute
 * value of all components. Returns false if a number is not finite. */
static bool differs(int size, const double *const *A) {
  static const double much = .5;
  double maximum = 0, off = 0;
  for (int k = 0; k < size; k++) {
    double low = A[0][k], high = A[0][k];
    for (int c = 0; c < 4; c++) {
      if (!isfinite(A[c][k])) return false;
      low = fmin(low, A[c][k]);
      high = fmax(high, A[c][k]);
    }
    maximum = fmax(maximum, fmax(high, -low));
    off = fmax(off, high - low);
  }
  return off > much * maximum;
}

cb_status cb_grid_regular(const cb_bundle *b, const int *v, const int *points, const double *const *value,
                          const double *at, const double *A) {
  static const int ways[4][4] = {
      {0, 0, 1, 0}, {0, 0, 0, 1}, {0, 0, 1, 1}, {0, 1, 1, 0}}; /* corner (k, l) at the beginning and at the end of each
                                                                * line */
  const int size = b->group->dim * b->n;
  int looked = 0;
  for (int k = 0; k + 1 < points[0]; k++)
    for (int l = 0; l + 1 < points[1] && looked < CELLS_MAX; l++) {
      const double *corner[4];
      for (int c = 0; c < 4; c++)
        corner[c] = A + ((size_t)(k + c / 2) * (size_t)points[1] + (size_t)(l + c % 2)) * (size_t)size;
      if (!differs(size, corner)) continue;
      looked++;
      for (int way = 0; way < 4; way++) {
        double from[CB_SHAPE_MAX], to[CB_SHAPE_MAX];
        memcpy(from, at, sizeof from);
        memcpy(to, at, sizeof to);
        from[v[0]] = value[0][k + ways[way][0]];
        from[v[1]] = value[1][l + ways[way][1]];
        to[v[0]] = value[0][k + ways[way][2]];
        to[v[1]] = value[1][l + ways[way][3]];
        const cb_status status = line_regular(b, from, to);
        if (status) return status;
      }
    }
  return CB_OK;
}
