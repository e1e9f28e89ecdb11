/* Lift and drag on a body in a curved space, the wrench -(rho/2) sum A |u| <u, n> m over faces, and linear drag, the
 * wrench -resistance Y. rho is the density, A the area of a face, u the velocity of its centre, n its normal, m the
 * flux of twists through it, and Y the twist (fluid/local.h, with |u| and <u, n> of the space). */
#include "fluid/immersed_private.h"
#include "fluid/curved_moments.h"
#include "numerics/numerics_curved.h"

#include <math.h>

/* Finds q, the derivative of |X_xi|^2/2 by xi at the point y, where X_xi is the velocity of y for the twist xi. */
static void speed_slope(double K, const double y[4], const double xi[6], double q[6]) {
  double u[3], turn[3];
  const double along = K * cb_dot3(xi + 3, y);
  cb_cross3(xi, y, u);
  for (int i = 0; i < 3; i++) u[i] += y[3] * xi[3 + i];
  cb_cross3(y, u, turn);
  for (int i = 0; i < 3; i++) {
    q[i] = turn[i];
    q[3 + i] = y[3] * u[i] + along * y[i];
  }
}

static void take_face(cb_immersed *b, const double y[3][4], cb_immersed_curved_face *f) {
  const double K = b->surface->curvature;
  double plane[4], sum[4] = {0};
  const double norm = cb_curved_plane(K, y[0], y[1], y[2], plane);
  f->area = cb_curved_area(K, y[0], y[1], y[2], norm);
  for (int k = 0; k < 12; k++) sum[k % 4] += y[k / 4][k % 4];
  const double root = sqrt(cb_curved_form(K, sum, sum));
  for (int i = 0; i < 4; i++) f->y[i] = sum[i] / root;
  cb_curved_flux(K, plane, f->y, f->m);
  for (int j = 0; j < 6; j++) {
    double axis[6] = {0}, q[6];
    axis[j] = 1;
    speed_slope(K, f->y, axis, q);
    for (int i = 0; i < 6; i++)
      b->curved.resistance[i][j] += f->area * ((b->c_n - b->c_t) * f->m[i] * f->m[j] + b->c_t * q[i]);
  }
}

static cb_status prepare(cb_immersed *b, const cb_immersed_options *o) {
  const cb_surface *s = b->surface;
  (void)o;
  b->curved.face = cb_arena_alloc(b->arena, (size_t)s->faces, sizeof *b->curved.face);
  if (!b->curved.face) return cb_fail(CB_ERROR_MEMORY, "no memory for a body of %d faces", s->faces);
  for (int i = 0; i < s->faces; i++) {
    double y[3][4];
    for (int k = 0; k < 3; k++) cb_curved_point(s->curvature, s->x[s->face[i][k]], y[k]);
    take_face(b, (const double(*)[4])y, b->curved.face + i);
  }
  return CB_OK;
}

static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_immersed *b = s->b;
  if (!to->F) return CB_OK;
  for (int i = 0; cb_immersed_adds_linear_drag(b, to->number) && i < 6; i++)
    for (int j = 0; j < 6; j++) {
      to->F[i] -= b->curved.resistance[i][j] * m->Y[j];
      if (to->dF) to->dF[i][j] -= b->curved.resistance[i][j];
    }
  for (const cb_immersed_curved_face *f = b->curved.face;
       cb_immersed_adds_drag(b, to->number) && f < b->curved.face + b->surface->faces; f++) {
    double q[6], square = 0, across = 0;
    speed_slope(b->surface->curvature, f->y, m->Y, q);
    for (int i = 0; i < 6; i++) {
      square += q[i] * m->Y[i];
      across += f->m[i] * m->Y[i];
    }
    if (!(square > 0)) continue;
    const double speed = sqrt(square), load = -b->around.density / 2 * f->area;
    for (int i = 0; i < 6; i++) {
      to->F[i] += load * speed * across * f->m[i];
      for (int j = 0; to->dF && j < 6; j++) to->dF[i][j] += load * f->m[i] * (speed * f->m[j] + across / speed * q[j]);
    }
  }
  return CB_OK;
}

const cb_immersed_term_class cb_immersed_term_curved_drag = {
    .name = "curved_drag",
    .order = 70,
    .space = &cb_immersed_curved,
    .count = cb_immersed_drags,
    .name_of = cb_immersed_drag_name,
    .prepare = prepare,
    .wrench = wrench,
};
