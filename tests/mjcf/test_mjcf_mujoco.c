/* Compares bodies of MJCF in random models with MuJoCo: their masses, inertias, geom frames, sizes and coefficients are
 * those that MuJoCo computes from the same file. The models have all types of geoms, orientations, defaults and
 * inertials, bodies welded to bodies, and meshes. At random velocities and in wind, the fluid forces and the
 * accelerations are those of MuJoCo. With MuJoCo's integrator the bodies move to the same place. The test is skipped if
 * MuJoCo (Debian: libmujoco-dev) is not installed. */
#include "check.h"

#ifdef CB_MUJOCO
#include "mjcf/mjcf.h"
#include "scenario/fluid.h"
#include "numerics/vec3.h"

#include <mujoco/mujoco.h>
#include <unistd.h>

enum { MODELS = 24, ROOM = 1 << 16, TYPES = 6 };

typedef struct writer {
  char text[ROOM];
  size_t length;
  uint64_t state;
  int named;
} writer;

static void put(writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  w->length += (size_t)vsnprintf(w->text + w->length, ROOM - w->length, format, args);
  va_end(args);
  assert_true(w->length < ROOM - 1);
}

static double draw(writer *w, double low, double high) { return check_uniform(&w->state, low, high); }
static int pick(writer *w, int n) { return (int)draw(w, 0, n); }

static void put_numbers(writer *w, const char *name, int n, double low, double high) {
  put(w, " %s=\"", name);
  for (int i = 0; i < n; i++) put(w, "%s%.15g", i ? " " : "", draw(w, low, high));
  put(w, "\"");
}

static void put_pose(writer *w, bool placed) {
  static const char *const ways[] = {"quat", "axisangle", "xyaxes", "zaxis", "euler"};
  static const int numbers[] = {4, 4, 6, 3, 3};
  if (placed && pick(w, 3)) put_numbers(w, "pos", 3, -1, 1);
  const int way = pick(w, 7);
  if (way < 5) put_numbers(w, ways[way], numbers[way], -2, 2);
}

static void put_geom(writer *w) {
  static const char *const types[TYPES] = {"sphere", "capsule", "cylinder", "ellipsoid", "box", "mesh"};
  static const int sizes[TYPES] = {1, 2, 2, 3, 3, 0};
  const int type = pick(w, TYPES);
  put(w, "<geom name=\"g%d\" type=\"%s\"", w->named++, types[type]);
  if (pick(w, 4) == 0) put(w, " class=\"light\"");
  const bool ends = sizes[type] > 1 && pick(w, 3) == 0;
  if (ends)
    put_numbers(w, "fromto", 6, -1, 1);
  else
    put_pose(w, true);
  if (type == 5)
    put(w, " mesh=\"m%d\"", pick(w, 3));
  else
    put_numbers(w, "size", ends && pick(w, 2) ? 1 : sizes[type], 0.05, 0.5);
  if (pick(w, 3) == 0)
    put_numbers(w, "mass", 1, 0.1, 3);
  else if (pick(w, 2))
    put_numbers(w, "density", 1, 100, 3000);
  if (pick(w, 4) == 0) put(w, " group=\"%d\"", pick(w, 6));
  if (pick(w, 2)) put(w, " fluidshape=\"ellipsoid\"");
  if (pick(w, 2)) put_numbers(w, "fluidcoef", 1 + pick(w, 5), 0, 2);
  put(w, "/>\n");
}

static void put_inertial(writer *w) {
  put(w, "<inertial");
  put_numbers(w, "mass", 1, 0.5, 4);
  put_numbers(w, "pos", 3, -0.5, 0.5);
  if (pick(w, 2)) {
    if (pick(w, 2)) put_numbers(w, "quat", 4, -1, 1);
    put_numbers(w, "diaginertia", 3, 0.6, 1);
  } else {
    put(w, " fullinertia=\"%.15g %.15g %.15g %.15g %.15g %.15g\"", draw(w, 0.8, 1), draw(w, 0.8, 1), draw(w, 0.8, 1),
        draw(w, -0.1, 0.1), draw(w, -0.1, 0.1), draw(w, -0.1, 0.1));
  }
  put(w, "/>\n");
}

static void put_body(writer *w, int depth) {
  put(w, "<body name=\"b%d\"", w->named++);
  put_pose(w, true);
  if (pick(w, 4) == 0) put(w, " childclass=\"light\"");
  put(w, ">\n%s", depth ? "" : pick(w, 2) ? "<freejoint/>\n" : "<joint type=\"free\"/>\n");
  if (pick(w, 3) == 0) put_inertial(w);
  for (int n = 1 + pick(w, 3); n; n--) put_geom(w);
  for (int n = depth < 2 ? pick(w, 3) : 0; n; n--) put_body(w, depth + 1);
  put(w, "</body>\n");
}

static void put_model(writer *w) {
  static const char *const ways[] = {"auto", "true", "auto"};
  put(w,
      "<mujoco model=\"drawn\">\n<compiler exactmeshinertia=\"true\" angle=\"%s\" eulerseq=\"%s\" "
      "inertiafromgeom=\"%s\"",
      pick(w, 2) ? "degree" : "radian", pick(w, 2) ? "xyz" : "ZyX", ways[pick(w, 3)]);
  if (pick(w, 4) == 0) put(w, " inertiagrouprange=\"0 4\"");
  if (pick(w, 4) == 0) put_numbers(w, "settotalmass", 1, 1, 9);
  /* boundmass is set only together with boundinertia. Otherwise the fluid would act on MuJoCo's smallest box, whose
   * size is 1e-7. */
  const int bound = pick(w, 4);
  if (bound == 0) put_numbers(w, "boundmass", 1, 0.1, 2);
  if (bound < 2) put_numbers(w, "boundinertia", 1, 0.001, 0.5);
  if (pick(w, 4) == 0) put(w, " balanceinertia=\"true\"");
  put(w, "/>\n<option density=\"%s\" viscosity=\"0.1\" wind=\"1 0.5 -0.25\"/>\n<default>\n<geom",
      pick(w, 4) ? "1.2" : "0");
  put_numbers(w, "density", 1, 200, 2000);
  put_numbers(w, "fluidcoef", 3, 0, 2);
  put(w, "/>\n<default class=\"light\"><geom");
  put_numbers(w, "size", 3, 0.1, 0.3);
  if (pick(w, 2)) put_numbers(w, "pos", 3, 0, 0);
  put_numbers(w, "density", 1, 20, 200);
  put(w, "/></default>\n</default>\n<asset>\n");
  put(w, "<mesh name=\"m0\" file=\"wedge.obj\"/>\n");
  put(w, "<mesh name=\"m1\" file=\"wedge.obj\" scale=\"0.5 -0.25 1\"/>\n");
  put(w,
      "<mesh name=\"m2\" file=\"wedge.obj\" scale=\"0.5 0.5 0.5\" refpos=\"0.5 0.25 1\" refquat=\"0.5 0.1 -0.3 "
      "0.2\"/>\n");
  put(w, "</asset>\n");
  put(w, "<worldbody>\n");
  for (int n = 1 + pick(w, 3); n; n--) put_body(w, 0);
  put(w, "</worldbody>\n</mujoco>\n");
}

/* --- data of the compiled model --- */

static void tensor_of(const double q[4], const double diagonal[3], double out[3][3]) {
  double R[3][3], unit[4];
  memcpy(unit, q, sizeof unit);
  cb_quaternion_project(unit);
  cb_quaternion_rotation(unit, R);
  memset(out, 0, 9 * sizeof **out);
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < 3; k++) out[i / 3][i % 3] += R[i / 3][k] * diagonal[k] * R[i % 3][k];
}

static void turned(const cb_mjcf_inertial *m, double out[3][3]) {
  double R[3][3];
  cb_pose_rotation(&m->centre, R);
  memset(out, 0, 9 * sizeof **out);
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < 9; k++) out[i / 3][i % 3] += R[i / 3][k / 3] * m->inertia[k / 3][k % 3] * R[i % 3][k % 3];
}

static void check_matrix(const double a[3][3], const double b[3][3], double tolerance) {
  for (int i = 0; i < 9; i++) check_near(a[i / 3][i % 3], b[i / 3][i % 3], tolerance);
}

/* Checks the type, the fluid coefficients, the size, the position and the axes of a geom. The axes are compared by the
 * tensor R diag(1, 2, 3) R^T of the rotation R, because frames that differ by half turns describe the same box. The
 * size, position and axes of a mesh that is only for display are not checked. */
static void check_geom(const cb_mjcf_geom *own, const mjModel *m, int id) {
  const bool mesh = own->type == CB_MJCF_MESH;
  static const int types[] = {mjGEOM_SPHERE,    mjGEOM_CAPSULE, mjGEOM_CYLINDER,
                              mjGEOM_ELLIPSOID, mjGEOM_BOX,     mjGEOM_MESH},
                   sizes[] = {1, 2, 2, 3, 3, 3};
  double a[3][3], b[3][3];
  const double one[3] = {1, 2, 3};
  assert_int_equal(types[own->type], m->geom_type[id]);
  assert_int_equal(own->fluid, m->geom_fluid[mjNFLUID * id] > 0);
  for (int i = 0; i < CB_MJCF_COEFFICIENTS && own->fluid; i++)
    check_near(own->coefficient[i], m->geom_fluid[mjNFLUID * id + 1 + i], 0);
  if (mesh && !(own->mass > 0 || own->fluid)) return; /* this mesh is only for display */
  /* MuJoCo stores the vertices of meshes in single precision. */
  const double tolerance = mesh ? 3e-7 : 1e-12;
  for (int i = 0; i < sizes[own->type]; i++) check_near(own->size[i], m->geom_size[3 * id + i], tolerance);
  for (int i = 0; i < 3; i++) check_near(own->centre.x[i], m->geom_pos[3 * id + i], tolerance);
  tensor_of(own->centre.q, one, a);
  tensor_of(m->geom_quat + 4 * id, one, b);
  check_matrix((const double(*)[3])a, (const double(*)[3])b, mesh ? 1e-5 : 1e-12);
}

/* Checks a link and returns the number of its geoms. Masses that depend on a mesh have single precision. This is so for
 * a link that has a mesh. It is so for all links if the total mass is given and any link has a mesh; then `mesh` is
 * set. */
static int check_link(const cb_mjcf_link *own, const mjModel *m, bool mesh) {
  const int id = mj_name2id(m, mjOBJ_BODY, own->name);
  double a[3][3], b[3][3];
  int geom = 0;
  assert_true(id > 0);
  for (const cb_mjcf_geom *g = own->geoms; g; g = g->next, geom++) {
    assert_true(geom < m->body_geomnum[id]);
    check_geom(g, m, m->body_geomadr[id] + geom);
    mesh = mesh || (g->mesh && g->mass > 0);
  }
  assert_int_equal(geom, m->body_geomnum[id]);
  check_near(own->inertial.mass, m->body_mass[id], (mesh ? 1e-7 : 1e-12) * m->body_mass[id]);
  if (!(own->inertial.mass > 0)) return geom;
  const double *I = m->body_inertia + 3 * id;
  for (int i = 0; i < 3; i++) check_near(own->inertial.centre.x[i], m->body_ipos[3 * id + i], mesh ? 3e-7 : 1e-12);
  turned(&own->inertial, a);
  tensor_of(m->body_iquat + 4 * id, I, b);
  cb_mass whole = {.mass = 1};
  double moment[3], axis[3][3];
  for (int i = 0; i < 9; i++) whole.inertia[i / 3][i % 3] = a[i / 3][i % 3];
  check_ok(cb_mass_principal(&whole, moment, axis));
  const double sum = I[0] + I[1] + I[2], low = fmin(I[0], fmin(I[1], I[2])), high = fmax(I[0], fmax(I[1], I[2]));
  check_near(moment[0], low, (mesh ? 1e-6 : 1e-12) * sum);
  check_near(moment[2], high, (mesh ? 1e-6 : 1e-12) * sum);
  check_near(moment[0] + moment[1] + moment[2], sum, (mesh ? 1e-6 : 1e-12) * sum);
  /* MuJoCo's iteration for the principal axes of several geoms ends when the cosine of a rotation is 1 - 1e-12. So its
   * axes have errors of up to 1.4e-6. */
  const bool exact =
      own->inertial.inertia[0][1] == 0 && own->inertial.inertia[0][2] == 0 && own->inertial.inertia[1][2] == 0;
  check_matrix((const double(*)[3])a, (const double(*)[3])b,
               (mesh ? 1e-6 : 1e-12) * sum + (exact ? 0 : 3e-6 * (high - low)));
  return geom;
}

static void check_whole(const cb_mjcf_body *own, const mjModel *m) {
  double mass = 0;
  for (const cb_mjcf_link *l = own->links; l; l = l->next) mass += m->body_mass[mj_name2id(m, mjOBJ_BODY, l->name)];
  const int id = mj_name2id(m, mjOBJ_BODY, own->name);
  double a[3][3], b[3][3];
  const double one[3] = {1, 2, 3};
  check_near(own->inertial.mass, mass, 1e-7 * mass); /* MuJoCo stores meshes in single precision */
  for (int i = 0; i < 3; i++) check_near(own->place.x[i], m->body_pos[3 * id + i], 1e-12);
  tensor_of(own->place.q, one, a);
  tensor_of(m->body_quat + 4 * id, one, b);
  check_matrix((const double(*)[3])a, (const double(*)[3])b, 1e-12);
  for (const cb_mjcf_link *l = own->links->next; l; l = l->next) {
    const int child = mj_name2id(m, mjOBJ_BODY, l->name);
    if (m->body_parentid[child] != id) continue;
    for (int i = 0; i < 3; i++) check_near(l->pose.x[i], m->body_pos[3 * child + i], 1e-12);
  }
}

/* --- the effect of the fluid --- */

/* Opens the written scenario with `compat: "2.2"`, the rules of the version of MuJoCo that is linked here. Returns the
 * status of opening it. */
static cb_status open_scenario(const cb_mjcf *own, cb_scenario **out) {
  static const char before[] = "        viscosity: ";
  cb_text text = {0}, versed = {0};
  check_ok(cb_mjcf_write(own, 1, &text));
  for (const char *line = text.data; *line;) {
    const size_t n = strcspn(line, "\n") + 1;
    cb_text_put(&versed, line, n);
    if (!strncmp(line, before, sizeof before - 1)) cb_text_puts(&versed, "        compat: \"2.2\"\n");
    line += n;
  }
  const cb_status status = cb_scenario_open_text("imported", versed.data, NULL, 0, out);
  cb_text_free(&text);
  cb_text_free(&versed);
  return status;
}

/* Computes the wrench F (torque and force about the body's origin) of everything except gravity, and the acceleration
 * `rate` of the body. The acceleration Y' follows from K Y' = ad*_Y (K Y) + F + gravity, where Y is the twist and K the
 * inertia. All are in the body's axes. */
static void push_here(const cb_body_start *start, const double twist[6], double F[6], double rate[6]) {
  cb_immersed_workspace *s;
  cb_rigid_state state;
  cb_immersed_row row;
  const int n = cb_immersed_wrenches(start->body);
  double(*wrench)[6] = calloc((size_t)n, sizeof *wrench), momentum[6] = {0}, all[6];
  static const double none[6] = {0};
  row.wrench = wrench;
  check_ok(cb_immersed_workspace_create(start->body, &s));
  check_ok(cb_rigid_start(cb_immersed_workspace_problem(s), 0, &start->pose, twist, &state));
  check_ok(cb_immersed_workspace_measure(s, &state, &row));
  memset(F, 0, 6 * sizeof *F);
  for (int i = 0; i < 36; i++) momentum[i / 6] += row.K[i / 6][i % 6] * twist[i % 6];
  cb_se3_ad_star(twist, momentum, all);
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 6; i++) {
      all[i] += wrench[k][i];
      if (strcmp(cb_immersed_wrench_name(start->body, k), "gravity")) F[i] += wrench[k][i];
    }
  check_ok(cb_rigid_velocity(row.K, all, none, rate));
  cb_immersed_workspace_free(s);
  free(wrench);
}

/* Compares forces or accelerations in MuJoCo's form for a free joint: three numbers for the origin in axes of the
 * world, then three for the rotation in axes of the body. */
static void check_same(const double here[6], const double there[6], double tolerance) {
  for (int half = 0; half < 6; half += 3) {
    const double size = fmax(sqrt(cb_dot3(there + half, there + half)), 0.1 * sqrt(cb_dot3(there, there)));
    for (int i = half; i < half + 3; i++) check_near(here[i], there[i], tolerance * size);
  }
}

/* Compares the fluid forces and the accelerations of all bodies at random velocities. In MuJoCo's arrays free joints
 * are in the order of the bodies. Velocity and force are in axes of the world, spin and torque in axes of the body. */
static void check_forces(writer *w, const cb_mjcf *own, mjModel *m, bool rounded, bool plain) {
  cb_scenario *s;
  mjData *d = mj_makeData(m);
  check_ok(open_scenario(own, &s));
  for (int i = 0; i < m->nv; i++) d->qvel[i] = draw(w, -2, 2);
  mj_forward(m, d);
  for (int b = 0; b < own->n; b++) {
    const cb_body_start *start = &cb_fluid_scenario_of(s)->body[b];
    double R[3][3], twist[6], F[6], here[6], rate[6], turning[3];
    const double *v = d->qvel + 6 * b;
    cb_pose_rotation(&start->pose, R);
    cb_apply3_transposed((const double(*)[3])R, v, twist + 3);
    memcpy(twist, v + 3, 3 * sizeof *twist);
    push_here(start, twist, F, rate);
    cb_apply3((const double(*)[3])R, F + 3, here);
    memcpy(here + 3, F, 3 * sizeof *F);
    check_same(here, d->qfrc_passive + 6 * b, rounded ? 3e-5 : 1e-10);
    cb_cross3(twist, twist + 3, turning);
    for (int i = 0; i < 3; i++) rate[3 + i] += turning[i];
    cb_apply3((const double(*)[3])R, rate + 3, here);
    memcpy(here + 3, rate, 3 * sizeof *rate);
    check_same(here, d->qacc_smooth + 6 * b, plain ? 1e-10 : 1e-4);
  }
  mj_deleteData(d);
  cb_scenario_free(s);
}

/* Returns whether the model has meshes, whose vertices MuJoCo stores in single precision. */
static bool is_rounded(const cb_mjcf *own) {
  for (const cb_mjcf_body *b = own->bodies; b; b = b->next)
    for (const cb_mjcf_link *l = b->links; l; l = l->next) {
      for (const cb_mjcf_geom *g = l->geoms; g; g = g->next)
        if (g->type == CB_MJCF_MESH) return true;
    }
  return false;
}

/* Returns whether all inertia matrices of the model are diagonal. For other matrices MuJoCo computes principal axes,
 * with errors of up to 1.4e-6. */
static bool is_plain(const cb_mjcf *own) {
  for (const cb_mjcf_body *b = own->bodies; b; b = b->next)
    for (const cb_mjcf_link *l = b->links; l; l = l->next) {
      const double(*I)[3] = (const double(*)[3])l->inertial.inertia;
      if (I[0][1] != 0 || I[0][2] != 0 || I[1][2] != 0) return false;
    }
  return true;
}

/* A tetrahedron with three different moments of inertia. Its corners are exact in single precision. */
static const char wedge[] = "v 0 0 0\nv 1 0 0\nv 0 0.75 0\nv 0.125 0 0.5\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

static void random_models_are_what_mujoco_makes_of_them(void **unused) {
  static writer w;
  char folder[] = "/tmp/mjcf-XXXXXX", path[64], obj[64], error[1024];
  int geoms = 0, bodies = 0, refused = 0, exact = 0;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/model.xml", folder);
  snprintf(obj, sizeof obj, "%s/wedge.obj", folder);
  FILE *file = fopen(obj, "w");
  fputs(wedge, file);
  fclose(file);
  w.state = check_seed();
  for (int n = 0; n < MODELS; n++) {
    w.length = 0;
    w.named = 0;
    put_model(&w);
    file = fopen(path, "w");
    fputs(w.text, file);
    fclose(file);
    mjModel *m = mj_loadXML(path, NULL, error, sizeof error);
    cb_mjcf *own = NULL;
    const cb_status status = cb_mjcf_read_file(path, NULL, &own);
    if (!m != !own)
      fail_msg("MuJoCo: %s\nhere: %s\n%s", m ? "takes it" : error, own ? "taken" : cb_error_text(), w.text);
    if (!m) {
      refused++;
      continue;
    }
    check_ok(status);
    const bool rounded = is_rounded(own);
    for (const cb_mjcf_body *b = own->bodies; b; b = b->next) {
      check_whole(b, m);
      for (const cb_mjcf_link *l = b->links; l; l = l->next, bodies++)
        geoms += check_link(l, m, rounded && strstr(w.text, "settotalmass"));
    }
    assert_int_equal(m->nq, 7 * own->n);
    check_forces(&w, own, m, rounded, !rounded && is_plain(own));
    exact += !rounded;
    cb_mjcf_free(own);
    mj_deleteModel(m);
  }
  print_message("%d bodies, %d geoms, %d models exact, %d refused\n", bodies, geoms, exact, refused);
  assert_true(bodies > MODELS && geoms > 2 * MODELS && exact && refused < MODELS / 4);
  unlink(path);
  unlink(obj);
  rmdir(folder);
}

/* Two bodies that fall in the wind: one geom, and two geoms. */
static const char cards[] =
    "<mujoco><option density='1.2' viscosity='1.8e-5' wind='1 0.5 -0.25' timestep='0.001' integrator='RK4'/><worldbody>"
    "<body name='a' euler='20 30 10'><freejoint/>"
    "<geom type='box' size='.1 .05 .002' density='100' fluidshape='ellipsoid' fluidcoef='1 .3 1 2 .5'/></body>"
    "<body name='b' pos='2 0 0' euler='70 0 0'><freejoint/><inertial pos='0 0 0' mass='.1' diaginertia='1e-4 2e-4 "
    "2.9e-4'/>"
    "<geom type='ellipsoid' size='.1 .05 .02' pos='.02 0 .01' fluidshape='ellipsoid'/>"
    "<geom type='capsule' size='.02 .05' pos='-.05 .02 0' euler='0 40 0' "
    "fluidshape='ellipsoid'/></body></worldbody></mujoco>";

static void by_its_own_method_bodies_go_where_mujoco_has_them(void **unused) {
  enum { STEPS = 1000 };
  char path[] = "/tmp/cards-XXXXXX.xml", error[1024];
  const int fd = mkstemps(path, 4);
  assert_int_equal(write(fd, cards, sizeof cards - 1), (ssize_t)sizeof cards - 1);
  close(fd);
  mjModel *m = mj_loadXML(path, NULL, error, sizeof error);
  if (!m) fail_msg("%s", error);
  mjData *d = mj_makeData(m);
  cb_mjcf *own;
  cb_scenario *s;
  check_ok(cb_mjcf_read_file(path, NULL, &own));
  check_ok(open_scenario(own, &s));
  unlink(path);
  for (int n = 0; n < STEPS; n++) mj_step(m, d);
  for (int b = 0; b < own->n; b++) {
    const cb_body_start *start = &cb_fluid_scenario_of(s)->body[b];
    cb_immersed_workspace *workspace;
    cb_integrator *in;
    cb_rigid_state state;
    check_ok(cb_immersed_workspace_create(start->body, &workspace));
    const cb_rigid_problem *problem = cb_immersed_workspace_problem(workspace);
    check_ok(cb_rigid_start(problem, 0, &start->pose, start->twist, &state));
    check_ok(cb_integrator_create_for(
        s->integrator->class_->name, NULL,
        (const cb_problem *const[]){&cb_problem_discrete_lagrangian, &cb_problem_lie_group, NULL}, problem, &in));
    for (int n = 0; n < STEPS; n++) check_ok(cb_integrator_step(in, &state, own->step));
    const double *there = d->qpos + 7 * b, *q = state.g.q;
    const double sign = q[0] * there[3] + q[1] * there[4] + q[2] * there[5] + q[3] * there[6] < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++) check_near(state.g.x[i], there[i], 1e-12); /* round-off of 1000 steps is 3e-15 */
    for (int i = 0; i < 4; i++) check_near(sign * q[i], there[3 + i], 1e-12);
    cb_integrator_free(in);
    cb_immersed_workspace_free(workspace);
  }
  cb_scenario_free(s);
  cb_mjcf_free(own);
  mj_deleteData(d);
  mj_deleteModel(m);
}
/* A model with actuators of each supported type, within their limits, at sites of rotated bodies and at joints. A key
 * gives the controls and the start. One body is an arm, which also has values in the key. */
static const char pushed[] =
    "<mujoco><compiler autolimits='true' %s/><option density='1.2' viscosity='1e-3' gravity='0 0 -2' integrator='RK4' "
    "timestep='.002'/><default><general gear='1 0 0 0 .1 0'/><default class='s'><site euler='10 20 30' pos='0 .1 "
    "0'/><motor "
    "gear='0 2 0'/></default></default><worldbody><geom type='plane' size='1 1 1' pos='0 0 -99'/><body pos='0 50 5'>"
    "<joint name='h'/><joint name='s' type='slide'/><geom size='.1'/><body><joint type='ball'/><geom "
    "size='.1'/></body></body>"
    "<body name='a' pos='0 0 1' euler='10 20 30'><freejoint name='root'/><geom type='box' size='.1 .2 .3' "
    "density='100' "
    "fluidshape='ellipsoid'/><site name='p' class='s'/><body pos='.1 .2 .3' euler='40 50 60'><geom type='capsule' "
    "size='.05 .2' "
    "density='200'/><site name='q' type='capsule' fromto='0 0 0 .1 .2 .3' size='.1'/></body></body>"
    "<body name='b' pos='3 0 1'><joint name='fb' type='free'/><geom type='ellipsoid' size='.1 .2 .3' "
    "density='150'/></body>"
    "</worldbody><actuator><motor joint='h'/><motor name='m one' class='s' site='p' ctrlrange='-1 1'/><general "
    "site='q' "
    "gainprm='2' biastype='affine' biasprm='.3 5 -.7' forcerange='-1 1'/><velocity site='p' kv='.4' gear='1 2 3 .1 .2 "
    ".3'/>"
    "<position site='q' kp='3' gear='0 0 1 0 0 .2'/><motor joint='fb' gear='1 2 3 .1 .2 .3'/><motor "
    "jointinparent='root' "
    "gear='1 2 3 .3 .2 .1'/><damper site='q' kv='.8' ctrlrange='0 2' gear='.5 0 1 .2 0 0'/><general gaintype='affine' "
    "gainprm='.5 0 .25' site='p' gear='0 1 1'/></actuator><keyframe><key name='k' time='3' qpos='1 2 1 0 0 0  .1 .2 .3 "
    ".4 .5 .6 "
    ".7 3 4 5 2 1 1 .5' qvel='0 0 0 0 0 1 2 3 .5 -.4 .3 -1 .5 2 -.1 -.2 .7' ctrl='7 2 .3 .4 -.5 .6 -.7 .8 "
    "-.9'/></keyframe>"
    "</mujoco>";

static void check_pushed(const char *settings) {
  char text[4096], path[] = "/tmp/pushed-XXXXXX.xml", error[1024];
  const int length = snprintf(text, sizeof text, pushed, settings), fd = mkstemps(path, 4);
  assert_int_equal(write(fd, text, (size_t)length), length);
  close(fd);
  mjModel *m = mj_loadXML(path, NULL, error, sizeof error);
  if (!m) fail_msg("%s", error);
  mjData *d = mj_makeData(m);
  cb_mjcf *own;
  cb_scenario *s;
  check_ok(cb_mjcf_read_file(path, &(cb_mjcf_choices){.key = "k"}, &own));
  unlink(path);
  check_ok(open_scenario(own, &s));
  mj_resetDataKeyframe(m, d, 0);
  mj_forward(m, d);
  check_near(own->start, d->time, 0);
  for (int b = 0; b < 2; b++) {
    const cb_body_start *start = &cb_fluid_scenario_of(s)->body[2 + b]; /* after the two bodies of the arm */
    const double *q = d->qpos + 6 + 7 * b, *there = d->qacc + 5 + 6 * b;
    double R[3][3], F[6], here[6], rate[6], turning[3];
    for (int i = 0; i < 3; i++) check_near(start->pose.x[i], q[i], 1e-15);
    cb_pose_rotation(&start->pose, R);
    push_here(start, start->twist, F, rate);
    cb_cross3(start->twist, start->twist + 3, turning);
    for (int i = 0; i < 3; i++) rate[3 + i] += turning[i];
    cb_apply3((const double(*)[3])R, rate + 3, here);
    memcpy(here + 3, rate, 3 * sizeof *rate);
    check_same(here, there, 1e-10); /* round-off of the inverse of the mass matrix of two bodies */
  }
  cb_scenario_free(s);
  cb_mjcf_free(own);
  mj_deleteData(d);
  mj_deleteModel(m);
}

static void actuators_push_as_mujoco_has_them(void **unused) {
  check_pushed("");
  check_pushed("settotalmass='30'");
  check_pushed("boundmass='2' boundinertia='.1'");
}
#else
static void actuators_push_as_mujoco_has_them(void **unused) { skip(); }

static void by_its_own_method_bodies_go_where_mujoco_has_them(void **unused) { skip(); }

static void random_models_are_what_mujoco_makes_of_them(void **unused) { skip(); }
#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_models_are_what_mujoco_makes_of_them),
                                     cmocka_unit_test(actuators_push_as_mujoco_has_them),
                                     cmocka_unit_test(by_its_own_method_bodies_go_where_mujoco_has_them)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
