/* Contacts of a gait with walls: rows of what it may not do, and the forces that a gradient asks of them. */
#include "optimum/contact.h"

#include "core/arena.h"
#include "numerics/small.h"
#include "optimum/cone.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* z and y of rows and gradients of size 1: below this they are 0. Beside their error, and beside a share of 1 that many
 * rows have. */
static const double nothing = 1e-6;

struct cb_gait_contacts_work {
  cb_arena *arena;
  cb_walls *walls;
  const cb_basis *basis;
  int n, room;
  double *A, *phi, *dds;      /* [room][unknowns], [room][functions], [room][n][n] */
  double *z, *y;              /* [room] */
  double *projected, *vector; /* [room][unknowns], [unknowns] */
  double *s, *ds, *second;    /* of all walls at one shape */
  int *item;                  /* [room] */
  bool *presses, *left;       /* [room] */
};

void cb_wall_name(const cb_walls *w, int k, size_t size, char *name) {
  const cb_gait_wall *wall = &w->wall[k];
  if (wall->variable >= 0)
    snprintf(name, size, "%.40s %s %.9g", w->bundle->shape[wall->variable], wall->sign > 0 ? ">=" : "<=", wall->at);
  else
    snprintf(name, size, "lines %d and %d apart", wall->line[0], wall->line[1]);
}

double cb_wall_slack(const cb_walls *w, int k) {
  return 1e-6 * (w->wall[k].variable < 0 ? w->size : fmax(1, fabs(w->wall[k].at)));
}

/* --- rows --- */

static void add_row(cb_gait_contacts *c, int item, const double *phi, const double *ds, const double *dds) {
  struct cb_gait_contacts_work *w = c->work;
  const int f = w->basis->functions, n = w->n, row = c->rows;
  if (row == w->room) return;
  for (int i = 0; i < n; i++)
    for (int a = 0; a < f; a++) w->A[row * c->unknowns + i * f + a] = ds[i] * phi[a];
  memcpy(w->phi + row * f, phi, (size_t)f * sizeof *phi);
  memcpy(w->dds + row * n * n, dds, (size_t)(n * n) * sizeof *dds);
  w->item[c->rows++] = item;
}

/* The normal of a leg with direction v at a corner of two terms, away from the wall; false where the leg leaves between
 * both of its sides. */
static bool leg(int n, const double (*df)[CB_SHAPE_MAX], const double (*ddf)[CB_SHAPE_MAX * CB_SHAPE_MAX],
                const double *v, double *ds, double *dds) {
  double share[2] = {cb_dot(n, df[1], v), -cb_dot(n, df[0], v)};
  if (!(share[0] * share[1] > 0)) return false;
  const double size = (share[0] < 0 ? -1 : 1) * hypot(share[0], share[1]);
  for (int i = 0; i < n; i++) ds[i] = (share[0] * df[0][i] + share[1] * df[1][i]) / size;
  for (int i = 0; i < n * n; i++) dds[i] = (share[0] * ddf[0][i] + share[1] * ddf[1][i]) / size;
  return true;
}

/* At a vertex, where two terms of a wall may meet. */
static cb_status add_vertex(cb_gait_contacts *c, int item, int k, const cb_gait *gait, double t, const double *phi) {
  static const double near = 1e-6, beside = 1e-7;
  struct cb_gait_contacts_work *w = c->work;
  const int n = w->n;
  double r[CB_SHAPE_MAX], df[2][CB_SHAPE_MAX], ddf[2][CB_SHAPE_MAX * CB_SHAPE_MAX], f[2] = {0, INFINITY};
  cb_gait_at(gait, t, r, NULL);
  cb_status status = cb_walls_at(w->walls, 0, r, w->s, w->ds, w->second);
  if (!status && w->walls->wall[k].variable < 0) {
    int term[2];
    status = cb_walls_leading(w->walls, k, r, term);
    for (int e = 0; !status && e < 2; e++) status = cb_walls_term(w->walls, k, term[e], r, &f[e], df[e], ddf[e]);
  }
  if (status) return status;
  if (!(fabs(f[1]) <= near * w->walls->size)) {
    add_row(c, item, phi, w->ds + k * n, w->second + k * n * n);
    return CB_OK;
  }
  for (int side = -1; side <= 1; side += 2) {
    double v[CB_SHAPE_MAX], ds[CB_SHAPE_MAX], dds[CB_SHAPE_MAX * CB_SHAPE_MAX];
    cb_gait_at(gait, t + side * beside, NULL, v);
    if (leg(n, df, ddf, v, ds, dds)) add_row(c, item, phi, ds, dds);
  }
  return CB_OK;
}

static cb_status values_at(struct cb_gait_contacts_work *w, const cb_gait *gait, double t) {
  double r[CB_SHAPE_MAX];
  cb_gait_at(gait, t, r, NULL);
  return cb_walls_at(w->walls, 0, r, w->s, w->ds, w->second);
}

/* Whether all nodes of an arc are at wall k. */
static bool along(struct cb_gait_contacts_work *w, const cb_gait *gait, int k, double from, double to) {
  const cb_basis *b = w->basis;
  for (int q = 0; q < b->nodes; q++) {
    if (b->time[q] < from || b->time[q] > to) continue;
    if (values_at(w, gait, b->time[q]) || !(w->s[k] <= cb_wall_slack(w->walls, k))) return false;
  }
  return true;
}

/* Every so many of its nodes, which are more than functions. */
static cb_status add_arc(cb_gait_contacts *c, int item, int k, const cb_gait *gait, double from, double to) {
  enum { EVERY = 3 };
  struct cb_gait_contacts_work *w = c->work;
  const cb_basis *b = w->basis;
  cb_status status = CB_OK;
  for (int q = 0; !status && q < b->nodes; q++) {
    if (b->time[q] < from || b->time[q] > to || q % EVERY) continue;
    status = values_at(w, gait, b->time[q]);
    if (!status) add_row(c, item, b->phi + q * b->functions, w->ds + k * w->n, w->second + k * w->n * w->n);
  }
  return status;
}

/* All arcs and vertices at wall k, those beside each other as one item. */
static cb_status add_wall(cb_gait_contacts *c, int k, const cb_gait *gait, double *phi) {
  struct cb_gait_contacts_work *w = c->work;
  const cb_basis *b = w->basis;
  const int before = c->count;
  int item = -1; /* that goes on */
  cb_status status = CB_OK;
  for (int arc = 0; !status && arc <= b->arcs; arc++) {
    const double t = b->end[arc];
    status = values_at(w, gait, t < 1 ? t : 0);
    const bool here = !status && w->s[k] <= cb_wall_slack(w->walls, k),
               on = here && arc < b->arcs && along(w, gait, k, t, b->end[arc + 1]);
    if (!here || (item < 0 && arc == b->arcs)) {
      item = -1;
      continue;
    }
    if (item < 0) {
      if (c->count == CB_CONTACTS_MAX)
        return cb_fail(CB_ERROR_UNSUPPORTED, "a gait at walls more than %d times", CB_CONTACTS_MAX);
      item = c->count++;
      c->item[item] = (cb_gait_contact){.wall = k, .from = t, .to = t};
    }
    c->item[item].to = t;
    if (arc < b->arcs) {
      cb_basis_at(b, t, phi, NULL);
      status = add_vertex(c, item, k, gait, t, phi);
    }
    if (!status && on) status = add_arc(c, item, k, gait, t, b->end[arc + 1]);
    if (!on) item = -1;
  }
  const int last = c->count - 1; /* over the end of the cycle */
  if (status || last <= before || c->item[before].from > 0 || c->item[last].to < 1) return status;
  c->item[before].from = c->item[last].from, c->item[before].to += 1;
  for (int row = 0; row < c->rows; row++)
    if (w->item[row] == last) w->item[row] = before;
  c->count--;
  return CB_OK;
}

cb_status cb_gait_contacts_create(cb_walls *walls, const cb_basis *basis, const cb_gait *gait, int unknowns,
                                  cb_gait_contacts **out) {
  cb_arena *arena = cb_arena_create();
  cb_gait_contacts *c = cb_arena_alloc(arena, 1, sizeof *c);
  struct cb_gait_contacts_work *w = cb_arena_alloc(arena, 1, sizeof *w);
  if (!c || !w) return cb_arena_free(arena), cb_fail(CB_ERROR_MEMORY, "no memory for contacts");
  const size_t n = (size_t)walls->n, count = (size_t)walls->count, f = (size_t)basis->functions;
  const size_t room = count * (size_t)(basis->nodes / 3 + 2 * basis->arcs + 2), u = (size_t)unknowns;
  *c = (cb_gait_contacts){.unknowns = unknowns, .work = w};
  *w = (struct cb_gait_contacts_work){.arena = arena, .walls = walls, .basis = basis, .n = walls->n, .room = (int)room};
  double *phi = cb_arena_alloc(arena, f, sizeof *phi);
  w->A = cb_arena_alloc(arena, room * u, sizeof *w->A);
  w->projected = cb_arena_alloc(arena, room * u, sizeof *w->projected);
  w->phi = cb_arena_alloc(arena, room * f, sizeof *w->phi);
  w->dds = cb_arena_alloc(arena, room * n * n, sizeof *w->dds);
  w->s = cb_arena_alloc(arena, count, sizeof *w->s);
  w->ds = cb_arena_alloc(arena, count * n, sizeof *w->ds);
  w->second = cb_arena_alloc(arena, count * n * n, sizeof *w->second);
  cb_arena_doubles(arena, room, &w->z, &w->y);
  w->vector = cb_arena_alloc(arena, u, sizeof *w->vector);
  w->item = cb_arena_alloc(arena, room, sizeof *w->item);
  w->presses = cb_arena_alloc(arena, room, sizeof *w->presses);
  w->left = cb_arena_alloc(arena, room, sizeof *w->left);
  cb_status status = cb_arena_lost(arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for contacts") : CB_OK;
  for (int k = 0; !status && k < walls->count; k++) status = add_wall(c, k, gait, phi);
  if (status) return cb_arena_free(arena), status;
  *out = c;
  return CB_OK;
}

void cb_gait_contacts_free(cb_gait_contacts *c) {
  if (c) cb_arena_free(c->work->arena);
}

/* --- forces --- */

/* x less its parts along `rows` orthonormal rows of Q. */
static void project(int rows, int n, const double *Q, double *x) {
  for (int again = 0; again < 2; again++)
    for (int k = 0; k < rows; k++) {
      const double dot = cb_dot(n, Q + k * n, x);
      for (int i = 0; i < n; i++) x[i] -= dot * Q[k * n + i];
    }
}

/* Rows of J that do not follow from others, orthonormal; returns how many. */
static int orthonormal(int rows, int n, const double *J, double *Q) {
  static const double dependent = 1e-11;
  double most = 0;
  int kept = 0;
  for (int k = 0; k < rows; k++) most = fmax(most, sqrt(cb_dot(n, J + k * n, J + k * n)));
  for (int k = 0; k < rows; k++) {
    double *row = Q + kept * n;
    memcpy(row, J + k * n, (size_t)n * sizeof *row);
    project(kept, n, Q, row);
    const double size = sqrt(cb_dot(n, row, row));
    if (!(size > dependent * most)) continue;
    for (int i = 0; i < n; i++) row[i] /= size;
    kept++;
  }
  return kept;
}

cb_status cb_gait_contacts_press(cb_gait_contacts *c, int rows, const double *J, const double *g) {
  struct cb_gait_contacts_work *w = c->work;
  const int u = c->unknowns;
  double *Q = cb_arena_alloc(w->arena, (size_t)(rows * u), sizeof *Q);
  if (!Q) return cb_fail(CB_ERROR_MEMORY, "no memory for forces of contacts");
  const int kept = orthonormal(rows, u, J, Q);
  memcpy(w->projected, w->A, (size_t)(c->rows * u) * sizeof *w->A);
  memcpy(w->vector, g, (size_t)u * sizeof *g);
  for (int k = 0; k < c->rows; k++) project(kept, u, Q, w->projected + k * u);
  project(kept, u, Q, w->vector);
  const double size = sqrt(cb_dot(u, w->vector, w->vector));
  const cb_status status = cb_cone_project(c->rows, u, w->projected, w->vector, w->z, w->y);
  if (status) return status;
  c->idle = false;
  for (int k = 0; k < c->count; k++) c->item[k].impulse = 0;
  for (int k = 0; k < c->rows; k++) {
    const double own = sqrt(cb_dot(u, w->projected + k * u, w->projected + k * u));
    const double z = w->z[k] * own, y = own > 0 ? w->y[k] / own : 0;
    w->presses[k] = z > y && z > nothing, w->left[k] = y > z && y > nothing;
    c->idle |= !w->presses[k] && !w->left[k];
    w->z[k] = w->presses[k] ? w->z[k] * size : 0;
    c->item[w->item[k]].impulse += w->z[k];
  }
  return CB_OK;
}

int cb_gait_contacts_rows(const cb_gait_contacts *c, double *J) {
  const struct cb_gait_contacts_work *w = c->work;
  const size_t u = (size_t)c->unknowns;
  int rows = 0;
  for (int k = 0; k < c->rows; k++)
    if (w->presses[k] || (c->all && !w->left[k])) memcpy(J + u * (size_t)rows++, w->A + u * (size_t)k, u * sizeof *J);
  return rows;
}

void cb_gait_contacts_bend(const cb_gait_contacts *c, int columns, double *H) {
  const struct cb_gait_contacts_work *w = c->work;
  const int n = w->n, f = w->basis->functions;
  for (int k = 0; k < c->rows; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const double bend = w->z[k] * w->dds[(k * n + i) * n + j], *phi = w->phi + k * f;
        for (int a = 0; bend != 0 && a < f; a++)
          for (int b = 0; b < f; b++) H[(i * f + a) * columns + j * f + b] -= bend * phi[a] * phi[b];
      }
}
