/* The layer between records and HDF5: opening and closing files, errors, attributes, datasets, links. Internal. */
#pragma once

#include <curvebody/sink.h>
#include <hdf5.h>

/* HDF5 prints its errors unless a thread sets another handler. Every public function of a record calls
 * cb_hdf5_quiet_begin at its beginning and cb_hdf5_quiet_end at its end. In between, the reason of an error is stored
 * for cb_hdf5_fail; afterwards the caller's handler is set again. If HDF5 cannot be started (`started` is false), the
 * cause is a lack of memory, and no file can be opened. */
typedef struct cb_hdf5_quiet {
  H5E_auto2_t function;
  void *data;
  bool started;
} cb_hdf5_quiet;
cb_hdf5_quiet cb_hdf5_quiet_begin(void);
/* Makes HDF5 do nothing when the program ends. Every file is closed by the code that uses it. After a failure the exit
 * handler of HDF5 would crash, or try a hundred times to close lost objects, and print messages about them. */
void cb_hdf5_rests_at_exit(void);
void cb_hdf5_quiet_end(cb_hdf5_quiet quiet);

/* Sets the error text `PATH: cannot WHAT: reason`, where the reason comes from the first HDF5 call that failed. Returns
 * CB_ERROR_FILE, or CB_ERROR_MEMORY if there was no memory. `what` is a format. */
cb_status cb_hdf5_fail(const char *path, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* Fails for a file that begins like an HDF5 file but could not be opened. If the reason is the system or a lack of
 * memory, it fails like cb_hdf5_fail; otherwise the file is damaged: CB_ERROR_INPUT. */
cb_status cb_hdf5_fail_open(const char *path);

/* Sets the reason that cb_hdf5_fail will give. If a call of HDF5 has failed before, its reason is kept. */
void cb_hdf5_give_reason(const char *text);

/* Checks whether what was read since cb_hdf5_quiet_begin is reliable. Returns CB_ERROR_FILE if the system refused a
 * read, and CB_ERROR_MEMORY if HDF5 had no memory: then an object that was not found may still be in the file.
 * Otherwise returns `status`. */
cb_status cb_hdf5_unread(const char *path, cb_status status);

/* Discards the stored reasons of failures that were expected. */
void cb_hdf5_forget(void);

hid_t cb_hdf5_file_type(cb_field_type type); /* little endian */
hid_t cb_hdf5_memory_type(cb_field_type type);
size_t cb_hdf5_type_size(cb_field_type type);
/* Finds the field type of a dataset. Returns false if its type is not the type of a field. */
bool cb_hdf5_type_of(hid_t dataset, cb_field_type *out);

/* Makes the access properties of a file: the file has the format of HDF5 1.10, and its objects are closed together with
 * it. Returns a negative number on failure, also if there is not enough memory for what HDF5 allocates per file. */
hid_t cb_hdf5_file_access(void);
/* A program may probe each file before it is opened, because a damaged or forged file can crash HDF5. The library
 * itself starts no process: without a prober every file is opened. */
typedef struct cb_prober {
  /* Probes a file. Returns CB_ERROR_INPUT with "FILE: error: ..." if the file must not be opened, and CB_OK if it may
   * be opened or does not exist. */
  cb_status (*look)(const char *path);
  void (*trust)(const char *path); /* this process has written the file */
} cb_prober;

/* Sets the prober of the program. It is called in main, before there are other threads. `prober` must live as long as
 * the process. */
void cb_probe_by(const cb_prober *prober);
/* cb_probe asks the prober about a file; cb_hdf5_open also does this. cb_probe_trust informs the prober that this
 * process has written a file. */
cb_status cb_probe(const char *path);
void cb_probe_trust(const char *path);

/* Opens a file with the access properties of cb_hdf5_file_access, after the prober has accepted it. If the prober
 * rejects it, cb_hdf5_fail gives the prober's reason. */
hid_t cb_hdf5_open(const char *path, unsigned flags);

/* Returns, after opening or creating a file has failed, whether a signal interrupted the call. The caller must then
 * repeat the call. HDF5 repeats reads and writes by itself, but not opening and creating. */
bool cb_hdf5_interrupted(void);

/* Starts to sync the data written so far, if the file is on a disk. Failures are reported by the final fsync. */
void cb_hdf5_begin_sync(hid_t file);

/* Closes a file that was open for writing. Fails if the system has refused a write. */
cb_status cb_hdf5_close(hid_t file, const char *path);
/* Closes a file and discards the data that HDF5 has not yet written. */
void cb_hdf5_abandon(hid_t file);
/* Closes a file that was read. A file that HDF5 cannot close cannot be opened again: cb_hdf5_unread then reports
 * why. */
void cb_hdf5_close_read(hid_t file, const char *path);

/* Makes a variable-length UTF-8 string type, which the caller closes. */
hid_t cb_hdf5_text_type(void);

/* These functions create attributes and datasets. On failure they return false, or a negative identifier, and HDF5's
 * error stack is set. Creation times of objects are not stored, so that equal runs write identical files. */
bool cb_hdf5_put_text(hid_t object, const char *name, const char *text);
bool cb_hdf5_put_integers(hid_t object, const char *name, const int *values, size_t count);
/* Creates a contiguous dataset whose space is allocated at once. data may be NULL. Returns a negative number on
 * failure. */
hid_t cb_hdf5_put_dataset(hid_t where, const char *name, hid_t file_type, int rank, const hsize_t *dims,
                          hid_t memory_type, const void *data);
hid_t cb_hdf5_put_group(hid_t where, const char *name);
/* Calls H5Pset_virtual with literal names: a '%', which would begin a pattern, is escaped. */
bool cb_hdf5_set_virtual(hid_t create, hid_t space, const char *file, const char *name, hid_t source);

/* ---- Objects are read, or overwritten, only if they have the expected type and size. Therefore a file cannot decide
 * how much memory is allocated. */

/* Opens an attribute of the object `of` (a path from `where`; "." is `where` itself) that has `count` values of this
 * class. Returns a negative number if there is no such attribute or it is different. The caller closes it. */
hid_t cb_hdf5_attribute(hid_t where, const char *of, const char *name, H5T_class_t class, size_t count);
/* cb_hdf5_get_numbers reads the `count` numbers of an existing attribute, and cb_hdf5_set_integers overwrites them.
 * memory_type is the type of the numbers in memory. Both find the attribute with cb_hdf5_attribute. */
bool cb_hdf5_get_numbers(hid_t where, const char *of, const char *name, H5T_class_t class, hid_t memory_type,
                         size_t count, void *out);
bool cb_hdf5_set_integers(hid_t where, const char *of, const char *name, hid_t memory_type, size_t count,
                          const void *values);

/* Returns whether HDF5 can convert this type of numbers without accessing bits outside of them. */
bool cb_hdf5_is_number(hid_t type);

/* Opens a dataset. Returns a negative number if there is no dataset with that name. */
hid_t cb_hdf5_find_dataset(hid_t where, const char *name);

/* Returns whether a dataset has exactly this type and shape. dims[d] = H5S_UNLIMITED means any length. */
bool cb_hdf5_dataset_is(hid_t dataset, hid_t type, int rank, const hsize_t *dims);

/* Returns the reason why the numbers of a dataset with these creation properties are not in its file; NULL if they are
 * in it. */
const char *cb_hdf5_elsewhere(hid_t create);
extern const char cb_hdf5_virtual[], cb_hdf5_external[];

/* These functions return the malloc'd text of an attribute or of a scalar dataset, or NULL if it does not exist or is
 * not a text. */
char *cb_hdf5_get_text_attribute(hid_t object, const char *name);
char *cb_hdf5_get_text_dataset(hid_t where, const char *name);
bool cb_hdf5_is_text(hid_t dataset, size_t *count); /* count: the number of texts */

/* ---- record_contents.c */

/* cb_hdf5_each_link calls `visit` for each link of a group, by the index `by` (names or creation). The links come in
 * the order of creation only if HDF5 keeps the group in compact storage, and otherwise in the native order of the
 * index. */
typedef cb_status (*cb_hdf5_link_visit)(void *context, hid_t group, const char *name, const H5L_info_t *link);
cb_status cb_hdf5_each_link(hid_t group, const char *path, H5_index_t by, cb_hdf5_link_visit visit, void *context);
/* Returns the malloc'd name of the dimension scale of dimension d of a dataset; NULL if there is no scale. */
char *cb_hdf5_scale_name(hid_t dataset, int rank, int d);

/* Reads the texts of a dataset. The texts are malloc'd; the caller frees them also after a failure. */
bool cb_hdf5_texts_of_dataset(hid_t dataset, size_t count, char **out);

/* Multiplies *value by `by`; false if the product exceeds 64 bits. */
static inline bool cb_times(uint64_t *value, uint64_t by) { return !__builtin_mul_overflow(*value, by, value); }
