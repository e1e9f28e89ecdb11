/* A step along the fibre by Magnus's method (bundle/holonomy.c), cut at the breaks of the gait
 * (bundle/bundle_private.h).
 *
 * In a uniform stream u the body is carried along, g(t) = (u t) g0(t), where g0 is the motion in a fluid at rest. In a
 * flow u0 + L x the velocity depends on g. A step of length h then solves the equation of the logarithm W of
 * g = (c(t)) k exp(W), by Gauss's collocation with the nodes of Magnus's method, of the same order:
 *
 *   c' = u0 + L c, c(0) = x;   W' = dexp_{-W}^-1 (-A r' + xi_u(k exp(W)) + S E)
 *   W_i = h sum_j a_ij W'_j, by fixed-point iteration;   g <- (c(h)) k exp(h sum_j b_j W'_j)
 * (c): the translation by c; c: the place of the fluid particle that is at the body at the start of the step; x: the
 * place of the body at the start; k: the element g at the start without the translation (x). xi_u and S E
 * (bundle/flow.c) are those of the flow L x. A r' and S are evaluated once per node.
 * Source: Iserles, Munthe-Kaas, Norsett & Zanna, Acta Numerica 9 (2000) 215, doi:10.1017/S0962492900002154.
 */
#include "bundle/bundle_private.h"

#include "bundle/gait_private.h"
#include "numerics/dd.h"
#include "numerics/lie_private.h"

#include <math.h>
#include <string.h>

/* A break nearer to the end of a step than this, in units of the period, counts as the end, because times are sums with
 * round-off. */
static const double at_end = 1e-12;

/* Returns the time in the present cycle in units of the period, from 0 to 1; 0 if it is 1 up to `at_end`. */
static double phase_of(const cb_bundle_path *p, double t, double t_low) {
  double u = (fmod(t, p->period) + t_low) / p->period;
  if (u < 0) u += 1;
  return fabs(u - 1) <= at_end ? 0 : u;
}

void cb_bundle_shape(const cb_bundle_path *p, const cb_bundle_state *s, double *r, double *rate) {
  cb_gait_at(p->gait, phase_of(p, s->t, s->t_low), r, rate);
  for (int i = 0; rate && i < p->bundle->n; i++) rate[i] /= p->period;
}

/* Returns the first break after u, in the cycle that begins at 0; 1 if there is none. */
static double next_break(const cb_gait *gait, double u) {
  const double *at;
  const int n = cb_gait_breaks(gait, &at);
  for (int k = 0; k < n; k++)
    if (at[k] > u + at_end) return at[k];
  return 1;
}

/* --- in a flow with a gradient --- */

enum { NODES = 3, ITERATIONS = 100, DEPTH_MAX = 30 };

typedef struct collocation {
  int nodes;
  double node[NODES], weight[NODES], a[NODES][NODES];
} collocation;

static const collocation of_order_4 = {
    2, {.2113248654051871, .7886751345948129}, {.5, .5}, {{.25, -.03867513459481288}, {.5386751345948129, .25}}};
static const collocation of_order_6 = {3,
                                       {.1127016653792583, .5, .8872983346207417},
                                       {5. / 18, 4. / 9, 5. / 18},
                                       {{5. / 36, -.03597666752493890, .009789444015308326},
                                        {.3002631949808646, 2. / 9, -.02248541720308681},
                                        {.2679883337624694, .4804211119693833, 5. / 36}}};

/* The motion of a bundle in a flow. of: the path, with its period and its flow; error: tolerance on a cycle; 0: steps
 * are not halved. */
typedef struct carried {
  const cb_bundle_path *of;
  const collocation *method;
  double error;
  bool strains;
  int *steps;
} carried;

/* The values at the nodes of a step: a = A r', per second, and S (bundle/flow.c). A: connection; r': rates of the
 * shape variables. */
typedef struct nodes {
  double a[NODES][CB_GROUP_DIM], S[NODES][CB_GROUP_DIM * CB_STRAINS];
} nodes;

/* Moves the point x with the flow for the time h, by the exponential of h ((L, u0), (0, 0)). The series of the
 * exponential is evaluated for h/2^k, and the result is squared k times. */
static void flow_along(const cb_bundle_flow *f, double h, double x[3]) {
  double size = 0, P[3][4] = {{0}}, term[3][4];
  int halvings = 0;
  for (int i = 0; i < 9; i++) size = fmax(size, fabs(h * f->gradient[i / 3][i % 3]));
  while (ldexp(size, -halvings) > 0.1) halvings++;
  const double s = ldexp(h, -halvings);
  for (int i = 0; i < 3; i++) /* P = exp(..) - 1 */
    for (int j = 0; j < 4; j++) P[i][j] = term[i][j] = s * (j < 3 ? f->gradient[i][j] : f->velocity[i]);
  for (int k = 2; k < 14; k++) {
    double next[3][4];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 4; j++) {
        next[i][j] = 0;
        for (int l = 0; l < 3; l++) next[i][j] += s / k * f->gradient[i][l] * term[l][j];
        P[i][j] += next[i][j];
      }
    memcpy(term, next, sizeof term);
  }
  for (; halvings > 0; halvings--) { /* (1 + P)^2 - 1 = 2 P + P P */
    double square[3][4];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 4; j++) {
        square[i][j] = 2 * P[i][j];
        for (int l = 0; l < 3; l++) square[i][j] += P[i][l] * P[l][j];
      }
    memcpy(P, square, sizeof P);
  }
  double d[3];
  for (int i = 0; i < 3; i++) d[i] = P[i][0] * x[0] + P[i][1] * x[1] + P[i][2] * x[2] + P[i][3];
  for (int i = 0; i < 3; i++) x[i] += d[i];
}

/* Evaluates the bundle at the nodes of the step from u to u + h, in units of the period. */
static cb_status evaluate(const carried *c, double u, double h, nodes *out) {
  const cb_bundle *b = c->of->bundle;
  cb_status status = CB_OK;
  ++*c->steps;
  for (int i = 0; i < c->method->nodes && !status; i++) {
    double r[CB_SHAPE_MAX];
    const double t = u + c->method->node[i] * h;
    cb_gait_at(c->of->gait, t, r, NULL);
    status = cb_gait_velocity(b, c->of->gait, t, out->a[i], NULL);
    for (int k = 0; k < b->group->dim; k++) out->a[i][k] /= c->of->period;
    if (!status && c->strains) status = cb_bundle_strain(b, r, out->S[i]);
  }
  return status;
}

/* Computes the rate W' of the logarithm at a node, where the logarithm is W. */
static cb_status log_rate(const carried *c, const cb_bundle_flow *linear, const nodes *at, int node, const double *k,
                          const double *W, double *rate) {
  const cb_bundle *b = c->of->bundle;
  const cb_group *G = b->group;
  double g[CB_GROUP_SIZE], xi[CB_GROUP_DIM];
  G->exp(G, W, g);
  G->multiply(G, k, g, g);
  cb_bundle_carried(b, linear, c->strains ? at->S[node] : NULL, g, xi);
  for (int i = 0; i < G->dim; i++) xi[i] -= at->a[node][i];
  return cb_lie_left_rate(G, W, xi, rate);
}

/* Replaces g by the element after one step of h seconds. */
static cb_status collocate(const carried *c, const nodes *at, double h, double *g) {
  const collocation *m = c->method;
  const cb_group *G = c->of->bundle->group;
  const int dim = G->dim;
  cb_bundle_flow linear = *c->of->flow;
  double W[NODES][CB_GROUP_DIM] = {{0}}, rate[NODES][CB_GROUP_DIM], R[3][3], x[3], change = INFINITY, last;
  cb_status status = CB_OK;
  memset(linear.velocity, 0, sizeof linear.velocity);
  cb_group_place(G, g, R, x);
  cb_group_shift(G, (const double[3]){-x[0], -x[1], -x[2]}, g);
  int iteration = 0;
  do {
    for (int i = 0; i < m->nodes && !status; i++) status = log_rate(c, &linear, at, i, g, W[i], rate[i]);
    last = change;
    change = 0;
    for (int i = 0; i < m->nodes && !status; i++)
      for (int k = 0; k < dim; k++) {
        double sum = 0;
        for (int j = 0; j < m->nodes; j++) sum += h * m->a[i][j] * rate[j][k];
        change = fmax(change, fabs(sum - W[i][k]) / fmax(1, fabs(sum)));
        W[i][k] = sum;
      }
  } while (!status && change > 1e-15 && (change > 1e-13 || change < last / 2) && ++iteration < ITERATIONS);
  if (!status && !(change <= 1e-13))
    status = cb_fail(CB_STEP_NO_CONVERGENCE,
                     "the flow turns and strains the body too much in a step of %g s: use a smaller `step`", h);
  if (status) return status;
  for (int k = 0; k < dim; k++) {
    W[0][k] = 0;
    for (int j = 0; j < m->nodes; j++) W[0][k] += h * m->weight[j] * rate[j][k];
  }
  double by[CB_GROUP_SIZE];
  G->exp(G, W[0], by);
  G->multiply(G, g, by, g);
  G->project(G, g);
  flow_along(c->of->flow, h, x);
  cb_group_shift(G, x, g);
  return CB_OK;
}

/* Makes the step from u to u + h, in units of the period, to the tolerance: the step is compared with its two halves,
 * and each half is halved in the same way if the difference is too large. */
static cb_status carry(const carried *c, double u, double h, int depth, double *g) {
  const cb_group *G = c->of->bundle->group;
  const double seconds = h * c->of->period;
  double half[CB_GROUP_SIZE], off = 0, scale = 1;
  nodes at;
  memcpy(half, g, (size_t)G->size * sizeof *half);
  cb_status status = evaluate(c, u, h, &at);
  if (!status) status = collocate(c, &at, seconds, c->error > 0 ? half : g);
  const bool far = status == CB_STEP_NO_CONVERGENCE && depth < DEPTH_MAX;
  if (c->error == 0 || (status && !far)) return status;
  double both[CB_GROUP_SIZE];
  memcpy(both, g, (size_t)G->size * sizeof *both);
  for (int k = 0; k < 2 && !far; k++) {
    status = evaluate(c, u + k * h / 2, h / 2, &at);
    if (!status) status = collocate(c, &at, seconds / 2, both);
    if (status) return status;
  }
  for (int k = 0; k < G->size; k++) {
    off = fmax(off, fabs(both[k] - half[k]));
    scale = fmax(scale, fabs(both[k]));
  }
  if (!far && off / (c->method->nodes == 2 ? 15 : 63) <= fmax(c->error * h, 4e-16 * scale)) {
    memcpy(g, both, (size_t)G->size * sizeof *g);
    return CB_OK;
  }
  if (depth == DEPTH_MAX)
    return cb_fail(CB_STEP_NO_CONVERGENCE, "steps do not reach the error of %.3g at time %.9g of the cycle", c->error,
                   u);
  status = carry(c, u, h / 2, depth + 1, g);
  return status ? status : carry(c, u + h / 2, h / 2, depth + 1, g);
}

/* Moves g from u to `end`, which are in one smooth piece of the gait, in steps that end at breaks of the bundle. */
static cb_status carry_along(const carried *c, double u, double end, double *g) {
  cb_status status = CB_OK;
  while (u < end && !status) {
    const double to = cb_gait_cut(c->of->bundle, c->of->gait, u, end);
    status = carry(c, u, to - u, 0, g);
    u = to;
  }
  return status;
}

static bool has_gradient(const cb_bundle_flow *f) {
  bool any = false;
  for (int i = 0; f && i < 9; i++) any = any || f->gradient[i / 3][i % 3] != 0;
  return any;
}

/* --- a step --- */

cb_status cb_bundle_step(const cb_bundle_path *p, int order, double error, double h, cb_bundle_state *state,
                         int *steps) {
  const cb_group *G = p->bundle->group;
  const bool turns = has_gradient(p->flow);
  cb_bundle_sum sum = {.length = 0};
  double u = phase_of(p, state->t, state->t_low), g[CB_GROUP_SIZE];
  const double end = u + h / p->period;
  const carried c = {p, order == 4 ? &of_order_4 : &of_order_6, error, turns && cb_bundle_flow_strains(p->flow), steps};
  cb_status status = CB_OK;
  *steps = 0;
  G->identity(G, sum.g);
  memcpy(g, state->g, (size_t)G->size * sizeof *g);
  for (double cycle = 0; !status && u + cycle < end - at_end;) {
    double to = next_break(p->gait, u);
    if (to + cycle > end - at_end) to = end - cycle;
    status = cb_bundle_along(p->bundle, p->gait, order, error, u, to, &sum, steps);
    if (!status && turns) status = carry_along(&c, u, to, g);
    u = to;
    if (u >= 1 - at_end) {
      u = 0;
      cycle += 1;
    }
  }
  if (status) return status;
  if (!turns) G->multiply(G, g, sum.g, g);
  if (p->flow && !turns)
    cb_group_shift(G, (const double[3]){h * p->flow->velocity[0], h * p->flow->velocity[1], h * p->flow->velocity[2]},
                   g);
  G->project(G, g);
  memcpy(state->g, g, (size_t)G->size * sizeof *g);
  cb_compensated_add_one(&state->length, &state->length_low, sum.length);
  cb_compensated_add_one(&state->cost, &state->cost_low, sum.cost / p->period);
  return CB_OK;
}
