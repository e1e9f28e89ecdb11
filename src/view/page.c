/* JSON text and packed arrays of a page (page.h). */
#include "view/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LEVEL = 6 };

/* --- JSON --- */

/* Writes a string. `<` is escaped, so that no text can end the script that contains it. */
static void put_string(cb_text *out, const char *text) {
  char escape[8];
  cb_text_puts(out, "\"");
  for (const char *c = text; *c; c++) {
    if (*c == '"' || *c == '\\') {
      cb_text_puts(out, "\\");
      cb_text_put(out, c, 1);
    } else if ((unsigned char)*c < 32 || *c == '<') {
      snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*c);
      cb_text_puts(out, escape);
    } else {
      cb_text_put(out, c, 1);
    }
  }
  cb_text_puts(out, "\"");
}

static void put_key(cb_page *p, const char *key) {
  const char last = p->json.length ? p->json.data[p->json.length - 1] : '{';
  if (last != '{' && last != '[') cb_text_puts(&p->json, ",\n");
  if (!key) return;
  put_string(&p->json, key);
  cb_text_puts(&p->json, ":");
}

void cb_page_begin(cb_page *p, const char *key, char bracket) {
  if (p->json.length) put_key(p, key);
  cb_text_put(&p->json, &bracket, 1);
}

void cb_page_end(cb_page *p, char bracket) { cb_text_put(&p->json, &bracket, 1); }

void cb_page_text(cb_page *p, const char *key, const char *text) {
  put_key(p, key);
  put_string(&p->json, text);
}

void cb_page_number(cb_page *p, const char *key, double value) {
  char text[32];
  put_key(p, key);
  if (isfinite(value))
    cb_export_number(text, value);
  else
    snprintf(text, sizeof text, "null");
  cb_text_puts(&p->json, text);
}

void cb_page_texts(cb_page *p, const char *key, size_t n, const char *const *text) {
  cb_page_begin(p, key, '[');
  for (size_t i = 0; i < n; i++) cb_page_text(p, NULL, text[i]);
  cb_page_end(p, ']');
}

void cb_page_html(cb_text *out, const char *text) {
  for (; *text; text++) {
    if (*text == '<')
      cb_text_puts(out, "&lt;");
    else if (*text == '&')
      cb_text_puts(out, "&amp;");
    else
      cb_text_put(out, text, 1);
  }
}

/* --- arrays --- */

static void put_base64(cb_text *out, const unsigned char *bytes, size_t n) {
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char four[4096];
  size_t have = 0;
  for (size_t i = 0; i < n; i += 3) {
    const unsigned a = bytes[i], b = i + 1 < n ? bytes[i + 1] : 0, c = i + 2 < n ? bytes[i + 2] : 0;
    four[have++] = digit[a >> 2];
    four[have++] = digit[(a & 3) << 4 | b >> 4];
    four[have++] = i + 1 < n ? digit[(b & 15) << 2 | c >> 6] : '=';
    four[have++] = i + 2 < n ? digit[c & 63] : '=';
    if (have == sizeof four) {
      cb_text_put(out, four, have);
      have = 0;
    }
  }
  cb_text_put(out, four, have);
}

/* Appends bytes, deflated and in base64. */
static cb_status cb_page_pack(cb_text *out, const unsigned char *bytes, size_t n) {
  uLongf length = compressBound(n);
  unsigned char *packed = malloc(length);
  if (!packed || compress2(packed, &length, bytes, n, LEVEL) != Z_OK) {
    free(packed);
    return cb_fail(CB_ERROR_MEMORY, "no memory to pack %zu bytes of a page", n);
  }
  put_base64(out, packed, length);
  free(packed);
  return CB_OK;
}

/* Converts the values to the type, and groups bytes of equal significance, the lowest first on any machine. */
static void shuffle(cb_page_type type, size_t n, const double *values, unsigned char *out) {
  const size_t size = type == CB_PAGE_F8 ? 8 : 4;
  for (size_t i = 0; i < n; i++) {
    uint64_t bits = 0;
    if (type == CB_PAGE_F8) {
      memcpy(&bits, &values[i], sizeof bits);
    } else if (type == CB_PAGE_F4) {
      const float value = (float)values[i];
      uint32_t token;
      memcpy(&token, &value, sizeof token);
      bits = token;
    } else {
      bits = values[i] >= INT32_MIN && values[i] <= INT32_MAX ? (uint32_t)(int32_t)values[i] : 0; /* 0 for nan */
    }
    for (size_t k = 0; k < size; k++) out[k * n + i] = (unsigned char)(bits >> 8 * k);
  }
}

cb_status cb_page_array(cb_page *p, const char *key, cb_page_type type, size_t n0, size_t n1, size_t n2,
                        const double *values) {
  static const char *const name[] = {"f4", "f8", "i4"};
  const size_t n = n0 * (n1 ? n1 : 1) * (n2 ? n2 : 1), size = type == CB_PAGE_F8 ? 8 : 4;
  char text[160];
  unsigned char *bytes = malloc(n ? n * size : 1);
  if (!bytes) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu numbers of a page", n);
  shuffle(type, n, values, bytes);
  put_key(p, key);
  int length = snprintf(text, sizeof text, "{\"array\":%d,\"type\":\"%s\",\"shape\":[%zu", p->count, name[type], n0);
  if (n1) length += snprintf(text + length, sizeof text - (size_t)length, ",%zu", n1);
  if (n2) length += snprintf(text + length, sizeof text - (size_t)length, ",%zu", n2);
  snprintf(text + length, sizeof text - (size_t)length, "]}");
  cb_text_puts(&p->json, text);
  snprintf(text, sizeof text, "<script type=\"text/plain\" id=\"array%d\">", p->count++);
  cb_text_puts(&p->arrays, text);
  const cb_status status = cb_page_pack(&p->arrays, bytes, n * size);
  cb_text_puts(&p->arrays, "</script>\n");
  free(bytes);
  return status;
}

cb_status cb_page_check(const cb_page *p) {
  return p->json.failed || p->arrays.failed ? cb_fail(CB_ERROR_MEMORY, "no memory for a page") : CB_OK;
}

void cb_page_free(cb_page *p) {
  cb_text_free(&p->json);
  cb_text_free(&p->arrays);
}
