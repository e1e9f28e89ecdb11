/* Columns of sources: the three parts of g, whose potential A has u = rot A, and -w. */
#include "potential/field.h"

#include "core/arena.h"
#include "numerics/vec3.h"
#include "potential/far.h"
#include "potential/kirchhoff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHEETS = 4, BATCH = 4096 };
/* Of the root of a face's area: where the edges' logarithms are no worse than the fit; what is on the surface. */
static const double layer = 0.1, on_it = 1e-6;
static const double centre[3] = {1. / 3, 1. / 3, 1. / 3};

struct cb_field {
  cb_arena *arena;
  int vertices, faces;
  cb_panels *panels;
  cb_far *far;
  int (*face)[3];
  double *w, *phi, (*u)[3];                /* of faces */
  double *corner, (*corner_u)[3], (*v)[3]; /* of vertices: phi and u, and the surface's velocity */
  double *sigma;                           /* [SHEETS][faces] */
  double *sources, *dipoles;               /* [2][faces]: of phi, and of a dipole sheet of 1 */
  cb_far_field *velocity, *potential;      /* of these */
  double *at;                              /* [2][BATCH] */
};

/* --- on the surface --- */

/* The value at the origin of the plane a + b.y fitted to values at points y of the plane across n, by least squares;
 * their mean where they do not say. */
typedef struct fit {
  double count, sum, y[2], yy[3], yf[2];
} fit;

static void fit_add(fit *s, double y, double z, double value) {
  s->count += 1, s->sum += value;
  s->y[0] += y, s->y[1] += z;
  s->yy[0] += y * y, s->yy[1] += y * z, s->yy[2] += z * z;
  s->yf[0] += y * value, s->yf[1] += z * value;
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

/* Columns of values of faces to those at their corners. */
static cb_status fit_corners(const cb_field *f, const double (*x)[3], int columns, const double *value, double *out) {
  const cb_panels *p = f->panels;
  double(*normal)[3] = calloc((size_t)f->vertices, sizeof *normal);
  fit *sums = calloc((size_t)f->vertices, sizeof *sums);
  if (!normal || !sums) {
    free(normal);
    free(sums);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the flow about %d faces", f->faces);
  }
  for (int i = 0; i < f->faces; i++)
    for (int c = 0; c < 3; c++)
      for (int k = 0; k < 3; k++) normal[f->face[i][c]][k] += p->area[i] * p->normal[i][k];
  for (int v = 0; v < f->vertices; v++) {
    const double size = sqrt(cb_dot3(normal[v], normal[v]));
    for (int k = 0; k < 3; k++) normal[v][k] = size > 0 ? normal[v][k] / size : k == 2;
  }
  for (int column = 0; column < columns; column++) {
    memset(sums, 0, (size_t)f->vertices * sizeof *sums);
    for (int i = 0; i < 3 * f->faces; i++) {
      const int at = i / 3, v = f->face[at][i % 3];
      const double d[3] = {p->centre[at][0] - x[v][0], p->centre[at][1] - x[v][1], p->centre[at][2] - x[v][2]};
      double e[2][3];
      plane_axes(normal[v], e);
      fit_add(&sums[v], cb_dot3(d, e[0]), cb_dot3(d, e[1]), value[at * columns + column]);
    }
    for (int v = 0; v < f->vertices; v++) out[v * columns + column] = sums[v].count > 0 ? fit_value(&sums[v]) : 0;
  }
  free(normal);
  free(sums);
  return CB_OK;
}

/* grad_s phi = sum_c phi_c n × (edge against c)/(2 A): n × it is the sheet's strength. */
static void set_sheets(cb_field *f, const double (*x)[3]) {
  const cb_panels *p = f->panels;
  const int(*face)[3] = (const int(*)[3])f->face;
  const size_t n = (size_t)f->faces;
  for (int i = 0; i < f->faces; i++) {
    double along[3] = {0}, slope[3];
    for (int c = 0; c < 3; c++) {
      const double *from = x[face[i][(c + 1) % 3]], *to = x[face[i][(c + 2) % 3]];
      for (int k = 0; k < 3; k++) along[k] += f->corner[face[i][c]] * (to[k] - from[k]) / (2 * p->area[i]);
    }
    cb_cross3(p->normal[i], along, slope);
    for (int k = 0; k < 3; k++) {
      f->u[i][k] = slope[k] + f->w[i] * p->normal[i][k];
      f->sigma[(size_t)k * n + (size_t)i] = -along[k];
    }
    f->sigma[3 * n + (size_t)i] = f->sources[i] = -f->w[i];
    f->dipoles[i] = f->phi[i];
    f->dipoles[n + (size_t)i] = 1;
  }
}

/* Columns of values of corners at the point of face i where their weights are these. */
static void interpolate(const cb_field *f, int i, const double weight[3], int columns, const double *corner,
                        double *out) {
  const int *face = f->face[i];
  for (int k = 0; k < columns; k++)
    out[k] = weight[0] * corner[face[0] * columns + k] + weight[1] * corner[face[1] * columns + k] +
             weight[2] * corner[face[2] * columns + k];
}

static cb_status solve(cb_field *f, const double (*x)[3], double error) {
  const cb_kirchhoff_options options = {.far_error = error};
  cb_kirchhoff *k = NULL;
  cb_status status = cb_kirchhoff_create(f->vertices, x, f->faces, (const int(*)[3])f->face, &options, &k);
  if (status) return status;
  for (int i = 0; i < f->faces; i++) {
    double v[3];
    interpolate(f, i, centre, 3, *f->v, v);
    f->w[i] = cb_dot3(v, f->panels->normal[i]);
  }
  status = cb_kirchhoff_solve(k, 1, f->w, f->phi);
  const bool *reached = cb_kirchhoff_reached(k);
  for (int i = 0; i < f->faces; i++)
    if (!reached[i]) f->w[i] = 0;
  cb_kirchhoff_free(k);
  return status;
}

/* --- life --- */

cb_status cb_field_create(int vertices, const double (*x)[3], const double (*v)[3], int faces, const int (*face)[3],
                          double error, cb_field **out) {
  const double far_error = error > 0 ? error : 1e-6;
  const size_t n = (size_t)faces;
  cb_field *f = cb_arena_object(sizeof *f, "the flow about a body");
  if (!f) return CB_ERROR_MEMORY;
  f->vertices = vertices, f->faces = faces;
  f->u = cb_arena_alloc(f->arena, n, sizeof *f->u);
  f->face = cb_arena_alloc(f->arena, n, sizeof *f->face);
  f->v = cb_arena_alloc(f->arena, (size_t)vertices, sizeof *f->v);
  f->corner_u = cb_arena_alloc(f->arena, (size_t)vertices, sizeof *f->corner_u);
  cb_arena_doubles(f->arena, n, &f->w, &f->phi);
  cb_arena_doubles(f->arena, 2 * n, &f->sources, &f->dipoles);
  cb_arena_doubles(f->arena, SHEETS * n, &f->sigma);
  cb_arena_doubles(f->arena, (size_t)vertices, &f->corner);
  cb_arena_doubles(f->arena, 2 * BATCH, &f->at);
  cb_status status = CB_OK;
  if (cb_arena_lost(f->arena)) status = cb_fail(CB_ERROR_MEMORY, "no memory for the flow about %d faces", faces);
  if (!status) status = cb_panels_create(faces, x, face, &f->panels);
  if (!status) {
    memcpy(f->face, face, n * sizeof *face);
    memcpy(f->v, v, (size_t)vertices * sizeof *v);
    status = solve(f, x, far_error);
  }
  if (!status) status = fit_corners(f, x, 1, f->phi, f->corner);
  if (!status) set_sheets(f, x);
  if (!status) status = fit_corners(f, x, 3, *f->u, *f->corner_u);
  if (!status) status = cb_far_create(f->panels, far_error, &f->far);
  if (!status) status = cb_far_field_create(f->far, CB_FAR_VELOCITY, SHEETS, f->sigma, NULL, &f->velocity);
  if (!status) status = cb_far_field_create(f->far, CB_FAR_POTENTIAL, 2, f->sources, f->dipoles, &f->potential);
  if (status) {
    cb_field_free(f);
    return status;
  }
  *out = f;
  return CB_OK;
}

void cb_field_free(cb_field *f) {
  if (!f) return;
  cb_far_field_free(f->velocity);
  cb_far_field_free(f->potential);
  cb_far_free(f->far);
  cb_panels_free(f->panels);
  cb_arena_free(f->arena);
}

const double *cb_field_face_phi(const cb_field *f) { return f->phi; }
const double (*cb_field_face_u(const cb_field *f))[3] { return (const double(*)[3])f->u; }

double cb_field_kinetic(const cb_field *f) {
  double sum = 0;
  for (int i = 0; i < f->faces; i++) sum -= f->phi[i] * f->w[i] * f->panels->area[i] / 2;
  return sum;
}

/* --- at points --- */

static cb_status find_potential(cb_field *f, int n, const double (*x)[3], double *phi, bool *inside) {
  const cb_status status = cb_far_field_at(f->potential, n, x, f->at);
  for (int i = 0; i < n && !status; i++) {
    if (phi) phi[i] = f->at[i];
    if (inside) inside[i] = f->at[n + i] < -0.5;
  }
  return status;
}

/* By the panels, wherever the points are. */
static cb_status panels_at(cb_field *f, int points, const double (*x)[3], double (*u)[3], double *phi, bool *inside) {
  cb_status status = u ? cb_far_field_at(f->velocity, points, x, *u) : CB_OK;
  for (int first = 0; first < points && !status && (phi || inside); first += BATCH) {
    const int n = points - first < BATCH ? points - first : BATCH;
    status = find_potential(f, n, x + first, phi ? phi + first : NULL, inside ? inside + first : NULL);
  }
  return status;
}

cb_status cb_field_at(cb_field *f, int points, const double (*x)[3], double (*u)[3], double *phi, bool *inside) {
  const cb_status status = panels_at(f, points, x, u, phi, inside);
  for (int i = 0; i < points && !status; i++) {
    double weight[3];
    const int face = cb_far_panel(f->far, layer, x[i], weight);
    if (face < 0) continue;
    if (u) interpolate(f, face, weight, 3, *f->corner_u, u[i]);
    if (phi) interpolate(f, face, weight, 1, f->corner, &phi[i]);
    if (inside && inside[i]) inside[i] = cb_far_panel(f->far, on_it, x[i], weight) < 0;
  }
  return status;
}

/* --- pressure --- */

static double bernoulli(double before, double after, double h, const double c[3], const double u[3]) {
  return -((after - before) / (2 * h) - cb_dot3(c, u) + cb_dot3(u, u) / 2);
}

/* Of the point that moves with the surface. */
static double surface_pressure(cb_field *const f[3], double h, int face, const double weight[3], const double u[3]) {
  double before, after, c[3];
  interpolate(f[0], face, weight, 1, f[0]->corner, &before);
  interpolate(f[2], face, weight, 1, f[2]->corner, &after);
  interpolate(f[1], face, weight, 3, *f[1]->v, c);
  return bernoulli(before, after, h, c, u);
}

cb_status cb_field_pressure(cb_field *const f[3], double h, int points, const double (*x)[3], const double (*c)[3],
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
    const int face = cb_far_panel(f[1]->far, layer, x[i], weight);
    p[i] = face < 0 ? bernoulli(p[i], after[i], h, c[i], u[i]) : surface_pressure(f, h, face, weight, u[i]);
  }
  free(moved);
  free(after);
  return status;
}

void cb_field_face_pressure(cb_field *const f[3], double h, double *p) {
  for (int i = 0; i < f[1]->faces; i++) {
    double c[3];
    interpolate(f[1], i, centre, 3, *f[1]->v, c);
    p[i] = bernoulli(f[0]->phi[i], f[2]->phi[i], h, c, f[1]->u[i]);
  }
}
