/* <keyframe> of MJCF: a <key> is a start, the coordinates and velocities of all joints and the controls of all
 * actuators.
 *
 * Of a free joint the coordinates are the place and the quaternion of its body; of its velocities the first three are
 * the world's, of the body's origin, the others the spin in the body's axes. Source: MuJoCo's documentation (mjData,
 * floating objects). */
#include "mjcf/private.h"

#include "numerics/vec3.h"
#include "tree/scalar.h"

#include <stdio.h>
#include <string.h>

/* --- which --- */

typedef struct keys {
  cb_xml **key;
  const char **name;
  size_t n;
} keys;

static void count_or_keep(const cb_mjcf_reader *r, keys *k, bool keep) {
  k->n = 0;
  for (cb_xml *e = r->root->first; e; e = e->next) {
    if (!cb_xml_is(e, "keyframe")) continue;
    for (cb_xml *key = e->first; key; key = key->next) {
      if (strcmp(key->name.text, "key")) continue;
      const cb_node *name = cb_xml_get(key, "name");
      if (keep) k->key[k->n] = key, k->name[k->n] = name ? name->text : "";
      k->n++;
    }
  }
}

static cb_status list_keys(const cb_mjcf_reader *r, keys *k) {
  count_or_keep(r, k, false);
  k->key = cb_arena_alloc(r->arena, k->n, sizeof *k->key);
  k->name = cb_arena_alloc(r->arena, k->n, sizeof *k->name);
  if (!k->key || !k->name) return cb_mjcf_no_memory(r);
  count_or_keep(r, k, true);
  return CB_OK;
}

static cb_status note_keys(const cb_mjcf_reader *r, const keys *k) {
  for (size_t i = 0; i < k->n; i++) {
    char text[128];
    if (*k->name[i])
      snprintf(text, sizeof text, "a start of its own, which `--key %s` takes",
               cb_quoted(k->name[i], strlen(k->name[i])).text);
    else
      snprintf(text, sizeof text, "a start of its own, which `--key %zu` takes", i);
    k->key[i]->why = cb_arena_strdup(r->arena, text);
    if (!k->key[i]->why) return cb_mjcf_no_memory(r);
  }
  return CB_OK;
}

/* The key as `--key` takes it: its number where it has no name. */
static cb_status fail_unknown_key(const cb_mjcf_reader *r, const keys *k, const char *asked) {
  for (size_t i = 0; i < k->n; i++) {
    char number[24];
    if (*k->name[i]) continue;
    snprintf(number, sizeof number, "%zu", i);
    k->name[i] = cb_arena_strdup(r->arena, number);
    if (!k->name[i]) return cb_mjcf_no_memory(r);
  }
  return cb_fail_unknown(&k->key[0]->name, "key", asked, k->name, k->n);
}

static cb_status find_key(const cb_mjcf_reader *r, const keys *k, const char *asked, cb_xml **out) {
  long long number;
  *out = NULL;
  for (size_t i = 0; i < k->n && !*out; i++)
    if (*asked && !strcmp(k->name[i], asked)) *out = k->key[i];
  if (*out) return CB_OK;
  if (cb_parse_integer(asked, strlen(asked), &number) && number >= 0 && number < (long long)k->n) {
    *out = k->key[number];
    return CB_OK;
  }
  if (!k->n) return cb_node_fail(&r->root->name, "--key: expected a <key> in the file, found none");
  return fail_unknown_key(r, k, asked);
}

/* --- what it says --- */

static cb_status read_vector(const cb_mjcf_reader *r, cb_xml *key, const char *name, int n, double **out) {
  const cb_node *value = cb_xml_get(key, name);
  if (!value) return CB_OK;
  if (r->whole->unknown)
    return cb_node_fail(value, "%s: <%s> in line %d has joints that are not known: expected none", name,
                        r->whole->unknown->name.text, r->whole->unknown->name.line);
  *out = cb_arena_alloc(r->arena, (size_t)n, sizeof **out);
  return *out ? cb_mjcf_numbers(value, name, n, n, *out, NULL) : cb_mjcf_no_memory(r);
}

/* A body whose frame MuJoCo moves to its centre has other coordinates than those of the file. */
static cb_status check_frame(const cb_mjcf_target *t) {
  static const char *const words[] = {"false", "true", "auto"};
  const cb_node *align = cb_xml_get(t->e, "align");
  int choice = 2;
  const cb_status status = align ? cb_mjcf_choice(align, "align", 3, words, &choice) : CB_OK;
  if (status || !(choice == 1 || (choice == 2 && t->scope.r->align))) return status;
  return cb_node_fail(align ? align : &t->e->name, "a key for a joint whose body is aligned: expected align=\"false\"");
}

static cb_status place(const cb_mjcf_target *t, const cb_node *key, const double *q, const double *v) {
  cb_pose *pose = &t->body->place;
  double R[3][3];
  const cb_status status = check_frame(t);
  if (status) return status;
  if (q) {
    memcpy(pose->x, q + t->q, sizeof pose->x);
    memcpy(pose->q, q + t->q + 3, sizeof pose->q);
    if (!cb_mjcf_normalise(4, pose->q))
      return cb_node_fail(key, "qpos: expected a quaternion that is not 0, found 0 from number %d", t->q + 4);
  }
  if (!v) return CB_OK;
  cb_pose_rotation(pose, R);
  cb_apply3_transposed((const double(*)[3])R, v + t->v, t->body->velocity);
  memcpy(t->body->spin, v + t->v + 3, sizeof t->body->spin);
  return CB_OK;
}

static cb_status take_key(cb_mjcf_reader *r, cb_xml *key, const cb_node **control) {
  const cb_node *time = cb_xml_get(key, "time"), *qpos = cb_xml_get(key, "qpos");
  double *q = NULL, *v = NULL;
  cb_xml_is(key, "key");
  *control = cb_xml_get(key, "ctrl");
  cb_errors errors = cb_errors_begin();
  if (time) cb_errors_add(&errors, time, cb_mjcf_numbers(time, "time", 1, 1, &r->model->start, NULL));
  cb_errors_add(&errors, &key->name, read_vector(r, key, "qpos", r->whole->nq, &q));
  cb_errors_add(&errors, &key->name, read_vector(r, key, "qvel", r->whole->nv, &v));
  for (const cb_mjcf_target *t = r->whole->targets; t && !errors.status && (q || v); t = t->next)
    if (t->joint && t->body) cb_errors_add(&errors, &key->name, place(t, qpos ? qpos : &key->name, q, v));
  return cb_errors_end(&errors);
}

cb_status cb_mjcf_read_key(cb_mjcf_reader *r, const cb_node **control) {
  keys k;
  cb_xml *key;
  *control = NULL;
  cb_status status = list_keys(r, &k);
  if (!status) status = note_keys(r, &k);
  if (status || !r->whole->key) return status;
  status = find_key(r, &k, r->whole->key, &key);
  if (status) return status;
  key->why = NULL;
  return take_key(r, key, control);
}
