/* The data of reading the key `joints`, shared by its files (scenario_joints.c). */
#pragma once

#include "mechanism/joint_laws.h"
#include "scenario/fluid.h"

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
  const char **label; /* [coordinates], as all below */
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
/* Reads out[n] from such a value. single: a scalar is allowed only if n is 1, and an item `none` leaves its number
 * unchanged. A number below `least` is an error. node NULL: all numbers stay unchanged. */
cb_status cb_joint_read_numbers(const cb_joint_reading *r, const cb_node *node, int n, bool single, double least,
                                double *out);
/* Reads [lowest, highest]. */
cb_status cb_joint_read_range(const cb_joint_reading *r, const cb_node *node, double out[2]);

/* --- forces (scenario_joint_forces.c) --- */
cb_status cb_joint_read_spring(const cb_joint_reading *r, const cb_node *node, int n, cb_joint *j);
/* Reads the keys motor, servo and drive of a joint; first: the index of the joint's first coordinate. */
cb_status cb_joint_read_actuators(cb_joint_reading *r, const cb_joint_keys *p, cb_joint *j, int first);
cb_status cb_joint_read_limits(const cb_joint_reading *r, const cb_node *node, const cb_joint_keys *p, cb_joint *j);

/* --- couplings (scenario_joint_couplings.c) --- */
/* Finds the items of `couple`; first: as above. */
cb_status cb_joint_find_couplings(cb_joint_reading *r, const cb_joint_keys *p, const cb_joint *j, int first);
/* Reads those of all joints, after the names of all coordinates. */
cb_status cb_joint_read_couplings(cb_joint_reading *r);
/* Finds the coordinates and rates at the start, from those to which they are coupled. */
void cb_joint_start_couplings(cb_joint_reading *r);

/* --- the start (scenario_joint_start.c) --- */
/* Finds the states of all bodies at time t. Joints give the places of bodies, beginning with the world and the bodies
 * that have the key `place`. placed[bodies] is false on entry. */
cb_status cb_joint_place_all(cb_joint_reading *r, double t, bool *placed, cb_rigid_state *state);
/* Closes the loops of joints, finds the rates that were not given, and stores the poses and twists of all bodies. */
cb_status cb_joint_start_all(cb_joint_reading *r, double t, cb_rigid_state *state);
