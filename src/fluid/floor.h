/* A floor: the half space <x, up> >= height is free.
 *
 *   stiff       each vertex below by d >= 0 is pushed: force = share (stiffness d - damping d_rate) up >= 0, and held
 *               by friction: -share friction (normal force) u_t/sqrt(|u_t|^2 + creep^2); share: of the vertex, 1/vertices
 *   reflecting  where the lowest vertex meets the floor, the momentum changes by an impulse J along up at it, with
 *               velocity of the vertex v+ = -restitution v-:  J = -(1 + e) v- / (w^T K^-1 w), w = (c × n, n)
 * Vertices that meet it at once are dealt with together (a linear complementarity problem of impulses >= 0). A body
 * whose reflections pile up is held: impulses with e = 0 for the rest of the step.
 */
#ifndef CB_FLUID_FLOOR_H
#define CB_FLUID_FLOOR_H

#include "fluid/rigid_step.h"

typedef enum cb_floor_kind { CB_FLOOR_NONE, CB_FLOOR_STIFF, CB_FLOOR_REFLECTING } cb_floor_kind;

typedef struct cb_floor {
  cb_floor_kind kind;
  double up[3], height;
  double stiffness, damping, friction, creep; /* stiff: N/m, N s/m of the whole body, 1, m/s */
  double restitution;                         /* reflecting: 0 to 1 */
} cb_floor;

/* A shape in the body frame at time t: x[n] and its own velocity v[n] (NULL: at rest), valid until the next call. */
typedef struct cb_floor_shape {
  void *self;
  cb_status (*at)(void *self, double t, int *n, const double (**x)[3], const double (**v)[3]);
} cb_floor_shape;

/* Wrench of a stiff floor in the body frame, dF/dY and its derivative along g(1 + hat(xi)), dpose (each may be NULL),
 * added to; energy of the springs (NULL). */
void cb_floor_wrench(const cb_floor *f, int n, const double (*x)[3], const double (*v)[3], const cb_pose *g,
                     const double Y[6], double F[6], double dF[6][6], double dpose[6][6], double *energy);

/* How a state is stepped: cb_rigid_step_pontryagin or another, bound to its parameters. */
typedef struct cb_body_stepper {
  const void *self;
  cb_status (*step)(const void *self, const cb_rigid_problem *p, double h, cb_rigid_state *s, int *iterations);
} cb_body_stepper;
typedef struct cb_floor_hit {
  double time, gap, speed_before, speed_after, impulse;
  int vertex;
} cb_floor_hit;
/* One step of length h > 0 with reflections: hit(user, ...) (NULL) is told each. The state is untouched on failure. */
cb_status cb_floor_step(const cb_floor *f, const cb_floor_shape *shape, const cb_body_stepper *stepper,
                        const cb_rigid_problem *p, double h, cb_rigid_state *s, int *iterations,
                        void (*hit)(void *user, const cb_floor_hit *hit), void *user);

#endif
