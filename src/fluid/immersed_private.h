/* Private types and functions of immersed bodies (curvebody/immersed.h): the data of a body and of its workspace.
 *
 * A workspace keeps its last results: the form of the body at a time (its vertices, mass and added mass in the body
 * frame), the fluid around it at a pose, and the drag at a twist. Each result depends only on its arguments, so that a
 * new workspace computes identical results.
 *
 * In these comments g is the pose, which is the position and rotation of the body frame. The poses of a body
 * (curvebody/poses.h) are something else: they prescribe the positions of its vertices in the body frame, that is, its
 * shape at each time. Y is the twist, xi a small twist in the body's axes, and hat(xi) its 4x4 matrix. K is an inertia,
 * mu0 a momentum at Y = 0, and F a wrench (curvebody/rigid.h). L is the Lagrangian.
 */
#pragma once

#include "core/arena.h"
#include "fluid/immersed_run.h"
#include <curvebody/fluid_model.h>
#include <curvebody/poses.h>
#include <curvebody/surface.h>
#include <curvebody/system.h>

#include <stdint.h>

/* A table of the added mass along poses (immersed_model.c). */
typedef struct cb_added_mass_table cb_added_mass_table;

/* --- the rigid motion that fits a part best ---
 *
 * The rigid motion that fits the motion of a part of a surface best.
 *
 *   sum w |x - c - R a|^2 is least:   c = sum w x,  a = X - sum w X,  and R is the rotation for which
 *                                     tr(R^T sum w (x - c) a^T) is greatest
 *   spin   (tr(S) 1 - S) omega = sum w R a × x',  S = sum w R a (x - c)^T;      c' = sum w x'
 *   a point of the part at X0 at rest is at c + R (X0 - sum w X), and moves by c' + omega × R (X0 - sum w X)
 *
 * X are the vertices at rest, x the posed ones, x' their velocities, and w their weights, whose sum is 1. The weights
 * are proportional to the areas of the part's faces at the vertices at rest. The spin is the exact rate of R, R' =
 * hat(omega) R, for any motion of the vertices, because it is the derivative of the condition that S is symmetric. If a
 * part moves rigidly, omega is the spin of the part. R comes from the eigenvector of the largest eigenvalue of a
 * symmetric 4x4 matrix. Source: Horn, J. Opt. Soc. Am. A 4 (1987) 629, doi:10.1364/JOSAA.4.000629. Positions are in the
 * body frame. SI units.
 */

/* The data of a part that the fit uses. Parts of the same name move together and are one part here. Vertices that the
 * part shares with other parts are left out, because they may move with the other parts. They are kept if fewer than
 * three vertices would remain otherwise. */
typedef struct cb_part_fit {
  int part;         /* the number of the first part of this name */
  int n;            /* number of vertices */
  int *vertex;      /* [n]: their numbers in the surface */
  double *w;        /* [n]: weights */
  double (*a)[3];   /* [n]: a = X - centre, with the position X of a vertex at rest */
  double centre[3]; /* the mean position of the part at rest, sum w X */
  double size;      /* (sum w |a|^2)^(1/2) */
  const cb_surface *surface;
} cb_part_fit;

/* The motion of a part at one time, from the fit x = c + R a: its rotation R and the position c of its centre. */
typedef struct cb_part_motion {
  bool rests; /* all vertices are exactly at their places at rest: the part is neither turned nor shifted */
  bool moves; /* some vertex has a velocity that is not 0 */
  double R[3][3], centre[3];
  double omega[3], velocity[3]; /* omega: the angular velocity of the part; velocity: that of its centre, c' */
  double residual;              /* (sum w |x - c - R a|^2)^(1/2)/size */
} cb_part_motion;

/* Makes the data of a part. Returns CB_ERROR_MEMORY, or CB_ERROR_DOMAIN for a part whose vertices are on a line. The
 * surface is borrowed. */
cb_status cb_part_fit_create(cb_arena *arena, const cb_surface *s, int part, cb_part_fit *out);
/* Finds the motion for the posed vertices x[vertices] with the velocities v. Returns CB_STEP_SINGULAR if more than one
 * rotation fits the motion best. */
cb_status cb_part_motion_at(const cb_part_fit *f, const double (*x)[3], const double (*v)[3], cb_part_motion *out);

/* --- bodies --- */

typedef double (*cb_tensor)[6];
typedef struct cb_immersed_moment cb_immersed_moment;

/* The sums to which a term adds its wrench `number`, or all its wrenches if number is CB_TERM_ALL: F, its derivative dF
 * in Y, and its derivative dg along g (1 + hat(xi)). F, dF and dg may be NULL; for one wrench dF and dg are NULL. */
enum { CB_TERM_ALL = -1 };
typedef struct cb_immersed_sums {
  int number;
  double *F;
  cb_tensor dF, dg;
} cb_immersed_sums;

/* A term is something that acts on a body by one or several wrenches, or that moves with the body and adds an inertia.
 * Each term is one file src/fluid/terms/NAME.c with one const object cb_immersed_term_NAME. Members that are NULL or 0
 * add nothing.
 *
 *   mu = (I_b + sum K) Y + mu_b + sum mu0,   mu' = ad*_Y mu + sum F
 *
 * mu is the momentum. I_b and mu_b are the inertia of the body and the momentum of its shape's motion. A term with an
 * inertia is a part of the Lagrangian: its wrench is dL/dg, with dF/dY = (dmu/dxi)^T. When a term is evaluated, the
 * form of the body at that time is known. */
typedef struct cb_immersed_term_class {
  const char *name;                      /* also the name of the term's wrench in records, unless name_of is set */
  int order;                             /* terms are listed, and added up, in ascending order */
  const struct cb_immersed_class *space; /* the class of the bodies on which the term acts; NULL: all */
  bool (*acts)(const cb_immersed *b);    /* NULL: the term acts if it has wrenches */
  /* The number of the term's wrenches, and their names, which last as long as the body (NULL: no memory). A name is
   * requested after all earlier wrenches have been listed. If count is NULL, the term has one wrench, with the name
   * `name`.
   */
  int (*count)(const cb_immersed *b);
  const char *(*name_of)(cb_immersed *b, int i);
  bool (*surfaceless)(const cb_immersed *b); /* returns whether the term is independent of the body's surface */
  bool (*approximate)(const cb_immersed *b); /* returns whether the derivatives of the term are only approximate */
  /* Returns whether the term's wrench is a constant force in the world that acts at the origin of a rigid body (up to
   * round-off). NULL: the wrench is not of this kind. */
  bool (*dead)(const cb_immersed_workspace *s);
  /* Removes from *out the quantities that the term does not conserve. NULL: if the term has a wrench, neither energy
   * nor momentum is conserved. */
  void (*conserves)(const cb_immersed *b, cb_immersed_conserved *out);
  cb_status (*prepare)(cb_immersed *b, const cb_immersed_options *o); /* computes the term's data about the body */
  cb_status (*create)(cb_immersed_workspace *s);                      /* allocates the term's arrays in a workspace */
  /* Adds the wrenches of the term to the sums `to`. */
  cb_status (*wrench)(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to);
  /* Adds the potential energy of the term to *energy. */
  cb_status (*potential)(cb_immersed_workspace *s, const cb_immersed_moment *m, double *energy);
  /* Adds the term's K and mu0 at the pose g, for the fluid in s->field; NULL: the term is no part of the Lagrangian. */
  void (*inertia)(const cb_immersed_workspace *s, const cb_pose *g, double K[6][6], double mu0[6]);
  /* Returns whether the inertia of the term depends on the pose. NULL: it always depends on the pose. */
  bool (*pose_dependent)(const cb_immersed *b);
  cb_status (*field)(cb_immersed_workspace *s); /* finds the data that `inertia` needs; called when s->field is new */
  /* Adds the kinetic energy of the term to *energy. */
  void (*kinetic)(cb_immersed_workspace *s, const cb_immersed_moment *m, double *energy);
} cb_immersed_term_class;
/* All terms, ended by NULL. */
extern const cb_immersed_term_class *const *const cb_immersed_term_classes;
bool cb_immersed_always(const cb_immersed *b); /* returns true; for members such as `acts` */
/* Returns whether a wrench of this name is listed. */
bool cb_immersed_names(const cb_immersed *b, const char *name);

/* The functions of a body that differ between flat and curved space. */
typedef struct cb_immersed_class {
  /* Fails if the fluid, the surface or the models are not defined in this space. NULL: they always are. */
  cb_status (*check)(const cb_immersed *b);
  cb_status (*create)(cb_immersed *b, const cb_immersed_options *o); /* makes the data that this space needs */
  cb_status (*form)(cb_immersed_workspace *s);                       /* finds the form of the body at s->form.t */
  /* The first function finds the mass properties for the vertices x, and the second one the local model's data
   * part[parts] at the time of s->form. */
  cb_status (*mass)(const cb_immersed *b, const double (*x)[3], cb_mass *out);
  cb_status (*parts)(cb_immersed_workspace *s, cb_local_part *part);
} cb_immersed_class;
extern const cb_immersed_class cb_immersed_flat, cb_immersed_curved;

/* A term that acts on a body, with the number of its wrenches. */
typedef struct cb_immersed_term {
  const cb_immersed_term_class *class_;
  int wrenches;
} cb_immersed_term;

/* A recorded wrench: the wrench with the number `number` of a term. */
typedef struct cb_immersed_wrench {
  const cb_immersed_term_class *term;
  int number;
  const char *name;
} cb_immersed_wrench;

/* A face in a curved space: its centre y in the embedding, its area, and the flux m per unit area of the six Killing
 * fields at the centre. */
typedef struct cb_immersed_curved_face {
  double y[4], m[6], area;
} cb_immersed_curved_face;

/* A point y of the embedding at which potentials of a body are evaluated, with the mass of the body and of the
 * displaced fluid there (kg). */
typedef struct cb_immersed_node {
  double y[4], body, fluid;
} cb_immersed_node;

/* A fluid model that gives a body its forces or its added mass, and the model's data about the body. */
typedef struct cb_immersed_model_instance {
  const cb_fluid_model *model; /* NULL: the local model, or no model */
  void *body;
  /* number of the first term of this model among the terms of all models, and number of its terms */
  int first, terms;
  /* number of the model's first place among the places of all models, and number of its places; only for a model that
   * acts at places */
  int first_place, places;
  const double (*at)[3]; /* [places]: the positions of the places in the body frame */
  /* [places]: the number in `followed` of the part with which each place moves, or -1; NULL: all places are fixed */
  const int *follows;
} cb_immersed_model_instance;

/* The models other than the local one that give a body its forces, with all their terms and places. */
typedef struct cb_immersed_models {
  int n, terms, places;
  cb_immersed_model_instance *of; /* [n] */
  bool by_face, by_place;         /* by_face: some model acts by faces; by_place: some model acts at places */
} cb_immersed_models;

/* Facts about the fluid around the body. */
typedef struct cb_immersed_around {
  double density;         /* density of a uniform medium; 0: there is no medium, or its density varies */
  bool layered;           /* the density of the medium varies */
  bool has_flow, varying; /* has_flow: there is a flow; varying: the flow varies with the place */
  bool unsteady;          /* the flow varies with time */
} cb_immersed_around;

/* A rigid body in a curved space (immersed_form.c). */
typedef struct cb_immersed_solid {
  cb_mass still;                 /* mass properties of the body */
  cb_immersed_curved_face *face; /* [faces] */
  double resistance[6][6];       /* the wrench of linear drag is -resistance Y */
  const cb_system *potential;    /* a system of one particle, which gives the potential per kg; NULL: none */
  int nodes;
  cb_immersed_node *node; /* [nodes] */
} cb_immersed_solid;

/* The fluid at one place of a model, in the body's axes: the data that the model's wrench about that place depends
 * on. */
typedef struct cb_immersed_fluid_sample {
  double place[3], density;
  bool off;           /* the place is not the body's origin */
  bool moves, turned; /* moves: `own` is not 0; turned: R is not the identity (immersed_followed.c) */
  /* own: twist of the place in the body frame; R: rotation of the part with which the place moves */
  double own[6], R[3][3];
  double W[6];           /* half the vorticity, and the velocity of the flow */
  double gradient[3][3]; /* gradient of the velocity of the flow */
  double dF[6][6];       /* derivative of the model's wrench about the place, by V (cb_immersed_relative_twist) */
} cb_immersed_fluid_sample;

/* The added mass of a rigid body in a flow with a gradient, for density 1 and about the centre of the body. The
 * complete body is the one part of its model and feels the flow at this centre (immersed_field.c). */
enum { CB_IMMERSED_STRAINS = 5 };
typedef struct cb_immersed_strained {
  double centre[3], K[6][6], C[6][CB_IMMERSED_STRAINS], N[CB_IMMERSED_STRAINS][CB_IMMERSED_STRAINS];
} cb_immersed_strained;

/* The added mass of one part of the body, about its place and in the body's axes (terms/parts.c). */
typedef struct cb_immersed_part_added_mass {
  cb_immersed_fluid_sample at;
  double K[6][6], e[CB_IMMERSED_STRAINS]; /* e: the strain of the flow at the place */
} cb_immersed_part_added_mass;

/* A wrench of the user: expressions of the body's quantities, of the time t and of external numbers, for the torque and
 * the force (terms/texts.c). */
typedef struct cb_immersed_text {
  const char *name;
  bool world;
  double at[3], w, curvature;  /* the point (at, w) of the embedding at which the force acts */
  cb_expression *component[6]; /* a NULL component is 0 */
  int uses;                    /* uses: how many of the body's quantities the components use; `use` lists them */
  uint8_t use[CB_BODY_QUANTITIES];
} cb_immersed_text;

struct cb_immersed {
  cb_arena *arena;
  const cb_immersed_class *class_;
  cb_fluid fluid;
  cb_immersed_around around;
  const cb_surface *surface;
  const cb_poses *poses;
  cb_moving_mass *mass;     /* only in flat space */
  cb_immersed_solid curved; /* only in a curved space */
  double *thickness;        /* [parts] */
  double weighed;           /* the mass of the body at t = 0 */
  bool heavy, solid;        /* heavy: the body has mass; solid: a part of the body has a density */
  bool buoyant;             /* buoyancy is taken into account */
  /* Number of faces of closed parts. In `listed` these faces come first, and the faces of sheets follow. */
  int closed_faces;
  int *listed;     /* [faces]: the numbers of the faces */
  bool drag;       /* the local model's lift and drag act */
  double c_n, c_t; /* coefficients of linear drag, normal and tangential, Pa s/m */
  cb_immersed_models models;
  bool added_mass;                    /* the body has added mass */
  cb_immersed_model_instance inertia; /* the model of the added mass */
  bool placed;                        /* the fluid ends at the plane <x, up> = height */
  double up[3], height;
  /* The added mass that inertia.model gives for the body at rest, far from the plane above. It is computed for a rigid
   * body. For a body with poses it is computed if the model has a table or the fluid ends at that plane. */
  cb_added_mass added;
  const cb_immersed_strained *strained;  /* NULL: the strain of the flow has no effect on the added mass */
  int followed_parts;                    /* number of the parts with which places of models move */
  cb_part_fit *followed;                 /* [followed_parts] */
  cb_added_mass_table *added_mass_table; /* the added mass along the poses; NULL: it is computed at each time */
  int texts;
  cb_immersed_text *text;
  int externals;
  /* [externals]: the names of variables in the texts; the caller gives the values of these variables */
  const char **external;
  int terms;
  cb_immersed_term *term; /* [terms]: the terms that act, in their order */
  int wrenches;
  cb_immersed_wrench *wrench; /* [wrenches]: the wrenches that are recorded */
};

/* Returns whether there is a fluid that has density. */
static inline bool cb_immersed_is_wet(const cb_immersed *b) {
  return b->fluid.medium && (b->around.layered || b->around.density > 0);
}
/* Returns whether the flow or the density may differ from place to place. */
static inline bool cb_immersed_varies(const cb_immersed *b) { return b->around.layered || b->around.varying; }
/* Returns whether the body has added mass in a fluid that flows or whose density varies. K or mu0 then depends on the
 * pose. */
static inline bool cb_immersed_is_relative(const cb_immersed *b) {
  return b->added_mass && !b->fluid.paper && (b->around.has_flow || b->around.layered);
}
/* Returns whether the added mass is that of parts, each of which moves relative to the flow at its place. This is so if
 * the flow or the density varies. A model without parts treats the complete body as one part, which also feels the
 * strain of the flow. */
static inline bool cb_immersed_by_parts(const cb_immersed *b) {
  return b->inertia.model && cb_immersed_is_relative(b) && cb_immersed_varies(b);
}
static inline bool cb_immersed_has_linear_drag(const cb_immersed *b) { return b->c_n > 0 || b->c_t > 0; }
bool cb_immersed_falls(const cb_immersed *b); /* returns whether there is gravity */
/* Returns whether the weight of the displaced fluid acts as buoyancy. The function does not check whether the body
 * displaces any fluid. */
bool cb_immersed_is_lifted(const cb_immersed *b);
/* Returns whether the pressure of a flow acts on the body. The function does not check whether the body displaces any
 * fluid. */
bool cb_immersed_is_surrounded(const cb_immersed *b);
bool cb_immersed_displaces(const cb_immersed *b);
/* Returns whether the local model gives the added mass or the drag. */
bool cb_immersed_uses_local_model(const cb_immersed *b);
/* Returns whether the poses are a sequence and only the local model needs the vertices at each step. */
bool cb_immersed_blends_poses(const cb_immersed *b);

/* The body in its own frame at a given time. */
typedef struct cb_immersed_form {
  double t;
  bool known;
  /* The positions and velocities of the vertices; v is NULL at rest. If only the local model needs the vertices, x and
   * v are NULL until cb_immersed_vertices is called. */
  const double (*x)[3], (*v)[3];
  cb_mass mass;
  double mu_b[6];            /* momentum of the shape's motion, without the fluid */
  double I_f[6][6], mu_f[6]; /* added mass and momentum of the fluid; they are for density 1 if the density varies */
  /* The box around the vertices: its middle and half the lengths of its sides. It is only computed if the density
   * varies. */
  double middle[3], reach[3];
  double fluid_kinetic;     /* kinetic energy of the fluid, given by inertia.model, while the body frame is at rest */
  double volume, moment[3]; /* volume: displaced volume of closed parts and sheets; moment: int x dV over it */
  double removed_normal_velocity;
} cb_immersed_form;

/* A uniform flow at time t, in the world's axes: its velocity u, and rate = du/dt. */
typedef struct cb_immersed_wind {
  double t;
  bool known;
  double u[3], rate[3];
} cb_immersed_wind;

/* The pose and the motion that wrenches depend on. */
struct cb_immersed_moment {
  double t;
  const cb_pose *g;
  const double *Y;
  double r[3][3];
};

/* The momentum P = P0 + Q Y that the fluid receives at each vertex (terms/flow.c), in the body's axes. */
typedef struct cb_immersed_impulses {
  bool known; /* a, k, leak and Q belong to the present form and `density` (nan: the density differs between faces) */
  double density;
  double (*a)[3]; /* [faces]: area vectors */
  /* [faces]: k = rho delta/(12 A), on sheets twice that; leak: A times the mean normal velocity of the part's shape. A
   * is the area of the face, rho the density at it, delta as in fluid/local.h. */
  double *k, *leak;
  double (*Q)[3][6];  /* [vertices]: dP/dY */
  double (*P0)[3];    /* [vertices]: P at Y = 0 */
  double (*w)[3];     /* [vertices]: velocity relative to the flow */
  double momentum[6]; /* the sum of P0: (sum x × P0, sum P0) */
} cb_immersed_impulses;

/* The weights with which the pressure of the flow acts on the vertices (terms/pressure.c): a vertex where the
 * acceleration of the fluid is a has the force w a and the torque h × a. */
typedef struct cb_immersed_weight {
  double w, h[3];
} cb_immersed_weight;
typedef struct cb_immersed_apex {
  double x[3];
  int corners;
  cb_immersed_weight weight;
} cb_immersed_apex;
typedef struct cb_immersed_weights {
  bool known; /* the weights belong to the present form and `density` (nan: the density differs between faces) */
  double density;
  cb_immersed_weight *vertex; /* [vertices] */
  cb_immersed_apex *apex;     /* [parts] */
} cb_immersed_weights;

/* The last wrench F that was computed, at time t, pose g and twist Y, with its derivative (jacobian) in Y. */
typedef struct cb_immersed_last {
  bool known;
  double t;
  cb_pose g;
  double Y[6], F[6], jacobian[6][6];
} cb_immersed_last;

/* The fluid at the body's pose, in the body's axes. Arrays over vertices, and face_u, are filled if the flow varies.
 * The other arrays over faces, and `place`, are filled if the density is mixed. */
typedef struct cb_immersed_field {
  double t;
  cb_pose g;
  bool known;
  bool mixed; /* the density differs over the body */
  /* The density, if `mixed` is false. Otherwise, if the added mass is that of separate parts, the mean density of the
   * faces, weighted by area. */
  double density;
  double density_slope[6]; /* the derivative along the pose of `density`, if this is a mean density */
  double (*place)[3];      /* [vertices]: their positions in the world */
  /* [vertices]: the velocity u of the flow, and du/dt at a place that is fixed in the world. */
  double (*u)[3], (*rate)[3];
  double (*gradient)[3][3];    /* [vertices]: gradient of the velocity of the flow */
  bool at_faces, whole;        /* at_faces: face_u is known; whole: u0 and G0 are known */
  double (*face_u)[3];         /* [faces]: velocity of the flow at their centres */
  double u0[3], G0[3][3];      /* linear fit of the flow around the body: u0 + G0 x */
  double (*corner)[3][3];      /* [faces]: corners in the world, in the order of `listed` */
  double *rho, (*slope)[3][3]; /* [faces]: the mean density on the face, and its derivatives by the corners */
  int slopes, *sloped;         /* number and list of the faces whose `slope` is not 0 */
  /* the densities, their derivatives and the thicknesses of the faces, in the order of `listed` */
  double *listed_rho, (*listed_slope)[3][3], *listed_thickness;
  double I_f[6][6], mu_f[6]; /* added mass and momentum of the fluid */
  /* Derivative of the form G of the fluid's energy along the pose, near a wall (terms/wall.c). */
  double along[6][7][7];
} cb_immersed_field;

struct cb_immersed_workspace {
  const cb_immersed *b;
  cb_arena *arena;
  cb_rigid_problem problem;
  cb_rigid_constant constant; /* the constants of a rigid body in a uniform fluid */
  /* outrun: the step is too long for the damping or friction of a stiff floor (cb_floor_outruns). The floor then acts
   * with the constant wrench `push`, in the world's axes, with the torque about the body's origin. */
  bool outrun;
  double push[6];
  cb_local *local;
  cb_local_part *part; /* [parts] */
  bool *capped;        /* [parts]: it has been reported that delta (fluid/local.h) of the part is capped */
  double (*x)[3], (*v)[3];
  double (*apex)[3]; /* [poses][parts]: apexes of the poses, if poses are interpolated by the local model */
  cb_immersed_form form;
  cb_immersed_wind wind;
  cb_immersed_field field;
  cb_immersed_impulses impulses;
  cb_immersed_weights pressure;
  cb_immersed_last dragged, pushed; /* dragged: the sum of drag and linear drag; pushed: the wrench dL/dg */
  /* The sum of all terms of the models. If `sloped` is set, the derivative in Y of the models that act by faces is
   * known, too. */
  cb_immersed_last model_sum;
  bool sloped;
  double (*term)[6]; /* [terms]: the terms of the models, at the last motion */
  /* [terms]: derivatives of the terms at one place in the twist V of this place */
  double (*term_slope)[6][6];
  cb_immersed_fluid_sample *fluid_sample; /* [places]: the fluid at each place */
  /* [inertia.places]: the added mass at each place, if the model gives the added mass of separate parts */
  cb_immersed_part_added_mass *part_added_mass;
  cb_part_motion *part_motion; /* [followed_parts]: the motion of each part at the time of the form */
  double *face_sum;            /* sums over blocks of faces (immersed_field.c) */
  cb_forces *potential;        /* evaluates b->curved.potential */
  const double *known;         /* [externals]: the values of the external names */
  cb_immersed_last expected;   /* the motion at which drag is needed first, if the step has announced this motion */
};

/* --- how a body is made --- */
/* Parses the user's wrenches. *which, *component and *at are set as in cb_immersed_create. */
cb_status cb_immersed_parse_texts(cb_immersed *b, const cb_immersed_options *o, int *which, int *component, size_t *at);
void cb_immersed_free_texts(cb_immersed *b);

/* --- fluid models other than the local one --- */
cb_status cb_immersed_take_wall(cb_immersed *b); /* finds the wall of inertia.model */
/* Chooses the models of the forces and of the added mass. */
cb_status cb_immersed_choose(cb_immersed *b, const cb_immersed_options *options);
/* Lets the models compute their data about the body, and computes the added mass of a rigid body. */
cb_status cb_immersed_prepare(cb_immersed *b);
/* The largest distances by which the poses move the vertices from their positions in the surface, at sampled times
 * (fluid_model.c). */
typedef struct cb_immersed_travel {
  double *distance, *time; /* [vertices]: the largest distance of each vertex, and the time at which it occurs */
  bool *moves;             /* [parts]: some vertex of the part moves */
  /* the largest flux int |v.n| dA with its time, for the velocity v and the normal n of the faces (area A) */
  double flux, t;
} cb_immersed_travel;
cb_status cb_immersed_find_travel(const cb_immersed *b,
                                  cb_immersed_travel *out); /* the caller frees *out, also on failure */
void cb_immersed_free_travel(cb_immersed_travel *t);
/* Returns CB_ERROR_UNSUPPORTED if a model is valid only for the shape at rest and the body's poses move a part that no
 * place of the model follows. */
cb_status cb_immersed_check_rest(const cb_immersed *b, const cb_immersed_travel *travel);
/* Places that follow parts (immersed_followed.c). The first function finds the parts that the places of a model follow.
 * The second one allocates the arrays of a workspace. The third one moves all places to the time of the form. The
 * fourth one computes the added mass, for density 1. */
cb_status cb_immersed_follow_parts(cb_immersed *b, cb_immersed_model_instance *of);
cb_status cb_immersed_followed_create(cb_immersed_workspace *s);
cb_status cb_immersed_move_places(cb_immersed_workspace *s);
void cb_immersed_followed_added_mass(const cb_immersed_workspace *s, cb_added_mass *out);
void cb_immersed_release(cb_immersed *b);
/* Writes the added mass of inertia.model into I_f, mu_f and fluid_kinetic of the form. */
cb_status cb_immersed_own_added_mass(cb_immersed_workspace *s);
/* Returns the number of entries of s->face_sum. */
size_t cb_immersed_faces_capacity(const cb_local *l);
/* Adds the terms of a model that acts by faces to term[terms], for the fluid in s->field. Adds the derivative in Y of
 * their sum to jacobian (NULL: not wanted). */
void cb_immersed_faces(cb_immersed_workspace *s, const cb_immersed_model_instance *of, const cb_immersed_moment *m,
                       double (*term)[6], cb_tensor jacobian);
void cb_immersed_place_at(cb_immersed_fluid_sample *out, const double place[3], double density);
cb_status cb_immersed_look(const cb_immersed *b, const cb_immersed_moment *m,
                           cb_immersed_fluid_sample *out); /* finds the fluid at the place out->place */
/* Finds V = X Y - W, the motion of the place `at` relative to the flow. X Y is the twist of the body at this place. W
 * is half the vorticity and the velocity of the flow there. */
void cb_immersed_relative_twist(const cb_immersed_fluid_sample *at, const double Y[6], double V[6]);
/* Functions of the strain of a flow. The first finds the added mass of the body in a flow with strain. The second finds
 * the strain e for the gradient G of the flow. The third finds the derivative of G by component j < 3 of xi, a small
 * rotation of the body. */
cb_status cb_immersed_find_strained(cb_immersed *b);
void cb_immersed_strain_of(const double G[3][3], double e[CB_IMMERSED_STRAINS]);
void cb_immersed_turn_gradient(const double G[3][3], int j, double out[3][3]);
/* Finds dV, the derivative of V = X Y - W (cb_immersed_relative_twist) along component j of xi. */
void cb_immersed_twist_along(const cb_immersed_fluid_sample *at, int j, double dV[6]);
/* Replaces F, a wrench about the place `at`, by X^T F, the same wrench about the body's origin. */
void cb_immersed_carry_back(const cb_immersed_fluid_sample *at, double F[6]);
/* Finds dY = X e_j, the twist at the place `at` if the body has the unit twist e_j. */
void cb_immersed_axis_at(const cb_immersed_fluid_sample *at, int j, double dY[6]);

/* --- results that a workspace keeps --- */
/* Finds s->form, the form at time t, and s->wind, the velocity of a uniform flow. */
cb_status cb_immersed_form_at(cb_immersed_workspace *s, double t);
cb_status cb_immersed_form_create(cb_immersed_workspace *s);
cb_status cb_immersed_vertices(cb_immersed_workspace *s); /* finds x and v of s->form */
cb_status cb_immersed_field_create(cb_immersed_workspace *s);
cb_status cb_immersed_field_at(cb_immersed_workspace *s, double t, const cb_pose *g);
/* Finds s->field.place and, if `corners` is set, s->field.corner. */
void cb_immersed_gather(cb_immersed_workspace *s, bool corners);
void cb_immersed_field_at_faces(cb_immersed_workspace *s);
void cb_immersed_field_as_a_whole(cb_immersed_workspace *s);
void cb_immersed_moment_of(double t, const cb_pose *g, const double Y[6], cb_immersed_moment *out);
bool cb_immersed_is_last(const cb_immersed_last *last, const cb_immersed_moment *m);
void cb_immersed_set_last(cb_immersed_last *last, const cb_immersed_moment *m);
/* Converts the status of a flow, a density or a pose. If a flow or a density has no value, or a pose has no volume, the
 * step is outside the domain of the data, and no shorter step helps. The result is then CB_STEP_DOMAIN. (A wrench of
 * the user or of a model depends on the twist, which depends on the step, so that a shorter step may help.) */
static inline cb_status cb_immersed_given(cb_status status) {
  return status == CB_STEP_NOT_FINITE || status == CB_STEP_SINGULAR ? CB_STEP_DOMAIN : status;
}

/* --- functions that several terms use --- */
/* Drag and linear drag are wrenches 0 and 1 of one term; if only one of them acts, it is wrench 0. These functions
 * return whether wrench i of this term, or the sum of its wrenches (i < 0), contains drag, and linear drag. */
static inline bool cb_immersed_adds_drag(const cb_immersed *b, int i) { return b->drag && i <= 0; }
static inline bool cb_immersed_adds_linear_drag(const cb_immersed *b, int i) {
  return cb_immersed_has_linear_drag(b) && (i < 0 || i == b->drag);
}
int cb_immersed_drags(const cb_immersed *b);
const char *cb_immersed_drag_name(cb_immersed *b, int i);
/* Adds the weight of a mass, which acts at its centre (in the body frame). */
void cb_immersed_weigh(const cb_immersed_workspace *s, const cb_immersed_moment *m, double mass, const double centre[3],
                       double *F, cb_tensor dg);
/* Returns whether `centre`, such as the centre of mass, coincides with the body's origin up to round-off. */
bool cb_immersed_is_central(const cb_immersed_workspace *s, const double centre[3]);
/* Calls cb_immersed_conserves_along for the direction of gravity. */
void cb_immersed_conserves_upright(const cb_immersed *b, cb_immersed_conserved *out);
/* Returns <x, g>, where x is the world position of the point `centre` of the body frame, and g the acceleration of
 * gravity. */
double cb_immersed_height(const cb_immersed *b, const cb_immersed_moment *m, const double centre[3]);
/* Functions of terms with added mass. The first finds the added mass I_f and the momentum mu_f of the fluid for
 * s->field. The second adds them to K and mu0. The third adds the kinetic energy of the fluid. */
cb_status cb_immersed_place_added_mass(cb_immersed_workspace *s);
void cb_immersed_add_inertia(const cb_immersed_workspace *s, const cb_pose *g, double K[6][6], double mu0[6]);
void cb_immersed_add_kinetic(cb_immersed_workspace *s, const cb_immersed_moment *m, double *energy);
/* The first function adds a force at a place of the body, the second one a torque. Both are fixed in the world; f and
 * torque are their components in the body's axes. dg is the derivative along the pose. dg follows from d(R^T a) = R^T
 * a × xi_omega for a vector a that is fixed in the world, the rotation R of the pose, and the angular part xi_omega of
 * xi. */
void cb_immersed_push(const double at[3], const double f[3], double *F, cb_tensor dg);
void cb_immersed_turn(const double torque[3], double *F, cb_tensor dg);

cb_status cb_immersed_impulses_create(cb_immersed_workspace *s);
/* Returns the kinetic energy (1/2) sum rho delta int <velocity relative to the flow, n>^2 dA of the local added mass,
 * for a body that deforms or in a flow that varies. rho, delta and the normal n are those of fluid/local.h. */
double cb_immersed_fluid_energy(cb_immersed_workspace *s, const double Y[6]);
/* Adds jacobian d(Y - U)/dxi to dg, for a change xi of the pose in the body's axes. U is the twist of the flow: the
 * velocity u0 and half the curl of its linear fit u0 + G0 x. The shear (the symmetric part of G0) is assumed to be
 * weak: its change by the rotation of the body is neglected. */
void cb_immersed_carry(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_tensor jacobian, cb_tensor dg);
