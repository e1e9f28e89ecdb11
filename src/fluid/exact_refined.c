/* See fluid/exact_refined.h. */
#include "fluid/exact_refined.h"

#include "fluid/surface.h"
#include "potential/refine.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  COARSER = 2,    /* levels below a shape's own */
  FINER = 2,      /* levels above the first, where that is too coarse for the body to be solved on */
  TOLD = 50000000 /* bytes from which on it takes a time to wait for */
};

typedef struct refined {
  const cb_fluid_model *model;
  const cb_surface *surface;
  cb_surface *level;  /* the last one */
  int coarser, taken; /* the first level's; how many were */
  cb_exact_levels *levels;
  cb_exact_asked asked;
  char *unmet; /* NULL: a failure */
} refined;

static cb_status mesh(void *context, int level, int *vertices, const double (**x)[3], int *faces,
                      const int (**face)[3]) {
  refined *r = context;
  cb_surface_free(r->level);
  r->level = NULL;
  r->taken++;
  const cb_status status = cb_surface_at_level(r->surface, level - r->coarser, &r->level);
  if (status) return status;
  if (r->asked.most && r->level->faces > r->asked.most && r->taken > 1)
    return cb_fail(CB_ERROR_ARGUMENT, "%d faces are more than the %d that are solved often", r->level->faces,
                   r->asked.most);
  *vertices = r->level->vertices, *faces = r->level->faces;
  *x = (const double(*)[3])r->level->x, *face = (const int(*)[3])r->level->face;
  return CB_OK;
}

static void say(void *context, int level, int faces, size_t bytes, double seconds) {
  const refined *r = context;
  char line[128];
  (void)level;
  if (!r->model->say || bytes < TOLD) return;
  const int length = snprintf(line, sizeof line, "%d faces take %.2g MB", faces, 1e-6 * (double)bytes);
  if (seconds >= 1) snprintf(line + length, sizeof line - (size_t)length, " and about %.2g s", seconds);
  r->model->say(r->model->context, line);
}

/* K about an origin at the distance d is K about the centre and d^2 times the mass: in doubles no better than that. */
static cb_status check_origin(const cb_surface *s, double error) {
  double centre[3] = {0}, square = 0, from = 0;
  for (int v = 0; v < s->vertices; v++)
    for (int c = 0; c < 3; c++) centre[c] += s->x[v][c] / s->vertices;
  for (int c = 0; c < 3; c++) from += centre[c] * centre[c];
  for (int v = 0; v < s->vertices; v++)
    for (int c = 0; c < 3; c++) square += pow(s->x[v][c] - centre[c], 2) / s->vertices;
  if (10 * DBL_EPSILON * from <= error * square) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "the body is %.2g of its radii from the origin, about which its added mass has a round-off of %.1g of "
                 "that about its centre, and %g is asked for: expected a body nearer to its origin",
                 sqrt(from / square), DBL_EPSILON * from / square, error);
}

/* With the text of the first level, where none is solved on. */
static cb_status refine(refined *r, double error, const cb_kirchhoff_options *options, cb_potential_estimate *e,
                        cb_kirchhoff_report *report, int *faces) {
  const int first = r->coarser;
  char why[512] = "";
  for (int finer = 0;; finer++) {
    r->coarser = first - finer, r->taken = 0;
    const cb_potential_body body = {.context = r,
                                    .mesh = mesh,
                                    .say = say,
                                    .least = r->coarser < 0 ? 1 : r->coarser + 1,
                                    .level = r->levels->level,
                                    .levels = &r->levels->n,
                                    .fair = r->asked.must ? 0 : CB_EXACT_FAIR,
                                    .faces = r->asked.faces,
                                    .why = r->unmet};
    const cb_status status = cb_kirchhoff_refined(&body, error, options, e, report, faces);
    if (!status || status == CB_ERROR_MEMORY || r->taken > 1) return status;
    if (status != CB_ERROR_STEP || finer == FINER) return finer ? cb_fail(CB_ERROR_STEP, "%s", why) : status;
    if (!finer) snprintf(why, sizeof why, "%s", cb_error_text());
  }
}

cb_status cb_exact_refined(const cb_fluid_model *m, const cb_surface *surface, cb_exact_asked asked,
                           const cb_kirchhoff_options *options, cb_exact_levels *levels, cb_added_mass *out) {
  cb_exact_levels own = {0};
  char unmet[CB_POTENTIAL_WHY];
  cb_status status = check_origin(surface, asked.error);
  if (status) return status;
  const int coarser = cb_surface_coarser(surface);
  refined r = {.model = m,
               .surface = surface,
               .coarser = coarser < COARSER ? coarser : COARSER,
               .levels = levels ? levels : &own,
               .asked = asked,
               .unmet = asked.must ? NULL : unmet};
  cb_potential_estimate e;
  cb_kirchhoff_report report;
  status = refine(&r, asked.error, options, &e, &report, &out->faces);
  cb_surface_free(r.level);
  if (status) return status;
  r.levels->first = -r.coarser;
  memcpy(out->K, e.mass.K, sizeof out->K);
  out->error = e.error;
  out->tolerance = asked.error;
  out->asymmetry = report.asymmetry;
  out->thickness = report.thickness;
  out->iterations = report.iterations;
  out->method = cb_potential_method_name(report.method);
  return CB_OK;
}

double cb_exact_keep_one(cb_exact_asked asked, const cb_added_mass *told, int least, cb_exact_levels *levels) {
  int at = 0;
  double error = INFINITY;
  for (int l = 0; l < levels->n; l++) {
    if (levels->first + l < least && l + 1 < levels->n) continue;
    at = l;
    error = cb_potential_departure(levels->level + l, told->K) + told->error;
    const bool large = 4. * levels->level[l].faces > (asked.most ? asked.faces : asked.faces / 2);
    if (error <= asked.error || (error <= CB_EXACT_FAIR && large)) break;
  }
  levels->level[0] = levels->level[at];
  levels->first += at;
  levels->n = 1;
  return error;
}
