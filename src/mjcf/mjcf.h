/* The free bodies of an MJCF file (MuJoCo's XML): how they are read, and how they are written as a scenario of bodies
 * in a fluid.
 *
 * These elements are read: <include>, <compiler>, <option>, <default>, <asset> with <mesh> and <model>, <worldbody>
 * with <frame>, <replicate>, <attach>, <body>, <freejoint>, <joint type="free">, <inertial> and <geom>; <actuator> at
 * sites and free joints, <keyframe>, and one plane of the world as the floor. A body without a joint is welded to its
 * parent. A body with other joints is left out with all bodies attached to it. Elements that are not read are listed
 * with their places; an invalid element is an error with its place. Source: MuJoCo's XML reference and its compiler
 * (2.2.2 and 3.14). SI units.
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
  const char *name, *file; /* name "" or file NULL: it has none */
  double scale[3];
  cb_pose place; /* pose of the scaled mesh in the frame that geoms use, from refpos and refquat */
  bool measured;
  double volume, moment[3], half[3]; /* half: half the sides of the box about the centre */
  cb_pose centre;
  struct cb_mjcf_mesh *next;
} cb_mjcf_mesh;

typedef struct cb_mjcf_geom {
  const char *name; /* "": it has none */
  cb_mjcf_type type;
  double size[3];         /* as in MJCF; for a mesh whose size was measured, half the sides of its box */
  cb_pose pose;           /* in its body; for a mesh the pose of the file's frame */
  cb_pose centre;         /* for a mesh the pose of its own frame in the body; otherwise `pose` */
  double mass, moment[3]; /* about its centre, in its own axes */
  bool fluid;             /* fluidshape="ellipsoid" */
  double coefficient[CB_MJCF_COEFFICIENTS];
  unsigned contype, conaffinity;
  cb_mjcf_mesh *mesh;
  struct cb_mjcf_geom *next;
} cb_mjcf_geom;

/* The mass, and the inertia about the centre in the axes of `centre`. */
typedef struct cb_mjcf_inertial {
  double mass, inertia[3][3];
  cb_pose centre;
} cb_mjcf_inertial;

/* A body of the file: the free body, or a body that is welded to it. */
typedef struct cb_mjcf_link {
  const char *name;
  cb_pose pose; /* in the frame of the free body */
  cb_mjcf_geom *geoms;
  cb_mjcf_inertial inertial;
  double gravcomp; /* the fraction of its weight that an upward force compensates */
  struct cb_mjcf_link *next;
} cb_mjcf_link;

/* The wrench of an actuator, or of `gravcomp`: expressions of the twist and of `ctrl0`, ... along the axes of the body
 * or the world. */
typedef struct cb_mjcf_wrench {
  const char *name;
  bool world;
  double at[3];
  const char *force[3], *torque[3]; /* a NULL component is 0 */
  struct cb_mjcf_wrench *next;
} cb_mjcf_wrench;

typedef struct cb_mjcf_body {
  /* prefix, suffix: parts of the name that the <replicate> and <attach> around the body add. */
  const char *name, *prefix, *suffix;
  cb_pose place; /* in the world's frame */
  cb_mjcf_link *links;
  cb_mjcf_inertial inertial;   /* of all links together, in the frame of the first */
  double velocity[3], spin[3]; /* velocity of its origin, and angular velocity, in its axes */
  cb_mjcf_wrench *wrenches, **last_wrench;
  struct cb_mjcf_body *next;
} cb_mjcf_body;

/* A file that was read: the main file, and those that it includes and attaches. */
typedef struct cb_mjcf_file {
  const char *path;
  struct cb_mjcf_file *next;
} cb_mjcf_file;

typedef struct cb_mjcf {
  const char *path, *title;
  cb_mjcf_file *files;
  double density, viscosity, wind[3], gravity[3], step;
  int integrator; /* index in the list Euler, RK4, implicit, implicitfast */
  cb_mjcf_body *bodies;
  int n;
  double start;
  bool floor; /* the floor is the half space below height along the normal */
  double normal[3], height;
  int actuators;
  double *control;      /* [actuators]: their controls; NAN for an actuator that is left out */
  const char *left_out; /* one line for each element that is not read, `file:line:column: left out: ..` */
} cb_mjcf;

/* Reads a file. key: the <key> from which the bodies start, by its name or by its number from 0; NULL: none.
 * CB_ERROR_FILE if a file cannot be read; CB_ERROR_INPUT with the message `path:line:column: error: ..`. The caller
 * frees *out. */
cb_status cb_mjcf_read_file(const char *path, const char *key, cb_mjcf **out);
/* Does the same for text[n]; messages call it `path`, and its meshes are next to that path. */
cb_status cb_mjcf_read_text(const char *path, const char *text, size_t n, const char *key, cb_mjcf **out);
void cb_mjcf_free(cb_mjcf *m);

/* Writes a scenario that runs for the time `end` from m->start. CB_ERROR_MEMORY if there is no memory. */
cb_status cb_mjcf_write(const cb_mjcf *m, double end, cb_text *out);
