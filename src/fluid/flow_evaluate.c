/* Flows (see curvebody/flow.h): creates flows, evaluates them at many places, adds them up, and checks their
 * divergence. The functions that read numbers of a fluid from a scenario are at the end. */
#include "core/registry.h"

#include "core/failure.h"
#include "core/threads.h"
#include "fluid/fluid_shared.h"
#include "numerics/random.h"
#include "tree/scalar.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

cb_status cb_flow_new(const cb_fluid_flow_class *class_, cb_flow **out) {
  cb_flow *f = calloc(1, sizeof *f);
  void *data = calloc(1, class_->size ? class_->size : 1);
  if (!f || !data) {
    free(f);
    free(data);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a flow");
  }
  *f = (cb_flow){.class_ = class_, .data = data};
  *out = f;
  return CB_OK;
}

void cb_flow_free(cb_flow *f) {
  if (!f) return;
  if (f->class_->release) f->class_->release(f->data);
  free(f->data);
  free(f);
}

/* Frees the flow f if status is a failure; otherwise f becomes *out. */
static cb_status made(cb_flow *f, cb_status status, cb_flow **out) {
  if (status)
    cb_flow_free(f);
  else
    *out = f;
  return status;
}

cb_status cb_flow_create_class(const cb_fluid_flow_class *class_, const cb_node *value,
                               const cb_expression_scope *parameters, cb_flow **out) {
  static const cb_expression_scope none = {.names = NULL};
  cb_flow *f = NULL;
  cb_status status = cb_flow_new(class_, &f);
  if (status) return status;
  if (class_->params || !class_->init) status = cb_params_bind(class_->params, value, value, NULL, 0, f->data);
  if (!status && class_->init) status = class_->init(f->data, value, parameters ? parameters : &none, &f->facts);
  if (!status) status = cb_flow_check_divergence(f);
  if (status == CB_ERROR_DOMAIN && f->facts.where) status = cb_node_fail(f->facts.where, "%s", cb_error_text());
  return made(f, status, out);
}

cb_status cb_flow_create_grid(const cb_fluid_flow_class *class_, const cb_flow_grid *grid, cb_flow **out) {
  cb_flow *f = NULL;
  const cb_status status = cb_flow_new(class_, &f);
  return status ? status : made(f, class_->from_grid(f->data, grid, &f->facts), out);
}

bool cb_flow_is_even(const cb_flow *f) { return f->facts.even; }
bool cb_flow_is_steady(const cb_flow *f) { return f->facts.steady; }
bool cb_flow_is_uniform(const cb_flow *f) { return f->facts.even && f->facts.steady; }
double cb_flow_slope(const cb_flow *f) { return f->facts.slope; }

/* Evaluates a flow whose class gives the velocity on jets (curvebody/jet.h). */
static void from_jets(const cb_flow *f, double t, const double x[3], cb_flow_point *p) {
  enum { TIME = 3, VARIABLES };
  cb_jet place[VARIABLES], u[3];
  for (int k = 0; k < VARIABLES; k++) place[k] = cb_jet_variable(VARIABLES, k, k == TIME ? t : x[k]);
  f->class_->velocity(f->data, place, u);
  for (int i = 0; i < 3; i++) {
    p->u[i] = u[i].v;
    memcpy(p->gradient[i], u[i].g, sizeof p->gradient[i]);
    p->rate[i] = u[i].g[TIME];
  }
}

static void at(const cb_flow *f, double t, const double x[3], bool slopes, cb_flow_point *p) {
  if (f->class_->at)
    f->class_->at(f->data, t, x, slopes, p);
  else
    from_jets(f, t, x, p);
}

static bool is_finite(const cb_flow_point *p, bool slopes) {
  double sum = p->u[0] + p->u[1] + p->u[2];
  for (int i = 0; slopes && i < 3; i++) sum += p->gradient[i][0] + p->gradient[i][1] + p->gradient[i][2] + p->rate[i];
  return isfinite(sum);
}

typedef struct task {
  const cb_flow *f;
  double t;
  int n;
  const double (*x)[3];
  double (*u)[3], (*gradient)[3][3], (*rate)[3];
  atomic_int failed;
} task;

static cb_status point(const task *k, int i) {
  const double *x = k->x[i];
  const bool slopes = k->gradient || k->rate;
  cb_flow_point p;
  at(k->f, k->t, x, slopes, &p);
  if (!is_finite(&p, slopes))
    return cb_fail(CB_STEP_NOT_FINITE, "flow at (%g, %g, %g), t = %g: velocity (%g, %g, %g)%s: expected finite numbers",
                   x[0], x[1], x[2], k->t, p.u[0], p.u[1], p.u[2],
                   is_finite(&p, false) ? ", its derivatives are not finite" : "");
  memcpy(k->u[i], p.u, sizeof p.u);
  if (k->gradient) memcpy(k->gradient[i], p.gradient, sizeof p.gradient);
  if (k->rate) memcpy(k->rate[i], p.rate, sizeof p.rate);
  return CB_OK;
}

/* Evaluates the n points from `first` on as one block, if the class of the flow has `block`. Returns false if the class
 * has no `block`, or if a value is not finite. */
static bool together(const task *k, int first, int n) {
  cb_flow_block b;
  if (!k->f->class_->block) return false;
  for (int p = 0; p < n; p++)
    for (int i = 0; i < 3; i++) b.x[i][p] = k->x[first + p][i];
  if (!k->f->class_->block(k->f->data, k->t, n, k->gradient || k->rate, k->rate, &b)) return false;
  for (int p = 0; p < n; p++)
    for (int i = 0; i < 3; i++) k->u[first + p][i] = b.u[i][p];
  for (int p = 0; k->gradient && p < n; p++)
    for (int i = 0; i < 9; i++) k->gradient[first + p][i / 3][i % 3] = b.gradient[i / 3][i % 3][p];
  for (int p = 0; k->rate && p < n; p++)
    for (int i = 0; i < 3; i++) k->rate[first + p][i] = b.rate[i][p];
  return true;
}

static void blocks(void *context, int begin, int end) {
  task *k = context;
  for (int j = begin; j < end; j++) {
    const int first = j * CB_FLOW_BLOCK, last = k->n - first < CB_FLOW_BLOCK ? k->n : first + CB_FLOW_BLOCK;
    if (together(k, first, last - first)) continue;
    for (int i = first; i < last; i++)
      if (point(k, i)) {
        cb_threads_least(&k->failed, i);
        return;
      }
  }
}

cb_status cb_flow_at(const cb_flow *f, double t, int n, const double (*x)[3], double (*u)[3], double (*gradient)[3][3],
                     double (*rate)[3]) {
  task k = {f, t, n, x, u, gradient, rate, n};
  cb_threads_range(cb_threads_for((size_t)n), (n + CB_FLOW_BLOCK - 1) / CB_FLOW_BLOCK, blocks, &k);
  return k.failed < n ? point(&k, k.failed) : CB_OK;
}

cb_status cb_flow_check_velocity(const double u[3]) {
  for (int i = 0; i < 3; i++)
    if (!isfinite(u[i]))
      return cb_fail(CB_ERROR_ARGUMENT, "flow: velocity %c is %g: expected a finite number", "xyz"[i], u[i]);
  return CB_OK;
}

/* --- sums of flows --- */

typedef struct sum {
  int n;
  cb_flow **term;
} sum;

static void sum_at(const void *flow, double t, const double x[3], bool slopes, cb_flow_point *p) {
  const sum *f = flow;
  *p = (cb_flow_point){.u = {0}};
  for (int k = 0; k < f->n; k++) {
    cb_flow_point one;
    at(f->term[k], t, x, slopes, &one);
    for (int i = 0; i < 3; i++) {
      p->u[i] += one.u[i];
      for (int j = 0; slopes && j < 3; j++) p->gradient[i][j] += one.gradient[i][j];
      if (slopes) p->rate[i] += one.rate[i];
    }
  }
}

static void sum_release(void *flow) {
  sum *f = flow;
  for (int k = 0; k < f->n; k++) cb_flow_free(f->term[k]);
  free(f->term);
}

static const cb_fluid_flow_class sum_of_flows = {
    .name = "sum", .size = sizeof(sum), .release = sum_release, .at = sum_at};

cb_status cb_flow_sum(int n, cb_flow *const *flows, cb_flow **out) {
  const sum all = {n, malloc((size_t)n * sizeof *all.term)};
  double squares = 0;
  cb_flow *f = NULL;
  const cb_status status = all.term ? cb_flow_new(&sum_of_flows, &f) : cb_fail(CB_ERROR_MEMORY, "no memory for flows");
  if (status) {
    free(all.term);
    for (int k = 0; k < n; k++) cb_flow_free(flows[k]);
    return status;
  }
  memcpy(f->data, &all, sizeof all);
  f->facts.even = f->facts.steady = true;
  for (int k = 0; k < n; k++) {
    all.term[k] = flows[k];
    f->facts.even &= cb_flow_is_even(flows[k]);
    f->facts.steady &= cb_flow_is_steady(flows[k]);
    squares += cb_flow_slope(flows[k]) * cb_flow_slope(flows[k]);
  }
  f->facts.slope = sqrt(squares);
  *out = f;
  return CB_OK;
}

/* Checks whether a flow is incompressible. The check uses the gradient at the origin and at fixed random places and
 * times, whose coordinates have all sizes from a hundredth to a hundred. */

/* If the numbers of a gradient are given with six digits, a divergence that should be 0 has this size, relative to the
 * gradient. */
static const double small = 1e-6;

static double some_size(uint64_t *state) { return pow(100, 2 * cb_uniform(state) - 1); }

double cb_flow_divergence(int n, const double (*gradient)[3][3], double *size) {
  double traces = 0, squares = 0;
  for (int p = 0; p < n; p++) {
    const double *g = gradient[p][0], trace = g[0] + g[4] + g[8];
    traces += trace * trace;
    for (int i = 0; i < 9; i++) squares += g[i] * g[i];
  }
  *size = sqrt(squares / n);
  return sqrt(traces / n);
}

cb_status cb_flow_check_divergence(const cb_flow *f) {
  enum { PLACES = 64 };
  uint64_t state = 1;
  double first[3] = {0}, when = 0, found = 0, beside = 0;
  bool any = false;
  for (int p = 0; p < PLACES; p++) {
    double x[1][3] = {{0}}, u[1][3], G[1][3][3], size, t = 0;
    for (int i = 0; p && i < 3; i++) x[0][i] = (cb_uniform(&state) < 0.5 ? -1 : 1) * some_size(&state);
    if (p) t = some_size(&state);
    /* A flow may have no value at a place, for instance on the axis of a vortex. */
    if (cb_flow_at(f, t, 1, (const double(*)[3])x, u, G, NULL)) continue;
    const double divergence = cb_flow_divergence(1, (const double(*)[3][3])G, &size);
    if (!(size > 0)) continue;
    /* One place without divergence is enough: if the divergence is not 0 everywhere, it is 0 at a random place only by
     * chance. */
    if (divergence <= small * size) return CB_OK;
    if (any) continue;
    any = true;
    for (int i = 0; i < 3; i++) first[i] = x[0][i];
    when = t;
    found = G[0][0][0] + G[0][1][1] + G[0][2][2];
    beside = size;
  }
  if (!any) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "the fluid is incompressible: expected a flow without divergence, found %.3g/s at (%.3g, %.3g, %.3g), "
                 "t = %.3g, with a gradient of %.3g/s",
                 found, first[0], first[1], first[2], when, beside);
}

/* --- numbers of a fluid in a scenario --- */

cb_status cb_fluid_texts(const cb_node *list, const char *text[3]) {
  if (!list || list->kind != CB_NODE_LIST)
    return cb_node_fail(list, "expected a list of three, along x, y, z, found %s", cb_node_found(list).text);
  if (list->count != 3) return cb_node_fail(list, "expected a list of three, along x, y, z, found %zu", list->count);
  cb_status status = CB_OK;
  for (size_t i = 0; i < 3 && !status; i++) status = cb_node_string(list->items[i], &text[i]);
  return status;
}

bool cb_fluid_lacks_parameter(const cb_expression_scope *scope) {
  size_t i = 0;
  while (i < scope->n_parameters && !isnan(scope->values[i])) i++;
  return i < scope->n_parameters;
}

cb_status cb_fluid_number(const cb_node *node, const cb_expression_scope *scope, const double *x, double *out) {
  cb_expression *e;
  const cb_status status = cb_node_expression(node, scope, &e);
  if (status) return status;
  *out = cb_expression_value(e, x);
  cb_expression_free(e);
  if (isnan(*out) && cb_fluid_lacks_parameter(scope)) return cb_fail_consequence();
  return isfinite(*out) ? CB_OK : cb_node_fail(node, "expected a finite number, found %g", *out);
}

cb_status cb_fluid_vector(const cb_node *list, const cb_expression_scope *scope, const double *x, double out[3]) {
  const char *text[3];
  const cb_status status = cb_fluid_texts(list, text);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < 3; i++)
    cb_errors_add(&errors, list->items[i], cb_fluid_number(list->items[i], scope, x, &out[i]));
  return cb_errors_end(&errors);
}
