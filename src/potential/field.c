/* This file computes the flow around moving bodies at points and on the surface, and its pressure (equations and
 * symbols in field.h). The densities of sources have four columns. The first three are the components of g; their
 * potentials form a vector A, which gives the velocity rot A. The fourth is -w; the gradient of its potential is the
 * other part of the velocity.
 */
#include "potential/field.h"

#include "numerics/vec3.h"
#include "potential/kirchhoff.h"
#include "potential/mesh_pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_COLUMNS = 4 };

/* The potential phi and the velocity u on one side of the surface: at the faces, and at the corners. */
typedef struct field_side {
  double *phi, (*u)[3], *corner_phi, (*corner_u)[3];
} field_side;

struct cb_flow_about {
  cb_arena *arena;
  int vertices, faces, corners; /* corners: the vertices, followed by copies of the vertices of sheets */
  cb_panels *panels;
  cb_far *far;
  int (*face)[3], (*corner)[3]; /* [faces]: the vertices and the corners (see `corners`) of each face */
  /* sheet: [faces]; border: [corners], true for a corner on the border of a sheet, where the jump is 0 */
  bool *sheet, *border;
  /* w: [faces], the normal velocity; jump: [faces], phi of solids and the jump of phi across sheets; kinetic: the
   * kinetic energy */
  double *w, *jump, kinetic;
  double *strength; /* [corners]: `jump` fitted to the corners, 0 on borders */
  /* the side to which the normals point, and the other side, on which solids have the values 0 */
  field_side side[2];
  double (*v)[3];            /* [vertices]: the velocity of the surface */
  double *sigma;             /* [FIELD_COLUMNS][faces]: densities of the velocity: the vortices g (field.h), and -w on
                              * solids, 0 on sheets */
  double *sources, *dipoles; /* [2][faces]: densities of two fields: phi, and a field that is -1 in solids */
  cb_far_field *velocity, *potential;
  double *at; /* [2][BATCH]: phi, and the field that is -1 in solids, at the points of a batch */
};

enum { BATCH = 4096 };
/* Distances in units of the square root of a face's area. Within `layer` of a face the fit to the corners is used,
 * because the logarithms at edges are less accurate there. Within `on_it` a point counts as on the surface. */
static const double layer = 0.1, on_it = 1e-6;

/* --- the panels at points --- */

static cb_status find_potential(cb_flow_about *f, int n, const double (*x)[3], double *phi, bool *inside) {
  const cb_status status = cb_far_field_at(f->potential, n, x, f->at);
  for (int i = 0; i < n && !status; i++) {
    if (phi) phi[i] = f->at[i];
    if (inside) inside[i] = f->at[n + i] < -0.5;
  }
  return status;
}

/* Evaluates the velocity u and the potential phi of the panels at any points, and finds the points inside solids. u,
 * phi and inside may be NULL. */
static cb_status panels_at(cb_flow_about *f, int points, const double (*x)[3], double (*u)[3], double *phi,
                           bool *inside) {
  cb_status status = u ? cb_far_field_at(f->velocity, points, x, *u) : CB_OK;
  for (int first = 0; first < points && !status && (phi || inside); first += BATCH) {
    const int n = points - first < BATCH ? points - first : BATCH;
    status = find_potential(f, n, x + first, phi ? phi + first : NULL, inside ? inside + first : NULL);
  }
  return status;
}

/* Returns the face in whose layer x lies, or -1 if there is none. Sets the weights of its corners at the point nearest
 * to x, and the side on which x lies. */
static int layer_of(const cb_flow_about *f, const double x[3], double weight[3], int *side) {
  const int face = cb_far_panel(f->far, layer, x, weight);
  *side = 0;
  if (face < 0 || !f->sheet[face]) return face;
  const double *from = f->panels->corner[face][0], d[3] = {x[0] - from[0], x[1] - from[1], x[2] - from[2]};
  *side = cb_dot3(d, f->panels->normal[face]) < 0;
  return face;
}

/* The flow on the surface. Sheets have corners of their own, so that if a sheet ends on a solid, neither of them uses
 * the values of the other. */

/* A least-squares fit of a + b.y to values at points y of a plane through a corner. The plane is perpendicular to the
 * normal of the surface there. The result is a, or the mean of the values if the points do not determine a and b. */
typedef struct fit {
  double count, sum, y[2], yy[3], yf[2];
} fit;

static void fit_add(fit *s, double y, double z, double value) {
  s->count += 1;
  s->sum += value;
  s->y[0] += y;
  s->y[1] += z;
  s->yy[0] += y * y;
  s->yy[1] += y * z;
  s->yy[2] += z * z;
  s->yf[0] += y * value;
  s->yf[1] += z * value;
}

static double fit_value(const fit *s) {
  const double n = s->count, mean = s->sum / n, a = s->yy[0] - s->y[0] * s->y[0] / n,
               b = s->yy[1] - s->y[0] * s->y[1] / n, c = s->yy[2] - s->y[1] * s->y[1] / n, det = a * c - b * b;
  if (!(det > 1e-4 * (a + c) * (a + c))) return mean;
  const double p = s->yf[0] - s->y[0] * mean, q = s->yf[1] - s->y[1] * mean;
  return mean - ((c * p - b * q) * s->y[0] + (a * q - b * p) * s->y[1]) / (det * n);
}

static void plane_axes(const double n[3], double e[2][3]) {
  int least = 0;
  for (int k = 1; k < 3; k++)
    if (fabs(n[k]) < fabs(n[least])) least = k;
  double axis[3] = {0};
  axis[least] = 1;
  cb_cross3(n, axis, e[0]);
  const double size = sqrt(cb_dot3(e[0], e[0]));
  for (int k = 0; k < 3; k++) e[0][k] /= size;
  cb_cross3(n, e[0], e[1]);
}

/* Computes values out[corners][columns] at the corners from the values value[faces][columns] of the faces, by fits of
 * linear functions to the faces around each corner. */
static cb_status cb_field_fit(const cb_flow_about *f, const double (*x)[3], int columns, const double *value,
                              double *out) {
  const cb_panels *p = f->panels;
  double(*normal)[3] = calloc((size_t)f->corners, sizeof *normal);
  fit *sums = calloc((size_t)f->corners, sizeof *sums);
  if (!normal || !sums) {
    free(normal);
    free(sums);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the flow around %d faces", f->faces);
  }
  for (int i = 0; i < f->faces; i++)
    for (int c = 0; c < 3; c++)
      for (int k = 0; k < 3; k++) normal[f->corner[i][c]][k] += p->area[i] * p->normal[i][k];
  for (int v = 0; v < f->corners; v++) {
    const double size = sqrt(cb_dot3(normal[v], normal[v]));
    for (int k = 0; k < 3; k++) normal[v][k] = size > 0 ? normal[v][k] / size : k == 2;
  }
  for (int column = 0; column < columns; column++) {
    memset(sums, 0, (size_t)f->corners * sizeof *sums);
    for (int i = 0; i < 3 * f->faces; i++) {
      const int at = i / 3, v = f->corner[at][i % 3];
      const double *from = x[f->face[at][i % 3]],
                   d[3] = {p->centre[at][0] - from[0], p->centre[at][1] - from[1], p->centre[at][2] - from[2]};
      double e[2][3];
      plane_axes(normal[v], e);
      fit_add(&sums[v], cb_dot3(d, e[0]), cb_dot3(d, e[1]), value[at * columns + column]);
    }
    for (int v = 0; v < f->corners; v++) out[v * columns + column] = sums[v].count > 0 ? fit_value(&sums[v]) : 0;
  }
  free(normal);
  free(sums);
  return CB_OK;
}

/* Interpolates `columns` values from the corners of face i to the point with the barycentric coordinates weight[3]. */
static void interpolate(const cb_flow_about *f, int i, const double weight[3], int columns, const double *corner,
                        double *out) {
  const int *at = f->corner[i];
  for (int k = 0; k < columns; k++)
    out[k] = weight[0] * corner[at[0] * columns + k] + weight[1] * corner[at[1] * columns + k] +
             weight[2] * corner[at[2] * columns + k];
}

/* Computes (grad_s jump) × n of face i = sum_c strength_c (edge opposite corner c)/(2 A), for the corners c and the
 * area A. The vortices g of field.h are minus this vector. */
static void along_edges(const cb_flow_about *f, const double (*x)[3], int i, double along[3]) {
  memset(along, 0, 3 * sizeof *along);
  for (int c = 0; c < 3; c++) {
    const double *from = x[f->face[i][(c + 1) % 3]], *to = x[f->face[i][(c + 2) % 3]];
    for (int k = 0; k < 3; k++) along[k] += f->strength[f->corner[i][c]] * (to[k] - from[k]) / (2 * f->panels->area[i]);
  }
}

/* Computes the strengths of sources, dipoles and vortices from the normal velocities f->w and the jumps f->jump of
 * phi. */
static cb_status find_strengths(cb_flow_about *f, const double (*x)[3]) {
  const size_t n = (size_t)f->faces;
  const cb_status status = cb_field_fit(f, x, 1, f->jump, f->strength);
  for (int c = 0; c < f->corners; c++)
    if (f->border[c]) f->strength[c] = 0;
  for (int i = 0; i < f->faces && !status; i++) {
    const double *c = f->strength, mean = (c[f->corner[i][0]] + c[f->corner[i][1]] + c[f->corner[i][2]]) / 3;
    double along[3];
    along_edges(f, x, i, along);
    for (int k = 0; k < 3; k++) f->sigma[(size_t)k * n + (size_t)i] = -along[k];
    f->sigma[3 * n + (size_t)i] = f->sources[i] = f->sheet[i] ? 0 : -f->w[i];
    f->dipoles[i] = f->sheet[i] ? mean : f->jump[i];
    f->dipoles[n + (size_t)i] = !f->sheet[i];
  }
  return status;
}

/* Computes phi and u at the centres of sheets, as means of both sides. */
static cb_status find_means(cb_flow_about *f, double *phi, double (*u)[3]) {
  /* phi and u are evaluated at this distance from the sheet, in units of the square root of a face's area */
  static const double beside = 1e-3;
  const size_t n = (size_t)f->faces;
  double(*at)[3] = malloc(n * sizeof *at), *some = malloc(n * sizeof *some), (*some_u)[3] = malloc(n * sizeof *some_u);
  cb_status status = at && some && some_u ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for the flow on sheets");
  for (int side = 0; side < 2 && !status; side++) {
    int count = 0;
    for (int i = 0; i < f->faces; i++) {
      if (!f->sheet[i]) continue;
      const double by = (side ? -beside : beside) * sqrt(f->panels->area[i]);
      for (int k = 0; k < 3; k++) at[count][k] = f->panels->centre[i][k] + by * f->panels->normal[i][k];
      count++;
    }
    status = panels_at(f, count, (const double(*)[3])at, some_u, some, NULL);
    count = 0;
    for (int i = 0; i < f->faces && !status; i++) {
      if (!f->sheet[i]) continue;
      phi[i] += some[count] / 2;
      for (int k = 0; k < 3; k++) u[i][k] += some_u[count][k] / 2;
      count++;
    }
  }
  free(at);
  free(some);
  free(some_u);
  return status;
}

/* Sets u and phi on both sides of face i; for a sheet, side 0 first holds the means of both sides. The normal part of u
 * is the velocity of the surface. The tangential part of u is the gradient of phi on a solid. On a sheet it is the mean
 * of both sides plus or minus half the gradient of the jump. */
static void set_face(cb_flow_about *f, const double (*x)[3], int i) {
  const double *n = f->panels->normal[i], *mean = f->side[0].u[i], across = cb_dot3(mean, n);
  double along[3], slope[3], u[2][3];
  along_edges(f, x, i, along);
  cb_cross3(n, along, slope);
  for (int k = 0; k < 3; k++) {
    const double own = f->w[i] * n[k], rest = f->sheet[i] ? mean[k] - across * n[k] : 0, part = f->sheet[i] ? 0.5 : 1;
    u[0][k] = own + rest + part * slope[k];
    u[1][k] = f->sheet[i] ? own + rest - part * slope[k] : 0;
  }
  const double phi = f->side[0].phi[i];
  f->side[0].phi[i] = f->sheet[i] ? phi + f->jump[i] / 2 : f->jump[i];
  f->side[1].phi[i] = f->sheet[i] ? phi - f->jump[i] / 2 : 0;
  for (int s = 0; s < 2; s++) memcpy(f->side[s].u[i], u[s], sizeof u[s]);
}

/* Computes phi and u on both sides of the surface, at the faces and the corners, from the jump `strength` and the flow
 * that all panels cause. */
static cb_status find_sides(cb_flow_about *f, const double (*x)[3]) {
  field_side *own = f->side, *other = f->side + 1;
  cb_status status = CB_OK;
  const bool sheets = f->corners > f->vertices;
  if (sheets) status = find_means(f, own->phi, own->u);
  if (!status && sheets) status = cb_field_fit(f, x, 1, own->phi, own->corner_phi);
  for (int c = 0; c < f->corners && !status; c++) {
    const bool solid = c < f->vertices;
    const double mean = solid ? 0 : own->corner_phi[c];
    own->corner_phi[c] = mean + (solid ? 1 : 0.5) * f->strength[c];
    other->corner_phi[c] = solid ? 0 : mean - 0.5 * f->strength[c];
  }
  for (int i = 0; i < f->faces && !status; i++) set_face(f, x, i);
  for (int s = 0; s < (sheets ? 2 : 1) && !status; s++)
    status = cb_field_fit(f, x, 3, *f->side[s].u, *f->side[s].corner_u);
  return status;
}

/* --- the flow at points --- */

cb_status cb_field_at(cb_flow_about *f, int points, const double (*x)[3], double (*u)[3], double *phi, bool *inside) {
  const cb_status status = panels_at(f, points, x, u, phi, inside);
  for (int i = 0; i < points && !status; i++) {
    double weight[3];
    int side;
    const int face = layer_of(f, x[i], weight, &side);
    if (face < 0) continue;
    if (u) interpolate(f, face, weight, 3, *f->side[side].corner_u, u[i]);
    if (phi) interpolate(f, face, weight, 1, f->side[side].corner_phi, &phi[i]);
    if (inside && inside[i]) inside[i] = cb_far_panel(f->far, on_it, x[i], weight) < 0;
  }
  return status;
}

/* --- create and free --- */

/* Finds the faces that are sheets, and the corners where sheets end. */
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

static cb_status solve(cb_flow_about *f, const cb_field_bodies *bodies, double error) {
  const cb_kirchhoff_options options = {.far_error = error, .sheets = bodies->sheets};
  cb_kirchhoff *k = NULL;
  cb_status status = cb_kirchhoff_create(f->vertices, bodies->x, f->faces, (const int(*)[3])f->face, &options, &k);
  if (status) return status;
  for (int i = 0; i < f->faces; i++) {
    double v[3];
    for (int c = 0; c < 3; c++) v[c] = (f->v[f->face[i][0]][c] + f->v[f->face[i][1]][c] + f->v[f->face[i][2]][c]) / 3;
    for (int c = 0; c < 3 && bodies->incoming; c++) v[c] -= bodies->incoming[i][c];
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
  f->vertices = vertices;
  f->faces = faces;
  f->corners = (int)corners;
  f->face = cb_arena_alloc(f->arena, n, sizeof *f->face);
  f->corner = sheets ? cb_arena_alloc(f->arena, n, sizeof *f->corner) : f->face;
  f->sheet = cb_arena_alloc(f->arena, n, sizeof *f->sheet);
  f->border = cb_arena_alloc(f->arena, corners, sizeof *f->border);
  f->v = cb_arena_alloc(f->arena, (size_t)vertices, sizeof *f->v);
  for (int s = 0; s < 2; s++) {
    field_side *side = f->side + s;
    side->u = cb_arena_alloc(f->arena, n, sizeof *side->u);
    side->corner_u = cb_arena_alloc(f->arena, corners, sizeof *side->corner_u);
    cb_arena_doubles(f->arena, n, &side->phi);
    cb_arena_doubles(f->arena, corners, &side->corner_phi);
  }
  cb_arena_doubles(f->arena, n, &f->w, &f->jump);
  cb_arena_doubles(f->arena, corners, &f->strength);
  cb_arena_doubles(f->arena, 2 * n, &f->dipoles);
  cb_arena_doubles(f->arena, 2 * n, &f->sources);
  cb_arena_doubles(f->arena, FIELD_COLUMNS * n, &f->sigma);
  cb_arena_doubles(f->arena, 2 * BATCH, &f->at);
  return cb_arena_lost(f->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for the flow around %d faces", faces) : CB_OK;
}

cb_status cb_field_create(const cb_field_bodies *bodies, double error, cb_flow_about **out) {
  const double far_error = error > 0 ? error : 1e-6, (*x)[3] = bodies->x;
  const int vertices = bodies->vertices, faces = bodies->faces;
  cb_flow_about *f = cb_arena_object(sizeof *f, "the flow around a body");
  if (!f) return CB_ERROR_MEMORY;
  cb_status status = take(f, vertices, faces, bodies->sheets);
  if (!status) status = cb_panels_create(faces, x, bodies->face, &f->panels);
  if (!status) {
    memcpy(f->face, bodies->face, (size_t)faces * sizeof *f->face);
    memcpy(f->v, bodies->v, (size_t)vertices * sizeof *f->v);
    if (bodies->sheets) status = find_sheets(f, x);
  }
  if (!status) status = solve(f, bodies, far_error);
  if (!status) status = find_strengths(f, x);
  if (!status) status = cb_far_create(f->panels, far_error, &f->far);
  if (!status) status = cb_far_field_create(f->far, CB_FAR_VELOCITY, FIELD_COLUMNS, f->sigma, NULL, &f->velocity);
  if (!status) status = cb_far_field_create(f->far, CB_FAR_POTENTIAL, 2, f->sources, f->dipoles, &f->potential);
  if (!status) status = find_sides(f, x);
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

/* --- pressure, by differences of the potential in time --- */

static const double centre[3] = {1. / 3, 1. / 3, 1. / 3};

/* Sets c to the velocity of the point of a face that has the barycentric coordinates weight[3]. */
static void carried(const cb_flow_about *f, int face, const double weight[3], double c[3]) {
  for (int k = 0; k < 3; k++) {
    c[k] = 0;
    for (int j = 0; j < 3; j++) c[k] += weight[j] * f->v[f->face[face][j]][k];
  }
}

static double bernoulli(double before, double after, double h, const double c[3], const double u[3]) {
  return -((after - before) / (2 * h) - cb_dot3(c, u) + cb_dot3(u, u) / 2);
}

/* Returns the pressure at a point that moves with the surface. */
static double surface_pressure(cb_flow_about *const f[3], double h, int face, int side, const double weight[3],
                               const double u[3]) {
  double before, after, c[3];
  interpolate(f[0], face, weight, 1, f[0]->side[side].corner_phi, &before);
  interpolate(f[2], face, weight, 1, f[2]->side[side].corner_phi, &after);
  carried(f[1], face, weight, c);
  return bernoulli(before, after, h, c, u);
}

cb_status cb_field_pressure(cb_flow_about *const f[3], double h, int points, const double (*x)[3], const double (*c)[3],
                            const double (*u)[3], double *p) {
  double(*moved)[3] = malloc((size_t)points * sizeof *moved), *after = malloc((size_t)points * sizeof *after);
  cb_status status =
      moved && after ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for the pressure at %d points", points);
  for (int side = 0; side < 2 && !status; side++) {
    for (int i = 0; i < points; i++)
      for (int k = 0; k < 3; k++) moved[i][k] = x[i][k] + (side ? h : -h) * c[i][k];
    status = panels_at(f[side ? 2 : 0], points, (const double(*)[3])moved, NULL, side ? after : p, NULL);
  }
  for (int i = 0; i < points && !status; i++) {
    double weight[3];
    int side;
    const int face = layer_of(f[1], x[i], weight, &side);
    p[i] = face < 0 ? bernoulli(p[i], after[i], h, c[i], u[i]) : surface_pressure(f, h, face, side, weight, u[i]);
  }
  free(moved);
  free(after);
  return status;
}

void cb_field_face_pressure(cb_flow_about *const f[3], double h, int side, double *p) {
  for (int i = 0; i < f[1]->faces; i++) {
    double c[3];
    carried(f[1], i, centre, c);
    p[i] = side && !f[1]->sheet[i]
               ? 0
               : bernoulli(f[0]->side[side].phi[i], f[2]->side[side].phi[i], h, c, f[1]->side[side].u[i]);
  }
}
