/* MuJoCo's inertia model: the drag of the box that has a body's mass and inertia, about the centre of mass in its
 * principal axes. M is the mass and I_i the principal moments, rho and mu are the density and viscosity of the fluid,
 * and v and w the velocity and angular velocity relative to the fluid:
 *
 *   h_i = (3/(2 M) (I_j + I_k - I_i))^(1/2): half the sides of the box,  h their mean,  f and g: force and torque
 *   drag      f_i = -2 rho h_j h_k |v_i| v_i,  g_i = -(rho/2) h_i (h_j^4 + h_k^4) |w_i| w_i
 *   viscous   f = -6 pi mu h v,  g = -8 pi mu h^3 w
 *
 * (i, j, k) is (x, y, z) or a cyclic permutation of it. Source: MuJoCo's documentation, "Fluid forces", and its code
 * (3.14); version 2.2 has a lower bound of 1e-15 for I_j + I_k - I_i. The mass is the mass at time 0.
 */

#include "core/failure.h"
#include "fluid/ellipsoid.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct mujoco_inertia_box {
  double viscosity;
  int compat;
  const cb_node *boxes;
} mujoco_inertia_box;

static const cb_param params[] = {
    {"viscosity", CB_PARAM_REAL, offsetof(mujoco_inertia_box, viscosity), "0", "Pa s", ">= 0", NULL,
     "viscosity of the fluid"},
    {"boxes", CB_PARAM_NODE, offsetof(mujoco_inertia_box, boxes), "", "", "", NULL,
     "list of {mass: .., inertia: [Ixx, Iyy, Izz], position: [..], quaternion: [..], part: NAME} for bodies that are "
     "welded into one, or move with parts of its surface; default: the box of the body's own inertia"},
    {"compat", CB_PARAM_CHOICE, offsetof(mujoco_inertia_box, compat), "3.14", "", "", "3.14|2.2",
     "version of MuJoCo whose forces are used"},
    {0},
};

typedef struct box {
  double h[3], mean;
  double axis[3][3]; /* the rows are the axes of the box */
} box;

typedef struct boxes {
  int n;
  box *of;
  double (*place)[3];    /* [n]: the centre of mass of each box */
  int *part;             /* [n]: the part of the surface with which each box moves, or -1 */
  const cb_node **named; /* [n]: the node that names the part of each box, or NULL */
} boxes;

static void release(const cb_fluid_model *m, void *body) {
  boxes *own = body;
  (void)m;
  if (!own) return;
  free(own->of);
  free(own->place);
  free(own->part);
  free(own->named);
  free(own);
}

static void take(double mass, const double I[3], bool floored, box *out) {
  for (int i = 0; i < 3; i++) {
    const double rest = I[(i + 1) % 3] + I[(i + 2) % 3] - I[i];
    out->h[i] = sqrt(1.5 / mass * fmax(rest, floored ? 1e-15 : 0));
    out->mean += out->h[i] / 3;
  }
}

/* --- boxes from the scenario --- */

typedef struct given {
  double mass;
  const cb_node *inertia, *position, *quaternion, *part;
} given;

static const cb_param table[] = {
    {"mass", CB_PARAM_REAL, offsetof(given, mass), NULL, "kg", "> 0", NULL, ""},
    {"inertia", CB_PARAM_NODE, offsetof(given, inertia), NULL, "kg m2", "", NULL,
     "[Ixx, Iyy, Izz], moments about its centre"},
    {"position", CB_PARAM_NODE, offsetof(given, position), "", "m", "", NULL, "position of its centre in the body"},
    {"quaternion", CB_PARAM_NODE, offsetof(given, quaternion), "", "", "", NULL,
     "[w, x, y, z], orientation of its axes"},
    {"part", CB_PARAM_NODE, offsetof(given, part), "", "", "", NULL, "part of the surface with which it moves"},
    {0},
};

static cb_status read_box(const cb_node *node, const cb_surface *surface, bool floored, boxes *all, int i) {
  box *out = &all->of[i];
  given p;
  double I[3], J[3][3] = {{0}}, R[3][3];
  bool turned;
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "boxes: expected {mass: .., inertia: [..]}");
  cb_status status = cb_params_bind(table, node, node, NULL, 0, &p);
  if (!status) status = cb_node_reals(p.inertia, 3, I);
  if (status) return status;
  for (int k = 0; k < 3; k++) J[k][k] = I[k];
  status = cb_inertia_check((const double(*)[3])J);
  if (status == CB_ERROR_MEMORY) return status;
  if (status)
    return cb_node_fail(p.inertia, "boxes: expected the moments of inertia of a body, found %g, %g, %g", I[0], I[1],
                        I[2]);
  if (p.position) status = cb_node_reals(p.position, 3, all->place[i]);
  if (!status) status = cb_axes_read(p.quaternion, "boxes", R, &turned);
  if (!status) status = cb_part_read(p.part, surface, &all->part[i]);
  if (status) return status;
  all->named[i] = p.part;
  for (int k = 0; k < 9; k++) out->axis[k / 3][k % 3] = R[k % 3][k / 3];
  take(p.mass, I, floored, out);
  return CB_OK;
}

static cb_status read_boxes(const cb_node *list, const cb_surface *surface, bool floored, boxes *out) {
  cb_errors errors = cb_errors_begin();
  for (int i = 0; i < out->n; i++)
    cb_errors_add(&errors, list->items[i], read_box(list->items[i], surface, floored, out, i));
  return cb_errors_end(&errors);
}

/* --- the box of the body's own inertia --- */

static cb_status of_body(const cb_mass *mass, bool floored, boxes *out) {
  double I[3];
  if (!(mass->mass > 0))
    return cb_fail(CB_ERROR_DOMAIN, "the fluid model mujoco_inertia_box is for bodies with a mass, found %g kg",
                   mass->mass);
  const cb_status status = cb_mass_principal(mass, I, out->of->axis);
  if (status) return status;
  memcpy(out->place[0], mass->centre, sizeof mass->centre);
  out->part[0] = -1;
  take(mass->mass, I, floored, out->of);
  return CB_OK;
}

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  const mujoco_inertia_box *p = m->params;
  const bool floored = p->compat == 1;
  if (p->boxes && (p->boxes->kind != CB_NODE_LIST || p->boxes->count == 0))
    return cb_node_fail(p->boxes, "boxes: expected a list of {mass: .., inertia: [..]}");
  const size_t n = p->boxes ? p->boxes->count : 1;
  boxes *own = calloc(1, sizeof *own);
  if (own)
    *own = (boxes){(int)n, calloc(n, sizeof *own->of), calloc(n, sizeof *own->place), calloc(n, sizeof *own->part),
                   calloc(n, sizeof *own->named)};
  cb_status status = own && own->of && own->place && own->part && own->named
                         ? CB_OK
                         : cb_fail(CB_ERROR_MEMORY, "no memory for %zu boxes", n);
  if (!status) status = p->boxes ? read_boxes(p->boxes, surface, floored, own) : of_body(mass, floored, own);
  if (status)
    release(m, own);
  else
    *body = own;
  return status;
}

static int places(const cb_fluid_model *m, const void *body, const double (**at)[3]) {
  const boxes *own = body;
  (void)m;
  *at = (const double(*)[3])own->place;
  return own->n;
}

static int part_of(const cb_fluid_model *m, const void *body, int place, const cb_node **named) {
  const boxes *own = body;
  (void)m;
  *named = own->named[place];
  return own->part[place];
}

/* Adds the drag F = -(linear + quadratic |V_n|) V_n n about or along the axis n, with V_n = <n, V>, and its derivative
 * in V to the columns of dF from `column` on. */
static void along(const double n[3], double linear, double quadratic, const double V[3], double F[3], double (*dF)[6],
                  int column) {
  const double own = cb_dot3(n, V), size = fabs(own);
  for (int i = 0; i < 3; i++) {
    F[i] -= (linear + quadratic * size) * own * n[i];
    for (int j = 0; dF && j < 3; j++) dF[i][column + j] -= (linear + 2 * quadratic * size) * n[i] * n[j];
  }
}

static cb_status on_twist(const cb_fluid_model *m, const void *body, int place, double density, const double V[6],
                          double (*F)[6], double (*dF)[6][6]) {
  const double viscosity = ((const mujoco_inertia_box *)m->params)->viscosity;
  const box *own = ((const boxes *)body)->of + place;
  const double *h = own->h, r = own->mean, slow[2] = {8 * M_PI * viscosity * r * r * r, 6 * M_PI * viscosity * r};
  for (int i = 0; i < 3; i++) {
    const double b = h[(i + 1) % 3], c = h[(i + 2) % 3];
    along(own->axis[i], 0, density / 2 * h[i] * (pow(b, 4) + pow(c, 4)), V, F[0], dF ? dF[0] : NULL, 0);
    along(own->axis[i], 0, 2 * density * b * c, V + 3, F[0] + 3, dF ? dF[0] + 3 : NULL, 3);
  }
  for (int i = 0; i < 6; i++) {
    F[1][i] -= slow[i / 3] * V[i];
    if (dF) dF[1][i][i] -= slow[i / 3];
  }
  return CB_OK;
}

static const char *const terms[] = {"drag", "viscous", NULL};

const cb_fluid_model_class cb_fluid_model_mujoco_inertia_box = {
    .name = "mujoco_inertia_box",
    .title = "MuJoCo's boxes",
    .doc = "MuJoCo's drag of the box with a body's inertia; no added mass",
    .params = params,
    .params_size = sizeof(mujoco_inertia_box),
    .prepare = prepare,
    .release = release,
    .terms = terms,
    .places = places,
    .part_of = part_of,
    .on_twist = on_twist,
};
