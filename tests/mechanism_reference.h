/* Independent equations of joined bodies in maximal coordinates, solved by GSL's Dormand-Prince 8(7).
 *
 * A joint is written with scalar products of vectors that are attached to its bodies a and b. u_i are the axes of the
 * joint's frame in a, v_j those of its frame in b, and d is the vector from the joint's place in a to its place in b:
 *   u_i.v_j = 0,   u_i.d = 0   (or a law of t),   (d.d - L^2)/2 = 0;     coordinates are u_i.d, or atan2 of two u_i.v_j
 * J are the rows of these conditions: their second derivatives are J Y' + gamma, with the accelerations Y' of all
 * bodies. K are the inertias of the bodies, Y their twists, F the other wrenches, and l the multipliers:
 *   K Y' = ad*_Y K Y + F + J^T l,   J Y' + gamma = law''
 * A `spring` pulls its places to the distance L. A compound joint is a chain of hinges and slides with bodies of mass 0
 * between them. Source: Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems (1989), chapters 9 and 11.
 * Nothing of src/mechanism is called. */
#pragma once

#include "joined_bodies.h"
#include "numerics/small.h"
#include "system_runs.h"

enum { REFERENCE_BODIES = 12, REFERENCE_ROWS = 60, REFERENCE_STATE = 18 };

/* A scalar product of a vector of body a and a vector of body b: of axis i of frame A and axis j of frame B; of axis i
 * and d (j = -1); or of d and d (i = -1). For a driven angle, axis i of frame A is first rotated by `turn` about axis
 * `about` (-1: it is not rotated). */
typedef struct scalar_product {
  int joint, i, j;
  int about;
  double turn, turn_rate, turn_second;
} scalar_product;

/* The value and the rate of a scalar product; its row, that is the factors of the twists of both bodies in the rate (in
 * the axes of the world, about the origins of the bodies); and gamma, the part of its second derivative that does not
 * contain accelerations. */
typedef struct product_row {
  double value, rate, row[2][6], gamma;
} product_row;

typedef struct reference_joint {
  const char *kind;
  int body[2];
  cb_joint_frame frame[2];
  double length, stiffness[6], rest[6], damping[6], armature[6];
  double (*law[6])(double t, int derivative); /* laws of driven coordinates; NULL: not driven */
} reference_joint;

typedef struct reference {
  int bodies, joints;
  double K[REFERENCE_BODIES][6][6], weight[REFERENCE_BODIES][3];
  reference_joint joint[REFERENCE_BODIES];
} reference;

/* The state of a body in the axes of the world: the rotation R, the position x, the angular velocity w and the velocity
 * v of its origin. */
typedef struct reference_body {
  double R[3][3], x[3], w[3], v[3];
} reference_body;

static const reference_body reference_world = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

static inline void reference_read(const double *z, reference_body *out) {
  for (int i = 0; i < 9; i++) out->R[i / 3][i % 3] = z[i];
  for (int i = 0; i < 3; i++) {
    out->x[i] = z[9 + i];
    out->w[i] = z[12 + i];
    out->v[i] = z[15 + i];
  }
}

static inline void reference_add(double c, const double a[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] += c * a[k];
}

/* A vector, its rate, and the part of its second derivative that does not contain accelerations. */
typedef struct moving_vector {
  double a[3], rate[3], second[3];
} moving_vector;

static inline void reference_attach(const reference_body *b, const double own[3], moving_vector *out) {
  cb_apply3(b->R, own, out->a);
  cb_cross3(b->w, out->a, out->rate);
  cb_cross3(b->w, out->rate, out->second);
}

/* Computes column i of the rotation matrix of a frame with the quaternion q. */
static inline void reference_axis(const double q[4], int i, double out[3]) {
  const double w = q[0], *u = q + 1, e[3] = {i == 0, i == 1, i == 2};
  double c[3];
  cb_cross3(u, e, c);
  for (int k = 0; k < 3; k++) out[k] = (w * w - cb_dot3(u, u)) * e[k] + 2 * u[i] * u[k] + 2 * w * c[k];
}

/* Computes the axis u_i of the joint's frame in body a, with i = s->i. If s->about >= 0, the axis is rotated by the
 * angle s->turn about axis s->about of this frame. */
static inline void reference_first(const reference_joint *j, const reference_body *a, const scalar_product *s,
                                   moving_vector *out) {
  double own[3], other[3], turned[3], by[3], twice[3], about[3], moved[3];
  reference_axis(j->frame[0].q, s->i, own);
  if (s->about < 0) return reference_attach(a, own, out);
  reference_axis(j->frame[0].q, s->about, about);
  cb_cross3(about, own, other);
  const double c = cos(s->turn), n = sin(s->turn), w = s->turn_rate, w2 = s->turn_second;
  for (int k = 0; k < 3; k++) {
    turned[k] = c * own[k] + n * other[k];
    by[k] = w * (c * other[k] - n * own[k]);
    twice[k] = w2 * (c * other[k] - n * own[k]) - w * w * turned[k];
  }
  reference_attach(a, turned, out);
  double first[3], second[3], cross[3];
  cb_apply3(a->R, by, first);
  cb_apply3(a->R, twice, second);
  cb_cross3(a->w, first, cross);
  memcpy(moved, first, sizeof moved);
  for (int k = 0; k < 3; k++) {
    out->rate[k] += moved[k];
    out->second[k] += 2 * cross[k] + second[k];
  }
}

/* Computes d, the vector from the point of the joint in body a to its point in body b. arm: the vectors from the
 * origins of a and b to these points. */
static inline void reference_between(const reference_joint *j, const reference_body *a, const reference_body *b,
                                     double arm[2][3], moving_vector *out) {
  moving_vector at, in;
  reference_attach(a, j->frame[0].x, &at);
  reference_attach(b, j->frame[1].x, &in);
  for (int k = 0; k < 3; k++) {
    arm[0][k] = at.a[k];
    arm[1][k] = in.a[k];
    out->a[k] = b->x[k] - a->x[k] + in.a[k] - at.a[k];
    out->rate[k] = b->v[k] - a->v[k] + in.rate[k] - at.rate[k];
    out->second[k] = in.second[k] - at.second[k];
  }
}

/* Computes the value, the rate, the row and gamma of a scalar product u.v. A rotation by alpha changes u by alpha × u,
 * so the row of the body that carries u is u × v. */
static inline void reference_row(const reference *r, const reference_body *body, const scalar_product *s,
                                 product_row *out) {
  const reference_joint *j = &r->joint[s->joint];
  const reference_body *a = j->body[0] < 0 ? &reference_world : &body[j->body[0]],
                       *b = j->body[1] < 0 ? &reference_world : &body[j->body[1]];
  moving_vector u, v;
  double arm[2][3], cross[3];
  memset(out, 0, sizeof *out);
  reference_between(j, a, b, arm, &v);
  if (s->i < 0)
    u = v;
  else
    reference_first(j, a, s, &u);
  if (s->j >= 0) {
    double own[3];
    reference_axis(j->frame[1].q, s->j, own);
    reference_attach(b, own, &v);
  }
  out->value = cb_dot3(u.a, v.a);
  out->rate = cb_dot3(u.rate, v.a) + cb_dot3(u.a, v.rate);
  out->gamma = cb_dot3(u.second, v.a) + 2 * cb_dot3(u.rate, v.rate) + cb_dot3(u.a, v.second);
  if (s->i < 0) { /* here the product is (d.d - L^2)/2 */
    out->value = (out->value - j->length * j->length) / 2;
    out->rate /= 2;
    out->gamma = cb_dot3(v.rate, v.rate) + cb_dot3(v.a, v.second);
  } else {
    cb_cross3(u.a, v.a, cross);
    reference_add(1, cross, out->row[0]);
    if (s->j >= 0) reference_add(-1, cross, out->row[1]);
  }
  if (s->j >= 0) return;
  /* d' is the velocity v + w × arm of the joint's point in b minus that of its point in a. */
  for (int side = 0; side < 2; side++) {
    const double sign = side ? 1 : -1;
    cb_cross3(arm[side], u.a, cross);
    reference_add(sign, cross, out->row[side]);
    reference_add(sign, u.a, out->row[side] + 3);
  }
}

/* --- kinds of joints --- */

typedef struct reference_kind {
  const char *name;
  int products, coordinates;
  int product[6][2];
  int coordinate[6][4]; /* {i, -1}: u_i.d; {i, j, k, l}: the angle with the sine u_i.v_j and the cosine u_k.v_l */
} reference_kind;

static const reference_kind reference_kinds[] = {
    {"hinge", 5, 1, {{0, 2}, {1, 2}, {0, -1}, {1, -1}, {2, -1}}, {{1, 0, 0, 0}}},
    {"slide", 5, 1, {{0, 2}, {1, 2}, {0, 1}, {0, -1}, {1, -1}}, {{2, -1}}},
    {"weld", 6, 0, {{0, 2}, {1, 2}, {0, 1}, {0, -1}, {1, -1}, {2, -1}}, {{0}}},
    {"ball", 3, 0, {{0, -1}, {1, -1}, {2, -1}}, {{0}}},
    {"universal", 4, 2, {{0, 1}, {0, -1}, {1, -1}, {2, -1}}, {{2, 1, 1, 1}, {0, 2, 0, 0}}},
    {"cylindrical", 4, 2, {{0, 2}, {1, 2}, {0, -1}, {1, -1}}, {{2, -1}, {1, 0, 0, 0}}},
    {"planar", 3, 3, {{0, 2}, {1, 2}, {2, -1}}, {{0, -1}, {1, -1}, {1, 0, 0, 0}}},
    {"free", 0, 3, {{0}}, {{0, -1}, {1, -1}, {2, -1}}},
    {"rod", 1, 0, {{-1, -1}}, {{0}}}};

static inline const reference_kind *reference_kind_of(const char *name) {
  for (size_t i = 0; i < sizeof reference_kinds / sizeof *reference_kinds; i++)
    if (!strcmp(reference_kinds[i].name, name)) return &reference_kinds[i];
  fail_msg("no reference for `%s`", name);
  return NULL;
}

/* Computes a coordinate with its row. An angle is computed from its sine and cosine, whose squares add up to 1; it is
 * the value nearest to `near`. */
static inline void reference_coordinate(const reference *r, const reference_body *body, int joint, const int of[4],
                                        double near, product_row *out) {
  scalar_product s = {.joint = joint, .i = of[0], .j = of[1], .about = -1};
  product_row cosine;
  reference_row(r, body, &s, out);
  if (of[1] < 0) return;
  s.i = of[2];
  s.j = of[3];
  reference_row(r, body, &s, &cosine);
  const double n = out->value, c = cosine.value;
  out->value = near + remainder(atan2(n, c) - near, 2 * acos(-1.));
  out->rate = c * out->rate - n * cosine.rate;
  out->gamma = c * out->gamma - n * cosine.gamma;
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < 6; k++) out->row[side][k] = c * out->row[side][k] - n * cosine.row[side][k];
}

/* --- the equations --- */

typedef struct reference_system {
  int n, size; /* number of accelerations; number of accelerations and multipliers */
  double *matrix, *right;
} reference_system;

/* Writes the row `of` of J to `out`, as coefficients of the accelerations of all bodies in the axes of the bodies.
 * Returns gamma for these accelerations. It differs from of->gamma, because with v' in the axes of the body, the
 * acceleration in the world is R (v' + omega × v). */
static inline double reference_gather(const reference *r, const reference_body *body, int joint, const product_row *of,
                                      double *out) {
  double gamma = of->gamma;
  memset(out, 0, sizeof *out * 6 * (size_t)r->bodies);
  for (int side = 0; side < 2; side++) {
    const int b = r->joint[joint].body[side];
    if (b < 0) continue;
    double cross[3];
    cb_cross3(body[b].w, body[b].v, cross);
    gamma += cb_dot3(of->row[side] + 3, cross);
    for (int part = 0; part < 2; part++) {
      double own[3];
      cb_apply3_transposed(body[b].R, of->row[side] + 3 * part, own);
      for (int k = 0; k < 3; k++) out[6 * b + 3 * part + k] += own[k];
    }
  }
  return gamma;
}

static inline void reference_constrain(const reference *r, const reference_body *body, const scalar_product *s,
                                       double second, reference_system *e) {
  product_row row;
  double own[6 * REFERENCE_BODIES];
  const int width = 6 * REFERENCE_BODIES + REFERENCE_ROWS, at = e->size++;
  reference_row(r, body, s, &row);
  const double gamma = reference_gather(r, body, s->joint, &row, own);
  assert_true(at < width);
  for (int k = 0; k < e->n; k++) e->matrix[at * width + k] = e->matrix[k * width + at] = own[k];
  e->right[at] = second - gamma;
}

/* Adds the forces of the spring, the damper and the rotor of a coordinate. */
static inline void reference_push(const reference *r, const reference_body *body, int joint, int c, const int of[4],
                                  reference_system *e) {
  const reference_joint *j = &r->joint[joint];
  product_row row;
  double own[6 * REFERENCE_BODIES];
  const int width = 6 * REFERENCE_BODIES + REFERENCE_ROWS;
  reference_coordinate(r, body, joint, of, j->rest[c], &row);
  const double gamma = reference_gather(r, body, joint, &row, own),
               Q = -j->stiffness[c] * (row.value - j->rest[c]) - j->damping[c] * row.rate - j->armature[c] * gamma;
  for (int i = 0; i < e->n; i++) {
    e->right[i] += Q * own[i];
    for (int k = 0; k < e->n; k++) e->matrix[i * width + k] += j->armature[c] * own[i] * own[k];
  }
}

/* Adds a spring that has the stiffness k about all axes. The torque on b is -k times the rotation vector of frame B
 * relative to frame A. */
static inline void reference_twist(const reference *r, const reference_body *body, int joint, double k,
                                   reference_system *e) {
  const reference_joint *j = &r->joint[joint];
  double twice[3] = {0}, trace = 0;
  for (int i = 0; i < 3; i++) { /* sum_i u_i × v_i = 2 sin(angle) axis, in the world's axes */
    double u[2][3], own[3], cross[3];
    for (int side = 0; side < 2; side++) {
      const reference_body *at = j->body[side] < 0 ? &reference_world : &body[j->body[side]];
      reference_axis(j->frame[side].q, i, own);
      cb_apply3(at->R, own, u[side]);
    }
    cb_cross3(u[0], u[1], cross);
    reference_add(1, cross, twice);
    trace += cb_dot3(u[0], u[1]);
  }
  const double sine = sqrt(cb_dot3(twice, twice)) / 2, angle = atan2(sine, (trace - 1) / 2);
  for (int side = 0; side < 2; side++) {
    const int b = j->body[side];
    double own[3];
    if (b < 0) continue;
    cb_apply3_transposed(body[b].R, twice, own);
    for (int i = 0; i < 3; i++) e->right[6 * b + i] += (side ? -k : k) * angle / (2 * sine) * own[i];
  }
}

/* Adds a spring between the two points of a joint, in bodies a and b, with the force -k (|d| - L) along d on b. The row
 * of d.d/2 is |d| times the row of |d|. */
static inline void reference_stretch(const reference *r, const reference_body *body, int joint, reference_system *e) {
  const reference_joint *j = &r->joint[joint];
  product_row row;
  double own[6 * REFERENCE_BODIES];
  reference_row(r, body, &(scalar_product){.joint = joint, .i = -1, .j = -1, .about = -1}, &row);
  reference_gather(r, body, joint, &row, own);
  const double far = sqrt(2 * row.value + j->length * j->length),
               pull = j->length > 0 ? -j->stiffness[0] * (1 - j->length / far) : -j->stiffness[0];
  for (int i = 0; i < e->n; i++) e->right[i] += pull * own[i];
}

static inline void reference_hold(const reference *r, const reference_body *body, int joint, double t,
                                  reference_system *e) {
  const reference_joint *j = &r->joint[joint];
  if (!strcmp(j->kind, "spring")) {
    reference_stretch(r, body, joint, e);
    return;
  }
  const reference_kind *kind = reference_kind_of(j->kind);
  for (int i = 0; i < kind->products; i++)
    reference_constrain(
        r, body, &(scalar_product){.joint = joint, .i = kind->product[i][0], .j = kind->product[i][1], .about = -1}, 0,
        e);
  if (!strcmp(j->kind, "ball")) reference_twist(r, body, joint, j->stiffness[0], e);
  if (!strcmp(j->kind, "free")) reference_twist(r, body, joint, j->stiffness[3], e);
  for (int c = 0; c < kind->coordinates; c++) {
    const int *of = kind->coordinate[c];
    if (!j->law[c]) {
      reference_push(r, body, joint, c, of, e);
      continue;
    }
    if (of[1] < 0) {
      reference_constrain(r, body, &(scalar_product){.joint = joint, .i = of[0], .j = -1, .about = -1}, j->law[c](t, 2),
                          e);
      continue;
    }
    /* a driven angle about axis z: axis y of A, rotated by this angle, must be normal to axis x of B */
    assert_true(of[0] == 1 && of[1] == 0);
    reference_constrain(r, body,
                        &(scalar_product){.joint = joint,
                                          .i = 1,
                                          .j = 0,
                                          .about = 2,
                                          .turn = j->law[c](t, 0),
                                          .turn_rate = j->law[c](t, 1),
                                          .turn_second = j->law[c](t, 2)},
                        0, e);
  }
}

/* Adds the equation K Y' = ad*_Y K Y + F of one body in its axes, with Y' = (omega', v'). */
static inline void reference_free(const reference *r, const reference_body *body, int b, reference_system *e) {
  double Y[6], mu[6], F[6], own[3];
  const int width = 6 * REFERENCE_BODIES + REFERENCE_ROWS;
  cb_apply3_transposed(body[b].R, body[b].w, Y);
  cb_apply3_transposed(body[b].R, body[b].v, Y + 3);
  cb_apply6(r->K[b], Y, mu);
  cb_cross3(mu, Y, F); /* ad*_Y (l, p) = (l × omega + p × v, p × omega) */
  cb_cross3(mu + 3, Y + 3, own);
  reference_add(1, own, F);
  cb_cross3(mu + 3, Y, F + 3);
  cb_apply3_transposed(body[b].R, r->weight[b], own);
  reference_add(1, own, F + 3);
  for (int i = 0; i < 6; i++) {
    e->right[6 * b + i] += F[i];
    for (int k = 0; k < 6; k++) e->matrix[(6 * b + i) * width + 6 * b + k] += r->K[b][i][k];
  }
}

static inline int reference_rhs(double t, const double *z, double *dz, void *user) {
  const reference *r = user;
  static double matrix[(6 * REFERENCE_BODIES + REFERENCE_ROWS) * (6 * REFERENCE_BODIES + REFERENCE_ROWS)],
      dense[(6 * REFERENCE_BODIES + REFERENCE_ROWS) * (6 * REFERENCE_BODIES + REFERENCE_ROWS)],
      right[6 * REFERENCE_BODIES + REFERENCE_ROWS];
  const int width = 6 * REFERENCE_BODIES + REFERENCE_ROWS;
  int pivot[6 * REFERENCE_BODIES + REFERENCE_ROWS];
  reference_body body[REFERENCE_BODIES];
  reference_system e = {6 * r->bodies, 6 * r->bodies, matrix, right};
  memset(matrix, 0, sizeof matrix);
  memset(right, 0, sizeof right);
  for (int b = 0; b < r->bodies; b++) reference_read(z + REFERENCE_STATE * b, &body[b]);
  for (int b = 0; b < r->bodies; b++) reference_free(r, body, b, &e);
  for (int j = 0; j < r->joints; j++) reference_hold(r, body, j, t, &e);
  for (int i = 0; i < e.size; i++) memcpy(dense + i * e.size, matrix + i * width, (size_t)e.size * sizeof *dense);
  assert_int_equal(cb_dense_factor(e.size, dense, pivot), CB_OK);
  cb_dense_solve(e.size, dense, pivot, right);
  for (int b = 0; b < r->bodies; b++) {
    double *out = dz + REFERENCE_STATE * b, cross[3], a[3];
    for (int k = 0; k < 3; k++) {
      const double column[3] = {body[b].R[0][k], body[b].R[1][k], body[b].R[2][k]};
      cb_cross3(body[b].w, column, cross);
      for (int i = 0; i < 3; i++) out[3 * i + k] = cross[i];
    }
    memcpy(out + 9, body[b].v, sizeof body[b].v);
    cb_apply3(body[b].R, right + 6 * b, out + 12);
    cb_apply3(body[b].R, right + 6 * b + 3, a);
    cb_cross3(body[b].w, body[b].v, cross);
    for (int k = 0; k < 3; k++) out[15 + k] = a[k] + cross[k];
  }
  return GSL_SUCCESS;
}

/* Writes the state of a body with this pose and twist to z, in the order R by rows, x, w, v of reference_body. */
static inline void reference_write(const cb_pose *g, const double Y[6], double *z) {
  double r[3][3];
  cb_pose_rotation(g, r);
  for (int i = 0; i < 9; i++) z[i] = r[i / 3][i % 3];
  memcpy(z + 9, g->x, sizeof g->x);
  cb_apply3((const double(*)[3])r, Y, z + 12);
  cb_apply3((const double(*)[3])r, Y + 3, z + 15);
}
