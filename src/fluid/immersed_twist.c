/* Forces of a fluid model on a body as a whole, or on several ellipsoids or the like that it is seen as: at places c of
 * the body, in its axes,
 *
 *   V = (omega, v + omega × c) - W,   W = R^T (curl u/2, u) at x + R c;   F about the origin = X^T F(V),  X Y = the twist
 *   dF/dY = X^T dF/dV X,   dF/dxi = X^T dF/dV dV,   dV = (xi_omega × W_omega, xi_omega × W_v - R^T (grad u) R dc),
 *   dc = xi_v + xi_omega × c
 * The slopes of the vorticity and of a density that varies are left out.
 */
#include "fluid/immersed_private.h"

#include <string.h>

void cb_immersed_place_at(cb_immersed_sense *out, const double place[3], double density) {
  *out = (cb_immersed_sense){.density = density, .off = place[0] != 0 || place[1] != 0 || place[2] != 0};
  memcpy(out->place, place, sizeof out->place);
}

cb_status cb_immersed_look(const cb_immersed *b, const cb_immersed_moment *m, cb_immersed_sense *out) {
  if (!b->layered && !b->carried) return CB_OK;
  double x[3], u[3] = {0}, G[3][3] = {{0}}, half[3];
  cb_apply3(m->r, out->place, x);
  for (int i = 0; i < 3; i++) x[i] += m->g->x[i];
  const double(*at)[3] = (const double(*)[3]) & x;
  cb_status status = b->layered ? cb_medium_at(b->fluid.medium, x, &out->density) : CB_OK;
  if (!status && b->carried) status = cb_flow_at(b->fluid.flow, m->t, 1, at, &u, b->varying ? &G : NULL, NULL);
  if (status || !b->carried) return status;
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

void cb_immersed_carry_back(const cb_immersed_sense *at, double F[6]) {
  double torque[3];
  if (!at->off) return;
  cb_cross3(at->place, F + 3, torque);
  for (int i = 0; i < 3; i++) F[i] += torque[i];
}

void cb_immersed_relative_twist(const cb_immersed_sense *at, const double Y[6], double V[6]) {
  double turn[3];
  for (int i = 0; i < 6; i++) V[i] = Y[i] - at->W[i];
  if (!at->off) return;
  cb_cross3(Y, at->place, turn);
  for (int i = 0; i < 3; i++) V[3 + i] += turn[i];
}

cb_status cb_immersed_twists(cb_swimmer *s, const cb_immersed_modelled *of, const cb_immersed_moment *m,
                             double (*term)[6], bool slopes) {
  const cb_fluid_model *model = of->model;
  const size_t terms = (size_t)of->terms;
  for (int p = 0; p < of->places; p++) {
    cb_immersed_sense *sense = s->sense + of->first_place + p;
    double V[6], more[CB_FLUID_TERMS][6], (*F)[6] = p ? more : term; /* those of the first place are added to 0 */
    cb_status status = cb_immersed_look(s->b, m, sense);
    if (status) return status == CB_STEP_NOT_FINITE ? CB_STEP_DOMAIN : status;
    cb_immersed_relative_twist(sense, m->Y, V);
    if (p) memset(more, 0, terms * sizeof *more);
    if (slopes) memset(s->term_slope, 0, terms * sizeof *s->term_slope);
    status = model->kind->on_twist(model, of->body, p, sense->density, V, F, slopes ? s->term_slope : NULL);
    if (status) return status;
    for (size_t k = 0; k < terms && sense->off; k++) cb_immersed_carry_back(sense, F[k]);
    for (size_t k = 0; k < terms && p; k++) cb_add6(1, more[k], term[k]);
    if (!slopes) continue;
    memcpy(sense->dF, s->term_slope[0], sizeof sense->dF);
    for (size_t k = 1; k < terms; k++)
      for (int i = 0; i < 6; i++) cb_add6(1, s->term_slope[k][i], sense->dF[i]);
  }
  return CB_OK;
}

cb_status cb_immersed_add_twists(cb_swimmer *s, const cb_immersed_modelled *of, const cb_immersed_moment *m,
                                 double F[6]) {
  const cb_fluid_model *model = of->model;
  const bool still = !s->b->layered && !s->b->carried;
  for (int p = 0; p < of->places; p++) {
    cb_immersed_sense *sense = s->sense + of->first_place + p;
    double V[6], term[CB_FLUID_TERMS][6];
    cb_status status = still ? CB_OK : cb_immersed_look(s->b, m, sense);
    if (status) return status == CB_STEP_NOT_FINITE ? CB_STEP_DOMAIN : status;
    const bool as_it_is = still && !sense->off;
    if (!as_it_is) cb_immersed_relative_twist(sense, m->Y, V);
    memset(term, 0, (size_t)of->terms * sizeof *term);
    status = model->kind->on_twist(model, of->body, p, sense->density, as_it_is ? m->Y : V, term, NULL);
    if (status) return status;
    for (int k = 1; k < of->terms; k++)
      for (int i = 0; i < 6; i++) term[0][i] += term[k][i];
    cb_immersed_carry_back(sense, term[0]);
    for (int i = 0; i < 6; i++) F[i] += term[0][i];
  }
  return CB_OK;
}

/* out += X^T dF a */
static void add_column(const cb_immersed_sense *at, const double a[6], cb_tensor out, int column) {
  double F[6];
  cb_apply6((const double(*)[6])at->dF, a, F);
  cb_immersed_carry_back(at, F);
  for (int i = 0; i < 6; i++) out[i][column] += F[i];
}

/* X e_j */
static void of_axis(const cb_immersed_sense *at, int j, double dY[6]) {
  double axis[3] = {0};
  memset(dY, 0, 6 * sizeof *dY);
  axis[j % 3] = dY[j] = 1;
  if (j < 3) cb_cross3(axis, at->place, dY + 3);
}

void cb_immersed_twist_along(const cb_immersed_sense *at, int j, double dV[6]) {
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

/* The columns dF X e_j and, of a flow, dF dV. */
static void add_slopes(const cb_immersed_sense *at, cb_tensor dF, cb_tensor dg) {
  for (int j = 0; j < 6; j++) {
    double dY[6], dV[6];
    of_axis(at, j, dY);
    if (dF) add_column(at, dY, dF, j);
    if (!dg) continue;
    cb_immersed_twist_along(at, j, dV);
    add_column(at, dV, dg, j);
  }
}

void cb_immersed_twist_slopes(const cb_swimmer *s, cb_tensor dF, cb_tensor dg) {
  for (const cb_immersed_sense *sense = s->sense; sense < s->sense + s->b->places; sense++) {
    if (sense->off || dg)
      add_slopes(sense, dF, dg);
    else
      for (int i = 0; i < 6; i++) cb_add6(1, sense->dF[i], dF[i]);
  }
}
