/* Writes the bodies of an MJCF file as a scenario that computes the same motion as MuJoCo, with the fluid models
 * of the same names.
 *
 * Each geom is a piece of its body's shape and is only drawn; the mass is `inertial`. If a body of the file has geoms
 * with fluidshape="ellipsoid", the fluid acts on their ellipsoids, otherwise on the box of its inertia. There is no
 * added mass and no buoyancy.
 */
#include "mjcf/mjcf_private.h"
#include "yaml/yaml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const types[] = {"sphere", "capsule", "cylinder", "ellipsoid", "box", "mesh"};

void cb_mjcf_put_number(cb_text *out, double x) {
  char text[32];
  cb_export_number(text, x);
  cb_text_puts(out, text);
}

void cb_mjcf_put_list(cb_text *out, const char *key, int n, const double *x) {
  cb_text_puts(out, key);
  cb_text_puts(out, ": [");
  for (int i = 0; i < n; i++) {
    if (i) cb_text_puts(out, ", ");
    cb_mjcf_put_number(out, x[i] == 0 ? 0 : x[i]);
  }
  cb_text_puts(out, "]");
}

/* Writes a text, quoted if necessary, and ends the line. */
void cb_mjcf_put_text(cb_text *out, const char *before, const char *text) {
  const cb_node node = {.kind = CB_NODE_SCALAR, .text = text};
  cb_text_puts(out, before);
  if (cb_node_emit(&node, out)) out->failed = true;
}

static void put_pose(cb_text *out, const cb_pose *pose) {
  const double *x = pose->x, *q = pose->q;
  if (x[0] != 0 || x[1] != 0 || x[2] != 0) {
    cb_text_puts(out, ", ");
    cb_mjcf_put_list(out, "position", 3, x);
  }
  if (q[1] != 0 || q[2] != 0 || q[3] != 0) {
    cb_text_puts(out, ", ");
    cb_mjcf_put_list(out, "quaternion", 4, q);
  }
}

/* --- drawing --- */

static void put_shape(cb_text *out, const char *name, int n, const char *const *keys, const double *size) {
  cb_text_puts(out, "shape: {name: ");
  cb_text_puts(out, name);
  for (int i = 0; i < n; i++) {
    cb_text_puts(out, ", ");
    cb_text_puts(out, keys[i]);
    cb_text_puts(out, ": ");
    cb_mjcf_put_number(out, size[i]);
  }
  cb_text_puts(out, "}");
}

static const char *const axes[] = {"a", "b", "c"}, *const round_[] = {"radius", "length"};

static void put_primitive(cb_text *out, const cb_mjcf_geom *g) {
  const double *s = g->size;
  if (g->type == CB_MJCF_SPHERE) put_shape(out, "ellipsoid", 3, axes, (double[]){s[0], s[0], s[0]});
  if (g->type == CB_MJCF_ELLIPSOID) put_shape(out, "ellipsoid", 3, axes, s);
  if (g->type == CB_MJCF_BOX) put_shape(out, "box", 3, axes, (double[]){2 * s[0], 2 * s[1], 2 * s[2]});
  if (g->type == CB_MJCF_CAPSULE || g->type == CB_MJCF_CYLINDER)
    put_shape(out, types[g->type], 2, round_, (double[]){s[0], 2 * s[1]});
}

/* The path of the file is absolute, because the scenario may be in another folder. */
static void put_mesh(cb_text *out, const cb_mjcf_mesh *mesh) {
  char *path = realpath(mesh->file, NULL);
  cb_mjcf_put_text(out, "mesh: ", path ? path : mesh->file);
  cb_text_puts(out, "        weld: true\n");
  if (mesh->scale[0] != 1 || mesh->scale[1] != 1 || mesh->scale[2] != 1) {
    cb_text_puts(out, "        ");
    cb_mjcf_put_list(out, "scale", 3, mesh->scale);
  }
  free(path);
}

static void put_piece(cb_text *out, const cb_mjcf_geom *g, const cb_pose *pose) {
  const double *x = pose->x, *q = pose->q;
  cb_text_puts(out, "      - ");
  if (*g->name) cb_mjcf_put_text(out, "name: ", g->name);
  if (*g->name) cb_text_puts(out, "        ");
  if (g->mesh)
    put_mesh(out, g->mesh);
  else
    put_primitive(out, g);
  if (x[0] != 0 || x[1] != 0 || x[2] != 0) {
    cb_text_puts(out, "\n        ");
    cb_mjcf_put_list(out, "position", 3, x);
  }
  if (q[1] != 0 || q[2] != 0 || q[3] != 0) {
    cb_text_puts(out, "\n        ");
    cb_mjcf_put_list(out, "quaternion", 4, q);
  }
  cb_text_puts(out, "\n");
}

static void put_looks(cb_text *out, const cb_mjcf_body *body) {
  bool any = false;
  cb_text_puts(out, "    shape:\n");
  for (const cb_mjcf_link *l = body->links; l; l = l->next)
    for (const cb_mjcf_geom *g = l->geoms; g; g = g->next, any = true) {
      const cb_pose pose = cb_mjcf_looks_at(l, g);
      put_piece(out, g, &pose);
    }
  if (any) return;
  cb_pose pose;
  const cb_mjcf_geom box = cb_mjcf_looks_without_geoms(body, &pose);
  put_piece(out, &box, &pose);
}

/* --- mass --- */

static void put_inertial(cb_text *out, const cb_mjcf_inertial *m) {
  double diagonal[3];
  for (int i = 0; i < 3; i++) diagonal[i] = m->inertia[i][i];
  cb_text_puts(out, "    inertial:\n      mass: ");
  cb_mjcf_put_number(out, m->mass);
  cb_text_puts(out, "\n      ");
  cb_mjcf_put_list(out, "at", 3, m->centre.x);
  cb_text_puts(out, "\n");
  if (cb_mjcf_is_diagonal(m)) {
    cb_text_puts(out, "      ");
    cb_mjcf_put_list(out, "inertia", 3, diagonal);
    cb_text_puts(out, "\n");
  } else {
    cb_text_puts(out, "      inertia:\n");
    for (int i = 0; i < 3; i++) {
      cb_text_puts(out, "        - [");
      for (int j = 0; j < 3; j++) {
        if (j) cb_text_puts(out, ", ");
        cb_mjcf_put_number(out, m->inertia[i][j]);
      }
      cb_text_puts(out, "]\n");
    }
  }
  if (m->centre.q[1] != 0 || m->centre.q[2] != 0 || m->centre.q[3] != 0) {
    cb_text_puts(out, "      ");
    cb_mjcf_put_list(out, "quaternion", 4, m->centre.q);
    cb_text_puts(out, "\n");
  }
}

/* --- the fluid --- */

static bool has_ellipsoid(const cb_mjcf_link *l) {
  for (const cb_mjcf_geom *g = l->geoms; g; g = g->next)
    if (g->fluid) return true;
  return false;
}

/* In MuJoCo no fluid acts on a body without mass; the box of a body without moments has no size. */
static bool is_wet(const cb_mjcf_link *l) {
  const double(*I)[3] = (const double(*)[3])l->inertial.inertia;
  return l->inertial.mass > 0 && (has_ellipsoid(l) || I[0][0] + I[1][1] + I[2][2] > 0);
}

static void put_geoms(cb_text *out, const cb_mjcf_link *l) {
  static const int sizes[] = {1, 2, 2, 3, 3, 3};
  for (const cb_mjcf_geom *g = l->geoms; g; g = g->next) {
    cb_pose pose;
    if (!g->fluid) continue;
    cb_pose_multiply(&l->pose, &g->centre, &pose);
    cb_text_puts(out, "          - {type: ");
    cb_text_puts(out, types[g->type]);
    cb_text_puts(out, ", ");
    cb_mjcf_put_list(out, "size", sizes[g->type], g->size);
    put_pose(out, &pose);
    cb_text_puts(out, ", ");
    cb_mjcf_put_list(out, "coefficients", CB_MJCF_COEFFICIENTS, g->coefficient);
    cb_text_puts(out, "}\n");
  }
}

static void put_box(cb_text *out, const cb_mjcf_link *l) {
  double half[3], moment[3];
  cb_pose centre, pose;
  cb_mjcf_box(&l->inertial, half, &centre, moment);
  cb_pose_multiply(&l->pose, &centre, &pose);
  cb_text_puts(out, "          - {mass: ");
  cb_mjcf_put_number(out, l->inertial.mass);
  cb_text_puts(out, ", ");
  cb_mjcf_put_list(out, "inertia", 3, moment);
  put_pose(out, &pose);
  cb_text_puts(out, "}\n");
}

static void put_model(cb_text *out, const char *name, double viscosity, const char *list) {
  cb_text_puts(out, "      - name: ");
  cb_text_puts(out, name);
  cb_text_puts(out, "\n        viscosity: ");
  cb_mjcf_put_number(out, viscosity);
  cb_text_puts(out, "\n        ");
  cb_text_puts(out, list);
  cb_text_puts(out, ":\n");
}

/* In MuJoCo there is no fluid if neither density nor viscosity is given. */
static void put_models(cb_text *out, const cb_mjcf *m, const cb_mjcf_body *body) {
  int ellipsoids = 0, boxes = 0;
  for (const cb_mjcf_link *l = body->links; l; l = l->next)
    if (is_wet(l)) has_ellipsoid(l) ? ellipsoids++ : boxes++;
  if (!(m->density > 0) && !(m->viscosity > 0)) {
    cb_text_puts(out, "    drag: false\n");
    return;
  }
  cb_text_puts(out, "    model:\n");
  if (ellipsoids) put_model(out, "mujoco_ellipsoid", m->viscosity, "geoms");
  for (const cb_mjcf_link *l = body->links; l; l = l->next)
    if (is_wet(l) && has_ellipsoid(l)) put_geoms(out, l);
  if (boxes) put_model(out, "mujoco_inertia_box", m->viscosity, "boxes");
  for (const cb_mjcf_link *l = body->links; l; l = l->next)
    if (is_wet(l) && !has_ellipsoid(l)) put_box(out, l);
}

/* --- wrenches and the start --- */

static void put_expressions(cb_text *out, const char *key, const char *const text[3]) {
  if (!text[0]) return;
  cb_text_puts(out, "\n        ");
  cb_text_puts(out, key);
  for (int i = 0; i < 3; i++) {
    cb_text_puts(out, i ? ", \"" : ": [\"");
    cb_text_puts(out, text[i]);
    cb_text_puts(out, "\"");
  }
  cb_text_puts(out, "]");
}

static void put_wrenches(cb_text *out, const cb_mjcf_body *body) {
  if (body->wrenches) cb_text_puts(out, "    wrenches:\n");
  for (const cb_mjcf_wrench *w = body->wrenches; w; w = w->next) {
    cb_mjcf_put_text(out, "      - name: ", w->name);
    cb_text_puts(out, w->world ? "        frame: world" : "        frame: body");
    put_expressions(out, "force", w->force);
    put_expressions(out, "torque", w->torque);
    cb_text_puts(out, "\n        ");
    cb_mjcf_put_list(out, "at", 3, w->at);
    cb_text_puts(out, "\n");
  }
}

static bool is_zero(const double x[3]) { return x[0] == 0 && x[1] == 0 && x[2] == 0; }

static void put_start(cb_text *out, const cb_mjcf_body *body) {
  cb_text_puts(out, "    place:\n      ");
  cb_mjcf_put_list(out, "position", 3, body->place.x);
  cb_text_puts(out, "\n      ");
  cb_mjcf_put_list(out, "quaternion", 4, body->place.q);
  cb_text_puts(out, "\n");
  if (is_zero(body->velocity) && is_zero(body->spin)) return;
  cb_text_puts(out, "    motion:\n      frame: body\n      ");
  cb_mjcf_put_list(out, "velocity", 3, body->velocity);
  cb_text_puts(out, "\n      ");
  cb_mjcf_put_list(out, "spin", 3, body->spin);
  cb_text_puts(out, "\n");
}

static void put_controls(cb_text *out, const cb_mjcf *m) {
  bool any = false;
  for (int i = 0; i < m->actuators; i++) {
    char name[32];
    if (isnan(m->control[i])) continue;
    snprintf(name, sizeof name, "\n    ctrl%d: ", i);
    cb_text_puts(out, any ? name : "\n  parameters:");
    if (!any) cb_text_puts(out, name);
    cb_mjcf_put_number(out, m->control[i]);
    any = true;
  }
}

/* MuJoCo's contacts do not rebound by default. A reflecting floor is for bodies without joints; next to joints the
 * floor is a spring and a damper, as MuJoCo's contacts with their default time of .02 s. */
static void put_floor(cb_text *out, const cb_mjcf *m) {
  double mass = 0;
  if (!m->floor) return;
  for (const cb_mjcf_body *b = m->bodies; b; b = b->next) mass += b->inertial.mass;
  if (m->joints) {
    cb_text_puts(out, "\n  floor:\n    kind: stiff\n    stiffness: ");
    cb_mjcf_put_number(out, mass / (0.02 * 0.02));
    cb_text_puts(out, "\n    damping: ");
    cb_mjcf_put_number(out, 2 * mass / 0.02);
  } else {
    cb_text_puts(out, "\n  floor:\n    kind: reflecting");
  }
  cb_text_puts(out, "\n    height: ");
  cb_mjcf_put_number(out, m->height);
  cb_text_puts(out, "\n    ");
  cb_mjcf_put_list(out, "normal", 3, m->normal);
  if (!m->joints) cb_text_puts(out, "\n    restitution: 0");
}

/* --- the complete scenario --- */

static void put_body(cb_text *out, const cb_mjcf *m, const cb_mjcf_body *body) {
  cb_mjcf_put_text(out, "  - name: ", body->own);
  put_looks(out, body);
  put_inertial(out, &body->inertial);
  put_models(out, m, body);
  cb_text_puts(out, "    added_mass: none\n    buoyancy: false\n");
  put_wrenches(out, body);
  if (!body->holds && !body->held) put_start(out, body);
}

/* The integrators of the scenario that replace MuJoCo's Euler, RK4, implicit and implicitfast, in this order, if there
 * are no joints. Euler is replaced by a more accurate integrator, RK4 by the same method, and the implicit integrators
 * by another implicit one. */
static const char *const methods[] = {"rkmk4", "mujoco_rk4", "hamilton_pontryagin", "hamilton_pontryagin"};

/* If there are joints, all bodies have the integrator hamilton_pontryagin, with order 4 in place of MuJoCo's RK4. */
static void put_integrator(cb_text *out, const cb_mjcf *m) {
  cb_text_puts(out, "integrator:\n  name: ");
  cb_text_puts(out, m->joints ? "hamilton_pontryagin" : methods[m->integrator]);
  if (m->joints && m->integrator == 1) cb_text_puts(out, "\n  order: 4");
  cb_text_puts(out, "\n  step: ");
  cb_mjcf_put_number(out, m->step);
}

cb_status cb_mjcf_write(const cb_mjcf *m, double end, cb_text *out) {
  cb_text_puts(out, "curvebody: 1\n");
  if (*m->title) cb_mjcf_put_text(out, "title: ", m->title);
  cb_text_puts(out, "fluid:\n  medium: ");
  cb_mjcf_put_number(out, m->density);
  cb_text_puts(out, "\n  ");
  cb_mjcf_put_list(out, "gravity", 3, m->gravity);
  if (m->wind[0] != 0 || m->wind[1] != 0 || m->wind[2] != 0) {
    cb_text_puts(out, "\n  flow: {");
    cb_mjcf_put_list(out, "uniform", 3, m->wind);
    cb_text_puts(out, "}");
  }
  put_floor(out, m);
  put_controls(out, m);
  cb_text_puts(out, "\nbodies:\n");
  for (const cb_mjcf_body *body = m->bodies; body; body = body->next) put_body(out, m, body);
  cb_mjcf_write_joints(m, out);
  put_integrator(out, m);
  cb_text_puts(out, "\ntime:\n  ");
  if (m->start != 0) {
    cb_text_puts(out, "start: ");
    cb_mjcf_put_number(out, m->start);
    cb_text_puts(out, "\n  ");
  }
  cb_text_puts(out, "end: ");
  cb_mjcf_put_number(out, m->start + end);
  cb_text_puts(out, "\nrecord:\n  observables: [energy, wrenches");
  cb_text_puts(out, m->joints ? ", joints]\n" : "]\n");
  return out->failed ? cb_fail(CB_ERROR_MEMORY, "no memory for a scenario of '%s'", m->path) : CB_OK;
}
