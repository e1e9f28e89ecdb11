/* The layer between records and HDF5 (hdf5.h): errors, files, attributes, datasets and texts. */
#include "record/hdf5.h"
#include "core/failure.h"
#include "core/file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The following variables describe this thread's calls of HDF5. cb_hdf5_quiet_begin resets all of them except
 * `unwritten`, `unclosed` and `unclosed_for`. */
/* The first reason that HDF5 gave since the last reported failure. */
static _Thread_local char reason[400];
/* True if a call failed for lack of memory. */
static _Thread_local bool lacking;
/* errno of the first system call that HDF5 reports as failed; 0: none. */
static _Thread_local int refused;
/* errno of the first write that the system refused for the file that is being written. HDF5 may write at any time, for
 * example when an object is closed, and continues after a failure. cb_hdf5_close reports it. */
static _Thread_local int unwritten;
/* The status of the prober if it has rejected the last file; the reason is in the text of the last failure. */
static _Thread_local cb_status unsafe;
/* The last file that HDF5 read and could not close: it stays open and locked. */
static _Thread_local char unclosed[400];
static _Thread_local int unclosed_for; /* the errno with which closing `unclosed` failed */

/* Visits one entry of the error stack. The deepest entry, n = 0, is the most precise one and becomes the reason. If the
 * system refused a call, that entry has the form "... error message = 'No space left on device', ...", and only the
 * quoted part is stored. */
static herr_t deepest(unsigned n, const H5E_error2_t *error, void *unused) {
  (void)unused;
  if (error->maj_num == H5E_RESOURCE && error->min_num == H5E_NOSPACE) lacking = true;
  if (!error->desc) return 0;
  static const char key[] = "error message = '", number[] = "errno = ";
  const char *text = error->desc, *quoted = strstr(text, key), *code = strstr(text, number);
  if (code && !refused) refused = atoi(code + sizeof number - 1);
  if (code && !unwritten && error->maj_num == H5E_IO && error->min_num == H5E_WRITEERROR)
    unwritten = atoi(code + sizeof number - 1);
  if (n > 0 || *reason) return 0;
  size_t length = strlen(text);
  if (quoted) {
    text = quoted + sizeof key - 1;
    length = strcspn(text, "'");
  }
  if (length >= sizeof reason) length = sizeof reason - 1;
  memcpy(reason, text, length);
  reason[length] = 0;
  return 0;
}

/* HDF5 calls this when a call of its interface fails. Only the first failure is stored, because cleaning up afterwards
 * may fail as well. If there is no memory, the error stack may have no entry for it, but errno shows it. */
static herr_t remember(hid_t stack, void *unused) {
  (void)unused;
  if (errno == ENOMEM) lacking = true;
  if (errno == EIO && !refused) refused = EIO; /* a failure of stat is not on the error stack */
  return H5Ewalk2(stack, H5E_WALK_UPWARD, deepest, NULL);
}

/* HDF5 1.10 can crash when it runs out of memory, because it then frees objects that were not created. Therefore
 * RESERVE bytes are allocated and freed before HDF5 starts or opens a file. HDF5 needs less memory than that for either
 * call. */
enum { RESERVE = 8 << 20 };

static bool has_memory(void) {
  void *capacity = malloc(RESERVE);
  free(capacity);
  if (!capacity) lacking = true;
  return capacity != NULL;
}

/* True if HDF5 must do nothing when the program ends (cb_hdf5_rests_at_exit). `start` then calls H5dont_atexit, which
 * has an effect only before all other calls of HDF5. */
static atomic_bool rests;
static _Thread_local bool started; /* whether HDF5 has started in this thread */

void cb_hdf5_rests_at_exit(void) { atomic_store(&rests, true); }

/* Starts HDF5 in each thread: HDF5 has data per thread and does not check whether there was memory for them. H5open is
 * the call that reports a failed start; other calls would continue. */
static bool start(void) {
  if (started) return true;
  if (!has_memory()) return false;
  if (atomic_exchange(&rests, false)) H5dont_atexit();
  lacking = H5open() < 0;
  return started = !lacking;
}

cb_hdf5_quiet cb_hdf5_quiet_begin(void) {
  cb_hdf5_quiet quiet = {NULL, NULL, false};
  *reason = 0;
  lacking = false;
  refused = 0;
  unsafe = CB_OK;
  if ((quiet.started = start())) {
    H5Eget_auto2(H5E_DEFAULT, &quiet.function, &quiet.data);
    H5Eset_auto2(H5E_DEFAULT, remember, NULL);
  }
  errno = 0;
  return quiet;
}

void cb_hdf5_quiet_end(cb_hdf5_quiet quiet) {
  if (!quiet.started) return;
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, quiet.function, quiet.data);
}

cb_status cb_hdf5_fail(const char *path, const char *what, ...) {
  if (unsafe) {
    const cb_status status = unsafe;
    unsafe = CB_OK;
    return status;
  }
  const bool unmet = errno == ENOMEM;
  char text[200];
  va_list args;
  va_start(args, what);
  vsnprintf(text, sizeof text, what, args);
  va_end(args);
  /* true if HDF5, the operating system or a malloc of this project had no memory */
  const bool no_memory = lacking || refused == ENOMEM || (unmet && !*reason);
  const bool of_system = refused != 0;
  cb_status status = cb_fail_as(of_system ? CB_FAILURE_SYSTEM : CB_FAILURE, no_memory ? CB_ERROR_MEMORY : CB_ERROR_FILE,
                                "%s: cannot %s: %s", path, text,
                                no_memory   ? "no memory"
                                : of_system ? strerror(refused)
                                : *reason   ? reason
                                            : "HDF5 gives no reason");
  *reason = 0;
  errno = refused;
  return status;
}

cb_status cb_hdf5_fail_open(const char *path) {
  if (refused || lacking || errno == ENOMEM) return cb_hdf5_fail(path, "open");
  const cb_status status =
      cb_fail_placed(CB_ERROR_INPUT, "%s: error: damaged: %s", path, *reason ? reason : "HDF5 gives no reason");
  *reason = 0;
  return status;
}

void cb_hdf5_give_reason(const char *text) {
  if (!*reason && errno != ENOMEM) snprintf(reason, sizeof reason, "%s", text);
}

cb_status cb_hdf5_unread(const char *path, cb_status status) {
  if (lacking) return cb_fail(CB_ERROR_MEMORY, "%s: no memory for HDF5", path);
  const bool open = status == CB_ERROR_FILE && *unclosed && !strncmp(path, unclosed, sizeof unclosed - 1);
  if (open && unclosed_for && unclosed_for != ENOMEM) return cb_fail_file(path, "read", unclosed_for);
  if (open)
    return cb_fail_as(CB_FAILURE_SYSTEM, status,
                      "%s: HDF5 could not close it after reading, probably because there is too little memory", path);
  if (!refused || status == CB_ERROR_MEMORY) return status;
  return cb_fail_file(path, "read", refused);
}

void cb_hdf5_forget(void) {
  refused = 0;
  *reason = 0;
  unsafe = CB_OK;
}

bool cb_hdf5_interrupted(void) {
  const bool interrupted = refused == EINTR;
  if (interrupted) cb_hdf5_forget();
  return interrupted;
}

hid_t cb_hdf5_file_type(cb_field_type type) {
  return type == CB_FIELD_DOUBLE ? H5T_IEEE_F64LE : type == CB_FIELD_INT64 ? H5T_STD_I64LE : H5T_STD_I32LE;
}

hid_t cb_hdf5_memory_type(cb_field_type type) {
  return type == CB_FIELD_DOUBLE ? H5T_NATIVE_DOUBLE : type == CB_FIELD_INT64 ? H5T_NATIVE_INT64 : H5T_NATIVE_INT32;
}

size_t cb_hdf5_type_size(cb_field_type type) { return type == CB_FIELD_INT32 ? 4 : 8; }

bool cb_hdf5_type_of(hid_t dataset, cb_field_type *out) {
  static const cb_field_type types[] = {CB_FIELD_DOUBLE, CB_FIELD_INT64, CB_FIELD_INT32};
  hid_t stored = H5Dget_type(dataset);
  bool known = false;
  for (int i = 0; i < 3 && !known; i++) {
    known = H5Tequal(stored, cb_hdf5_file_type(types[i])) > 0;
    *out = types[i];
  }
  H5Tclose(stored);
  return known;
}

hid_t cb_hdf5_file_access(void) {
  if (!started || !has_memory()) return H5I_INVALID_HID;
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access < 0) return access;
  if (H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0 ||
      H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0) {
    H5Pclose(access);
    return H5I_INVALID_HID;
  }
  return access;
}

static const cb_prober *prober;

void cb_probe_by(const cb_prober *p) { prober = p; }
cb_status cb_probe(const char *path) { return prober ? prober->look(path) : CB_OK; }

void cb_probe_trust(const char *path) {
  if (prober) prober->trust(path);
}

hid_t cb_hdf5_open(const char *path, unsigned flags) {
  const int before = errno;
  unsafe = cb_probe(path);
  errno = before;
  if (unsafe) return H5I_INVALID_HID;
  hid_t access = cb_hdf5_file_access();
  if (access < 0) return access;
  hid_t file;
  do file = H5Fopen(path, flags, access);
  while (file < 0 && cb_hdf5_interrupted());
  H5Pclose(access);
  return file;
}

/* Returns a pointer to the descriptor of a file that HDF5 reads and writes by system calls; NULL: it is not known. */
static int *descriptor_of(hid_t file) {
  void *handle = NULL;
  const hid_t access = H5Fget_access_plist(file);
  const bool known = access >= 0 && H5Pget_driver(access) == H5FD_SEC2 && H5Fget_vfd_handle(file, access, &handle) >= 0;
  if (access >= 0) H5Pclose(access);
  return known ? handle : NULL;
}

/* Replaces the file behind HDF5's descriptor by an empty file in memory. The file on the disk is then closed for the
 * system. Whatever HDF5 still writes, until it closes the descriptor itself, is discarded. */
static void redirect_to_memory(hid_t file) {
  const int *descriptor = descriptor_of(file);
  const int nowhere = descriptor ? memfd_create("abandoned", MFD_CLOEXEC) : -1;
  if (nowhere < 0) return;
  dup2(nowhere, *descriptor);
  close(nowhere);
}

/* A failure to close the file is not reported here, because it does not change the data that were read. The descriptor
 * is redirected first, because HDF5 1.14 crashes at the end of the program if the system twice refuses to close a
 * file. */
void cb_hdf5_close_read(hid_t file, const char *path) {
  const int before = refused;
  if (H5Fget_obj_count(file, H5F_OBJ_FILE) == 1) redirect_to_memory(file); /* 1: nothing else reads the file */
  errno = 0;
  if (H5Fclose(file) < 0) {
    unclosed_for = refused ? refused : errno;
    snprintf(unclosed, sizeof unclosed, "%s", path);
  }
  refused = before;
}

/* HDF5 cannot close a file without writing its buffered data, and tries again at the end of the program if closing
 * fails. Therefore its last writes are directed into memory. */
void cb_hdf5_abandon(hid_t file) {
  redirect_to_memory(file);
  H5Fclose(file);
  unwritten = 0;
}

void cb_hdf5_begin_sync(hid_t file) {
  const int *descriptor = descriptor_of(file);
  if (descriptor) sync_file_range(*descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
}

cb_status cb_hdf5_close(hid_t file, const char *path) {
  cb_status status = CB_OK;
  const bool all = !unwritten;
  bool flushed = H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
  if (!flushed && all && cb_hdf5_interrupted()) { /* HDF5 still has the data that it did not write */
    unwritten = 0;
    flushed = H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
  }
  if (!flushed || unwritten) {
    if (unwritten) refused = unwritten;
    status = cb_hdf5_fail(path, "write");
    cb_hdf5_abandon(file);
    /* If a signal has interrupted H5Fclose, the file is closed nevertheless: Linux then always closes a descriptor. */
  } else if ((H5Fclose(file) < 0 && !cb_hdf5_interrupted()) || unwritten) {
    status = cb_hdf5_fail(path, "write");
  }
  unwritten = 0;
  return status;
}

hid_t cb_hdf5_text_type(void) {
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type < 0) return type;
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

static bool put_attribute(hid_t object, const char *name, hid_t type, hid_t memory_type, hid_t space,
                          const void *data) {
  hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool ok = attribute >= 0 && H5Awrite(attribute, memory_type, data) >= 0;
  if (attribute >= 0) ok &= H5Aclose(attribute) >= 0;
  return ok;
}

bool cb_hdf5_put_text(hid_t object, const char *name, const char *text) {
  hid_t type = cb_hdf5_text_type(), space = H5Screate(H5S_SCALAR);
  bool ok = put_attribute(object, name, type, type, space, &text);
  H5Sclose(space);
  H5Tclose(type);
  return ok;
}

bool cb_hdf5_put_integers(hid_t object, const char *name, const int *values, size_t count) {
  hsize_t dims[1] = {count};
  hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, dims, NULL);
  bool ok = put_attribute(object, name, H5T_STD_I32LE, H5T_NATIVE_INT, space, values);
  H5Sclose(space);
  return ok;
}

hid_t cb_hdf5_put_dataset(hid_t where, const char *name, hid_t file_type, int rank, const hsize_t *dims,
                          hid_t memory_type, const void *data) {
  hid_t create = H5Pcreate(H5P_DATASET_CREATE);
  hid_t space = rank ? H5Screate_simple(rank, dims, NULL) : H5Screate(H5S_SCALAR);
  H5Pset_obj_track_times(create, false);
  H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY);
  H5Pset_attr_phase_change(create, 64, 0);
  H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED);
  hid_t dataset = H5Dcreate2(where, name, file_type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  if (dataset >= 0 && data && H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
    H5Dclose(dataset);
    dataset = H5I_INVALID_HID;
  }
  H5Sclose(space);
  H5Pclose(create);
  return dataset;
}

static bool escape(const char *name, char *out, size_t size) {
  for (; *name && size > 2; name++, size--) {
    if (*name == '%') {
      *out++ = '%';
      size--;
    }
    *out++ = *name;
  }
  *out = 0;
  return !*name;
}

bool cb_hdf5_set_virtual(hid_t create, hid_t space, const char *file, const char *name, hid_t source) {
  char in[PATH_MAX], of[PATH_MAX];
  return escape(file, in, sizeof in) && escape(name, of, sizeof of) &&
         H5Pset_virtual(create, space, in, of, source) >= 0;
}

hid_t cb_hdf5_put_group(hid_t where, const char *name) {
  hid_t create = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_obj_track_times(create, false);
  H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED);
  H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  hid_t group = H5Gcreate2(where, name, H5P_DEFAULT, create, H5P_DEFAULT);
  H5Pclose(create);
  return group;
}

/* Checks the positions of the bits of a number: HDF5 converts numbers of an unusual layout bit by bit and does not
 * check them (H5T__bit_set). */
bool cb_hdf5_is_number(hid_t type) {
  const H5T_class_t class = H5Tget_class(type);
  const size_t bits = 8 * H5Tget_size(type), precision = H5Tget_precision(type);
  const int offset = H5Tget_offset(type);
  if (class != H5T_INTEGER && class != H5T_FLOAT) return false;
  if (bits < 8 || bits > 128 || !precision || precision > bits || offset < 0 || (size_t)offset > bits - precision)
    return false;
  size_t sign = 0, exponent = 0, exponent_bits = 0, fraction = 0, fraction_bits = 0;
  if (class == H5T_INTEGER) return true;
  return H5Tget_fields(type, &sign, &exponent, &exponent_bits, &fraction, &fraction_bits) >= 0 && sign < precision &&
         exponent_bits > 0 && exponent_bits < 32 && fraction_bits > 0 && exponent <= precision &&
         fraction <= precision && exponent_bits <= precision - exponent && fraction_bits <= precision - fraction;
}

hid_t cb_hdf5_attribute(hid_t where, const char *of, const char *name, H5T_class_t class, size_t count) {
  if (H5Aexists_by_name(where, of, name, H5P_DEFAULT) <= 0) return H5I_INVALID_HID;
  hid_t attribute = H5Aopen_by_name(where, of, name, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute < 0) return attribute;
  hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  bool same = H5Tget_class(type) == class && H5Sget_simple_extent_npoints(space) == (hssize_t)count &&
              ((class != H5T_INTEGER && class != H5T_FLOAT) || cb_hdf5_is_number(type));
  H5Sclose(space);
  H5Tclose(type);
  if (same) return attribute;
  H5Aclose(attribute);
  return H5I_INVALID_HID;
}

bool cb_hdf5_get_numbers(hid_t where, const char *of, const char *name, H5T_class_t class, hid_t memory_type,
                         size_t count, void *out) {
  hid_t attribute = cb_hdf5_attribute(where, of, name, class, count);
  bool ok = attribute >= 0 && H5Aread(attribute, memory_type, out) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  return ok;
}

bool cb_hdf5_set_integers(hid_t where, const char *of, const char *name, hid_t memory_type, size_t count,
                          const void *values) {
  hid_t attribute = cb_hdf5_attribute(where, of, name, H5T_INTEGER, count);
  bool ok = attribute >= 0 && H5Awrite(attribute, memory_type, values) >= 0;
  if (attribute >= 0) ok &= H5Aclose(attribute) >= 0;
  return ok;
}

hid_t cb_hdf5_find_dataset(hid_t where, const char *name) {
  return H5Lexists(where, name, H5P_DEFAULT) > 0 ? H5Dopen2(where, name, H5P_DEFAULT) : H5I_INVALID_HID;
}

bool cb_hdf5_dataset_is(hid_t dataset, hid_t type, int rank, const hsize_t *dims) {
  hsize_t found[H5S_MAX_RANK];
  hid_t stored = H5Dget_type(dataset), space = H5Dget_space(dataset);
  bool same = H5Tequal(stored, type) > 0 && H5Sget_simple_extent_dims(space, found, NULL) == rank;
  for (int d = 0; same && d < rank; d++) same = dims[d] == H5S_UNLIMITED || found[d] == dims[d];
  H5Sclose(space);
  H5Tclose(stored);
  return same;
}

const char cb_hdf5_virtual[] = "takes its numbers from other datasets (it is virtual)",
           cb_hdf5_external[] = "has its numbers in other files (external storage)";

const char *cb_hdf5_elsewhere(hid_t create) {
  if (create < 0) return "has no readable creation properties";
  if (H5Pget_layout(create) == H5D_VIRTUAL) return cb_hdf5_virtual;
  return H5Pget_external_count(create) > 0 ? cb_hdf5_external : NULL;
}

static bool is_text(hid_t type) {
  return type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0;
}

/* Returns a copy of the value of one element of variable length; NULL if there is no memory. */
static char *take_text(char *value) {
  char *text = value ? strdup(value) : calloc(1, 1);
  if (!text) {
    errno = ENOMEM;
    lacking = true;
  }
  return text;
}

static char *text_of_attribute(hid_t attribute) {
  char *value = NULL, *text = NULL;
  const hid_t type = cb_hdf5_text_type(), stored = H5Aget_type(attribute), space = H5Aget_space(attribute);
  H5Tset_cset(type, H5Tget_cset(stored));
  if (H5Aread(attribute, type, &value) >= 0) {
    text = take_text(value);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, &value);
  }
  H5Sclose(space);
  H5Tclose(stored);
  H5Tclose(type);
  return text;
}

enum { FIXED_TEXT = 1 << 16 };

char *cb_hdf5_get_text_attribute(hid_t object, const char *name) {
  hid_t attribute = cb_hdf5_attribute(object, ".", name, H5T_STRING, 1);
  if (attribute < 0) return NULL;
  hid_t type = H5Aget_type(attribute);
  bool text = is_text(type);
  size_t bytes = H5Tget_size(type);
  /* A text of fixed length is at most as long as an attribute in an object header, 64 KiB. */
  char *fixed = !text && bytes < FIXED_TEXT ? calloc(bytes + 1, 1) : NULL;
  if (fixed && H5Aread(attribute, type, fixed) < 0) {
    free(fixed);
    fixed = NULL;
  }
  H5Tclose(type);
  if (text) fixed = text_of_attribute(attribute);
  H5Aclose(attribute);
  return fixed;
}

bool cb_hdf5_is_text(hid_t dataset, size_t *count) {
  hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  hssize_t n = H5Sget_simple_extent_npoints(space);
  bool text = is_text(type) && n >= 0;
  *count = text ? (size_t)n : 0;
  H5Sclose(space);
  H5Tclose(type);
  return text;
}

char *cb_hdf5_get_text_dataset(hid_t where, const char *name) {
  hid_t dataset = cb_hdf5_find_dataset(where, name);
  size_t count;
  if (dataset < 0) return NULL;
  char *text = NULL;
  if (cb_hdf5_is_text(dataset, &count) && count == 1) cb_hdf5_texts_of_dataset(dataset, 1, &text);
  H5Dclose(dataset);
  return text;
}

bool cb_hdf5_texts_of_dataset(hid_t dataset, size_t count, char **out) {
  const hid_t type = cb_hdf5_text_type(), stored = H5Dget_type(dataset), space = H5Dget_space(dataset);
  char **value = calloc(count + 1, sizeof *value);
  bool ok = value != NULL;
  if (!ok) errno = ENOMEM;
  H5Tset_cset(type, H5Tget_cset(stored));
  ok = ok && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0;
  for (size_t i = 0; i < count; i++) {
    out[i] = ok ? take_text(value[i]) : NULL;
    ok = ok && out[i];
  }
  if (value) H5Dvlen_reclaim(type, space, H5P_DEFAULT, value);
  free(value);
  H5Sclose(space);
  H5Tclose(stored);
  H5Tclose(type);
  return ok;
}
