/* Newton's method for the stages of Lobatto IIIA-IIIB in the embedding; see lobatto_newton.c. */
#ifndef CB_INTEGRATORS_LOBATTO_NEWTON_H
#define CB_INTEGRATORS_LOBATTO_NEWTON_H

#include "integrators/lobatto.h"
#include "integrators/lobatto_constraints.h"

typedef struct cb_lobatto_newton cb_lobatto_newton;

/* Into l->newton. */
cb_status cb_lobatto_newton_create(cb_lobatto *l);
void cb_lobatto_newton_free(cb_lobatto_newton *w);

/* Solves for D, X and G from the prediction that is in them, and for the multipliers of l->rods. Sets the integrator's
 * iterations and residual. */
cb_status cb_lobatto_newton_solve(cb_lobatto *l);

#endif
