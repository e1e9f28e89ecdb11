/* Writes bodies in a fluid to the page: their surfaces once, or the vertices of each frame if the bodies deform; their
 * poses; and forces as arrows. This file also makes the moving frames for bodies and particles.
 *
 * The moving frame `carry` of a body is at the origin of the body and is moved by parallel transport; in E3 it does not
 * rotate. `turn` [3][3] maps the body's axes to this frame. Vertices are in body axes; in a curved space they are
 * normal coordinates. */
#include "fluid/immersed_run.h"
#include "numerics/numerics_curved.h"
#include "scenario/fluid.h"
#include "view/view_private.h"
#include "geometry/origin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSE = 7, PARTS = 16 };

static const cb_immersed *body_of(const cb_view *v, size_t b) { return cb_scenario_body(v->scenario, (int)b); }
static bool copy_of_last(const cb_view *v, size_t b) { return b && body_of(v, b) == body_of(v, b - 1); }

static size_t count_of(const cb_view *v) {
  const int pose = cb_view_field(v, "pose");
  if (pose < 0 || v->fields[pose].rank != 2 || v->fields[pose].shape[1] != POSE) return 0;
  return v->fields[pose].shape[0];
}

static bool has_surfaces(const cb_view *v) {
  return v->scenario && count_of(v) && (size_t)cb_scenario_bodies(v->scenario) == count_of(v);
}

static bool deforms(const cb_view *v, size_t b) { return cb_immersed_poses(body_of(v, b)) != NULL; }

static cb_status size_of(const cb_view *v, size_t *size) {
  if (cb_view_field(v, "pose") < 0) return cb_view_particles_size(v, size);
  *size = count_of(v) * 420;
  const int x = cb_view_field(v, "plot_position");
  if (x >= 0) *size += 12 * v->fields[x].count / 3;
  for (size_t b = 0; has_surfaces(v) && b < count_of(v); b++)
    if (!copy_of_last(v, b) && deforms(v, b)) *size += 12 * (size_t)cb_immersed_surface(body_of(v, b))->vertices;
  return CB_OK;
}

static cb_status put_surface(const cb_view *v, size_t b, size_t copies, const double *time) {
  const cb_surface *surface = cb_immersed_surface(body_of(v, b));
  const size_t n = (size_t)surface->vertices, faces = (size_t)surface->faces, frames = deforms(v, b) ? v->n_frames : 1;
  double(*x)[3] = malloc((frames * n + 1) * sizeof *x), (*rate)[3] = malloc((n + 1) * sizeof *rate);
  double *face = malloc((4 * faces + 1) * sizeof *face);
  cb_status status = x && rate && face ? CB_OK : cb_view_memory(v);
  for (size_t f = 0; f < frames && !status; f++)
    status = cb_immersed_shape(body_of(v, b), v->n_frames ? time[f] : 0, x + f * n, rate);
  for (size_t f = 0; f < faces && !status; f++)
    for (size_t k = 0; k < 4; k++) face[4 * f + k] = k < 3 ? surface->face[f][k] : surface->part[f];
  cb_page_begin(v->page, NULL, '{');
  cb_page_number(v->page, "first", (double)b);
  cb_page_number(v->page, "count", (double)copies);
  cb_page_number(v->page, "frames", (double)frames);
  if (!status) status = cb_page_array(v->page, "vertex", CB_PAGE_F4, frames * n, 3, 0, (double *)x);
  if (!status) status = cb_page_array(v->page, "face", CB_PAGE_I4, faces, 4, 0, face);
  cb_page_end(v->page, '}');
  free(x);
  free(rate);
  free(face);
  return status;
}

static cb_status put_surfaces(const cb_view *v, const double *time) {
  cb_status status = CB_OK;
  cb_page_begin(v->page, "surfaces", '[');
  for (size_t b = 0, last; has_surfaces(v) && b < count_of(v) && !status; b = last) {
    for (last = b + 1; last < count_of(v) && copy_of_last(v, last); last++) {
    }
    status = put_surface(v, b, last - b, time);
  }
  cb_page_end(v->page, ']');
  return status;
}

/* Finds the position of a body as an origin and a point y relative to the origin. In a sphere, where origins do not
 * move, y is the position; otherwise y is the base point. */
static void place_of(const cb_space *g, double K, const double *pose, cb_origin *origin, double *y) {
  const double size = sqrt(pose[0] * pose[0] + pose[1] * pose[1] + pose[2] * pose[2]);
  cb_origin_identity(g, origin);
  cb_space_base_point(g, y);
  if (K > 0) {
    cb_curved_point(K, pose, y);
    y[3] /= sqrt(K);
    return;
  }
  origin->length = size;
  for (int i = 0; i < 3 && size > 0; i++) origin->direction[i] = pose[i] / size;
}

/* Computes turn = carry^-1 T(y) R, which maps the body's axes to the frame `carry` that is moved by parallel transport.
 * T(y) is the transvection to the body's position y, and R the rotation of its pose. */
static void turn_of(const cb_space *g, const cb_isometry *carried, const double *y, const double *pose, double *turn) {
  const cb_pose at = {.q = {pose[3], pose[4], pose[5], pose[6]}};
  cb_isometry inverse, to, change;
  double r[3][3];
  cb_pose_rotation(&at, r);
  cb_isometry_inverse(g, carried, &inverse);
  cb_isometry_to(g, y, &to);
  cb_isometry_compose(g, &inverse, &to, &change);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      turn[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) turn[3 * i + j] += change.m[i][k] * r[k][j];
    }
}

static cb_status put_poses(const cb_view *v, const double *pose, size_t n) {
  const cb_space *g = v->space;
  const double K = g->factor[0].curvature;
  const size_t frames = v->n_frames;
  double *lead = calloc(frames * n * PARTS + 1, sizeof *lead), *carry = calloc(frames * n * 16 + 1, sizeof *carry),
         *turn = calloc(frames * n * 9 + 1, sizeof *turn);
  cb_status status = lead && carry && turn ? CB_OK : cb_view_memory(v);
  for (size_t b = 0; b < n && !status; b++) {
    cb_origin before, origin;
    cb_isometry carried, next;
    for (size_t f = 0; f < frames; f++) {
      const size_t at = f * n + b;
      double y[CB_COORD_MAX];
      place_of(g, K, pose + at * POSE, &origin, y);
      if (!f || K == 0)
        cb_isometry_to(g, y, &next);
      else
        cb_carry_on(g, &before, &carried, &origin, y, &next);
      carried = next;
      before = origin;
      memcpy(lead + at * PARTS, &origin, sizeof origin);
      cb_carry_matrix(g, &carried, carry + at * 16);
      turn_of(g, &carried, y, pose + at * POSE, turn + at * 9);
    }
  }
  if (!status) status = cb_page_array(v->page, "lead", CB_PAGE_F8, frames, n, PARTS, lead);
  if (!status) status = cb_page_array(v->page, "carry", CB_PAGE_F8, frames, n, 16, carry);
  if (!status) status = cb_page_array(v->page, "turn", CB_PAGE_F8, frames, n, 9, turn);
  free(lead);
  free(carry);
  free(turn);
  return status;
}

/* Writes to the page the linear part (the force) of every wrench of the record, in body axes. */
static cb_status put_forces(const cb_view *v, size_t n) {
  cb_status status = CB_OK;
  cb_page_begin(v->page, "forces", '[');
  for (size_t f = 0; f < v->n_fields && !status; f++) {
    const cb_reader_field *field = &v->fields[f];
    double *six;
    if (strncmp(field->name, "wrench_", 7) || field->rank != 2 || field->shape[0] != n || field->shape[1] != 6)
      continue;
    if ((status = cb_view_frames(v, (int)f, &six))) break;
    for (size_t i = 0; i < v->n_frames * n; i++) memmove(six + 3 * i, six + 6 * i + 3, 3 * sizeof *six);
    cb_page_begin(v->page, NULL, '{');
    cb_page_text(v->page, "name", field->name + 7);
    status = cb_page_array(v->page, "force", CB_PAGE_F4, v->n_frames, n, 3, six);
    cb_page_end(v->page, '}');
    free(six);
  }
  cb_page_end(v->page, ']');
  return status;
}

/* Returns the number of points that follow the bodies in /plot_position: particles, and points of bodies on which
 * something acts. Returns 0 in a curved space. */
static size_t points_of(const cb_view *v) {
  const int x = cb_view_field(v, "plot_position");
  if (x < 0 || v->fields[x].rank != 2 || v->fields[x].shape[0] <= count_of(v) || v->space->factor[0].curvature != 0)
    return 0;
  return v->fields[x].shape[0] - count_of(v);
}

/* Writes to the page the points, and the springs and rods between them, in the coordinates of the world. This is done
 * only in flat space. */
static cb_status put_points(const cb_view *v, size_t n) {
  const size_t points = points_of(v), all = n + points;
  double *x = NULL, *end[2] = {NULL, NULL};
  size_t bonds[2] = {0, 0};
  if (!points) return CB_OK;
  cb_status status = cb_view_frames(v, cb_view_field(v, "plot_position"), &x);
  for (int i = 0; i < 2 && !status; i++) status = cb_view_constant(v, i ? "bond_j" : "bond_i", &end[i], &bonds[i]);
  for (int i = 0; i < 2 && !status; i++)
    for (size_t b = 0; b < bonds[i] && !status; b++)
      if (bonds[0] != bonds[1] || !(end[i][b] >= 0 && end[i][b] < (double)all))
        status = cb_fail(CB_ERROR_INPUT, "%s: bond %zu joins a point that does not exist: the record is damaged",
                         v->path, b);
  cb_page_begin(v->page, "points", '{');
  cb_page_number(v->page, "first", (double)n);
  if (!status) status = cb_page_array(v->page, "place", CB_PAGE_F4, v->n_frames, all, 3, x);
  if (!status) status = cb_page_array(v->page, "bond_i", CB_PAGE_I4, bonds[0], 0, 0, end[0]);
  if (!status) status = cb_page_array(v->page, "bond_j", CB_PAGE_I4, bonds[1], 0, 0, end[1]);
  cb_page_end(v->page, '}');
  if (!status) status = cb_view_pivots(v, v->scenario ? cb_fluid_scenario_of(v->scenario)->system : NULL, n, all);
  free(x);
  free(end[0]);
  free(end[1]);
  return status;
}

static cb_status draw(const cb_view *v) {
  if (cb_view_field(v, "pose") < 0 || !v->space) return cb_view_particles(v);
  const size_t n = count_of(v);
  if (!n) return CB_OK;
  double *pose = NULL, *time = NULL;
  const char *const *label;
  cb_page_begin(v->page, "bodies", '{');
  cb_page_number(v->page, "count", (double)n);
  cb_status status = cb_view_frames(v, cb_view_field(v, "pose"), &pose);
  if (!status) status = cb_view_frames(v, 0, &time);
  if (!status) status = cb_view_labels(v, "body", n, &label);
  if (!status && label) cb_page_texts(v->page, "name", n, label);
  if (!status) status = put_poses(v, pose, n);
  if (!status) status = put_surfaces(v, time);
  if (!status) status = put_forces(v, n);
  cb_page_end(v->page, '}');
  if (!status) status = put_points(v, n);
  free(pose);
  free(time);
  return status;
}

/* ---- Frames that are moved by parallel transport
 *
 * A(k+1) = A(k) T(z), where the isometry A(k) is the moving frame at frame k of the page, z is the next position in
 * that frame, and T(z) is the transvection to z. The rotation that remains after a closed path is its holonomy. */

int cb_carry_slot(const cb_space *g, int e) {
  int slot = 0;
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    const int dim = factor.curvature != 0 ? factor.count - 1 : factor.count;
    if (e < factor.offset + factor.count && e >= factor.offset)
      return e - factor.offset < dim ? slot + e - factor.offset : 3;
    slot += dim;
  }
  return 3;
}

/* Orthonormalises the rows of `a`, which is a rotation around the base point only up to round-off. */
static void rotation_of(const cb_space *g, cb_isometry *a) {
  memset(a->b, 0, sizeof a->b);
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    const int o = factor.offset, dim = factor.curvature != 0 ? factor.count - 1 : factor.count;
    for (int i = 0; i < dim; i++) {
      double size = 0;
      for (int j = 0; j < i; j++) {
        double along = 0;
        for (int k = 0; k < dim; k++) along += a->m[o + i][o + k] * a->m[o + j][o + k];
        for (int k = 0; k < dim; k++) a->m[o + i][o + k] -= along * a->m[o + j][o + k];
      }
      for (int k = 0; k < dim; k++) size = hypot(size, a->m[o + i][o + k]);
      for (int k = 0; k < dim; k++) a->m[o + i][o + k] = size > 0 ? a->m[o + i][o + k] / size : (i == k);
    }
    for (int i = 0; i < dim && dim < factor.count; i++) a->m[o + i][o + dim] = a->m[o + dim][o + i] = 0;
    if (dim < factor.count) a->m[o + dim][o + dim] = 1;
  }
}

void cb_carry_on(const cb_space *g, const cb_origin *from, const cb_isometry *before, const cb_origin *to,
                 const double *y, cb_isometry *after) {
  double seen[CB_COORD_MAX], z[CB_COORD_MAX];
  cb_isometry change, inverse, step;
  const bool same = cb_origin_same(g, from, to);
  cb_isometry_identity(g, &change);
  if (!same) {
    cb_origin relative;
    cb_origin_relative(g, from, to, &relative);
    cb_origin_isometry(g, &relative, &change);
  }
  cb_isometry_point(g, &change, y, seen);
  cb_isometry_inverse(g, before, &inverse);
  cb_isometry_point(g, &inverse, seen, z);
  cb_space_project_point(g, z);
  cb_isometry_to(g, z, &step);
  cb_isometry_compose(g, before, &step, after);
  if (same) return;
  /* The error of the relative position of distant origins grows exponentially with their distance from the base point.
   * Therefore the position is set to y, and only the rotation is taken from the result. */
  cb_isometry_inverse(g, &change, &inverse);
  cb_isometry_compose(g, &inverse, after, after);
  cb_isometry_to(g, y, &step);
  cb_isometry_inverse(g, &step, &inverse);
  cb_isometry_compose(g, &inverse, after, after);
  rotation_of(g, after);
  cb_isometry_compose(g, &step, after, after);
}

void cb_carry_matrix(const cb_space *g, const cb_isometry *a, double m[16]) {
  memset(m, 0, 16 * sizeof *m);
  for (int i = 0; i < 4; i++) m[5 * i] = 1;
  for (int i = 0; i < g->embedding; i++) {
    const int row = cb_carry_slot(g, i);
    for (int j = 0; j < g->embedding; j++) m[4 * row + cb_carry_slot(g, j)] = a->m[i][j];
    if (row < 3 && a->b[i] != 0) m[4 * row + 3] = a->b[i];
  }
}

const cb_drawing cb_drawing_bodies = {"e3", size_of, draw};
