/* The group of moving origins T(n, L) A (origin.h), where n is the direction, L the length in radii of curvature and A
 * the rotation.
 *
 * Composition in H^n, T(n,L) T(m,l) = T(n',L') W, with phi the angle of n and m, u = m - n (n.m):
 *   sinh^2(L'/2) = sinh^2((L-l)/2) + sinh L sinh l cos^2(phi/2)
 *   n' sinh L'   = n (sinh(L-l) + 2 cosh L sinh l cos^2(phi/2)) + u sinh l
 *   W rotates by w in the plane of n and u, from u to n:
 *   tan(w/2)        = t sin phi/(1 + t cos phi),  t = tanh(L/2) tanh(l/2)
 *   1 + t cos phi   = cosh((L-l)/2)/(cosh(L/2) cosh(l/2)) + 2 t cos^2(phi/2)
 * All terms of a sum have the same sign, except for L < l. Exponentials are relative to the largest, so that nothing
 * overflows. In E^n T is a translation, and n' L' = n L + m l. In a product T and A belong to the hyperbolic factor,
 * and flat factors have a shift. In a group with a left-invariant metric an origin is the left translation by its
 * shift.
 *
 * Source: Ungar, Beyond the Einstein Addition Law (2001), chapters 1-3, doi:10.1007/978-94-010-9122-0; the half-angle
 * forms follow from the product of the two boosts in SL(2,C).
 *
 * An origin also moves to a local point y, by the inverse of the transvection to y, in double-double arithmetic:
 *
 *   x' = x + s (s.x)/(R(R + w)) - s x_w/R,   x_w' = (w x_w - s.x)/R,   y = (s, w),  w = sqrt(R^2 + |s|^2)      H^n
 *   x' = x - y                                                                                                E^n
 *   q' = m(y)^-1 (q - y),  p' = m(y)^T p                                                                  groups
 * A prime marks the image of a local point (x, x_w) of H^n, x of E^n or q of a group, and of the covector p. R is
 * 1/sqrt|K| for the curvature K, and m(y) is the matrix of the left translation by y. All entries are computed from s
 * by these formulae in double-double arithmetic, so that the map is an isometry to 1e-30 for every y.
 */
#include "geometry/origin.h"

#include <curvebody/intrinsic.h>

#include <string.h>

/* --- the group of origins --- */

bool cb_origin_moves(const cb_space *g) {
  if (g->intrinsic) return g->intrinsic->translation != NULL;
  bool moves = false;
  for (int f = 0; !g->chart && f < g->n_factors; f++) moves = moves || g->factor[f].curvature <= 0;
  return moves;
}

void cb_origin_identity(const cb_space *g, cb_origin *out) {
  const cb_origin_part part = cb_origin_part_of(g);
  const int n = part.dim ? part.dim : CB_DIM_MAX;
  memset(out, 0, sizeof *out);
  out->direction[0] = 1;
  for (int i = 0; i < n; i++) out->rotation[i * n + i] = 1;
}

void cb_origin_at(const cb_space *g, const double *x, cb_origin *out) {
  const cb_origin_part part = cb_origin_part_of(g);
  int axis[CB_DIM_MAX], coordinate[CB_DIM_MAX];
  cb_origin_identity(g, out);
  if (!cb_origin_moves(g)) return;
  if (g->intrinsic) {
    memcpy(out->shift, x, (size_t)g->dim * sizeof *x);
    return;
  }
  for (int i = cb_origin_shifted(g, axis, coordinate) - 1; i >= 0; i--) out->shift[axis[i]] = x[coordinate[i]];
  double size = 0;
  for (int i = 0; i < part.dim; i++) size = hypot(size, x[part.offset + i]);
  if (!(size > 0)) return;
  out->length = part.rate > 0 ? asinh(part.rate * size) / part.rate : size;
  for (int i = 0; i < part.dim; i++) out->direction[i] = x[part.offset + i] / size;
}

/* Computes the flow of a Killing field of the factor on which T acts; v is the field at the base point. */
static void flow_of_part(const cb_space *g, cb_origin_part part, int killing, double s, const double *v,
                         cb_origin *out) {
  const int n = part.dim;
  double speed = sqrt(cb_origin_dot(n, v + part.offset, v + part.offset));
  if (speed > 0) { /* a translation: its orbit through the base point is a geodesic */
    out->length = fabs(s) * speed;
    for (int i = 0; i < n; i++) out->direction[i] = (s < 0 ? -v[part.offset + i] : v[part.offset + i]) / speed;
  } else {
    cb_isometry turn;
    cb_isometry_flow(g, killing, s, &turn);
    for (int i = 0; i < n; i++)
      memcpy(out->rotation + i * n, turn.m[part.offset + i] + part.offset, (size_t)n * sizeof(double));
  }
}

/* Returns whether the field acts only on `count` coordinates from `offset` on. */
static bool acts_on(const cb_space *g, int killing, int offset, int count) {
  for (int a = 0; a < g->embedding; a++)
    for (int b = 0; b < g->embedding; b++)
      if ((a < offset || a >= offset + count) && (g->killing[killing].a[a][b] != 0 || g->killing[killing].b[a] != 0))
        return false;
  return true;
}

cb_status cb_origin_flow(const cb_space *g, int killing, double s, cb_origin *out) {
  double base[CB_Q_MAX], v[CB_Q_MAX], speed = 0;
  int axis[CB_DIM_MAX], coordinate[CB_DIM_MAX];
  if (!cb_origin_moves(g))
    return cb_fail(CB_ERROR_UNSUPPORTED, "%s has no moving origins: expected a space such as H^n, E^n or a group",
                   g->class_->name);
  const cb_origin_part part = cb_origin_part_of(g);
  cb_origin flow;
  cb_space_base_point(g, base);
  cb_killing_at(g, killing, base, v);
  cb_origin_identity(g, &flow);
  if (part.dim && acts_on(g, killing, part.offset, part.dim + (part.curvature != 0))) {
    flow_of_part(g, part, killing, s, v, &flow);
    *out = flow;
    return CB_OK;
  }
  if (g->intrinsic) {
    for (int i = 0; i < g->dim; i++) speed += fabs(flow.shift[i] = s * v[i]);
  } else {
    for (int i = cb_origin_shifted(g, axis, coordinate) - 1; i >= 0; i--)
      speed += fabs(flow.shift[axis[i]] = s * v[coordinate[i]]);
  }
  if (s != 0 && !(speed > 0))
    return cb_fail(CB_ERROR_UNSUPPORTED, "moving origins of %s cannot represent %s: expected another Killing field",
                   g->class_->name, g->killing[killing].name);
  *out = flow;
  return CB_OK;
}

/* Computes out = A B, and makes it orthogonal again by C <- C (3 - C^T C)/2. */
static void multiply(int n, const double *a, const double *b, double *out) {
  double c[CB_DIM_MAX * CB_DIM_MAX] = {0}, defect[CB_DIM_MAX * CB_DIM_MAX] = {0};
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      defect[i * n + j] = 0.5 * (i == j);
      for (int k = 0; k < n; k++) defect[i * n + j] -= 0.5 * c[k * n + i] * c[k * n + j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = c[i * n + j];
      for (int k = 0; k < n; k++) sum += c[i * n + k] * defect[k * n + j];
      out[i * n + j] = sum;
    }
}

cb_origin_plane cb_origin_plane_of(int dim, const double *n, const double *m) {
  cb_origin_plane p = {0};
  double sum = 0, difference = 0, along = cb_origin_dot(dim, n, m), size = 0;
  for (int i = 0; i < dim; i++) {
    sum += (n[i] + m[i]) * (n[i] + m[i]);
    difference += (n[i] - m[i]) * (n[i] - m[i]);
    p.across[i] = m[i] - along * n[i];
  }
  p.cos2 = sum / (sum + difference);
  p.sin = 2 * sqrt(sum) * sqrt(difference) / (sum + difference);
  along = cb_origin_dot(dim, n, p.across); /* round-off of the first projection */
  for (int i = 0; i < dim; i++) {
    p.across[i] -= along * n[i];
    size = hypot(size, p.across[i]);
  }
  if (!(size > 0)) p.sin = 0;
  for (int i = 0; i < dim; i++) p.across[i] = size > 0 ? p.across[i] / size : 0;
  return p;
}

/* Computes the matrix W of the comment at the top of this file, which rotates by w from p->across to n. */
static void wigner(int dim, const double *n, double L, double l, const cb_origin_plane *p, double *w) {
  double t = tanh(L / 2) * tanh(l / 2), D = fabs(L - l);
  double gap = 2 * exp(-fmin(L, l)) * (1 + exp(-D)) / ((1 + exp(-L)) * (1 + exp(-l))); /* 1 - t */
  double x = gap + 2 * t * p->cos2, y = t * p->sin, r = hypot(x, y);
  if (r > 0) {
    x /= r;
    y /= r;
  } else
    x = 1;
  double sine = 2 * x * y, versine = 2 * y * y;
  const double *u = p->across;
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++)
      w[i * dim + j] = (i == j) - sine * (u[i] * n[j] - n[i] * u[j]) - versine * (n[i] * n[j] + u[i] * u[j]);
}

void cb_origin_third_side(double L, double l, const cb_origin_plane *p, double *length, double *along, double *across,
                          double *log_height) {
  double D = L - l, E = L + l + log(p->cos2), s = fmax(fabs(D), E);
  double sinh_L = -expm1(-2 * L), sinh_l = -expm1(-2 * l); /* sinh L and sinh l times 2 exp(-L) and 2 exp(-l) */
  if (s < 600) {
    double half = sinh(D / 2);
    *length = 2 * asinh(sqrt(half * half + sinh_L * sinh_l * exp(E) / 4));
  } else {
    *length = s + log(exp(fabs(D) - s) + sinh_L * sinh_l * exp(E - s));
  }
  /* a and b are the components of n' sinh L' times 2 exp(-s). */
  double sinh_D = fabs(D) < 1 ? 2 * sinh(D) * exp(-s) : exp(D - s) - exp(-D - s);
  double a = sinh_D + (2 - sinh_L) * sinh_l * exp(E - s), b = sinh_l * exp(l + log(p->sin) - s), size = hypot(a, b);
  *along = size > 0 ? a / size : 1;
  *across = size > 0 ? b / size : 0;
  if (!log_height) return;
  const double excess = s == E ? -log(p->cos2) : 2 * fmin(L, l); /* L + l - s */
  *log_height = size > 0 ? excess + log(sinh_L * sinh_l / 2) + log(p->sin / size) : -INFINITY;
}

/* Computes L' and n' of the comment at the top of this file. */
static void add_lengths(int dim, const double *n, double L, double l, const cb_origin_plane *p, double *length,
                        double *direction) {
  double along, across;
  cb_origin_third_side(L, l, p, length, &along, &across, NULL);
  for (int i = 0; i < dim; i++) direction[i] = along * n[i] + across * p->across[i];
  const double size = sqrt(cb_origin_dot(dim, direction, direction));
  for (int i = 0; i < dim; i++) direction[i] /= size;
}

static void compose_hyperbolic(int dim, double rate, const cb_origin *a, const cb_origin *b, cb_origin *out) {
  double m[CB_DIM_MAX], w[CB_DIM_MAX * CB_DIM_MAX] = {0}, L = rate * a->length, l = rate * b->length;
  cb_origin c = {0};
  cb_origin_turn(dim, a->rotation, b->direction, m);
  multiply(dim, a->rotation, b->rotation, c.rotation);
  if (l == 0 || L == 0) {
    c.length = l == 0 ? a->length : b->length;
    memcpy(c.direction, l == 0 ? a->direction : m, (size_t)dim * sizeof *m);
  } else {
    cb_origin_plane p = cb_origin_plane_of(dim, a->direction, m);
    wigner(dim, a->direction, L, l, &p, w);
    multiply(dim, w, c.rotation, c.rotation);
    add_lengths(dim, a->direction, L, l, &p, &c.length, c.direction);
    c.length /= rate;
  }
  *out = c;
}

static void compose_flat(int dim, const cb_origin *a, const cb_origin *b, cb_origin *out) {
  double m[CB_DIM_MAX];
  cb_origin c = {0};
  cb_origin_turn(dim, a->rotation, b->direction, m);
  multiply(dim, a->rotation, b->rotation, c.rotation);
  for (int i = 0; i < dim; i++) {
    c.direction[i] = a->length * a->direction[i] + b->length * m[i];
    c.length = hypot(c.length, c.direction[i]);
  }
  for (int i = 0; i < dim; i++) c.direction[i] = c.length > 0 ? c.direction[i] / c.length : a->direction[i];
  *out = c;
}

/* --- groups: the left translation L_a q = a + m(a) q, the product a b = L_a b, the inverse a^-1 = -m(a)^-1 a --- */

/* Returns the cofactor of the entry (r, c) of m. */
static cb_dd minor_of(cb_dd m[3][3], int r, int c) {
  const int a = (r + 1) % 3, b = (r + 2) % 3, d = (c + 1) % 3, e = (c + 2) % 3;
  return cb_dd_sub(cb_dd_mul(m[a][d], m[b][e]), cb_dd_mul(m[a][e], m[b][d]));
}

void cb_dd_invert(int n, cb_dd m[CB_COORD_MAX][CB_COORD_MAX], cb_dd inverse[CB_COORD_MAX][CB_COORD_MAX]) {
  cb_dd whole[3][3] = {{{0, 0}}}, det = {0, 0};
  for (int i = 0; i < 3; i++) whole[i][i] = cb_dd_of(1); /* the diagonal stays 1 from n on */
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) whole[i][j] = m[i][j];
  for (int j = 0; j < 3; j++) det = cb_dd_add(det, cb_dd_mul(whole[0][j], minor_of(whole, 0, j)));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) inverse[i][j] = cb_dd_div(minor_of(whole, j, i), det);
}

void cb_origin_translation(const cb_space *g, const double *a, cb_dd m[CB_COORD_MAX][CB_COORD_MAX],
                           cb_dd inverse[CB_COORD_MAX][CB_COORD_MAX]) {
  const int n = g->dim;
  double high[CB_DIM_MAX * CB_DIM_MAX], low[CB_DIM_MAX * CB_DIM_MAX] = {0};
  g->intrinsic->translation(g, a, high, low);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) m[i][j] = (cb_dd){high[i * n + j], low[i * n + j]};
  cb_dd_invert(n, m, inverse);
}

static void translate(const cb_space *g, const double *a, const double *q, double *out) {
  cb_dd m[CB_COORD_MAX][CB_COORD_MAX], inverse[CB_COORD_MAX][CB_COORD_MAX];
  double end[CB_DIM_MAX] = {0};
  cb_origin_translation(g, a, m, inverse);
  for (int i = 0; i < g->dim; i++) {
    end[i] = a[i];
    for (int j = 0; j < g->dim; j++) end[i] += m[i][j].hi * q[j];
  }
  memcpy(out, end, (size_t)g->dim * sizeof *out);
}

static void invert(const cb_space *g, const double *a, double *out) {
  cb_dd m[CB_COORD_MAX][CB_COORD_MAX], inverse[CB_COORD_MAX][CB_COORD_MAX];
  double end[CB_DIM_MAX] = {0};
  cb_origin_translation(g, a, m, inverse);
  for (int i = 0; i < g->dim; i++)
    for (int j = 0; j < g->dim; j++) end[i] -= inverse[i][j].hi * a[j];
  memcpy(out, end, (size_t)g->dim * sizeof *out);
}

/* --- all spaces --- */

void cb_origin_compose(const cb_space *g, const cb_origin *a, const cb_origin *b, cb_origin *out) {
  const cb_origin_part part = cb_origin_part_of(g);
  cb_origin c;
  cb_origin_identity(g, &c);
  if (cb_origin_moves(g)) {
    if (part.dim && part.curvature == 0)
      compose_flat(part.dim, a, b, &c);
    else if (part.dim)
      compose_hyperbolic(part.dim, part.rate, a, b, &c);
    if (g->intrinsic)
      translate(g, a->shift, b->shift, c.shift);
    else
      for (int i = 0; i < CB_DIM_MAX; i++) c.shift[i] = a->shift[i] + b->shift[i];
  }
  *out = c;
}

/* Computes (T(n,L) A)^-1 = A^T T(-n,L) = T(-A^T n, L) A^T. The shift is inverted separately. */
void cb_origin_inverse(const cb_space *g, const cb_origin *a, cb_origin *out) {
  const int n = cb_origin_part_of(g).dim;
  cb_origin c;
  cb_origin_identity(g, &c);
  if (n) {
    c.length = a->length;
    cb_origin_turn_back(n, a->rotation, a->direction, c.direction);
    for (int i = 0; i < n; i++) {
      c.direction[i] = -c.direction[i];
      for (int j = 0; j < n; j++) c.rotation[i * n + j] = a->rotation[j * n + i];
    }
  }
  if (g->intrinsic && cb_origin_moves(g))
    invert(g, a->shift, c.shift);
  else
    for (int i = 0; i < CB_DIM_MAX; i++) c.shift[i] = 0 - a->shift[i];
  *out = c;
}

bool cb_origin_same(const cb_space *g, const cb_origin *a, const cb_origin *b) {
  const size_t dim = (size_t)cb_origin_part_of(g).dim, n = dim * sizeof(double);
  return a->length == b->length && !memcmp(a->direction, b->direction, n) &&
         !memcmp(a->rotation, b->rotation, dim * n) && !memcmp(a->shift, b->shift, sizeof a->shift);
}

void cb_origin_relative(const cb_space *g, const cb_origin *a, const cb_origin *b, cb_origin *out) {
  if (cb_origin_same(g, a, b)) {
    cb_origin_identity(g, out);
    return;
  }
  cb_origin inverse;
  cb_origin_inverse(g, a, &inverse);
  cb_origin_compose(g, &inverse, b, out);
}

/* --- moving an origin to a local point --- */

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
