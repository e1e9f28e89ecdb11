/* What a small transvection adds to a large one: T(x) T(y) = T(x') W by differences (equations: biquaternion.h).
 *
 *   (C + j s)(c + j e) = A + j V + K W,  A = C c - K s.e,  V = C e + c s,  W = s × e;  W's quaternion is (A, K W)/C'
 *   C'^2 = A^2 + K^2 W.W,  s' = (A V - K V × W)/C';  with 1 - c = K e.e/(1 + c) all differences are of the size of e
 *   r' - r = 2/k atan2(k (C dS - S dC), C C' + K S S'), k = sqrt|K|, S = |s|
 *          K < 0: 2/k log(1 + (dC + k dS)/(C + k S))
 *   x' - x = (r' - r) s'/S' + r/S (ds - dS s'/S')
 * For K < 0 C and s may have a common factor.
 */
#include "numerics/biquaternion.h"
#include "numerics/vec3.h"
#include <math.h>

bool cb_screw_shift(double K, const double x[3], const double low[3], double c, const double e[3], double dx[3],
                    double turn[4]) {
  const double root = sqrt(fabs(K));
  const cb_pose at = {{1, 0, 0, 0}, {x[0] + low[0], x[1] + low[1], x[2] + low[2]}};
  cb_biquaternion T;
  cb_biquaternion_of(K, &at, &T);
  const double C = T.a[0], *s = T.b + 1, r = sqrt(cb_dot3(at.x, at.x)), S = sqrt(cb_dot3(s, s));
  const double less = K * cb_dot3(e, e) / (1 + c), dA = -C * less - K * cb_dot3(s, e), A = C + dA;
  double V[3], W[3], VW[3], dV[3], ds[3], to[3];
  for (int i = 0; i < 3; i++) dV[i] = C * e[i] - less * s[i], V[i] = s[i] + dV[i];
  cb_cross3(s, e, W);
  cb_cross3(V, W, VW);
  const double C1 = sqrt(A * A + K * K * cb_dot3(W, W)), dC = (dA * (2 * C + dA) + K * K * cb_dot3(W, W)) / (C1 + C);
  if (K > 0 && fmin(C, C1) < 0.07) return false;
  for (int i = 0; i < 3; i++) ds[i] = (A * dV[i] + (dA - dC) * s[i] - K * VW[i]) / C1, to[i] = s[i] + ds[i];
  const double S1 = sqrt(cb_dot3(to, to)), dS = S1 > 0 ? (2 * cb_dot3(s, ds) + cb_dot3(ds, ds)) / (S1 + S) : -S;
  const double dr =
      K > 0 ? atan2(root * (C * dS - S * dC), C * C1 + K * S * S1) : log1p((dC + root * dS) / (C + root * S));
  for (int i = 0; i < 3; i++) {
    const double direction = S1 > 0 ? to[i] / S1 : 0;
    dx[i] = 2 * dr / root * direction + (S > 0 ? r / S : 2) * (ds[i] - dS * direction);
  }
  turn[0] = A;
  for (int i = 0; i < 3; i++) turn[1 + i] = K * W[i];
  return true;
}
