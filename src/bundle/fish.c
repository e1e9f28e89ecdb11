/* The energy of a chain of bodies in a perfect fluid: the equations of fish.h. Twists are (omega, v_x, v_y). The
 * columns of the form G are (v_x, v_y, omega) of the base, followed by the hinges. */
#include "bundle/fish.h"

#include <math.h>
#include <string.h>

enum { BODIES = CB_FISH_BODIES, HINGES = BODIES - 1, COLUMNS = 3 + HINGES };

typedef double twist[3];

/* The poses and twists at a shape, for n bodies and 3 + n - 1 columns. In the frame of the base: pose of each body,
 * position and sign of each hinge, twist tau of each hinge, and twist moved[hinge][body] that each hinge gives to
 * each body. In the frame of each body: its twist own[column][body], and the derivative change[hinge][column][body]
 * of this twist. */
typedef struct motions {
  double pose[BODIES][3], hinge[HINGES][2], sign[HINGES];
  twist tau[HINGES], own[COLUMNS * BODIES], change[HINGES * COLUMNS * BODIES], moved[HINGES * BODIES];
} motions;

void cb_fish_poses(const cb_fish *f, const double *r, double (*pose)[3]) {
  memset(pose[f->base], 0, sizeof *pose);
  for (int i = f->base + 1; i < f->bodies; i++) {
    const double *from = pose[i - 1], turn = from[0] + r[i - 1];
    pose[i][0] = turn;
    pose[i][1] = from[1] + f->front[i - 1] * cos(from[0]) - f->back[i] * cos(turn);
    pose[i][2] = from[2] + f->front[i - 1] * sin(from[0]) - f->back[i] * sin(turn);
  }
  for (int i = f->base - 1; i >= 0; i--) {
    const double *from = pose[i + 1], turn = from[0] - r[i];
    pose[i][0] = turn;
    pose[i][1] = from[1] + f->back[i + 1] * cos(from[0]) - f->front[i] * cos(turn);
    pose[i][2] = from[2] + f->back[i + 1] * sin(from[0]) - f->front[i] * sin(turn);
  }
}

/* Returns whether hinge k, which is between bodies k and k + 1, moves body i relative to the base. */
static bool carries(const cb_fish *f, int k, int i) { return k >= f->base ? i > k : i <= k; }

/* Transforms a twist from the frame of the base to the frame of a body. */
static void in_body(const double pose[3], const double w[3], double out[3]) {
  const double c = cos(pose[0]), s = sin(pose[0]), x = w[1] - w[0] * pose[2], y = w[2] + w[0] * pose[1];
  out[0] = w[0];
  out[1] = c * x + s * y;
  out[2] = c * y - s * x;
}

/* Computes the twist of body i in column c of the form, in the frame of the base. */
static void column(const cb_fish *f, const motions *m, int c, int i, double w[3]) {
  w[0] = c == 2;
  w[1] = c == 0;
  w[2] = c == 1;
  if (c >= 3) memcpy(w, carries(f, c - 3, i) ? m->tau[c - 3] : (twist){0}, sizeof(twist));
}

/* Computes the derivative, by the angle of hinge k, of the twist in column c of a body that this column moves, in
 * the frame of the base. It is 0 unless column c belongs to a hinge whose position changes with the angle of hinge
 * k. */
static void column_change(const cb_fish *f, const motions *m, int k, int c, double w[3]) {
  const int j = c - 3;
  memset(w, 0, sizeof(twist));
  if (c < 3 || j == k || (j >= f->base) != (k >= f->base) || (k >= f->base ? j < k : j > k)) return;
  const double x = m->hinge[j][0] - m->hinge[k][0], y = m->hinge[j][1] - m->hinge[k][1];
  w[1] = m->sign[j] * m->sign[k] * x;
  w[2] = m->sign[j] * m->sign[k] * y;
}

static void set_motions(const cb_fish *f, const double *r, bool derivatives, motions *m) {
  const int n = f->bodies, hinges = n - 1, columns = 3 + hinges;
  cb_fish_poses(f, r, m->pose);
  for (int k = 0; k < hinges; k++) {
    const double *p = m->pose[k], sign = k >= f->base ? 1 : -1, x = p[1] + f->front[k] * cos(p[0]),
                 y = p[2] + f->front[k] * sin(p[0]);
    m->hinge[k][0] = x;
    m->hinge[k][1] = y;
    m->sign[k] = sign;
    m->tau[k][0] = sign;
    m->tau[k][1] = sign * y;
    m->tau[k][2] = -sign * x;
    for (int i = 0; i < n; i++) memcpy(m->moved[k * n + i], carries(f, k, i) ? m->tau[k] : (twist){0}, sizeof(twist));
  }
  for (int c = 0; c < columns; c++)
    for (int i = 0; i < n; i++) {
      twist w;
      column(f, m, c, i, w);
      in_body(m->pose[i], w, m->own[c * n + i]);
      for (int k = 0; derivatives && k < hinges; k++) {
        double *out = m->change[(k * columns + c) * n + i], *t = m->moved[k * n + i];
        twist d = {0};
        if (c < 3 || carries(f, c - 3, i)) column_change(f, m, k, c, d);
        d[1] -= t[2] * w[0] - t[0] * w[2]; /* minus [tau, w] */
        d[2] -= t[0] * w[1] - t[1] * w[0];
        in_body(m->pose[i], d, out);
      }
    }
}

static double apply(const double T[3][3], const double *u, const double *v) {
  double sum = 0;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) sum += u[a] * T[a][b] * v[b];
  return sum;
}

/* Adds the inertia of each body and, without coupling, its added mass. */
static void add_own(const cb_fish *f, const motions *m, double *G, double *dG) {
  const int n = f->bodies, hinges = n - 1, columns = 3 + hinges;
  for (int i = 0; i < n; i++) {
    const cb_plane_body *body = f->body[i];
    double T[3][3];
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) T[a][b] = f->density[i] * body->mass[a][b] + (f->coupled ? 0 : body->added[a][b]);
    for (int p = 0; p < columns; p++)
      for (int q = 0; q < columns; q++) {
        const double *u = m->own[p * n + i], *v = m->own[q * n + i];
        G[p * columns + q] += apply(T, u, v);
        for (int k = 0; dG && k < hinges; k++)
          dG[(k * columns + p) * columns + q] +=
              apply(T, m->change[(k * columns + p) * n + i], v) + apply(T, u, m->change[(k * columns + q) * n + i]);
      }
  }
}

cb_status cb_fish_form(const cb_fish *f, cb_plane_flow *flow, const double *r, double *G, double *dG) {
  const int hinges = f->bodies - 1, columns = 3 + hinges, size = columns * columns;
  motions m;
  for (int k = 0; k < hinges; k++)
    if (!isfinite(r[k])) return cb_fail(CB_STEP_DOMAIN, "angle %d is %g: expected a finite number", k + 1, r[k]);
  set_motions(f, r, dG, &m);
  memset(G, 0, (size_t)size * sizeof *G);
  if (dG) memset(dG, 0, (size_t)(hinges * size) * sizeof *dG);
  if (flow) {
    const cb_status status = cb_plane_flow_solve(flow, (const double(*)[3])m.pose, columns, *m.own, G);
    if (status) return status;
    if (dG) cb_plane_flow_change(flow, hinges, *m.moved, *m.change, dG);
  }
  add_own(f, &m, G, dG);
  return CB_OK;
}
