/* Bundles of bodies in a fluid, for the tests. */
#pragma once

#include <curvebody/holonomy.h>
#include "fluid/immersed_bundle.h"
#include "immersed.h"
#include "yaml/yaml.h"

static const char *const ab[2] = {"a", "b"};
/* A motion with two modes that have no common symmetry; A and B are the texts of the amplitudes of the modes. */
#define MODES(A, B)                                                                                        \
  {                                                                                                        \
    NULL, { "X + 0.1*" B "*Z", "Y + " A "*X^2 + 0.3*" B "*X*Z", "Z + 0.2*" A "*X*Y + " B "*(X^2 - 0.05)" } \
  }

/* Creates the bundle of a tank's body in a fluid of this density, with n shape variables and one motion. The tank still
 * owns the surface. */
static inline cb_bundle *bundle_of(tank *k, double density, int n, const char *const *names,
                                   const cb_poses_motion *motion) {
  cb_shape_surface *shape;
  cb_bundle *b;
  check_ok(cb_shape_surface_expressions(k->surface, n, names, 1, motion, &shape));
  const cb_immersed_bundle_options options = {.material = k->material,
                                              .n_points = k->options.n_points,
                                              .points = k->options.points,
                                              .lumped = k->options.lumped,
                                              .density = density};
  check_ok(cb_bundle_immersed_take(shape, &options, &b));
  return b;
}

static inline tank ellipsoid(double density) {
  mesh m = mesh_ellipsoid(3, 0.5, 0.2, 0.15);
  uint64_t seed = 7;
  mesh_shake(&m, &seed, 0.01);
  return tank_of(m, density, 0);
}

/* Joins two closed meshes into one mesh with two parts, and frees both. */
static inline mesh two_bodies(mesh a, mesh b) {
  mesh both = mesh_room(a.vertices + b.vertices, a.faces + b.faces);
  mesh one[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    const mesh m = one[i];
    const int first = both.vertices;
    for (int j = 0; j < m.vertices; j++) mesh_vertex(&both, m.x[j][0], m.x[j][1], m.x[j][2]);
    for (int j = 0; j < m.faces; j++) {
      both.part[both.faces] = i;
      mesh_face(&both, first + m.face[j][0], first + m.face[j][1], first + m.face[j][2]);
    }
    free(m.x);
    free(m.face);
    free(m.part);
  }
  return both;
}

/* Creates the fluid model `exact` with parameters in YAML. */
static inline cb_fluid_model *exact_of(const char *parameters) {
  cb_fluid_model *m;
  cb_tree *tree;
  char text[160];
  /* `refine: false`, so that all compared results are for the same faces */
  snprintf(text, sizeof text, "{refine: false%s%s", parameters[1] == '}' ? "" : ", ", parameters + 1);
  check_ok(cb_yaml_read_text("parameters", text, strlen(text), &tree));
  check_ok(cb_fluid_model_create("exact", cb_tree_root(tree), &m));
  cb_tree_free(tree);
  return m;
}
