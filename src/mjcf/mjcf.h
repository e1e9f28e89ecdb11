/* The free bodies of an MJCF file, MuJoCo's XML, as they are read, and as a scenario of bodies in a fluid.
 *
 * Read: <include>, <compiler>, <option>, <default>, <asset> with <mesh> and <model>, <worldbody> with <frame>,
 * <replicate>, <attach>, <body>, <freejoint>, <joint type="free">, <inertial> and <geom>; <actuator> at sites and free
 * joints, <keyframe>, and a plane of the world, the floor. A body without a joint is welded to its parent; a
 * body that moves by other joints is left out with all that it carries. What is not read is listed with its place; what
 * cannot be right fails with its place. Source: MuJoCo's XML reference and its compiler (2.2.2 and 3.14). SI units.
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

/* `cb_mass` of density 1, and MuJoCo's frame: the centre, and the principal axes by falling moments. */
typedef struct cb_mjcf_mesh {
  const char *name, *file; /* NULL: it has none */
  double scale[3];
  cb_pose place; /* of the scaled mesh in the frame that geoms see: refpos and refquat */
  bool measured;
  double volume, moment[3], half[3]; /* half: of the box about the centre */
  cb_pose centre;
  struct cb_mjcf_mesh *next;
} cb_mjcf_mesh;

typedef struct cb_mjcf_geom {
  const char *name; /* "": none */
  cb_mjcf_type type;
  double size[3];         /* as MJCF has it; of a mesh that was measured the half sides of its box */
  cb_pose pose;           /* in its body; of a mesh that of the file */
  cb_pose centre;         /* of a mesh its own frame in the body; otherwise `pose` */
  double mass, moment[3]; /* about its centre, in its axes */
  bool fluid;             /* fluidshape="ellipsoid" */
  double coefficient[CB_MJCF_COEFFICIENTS];
  unsigned contype, conaffinity;
  cb_mjcf_mesh *mesh;
  struct cb_mjcf_geom *next;
} cb_mjcf_geom;

/* Mass, and the inertia about the centre in axes that are turned by its quaternion. */
typedef struct cb_mjcf_inertial {
  double mass, inertia[3][3];
  cb_pose centre;
} cb_mjcf_inertial;

/* A body of the file: the one that is free, or one welded to it. */
typedef struct cb_mjcf_link {
  const char *name;
  cb_pose pose; /* in the free body */
  cb_mjcf_geom *geoms;
  cb_mjcf_inertial inertial;
  double gravcomp; /* the part of its weight that a force upwards carries */
  struct cb_mjcf_link *next;
} cb_mjcf_link;

/* Of an actuator, or of `gravcomp`: expressions of the twist and of `ctrl0`, ... along the axes of the body or the
 * world. */
typedef struct cb_mjcf_wrench {
  const char *name;
  bool world;
  double at[3];
  const char *force[3], *torque[3]; /* NULL: 0 */
  struct cb_mjcf_wrench *next;
} cb_mjcf_wrench;

typedef struct cb_mjcf_body {
  const char *name, *prefix, *suffix; /* those that the name has from where it stands */
  cb_pose place;                      /* in the world */
  cb_mjcf_link *links;
  cb_mjcf_inertial inertial;   /* of all links, in the frame of the first */
  double velocity[3], spin[3]; /* of its origin, in its own axes */
  cb_mjcf_wrench *wrenches, **last_wrench;
  struct cb_mjcf_body *next;
} cb_mjcf_body;

/* A file that was read: the model, and what it includes and attaches. */
typedef struct cb_mjcf_file {
  const char *path;
  struct cb_mjcf_file *next;
} cb_mjcf_file;

typedef struct cb_mjcf {
  const char *path, *title;
  cb_mjcf_file *files;
  double density, viscosity, wind[3], gravity[3], step;
  int method; /* of its words Euler, RK4, implicit, implicitfast */
  cb_mjcf_body *bodies;
  int n;
  double start;
  bool floor; /* the half space below height along the normal */
  double normal[3], height;
  int actuators;
  double *control;      /* of each; NAN: of one that is left out */
  const char *left_out; /* a line each, `file:line:column: left out: ..` */
} cb_mjcf;

/* key: the <key> that the bodies start from, by its name or its number from 0; NULL: none. CB_ERROR_FILE;
 * CB_ERROR_INPUT, `path:line:column: error: ..`. The caller frees. */
cb_status cb_mjcf_read_file(const char *path, const char *key, cb_mjcf **out);
/* The same for text[n], called `path`, beside which its meshes are. */
cb_status cb_mjcf_read_text(const char *path, const char *text, size_t n, const char *key, cb_mjcf **out);
void cb_mjcf_free(cb_mjcf *m);

/* As a scenario of the time `end`. CB_ERROR_MEMORY, or CB_ERROR_INPUT for a file without a free body. */
cb_status cb_mjcf_write(const cb_mjcf *m, double end, cb_text *out);
