/* The added mass that `curvebody inertia` prints, from the named fluid model. */
#include "cli/inertia.h"

#include "core/registry.h"
#include "fluid/surface_mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_error(const cb_fluid_model_class *c) {
  for (const cb_param *row = c->params; row && row->name; row++)
    if (strcmp(row->name, "error") == 0) return true;
  return false;
}

/* Parts, volumes and warnings come from the local model, for any model of the added mass. */
cb_status cli_inertia_parts(cli_inertia *f, double (*K)[6]) {
  cb_local *l = NULL;
  double own[6][6];
  if (!K) K = own;
  f->part = calloc((size_t)f->surface->parts, sizeof *f->part);
  if (!f->part) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", f->surface->parts);
  if (f->curvature != 0)
    return cli_inertia_placed(f, cb_local_curved_added_mass(f->surface, (const double(*)[3])f->surface->x, K, f->part));
  const cb_status status = cb_local_create(f->surface, &l);
  if (status) return status;
  cb_local_pose(l, (const double(*)[3])f->surface->x, NULL);
  cb_local_added_mass(l, 1, NULL, K, NULL, f->part);
  cb_local_free(l);
  return CB_OK;
}

/* Fails if a surface cuts itself: the flow around it is then not defined. */
static cb_status check_cuts(const cli_inertia *f) {
  cb_surface_cut *cut;
  char text[CB_SURFACE_CUT_TEXT];
  int n;
  const cb_status status = cb_surface_cuts(f->surface, &cut, &n);
  if (status) return status;
  if (n) cb_surface_cut_text(f->surface, cut, text);
  free(cut);
  return n ? cb_fail(CB_ERROR_INPUT,
                     "%s: error: %s: expected a surface that does not cut itself, for the added mass `%s`", f->argument,
                     text, f->model)
           : CB_OK;
}

static cb_status by_model(cli_inertia *f, const cb_fluid_model *m) {
  void *body = NULL;
  f->added = (cb_added_mass){.kinetic = 0};
  cb_status status = m->class_->prepare ? m->class_->prepare(m, f->surface, &f->mass, &body) : CB_OK;
  if (!status) status = m->class_->added_mass(m, body, f->surface, (const double(*)[3])f->surface->x, NULL, &f->added);
  if (m->class_->release && body) m->class_->release(m, body);
  return cli_inertia_placed(f, status);
}

static cb_status make_model(const cb_fluid_model_class *c, const char *text, const char *error, cb_fluid_model **out) {
  char addition[96] = "";
  cb_tree *tree = NULL;
  const bool given = error && strcmp(error, "none") != 0, own = strstr(text, ":error=") || strstr(text, ",error=");
  if (given && !has_error(c))
    return cb_fail(CB_ERROR_INPUT,
                   "--error:1:1: error: the fluid model `%s` has no error tolerance: expected no --error", c->name);
  if (given && own)
    return cb_fail(CB_ERROR_INPUT, "--error:1:1: error: `%.60s` already sets an error: expected no --error", text);
  if (has_error(c) && given) snprintf(addition, sizeof addition, "error: %.60s", error);
  if (has_error(c) && error && !given) snprintf(addition, sizeof addition, "refine: false");
  cb_status status = cli_inertia_map(text, strlen(c->name), "MODEL", addition, &tree);
  if (!status) status = cb_fluid_model_create_class(c, cb_tree_root(tree), out);
  cb_tree_free(tree);
  return status;
}

static cb_status class_of(const char *text, const cb_fluid_model_class **out) {
  const size_t length = strcspn(text, ":");
  const size_t at = cb_registry_find(&cb_fluid_model_registry, text, length);
  const cb_fluid_model_class *c = cb_fluid_model_classes[at];
  const char *names[CB_REGISTRY_MAX];
  *out = c;
  if (c && c->added_mass) return CB_OK;
  if (c)
    return cb_fail(CB_ERROR_INPUT,
                   "--added-mass:1:1: error: the fluid model `%s` has no added mass: expected none, or a model such as "
                   "local or exact",
                   c->name);
  const char *near = cb_nearest_name(text, names, cb_registry_names(&cb_fluid_model_registry, names));
  return cb_fail(CB_ERROR_INPUT, "--added-mass:1:1: error: no fluid model '%.*s'%s%s%s",
                 (int)(length < 60 ? length : 60), text,
                 near ? ", did you mean '" : ": expected none, or one of `curvebody list fluids`", near ? near : "",
                 near ? "'?" : "");
}

cb_status cli_inertia_added_mass(cli_inertia *f, const char *text, const char *error) {
  const cb_fluid_model_class *c = NULL;
  cb_fluid_model *m = NULL;
  const bool none = strcmp(text, "none") == 0;
  cb_status status = cli_inertia_parts(f, f->added.K);
  if (!status && !none) status = class_of(text, &c);
  if (!status && c && f->curvature != 0 && c->added_mass != cb_fluid_local_added_mass && strcmp(c->name, "exact") != 0)
    return cb_fail(
        CB_ERROR_INPUT,
        "--added-mass:1:1: error: the fluid model `%s` works only in flat space: expected local, exact or none in %s",
        c->name, f->space);
  if (!status && none && error && strcmp(error, "none") != 0)
    status = cb_fail(
        CB_ERROR_INPUT,
        "--error:1:1: error: --error needs an added mass: expected no --error, or --added-mass other than none");
  if (!status && c) status = make_model(c, text, error, &m);
  f->model = c ? c->name : "none";
  if (!status && m && c->added_mass != cb_fluid_local_added_mass) {
    status = check_cuts(f);
    if (!status) status = by_model(f, m);
    if (status == CB_ERROR_INPUT && !strstr(cb_error_text(), ": error: "))
      status = cb_fail(status, "--added-mass:1:1: error: %s", cb_error_text());
  }
  cb_fluid_model_free(m);
  if (none) f->added = (cb_added_mass){.kinetic = 0};
  for (int i = 0; i < 36; i++) f->added.K[i / 6][i % 6] *= f->fluid;
  return status;
}
