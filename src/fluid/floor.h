/* A floor: bodies stay in the half space <x, up> >= height.
 *
 *   stiff       Each vertex at a depth d >= 0 below the floor is pushed up by N = share (stiffness d + damping d') >= 0
 *               and held by friction, -friction N u_t/sqrt(|u_t|^2 + creep^2). Each vertex has the share 1/vertices.
 *               Damping and friction have rates of about damping/mass and friction gravity/creep. A step of length h
 *               outruns one of them if h times its rate is above 1. (Vertices far from the centre move three times as
 *               fast, and the midpoint rule overshoots if the rate is above 2/h.) Such a step is made without the floor
 *               first. If it meets the floor, it is repeated with a constant push, computed from the twist at its end
 *               (stiff_floor.c). The step is then of first order and does not rebound, however large the damping is.
 *   reflecting  When the lowest vertex meets the floor, an impulse J along up acts at that vertex and changes the
 *               momentum. The velocity of the vertex becomes v+ = -e v-:
 *               J = -(1 + e) v-/(w^T K^-1 w), w = (c × n, n), e = restitution
 *
 * x is a point, d' the rate of the depth d, and u_t the part of the vertex's velocity along the floor. c is the vertex
 * and n the direction up in the body frame. v- and v+ are the velocities of the vertex along n before and after the
 * impact. K is the inertia and Y the twist (fluid/rigid_step.h). SI units.
 *
 * A reflecting step is cut at each time when a gap (the height of a vertex above the floor) becomes 0. The motion
 * between two cuts is a flight: the body moves as in one step of the stepper (cb_body_stepper) from the last
 * reflection. Vertices that reach the floor within 1e-9 of the length of a step meet it together. Their impulses
 * l_i >= 0 change the twist from Y- to Y+ = Y- + dY with
 *
 *   w_i . Y+ >= -e w_i . Y-, and the minimum of <dY, K dY> (a linear complementarity problem)
 *
 * for each of these vertices i. Such impacts are repeated until no gap closes.
 *
 * A vertex rests if it would be back on the floor within a thousandth of a step, or would rise by no more than
 * round-off. A resting vertex is held: it takes no impulse of restitution. Instead impulses l >= 0 at both ends of a
 * flight keep its gap >= 0, and at the end of the flight its velocity along n >= 0 (the method RATTLE of Andersen
 * (1983), with l >= 0). The other vertices reflect as before. If reflections accumulate (20 within a hundredth of a
 * step), all vertices are held for the rest of the step. Impulses are without friction.
 *
 * No contact is skipped. A trial is a step of the stepper whose end is checked for contacts. Between its ends each gap
 * is taken to be the cubic with the values and rates of the gap at both ends. In a time tau the change of the rates
 * bends the cubic by about max |rate_1 - rate_0| tau/8. If the minimum of the cubic is less than a quarter of this, the
 * trial is cut there, down to 1e-9 of a step. If the floor is nearer than twice the path of the fastest vertex, a trial
 * rotates the body by at most 1 rad. Only a motion that a cubic cannot follow can be missed, such as a shape that
 * oscillates twice within a step.
 */
#pragma once

#include "fluid/rigid_step.h"
#include <curvebody/immersed.h>

/* A shape in the body frame at time t: positions x[n] of the vertices, and their velocities v[n] relative to the body
 * frame (NULL: at rest). Both are valid until the next call. */
typedef struct cb_floor_shape {
  void *self;
  cb_status (*at)(void *self, double t, int *n, const double (**x)[3], const double (**v)[3]);
} cb_floor_shape;

/* The vertices x[n] of a body in its frame, with their velocities v relative to this frame (NULL: at rest). The body
 * has the pose g and the twist Y.
 */
typedef struct cb_floor_body {
  int n;
  const double (*x)[3], (*v)[3];
  const cb_pose *g;
  const double *Y;
} cb_floor_body;

/* Adds the wrench F of a stiff floor in the body frame, and its derivatives: dF in the twist Y, and dpose in the small
 * twist xi that changes the pose g to g (1 + hat(xi)). Adds the energy of the floor's springs to *energy. Pointers that
 * are NULL are skipped. */
void cb_floor_wrench(const cb_floor *f, const cb_floor_body *body, double F[6], double dF[6][6], double dpose[6][6],
                     double *energy);

/* Returns whether a step of length h outruns the damping or the friction of a stiff floor (see above). gravity is the
 * magnitude of the acceleration of gravity in m/s^2. */
bool cb_floor_outruns(const cb_floor *f, double mass, double gravity, double h);
/* Computes push, the wrench of the floor in a step of length h with its midpoint at time t. s is the state at the end
 * of this step if it is made without the floor. The wrench is constant in the world's axes, with its torque about the
 * body's origin. *met becomes true if the step meets the floor; otherwise push is not set. Errors:
 * CB_STEP_NO_CONVERGENCE, CB_STEP_SINGULAR, CB_STEP_NOT_FINITE, and the errors of the problem and the shape. */
cb_status cb_floor_push(const cb_floor *f, const cb_floor_shape *shape, const cb_rigid_problem *p, double t, double h,
                        const cb_rigid_state *s, double push[6], bool *met);

/* A stepper is a function that makes one step of a state, such as cb_rigid_step_pontryagin, together with its
 * parameters. */
typedef struct cb_body_stepper {
  void *self;
  cb_status (*step)(void *self, const cb_rigid_problem *p, double h, cb_rigid_state *s, int *iterations);
} cb_body_stepper;
typedef struct cb_floor_hit {
  double time, gap, speed_before, speed_after, impulse;
  int vertex;
  cb_pose pose;       /* the pose of the body at this time */
  double momentum[6]; /* the momentum of the body after the impulse, in the body frame */
} cb_floor_hit;
/* Work arrays of one thread, for one body after another. They grow to the size that a body needs and are then
 * reused. */
typedef struct cb_floor_work cb_floor_work;
cb_status cb_floor_work_create(cb_floor_work **out);
void cb_floor_work_free(cb_floor_work *w);

/* The arguments of a step with reflections. The function hit (may be NULL) receives each reflection. */
typedef struct cb_floor_setup {
  const cb_floor *floor;
  const cb_floor_shape *shape;
  const cb_body_stepper *stepper;
  const cb_rigid_problem *problem;
  void (*hit)(void *user, const cb_floor_hit *hit);
  void *user;
  cb_floor_work *work;
} cb_floor_setup;

/* Makes one step of length h > 0 with reflections. After the step, with->hit (may be NULL) is called for each
 * reflection in order. A vertex that begins below the floor may not go deeper. *iterations is the number of the
 * stepper's iterations in all trials. On a floor that does not reflect this is one step of the stepper.
 *
 * The state is unchanged on failure. Errors: the errors of the stepper and the shape, CB_STEP_NO_CONVERGENCE,
 * CB_STEP_SINGULAR, CB_STEP_NOT_FINITE, CB_ERROR_CONTACT_ACCUMULATION after 10000 contacts, and CB_ERROR_ARGUMENT if h
 * is not above 0 or the number of vertices changes. */
cb_status cb_floor_step(const cb_floor_setup *with, double h, cb_rigid_state *s, int *iterations);

/* --- steps with reflections, for the files that make them ---
 *
 * The declarations that two files share: floor_reflect.c (impacts, flights, resting contact) and floor_meet.c (the time
 * at which a flight meets the floor, and the impulses there).
 */

/* The effect of impulses along n (up in the body's axes) on a body of inertia K. n, p, q are orthonormal and
 * right-handed. An impulse 1 along n at the point c of the body is the wrench w = (c × n, n) = W a, with
 * a = (1, <c, p>, <c, q>) and the 6x3 matrix W of the columns (0, n), (p × n, 0), (q × n, 0). */
typedef struct cb_floor_metric {
  double n[3], p[3], q[3];
  double B[6][3]; /* K^-1 W */
  double C[3][3]; /* lower triangular, C C^T = W^T K^-1 W */
} cb_floor_metric;
/* Fills *m for the inertia K and the direction n. Returns CB_STEP_SINGULAR if K is singular or not positive. */
cb_status cb_floor_metric_of(const double K[6][6], const double n[3], cb_floor_metric *m);

/* Impulses l >= 0 at no more than three vertices, and `sum`, the sum of l a over them, with the three numbers a of a
 * vertex (cb_floor_metric). */
typedef struct cb_floor_impulses {
  int count, vertex[3];
  double l[3], sum[3];
} cb_floor_impulses;
/* Finds impulses at the vertices list[count] that change the twist by dY = K^-1 W sum, such that w_i . dY >= bound[i]
 * for each vertex i of the list, up to the tolerance, and <dY, K dY> is minimal. x are the positions of all vertices.
 * Returns CB_STEP_NO_CONVERGENCE after 1000 steps. */
cb_status cb_floor_solve(const cb_floor_metric *m, int count, const int *list, const double (*x)[3],
                         const double *bound, double tolerance, cb_floor_impulses *out);
/* Returns w . K^-1 W sum: the change of the velocity along n of a vertex at c, for the impulses with the sum `sum`. */
double cb_floor_response(const cb_floor_metric *m, const double c[3], const double sum[3]);

struct cb_floor_work {
  int capacity;
  /* base: the lowest allowed gap of each vertex; it is 0, or the gap at the start if that is < 0 */
  double *numbers, *bound, *base;
  /* gaps (heights above the floor) and their rates in three states: at the start of the flight and at both ends of a
   * trial */
  double *gap[3], *rate[3];
  int *list;
  bool *held;
  int hits, hit_capacity;
  cb_floor_hit *hit;
};

/* A state, and the quantities of its gaps that have been computed. x and v are valid until the shape is evaluated
 * again. */
typedef struct cb_floor_look {
  cb_rigid_state s;
  int side; /* the gaps and rates of this state are gap[side] and rate[side] of cb_floor_work */
  double n[3], K[6][6], Y[6];
  const double (*x)[3], (*v)[3];
  /* least: the smallest gap; round_off: the round-off of gaps; farthest: the largest distance of a vertex from the
   * origin; quickest: the largest speed of a vertex in the body frame. */
  double least, round_off, farthest, quickest;
  bool rated; /* K, Y and the rates have been computed */
} cb_floor_look;

typedef struct cb_floor_run {
  const cb_floor *f;
  const cb_floor_shape *shape;
  const cb_body_stepper *stepper;
  const cb_rigid_problem *p;
  cb_floor_work *w;
  /* h: length of the step. Vertices that meet the floor within a time `near` meet it together. A vertex that is back on
   * the floor within a time `rest` rests. */
  double h, near, rest;
  int count, iterations;
  bool holds;
  /* the impulses at the start of the last flight with held vertices, and the length of that flight */
  cb_floor_impulses pushed;
  double pushed_for;
  cb_floor_look look[3]; /* look[0] is the start of the flight */
} cb_floor_run;

/* Finds K, the twist Y and the rates of the gaps in the state a->s, unless they are known. */
cb_status cb_floor_rates(cb_floor_run *e, cb_floor_look *a);
/* Returns an upper bound of the speed of all vertices for the twist Y. */
double cb_floor_speed(const cb_floor_look *a, const double Y[6]);
bool cb_floor_touches(const cb_floor_run *e, const cb_floor_look *a, int i);
/* Finds the state after a flight of length tau, and the gaps in this state. */
cb_status cb_floor_fly(cb_floor_run *e, double tau, cb_floor_look *out);

/* Finds the first time in a flight of length *tau at which a vertex that is not held meets the floor. *tau becomes this
 * time, *out the state and *vertex the vertex. If no vertex meets the floor, *vertex is -1 and *out the end of the
 * flight. *tau becomes 0 if a vertex that touches the floor at the start does not leave the floor, or if it rests. */
cb_status cb_floor_meet(cb_floor_run *e, double *tau, cb_floor_look **out, int *vertex);
