/* A text file that gets its name when it is whole, and what both exports share. Internal to src/io. */
#ifndef CB_IO_EXPORT_FILE_H
#define CB_IO_EXPORT_FILE_H

#include <curvebody/record.h>
#include <stdio.h>

typedef struct cb_export_file {
  const char *path;
  char *part; /* path.part */
  FILE *stream;
} cb_export_file;

/* Fails with CB_ERROR_FILE. */
cb_status cb_export_open(cb_export_file *file, const char *path);
/* Gives the file its name, or removes it if status is not CB_OK. Returns status, or why it could not be written. */
cb_status cb_export_close(cb_export_file *file, cb_status status);

/* The fewest digits that read back as the same number; nan, inf, -inf for the others. */
void cb_export_number(char text[32], double value);

#endif
