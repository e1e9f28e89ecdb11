/* Poses from numbered files of surfaces that share their faces. */
#include "core/failure.h"
#include "fluid/poses.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cb_status cb_poses_file(const char *pattern, int number, char name[CB_POSES_LONGEST_NAME]) {
  const char *mark = strchr(pattern, '#');
  size_t digits = mark ? strspn(mark, "#") : 0;
  if (!mark || strchr(mark + digits, '#'))
    return cb_fail(CB_ERROR_INPUT, "poses '%s': expected a name with one run of '#', which stands for the number",
                   pattern);
  int n = snprintf(name, CB_POSES_LONGEST_NAME, "%.*s%0*d%s", (int)(mark - pattern), pattern,
                   (int)(digits < 20 ? digits : 20), number, mark + digits);
  if (n < 0 || n >= CB_POSES_LONGEST_NAME) return cb_fail(CB_ERROR_INPUT, "poses: a name of %d characters", n);
  return CB_OK;
}

/* Whether it can be read shows when it is. */
static bool is_there(const char *name) { return access(name, F_OK) == 0; }

static cb_status check_whole(const char *name, const cb_surface *body, const double (*x)[3]) {
  const int apart = cb_surface_torn(body, x);
  if (apart < 0) return CB_OK;
  const int other = body->number[body->vertex[apart]];
  return cb_fail_placed(CB_ERROR_INPUT,
                        "%s:1:1: error: vertex %d is not at the place of vertex %d, with which `weld` joins it", name,
                        apart + 1, other);
}

/* Reads poses of the body, whose mesh it is, into x, which grows; own: the first of them, where it is known. */
static cb_status read_all(const char *pattern, int first, int count, const cb_mesh *mesh, const cb_mesh *own,
                          const cb_surface *body, double (**x)[3], int *poses) {
  const cb_mesh_reading how = {.like = mesh};
  size_t size = (size_t)body->vertices;
  int room = 0;
  cb_status status = CB_OK;
  for (int i = 0; !status && (count == 0 || i < count); i++) {
    char name[CB_POSES_LONGEST_NAME];
    if (first > INT_MAX - i) break; /* with count 0 */
    status = cb_poses_file(pattern, first + i, name);
    if (status || (count == 0 && !is_there(name))) break;
    if (i == room) {
      room = room ? 2 * room : 16;
      double(*larger)[3] = realloc(*x, (size_t)room * size * sizeof **x);
      if (!larger) return cb_fail(CB_ERROR_MEMORY, "no memory for %d poses of %zu vertices", room, size);
      *x = larger;
    }
    const cb_mesh *pose = own;
    cb_mesh *read = NULL;
    if (i || !own) {
      status = cb_surface_read_mesh(name, &how, &read);
      pose = read;
    }
    if (!status) status = check_whole(name, body, (const double(*)[3])pose->vertices);
    if (!status) cb_surface_gather(body, (const double(*)[3])pose->vertices, *x + (size_t)i * size);
    cb_mesh_free(read);
    *poses = i + 1;
  }
  return status;
}

/* A file that is missing between others ends no sequence: none of the next ones may be there. */
static cb_status check_gap(const char *pattern, int missing) {
  enum { LOOKED_AT = 100 };
  char gone[CB_POSES_LONGEST_NAME], name[CB_POSES_LONGEST_NAME];
  cb_status status = cb_poses_file(pattern, missing, gone);
  for (int i = 1; i <= LOOKED_AT && missing <= INT_MAX - i && !status; i++) {
    status = cb_poses_file(pattern, missing + i, name);
    if (!status && is_there(name))
      status = cb_fail_placed(CB_ERROR_INPUT, "%s: error: is missing, while '%s' is there", gone, name);
  }
  return status;
}

/* The number of a file in a folder that has the pattern's name, -1: it is none of them. */
static int number_of(const char *name, const char *mark, const char *begin, size_t digits) {
  const size_t before = (size_t)(mark - begin), length = strlen(name), after = strlen(mark + digits);
  if (length < before + digits + after || strncmp(name, begin, before) != 0 ||
      strcmp(name + length - after, mark + digits) != 0)
    return -1;
  const size_t found = length - before - after;
  long long number = 0;
  for (size_t i = 0; i < found; i++) {
    const char c = name[before + i];
    if (c < '0' || c > '9' || (number = 10 * number + c - '0') > INT_MAX) return -1;
  }
  return found > digits && name[before] == '0' ? -1 : (int)number;
}

/* The first file is not there: where do they begin? */
static cb_status fail_missing(const char *pattern, const char *first) {
  const char *mark = strchr(pattern, '#'), *slash = mark;
  while (slash > pattern && slash[-1] != '/') slash--;
  char folder[CB_POSES_LONGEST_NAME];
  snprintf(folder, sizeof folder, "%.*s", slash > pattern ? (int)(slash - pattern) : 1,
           slash > pattern ? pattern : ".");
  DIR *stream = strchr(mark, '/') ? NULL : opendir(folder);
  int least = -1;
  for (struct dirent *entry; stream && (entry = readdir(stream));) {
    const int number = number_of(entry->d_name, mark, slash, strspn(mark, "#"));
    if (number >= 0 && (least < 0 || number < least)) least = number;
  }
  if (stream) closedir(stream);
  if (least < 0) return CB_OK;
  return cb_fail(CB_ERROR_FILE, "cannot read '%s': %s; the files of '%s' begin with number %d: expected `first: %d`",
                 first, strerror(ENOENT), pattern, least, least);
}

cb_status cb_poses_read(const char *pattern, int first, int count, const cb_poses_times *times, const cb_mesh *mesh,
                        const cb_mending *how, cb_surface **rest, cb_poses **out) {
  char name[CB_POSES_LONGEST_NAME];
  cb_mesh *own = NULL;
  cb_mending posed = how ? *how : (cb_mending){.weld = false};
  cb_surface *surface = NULL;
  double(*x)[3] = NULL;
  int poses = 0;
  if (first < 0 || count < 0)
    return cb_fail(CB_ERROR_ARGUMENT, "poses '%s': %d files from number %d on, expected no negative number", pattern,
                   count, first);
  if (count > 0 && first > INT_MAX - (count - 1))
    return cb_fail(CB_ERROR_ARGUMENT, "poses '%s': %d files from number %d on, expected numbers up to %d", pattern,
                   count, first, INT_MAX);
  posed.posed = true;
  cb_status status = cb_poses_file(pattern, first, name);
  if (!status && !is_there(name)) status = fail_missing(pattern, name);
  if (!status && !mesh) status = cb_surface_read_mesh(name, NULL, &own);
  if (!status && !mesh) status = cb_surface_of_mesh(own, &posed, &surface);
  const cb_surface *body = mesh ? *rest : surface;
  if (!status) status = read_all(pattern, first, count, mesh ? mesh : own, own, body, &x, &poses);
  if (!status && count == 0 && first <= INT_MAX - poses) status = check_gap(pattern, first + poses);
  if (!status) status = cb_poses_from_arrays(body->vertices, poses, (const double(*)[3])x, times, out);
  free(x);
  cb_mesh_free(own);
  if (status) cb_surface_free(surface);
  else if (!mesh) *rest = surface;
  return status;
}
