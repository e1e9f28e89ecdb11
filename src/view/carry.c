/* Frames carried along by parallel transport: A(k+1) = A(k) T(z), z the next place as seen in the frame A(k), T(z) the
 * transvection to it. What a closed path leaves of the turn is its holonomy. */
#include "geometry/origin.h"
#include "view/view.h"

#include <math.h>
#include <string.h>

int cb_carry_slot(const cb_geometry *g, int e) {
  int slot = 0;
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    const int dim = factor.curvature != 0 ? factor.count - 1 : factor.count;
    if (e < factor.offset + factor.count && e >= factor.offset)
      return e - factor.offset < dim ? slot + e - factor.offset : 3;
    slot += dim;
  }
  return 3;
}

/* The rotation about the base point that `a` is but for round-off: rows are made orthonormal one after another. */
static void rotation_of(const cb_geometry *g, cb_isometry *a) {
  memset(a->b, 0, sizeof a->b);
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    const int o = factor.offset, dim = factor.curvature != 0 ? factor.count - 1 : factor.count;
    for (int i = 0; i < dim; i++) {
      double size = 0;
      for (int j = 0; j < i; j++) {
        double along = 0;
        for (int k = 0; k < dim; k++) along += a->m[o + i][o + k] * a->m[o + j][o + k];
        for (int k = 0; k < dim; k++) a->m[o + i][o + k] -= along * a->m[o + j][o + k];
      }
      for (int k = 0; k < dim; k++) size = hypot(size, a->m[o + i][o + k]);
      for (int k = 0; k < dim; k++) a->m[o + i][o + k] = size > 0 ? a->m[o + i][o + k] / size : (i == k);
    }
    for (int i = 0; i < dim && dim < factor.count; i++) a->m[o + i][o + dim] = a->m[o + dim][o + i] = 0;
    if (dim < factor.count) a->m[o + dim][o + dim] = 1;
  }
}

void cb_carry_on(const cb_geometry *g, const cb_origin *from, const cb_isometry *before, const cb_origin *to,
                 const double *y, cb_isometry *after) {
  double seen[CB_COORD_MAX], z[CB_COORD_MAX];
  cb_isometry change, inverse, step;
  const bool same = cb_origin_same(g, from, to);
  cb_isometry_identity(g, &change);
  if (!same) {
    cb_origin relative;
    cb_origin_relative(g, from, to, &relative);
    cb_origin_isometry(g, &relative, &change);
  }
  cb_isometry_point(g, &change, y, seen);
  cb_isometry_inverse(g, before, &inverse);
  cb_isometry_point(g, &inverse, seen, z);
  cb_geometry_project_point(g, z);
  cb_isometry_to(g, z, &step);
  cb_isometry_compose(g, before, &step, after);
  if (same) return;
  /* Origins far out know each other's place by exp(length) units of round-off only: the place is y, the turn what is
   * left. */
  cb_isometry_inverse(g, &change, &inverse);
  cb_isometry_compose(g, &inverse, after, after);
  cb_isometry_to(g, y, &step);
  cb_isometry_inverse(g, &step, &inverse);
  cb_isometry_compose(g, &inverse, after, after);
  rotation_of(g, after);
  cb_isometry_compose(g, &step, after, after);
}

void cb_carry_matrix(const cb_geometry *g, const cb_isometry *a, double m[16]) {
  memset(m, 0, 16 * sizeof *m);
  for (int i = 0; i < 4; i++) m[5 * i] = 1;
  for (int i = 0; i < g->embedding; i++) {
    const int row = cb_carry_slot(g, i);
    for (int j = 0; j < g->embedding; j++) m[4 * row + cb_carry_slot(g, j)] = a->m[i][j];
    if (row < 3 && a->b[i] != 0) m[4 * row + 3] = a->b[i];
  }
}
