/* Files of others, read first by a process that may fail.
 *
 * HDF5 does not validate most metadata: a damaged or forged file can crash it, make it loop or make it ask for
 * memory without end. No check in front of it sees everything that it will meet, so a child process first reads the
 * whole file with HDF5 itself, under limits of processor time, wall time and memory. A file that the child survives
 * is then read by the command; another one is refused with the name of the object that the child was reading. With the
 * virtual file of a record the child reads the segments that it names as well, and says which, so that they need no
 * child of their own.
 *
 * The child is this program, started anew (posix_spawn), and no copy of the process (fork): another thread may
 * hold the lock of HDF5 or of another library, for which a copy would wait without end; and the handlers of signals
 * and of exits, which remove temporary files, would be those of the command.
 *
 * Limits, by what was read last: SECONDS of processor time and PATIENCE of wall time between two reports, of which
 * there is one for each object and each 4 MiB. The bytes of all numbers are at most DEFLATE times those of the file,
 * as no compressed chunk holds more, and a GiB of others; so the whole time grows with the size of the file. Memory:
 * ALLOWANCE beyond what the process has at its start, and room for one chunk of each dataset. */
#pragma once

#include <hdf5.h>
#include <stdbool.h>

enum {
  CB_PROBE_SECONDS = 10,
  CB_PROBE_PATIENCE = 60,
  CB_PROBE_DEFLATE = 1100, /* zlib's limit is 1032 (its technical details, "Maximum Compression Factor") */
  CB_PROBE_ALLOWANCE = 256 /* MiB */
};

/* From now on each file that the library opens as HDF5 is first read by a child, whose main calls cb_probe_read for
 * `--probe FILE`; unless the user sets CURVEBODY_TRUST_FILES. */
void cb_probe_enable(void);

/* In the child: reads the file, and the segments that it names, to the end and reports to the standard output. Does not
 * return. */
_Noreturn void cb_probe_read(const char *path);

/* Whether the chunk at `at` of a dataset of that shape has as many bytes as its extents say, or was never written. */
bool cb_probe_chunk_is_whole(hid_t dataset, hid_t create, int rank, const hsize_t *dims, const hsize_t *at);

/* What a report begins with; a text and a 0 follow. */
enum {
  CB_PROBE_FILE = '>',   /* the file that is read next: device, number, size and time of its last change */
  CB_PROBE_AT = '@',     /* the object of it that is read next */
  CB_PROBE_ON = '.',     /* more of it has been read */
  CB_PROBE_REFUSE = '!', /* why it cannot be read */
  CB_PROBE_READ = '=',   /* everything in the file was read */
  CB_PROBE_LEAVE = '-'   /* the system, or HDF5 at the first look, does not let it be opened: the caller will say so */
};
