/* A scenario of bodies in a fluid, as given by `fluid:` and `bodies:`. The files that read these keys share this
 * header. */
#pragma once

#include "coupling/coupled.h"
#include "fluid/body_coupling.h"
#include "fluid/fluid_shared.h"
#include "mechanism/mechanism.h"
#include "run/fluid_run.h"
#include "scenario/private.h"

/* Fluid models that give forces on a body; the forces of all models add up. The list is in the scenario's arena. */
typedef struct cb_fluid_models {
  int n;
  cb_fluid_model **list;
} cb_fluid_models;

/* The body of one entry of `bodies`, which all copies of the body share. */
typedef struct cb_immersed_kind {
  cb_surface *surface;
  cb_poses *poses;
  cb_fluid_models models;     /* models of the forces on this body; if n is 0, the models of the fluid are used */
  cb_fluid_model *added_mass; /* the model of this body's added mass; NULL: the model of the fluid */
  cb_immersed *body;
} cb_immersed_kind;

typedef struct cb_fluid_scenario {
  cb_fluid fluid;
  cb_medium *medium;
  cb_flow *flow;
  cb_fluid_models models;
  cb_fluid_model *added_mass;
  cb_body_coupling *coupling; /* NULL: bodies exert no forces on each other through the fluid */
  bool moves;                 /* whether a body has an added mass if its map has no key `added_mass` */
  size_t n_parameters;        /* named numbers that every expression may use */
  const char **parameter;
  double *parameter_value;
  bool lost;             /* a parameter could not be read (its value is nan), or the space could not be read */
  cb_system **potential; /* [n_potentials]: the potentials of each entry of `bodies` */
  size_t n_potentials;
  cb_immersed_kind *kind;
  size_t n_kinds;
  cb_body_start *body; /* [n] */
  int n;
  const cb_node *bodies; /* the list `bodies` */
  /* --- points of bodies, and particles (scenario/scenario_points.c) --- */
  cb_particles_in_fluid particles;
  cb_start start;
  cb_space *flat;       /* the space e3 if there are points and no key `space`; otherwise NULL */
  cb_body_point *point; /* [n_points] */
  int n_points, capacity_points;
  int n_vertices;          /* the last n_vertices points are vertices of bodies; walls act on them */
  cb_system *system;       /* points and particles as a system; NULL: there are none */
  bool shapes;             /* bodies touch each other by their shapes, not only by `spheres` */
  bool points;             /* forces, constraints, contacts, walls or events act on points */
  cb_floor wall;           /* a reflecting floor under coupled bodies, which is a plane among their walls */
  cb_fluid_joints *joints; /* NULL: there are no joints (scenario/scenario_joints.c) */
  cb_joint_laws *joint_laws;
} cb_fluid_scenario;

static inline cb_fluid_scenario *cb_fluid_scenario_of(const cb_scenario *s) { return s->own; }

cb_status cb_scenario_read_fluid(cb_scenario *s, const cb_node *node);
void cb_fluid_scenario_free(cb_fluid_scenario *m);

cb_status cb_scenario_read_models(cb_scenario *s, const cb_node *node, cb_fluid_models *out); /* one, or a list */
cb_status cb_scenario_read_added_mass(const cb_node *node, cb_fluid_model **out);             /* a name or a map */
/* Reads the model of the added mass, as a name or a map, and sets *moves to true. Three other values are accepted: true
 * changes nothing; false and none set *moves to false. Does nothing if node is NULL. */
cb_status cb_scenario_read_moving(const cb_node *node, cb_fluid_model **out, bool *moves);
/* Reads the value of `flow`, one flow or a list, whose expressions may have these parameters. The caller frees
 * *flow. */
cb_status cb_scenario_read_flow(cb_scenario *s, const cb_node *node, const cb_expression_scope *parameters,
                                cb_flow **flow);
/* Reads `bodies`. whole: the fluid was read without errors. */
cb_status cb_scenario_read_immersed(cb_scenario *s, const cb_node *list, bool whole);

/* The tables of the keys of a body, of the fluid and of its floor. cb_scenario_read_surface reads the surface and the
 * poses of a body from its map; cb_scenario_read_copies reads its copies with their positions and motions. */
extern const cb_param cb_immersed_table[], cb_fluid_table[], cb_floor_table[];
typedef struct cb_surface_keys {
  const cb_node *shape, *mesh, *weld, *close, *poses; /* NULL: not given */
  double scale;
} cb_surface_keys;
cb_status cb_scenario_read_surface(cb_scenario *s, const cb_node *body, const cb_surface_keys *keys,
                                   cb_immersed_kind *kind);
cb_status cb_scenario_read_copies(cb_scenario *s, const cb_node *body, const char *name, const cb_node *place,
                                  const cb_node *motion, const cb_node *repeat, const cb_immersed *what);

/* --- points of bodies, and particles (scenario/scenario_points.c) --- */

/* Returns whether anything in the scenario acts on points, or a body consists of particles. */
bool cb_scenario_has_points(const cb_node *root);
bool cb_scenario_has_joints(const cb_node *root);
/* Returns the space that the fluid fills. */
const cb_space *cb_scenario_points_space(const cb_scenario *s);
/* Makes the builder to which bodies add particles and points. */
cb_status cb_scenario_points_begin(cb_scenario *s, const cb_node *bodies);
/* Reads an item of `bodies` that has a `kind`. */
cb_status cb_scenario_read_particles(cb_scenario *s, const cb_node *body);
/* Adds to the builder the centres of mass of the rigid bodies from number `first` on, with this charge. */
cb_status cb_scenario_add_centres(cb_scenario *s, int first, double charge);
/* Returns whether a body of the builder is rigid; *number then becomes its number among the rigid bodies. */
bool cb_scenario_body_is_rigid(const cb_scenario *s, int body, int *number);
/* Makes the system of points and particles. */
cb_status cb_scenario_points_finish(cb_scenario *s, const cb_node *root);
/* Reads the keys that act on points: potentials, interactions, forces, constraints, contacts, walls and events. A
 * reflecting floor of the fluid becomes a wall. */
cb_status cb_scenario_read_acting(cb_scenario *s, const cb_node *root);
/* Reads the key `joints` after the bodies, and moves the bodies and their centres to the places that joints give. */
cb_status cb_scenario_place_by_joints(cb_scenario *s, const cb_node *root);
/* Reads the key `joints` after the bodies; list NULL: there is no such key. t: the time at the start. */
cb_status cb_scenario_read_joints(cb_scenario *s, const cb_node *list, double t);

/* Reads the map `particles` of `fluid`; node NULL: its defaults. Medium, flow and gravity must have been read. */
cb_status cb_scenario_read_particles_in_fluid(cb_scenario *s, const cb_node *node);
extern const cb_param cb_particles_table[];

/* Reads the mass properties of a body into the members material, points and lumped of options. The arrays are in the
 * scenario's arena. */
cb_status cb_scenario_read_matter(cb_scenario *s, const cb_node *body, const cb_surface *surface,
                                  cb_immersed_options *options);
/* Reads a unit quaternion [w, x, y, z] of numbers or expressions. */
cb_status cb_scenario_quaternion(const cb_scenario *s, const cb_node *node, size_t n, const char *const *named,
                                 const double *x, double q[4]);
/* Reads one motion of all parts, {x: .., y: .., z: ..}, or motions of single parts, {parts: [{part: .., x: ..}, ..]}.
 * places[count]: the nodes of the motions. timed: the map may also have the key `period`; otherwise it may have the key
 * `shift`. */
cb_status cb_scenario_read_motions(cb_scenario *s, const cb_node *node, bool timed, cb_poses_motion **out,
                                   const cb_node ***places, size_t *count);
/* Finds the poses and the gait of a body whose map `poses` has the key `gait`. If the map has no other keys, the bundle
 * in the file of the gait gives the poses. */
cb_status cb_scenario_gait_poses(cb_scenario *s, const cb_node *poses, const cb_node **out, const cb_node **gait);
/* Reads named numbers and adds them to the parameters of the fluid. */
cb_status cb_scenario_read_parameters(cb_scenario *s, const cb_node *map);

/* Evaluates an expression of the variables named[n] at x[n] and of the parameters; the second function evaluates a list
 * of three expressions. */
cb_status cb_scenario_number(const cb_scenario *s, const cb_node *node, size_t n, const char *const *named,
                             const double *x, double *out);
cb_status cb_scenario_vector(const cb_scenario *s, const cb_node *list, size_t n, const char *const *named,
                             const double *x, double out[3]);
/* The names of quantities of other bodies, such as a.x, that the wrenches of one body use. */
typedef struct cb_externals {
  int n;
  const char *name[CB_IMMERSED_EXTERNALS];
} cb_externals;
/* Adds the quantities of other bodies that the text of the node names. Fails if such a body or quantity does not
 * exist. */
cb_status cb_scenario_find_externals(cb_scenario *s, const cb_node *node, cb_externals *found);

/* --- `space` and `potentials` of a scenario of bodies in a fluid --- */

/* Reads the space that the fluid fills. The isometries of this space must be able to move a body from any point to any
 * other. */
cb_status cb_scenario_read_filled(cb_scenario *s, const cb_node *node);
/* Fail for keys of `fluid`, and of a body, that have no meaning in a curved space. Flow and medium must have been
 * read. */
cb_status cb_scenario_check_filling(const cb_scenario *s, const cb_node *fluid);
cb_status cb_scenario_check_curved_body(const cb_scenario *s, const cb_node *body);
/* Embeds the surface in the space by the `chart` of its body (NULL: exponential). */
cb_status cb_scenario_embed(cb_scenario *s, const cb_node *body, const cb_node *chart, cb_surface *surface);
/* Checks that a body may be at this position. */
cb_status cb_scenario_check_place(const cb_scenario *s, const cb_node *position, const double x[3]);
/* In a curved space, makes the potentials for each entry of `bodies` (cb_fluid_scenario.potential). */
cb_status cb_scenario_read_potentials(cb_scenario *s, const cb_node *potentials, const cb_node *bodies);
/* Fails for an integrator that does not support the curved space. */
cb_status cb_scenario_check_curved_run(const cb_scenario *s);
cb_status cb_scenario_check_curved_joint(const cb_scenario *s, const cb_node *joint, const cb_joint_class *class);

/* --- the key `joints` ---
 *
 * The data of reading the key `joints`, shared by scenario_joints.c and scenario_joint_keys.c.
 */

/* The keys that all joints have. */
typedef struct cb_joint_keys {
  const char *kind, *name;
  const cb_node *of, *at, *in, *axis, *axis_in, *quaternion, *angle, *rate, *spring, *damping, *friction, *armature,
      *limits, *motor, *servo, *drive, *control, *effort, *couple, *parts, *stiff;
  double restitution;
} cb_joint_keys;

/* The joints that were read so far. The arrays [coordinates] contain the coordinates of all joints, joint by joint. */
typedef struct cb_joint_reading {
  cb_scenario *s;
  const cb_node *list;
  int n, coordinates, capacity;
  cb_joint *joint;    /* [n] */
  int *first;         /* [n] */
  const char **label; /* [coordinates], like all arrays below */
  double *angle, *rate;
  bool *rate_given;
  cb_actuator *actuator;
  const char **drive;
  const cb_node **where;  /* the node of the drive, motor or servo of the coordinate */
  const cb_node **couple; /* the node of its coupling; NULL: it is not coupled */
} cb_joint_reading;

/* Returns whether the node is the text `none`. */
bool cb_joint_none(const cb_node *node);
/* Finds the node of coordinate i in the value of a key of a joint with n coordinates. The value is one scalar for all
 * coordinates, or a list with one item per coordinate. */
cb_status cb_joint_item_of(const cb_node *node, int n, int i, const cb_node **out);
/* Reads out[n] from a value as described for cb_joint_item_of: one scalar, or a list with one item per coordinate.
 * single: a scalar is allowed only if n is 1, and an item `none` leaves its number unchanged. A number below `least` is
 * an error. node NULL: all numbers stay unchanged. */
cb_status cb_joint_read_numbers(const cb_joint_reading *r, const cb_node *node, int n, bool single, double least,
                                double *out);
/* Reads the list [lowest, highest] into out. */
cb_status cb_joint_read_range(const cb_joint_reading *r, const cb_node *node, double out[2]);

/* --- forces --- */
cb_status cb_joint_read_spring(const cb_joint_reading *r, const cb_node *node, int n, cb_joint *j);
/* Reads the keys motor, servo and drive of a joint; first: the index of the joint's first coordinate. */
cb_status cb_joint_read_actuators(cb_joint_reading *r, const cb_joint_keys *p, cb_joint *j, int first);
cb_status cb_joint_read_limits(const cb_joint_reading *r, const cb_node *node, const cb_joint_keys *p, cb_joint *j);

/* --- couplings --- */
/* Finds the items of `couple`; first: the index of the joint's first coordinate. */
cb_status cb_joint_find_couplings(cb_joint_reading *r, const cb_joint_keys *p, const cb_joint *j, int first);
/* Reads the couplings of all joints. The names of all coordinates must have been read before. */
cb_status cb_joint_read_couplings(cb_joint_reading *r);
/* Finds the coupled coordinates and their rates at the start, from the coordinates to which they are coupled. */
void cb_joint_start_couplings(cb_joint_reading *r);

/* --- the start --- */
/* Finds the states of all bodies at time t. Joints give the places of bodies, beginning with the world and the bodies
 * that have the key `place`. placed[bodies] is false on entry. */
cb_status cb_joint_place_all(cb_joint_reading *r, double t, bool *placed, cb_rigid_state *state);
/* Closes the loops of joints, finds the rates that were not given, and stores the poses and twists of all bodies. */
cb_status cb_joint_start_all(cb_joint_reading *r, double t, cb_rigid_state *state);
