/* What the constraints of Lobatto hold. */
#ifndef CB_INTEGRATORS_LOBATTO_CONSTRAINTS_PRIVATE_H
#define CB_INTEGRATORS_LOBATTO_CONSTRAINTS_PRIVATE_H

#include "core/arena.h"
#include "dynamics/gram.h"
#include "integrators/lobatto_constraints.h"

/* Up to this many unknown multipliers the matrix of all stages is kept dense in sweeps, and bordered in Newton's
 * method. */
enum { CB_LOBATTO_DENSE = 24, CB_LOBATTO_BORDER = 160 };

/* A rod by the square of its chord, e = x_i - x_j: <e,e> of a stage less what it is kept at, from the moves D of its
 * ends, with an error of round-off of D and not of x. */
typedef struct cb_chord {
  int i, j;
  double e[CB_COORD_MAX];
  double excess; /* <e,e> at the state less `square`, in twice the precision */
  double square, slope;
} cb_chord;

struct cb_lobatto_constraints {
  cb_arena *arena;
  const cb_system *system;
  const cb_geometry *space;
  cb_constraints *c;
  cb_gram *gram;
  const cb_rows *rows;
  int m, entries, size;                  /* rows, entries, m*(s-1) */
  double *raw;                           /* force at the state, without pulls */
  double *lambda[CB_LOBATTO_MAX];        /* [m] of the stages */
  double *G[CB_LOBATTO_MAX];             /* gradients at the stages, [entries*k] */
  double *T[CB_LOBATTO_MAX];             /* raised tangential gradients */
  double *g;                             /* [(s-1)*m] */
  cb_chord *chord;                       /* [m]; slope 0: not a rod by its chord */
  bool dense, has_history, has_gradient; /* G[0] is that of the state */
  double h;
  double *matrix;
  int *pivot;
  double *velocity, *y;

  /* Newton's method: made when first used */
  double *border;         /* [m*(s-1)][n*block]: the matrix' inverse on the columns of y */
  double *schur, *blocks; /* [(m*(s-1))^2]; of the forces' pattern */
};

/* d - D of the rods at a stage, over what the plain distance gave in out[m]. */
void cb_lobatto_constraints_chords(const cb_lobatto_constraints *c, const cb_lobatto *l, double t, int stage,
                                   double *out);

#endif
