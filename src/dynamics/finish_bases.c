/* Which components may meet, and the bases that they start at: see bases.h. */
#include "dynamics/reorder.h"
#include "dynamics/contact_private.h"

#include <stdlib.h>
#include <string.h>

/* Bodies whose contacts are on, joined in set[bodies]; meets[body]: with any other, or within itself. */
static void join_bodies(const cb_contact_set *contacts, int bodies, int *set, bool *meets) {
  for (int a = 0; a < bodies; a++) {
    meets[a] = meets[a] || cb_contact_set_bodies_on(contacts, a, a);
    for (int b = a + 1; b < bodies; b++) {
      if (contacts->n_switches && !cb_contact_set_bodies_on(contacts, a, b)) continue;
      cb_components_join(set, a, b);
      meets[a] = meets[b] = true;
      if (!contacts->n_switches) break; /* all pairs are on: neighbours are enough */
    }
  }
}

static cb_status families(const cb_builder *b, const cb_system *s, int *family) {
  const cb_contact_set *contacts = b->contacts;
  int *set = malloc(2 * (size_t)s->n_bodies * sizeof *set), *first = set ? set + s->n_bodies : NULL;
  bool *meets = calloc((size_t)s->n_bodies, sizeof *meets);
  cb_components_start(s->n_components, family);
  if (set && meets && contacts && contacts->on) {
    cb_components_start(s->n_bodies, set);
    join_bodies(contacts, s->n_bodies, set, meets);
    cb_components_number(s->n_bodies, set, set);
    for (int i = 0; i < s->n_bodies; i++) first[i] = -1;
    for (int i = 0; i < s->n; i++) {
      int *one = &first[set[s->body[i]]];
      if (!meets[s->body[i]]) continue;
      if (*one < 0) *one = s->component[i];
      cb_components_join(family, *one, s->component[i]);
    }
  }
  for (int e = 0; contacts && e < contacts->n_events; e++) {
    const cb_event *event = &contacts->event[e];
    if (event->j >= 0) cb_components_join(family, s->component[s->place[event->i]], s->component[s->place[event->j]]);
  }
  cb_components_number(s->n_components, family, family);
  const bool lost = s->n_bodies && (!set || !meets);
  free(set);
  free(meets);
  return lost ? cb_fail(CB_ERROR_MEMORY, "no memory for contacts of %d bodies", s->n_bodies) : CB_OK;
}

/* Those of a family that were moved by one `move` know each other by their places, up to round-off of those further out
 * than a base reaches; where numbers do not grow, all do. Which leader has a base for component c? */
static int leader_of(const cb_builder *b, const cb_system *s, const int *given, int c) {
  const cb_geometry *g = s->space;
  const cb_bases *bases = &s->bases;
  const cb_builder_frame *frame = &b->frame[given[c]];
  const bool near = cb_bases_reaches(cb_origin_radii(g, &frame->place));
  int found = -1;
  for (int d = 0; d < c; d++) {
    if (!bases->count[d] || bases->family[d] != bases->family[c]) continue;
    if (!cb_origin_grows(g)) return d;
    const cb_builder_frame *other = &b->frame[given[d]];
    if (!cb_origin_same(g, &frame->move, &other->move)) continue;
    if (cb_origin_same(g, &frame->place, &other->place)) return d;
    if (cb_bases_reaches(cb_origin_radii(g, &other->place)) && (near || found < 0)) found = d;
  }
  return found;
}

cb_status cb_bases_settle(const cb_builder *b, cb_system *s, const int *given) {
  const cb_geometry *g = s->space;
  cb_bases *bases = &s->bases;
  cb_origin identity, relative;
  cb_status status = cb_bases_create(s->arena, s->n_components, bases);
  if (!status) status = families(b, s, bases->family);
  for (int c = 0; c < s->n_components && !status; c++) {
    const int found = cb_origin_moves(g) ? leader_of(b, s, given, c) : -1;
    cb_origin_identity(g, &identity);
    bases->own[c] = identity;
    bases->base[c] = s->origin[c];
    bases->parent[c] = -1;
    bases->leader[c] = c;
    if (found >= 0) {
      const bool moved = cb_origin_same(g, &b->frame[given[c]].move, &b->frame[given[found]].move);
      cb_origin_relative(g, moved ? &b->frame[given[found]].place : &s->origin[found],
                         moved ? &b->frame[given[c]].place : &s->origin[c], &relative);
      if (!cb_origin_grows(g) || cb_bases_reaches(cb_origin_radii(g, &relative))) {
        bases->leader[c] = found;
        bases->own[c] = relative;
      } else {
        bases->parent[c] = found;
        bases->base[c] = relative;
        bases->children++;
      }
    }
    bases->count[bases->leader[c]]++;
  }
  return status;
}
