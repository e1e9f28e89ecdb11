/* Lists of links: see link.h. */
#include "bodies/link.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct rod_entry {
  const cb_node *length, *name;
} rod_entry;

/* What an entry that is a map says besides `between`; spring data that it does not give stay. */
static cb_status read_own(const cb_node *node, cb_link *link) {
  static const cb_param springs[] = {CB_SPRING_ROWS(cb_link, spring), {.name = NULL}};
  static const cb_param rods[] = {
      {"length", CB_PARAM_NODE, offsetof(rod_entry, length), "", "units of length", "> 0", "", "of the rod"},
      {"name", CB_PARAM_NODE, offsetof(rod_entry, name), "", "", "", "", "of its constraint"},
      {.name = NULL},
  };
  static const char *const extra[] = {"between"};
  if (link->rigid) {
    rod_entry own;
    cb_status status = cb_params_bind(rods, node, node, extra, 1, &own);
    if (!status && own.name) status = cb_node_string(own.name, &link->name);
    if (!status && own.length) status = cb_target_read(own.length, "length", "> 0", &link->length);
    return status;
  }
  cb_link own;
  cb_status status = cb_params_bind(springs, node, node, extra, 1, &own);
  if (status) return status;
  if (cb_node_get(node, "stiffness")) link->spring.stiffness = own.spring.stiffness;
  if (cb_node_get(node, "rest")) link->spring.rest = own.spring.rest;
  if (cb_node_get(node, "damping")) link->spring.damping = own.spring.damping;
  return CB_OK;
}

static cb_status read_entry(const cb_node *node, int n, cb_edge ends, cb_link *link) {
  const char *what = link->rigid ? "rods" : "springs";
  const cb_node *pair = node;
  if (node->kind == CB_NODE_MAP) {
    cb_status status = read_own(node, link);
    if (status) return status;
    pair = cb_node_get(node, "between");
  }
  if (!pair || pair->kind != CB_NODE_LIST || pair->count != 2)
    return cb_node_fail(pair ? pair : node, "%s: expected a pair [i, j] or {between: [i, j], ..}", what);
  for (int a = 0; a < 2; a++) {
    long long index;
    cb_status status = cb_node_int(pair->items[a], &index);
    if (status) return status;
    if (index < 0 || index >= n)
      return cb_node_fail(pair->items[a], "%s: expected a particle from 0 to %d, found %lld", what, n - 1, index);
    ends[a] = (int)index;
  }
  if (ends[0] == ends[1]) return cb_node_fail(pair, "%s: expected two particles, found %d twice", what, ends[0]);
  return CB_OK;
}

static cb_status grow(void **array, size_t count, size_t size) {
  void *p = realloc(*array, count * size);
  if (!p) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu links", count);
  *array = p;
  return CB_OK;
}

cb_status cb_links_read(cb_links *w, const cb_node *list, const cb_link *base, int n) {
  if (!list) return CB_OK;
  if (list->kind != CB_NODE_LIST || list->count > INT_MAX / 2)
    return cb_node_fail(list, "%s: expected a list of pairs", base->rigid ? "rods" : "springs");
  const size_t count = (size_t)w->n + list->count + 1;
  cb_status status = grow((void **)&w->edge, count, sizeof *w->edge);
  if (!status) status = grow((void **)&w->link, count, sizeof *w->link);
  if (!status) status = grow((void **)&w->node, count, sizeof *w->node);
  for (size_t e = 0; e < list->count && !status; e++, w->n++) {
    w->link[w->n] = *base;
    w->node[w->n] = list->items[e];
    status = read_entry(list->items[e], n, w->edge[w->n], &w->link[w->n]);
  }
  return status;
}

cb_status cb_links_add(const cb_links *w, int first, cb_builder *b) {
  cb_status status = CB_OK;
  for (int e = 0; e < w->n && !status; e++)
    status = cb_link_add(b, w->node[e], first + w->edge[e][0], first + w->edge[e][1], &w->link[e]);
  return status;
}

void cb_links_free(cb_links *w) {
  free(w->edge);
  free(w->link);
  free(w->node);
  memset(w, 0, sizeof *w);
}
