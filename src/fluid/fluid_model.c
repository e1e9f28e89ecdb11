/* Finds fluid models by their names, and makes them. */
#include "fluid/fluid_model_shared.h"
#include "fluid/surface_mesh.h"

#include "tree/scalar.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local void (*reporter)(void *context, const char *line);
static _Thread_local void *report_context;

void cb_fluid_model_set_report(void (*report)(void *context, const char *line), void *context) {
  reporter = report;
  report_context = context;
}

cb_status cb_fluid_model_create_class(const cb_fluid_model_class *class_, const cb_node *node, cb_fluid_model **out) {
  static const char *const shared[] = {"name"};
  cb_fluid_model *m = calloc(1, sizeof *m);
  void *params = calloc(1, class_->params_size ? class_->params_size : 1);
  cb_status status = m && params ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for the fluid model %s", class_->name);
  const cb_node *map = node && node->kind == CB_NODE_MAP ? node : NULL;
  if (!status) status = cb_params_bind(class_->params, map, node, shared, 1, params);
  if (status) {
    free(params);
    free(m);
    return status;
  }
  *m = (cb_fluid_model){.class_ = class_, .params = params, .report = reporter, .context = report_context};
  *out = m;
  return CB_OK;
}

cb_status cb_fluid_model_create(const char *name, const cb_node *node, cb_fluid_model **out) {
  const cb_fluid_model_class *c =
      cb_fluid_model_classes[cb_registry_find(&cb_fluid_model_registry, name, strlen(name))];
  return c ? cb_fluid_model_create_class(c, node, out)
           : cb_fail_no_class(node, "fluid model", name, &cb_fluid_model_registry);
}

void cb_fluid_model_free(cb_fluid_model *m) {
  if (!m) return;
  free(m->params);
  free(m);
}

bool cb_fluid_model_is_placed(const cb_fluid_model *m, double up[3], double *height) {
  return m->class_->placed && m->class_->placed(m, up, height);
}

cb_status cb_fluid_model_check_closed(const cb_fluid_model *m, const cb_surface *surface, const char *instead) {
  int p = 0;
  char border[CB_SURFACE_BORDER_TEXT];
  while (p < surface->parts && !surface->open[p]) p++;
  if (p == surface->parts) return CB_OK;
  const cb_status status = cb_surface_border_text(surface, p, "weld", border);
  if (status) return status;
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "the fluid model %s is for closed surfaces, and part %d `%s` has a border: expected %s; %s",
                 m->class_->name, p + 1, surface->name[p], instead, border);
}
