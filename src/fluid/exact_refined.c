/* See fluid/exact_refined.h. */
#include "fluid/exact_refined.h"

#include "fluid/surface.h"
#include "potential/refine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  COARSER = 2,    /* levels below a shape's own */
  TOLD = 50000000 /* bytes from which on it takes a time to wait for */
};

typedef struct refined {
  const cb_fluid_model *model;
  const cb_surface *surface;
  cb_surface *level; /* the last one */
  int coarser;
} refined;

static cb_status mesh(void *context, int level, int *vertices, const double (**x)[3], int *faces,
                      const int (**face)[3]) {
  refined *r = context;
  cb_surface_free(r->level);
  r->level = NULL;
  const cb_status status = cb_surface_at_level(r->surface, level - r->coarser, &r->level);
  if (status) return status;
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

cb_status cb_exact_refined(const cb_fluid_model *m, const cb_surface *surface, double error,
                           const cb_kirchhoff_options *options, cb_added_mass *out) {
  const int coarser = cb_surface_coarser(surface);
  refined r = {.model = m, .surface = surface, .coarser = coarser < COARSER ? coarser : COARSER};
  const cb_potential_body body = {.context = &r, .mesh = mesh, .say = say, .least = r.coarser + 1};
  cb_potential_estimate e;
  cb_kirchhoff_report report;
  const cb_status status = cb_kirchhoff_refined(&body, error, options, &e, &report, &out->faces);
  cb_surface_free(r.level);
  if (status) return status;
  memcpy(out->K, e.mass.K, sizeof out->K);
  out->error = e.error;
  out->asymmetry = report.asymmetry;
  out->thickness = report.thickness;
  out->iterations = report.iterations;
  out->method = cb_potential_method_name(report.method);
  return CB_OK;
}
