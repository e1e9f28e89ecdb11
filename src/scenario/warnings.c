/* Warnings about the bodies of scenarios (scenario/warnings.h). */
#include "scenario/warnings.h"
#include "bundle/bundle_private.h"

#include "fluid/surface_mesh.h"
#include "scenario/bundle_scenario.h"
#include "scenario/fluid.h"
#include "numerics/numerics_curved.h"
#include "run/run_shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cb_status cb_warn_of_cuts(const cb_surface *surface, const char *body) {
  cb_surface_cut *cut;
  int n;
  cb_status status = cb_surface_cuts(surface, &cut, &n);
  if (status) return status;
  for (int i = 0; i < n; i++) {
    char text[CB_SURFACE_CUT_TEXT];
    cb_surface_cut_text(surface, &cut[i], text);
    cb_warn("%s%s", body, text);
  }
  free(cut);
  return CB_OK;
}

void cb_warn_of_parts(const cb_surface *surface, const cb_local_part *part, const char *body) {
  for (int p = 0; p < surface->parts; p++)
    if (cb_local_doubt(&part[p])) cb_warn("%spart `%s`: %s", body, surface->name[p], cb_local_doubt(&part[p]));
}

void cb_warn_of_error(const cb_added_mass *a, const char *body) {
  if (!(a->tolerance > 0) || a->error <= a->tolerance) return;
  cb_warn(
      "%sthe added mass has an estimated error of %.2g with %d faces, but %g is expected: use finer faces, or more "
      "`memory` for the refinement",
      body, a->error, a->faces, a->tolerance);
  if (a->thickness > 0 && a->thickness < 0.5)
    cb_warn(
        "%sthe mean thickness of the body is only %.2g of the width of its faces, which causes this error: use finer "
        "faces",
        body, a->thickness);
}

/* Warns of the effect of the sink that the local model has at the antipode (fluid/local_sums.c), for a ball of this
 * area. */
static void warn_of_sphere(double K, double area, const char *use, const char *body) {
  const double square = K * area / (4 * M_PI), S = sqrt(fmin(square, 1)), C = sqrt(1 - S * S),
               N = M_PI - asin(S) + S * C, more = S * S * S / (N * C);
  if (K > 0 && more > 0.01)
    cb_warn(
        "%son a sphere the local model has a sink at the antipode: the added mass of a ball with the area of this body "
        "is too large by %.2g of its value; try `%s`",
        body, more, use);
}

void cb_warn_of_curvature(const cb_surface *surface, double area, bool local, const char *use, const char *body) {
  const double K = surface->curvature, maximum = 0.3;
  double longest = 0;
  if (local) warn_of_sphere(K, area, use, body);
  for (int f = 0; f < surface->faces && K != 0; f++)
    for (int k = 0; k < 3; k++) {
      double a[4], b[4];
      cb_curved_point(K, surface->x[surface->face[f][k]], a);
      cb_curved_point(K, surface->x[surface->face[f][(k + 1) % 3]], b);
      longest = fmax(longest, sqrt(fabs(K)) * cb_curved_distance(K, a, b));
    }
  if (longest > maximum)
    cb_warn(
        "%sthe longest edge is %.2g radii of curvature, and the error of mass and added mass is its square: expected "
        "finer faces, with edges of at most %g",
        body, longest, maximum);
}

cb_status cb_warn_of_seams(const cb_surface *surface, const char *weld, const char *body) {
  cb_surface_seam seam = {.vertices = 0};
  char text[CB_SURFACE_BORDER_TEXT];
  const cb_status status = cb_surface_seams(surface, &seam);
  if (seam.vertices) {
    cb_surface_seam_text(&seam, weld, text);
    cb_warn("%s%s", body, text);
  }
  return status;
}

void cb_note_closed(const cb_surface *surface, const char *body) {
  char text[200];
  if (cb_surface_mended_text(surface, text, sizeof text)) cb_note("%s%s", body, text);
}

void cb_note_large(const cb_surface *surface, const cb_mass *mass, const char *scale, const char *body) {
  const double maximum = 1e6, water = 1000, weight = fmax(mass->mass, water * fabs(mass->volume));
  double size = 0;
  if (!(weight > maximum) || !cb_surface_is_unscaled(surface)) return;
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int v = 0; v < surface->vertices; v++) {
      low = fmin(low, surface->x[v][k]);
      high = fmax(high, surface->x[v][k]);
    }
    size = fmax(size, high - low);
  }
  cb_note("%sit is %.3g m long and %s %.3g t: a file in millimetres needs `%s`", body, size,
          mass->mass >= weight ? "weighs" : "displaces water with a mass of", weight / 1000, scale);
}

/* Warns of an open part without a thickness, which has no volume although it may be meant as a solid. lacks: what the
 * part lacks, in the words of the message. solid: the warning applies only to a part of a file that is not flat. */
static cb_status warn_of_open_part(const cb_surface *s, int p, const char *lacks, bool solid, const char *name) {
  const bool shape = cb_surface_is_shape(s), buoyant = strstr(lacks, "buoyancy");
  char border[CB_SURFACE_BORDER_TEXT];
  cb_surface_border found;
  cb_status status = cb_surface_border_of(s, p, &found);
  if (!status) status = cb_surface_border_text(s, p, NULL, border);
  if (status || (solid && (shape || !found.bulges))) return status;
  cb_warn("%spart `%s` is open, so it %s: expected %s`thickness`%s; %s", name, s->name[p], lacks,
          shape     ? ""
          : buoyant ? "`close: true`, "
                    : "`close: true` or ",
          buoyant ? " or `buoyancy: false`" : "", border);
  return CB_OK;
}

static cb_status warn_of_open(const cb_immersed *body, const char *name) {
  const cb_surface *s = cb_immersed_surface(body);
  cb_status status = CB_OK;
  for (int p = 0; p < s->parts && !status; p++) {
    bool solid;
    const char *lacks = cb_immersed_lacks(body, p, &solid);
    if (lacks) status = warn_of_open_part(s, p, lacks, solid, name);
  }
  return status;
}

/* Warns of poses that jump. Poses that cannot be evaluated make the run fail. */
static cb_status warn_of_jump(const cb_immersed *body, const cb_run *run, const char *name) {
  const cb_poses *poses = cb_immersed_poses(body);
  const double start = cb_run_time(run), end = cb_run_end(run);
  cb_poses_jump jump = {.vertex = -1};
  if (!poses) return CB_OK;
  const cb_status status = cb_poses_find_jump(poses, start, end, (int64_t)((end - start) / cb_run_step(run)), &jump);
  if (jump.vertex < 0) return status < 0 ? status : CB_OK;
  char when[64];
  snprintf(when, sizeof when, "from pose %d to pose %d", jump.from + 1, jump.to + 1);
  if (jump.from < 0) snprintf(when, sizeof when, "at t = %.6g", jump.time);
  cb_warn("%svertex %d jumps by %.3g m %s: expected poses that are continuous in time", name, jump.vertex + 1,
          jump.distance, when);
  return CB_OK;
}

/* Warns of parts that deform although geoms or boxes of a fluid model, which are rigid, move with them. */
static cb_status warn_of_misfit(const cb_immersed *body, const cb_run *run, const char *name) {
  const double maximum = 1e-3;
  cb_status status = CB_OK;
  for (int i = 0; i < cb_immersed_followed_parts(body) && !status; i++) {
    cb_immersed_misfit found;
    char place[512] = "";
    status = cb_immersed_find_misfit(body, i, cb_run_time(run), cb_run_end(run), &found);
    if (status || !(found.residual > maximum)) continue;
    if (found.named && found.named->line > 0)
      snprintf(place, sizeof place, "%s:%d:%d: ", found.named->file, found.named->line, found.named->column);
    cb_warn(
        "%s%spart `%s` deforms: at t = %.3g the root mean square distance of its vertices from the best rigid motion "
        "is %.2g of its radius of gyration, but the geoms and boxes that move with it are rigid",
        place, name, found.part, found.time, found.residual);
  }
  return status;
}

static cb_status measure(const cb_surface *s, double *volume, double *area) {
  cb_mass mass;
  cb_material *none = calloc((size_t)s->parts, sizeof *none);
  if (!none) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", s->parts);
  const cb_status status = cb_mass_of(s, NULL, none, &mass);
  free(none);
  if (!status) {
    *volume = mass.volume;
    *area = mass.area;
  }
  return status;
}

/* Warns of a shape with too few faces: its mass and buoyancy are computed on its own faces, but its added mass on finer
 * faces. */
static cb_status warn_of_coarse_shape(const cb_surface *coarse, int faces, const char *body) {
  const double maximum = 0.03;
  double volume[2] = {0}, area[2] = {0};
  cb_surface *fine = NULL;
  cb_status status = coarse->curvature == 0 ? cb_surface_with_faces(coarse, faces, &fine) : CB_OK;
  if (status || !fine) return status;
  status = measure(coarse, &volume[0], &area[0]);
  if (!status) status = measure(fine, &volume[1], &area[1]);
  cb_surface_free(fine);
  const bool solid = !status && volume[1] > 0;
  const double off = status ? 0 : solid ? 1 - volume[0] / volume[1] : 1 - area[0] / area[1];
  if (fabs(off) > maximum)
    cb_warn(
        "%sits %d faces have %.2g %% less %s than the %d faces on which its added mass was computed. Mass and buoyancy "
        "follow from the smaller number of faces: expected a larger `resolution`",
        body, coarse->faces, 100 * off, solid ? "volume" : "area", faces);
  return status;
}

static cb_status warn_of_body(const cb_immersed *body, double t, const char *name) {
  const cb_surface *surface = cb_immersed_surface(body);
  cb_note_closed(surface, name);
  cb_status status = warn_of_open(body, name);
  if (status || !cb_immersed_is_shaped(body)) return status;
  cb_local_part *part = calloc((size_t)surface->parts, sizeof *part);
  cb_mass mass;
  if (!part) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", surface->parts);
  status = cb_warn_of_cuts(surface, name);
  if (!status) status = cb_warn_of_seams(surface, "weld", name);
  if (!status) status = cb_immersed_mass(body, t, &mass, part);
  if (!status) cb_note_large(surface, &mass, "scale: 1e-3", name);
  cb_added_mass reported;
  const bool solved = cb_immersed_solved(body, &reported);
  if (!status && solved) {
    cb_warn_of_error(&reported, name);
    status = warn_of_coarse_shape(surface, reported.faces, name);
  }
  if (!status && !solved) cb_warn_of_parts(surface, part, name);
  if (!status) cb_warn_of_curvature(surface, mass.area, cb_immersed_is_local(body), "added_mass: exact", name);
  free(part);
  return status;
}

/* --- warnings of a bundle --- */

/* Computes the local model of added mass of each part at rest. */
static cb_status local_parts(const cb_surface *surface, cb_local_part *part) {
  const double(*x)[3] = (const double(*)[3])surface->x;
  double K[6][6];
  cb_local *local;
  if (surface->curvature != 0) return cb_local_curved_added_mass(surface, x, K, part);
  const cb_status status = cb_local_create(surface, &local);
  if (status) return status;
  cb_local_pose(local, x, NULL);
  cb_local_added_mass(local, 1, NULL, K, NULL, part);
  cb_local_free(local);
  return CB_OK;
}

static cb_status warn_of_fluid(const cb_bundle_scenario *m, const cb_mass *mass, const char *name) {
  static const char *const lacks = "has the added mass of a sheet, with fluid on both sides";
  const cb_surface *surface = m->body->surface;
  const bool local = !m->body->added_mass || m->body->added_mass->class_->added_mass == cb_fluid_local_added_mass;
  cb_status status = CB_OK;
  for (int p = 0; p < surface->parts && !status; p++)
    if (surface->open[p] && !(m->material[p].thickness > 0)) status = warn_of_open_part(surface, p, lacks, true, name);
  cb_local_part *part = !status && local ? calloc((size_t)surface->parts, sizeof *part) : NULL;
  if (!status && local && !part) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", surface->parts);
  if (part) status = local_parts(surface, part);
  if (part && !status) cb_warn_of_parts(surface, part, name);
  if (!status) cb_warn_of_curvature(surface, mass->area, local, "added_mass: exact", name);
  free(part);
  return status;
}

cb_status cb_scenario_warn_of_bundle(cb_scenario *scenario) {
  static const char *const name = "bundle immersed: ";
  const cb_bundle_scenario *m = cb_bundle_scenario_of(scenario);
  cb_mass mass;
  if (m && m->flow_node && cb_bundle_flow_strains(&m->flow))
    cb_warn(
        "`flow` strains the fluid: length, cost and power are those of the same motion of the shape in a fluid at "
        "rest");
  if (!m || !m->body) return CB_OK;
  cb_note_closed(m->body->surface, "bundle: ");
  if (!m->material) return CB_OK;
  cb_status status = cb_warn_of_cuts(m->body->surface, name);
  if (!status) status = cb_warn_of_seams(m->body->surface, "weld", name);
  if (!status) status = cb_mass_of(m->body->surface, NULL, m->material, &mass);
  if (!status) cb_note_large(m->body->surface, &mass, "scale: 1e-3", name);
  return !status && m->fluid > 0 ? warn_of_fluid(m, &mass, name) : status;
}

cb_status cb_scenario_warn_of_bodies(cb_scenario *scenario) {
  const int n = cb_scenario_bodies(scenario);
  const cb_immersed *before = NULL;
  const double start = cb_run_time(cb_scenario_run(scenario));
  cb_status status = CB_OK;
  for (int i = 0; i < n && !status; i++) {
    const cb_immersed *body = cb_scenario_body(scenario, i);
    char text[128];
    snprintf(text, sizeof text, "body `%.100s`: ", cb_scenario_body_name(scenario, i));
    if (body != before) status = warn_of_body(body, start, text);
    if (body != before && !status) status = warn_of_jump(body, cb_scenario_run(scenario), text);
    if (body != before && !status) status = warn_of_misfit(body, cb_scenario_run(scenario), text);
    before = body;
  }
  if (!status) cb_run_warn_of_start(cb_scenario_run(scenario));
  return status;
}

/* The run that receives the warnings, and the first failure to add one. */
typedef struct listing {
  cb_run *run;
  cb_status status;
} listing;

static void list_warning(void *context, const char *text) {
  listing *to = context;
  const cb_status status = cb_run_warn(to->run, NAN, strdup(text));
  if (status) to->status = status;
}

cb_status cb_scenario_warn(cb_scenario *scenario) {
  listing to = {.run = cb_scenario_run(scenario)};
  const cb_warning_taker before =
      cb_warnings_to((cb_warning_taker){.take = NULL}); /* notes still go to the previous taker */
  cb_warnings_to((cb_warning_taker){list_warning, &to, before.note, before.note_context});
  cb_scenario_warn_again(scenario);
  const cb_configuration *class = cb_scenario_configuration(scenario);
  const cb_status status = class->warn ? class->warn(scenario) : CB_OK;
  cb_warnings_to(before);
  return status ? status : to.status;
}
