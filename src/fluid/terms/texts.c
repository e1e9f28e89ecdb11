/* The user's wrenches: expressions e_k of the body's quantities q (immersed_run.h), of the time t and of external
 * numbers c, for the components of the torque and the force.
 *
 *   dF/dY = sum_i dF/dq_i dq_i/dY,  dF/dxi = sum_i dF/dq_i dq_i/dxi (and R^T f × xi_omega for f in the world's axes),
 *   dF/dc = the wrench of de/dc
 *
 * F is the wrench, f its torque or force, Y the twist, xi a small change of the pose, xi_omega its angular part, and R
 * the rotation of the pose. The derivatives of the expressions are exact. */
#include "fluid/immersed_private.h"
#include "numerics/small.h"
#include "numerics/numerics_curved.h"

#include <math.h>
#include <string.h>

enum { TIME = CB_BODY_QUANTITIES, EXTERNAL = TIME + 1, VARIABLES = EXTERNAL + CB_IMMERSED_EXTERNALS };
_Static_assert(VARIABLES == CB_EXPRESSION_VARIABLES, "an expression has as many variables as it can have");

static cb_status copy_externals(cb_immersed *b, const cb_immersed_options *o) {
  if (o->n_externals > CB_IMMERSED_EXTERNALS)
    return cb_fail(CB_ERROR_ARGUMENT, "wrenches that use %d quantities of other bodies: expected at most %d",
                   o->n_externals, CB_IMMERSED_EXTERNALS);
  b->external = cb_arena_alloc(b->arena, (size_t)o->n_externals, sizeof *b->external);
  if (!b->external) return cb_fail(CB_ERROR_MEMORY, "no memory for %d names", o->n_externals);
  for (int i = 0; i < o->n_externals; i++)
    if (!(b->external[i] = cb_arena_strdup(b->arena, o->externals[i])))
      return cb_fail(CB_ERROR_MEMORY, "no memory for %d names", o->n_externals);
  b->externals = o->n_externals;
  return CB_OK;
}

static void list_uses(cb_immersed_text *text) {
  for (int i = 0; i < CB_BODY_QUANTITIES; i++) {
    bool used = false;
    for (int k = 0; k < 6; k++)
      used = used || (text->component[k] && cb_expression_uses(text->component[k], (size_t)i));
    if (used) text->use[text->uses++] = (uint8_t)i;
  }
}

static cb_status begin_text(cb_immersed *b, const cb_wrench_text *in, cb_immersed_text *text) {
  double y[4];
  text->name = cb_arena_strdup(b->arena, in->name);
  if (!text->name) return cb_fail(CB_ERROR_MEMORY, "no memory for the name of a wrench");
  text->world = in->world;
  text->curvature = b->fluid.curvature;
  cb_curved_point(text->curvature, in->at, y);
  memcpy(text->at, y, sizeof text->at);
  text->w = y[3];
  return CB_OK;
}

cb_status cb_immersed_parse_texts(cb_immersed *b, const cb_immersed_options *o, int *which, int *component,
                                  size_t *at) {
  const char *variables[VARIABLES];
  cb_status status = copy_externals(b, o);
  if (status) return status;
  memcpy(variables, cb_body_quantities, CB_BODY_QUANTITIES * sizeof *variables);
  variables[TIME] = "t";
  for (int i = 0; i < b->externals; i++) variables[EXTERNAL + i] = b->external[i];
  const cb_expression_scope scope = {.names = variables,
                                     .n = (size_t)(EXTERNAL + b->externals),
                                     .parameters = o->names,
                                     .values = o->values,
                                     .n_parameters = o->n_parameters,
                                     .controls = o->controls,
                                     .control_values = o->control_values,
                                     .n_controls = o->n_controls};
  b->text = cb_arena_alloc(b->arena, (size_t)o->n_wrenches, sizeof *b->text);
  if (!b->text) return cb_fail(CB_ERROR_MEMORY, "no memory for %d wrenches", o->n_wrenches);
  for (int i = 0; i < o->n_wrenches; i++) {
    const cb_wrench_text *in = o->wrenches + i;
    if ((status = begin_text(b, in, b->text + i))) return status;
    b->texts = i + 1;
    for (int k = 0; k < 6; k++) {
      const char *expression = k < 3 ? in->torque[k] : in->force[k - 3];
      if (!expression) continue;
      status = cb_expression_parse_in(expression, &scope, at, &b->text[i].component[k]);
      if (!status) continue;
      if (which) *which = i;
      if (component) *component = k;
      return status;
    }
    list_uses(b->text + i);
  }
  return CB_OK;
}

void cb_immersed_free_texts(cb_immersed *b) {
  for (int i = 0; i < b->texts; i++)
    for (int k = 0; k < 6; k++) cb_expression_free(b->text[i].component[k]);
}

int cb_immersed_externals(const cb_immersed *b) { return b->externals; }
const char *cb_immersed_external(const cb_immersed *b, int i) { return b->external[i]; }
void cb_immersed_workspace_know(cb_immersed_workspace *s, const double *values) { s->known = values; }

/* Evaluates the components and, unless slope is NULL, their derivatives in the first n variables. */
static cb_status evaluate(const cb_immersed_workspace *s, const cb_immersed_text *text, const cb_immersed_moment *m,
                          double value[6], int n, double slope[6][VARIABLES]) {
  double in[VARIABLES];
  cb_body_quantities_of(m->g, m->r, m->Y, in);
  in[TIME] = m->t;
  if (s->b->externals) memcpy(in + EXTERNAL, s->known, (size_t)s->b->externals * sizeof *in);
  for (int k = 0; k < 6; k++) {
    const cb_expression *e = text->component[k];
    value[k] = 0;
    if (slope) memset(slope[k], 0, (size_t)n * sizeof *slope[k]);
    if (!e) continue;
    value[k] = slope ? cb_expression_gradient(e, in, n, slope[k]) : cb_expression_value(e, in);
    if (!isfinite(value[k]))
      return cb_fail(CB_STEP_NOT_FINITE, "%s %c of wrench `%s` is %g at t = %g, place (%g, %g, %g)",
                     k < 3 ? "torque" : "force", "xyz"[k % 3], text -> name, value[k], m -> t, in[CB_BODY_PLACE],
                     in[CB_BODY_PLACE + 1], in[CB_BODY_PLACE + 2]);
  }
  return CB_OK;
}

/* Sets `wrench` to the wrench of the torque and the force f in `value`, which act at the place `at`. Their components
 * are along the body's axes or the world's axes (text->world), transported from the body's origin to `at`:
 *
 *   (torque + x × f, w f + K x (x.f)/(1 + w))
 *
 * (x, w) is the point with the normal coordinates `at`, and K the curvature. */
static void take(const cb_immersed_text *text, const double r[3][3], const double value[6], double wrench[6]) {
  double torque[3];
  for (int k = 0; k < 6; k += 3)
    if (text->world)
      cb_apply3_transposed(r, value + k, wrench + k);
    else
      memcpy(wrench + k, value + k, 3 * sizeof *value);
  cb_cross3(text->at, wrench + 3, torque);
  for (int i = 0; i < 3; i++) wrench[i] += torque[i];
  if (text->curvature == 0) return;
  const double share = text->curvature * cb_dot3(text->at, wrench + 3) / (1 + text->w);
  for (int i = 0; i < 3; i++) wrench[3 + i] = text->w * wrench[3 + i] + share * text->at[i];
}

/* Sets `column` to the derivative of the wrench in variable i of the expressions. `slope` has the derivatives of the
 * expressions. */
static void take_slope(const cb_immersed_text *text, const double r[3][3], double slope[6][VARIABLES], int i,
                       double column[6]) {
  double along[6];
  for (int k = 0; k < 6; k++) along[k] = slope[k][i];
  take(text, r, along, column);
}

/* Adds column row^T to `out`, without products with 0, because a derivative may be infinite. */
static void add_product(const double column[6], const double row[6], cb_tensor out) {
  for (int j = 0; out && j < 6; j++)
    if (row[j] != 0)
      for (int i = 0; i < 6; i++) out[i][j] += column[i] * row[j];
}

static cb_status add(const cb_immersed_workspace *s, const cb_immersed_text *text, const cb_immersed_moment *m,
                     const cb_immersed_sums *to) {
  const bool sloped = to->dF || to->dg;
  double value[6], slope[6][VARIABLES], wrench[6];
  const cb_status status = evaluate(s, text, m, value, CB_BODY_QUANTITIES, sloped ? slope : NULL);
  if (status) return status;
  take(text, m->r, value, wrench);
  for (int i = 0; to->F && i < 6; i++) to->F[i] += wrench[i];
  for (int k = 0; sloped && k < text->uses; k++) {
    double column[6], dY[6], dxi[6];
    take_slope(text, m->r, slope, text->use[k], column);
    cb_body_quantity_slopes(m->r, m->Y, text->use[k], dY, dxi);
    add_product(column, dY, to->dF);
    add_product(column, dxi, to->dg);
  }
  if (to->dg && text->world) {
    double force[3], torque[3];
    cb_apply3_transposed(m->r, value + 3, force);
    cb_apply3_transposed(m->r, value, torque);
    cb_immersed_push(text->at, force, NULL, to->dg);
    cb_immersed_turn(torque, NULL, to->dg);
  }
  return CB_OK;
}

static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_immersed *b = s->b;
  cb_status status = CB_OK;
  for (int k = 0; k < b->texts && !status; k++)
    if (to->number == CB_TERM_ALL || to->number == k) status = add(s, b->text + k, m, to);
  return status;
}

cb_status cb_immersed_workspace_external_slopes(cb_immersed_workspace *s, double t, const cb_pose *g, const double Y[6],
                                                double (*out)[6]) {
  const cb_immersed *b = s->b;
  cb_immersed_moment m;
  cb_immersed_moment_of(t, g, Y, &m);
  if (b->externals) memset(out, 0, (size_t)b->externals * sizeof *out);
  for (int i = 0; b->externals && i < b->texts; i++) {
    double value[6], slope[6][VARIABLES], column[6];
    const cb_status status = evaluate(s, b->text + i, &m, value, EXTERNAL + b->externals, slope);
    if (status) return status;
    for (int k = 0; k < b->externals; k++) {
      take_slope(b->text + i, m.r, slope, EXTERNAL + k, column);
      cb_add6(1, column, out[k]);
    }
  }
  return CB_OK;
}

static cb_status create(cb_immersed_workspace *s) {
  const int n = s->b->externals;
  if (n > 0 && !(s->known = cb_arena_alloc(s->arena, (size_t)n, sizeof *s->known)))
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d numbers", n);
  return CB_OK;
}

static int count(const cb_immersed *b) { return b->texts; }
static const char *name_of(cb_immersed *b, int i) { return b->text[i].name; }

const cb_immersed_term_class cb_immersed_term_texts = {
    .name = "texts",
    .order = 100,
    .count = count,
    .name_of = name_of,
    .surfaceless = cb_immersed_always,
    .approximate = cb_immersed_always,
    .create = create,
    .wrench = wrench,
};
