/* Plugins: shared objects with classes of the user's own, loaded with `curvebody --plugin FILE.so COMMAND ...`.
 *
 * For authors of spaces, integrators, bundles, fluid models, flows, media, pair potentials, constraints, walls, events,
 * kinds of gaits, reductions, bodies, shapes and configuration spaces. A plugin is one C or C++ file with classes like
 * those in the files of geometries/, integrators/, bodies/, and one line:
 *
 *     #include <curvebody/plugin.h>
 *     static const cb_space_class my_space = {...};
 *     static const cb_integrator_class my_integrator = {...};
 *     CB_PLUGIN(CB_PLUGIN_SPACE(&my_space), CB_PLUGIN_INTEGRATOR(&my_integrator));
 *
 *     cc -shared -fPIC $(pkg-config --cflags curvebody) my.c -o my.so
 *
 * A plugin needs only the headers <curvebody/...>. It calls the library functions of the program that loads the plugin.
 * Its classes are added to the lists (cb_space_classes, ...) after the built-in classes, and are also found by name.
 */
#ifndef CURVEBODY_PLUGIN_H
#define CURVEBODY_PLUGIN_H

#include <curvebody/body.h>
#include <curvebody/bundle.h>
#include <curvebody/bundle_path.h>
#include <curvebody/constraint.h>
#include <curvebody/flow.h>
#include <curvebody/configuration.h>
#include <curvebody/contact.h>
#include <curvebody/fluid_model.h>
#include <curvebody/space.h>
#include <curvebody/integrator.h>
#include <curvebody/joint.h>
#include <curvebody/medium.h>
#include <curvebody/pair_potential.h>
#include <curvebody/rigid.h>
#include <curvebody/gait_kind.h>
#include <curvebody/reduction.h>
#include <curvebody/surface.h>

CB_API_BEGIN

enum { CB_PLUGIN_VERSION = 4 };

typedef enum cb_plugin_kind {
  CB_PLUGIN_IS_SPACE,
  CB_PLUGIN_IS_INTEGRATOR,
  CB_PLUGIN_IS_BUNDLE,
  CB_PLUGIN_IS_BODY,
  CB_PLUGIN_IS_SHAPE,
  CB_PLUGIN_IS_FLUID_MODEL,
  CB_PLUGIN_IS_FLOW,
  CB_PLUGIN_IS_MEDIUM,
  CB_PLUGIN_IS_PAIR_POTENTIAL,
  CB_PLUGIN_IS_CONFIGURATION,
  CB_PLUGIN_IS_WALL,
  CB_PLUGIN_IS_EVENT,
  CB_PLUGIN_IS_CONSTRAINT,
  CB_PLUGIN_IS_GAIT,
  CB_PLUGIN_IS_REDUCTION,
  CB_PLUGIN_IS_JOINT
} cb_plugin_kind;

typedef struct cb_plugin_class {
  cb_plugin_kind kind;
  /* the sum of the sizes of the structs that the class shares with the library, in the headers of the plugin */
  size_t size;
  const void *of; /* the class: address of a cb_space_class, cb_integrator_class, ... */
} cb_plugin_class;

/* The object that a plugin exports under the name curvebody_plugin. */
typedef struct cb_plugin {
  int version;                    /* CB_PLUGIN_VERSION of the headers with which the plugin was compiled */
  const cb_plugin_class *classes; /* ended by an entry whose member `of` is NULL */
} cb_plugin;

#define CB_PLUGIN_SIZE_SPACE (sizeof(cb_space_class) + sizeof(cb_space) + sizeof(cb_chart))
#define CB_PLUGIN_SIZE_INTEGRATOR                                                                     \
  (sizeof(cb_integrator_class) + sizeof(cb_integrator) + sizeof(cb_state) + sizeof(cb_bundle_state) + \
   sizeof(cb_rigid_state) + sizeof(cb_rigid_problem))
#define CB_PLUGIN_SIZE_BUNDLE (sizeof(cb_bundle_class) + sizeof(cb_bundle) + sizeof(cb_jet) + sizeof(cb_group))
#define CB_PLUGIN_SIZE_BODY sizeof(cb_body_class)
#define CB_PLUGIN_SIZE_SHAPE (sizeof(cb_shape_class) + sizeof(cb_surface))
#define CB_PLUGIN_SIZE_FLUID_MODEL                                                                         \
  (sizeof(cb_fluid_model_class) + sizeof(cb_fluid_model) + sizeof(cb_fluid_face) + sizeof(cb_added_mass) + \
   sizeof(cb_surface) + sizeof(cb_mass))
#define CB_PLUGIN_SIZE_FLOW                                                                              \
  (sizeof(cb_fluid_flow_class) + sizeof(cb_flow_point) + sizeof(cb_flow_block) + sizeof(cb_flow_facts) + \
   sizeof(cb_flow_grid) + sizeof(cb_jet))
#define CB_PLUGIN_SIZE_MEDIUM (sizeof(cb_fluid_medium_class) + sizeof(cb_medium_facts) + sizeof(cb_jet))
#define CB_PLUGIN_SIZE_PAIR_POTENTIAL (sizeof(cb_pair_potential_class) + sizeof(cb_pair) + sizeof(cb_jet))
#define CB_PLUGIN_SIZE_CONFIGURATION \
  (sizeof(cb_configuration) + sizeof(cb_motion) + sizeof(cb_observable) + sizeof(cb_run_options))
#define CB_PLUGIN_SIZE_WALL (sizeof(cb_wall_class) + sizeof(cb_jet))
#define CB_PLUGIN_SIZE_EVENT (sizeof(cb_event_class) + sizeof(cb_jet))
#define CB_PLUGIN_SIZE_CONSTRAINT \
  (sizeof(cb_constraint_class) + sizeof(cb_constraint_entry) + sizeof(cb_jet) + sizeof(cb_space))
#define CB_PLUGIN_SIZE_GAIT (sizeof(cb_gait_kind_class) + sizeof(cb_bundle))
#define CB_PLUGIN_SIZE_REDUCTION sizeof(cb_reduction_class)
#define CB_PLUGIN_SIZE_JOINT \
  (sizeof(cb_joint_class) + sizeof(cb_joint_motion) + sizeof(cb_joint_data) + sizeof(cb_pose))

/* The arguments of CB_PLUGIN. Each macro makes one from the address of a class. If the class has another type, the
 * compiler gives a warning or an error. */
#define CB_PLUGIN_SPACE(c) CB_PLUGIN_CLASS(SPACE, cb_space_class, c)
#define CB_PLUGIN_INTEGRATOR(c) CB_PLUGIN_CLASS(INTEGRATOR, cb_integrator_class, c)
#define CB_PLUGIN_BUNDLE(c) CB_PLUGIN_CLASS(BUNDLE, cb_bundle_class, c)
#define CB_PLUGIN_BODY(c) CB_PLUGIN_CLASS(BODY, cb_body_class, c)
#define CB_PLUGIN_SHAPE(c) CB_PLUGIN_CLASS(SHAPE, cb_shape_class, c)
#define CB_PLUGIN_FLUID_MODEL(c) CB_PLUGIN_CLASS(FLUID_MODEL, cb_fluid_model_class, c)
#define CB_PLUGIN_FLOW(c) CB_PLUGIN_CLASS(FLOW, cb_fluid_flow_class, c)
#define CB_PLUGIN_MEDIUM(c) CB_PLUGIN_CLASS(MEDIUM, cb_fluid_medium_class, c)
#define CB_PLUGIN_PAIR_POTENTIAL(c) CB_PLUGIN_CLASS(PAIR_POTENTIAL, cb_pair_potential_class, c)
#define CB_PLUGIN_CONFIGURATION(c) CB_PLUGIN_CLASS(CONFIGURATION, cb_configuration, c)
#define CB_PLUGIN_WALL(c) CB_PLUGIN_CLASS(WALL, cb_wall_class, c)
#define CB_PLUGIN_EVENT(c) CB_PLUGIN_CLASS(EVENT, cb_event_class, c)
#define CB_PLUGIN_CONSTRAINT(c) CB_PLUGIN_CLASS(CONSTRAINT, cb_constraint_class, c)
#define CB_PLUGIN_GAIT(c) CB_PLUGIN_CLASS(GAIT, cb_gait_kind_class, c)
#define CB_PLUGIN_REDUCTION(c) CB_PLUGIN_CLASS(REDUCTION, cb_reduction_class, c)
#define CB_PLUGIN_JOINT(c) CB_PLUGIN_CLASS(JOINT, cb_joint_class, c)
#define CB_PLUGIN_CLASS(kind, type, c) \
  { CB_PLUGIN_IS_##kind, CB_PLUGIN_SIZE_##kind, 1 ? (c) : (const type *)0 }

#define CB_PLUGIN(...)                                                                          \
  static const cb_plugin_class cb_plugin_classes[] = {__VA_ARGS__, {CB_PLUGIN_IS_SPACE, 0, 0}}; \
  CB_API_BEGIN                                                                                  \
  extern const cb_plugin curvebody_plugin;                                                      \
  CB_API_END                                                                                    \
  const cb_plugin curvebody_plugin = {CB_PLUGIN_VERSION, cb_plugin_classes}

/* Loads the plugin in the file `path`, for the rest of the process. Call the function before other threads are made.
 * CB_ERROR_FILE if the file cannot be loaded. CB_ERROR_INPUT if the file is not a plugin, was made with other headers,
 * or has a class with a missing member or with a name that is already used. On failure no class of the plugin is
 * added. */
cb_status cb_plugin_load(const char *path);

/* Returns the version of the library that is loaded; static memory. A program or a plugin that was compiled with the
 * headers of another version has another CB_VERSION. */
const char *cb_version(void);

CB_API_END
#endif
