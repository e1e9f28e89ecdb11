/* The moving bodies of an MJCF file (MuJoCo's XML): how they are read, and how they are written as a scenario of bodies
 * in a fluid that are joined by joints.
 *
 * These elements are read: <include>, <compiler>, <option>, <default>, <asset> with <mesh> and <model>, <worldbody>
 * with <frame>, <replicate>, <attach>, <body>, <freejoint>, <joint>, <inertial> and <geom>; <tendon> with <fixed>,
 * <equality> with <connect>, <weld> and <joint>; <actuator> at sites, joints and fixed tendons, <keyframe>,
 * and one plane of the world as the floor. A body without a joint is welded to its parent, or does not move. Elements
 * that are not read are listed with their places; an invalid element is an error with its place. Source: MuJoCo's XML
 * reference and its compiler (2.2.2 and 3.14). SI units.
 */
#pragma once

#include "core/text.h"
#include <curvebody/mass.h>
#include <curvebody/se3.h>

typedef enum cb_mjcf_type {
  CB_MJCF_SPHERE,
  CB_MJCF_CAPSULE,
  CB_MJCF_CYLINDER,
  CB_MJCF_ELLIPSOID,
  CB_MJCF_BOX,
  CB_MJCF_MESH,
  CB_MJCF_TYPES
} cb_mjcf_type;
enum { CB_MJCF_COEFFICIENTS = 5 };

/* A mesh. Its mass properties are for density 1, in MuJoCo's frame of the mesh: the origin is the centre of mass, and
 * the axes are the principal axes in the order of descending moments. */
typedef struct cb_mjcf_mesh {
  const char *name, *file; /* name "": the mesh has no name; file NULL: it has no file */
  double scale[3];
  cb_pose place; /* pose of the scaled mesh in the frame that geoms use, from refpos and refquat */
  bool measured;
  double volume, moment[3], half[3]; /* volume; moment: principal moments; half: half the sides of the box about the
                                      * centre */
  cb_pose centre;
  struct cb_mjcf_mesh *next;
} cb_mjcf_mesh;

typedef struct cb_mjcf_geom {
  const char *name; /* "": the geom has no name */
  cb_mjcf_type type;
  double size[3];         /* sizes as in MJCF; for a mesh whose size was measured: half the sides of its box */
  cb_pose pose;           /* pose of the geom in its body; for a mesh: the pose of the frame of the mesh file */
  cb_pose centre;         /* for a mesh: the pose of its own frame in the body; otherwise the same as `pose` */
  double mass, moment[3]; /* mass; moment: the principal moments about its centre, in its own axes */
  bool fluid;             /* the geom has fluidshape="ellipsoid" */
  double coefficient[CB_MJCF_COEFFICIENTS];
  unsigned contype, conaffinity;
  cb_mjcf_mesh *mesh;
  struct cb_mjcf_geom *next;
} cb_mjcf_geom;

/* The mass of a body, and its inertia about the centre of mass, in the axes of the frame `centre`. */
typedef struct cb_mjcf_inertial {
  double mass, inertia[3][3];
  cb_pose centre;
} cb_mjcf_inertial;

/* A body of the file: a body that becomes a body of the scenario, or a body that is welded to it. */
typedef struct cb_mjcf_link {
  const char *name;
  cb_pose pose; /* pose of the link in the frame of the body of the scenario */
  cb_mjcf_geom *geoms;
  cb_mjcf_inertial inertial;
  double gravcomp; /* the fraction of its weight that an upward force compensates */
  struct cb_mjcf_link *next;
} cb_mjcf_link;

typedef enum cb_mjcf_joint { CB_MJCF_HINGE, CB_MJCF_FREE, CB_MJCF_BALL, CB_MJCF_SLIDE } cb_mjcf_joint;

/* A joint between a body and its parent. The joints of one body act one after another, from the parent to the body. A
 * hinge or slide has one coordinate q, MuJoCo's coordinate less `ref`; a ball has the rotation vector, in the axes of
 * the parent. All are 0 at the reference. */
enum { CB_MJCF_POLYNOMIAL = 5 };
typedef struct cb_mjcf_hold {
  const char *name; /* name of the joint in the file; "": it has none */
  cb_mjcf_joint type;
  double at[3], axis[3];            /* at: place of the joint; axis: its axis; both in the body's frame at the
                                     * reference */
  double ref;                       /* MuJoCo's coordinate at q = 0 */
  double stiffness, rest, damping;  /* rest: the q at which the spring has no force */
  double armature, friction;        /* friction: largest dry friction */
  double limit[2], effort[2];       /* limit: range of q; effort: range of the force of all actuators together;
                                     * infinite: none */
  double q[3], rate[3];             /* coordinates and their rates at the start */
  const char *label[3];             /* names of the coordinates in expressions */
  const char *actuation, *motor[3]; /* expressions: actuation: the force of the actuators; motor: other forces; NULL:
                                     * none */
  /* by: the <joint> of <equality> that determines q; NULL: there is none. It sets q = poly[0] + poly[1] r + .., where r
   * is the coordinate of `to`, or q = poly[0] if `to` is NULL. */
  struct cb_xml *by;
  const struct cb_mjcf_hold *to;
  double poly[CB_MJCF_POLYNOMIAL];
} cb_mjcf_hold;
enum { CB_MJCF_HOLDS = 6 }; /* maximum number of joints of a body */

/* The wrench of an actuator, or of `gravcomp`. Its components are expressions of the twist and of `ctrl0`, .. They are
 * along the axes of the world if `world` is set, otherwise along the axes of the body. */
typedef struct cb_mjcf_wrench {
  const char *name;
  bool world;
  double at[3];
  const char *force[3], *torque[3]; /* components as expressions; NULL: the component is 0 */
  struct cb_mjcf_wrench *next;
} cb_mjcf_wrench;

typedef struct cb_mjcf_body {
  const char *own; /* name of the body in the scenario */
  /* name: its name in the file, to which the copies and files around the body add prefix and suffix */
  const char *name, *prefix, *suffix;
  cb_pose place;               /* pose of the body in the world's frame, at the start */
  bool top, free;              /* top: it is directly in the world; free: it has a free joint */
  struct cb_mjcf_body *parent; /* NULL: the world */
  /* held: a joint that closes a loop (cb_mjcf_loop) connects this free body to another group of bodies, so that its
   * place follows from theirs. under: the free body of that group; NULL: the group is joined to the world. */
  bool held;
  const struct cb_mjcf_body *under;
  cb_pose reference; /* pose of the body in the parent's frame if all coordinates are 0 */
  int holds;         /* number of joints with the parent; 0: the body is free */
  cb_mjcf_hold hold[CB_MJCF_HOLDS];
  const char *kind, *joint; /* class and name of the one joint of the scenario that replaces these joints */
  cb_mjcf_link *links;
  cb_mjcf_inertial inertial;   /* the sum over all links, in the frame of the first link */
  double velocity[3], spin[3]; /* velocity of this body's origin, and its angular velocity, in the axes of the body */
  cb_mjcf_wrench *wrenches, **last_wrench;
  struct cb_mjcf_body *next;
} cb_mjcf_body;

/* A joint that closes a loop between two bodies (NULL: the world). Its frame is `pose` in the first body and `in` in
 * the second one. */
typedef struct cb_mjcf_loop {
  const char *kind, *name; /* kind: class of the joint, `ball` or `weld`; name: name of the joint */
  const cb_mjcf_body *body[2];
  cb_pose pose, in;
  bool holds;  /* nothing else joins its bodies, so that it closes no loop */
  double q[3]; /* coordinates of a ball at the start, used if it closes no loop */
  struct cb_mjcf_loop *next;
} cb_mjcf_loop;

/* A file that was read: the main file, and those that it includes and attaches. */
typedef struct cb_mjcf_file {
  const char *path;
  struct cb_mjcf_file *next;
} cb_mjcf_file;

typedef struct cb_mjcf {
  const char *path, *title;
  cb_mjcf_file *files;
  double density, viscosity, wind[3], gravity[3], step;
  int integrator;       /* index in the list Euler, RK4, implicit, implicitfast */
  cb_mjcf_body *bodies; /* a parent comes before its children */
  int n;
  cb_mjcf_loop *loops;
  int joints; /* number of joints of the scenario */
  double start;
  bool floor; /* the floor is the half space below height along the normal */
  double normal[3], height;
  int actuators;
  double *control; /* [actuators]: their controls; NAN: the actuator is left out, or its control is an expression */
  const char *left_out; /* one line for each element that is not read, `file:line:column: left out: ..` */
} cb_mjcf;

/* The choices of a caller. key: the <key> from which the bodies start, by its name or by its number from 0; NULL: none.
 * controls: texts NAME=EXPRESSION, the control of the actuator of that name (or ctrlNUMBER) as an expression of t. */
typedef struct cb_mjcf_choices {
  const char *key;
  const char *const *control;
  int controls;
} cb_mjcf_choices;

/* Reads a file; choices may be NULL. Returns CB_ERROR_FILE if a file cannot be read, and CB_ERROR_INPUT with the
 * message `path:line:column: error: ..` if the file is not valid. The caller frees *out. */
cb_status cb_mjcf_read_file(const char *path, const cb_mjcf_choices *choices, cb_mjcf **out);
/* Reads text[n] as cb_mjcf_read_file reads a file; messages call it `path`, and its meshes are next to that path. */
cb_status cb_mjcf_read_text(const char *path, const char *text, size_t n, const cb_mjcf_choices *choices,
                            cb_mjcf **out);
void cb_mjcf_free(cb_mjcf *m);

/* Writes a scenario that runs for the time `end` from m->start. Returns CB_ERROR_MEMORY if there is no memory. */
cb_status cb_mjcf_write(const cb_mjcf *m, double end, cb_text *out);
