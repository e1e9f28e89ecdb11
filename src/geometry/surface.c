/* See surface.h. */
#include "geometry/surface.h"

#include <math.h>

/* Derivatives of X: x[k][l][a] is k times by u, l times by v, where k + l <= 3. */
typedef double partials[4][4][3];

static void differentiate(double u, const cb_profile b, partials x) {
  const double c = cos(u), s = sin(u);
  const double a[4][3] = {{c, s, 1}, {-s, c, 0}, {-c, -s, 0}, {s, -c, 0}};
  for (int k = 0; k < 4; k++)
    for (int l = 0; k + l < 4; l++)
      for (int i = 0; i < 3; i++) x[k][l][i] = a[k][i] * b[l][i];
}

/* The product of the derivatives of X by coordinates i, k, m and by j, l, n; 0: u, 1: v, -1: none. */
static double product(const partials x, int i, int k, int m, int j, int l, int n) {
  const double *y = x[(i == 0) + (k == 0) + (m == 0)][(i == 1) + (k == 1) + (m == 1)];
  const double *z = x[(j == 0) + (l == 0) + (n == 0)][(j == 1) + (l == 1) + (n == 1)];
  return y[0] * z[0] + y[1] * z[1] + y[2] * z[2];
}

void cb_surface_metric(double u, const cb_profile b, double *gij, double *dg, double *ddg) {
  partials x;
  differentiate(u, b, x);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      gij[i * 2 + j] = product(x, i, -1, -1, j, -1, -1);
      for (int l = 0; dg && l < 2; l++)
        dg[(l * 2 + i) * 2 + j] = product(x, i, l, -1, j, -1, -1) + product(x, i, -1, -1, j, l, -1);
      for (int l = 0; ddg && l < 2; l++)
        for (int m = 0; m < 2; m++)
          ddg[((m * 2 + l) * 2 + i) * 2 + j] = product(x, i, l, m, j, -1, -1) + product(x, i, l, -1, j, m, -1) +
                                               product(x, i, m, -1, j, l, -1) + product(x, i, -1, -1, j, l, m);
    }
}

void cb_surface_picture(double u, const cb_profile b, double *x, double *jacobian) {
  partials d;
  differentiate(u, b, d);
  for (int a = 0; a < 3; a++) {
    x[a] = d[0][0][a];
    jacobian[a * 2] = d[1][0][a];
    jacobian[a * 2 + 1] = d[0][1][a];
  }
}

const char *const cb_surface_rotation_names[] = {"rotation_z", NULL};

void cb_surface_rotation(const cb_geometry *g, int index, const double *q, double *x) {
  (void)g, (void)index, (void)q;
  x[0] = 1;
  x[1] = 0;
}
