/* A body with given mass properties that falls in a fluid under MuJoCo's models. */
#pragma once

#include "check.h"
#include "numerics/vec3.h"
#include <curvebody/immersed.h>
#include <curvebody/integrator.h>

typedef struct faller {
  const char *name, *model, *parameters;
  double rho, mass, I[3]; /* I: moments of inertia per unit mass */
} faller;

typedef struct fall {
  cb_tree *tree;
  cb_fluid_model *model;
  cb_surface *surface;
  cb_medium *medium;
  cb_fluid fluid;
  cb_immersed *body;
  cb_immersed_workspace *workspace;
  cb_integrator *method;
  cb_rigid_state state;
} fall;

static inline void fall_begin(fall *f, const faller *b, const char *method, const double *start) {
  *f = (fall){.surface = NULL};
  cb_tree *ball;
  check_ok(cb_tree_read("shape", "{resolution: 8}", &ball));
  check_ok(cb_shape_create("ellipsoid", cb_tree_root(ball), &f->surface));
  cb_tree_free(ball);
  check_ok(cb_tree_read("parameters", b->parameters, &f->tree));
  check_ok(cb_fluid_model_create(b->model, cb_tree_root(f->tree), &f->model));
  check_ok(cb_medium_uniform(b->rho, &f->medium));
  f->fluid = (cb_fluid){.medium = f->medium, .n_models = 1, .gravity = {0, 0, -9.81}};
  cb_point_mass whole = {.mass = b->mass, .vertex = -1};
  for (int i = 0; i < 3; i++) whole.inertia[i][i] = b->mass * b->I[i];
  const cb_material none = {0, 0};
  f->fluid.models = (const cb_fluid_model *const *)&f->model;
  const cb_immersed_options options = {
      .material = &none, .n_points = 1, .points = &whole, .drag = true, .no_buoyancy = true};
  check_ok(cb_immersed_create(&f->fluid, f->surface, NULL, &options, NULL, NULL, NULL, &f->body));
  check_ok(cb_immersed_workspace_create(f->body, &f->workspace));
  check_ok(cb_integrator_create_for(
      method, NULL, (const cb_problem *const[]){&cb_problem_discrete_lagrangian, &cb_problem_lie_group, NULL},
      cb_immersed_workspace_problem(f->workspace), &f->method));
  cb_pose g;
  double r[3][3], Y[6];
  memcpy(g.x, start, sizeof g.x);
  memcpy(g.q, start + 3, sizeof g.q);
  cb_quaternion_project(g.q);
  cb_pose_rotation(&g, r);
  memcpy(Y, start + 10, 3 * sizeof *Y);
  cb_apply3_transposed(r, start + 7, Y + 3);
  check_ok(cb_rigid_start(cb_immersed_workspace_problem(f->workspace), 0, &g, Y, &f->state));
}

static inline void fall_end(fall *f) {
  cb_integrator_free(f->method);
  cb_immersed_workspace_free(f->workspace);
  cb_immersed_free(f->body);
  cb_medium_free(f->medium);
  cb_fluid_model_free(f->model);
  cb_tree_free(f->tree);
  cb_surface_free(f->surface);
}

static inline void fall_by(fall *f, double time, int steps) {
  for (int n = 0; n < steps; n++) check_ok(cb_integrator_step(f->method, &f->state, time / steps));
}
