/* Columns of sources: the three parts of g, whose potential A has u = rot A, and -w. */
#include "potential/field.h"

#include "numerics/vec3.h"
#include "potential/kirchhoff.h"
#include "potential/pieces.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 4096 };
/* Of the root of a face's area: where the edges' logarithms are no worse than the fit; what is on the surface. */
static const double layer = 0.1, on_it = 1e-6;

/* --- life --- */

/* Which faces are sheets, and where these end. */
static cb_status find_sheets(cb_flow_about *f, const double (*x)[3]) {
  cb_pieces *p = NULL;
  const cb_status status = cb_pieces_create(f->vertices, x, f->faces, (const int(*)[3])f->face, &p);
  for (int i = 0; i < f->faces && !status; i++) memcpy(f->corner[i], f->face[i], sizeof *f->corner);
  for (int i = 0; !status && i < p->n; i++) {
    const int face = p->kept[i];
    f->sheet[face] = i >= p->solids;
    for (int k = 0; k < 3 && f->sheet[face]; k++) {
      const int c = f->corner[face][k] += f->vertices;
      if (p->corner[i][k] >= f->vertices) f->border[c] = true;
    }
  }
  cb_pieces_free(p);
  return status;
}

static cb_status solve(cb_flow_about *f, const double (*x)[3], bool sheets, double error) {
  const cb_kirchhoff_options options = {.far_error = error, .sheets = sheets};
  cb_kirchhoff *k = NULL;
  cb_status status = cb_kirchhoff_create(f->vertices, x, f->faces, (const int(*)[3])f->face, &options, &k);
  if (status) return status;
  for (int i = 0; i < f->faces; i++) {
    double v[3];
    for (int c = 0; c < 3; c++) v[c] = (f->v[f->face[i][0]][c] + f->v[f->face[i][1]][c] + f->v[f->face[i][2]][c]) / 3;
    f->w[i] = cb_dot3(v, f->panels->normal[i]);
  }
  status = cb_kirchhoff_solve(k, 1, f->w, f->jump);
  const cb_panels *solved = cb_kirchhoff_panels(k);
  for (int i = 0; i < solved->n && !status; i++) {
    const int face = cb_kirchhoff_faces(k)[i];
    f->kinetic -= f->jump[face] * f->w[face] * solved->area[i] / 2;
  }
  const bool *reached = cb_kirchhoff_reached(k);
  for (int i = 0; i < f->faces; i++)
    if (!reached[i]) f->w[i] = 0;
  cb_kirchhoff_free(k);
  return status;
}

static cb_status take(cb_flow_about *f, int vertices, int faces, bool sheets) {
  const size_t n = (size_t)faces, corners = (size_t)vertices * (sheets ? 2 : 1);
  f->vertices = vertices, f->faces = faces, f->corners = (int)corners;
  f->face = cb_arena_alloc(f->arena, n, sizeof *f->face);
  f->corner = sheets ? cb_arena_alloc(f->arena, n, sizeof *f->corner) : f->face;
  f->sheet = cb_arena_alloc(f->arena, n, sizeof *f->sheet);
  f->border = cb_arena_alloc(f->arena, corners, sizeof *f->border);
  f->v = cb_arena_alloc(f->arena, (size_t)vertices, sizeof *f->v);
  for (int s = 0; s < 2; s++) {
    cb_field_side *side = f->side + s;
    side->u = cb_arena_alloc(f->arena, n, sizeof *side->u);
    side->corner_u = cb_arena_alloc(f->arena, corners, sizeof *side->corner_u);
    cb_arena_doubles(f->arena, n, &side->phi);
    cb_arena_doubles(f->arena, corners, &side->corner_phi);
  }
  cb_arena_doubles(f->arena, n, &f->w, &f->jump);
  cb_arena_doubles(f->arena, corners, &f->strength);
  cb_arena_doubles(f->arena, 2 * n, &f->dipoles);
  cb_arena_doubles(f->arena, 2 * n, &f->sources);
  cb_arena_doubles(f->arena, CB_FIELD_COLUMNS * n, &f->sigma);
  cb_arena_doubles(f->arena, 2 * BATCH, &f->at);
  return cb_arena_lost(f->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for the flow about %d faces", faces) : CB_OK;
}

cb_status cb_field_create(int vertices, const double (*x)[3], const double (*v)[3], int faces, const int (*face)[3],
                          bool sheets, double error, cb_flow_about **out) {
  const double far_error = error > 0 ? error : 1e-6;
  cb_flow_about *f = cb_arena_object(sizeof *f, "the flow about a body");
  if (!f) return CB_ERROR_MEMORY;
  cb_status status = take(f, vertices, faces, sheets);
  if (!status) status = cb_panels_create(faces, x, face, &f->panels);
  if (!status) {
    memcpy(f->face, face, (size_t)faces * sizeof *face);
    memcpy(f->v, v, (size_t)vertices * sizeof *v);
    if (sheets) status = find_sheets(f, x);
  }
  if (!status) status = solve(f, x, sheets, far_error);
  if (!status) status = cb_field_spread(f, x);
  if (!status) status = cb_far_create(f->panels, far_error, &f->far);
  if (!status) status = cb_far_field_create(f->far, CB_FAR_VELOCITY, CB_FIELD_COLUMNS, f->sigma, NULL, &f->velocity);
  if (!status) status = cb_far_field_create(f->far, CB_FAR_POTENTIAL, 2, f->sources, f->dipoles, &f->potential);
  if (!status) status = cb_field_sides(f, x);
  if (status) {
    cb_field_free(f);
    return status;
  }
  *out = f;
  return CB_OK;
}

void cb_field_free(cb_flow_about *f) {
  if (!f) return;
  cb_far_field_free(f->velocity);
  cb_far_field_free(f->potential);
  cb_far_free(f->far);
  cb_panels_free(f->panels);
  cb_arena_free(f->arena);
}

const double *cb_field_face_phi(const cb_flow_about *f, int side) { return f->side[side].phi; }
const double (*cb_field_face_u(const cb_flow_about *f, int side))[3] { return (const double(*)[3])f->side[side].u; }
double cb_field_kinetic(const cb_flow_about *f) { return f->kinetic; }

/* --- at points --- */

static cb_status find_potential(cb_flow_about *f, int n, const double (*x)[3], double *phi, bool *inside) {
  const cb_status status = cb_far_field_at(f->potential, n, x, f->at);
  for (int i = 0; i < n && !status; i++) {
    if (phi) phi[i] = f->at[i];
    if (inside) inside[i] = f->at[n + i] < -0.5;
  }
  return status;
}

cb_status cb_field_of_panels(cb_flow_about *f, int points, const double (*x)[3], double (*u)[3], double *phi,
                             bool *inside) {
  cb_status status = u ? cb_far_field_at(f->velocity, points, x, *u) : CB_OK;
  for (int first = 0; first < points && !status && (phi || inside); first += BATCH) {
    const int n = points - first < BATCH ? points - first : BATCH;
    status = find_potential(f, n, x + first, phi ? phi + first : NULL, inside ? inside + first : NULL);
  }
  return status;
}

int cb_field_layer(const cb_flow_about *f, const double x[3], double weight[3], int *side) {
  const int face = cb_far_panel(f->far, layer, x, weight);
  *side = 0;
  if (face < 0 || !f->sheet[face]) return face;
  const double *from = f->panels->corner[face][0], d[3] = {x[0] - from[0], x[1] - from[1], x[2] - from[2]};
  *side = cb_dot3(d, f->panels->normal[face]) < 0;
  return face;
}

cb_status cb_field_at(cb_flow_about *f, int points, const double (*x)[3], double (*u)[3], double *phi, bool *inside) {
  const cb_status status = cb_field_of_panels(f, points, x, u, phi, inside);
  for (int i = 0; i < points && !status; i++) {
    double weight[3];
    int side;
    const int face = cb_field_layer(f, x[i], weight, &side);
    if (face < 0) continue;
    if (u) cb_field_interpolate(f, face, weight, 3, *f->side[side].corner_u, u[i]);
    if (phi) cb_field_interpolate(f, face, weight, 1, f->side[side].corner_phi, &phi[i]);
    if (inside && inside[i]) inside[i] = cb_far_panel(f->far, on_it, x[i], weight) < 0;
  }
  return status;
}
