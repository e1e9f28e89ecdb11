/* One step of Hamilton–Pontryagin on SE(3) (equations and symbols: fluid/rigid_step.h), by Newton's method with the
 * matrix J:
 *
 *   ds s^-1 = X dY,  (1 + Ad_s) X = dtau_{hY} h          s^-1 ds = Z dY,  Z = Ad_s^-1 X
 *   J dY = (A^T (K + mu_g Z) + h d(A^T mu)/d(hY)) dY - h/2 (B (F_Y + F_g Z) dY + X_omega dY × L)
 * A = dtau^-1_{hY}; mu = K Y + mu0; s: the half step, s s = tau(h Y); B: the rotation of s, applied to both parts of a
 * wrench; X_omega: the angular rows of X; mu_g, F_g: derivatives in the pose; F_Y: derivative in the twist. L = B F + 2
 * N^T G, N = (1 + Ad_s)^-1, is the load at the first node. Here one half of the wrenches F acts at each end of the
 * step, and the wrenches G act in its middle. The matrix has B/2 in place of N^T, which differs by O(h), and the
 * derivatives of G are part of F_Y and F_g. The matrix is reused while each change is at most a fiftieth of the
 * previous one. With the error e of the first guess, the next errors are c e^2, 2 c^2 e^3 .. (c from the second
 * derivatives), so that two residuals are enough if e is small.
 */
#include "fluid/rigid_step.h"
#include "numerics/dd.h"
#include "numerics/vec3.h"
#include <math.h>
#include <string.h>

enum { MAXIMUM = 40 };

/* Computes out = K a. */
static inline void apply_inertia(const cb_rigid_trial *e, const double a[6], double out[6]) {
  if (e->diagonal)
    for (int i = 0; i < 6; i++) out[i] = e->K[i][i] * a[i];
  else
    cb_apply6_transposed(e->K, a, out); /* K is symmetric */
}

static void move(cb_rigid_trial *e, const double Y[6]) {
  double hY[6];
  for (int i = 0; i < 6; i++) hY[i] = e->h * Y[i];
  cb_se3_tau(e->map, hY, &e->move);
}

static void find_momentum(cb_rigid_trial *e, const double Y[6]) {
  apply_inertia(e, Y, e->mu);
  for (int i = 0; i < 6; i++) e->mu[i] += e->mu0[i];
}

/* Computes the poses that follow from the twist Y, and the momentum mu. With fresh_inertia, computes K and mu0 at the
 * middle pose first, unless they are constant. */
static cb_status place(cb_rigid_trial *e, const double Y[6], bool fresh_inertia) {
  double moved[3];
  move(e, Y);
  cb_pose_half(&e->move, &e->half);
  cb_pose_rotation(&e->half, e->r_half);
  cb_quaternion_multiply(e->s->g.q, e->half.q, e->middle.q);
  cb_quaternion_project(e->middle.q);
  cb_apply3(e->r, e->half.x, moved);
  for (int i = 0; i < 3; i++) e->middle.x[i] = e->s->g.x[i] + (e->s->x_low[i] + moved[i]);
  if (fresh_inertia && !e->p->constant) {
    if (e->p->expect) e->p->expect(e->p->self, e->t, &e->middle, Y);
    const cb_status status = e->p->inertia(e->p->self, e->t, &e->middle, e->found_K, e->found_mu0);
    if (status) return status;
  }
  find_momentum(e, Y);
  return CB_OK;
}

static void multiply3(const double a[3][3], const double b[3][3], double out[3][3]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
}

static bool invert3(const double m[3][3], double out[3][3]) {
  double c[3][3];
  for (int i = 0; i < 3; i++) cb_cross3(m[(i + 1) % 3], m[(i + 2) % 3], c[i]); /* row i of the matrix of cofactors */
  const double det = cb_dot3(m[0], c[0]);
  if (!(fabs(det) > 0)) return false;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[i][j] = c[j][i] / det;
  return true;
}

static cb_status not_finite(const cb_rigid_trial *e) {
  return cb_fail(CB_STEP_NOT_FINITE, "the result of a step of %g at t = %g is not finite: use a smaller `step`", e->h,
                 e->s->t);
}

static cb_status too_far(const cb_rigid_trial *e) {
  return cb_fail(CB_STEP_SINGULAR, "a step of %g rotates the body too far: use a smaller `step`", e->h);
}

/* The parts of X_omega and Z: (1 + Ad_s)^-1 = [[H, 0], [-H hat(x) H^T, H]], H = (1 - hat(b))/2, b = tan(angle/2) axis
 * of s; dtau^-1 = [[P, 0], [Q, S]]. */
typedef struct halves {
  double H[3][3], P_inverse[3][3], Q[3][3], S[3][3];
} halves;

/* Computes X_omega = h H P^-1, which depends only on the angular part of dY. P is the angular block of A or, for the
 * map tln, of dtau^-1_{hY} of the map cayley. */
static bool half_turns(const cb_rigid_trial *e, const double hY[6], const double A[6][6], halves *out, double X[3][3]) {
  double own[6][6], P[3][3];
  const double *q = e->half.q, b[3] = {q[1] / q[0], q[2] / q[0], q[3] / q[0]};
  if (e->map == CB_SE3_TLN) cb_se3_dtau_inverse(CB_SE3_CAYLEY, hY, own);
  const double(*const D)[6] = e->map == CB_SE3_TLN ? (const double(*)[6])own : A;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      P[i][j] = D[i][j];
      out->Q[i][j] = D[3 + i][j];
      out->S[i][j] = D[3 + i][3 + j];
      out->H[i][j] = i == j ? 0.5 : 0;
    }
  cb_add_hat3(out->H, -0.5, b);
  if (!invert3((const double(*)[3])P, out->P_inverse)) return false;
  multiply3((const double(*)[3])out->H, (const double(*)[3])out->P_inverse, X);
  for (int i = 0; i < 9; i++) X[i / 3][i % 3] *= e->h;
  return true;
}

/* Computes the linear rows of Z. The linear rows of X/h are -H hat(x) H^T P^-1 - H S^-1 Q P^-1 and H S^-1;
 * Ad_s^-1 = [[R^T, 0], [-R^T hat(x), R^T]]. */
static bool half_moves(const cb_rigid_trial *e, const halves *of, const double rt[3][3], const double X[3][3],
                       double Z[6][6]) {
  const double(*const H)[3] = of->H, (*const P_inverse)[3] = of->P_inverse;
  double lower[3][3], right[3][3], Ht[3][3], inverse[3][3], x[3][3] = {{0}}, a[3][3], c[3][3], G[3][3];
  if (!invert3(of->S, inverse)) return false;
  for (int i = 0; i < 9; i++) Ht[i / 3][i % 3] = H[i % 3][i / 3];
  cb_add_hat3(x, 1, e->half.x);
  multiply3(H, inverse, right);
  multiply3(of->Q, P_inverse, c);
  multiply3(right, c, lower);
  multiply3(Ht, P_inverse, c);
  multiply3(x, c, G);
  multiply3(H, G, c);
  multiply3(x, X, G);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) lower[i][j] = -e->h * (lower[i][j] + c[i][j]) - G[i][j];
  multiply3(rt, lower, a);
  multiply3(rt, right, c);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      Z[3 + i][j] = a[i][j];
      Z[3 + i][3 + j] = e->h * c[i][j];
    }
  return true;
}

/* Returns the factor of B F in the load L: 1, or 2 if all of a wrench acts at the first node. */
static double at_first(const cb_rigid_trial *e) { return e->damped ? 2 : 1; }

/* Sets the load L at the first node for wrenches F of which one half acts at each end of the step: L = B F. If all of a
 * wrench acts at the first node, L = 2 B F. */
static void load_turned(cb_rigid_trial *e, const double r[3][3], const double F[6]) {
  cb_turn6(r, F, e->turned);
  for (int i = 0; i < 6; i++) e->first[i] = at_first(e) * e->turned[i];
  memset(e->varied, 0, sizeof e->varied);
}

/* Adds to L the load 2 N^T F of wrenches F that act in the middle of the step: 2 N^T F = ((1 + hat(b)) torque + (1 -
 * hat(b)) (x × f), 2 f). Here f = (1 + hat(b)) force/2, and b is as in `halves`. */
static void load_varied(cb_rigid_trial *e, const double r[3][3], const double F[6]) {
  const double *q = e->half.q, *x = e->half.x, b[3] = {q[1] / q[0], q[2] / q[0], q[3] / q[0]};
  double torque[3], force[3], moment[3], turned[3];
  cb_cross3(b, F, torque);
  cb_cross3(b, F + 3, force);
  for (int i = 0; i < 3; i++) {
    torque[i] += F[i];
    force[i] += F[3 + i];
  }
  cb_cross3(x, force, moment);
  cb_cross3(b, moment, turned);
  cb_turn6(r, F, e->varied);
  for (int i = 0; i < 3; i++) {
    e->first[i] += torque[i] + (moment[i] - turned[i]) / 2;
    e->first[3 + i] += force[i];
  }
}

/* Computes e->whole, the sum of two loads: that of the wrenches of which one half acts at each end of the step, and
 * that of the wrenches that act in its middle. */
static void load_both(cb_rigid_trial *e) {
  double ends[3], middle[3];
  cb_cross3(e->move.x, e->turned + 3, ends);
  cb_cross3(e->half.x, e->varied + 3, middle);
  for (int i = 0; i < 6; i++) e->whole[i] = e->turned[i] + e->varied[i];
  for (int i = 0; i < 3; i++) e->whole[i] += (2 - at_first(e)) * ends[i] / 2 + middle[i];
}

static bool is_loaded(const cb_rigid_problem *p) { return p->wrench || p->inertia_wrench || p->pose_derivative; }

/* Sets those members of the trial that a step reads without having written them. A step writes all other members before
 * it reads them. */
void cb_rigid_trial_begin(const cb_rigid_problem *p, cb_se3_map map, double h, const cb_rigid_state *s,
                          cb_rigid_trial *e) {
  const cb_rigid_constant *own = p->constant;
  e->p = p;
  e->map = map;
  e->damped = false;
  e->s = s;
  e->h = h;
  e->t = s->t + h / 2;
  cb_pose_rotation(&s->g, e->r);
  e->K = own ? own->K : (const double(*)[6])e->found_K;
  e->mu0 = own ? own->mu0 : e->found_mu0;
  e->diagonal = own && own->diagonal;
  e->dead = false;
  if (p->pose_dependent) memset(e->along, 0, sizeof e->along);
  if (is_loaded(p)) return;
  load_turned(e, (const double[3][3]){{0}}, (const double[6]){0});
  memset(e->dfirst, 0, sizeof e->dfirst);
}

void cb_rigid_trial_dead_load(cb_rigid_trial *e) { e->dead = true; }

static cb_status load(cb_rigid_trial *e, const double Y[6], const double r[3][3], bool with_derivative) {
  const cb_rigid_problem *p = e->p;
  double F[6] = {0};
  if (with_derivative) memset(e->dF, 0, sizeof e->dF);
  cb_status status = p->wrench ? p->wrench(p->self, e->t, &e->middle, Y, F, with_derivative ? e->dF : NULL) : CB_OK;
  if (status) return status;
  load_turned(e, r, F);
  if (!p->inertia_wrench) return CB_OK;
  double own[6] = {0}, own_Y[6][6] = {{0}};
  status = p->inertia_wrench(p->self, e->t, &e->middle, Y, own, with_derivative ? own_Y : NULL);
  if (status) return status;
  load_varied(e, r, own);
  for (int i = 0; with_derivative && i < 6; i++) cb_add6(1, own_Y[i], e->dF[i]);
  return CB_OK;
}

/* Computes mu_g Z, and replaces F_Y by F_Y + F_g Z. A load that only rotates with the body, such as a weight, needs
 * only the first rows of Z, R^T X_omega. */
static cb_status carry_derivatives(cb_rigid_trial *e, const double Y[6], const halves *half, const double r[3][3],
                                   const double X[3][3]) {
  double mu_g[6][6] = {{0}}, F_g[6][6] = {{0}}, rt[3][3], turned[3][3];
  const cb_status status = e->p->pose_derivative(e->p->self, e->t, &e->middle, Y, mu_g, F_g);
  if (status) return status;
  bool moves = e->p->pose_dependent;
  for (int i = 0; i < 6; i++) moves = moves || F_g[i][3] != 0 || F_g[i][4] != 0 || F_g[i][5] != 0;
  for (int i = 0; i < 9; i++) rt[i / 3][i % 3] = r[i % 3][i / 3];
  multiply3((const double(*)[3])rt, X, turned);
  if (!moves) {
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++) e->dF[i][j] += F_g[i][k] * turned[k][j];
    return CB_OK;
  }
  double Z[6][6] = {{0}};
  for (int i = 0; i < 9; i++) Z[i / 3][i % 3] = turned[i / 3][i % 3];
  if (!half_moves(e, half, (const double(*)[3])rt, X, Z)) return too_far(e);
  memset(e->along, 0, sizeof e->along);
  cb_add_product6((const double(*)[6])mu_g, (const double(*)[6])Z, e->along);
  cb_add_product6((const double(*)[6])F_g, (const double(*)[6])Z, e->dF);
  return CB_OK;
}

/* Computes mu_g Z, and the derivative of L: B (F_Y + F_g Z) + X_omega × L. */
static cb_status load_derivative(cb_rigid_trial *e, const double Y[6], const double hY[6], const double A[6][6],
                                 const double r[3][3]) {
  double X[3][3];
  halves half;
  if (!half_turns(e, hY, A, &half, X)) return too_far(e);
  if (e->p->pose_derivative) {
    const cb_status status = carry_derivatives(e, Y, &half, r, (const double(*)[3])X);
    if (status) return status;
  }
  for (int i = 0; i < 6; i++) {
    const double *row = r[i % 3], (*const F)[6] = e->dF + i / 3 * 3;
    for (int j = 0; j < 6; j++)
      e->dfirst[i][j] = at_first(e) * (row[0] * F[0][j] + row[1] * F[1][j] + row[2] * F[2][j]);
  }
  for (int j = 0; j < 3; j++) {
    const double by[3] = {X[0][j], X[1][j], X[2][j]};
    double change[6];
    cb_cross3(by, e->first, change);
    cb_cross3(by, e->first + 3, change + 3);
    for (int i = 0; i < 6; i++) e->dfirst[i][j] += change[i];
  }
  return CB_OK;
}

/* Adds A^T K to J for a diagonal K; the block of A in its angular rows and linear columns is 0. */
static void add_diagonal(const cb_rigid_trial *e, const double A[6][6], double J[6][6]) {
  double K[6];
  for (int k = 0; k < 6; k++) K[k] = e->K[k][k];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 6; k++) J[i][k] += A[k][i] * K[k];
  for (int i = 3; i < 6; i++)
    for (int k = 3; k < 6; k++) J[i][k] += A[k][i] * K[k];
}

/* Adds A^T (K + mu_g Z) to J. */
static void add_varying(const cb_rigid_trial *e, const double A[6][6], double J[6][6]) {
  double M[6][6];
  memcpy(M, e->K, sizeof M);
  for (int i = 0; e->p->pose_dependent && i < 6; i++) cb_add6(1, e->along[i], M[i]);
  for (int i = 0; i < 6; i++)
    for (int k = i / 3 * 3; k < 6; k++)
      for (int j = 0; j < 6; j++) J[i][j] += A[k][i] * M[k][j];
}

static bool finite_matrix(const double J[6][6]) {
  double zero[6] = {0}; /* an entry becomes nan if a number in its column is not finite */
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) zero[j] += J[i][j] - J[i][j];
  return cb_finite6(zero);
}

/* Computes Newton's matrix J at Y. */
static cb_status linearise(cb_rigid_trial *e, const double Y[6], const double hY[6], const double r[3][3],
                           double A[6][6], bool loaded, double (*restrict J)[6]) {
  const double half = e->h / 2;
  if (loaded) {
    const cb_status status = load_derivative(e, Y, hY, (const double(*)[6])A, r);
    if (status) return status;
  }
  cb_se3_dtau_inverse_transpose_derivative(e->map, hY, e->mu, J);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) J[i][j] *= e->h;
  for (int i = 0; i < 6 && !e->dead; i++)
    for (int j = 0; j < 6; j++) J[i][j] -= half * e->dfirst[i][j];
  if (e->diagonal)
    add_diagonal(e, (const double(*)[6])A, J);
  else
    add_varying(e, (const double(*)[6])A, J);
  return finite_matrix((const double(*)[6])J) ? CB_OK : not_finite(e);
}

cb_status cb_rigid_trial_at(cb_rigid_trial *e, const double Y[6], bool first, double residual[6], double J[6][6]) {
  const bool loaded = is_loaded(e->p);
  const double(*const r)[3] = (const double(*)[3])e->r_half;
  double hY[6], (*const A)[6] = e->A;
  cb_status status = place(e, Y, first || e->p->pose_dependent);
  if (status) return status;
  for (int i = 0; i < 6; i++) hY[i] = e->h * Y[i];
  cb_se3_dtau_inverse(e->map, hY, A);
  if (loaded) status = load(e, Y, r, J && !e->dead);
  if (J && !status) status = linearise(e, Y, hY, r, A, loaded && !e->dead, J);
  if (status) return status;
  cb_apply6_transposed((const double(*)[6])A, e->mu, residual);
  for (int i = 0; i < 6; i++) residual[i] = e->s->momentum[i] - residual[i] + e->h / 2 * e->first[i];
  return CB_OK;
}

cb_status cb_rigid_trial_check_back(const cb_rigid_trial *e) {
  double largest = 0;
  for (int i = 0; i < 6 && e->h < 0 && is_loaded(e->p); i++) {
    const double ratio = e->K[i][i] > 0 ? e->h * e->dF[i][i] / e->K[i][i] : 0;
    largest = ratio > largest ? ratio : largest;
  }
  if (largest <= 0.66) return CB_OK;
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "the backward part of a step of order 4, %g at t = %g, fails because the drag is too strong, |dF/dY| "
                 "h/K = %.3g: use `order: 2`, or a smaller `step`",
                 e->h, e->s->t, largest);
}

/* Makes one iteration: computes the residual and the update of Y that removes it, with a new matrix if `fresh`. Returns
 * CB_STEP_NOT_FINITE if the update is not finite. */
static cb_status newton(cb_rigid_trial *e, const double Y[6], bool first, bool fresh, cb_factors6 *matrix,
                        double update[6]) {
  double residual[6], J[6][6];
  cb_status status = cb_rigid_trial_at(e, Y, first, residual, fresh ? J : NULL);
  if (!status && first) status = cb_rigid_trial_check_back(e);
  if (status) return status;
  if (fresh && !cb_factor6((const double(*)[6])J, matrix))
    return cb_fail(
        CB_STEP_SINGULAR,
        "Newton's matrix of a step of %g at t = %g is singular: expected a body with mass, or a smaller `step`", e->h,
        e->s->t);
  cb_back6(matrix, residual, update);
  return cb_finite6(update) ? CB_OK : not_finite(e);
}

double cb_rigid_size(const double K[6][6], const double a[6]) {
  double Ka[6], sum = 0;
  cb_apply6_transposed(K, a, Ka);
  for (int i = 0; i < 6; i++) sum += Ka[i] * a[i];
  return sqrt(fabs(sum));
}

static double size(const cb_rigid_trial *e, const double a[6]) {
  if (!e->diagonal) return cb_rigid_size(e->K, a);
  double sum = 0;
  for (int i = 0; i < 6; i++) sum += e->K[i][i] * a[i] * a[i];
  return sqrt(fabs(sum));
}

/* Returns the size of a twist whose displacement in a step equals the round-off of the pose. */
static double blur(const cb_rigid_trial *e) {
  const double far = sqrt(cb_dot3(e->s->g.x, e->s->g.x)) / fabs(e->h), turn = 1 / fabs(e->h);
  return 1e-15 * size(e, (double[6]){turn, turn, turn, far, far, far});
}

/* Returns the larger of a and b. It replaces fmax, which would be a function call. */
static double larger(double a, double b) { return b > a ? b : a; }

cb_status cb_rigid_trial_arrive(cb_rigid_trial *e, const double Y[6], const double update[6]) {
  const bool by_derivative = !e->p->pose_dependent || e->p->pose_derivative;
  double change[6];
  if (!e->dead) {
    cb_apply6(e->dfirst, update, change);
    cb_add6(1, change, e->first);
    cb_add6(1 / at_first(e), change, e->turned);
  }
  cb_status status = CB_OK;
  if (by_derivative && !e->p->inertia_wrench) {
    move(e, Y);
    find_momentum(e, Y);
  } /* here neither wrenches nor inertia are evaluated at the last Y */
  else
    status = place(e, Y, !by_derivative);
  load_both(e);
  if (status || !by_derivative || !e->p->pose_dependent) return status;
  cb_apply6(e->along, update, change);
  cb_add6(1, change, e->mu);
  return CB_OK;
}

/* Iterates to round-off. `change` is the size of the last change of Y, and `scale` the largest change or twist so far.
 * `rate` is change divided by the change before it; after the first change it is change divided by scale.
 *
 * The iteration ends if the remaining changes are estimated to be below 1e-15 scale. If all derivatives are exact and
 * the matrix is new, the estimate is 10 rate^2 change (quadratic convergence), but 10 rate change after the first
 * change: this assumes that in a step forces change the twist at most by about the twist itself. Otherwise the estimate
 * is the sum of a geometric series with the ratio 2 rate. The iteration also ends if changes no longer decrease and are
 * below 1e-10 scale or below the resolution of the pose (a body at rest under balanced forces). */
static cb_status solve(cb_rigid_trial *e, double Y[6], cb_factors6 *matrix, int *count) {
  const bool turned = e->p->wrench || e->p->pose_dependent,
             quadratic = e->p->exact && !e->p->inertia_wrench && (e->p->pose_derivative || !turned);
  double last = 0, scale = 0, rate = 1;
  for (int n = 0; n < MAXIMUM; n++) {
    double update[6];
    const bool fresh = rate > 0.02;
    const cb_status status = newton(e, Y, n == 0, fresh, matrix, update);
    if (status) return status;
    const double change = size(e, update);
    scale = larger(larger(scale, change), size(e, Y));
    rate = change / (n > 0 ? last : scale);
    cb_add6(1, update, Y);
    *count = n + 1;
    const double next =
        quadratic && fresh ? 10 * rate * (n > 0 ? rate : 1) * change : 2 * rate * change / (1 - 2 * rate);
    const bool settled = change <= 1e-15 * scale || ((n > 0 || quadratic) && rate < 0.25 && next <= 1e-15 * scale);
    if (settled || (n > 0 && change >= last && change <= fmax(1e-10 * scale, blur(e)))) {
      return cb_rigid_trial_arrive(e, Y, update);
    }
    last = change;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "Newton's method of a step of %g at t = %g did not converge in %d iterations: use a smaller `step`",
                 e->h, e->s->t, MAXIMUM);
}

/* For the map tln: sets the momentum to p_{k+1} = C_{-hY}^T mu + the load of the second node, where C_{-hY} = 1 + h
 * ad_Y/2. */
static void keep_tln(const cb_rigid_trial *e, const double Y[6], cb_rigid_state *s) {
  double hY[6], A[6][6], second[6], arm[3], kick[6], r[3][3];
  for (int i = 0; i < 6; i++) {
    hY[i] = -e->h * Y[i];
    second[i] = e->whole[i] - e->first[i] / 2;
  }
  cb_cross3(e->move.x, second + 3, arm);
  for (int i = 0; i < 3; i++) second[i] -= arm[i];
  cb_se3_dtau_inverse(e->map, hY, A);
  cb_pose_rotation(&e->move, r);
  cb_turn6_transposed(r, second, kick);
  cb_apply6_transposed(A, e->mu, s->momentum);
  cb_add6(e->h, kick, s->momentum);
  cb_pose_rotation(&s->g, r);
  cb_turn6(r, s->momentum, s->world);
  memset(s->world_low, 0, sizeof s->world_low);
}

/* Computes *turn, the angle by which the step rotates the body if its spin is the one that belongs to the momentum;
 * *turn is at least `angle`. */
static cb_status find_spin(const cb_rigid_trial *e, const double momentum[6], double angle, double *turn) {
  double K[6][6], spin[6];
  memcpy(K, e->K, sizeof K);
  const cb_status status = cb_rigid_velocity(K, momentum, e->mu0, spin);
  if (status) return status;
  *turn = fmax(angle, fabs(e->h) * sqrt(cb_dot3(spin, spin)));
  return cb_rigid_half_turn(e->h, e->s->t, *turn);
}

/* Finds *turn, the angle by which the step rotates the body, from the twist K^-1 (A^T mu - mu0) that belongs to the
 * momentum. The twist Y has a smaller spin, because the map tau is not exact: for Cayley's map and a fixed axis the
 * ratio is 1 + angle^2/4, and it is larger if the body moves by its own size. For a small angle Newton's matrix takes
 * the place of K. For a larger angle the function returns the status of cb_rigid_half_turn. */
static cb_status find_turn(const cb_rigid_trial *e, const double Y[6], const cb_factors6 *matrix, double *turn) {
  double momentum[6], gained[6], more[6];
  for (int i = 0; i < 6; i++) {
    momentum[i] = e->s->momentum[i] + e->h / 2 * e->first[i];
    gained[i] = momentum[i] - e->mu[i];
  }
  cb_back6(matrix, gained, more);
  const double angle = fabs(e->h) * sqrt(cb_dot3(Y, Y)), error = fabs(e->h) * sqrt(cb_dot3(more, more));
  *turn = angle + error;
  if (angle < 0.15 && error < fmax(0.1 * angle, 1e-3)) return CB_OK;
  return find_spin(e, momentum, angle, turn);
}

void cb_rigid_trial_residual(const cb_rigid_trial *e, const double Y[6], double residual[6]) {
  double hY[6], first[6];
  for (int i = 0; i < 6; i++) hY[i] = e->h * Y[i];
  cb_se3_dtau_inverse_transpose(e->map, hY, e->mu, first);
  for (int i = 0; i < 6; i++) residual[i] = e->s->momentum[i] - first[i] + e->h / 2 * e->first[i];
}

double cb_rigid_trial_power(const cb_rigid_trial *e, const double Y[6]) {
  double turned[6], power = 0;
  cb_turn6(e->r_half, Y, turned);
  for (int i = 0; i < 6; i++) power += (e->turned[i] + e->varied[i]) * turned[i];
  return power;
}

cb_status cb_rigid_trial_turn(const cb_rigid_trial *e, const double Y[6], const double impulse[6], double *turn) {
  const double angle = *turn = fabs(e->h) * sqrt(cb_dot3(Y, Y));
  double momentum[6];
  if (angle < 0.15) return CB_OK;
  for (int i = 0; i < 6; i++) momentum[i] = e->s->momentum[i] + impulse[i] + e->h / 2 * e->first[i];
  return find_spin(e, momentum, angle, turn);
}

cb_status cb_rigid_trial_finish(const cb_rigid_trial *e, const double Y[6], const double *impulse, double turn,
                                cb_rigid_state *s) {
  double dx[3], change[6], end[4];
  cb_rigid_state next; /* only the members that the following lines use are set */
  next.g = s->g;
  memcpy(next.x_low, s->x_low, sizeof next.x_low);
  memcpy(next.world, s->world, sizeof next.world);
  memcpy(next.world_low, s->world_low, sizeof next.world_low);
  for (int i = 0; impulse && i < 6; i++) cb_compensated_add_one(&next.world[i], &next.world_low[i], impulse[i]);
  cb_quaternion_multiply(s->g.q, e->move.q, end);
  cb_quaternion_project(end);
  cb_apply3(e->r, e->move.x, dx);
  cb_turn6(e->r, e->whole, change);
  for (int i = 0; i < 6; i++) change[i] *= e->h;
  cb_rigid_move(&next, dx, end, change);
  if (e->map == CB_SE3_TLN) keep_tln(e, Y, &next);
  if (!cb_finite6(next.world) || !cb_finite6(Y)) return not_finite(e);
  s->t += e->h;
  s->turn = turn;
  cb_rigid_remember(s, e->h, Y);
  for (int i = 0; i < 4; i++) s->g.q[i] = next.g.q[i];
  for (int i = 0; i < 3; i++) {
    s->g.x[i] = next.g.x[i];
    s->x_low[i] = next.x_low[i];
  }
  for (int i = 0; i < 6; i++) {
    s->world[i] = next.world[i];
    s->world_low[i] = next.world_low[i];
    s->mu[i] = e->mu[i];
    s->momentum[i] = next.momentum[i];
  }
  return CB_OK;
}

static cb_status make_step(const cb_rigid_problem *p, cb_se3_map map, bool damped, double h, cb_rigid_state *s,
                           int *iterations) {
  if (!isfinite(h) || h == 0)
    return cb_fail(CB_ERROR_ARGUMENT, "expected a step that is not 0 and is finite, found %g", h);
  if (p->curvature != 0) return cb_rigid_curved_pontryagin(p, map, h, s, iterations);
  cb_rigid_trial e;
  cb_factors6 matrix;
  double Y[6], turn;
  int count = 0;
  cb_rigid_trial_begin(p, map, h, s, &e);
  e.damped = damped;
  cb_rigid_guess(s, h, Y);
  cb_status status = solve(&e, Y, &matrix, &count);
  if (!status) status = find_turn(&e, Y, &matrix, &turn);
  if (!status) status = cb_rigid_trial_finish(&e, Y, NULL, turn, s);
  if (!status && iterations) *iterations = count;
  return status;
}

cb_status cb_rigid_step_pontryagin(const cb_rigid_problem *p, cb_se3_map map, double h, cb_rigid_state *s,
                                   int *iterations) {
  return make_step(p, map, false, h, s, iterations);
}

cb_status cb_rigid_step_damped(const cb_rigid_problem *p, cb_se3_map map, double h, cb_rigid_state *s,
                               int *iterations) {
  if (p->curvature != 0)
    return cb_fail(CB_ERROR_UNSUPPORTED, "`damped: true` works only in flat space: expected no `damped`");
  return make_step(p, map, true, h, s, iterations);
}
