/* The forces of fluid models other than the local one, each term of a model as a wrench. A model acts at places
 * (fluid/immersed_problem.c) or on faces (fluid/immersed_field.c). The derivative of forces on faces along the pose is
 * computed as that of lift and drag (local_drag.c). */
#include "fluid/immersed_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *term_of(const cb_fluid_model *m, int term) {
  return m->class_->terms ? m->class_->terms[term] : "drag";
}

static cb_status create(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  const size_t terms = (size_t)b->models.terms;
  s->term = cb_arena_alloc(s->arena, terms, sizeof *s->term);
  s->term_slope = cb_arena_alloc(s->arena, b->models.by_place ? terms : 0, sizeof *s->term_slope);
  s->fluid_sample = cb_arena_alloc(s->arena, (size_t)b->models.places, sizeof *s->fluid_sample);
  s->face_sum =
      cb_arena_alloc(s->arena, b->models.by_face ? cb_immersed_faces_capacity(s->local) : 0, sizeof *s->face_sum);
  if (!s->term || !s->term_slope || !s->fluid_sample || !s->face_sum)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the forces on %d faces", b->surface->faces);
  for (const cb_immersed_model_instance *f = b->models.of; f < b->models.of + b->models.n; f++)
    for (int p = 0; p < f->places; p++)
      cb_immersed_place_at(s->fluid_sample + f->first_place + p, f->at[p], b->around.density);
  return CB_OK;
}

/* Computes the terms F of a model at its place number p, and the derivatives dF of the terms in V (NULL: not wanted).
 * `at` has the data of the fluid at this place, and V is the twist of the place relative to the flow. F and dF are 0 on
 * entry. */
static cb_status act(const cb_immersed_model_instance *of, int p, const cb_immersed_fluid_sample *at, const double V[6],
                     double (*F)[6], double (*dF)[6][6]) {
  const cb_fluid_model *model = of->model;
  double turned[6];
  if (!at->turned) return model->class_->on_twist(model, of->body, p, at->density, V, F, dF);
  cb_turn6_transposed((const double(*)[3])at->R, V, turned);
  const cb_status status = model->class_->on_twist(model, of->body, p, at->density, turned, F, dF);
  for (int k = 0; k < of->terms; k++) {
    memcpy(turned, F[k], sizeof turned);
    cb_turn6((const double(*)[3])at->R, turned, F[k]);
    if (dF) cb_turn_matrix6((const double(*)[3])at->R, dF[k]);
  }
  return status;
}

/* Adds the terms of a model that acts at places to term[terms]. With `slopes` the derivative at each place is stored in
 * s->fluid_sample (dF). */
static cb_status find_twists(cb_immersed_workspace *s, const cb_immersed_model_instance *of,
                             const cb_immersed_moment *m, double (*term)[6], bool slopes) {
  const size_t terms = (size_t)of->terms;
  for (int p = 0; p < of->places; p++) {
    cb_immersed_fluid_sample *fluid_sample = s->fluid_sample + of->first_place + p;
    /* The terms of the first place are added directly to `term`, which the caller has set to 0. */
    double V[6], more[CB_FLUID_TERMS][6], (*F)[6] = p ? more : term;
    cb_status status = cb_immersed_look(s->b, m, fluid_sample);
    if (status) return status;
    cb_immersed_relative_twist(fluid_sample, m->Y, V);
    if (p) memset(more, 0, terms * sizeof *more);
    if (slopes) memset(s->term_slope, 0, terms * sizeof *s->term_slope);
    status = act(of, p, fluid_sample, V, F, slopes ? s->term_slope : NULL);
    if (status) return status;
    for (size_t k = 0; k < terms && fluid_sample->off; k++) cb_immersed_carry_back(fluid_sample, F[k]);
    for (size_t k = 0; k < terms && p; k++) cb_add6(1, more[k], term[k]);
    if (!slopes) continue;
    memcpy(fluid_sample->dF, s->term_slope[0], sizeof fluid_sample->dF);
    for (size_t k = 1; k < terms; k++)
      for (int i = 0; i < 6; i++) cb_add6(1, s->term_slope[k][i], fluid_sample->dF[i]);
  }
  return CB_OK;
}

/* Adds the sum of the terms of a model that acts at places to F, without storing the terms. */
static cb_status add_twists(cb_immersed_workspace *s, const cb_immersed_model_instance *of, const cb_immersed_moment *m,
                            double F[6]) {
  const bool still = !s->b->around.layered && !s->b->around.has_flow;
  for (int p = 0; p < of->places; p++) {
    cb_immersed_fluid_sample *fluid_sample = s->fluid_sample + of->first_place + p;
    double V[6], term[CB_FLUID_TERMS][6];
    cb_status status = still ? CB_OK : cb_immersed_look(s->b, m, fluid_sample);
    if (status) return status;
    const bool as_it_is = still && !fluid_sample->off && !fluid_sample->moves;
    if (!as_it_is) cb_immersed_relative_twist(fluid_sample, m->Y, V);
    memset(term, 0, (size_t)of->terms * sizeof *term);
    status = act(of, p, fluid_sample, as_it_is ? m->Y : V, term, NULL);
    if (status) return status;
    for (int k = 1; k < of->terms; k++)
      for (int i = 0; i < 6; i++) term[0][i] += term[k][i];
    cb_immersed_carry_back(fluid_sample, term[0]);
    for (int i = 0; i < 6; i++) F[i] += term[0][i];
  }
  return CB_OK;
}

/* Adds X^T dF a to a column of `out`, with the derivative dF at a place and the matrix X of
 * fluid/immersed_problem.c. */
static void add_column(const cb_immersed_fluid_sample *at, const double a[6], cb_tensor out, int column) {
  double F[6];
  cb_apply6((const double(*)[6])at->dF, a, F);
  cb_immersed_carry_back(at, F);
  for (int i = 0; i < 6; i++) out[i][column] += F[i];
}

/* Adds the derivative of the wrench at a place in the twist, X^T dF X, to dF, and the derivative along the pose,
 * X^T dF dV, to dg (NULL: not wanted; symbols: fluid/immersed_problem.c). */
static void add_slopes(const cb_immersed_fluid_sample *at, cb_tensor dF, cb_tensor dg) {
  for (int j = 0; j < 6; j++) {
    double dY[6], dV[6];
    cb_immersed_axis_at(at, j, dY);
    if (dF) add_column(at, dY, dF, j);
    if (!dg) continue;
    cb_immersed_twist_along(at, j, dV);
    add_column(at, dV, dg, j);
  }
}

static void add_twist_slopes(const cb_immersed_workspace *s, cb_tensor dF, cb_tensor dg) {
  for (const cb_immersed_fluid_sample *fluid_sample = s->fluid_sample;
       fluid_sample < s->fluid_sample + s->b->models.places; fluid_sample++) {
    if (fluid_sample->off || dg)
      add_slopes(fluid_sample, dF, dg);
    else
      for (int i = 0; i < 6; i++) cb_add6(1, fluid_sample->dF[i], dF[i]);
  }
}

/* Returns CB_STEP_NOT_FINITE, and names the term that is not finite. */
static cb_status blame_term(const cb_immersed_workspace *s, double t) {
  for (const cb_immersed_model_instance *f = s->b->models.of; f < s->b->models.of + s->b->models.n; f++)
    for (int i = 0; i < 6 * f->terms; i++) {
      const double value = s->term[f->first + i / 6][i % 6];
      if (!isfinite(value))
        return cb_fail(CB_STEP_NOT_FINITE, "the %s of the fluid model `%s` is %g at t = %g", term_of(f->model, i / 6),
                       f->model->class_->name, value, t);
    }
  return cb_fail(CB_STEP_NOT_FINITE, "the sum of the forces of fluid models is not finite at t = %g", t);
}

/* Finds all terms (s->term) and their sum (s->model_sum), and with `slopes` the derivatives. */
static cb_status find_terms(cb_immersed_workspace *s, const cb_immersed_moment *m, bool slopes) {
  const cb_immersed *b = s->b;
  cb_immersed_last *last = &s->model_sum;
  if (cb_immersed_is_last(last, m) && (s->sloped || !slopes)) return CB_OK;
  last->known = false;
  if (b->models.by_face && slopes) memset(last->jacobian, 0, sizeof last->jacobian);
  memset(s->term, 0, (size_t)b->models.terms * sizeof *s->term);
  for (const cb_immersed_model_instance *f = b->models.of; f < b->models.of + b->models.n; f++) {
    cb_status status = CB_OK;
    if (f->model->class_->on_face)
      cb_immersed_faces(s, f, m, s->term + f->first, slopes ? last->jacobian : NULL);
    else
      status = find_twists(s, f, m, s->term + f->first, slopes);
    if (status) return status;
  }
  double sum[6] = {0};
  for (int k = 0; k < b->models.terms; k++) cb_add6(1, s->term[k], sum);
  memcpy(last->F, sum, sizeof sum);
  if (!cb_finite6(last->F)) return blame_term(s, m->t);
  cb_immersed_set_last(last, m);
  s->sloped = slopes;
  return CB_OK;
}

/* Adds the sum of all terms for a step without derivatives. The separate terms are computed and stored only if the sum
 * is not finite, to report the term that causes this. */
static cb_status add_sum(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F) {
  const cb_immersed *b = s->b;
  double sum[6] = {0};
  for (const cb_immersed_model_instance *f = b->models.of; f < b->models.of + b->models.n; f++) {
    const cb_status status = add_twists(s, f, m, sum);
    if (status) return status;
  }
  if (!cb_finite6(sum)) return find_terms(s, m, false);
  for (int i = 0; i < 6; i++) F[i] += sum[i];
  return CB_OK;
}

static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_immersed *b = s->b;
  const cb_immersed_last *last = &s->model_sum;
  if (to->number == CB_TERM_ALL && !b->models.by_face && !to->dF && !to->dg) return add_sum(s, m, to->F);
  cb_status status = b->models.by_face ? cb_immersed_field_at(s, m->t, m->g) : CB_OK;
  if (status) return status;
  status = find_terms(s, m, to->dF || to->dg);
  if (status) return status;
  const double *value = to->number == CB_TERM_ALL ? last->F : s->term[to->number];
  if (to->F) cb_add6(1, value, to->F);
  for (int i = 0; to->dF && b->models.by_face && i < 6; i++) cb_add6(1, last->jacobian[i], to->dF[i]);
  cb_tensor dg = b->around.has_flow ? to->dg : NULL;
  if (to->dF || dg) add_twist_slopes(s, to->dF, dg);
  if (dg && b->models.by_face) cb_immersed_carry(s, m, s->model_sum.jacobian, dg);
  return CB_OK;
}

/* Returns the name of term i, which is the name that the model gives it. If another wrench already has this name, the
 * name of the model and `_` are put before it. */
static const char *name_of(cb_immersed *b, int i) {
  const cb_immersed_model_instance *f = b->models.of;
  while (i >= f->first + f->terms) f++;
  const char *name = term_of(f->model, i - f->first);
  if (!cb_immersed_names(b, name)) return name;
  char whole[256];
  snprintf(whole, sizeof whole, "%s_%s", f->model->class_->name, name);
  return cb_arena_strdup(b->arena, whole);
}

static int count(const cb_immersed *b) { return b->models.terms; }
static bool by_face(const cb_immersed *b) { return b->models.by_face; }
static bool by_place(const cb_immersed *b) { return !b->models.by_face; }

const cb_immersed_term_class cb_immersed_term_models = {
    .name = "models",
    .order = 90,
    .count = count,
    .name_of = name_of,
    .surfaceless = by_place,
    .approximate = by_face,
    .create = create,
    .wrench = wrench,
};
