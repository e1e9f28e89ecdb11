/* A scenario of bodies in a fluid: what `fluid:` and `bodies:` describe; shared by the files that read them. */
#pragma once

#include "scenario/private.h"
#include "run/fluid.h"

/* Of forces, that add up; list in the scenario's arena. */
typedef struct cb_fluid_models {
  int n;
  cb_fluid_model **list;
} cb_fluid_models;

/* What one entry of `bodies` is: its copies share it. */
typedef struct cb_immersed_kind {
  cb_surface *surface;
  cb_poses *poses;
  cb_fluid_models models;     /* its own; none: those of the fluid */
  cb_fluid_model *added_mass; /* its own; NULL: that of the fluid */
  cb_immersed *body;
} cb_immersed_kind;

typedef struct cb_fluid_scenario {
  cb_fluid fluid;
  cb_medium *medium;
  cb_flow *flow;
  cb_fluid_models models;
  cb_fluid_model *added_mass;
  bool moves;          /* fluid moves along with bodies that do not say */
  size_t n_parameters; /* of every expression */
  const char **parameter;
  double *parameter_value;
  bool lost;             /* a parameter has failed: its value is nan */
  cb_system **potential; /* [n_potentials]: on each entry of `bodies` */
  size_t n_potentials;
  cb_immersed_kind *kind;
  size_t n_kinds;
  cb_body_start *body; /* [n] */
  int n;
} cb_fluid_scenario;

/* `fluid:`, then `bodies:`. */
cb_status cb_scenario_read_fluid(cb_scenario *s, const cb_node *node);
cb_status cb_scenario_read_models(cb_scenario *s, const cb_node *node, cb_fluid_models *out); /* one, or a list */
cb_status cb_scenario_read_added_mass(const cb_node *node, cb_fluid_model **out); /* a name or a map */
/* The same, or true (*moves as it was), false or none; nothing where node is NULL. */
cb_status cb_scenario_read_moving(const cb_node *node, cb_fluid_model **out, bool *moves);
cb_status cb_scenario_read_flow(cb_scenario *s, const cb_node *node);
/* whole: the fluid could be read. */
cb_status cb_scenario_read_immersed(cb_scenario *s, const cb_node *list, bool whole);

/* The parts of a body, from its map: its surface and poses; its copies with their places and motions. */
extern const cb_param cb_immersed_table[], cb_fluid_table[], cb_floor_table[];
typedef struct cb_surface_keys {
  const cb_node *shape, *mesh, *weld, *close, *poses; /* NULL: not given */
  double scale;
} cb_surface_keys;
cb_status cb_scenario_read_surface(cb_scenario *s, const cb_node *body, const cb_surface_keys *keys,
                                   cb_immersed_kind *kind);
cb_status cb_scenario_read_copies(cb_scenario *s, const cb_node *body, const char *name, const cb_node *place,
                                  const cb_node *motion, const cb_node *repeat, const cb_immersed *what);

/* Of those: a shape, a mesh, and a list of both, each at its place. The caller frees mesh and surface. */
cb_status cb_scenario_read_shape(cb_scenario *s, const cb_node *shape, cb_surface **out);
cb_status cb_scenario_read_mesh(cb_scenario *s, const cb_node *file, double scale, const cb_mending *how,
                                cb_mesh **mesh, cb_surface **out);
/* `weld` (true, false or a tolerance in m) and `close` (true, false or a share of the area); NULL: not given. */
cb_status cb_scenario_read_mending(const cb_node *weld, const cb_node *close, double scale, cb_mending *out);
cb_status cb_scenario_read_pieces(cb_scenario *s, const cb_node *list, cb_surface **out);

/* What a body is made of, in the scenario's arena: material, points and lumped of options. */
cb_status cb_scenario_read_matter(cb_scenario *s, const cb_node *body, const cb_surface *surface,
                                  cb_immersed_options *options);
/* `inertial` of a body, in place of points; fails where the body has masses beside it. */
cb_status cb_scenario_read_inertial(cb_scenario *s, const cb_node *body, const cb_node *node,
                                    cb_immersed_options *options);
/* A unit quaternion [w, x, y, z] of such numbers. */
cb_status cb_scenario_quaternion(const cb_scenario *s, const cb_node *node, size_t n, const char *const *named,
                                 const double *x, double q[4]);
/* {x: .., y: .., z: ..} or {parts: [{part: .., x: ..}, ..]} as motions, places[count] where each was written; timed:
 * `period` may stand beside them. */
cb_status cb_scenario_read_motions(cb_scenario *s, const cb_node *node, bool timed, cb_poses_motion **out,
                                   const cb_node ***places, size_t *count);
/* Named numbers, into those of the fluid. */
cb_status cb_scenario_read_parameters(cb_scenario *s, const cb_node *map);

/* An expression of the variables named[n] at x[n] and of the parameters, and a list of three, into out. */
cb_status cb_scenario_number(const cb_scenario *s, const cb_node *node, size_t n, const char *const *named,
                             const double *x, double *out);
cb_status cb_scenario_vector(const cb_scenario *s, const cb_node *list, size_t n, const char *const *named,
                             const double *x, double out[3]);
/* A list of three texts. */
cb_status cb_scenario_texts(const cb_node *list, const char *text[3]);

/* `space` and `potentials` of a scenario of bodies in a fluid. */

/* The space that the fluid fills, one that isometries carry bodies about in. */
cb_status cb_scenario_read_filled(cb_scenario *s, const cb_node *node);
/* What of `fluid`, and of a body, has no meaning in that space. flow and medium were read. */
cb_status cb_scenario_check_filling(const cb_scenario *s, const cb_node *fluid);
cb_status cb_scenario_check_curved_body(const cb_scenario *s, const cb_node *body);
/* Lays the surface by `chart` of its body (NULL: gnomonic). */
cb_status cb_scenario_lay(cb_scenario *s, const cb_node *body, const cb_node *chart, cb_surface *surface);
/* In place: where bodies may be. */
cb_status cb_scenario_check_place(const cb_scenario *s, const cb_node *position, const double x[3]);
/* What the potentials are for each entry of `bodies`, in s->fluid->potential. */
cb_status cb_scenario_read_potentials(cb_scenario *s, const cb_node *potentials, const cb_node *bodies);
/* What a run cannot do there, once its integrator is known. */
cb_status cb_scenario_check_curved_run(const cb_scenario *s);
