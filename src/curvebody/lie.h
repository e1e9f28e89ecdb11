/* Lie groups: elements, exponentials, adjoints. Each group has its own coordinates.
 *
 * An element g is an array of `size` numbers. An element a of the algebra is an array of `dim` numbers in the basis
 * with the names `axis`. A velocity is left-trivialised, xi = g^-1 g'. The differential of exp is right-trivialised:
 *   d/dt exp(a(t)) = dexp_a(a') exp(a),   dexp_a = sum_k ad_a^k/(k+1)!,   dexp_a^-1 = sum_k B_k ad_a^k/k!
 * with k = 0, 1, ... and Bernoulli's numbers B_k. Ad_g a = g a g^-1 and ad_a b = [a, b]. Their duals Ad*_g and ad*_a
 * are transposed matrices: <Ad*_g m, a> = <m, Ad_g a>, <ad*_a m, b> = <m, ad_a b>. All functions are accurate for small
 * and for large arguments. The groups and the numbers of their elements are:
 *   rn          R^n, n from 1 to 12
 *   so2, se2    an angle; (x, y, theta), the isometries of E^2
 *   so3, se3    a unit quaternion (w, x, y, z); a unit quaternion and a position, the isometries of E^3
 *   so4         two unit quaternions (l, r), which act on the quaternions x of S^3 by x -> l x r^*
 *   so31        a matrix 4x4 that keeps the form diag(1, 1, 1, -1): isometries of H^3
 *   so21        a matrix 3x3 that keeps the form diag(1, 1, -1): isometries of H^2
 *   h2e         an element of so21 and a translation: isometries of H^2 x E
 *   heisenberg  (x, y, z) with the product (x, y, z)(x', y', z') = (x + x', y + y', z + z' + (x y' - y x')/2)
 * An element of the algebra of se3, so4 and so31 is (omega, v), a rotation about a base point and a translation away
 * from it, with
 *   [(omega, v), (omega', v')] = (omega × omega' + K v × v', omega × v' + v × omega'),  K = 0, 1 or -1.
 * In so4 the base point is the quaternion 1, l = exp((omega + v)/2) and r = exp((omega - v)/2). In se2 and so21 the
 * order is (v_x, v_y, omega). Angles of so2 and se2 are not reduced modulo 2 pi. A quaternion and its negative are the
 * same rotation, and (l, r) and (-l, -r) are the same element.
 * For users, and for authors of bundles. Groups are constant, and the functions allocate no memory.
 * Sources: Iserles, Munthe-Kaas, Norsett & Zanna, Acta Numerica 9 (2000) 215, doi:10.1017/S0962492900002154.
 */
#ifndef CURVEBODY_LIE_H
#define CURVEBODY_LIE_H

#include <curvebody/status.h>
#include <stdbool.h>

CB_API_BEGIN

enum { CB_GROUP_DIM = 12, CB_GROUP_SIZE = 16 };

typedef struct cb_group cb_group;
struct cb_group {
  const char *name, *doc;
  int dim, size;                     /* dimension of the group; how many numbers an element has */
  const char *axis[CB_GROUP_DIM];    /* [dim]: names of the basis vectors of the algebra */
  const char *number[CB_GROUP_SIZE]; /* [size]: names of the numbers of an element */
  bool abelian;
  int angle; /* 1 + the index of the number that is an angle and that a product adds (so2, se2); 0: none */
  void (*identity)(const cb_group *G, double *g);
  void (*multiply)(const cb_group *G, const double *a, const double *b, double *out); /* out may be a or b */
  void (*inverse)(const cb_group *G, const double *g, double *out);
  void (*exp)(const cb_group *G, const double *a, double *out);
  /* Computes the smallest a with exp(a) = g. CB_ERROR_DOMAIN if there is no such a, or more than one, for example for a
   * rotation by pi. */
  cb_status (*log)(const cb_group *G, const double *g, double *out);
  void (*adjoint)(const cb_group *G, const double *g, double *out); /* computes the matrix Ad_g[dim][dim] */
  void (*bracket)(const cb_group *G, const double *a, const double *b, double *out);
  void (*project)(const cb_group *G, double *g); /* removes round-off: replaces g by an element near it */
  /* For tests: computes a matrix out[n][n] of g such that products of elements have the products of their matrices, and
   * returns n <= 5; 0 if there is no such matrix, which is the case for R^n with n > 4. */
  int (*matrix)(const cb_group *G, const double *g, double *out);
  bool pair; /* true: elements of the algebra are pairs (omega, v) as above; false: ad_a^3 is a multiple of ad_a */
  double K;  /* curvature of the space whose isometries form the group */
};

/* Returns the group with this name, R^n as "r1" to "r12", in static memory; NULL if there is none. */
const cb_group *cb_group_find(const char *name);
cb_group cb_group_rn(int n);              /* returns R^n, n from 1 to 12; for another n its dim is 0 */
extern const cb_group *const cb_groups[]; /* all groups except rn, ended by NULL */

/* Functions for all groups. A matrix has dim rows and columns, in row-major order. */
void cb_group_ad(const cb_group *G, const double *a, double *out); /* computes the matrix of b -> [a, b] */
void cb_group_adjoint_dual(const cb_group *G, const double *g, const double *m, double *out); /* computes Ad_g^T m */
void cb_group_ad_dual(const cb_group *G, const double *a, const double *m, double *out);      /* computes ad_a^T m */
void cb_group_dexp(const cb_group *G, const double *a, double *out); /* computes the matrix dexp_a */
/* Computes the inverse of the matrix dexp_a. CB_STEP_SINGULAR if there is no inverse, for example for a rotation by 2
 * pi. */
cb_status cb_group_dexp_inverse(const cb_group *G, const double *a, double *out);
/* Computes h g h^-1. */
void cb_group_conjugate(const cb_group *G, const double *h, const double *g, double *out);

CB_API_END
#endif
