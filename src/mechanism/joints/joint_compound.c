/* Several hinges and slides one after another: M(q) = exp(s_1 q_1) exp(s_2 q_2) .. exp(s_n q_n), n <= 6. The screws s_i
 * are twists in frame A at q = 0.
 *
 *   S_i = Ad of (exp(s_{i+1} q_{i+1}) .. exp(s_n q_n))^-1 applied to s_i
 *   q is found by Newton's method from nearby coordinates: q += (S S^T)^-1 S log(M(q)^-1 m)
 *   gaps: the components of log(M(q)^-1 m) along an orthonormal basis N of the complement of all S_i
 * Two coordinates are not determined where their S are parallel (gimbal lock). Source: Murray, Li & Sastry, A
 * Mathematical Introduction to Robotic Manipulation (1994), section 3.2.
 */
#include "mechanism/joint_parts.h"
#include "numerics/small.h"

#include <math.h>

enum { MAXIMUM = 30 };

static void exponential(const double screw[6], double q, cb_pose *out) {
  double Y[6];
  for (int i = 0; i < 6; i++) Y[i] = q * screw[i];
  cb_se3_tau(CB_SE3_EXPONENTIAL, Y, out);
}

static void place(const double *q, const cb_joint_data *data, cb_pose *m) {
  cb_pose_identity(m);
  for (int i = 0; i < data->screws; i++) {
    cb_pose one;
    exponential(data->screw[i], q[i], &one);
    cb_pose_multiply(m, &one, m);
  }
}

static void find_twists(const double *q, const cb_joint_data *data, double S[6][6]) {
  cb_pose after, one;
  cb_pose_identity(&after);
  for (int i = data->screws - 1; i >= 0; i--) {
    double Ad[6][6];
    cb_pose back;
    cb_pose_inverse(&after, &back);
    cb_pose_adjoint(&back, Ad);
    cb_apply6((const double(*)[6])Ad, data->screw[i], S[i]);
    exponential(data->screw[i], q[i], &one);
    cb_pose_multiply(&one, &after, &after);
  }
}

static void find_rest(const cb_pose *m, const double *q, const cb_joint_data *data, double rest[6]) {
  cb_pose at, back;
  place(q, data, &at);
  cb_pose_inverse(&at, &back);
  cb_pose_multiply(&back, m, &at);
  if (at.q[0] < 0)
    for (int i = 0; i < 4; i++) at.q[i] = -at.q[i];
  cb_se3_log(&at, rest);
}

/* Finds N, an orthonormal basis of the complement of S. Gram–Schmidt orthogonalisation against S is applied to the unit
 * vectors, the one with the largest remainder first. */
static void find_normals(int n, const double S[6][6], double N[6][6]) {
  double basis[6][6];
  int count = 0;
  for (int i = 0; i < n; i++) {
    memcpy(basis[count], S[i], sizeof basis[count]);
    const double before = cb_dot(6, S[i], S[i]);
    for (int pass = 0; pass < 2; pass++)
      for (int k = 0; k < count; k++) {
        const double along = cb_dot(6, basis[k], basis[count]);
        for (int a = 0; a < 6; a++) basis[count][a] -= along * basis[k][a];
      }
    const double size = cb_dot(6, basis[count], basis[count]);
    if (!(size > 1e-20 * before)) continue;
    for (int a = 0; a < 6; a++) basis[count][a] /= sqrt(size);
    count++;
  }
  for (int row = 0; row < 6 - n; row++) {
    double best[6] = {0}, largest = 0;
    for (int e = 0; e < 6; e++) {
      double v[6] = {0};
      v[e] = 1;
      for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
          const double along = cb_dot(6, basis[k], v);
          for (int a = 0; a < 6; a++) v[a] -= along * basis[k][a];
        }
      const double size = cb_dot(6, v, v);
      if (size <= largest + 1e-9) continue;
      largest = size;
      for (int a = 0; a < 6; a++) best[a] = v[a] / sqrt(size);
    }
    memcpy(N[row], best, sizeof best);
    memcpy(basis[count++], best, sizeof best);
  }
}

static void find(const cb_pose *m, const cb_joint_data *data, cb_joint_motion *out) {
  const int n = data->screws;
  double rest[6], last = INFINITY;
  for (int k = 0; k < MAXIMUM; k++) {
    double SS[36], right[6], size = 0;
    int pivot[6];
    find_rest(m, out->q, data, rest);
    find_twists(out->q, data, out->S);
    for (int i = 0; i < n; i++) {
      right[i] = cb_dot(6, out->S[i], rest);
      for (int j = 0; j < n; j++) SS[i * n + j] = cb_dot(6, out->S[i], out->S[j]);
    }
    if (cb_dense_factor(n, SS, pivot)) break;
    cb_dense_solve(n, SS, pivot, right);
    for (int i = 0; i < n; i++) size = fmax(size, fabs(right[i]));
    if (size <= 1e-15 || (size >= last / 2 && size < 1e-12) || !(size < 100)) break;
    last = size;
    for (int i = 0; i < n; i++) out->q[i] += right[i];
  }
  find_normals(n, (const double(*)[6])out->S, out->N);
  for (int i = 0; i < 6 - n; i++) out->gap[i] = cb_dot(6, out->N[i], rest);
}

const cb_joint_class cb_joint_compound = {.name = "compound",
                                          .title = "hinges and slides one after another",
                                          .doc =
                                              "`parts`: a list of {kind: hinge|slide, axis: .., at: ..} in the first "
                                              "body, for the position of the second body at the coordinates 0",
                                          .coordinates = -1,
                                          .gaps = -1,
                                          .symbol = {".1", ".2", ".3", ".4", ".5", ".6"},
                                          .find = find,
                                          .place = place,
                                          .serial = true};
