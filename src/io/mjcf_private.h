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

/* What the readers of a file, and of those that it attaches, share. */
typedef struct cb_mjcf_whole {
  const char *folder; /* of the main file, where files are looked for first */
  struct cb_mjcf_reader *readers, **last_reader;
  long visits;             /* of elements: a few lines may stand for very many */
  int copies;              /* of all <replicate> */
  double mass;             /* of bodies that are left out, where `total` is given */
  cb_xml *blocked, *joint; /* the first body that is free but for this joint */
} cb_mjcf_whole;

/* A file: the main one, or one that it attaches, which keeps its own settings, defaults and meshes. */
typedef struct cb_mjcf_reader {
  cb_arena *arena; /* of the model */
  cb_mjcf_whole *whole;
  const struct cb_mjcf_reader *parent; /* the file that attaches it; NULL: the main one */
  struct cb_mjcf_reader *next;
  const char *path, *name; /* name: of the <model>, "" of the main one */
  cb_xml *root;
  bool radians;
  const char *sequence; /* of euler angles */
  cb_mjcf_from_geoms from_geoms;
  double group[2];                         /* of geoms that have a mass */
  double bound_mass, bound_inertia, total; /* total: that all bodies have, 0: as they are */
  bool balance;
  const char *meshdir;
  bool strip;
  cb_mjcf_class *classes;
  cb_mjcf_mesh *meshes;
  cb_mjcf *model;
} cb_mjcf_reader;

cb_status cb_mjcf_no_memory(const cb_mjcf_reader *r);

/* Where an element stands, once <frame>, <replicate> and <attach> are resolved. */
typedef struct cb_mjcf_scope {
  cb_mjcf_reader *r; /* of its file */
  cb_pose frame;     /* in the body around */
  const char *childclass, *prefix, *suffix;
  int copy; /* the innermost copy around, counted over the file from 1; 0: none */
} cb_mjcf_scope;

/* --- files (mjcf_files.c) --- */
/* With what holds where nothing else is said. */
cb_mjcf_reader cb_mjcf_reader_of(cb_arena *arena, cb_mjcf_whole *whole, cb_mjcf *model, const char *path);
/* Reads text[n] of the file r->path, with what it includes and attaches, and its settings, defaults and meshes. */
cb_status cb_mjcf_read(cb_mjcf_reader *r, const char *text, size_t n);
/* The path of a file that an element names: in the main file's folder, or in that of the file it is named in. */
const char *cb_mjcf_path(const cb_mjcf_reader *r, const cb_node *file, const char *dir);
cb_status cb_mjcf_read_settings(cb_mjcf_reader *r);

/* --- elements (mjcf_tree.c) --- */
typedef cb_status cb_mjcf_visit(void *user, const cb_mjcf_scope *scope, cb_xml *e);
/* All in parent, in their order. */
cb_status cb_mjcf_each(const cb_mjcf_scope *scope, cb_xml *parent, cb_mjcf_visit *visit, void *user);
/* All in the <worldbody>s of a file. */
cb_status cb_mjcf_each_of_world(const cb_mjcf_scope *scope, cb_mjcf_visit *visit, void *user);
/* The scope of what is in a body that stands in `around`; pose: its own there (NULL: not wanted). */
cb_status cb_mjcf_enter(const cb_mjcf_scope *around, cb_xml *body, cb_mjcf_scope *out, cb_pose *pose);
/* With the prefixes and suffixes of the scope; "": it has no name; NULL: no memory. */
const char *cb_mjcf_name(const cb_mjcf_scope *scope, cb_xml *e);

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
/* Of angles in the units and by the sequence of <compiler>. */
void cb_mjcf_euler(const cb_mjcf_reader *r, const double angle[3], double q[4]);
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
/* massive: its mass will be asked for. */
cb_status cb_mjcf_read_geom(const cb_mjcf_scope *scope, cb_xml *e, bool massive, cb_mjcf_geom **out);

/* --- masses (mjcf_mass.c) --- */
double cb_mjcf_volume(const cb_mjcf_geom *g);
void cb_mjcf_moments(cb_mjcf_geom *g); /* from type, size and mass */
/* Several as one, in the frame that poses[n] are in (NULL: the one that they are in); one is itself. */
void cb_mjcf_add(int n, const cb_mjcf_inertial *const *of, const cb_pose *const *poses, cb_mjcf_inertial *out);
cb_status cb_mjcf_read_inertial(const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_inertial *out);
bool cb_mjcf_is_diagonal(const cb_mjcf_inertial *m);
/* Its moments along the diagonal, or by principal axes that are turned by q. */
void cb_mjcf_principal(const cb_mjcf_inertial *m, double moment[3], double q[4]);
/* boundmass, boundinertia and balanceinertia of <compiler>. at: who is to blame. */
cb_status cb_mjcf_bound(const cb_mjcf_reader *r, const cb_node *at, cb_mjcf_inertial *m);

/* --- bodies (mjcf_body.c) --- */
cb_status cb_mjcf_read_world(cb_mjcf_reader *r);

#endif
