/* curvebody inertia MESH [--density RHO] [--thickness T] [--scale S] [--weld[=TOLERANCE]] [--close[=SHARE]]
 *                  [--fluid water|air|none|RHO]
 *                  [--added-mass MODEL] [--error E] [--space SPACE] [--chart CHART] [--json]
 *
 * Prints mass properties of a surface (curvebody/mass.h) and the added mass of the fluid around it by a fluid model:
 * 6x6 tensors about the origin of the mesh in the order (angular, linear), in SI units. */
#include "cli/cli.h"
#include "core/failure.h"
#include "core/registry.h"
#include "fluid/local.h"
#include "fluid/medium_surfaces.h"
#include "fluid/surface_mesh.h"
#include "scenario/warnings.h"
#include <curvebody/fluid_model.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The data that the command computes and prints. */
typedef struct cli_inertia {
  const char *argument;
  const char *space; /* name of the space, if one is given; otherwise NULL */
  double curvature;
  cb_surface *surface;
  bool shape; /* the surface is a shape of the library, not a mesh */
  /* numbers for the surface that was given; `surface` may later be a refined one, on which the added mass was solved */
  int vertices, faces;
  double density, thickness, fluid;
  cb_mass mass;
  double moment[3], axis[3][3];
  const char *model;   /* fluid model of the added mass; or "none" */
  cb_added_mass added; /* its matrix K is multiplied by the density of the fluid */
  cb_local_part *part;
} cli_inertia;

/* --- the surface --- */

static const cb_shape_class *shape_of(const char *argument, size_t length) {
  return cb_shape_classes[cb_registry_find(&cb_shape_registry, argument, length)];
}

/* Parses the argument NAME:KEY=VALUE,... as `{KEY: VALUE, ...}`, with `more` (NULL: none) at its end. name: the length
 * of NAME. expected: the word for NAME in an error message. The caller frees *out. */
static cb_status inertia_map(const char *argument, size_t name, const char *expected, const char *more, cb_tree **out) {
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
  cb_status status = inertia_map(argument, strlen(shape->name), "SHAPE", NULL, &tree);
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

/* Adds the name of the input to the last error message, if the input causes the error and the message has no place yet.
 * Messages of CB_ERROR_INPUT already have a place. Returns CB_ERROR_INPUT after such a change, or CB_ERROR_STEP if this
 * is `status`; otherwise returns `status`. */
static cb_status inertia_placed(const cli_inertia *f, cb_status status) {
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
  return inertia_placed(f, status);
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

/* --- the added mass --- */

static bool has_error(const cb_fluid_model_class *c) {
  for (const cb_param *row = c->params; row && row->name; row++)
    if (strcmp(row->name, "error") == 0) return true;
  return false;
}

/* Computes f->part, the data of the parts in the fluid model `local`, and the added mass K of that model for a fluid of
 * density 1 (NULL: not requested). Parts, volumes and warnings come from this model, for any model of the added
 * mass. */
static cb_status inertia_parts(cli_inertia *f, double (*K)[6]) {
  cb_local *l = NULL;
  double own[6][6];
  if (!K) K = own;
  f->part = calloc((size_t)f->surface->parts, sizeof *f->part);
  if (!f->part) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", f->surface->parts);
  if (f->curvature != 0)
    return inertia_placed(f, cb_local_curved_added_mass(f->surface, (const double(*)[3])f->surface->x, K, f->part));
  const cb_status status = cb_local_create(f->surface, &l);
  if (status) return status;
  cb_local_pose(l, (const double(*)[3])f->surface->x, NULL);
  cb_local_added_mass(l, 1, NULL, K, NULL, f->part);
  cb_local_free(l);
  return CB_OK;
}

/* Fails if a surface cuts itself: the flow around it is then not defined. */
static cb_status check_cuts(const cli_inertia *f) {
  cb_surface_cut *cut;
  char text[CB_SURFACE_CUT_TEXT];
  int n;
  const cb_status status = cb_surface_cuts(f->surface, &cut, &n);
  if (status) return status;
  if (n) cb_surface_cut_text(f->surface, cut, text);
  free(cut);
  return n ? cb_fail(CB_ERROR_INPUT,
                     "%s: error: %s: expected a surface that does not cut itself, for the added mass `%s`", f->argument,
                     text, f->model)
           : CB_OK;
}

static cb_status by_model(cli_inertia *f, const cb_fluid_model *m) {
  void *body = NULL;
  f->added = (cb_added_mass){.kinetic = 0};
  cb_status status = m->class_->prepare ? m->class_->prepare(m, f->surface, &f->mass, &body) : CB_OK;
  if (!status) status = m->class_->added_mass(m, body, f->surface, (const double(*)[3])f->surface->x, NULL, &f->added);
  if (m->class_->release && body) m->class_->release(m, body);
  return inertia_placed(f, status);
}

static cb_status make_model(const cb_fluid_model_class *c, const char *text, const char *error, cb_fluid_model **out) {
  char addition[96] = "";
  cb_tree *tree = NULL;
  const bool given = error && strcmp(error, "none") != 0, own = strstr(text, ":error=") || strstr(text, ",error=");
  if (given && !has_error(c))
    return cb_fail(CB_ERROR_INPUT,
                   "--error:1:1: error: the fluid model `%s` has no error tolerance: expected no --error", c->name);
  if (given && own)
    return cb_fail(CB_ERROR_INPUT, "--error:1:1: error: `%.60s` already sets an error: expected no --error", text);
  if (has_error(c) && given) snprintf(addition, sizeof addition, "error: %.60s", error);
  if (has_error(c) && error && !given) snprintf(addition, sizeof addition, "refine: false");
  cb_status status = inertia_map(text, strlen(c->name), "MODEL", addition, &tree);
  if (!status) status = cb_fluid_model_create_class(c, cb_tree_root(tree), out);
  cb_tree_free(tree);
  return status;
}

static cb_status class_of(const char *text, const cb_fluid_model_class **out) {
  const size_t length = strcspn(text, ":");
  const size_t at = cb_registry_find(&cb_fluid_model_registry, text, length);
  const cb_fluid_model_class *c = cb_fluid_model_classes[at];
  const char *names[CB_REGISTRY_MAX];
  *out = c;
  if (c && c->added_mass) return CB_OK;
  if (c)
    return cb_fail(CB_ERROR_INPUT,
                   "--added-mass:1:1: error: the fluid model `%s` has no added mass: expected none, or a model such as "
                   "local or exact",
                   c->name);
  const char *near = cb_nearest_name(text, names, cb_registry_names(&cb_fluid_model_registry, names));
  return cb_fail(CB_ERROR_INPUT, "--added-mass:1:1: error: no fluid model '%.*s'%s%s%s",
                 (int)(length < 60 ? length : 60), text,
                 near ? ", did you mean '" : ": expected none, or one of `curvebody list fluids`", near ? near : "",
                 near ? "'?" : "");
}

/* Fills model and added from --added-mass NAME[:KEY=VALUE,...]. error: the value of --error; NULL: not given. */
static cb_status inertia_added_mass(cli_inertia *f, const char *text, const char *error) {
  const cb_fluid_model_class *c = NULL;
  cb_fluid_model *m = NULL;
  const bool none = strcmp(text, "none") == 0;
  cb_status status = inertia_parts(f, f->added.K);
  if (!status && !none) status = class_of(text, &c);
  if (!status && c && f->curvature != 0 && c->added_mass != cb_fluid_local_added_mass && strcmp(c->name, "exact") != 0)
    return cb_fail(
        CB_ERROR_INPUT,
        "--added-mass:1:1: error: the fluid model `%s` works only in flat space: expected local, exact or none in %s",
        c->name, f->space);
  if (!status && none && error && strcmp(error, "none") != 0)
    status = cb_fail(
        CB_ERROR_INPUT,
        "--error:1:1: error: --error needs an added mass: expected no --error, or --added-mass other than none");
  if (!status && c) status = make_model(c, text, error, &m);
  f->model = c ? c->name : "none";
  if (!status && m && c->added_mass != cb_fluid_local_added_mass) {
    status = check_cuts(f);
    if (!status) status = by_model(f, m);
    if (status == CB_ERROR_INPUT && !strstr(cb_error_text(), ": error: "))
      status = cb_fail(status, "--added-mass:1:1: error: %s", cb_error_text());
  }
  cb_fluid_model_free(m);
  if (none) f->added = (cb_added_mass){.kinetic = 0};
  for (int i = 0; i < 36; i++) f->added.K[i / 6][i % 6] *= f->fluid;
  return status;
}

/* --- the output --- */

/* A number that is smaller than this, relative to the largest number of the same matrix, is printed as 0. */
static const double negligible = 1e-14;

static double cleaned(double value, double maximum) {
  return fabs(value) <= negligible * maximum ? 0 : cli_unsigned_nan(value);
}

/* Returns the area of a part: of an open part only one side counts, as in the area of the complete body. */
static double area_of(const cb_local_part *part) { return part->open ? part->area / 2 : part->area; }

static double largest(int n, const double *values) {
  double maximum = 0;
  for (int i = 0; i < n; i++) maximum = fmax(maximum, fabs(values[i]));
  return maximum;
}

static void print_matrix(const char *title, int n, int m, const double *a) {
  const double maximum = largest(n * m, a);
  printf("\n%s\n", title);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) printf(" %14.7g", cleaned(a[i * m + j], maximum));
    printf("\n");
  }
}

static bool solved(const cli_inertia *f) { return f->added.method != NULL; }

static void print_text(const cli_inertia *f) {
  const cb_mass *m = &f->mass;
  printf("%s: %d vertices, %d faces, %d part%s\n\n", f->argument, f->vertices, f->faces, f->surface->parts,
         f->surface->parts == 1 ? "" : "s");
  if (f->space)
    printf("in %s, with the curvature %.15g 1/m^2; the centre is in normal coordinates\n\n", f->space, f->curvature);
  if (f->surface->faces != f->faces) printf("the results below are for %d faces\n\n", f->surface->faces);
  printf("%-20s %-7s %14s %14s %14s\n", "part", "", "area", "volume", "delta");
  for (int p = 0; p < f->surface->parts; p++)
    printf("%-20s %-7s %14.7g %14.7g %14.7g\n", f->surface->name[p], f->part[p].open ? "sheet" : "closed",
           area_of(&f->part[p]), f->part[p].volume, f->part[p].delta);
  printf("\nmass %.15g kg, volume %.15g m^3, area %.15g m^2\n", m->mass, m->volume, m->area);
  printf("centre %.15g, %.15g, %.15g m\n", m->centre[0], m->centre[1], m->centre[2]);
  print_matrix("body, about the origin (angular, linear)", 6, 6, &m->inertia[0][0]);
  print_matrix("added mass, about the origin (angular, linear)", 6, 6, &f->added.K[0][0]);
  if (solved(f)) cli_print_solution("", f->model, f->shape, &f->added);
  print_matrix("principal moments about the centre", 1, 3, f->moment);
  print_matrix("principal axes, one per row", 3, 3, &f->axis[0][0]);
}

static void json_numbers(const char *key, int n, int m, const double *a) {
  const double maximum = largest(n * m, a);
  printf(",\n \"%s\": ", key);
  for (int i = 0; i < n; i++) {
    printf("%s[", i ? ", " : n > 1 ? "[" : "");
    for (int j = 0; j < m; j++) printf("%s%.17g", j ? ", " : "", cleaned(a[i * m + j], maximum));
    printf("]");
  }
  printf("%s", n > 1 ? "]" : "");
}

static void print_json(const cli_inertia *f) {
  printf("{\"surface\": ");
  cli_json_text(stdout, f->argument);
  printf(",\n \"vertices\": %d, \"faces\": %d,\n \"density\": %.17g, \"thickness\": %.17g, \"fluid\": %.17g",
         f->vertices, f->faces, f->density, f->thickness, f->fluid);
  if (f->space) {
    printf(",\n \"space\": ");
    cli_json_text(stdout, f->space);
    printf(", \"curvature\": %.17g", f->curvature);
  }
  printf(",\n \"mass\": %.17g, \"volume\": %.17g, \"area\": %.17g", f->mass.mass, f->mass.volume, f->mass.area);
  json_numbers("centre", 1, 3, f->mass.centre);
  json_numbers("inertia", 6, 6, &f->mass.inertia[0][0]);
  json_numbers("added_mass", 6, 6, &f->added.K[0][0]);
  printf(",\n \"added_mass_of\": {\"name\": ");
  cli_json_text(stdout, f->model);
  if (f->added.error > 0) printf(", \"error\": %.17g", f->added.error);
  if (solved(f))
    printf(", \"asymmetry\": %.17g, \"thickness\": %.17g, \"faces\": %d, \"method\": \"%s\", \"iterations\": %d",
           f->added.asymmetry, f->added.thickness, f->added.faces, f->added.method, f->added.iterations);
  printf("}");
  json_numbers("moments", 1, 3, f->moment);
  json_numbers("axes", 3, 3, &f->axis[0][0]);
  printf(",\n \"parts\": [");
  for (int p = 0; p < f->surface->parts; p++) {
    const cb_local_part *part = &f->part[p];
    printf("%s{\"name\": ", p ? ", " : "");
    cli_json_text(stdout, f->surface->name[p]);
    printf(", \"open\": %s, \"area\": %.17g, \"volume\": %.17g, \"delta\": %.17g, \"capped\": %s}",
           part->open ? "true" : "false", area_of(part), part->volume, part->delta, part->capped ? "true" : "false");
  }
  printf("]}\n");
}

static void inertia_print(const cli_inertia *f, bool json) { (json ? print_json : print_text)(f); }

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
  if (open) return inertia_placed(f, open);
  const int parts = f->surface->parts;
  cb_material *material = calloc((size_t)parts, sizeof *material);
  if (!material) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", parts);
  for (int p = 0; p < parts; p++) material[p] = (cb_material){f->density, f->surface->open[p] ? f->thickness : 0};
  cb_status status = cb_mass_of(f->surface, NULL, material, &f->mass);
  free(material);
  if (!status && f->mass.mass > 0) status = cb_mass_principal(&f->mass, f->moment, f->axis);
  return inertia_placed(f, status);
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
    status = inertia_parts(&fine, NULL);
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
  inertia_print(f, json);
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
    status = inertia_added_mass(&f, a->added_mass ? a->added_mass : "local", a->error);
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
