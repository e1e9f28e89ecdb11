/* A workspace: an immersed body as the problem of a step on SE(3), with the work arrays of one thread. Twists at places
 * of the body and the quantities of the body follow below. */
#include "fluid/immersed_private.h"

#include "fluid/immersed_run.h"
#include "numerics/vec3.h"

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

/* --- twists and wrenches ---
 *
 * The motion of a place of a body relative to the flow, and how wrenches change along the pose. At a place c of the
 * body, in its axes, for the twist Y = (omega, v), the pose (R, x), the flow u and the wrench F(V) of a fluid model,
 *
 *   X Y = (omega, v + omega × c);   V = X Y - W,   W = R^T (curl u/2, u) at x + R c;   F about the origin = X^T F(V)
 *   V = X Y + W_p - W for a place that moves in the body frame with the twist W_p (immersed_followed.c)
 *   dF/dY = X^T dF/dV X,   dF/dxi = X^T dF/dV dV,   dV = (xi_omega × W_omega, xi_omega × W_v - R^T (grad u) R dc),
 *   dc = xi_v + xi_omega × c
 *
 * xi = (xi_omega, xi_v) is a small change of the pose in the body's axes, and dV and dc are the changes of V and of the
 * place that belong to it. W_omega and W_v are the parts of W. SI units. The gradients of the vorticity and of a
 * density that varies are neglected.
 */

void cb_immersed_place_at(cb_immersed_fluid_sample *out, const double place[3], double density) {
  *out = (cb_immersed_fluid_sample){.density = density, .off = place[0] != 0 || place[1] != 0 || place[2] != 0};
  memcpy(out->place, place, sizeof out->place);
}

cb_status cb_immersed_look(const cb_immersed *b, const cb_immersed_moment *m, cb_immersed_fluid_sample *out) {
  if (!b->around.layered && !b->around.has_flow) return CB_OK;
  double x[3], u[3] = {0}, G[3][3] = {{0}}, half[3];
  cb_apply3(m->r, out->place, x);
  for (int i = 0; i < 3; i++) x[i] += m->g->x[i];
  const double(*at)[3] = (const double(*)[3]) & x;
  cb_status status = b->around.layered ? cb_medium_at(b->fluid.medium, x, &out->density) : CB_OK;
  if (!status && b->around.has_flow)
    status = cb_flow_at(b->fluid.flow, m->t, 1, at, &u, b->around.varying ? &G : NULL, NULL);
  if (status || !b->around.has_flow) return cb_immersed_given(status);
  cb_apply3_transposed(m->r, u, out->W + 3);
  if (!b->around.varying) return CB_OK;
  for (int i = 0; i < 3; i++) half[i] = (G[(i + 2) % 3][(i + 1) % 3] - G[(i + 1) % 3][(i + 2) % 3]) / 2;
  cb_apply3_transposed(m->r, half, out->W);
  memset(out->gradient, 0, sizeof out->gradient);
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < 9; k++)
      out->gradient[i / 3][i % 3] += m->r[k / 3][i / 3] * G[k / 3][k % 3] * m->r[k % 3][i % 3];
  return CB_OK;
}

void cb_immersed_carry_back(const cb_immersed_fluid_sample *at, double F[6]) {
  double torque[3];
  if (!at->off) return;
  cb_cross3(at->place, F + 3, torque);
  for (int i = 0; i < 3; i++) F[i] += torque[i];
}

void cb_immersed_relative_twist(const cb_immersed_fluid_sample *at, const double Y[6], double V[6]) {
  double turn[3];
  for (int i = 0; i < 6; i++) V[i] = Y[i] - at->W[i];
  for (int i = 0; i < 6 && at->moves; i++) V[i] += at->own[i];
  if (!at->off) return;
  cb_cross3(Y, at->place, turn);
  for (int i = 0; i < 3; i++) V[3 + i] += turn[i];
}

void cb_immersed_axis_at(const cb_immersed_fluid_sample *at, int j, double dY[6]) {
  double axis[3] = {0};
  memset(dY, 0, 6 * sizeof *dY);
  axis[j % 3] = dY[j] = 1;
  if (j < 3) cb_cross3(axis, at->place, dY + 3);
}

void cb_immersed_twist_along(const cb_immersed_fluid_sample *at, int j, double dV[6]) {
  double axis[3] = {0}, dY[6];
  cb_immersed_axis_at(at, j, dY);
  memset(dV, 0, 6 * sizeof *dV);
  axis[j % 3] = 1;
  if (j < 3) {
    cb_cross3(axis, at->W, dV);
    cb_cross3(axis, at->W + 3, dV + 3);
  }
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) dV[3 + i] -= at->gradient[i][k] * dY[3 + k];
}

void cb_immersed_push(const double at[3], const double f[3], double *F, cb_tensor dg) {
  double torque[3];
  cb_cross3(at, f, torque);
  for (int i = 0; F && i < 3; i++) {
    F[i] += torque[i];
    F[3 + i] += f[i];
  }
  if (!dg) return;
  double turned[3][3] = {{0}}, arm[3][3] = {{0}};
  cb_add_hat3(turned, 1, f);
  cb_add_hats3(arm, 1, at, f);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      dg[i][j] += arm[i][j];
      dg[3 + i][j] += turned[i][j];
    }
}

void cb_immersed_turn(const double torque[3], double *F, cb_tensor dg) {
  double turned[3][3] = {{0}};
  cb_add_hat3(turned, 1, torque);
  for (int i = 0; F && i < 3; i++) F[i] += torque[i];
  for (int i = 0; dg && i < 9; i++) dg[i / 3][i % 3] += turned[i / 3][i % 3];
}

void cb_immersed_carry(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_tensor jacobian, cb_tensor dg) {
  const cb_immersed_field *f = &s->field;
  double u[3], spin[3] = {0}, T[6][6] = {{0}}, turned[2][3][3] = {{{0}}};
  if (s->b->around.varying) {
    cb_immersed_field_as_a_whole(s);
    memcpy(u, f->u0, sizeof u);
    for (int i = 0; i < 3; i++) spin[i] = 0.5 * (f->G0[(i + 2) % 3][(i + 1) % 3] - f->G0[(i + 1) % 3][(i + 2) % 3]);
  } else {
    cb_apply3_transposed(m->r, s->wind.u, u);
  }
  cb_add_hat3(turned[0], -1, spin);
  cb_add_hat3(turned[1], -1, u);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      T[i][j] = turned[0][i][j];
      T[3 + i][j] = turned[1][i][j];
      T[3 + i][3 + j] = s->b->around.varying ? -f->G0[i][j] : 0;
    }
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 6; j++) dg[i][j] += jacobian[i][k] * T[k][j];
}

/* --- the quantities of a body --- */

const char *const cb_body_quantities[CB_BODY_QUANTITIES + 1] = {
    "wx",         "wy",         "wz",         "vx",       "vy",       "vz",       "x",        "y",        "z",
    "axis_x_x",   "axis_x_y",   "axis_x_z",   "axis_y_x", "axis_y_y", "axis_y_z", "axis_z_x", "axis_z_y", "axis_z_z",
    "velocity_x", "velocity_y", "velocity_z", "spin_x",   "spin_y",   "spin_z",   NULL};

void cb_body_quantities_of(const cb_pose *g, const double r[3][3], const double Y[6], double out[CB_BODY_QUANTITIES]) {
  memcpy(out + CB_BODY_TWIST, Y, 6 * sizeof *out);
  memcpy(out + CB_BODY_PLACE, g->x, 3 * sizeof *out);
  for (int axis = 0; axis < 3; axis++)
    for (int i = 0; i < 3; i++) out[CB_BODY_AXES + 3 * axis + i] = r[i][axis];
  cb_apply3(r, Y + 3, out + CB_BODY_VELOCITY);
  cb_apply3(r, Y, out + CB_BODY_SPIN);
}

void cb_body_quantity_slopes(const double r[3][3], const double Y[6], int i, double dY[6], double dxi[6]) {
  memset(dY, 0, 6 * sizeof *dY);
  memset(dxi, 0, 6 * sizeof *dxi);
  if (i < CB_BODY_PLACE) {
    dY[i] = 1;
    return;
  }
  const double *row = r[i % 3]; /* each group of three begins at a multiple of 3, so i % 3 is the component */
  /* The quantity is a component, along an axis of the world, of this vector, which is given in the body's axes. For
   * positions the vector stays 0. */
  double carried[3] = {0};
  if (i < CB_BODY_AXES)
    memcpy(dxi + 3, row, 3 * sizeof *dxi);
  else if (i < CB_BODY_VELOCITY)
    carried[(i - CB_BODY_AXES) / 3] = 1;
  else
    memcpy(carried, i < CB_BODY_SPIN ? Y + 3 : Y, sizeof carried);
  if (i >= CB_BODY_VELOCITY) memcpy(i < CB_BODY_SPIN ? dY + 3 : dY, row, 3 * sizeof *dY);
  cb_cross3(carried, row, dxi); /* the derivative is row.(xi × carried) = xi.(carried × row) */
}
