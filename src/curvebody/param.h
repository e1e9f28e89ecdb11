/* Parameters as tables of rows: one table drives reading, checking, documentation and `curvebody list`.
 * For authors, whose class has such a table; users write the text that it reads.
 */
#ifndef CURVEBODY_PARAM_H
#define CURVEBODY_PARAM_H

#include <curvebody/node.h>

CB_API_BEGIN

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
  const char *fallback; /* text of the default, NULL: required. REAL: "nan" is optional and gives nan where absent,
                         * STRING: "" gives "". NODE: "" is optional and gives NULL */
  const char *unit;     /* "" for none: a dimensionless number */
  const char *range;    /* "> 0", ">= 0", "< 1", "<= 1", "!= 0", "[2, 5]", "(0, 1]", "" for any; numbers only */
  const char *choices;  /* CB_PARAM_CHOICE: words parted by '|' */
  const char *doc;      /* one line */
} cb_param;

/* Fills the struct at `out` from `map` (NULL: all defaults) by a table that ends with a row whose name is NULL (or
 * NULL: no rows).
 * extra[n_extra] are further keys of the map that the caller reads itself. Unknown keys, wrong types, values out of
 * range and missing required keys fail with place, expectation and suggestion; `where` (borrowed) places the message
 * where a required key is missing and map is NULL. On failure *out is untouched. A table that contradicts itself (a
 * default out of its range) is CB_ERROR_ARGUMENT. out NULL: `map` is checked only. */
cb_status cb_params_bind(const cb_param *table, const cb_node *map, const cb_node *where, const char *const *extra,
                         size_t n_extra, void *out);

/* After cb_params_bind has failed, what of the map is right, and defaults in place of the rest (0 of what is required):
 * to look for further errors in what stands beside. */
void cb_params_bind_right(const cb_param *table, const cb_node *map, void *out);

/* A map like `map` (NULL: empty) with the defaults of the table where a key is absent: rows first, in order of the
 * table, then the other keys. For the resolved scenario; assumes that `map` binds. Values are shared with `map`, the
 * new map lives in arena. NULL if there is no memory. */
struct cb_arena;
const cb_node *cb_params_resolved(const cb_param *table, const cb_node *map, struct cb_arena *arena);

CB_API_END
#endif
