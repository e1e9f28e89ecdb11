/* curvebody inertia MESH [--density RHO] [--thickness T] [--scale S] [--weld] [--fluid water|air|none|RHO] [--json]
 *
 * Mass properties of a surface and the added mass of the fluid about it by the local model (curvebody/mass.h,
 * fluid/local.h): 6x6 tensors about the origin of the mesh in the order (angular, linear), in SI units. */
#include "cli/cli.h"
#include "cli/warnings.h"

#include "core/registry.h"
#include "core/text.h"
#include "fluid/local.h"
#include <curvebody/mass.h>
#include "fluid/medium.h"
#include "io/yaml.h"
#include <curvebody/expression.h>

#include <curvebody/node.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is smaller than this, relative to the largest number of its kind, is printed as the 0 that it stands for. */
static const double negligible = 1e-14;

typedef struct facts {
  const char *word;
  cb_surface *surface;
  double density, thickness, fluid;
  cb_mass mass;
  double moment[3], axis[3][3], added[6][6];
  cb_local_part *part;
} facts;

/* --- the surface --- */

static const cb_shape_class *shape_of(const char *word, size_t length) {
  return cb_shape_classes[cb_registry_find(&cb_shape_registry, word, length)];
}

/* `name:key=value,...` */
static cb_status make_shape(const cb_shape_class *shape, const char *word, cb_surface **out) {
  cb_text text = {0};
  cb_tree *tree = NULL;
  const char *rest = word + strlen(shape->name);
  cb_text_puts(&text, "{");
  for (; *rest; rest += strcspn(rest + 1, ",") + 1) {
    const size_t size = strcspn(rest + 1, ","), key = strcspn(rest + 1, "=");
    if (key >= size) {
      cb_text_free(&text);
      return cb_fail(CB_ERROR_INPUT, "curvebody: error: %s: expected SHAPE:KEY=VALUE,..., found '%.*s'", word,
                     (int)(size < 60 ? size : 60), rest + 1);
    }
    cb_text_put(&text, rest + 1, key);
    cb_text_puts(&text, ": ");
    cb_text_put(&text, rest + key + 2, size - key - 1);
    cb_text_puts(&text, ", ");
  }
  cb_text_puts(&text, "}");
  cb_status status = !text.failed ? cb_yaml_read_text(word, text.data, text.length, &tree)
                                  : cb_fail(CB_ERROR_MEMORY, "no memory for a shape");
  if (!status) status = cb_shape_create_class(shape, cb_tree_root(tree), out);
  cb_tree_free(tree);
  cb_text_free(&text);
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

static cb_status open_surface(const char *word, double scale, bool weld, cb_surface **out) {
  struct stat file;
  const cb_shape_class *shape = shape_of(word, strcspn(word, ":"));
  cb_status status = shape                                            ? make_shape(shape, word, out)
                     : !strpbrk(word, "./") && stat(word, &file) != 0 ? unknown(word)
                                                                      : cb_surface_read(word, weld, out);
  if (!status) cb_surface_scale(*out, scale);
  if (!status) status = cb_surface_check(*out, true);
  if (status != CB_ERROR_DOMAIN) return status;
  char text[1024];
  snprintf(text, sizeof text, "%s", cb_error_text());
  return cb_fail(CB_ERROR_INPUT, "%s: error: %s", word, text);
}

/* --- what follows from it --- */

static cb_status find(facts *f) {
  const int parts = f->surface->parts;
  cb_material *material = calloc((size_t)parts, sizeof *material);
  f->part = calloc((size_t)parts, sizeof *f->part);
  if (!material || !f->part) return free(material), cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", parts);
  for (int p = 0; p < parts; p++) material[p] = (cb_material){f->density, f->surface->open[p] ? f->thickness : 0};
  cb_local *local = NULL;
  cb_status status = cb_mass_of(f->surface, NULL, material, &f->mass);
  free(material);
  if (!status && f->mass.mass > 0) status = cb_mass_principal(&f->mass, f->moment, f->axis);
  if (!status) status = cb_local_create(f->surface, &local);
  if (status) return status;
  cb_local_pose(local, (const double(*)[3])f->surface->x, NULL);
  cb_local_added_mass(local, f->fluid, NULL, f->added, NULL, f->part);
  cb_local_free(local);
  return CB_OK;
}

static bool is_closed(const cb_surface *s) {
  for (int p = 0; p < s->parts; p++)
    if (s->open[p]) return false;
  return true;
}

static double cleaned(double value, double most) { return fabs(value) <= negligible * most ? 0 : cb_shown(value); }

/* Of one side, as the whole's. */
static double area_of(const cb_local_part *part) { return part->open ? part->area / 2 : part->area; }

static double largest(int n, const double *values) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(values[i]));
  return most;
}

/* --- as text --- */

static void print_matrix(const char *title, int n, int m, const double *a) {
  const double most = largest(n * m, a);
  printf("\n%s\n", title);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) printf(" %14.7g", cleaned(a[i * m + j], most));
    printf("\n");
  }
}

static void print_text(const facts *f) {
  const cb_mass *m = &f->mass;
  printf("%s: %d vertices, %d faces, %d part%s\n\n", f->word, f->surface->vertices, f->surface->faces,
         f->surface->parts, f->surface->parts == 1 ? "" : "s");
  printf("%-20s %-7s %14s %14s %14s\n", "part", "", "area", "volume", "delta");
  for (int p = 0; p < f->surface->parts; p++)
    printf("%-20s %-7s %14.7g %14.7g %14.7g\n", f->surface->name[p], f->part[p].open ? "sheet" : "closed",
           area_of(&f->part[p]), f->part[p].volume, f->part[p].delta);
  printf("\nmass %.15g kg, volume %.15g m^3, area %.15g m^2\n", m->mass, m->volume, m->area);
  printf("centre %.15g, %.15g, %.15g m\n", m->centre[0], m->centre[1], m->centre[2]);
  print_matrix("body, about the origin (angular, linear)", 6, 6, &m->inertia[0][0]);
  print_matrix("added mass, about the origin (angular, linear)", 6, 6, &f->added[0][0]);
  print_matrix("principal moments about the centre", 1, 3, f->moment);
  print_matrix("their axes, one a row", 3, 3, &f->axis[0][0]);
}

/* --- as JSON --- */

static void json_numbers(const char *key, int n, int m, const double *a) {
  const double most = largest(n * m, a);
  printf(",\n \"%s\": ", key);
  for (int i = 0; i < n; i++) {
    printf("%s[", i ? ", " : n > 1 ? "[" : "");
    for (int j = 0; j < m; j++) printf("%s%.17g", j ? ", " : "", cleaned(a[i * m + j], most));
    printf("]");
  }
  printf("%s", n > 1 ? "]" : "");
}

static void print_json(const facts *f) {
  printf("{\"surface\": ");
  cb_json_text(stdout, f->word);
  printf(",\n \"vertices\": %d, \"faces\": %d,\n \"density\": %.17g, \"thickness\": %.17g, \"fluid\": %.17g",
         f->surface->vertices, f->surface->faces, f->density, f->thickness, f->fluid);
  printf(",\n \"mass\": %.17g, \"volume\": %.17g, \"area\": %.17g", f->mass.mass, f->mass.volume, f->mass.area);
  json_numbers("centre", 1, 3, f->mass.centre);
  json_numbers("inertia", 6, 6, &f->mass.inertia[0][0]);
  json_numbers("added_mass", 6, 6, &f->added[0][0]);
  json_numbers("moments", 1, 3, f->moment);
  json_numbers("axes", 3, 3, &f->axis[0][0]);
  printf(",\n \"parts\": [");
  for (int p = 0; p < f->surface->parts; p++) {
    const cb_local_part *part = &f->part[p];
    printf("%s{\"name\": ", p ? ", " : "");
    cb_json_text(stdout, f->surface->name[p]);
    printf(", \"open\": %s, \"area\": %.17g, \"volume\": %.17g, \"delta\": %.17g, \"capped\": %s}",
           part->open ? "true" : "false", area_of(part), part->volume, part->delta, part->capped ? "true" : "false");
  }
  printf("]}\n");
}

/* --- the command --- */

/* > 0, or 0 where it is allowed. */
static cb_status number(const char *option, const char *text, bool zero, double *out) {
  size_t at = 0;
  double value;
  if (!text) return CB_OK;
  const cb_status status = cb_expression_constant(text, &at, &value);
  if (status == CB_ERROR_INPUT)
    return cb_fail(CB_ERROR_INPUT, "%s:1:%zu: error: %s", option, at + 1, cb_error_text());
  if (status) return status;
  if (!(zero ? value >= 0 : value > 0))
    return cb_fail(CB_ERROR_INPUT, "%s:1:1: error: expected a number %s 0, found %g", option, zero ? ">=" : ">", value);
  *out = value;
  return CB_OK;
}

static cb_status fluid_of(const char *text, double *out) {
  return cb_medium_named(text ? text : "water", out) ? CB_OK : number("--fluid", text, true, out);
}

static int run(int argc, char **argv) {
  const char *density = NULL, *thickness = NULL, *fluid = NULL, *scaled = NULL;
  double scale = 1;
  bool weld = false, json = false;
  const cb_option options[] = {
      {"--density", NULL, true, cb_take_text, &density}, {"--thickness", NULL, true, cb_take_text, &thickness},
      {"--fluid", NULL, true, cb_take_text, &fluid},     {"--scale", NULL, true, cb_take_text, &scaled},
      {"--weld", NULL, false, cb_take_flag, &weld},      {"--json", NULL, false, cb_take_flag, &json},
      {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_inertia, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1) return cb_usage(&cb_command_inertia);
  facts f = {.word = argv[0], .density = 1000};
  cb_status status = number("--density", density, true, &f.density);
  if (!status) status = number("--thickness", thickness, true, &f.thickness);
  if (!status) status = fluid_of(fluid, &f.fluid);
  if (!status) status = number("--scale", scaled, false, &scale);
  if (!status) status = open_surface(argv[0], scale, weld, &f.surface);
  if (!status) status = cb_warn_of_seams(f.surface, "--weld", "");
  if (!status) status = find(&f);
  if (!status) {
    (json ? print_json : print_text)(&f);
    if (f.thickness > 0 && is_closed(f.surface))
      fprintf(stderr, "curvebody: warning: the body is closed: --thickness is of open parts\n");
    cb_warn_of_parts(f.surface, f.part, "");
    status = cb_warn_of_cuts(f.surface, "");
  }
  free(f.part);
  cb_surface_free(f.surface);
  return status ? cb_report(status) : CB_EXIT_DONE;
}

const cb_command cb_command_inertia = {
    "inertia", "MESH [--density RHO] [--thickness T] [--scale S] [--weld] [--fluid water|air|none|RHO] [--json]",
    "Prints mass, centre, inertia and added mass of a body. MESH is an OBJ, PLY, "
    "STL or OFF file, or SHAPE:KEY=VALUE,... "
    "as `curvebody list shapes` has them; RHO in kg/m^3 (default 1000, in water), T "
    "in m is the thickness of open parts, S > 0 the metres a unit of MESH; --weld "
    "joins its vertices at one place, as those of STL always are.",
    run};
