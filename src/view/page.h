/* A page while it is made: JSON of what there is, and arrays that it refers to. Internal to src/view.
 *
 * An array is its bytes, those of one significance together (shuffled, as HDF5 does), deflated by zlib, in base64. JSON
 * has {"array": number, "type": "f4" | "f8" | "i4", "shape": [..]} in its place.
 */
#pragma once

#include "core/text.h"

#include <stdint.h>

typedef struct cb_page {
  cb_text json, arrays;
  int count;
} cb_page;

typedef enum cb_page_type { CB_PAGE_F4, CB_PAGE_F8, CB_PAGE_I4 } cb_page_type;

/* key is NULL in a list. What fails for want of memory is told by cb_page_check. */
void cb_page_begin(cb_page *p, const char *key, char bracket);
void cb_page_end(cb_page *p, char bracket);
void cb_page_text(cb_page *p, const char *key, const char *text);
void cb_page_number(cb_page *p, const char *key, double value);
void cb_page_words(cb_page *p, const char *key, size_t n, const char *const *word);
/* n0 n1 n2 values; n1 or n2 0: no such dimension. */
cb_status cb_page_array(cb_page *p, const char *key, cb_page_type type, size_t n0, size_t n1, size_t n2,
                        const double *values);
cb_status cb_page_check(const cb_page *p);
void cb_page_free(cb_page *p);

/* text with what HTML reads as its own told otherwise. */
void cb_page_html(cb_text *out, const char *text);

/* The page's own parts, packed when the program is built (embed.c); ended by a NULL name. None in a build without three.js
 * and dygraphs. */
typedef struct cb_asset {
  const char *name;
  const char *packed;
  size_t length;
} cb_asset;
extern const cb_asset cb_view_assets[];
