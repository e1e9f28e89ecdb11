/* A registry lists the classes of one type (spaces, bodies, integrators ...): first the classes of a folder, then the
 * classes of plugins.
 *
 * CMake writes registry_TYPE.c for a folder, with one line CB_REGISTRY(TYPE, ...). The public list is cb_TYPE_classes,
 * which ends with NULL. Plugins are loaded before other threads are created, and classes are never removed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { CB_REGISTRY_MAX = 128 }; /* maximum number of classes of one type */

typedef struct cb_registry {
  const char *(*name)(size_t i); /* the name of class i; NULL after the last */
  void (*add)(const void *class_);
} cb_registry;

extern const cb_registry cb_space_registry, cb_body_registry, cb_integrator_registry, cb_shape_registry,
    cb_bundle_registry, cb_fluid_model_registry, cb_configurations_registry;
extern const cb_registry cb_fluid_flow_registry, cb_fluid_medium_registry;
extern const cb_registry cb_pair_potential_registry;
extern const cb_registry cb_wall_registry, cb_event_registry;
extern const cb_registry cb_constraint_registry, cb_joint_registry;
extern const cb_registry cb_gait_kind_registry, cb_reduction_registry, cb_sweep_task_registry;

/* Returns the index in cb_TYPE_classes of the class with the name text[length]; if there is none, the index of the
 * final NULL.
 */
static inline size_t cb_registry_find(const cb_registry *r, const char *text, size_t length) {
  size_t i = 0;
  for (const char *name; (name = r->name(i)) && (strlen(name) != length || memcmp(name, text, length));) i++;
  return i;
}

/* Lists the names of all classes and returns their number. */
static inline size_t cb_registry_names(const cb_registry *r, const char *names[CB_REGISTRY_MAX]) {
  size_t n = 0;
  for (const char *name; (name = r->name(n));) names[n++] = name;
  return n;
}

#define CB_REGISTRY(type, ...) CB_REGISTRY_OF(cb_##type##_class, cb_##type##_classes, cb_##type##_registry, __VA_ARGS__)
/* Does the same as CB_REGISTRY. The arguments are the names of the struct of a class, of the public list and of the
 * registry. */
#define CB_REGISTRY_OF(class, list, registry, ...)                                   \
  static const class *classes[CB_REGISTRY_MAX + 1] = {__VA_ARGS__};                  \
  const class *const *const list = classes;                                          \
  static const char *name(size_t i) { return classes[i] ? classes[i]->name : NULL; } \
  static void add(const void *class_) {                                              \
    size_t n = 0;                                                                    \
    while (classes[n]) n++;                                                          \
    classes[n] = class_;                                                             \
  }                                                                                  \
  const cb_registry registry = {name, add}
