/* The moving, deforming surfaces of a record of bodies in a fluid, for ParaView. Internal to src/io. */
#ifndef CB_IO_EXPORT_SURFACE_H
#define CB_IO_EXPORT_SURFACE_H

#include <curvebody/record.h>

/* Is the record one of bodies in a fluid: has it poses /pose [time, body, 7]? */
bool cb_export_has_poses(const cb_reader *reader);

/* Writes an XDMF 3 description `out` and beside it the numbers, `out` with -surface.h5 in place of its ending: surfaces
 * of all bodies at every n-th row. every 0: so that there are at most 10 000 frames and 2 GiB. path: the record's, in
 * whose folder the files that its scenario names are looked for. */
cb_status cb_export_surface(cb_reader *reader, const char *path, const char *out, uint64_t every);

#endif
