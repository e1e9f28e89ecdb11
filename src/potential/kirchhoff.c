/* This file holds the equations of a body, and computes its added mass about the centre of the panels and the quadratic
 * form of a body that deforms (equations in kirchhoff.h). The stored data is for the positions that the last
 * cb_kirchhoff_renew set.
 */
#include "potential/kirchhoff.h"

#include "numerics/small.h"
#include "numerics/vec3.h"
#include "potential/curved_flow.h"
#include "potential/mesh_pieces.h"
#include "potential/operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOTIONS = 6, COLUMNS = MOTIONS + 1 };

struct cb_kirchhoff {
  cb_arena *arena;
  int vertices, faces,
      n;          /* n: number of panels, which are the faces that the fluid reaches; faces of cavities have no panel */
  double (*x)[3]; /* [vertices], at their present positions */
  int (*face)[3], *kept; /* face: [faces], the vertices of each face; kept: [n], the face of each panel */
  bool *reached;         /* [faces]: the fluid reaches the face */
  double centre[3], radius;
  cb_panels *panels;
  cb_operator *operator;
  cb_thickness thickness;
  /* [n]: the corners of each panel, as indices of y, the positions of the places (potential/mesh_pieces.h) */
  int (*corner)[3];
  double (*y)[3];
  cb_pieces *pieces;      /* the pieces of a body with sheets; NULL: there are only solids */
  cb_sheet *sheet;        /* replaces the operator if there are sheets */
  cb_curved_flow *curved; /* replaces the operator in a curved space; the panels then have normal coordinates */
  const double *area;     /* [n]: the areas of the panels */
  double *w, *phi;        /* [COLUMNS][n]: normal velocities and potentials of the motions */
  double *some;           /* [2][COLUMNS][n]: work array, for example for right-hand sides and solutions */
  bool solved, placed;    /* placed: the body is near a wall, so that the added mass depends on the position */
  double K[6][6], asymmetry, coarseness; /* K: the added mass about the centre of the panels */
};

const char *cb_potential_method_name(cb_potential_method method) {
  static const char *const names[] = {"best", "dense", "iterative", "hlu"};
  return names[method];
}

/* Fails for a body too thin for its panels. The check comes before the solution, because the equations of such a body
 * have a wrong solution that no later check would detect. */
static cb_status check_thickness(const cb_kirchhoff *k) {
  const cb_thickness *t = &k->thickness;
  if (t->mismatch <= 2) return CB_OK;
  const double *at = k->panels->centre[t->worst];
  return cb_fail(
      CB_ERROR_STEP,
      "the body is too thin for its %d panels: at face %d, (%g, %g, %g), it is %.2g thick, the face is %.2g "
      "wide, and the opposite face is shifted by %.2g: expected faces of about its thickness, or sides that are "
      "mirror images, or a sheet (an open surface) instead",
      cb_kirchhoff_solids(k), k->kept[t->worst] + 1, at[0], at[1], at[2], t->t, t->h, t->o);
}

static cb_status set_panels(cb_kirchhoff *k) {
  const double(*y)[3] = (const double(*)[3])k->y;
  const int(*corner)[3] = (const int(*)[3])k->corner;
  return k->panels ? cb_panels_move(k->panels, y, corner) : cb_panels_create(k->n, y, corner, &k->panels);
}

/* Places the panels for vertices x. The panels end inside the borders of sheets and the rims of thin bodies. */
static cb_status place_panels(cb_kirchhoff *k, const double (*x)[3]) {
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

/* Sets the centre of the panels, and the normal velocities of the six motions about it. */
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
    double m[MOTIONS];
    cb_cross3(y, p->normal[i], m);
    memcpy(m + 3, p->normal[i], 3 * sizeof *m);
    for (int a = 0; a < MOTIONS; a++) k->w[(size_t)a * (size_t)k->n + (size_t)i] = m[a];
    square += p->area[i] * cb_dot3(y, y);
  }
  k->radius = sqrt(square / area);
}

/* Moves the panels in a curved space. There the tensor is about the base point, for twists about the base point. */
static cb_status place_curved(cb_kirchhoff *k) {
  const cb_status status = cb_curved_flow_move(k->curved, (const double(*)[3])k->y, (const int(*)[3])k->corner);
  memset(k->centre, 0, sizeof k->centre);
  if (!status) cb_curved_flow_motions(k->curved, k->w);
  return status;
}

cb_status cb_kirchhoff_renew(cb_kirchhoff *k, const double (*x)[3], const double *start) {
  const size_t n = (size_t)k->n;
  memset(k->phi, 0, COLUMNS * n * sizeof *k->phi);
  if (start) memcpy(k->phi, start, MOTIONS * n * sizeof *k->phi);
  const cb_status status = place_panels(k, x);
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

static cb_status solve_equations(cb_kirchhoff *k, int columns, const double *w, double *phi) {
  if (k->curved) return cb_curved_flow_solve(k->curved, columns, w, phi);
  return k->sheet ? cb_sheet_solve(k->sheet, columns, w, phi) : cb_operator_solve(k->operator, columns, w, phi);
}

cb_status cb_kirchhoff_solve(cb_kirchhoff *k, int columns, const double *normal_velocity, double *phi) {
  const size_t n = (size_t)k->n, faces = (size_t)k->faces;
  for (int first = 0; first < columns; first += COLUMNS) {
    const int count = columns - first < COLUMNS ? columns - first : COLUMNS;
    double *w = k->some, *start = k->some + COLUMNS * n;
    memset(start, 0, (size_t)count * n * sizeof *start);
    for (int c = 0; c < count; c++)
      for (size_t i = 0; i < n; i++)
        w[(size_t)c * n + i] = normal_velocity[(size_t)(first + c) * faces + (size_t)k->kept[i]];
    const cb_status status = solve_equations(k, count, w, start);
    if (status) return status;
    for (int c = 0; c < count; c++) {
      double *to = phi + (size_t)(first + c) * faces;
      memset(to, 0, faces * sizeof *to);
      for (size_t i = 0; i < n; i++) to[k->kept[i]] = start[(size_t)c * n + i];
    }
  }
  return CB_OK;
}

/* --- create and free --- */

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
    return cb_fail(CB_ERROR_UNSUPPORTED, "sheets near a wall are not supported: expected closed parts, or no `wall`");
  k->n = p->n;
  k->corner = p->corner;
  memcpy(k->kept, p->kept, (size_t)p->n * sizeof *k->kept);
  for (int i = 0; i < p->n; i++) k->reached[p->kept[i]] = true;
  k->y = cb_arena_alloc(k->arena, (size_t)p->places, sizeof *k->y);
  return k->y ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d positions", p->places);
}

static cb_status check_curved(const cb_kirchhoff *k) {
  if (k->pieces)
    return cb_fail(CB_ERROR_UNSUPPORTED, "sheets in a curved space are not supported: expected closed parts");
  if (k->placed) return cb_fail(CB_ERROR_UNSUPPORTED, "a wall in a curved space is not supported: expected no `wall`");
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
  if (!status) status = place_panels(k, x);
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
  cb_kirchhoff *k = cb_arena_object(sizeof *k, "the potential flow around a body");
  if (!k) return CB_ERROR_MEMORY;
  const size_t size = COLUMNS * (size_t)faces;
  k->vertices = vertices;
  k->faces = faces;
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

/* --- the tensor about the centre of the panels, independent of the origin --- */

static double integral(const cb_kirchhoff *k, const double *phi, const double *with) {
  const double *A = k->area;
  double sum = 0;
  for (int i = 0; i < k->n; i++) sum -= phi[i] * with[i] * A[i];
  return sum;
}

static const double *motion(const cb_kirchhoff *k, int a) { return k->w + (size_t)a * (size_t)k->n; }

/* Checks two laws that hold for the tensor of any body: it is symmetric, and no energy is negative. The tensor violates
 * one of them clearly if the panels do not resolve the body or the solution is wrong. */
static cb_status check_tensor(const cb_kirchhoff *k, const double unit[6]) {
  double scaled[36];
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++)
      scaled[a * 6 + b] = k->K[a][b] / (unit[a] * unit[b]) + (a == b ? 0.01 + k->asymmetry : 0);
  const bool symmetric = k->asymmetry <= 0.1, positive = cb_cholesky(6, scaled, 0, scaled);
  if (symmetric && positive) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "the added mass of %d panels is %s (its relative raw asymmetry is %.2g): expected a surface that does "
                 "not intersect itself, and finer faces, or another method if the equations were not solved",
                 k->n, symmetric ? "not positive" : "not symmetric", k->asymmetry);
}

/* Adds each panel's area times its six potentials to mean[..][0..5] of its corners, and its area to mean[..][6].
 * mean[places][7] must be 0 at the start. */
static void average(const cb_kirchhoff *k, double (*mean)[7]) {
  for (int i = 0; i < k->n; i++)
    for (int c = 0; c < 3; c++) {
      double *at = mean[k->corner[i][c]];
      for (int a = 0; a < 6; a++) at[a] += k->area[i] * k->phi[(size_t)a * (size_t)k->n + (size_t)i];
      at[6] += k->area[i];
    }
}

/* Computes the coarseness (cb_kirchhoff_mass). The potential counts as 0 at the corners on borders of sheets, which
 * have indices from k->vertices on (potential/mesh_pieces.h). */
static cb_status find_coarseness(cb_kirchhoff *k, const double raw[6][6], const double unit[6]) {
  const size_t places = (size_t)(k->pieces ? k->pieces->places : k->vertices);
  double(*mean)[7] = calloc(places, sizeof *mean), K[6][6] = {{0}};
  if (!mean) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu vertices", places);
  average(k, mean);
  for (int i = 0; i < k->n; i++)
    for (int c = 0; c < 3; c++) {
      const double *at = mean[k->corner[i][c]];
      if (k->corner[i][c] >= k->vertices || !(at[6] > 0)) continue;
      for (int a = 0; a < 36; a++) K[a / 6][a % 6] -= at[a / 6] / at[6] * motion(k, a % 6)[i] * k->area[i] / 3;
    }
  free(mean);
  k->coarseness = 0;
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++) {
      const double change = (K[a][b] + K[b][a] - raw[a][b] - raw[b][a]) / 2;
      k->coarseness = fmax(k->coarseness, fabs(change) / (unit[a] * unit[b]));
    }
  return CB_OK;
}

static cb_status find_tensor(cb_kirchhoff *k) {
  double raw[6][6], unit[6], greatest = 0;
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++) raw[a][b] = integral(k, k->phi + (size_t)a * (size_t)k->n, motion(k, b));
  for (int a = 3; a < 6; a++) greatest = fmax(greatest, raw[a][a]);
  for (int a = 0; a < 6; a++) unit[a] = sqrt(greatest) * (a < 3 ? k->radius : 1);
  k->asymmetry = 0;
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++) {
      k->K[a][b] = (raw[a][b] + raw[b][a]) / 2;
      k->asymmetry = fmax(k->asymmetry, fabs(raw[a][b] - raw[b][a]) / (unit[a] * unit[b]));
    }
  const cb_status status = check_tensor(k, unit);
  return status ? status : find_coarseness(k, (const double(*)[6])raw, unit);
}

/* Sets the normal velocities w[n] of the panels for the velocities v of the vertices. */
static void set_shape(cb_kirchhoff *k, const double (*v)[3], double *w) {
  if (k->curved) {
    cb_curved_flow_shape(k->curved, (const double(*)[3])k->x, v, (const int(*)[3])k->corner, w);
    return;
  }
  for (int i = 0; i < k->n; i++) {
    const int *c = k->face[k->kept[i]];
    double mean[3];
    for (int d = 0; d < 3; d++) mean[d] = (v[c[0]][d] + v[c[1]][d] + v[c[2]][d]) / 3;
    w[i] = cb_dot3(mean, k->panels->normal[i]);
  }
}

/* Transforms k->K to out->K, and out->mu0 in place, from the centre c of the panels to the origin: K = X^T K_c X with X
 * = [[1, 0], [-hat(c), 1]], where hat(c) y = c × y. If the body is shifted, K therefore changes like the inertia of a
 * rigid body, up to round-off. */
static void carry(const cb_kirchhoff *k, cb_kirchhoff_mass *out) {
  double X[6][6] = {{0}}, KX[6][6] = {{0}}, hat[3][3] = {{0}}, mu[6] = {0};
  cb_add_hat3(hat, -1, k->centre);
  for (int i = 0; i < 3; i++) {
    X[i][i] = X[3 + i][3 + i] = 1;
    memcpy(X[3 + i], hat[i], sizeof hat[i]);
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int l = 0; l < 6; l++) KX[i][j] += k->K[i][l] * X[l][j];
  memset(out->K, 0, sizeof out->K);
  for (int i = 0; i < 6; i++)
    for (int l = 0; l < 6; l++) {
      for (int j = 0; j < 6; j++) out->K[i][j] += X[l][i] * KX[l][j];
      mu[i] += X[l][i] * out->mu0[l];
    }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < i; j++) out->K[i][j] = out->K[j][i] = (out->K[i][j] + out->K[j][i]) / 2;
  memcpy(out->mu0, mu, sizeof mu);
}

cb_status cb_kirchhoff_added_mass(cb_kirchhoff *k, const double (*v)[3], cb_kirchhoff_mass *out) {
  const size_t shape = MOTIONS * (size_t)k->n;
  cb_kirchhoff_mass mass = {.kinetic = 0};
  cb_status status = CB_OK;
  if (v) set_shape(k, v, k->w + shape);
  if (!k->solved)
    status = solve_equations(k, v ? COLUMNS : MOTIONS, k->w, k->phi);
  else if (v)
    status = solve_equations(k, 1, k->w + shape, k->phi + shape);
  if (!status && !k->solved) status = find_tensor(k);
  if (status) return status;
  k->solved = true;
  for (int a = 0; v && a < 6; a++) mass.mu0[a] = integral(k, k->phi + shape, motion(k, a));
  if (v) mass.kinetic = integral(k, k->phi + shape, k->w + shape) / 2;
  carry(k, &mass);
  mass.coarseness = k->coarseness;
  *out = mass;
  return CB_OK;
}

/* Sets G (cb_kirchhoff_form) for n motions of the shape, with normal velocities w and potentials phi, both [n][k->n].
 */
static void set_form(const cb_kirchhoff *k, int n, const double *w, const double *phi, double *G) {
  const size_t faces = (size_t)k->n;
  const int size = MOTIONS + n;
  cb_kirchhoff_mass mass = {.kinetic = 0};
  for (int i = -1; i < n; i++) {
    for (int a = 0; a < MOTIONS && i >= 0; a++) mass.mu0[a] = integral(k, phi + (size_t)i * faces, motion(k, a));
    carry(k, &mass);
    for (int a = 0; a < MOTIONS; a++) {
      for (int b = 0; b < MOTIONS && i < 0; b++) G[a * size + b] = mass.K[a][b];
      if (i >= 0) G[a * size + MOTIONS + i] = G[(MOTIONS + i) * size + a] = mass.mu0[a];
    }
    for (int j = 0; j <= i; j++)
      G[(MOTIONS + i) * size + MOTIONS + j] = G[(MOTIONS + j) * size + MOTIONS + i] =
          (integral(k, phi + (size_t)i * faces, w + (size_t)j * faces) +
           integral(k, phi + (size_t)j * faces, w + (size_t)i * faces)) /
          2;
  }
}

cb_status cb_kirchhoff_form(cb_kirchhoff *k, int n, const double (*v)[3], double *G) {
  const size_t faces = (size_t)k->n;
  cb_kirchhoff_mass mass;
  cb_status status = cb_kirchhoff_added_mass(k, NULL, &mass);
  if (status) return status;
  double *w = calloc((size_t)(n > 0 ? 2 * n : 1) * faces, sizeof *w);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for %d motions of %d faces", n, k->n);
  double *phi = w + (size_t)n * faces;
  for (int i = 0; i < n; i++) set_shape(k, v + (size_t)i * (size_t)k->vertices, w + (size_t)i * faces);
  for (int i = 0; i < n && !status; i += COLUMNS)
    status = solve_equations(k, n - i < COLUMNS ? n - i : COLUMNS, w + (size_t)i * faces, phi + (size_t)i * faces);
  if (!status) set_form(k, n, w, phi, G);
  free(w);
  return status;
}
