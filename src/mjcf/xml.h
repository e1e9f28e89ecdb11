/* Reads XML into a tree of elements with their places in a file, and remembers which of them were used.
 *
 * Elements and attributes are in UTF-8 and read by expat. Comments and processing instructions are skipped; a DOCTYPE
 * is an error. Names and values are scalars (curvebody/node.h), so that errors have a place. The caller marks what it
 * reads; the rest can be listed.
 */
#pragma once

#include "core/arena.h"
#include "core/text.h"
#include <curvebody/node.h>

enum {
  CB_XML_LARGEST = 64 << 20 /* maximum number of bytes of a text */,
  CB_XML_DEEPEST = 200 /* maximum depth of elements */
};

typedef struct cb_xml_attribute {
  cb_node name, value;
  bool read;
} cb_xml_attribute;

typedef struct cb_xml cb_xml;
struct cb_xml {
  cb_node name; /* `#text` for text between elements */
  size_t count;
  cb_xml_attribute *attribute;
  cb_xml *parent, *first, *last, *next; /* children are in the order of the file */
  bool read;
  const char *why;  /* reason why it was not read; NULL: no special reason */
  const char *note; /* a part of the element that was not read, although the element was read; NULL: none */
};

/* Reads text[n], called `name` in messages, into the arena, which keeps copies of name and text. CB_ERROR_INPUT with a
 * message `name:line:column: error: ..`. */
cb_status cb_xml_read(cb_arena *arena, const char *name, const char *text, size_t n, cb_xml **root);

/* Returns the value of an attribute and marks it as read; NULL: there is none. */
const cb_node *cb_xml_get(cb_xml *element, const char *attribute);
/* Does the element have this name, and no reason `why` to leave it out? If so, it is marked as read. */
bool cb_xml_is(cb_xml *element, const char *name);

/* Is this attribute of the element (NULL: the element itself) minor? */
typedef bool cb_xml_is_minor(const cb_xml *e, const char *attribute);

/* Minor elements and attributes, counted by their names over several documents; starts as {0}. */
enum { CB_XML_MINORS = 64 };
typedef struct cb_xml_minor_kind {
  const char *element, *attribute; /* attribute "": the element itself */
  int count;
} cb_xml_minor_kind;
typedef struct cb_xml_minors {
  const cb_node *first;
  cb_xml_minor_kind kind[CB_XML_MINORS];
  int n, more;
} cb_xml_minors;

/* Lists the elements and attributes that were not read, in the order of the document, each in a line `file:line:column:
 * left out: ..`. Minor ones are added to `minors` instead. */
void cb_xml_list_unread(const cb_xml *root, cb_xml_is_minor *is_minor, cb_xml_minors *minors, cb_text *out);
/* Writes all minor elements and attributes in one line with the place of the first: `what: rgba of <geom> (3 times),
 * <light>`. Writes nothing if there are none. */
void cb_xml_put_minors(const cb_xml_minors *minors, const char *what, cb_text *out);
