/* A raft that moves without friction and carries a spherical pendulum; the momentum is 0.
 *
 *   raft: mass m_r, inertia I_r about the hinge; pendulum: mass m, rod of length l, at the angle theta from rest and
 *   the direction phi in the raft's frame; mu = m m_r/(m + m_r)
 *   shape (x, y) = tan(theta/2) (cos phi, sin phi),  w = 1/(1 + x^2 + y^2);  p = 2 l w (x, y), height 2 l (1 - w)
 *   p x d_i p = 4 l^2 w^2 (-y, x);   A_yaw = mu (p x d_i p)/(I_r + mu p^2)
 *   A_place = m/(m + m_r) (d_i p - J p A_yaw),  J p = (-p_y, p_x);  1: the identity matrix
 *   M = 4 l^2 w^2 m 1 - (m - mu) d_i p . d_j p - mu^2 (p x d_i p)(p x d_j p)/(I_r + mu p^2):  twice the energy
 * p: the horizontal position of the pendulum; d_i: derivative by x or y; a x b = a_x b_y - a_y b_x; A_place, A_yaw:
 * rows of the connection for the position and the angle of the raft. Without yaw A_yaw and the last term of M are 0,
 * and the fibre is the position of the raft, R^2; the connection is flat, and every loop has zero holonomy. With yaw
 * the fibre is SE(2); a circle at fixed theta rotates the raft by -2 pi mu l^2 sin^2 theta/(I_r + mu l^2 sin^2 theta).
 * Source: Kelly & Murray, J. Robotic Systems 12 (1995) 417, doi:10.1002/rob.4620120607 (mechanical connection), from
 * the two momenta. Units: masses, lengths. The chart covers all directions except theta = pi.
 */
#include "model.h"

typedef struct raft {
  double raft, inertia, mass, length;
  bool yaw;
} raft;

static const cb_param params[] = {
    {"raft_mass", CB_PARAM_REAL, offsetof(raft, raft), "1", "mass", "> 0", NULL, "mass m_r of the raft"},
    {"raft_inertia", CB_PARAM_REAL, offsetof(raft, inertia), "1", "mass length^2", "> 0", NULL,
     "inertia I_r of the raft; used only with yaw"},
    {"mass", CB_PARAM_REAL, offsetof(raft, mass), "1", "mass", "> 0", NULL, "mass m of the pendulum"},
    {"length", CB_PARAM_REAL, offsetof(raft, length), "1", "length", "> 0", NULL,
     "length l of the rod of the pendulum"},
    {"yaw", CB_PARAM_BOOL, offsetof(raft, yaw), "true", "", "", NULL, "true: the raft may rotate"},
    {0},
};

static cb_status init(cb_bundle *b, const void *p) {
  const raft *own = p;
  return cb_model_init(b, own->yaw ? "se2" : NULL, 2, 2, (const char *const[]){"x", "y"}, p, sizeof(raft));
}

CB_MODEL_ON_JETS

static cb_status on_jet2(const void *given, const jet2 *r, jet2 *A, jet2 *M) {
  const raft *own = given;
  const double l = own->length, share = own->mass / (own->mass + own->raft), mu = share * own->raft;
  const jet2 w = inverse(shifted(1, plus(square(r[0]), square(r[1])))), w2 = square(w);
  const jet2 p[2] = {scaled(2 * l, times(w, r[0])), scaled(2 * l, times(w, r[1]))};
  jet2 dp[2][2]; /* dp[i][c]: the derivative of p_c by r_i */
  for (int i = 0; i < 2; i++)
    for (int c = 0; c < 2; c++) {
      dp[i][c] = scaled(-4 * l, times(w2, times(r[i], r[c])));
      if (i == c) dp[i][c] = plus(dp[i][c], scaled(2 * l, w));
    }
  const jet2 cross[2] = {scaled(-4 * l * l, times(w2, r[1])), scaled(4 * l * l, times(w2, r[0]))};
  jet2 turn[2] = {constant(0), constant(0)};
  if (own->yaw) {
    const jet2 locked = shifted(own->inertia, scaled(mu, plus(square(p[0]), square(p[1]))));
    for (int i = 0; i < 2; i++) turn[i] = scaled(mu, over(cross[i], locked));
  }
  for (int i = 0; A && i < 2; i++) {
    A[i] = scaled(share, plus(dp[i][0], times(p[1], turn[i])));
    A[2 + i] = scaled(share, minus(dp[i][1], times(p[0], turn[i])));
    if (own->yaw) A[4 + i] = turn[i];
  }
  for (int i = 0; M && i < 2; i++)
    for (int j = 0; j < 2; j++) {
      const jet2 moved = plus(times(dp[i][0], dp[j][0]), times(dp[i][1], dp[j][1]));
      M[2 * i + j] = scaled(-1, plus(scaled(own->mass - mu, moved), scaled(mu, times(turn[i], cross[j]))));
      if (i == j) M[2 * i + j] = plus(M[2 * i + j], scaled(4 * l * l * own->mass, w2));
    }
  return CB_OK;
}

/* Computes the inertia P of the locked raft and pendulum. It has the mass m + m_r for the position. With yaw it also
 * has entries for the rotation, because the pendulum at p then moves with the velocity v + omega x p. */
static void locked(const void *given, const jet2 *r, jet2 *P) {
  const raft *own = given;
  const int dim = own->yaw ? 3 : 2;
  const jet2 w = inverse(shifted(1, plus(square(r[0]), square(r[1]))));
  const jet2 p[2] = {scaled(2 * own->length, times(w, r[0])), scaled(2 * own->length, times(w, r[1]))};
  P[0] = P[dim + 1] = constant(own->mass + own->raft);
  if (!own->yaw) return;
  P[2] = P[6] = scaled(-own->mass, p[1]);
  P[5] = P[7] = scaled(own->mass, p[0]);
  P[8] = shifted(own->inertia, scaled(own->mass, plus(square(p[0]), square(p[1]))));
}

CB_MODEL_FORM

const cb_bundle_class cb_bundle_raft_pendulum = {
    .name = "raft_pendulum",
    .title = "raft with a spherical pendulum",
    .doc = "a raft without friction that moves because of the pendulum on it, with or without yaw",
    .params = params,
    .params_size = sizeof(raft),
    .resistance = CB_RESISTANCE_INERTIA,
    .form = form,
    CB_MODEL_FUNCTIONS,
};
