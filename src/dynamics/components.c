/* Connected components: see reorder.h. The root of a tree is its smallest element. */
#include "dynamics/reorder.h"

void cb_components_start(int n, int *parent) {
  for (int i = 0; i < n; i++) parent[i] = i;
}

static int root(int *parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

void cb_components_join(int *parent, int i, int j) {
  i = root(parent, i);
  j = root(parent, j);
  if (i < j)
    parent[j] = i;
  else
    parent[i] = j;
}

int cb_components_number(int n, int *parent, int *component) {
  int count = 0;
  for (int i = 0; i < n; i++) parent[i] = root(parent, i);
  /* A root comes before the rest of its tree, so its number is known when they ask for it. */
  for (int i = 0; i < n; i++) {
    if (parent[i] == i)
      component[i] = count++;
    else
      component[i] = component[parent[i]];
  }
  return count;
}
