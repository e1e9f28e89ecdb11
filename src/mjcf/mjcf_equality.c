/* <equality> of MJCF: <connect> and <weld> become joints that close loops; a <joint> couples two coordinates.
 *
 * A <connect> joins the point `anchor` of the first body to the point of the second one that is in the same place at
 * the reference. A <weld> keeps the pose at the reference, or `relpose`, of the second body as the first one sees it.
 * If `site1` and `site2` are given, the places of these two sites coincide instead, and for a <weld> also their axes.
 * These joints hold exactly here, whereas MuJoCo's constraints are soft. Source: MuJoCo's XML reference (equality).
 *
 * A <joint> determines the coordinate of joint1 from that of joint2. Without joint2 the coordinate is constant:
 *
 *   q_1 - ref_1 = a_0 + a_1 (q_2 - ref_2) + .. + a_4 (q_2 - ref_2)^4        a: `polycoef`, default 0 1 0 0 0
 * A coordinate of the scenario is MuJoCo's coordinate less `ref`. If another constraint gives q_1 already, or if q_2
 * depends on q_1, a linear equation is solved for q_2. The equation holds exactly here, also at the start, whereas
 * MuJoCo's constraint is soft. Source: MuJoCo's XML reference (equality/joint).
 */
#include "mjcf/mjcf_private.h"

#include "numerics/vec3.h"
#include "tree/scalar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- <joint> --- */

static cb_status find_joint(const cb_mjcf_reader *r, const cb_node *name, const char *attribute, cb_mjcf_hold **out) {
  int copies = 0;
  const cb_mjcf_target *t = cb_mjcf_find_target(r, name->text, true, &copies);
  if (!t) return cb_node_fail(name, "no joint is called `%s`", name->text);
  if (!t->hold || t->type == CB_MJCF_BALL) return cb_node_fail(name, "%s: expected a hinge or a slide", attribute);
  *out = t->hold;
  return CB_OK;
}

static bool depends(const cb_mjcf_hold *h, const cb_mjcf_hold *on) {
  while (h && h != on) h = h->to;
  return h != NULL;
}

/* Sets q = p(r) unless q is given already, or r depends on q. */
static bool set(cb_mjcf_hold *q, const cb_mjcf_hold *r, cb_xml *e, const double poly[CB_MJCF_POLYNOMIAL]) {
  if (q->by || depends(r, q)) return false;
  q->by = e;
  q->to = r;
  for (int i = 0; i < CB_MJCF_POLYNOMIAL; i++) q->poly[i] = poly[i];
  for (int i = 0; i < 2 && !r; i++) q->limit[i] = i ? INFINITY : -INFINITY; /* a constant coordinate needs no range */
  return true;
}

static cb_status couple(cb_mjcf_reader *r, cb_xml *e) {
  cb_mjcf_source source;
  double poly[CB_MJCF_POLYNOMIAL] = {0, 1};
  cb_mjcf_hold *first = NULL, *second = NULL;
  cb_status status = cb_mjcf_source_of(r, e, NULL, &source);
  if (status) return status;
  const cb_node *one = cb_mjcf_value(&source, "joint1"), *two = cb_mjcf_value(&source, "joint2"),
                *given = cb_mjcf_value(&source, "polycoef");
  if (!one) return cb_node_fail(&e->name, "expected `joint1`, the name of a joint");
  if (given) status = cb_mjcf_numbers(given, "polycoef", 1, CB_MJCF_POLYNOMIAL, poly, NULL);
  if (!status) status = find_joint(r, one, "joint1", &first);
  if (!status && two) status = find_joint(r, two, "joint2", &second);
  if (status) return status;
  if (first == second) return cb_node_fail(two, "joint2: expected another joint than `%s`", one->text);
  if (set(first, second, e, poly)) return CB_OK;
  const bool linear = second && poly[1] != 0 && poly[2] == 0 && poly[3] == 0 && poly[4] == 0;
  if (!linear || !set(second, first, e, (double[CB_MJCF_POLYNOMIAL]){-poly[0] / poly[1], 1 / poly[1]}))
    e->why = "other constraints give the coordinates of its joints";
  return CB_OK;
}

/* --- the start --- */

/* Returns the value of the polynomial at x, and finds its derivative. */
static double value_of(const cb_mjcf_hold *h, double x, double *slope) {
  double value = 0;
  *slope = 0;
  for (int k = CB_MJCF_POLYNOMIAL; k--;) {
    *slope = *slope * x + value;
    value = value * x + h->poly[k];
  }
  return value;
}

static cb_status note_start(const cb_mjcf_reader *r, const cb_mjcf_hold *h, double q) {
  char text[256];
  const double unit = !r->radians && h->type == CB_MJCF_HINGE ? 180 / M_PI : 1;
  if (fabs(q - h->q[0]) <= 1e-6 * (1 + fabs(q))) return CB_OK; /* a file may give q with 6 digits */
  snprintf(text, sizeof text, "%s%sthe start of joint `%.64s` at %g: this constraint sets it to %g",
           h->by->note ? h->by->note : "", h->by->note ? "; " : "", h->name, unit * (h->q[0] + h->ref),
           unit * (q + h->ref));
  h->by->note = cb_arena_strdup(r->arena, text);
  return h->by->note ? CB_OK : cb_mjcf_no_memory(r);
}

/* Finds the value of the coordinate at the start. If it depends on another coordinate, first finds the value of that
 * coordinate. */
static cb_status start_one(const cb_mjcf_reader *r, cb_mjcf_hold *h) {
  double slope;
  if (!h->by) return CB_OK;
  cb_status status = h->to ? start_one(r, (cb_mjcf_hold *)h->to) : CB_OK;
  const double q = value_of(h, h->to ? h->to->q[0] : 0, &slope);
  if (!status) status = note_start(r, h, q);
  h->q[0] = q;
  h->rate[0] = h->to ? slope * h->to->rate[0] : 0;
  return status;
}

cb_status cb_mjcf_start_couplings(const cb_mjcf_reader *r) {
  cb_status status = CB_OK;
  for (const cb_mjcf_target *t = r->whole->targets; t && !status; t = t->next)
    if (t->hold) status = start_one(r, t->hold);
  return status;
}

/* --- <connect> and <weld> --- */

/* A body or site of the file: the body of the scenario to which it belongs (NULL: it does not move), and its pose in
 * that body. */
typedef struct place {
  const cb_mjcf_body *body;
  cb_pose pose;
} place;

static cb_status find_body(const cb_mjcf_reader *r, const cb_node *name, place *out) {
  const char *known[64];
  size_t n = 0;
  *out = (place){.pose = {.q = {1}}};
  if (!name || !strcmp(name->text, "world")) return CB_OK;
  for (cb_mjcf_body *b = r->model->bodies; b; b = b->next)
    for (const cb_mjcf_link *l = b->links; l; l = l->next) {
      if (!strcmp(l->name, name->text)) {
        *out = (place){b, l->pose};
        return CB_OK;
      }
      if (*l->name && n < 64) known[n++] = l->name;
    }
  return cb_fail_unknown(name, "body", name->text, known, n);
}

/* Returns the pose of p in the world. When this function is called, all bodies are at the reference. */
static cb_pose at_home(const place *p) {
  cb_pose pose = p->pose;
  if (p->body) cb_pose_multiply(&p->body->place, &p->pose, &pose);
  return pose;
}

static cb_status read_bodies(const cb_mjcf_reader *r, const cb_mjcf_source *source, cb_xml *e, place out[2]) {
  const cb_node *one = cb_mjcf_value(source, "body1"), *two = cb_mjcf_value(source, "body2");
  if (!one) return cb_node_fail(&e->name, "expected `body1`, the name of a body");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, one, find_body(r, one, &out[0]));
  cb_errors_add(&errors, &e->name, find_body(r, two, &out[1]));
  return cb_errors_end(&errors);
}

static cb_status read_sites(const cb_mjcf_reader *r, const cb_mjcf_source *source, cb_xml *e, place out[2]) {
  static const char *const others[] = {"body1", "body2", "anchor", "relpose"};
  const cb_node *const name[] = {cb_mjcf_value(source, "site1"), cb_mjcf_value(source, "site2")};
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const cb_node *other = cb_xml_get(e, others[i]);
    if (other)
      cb_errors_add(&errors, other,
                    cb_node_fail(other, "%s next to sites: expected `site1` and `site2` alone", others[i]));
  }
  for (int side = 0; side < 2; side++) {
    int copies = 0;
    const cb_mjcf_target *site = name[side] ? cb_mjcf_find_target(r, name[side]->text, false, &copies) : NULL;
    const cb_node *at = name[side] ? name[side] : &e->name;
    if (!name[side])
      cb_errors_add(&errors, at, cb_node_fail(at, "expected `site%d` next to `site%d`", side + 1, 2 - side));
    else if (!site)
      cb_errors_add(&errors, at, cb_node_fail(at, "no site is called `%s`", at->text));
    else if (!cb_errors_add(&errors, at, cb_mjcf_site_pose(site, &out[side].pose)))
      out[side].body = site->body;
  }
  return cb_errors_end(&errors);
}

/* Finds the frame of the constraint in the first and in the second body of the file. */
static cb_status read_frame(const cb_mjcf_source *source, cb_xml *e, bool weld, const place at[2], cb_pose frame[2]) {
  const cb_pose home[2] = {at_home(&at[0]), at_home(&at[1])};
  const cb_node *anchor = cb_mjcf_value(source, "anchor"), *relative = cb_mjcf_value(source, "relpose");
  cb_pose back, there;
  double number[7] = {0, 1};
  cb_pose_identity(&frame[0]);
  if (!weld && !anchor) return cb_node_fail(&e->name, "expected `anchor`, a point of body1");
  cb_status status = !weld ? cb_mjcf_numbers(anchor, "anchor", 3, 3, frame[0].x, NULL) : CB_OK;
  if (!status && weld && relative) status = cb_mjcf_numbers(relative, "relpose", 7, 7, number, NULL);
  if (status) return status;
  cb_pose_inverse(&home[1], &back);
  if (weld && cb_mjcf_normalise(4, number + 3)) { /* number: pose of the second body in the frame of the first one */
    memcpy(there.x, number, sizeof there.x);
    memcpy(there.q, number + 3, sizeof there.q);
    cb_pose_inverse(&there, &frame[1]);
    return CB_OK;
  }
  cb_pose_multiply(&home[0], &frame[0], &there);
  cb_pose_multiply(&back, &there, &frame[1]);
  return CB_OK;
}

/* --- bodies that loops hold --- */

/* Returns the free body of the group of joined bodies to which b belongs; NULL: the group is joined to the world. */
static const cb_mjcf_body *root_of(const cb_mjcf_body *b) {
  while (b && (b->parent || b->holds || b->held)) b = b->parent ? b->parent : b->holds ? NULL : b->under;
  return b;
}

/* If the joint `loop` connects two groups of bodies, it closes no loop. The place of the free body of one group then
 * follows from the other group. */
static void hold(cb_mjcf_loop *loop) {
  const cb_mjcf_body *root[2] = {root_of(loop->body[0]), root_of(loop->body[1])};
  loop->holds = root[0] != root[1];
  if (!loop->holds) return;
  cb_mjcf_body *held = (cb_mjcf_body *)(root[1] ? root[1] : root[0]);
  held->held = true;
  held->under = root[1] ? root[0] : NULL;
}

/* Finds the coordinates of each joint that closes a loop. They are the logarithm of the rotation q_a^-1 q_b q p^-1 from
 * the joint's frame in the first body to its frame in the second one, in the axes of the first body. q_a and q_b are
 * the rotations of the two bodies; p and q are the rotations of the joint's frame in the first and in the second body.
 */
void cb_mjcf_start_loops(cb_mjcf *m) {
  for (cb_mjcf_loop *l = m->loops; l; l = l->next) {
    double q[2][4] = {{1}, {1}}, back[4], turn[4];
    for (int side = 0; side < 2; side++)
      if (l->body[side]) memcpy(q[side], l->body[side]->place.q, sizeof q[side]);
    cb_quaternion_inverse(q[0], back);
    cb_quaternion_multiply(back, q[1], turn);
    cb_quaternion_multiply(turn, l->in.q, turn);
    cb_quaternion_inverse(l->pose.q, back);
    cb_quaternion_multiply(turn, back, turn);
    for (int i = 0; turn[0] < 0 && i < 4; i++) turn[3 - i] = -turn[3 - i];
    cb_quaternion_log(turn, l->q);
  }
}

static cb_status add_loop(cb_mjcf_reader *r, cb_xml *e, bool weld) {
  cb_mjcf_source source;
  place at[2];
  cb_pose frame[2];
  char name[32];
  cb_status status = cb_mjcf_source_of(r, e, NULL, &source);
  if (status) return status;
  const bool sites = cb_mjcf_value(&source, "site1") || cb_mjcf_value(&source, "site2");
  for (int side = 0; side < 2; side++) cb_pose_identity(&frame[side]);
  status = sites ? read_sites(r, &source, e, at) : read_bodies(r, &source, e, at);
  if (!status && at[0].body == at[1].body)
    status = cb_node_fail(&e->name, "both bodies are parts of one rigid body: expected two bodies that move");
  if (!status && !sites) status = read_frame(&source, e, weld, at, frame);
  if (status) return status;
  cb_mjcf_loop *loop = cb_arena_alloc(r->arena, 1, sizeof *loop), **last = &r->model->loops;
  snprintf(name, sizeof name, "loop%d", r->model->joints++);
  const char *kept = cb_arena_strdup(r->arena, name);
  if (!loop || !kept) return cb_mjcf_no_memory(r);
  *loop = (cb_mjcf_loop){.kind = weld ? "weld" : "ball", .name = kept, .body = {at[0].body, at[1].body}};
  cb_pose_multiply(&at[0].pose, &frame[0], &loop->pose);
  cb_pose_multiply(&at[1].pose, &frame[1], &loop->in);
  hold(loop);
  while (*last) last = &(*last)->next;
  *last = loop;
  cb_xml_get(e, "anchor");
  cb_xml_get(e, "relpose");
  return CB_OK;
}

static cb_status read_one(cb_mjcf_reader *r, cb_xml *e, bool *noted) {
  static const char *const texts[] = {"false", "true"};
  const char *kind = e->name.text;
  const cb_node *active = cb_xml_get(e, "active");
  int on = 1;
  const cb_status status = active ? cb_mjcf_choice(active, "active", 2, texts, &on) : CB_OK;
  if (status) return status;
  if (!on || !r->whole->equalities) {
    e->why = on ? "constraints are switched off" : "it is not active";
    return CB_OK;
  }
  if (strcmp(kind, "connect") && strcmp(kind, "weld") && strcmp(kind, "joint")) return CB_OK;
  cb_xml_get(e, "name");
  cb_xml_get(e, "class");
  const cb_status read = !strcmp(kind, "joint") ? couple(r, e) : add_loop(r, e, !strcmp(kind, "weld"));
  e->read = !e->why;
  if (e->read && !*noted) e->note = "softness of constraints: they hold exactly";
  *noted = *noted || e->read;
  return read;
}

cb_status cb_mjcf_read_equalities(cb_mjcf_reader *r) {
  cb_errors errors = cb_errors_begin();
  bool noted = false;
  for (const cb_mjcf_reader *own = r->whole->readers; own; own = own->next)
    for (cb_xml *list = own->root->first; list; list = list->next) {
      if (strcmp(list->name.text, "equality")) continue;
      if (own->parent) {
        list->why = "only the constraints of the main file are read";
        continue;
      }
      list->read = true;
      for (cb_xml *e = list->first; e; e = e->next)
        if (*e->name.text != '#') cb_errors_add(&errors, &e->name, read_one(r, e, &noted));
    }
  return cb_errors_end(&errors);
}
