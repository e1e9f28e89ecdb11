/* Collocation of Wong's equations on panels, and Newton's method for all of it.
 *
 *   stages  X_i = x_k + h sum_j a_ij f(X_j),   x_k+1 = x_k + h sum_j b_j f(X_j),   h = duration/panels of the arc
 * Linearised, dX = P dx_k + s ddur + q, so that dx_k+1 and eta = sum h b_j Ad_{g_j} dxi_j are affine in z = (dx_0,
 * durations): "affine" rows have a column for each of z, and a constant. Where dx grows by much along the path, z
 * has the starts of several segments of panels, which are joined by equations.
 */
#ifndef CB_OPTIMUM_EXTREMAL_PRIVATE_H
#define CB_OPTIMUM_EXTREMAL_PRIVATE_H

#include "core/arena.h"
#include "optimum/extremal.h"

#include <stdbool.h>

enum { CB_ARCS_MAX = 32, CB_MARKS = 1024, CB_PANELS_MAX = 512, CB_SEGMENTS_MAX = 4, CB_STAGES = CB_EXTREMAL_STAGES };

/* What Newton's method moves: where panels begin and the end, stages, durations, multipliers, amount. */
typedef struct unknowns {
  double *x;     /* [panels + 1][size] */
  double *stage; /* [panels][CB_STAGES][size] */
  double duration[CB_ARCS_MAX], nu[CB_CONDITIONS_MAX], amount;
} unknowns;

typedef struct problem {
  const cb_optimum_problem *o;
  const cb_group *G;
  cb_wong wong;
  cb_gait_target target;
  cb_tableau gauss;
  int n, dim, size, count, row; /* conditions; the one with the amount, -1 */
  double gap[CB_SHAPE_MAX];     /* r(1) - r(0): whole periods */
  bool free, shifts, seeks;     /* free base; a shift of time leaves it an extremal; the amount is unknown */
} problem;

/* Arcs, panels, and all that an iteration needs. */
typedef struct extremal_mesh {
  const problem *p;
  int arcs, panels, first[CB_ARCS_MAX + 1]; /* panels of arc a: first[a] to first[a + 1] - 1 */
  unsigned held[CB_ARCS_MAX];
  double bound[CB_ARCS_MAX][CB_SHAPE_MAX]; /* of variables that arc a holds */
  const cb_gait *start;                    /* borrowed: where it begins */
  unknowns at, trial, step;
  double rscale[CB_SHAPE_MAX], pscale[CB_SHAPE_MAX], lscale, vscale, cscale, escale; /* of r, p, lambda, v, c, E */
  double g1[CB_GROUP_SIZE], cost;
  double *f, *xi, *X, *J; /* at stages: [panels][CB_STAGES][size], [dim], [dim][size], [size][size] */
  double *element;        /* [panels + 1][group->size] */
  double *Ad;             /* [panels][CB_STAGES][dim][dim] */
  double *off;            /* [panels][CB_STAGES][size]: stage residuals */
  double *gap;            /* [panels][size]: what x of the next panel lacks */
  double *solution;       /* [panels][CB_STAGES size][size + 2]: P, s, q */
  double *system;         /* [CB_STAGES size][CB_STAGES size + size + 2] */
  double *affine;         /* [panels + 1][size][columns] */
  double *eta;            /* [dim][columns] */
  double *matrix, *columns, *right, *sv, *V, *solved; /* of the outer system */
  double *joint;                                      /* [segments][size][columns]: where the segment before ends */
  int segments, rows, unknown;
  int iterations;
  double residual, weakest, strongest; /* singular values: the least that is no symmetry's, at most 1; the largest */
  cb_arena *arena;
} extremal_mesh;

static inline int states(const extremal_mesh *m) { return m->segments * m->p->size + m->arcs; }
static inline int columns(const extremal_mesh *m) { return states(m) + 1; }
/* The panel with which a segment begins. */
static inline int segment_start(const extremal_mesh *m, int s) { return s * m->panels / m->segments; }

/* Scale of number i of x. */
static inline double scale_of(const extremal_mesh *m, int i) {
  const int n = m->p->n;
  return i < n ? m->rscale[i] : i < 2 * n ? m->pscale[i - n] : m->lscale;
}

static inline int arc_of(const extremal_mesh *m, int panel) {
  int a = 0;
  while (panel >= m->first[a + 1]) a++;
  return a;
}

/* --- extremal_mesh.c --- */
/* panels[arcs], held[arcs] (NULL: none). */
cb_status mesh_create(const problem *p, int arcs, const int *panels, const unsigned *held, extremal_mesh **out);
void mesh_free(extremal_mesh *m);
/* z of so many segments, at most CB_SEGMENTS_MAX, and no more than panels. */
void mesh_divide(extremal_mesh *m, int segments);
/* The same with this many times the panels, from the polynomials of collocation. */
cb_status mesh_refine(const extremal_mesh *m, double factor, extremal_mesh **out);
/* The polynomial of m at the part c in [0, 1] of arc a. */
void mesh_sample(const extremal_mesh *m, int a, double c, double *x);
/* Scales from m->at; then they stay. */
cb_status mesh_scale(extremal_mesh *m);
/* The largest last Legendre coefficient of h x' on a panel, in scales. */
double mesh_roughness(const extremal_mesh *m);
/* The polynomial of x_0 (NULL: without it) and stages at c in [0, 1] of a panel. */
void mesh_interpolate(const cb_tableau *gauss, int size, const double *x0, const double *stage, double c, double *x);

/* --- extremal_panel.c --- */
/* Values at all stages of u, residuals off and gap, elements, g1, cost; with slopes: J and X as well. */
cb_status panels_evaluate(extremal_mesh *m, const unknowns *u, bool slopes);
/* element, Ad and g1 from xi at stages. */
cb_status panels_elements(extremal_mesh *m, const unknowns *u);
/* solution, affine and eta. */
cb_status panels_condense(extremal_mesh *m);
/* step from z = dx_0, durations. */
void panels_expand(extremal_mesh *m, const double *z);
/* theta at stages and the end of a step of g' = g xi: g_j = g exp(theta_j). */
cb_status group_panel(const cb_group *G, const cb_tableau *gauss, double h, const double *xi, double *theta,
                      double *end);

/* --- extremal_newton.c --- */
/* Until it settles; or to where it is near and rougher than this, which `rough` tells. */
cb_status mesh_solve(extremal_mesh *m, double roughness, bool *rough);

/* --- extremal_start.c --- */
cb_status mesh_start(extremal_mesh *m, const double *lambda, double amount);

/* --- extremal_invariants.c --- */
cb_status extremal_invariants(const extremal_mesh *m, cb_extremal *e);

/* --- extremal.c --- */
/* Newton's method on meshes that are refined until they resolve the extremal; what there is to tell of it. */
cb_status extremal_resolve(extremal_mesh **m);
/* How many times the panels resolve it; where they do, at most 1. */
double extremal_factor(const extremal_mesh *m);
cb_status extremal_tell(const extremal_mesh *m, cb_extremal *e);

/* --- extremal_arcs.c --- */
/* e, which is written over: arcs are corrected until bounds push and none is crossed. */
cb_status bounds_solve(const problem *p, const cb_gait *start, const double *lambda, double amount, cb_extremal *e);
/* From the extremal without bounds, which are brought to their places in steps. */
cb_status bounds_tighten(const problem *p, const cb_gait *start, const double *lambda, double amount, cb_extremal *e);

/* --- extremal_bounds.c --- */
/* mark[CB_MARKS]: sets of variables at bounds at the times (k + 1/2)/CB_MARKS. */
void bounds_of_gait(const problem *p, const cb_gait *start, unsigned *mark);
cb_status bounds_arcs(const unsigned *mark, int *arcs, double *duration, unsigned *held);
/* The bounds at which the arcs of m hold variables. */
void bounds_set(extremal_mesh *m);
/* Marks of a solution, and whether they are those of its arcs. */
cb_status bounds_check(const extremal_mesh *m, unsigned *mark, bool *kept);

#endif
