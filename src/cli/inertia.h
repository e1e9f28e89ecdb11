/* What `curvebody inertia` finds and prints. */
#pragma once

#include "fluid/local.h"
#include <curvebody/fluid_model.h>

typedef struct cb_inertia {
  const char *word;
  const char *space; /* its name, where one is given; NULL */
  double curvature;
  cb_surface *surface;
  bool shape;          /* made by the code */
  int vertices, faces; /* as it was given; the surface is then that which was solved */
  double density, thickness, fluid;
  cb_mass mass;
  double moment[3], axis[3][3];
  const char *model;   /* of the added mass; "none" */
  cb_added_mass added; /* times the density of the fluid */
  cb_local_part *part;
} cb_inertia;

void cb_inertia_print(const cb_inertia *f, bool json);

/* A failure of what was read, with its name in front. */
cb_status cb_inertia_placed(const cb_inertia *f, cb_status status);
/* The parts, as the local model sees them, and its added mass (NULL: not wanted). */
cb_status cb_inertia_parts(cb_inertia *f, double (*K)[6]);
/* --added-mass NAME[:KEY=VALUE,...] with --error (NULL: not given): fills model and added. error: of text. */
cb_status cb_inertia_added_mass(cb_inertia *f, const char *text, const char *error);

/* `{KEY: VALUE, ...}` of the word NAME:KEY=VALUE,..., with `more` (NULL: none) at its end; expected: what to say of a
 * word that is not so. The caller frees. */
struct cb_tree;
cb_status cb_inertia_map(const char *word, size_t name, const char *expected, const char *more, struct cb_tree **out);
