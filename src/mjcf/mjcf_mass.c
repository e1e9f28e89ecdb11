/* Masses of MJCF: principal axes, the masses of geoms by their volume, <inertial>, and meshes. Moments of a geom about
 * its centre for mass 1:
 *
 *   capsule   of the radius r and the length l of its cylinder, with the share s = 4 r/(4 r + 3 l) of the mass in its
 *             half spheres: along the capsule (1 - s) r^2/2 + 2 s r^2/5, across it
 *             (1 - s)(3 r^2 + l^2)/12 + s (2 r^2/5 + 3 r l/8 + l^2/4)
 */
#include "mjcf/mjcf_private.h"
#include "numerics/vec3.h"
#include "fluid/surface_mesh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Principal axes as MuJoCo finds them: Jacobi's rotations, each for the largest element off the diagonal, stored as a
 * quaternion; then the axes are sorted by descending moments. If moments are equal, any axes are principal, but the
 * forces on a box depend on the choice. To obtain MuJoCo's axes, the rotations end under the same condition: that
 * element, or 1 minus the cosine of the next rotation, is below `least`. */
enum { LIMIT = 500 };
static const double least = 1e-12;

static void turn(double q[4], int axis, double half_sine) {
  double by[4] = {sqrt(1 - half_sine * half_sine)};
  by[1 + axis] = half_sine;
  cb_quaternion_multiply(q, by, q);
  cb_quaternion_project(q);
}

/* Finds row and column of the largest element off the diagonal. */
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

static void principal_axes(const double (*J)[3], double moment[3], double q[4]) {
  double D[3][3];
  for (int i = 0; i < 4; i++) q[i] = i == 0;
  for (int n = 0; n < LIMIT; n++) {
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

/* --- the sum of several inertias --- */

/* Adds an inertia, with the mass m and the matrix I about its centre, to the inertia J about the origin: J += R I R^T +
 * m (|c|^2 1 - c c^T), where (R, c) is the pose of the centre and 1 the unit matrix. */
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

/* Returns whether an inertia has mass or moments. A bound of <compiler> can give moments to a body without mass. */
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

/* Finds the moments: the diagonal of a diagonal inertia, otherwise the principal moments, with their axes q. */
static void cb_mjcf_principal(const cb_mjcf_inertial *m, double moment[3], double q[4]) {
  for (int i = 0; i < 4; i++) q[i] = i == 0;
  for (int i = 0; i < 3; i++) moment[i] = m->inertia[i][i];
  if (!cb_mjcf_is_diagonal(m)) principal_axes(m->inertia, moment, q);
}

/* Applies bounds in MuJoCo's order: first to the mass, then to the moments. With balanceinertia, if two moments then
 * add up to less than the third, all three become their mean. Fails at the place `at` if no body can have the resulting
 * moments. (A body without mass, or with moments that are all 0, is not checked.) */
cb_status cb_mjcf_bound(const cb_mjcf_reader *r, const cb_node *at, cb_mjcf_inertial *m) {
  double moment[3], sum = 0, maximum = 0;
  cb_pose turn;
  bool changed = false;
  cb_pose_identity(&turn);
  m->mass = fmax(m->mass, r->bound_mass);
  cb_mjcf_principal(m, moment, turn.q);
  for (int i = 0; i < 3; i++) {
    changed = changed || moment[i] < r->bound_inertia;
    moment[i] = fmax(moment[i], r->bound_inertia);
    sum += moment[i];
    maximum = fmax(maximum, moment[i]);
  }
  if (r->balance && (sum - maximum) - maximum < -1e-12 * maximum) {
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
  if (diagonal && full) return cb_node_fail(full, "fullinertia next to diaginertia: expected only one of them");
  if (!diagonal && !full) return cb_node_fail(&e->name, "expected diaginertia or fullinertia");
  const cb_status status = diagonal ? cb_mjcf_numbers(diagonal, "diaginertia", 3, 3, f, NULL)
                                    : cb_mjcf_numbers(full, "fullinertia", 6, 6, f, NULL);
  if (status) return status;
  for (int i = 0; i < 3; i++) J[i][i] = f[i];
  J[0][1] = J[1][0] = f[3];
  J[0][2] = J[2][0] = f[4];
  J[1][2] = J[2][1] = f[5]; /* 0 for a diagonal inertia */
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
    cb_errors_add(&errors, full, cb_node_fail(full, "fullinertia next to an orientation: expected only one of them"));
  cb_pose_multiply(&scope->frame, &out->centre, &out->centre);
  return cb_errors_end(&errors);
}

/* <asset><mesh>: the files of meshes, and the frame in which MuJoCo puts a mesh. The origin of this frame is the centre
 * of mass, and its axes are the principal axes in the order of descending moments. The size of the mesh is half the
 * sides of its box in that frame. Mass and moments are computed from the volume of the mesh, as with MuJoCo's
 * `exactmeshinertia`. MuJoCo's older rule, with pyramids from the mean of the surface, is wrong (by 39 % for a
 * tetrahedron). */

static const char *after(const char *path, const char *set) {
  const char *name = path;
  for (const char *c = path; *c; c++)
    if (strchr(set, *c)) name = c + 1;
  return name;
}

/* Returns the path of a mesh in meshdir; NULL: there is no memory. */
static const char *path_of(const cb_mjcf_reader *r, const cb_node *file) {
  cb_node own = *file;
  if (r->strip) own.text = after(file->text, "/\\");
  return cb_mjcf_path(r, &own, r->meshdir);
}

static const char *name_of(const cb_mjcf_reader *r, const cb_node *name, const cb_node *file) {
  if (name || !file) return name ? name->text : "";
  const char *base = after(file->text, "/\\"), *dot = strrchr(base, '.');
  return cb_arena_strndup(r->arena, base, dot ? (size_t)(dot - base) : strlen(base));
}

static cb_status read_place(cb_xml *e, const double scale[3], cb_pose *place) {
  const cb_node *at = cb_xml_get(e, "refpos"), *turned = cb_xml_get(e, "refquat");
  cb_pose ref;
  cb_pose_identity(&ref);
  cb_status status = at ? cb_mjcf_numbers(at, "refpos", 3, 3, ref.x, NULL) : CB_OK;
  if (!status && turned) status = cb_mjcf_numbers(turned, "refquat", 4, 4, ref.q, NULL);
  if (status || (!at && !turned)) {
    cb_pose_identity(place);
    return status;
  }
  if (!cb_mjcf_normalise(4, ref.q)) return cb_node_fail(turned, "refquat: expected a quaternion that is not 0");
  if (scale[0] != scale[1] || scale[1] != scale[2])
    return cb_node_fail(at ? at : turned, "refpos and refquat: expected the same scale along all axes");
  cb_pose_inverse(&ref, place);
  for (int i = 0; i < 3; i++) place->x[i] *= scale[0];
  return CB_OK;
}

static cb_status read_mesh(cb_mjcf_reader *r, cb_xml *e) {
  cb_mjcf_source source;
  const cb_node *file = cb_xml_get(e, "file"), *name = cb_xml_get(e, "name");
  cb_mjcf_mesh *mesh = cb_arena_alloc(r->arena, 1, sizeof *mesh);
  if (!mesh) return cb_mjcf_no_memory(r);
  *mesh = (cb_mjcf_mesh){
      .name = name_of(r, name, file), .file = file ? path_of(r, file) : NULL, .scale = {1, 1, 1}, .next = r->meshes};
  if (!mesh->name || (file && !mesh->file)) return cb_mjcf_no_memory(r);
  r->meshes = mesh;
  cb_status status = cb_mjcf_source_of(r, e, NULL, &source);
  if (!status) status = cb_mjcf_merged(&source, "scale", 3, 3, mesh->scale);
  if (status) return status;
  for (int i = 0; i < 3; i++)
    if (mesh->scale[i] == 0)
      return cb_node_fail(cb_mjcf_value(&source, "scale"), "scale: expected numbers that are not 0");
  return read_place(e, mesh->scale, &mesh->place);
}

cb_status cb_mjcf_read_meshes(cb_mjcf_reader *r) {
  cb_errors errors = cb_errors_begin();
  for (cb_xml *assets = r->root->first; assets; assets = assets->next) {
    if (!cb_xml_is(assets, "asset")) continue;
    for (cb_xml *e = assets->first; e; e = e->next)
      if (cb_xml_is(e, "mesh")) cb_errors_add(&errors, &e->name, read_mesh(r, e));
  }
  return cb_errors_end(&errors);
}

/* --- properties of a mesh --- */

static cb_status weigh(const cb_surface *s, cb_mjcf_mesh *mesh) {
  static const cb_material one = {1, 0};
  cb_material material[64];
  cb_mass m;
  double moment[3], axis[3][3], R[3][3];
  if (s->parts > 64) return cb_fail(CB_ERROR_DOMAIN, "expected at most 64 pieces, found %d", s->parts);
  for (int p = 0; p < s->parts; p++) material[p] = one;
  cb_status status = cb_surface_check(s, false);
  if (!status) status = cb_mass_of(s, NULL, material, &m);
  if (!status) status = cb_mass_principal(&m, moment, axis);
  if (status) return status;
  mesh->volume = m.mass;
  for (int i = 0; i < 3; i++) {
    mesh->moment[i] = moment[2 - i];
    for (int k = 0; k < 3; k++) R[k][i] = i == 1 ? -axis[1][k] : axis[2 - i][k]; /* this makes the frame right-handed */
  }
  cb_quaternion_of_rotation((const double(*)[3])R, mesh->centre.q);
  memcpy(mesh->centre.x, m.centre, sizeof m.centre);
  for (int v = 0; v < s->vertices; v++)
    for (int i = 0; i < 3; i++) {
      double along = 0;
      for (int k = 0; k < 3; k++) along += R[k][i] * (s->x[v][k] - m.centre[k]);
      mesh->half[i] = fmax(mesh->half[i], fabs(along));
    }
  return CB_OK;
}

cb_status cb_mjcf_measure(cb_mjcf_mesh *mesh, const cb_node *asked) {
  if (mesh->measured) return CB_OK;
  cb_surface *file = NULL, *scaled = NULL;
  cb_surface_piece piece = {.name = mesh->name};
  for (int i = 0; i < 3; i++) piece.frame[i][i] = mesh->scale[i];
  cb_status status = cb_surface_read(mesh->file, true, &file);
  piece.surface = file;
  if (!status) status = cb_surface_join(1, &piece, &scaled);
  if (!status) status = weigh(scaled, mesh);
  cb_surface_free(scaled);
  cb_surface_free(file);
  if (!status) {
    cb_pose_multiply(&mesh->place, &mesh->centre, &mesh->centre);
    mesh->measured = true;
  }
  if (status != CB_ERROR_DOMAIN) return status;
  char why[512];
  snprintf(why, sizeof why, "%s", cb_error_text());
  return cb_node_fail(asked, "mesh `%s`: %s", mesh->name, why);
}
