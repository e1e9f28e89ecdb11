/* XML to a tree of elements with their places in a file, and a memory of what was read of it.
 *
 * Elements and attributes in UTF-8, by expat; comments and processing instructions are passed over, a DOCTYPE is
 * refused. Names and values are scalars (curvebody/node.h), so that failures have their place. Whoever reads a document
 * marks what it takes; the rest can be listed.
 */
#ifndef CB_IO_XML_H
#define CB_IO_XML_H

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
  const char *why; /* it was not read; NULL: for no reason of its own */
};

/* Reads text[n], named `name` in messages, into arena: name, text and all. CB_ERROR_INPUT, `name:line:column: error: `. */
cb_status cb_xml_read(cb_arena *arena, const char *name, const char *text, size_t n, cb_xml **root);

/* The value of an attribute, which then is read; NULL: there is none. */
const cb_node *cb_xml_get(cb_xml *element, const char *attribute);
/* Is the element called so? It then is read. */
bool cb_xml_is(cb_xml *element, const char *name);

/* What is in the document and was not read, in its order: `file:line:column: left out: ..` and a line's end. */
void cb_xml_list_unread(const cb_xml *root, cb_text *out);

#endif
