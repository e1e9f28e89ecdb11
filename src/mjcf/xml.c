/* Reads XML by expat (see mjcf_private.h), and lists the elements and attributes that were not read (below).
 *
 * Expat reports where an element begins. The places of its attributes are found in the text of its tag, which expat has
 * already accepted as well formed.
 */
#include "mjcf/mjcf_private.h"
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
  size_t at, line_start; /* lines are counted up to byte `at`, whose line begins at line_start */
  int line;
  cb_status status;
} reader;

/* Returns the index of the parser's current byte; negative if there is none. Expat 2.9 deprecates the function of
 * earlier versions. */
static int64_t byte_index(XML_Parser parser) {
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
  return XML_GetCurrentByteIndex64(parser);
#else
  return XML_GetCurrentByteIndex(parser);
#endif
}

/* Finds the place of byte `at`, which is not before the byte of the previous call. */
static void place(reader *r, size_t at, cb_node *out) {
  for (; r->at < at; r->at++)
    if (r->text[r->at] == '\n') {
      r->line++;
      r->line_start = r->at + 1;
    }
  out->file = r->file;
  out->line = r->line;
  out->column = (int)cb_count_characters(r->text + r->line_start, at - r->line_start) + 1;
}

static void stop(reader *r, cb_status status) {
  if (!r->status) r->status = status;
  XML_StopParser(r->parser, XML_FALSE);
}

static void stop_for_memory(reader *r) { stop(r, cb_fail(CB_ERROR_MEMORY, "no memory for '%s'", r->file)); }

/* Makes a scalar whose place is byte `at` of the file. Its text_column is set if the file contains its text unchanged
 * there. Returns false if there is no memory. */
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
  if (r->status) return; /* the parser may still call this function after an error */
  const size_t at = (size_t)byte_index(r->parser);
  cb_xml *e = add(r, name, at);
  if (!e || !take_attributes(r, e, at, attributes)) {
    stop_for_memory(r);
  } else if (++r->depth > CB_XML_DEEPEST) {
    stop(r, cb_node_fail(&e->name, "expected at most %d nested elements", CB_XML_DEEPEST));
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

/* Text between elements is reported, but not kept. */
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
  (void)name;
  (void)system;
  (void)public;
  (void)internal;
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
  r->at = r->line_start = 0;
  r->line = 1;
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

/* --- marks of elements that were read --- */

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

/* The following functions write the list of the elements and attributes of a document that were not read. */

static void put_place(const cb_node *at, cb_text *out) {
  const cb_place_text place = cb_place_text_of(at->line, at->column);
  const char *colon = strstr(place.text, " error: ");
  cb_text_puts(out, at->file);
  cb_text_put(out, place.text, colon ? (size_t)(colon - place.text) : strlen(place.text));
  cb_text_puts(out, " left out: ");
}

static void put_called(const cb_xml *e, cb_text *out) {
  cb_text_puts(out, "<");
  cb_text_puts(out, e->name.text);
  cb_text_puts(out, ">");
  for (size_t i = 0; i < e->count; i++) {
    if (strcmp(e->attribute[i].name.text, "name") && strcmp(e->attribute[i].name.text, "class")) continue;
    const char *value = e->attribute[i].value.text;
    cb_text_puts(out, " `");
    cb_text_puts(out, cb_quoted(value, strlen(value)).text);
    cb_text_puts(out, "`");
    break;
  }
}

static int count_within(const cb_xml *e) {
  int n = 0;
  for (const cb_xml *child = e->first; child; child = child->next) n += 1 + count_within(child);
  return n;
}

/* --- minor elements and attributes, counted by their names --- */

static void add_minor(cb_xml_minors *m, const cb_node *at, const char *element, const char *attribute) {
  int k = 0;
  if (!m->n) m->first = at;
  while (k < m->n && (strcmp(m->kind[k].element, element) || strcmp(m->kind[k].attribute, attribute))) k++;
  if (k == CB_XML_MINORS) {
    m->more++;
    return;
  }
  if (k == m->n) m->kind[m->n++] = (cb_xml_minor_kind){element, attribute, 0};
  m->kind[k].count++;
}

void cb_xml_put_minors(const cb_xml_minors *m, const char *what, cb_text *out) {
  char more[48];
  if (!m->n) return;
  put_place(m->first, out);
  cb_text_puts(out, what);
  for (int k = 0; k < m->n; k++) {
    const cb_xml_minor_kind *kind = &m->kind[k];
    const bool text = *kind->element == '#';
    cb_text_puts(out, k ? ", " : ": ");
    if (*kind->attribute) {
      cb_text_puts(out, kind->attribute);
      cb_text_puts(out, " of ");
    }
    if (!text) cb_text_puts(out, "<");
    cb_text_puts(out, text ? kind->element + 1 : kind->element);
    if (!text) cb_text_puts(out, ">");
    snprintf(more, sizeof more, " (%d times)", kind->count);
    if (kind->count > 1) cb_text_puts(out, more);
  }
  snprintf(more, sizeof more, " and %d more", m->more);
  if (m->more) cb_text_puts(out, more);
  cb_text_puts(out, "\n");
}

/* --- the complete list --- */

static void list_attributes(const cb_xml *e, cb_xml_is_minor *is_minor, cb_xml_minors *minors, cb_text *out) {
  bool any = false;
  for (size_t i = 0; i < e->count; i++) {
    const cb_xml_attribute *a = &e->attribute[i];
    if (a->read) continue;
    if (is_minor(e, a->name.text)) {
      add_minor(minors, &a->name, e->name.text, a->name.text);
      continue;
    }
    if (any)
      cb_text_puts(out, ", ");
    else
      put_place(&a->name, out);
    cb_text_puts(out, a->name.text);
    any = true;
  }
  if (!any) return;
  cb_text_puts(out, " of ");
  put_called(e, out);
  cb_text_puts(out, "\n");
}

static void list_element(const cb_xml *e, cb_text *out) {
  char more[48] = "";
  const int within = count_within(e);
  put_place(&e->name, out);
  put_called(e, out);
  if (within) snprintf(more, sizeof more, " with %d element%s in it", within, within > 1 ? "s" : "");
  cb_text_puts(out, more);
  if (e->why) cb_text_puts(out, ": ");
  if (e->why) cb_text_puts(out, e->why);
  cb_text_puts(out, "\n");
}

void cb_xml_list_unread(const cb_xml *e, cb_xml_is_minor *is_minor, cb_xml_minors *minors, cb_text *out) {
  if (!e->read) {
    if (is_minor(e, NULL))
      add_minor(minors, &e->name, e->name.text, "");
    else
      list_element(e, out);
    return;
  }
  if (e->note) {
    put_place(&e->name, out);
    cb_text_puts(out, e->note);
    cb_text_puts(out, "\n");
  }
  list_attributes(e, is_minor, minors, out);
  for (const cb_xml *child = e->first; child; child = child->next) cb_xml_list_unread(child, is_minor, minors, out);
}
