/* Velocities and momenta of shape variables that move by themselves, and impulses at their limits (shape_motion.h).
 *
 *   with inertia:  G_ff u_f = (mu, p_f) - G_fd r_d'                        f: xi and the free variables, d: driven ones
 *   with drag:     M_ff r_f' = Q_f - M_fd r_d' - A_f^T F,   xi = P^-1 F - A r',   effort_d = (M r' - Q + A^T F)_d
 *   a limit:       r'_i+ = -e r'_i-,   p_i+ = p_i- + (r'_i+ - r'_i-)/(G_ff^-1)_ii;  p_d jumps by an impulse of its law
 * G, M, A: form, metric and connection of the bundle; e: restitution.
 */
#include "bundle/shape_motion.h"
#include "numerics/dd.h"
#include "numerics/small.h"

#include <math.h>
#include <string.h>

enum { N_MAX = CB_SHAPE_FORM };

/* The matrix G of the equations at a shape. If the bundle has a form, G is the form. Otherwise G is M, and A is set as
 * well. index[unknowns]: the rows of G for xi and the variables that are neither driven nor held; l: the Cholesky
 * factor of this block of G. */
typedef struct inertia {
  int dim, n, N; /* dim: dimension of xi, or 0 without a form; n: number of shape variables; N: rows of G */
  int unknowns, index[N_MAX];
  double G[N_MAX * N_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX], l[N_MAX * N_MAX];
} inertia;

/* Fills the matrix G. Factors the block of G that belongs to xi and to the variables that are neither driven nor held
 * (NULL: none is held). */
static cb_status factor(const cb_shape_problem *p, const double *r, const bool *held, inertia *m) {
  const cb_bundle *b = p->bundle;
  m->dim = p->has_form ? b->group->dim : 0;
  m->n = b->n;
  m->N = m->dim + m->n;
  m->unknowns = 0;
  const cb_status status =
      p->has_form ? b->class_->form(b, r, m->G, NULL) : cb_bundle_evaluate(b, r, m->A, NULL, m->G, NULL);
  if (status) return cb_bundle_fail_at(b, r, status);
  for (int i = 0; i < m->N; i++)
    if (i < m->dim || !(p->variable[i - m->dim].driven || (held && held[i - m->dim]))) m->index[m->unknowns++] = i;
  const int k = m->unknowns;
  for (int i = 0; i < k; i++)
    for (int j = 0; j <= i; j++) m->l[i * k + j] = m->G[m->index[i] * m->N + m->index[j]];
  if (cb_cholesky(k, m->l, 1e-15, m->l)) return CB_OK;
  return cb_bundle_fail_at(
      b, r, cb_fail(CB_STEP_SINGULAR, "the matrix of inertia or drag is singular: expected a positive definite one"));
}

/* Computes the velocity u[dim + n] (the body velocity, then the n rates) from the right-hand sides b[N] of the
 * unknowns. The rates of driven variables are given in v. */
static void velocity(const inertia *m, const cb_group *group, const double *b, const double *v, double *u) {
  double x[N_MAX], own[N_MAX];
  memset(own, 0, sizeof own);
  memcpy(own + m->dim, v, (size_t)m->n * sizeof *v);
  for (int i = 0; i < m->unknowns; i++) own[m->index[i]] = 0;
  for (int i = 0; i < m->unknowns; i++) x[i] = b[m->index[i]] - cb_dot(m->N, m->G + m->index[i] * m->N, own);
  cb_cholesky_solve(m->unknowns, m->l, x);
  for (int i = 0; i < m->unknowns; i++) own[m->index[i]] = x[i];
  memcpy(u + group->dim - m->dim, own, (size_t)m->N * sizeof *u);
  for (int a = 0; !m->dim && a < group->dim; a++) u[a] = -cb_dot(m->n, m->A + a * m->n, u + group->dim);
}

static cb_status velocity_with_inertia(const cb_shape_problem *p, cb_shape_state *s, const bool *held, bool before,
                                       double *u) {
  const cb_group *group = p->bundle->group;
  const int n = p->bundle->n;
  double b[N_MAX], r[CB_SHAPE_MAX], v[CB_SHAPE_MAX] = {0};
  inertia m;
  const cb_status status = factor(p, s->r, held, &m);
  if (status) return status;
  memcpy(r, s->r, sizeof r);
  cb_shape_drive(p, s->t, before, r, v);
  memcpy(b, s->mu, (size_t)m.dim * sizeof *b);
  memcpy(b + m.dim, s->p, (size_t)n * sizeof *b);
  velocity(&m, group, b, v, u);
  for (int i = 0; i < n; i++)
    if (p->variable[i].driven || (held && held[i]))
      s->p[i] = cb_dot(m.N, m.G + (m.dim + i) * m.N, u + group->dim - m.dim);
  return CB_OK;
}

cb_status cb_shape_add_drift(const cb_shape_problem *p, const double *r, const double *F, double *xi) {
  const int dim = p->bundle->group->dim;
  double P[CB_GROUP_DIM * CB_GROUP_DIM], drift[CB_GROUP_DIM];
  if (!p->potential || !p->has_form) return CB_OK;
  const cb_status status = cb_bundle_locked(p->bundle, r, P);
  if (status) return status;
  if (!cb_cholesky(dim, P, 1e-15, P))
    return cb_bundle_fail_at(p->bundle, r, cb_fail(CB_STEP_SINGULAR, "the drag of the locked body is singular"));
  memcpy(drift, F, (size_t)dim * sizeof *drift);
  cb_cholesky_solve(dim, P, drift);
  for (int a = 0; a < dim; a++) xi[a] += drift[a];
  return CB_OK;
}

static cb_status velocity_with_drag(const cb_shape_problem *p, cb_shape_state *s, double *u) {
  const cb_bundle *bundle = p->bundle;
  const int n = bundle->n, dim = bundle->group->dim;
  double b[CB_SHAPE_MAX], r[CB_SHAPE_MAX], v[CB_SHAPE_MAX] = {0}, F[CB_GROUP_DIM], f[CB_SHAPE_MAX];
  cb_shape_problem reduced = *p;
  cb_shape_force force;
  inertia m;
  reduced.has_form = false;
  cb_status status = factor(&reduced, s->r, NULL, &m);
  if (status) return status;
  memcpy(r, s->r, sizeof r);
  cb_shape_drive(p, s->t, false, r, v);
  cb_shape_potential(p, s->g, s->r, F, f);
  /* torques may depend on the rates, so Newton's method is used for r_f'; it is exact after one step if they are linear
   * in the rates */
  for (int it = 0; it < 30; it++) {
    double J[CB_SHAPE_MAX * CB_SHAPE_MAX], change = 0, scale = 0;
    int pivot[CB_SHAPE_MAX];
    const int k = m.unknowns;
    cb_shape_force_at(p, s->t, s->r, v, true, &force);
    status = cb_shape_check_force(p, &force, f);
    if (status) return status;
    for (int i = 0; i < k; i++) {
      const int row = m.index[i];
      b[i] = force.Q[row] + f[row] - cb_dot(n, m.G + row * n, v);
      for (int a = 0; a < dim; a++) b[i] -= m.A[a * n + row] * F[a];
      for (int j = 0; j < k; j++) J[i * k + j] = m.G[row * n + m.index[j]] - force.Q_v[row][m.index[j]];
    }
    if (cb_dense_factor(k, J, pivot))
      return cb_fail(
          CB_STEP_SINGULAR,
          "torque and drag do not determine the rates of the shape variables: expected drag of every free variable");
    cb_dense_solve(k, J, pivot, b);
    for (int i = 0; i < k; i++) {
      change = fmax(change, fabs(b[i]));
      scale = fmax(scale, fabs(v[m.index[i]] += b[i]));
    }
    if (!(change > 1e-15 * scale)) break;
  }
  memcpy(u + dim, v, (size_t)n * sizeof *u);
  for (int a = 0; a < dim; a++) u[a] = -cb_dot(n, m.A + a * n, v);
  status = cb_shape_add_drift(p, s->r, F, u);
  if (status) return status;
  for (int i = 0; i < n; i++) {
    if (!p->variable[i].driven) continue;
    s->effort[i] = cb_dot(n, m.G + i * n, v) - force.Q[i] - f[i];
    for (int a = 0; a < dim; a++) s->effort[i] += m.A[a * n + i] * F[a];
  }
  return CB_OK;
}

void cb_shape_copy(const cb_shape_problem *p, const cb_shape_state *from, cb_shape_state *to) {
  const cb_group *G = p->bundle->group;
  to->t = from->t;
  to->t_low = from->t_low;
  to->angle_low = from->angle_low;
  for (int k = 0; k < G->size; k++) to->g[k] = from->g[k];
  for (int a = 0; a < G->dim; a++) to->mu[a] = from->mu[a];
  for (int i = 0; i < p->bundle->n; i++) {
    to->r[i] = from->r[i];
    to->r_low[i] = from->r_low[i];
    to->p[i] = from->p[i];
    to->effort[i] = from->effort[i];
    to->impulse[i] = from->impulse[i];
    for (int k = 0; k < CB_SHAPE_WORKS; k++) to->work[k][i] = from->work[k][i];
  }
}

/* In SO(2) and SE(2) the angle is not reduced by full turns, so it may become large. Its low-order part is kept,
 * because otherwise the round-off of a large angle would rotate the momentum. */
void cb_shape_multiply(const cb_group *G, const double *y, cb_shape_state *s) {
  const int k = G->angle - 1;
  const double before = k < 0 ? 0 : s->g[k];
  G->multiply(G, s->g, y, s->g);
  G->project(G, s->g);
  if (k < 0) return;
  s->g[k] = before;
  cb_compensated_add_one(&s->g[k], &s->angle_low, y[k]);
}

cb_status cb_shape_velocity(const cb_shape_problem *p, cb_shape_state *s, double *u) {
  return p->drag ? velocity_with_drag(p, s, u) : velocity_with_inertia(p, s, NULL, false, u);
}

cb_status cb_shape_hold(const cb_shape_problem *p, const bool *held, bool before, cb_shape_state *s) {
  double u[N_MAX];
  return velocity_with_inertia(p, s, held, before, u);
}

cb_status cb_shape_start(const cb_shape_problem *p, const double *rate, cb_shape_state *s) {
  const int dim = p->bundle->group->dim, n = p->bundle->n;
  double b[N_MAX] = {0}, u[N_MAX];
  bool held[CB_SHAPE_MAX];
  inertia m;
  for (int i = 0; i < n; i++) held[i] = true;
  const cb_status status = factor(p, s->r, held, &m);
  if (status) return status;
  memcpy(b, s->mu, (size_t)m.dim * sizeof *b);
  velocity(&m, p->bundle->group, b, rate, u);
  for (int i = 0; i < n; i++) s->p[i] = cb_dot(m.N, m.G + (m.dim + i) * m.N, u + dim - m.dim);
  return CB_OK;
}

double cb_shape_gap(const cb_shape_variable *v, double r, int *side) {
  const double below = r - v->lowest, above = v->highest - r;
  *side = below < above ? -1 : 1;
  return fmin(below, above);
}

cb_status cb_shape_reflect(const cb_shape_problem *p, const bool *at_limit, bool elastic, double h, cb_shape_state *s,
                           double *impulse) {
  const int n = p->bundle->n, dim = p->bundle->group->dim;
  double u[N_MAX], momentum[CB_SHAPE_MAX];
  inertia m;
  cb_status status = factor(p, s->r, NULL, &m);
  if (!status) status = cb_shape_velocity(p, s, u);
  if (status) return status;
  memset(impulse, 0, (size_t)n * sizeof *impulse);
  const double first = cb_dot(n, u + dim, u + dim);
  /* The variables that move into a limit are reflected one after another, until no variable does. Each impulse reverses
   * one rate. If several variables are at limits, this is the sequential rule of contacts (dynamics/reflection.h). */
  for (int blow = 0; blow < 1000; blow++) {
    int worst = -1;
    double fastest = 1e-14 * (1 + first);
    for (int i = 0; i < n; i++) {
      int side;
      if (!at_limit[i]) continue;
      cb_shape_gap(&p->variable[i], s->r[i], &side);
      if (side * u[dim + i] > fastest) fastest = side * u[dim + (worst = i)];
    }
    if (worst < 0) return CB_OK;
    double x[N_MAX] = {0};
    int at = 0;
    while (m.index[at] != m.dim + worst) at++;
    x[at] = 1;
    cb_cholesky_solve(m.unknowns, m.l, x);
    const double rate = u[dim + worst], stopped = h * p->variable[worst].friction * x[at];
    const double e = elastic && fabs(rate) > stopped ? p->variable[worst].restitution : 0;
    const double push = -(1 + e) * rate / x[at];
    s->p[worst] += push;
    impulse[worst] += push;
    s->work[CB_SHAPE_LIMIT][worst] -= push * rate * (1 - e) / 2;
    memcpy(momentum, s->p, sizeof momentum);
    status = cb_shape_velocity(p, s, u);
    if (status) return status;
    for (int i = 0; i < n; i++) {
      if (!p->variable[i].driven) continue;
      s->impulse[i] += s->p[i] - momentum[i];
      s->work[CB_SHAPE_MOTOR][i] += (s->p[i] - momentum[i]) * u[dim + i];
    }
  }
  return cb_fail(
      CB_STEP_NO_CONVERGENCE,
      "the shape variables meet their limits again and again at the same time: expected another restitution");
}
