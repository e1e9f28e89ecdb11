/* The exact added mass of bodies, solids and sheets: Kirchhoff's tensor of the potential flow about them
 * (potential/kirchhoff.h), of a perfect fluid that fills space. It has no forces of its own. With an `error`, that of a
 * rigid body is found on finer and finer faces until its estimate meets it.
 */
#include <curvebody/fluid_model.h>

#include "fluid/exact_refined.h"
#include "potential/moving.h"

#include <math.h>
#include <string.h>

typedef struct exact {
  double error, far_error, memory, table;
  int method, wall;
  double wall_x, wall_y, wall_z, wall_height;
} exact;

static const cb_param params[] = {
    {"error", CB_PARAM_REAL, offsetof(exact, error), "nan", "", "[1e-8, 0.5]", NULL,
     "of K, estimated, relative to the greatest of its kind: the faces of a rigid body are refined until it is met, "
     "and "
     "far_error is 1e-2 of it or less; without: K of the faces as they are"},
    {"far_error", CB_PARAM_REAL, offsetof(exact, far_error), "1e-6", "", "[1e-11, 1e-2]", NULL,
     "of the far field and ten times that of the linear equations, relative to the greatest potential"},
    {"table", CB_PARAM_REAL, offsetof(exact, table), "nan", "", "[0, 0.1]", NULL,
     "error of what is taken from a table along poses that have a period or an end (default: 1e-5, or far_error); 0: "
     "solved at each time"},
    {"method", CB_PARAM_CHOICE, offsetof(exact, method), "best", "", "", "best|dense|iterative|hlu",
     "how the equations are solved: factors of the matrix, an iteration, or one that hierarchical factors "
     "precondition"},
    {"memory", CB_PARAM_REAL, offsetof(exact, memory), "4e9", "", "> 0", NULL, "bytes that may be taken"},
    {"wall", CB_PARAM_CHOICE, offsetof(exact, wall), "none", "", "", "none|rigid|free",
     "a plane beside a body that stays where it is: rigid (or a free surface at low frequencies), or free, a free "
     "surface at rest at high ones"},
    {"wall_height", CB_PARAM_REAL, offsetof(exact, wall_height), "0", "m", "", NULL,
     "of the plane along its normal, in the body's axes"},
    {"wall_x", CB_PARAM_REAL, offsetof(exact, wall_x), "0", "", "", NULL, "its normal, towards the body, in its axes"},
    {"wall_y", CB_PARAM_REAL, offsetof(exact, wall_y), "0", "", "", NULL, "likewise"},
    {"wall_z", CB_PARAM_REAL, offsetof(exact, wall_z), "1", "", "", NULL, "likewise"},
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
      .wall = {(cb_mirror_kind)own->wall, {own->wall_x, own->wall_y, own->wall_z}, own->wall_height},
      .memory = own->memory < 1e18 ? (size_t)own->memory : (size_t)1e18};
}

/* Where an error is asked for, what is solved is not these faces. */
static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  const exact *own = m->params;
  const cb_kirchhoff_options options = options_of(own, surface);
  (void)mass;
  if (!isnan(own->error)) return CB_OK;
  if (own->table > 0 && own->table < own->far_error)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "a table of error %g from solutions of far_error %g: expected no less than that, or 0", own->table,
                   own->far_error);
  return cb_moving_create(surface->vertices, (const double(*)[3])surface->x, surface->faces,
                          (const int(*)[3])surface->face, &options, (cb_moving **)body);
}

static void release(const cb_fluid_model *m, void *body) {
  (void)m;
  cb_moving_free(body);
}

static cb_status rigid_only(void) {
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "the exact added mass to an `error` is for rigid bodies: expected none for one with poses, and a "
                 "surface of faces as fine as `curvebody inertia` finds them to be needed");
}

static cb_status to_error(const cb_fluid_model *m, const cb_surface *surface, const double (*x)[3],
                          const double (*v)[3], cb_added_mass *out) {
  const exact *own = m->params;
  const cb_kirchhoff_options options = options_of(own, surface);
  if (options.sheets)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the error of a sheet's exact added mass is not estimated: expected no `error`, and faces that are "
                   "small beside its border");
  if (v || memcmp(x, surface->x, (size_t)surface->vertices * sizeof *x) != 0) return rigid_only();
  return cb_exact_refined(m, surface, own->error, &options, out);
}

static cb_status added_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3],
                            const double (*v)[3], cb_added_mass *out) {
  cb_kirchhoff_mass mass;
  if (!isnan(((const exact *)m->params)->error)) return to_error(m, surface, x, v, out);
  const cb_status status = cb_moving_added_mass((cb_moving *)body, x, v, &mass);
  if (status) return status;
  memcpy(out->K, mass.K, sizeof out->K);
  memcpy(out->mu0, mass.mu0, sizeof out->mu0);
  out->kinetic = mass.kinetic;
  const cb_kirchhoff_report report = cb_moving_report((cb_moving *)body);
  out->faces = surface->faces;
  out->asymmetry = report.asymmetry;
  out->thickness = report.thickness;
  out->iterations = report.iterations;
  out->method = cb_potential_method_name(report.method);
  return CB_OK;
}

static cb_status form(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3], int n,
                      const double (*v)[3], double *G) {
  (void)surface;
  if (!isnan(((const exact *)m->params)->error)) return rigid_only();
  return cb_moving_form((cb_moving *)body, x, n, v, G);
}

static bool placed(const cb_fluid_model *m) { return ((const exact *)m->params)->wall != CB_MIRROR_NONE; }

static double table(const cb_fluid_model *m) {
  const exact *own = m->params;
  return isnan(own->table) ? fmax(1e-5, own->far_error) : own->table;
}

const cb_fluid_model_class cb_fluid_model_exact = {
    .name = "exact",
    .title = "potential flow",
    .doc = "exact added mass of solids and sheets in a perfect fluid, from the flow about them; no forces",
    .params = params,
    .params_size = sizeof(exact),
    .prepare = prepare,
    .release = release,
    .added_mass = added_mass,
    .form = form,
    .table = table,
    .placed = placed,
};
