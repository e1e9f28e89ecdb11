/* The tree of links from its base outwards: the order of the recursion of links.h.
 *
 * Depth first, the largest branch of a link last: that one goes on in the place of the link's velocities, the others in
 * a place one level up, so that 1 + log2(links) places are enough.
 */
#include "bundle/links.h"

#include <math.h>
#include <string.h>

static bool neighbours(const cb_link_tree *L, int a, int b) { return L->link[a].parent == b || L->link[b].parent == a; }

/* Links of the branch that begins at k, seen from `from`. */
static int branch_size(const cb_link_tree *L, int k, int from) {
  int size = 1;
  for (int other = 0; other < L->links; other++)
    if (other != from && neighbours(L, k, other)) size += branch_size(L, other, k);
  return size;
}

/* The hinge between a limb's link and the one before it. */
static void place_hinge(const cb_link_tree *L, cb_limb *limb, int before) {
  const bool outwards = L->link[limb->link].parent == before; /* as the tree was given */
  const cb_group *so3 = cb_group_find("so3");
  double q[4], rest[9];
  limb->hinge = outwards ? limb->link : before;
  const cb_tree_link *k = &L->link[limb->hinge];
  const double from_parent = (k->at - 0.5) * L->link[k->parent].length, from_link = -0.5 * k->length;
  limb->sign = outwards ? 1 : -1;
  limb->before = outwards ? from_parent : from_link;
  limb->after = outwards ? from_link : from_parent;
  so3->exp(so3, k->rest, q);
  so3->matrix(so3, q, rest);
  for (int i = 0; i < 3; i++) {
    limb->axis[i] = outwards ? k->axis[i] : 0;
    for (int j = 0; j < 3; j++) {
      limb->turned[i][j] = outwards ? rest[3 * i + j] : rest[3 * j + i];
      if (!outwards) limb->axis[i] += rest[3 * j + i] * k->axis[j];
    }
  }
  double w[3];
  for (int i = 0; i < 3; i++)
    w[i] = limb->turned[0][i] * limb->axis[0] + limb->turned[1][i] * limb->axis[1] + limb->turned[2][i] * limb->axis[2];
  const double plane[6] = {0, -limb->after, 1};
  const double space[6] = {w[0], w[1], w[2], 0, -limb->after * w[2], limb->after * w[1]};
  memcpy(limb->twist, L->plane ? plane : space, sizeof plane);
}

/* Variables on the way to a limb: those before it, then those of its hinge that are new. */
static void list_variables(cb_link_tree *L, cb_limb *limb, int *known) {
  const cb_limb *before = &L->limb[limb->from];
  const cb_tree_link *hinge = &L->link[limb->hinge];
  limb->reach_before = limb->reach = before->reach;
  limb->active_before = limb->active = before->active;
  memcpy(limb->variable, before->variable, sizeof limb->variable);
  for (int p = 0; p < hinge->uses; p++) {
    int *rank = &L->rank[hinge->use[p]];
    bool there = false;
    if (*rank < 0) {
      L->ranked[*known] = hinge->use[p];
      *rank = (*known)++;
    }
    for (int q = 0; q < limb->active; q++) there = there || limb->variable[q] == *rank;
    if (!there) limb->variable[limb->active++] = *rank;
    if (limb->reach <= *rank) limb->reach = *rank + 1;
  }
}

typedef struct walk {
  int limbs, known;
} walk;

static void visit(cb_link_tree *L, int k, int from, int level, walk *w) {
  const int self = w->limbs++, before = self ? L->limb[from].link : -1;
  cb_limb *limb = &L->limb[self];
  *limb = (cb_limb){.link = k, .from = from, .hinge = k, .sign = 1, .level = level};
  if (self) {
    limb->source = L->limb[from].level;
    place_hinge(L, limb, before);
    list_variables(L, limb, &w->known);
  }
  int next[CB_LINK_TREE_MAX], size[CB_LINK_TREE_MAX], count = 0, largest = 0;
  for (int other = 0; other < L->links; other++)
    if (other != before && neighbours(L, k, other)) {
      next[count] = other;
      size[count] = branch_size(L, other, k);
      if (size[count] > size[largest]) largest = count;
      count++;
    }
  for (int i = 0; i < count; i++)
    if (i != largest) visit(L, next[i], self, level + 1, w);
  if (count) visit(L, next[largest], self, level, w);
}

cb_status cb_link_tree_order(cb_link_tree *L) {
  walk w = {0};
  for (int k = 0; k < L->links; k++) {
    cb_tree_link *link = &L->link[k];
    const double *a = link->axis, size = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (k ? link->parent < 0 || link->parent >= k : link->parent != -1)
      return cb_fail(CB_ERROR_ARGUMENT, "link %d: parent %d: expected a link before it", k, link->parent);
    if (!(size > 0) || !isfinite(size)) return cb_fail(CB_ERROR_ARGUMENT, "link %d: axis of length %g", k, size);
    for (int i = 0; i < 3; i++) link->axis[i] /= size;
  }
  for (int i = 0; i < L->n; i++) L->rank[i] = -1;
  visit(L, L->base, 0, 0, &w);
  for (int k = 0; k < L->links; k++) L->line[k][0] = 2 * k, L->line[k][1] = 2 * k + 1;
  for (int i = 0; i < L->n; i++)
    if (L->rank[i] < 0) return cb_fail(CB_ERROR_ARGUMENT, "the shape variable %s turns no link", L->name[i]);
  return CB_OK;
}
