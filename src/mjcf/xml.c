/* XML by expat. See xml.h.
 *
 * Expat tells where an element begins; where its attributes stand is found in the text of its tag, which it has already
 * seen to be well formed.
 */
#include "mjcf/xml.h"

#include "core/failure.h"

#include <expat.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
  cb_arena *arena;
  XML_Parser parser;
  const char *file, *text;
  cb_xml *root, *open;
  int depth;
  size_t at, line_start; /* as far as lines are counted */
  int line;
  cb_status status;
} reader;

/* The byte at which the parser is; negative if it is at none. Expat 2.9 deprecates the call of earlier versions. */
static int64_t byte_index(XML_Parser parser) {
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
  return XML_GetCurrentByteIndex64(parser);
#else
  return XML_GetCurrentByteIndex(parser);
#endif
}

/* The place of byte `at`, which is not before the last that was asked for. */
static void place(reader *r, size_t at, cb_node *out) {
  for (; r->at < at; r->at++)
    if (r->text[r->at] == '\n') r->line++, r->line_start = r->at + 1;
  out->file = r->file;
  out->line = r->line;
  out->column = (int)cb_count_characters(r->text + r->line_start, at - r->line_start) + 1;
}

static void stop(reader *r, cb_status status) {
  if (!r->status) r->status = status;
  XML_StopParser(r->parser, XML_FALSE);
}

static void stop_for_memory(reader *r) { stop(r, cb_fail(CB_ERROR_MEMORY, "no memory for '%s'", r->file)); }

/* A scalar at `at`; written: its text stands there as it is. */
static bool scalar(reader *r, size_t at, const char *text, cb_node *out) {
  const size_t n = strlen(text);
  *out = (cb_node){.kind = CB_NODE_SCALAR, .text = cb_arena_strndup(r->arena, text, n)};
  place(r, at, out);
  if (!strncmp(r->text + at, text, n)) out->text_column = out->column;
  return out->text != NULL;
}

static size_t skip(const char *text, size_t at, const char *set, bool in) {
  while (text[at] && (strchr(set, text[at]) != NULL) == in) at++;
  return at;
}

static const char blanks[] = " \t\r\n";

static bool take_attributes(reader *r, cb_xml *e, size_t at, const char **given) {
  while (given[2 * e->count]) e->count++;
  e->attribute = cb_arena_alloc(r->arena, e->count, sizeof *e->attribute);
  if (!e->attribute) return false;
  at = skip(r->text, at + 1, " \t\r\n/>", false);
  for (size_t i = 0; i < e->count; i++) {
    cb_xml_attribute *a = &e->attribute[i];
    at = skip(r->text, at, blanks, true);
    if (!scalar(r, at, given[2 * i], &a->name)) return false;
    at = skip(r->text, at, "'\"", false);
    const char quote[2] = {r->text[at], 0};
    if (!scalar(r, at + 1, given[2 * i + 1], &a->value)) return false;
    at = skip(r->text, at + 1, quote, false) + 1;
  }
  return true;
}

static cb_xml *add(reader *r, const char *name, size_t at) {
  cb_xml *e = cb_arena_alloc(r->arena, 1, sizeof *e);
  if (!e || !scalar(r, at, name, &e->name)) return NULL;
  e->parent = r->open;
  if (!e->parent)
    r->root = e;
  else if (e->parent->last)
    e->parent->last = e->parent->last->next = e;
  else
    e->parent->first = e->parent->last = e;
  return e;
}

static void begin(void *user, const char *name, const char **attributes) {
  reader *r = user;
  if (r->status) return; /* the parser may go on for a while */
  const size_t at = (size_t)byte_index(r->parser);
  cb_xml *e = add(r, name, at);
  if (!e || !take_attributes(r, e, at, attributes)) {
    stop_for_memory(r);
  } else if (++r->depth > CB_XML_DEEPEST) {
    stop(r, cb_node_fail(&e->name, "expected at most %d elements within each other", CB_XML_DEEPEST));
  } else {
    r->open = e;
  }
}

static void end(void *user, const char *name) {
  reader *r = user;
  (void)name;
  if (r->status) return;
  r->open = r->open->parent;
  r->depth--;
}

/* Text is told, not kept. */
static void between(void *user, const char *text, int n) {
  reader *r = user;
  bool blank = true;
  for (int i = 0; i < n; i++) blank = blank && strchr(blanks, text[i]) && text[i];
  const cb_xml *last = r->open ? r->open->last : NULL;
  if (blank || r->status || (last && last->why)) return;
  cb_xml *e = add(r, "#text", (size_t)byte_index(r->parser));
  if (!e)
    stop_for_memory(r);
  else
    e->why = "";
}

static void doctype(void *user, const char *name, const char *system, const char *public, int internal) {
  reader *r = user;
  cb_node at = {.kind = CB_NODE_NULL};
  (void)name, (void)system, (void)public, (void)internal;
  size_t from = (size_t)byte_index(r->parser);
  while (from > 0 && r->text[from] != '<') from--;
  place(r, from, &at);
  stop(r, cb_node_fail(&at, "expected no DOCTYPE"));
}

static cb_status malformed(reader *r) {
  const enum XML_Error error = XML_GetErrorCode(r->parser);
  cb_node at = {.kind = CB_NODE_NULL};
  if (error == XML_ERROR_NO_MEMORY) return cb_fail(CB_ERROR_MEMORY, "no memory for '%s'", r->file);
  const int64_t index = byte_index(r->parser);
  r->at = r->line_start = 0, r->line = 1;
  place(r, index < 0 ? 0 : (size_t)index, &at);
  return cb_node_fail(&at, "expected well-formed XML: %s", XML_ErrorString(error));
}

cb_status cb_xml_read(cb_arena *arena, const char *name, const char *text, size_t n, cb_xml **root) {
  reader r = {.arena = arena, .line = 1};
  r.file = cb_arena_strdup(arena, name);
  r.text = cb_arena_strndup(arena, text, n);
  r.parser = r.file && r.text ? XML_ParserCreate("UTF-8") : NULL;
  if (!r.parser) return cb_fail(CB_ERROR_MEMORY, "no memory for '%s'", name);
  XML_SetUserData(r.parser, &r);
  XML_SetElementHandler(r.parser, begin, end);
  XML_SetCharacterDataHandler(r.parser, between);
  XML_SetStartDoctypeDeclHandler(r.parser, doctype);
  if (n > CB_XML_LARGEST)
    r.status = cb_fail_placed(CB_ERROR_INPUT, "%s:1:1: error: expected at most %d bytes", name, CB_XML_LARGEST);
  else if (XML_Parse(r.parser, r.text, (int)n, XML_TRUE) != XML_STATUS_OK && !r.status)
    r.status = malformed(&r);
  XML_ParserFree(r.parser);
  if (!r.status) *root = r.root;
  return r.status;
}

/* --- what was read --- */

const cb_node *cb_xml_get(cb_xml *e, const char *attribute) {
  for (size_t i = 0; i < e->count; i++) {
    if (strcmp(e->attribute[i].name.text, attribute)) continue;
    e->attribute[i].read = true;
    return &e->attribute[i].value;
  }
  return NULL;
}

bool cb_xml_is(cb_xml *e, const char *name) {
  const bool is = !strcmp(e->name.text, name) && !e->why;
  e->read = e->read || is;
  return is;
}
