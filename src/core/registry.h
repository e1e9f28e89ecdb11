/* The registries: the classes of one kind, those of the files of one folder first, then those of plugins.
 *
 * CMake makes registry_TYPE.c of a folder, with one line CB_REGISTRY(TYPE, ...). What is public is the list
 * cb_TYPE_classes, ended by NULL. Plugins are loaded before other threads are made; nothing is ever taken away. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { CB_REGISTRY_MOST = 128 }; /* classes of one kind */

typedef struct cb_registry {
  const char *(*name)(size_t i); /* of class i; NULL behind the last */
  void (*add)(const void *class_);
} cb_registry;

extern const cb_registry cb_geometry_registry, cb_body_registry, cb_integrator_registry, cb_shape_registry,
    cb_bundle_registry, cb_fluid_model_registry;

/* The class named by text[length]: its place in cb_TYPE_classes; that of the NULL behind the last, if there is none. */
static inline size_t cb_registry_find(const cb_registry *r, const char *text, size_t length) {
  size_t i = 0;
  for (const char *name; (name = r->name(i)) && (strlen(name) != length || memcmp(name, text, length));) i++;
  return i;
}

/* The names of all, and how many they are. */
static inline size_t cb_registry_names(const cb_registry *r, const char *names[CB_REGISTRY_MOST]) {
  size_t n = 0;
  for (const char *name; (name = r->name(n));) names[n++] = name;
  return n;
}

#define CB_REGISTRY(type, ...)                                                                           \
  static const cb_##type##_class *classes[CB_REGISTRY_MOST + 1] = {__VA_ARGS__};                          \
  const cb_##type##_class *const *const cb_##type##_classes = classes;                                    \
  static const char *name(size_t i) { return classes[i] ? classes[i]->name : NULL; }                      \
  static void add(const void *class_) {                                                                   \
    size_t n = 0;                                                                                         \
    while (classes[n]) n++;                                                                               \
    classes[n] = class_;                                                                                  \
  }                                                                                                       \
  const cb_registry cb_##type##_registry = {name, add}
