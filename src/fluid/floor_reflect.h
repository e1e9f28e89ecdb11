/* A step with reflections off the floor: the declarations that floor_reflect.c (impacts, flights, resting contact),
 * floor_impulse.c (the problem of impulses) and floor_meet.c (the time at which a flight meets the floor) share. */
#pragma once

#include "fluid/floor.h"

/* The effect of impulses along n (up in the body's axes) on a body of inertia K. n, p, q are orthonormal and
 * right-handed. An impulse 1 along n at the point c of the body is the wrench w = (c × n, n) = W a, with
 * a = (1, <c, p>, <c, q>) and the 6x3 matrix W of the columns (0, n), (p × n, 0), (q × n, 0). */
typedef struct cb_floor_metric {
  double n[3], p[3], q[3];
  double B[6][3]; /* K^-1 W */
  double C[3][3]; /* lower triangular, C C^T = W^T K^-1 W */
} cb_floor_metric;
/* Returns CB_STEP_SINGULAR if K is singular or not positive. */
cb_status cb_floor_metric_of(const double K[6][6], const double n[3], cb_floor_metric *m);

/* Impulses l >= 0 at no more than three vertices, and the sum of l a with the numbers a of each vertex
 * (cb_floor_metric). */
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
  /* base: the lowest allowed gap of a vertex: 0, or its gap at the start if that is < 0 */
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
  /* The smallest gap and the round-off of gaps; the largest distance of a vertex from the origin, and the largest speed
   * of a vertex in the body frame. */
  double least, round_off, farthest, quickest;
  bool rated; /* K, Y and rates are known */
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
/* Finds the state after a time tau of flight, with its gaps. */
cb_status cb_floor_fly(cb_floor_run *e, double tau, cb_floor_look *out);

/* Finds the first time in a flight of length *tau at which a vertex that is not held meets the floor. *tau becomes this
 * time, *out the state and *vertex the vertex. If no vertex meets the floor, *vertex is -1 and *out the end of the
 * flight. If a vertex that touches the floor does not leave it, or rests, *tau becomes 0. */
cb_status cb_floor_meet(cb_floor_run *e, double *tau, cb_floor_look **out, int *vertex);
