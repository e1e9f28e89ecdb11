/* Reads the key `coupling` of `fluid`, and makes tables of the exact coupling (fluid/body_coupling.h). */
#include "fluid/body_coupling.h"

#include "bundle/samples.h"
#include "core/failure.h"
#include "core/registry.h"
#include "numerics/vec3.h"
#include "tree/scalar.h"
#include <curvebody/joint.h>

#include <stdlib.h>
#include <string.h>

extern const cb_registry cb_body_coupling_registry;

#define REAL(name, fallback, unit, doc) \
  { #name, CB_PARAM_REAL, offsetof(cb_coupling_plane, name), fallback, unit, "", NULL, doc }
const cb_param cb_coupling_plane_params[] = {
    {"wall", CB_PARAM_CHOICE, offsetof(cb_coupling_plane, wall), "none", "", "", "none|rigid|free",
     "a plane at which the fluid ends: a rigid wall, or a free surface, where the potential is 0"},
    REAL(wall_height, "0", "m", "height of the plane along its normal"),
    REAL(wall_x, "0", "", "x component of the normal, which points into the fluid"),
    REAL(wall_y, "0", "", "y component of the normal"),
    REAL(wall_z, "1", "", "z component of the normal"),
    {0}};

cb_mirror cb_coupling_plane_of(const cb_body_coupling *c) {
  const cb_coupling_plane *p = c->params;
  return (cb_mirror){(cb_mirror_kind)p->wall, {p->wall_x, p->wall_y, p->wall_z}, p->wall_height};
}

/* Fails if the map gives the place of a plane (keys that begin with `wall_`) without the key `wall`, or if the normal
 * of the plane is 0. */
static cb_status check_plane(const cb_body_coupling *c, const cb_node *map) {
  const cb_mirror plane = cb_body_coupling_plane(c);
  for (size_t i = 0; map && i < map->count; i++) {
    const bool of_plane = !strncmp(map->keys[i]->text, "wall_", 5);
    if (of_plane && !cb_node_get(map, "wall"))
      return cb_node_fail(map->keys[i], "`%s` without `wall`: expected also `wall: rigid` or `wall: free`",
                          map->keys[i]->text);
    if (of_plane && plane.kind != CB_MIRROR_NONE && !(cb_dot3(plane.normal, plane.normal) > 0))
      return cb_node_fail(map->keys[i], "the normal of the wall is (0, 0, 0): expected a direction");
  }
  return CB_OK;
}

cb_status cb_body_coupling_read(const cb_node *node, cb_body_coupling **out) {
  static const char *const shared[] = {"name"};
  const cb_node *map = node->kind == CB_NODE_MAP ? node : NULL, *named = map ? cb_node_get(map, "name") : node;
  const char *name;
  if (!named) return cb_node_fail(node, "the key `name` is missing: expected none, dipole or exact");
  cb_status status = cb_node_string(named, &name);
  *out = NULL;
  if (status) return status;
  if (!strcmp(name, "none")) return map ? cb_params_bind(NULL, map, node, shared, 1, NULL) : CB_OK;
  const cb_body_coupling_class *class =
      cb_body_coupling_classes[cb_registry_find(&cb_body_coupling_registry, name, strlen(name))];
  if (!class) {
    const char *names[CB_REGISTRY_MAX + 1] = {"none"};
    const size_t n = 1 + cb_registry_names(&cb_body_coupling_registry, names + 1);
    return cb_fail_unknown(named, "coupling", name, names, n);
  }
  cb_body_coupling *c = calloc(1, sizeof *c);
  void *params = calloc(1, class->params_size ? class->params_size : 1);
  status = c && params ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for the coupling %s", class->name);
  if (!status) status = cb_params_bind(class->params, map, node, shared, 1, params);
  if (!status && class->read) status = class->read(params);
  if (status) {
    free(params);
    free(c);
    return status;
  }
  *c = (cb_body_coupling){class, params};
  *out = c;
  return check_plane(c, map);
}

void cb_body_coupling_free(cb_body_coupling *c) {
  if (!c) return;
  free(c->params);
  free(c);
}

/* --- tables ---
 *
 * Tables of the exact coupling (equations: body_coupling.h).
 */

enum { AXES = CB_COUPLING_AXES, TURN = 3 };

/* The coordinates of a class of joints. Each is a displacement along the axis 0, 1 or 2 of frame A
 * (fluid/body_coupling.h), or TURN, the angle about axis 2. */
typedef struct joint_kind {
  const char *name;
  int coordinates, of[AXES];
} joint_kind;

static const joint_kind kinds[] = {{"hinge", 1, {TURN}},
                                   {"slide", 1, {2}},
                                   {"cylindrical", 2, {2, TURN}},
                                   {"planar", 3, {0, 1, TURN}},
                                   {"weld", 0, {0}}};

/* A joint at given poses: the rotations of its two bodies, those of its frames A and B, the quaternion m of R_A^T R_B,
 * and the vectors from the origins of the two bodies to the origin of frame B. */
typedef struct joint_now {
  double body[2][3][3], A[3][3], B[3][3], m[4], arm[2][3];
} joint_now;

/* A joint of the tree, with the number of its first coordinate in the table. The tree is a set of joints without loops
 * that connects all bodies. */
typedef struct tree_joint {
  const cb_coupled_joint *of;
  const joint_kind *kind;
  int first;
  joint_now now;
} tree_joint;

struct cb_coupling_table {
  cb_arena *arena;
  int n, size, joints; /* size: 6 n */
  tree_joint *joint;   /* [joints] */
  double density;
  /* The entries of the grid are the blocks (i, j <= i) of C, row of blocks by row of blocks. The 36 numbers of a block
   * are stored row by row. */
  cb_spline_grid grid;
  const char *name[AXES];
  bool turns[AXES];    /* the coordinate is an angle */
  double *C, *slope;   /* work arrays: the entries of C, and their derivatives by each coordinate of the grid */
  double (*CY)[6], *K; /* work arrays CY[n] and K[6 n][6 n] */
};

static const cb_pose world = {{1, 0, 0, 0}, {0, 0, 0}};

/* --- coordinates --- */

/* Returns q plus a number of whole turns, such that the result is nearest to the middle of the axis a. */
static double unwound(const cb_spline_axis *a, double q) {
  const double turn = 2 * M_PI, middle = (a->low + a->high) / 2;
  return a->period > 0 ? q : q - turn * nearbyint((q - middle) / turn);
}

/* Sets j->now and the coordinates q of the joint for the poses g. */
static void find_joint(const cb_coupling_table *t, tree_joint *j, const cb_pose *g, double *q) {
  joint_now *now = &j->now;
  const cb_pose *body[2], *frame = j->of->frame;
  double turned[2][4], at[2][3], between[3], back[4], x[3];
  for (int s = 0; s < 2; s++) {
    body[s] = j->of->body[s] < 0 ? &world : &g[j->of->body[s]];
    cb_quaternion_multiply(body[s]->q, frame[s].q, turned[s]);
    cb_quaternion_rotation(body[s]->q, now->body[s]);
    cb_apply3((const double(*)[3])now->body[s], frame[s].x, at[s]);
  }
  for (int k = 0; k < 3; k++) {
    const double apart = body[1]->x[k] - body[0]->x[k];
    now->arm[1][k] = at[1][k];
    now->arm[0][k] = apart + at[1][k];
    between[k] = apart + at[1][k] - at[0][k];
  }
  cb_quaternion_rotation(turned[0], now->A);
  cb_quaternion_rotation(turned[1], now->B);
  cb_quaternion_inverse(turned[0], back);
  cb_quaternion_multiply(back, turned[1], now->m);
  cb_apply3_transposed((const double(*)[3])now->A, between, x);
  for (int c = 0; c < j->kind->coordinates; c++) {
    const int of = j->kind->of[c];
    q[c] = of == TURN ? unwound(&t->grid.axis[j->first + c], 2 * atan2(now->m[3], now->m[0])) : x[of];
  }
}

/* Adds to the slopes of the two bodies of a joint the wrenches of the force `load` on coordinate c of the joint. */
static void add_wrench(const tree_joint *j, int c, double load, double (*slope)[6]) {
  const joint_now *now = &j->now;
  double wrench[2][6] = {{0}}, own[6];
  const int of = j->kind->of[c];
  if (of == TURN) {
    const double w = now->m[0], x = now->m[1], y = now->m[2], z = now->m[3], length = w * w + z * z;
    const double torque[3] = {load * (z * x - w * y) / length, load * (z * y + w * x) / length, load};
    cb_apply3((const double(*)[3])now->B, torque, wrench[1]);
    memcpy(wrench[0], wrench[1], sizeof wrench[0]);
  } else {
    for (int s = 0; s < 2; s++) {
      for (int k = 0; k < 3; k++) wrench[s][3 + k] = load * now->A[k][of];
      cb_cross3(now->arm[s], wrench[s] + 3, wrench[s]);
    }
  }
  for (int s = 0; s < 2; s++) {
    if (j->of->body[s] < 0) continue;
    cb_turn6_transposed((const double(*)[3])now->body[s], wrench[s], own);
    cb_add6(s ? 1 : -1, own, slope[j->of->body[s]]);
  }
}

/* --- evaluation --- */

/* Sets C and its slopes (NULL: not wanted) at the coordinates q. */
static cb_status find_C_at(const cb_coupling_table *t, const double *q, double *C, double *slope) {
  int outside = 0;
  if (cb_spline_grid_at(&t->grid, q, 0, t->grid.entries, C, slope, NULL, &outside)) return CB_OK;
  const cb_spline_axis *a = &t->grid.axis[outside];
  return cb_fail(CB_STEP_DOMAIN,
                 "the coordinate of joint `%s` is %.9g, outside the table of the coupling: expected a value from %.9g "
                 "to %.9g",
                 t->name[outside], q[outside], a->low, a->high);
}

/* Sets the member `now` of each joint, and t->C, for the poses g. If `slope` is true, t->slope is set, too. */
static cb_status find_C(cb_coupling_table *t, const cb_pose *g, bool slope) {
  double q[AXES];
  for (int i = 0; i < t->joints; i++)
    if (t->joint[i].kind->coordinates > 0) find_joint(t, &t->joint[i], g, q + t->joint[i].first);
  return find_C_at(t, q, t->C, slope ? t->slope : NULL);
}

/* Computes out = M Y for the symmetric matrix with the blocks M, and returns <M Y, Y>. */
static double form(int n, const double *M, const double (*Y)[6], double (*out)[6]) {
  double twice = 0;
  memset(out, 0, (size_t)n * sizeof *out);
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < 6; k++, M += 6) {
        for (int l = 0; l < 6; l++) out[i][k] += M[l] * Y[j][l];
        if (j < i) cb_add6(Y[i][k], M, out[j]);
      }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 6; k++) twice += out[i][k] * Y[i][k];
  return twice;
}

cb_status cb_coupling_table_apply(cb_coupling_table *t, const cb_pose *g, const double (*Y)[6], double (*momentum)[6],
                                  double (*slope)[6], double *energy) {
  const cb_status status = find_C(t, g, slope != NULL);
  if (status) return status;
  form(t->n, t->C, Y, momentum);
  for (int i = 0; energy && i < t->n; i++) {
    energy[i] = 0;
    for (int k = 0; k < 6; k++) energy[i] += momentum[i][k] * Y[i][k] / 2;
  }
  if (slope) memset(slope, 0, (size_t)t->n * sizeof *slope);
  for (int i = 0; slope && i < t->joints; i++)
    for (int c = 0; c < t->joint[i].kind->coordinates; c++) {
      const double *dC = t->slope + (size_t)(t->joint[i].first + c) * (size_t)t->grid.entries;
      add_wrench(&t->joint[i], c, form(t->n, dC, Y, t->CY) / 2, slope);
    }
  return CB_OK;
}

/* --- a function of coordinates --- */

/* Returns the kind of coordinate q of the table (an axis, or TURN), and sets *joint to the joint that has this
 * coordinate. */
static int kind_of(const cb_coupling_table *t, int q, const tree_joint **joint) {
  int i = t->joints - 1;
  while (t->joint[i].first > q || t->joint[i].kind->coordinates == 0) i--;
  *joint = &t->joint[i];
  return t->joint[i].kind->of[q - t->joint[i].first];
}

static cb_status at_coordinates(void *self, const double *of, double *C, double *slope) {
  const cb_coupling_table *t = self;
  double q[AXES];
  for (int i = 0; i < t->grid.n; i++) q[i] = t->turns[i] ? unwound(&t->grid.axis[i], of[i]) : of[i];
  return find_C_at(t, q, C, slope);
}

void cb_coupling_table_by_joints(cb_coupling_table *t, cb_coupling_by_joints *out) {
  *out = (cb_coupling_by_joints){.self = t, .coordinates = t->grid.n, .at = at_coordinates};
  for (int i = 0; i < t->grid.n; i++) {
    const tree_joint *j;
    kind_of(t, i, &j);
    out->joint[i] = j->of->number;
    out->coordinate[i] = i - j->first;
  }
}

/* --- samples --- */

/* Computes the blocks of C at the poses g without the table, and writes them to `out`. */
static cb_status sample(cb_coupling_table *t, cb_several *several, const cb_pose *g, double *out) {
  const cb_status status = cb_several_tensor(several, g, t->K, NULL);
  for (int i = 0; i < t->n && !status; i++)
    for (int j = 0; j <= i; j++) {
      double own[6][6] = {{0}};
      if (i == j) cb_several_own(several, i, own);
      for (int k = 0; k < 36; k++)
        *out++ = t->density * (t->K[(6 * i + k / 6) * t->size + 6 * j + k % 6] - own[k / 6][k % 6]);
    }
  return status;
}

cb_status cb_coupling_table_error(cb_coupling_table *t, cb_several *several, const cb_pose *g, double *error) {
  double *exact = t->slope;
  cb_status status = find_C(t, g, false);
  if (!status) status = sample(t, several, g, exact);
  if (status) return status;
  *error = 0;
  for (int i = 0, entry = 0; i < t->n; i++)
    for (int j = 0; j <= i; j++) {
      double own[2][6][6];
      cb_several_own(several, i, own[0]);
      cb_several_own(several, j, own[1]);
      for (int k = 0; k < 36; k++, entry++) {
        const double unit = t->density * sqrt(own[0][k / 6][k / 6] * own[1][k % 6][k % 6]);
        *error = fmax(*error, fabs(t->C[entry] - exact[entry]) / unit);
      }
    }
  return CB_OK;
}

/* --- creation --- */

/* Adds to the tree each joint whose two bodies are not yet connected by the tree. Bodies that the tree connects have
 * the same number in group[n + 1]; the last entry is the number of the world. */
static void grow(cb_coupling_table *t, const cb_coupled_fluid *of, bool world_too, int *group) {
  for (int k = 0; k < of->joints; k++) {
    const cb_coupled_joint *j = &of->joint[k];
    const int end[2] = {j->body[0] < 0 ? of->n : j->body[0], j->body[1] < 0 ? of->n : j->body[1]};
    const int from = group[end[1]], to = group[end[0]];
    const joint_kind *kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
      if (!strcmp(kinds[i].name, j->class_->name)) kind = &kinds[i];
    if (!kind || from == to || (!world_too && (end[0] == of->n || end[1] == of->n))) continue;
    for (int i = 0; i <= of->n; i++)
      if (group[i] == from) group[i] = to;
    t->joint[t->joints++] = (tree_joint){.of = j, .kind = kind};
  }
}

static cb_status find_tree(cb_coupling_table *t, const cb_coupled_fluid *of, int *which) {
  int *group = cb_arena_alloc(t->arena, (size_t)of->n + 1, sizeof *group);
  if (!group) return cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", of->n);
  for (int i = 0; i <= of->n; i++) group[i] = i;
  grow(t, of, false, group);
  for (int i = 1; i < of->n; i++)
    if (group[i] != group[0]) {
      grow(t, of, true, group);
      break;
    }
  for (*which = 1; *which < of->n; ++*which)
    if (group[*which] != group[0])
      return cb_fail(
          CB_ERROR_UNSUPPORTED,
          "it is free relative to the first body, and `samples` needs bodies that are connected by joints of the kinds "
          "hinge, slide, cylindrical, planar and weld: expected `coupling: exact` without `samples`");
  *which = -1;
  for (int i = 0; i < t->joints; i++) {
    t->joint[i].first = t->grid.n;
    t->grid.n += t->joint[i].kind->coordinates;
    if (t->grid.n > AXES) break;
    for (int c = t->joint[i].first; c < t->grid.n; c++) t->name[c] = t->joint[i].of->name;
  }
  if (t->grid.n >= 1 && t->grid.n <= AXES) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "the poses of the bodies relative to each other have %s coordinates, and `samples` is for 1 to %d: "
                 "expected `coupling: exact` without `samples`",
                 t->grid.n ? "too many" : "no", AXES);
}

static cb_status make_axes(cb_coupling_table *t, const cb_coupling_samples *s) {
  if ((s->counts > 1 && s->counts != t->grid.n) || (s->ranges && s->ranges != t->grid.n))
    return cb_fail(CB_ERROR_ARGUMENT, "expected numbers of `samples` and a `range` for each of the %d coordinates",
                   t->grid.n);
  for (int i = 0; i < t->grid.n; i++) {
    const tree_joint *j;
    const bool turns = kind_of(t, i, &j) == TURN;
    const int points = s->count[s->counts > 1 ? i : 0];
    const bool given = s->ranges && s->given[i];
    const double low = given ? s->range[i][0] : 0, high = given ? s->range[i][1] : 2 * M_PI;
    double *x = cb_arena_alloc(t->arena, (size_t)points, sizeof *x);
    if (!x) return cb_fail(CB_ERROR_MEMORY, "no memory for %d samples", points);
    t->turns[i] = turns;
    if (!given && !turns)
      return cb_fail(CB_ERROR_ARGUMENT, "`samples` of the displacement of joint `%s` need its `range`", t->name[i]);
    if (given && turns && high - low > 2 * M_PI * (1 - 1e-9))
      return cb_fail(CB_ERROR_ARGUMENT,
                     "expected a `range` of less than one turn for the angle of joint `%s`, or `none`", t->name[i]);
    for (int k = 0; k < points; k++) x[k] = low + (high - low) * k / (given ? points - 1 : points);
    const cb_status status =
        cb_spline_axis_create(points > 6 ? 5 : 3, points, x, given ? 0 : 2 * M_PI, t->arena, &t->grid.axis[i]);
    if (status) return status;
  }
  return CB_OK;
}

/* Places all bodies for the coordinates q; the first body, or the world, is at the origin. */
static void place(const cb_coupling_table *t, const double *q, cb_pose *g, bool *placed) {
  memset(placed, 0, (size_t)t->n + 1);
  placed[0] = true;
  g[0] = world;
  for (int round = 0; round < t->joints; round++)
    for (int i = 0; i < t->joints; i++) {
      const cb_coupled_joint *j = t->joint[i].of;
      const int a = j->body[0] < 0 ? t->n : j->body[0], b = j->body[1] < 0 ? t->n : j->body[1];
      cb_pose m, move, back;
      if (placed[a] == placed[b]) continue;
      j->class_->place(q + t->joint[i].first, j->data, &m);
      cb_pose_inverse(&j->frame[1], &back);
      cb_pose_multiply(&j->frame[0], &m, &move);
      cb_pose_multiply(&move, &back, &move);
      if (placed[b]) cb_pose_inverse(&move, &back);
      cb_pose_multiply(&g[placed[a] ? a : b], placed[a] ? &move : &back, &g[placed[a] ? b : a]);
      placed[a] = placed[b] = true;
    }
}

static cb_status fill(cb_coupling_table *t, cb_several *several) {
  size_t total = 1;
  for (int i = 0; i < t->grid.n; i++) total *= (size_t)t->grid.axis[i].points;
  const size_t entries = (size_t)t->grid.entries;
  cb_pose *g = cb_arena_alloc(t->arena, (size_t)t->n + 1, sizeof *g);
  bool *placed = cb_arena_alloc(t->arena, (size_t)t->n + 1, sizeof *placed);
  cb_arena_doubles(t->arena, entries * (size_t)t->grid.n, &t->slope);
  cb_arena_doubles(t->arena, entries, &t->C);
  t->CY = cb_arena_alloc(t->arena, (size_t)t->n, sizeof *t->CY);
  cb_arena_doubles(t->arena, (size_t)t->size * (size_t)t->size, &t->K);
  t->grid.coefficient = cb_arena_alloc(t->arena, total * entries, sizeof *t->grid.coefficient);
  if (cb_arena_lost(t->arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for a table of %zu samples", total);
  for (size_t k = 0; k < total; k++) {
    double q[AXES] = {0};
    size_t left = k;
    for (int i = t->grid.n - 1; i >= 0; i--) {
      q[i] = t->grid.axis[i].x[left % (size_t)t->grid.axis[i].points];
      left /= (size_t)t->grid.axis[i].points;
    }
    place(t, q, g, placed);
    const cb_status status = sample(t, several, g, t->grid.coefficient + k * entries);
    if (status == CB_STEP_DOMAIN)
      return cb_fail(CB_ERROR_DOMAIN,
                     "at the sample %.4g, %.4g, %.4g of the coordinates: %s; expected a `range` in which the bodies do "
                     "not touch",
                     q[0], q[1], q[2], cb_error_text());
    if (status) return status;
  }
  return cb_spline_grid_solve(&t->grid);
}

cb_status cb_coupling_table_create(const cb_coupled_fluid *of, cb_several *several, const cb_coupling_samples *samples,
                                   int *which, cb_coupling_table **out) {
  cb_coupling_table *t = cb_arena_object(sizeof *t, "a table of a coupling");
  if (!t) return CB_ERROR_MEMORY;
  t->n = of->n;
  t->size = 6 * of->n;
  t->density = of->density;
  t->grid.entries = 18 * of->n * (of->n + 1);
  t->joint = cb_arena_alloc(t->arena, (size_t)of->joints + 1, sizeof *t->joint);
  *which = -1;
  cb_status status = t->joint ? find_tree(t, of, which) : cb_fail(CB_ERROR_MEMORY, "no memory for joints");
  if (!status) status = make_axes(t, samples);
  if (!status) status = fill(t, several);
  if (status)
    cb_coupling_table_free(t);
  else
    *out = t;
  return status;
}

void cb_coupling_table_free(cb_coupling_table *t) {
  if (t) cb_arena_free(t->arena);
}
