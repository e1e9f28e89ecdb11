/* Collocation of Wong's equations on panels, and Newton's method for the complete system.
 *
 *   stages  X_i = x_k + h sum_j a_ij f(X_j),   x_k+1 = x_k + h sum_j b_j f(X_j),   h = duration/panels of the arc
 * x = (r, p, lambda) and its rates f: extremal.h; x_k: x at the beginning of panel k; a_ij, b_j: coefficients of
 * Gauss's method; xi_j, g_j: body velocity and group element at stage j. Linearised, with d for a change by a step of
 * Newton's method, dX is affine in dx_k and the duration. Hence dx_k+1 and eta = sum b_j Ad_{g_j} d(h xi_j) are affine
 * in z = (dx_0, durations). An "affine" row has a column for each number of z, and one for the constant. If dx grows
 * strongly along the path, the path is divided into segments of panels. z then contains the changes of the starts of
 * all segments, and equations join the segments.
 *
 * In homogeneous multipliers (extremal.h) the stages are Y = (r, v, lambda). The formulas have X_i = P(Y_i) and f(Y_j)
 * with P of cb_wong_homogeneous, and z contains the changes of the weight mu and of the cost E as well.
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

/* The unknowns of Newton's method: x = (r, p, lambda) at the beginnings of panels and at the end, stages, durations,
 * multipliers of the conditions, amount. */
typedef struct unknowns {
  double *x;     /* [panels + 1][size]: x at the beginnings of panels and at time 1 */
  double *stage; /* [panels][CB_STAGES][size]: the stages X_i, or Y_i in homogeneous multipliers */
  double duration[CB_ARCS_MAX], nu[CB_CONDITIONS_MAX], amount;
  double global[2]; /* for homogeneous multipliers: the weight mu of the cost, and the cost E */
} unknowns;

typedef struct problem {
  const cb_optimum_problem *o;
  const cb_group *G;
  cb_wong wong;
  cb_gait_target target;
  cb_tableau gauss;
  int n, dim, size, count, row; /* n: number of shape variables; dim: dimension of the group; size: size of x; count:
                                 * number of conditions; row: the condition with the amount, or -1 */
  double gap[CB_SHAPE_MAX];     /* r(1) - r(0), which is a number of full periods of each variable */
  bool free, shifts,
      amount_free;  /* free: the start shape is free; shifts: a shift of time gives another extremal; amount_free: the
                     * amount is unknown */
  bool homogeneous; /* the stages are (r, v, lambda) (extremal.h), and there are no bounds */
  bool abnormal;    /* the weight mu of the cost is 0 (see wong.speed): the amount and the duration are unknown */
  double weight;    /* the scale of lambda in mu^2 + |lambda/weight|^2 = 1 */
  double begin[2];  /* the weight mu and the cost E at the start of the iteration */
  double slack[CB_CONDITIONS_MAX]; /* for a target without an amount: condition k is c_k = amount slack_k; the vector
                                    * slack has length 1 */
} problem;

/* The arcs and panels of an extremal, and the work arrays of Newton's method on them. */
typedef struct extremal_mesh {
  const problem *p;
  int arcs, panels, first[CB_ARCS_MAX + 1]; /* panels of arc a: first[a] to first[a + 1] - 1 */
  unsigned held[CB_ARCS_MAX];
  double bound[CB_ARCS_MAX][CB_SHAPE_MAX]; /* bounds of the variables that arc a holds */
  const cb_gait *start;                    /* borrowed: the gait from which Newton's method starts */
  unknowns at, trial, step;
  double rscale[CB_SHAPE_MAX], pscale[CB_SHAPE_MAX], lscale, vscale, cscale,
      escale; /* scales of r, p, lambda, v, the conditions, and the cost */
  double g1[CB_GROUP_SIZE], cost;
  /* at the stages: [panels][CB_STAGES] times [size], [dim], [dim][size] and [size][size] numbers (cb_wong_rates) */
  double *f, *xi, *X, *J;
  double *P, *s, *D, *ds, *JG,
      /* P to JG: at the stages, for homogeneous multipliers: [size], [1], [size][size], [size] and [size][2] numbers
       * (cb_wong_homogeneous); DG: [size][2] */
      *DG;
  double *element;  /* [panels + 1][group->size]: g at the beginnings of panels, and at time 1 */
  double *Ad;       /* [panels][CB_STAGES][dim][dim]: Ad_g at the stages */
  double *off;      /* [panels][CB_STAGES][size]: residuals of the stages */
  double *gap;      /* [panels][size]: x at the end of a panel minus x at the beginning of the next one */
  double *solution; /* [panels][CB_STAGES size][width]: dX, as coefficients of dx_k, d duration, d globals, and 1 */
  double *system;   /* [CB_STAGES size][CB_STAGES size + width]: matrix and right sides of the linear equations for dX
                     * of one panel */
  double *affine;   /* [panels + 1][size][columns]: dx at the times of `x`, as affine rows (see the top of this file) */
  double *eta;      /* [dim][columns]: eta = (dg) g^-1 at time 1, as affine rows */
  double *dcost;    /* [columns]: the derivative of int v'Mv dt */
  double *matrix, *columns, *right, *sv, *V, *solved; /* arrays of the outer system (extremal_newton.c) */
  double *joint; /* [segments][size][columns]: dx at the end of the segment before each segment, as affine rows */
  int segments, rows, unknown;
  int iterations;
  double residual, weakest,
      strongest; /* weakest: the smallest singular value that does not come from a symmetry, at most 1; strongest: the
                  * largest, at least 1 */
  cb_arena *arena;
} extremal_mesh;

static inline int globals(const problem *p) { return p->homogeneous ? 2 : 0; }
/* Returns the number of columns of the solution of a panel: those of dx_k, the duration, the globals and 1. */
static inline int width_of(const problem *p) { return p->size + 2 + globals(p); }
static inline int states(const extremal_mesh *m) { return m->segments * m->p->size + m->arcs + globals(m->p); }
static inline int columns(const extremal_mesh *m) { return states(m) + 1; }

/* Returns the scale of entry i of x = (r, p, lambda). */
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
/* Creates a mesh with panels[a] panels on arc a. held[a] is the set of shape variables that are at a bound on arc a,
 * with bit i for variable i; held may be NULL: no variables are at bounds. */
cb_status mesh_create(const problem *p, int arcs, const int *panels, const unsigned *held, extremal_mesh **out);
void mesh_free(extremal_mesh *m);
/* Divides the path into this number of segments (see the top of this file), limited by the maximum and by the number of
 * panels. Counts the unknowns and the rows of the outer system. */
void mesh_divide(extremal_mesh *m, int segments);
/* Creates a mesh with `factor` times as many panels. Its unknowns are taken from the polynomials of the given mesh, so
 * that it has the same solution. */
cb_status mesh_refine(const extremal_mesh *m, double factor, extremal_mesh **out);
/* Computes x at the fraction c in [0, 1] of arc a, from the polynomial of the panel that contains this point. */
void mesh_sample(const extremal_mesh *m, int a, double c, double *x);
/* Returns how well the mesh resolves x. On each panel of length h, h x' is expanded in Legendre polynomials, and the
 * coefficient of the highest order is divided by the scale of the entry of x. The result is the largest such number. */
double mesh_roughness(const extremal_mesh *m);
/* Computes x at the fraction c in [0, 1] of a panel, from the polynomial through x0 (NULL: without x0) and the
 * stages. */
void mesh_interpolate(const cb_tableau *gauss, int size, const double *x0, const double *stage, double c, double *x);

/* --- extremal_panel.c --- */
/* Computes at the unknowns u: f and xi at all stages, the residuals off and gap, element, Ad, g1 and cost; with slopes
 * also J and X. */
cb_status panels_evaluate(extremal_mesh *m, const unknowns *u, bool slopes);
/* Computes element, Ad and g1 from xi at the stages. */
cb_status panels_elements(extremal_mesh *m, const unknowns *u);
/* Computes the members solution, affine, joint and eta, which are the linearised equations. */
cb_status panels_condense(extremal_mesh *m);
/* Computes the steps m->step of x, stages, durations and globals from z (see the top of this file). */
void panels_expand(extremal_mesh *m, const double *z);

/* --- extremal_newton.c --- */
/* Iterates until convergence. If the residual is below 1e-3 after a step and mesh_roughness exceeds `roughness`, the
 * iteration stops early and sets *rough to true. Returns CB_STEP_NO_CONVERGENCE after 60 steps, or if no step reduces
 * the residual. */
cb_status mesh_solve(extremal_mesh *m, double roughness, bool *rough);

/* --- extremal_mesh.c: the start --- */
cb_status mesh_start(extremal_mesh *m, const double *lambda, double amount);

/* --- extremal_flow.c --- */
cb_status extremal_invariants(const extremal_mesh *m, cb_extremal *e);

/* The flow of Wong's equations by one panel of collocation: a mesh of an extremal with a single panel. */
typedef struct flow {
  problem p;
  extremal_mesh *m;
} flow;

cb_status flow_create(const cb_wong *w, flow **out);
void flow_free(flow *f);

/* Takes a step of length h in time from x. If `stage` is NULL, the first guess lies along the tangent. Otherwise
 * `stage` holds the stages of a panel that begins at x, from which the guess is interpolated; h is then the fraction
 * `part` of the length of the panel. The iteration ends when the relative size of Newton's step is below `settled`. The
 * error of the derivatives is then about `settled`, and that of the end of the step its square. The results are in
 * f->m. The second row of at.x is x at the end, and the second block of affine its derivative by x. The second row of
 * element is the change of g from the identity, and eta the right-trivialised derivative of that element. */
cb_status flow_step(flow *f, unsigned held, double h, const double *x, const double *stage, double part,
                    double settled);
