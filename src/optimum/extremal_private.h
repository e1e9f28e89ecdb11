/* Collocation of Wong's equations on panels, and Newton's method for all of it.
 *
 *   stages  X_i = x_k + h sum_j a_ij f(X_j),   x_k+1 = x_k + h sum_j b_j f(X_j),   h = duration/panels of the arc
 * Linearised, dX = P dx_k + s ddur + q, so that dx_k+1 and eta = sum h b_j Ad_{g_j} dxi_j are affine in z = (dx_0,
 * durations): "affine" rows have a column for each of z, and a constant. Where dx grows by much along the path, z
 * has the starts of several segments of panels, which are joined by equations.
 * In homogeneous multipliers stages are Y = (r, v, lambda), X_i = P(Y_i) and f(Y_j) in the same formulas, and z has mu
 * and E as well.
 */
#pragma once

#include "core/arena.h"
#include "optimum/extremal.h"

#include <stdbool.h>

enum {
  CB_WIDTH_MAX = CB_WONG_MAX + 4,
  CB_ARCS_MAX = 32,
  CB_MARKS = 1024,
  CB_PANELS_MAX = 512,
  CB_SEGMENTS_MAX = 16,
  CB_STAGES = CB_EXTREMAL_STAGES
};

/* What Newton's method moves: where panels begin and the end, stages, durations, multipliers, amount. */
typedef struct unknowns {
  double *x;     /* [panels + 1][size] */
  double *stage; /* [panels][CB_STAGES][size] */
  double duration[CB_ARCS_MAX], nu[CB_CONDITIONS_MAX], amount;
  double global[2]; /* mu and E, of homogeneous multipliers */
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
  bool homogeneous;             /* stages are (r, v, lambda) (wong.h): no bounds */
  bool abnormal;                /* mu = 0 (wong.speed): the amount and the duration are unknown */
  double weight;                /* of lambda in mu^2 + |lambda/weight|^2 = 1 */
  double begin[2];              /* mu and E of the start */
  double slack[CB_CONDITIONS_MAX]; /* of a target without an amount: c_k = amount slack_k */
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
  double *P, *s, *D, *ds, *JG,
      *DG;                /* there, of homogeneous multipliers: [size], [1], [size][size], [size], [size][2] */
  double *element;        /* [panels + 1][group->size] */
  double *Ad;             /* [panels][CB_STAGES][dim][dim] */
  double *off;            /* [panels][CB_STAGES][size]: stage residuals */
  double *gap;            /* [panels][size]: what x of the next panel lacks */
  double *solution;       /* [panels][CB_STAGES size][width]: P, s, of globals, q */
  double *system;         /* [CB_STAGES size][CB_STAGES size + width] */
  double *affine;         /* [panels + 1][size][columns] */
  double *eta;            /* [dim][columns] */
  double *dcost;          /* [columns]: of int v'Mv dt */
  double *matrix, *columns, *right, *sv, *V, *solved; /* of the outer system */
  double *joint;                                      /* [segments][size][columns]: where the segment before ends */
  int segments, rows, unknown;
  int iterations;
  double residual, weakest, strongest; /* singular values: the least that is no symmetry's, at most 1; the largest */
  cb_arena *arena;
} extremal_mesh;

/* Where mu is small dx grows as exp(t/sqrt(mu)). */
static inline int most_segments(const problem *p) { return p->homogeneous ? CB_SEGMENTS_MAX : 4; }
static inline int globals(const problem *p) { return p->homogeneous ? 2 : 0; }
/* Columns of a panel's affine rows: x_k, the duration, globals, 1. */
static inline int width_of(const problem *p) { return p->size + 2 + globals(p); }
static inline int states(const extremal_mesh *m) { return m->segments * m->p->size + m->arcs + globals(m->p); }
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
/* z of so many segments, at most most_segments, and no more than panels. */
void mesh_divide(extremal_mesh *m, int segments);
/* The same with this many times the panels, from the polynomials of collocation. */
cb_status mesh_refine(const extremal_mesh *m, double factor, extremal_mesh **out);
/* The polynomial of m at the part c in [0, 1] of arc a. */
void mesh_sample(const extremal_mesh *m, int a, double c, double *x);
/* Where panels begin, from stages that are rates. */
cb_status mesh_nodes(extremal_mesh *m);
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

/* --- extremal_newton.c --- */
/* Until it settles; or to where it is near and rougher than this, which `rough` tells. */
cb_status mesh_solve(extremal_mesh *m, double roughness, bool *rough);

/* --- extremal_start.c --- */
cb_status mesh_start(extremal_mesh *m, const double *lambda, double amount);

/* --- extremal_invariants.c --- */
cb_status extremal_invariants(const extremal_mesh *m, cb_extremal *e);

/* --- extremal_homogeneous.c --- */
/* What is told of a solution in homogeneous multipliers: divided by mu where that is not 0. */
cb_status homogeneous_tell(const extremal_mesh *m, cb_extremal *e);
/* In homogeneous multipliers; abnormal where that is what is asked, or where the amount asked is that of an abnormal
 * extremal. `otherwise` where lambda is not large. */
cb_status homogeneous_solve(problem *p, const cb_gait *start, const double *lambda, double amount, cb_status otherwise,
                            cb_extremal *e);

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

/* The flow of Wong's equations by one panel of collocation: the mesh of an extremal with a single panel. */
typedef struct flow {
  problem p;
  extremal_mesh *m;
} flow;

cb_status flow_create(const cb_wong *w, flow **out);
void flow_free(flow *f);

/* From x over a time h, first guessed along the tangent, or with `stage` as this part of the panel that begins with x;
 * until Newton's steps are below `settled`, to which derivatives are exact, and the end to its square. Then
 * m->at.x[size] is the end, m->affine[size] its derivative in x, m->element[1] the step of g from the identity, and
 * m->eta the change of that, right-trivialised. */
cb_status flow_step(flow *f, unsigned held, double h, const double *x, const double *stage, double part,
                    double settled);
cb_status flow_at(flow *f, const cb_extremal *e, double t, double *x, double *v);
