/* Newton's method for the stages of Lobatto IIIA-IIIB in the embedding; see lobatto_newton.c. */
#ifndef CB_INTEGRATORS_LOBATTO_NEWTON_H
#define CB_INTEGRATORS_LOBATTO_NEWTON_H

#include "integrators/lobatto.h"
#include "integrators/lobatto_constraints.h"

typedef struct cb_lobatto_newton cb_lobatto_newton;

/* rods: NULL without constraints. */
cb_status cb_lobatto_newton_create(cb_integrator *in, const cb_lobatto *l, cb_lobatto_constraints *rods,
                                   cb_lobatto_newton **out);
void cb_lobatto_newton_free(cb_lobatto_newton *w);

/* Solves for D, X and G from the prediction that is in them, and for the multipliers of rods (NULL: none). Sets
 * in->iterations and in->residual. */
cb_status cb_lobatto_newton_solve(cb_lobatto_newton *w, cb_integrator *in, cb_lobatto *l, cb_lobatto_constraints *rods,
                                  double t, const double *x0, const double *p0, double h);

#endif
