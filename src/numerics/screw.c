/* What screws do to momenta M = p + j l (equations: biquaternion.h).
 *
 *   (C - j s) M (C + j s)/N = M + 2 (C j M × s + K (M × s) × s)/N,  N = C^2 + K s.s
 *   l += 2 (C p × s + K (l × s) × s)/N,  p += 2 K (C l × s + (p × s) × s)/N
 */
#include "numerics/biquaternion.h"
#include "numerics/quaternion.h"

static void cross(const cb_dd a[3], const double b[3], cb_dd out[3]) {
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = cb_dd_sub(cb_dd_mul_d(a[j], b[k]), cb_dd_mul_d(a[k], b[j]));
  }
}

static cb_dd square(const double s[3]) {
  return cb_dd_add(cb_dd_add(cb_two_prod(s[0], s[0]), cb_two_prod(s[1], s[1])), cb_two_prod(s[2], s[2]));
}

/* v += factor (c a + e b) */
static void add(cb_dd factor, double c, const cb_dd a[3], double e, const cb_dd b[3], cb_dd v[3]) {
  for (int i = 0; i < 3; i++)
    v[i] = cb_dd_add(v[i], cb_dd_mul(factor, cb_dd_add(cb_dd_mul_d(a[i], c), cb_dd_mul_d(b[i], e))));
}

void cb_screw_carry(double K, double C, const double s[3], cb_dd l[3], cb_dd p[3]) {
  const cb_dd norm = cb_dd_add(cb_two_prod(C, C), cb_dd_mul_d(square(s), K));
  const cb_dd factor = cb_dd_div(cb_dd_of(2), norm);
  cb_dd ls[3], ps[3], lss[3], pss[3];
  cross(l, s, ls);
  cross(p, s, ps);
  cross(ls, s, lss);
  cross(ps, s, pss);
  add(factor, C, ps, K, lss, l);
  add(cb_dd_mul_d(factor, K), C, ls, 1, pss, p);
}

/* v + 2 (q_0 u × v + u × (u × v))/|q|^2 */
void cb_screw_turn(const double q[4], cb_dd v[3]) {
  const double *u = q + 1;
  if (u[0] == 0 && u[1] == 0 && u[2] == 0) return;
  const cb_dd factor = cb_dd_div(cb_dd_of(2), cb_dd_add(cb_two_prod(q[0], q[0]), square(u)));
  cb_dd vu[3], vuu[3];
  cross(v, u, vu);
  cross(vu, u, vuu);
  add(factor, -q[0], vu, 1, vuu, v);
}

static void carry(double K, double C, const double s[3], const double mu[6], double out[6]) {
  const double factor = 2 / (C * C + K * cb_dot3(s, s));
  double ls[3], ps[3], lss[3], pss[3];
  cb_cross3(mu, s, ls);
  cb_cross3(mu + 3, s, ps);
  cb_cross3(ls, s, lss);
  cb_cross3(ps, s, pss);
  for (int i = 0; i < 3; i++) {
    out[i] = mu[i] + factor * (C * ps[i] + K * lss[i]);
    out[3 + i] = mu[3 + i] + factor * K * (C * ls[i] + pss[i]);
  }
}

void cb_screw_momentum(double K, const cb_screw *m, const double mu[6], double out[6]) {
  double r[3][3], carried[6];
  carry(K, m->C, m->s, mu, carried);
  cb_quaternion_rotation(m->q, r);
  cb_apply3_transposed(r, carried, out);
  cb_apply3_transposed(r, carried + 3, out + 3);
}

void cb_screw_momentum_back(double K, const cb_screw *m, const double mu[6], double out[6]) {
  double r[3][3], turned[6];
  const double back[3] = {-m->s[0], -m->s[1], -m->s[2]};
  cb_quaternion_rotation(m->q, r);
  cb_apply3(r, mu, turned);
  cb_apply3(r, mu + 3, turned + 3);
  carry(K, m->C, back, turned, out);
}
