/* The user's wrenches: expressions of the twist wx wy wz vx vy vz, the place x y z and the time t. */
#include "fluid/immersed_private.h"
#include "numerics/small.h"
#include "numerics/numerics_curved.h"

#include <math.h>
#include <string.h>

static const char *const variables[] = {"wx", "wy", "wz", "vx", "vy", "vz", "x", "y", "z", "t"};
enum { TWIST = 6, VARIABLES = 10, DIFFERENTIATED = 9 };

cb_status cb_immersed_parse_texts(cb_immersed *b, const cb_immersed_options *o, int *which, int *component,
                                  size_t *at) {
  const cb_expression_scope scope = {variables, VARIABLES, o->names, o->values, o->n_parameters};
  b->text = cb_arena_alloc(b->arena, (size_t)o->n_wrenches, sizeof *b->text);
  if (!b->text) return cb_fail(CB_ERROR_MEMORY, "no memory for %d wrenches", o->n_wrenches);
  for (int i = 0; i < o->n_wrenches; i++) {
    const cb_wrench_text *in = o->wrenches + i;
    cb_immersed_text *text = b->text + i;
    text->name = cb_arena_strdup(b->arena, in->name);
    if (!text->name) return cb_fail(CB_ERROR_MEMORY, "no memory for %d wrenches", o->n_wrenches);
    text->world = in->world;
    double y[4];
    text->curvature = b->fluid.curvature;
    cb_curved_point(text->curvature, in->at, y);
    memcpy(text->at, y, sizeof text->at);
    text->w = y[3];
    b->texts = i + 1;
    for (int k = 0; k < 6; k++) {
      const char *expression = k < 3 ? in->torque[k] : in->force[k - 3];
      if (!expression) continue;
      const cb_status status = cb_expression_parse_in(expression, &scope, at, &text->component[k]);
      if (!status) continue;
      if (which) *which = i;
      if (component) *component = k;
      return status;
    }
  }
  return CB_OK;
}

void cb_immersed_free_texts(cb_immersed *b) {
  for (int i = 0; i < b->texts; i++)
    for (int k = 0; k < 6; k++) cb_expression_free(b->text[i].component[k]);
}

/* Evaluates the components and their derivatives in the twist and the place. */
static cb_status evaluate(const cb_immersed_text *text, const cb_immersed_moment *m, double value[6],
                          double slope[6][DIFFERENTIATED]) {
  double in[VARIABLES];
  memcpy(in, m->Y, TWIST * sizeof *in);
  memcpy(in + TWIST, m->g->x, 3 * sizeof *in);
  in[DIFFERENTIATED] = m->t;
  for (int k = 0; k < 6; k++) {
    const cb_expression *e = text->component[k];
    value[k] = 0;
    if (slope) memset(slope[k], 0, sizeof slope[k]);
    if (!e) continue;
    value[k] = slope ? cb_expression_gradient(e, in, DIFFERENTIATED, slope[k]) : cb_expression_value(e, in);
    if (!isfinite(value[k]))
      return cb_fail(CB_STEP_NOT_FINITE, "%s %c of wrench `%s` is %g at t = %g, place (%g, %g, %g)",
                     k < 3 ? "torque" : "force", "xyz"[k % 3], text -> name, value[k], m -> t, in[6], in[7], in[8]);
  }
  return CB_OK;
}

/* Sets `wrench` to the wrench of the torque and force `value`, which act at the place `at`. Their axes are the body's
 * axes, carried to `at` by its transvection:
 *
 *   (torque + x × f, w f + K x (x.f)/(1 + w)),  (x, w) the point of normal coordinates `at`
 */
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

static cb_status add(const cb_immersed_text *text, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  double value[6], slope[6][DIFFERENTIATED], wrench[6], column[DIFFERENTIATED][6];
  const cb_status status = evaluate(text, m, value, to->dF || to->dg ? slope : NULL);
  if (status) return status;
  take(text, m->r, value, wrench);
  for (int i = 0; to->F && i < 6; i++) to->F[i] += wrench[i];
  for (int j = 0; (to->dF || to->dg) && j < DIFFERENTIATED; j++) {
    double along[6];
    for (int k = 0; k < 6; k++) along[k] = slope[k][j];
    take(text, m->r, along, column[j]);
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      if (to->dF) to->dF[i][j] += column[j][i];
      for (int k = 0; to->dg && j >= 3 && k < 3; k++)
        to->dg[i][j] += column[TWIST + k][i] * m->r[k][j - 3]; /* dx = R xi_v */
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
    if (to->number == CB_TERM_ALL || to->number == k) status = add(b->text + k, m, to);
  return status;
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
    .wrench = wrench,
};
