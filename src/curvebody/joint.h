/* Classes of joints between two rigid bodies, or between a body and the world.
 *
 *   m = (g_a A)^-1 g_b B,  m in {M(q)},  m^-1 m' = sum_i q_i' S_i(q)
 * g_a, g_b: poses of the two bodies; A, B: the frames of the joint in them; m: pose of frame B seen from frame A; M(q):
 * the motions that the joint allows; q: its coordinates; S_i: twist of B relative to A, in the axes of B and about its
 * origin, per rate of q_i. A twist is (angular, linear). The covectors N_j span what is orthogonal to all S_i; gap_j
 * vanishes if and only if m is an allowed motion, and its rate is N_j.(m^-1 m') as long as the gaps are small.
 * Metres and radians. For authors: a class is one object, in a file of src/mechanism/joints/ or in a plugin. Nothing is
 * allocated. Source: Featherstone, Rigid Body Dynamics Algorithms (2008), section 4.4.
 */
#ifndef CURVEBODY_JOINT_H
#define CURVEBODY_JOINT_H

#include <curvebody/param.h>
#include <curvebody/se3.h>

CB_API_BEGIN

/* A motion of a joint. Rows beyond the numbers of coordinates and gaps are not used. */
typedef struct cb_joint_motion {
  double q[6];    /* in: approximate coordinates, which select the number of whole turns; out: the coordinates of m */
  double S[6][6]; /* [coordinates]: the twists S_i at q */
  double N[6][6]; /* [6 - coordinates]: the covectors N_j, orthonormal */
  double gap[6];  /* [6 - coordinates]: the gaps of m; rotations in rad, displacements in m */
} cb_joint_motion;

/* The parameters and the screws of one joint. A class uses only those that its documentation names. */
typedef struct cb_joint_data {
  const void *params;       /* the keys of the class, a struct of cb_joint_class.size bytes */
  int screws;               /* number of screws, at most 6 */
  const double (*screw)[6]; /* [screws]: the twist of each screw in frame A at q = 0, per rate of its coordinate */
} cb_joint_data;

typedef struct cb_joint_class {
  const char *name, *title, *doc;
  int coordinates, gaps; /* numbers of coordinates and gaps. -1 and -1: they follow from the number of screws. A class
                          * with coordinates + gaps < 6 can close a loop, but cannot be a joint of a tree */
  const char *symbol[6]; /* [coordinates]: added to the name of the joint, such as ".x"; "" for a single coordinate */
  bool angular[6];       /* [coordinates]: true: an angle in rad; false: a displacement in m */
  int axes; /* number of axes that a user gives: 0; 1: z of both frames; 2: x of frame A and y of frame B */
  const cb_param *params; /* keys of the joint besides the keys that all joints have; NULL: none */
  size_t size;            /* bytes of the struct that `params` fills */
  /* Computes the motion for the pose m. */
  void (*find)(const cb_pose *m, const cb_joint_data *data, cb_joint_motion *motion);
  /* Computes m = M(q); NULL for a class that only closes loops. */
  void (*place)(const double *q, const cb_joint_data *data, cb_pose *m);
  /* serial: M(q) = exp(q_1 S_1(0)) exp(q_2 S_2(0)) .., one motion after another; integrators that move the coordinates
   * of joints need this. turns: the last three coordinates are a rotation vector a, and the last factor is the rotation
   * exp(hat(a)). */
  bool serial, turns;
  /* true: the coordinates are rotations about the origins of both frames, which coincide, and the class serves every
   * space of constant curvature: m is then a pose as in curvebody/pose.h */
  bool curved;
} cb_joint_class;

/* All classes: the built-in ones, then those of plugins; the list ends with NULL. */
extern const cb_joint_class *const *const cb_joint_classes;

CB_API_END
#endif
