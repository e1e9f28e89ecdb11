/* Parameters as tables of rows: one table drives reading, checking, documentation and `curvebody list`.
 * For authors, who write such a table for their class. Users write the text that is read with the table.
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
  /* the text of the default value; NULL: the key is required. For an optional key without a default value, this is
   * "nan" (CB_PARAM_REAL: the field becomes nan) or "" (CB_PARAM_NODE: NULL; CB_PARAM_STRING: "") */
  const char *fallback;
  const char *unit;    /* "" for none: a dimensionless number */
  const char *range;   /* of a number: "> 0", ">= 0", "< 1", "<= 1", "!= 0", "[2, 5]", "(0, 1]"; "": any value */
  const char *choices; /* CB_PARAM_CHOICE: texts separated by '|' */
  const char *doc;     /* one line */
} cb_param;

/* Fills the struct at `out` from `map` as the table says. table: its last row has a NULL name; NULL: a table without
 * rows. map NULL: all defaults. extra[n_extra]: further keys of the map, which the caller reads itself. where: the node
 * whose place a message has if a required key is missing and map is NULL. out NULL: the map is only checked.
 * CB_ERROR_INPUT for unknown keys, wrong types, values out of range and missing required keys; the message has the
 * place, what was expected, and a suggestion. CB_ERROR_ARGUMENT for a table that contradicts itself, for example by a
 * default out of its range. On failure *out is unchanged. */
cb_status cb_params_bind(const cb_param *table, const cb_node *map, const cb_node *where, const char *const *extra,
                         size_t n_extra, void *out);

/* Call this function after cb_params_bind has failed, in order to find further errors. It fills the struct at `out`
 * with the correct values of the map, and with defaults in place of wrong values (0 for a required key). */
void cb_params_bind_right(const cb_param *table, const cb_node *map, void *out);

/* Returns a map with the keys of `map` (NULL: none), and with the defaults of the table for absent keys: first the keys
 * of the table in its order, then the other keys. cb_params_bind must accept `map`. The values are shared with `map`;
 * the new map is allocated in arena. NULL if memory runs out. */
struct cb_arena;
const cb_node *cb_params_resolved(const cb_param *table, const cb_node *map, struct cb_arena *arena);

CB_API_END
#endif
