/* Untrusted files are read first by a child process, which may crash.
 *
 * HDF5 does not validate most metadata: a damaged or forged file can crash it, make it loop or make it ask for memory
 * without end. Checks without HDF5 cannot find all damage of this kind, so a child process first reads the complete
 * file with HDF5, under limits of CPU time, wall time and memory. If the child survives, the command reads the file;
 * otherwise the command fails with an error that names the object that the child was reading. If the file is the
 * virtual file of a record, the child also reads the segments that this file names, and reports their names, so that
 * the segments need no other child.
 *
 * The child is this program, started again with posix_spawn. It is not a copy of the process (fork) for two reasons:
 * Another thread may hold the lock of HDF5 or of another library, and a copy would wait for this lock for ever. A copy
 * would also run the handlers of signals and exits of the command, which remove temporary files.
 *
 * The limits are the numbers CLI_PROBE_... below. Between two reports the child may use SECONDS of CPU time and
 * PATIENCE seconds of wall time; it makes at least one report per object and per 4 MiB. The bytes of all numbers may be
 * at most DEFLATE times the bytes of the file, since a compressed chunk cannot contain more, plus 1 GiB for numbers
 * that were not written. So the total time grows with the size of the file. The child may have ALLOWANCE MiB more
 * memory than at its start. While it reads a dataset with chunks, it may also have twice the memory that one chunk
 * needs as stored and as converted numbers. */
#pragma once

#include <hdf5.h>
#include <stdbool.h>

enum {
  CLI_PROBE_SECONDS = 10,
  CLI_PROBE_PATIENCE = 60,
  CLI_PROBE_DEFLATE = 1100, /* zlib's limit is 1032 (its technical details, "Maximum Compression Factor") */
  CLI_PROBE_ALLOWANCE = 256 /* MiB */
};

/* From this call on, each file that the library opens as HDF5 is first read by a child, whose main calls cli_probe_read
 * for `--probe FILE`. The user can disable this with CURVEBODY_TRUST_FILES. */
void cli_probe_enable(void);

/* Runs in the child: reads completely the file and the segments that the file names, and reports to the standard
 * output. It does not return. */
_Noreturn void cli_probe_read(const char *path);

/* The first byte of a report of the child. A text and a byte 0 follow it. */
enum {
  CLI_PROBE_FILE = '>',   /* the next file: device, inode number, size and time of the last change */
  CLI_PROBE_AT = '@',     /* the next object in the file */
  CLI_PROBE_ON = '.',     /* more of the object was read */
  CLI_PROBE_REFUSE = '!', /* the reason why the file cannot be read */
  CLI_PROBE_READ = '=',   /* the complete file was read */
  CLI_PROBE_LEAVE = '-'   /* the system or HDF5 cannot open the file; the caller will report the error */
};
