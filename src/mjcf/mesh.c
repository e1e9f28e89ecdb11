/* <asset><mesh> of MJCF: files, and what MuJoCo makes of a mesh: its frame in the centre, along its principal axes by
 * falling moments, and the half sides of its box there. Mass and moments are those of the volume within the mesh, as MuJoCo
 * has them by `exactmeshinertia`; its older rule, by pyramids on the mean of the surface, errs (by 39 % for a tetrahedron). */
#include "mjcf/private.h"

#include "fluid/surface.h"
#include "numerics/quaternion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *after(const char *path, const char *set) {
  const char *name = path;
  for (const char *c = path; *c; c++)
    if (strchr(set, *c)) name = c + 1;
  return name;
}

/* In meshdir. */
static const char *path_of(const cb_mjcf_reader *r, const cb_node *file) {
  cb_node own = *file;
  if (r->strip) own.text = after(file->text, "/\\");
  return cb_mjcf_path(r, &own, r->meshdir);
}

static const char *name_of(const cb_mjcf_reader *r, const cb_node *name, const cb_node *file) {
  if (name || !file) return name ? name->text : "";
  const char *base = after(file->text, "/\\"), *dot = strrchr(base, '.');
  return cb_arena_strndup(r->arena, base, dot ? (size_t)(dot - base) : strlen(base));
}

static cb_status read_place(cb_xml *e, const double scale[3], cb_pose *place) {
  const cb_node *at = cb_xml_get(e, "refpos"), *turned = cb_xml_get(e, "refquat");
  cb_pose ref;
  cb_pose_identity(&ref);
  cb_status status = at ? cb_mjcf_numbers(at, "refpos", 3, 3, ref.x, NULL) : CB_OK;
  if (!status && turned) status = cb_mjcf_numbers(turned, "refquat", 4, 4, ref.q, NULL);
  if (status || (!at && !turned)) return cb_pose_identity(place), status;
  if (!cb_mjcf_normalise(4, ref.q)) return cb_node_fail(turned, "refquat: expected one that is not 0");
  if (scale[0] != scale[1] || scale[1] != scale[2])
    return cb_node_fail(at ? at : turned, "refpos and refquat: expected a scale that is the same along all axes");
  cb_pose_inverse(&ref, place);
  for (int i = 0; i < 3; i++) place->x[i] *= scale[0];
  return CB_OK;
}

static cb_status read_mesh(cb_mjcf_reader *r, cb_xml *e) {
  cb_mjcf_source source;
  const cb_node *file = cb_xml_get(e, "file"), *name = cb_xml_get(e, "name");
  cb_mjcf_mesh *mesh = cb_arena_alloc(r->arena, 1, sizeof *mesh);
  if (!mesh) return cb_mjcf_no_memory(r);
  *mesh = (cb_mjcf_mesh){
      .name = name_of(r, name, file), .file = file ? path_of(r, file) : NULL, .scale = {1, 1, 1}, .next = r->meshes};
  if (!mesh->name || (file && !mesh->file)) return cb_mjcf_no_memory(r);
  r->meshes = mesh;
  cb_status status = cb_mjcf_source_of(r, e, NULL, &source);
  if (!status) status = cb_mjcf_merged(&source, "scale", 3, 3, mesh->scale);
  if (status) return status;
  for (int i = 0; i < 3; i++)
    if (mesh->scale[i] == 0)
      return cb_node_fail(cb_mjcf_value(&source, "scale"), "scale: expected numbers that are not 0");
  return read_place(e, mesh->scale, &mesh->place);
}

cb_status cb_mjcf_read_meshes(cb_mjcf_reader *r) {
  cb_errors errors = cb_errors_begin();
  for (cb_xml *assets = r->root->first; assets; assets = assets->next) {
    if (!cb_xml_is(assets, "asset")) continue;
    for (cb_xml *e = assets->first; e; e = e->next)
      if (cb_xml_is(e, "mesh")) cb_errors_add(&errors, &e->name, read_mesh(r, e));
  }
  return cb_errors_end(&errors);
}

/* --- what is made of it --- */

static cb_status weigh(const cb_surface *s, cb_mjcf_mesh *mesh) {
  static const cb_material one = {1, 0};
  cb_material material[64];
  cb_mass m;
  double moment[3], axis[3][3], R[3][3];
  if (s->parts > 64) return cb_fail(CB_ERROR_DOMAIN, "expected at most 64 pieces, found %d", s->parts);
  for (int p = 0; p < s->parts; p++) material[p] = one;
  cb_status status = cb_surface_check(s, false);
  if (!status) status = cb_mass_of(s, NULL, material, &m);
  if (!status) status = cb_mass_principal(&m, moment, axis);
  if (status) return status;
  mesh->volume = m.mass;
  for (int i = 0; i < 3; i++) {
    mesh->moment[i] = moment[2 - i];
    for (int k = 0; k < 3; k++) R[k][i] = i == 1 ? -axis[1][k] : axis[2 - i][k]; /* right-handed again */
  }
  cb_mjcf_quaternion((const double(*)[3])R, mesh->centre.q);
  memcpy(mesh->centre.x, m.centre, sizeof m.centre);
  for (int v = 0; v < s->vertices; v++)
    for (int i = 0; i < 3; i++) {
      double along = 0;
      for (int k = 0; k < 3; k++) along += R[k][i] * (s->x[v][k] - m.centre[k]);
      mesh->half[i] = fmax(mesh->half[i], fabs(along));
    }
  return CB_OK;
}

cb_status cb_mjcf_measure(cb_mjcf_mesh *mesh, const cb_node *asked) {
  if (mesh->measured) return CB_OK;
  cb_surface *file = NULL, *scaled = NULL;
  cb_surface_piece piece = {.name = mesh->name};
  for (int i = 0; i < 3; i++) piece.frame[i][i] = mesh->scale[i];
  cb_status status = cb_surface_read(mesh->file, true, &file);
  piece.surface = file;
  if (!status) status = cb_surface_join(1, &piece, &scaled);
  if (!status) status = weigh(scaled, mesh);
  cb_surface_free(scaled);
  cb_surface_free(file);
  if (!status) {
    cb_pose_multiply(&mesh->place, &mesh->centre, &mesh->centre);
    mesh->measured = true;
  }
  if (status != CB_ERROR_DOMAIN) return status;
  char why[512];
  snprintf(why, sizeof why, "%s", cb_error_text());
  return cb_node_fail(asked, "mesh `%s`: %s", mesh->name, why);
}
