/* From a symmetric form on (xi, r') to a connection and a cost metric.
 *
 *   G = ((P, Q), (Q^T, R)), [dim + n][dim + n]:  power, or twice the kinetic energy
 *   A = P^-1 Q,   M = R - Q^T A
 *   d_k A = P^-1 E_k,  E_k = d_k Q - d_k P A;   d_k M = d_k R - (d_k Q)^T A - A^T E_k
 * Least power, or no momentum: xi = -A r' is where the form is least at a given r'.
 * Source: Kelly & Murray, J. Robotic Systems 12 (1995) 417, doi:10.1002/rob.4620120607.
 */
#pragma once

#include <curvebody/bundle.h>

/* G and dG[n][dim + n][dim + n] (NULL where dA and dM are not wanted) by rows, both halves; A, dA, M, dM as in
 * cb_bundle_class. CB_STEP_SINGULAR where P is not positive definite to round-off, with the axis of the group. */
cb_status cb_form_reduce(const cb_group *group, int n, const double *G, const double *dG, double *A, double *dA,
                         double *M, double *dM);
