/* Forces of a fluid model on a body, or on several places of it such as the ellipsoids that replace it. At places c of
 * the body, in its axes, for the twist Y = (omega, v), the pose (R, x), the flow u and the model's wrench F(V),
 *
 *   X Y = (omega, v + omega × c);   V = X Y - W,   W = R^T (curl u/2, u) at x + R c;   F about the origin = X^T F(V)
 *   dF/dY = X^T dF/dV X,   dF/dxi = X^T dF/dV dV,   dV = (xi_omega × W_omega, xi_omega × W_v - R^T (grad u) R dc),
 *   dc = xi_v + xi_omega × c
 *
 * SI units. The gradients of the vorticity and of a density that varies are neglected. Gravity and buoyancy follow
 * below.
 */
#include "fluid/immersed_private.h"

#include <string.h>

void cb_immersed_place_at(cb_immersed_fluid_sample *out, const double place[3], double density) {
  *out = (cb_immersed_fluid_sample){.density = density, .off = place[0] != 0 || place[1] != 0 || place[2] != 0};
  memcpy(out->place, place, sizeof out->place);
}

cb_status cb_immersed_look(const cb_immersed *b, const cb_immersed_moment *m, cb_immersed_fluid_sample *out) {
  if (!b->layered && !b->has_flow) return CB_OK;
  double x[3], u[3] = {0}, G[3][3] = {{0}}, half[3];
  cb_apply3(m->r, out->place, x);
  for (int i = 0; i < 3; i++) x[i] += m->g->x[i];
  const double(*at)[3] = (const double(*)[3]) & x;
  cb_status status = b->layered ? cb_medium_at(b->fluid.medium, x, &out->density) : CB_OK;
  if (!status && b->has_flow) status = cb_flow_at(b->fluid.flow, m->t, 1, at, &u, b->varying ? &G : NULL, NULL);
  if (status || !b->has_flow) return status;
  cb_apply3_transposed(m->r, u, out->W + 3);
  if (!b->varying) return CB_OK;
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
  if (!at->off) return;
  cb_cross3(Y, at->place, turn);
  for (int i = 0; i < 3; i++) V[3 + i] += turn[i];
}

cb_status cb_immersed_twists(cb_immersed_workspace *s, const cb_immersed_model_instance *of,
                             const cb_immersed_moment *m, double (*term)[6], bool slopes) {
  const cb_fluid_model *model = of->model;
  const size_t terms = (size_t)of->terms;
  for (int p = 0; p < of->places; p++) {
    cb_immersed_fluid_sample *fluid_sample = s->fluid_sample + of->first_place + p;
    /* The terms of the first place are added directly to `term`, which the caller has set to 0. */
    double V[6], more[CB_FLUID_TERMS][6], (*F)[6] = p ? more : term;
    cb_status status = cb_immersed_look(s->b, m, fluid_sample);
    if (status) return status == CB_STEP_NOT_FINITE ? CB_STEP_DOMAIN : status;
    cb_immersed_relative_twist(fluid_sample, m->Y, V);
    if (p) memset(more, 0, terms * sizeof *more);
    if (slopes) memset(s->term_slope, 0, terms * sizeof *s->term_slope);
    status = model->class_->on_twist(model, of->body, p, fluid_sample->density, V, F, slopes ? s->term_slope : NULL);
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

cb_status cb_immersed_add_twists(cb_immersed_workspace *s, const cb_immersed_model_instance *of,
                                 const cb_immersed_moment *m, double F[6]) {
  const cb_fluid_model *model = of->model;
  const bool still = !s->b->layered && !s->b->has_flow;
  for (int p = 0; p < of->places; p++) {
    cb_immersed_fluid_sample *fluid_sample = s->fluid_sample + of->first_place + p;
    double V[6], term[CB_FLUID_TERMS][6];
    cb_status status = still ? CB_OK : cb_immersed_look(s->b, m, fluid_sample);
    if (status) return status == CB_STEP_NOT_FINITE ? CB_STEP_DOMAIN : status;
    const bool as_it_is = still && !fluid_sample->off;
    if (!as_it_is) cb_immersed_relative_twist(fluid_sample, m->Y, V);
    memset(term, 0, (size_t)of->terms * sizeof *term);
    status = model->class_->on_twist(model, of->body, p, fluid_sample->density, as_it_is ? m->Y : V, term, NULL);
    if (status) return status;
    for (int k = 1; k < of->terms; k++)
      for (int i = 0; i < 6; i++) term[0][i] += term[k][i];
    cb_immersed_carry_back(fluid_sample, term[0]);
    for (int i = 0; i < 6; i++) F[i] += term[0][i];
  }
  return CB_OK;
}

/* Adds X^T dF a to a column of `out`. */
static void add_column(const cb_immersed_fluid_sample *at, const double a[6], cb_tensor out, int column) {
  double F[6];
  cb_apply6((const double(*)[6])at->dF, a, F);
  cb_immersed_carry_back(at, F);
  for (int i = 0; i < 6; i++) out[i][column] += F[i];
}

/* Computes X e_j, e_j a unit twist. */
static void of_axis(const cb_immersed_fluid_sample *at, int j, double dY[6]) {
  double axis[3] = {0};
  memset(dY, 0, 6 * sizeof *dY);
  axis[j % 3] = dY[j] = 1;
  if (j < 3) cb_cross3(axis, at->place, dY + 3);
}

void cb_immersed_twist_along(const cb_immersed_fluid_sample *at, int j, double dV[6]) {
  double axis[3] = {0}, dY[6];
  of_axis(at, j, dY);
  memset(dV, 0, 6 * sizeof *dV);
  axis[j % 3] = 1;
  if (j < 3) {
    cb_cross3(axis, at->W, dV);
    cb_cross3(axis, at->W + 3, dV + 3);
  }
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) dV[3 + i] -= at->gradient[i][k] * dY[3 + k];
}

/* Adds the columns dF X e_j and, for a flow, dF dV. */
static void add_slopes(const cb_immersed_fluid_sample *at, cb_tensor dF, cb_tensor dg) {
  for (int j = 0; j < 6; j++) {
    double dY[6], dV[6];
    of_axis(at, j, dY);
    if (dF) add_column(at, dY, dF, j);
    if (!dg) continue;
    cb_immersed_twist_along(at, j, dV);
    add_column(at, dV, dg, j);
  }
}

void cb_immersed_twist_slopes(const cb_immersed_workspace *s, cb_tensor dF, cb_tensor dg) {
  for (const cb_immersed_fluid_sample *fluid_sample = s->fluid_sample; fluid_sample < s->fluid_sample + s->b->places;
       fluid_sample++) {
    if (fluid_sample->off || dg)
      add_slopes(fluid_sample, dF, dg);
    else
      for (int i = 0; i < 6; i++) cb_add6(1, fluid_sample->dF[i], dF[i]);
  }
}

/* Gravity and buoyancy, each at its own centre, and their potential.
 *
 *   gravity   m (c × f, f),  f = R^T g
 *   buoyancy  -rho V (c_v × f, f), V the displaced volume and c_v its centre; if the density varies, the pressure of
 *             the fluid at rest over the faces (curvebody/medium.h)
 *   potential -<m (x + R c), g> + <rho V (x + R c_v), g>
 *
 * g is the acceleration of gravity, m and c the mass and its centre, rho the density of the fluid, (R, x) the pose.
 */

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

static void weigh(const cb_immersed_workspace *s, const cb_immersed_moment *m, double mass, const double centre[3],
                  double *F, cb_tensor dg) {
  double f[3];
  cb_apply3_transposed(m->r, s->b->fluid.gravity, f);
  for (int i = 0; i < 3; i++) f[i] *= mass;
  cb_immersed_push(centre, f, F, dg);
}

void cb_immersed_gravity(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dg) {
  weigh(s, m, s->form.mass.mass, s->form.mass.centre, F, dg);
}

/* Finds the displaced mass and its moment in the world's axes, if the density varies. all: all components of the moment
 * are found, otherwise only those perpendicular to up. */
static cb_status displaced(cb_immersed_workspace *s, bool all, double *mass, double moment[3]) {
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

cb_status cb_immersed_buoyancy(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dg) {
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

/* Returns <x, g> for the world's position x of the point `centre` of the body. */
static double height(const cb_immersed_moment *m, const double centre[3], const double g[3]) {
  double at[3];
  cb_pose_point(m->g, centre, at);
  return cb_dot3(at, g);
}

cb_status cb_immersed_potential(cb_immersed_workspace *s, const cb_immersed_moment *m, double *potential) {
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
    cb_floor_wrench(&b->fluid.floor, &(cb_floor_body){b->surface->vertices, f->x, f->v, m->g, m->Y}, NULL, NULL, NULL,
                    &energy);
    *potential += energy;
  }
  return CB_OK;
}
