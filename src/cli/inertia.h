/* The data that `curvebody inertia` computes and prints. */
#pragma once

#include "fluid/local.h"
#include <curvebody/fluid_model.h>

typedef struct cli_inertia {
  const char *argument;
  const char *space; /* name of the space, if one is given; otherwise NULL */
  double curvature;
  cb_surface *surface;
  bool shape;          /* the surface is a shape of the library, not a mesh */
  int vertices, faces; /* of the given surface; later `surface` is the one on which the added mass was solved */
  double density, thickness, fluid;
  cb_mass mass;
  double moment[3], axis[3][3];
  const char *model;   /* fluid model of the added mass; or "none" */
  cb_added_mass added; /* its matrix K is multiplied by the density of the fluid */
  cb_local_part *part;
} cli_inertia;

void cli_inertia_print(const cli_inertia *f, bool json);

/* Adds the name of the input to the last error message, if the input causes the error and the message has no place yet;
 * messages of CB_ERROR_INPUT have one. Returns CB_ERROR_INPUT after such a change (CB_ERROR_STEP stays), otherwise
 * `status`. */
cb_status cli_inertia_placed(const cli_inertia *f, cb_status status);
/* Computes f->part, the data of the parts in the fluid model `local`, and the added mass K of that model for a fluid of
 * density 1 (NULL: not requested). */
cb_status cli_inertia_parts(cli_inertia *f, double (*K)[6]);
/* Fills model and added from --added-mass NAME[:KEY=VALUE,...]. error: the value of --error; NULL: not given. */
cb_status cli_inertia_added_mass(cli_inertia *f, const char *text, const char *error);

/* Parses the argument NAME:KEY=VALUE,... as `{KEY: VALUE, ...}`, with `more` (NULL: none) at its end. name: the length
 * of NAME. expected: the word for NAME in an error message. The caller frees *out. */
struct cb_tree;
cb_status cli_inertia_map(const char *argument, size_t name, const char *expected, const char *more,
                          struct cb_tree **out);
