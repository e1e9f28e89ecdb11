/* Moves the base point of a frame to a local point y by the inverse of the transvection to y, in double-double
 * arithmetic:
 *
 *   x' = x + s (s.x)/(R(R + w)) - s x_w/R,   x_w' = (w x_w - s.x)/R,   y = (s, w),  w = sqrt(R^2 + |s|^2)      H^n
 *   x' = x - y                                                                                                E^n
 *   q' = m(y)^-1 (q - y),  p' = m(y)^T p                                                                  groups
 * ' is the image of a local point (x, x_w) of H^n, x of E^n or q of a group, and of the covector p. R is 1/sqrt|K| for
 * the curvature K, and m(y) is the matrix of the left translation by y. All entries are computed from s by these
 * formulae in double-double arithmetic, so that the map is an isometry to 1e-30 for every y.
 */
#include "geometry/origin.h"
#include <curvebody/intrinsic.h>

#include <string.h>

static void change_hyperbolic(cb_origin_part part, const double *s, cb_dd m[CB_COORD_MAX][CB_COORD_MAX]) {
  int n = part.dim, o = part.offset;
  cb_dd square = cb_dd_div(cb_dd_of(1), cb_dd_of(fabs(part.curvature))), r = cb_dd_sqrt(square);
  for (int i = 0; i < n; i++) square = cb_dd_add(square, cb_two_prod(s[i], s[i]));
  cb_dd w = cb_dd_sqrt(square), scale = cb_dd_mul(r, cb_dd_add(r, w));
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      m[o + i][o + j] = cb_dd_div(cb_two_prod(s[i], s[j]), scale);
      if (i == j) m[o + i][o + j] = cb_dd_add_d(m[o + i][o + j], 1);
    }
    m[o + i][o + n] = m[o + n][o + i] = cb_dd_div(cb_dd_of(-s[i]), r);
  }
  m[o + n][o + n] = cb_dd_div(w, r);
}

/* Sets the map of a group: q' = m(y)^-1 (q - y), and for covectors p' = m(y)^T p. */
static void change_group(const cb_space *g, const double *y, cb_recentring *c) {
  const int n = g->dim;
  cb_dd m[CB_COORD_MAX][CB_COORD_MAX], inverse[CB_COORD_MAX][CB_COORD_MAX];
  cb_origin_translation(g, y, m, inverse);
  memcpy(c->m, inverse, sizeof inverse);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      c->momentum[j][i] = m[i][j];
      c->b[i] = cb_dd_sub(c->b[i], cb_dd_mul_d(c->m[i][j], y[j]));
    }
}

void cb_origin_shift(const cb_space *g, cb_origin *origin, const double *y, cb_recentring *change) {
  int axis[CB_DIM_MAX], coordinate[CB_DIM_MAX];
  const cb_origin_part part = cb_origin_part_of(g);
  memset(change, 0, sizeof *change);
  for (int a = 0; a < CB_COORD_MAX; a++) change->m[a][a] = change->momentum[a][a] = cb_dd_of(1);
  if (!cb_origin_moves(g)) return;
  cb_origin to;
  cb_origin_at(g, y, &to);
  cb_origin_compose(g, origin, &to, origin);
  if (g->intrinsic) {
    change_group(g, y, change);
    return;
  }
  for (int i = cb_origin_shifted(g, axis, coordinate) - 1; i >= 0; i--)
    change->b[coordinate[i]] = cb_dd_of(-y[coordinate[i]]);
  if (part.dim && part.curvature != 0) {
    change_hyperbolic(part, y + part.offset, change->m);
    change_hyperbolic(part, y + part.offset, change->momentum);
  } else {
    for (int i = 0; i < part.dim; i++) change->b[i] = cb_dd_of(-y[i]);
  }
}

/* Replaces x + x_low by m (x + x_low) + b; b may be NULL. */
static void apply(int k, cb_dd m[CB_COORD_MAX][CB_COORD_MAX], const cb_dd *b, double *x, double *x_low) {
  cb_dd sum[CB_COORD_MAX];
  for (int i = 0; i < k; i++) {
    sum[i] = b ? b[i] : cb_dd_of(0);
    for (int j = 0; j < k; j++) sum[i] = cb_dd_add(sum[i], cb_dd_mul(m[i][j], cb_fast_two_sum(x[j], x_low[j])));
  }
  for (int i = 0; i < k; i++) {
    x[i] = sum[i].hi;
    x_low[i] = sum[i].lo;
  }
}

/* Applies a change of frame to n points x + x_low and momenta p + p_low, arrays of n * embedding numbers; in E^n
 * momenta do not change. The arithmetic is double-double, so that any number of changes loses no digits. */
static void cb_recentring_apply(const cb_space *g, const cb_recentring *change, int n, double *x, double *x_low,
                                double *p, double *p_low) {
  if (!cb_origin_moves(g)) return;
  int k = g->embedding;
  bool flat = !g->intrinsic && g->n_factors == 1 && g->factor[0].curvature == 0;
  cb_recentring c = *change;
  for (int i = 0; i < n * k; i += k) {
    if (flat) {
      for (int a = 0; a < k; a++) {
        cb_dd sum = cb_dd_add(c.b[a], cb_fast_two_sum(x[i + a], x_low[i + a]));
        x[i + a] = sum.hi;
        x_low[i + a] = sum.lo;
      }
    } else {
      apply(k, c.m, c.b, x + i, x_low + i);
      apply(k, c.momentum, NULL, p + i, p_low + i);
    }
  }
}

cb_status cb_origin_recentre(const cb_space *g, cb_origin *origin, const double *y, const cb_local_points *points,
                             cb_isometry *isometry) {
  for (int a = 0; a < g->embedding; a++)
    if (!isfinite(y[a]))
      return cb_fail(CB_ERROR_DOMAIN, "the new origin of a component is not finite: use a smaller `step`");
  cb_recentring change;
  cb_origin_shift(g, origin, y, &change);
  cb_recentring_apply(g, &change, points->n, points->x, points->x_low, points->p, points->p_low);
  for (int i = 0; isometry && i < CB_COORD_MAX; i++) {
    isometry->b[i] = change.b[i].hi;
    for (int j = 0; j < CB_COORD_MAX; j++) isometry->m[i][j] = change.m[i][j].hi;
  }
  return CB_OK;
}
