/* Prints the results of `curvebody inertia`, as text and as JSON. */
#include "cli/inertia.h"

#include "cli/cli.h"

#include <math.h>
#include <stdio.h>

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

/* --- as text --- */

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

/* --- as JSON --- */

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

void cli_inertia_print(const cli_inertia *f, bool json) { (json ? print_json : print_text)(f); }
