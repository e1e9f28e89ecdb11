/* curvebody inertia MESH [--density RHO] [--thickness T] [--scale S] [--weld[=TOLERANCE]] [--close[=SHARE]]
 *                  [--fluid water|air|none|RHO]
 *                  [--added-mass MODEL] [--error E] [--space SPACE] [--chart CHART] [--json]
 *
 * Prints mass properties of a surface (curvebody/mass.h) and the added mass of the fluid around it by a fluid model:
 * 6x6 tensors about the origin of the mesh in the order (angular, linear), in SI units. */
#include "cli/inertia.h"
#include "cli/ambient.h"
#include "scenario/warnings.h"

#include "core/failure.h"
#include "core/registry.h"
#include "fluid/medium_surfaces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- the surface --- */

static const cb_shape_class *shape_of(const char *argument, size_t length) {
  return cb_shape_classes[cb_registry_find(&cb_shape_registry, argument, length)];
}

cb_status cli_inertia_map(const char *argument, size_t name, const char *expected, const char *more, cb_tree **out) {
  cb_text text = {0};
  const char *rest = argument + name;
  cb_text_puts(&text, "{");
  for (; *rest; rest += strcspn(rest + 1, ",") + 1) {
    const size_t size = strcspn(rest + 1, ","), key = strcspn(rest + 1, "=");
    if (key >= size) {
      cb_text_free(&text);
      return cb_fail(CB_ERROR_INPUT, "curvebody: error: %s: expected %s:KEY=VALUE,..., found '%.*s'", argument,
                     expected, (int)(size < 60 ? size : 60), rest + 1);
    }
    cb_text_put(&text, rest + 1, key);
    cb_text_puts(&text, ": ");
    cb_text_put(&text, rest + key + 2, size - key - 1);
    cb_text_puts(&text, ", ");
  }
  cb_text_puts(&text, more ? more : "");
  cb_text_puts(&text, "}");
  const cb_status status = !text.failed ? cb_yaml_read_text(argument, text.data, text.length, out)
                                        : cb_fail(CB_ERROR_MEMORY, "no memory for the parameters of %s", argument);
  cb_text_free(&text);
  return status;
}

/* Makes a surface from `name:key=value,...`. */
static cb_status make_shape(const cb_shape_class *shape, const char *argument, cb_surface **out) {
  cb_tree *tree = NULL;
  cb_status status = cli_inertia_map(argument, strlen(shape->name), "SHAPE", NULL, &tree);
  if (!status) status = cb_shape_create_class(shape, cb_tree_root(tree), out);
  cb_tree_free(tree);
  return status;
}

static cb_status unknown(const char *argument) {
  const char *names[CB_REGISTRY_MAX];
  const char *near = cb_nearest_name(argument, names, cb_registry_names(&cb_shape_registry, names));
  if (near)
    return cb_fail(CB_ERROR_INPUT, "curvebody: error: '%.60s' is neither a file nor a shape, did you mean '%s'?",
                   argument, near);
  return cb_fail(
      CB_ERROR_INPUT,
      "curvebody: error: '%.60s' is neither a file nor a shape: expected a mesh, or one of `curvebody list shapes`",
      argument);
}

cb_status cli_inertia_placed(const cli_inertia *f, cb_status status) {
  char text[1024];
  if (!cb_failure_is_of_input(status) || status == CB_ERROR_INPUT || cb_failure_last().placed) return status;
  snprintf(text, sizeof text, "%s", cb_error_text());
  return cb_fail_placed(status == CB_ERROR_STEP ? status : CB_ERROR_INPUT, "%s: error: %s", f->argument, text);
}

static cb_status open_surface(cli_inertia *f, double scale, bool scaled, const cb_mending *how,
                              cb_surface_chart chart) {
  const char *argument = f->argument;
  cb_surface **out = &f->surface;
  struct stat file;
  const cb_shape_class *shape = shape_of(argument, strcspn(argument, ":"));
  cb_status status = shape ? make_shape(shape, argument, out)
                     : !strpbrk(argument, "./") && stat(argument, &file) != 0
                         ? unknown(argument)
                         : cb_surface_read_mended(argument, how, out);
  if (!status) cb_surface_scale(*out, scale);
  if (!status && scaled) cb_surface_know_unit(*out);
  if (!status) status = cb_surface_check(*out, true);
  if (!status) status = cb_surface_embed(*out, f->curvature, chart);
  return cli_inertia_placed(f, status);
}

/* --- the space --- */

/* Reads the curvature of the space, which must be the same everywhere, so that isometries can move and rotate a body
 * freely. */
static cb_status curvature_of(cli_inertia *f, const char *argument) {
  const cli_list none = {0};
  cli_ambient a;
  if (!argument) return CB_OK;
  const cb_status status = cli_ambient_open(argument, &none, NULL, &a);
  if (status) return status;
  const cb_space *g = a.space;
  const bool even = !g->intrinsic && g->n_factors == 1 && g->dim == 3;
  if (even) f->curvature = g->factor[0].curvature;
  cli_ambient_close(&a);
  return even ? CB_OK
              : cb_fail(CB_ERROR_INPUT,
                        "--space:1:1: error: `%.60s` has no isometries that move a body to every position and "
                        "orientation: expected e3, s3 or h3",
                        argument);
}

static cb_status chart_of(const cli_inertia *f, const char *text, cb_surface_chart *out) {
  static const char *const names[] = {"exponential", "gnomonic"};
  if (!text) return CB_OK;
  if (!f->space) return cb_fail(CB_ERROR_INPUT, "--chart:1:1: error: a chart needs a space: expected --space too");
  for (int i = 0; i < 2; i++)
    if (!strcmp(text, names[i])) {
      *out = (cb_surface_chart)i;
      return CB_OK;
    }
  return cb_fail(CB_ERROR_INPUT, "--chart:1:1: error: expected exponential or gnomonic, found '%.60s'", text);
}

/* --- results --- */

/* Checks the first open part if there is no thickness: a closed body with a missing face must not count as a sheet.
 * With a density such a part is an error, CB_ERROR_DOMAIN; without one, a part of a mesh that bulges causes a
 * warning. */
static cb_status check_open(const cli_inertia *f) {
  const cb_surface *s = f->surface;
  char border[CB_SURFACE_BORDER_TEXT];
  int p = 0;
  while (p < s->parts && !s->open[p]) p++;
  if (p == s->parts || f->thickness > 0) return CB_OK;
  const cb_status status = cb_surface_border_text(s, p, f->density > 0 ? "--weld" : NULL, border);
  if (status) return status;
  if (f->density > 0)
    return cb_fail(CB_ERROR_DOMAIN,
                   "part `%s` is open and has no mass without a thickness: expected a thickness > 0%s; %s", s->name[p],
                   cb_surface_is_shape(s) ? "" : " or `--close`", border);
  cb_surface_border found;
  const cb_status second = cb_surface_border_of(s, p, &found);
  if (!second && found.bulges && !cb_surface_is_shape(s))
    cb_warn("part `%s` is open, so it has no volume and the added mass of a sheet, with fluid on both sides; %s",
            s->name[p], border);
  return second;
}

static cb_status find(cli_inertia *f) {
  const cb_status open = check_open(f);
  if (open) return cli_inertia_placed(f, open);
  const int parts = f->surface->parts;
  cb_material *material = calloc((size_t)parts, sizeof *material);
  if (!material) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", parts);
  for (int p = 0; p < parts; p++) material[p] = (cb_material){f->density, f->surface->open[p] ? f->thickness : 0};
  cb_status status = cb_mass_of(f->surface, NULL, material, &f->mass);
  free(material);
  if (!status && f->mass.mass > 0) status = cb_mass_principal(&f->mass, f->moment, f->axis);
  return cli_inertia_placed(f, status);
}

/* Takes mass, volume and parts from the faces on which the added mass was solved, if their volume or area differs from
 * that of the given faces. */
static cb_status take_solved(cli_inertia *f) {
  cb_surface *solved = NULL;
  cli_inertia fine = *f;
  cb_status status = f->added.faces > 0 ? cb_surface_with_faces(f->surface, f->added.faces, &solved) : CB_OK;
  if (status || !solved) return status;
  fine.surface = solved;
  fine.part = NULL;
  status = find(&fine);
  const double change = fmax(fabs(fine.mass.volume - f->mass.volume), fabs(fine.mass.area - f->mass.area));
  if (!status && change > 1e-9 * fmax(fine.mass.volume, fine.mass.area)) {
    status = cli_inertia_parts(&fine, NULL);
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

/* Reads a number > 0, or >= 0 if zero is true. */
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

/* Reads --weld and --close, with or without a number. */
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

typedef struct arguments {
  const char *density, *thickness, *fluid, *scale, *added_mass, *error, *space, *chart, *weld, *close;
  bool json;
} arguments;

static cb_status read_surface(const arguments *a, cli_inertia *f) {
  double scale = 1, error;
  cb_mending how = {.weld = false};
  cb_surface_chart chart = CB_CHART_EXPONENTIAL;
  cb_status status = number("--density", a->density, true, &f->density);
  if (!status) status = number("--thickness", a->thickness, true, &f->thickness);
  if (!status) status = fluid_of(a->fluid, &f->fluid);
  if (!status) status = number("--scale", a->scale, false, &scale);
  if (!status && a->error && strcmp(a->error, "none")) status = number("--error", a->error, false, &error);
  if (!status) status = curvature_of(f, f->space);
  if (!status) status = chart_of(f, a->chart, &chart);
  if (!status) status = mending_of(a->weld, a->close, scale, &how);
  return status ? status : open_surface(f, scale, a->scale, &how, chart);
}

static cb_status print_all(const cli_inertia *f, bool local, bool json) {
  cli_inertia_print(f, json);
  if (f->thickness > 0 && is_closed(f->surface)) cb_warn("the body is closed: --thickness applies only to open parts");
  if (!f->added.method) cb_warn_of_parts(f->surface, f->part, "");
  if (f->shape) cb_warn_of_curvature(f->surface, f->mass.area, local, "--added-mass exact", "");
  cb_note_large(f->surface, &f->mass, "--scale 1e-3", "");
  cb_warn_of_error(&f->added, "");
  return cb_warn_of_cuts(f->surface, "");
}

static int run(void *taken, char **operand) {
  const arguments *a = taken;
  cli_inertia f = {.argument = operand[0], .density = 1000, .space = a->space};
  cli_announce_large_work(f.argument);
  cb_status status = read_surface(a, &f);
  if (!status) cb_note_closed(f.surface, "");
  if (!status) status = find(&f);
  if (!status) status = cb_warn_of_seams(f.surface, "--weld", "");
  if (!status) {
    f.vertices = f.surface->vertices;
    f.faces = f.surface->faces;
    f.shape = cb_surface_is_shape(f.surface);
    status = cli_inertia_added_mass(&f, a->added_mass ? a->added_mass : "local", a->error);
  }
  const bool local = !status && f.fluid > 0 && !strcmp(f.model, "local");
  /* A mesh is checked with its given faces, because its finer faces are in the same planes; print_all checks a shape,
   * whose finer faces are on the exact shape. */
  if (!status && !f.shape) cb_warn_of_curvature(f.surface, f.mass.area, local, "--added-mass exact", "");
  if (!status) status = take_solved(&f);
  if (!status) status = print_all(&f, local, a->json);
  free(f.part);
  cb_surface_free(f.surface);
  return status ? cli_report(status) : CLI_EXIT_DONE;
}

static const cli_option options[] = {
    CLI_OPTION("density", 0, CLI_VALUE, density, "RHO", "1000", NULL, "density of the body in kg/m^3"),
    CLI_OPTION("fluid", 0, CLI_VALUE, fluid, "NAME|RHO", "water", "water air none",
               "the fluid: water, air, none, or its density in kg/m^3"),
    CLI_OPTION("thickness", 0, CLI_VALUE, thickness, "T", "0", NULL, "thickness of open parts in m"),
    CLI_OPTION("scale", 0, CLI_VALUE, scale, "S", "1", NULL, "metres per unit of the mesh, > 0"),
    CLI_OPTION("weld", 0, CLI_OPTIONAL, weld, "TOLERANCE", "off; 0 if no TOLERANCE is given; STL is always welded",
               NULL, "joins vertices at the same position, or up to TOLERANCE metres apart"),
    CLI_OPTION("close", 0, CLI_OPTIONAL, close, "SHARE", "off; 0.1 if no SHARE is given", NULL,
               "closes holes whose area is up to this share of the area of the piece, < 0.5"),
    CLI_OPTION(
        "added-mass", 0, CLI_VALUE, added_mass, "MODEL", "local", "none @models",
        "fluid model of the added mass, NAME:KEY=VALUE,...: local, exact, none, or another model of `curvebody list "
        "fluids`"),
    CLI_OPTION("error", 0, CLI_VALUE, error, "E", "1e-2", NULL,
               "relative error tolerance of the added mass; the mesh is refined until the tolerance is met. none: no "
               "refinement"),
    CLI_OPTION("space", 0, CLI_VALUE, space, "SPACE", "e3", "@spaces", "e3, s3 or h3, or NAME:KEY=VALUE,..."),
    CLI_OPTION("chart", 0, CLI_VALUE, chart, "CHART", "exponential", "exponential gnomonic",
               "map of the body into --space: exponential preserves distances from the origin, gnomonic maps flat "
               "faces to geodesic planes"),
    CLI_OPTION("json", 0, CLI_FLAG, json, NULL, NULL, NULL, "prints JSON"),
    CLI_END};
static const cli_operand operands[] = {
    {"MESH", "@shapes @files", "an OBJ, PLY, STL or OFF file, or SHAPE:KEY=VALUE,... of `curvebody list shapes`", NULL},
    {.name = NULL}};
static const cli_example examples[] = {
    {"curvebody inertia ellipsoid:a=2,b=1,c=1 --density 1297.4", "Prints the inertia of a shape in water."},
    {"curvebody inertia body.obj --added-mass exact --error 1e-1",
     "Computes the added mass of a mesh to a relative error of 0.1."},
    {NULL, NULL}};

const cli_command cli_command_inertia = {
    .name = "inertia",
    .usage = "MESH [OPTION]...",
    .summary = "Prints mass, centre, inertia and added mass of a body.",
    .options = options,
    .operands = operands,
    .required = 1,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
