/* Definitions shared by the files of Lobatto IIIA-IIIB (the class is in integrators/lobatto.c): the data of the form in
 * the embedding, and the two forms.
 *
 * The equations are in lobatto_embedding.c. x0, p0: positions and momenta at the start of the step; h: its length; X_i,
 * P_i: positions and momenta of stage i; x1: positions at the end; D_i = X_i - x0; F_i: forces; Lambda_i: multipliers
 * of the space; G_i = F_i - Lambda_i X_i; A, c, b: coefficients of IIIA; A^: those of IIIB. */
#pragma once

#include "core/arena.h"
#include "integrators/iteration.h"
#include <curvebody/integrator.h>

enum { CB_LOBATTO_MAX = 5 };

typedef struct cb_lobatto cb_lobatto;

/* The loops over particles, compiled for the best instruction set of the processor. They are for spaces whose points
 * have four coordinates, and which have one curved factor. Other spaces use the loops of lobatto_sweep.c. */
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
  int s;    /* number of stages */
  int n, k; /* n: number of particles; k: number of coordinates per particle */
  int threads;
  int max_iterations;
  double tolerance; /* maximum of the last change of the positions, relative to the largest displacement in the step */
  double rounding;  /* changes of the displacements D_i up to this, relative to their size, are round-off */
  /* changes of the positions up to this are round-off in the rows of constraints; 0 without constraints */
  double noise;
  bool compensated;

  /* A and A^ are those of IIIA and IIIB. W = A A^ has a zero last column and first row; Winv is the inverse of its rows
   * 1 .. s-1 and columns 0 .. s-2. E extrapolates stage values of one step to the stages of the next. */
  double c[CB_LOBATTO_MAX], b[CB_LOBATTO_MAX], b_low[CB_LOBATTO_MAX];
  double Ahat[CB_LOBATTO_MAX][CB_LOBATTO_MAX], W[CB_LOBATTO_MAX][CB_LOBATTO_MAX];
  double Winv[CB_LOBATTO_MAX - 1][CB_LOBATTO_MAX - 1], E[CB_LOBATTO_MAX][CB_LOBATTO_MAX];

  /* Stage arrays of n*k numbers: positions X_i, their change D_i = X_i - x0, forces F_i, and G_i = F_i - Lambda_i
   * X_i. */
  double *X[CB_LOBATTO_MAX], *D[CB_LOBATTO_MAX], *F[CB_LOBATTO_MAX], *G[CB_LOBATTO_MAX];
  double *V;        /* velocity of a stage, where forces use it */
  double *residual; /* <x0,x0> - 1/curvature of each particle and factor, computed in double-double precision */
  const double *mass;

  double past_h;                   /* the length of the step from which G is stored */
  bool has_history;                /* G holds the values of the last step */
  bool has_force;                  /* F[0] holds the force at the state's position */
  const cb_lobatto_kernel *kernel; /* NULL: the points of the space do not have four coordinates */
  int n_factors, curved;           /* number of factors, and index of the curved factor */
  /* The curved factor. K: its curvature. In the coordinates of this factor, form[i] is the number of the space's form
   * (1 or -1) and on[i] is 1. In all other coordinates both are 0. */
  double K, form[4], on[4];

  cb_integrator *in;
  const cb_space *g;
  cb_solver_choice solver;
  struct cb_lobatto_newton *newton;    /* the data of Newton's method; NULL until they are needed */
  struct cb_lobatto_constraints *rods; /* the constraints of the system; NULL: there are none */
  double *dp, *p_low;

  /* the start and the length of the step that is being made */
  const cb_state *start;
  double h;
};

/* Fills c, b, Ahat, W, Winv and E for l->s stages. */
cb_status cb_lobatto_tables(cb_lobatto *l);
/* Computes the inverse of the upper left m x m block of a. */
void cb_lobatto_invert(int m, long double a[CB_LOBATTO_MAX][CB_LOBATTO_MAX], double inverse[][CB_LOBATTO_MAX - 1]);

/* Makes one pass of the fixed-point iteration over all particles. Computes from F_i at the stages G_i (the tangential
 * part of F_i, and the normal part that keeps <X_i,X_i> constant), D_i and X_i. Returns the largest change of a D;
 * *size becomes the largest D if that is larger. */
double cb_lobatto_sweep(cb_lobatto *l, const cb_space *g, const double *x0, const double *p0, double h, double *size);

/* Writes P_i of stage i, divided by the masses and projected to the tangent space, to l->V. */
void cb_lobatto_velocity(cb_lobatto *l, const cb_space *g, const double *p0, double h, int i);

/* Ends the step: writes the change of momentum from the G_i, with the last multiplier from <x1,p1> = 0, to dp[n*k]. The
 * contribution of the rounding errors of the weights is added to p_low: a relative error of 1e-17 that is the same in
 * every step would change the phase of an oscillation by 1e-13 after 1e5 steps. */
void cb_lobatto_end(cb_lobatto *l, int begin, int end, const double *x1, const double *p0, double h, double *p_low,
                    double *dp);

/* --- lobatto_newton.c: Newton's method for the stages in the embedding --- */

/* Creates l->newton. */
cb_status cb_lobatto_newton_create(cb_lobatto *l);
void cb_lobatto_newton_free(struct cb_lobatto_newton *w);

/* Solves for D, X and G, which hold the prediction on entry, and for the multipliers of l->rods. Sets the number of
 * iterations and the residual of the integrator. */
cb_status cb_lobatto_newton_solve(cb_lobatto *l);

/* --- the two forms of the integrator, in the embedding (lobatto_embedding.c) and in a chart (lobatto_chart.c) --- */

typedef struct cb_lobatto_options {
  int stages, solver, iterations; /* solver: CB_SOLVER_.. of integrators/iteration.h */
  double tolerance;               /* relative tolerance of the stages; 0: round-off */
  bool compensated;
} cb_lobatto_options;

typedef struct cb_lobatto_form {
  cb_status (*create)(cb_integrator *in, const cb_lobatto_options *options, void **out);
  void (*destroy)(void *form);
  cb_status (*step)(void *form, cb_state *state, double h);
  void (*reset)(void *form);
  void (*moved)(void *form, int component, const cb_isometry *isometry); /* is called when an isometry has moved the
                                                                          * coordinates of a component; NULL: this form
                                                                          * has no moving origins */
} cb_lobatto_form;

extern const cb_lobatto_form cb_lobatto_chart_form, cb_lobatto_embedding_form;
