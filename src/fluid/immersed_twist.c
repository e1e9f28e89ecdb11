/* Forces of a fluid model on a body as a whole, or on several ellipsoids or the like that it is seen as: at places c of
 * the body, in its axes,
 *
 *   V = (omega, v + omega × c) - W,   W = R^T (curl u/2, u) at x + R c;   F about the origin = X^T F(V),  X Y = the twist
 *   dF/dY = X^T dF/dV X,   dF/dxi = X^T dF/dV dV,   dV = (xi_omega × W_omega, xi_omega × W_v - R^T (grad u) R dc),
 *   dc = xi_v + xi_omega × c
 * The slopes of the vorticity and of a density that varies are left out.
 */
#include "fluid/immersed_private.h"
#include "numerics/vec6.h"

#include <string.h>

static cb_status look(const cb_immersed *b, const cb_immersed_moment *m, cb_immersed_sense *out) {
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

/* F becomes X^T F, the wrench about the origin. */
static void carry(const cb_immersed_sense *at, double F[6]) {
  double torque[3];
  if (!at->off) return;
  cb_cross3(at->place, F + 3, torque);
  for (int i = 0; i < 3; i++) F[i] += torque[i];
}

/* X Y - W */
static void relative(const cb_immersed_sense *at, const double Y[6], double V[6]) {
  double turn[3] = {0};
  if (at->off) cb_cross3(Y, at->place, turn);
  for (int i = 0; i < 3; i++) V[i] = Y[i] - at->W[i], V[3 + i] = Y[3 + i] + turn[i] - at->W[3 + i];
}

cb_status cb_immersed_twists(cb_swimmer *s, const cb_immersed_modelled *of, const cb_immersed_moment *m,
                             double (*term)[6], bool slopes) {
  const cb_fluid_model *model = of->model;
  const size_t terms = (size_t)of->terms;
  for (int p = 0; p < of->places; p++) {
    cb_immersed_sense *sense = s->sense + of->first_place + p;
    double V[6], F[CB_FLUID_TERMS][6];
    cb_status status = look(s->b, m, sense);
    if (status) return status == CB_STEP_NOT_FINITE ? CB_STEP_DOMAIN : status;
    relative(sense, m->Y, V);
    memset(F, 0, terms * sizeof *F);
    if (slopes) memset(s->term_slope, 0, terms * sizeof *s->term_slope);
    status = model->kind->on_twist(model, of->body, p, sense->density, V, F, slopes ? s->term_slope : NULL);
    if (status) return status;
    for (size_t k = 0; k < terms; k++) {
      carry(sense, F[k]);
      cb_add6(1, F[k], term[k]);
    }
    if (!slopes) continue;
    memcpy(sense->dF, s->term_slope[0], sizeof sense->dF);
    for (size_t k = 1; k < terms; k++)
      for (int i = 0; i < 6; i++) cb_add6(1, s->term_slope[k][i], sense->dF[i]);
  }
  return CB_OK;
}

/* out += X^T dF a */
static void add_column(const cb_immersed_sense *at, const double a[6], cb_tensor out, int column) {
  double F[6];
  cb_apply6((const double(*)[6])at->dF, a, F);
  carry(at, F);
  for (int i = 0; i < 6; i++) out[i][column] += F[i];
}

/* The columns dF X e_j and, of a flow, dF dV. */
static void add_slopes(const cb_immersed_sense *at, cb_tensor dF, cb_tensor dg) {
  for (int j = 0; j < 6; j++) {
    double axis[3] = {0}, dY[6] = {0}, dV[6] = {0};
    axis[j % 3] = dY[j] = 1;
    if (j < 3) cb_cross3(axis, at->place, dY + 3);
    if (dF) add_column(at, dY, dF, j);
    if (!dg) continue;
    if (j < 3) {
      cb_cross3(axis, at->W, dV);
      cb_cross3(axis, at->W + 3, dV + 3);
    }
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) dV[3 + i] -= at->gradient[i][k] * dY[3 + k];
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
