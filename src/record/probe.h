/* A program may look at each file before it is opened as HDF5, which a damaged or forged one can crash. The library itself
 * starts no process: without a prober every file is opened. Internal. */
#ifndef CB_RECORD_PROBE_H
#define CB_RECORD_PROBE_H

#include <curvebody/status.h>

typedef struct cb_prober {
  /* CB_ERROR_INPUT with "FILE: error: ...": it must not be opened. Of a file that is not there: CB_OK. */
  cb_status (*look)(const char *path);
  void (*trust)(const char *path); /* this process has written the file */
} cb_prober;

/* Of the program, in main before there are threads; `prober` lasts as long as the process. */
void cb_probe_by(const cb_prober *prober);

/* cb_hdf5_open asks by itself. */
cb_status cb_probe(const char *path);
void cb_probe_trust(const char *path);

#endif
