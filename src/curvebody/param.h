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
  CB_PARAM_CHOICE, /* int, the index of the text in `choices` */
  CB_PARAM_NODE    /* const cb_node *, NULL if absent: a structure that the owner reads itself */
} cb_param_type;

typedef struct cb_param {
  const char *name;
  cb_param_type type;
  size_t offset; /* offset of the parameter's field in the class's struct of parameters */
  /* text of the default, NULL: required. REAL: "nan" means optional, nan if absent; STRING: "" gives "". NODE: "" means
   * optional, NULL if absent */
  const char *fallback;
  const char *unit;    /* "" for none: a dimensionless number */
  const char *range;   /* "> 0", ">= 0", "< 1", "<= 1", "!= 0", "[2, 5]", "(0, 1]", "" for any; numbers only */
  const char *choices; /* CB_PARAM_CHOICE: texts separated by '|' */
  const char *doc;     /* one line */
} cb_param;

/* Fills the struct at `out` from `map` (NULL: all defaults) as the table says; the last row of the table has a NULL
 * name (a NULL table has no rows). extra[n_extra] are further keys of the map that the caller reads itself. Unknown
 * keys, wrong types, values out of range and missing required keys fail with place, expectation and suggestion; `where`
 * (borrowed) is the place in the message if a required key is missing and map is NULL. On failure *out is unchanged. A
 * table that contradicts itself (a default out of its range) is CB_ERROR_ARGUMENT. out NULL: `map` is only checked. */
cb_status cb_params_bind(const cb_param *table, const cb_node *map, const cb_node *where, const char *const *extra,
                         size_t n_extra, void *out);

/* To be called after cb_params_bind has failed: reads the correct values of the map and uses defaults for the others (0
 * for required ones), so that the caller can look for further errors. */
void cb_params_bind_right(const cb_param *table, const cb_node *map, void *out);

/* Makes a map like `map` (NULL: empty) with the defaults of the table for absent keys: rows first, in order of the
 * table, then the other keys. Used for the resolved scenario; assumes that `map` binds. Values are shared with `map`,
 * the new map lives in arena. NULL if memory runs out. */
struct cb_arena;
const cb_node *cb_params_resolved(const cb_param *table, const cb_node *map, struct cb_arena *arena);

CB_API_END
#endif
