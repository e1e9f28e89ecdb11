/* The exact added mass of bodies, solids and sheets: Kirchhoff's tensor K of the potential flow around them
 * (potential/kirchhoff.h).
 *
 * The fluid is perfect. It fills space, or the side of a plane on which the body is. The model has no forces except
 * those of that plane on bodies that move (potential/moving.h). K of a rigid body, or of a pose, is computed on finer
 * and finer faces until its estimated error meets `error`.
 *
 * A body that moves near a wall, or swims by changing its shape, is solved again at each place or shape, always on the
 * same mesh. This mesh is the first one whose own K meets the error for the given shape, far from the wall. If there is
 * none, it is the finest mesh that can be solved often. In a curved space a body that swims uses the given faces.
 */

#include "core/failure.h"
#include "fluid/exact_refined.h"
#include "fluid/surface_mesh.h"
#include "potential/operator.h"
#include "potential/moving.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ERROR 1e-2
/* Limits of the number of faces to which a mesh is refined. SOLVED_ONCE is for a mesh that is solved once; this limit
 * applies only if the estimated error is at most CB_EXACT_FAIR. SOLVED_OFTEN is for a mesh that is solved at each place
 * near a wall, or for each shape. It applies if the user gives no error. */
enum { SOLVED_ONCE = 40000, SOLVED_OFTEN = 1000 };

typedef struct exact {
  double error, far_error, memory, table;
  int method, wall;
  bool refine;
  double wall_x, wall_y, wall_z, wall_height;
} exact;

static const cb_param params[] = {
    {"error", CB_PARAM_REAL, offsetof(exact, error), "nan", "", "[1e-8, 0.5]", NULL,
     "estimated error of the added mass K, relative to its largest entry for translations (for rotations, this entry "
     "times the mean square distance of the faces from their centre). The faces are refined until it is met; faces of "
     "poses stay flat; far_error is at most 1e-2 of it. Default: 1e-2, with a warning if it is not met. If `error` is "
     "given and not met, the command fails, except in curved spaces. Bodies that move near a wall, or swim by changing "
     "their shape, use one mesh of up to 1000 faces for all places or shapes (in curved spaces: the given faces). "
     "There is a warning if its error is above 3e-2; if `error` is given, the number of faces has no limit"},
    {"refine", CB_PARAM_BOOL, offsetof(exact, refine), "true", "", "", NULL,
     "false: K of the given faces, with a warning if its error is above 3e-2"},
    {"far_error", CB_PARAM_REAL, offsetof(exact, far_error), "1e-6", "", "[1e-11, 1e-2]", NULL,
     "error of the far field, relative to the largest potential; the error of the linear equations is a tenth of it"},
    {"table", CB_PARAM_REAL, offsetof(exact, table), "nan", "", "[0, 0.1]", NULL,
     "error of a table of K along poses that have a period or an end (default: the larger of 1e-5 and far_error); 0: K "
     "is solved at "
     "each time, as near a wall"},
    {"method", CB_PARAM_CHOICE, offsetof(exact, method), "best", "", "", "best|dense|iterative|hlu",
     "method for the equations: factors of the matrix, an iteration, or an iteration with hierarchical factors as "
     "preconditioner"},
    {"memory", CB_PARAM_REAL, offsetof(exact, memory), "4e9", "", "> 0", NULL, "maximum memory in bytes"},
    {"wall", CB_PARAM_CHOICE, offsetof(exact, wall), "none", "", "", "none|rigid|free",
     "plane at which the fluid ends, for closed bodies: rigid (also for a free surface at low frequencies), or free "
     "(for a free surface at high frequencies)"},
    {"wall_height", CB_PARAM_REAL, offsetof(exact, wall_height), "0", "m", "", NULL,
     "height of the plane along its normal, in the world's axes (for a surface without a run: in the axes of the "
     "surface)"},
    {"wall_x", CB_PARAM_REAL, offsetof(exact, wall_x), "0", "", "", NULL,
     "x component of the normal of the plane, which points into the fluid"},
    {"wall_y", CB_PARAM_REAL, offsetof(exact, wall_y), "0", "", "", NULL, "y component of the normal"},
    {"wall_z", CB_PARAM_REAL, offsetof(exact, wall_z), "1", "", "", NULL, "z component of the normal"},
    {0},
};

/* Returns whether the surface has a sheet, which is a part with a border. The thickness of a sheet has no effect on the
 * fluid. */
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

/* In a curved space a finer mesh soon needs too much memory, because the matrix is dense. An unmet error is therefore
 * not a failure there. */
static cb_exact_asked asked_of(const exact *own, const cb_surface *surface) {
  const bool given = !isnan(own->error);
  return (cb_exact_asked){given ? own->error : DEFAULT_ERROR, given && surface->curvature == 0, SOLVED_ONCE, 0};
}

/* Returns the error that the one mesh for all places or shapes must meet. If the user gives an error, the mesh must
 * meet a quarter of it, because one mesh has a larger error than the extrapolation from several meshes. The number of
 * faces then has no limit. */
static cb_exact_asked asked_often(const exact *own) {
  const bool given = !isnan(own->error);
  return (cb_exact_asked){given ? own->error / 4 : DEFAULT_ERROR, false, given ? INT_MAX : SOLVED_OFTEN,
                          given ? 0 : SOLVED_OFTEN};
}

static cb_status check_often(const exact *own, double error, int faces) {
  if (isnan(own->error) || error <= own->error) return CB_OK;
  return cb_fail(CB_ERROR_STEP,
                 "the error of %g is not met: found %.3g with %d faces; expected a larger `error` or more `memory`",
                 own->error, error, faces);
}

static cb_status report_mass(const cb_surface *surface, const cb_kirchhoff_mass *mass,
                             const cb_kirchhoff_report *report, cb_added_mass *out) {
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

/* --- data about a body --- */

typedef struct known {
  struct known *self; /* a pointer to this struct that is not const: `form` needs it to compute the other members */
  cb_moving *moving;
  cb_placed *placed;     /* near a wall: computes the added mass at each place of the body */
  cb_exact_posed *posed; /* computes the added mass on refined faces of poses or shapes; NULL: not used */
  /* near a wall, for a body without poses: the faces on which the flow is solved; NULL: the given faces */
  cb_surface *fine;
  /* near a wall: the estimated error on the faces that are used there, computed far from the wall */
  double error;
} known;

static cb_status create_moving(const cb_surface *surface, const cb_kirchhoff_options *options, cb_moving **out) {
  return cb_moving_create(surface->vertices, (const double(*)[3])surface->x, surface->faces,
                          (const int(*)[3])surface->face, options, out);
}

static cb_status check(const exact *own) {
  if (!own->refine && !isnan(own->error))
    return cb_fail(CB_ERROR_ARGUMENT, "error: expected no `error` with refine: false");
  if (own->wall == CB_MIRROR_NONE &&
      (own->wall_height != 0 || own->wall_x != 0 || own->wall_y != 0 || own->wall_z != 1))
    return cb_fail(CB_ERROR_ARGUMENT,
                   "the position of a wall is given without `wall`: expected wall: rigid or wall: free with wall_x, "
                   "wall_y, wall_z and wall_height");
  if (isnan(own->error) && own->table > 0 && own->table < own->far_error)
    return cb_fail(CB_ERROR_ARGUMENT, "table: expected at least far_error, or 0, found %g with far_error %g",
                   own->table, own->far_error);
  return CB_OK;
}

/* If faces are refined, the given faces are not solved here. Near a wall nothing is solved before the place of the body
 * is known. */
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

/* Computes the added mass to the requested error. For vertices at rest at their given positions, finer faces of a shape
 * of bodies/shapes lie on its true surface. For all other poses the given flat faces are divided. */
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
    status = report_mass(surface, &mass, &report, out);
  }
  cb_moving_free(before);
  return x == (const double(*)[3])surface->x ? cb_surface_explain(surface, status) : status;
}

/* Chooses the mesh that is used at all places of the body. The criterion is the error of the mesh far from the wall.
 * For a body without poses the vertices of finer faces lie on the true surface. */
static cb_status choose_rigid(const cb_fluid_model *m, known *k, const cb_surface *surface,
                              const cb_kirchhoff_options *options) {
  const cb_exact_asked asked = asked_often(m->params);
  cb_exact_levels levels = {.n = 0};
  cb_added_mass found = {.kinetic = 0};
  const cb_status status = cb_exact_refined(m, surface, asked, options, &levels, &found);
  if (status) return status;
  k->error = cb_exact_keep_one(asked, &found, 0, &levels);
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

/* Computes the added mass *out near the wall for the body at the pose g, on the chosen faces. The given vertices are at
 * x and move with v. If k->fine is set, the body has no poses, and x and v are not used. */
static cb_status place_at(const known *k, const double (*x)[3], const double (*v)[3], const cb_pose *g,
                          cb_placed_form *out) {
  if (k->fine) return cb_placed_at(k->placed, (const double(*)[3])k->fine->x, NULL, g, out);
  if (!k->posed) return cb_placed_at(k->placed, x, v, g, out);
  const size_t n = (size_t)cb_exact_posed_surface(k->posed)->vertices;
  double(*buffer)[3] = malloc(3 * n * sizeof *buffer);
  if (!buffer) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu vertices of a pose", n);
  cb_exact_posed_divide(k->posed, x, buffer, buffer + 2 * n);
  if (v) cb_exact_posed_divide(k->posed, v, buffer + n, buffer + 2 * n);
  const cb_status status =
      cb_placed_at(k->placed, (const double(*)[3])buffer, v ? (const double(*)[3])(buffer + n) : NULL, g, out);
  free(buffer);
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
      status = report_mass(placed_surface(k, surface), far, &report, out);
      if (!isnan(k->error)) out->error = k->error;
      out->iterations = 0;
      out->method = cb_potential_method_name(CB_POTENTIAL_DENSE); /* the method of cb_placed_create */
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

/* Computes the added mass on the given faces. This is done if refinement is switched off, and in a curved space, where
 * finer faces take too long. */
static cb_status prepare_as_given(const cb_fluid_model *m, known *k, const cb_surface *surface, const double (*x)[3],
                                  cb_added_mass *found) {
  const cb_kirchhoff_options options = options_of(m->params, surface);
  cb_kirchhoff_mass mass;
  const cb_status status = k->moving ? CB_OK : create_moving(surface, &options, &k->moving);
  /* It is no error if the given shape has no solution, because other shapes may have one. */
  if (status || cb_moving_added_mass(k->moving, x, NULL, &mass)) return status;
  const cb_kirchhoff_report report = cb_moving_report(k->moving);
  return report_mass(surface, &mass, &report, found);
}

static cb_status prepare_form(const cb_fluid_model *m, known *k, const cb_surface *surface, const double (*x)[3]) {
  const exact *own = m->params;
  const bool refined = own->refine && surface->curvature == 0;
  const cb_kirchhoff_options options = options_of(own, surface);
  cb_added_mass found = {.tolerance = CB_EXACT_FAIR};
  cb_status status = CB_OK;
  cb_exact_posed_free(k->posed);
  k->posed = NULL;
  if (refined) {
    status = cb_exact_posed_create(m, surface, asked_often(own), &options, &k->posed);
    if (!status) status = cb_exact_posed_form(k->posed, x, 0, NULL, NULL);
    if (!status) found.error = cb_exact_posed_error(k->posed, &found.faces);
    if (!status) status = check_often(own, found.error, found.faces);
  } else {
    status = prepare_as_given(m, k, surface, x, &found);
  }
  if (!status && found.error > found.tolerance)
    cb_warn(
        "the added mass of a body that swims by changing its shape has an estimated error of %.2g with %d faces: "
        "expected finer "
        "faces%s",
        found.error, found.faces, refined ? ", or an `error`" : "");
  return status;
}

static cb_status form(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3], int n,
                      const double (*v)[3], double *G) {
  const known *k = body;
  if (!isnan(((const exact *)m->params)->error) && surface->curvature != 0)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "a body that swims in a curved space cannot have an `error` for its exact added mass: expected no "
                   "`error`, and faces that `curvebody inertia` shows to be fine enough");
  if (n == 0) return cb_surface_explain(surface, prepare_form(m, k->self, surface, x));
  return k->posed ? cb_exact_posed_form(k->posed, x, n, v, G) : cb_moving_form(k->moving, x, n, v, G);
}

static cb_status linear_form(const cb_fluid_model *m, const void *body, const cb_surface *surface, int n,
                             const double (*A)[3][3], const double c[3], double *G) {
  const exact *own = m->params;
  const cb_kirchhoff_options options = options_of(own, surface);
  cb_status status = CB_OK;
  if (own->refine) {
    status = cb_exact_refined_form(m, surface, asked_of(own, surface), &options, n, A, c, G);
  } else {
    double(*v)[3] = malloc((size_t)n * (size_t)surface->vertices * sizeof *v);
    if (!v) return cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", surface->vertices);
    cb_exact_linear_velocities(surface, n, A, c, v);
    status = cb_moving_form(((const known *)body)->moving, (const double(*)[3])surface->x, n, (const double(*)[3])v, G);
    free(v);
  }
  return cb_surface_explain(surface, status);
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
    .doc =
        "exact added mass of solids and sheets in a perfect fluid, from the flow around them; no forces except those "
        "of "
        "a wall",
    .params = params,
    .params_size = sizeof(exact),
    .prepare = prepare,
    .release = release,
    .added_mass = added_mass,
    .form = form,
    .linear_form = linear_form,
    .table = table,
    .placed = placed,
    .added_mass_at = added_mass_at,
    .curved = true,
};
