/* What the record needs of HDF5, with its errors as ours. Internal. */
#pragma once

#include <curvebody/sink.h>
#include <hdf5.h>

/* HDF5 prints its errors unless told otherwise, by thread. Every public function of a record is bracketed by these two,
 * which keep the reason for cb_hdf5_fail instead and leave the caller's setting as it was. Where HDF5 cannot be started
 * that is a lack of memory, and no file opens. */
typedef struct cb_hdf5_quiet {
  H5E_auto2_t function;
  void *data;
  bool started;
} cb_hdf5_quiet;
cb_hdf5_quiet cb_hdf5_quiet_begin(void);
/* Of a program: HDF5 does nothing when it ends. Every file is closed where it was used, and after a failure what HDF5 does
 * there crashes, or tries a hundred times to close what it has lost and prints that. */
void cb_hdf5_rests_at_exit(void);
void cb_hdf5_quiet_end(cb_hdf5_quiet quiet);

/* Sets the error text `PATH: cannot WHAT: reason` with the reason of the HDF5 call that failed first, and returns
 * CB_ERROR_FILE. `what` may be a format. */
cb_status cb_hdf5_fail(const char *path, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* Of a file that begins as one of HDF5 does: the system, or a lack of memory, keeps it from being opened (as above), or it is
 * damaged, CB_ERROR_INPUT. */
cb_status cb_hdf5_fail_open(const char *path);

/* What cb_hdf5_fail tells, unless a call of HDF5 has failed before. */
void cb_hdf5_give_reason(const char *text);

/* What was made of a file is not believed where one of its reads was refused since cb_hdf5_quiet_begin, CB_ERROR_FILE
 * then, or HDF5 lacked memory, CB_ERROR_MEMORY: what was not found may be there all the same. Otherwise `status`. */
cb_status cb_hdf5_unread(const char *path, cb_status status);

/* What was refused, or failed, until now was expected. */
void cb_hdf5_forget(void);

hid_t cb_hdf5_file_type(cb_field_type type); /* little endian */
hid_t cb_hdf5_memory_type(cb_field_type type);
size_t cb_hdf5_type_size(cb_field_type type);
/* Which of the three the type of a dataset is; false if none. */
bool cb_hdf5_type_of(hid_t dataset, cb_field_type *out);

/* Access properties: format of HDF5 1.10, objects closed with their file. Negative too where there is no room for what
 * HDF5 takes for a file. */
hid_t cb_hdf5_file_access(void);
/* A program may look at each file before it is opened, as a damaged or forged one can crash HDF5. The library itself starts
 * no process: without a prober every file is opened. */
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

/* H5Fopen with them, of a file that the program may look at first: cb_hdf5_fail then gives its reason. */
hid_t cb_hdf5_open(const char *path, unsigned flags);

/* After a file could not be opened or created: a signal came, and the call is to be made again, as HDF5 does of reads and
 * writes alone. */
bool cb_hdf5_interrupted(void);

/* What was written until now is on its way to the disk while more comes, if the file is on one; failures are those of fsync. */
void cb_hdf5_begin_sync(hid_t file);

/* Closes a file that was open for writing; what the system refuses is told. */
cb_status cb_hdf5_close(hid_t file, const char *path);
/* Closes it, and throws away what HDF5 has not yet written. */
void cb_hdf5_abandon(hid_t file);
/* Closes a file that was read. One that HDF5 cannot close is not to be had again: cb_hdf5_unread says why. */
void cb_hdf5_close_read(hid_t file, const char *path);

/* A variable-length UTF-8 string type; the caller closes it. */
hid_t cb_hdf5_text_type(void);

/* Attributes and datasets; false with HDF5's error stack set. Object creation times are not kept, so that the same run
 * gives the same bytes. */
bool cb_hdf5_put_text(hid_t object, const char *name, const char *text);
bool cb_hdf5_put_integers(hid_t object, const char *name, const int *values, size_t count);
/* A contiguous dataset, laid out in the file at once. Negative on failure. */
hid_t cb_hdf5_put_dataset(hid_t where, const char *name, hid_t file_type, int rank, const hsize_t *dims,
                          hid_t memory_type, const void *data);
hid_t cb_hdf5_put_group(hid_t where, const char *name);
/* H5Pset_virtual, which takes a '%' in a name for the beginning of a pattern, over names as they are. */
bool cb_hdf5_set_virtual(hid_t create, hid_t space, const char *file, const char *name, hid_t source);

/* ---- What is in a file is read, or written over, only if it is what it should be: how much memory that takes is then
 * not the file's to say. */

/* An attribute of `of` (a path from `where`, "." for itself) with so many values of such a class; negative if it is not
 * there or is another. The caller closes it. */
hid_t cb_hdf5_attribute(hid_t where, const char *of, const char *name, H5T_class_t class, size_t count);
/* Its numbers as memory_type, or from there. */
bool cb_hdf5_get_numbers(hid_t where, const char *of, const char *name, H5T_class_t class, hid_t memory_type,
                         size_t count, void *out);
bool cb_hdf5_set_integers(hid_t where, const char *of, const char *name, hid_t memory_type, size_t count,
                          const void *values);

/* Whether a type of numbers is one that HDF5 converts within their bytes. */
bool cb_hdf5_is_number(hid_t type);

/* Opens a dataset; negative where there is none of that name. */
hid_t cb_hdf5_find_dataset(hid_t where, const char *name);

/* Whether a dataset has just this type and shape, but for dims[d] = H5S_UNLIMITED: any. */
bool cb_hdf5_dataset_is(hid_t dataset, hid_t type, int rank, const hsize_t *dims);

/* Why the numbers of a dataset with these creation properties are not in its file; NULL if they are. */
const char *cb_hdf5_elsewhere(hid_t create);
extern const char cb_hdf5_virtual[], cb_hdf5_external[];

/* malloc'd text of an attribute or scalar dataset; NULL if it is not there or no text. */
char *cb_hdf5_get_text_attribute(hid_t object, const char *name);
char *cb_hdf5_get_text_dataset(hid_t where, const char *name);
bool cb_hdf5_is_text(hid_t dataset, size_t *count); /* of how many texts */

/* ---- hdf5_links.c: for each link of a group, by name or by order of creation. */
typedef cb_status (*cb_hdf5_link_visit)(void *context, hid_t group, const char *name, const H5L_info_t *link);
cb_status cb_hdf5_each_link(hid_t group, const char *path, H5_index_t by, cb_hdf5_link_visit visit, void *context);
/* malloc'd name of the dimension scale at the root of dimension d of a dataset of that rank; NULL if it has none. */
char *cb_hdf5_scale_name(hid_t dataset, int rank, int d);

/* malloc'd text of an attribute of varying length; the texts of a dataset, which the caller frees also where it fails. */
char *cb_hdf5_text_of_attribute(hid_t attribute);
bool cb_hdf5_texts_of_dataset(hid_t dataset, size_t count, char **out);

/* *value times by, unless that is more than 64 bits hold. */
static inline bool cb_times(uint64_t *value, uint64_t by) { return !__builtin_mul_overflow(*value, by, value); }
