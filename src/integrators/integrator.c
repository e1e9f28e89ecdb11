/* Creates integrators of every class and makes their steps. */
#include <curvebody/integrator.h>

#include "integrators/shapes.h"
#include "tree/scalar.h"
#include "core/threads.h"

#include <curvebody/constraint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double *cb_composition_of_order_4(int *count) {
#define P 0.41449077179437573714
  static const double steps[] = {P, P, 1 - 4 * P, P, P};
#undef P
  *count = sizeof steps / sizeof *steps;
  return steps;
}

static bool is_posed(const cb_problem *problem, const cb_problem *const *posed) {
  while (*posed && *posed != problem) posed++;
  return *posed;
}

/* Returns the class, or another class of the same name, that solves a posed problem; NULL if there is none. */
static const cb_integrator_class *solver_of(const cb_integrator_class *class, const cb_problem *const *posed) {
  while (class && !is_posed(class->solves, posed)) class = class->other;
  return class;
}

/* Fails if the integrator solves none of the posed problems. The message lists the integrators that solve one. */
static cb_status check_problem(const cb_integrator_class *class, const cb_problem *const *posed) {
  if (solver_of(class, posed)) return CB_OK;
  char names[256] = "";
  for (size_t i = 0, at = 0; cb_integrator_classes[i]; i++) {
    const cb_integrator_class *other = cb_integrator_classes[i];
    if (!solver_of(other, posed)) continue;
    at += (size_t)snprintf(names + at, sizeof names - at, "%s`%s`", at ? ", " : "", other->name);
    if (at >= sizeof names) break;
  }
  return cb_fail(CB_ERROR_UNSUPPORTED, "integrator `%s` is for %s, not for %s; expected one of %s", class->name,
                 class->solves->text, posed[0]->text, names);
}

/* Fails for an integrator that cannot handle the constraints of the system; the message lists those that can. */
static cb_status check_constraints(const cb_integrator_class *class, const cb_system *system) {
  const int velocity = cb_system_velocity_constraints(system), rows = cb_system_constraints(system);
  const bool refused =
      (rows > velocity && !class->takes_constraints) || (velocity && !class->takes_velocity_constraints);
  if (!refused) return CB_OK;
  char names[256] = "";
  for (size_t i = 0, at = 0; cb_integrator_classes[i]; i++) {
    const cb_integrator_class *other = cb_integrator_classes[i];
    if ((rows > velocity && !other->takes_constraints) || (velocity && !other->takes_velocity_constraints)) continue;
    at += (size_t)snprintf(names + at, sizeof names - at, "%s`%s`", at ? ", " : "", other->name);
    if (at >= sizeof names) break;
  }
  return cb_fail(CB_ERROR_UNSUPPORTED, "integrator `%s` does not support %s, such as `%s`; expected one of %s",
                 class->name, velocity ? "velocity constraints" : "constraints", cb_system_constraint_name(system, 0),
                 names);
}

/* Creates the forces of a Hamiltonian system, with the number of threads of the process. Also checks that the
 * integrator can handle the constraints of the system. */
static cb_status make_forces(cb_integrator *i) {
  i->system = i->problem;
  cb_status status = cb_forces_create(i->system, &i->forces);
  if (!status) status = cb_forces_set_threads(i->forces, cb_threads_for(SIZE_MAX));
  return status ? status : check_constraints(i->class_, i->system);
}

const cb_problem cb_problem_hamiltonian = {"Hamiltonian systems", make_forces},
                 cb_problem_lie_group = {"equations on a Lie group", NULL},
                 cb_problem_discrete_lagrangian = {"discrete Lagrangians on a Lie group", NULL},
                 cb_problem_group_path = {"paths in a group", NULL},
                 cb_problem_shapes_with_inertia = {"shapes with inertia", NULL},
                 cb_problem_shapes_with_drag = {"shapes with drag", NULL};

/* Makes an integrator. Takes ownership of params, even if it fails. */
static cb_status make(const cb_integrator_class *class, void *params, const void *problem, cb_integrator **out) {
  cb_integrator *made = calloc(1, sizeof *made);
  if (!made) {
    free(params);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the integrator `%s`", class->name);
  }
  *made = (cb_integrator){.class_ = class, .problem = problem, .params = params, .failed_particle = -1};
  cb_status status = class->solves->prepare ? class->solves->prepare(made) : CB_OK;
  if (!status && class->create) status = class->create(made, params);
  if (!made->solver) made->solver = "explicit";
  if (status) {
    cb_forces_free(made->forces);
    free(made);
    free(params);
    return status;
  }
  *out = made;
  return CB_OK;
}

cb_status cb_integrator_create_class(const cb_integrator_class *named, const cb_node *node,
                                     const cb_problem *const *posed, const void *problem, cb_integrator **out) {
  static const char *const shared[] = {"name", "step", "retries"};
  const cb_integrator_class *solver = solver_of(named, posed), *class = solver ? solver : named;
  void *params = calloc(1, class->params_size ? class->params_size : 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for the integrator `%s`", class->name);
  cb_status status = cb_params_bind(class->params, node, node, shared, sizeof shared / sizeof *shared, params);
  if (!status) status = check_problem(class, posed);
  if (status)
    free(params);
  else
    status = make(class, params, problem, out);
  if (status == CB_ERROR_UNSUPPORTED && node) {
    const cb_node *at = cb_node_get(node, "name");
    status = cb_node_fail(at ? at : node, "%s", cb_error_text());
  }
  return status;
}

cb_status cb_integrator_create_for(const char *name, const cb_node *node, const cb_problem *const *posed,
                                   const void *problem, cb_integrator **out) {
  const cb_integrator_class *c = cb_integrator_classes[cb_registry_find(&cb_integrator_registry, name, strlen(name))];
  return c ? cb_integrator_create_class(c, node, posed, problem, out)
           : cb_fail_no_class(node, "integrator", name, &cb_integrator_registry);
}

cb_status cb_integrator_create(const char *name, const cb_node *node, const cb_system *system, cb_integrator **out) {
  static const cb_problem *const posed[] = {&cb_problem_hamiltonian, NULL};
  return cb_integrator_create_for(name, node, posed, system, out);
}

cb_status cb_integrator_like(const cb_integrator *i, const void *problem, cb_integrator **out) {
  const size_t size = i->class_->params_size ? i->class_->params_size : 1;
  void *params = malloc(size);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for the integrator `%s`", i->class_->name);
  memcpy(params, i->params, size);
  return make(i->class_, params, problem, out);
}

void cb_integrator_free(cb_integrator *i) {
  if (!i) return;
  if (i->class_->destroy) i->class_->destroy(i);
  cb_forces_free(i->forces);
  free(i->params);
  free(i);
}

const double *cb_integrator_substeps(const cb_integrator *i, int *count) {
  static const double one = 1;
  *count = i->substeps > 0 ? i->substeps : 1;
  return i->substeps > 0 ? i->substep : &one;
}

cb_status cb_integrator_substep(cb_integrator *i, void *state, double h) {
  i->failed_particle = -1;
  return i->class_->step(i, state, h);
}

cb_status cb_integrator_step(cb_integrator *i, void *state, double h) {
  int count;
  const double *part = cb_integrator_substeps(i, &count);
  cb_status status = CB_OK;
  for (int k = 0; k < count && !status; k++) status = cb_integrator_substep(i, state, part[k] * h);
  return status;
}

void cb_integrator_reset(cb_integrator *i) {
  if (i->class_->reset) i->class_->reset(i);
}

void cb_integrator_carry(cb_integrator *i, int component, const cb_isometry *isometry) {
  if (i->class_->moved && !cb_system_space(i->system)
                               /* covectors of a chart transform differently, so that the integrator restarts */
                               ->chart)
    i->class_->moved(i, component, isometry);
  else
    cb_integrator_reset(i);
}

cb_status cb_integrator_moved(cb_integrator *i, const cb_state *state, int component, const cb_isometry *isometry) {
  const cb_status status = cb_forces_set_origins(i->forces, state->origin);
  if (!status) cb_integrator_carry(i, component, isometry);
  return status;
}
