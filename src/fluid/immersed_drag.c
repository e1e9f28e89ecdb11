/* Lift and drag, linear drag, and a stiff floor.
 *
 * In a uniform flow the drag depends on Y - U alone, U = (0, R^T u): dF/dxi = -dF/dv (R^T u × xi_omega). In one that
 * varies the derivative is that of the flow as a whole (cb_immersed_carry), in a medium that varies without its slope.
 */
#include "fluid/immersed_private.h"

#include <string.h>

typedef struct wanted {
  double rho, c_n, c_t;
} wanted;

static void both(cb_swimmer *s, const cb_immersed_moment *m, const wanted *w, double F[6], cb_tensor jacobian) {
  const cb_immersed *b = s->b;
  double flow1[3];
  cb_apply3_transposed(m->r, s->wind.u, flow1);
  if (b->varying) cb_immersed_field_at_faces(s);
  cb_local_drag(s->local, w->rho, s->field.mixed && w->rho > 0 ? s->field.rho : NULL, m->Y, flow1,
                b->varying ? (const double(*)[3])s->field.face_u : NULL, w->c_n, w->c_t, F, jacobian);
}

cb_status cb_immersed_drag(cb_swimmer *s, const cb_immersed_moment *m, bool quadratic, bool linear, double *F,
                           cb_tensor dF, cb_tensor dg) {
  const cb_immersed *b = s->b;
  if (b->curved) return cb_immersed_curved_drag(b, m, quadratic, linear, F, dF), CB_OK;
  const cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  const double rho = s->field.mixed ? 1 : s->field.density;
  const wanted w = {quadratic ? rho : 0, linear ? b->c_n : 0, linear ? b->c_t : 0};
  cb_immersed_last *last = &s->dragged;
  if (F) {
    if (!dF || !cb_immersed_is_last(last, m)) { /* otherwise it came with the form */
      both(s, m, &w, last->F, dF ? last->jacobian : NULL);
      last->known = false;
      if (dF) cb_immersed_set_last(last, m);
    }
    for (int i = 0; i < 6; i++) {
      F[i] += last->F[i];
      for (int j = 0; dF && j < 6; j++) dF[i][j] += last->jacobian[i][j];
    }
  }
  if (!dg || !b->carried) return CB_OK;
  if (!cb_immersed_is_last(last, m)) { /* otherwise it is known from the iteration just before */
    both(s, m, &w, last->F, last->jacobian);
    cb_immersed_set_last(last, m);
  }
  cb_immersed_carry(s, m, last->jacobian, dg);
  return CB_OK;
}

/* The push of a step that outruns the floor. */
static void push(const double wrench[6], const cb_immersed_moment *m, double *F, cb_tensor dg) {
  static const double origin[3];
  double torque[3], force[3], turned[3][3] = {{0}};
  cb_apply3_transposed(m->r, wrench, torque);
  cb_apply3_transposed(m->r, wrench + 3, force);
  cb_immersed_push(origin, force, F, dg);
  cb_add_hat3(turned, 1, torque);
  for (int i = 0; F && i < 3; i++) F[i] += torque[i];
  for (int i = 0; dg && i < 9; i++) dg[i / 3][i % 3] += turned[i / 3][i % 3];
}

void cb_immersed_floor(cb_swimmer *s, const cb_immersed_moment *m, double *F, cb_tensor dF, cb_tensor dg) {
  if (s->outrun) push(s->push, m, F, dg);
  else
    cb_floor_wrench(&s->b->fluid.floor, s->b->surface->vertices, s->form.x, s->form.v, m->g, m->Y, F, dF, dg, NULL);
}
