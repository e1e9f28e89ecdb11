/* The data of a run of bodies in a fluid, shared by its files. */
#pragma once

#include "fluid/body_coupling.h"
#include "run/falling.h"
#include "run/fluid_run.h"
#include "run/run_private.h"
#include <curvebody/rigid.h>

/* --- bodies that feel each other through the fluid ---
 *
 * Bodies that feel each other through the fluid, in a run of bodies (equations: body_interaction.c). Where a run has no
 * `coupling`, its cb_body_interaction is NULL.
 */

typedef struct cb_body_interaction cb_body_interaction;

/* Prepares the interaction of the bodies of a run, if its fluid has a coupling, and makes their states at the start.
 * joints: NULL if there are none. */
cb_status cb_body_interaction_create(cb_run *run, const cb_fluid_joints *joints);
void cb_body_interaction_free(cb_run *run);

/* cb_body_interaction_join makes the coupling a part of the equations of joined bodies, if it depends only on the
 * coordinates of their joints. A drift of these bodies then contains the coupling. cb_body_interaction_iterates then
 * returns false, because there is nothing to iterate. */
cb_status cb_body_interaction_join(cb_run *run, struct cb_mechanism *mechanism);
bool cb_body_interaction_iterates(const cb_body_interaction *in);

/* Returns the problem `of` of a body, with the momentum and the slope from the last evaluation of the interaction
 * added. Returns `of` itself if there is no interaction. The result is valid until the next call for this body. */
const cb_rigid_problem *cb_body_interaction_problem(const cb_body_interaction *in, int body,
                                                    const cb_rigid_problem *of);

/* Begins an iteration. For every body, cb_body_interaction_place then sets pose and twist for the first evaluation. */
void cb_body_interaction_begin(cb_body_interaction *in);
void cb_body_interaction_place(cb_body_interaction *in, int body, const cb_pose *g, const double Y[6]);
/* A flight is the motion of all bodies from the present states over a time h, which is a step or its part up to a
 * contact. cb_body_interaction_depart begins a flight, and cb_body_interaction_guess computes the first guess of the
 * twist of a body in the middle of a flight of length h. If there are earlier steps of the same length, the guess
 * follows from them. Otherwise the guess is extrapolated from the twists at the start, which the search for contacts
 * has computed, and from the twists of the last flight from the same start. */
void cb_body_interaction_depart(cb_run *run);
void cb_body_interaction_guess(const cb_run *run, int body, double h, double Y[6]);
/* Sets the first guess of the twist of a body in a step of length h, if its last step had another length, so that
 * earlier twists are no guide. The guess is then the twist that was set for the next evaluation. */
void cb_body_interaction_lead(const cb_body_interaction *in, int body, double h, cb_rigid_state *s);
/* Stores the twists of a flight (see above) of length h after the iteration has converged. */
void cb_body_interaction_landed(cb_body_interaction *in, double h);
/* Stores the pose g and the twist Y that a step of a body has given with the momentum and slope of the last
 * evaluation. */
void cb_body_interaction_arrive(cb_body_interaction *in, int body, const cb_pose *g, const double Y[6]);
/* Sets poses and twists for the next evaluation, after cb_body_interaction_arrive was called for all bodies. half: half
 * the length of the step, or 0 at a node. faster: the iteration is accelerated; this requires that the twists after a
 * step depend only on the twists that were set before it. Returns the estimated error of the twists after the step,
 * relative to the largest one. Angular components are multiplied by the size of the largest body. */
double cb_body_interaction_renew(cb_body_interaction *in, double half, bool faster);
/* Computes the momentum and, in the middle of a step, the slope of each body from the poses and twists that were
 * set. */
cb_status cb_body_interaction_evaluate(cb_body_interaction *in, double t, bool middle);

/* Finds the twists of all bodies at the present node from their momenta. settle is called after each evaluation of the
 * momenta, so that the forces of joints can respond to them (NULL: no function is called). Does nothing if the states
 * have not changed since the last call. */
cb_status cb_body_interaction_at_node(cb_run *run, double t, cb_status (*settle)(void *self, double t), void *self);
/* Call these functions after cb_body_interaction_at_node. The first subtracts the contributions of the other bodies
 * from the momentum of a state at this node. The second returns the share of the body in the energy of the coupling. */
void cb_body_interaction_separate(const cb_body_interaction *in, int body, cb_rigid_state *s);
double cb_body_interaction_energy(const cb_body_interaction *in, int body);
/* Returns the thickness of the film of fluid around a body; other bodies touch the outer surface of the film. Returns 0
 * without an interaction. */
double cb_body_interaction_film(const cb_body_interaction *in, int body);
/* Estimates the error of the coupling at the present poses. */
cb_status cb_body_interaction_error(const cb_run *run, cb_coupling_error *out);

/* --- the data of a run --- */

/* The warnings of a run of bodies: each is given once per body, `near` once per run. The record has their names in
 * /warning_name. */
typedef enum cb_fluid_run_doubt {
  CB_DOUBT_TURN,
  CB_DOUBT_DELTA,
  CB_DOUBT_DIVERGENCE,
  CB_DOUBT_NEAR,
  CB_DOUBTS
} cb_fluid_run_doubt;

/* An event that is not yet in the record. text: the text of a warning, from malloc; NULL for other events. */
typedef struct cb_fluid_run_event {
  cb_event_row row;
  char *text;
  bool known; /* true: `pose` and `momentum` are set, to those of the body row.particle at the time of the event */
  cb_pose pose;
  double momentum[6];
} cb_fluid_run_event;

/* The work of one thread: the bodies first .. end - 1, and the events of the present step. */
typedef struct cb_fluid_run_part {
  int first, end;
  cb_immersed_workspace **workspace; /* [end - first]; copies of a body share one */
  cb_immersed_workspace **own;       /* the distinct workspaces */
  int n_own;
  cb_floor_work *floor;
  cb_integrator *integrator; /* used only by this thread */
  cb_fluid_run_event *event;
  size_t events, event_capacity;
  size_t settled;   /* with points: the number of events that are kept if the present drift (cb_fluid_controls_drift) is
                     * repeated */
  bool lost;        /* an event was lost because there was no memory */
  cb_status status; /* the status of body `failed`, the first one that could not be stepped or measured */
  int failed, iterations;
  char cause[1024];
} cb_fluid_run_part;

/* The changes of a body's conserved quantities since the start. They are a part of the restart state, so all members
 * are of type double. */
typedef struct cb_body_watch {
  double moved; /* not 0: the body has left its position at the start */
  cb_energy_change energy;
  double momentum_change, momentum_scale;
} cb_body_watch;

/* Two bodies i and j whose gap is smaller than `size`, the size of the smaller body. */
typedef struct cb_fluid_pair {
  int i, j;
  double gap, size;
} cb_fluid_pair;

struct cb_fluid_run {
  const cb_fluid *fluid;
  const cb_integrator *integrator; /* the integrators of the parts are made like this one */
  int n, threads;
  bool serial; /* one thread: bodies with joints make their steps together */
  cb_body_start *start;
  cb_rigid_state *state;
  cb_rigid_state *at_event; /* [n]: the states at an event that are recorded; NULL: they are not recorded */
  int32_t *warned;          /* [n]: bit k: the run has given warning k of cb_fluid_run_doubt for the body */
  cb_body_watch *watch;     /* [n]: the changes of the conserved quantities of each body */
  double t, t_low;
  int64_t step;
  cb_fluid_run_part *part;         /* [threads]: the bodies of each thread */
  int iterations;                  /* the maximum over the bodies in the last step */
  cb_immersed_row *row;            /* [n]: the measured quantities, from which the recorded fields are filled */
  int n_wrenches;                  /* the number of different names of wrenches of all bodies */
  const char **wrench;             /* [n_wrenches]: the different names of the wrenches of all bodies */
  int (*wrench_of)[CB_RUN_FIELDS]; /* [n][wrench of a body]: its index in `wrench` */
  cb_falling_plate *plate;         /* [n]: the plate of each body (run/falling.h) */
  cb_falling *falling;             /* [n]: the motions of the plates; NULL: `falling_regime` is not recorded */
  struct cb_fluid_ball *ball;      /* [n]; NULL: the distances of bodies are not checked (run/fluid_warnings.c) */
  struct cb_fluid_span *span;      /* [n]: the range of x that the ball of each body covers */
  double slack;                    /* no pair can be near until a ball has moved by half of this distance */
  bool near_at_start;
  cb_fluid_pair near;            /* the pair that is near at the start */
  struct cb_body_change *change; /* [n]: the conserved quantities at the start (run/fluid_warnings.c) */
  /* [n]: the name of a part that is not convex, and touches by its convex hull; NULL: the body has no such part. The
   * pointer `hull` itself is NULL if bodies do not touch by their shapes. */
  const char **hull;
  struct cb_fluid_coupling *coupling; /* NULL: nothing acts between bodies (run/fluid_points.c) */
  struct cb_fluid_joined *joined;     /* NULL: no joints (run/fluid_joints.c) */
  cb_body_interaction *interaction;   /* NULL: bodies do not feel each other through the fluid */
  struct cb_fluid_controls *controls; /* NULL: no wrench uses quantities of other bodies, and there is no interaction */
};
typedef struct cb_fluid_run cb_fluid_run;

static inline cb_fluid_run *cb_fluid_run_of(const cb_run *run) { return run->own; }

/* Calls `one` for every body, each part in its own thread; a part ends at its first failure. Returns the first failure
 * in the order of bodies, with its text. */
cb_status cb_fluid_run_each(cb_run *run,
                            cb_status (*one)(cb_run *run, cb_fluid_run_part *part, int body, void *context),
                            void *context, int *failed);
/* Makes one step of a body, without retries; on failure its state is unchanged. */
cb_status cb_fluid_run_attempt(cb_run *run, cb_fluid_run_part *part, int body, double h);
/* Wrenches that use quantities of other bodies (run/fluid_controls.c). cb_fluid_controls_create finds these wrenches,
 * and returns CB_ERROR_ARGUMENT for a name that does not exist. cb_fluid_controls_step makes a step of all bodies, with
 * retries. cb_fluid_controls_at_node supplies the values of the quantities at the present states, for a measurement. */
typedef struct cb_fluid_controls cb_fluid_controls;
cb_status cb_fluid_controls_create(cb_run *run);
cb_status cb_fluid_controls_step(cb_run *run, double h, int *failed);
cb_status cb_fluid_controls_at_node(cb_run *run);
/* These functions find and evaluate a quantity that a law of a control uses (cb_motion.find_quantity). It is a quantity
 * of a body or particle, with the same name as in the wrenches of other bodies, or a coordinate of a joint (LABEL), or
 * its rate (LABEL_rate). */
bool cb_fluid_run_find_quantity(const cb_run *run, const char *text, size_t length, cb_quantity *out);
double cb_fluid_run_quantity(const cb_run *run, const cb_quantity *q);
/* Makes one step of all bodies without retries. On failure the states are unchanged. */
cb_status cb_fluid_controls_drift(cb_run *run, double h, int *failed);
/* The `step` of a cb_body_stepper whose `self` is an integrator. */
cb_status cb_fluid_run_integrate(void *self, const cb_rigid_problem *p, double h, cb_rigid_state *s, int *iterations);
/* Adds an event to the events of the part. Takes ownership of text (cb_fluid_run_event). */
void cb_fluid_run_report(cb_fluid_run_part *part, const cb_event_row *event, char *text);
/* Adds the warnings (cb_fluid_run_doubt) that the last step of a body, of length h, has caused. */
void cb_fluid_run_doubt_step(cb_run *run, cb_fluid_run_part *part, int body, double h);
/* cb_fluid_run_near_create finds whether two bodies are near each other at the start. cb_fluid_run_near warns of a pair
 * that has become near in a step. */
cb_status cb_fluid_run_near_create(cb_run *run);
cb_status cb_fluid_run_near(cb_run *run, cb_sink *sink);
extern const char *const cb_fluid_run_doubts[CB_DOUBTS];
cb_status cb_fluid_run_layout(cb_run *run);
cb_status cb_fluid_run_measure(cb_run *run, const char **what);
/* Measures the row of one body at the present node, for cb_fluid_run_each. */
cb_status cb_fluid_run_measure_body(cb_run *run, cb_fluid_run_part *part, int body, void *context);
/* These functions do something only if `falling_regime` is recorded (run/falling.c). cb_fluid_run_falls makes the
 * plates of all bodies. cb_fluid_run_fall adds the present state to their motions, at the start and after each step. */
cb_status cb_fluid_run_falls(cb_run *run);
void cb_fluid_run_fall(cb_run *run);
/* cb_fluid_run_remember stores the conserved quantities at the start. cb_fluid_run_compare compares the quantities of a
 * row with them. `last` is the argument of cb_motion.compare. */
cb_status cb_fluid_run_remember(cb_run *run);
void cb_fluid_run_compare(cb_run *run, bool last);
/* Makes one step of a body without retries; in a run with points, makes one part of a composed step. */
cb_status cb_fluid_run_whole(cb_run *run, cb_fluid_run_part *part, int body, double h, int *iterations);
/* Computes the momentum of a body about the origin of the world, first angular and then linear, in the world's axes. */
void cb_fluid_run_spatial_momentum(const cb_fluid_run *b, int body, double out[6]);

/* --- points (run/fluid_points.c) --- */
typedef struct cb_fluid_coupling cb_fluid_coupling;
cb_status cb_fluid_coupling_create(cb_run *run, const cb_fluid_points *points);
void cb_fluid_coupling_free(cb_fluid_coupling *c);
/* Makes one step of all bodies and particles with retries; *h becomes shorter if an event stops the run. On failure the
 * states of bodies and particles are as before. */
cb_status cb_fluid_coupling_step(cb_run *run, double *h, int *failed);
void cb_fluid_coupling_restored(cb_fluid_coupling *c);
/* Returns whether contacts of points are on; false without points. */
bool cb_fluid_coupling_touches(const cb_fluid_coupling *c);
cb_status cb_fluid_coupling_measure(cb_run *run);
void cb_fluid_coupling_compare(cb_run *run);
/* cb_fluid_coupling_points returns the number of recorded points, 0 without points. cb_fluid_coupling_labels writes
 * their names, their masses (0 for points of bodies), and -1 as their bodies. */
int cb_fluid_coupling_points(const cb_fluid_run *b);
cb_status cb_fluid_coupling_labels(cb_run *run, const char **name, double *mass, int64_t *body);
cb_status cb_fluid_coupling_dimensions(cb_run *run);
/* Adds the restart state of points to out, and returns the number of blobs. */
size_t cb_fluid_coupling_blobs(cb_run *run, cb_blob *out);
/* These functions are for wrenches in flat space that use quantities of particles. cb_fluid_coupling_find returns the
 * index of the particle with this name, or of the only particle of the scenario's body with this name; -1 if there is
 * none. cb_fluid_coupling_particle computes its place and velocity, out = (x, v); cb_fluid_coupling_middle computes
 * those in the middle of the present drift, in which particles move before bodies. */
int cb_fluid_coupling_find(const cb_run *run, const char *name, size_t length);
void cb_fluid_coupling_particle(const cb_run *run, int particle, double out[6]);
void cb_fluid_coupling_middle(const cb_run *run, int particle, double out[6]);
/* Returns the length of the last part of the last composed step. */
double cb_fluid_coupling_last_length(const cb_run *run);
/* Adds the positions and momenta of particles to the fields of the state at events. */
cb_status cb_fluid_coupling_event_fields(cb_run *run);
/* Returns whether steps may have contacts, limits of joints or events; false without points. */
bool cb_fluid_coupling_has_events(const cb_fluid_coupling *c);
/* The fields of a run with points. The fields in cb_fluid_coupling_fields replace other fields of the same name; those
 * in cb_fluid_coupling_more are additional fields. */
extern const cb_observable cb_fluid_coupling_fields[], cb_fluid_coupling_more[];

/* cb_fluid_shapes_create lists the shapes by which bodies touch each other (run/fluid_joints.c), if contacts are on;
 * they are in the arena of the run. Returns CB_ERROR_UNSUPPORTED in a curved space, or for a body that changes its
 * shape. cb_fluid_shapes_warn warns of bodies that are not convex. */
cb_status cb_fluid_shapes_create(cb_run *run, const cb_fluid_points *points, cb_coupled_bodies *out);
void cb_fluid_shapes_warn(const cb_run *run);

/* --- joints (run/fluid_joints.c); without joints the functions do nothing --- */
typedef struct cb_fluid_joined cb_fluid_joined;
/* Returns the integrator's problem for this body of the run `self`. */
const cb_rigid_problem *cb_fluid_joined_problem(void *self, int body);
/* Returns the same problem as cb_fluid_joined_problem, but without the coupling through the fluid if the equations of
 * the joined bodies already contain this coupling (cb_body_interaction_join). */
const cb_rigid_problem *cb_fluid_joined_own_problem(void *self, int body);
cb_status cb_fluid_joined_create(cb_run *run, const cb_fluid_joints *joints);
void cb_fluid_joined_free(cb_run *run);
cb_mechanism *cb_fluid_joined_mechanism(const cb_run *run); /* NULL: no joints */
bool cb_fluid_joined_has(const cb_run *run, int body);
/* cb_fluid_joined_find returns the coordinate of the joints that text[length] names, or -1 if there is none. The text
 * is the label of the coordinate, or LABEL_rate; then *rate becomes true. cb_fluid_joined_coordinate returns the last
 * measured value of a coordinate or of its rate. */
int cb_fluid_joined_find(const cb_run *run, const char *text, size_t length, bool *rate);
double cb_fluid_joined_coordinate(const cb_run *run, int coordinate, bool rate);
/* Returns whether one joint or a chain of joints connects the two bodies. Chains through the world do not count. */
bool cb_fluid_joined_together(const cb_fluid_run *b, int i, int j);
/* Returns whether joints change the energy. */
bool cb_fluid_joined_loses(const cb_run *run);
/* Returns whether the pose of a body with joints differs from its pose at the start by more than `tolerance`, relative
 * to 1 + |position|. */
bool cb_fluid_joined_moved(const cb_run *run, double tolerance);
/* Makes one step of length h of all bodies with joints. */
cb_status cb_fluid_joined_drift(cb_run *run, double h, int *failed);
/* For the limits of joints that reflect: cb_fluid_joined_limits returns their number, cb_fluid_joined_limit_names
 * writes their names to name[limits], in the arena of the run, and cb_fluid_joined_limited_body returns a body of the
 * joint with this limit. */
int cb_fluid_joined_limits(const cb_run *run);
cb_status cb_fluid_joined_limit_names(cb_run *run, const char **name);
int cb_fluid_joined_limited_body(const cb_run *run, int limit);
/* cb_fluid_joined_keep stores the state of the joints, and cb_fluid_joined_back restores it. */
void cb_fluid_joined_keep(cb_run *run);
void cb_fluid_joined_back(cb_run *run);
/* Warns of redundant joints: those whose conditions follow at the start from the conditions of other joints. */
void cb_fluid_joined_warn(const cb_run *run);
/* Stores the potential energies of the bodies, after the start was measured. */
void cb_fluid_joined_remember(cb_run *run);
/* Computes the recorded quantities of joints. length: the length of the last part of the last step. */
cb_status cb_fluid_joined_measure(cb_run *run, double length);
void cb_fluid_joined_energies(const cb_run *run, double *potential, double *kinetic);
cb_status cb_fluid_joined_fields(cb_run *run);
/* Adds the coordinates and their rates to the fields of the state at events. */
cb_status cb_fluid_joined_event_fields(cb_run *run);
cb_status cb_fluid_joined_dimensions(cb_run *run);
size_t cb_fluid_joined_blobs(cb_run *run, cb_blob *out);

/* --- tangent vectors (run/exponent.h) --- */
/* Creates the tangent vector of all bodies of a run that act on each other (run/exponent.c). */
struct cb_tangent;
cb_status cb_fluid_run_tangent_of_all(const cb_run *run, struct cb_tangent *m);
/* Returns the points with which the run was created. */
const cb_fluid_points *cb_fluid_coupling_origin(const cb_fluid_coupling *c);
