/* Makes the page of a record: JSON, packed arrays, and the scripts that draw them. */
#include "view/view_private.h"

#include "core/failure.h"
#include "record/output.h"
#include "record/record_contents.h"
#include "scenario/private.h"
#include "tree/scalar.h"
#include <curvebody/view.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* --- JSON and packed arrays --- */

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

/* Appends a text in which < and & are escaped for HTML. */
static void page_html(cb_text *out, const char *text) {
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

static cb_status page_check(const cb_page *p) {
  return p->json.failed || p->arrays.failed ? cb_fail(CB_ERROR_MEMORY, "no memory for a page") : CB_OK;
}

static void page_free(cb_page *p) {
  cb_text_free(&p->json);
  cb_text_free(&p->arrays);
}

/* --- the fields of the record --- */

enum { MAX_CHEAPER = 64, MAX_FRAMES = 2000, TURNS = 6, MAX_WARNINGS = 10 };
static const size_t maximum_bytes = (size_t)16 << 20;

int cb_view_field(const cb_view *v, const char *name) {
  for (size_t f = 0; f < v->n_fields; f++)
    if (!strcmp(v->fields[f].name, name)) return (int)f;
  return -1;
}

cb_status cb_view_constant(const cb_view *v, const char *name, double **out, size_t *n) {
  *out = NULL;
  cb_status status = cb_reader_count(v->reader, name, n);
  if (status || !*n) return status;
  if (!(*out = malloc(*n * sizeof **out))) return cb_view_memory(v);
  return cb_reader_constant(v->reader, name, *n, *out);
}

cb_status cb_view_labels(const cb_view *v, const char *name, size_t n, const char *const **out) {
  size_t count = 0;
  cb_status status = cb_reader_labels(v->reader, name, out);
  if (!status && *out) status = cb_reader_count(v->reader, name, &count);
  if (status || count != n) *out = NULL;
  return status;
}

cb_status cb_view_frames(const cb_view *v, int field, double **out) {
  const size_t count = v->fields[field].count;
  *out = malloc((v->n_frames ? v->n_frames : 1) * count * sizeof **out);
  cb_status status = *out ? CB_OK : cb_view_memory(v);
  for (uint64_t f = 0; f < v->n_frames && !status; f++)
    status = cb_reader_rows(v->reader, (size_t)field, v->frame[f], 1, *out + f * count);
  if (status) {
    free(*out);
    *out = NULL;
  }
  return status;
}

/* --- the space and the scenario of the record --- */

static void cb_view_space(const cb_view *v) {
  const cb_space *g = v->space, *of = v->scenario ? cb_scenario_space(v->scenario) : NULL;
  int curved = 0, flat = 0;
  double K = 0;
  for (int f = 0; g && f < g->n_factors; f++) {
    if (g->factor[f].curvature != 0) {
      curved = g->factor[f].count - 1;
      K = g->factor[f].curvature;
    } else
      flat += g->factor[f].count;
  }
  cb_page_begin(v->page, "space", '{');
  cb_page_text(v->page, "name", g ? g->class_->name : "plot");
  cb_page_text(v->page, "of", of ? of->class_->name : "");
  cb_page_number(v->page, "curvature", K);
  cb_page_number(v->page, "curved", curved);
  cb_page_number(v->page, "flat", g ? flat : 3);
  cb_page_text(v->page, "plot", g ? g->plot : "embedding");
  cb_page_end(v->page, '}');
}

/* Returns whether a point of the space can be given by the page's four numbers: the space must have at most three
 * dimensions, and consist of at most one curved factor followed by flat axes. */
static bool fits_page(const cb_space *g) {
  int curved = 0;
  for (int f = 0; f < g->n_factors; f++) curved += g->factor[f].curvature != 0;
  return !g->intrinsic && g->dim <= 3 && curved <= 1 && (!curved || g->factor[0].curvature != 0) && g->n_factors > 0;
}

/* Opens the scenario. A page needs the surfaces of bodies, not the exact added mass, which can take a minute and is
 * therefore left out. */
static cb_status open_bodies(cb_view *v, const char *text) {
  const cb_node *root = v->tree ? cb_tree_root(v->tree) : NULL, *fluid = root ? cb_node_get(root, "fluid") : NULL;
  const cb_node *bodies = fluid ? cb_node_get(root, "bodies") : NULL;
  char set[MAX_CHEAPER][64];
  const char *sets[MAX_CHEAPER];
  size_t n = 0;
  if (fluid) snprintf(set[n++], sizeof set[0], "fluid.added_mass=none");
  if (fluid && cb_node_get(fluid, "coupling")) snprintf(set[n++], sizeof set[0], "fluid.coupling=none");
  for (int b = 0; bodies && bodies->kind == CB_NODE_LIST && b < (int)bodies->count && n < MAX_CHEAPER; b++)
    if (cb_node_get(bodies->items[b], "added_mass")) snprintf(set[n++], sizeof set[0], "bodies.%d.added_mass=none", b);
  for (size_t i = 0; i < n; i++) sets[i] = set[i];
  if (n && !cb_scenario_open_record(v->path, text, sets, n, &v->scenario)) return CB_OK;
  return cb_scenario_open_record(v->path, text, NULL, 0, &v->scenario);
}

/* Opens the scenario and the space of the record. If the scenario or the space cannot be opened, for example because a
 * mesh is missing, it is NULL and the record is drawn without it. The space is also NULL if the page cannot draw it.
 * Fails only if memory runs out or the record cannot be read.
 */
static cb_status open_scenario(cb_view *v) {
  const char *text;
  cb_status status = cb_reader_scenario(v->reader, "resolved", &text);
  if (status) return status;
  status = cb_yaml_read_text(v->path, text, strlen(text), &v->tree);
  if (status) v->tree = NULL;
  if (status == CB_ERROR_MEMORY) return status;
  if (v->tree) cb_rename_former(cb_tree_root(v->tree));
  const cb_status opened = open_bodies(v, text);
  if (opened == CB_ERROR_MEMORY) return opened;
  if (opened) v->scenario = NULL;
  if (!v->tree) return CB_OK;
  const cb_node *root = cb_tree_root(v->tree), *space = cb_node_get(root, "space");
  const cb_configuration *class = cb_scenario_class_of(root);
  if (class && class->drawing) v->drawing = class->drawing;
  cb_tree *flat = NULL;
  if (!space && v->drawing->space) {
    status = cb_yaml_read_text(v->path, v->drawing->space, strlen(v->drawing->space), &flat);
    if (status) return status;
    space = cb_tree_root(flat);
  }
  if (space) {
    status = cb_space_read(space, &v->space);
    if (status) v->space = NULL;
    if (status && status != CB_ERROR_MEMORY) status = CB_OK;
  }
  if (v->space && !fits_page(v->space)) {
    cb_space_free(v->space);
    v->space = NULL;
  }
  cb_tree_free(flat);
  return status;
}

/* --- frames --- */

static cb_status choose_frames(cb_view *v, uint64_t asked, uint64_t maximum) {
  v->n_frames = asked ? asked : maximum < MAX_FRAMES ? maximum : MAX_FRAMES;
  if (v->n_frames > v->rows) v->n_frames = v->rows;
  free(v->frame);
  v->frame = malloc((v->n_frames ? v->n_frames : 1) * sizeof *v->frame);
  if (!v->frame) return cb_view_memory(v);
  for (uint64_t f = 0; f < v->n_frames; f++)
    v->frame[f] = v->n_frames > 1 ? (uint64_t)(((double)f * (double)(v->rows - 1)) / (double)(v->n_frames - 1) + 0.5)
                                  : v->rows - 1;
  return CB_OK;
}

static cb_status put_frames(const cb_view *v) {
  double *time, *row = malloc((v->n_frames ? v->n_frames : 1) * sizeof *row);
  if (!row) return cb_view_memory(v);
  for (uint64_t f = 0; f < v->n_frames; f++) row[f] = (double)v->frame[f];
  cb_status status = cb_view_frames(v, 0, &time);
  if (!status) status = cb_page_array(v->page, "row", CB_PAGE_F8, v->n_frames, 0, 0, row);
  if (!status) status = cb_page_array(v->page, "time", CB_PAGE_F8, v->n_frames, 0, 0, time);
  free(time);
  free(row);
  return status;
}

/* Fills in the parts of the page that do not depend on the choice of frames. */
static cb_status fill(const cb_view *v, bool watched) {
  const char *title;
  cb_status status = cb_reader_attribute(v->reader, "title", &title);
  cb_page_begin(v->page, NULL, '{');
  cb_page_text(v->page, "title", !status && *title ? title : "curvebody");
  cb_page_text(v->page, "state", cb_reader_completed(v->reader) ? "complete" : watched ? "running" : "unfinished");
  cb_page_number(v->page, "rows", (double)v->rows);
  const int plot = cb_view_field(v, "plot_position");
  cb_page_text(v->page, "time_units", v->fields[0].units);
  cb_page_text(v->page, "length_units", plot < 0 ? "1" : v->fields[plot].units);
  cb_view_space(v);
  if (!status) status = cb_view_events(v);
  return status ? status : cb_view_series(v);
}

static cb_status fill_frames(const cb_view *v) {
  cb_status status = put_frames(v);
  if (!status) status = v->drawing->draw(v);
  if (!status) status = cb_view_shapes(v);
  cb_page_end(v->page, '}');
  return status ? status : page_check(v->page);
}

/* Fills the page. If it becomes too large, it is filled again with fewer frames. */
static cb_status make(cb_view *v, const cb_view_options *options) {
  const uint64_t asked = options ? options->frames : 0;
  const size_t capacity = maximum_bytes - ((size_t)1 << 20);
  size_t size;
  cb_status status = v->drawing->size(v, &size);
  if (!status) status = fill(v, options && options->watched);
  uint64_t maximum = status ? 0 : maximum_bytes / (size ? size : 1) + 2;
  const cb_page fixed = *v->page;
  for (int turn = 0; turn < TURNS && !status; turn++) {
    v->page->json.length = fixed.json.length;
    v->page->arrays.length = fixed.arrays.length;
    v->page->count = fixed.count;
    status = choose_frames(v, asked, maximum);
    if (!status) status = fill_frames(v);
    const size_t rest = fixed.arrays.length + fixed.json.length, bytes = v->page->arrays.length + v->page->json.length;
    if (asked || bytes <= capacity || v->n_frames <= 2) break;
    const double share = rest < capacity ? (double)(capacity - rest) / (double)(bytes - rest) : 0;
    maximum = (uint64_t)((double)v->n_frames * 0.95 * share);
    if (maximum < 2) maximum = 2;
  }
  return status;
}

/* --- the page --- */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src "
    "'unsafe-inline'; img-src data: blob:; media-src blob:\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<!-- Holds three.js (MIT, three.js authors) and dygraphs (MIT, Dan Vanderkam and others) besides curvebody's own "
    "scripts. -->\n<title>";

/* Unpacks the scripts and styles of the page one after another. */
static const char start[] =
    "<script>\n\"use strict\";\n"
    "async function unpacked(id) {\n"
    "  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), c => c.charCodeAt(0));\n"
    "  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(\"deflate\"));\n"
    "  return new Uint8Array(await new Response(stream).arrayBuffer());\n"
    "}\n"
    "(async () => {\n"
    "  try {\n"
    "    for (const part of document.querySelectorAll(\"script[data-part]\")) {\n"
    "      const element = document.createElement(part.dataset.part);\n"
    "      element.textContent = new TextDecoder().decode(await unpacked(part.id));\n"
    "      document.head.append(element);\n"
    "    }\n"
    "    await curvebody.begin(JSON.parse(document.getElementById(\"page\").textContent), unpacked);\n"
    "  } catch (failure) {\n"
    "    document.body.append(\"This page cannot be shown here: \" + failure);\n"
    "    throw failure;\n"
    "  }\n"
    "})();\n</script>\n</body></html>\n";

static void write_page(const cb_page *page, const char *title, FILE *out) {
  fputs(head, out);
  fputs(title, out);
  fputs("</title></head><body>\n", out);
  for (const cb_asset *a = cb_view_assets; a->name; a++) {
    const size_t n = strlen(a->name);
    fprintf(out, "<script type=\"text/plain\" data-part=\"%s\" id=\"%s\">",
            n > 4 && !strcmp(a->name + n - 4, ".css") ? "style" : "script", a->name);
    fwrite(a->packed, 1, a->length, out);
    fputs("</script>\n", out);
  }
  fputs("<script type=\"application/json\" id=\"page\">", out);
  fwrite(page->json.data, 1, page->json.length, out);
  fputs("</script>\n", out);
  fwrite(page->arrays.data, 1, page->arrays.length, out);
  fputs(start, out);
}

static cb_status write_file(const cb_page *page, const char *text, const char *path) {
  cb_text title = {0};
  cb_output file;
  FILE *stream;
  page_html(&title, text && *text ? text : "curvebody");
  cb_status status = title.failed ? cb_fail(CB_ERROR_MEMORY, "no memory for a page") : CB_OK;
  if (!status) status = cb_output_open_text(path, &file, &stream);
  if (!status) {
    write_page(page, title.data, stream);
    status = cb_output_close_text(&file, stream, CB_OK);
  }
  cb_text_free(&title);
  return status;
}

static void free_view(cb_view *v) {
  page_free(v->page);
  free(v->frame);
  cb_space_free(v->space);
  cb_scenario_free(v->scenario);
  cb_tree_free(v->tree);
  cb_reader_close(v->reader);
}

/* Reports the warnings of the run again, because the page shows the numbers of this run. */
static cb_status repeat_warnings(const cb_view *v) {
  const char *lines;
  const cb_status status = cb_reader_attribute(v->reader, "warnings", &lines);
  if (!status) cb_warnings_repeat(lines, MAX_WARNINGS, true);
  return status;
}

static cb_status check_built(void) {
  if (cb_view_assets[0].name) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "this program was built without `view`: build it again with three.js and dygraphs "
                 "installed (Debian: libjs-three and libjs-dygraphs)");
}

/* Writes the page of a file that is not a record: the result of a sweep or of `curvebody gait`. If it is none of these,
 * the failure `status` of opening it as a record is reported. */
static cb_status write_tables(const char *path, const char *out, cb_status status) {
  const cb_failure known = cb_failure_last();
  char text[CB_FAILURE_CAPACITY], *title = NULL;
  cb_page page = {0};
  bool found;
  snprintf(text, sizeof text, "%s", cb_error_text());
  cb_status done = cb_view_tables(path, &page, &title, &found);
  if (!found && done != CB_ERROR_MEMORY) done = cb_fail_lines(&known, status, text);
  if (!done) done = check_built();
  if (!done) done = page_check(&page);
  if (!done) done = write_file(&page, title, out);
  page_free(&page);
  free(title);
  return done;
}

cb_status cb_view_write(const char *path, const char *out, const cb_view_options *options) {
  cb_page page = {0};
  cb_view v = {.path = path, .page = &page, .drawing = &cb_drawing_points};
  const char *title = NULL;
  cb_status status = cb_output_check(out, &(cb_files){&path, 1});
  if (!status) {
    status = cb_reader_open(path, &v.reader);
    if (status == CB_ERROR_INPUT) return write_tables(path, out, status);
  }
  if (status) return status;
  v.n_fields = cb_reader_fields(v.reader, &v.fields);
  v.rows = cb_reader_position(v.reader).rows;
  status = open_scenario(&v);
  if (!status) status = check_built();
  if (!status && !(options && options->watched)) status = repeat_warnings(&v);
  if (!status) status = make(&v, options);
  if (!status) status = cb_reader_attribute(v.reader, "title", &title);
  if (!status) status = write_file(&page, title, out);
  free_view(&v);
  return status;
}
