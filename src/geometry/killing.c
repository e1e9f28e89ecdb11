/* Killing fields X(x) = A x + b and their momenta J = <X(x), p>.
 *
 *   translation along axis i of a flat factor       b = E_i
 *   boost of a hyperbolic factor                    (w E_i + x_i E_w)/R
 *   rotation of a sphere in the plane of i and w    (w E_i - x_i E_w)/R
 *   rotation from axis i to axis j, any factor      x_i E_j - x_j E_i
 * The first three have unit speed on the geodesic through the base point along axis i, the last unit angular speed.
 */
#include "geometry/build.h"
#include "geometry/intrinsic_private.h"
#include "geometry/origin.h"

#include <math.h>
#include <string.h>

/* Names by axis; a rotation is named by the axis that completes the other two. */
static const char *const translations[CB_DIM_MAX] = {"translation_x", "translation_y", "translation_z"};
static const char *const boosts[CB_DIM_MAX] = {"boost_x", "boost_y", "boost_z"};
static const char *const turns[CB_DIM_MAX] = {"rotation_wx", "rotation_wy", "rotation_wz"};
static const char *const rotations[CB_DIM_MAX] = {"rotation_x", "rotation_y", "rotation_z"};

static cb_killing *next(cb_geometry *g, const char *name) {
  cb_killing *field = &g->killing[g->n_killing++];
  memset(field, 0, sizeof *field);
  field->name = name;
  return field;
}

void cb_killing_build(cb_geometry *g, cb_factor f, int axis) {
  int dim = f.curvature == 0 ? f.count : f.count - 1, o = f.offset, w = o + f.count - 1;
  double curvature = f.curvature, r = curvature == 0 ? 0 : 1 / sqrt(fabs(curvature));
  for (int i = 0; i < dim; i++) {
    if (curvature == 0) {
      next(g, translations[axis + i])->b[o + i] = 1;
      continue;
    }
    cb_killing *field = next(g, curvature < 0 ? boosts[axis + i] : turns[axis + i]);
    field->a[o + i][w] = 1 / r;
    field->a[w][o + i] = curvature < 0 ? 1 / r : -1 / r;
  }
  for (int name = 0; name < CB_DIM_MAX; name++) { /* from axis i to axis j, (i, j, name) cyclic */
    int i = (name + 1) % CB_DIM_MAX - axis, j = (name + 2) % CB_DIM_MAX - axis;
    if (i < 0 || j < 0 || i >= dim || j >= dim) continue;
    cb_killing *field = next(g, rotations[name]);
    field->a[o + j][o + i] = 1;
    field->a[o + i][o + j] = -1;
  }
}

int cb_killing_find(const cb_geometry *g, const char *name) {
  for (int i = 0; i < g->n_killing; i++)
    if (strcmp(g->killing[i].name, name) == 0) return i;
  return -1;
}

void cb_killing_at(const cb_geometry *g, int index, const double *x, double *v) {
  if (g->intrinsic) {
    cb_intrinsic_killing_at(g, index, x, v);
    return;
  }
  const cb_killing *field = &g->killing[index];
  double sum[CB_COORD_MAX] = {0};
  for (int a = 0; a < g->embedding; a++) {
    sum[a] = field->b[a];
    for (int b = 0; b < g->embedding; b++) sum[a] += field->a[a][b] * x[b];
  }
  memcpy(v, sum, (size_t)g->embedding * sizeof *v);
}

/* J = sum_ab A_ab (form_a p_a x_b) + sum_a b_a form_a p_a: the products of all points once for all fields. */
void cb_killing_momenta_add(const cb_geometry *g, int n, const double *x, const double *p, double *momentum) {
  double lowered[CB_COORD_MAX] = {0}, product[CB_COORD_MAX][CB_COORD_MAX] = {{0}};
  for (int k = g->embedding; n > 0; n--, x += k, p += k)
    for (int a = 0; a < k; a++) {
      const double low = g->form[a] * p[a];
      lowered[a] += low;
      for (int b = 0; b < k; b++) product[a][b] += low * x[b];
    }
  for (int i = 0; i < g->n_killing; i++) {
    const cb_killing *field = &g->killing[i];
    double row[CB_COORD_MAX];
    for (int a = 0; a < CB_COORD_MAX; a++) {
      row[a] = field->b[a] * lowered[a];
      for (int b = 0; b < CB_COORD_MAX; b++) row[a] += field->a[a][b] * product[a][b];
    }
    momentum[i] += (row[0] + row[1]) + (row[2] + row[3]);
  }
}

void cb_killing_momentum_add(const cb_geometry *g, const double *x, const double *p, double *momentum) {
  if (g->intrinsic) cb_intrinsic_killing_momentum_add(g, x, p, momentum);
  else cb_killing_momenta_add(g, 1, x, p, momentum);
}
