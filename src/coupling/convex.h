/* The gap of two convex bodies, its normal and its contact points.
 *
 *   s(A, B) = max over unit vectors n of g(n),   g(n) = min over y in B of n.y - max over x in A of n.x
 * s is the distance of A and B if they are apart, and minus the smallest translation that separates them if they
 * overlap. The maximum is at the normal n, which points from A to B, and is attained at the contact points x and y = x
 * + s n. If the bodies move, ds/dt = n.(v_B - v_A), with the velocities of A at x and of B at y, because g is
 * stationary at n.
 *   A convex set is a core, thickened by a radius r: all points at a distance of at most r from the core. The gap of
 * two thick sets is the gap of their cores minus both radii, with the same normal. The core is the convex hull of
 * points (one point for a ball, two for a capsule) or an ellipsoid.
 *   Overlapping sets have one such normal for each direction in which they can be separated. `guess` selects the one
 * near it, so that s is continuous while bodies that touch move a little deeper.
 * The space is flat. All lengths have the same unit. s has the error of round-off, about 1e-15 of the sizes of the
 * bodies and of their distance. If the cores are hulls and touch each other at two vertices, at a vertex and an edge,
 * or at parallel edges, n is not unique, and one of its values is returned. Sources: Gilbert, Johnson & Keerthi, IEEE
 * J. Robot. Autom. 4 (1988) 193, doi:10.1109/56.2083 (distance of hulls); Absil, Mahony & Sepulchre (2008),
 * doi:10.1515/9781400830244, chapter 6 (Newton's method on a sphere).
 */
#pragma once

#include "core/arena.h"
#include <curvebody/se3.h>
#include <curvebody/surface.h>

#include <stdbool.h>

/* A convex set in the frame of its body. */
typedef struct cb_convex {
  double radius;        /* the radius r by which the core is thickened, at least 0 */
  int n;                /* number of points of the core; 0: the core is an ellipsoid */
  const double (*x)[3]; /* [n]: the points of the core, borrowed; NULL: they are in `own` */
  double own[2][3];
  double axis[3][3];       /* the half axes of the ellipsoid, as columns */
  double centre[3], bound; /* centre and radius of a ball around the set; the centre is also that of an ellipsoid */
} cb_convex;

typedef struct cb_convex_contact {
  double gap, normal[3]; /* s, and the unit vector n, which points from A to B, in the world's axes */
  double a[3], b[3];     /* the contact points x on A and y on B, in world coordinates */
} cb_convex_contact;

cb_convex cb_convex_ball(const double centre[3], double radius);
/* Returns the set of points at a distance of at most `radius` from the segment between two points. */
cb_convex cb_convex_capsule(const double from[3], const double to[3], double radius);
/* Returns an ellipsoid; the columns of `axis` are its half axes, perpendicular to each other and not 0. */
cb_convex cb_convex_ellipsoid(const double centre[3], const double axis[3][3]);
/* Returns the convex hull of n >= 1 points, which are borrowed. */
cb_convex cb_convex_hull(int n, const double (*x)[3]);

/* Finds the gap of two sets, whose bodies have the poses ga and gb. On entry `guess` is near the normal, for example
 * the normal of the previous step, or {0, 0, 0} if nothing is known. On return it is the normal. */
void cb_convex_gap(const cb_convex *a, const cb_pose *ga, const cb_convex *b, const cb_pose *gb, double guess[3],
                   cb_convex_contact *out);

/* If two hulls or capsules touch with faces or lines that are nearly parallel, a single contact point does not
 * determine how the bodies can turn. The patch is the part of one face that lies on the other face. It is represented
 * by at most eight of its points. At each of them a point of one body touches a plane of the other body.
 *
 *   s_i = n.(x_i - x_0) - r   or, if the plane is in b,  n.(x_0 - x_i) - r
 * n: the common normal of the planes, from a to b; x_0: a point of plane i; x_i: the point of the other core; r: the
 * sum of the radii. n is fixed in the body of the planes. If one of the bodies has a face perpendicular to n, the
 * planes are in this body. */
enum { CB_PATCH_POINTS = 8 };
typedef struct cb_convex_patch {
  int n;     /* number of points; 0: there is no patch */
  bool on_b; /* true: the planes belong to b and the points to a; false: the other way round */
  double normal[3],
      /* normal: n; level: n.x_0 + r of each plane, or n.x_0 - r if on_b; both in the frame of the body with the
       * planes */
      level[CB_PATCH_POINTS];
  double point[CB_PATCH_POINTS][3]; /* [n]: the points x_i, in the frame of the other body */
} cb_convex_patch;

/* Finds the patch of two sets that touch each other with the normal n in the world (convex_hulls.c). It exists if the
 * cores are hulls or segments whose sides along n meet in at least two points. The side of a hull consists of its
 * corners near the supporting plane: they are at most a tenth of the size of the smaller body away from it. */
void cb_convex_find_patch(const cb_convex *a, const cb_pose *ga, const cb_convex *b, const cb_pose *gb,
                          const double normal[3], cb_convex_patch *out);

/* Finds the convex set out[parts] of each part of a surface in flat space, in the arena. *hull: the first part that is
 * not convex, whose convex hull is taken; -1: all are convex. */
cb_status cb_convex_of_surface(const cb_surface *s, cb_arena *arena, cb_convex **out, int *hull);

/* A set at its pose in the world, and a pair of such sets. They are used only in the files convex*.c. */
typedef struct cb_convex_placed {
  const cb_convex *set;
  double r[3][3], x[3];         /* rotation and position of the pose */
  double centre[3], axis[3][3]; /* centre and half axes (columns) of the ellipsoid in the world */
} cb_convex_placed;
typedef struct cb_convex_pair {
  cb_convex_placed a, b;
  double size;
} cb_convex_pair;

/* cb_convex_place places a set at the pose of its body. cb_convex_point returns point `number` of a hull in the frame
 * of the body. */
void cb_convex_place(const cb_convex *c, const cb_pose *g, cb_convex_placed *out);
const double *cb_convex_point(const cb_convex *c, int number);
/* Finds the point of a core that is farthest along d; returns its number, or 0 for an ellipsoid. */
int cb_convex_support(const cb_convex_placed *c, const double d[3], double out[3]);
/* Finds g(n) of the cores, and the points x and y of the cores at which it is attained. */
double cb_convex_width(const cb_convex_pair *p, const double n[3], double x[3], double y[3]);
/* Finds the gap of the cores (convex_hulls.c). Without `coarse` the gap of two hulls is exact up to round-off. With
 * `coarse`, which is for pairs with an ellipsoid, the error of the gap is about 1 % of the size of the pair. */
void cb_convex_hulls(const cb_convex_pair *p, bool coarse, const double guess[3], cb_convex_contact *out);
