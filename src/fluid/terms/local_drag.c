/* Lift and drag of the local model (fluid/local.h), and linear drag. Both are computed in one call of cb_local_drag.
 *
 * In a uniform flow u (in the world's axes) the drag F of a body with the twist Y = (omega, v) and the rotation R
 * depends only on Y - U, U = (0, R^T u). Along g (1 + hat(xi)), with the pose g, therefore
 * dF/dxi = -dF/dv (R^T u × xi_omega). In a flow that varies the derivative is that of the linear fit of the flow
 * (cb_immersed_carry). If the medium varies, the gradient of its density is neglected. */
#include "fluid/immersed_private.h"

typedef struct wanted {
  double rho, c_n, c_t;
} wanted;

static void both(cb_immersed_workspace *s, const cb_immersed_moment *m, const wanted *w, double F[6],
                 cb_tensor jacobian) {
  const cb_immersed *b = s->b;
  double flow1[3];
  cb_apply3_transposed(m->r, s->wind.u, flow1);
  if (b->around.varying) cb_immersed_field_at_faces(s);
  const cb_local_stream in = {.rho1 = w->rho,
                              .rho = s->field.mixed && w->rho > 0 ? s->field.rho : NULL,
                              .flow1 = flow1,
                              .flow = b->around.varying ? (const double(*)[3])s->field.face_u : NULL,
                              .c_n = w->c_n,
                              .c_t = w->c_t};
  cb_local_drag(s->local, &in, m->Y, F, jacobian);
}

static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_immersed *b = s->b;
  const cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  const bool linear = cb_immersed_adds_linear_drag(b, to->number);
  const double rho = s->field.mixed ? 1 : s->field.density;
  const wanted w = {cb_immersed_adds_drag(b, to->number) ? rho : 0, linear ? b->c_n : 0, linear ? b->c_t : 0};
  cb_immersed_last *last = &s->dragged;
  if (to->F) {
    if (!to->dF || !cb_immersed_is_last(last, m)) { /* otherwise `last` was computed together with the form */
      both(s, m, &w, last->F, to->dF ? last->jacobian : NULL);
      last->known = false;
      if (to->dF) cb_immersed_set_last(last, m);
    }
    for (int k = 0; k < 6; k++) {
      to->F[k] += last->F[k];
      for (int j = 0; to->dF && j < 6; j++) to->dF[k][j] += last->jacobian[k][j];
    }
  }
  if (!to->dg || !b->around.has_flow) return CB_OK;
  if (!cb_immersed_is_last(last, m)) { /* otherwise `last` is known from the previous iteration */
    both(s, m, &w, last->F, last->jacobian);
    cb_immersed_set_last(last, m);
  }
  cb_immersed_carry(s, m, last->jacobian, to->dg);
  return CB_OK;
}

int cb_immersed_drags(const cb_immersed *b) { return b->drag + cb_immersed_has_linear_drag(b); }
const char *cb_immersed_drag_name(cb_immersed *b, int i) {
  return cb_immersed_adds_drag(b, i) ? "drag" : "linear_drag";
}

const cb_immersed_term_class cb_immersed_term_local_drag = {
    .name = "local_drag",
    .order = 70,
    .space = &cb_immersed_flat,
    .count = cb_immersed_drags,
    .name_of = cb_immersed_drag_name,
    .wrench = wrench,
};
