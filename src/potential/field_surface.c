/* The flow on the surface. Sheets have corners of their own, so that where one ends on a solid neither takes the other's
 * values. */
#include "potential/field.h"

#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Values [faces][columns] of faces to [corners][columns] of the corners, fitted. */
static cb_status cb_field_fit(const cb_flow_about *f, const double (*x)[3], int columns, const double *value, double *out) {
  const cb_panels *p = f->panels;
  double(*normal)[3] = calloc((size_t)f->corners, sizeof *normal);
  fit *sums = calloc((size_t)f->corners, sizeof *sums);
  if (!normal || !sums) {
    free(normal);
    free(sums);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the flow about %d faces", f->faces);
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

void cb_field_interpolate(const cb_flow_about *f, int i, const double weight[3], int columns, const double *corner,
                          double *out) {
  const int *at = f->corner[i];
  for (int k = 0; k < columns; k++)
    out[k] = weight[0] * corner[at[0] * columns + k] + weight[1] * corner[at[1] * columns + k] +
             weight[2] * corner[at[2] * columns + k];
}

/* n × grad_s of the jump = sum_c strength_c (edge against c)/(2 A), against which the vortices run */
static void along_edges(const cb_flow_about *f, const double (*x)[3], int i, double along[3]) {
  memset(along, 0, 3 * sizeof *along);
  for (int c = 0; c < 3; c++) {
    const double *from = x[f->face[i][(c + 1) % 3]], *to = x[f->face[i][(c + 2) % 3]];
    for (int k = 0; k < 3; k++)
      along[k] += f->strength[f->corner[i][c]] * (to[k] - from[k]) / (2 * f->panels->area[i]);
  }
}

cb_status cb_field_spread(cb_flow_about *f, const double (*x)[3]) {
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

/* What is the mean of both sides at the centres of sheets: phi, and u. */
static cb_status find_means(cb_flow_about *f, double *phi, double (*u)[3]) {
  static const double beside = 1e-3; /* of the root of a face's area */
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
    status = cb_field_of_panels(f, count, (const double(*)[3])at, some_u, some, NULL);
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

/* On a face: what the mean along it and the step of phi, half to each side, leave, with the surface's own velocity. */
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

cb_status cb_field_sides(cb_flow_about *f, const double (*x)[3]) {
  cb_field_side *own = f->side, *other = f->side + 1;
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
