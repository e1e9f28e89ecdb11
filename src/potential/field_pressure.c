/* Pressure by differences of the potential in time. */
#include "potential/field.h"

#include "numerics/vec3.h"

#include <stdlib.h>
#include <string.h>

static const double centre[3] = {1. / 3, 1. / 3, 1. / 3};

/* The velocity of the surface's own point. */
static void carried(const cb_flow_about *f, int face, const double weight[3], double c[3]) {
  for (int k = 0; k < 3; k++) {
    c[k] = 0;
    for (int j = 0; j < 3; j++) c[k] += weight[j] * f->v[f->face[face][j]][k];
  }
}

static double bernoulli(double before, double after, double h, const double c[3], const double u[3]) {
  return -((after - before) / (2 * h) - cb_dot3(c, u) + cb_dot3(u, u) / 2);
}

/* Of the point that moves with the surface. */
static double surface_pressure(cb_flow_about *const f[3], double h, int face, int side, const double weight[3],
                               const double u[3]) {
  double before, after, c[3];
  cb_field_interpolate(f[0], face, weight, 1, f[0]->side[side].corner_phi, &before);
  cb_field_interpolate(f[2], face, weight, 1, f[2]->side[side].corner_phi, &after);
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
    status = cb_field_of_panels(f[side ? 2 : 0], points, (const double(*)[3])moved, NULL, side ? after : p, NULL);
  }
  for (int i = 0; i < points && !status; i++) {
    double weight[3];
    int side;
    const int face = cb_field_layer(f[1], x[i], weight, &side);
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
