/* The state of a body on SE(3): its start, its momentum in the world's axes, and its twist (equations:
 * rigid_step.h). */
#include "fluid/rigid_step.h"

#include "numerics/dd.h"
#include "numerics/vec3.h"

#include <float.h>
#include <math.h>
#include <string.h>

cb_status cb_rigid_half_turn(double h, double t, double angle) {
  if (!(angle >= 3.14159)) return CB_OK;
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "a step of %g at t = %g turns the body by %g rad, more than half a turn: try a smaller step", h, t,
                 angle);
}

/* Exchanges row c with the row that has the pivot of column c. */
static __attribute__((noinline)) void bring_up(cb_factors6 *f, int c, double scale[6]) {
  int pivot = c;
  double best = 0, row[6];
  for (int i = c; i < 6; i++) {
    const double size = fabs(f->m[i][c]) * scale[i];
    if (size > best) {
      best = size;
      pivot = i;
    }
  }
  const double swapped = scale[c];
  const int number = f->row[c];
  memcpy(row, f->m[c], sizeof row);
  memcpy(f->m[c], f->m[pivot], sizeof row);
  memcpy(f->m[pivot], row, sizeof row);
  scale[c] = scale[pivot];
  scale[pivot] = swapped;
  f->row[c] = f->row[pivot];
  f->row[pivot] = number;
}

/* The pivots are those of D m D with D = diag(a, a, a, b, b, b), where a and b make the largest entry of each diagonal
 * block 1. D is a choice of units. Therefore neither the order of the rows nor the test for singular matrices depends
 * on units. */
bool cb_factor6(const double m[6][6], cb_factors6 *out) {
  double unit[2], scale[6];
  memcpy(out->m, m, sizeof out->m);
  for (int block = 0; block < 2; block++) {
    double largest = 0;
    for (int i = 0; i < 9; i++) {
      const double entry = fabs(m[3 * block + i / 3][3 * block + i % 3]);
      largest = entry > largest ? entry : largest;
    }
    if (!(largest > 0) || !isfinite(largest)) return false;
    unit[block] = 1 / sqrt(largest);
  }
  for (int i = 0; i < 6; i++) {
    scale[i] = unit[i / 3];
    out->row[i] = i;
  }
#pragma GCC unroll 6
  for (int c = 0; c < 6; c++) {
    const double own = fabs(out->m[c][c]) * scale[c];
    double best = own > 0 ? own : 0;
#pragma GCC unroll 6
    for (int i = c + 1; i < 6; i++) {
      const double size = fabs(out->m[i][c]) * scale[i];
      best = size > best ? size : best;
    }
    if (!(best * unit[c / 3] > 1e-14) || !isfinite(best)) return false;
    if (!(own >= best)) bring_up(out, c, scale);
    const double inverse = out->m[c][c] = 1 / out->m[c][c];
#pragma GCC unroll 6
    for (int i = c + 1; i < 6; i++) {
      const double factor = out->m[i][c] *= inverse;
#pragma GCC unroll 6
      for (int j = c + 1; j < 6; j++) out->m[i][j] -= factor * out->m[c][j];
    }
  }
  return true;
}

void cb_back6(const cb_factors6 *f, const double b[6], double x[6]) {
  double y[6];
  for (int i = 0; i < 6; i++) {
    y[i] = b[f->row[i]];
    for (int k = 0; k < i; k++) y[i] -= f->m[i][k] * y[k];
  }
  for (int i = 5; i >= 0; i--) {
    double sum = y[i];
    for (int k = i + 1; k < 6; k++) sum -= f->m[i][k] * y[k];
    y[i] = sum * f->m[i][i];
  }
  memcpy(x, y, sizeof y);
}

bool cb_solve6(const double m[6][6], int count, double *b) {
  cb_factors6 f;
  if (!cb_factor6(m, &f)) return false;
  for (int j = 0; j < count; j++) {
    double column[6], x[6];
    for (int i = 0; i < 6; i++) column[i] = b[i * count + j];
    cb_back6(&f, column, x);
    for (int i = 0; i < 6; i++) b[i * count + j] = x[i];
  }
  return true;
}

static cb_status singular(void) {
  return cb_fail(
      CB_STEP_SINGULAR,
      "the inertia tensor of the body is singular: expected mass or added mass, with inertia about each axis");
}

static cb_status not_finite(void) {
  return cb_fail(CB_STEP_NOT_FINITE, "the twist of the body is not finite: try a smaller step");
}

cb_status cb_rigid_velocity(double K[6][6], const double momentum[6], const double mu0[6], double Y[6]) {
  double solution[6];
  for (int i = 0; i < 6; i++) solution[i] = momentum[i] - mu0[i];
  if (!cb_solve6(K, 1, solution)) return singular();
  if (!cb_finite6(solution)) return not_finite();
  memcpy(Y, solution, sizeof solution);
  return CB_OK;
}

cb_status cb_rigid_constant_of(const double K[6][6], const double mu0[6], cb_rigid_constant *out) {
  double inverse[6][6];
  memcpy(out->K, K, sizeof out->K);
  memcpy(out->mu0, mu0, sizeof out->mu0);
  for (int i = 0; i < 36; i++) inverse[i / 6][i % 6] = i / 6 == i % 6;
  if (!cb_solve6(K, 6, inverse[0])) return singular();
  out->diagonal = true;
  for (int i = 0; i < 36; i++) {
    out->inverse[i / 6][i % 6] = (inverse[i / 6][i % 6] + inverse[i % 6][i / 6]) / 2;
    out->diagonal = out->diagonal && (i / 6 == i % 6 || K[i / 6][i % 6] == 0);
  }
  return CB_OK;
}

cb_status cb_rigid_twist_of(const cb_rigid_problem *p, double t, const cb_pose *g, const double momentum[6],
                            double Y[6]) {
  double K[6][6], mu0[6];
  const cb_rigid_constant *c = p->constant;
  if (c) {
    for (int i = 0; i < 6; i++) mu0[i] = momentum[i] - c->mu0[i];
    if (c->diagonal)
      for (int i = 0; i < 6; i++) Y[i] = c->inverse[i][i] * mu0[i];
    else
      cb_apply6_transposed(c->inverse, mu0, Y); /* c->inverse is symmetric, so this is its product with mu0 */
    return cb_finite6(Y) ? CB_OK : not_finite();
  }
  const cb_status status = p->inertia(p->self, t, g, K, mu0);
  return status ? status : cb_rigid_velocity(K, momentum, mu0, Y);
}

cb_status cb_rigid_wrenches(const cb_rigid_problem *p, double t, const cb_pose *g, const double Y[6], double F[6],
                            double dF[6][6]) {
  memset(F, 0, 6 * sizeof *F);
  if (dF) memset(dF, 0, 36 * sizeof **dF);
  cb_status status = p->wrench ? p->wrench(p->self, t, g, Y, F, dF) : CB_OK;
  if (status || !p->inertia_wrench) return status;
  double own[6] = {0}, derivative[6][6] = {{0}};
  status = p->inertia_wrench(p->self, t, g, Y, own, dF ? derivative : NULL);
  cb_add6(1, own, F);
  for (int i = 0; dF && i < 6; i++) cb_add6(1, derivative[i], dF[i]);
  return status;
}

static void body_momentum(cb_rigid_state *s) {
  double r[3][3];
  cb_pose_rotation(&s->g, r);
  cb_turn6_transposed(r, s->world, s->momentum);
}

void cb_rigid_move(cb_rigid_state *s, const double dx[3], const double q[4], const double change[6]) {
  cb_dd now[6];
  for (int i = 0; i < 6; i++) now[i] = cb_dd_add_d((cb_dd){s->world[i], s->world_low[i]}, change[i]);
  for (int i = 0; i < 3; i++) { /* the angular momentum loses dx × P, with the linear momentum P */
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    now[i] = cb_dd_add(now[i], cb_dd_sub(cb_dd_mul_d(now[3 + a], dx[b]), cb_dd_mul_d(now[3 + b], dx[a])));
  }
  for (int i = 0; i < 6; i++) {
    s->world[i] = now[i].hi;
    s->world_low[i] = now[i].lo;
  }
  for (int i = 0; i < 3; i++) cb_compensated_add_one(&s->g.x[i], &s->x_low[i], dx[i]);
  memcpy(s->g.q, q, sizeof s->g.q);
  body_momentum(s);
}

cb_status cb_rigid_start(const cb_rigid_problem *p, double t, const cb_pose *g, const double Y[6], cb_rigid_state *s) {
  double K[6][6], mu0[6], r[3][3];
  cb_rigid_state out = {.t = t, .g = *g};
  const double norm = sqrt(g->q[0] * g->q[0] + g->q[1] * g->q[1] + g->q[2] * g->q[2] + g->q[3] * g->q[3]);
  if (!isfinite(t) || !cb_finite6(Y) || !isfinite(g->x[0] + g->x[1] + g->x[2]) || !(fabs(norm - 1) < 1e-6))
    return cb_fail(CB_ERROR_ARGUMENT,
                   "the start of a body: expected finite numbers and a quaternion of length 1, found the length %g",
                   norm);
  const double far = sqrt(fmax(p->curvature, 0) * cb_dot3(g->x, g->x));
  if (!(far <= 3.1415926535897936))
    return cb_fail(CB_ERROR_ARGUMENT,
                   "the start of a body is %g radii of curvature from the base point of a sphere: expected at most pi",
                   far);
  if (fabs(norm - 1) > 1e-15)
    for (int i = 0; i < 4; i++) out.g.q[i] /= norm;
  cb_status status = p->curvature == 0 ? CB_OK : cb_rigid_curved_takes(p);
  if (!status) status = p->inertia(p->self, t, &out.g, K, mu0);
  if (status) return status;
  memcpy(out.Y, Y, sizeof out.Y);
  cb_apply6(K, Y, out.mu);
  cb_add6(1, mu0, out.mu);
  cb_pose_rotation(&out.g, r);
  cb_turn6(r, out.mu, out.world);
  if (!cb_finite6(out.mu) || !cb_finite6(out.world))
    return cb_fail(
        CB_STEP_NOT_FINITE,
        "the momentum of the body at its start, t = %g, is not finite: expected smaller velocities or a finite mass",
        t);
  memcpy(out.momentum, out.mu, sizeof out.mu);
  *s = out;
  return CB_OK;
}

cb_status cb_rigid_twist(const cb_rigid_problem *p, const cb_rigid_state *s, double Y[6]) {
  return cb_rigid_twist_of(p, s->t, &s->g, s->momentum, Y);
}

/* --- the twists of previous steps --- */

/* Writes the differences of the twists of previous steps up to order `known` - 1 to out[order]. Differences of odd
 * order have the opposite sign. The loop computes two numbers at a time. */
static inline __attribute__((always_inline)) void find_differences(const cb_rigid_state *s, int known,
                                                                   double (*out)[6]) {
#pragma GCC unroll 3
  for (int at = 0; at < 6; at += 2) {
    cb_two d[1 + CB_RIGID_EARLIER];
    d[0] = cb_two_load(s->Y + at);
#pragma GCC unroll 7
    for (int k = 1; k < known; k++) d[k] = cb_two_load(s->earlier[k - 1] + at);
#pragma GCC unroll 7
    for (int k = 0; k < known; k++) {
      cb_two_store(d[k], out[k] + at);
#pragma GCC unroll 7
      for (int j = known - 1; j > k; j--) d[j] -= d[j - 1];
    }
  }
}

/* Extrapolates the twist Y. The angular and the linear part are extrapolated separately, each up to the order at which
 * its differences are smallest. The compiler unrolls the loops if `known` is a constant. */
static inline __attribute__((always_inline)) void extrapolate(const cb_rigid_state *s, int known, double Y[6]) {
  double difference[1 + CB_RIGID_EARLIER][6];
  find_differences(s, known, difference);
  for (int part = 0; part < 2; part++) {
    const double *y = s->Y + 3 * part;
    double least = INFINITY, x[3] = {y[0], y[1], y[2]};
    int order = 0;
#pragma GCC unroll 7
    for (int k = 0; k < known; k++) {
      const double *a = difference[k] + 3 * part, size = cb_dot3(a, a);
      if (size < least) {
        least = size;
        order = k;
      }
    }
    for (int k = 1; k <= order; k++) {
      const double *a = difference[k] + 3 * part;
      for (int i = 0; i < 3; i++) x[i] = k % 2 ? x[i] - a[i] : x[i] + a[i];
    }
    memcpy(Y + 3 * part, x, sizeof x);
  }
}

void cb_rigid_guess(const cb_rigid_state *s, double h, double Y[6]) {
  const int known = s->length == h && s->known > 1 ? (int)s->known : 1;
  if (known == 1 + CB_RIGID_EARLIER)
    extrapolate(s, 1 + CB_RIGID_EARLIER, Y);
  else
    extrapolate(s, known, Y);
}

void cb_rigid_remember(cb_rigid_state *s, double h, const double Y[6]) {
  s->known = s->length == h ? fmin(s->known + 1, 1 + CB_RIGID_EARLIER) : 1;
  s->length = h;
  memmove(s->earlier[1], s->earlier[0], sizeof s->earlier - sizeof s->earlier[0]);
  memcpy(s->earlier[0], s->Y, sizeof s->Y);
  memcpy(s->Y, Y, sizeof s->Y);
}

/* --- curved spaces ---
 *
 * Functions that the steps in a curved space share, and the update of the states of these steps (equations:
 * rigid_step.h).
 */

cb_status cb_rigid_curved_takes(const cb_rigid_problem *p) {
  if (!p->pose_dependent) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED, "the inertia of the body depends on its position: expected flat space");
}

cb_status cb_rigid_curved_far(double K, double h, double t, const double Y[6]) {
  const cb_status status = cb_rigid_half_turn(h, t, fabs(h) * sqrt(cb_dot3(Y, Y)));
  const double radii = fabs(h) * sqrt(fabs(K) * cb_dot3(Y + 3, Y + 3));
  if (status || !(radii >= 3.14159)) return status;
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "a step of %g at t = %g moves the body by %g radii of curvature, more than pi: try a smaller step", h,
                 t, radii);
}

static void add(cb_dd m[6], const double r[3][3], const double wrench[6]) {
  double turned[6];
  cb_turn6(r, wrench, turned);
  for (int i = 0; i < 6; i++) m[i] = cb_dd_add_d(m[i], turned[i]);
}

/* Ends a step. The pose T(x) R times the step T(y') S is T(x) T(y) R S with y = R y', and T(x) T(y) = T(x') W with a
 * rotation W. The momentum `now` is rotated by W, and the state's quaternion becomes that of W R S. `turn` is the
 * quaternion of W, and `turned` that of R S. */
static void arrive(cb_rigid_state *s, cb_dd now[6], const double turn[4], const double turned[4]) {
  cb_screw_turn(turn, now);
  cb_screw_turn(turn, now + 3);
  cb_quaternion_multiply(turn, turned, s->g.q);
  cb_quaternion_project(s->g.q);
}

void cb_rigid_curved_move(double K, cb_rigid_state *s, const cb_biquaternion *Q, const cb_screw *m,
                          const double before[6], const double after[6]) {
  double r[3][3], y[3], turned[4], turn[4], dx[3];
  cb_dd now[6];
  for (int i = 0; i < 6; i++) now[i] = (cb_dd){s->world[i], s->world_low[i]};
  cb_pose_rotation(&s->g, r);
  if (before) add(now, r, before);
  cb_apply3(r, m->s, y);
  cb_screw_carry(K, m->C, y, now, now + 3);
  cb_quaternion_multiply(s->g.q, m->q, turned);
  if (cb_screw_shift(K, s->g.x, s->x_low, m->C, y, dx, turn)) {
    for (int i = 0; i < 3; i++) cb_compensated_add_one(&s->g.x[i], &s->x_low[i], dx[i]);
  } else {
    cb_biquaternion at;
    double back[4];
    const cb_pose near = {{s->g.q[0], s->g.q[1], s->g.q[2], s->g.q[3]},
                          {s->g.x[0] + s->x_low[0], s->g.x[1] + s->x_low[1], s->g.x[2] + s->x_low[2]}};
    cb_biquaternion_of(K, &near, &at);
    cb_biquaternion_multiply(K, &at, Q, &at);
    cb_biquaternion_pose(K, &at, 0, &s->g, s->x_low);
    cb_quaternion_inverse(turned, back);
    cb_quaternion_multiply(s->g.q, back, turn);
  }
  arrive(s, now, turn, turned);
  cb_pose_rotation(&s->g, r);
  if (after) add(now, r, after);
  for (int i = 0; i < 6; i++) {
    s->world[i] = now[i].hi;
    s->world_low[i] = now[i].lo;
  }
  cb_turn6_transposed(r, s->world, s->momentum);
}

void cb_rigid_casimirs(double K, const double momentum[6], double out[2]) {
  const double *l = momentum, *p = momentum + 3;
  out[0] = cb_dot3(p, p) + K * cb_dot3(l, l);
  out[1] = cb_dot3(l, p);
}

/* Computes the momentum about the base point in the world's axes. For this, Ad* of T(-x) is applied to s->world, the
 * momentum about the body's origin x in the axes that T(x) transports from the base point. Returns an upper bound of
 * the round-off of `out`. (An error e of x perpendicular to x moves the point by e s_K(r)/r, r = |x|, and changes the
 * momentum by the same factor.) In a hyperbolic space, beyond 5 radii of curvature, the result is nan and the bound
 * infinite. */
double cb_rigid_spatial_momentum(double K, const cb_rigid_state *s, double out[6]) {
  const double r = sqrt(cb_dot3(s->g.x, s->g.x)), root = sqrt(fabs(K)), radii = root * r;
  const double *m = s->world, unit = K == 0 ? 1 : root, size = sqrt(cb_dot3(m, m)) * unit + sqrt(cb_dot3(m + 3, m + 3));
  if (K < 0 && radii > 5) {
    for (int i = 0; i < 6; i++) out[i] = NAN;
    return INFINITY;
  }
  if (K == 0) {
    double across[3];
    cb_cross3(s->g.x, m + 3, across);
    for (int i = 0; i < 3; i++) {
      out[i] = m[i] + across[i];
      out[3 + i] = m[3 + i];
    }
    return 8 * DBL_EPSILON * (1 + r) * size;
  }
  cb_biquaternion T;
  const cb_pose at = {{1, 0, 0, 0},
                      {-(s->g.x[0] + s->x_low[0]), -(s->g.x[1] + s->x_low[1]), -(s->g.x[2] + s->x_low[2])}};
  cb_biquaternion_of(K, &at, &T);
  cb_dd now[6];
  for (int i = 0; i < 6; i++) now[i] = (cb_dd){m[i], s->world_low[i]};
  cb_screw_carry(K, T.a[0], T.b + 1, now, now + 3);
  for (int i = 0; i < 6; i++) out[i] = cb_dd_double(now[i]);
  return 8 * DBL_EPSILON * (1 + radii) * (K < 0 ? exp(2 * radii) : 1) * size;
}
