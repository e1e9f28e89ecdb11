/* The periodic motion of a scenario whose shape moves by itself, and the values of keys for which it is best: a search
 * in a box with several starts.
 *
 *   f(x) = -log |displacement| or -log efficiency;   d = -B_FF^-1 (grad f)_F,   x <- P(x + a d)
 * x: the values in units of their ranges, on a logarithmic scale if the range is positive and its ends differ by a
 * factor of 10 or more; P: projection on the box [0, 1]^n; F: the values that are not held at a bound by the gradient;
 * B: approximation of the second derivatives by BFGS; a: the first of 1, 1/2, 1/4 .. that decreases f enough. The
 * gradient is computed by differences of order 4. The periodic motions for these differences are found from the one at
 * x.
 * Source: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), 6.1 and 16.7, doi:10.1007/978-0-387-40065-5.
 */
#include "scenario/cycle.h"

#include "core/failure.h"
#include "numerics/random.h"
#include "numerics/small.h"
#include "scenario/bundle_scenario.h"
#include "scenario/private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the periodic motion --- */

enum { STEPS = 200, STEPS_MAX = 1 << 20 };

/* The data of the scenario that a periodic motion needs. */
typedef struct cycle_problem {
  cb_shape_problem problem;
  cb_shape_state start;
  double period;
  int steps;
} cycle_problem;

/* Gives the scenario an integrator if it has none. */
static cb_status complete(cb_scenario *s, double period) {
  const cb_bundle_scenario *m = s->own;
  char text[128];
  if (cb_node_get(cb_tree_root(s->tree), "integrator")) return CB_OK;
  if (m->bundle->resistance == CB_RESISTANCE_ANY)
    return cb_node_fail(cb_tree_root(s->tree),
                        "the key `integrator` is missing: expected `hamilton_pontryagin` with inertia, `gauss` or "
                        "`radau_iia` with drag, because bundle %s can have either",
                        m->bundle->class_->name);
  snprintf(text, sizeof text, "integrator={name: %s, step: %.17g}",
           m->bundle->resistance == CB_RESISTANCE_DRAG ? "radau_iia, stages: 4" : "hamilton_pontryagin, order: 4",
           period / STEPS);
  return cb_tree_set(s->tree, text);
}

static cb_status pose(cb_scenario *s, cycle_problem *c) {
  const cb_bundle_scenario *m = s->own;
  const cb_node *root = cb_tree_root(s->tree), *shape = cb_node_get(root, "shape");
  cb_time_parameters time = {0};
  cb_step_parameters step = {0};
  if (!m->moving)
    return cb_node_fail(root, "the key `shape` is missing: a cycle needs shape variables that move by themselves");
  c->period = m->gait ? m->period : m->moving->period;
  if (!(c->period > 0))
    return cb_node_fail(shape, "the key `period` is missing: expected the duration of a cycle, such as `period: 2*pi`");
  cb_status status = cb_params_bind(cb_scenario_table(s, "time"), cb_node_get(root, "time"), root, NULL, 0, &time);
  if (!status) status = cb_scenario_check_cycle(s, time.start, c->period);
  if (!status) status = complete(s, c->period);
  if (status) return status;
  root = cb_tree_root(s->tree);
  const cb_node *integrator = cb_node_get(root, "integrator");
  cb_integrator_free(s->integrator);
  s->integrator = NULL;
  if (!status) status = cb_scenario_read_integrator(s, root, integrator, &step);
  if (!status) status = cb_scenario_shape_problem(s, time.start, &c->problem, &c->start);
  if (status) return status;
  const double count = ceil(c->period / step.step * (1 - 1e-9));
  if (!(count <= STEPS_MAX))
    return cb_node_fail(cb_node_get(integrator, "step"), "step: expected at least %.6g, for %d steps per period",
                        c->period / STEPS_MAX, STEPS_MAX);
  c->steps = (int)fmax(1, count);
  return CB_OK;
}

/* Adds the place in the scenario to a failure that one of its keys causes. */
static cb_status placed(const cb_scenario *s, const cycle_problem *c, const cb_shape_cycle *found, cb_status status) {
  const cb_node *shape = cb_node_get(cb_tree_root(s->tree), "shape");
  if (cb_failure_last().placed) return status;
  if (status == CB_ERROR_UNSUPPORTED && found->limited >= 0)
    return cb_node_fail(cb_node_get(cb_node_get(shape, c->problem.bundle->shape[found->limited]), "limits"), "%s",
                        cb_error_text());
  const cb_node *momentum = cb_node_get(shape, "momentum");
  if (status == CB_ERROR_UNSUPPORTED) return cb_node_fail(momentum ? momentum : shape, "%s", cb_error_text());
  return status > 0
             ? cb_fail(status, "no periodic motion was found: %s; try another start, period or step", cb_error_text())
             : status;
}

static cb_status find_once(cb_scenario *s, const cycle_problem *c, const cb_shape_cycle *near, bool multipliers,
                           cb_motion_cycle *out) {
  const cb_group *G = c->problem.bundle->group;
  const cb_bundle_scenario *m = s->own;
  cb_shape_cycle first = {.start = c->start};
  memcpy(first.rate, m->moving->rate, sizeof first.rate);
  const cb_status status =
      cb_shape_cycle_find(&c->problem, s->integrator, near ? near : &first, c->period, c->steps, multipliers, &out->of);
  if (status) return placed(s, c, &out->of, status);
  out->has_log = cb_gait_log(G, out->of.g, out->log);
  out->distance = sqrt(cb_gait_squared_distance(G, out->log));
  out->per_work = out->of.work > 0 ? out->distance / out->of.work : NAN;
  out->efficiency = out->per_work * out->distance / c->period;
  out->error = NAN;
  return CB_OK;
}

static double compare(const cb_group *G, const cb_motion_cycle *a, const cb_motion_cycle *b) {
  double change = 0, scale = 1e-12;
  for (int k = 0; k < G->dim; k++) {
    change = fmax(change, fabs(a->log[k] - b->log[k]));
    scale = fmax(scale, fabs(b->log[k]));
  }
  return fmax(change / scale, fabs(a->of.work - b->of.work) / fmax(1e-12, fabs(b->of.work)));
}

cb_status cb_motion_cycle_find(cb_scenario *s, const cb_cycle_options *options, cb_motion_cycle *out) {
  cycle_problem c;
  cb_status status = pose(s, &c);
  if (!status) status = find_once(s, &c, options->near, false, out);
  if (options->rough || status) return status;
  bool stalled; /* the error is round-off, which smaller steps do not make smaller */
  do {
    const cb_motion_cycle before = *out;
    c.steps *= 2;
    status = find_once(s, &c, &before.of, true, out);
    if (status) return status;
    out->error = compare(c.problem.bundle->group, &before, out);
    stalled = out->error < 1e-9 && out->error >= before.error;
  } while (options->tolerance > 0 && out->error > options->tolerance && !stalled && c.steps <= STEPS_MAX / 2);
  if (options->tolerance > 0 && !(out->error <= options->tolerance))
    cb_warn(
        "displacement and work of the cycle change by %.2g (relative) if steps are halved: the tolerance %.2g was "
        "not reached, because of %s",
        out->error, options->tolerance, stalled ? "round-off" : "the maximum number of steps per period");
  else if (!(options->tolerance > 0) && !(out->error <= 1e-6))
    cb_warn("displacement and work of the cycle change by %.2g (relative) if steps are halved: use a smaller step",
            out->error);
  if (!(out->of.residual <= 1e-8))
    cb_warn("the shape at the end of the cycle differs from its start by %.2g", out->of.residual);
  return CB_OK;
}

/* --- the best values of keys --- */

enum { N = CB_CYCLE_KEYS, ITERATIONS = 100, HALVINGS = 25 };

static const double difference = 2e-3, /* the step of x in the differences for the gradient */
    noise = 1e-12;                     /* a change of f up to this is round-off */

typedef struct box_search {
  cb_scenario *scenario;
  const cb_cycle_search *asked;
  int n, evaluations;
  cb_shape_cycle near; /* the motion at x; its number of steps is 0 if there is none */
} box_search;

/* A point x of the search, with the value f and the gradient g of the objective, and the motion there. */
typedef struct point {
  double x[N], f, g[N];
  cb_shape_cycle motion;
} point;

static bool logarithmic(const cb_cycle_key *k) { return k->low > 0 && k->high >= 10 * k->low; }

static double value_of(const cb_cycle_key *k, double x) {
  if (x <= 0) return k->low;
  if (x >= 1) return k->high;
  return logarithmic(k) ? k->low * pow(k->high / k->low, x) : k->low + x * (k->high - k->low);
}

/* The keys that the search varies, and their values, as nodes of a YAML tree. The scenario that open_at opens borrows
 * them. */
typedef struct setting {
  char text[N][40];
  cb_node key[N], value[N];
} setting;

/* Opens the scenario with the values of the varied keys at the point x of the search. */
static cb_status open_at(const box_search *s, const double *x, setting *set, cb_scenario **out) {
  static const char file[] = "--vary";
  cb_member_value values[N];
  for (int i = 0; i < s->n; i++) {
    const cb_cycle_key *k = &s->asked->key[i];
    snprintf(set->text[i], sizeof set->text[i], "%.17g", value_of(k, x[i]));
    set->key[i] = (cb_node){.kind = CB_NODE_SCALAR, .file = file, .text = k->name};
    set->value[i] = (cb_node){.kind = CB_NODE_SCALAR, .file = file, .text = set->text[i]};
    values[i] = (cb_member_value){&set->key[i], &set->value[i]};
  }
  return cb_scenario_open_member(s->scenario->tree, cb_tree_root(s->scenario->tree), values, (size_t)s->n, true, out);
}

static double objective_of(const cb_cycle_search *a, const cb_motion_cycle *c) {
  return a->efficiency ? c->efficiency : a->component >= 0 ? fabs(c->log[a->component]) : c->distance;
}

/* Computes f at x; motion may be NULL. */
static cb_status evaluate(box_search *s, const double *x, double *f, cb_shape_cycle *motion) {
  cb_scenario *member = NULL;
  cb_motion_cycle c;
  cb_cycle_options options = {.rough = true, .near = s->near.steps ? &s->near : NULL};
  setting set;
  cb_status status = open_at(s, x, &set, &member);
  s->evaluations++;
  if (!status) status = cb_motion_cycle_find(member, &options, &c);
  if (status > 0 && options.near) {
    options.near = NULL;
    status = cb_motion_cycle_find(member, &options, &c);
  }
  cb_scenario_free(member);
  if (status) return status;
  *f = -log(objective_of(s->asked, &c));
  if (motion) *motion = c.of;
  return isfinite(*f) ? CB_OK
                      : cb_fail(CB_STEP_NOT_FINITE, "the motion has no %s",
                                s->asked->efficiency ? "efficiency, because its work is not positive" : "displacement");
}

/* Computes the gradient of f by differences of order 4, which are one-sided next to a bound. */
static cb_status differentiate(box_search *s, point *p) {
  static const double central[5] = {0, 2. / 3, -1. / 12, -2. / 3, 1. / 12}, place[5] = {0, 1, 2, -1, -2},
                      forward[5] = {-25. / 12, 4, -3, 4. / 3, -1. / 4};
  s->near = p->motion;
  for (int i = 0; i < s->n; i++) {
    const int side = p->x[i] < 2 * difference ? 1 : p->x[i] > 1 - 2 * difference ? -1 : 0;
    p->g[i] = side * forward[0] * p->f / difference;
    for (int q = 1; q < 5; q++) {
      double x[N], f;
      memcpy(x, p->x, sizeof x);
      x[i] += (side ? side * q : place[q]) * difference;
      const cb_status status = evaluate(s, x, &f, NULL);
      if (status) return status;
      p->g[i] += (side ? side * forward[q] : central[q]) * f / difference;
    }
  }
  return CB_OK;
}

/* Returns whether the gradient holds x_i at a bound: -1 at the lower bound, 1 at the upper bound; 0: it does not. */
static int held_at(const point *p, int i) {
  return p->x[i] <= 0 && p->g[i] > 0 ? -1 : p->x[i] >= 1 && p->g[i] < 0 ? 1 : 0;
}

static double slope_of(const box_search *s, const point *p) {
  double most = 0;
  for (int i = 0; i < s->n; i++)
    if (!held_at(p, i)) most = fmax(most, fabs(p->g[i]));
  return most;
}

/* Computes d = -B_FF^-1 g_F. If f does not decrease along this d, B is reset to a multiple of the unit matrix. */
static void direction(const box_search *s, const point *p, double B[N][N], double *d) {
  double l[N * N], b[N], down = 0;
  int free = 0, index[N];
  memset(d, 0, N * sizeof *d);
  for (int i = 0; i < s->n; i++)
    if (!held_at(p, i)) index[free++] = i;
  for (int i = 0; i < free; i++) {
    b[i] = -p->g[index[i]];
    for (int j = 0; j < free; j++) l[i * free + j] = B[index[i]][index[j]];
  }
  if (cb_cholesky(free, l, 1e-12, l)) {
    cb_cholesky_solve(free, l, b);
    for (int i = 0; i < free; i++) down += (d[index[i]] = b[i]) * p->g[index[i]];
    if (down < 0) return;
  }
  for (int i = 0; i < s->n; i++) {
    for (int j = 0; j < s->n; j++) B[i][j] = i == j ? 10 * slope_of(s, p) : 0;
    d[i] = held_at(p, i) ? 0 : -p->g[i] / B[i][i];
  }
}

static void update(int n, const point *p, const point *to, double B[N][N]) {
  double step[N], y[N], Bs[N], sy = 0, sBs = 0, ss = 0, yy = 0;
  for (int i = 0; i < n; i++) {
    step[i] = to->x[i] - p->x[i];
    y[i] = to->g[i] - p->g[i];
    sy += step[i] * y[i];
    ss += step[i] * step[i];
    yy += y[i] * y[i];
  }
  if (!(sy > 1e-6 * sqrt(ss * yy))) return;
  for (int i = 0; i < n; i++) {
    Bs[i] = cb_dot(n, B[i], step);
    sBs += step[i] * Bs[i];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) B[i][j] += y[i] * y[j] / sy - Bs[i] * Bs[j] / sBs;
}

/* Searches from p along the direction d for a point where f is smaller. Returns whether there is one. */
static bool descend(box_search *s, const point *p, const double *d, point *to) {
  double longest = 0;
  for (int i = 0; i < s->n; i++) longest = fmax(longest, fabs(d[i]));
  double a = longest > .3 ? .3 / longest : 1;
  for (int k = 0; k < HALVINGS; k++, a /= 2) {
    double fall = 0;
    *to = *p;
    for (int i = 0; i < s->n; i++) {
      to->x[i] = fmin(1, fmax(0, p->x[i] + a * d[i]));
      fall += p->g[i] * (to->x[i] - p->x[i]);
    }
    if (!evaluate(s, to->x, &to->f, &to->motion) && to->f <= p->f + 1e-4 * fall + noise) return true;
  }
  return false;
}

/* Minimises f, starting from p. Sets *converged to whether the gradient has become as small as its error. */
static cb_status minimise(box_search *s, point *p, bool *converged) {
  double B[N][N] = {{0}}, d[N];
  *converged = false;
  s->near.steps = 0;
  cb_status status = evaluate(s, p->x, &p->f, &p->motion);
  if (!status) status = differentiate(s, p);
  for (int i = 0; i < s->n && !status; i++) B[i][i] = 10 * slope_of(s, p) + 1e-9;
  for (int it = 0; it < ITERATIONS && !status; it++) {
    const double slope = slope_of(s, p);
    point to;
    if (slope <= 1e-9) {
      *converged = true;
      break;
    }
    direction(s, p, B, d);
    if (!descend(s, p, d, &to)) {
      *converged = slope <= 1e-5;
      break;
    }
    status = differentiate(s, &to);
    if (status) return status;
    const bool still = fabs(to.f - p->f) <= noise && slope_of(s, &to) >= slope / 2;
    if (still && slope <= slope_of(s, &to)) {
      *converged = slope <= 1e-5;
      break;
    }
    update(s->n, p, &to, B);
    *p = to;
    if (still) {
      *converged = slope <= 1e-5;
      break;
    }
  }
  return status;
}

/* Finds the value of a key as in --set; NULL: there is none. */
static const cb_node *find_value(const cb_node *node, const char *key) {
  while (node && *key) {
    char name[sizeof((cb_cycle_key *)0)->name];
    const size_t n = strcspn(key, ".");
    snprintf(name, sizeof name, "%.*s", (int)n, key);
    const size_t item = node->kind == CB_NODE_LIST ? strtoul(name, NULL, 10) : 0;
    node = node->kind == CB_NODE_LIST ? item < node->count ? node->items[item] : NULL : cb_node_get(node, name);
    key += n + (key[n] == '.');
  }
  return node;
}

/* Makes the first guess of a start. Start 0 has the values of the scenario, or the middle of the range for a value that
 * is outside its range; other starts are random. */
static void guess(const box_search *s, int start, uint64_t *random, double *x) {
  for (int i = 0; i < s->n; i++) {
    const cb_cycle_key *k = &s->asked->key[i];
    double value;
    x[i] = start ? .05 + .9 * cb_uniform(random) : .5;
    const cb_node *node = start ? NULL : find_value(cb_tree_root(s->scenario->tree), k->name);
    if (!node || node->kind != CB_NODE_SCALAR || cb_node_real(node, &value)) continue;
    if (value >= k->low && value <= k->high)
      x[i] = logarithmic(k) ? log(value / k->low) / log(k->high / k->low) : (value - k->low) / (k->high - k->low);
  }
}

static bool is_same(const box_search *s, const point *a, const point *b) {
  for (int i = 0; i < s->n; i++)
    if (fabs(a->x[i] - b->x[i]) > 1e-4) return false;
  return true;
}

cb_status cb_cycle_optimise(cb_scenario *scenario, const cb_cycle_search *asked, cb_cycle_optimum *out,
                            cb_scenario **best) {
  box_search s = {.scenario = scenario, .asked = asked, .n = asked->keys};
  uint64_t random = asked->seed;
  point top = {.f = INFINITY};
  cb_status failure = CB_OK;
  *out = (cb_cycle_optimum){.objective = NAN};
  for (int start = 0; start < asked->starts; start++) {
    point p = {.f = INFINITY};
    bool converged;
    guess(&s, start, &random, p.x);
    const cb_status status = minimise(&s, &p, &converged);
    if (status < 0) return status;
    if (status || (!converged && isfinite(top.f))) {
      out->failed++;
      failure = status;
      continue;
    }
    const bool same = isfinite(top.f) && is_same(&s, &p, &top);
    if (same && converged) out->found++;
    if (p.f < top.f || (converged && !out->converged)) {
      if (!same) out->found = converged;
      top = p;
      out->converged = converged;
    }
  }
  if (!isfinite(top.f))
    return cb_fail(failure ? failure : CB_STEP_NO_CONVERGENCE, "no start of the search has a periodic motion: %s",
                   cb_error_text());
  for (int i = 0; i < s.n; i++) {
    out->value[i] = value_of(&asked->key[i], top.x[i]);
    out->bound[i] = held_at(&top, i);
  }
  out->objective = exp(-top.f);
  out->gradient = slope_of(&s, &top);
  out->evaluations = s.evaluations;
  out->motion = top.motion;
  setting *set = cb_arena_alloc(scenario->arena, 1, sizeof *set);
  return set ? open_at(&s, top.x, set, best) : cb_fail(CB_ERROR_MEMORY, "no memory for a scenario");
}
