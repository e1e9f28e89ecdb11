/* Principal axes as MuJoCo finds them: Jacobi's rotations of the greatest element beside the diagonal, kept as a
 * quaternion, then by falling moments. Where moments are equal any axes are principal, but the forces on a box depend on
 * which: these are the ones that MuJoCo takes, with its bound of 1e-12, of the element and of 1 - the cosine of a turn.
 */
#include "mjcf/private.h"

#include "numerics/quaternion.h"

#include <math.h>

enum { MOST = 500 };
static const double least = 1e-12;

static void turn(double q[4], int axis, double half_sine) {
  double by[4] = {sqrt(1 - half_sine * half_sine)};
  by[1 + axis] = half_sine;
  cb_quaternion_multiply(q, by, q);
  cb_quaternion_project(q);
}

/* Of the greatest of xy, xz, yz. */
static void greatest(const double D[3][3], int *row, int *column) {
  const double xy = fabs(D[0][1]), xz = fabs(D[0][2]), yz = fabs(D[1][2]);
  *row = (xy > xz && xy > yz) || xz > yz ? 0 : 1;
  *column = xy > xz && xy > yz ? 1 : 2;
}

static void in_axes(const double J[3][3], const double q[4], double D[3][3]) {
  double R[3][3];
  cb_quaternion_rotation(q, R);
  for (int i = 0; i < 9; i++) {
    D[i / 3][i % 3] = 0;
    for (int k = 0; k < 9; k++) D[i / 3][i % 3] += R[k / 3][i / 3] * J[k / 3][k % 3] * R[k % 3][i % 3];
  }
}

void cb_mjcf_axes(const double (*J)[3], double moment[3], double q[4]) {
  double D[3][3];
  for (int i = 0; i < 4; i++) q[i] = i == 0;
  for (int n = 0; n < MOST; n++) {
    int r, c;
    in_axes(J, q, D);
    for (int i = 0; i < 3; i++) moment[i] = D[i][i];
    greatest((const double(*)[3])D, &r, &c);
    if (fabs(D[r][c]) < least) break;
    const double tau = (D[c][c] - D[r][r]) / (2 * D[r][c]), root = sqrt(1 + tau * tau),
                 t = tau >= 0 ? 1 / (tau + root) : -1 / (root - tau), cosine = 1 / sqrt(1 + t * t),
                 half = sqrt(0.5 - 0.5 * cosine);
    if (cosine > 1 - least) break;
    const int about = 3 - r - c;
    turn(q, about, (tau >= 0) == (about == 1) ? half : -half);
  }
  for (int n = 0; n < 3; n++) {
    const int i = n % 2;
    if (!(moment[i] + least < moment[i + 1])) continue;
    const double swapped = moment[i];
    moment[i] = moment[i + 1];
    moment[i + 1] = swapped;
    turn(q, (i + 2) % 3, sqrt(0.5));
  }
}
