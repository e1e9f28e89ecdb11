/* A floor: the half space <x, up> >= height is free.
 *
 *   stiff       each vertex below by d >= 0 is pushed: N = share (stiffness d + damping d') >= 0 along up, and held by
 *               friction, -friction N u_t/sqrt(|u_t|^2 + creep^2); share: of the vertex, 1/vertices
 *               Damping and friction have rates of their own, about damping/mass and friction gravity/creep. A step of
 *               length h outruns either where h times it is above 1 (vertices far from the centre go three times as
 *               fast, and what is damped at more than 2/h the middle of a step throws back). It is then made without
 *               the floor, and where that meets it again with the constant push of the twist that it ends with
 *               (floor_damping.c): of first order, without rebound whatever the damping, and N >= 0
 *   reflecting  where the lowest vertex meets the floor, the momentum changes by an impulse J along up at it, with
 *               velocity of the vertex v+ = -restitution v-:  J = -(1 + e) v- / (w^T K^-1 w), w = (c × n, n)
 *
 * Reflecting: a step is cut where a gap comes to 0. The path is that of the stepper, state(tau) = a step of length tau
 * from where the last reflection was; vertices within 1e-9 of a step of the floor meet it together: impulses l >= 0,
 *   w_i . Y+ >= -e w_i . Y-,  of least <dY, K dY>  (the linear complementarity problem), until none closes.
 * What rests is held: a vertex that would be back within a thousandth of a step, or rise by no more than round-off,
 * takes no impulse of restitution, but l >= 0 at both ends of the step so that its gap at the end is >= 0 and its
 * velocity too (RATTLE with l >= 0), other vertices reflecting as before. A body whose reflections pile up (20 within a
 * hundredth of a step) is held at all vertices for the rest of the step. Impulses are without friction.
 * Nothing is passed over: between the ends of a trial each gap is taken for the cubic of its values and rates, and
 * where its least value is less than a quarter of what the rates' change bends it by (max |rate_1 - rate_0| tau/8), the
 * trial is cut there, down to 1e-9 of a step; trials turn the body by at most 1 near the floor (nearer than twice the
 * way of its fastest vertex). Missed can be only what a cubic knows nothing of: a shape that beats twice within a step.
 */
#pragma once

#include "fluid/rigid_step.h"
#include <curvebody/immersed.h>

/* A shape in the body frame at time t: x[n] and its own velocity v[n] (NULL: at rest), valid until the next call. */
typedef struct cb_floor_shape {
  void *self;
  cb_status (*at)(void *self, double t, int *n, const double (**x)[3], const double (**v)[3]);
} cb_floor_shape;

/* Adds the wrench F of a stiff floor in the body frame, dF/dY, its derivative dpose along g (1 + hat(xi)), and the energy
 * of the springs to those that are not NULL. */
void cb_floor_wrench(const cb_floor *f, int n, const double (*x)[3], const double (*v)[3], const cb_pose *g,
                     const double Y[6], double F[6], double dF[6][6], double dpose[6][6], double *energy);

/* Does a step of length h outrun the damping or the friction of a stiff floor? gravity: its size. */
bool cb_floor_outruns(const cb_floor *f, double mass, double gravity, double h);
/* The push in such a step, of length h, its middle at t, that led to s without the floor: constant in the world's axes,
 * the torque about the body's origin; met: is there one? CB_STEP_NO_CONVERGENCE, CB_STEP_SINGULAR, CB_STEP_NOT_FINITE,
 * or what the problem and the shape return. */
cb_status cb_floor_push(const cb_floor *f, const cb_floor_shape *shape, const cb_rigid_problem *p, double t, double h,
                        const cb_rigid_state *s, double push[6], bool *met);

/* How a state is stepped: cb_rigid_step_pontryagin or another, bound to its parameters. */
typedef struct cb_body_stepper {
  void *self;
  cb_status (*step)(void *self, const cb_rigid_problem *p, double h, cb_rigid_state *s, int *iterations);
} cb_body_stepper;
typedef struct cb_floor_hit {
  double time, gap, speed_before, speed_after, impulse;
  int vertex;
} cb_floor_hit;
/* Work arrays, for one body after another and of one thread; they grow to what a body needs, then nothing is
 * allocated. */
typedef struct cb_floor_work cb_floor_work;
cb_status cb_floor_work_create(cb_floor_work **out);
void cb_floor_work_free(cb_floor_work *w);

/* One step of length h > 0 with reflections: hit(user, ...) (NULL) is told each, in order, once the step is done. A
 * vertex that begins below the floor is not let deeper. iterations: of all trials. The state is untouched on failure:
 * what the stepper and the shape return, CB_STEP_NO_CONVERGENCE, CB_STEP_SINGULAR, CB_STEP_NOT_FINITE,
 * CB_ERROR_CONTACT_PILE for more than 10000 reflections. Floors of another kind: the stepper's step. */
cb_status cb_floor_step(const cb_floor *f, const cb_floor_shape *shape, const cb_body_stepper *stepper,
                        const cb_rigid_problem *p, double h, cb_rigid_state *s, int *iterations,
                        void (*hit)(void *user, const cb_floor_hit *hit), void *user, cb_floor_work *work);
