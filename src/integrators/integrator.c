/* Making and stepping integrators of every kind. */
#include <curvebody/integrator.h>

#include "core/threads.h"

#include <curvebody/constraint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cb_integrator_class *find(const char *name) {
  for (size_t i = 0; cb_integrator_classes[i]; i++)
    if (!strcmp(cb_integrator_classes[i]->name, name)) return cb_integrator_classes[i];
  return NULL;
}

static cb_status unknown(const char *name, const cb_node *node) {
  enum { MOST = 64 };
  const char *names[MOST];
  size_t count = 0;
  for (; cb_integrator_classes[count] && count < MOST; count++) names[count] = cb_integrator_classes[count]->name;
  const char *near = cb_nearest_name(name, names, count);
  const cb_node *at = cb_node_get(node, "name");
  const char *advice = near ? near : "curvebody list integrators";
  if (at) return cb_node_fail(at, "no integrator `%s`; %s `%s`", name, near ? "did you mean" : "see", advice);
  return cb_fail(CB_ERROR_ARGUMENT, "no integrator `%s`; %s `%s`", name, near ? "did you mean" : "see", advice);
}

typedef enum kind { PARTICLES, BODIES, BUNDLE } kind;

static bool is_for(const cb_integrator_class *class, kind what) {
  return what == PARTICLES ? class->step != NULL
         : what == BODIES  ? class->step_body != NULL
                           : class->step_bundle != NULL;
}

/* Refuses a method of another kind of configuration space, with those that would do. */
static cb_status check_kind(const cb_integrator_class *class, kind what) {
  static const char *const words[] = {"particles in a space", "bodies in a fluid", "gaits in a bundle"};
  if (is_for(class, what)) return CB_OK;
  char names[256] = "";
  for (size_t i = 0, at = 0; cb_integrator_classes[i]; i++) {
    const cb_integrator_class *other = cb_integrator_classes[i];
    if (!is_for(other, what)) continue;
    at += (size_t)snprintf(names + at, sizeof names - at, "%s`%s`", at ? ", " : "", other->name);
    if (at >= sizeof names) break;
  }
  kind own = PARTICLES;
  while (own < BUNDLE && !is_for(class, own)) own++;
  return cb_fail(CB_ERROR_UNSUPPORTED, "integrator `%s` is for %s, not for %s; expected one of %s", class->name,
                 words[own], words[what], names);
}

/* Methods that take the system's constraints, for the advice. */
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
  return cb_fail(CB_ERROR_UNSUPPORTED, "integrator `%s` does not take %s, such as `%s`; expected one of %s",
                 class->name, velocity ? "constraints of velocity" : "constraints",
                 cb_system_constraint_name(system, 0), names);
}

/* Takes params, also when it fails. system: of particles only. */
static cb_status make(const cb_integrator_class *class, void *params, kind what, const cb_system *system,
                      cb_integrator **out) {
  cb_integrator *made = calloc(1, sizeof *made);
  cb_status status = made ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for the integrator `%s`", class->name);
  if (!status) {
    made->class = class;
    made->system = system;
    made->params = params;
    made->worst = made->root = -1;
    status = check_kind(class, what);
  }
  if (!status && system) {
    status = cb_forces_create(system, &made->forces);
    if (!status)
      status =
          cb_forces_set_threads(made->forces, cb_threads_for(SIZE_MAX)); /* each part starts them where it has work */
    if (!status) status = check_constraints(class, system);
  }
  if (!status && class->create) status = class->create(made, params);
  if (status) {
    if (made) cb_forces_free(made->forces);
    free(made);
    free(params);
    return status;
  }
  *out = made;
  return CB_OK;
}

static cb_status create(const char *name, const cb_node *node, kind what, const cb_system *system,
                        cb_integrator **out) {
  static const char *const shared[] = {"name", "step", "retries"};
  const cb_integrator_class *class = find(name);
  if (!class) return unknown(name, node);
  void *params = calloc(1, class->params_size ? class->params_size : 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for the integrator `%s`", name);
  cb_status status = cb_params_bind(class->params, node, node, shared, sizeof shared / sizeof *shared, params);
  if (status) return free(params), status;
  status = make(class, params, what, system, out);
  if (status == CB_ERROR_UNSUPPORTED && node) {
    const cb_node *at = cb_node_get(node, "name");
    status = cb_node_fail(at ? at : node, "%s", cb_error_text());
  }
  return status;
}

cb_status cb_integrator_create(const char *name, const cb_node *node, const cb_system *system, cb_integrator **out) {
  return create(name, node, PARTICLES, system, out);
}

cb_status cb_integrator_create_body(const char *name, const cb_node *node, cb_integrator **out) {
  return create(name, node, BODIES, NULL, out);
}

cb_status cb_integrator_create_bundle(const char *name, const cb_node *node, cb_integrator **out) {
  return create(name, node, BUNDLE, NULL, out);
}

cb_status cb_integrator_like(const cb_integrator *i, const cb_system *system, cb_integrator **out) {
  const size_t size = i->class->params_size ? i->class->params_size : 1;
  void *params = malloc(size);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for the integrator `%s`", i->class->name);
  memcpy(params, i->params, size);
  return make(i->class, params, PARTICLES, system, out);
}

void cb_integrator_free(cb_integrator *i) {
  if (!i) return;
  if (i->class->destroy) i->class->destroy(i);
  cb_forces_free(i->forces);
  free(i->params);
  free(i);
}

cb_status cb_integrator_step(cb_integrator *i, cb_state *state, double h) {
  i->worst = -1;
  return i->class->step(i, state, h);
}

void cb_integrator_reset(cb_integrator *i) {
  if (i->class->reset) i->class->reset(i);
}

void cb_integrator_carry(cb_integrator *i, int component, const cb_isometry *isometry) {
  if (i->class->moved && !cb_system_space(i->system)->chart) /* covectors of a chart move otherwise: start anew */
    i->class->moved(i, component, isometry);
  else
    i->class->reset(i);
}

cb_status cb_integrator_moved(cb_integrator *i, const cb_state *state, int component, const cb_isometry *isometry) {
  const cb_status status = cb_forces_set_origins(i->forces, state->origin);
  if (!status) cb_integrator_carry(i, component, isometry);
  return status;
}
