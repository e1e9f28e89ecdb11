/* The fluid about a body: velocity and gradient of the flow at its vertices, density of each face's medium.
 *
 * The flow is linear on each face between its corners, as the velocity of the body's shape is; what a drag's face feels
 * is the mean of them.
 */
#include "fluid/immersed_private.h"

#include <math.h>
#include <string.h>

/* R^T G R */
static void turn_gradient(const double r[3][3], double G[3][3]) {
  double half[3][3];
  for (int i = 0; i < 3; i++) cb_apply3_transposed(r, G[i], half[i]); /* G R */
  for (int j = 0; j < 3; j++) {
    const double column[3] = {half[0][j], half[1][j], half[2][j]};
    double turned[3];
    cb_apply3_transposed(r, column, turned);
    for (int i = 0; i < 3; i++) G[i][j] = turned[i];
  }
}

static cb_status find_flow(cb_swimmer *s, const double r[3][3]) {
  const cb_immersed *b = s->b;
  cb_immersed_field *f = &s->field;
  const int n = b->surface->vertices;
  double u[3];
  f->whole = f->at_faces = false;
  const cb_status status = cb_flow_at(b->fluid.flow, f->t, n, (const double(*)[3])f->place, f->u, f->gradient,
                                      b->pressed && b->gusty ? f->rate : NULL);
  for (int i = 0; !status && i < n; i++) {
    memcpy(u, f->u[i], sizeof u);
    cb_apply3_transposed(r, u, f->u[i]);
    turn_gradient(r, f->gradient[i]);
    if (b->pressed && b->gusty) memcpy(u, f->rate[i], sizeof u), cb_apply3_transposed(r, u, f->rate[i]);
  }
  return status;
}

/* u0 and G0: means over the vertices */
void cb_immersed_field_as_a_whole(cb_swimmer *s) {
  cb_immersed_field *f = &s->field;
  const int n = s->b->surface->vertices;
  double u[3] = {0}, x[3] = {0}, G[9] = {0}, moved[3];
  if (f->whole) return;
  f->whole = true;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) u[k] += f->u[i][k], x[k] += s->form.x[i][k];
    for (int k = 0; k < 9; k++) G[k] += f->gradient[i][k / 3][k % 3];
  }
  for (int k = 0; k < 3; k++) x[k] /= n;
  for (int k = 0; k < 9; k++) f->G0[k / 3][k % 3] = G[k] / n;
  cb_apply3((const double(*)[3])f->G0, x, moved);
  for (int k = 0; k < 3; k++) f->u0[k] = u[k] / n - moved[k];
}

double cb_swimmer_divergence(const cb_swimmer *s) {
  const cb_immersed *b = s->b;
  if (!b->varying || !s->field.known) return 0;
  double size;
  const double divergence = cb_flow_divergence(b->surface->vertices, (const double(*)[3][3])s->field.gradient, &size);
  return divergence > 0 ? divergence / fmax(size, cb_flow_slope(b->fluid.flow)) : 0;
}

void cb_immersed_field_at_faces(cb_swimmer *s) {
  const cb_surface *surface = s->b->surface;
  cb_immersed_field *f = &s->field;
  if (f->at_faces) return;
  f->at_faces = true;
  for (int i = 0; i < surface->faces; i++) {
    const double *a = f->u[surface->face[i][0]], *b = f->u[surface->face[i][1]], *c = f->u[surface->face[i][2]];
    for (int k = 0; k < 3; k++) f->face_u[i][k] = (a[k] + b[k] + c[k]) / 3;
  }
}

void cb_immersed_gather(cb_swimmer *s, bool corners) {
  const cb_surface *surface = s->b->surface;
  cb_immersed_field *f = &s->field;
  double r[3][3], at[3];
  cb_pose_rotation(&f->g, r);
  for (int i = 0; i < surface->vertices; i++) {
    cb_apply3((const double(*)[3])r, s->form.x[i], at);
    for (int k = 0; k < 3; k++) f->place[i][k] = f->g.x[k] + at[k];
  }
  for (int i = 0; corners && i < surface->faces; i++)
    for (int k = 0; k < 3; k++) memcpy(f->corner[i][k], f->place[surface->face[s->b->listed[i]][k]], sizeof *f->place);
}

/* Does the density differ over the box of the body? */
static bool is_mixed(cb_swimmer *s, const double r[3][3]) {
  double middle[3], half[3][3];
  cb_immersed_field *f = &s->field;
  f->density = s->b->density;
  if (!s->b->layered) return false;
  cb_pose_point(&f->g, s->form.middle, middle);
  for (int i = 0; i < 9; i++) half[i % 3][i / 3] = r[i / 3][i % 3] * s->form.reach[i % 3];
  return !cb_medium_is_even(s->b->fluid.medium, middle, (const double(*)[3])half, &f->density);
}

static bool flat(const double slope[3][3]) {
  for (int c = 0; c < 3; c++)
    if (slope[c][0] != 0 || slope[c][1] != 0 || slope[c][2] != 0) return false;
  return true;
}

static cb_status find_density(cb_swimmer *s, const double r[3][3]) {
  const cb_immersed *b = s->b;
  cb_immersed_field *f = &s->field;
  const int n = b->surface->faces;
  cb_immersed_gather(s, true);
  const cb_status status = cb_medium_faces(b->fluid.medium, n, (const double(*)[3][3])f->corner, f->listed_rho,
                                           b->relative ? f->listed_slope : NULL);
  if (status) return status;
  f->slopes = 0;
  for (int i = 0; i < n; i++) {
    const int face = b->listed[i];
    f->rho[face] = f->listed_rho[i];
    if (!b->relative || flat((const double(*)[3])f->listed_slope[i])) continue;
    f->sloped[f->slopes++] = face;
    for (int k = 0; k < 3; k++) cb_apply3_transposed(r, f->listed_slope[i][k], f->slope[face][k]);
  }
  if (b->added_mass && !b->by_parts) cb_local_added_mass(s->local, 0, f->rho, f->I_f, f->mu_f, s->part);
  return CB_OK;
}

cb_status cb_immersed_field_at(cb_swimmer *s, double t, const cb_pose *g) {
  const cb_immersed *b = s->b;
  cb_immersed_field *f = &s->field;
  if (f->known && (!(b->spread || b->placed) || (f->t == t && memcmp(&f->g, g, sizeof *g) == 0))) return CB_OK;
  double r[3][3];
  f->known = false;
  f->t = t;
  f->g = *g;
  cb_pose_rotation(g, r);
  f->mixed = is_mixed(s, (const double(*)[3])r);
  cb_status status = CB_OK;
  if (f->mixed) {
    status = find_density(s, (const double(*)[3])r);
  } else if (b->placed) {
    status = cb_immersed_place(s);
  } else {
    const double share = b->layered ? f->density : 1;
    for (int i = 0; i < 36; i++) f->I_f[i / 6][i % 6] = share * s->form.I_f[i / 6][i % 6];
    for (int i = 0; i < 6; i++) f->mu_f[i] = share * s->form.mu_f[i];
  }
  if (f->mixed || s->impulses.density != f->density) s->impulses.known = false;
  if (b->varying) {
    if (!f->mixed) cb_immersed_gather(s, false);
    if (!status) status = find_flow(s, (const double(*)[3])r);
    if (!status && b->relative && !b->by_parts) {
      if (!s->impulses.known) cb_immersed_impulses_of_shape(s);
      cb_immersed_impulses_of_flow(s);
    }
  }
  if (!status && b->by_parts) {
    cb_immersed_moment m;
    cb_immersed_moment_of(t, g, NULL, &m);
    status = cb_immersed_parts(s, &m);
  }
  f->known = !status;
  return status;
}

cb_status cb_immersed_field_create(cb_swimmer *s) {
  const cb_immersed *b = s->b;
  cb_immersed_field *f = &s->field;
  const size_t vertices = b->spread ? (size_t)b->surface->vertices : 0,
               faces = b->spread ? (size_t)b->surface->faces : 0;
  f->place = cb_arena_alloc(s->arena, vertices, sizeof *f->place);
  f->u = cb_arena_alloc(s->arena, vertices, sizeof *f->u);
  f->rate = cb_arena_alloc(s->arena, vertices, sizeof *f->rate);
  f->gradient = cb_arena_alloc(s->arena, vertices, sizeof *f->gradient);
  f->face_u = cb_arena_alloc(s->arena, faces, sizeof *f->face_u);
  f->corner = cb_arena_alloc(s->arena, faces, sizeof *f->corner);
  f->rho = cb_arena_alloc(s->arena, faces, sizeof *f->rho);
  f->slope = cb_arena_alloc(s->arena, faces, sizeof *f->slope);
  f->sloped = cb_arena_alloc(s->arena, faces, sizeof *f->sloped);
  f->listed_rho = cb_arena_alloc(s->arena, faces, sizeof *f->listed_rho);
  f->listed_slope = cb_arena_alloc(s->arena, faces, sizeof *f->listed_slope);
  f->listed_thickness = cb_arena_alloc(s->arena, faces, sizeof *f->listed_thickness);
  if (!f->place || !f->u || !f->rate || !f->gradient || !f->face_u || !f->corner || !f->rho || !f->slope ||
      !f->sloped || !f->listed_rho || !f->listed_slope || !f->listed_thickness)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the fluid about %d faces", b->surface->faces);
  for (size_t i = 0; i < faces; i++) f->listed_thickness[i] = b->thickness[b->surface->part[b->listed[i]]];
  return CB_OK;
}
