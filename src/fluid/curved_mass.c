/* Mass properties of surfaces in a curved space (fluid/curved_moments.h). */
#include "fluid/curved_moments.h"
#include "fluid/mass_private.h"

#include "numerics/curved.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Corners of face f, carried by the transvection that takes `from` to the base point. */
static void corners(const cb_surface *s, const double (*y)[4], int f, const double from[4], double out[3][4]) {
  for (int k = 0; k < 3; k++) cb_curved_towards(s->curvature, from, y[s->face[f][k]], out[k]);
}

static double cones(const cb_surface *s, const double (*y)[4], int p, const double apex[4], cb_curved_moments *m) {
  *m = (cb_curved_moments){.first = {0}};
  for (int f = 0; f < s->faces; f++) {
    double at[3][4];
    if (s->part[f] != p) continue;
    corners(s, y, f, apex, at);
    cb_curved_add_cone(s->curvature, (const double(*)[4])at, m);
  }
  return cb_curved_content(s->curvature, m);
}

/* The mean of the corners, or the base point where that is nowhere; transvections do not reach the base point's
 * opposite. */
void cb_curved_apex(const cb_surface *s, const double (*y)[4], int p, double apex[4]) {
  double sum[4] = {0};
  long n = 0;
  for (int f = 0; f < s->faces; f++)
    for (int k = 0; k < 3 && s->part[f] == p; k++, n++)
      for (int i = 0; i < 4; i++) sum[i] += y[s->face[f][k]][i];
  const double square = cb_curved_form(s->curvature, sum, sum), root = sqrt(fmax(square, 0));
  const double base[4] = {0, 0, 0, 1};
  const bool good = square > 0.04 * (double)n * (double)n && sum[3] > -0.9 * root;
  for (int i = 0; i < 4; i++) apex[i] = good ? sum[i] / root : base[i];
}

void cb_curved_of_part(const cb_surface *s, const double (*y)[4], int p, cb_curved_moments *solid,
                       cb_curved_moments *skin, double *area) {
  double apex[4];
  cb_curved_apex(s, y, p, apex);
  *solid = *skin = (cb_curved_moments){.first = {0}};
  *area = 0;
  for (int f = 0; f < s->faces; f++) {
    double at[3][4];
    if (s->part[f] != p) continue;
    corners(s, y, f, apex, at);
    *area += cb_curved_add_skin(s->curvature, (const double(*)[4])at, 1, skin);
  }
  /* The opposite point of the apex lies inside: what was found is less the complement. */
  if (!s->open[p] && cones(s, y, p, apex, solid) < 0 && s->curvature > 0) cb_curved_add_sphere(s->curvature, solid);
  cb_curved_move(s->curvature, apex, solid);
  cb_curved_move(s->curvature, apex, skin);
}

void cb_curved_mass(double K, const cb_curved_moments *weight, const cb_curved_moments *fluid, double area,
                    cb_mass *out) {
  double p[4];
  *out = (cb_mass){
      .mass = cb_curved_content(K, weight), .volume = cb_curved_content(K, fluid), .area = area, .curvature = K};
  if (out->mass != 0) {
    cb_curved_centre(K, weight, p);
    cb_curved_normal(K, p, out->centre);
  }
  if (out->volume != 0) {
    cb_curved_centre(K, fluid, p);
    cb_curved_normal(K, p, out->volume_centre);
  }
  cb_curved_inertia(K, weight, out->inertia);
}

cb_status cb_curved_mass_of(const cb_surface *s, const double (*x)[3], const cb_material *material, cb_mass *out) {
  cb_curved_moments weight = {.first = {0}}, fluid = weight;
  double area = 0;
  double(*y)[4] = malloc((size_t)s->vertices * sizeof *y);
  if (!y) return cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", s->vertices);
  for (int v = 0; v < s->vertices; v++) cb_curved_point(s->curvature, x[v], y[v]);
  cb_status status = CB_OK;
  for (int p = 0; p < s->parts && !status; p++) {
    cb_curved_moments solid, skin;
    double own;
    const bool closed = !s->open[p];
    if ((status = cb_material_check(s, p, material + p, closed))) break;
    cb_curved_of_part(s, (const double(*)[4])y, p, &solid, &skin, &own);
    area += own;
    if (closed) cb_curved_add(&fluid, 1, &solid);
    if (material[p].thickness > 0)
      cb_curved_add(&weight, material[p].density * material[p].thickness, &skin);
    else if (closed)
      cb_curved_add(&weight, material[p].density, &solid);
  }
  free(y);
  if (!status) cb_curved_mass(s->curvature, &weight, &fluid, area, out);
  return status;
}
