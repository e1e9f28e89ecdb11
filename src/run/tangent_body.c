/* The tangent vector of a body in a fluid (run/exponent.h): first the twist xi of the displaced pose g exp(xi), then
 * the change of the momentum in the body frame. cb_tangent_units
 * finds the units. */
#include "run/exponent.h"
#include "run/fluid_private.h"

#include <math.h>
#include <string.h>

typedef struct one_body {
  cb_immersed_workspace *workspace;
  cb_integrator *integrator;
  cb_rigid_state state;
  double unit[12];
} one_body;

static cb_status step_of(one_body *o, double h, cb_rigid_state *s) {
  const cb_body_stepper stepper = {o->integrator, cb_fluid_run_integrate};
  int iterations;
  return cb_immersed_workspace_step(o->workspace, &stepper, h, s, &iterations);
}

void cb_tangent_move(const double unit[12], const double *w, double e, cb_rigid_state *s) {
  double xi[6], r[3][3];
  cb_pose by;
  for (int i = 0; i < 6; i++) {
    xi[i] = e * unit[i] * w[i];
    s->momentum[i] += e * unit[6 + i] * w[6 + i];
  }
  cb_se3_tau(CB_SE3_EXPONENTIAL, xi, &by);
  cb_pose_multiply(&s->g, &by, &s->g);
  cb_pose_rotation(&s->g, r);
  for (int part = 0; part < 6; part += 3) cb_apply3((const double(*)[3])r, s->momentum + part, s->world + part);
  memset(s->world_low, 0, sizeof s->world_low);
}

void cb_tangent_difference(const double unit[12], const cb_rigid_state *plus, const cb_rigid_state *minus, double *w) {
  cb_pose back, between;
  double xi[6];
  cb_pose_inverse(&minus->g, &back);
  cb_pose_multiply(&back, &plus->g, &between);
  cb_se3_log(&between, xi);
  for (int i = 0; i < 6; i++) {
    w[i] = xi[i] / (2 * CB_EXPONENT_NUDGE * unit[i]);
    w[6 + i] = (plus->momentum[i] - minus->momentum[i]) / (2 * CB_EXPONENT_NUDGE * unit[6 + i]);
  }
}

static cb_status step_body(cb_tangent *m, double h) {
  one_body *o = m->self;
  cb_rigid_state side[2] = {o->state, o->state};
  cb_status status = CB_OK;
  for (int i = 0; i < 2 && !status; i++) {
    cb_tangent_move(o->unit, m->w, i ? -CB_EXPONENT_NUDGE : CB_EXPONENT_NUDGE, &side[i]);
    status = step_of(o, h, &side[i]);
  }
  if (status) return status;
  cb_tangent_difference(o->unit, &side[0], &side[1], m->w);
  return step_of(o, h, &o->state);
}

static void free_body(cb_tangent *m) {
  one_body *o = m->self;
  cb_integrator_free(o->integrator);
  cb_immersed_workspace_free(o->workspace);
}

cb_status cb_tangent_units(const cb_immersed *b, const cb_rigid_state *s, double unit[12], double *rate) {
  cb_mass mass;
  double moment[3], axis[3][3];
  cb_status status = cb_immersed_mass(b, s->t, &mass, NULL);
  if (!status) status = cb_mass_principal(&mass, moment, axis);
  if (status) return status;
  const double *g = cb_immersed_fluid_about(b)->gravity, *p = s->momentum;
  const double r = sqrt((moment[0] + moment[1] + moment[2]) / mass.mass);
  const double momentum =
      fmax(mass.mass * sqrt(sqrt(cb_dot3(g, g)) * r), fmax(sqrt(cb_dot3(p + 3, p + 3)), sqrt(cb_dot3(p, p)) / r));
  if (!(r > 0)) return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent needs a body that has mass");
  *rate = momentum / (mass.mass * r);
  for (int i = 0; i < 3; i++) {
    unit[i] = 1;
    unit[3 + i] = r;
    unit[6 + i] = mass.mass * r * r;
    unit[9 + i] = mass.mass * r;
  }
  return CB_OK;
}

static cb_status find_units(one_body *o, const cb_immersed *b) {
  double rate = 0;
  const cb_status status = cb_tangent_units(b, &o->state, o->unit, &rate);
  if (!status && !(rate > 0))
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent needs a body that moves or has weight");
  for (int i = 6; i < 12; i++) o->unit[i] *= rate;
  return status;
}

cb_status cb_fluid_run_tangent(const cb_run *run, int body, cb_tangent *m) {
  const cb_fluid_run *f = run->own;
  if (f->fluid->curvature != 0)
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent of a body is available only in flat space");
  if (f->fluid->floor.kind == CB_FLOOR_REFLECTING)
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent needs a smooth motion: expected no reflecting floor");
  if (f->coupling || f->controls) return cb_fluid_run_tangent_of_all(run, m);
  one_body *o = m->self = cb_arena_alloc(m->arena, 1, sizeof *o);
  m->n = 12;
  m->w = cb_arena_alloc(m->arena, m->n, sizeof *m->w);
  if (!o || !m->w) return cb_fail(CB_ERROR_MEMORY, "no memory for a tangent vector");
  m->step = step_body;
  m->free = free_body;
  o->state = f->state[body];
  cb_status status = cb_immersed_workspace_create(f->start[body].body, &o->workspace);
  if (!status) status = cb_integrator_like(f->integrator, NULL, &o->integrator);
  return status ? status : find_units(o, f->start[body].body);
}
