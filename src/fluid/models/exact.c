/* The exact added mass of bodies, solids and sheets: Kirchhoff's tensor of the potential flow about them
 * (potential/kirchhoff.h), of a perfect fluid that fills space, or the side of a plane that the body is on. It has no
 * forces but what that plane has on bodies that move (potential/placed.h). With an `error`, K of a rigid body, or
 * of a pose, is found on finer and finer faces until its estimate meets it.
 */
#include <curvebody/fluid_model.h>

#include "fluid/exact_posed.h"
#include "fluid/exact_refined.h"
#include "fluid/surface_cuts.h"
#include "potential/images.h"
#include "potential/moving.h"
#include "potential/placed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct exact {
  double error, far_error, memory, table;
  int method, wall;
  double wall_x, wall_y, wall_z, wall_height;
} exact;

static const cb_param params[] = {
    {"error", CB_PARAM_REAL, offsetof(exact, error), "nan", "", "[1e-8, 0.5]", NULL,
     "of K, estimated, relative to the greatest K of a translation (of rotations: times the mean square distance of "
     "the faces from their centre): the faces are refined until it is met, those of poses as flat ones, and far_error "
     "is 1e-2 of it or less; without: K of the faces as they are"},
    {"far_error", CB_PARAM_REAL, offsetof(exact, far_error), "1e-6", "", "[1e-11, 1e-2]", NULL,
     "of the far field and ten times that of the linear equations, relative to the greatest potential"},
    {"table", CB_PARAM_REAL, offsetof(exact, table), "nan", "", "[0, 0.1]", NULL,
     "error of what is taken from a table along poses that have a period or an end (default: 1e-5, or far_error); 0: "
     "solved at each time, as before a wall"},
    {"method", CB_PARAM_CHOICE, offsetof(exact, method), "best", "", "", "best|dense|iterative|hlu",
     "how the equations are solved: factors of the matrix, an iteration, or one that hierarchical factors "
     "precondition"},
    {"memory", CB_PARAM_REAL, offsetof(exact, memory), "4e9", "", "> 0", NULL, "bytes that may be taken"},
    {"wall", CB_PARAM_CHOICE, offsetof(exact, wall), "none", "", "", "none|rigid|free",
     "a plane that the fluid ends at: rigid (or a free surface at low frequencies), or free, a free surface at rest at "
     "high ones; closed bodies"},
    {"wall_height", CB_PARAM_REAL, offsetof(exact, wall_height), "0", "m", "", NULL,
     "of the plane along its normal, in the world (of a surface by itself: in its axes)"},
    {"wall_x", CB_PARAM_REAL, offsetof(exact, wall_x), "0", "", "", NULL, "normal of the plane, into the fluid: x"},
    {"wall_y", CB_PARAM_REAL, offsetof(exact, wall_y), "0", "", "", NULL, "y of the normal"},
    {"wall_z", CB_PARAM_REAL, offsetof(exact, wall_z), "1", "", "", NULL, "z of the normal"},
    {0},
};

/* Parts with a border are sheets, whose thickness the fluid does not see. */
static bool any_open(const cb_surface *s) {
  for (int p = 0; p < s->parts; p++)
    if (s->open[p]) return true;
  return false;
}

static cb_kirchhoff_options options_of(const exact *own, const cb_surface *surface) {
  return (cb_kirchhoff_options){
      .method = (cb_potential_method)own->method,
      .far_error = own->far_error,
      .sheets = any_open(surface),
      .curvature = surface->curvature,
      .wall = {(cb_mirror_kind)own->wall, {own->wall_x, own->wall_y, own->wall_z}, own->wall_height},
      .memory = own->memory < 1e18 ? (size_t)own->memory : (size_t)1e18};
}

/* What is known of a body. */
typedef struct known {
  cb_moving *moving;
  cb_placed *placed;     /* before a wall, in its place */
  cb_exact_posed *posed; /* to an error, in its place */
} known;

static cb_status create_moving(const cb_surface *surface, const cb_kirchhoff_options *options, cb_moving **out) {
  return cb_moving_create(surface->vertices, (const double(*)[3])surface->x, surface->faces,
                          (const int(*)[3])surface->face, options, out);
}

/* Where an error is asked for, what is solved is not these faces; before a wall, not before its place is known. */
static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  const exact *own = m->params;
  const cb_kirchhoff_options options = options_of(own, surface);
  (void)mass;
  const bool to_error = !isnan(own->error);
  if (own->wall == CB_MIRROR_NONE &&
      (own->wall_height != 0 || own->wall_x != 0 || own->wall_y != 0 || own->wall_z != 1))
    return cb_fail(CB_ERROR_ARGUMENT,
                   "a place of a wall that is none: expected wall: rigid or wall: free beside wall_x, "
                   "wall_y, wall_z and wall_height");
  if (!to_error && own->table > 0 && own->table < own->far_error)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "a table of error %g from solutions of far_error %g: expected no less than that, or 0", own->table,
                   own->far_error);
  known *k = calloc(1, sizeof *k);
  if (!k) return cb_fail(CB_ERROR_MEMORY, "no memory for the added mass of a body");
  const cb_status status = to_error ? cb_exact_posed_create(m, surface, own->error, &options, &k->posed)
                           : own->wall == CB_MIRROR_NONE ? create_moving(surface, &options, &k->moving)
                                                         : CB_OK;
  if (status)
    free(k);
  else
    *body = k;
  return cb_surface_explain(surface, status);
}

static void release(const cb_fluid_model *m, void *body) {
  known *k = body;
  (void)m;
  cb_moving_free(k->moving);
  cb_placed_free(k->placed);
  cb_exact_posed_free(k->posed);
  free(k);
}

/* A body that is as it was given may be a shape, whose finer faces are on its true surface. */
static cb_status to_error(const cb_fluid_model *m, const known *k, const cb_surface *surface, const double (*x)[3],
                          const double (*v)[3], cb_added_mass *out) {
  const exact *own = m->params;
  const cb_kirchhoff_options options = options_of(own, surface);
  if (v || memcmp(x, surface->x, (size_t)surface->vertices * sizeof *x) != 0)
    return cb_exact_posed_added_mass(k->posed, x, v, out);
  return cb_exact_refined(m, surface, own->error, &options, NULL, out);
}

static void tell(const cb_surface *surface, const cb_kirchhoff_mass *mass, const cb_kirchhoff_report *report,
                 cb_added_mass *out) {
  memcpy(out->K, mass->K, sizeof out->K);
  memcpy(out->mu0, mass->mu0, sizeof out->mu0);
  out->kinetic = mass->kinetic;
  out->faces = surface->faces;
  out->asymmetry = report->asymmetry;
  out->thickness = report->thickness;
  out->iterations = report->iterations;
  out->method = cb_potential_method_name(report->method);
}

static cb_status added_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3],
                            const double (*v)[3], cb_added_mass *out) {
  const exact *own = m->params;
  const known *k = body;
  const cb_kirchhoff_options options = options_of(own, surface);
  cb_kirchhoff_mass mass;
  cb_moving *before = NULL;
  if (!isnan(own->error)) return cb_surface_explain(surface, to_error(m, k, surface, x, v, out));
  cb_status status = k->moving ? CB_OK : create_moving(surface, &options, &before);
  cb_moving *const moving = before ? before : k->moving;
  if (!status) status = cb_moving_added_mass(moving, x, v, &mass);
  if (!status) {
    const cb_kirchhoff_report report = cb_moving_report(moving);
    tell(surface, &mass, &report, out);
  }
  cb_moving_free(before);
  return x == (const double(*)[3])surface->x ? cb_surface_explain(surface, status) : status;
}

static cb_status added_mass_at(const cb_fluid_model *m, void *body, const cb_surface *surface, const double (*x)[3],
                               const double (*v)[3], const cb_pose *g, cb_added_mass *out, double (*slope)[7][7]) {
  const exact *own = m->params;
  known *k = body;
  cb_placed_form form;
  if (!isnan(own->error))
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "the exact added mass to an `error` is that at one place: expected none for a body that moves before "
        "a wall, and a surface of faces as fine as `curvebody inertia` finds them to be needed");
  if (!g) {
    const cb_kirchhoff_options options = options_of(own, surface);
    cb_kirchhoff_report report;
    const cb_status status = k->placed
                                 ? CB_OK
                                 : cb_placed_create(surface->vertices, (const double(*)[3])surface->x, surface->faces,
                                                    (const int(*)[3])surface->face, &options, &k->placed);
    if (!status) {
      const cb_kirchhoff_mass *far = cb_placed_far(k->placed, &report);
      tell(surface, far, &report, out);
      out->iterations = 0;
      out->method = cb_potential_method_name(CB_POTENTIAL_DENSE); /* what moves is found so */
    }
    return status;
  }
  const cb_status status = cb_placed_at(k->placed, x, v, g, &form);
  if (status) return status;
  for (int i = 0; i < 6; i++) {
    memcpy(out->K[i], form.G[i], sizeof out->K[i]);
    out->mu0[i] = form.G[i][6];
  }
  out->kinetic = form.G[6][6] / 2;
  memcpy(slope, form.slope, sizeof form.slope);
  return CB_OK;
}

static cb_status form(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3], int n,
                      const double (*v)[3], double *G) {
  (void)surface;
  if (!isnan(((const exact *)m->params)->error))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the exact added mass to an `error` is for bodies that are rigid or have poses: expected none for "
                   "one that swims by its shape, and faces as fine as `curvebody inertia` finds them to be needed");
  if (n == 0) return CB_OK;
  return cb_moving_form(((const known *)body)->moving, x, n, v, G);
}

static bool placed(const cb_fluid_model *m, double up[3], double *height) {
  const exact *own = m->params;
  cb_mirror wall = {(cb_mirror_kind)own->wall, {own->wall_x, own->wall_y, own->wall_z}, own->wall_height};
  const bool is = wall.kind != CB_MIRROR_NONE;
  const bool good = is && !cb_mirror_check(&wall);
  for (int i = 0; i < 3; i++) up[i] = good ? wall.normal[i] : 0;
  *height = wall.height;
  return is;
}

static double table(const cb_fluid_model *m) {
  const exact *own = m->params;
  return isnan(own->table) ? fmax(1e-5, own->far_error) : own->table;
}

const cb_fluid_model_class cb_fluid_model_exact = {
    .name = "exact",
    .title = "potential flow",
    .doc = "exact added mass of solids and sheets in a perfect fluid, from the flow about them; no forces but a wall's",
    .params = params,
    .params_size = sizeof(exact),
    .prepare = prepare,
    .release = release,
    .added_mass = added_mass,
    .form = form,
    .table = table,
    .placed = placed,
    .added_mass_at = added_mass_at,
};
