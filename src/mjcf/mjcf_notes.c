/* Notes about joined bodies of an MJCF file: what a scenario does otherwise than MuJoCo. */
#include "mjcf/mjcf_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool has_limits(const cb_mjcf_hold *h) { return isfinite(h->limit[0]) || isfinite(h->limit[1]); }

/* A coordinate that starts outside of its range would be an error in a scenario. */
static cb_status note_limit(const cb_mjcf_reader *r, const cb_mjcf_target *t, bool *first) {
  cb_mjcf_hold *h = t->hold;
  char text[192];
  if (!h || !has_limits(h)) return CB_OK;
  if (h->q[0] < h->limit[0] || h->q[0] > h->limit[1]) {
    const double unit = !t->scope.r->radians && h->type == CB_MJCF_HINGE ? 180 / M_PI : 1;
    snprintf(text, sizeof text, "range of a joint that starts outside of it, at %g, where the range is %g to %g",
             unit * (h->q[0] + h->ref), unit * (h->limit[0] + h->ref), unit * (h->limit[1] + h->ref));
    h->limit[0] = -INFINITY;
    h->limit[1] = INFINITY;
  } else if (*first) {
    snprintf(text, sizeof text, "softness of limits: joints stop at their limits without rebound");
    *first = false;
  } else {
    return CB_OK;
  }
  t->e->note = cb_arena_strdup(r->arena, text);
  return t->e->note ? CB_OK : cb_mjcf_no_memory(r);
}

static bool may_touch(const cb_mjcf_body *a, const cb_mjcf_body *b) {
  if (a->parent == b || b->parent == a) return false;
  for (const cb_mjcf_link *k = a->links; k; k = k->next)
    for (const cb_mjcf_geom *g = k->geoms; g; g = g->next)
      for (const cb_mjcf_link *l = b->links; l; l = l->next)
        for (const cb_mjcf_geom *h = l->geoms; h; h = h->next)
          if ((g->contype & h->conaffinity) || (h->contype & g->conaffinity)) return true;
  return false;
}

/* The first body whose geoms may touch those of another body, of which one is joined. */
static const cb_mjcf_body *find_touching(const cb_mjcf *m) {
  for (const cb_mjcf_body *a = m->bodies; a; a = a->next)
    for (const cb_mjcf_body *b = a->next; b; b = b->next)
      if ((a->holds || b->holds) && may_touch(a, b)) return a;
  return NULL;
}

static cb_status note_contacts(const cb_mjcf_reader *r) {
  const cb_mjcf_body *a = r->whole->touching ? find_touching(r->model) : NULL;
  if (!a) return CB_OK;
  for (cb_xml *e = r->root->first; e; e = e->next)
    if (!strcmp(e->name.text, "worldbody")) {
      e->note = "contacts between bodies";
      break;
    }
  return CB_OK;
}

cb_status cb_mjcf_note_joints(cb_mjcf_reader *r) {
  bool first = true;
  cb_status status = CB_OK;
  for (const cb_mjcf_target *t = r->whole->targets; t && !status; t = t->next) status = note_limit(r, t, &first);
  return status ? status : note_contacts(r);
}
