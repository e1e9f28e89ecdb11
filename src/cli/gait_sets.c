/* Options of `curvebody gait` that stand for keys of `optimum`, as --set says them.
 *
 *   --move 0.03                    optimum.target={move: 0.03}
 *   --parts x=0.03,theta=0         optimum.target={parts: {x: 0.03, theta: 0}}
 *   --move 0.001:0.05              optimum.target={move: 0.001}, of a family
 *   --bounds=-pi/2:pi/2            optimum.bounds=[-pi/2, pi/2]
 *   --bounds alpha1=-1:,alpha2=:2  optimum.bounds={alpha1: [-1, ~], alpha2: [~, 2]} */
#include "cli/gait.h"

#include "core/arena.h"
#include "core/text.h"

#include <string.h>

static cb_status add(struct cb_arena *arena, cb_words *sets, cb_text *text) {
  const char *word = text->failed ? NULL : cb_arena_strdup(arena, text->data);
  const bool room = cb_take_word(sets, word);
  cb_text_free(text);
  if (!word) return cb_fail(CB_ERROR_MEMORY, "no memory for options");
  return room ? CB_OK : cb_fail(CB_ERROR_INPUT, "--set: error: given too often");
}

/* key=before value after */
static cb_status say(struct cb_arena *arena, cb_words *sets, const char *key, const char *before, const char *value,
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

/* "LO:HI" as "[LO, HI]", an end that is not said as ~. */
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

/* "NAME=..,NAME=.." as "{NAME: .., NAME: ..}"; range: each is one. */
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

/* "LO:HI" as "LO", *to at HI, in a copy of the list. */
static cb_status split(struct cb_arena *arena, const char **list, const char **to) {
  const char *colon = *list && to ? strchr(*list, ':') : NULL;
  if (!colon) return CB_OK;
  char *low = cb_arena_strdup(arena, *list), *high = cb_arena_strdup(arena, colon + 1);
  if (!low || !high) return cb_fail(CB_ERROR_MEMORY, "no memory for options");
  const size_t at = (size_t)(colon - *list), end = strcspn(high, ",");
  memmove(low + at, high + end, strlen(high + end) + 1); /* the parts behind it */
  high[end] = 0;
  *list = low;
  *to = high;
  return CB_OK;
}

static cb_status say_parts(const char *parts, struct cb_arena *arena, cb_words *sets) {
  cb_text text = {0};
  if (!parts) return CB_OK;
  cb_text_puts(&text, "optimum.target={parts: ");
  const cb_status status = put_named(&text, "--parts", parts, false);
  cb_text_puts(&text, "}");
  if (status) return cb_text_free(&text), status;
  return add(arena, sets, &text);
}

static cb_status say_bounds(const cb_gait_asked *a, struct cb_arena *arena, cb_words *sets) {
  cb_text text = {0};
  if (!a->bounds) return CB_OK;
  cb_text_puts(&text, "optimum.bounds=");
  const cb_status status = strchr(a->bounds, '=') ? put_named(&text, "--bounds", a->bounds, true)
                                                  : put_range(&text, a->bounds, strlen(a->bounds));
  if (status) return cb_text_free(&text), status;
  return add(arena, sets, &text);
}

cb_status cb_gait_sets(const cb_gait_asked *a, struct cb_arena *arena, cb_words *sets, const char **to) {
  const char *move = a->move, *turn = a->turn, *parts = a->parts;
  const int targets = !!a->move + !!a->turn + !!a->element + !!a->parts;
  if (targets > 1)
    return cb_fail(CB_ERROR_INPUT, "--%s: error: expected one target, of --move, --turn, --element and --parts",
                   a->parts     ? "parts"
                   : a->element ? "element"
                                : "turn");
  cb_status status = split(arena, &move, to);
  if (!status) status = split(arena, &turn, to);
  if (!status) status = split(arena, &parts, to);
  if (!status) status = say(arena, sets, "target", "{move: ", move, "}");
  if (!status) status = say(arena, sets, "target", "{turn: ", turn, "}");
  if (!status) status = say(arena, sets, "target", "{element: [", a->element, "]}");
  if (!status) status = say_parts(parts, arena, sets);
  if (!status) status = say(arena, sets, "seek", "", a->seek, "");
  if (!status) status = say(arena, sets, "length", "", a->length, "");
  if (!status) status = say(arena, sets, "base", "[", a->base, "]");
  if (!status) status = say_bounds(a, arena, sets);
  if (!status) status = say(arena, sets, "apart", "", a->apart ? "true" : NULL, "");
  if (!status) status = say(arena, sets, "starts", "", a->starts, "");
  return status ? status : say(arena, sets, "seed", "", a->seed, "");
}
