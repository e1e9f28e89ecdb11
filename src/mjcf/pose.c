/* Places and orientations of MJCF: pos; quat, axisangle, xyaxes, zaxis or euler, by the angles and the sequence of
 * <compiler>. Of those that defaults and the element give the last of this order stands, as in MuJoCo. */
#include "mjcf/private.h"

#include "numerics/quaternion.h"

#include <math.h>
#include <string.h>

static const double least = 1e-14; /* of a length: MuJoCo's mjEPS */

/* By the greatest first, whose square may be more or less than numbers go. */
bool cb_mjcf_normalise(int n, double *v) {
  double most = 0, square = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
  if (most < least) return false;
  for (int i = 0; i < n; i++) square += v[i] / most * (v[i] / most);
  for (int i = 0; i < n; i++) v[i] = v[i] / most / sqrt(square);
  return most * sqrt(square) >= least;
}

static cb_status too_short(const cb_node *value, const char *name) {
  return cb_node_fail(value, "%s: expected a direction, found one of length 0", name);
}

static void turn_about(const double axis[3], double angle, double q[4]) {
  q[0] = cos(angle / 2);
  for (int i = 0; i < 3; i++) q[1 + i] = sin(angle / 2) * axis[i];
}

void cb_mjcf_turn_to(const double v[3], double q[4]) {
  double axis[3] = {-v[1], v[0], 0}; /* z × v */
  const double s = hypot(v[0], v[1]);
  if (s < 1e-10)
    axis[0] = 1, axis[1] = 0;
  else
    axis[0] /= s, axis[1] /= s;
  turn_about(axis, atan2(s, v[2]), q);
}

/* The largest of w, x, y, z first: Shepperd, J. Guidance and Control 1 (1978) 223. */
void cb_mjcf_quaternion(const double r[3][3], double q[4]) {
  int i = 0;
  const double trace = r[0][0] + r[1][1] + r[2][2];
  double most = trace;
  for (int k = 0; k < 3; k++)
    if (r[k][k] > most) most = r[k][k], i = 1 + k;
  if (i == 0) {
    q[0] = sqrt(1 + trace) / 2;
    for (int k = 0; k < 3; k++) q[1 + k] = (r[(k + 2) % 3][(k + 1) % 3] - r[(k + 1) % 3][(k + 2) % 3]) / (4 * q[0]);
  } else {
    const int a = i - 1, b = i % 3, c = (i + 1) % 3;
    q[i] = sqrt(1 + r[a][a] - r[b][b] - r[c][c]) / 2;
    q[0] = (r[c][b] - r[b][c]) / (4 * q[i]);
    q[1 + b] = (r[a][b] + r[b][a]) / (4 * q[i]);
    q[1 + c] = (r[a][c] + r[c][a]) / (4 * q[i]);
  }
  cb_quaternion_project(q);
}

/* --- the five --- */

static cb_status from_quat(const cb_mjcf_reader *r, const cb_node *value, double q[4]) {
  (void)r;
  const cb_status status = cb_mjcf_numbers(value, "quat", 4, 4, q, NULL);
  return status || cb_mjcf_normalise(4, q) ? status : cb_node_fail(value, "quat: expected one that is not 0");
}

static cb_status from_axisangle(const cb_mjcf_reader *r, const cb_node *value, double q[4]) {
  double a[4];
  const cb_status status = cb_mjcf_numbers(value, "axisangle", 4, 4, a, NULL);
  if (status) return status;
  if (!cb_mjcf_normalise(3, a)) return too_short(value, "axisangle");
  turn_about(a, r->radians ? a[3] : a[3] * M_PI / 180, q);
  return CB_OK;
}

static cb_status from_xyaxes(const cb_mjcf_reader *r, const cb_node *value, double q[4]) {
  double a[6], z[3], axes[3][3];
  (void)r;
  const cb_status status = cb_mjcf_numbers(value, "xyaxes", 6, 6, a, NULL);
  if (status) return status;
  if (!cb_mjcf_normalise(3, a)) return too_short(value, "xyaxes");
  const double along = cb_dot3(a, a + 3);
  for (int i = 0; i < 3; i++) a[3 + i] -= along * a[i];
  if (!cb_mjcf_normalise(3, a + 3)) return cb_node_fail(value, "xyaxes: expected two directions, found one");
  cb_cross3(a, a + 3, z);
  for (int i = 0; i < 3; i++) axes[i][0] = a[i], axes[i][1] = a[3 + i], axes[i][2] = z[i];
  cb_mjcf_quaternion((const double(*)[3])axes, q);
  return CB_OK;
}

static cb_status from_zaxis(const cb_mjcf_reader *r, const cb_node *value, double q[4]) {
  double z[3];
  (void)r;
  const cb_status status = cb_mjcf_numbers(value, "zaxis", 3, 3, z, NULL);
  if (status) return status;
  if (!cb_mjcf_normalise(3, z)) return too_short(value, "zaxis");
  cb_mjcf_turn_to(z, q);
  return CB_OK;
}

/* Letters of the sequence in small: about axes that turn along; in capitals: about those that do not. */
void cb_mjcf_euler(const cb_mjcf_reader *r, const double angle[3], double q[4]) {
  for (int i = 0; i < 4; i++) q[i] = i == 0;
  for (int i = 0; i < 3; i++) {
    const char letter = r->sequence[i];
    const bool along = letter >= 'x';
    double axis[3] = {0}, turn[4];
    axis[letter - (along ? 'x' : 'X')] = 1;
    turn_about(axis, r->radians ? angle[i] : angle[i] * M_PI / 180, turn);
    if (along)
      cb_quaternion_multiply(q, turn, q);
    else
      cb_quaternion_multiply(turn, q, q);
  }
  cb_quaternion_project(q);
}

static cb_status from_euler(const cb_mjcf_reader *r, const cb_node *value, double q[4]) {
  double angle[3];
  const cb_status status = cb_mjcf_numbers(value, "euler", 3, 3, angle, NULL);
  if (!status) cb_mjcf_euler(r, angle, q);
  return status;
}

static const struct {
  const char *name;
  cb_status (*read)(const cb_mjcf_reader *r, const cb_node *value, double q[4]);
} ways[] = {{"quat", from_quat},
            {"axisangle", from_axisangle},
            {"xyaxes", from_xyaxes},
            {"zaxis", from_zaxis},
            {"euler", from_euler}};
enum { WAYS = sizeof ways / sizeof *ways };

cb_status cb_mjcf_pose(const cb_mjcf_reader *r, const cb_mjcf_source *source, cb_pose *out, bool *oriented) {
  cb_xml *own = source->from[source->n - 1];
  const cb_node *first = NULL;
  cb_pose_identity(out);
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &own->name, cb_mjcf_merged(source, "pos", 3, 3, out->x));
  for (int i = 0; i < WAYS; i++) {
    const cb_node *value = cb_mjcf_value(source, ways[i].name), *here = cb_xml_get(own, ways[i].name);
    if (value) cb_errors_add(&errors, value, ways[i].read(r, value, out->q));
    if (first && here)
      cb_errors_add(&errors, here, cb_node_fail(here, "%s beside another orientation: expected one", ways[i].name));
    if (here) first = here;
    if (oriented && value) *oriented = true;
  }
  return cb_errors_end(&errors);
}
