/* A space named on the command line, and points of it in the coordinates of one chart. */
#pragma once

#include "cli/cli.h"
#include "yaml/yaml.h"

typedef struct cli_ambient {
  cb_tree *tree;
  cb_space *space;
  const cb_chart *chart; /* the chart of the coordinates; it has a metric */
  const char *file;      /* the file that the space was read from, or NULL */
} cli_ambient;

/* Opens a space. argument: a name, `name:key=value,...`, or a scenario file, from which only `space` is read. sets:
 * changes KEY=VALUE of the scenario, such as `space.curvature=-2`. chart: the name of a chart with a metric; NULL: the
 * chart of the space if it has one, otherwise polar, or the first chart with a metric if there is no polar chart. */
cb_status cli_ambient_open(const char *argument, const cli_list *sets, const char *chart, cli_ambient *out);
void cli_ambient_close(cli_ambient *a);

/* Reads n numbers or constant expressions, separated by commas, from the value `text` of an option. */
cb_status cli_ambient_numbers(const char *option, const char *text, int n, double *out);
/* Chooses the default point: the base point in an intrinsic space, and otherwise a generic point, since a chart may be
 * singular at the base point. */
void cli_ambient_default_point(const cli_ambient *a, double *q);
/* push converts coordinates q and their velocity u to a point x and a vector v of the embedding; in an intrinsic space
 * x and v are the same numbers as q and u. pull converts back. */
cb_status cli_ambient_push(const cli_ambient *a, const double *q, const double *u, double *x, double *v);
cb_status cli_ambient_pull(const cli_ambient *a, const double *x, const double *v, double *q, double *u);
/* Computes the length of a velocity u at q. */
cb_status cli_ambient_length(const cli_ambient *a, const double *q, const double *u, double *length);
