/* Kirchhoff's tensor about the centre of the panels, whatever the origin, then moved to it:
 *   K = X^T K_c X,  X = [[R^T, 0], [-R^T hat(c), R^T]]  for panels that were prepared, rotated by R, with their centre at c
 * so that shifts and rotations of a body change K as they do that of a rigid one, to round-off.
 */
#include "potential/kirchhoff.h"

#include "core/arena.h"
#include "numerics/small.h"
#include "numerics/vec3.h"
#include "potential/operator.h"
#include "potential/pieces.h"
#include "potential/sheet.h"
#include "potential/thin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOTIONS = 6, COLUMNS = MOTIONS + 1 };

struct cb_kirchhoff {
  cb_arena *arena;
  int vertices, faces, n; /* n: faces of pieces that point outwards, the others are cavities that no fluid reaches */
  double (*x)[3];         /* as prepared */
  int (*face)[3], *kept;  /* [n] */
  bool *reached;          /* [faces]: kept */
  int reference[3];       /* vertices far apart */
  double size, centre[3], radius;
  double R[3][3], at[3]; /* the prepared panels, moved: x' = R x + at */
  cb_panels *panels;
  cb_operator *operator;
  cb_thickness thickness;
  cb_pieces *pieces; /* of a body with sheets, whose sheets' panels are at y; NULL: of solids alone */
  cb_sheet *sheet;   /* then in place of the operator */
  double (*y)[3];
  double *w, *phi; /* [COLUMNS][n] */
  double *some;    /* [COLUMNS][n] for others' right-hand sides */
  bool solved, placed;       /* placed: before a wall, where no motion is as good as another */
  double K[6][6], asymmetry; /* about the centre, in the axes as prepared */
};

const char *cb_potential_method_name(cb_potential_method method) {
  static const char *const names[] = {"best", "dense", "iterative", "hlu"};
  return names[method];
}

/* --- pieces --- */

static int root_of(int *up, int i) {
  while (up[i] != i) i = up[i] = up[up[i]];
  return i;
}

/* Faces of the pieces, connected by vertices, whose volume is positive. */
static cb_status keep_outward(cb_kirchhoff *k) {
  int *up = malloc((size_t)k->vertices * sizeof *up);
  double *volume = calloc((size_t)k->vertices, sizeof *volume);
  if (!up || !volume) {
    free(up);
    free(volume);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the pieces of %d faces", k->faces);
  }
  for (int i = 0; i < k->vertices; i++) up[i] = i;
  for (int f = 0; f < k->faces; f++)
    for (int c = 1; c < 3; c++) up[root_of(up, k->face[f][c])] = root_of(up, k->face[f][0]);
  for (int f = 0; f < k->faces; f++) {
    const int piece = root_of(up, k->face[f][0]);
    double n2[3], from[3];
    cb_normal3(k->x[k->face[f][0]], k->x[k->face[f][1]], k->x[k->face[f][2]], n2);
    for (int c = 0; c < 3; c++) from[c] = k->x[k->face[f][0]][c] - k->x[piece][c];
    volume[piece] += cb_dot3(from, n2) / 6;
  }
  k->n = 0;
  for (int f = 0; f < k->faces; f++)
    if ((k->reached[f] = volume[root_of(up, k->face[f][0])] > 0)) k->kept[k->n++] = f;
  free(up);
  free(volume);
  if (k->n) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN, "no piece of the surface points outwards: the fluid would be inside of it");
}

/* --- places --- */

/* Axes of three points. */
static void axes_of(const double a[3], const double b[3], const double c[3], double e[3][3]) {
  double n[3];
  cb_normal3(a, b, c, n);
  const double size = sqrt(cb_dot3(n, n));
  double along[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  const double length = sqrt(cb_dot3(along, along));
  for (int i = 0; i < 3; i++) {
    e[0][i] = along[i] / length;
    e[2][i] = n[i] / size;
  }
  cb_cross3(e[2], e[0], e[1]);
}

static double from_line(const double a[3], const double b[3], const double x[3]) {
  double n[3];
  cb_normal3(a, b, x, n);
  return cb_dot3(n, n);
}

static double apart(const double a[3], const double b[3]) {
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return cb_dot3(d, d);
}

/* Vertices far apart, by which a rigid motion is told to round-off. */
static void choose_reference(cb_kirchhoff *k) {
  int *r = k->reference, first = k->face[0][0];
  r[0] = r[1] = r[2] = first;
  for (int i = 0; i < k->vertices; i++)
    if (apart(k->x[i], k->x[first]) > apart(k->x[r[0]], k->x[first])) r[0] = i;
  for (int i = 0; i < k->vertices; i++)
    if (apart(k->x[i], k->x[r[0]]) > apart(k->x[r[1]], k->x[r[0]])) r[1] = i;
  for (int i = 0; i < k->vertices; i++)
    if (from_line(k->x[r[0]], k->x[r[1]], k->x[i]) > from_line(k->x[r[0]], k->x[r[1]], k->x[r[2]])) r[2] = i;
  k->size = sqrt(apart(k->x[r[0]], k->x[r[1]]));
}

/* Whether x is the prepared body moved; then how. */
static bool moved_rigidly(cb_kirchhoff *k, const double (*x)[3]) {
  const int *r = k->reference;
  double was[3][3], is[3][3], R[3][3], at[3], turned[3];
  axes_of(k->x[r[0]], k->x[r[1]], k->x[r[2]], was);
  axes_of(x[r[0]], x[r[1]], x[r[2]], is);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) R[i][j] = is[0][i] * was[0][j] + is[1][i] * was[1][j] + is[2][i] * was[2][j];
  cb_apply3(R, k->x[r[0]], turned);
  for (int i = 0; i < 3; i++) at[i] = x[r[0]][i] - turned[i];
  const double far = fabs(x[r[0]][0]) + fabs(x[r[0]][1]) + fabs(x[r[0]][2]) + k->size, most = 1e-14 * far;
  for (int i = 0; i < k->vertices; i++) {
    cb_apply3(R, k->x[i], turned);
    for (int c = 0; c < 3; c++)
      if (!(fabs(turned[c] + at[c] - x[i][c]) <= most)) return false;
  }
  memcpy(k->R, R, sizeof R);
  memcpy(k->at, at, sizeof at);
  return true;
}

static void stay(cb_kirchhoff *k) {
  memset(k->R, 0, sizeof k->R);
  memset(k->at, 0, sizeof k->at);
  for (int i = 0; i < 3; i++) k->R[i][i] = 1;
}

/* The six motions about the centre of the panels, as normal velocities. */
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

static void place_kept(const cb_kirchhoff *k, int (*face)[3]) {
  for (int i = 0; i < k->n; i++) memcpy(face[i], k->face[k->kept[i]], sizeof *face);
}

/* Before anything is solved: the equations of such panels have a solution that nothing else tells to be wrong. */
static cb_status check_thickness(cb_kirchhoff *k) {
  cb_thickness *t = &k->thickness;
  *t = (cb_thickness){.mean = 1, .worst = -1};
  const int solids = cb_kirchhoff_solids(k);
  const cb_status status = solids ? cb_thickness_find(k->panels, solids, t) : CB_OK;
  if (status || t->mismatch <= 2) return status;
  const double *at = k->panels->centre[t->worst];
  return cb_fail(CB_ERROR_STEP,
                 "the body is too thin for its %d panels: at face %d, (%g, %g, %g), it is %.2g thick, the face %.2g "
                 "wide, and the one that faces it %.2g aside: expected faces of about its thickness, or sides that are "
                 "mirror images, or a sheet, an open surface, in its place",
                 solids, k->kept[t->worst] + 1, at[0], at[1], at[2], t->t, t->h, t->o);
}

static cb_status move_solids(cb_kirchhoff *k, const double (*x)[3]) {
  int(*face)[3] = malloc((size_t)k->n * sizeof *face);
  if (!face) return cb_fail(CB_ERROR_MEMORY, "no memory for %d faces", k->n);
  place_kept(k, face);
  const cb_status status = cb_panels_move(k->panels, x, (const int(*)[3])face);
  free(face);
  return status;
}

static cb_status place(cb_kirchhoff *k, const double (*x)[3]) {
  cb_status status;
  if (k->pieces) {
    cb_pieces_place(k->pieces, x, k->y);
    status = cb_panels_move(k->panels, (const double(*)[3])k->y, (const int(*)[3])k->pieces->corner);
  } else
    status = move_solids(k, x);
  if (!status) status = check_thickness(k);
  if (status) return status;
  memcpy(k->x, x, (size_t)k->vertices * sizeof *k->x);
  choose_reference(k);
  stay(k);
  set_motions(k);
  if (k->sheet)
    cb_sheet_renew(k->sheet);
  else
    cb_operator_renew(k->operator);
  k->solved = false;
  return CB_OK;
}

cb_status cb_kirchhoff_move(cb_kirchhoff *k, const double (*x)[3]) {
  return !k->placed && moved_rigidly(k, x) ? CB_OK : place(k, x);
}

cb_status cb_kirchhoff_renew(cb_kirchhoff *k, const double (*x)[3], const double *start) {
  const size_t n = (size_t)k->n;
  memset(k->phi, 0, COLUMNS * n * sizeof *k->phi);
  if (start) memcpy(k->phi, start, MOTIONS * n * sizeof *k->phi);
  return place(k, x);
}

static cb_status solve(cb_kirchhoff *k, int columns, const double *w, double *phi) {
  return k->sheet ? cb_sheet_solve(k->sheet, columns, w, phi) : cb_operator_solve(k->operator, columns, w, phi);
}

/* --- the tensor --- */

static double integral(const cb_kirchhoff *k, const double *phi, const double *with) {
  const double *A = k->panels->area;
  double sum = 0;
  for (int i = 0; i < k->n; i++) sum -= phi[i] * with[i] * A[i];
  return sum;
}

static const double *motion(const cb_kirchhoff *k, int a) { return k->w + (size_t)a * (size_t)k->n; }

/* Laws of the tensor of whatever body: symmetric, and no energy below 0. Where panels do not resolve it, or the solution
 * is wrong, they fail by far. */
static cb_status check_tensor(const cb_kirchhoff *k, const double unit[6]) {
  double scaled[36];
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++)
      scaled[a * 6 + b] = k->K[a][b] / (unit[a] * unit[b]) + (a == b ? 0.01 + k->asymmetry : 0);
  const bool symmetric = k->asymmetry <= 0.1, positive = cb_cholesky(6, scaled, 0, scaled);
  if (symmetric && positive) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "the added mass of %d panels is %s (its raw asymmetry is %.2g of it): finer faces may resolve the "
                 "body, another method tells whether the equations were solved; a surface that cuts itself has none",
                 k->n, symmetric ? "not positive" : "not symmetric", k->asymmetry);
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
  return check_tensor(k, unit);
}

/* X, and out = X^T in */
static void moved_by(const cb_kirchhoff *k, double X[6][6]) {
  double c[3], hat[3][3] = {{0}};
  cb_apply3(k->R, k->centre, c);
  for (int i = 0; i < 3; i++) c[i] += k->at[i];
  cb_add_hat3(hat, -1, c);
  memset(X, 0, 36 * sizeof(double));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      X[i][j] = X[3 + i][3 + j] = k->R[j][i];
      for (int l = 0; l < 3; l++) X[3 + i][j] += k->R[l][i] * hat[l][j];
    }
}

static void move_tensor(const cb_kirchhoff *k, cb_kirchhoff_mass *out) {
  double X[6][6], KX[6][6] = {{0}}, mu[6] = {0};
  moved_by(k, X);
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

/* Normal velocities of the shape's motion, in the axes as prepared. */
static void set_shape(cb_kirchhoff *k, const double (*v)[3], double *w) {
  for (int i = 0; i < k->n; i++) {
    const int *c = k->face[k->kept[i]];
    double mean[3], turned[3];
    for (int d = 0; d < 3; d++) mean[d] = (v[c[0]][d] + v[c[1]][d] + v[c[2]][d]) / 3;
    cb_apply3_transposed(k->R, mean, turned);
    w[i] = cb_dot3(turned, k->panels->normal[i]);
  }
}

cb_status cb_kirchhoff_added_mass(cb_kirchhoff *k, const double (*v)[3], cb_kirchhoff_mass *out) {
  const size_t shape = MOTIONS * (size_t)k->n;
  cb_kirchhoff_mass mass = {.kinetic = 0};
  cb_status status = CB_OK;
  if (v) set_shape(k, v, k->w + shape);
  if (!k->solved)
    status = solve(k, v ? COLUMNS : MOTIONS, k->w, k->phi);
  else if (v)
    status = solve(k, 1, k->w + shape, k->phi + shape);
  if (!status && !k->solved) status = find_tensor(k);
  if (status) return status;
  k->solved = true;
  for (int a = 0; v && a < 6; a++) mass.mu0[a] = integral(k, k->phi + shape, motion(k, a));
  if (v) mass.kinetic = integral(k, k->phi + shape, k->w + shape) / 2;
  move_tensor(k, &mass);
  *out = mass;
  return CB_OK;
}

/* Columns of the shape's motions in w, their potentials in phi, both [n][k->n]. */
static void set_form(const cb_kirchhoff *k, int n, const double *w, const double *phi, double *G) {
  const size_t faces = (size_t)k->n;
  const int size = MOTIONS + n;
  cb_kirchhoff_mass mass = {.kinetic = 0};
  for (int i = -1; i < n; i++) {
    for (int a = 0; a < MOTIONS && i >= 0; a++) mass.mu0[a] = integral(k, phi + (size_t)i * faces, motion(k, a));
    move_tensor(k, &mass);
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
  double *w = calloc((size_t)(n > 0 ? 2 * n : 1) * faces, sizeof *w), *phi = w + (size_t)n * faces;
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for %d motions of %d faces", n, k->n);
  for (int i = 0; i < n; i++) set_shape(k, v + (size_t)i * (size_t)k->vertices, w + (size_t)i * faces);
  for (int i = 0; i < n && !status; i += COLUMNS)
    status = solve(k, n - i < COLUMNS ? n - i : COLUMNS, w + (size_t)i * faces, phi + (size_t)i * faces);
  if (!status) set_form(k, n, w, phi, G);
  free(w);
  return status;
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
    const cb_status status = solve(k, count, w, start);
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

static cb_status fill_solids(cb_kirchhoff *k, const double (*x)[3], const cb_kirchhoff_options *options) {
  cb_status status = keep_outward(k);
  int(*kept)[3] = status ? NULL : malloc((size_t)k->n * sizeof *kept);
  if (!status && !kept) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d faces", k->n);
  if (!status) place_kept(k, kept);
  if (!status) status = cb_panels_create(k->n, x, (const int(*)[3])kept, &k->panels);
  free(kept);
  if (!status) status = check_thickness(k);
  return status ? status : cb_operator_create(k->panels, options, &k->operator);
}

static cb_status fill_sheets(cb_kirchhoff *k, const double (*x)[3], const cb_kirchhoff_options *options) {
  const cb_pieces *p = k->pieces;
  if (k->placed)
    return cb_fail(CB_ERROR_UNSUPPORTED, "sheets before a wall are not solved: expected closed parts, or no `wall`");
  k->n = p->n;
  memcpy(k->kept, p->kept, (size_t)p->n * sizeof *k->kept);
  k->y = cb_arena_alloc(k->arena, (size_t)p->places, sizeof *k->y);
  if (!k->y) return cb_fail(CB_ERROR_MEMORY, "no memory for %d places", p->places);
  cb_pieces_place(p, x, k->y);
  cb_status status = cb_panels_create(p->n, (const double(*)[3])k->y, (const int(*)[3])p->corner, &k->panels);
  if (!status) status = check_thickness(k);
  return status ? status : cb_sheet_create(k->panels, p->solids, options, &k->sheet);
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
  if (!status) status = k->pieces ? fill_sheets(k, x, options) : fill_solids(k, x, options);
  if (status) return status;
  choose_reference(k);
  stay(k);
  set_motions(k);
  return CB_OK;
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
  const size_t size = COLUMNS * (size_t)faces;
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
  cb_pieces_free(k->pieces);
  cb_panels_free(k->panels);
  cb_arena_free(k->arena);
}

cb_kirchhoff_report cb_kirchhoff_report_of(const cb_kirchhoff *k) {
  const cb_operator_report r = k->sheet ? cb_sheet_report_of(k->sheet) : cb_operator_report_of(k->operator);
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
