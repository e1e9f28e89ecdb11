/* Faces of a body in a curved space that move with its shape: how much volume they sweep, and the local model's energy.
 *
 *   y = sum l_c y_c/q, q = sqrt(w^2 + K |x|^2) of the sum: the point of a geodesic face at shares l of its corners
 *   s = <u, n> = sum l_c (nu . u_c + nu_w u_cw)/q,  u_c the velocities of the corners (y moves with them: exact where
 *   they move by an isometry);  dA = N/q^3 dl  (numerics/curved.h for nu and N)
 *   volume: V' = int s dA;  Q_f,i = sum over parts rho delta int m s_i dA, R_f,ij = sum rho delta int s_i s_j dA,
 *   s_i less its mean over a closed part
 * Integrals by the rule of degree 5 of numerics/curved.h. Derived here.
 */
#include "fluid/immersed_bundle_private.h"

#include "numerics/curved.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

enum { SHAPES = CB_SHAPE_SURFACE_VARIABLES, POINTS = CB_CURVED_POINTS };

/* What a body's volume may change by, of what its surface sweeps: faces follow a smooth motion that keeps it only to
 * their own error. */
static const double tolerance = 1e-3;

typedef struct sample {
  double weight, share[3], m[6]; /* dA, l_c/q, the flux of twists */
} sample;

/* The face's points, and s_i at them. */
static void move_face(const cb_shape_surface *shape, int f, const double (*x)[3], const double (*dx)[3],
                      sample point[POINTS], double (*s)[POINTS]) {
  const cb_surface *surface = shape->surface;
  const double K = surface->curvature;
  const int *corner = surface->face[f];
  double y[3][4], plane[4];
  for (int c = 0; c < 3; c++) cb_curved_point(K, x[corner[c]], y[c]);
  const double norm = cb_curved_plane(K, y[0], y[1], y[2], plane);
  for (int k = 0; k < POINTS; k++) {
    double at[4];
    const double square = cb_curved_node(K, (const double(*)[4])y, k, at), q = sqrt(square);
    point[k].weight = cb_curved_rule[k][3] * norm / (2 * square * q);
    for (int c = 0; c < 3; c++) point[k].share[c] = cb_curved_rule[k][c] / q;
    cb_curved_flux(K, plane, at, point[k].m);
  }
  for (int i = 0; i < shape->n; i++) {
    double normal[3];
    for (int c = 0; c < 3; c++) {
      double u[4];
      cb_curved_velocity(K, x[corner[c]], dx[i * surface->vertices + corner[c]], u);
      normal[c] = cb_dot3(plane, u) + plane[3] * u[3];
    }
    for (int k = 0; k < POINTS; k++) s[i][k] = cb_dot3(point[k].share, normal);
  }
}

cb_status cb_immersed_check_volume(const cb_immersed_energy *e, const double (*x)[3], const double (*dx)[3]) {
  const cb_shape_surface *shape = e->shape;
  double grows[SHAPES] = {0}, swept[SHAPES] = {0}, s[SHAPES][POINTS];
  sample point[POINTS];
  if (!(shape->surface->curvature > 0)) return CB_OK;
  for (int f = 0; f < shape->surface->faces; f++) {
    move_face(shape, f, x, dx, point, s);
    for (int i = 0; i < shape->n; i++)
      for (int k = 0; k < POINTS; k++) {
        grows[i] += point[k].weight * s[i][k];
        swept[i] += point[k].weight * fabs(s[i][k]);
      }
  }
  for (int i = 0; i < shape->n; i++)
    if (fabs(grows[i]) > tolerance * swept[i])
      return cb_fail(CB_STEP_DOMAIN,
                     "the volume changes by %.3g m^3 a unit of %s, %.3g of what the surface sweeps: expected a shape "
                     "that keeps it, for the fluid fills the sphere and gives no way",
                     grows[i], shape->name[i], grows[i] / swept[i]);
  return CB_OK;
}

void cb_immersed_add_fluid(const cb_immersed_energy *e, const cb_local_part *part, const double (*x)[3],
                           const double (*dx)[3], double *area, double (*mean)[SHAPES],
                           double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM]) {
  const cb_surface *surface = e->shape->surface;
  const int n = e->shape->n;
  double s[SHAPES][POINTS];
  sample point[POINTS];
  memset(area, 0, (size_t)surface->parts * sizeof *area);
  memset(mean, 0, (size_t)surface->parts * sizeof *mean);
  for (int f = 0; f < surface->faces; f++) {
    const int p = surface->part[f];
    move_face(e->shape, f, x, dx, point, s);
    for (int k = 0; k < POINTS; k++) {
      area[p] += point[k].weight;
      for (int i = 0; i < n; i++) mean[p][i] += point[k].weight * s[i][k];
    }
  }
  for (int p = 0; p < surface->parts; p++)
    for (int i = 0; i < n && area[p] > 0; i++) mean[p][i] /= area[p];
  for (int f = 0; f < surface->faces; f++) {
    const int p = surface->part[f];
    move_face(e->shape, f, x, dx, point, s);
    const double factor = e->density * part[p].delta;
    for (int i = 0; i < n; i++) {
      for (int a = 0; a < 6; a++) {
        double own = 0;
        for (int k = 0; k < POINTS; k++) own += point[k].weight * point[k].m[a] * (s[i][k] - mean[p][i]);
        G[a][6 + i] += factor * own;
        G[6 + i][a] += factor * own;
      }
      for (int j = 0; j <= i; j++) {
        double own = 0;
        for (int k = 0; k < POINTS; k++) own += point[k].weight * (s[i][k] - mean[p][i]) * (s[j][k] - mean[p][j]);
        G[6 + i][6 + j] += factor * own;
        if (j < i) G[6 + j][6 + i] += factor * own;
      }
    }
  }
}
