/* Output files, and HDF5 files in memory. An output file gets its name only when it is complete. Internal.
 *
 * Until then the file has a temporary name next to the final one, PATH.PROCESS-NUMBER.part, which no other process
 * uses. The temporary files of a record are in its folder. The final name is taken in one step: an unused name by a
 * rename that replaces nothing, a used one by a rename over the existing file. A record is not replaced while a run is
 * writing it, or if a killed run has left its folder (record/folder.h).
 */
#pragma once

#include "record/hdf5.h"
#include <curvebody/record.h>

#include <stdio.h>

typedef struct cb_output {
  char *path;    /* as the caller gave it */
  char *target;  /* the path with links followed */
  char *part;    /* the temporary name */
  bool unsynced; /* the file need not be on the disk when it takes its name */
  bool owner;    /* the caller is the writer of the record to which the file will belong */
} cb_output;

/* Creates the temporary file, empty. Returns CB_ERROR_FILE if the path exists and may not be replaced (`replace` is
 * false), is not a regular file, is in use, or cannot be written. */
cb_status cb_output_begin(const char *path, bool replace, cb_output *out);
/* Does the same as cb_output_begin, for the writer of the record of that name. */
cb_status cb_output_begin_own(const char *path, bool replace, cb_output *out);

/* With status CB_OK the file takes its name; otherwise, or if that fails, the temporary file is removed. The file may
 * still be open. Unless `unsynced` is set, the content is on the disk before the file takes its name, and the name is
 * on the disk before this function returns. Returns `status` or the failure; always frees `o`. */
cb_status cb_output_end(cb_output *o, bool replace, cb_status status);

/* Syncs the folder of a file, so that the name of the file survives a loss of power. Returns 0 or errno. */
int cb_sync_folder(const char *path);

/* These functions open and close a text stream into the temporary file. Closing fails if any data could not be written.
 * The path "-" means the standard output. */
cb_status cb_output_open_text(const char *path, cb_output *o, FILE **stream);
cb_status cb_output_close_text(cb_output *o, FILE *stream, cb_status status);

/* These functions open and close an HDF5 file under the temporary name. own: the caller is the writer of the record
 * that the file will belong to. Closing writes the data that HDF5 still has in memory, unless status is a failure. */
cb_status cb_output_open_hdf5(const char *path, bool own, cb_output *o, hid_t *file);
cb_status cb_output_close_hdf5(cb_output *o, hid_t file, cb_status status);

/* Removes every unfinished file of this process. When memory runs out, libgomp and HDF5 call exit, and HDF5 may crash:
 * then no caller remains that could remove these files. A signal handler may call this function. */
void cb_tempfile_remove_all(void);

/* ---- segment.c: HDF5 files in memory, and their images */

enum { CB_SHA256 = 65 }; /* bytes of a digest in hexadecimal digits */

typedef struct cb_image {
  unsigned char *bytes; /* malloc'd */
  size_t size;
} cb_image;

/* Memory that is used by one file in memory after another, because new memory would cost a page fault every 4 KiB. It
 * is initially zero. Its owner frees `bytes` after the last file, unless `taken` is set, which means that a file still
 * uses them. */
typedef struct cb_file_memory {
  void *bytes; /* malloc'd */
  size_t size;
  bool taken;
} cb_file_memory;

/* cb_memory_create creates an HDF5 file in memory, cb_memory_open opens one from an image, and cb_memory_open_in opens
 * one in the memory `m` if this is free. They return a negative number on failure. */
hid_t cb_memory_create(void);
hid_t cb_memory_open(const cb_image *image);
hid_t cb_memory_open_in(cb_file_memory *m, const cb_image *image);
/* Makes the access properties of every file of a record. */
hid_t cb_record_access(void);
/* Copies the bytes that the file would have on a disk. */
cb_status cb_memory_image(hid_t file, const char *path, cb_image *out);
/* Writes the bytes that cb_memory_image would copy to the file `name`, in the same way as cb_image_save. digest gets
 * their SHA-256 and *bytes their number; both may be NULL. */
cb_status cb_memory_save(hid_t file, const char *path, const char *name, bool synced, char digest[CB_SHA256],
                         uint64_t *bytes);
/* Writes the image to a temporary file and renames it to `path`. The caller is the writer of the record. digest may be
 * NULL. */
cb_status cb_image_save(const cb_image *image, const char *path, bool synced, char digest[CB_SHA256]);
cb_status cb_image_read(const char *path, cb_image *out);
