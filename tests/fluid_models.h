/* Evaluates fluid models without a run, for bodies that are given by parameters: the wrenches and their derivatives. */
#pragma once

#include "check.h"
#include "yaml/yaml.h"
#include "numerics/vec3.h"
#include <curvebody/fluid_model.h>

typedef struct subject {
  cb_tree *tree;
  cb_fluid_model *model;
  void *body;
  int places, terms;
  const double (*at)[3];
} subject;

static inline subject subject_of(const char *name, const char *parameters, const cb_mass *mass) {
  static const double origin[1][3];
  subject s = {.places = 1, .at = origin};
  check_ok(cb_yaml_read_text("parameters", parameters, strlen(parameters), &s.tree));
  check_ok(cb_fluid_model_create(name, cb_tree_root(s.tree), &s.model));
  check_ok(s.model->class_->prepare(s.model, NULL, mass, &s.body));
  if (s.model->class_->places) s.places = s.model->class_->places(s.model, s.body, &s.at);
  while (s.model->class_->terms[s.terms]) s.terms++;
  return s;
}

static inline void subject_end(subject *s) {
  s->model->class_->release(s->model, s->body);
  cb_fluid_model_free(s->model);
  cb_tree_free(s->tree);
}

/* Computes the wrench F about the origin, summed over all points where the model applies a wrench and over all its
 * terms, for the density rho of the fluid and the twist V of the body. greatest[0] and greatest[1] are the maximum
 * absolute components of torque and of force in any term. */
static inline void wrench_of(const subject *s, double rho, const double V[6], double F[6], double greatest[2]) {
  memset(F, 0, 6 * sizeof *F);
  greatest[0] = greatest[1] = 0;
  for (int p = 0; p < s->places; p++) {
    double f[CB_FLUID_TERMS][6] = {{0}}, own[6], torque[3];
    memcpy(own, V, sizeof own);
    cb_cross3(V, s->at[p], torque);
    for (int i = 0; i < 3; i++) own[3 + i] += torque[i];
    check_ok(s->model->class_->on_twist(s->model, s->body, p, rho, own, f, NULL));
    for (int k = 0; k < s->terms; k++) {
      cb_cross3(s->at[p], f[k] + 3, torque);
      for (int i = 0; i < 6; i++) {
        const double value = f[k][i] + (i < 3 ? torque[i] : 0);
        F[i] += value;
        greatest[i / 3] = fmax(greatest[i / 3], fabs(value));
      }
    }
  }
}

/* Compares the derivatives of every term of the model with respect to the twist with differences of fourth order with
 * the step 1e-3, for 20 random twists at every point where the model applies a wrench. The tolerance is 1e-7 of the
 * maximum derivative of the term. */
static inline void check_subject_slopes(const subject *s, uint64_t *seed) {
  static const double weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12};
  for (int round = 0; round < 20 * s->places; round++) {
    const int place = round % s->places;
    double V[6], F[CB_FLUID_TERMS][6] = {{0}}, dF[CB_FLUID_TERMS][6][6] = {{{0}}}, size[CB_FLUID_TERMS] = {0};
    for (int i = 0; i < 6; i++) V[i] = check_uniform(seed, -2, 2);
    check_ok(s->model->class_->on_twist(s->model, s->body, place, 1.3, V, F, dF));
    for (int i = 0; i < 36 * s->terms; i++) size[i / 36] = fmax(size[i / 36], fabs(dF[i / 36][i / 6 % 6][i % 6]));
    for (int j = 0; j < 6; j++) {
      double found[CB_FLUID_TERMS][6] = {{0}};
      for (int n = 0; n < 4; n++) {
        double at[6], f[CB_FLUID_TERMS][6] = {{0}};
        memcpy(at, V, sizeof at);
        at[j] += 1e-3 * (n < 2 ? n - 2 : n - 1);
        check_ok(s->model->class_->on_twist(s->model, s->body, place, 1.3, at, f, NULL));
        for (int i = 0; i < 6 * s->terms; i++) found[i / 6][i % 6] += weight[n] * f[i / 6][i % 6] / 1e-3;
      }
      for (int i = 0; i < 6 * s->terms; i++) check_near(dF[i / 6][i % 6][j], found[i / 6][i % 6], 1e-7 * size[i / 6]);
    }
  }
}
