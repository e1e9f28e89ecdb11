/* The tangent vector of a body in a fluid (run/exponent.h): first the twist xi of the displaced pose g exp(xi), then
 * the change of the momentum in the body frame. find_units sets the units. */
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

static void move(const one_body *o, const double *w, double e, cb_rigid_state *s) {
  double xi[6], r[3][3];
  cb_pose by;
  for (int i = 0; i < 6; i++) {
    xi[i] = e * o->unit[i] * w[i];
    s->momentum[i] += e * o->unit[6 + i] * w[6 + i];
  }
  cb_se3_tau(CB_SE3_EXPONENTIAL, xi, &by);
  cb_pose_multiply(&s->g, &by, &s->g);
  cb_pose_rotation(&s->g, r);
  for (int part = 0; part < 6; part += 3) cb_apply3((const double(*)[3])r, s->momentum + part, s->world + part);
  memset(s->world_low, 0, sizeof s->world_low);
}

static cb_status step_body(cb_tangent *m, double h) {
  one_body *o = m->self;
  cb_rigid_state side[2] = {o->state, o->state};
  cb_pose back, between;
  double xi[6];
  cb_status status = CB_OK;
  for (int i = 0; i < 2 && !status; i++) {
    move(o, m->w, i ? -CB_EXPONENT_NUDGE : CB_EXPONENT_NUDGE, &side[i]);
    status = step_of(o, h, &side[i]);
  }
  if (status) return status;
  cb_pose_inverse(&side[1].g, &back);
  cb_pose_multiply(&back, &side[0].g, &between);
  cb_se3_log(&between, xi);
  for (int i = 0; i < 6; i++) {
    m->w[i] = xi[i] / (2 * CB_EXPONENT_NUDGE * o->unit[i]);
    m->w[6 + i] = (side[0].momentum[i] - side[1].momentum[i]) / (2 * CB_EXPONENT_NUDGE * o->unit[6 + i]);
  }
  return step_of(o, h, &o->state);
}

static void free_body(cb_tangent *m) {
  one_body *o = m->self;
  cb_integrator_free(o->integrator);
  cb_immersed_workspace_free(o->workspace);
}

/* Sets the units of angles and lengths of the pose to 1 and r, and those of angular and linear momentum to p r and p.
 * r = sqrt(J/m) is the radius of gyration, with J the sum of the principal moments of inertia and m the mass. p is the
 * largest of m sqrt(g r) (g: gravity), the present linear momentum, and the present angular momentum divided by r. */
static cb_status find_units(one_body *o, const cb_immersed *b, double t) {
  cb_mass mass;
  double moment[3], axis[3][3];
  cb_status status = cb_immersed_mass(b, t, &mass, NULL);
  if (!status) status = cb_mass_principal(&mass, moment, axis);
  if (status) return status;
  const double *g = cb_immersed_fluid_about(b)->gravity, *p = o->state.momentum;
  const double r = sqrt((moment[0] + moment[1] + moment[2]) / mass.mass);
  const double momentum =
      fmax(mass.mass * sqrt(sqrt(cb_dot3(g, g)) * r), fmax(sqrt(cb_dot3(p + 3, p + 3)), sqrt(cb_dot3(p, p)) / r));
  if (!(r > 0) || !(momentum > 0))
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent needs a body that has mass, and moves or has weight");
  for (int i = 0; i < 3; i++) {
    o->unit[i] = 1;
    o->unit[3 + i] = r;
    o->unit[6 + i] = momentum * r;
    o->unit[9 + i] = momentum;
  }
  return CB_OK;
}

cb_status cb_fluid_run_tangent(const cb_run *run, int body, cb_tangent *m) {
  const cb_fluid_run *f = run->own;
  if (f->fluid->curvature != 0)
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent of a body is available only in flat space");
  if (f->fluid->floor.kind == CB_FLOOR_REFLECTING)
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent needs a smooth motion: expected no reflecting floor");
  if (f->coupling)
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "the Lyapunov exponent is that of one body: expected no particles, and nothing that acts between bodies");
  if (cb_immersed_externals(f->start[body].body))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the Lyapunov exponent of a body is available only if its wrenches use no quantities of other "
                   "bodies");
  one_body *o = m->self = cb_arena_alloc(m->arena, 1, sizeof *o);
  m->n = 12;
  m->w = cb_arena_alloc(m->arena, m->n, sizeof *m->w);
  if (!o || !m->w) return cb_fail(CB_ERROR_MEMORY, "no memory for a tangent vector");
  m->step = step_body;
  m->free = free_body;
  o->state = f->state[body];
  cb_status status = cb_immersed_workspace_create(f->start[body].body, &o->workspace);
  if (!status) status = cb_integrator_like(f->integrator, NULL, &o->integrator);
  return status ? status : find_units(o, f->start[body].body, o->state.t);
}
