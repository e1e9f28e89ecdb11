/* What the files that read MJCF share. */
#ifndef CB_IO_MJCF_PRIVATE_H
#define CB_IO_MJCF_PRIVATE_H

#include "core/errors.h"
#include "io/mjcf.h"
#include "io/xml.h"

/* A class of defaults; the first is `main`, whose parent is NULL. */
typedef struct cb_mjcf_class {
  const char *name;
  cb_xml *element; /* one of the <default> that it has */
  struct cb_mjcf_class *parent, *next;
} cb_mjcf_class;

/* Where an element's attributes are looked for: defaults, then itself. */
enum { CB_MJCF_SOURCES = 256 };
typedef struct cb_mjcf_source {
  cb_xml *from[CB_MJCF_SOURCES];
  int n;
} cb_mjcf_source;

typedef enum cb_mjcf_from_geoms { CB_MJCF_NEVER, CB_MJCF_ALWAYS, CB_MJCF_AUTO } cb_mjcf_from_geoms;

typedef struct cb_mjcf_reader {
  cb_arena *arena; /* of the model */
  cb_xml *root;
  bool radians;
  const char *sequence; /* of euler angles */
  cb_mjcf_from_geoms from_geoms;
  double group[2]; /* of geoms that have a mass */
  const char *folder, *meshdir;
  bool strip;
  cb_mjcf_class *classes;
  cb_mjcf_mesh *meshes;
  cb_mjcf *model;
} cb_mjcf_reader;

cb_status cb_mjcf_no_memory(const cb_mjcf_reader *r);

/* --- attributes (mjcf_attributes.c) --- */
cb_status cb_mjcf_read_classes(cb_mjcf_reader *r);
/* childclass: of the bodies around, NULL: none. */
cb_status cb_mjcf_source_of(const cb_mjcf_reader *r, cb_xml *element, const char *childclass, cb_mjcf_source *out);
const cb_node *cb_mjcf_value(const cb_mjcf_source *source, const char *name); /* the last that there is, or NULL */
/* least to most numbers into the first of out; count: how many (NULL: not wanted). */
cb_status cb_mjcf_numbers(const cb_node *value, const char *name, int least, int most, double *out, int *count);
/* Those of all sources, one over the other. */
cb_status cb_mjcf_merged(const cb_mjcf_source *source, const char *name, int least, int most, double *out);
/* The number of a word; `what` in messages. */
cb_status cb_mjcf_choice(const cb_node *value, const char *what, int n, const char *const *words, int *out);

/* --- poses (mjcf_pose.c) --- */
/* pos and quat, axisangle, xyaxes, zaxis or euler. oriented: one of the five is there (NULL: not wanted). */
cb_status cb_mjcf_pose(const cb_mjcf_reader *r, const cb_mjcf_source *source, cb_pose *out, bool *oriented);
/* To length 1, however long; false: shorter than MuJoCo's mjEPS. */
bool cb_mjcf_normalise(int n, double *v);
/* The least turn from z to the direction v. */
void cb_mjcf_turn_to(const double v[3], double q[4]);
/* Of the axes in the columns. */
void cb_mjcf_quaternion(const double axes[3][3], double q[4]);
/* Principal moments and axes (mjcf_axes.c). */
void cb_mjcf_axes(const double J[3][3], double moment[3], double q[4]);

/* --- geoms and meshes --- */
cb_status cb_mjcf_read_meshes(cb_mjcf_reader *r);
cb_status cb_mjcf_measure(cb_mjcf_mesh *mesh, const cb_node *asked);
/* In a frame of its body. massive: its mass will be asked for. */
cb_status cb_mjcf_read_geom(cb_mjcf_reader *r, cb_xml *e, const char *childclass, const cb_pose *frame, bool massive,
                            cb_mjcf_geom **out);

/* --- masses (mjcf_mass.c) --- */
double cb_mjcf_volume(const cb_mjcf_geom *g);
void cb_mjcf_moments(cb_mjcf_geom *g); /* from type, size and mass */
/* Several as one, in the frame that poses[n] are in (NULL: the one that they are in); one is itself. */
void cb_mjcf_add(int n, const cb_mjcf_inertial *const *of, const cb_pose *const *poses, cb_mjcf_inertial *out);
cb_status cb_mjcf_read_inertial(const cb_mjcf_reader *r, cb_xml *e, const cb_pose *frame, cb_mjcf_inertial *out);

/* --- bodies (mjcf_body.c) --- */
cb_status cb_mjcf_read_world(cb_mjcf_reader *r);

#endif
