/* What an immersed body and a swimmer hold, and what the files of immersed.h share.
 *
 * A swimmer keeps what it has last found: the form of the body at a time, the fluid about it at a pose, and the drag at
 * a twist. It all depends on its arguments alone, so that a swimmer made anew finds the same bits.
 */
#pragma once

#include "fluid/immersed.h"
#include "fluid/stroke.h"
#include <curvebody/system.h>

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
  CB_WRENCH_MODEL, /* of fluid models that are not the local one */
  CB_WRENCH_TEXT   /* the user's */
} cb_wrench_kind;

/* Of a face in a curved space: its centre, the flux of Killing fields through it there, its area. */
typedef struct cb_immersed_curved_face {
  double y[4], m[6], area;
} cb_immersed_curved_face;

/* Where potentials are taken of a body: masses of it and of the displaced fluid, kg, at y. */
typedef struct cb_immersed_node {
  double y[4], body, fluid;
} cb_immersed_node;

/* A wrench that is recorded; number: of the models' terms, or of the user's wrenches. */
typedef struct cb_immersed_act {
  cb_wrench_kind kind;
  int number;
} cb_immersed_act;
enum { CB_WRENCH_ALL = -1 }; /* terms of the models */

/* A fluid model whose forces or added mass a body has, and what the model knows of it. */
typedef struct cb_immersed_modelled {
  const cb_fluid_model *model; /* NULL: the local one, or none */
  void *body;
  int first, terms;        /* of the body's terms */
  int first_place, places; /* of the body's places, where it acts at places */
  const double (*at)[3];
} cb_immersed_modelled;

/* The fluid at a place of a model, in the body's axes, and what the model's wrench there, about the place, goes by. */
typedef struct cb_immersed_sense {
  double place[3], density;
  bool off;              /* the origin */
  double W[6];           /* half the vorticity, and the velocity of the flow */
  double gradient[3][3]; /* of that velocity */
  double dF[6][6];
} cb_immersed_sense;

/* What moves along with a part of the body, about its place and in the body's axes (immersed_parts.c). */
typedef struct cb_immersed_moved {
  cb_immersed_sense at;
  double K[6][6];
} cb_immersed_moved;

/* Expressions of wx wy wz vx vy vz, x y z, t: torque, force. */
typedef struct cb_immersed_text {
  const char *name;
  bool world;
  double at[3], w, curvature;  /* the point (x, w) that the force acts at */
  cb_expression *component[6]; /* NULL: 0 */
} cb_immersed_text;

struct cb_immersed {
  cb_arena *arena;
  cb_fluid fluid;
  const cb_surface *surface;
  const cb_poses *poses;
  cb_moving_mass *mass; /* NULL in a curved space */
  double *thickness; /* [parts] */
  double weighed;    /* the mass at t = 0 */
  int closed_faces;  /* of `listed`: faces of closed parts come first, then sheets' */
  int *listed;       /* [faces] */
  bool added_mass;   /* the fluid moves along */
  bool drag;         /* of the local model */
  int n_forces, terms, places;
  cb_immersed_modelled *force; /* [n_forces] of models but the local one, with all terms and places */
  const char **term_name;      /* [terms] */
  bool by_face, by_place;      /* there is a model that acts so */
  cb_immersed_modelled inertia;
  bool by_parts; /* whose added mass moves relative to the flow at its places, flow or density varying */
  bool placed; /* its fluid ends at the plane <x, up> = height */
  double up[3], height;
  cb_added_mass added; /* of inertia.model, at rest: of a rigid body, of one that has a table; far from that plane */
  cb_stroke *stroke;   /* of it along the poses; NULL: found at each time */
  double c_n, c_t;
  double density;           /* of a uniform medium; 0: none, or it varies */
  bool dense;               /* there is a medium */
  bool layered;             /* whose density varies */
  bool carried, varying;    /* there is a flow; it varies with place */
  bool gusty;               /* it varies with time */
  bool pressed;             /* by the pressure of the undisturbed flow */
  bool spread;              /* flow or density may differ from place to place */
  bool relative;            /* the momentum is relative to the flow: K and mu0 have derivatives along the pose */
  bool wet;                 /* the local model has a say */
  bool massive;             /* its parts have mass */
  bool surrounded;          /* by a flow whose pressure acts on it, where it displaces any fluid */
  bool lifted;              /* by the weight of the fluid that it displaces, where it displaces any */
  bool blended;             /* a sequence whose vertices only the local model wants at each step */
  int texts;
  cb_immersed_text *text;
  cb_mass still;                   /* in a curved space */
  cb_immersed_curved_face *curved; /* [faces] there */
  double resistance[6][6];         /* there: linear drag is -resistance Y */
  const cb_system *potential;      /* of 1 kg; NULL: none */
  cb_immersed_node *node;          /* [nodes] */
  int nodes;
  int wrenches;
  cb_immersed_act *act;
  int sums; /* `act` as a step sums it: without those of the Lagrangian, both drags and all terms of models in one */
  cb_immersed_act *sum;
};

/* The body in its own frame at a time. */
typedef struct cb_immersed_form {
  double t;
  bool known;
  const double (*x)[3], (*v)[3]; /* v NULL: at rest; of a blended sequence both NULL until cb_immersed_vertices */
  cb_mass mass;
  double mu_b[6];             /* of the body's own motion */
  double I_f[6][6], mu_f[6];  /* of the fluid, of density 1 where it varies */
  double middle[3], reach[3]; /* the box of the vertices: middle and half its sides; where the density varies */
  double fluid_kinetic;       /* where the body frame is at rest, of inertia.model */
  double volume, moment[3];   /* displaced: of closed parts and of sheets; int x dV */
  double breathing;
} cb_immersed_form;

/* A flow that is the same everywhere, at a time, in the world. */
typedef struct cb_immersed_wind {
  double t;
  bool known;
  double u[3], rate[3];
} cb_immersed_wind;

/* Where it is and how it moves: what wrenches depend on. */
typedef struct cb_immersed_moment {
  double t;
  const cb_pose *g;
  const double *Y;
  double r[3][3];
} cb_immersed_moment;

/* What the fluid takes from the vertices (immersed_relative.c), in the body's axes. */
typedef struct cb_immersed_impulses {
  bool known;             /* of the form, and of a medium of `density` (nan: of faces) */
  double density;
  double (*a)[3];         /* [faces] area vectors */
  double *k, *leak;       /* [faces] rho delta/(12 A); A times the mean normal velocity of the shape */
  double (*Q)[3][6];      /* [vertices] dP/dY */
  double (*P0)[3];        /* [vertices] P at Y = 0 */
  double (*w)[3];         /* [vertices] velocity relative to the flow */
  double momentum[6];     /* of P0 */
} cb_immersed_impulses;

/* What the pressure of the flow weighs vertices by (immersed_pressure.c). */
typedef struct cb_immersed_weight {
  double w, h[3];
} cb_immersed_weight;
typedef struct cb_immersed_apex {
  double x[3];
  int corners;
  cb_immersed_weight weight;
} cb_immersed_apex;
typedef struct cb_immersed_weights {
  bool known; /* as of cb_immersed_impulses */
  double density;
  cb_immersed_weight *vertex; /* [vertices] */
  cb_immersed_apex *apex;     /* [parts] */
} cb_immersed_weights;

/* A wrench and its derivative in Y where it was last found. */
typedef struct cb_immersed_last {
  bool known;
  double t;
  cb_pose g;
  double Y[6], F[6], jacobian[6][6];
} cb_immersed_last;

/* The fluid where the body is, in its axes. Arrays over faces are found where the density is mixed, those over vertices
 * where the flow varies. */
typedef struct cb_immersed_field {
  double t;
  cb_pose g;
  bool known;
  bool mixed;                  /* the density differs over the body */
  double density;              /* where it does not; of parts its mean */
  double density_slope[6];     /* of that mean along the pose */
  double (*place)[3];          /* [vertices], in the world */
  double (*u)[3], (*rate)[3];  /* [vertices] velocity of the flow, and du/dt at a place that is fixed in the world */
  double (*gradient)[3][3];    /* [vertices] */
  bool at_faces, whole;        /* the two that follow are found */
  double (*face_u)[3];         /* [faces] at their centres */
  double u0[3], G0[3][3];      /* the flow as a whole: u0 + G0 x */
  double (*corner)[3][3];      /* [faces] as listed, in the world */
  double *rho, (*slope)[3][3]; /* [faces]; slope of the density in the corners */
  int slopes, *sloped;         /* faces that have one */
  double *listed_rho, (*listed_slope)[3][3], *listed_thickness;
  double I_f[6][6], mu_f[6];   /* of the fluid */
  double along[6][7][7];       /* slope of the form along the pose, where it depends on the place (immersed_wall.c) */
} cb_immersed_field;

struct cb_swimmer {
  const cb_immersed *b;
  cb_arena *arena;
  cb_rigid_problem problem;
  cb_rigid_constant constant; /* of a rigid body in a fluid that is the same everywhere */
  bool outrun;    /* the floor is what pushes: in the world's axes, torque about the body's origin */
  double push[6];
  cb_local *local;
  cb_local_part *part; /* [parts] */
  bool *capped;        /* [parts]: is known */
  double (*x)[3], (*v)[3];
  double (*apex)[3]; /* [poses][parts] of a blended sequence */
  cb_immersed_form form;
  cb_immersed_wind wind;
  cb_immersed_field field;
  cb_immersed_impulses impulses;
  cb_immersed_weights pressure;
  cb_immersed_last dragged, pushed; /* both drags; dL/dg */
  cb_immersed_last modelled; /* all terms of the models together; the derivative of those by face where `sloped` */
  bool sloped;
  double (*term)[6];                /* [terms] of the models, there */
  double (*term_slope)[6][6];       /* [terms] of a model at one of its places */
  cb_immersed_sense *sense;         /* [places] */
  cb_immersed_moved *moved;         /* [inertia.places] of a body by parts */
  double *face_sum;                 /* of blocks of faces (immersed_faces.c) */
  cb_forces *potential;             /* of b->potential */
  cb_immersed_last expected;        /* where drag will be asked for first, as far as the step has said */
};

typedef double (*cb_tensor)[6];

/* --- curved spaces (immersed_curved.c, immersed_potential.c) --- */
/* Checks that the fluid, the surface and the models have a meaning in the space of the fluid. */
cb_status cb_immersed_take_curved(cb_immersed *b);
/* Mass and faces of a rigid body there. */
cb_status cb_immersed_curved_create(cb_immersed *b, const cb_immersed_options *o);
cb_status cb_immersed_curved_form(cb_swimmer *s);
void cb_immersed_curved_drag(const cb_immersed *b, const cb_immersed_moment *m, bool quadratic, bool linear, double *F,
                             cb_tensor dF);
cb_status cb_immersed_potentials_create(cb_immersed *b, const cb_immersed_options *o);
/* factor[0] of the body's masses and factor[1] of the fluid's; F and energy may be NULL. */
cb_status cb_immersed_potentials(cb_swimmer *s, const cb_immersed_moment *m, const double factor[2], double *F,
                                 double *energy);

/* --- the user's wrenches --- */
cb_status cb_immersed_parse(cb_immersed *b, const cb_immersed_options *options, int *which, int *component, size_t *at);
void cb_immersed_free_texts(cb_immersed *b);

/* --- fluid models but the local one --- */
cb_status cb_immersed_choose(cb_immersed *b, const cb_immersed_options *options); /* whose forces and added mass */
cb_status cb_immersed_prepare(cb_immersed *b); /* what the models know of the body; a rigid one's added mass */
/* CB_ERROR_UNSUPPORTED for a model that is of the shape at rest, of a body whose poses move (immersed_rest.c). */
cb_status cb_immersed_check_rest(const cb_immersed *b);
void cb_immersed_release(cb_immersed *b);
cb_status cb_immersed_terms_create(cb_swimmer *s);
/* Added mass of inertia.model, into I_f, mu_f and fluid_kinetic of the form. */
cb_status cb_immersed_own_added_mass(const cb_immersed *b, cb_immersed_form *f);
/* The terms of a model by faces, and if wanted the derivative of their sum, where the field of s is. */
size_t cb_immersed_faces_room(const cb_immersed *b, const cb_local *l); /* numbers of s->face_sum */
void cb_immersed_faces(cb_swimmer *s, const cb_immersed_modelled *of, const cb_immersed_moment *m, double (*term)[6],
                       cb_tensor jacobian);
/* The same at the places of a model; the derivatives stay there, and are added up along the pose or in the twist. */
cb_status cb_immersed_twists(cb_swimmer *s, const cb_immersed_modelled *of, const cb_immersed_moment *m,
                             double (*term)[6], bool slopes);
/* The sum of the terms alone. */
cb_status cb_immersed_add_twists(cb_swimmer *s, const cb_immersed_modelled *of, const cb_immersed_moment *m,
                                 double F[6]);
void cb_immersed_place_at(cb_immersed_sense *out, const double place[3], double density);
cb_status cb_immersed_look(const cb_immersed *b, const cb_immersed_moment *m, cb_immersed_sense *out); /* the fluid */
void cb_immersed_relative_twist(const cb_immersed_sense *at, const double Y[6], double V[6]);          /* X Y - W */
void cb_immersed_twist_along(const cb_immersed_sense *at, int j, double dV[6]);                        /* dV/dxi_j */
void cb_immersed_carry_back(const cb_immersed_sense *at, double F[6]); /* F becomes X^T F */
void cb_immersed_twist_slopes(const cb_swimmer *s, cb_tensor dF, cb_tensor dg);

/* --- what a swimmer finds --- */
cb_status cb_immersed_form_at(cb_swimmer *s, double t); /* and the wind */
cb_status cb_immersed_form_create(cb_swimmer *s);
cb_status cb_immersed_vertices(cb_swimmer *s); /* x and v of the form */
cb_status cb_immersed_field_create(cb_swimmer *s);
cb_status cb_immersed_field_at(cb_swimmer *s, double t, const cb_pose *g);
cb_status cb_immersed_place(cb_swimmer *s);           /* I_f, mu_f and slope of the field, where it is */
void cb_immersed_gather(cb_swimmer *s, bool corners); /* place, and corner */
void cb_immersed_field_at_faces(cb_swimmer *s);
void cb_immersed_field_as_a_whole(cb_swimmer *s);
void cb_immersed_moment_of(double t, const cb_pose *g, const double Y[6], cb_immersed_moment *out);
bool cb_immersed_is_last(const cb_immersed_last *last, const cb_immersed_moment *m);
void cb_immersed_set_last(cb_immersed_last *last, const cb_immersed_moment *m);
bool cb_immersed_has(const cb_immersed *b, cb_wrench_kind kind);

/* --- wrenches: each adds to F, dF/dY and dF/dxi along g (1 + hat(xi)), of which any may be NULL --- */
cb_status cb_immersed_wrench(cb_swimmer *s, cb_immersed_act act, const cb_immersed_moment *m, double *F, cb_tensor dF,
                             cb_tensor dg);
cb_status cb_immersed_flow(cb_swimmer *s, const cb_immersed_moment *m, double *F, cb_tensor dF, cb_tensor dg);
cb_status cb_immersed_take_wall(cb_immersed *b); /* of inertia.model */
cb_status cb_immersed_wall(cb_swimmer *s, const cb_immersed_moment *m, double *F, cb_tensor dF, cb_tensor dg);
cb_status cb_immersed_pressure_create(cb_swimmer *s);
cb_status cb_immersed_pressure(cb_swimmer *s, const cb_immersed_moment *m, double *F, cb_tensor dg);
void cb_immersed_gravity(cb_swimmer *s, const cb_immersed_moment *m, double *F, cb_tensor dg);
cb_status cb_immersed_buoyancy(cb_swimmer *s, const cb_immersed_moment *m, double *F, cb_tensor dg);
/* A term adds to F alone. */
cb_status cb_immersed_models(cb_swimmer *s, int term, const cb_immersed_moment *m, double *F, cb_tensor dF,
                             cb_tensor dg);
cb_status cb_immersed_drag(cb_swimmer *s, const cb_immersed_moment *m, bool quadratic, bool linear, double *F,
                           cb_tensor dF, cb_tensor dg);
void cb_immersed_floor(cb_swimmer *s, const cb_immersed_moment *m, double *F, cb_tensor dF, cb_tensor dg);
cb_status cb_immersed_text_wrench(cb_swimmer *s, const cb_immersed_text *text, const cb_immersed_moment *m, double *F,
                                  cb_tensor dF, cb_tensor dg);
/* A force that is fixed in the world, f in the body's axes, at a place of the body; d(R^T a) = R^T a × xi_omega. */
void cb_immersed_push(const double at[3], const double f[3], double *F, cb_tensor dg);

/* Added mass of parts: I_f, mu_f and the density of the field; then dL/dxi, and the energy. */
cb_status cb_immersed_parts_create(cb_swimmer *s);
cb_status cb_immersed_parts(cb_swimmer *s, const cb_immersed_moment *m);
void cb_immersed_parts_wrench(const cb_swimmer *s, const double Y[6], double *F, cb_tensor dF);
double cb_immersed_parts_energy(const cb_swimmer *s, const double Y[6]);

/* Momentum of the fluid but I_f Y, where it is relative to the flow or the density varies; and I_f. */
cb_status cb_immersed_fluid(cb_swimmer *s, double t, const cb_pose *g, double I_f[6][6], double mu_f[6]);
/* The same by vertices, at the field of s; dF may be NULL. */
cb_status cb_immersed_impulses_create(cb_swimmer *s);
void cb_immersed_impulses_of_shape(cb_swimmer *s);
void cb_immersed_impulses_of_flow(cb_swimmer *s);
/* (1/2) sum (k/rho) s_c S_c q (immersed_relative.c) and its derivative in Y. */
void cb_immersed_add_density(cb_swimmer *s, const double Y[6], double F[6], cb_tensor dF);
void cb_immersed_relative(cb_swimmer *s, const double Y[6], double F[6], cb_tensor dF);
void cb_immersed_relative_turning(cb_swimmer *s, const double Y[6], cb_tensor dg);
/* (1/2) sum rho <velocity relative to the flow, n>^2, of a body that deforms or in a fluid that varies. */
double cb_immersed_fluid_energy(cb_swimmer *s, const double Y[6]);
/* dg += jacobian dY/dxi, where Y - U changes as in a flow u0 + G0 x that shears weakly. */
void cb_immersed_carry(cb_swimmer *s, const cb_immersed_moment *m, const cb_tensor jacobian, cb_tensor dg);
cb_status cb_immersed_potential(cb_swimmer *s, const cb_immersed_moment *m, double *potential);
