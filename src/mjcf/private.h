/* What the files that read MJCF share. */
#pragma once

#include "core/errors.h"
#include "mjcf/mjcf.h"
#include "mjcf/xml.h"

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
  long visits;                                   /* of elements: a few lines may stand for very many */
  int copies;                                    /* of all <replicate> */
  double mass;                                   /* of bodies that are left out, where `total` is given */
  cb_xml *blocked, *joint;                       /* the first body that is free but for this joint */
  const char *key;                               /* that is asked for, or NULL */
  bool acting, clamping, touching, compensating; /* not switched off */
  unsigned long idle;                            /* groups of actuators that are switched off, a bit each */
  struct cb_mjcf_target *targets, **last_target;
  int nq, nv;      /* coordinates and velocities of all joints */
  cb_xml *unknown; /* something that may have joints of its own */
  struct cb_mjcf_plane *planes, **last_plane;
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
  double group[2]; /* of geoms that have a mass */
  bool autolimits, align;
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
  int copy; /* the innermost <replicate> or <attach> around, counted over all from 1; 0: none */
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
void cb_mjcf_axes(const double (*J)[3], double moment[3], double q[4]);

/* --- joints and sites (mjcf_joints.c) --- */
typedef enum cb_mjcf_joint { CB_MJCF_HINGE, CB_MJCF_FREE, CB_MJCF_BALL, CB_MJCF_SLIDE } cb_mjcf_joint;
typedef struct cb_mjcf_joints {
  cb_xml *first, *other; /* first: of the body itself; other: one more, there or in a body within */
  cb_mjcf_scope scope;   /* of the first */
} cb_mjcf_joints;
cb_status cb_mjcf_find_joints(const cb_mjcf_scope *scope, cb_xml *body, cb_mjcf_joints *out);
cb_status cb_mjcf_joint_type(const cb_mjcf_scope *scope, cb_xml *joint, cb_mjcf_joint *out);

/* A joint or a site, in the order in which MuJoCo counts joints. */
typedef struct cb_mjcf_target {
  cb_xml *e;
  cb_mjcf_scope scope; /* its frame: in the free body */
  cb_mjcf_body *body;  /* NULL: it is left out */
  bool joint;
  cb_mjcf_joint type;
  int q, v; /* the first of its coordinates and of its velocities */
  struct cb_mjcf_target *next;
} cb_mjcf_target;
/* Adds those of a body and of those within; of: the free one that was made of it, or NULL. */
cb_status cb_mjcf_add_targets(cb_mjcf_whole *whole, const cb_mjcf_scope *scope, cb_xml *body, cb_mjcf_body *of);

/* --- what pushes, and the start --- */
bool cb_mjcf_is_actuator(const char *name);
void cb_mjcf_take_actuator(cb_xml *e);
/* All actuators, by the controls of the key (NULL: 0). */
cb_status cb_mjcf_read_actuators(cb_mjcf_reader *r, const cb_node *control);
cb_status cb_mjcf_compensate(const cb_mjcf_reader *r);
/* The key that is asked for, or a word on those that there are. control: its <ctrl>, or NULL. */
cb_status cb_mjcf_read_key(cb_mjcf_reader *r, const cb_node **control);

/* --- the floor (mjcf_floor.c) --- */
/* A geom of the world: a plane is kept, all else does not move. */
cb_status cb_mjcf_see_geom(cb_mjcf_reader *r, const cb_mjcf_scope *scope, cb_xml *e);
/* Makes one plane the floor. */
cb_status cb_mjcf_choose_floor(cb_mjcf_reader *r);

/* --- geoms and meshes --- */
cb_status cb_mjcf_touching(const cb_mjcf_source *source, unsigned *type, unsigned *affinity);
cb_status cb_mjcf_read_meshes(cb_mjcf_reader *r);
cb_status cb_mjcf_measure(cb_mjcf_mesh *mesh, const cb_node *asked);
/* massive: its mass will be asked for. */
cb_status cb_mjcf_read_geom(const cb_mjcf_scope *scope, cb_xml *e, bool massive, cb_mjcf_geom **out);

/* Where it is drawn in the free body; of a body without geoms the box of its inertia. */
cb_pose cb_mjcf_looks_at(const cb_mjcf_link *l, const cb_mjcf_geom *g);
cb_mjcf_geom cb_mjcf_looks_without_geoms(const cb_mjcf_body *body, cb_pose *pose);

/* --- masses (mjcf_mass.c) --- */
/* Moments and axes, and half sides, of the box of the same mass and inertia. */
void cb_mjcf_box(const cb_mjcf_inertial *m, double half[3], cb_pose *pose, double moment[3]);
double cb_mjcf_volume(const cb_mjcf_geom *g);
void cb_mjcf_moments(cb_mjcf_geom *g); /* from type, size and mass */
/* Several as one, in the frame that poses[n] are in (NULL: the one that they are in); one is itself. */
void cb_mjcf_add(int n, const cb_mjcf_inertial *const *of, const cb_pose *const *poses, cb_mjcf_inertial *out);
cb_status cb_mjcf_read_inertial(const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_inertial *out);
bool cb_mjcf_is_diagonal(const cb_mjcf_inertial *m);
/* boundmass, boundinertia and balanceinertia of <compiler>. at: who is to blame. */
cb_status cb_mjcf_bound(const cb_mjcf_reader *r, const cb_node *at, cb_mjcf_inertial *m);

/* --- bodies (mjcf_body.c) --- */
cb_status cb_mjcf_read_world(cb_mjcf_reader *r);
