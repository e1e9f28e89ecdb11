/* What is in a document by XML and was not read. See xml.h. */
#include "mjcf/xml.h"

#include "core/failure.h"

#include <stdio.h>
#include <string.h>

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

/* --- what matters less, by its kinds --- */

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
    if (*kind->attribute) cb_text_puts(out, kind->attribute), cb_text_puts(out, " of ");
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

/* --- all --- */

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
  if (e->note) put_place(&e->name, out), cb_text_puts(out, e->note), cb_text_puts(out, "\n");
  list_attributes(e, is_minor, minors, out);
  for (const cb_xml *child = e->first; child; child = child->next) cb_xml_list_unread(child, is_minor, minors, out);
}
