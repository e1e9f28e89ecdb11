/* Gravity and buoyancy, each at its own centre, and their potential.
 *
 *   gravity   m (c × f, f),  f = R^T g
 *   buoyancy  -rho V (c_v × f, f), V the displaced volume and c_v its centre; where the density varies the pressure of
 *             the fluid at rest over the faces (medium.h)
 *   V(g) = -<m (x + R c), g> + <rho V (x + R c_v), g>
 */
#include "fluid/immersed_private.h"

void cb_immersed_push(const double at[3], const double f[3], double *F, cb_tensor dg) {
  double torque[3];
  cb_cross3(at, f, torque);
  for (int i = 0; F && i < 3; i++) F[i] += torque[i], F[3 + i] += f[i];
  if (!dg) return;
  double turned[3][3] = {{0}}, arm[3][3] = {{0}};
  cb_add_hat3(turned, 1, f);
  cb_add_hats3(arm, 1, at, f);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) dg[i][j] += arm[i][j], dg[3 + i][j] += turned[i][j];
}

static void weigh(const cb_swimmer *s, const cb_immersed_moment *m, double mass, const double centre[3], double *F,
                  cb_tensor dg) {
  double f[3];
  cb_apply3_transposed(m->r, s->b->fluid.gravity, f);
  for (int i = 0; i < 3; i++) f[i] *= mass;
  cb_immersed_push(centre, f, F, dg);
}

void cb_immersed_gravity(cb_swimmer *s, const cb_immersed_moment *m, double *F, cb_tensor dg) {
  weigh(s, m, s->form.mass.mass, s->form.mass.centre, F, dg);
}

/* Displaced mass and its moment in the world, across up or all of it, where the density varies. */
static cb_status displaced(cb_swimmer *s, bool all, double *mass, double moment[3]) {
  const cb_immersed *b = s->b;
  const int closed = b->closed_faces, sheets = b->surface->faces - closed;
  const double(*corner)[3][3] = (const double(*)[3][3])s->field.corner;
  double sheet, first[3];
  cb_status status = cb_medium_displaced(b->fluid.medium, closed, corner, NULL, mass, moment, all ? moment : NULL);
  if (!status)
    status = cb_medium_displaced(b->fluid.medium, sheets, corner + closed, s->field.listed_thickness + closed, &sheet,
                                 first, all ? first : NULL);
  if (status) return status;
  *mass += sheet;
  for (int i = 0; i < 3; i++) moment[i] += first[i];
  return CB_OK;
}

cb_status cb_immersed_buoyancy(cb_swimmer *s, const cb_immersed_moment *m, double *F, cb_tensor dg) {
  const cb_immersed_form *f = &s->form;
  const double *g = s->b->fluid.gravity;
  if (s->b->potential) return cb_immersed_potentials(s, m, (const double[2]){0, -1}, F, NULL);
  cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  if (!s->field.mixed) {
    double centre[3] = {0};
    for (int i = 0; i < 3 && f->volume != 0; i++) centre[i] = f->moment[i] / f->volume;
    weigh(s, m, -s->field.density * f->volume, centre, F, dg);
    return CB_OK;
  }
  if (!F) return CB_OK;
  double mass, moment[3], world[6], wrench[6];
  status = displaced(s, false, &mass, moment);
  if (status) return status;
  cb_cross3(g, moment, world); /* moment × (-g) about the world's origin */
  for (int i = 0; i < 3; i++) world[3 + i] = -mass * g[i];
  cb_se3_wrench_to_body(m->g, world, wrench);
  for (int i = 0; i < 6; i++) F[i] += wrench[i];
  return CB_OK;
}

/* <a place of the body, g> in the world */
static double height(const cb_immersed_moment *m, const double centre[3], const double g[3]) {
  double at[3];
  cb_pose_point(m->g, centre, at);
  return cb_dot3(at, g);
}

cb_status cb_immersed_potential(cb_swimmer *s, const cb_immersed_moment *m, double *potential) {
  const cb_immersed *b = s->b;
  const cb_immersed_form *f = &s->form;
  const double *g = b->fluid.gravity;
  if (b->potential) {
    const double of[2] = {cb_immersed_has(b, CB_WRENCH_POTENTIALS), -(double)cb_immersed_has(b, CB_WRENCH_BUOYANCY)};
    return cb_immersed_potentials(s, m, of, NULL, potential);
  }
  *potential = -f->mass.mass * height(m, f->mass.centre, g);
  if (cb_immersed_has(b, CB_WRENCH_BUOYANCY)) {
    cb_status status = cb_immersed_field_at(s, m->t, m->g);
    if (status) return status;
    double mass = s->field.density * f->volume, moment[3] = {0};
    if (b->layered) {
      if (!s->field.mixed) cb_immersed_gather(s, true);
      status = displaced(s, true, &mass, moment);
      if (status) return status;
      *potential += cb_dot3(moment, g);
    } else if (f->volume != 0) {
      for (int i = 0; i < 3; i++) moment[i] = f->moment[i] / f->volume;
      *potential += mass * height(m, moment, g);
    }
  }
  if (cb_immersed_has(b, CB_WRENCH_FLOOR)) {
    double energy = 0;
    cb_floor_wrench(&b->fluid.floor, b->surface->vertices, f->x, f->v, m->g, m->Y, NULL, NULL, NULL,
                    &energy);
    *potential += energy;
  }
  return CB_OK;
}
