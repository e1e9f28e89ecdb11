/* A step along the fibre by Magnus's method (bundle/magnus.h), cut at breaks. See fibre_step.h. */
#include "bundle/fibre_step.h"

#include "bundle/bundle_private.h"
#include "bundle/gait_private.h"
#include "bundle/magnus.h"
#include "numerics/compensated.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 40, STEPS_MAX = 200000 };

/* A break this near to the end of a step, in units of the period, is at it: times are sums. */
static const double at_end = 1e-12;

typedef struct piece {
  double g[CB_GROUP_SIZE], length, cost;
} piece;

typedef struct stepper {
  const cb_fibre_path *p;
  const cb_magnus *method;
  int steps;
  double error;  /* on a cycle */
  double square; /* the largest r'Mr' so far */
} stepper;

/* Cycles done, and the time in the one at hand, from 0 to 1. */
static double phase_of(const cb_fibre_path *p, double t, double t_low) {
  double u = (fmod(t, p->period) + t_low) / p->period;
  if (u < 0) u += 1;
  return fabs(u - 1) <= at_end ? 0 : u;
}

void cb_fibre_shape(const cb_fibre_path *p, const cb_fibre_state *s, double *r, double *rate) {
  cb_gait_at(p->gait, phase_of(p, s->t, s->t_low), r, rate);
  for (int i = 0; rate && i < p->bundle->n; i++) rate[i] /= p->period;
}

/* [u, u + h] in one step. */
static cb_status take(stepper *s, double u, double h, piece *out) {
  const cb_magnus *m = s->method;
  const cb_group *G = s->p->bundle->group;
  double a[CB_MAGNUS_NODES][CB_GROUP_DIM], W[CB_GROUP_DIM], square;
  s->steps++;
  out->length = out->cost = 0;
  for (int k = 0; k < m->nodes; k++) {
    const cb_status status = cb_gait_velocity(s->p->bundle, s->p->gait, u + m->node[k] * h, a[k], &square);
    if (status) return status;
    s->square = fmax(s->square, square);
    out->length += m->weight[k] * h * sqrt(fmax(square, 0));
    out->cost += m->weight[k] * h * square;
  }
  cb_magnus_exponent(m, G, h, a, W);
  G->exp(G, W, out->g);
  return CB_OK;
}

/* Of the path the error counts as it is; of length and cost relative to what they could be at the greatest speed so far
 * where that is more than 1. */
static bool agrees(const stepper *s, double h, const piece *one, const piece *two) {
  const double most = fmax((1 << s->method->order) * s->error, 64 * DBL_EPSILON) * h;
  const double sums = fmax(most, 16 * DBL_EPSILON); /* round-off of M is not less in a shorter step */
  double scale = 1, d = 0;
  for (int k = 0; k < s->p->bundle->group->size; k++) {
    scale = fmax(scale, fabs(two->g[k]));
    d = fmax(d, fabs(one->g[k] - two->g[k]));
  }
  return d <= fmax(most, 64 * DBL_EPSILON * scale) &&
         fabs(one->length - two->length) <= sums * fmax(1, sqrt(s->square)) &&
         fabs(one->cost - two->cost) <= sums * fmax(1, s->square);
}

static void join(const cb_group *G, const piece *one, const piece *two, piece *out) {
  G->multiply(G, one->g, two->g, out->g);
  out->length = one->length + two->length;
  out->cost = one->cost + two->cost;
}

/* The same in halves, until two are as good as one. */
static cb_status refine(stepper *s, double u, double h, const piece *whole, int depth, piece *out) {
  const cb_group *G = s->p->bundle->group;
  piece half[2], both;
  if (s->steps > STEPS_MAX || depth == DEPTH_MAX) {
    double r[CB_SHAPE_MAX];
    cb_gait_at(s->p->gait, u, r, NULL);
    cb_fail(CB_STEP_NO_CONVERGENCE, "%d parts do not settle to an error of %.3g: the connection is not smooth here",
            s->steps, s->error);
    return cb_bundle_fail_at(s->p->bundle, r, CB_STEP_NO_CONVERGENCE);
  }
  for (int k = 0; k < 2; k++) {
    const cb_status status = take(s, u + k * h / 2, h / 2, &half[k]);
    if (status) return status;
  }
  join(G, &half[0], &half[1], &both);
  if (agrees(s, h, whole, &both)) return *out = both, CB_OK;
  piece left, right;
  cb_status status = refine(s, u, h / 2, &half[0], depth + 1, &left);
  if (!status) status = refine(s, u + h / 2, h / 2, &half[1], depth + 1, &right);
  if (!status) join(G, &left, &right, out);
  return status;
}

/* Along a smooth piece. */
static cb_status along_smooth(stepper *s, double u, double end, piece *sum) {
  piece whole, out;
  if (!(end - u > 0)) return CB_OK;
  cb_status status = take(s, u, end - u, &whole);
  if (!status && s->error > 0) status = refine(s, u, end - u, &whole, 0, &out);
  if (!status) join(s->p->bundle->group, sum, s->error > 0 ? &out : &whole, sum);
  return status;
}

/* Along a smooth piece of the gait, in which the bundle may have breaks. */
static cb_status along(stepper *s, double u, double end, piece *sum) {
  cb_status status = CB_OK;
  for (double to; !status && u < end; u = to) {
    to = cb_gait_cut(s->p->bundle, s->p->gait, u, end);
    status = along_smooth(s, u, to, sum);
  }
  return status;
}

/* The first break after u, in the cycle that begins at 0; 1 if there is none. */
static double next_break(const cb_gait *gait, double u) {
  const double *at;
  const int n = cb_gait_breaks(gait, &at);
  for (int k = 0; k < n; k++)
    if (at[k] > u + at_end) return at[k];
  return 1;
}

cb_status cb_fibre_step(const cb_fibre_path *p, int order, double error, double h, cb_fibre_state *state, int *steps) {
  const cb_group *G = p->bundle->group;
  stepper s = {.p = p, .method = cb_magnus_of(order), .error = error};
  piece sum = {.length = 0};
  double u = phase_of(p, state->t, state->t_low);
  const double end = u + h / p->period;
  cb_status status = s.method ? CB_OK : cb_fail(CB_ERROR_ARGUMENT, "no Magnus method of order %d", order);
  G->identity(G, sum.g);
  for (double cycle = 0; !status && u + cycle < end - at_end;) {
    double to = next_break(p->gait, u);
    if (to + cycle > end - at_end) to = end - cycle;
    status = along(&s, u, to, &sum);
    u = to;
    if (u >= 1 - at_end) u = 0, cycle += 1;
  }
  *steps = s.steps;
  if (status) return status;
  G->multiply(G, state->g, sum.g, state->g);
  G->project(G, state->g);
  cb_compensated_add_one(&state->length, &state->length_low, sum.length);
  cb_compensated_add_one(&state->cost, &state->cost_low, sum.cost / p->period);
  return CB_OK;
}
