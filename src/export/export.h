/* Export of records for ParaView: surfaces of bodies in a fluid, and parts of XDMF documents. Internal. */
#pragma once

#include <curvebody/record.h>
#include <curvebody/scenario.h>
#include <curvebody/sink.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Sets *out to whether the record is of bodies with a surface and with poses /pose [time, body, 7]. */
cb_status cb_export_has_bodies(cb_reader *reader, const char *path, bool *out);
/* Returns the index of the field of that name with `width` values per body; 0 if it does not exist (field 0 is
 * time). */
size_t cb_export_find_field(const cb_reader *reader, const char *name, size_t width);
/* Computes positions x[n] and velocities v[n] in the world of vertices whose positions and velocities in the body frame
 * are g and dg. K: curvature of the space; unless it is 0, x and v are in plot coordinates. pose and twist: those of
 * the body, as in a record. */
void cb_export_place(double K, const double pose[7], const double twist[6], size_t n, const double (*g)[3],
                     const double (*dg)[3], double (*x)[3], double (*v)[3]);

/* Checks the name of a file that an export of `record` is going to write: it must not be an input of the scenario. If
 * the name is `derived` from that of the output, it must also not be an existing record. */
cb_status cb_export_check_output(const char *path, const char *record, const cb_scenario *scenario, bool derived);

/* Writes the surfaces of all bodies at every n-th row, n = every: an XDMF 3 document `out`, and next to it the numbers,
 * in a file with the name `out` whose ending is replaced by -surface.h5. every = 0: the smallest n with which the
 * export has at most 10 000 frames and 2 GiB. path is the path of the record; input files of its scenario are searched
 * in its folder. */
cb_status cb_export_surface(cb_reader *reader, const char *path, const char *out, uint64_t every);

/* --- parts of XDMF documents (xdmf.c) --- */

/* An array with dimensions shape[rank] in an HDF5 file, or a series with one such array per frame. rank 0: a number. */
typedef struct cb_xdmf_array {
  const char *file, *dataset; /* the name that the XML gives to the HDF5 file; the path of the dataset in it */
  const char *number;         /* "Float" or "Int" */
  int precision;              /* bytes */
  int rank;
  size_t shape[4];
} cb_xdmf_array;

/* Writes a text in which & < > and double quotes are escaped for XML. */
void cb_xdmf_put_text(FILE *stream, const char *text);
/* Write a DataItem for the complete array, or for one row of a series of `rows` rows. */
void cb_xdmf_put_array(FILE *stream, const cb_xdmf_array *array);
void cb_xdmf_put_row(FILE *stream, const cb_xdmf_array *array, uint64_t rows, uint64_t row);
