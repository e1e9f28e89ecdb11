/* Numbers of HDF5 files as an XDMF document names them. Internal. */
#pragma once

#include <curvebody/sink.h>
#include <stdint.h>
#include <stdio.h>

/* An array [shape], or of a series [rows, shape], of which one row is a frame's; rank 0: a number. */
typedef struct cb_xdmf_array {
  const char *file, *dataset; /* the file as the XML names it */
  const char *number;         /* "Float" or "Int" */
  int precision;              /* bytes */
  int rank;
  size_t shape[4];
} cb_xdmf_array;

/* The text with what XML means by & < > and quotes. */
void cb_xdmf_put_text(FILE *stream, const char *text);
/* A DataItem of the whole array; of one of `rows` rows of a series. */
void cb_xdmf_put_array(FILE *stream, const cb_xdmf_array *array);
void cb_xdmf_put_row(FILE *stream, const cb_xdmf_array *array, uint64_t rows, uint64_t row);
