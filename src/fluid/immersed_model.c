/* Fluid models that are not the local one: whose forces and added mass a body has, and the forces as terms.
 *
 * On jets in the twist relative to the flow at the origin, V = Y - (0, w),  w = R^T u(x, t):
 *   dF/dY = dF/dV,   dF/dxi = -dF/dV (0, dw),  dw = w × xi_omega + R^T (grad u) R xi_v
 * or by faces (immersed_faces.c), along the pose as lift and drag (immersed_drag.c). The slope of a density that varies
 * is left out.
 */
#include "fluid/immersed_private.h"

#include "fluid/fluid_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the choice --- */

cb_status cb_immersed_choose(cb_immersed *b, const cb_immersed_options *options) {
  const cb_fluid_model *forces = b->fluid.model, *inertia = options->added_mass_of ? options->added_mass_of
                                                            : b->fluid.added_mass  ? b->fluid.added_mass
                                                                                   : forces;
  const bool drags = b->dense && options->drag, moves = b->dense && options->added_mass;
  b->drag = drags && (!forces || (forces->kind->on_face == cb_fluid_local_on_face && !forces->kind->terms));
  b->added_mass = moves && (!inertia || inertia->kind->added_mass);
  if (drags && !b->drag && (forces->kind->on_jets || forces->kind->on_face)) b->forces.model = forces;
  if (b->added_mass && inertia && inertia->kind->added_mass != cb_fluid_local_added_mass) b->inertia.model = inertia;
  const char *const *terms = b->forces.model ? forces->kind->terms : NULL;
  b->terms = b->forces.model ? 1 : 0;
  while (terms && b->terms <= CB_FLUID_TERMS && terms[b->terms]) b->terms++;
  if (terms && (!terms[0] || b->terms > CB_FLUID_TERMS))
    return cb_fail(CB_ERROR_ARGUMENT, "the fluid model `%s`: expected 1 to %d terms", forces->kind->name,
                   CB_FLUID_TERMS);
  if (b->inertia.model) {
    const cb_status status = cb_fluid_model_check_moves(inertia);
    if (status) return status;
  }
  if (!b->inertia.model || (!b->layered && (!b->varying || b->fluid.paper))) return CB_OK;
  return cb_fail(
      CB_ERROR_UNSUPPORTED,
      "the added mass of the fluid model `%s` is for a %s that is the same everywhere: expected `added_mass: "
      "local`, or a body without",
      inertia->kind->name, b->layered ? "medium" : "flow");
}

const char *cb_immersed_term_name(const cb_immersed *b, int term) {
  const char *const *terms = b->forces.model->kind->terms;
  return terms ? terms[term] : "drag";
}

/* --- what models know of the body --- */

static cb_status prepare(const cb_immersed *b, const cb_mass *mass, cb_immersed_modelled *of) {
  const cb_fluid_model *model = of->model;
  return model && model->kind->prepare ? model->kind->prepare(model, b->surface, mass, &of->body) : CB_OK;
}

static cb_status added_mass(const cb_immersed *b, const double (*x)[3], const double (*v)[3], cb_added_mass *out) {
  const cb_fluid_model *model = b->inertia.model;
  *out = (cb_added_mass){.kinetic = 0};
  const cb_status status = model->kind->added_mass(model, b->inertia.body, b->surface, x, v, out);
  double sum = out->kinetic;
  if (status) return status;
  for (int i = 0; i < 36; i++) sum += out->K[i / 6][i % 6];
  for (int i = 0; i < 6; i++) sum += out->mu0[i];
  return isfinite(sum)
             ? CB_OK
             : cb_fail(CB_STEP_DOMAIN, "the added mass of the fluid model `%s` is not finite", model->kind->name);
}

static cb_status tabulate(cb_immersed *b) {
  const cb_fluid_model *model = b->inertia.model;
  const double error = model->kind->table ? model->kind->table(model) : 0;
  double begin, end;
  cb_status status = CB_OK;
  cb_poses_span(b->poses, &begin, &end);
  if (error > 0) status = added_mass(b, (const double(*)[3])b->surface->x, NULL, &b->added);
  if (status || !(error > 0) || !(end > begin)) return status;
  return cb_stroke_create(model, b->inertia.body, b->surface, b->poses, error, &b->stroke);
}

cb_status cb_immersed_prepare(cb_immersed *b) {
  if (!b->forces.model && !b->inertia.model) return CB_OK;
  double(*x)[3] = malloc((size_t)b->surface->vertices * sizeof *x), mu[6];
  cb_mass mass;
  cb_status status = x ? cb_immersed_shape(b, 0, x, NULL)
                       : cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", b->surface->vertices);
  if (!status) status = cb_moving_mass_at(b->mass, (const double(*)[3])x, NULL, &mass, mu);
  free(x);
  if (!status) status = prepare(b, &mass, &b->forces);
  if (b->inertia.model == b->forces.model)
    b->inertia.body = b->forces.body;
  else if (!status)
    status = prepare(b, &mass, &b->inertia);
  if (status || !b->inertia.model) return status;
  if (b->poses) return tabulate(b);
  return added_mass(b, (const double(*)[3])b->surface->x, NULL, &b->added);
}

static void release(const cb_immersed_modelled *of) {
  if (of->body && of->model->kind->release) of->model->kind->release(of->model, of->body);
}

void cb_immersed_release(cb_immersed *b) {
  cb_stroke_free(b->stroke);
  release(&b->forces);
  if (b->inertia.model != b->forces.model) release(&b->inertia);
}

/* --- added mass --- */

cb_status cb_immersed_own_added_mass(const cb_immersed *b, cb_immersed_form *f) {
  cb_added_mass own = b->added;
  cb_status status = CB_OK;
  if (b->stroke)
    cb_stroke_at(b->stroke, f->t, &own);
  else if (b->poses)
    status = added_mass(b, f->x, f->v, &own);
  for (int i = 0; i < 36; i++) f->I_f[i / 6][i % 6] = b->density * own.K[i / 6][i % 6];
  for (int i = 0; i < 6; i++) f->mu_f[i] = b->density * own.mu0[i];
  f->fluid_kinetic = b->density * own.kinetic;
  return status;
}

double cb_immersed_tabulated(const cb_immersed *b, int *points) {
  *points = b->stroke ? cb_stroke_points(b->stroke) : 0;
  return b->stroke ? cb_stroke_error(b->stroke) : 0;
}

const char *cb_immersed_solved(const cb_immersed *b, cb_added_mass *out) {
  if (!b->added.method) return NULL;
  *out = b->added;
  return b->inertia.model->kind->name;
}

/* --- forces --- */

cb_status cb_immersed_terms_create(cb_swimmer *s) {
  const cb_immersed *b = s->b;
  const size_t terms = (size_t)b->terms;
  const bool by_face = terms && b->forces.model->kind->on_face;
  s->term = cb_arena_alloc(s->arena, terms, sizeof *s->term);
  s->jet = cb_arena_alloc(s->arena, by_face ? 0 : 6 * terms, sizeof *s->jet);
  s->face_sum = cb_arena_alloc(s->arena, by_face ? cb_immersed_faces_room(b, s->local) : 0, sizeof *s->face_sum);
  return s->term && s->jet && s->face_sum
             ? CB_OK
             : cb_fail(CB_ERROR_MEMORY, "no memory for the forces on %d faces", b->surface->faces);
}

/* The fluid at the body's origin: w, R^T (grad u) R and the density. */
typedef struct around {
  double w[3], gradient[3][3], density;
} around;

static cb_status look(const cb_immersed *b, const cb_immersed_moment *m, around *out) {
  double u[3] = {0}, G[3][3] = {{0}};
  *out = (around){.density = b->density};
  cb_status status = b->layered ? cb_medium_at(b->fluid.medium, m->g->x, &out->density) : CB_OK;
  if (!status && b->carried) status = cb_flow_at(b->fluid.flow, m->t, 1, &m->g->x, &u, &G, NULL);
  if (status) return status;
  cb_apply3_transposed(m->r, u, out->w);
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < 9; k++)
      out->gradient[i / 3][i % 3] += m->r[k / 3][i / 3] * G[k / 3][k % 3] * m->r[k % 3][i % 3];
  return CB_OK;
}

static cb_status on_jets(cb_swimmer *s, const cb_immersed_moment *m, const around *a, cb_tensor jacobian) {
  const cb_fluid_model *model = s->b->forces.model;
  const int n = jacobian ? 6 : 0, all = 6 * s->b->terms;
  cb_jet V[6];
  for (int i = 0; i < 6; i++) {
    const double v = m->Y[i] - (i < 3 ? 0 : a->w[i - 3]);
    V[i] = n ? cb_jet_variable(n, i, v) : cb_jet_constant(n, v);
  }
  for (int i = 0; i < all; i++) s->jet[i] = cb_jet_constant(n, 0);
  const cb_status status = model->kind->on_jets(model, s->b->forces.body, a->density, V, s->jet);
  for (int i = 0; i < all; i++) {
    s->term[i / 6][i % 6] = s->jet[i].v;
    for (int j = 0; j < n; j++) jacobian[i % 6][j] += s->jet[i].g[j];
  }
  return status;
}

static void along_pose(const around *a, const cb_tensor dF, cb_tensor dg) {
  for (int j = 0; j < 3; j++) {
    double axis[3] = {0}, dw[3];
    axis[j] = 1;
    cb_cross3(a->w, axis, dw);
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 3; k++) {
        dg[i][j] -= dF[i][3 + k] * dw[k];
        dg[i][3 + j] -= dF[i][3 + k] * a->gradient[k][j];
      }
  }
}

/* All terms and their sum, into s->term and s->modelled. */
static cb_status find_terms(cb_swimmer *s, const cb_immersed_moment *m, const around *a, bool slopes) {
  const cb_immersed *b = s->b;
  cb_immersed_last *last = &s->modelled;
  cb_tensor jacobian = slopes ? last->jacobian : NULL;
  cb_status status = CB_OK;
  if (cb_immersed_is_last(last, m) && (s->sloped || !slopes)) return CB_OK;
  last->known = false;
  memset(last->F, 0, sizeof last->F);
  memset(last->jacobian, 0, sizeof last->jacobian);
  memset(s->term, 0, (size_t)b->terms * sizeof *s->term);
  if (b->forces.model->kind->on_face)
    cb_immersed_faces(s, m, s->term, jacobian);
  else
    status = on_jets(s, m, a, jacobian);
  if (status) return status;
  for (int k = 0; k < b->terms; k++)
    for (int i = 0; i < 6; i++) {
      if (!isfinite(s->term[k][i]))
        return cb_fail(CB_STEP_NOT_FINITE, "the %s of the fluid model `%s` is %g at t = %g",
                       cb_immersed_term_name(b, k), b->forces.model->kind->name, s->term[k][i], m->t);
      last->F[i] += s->term[k][i];
    }
  cb_immersed_set_last(last, m);
  s->sloped = slopes;
  return CB_OK;
}

cb_status cb_immersed_model(cb_swimmer *s, int term, const cb_immersed_moment *m, double *F, cb_tensor dF,
                            cb_tensor dg) {
  const cb_immersed *b = s->b;
  const bool by_face = b->forces.model->kind->on_face;
  const cb_immersed_last *last = &s->modelled;
  around a;
  cb_status status = by_face ? cb_immersed_field_at(s, m->t, m->g) : look(b, m, &a);
  if (status) return status == CB_STEP_NOT_FINITE ? CB_STEP_DOMAIN : status;
  status = find_terms(s, m, &a, dF || dg);
  if (status) return status;
  const double *value = term == CB_WRENCH_ALL ? last->F : s->term[term];
  for (int i = 0; i < 6; i++) {
    if (F) F[i] += value[i];
    for (int j = 0; dF && j < 6; j++) dF[i][j] += last->jacobian[i][j];
  }
  if (!dg || !b->carried) return CB_OK;
  if (by_face)
    cb_immersed_carry(s, m, s->modelled.jacobian, dg);
  else
    along_pose(&a, s->modelled.jacobian, dg);
  return CB_OK;
}
