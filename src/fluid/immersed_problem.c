/* A workspace: an immersed body as the problem of a step on SE(3), with the work arrays of one thread. */
#include "fluid/immersed_private.h"

#include <math.h>
#include <string.h>

void cb_immersed_moment_of(double t, const cb_pose *g, const double Y[6], cb_immersed_moment *out) {
  out->t = t;
  out->g = g;
  out->Y = Y;
  cb_pose_rotation(g, out->r);
}

bool cb_immersed_is_last(const cb_immersed_last *last, const cb_immersed_moment *m) {
  return last->known && last->t == m->t && memcmp(&last->g, m->g, sizeof *m->g) == 0 &&
         memcmp(last->Y, m->Y, sizeof last->Y) == 0;
}

void cb_immersed_set_last(cb_immersed_last *last, const cb_immersed_moment *m) {
  last->known = true;
  last->t = m->t;
  last->g = *m->g;
  memcpy(last->Y, m->Y, sizeof last->Y);
}

static cb_status add_wrenches(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_immersed *b = s->b;
  cb_status status = cb_immersed_given(cb_immersed_form_at(s, m->t));
  for (const cb_immersed_term *term = b->term; term < b->term + b->terms && !status; term++)
    if (term->wrenches > 0 && !term->class_->inertia) status = term->class_->wrench(s, m, to);
  return status;
}

static cb_status inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  cb_immersed_workspace *s = self;
  const cb_immersed *b = s->b;
  cb_status status = cb_immersed_given(cb_immersed_form_at(s, t));
  if (status) return status;
  memcpy(K, s->form.mass.inertia, sizeof s->form.mass.inertia);
  memcpy(mu0, s->form.mu_b, sizeof s->form.mu_b);
  for (const cb_immersed_term *term = b->term; term < b->term + b->terms && !status; term++) {
    if (!term->class_->inertia) continue;
    status = cb_immersed_field_at(s, t, g);
    if (!status) term->class_->inertia(s, g, K, mu0);
  }
  return status;
}

static void expect(void *self, double t, const cb_pose *g, const double Y[6]) {
  cb_immersed_workspace *s = self;
  cb_immersed_moment m;
  cb_immersed_moment_of(t, g, Y, &m);
  cb_immersed_set_last(&s->expected, &m);
}

/* Adds dL/dg of the terms with an inertia, which are parts of the Lagrangian L. g is the pose. */
static cb_status lagrangian(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_immersed *b = s->b;
  cb_status status = cb_immersed_given(cb_immersed_form_at(s, m->t));
  for (const cb_immersed_term *term = b->term; term < b->term + b->terms && !status; term++)
    if (term->wrenches > 0 && term->class_->inertia) status = term->class_->wrench(s, m, to);
  return status;
}

static cb_status inertia_wrench(void *self, double t, const cb_pose *g, const double Y[6], double wrench[6],
                                double dwrench[6][6]) {
  cb_immersed_moment m;
  cb_immersed_moment_of(t, g, Y, &m);
  return lagrangian(self, &m, &(cb_immersed_sums){CB_TERM_ALL, wrench, dwrench, NULL});
}

static cb_status wrench(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]) {
  cb_immersed_moment m;
  cb_immersed_moment_of(t, g, Y, &m);
  return add_wrenches(self, &m, &(cb_immersed_sums){CB_TERM_ALL, F, dF, NULL});
}

/* Adds the derivatives along the pose of the momentum mu and of the wrenches. dmu/dxi is the transpose of the
 * derivative of dL/dg in Y, because mu = dL/dY. */
static cb_status pose_derivative(void *self, double t, const cb_pose *g, const double Y[6], double dmu[6][6],
                                 double dF[6][6]) {
  cb_immersed_workspace *s = self;
  cb_immersed_moment m;
  cb_immersed_moment_of(t, g, Y, &m);
  const cb_status status = add_wrenches(s, &m, &(cb_immersed_sums){CB_TERM_ALL, NULL, NULL, dF});
  if (status || !s->problem.inertia_wrench) return status;
  double dwrench[6][6] = {{0}};
  const cb_status own = lagrangian(s, &m, &(cb_immersed_sums){CB_TERM_ALL, NULL, dwrench, dF});
  for (int i = 0; i < 36; i++) dmu[i / 6][i % 6] += dwrench[i % 6][i / 6];
  return own;
}

/* Returns whether the only load is a constant force at the origin (`dead` of cb_immersed_term_class). The form of the
 * rigid body must be known. */
static bool has_dead_load(const cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  bool dead = b->wrenches > 0 && b->fluid.curvature == 0 && !s->problem.inertia_wrench;
  for (int k = 0; k < b->terms; k++)
    if (b->term[k].wrenches > 0) dead = dead && b->term[k].class_->dead && b->term[k].class_->dead(s);
  return dead;
}

/* Stores the constant inertia of a rigid body in a uniform fluid. For a singular inertia nothing is stored; the step
 * then fails. */
static void hold_inertia(cb_immersed_workspace *s) {
  static const cb_pose origin = {.q = {1}};
  double K[6][6], mu0[6];
  if (s->b->poses || s->problem.pose_dependent) return;
  if (inertia(s, 0, &origin, K, mu0) || cb_rigid_constant_of((const double(*)[6])K, mu0, &s->constant)) return;
  s->problem.constant = &s->constant;
  s->problem.dead_load = has_dead_load(s);
}

static void pose_problem(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  cb_rigid_problem *p = &s->problem;
  *p = (cb_rigid_problem){.self = s,
                          .inertia = inertia,
                          .expect = b->poses ? expect : NULL,
                          .wrench = b->wrenches ? wrench : NULL,
                          .pose_derivative = b->wrenches ? pose_derivative : NULL,
                          .curvature = b->fluid.curvature,
                          .exact = !cb_immersed_varies(b) && !b->around.unsteady};
  for (int k = 0; k < b->terms; k++) {
    const cb_immersed_term_class *term = b->term[k].class_;
    if (term->inertia && b->term[k].wrenches > 0) p->inertia_wrench = inertia_wrench;
    if (term->inertia && (!term->pose_dependent || term->pose_dependent(b))) p->pose_dependent = true;
    if (term->approximate && term->approximate(b)) p->exact = false;
  }
}

cb_status cb_immersed_workspace_create(const cb_immersed *b, cb_immersed_workspace **out) {
  cb_arena *arena = cb_arena_create();
  cb_immersed_workspace *s = cb_arena_alloc(arena, 1, sizeof *s);
  if (!s) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a body of %d faces", b->surface->faces);
  }
  s->b = b;
  s->arena = arena;
  pose_problem(s);
  cb_status status = cb_immersed_form_create(s);
  if (!status) status = cb_immersed_followed_create(s);
  if (!status) status = cb_immersed_field_create(s);
  for (const cb_immersed_term *term = b->term; term < b->term + b->terms && !status; term++)
    if (term->class_->create) status = term->class_->create(s);
  if (status) {
    cb_immersed_workspace_free(s);
    return status;
  }
  hold_inertia(s);
  *out = s;
  return CB_OK;
}

void cb_immersed_workspace_free(cb_immersed_workspace *s) {
  if (!s) return;
  cb_local_free(s->local);
  cb_forces_free(s->potential);
  cb_arena_free(s->arena);
}

cb_status cb_immersed_workspace_released(cb_immersed_workspace *s, double t, const cb_pose *g, double Y[6]) {
  const cb_immersed *b = s->b;
  double K[6][6], mu0[6], r[3][3], U[6] = {0};
  if (cb_immersed_varies(b) || b->placed)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "`momentum: zero` needs a fluid of one density, with a uniform flow and without a wall");
  cb_status status = inertia(s, t, g, K, mu0);
  if (status) return status;
  cb_pose_rotation(g, r);
  if (cb_immersed_is_relative(b)) cb_apply3_transposed((const double(*)[3])r, s->wind.u, U + 3);
  for (int i = 0; i < 6; i++)
    for (int j = 3; j < 6; j++) mu0[i] += (K[i][j] - s->form.mass.inertia[i][j]) * U[j];
  status = cb_rigid_velocity(K, (const double[6]){0}, mu0, Y);
  for (int i = 0; i < 6; i++) Y[i] += U[i];
  return status;
}

const cb_rigid_problem *cb_immersed_workspace_problem(cb_immersed_workspace *s) { return &s->problem; }

const cb_local_part *cb_immersed_workspace_cap(const cb_immersed_workspace *s, int *number) {
  for (int p = 0; p < s->b->surface->parts; p++)
    if (s->part[p].capped && !s->capped[p]) {
      *number = p;
      return &s->part[p];
    }
  return NULL;
}

void cb_immersed_workspace_know_caps(cb_immersed_workspace *s) {
  for (int p = 0; p < s->b->surface->parts; p++) s->capped[p] = s->part[p].capped;
}

static cb_status floor_shape(void *self, double t, int *n, const double (**x)[3], const double (**v)[3]) {
  cb_immersed_workspace *s = self;
  cb_status status = cb_immersed_form_at(s, t);
  if (!status) status = cb_immersed_vertices(s);
  if (status) return cb_immersed_given(status);
  *n = s->b->surface->vertices;
  *x = s->form.x;
  *v = s->form.v;
  return CB_OK;
}

cb_floor_shape cb_immersed_workspace_floor_shape(cb_immersed_workspace *s) { return (cb_floor_shape){s, floor_shape}; }

cb_status cb_immersed_workspace_step(cb_immersed_workspace *s, const cb_body_stepper *stepper, double h,
                                     cb_rigid_state *state, int *iterations) {
  const cb_fluid *fluid = &s->b->fluid;
  const double gravity = sqrt(cb_dot3(fluid->gravity, fluid->gravity));
  if (!cb_floor_outruns(&fluid->floor, s->b->weighed, gravity, h))
    return stepper->step(stepper->self, &s->problem, h, state, iterations);
  const cb_floor_shape shape = cb_immersed_workspace_floor_shape(s);
  cb_rigid_state next = *state;
  bool met = false;
  s->outrun = true;
  memset(s->push, 0, sizeof s->push);
  cb_status status = stepper->step(stepper->self, &s->problem, h, &next, iterations);
  if (!status) status = cb_floor_push(&fluid->floor, &shape, &s->problem, state->t + h / 2, h, &next, s->push, &met);
  if (!status && met) {
    next = *state;
    status = stepper->step(stepper->self, &s->problem, h, &next, iterations);
  }
  s->outrun = false;
  if (!status) *state = next;
  return status;
}
