/* Declarations that the source files of the MJCF reader share. The first part is the reader of XML:
 *
 * It reads XML into a tree of elements with their places in a file, and remembers which of them were used.
 *
 * Elements and attributes are in UTF-8 and read by expat. Comments and processing instructions are skipped; a DOCTYPE
 * is an error. Names and values are scalars (curvebody/node.h), so that errors have a place. The caller marks what it
 * reads; everything else can be listed.
 */
#pragma once

#include "core/arena.h"
#include "core/failure.h"
#include "core/text.h"
#include "mjcf/mjcf.h"
#include <curvebody/node.h>

enum {
  CB_XML_LARGEST = 64 << 20 /* maximum number of bytes of a text */,
  CB_XML_DEEPEST = 200 /* maximum depth of elements */
};

typedef struct cb_xml_attribute {
  cb_node name, value;
  bool read;
} cb_xml_attribute;

typedef struct cb_xml cb_xml;
struct cb_xml {
  cb_node name; /* `#text` for text between elements */
  size_t count;
  cb_xml_attribute *attribute;
  cb_xml *parent, *first, *last, *next; /* children are in the order of the file */
  bool read;
  const char *why;  /* reason why it was not read; NULL: no special reason */
  const char *note; /* a part of the element that was not read, although the element was read; NULL: none */
};

/* Reads text[n], called `name` in messages, into the arena, which keeps copies of name and text. Returns CB_ERROR_INPUT
 * with a message `name:line:column: error: ..` if the text is not valid XML. */
cb_status cb_xml_read(cb_arena *arena, const char *name, const char *text, size_t n, cb_xml **root);

/* Returns the value of an attribute and marks it as read; NULL: there is none. */
const cb_node *cb_xml_get(cb_xml *element, const char *attribute);
/* Returns whether the element has this name and its member `why` is NULL. If so, the element is marked as read. */
bool cb_xml_is(cb_xml *element, const char *name);

/* Returns whether this attribute of the element (NULL: the element itself) is minor: it has no effect on the motion. */
typedef bool cb_xml_is_minor(const cb_xml *e, const char *attribute);

/* Minor elements and attributes, counted by their names over several documents; starts as {0}. */
enum { CB_XML_MINORS = 64 };
typedef struct cb_xml_minor_kind {
  const char *element, *attribute; /* attribute "": the element itself */
  int count;
} cb_xml_minor_kind;
typedef struct cb_xml_minors {
  const cb_node *first;
  cb_xml_minor_kind kind[CB_XML_MINORS];
  int n, more;
} cb_xml_minors;

/* Lists the elements and attributes that were not read, in the order of the document, each in a line `file:line:column:
 * left out: ..`. Minor ones are added to `minors` instead. */
void cb_xml_list_unread(const cb_xml *root, cb_xml_is_minor *is_minor, cb_xml_minors *minors, cb_text *out);
/* Writes all minor elements and attributes in one line with the place of the first: `what: rgba of <geom> (3 times),
 * <light>`. Writes nothing if there are none. */
void cb_xml_put_minors(const cb_xml_minors *minors, const char *what, cb_text *out);

/* --- MJCF --- */

/* A class of defaults. An outermost class has the parent NULL, and the name `main` unless the file gives another. */
typedef struct cb_mjcf_class {
  const char *name;
  cb_xml *element; /* one of its <default> elements */
  struct cb_mjcf_class *parent, *next;
} cb_mjcf_class;

/* The elements in which an attribute is searched: defaults first, then the element itself. */
enum { CB_MJCF_SOURCES = 256 };
typedef struct cb_mjcf_source {
  cb_xml *from[CB_MJCF_SOURCES];
  int n;
} cb_mjcf_source;

typedef enum cb_mjcf_from_geoms { CB_MJCF_NEVER, CB_MJCF_ALWAYS, CB_MJCF_AUTO } cb_mjcf_from_geoms;

/* The data that the readers of the main file and of attached files share. */
typedef struct cb_mjcf_whole {
  const char *folder; /* the folder of the main file, in which files are searched first */
  struct cb_mjcf_reader *readers, **last_reader;
  long visits; /* number of visited elements, which is limited because a few lines may create very many elements */
  int copies;  /* number of copies of all <replicate> and <attach> */
  double mass; /* mass of bodies that are left out, if `total` is given */
  cb_mjcf_choices choices;
  /* false if a flag of <option> disables the effect; acting: actuators; clamping: control ranges; touching: contacts;
   * compensating: gravcomp */
  bool acting, clamping, touching, compensating;
  bool springs, dampers, limits, frictions, equalities;
  unsigned long idle; /* bit i is set if group i of the actuators is disabled */
  struct cb_mjcf_target *targets, **last_target;
  int nq, nv;      /* numbers of coordinates (nq) and of velocities (nv) of all joints */
  cb_xml *unknown; /* an element that may have joints of its own */
  struct cb_mjcf_plane *planes, **last_plane;
  struct cb_mjcf_tendon *tendons;
} cb_mjcf_whole;

/* A file: the main file or an attached file. An attached file keeps its own settings, defaults and meshes. */
typedef struct cb_mjcf_reader {
  cb_arena *arena; /* the arena of the model */
  cb_mjcf_whole *whole;
  const struct cb_mjcf_reader *parent; /* the file that attaches this one; NULL: this is the main file */
  struct cb_mjcf_reader *next;
  const char *path, *name; /* name: the name of the <model>, "" for the main file */
  cb_xml *root;
  bool radians;
  const char *sequence; /* the sequence of axes of Euler angles */
  cb_mjcf_from_geoms from_geoms;
  double group[2]; /* the range of groups whose geoms have mass */
  bool autolimits, align;
  double bound_mass, bound_inertia, total; /* total: the sum of all masses; 0: masses are not scaled */
  bool balance;
  const char *meshdir;
  bool strip;
  cb_mjcf_class *classes;
  cb_mjcf_mesh *meshes;
  cb_mjcf *model;
} cb_mjcf_reader;

cb_status cb_mjcf_no_memory(const cb_mjcf_reader *r);

/* The surroundings of an element, after <frame>, <replicate> and <attach> are resolved. */
typedef struct cb_mjcf_scope {
  cb_mjcf_reader *r; /* the reader of the file in which the element is */
  cb_pose frame;     /* pose of the frame of the element in the surrounding body */
  const char *childclass, *prefix, *suffix;
  /* Number of the innermost <replicate> or <attach> around it, counted over all copies from 1; 0: none. */
  int copy;
} cb_mjcf_scope;

/* --- files (mjcf_tree.c) --- */
/* Returns a reader with the default settings. */
cb_mjcf_reader cb_mjcf_reader_of(cb_arena *arena, cb_mjcf_whole *whole, cb_mjcf *model, const char *path);
/* Reads text[n] of the file r->path with everything that it includes and attaches, and its settings, defaults and
 * meshes. */
cb_status cb_mjcf_read(cb_mjcf_reader *r, const char *text, size_t n);
/* Returns the path of a file that an element names, below `dir` ("": none): in the main file's folder, or, if it exists
 * only there, in the folder of the file with the element. NULL: there is no memory. */
const char *cb_mjcf_path(const cb_mjcf_reader *r, const cb_node *file, const char *dir);
cb_status cb_mjcf_read_settings(cb_mjcf_reader *r);

/* --- elements (mjcf_tree.c) --- */
typedef cb_status cb_mjcf_visit(void *user, const cb_mjcf_scope *scope, cb_xml *e);
/* Visits all elements in parent, in their order. */
cb_status cb_mjcf_each(const cb_mjcf_scope *scope, cb_xml *parent, cb_mjcf_visit *visit, void *user);
/* Visits all elements in the <worldbody>s of a file. */
cb_status cb_mjcf_each_of_world(const cb_mjcf_scope *scope, cb_mjcf_visit *visit, void *user);
/* Finds the scope inside a body that is in the scope `around`. pose: the pose of the body in the frame of `around`
 * (NULL: not wanted). */
cb_status cb_mjcf_enter(const cb_mjcf_scope *around, cb_xml *body, cb_mjcf_scope *out, cb_pose *pose);
/* Returns the name with the prefixes and suffixes of the scope; "": it has no name; NULL: there is no memory. */
const char *cb_mjcf_name(const cb_mjcf_scope *scope, cb_xml *e);

/* --- attributes (mjcf.c) --- */
cb_status cb_mjcf_read_classes(cb_mjcf_reader *r);
/* Finds the elements in which the attributes of `element` are searched. Returns CB_ERROR_INPUT if the class of the
 * element is not known. childclass: the childclass of the bodies around the element; NULL: none. */
cb_status cb_mjcf_source_of(const cb_mjcf_reader *r, cb_xml *element, const char *childclass, cb_mjcf_source *out);
/* Returns the last given value of an attribute, or NULL. */
const cb_node *cb_mjcf_value(const cb_mjcf_source *source, const char *name);
/* Reads at least `minimum` and at most `maximum` numbers into out[0], out[1], ... count: the number of numbers found
 * (NULL: not wanted). */
cb_status cb_mjcf_numbers(const cb_node *value, const char *name, int minimum, int maximum, double *out, int *count);
/* Reads the numbers of all sources. The numbers of a later source replace those of earlier sources. */
cb_status cb_mjcf_merged(const cb_mjcf_source *source, const char *name, int minimum, int maximum, double *out);
/* Finds the index of a value in a list of texts. `what` is its name in messages. */
cb_status cb_mjcf_choice(const cb_node *value, const char *what, int n, const char *const *texts, int *out);

/* --- poses (geom.c) --- */
/* Reads pos and quat, axisangle, xyaxes, zaxis or euler. oriented: one of the five is given (NULL: not wanted). */
cb_status cb_mjcf_pose(const cb_mjcf_reader *r, const cb_mjcf_source *source, cb_pose *out, bool *oriented);
/* Converts angles, in the unit and the sequence of <compiler>, into a quaternion. */
void cb_mjcf_euler(const cb_mjcf_reader *r, const double angle[3], double q[4]);
/* Scales v to length 1 without overflow. Returns false if it is shorter than MuJoCo's mjEPS. */
bool cb_mjcf_normalise(int n, double *v);
/* Finds the quaternion q of the smallest rotation that turns the z axis to the direction v. */
void cb_mjcf_turn_to(const double v[3], double q[4]);

/* --- joints and sites (joints.c) --- */
bool cb_mjcf_is_joint(const cb_xml *e);
/* Finds a body's own first joint; NULL: it has none. */
cb_status cb_mjcf_first_joint(const cb_mjcf_scope *scope, cb_xml *body, cb_xml **out);
cb_status cb_mjcf_joint_type(const cb_mjcf_scope *scope, cb_xml *joint, cb_mjcf_joint *out);

/* A joint or a site. The list of all of them is in the order in which MuJoCo counts joints. */
typedef struct cb_mjcf_target {
  cb_xml *e;
  cb_mjcf_scope scope; /* the scope of the element; its frame is given in the frame of the body of the scenario */
  cb_mjcf_body *body;  /* the body of the joint or site; NULL: it does not move */
  cb_mjcf_hold *hold;  /* the data of the joint; NULL: it is a site or a free joint */
  bool joint;
  cb_mjcf_joint type;
  int q, v; /* indices of its first coordinate (q) and of its first velocity (v) */
  struct cb_mjcf_target *next;
} cb_mjcf_target;
/* Adds a joint or a site to the list of targets. `body` is the body of the scenario, which may consist of several
 * welded <body> elements; at: the pose of the <body> that contains the joint or site, in the frame of `body`. */
cb_status cb_mjcf_add_target(const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_body *body, const cb_pose *at,
                             cb_mjcf_target **out);
/* Returns the first joint (or site, if `joint` is not set) that has this name in the file of r, or NULL. *copies
 * becomes the number of joints (or sites) with this name. */
const cb_mjcf_target *cb_mjcf_find_target(const cb_mjcf_reader *r, const char *name, bool joint, int *copies);
/* Finds the pose of a site, in the frame of its body of the scenario or of the world. */
cb_status cb_mjcf_site_pose(const cb_mjcf_target *site, cb_pose *out);
/* Returns whether the file of r uses this name for the target. */
bool cb_mjcf_is_called(const cb_mjcf_reader *r, const cb_mjcf_target *t, const char *name);

/* --- joints of bodies that are not free (mjcf_joint.c) --- */
/* Reads a joint and adds it to the joints of the body. `target` is the data of the same joint (cb_mjcf_add_target). */
cb_status cb_mjcf_read_joint(const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_body *body, cb_mjcf_target *target);
void cb_mjcf_take_joint(cb_xml *e);
/* Chooses the classes and names of all joints. */
cb_status cb_mjcf_name_joints(cb_mjcf_reader *r);
/* Places all bodies at the coordinates of their joints. */
void cb_mjcf_place_bodies(cb_mjcf *m);
/* Adds notes about the limits and contacts of joined bodies. */
cb_status cb_mjcf_note_joints(cb_mjcf_reader *r);

/* --- tendons (actuator_force.c) --- */
/* A fixed tendon. Its length is the sum of coef_i q_i over its joints. */
enum { CB_MJCF_TERMS = 32 };
typedef struct cb_mjcf_tendon {
  cb_xml *e;
  const char *name;
  int n;
  cb_mjcf_hold *hold[CB_MJCF_TERMS];
  double coef[CB_MJCF_TERMS];
  struct cb_mjcf_tendon *next;
} cb_mjcf_tendon;
cb_status cb_mjcf_read_tendons(cb_mjcf_reader *r);

/* --- <equality> (mjcf_equality.c) --- */
cb_status cb_mjcf_read_equalities(cb_mjcf_reader *r);
/* Finds the coordinates at the start of all joints that a <joint> of <equality> determines. */
cb_status cb_mjcf_start_couplings(const cb_mjcf_reader *r);
/* Finds the coordinates of the joints that close loops (cb_mjcf_loop) at the present places of the bodies. */
void cb_mjcf_start_loops(cb_mjcf *m);

/* --- actuators, gravcomp and the start --- */
bool cb_mjcf_is_actuator(const char *name);
void cb_mjcf_take_actuator(cb_xml *e);
/* Reads all actuators with the controls of the key (NULL: 0). */
cb_status cb_mjcf_read_actuators(cb_mjcf_reader *r, const cb_node *control);
cb_status cb_mjcf_compensate(const cb_mjcf_reader *r);
/* Reads the requested key, if there is one, and notes how to select the other keys. control: the `ctrl` of the key, or
 * NULL. */
cb_status cb_mjcf_read_key(cb_mjcf_reader *r, const cb_node **control);
/* Adds the damper of a free joint as a wrench of its body. */
cb_status cb_mjcf_damp(const cb_mjcf_reader *r, cb_mjcf_body *body, double damping);

/* A range of a control, a force or a coordinate. If `there` is false, no range is given. */
typedef struct cb_mjcf_limit {
  bool there;
  double range[2];
} cb_mjcf_limit;
/* Reads a range and the attribute that switches it on. */
cb_status cb_mjcf_read_limit(const cb_mjcf_reader *r, const cb_mjcf_source *source, const char *range,
                             const char *limited, cb_mjcf_limit *out);

/* The model of an actuator (actuator_force.c). */
typedef enum cb_mjcf_actuator_type {
  CB_MJCF_MOTOR,
  CB_MJCF_GENERAL,
  CB_MJCF_POSITION,
  CB_MJCF_VELOCITY,
  CB_MJCF_DAMPER,
  CB_MJCF_READ /* actuators of this type and of those after it are not read */
} cb_mjcf_actuator_type;
int cb_mjcf_actuator_type_of(const char *name);
typedef struct cb_mjcf_actuator_model {
  double gear[6], gain[3], bias[3]; /* gain, bias: coefficients of 1, of the length and of its rate */
  cb_mjcf_limit control, force;
} cb_mjcf_actuator_model;
/* Reads the model of an actuator. *why becomes NULL if the model can be read, otherwise the reason why it cannot. */
cb_status cb_mjcf_read_model(const cb_mjcf_reader *r, const cb_mjcf_source *source, int type,
                             cb_mjcf_actuator_model *out, const char **why);
/* Writes the force as an expression; control: the text of the control; length and rate: texts, NULL: 0. */
void cb_mjcf_put_force(cb_text *out, const cb_mjcf_actuator_model *l, const char *control, const char *length,
                       const char *rate);
void cb_mjcf_put_clamped(cb_text *out, const char *text, const cb_mjcf_limit *l);
/* Adds the force of an actuator to a ball joint; parent: its gear is in the axes of the parent (jointinparent). */
cb_status cb_mjcf_pull_ball(const cb_mjcf_reader *r, const cb_mjcf_target *t, const cb_mjcf_actuator_model *l,
                            const char *control, bool parent);
/* Adds the force of an actuator to the joints of a tendon; a single joint is a tendon with one term. */
cb_status cb_mjcf_pull(const cb_mjcf_reader *r, const cb_mjcf_tendon *t, const cb_mjcf_actuator_model *l,
                       const char *control);

/* Writes the key `joints:` (write_joints.c). */
void cb_mjcf_write_joints(const cb_mjcf *m, cb_text *out);
/* Functions that write.c and write_joints.c share. */
void cb_mjcf_put_number(cb_text *out, double x);
void cb_mjcf_put_list(cb_text *out, const char *key, int n, const double *x);
void cb_mjcf_put_text(cb_text *out, const char *before, const char *text);

/* --- the floor (geom.c) --- */
/* Examines a geom of the world. A plane is stored; other geoms are left out because they do not move. */
cb_status cb_mjcf_see_geom(cb_mjcf_reader *r, const cb_mjcf_scope *scope, cb_xml *e);
/* Makes one plane the floor. */
cb_status cb_mjcf_choose_floor(cb_mjcf_reader *r);

/* --- geoms and meshes --- */
cb_status cb_mjcf_touching(const cb_mjcf_source *source, unsigned *type, unsigned *affinity);
cb_status cb_mjcf_read_meshes(cb_mjcf_reader *r);
cb_status cb_mjcf_measure(cb_mjcf_mesh *mesh, const cb_node *asked);
/* Reads a geom. needs_mass: its mass is needed. */
cb_status cb_mjcf_read_geom(const cb_mjcf_scope *scope, cb_xml *e, bool needs_mass, cb_mjcf_geom **out);

/* cb_mjcf_looks_at returns the pose at which a geom is drawn, in the frame of the body of the scenario. For a body
 * without geoms, cb_mjcf_looks_without_geoms returns the box of its inertia, with its pose. */
cb_pose cb_mjcf_looks_at(const cb_mjcf_link *l, const cb_mjcf_geom *g);
cb_mjcf_geom cb_mjcf_looks_without_geoms(const cb_mjcf_body *body, cb_pose *pose);

/* --- masses (mjcf_mass.c) --- */
/* Finds half the sides, the pose and the moments of the box that has the same mass and inertia. */
void cb_mjcf_box(const cb_mjcf_inertial *m, double half[3], cb_pose *pose, double moment[3]);
double cb_mjcf_volume(const cb_mjcf_geom *g);
void cb_mjcf_moments(cb_mjcf_geom *g); /* finds the moments from type, size and mass */
/* Adds the inertias of[n] into one. poses[n]: the poses of their frames in the common frame (NULL: they are in the
 * common frame). If only one of them has mass or moments, it keeps its own axes. */
void cb_mjcf_add(int n, const cb_mjcf_inertial *const *of, const cb_pose *const *poses, cb_mjcf_inertial *out);
cb_status cb_mjcf_read_inertial(const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_inertial *out);
bool cb_mjcf_is_diagonal(const cb_mjcf_inertial *m);
/* Applies boundmass, boundinertia and balanceinertia of <compiler>. at: the place for errors. */
cb_status cb_mjcf_bound(const cb_mjcf_reader *r, const cb_node *at, cb_mjcf_inertial *m);

/* --- bodies (mjcf_body.c) --- */
cb_status cb_mjcf_read_world(cb_mjcf_reader *r);
