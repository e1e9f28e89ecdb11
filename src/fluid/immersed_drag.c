/* Forces of the flow on a body: lift and drag, linear drag, a stiff floor's push, the pressure of the undisturbed flow,
 * and the fluid's part of the momentum and of dL/dg (the last two below).
 *
 * In a uniform flow u (in the world's axes) the drag F of a body with the twist Y = (omega, v) and the rotation R
 * depends only on Y - U, U = (0, R^T u). Along g (1 + hat(xi)) therefore dF/dxi = -dF/dv (R^T u × xi_omega).
 * In a flow that varies the derivative is that of the linear fit of the flow (cb_immersed_carry). If the medium varies,
 * the gradient of its density is neglected.
 */
#include "fluid/immersed_private.h"

#include <string.h>
#include <math.h>

typedef struct wanted {
  double rho, c_n, c_t;
} wanted;

static void both(cb_immersed_workspace *s, const cb_immersed_moment *m, const wanted *w, double F[6],
                 cb_tensor jacobian) {
  const cb_immersed *b = s->b;
  double flow1[3];
  cb_apply3_transposed(m->r, s->wind.u, flow1);
  if (b->varying) cb_immersed_field_at_faces(s);
  const cb_local_stream in = {.rho1 = w->rho,
                              .rho = s->field.mixed && w->rho > 0 ? s->field.rho : NULL,
                              .flow1 = flow1,
                              .flow = b->varying ? (const double(*)[3])s->field.face_u : NULL,
                              .c_n = w->c_n,
                              .c_t = w->c_t};
  cb_local_drag(s->local, &in, m->Y, F, jacobian);
}

cb_status cb_immersed_drag(cb_immersed_workspace *s, const cb_immersed_moment *m, bool quadratic, bool linear,
                           double *F, cb_tensor dF, cb_tensor dg) {
  const cb_immersed *b = s->b;
  if (b->curved) {
    cb_immersed_curved_drag(b, m, quadratic, linear, F, dF);
    return CB_OK;
  }
  const cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  const double rho = s->field.mixed ? 1 : s->field.density;
  const wanted w = {quadratic ? rho : 0, linear ? b->c_n : 0, linear ? b->c_t : 0};
  cb_immersed_last *last = &s->dragged;
  if (F) {
    if (!dF || !cb_immersed_is_last(last, m)) { /* otherwise `last` was computed together with the form */
      both(s, m, &w, last->F, dF ? last->jacobian : NULL);
      last->known = false;
      if (dF) cb_immersed_set_last(last, m);
    }
    for (int i = 0; i < 6; i++) {
      F[i] += last->F[i];
      for (int j = 0; dF && j < 6; j++) dF[i][j] += last->jacobian[i][j];
    }
  }
  if (!dg || !b->has_flow) return CB_OK;
  if (!cb_immersed_is_last(last, m)) { /* otherwise `last` is known from the previous iteration */
    both(s, m, &w, last->F, last->jacobian);
    cb_immersed_set_last(last, m);
  }
  cb_immersed_carry(s, m, last->jacobian, dg);
  return CB_OK;
}

/* Adds the push of the floor in a step that outruns it; `wrench` is in the world's axes. */
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

void cb_immersed_floor(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dF, cb_tensor dg) {
  if (s->outrun)
    push(s->push, m, F, dg);
  else
    cb_floor_wrench(&s->b->fluid.floor, &(cb_floor_body){s->b->surface->vertices, s->form.x, s->form.v, m->g, m->Y}, F,
                    dF, dg, NULL);
}

/* Pressure of the undisturbed flow: int rho (x × a, a) dV over the body, a = Du/Dt = du/dt + G u in its axes.
 *
 * Closed parts are cut into tetrahedra from the mean o of a part's corners to its faces. On each of them a is linear,
 * with the mean of a at o:
 *
 *   int a dV = V/4 sum a_i,   int x × a dV = V/20 sum (x_i + sum x) × a_i
 *
 * This is exact if a is linear in place. For sheets the faces are multiplied by the thickness, with A/3 and A/12. rho
 * is the density of the medium at the face. So every vertex has a weight w and an arm h: force sum w a, torque sum h ×
 * a.
 */

/* Adds w and h of the corners of a simplex of n corners; content: rho times its volume. */
static void add_simplex(int n, const double *x[], double content, cb_immersed_weight *to[]) {
  double sum[3] = {0};
  for (int c = 0; c < n; c++)
    for (int i = 0; i < 3; i++) sum[i] += x[c][i];
  for (int c = 0; c < n; c++) {
    to[c]->w += content / n;
    for (int i = 0; i < 3; i++) to[c]->h[i] += content / (n * (n + 1)) * (x[c][i] + sum[i]);
  }
}

static void find_apices(cb_immersed_workspace *s) {
  const cb_surface *surface = s->b->surface;
  cb_immersed_apex *apex = s->pressure.apex;
  memset(apex, 0, (size_t)surface->parts * sizeof *apex);
  for (int f = 0; f < surface->faces; f++) {
    cb_immersed_apex *own = apex + surface->part[f];
    for (int c = 0; c < 3; c++, own->corners++)
      for (int i = 0; i < 3; i++) own->x[i] += s->form.x[surface->face[f][c]][i];
  }
  for (int p = 0; p < surface->parts; p++)
    for (int i = 0; i < 3; i++) apex[p].x[i] /= apex[p].corners;
}

/* Finds the weights of the vertices. An apex is the mean of its part's corners, so its weight is divided among them. */
static void weigh_vertices(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  const cb_surface *surface = b->surface;
  cb_immersed_weight *vertex = s->pressure.vertex;
  memset(vertex, 0, (size_t)surface->vertices * sizeof *vertex);
  find_apices(s);
  for (int i = 0; i < surface->faces; i++) {
    const int face = b->listed[i], *corner = surface->face[face], part = surface->part[face];
    cb_immersed_apex *apex = s->pressure.apex + part;
    const double rho = s->field.mixed ? s->field.rho[face] : s->field.density,
                 *x[4] = {s->form.x[corner[0]], s->form.x[corner[1]], s->form.x[corner[2]], apex->x};
    cb_immersed_weight *to[4] = {vertex + corner[0], vertex + corner[1], vertex + corner[2], &apex->weight};
    double e0[3], e1[3], e2[3], normal[3];
    for (int k = 0; k < 3; k++) {
      e0[k] = x[0][k] - x[3][k];
      e1[k] = x[1][k] - x[0][k];
      e2[k] = x[2][k] - x[0][k];
    }
    cb_cross3(e1, e2, normal);
    if (i < b->closed_faces)
      add_simplex(4, x, rho * cb_dot3(e0, normal) / 6, to);
    else
      add_simplex(3, x, rho * b->thickness[part] * sqrt(cb_dot3(normal, normal)) / 2, to);
  }
  for (int f = 0; f < surface->faces; f++) {
    const cb_immersed_apex *apex = s->pressure.apex + surface->part[f];
    for (int c = 0; c < 3; c++) {
      cb_immersed_weight *own = vertex + surface->face[f][c];
      own->w += apex->weight.w / apex->corners;
      for (int k = 0; k < 3; k++) own->h[k] += apex->weight.h[k] / apex->corners;
    }
  }
  s->pressure.known = true;
  s->pressure.density = s->field.mixed ? NAN : s->field.density;
}

cb_status cb_immersed_pressure_create(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  cb_immersed_weights *p = &s->pressure;
  const bool needed = b->pressure_force && b->fluid_varies;
  p->vertex = cb_arena_alloc(s->arena, needed ? (size_t)b->surface->vertices : 0, sizeof *p->vertex);
  p->apex = cb_arena_alloc(s->arena, needed ? (size_t)b->surface->parts : 0, sizeof *p->apex);
  if (p->vertex && p->apex) return CB_OK;
  return cb_fail(CB_ERROR_MEMORY, "no memory for a body of %d vertices", b->surface->vertices);
}

/* Adds the pressure of a uniform flow: rho V (c_v × a, a), with the volume V that the body displaces and its centre
 * c_v. */
static void press_uniform(const cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dg) {
  double a[3], centre[3];
  cb_apply3_transposed(m->r, s->wind.rate, a);
  for (int i = 0; i < 3; i++) {
    a[i] *= s->field.density * s->form.volume;
    centre[i] = s->form.volume != 0 ? s->form.moment[i] / s->form.volume : 0;
  }
  cb_immersed_push(centre, a, F, dg);
}

cb_status cb_immersed_pressure(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dg) {
  const cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  const cb_immersed_field *f = &s->field;
  if (!f->mixed && !s->b->varying) press_uniform(s, m, F, dg);
  if ((!f->mixed && !s->b->varying) || !F) return CB_OK;
  if (!s->pressure.known || f->mixed || s->pressure.density != f->density) weigh_vertices(s);
  for (int i = 0; i < s->b->surface->vertices; i++) {
    const cb_immersed_weight *own = s->pressure.vertex + i;
    double a[3], advected[3], torque[3];
    if (s->b->varying) {
      memcpy(a, f->rate[i], sizeof a);
      cb_apply3((const double(*)[3])f->gradient[i], f->u[i], advected);
    } else {
      cb_apply3_transposed(m->r, s->wind.rate, a);
      memset(advected, 0, sizeof advected);
    }
    for (int k = 0; k < 3; k++) a[k] += advected[k];
    cb_cross3(own->h, a, torque);
    for (int k = 0; k < 3; k++) {
      F[k] += torque[k];
      F[3 + k] += own->w * a[k];
    }
  }
  return CB_OK;
}

/* The fluid's part of the momentum and of the wrench dL/dg (equations: curvebody/immersed.h).
 *
 * For uniform density and flow, p = I_f (Y - U) + mu_f with U = (0, u), u in the body's axes, du = u × xi_omega:
 *
 *   momentum  p;   wrench  -ad*_U p = (u × p_linear, 0); if the density is mixed, the term of the faces whose density
 *   has a slope is added (cb_immersed_add_density)
 */

cb_status cb_immersed_fluid(cb_immersed_workspace *s, double t, const cb_pose *g, double I_f[6][6], double mu_f[6]) {
  const cb_immersed *b = s->b;
  const cb_immersed_field *f = &s->field;
  const cb_status status = b->added_mass ? cb_immersed_field_at(s, t, g) : CB_OK;
  if (status) return status;
  const bool by_vertices = b->relative && b->varying && !b->by_parts;
  memcpy(I_f, b->added_mass ? f->I_f : s->form.I_f, sizeof f->I_f); /* 0 without added mass */
  memcpy(mu_f, by_vertices ? s->impulses.momentum : b->added_mass ? f->mu_f : s->form.mu_f, sizeof f->mu_f);
  if (!b->relative || !b->has_flow || by_vertices || b->by_parts) return CB_OK;
  double r[3][3], U[6] = {0}, share[6]; /* mu_f - I_f U */
  cb_pose_rotation(g, r);
  cb_apply3_transposed(r, s->wind.u, U + 3);
  cb_apply6((const double(*)[6])I_f, U, share);
  for (int i = 0; i < 6; i++) mu_f[i] -= share[i];
  return CB_OK;
}

static void carry_uniform(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dF,
                          cb_tensor dg) {
  const cb_immersed_field *f = &s->field;
  double u[3], difference[6], p[6], torque[3];
  cb_apply3_transposed(m->r, s->wind.u, u);
  for (int i = 0; i < 6; i++) difference[i] = m->Y[i] - (i < 3 ? 0 : u[i - 3]);
  cb_apply6((const double(*)[6])f->I_f, difference, p);
  for (int i = 0; i < 6; i++) p[i] += f->mu_f[i];
  cb_cross3(u, p + 3, torque);
  for (int i = 0; F && i < 3; i++) F[i] += torque[i];
  for (int j = 0; dF && j < 6; j++) {
    const double column[3] = {f->I_f[3][j], f->I_f[4][j], f->I_f[5][j]};
    cb_cross3(u, column, torque);
    for (int i = 0; i < 3; i++) dF[i][j] += torque[i];
  }
  for (int j = 0; dg && j < 3; j++) { /* (u × e_j) × p - u × I_vv (u × e_j) */
    double e[3] = {0}, du[3], dp[3], change[3];
    e[j] = 1;
    cb_cross3(u, e, du);
    for (int i = 0; i < 3; i++) dp[i] = -cb_dot3(f->I_f[3 + i] + 3, du);
    cb_cross3(du, p + 3, torque);
    cb_cross3(u, dp, change);
    for (int i = 0; i < 3; i++) dg[i][j] += torque[i] + change[i];
  }
}

void cb_immersed_carry(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_tensor jacobian, cb_tensor dg) {
  const cb_immersed_field *f = &s->field;
  double u[3], spin[3] = {0}, T[6][6] = {{0}}, turned[2][3][3] = {{{0}}};
  if (s->b->varying) {
    cb_immersed_field_as_a_whole(s);
    memcpy(u, f->u0, sizeof u);
    for (int i = 0; i < 3; i++) spin[i] = 0.5 * (f->G0[(i + 2) % 3][(i + 1) % 3] - f->G0[(i + 1) % 3][(i + 2) % 3]);
  } else {
    cb_apply3_transposed(m->r, s->wind.u, u);
  }
  cb_add_hat3(turned[0], -1, spin);
  cb_add_hat3(turned[1], -1, u);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      T[i][j] = turned[0][i][j];
      T[3 + i][j] = turned[1][i][j];
      T[3 + i][3 + j] = s->b->varying ? -f->G0[i][j] : 0;
    }
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 6; j++) dg[i][j] += jacobian[i][k] * T[k][j];
}

/* Adds dL/dg: the sum over vertices if the flow varies, and the term of the density if that is mixed. The last result
 * is kept, because the derivative along the pose is requested next. */
static void add_varying_fluid(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dF,
                              cb_tensor dg) {
  cb_immersed_last *last = &s->pushed;
  if (!cb_immersed_is_last(last, m)) {
    memset(last->F, 0, sizeof last->F);
    memset(last->jacobian, 0, sizeof last->jacobian);
    if (s->b->varying) cb_immersed_relative(s, m->Y, last->F, dF || dg ? last->jacobian : NULL);
    if (s->field.mixed) cb_immersed_add_density(s, m->Y, last->F, dF || dg ? last->jacobian : NULL);
    if (dF || dg)
      cb_immersed_set_last(last, m);
    else
      last->known = false;
  }
  for (int i = 0; i < 6; i++) {
    if (F) F[i] += last->F[i];
    for (int j = 0; dF && j < 6; j++) dF[i][j] += last->jacobian[i][j];
  }
  if (!dg) return;
  if (s->b->varying) cb_immersed_relative_turning(s, m->Y, dg);
  if (s->b->has_flow) cb_immersed_carry(s, m, last->jacobian, dg);
}

cb_status cb_immersed_flow(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dF,
                           cb_tensor dg) {
  const cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  if (s->b->by_parts) {
    cb_immersed_parts_wrench(s, m->Y, F, dF);
    return CB_OK;
  }
  if (s->b->has_flow && !s->b->varying) carry_uniform(s, m, F, dF, dg);
  if (s->b->varying || s->field.mixed) add_varying_fluid(s, m, F, dF, dg);
  return CB_OK;
}
