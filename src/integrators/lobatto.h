/* Lobatto IIIA-IIIB in the embedding: what its parts share. See integrators/lobatto.c for the method. */
#pragma once

#include "core/arena.h"
#include "integrators/solver.h"

enum { CB_LOBATTO_MAX = 5 };

typedef struct cb_lobatto cb_lobatto;

/* Loops over particles for spaces of four coordinates, which have one curved factor, in the best instruction set there is;
 * other spaces take those of lobatto_sweep.c. */
typedef struct cb_lobatto_kernel {
  void (*residuals)(cb_lobatto *l, int begin, int end, const double *x, const double *x_low);
  double (*sweep)(cb_lobatto *l, int begin, int end, const double *x0, const double *p0, double h, double *size);
  void (*predict)(cb_lobatto *l, int begin, int end, const double *x0, const double *p0, double h);
  void (*finish)(cb_lobatto *l, int begin, int end, const double *x1, const double *p0, double h, double *p_low,
                 double *dp);
} cb_lobatto_kernel;

extern const cb_lobatto_kernel cb_lobatto_kernel_x86_64, cb_lobatto_kernel_avx2;

struct cb_lobatto {
  cb_arena *arena;
  int s;    /* stages */
  int n, k; /* particles, numbers a particle */
  int threads;
  int max_iterations;
  double tolerance; /* last change of the positions, relative to the largest change of position in the step */
  double rounding;  /* relative change of the moves that <x, D> does not resolve */
  double noise;     /* change of the positions that rows, evaluated at them, do not resolve; 0 without rows */
  bool compensated;

  /* A and A^ of IIIA and IIIB, W = A A^ (its last column and first row vanish), Winv the inverse of W's block of rows
   * 1 .. s-1 and columns 0 .. s-2, E extrapolates stage values of one step to the stages of the next. */
  double c[CB_LOBATTO_MAX], b[CB_LOBATTO_MAX], b_low[CB_LOBATTO_MAX];
  double Ahat[CB_LOBATTO_MAX][CB_LOBATTO_MAX], W[CB_LOBATTO_MAX][CB_LOBATTO_MAX];
  double Winv[CB_LOBATTO_MAX - 1][CB_LOBATTO_MAX - 1], E[CB_LOBATTO_MAX][CB_LOBATTO_MAX];

  /* Stage arrays of n*k numbers: positions X_i, their change D_i = X_i - x0, forces F_i, and G_i = F_i - Lambda_i
   * X_i. */
  double *X[CB_LOBATTO_MAX], *D[CB_LOBATTO_MAX], *F[CB_LOBATTO_MAX], *G[CB_LOBATTO_MAX];
  double *V;        /* velocity of a stage, where forces use it */
  double *residual; /* <x0,x0> - 1/curvature of each particle and factor, in twice the precision */
  const double *mass;

  double past_h;                   /* of the step whose G is kept */
  bool has_history;                /* G holds the last step's values */
  bool has_force;                  /* F[0] holds the force at the state's position */
  const cb_lobatto_kernel *kernel; /* NULL: the space has not four coordinates */
  int n_factors, curved;           /* the curved factor */
  double K, form[4], on[4];        /* its curvature, its form, 1 for its coordinates; else 0 */

  cb_integrator *in;
  const cb_geometry *g;
  cb_solver_choice solver;
  struct cb_lobatto_newton *newton;    /* NULL until it is needed */
  struct cb_lobatto_constraints *rods; /* NULL: none */
  double *dp, *p_low;

  /* the step being made */
  const cb_state *start;
  double h;
};

/* Fills c, b, Ahat, W, Winv and E for l->s stages. */
cb_status cb_lobatto_tables(cb_lobatto *l);
/* The inverse of the m x m block in the corner of a. */
void cb_lobatto_invert(int m, long double a[CB_LOBATTO_MAX][CB_LOBATTO_MAX], double inverse[][CB_LOBATTO_MAX - 1]);

/* One pass of the fixed-point iteration over all particles: given F_i at the stages, makes G_i (the tangential part
 * of F_i with the normal part that keeps <X_i,X_i>), D_i and X_i. Returns the largest change of a D and, in *size,
 * the largest D. */
double cb_lobatto_sweep(cb_lobatto *l, const cb_geometry *g, const double *x0, const double *p0, double h,
                        double *size);

/* P_i of stage i, divided by the masses and brought to the tangent space, into l->V. */
void cb_lobatto_velocity(cb_lobatto *l, const cb_geometry *g, const double *p0, double h, int i);

/* Ends the step: the change of momentum from the G_i with the last multiplier from <x1,p1> = 0, into dp[n*k]. What
 * the weights lost when they were rounded is added to p_low: a relative error of 1e-17 that is the same in every step
 * would show in the phase of an oscillation as 1e-13 after 1e5 steps. */
void cb_lobatto_end(cb_lobatto *l, const cb_geometry *g, int begin, int end, const double *x1, const double *p0,
                    double h, double *p_low, double *dp);

/* --- lobatto_newton.c: Newton's method for the stages in the embedding --- */

/* Into l->newton. */
cb_status cb_lobatto_newton_create(cb_lobatto *l);
void cb_lobatto_newton_free(struct cb_lobatto_newton *w);

/* Solves for D, X and G from the prediction that is in them, and for the multipliers of l->rods. Sets the integrator's
 * iterations and residual. */
cb_status cb_lobatto_newton_solve(cb_lobatto *l);
