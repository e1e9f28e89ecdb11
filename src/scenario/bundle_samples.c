/* Bundles from a table: `bundle: {name: samples, file: purcell.h5, degree: 5}` (scenario/samples_file.h). */
#include "scenario/samples_file.h"
#include "scenario/bundle.h"

#include <stddef.h>
#include <stdlib.h>

typedef struct samples_parameters {
  const cb_node *file;
  int degree;
} samples_parameters;

static const cb_param table[] = {
    {"file", CB_PARAM_NODE, offsetof(samples_parameters, file), NULL, "", "", NULL,
     "an HDF5 file: axes named by the shape variables, /connection, /metric, attribute `group`"},
    {"degree", CB_PARAM_INT, offsetof(samples_parameters, degree), "0", "", "[0, 5]", NULL,
     "of the spline, 3 or 5; 0: 5 where there are points enough"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status read_table(cb_scenario *s, const cb_node *map, cb_bundle **out) {
  static const char *const name[] = {"name"};
  samples_parameters p;
  const char *text;
  cb_status status = cb_params_bind(table, map, map, name, 1, &p);
  if (!status) status = cb_node_string(p.file, &text);
  if (status) return status;
  if (p.degree != 0 && p.degree != 3 && p.degree != 5)
    return cb_node_fail(cb_node_get(map, "degree"), "degree: expected 3 or 5, found %d", p.degree);
  status = cb_scenario_file(s, p.file, &text);
  return status ? status : cb_bundle_samples_read(text, p.degree, out);
}

const cb_bundle_kind cb_bundle_kind_samples = {"samples", "Table", "connection and metric on a grid, by splines", table,
                                               read_table};
