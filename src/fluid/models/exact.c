/* The exact added mass of bodies, solids and sheets: Kirchhoff's tensor of the potential flow about them
 * (potential/kirchhoff.h), of a perfect fluid that fills space, or the side of a plane that the body is on. It has no
 * forces but what that plane has on bodies that move (potential/placed.h). K of a rigid body, or of a pose, is found on
 * finer and finer faces until its estimate meets `error`. A body that moves before a wall, or swims by its shape, is
 * solved at each place or shape anew, on one mesh: the first whose own K meets the error where the body was given, far
 * from the wall, or the finest that can be solved often.
 */

#include "core/warning.h"
#include "fluid/exact_posed.h"
#include "fluid/surface_cuts.h"
#include "potential/images.h"
#include "potential/moving.h"
#include "potential/placed.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ERROR 1e-2
enum { SOLVED_ONCE = 40000, SOLVED_OFTEN = 1000 }; /* faces; often: at each place before a wall, and each shape */

typedef struct exact {
  double error, far_error, memory, table;
  int method, wall;
  bool refine;
  double wall_x, wall_y, wall_z, wall_height;
} exact;

static const cb_param params[] = {
    {"error", CB_PARAM_REAL, offsetof(exact, error), "nan", "", "[1e-8, 0.5]", NULL,
     "of K, estimated, relative to the greatest K of a translation (of rotations: times the mean square distance of "
     "the faces from their centre): the faces are refined until it is met, those of poses as flat ones, and far_error "
     "is 1e-2 of it or less. Default: 1e-2, with a warning where it is not met; one that is given is refused then, but "
     "for curved spaces. One mesh of up to 1000 faces serves bodies that move before a wall, all their places, or swim "
     "by their shape, all shapes (in curved spaces their faces as they are): a warning above 3e-2 says where these do "
     "not do, and an `error` that is given has no such limit"},
    {"refine", CB_PARAM_BOOL, offsetof(exact, refine), "true", "", "", NULL,
     "false: K of the faces as they are, with a warning above 3e-2"},
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

/* --- the error --- */

/* A finer mesh of a body in a curved space soon does not fit: its matrix is dense. */
static cb_exact_asked asked_of(const exact *own, const cb_surface *surface) {
  const bool given = !isnan(own->error);
  return (cb_exact_asked){given ? own->error : DEFAULT_ERROR, given && surface->curvature == 0, SOLVED_ONCE, 0};
}

/* For a mesh that serves all places or shapes: an error that is given is looked for without a limit, by
 * a quarter of it, as one mesh has more than all that told it. */
static cb_exact_asked asked_often(const exact *own) {
  const bool given = !isnan(own->error);
  return (cb_exact_asked){given ? own->error / 4 : DEFAULT_ERROR, false, given ? INT_MAX : SOLVED_OFTEN,
                          given ? 0 : SOLVED_OFTEN};
}

static cb_status check_often(const exact *own, double error, int faces) {
  if (isnan(own->error) || error <= own->error) return CB_OK;
  return cb_fail(CB_ERROR_STEP, "the error of %g is not met: %.3g with %d faces: expected a larger `error` or more `memory`",
                 own->error, error, faces);
}

static cb_status tell(const cb_surface *surface, const cb_kirchhoff_mass *mass, const cb_kirchhoff_report *report,
                      cb_added_mass *out) {
  const cb_potential_level level = {
      .faces = surface->faces, .mass = *mass, .report = *report, .sheets = any_open(surface)};
  cb_potential_estimate e;
  const cb_status status = cb_potential_estimated(1, &level, &e);
  memcpy(out->K, mass->K, sizeof out->K);
  memcpy(out->mu0, mass->mu0, sizeof out->mu0);
  out->kinetic = mass->kinetic;
  out->error = e.error;
  out->tolerance = CB_EXACT_FAIR;
  out->faces = surface->faces;
  out->asymmetry = report->asymmetry;
  out->thickness = report->thickness;
  out->iterations = report->iterations;
  out->method = cb_potential_method_name(report->method);
  return status;
}

/* --- what is known of a body --- */

typedef struct known {
  struct known *self; /* to make what is wanted later */
  cb_moving *moving;
  cb_placed *placed;     /* before a wall, in its place */
  cb_exact_posed *posed; /* to an error */
  cb_surface *fine;      /* before a wall, of a body without poses: its faces there; NULL: as given */
  double error;          /* before a wall, estimated of these far from it */
} known;

static cb_status create_moving(const cb_surface *surface, const cb_kirchhoff_options *options, cb_moving **out) {
  return cb_moving_create(surface->vertices, (const double(*)[3])surface->x, surface->faces,
                          (const int(*)[3])surface->face, options, out);
}

static cb_status check(const exact *own) {
  if (!own->refine && !isnan(own->error))
    return cb_fail(CB_ERROR_ARGUMENT,
                   "an `error` of faces that are not refined: expected one of error and refine: false");
  if (own->wall == CB_MIRROR_NONE &&
      (own->wall_height != 0 || own->wall_x != 0 || own->wall_y != 0 || own->wall_z != 1))
    return cb_fail(CB_ERROR_ARGUMENT,
                   "a place of a wall that is none: expected wall: rigid or wall: free beside wall_x, "
                   "wall_y, wall_z and wall_height");
  if (isnan(own->error) && own->table > 0 && own->table < own->far_error)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "a table of error %g from solutions of far_error %g: expected no less than that, or 0", own->table,
                   own->far_error);
  return CB_OK;
}

/* Where faces are refined, what is solved is not these; before a wall, not before its place is known. */
static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  const exact *own = m->params;
  const cb_kirchhoff_options options = options_of(own, surface);
  (void)mass;
  cb_status status = check(own);
  if (status) return status;
  known *k = calloc(1, sizeof *k);
  if (!k) return cb_fail(CB_ERROR_MEMORY, "no memory for the added mass of a body");
  k->self = k;
  if (own->refine)
    status = cb_exact_posed_create(m, surface, asked_of(own, surface), &options, &k->posed);
  else if (own->wall == CB_MIRROR_NONE)
    status = create_moving(surface, &options, &k->moving);
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
  cb_surface_free(k->fine);
  free(k);
}

/* --- its added mass --- */

/* A body that is as it was given may be a shape, whose finer faces are on its true surface. */
static cb_status to_error(const cb_fluid_model *m, const known *k, const cb_surface *surface, const double (*x)[3],
                          const double (*v)[3], cb_added_mass *out) {
  const exact *own = m->params;
  const cb_kirchhoff_options options = options_of(own, surface);
  if (v || memcmp(x, surface->x, (size_t)surface->vertices * sizeof *x) != 0)
    return cb_exact_posed_added_mass(k->posed, x, v, out);
  return cb_exact_refined(m, surface, asked_of(own, surface), &options, NULL, out);
}

static cb_status added_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3],
                            const double (*v)[3], cb_added_mass *out) {
  const exact *own = m->params;
  const known *k = body;
  const cb_kirchhoff_options options = options_of(own, surface);
  cb_kirchhoff_mass mass;
  cb_moving *before = NULL;
  if (own->refine) return cb_surface_explain(surface, to_error(m, k, surface, x, v, out));
  cb_status status = k->moving ? CB_OK : create_moving(surface, &options, &before);
  cb_moving *const moving = before ? before : k->moving;
  if (!status) status = cb_moving_added_mass(moving, x, v, &mass);
  if (!status) {
    const cb_kirchhoff_report report = cb_moving_report(moving);
    status = tell(surface, &mass, &report, out);
  }
  cb_moving_free(before);
  return x == (const double(*)[3])surface->x ? cb_surface_explain(surface, status) : status;
}

/* The mesh that serves all places, by its error far from the wall: of a body without poses on its true surface. */
static cb_status choose_rigid(const cb_fluid_model *m, known *k, const cb_surface *surface,
                              const cb_kirchhoff_options *options) {
  const cb_exact_asked asked = asked_often(m->params);
  cb_exact_levels levels = {.n = 0};
  cb_added_mass told = {.kinetic = 0};
  const cb_status status = cb_exact_refined(m, surface, asked, options, &levels, &told);
  if (status) return status;
  k->error = cb_exact_keep_one(asked, &told, 0, &levels);
  return levels.first > 0 ? cb_surface_at_level(surface, levels.first, &k->fine) : CB_OK;
}

static cb_status choose_posed(const cb_fluid_model *m, known *k, const cb_surface *surface,
                              const cb_kirchhoff_options *options) {
  int faces;
  cb_status status = cb_exact_posed_create(m, surface, asked_often(m->params), options, &k->posed);
  if (!status) status = cb_exact_posed_form(k->posed, (const double(*)[3])surface->x, 0, NULL, NULL);
  if (!status) k->error = cb_exact_posed_error(k->posed, &faces);
  return status;
}

static const cb_surface *placed_surface(const known *k, const cb_surface *surface) {
  return k->fine ? k->fine : k->posed ? cb_exact_posed_surface(k->posed) : surface;
}

static cb_status place(const cb_fluid_model *m, known *k, const cb_surface *surface, bool poses) {
  const exact *own = m->params;
  cb_kirchhoff_options options = options_of(own, surface);
  const cb_mirror wall = options.wall;
  cb_status status = CB_OK;
  cb_exact_posed_free(k->posed);
  k->posed = NULL;
  k->error = NAN;
  options.wall.kind = CB_MIRROR_NONE;
  if (own->refine) status = (poses ? choose_posed : choose_rigid)(m, k, surface, &options);
  const cb_surface *s = placed_surface(k, surface);
  if (!status) status = check_often(own, k->error, s->faces);
  options.wall = wall;
  if (!status)
    status = cb_placed_create(s->vertices, (const double(*)[3])s->x, s->faces, (const int(*)[3])s->face, &options,
                              &k->placed);
  return status;
}

/* With the vertices at x, on the faces that were chosen. */
static cb_status place_at(const known *k, const double (*x)[3], const double (*v)[3], const cb_pose *g,
                          cb_placed_form *out) {
  if (k->fine) return cb_placed_at(k->placed, (const double(*)[3])k->fine->x, NULL, g, out);
  if (!k->posed) return cb_placed_at(k->placed, x, v, g, out);
  const size_t n = (size_t)cb_exact_posed_surface(k->posed)->vertices;
  double(*room)[3] = malloc(3 * n * sizeof *room);
  if (!room) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu vertices of a pose", n);
  cb_exact_posed_divide(k->posed, x, room, room + 2 * n);
  if (v) cb_exact_posed_divide(k->posed, v, room + n, room + 2 * n);
  const cb_status status =
      cb_placed_at(k->placed, (const double(*)[3])room, v ? (const double(*)[3])(room + n) : NULL, g, out);
  free(room);
  return status;
}

static cb_status added_mass_at(const cb_fluid_model *m, void *body, const cb_surface *surface, const double (*x)[3],
                               const double (*v)[3], const cb_pose *g, cb_added_mass *out, double (*slope)[7][7]) {
  known *k = body;
  cb_placed_form form;
  if (!g) {
    cb_kirchhoff_report report;
    cb_status status = k->placed ? CB_OK : place(m, k, surface, v);
    if (!status) {
      const cb_kirchhoff_mass *far = cb_placed_far(k->placed, &report);
      status = tell(placed_surface(k, surface), far, &report, out);
      if (!isnan(k->error)) out->error = k->error;
      out->iterations = 0;
      out->method = cb_potential_method_name(CB_POTENTIAL_DENSE); /* what moves is found so */
    }
    return status;
  }
  const cb_status status = place_at(k, x, v, g, &form);
  if (status) return status;
  for (int i = 0; i < 6; i++) {
    memcpy(out->K[i], form.G[i], sizeof out->K[i]);
    out->mu0[i] = form.G[i][6];
  }
  out->kinetic = form.G[6][6] / 2;
  memcpy(slope, form.slope, sizeof form.slope);
  return CB_OK;
}

/* The faces as they are where they are not refined, or in a curved space, where finer ones take too long. */
static cb_status prepare_as_given(const cb_fluid_model *m, known *k, const cb_surface *surface, const double (*x)[3],
                                  cb_added_mass *told) {
  const cb_kirchhoff_options options = options_of(m->params, surface);
  cb_kirchhoff_mass mass;
  const cb_status status = k->moving ? CB_OK : create_moving(surface, &options, &k->moving);
  if (status || cb_moving_added_mass(k->moving, x, NULL, &mass)) return status; /* other shapes may be solved */
  const cb_kirchhoff_report report = cb_moving_report(k->moving);
  return tell(surface, &mass, &report, told);
}

static cb_status prepare_form(const cb_fluid_model *m, known *k, const cb_surface *surface, const double (*x)[3]) {
  const exact *own = m->params;
  const bool refined = own->refine && surface->curvature == 0;
  const cb_kirchhoff_options options = options_of(own, surface);
  cb_added_mass told = {.tolerance = CB_EXACT_FAIR};
  cb_status status = CB_OK;
  cb_exact_posed_free(k->posed);
  k->posed = NULL;
  if (refined) {
    status = cb_exact_posed_create(m, surface, asked_often(own), &options, &k->posed);
    if (!status) status = cb_exact_posed_form(k->posed, x, 0, NULL, NULL);
    if (!status) told.error = cb_exact_posed_error(k->posed, &told.faces);
    if (!status) status = check_often(own, told.error, told.faces);
  } else {
    status = prepare_as_given(m, k, surface, x, &told);
  }
  if (!status && told.error > told.tolerance)
    cb_warn(
        "the added mass of a body that swims by its shape has an estimated error of %.2g, by %d faces: expected finer "
        "ones%s",
        told.error, told.faces, refined ? ", or an `error` that is to be met" : "");
  return status;
}

static cb_status form(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3], int n,
                      const double (*v)[3], double *G) {
  const known *k = body;
  if (!isnan(((const exact *)m->params)->error) && surface->curvature != 0)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the exact added mass to an `error` is not for bodies that swim in a curved space: expected none, "
                   "and faces as fine as `curvebody inertia` finds them to be needed");
  if (n == 0) return cb_surface_explain(surface, prepare_form(m, k->self, surface, x));
  return k->posed ? cb_exact_posed_form(k->posed, x, n, v, G) : cb_moving_form(k->moving, x, n, v, G);
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
