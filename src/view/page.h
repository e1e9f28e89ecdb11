/* A page that is being made: JSON text, and the arrays to which it refers. Internal to src/view.
 *
 * The bytes of an array are shuffled (grouped by significance, as in HDF5), deflated by zlib, and written in base64.
 * The JSON text contains {"array": number, "type": "f4" | "f8" | "i4", "shape": [..]} instead.
 */
#pragma once

#include "core/text.h"

#include <stdint.h>

typedef struct cb_page {
  cb_text json, arrays;
  int count;
} cb_page;

typedef enum cb_page_type { CB_PAGE_F4, CB_PAGE_F8, CB_PAGE_I4 } cb_page_type;

/* The functions below append JSON. key: the name of a member of an object; NULL: an item of a list. A lack of memory is
 * reported by cb_page_check. */
void cb_page_begin(cb_page *p, const char *key, char bracket);
void cb_page_end(cb_page *p, char bracket);
void cb_page_text(cb_page *p, const char *key, const char *text);
void cb_page_number(cb_page *p, const char *key, double value);
void cb_page_texts(cb_page *p, const char *key, size_t n, const char *const *text);
/* Appends an array of n0 n1 n2 values. n1 or n2 is 0 if there is no such dimension. */
cb_status cb_page_array(cb_page *p, const char *key, cb_page_type type, size_t n0, size_t n1, size_t n2,
                        const double *values);
cb_status cb_page_check(const cb_page *p);
void cb_page_free(cb_page *p);

/* Appends a text in which < and & are escaped for HTML. */
void cb_page_html(cb_text *out, const char *text);

/* The scripts and styles of the page, which are packed when the program is built (embed.c). The list ends with a NULL
 * name. It is empty in a build without three.js and dygraphs. */
typedef struct cb_asset {
  const char *name;
  const char *packed;
  size_t length;
} cb_asset;
extern const cb_asset cb_view_assets[];
