/* A plane chain of straight links, hinged end to end. Each link has a diagonal tensor D in its own frame (along,
 * across, rotation about its middle): drag for a swimmer without inertia, mass for a floating chain.
 *
 *   body velocity of link k in its own frame:  u_k = J_k (xi, r')
 *   G = sum J_k^T D_k J_k = ((P, Q), (Q^T, R));   A = P^-1 Q,   M = R - Q^T A
 *   d_a A = P^-1 E_a,  E_a = d_a Q - d_a P A;   d_a M = d_a R - (d_a Q)^T A - A^T E_a
 * xi: body velocity of the base link; r': rates of the shape; J_k: the matrix that maps them to u_k; D_k: tensor of
 * link k; G: form on (xi, r'); A, M: connection and cost metric; d_a: derivative by r_a. Shape: r_j = heading of link j
 * + 1 minus heading of link j (links count from 0). Fibre SE(2): the frame of the link `base`, at its middle, with x
 * along it. The two sides of the base link interact only through P. Units are those of the model; P must be positive
 * definite.
 * Source: Hatton & Choset, IEEE Trans. Robotics 29 (2013) 615, doi:10.1109/TRO.2013.2251211 (drag); Kelly & Murray, J.
 * Robotic Systems 12 (1995) 417, doi:10.1002/rob.4620120607 (inertia).
 */
#pragma once

#include <curvebody/bundle.h>

enum { CB_CHAIN_LINKS = 12 };

typedef struct cb_chain {
  int links, base; /* 2 <= links <= CB_CHAIN_LINKS, 0 <= base < links */
  double length[CB_CHAIN_LINKS];
  double D[CB_CHAIN_LINKS][3]; /* [link]: the diagonal of the tensor D: along, across, rotation */
} cb_chain;

/* The functions of cb_bundle_class for a chain, with n = links - 1 shape variables. They return CB_STEP_SINGULAR if P
 * is not positive definite to round-off. */
cb_status cb_chain_connection(const cb_chain *c, const double *r, double *A, double *dA, double *M, double *dM);
/* Computes the form G[3 + n][3 + n] and its derivatives dG[n][3 + n][3 + n]; dG may be NULL. */
cb_status cb_chain_form(const cb_chain *c, const double *r, double *G, double *dG);
cb_status cb_chain_second(const cb_chain *c, const double *r, double *ddA, double *ddM);
cb_status cb_chain_on_jets(const cb_chain *c, const cb_jet *r, cb_jet *A, cb_jet *M);

/* Computes the matrix S of cb_bundle_class.strain, for a chain whose tensors D are the drag of its links. */
cb_status cb_chain_strain(const cb_chain *c, const double *r, double *S);

/* Computes x[links + 1], the positions of the ends and hinges of the chain, if the pose of its base link is the element
 * g of SE(2). The lines cb_chain_lines[links] join neighbouring points. */
void cb_chain_plot(const cb_chain *c, const double *r, const double *g, double (*x)[3]);
extern const int cb_chain_lines[CB_CHAIN_LINKS][2];

/* Sets the lengths and the base of a chain. The lengths are in proportion to the list `shares` (NULL: all equal) and
 * have the sum `total`; base is counted from 1 (0: the middle link). Returns CB_ERROR_ARGUMENT if links, base or a
 * number of the list is out of range. */
cb_status cb_chain_shape(cb_chain *c, int links, double total, const cb_node *shares, int base);
/* The names alpha1, alpha2, ... of the shape variables, in static memory. */
extern const char *const cb_chain_names[CB_CHAIN_LINKS - 1];
