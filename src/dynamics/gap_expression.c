/* Walls and events that are expressions: parsing, values, and the branches of walls.
 *
 * A wall whose expression is a minimum of several expressions is split into one wall for each of them (a branch). A
 * branch is smooth, and a particle that touches two branches has two normals.
 */
#include "dynamics/gap_expression.h"

#include "core/failure.h"
#include "dynamics/builder_private.h"
#include "numerics/expression_private.h"

#include <math.h>
#include <string.h>

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

/* A branch is valid where its guard is >= 0, and up to `border` (relative to the coordinates) beyond that. Where a
 * resting particle has sunk into the wall, the branch is valid up to `sunk` times the depth farther. This is the width
 * that a kink with a slope of 0.1 has at that depth. */
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

static void differentiate(const void *of, int n, const double *at, int order, cb_gap_value *out, double *first) {
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
    .chart = chart_of, .differentiate = differentiate, .jet = jet, .uses = uses, .branches = branches};
