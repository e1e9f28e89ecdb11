/* The points of a geodesic, and writing them. */
#ifndef CB_CLI_GEODESIC_ROWS_H
#define CB_CLI_GEODESIC_ROWS_H

#include "cli/ambient.h"

typedef struct cb_geodesic_rows {
  const cb_ambient *ambient;
  size_t count, singular;      /* singular: points where the velocity in the chart is not defined */
  double length;               /* from the first point to the last */
  double *s, *q, *u, *picture; /* [count], [count][dim], [count][dim], [count][3] */
} cb_geodesic_rows;

cb_status cb_geodesic_rows_create(const cb_ambient *ambient, size_t count, double length, cb_geodesic_rows *out);
void cb_geodesic_rows_free(cb_geodesic_rows *rows);
/* To an HDF5 file where the name ends in .h5, otherwise as a table; output NULL: to the standard output. CB_ERROR_FILE
 * if that cannot be written. */
cb_status cb_geodesic_rows_write(const cb_geodesic_rows *rows, const char *output);

#endif
