/* XML to a tree of elements with their places in a file, and a memory of what was read of it.
 *
 * Elements and attributes in UTF-8, by expat; comments and processing instructions are passed over, a DOCTYPE is
 * refused. Names and values are scalars (curvebody/node.h), so that failures have their place. Whoever reads a document
 * marks what it takes; the rest can be listed.
 */
#pragma once

#include "core/arena.h"
#include "core/text.h"
#include <curvebody/node.h>

enum { CB_XML_LARGEST = 64 << 20 /* bytes of a text */, CB_XML_DEEPEST = 200 /* elements within each other */ };

typedef struct cb_xml_attribute {
  cb_node name, value;
  bool read;
} cb_xml_attribute;

typedef struct cb_xml cb_xml;
struct cb_xml {
  cb_node name; /* `#text` of what stands between elements */
  size_t count;
  cb_xml_attribute *attribute;
  cb_xml *parent, *first, *last, *next; /* children in their order */
  bool read;
  const char *why;  /* it was not read; NULL: for no reason of its own */
  const char *note; /* something of it that was not, though it was; NULL: none */
};

/* Reads text[n], named `name` in messages, into arena: name, text and all. CB_ERROR_INPUT, `name:line:column: error:
 * `. */
cb_status cb_xml_read(cb_arena *arena, const char *name, const char *text, size_t n, cb_xml **root);

/* The value of an attribute, which then is read; NULL: there is none. */
const cb_node *cb_xml_get(cb_xml *element, const char *attribute);
/* Is the element called so? It then is read. */
bool cb_xml_is(cb_xml *element, const char *name);

/* Does it matter less? An attribute of the element, or (NULL) that itself. */
typedef bool cb_xml_is_minor(const cb_xml *e, const char *attribute);

/* What matters less, counted by its kinds over documents; starts from {0}. */
enum { CB_XML_MINORS = 64 };
typedef struct cb_xml_minor_kind {
  const char *element, *attribute; /* attribute "": the element */
  int count;
} cb_xml_minor_kind;
typedef struct cb_xml_minors {
  const cb_node *first;
  cb_xml_minor_kind kind[CB_XML_MINORS];
  int n, more;
} cb_xml_minors;

/* What is in the document and was not read, in its order: `file:line:column: left out: ..` and a line's end; what
 * matters less goes into minors. */
void cb_xml_list_unread(const cb_xml *root, cb_xml_is_minor *is_minor, cb_xml_minors *minors, cb_text *out);
/* All of that in one line, at the place of the first: `what: rgba of <geom> (3 times), <light>`; none: nothing. */
void cb_xml_put_minors(const cb_xml_minors *minors, const char *what, cb_text *out);
