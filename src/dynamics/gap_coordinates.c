/* Walls and events that are functions s(q, t, r) of coordinates in the world, of the time t and of radii r of
 * particles: their values and first derivatives.
 *
 *   s_x = s_q q_x
 * q are the coordinates in a chart, or in the embedding, and q_x are their derivatives in the particle's moved frame
 * (constraint_private.h). In a space with a chart, s_x is pulled back to that chart. s comes from the class
 * (gap_class.h): by on_jets, or by a closed form. Source: Griewank & Walther, Evaluating Derivatives, 2nd ed. (2008),
 * chapter 13, doi:10.1137/1.9780898717761.
 *
 * The most general of these functions are expressions. A wall whose expression is a minimum of several expressions is
 * split into one wall for each of them (a branch). A branch is smooth, and a particle that touches two branches has two
 * normals.
 */
#include "dynamics/gap_class.h"

#include "core/failure.h"
#include "dynamics/builder_private.h"
#include "dynamics/constraint_private.h"
#include "numerics/expression_private.h"

#include <math.h>
#include <string.h>

/* --- expressions --- */

enum { MAX_BRANCHES = 32 };

cb_status cb_gap_expression_parse(cb_builder *b, const char *chart, const char *text, cb_gap_expression *out) {
  const cb_space *g = b->space;
  const char *names[CB_Q_MAX + 2];
  cb_contact_set *set = NULL;
  cb_expression *expression;
  const cb_chart *in = chart ? cb_chart_find(g, chart) : g->chart ? g->chart : cb_chart_find(g, "embedding");
  if (!in)
    return cb_fail(CB_ERROR_ARGUMENT, "the space has no chart '%s': `curvebody list spaces` lists its charts",
                   chart ? chart : "embedding");
  for (int a = 0; a < in->size; a++) names[a] = in->coordinates[a];
  names[in->size] = "t";
  names[in->size + 1] = "r";
  cb_status status = cb_builder_contact_set(b, &set);
  if (!status)
    status = cb_builder_grow((void **)&set->expression, set->n_expressions, &set->capacity_expressions,
                             sizeof *set->expression);
  if (!status) status = cb_builder_parse(b, text, names, (size_t)in->size + 2, &expression);
  if (status) return status;
  set->expression[set->n_expressions++] = expression;
  *out = (cb_gap_expression){.chart = in == g->chart || strcmp(in->name, "embedding") ? in : NULL,
                             .expression = expression};
  return CB_OK;
}

cb_status cb_gap_expression_init(void *params, const cb_space *space, cb_builder *b) {
  (void)space;
  cb_gap_expression *p = params;
  const cb_node *value = p->value;
  const char *text, *chart = NULL;
  cb_status status = cb_node_string(value, &text);
  if (!status && p->chart_node) status = cb_node_string(p->chart_node, &chart);
  return status ? status : cb_builder_placed(b, cb_gap_expression_parse(b, chart, text, p), value, true);
}

/* --- values --- */

/* A branch is valid where its guard is >= 0. Beyond that it is still valid up to the distance `border`, relative to the
 * coordinates. If a resting particle has sunk into the wall, `sunk` times its depth is added to this distance. This is
 * the width of a kink with a slope of 0.1 at this depth. */
static const double border = 1e-9, sunk = 10;

static bool holds(const cb_gap_expression *f, int n, const double *at) {
  double slope[CB_Q_MAX + 2], squares = 0, size = 1;
  const double guard = cb_expression_gradient(f->guard, at, n, slope);
  if (guard >= 0) return true;
  for (int i = 0; i < n; i++) {
    squares += slope[i] * slope[i];
    size = fmax(size, fabs(at[i]));
  }
  const double depth = f->whole ? fmax(0, -cb_expression_value(f->whole, at)) : 0;
  return guard >= -(border * size + sunk * depth) * sqrt(squares);
}

static void differentiate_expression(const void *of, int n, const double *at, int order, cb_gap_value *out,
                                     double *first) {
  const cb_gap_expression *f = of;
  out->gap = order ? cb_expression_gradient(f->expression, at, n + 1, first) : cb_expression_value(f->expression, at);
  if (f->guard && isfinite(out->gap)) out->active = holds(f, n, at);
}

static const cb_chart *chart_of(const void *of) { return ((const cb_gap_expression *)of)->chart; }
static cb_jet jet(const void *of, const double *at, int n) {
  return cb_expression_jet(((const cb_gap_expression *)of)->expression, at, n);
}
static bool uses(const void *of, int i) {
  return cb_expression_uses(((const cb_gap_expression *)of)->expression, (size_t)i);
}

/* --- branches --- */

/* Gives an expression to the set, which then owns it. Returns false if e is NULL. If *status is an error, frees e and
 * returns false. */
static bool keep(cb_contact_set *set, cb_expression *e, cb_status *status) {
  if (!*status)
    *status = cb_builder_grow((void **)&set->expression, set->n_expressions, &set->capacity_expressions,
                              sizeof *set->expression);
  if (*status) {
    cb_expression_free(e);
    return false;
  }
  if (e) set->expression[set->n_expressions++] = e;
  return e != NULL;
}

static cb_status branches(cb_contact_set *set, const cb_system *s, int wall) {
  cb_expression_branch branch[MAX_BRANCHES];
  int count = 0;
  const cb_gap_expression *given = set->wall[wall].function.of;
  const int variables = given->chart ? given->chart->size + 1 : s->space->embedding + 1;
  cb_status status = cb_expression_branches(given->expression, variables, MAX_BRANCHES, branch, &count);
  cb_gap_expression *of = status || !count ? NULL : cb_arena_alloc(set->texts, (size_t)count, sizeof *of);
  if (count && !status && !of) status = cb_fail(CB_ERROR_MEMORY, "no memory for the branches of a wall");
  for (int i = 0; i < count; i++) {
    const bool kept = keep(set, branch[i].value, &status), guarded = keep(set, branch[i].guard, &status);
    if (!status && i > 0)
      status = cb_builder_grow((void **)&set->wall, set->n_walls, &set->capacity_walls, sizeof *set->wall);
    if (status || !kept) continue;
    const int at = i > 0 ? set->n_walls++ : wall;
    of[i] = (cb_gap_expression){.chart = given->chart,
                                .expression = branch[i].value,
                                .whole = branch[i].plane ? NULL : given->expression,
                                .guard = guarded ? branch[i].guard : NULL};
    set->wall[at] = set->wall[wall];
    set->wall[at].function.of = &of[i];
    set->wall[at].tip = branch[i].plane;
  }
  return status;
}

const cb_gap_forms cb_gap_expression_forms = {
    .chart = chart_of, .differentiate = differentiate_expression, .jet = jet, .uses = uses, .branches = branches};

/* --- values and derivatives --- */

enum { K = CB_COORD_MAX };

static cb_status step_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

const cb_chart *cb_gap_function_chart(const cb_space *g, const cb_gap_function *f) {
  const cb_gap_class *c = f->class;
  if (c->forms && c->forms->chart) return c->forms->chart(f->of);
  const cb_chart *chart = c->chart ? cb_chart_find(g, c->chart) : g->chart;
  return chart && (chart == g->chart || strcmp(chart->name, "embedding")) ? chart : NULL;
}

bool cb_gap_function_uses(const cb_gap_function *f, int i) {
  const cb_gap_forms *forms = f->class->forms;
  return forms && forms->uses ? forms->uses(f->of, i) : true;
}

bool cb_gap_function_timed(const cb_space *g, const cb_gap_function *f) {
  if (cb_gap_function_is_length(f)) return false;
  const cb_gap_forms *forms = f->class->forms;
  const cb_chart *chart = cb_gap_function_chart(g, f);
  return forms && forms->uses ? forms->uses(f->of, chart ? chart->size : g->embedding) : f->class->timed;
}

/* Evaluates the function on_jets of the class. For order > 0, also computes the derivatives of first and second order
 * in the n coordinates and in t. */
static cb_status on_jets(const cb_space *g, const cb_gap_function *f, int n, const double *at, int order, cb_jet *out) {
  cb_jet x[CB_JET_MAX];
  for (int i = 0; i <= n; i++) x[i] = order ? cb_jet_variable(n + 1, i, at[i]) : cb_jet_constant(0, at[i]);
  return f->class->on_jets(f->of, g, x, &x[n], at + n + 1, out);
}

cb_jet cb_gap_function_jet(const cb_space *g, const cb_gap_function *f, int n, const double *at) {
  const cb_gap_forms *forms = f->class->forms;
  if (forms && forms->jet) return forms->jet(f->of, at, n + 1);
  cb_jet jet;
  return on_jets(g, f, n, at, 2, &jet) ? cb_jet_constant(n + 1, NAN) : jet;
}

/* Computes the value of the function f and, for order 1, its derivatives by the n coordinates and by t. */
static cb_status differentiate(const cb_space *g, const cb_gap_function *f, int n, const double *at, int order,
                               cb_gap_value *out, double *first) {
  const cb_gap_forms *forms = f->class->forms;
  if (forms && forms->differentiate) {
    forms->differentiate(f->of, n, at, order, out, first);
  } else {
    cb_jet jet;
    const cb_status status = on_jets(g, f, n, at, order, &jet);
    if (status) return step_status(status);
    out->gap = jet.v;
    if (order) memcpy(first, jet.g, (size_t)(n + 1) * sizeof *first);
  }
  bool finite = isfinite(out->gap);
  for (int i = 0; order && i <= n; i++) finite = finite && isfinite(first[i]);
  if (!finite)
    return cb_fail(
        CB_STEP_DOMAIN,
        "the expression of a wall or event is not finite at this point: use a smaller `step` or another expression");
  out->rate_t = order ? first[n] : 0;
  return CB_OK;
}

/* to[dim] = J^T from, in a space with a chart: `from` is a gradient in the embedding, and J[embedding][dim] is the
 * Jacobian of the point in the coordinates of the chart. */
static void pull(const cb_space *g, const double *J, const double *from, double *to) {
  for (int i = 0; i < g->dim; i++) {
    to[i] = 0;
    for (int a = 0; a < g->embedding; a++) to[i] += J[a * g->dim + i] * from[a];
  }
}

/* The coordinates q of a particle with their derivatives. In a space with a chart, J is the Jacobian of the point of
 * the embedding in the coordinates of that chart. */
typedef struct place {
  cb_coordinates q;
  double J[K * CB_DIM_MAX];
} place;

/* Evaluates the coordinates of a particle at x. in_chart: the space is not intrinsic, and has a chart that differs from
 * the chart of the function s. */
static cb_status locate(const cb_gaps *gaps, const cb_chart *chart, int particle, bool in_chart, const double *x,
                        int order, place *out) {
  const cb_space *g = gaps->space;
  double point[K];
  cb_isometry world;
  if (in_chart) {
    const cb_status status = step_status(g->chart->to_point(g, x, point, order ? out->J : NULL));
    if (status) return status;
  }
  cb_origin_isometry(g, cb_gap_origin(gaps, particle), &world);
  return cb_coordinates_at(g, chart, &world, in_chart ? point : x, order, &out->q);
}

cb_status cb_gap_coordinates(const cb_gaps *gaps, const cb_gap_function *f, const cb_gap *gap, double t,
                             const double *const *x, int order, cb_gap_value *out) {
  const cb_space *g = gaps->space;
  const cb_chart *chart = cb_gap_function_chart(g, f);
  const bool in_chart = g->chart && !g->intrinsic && chart != g->chart, own = g->chart && !gaps->moves && !in_chart;
  const int size = chart ? chart->size : g->embedding, n = gap->n * size;
  double at[CB_JET_MAX + 2], first[CB_JET_MAX], slope[K];
  place of[2];
  for (int p = 0; p < gap->n; p++) {
    at[n + 1 + p] = gaps->system->radius[gap->particle[p]];
    if (own) {
      memcpy(at + p * size, x[p], (size_t)size * sizeof *at);
      continue;
    }
    const cb_status status = locate(gaps, chart, gap->particle[p], in_chart, x[p], order, &of[p]);
    if (status) return status;
    memcpy(at + p * size, of[p].q.q, (size_t)size * sizeof *at);
  }
  at[n] = t;
  const cb_status status = differentiate(g, f, n, at, order, out, first);
  if (status || !order) return status;
  if (own) memcpy(out->gradient, first, (size_t)n * sizeof *first);
  for (int p = 0; p < gap->n && !own; p++) {
    double *own_gradient = out->gradient + p * g->k, *gradient = in_chart ? slope : own_gradient;
    for (int a = 0; a < g->embedding; a++) {
      gradient[a] = 0;
      for (int c = 0; c < size; c++) gradient[a] += first[p * size + c] * of[p].q.first[c][a];
    }
    if (in_chart) pull(g, of[p].J, slope, own_gradient);
  }
  return CB_OK;
}
