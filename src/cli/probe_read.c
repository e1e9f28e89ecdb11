/* The child process that reads untrusted files first. It reads every object, attribute and number that HDF5 can reach
 * from the root, only with calls of HDF5. See probe.h.
 *
 * It does not read numbers that the readers of the command reject: numbers in other files (external storage, virtual
 * datasets, links to other files), numbers with filters that this project does not use, and numbers of a type that
 * cannot be converted. But if a virtual dataset names segments of a record, which are files in the folder FILE.parts,
 * these files are read afterwards.
 *
 * HDF5 1.10 uses the number of bytes that the extents of a chunk require, even if fewer bytes are stored or come out of
 * the filters (H5D__chunk_lock); it then reads memory that does not come from the file. So the child counts the bytes
 * of chunks first. Filters are listed in the order in which they are applied in writing: shuffle keeps the size,
 * fletcher32 adds 4 bytes, deflate makes a zlib stream (HDF5 User's Guide 5.6). */
#include "cli/probe.h"

#include "record/arrays.h"

#include <errno.h>
#include <hdf5_hl.h>
#include <limits.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

/* --- the bytes of a chunk --- */

enum { CHECKSUM = 4 };

/* Returns the number of bytes of a stored chunk after the filters are undone; 0 if the bytes do not come from these
 * filters. */
static uLongf count_plain(hid_t create, uint32_t left_out, const unsigned char *stored, uLongf size,
                          unsigned char *plain, uLongf capacity) {
  for (int f = H5Pget_nfilters(create); f-- > 0;) {
    unsigned flags, config;
    size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(create, (unsigned)f, &flags, &values, NULL, 0, NULL, &config);
    if (left_out & 1u << f) continue;
    if (filter == H5Z_FILTER_FLETCHER32) size = size < CHECKSUM ? 0 : size - CHECKSUM;
    if (filter != H5Z_FILTER_DEFLATE) continue;
    uLongf made = capacity;
    size = uncompress(plain, &made, stored, size) == Z_OK ? made : 0;
  }
  return size;
}

/* Returns true if the chunk of a dataset that begins at the element `at` has the number of bytes that its extents
 * require, was never written, or has no filters (HDF5 then checks the number itself). create: the creation properties
 * of the dataset. */
static bool probe_chunk_is_whole(hid_t dataset, hid_t create, int rank, const hsize_t *dims, const hsize_t *at) {
  hsize_t chunk[H5S_MAX_RANK], size = 0;
  uint32_t left_out = 0;
  unsigned options;
  const hid_t type = H5Dget_type(dataset);
  size_t bytes = H5Tget_size(type);
  bool filtered = H5Pget_nfilters(create) > 0; /* without filters HDF5 checks the length itself */
  H5Tclose(type);
  if (H5Pget_chunk_opts(create, &options) < 0 || H5Pget_chunk(create, rank, chunk) != rank) return false;
  for (int d = 0; d < rank; d++) bytes *= chunk[d];
  for (int d = 0; d < rank && options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS; d++)
    filtered &= dims[d] - at[d] >= chunk[d];
  if (!filtered || H5Dget_chunk_storage_size(dataset, at, &size) < 0 || !size) return true;
  if (size > bytes + bytes / 8 + 4096) return false; /* a zlib stream is never so much longer than its content */
  unsigned char *stored = malloc(size), *plain = malloc(bytes + CHECKSUM);
  const bool whole = stored && plain && H5Dread_chunk(dataset, H5P_DEFAULT, at, &left_out, stored) >= 0 &&
                     count_plain(create, left_out, stored, size, plain, bytes + CHECKSUM) == bytes;
  free(stored);
  free(plain);
  return whole;
}

/* --- the child --- */

enum {
  PIECE = 4 << 20,            /* maximum bytes per read, unless one chunk has more */
  CHUNKS = 1024,              /* maximum chunks per read, since HDF5 keeps data in memory for each of them */
  LARGEST_CHUNK = 1 << 30,    /* maximum bytes of a chunk, and of an element */
  UNWRITTEN_CHUNKS = 1 << 22, /* maximum number of chunks that were never written */
  UNWRITTEN = 1 << 30,        /* maximum bytes of numbers that are not in the file */
  NAME = 400
};

/* State of the child; it reads one file after the other. */
static char at[NAME];         /* name of the object that is being read */
static uint64_t budget;       /* remaining bytes of numbers that may be read from the file */
static rlim_t at_start;       /* bytes of address space that the child had when it started */
static void *seen;            /* set of the addresses of the objects that were read */
static char reason[200];      /* the first error message of HDF5 */
static bool lacking;          /* true: an allocation has failed */
static int refused_by_system; /* errno, if the system could not read the file; otherwise 0 */

/* The segments to which the first file refers. */
static struct {
  void *seen; /* the set of the numbers of these segments */
  uint64_t *number;
  size_t count, capacity;
} segments;

/* ---- Reports and limits */

static void report(char kind, const char *text) {
  char report[NAME + 2];
  const int length = snprintf(report, sizeof report, "%c%s", kind, text);
  const size_t size = (length < (int)sizeof report ? (size_t)length : sizeof report - 1) + 1;
  for (size_t i = 1; i + 1 < size; i++)
    if ((unsigned char)report[i] < 32 || report[i] == 127) report[i] = '?';
  if (write(STDOUT_FILENO, report, size) != (ssize_t)size) _exit(1);
}

_Noreturn static void end(char kind, const char *text) {
  report(kind, text);
  _exit(0);
}

/* Allows CLI_PROBE_SECONDS more CPU time from now on. The limit is 2 s higher, since it is set at most once per second
 * and in whole seconds. */
static void give_time(void) {
  static time_t given = -1;
  struct timespec now;
  struct rusage used;
  struct rlimit limit;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  if (now.tv_sec == given) return;
  given = now.tv_sec;
  if (getrusage(RUSAGE_SELF, &used) < 0 || getrlimit(RLIMIT_CPU, &limit) < 0) return;
  limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + CLI_PROBE_SECONDS + 2;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_CPU, &limit);
}

/* Limits memory to that at the start plus CLI_PROBE_ALLOWANCE and `more` bytes; a sanitizer has its own limits
 * (probe.c). */
static void give_memory(uint64_t more) {
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
  struct rlimit limit;
  if (!at_start || getrlimit(RLIMIT_AS, &limit) < 0) return;
  limit.rlim_cur = at_start + ((rlim_t)CLI_PROBE_ALLOWANCE << 20) + more;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_AS, &limit);
#else
  (void)more;
#endif
}

static void measure_start(void) {
  unsigned long long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%llu", &pages) == 1) at_start = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
  if (f) fclose(f);
}

/* Reports the name of an object, or of a part of it, before it is read. */
static void name(const char *part) {
  char text[2 * NAME]; /* a longer text is cut */
  snprintf(text, sizeof text, "%s%s", *at ? at : "/", part);
  give_time();
  report(CLI_PROBE_AT, text);
}

static void spend(uint64_t bytes) {
  if (bytes > budget) end(CLI_PROBE_REFUSE, "it contains more numbers than the file can contain");
  budget -= bytes;
}

/* ---- Errors of HDF5 */

static herr_t note_cause(unsigned n, const H5E_error2_t *error, void *unused) {
  (void)unused;
  if (error->maj_num == H5E_RESOURCE && error->min_num == H5E_NOSPACE) lacking = true;
  if (n || *reason || !error->desc) return 0;
  const char *number = strstr(error->desc, "errno = ");
  const int code = number ? atoi(number + 8) : 0;
  if (code == EIO || code == ESTALE || code == EINTR || code == ETIMEDOUT || code == EACCES) refused_by_system = code;
  snprintf(reason, sizeof reason, "%s", error->desc);
  return 0;
}

static herr_t note(hid_t stack, void *unused) {
  (void)unused;
  if (errno == ENOMEM) lacking = true;
  H5Ewalk2(stack, H5E_WALK_UPWARD, note_cause, NULL);
  return 0;
}

static void forget(void) { *reason = 0; }

/* Checks the result of a call, and ends the child with the reason if it failed. */
static bool good(bool done) {
  char text[300];
  if (done) return true;
  if (lacking) {
    snprintf(text, sizeof text, "it needs more than %d MiB of memory", CLI_PROBE_ALLOWANCE);
    end(CLI_PROBE_REFUSE, text);
  }
  if (refused_by_system) end(CLI_PROBE_LEAVE, "");
  end(CLI_PROBE_REFUSE, *reason ? reason : "HDF5 gave no reason");
}

static int compare(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static bool is_new(void **tree, uint64_t value) {
  uint64_t *key = malloc(sizeof *key);
  if (key) *key = value;
  void *found = key ? tsearch(key, tree, compare) : NULL;
  lacking |= !found;
  if (!good(found != NULL)) return false;
  if (*(uint64_t **)found == key) return true;
  free(key);
  return false;
}

/* ---- Numbers */

/* Returns the type in memory for values of the type `stored`. Floating-point numbers become double and integers become
 * int64, as in the code that reads records; other data keeps its stored type. H5I_INVALID_HID: the type of the number
 * is not supported. */
static hid_t memory_type(hid_t stored) {
  const H5T_class_t class = H5Tget_class(stored);
  const bool number = class == H5T_FLOAT || class == H5T_INTEGER;
  if (number && !cb_hdf5_is_number(stored)) return H5I_INVALID_HID;
  return H5Tcopy(!number ? stored : class == H5T_FLOAT ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64);
}

/* Subtracts the data of values with variable length from the budget, and frees the data. */
static void drop_varying(hid_t type, hid_t space, void *values, size_t count) {
  const bool text = H5Tis_variable_str(type) > 0;
  if (!text && H5Tdetect_class(type, H5T_VLEN) <= 0) return;
  const hid_t of = H5Tget_class(type) == H5T_VLEN ? H5Tget_super(type) : H5I_INVALID_HID;
  const size_t bytes = of >= 0 ? H5Tget_size(of) : 0;
  for (size_t i = 0; i < count; i++) {
    if (text && ((char **)values)[i]) spend(strlen(((char **)values)[i]));
    if (bytes) spend(((hvl_t *)values)[i].len * bytes);
  }
  if (of >= 0) H5Tclose(of);
  good(H5Dvlen_reclaim(type, space, H5P_DEFAULT, values) >= 0);
}

static herr_t read_attribute(hid_t object, const char *attribute_name, const H5A_info_t *info, void *unused) {
  (void)info;
  (void)unused;
  char part[NAME];
  snprintf(part, sizeof part, ": attribute '%s'", attribute_name);
  name(part);
  const hid_t attribute = H5Aopen(object, attribute_name, H5P_DEFAULT);
  if (!good(attribute >= 0)) return 0;
  const hid_t stored = H5Aget_type(attribute), space = H5Aget_space(attribute);
  const hid_t type = good(stored >= 0 && space >= 0) ? memory_type(stored) : H5I_INVALID_HID;
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const size_t bytes = type >= 0 ? H5Tget_size(type) : 0;
  if (bytes && count > 0) {
    if ((uint64_t)count > UNWRITTEN / bytes) end(CLI_PROBE_REFUSE, "it has more than 1 GiB");
    spend((uint64_t)count * bytes);
    void *values = calloc((size_t)count, bytes);
    lacking |= !values;
    if (good(values && H5Aread(attribute, type, values) >= 0)) drop_varying(type, space, values, (size_t)count);
    free(values);
  }
  H5Tclose(type);
  H5Tclose(stored);
  H5Sclose(space);
  H5Aclose(attribute);
  return 0;
}

/* ---- Datasets */

typedef struct table {
  int rank;
  hsize_t dims[H5S_MAX_RANK], chunk[H5S_MAX_RANK], block[H5S_MAX_RANK];
  bool chunked;
  size_t bytes; /* bytes of a number in memory */
} table;

/* Chooses a block of complete chunks, up to the limits PIECE and CHUNKS, along the last dimensions first. */
static void choose_block(table *t) {
  uint64_t bytes = t->bytes, chunks = 1;
  for (int d = 0; d < t->rank; d++) {
    t->block[d] = t->chunked ? t->chunk[d] : 1;
    if (t->block[d] > t->dims[d]) t->block[d] = t->dims[d];
    if (bytes > LARGEST_CHUNK / t->block[d]) end(CLI_PROBE_REFUSE, "it has chunks of more than 1 GiB");
    bytes *= t->block[d];
  }
  for (int d = t->rank - 1; d >= 0; d--) {
    uint64_t along = t->dims[d] / t->block[d] + (t->dims[d] % t->block[d] != 0), times = PIECE / bytes;
    if (t->chunked && times > CHUNKS / chunks) times = CHUNKS / chunks;
    if (times > along) times = along;
    if (!times) times = 1;
    bytes *= times;
    chunks *= times;
    t->block[d] = times >= along ? t->dims[d] : t->block[d] * times;
    if (times < along) break;
  }
}

/* Ends the child unless each chunk of a block has the length that its extents require. */
static void check_chunks(hid_t dataset, hid_t create, const table *t, const hsize_t *from, const hsize_t *count) {
  hsize_t chunk[H5S_MAX_RANK];
  memcpy(chunk, from, sizeof chunk);
  errno = 0;
  for (int d = 0; d >= 0;) {
    if (!probe_chunk_is_whole(dataset, create, t->rank, t->dims, chunk)) {
      lacking |= errno == ENOMEM;
      if (!*reason) snprintf(reason, sizeof reason, "the length of a chunk does not agree with its extents");
      good(false);
    }
    forget(); /* ignores the error for a chunk that was never written */
    for (d = t->rank - 1; d >= 0; d--) {
      if ((chunk[d] += t->chunk[d]) < from[d] + count[d]) break;
      chunk[d] = from[d];
    }
  }
}

/* Reads all blocks. The numbers of the first block are converted to the type that the command uses. The other blocks
 * are read in their stored type, since errors of the conversion depend only on the type. */
static void read_blocks(hid_t dataset, hid_t create, hid_t type, hid_t stored, hid_t space, const table *t) {
  hsize_t from[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK], numbers = 1;
  for (int d = 0; d < t->rank; d++) numbers *= t->block[d];
  void *values = calloc(numbers, t->bytes);
  lacking |= !values;
  int d = good(values != NULL) ? 0 : -1;
  while (d >= 0) {
    hsize_t n = 1;
    for (d = 0; d < t->rank; d++) {
      count[d] = t->dims[d] - from[d] < t->block[d] ? t->dims[d] - from[d] : t->block[d];
      n *= count[d];
    }
    const hid_t memory = H5Screate_simple(t->rank, count, NULL);
    if (t->rank) H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, count, NULL);
    give_time();
    report(CLI_PROBE_ON, "");
    spend(n * t->bytes);
    if (t->chunked) check_chunks(dataset, create, t, from, count);
    if (good(H5Dread(dataset, type, memory, space, H5P_DEFAULT, values) >= 0)) drop_varying(type, memory, values, n);
    H5Sclose(memory);
    type = stored;
    for (d = t->rank - 1; d >= 0; d--) {
      if ((from[d] += t->block[d]) < t->dims[d]) break;
      from[d] = 0;
    }
  }
  free(values);
}

/* Counts the chunks, which makes HDF5 read the complete index of chunks. */
static void count_chunks(hid_t dataset, hid_t space, const table *t) {
  hsize_t written = 0, chunks = 1;
  if (!good(H5Dget_num_chunks(dataset, space, &written) >= 0)) return;
  for (int d = 0; d < t->rank; d++) {
    const hsize_t along = t->dims[d] / t->chunk[d] + (t->dims[d] % t->chunk[d] != 0);
    if (chunks > (written + UNWRITTEN_CHUNKS) / along)
      end(CLI_PROBE_REFUSE, "it has many more chunks than were written");
    chunks *= along;
  }
}

/* Reads the name of a scale that HDF5 found through a reference of a dataset. */
static herr_t take_scale(hid_t dataset, unsigned d, hid_t scale, void *unused) {
  char text[NAME];
  (void)dataset;
  (void)d;
  (void)unused;
  H5DSget_scale_name(scale, text, sizeof text);
  return 0;
}

static void look_for_scales(hid_t dataset, int rank) {
  if (H5DSis_scale(dataset) <= 0)
    for (int d = 0; d < rank; d++)
      if (H5DSget_num_scales(dataset, (unsigned)d) > 0)
        H5DSiterate_scales(dataset, (unsigned)d, NULL, take_scale, NULL);
  forget(); /* a scale that does not exist any more is not an error */
}

/* Returns the number of a segment from its file name; 0 if the file is not a segment. The name of the folder does not
 * count, since it may have changed after the record was written. */
static uint64_t segment_number(const char *file) {
  const char *digits = strrchr(file, '/');
  if (!digits++) return 0;
  const size_t count = strspn(digits, "0123456789");
  return count >= 6 && count <= 18 && !strcmp(digits + count, ".h5") ? strtoull(digits, NULL, 10) : 0;
}

static void note_segments(hid_t create) {
  char file[PATH_MAX];
  size_t count = 0;
  good(H5Pget_virtual_count(create, &count) >= 0);
  for (size_t i = 0; i < count; i++) {
    const uint64_t number = H5Pget_virtual_filename(create, i, file, sizeof file) > 0 ? segment_number(file) : 0;
    if (!number || !is_new(&segments.seen, number)) continue;
    if (segments.count == segments.capacity) {
      segments.capacity = segments.capacity ? 2 * segments.capacity : 64;
      segments.number = realloc(segments.number, segments.capacity * sizeof *segments.number);
      lacking |= !segments.number;
      good(segments.number != NULL);
    }
    segments.number[segments.count++] = number;
  }
}

/* Reads a dataset; notes the segments that a virtual dataset names. The extent of a virtual dataset is not read,
 * because HDF5 might open its source files to find it. */
static void read_dataset(hid_t dataset) {
  table t = {0};
  const hid_t create = H5Dget_create_plist(dataset);
  if (!good(create >= 0)) return;
  if (H5Pget_layout(create) == H5D_VIRTUAL) {
    note_segments(create);
    H5Pclose(create);
    return;
  }
  const hid_t space = H5Dget_space(dataset), stored = H5Dget_type(dataset);
  if (!good(space >= 0 && stored >= 0)) return;
  t.rank = H5Sget_simple_extent_dims(space, t.dims, NULL);
  const hid_t type = memory_type(stored);
  t.bytes = type >= 0 ? H5Tget_size(type) : 0;
  if (t.bytes && t.bytes < H5Tget_size(stored)) t.bytes = H5Tget_size(stored);
  t.chunked = H5Pget_layout(create) == H5D_CHUNKED && H5Pget_chunk(create, t.rank, t.chunk) == t.rank;
  bool some = t.bytes && t.rank >= 0 && H5Sget_simple_extent_npoints(space) > 0;
  if (some && !cb_hdf5_elsewhere(create) && !cb_hdf5_foreign_filter(create) && H5Dget_storage_size(dataset)) {
    if (t.bytes > LARGEST_CHUNK) end(CLI_PROBE_REFUSE, "it has elements of more than 1 GiB");
    if (t.chunked) count_chunks(dataset, space, &t);
    choose_block(&t);
    uint64_t bytes = H5Tget_size(stored) + t.bytes;
    for (int d = 0; d < t.rank; d++) bytes *= t.chunked ? t.chunk[d] : 1;
    give_memory(t.chunked ? 2 * bytes : bytes);
    read_blocks(dataset, create, type, stored, space, &t);
    give_memory(0);
  }
  look_for_scales(dataset, t.rank);
  H5Tclose(type);
  H5Tclose(stored);
  H5Pclose(create);
  H5Sclose(space);
}

/* ---- Objects */

static void read_object(hid_t object);

static herr_t read_link(hid_t group, const char *link_name, const H5L_info_t *info, void *unused) {
  (void)unused;
  if (info->type != H5L_TYPE_HARD) return 0;
  const size_t length = strlen(at);
  snprintf(at + length, sizeof at - length, "/%s", link_name);
  name("");
  const hid_t object = H5Oopen(group, link_name, H5P_DEFAULT);
  if (good(object >= 0)) {
    read_object(object);
    H5Oclose(object);
  }
  at[length] = 0;
  return 0;
}

/* Does nothing with a link. The iteration itself makes HDF5 read the index by creation order, which is stored in the
 * file separately from the index by name. */
static herr_t pass_link(hid_t group, const char *link_name, const H5L_info_t *info, void *unused) {
  (void)group;
  (void)link_name;
  (void)info;
  (void)unused;
  return 0;
}

static void read_group(hid_t group) {
  unsigned order = 0;
  const hid_t create = H5Gget_create_plist(group);
  good(H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, read_link, NULL) >= 0);
  name("");
  if (create >= 0 && H5Pget_link_creation_order(create, &order) >= 0 && order & H5P_CRT_ORDER_TRACKED)
    good(H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, pass_link, NULL) >= 0);
  if (create >= 0) H5Pclose(create);
}

static void read_object(hid_t object) {
  H5O_info_t info;
  if (!good(H5Oget_info2(object, &info, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS) >= 0) || !is_new(&seen, info.addr)) return;
  good(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, read_attribute, NULL) >= 0);
  name("");
  if (info.type == H5O_TYPE_GROUP) read_group(object);
  if (info.type == H5O_TYPE_DATASET) read_dataset(object);
}

/* ---- Files */

static hid_t open_file(const char *path) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access < 0) return access;
  H5Pset_metadata_read_attempts(access, 1);
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
  H5Pclose(access);
  return file;
}

static void read_file(const char *path) {
  struct stat info;
  char text[NAME];
  if (stat(path, &info) < 0) return report(CLI_PROBE_LEAVE, "");
  snprintf(text, sizeof text, "%llu %llu %lld %lld %ld", (unsigned long long)info.st_dev,
           (unsigned long long)info.st_ino, (long long)info.st_size, (long long)info.st_mtim.tv_sec,
           info.st_mtim.tv_nsec);
  report(CLI_PROBE_FILE, text);
  name("");
  budget = (uint64_t)info.st_size * CLI_PROBE_DEFLATE + UNWRITTEN;
  const hid_t file = open_file(path);
  if (file < 0 && !lacking) {
    forget();
    report(CLI_PROBE_LEAVE, "");
    return;
  }
  forget();
  if (good(file >= 0)) {
    const hid_t root = H5Gopen2(file, "/", H5P_DEFAULT);
    if (good(root >= 0)) read_object(root);
    H5Gclose(root);
    H5Fclose(file);
  }
  report(CLI_PROBE_READ, "");
  tdestroy(seen, free);
  seen = NULL;
}

/* Reads the segments that the record names. If a segment was replaced or joined in the meantime, it is probed when the
 * command opens it. */
static void read_segments(const char *record) {
  char path[PATH_MAX + 48];
  for (size_t i = 0; i < segments.count; i++) {
    snprintf(path, sizeof path, "%s.parts/%06llu.h5", record, (unsigned long long)segments.number[i]);
    read_file(path);
  }
}

_Noreturn void cli_probe_read(const char *path) {
  char record[PATH_MAX];
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* the child ends with the command, even while it waits */
  signal(SIGINT, SIG_IGN);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0});
  if (H5open() < 0) end(CLI_PROBE_LEAVE, "");
  measure_start();
  give_memory(0);
  H5Eset_auto2(H5E_DEFAULT, note, NULL);
  const bool named = realpath(path, record) != NULL;
  read_file(path);
  if (named) read_segments(record);
  _exit(0);
}
