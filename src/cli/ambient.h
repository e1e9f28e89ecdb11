/* A space named on the command line, and points of it in the coordinates of one chart. */
#pragma once

#include "cli/cli.h"
#include "yaml/yaml.h"

typedef struct cb_ambient {
  cb_tree *tree;
  cb_geometry *space;
  const cb_chart *chart; /* its metric is known */
  const char *file;      /* that it was read from, or NULL */
} cb_ambient;

/* word: a name, `name:key=value,...`, or a scenario file, of which only `space` is read. sets are KEY=VALUE as for a
 * scenario (`space.curvature=-2`). chart: a chart with a metric, NULL: the space's own, else polar. */
cb_status cb_ambient_open(const char *word, const cb_words *sets, const char *chart, cb_ambient *out);
void cb_ambient_close(cb_ambient *a);

/* n numbers or constant expressions, parted by commas, after an option. */
cb_status cb_ambient_numbers(const char *option, const char *text, int n, double *out);
/* A point to look at where none is given: the base point, or one with nothing special to it where that is singular. */
void cb_ambient_default_point(const cb_ambient *a, double *q);
/* The velocity of coordinates to a vector: of the embedding, or itself. x: the point. */
cb_status cb_ambient_push(const cb_ambient *a, const double *q, const double *u, double *x, double *v);
cb_status cb_ambient_pull(const cb_ambient *a, const double *x, const double *v, double *q, double *u);
/* Length of a velocity u at q. */
cb_status cb_ambient_length(const cb_ambient *a, const double *q, const double *u, double *length);
