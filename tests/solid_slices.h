/* The mass and moment of the medium that a closed surface displaces, computed by slices. The medium consists of layers
 * or is an atmosphere (medium.h). The mass is int rho(h) S(h) dh, where rho is the density at the height h along `up`,
 * and S is the area of the section at this height. The components of the moment across `up` are integrals of rho times
 * the first moments of the section; the component along `up` is the integral of S(h) int_0^h rho over h. */
#pragma once

#include "medium.h"
#include "solid.h"

#include <gsl/gsl_integration.h>

/* Computes a right-handed orthonormal frame e whose last vector is `up`. */
static inline void frame_of(const double up[3], double e[3][3]) {
  const double axis[3] = {fabs(up[0]) < 0.6, fabs(up[0]) >= 0.6, 0};
  cb_cross3(axis, up, e[0]);
  const double size = sqrt(cb_dot3(e[0], e[0]));
  for (int i = 0; i < 3; i++) {
    e[0][i] /= size;
    e[2][i] = up[i];
  }
  cb_cross3(up, e[0], e[1]);
}

static inline int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Computes the area of the section of n triangles at the height h, and its two first moments. The corners y are in the
 * frame of frame_of. */
static inline void section(int n, const double (*y)[3][3], double h, double out[3]) {
  memset(out, 0, 3 * sizeof *out);
  for (int f = 0; f < n; f++) {
    double p[2][2], e1[2], e2[2];
    int points = 0;
    for (int k = 0; k < 3; k++) {
      const double *a = y[f][k], *b = y[f][(k + 1) % 3];
      if ((a[2] < h) == (b[2] < h)) continue;
      const double t = (h - a[2]) / (b[2] - a[2]);
      for (int i = 0; i < 2; i++) p[points][i] = a[i] + t * (b[i] - a[i]);
      points++;
    }
    if (points < 2) continue;
    /* the border of the section runs in the direction up × n, where n is the normal of the triangle */
    double normal[3];
    cb_normal3(y[f][0], y[f][1], y[f][2], normal);
    const bool forward = (p[1][0] - p[0][0]) * -normal[1] + (p[1][1] - p[0][1]) * normal[0] > 0;
    memcpy(e1, p[!forward], sizeof e1);
    memcpy(e2, p[forward], sizeof e2);
    const double twice = e1[0] * e2[1] - e1[1] * e2[0];
    out[0] += twice / 2;
    for (int i = 0; i < 2; i++) out[1 + i] += twice * (e1[i] + e2[i]) / 6;
  }
}

static inline displaced by_slices(const strata *s, const solid *b) {
  double e[3][3], *height = malloc(sizeof *height * (size_t)(3 * b->n + s->n));
  double(*y)[3][3] = malloc(sizeof *y * (size_t)b->n);
  frame_of(s->up, e);
  for (int f = 0; f < b->n; f++)
    for (int k = 0; k < 3; k++) {
      cb_apply3((const double(*)[3])e, b->corner[f][k], y[f][k]);
      height[3 * f + k] = y[f][k][2];
    }
  memcpy(height + 3 * b->n, s->level, sizeof *height * (size_t)s->n);
  const int heights = 3 * b->n + s->n;
  qsort(height, (size_t)heights, sizeof *height, ascending);
  gsl_integration_glfixed_table *gauss = gsl_integration_glfixed_table_alloc(s->scale > 0 ? 4 : 2);
  double mass = 0, first[3] = {0};
  for (int i = 0; i + 1 < heights; i++)
    for (size_t q = 0; q < gauss->n && height[i + 1] > height[i]; q++) {
      double h, w, cut[3];
      gsl_integration_glfixed_point(height[i], height[i + 1], q, &h, &w, gauss);
      section(b->n, (const double(*)[3][3])y, h, cut);
      mass += w * rho_of(s, h) * cut[0];
      for (int k = 0; k < 2; k++) first[k] += w * rho_of(s, h) * cut[1 + k];
      first[2] += w * column_of(s, h) * cut[0];
    }
  gsl_integration_glfixed_table_free(gauss);
  free(height);
  free(y);
  displaced d = {.mass = mass};
  cb_apply3_transposed((const double(*)[3])e, first, d.moment);
  return d;
}
