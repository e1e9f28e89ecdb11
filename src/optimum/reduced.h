/* A quadratic program with equations, in the coordinates of Householder's factors of their gradients.
 *
 *   least d'Hd/2 + g'd  where  J d = -c;   J' = Q (R; 0),  d = Q (x, z):  R' x = -c,
 *   (Q'HQ)_22 z = -(Q'g)_2 - (Q'HQ)_21 x
 * Where (Q'HQ)_22 is not positive, its eigenvalues are taken by their size, and none below a share of the largest: the
 * step descends, and does not run along directions in which nothing changes.
 * Source: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), sections 16.2 and 18.3, doi:10.1007/978-0-387-40065-5.
 */
#pragma once

#include <curvebody/status.h>
#include <stdbool.h>

typedef struct cb_reduced {
  int unknowns, rows; /* now */
  int rank;           /* of J; equations that follow from others are left out */
  double *H;          /* [unknowns][unknowns], given; then Q'HQ */
  double *J;          /* [rows][unknowns], given; then Householder's vectors */
  double *g, *c;      /* [unknowns], [rows] */
  double *step;       /* [unknowns] */
  double *multiplier; /* [rows]: nu of least |g + J'nu| */
  double *eigen;      /* [unknowns]: of the reduced Hessian, ascending; where they were asked */
  int values;         /* how many */
  double slope;       /* |(Q'g)_2| */
  bool stationary;    /* asked: eigenvalues keep their sign: a step of Newton to any stationary point */
  bool convex;        /* the reduced Hessian was positive */
  double size;        /* of curvatures, where the largest are walls'; 0: the largest */
  struct cb_reduced_work *work;
} cb_reduced;

/* Room for that many; the caller frees. */
cb_status cb_reduced_create(int unknowns, int rows, cb_reduced **out);
void cb_reduced_free(cb_reduced *r);

/* step and multiplier from H, J, g, c, which are written over. */
cb_status cb_reduced_solve(cb_reduced *r);
/* After a solution, the shortest step[unknowns] with J step = -c. */
void cb_reduced_restore(const cb_reduced *r, const double *c, double *step);
/* Only J and g are read: multiplier and slope. */
void cb_reduced_slope(cb_reduced *r);
/* eigen of the reduced Hessian, from H and J, which are written over. */
void cb_reduced_eigenvalues(cb_reduced *r);
