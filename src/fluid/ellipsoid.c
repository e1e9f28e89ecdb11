/* See fluid/ellipsoid.h. */
#include "fluid/ellipsoid.h"

#include "numerics/vec3.h"

#include <gsl/gsl_sf_ellint.h>
#include <math.h>
#include <stdlib.h>

/* --- the fluid that moves along --- */

/* Kronrod's nodes and weights on [0, 1], to as many decimals as MuJoCo has; the others by symmetry. */
static const double node[8] = {0.00427231, 0.02544604, 0.06756779, 0.12923441, 0.20695638, 0.29707742, 0.39610752, 0.5},
                    weight[8] = {0.01146766, 0.03154605, 0.05239501, 0.07032663,
                                 0.08450236, 0.09517529, 0.10221647, 0.10474107};

static double by_kronrod(double a, double b, double c) {
  const double scale = pow(a * a * a * b * c, 0.4);
  double sum = 0;
  for (int i = 0; i < 15; i++) {
    const int k = i < 8 ? i : 14 - i;
    const double x = i < 8 ? node[k] : 1 - node[k], y = 1 - x, l = scale * x * x * x / (y * y),
                 dl = scale * x * x * (3 - x) / (y * y * y);
    sum += weight[k] * dl / ((a * a + l) * sqrt((a * a + l) * (b * b + l) * (c * c + l)));
  }
  return a * b * c * sum;
}

void cb_ellipsoid_kappa(const double r[3], cb_ellipsoid_rule rule, double kappa[3]) {
  for (int i = 0; i < 3; i++) {
    const double a = r[i], b = r[(i + 1) % 3], c = r[(i + 2) % 3];
    kappa[i] = rule == CB_ELLIPSOID_MUJOCO
                   ? by_kronrod(a, b, c)
                   : 2.0 / 3 * a * b * c * gsl_sf_ellint_RD(b * b, c * c, a * a, GSL_PREC_DOUBLE);
  }
}

void cb_ellipsoid_finish(cb_ellipsoid *e, cb_ellipsoid_rule rule) {
  const double *r = e->r, low = fmin(r[0], fmin(r[1], r[2])), high = fmax(r[0], fmax(r[1], r[2])),
               middle = fmax(fmin(r[0], r[1]), fmin(fmax(r[0], r[1]), r[2]));
  double kappa[3];
  cb_ellipsoid_kappa(r, rule, kappa);
  e->volume = 4 * M_PI / 3 * r[0] * r[1] * r[2];
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double d = r[j] * r[j] - r[k] * r[k], s = r[j] * r[j] + r[k] * r[k], across = kappa[k] - kappa[j],
                 /* with sum kappa = 2, without cancellation for thin bodies, which the rule has */
        rest = rule == CB_ELLIPSOID_MUJOCO ? 2 - kappa[i] : kappa[j] + kappa[k],
                 below = rule == CB_ELLIPSOID_MUJOCO
                             ? 2 * d - s * across
                             : d * kappa[i] + 2 * (r[j] * r[j] * kappa[j] - r[k] * r[k] * kappa[k]);
    e->mass[i] = e->volume * kappa[i] / rest;
    const double side = r[j] * r[k], wide = fmax(r[j], r[k]);
    e->side2[i] = side * side;
    e->chord[i] = 4 * M_PI / 3 * r[i] * wide * wide;
    e->spin[i] = 8 * M_PI / 15 * r[i] * (wide * wide) * (wide * wide);
    e->inertia[i] = d != 0 ? e->volume / 5 * d * d * across / below : 0;
  }
  e->greatest = M_PI * high * middle;
  e->spun = 8 * M_PI / 15 * middle * pow(high, 4);
  e->stokes = (low + middle + high) / 3;
}

void cb_ellipsoid_mass(const cb_ellipsoid *e, double K[6][6]) {
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        const double n = e->axes[i][a] * e->axes[j][a];
        K[i][j] += e->inertia[a] * n;
        K[3 + i][3 + j] += e->mass[a] * n;
      }
}

/* K' = X^T K X, X Y = (w, v + w × c) */
void cb_ellipsoids_add_mass(const cb_ellipsoids *all, double K[6][6]) {
  for (int p = 0; p < all->n; p++) {
    double own[6][6] = {{0}};
    cb_ellipsoid_mass(all->of + p, own);
    for (int j = 0; j < 6; j++) {
      const double *c = all->place[p], axis[3] = {j == 0, j == 1, j == 2};
      double at[6] = {0}, l[6] = {0}, torque[3];
      at[j] = 1;
      if (j < 3) cb_cross3(axis, c, at + 3);
      for (int i = 0; i < 36; i++) l[i / 6] += own[i / 6][i % 6] * at[i % 6];
      cb_cross3(c, l + 3, torque);
      for (int i = 0; i < 6; i++) K[i][j] += l[i] + (i < 3 ? torque[i] : 0);
    }
  }
}

/* --- axes --- */

void cb_ellipsoid_turn(const cb_ellipsoid *e, const double V[6], double out[6]) {
  cb_apply3_transposed(e->axes, V, out);
  cb_apply3_transposed(e->axes, V + 3, out + 3);
}

void cb_ellipsoid_turn_back(const cb_ellipsoid *e, double F[6], double (*dF)[6]) {
  double turned[6];
  cb_apply3(e->axes, F, turned);
  cb_apply3(e->axes, F + 3, turned + 3);
  for (int k = 0; k < 6; k++) F[k] = turned[k];
  for (int block = 0; dF && block < 4; block++) {
    double m[3][3] = {{0}}, own[3][3];
    const int row = block / 2 * 3, column = block % 2 * 3;
    for (int i = 0; i < 9; i++) own[i / 3][i % 3] = dF[row + i / 3][column + i % 3];
    for (int i = 0; i < 9; i++)
      for (int k = 0; k < 9; k++) m[i / 3][i % 3] += e->axes[i / 3][k / 3] * own[k / 3][k % 3] * e->axes[i % 3][k % 3];
    for (int i = 0; i < 9; i++) dF[row + i / 3][column + i % 3] = m[i / 3][i % 3];
  }
}

/* --- several --- */

void cb_ellipsoids_free(cb_ellipsoids *e) {
  if (!e) return;
  free(e->of);
  free(e->place);
  free(e);
}

int cb_ellipsoids_places(const cb_fluid_model *m, const void *body, const double (**at)[3]) {
  const cb_ellipsoids *e = body;
  (void)m;
  *at = (const double(*)[3])e->place;
  return e->n;
}

void cb_ellipsoids_release(const cb_fluid_model *m, void *body) {
  (void)m;
  cb_ellipsoids_free(body);
}
