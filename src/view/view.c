/* Makes the page of a record: JSON, arrays, and the scripts that draw them. */
#include "view/view_private.h"

#include "record/output.h"
#include "record/record_contents.h"
#include "scenario/private.h"
#include "tree/scalar.h"

#include <curvebody/view.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 2000, TURNS = 6, MAX_WARNINGS = 10 };
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
  const cb_space *g = v->space;
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
  cb_page_number(v->page, "curvature", K);
  cb_page_number(v->page, "curved", curved);
  cb_page_number(v->page, "flat", g ? flat : 3);
  cb_page_text(v->page, "plot", g ? g->plot : "embedding");
  cb_page_end(v->page, '}');
}

/* Returns whether a point of the space can be given by the page's four numbers: at most three dimensions, of at most
 * one curved factor and flat axes after it. */
static bool fits_page(const cb_space *g) {
  int curved = 0;
  for (int f = 0; f < g->n_factors; f++) curved += g->factor[f].curvature != 0;
  return !g->intrinsic && g->dim <= 3 && curved <= 1 && (!curved || g->factor[0].curvature != 0) && g->n_factors > 0;
}

/* Opens the scenario and the space of the record. If one of them cannot be opened, for example because a mesh is
 * missing, or the page cannot draw the space, it is NULL and the record is drawn without it. The results other than
 * CB_OK are lack of memory and a record that cannot be read.
 */
static cb_status open_scenario(cb_view *v) {
  const char *text;
  cb_status status = cb_reader_scenario(v->reader, "resolved", &text);
  if (status) return status;
  const cb_status opened = cb_scenario_open_record(v->path, text, NULL, 0, &v->scenario);
  if (opened == CB_ERROR_MEMORY) return opened;
  if (opened) v->scenario = NULL;
  status = cb_yaml_read_text(v->path, text, strlen(text), &v->tree);
  if (status) {
    v->tree = NULL;
    return status == CB_ERROR_MEMORY ? status : CB_OK;
  }
  cb_rename_former(cb_tree_root(v->tree));
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
  cb_page_text(v->page, "time_units", v->fields[0].units);
  cb_view_space(v);
  if (!status) status = cb_view_events(v);
  return status ? status : cb_view_series(v);
}

static cb_status fill_frames(const cb_view *v) {
  cb_status status = put_frames(v);
  if (!status) status = v->drawing->draw(v);
  if (!status) status = cb_view_shapes(v);
  cb_page_end(v->page, '}');
  return status ? status : cb_page_check(v->page);
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

static void write_page(const cb_view *v, const char *title, FILE *out) {
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
  fwrite(v->page->json.data, 1, v->page->json.length, out);
  fputs("</script>\n", out);
  fwrite(v->page->arrays.data, 1, v->page->arrays.length, out);
  fputs(start, out);
}

static cb_status write_file(const cb_view *v, const char *path) {
  cb_text title = {0};
  const char *text;
  cb_output file;
  FILE *stream;
  cb_status status = cb_reader_attribute(v->reader, "title", &text);
  if (status) return status;
  cb_page_html(&title, *text ? text : "curvebody");
  if (title.failed) status = cb_view_memory(v);
  if (!status) status = cb_output_open_text(path, &file, &stream);
  if (!status) {
    write_page(v, title.data, stream);
    status = cb_output_close_text(&file, stream, CB_OK);
  }
  cb_text_free(&title);
  return status;
}

static void free_view(cb_view *v) {
  cb_page_free(v->page);
  free(v->frame);
  cb_space_free(v->space);
  cb_scenario_free(v->scenario);
  cb_tree_free(v->tree);
  cb_reader_close(v->reader);
}

/* Reports the warnings of the run again, because the page shows its numbers. */
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

cb_status cb_view_write(const char *path, const char *out, const cb_view_options *options) {
  cb_page page = {0};
  cb_view v = {.path = path, .page = &page, .drawing = &cb_drawing_points};
  cb_status status = cb_output_check(out, &(cb_files){&path, 1});
  if (!status) status = cb_reader_open(path, &v.reader);
  if (status) return status;
  v.n_fields = cb_reader_fields(v.reader, &v.fields);
  v.rows = cb_reader_position(v.reader).rows;
  status = open_scenario(&v);
  if (!status) status = check_built();
  if (!status && !(options && options->watched)) status = repeat_warnings(&v);
  if (!status) status = make(&v, options);
  if (!status) status = write_file(&v, out);
  free_view(&v);
  return status;
}
