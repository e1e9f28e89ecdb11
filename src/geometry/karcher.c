/* The Karcher mean: the minimum of f(m) = (1/2) sum_i w_i d(x_i, m)^2, sum_i w_i = 1, factor by factor.
 *
 *   grad f = -sum_i w_i v_i,  v_i = log_m(x_i);   Hess f = sum_i w_i (n_i n_i^T + d_i ct_K(d_i) (1 - n_i n_i^T))
 *   m <- exp_m(u),  (Hess f) u = sum_i w_i v_i
 * x_i are the points, w_i their weights, m is the mean, d the distance, d_i = |v_i|, n_i = v_i/d_i, and ct_K = c_K/s_K
 * (numerics_curved.h). In E^n the mean is the weighted mean of the coordinates. On a sphere the iteration starts from
 * the projected weighted mean of the embedding. There d ct_K(d) is replaced by 1/4 if it is smaller, so that every step
 * reduces f. In H^n, where f is convex, the iteration starts from the base point, and steps are halved until f falls.
 * In H^n the points and the mean are origins (origin.h), so that log_m(x_i) keeps its digits at any distance.
 * Source: Karcher, Comm. Pure Appl. Math. 30 (1977) 509, doi:10.1002/cpa.3160300502.
 */
#include "geometry/numeric.h"
#include "geometry/origin.h"
#include "geometry/quadric.h"
#include "numerics/small.h"
#include "numerics/numerics_curved.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_STEPS = 100 };

/* The iteration ends when a step, relative to the spread of the points, is shorter than `tolerance`, because the next
 * step would be of the order of its square. If the Hessian was changed, the limit is `enough_changed` instead. The
 * iteration also ends at the round-off of log. */
static const double tolerance = 1e-9, enough_changed = 1e-14, round_off = 1e-15;
/* The maximum round-off of a mean far from the base point of H^n, relative to the spread of the points or to the radius
 * of curvature, whichever is larger. */
static const double maximum_round_off = 1e-6;

typedef struct points {
  size_t n;
  int stride; /* number of doubles from one point in x to the next */
  const double *x, *weight;
  const cb_origin *places; /* if not NULL (in H^n), the points are given as these origins, and x is not used */
  const cb_origin *seen;   /* the frame in which `places` are used (NULL: the frame of the base point) */
} points;

/* A candidate for the mean in a space of one factor: a point of the embedding, or in H^n an origin. */
typedef struct place {
  double m[CB_COORD_MAX];
  cb_origin origin;
} place;

static double weight_of(points p, size_t i) { return p.weight ? p.weight[i] : 1; }

/* Writes the components of log_m(x_i) in a frame at m to c. */
static cb_status log_at(const cb_space *one, const place *at, const double *frame, points p, size_t i, double *c) {
  const double *x = p.places ? NULL : p.x + i * (size_t)p.stride;
  if (one->factor[0].curvature < 0) {
    cb_origin there, relative;
    if (p.places && p.seen)
      cb_origin_relative(one, p.seen, &p.places[i], &there);
    else if (p.places)
      there = p.places[i];
    else
      cb_origin_at(one, x, &there);
    cb_origin_relative(one, &at->origin, &there, &relative);
    for (int a = 0; a < one->dim; a++) c[a] = relative.length * relative.direction[a];
    return isfinite(relative.length)
               ? CB_OK
               : cb_fail(CB_ERROR_DOMAIN, "a point has coordinates that are not finite: expected finite coordinates");
  }
  double v[CB_COORD_MAX];
  const cb_status status = cb_log(one, at->m, x, v);
  for (int a = 0; a < one->dim && !status; a++) c[a] = cb_inner(one, frame + a * one->embedding, v);
  return status;
}

/* The value of f at m, the Newton step r in the frame there, and numbers that decide when the iteration ends. */
typedef struct fit {
  double frame[CB_DIM_MAX * CB_COORD_MAX], r[CB_DIM_MAX], value, spread;
  bool changed; /* the Hessian was changed: some d ct_K(d) was replaced by 1/4 */
} fit;

static cb_status fit_at(const cb_space *one, points p, const place *at, fit *out) {
  const cb_trig k = cb_trig_of(one->factor[0].curvature);
  const int dim = one->dim;
  double h[CB_DIM_MAX * CB_DIM_MAX] = {0}, total = 0;
  int pivot[CB_DIM_MAX];
  *out = (fit){.value = 0};
  if (k.k > 0) cb_space_frame(one, at->m, out->frame);
  for (size_t i = 0; i < p.n; i++) {
    double c[CB_DIM_MAX] = {0}, square = 0, weight = weight_of(p, i);
    const cb_status status = log_at(one, at, out->frame, p, i, c);
    if (status) return status;
    for (int a = 0; a < dim; a++) {
      out->r[a] += weight * c[a];
      square += c[a] * c[a];
    }
    const double d = sqrt(square);
    double across = k.k > 0 ? cb_trig_c(k, d) / cb_trig_sinc(k, d) : d > 0 ? k.r * d / tanh(k.r * d) : 1;
    out->changed |= across < 0.25;
    across = fmax(across, 0.25);
    for (int a = 0; a < dim; a++)
      for (int b = 0; b < dim; b++)
        h[a * dim + b] += weight * (across * (a == b) + (square > 0 ? (1 - across) * c[a] * c[b] / square : 0));
    total += weight;
    out->spread += weight * d;
    out->value += weight * square / 2;
  }
  out->spread /= total;
  out->value /= total;
  if (cb_dense_factor(dim, h, pivot))
    return cb_fail(CB_ERROR_DOMAIN, "the mean of these points is not determined: expected points closer to each other");
  cb_dense_solve(dim, h, pivot, out->r);
  return CB_OK;
}

/* Sets *to to the place after the fraction `part` of the step that starts at *from. */
static void move(const cb_space *one, const place *from, const fit *by, double part, place *to) {
  double u[CB_COORD_MAX] = {0};
  if (one->factor[0].curvature < 0) {
    cb_origin step;
    cb_origin_identity(one, &step);
    for (int a = 0; a < one->dim; a++) step.length = hypot(step.length, part * by->r[a]);
    for (int a = 0; a < one->dim && step.length > 0; a++) step.direction[a] = part * by->r[a] / step.length;
    cb_origin_compose(one, &from->origin, &step, &to->origin);
    return;
  }
  for (int a = 0; a < one->dim; a++)
    for (int b = 0; b < one->embedding; b++) u[b] += part * by->r[a] * by->frame[a * one->embedding + b];
  cb_exp(one, from->m, u, to->m, NULL);
}

/* Makes one step and computes its length. If no step makes f fall, *at does not change. *length is then the length of
 * the rejected step, or 0 if this step is so short that round-off hides the decrease. */
static cb_status descend(const cb_space *one, points p, place *at, fit *here, double *length) {
  const double size = sqrt(cb_dot(one->dim, here->r, here->r));
  for (double part = 1; part > 1e-3; part /= 2) {
    place next = *at;
    fit there;
    move(one, at, here, part, &next);
    const cb_status status = fit_at(one, p, &next, &there);
    if (status) return status;
    /* Near the minimum, round-off hides the decrease of f. */
    if (one->factor[0].curvature < 0 && size > 1e-6 * here->spread && !(there.value < here->value)) continue;
    *at = next;
    *here = there;
    *length = part * size;
    return CB_OK;
  }
  /* Round-off hides the decrease in a short step. A long step is useless far from the base point, where directions have
   * no digits. */
  *length = size > 1e-2 * here->spread ? size : 0;
  return CB_OK;
}

/* Sets *length: a step of at most this length is only round-off. Returns CB_ERROR_DOMAIN if the mean is so far from the
 * base point of H^n that coordinates of the embedding have too few digits. */
static cb_status rounding(const cb_space *one, const place *at, const fit *here, double *length) {
  const cb_trig k = cb_trig_of(one->factor[0].curvature);
  double size = 1;
  if (k.k > 0) {
    *length = round_off / k.r;
    return CB_OK;
  }
  size = cosh(k.r * at->origin.length) / k.r;
  *length = 4 * round_off * (size + here->spread);
  const double scale = fmax(here->spread, 1 / k.r);
  if (4 * round_off * size <= maximum_round_off * scale) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "the mean is %.4g from its points on average and %.4g from the base point: expected at most %.4g from "
                 "the base point, where coordinates of the embedding still have correct digits",
                 here->spread, at->origin.length, acosh(maximum_round_off / (4 * round_off) * scale * k.r) / k.r);
}

/* Sets *at to the start of the iteration: the weighted mean of the coordinates, projected to a sphere, or the base
 * point of H^n. Returns CB_ERROR_DOMAIN if the weighted mean is at the centre of the sphere. */
static cb_status start_at(const cb_space *one, points p, place *at) {
  const cb_factor f = one->factor[0];
  double total = 0;
  *at = (place){.m = {0}};
  if (f.curvature < 0) {
    cb_origin_identity(one, &at->origin);
    return CB_OK;
  }
  for (size_t i = 0; i < p.n; i++) {
    const double weight = weight_of(p, i);
    total += weight;
    for (int a = 0; a < f.count; a++) at->m[a] += weight * p.x[i * (size_t)p.stride + (size_t)a];
  }
  for (int a = 0; a < f.count; a++) at->m[a] /= total;
  if (f.curvature == 0) return CB_OK;
  if (!(f.curvature * cb_factor_inner(f, at->m, at->m) > 1e-24))
    return cb_fail(
        CB_ERROR_DOMAIN,
        "the points are spread all around the sphere, so no mean is near them: expected points closer to each other");
  cb_factor_project_point(f, at->m);
  return CB_OK;
}

static cb_status find_mean(const cb_space *one, points p, place *at) {
  double length = INFINITY, limit = 0;
  fit here;
  cb_status status = start_at(one, p, at);
  if (!status && one->factor[0].curvature != 0) status = fit_at(one, p, at, &here);
  for (int i = 0; !status && one->factor[0].curvature != 0 && !(length <= limit); i++) {
    if (i == MAX_STEPS || isnan(length))
      return cb_fail(CB_ERROR_DOMAIN, "the Karcher mean did not converge: expected points closer to each other");
    const bool changed = here.changed;
    const double spread = here.spread;
    status = descend(one, p, at, &here, &length);
    if (!status) status = rounding(one, at, &here, &limit);
    limit += (changed ? enough_changed : tolerance) * spread;
  }
  return status;
}

static cb_status factor_mean(const cb_space *g, cb_factor f, points p, double *mean) {
  const cb_space one = cb_factor_alone(g, f);
  double base[CB_Q_MAX], result[CB_Q_MAX];
  place at;
  const cb_status status = find_mean(&one, p, &at);
  if (status) return status;
  memcpy(result, at.m, sizeof at.m);
  if (f.curvature < 0) {
    cb_space_base_point(&one, base);
    cb_origin_world_point(&one, &at.origin, base, result);
  }
  memcpy(mean, result, (size_t)f.count * sizeof *mean);
  return CB_OK;
}

/* Finds the point whose direction from the origin p.seen is nearest to `wanted`, and writes its direction. */
static void nearest_direction(const cb_space *one, points p, const double *wanted, double *direction) {
  double maximum = -INFINITY;
  for (size_t i = 0; i < p.n; i++) {
    cb_origin there;
    cb_origin_relative(one, p.seen, &p.places[i], &there);
    const double along = cb_origin_dot(one->dim, there.direction, wanted);
    if (!(along > maximum)) continue;
    maximum = along;
    memcpy(direction, there.direction, sizeof there.direction);
  }
}

/* Computes the mean in the frame `seen`, where it is accurate if it is near the base point of the frame. *from becomes
 * the distance of the mean from this base point. After CB_ERROR_DOMAIN the computation is repeated with a frame that is
 * moved in the direction of one of the points. */
static cb_status mean_seen_from(const cb_space *one, points p, cb_origin seen, cb_origin *mean, double *from) {
  enum { FRAMES = 40 };
  cb_status status = CB_OK;
  for (int round = 0; round < FRAMES; round++) {
    place there;
    p.seen = &seen;
    status = find_mean(one, p, &there);
    *from = there.origin.length;
    if (!status) cb_origin_compose(one, &seen, &there.origin, mean);
    if (status != CB_ERROR_DOMAIN || !(there.origin.length > 0)) return status;
    cb_origin step;
    cb_origin_identity(one, &step);
    step.length = there.origin.length;
    nearest_direction(one, p, there.origin.direction, step.direction);
    cb_origin_compose(one, &seen, &step, &seen);
  }
  return status;
}

cb_status cb_karcher_mean_of_places(const cb_space *g, size_t n, const cb_origin *places, const cb_origin *frame,
                                    const double *weight, cb_origin *mean) {
  const cb_origin_part part = cb_origin_part_of(g);
  const points p = {.n = n, .weight = weight, .places = places};
  double total = 0, shift[CB_DIM_MAX] = {0}, from[2];
  cb_origin found[2], base;
  for (int f = 0; f < g->n_factors; f++) {
    if (g->factor[f].offset != part.offset) continue;
    const cb_space one = cb_factor_alone(g, g->factor[f]);
    cb_origin_identity(&one, &base);
    cb_status status = mean_seen_from(&one, p, base, &found[0], &from[0]);
    if (mean_seen_from(&one, p, *frame, &found[1], &from[1]) == CB_OK && (status || from[1] < from[0])) {
      found[0] = found[1];
      status = CB_OK;
    }
    if (status) return status;
  }
  for (size_t i = 0; i < n; i++) {
    total += weight_of(p, i);
    for (int a = 0; a < CB_DIM_MAX; a++) shift[a] += weight_of(p, i) * places[i].shift[a];
  }
  for (int a = 0; a < CB_DIM_MAX; a++) found[0].shift[a] = shift[a] / total;
  *mean = found[0];
  return CB_OK;
}

cb_status cb_karcher_mean(const cb_space *g, size_t n, const double *x, const double *weight, double *mean) {
  if (g->intrinsic && n > 0) return cb_intrinsic_karcher_mean(g, n, x, weight, mean);
  if (n == 0) return cb_fail(CB_ERROR_ARGUMENT, "the mean needs at least one point, found none");
  double result[CB_COORD_MAX] = {0};
  for (int f = 0; f < g->n_factors; f++) {
    points p = {.n = n, .stride = g->embedding, .x = x + g->factor[f].offset, .weight = weight};
    cb_status status = factor_mean(g, g->factor[f], p, result + g->factor[f].offset);
    if (status) return status;
  }
  memcpy(mean, result, (size_t)g->embedding * sizeof *mean);
  return CB_OK;
}
