/* A tree of straight links in the plane or in space. Each link has a diagonal tensor D in its own frame (at its middle,
 * x along it): drag for a body without inertia (resistive-force theory), or mass for a body without momentum.
 *
 *   u_k = J_k (xi, r'): velocity of link k in its own frame, xi the body velocity, r' the rates of the shape
 *   G = sum J_k^T D_k J_k;   A and M follow from G as in cb_form_reduce (bundle/bundle_private.h)
 *   drag     D = k_t l (1, ratio, ratio), turning k_t l^3 (spin, turn, turn)    along, across, across
 *   inertia  D = m (1, 1, 1),             turning m (a^2/2, l^2/12 + a^2/4, ..)  of a uniform rod of radius a
 * l: length of the link; m: its mass; k_t: drag along it per length; ratio, turn, spin: parameters without unit; J_k:
 * the matrix that maps (xi, r') to u_k. In the plane the second direction across and the rotations about the first two
 * axes are omitted.
 *
 * A link begins at a hinge, at the fraction `at` of the length of its parent. Beyond the hinge the directions of the
 * parent are rotated by `offset + angle(r)` about `axis`, a unit vector in the frame of the parent (z in the plane),
 * and then by the rotation vector `rest` in the rotated frame. With links of length 0, several hinges act as one hinge
 * with more degrees of freedom. Links are counted from 0, and a parent has a lower number than its children. Fibre
 * SE(2) or SE(3): the frame of the link `base`, at the fraction `origin` of its length.
 *
 * Velocities u are computed from link to link, from the base outwards:
 *   u <- Ad_T^-1 u + s dphi (dphi = sum_a phi_a r_a'),   d_a u <- Ad_T^-1 d_a u - phi_a [s, Ad_T^-1 u] + s d_a dphi
 * T: pose of the next link in the frame of the previous one; phi: angle of the hinge between them; phi_a = d_a phi,
 * d_a: derivative by r_a; s: twist of the hinge in the frame of the next link (constant). The cost is O(links n^2) for
 * A, and O(links n^3) with dA and dM.
 * Sources: Gray & Hancock, J. Exp. Biology 32 (1955) 802, doi:10.1242/jeb.32.4.802 (drag); Kelly & Murray, J. Robotic
 * Systems 12 (1995) 417, doi:10.1002/rob.4620120607; Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 6.
 */
#pragma once

#include <curvebody/bundle.h>

enum { CB_LINK_TREE_MAX = 64, CB_LINK_TREE_LEVELS = 7 }; /* levels: 1 + log2 of the maximum number of links */

/* A link, with the values that the scenario gives. */
typedef struct cb_tree_link {
  int parent; /* -1: none, this is the first link */
  double length, at, axis[3], offset, rest[3];
  /* angle of the hinge: an owned expression of the variables use[0 .. uses-1], in this order; NULL: constant */
  struct cb_expression *angle;
  int uses, use[CB_JET_MAX];
  double along, across, turn, spin; /* the diagonal of D */
} cb_tree_link;

/* A limb is a link with its place in the order from the base outwards. On the path from the base, the limb number
 * `from` comes before this limb. The hinge of the link `hinge` joins these two limbs, and rotates this limb by sign
 * (offset + angle). */
typedef struct cb_limb {
  int link, from, hinge;
  /* before, after: x of the hinge in the frame of the limb before this one, and in the frame of this limb */
  double sign, before, after;
  /* axis: in the frame of the limb before this one; turned: the rotation of `rest`, or its inverse if the limb before
   * this one is the child */
  double axis[3], turned[3][3];
  double twist[6];   /* twist s of the hinge, in the order of the axes of the group */
  int source, level; /* indices of the stored velocities of the limb before this one and of this limb */
  /* reach_before, reach: 1 + the highest rank of a variable on the path from the base to the limb before this one, and
   * on the path from the base to this limb */
  int reach_before, reach;
  /* active_before, active: numbers of variables on these two paths; variable: the ranks of these variables */
  int active_before, active, variable[CB_SHAPE_MAX];
} cb_limb;

typedef struct cb_link_tree {
  bool plane;
  const cb_group *group;
  int links, n, base;
  double origin;
  cb_tree_link link[CB_LINK_TREE_MAX];
  cb_limb limb[CB_LINK_TREE_MAX];
  /* rank: the position of a variable in the order in which hinges use it; ranked: the inverse */
  int rank[CB_SHAPE_MAX], ranked[CB_SHAPE_MAX];
  int line[CB_LINK_TREE_MAX][2];
  char *name[CB_SHAPE_MAX];
} cb_link_tree;

/* The parameters of the model. */
typedef struct cb_link_tree_params {
  int space, of, base; /* space: 0 plane, 1 space; of: 0 drag, 1 inertia */
  double origin, drag, ratio, turn, spin, density, radius;
  const cb_node *shape, *parameters, *links, *period;
} cb_link_tree_params;

/* Fills L, and the members group, n, names, periods, points and lines of the bundle. The caller must free the memory of
 * L with cb_link_tree_free, even after a failure. */
cb_status cb_link_tree_read(cb_bundle *b, cb_link_tree *L, const cb_link_tree_params *given);
void cb_link_tree_free(cb_link_tree *L);

/* These functions compute the connection and the form of a tree, as in cb_bundle_class. They return CB_STEP_SINGULAR if
 * a motion of the locked body has no drag or no mass. An example is a rotation about a line on which all links lie, if
 * their spin or radius is 0. They return CB_STEP_DOMAIN if an angle is not finite. */
cb_status cb_link_tree_connection(const cb_link_tree *L, const double *r, double *A, double *dA, double *M, double *dM);
cb_status cb_link_tree_form(const cb_link_tree *L, const double *r, double *G, double *dG);
/* Computes the matrix S of cb_bundle_class.strain, for a tree with drag. */
cb_status cb_link_tree_strain(const cb_link_tree *L, const double *r, double *S);
/* Computes x[2 links], the positions of the beginning and of the end of each link, if the body frame is the group
 * element g. */
cb_status cb_link_tree_plot(const cb_link_tree *L, const double *r, const double *g, double (*x)[3]);
