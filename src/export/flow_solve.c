/* The flows of an exported row (export_flow.c): what the bodies felt in the run decides which flows are computed.
 *
 *   none     one flow u_b per body, around this body alone
 *   dipole   one flow u_b per body, <u_b, n> = <v - U_b, n> on its surface, U_b: the dipole flow of the other bodies
 *   exact    one flow, around all bodies together
 *
 * The pressure is p = sum_b p_b for `none`. If bodies felt each other, it is
 *
 *   p = sum_b p_b - rho sum_{b < c} <u_b, u_c>
 *
 * u = sum_b u_b is the velocity of the fluid, v that of the surface with the normal n, p the pressure, p_b the pressure
 * of the flow u_b alone, and rho the density. The second sum makes p the pressure of Bernoulli's equation for u;
 * without coupling the second sum would be a force that the motion did not feel. With `dipole` a flow u_b includes the
 * response of the body to the flow of the others, so that the force of p on a body is the force of the coupling, up to
 * the order of the coupling (fluid/dipoles.h). The velocity of the fluid through the surface is of the order
 * (size/distance)^4 relative to the velocity of the other body. If the coupling has a wall, each flow is computed with
 * the mirror images of its bodies as well.
 */

#include "core/failure.h"
#include "export/export.h"
#include "fluid/body_coupling.h"
#include "fluid/immersed_run.h"
#include "numerics/vec3.h"
#include "potential/moving.h"
#include "potential/operator.h"

#include <math.h>
#include <string.h>

/* The step h of the differences in time is so short that a body turns by at most maximum_turn radians. It also moves by
 * at most maximum_turn times its size, and by at most maximum_approach times the distance to the next body of its
 * flow. */
static const double far_error = 1e-6, maximum_turn = 3e-3, maximum_approach = 0.03;
static const double reported = 1e-3; /* smaller errors of the given faces are not reported */

/* ---- the bodies at a time ---- */

/* Computes the pose and the twist of a body at a time d after the row. */
static void move(const cb_export_scene *s, int b, double d, cb_pose *g, double twist[6]) {
  const double *from = s->pose[b];
  double step[6];
  for (int k = 0; k < 6; k++) {
    step[k] = d * (s->twist[b][k] + d / 2 * s->rate[b][k]);
    twist[k] = s->twist[b][k] + d * s->rate[b][k];
  }
  cb_pose by;
  *g = (cb_pose){{from[3], from[4], from[5], from[6]}, {from[0], from[1], from[2]}};
  cb_se3_tau(CB_SE3_EXPONENTIAL, step, &by);
  cb_pose_multiply(g, &by, g);
}

/* Computes the positions of the vertices of a body, with their velocities, at a time d after the row. */
static cb_status place(cb_export_scene *s, int b, double d) {
  const cb_export_flow_body *of = s->of + b;
  double twist[6], pose[7];
  cb_pose g;
  move(s, b, d, &g, twist);
  memcpy(pose, g.x, sizeof g.x);
  memcpy(pose + 3, g.q, sizeof g.q);
  const cb_status status = cb_immersed_shape(cb_scenario_body(s->scenario, b), s->time + d, s->g, s->dg);
  if (!status)
    cb_export_place(0, pose, twist, (size_t)of->vertices, (const double(*)[3])s->g, (const double(*)[3])s->dg,
                    s->x + of->vertex, s->v + of->vertex);
  return status;
}

/* Finds the largest speed of a body and the time step h of the differences that give its time derivatives, and adds the
 * body to the bounding box. */
static void measure(cb_export_scene *s, int b) {
  cb_export_flow_body *of = s->of + b;
  double size = 0, low[3], high[3];
  for (int k = 0; k < 3; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
  }
  for (int i = of->vertex; i < of->vertex + of->vertices; i++) {
    of->speed = fmax(of->speed, sqrt(cb_dot3(s->v[i], s->v[i])));
    for (int k = 0; k < 3; k++) {
      low[k] = fmin(low[k], s->x[i][k]);
      high[k] = fmax(high[k], s->x[i][k]);
    }
  }
  for (int k = 0; k < 3; k++) {
    size = fmax(size, high[k] - low[k]);
    s->low[k] = b == 0 ? low[k] : fmin(s->low[k], low[k]);
    s->high[k] = b == 0 ? high[k] : fmax(s->high[k], high[k]);
  }
  const double *Y = s->twist[b], *A = s->rate[b];
  double turn = sqrt(cb_dot3(Y, Y));
  turn = fmax(turn, sqrt(sqrt(cb_dot3(A, A)) + sqrt(cb_dot3(A + 3, A + 3)) / size));
  const double rate = fmax(of->speed / size, turn);
  of->h = rate > 0 ? maximum_turn / rate : 1;
}

/* Computes the added mass of a surface with its given faces, without deformation. */
static cb_status drawn_mass(const cb_surface *surface, bool sheets, cb_kirchhoff_mass *out) {
  const cb_kirchhoff_options options = {.sheets = sheets, .far_error = far_error};
  cb_moving *moving = NULL;
  cb_status status = cb_moving_create(surface->vertices, (const double(*)[3])surface->x, surface->faces,
                                      (const int(*)[3])surface->face, &options, &moving);
  if (!status) status = cb_moving_added_mass(moving, (const double(*)[3])surface->x, NULL, out);
  cb_moving_free(moving);
  return status;
}

static double form(const double K[6][6], const double Y[6]) {
  double sum = 0;
  for (int i = 0; i < 36; i++) sum += Y[i / 6] * K[i / 6][i % 6] * Y[i % 6];
  return sum;
}

/* Reports the error of the given faces if it is above `reported`. The error is the relative difference of the fluid's
 * kinetic energy with the added mass K of these faces and with the K of the run, both for the body without deformation.
 * Only the first of several copies of a body is compared. */
static cb_status report_error(const cb_export_scene *s, int b) {
  const cb_immersed *body = cb_scenario_body(s->scenario, b);
  const cb_surface *surface = cb_immersed_surface(body);
  cb_added_mass run;
  cb_kirchhoff_mass drawn;
  if ((b > 0 && cb_scenario_body(s->scenario, b - 1) == body) || !cb_immersed_solved(body, &run)) return CB_OK;
  const cb_status status = drawn_mass(surface, s->of[b].sheets, &drawn);
  const double *Y = form(run.K, s->twist[b]) > 0 ? s->twist[b] : s->rate[b];
  const double size = form(run.K, Y), error = status || !(size > 0) ? 0 : form(drawn.K, Y) / size - 1;
  if (fabs(error) > reported)
    (fabs(error) > run.tolerance ? cb_warn : cb_note)(
        "body `%s`: the exported flow uses its %d given faces, and its kinetic energy is %.2g %% %s the energy in the "
        "run, which used up to %d faces",
        cb_scenario_body_name(s->scenario, b), surface->faces, 100 * fabs(error), error < 0 ? "below" : "above",
        run.faces);
  return status;
}

/* ---- the flows ---- */

/* Returns the smallest distance between vertices of two bodies of a flow, or of a vertex and its mirror image. */
static double nearest(const cb_export_scene *s, const cb_export_flow *f) {
  double least = INFINITY;
  for (int b = f->body; b < f->body + f->bodies; b++)
    for (int i = s->of[b].vertex; i < s->of[b].vertex + s->of[b].vertices; i++) {
      const double *x = s->x[i], height = cb_dot3(s->wall.normal, x) - s->wall.height;
      if (s->wall.kind != CB_MIRROR_NONE) least = fmin(least, 4 * height * height);
      for (int j = s->of[b].vertex + s->of[b].vertices; j < f->vertex + f->vertices; j++) {
        const double d[3] = {x[0] - s->x[j][0], x[1] - s->x[j][1], x[2] - s->x[j][2]};
        least = fmin(least, cb_dot3(d, d));
      }
    }
  return sqrt(least);
}

static void choose_step(const cb_export_scene *s, cb_export_flow *f) {
  const double distance = nearest(s, f);
  f->h = INFINITY;
  for (int b = f->body; b < f->body + f->bodies; b++) {
    f->h = fmin(f->h, s->of[b].h);
    if (s->of[b].speed > 0) f->h = fmin(f->h, maximum_approach * distance / s->of[b].speed);
  }
}

/* Sets out[faces] to a quantity at the centres of faces, from the face `first` on: the mean of its values at the
 * corners of each face. */
static void centres(const cb_export_scene *s, int first, int faces, const double (*vertex)[3], double (*out)[3]) {
  for (int i = 0; i < 3 * faces; i++) {
    const int *at = s->face[first + i / 3];
    out[i / 3][i % 3] = (vertex[at[0]][i % 3] + vertex[at[1]][i % 3] + vertex[at[2]][i % 3]) / 3;
  }
}

/* Computes the velocity of the flow that body b feels, at the centres of its faces, at a time d after the row. */
static cb_status find_incoming(const cb_export_scene *s, int b, double d, double (*out)[3]) {
  const cb_export_flow_body *of = s->of + b;
  cb_pose *g = cb_arena_alloc(s->arena, (size_t)s->bodies, sizeof *g);
  double(*Y)[6] = cb_arena_alloc(s->arena, (size_t)s->bodies, sizeof *Y);
  double(*centre)[3] = cb_arena_alloc(s->arena, (size_t)of->faces, sizeof *centre);
  if (!g || !Y || !centre) return cb_fail(CB_ERROR_MEMORY, "no memory for the flow around %d faces", of->faces);
  for (int i = 0; i < s->bodies; i++) move(s, i, d, g + i, Y[i]);
  centres(s, of->face, of->faces, (const double(*)[3])s->x, centre);
  return s->coupling->class_->incoming(s->felt, s->time + d, g, (const double(*)[6])Y, b, of->faces,
                                       (const double(*)[3])centre, out);
}

/* Writes to[i] = sign times the mirror image of from[i]. Positions are mirrored in the wall at `height`, with the sign
 * 1. Velocities are mirrored with the height 0; their sign is -1 if the wall is a free surface. */
static void mirror(const cb_mirror *wall, double height, double sign, int n, const double (*from)[3], double (*to)[3]) {
  for (int i = 0; i < n; i++) {
    const double twice = 2 * (cb_dot3(wall->normal, from[i]) - height);
    for (int k = 0; k < 3; k++) to[i][k] = sign * (from[i][k] - twice * wall->normal[k]);
  }
}

/* Solves a flow at a time d after the row. */
static cb_status solve_at(cb_export_scene *s, const cb_export_flow *f, double d, cb_flow_about **out) {
  const int images = s->wall.kind == CB_MIRROR_NONE ? 1 : 2, n = f->vertices, m = f->faces;
  const double sign = s->wall.kind == CB_MIRROR_FREE ? -1 : 1;
  const size_t vertices = (size_t)(images * n), faces = (size_t)(images * m);
  double(*x)[3] = cb_arena_alloc(s->arena, vertices, sizeof *x), (*v)[3] = NULL, (*incoming)[3] = NULL;
  int(*face)[3] = cb_arena_alloc(s->arena, faces, sizeof *face);
  v = cb_arena_alloc(s->arena, vertices, sizeof *v);
  if (s->felt) incoming = cb_arena_alloc(s->arena, faces, sizeof *incoming);
  cb_status status = cb_arena_lost(s->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for %d faces", f->faces) : CB_OK;
  for (int b = f->body; b < f->body + f->bodies && !status; b++) status = place(s, b, d);
  if (!status && incoming) status = find_incoming(s, f->body, d, incoming);
  if (status) return status;
  memcpy(x, s->x + f->vertex, (size_t)n * sizeof *x);
  memcpy(v, s->v + f->vertex, (size_t)n * sizeof *v);
  for (int i = 0; i < 3 * m; i++) face[i / 3][i % 3] = s->face[f->face + i / 3][i % 3] - f->vertex;
  if (images == 2) {
    mirror(&s->wall, s->wall.height, 1, n, (const double(*)[3])x, x + n);
    mirror(&s->wall, 0, sign, n, (const double(*)[3])v, v + n);
    if (incoming) mirror(&s->wall, 0, sign, m, (const double(*)[3])incoming, incoming + m);
    for (int i = 0; i < 3 * m; i++) face[m + i / 3][2 - i % 3] = n + face[i / 3][i % 3];
  }
  const cb_field_bodies bodies = {.vertices = images * n,
                                  .faces = images * m,
                                  .x = (const double(*)[3])x,
                                  .v = (const double(*)[3])v,
                                  .face = (const int(*)[3])face,
                                  .incoming = (const double(*)[3])incoming,
                                  .sheets = f->sheets};
  return cb_field_create(&bodies, far_error, out);
}

static cb_status solve(cb_export_scene *s, cb_export_flow *f) {
  static const int order[3] = {0, 2, 1}; /* the row itself is last, because x and v keep its values */
  const size_t faces = (size_t)f->faces;
  double *p = cb_arena_alloc(s->arena, 2 * faces, sizeof *p);
  cb_status status = p ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for the pressure on %d faces", f->faces);
  choose_step(s, f);
  for (int i = 0; i < 3 && !status; i++) status = solve_at(s, f, (order[i] - 1) * f->h, &f->field[order[i]]);
  for (int side = 0; side < 2 && !status; side++) {
    cb_field_face_pressure(f->field, f->h, side, p);
    for (int i = 0; i < f->faces; i++) s->face_p[side][f->face + i] = s->density * p[i];
    memcpy(s->face_phi[side] + f->face, cb_field_face_phi(f->field[1], side), faces * sizeof *p);
    memcpy(s->face_u[side] + f->face, cb_field_face_u(f->field[1], side), faces * sizeof *s->face_u[0]);
  }
  return status;
}

/* ---- sums of flows ---- */

cb_status cb_export_flow_add(cb_export_scene *s, const cb_export_flow *f, int n, const double (*x)[3],
                             const double (*with)[3], const cb_export_sum *to) {
  double(*u)[3] = s->own_u;
  cb_status status = cb_field_at(f->field[1], n, x, u, to->phi ? s->own_phi : NULL, s->own_inside);
  if (!status) status = cb_field_pressure(f->field, f->h, n, x, with, (const double(*)[3])u, s->own_p);
  for (int i = 0; i < n && !status; i++) {
    if (s->felt) to->p[i] -= s->density * cb_dot3(to->u[i], u[i]);
    to->p[i] += s->density * s->own_p[i];
    for (int k = 0; k < 3; k++) to->u[i][k] += u[i][k];
    if (to->phi) to->phi[i] += s->own_phi[i];
    if (to->inside) to->inside[i] = to->inside[i] || s->own_inside[i];
  }
  return status;
}

/* Adds a flow to the values on the faces first .. last - 1, which belong to other bodies. */
static cb_status add_to_faces(cb_export_scene *s, const cb_export_flow *f, int first, int last) {
  const int n = last - first;
  cb_status status = CB_OK;
  double(*at)[3] = s->centre, (*with)[3] = s->centre_v;
  centres(s, first, n, (const double(*)[3])s->x, at);
  centres(s, first, n, (const double(*)[3])s->v, with);
  for (int side = 0; side < (s->sheets ? 2 : 1) && n > 0 && !status; side++)
    status = cb_export_flow_add(
        s, f, n, (const double(*)[3])at, (const double(*)[3])with,
        &(cb_export_sum){s->face_u[side] + first, s->face_p[side] + first, s->face_phi[side] + first, NULL});
  return status;
}

/* Sets the values on the back of solids to 0. */
static void clear_backs(cb_export_scene *s) {
  for (int i = 0; i < s->faces; i++) {
    const cb_surface *surface = cb_immersed_surface(cb_scenario_body(s->scenario, s->body[i]));
    if (surface->open[surface->part[i - s->of[s->body[i]].face]]) continue;
    s->face_p[1][i] = s->face_phi[1][i] = 0;
    memset(s->face_u[1][i], 0, sizeof s->face_u[1][i]);
  }
}

/* ---- the coupling of the run ---- */

static cb_status make_flows(cb_export_scene *s) {
  const bool together = s->coupling && !s->coupling->class_->incoming;
  s->flows = together ? 1 : s->bodies;
  s->flow = cb_arena_alloc(s->arena, (size_t)s->flows, sizeof *s->flow);
  if (!s->flow) return cb_fail(CB_ERROR_MEMORY, "no memory for %d flows", s->flows);
  if (together)
    *s->flow = (cb_export_flow){.bodies = s->bodies, .vertices = s->vertices, .faces = s->faces, .sheets = s->sheets};
  for (int b = 0; b < s->bodies && !together; b++) {
    const cb_export_flow_body *of = s->of + b;
    s->flow[b] = (cb_export_flow){.body = b,
                                  .bodies = 1,
                                  .vertex = of->vertex,
                                  .face = of->face,
                                  .vertices = of->vertices,
                                  .faces = of->faces,
                                  .sheets = of->sheets};
  }
  if (!s->coupling) return CB_OK;
  s->wall = s->coupling->class_->plane(s->coupling);
  return s->wall.kind == CB_MIRROR_NONE ? CB_OK : cb_mirror_check(&s->wall);
}

/* Prepares s->felt, from which the flow that each body feels is computed. Reports the estimated error of the coupling
 * at this row. */
static cb_status prepare_felt(cb_export_scene *s) {
  const cb_body_coupling_class *class = s->coupling->class_;
  const cb_immersed **body = cb_arena_alloc(s->arena, (size_t)s->bodies, sizeof *body);
  cb_pose *g = cb_arena_alloc(s->arena, (size_t)s->bodies, sizeof *g);
  cb_coupling_error error = {0};
  int which = -1;
  if (!body || !g) return cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", s->bodies);
  for (int b = 0; b < s->bodies; b++) {
    double twist[6];
    move(s, b, 0, g + b, twist);
    body[b] = cb_scenario_body(s->scenario, b);
  }
  const cb_coupled_fluid of = {
      .fluid = cb_immersed_fluid_about(body[0]), .density = s->density, .n = s->bodies, .body = body};
  cb_status status = class->prepare(s->coupling, &of, &which, &s->felt);
  if (!status) status = class->estimate(s->felt, s->time, g, &error);
  if (!status && s->bodies > 1)
    cb_note(
        "this run used `coupling: %s`, with an estimated error of %.2g of an added mass: the exported flow is the sum "
        "of the flows of the bodies, each in the %s flow of the others",
        class->name, error.error, class->name);
  return status;
}

static cb_status prepare(cb_export_scene *s) {
  s->coupling = cb_immersed_fluid_about(cb_scenario_body(s->scenario, 0))->coupling;
  const cb_status status = make_flows(s);
  if (!s->coupling && s->bodies > 1)
    cb_note("this run used `coupling: none`: the exported flow is the sum of the flows around each body alone");
  return status || !s->coupling || !s->coupling->class_->incoming ? status : prepare_felt(s);
}

cb_status cb_export_flow_solve(cb_export_scene *s) {
  cb_status status = prepare(s);
  for (int b = 0; b < s->bodies && !status; b++) {
    status = report_error(s, b);
    if (!status) status = place(s, b, 0);
    if (!status) measure(s, b);
  }
  for (int k = 0; k < 3; k++) s->size = fmax(s->size, s->high[k] - s->low[k]);
  for (int i = 0; i < s->flows && !status; i++) status = solve(s, s->flow + i);
  for (int i = 0; i < s->flows && !status && s->felt; i++) {
    const cb_export_flow *f = s->flow + i;
    status = add_to_faces(s, f, 0, f->face);
    if (!status) status = add_to_faces(s, f, f->face + f->faces, s->faces);
  }
  if (!status && s->felt && s->sheets) clear_backs(s);
  return status;
}

void cb_export_flow_release(cb_export_scene *s) {
  for (int i = 0; s->flow && i < 3 * s->flows; i++) cb_field_free(s->flow[i / 3].field[i % 3]);
  if (s->felt) s->coupling->class_->release(s->felt);
}
