/* This file computes S and D of panels and their gradients (equations in potential/panels.h). It is written once for
 * the vectors of any instruction set. panel_x86_64.c, panel_avx2.c and panel_avx512.c include it after they have
 * defined WIDTH, the type vec (one number of each of WIDTH panels), functions on vec, and KERNELS.
 */
#ifndef CB_POTENTIAL_PANEL_KERNEL_H
#define CB_POTENTIAL_PANEL_KERNEL_H

#include "potential/panels.h"

/* The first row of each kind of data in the array `lanes` of panels: the coordinates x, y, z of the three corners, the
 * normal times twice the area, the conormals m_e of the three edges (potential/panels.h), the lengths of the edges, and
 * 1/(2 area). CB_PANEL_LANES is the number of rows, and CB_PANEL_COLUMNS the maximum number of columns of `product`. */
enum {
  CB_PANEL_CORNER = 0,
  CB_PANEL_NORMAL = 9,
  CB_PANEL_CONORMAL = 12,
  CB_PANEL_LENGTH = 21,
  CB_PANEL_INVERSE = 24,
  CB_PANEL_LANES = 25,
  CB_PANEL_COLUMNS = 8,
  CB_PANEL_PAD = 8 /* up to this many panels are read after the last one */
};

typedef struct cb_panel_kernels {
  /* Computes S[n] and D[n] of n panels at x; either may be NULL. Row r of panel i is lanes[r * stride + i]. */
  void (*row)(const double *lanes, size_t stride, const double x[3], int n, double *S, double *D);
  /* Computes the gradients of S and D with respect to x; either may be NULL. The components x, y, z for panel i are
   * S[i], S[width + i] and S[2 width + i], and likewise for D. */
  void (*gradient)(const double *lanes, size_t stride, const double x[3], int n, size_t width, double *S, double *D);
  /* Adds sum_j row[j] x[c stride + j] to out[c], for the columns c = 0..columns - 1 (at most CB_PANEL_COLUMNS). j runs
   * over n numbers, and n is a multiple of CB_PANEL_PAD. The order of the sums does not depend on the number of
   * columns. */
  void (*product)(const double *row, int n, int columns, const double *x, size_t stride, double *out);
} cb_panel_kernels;

extern const cb_panel_kernels cb_panel_kernels_x86_64, cb_panel_kernels_avx2, cb_panel_kernels_avx512;
const cb_panel_kernels *cb_panel_kernels_of_isa(void);

#endif

#if defined(KERNELS)

#include <string.h>

#include "potential/panel_math.h"

/* Returns whether all WIDTH panels are so far from x that the series of small_angle are accurate for their edges and
 * solid angles. A, B and C are the distances of the corners, l the lengths of the edges. The solid angle is 2
 * atan2(triple, along). */
INLINE int all_far(vec A, vec B, vec C, const double *l, size_t stride, vec triple, vec along) {
  const vec l1 = load(l), l2 = load(l + stride), l3 = load(l + 2 * stride), maximum = set(1. / 16);
  return !(any_above(l1, maximum * (A + B)) || any_above(l2, maximum * (B + C)) || any_above(l3, maximum * (C + A)) ||
           any_above(size_of(triple), maximum * along));
}

INLINE void far_group(const double *p, size_t stride, xyz a, xyz b, xyz c, vec A, vec B, vec C, vec triple, vec along,
                      vec *S, vec *D) {
  const vec W = -small_angle(triple / along, -1), scale = set(1 / (4 * PI));
  if (D) *D = scale * W;
  if (!S) return;
  const double *m = p + CB_PANEL_CONORMAL * stride, *l = p + CB_PANEL_LENGTH * stride;
  const vec AB = A + B, BC = B + C, CA = C + A, both = AB * BC, one = set(1) / (both * CA);
  const vec L1 = small_angle(load(l) * (one * (BC * CA)), 1), L2 = small_angle(load(l + stride) * (one * (CA * AB)), 1),
            L3 = small_angle(load(l + 2 * stride) * (one * both), 1);
  const vec t1 = dot(a, load3(m, stride)), t2 = dot(b, load3(m + 3 * stride, stride)),
            t3 = dot(c, load3(m + 6 * stride, stride)), h = triple * load(p + CB_PANEL_INVERSE * stride);
  *S = scale * fma3(h, W, fma3(t3, L3, fma3(t2, L2, t1 * L1)));
}

INLINE void group(const double *p, size_t stride, xyz x, vec *S, vec *D) {
  const xyz a = seen(p, stride, x), b = seen(p + 3 * stride, stride, x), c = seen(p + 6 * stride, stride, x);
  const vec A = root(dot(a, a)), B = root(dot(b, b)), C = root(dot(c, c)), ab = dot(a, b), bc = dot(b, c),
            ca = dot(c, a), AB = A * B;
  const xyz n2 = load3(p + CB_PANEL_NORMAL * stride, stride);
  const vec triple = dot(a, n2), along = fma3(AB, C, fma3(ab, C, fma3(bc, A, ca * B)));
  if (all_far(A, B, C, p + CB_PANEL_LENGTH * stride, stride, triple, along)) {
    far_group(p, stride, a, b, c, A, B, C, triple, along, S, D);
    return;
  }
  const vec W = -double_angle(triple, along);
  const vec scale = set(1 / (4 * PI));
  if (D) *D = scale * W;
  if (!S) return;
  const vec h = triple * load(p + CB_PANEL_INVERSE * stride);
  const double *m = p + CB_PANEL_CONORMAL * stride, *l = p + CB_PANEL_LENGTH * stride;
  const vec l1 = load(l), l2 = load(l + stride), l3 = load(l + 2 * stride);
  const vec t1 = dot(a, load3(m, stride)), t2 = dot(b, load3(m + 3 * stride, stride)),
            t3 = dot(c, load3(m + 6 * stride, stride));
  const vec L1 = edge_log(A + B, l1, product(AB, ab, t1, h, l1)),
            L2 = edge_log(B + C, l2, product(B * C, bc, t2, h, l2)),
            L3 = edge_log(C + A, l3, product(C * A, ca, t3, h, l3));
  *S = scale * fma3(h, W, fma3(t3, L3, fma3(t2, L2, t1 * L1)));
}

INLINE void rows(const double *lanes, size_t stride, const double at[3], int n, double *S, double *D) {
  const xyz x = {set(at[0]), set(at[1]), set(at[2])};
  int i = 0;
  for (; i + WIDTH <= n; i += WIDTH) {
    vec s, d;
    group(lanes + i, stride, x, S ? &s : NULL, D ? &d : NULL);
    if (S) store(S + i, s);
    if (D) store(D + i, d);
  }
  if (i == n) return;
  vec s, d;
  double last[WIDTH];
  group(lanes + i, stride, x, S ? &s : NULL, D ? &d : NULL);
  if (S) {
    store(last, s);
    memcpy(S + i, last, (size_t)(n - i) * sizeof *S);
  }
  if (D) {
    store(last, d);
    memcpy(D + i, last, (size_t)(n - i) * sizeof *D);
  }
}

static void row(const double *lanes, size_t stride, const double x[3], int n, double *S, double *D) {
  if (S && D)
    rows(lanes, stride, x, n, S, D);
  else if (D)
    rows(lanes, stride, x, n, NULL, D);
  else if (S)
    rows(lanes, stride, x, n, S, NULL);
}

/* Returns the strength (R1 + R2)/(R1 R2 (R1 R2 + a.b)) of the vortex along an edge (gradient_group), for A = R1, B = R2
 * and v = R1 R2 + a.b. Returns 0 on the edge. */
INLINE vec vortex(vec A, vec B, vec v) {
  const vec below = A * B * v, least = set(1e-300);
  return where_above(below, least, (A + B) / where_above(below, least, below, set(1)), set(0));
}

/* Returns R1 R2 + a.b (gradient_group), for both = R1 R2, ab = a.b and cross2 = |a × b|^2. Near the edge it is computed
 * as |a × b|^2/(R1 R2 - a.b), because the sum has cancellation there. */
INLINE vec product_of_cross(vec both, vec ab, vec cross2) {
  const vec edge = set(-0.9) * both, v = both + ab;
  if (!any_above(edge, ab)) return v;
  return where_above(edge, ab, cross2 / (both - ab), v);
}

INLINE xyz cross_of(xyz a, xyz b) {
  const xyz d = {b.x - a.x, b.y - a.y, b.z - a.z};
  return (xyz){fma3(a.y, d.z, -(a.z * d.y)), fma3(a.z, d.x, -(a.x * d.z)), fma3(a.x, d.y, -(a.y * d.x))};
}

INLINE xyz sum_of(vec u, xyz a, vec v, xyz b, vec w, xyz c) {
  return (xyz){fma3(u, a.x, fma3(v, b.x, w * c.x)), fma3(u, a.y, fma3(v, b.y, w * c.y)),
               fma3(u, a.z, fma3(v, b.z, w * c.z))};
}

/* Computes the gradients of S and D of WIDTH panels at x:
 *   grad S = -1/(4 pi) (sum_e L_e m_e + W n),   grad D = -1/(4 pi) sum_e (R1 + R2)/(R1 R2 (R1 R2 + a.b)) a × b
 * a and b are the vectors from x to the ends of edge e. The other symbols are those of potential/panels.h. grad D is
 * the law of Biot and Savart for a vortex around the border of the panel. */
INLINE void gradient_group(const double *p, size_t stride, xyz x, xyz *S, xyz *D) {
  const xyz a = seen(p, stride, x), b = seen(p + 3 * stride, stride, x), c = seen(p + 6 * stride, stride, x);
  const xyz e = cross_of(a, b), f = cross_of(b, c), g = cross_of(c, a);
  const vec A = root(dot(a, a)), B = root(dot(b, b)), C = root(dot(c, c)), ab = dot(a, b), bc = dot(b, c),
            ca = dot(c, a), AB = A * B, scale = set(-1 / (4 * PI));
  const vec u = product_of_cross(AB, ab, dot(e, e)), v = product_of_cross(B * C, bc, dot(f, f)),
            w = product_of_cross(C * A, ca, dot(g, g));
  if (D) *D = sum_of(scale * vortex(A, B, u), e, scale * vortex(B, C, v), f, scale * vortex(C, A, w), g);
  if (!S) return;
  const xyz n2 = load3(p + CB_PANEL_NORMAL * stride, stride);
  const double *m = p + CB_PANEL_CONORMAL * stride, *l = p + CB_PANEL_LENGTH * stride;
  const vec l1 = load(l), l2 = load(l + stride), l3 = load(l + 2 * stride), triple = dot(a, n2),
            along = fma3(AB, C, fma3(ab, C, fma3(bc, A, ca * B)));
  vec W, L1, L2, L3;
  if (all_far(A, B, C, l, stride, triple, along)) {
    W = -small_angle(triple / along, -1);
    L1 = small_angle(l1 / (A + B), 1);
    L2 = small_angle(l2 / (B + C), 1);
    L3 = small_angle(l3 / (C + A), 1);
  } else {
    W = -double_angle(triple, along);
    L1 = edge_log(A + B, l1, u);
    L2 = edge_log(B + C, l2, v);
    L3 = edge_log(C + A, l3, w);
  }
  const xyz along_edges = sum_of(scale * L1, load3(m, stride), scale * L2, load3(m + 3 * stride, stride), scale * L3,
                                 load3(m + 6 * stride, stride));
  const vec across = scale * W * load(p + CB_PANEL_INVERSE * stride);
  *S = (xyz){fma3(across, n2.x, along_edges.x), fma3(across, n2.y, along_edges.y), fma3(across, n2.z, along_edges.z)};
}

INLINE void store_rows(xyz a, int n, size_t width, double *to) {
  const vec row[3] = {a.x, a.y, a.z};
  for (int k = 0; k < 3; k++) {
    double lane[WIDTH];
    if (n >= WIDTH) {
      store(to + (size_t)k * width, row[k]);
      continue;
    }
    store(lane, row[k]);
    memcpy(to + (size_t)k * width, lane, (size_t)n * sizeof *lane);
  }
}

INLINE void gradients(const double *lanes, size_t stride, const double at[3], int n, size_t width, double *S,
                      double *D) {
  const xyz x = {set(at[0]), set(at[1]), set(at[2])};
  for (int i = 0; i < n; i += WIDTH) {
    xyz s, d;
    gradient_group(lanes + i, stride, x, S ? &s : NULL, D ? &d : NULL);
    if (S) store_rows(s, n - i, width, S + i);
    if (D) store_rows(d, n - i, width, D + i);
  }
}

static void gradient(const double *lanes, size_t stride, const double x[3], int n, size_t width, double *S, double *D) {
  if (S && D)
    gradients(lanes, stride, x, n, width, S, D);
  else if (D)
    gradients(lanes, stride, x, n, width, NULL, D);
  else if (S)
    gradients(lanes, stride, x, n, width, S, NULL);
}

INLINE void products(const double *row_, int n, int columns, const double *x, size_t stride, double *out) {
  vec sum[CB_PANEL_COLUMNS];
#pragma GCC unroll 8
  for (int c = 0; c < columns; c++) sum[c] = set(0);
  for (int j = 0; j < n; j += WIDTH) {
    const vec a = load(row_ + j);
#pragma GCC unroll 8
    for (int c = 0; c < columns; c++) sum[c] = fma3(a, load(x + (size_t)c * stride + j), sum[c]);
  }
#pragma GCC unroll 8
  for (int c = 0; c < columns; c++) {
    double lane[WIDTH];
    store(lane, sum[c]);
    for (int i = 0; i < WIDTH; i++) out[c] += lane[i];
  }
}

static void product_of(const double *row_, int n, int columns, const double *x, size_t stride, double *out) {
  switch (columns) {
    case 1: products(row_, n, 1, x, stride, out); break;
    case 2: products(row_, n, 2, x, stride, out); break;
    case 3: products(row_, n, 3, x, stride, out); break;
    case 4: products(row_, n, 4, x, stride, out); break;
    case 5: products(row_, n, 5, x, stride, out); break;
    case 6: products(row_, n, 6, x, stride, out); break;
    case 7: products(row_, n, 7, x, stride, out); break;
    default: products(row_, n, CB_PANEL_COLUMNS, x, stride, out);
  }
}

const cb_panel_kernels KERNELS = {row, gradient, product_of};
#endif
