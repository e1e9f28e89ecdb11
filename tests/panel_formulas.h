/* The potentials of one panel at one point x, computed with functions of the C library as a reference for the kernels
 * of curvebody. Equations and symbols are those of potential/panels.h. With a and b, the vectors from x to the ends of
 * an edge of length l, R1 + R2 - l is computed as 2 (R1 R2 + a.b)/(R1 + R2 + l). Where x approaches an edge e, t_e L_e
 * goes to 0 with t_e. */
#pragma once

#include "numerics/vec3.h"

#include <math.h>

#define FOUR_PI 12.566370614359172954

/* An edge from p to q as seen from x; a and b are the vectors from x to p and q. */
typedef struct edge {
  double a[3], cross[3], conormal[3]; /* cross: a × b; conormal: (b - a) × n/l */
  double R1, R2, product;             /* R1, R2: lengths of a and b; product: R1 R2 + a.b */
  double log, t;
} edge;

static inline edge edge_of(const double p[3], const double q[3], const double x[3], const double n[3]) {
  edge e;
  double b[3], along[3], l2 = 0;
  for (int k = 0; k < 3; k++) {
    e.a[k] = p[k] - x[k];
    b[k] = q[k] - x[k];
    along[k] = q[k] - p[k];
    l2 += along[k] * along[k];
  }
  const double l = sqrt(l2), dot = cb_dot3(e.a, b);
  e.R1 = sqrt(cb_dot3(e.a, e.a));
  e.R2 = sqrt(cb_dot3(b, b));
  cb_cross3(e.a, along, e.cross);
  const double both = e.R1 * e.R2, beside = cb_dot3(e.cross, e.cross);
  e.product = dot < 0 ? beside / (both - dot) : both + dot;
  cb_cross3(along, n, e.conormal);
  for (int k = 0; k < 3; k++) e.conormal[k] /= l;
  e.t = cb_dot3(e.a, e.conormal);
  const double sum = e.R1 + e.R2, ratio = l / sum;
  e.log = ratio < 0.5 ? 2 * atanh(ratio) : e.product > 0 ? log((sum + l) * (sum + l) / (2 * e.product)) : 0;
  return e;
}

/* Returns the solid angle W of the panel as seen from x. W is positive on the side to which the normal points, and 0 in
 * the plane of the panel. The length of the normal n2 is twice the area. */
static inline double angle_of(const edge e[3], const double n2[3]) {
  const double ab = cb_dot3(e[0].a, e[1].a), bc = cb_dot3(e[1].a, e[2].a), ca = cb_dot3(e[2].a, e[0].a);
  const double A = e[0].R1, B = e[1].R1, C = e[2].R1;
  /* the triple product of the vectors from x to the corners is a.n2, where a is the vector to any corner; the nearest
   * corner gives the least round-off */
  const edge *near = A <= B && A <= C ? e : B <= C ? e + 1 : e + 2;
  const double triple = cb_dot3(near->a, n2), along = A * B * C + ab * C + bc * A + ca * B;
  return triple == 0 ? 0 : -2 * atan2(triple, along);
}

static inline double look(const double corner[3][3], const double x[3], edge e[3], double n[3]) {
  double n2[3];
  cb_normal3(corner[0], corner[1], corner[2], n2);
  const double twice = sqrt(cb_dot3(n2, n2));
  for (int k = 0; k < 3; k++) n[k] = n2[k] / twice;
  for (int k = 0; k < 3; k++) e[k] = edge_of(corner[k], corner[(k + 1) % 3], x, n);
  return angle_of(e, n2);
}

/* Computes the potentials S of sources and D of dipoles on the panel; each pointer may be NULL. */
static inline void panel_potential(const double corner[3][3], const double x[3], double *S, double *D) {
  edge e[3];
  double n[3];
  const double angle = look(corner, x, e, n);
  if (D) *D = angle / FOUR_PI;
  if (S) *S = (e[0].t * e[0].log + e[1].t * e[1].log + e[2].t * e[2].log + cb_dot3(e[0].a, n) * angle) / FOUR_PI;
}

/* Computes the gradients of S and D with respect to x; each pointer may be NULL. The gradient of D is infinite on the
 * edges; there the contribution of the edge is left out. The normal part of the gradient of S jumps by -1 across the
 * panel; on the panel it is the mean of both sides. */
static inline void panel_velocity(const double corner[3][3], const double x[3], double S_gradient[3],
                                  double D_gradient[3]) {
  edge e[3];
  double n[3];
  const double angle = look(corner, x, e, n);
  for (int k = 0; S_gradient && k < 3; k++)
    S_gradient[k] =
        -(e[0].log * e[0].conormal[k] + e[1].log * e[1].conormal[k] + e[2].log * e[2].conormal[k] + angle * n[k]) /
        FOUR_PI;
  for (int k = 0; D_gradient && k < 3; k++) {
    D_gradient[k] = 0;
    for (int i = 0; i < 3; i++) {
      const double scale = e[i].R1 * e[i].R2 * e[i].product;
      if (scale > 0) D_gradient[k] -= (e[i].R1 + e[i].R2) / scale * e[i].cross[k] / FOUR_PI;
    }
  }
}
