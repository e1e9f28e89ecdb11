/* Lie groups: elements, exponentials, adjoints; each group has its own coordinates.
 *
 * An element is `size` numbers, an element of the algebra `dim` numbers in the basis named by `axis`. Left-trivialised:
 * xi = g^-1 g'. dexp is right-trivialised: d/dt exp(a(t)) = dexp_a(a') exp(a);  dexp_a = sum ad_a^k/(k+1)!,
 * dexp_a^-1 = sum B_k ad_a^k/k!, B_k Bernoulli's numbers. Ad_g a = g a g^-1, ad_a b = [a, b]; the duals are transposes:
 * <Ad*_g m, a> = <m, Ad_g a>, <ad*_a m, b> = <m, ad_a b>. Accurate near the identity (series) and for large arguments.
 *   rn        R^n, n up to 12                     so2  angle           se2  (x, y, theta)
 *   so3       unit quaternion (w, x, y, z)        se3  quaternion and place, algebra (omega, v)
 *   so4       two unit quaternions, x -> l x r^*  so31 matrix 4x4 (form +, +, +, -), algebra (rotations, boosts)
 *   so21      matrix 3x3 (form +, +, -): isometries of H^2;  h2e: so21 and a translation: isometries of H^2 x E
 *   heisenberg (x, y, z), (x, y, z)(x', y', z') = (x + x', y + y', z + z' + (x y' - y x')/2)
 * se3, so4 and so31 are isometries of E^3, S^3, H^3 about a point, with (omega, v) a rotation about this point and a
 *   translation away from it:
 *   [(omega, v), (omega', v')] = (omega × omega' + K v × v', omega × v' + v × omega'),  K = 0, 1, -1
 * so4: l = exp((omega + v)/2), r = exp((omega - v)/2); the point is the quaternion 1. se2 and so21 are the isometries
 * of E^2 and H^2, in the order (v_x, v_y, omega). Angles of so2 and se2 are not reduced modulo 2 pi; a quaternion and
 * its negative are the same rotation, (l, r) and (-l, -r) the same element.
 * For users, and for authors of bundles. Groups are constant; nothing is allocated.
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
  int dim, size;
  const char *axis[CB_GROUP_DIM];    /* names of the basis of the algebra */
  const char *number[CB_GROUP_SIZE]; /* names of the numbers of an element */
  bool abelian;
  void (*identity)(const cb_group *G, double *g);
  void (*multiply)(const cb_group *G, const double *a, const double *b, double *out); /* out may be a or b */
  void (*inverse)(const cb_group *G, const double *g, double *out);
  void (*exp)(const cb_group *G, const double *a, double *out);
  /* The logarithm nearest the identity. CB_ERROR_DOMAIN if it is not unique (rotation by pi) or does not exist. */
  cb_status (*log)(const cb_group *G, const double *g, double *out);
  void (*adjoint)(const cb_group *G, const double *g, double *out); /* Ad_g, dim x dim, row-major */
  void (*bracket)(const cb_group *G, const double *a, const double *b, double *out);
  void (*project)(const cb_group *G, double *g); /* projects back to the group: removes round-off */
  /* Faithful matrix, for tests: n x n, row-major; n <= 5. 0 for R^n with n > 4. */
  int (*matrix)(const cb_group *G, const double *g, double *out);
  bool pair; /* the algebra consists of pairs (omega, v) as above; otherwise ad_a^3 is a multiple of ad_a */
  double K;  /* curvature of the space whose isometries form the group */
};

/* Finds a group by name, R^n as "r1" to "r12"; NULL if there is none. Static memory. */
const cb_group *cb_group_find(const char *name);
cb_group cb_group_rn(int n);              /* n from 1 to 12; otherwise dim is 0 */
extern const cb_group *const cb_groups[]; /* all groups except rn, ended by NULL */

/* For all groups, from the bracket and Ad. */
void cb_group_ad(const cb_group *G, const double *a, double *out); /* matrix of b -> [a, b] */
void cb_group_adjoint_dual(const cb_group *G, const double *g, const double *m, double *out); /* Ad_g^T m */
void cb_group_ad_dual(const cb_group *G, const double *a, const double *m, double *out);      /* ad_a^T m */
void cb_group_dexp(const cb_group *G, const double *a, double *out);                          /* dim x dim */
/* CB_STEP_SINGULAR if dexp has no inverse (rotations by multiples of 2 pi). */
cb_status cb_group_dexp_inverse(const cb_group *G, const double *a, double *out);
void cb_group_conjugate(const cb_group *G, const double *h, const double *g, double *out); /* h g h^-1 */

CB_API_END
#endif
