/* Masses of MJCF: those of geoms by their volume, and what <inertial> gives. Moments about the centre, density 1:
 *
 *   capsule   of the radius r and the length l of its cylinder, with the share s = 4 r/(4 r + 3 l) in its half spheres:
 *             along it (1 - s) r^2/2 + 2 s r^2/5, across (1 - s)(3 r^2 + l^2)/12 + s (2 r^2/5 + 3 r l/8 + l^2/4)
 */
#include "mjcf/private.h"

#include "numerics/vec3.h"

#include <math.h>
#include <stdio.h>

double cb_mjcf_volume(const cb_mjcf_geom *g) {
  const double *s = g->size;
  switch (g->type) {
    case CB_MJCF_SPHERE: return 4 * M_PI / 3 * s[0] * s[0] * s[0];
    case CB_MJCF_CAPSULE: return M_PI * s[0] * s[0] * (2 * s[1] + 4 * s[0] / 3);
    case CB_MJCF_CYLINDER: return 2 * M_PI * s[0] * s[0] * s[1];
    case CB_MJCF_ELLIPSOID: return 4 * M_PI / 3 * s[0] * s[1] * s[2];
    case CB_MJCF_BOX: return 8 * s[0] * s[1] * s[2];
    default: return g->mesh->volume;
  }
}

void cb_mjcf_moments(cb_mjcf_geom *g) {
  const double *s = g->size, r = s[0], l = 2 * s[1], m = g->mass;
  double *I = g->moment;
  if (g->type == CB_MJCF_CAPSULE) {
    const double share = 4 * r / (4 * r + 3 * l);
    I[0] = I[1] = m * ((1 - share) * (3 * r * r + l * l) / 12 + share * (2 * r * r / 5 + 3 * r * l / 8 + l * l / 4));
    I[2] = m * ((1 - share) * r * r / 2 + share * 2 * r * r / 5);
  } else if (g->type == CB_MJCF_CYLINDER) {
    I[0] = I[1] = m * (3 * r * r + l * l) / 12;
    I[2] = m * r * r / 2;
  } else if (g->type == CB_MJCF_MESH) {
    for (int i = 0; i < 3; i++) I[i] = m / g->mesh->volume * g->mesh->moment[i];
  } else {
    const double part = g->type == CB_MJCF_BOX ? 3 : 5;
    for (int i = 0; i < 3; i++) {
      const double b = g->type == CB_MJCF_SPHERE ? r : s[(i + 1) % 3],
                   c = g->type == CB_MJCF_SPHERE ? r : s[(i + 2) % 3];
      I[i] = m / part * (b * b + c * c);
    }
  }
}

/* --- several --- */

/* J += R I R^T + m (|c|^2 1 - c c^T), about the origin. */
static void add_one(const cb_mjcf_inertial *of, const cb_pose *centre, double J[3][3]) {
  double R[3][3];
  const double *c = centre->x, square = cb_dot3(c, c);
  cb_pose_rotation(centre, R);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      J[i][j] += of->mass * ((i == j ? square : 0) - c[i] * c[j]);
      for (int k = 0; k < 9; k++) J[i][j] += R[i][k / 3] * of->inertia[k / 3][k % 3] * R[j][k % 3];
    }
}

static cb_pose centre_of(const cb_mjcf_inertial *of, const cb_pose *pose) {
  cb_pose centre = of->centre;
  if (pose) cb_pose_multiply(pose, &of->centre, &centre);
  return centre;
}

/* A bound may give moments to a body without mass. */
static bool counts(const cb_mjcf_inertial *m) {
  return m->mass > 0 || m->inertia[0][0] + m->inertia[1][1] + m->inertia[2][2] > 0;
}

void cb_mjcf_add(int n, const cb_mjcf_inertial *const *of, const cb_pose *const *poses, cb_mjcf_inertial *out) {
  cb_mjcf_inertial sum = {.mass = 0};
  int heavy = 0;
  cb_pose_identity(&sum.centre);
  for (int i = 0; i < n; i++) {
    if (!counts(of[i])) continue;
    const cb_pose centre = centre_of(of[i], poses ? poses[i] : NULL);
    *out = *of[i];
    out->centre = centre;
    heavy++;
    sum.mass += of[i]->mass;
    for (int k = 0; k < 3; k++) sum.centre.x[k] += of[i]->mass * centre.x[k];
  }
  if (heavy == 1) return;
  for (int k = 0; k < 3 && sum.mass > 0; k++) sum.centre.x[k] /= sum.mass;
  for (int i = 0; i < n; i++) {
    if (!counts(of[i])) continue;
    cb_pose centre = centre_of(of[i], poses ? poses[i] : NULL);
    for (int k = 0; k < 3; k++) centre.x[k] -= sum.centre.x[k];
    add_one(of[i], &centre, sum.inertia);
  }
  *out = sum;
}

/* --- bounds --- */

bool cb_mjcf_is_diagonal(const cb_mjcf_inertial *m) {
  bool plain = true;
  for (int i = 0; i < 9; i++) plain = plain && (i / 3 == i % 3 || m->inertia[i / 3][i % 3] == 0);
  return plain;
}

/* Its moments along the diagonal, or by principal axes that are turned by q. */
static void cb_mjcf_principal(const cb_mjcf_inertial *m, double moment[3], double q[4]) {
  for (int i = 0; i < 4; i++) q[i] = i == 0;
  for (int i = 0; i < 3; i++) moment[i] = m->inertia[i][i];
  if (!cb_mjcf_is_diagonal(m)) cb_mjcf_axes(m->inertia, moment, q);
}

/* In MuJoCo's order: mass, moments, and then the mean of moments of which two make less than the third. */
cb_status cb_mjcf_bound(const cb_mjcf_reader *r, const cb_node *at, cb_mjcf_inertial *m) {
  double moment[3], sum = 0, most = 0;
  cb_pose turn;
  bool changed = false;
  cb_pose_identity(&turn);
  m->mass = fmax(m->mass, r->bound_mass);
  cb_mjcf_principal(m, moment, turn.q);
  for (int i = 0; i < 3; i++) {
    changed = changed || moment[i] < r->bound_inertia;
    moment[i] = fmax(moment[i], r->bound_inertia);
    sum += moment[i], most = fmax(most, moment[i]);
  }
  if (r->balance && (sum - most) - most < -1e-12 * most) {
    for (int i = 0; i < 3; i++) moment[i] = sum / 3;
    changed = true;
  }
  if (changed) {
    cb_pose_multiply(&m->centre, &turn, &m->centre);
    for (int i = 0; i < 9; i++) m->inertia[i / 3][i % 3] = i / 3 == i % 3 ? moment[i / 3] : 0;
  }
  const cb_status rigid = m->mass > 0 && sum != 0 ? cb_inertia_check((const double(*)[3])m->inertia) : CB_OK;
  if (!rigid || rigid == CB_ERROR_MEMORY) return rigid;
  char why[256];
  snprintf(why, sizeof why, "%s", cb_error_text());
  return cb_node_fail(at, "%s", why);
}

void cb_mjcf_box(const cb_mjcf_inertial *m, double half[3], cb_pose *pose, double moment[3]) {
  cb_pose turn;
  cb_pose_identity(&turn);
  cb_mjcf_principal(m, moment, turn.q);
  cb_pose_multiply(&m->centre, &turn, pose);
  for (int i = 0; i < 3; i++)
    half[i] = sqrt(fmax(1.5 / m->mass * (moment[(i + 1) % 3] + moment[(i + 2) % 3] - moment[i]), 0));
}

/* --- <inertial> --- */

static cb_status positive(const cb_node *value, double x) {
  return x > 0 ? CB_OK : cb_node_fail(value, "mass: expected a number > 0, found %g", x);
}

static cb_status read_moments(cb_xml *e, double J[3][3]) {
  const cb_node *diagonal = cb_xml_get(e, "diaginertia"), *full = cb_xml_get(e, "fullinertia");
  double f[6] = {0};
  if (diagonal && full) return cb_node_fail(full, "fullinertia beside diaginertia: expected one or the other");
  if (!diagonal && !full) return cb_node_fail(&e->name, "expected diaginertia or fullinertia");
  const cb_status status = diagonal ? cb_mjcf_numbers(diagonal, "diaginertia", 3, 3, f, NULL)
                                    : cb_mjcf_numbers(full, "fullinertia", 6, 6, f, NULL);
  if (status) return status;
  for (int i = 0; i < 3; i++) J[i][i] = f[i];
  J[0][1] = J[1][0] = f[3], J[0][2] = J[2][0] = f[4], J[1][2] = J[2][1] = f[5]; /* 0 of a diagonal */
  return CB_OK;
}

cb_status cb_mjcf_read_inertial(const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_inertial *out) {
  const cb_mjcf_reader *r = scope->r;
  const cb_mjcf_source source = {{e}, 1};
  const cb_node *mass = cb_xml_get(e, "mass"), *full = cb_xml_get(e, "fullinertia"),
                *diagonal = cb_xml_get(e, "diaginertia");
  bool oriented = false;
  *out = (cb_mjcf_inertial){.mass = 0};
  cb_errors errors = cb_errors_begin();
  cb_status status =
      mass ? cb_mjcf_numbers(mass, "mass", 1, 1, &out->mass, NULL) : cb_node_fail(&e->name, "expected `mass`");
  if (!status && !(r->bound_mass > 0)) status = positive(mass, out->mass);
  cb_errors_add(&errors, &e->name, status);
  cb_errors_add(&errors, &e->name, cb_mjcf_pose(r, &source, &out->centre, &oriented));
  status = read_moments(e, out->inertia);
  cb_errors_add(&errors, &e->name, status ? status : cb_mjcf_bound(r, diagonal ? diagonal : full, out));
  if (full && oriented)
    cb_errors_add(&errors, full, cb_node_fail(full, "fullinertia beside an orientation: expected one or the other"));
  cb_pose_multiply(&scope->frame, &out->centre, &out->centre);
  return cb_errors_end(&errors);
}
