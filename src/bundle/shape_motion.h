/* Shape variables that move by themselves: their equations of motion in a bundle. Time steps are in
 * integrators/shapes.h.
 *
 *   with inertia:  (mu, p) = G(r) (xi, r'),  mu' = ad*_xi mu + F,  p' = <d_r G (xi, r'), (xi, r')>/2 + Q,  g' = g xi
 *   with drag:     P xi + (G r')_xi = F,  M_ff r_f' = Q_f - M_fd r_d' - A_f^T F,  xi = P^-1 F - A r',  g' = g xi
 *   Q = -k (r - r_0) - c r' + torque(t, r, r') - d_r V,   F_a = -d/de V(g exp(e e_a), r) at e = 0
 * r: the n shape variables; r_f: those that are free; r_d: those that are driven by a law of t or by the gait; g: the
 * element of the group; xi: body velocity; G: the form of the bundle with the block P, A: its connection, M: its metric
 * (curvebody/bundle.h); mu: momentum in the body frame; p: momenta of the shape variables; k, r_0: stiffness and rest
 * value of a spring, c: damping; V(g, r): potential; e_a: basis of the algebra. The effort of a driven variable is the
 * force that its law needs.
 * The rates of a gait may jump at its breaks. With inertia an impulse on the driven variables is needed there; mu and
 * the momenta of the free variables do not jump, but the rates of the free variables do. A bundle without a form moves
 * with mu = 0: then p = M r' and xi = -A r'. Source: Marsden, Montgomery & Ratiu, Reduction, Symmetry, and Phases in
 * Mechanics, Memoirs AMS 436 (1990); Kelly & Murray, J. Robotic Systems 12 (1995) 417, doi:10.1002/rob.4620120607.
 * Units are those of the model.
 */
#pragma once

#include "bundle/bundle_private.h"

enum { CB_SHAPE_FORM = CB_GROUP_DIM + CB_SHAPE_MAX };

typedef struct cb_shape_variable {
  bool driven;                /* the variable follows `drive`, or the gait of the problem if `drive` is NULL */
  const cb_expression *drive; /* a function of t */
  double stiffness, rest, damping;
  double friction;             /* largest force of dry friction; 0: none. Only with inertia */
  const cb_expression *torque; /* a function of t, the n shape variables and their n rates; NULL: none */
  double lowest, highest;      /* limits of the variable; infinite: none. Only with inertia */
  double restitution;          /* coefficient of restitution of the limits, 0 to 1 */
} cb_shape_variable;

/* The problem that integrators of cb_problem_shapes solve. Everything is borrowed. */
typedef struct cb_shape_problem {
  const cb_bundle *bundle;
  bool drag;                         /* the equations with drag; otherwise those with inertia */
  bool has_form;                     /* the form is used; otherwise mu = 0 */
  const cb_gait *gait;               /* the gait that driven variables without a law follow; NULL: there are none */
  double period;                     /* the period of the gait, s */
  const cb_shape_variable *variable; /* [n]: the shape variables */
  const cb_expression *potential;    /* V, of the numbers of g and the n shape variables; NULL: 0 */
} cb_shape_problem;

/* The work since the start, for each variable: [CB_SHAPE_WORKS][n]. With inertia the energy has changed by motor -
 * damping - friction - limit. With drag, a part of the work `motor` is stored in springs and in V, and the remaining
 * work is dissipated.
 */
enum { CB_SHAPE_MOTOR, CB_SHAPE_DAMPING, CB_SHAPE_FRICTION, CB_SHAPE_LIMIT, CB_SHAPE_WORKS };

/* A state, with everything that a restart needs. */
typedef struct cb_shape_state {
  double t, t_low;
  double g[CB_GROUP_SIZE], mu[CB_GROUP_DIM]; /* mu and p are 0 with drag */
  double angle_low;                          /* low-order part of the number of g that is an angle */
  double r[CB_SHAPE_MAX], r_low[CB_SHAPE_MAX], p[CB_SHAPE_MAX];
  /* effort of each driven variable; with inertia it is the mean over the last step, without the impulses */
  double effort[CB_SHAPE_MAX];
  double impulse[CB_SHAPE_MAX]; /* with inertia: the sum of the impulses on driven variables at breaks of the gait,
                                   and when other variables meet limits */
  double work[CB_SHAPE_WORKS][CB_SHAPE_MAX];
} cb_shape_state;

/* A force on the variables and its derivatives: Q_r[n][n] by r, Q_v[n][n] by r'. The force of the potential is not
 * included. */
typedef struct cb_shape_force {
  double Q[CB_SHAPE_MAX], Q_r[CB_SHAPE_MAX][CB_SHAPE_MAX], Q_v[CB_SHAPE_MAX][CB_SHAPE_MAX];
  double torque[CB_SHAPE_MAX]; /* the part of Q that the expressions `torque` give */
} cb_shape_force;

void cb_shape_force_at(const cb_shape_problem *p, double t, const double *r, const double *v, bool derivatives,
                       cb_shape_force *out);
/* Fails with CB_STEP_NOT_FINITE if a force, or one of f[n] = -d_r V (NULL: none), is not finite. */
cb_status cb_shape_check_force(const cb_shape_problem *p, const cb_shape_force *force, const double *f);
/* Computes the values r and the rates of the driven variables. The values and rates of other variables do not change.
 * `rate` may be NULL. At a break of the gait, where rates may jump, the rates are those before the break if `before` is
 * true, and otherwise those after it. */
void cb_shape_drive(const cb_shape_problem *p, double t, bool before, double *r, double *rate);
/* If the gait has a break at the time t, within round-off, returns the number of cycles at this time, including the
 * fraction; otherwise nan. *next becomes the time from t to the next break (infinite: there is none). */
double cb_shape_break(const cb_shape_problem *p, double t, double *next);
/* Returns the smaller of h and the time from t to the next break of the gait that drives variables, because steps end
 * at breaks. */
double cb_shape_to_break(const cb_shape_problem *p, double t, double h);
/* Copies the numbers of a state that the problem uses. */
void cb_shape_copy(const cb_shape_problem *p, const cb_shape_state *from, cb_shape_state *to);
/* Replaces the element g of a state by g y. */
void cb_shape_multiply(const cb_group *G, const double *y, cb_shape_state *s);
/* Returns the potential V at g and r. Also computes F[dim], and -d_r V in f[n]; both may be NULL. */
double cb_shape_potential(const cb_shape_problem *p, const double *g, const double *r, double *F, double *f);
/* Returns whether any variable is driven. */
bool cb_shape_is_driven(const cb_shape_problem *p);

/* Computes the velocity u = (xi, r') of a state; driven rates are those of their laws. With inertia the velocity
 * follows from mu and p, and with drag from the forces. Also sets p and, with drag, the effort of the driven variables.
 * If it fails, it returns a status CB_STEP_.., and the message names the shape. */
cb_status cb_shape_velocity(const cb_shape_problem *p, cb_shape_state *s, double *u);
/* With drag: adds P^-1 F to xi. This is the velocity at which the body with locked shape drifts under the force F. */
cb_status cb_shape_add_drift(const cb_shape_problem *p, const double *r, const double *F, double *xi);
/* Sets the momenta p of a state with inertia, from its mu and from the rates of all variables. */
cb_status cb_shape_start(const cb_shape_problem *p, const double *rate, cb_shape_state *s);
/* Returns the energy of a state with the velocity u: the energy of springs and of V, and with inertia also the kinetic
 * energy. */
double cb_shape_energy(const cb_shape_problem *p, const cb_shape_state *s, const double *u);

/* These functions are for limits, with inertia. cb_shape_gap returns the distance of a variable from its nearer limit
 * (infinite: there is no limit; negative: the variable is beyond it); *side is -1 for the lowest value and 1 for the
 * highest. A variable is at a limit if |gap| is at most cb_shape_touch. cb_shape_reflect applies impulses to the
 * variables that are at limits and move into them, and stores these impulses in impulse[n]. The impulses reverse the
 * rates with the restitution of the limits if `elastic` is true, and otherwise stop them. If dry friction can stop a
 * rate within a step of length h, the rate is only stopped, because friction then holds the variable, and the small
 * rate comes from the other forces during half a step. */
double cb_shape_gap(const cb_shape_variable *v, double r, int *side);
static inline double cb_shape_touch(double r) { return 1e-12 * (1 + (r < 0 ? -r : r)); }
cb_status cb_shape_reflect(const cb_shape_problem *p, const bool *at_limit, bool elastic, double h, cb_shape_state *s,
                           double *impulse);
/* Sets the momenta p of the held[n] variables to those for a rate of 0, and the momenta of the driven variables to
 * those for their driven rates. If `before` is true, these rates are those before a break of the gait. */
cb_status cb_shape_hold(const cb_shape_problem *p, const bool *held, bool before, cb_shape_state *s);
