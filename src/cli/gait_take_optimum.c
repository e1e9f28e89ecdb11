/* Converts options of `curvebody gait` for keys of `optimum` to the form of --set.
 *
 *   --move 0.03                    optimum.target={move: 0.03}
 *   --parts x=0.03,theta=0         optimum.target={parts: {x: 0.03, theta: 0}}
 *   --move 0.001:0.05              optimum.target={move: 0.001}, for a family
 *   --bounds=-pi/2:pi/2            optimum.bounds=[-pi/2, pi/2]
 *   --bounds alpha1=-1:,alpha2=:2  optimum.bounds={alpha1: [-1, ~], alpha2: [~, 2]} */
#include "cli/gait_job.h"

#include "core/arena.h"
#include "core/text.h"

#include <string.h>

static cb_status add(struct cb_arena *arena, cli_list *sets, cb_text *text) {
  const char *item = text->failed ? NULL : cb_arena_strdup(arena, text->data);
  const bool added = cli_list_add(sets, item);
  cb_text_free(text);
  if (!item) return cb_fail(CB_ERROR_MEMORY, "no memory for options");
  return added ? CB_OK
               : cb_fail(CB_ERROR_INPUT,
                         "--set: error: used too often: expected fewer uses; write the values into the scenario");
}

/* Appends `optimum.KEY=`, followed by before, value and after; nothing if value is NULL. */
static cb_status set_key(struct cb_arena *arena, cli_list *sets, const char *key, const char *before, const char *value,
                         const char *after) {
  cb_text text = {0};
  if (!value) return CB_OK;
  cb_text_puts(&text, "optimum.");
  cb_text_puts(&text, key);
  cb_text_puts(&text, "=");
  cb_text_puts(&text, before);
  cb_text_puts(&text, value);
  cb_text_puts(&text, after);
  return add(arena, sets, &text);
}

/* Appends "LO:HI" as "[LO, HI]"; an end that is not given becomes ~. */
static cb_status put_range(cb_text *text, const char *range, size_t n) {
  const char *colon = memchr(range, ':', n);
  const size_t low = colon ? (size_t)(colon - range) : 0, high = colon ? n - low - 1 : 0;
  if (!colon || memchr(colon + 1, ':', high))
    return cb_fail(CB_ERROR_INPUT, "--bounds: error: expected LO:HI, or NAME=LO:HI,.., found '%s'",
                   cb_quoted(range, n).text);
  cb_text_puts(text, "[");
  cb_text_put(text, low ? range : "~", low ? low : 1);
  cb_text_puts(text, ", ");
  cb_text_put(text, high ? colon + 1 : "~", high ? high : 1);
  cb_text_puts(text, "]");
  return CB_OK;
}

/* Appends "NAME=..,NAME=.." as "{NAME: .., NAME: ..}"; range: each value is a range. */
static cb_status put_named(cb_text *text, const char *option, const char *list, bool range) {
  cb_status status = CB_OK;
  cb_text_puts(text, "{");
  for (const char *item = list; !status && *item;) {
    const size_t n = strcspn(item, ",");
    const char *equals = memchr(item, '=', n);
    if (!equals)
      return cb_fail(CB_ERROR_INPUT, "%s: error: expected NAME=%s,.., found '%s'", option, range ? "LO:HI" : "NUMBER",
                     cb_quoted(item, n).text);
    const size_t name = (size_t)(equals - item), rest = n - name - 1;
    if (item > list) cb_text_puts(text, ", ");
    cb_text_put(text, item, name);
    cb_text_puts(text, ": ");
    if (range)
      status = put_range(text, equals + 1, rest);
    else
      cb_text_put(text, equals + 1, rest);
    item += n + (item[n] == ',');
  }
  cb_text_puts(text, "}");
  return status;
}

/* Replaces "LO:HI" by "LO" in a copy of the list; *to becomes HI. */
static cb_status split(struct cb_arena *arena, const char **list, const char **to) {
  const char *colon = *list && to ? strchr(*list, ':') : NULL;
  if (!colon) return CB_OK;
  char *low = cb_arena_strdup(arena, *list), *high = cb_arena_strdup(arena, colon + 1);
  if (!low || !high) return cb_fail(CB_ERROR_MEMORY, "no memory for options");
  const size_t at = (size_t)(colon - *list), end = strcspn(high, ",");
  memmove(low + at, high + end, strlen(high + end) + 1); /* the text after the range */
  high[end] = 0;
  *list = low;
  *to = high;
  return CB_OK;
}

static cb_status set_parts(const char *parts, struct cb_arena *arena, cli_list *sets) {
  cb_text text = {0};
  if (!parts) return CB_OK;
  cb_text_puts(&text, "optimum.target={parts: ");
  const cb_status status = put_named(&text, "--parts", parts, false);
  cb_text_puts(&text, "}");
  if (status) {
    cb_text_free(&text);
    return status;
  }
  return add(arena, sets, &text);
}

static cb_status set_bounds(const cli_optimum_options *a, struct cb_arena *arena, cli_list *sets) {
  cb_text text = {0};
  if (!a->bounds) return CB_OK;
  cb_text_puts(&text, "optimum.bounds=");
  const cb_status status = strchr(a->bounds, '=') ? put_named(&text, "--bounds", a->bounds, true)
                                                  : put_range(&text, a->bounds, strlen(a->bounds));
  if (status) {
    cb_text_free(&text);
    return status;
  }
  return add(arena, sets, &text);
}

cb_status cli_gait_take_optimum(const cli_optimum_options *a, struct cb_arena *arena, cli_list *sets, const char **to) {
  const char *move = a->move, *turn = a->turn, *parts = a->parts;
  const int targets = !!a->move + !!a->turn + !!a->element + !!a->parts;
  if (targets > 1)
    return cb_fail(CB_ERROR_INPUT, "--%s: error: expected only one target: --move, --turn, --element or --parts",
                   a->parts     ? "parts"
                   : a->element ? "element"
                                : "turn");
  cb_status status = split(arena, &move, to);
  if (!status) status = split(arena, &turn, to);
  if (!status) status = split(arena, &parts, to);
  if (!status) status = set_key(arena, sets, "target", "{move: ", move, "}");
  if (!status) status = set_key(arena, sets, "target", "{turn: ", turn, "}");
  if (!status) status = set_key(arena, sets, "target", "{element: [", a->element, "]}");
  if (!status) status = set_parts(parts, arena, sets);
  if (!status) status = set_key(arena, sets, "objective", "", a->objective, "");
  if (!status) status = set_key(arena, sets, "length", "", a->length, "");
  if (!status) status = set_key(arena, sets, "start_shape", "[", a->start_shape, "]");
  if (!status) status = set_bounds(a, arena, sets);
  if (!status) status = set_key(arena, sets, "no_crossing", "", a->no_crossing ? "true" : NULL, "");
  if (!status) status = set_key(arena, sets, "starts", "", a->starts, "");
  return status ? status : set_key(arena, sets, "seed", "", a->seed, "");
}
