/* The added mass of a body in a flow or in a density that varies: its momentum, and the wrench dL/dg (equations:
 * curvebody/immersed.h). g is the pose, xi = (xi_omega, xi_v) a small change of g, and Y = (omega, v) the twist.
 *
 * In a flow u that is the same everywhere the momentum is p = I_f (Y - U) + mu_f, U = (0, u). I_f is the added mass,
 * mu_f the momentum of the changing shape, and u is in the body's axes, with du = u × xi_omega. The wrench is
 * -ad*_U p = (u × p_linear, 0). If the density is mixed, the sum L_rho below is added for the faces whose density has a
 * slope.
 *
 * If the flow varies, momentum and wrench come from the impulses on the fluid at the vertices. On a face with area
 * vector a = A n everything is linear between its corners c. With k = rho delta/(12 A) (twice that on a sheet), and
 * w_c = v + omega × x_c + x_c' - u_c the velocity relative to the flow, s_c = <w_c, a> - A mean:
 *
 *   L = (1/2) sum k s_c S_c,  S_c = s_c + sum s;     impulse of a vertex  P = dL/dw = sum over its faces k S_c a
 *
 * L is the Lagrangian of the added mass. A is the area and n the normal of the face, delta as in fluid/local.h. x_c is
 * a corner, x_c' its velocity in the body frame, u_c the flow there, G the gradient of the flow, and `mean` the mean
 * normal velocity of the part's shape. P is linear in Y, P = P_0 + Q Y, where Q depends only on the shape and the
 * density. In the body's axes
 *
 *   momentum   (sum x × P, sum P)
 *   wrench     F = -sum (P × u + x × G^T P, G^T P) + L_rho,  since xi changes each w by
 *              -(u × xi_omega + G (xi_v + xi_omega × x))
 *   dF/dY      the same sum with the columns of Q; its transpose is d(momentum)/dxi
 *   dF/dxi     u and G rotate with the body, d(G^T p) = G^T (xi_omega × p) - xi_omega × G^T p, second derivatives of
 *              the flow are neglected; P changes with w as in a flow u0 + G0 x (cb_immersed_carry)
 *   L_rho      (1/2) sum (k/rho) s_c S_c q,  q = drho/dxi = (sum x_c × r_c, sum r_c), r_c the derivative of the density
 *              by corner c
 */
#include "fluid/immersed_private.h"
#include "fluid/local_private.h"

#include <math.h>
#include <string.h>

/* --- the impulses --- */

/* Returns k/rho = delta/(12 A), on a sheet twice that, for a face of this area A in the part `part`. */
static double weight(const cb_immersed_workspace *s, int part, double area) {
  return area > 0 ? s->part[part].delta * (s->b->surface->open[part] ? 2 : 1) / (12 * area) : 0;
}

cb_status cb_immersed_impulses_create(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  cb_immersed_impulses *p = &s->impulses;
  const bool wanted = b->added_mass && !b->inertia.model && (cb_immersed_varies(b) || b->poses);
  const size_t vertices = wanted ? (size_t)b->surface->vertices : 0, faces = wanted ? (size_t)b->surface->faces : 0;
  p->a = cb_arena_alloc(s->arena, faces, sizeof *p->a);
  p->k = cb_arena_alloc(s->arena, faces, sizeof *p->k);
  p->leak = cb_arena_alloc(s->arena, faces, sizeof *p->leak);
  p->Q = cb_arena_alloc(s->arena, b->around.varying ? vertices : 0, sizeof *p->Q);
  p->P0 = cb_arena_alloc(s->arena, b->around.varying ? vertices : 0, sizeof *p->P0);
  p->w = cb_arena_alloc(s->arena, vertices, sizeof *p->w);
  if (!p->a || !p->k || !p->leak || !p->Q || !p->P0 || !p->w)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the fluid around %d faces", b->surface->faces);
  return CB_OK;
}

static void find_impulses_of_shape(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  cb_immersed_impulses *p = &s->impulses;
  const double *rho = s->field.mixed ? s->field.rho : NULL;
  p->known = true;
  p->density = rho ? NAN : s->field.density;
  if (b->around.varying) memset(p->Q, 0, (size_t)b->surface->vertices * sizeof *p->Q);
  for (int f = 0; f < b->surface->faces; f++) {
    const int *corner = b->surface->face[f], part = b->surface->part[f];
    double *a = p->a[f], m[3][6], sum[6];
    cb_area3(s->form.x[corner[0]], s->form.x[corner[1]], s->form.x[corner[2]], a);
    const double area = sqrt(cb_dot3(a, a));
    p->leak[f] = area * s->local->mean[part];
    const double k = p->k[f] = weight(s, part, area) * (rho ? rho[f] : s->field.density);
    if (!b->around.varying) continue;
    for (int c = 0; c < 3; c++) {
      cb_cross3(s->form.x[corner[c]], a, m[c]);
      memcpy(m[c] + 3, a, 3 * sizeof *a);
    }
    for (int j = 0; j < 6; j++) sum[j] = m[0][j] + m[1][j] + m[2][j];
    for (int c = 0; c < 3; c++)
      for (int i = 0; i < 3; i++) {
        const double ka = k * a[i];
        for (int j = 0; j < 6; j++) p->Q[corner[c]][i][j] += ka * (m[c][j] + sum[j]);
      }
  }
}

/* Finds s_c (own) and S_c of a face, for the velocities w of the vertices relative to the flow. */
static inline void normal_velocities(const cb_immersed_workspace *s, int f, const double (*w)[3], double own[3],
                                     double S[3]) {
  const int *corner = s->b->surface->face[f];
  double sum = 0;
  for (int c = 0; c < 3; c++) sum += own[c] = cb_dot3(w[corner[c]], s->impulses.a[f]) - s->impulses.leak[f];
  for (int c = 0; c < 3; c++) S[c] = own[c] + sum;
}

static void relative_velocities(cb_immersed_workspace *s, const double Y[6]) {
  const cb_immersed_field *f = &s->field;
  const bool flows = s->b->around.varying && cb_immersed_is_relative(s->b);
  for (int i = 0; i < s->b->surface->vertices; i++) {
    double *w = s->impulses.w[i];
    cb_cross3(Y, s->form.x[i], w);
    for (int k = 0; k < 3; k++) w[k] += Y[3 + k] + (s->form.v ? s->form.v[i][k] : 0) - (flows ? f->u[i][k] : 0);
  }
}

static void find_impulses_of_flow(cb_immersed_workspace *s) {
  static const double still[6];
  const cb_surface *surface = s->b->surface;
  cb_immersed_impulses *p = &s->impulses;
  relative_velocities(s, still);
  memset(p->P0, 0, (size_t)surface->vertices * sizeof *p->P0);
  for (int f = 0; f < surface->faces; f++) {
    double own[3], S[3];
    normal_velocities(s, f, (const double(*)[3])p->w, own, S);
    for (int c = 0; c < 3; c++)
      for (int i = 0; i < 3; i++) p->P0[surface->face[f][c]][i] += p->k[f] * S[c] * p->a[f][i];
  }
  memset(p->momentum, 0, sizeof p->momentum);
  for (int i = 0; i < surface->vertices; i++) {
    double turn[3];
    cb_cross3(s->form.x[i], p->P0[i], turn);
    for (int k = 0; k < 3; k++) {
      p->momentum[k] += turn[k];
      p->momentum[3 + k] += p->P0[i][k];
    }
  }
}

double cb_immersed_fluid_energy(cb_immersed_workspace *s, const double Y[6]) {
  double sum = 0;
  if (!s->impulses.known) find_impulses_of_shape(s);
  relative_velocities(s, Y);
  for (int f = 0; f < s->b->surface->faces; f++) {
    double own[3], S[3];
    normal_velocities(s, f, (const double(*)[3])s->impulses.w, own, S);
    sum += s->impulses.k[f] * cb_dot3(own, S) / 2;
  }
  return sum;
}

/* --- the wrench --- */

/* Subtracts (p × u + x × G^T p, G^T p) from `out`, whose entries are `stride` apart. */
static void subtract(const double x[3], const double u[3], const double G[3][3], const double p[3], double *out,
                     int stride) {
  double f[3], pu[3], xf[3];
  cb_apply3_transposed(G, p, f);
  cb_cross3(p, u, pu);
  cb_cross3(x, f, xf);
  for (int i = 0; i < 3; i++) {
    out[i * stride] -= pu[i] + xf[i];
    out[(3 + i) * stride] -= f[i];
  }
}

static void impulse(const cb_immersed_workspace *s, int vertex, const double Y[6], double P[3]) {
  const double(*Q)[6] = (const double(*)[6])s->impulses.Q[vertex];
  for (int i = 0; i < 3; i++) {
    P[i] = s->impulses.P0[vertex][i];
    for (int j = 0; j < 6; j++) P[i] += Q[i][j] * Y[j];
  }
}

/* Adds L_rho (equations above) to F, and its derivative in Y, sum (k/rho) q (sum S_c m_c)^T with m_c = (x_c × a, a), to
 * dF (NULL: not wanted). */
static void add_density(cb_immersed_workspace *s, const double Y[6], double F[6], cb_tensor dF) {
  const cb_surface *surface = s->b->surface;
  const bool varying = s->b->around.varying;
  double wind[3] = {0}, r[3][3];
  cb_pose_rotation(&s->field.g, r);
  if (s->b->around.has_flow && !varying) cb_apply3_transposed((const double(*)[3])r, s->wind.u, wind);
  for (int n = 0; n < s->field.slopes; n++) {
    const int f = s->field.sloped[n], *corner = surface->face[f], part = surface->part[f];
    const double(*slope)[3] = (const double(*)[3])s->field.slope[f];
    double a[3], own[3], S[3], q[6] = {0}, Sm[6] = {0}, sum = 0;
    cb_area3(s->form.x[corner[0]], s->form.x[corner[1]], s->form.x[corner[2]], a);
    const double area = sqrt(cb_dot3(a, a));
    if (!(area > 0)) continue;
    const double k = weight(s, part, area);
    for (int c = 0; c < 3; c++) {
      const double *u = varying ? s->field.u[corner[c]] : wind;
      double w[3];
      cb_cross3(Y, s->form.x[corner[c]], w);
      for (int i = 0; i < 3; i++) w[i] += Y[3 + i] - u[i] + (s->form.v ? s->form.v[corner[c]][i] : 0);
      sum += own[c] = cb_dot3(w, a) - area * s->local->mean[part];
    }
    for (int c = 0; c < 3; c++) {
      const double *x = s->form.x[corner[c]];
      double arm[3], m[3];
      S[c] = own[c] + sum;
      cb_cross3(x, slope[c], arm);
      cb_cross3(x, a, m);
      for (int i = 0; i < 3; i++) {
        q[i] += arm[i];
        q[3 + i] += slope[c][i];
        Sm[i] += S[c] * m[i];
        Sm[3 + i] += S[c] * a[i];
      }
    }
    for (int i = 0; i < 6; i++) {
      F[i] += k * cb_dot3(own, S) / 2 * q[i];
      for (int j = 0; dF && j < 6; j++) dF[i][j] += k * q[i] * Sm[j];
    }
  }
}

static void add_impulses(cb_immersed_workspace *s, const double Y[6], double F[6], cb_tensor dF) {
  const cb_immersed_field *f = &s->field;
  for (int i = 0; i < s->b->surface->vertices; i++) {
    const double(*G)[3] = (const double(*)[3])f->gradient[i], (*Q)[6] = (const double(*)[6])s->impulses.Q[i];
    double P[3];
    impulse(s, i, Y, P);
    subtract(s->form.x[i], f->u[i], G, P, F, 1);
    for (int j = 0; dF && j < 6; j++) {
      const double column[3] = {Q[0][j], Q[1][j], Q[2][j]};
      subtract(s->form.x[i], f->u[i], G, column, &dF[0][j], 6);
    }
  }
}

/* --- along the pose --- */

/* Computes hat(a) m, with hat(a) b = a × b. */
static void hat_times(const double a[3], const double m[3][3], double out[3][3]) {
  for (int j = 0; j < 3; j++) {
    out[0][j] = a[1] * m[2][j] - a[2] * m[1][j];
    out[1][j] = a[2] * m[0][j] - a[0] * m[2][j];
    out[2][j] = a[0] * m[1][j] - a[1] * m[0][j];
  }
}

/* Adds the change of the wrench that comes from the change of u and G with the pose. For each vertex
 *
 *   dg -= [[hat(P) U + hat(x) D, hat(P) G], [D, 0]],   U = du/dxi_omega = hat(u) - G hat(x)
 *   f = G^T P,  D = df/dxi_omega = hat(f) - G^T hat(P)
 */
static void add_turning(cb_immersed_workspace *s, const double Y[6], cb_tensor dg) {
  for (int i = 0; i < s->b->surface->vertices; i++) {
    const double(*G)[3] = (const double(*)[3])s->field.gradient[i], *u = s->field.u[i], *x = s->form.x[i];
    double P[3], f[3], U[3][3], D[3][3], a[3][3], c[3][3], d[3][3];
    impulse(s, i, Y, P);
    cb_apply3_transposed(G, P, f);
    for (int r = 0; r < 3; r++) {
      const double column[3] = {G[0][r], G[1][r], G[2][r]};
      cb_cross3(x, G[r], U[r]); /* -row hat(x) = x × row */
      cb_cross3(P, column, D[r]);
    }
    cb_add_hat3(U, 1, u);
    cb_add_hat3(D, 1, f);
    hat_times(P, (const double(*)[3])U, a);
    hat_times(x, (const double(*)[3])D, c);
    hat_times(P, G, d);
    for (int r = 0; r < 3; r++)
      for (int j = 0; j < 3; j++) {
        dg[r][j] -= a[r][j] + c[r][j];
        dg[r][3 + j] -= d[r][j];
        dg[3 + r][j] -= D[r][j];
      }
  }
}

/* --- the term --- */

/* Returns whether the momentum comes from the impulses at the vertices. */
static bool by_vertices(const cb_immersed *b) { return b->around.varying; }

static bool in_uniform_flow(const cb_immersed *b) { return b->around.has_flow && !b->around.varying; }

static cb_status field(cb_immersed_workspace *s) {
  const cb_status status = cb_immersed_place_added_mass(s);
  if (status || !by_vertices(s->b)) return status;
  if (!s->impulses.known) find_impulses_of_shape(s);
  find_impulses_of_flow(s);
  return status;
}

/* Finds the twist relative to a uniform flow, Y - U with U = (0, R^T u) for the flow u in the world's axes. */
static void relative_twist(const cb_immersed_workspace *s, const cb_immersed_moment *m, double out[6]) {
  double u[3];
  memcpy(out, m->Y, 6 * sizeof *out);
  cb_apply3_transposed(m->r, s->wind.u, u);
  for (int i = 0; i < 3; i++) out[3 + i] -= u[i];
}

static void inertia(const cb_immersed_workspace *s, const cb_pose *g, double K[6][6], double mu0[6]) {
  const cb_immersed_field *f = &s->field;
  double r[3][3], U[6] = {0}, share[6] = {0}; /* share: I_f U */
  if (in_uniform_flow(s->b)) {
    cb_pose_rotation(g, r);
    cb_apply3_transposed(r, s->wind.u, U + 3);
    cb_apply6(f->I_f, U, share);
  }
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) K[i][j] += f->I_f[i][j];
    mu0[i] += (by_vertices(s->b) ? s->impulses.momentum : f->mu_f)[i] - share[i];
  }
}

static void kinetic(cb_immersed_workspace *s, const cb_immersed_moment *m, double *energy) {
  cb_immersed_moment relative = *m;
  double Y[6];
  relative_twist(s, m, Y);
  if (in_uniform_flow(s->b)) relative.Y = Y;
  cb_immersed_add_kinetic(s, &relative, energy);
}

static void carry_uniform(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_immersed_field *f = &s->field;
  double u[3], difference[6], p[6], torque[3];
  cb_apply3_transposed(m->r, s->wind.u, u);
  relative_twist(s, m, difference);
  cb_apply6((const double(*)[6])f->I_f, difference, p);
  for (int i = 0; i < 6; i++) p[i] += f->mu_f[i];
  cb_cross3(u, p + 3, torque);
  for (int i = 0; to->F && i < 3; i++) to->F[i] += torque[i];
  for (int j = 0; to->dF && j < 6; j++) {
    const double column[3] = {f->I_f[3][j], f->I_f[4][j], f->I_f[5][j]};
    cb_cross3(u, column, torque);
    for (int i = 0; i < 3; i++) to->dF[i][j] += torque[i];
  }
  for (int j = 0; to->dg && j < 3; j++) {
    /* column j is (u × e_j) × p_v - u × I_vv (u × e_j): p_v is the linear part of p, I_vv the linear block of I_f */
    double e[3] = {0}, du[3], dp[3], change[3];
    e[j] = 1;
    cb_cross3(u, e, du);
    for (int i = 0; i < 3; i++) dp[i] = -cb_dot3(f->I_f[3 + i] + 3, du);
    cb_cross3(du, p + 3, torque);
    cb_cross3(u, dp, change);
    for (int i = 0; i < 3; i++) to->dg[i][j] += torque[i] + change[i];
  }
}

/* Adds dL/dg: the sum over vertices if the flow varies, and the term of the density if the density is mixed. The last
 * result is kept in s->pushed, because its derivative along the pose is usually requested next. */
static void add_varying_fluid(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  cb_immersed_last *last = &s->pushed;
  if (!cb_immersed_is_last(last, m)) {
    memset(last->F, 0, sizeof last->F);
    memset(last->jacobian, 0, sizeof last->jacobian);
    if (s->b->around.varying) add_impulses(s, m->Y, last->F, to->dF || to->dg ? last->jacobian : NULL);
    if (s->field.mixed) add_density(s, m->Y, last->F, to->dF || to->dg ? last->jacobian : NULL);
    if (to->dF || to->dg)
      cb_immersed_set_last(last, m);
    else
      last->known = false;
  }
  for (int i = 0; i < 6; i++) {
    if (to->F) to->F[i] += last->F[i];
    for (int j = 0; to->dF && j < 6; j++) to->dF[i][j] += last->jacobian[i][j];
  }
  if (!to->dg) return;
  if (s->b->around.varying) add_turning(s, m->Y, to->dg);
  if (s->b->around.has_flow) cb_immersed_carry(s, m, last->jacobian, to->dg);
}

static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  if (in_uniform_flow(s->b)) carry_uniform(s, m, to);
  if (by_vertices(s->b) || s->field.mixed) add_varying_fluid(s, m, to);
  return CB_OK;
}

static bool acts(const cb_immersed *b) { return cb_immersed_is_relative(b) && !cb_immersed_by_parts(b); }

const cb_immersed_term_class cb_immersed_term_flow = {
    .name = "flow",
    .order = 10,
    .acts = acts,
    .create = cb_immersed_impulses_create,
    .wrench = wrench,
    .inertia = inertia,
    .field = field,
    .kinetic = kinetic,
};
