/* Direct search: the gait of stationary cost in a basis of time, by sequential quadratic programming.
 *
 *   cost         E/2 -> least                       where c_k(g(1)) = 0
 *   efficiency   log(E)/2 - log X -> least          X the amount of the target, unknown
 *   target       -log X -> least                    where E = length^2 too; length infinite: within walls, with a
 *                                                   small share of E, which paces the gait
 * with r(0) given where there is a base, and r_i where a break of the bundle is crossed (crossing.h). All derivatives are exact (optimum/variation.h); curvature of either sign is
 * taken as positive, steps keep to a merit f + rho |c|_1 with a correction of second order (Nocedal & Wright 2006,
 * chapter 18, doi:10.1007/978-0-387-40065-5).
 * At the end mu E'/2 + sum nu_k c_k' = 0, and lambda(0) = -sum nu_k first_k/mu is Wong's momentum at the start.
 */
#pragma once

#include "optimum/barrier.h"
#include "optimum/contact.h"
#include "optimum/crossing.h"
#include "optimum/reduced.h"
#include "optimum/target.h"
#include "optimum/variation.h"

/* Where a gait turns about a corner of what it may not pass, as where the tips of two links meet.
 *
 *   at a vertex of its arcs:  f_0(r) = f_1(r) = 0,  terms of one wall (wall.h), s = max(f_0, f_1) there
 *   p(+) - p(-) = nu_0 f_0' + nu_1 f_1',  nu <= 0;   v'Mv is the same on both sides
 * Only one of f_0, f_1 has to be positive, so that a path is hung over the corner as a string over an edge. */
enum { CB_CORNERS_MAX = 8 };

typedef struct cb_corner {
  int wall, term[2], vertex;
  double df[2][CB_SHAPE_MAX], ddf[2][CB_SHAPE_MAX * CB_SHAPE_MAX]; /* where slopes were last asked */
} cb_corner;

struct cb_direct;

/* Values f[2] at the vertex of coefficients c[n][functions]; with slopes, df and ddf. */
cb_status cb_corner_at(cb_walls *w, cb_corner *corner, int functions, const double *c, bool slopes, double *f);

/* The gait at such corners that a gait at a barrier tells of, of stationary cost to round-off, in polynomials of this
 * degree between them. *out is NULL where it meets none; CB_STEP_NO_CONVERGENCE where the corners do not hold it, or it
 * meets walls elsewhere. The caller frees. */
cb_status cb_direct_sharpen(struct cb_direct *d, int degree, struct cb_direct **out);

typedef struct cb_direct {
  const cb_optimum_problem *problem; /* borrowed; all but its starts */
  cb_gait_target target;             /* with the amount as it is now */
  cb_basis *basis;                   /* own */
  cb_variation *v;
  cb_reduced *qp;
  cb_barrier *barrier; /* NULL: no walls */
  int corners;         /* of arcs, at corners of walls */
  cb_corner corner[CB_CORNERS_MAX];
  int pins, crossings; /* of the pins the last ones: where breaks are crossed */
  cb_pin pin[CB_SHAPE_MAX + CB_CROSSINGS_MAX];
  cb_gait_contacts *contacts; /* own; what a given gait presses on; NULL: nothing */
  bool *frozen;      /* [unknowns], own: coefficients that stay; NULL: none */
  double *c, *trial; /* [n functions]: the gait; filled by the caller before a solution */
  double amount;     /* nan where the target has none */
  double mu, nu[CB_CONDITIONS_MAX], lambda[CB_GROUP_DIM];
  double condition[CB_CONDITIONS_MAX + 2 + CB_SHAPE_MAX + CB_CROSSINGS_MAX + 2 * CB_CORNERS_MAX],
      off;                   /* the rows, and the largest of them */
  double slope;              /* of what is sought along the equations, relative to its gradient */
  double pace;               /* of a free length: what E counts beside -log X */
  double enough, enough_off; /* slope and off at which a search ends */
  int iterations;
  bool stationary; /* asked: Newton's steps to any gait of stationary cost, not only to one of least */
} cb_direct;

/* A smooth loop in `size` harmonics where nothing marks its start, otherwise an arc of degree 2 size with a corner
 * there. The caller frees; c is zero. */
cb_status cb_direct_create(const cb_optimum_problem *problem, int size, cb_direct **out);
/* In a basis, which it then owns, also on failure; of Fourier's only where nothing marks the start. */
cb_status cb_direct_create_on(const cb_optimum_problem *problem, cb_basis *basis, cb_direct **out);
void cb_direct_free(cb_direct *d);
/* True where the start of the cycle is a place like any other: no base, and conditions on the class of g alone. */
bool cb_direct_smooth(const cb_optimum_problem *problem);

cb_status cb_direct_from(cb_direct *d, const cb_gait *gait);
/* From c; CB_STEP_NO_CONVERGENCE after `most` iterations with what was reached. Within the walls of the problem: as if
 * there were none, where that ends within them; otherwise by a barrier (optimum/barrier.h) from c, scaled until it is
 * within, whose tau falls to 1e-7 of the cost, or at least to 1e-4. */
cb_status cb_direct_solve(cb_direct *d, int most);
/* Without walls, or with a barrier as it is. */
cb_status cb_direct_settle(cb_direct *d, int most);
/* The greatest amount within the walls at any length, from a gait: what a target beyond it can be told. */
cb_status cb_direct_most(const cb_optimum_problem *problem, const cb_gait *start, int size, double *amount);
/* From a gait at a barrier, that which keeps to its bounds on arcs of this degree, found by Wong's equations.
 * CB_STEP_NO_CONVERGENCE where they are not solved near it, or other walls are met. The caller frees. */
cb_status cb_direct_touch(const cb_direct *d, int degree, cb_direct **out);
/* Forces at contacts[.], which it then owns, also on failure: from there on slopes, steps and the second variation are
 * those within the walls. */
cb_status cb_direct_press(cb_direct *d, cb_gait_contacts *contacts);
/* Eigenvalues of the second variation over gaits at the target, in qp->eigen, after a solution. */
cb_status cb_direct_bend(cb_direct *d);
/* Ends of arcs at equal speed on all of them; returns by how much they move. */
double cb_direct_pace(const cb_direct *d, double *ends);
/* Pins where breaks are crossed, at ends of arcs (a base is pinned already), between which the times are free. */
cb_status cb_direct_cross(cb_direct *d, int count, const cb_crossing *list);
/* From a gait, with breaks of the bundle crossed at ends of arcs, of this degree; cb_direct_solve on each choice of their
 * times, until these are kept. *d, of any basis, may be another then, also where it fails. CB_ERROR_UNSUPPORTED where a
 * gait on the way runs along a break, or crosses two at once; CB_STEP_NO_CONVERGENCE. */
cb_status cb_direct_across(cb_direct **d, const cb_gait *start, int degree, int most);
/* Of these, how many are negative, and how many 0 to round-off. */
void cb_direct_signs(const cb_direct *d, int *negative, int *flat);
/* The share of the cost that one step down its slope saves at the target; c stays. */
cb_status cb_direct_flow(cb_direct *d, double *gain);
