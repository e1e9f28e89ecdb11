/* The files of an MJCF model: the files that <include> inserts, and the files that <asset><model> attaches.
 *
 * An <include> is textual: the elements below the root of its file replace it. In messages they keep their places in
 * their own file. A file is included at most once. A <model> is read as a separate file with its own <compiler>,
 * <default> and meshes. Paths are relative to the folder of the main file, or otherwise to the folder of the file that
 * names them. Source: MuJoCo's XML reference (3.3).
 */
#include "mjcf/mjcf_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 64 }; /* maximum depth of files that attach one another */

/* --- paths --- */

static const char *join(const cb_mjcf_reader *r, const char *folder, size_t n, const char *dir, const char *file) {
  const bool rooted = *file == '/', in = !rooted && *dir, top = in && *dir == '/';
  const size_t size = n + strlen(dir) + strlen(file) + 3;
  char *path = cb_arena_alloc(r->arena, size, 1);
  if (!path) return NULL;
  snprintf(path, size, "%.*s%s%s%s", rooted || top ? 0 : (int)n, folder, in ? dir : "",
           in && dir[strlen(dir) - 1] != '/' ? "/" : "", file);
  return path;
}

const char *cb_mjcf_path(const cb_mjcf_reader *r, const cb_node *file, const char *dir) {
  const char *slash = strrchr(file->file, '/'), *folder = r->whole->folder;
  const char *path = join(r, folder, strlen(folder), dir, file->text);
  if (!path || access(path, F_OK) == 0 || !slash) return path;
  const char *own = join(r, file->file, (size_t)(slash - file->file) + 1, dir, file->text);
  return own && access(own, F_OK) == 0 ? own : path;
}

/* An error of the operating system is reported at the place that names the file. */
static cb_status read_named(const cb_node *file, const char *path, char **text, size_t *n) {
  const cb_status status = cb_read_whole_file(path, CB_XML_LARGEST, text, n);
  if (status != CB_ERROR_FILE) return status;
  char why[1024];
  snprintf(why, sizeof why, "%s", cb_error_text());
  return cb_fail_placed(CB_ERROR_FILE, "%s%s%s", file->file, cb_place_text_of(file->line, file->column).text, why);
}

static cb_status add_file(const cb_mjcf_reader *r, const char *path) {
  cb_mjcf_file *file = cb_arena_alloc(r->arena, 1, sizeof *file);
  if (!file) return cb_mjcf_no_memory(r);
  *file = (cb_mjcf_file){path, r->model->files};
  r->model->files = file;
  return CB_OK;
}

/* --- <include> --- */

/* The state of the inclusions of one file. */
typedef struct including {
  const cb_mjcf_reader *r;
  const cb_mjcf_file *before; /* the first file of an earlier reader: in the list, r's own files end before it */
} including;

static cb_status find_included(const including *in, cb_xml *e, const cb_node *file, const char **path) {
  if (!file) return cb_node_fail(&e->name, "include: expected `file`, a path");
  for (const cb_xml *child = e->first; child; child = child->next)
    if (*child->name.text != '#') return cb_node_fail(&child->name, "include: expected no elements in it");
  *path = cb_mjcf_path(in->r, file, "");
  if (!*path) return cb_mjcf_no_memory(in->r);
  for (const cb_mjcf_file *f = in->r->model->files; f != in->before; f = f->next)
    if (!strcmp(f->path, *path))
      return cb_node_fail(file, "include: expected a file that is not yet part of the model, found '%s' again",
                          cb_quoted(*path, strlen(*path)).text);
  return CB_OK;
}

static cb_status read_included(const including *in, cb_xml *e, cb_xml **root) {
  const cb_node *file = cb_xml_get(e, "file");
  const char *path = NULL;
  char *text;
  size_t n;
  cb_status status = find_included(in, e, file, &path);
  if (!status) status = read_named(file, path, &text, &n);
  if (status) return status;
  status = cb_xml_read(in->r->arena, path, text, n, root);
  free(text);
  if (!status) status = add_file(in->r, path);
  if (!status && !(*root)->first)
    status = cb_node_fail(file, "include: expected a file with at least one element in its root");
  return status;
}

/* Replaces the element *at by the elements below `root`. */
static void put_in_place(cb_xml **at, const cb_xml *root) {
  cb_xml *e = *at, *last = root->last;
  for (cb_xml *child = root->first; child; child = child->next) child->parent = e->parent;
  last->next = e->next;
  if (e->parent->last == e) e->parent->last = last;
  *at = root->first;
}

static cb_status include_within(const including *in, cb_xml *e, int depth) {
  cb_status status = CB_OK;
  if (depth > CB_XML_DEEPEST) return cb_node_fail(&e->name, "expected at most %d nested elements", CB_XML_DEEPEST);
  for (cb_xml **at = &e->first; *at && !status;) {
    if (!strcmp((*at)->name.text, "include")) {
      cb_xml *root;
      status = read_included(in, *at, &root);
      if (!status) put_in_place(at, root);
    } else {
      status = include_within(in, *at, depth + 1);
      at = &(*at)->next;
    }
  }
  return status;
}

/* --- <asset><model> --- */

static const char *name_of(const cb_mjcf_reader *r, cb_xml *e) {
  const cb_node *name = cb_xml_get(e, "name"), *title = cb_xml_get(r->root, "model");
  return name ? name->text : title ? title->text : "";
}

static cb_status attach_model(cb_mjcf_reader *r, cb_xml *e) {
  const cb_node *file = cb_xml_get(e, "file");
  int depth = 0;
  char *text;
  size_t n;
  cb_xml_get(e, "content_type");
  if (!file) return cb_node_fail(&e->name, "model: expected `file`, a path");
  cb_mjcf_reader *own = cb_arena_alloc(r->arena, 1, sizeof *own);
  const char *path = cb_mjcf_path(r, file, "");
  if (!own || !path) return cb_mjcf_no_memory(r);
  for (const cb_mjcf_reader *p = r; p; p = p->parent, depth++)
    if (!strcmp(p->path, path) || depth == FILES)
      return cb_node_fail(file,
                          "model: expected a file that does not attach itself, and at most %d nested files, found '%s'",
                          FILES, cb_quoted(path, strlen(path)).text);
  *own = cb_mjcf_reader_of(r->arena, r->whole, r->model, path);
  own->parent = r;
  cb_status status = read_named(file, path, &text, &n);
  if (status) return status;
  status = cb_mjcf_read(own, text, n);
  free(text);
  if (!status) own->name = name_of(own, e);
  return status;
}

static cb_status read_models(cb_mjcf_reader *r) {
  cb_errors errors = cb_errors_begin();
  for (cb_xml *assets = r->root->first; assets; assets = assets->next) {
    if (!cb_xml_is(assets, "asset")) continue;
    for (cb_xml *e = assets->first; e; e = e->next)
      if (cb_xml_is(e, "model")) cb_errors_add(&errors, &e->name, attach_model(r, e));
  }
  return cb_errors_end(&errors);
}

/* --- a file --- */

cb_mjcf_reader cb_mjcf_reader_of(cb_arena *arena, cb_mjcf_whole *whole, cb_mjcf *model, const char *path) {
  return (cb_mjcf_reader){.arena = arena,
                          .whole = whole,
                          .path = path,
                          .name = "",
                          .sequence = "xyz",
                          .autolimits = true,
                          .from_geoms = CB_MJCF_AUTO,
                          .group = {0, 5},
                          .meshdir = "",
                          .model = model};
}

static void leave_keys(const cb_mjcf_reader *r) {
  for (cb_xml *e = r->root->first; e; e = e->next)
    if (r->parent && !strcmp(e->name.text, "keyframe")) e->why = "only the keys of the main file are read";
}

static cb_status read_root(cb_mjcf_reader *r) {
  cb_xml *root = r->root;
  if (!cb_xml_is(root, "mujoco"))
    return cb_node_fail(&root->name, "expected <mujoco>, found <%s>",
                        cb_quoted(root->name.text, strlen(root->name.text)).text);
  cb_xml_get(root, "model");
  leave_keys(r);
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &root->name, cb_mjcf_read_settings(r));
  cb_errors_add(&errors, &root->name, cb_mjcf_read_classes(r));
  if (!errors.status) cb_errors_add(&errors, &root->name, cb_mjcf_read_meshes(r));
  if (!errors.status) cb_errors_add(&errors, &root->name, read_models(r));
  return cb_errors_end(&errors);
}

cb_status cb_mjcf_read(cb_mjcf_reader *r, const char *text, size_t n) {
  const including in = {r, r->model->files};
  *r->whole->last_reader = r;
  r->whole->last_reader = &r->next;
  cb_status status = cb_xml_read(r->arena, r->path, text, n, &r->root);
  if (!status) status = add_file(r, r->path);
  if (!status) status = include_within(&in, r->root, 1);
  return status ? status : read_root(r);
}
