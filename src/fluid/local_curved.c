/* The local model's added mass of closed parts in a space of curvature K (equations: fluid/local.h), with geodesic
 * lengths l of edges, areas A by the angle excess and bending angles cos alpha = nu.nu' + K nu_w nu_w':
 *
 *   I_f = sum over parts rho delta int m m^T dA,  delta = sum A/sum alpha l
 *   ball of radius a: delta = tan_K(a)/2; no part gets more than a ball of its area, S/2 (1 - K S^2)^(-1/2), A = 4 pi S^2
 * Exact for balls in H^3 and E^3; in S^3 it is the flow with a sink at the antipode, too large by 4 % of a ball of radius
 * .5/sqrt(K), by 42 % at 1. Derived here.
 */
#include "fluid/curved_moments.h"
#include "fluid/local.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct face {
  double y[3][4], plane[4], norm;
} face;

static cb_status lay(const cb_surface *s, const double (*y)[4], face *out) {
  for (int i = 0; i < s->faces; i++) {
    for (int k = 0; k < 3; k++) memcpy(out[i].y[k], y[s->face[i][k]], sizeof out[i].y[k]);
    const face *f = out + i;
    out[i].norm = cb_curved_plane(s->curvature, f->y[0], f->y[1], f->y[2], out[i].plane);
    if (!(out[i].norm > 0))
      return cb_fail(CB_ERROR_DOMAIN, "face %d has no area in the space of curvature %g", i + 1, s->curvature);
  }
  return CB_OK;
}

/* alpha l, positive where the body is convex. */
static double turning(const cb_surface *s, const double (*y)[4], const face *faces, const cb_surface_edge *e) {
  const double K = s->curvature, *n = faces[e->face[0]].plane, *m = faces[e->face[1]].plane;
  const double cosine = cb_dot3(n, m) + K * n[3] * m[3], angle = acos(fmin(1, fmax(-1, cosine)));
  double apart = 0; /* of the other face's corner from this plane */
  for (int k = 0; k < 3; k++) {
    const double *c = y[s->face[e->face[1]][k]], off = cb_dot3(n, c) + n[3] * c[3];
    if (fabs(off) > fabs(apart)) apart = off;
  }
  return (apart > 0 ? -angle : angle) * cb_curved_distance(K, y[e->a], y[e->b]);
}

static void add_faces(const cb_surface *s, const face *faces, int p, double delta, double mass[6][6]) {
  for (int f = 0; f < s->faces; f++) {
    if (s->part[f] != p) continue;
    for (int k = 0; k < CB_CURVED_POINTS; k++) {
      double q[4], m[6];
      const double c = cb_curved_node(s->curvature, (const double(*)[4])faces[f].y, k, q),
                   weight = delta * cb_curved_rule[k][3] * faces[f].norm / (2 * c * sqrt(c));
      cb_curved_flux(s->curvature, faces[f].plane, q, m);
      for (int i = 0; i < 36; i++) mass[i / 6][i % 6] += weight * m[i / 6] * m[i % 6];
    }
  }
}

static void find_delta(double K, cb_local_part *part) {
  const double square = part->area / (4 * M_PI), most = K * square < 1 ? sqrt(square / (1 - K * square)) / 2 : INFINITY;
  part->delta = part->delta_uncapped = part->area / part->turning;
  part->capped = !(part->delta >= 0 && isfinite(part->delta) && part->delta <= most * (1 + 1e-12));
  if (part->capped) part->delta = isfinite(most) ? most : 1 / sqrt(K);
}

static cb_status sum_up(const cb_surface *s, const double (*y)[4], face *faces, const cb_surface_edge *edge, int edges,
                        double mass[6][6], cb_local_part *part) {
  const cb_status status = lay(s, y, faces);
  if (status) return status;
  for (int p = 0; p < s->parts; p++) {
    cb_curved_moments solid, skin;
    part[p] = (cb_local_part){.area = 0};
    cb_curved_of_part(s, y, p, &solid, &skin, &part[p].area);
    part[p].volume = cb_curved_content(s->curvature, &solid);
  }
  for (int e = 0; e < edges; e++) part[s->part[edge[e].face[0]]].turning += turning(s, y, faces, edge + e);
  for (int p = 0; p < s->parts; p++) {
    find_delta(s->curvature, part + p);
    add_faces(s, faces, p, part[p].delta, mass);
  }
  return CB_OK;
}

cb_status cb_local_curved_added_mass(const cb_surface *s, const double (*x)[3], double mass[6][6],
                                     cb_local_part *part) {
  for (int p = 0; p < s->parts; p++)
    if (s->open[p])
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "part `%s` is a sheet, of which the local model in a curved space knows "
                     "nothing: expected closed parts",
                     s->name[p]);
  cb_surface_edge *edge;
  int edges;
  cb_status status = cb_surface_edges(s, &edge, &edges);
  if (status) return status;
  double(*y)[4] = malloc((size_t)s->vertices * sizeof *y);
  face *faces = malloc((size_t)s->faces * sizeof *faces);
  memset(mass, 0, 36 * sizeof(double));
  if (!y || !faces) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d faces", s->faces);
  for (int v = 0; v < s->vertices && !status; v++) cb_curved_point(s->curvature, x[v], y[v]);
  if (!status) status = sum_up(s, (const double(*)[4])y, faces, edge, edges, mass, part);
  free(edge), free(faces), free(y);
  return status;
}
