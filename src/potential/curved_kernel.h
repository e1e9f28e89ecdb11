/* Computes S and D of geodesic panels (equations in potential/curved_flow.h). The file is written once for the vectors
 * of any instruction set. curved_x86_64.c, curved_avx2.c and curved_avx512.c include it after they have defined WIDTH,
 * the type vec (WIDTH numbers), functions on vec, and KERNELS.
 *
 * Lengths are in radii of curvature, K is -1 or 1, and points are (x, w). For a point y of a panel at the distance d
 * from the point x, c_K is cos d or cosh d, and s_K is sin d or sinh d. All values follow from y - x, so that no digits
 * are lost near x:
 *   q = |y - x|^2 + K (y_w - x_w)^2,  c_K = 1 - K q/2,  s_K^2 = q (1 - K q/4)
 *   T_x^-1 a . T_x^-1 b = (q_a + q_b - q_ab)/2 - K q_a q_b/4,  [T_x^-1 a, T_x^-1 b, T_x^-1 c] = -N s
 * a, b, c are the corners, q_a is q of corner a, and q_ab is q between the corners a and b. N is the norm that
 * cb_curved_plane returns, and T_x and s are as in curved_flow.h. The rule of degree 2 uses the corners and the
 * centroid, with 1/12 and 3/4 of the area. The area that belongs to a point of a rule is N/(2 c^(3/2)) times the weight
 * of the point in the rule, with c of cb_curved_node (numerics/numerics_curved.h).
 *
 * For K = 1 the functions use P, a function of the distance d. P is d/sin d for d <= pi/2 and (pi - d)/sin d otherwise.
 * As a function of z = min(q, 4 - q)/4, which is at most 1/2, P is 1 + z times a polynomial. This polynomial
 * interpolates (asin(z^1/2)/(z (1 - z))^1/2 - 1)/z at Chebyshev's points; the relative error of P is 4e-15. The rule of
 * degree 2, whose errors are of order 1e-6, uses a shorter polynomial with the error 2e-10.
 */
#ifndef CB_POTENTIAL_CURVED_KERNEL_H
#define CB_POTENTIAL_CURVED_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

/* The first row of each kind of data in the array `lanes` of panels: the corners, the centroid, the plane, N, the
 * weight of the centroid, q of the sides, the largest s_K^2 for which S is split into a singular and a smooth part, and
 * the nodes of the rule of degree 5, followed by their weights.
 */
enum {
  CB_CURVED_CORNER = 0,
  CB_CURVED_CENTROID = 12,
  CB_CURVED_PLANE = 16,
  CB_CURVED_NORM = 20,
  CB_CURVED_WEIGHT = 21,
  CB_CURVED_SIDE = 22,
  CB_CURVED_NEAR = 25,
  CB_CURVED_NODE = 26,
  CB_CURVED_NODES = 7,
  CB_CURVED_LANES = CB_CURVED_NODE + 5 * CB_CURVED_NODES
};

/* The point x at which S and D are computed, for K = -1 or 1. few: the rule of degree 2 is used, otherwise the rule of
 * degree 5.
 */
typedef struct cb_curved_view {
  double x[4];
  int K;
  bool few;
} cb_curved_view;

typedef struct cb_curved_kernels {
  /* Computes S[n] and D[n] of n panels; D may be NULL. Row r of panel i is lanes[r * stride + i]. Up to CB_PANEL_PAD
   * panels are read after the last one. */
  void (*row)(const double *lanes, size_t stride, const cb_curved_view *v, int n, double *S, double *D);
  /* Computes the gradients of S and D with respect to x, in the frame to which T_x carries the axes. The components x,
   * y, z for panel i are S[i], S[width + i] and S[2 width + i], and likewise for D. */
  void (*gradient)(const double *lanes, size_t stride, const cb_curved_view *v, int n, size_t width, double *S,
                   double *D);
} cb_curved_kernels;

extern const cb_curved_kernels cb_curved_kernels_x86_64, cb_curved_kernels_avx2, cb_curved_kernels_avx512;

#endif

#if defined(KERNELS)

#include <string.h>

#include "potential/panel_math.h"

/* If the mean w of its corners is below behind_w, a panel uses the second form of D (curved_flow.h). S is split only
 * for panels whose three corners have a w above image_w. Here w is c_K of the corner. */
static const double behind_w = -0.5, image_w = 0.3;

/* A point y relative to x, the point of cb_curved_view. (d, dw) is y - x. */
typedef struct sight {
  xyz d;
  /* w: c_K; square: s_K^2; sine: s_K; inverse: 1/s_K; q, P: see the file head */
  vec dw, q, w, square, sine, inverse, P;
} sight;

INLINE vec at_even_odd(const double *c, int terms, vec z) {
  const vec w = z * z;
  vec even = set(c[terms - 2]), odd = set(c[terms - 1]);
#pragma GCC unroll 8
  for (int i = terms - 4; i >= 0; i -= 2) {
    even = fma3(even, w, set(c[i]));
    odd = fma3(odd, w, set(c[i + 1]));
  }
  return fma3(z, fma3(odd, z, even), set(1));
}

INLINE vec fraction(vec q, bool few) {
  static const double rough[] = {0x1.5555555306281p-1,  0x1.11111640f77afp-1,  0x1.d4196d3ea16d2p-2,
                                 0x1.a0a6c08b130f9p-2,  0x1.6fece718c365ap-2,  0x1.cef00c81c3c30p-2,
                                 -0x1.c87bdd2c8f017p-2, 0x1.d921f690588dep+1,  -0x1.30b2b74d24a62p+3,
                                 0x1.226a521777dbcp+4,  -0x1.2b72e3bb53d09p+4, 0x1.301c7a60b76e6p+3},
                      fine[] = {0x1.5555555555522p-1,  0x1.11111111213aap-1,  0x1.d41d41b9072aap-2,
                                0x1.a01a0a9773cecp-2,  0x1.7a44a0abdf7d4p-2,  0x1.5d5736f17053ap-2,
                                0x1.42f82ec7ab803p-2,  0x1.56f7aaae1d292p-2,  -0x1.0324e7019ab17p-5,
                                0x1.2b9d6189b0864p+1,  -0x1.3c531fe63f99fp+3, 0x1.2c28535189627p+5,
                                -0x1.987f5a90dee1ap+6, 0x1.9f29c6ad1c086p+7,  -0x1.2d2994cb57e31p+8,
                                0x1.2ab38d01fa7a7p+8,  -0x1.6aab601f8f573p+7, 0x1.a0e259271fd01p+5};
  const vec near = set(0.25) * q, z = where_above(q, set(2), set(1) - near, near);
  return few ? at_even_odd(rough, 12, z) : at_even_odd(fine, 18, z);
}

/* Returns the corner or node that is stored at p, relative to x. `least` is a small number that is added to the squares
 * of sines, so that no sine is 0. */
INLINE sight look(const double *p, size_t stride, const cb_curved_view *v, double K, bool few, vec least) {
  sight s = {0};
  s.d = (xyz){load(p) - set(v->x[0]), load(p + stride) - set(v->x[1]), load(p + 2 * stride) - set(v->x[2])};
  s.dw = load(p + 3 * stride) - set(v->x[3]);
  const vec flat = dot(s.d, s.d);
  s.q = fma3(set(K) * s.dw, s.dw, flat);
  s.w = fma3(set(-K / 2), s.q, set(1));
  s.square = fma3(set(-K / 4) * s.q, s.q, s.q) + least;
  s.sine = root(s.square);
  if (K > 0) s.P = fraction(s.q, few);
  return s;
}

/* Returns the vector part of T_x^-1 y. */
INLINE xyz towards(const sight *s, const cb_curved_view *v, double K) {
  const xyz x = {set(v->x[0]), set(v->x[1]), set(v->x[2])};
  const vec f = fma3(set(K / (1 + v->x[3])), dot(x, s->d), s->dw);
  return (xyz){s->d.x - f * x.x, s->d.y - f * x.y, s->d.z - f * x.z};
}

INLINE xyz times(vec f, xyz a) { return (xyz){f * a.x, f * a.y, f * a.z}; }

/* Returns the gnomonic image of a point y: the vector part of T_x^-1 y divided by its w. */
INLINE xyz image(const sight *s, const cb_curved_view *v, double K) { return times(set(1) / s->w, towards(s, v, K)); }

/* Returns 4 pi G for K < 0 and 4 pi^2 G for K > 0, where G is the potential of a point source in a space with the
 * radius of curvature 1 (potential/curved_flow.h). */
INLINE vec green(const sight *s, double K) {
  if (K < 0) return fma3(s->w, s->inverse, set(-1));
  return s->w * where_above(set(0), s->w, s->P, fma3(set(PI), s->inverse, -s->P));
}

/* Returns (t - sin t cos t)/sin^3 t. Here t is the distance d of the file head, or pi - d where behind > 0. square is
 * 1/sin^2 t. */
INLINE vec background(const sight *s, vec square, vec behind) {
  const vec other = fma3(set(PI), s->inverse, -s->P), angle = where_above(set(0), s->w, other, s->P),
            rest = where_above(set(0), s->w, s->P, other);
  return where_above(behind, set(0), rest + s->w, angle - s->w) * square;
}

/* Returns 4 pi G - 1/(s_K c_K^2), where G is the potential of a point source (potential/curved_flow.h). */
INLINE vec smooth(const sight *s, double K) {
  const vec w = s->w, w2 = w * w, rest = s->sine * (w2 + w + set(1)) / ((set(1) + w) * w2);
  if (K < 0) return rest - set(1);
  return fma3(w * s->P, set(-1 / PI), -rest);
}

/* Returns t L (potential/panels.h) of the edge from a to b in the plane with normal n, all in the gnomonic image. A =
 * |a|, B = |b|, and h is the distance of the plane from 0. */
INLINE vec side(xyz a, xyz b, xyz n, vec A, vec B, vec h) {
  const xyz e = {b.x - a.x, b.y - a.y, b.z - a.z};
  const vec l = root(dot(e, e)),
            t = (n.x * (a.y * e.z - a.z * e.y) + n.y * (a.z * e.x - a.x * e.z) + n.z * (a.x * e.y - a.y * e.x)) / l;
  return t * edge_log(A + B, l, product(A * B, dot(a, b), t, h, l));
}

/* Returns 4 pi times the singular part of S. a, b, c are the corners, and W is minus the solid angle of the panel seen
 * from x. */
INLINE vec singular(const sight *a, const sight *b, const sight *c, const cb_curved_view *v, double K, vec W) {
  const xyz A = image(a, v, K), B = image(b, v, K), C = image(c, v, K);
  const xyz e = {B.x - A.x, B.y - A.y, B.z - A.z}, f = {C.x - A.x, C.y - A.y, C.z - A.z};
  xyz n = {e.y * f.z - e.z * f.y, e.z * f.x - e.x * f.z, e.x * f.y - e.y * f.x};
  const vec one = set(1) / root(dot(n, n));
  n = (xyz){n.x * one, n.y * one, n.z * one};
  const vec h = dot(A, n), a1 = root(dot(A, A)), b1 = root(dot(B, B)), c1 = root(dot(C, C));
  const vec flat = fma3(h, W, side(A, B, n, a1, b1, h) + side(B, C, n, b1, c1, h) + side(C, A, n, c1, a1, h));
  return root(fma3(set(K) * h, h, set(1))) * flat;
}

/* Sums over the points of a quadrature rule. Each member is the sum of weight times value, where the value is that of
 * the function with the same name at the point. */
typedef struct sums {
  vec green, background, smooth;
} sums;

INLINE void add_point(const sight *s, double K, vec weight, vec square, vec behind, bool smooths, sums *sum) {
  sum->green = fma3(weight, green(s, K), sum->green);
  if (K > 0) sum->background = fma3(weight, background(s, square, behind), sum->background);
  if (smooths) sum->smooth = fma3(weight, smooth(s, K), sum->smooth);
}

/* Adds the nodes of the rule of degree 5 to the sums. */
INLINE void add_nodes(const double *p, size_t stride, const cb_curved_view *v, double K, vec least, vec behind,
                      bool smooths, sums *sum) {
  for (size_t k = 0; k < CB_CURVED_NODES; k++) {
    sight s = look(p + (CB_CURVED_NODE + 4 * k) * stride, stride, v, K, false, least);
    const vec square = set(1) / s.square;
    s.inverse = square * s.sine;
    add_point(&s, K, load(p + (CB_CURVED_NODE + 4 * CB_CURVED_NODES + k) * stride), square, behind, smooths, sum);
  }
}

/* Adds a corner or the centroid to the sums, for the rule of degree 2. */
INLINE void add_corner(const sight *s, double K, vec weight, vec behind, bool smooths, sums *sum) {
  add_point(s, K, weight, s->inverse * s->inverse, behind, smooths, sum);
}

INLINE void curved_group(const double *p, size_t stride, const cb_curved_view *v, double K, bool few, vec *S, vec *D) {
  const vec N = load(p + CB_CURVED_NORM * stride), least = set(1e-20) * N;
  sight a = look(p, stride, v, K, few, least), b = look(p + 4 * stride, stride, v, K, few, least),
        c = look(p + 8 * stride, stride, v, K, few, least),
        m = look(p + CB_CURVED_CENTROID * stride, stride, v, K, few, least);
  const double *plane = p + CB_CURVED_PLANE * stride, *sides = p + CB_CURVED_SIDE * stride;
  const vec height = -fma3(load(plane + 3 * stride), a.dw, dot(a.d, load3(plane, stride))), triple = -(N * height);
  const vec ab = a.sine * b.sine, cm = c.sine * m.sine, one = set(1) / (ab * cm), cm1 = cm * one, ab1 = ab * one;
  a.inverse = cm1 * b.sine;
  b.inverse = cm1 * a.sine;
  c.inverse = ab1 * m.sine;
  m.inverse = ab1 * c.sine;

  const vec low = where_above(a.square, b.square, b.square, a.square), w = where_above(a.w, b.w, b.w, a.w);
  const vec reach = where_above(where_above(w, c.w, c.w, w), set(image_w), load(p + CB_CURVED_NEAR * stride), set(0)),
            closest = where_above(low, c.square, c.square, low);
  const bool near = any_above(reach, closest);
  const vec share = N * set(1. / 24), behind = set(3 * behind_w) - (a.w + b.w + c.w);
  sums sum = {set(0), set(0), set(0)};
  if (few) {
    add_corner(&m, K, load(p + CB_CURVED_WEIGHT * stride), behind, near, &sum);
    add_corner(&a, K, share, behind, near, &sum);
    add_corner(&b, K, share, behind, near, &sum);
    add_corner(&c, K, share, behind, near, &sum);
  } else
    add_nodes(p, stride, v, K, least, behind, near, &sum);
  vec s = sum.green * set(K < 0 ? 1 / (4 * PI) : 1 / (4 * PI * PI));

  vec W = set(0);
  if (D || near) {
    const vec half = set(0.5), quarter = set(-K / 4);
    const vec dot_ab = fma3(quarter * a.q, b.q, half * (a.q + b.q - load(sides))),
              dot_bc = fma3(quarter * b.q, c.q, half * (b.q + c.q - load(sides + stride))),
              dot_ca = fma3(quarter * c.q, a.q, half * (c.q + a.q - load(sides + 2 * stride)));
    const vec along = fma3(ab, c.sine, fma3(dot_ab, c.sine, fma3(dot_bc, a.sine, dot_ca * b.sine)));
    W = any_above(size_of(triple), set(1. / 16) * along) ? -double_angle(triple, along)
                                                         : -small_angle(triple / along, -1);
  }
  if (near) {
    s = where_above(reach, closest, set(1 / (4 * PI)) * (singular(&a, &b, &c, v, K, W) + sum.smooth), s);
  }
  *S = s;
  if (!D) return;
  *D = set(1 / (4 * PI)) * W;
  if (K < 0) return;
  const vec rest = sum.background * height * set(1 / (4 * PI * PI));
  *D = where_above(behind, set(0), rest, *D - rest);
}

INLINE void curved_rows(const double *lanes, size_t stride, const cb_curved_view *v, double K, bool few, int n,
                        double *S, double *D) {
  for (int i = 0; i < n; i += WIDTH) {
    vec s, d;
    double last[WIDTH];
    curved_group(lanes + i, stride, v, K, few, &s, D ? &d : NULL);
    if (i + WIDTH <= n) {
      store(S + i, s);
      if (D) store(D + i, d);
      continue;
    }
    store(last, s);
    memcpy(S + i, last, (size_t)(n - i) * sizeof *S);
    if (D) {
      store(last, d);
      memcpy(D + i, last, (size_t)(n - i) * sizeof *D);
    }
  }
}

static void row(const double *lanes, size_t stride, const cb_curved_view *v, int n, double *S, double *D) {
  if (v->K < 0 && v->few)
    curved_rows(lanes, stride, v, -1, true, n, S, D);
  else if (v->K < 0)
    curved_rows(lanes, stride, v, -1, false, n, S, D);
  else if (v->few)
    curved_rows(lanes, stride, v, 1, true, n, S, D);
  else
    curved_rows(lanes, stride, v, 1, false, n, S, D);
}

/* --- gradients ---
 *
 * The gradients of S and D of geodesic panels are those with respect to the point x. Let p = (p_x, c_K) = T_x^-1 y for
 * a point y of a panel. If x moves along v, then p_x moves by -c_K v, and c_K by K v.p_x. Therefore
 *   grad D   -(1/(2 pi)) grad atan2(V, M),  grad V = -N nu,
 *            grad M = -sum_a (c_a (a/|a|)(|b||c| + b.c) + |a| (c_b c + c_c b))
 *   grad S   the sum over the points of -W (p_x/s_K) G',  4 pi G' = -1/s_K^2 for K = -1,
 *            4 pi^2 G' = -(c_K s_K + pi - t)/s_K^2 for K = 1 and the distance t of the point
 *   near     sqrt(1 + K f^2) ((1 + K f^2) int q/|q|^3 - K sum_e t_e int_e q/|q|) + K s (1 + K f^2)^(3/2) nu times the
 *            flat integral of 1/|q|, plus the gradients of the points of the smooth part;  q = p_x/c_K
 *   K = 1    the sum of D, which has the factor s, by the product rule; the gradient of a point is p_x times
 *            (3 c_K b - 2)/s_K^2, or p_x times (3 c_K b + 2)/s_K^2 where pi - t replaces t
 * V = [a b c] and M are the two arguments of atan2 in curved_flow.h, and s and f are those of curved_flow.h. a stands
 * for p_x of each corner in turn, and b and c for p_x of the next two corners; c_a, c_b and c_c are c_K of these
 * corners. nu is the normal of the panel's plane seen from x, and N is the norm at the top of this file. t_e is that of
 * panels.h. In the last two lines b is the function `background`. The line `near` follows because the flat triangle of
 * the points q moves by -v - K q (q.v), which maps lines to lines. The formulas are the exact derivatives of the values
 * for a fixed choice of the near panels. Derived for this project.
 */

/* Returns -1/s_K times the derivative of 4 pi G (K < 0) or 4 pi^2 G (K > 0) with respect to the distance. p_x times
 * this number is the gradient. */
INLINE vec green_slope(const sight *s, double K) {
  const vec square = s->inverse * s->inverse;
  if (K < 0) return square * s->inverse;
  return square * (s->w + where_above(s->w, set(0), fma3(set(PI), s->inverse, -s->P), s->P));
}

/* Returns the number by which p_x is multiplied in the gradient of background(). b is the value of background(). */
INLINE vec background_slope(const sight *s, vec square, vec behind, vec b) {
  return square * fma3(set(3) * s->w, b, where_above(behind, set(0), set(2), set(-2)));
}

/* Returns the number by which p_x is multiplied in the gradient of smooth(). */
INLINE vec smooth_slope(const sight *s, double K) {
  const vec w2 = s->w * s->w, cube = s->inverse * s->inverse * s->inverse,
            far = fma3(set(-2 * K), s->square, w2) * cube / (w2 * s->w);
  return green_slope(s, K) * set(K < 0 ? 1 : 1 / PI) - far;
}

/* Sums over the points of one rule: the value of background(), and the gradients of green(), background() and
 * smooth(). */
typedef struct slopes {
  vec value;
  xyz green, background, smooth;
} slopes;

INLINE void add_times(vec f, xyz a, xyz *sum) {
  *sum = (xyz){fma3(f, a.x, sum->x), fma3(f, a.y, sum->y), fma3(f, a.z, sum->z)};
}

INLINE void add_slope(const sight *s, const cb_curved_view *v, double K, vec weight, vec behind, bool smooths,
                      slopes *sum) {
  const xyz p = towards(s, v, K);
  add_times(weight * green_slope(s, K), p, &sum->green);
  if (smooths) add_times(weight * smooth_slope(s, K), p, &sum->smooth);
  if (K < 0) return;
  const vec square = s->inverse * s->inverse, b = background(s, square, behind);
  sum->value = fma3(weight, b, sum->value);
  add_times(weight * background_slope(s, square, behind, b), p, &sum->background);
}

/* Computes the terms of the edge from a to b of the flat triangle with the normal n. The function adds L m_e to
 * *normals and t_e int_e q/|q| to *lines, with L, m_e and t_e of potential/panels.h. It returns t_e L. */
INLINE vec edge_slopes(xyz a, xyz b, xyz n, vec A, vec B, vec h, xyz *normals, xyz *lines) {
  const xyz d = {b.x - a.x, b.y - a.y, b.z - a.z};
  const vec l = root(dot(d, d)), one = set(1) / l;
  const xyz e = times(one, d), m = {e.y * n.z - e.z * n.y, e.z * n.x - e.x * n.z, e.x * n.y - e.y * n.x};
  const vec t = dot(a, m), L = edge_log(A + B, l, product(A * B, dot(a, b), t, h, l)), along = dot(a, e);
  add_times(L, m, normals);
  add_times(t * L, a, lines);
  add_times(t * (B - A - along * L), e, lines);
  return t * L;
}

/* Returns 4 pi times the gradient of the singular part of S (singular()). nu is the normal of the plane seen from x,
 * and height is s_K of the signed distance of x from the plane. */
INLINE xyz singular_slope(const sight *a, const sight *b, const sight *c, const cb_curved_view *v, double K, vec W,
                          xyz nu, vec height) {
  const xyz A = image(a, v, K), B = image(b, v, K), C = image(c, v, K);
  const xyz e = {B.x - A.x, B.y - A.y, B.z - A.z}, f = {C.x - A.x, C.y - A.y, C.z - A.z};
  xyz n = {e.y * f.z - e.z * f.y, e.z * f.x - e.x * f.z, e.x * f.y - e.y * f.x}, normals = {set(0), set(0), set(0)},
      lines = normals, out = normals;
  n = times(set(1) / root(dot(n, n)), n);
  const vec h = dot(A, n), a1 = root(dot(A, A)), b1 = root(dot(B, B)), c1 = root(dot(C, C));
  const vec flat =
      fma3(h, W,
           edge_slopes(A, B, n, a1, b1, h, &normals, &lines) + edge_slopes(B, C, n, b1, c1, h, &normals, &lines) +
               edge_slopes(C, A, n, c1, a1, h, &normals, &lines));
  const vec square = fma3(set(K) * h, h, set(1)), scale = root(square);
  add_times(-(scale * square), normals, &out);
  add_times(-(scale * square) * W, n, &out);
  add_times(set(-K) * scale, lines, &out);
  add_times(set(K) * height * scale * square * flat, nu, &out);
  return out;
}

/* Returns minus the gradient in x of M, the second argument of atan2 in the formula of D (potential/curved_flow.h). */
INLINE xyz along_slope(const sight *a, const sight *b, const sight *c, xyz pa, xyz pb, xyz pc) {
  const vec ab = dot(pa, pb), bc = dot(pb, pc), ca = dot(pc, pa);
  const vec fa = a->w * a->inverse * fma3(b->sine, c->sine, bc) + b->w * c->sine + c->w * b->sine,
            fb = b->w * b->inverse * fma3(c->sine, a->sine, ca) + c->w * a->sine + a->w * c->sine,
            fc = c->w * c->inverse * fma3(a->sine, b->sine, ab) + a->w * b->sine + b->w * a->sine;
  xyz out = times(fa, pa);
  add_times(fb, pb, &out);
  add_times(fc, pc, &out);
  return out;
}

/* Returns nu, the normal of the panel's plane seen from x. */
INLINE xyz seen_normal(const double *plane, size_t stride, const cb_curved_view *v, double K) {
  const xyz nu = load3(plane, stride), x = {set(v->x[0]), set(v->x[1]), set(v->x[2])};
  xyz out = nu;
  add_times(-set(K) * fma3(dot(nu, x), set(1 / (1 + v->x[3])), load(plane + 3 * stride)), x, &out);
  return out;
}

/* Computes the sums over the points of the rule. at[4] are the corners and the centroid relative to x; their member
 * `inverse` must be set. */
INLINE slopes sum_points(const double *p, size_t stride, const cb_curved_view *v, double K, bool few, const sight at[4],
                         vec behind, bool smooths) {
  const xyz none = {set(0), set(0), set(0)};
  slopes sum = {set(0), none, none, none};
  if (few) {
    const vec share = load(p + CB_CURVED_NORM * stride) * set(1. / 24);
    add_slope(at + 3, v, K, load(p + CB_CURVED_WEIGHT * stride), behind, smooths, &sum);
    for (int k = 0; k < 3; k++) add_slope(at + k, v, K, share, behind, smooths, &sum);
    return sum;
  }
  const vec least = set(1e-20) * load(p + CB_CURVED_NORM * stride);
  for (size_t k = 0; k < CB_CURVED_NODES; k++) {
    sight s = look(p + (CB_CURVED_NODE + 4 * k) * stride, stride, v, K, false, least);
    s.inverse = set(1) / s.sine;
    add_slope(&s, v, K, load(p + (CB_CURVED_NODE + 4 * CB_CURVED_NODES + k) * stride), behind, smooths, &sum);
  }
  return sum;
}

INLINE xyz chosen(vec above, vec below, xyz a, xyz b) {
  return (xyz){where_above(above, below, a.x, b.x), where_above(above, below, a.y, b.y),
               where_above(above, below, a.z, b.z)};
}

INLINE void gradient_group(const double *p, size_t stride, const cb_curved_view *v, double K, bool few, xyz *S,
                           xyz *D) {
  const vec N = load(p + CB_CURVED_NORM * stride), least = set(1e-20) * N;
  sight at[4];
  for (int k = 0; k < 4; k++) {
    const size_t row_ = k < 3 ? CB_CURVED_CORNER + 4 * (size_t)k : CB_CURVED_CENTROID;
    at[k] = look(p + row_ * stride, stride, v, K, few, least);
    at[k].inverse = set(1) / at[k].sine;
  }
  const sight *a = at, *b = at + 1, *c = at + 2;
  const double *plane = p + CB_CURVED_PLANE * stride;
  const vec height = -fma3(load(plane + 3 * stride), a->dw, dot(a->d, load3(plane, stride))), triple = -(N * height);
  const vec low = where_above(a->square, b->square, b->square, a->square), w = where_above(a->w, b->w, b->w, a->w),
            reach = where_above(where_above(w, c->w, c->w, w), set(image_w), load(p + CB_CURVED_NEAR * stride), set(0)),
            closest = where_above(low, c->square, c->square, low), behind = set(3 * behind_w) - (a->w + b->w + c->w);
  const bool near = any_above(reach, closest);
  const xyz nu = seen_normal(plane, stride, v, K), pa = towards(a, v, K), pb = towards(b, v, K), pc = towards(c, v, K);
  const slopes sum = sum_points(p, stride, v, K, few, at, behind, near);
  *S = times(set(K < 0 ? 1 / (4 * PI) : 1 / (4 * PI * PI)), sum.green);

  const vec along = fma3(a->sine * b->sine, c->sine,
                         fma3(dot(pa, pb), c->sine, fma3(dot(pb, pc), a->sine, dot(pc, pa) * b->sine))),
            square = fma3(triple, triple, along * along), unit = set(-1 / (2 * PI)) / square;
  if (near) {
    xyz close = singular_slope(a, b, c, v, K, -double_angle(triple, along), nu, height);
    add_times(set(1), sum.smooth, &close);
    *S = chosen(reach, closest, times(set(1 / (4 * PI)), close), *S);
  }
  xyz slope = times(-(unit * along * N), nu);
  add_times(unit * triple, along_slope(a, b, c, pa, pb, pc), &slope);
  *D = slope;
  if (K < 0) return;
  xyz rest = times(set(1 / (4 * PI * PI)) * sum.value, nu);
  add_times(set(1 / (4 * PI * PI)) * height, sum.background, &rest);
  *D = chosen(behind, set(0), rest, (xyz){slope.x - rest.x, slope.y - rest.y, slope.z - rest.z});
}

INLINE void store_slopes(xyz a, int n, size_t width, double *to) {
  const vec rows_[3] = {a.x, a.y, a.z};
  for (int k = 0; k < 3; k++) {
    double lane[WIDTH];
    store(lane, rows_[k]);
    memcpy(to + (size_t)k * width, lane, (size_t)(n < WIDTH ? n : WIDTH) * sizeof *lane);
  }
}

INLINE void gradients(const double *lanes, size_t stride, const cb_curved_view *v, double K, bool few, int n,
                      size_t width, double *S, double *D) {
  for (int i = 0; i < n; i += WIDTH) {
    xyz s, d;
    gradient_group(lanes + i, stride, v, K, few, &s, &d);
    store_slopes(s, n - i, width, S + i);
    store_slopes(d, n - i, width, D + i);
  }
}

static void gradient(const double *lanes, size_t stride, const cb_curved_view *v, int n, size_t width, double *S,
                     double *D) {
  if (v->K < 0 && v->few)
    gradients(lanes, stride, v, -1, true, n, width, S, D);
  else if (v->K < 0)
    gradients(lanes, stride, v, -1, false, n, width, S, D);
  else if (v->few)
    gradients(lanes, stride, v, 1, true, n, width, S, D);
  else
    gradients(lanes, stride, v, 1, false, n, width, S, D);
}

const cb_curved_kernels KERNELS = {row, gradient};
#endif
