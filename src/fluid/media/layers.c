/* Layers: the density rho is density[0] below level[0], density[i] between level[i-1] and level[i], and density[n]
 * above level[n-1]. Heights <x, up> of points x are measured from the origin, against the direction of gravity. The
 * integrals of layers over a surface are exact (medium.c). SI units: heights in m, densities in kg/m^3. */
#include "core/failure.h"
#include "fluid/medium_surfaces.h"

#include <stdlib.h>
#include <string.h>

typedef struct layers {
  double *number; /* the densities, followed by the levels */
} layers;

static cb_status allocate(layers *l, int n, cb_medium_facts *facts) {
  l->number = malloc((2 * (size_t)n + 1) * sizeof *l->number);
  if (!l->number) return cb_fail(CB_ERROR_MEMORY, "no memory for %d layers", n + 1);
  facts->levels = n;
  facts->density = l->number;
  facts->level = l->number + n + 1;
  return CB_OK;
}

static cb_status read_layer(const cb_node *layer, bool highest, double *level, double *density) {
  static const char *const keys[] = {"below", "density"};
  const cb_node *below = cb_node_get(layer, "below"), *given = cb_node_get(layer, "density");
  cb_status status = cb_node_check_keys(layer, keys, 2);
  if (status) return status;
  if (highest && below) return cb_node_fail(below, "the highest layer has no upper limit: expected no `below`");
  if (!highest && !below) return cb_node_fail(layer, "expected `below`, the height of the top of the layer");
  if (!given) return cb_node_fail(layer, "expected `density`, in kg/m^3");
  cb_errors errors = cb_errors_begin();
  if (below) cb_errors_add(&errors, below, cb_node_real(below, level));
  cb_errors_add(&errors, given, cb_node_real(given, density));
  return cb_errors_end(&errors);
}

static cb_status init(void *medium, const cb_node *list, const cb_expression_scope *parameters,
                      cb_medium_facts *facts) {
  layers *l = medium;
  (void)parameters;
  if (!list || list->kind != CB_NODE_LIST || list->count < 1)
    return cb_node_fail(list, "expected `layers`, a list of {below: HEIGHT, density: RHO} from the lowest up");
  const int n = (int)list->count - 1;
  cb_status status = allocate(l, n, facts);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  for (int i = 0; i <= n; i++)
    cb_errors_add(&errors, list->items[i], read_layer(list->items[i], i == n, &l->number[n + 1 + i], &l->number[i]));
  return cb_errors_end(&errors);
}

static void release(void *medium) { free(((layers *)medium)->number); }

const cb_fluid_medium_class cb_fluid_medium_layers = {
    .name = "layers",
    .title = "Layers",
    .doc =
        "The value is a list {below: HEIGHT, density: RHO}, .., {density: RHO} from the lowest layer upwards, with "
        "heights along -gravity from the origin (along z without gravity)",
    .size = sizeof(layers),
    .init = init,
    .release = release,
};

cb_status cb_medium_layers(int n, const double *level, const double *density, const double up[3], cb_medium **out) {
  cb_medium *m = NULL;
  cb_status status = cb_medium_new(&cb_fluid_medium_layers, up, &m);
  if (status) return status;
  if (n < 0) status = cb_fail(CB_ERROR_ARGUMENT, "%d levels between layers: expected a number >= 0", n);
  if (!status) status = allocate(m->data, n, &m->facts);
  if (!status) {
    double *number = ((layers *)m->data)->number;
    memcpy(number, density, ((size_t)n + 1) * sizeof *density);
    if (n) memcpy(number + n + 1, level, (size_t)n * sizeof *level);
  }
  return cb_medium_complete(m, status, out);
}
