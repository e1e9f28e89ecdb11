/* The files of an MJCF model, and the elements in a body or in the world.
 *
 * An <include> is textual: the elements below the root of its file replace it. In messages they keep their places in
 * their own file. A file is included at most once. A <model> is read as a separate file with its own <compiler>,
 * <default> and meshes. Paths are relative to the folder of the main file, or otherwise to the folder of the file that
 * names them. Source: MuJoCo's XML reference (3.3).
 *
 * In a body or in the world, <frame>, <replicate> and <attach> are replaced by the elements that they create.
 *
 * A frame moves its elements. A <replicate> has the attributes count, offset, euler and sep. Its copies have the
 * numbers i = 0 .. count - 1. Copy i is at x_i, turned by the angles i euler,
 *
 *   x_0 = 0,   x_(i+1) = x_i + R(i euler) offset,   R the rotation by these angles
 *
 * The names of its elements end in sep and i, with the number of digits of count; the suffixes of inner copies come
 * first. An <attach> is replaced by a body or a frame of another file, by one that comes before the <attach> in the
 * same file, or by the complete world of another file. The elements keep the settings and defaults of their own file,
 * and their names begin with `prefix`. Source: MuJoCo's XML reference and its reader of 3.3 (for angles about several
 * axes the reader turns by i euler, not by i rotations one after the other).
 */
#include "mjcf/mjcf_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 64 }; /* maximum depth of files that attach one another */

/* --- paths --- */

static const char *join_path(const cb_mjcf_reader *r, const char *folder, size_t n, const char *dir, const char *file) {
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
  const char *path = join_path(r, folder, strlen(folder), dir, file->text);
  if (!path || access(path, F_OK) == 0 || !slash) return path;
  const char *own = join_path(r, file->file, (size_t)(slash - file->file) + 1, dir, file->text);
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
  const cb_mjcf_file *before; /* the first file of an earlier reader; the files of r come before it in the list */
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

enum { VISITS = 1000000 };

static cb_status visit_one(const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_visit *visit, void *user);

/* --- names and classes --- */

static const char *join(const cb_mjcf_reader *r, const char *a, const char *b, const char *c) {
  const size_t n = strlen(a) + strlen(b) + strlen(c) + 1;
  char *text = cb_arena_alloc(r->arena, n, 1);
  if (text) snprintf(text, n, "%s%s%s", a, b, c);
  return text;
}

const char *cb_mjcf_name(const cb_mjcf_scope *scope, cb_xml *e) {
  const cb_node *name = cb_xml_get(e, "name");
  return name && *name->text ? join(scope->r, scope->prefix, name->text, scope->suffix) : "";
}

static cb_status read_class(cb_xml *e, cb_mjcf_scope *scope) {
  const cb_node *value = cb_xml_get(e, "childclass");
  const cb_mjcf_class *c = scope->r->classes;
  if (!value) return CB_OK;
  while (c && strcmp(c->name, value->text)) c = c->next;
  if (!c) return cb_node_fail(value, "no <default> has the class `%s`", value->text);
  scope->childclass = value->text;
  return CB_OK;
}

cb_status cb_mjcf_enter(const cb_mjcf_scope *around, cb_xml *body, cb_mjcf_scope *out, cb_pose *pose) {
  const cb_mjcf_source source = {{body}, 1};
  *out = *around;
  cb_pose_identity(&out->frame);
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &body->name, read_class(body, out));
  if (pose) {
    cb_errors_add(&errors, &body->name, cb_mjcf_pose(around->r, &source, pose, NULL));
    cb_pose_multiply(&around->frame, pose, pose);
  }
  return cb_errors_end(&errors);
}

/* --- <frame> --- */

static cb_status visit_frame(const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_visit *visit, void *user) {
  cb_mjcf_scope inner;
  cb_pose pose;
  const cb_status status = cb_mjcf_enter(scope, e, &inner, &pose);
  inner.frame = pose;
  cb_xml_get(e, "name");
  return status ? status : cb_mjcf_each(&inner, e, visit, user);
}

/* --- <replicate> --- */

typedef struct copies {
  int count;
  double offset[3], euler[3];
  const char *sep;
} copies;

static cb_status read_count(cb_xml *e, int *out) {
  const cb_node *value = cb_xml_get(e, "count");
  double number = 0;
  if (!value) return cb_node_fail(&e->name, "expected `count`, the number of copies");
  const cb_status status = cb_mjcf_numbers(value, "count", 1, 1, &number, NULL);
  if (status) return status;
  if (!(number >= 1 && number <= VISITS && number == floor(number)))
    return cb_node_fail(value, "count: expected an integer from 1 to %d, found %g", VISITS, number);
  *out = (int)number;
  return CB_OK;
}

static cb_status read_copies(cb_xml *e, copies *out) {
  const cb_node *offset = cb_xml_get(e, "offset"), *euler = cb_xml_get(e, "euler"), *sep = cb_xml_get(e, "sep");
  *out = (copies){.sep = sep ? sep->text : ""};
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &e->name, read_count(e, &out->count));
  if (offset) cb_errors_add(&errors, offset, cb_mjcf_numbers(offset, "offset", 3, 3, out->offset, NULL));
  if (euler) cb_errors_add(&errors, euler, cb_mjcf_numbers(euler, "euler", 3, 3, out->euler, NULL));
  return cb_errors_end(&errors);
}

static cb_status visit_copies(const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_visit *visit, void *user) {
  copies c;
  cb_mjcf_scope inner = *scope;
  cb_pose at;
  cb_pose_identity(&at);
  cb_status status = read_copies(e, &c);
  if (!status) status = read_class(e, &inner);
  const int digits = status ? 0 : snprintf(NULL, 0, "%d", c.count);
  for (int i = 0; i < c.count && !status; i++) {
    const double angle[3] = {i * c.euler[0], i * c.euler[1], i * c.euler[2]};
    double next[3];
    char number[16];
    cb_mjcf_euler(scope->r, angle, at.q);
    cb_pose_multiply(&scope->frame, &at, &inner.frame);
    snprintf(number, sizeof number, "%0*d", digits, i);
    inner.suffix = join(scope->r, c.sep, number, scope->suffix);
    inner.copy = ++scope->r->whole->copies;
    status = inner.suffix ? cb_mjcf_each(&inner, e, visit, user) : cb_mjcf_no_memory(scope->r);
    cb_pose_point(&at, c.offset, next);
    memcpy(at.x, next, sizeof next);
    if (!status && ++scope->r->whole->visits > VISITS)
      status = cb_node_fail(&e->name, "expected at most %d elements in the model: use fewer copies", VISITS);
  }
  return status;
}

/* --- <attach> --- */

/* Finds the first element in e with this kind and name before `stop` (NULL: no bound). Returns false if the search
 * reaches `stop`. */
static bool find_named(cb_xml *e, const char *kind, const char *name, const cb_xml *stop, cb_xml **out) {
  for (cb_xml *child = e->first; child; child = child->next) {
    if (child == stop) return false;
    const cb_node *own = strcmp(child->name.text, kind) ? NULL : cb_xml_get(child, "name");
    if (own && !*out && !strcmp(own->text, name)) *out = child;
    if (!find_named(child, kind, name, stop, out)) return false;
  }
  return true;
}

static bool is_around(const cb_xml *e, const cb_xml *within) {
  while (within && within != e) within = within->parent;
  return within != NULL;
}

static cb_status find_model(const cb_mjcf_reader *r, const cb_node *model, cb_mjcf_reader **out) {
  for (cb_mjcf_reader *own = r->whole->readers; own; own = own->next)
    if (own->parent == r && !strcmp(own->name, model->text)) {
      *out = own;
      return CB_OK;
    }
  return cb_node_fail(model, "no <model> is called `%s`", model->text);
}

/* Sets scope->childclass to the childclass of the innermost body around the target that has one, in the target's own
 * file. */
static void stand_in_place(const cb_xml *target, cb_mjcf_scope *scope) {
  scope->childclass = NULL;
  for (cb_xml *p = target->parent; p && !scope->childclass; p = p->parent) {
    const cb_node *value = cb_xml_get(p, "childclass");
    if (value) scope->childclass = value->text;
  }
}

static cb_status visit_target(const cb_mjcf_scope *scope, const cb_xml *e, const cb_node *model, const cb_node *part,
                              const char *kind, cb_mjcf_visit *visit, void *user) {
  cb_mjcf_scope inner = *scope;
  cb_xml *target = NULL;
  for (cb_xml *world = scope->r->root->first; world && !target; world = world->next)
    if (!strcmp(world->name.text, "worldbody") && !find_named(world, kind, part->text, model ? NULL : e, &target))
      break;
  if (!target || is_around(target, e))
    return cb_node_fail(part, "no <%s> is called `%s`%s", kind, part->text,
                        model ? " in its file" : ", before this <attach> and not around it");
  stand_in_place(target, &inner);
  for (cb_xml *p = target->parent; p; p = p->parent) p->read = p->read || model;
  return visit_one(&inner, target, visit, user);
}

static cb_status visit_attached(const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_visit *visit, void *user) {
  const cb_node *model = cb_xml_get(e, "model"), *body = cb_xml_get(e, "body"), *frame = cb_xml_get(e, "frame"),
                *prefix = cb_xml_get(e, "prefix");
  cb_mjcf_scope inner = *scope;
  if (!prefix) return cb_node_fail(&e->name, "expected `prefix`, for the names of the attached elements");
  if (body && frame) return cb_node_fail(frame, "`frame` next to `body`: expected only one of them");
  if (!model && !body && !frame) return cb_node_fail(&e->name, "expected `model`, `body` or `frame`");
  const cb_status status = model ? find_model(scope->r, model, &inner.r) : CB_OK;
  if (status) return status;
  inner.prefix = join(scope->r, scope->prefix, prefix->text, "");
  inner.copy = ++scope->r->whole->copies;
  if (!inner.prefix) return cb_mjcf_no_memory(scope->r);
  if (body || frame) return visit_target(&inner, e, model, body ? body : frame, body ? "body" : "frame", visit, user);
  inner.childclass = NULL;
  return cb_mjcf_each_of_world(&inner, visit, user);
}

/* --- visits --- */

static cb_status visit_one(const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_visit *visit, void *user) {
  if (++scope->r->whole->visits > VISITS)
    return cb_node_fail(&e->name, "expected at most %d elements in the model: use fewer copies", VISITS);
  if (cb_xml_is(e, "frame")) return visit_frame(scope, e, visit, user);
  if (cb_xml_is(e, "replicate")) return visit_copies(scope, e, visit, user);
  if (cb_xml_is(e, "attach")) return visit_attached(scope, e, visit, user);
  return visit(user, scope, e);
}

cb_status cb_mjcf_each(const cb_mjcf_scope *scope, cb_xml *parent, cb_mjcf_visit *visit, void *user) {
  cb_errors errors = cb_errors_begin();
  for (cb_xml *child = parent->first; child; child = child->next)
    cb_errors_add(&errors, &child->name, visit_one(scope, child, visit, user));
  return cb_errors_end(&errors);
}

cb_status cb_mjcf_each_of_world(const cb_mjcf_scope *scope, cb_mjcf_visit *visit, void *user) {
  cb_errors errors = cb_errors_begin();
  for (cb_xml *e = scope->r->root->first; e; e = e->next) {
    cb_mjcf_scope inner = *scope;
    if (!cb_xml_is(e, "worldbody")) continue;
    const cb_status status = read_class(e, &inner);
    cb_errors_add(&errors, &e->name, status ? status : cb_mjcf_each(&inner, e, visit, user));
  }
  return cb_errors_end(&errors);
}
