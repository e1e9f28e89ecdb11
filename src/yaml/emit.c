/* Writes a tree as YAML text: maps and lists in blocks, lists of scalars in brackets, scalars without quotes if that is
 * safe and otherwise in double quotes. */
#include "yaml/yaml.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LINE_WIDTH = 100 };

/* ---- scalars ---- */

static bool is_token(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns whether the text can be written without quotes: it must read back as the same text in any context. */
static bool is_plain(const char *text, bool in_brackets) {
  static const char *const nulls[] = {"null", "Null", "NULL"};
  for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
    if (strcmp(text, nulls[i]) == 0) return false;
  bool first = is_token(*text) || *text == '/' || *text == '(' ||
               ((*text == '+' || *text == '-' || *text == '.') && (is_token(text[1]) || text[1] == '('));
  if (!first) return false;
  for (const char *c = text; *c; c++) {
    if (is_token(*c) || strchr("/().+-*^<>=", *c) || (*c == ',' && !in_brackets)) continue;
    if (*c == ' ' && c[1] && c[1] != ' ') continue;
    return false;
  }
  return true;
}

/* Reads the code point at *text and advances *text. An invalid byte counts as a code point of the same value. */
static uint32_t next_code_point(const unsigned char **text) {
  const unsigned char *t = *text;
  int more = t[0] >= 0xf0 ? 3 : t[0] >= 0xe0 ? 2 : t[0] >= 0xc0 ? 1 : 0;
  uint32_t code = more == 3 ? t[0] & 0x07 : more == 2 ? t[0] & 0x0f : more == 1 ? t[0] & 0x1f : t[0];
  for (int i = 1; i <= more; i++) {
    if ((t[i] & 0xc0) != 0x80) {
      *text = t + 1;
      return t[0];
    }
    code = code << 6 | (t[i] & 0x3f);
  }
  *text = t + more + 1;
  return code;
}

/* Returns whether YAML 1.1 (section 5.1) allows the code point in a line without an escape. */
static bool is_printable(uint32_t c) {
  if (c < 0x80) return c >= 0x20 && c != 0x7f;
  return c >= 0xa0 && c != 0x2028 && c != 0x2029 && c != 0xfeff && c != 0xfffe && c != 0xffff;
}

static void put_quoted(cb_text *out, const char *text) {
  cb_text_puts(out, "\"");
  const unsigned char *at = (const unsigned char *)text;
  while (*at) {
    const unsigned char *from = at;
    uint32_t c = next_code_point(&at);
    char escape[16] = "";
    if (c == '"' || c == '\\')
      snprintf(escape, sizeof escape, "\\%c", (char)c);
    else if (c == '\n')
      snprintf(escape, sizeof escape, "\\n");
    else if (c == '\t')
      snprintf(escape, sizeof escape, "\\t");
    else if (!is_printable(c) || (c >= 0x80 && at == from + 1))
      snprintf(escape, sizeof escape, c < 0x100 ? "\\x%02X" : "\\u%04X", (unsigned)c);
    if (*escape)
      cb_text_puts(out, escape);
    else
      cb_text_put(out, (const char *)from, (size_t)(at - from));
  }
  cb_text_puts(out, "\"");
}

static void put_scalar(cb_text *out, const cb_node *node, bool in_brackets) {
  if (node->kind == CB_NODE_NULL)
    cb_text_puts(out, "null");
  else if (is_plain(node->text, in_brackets))
    cb_text_puts(out, node->text);
  else
    put_quoted(out, node->text);
}

/* ---- lists and maps ---- */

static void put_indent(cb_text *out, int indent) {
  for (int i = 0; i < indent; i++) cb_text_put(out, " ", 1);
}

static bool only_scalars(const cb_node *list) {
  for (size_t i = 0; i < list->count; i++)
    if (list->items[i]->kind == CB_NODE_LIST || list->items[i]->kind == CB_NODE_MAP) return false;
  return true;
}

static void put_brackets(cb_text *out, const cb_node *list, int indent) {
  cb_text_puts(out, "[");
  size_t line = out->length;
  for (size_t i = 0; i < list->count; i++) {
    if (i > 0 && out->length - line > LINE_WIDTH) {
      cb_text_puts(out, ",\n");
      line = out->length;
      put_indent(out, indent + 2);
    } else if (i > 0) {
      cb_text_puts(out, ", ");
    }
    put_scalar(out, list->items[i], true);
  }
  cb_text_puts(out, "]");
}

static bool fits_in_line(const cb_node *node) {
  return node->kind == CB_NODE_NULL || node->kind == CB_NODE_SCALAR || node->count == 0 ||
         (node->kind == CB_NODE_LIST && only_scalars(node));
}

static void put_in_line(cb_text *out, const cb_node *node, int indent) {
  if (node->kind == CB_NODE_LIST)
    put_brackets(out, node, indent);
  else if (node->kind == CB_NODE_MAP)
    cb_text_puts(out, "{}");
  else
    put_scalar(out, node, false);
  cb_text_puts(out, "\n");
}

/* Writes a list or map as a block whose first line is already indented. */
static void put_block(cb_text *out, const cb_node *node, int indent) {
  for (size_t i = 0; i < node->count && !out->failed; i++) {
    const cb_node *item = node->items[i];
    if (i > 0) put_indent(out, indent);
    if (node->kind == CB_NODE_LIST) {
      cb_text_puts(out, "- ");
    } else {
      put_scalar(out, node->keys[i], false);
      cb_text_puts(out, fits_in_line(item) ? ": " : ":\n");
      if (!fits_in_line(item)) put_indent(out, indent + 2);
    }
    if (fits_in_line(item))
      put_in_line(out, item, indent + 2);
    else
      put_block(out, item, indent + 2);
  }
}

cb_status cb_node_emit(const cb_node *node, cb_text *text) {
  if (fits_in_line(node))
    put_in_line(text, node, 0);
  else
    put_block(text, node, 0);
  return text->failed ? cb_fail(CB_ERROR_MEMORY, "no memory for %zu bytes of YAML", text->length) : CB_OK;
}
