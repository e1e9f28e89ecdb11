/* `coupling: exact`: the potential flow around all bodies, by panels on their surfaces (potential/several.h).
 *
 *   C = K - diag(K_1, .., K_n)
 * K of all bodies and its derivative follow from one system of equations; K_i is the tensor of body i alone, on the
 * same panels. The own added mass of each body is that of its model, which may be more accurate than K_i. Valid for
 * rigid closed bodies. No two of them may be so near to each other that the panels are too coarse for the gap. Near a
 * plane the images of all bodies are added. With `samples`, K of joined bodies in flat space is a table
 * (fluid/body_coupling.h). Source: see potential/several.h. SI units.
 */
#include "fluid/body_coupling.h"

#include "core/failure.h"
#include "numerics/vec3.h"
#include "potential/several.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct exact {
  cb_coupling_plane plane;
  const cb_node *samples, *range;
  cb_coupling_samples table; /* read from the keys `samples` and `range` */
} exact;

#define REAL(name, fallback, unit, doc) \
  { #name, CB_PARAM_REAL, offsetof(exact, plane.name), fallback, unit, "", NULL, doc }
static const cb_param params[] = {
    {"wall", CB_PARAM_CHOICE, offsetof(exact, plane.wall), "none", "", "", "none|rigid|free",
     "a plane at which the fluid ends: a rigid wall, or a free surface, where the potential is 0"},
    REAL(wall_height, "0", "m", "height of the plane along its normal"),
    REAL(wall_x, "0", "", "x component of the normal, which points into the fluid"),
    REAL(wall_y, "0", "", "y component of the normal"),
    REAL(wall_z, "1", "", "z component of the normal"),
    {"samples", CB_PARAM_NODE, offsetof(exact, samples), "", "", "", NULL,
     "a table over the coordinates of joints: its number of samples, or one number for each coordinate"},
    {"range", CB_PARAM_NODE, offsetof(exact, range), "", "rad, m", "", NULL,
     "range of a coordinate in the table: [lowest, highest], or a list of such ranges; `none` means a complete turn"},
    {0}};

/* read_count reads the number of samples of one coordinate, and read_range the range of one coordinate. */
static cb_status read_count(const cb_node *node, int *out) {
  long long count;
  const cb_status status = cb_node_int(node, &count);
  if (status) return status;
  if (count < 4 || count > 10000)
    return cb_node_fail(node, "samples: expected a number from 4 to 10000, found %lld", count);
  *out = (int)count;
  return CB_OK;
}

static cb_status read_range(const cb_node *node, bool *given, double out[2]) {
  if (node->kind == CB_NODE_SCALAR && !strcmp(node->text, "none")) return CB_OK;
  const cb_status status = cb_node_reals(node, 2, out);
  if (status) return status;
  if (!(out[1] > out[0]))
    return cb_node_fail(node, "range: expected [lowest, highest], found [%g, %g]", out[0], out[1]);
  *given = true;
  return CB_OK;
}

static cb_status read_table(void *of) {
  exact *own = of;
  cb_coupling_samples *t = &own->table;
  const cb_node *samples = own->samples, *range = own->range;
  const cb_node *const *count = &samples, *const *ranges = &range;
  if (!samples) return range ? cb_node_fail(range, "range: expected `samples` next to it") : CB_OK;
  if (own->plane.wall)
    return cb_node_fail(samples,
                        "samples: expected no `wall`, because a table contains only poses of bodies "
                        "relative to each other");
  t->counts = t->ranges = 1;
  if (samples->kind == CB_NODE_LIST) {
    t->counts = (int)samples->count;
    count = samples->items;
  }
  if (range && range->kind == CB_NODE_LIST && range->count > 0 && range->items[0]->kind == CB_NODE_LIST) {
    t->ranges = (int)range->count;
    ranges = range->items;
  }
  if (!range) t->ranges = 0;
  if (t->counts < 1 || t->counts > CB_COUPLING_AXES || t->ranges > CB_COUPLING_AXES)
    return cb_node_fail(samples, "samples: expected 1 to %d coordinates", CB_COUPLING_AXES);
  cb_status status = CB_OK;
  for (int i = 0; i < t->counts && !status; i++) status = read_count(count[i], &t->count[i]);
  for (int i = 0; i < t->ranges && !status; i++) status = read_range(ranges[i], &t->given[i], t->range[i]);
  return status;
}

typedef struct data {
  cb_several *several;
  cb_coupling_table *table; /* NULL: there is no table */
  double density;
  int n, faces; /* n: number of bodies; faces: the smallest number of faces of a body */
  /* [n]: the thickness of the layer of fluid that belongs to each body in contacts (potential/several_blocks.c). It is
   * a third of the size of the body's largest face. */
  double *film;
} data;

static void release(void *self) {
  data *d = self;
  if (!d) return;
  cb_coupling_table_free(d->table);
  cb_several_free(d->several);
  free(d->film);
  free(d);
}

static double film_of(const cb_surface *s) {
  double largest = 0;
  for (int i = 0; i < s->faces; i++) {
    double e1[3], e2[3], a[3];
    for (int k = 0; k < 3; k++) {
      e1[k] = s->x[s->face[i][1]][k] - s->x[s->face[i][0]][k];
      e2[k] = s->x[s->face[i][2]][k] - s->x[s->face[i][0]][k];
    }
    cb_cross3(e1, e2, a);
    largest = fmax(largest, sqrt(cb_dot3(a, a)) / 2);
  }
  return sqrt(largest) / 3;
}

static double film(const void *self, int body) { return ((const data *)self)->film[body]; }

static cb_status prepare(const cb_body_coupling *c, const cb_coupled_fluid *of, int *which, void **out) {
  const exact *own = c->params;
  cb_several_body *body = calloc((size_t)of->n, sizeof *body);
  data *d = calloc(1, sizeof *d);
  if (d) d->film = calloc((size_t)of->n, sizeof *d->film);
  cb_status status = body && d && d->film ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", of->n);
  for (int i = 0; i < of->n && !status; i++) {
    const cb_surface *s = cb_immersed_surface(of->body[i]);
    *which = i;
    d->film[i] = film_of(s);
    if (cb_immersed_poses(of->body[i]))
      status =
          cb_fail(CB_ERROR_UNSUPPORTED,
                  "`coupling: exact` is for rigid bodies, and this one changes its shape: expected dipole or none");
    for (int p = 0; p < s->parts && !status; p++)
      if (s->open[p])
        status =
            cb_fail(CB_ERROR_UNSUPPORTED,
                    "`coupling: exact` is for closed bodies, and part `%s` is an open sheet: expected a closed part, "
                    "such as a disc with a `thickness`, or `coupling: dipole`",
                    s->name[p]);
    if (!status)
      body[i] = (cb_several_body){s->vertices, (const double(*)[3])s->x, s->faces, (const int(*)[3])s->face,
                                  of->name ? of->name[i] : NULL};
  }
  if (!status) {
    const cb_kirchhoff_options options = {.curvature = of->fluid->curvature, .wall = cb_coupling_plane_of(c)};
    *which = -1;
    d->density = of->density;
    d->n = of->n;
    for (int i = 0; i < of->n; i++) d->faces = i && d->faces < body[i].faces ? d->faces : body[i].faces;
    status = cb_several_create(of->n, body, &options, &d->several);
  }
  if (!status && own->samples && of->fluid->curvature != 0)
    status = cb_node_fail(own->samples,
                          "samples: a table is only for flat space: expected `coupling: exact` without "
                          "`samples` in a curved space");
  if (!status && own->samples) {
    status = cb_coupling_table_create(of, d->several, &own->table, which, &d->table);
    if (status && *which < 0) status = cb_node_fail(own->samples, "samples: %s", cb_error_text());
  }
  free(body);
  if (status)
    release(d);
  else
    *out = d;
  return status;
}

static cb_status apply(void *self, double t, const cb_pose *g, const double (*Y)[6], double (*momentum)[6],
                       double (*slope)[6], double *energy) {
  const data *d = self;
  (void)t;
  if (d->table) return cb_coupling_table_apply(d->table, g, Y, momentum, slope, energy);
  const cb_status status = cb_several_apply(d->several, g, Y, momentum, slope, NULL);
  for (int i = 0; i < d->n && !status; i++) {
    double twice = 0;
    for (int k = 0; k < 6; k++) {
      momentum[i][k] *= d->density;
      twice += momentum[i][k] * Y[i][k];
      if (slope) slope[i][k] *= d->density;
    }
    if (energy) energy[i] = twice / 2;
  }
  return status;
}

static bool by_joints(void *self, cb_coupling_by_joints *out) {
  const data *d = self;
  if (d->table) cb_coupling_table_by_joints(d->table, out);
  return d->table != NULL;
}

/* Returns how strong the coupling is if all bodies move with a unit velocity along `axis`: the largest linear momentum
 * that the other bodies add to one body, divided by a third of the trace of the linear tensor of this body alone. */
static cb_status strength(const data *d, const cb_pose *g, int axis, double (*Y)[6], double (*momentum)[6],
                          cb_several_report *report, double *largest) {
  for (int i = 0; i < d->n; i++) {
    double R[3][3];
    cb_pose_rotation(&g[i], R);
    memset(Y[i], 0, sizeof Y[i]);
    memcpy(Y[i] + 3, R[axis], sizeof R[axis]);
  }
  const cb_status status = cb_several_apply(d->several, g, (const double(*)[6])Y, momentum, NULL, report);
  for (int i = 0; i < d->n && !status; i++) {
    double K[6][6];
    cb_several_own(d->several, i, K);
    const double *p = momentum[i] + 3;
    *largest = fmax(*largest, 3 * sqrt(cb_dot3(p, p)) / (K[3][3] + K[4][4] + K[5][5]));
  }
  return status;
}

/* Two errors add up. The panels make the coupling of spheres too small by 5/faces to 18/faces, as measured with 320 and
 * 512 faces (potential/several.h). The panels at a gap between two bodies are too coarse if they are wider than the
 * gap: this error is proportional to (panel size/gap)^2, and about 1 % for a gap as wide as a panel
 * (potential/moving.h). A table adds its own error. */
static cb_status estimate(void *self, double t, const cb_pose *g, cb_coupling_error *out) {
  const data *d = self;
  cb_several_report report;
  double largest = 0, of_table = 0;
  cb_status status = CB_OK;
  (void)t;
  double(*Y)[6] = calloc(2 * (size_t)d->n, sizeof *Y);
  if (!Y) return cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", d->n);
  for (int axis = 0; axis < 3 && !status; axis++) status = strength(d, g, axis, Y, Y + d->n, &report, &largest);
  free(Y);
  if (!status && d->table) status = cb_coupling_table_error(d->table, d->several, g, &of_table);
  if (status) return status;
  const double ratio = report.resolved / report.gap;
  *out =
      (cb_coupling_error){.01 * ratio * ratio + 18 * largest / d->faces + of_table, {report.body[0], report.body[1]}};
  return CB_OK;
}

const cb_body_coupling_class cb_body_coupling_exact = {
    .name = "exact",
    .title = "the potential flow around all bodies, by panels on their surfaces",
    .doc =
        "The added mass of all rigid closed bodies together, with its derivative along their motion. A step of two "
        "bodies of 500 faces takes about 0.1 s. With `samples`, the coupling adds a few us to the step of two bodies.",
    .params = params,
    .params_size = sizeof(exact),
    .read = read_table,
    .prepare = prepare,
    .release = release,
    .apply = apply,
    .by_joints = by_joints,
    .film = film,
    .estimate = estimate,
    .plane = cb_coupling_plane_of};
