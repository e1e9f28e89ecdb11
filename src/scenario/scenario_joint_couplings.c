/* The key `couple` of joints: a coordinate that is a polynomial of the coordinate of another joint.
 *
 *   couple: {to: elbow, polynomial: [0, -2]}                 q = c_0 + c_1 r + .. + c_4 r^4,  r the coordinate elbow
 * A joint with several coordinates has a list. The coordinate and its rate at the start follow: q = p(r), q' = p'(r)
 * r'. Meaning: mechanism/mechanism_couplings.c.
 */
#include "scenario/joint_reading.h"
#include "tree/scalar.h"

#include <string.h>

cb_status cb_joint_find_couplings(cb_joint_reading *r, const cb_joint_keys *p, const cb_joint *j, int first) {
  const int n = cb_joint_coordinates(j);
  if (n == 0) return cb_node_fail(p->couple, "this joint has no coordinates: expected no `couple`");
  if (n > 1 && p->couple->kind != CB_NODE_LIST)
    return cb_node_fail(p->couple, "expected a list of %d, one per coordinate of the joint, `none` where there is none",
                        n);
  for (int i = 0; i < n; i++) {
    const cb_node *item;
    const cb_status status = cb_joint_item_of(p->couple, n, i, &item);
    if (status) return status;
    if (cb_joint_none(item)) continue;
    if (j->driven[i])
      return cb_node_fail(item, "expected only one of `drive` and `couple`, which both give the coordinate");
    r->couple[first + i] = item;
  }
  return CB_OK;
}

static cb_status read_polynomial(const cb_joint_reading *r, const cb_node *node, double c[CB_JOINT_POLYNOMIAL]) {
  if (node->kind != CB_NODE_LIST || node->count < 1 || node->count > CB_JOINT_POLYNOMIAL)
    return cb_node_fail(node, "expected a list of 1 to %d coefficients [c0, c1, ..]", CB_JOINT_POLYNOMIAL);
  for (size_t k = 0; k < node->count; k++) {
    const cb_status status = cb_scenario_number(r->s, node->items[k], 0, NULL, NULL, &c[k]);
    if (status) return status;
  }
  return CB_OK;
}

static cb_status read_coupling(const cb_joint_reading *r, int own, cb_joint_coupling *out) {
  static const char *const keys[] = {"to", "polynomial"};
  const cb_node *node = r->couple[own];
  const cb_status status = cb_node_check_keys(node, keys, 2);
  if (status) return status;
  const cb_node *to = cb_node_get(node, "to"), *polynomial = cb_node_get(node, "polynomial");
  if (!to || !polynomial || to->kind != CB_NODE_SCALAR)
    return cb_node_fail(node, "expected {to: COORDINATE, polynomial: [c0, c1, ..]}");
  out->there = true;
  for (out->to = 0; out->to < r->coordinates && strcmp(r->label[out->to], to->text);) out->to++;
  if (out->to == r->coordinates) return cb_fail_unknown(to, "coordinate", to->text, r->label, (size_t)r->coordinates);
  return read_polynomial(r, polynomial, out->c);
}

/* The coupling of coordinate c; NULL: it has none. */
static cb_joint_coupling *coupling_of(const cb_joint_reading *r, int c) {
  int k = r->n - 1;
  while (r->first[k] > c) k--;
  return r->couple[c] ? &r->joint[k].coupling[c - r->first[k]] : NULL;
}

cb_status cb_joint_read_couplings(cb_joint_reading *r) {
  cb_errors errors = cb_errors_begin();
  for (int c = 0; c < r->coordinates; c++)
    if (r->couple[c]) cb_errors_add(&errors, r->couple[c], read_coupling(r, c, coupling_of(r, c)));
  for (int c = 0; c < r->coordinates && !errors.status; c++) {
    int steps = 0, last = c;
    for (; r->couple[last] && steps <= r->coordinates; steps++) last = coupling_of(r, last)->to;
    if (steps > r->coordinates)
      cb_errors_add(&errors, r->couple[c],
                    cb_node_fail(r->couple[c],
                                 "the coordinate `%s` is coupled to itself, directly or by others: "
                                 "expected a coordinate that does not depend on it",
                                 r->label[c]));
  }
  return cb_errors_end(&errors);
}

/* Finds coordinate c after those on which it depends. */
static void start_one(cb_joint_reading *r, int c) {
  const cb_joint_coupling *own = coupling_of(r, c);
  double slope;
  if (!own) return;
  start_one(r, own->to);
  r->angle[c] = cb_joint_polynomial(own, r->angle[own->to], &slope);
  r->rate[c] = slope * r->rate[own->to];
}

void cb_joint_start_couplings(cb_joint_reading *r) {
  for (int c = 0; c < r->coordinates; c++) start_one(r, c);
}
