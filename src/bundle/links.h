/* A tree of straight links in the plane or in space, each with a diagonal tensor D in its own frame (at its middle, x
 * along it): drag for a body without inertia (resistive-force theory), mass for one without momentum.
 *
 *   u_k = J_k (xi, r'): velocity of link k in its own frame;   G = sum J_k^T D_k J_k,   then bundle/form.h
 *   drag     D = k_t l (1, ratio, ratio), turning k_t l^3 (spin, turn, turn)    along, across, across
 *   inertia  D = m (1, 1, 1),             turning m (a^2/2, l^2/12 + a^2/4, ..)  of a uniform rod of radius a
 * In the plane the second direction across and the turns about both are left. A link begins at a hinge, at the fraction
 * `at` of its parent's length; beyond it the parent's directions are turned by `offset + angle(r)` about `axis`, a unit
 * vector in the parent's frame (z in the plane), then by the rotation vector `rest` in the turned frame. A link without
 * length joins hinges to one of more freedoms. Links are counted from 0, parents before children.
 * Fibre SE(2) or SE(3): the frame of the link `base`, at the fraction `origin` of its length.
 * From link to link, from the base outwards, with s the twist of the hinge in the frame beyond it (constant):
 *   u <- Ad_T^-1 u + s dphi,   d_a u <- Ad_T^-1 d_a u - phi_a [s, Ad_T^-1 u] + s d_a dphi
 * in O(links n) for A, O(links n^3) with dA and dM.
 * Sources: Gray & Hancock, J. Exp. Biology 32 (1955) 802, doi:10.1242/jeb.32.4.802 (drag); Kelly & Murray, J. Robotic
 * Systems 12 (1995) 417, doi:10.1002/rob.4620120607; Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 6.
 */
#pragma once

#include <curvebody/bundle.h>

enum { CB_LINK_TREE_MAX = 64, CB_LINK_TREE_LEVELS = 7 }; /* 1 + log2 of the links */

/* A link as it is given. */
typedef struct cb_tree_link {
  int parent; /* -1: the first */
  double length, at, axis[3], offset, rest[3];
  struct cb_expression *angle; /* of the variables use[uses] in this order; NULL: fixed; owned */
  int uses, use[CB_JET_MAX];
  double along, across, turn, spin; /* D */
} cb_tree_link;

/* A link on the way from the base, after the limb `from`, over the hinge of the link `hinge`: it turns by
 * sign (offset + angle). */
typedef struct cb_limb {
  int link, from, hinge;
  double sign, before, after;   /* x of the hinge in the link before and in this one */
  double axis[3], turned[3][3]; /* axis in the frame before; what `rest` turns */
  double twist[6];              /* s, in the order of the group's algebra */
  int source, level;            /* where the velocities before it are, and where its own go */
  int reach_before, reach;      /* 1 + the last variable on the way to it, in the order of `rank` */
  int active_before, active, variable[CB_SHAPE_MAX]; /* those on the way, in that order */
} cb_limb;

typedef struct cb_link_tree {
  bool plane;
  const cb_group *group;
  int links, n, base;
  double origin;
  cb_tree_link link[CB_LINK_TREE_MAX];
  cb_limb limb[CB_LINK_TREE_MAX];
  int rank[CB_SHAPE_MAX], ranked[CB_SHAPE_MAX]; /* of a variable, and the variable of a rank */
  int line[CB_LINK_TREE_MAX][2];
  char *name[CB_SHAPE_MAX];
} cb_link_tree;

/* What the model's table of parameters gives. */
typedef struct cb_link_tree_params {
  int space, of, base; /* plane, space; drag, inertia */
  double origin, drag, ratio, turn, spin, density, radius;
  const cb_node *shape, *parameters, *links, *period;
} cb_link_tree_params;

/* Fills L and the bundle's group, n, names, periods and picture; what it owns is freed by cb_link_tree_free, also on
 * failure. */
cb_status cb_link_tree_read(cb_bundle *b, cb_link_tree *L, const cb_link_tree_params *given);
void cb_link_tree_free(cb_link_tree *L);
/* From plane, links, n, base, origin, link[]: the rest. CB_ERROR_ARGUMENT with the link. */
cb_status cb_link_tree_order(cb_link_tree *L);

/* As in cb_bundle_class. CB_STEP_SINGULAR where a motion of the locked body has no drag or no mass, as of links in one
 * line that turn about it without spin or radius; CB_STEP_DOMAIN where an angle is not finite. */
cb_status cb_link_tree_connection(const cb_link_tree *L, const double *r, double *A, double *dA, double *M, double *dM);
cb_status cb_link_tree_form(const cb_link_tree *L, const double *r, double *G);
/* Begin and end of each link: x[2 links]. */
cb_status cb_link_tree_picture(const cb_link_tree *L, const double *r, const double *g, double (*x)[3]);
