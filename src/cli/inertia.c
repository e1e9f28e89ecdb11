/* curvebody inertia MESH [--density RHO] [--thickness T] [--scale S] [--weld[=TOLERANCE]] [--close[=SHARE]]
 *                  [--fluid water|air|none|RHO]
 *                  [--added-mass MODEL] [--error E] [--space SPACE] [--chart CHART] [--json]
 *
 * Mass properties of a surface (curvebody/mass.h) and the added mass of the fluid about it by a fluid model: 6x6 tensors
 * about the origin of the mesh in the order (angular, linear), in SI units. */
#include "cli/inertia.h"
#include "cli/ambient.h"
#include "cli/warnings.h"
#include "scenario/warnings.h"

#include "core/failure.h"
#include "core/registry.h"
#include "fluid/medium.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- the surface --- */

static const cb_shape_class *shape_of(const char *word, size_t length) {
  return cb_shape_classes[cb_registry_find(&cb_shape_registry, word, length)];
}

cb_status cb_inertia_map(const char *word, size_t name, const char *expected, const char *more, cb_tree **out) {
  cb_text text = {0};
  const char *rest = word + name;
  cb_text_puts(&text, "{");
  for (; *rest; rest += strcspn(rest + 1, ",") + 1) {
    const size_t size = strcspn(rest + 1, ","), key = strcspn(rest + 1, "=");
    if (key >= size) {
      cb_text_free(&text);
      return cb_fail(CB_ERROR_INPUT, "curvebody: error: %s: expected %s:KEY=VALUE,..., found '%.*s'", word, expected,
                     (int)(size < 60 ? size : 60), rest + 1);
    }
    cb_text_put(&text, rest + 1, key);
    cb_text_puts(&text, ": ");
    cb_text_put(&text, rest + key + 2, size - key - 1);
    cb_text_puts(&text, ", ");
  }
  cb_text_puts(&text, more ? more : "");
  cb_text_puts(&text, "}");
  const cb_status status = !text.failed ? cb_yaml_read_text(word, text.data, text.length, out)
                                        : cb_fail(CB_ERROR_MEMORY, "no memory for the parameters of %s", word);
  cb_text_free(&text);
  return status;
}

/* `name:key=value,...` */
static cb_status make_shape(const cb_shape_class *shape, const char *word, cb_surface **out) {
  cb_tree *tree = NULL;
  cb_status status = cb_inertia_map(word, strlen(shape->name), "SHAPE", NULL, &tree);
  if (!status) status = cb_shape_create_class(shape, cb_tree_root(tree), out);
  cb_tree_free(tree);
  return status;
}

static cb_status unknown(const char *word) {
  const char *names[CB_REGISTRY_MOST];
  const char *near = cb_nearest_name(word, names, cb_registry_names(&cb_shape_registry, names));
  if (near)
    return cb_fail(CB_ERROR_INPUT, "curvebody: error: no file and no shape '%.60s', did you mean '%s'?", word, near);
  return cb_fail(CB_ERROR_INPUT,
                 "curvebody: error: no file and no shape '%.60s': expected a mesh, or one of `curvebody list shapes`",
                 word);
}

cb_status cb_inertia_placed(const cb_inertia *f, cb_status status) {
  char text[1024];
  if (!cb_failure_is_of_input(status) || status == CB_ERROR_INPUT || cb_failure_last().placed) return status;
  snprintf(text, sizeof text, "%s", cb_error_text());
  return cb_fail_placed(status == CB_ERROR_STEP ? status : CB_ERROR_INPUT, "%s: error: %s", f->word, text);
}

static cb_status open_surface(cb_inertia *f, double scale, bool scaled, const cb_mending *how, cb_surface_chart chart) {
  const char *word = f->word;
  cb_surface **out = &f->surface;
  struct stat file;
  const cb_shape_class *shape = shape_of(word, strcspn(word, ":"));
  cb_status status = shape                                            ? make_shape(shape, word, out)
                     : !strpbrk(word, "./") && stat(word, &file) != 0 ? unknown(word)
                                                                      : cb_surface_read_mended(word, how, out);
  if (!status) cb_surface_scale(*out, scale);
  if (!status && scaled) cb_surface_know_unit(*out);
  if (!status) status = cb_surface_check(*out, true);
  if (!status) status = cb_surface_lay(*out, f->curvature, chart);
  return cb_inertia_placed(f, status);
}

/* --- the space --- */

/* Where isometries carry a body: the curvature of a space that has the same one everywhere. */
static cb_status curvature_of(cb_inertia *f, const char *word) {
  const cb_words none = {0};
  cb_ambient a;
  if (!word) return CB_OK;
  const cb_status status = cb_ambient_open(word, &none, NULL, &a);
  if (status) return status;
  const cb_geometry *g = a.space;
  const bool even = !g->intrinsic && g->n_factors == 1 && g->dim == 3;
  if (even) f->curvature = g->factor[0].curvature;
  cb_ambient_close(&a);
  return even ? CB_OK
              : cb_fail(CB_ERROR_INPUT,
                        "--space:1:1: error: `%.60s` has no isometries that carry a body to every place and turn it: "
                        "expected e3, s3 or h3",
                        word);
}

static cb_status chart_of(const cb_inertia *f, const char *text, cb_surface_chart *out) {
  static const char *const names[] = {"exponential", "gnomonic"};
  if (!text) return CB_OK;
  if (!f->space) return cb_fail(CB_ERROR_INPUT, "--chart:1:1: error: a chart without a space: expected --space");
  for (int i = 0; i < 2; i++)
    if (!strcmp(text, names[i])) return *out = (cb_surface_chart)i, CB_OK;
  return cb_fail(CB_ERROR_INPUT, "--chart:1:1: error: expected exponential or gnomonic, found '%.60s'", text);
}

/* --- what follows from it --- */

/* A closed body that lacks a face is no sheet. */
static cb_status check_open(const cb_inertia *f) {
  const cb_surface *s = f->surface;
  char border[CB_SURFACE_BORDER_TEXT];
  int p = 0;
  while (p < s->parts && !s->open[p]) p++;
  if (p == s->parts || f->thickness > 0) return CB_OK;
  const cb_status status = cb_surface_border_text(s, p, f->density > 0 ? "--weld" : NULL, border);
  if (status) return status;
  if (f->density > 0)
    return cb_fail(CB_ERROR_DOMAIN, "part `%s` is open: expected a thickness > 0%s, without one it has no mass; %s",
                   s->name[p], cb_surface_is_shape(s) ? "" : " or `--close`", border);
  cb_surface_border found;
  const cb_status second = cb_surface_border_of(s, p, &found);
  if (!second && found.bulges && !cb_surface_is_shape(s))
    cb_warn("part `%s` is open, so it has no volume and the added mass of a sheet, with fluid on both sides; %s",
            s->name[p], border);
  return second;
}

static cb_status find(cb_inertia *f) {
  const cb_status open = check_open(f);
  if (open) return cb_inertia_placed(f, open);
  const int parts = f->surface->parts;
  cb_material *material = calloc((size_t)parts, sizeof *material);
  if (!material) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", parts);
  for (int p = 0; p < parts; p++) material[p] = (cb_material){f->density, f->surface->open[p] ? f->thickness : 0};
  cb_status status = cb_mass_of(f->surface, NULL, material, &f->mass);
  free(material);
  if (!status && f->mass.mass > 0) status = cb_mass_principal(&f->mass, f->moment, f->axis);
  return cb_inertia_placed(f, status);
}

/* Mass, volume and parts are those of the faces that the added mass was solved on, where that is another body. */
static cb_status take_solved(cb_inertia *f) {
  cb_surface *solved = NULL;
  cb_inertia fine = *f;
  cb_status status = f->added.faces > 0 ? cb_surface_with_faces(f->surface, f->added.faces, &solved) : CB_OK;
  if (status || !solved) return status;
  fine.surface = solved;
  fine.part = NULL;
  status = find(&fine);
  const double change = fmax(fabs(fine.mass.volume - f->mass.volume), fabs(fine.mass.area - f->mass.area));
  if (!status && change > 1e-9 * fmax(fine.mass.volume, fine.mass.area)) {
    status = cb_inertia_parts(&fine, NULL);
    cb_surface_free(f->surface);
    free(f->part);
    *f = fine;
  } else {
    cb_surface_free(solved);
  }
  return status;
}

static bool is_closed(const cb_surface *s) {
  for (int p = 0; p < s->parts; p++)
    if (s->open[p]) return false;
  return true;
}

/* --- the command --- */

/* > 0, or 0 where it is allowed. */
static cb_status number(const char *option, const char *text, bool zero, double *out) {
  size_t at = 0;
  double value;
  if (!text) return CB_OK;
  const cb_status status = cb_expression_constant(text, &at, &value);
  if (status == CB_ERROR_INPUT) return cb_fail(CB_ERROR_INPUT, "%s:1:%zu: error: %s", option, at + 1, cb_error_text());
  if (status) return status;
  if (!(zero ? value >= 0 : value > 0))
    return cb_fail(CB_ERROR_INPUT, "%s:1:1: error: expected a number %s 0, found %g", option, zero ? ">=" : ">", value);
  *out = value;
  return CB_OK;
}

/* Of --weld and --close, with or without a number. */
static cb_status mending_of(const char *weld, const char *closed, double scale, cb_mending *out) {
  double share = CB_MENDING_SHARE / 100.;
  *out = (cb_mending){.weld = weld};
  cb_status status = weld && *weld ? number("--weld", weld, true, &out->tolerance) : CB_OK;
  out->tolerance /= scale;
  if (!status && closed && *closed) status = number("--close", closed, false, &share);
  if (!status && !(share < 0.5))
    status = cb_fail(CB_ERROR_INPUT, "--close:1:1: error: expected a share of the area < 0.5, found %g", share);
  if (closed) out->close = share;
  return status;
}

static cb_status fluid_of(const char *text, double *out) {
  return cb_medium_named(text ? text : "water", out) ? CB_OK : number("--fluid", text, true, out);
}

static int run(int argc, char **argv) {
  const char *density = NULL, *thickness = NULL, *fluid = NULL, *scaled = NULL, *added = "local", *error = NULL,
             *chart_name = NULL, *weld = NULL, *closed = NULL;
  double scale = 1, wanted;
  bool json = false;
  cb_mending how = {.weld = false};
  cb_surface_chart chart = CB_CHART_EXPONENTIAL;
  cb_inertia f = {.density = 1000};
  const cb_option options[] = {
      {"--density", NULL, true, cb_take_text, &density},  {"--thickness", NULL, true, cb_take_text, &thickness},
      {"--fluid", NULL, true, cb_take_text, &fluid},      {"--scale", NULL, true, cb_take_text, &scaled},
      {"--added-mass", NULL, true, cb_take_text, &added}, {"--error", NULL, true, cb_take_text, &error},
      {"--space", NULL, true, cb_take_text, &f.space},    {"--chart", NULL, true, cb_take_text, &chart_name},
      {"--weld", NULL, false, cb_take_optional, &weld},   {"--close", NULL, false, cb_take_optional, &closed},
      {"--json", NULL, false, cb_take_flag, &json},       {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_inertia, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1) return cb_usage(&cb_command_inertia);
  f.word = argv[0];
  cb_say_beforehand(f.word);
  cb_status status = number("--density", density, true, &f.density);
  if (!status) status = number("--thickness", thickness, true, &f.thickness);
  if (!status) status = fluid_of(fluid, &f.fluid);
  if (!status) status = number("--scale", scaled, false, &scale);
  if (!status && error && strcmp(error, "none")) status = number("--error", error, false, &wanted);
  if (!status) status = curvature_of(&f, f.space);
  if (!status) status = chart_of(&f, chart_name, &chart);
  if (!status) status = mending_of(weld, closed, scale, &how);
  if (!status) status = open_surface(&f, scale, scaled, &how, chart);
  if (!status) cb_note_closed(f.surface, "");
  if (!status) status = find(&f);
  if (!status) status = cb_warn_of_seams(f.surface, "--weld", "");
  if (!status) f.vertices = f.surface->vertices, f.faces = f.surface->faces, f.shape = cb_surface_is_shape(f.surface);
  if (!status) status = cb_inertia_added_mass(&f, added, error);
  const bool local = !status && f.fluid > 0 && !strcmp(f.model, "local");
  /* The finer faces of a mesh lie in its own faces, those of a shape on the shape. */
  if (!status && !f.shape) cb_warn_of_curvature(f.surface, f.mass.area, local, "--added-mass exact", "");
  if (!status) status = take_solved(&f);
  if (!status) {
    cb_inertia_print(&f, json);
    if (f.thickness > 0 && is_closed(f.surface)) cb_warn("the body is closed: --thickness is of open parts");
    if (!f.added.method) cb_warn_of_parts(f.surface, f.part, "");
    if (f.shape) cb_warn_of_curvature(f.surface, f.mass.area, local, "--added-mass exact", "");
    cb_note_large(f.surface, &f.mass, "--scale 1e-3", "");
    cb_warn_of_error(&f.added, "");
    status = cb_warn_of_cuts(f.surface, "");
  }
  free(f.part);
  cb_surface_free(f.surface);
  return status ? cb_report(status) : CB_EXIT_DONE;
}

const cb_command cb_command_inertia = {
    "inertia",
    "MESH [--density RHO] [--thickness T] [--scale S] [--weld[=TOLERANCE]] [--close[=SHARE]] "
    "[--fluid water|air|none|RHO] "
    "[--added-mass MODEL] [--error E] [--space SPACE] [--chart CHART] [--json]",
    "Prints mass, centre, inertia and added mass of a body. MESH is an OBJ, PLY, "
    "STL or OFF file, or SHAPE:KEY=VALUE,... "
    "as `curvebody list shapes` has them; RHO in kg/m^3 (default 1000, in water), T "
    "in m is the thickness of open parts, S > 0 the metres a unit of MESH; --weld "
    "joins its vertices at one place, as those of STL always are, or up to TOLERANCE m apart; --close closes its holes "
    "of up to SHARE (default 0.1) of the area of their piece. MODEL, NAME:KEY=VALUE,..., is none, local "
    "(default), exact or another fluid model of `curvebody list fluids`; E is the "
    "error of it that is asked for, relative (default 1e-2), by which faces are "
    "refined, or none: the faces as they are. SPACE, NAME[:KEY=VALUE,...], is e3 (default), s3 or h3, into which "
    "CHART, "
    "exponential (default: distances from the origin are kept) or gnomonic (flat faces stay geodesic planes), lays the "
    "body.",
    run, NULL};
