/* The fluid about a body: velocity and gradient of the flow at its vertices, density of each face's medium.
 *
 * The flow is linear on each face between its corners, as the velocity of the body's shape is; what a drag's face feels
 * is the mean of them.
 */
#include "fluid/immersed_private.h"

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

static void turn(const double r[3][3], double a[3]) {
  double turned[3];
  cb_apply3_transposed(r, a, turned);
  memcpy(a, turned, sizeof turned);
}

/* In the body's axes; rate becomes Du/Dt = du/dt + G u. */
static void turn_flow(const cb_immersed *b, cb_immersed_field *f, const double r[3][3]) {
  for (int i = 0; i < b->surface->vertices; i++) {
    double carried[3];
    turn(r, f->u[i]);
    turn_gradient(r, f->gradient[i]);
    if (!b->pressed) continue;
    turn(r, f->rate[i]);
    cb_apply3((const double(*)[3])f->gradient[i], f->u[i], carried);
    for (int k = 0; k < 3; k++) f->rate[i][k] += carried[k];
  }
}

/* u0 and G0: means over the vertices */
static void as_a_whole(cb_swimmer *s) {
  cb_immersed_field *f = &s->field;
  const int n = s->b->surface->vertices;
  double u[3] = {0}, x[3] = {0}, G[9] = {0}, moved[3];
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) u[k] += f->u[i][k] / n, x[k] += s->form.x[i][k] / n;
    for (int k = 0; k < 9; k++) G[k] += f->gradient[i][k / 3][k % 3] / n;
  }
  for (int k = 0; k < 9; k++) f->G0[k / 3][k % 3] = G[k];
  cb_apply3((const double(*)[3])f->G0, x, moved);
  for (int k = 0; k < 3; k++) f->u0[k] = u[k] - moved[k];
}

static cb_status find_flow(cb_swimmer *s, const double r[3][3]) {
  const cb_immersed *b = s->b;
  cb_immersed_field *f = &s->field;
  const int n = b->surface->vertices;
  if (b->varying) {
    const cb_status status = cb_flow_at(b->fluid.flow, f->t, n, (const double(*)[3])f->place, f->u, f->gradient,
                                        b->pressed ? f->rate : NULL);
    if (status) return status;
    turn_flow(b, f, r);
  } else { /* gradient stays 0 */
    double u[3], rate[3];
    cb_apply3_transposed(r, s->wind.u, u);
    cb_apply3_transposed(r, s->wind.rate, rate);
    for (int i = 0; i < n; i++) memcpy(f->u[i], u, sizeof u), memcpy(f->rate[i], rate, sizeof rate);
  }
  as_a_whole(s);
  for (int i = 0; i < b->surface->faces; i++) {
    const int *c = b->surface->face[i];
    for (int k = 0; k < 3; k++) f->face_u[i][k] = (f->u[c[0]][k] + f->u[c[1]][k] + f->u[c[2]][k]) / 3;
  }
  return CB_OK;
}

static cb_status find_density(cb_swimmer *s, const double r[3][3]) {
  const cb_immersed *b = s->b;
  cb_immersed_field *f = &s->field;
  const int n = b->surface->faces;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++)
      memcpy(f->corner[i][k], f->place[b->surface->face[b->listed[i]][k]], sizeof *f->place);
  const cb_status status =
      cb_medium_faces(b->fluid.medium, n, (const double(*)[3][3])f->corner, f->listed_rho, f->listed_slope);
  if (status) return status;
  for (int i = 0; i < n; i++) {
    const int face = b->listed[i];
    f->rho[face] = f->listed_rho[i];
    for (int k = 0; k < 3; k++) cb_apply3_transposed(r, f->listed_slope[i][k], f->slope[face][k]);
  }
  if (b->added_mass) cb_local_added_mass(s->local, 0, f->rho, f->I_f, f->mu_f, s->part);
  return CB_OK;
}

cb_status cb_immersed_field_at(cb_swimmer *s, double t, const cb_pose *g) {
  const cb_immersed *b = s->b;
  cb_immersed_field *f = &s->field;
  if (f->known && f->t == t && memcmp(&f->g, g, sizeof *g) == 0) return CB_OK;
  double r[3][3], at[3];
  f->known = false;
  f->t = t;
  f->g = *g;
  cb_pose_rotation(g, r);
  for (int i = 0; i < b->surface->vertices; i++) {
    cb_apply3((const double(*)[3])r, s->form.x[i], at);
    for (int k = 0; k < 3; k++) f->place[i][k] = g->x[k] + at[k];
  }
  cb_status status = find_flow(s, (const double(*)[3])r);
  if (!status && b->layered) status = find_density(s, (const double(*)[3])r);
  if (!status && b->relative) {
    if (b->layered || !s->impulses.known) cb_immersed_impulses_of_shape(s, b->layered ? f->rho : NULL);
    if (b->carried) cb_immersed_impulses_of_flow(s);
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
  f->listed_rho = cb_arena_alloc(s->arena, faces, sizeof *f->listed_rho);
  f->listed_slope = cb_arena_alloc(s->arena, faces, sizeof *f->listed_slope);
  f->listed_thickness = cb_arena_alloc(s->arena, faces, sizeof *f->listed_thickness);
  if (!f->place || !f->u || !f->rate || !f->gradient || !f->face_u || !f->corner || !f->rho || !f->slope ||
      !f->listed_rho || !f->listed_slope || !f->listed_thickness)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the fluid about %d faces", b->surface->faces);
  for (size_t i = 0; i < faces; i++) f->listed_thickness[i] = b->thickness[b->surface->part[b->listed[i]]];
  return CB_OK;
}
