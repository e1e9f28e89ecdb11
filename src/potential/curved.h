/* The potential flow of a perfect fluid that fills a space of constant curvature K about a closed body, by geodesic
 * triangles that carry constant sources and normal dipoles.
 *
 *   (1/2 - D) phi = -S w,  K_ab = -sum phi_a A m_b,  m of a panel: the mean of the flux of numerics/curved.h
 *   G   K < 0: r (coth(r d) - 1)/4 pi;  K > 0: r (pi - r d) cot(r d)/4 pi^2, whose background is even, r = sqrt|K|
 *   seen from x, with T_x^-1 y = (p, w), S = |p|, d the distance, s that of x from the panel's plane by s_K:
 *   D   -(1/2 pi) atan2([a b c], |a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|) of the corners' p, the solid angle; K > 0:
 *       less sum W s r^3 (t - sin t cos t)/(4 pi^2 sin^3 t), t = r d; panels beyond w = -1/2 by the whole kernel
 *   S   sum W G; near x sqrt(1 + K e^2) times the flat integral of 1/4 pi r over the triangle of p/w, whose plane is at
 *       the distance e, and sum W (G - 1/(4 pi S w^2)), which is smooth
 * The rows of D add up to -1/2, and to -1/2 + |B|/V in a sphere of volume V = 2 pi^2/r^3. Errors of order h^2 of panels
 * below about .3/r. DeTurck & Gluck, J. Math. Phys. 49 (2008) 023504, doi:10.1063/1.2827467, for G; the rest is derived
 * here. Lengths in metres, a fluid of density 1.
 */
#pragma once

#include "potential/operator.h"
#include "core/arena.h"
#include "potential/curved_kernel.h"

typedef struct cb_curved_flow cb_curved_flow;

/* Faces on vertices at normal coordinates x, in the space of options->curvature, options without zeros.
 * CB_ERROR_ARGUMENT for a matrix that does not fit into the memory, CB_ERROR_DOMAIN for a face of no area or one that
 * reaches half round the sphere, CB_ERROR_UNSUPPORTED for a method that is not for curved spaces. The caller frees. */
cb_status cb_curved_flow_create(int n, const double (*x)[3], const int (*face)[3], const cb_kirchhoff_options *options,
                                cb_curved_flow **out);
void cb_curved_flow_free(cb_curved_flow *f);
/* Other places of the vertices. */
cb_status cb_curved_flow_move(cb_curved_flow *f, const double (*x)[3], const int (*face)[3]);

const double *cb_curved_flow_areas(const cb_curved_flow *f); /* [n] */
/* w[6][n]: the mean normal velocities of the unit twists about the base point. */
void cb_curved_flow_motions(const cb_curved_flow *f, double *w);
/* w[n], of vertices whose normal coordinates x change with v. */
void cb_curved_flow_shape(const cb_curved_flow *f, const double (*x)[3], const double (*v)[3], const int (*face)[3],
                          double *w);
/* phi[columns][n] holds where to start. CB_ERROR_DOMAIN where the row sums tell of a surface that is not closed. */
cb_status cb_curved_flow_solve(cb_curved_flow *f, int columns, const double *w, double *phi);
cb_operator_report cb_curved_flow_report(const cb_curved_flow *f);
/* The mean of the row sums and 1/2: |B|/V in a sphere, 0 elsewhere. */
double cb_curved_flow_share(const cb_curved_flow *f);

/* Geodesic panels, and what they do at a point. */
typedef struct cb_curved_panels {
  int n;
  double K, r;                           /* r = sqrt|K| */
  double (*centre)[4];                   /* (r x, w) */
  double (*plane)[4], (*flux)[6], *area; /* flux: the mean */
  double *lanes;                         /* of CB_CURVED_LANES rows (potential/curved_kernel.h) */
  size_t stride;
  bool few; /* so small that D takes few points far off, too */
  const cb_curved_kernels *kernels;
} cb_curved_panels;

/* CB_ERROR_MEMORY. What it takes lies in the arena. */
cb_status cb_curved_panels_take(cb_curved_panels *p, cb_arena *arena, int n, double K);
/* Faces on vertices at normal coordinates x. CB_ERROR_DOMAIN for one of no area or that reaches too far, by its number
 * from 1. */
cb_status cb_curved_panels_lay(cb_curved_panels *p, const double (*x)[3], const int (*face)[3]);
/* What n panels from number `first` on do at (r x, w); self: as of cb_panels_range. D may be NULL. */
void cb_curved_panels_range(const cb_curved_panels *p, const double x[4], int first, int n, int self, double *S,
                            double *D);
size_t cb_curved_panels_bytes(int n);
