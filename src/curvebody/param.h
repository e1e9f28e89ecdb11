/* Parameters as tables of rows: one table drives reading, checking, documentation and `curvebody list`. */
#ifndef CURVEBODY_PARAM_H
#define CURVEBODY_PARAM_H

#include <curvebody/node.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cb_param_type {
  CB_PARAM_REAL,   /* double */
  CB_PARAM_INT,    /* int */
  CB_PARAM_BOOL,   /* bool */
  CB_PARAM_STRING, /* const char *, borrowed from the tree or the table */
  CB_PARAM_CHOICE, /* int, the index of the word in `choices` */
  CB_PARAM_NODE    /* const cb_node *, NULL where absent: structure that the owner reads itself */
} cb_param_type;

typedef struct cb_param {
  const char *name;
  cb_param_type type;
  size_t offset;        /* of the field in the parameter struct */
  const char *fallback; /* text of the default, NULL: required. CB_PARAM_NODE: "" is optional */
  const char *unit;     /* "" for none */
  const char *range;    /* "> 0", ">= 0", "[2, 5]", "" for any */
  const char *choices;  /* CB_PARAM_CHOICE: words parted by '|' */
  const char *doc;      /* one line */
} cb_param;

/* Fills the struct at `out` from `map` (NULL: all defaults) by a table that ends with a row whose name is NULL.
 * extra[n_extra] are further keys of the map that the caller reads itself. Unknown keys, wrong types, values out of
 * range and missing required keys fail with place, expectation and suggestion; `where` (borrowed) places the message
 * where a required key is missing and map is NULL. */
cb_status cb_params_bind(const cb_param *table, const cb_node *map, const cb_node *where, const char *const *extra,
                         size_t n_extra, void *out);

#ifdef __cplusplus
}
#endif
#endif
