/* The state of a body on SE(3): its start, its momentum in the world's axes, and its twist (equations:
 * rigid_step.h). */
#include "fluid/rigid_step.h"
#include "numerics/dd.h"
#include "numerics/vec3.h"
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
      cb_apply6_transposed(c->inverse, mu0, Y); /* the same as cb_apply6, because the matrix is symmetric */
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
                   "the start of a body is %g radii from the base point of a sphere: expected at most pi", far);
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

/* Writes the differences of twists up to order `known` - 1 to out[order], two numbers at a time; odd orders have the
 * opposite sign. */
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

/* Each part is extrapolated to the order of its smallest difference. Unrolled where `known` is a constant. */
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
