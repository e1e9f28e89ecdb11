/* Private types and functions of immersed bodies (curvebody/immersed.h): what a body and its workspace hold.
 *
 * A workspace keeps its last results: the form of the body at a time, the fluid around it at a pose, and the drag at a
 * twist. Each result depends only on its arguments, so that a new workspace computes identical results.
 */
#pragma once

#include "fluid/immersed_run.h"
#include "fluid/added_mass_table.h"
#include "fluid/body_quantities.h"
#include <curvebody/system.h>
#include <stdint.h>

typedef enum cb_wrench_kind {
  CB_WRENCH_FLOW,
  CB_WRENCH_WALL,
  CB_WRENCH_PRESSURE,
  CB_WRENCH_GRAVITY,
  CB_WRENCH_POTENTIALS,
  CB_WRENCH_BUOYANCY,
  CB_WRENCH_DRAG,
  CB_WRENCH_LINEAR_DRAG,
  CB_WRENCH_FLOOR,
  CB_WRENCH_MODEL, /* the forces of the models other than the local one */
  CB_WRENCH_TEXT   /* the wrenches that the user gives as expressions */
} cb_wrench_kind;

/* A face in a curved space: its centre, the flux of the Killing fields through it at that point, and its area. */
typedef struct cb_immersed_curved_face {
  double y[4], m[6], area;
} cb_immersed_curved_face;

/* A point y at which potentials of a body are evaluated, with the body's mass and the displaced fluid's mass there
 * (kg). */
typedef struct cb_immersed_node {
  double y[4], body, fluid;
} cb_immersed_node;

/* The name of a wrench that is recorded. number counts the terms of the models, or the user's wrenches. */
typedef struct cb_immersed_wrench_id {
  cb_wrench_kind kind;
  int number;
} cb_immersed_wrench_id;
enum { CB_WRENCH_ALL = -1 }; /* value of `number` for the sum of all terms of the models */

/* A fluid model that gives a body its forces or its added mass, and the model's data about the body. */
typedef struct cb_immersed_model_instance {
  const cb_fluid_model *model; /* NULL: the local model, or none */
  void *body;
  int first, terms;        /* range of the model among the body's terms */
  int first_place, places; /* range among the body's places, for a model that acts at places */
  const double (*at)[3];
} cb_immersed_model_instance;

/* The fluid at one place of a model, in the body's axes: the data that the model's wrench about that place depends
 * on. */
typedef struct cb_immersed_fluid_sample {
  double place[3], density;
  bool off;              /* the place is not the body's origin */
  double W[6];           /* half the vorticity, and the velocity of the flow */
  double gradient[3][3]; /* gradient of the velocity of the flow */
  double dF[6][6];
} cb_immersed_fluid_sample;

/* The added mass of one part of the body, about its place and in the body's axes (immersed_relative.c). */
typedef struct cb_immersed_part_added_mass {
  cb_immersed_fluid_sample at;
  double K[6][6];
} cb_immersed_part_added_mass;

/* The user's wrench: expressions of the body's quantities, of t and of external numbers for the torque and the force
 * (immersed_text.c). */
typedef struct cb_immersed_text {
  const char *name;
  bool world;
  double at[3], w, curvature;  /* the point (x, w) at which the force acts */
  cb_expression *component[6]; /* a NULL component is 0 */
  int uses;                    /* the number of the body's quantities that the components use, and their numbers */
  uint8_t use[CB_BODY_QUANTITIES];
} cb_immersed_text;

struct cb_immersed {
  cb_arena *arena;
  cb_fluid fluid;
  const cb_surface *surface;
  const cb_poses *poses;
  cb_moving_mass *mass; /* NULL in a curved space */
  double *thickness;    /* [parts] */
  double weighed;       /* the mass at t = 0 */
  /* Number of faces of closed parts, which come first in `listed`; the faces of sheets follow. */
  int closed_faces;
  int *listed;     /* [faces] */
  bool added_mass; /* the body has added mass */
  bool drag;       /* the local model's drag acts */
  int n_forces, terms, places;
  /* [n_forces]: the models other than the local one, with all their terms and places. */
  cb_immersed_model_instance *force;
  const char **term_name; /* [terms] */
  bool by_face, by_place; /* some model acts by faces; some model acts at places */
  cb_immersed_model_instance inertia;
  bool by_parts; /* the added mass moves relative to the flow at its places, because flow or density varies */
  bool placed;   /* the fluid ends at the plane <x, up> = height */
  double up[3], height;
  /* The added mass that inertia.model gives for the body at rest, far from the plane above: for a rigid body, or if the
   * poses have a table or the fluid ends at that plane. */
  cb_added_mass added;
  cb_added_mass_table *added_mass_table; /* the added mass along the poses; NULL: it is computed at each time */
  double c_n, c_t;
  double density;         /* of a uniform medium; 0: there is no medium, or its density varies */
  bool has_medium;        /* there is a medium */
  bool layered;           /* the density of the medium varies */
  bool has_flow, varying; /* there is a flow; the flow varies with the place */
  bool flow_unsteady;     /* the flow varies with time */
  bool pressure_force;    /* the pressure of the undisturbed flow acts */
  bool fluid_varies;      /* flow or density may differ from place to place */
  bool relative;          /* added mass in a flow or in layers: K and mu0 depend on the pose */
  bool uses_local_model;  /* the local model gives the added mass or the drag */
  bool has_mass;          /* the parts have mass */
  bool surrounded;        /* a flow surrounds the body and its pressure acts, if the body displaces any fluid */
  bool lifted;            /* buoyancy acts, if the body displaces any fluid */
  /* The poses are a sequence, and only the local model needs the vertices at each step. */
  bool interpolate_poses_for_drag;
  int texts;
  cb_immersed_text *text;
  int externals;                   /* the number of external names in the texts */
  const char **external;           /* [externals] */
  cb_mass still;                   /* mass properties of a rigid body in a curved space */
  cb_immersed_curved_face *curved; /* [faces], in a curved space */
  double resistance[6][6];         /* in a curved space: the linear drag is -resistance Y */
  const cb_system *potential;      /* the potential of 1 kg; NULL: none */
  cb_immersed_node *node;          /* [nodes] */
  int nodes;
  int wrenches;
  cb_immersed_wrench_id *wrench_id;
  /* Number of entries of `sum`: it leaves out the wrenches of the Lagrangian, and has one entry for both drags, and one
   * for all terms of models. */
  int sums;
  cb_immersed_wrench_id *sum;
};

/* The body in its own frame at a given time. */
typedef struct cb_immersed_form {
  double t;
  bool known;
  /* v is NULL at rest. If only the local model needs the vertices, both are NULL until cb_immersed_vertices is
   * called. */
  const double (*x)[3], (*v)[3];
  cb_mass mass;
  double mu_b[6];            /* momentum of the shape's motion, without the fluid */
  double I_f[6][6], mu_f[6]; /* added mass and momentum of the fluid; for density 1 if the density varies */
  /* The box around the vertices: its middle and half the lengths of its sides. Only computed if the density varies. */
  double middle[3], reach[3];
  double fluid_kinetic;     /* kinetic energy of the fluid of inertia.model while the body frame is at rest */
  double volume, moment[3]; /* displaced volume of closed parts and of sheets, and int x dV */
  double removed_normal_velocity;
} cb_immersed_form;

/* A uniform flow at a given time, in the world's axes. */
typedef struct cb_immersed_wind {
  double t;
  bool known;
  double u[3], rate[3];
} cb_immersed_wind;

/* The pose and the motion that wrenches depend on. */
typedef struct cb_immersed_moment {
  double t;
  const cb_pose *g;
  const double *Y;
  double r[3][3];
} cb_immersed_moment;

/* The momentum that the fluid takes at each vertex (immersed_relative.c), in the body's axes. */
typedef struct cb_immersed_impulses {
  bool known; /* a, k, leak and Q are computed for the present form and a medium of `density` (nan: one per face) */
  double density;
  double (*a)[3];     /* [faces] area vectors */
  double *k, *leak;   /* [faces]: rho delta/(12 A), sheets twice that; A times the mean normal velocity of the shape */
  double (*Q)[3][6];  /* [vertices]: dP/dY */
  double (*P0)[3];    /* [vertices]: P at Y = 0 */
  double (*w)[3];     /* [vertices]: velocity relative to the flow */
  double momentum[6]; /* the total of P0 */
} cb_immersed_impulses;

/* The weights with which the pressure of the flow acts on the vertices (immersed_drag.c). */
typedef struct cb_immersed_weight {
  double w, h[3];
} cb_immersed_weight;
typedef struct cb_immersed_apex {
  double x[3];
  int corners;
  cb_immersed_weight weight;
} cb_immersed_apex;
typedef struct cb_immersed_weights {
  bool known; /* as in cb_immersed_impulses */
  double density;
  cb_immersed_weight *vertex; /* [vertices] */
  cb_immersed_apex *apex;     /* [parts] */
} cb_immersed_weights;

/* The last wrench that was computed, with its derivative in Y. */
typedef struct cb_immersed_last {
  bool known;
  double t;
  cb_pose g;
  double Y[6], F[6], jacobian[6][6];
} cb_immersed_last;

/* The fluid at the body's pose, in the body's axes. Arrays over faces are filled where the density is mixed, arrays
 * over vertices where the flow varies. */
typedef struct cb_immersed_field {
  double t;
  cb_pose g;
  bool known;
  bool mixed;              /* the density differs over the body */
  double density;          /* the density if it is not mixed; for added mass by parts the mean over the faces */
  double density_slope[6]; /* derivative of that mean along the pose */
  double (*place)[3];      /* [vertices], in the world's axes */
  /* [vertices]: the velocity u of the flow, and du/dt at a place that is fixed in the world. */
  double (*u)[3], (*rate)[3];
  double (*gradient)[3][3];    /* [vertices] */
  bool at_faces, whole;        /* face_u is known; u0 and G0 are known */
  double (*face_u)[3];         /* [faces], at their centres */
  double u0[3], G0[3][3];      /* linear fit of the flow around the body: u0 + G0 x */
  double (*corner)[3][3];      /* [faces] in the order of `listed`, in the world's axes */
  double *rho, (*slope)[3][3]; /* [faces]: the density and its derivatives by the corners */
  int slopes, *sloped;         /* number and list of the faces that have such a derivative */
  double *listed_rho, (*listed_slope)[3][3], *listed_thickness;
  double I_f[6][6], mu_f[6]; /* added mass and momentum of the fluid */
  /* Derivative of the form along the pose, where the form depends on the place (immersed_potential.c). */
  double along[6][7][7];
} cb_immersed_field;

struct cb_immersed_workspace {
  const cb_immersed *b;
  cb_arena *arena;
  cb_rigid_problem problem;
  cb_rigid_constant constant; /* the constants of a rigid body in a uniform fluid */
  /* A step outruns the floor. The push of the floor is then given in the world's axes, with the torque about the body's
   * origin. */
  bool outrun;
  double push[6];
  cb_local *local;
  cb_local_part *part; /* [parts] */
  bool *capped;        /* [parts]: the cap of the part has been reported */
  double (*x)[3], (*v)[3];
  double (*apex)[3]; /* [poses][parts], for poses that are interpolated for drag */
  cb_immersed_form form;
  cb_immersed_wind wind;
  cb_immersed_field field;
  cb_immersed_impulses impulses;
  cb_immersed_weights pressure;
  cb_immersed_last dragged, pushed; /* the sum of drag and linear drag; dL/dg */
  /* The sum of all terms of the models; if `sloped` is set, with the derivative of the models that act by faces. */
  cb_immersed_last model_sum;
  bool sloped;
  double (*term)[6];                            /* [terms] of the models for the last motion */
  double (*term_slope)[6][6];                   /* [terms] of a model at one of its places */
  cb_immersed_fluid_sample *fluid_sample;       /* [places] */
  cb_immersed_part_added_mass *part_added_mass; /* [inertia.places], for added mass by parts */
  double *face_sum;                             /* sums over blocks of faces (immersed_faces.c) */
  cb_forces *potential;                         /* the evaluation of b->potential */
  const double *known;                          /* [externals]: the values of the external names */
  cb_immersed_last expected; /* the motion at which drag is needed first, if the step has announced it */
};

typedef double (*cb_tensor)[6];

/* --- curved spaces (immersed_form.c, immersed_potential.c) --- */
/* Checks that the fluid, the surface and the models are defined in the space of the fluid. */
cb_status cb_immersed_take_curved(cb_immersed *b);
/* Computes the mass and the faces of a rigid body in a curved space. */
cb_status cb_immersed_curved_create(cb_immersed *b, const cb_immersed_options *o);
void cb_immersed_curved_drag(const cb_immersed *b, const cb_immersed_moment *m, bool quadratic, bool linear, double *F,
                             cb_tensor dF);
cb_status cb_immersed_potentials_create(cb_immersed *b, const cb_immersed_options *o);
/* Adds the potential's wrench to F and writes its energy, with the body's masses times factor[0] and the fluid's times
 * factor[1]. F and energy may be NULL. */
cb_status cb_immersed_potentials(cb_immersed_workspace *s, const cb_immersed_moment *m, const double factor[2],
                                 double *F, double *energy);

/* --- fluid models other than the local one --- */
/* Chooses the models of the forces and of the added mass. */
cb_status cb_immersed_choose(cb_immersed *b, const cb_immersed_options *options);
/* Lets the models compute their data about the body, and computes the added mass of a rigid body. */
cb_status cb_immersed_prepare(cb_immersed *b);
/* CB_ERROR_UNSUPPORTED if a model is valid only for the shape at rest and the body's poses move it
 * (immersed_rest.c). */
cb_status cb_immersed_check_rest(const cb_immersed *b);
void cb_immersed_release(cb_immersed *b);
cb_status cb_immersed_terms_create(cb_immersed_workspace *s);
/* Writes the added mass of inertia.model into I_f, mu_f and fluid_kinetic of the form. */
cb_status cb_immersed_own_added_mass(const cb_immersed *b, cb_immersed_form *f);
/* Returns how many numbers s->face_sum needs. */
size_t cb_immersed_faces_capacity(const cb_immersed *b, const cb_local *l);
/* Adds the terms of a model by faces in the field of s and, if wanted, the derivative of their sum. */
void cb_immersed_faces(cb_immersed_workspace *s, const cb_immersed_model_instance *of, const cb_immersed_moment *m,
                       double (*term)[6], cb_tensor jacobian);
/* Does the same for a model that acts at places. The derivative at each place stays in s (`fluid_sample->dF`); the
 * caller combines it with the derivative by the pose or by the twist. */
cb_status cb_immersed_twists(cb_immersed_workspace *s, const cb_immersed_model_instance *of,
                             const cb_immersed_moment *m, double (*term)[6], bool slopes);
/* Adds only the sum of the terms, without storing the terms. */
cb_status cb_immersed_add_twists(cb_immersed_workspace *s, const cb_immersed_model_instance *of,
                                 const cb_immersed_moment *m, double F[6]);
void cb_immersed_place_at(cb_immersed_fluid_sample *out, const double place[3], double density);
cb_status cb_immersed_look(const cb_immersed *b, const cb_immersed_moment *m,
                           cb_immersed_fluid_sample *out); /* finds the fluid at out->place */
/* Finds V = X Y - W, the motion of the place relative to the fluid; X Y is the twist Y about the place. */
void cb_immersed_relative_twist(const cb_immersed_fluid_sample *at, const double Y[6], double V[6]);
void cb_immersed_twist_along(const cb_immersed_fluid_sample *at, int j, double dV[6]); /* dV/dxi_j */
void cb_immersed_carry_back(const cb_immersed_fluid_sample *at, double F[6]);          /* F becomes X^T F */
void cb_immersed_twist_slopes(const cb_immersed_workspace *s, cb_tensor dF, cb_tensor dg);

/* --- results that a workspace keeps --- */
cb_status cb_immersed_form_at(cb_immersed_workspace *s, double t); /* also finds the wind */
cb_status cb_immersed_form_create(cb_immersed_workspace *s);
cb_status cb_immersed_vertices(cb_immersed_workspace *s); /* finds x and v of the form */
cb_status cb_immersed_field_create(cb_immersed_workspace *s);
cb_status cb_immersed_field_at(cb_immersed_workspace *s, double t, const cb_pose *g);
/* Finds I_f, mu_f and the derivative of the field, if they are not known. */
cb_status cb_immersed_place(cb_immersed_workspace *s);
void cb_immersed_gather(cb_immersed_workspace *s, bool corners); /* finds `place`, and `corner` if corners is set */
void cb_immersed_field_at_faces(cb_immersed_workspace *s);
void cb_immersed_field_as_a_whole(cb_immersed_workspace *s);
void cb_immersed_moment_of(double t, const cb_pose *g, const double Y[6], cb_immersed_moment *out);
bool cb_immersed_is_last(const cb_immersed_last *last, const cb_immersed_moment *m);
void cb_immersed_set_last(cb_immersed_last *last, const cb_immersed_moment *m);
bool cb_immersed_has(const cb_immersed *b, cb_wrench_kind kind);

/* --- wrenches: each adds to F, dF/dY and dF/dxi along g (1 + hat(xi)); any of them may be NULL --- */
cb_status cb_immersed_wrench(cb_immersed_workspace *s, cb_immersed_wrench_id wrench_id, const cb_immersed_moment *m,
                             double *F, cb_tensor dF, cb_tensor dg);
cb_status cb_immersed_flow(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dF,
                           cb_tensor dg);
cb_status cb_immersed_take_wall(cb_immersed *b); /* the wall of inertia.model */
cb_status cb_immersed_wall(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dF,
                           cb_tensor dg);
cb_status cb_immersed_pressure_create(cb_immersed_workspace *s);
cb_status cb_immersed_pressure(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dg);
void cb_immersed_gravity(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dg);
cb_status cb_immersed_buoyancy(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dg);
/* term: the number of one term (dF and dg must then be NULL), or CB_WRENCH_ALL. */
cb_status cb_immersed_models(cb_immersed_workspace *s, int term, const cb_immersed_moment *m, double *F, cb_tensor dF,
                             cb_tensor dg);
cb_status cb_immersed_drag(cb_immersed_workspace *s, const cb_immersed_moment *m, bool quadratic, bool linear,
                           double *F, cb_tensor dF, cb_tensor dg);
void cb_immersed_floor(cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dF, cb_tensor dg);
/* Parses the user's wrenches; which, component and at as in cb_immersed_create. */
cb_status cb_immersed_parse_texts(cb_immersed *b, const cb_immersed_options *o, int *which, int *component, size_t *at);
void cb_immersed_free_texts(cb_immersed *b);
cb_status cb_immersed_text_wrench(cb_immersed_workspace *s, const cb_immersed_text *text, const cb_immersed_moment *m,
                                  double *F, cb_tensor dF, cb_tensor dg);
/* Adds a force at a place of the body. The force is fixed in the world, and f holds its components in the body's axes;
 * d(R^T a) = R^T a × xi_omega. */
void cb_immersed_push(const double at[3], const double f[3], double *F, cb_tensor dg);

/* Added mass by parts: cb_immersed_parts finds I_f, mu_f and the density of the field, cb_immersed_parts_wrench adds
 * dL/dxi, and cb_immersed_parts_energy returns the energy. */
cb_status cb_immersed_parts_create(cb_immersed_workspace *s);
cb_status cb_immersed_parts(cb_immersed_workspace *s, const cb_immersed_moment *m);
void cb_immersed_parts_wrench(const cb_immersed_workspace *s, const double Y[6], double *F, cb_tensor dF);
double cb_immersed_parts_energy(const cb_immersed_workspace *s, const double Y[6]);

/* Finds I_f, and mu_f, the momentum of the fluid minus I_f Y, in the flow and the density at the pose. */
cb_status cb_immersed_fluid(cb_immersed_workspace *s, double t, const cb_pose *g, double I_f[6][6], double mu_f[6]);
/* These find the fluid's momentum and dL/dg from the impulses at the vertices, in the field of s. dF may be NULL. */
cb_status cb_immersed_impulses_create(cb_immersed_workspace *s);
void cb_immersed_impulses_of_shape(cb_immersed_workspace *s);
void cb_immersed_impulses_of_flow(cb_immersed_workspace *s);
/* Adds (1/2) sum (k/rho) s_c S_c q (immersed_relative.c) and its derivative in Y. */
void cb_immersed_add_density(cb_immersed_workspace *s, const double Y[6], double F[6], cb_tensor dF);
void cb_immersed_relative(cb_immersed_workspace *s, const double Y[6], double F[6], cb_tensor dF);
void cb_immersed_relative_turning(cb_immersed_workspace *s, const double Y[6], cb_tensor dg);
/* Returns (1/2) sum rho delta int <velocity relative to the flow, n>^2 dA, for a body that deforms or in a fluid that
 * varies. */
double cb_immersed_fluid_energy(cb_immersed_workspace *s, const double Y[6]);
/* dg += jacobian d(Y - U)/dxi, for a change xi of the pose in the body's axes. U is the twist of the flow: u0 and half
 * the curl of its linear fit u0 + G0 x. The shear (the symmetric part of G0) is assumed to be weak: its change by the
 * rotation of the body is neglected. */
void cb_immersed_carry(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_tensor jacobian, cb_tensor dg);
cb_status cb_immersed_potential(cb_immersed_workspace *s, const cb_immersed_moment *m, double *potential);
