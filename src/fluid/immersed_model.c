/* Fluid models other than the local one: the choice of the models of forces and added mass, and their added mass. */
#include "fluid/immersed_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the choice --- */

static bool is_local(const cb_fluid_model *m) {
  return m->class_->on_face == cb_fluid_local_on_face && !m->class_->terms;
}

static cb_status count_terms(const cb_fluid_model *m, int *n) {
  const char *const *terms = m->class_->terms;
  *n = terms ? 0 : 1;
  while (terms && *n <= CB_FLUID_TERMS && terms[*n]) ++*n;
  return *n > 0 && *n <= CB_FLUID_TERMS ? CB_OK
                                        : cb_fail(CB_ERROR_ARGUMENT, "the fluid model `%s`: expected 1 to %d terms",
                                                  m->class_->name, CB_FLUID_TERMS);
}

static cb_status add_forces(cb_immersed *b, const cb_fluid_model *m) {
  cb_immersed_model_instance *own = b->models.of + b->models.n;
  for (int i = 0; i < b->models.n; i++)
    if (b->models.of[i].model->class_ == m->class_)
      return cb_fail(CB_ERROR_ARGUMENT, "the fluid model `%s` is named twice: expected it once", m->class_->name);
  *own = (cb_immersed_model_instance){.model = m, .first = b->models.terms};
  const cb_status status = count_terms(m, &own->terms);
  if (status) return status;
  b->models.n++;
  b->models.terms += own->terms;
  *(m->class_->on_face ? &b->models.by_face : &b->models.by_place) = true;
  return CB_OK;
}

static cb_status choose_forces(cb_immersed *b, int n, const cb_fluid_model *const *models) {
  cb_status status = CB_OK;
  int local = n == 0;
  b->models.of = cb_arena_alloc(b->arena, (size_t)n, sizeof *b->models.of);
  if (!b->models.of) return cb_fail(CB_ERROR_MEMORY, "no memory for %d fluid models", n);
  for (int i = 0; i < n && !status; i++) {
    if (is_local(models[i]))
      local++;
    else if (models[i]->class_->on_twist || models[i]->class_->on_face)
      status = add_forces(b, models[i]);
  }
  if (!status && local > 1)
    status = cb_fail(CB_ERROR_ARGUMENT, "the fluid model `local` is named twice: expected it once");
  b->drag = local > 0;
  return status;
}

/* Returns the model whose added mass is used: the one that the fluid names for it, otherwise the first listed model
 * with added mass (the last one if none has any). If no model is listed, the result is NULL, which means the local
 * model. */
static const cb_fluid_model *first_inertia(const cb_immersed *b, int n, const cb_fluid_model *const *models) {
  int i = 0;
  if (b->fluid.added_mass || n == 0) return b->fluid.added_mass;
  while (i + 1 < n && !models[i]->class_->added_mass) i++;
  return models[i];
}

cb_status cb_immersed_choose(cb_immersed *b, const cb_immersed_options *options) {
  const bool own = options->n_models > 0, moves = cb_immersed_is_wet(b) && options->added_mass;
  const int n = own ? options->n_models : b->fluid.n_models;
  const cb_fluid_model *const *models = own ? options->models : b->fluid.models,
                              *inertia = options->added_mass_of ? options->added_mass_of : first_inertia(b, n, models);
  const bool fluid = cb_immersed_is_wet(b) || (b->fluid.medium && n > 0); /* without density, viscous terms still act */
  cb_status status = fluid && options->drag ? choose_forces(b, n, models) : CB_OK;
  b->added_mass = moves && (!inertia || inertia->class_->added_mass);
  if (b->added_mass && inertia && inertia->class_->added_mass != cb_fluid_local_added_mass) b->inertia.model = inertia;
  if (!status && b->inertia.model) status = cb_immersed_take_wall(b);
  const cb_fluid_model *model = b->inertia.model;
  if (status || !model || (!b->around.layered && (!b->around.varying || b->fluid.paper))) return status;
  if (model->class_->added_mass_of && (!b->poses || model->class_->part_of) && !b->fluid.paper)
    return CB_OK; /* the added mass is then that of separate parts (terms/parts.c) */
  const bool strained = model->class_->linear_form && !model->class_->added_mass_of && !b->around.layered;
  if (strained && !b->poses) return CB_OK; /* the added mass is then that of one part (immersed_strain.c) */
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "the added mass of the fluid model `%s` needs a uniform %s%s: expected `added_mass: local`, or a body "
                 "without added mass",
                 model->class_->name, b->around.layered ? "medium" : "flow",
                 strained ? " if the body has `poses`" : "");
}

/* --- data of the models about the body --- */

static cb_status prepare(const cb_immersed *b, const cb_mass *mass, const bool *moves, cb_immersed_model_instance *of) {
  const cb_fluid_model *model = of->model;
  if (moves && model->class_->prepare_posed)
    return model->class_->prepare_posed(model, b->surface, moves, mass, &of->body);
  return model->class_->prepare ? model->class_->prepare(model, b->surface, mass, &of->body) : CB_OK;
}

static cb_status added_mass(const cb_immersed *b, const double (*x)[3], const double (*v)[3], cb_added_mass *out) {
  const cb_fluid_model *model = b->inertia.model;
  *out = (cb_added_mass){.kinetic = 0};
  const cb_status status = b->placed
                               ? model->class_->added_mass_at(model, b->inertia.body, b->surface, x, v, NULL, out, NULL)
                               : model->class_->added_mass(model, b->inertia.body, b->surface, x, v, out);
  double sum = out->kinetic;
  if (status) return status;
  for (int i = 0; i < 36; i++) sum += out->K[i / 6][i % 6];
  for (int i = 0; i < 6; i++) sum += out->mu0[i];
  return isfinite(sum)
             ? CB_OK
             : cb_fail(CB_STEP_DOMAIN, "the added mass of the fluid model `%s` is not finite", model->class_->name);
}

/* Finds the added mass of the body at rest, with the method that the model uses for poses. For a body without poses the
 * model may use another method. */
static cb_status find_added_mass(cb_immersed *b) {
  double(*rest)[3] = calloc((size_t)b->surface->vertices, sizeof *rest);
  if (!rest) return cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", b->surface->vertices);
  const cb_status status = added_mass(b, (const double(*)[3])b->surface->x, (const double(*)[3])rest, &b->added);
  free(rest);
  return status;
}

static cb_status tabulate(cb_immersed *b) {
  const cb_fluid_model *model = b->inertia.model;
  const double error = model->class_->table ? model->class_->table(model) : 0;
  double begin, end;
  cb_status status = CB_OK;
  cb_poses_span(b->poses, &begin, &end);
  if (error > 0) status = find_added_mass(b);
  if (status || !(error > 0) || !(end > begin)) return status;
  return cb_added_mass_table_create(model, b->inertia.body, b->surface, b->poses, error, &b->added_mass_table);
}

/* Returns the instance of the model m that was prepared for its forces; NULL if there is none. */
static cb_immersed_model_instance *prepared(const cb_immersed *b, const cb_fluid_model *m) {
  for (int i = 0; i < b->models.n; i++)
    if (b->models.of[i].model == m) return b->models.of + i;
  return NULL;
}

/* moves[parts] tells which parts the poses move; it is NULL if there are no poses. */
static cb_status prepare_all(cb_immersed *b, const cb_mass *mass, const bool *moves) {
  static const double origin[1][3];
  cb_status status = CB_OK;
  for (int i = 0; i < b->models.n && !status; i++) {
    cb_immersed_model_instance *f = b->models.of + i;
    const cb_fluid_model_class *class = f->model->class_;
    status = prepare(b, mass, moves, f);
    if (status || class->on_face) continue;
    f->at = origin;
    f->first_place = b->models.places;
    f->places = class->places ? class->places(f->model, f->body, &f->at) : 1;
    b->models.places += f->places;
    status = cb_immersed_follow_parts(b, f);
  }
  if (status || !b->inertia.model) return status;
  const cb_immersed_model_instance *same = prepared(b, b->inertia.model);
  const cb_fluid_model *model = b->inertia.model;
  if (same)
    b->inertia.body = same->body;
  else
    status = prepare(b, mass, moves, &b->inertia);
  if (!status && cb_immersed_by_parts(b) && model->class_->added_mass_of)
    b->inertia.places = model->class_->places(model, b->inertia.body, &b->inertia.at);
  return status ? status : cb_immersed_follow_parts(b, &b->inertia);
}

cb_status cb_immersed_prepare(cb_immersed *b) {
  if (!b->models.n && !b->inertia.model) return CB_OK;
  double(*x)[3] = malloc((size_t)b->surface->vertices * sizeof *x);
  cb_mass mass;
  cb_immersed_travel travel = {.moves = NULL};
  cb_status status = x ? cb_immersed_shape(b, 0, x, NULL)
                       : cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", b->surface->vertices);
  if (!status) status = b->class_->mass(b, (const double(*)[3])x, &mass);
  free(x);
  if (!status && b->poses) status = cb_immersed_find_travel(b, &travel);
  if (!status) status = prepare_all(b, &mass, travel.moves);
  if (!status && b->poses) status = cb_immersed_check_rest(b, &travel);
  cb_immersed_free_travel(&travel);
  if (status || !b->inertia.model) return status;
  if (b->poses && (b->placed || cb_immersed_by_parts(b))) return find_added_mass(b);
  if (b->poses) return tabulate(b);
  status = added_mass(b, (const double(*)[3])b->surface->x, NULL, &b->added);
  const bool strained = cb_immersed_by_parts(b) && !b->inertia.model->class_->added_mass_of;
  return status || !strained ? status : cb_immersed_find_strained(b);
}

static void release(const cb_immersed_model_instance *of) {
  if (of->body && of->model->class_->release) of->model->class_->release(of->model, of->body);
}

void cb_immersed_release(cb_immersed *b) {
  cb_added_mass_table_free(b->added_mass_table);
  if (b->inertia.model && !prepared(b, b->inertia.model)) release(&b->inertia);
  for (int i = 0; i < b->models.n; i++) release(b->models.of + i);
}

/* --- added mass --- */

cb_status cb_immersed_own_added_mass(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  cb_immersed_form *f = &s->form;
  cb_added_mass own = b->added;
  cb_status status = CB_OK;
  if (b->inertia.follows)
    cb_immersed_followed_added_mass(s, &own);
  else if (b->added_mass_table)
    cb_added_mass_table_at(b->added_mass_table, f->t, &own);
  else if (b->poses && !b->placed)
    status = added_mass(b, f->x, f->v, &own);
  const double density = b->around.layered ? 1 : b->around.density;
  for (int i = 0; i < 36; i++) f->I_f[i / 6][i % 6] = density * own.K[i / 6][i % 6];
  for (int i = 0; i < 6; i++) f->mu_f[i] = density * own.mu0[i];
  f->fluid_kinetic = b->around.density * own.kinetic;
  return status;
}

double cb_immersed_tabulated(const cb_immersed *b, int *points) {
  *points = b->added_mass_table ? cb_added_mass_table_points(b->added_mass_table) : 0;
  return b->added_mass_table ? cb_added_mass_table_error(b->added_mass_table) : 0;
}

const char *cb_immersed_solved(const cb_immersed *b, cb_added_mass *out) {
  if (!b->added.method) return NULL;
  *out = b->added;
  return b->inertia.model->class_->name;
}
