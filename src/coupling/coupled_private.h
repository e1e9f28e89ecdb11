/* The data of coupled bodies and particles (coupled.h), which the files of this folder share. Arrays [n] are ordered by
 * place in the state of the system. */
#pragma once

#include "core/arena.h"
#include "core/failure.h"
#include "coupling/coupled.h"
#include "fluid/rigid_step.h"
#include "numerics/sparse.h"

#include <stdbool.h>

/* A point (x, w) of a body frame in the coordinates of numerics/numerics_curved.h; w = 1 in E3. */
typedef struct cb_carried {
  int body; /* -1: a particle, which moves by itself */
  bool touches, of_shape;
  double x[3], w;
} cb_carried;

/* The pose g = T(p) R of a body as it acts on points and covectors: rotation r, transvection T to the point with normal
 * coordinates p + p_low, along the unit vector n; s and c are the sine and cosine of |p| in the curvature K
 * (numerics/numerics_curved.h). */
typedef struct cb_placing {
  double r[3][3], p[3], p_low[3], n[3], s, c;
} cb_placing;

/* The rows of constraints and their responses. A unit is a body (numbers 0 to bodies.n - 1) or a particle (number
 * bodies.n + its place). */
typedef struct cb_coupled_rows {
  cb_constraints *own;
  const cb_rows *pattern;
  int rows, entries, pairs;
  int *row, *unit;                            /* [entries] */
  int *unit_start, *unit_entry;               /* [units + 1], [entries]: the entries of each unit */
  double *g, *G, *first_G;                    /* residuals g; gradients G = dg/dx; first_G: G at node k */
  double *impulse, *change;                   /* [rows]: the impulses lambda, and their correction */
  double (*first)[6];                         /* [entries]: gradients at node k in the coordinates of their units */
  double (*left)[6], (*right)[6];             /* [entries]: gradients at node k+1; responses to gradients */
  bool *joined;                               /* [rows]: the row holds a body that has joints */
  double (*first_world)[6], (*left_world)[6]; /* [entries]: of such bodies, in the world's axes */
  double (*push)[6], (*answer)[6];            /* [bodies] */
  double residual;                            /* the largest residual in the last iteration */
  cb_sparse *matrix;
  cb_entries list;
} cb_coupled_rows;

typedef struct cb_coupled_contacts cb_coupled_contacts;

struct cb_coupled_snapshot {
  cb_state *state;
  cb_rigid_state *bodies; /* [bodies] */
  double *impulse;        /* [rows] */
  double *joint;          /* the state of joints */
  double last_length;
};

struct cb_coupled {
  cb_arena *arena;
  const cb_system *system;
  const cb_space *g;
  cb_forces *forces;
  cb_coupled_bodies bodies;
  cb_particles_in_fluid fluid;
  double K, R; /* curvature; R = 1/sqrt|K| (1 in E3): the last coordinate of the embedding is R w */
  int n, k;
  cb_state *state;
  cb_coupled_snapshot *before, *kicked; /* at the start of a step; after its first kick, or before its last kick */
  cb_placing *motion;                   /* [bodies.n]: the poses of the present states */
  cb_carried *carried;                  /* [n] */
  double *mass;                         /* [n]: mass M of particles, with their added mass */
  bool varies;                          /* M depends on the place, because the density of the fluid varies */
  double last_length;                   /* length of the last part of a step */
  bool *feels;                          /* [n]: the fluid acts on the particle */
  double *force, *velocity, *force_of_rows, *last_force; /* [n*k] */
  double *middle, (*middle_velocity)[3]; /* [n*k], [n], in flat space: in the middle of the last drift of particles */
  double (*wrench)[6];                   /* [bodies] */
  double (*twist)[6];                    /* [bodies]: in the world's axes, found with the velocities */
  bool known_force;                      /* `force` belongs to the present places, and need not be computed again */
  cb_coupled_contacts *contacts;         /* NULL: neither contacts nor walls nor events */
  cb_coupled_rows *rows;                 /* NULL: no constraints */
};

/* Places the points of bodies at the present poses. */
void cb_coupled_place(cb_coupled *c);
/* Computes, in the body frame, the wrench W of the covector f (k numbers) at a point of a body: W.Y = f.v for every
 * twist Y, v the velocity of the point for this twist. */
void cb_coupled_wrench(const cb_coupled *c, int place, const double *f, double W[6]);
/* Finds the factors of the inertia K of a body at time t and its pose. */
cb_status cb_coupled_factor(const cb_coupled *c, double t, int body, cb_factors6 *out);
/* Raises a covector at a particle and projects it onto the tangent space. */
void cb_coupled_raise(const cb_coupled *c, int place, const double *f, double *out);
/* Adds `factor` times the covectors f[n*k] to the momenta. */
void cb_coupled_kick(cb_coupled *c, double factor, const double *f);
/* Adds `factor` times a wrench in the world's axes to the momentum of a body or, if body is -1, a covector to that of a
 * particle. */
void cb_coupled_push_one(cb_coupled *c, int body, int place, double factor, const double *f);
/* Adds `factor` times the covector f (k numbers) at a point to the momentum of its body, or of the particle. */
void cb_coupled_push_point(cb_coupled *c, int place, double factor, const double *f);
/* Computes the velocities of all points, and the twists of their bodies, from the present momenta. */
cb_status cb_coupled_find_velocities(cb_coupled *c, double t);

/* Lets the joints answer impulses at the present node (mechanism/mechanism.h). */
cb_status cb_coupled_settle(cb_coupled *c, double t);
bool cb_coupled_has_joints(const cb_coupled *c, int body);

/* Finds what depends on the places: the points of bodies, and the masses M of particles. */
void cb_coupled_follow(cb_coupled *c);
/* CB_ERROR_DOMAIN if a point is so far from the origin of a hyperbolic space that its coordinates have too few
 * digits. */
cb_status cb_coupled_check_distances(const cb_coupled *c);

/* Makes one step of length h (of any sign), composed of its parts, without contacts. On failure the state is
 * undefined. */
cb_status cb_coupled_whole(cb_coupled *c, double t, double h, int *body, int *iterations);

/* --- contacts, walls and events (coupled_contacts.c) --- */
cb_status cb_coupled_contacts_create(cb_coupled *c);
void cb_coupled_contacts_free(cb_coupled *c);
/* Fails with CB_ERROR_DOMAIN if a gap is below 0 at the start of the run. */
cb_status cb_coupled_contacts_check(cb_coupled *c, double t);
/* As cb_coupled_step; on failure the state is undefined. */
cb_status cb_coupled_step_to_events(cb_coupled *c, double t, double *h, const char **stop, int *body, int *iterations);

/* --- constraints (coupled_rows.c) --- */
cb_status cb_coupled_rows_create(cb_coupled *c);
void cb_coupled_rows_free(cb_coupled *c);
/* At the start: CB_ERROR_UNSUPPORTED if the joints of the bodies already keep what a row keeps. */
cb_status cb_coupled_rows_check(cb_coupled *c, double t);
/* Stores the gradients at the present places as those of node k. The impulses of the last step stay as the first
 * guess. */
cb_status cb_coupled_rows_begin(cb_coupled *c, double t);
/* Applies the impulses to the momenta of node k. */
void cb_coupled_rows_apply(cb_coupled *c);
/* Call it after a drift. If *done becomes true, the constraints hold; otherwise this function has changed the impulses,
 * and the drift must be repeated. */
cb_status cb_coupled_rows_correct(cb_coupled *c, double t, double h, int iteration, bool *done);
/* Moves the momenta so that the rates of all rows vanish at the present places. */
cb_status cb_coupled_rows_project(cb_coupled *c, double t);
/* Finds the largest residual g (rate false) or rate dg/dt (rate true), relative to the size of its row, and this
 * row. */
cb_status cb_coupled_rows_residual(cb_coupled *c, double t, bool rate, double *residual, int *row);
