/* The equations of a body wherever it lies. What is kept of them is of the body as it was prepared.
 */
#include "potential/kirchhoff_private.h"

#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *cb_potential_method_name(cb_potential_method method) {
  static const char *const names[] = {"best", "dense", "iterative", "hlu"};
  return names[method];
}

/* Before anything is solved: the equations of such panels have a solution that nothing else tells to be wrong. */
static cb_status check_thickness(const cb_kirchhoff *k) {
  const cb_thickness *t = &k->thickness;
  if (t->mismatch <= 2) return CB_OK;
  const double *at = k->panels->centre[t->worst];
  return cb_fail(CB_ERROR_STEP,
                 "the body is too thin for its %d panels: at face %d, (%g, %g, %g), it is %.2g thick, the face %.2g "
                 "wide, and the one that faces it %.2g aside: expected faces of about its thickness, or sides that are "
                 "mirror images, or a sheet, an open surface, in its place",
                 cb_kirchhoff_solids(k), k->kept[t->worst] + 1, at[0], at[1], at[2], t->t, t->h, t->o);
}

static cb_status set_panels(cb_kirchhoff *k) {
  const double(*y)[3] = (const double(*)[3])k->y;
  const int(*corner)[3] = (const int(*)[3])k->corner;
  return k->panels ? cb_panels_move(k->panels, y, corner) : cb_panels_create(k->n, y, corner, &k->panels);
}

/* The panels of vertices x, which end within the borders of sheets and the rims of what is thin. */
static cb_status lay(cb_kirchhoff *k, const double (*x)[3]) {
  const int solids = cb_kirchhoff_solids(k);
  double *ratio = k->some;
  if (k->pieces)
    cb_pieces_place(k->pieces, x, k->y);
  else
    memcpy(k->y, x, (size_t)k->vertices * sizeof *k->y);
  cb_status status = set_panels(k);
  k->thickness = (cb_thickness){.mean = 1, .worst = -1};
  if (status || !solids) return status;
  status = cb_thickness_find(k->panels, solids, ratio, &k->thickness);
  if (!status) status = check_thickness(k);
  if (status || k->thickness.mean == 1) return status;
  status = cb_rims_place(k->panels, solids, (const int(*)[3])k->corner, ratio, k->vertices, k->y);
  return status ? status : set_panels(k);
}

/* The centre of the panels, and the six motions about it as normal velocities. */
static void set_motions(cb_kirchhoff *k) {
  const cb_panels *p = k->panels;
  double area = 0, square = 0;
  memset(k->centre, 0, sizeof k->centre);
  for (int i = 0; i < k->n; i++) {
    area += p->area[i];
    for (int c = 0; c < 3; c++) k->centre[c] += p->area[i] * p->centre[i][c];
  }
  for (int c = 0; c < 3; c++) k->centre[c] /= area;
  for (int i = 0; i < k->n; i++) {
    const double y[3] = {p->centre[i][0] - k->centre[0], p->centre[i][1] - k->centre[1],
                         p->centre[i][2] - k->centre[2]};
    double m[CB_KIRCHHOFF_MOTIONS];
    cb_cross3(y, p->normal[i], m);
    memcpy(m + 3, p->normal[i], 3 * sizeof *m);
    for (int a = 0; a < CB_KIRCHHOFF_MOTIONS; a++) k->w[(size_t)a * (size_t)k->n + (size_t)i] = m[a];
    square += p->area[i] * cb_dot3(y, y);
  }
  k->radius = sqrt(square / area);
}

/* The tensor is that about the base point, of motions of the space. */
static cb_status place_curved(cb_kirchhoff *k) {
  const cb_status status = cb_curved_flow_move(k->curved, (const double(*)[3])k->y, (const int(*)[3])k->corner);
  memset(k->centre, 0, sizeof k->centre);
  if (!status) cb_curved_flow_motions(k->curved, k->w);
  return status;
}

cb_status cb_kirchhoff_renew(cb_kirchhoff *k, const double (*x)[3], const double *start) {
  const size_t n = (size_t)k->n;
  memset(k->phi, 0, CB_KIRCHHOFF_COLUMNS * n * sizeof *k->phi);
  if (start) memcpy(k->phi, start, CB_KIRCHHOFF_MOTIONS * n * sizeof *k->phi);
  const cb_status status = lay(k, x);
  if (status) return status;
  memcpy(k->x, x, (size_t)k->vertices * sizeof *k->x);
  set_motions(k);
  k->solved = false;
  if (k->curved) return place_curved(k);
  if (k->sheet)
    cb_sheet_renew(k->sheet);
  else
    cb_operator_renew(k->operator);
  return CB_OK;
}

cb_status cb_kirchhoff_equations(cb_kirchhoff *k, int columns, const double *w, double *phi) {
  if (k->curved) return cb_curved_flow_solve(k->curved, columns, w, phi);
  return k->sheet ? cb_sheet_solve(k->sheet, columns, w, phi) : cb_operator_solve(k->operator, columns, w, phi);
}

cb_status cb_kirchhoff_solve(cb_kirchhoff *k, int columns, const double *normal_velocity, double *phi) {
  const size_t n = (size_t)k->n, faces = (size_t)k->faces;
  for (int first = 0; first < columns; first += CB_KIRCHHOFF_COLUMNS) {
    const int count = columns - first < CB_KIRCHHOFF_COLUMNS ? columns - first : CB_KIRCHHOFF_COLUMNS;
    double *w = k->some, *start = k->some + CB_KIRCHHOFF_COLUMNS * n;
    memset(start, 0, (size_t)count * n * sizeof *start);
    for (int c = 0; c < count; c++)
      for (size_t i = 0; i < n; i++)
        w[(size_t)c * n + i] = normal_velocity[(size_t)(first + c) * faces + (size_t)k->kept[i]];
    const cb_status status = cb_kirchhoff_equations(k, count, w, start);
    if (status) return status;
    for (int c = 0; c < count; c++) {
      double *to = phi + (size_t)(first + c) * faces;
      memset(to, 0, faces * sizeof *to);
      for (size_t i = 0; i < n; i++) to[k->kept[i]] = start[(size_t)c * n + i];
    }
  }
  return CB_OK;
}

/* --- life --- */

static cb_status fill_solids(cb_kirchhoff *k, const double (*x)[3]) {
  const cb_status status =
      cb_pieces_outward(k->vertices, x, k->faces, (const int(*)[3])k->face, k->reached, k->kept, &k->n);
  if (status) return status;
  k->corner = cb_arena_alloc(k->arena, (size_t)k->n, sizeof *k->corner);
  k->y = cb_arena_alloc(k->arena, (size_t)k->vertices, sizeof *k->y);
  if (!k->corner || !k->y) return cb_fail(CB_ERROR_MEMORY, "no memory for %d faces", k->n);
  for (int i = 0; i < k->n; i++) memcpy(k->corner[i], k->face[k->kept[i]], sizeof *k->corner);
  return CB_OK;
}

static cb_status fill_sheets(cb_kirchhoff *k) {
  const cb_pieces *p = k->pieces;
  if (k->placed)
    return cb_fail(CB_ERROR_UNSUPPORTED, "sheets before a wall are not solved: expected closed parts, or no `wall`");
  k->n = p->n;
  k->corner = p->corner;
  memcpy(k->kept, p->kept, (size_t)p->n * sizeof *k->kept);
  for (int i = 0; i < p->n; i++) k->reached[p->kept[i]] = true;
  k->y = cb_arena_alloc(k->arena, (size_t)p->places, sizeof *k->y);
  return k->y ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d places", p->places);
}

static cb_status check_curved(const cb_kirchhoff *k) {
  if (k->pieces) return cb_fail(CB_ERROR_UNSUPPORTED, "sheets in a curved space are not solved: expected closed parts");
  if (k->placed) return cb_fail(CB_ERROR_UNSUPPORTED, "a wall in a curved space is not solved: expected no `wall`");
  return CB_OK;
}

static cb_status fill(cb_kirchhoff *k, const double (*x)[3], const int (*face)[3],
                      const cb_kirchhoff_options *options) {
  memcpy(k->x, x, (size_t)k->vertices * sizeof *k->x);
  memcpy(k->face, face, (size_t)k->faces * sizeof *k->face);
  cb_status status = CB_OK;
  if (options->sheets) status = cb_pieces_create(k->vertices, x, k->faces, face, &k->pieces);
  if (!status && k->pieces && k->pieces->solids == k->pieces->n) {
    cb_pieces_free(k->pieces);
    k->pieces = NULL;
  }
  if (!status && options->curvature != 0) status = check_curved(k);
  if (!status) status = k->pieces ? fill_sheets(k) : fill_solids(k, x);
  if (!status) status = lay(k, x);
  if (!status && options->curvature != 0)
    status = cb_curved_flow_create(k->n, (const double(*)[3])k->y, (const int(*)[3])k->corner, options, &k->curved);
  else if (!status)
    status = k->pieces ? cb_sheet_create(k->panels, k->pieces->solids, options, &k->sheet)
                       : cb_operator_create(k->panels, options, &k->operator);
  if (status) return status;
  set_motions(k);
  k->area = k->curved ? cb_curved_flow_areas(k->curved) : k->panels->area;
  return k->curved ? place_curved(k) : CB_OK;
}

cb_status cb_kirchhoff_create(int vertices, const double (*x)[3], int faces, const int (*face)[3],
                              const cb_kirchhoff_options *options, cb_kirchhoff **out) {
  cb_kirchhoff_options used = options ? *options : (cb_kirchhoff_options){0};
  if (!(used.far_error > 0)) used.far_error = 1e-6;
  if (!(used.tolerance > 0)) used.tolerance = used.far_error / 10;
  if (used.iterations <= 0) used.iterations = 200;
  if (used.memory == 0) used.memory = 4000000000;
  cb_kirchhoff *k = cb_arena_object(sizeof *k, "the potential flow about a body");
  if (!k) return CB_ERROR_MEMORY;
  const size_t size = CB_KIRCHHOFF_COLUMNS * (size_t)faces;
  k->vertices = vertices, k->faces = faces;
  k->placed = used.wall.kind != CB_MIRROR_NONE;
  k->x = cb_arena_alloc(k->arena, (size_t)vertices, sizeof *k->x);
  k->face = cb_arena_alloc(k->arena, (size_t)faces, sizeof *k->face);
  k->reached = cb_arena_alloc(k->arena, (size_t)faces, sizeof *k->reached);
  k->kept = cb_arena_alloc(k->arena, (size_t)faces, sizeof *k->kept);
  cb_arena_doubles(k->arena, size, &k->w, &k->phi);
  cb_arena_doubles(k->arena, 2 * size, &k->some);
  const cb_status status =
      cb_arena_lost(k->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for %d faces", faces) : fill(k, x, face, &used);
  if (status) {
    cb_kirchhoff_free(k);
    return status;
  }
  *out = k;
  return CB_OK;
}

void cb_kirchhoff_free(cb_kirchhoff *k) {
  if (!k) return;
  cb_operator_free(k->operator);
  cb_sheet_free(k->sheet);
  cb_curved_flow_free(k->curved);
  cb_pieces_free(k->pieces);
  cb_panels_free(k->panels);
  cb_arena_free(k->arena);
}

cb_kirchhoff_report cb_kirchhoff_report_of(const cb_kirchhoff *k) {
  const cb_operator_report r = k->curved  ? cb_curved_flow_report(k->curved)
                               : k->sheet ? cb_sheet_report_of(k->sheet)
                                          : cb_operator_report_of(k->operator);
  return (cb_kirchhoff_report){.method = r.method,
                               .iterations = r.solved.iterations,
                               .residual = r.solved.residual,
                               .row_sum = r.row_sum,
                               .asymmetry = k->asymmetry,
                               .thickness = k->thickness.mean,
                               .bytes = r.bytes};
}

const struct cb_panels *cb_kirchhoff_panels(const cb_kirchhoff *k) { return k->panels; }
const int *cb_kirchhoff_faces(const cb_kirchhoff *k) { return k->kept; }
const double *cb_kirchhoff_potentials(const cb_kirchhoff *k) { return k->solved ? k->phi : NULL; }
int cb_kirchhoff_solids(const cb_kirchhoff *k) { return k->pieces ? k->pieces->solids : k->n; }
const bool *cb_kirchhoff_reached(const cb_kirchhoff *k) { return k->reached; }
