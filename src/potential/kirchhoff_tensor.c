/* Kirchhoff's tensor about the centre of the panels, whatever the origin, and the form of a body that deforms.
 */
#include "potential/kirchhoff_private.h"

#include "numerics/small.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double integral(const cb_kirchhoff *k, const double *phi, const double *with) {
  const double *A = k->area;
  double sum = 0;
  for (int i = 0; i < k->n; i++) sum -= phi[i] * with[i] * A[i];
  return sum;
}

static const double *motion(const cb_kirchhoff *k, int a) { return k->w + (size_t)a * (size_t)k->n; }

/* Laws of the tensor of whatever body: symmetric, and no energy below 0. Where panels do not resolve it, or the solution
 * is wrong, they fail by far. */
static cb_status check_tensor(const cb_kirchhoff *k, const double unit[6]) {
  double scaled[36];
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++)
      scaled[a * 6 + b] = k->K[a][b] / (unit[a] * unit[b]) + (a == b ? 0.01 + k->asymmetry : 0);
  const bool symmetric = k->asymmetry <= 0.1, positive = cb_cholesky(6, scaled, 0, scaled);
  if (symmetric && positive) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "the added mass of %d panels is %s (its raw asymmetry is %.2g of it): finer faces may resolve the "
                 "body, another method tells whether the equations were solved; a surface that cuts itself has none",
                 k->n, symmetric ? "not positive" : "not symmetric", k->asymmetry);
}

/* The means of six potentials at the corners of panels, by their areas; mean and its weights [places][7] are 0 on entry. */
static void average(const cb_kirchhoff *k, double (*mean)[7]) {
  for (int i = 0; i < k->n; i++)
    for (int c = 0; c < 3; c++) {
      double *at = mean[k->corner[i][c]];
      for (int a = 0; a < 6; a++) at[a] += k->area[i] * k->phi[(size_t)a * (size_t)k->n + (size_t)i];
      at[6] += k->area[i];
    }
}

/* See cb_kirchhoff_mass. The places of sheets' borders follow the vertices (potential/pieces.h). */
static cb_status find_coarseness(cb_kirchhoff *k, const double raw[6][6], const double unit[6]) {
  const size_t places = (size_t)(k->pieces ? k->pieces->places : k->vertices);
  double(*mean)[7] = calloc(places, sizeof *mean), K[6][6] = {{0}};
  if (!mean) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu vertices", places);
  average(k, mean);
  for (int i = 0; i < k->n; i++)
    for (int c = 0; c < 3; c++) {
      const double *at = mean[k->corner[i][c]];
      if (k->corner[i][c] >= k->vertices || !(at[6] > 0)) continue;
      for (int a = 0; a < 36; a++) K[a / 6][a % 6] -= at[a / 6] / at[6] * motion(k, a % 6)[i] * k->area[i] / 3;
    }
  free(mean);
  k->coarseness = 0;
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++) {
      const double change = (K[a][b] + K[b][a] - raw[a][b] - raw[b][a]) / 2;
      k->coarseness = fmax(k->coarseness, fabs(change) / (unit[a] * unit[b]));
    }
  return CB_OK;
}

static cb_status find_tensor(cb_kirchhoff *k) {
  double raw[6][6], unit[6], greatest = 0;
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++) raw[a][b] = integral(k, k->phi + (size_t)a * (size_t)k->n, motion(k, b));
  for (int a = 3; a < 6; a++) greatest = fmax(greatest, raw[a][a]);
  for (int a = 0; a < 6; a++) unit[a] = sqrt(greatest) * (a < 3 ? k->radius : 1);
  k->asymmetry = 0;
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++) {
      k->K[a][b] = (raw[a][b] + raw[b][a]) / 2;
      k->asymmetry = fmax(k->asymmetry, fabs(raw[a][b] - raw[b][a]) / (unit[a] * unit[b]));
    }
  const cb_status status = check_tensor(k, unit);
  return status ? status : find_coarseness(k, (const double(*)[6])raw, unit);
}

/* Normal velocities of the shape's motion. */
static void set_shape(cb_kirchhoff *k, const double (*v)[3], double *w) {
  if (k->curved) {
    cb_curved_flow_shape(k->curved, (const double(*)[3])k->x, v, (const int(*)[3])k->corner, w);
    return;
  }
  for (int i = 0; i < k->n; i++) {
    const int *c = k->face[k->kept[i]];
    double mean[3];
    for (int d = 0; d < 3; d++) mean[d] = (v[c[0]][d] + v[c[1]][d] + v[c[2]][d]) / 3;
    w[i] = cb_dot3(mean, k->panels->normal[i]);
  }
}

/* K and mu0 (in and out) from the centre c to the origin:  K = X^T K_c X,  X = [[1, 0], [-hat(c), 1]],  so that a shift of
 * a body changes K as it does that of a rigid one, to round-off. */
static void carry(const cb_kirchhoff *k, cb_kirchhoff_mass *out) {
  double X[6][6] = {{0}}, KX[6][6] = {{0}}, hat[3][3] = {{0}}, mu[6] = {0};
  cb_add_hat3(hat, -1, k->centre);
  for (int i = 0; i < 3; i++) {
    X[i][i] = X[3 + i][3 + i] = 1;
    memcpy(X[3 + i], hat[i], sizeof hat[i]);
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int l = 0; l < 6; l++) KX[i][j] += k->K[i][l] * X[l][j];
  memset(out->K, 0, sizeof out->K);
  for (int i = 0; i < 6; i++)
    for (int l = 0; l < 6; l++) {
      for (int j = 0; j < 6; j++) out->K[i][j] += X[l][i] * KX[l][j];
      mu[i] += X[l][i] * out->mu0[l];
    }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < i; j++) out->K[i][j] = out->K[j][i] = (out->K[i][j] + out->K[j][i]) / 2;
  memcpy(out->mu0, mu, sizeof mu);
}

cb_status cb_kirchhoff_added_mass(cb_kirchhoff *k, const double (*v)[3], cb_kirchhoff_mass *out) {
  const size_t shape = CB_KIRCHHOFF_MOTIONS * (size_t)k->n;
  cb_kirchhoff_mass mass = {.kinetic = 0};
  cb_status status = CB_OK;
  if (v) set_shape(k, v, k->w + shape);
  if (!k->solved)
    status = cb_kirchhoff_equations(k, v ? CB_KIRCHHOFF_COLUMNS : CB_KIRCHHOFF_MOTIONS, k->w, k->phi);
  else if (v)
    status = cb_kirchhoff_equations(k, 1, k->w + shape, k->phi + shape);
  if (!status && !k->solved) status = find_tensor(k);
  if (status) return status;
  k->solved = true;
  for (int a = 0; v && a < 6; a++) mass.mu0[a] = integral(k, k->phi + shape, motion(k, a));
  if (v) mass.kinetic = integral(k, k->phi + shape, k->w + shape) / 2;
  carry(k, &mass);
  mass.coarseness = k->coarseness;
  *out = mass;
  return CB_OK;
}

/* Columns of the shape's motions in w, their potentials in phi, both [n][k->n]. */
static void set_form(const cb_kirchhoff *k, int n, const double *w, const double *phi, double *G) {
  const size_t faces = (size_t)k->n;
  const int size = CB_KIRCHHOFF_MOTIONS + n;
  cb_kirchhoff_mass mass = {.kinetic = 0};
  for (int i = -1; i < n; i++) {
    for (int a = 0; a < CB_KIRCHHOFF_MOTIONS && i >= 0; a++)
      mass.mu0[a] = integral(k, phi + (size_t)i * faces, motion(k, a));
    carry(k, &mass);
    for (int a = 0; a < CB_KIRCHHOFF_MOTIONS; a++) {
      for (int b = 0; b < CB_KIRCHHOFF_MOTIONS && i < 0; b++) G[a * size + b] = mass.K[a][b];
      if (i >= 0) G[a * size + CB_KIRCHHOFF_MOTIONS + i] = G[(CB_KIRCHHOFF_MOTIONS + i) * size + a] = mass.mu0[a];
    }
    for (int j = 0; j <= i; j++)
      G[(CB_KIRCHHOFF_MOTIONS + i) * size + CB_KIRCHHOFF_MOTIONS + j] =
          G[(CB_KIRCHHOFF_MOTIONS + j) * size + CB_KIRCHHOFF_MOTIONS + i] =
              (integral(k, phi + (size_t)i * faces, w + (size_t)j * faces) +
               integral(k, phi + (size_t)j * faces, w + (size_t)i * faces)) /
              2;
  }
}

cb_status cb_kirchhoff_form(cb_kirchhoff *k, int n, const double (*v)[3], double *G) {
  const size_t faces = (size_t)k->n;
  cb_kirchhoff_mass mass;
  cb_status status = cb_kirchhoff_added_mass(k, NULL, &mass);
  if (status) return status;
  double *w = calloc((size_t)(n > 0 ? 2 * n : 1) * faces, sizeof *w);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for %d motions of %d faces", n, k->n);
  double *phi = w + (size_t)n * faces;
  for (int i = 0; i < n; i++) set_shape(k, v + (size_t)i * (size_t)k->vertices, w + (size_t)i * faces);
  for (int i = 0; i < n && !status; i += CB_KIRCHHOFF_COLUMNS)
    status = cb_kirchhoff_equations(k, n - i < CB_KIRCHHOFF_COLUMNS ? n - i : CB_KIRCHHOFF_COLUMNS,
                                    w + (size_t)i * faces, phi + (size_t)i * faces);
  if (!status) set_form(k, n, w, phi, G);
  free(w);
  return status;
}
