/* Two to eight rigid bodies in a perfect fluid in the plane, hinged in a chain (equations: bundle/fish.h).
 *
 * The x axis of a body is along it, towards its head (for a joukowski profile: its nose); the hinge to the next body is
 * at the head. Bodies and base are counted from 1. The key `ellipse` is [a, b], the semi-axes along and across the
 * body; `joukowski` is [length, bulge, tail] of potential/plane_flow.h; `density` is relative to the fluid. `hinges` is
 * the distance of a hinge from the ends of its two bodies, one number for all hinges or one per hinge. Units: radians,
 * lengths. Evaluation returns CB_STEP_DOMAIN if bodies overlap, or are closer to each other than `nodes` points per
 * body can resolve. Without coupling bodies may overlap. Second derivatives come from differences.
 *
 * Twists are (omega, v_x, v_y). The columns of the form G are (v_x, v_y, omega) of the base, followed by the hinges.
 */
#include "bundle/fish.h"

#include "bundle/bundle_private.h"
#include "bundle/chain.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the energy of the bodies and of the fluid --- */

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

/* Computes the twist of body i, in the frame of the base, if the velocity of column c of the form is 1 and the
 * velocities of all other columns are 0. */
static void column(const cb_fish *f, const motions *m, int c, int i, double w[3]) {
  w[0] = c == 2;
  w[1] = c == 0;
  w[2] = c == 1;
  if (c >= 3) memcpy(w, carries(f, c - 3, i) ? m->tau[c - 3] : (twist){0}, sizeof(twist));
}

/* Let w be the twist that column c of the form gives to a body. Computes the derivative of w by the angle of hinge k,
 * in the frame of the base. It is 0 unless column c belongs to a hinge whose position changes with the angle of hinge
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

/* Adds the inertia of each body and, without coupling, its added mass to G and dG. */
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

/* --- the class --- */

typedef struct options {
  int nodes, base;
  bool coupling;
  const cb_node *bodies, *hinges;
} options;

static const cb_param params[] = {
    {"bodies", CB_PARAM_NODE, offsetof(options, bodies), "", "", "", NULL,
     "list of {ellipse: [a, b], density: 1} or {joukowski: [length, bulge, tail]}; default: three ellipses [1, 0.1]"},
    {"hinges", CB_PARAM_NODE, offsetof(options, hinges), "", "length", "", NULL,
     "distance from the ends of the bodies to the hinge, or a list with one per hinge; default: 0.1"},
    {"coupling", CB_PARAM_BOOL, offsetof(options, coupling), "true", "", "", NULL,
     "false: the flow around a body does not act on the other bodies"},
    {"nodes", CB_PARAM_INT, offsetof(options, nodes), "64", "", "[8, 1024]", NULL, "nodes per body, an even number"},
    {"base", CB_PARAM_INT, offsetof(options, base), "0", "", ">= 0", NULL,
     "body that carries the frame; 0: the middle body"},
    {0},
};

typedef struct body {
  double density;
  const cb_node *ellipse, *joukowski;
} body;

static const cb_param body_params[] = {
    {"ellipse", CB_PARAM_NODE, offsetof(body, ellipse), "", "length", "", NULL, "semi-axes [a, b]"},
    {"joukowski", CB_PARAM_NODE, offsetof(body, joukowski), "", "length", "", NULL, "[length, bulge, tail]"},
    {"density", CB_PARAM_REAL, offsetof(body, density), "1", "", ">= 0", NULL, "density relative to the fluid"},
    {0},
};

typedef struct swimmer {
  cb_fish fish;
  int curves;
  cb_plane_curve curve[BODIES];
  cb_plane_body *own[BODIES];
  int (*line)[2];
  cb_spare work; /* work arrays of cb_plane_flow */
} swimmer;

/* --- reading --- */

static cb_status read_curve(const cb_node *node, const body *p, cb_plane_curve *curve, double *half) {
  const cb_node *list = p->ellipse ? p->ellipse : p->joukowski;
  double x[3];
  if (!p->ellipse == !p->joukowski)
    return cb_node_fail(node, "bodies: expected {ellipse: [a, b]} or {joukowski: [length, bulge, tail]}");
  if (cb_node_reals(list, p->ellipse ? 2 : 3, x))
    return cb_node_fail(list, "%s: expected %s", p->ellipse ? "ellipse" : "joukowski",
                        p->ellipse ? "[a, b], 2 numbers" : "[length, bulge, tail], 3 numbers");
  if (p->ellipse && !(x[0] > 0 && x[1] > 0)) return cb_node_fail(list, "ellipse: expected semi-axes above 0");
  if (!p->ellipse && !(x[0] > 0 && x[1] >= 0 && x[2] >= 0 && x[1] + x[2] > 0))
    return cb_node_fail(list,
                        "joukowski: expected length > 0, bulge >= 0 and tail >= 0, and not both bulge and tail 0");
  *half = p->ellipse ? x[0] : x[0] / 2;
  *curve = p->ellipse ? cb_plane_ellipse(x[0], x[1]) : cb_plane_joukowski(x[0], x[1], x[2]);
  return CB_OK;
}

/* Adds body i with this outline; bodies with equal outlines share one cb_plane_body. */
static cb_status add_body(swimmer *own, const cb_node *node, const cb_plane_curve *curve, int nodes, int i) {
  int k = 0;
  while (k < own->curves && memcmp(&own->curve[k], curve, sizeof *curve) != 0) k++;
  if (k == own->curves) {
    const cb_status status = cb_plane_body_create(curve, nodes, &own->own[k]);
    if (status) return status == CB_ERROR_MEMORY || !node ? status : cb_node_fail(node, "bodies: %s", cb_error_text());
    own->curve[own->curves++] = *curve;
  }
  own->fish.body[i] = own->own[k];
  return CB_OK;
}

static cb_status read_hinges(const cb_node *node, int hinges, double *gap) {
  cb_status status = CB_OK;
  for (int k = 0; k < hinges; k++) gap[k] = 0.1;
  if (!node) return CB_OK;
  if (node->kind == CB_NODE_LIST)
    status = cb_node_reals(node, (size_t)hinges, gap);
  else {
    status = cb_node_real(node, gap);
    for (int k = 1; k < hinges; k++) gap[k] = gap[0];
  }
  for (int k = 0; !status && k < hinges; k++)
    if (!(gap[k] > 0)) status = CB_ERROR_INPUT;
  return status ? cb_node_fail(node, "hinges: expected a length above 0, or a list of %d", hinges) : CB_OK;
}

/* Reads body i, and sets *half to half its length. If node is NULL, the body is an ellipse with semi-axes 1 and 0.1. */
static cb_status read_body(swimmer *own, const cb_node *node, int nodes, int i, double *half) {
  cb_plane_curve curve = cb_plane_ellipse(1, 0.1);
  cb_status status = CB_OK;
  body p = {.density = 1};
  *half = 1;
  if (node && node->kind != CB_NODE_MAP) return cb_node_fail(node, "bodies: expected {ellipse: [a, b], density: 1}");
  if (node) status = cb_params_bind(body_params, node, node, NULL, 0, &p);
  if (node && !status) status = read_curve(node, &p, &curve, half);
  if (!status) status = add_body(own, node, &curve, nodes, i);
  own->fish.density[i] = p.density;
  return status;
}

static cb_status read(swimmer *own, const options *given) {
  const cb_node *list = given->bodies;
  double half[BODIES], gap[BODIES];
  cb_fish *f = &own->fish;
  if (given->nodes % 2) return cb_fail(CB_ERROR_ARGUMENT, "nodes: %d, expected an even number", given->nodes);
  if (list && (list->kind != CB_NODE_LIST || list->count < 2 || list->count > BODIES))
    return cb_node_fail(list, "bodies: expected a list of 2 to %d bodies", BODIES);
  f->bodies = list ? (int)list->count : 3;
  f->coupled = given->coupling;
  if (given->base > f->bodies)
    return cb_fail(CB_ERROR_ARGUMENT, "base: %d: expected a body from 1 to %d, or 0", given->base, f->bodies);
  f->base = given->base ? given->base - 1 : (f->bodies - 1) / 2;
  cb_status status = CB_OK;
  for (int i = 0; !status && i < f->bodies; i++)
    status = read_body(own, list ? list->items[i] : NULL, given->nodes, i, &half[i]);
  if (!status) status = read_hinges(given->hinges, f->bodies - 1, gap);
  for (int k = 0; !status && k + 1 < f->bodies; k++) {
    f->front[k] = half[k] + gap[k];
    f->back[k + 1] = -half[k + 1] - gap[k];
  }
  return status;
}

/* --- evaluation --- */

static cb_status form(const cb_bundle *b, const double *r, double *G, double *dG) {
  swimmer *own = b->self;
  const cb_fish *f = &own->fish;
  if (!f->coupled) return cb_fish_form(f, NULL, r, G, dG);
  cb_plane_flow *w = cb_spare_take(&own->work);
  if (!w) {
    const cb_status status = cb_plane_flow_create(f->bodies, f->body, 3 + b->n, b->n, &w);
    if (status) return status;
  }
  const cb_status status = cb_fish_form(f, w, r, G, dG);
  if (!cb_spare_leave(&own->work, w)) cb_plane_flow_free(w);
  return status;
}

static cb_status connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  double G[COLUMNS * COLUMNS], dG[(BODIES - 1) * COLUMNS * COLUMNS];
  const bool derivatives = dA || dM;
  const cb_status status = form(b, r, G, derivatives ? dG : NULL);
  return status ? status : cb_form_reduce(b->group, b->n, G, derivatives ? dG : NULL, A, dA, M, dM);
}

static cb_status plot(const cb_bundle *b, const double *r, const double *g, double (*x)[3]) {
  const cb_fish *f = &((const swimmer *)b->self)->fish;
  double pose[BODIES][3];
  cb_fish_poses(f, r, pose);
  for (int i = 0; i < f->bodies; i++) {
    const double turn = g[2] + pose[i][0], c = cos(turn), s = sin(turn),
                 left = g[0] + cos(g[2]) * pose[i][1] - sin(g[2]) * pose[i][2],
                 up = g[1] + sin(g[2]) * pose[i][1] + cos(g[2]) * pose[i][2];
    for (int k = 0; k < f->body[i]->n; k++, x++) {
      const double p = f->body[i]->x[k], q = f->body[i]->y[k];
      (*x)[0] = left + c * p - s * q;
      (*x)[1] = up + s * p + c * q;
      (*x)[2] = 0;
    }
  }
  return CB_OK;
}

/* --- creation --- */

static void destroy(cb_bundle *b) {
  swimmer *own = b->self;
  if (!own) return;
  for (cb_plane_flow *w; (w = cb_spare_take(&own->work));) cb_plane_flow_free(w);
  for (int k = 0; k < own->curves; k++) cb_plane_body_free(own->own[k]);
  free(own->line);
  free(own);
  b->self = NULL;
}

static cb_status draw(cb_bundle *b, swimmer *own) {
  const cb_fish *f = &own->fish;
  for (int i = 0; i < f->bodies; i++) b->points += f->body[i]->n;
  own->line = malloc((size_t)b->points * sizeof *own->line);
  if (!own->line) return cb_fail(CB_ERROR_MEMORY, "no memory for a bundle");
  int(*line)[2] = own->line;
  for (int i = 0, first = 0; i < f->bodies; first += f->body[i++]->n)
    for (int k = 0, n = f->body[i]->n; k < n; k++, line++) {
      (*line)[0] = first + k;
      (*line)[1] = first + (k + 1) % n;
    }
  b->lines = b->points;
  b->line = (const int(*)[2])own->line;
  return CB_OK;
}

static cb_status init(cb_bundle *b, const void *given) {
  swimmer *own = b->self = calloc(1, sizeof *own);
  if (!own) return cb_fail(CB_ERROR_MEMORY, "no memory for a bundle");
  const cb_status status = read(own, given);
  if (status) return status;
  b->group = cb_group_find("se2");
  b->in_perfect_fluid = true;
  b->n = own->fish.bodies - 1;
  for (int k = 0; k < b->n; k++) b->shape[k] = cb_chain_names[k];
  return draw(b, own);
}

const cb_bundle_class cb_bundle_perfect_fish = {
    .name = "perfect_fish",
    .title = "hinged bodies in a perfect fluid",
    .doc = "a chain of bodies in a perfect fluid in the plane, without momentum; the fibre is the pose of the base",
    .params = params,
    .params_size = sizeof(options),
    .resistance = CB_RESISTANCE_INERTIA,
    .init = init,
    .destroy = destroy,
    .connection = connection,
    .form = form,
    .plot = plot,
};
