/* Buoyancy: the wrench -rho V (c_v × f, f), f = R^T g, with the potential <rho V (x + R c_v), g>.
 *
 * V is the displaced volume and c_v its centre, rho the density of the fluid, g the acceleration of gravity, and (R, x)
 * the pose. If the density varies, the wrench is that of the pressure of the fluid at rest on the faces
 * (curvebody/medium.h).
 */
#include "fluid/immersed_private.h"

/* Finds the displaced mass and its moment, in the world's axes, if the density varies. If `all` is not set, only those
 * components of the moment that are perpendicular to up are found. */
static cb_status displaced(cb_immersed_workspace *s, bool all, double *mass, double moment[3]) {
  const cb_immersed *b = s->b;
  const int closed = b->closed_faces, sheets = b->surface->faces - closed;
  const double(*corner)[3][3] = (const double(*)[3][3])s->field.corner;
  double sheet, first[3];
  cb_status status = cb_medium_displaced(b->fluid.medium, closed, corner, NULL, mass, moment, all ? moment : NULL);
  if (!status)
    status = cb_medium_displaced(b->fluid.medium, sheets, corner + closed, s->field.listed_thickness + closed, &sheet,
                                 first, all ? first : NULL);
  if (status) return cb_immersed_given(status);
  *mass += sheet;
  for (int i = 0; i < 3; i++) moment[i] += first[i];
  return CB_OK;
}

static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_immersed_form *f = &s->form;
  const double *g = s->b->fluid.gravity;
  cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  if (!s->field.mixed) {
    double centre[3] = {0};
    for (int i = 0; i < 3 && f->volume != 0; i++) centre[i] = f->moment[i] / f->volume;
    cb_immersed_weigh(s, m, -s->field.density * f->volume, centre, to->F, to->dg);
    return CB_OK;
  }
  if (!to->F) return CB_OK;
  double mass, moment[3], world[6], wrench[6];
  status = displaced(s, false, &mass, moment);
  if (status) return status;
  cb_cross3(g, moment, world); /* the torque moment × (-g) about the world's origin */
  for (int i = 0; i < 3; i++) world[3 + i] = -mass * g[i];
  cb_se3_wrench_to_body(m->g, world, wrench);
  for (int i = 0; i < 6; i++) to->F[i] += wrench[i];
  return CB_OK;
}

static bool dead(const cb_immersed_workspace *s) {
  const cb_immersed_form *f = &s->form;
  const double centre[3] = {f->moment[0] / f->volume, f->moment[1] / f->volume, f->moment[2] / f->volume};
  return !s->b->around.layered && f->volume > 0 && cb_immersed_is_central(s, centre);
}

static cb_status potential(cb_immersed_workspace *s, const cb_immersed_moment *m, double *energy) {
  const cb_immersed *b = s->b;
  const cb_immersed_form *f = &s->form;
  cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  double mass = s->field.density * f->volume, moment[3] = {0};
  if (b->around.layered) {
    if (!s->field.mixed) cb_immersed_gather(s, true);
    status = displaced(s, true, &mass, moment);
    if (status) return status;
    *energy += cb_dot3(moment, b->fluid.gravity);
  } else if (f->volume != 0) {
    for (int i = 0; i < 3; i++) moment[i] = f->moment[i] / f->volume;
    *energy += mass * cb_immersed_height(b, m, moment);
  }
  return CB_OK;
}

static bool acts(const cb_immersed *b) {
  return cb_immersed_falls(b) && cb_immersed_is_lifted(b) && cb_immersed_displaces(b);
}

const cb_immersed_term_class cb_immersed_term_buoyancy = {
    .name = "buoyancy",
    .order = 60,
    .acts = acts,
    .conserves = cb_immersed_conserves_upright,
    .wrench = wrench,
    .dead = dead,
    .potential = potential,
};
