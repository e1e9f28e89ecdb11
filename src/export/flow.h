/* The flow about the bodies of a record at an instant, for ParaView. Internal. */
#ifndef CB_EXPORT_FLOW_H
#define CB_EXPORT_FLOW_H

#include <curvebody/record.h>

typedef struct cb_flow_options {
  double at;       /* s; nan: the last row. The row that is nearest is taken */
  int grid[3];     /* points along x, y, z; 1: the plane through the middle */
  int streamlines; /* seen from the first body; 0: none */
} cb_flow_options;

/* Writes an XDMF 3 description `out` and beside it the numbers, `out` with .h5 in place of its ending. */
cb_status cb_record_export_flow(const char *path, const char *out, const cb_flow_options *options);

#endif
