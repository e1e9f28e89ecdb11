/* What models made of a chain (bundle/chain.h) share: all of their class but the tensors D of their links. */
#pragma once

#include "bundle/chain.h"
#include "model.h"

static inline cb_status chain_init(cb_bundle *b, const cb_chain *c) {
  const cb_status status = cb_model_init(b, "se2", 0, c->links - 1, cb_chain_names, c, sizeof *c);
  if (!status) b->points = c->links + 1, b->lines = c->links, b->line = cb_chain_lines;
  return status;
}

static inline cb_status chain_on_jets(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {
  return cb_chain_on_jets(cb_model_params(b), r, A, M);
}

static inline cb_status chain_connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M,
                                         double *dM) {
  return cb_chain_connection(cb_model_params(b), r, A, dA, M, dM);
}

static inline cb_status chain_second(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  return cb_chain_second(cb_model_params(b), r, ddA, ddM);
}

static inline cb_status chain_picture(const cb_bundle *b, const double *r, const double *g, double (*x)[3]) {
  cb_chain_picture(cb_model_params(b), r, g, x);
  return CB_OK;
}

#define CB_CHAIN_FUNCTIONS                                                                             \
  .init = init, .destroy = cb_model_destroy, .on_jets = chain_on_jets, .connection = chain_connection, \
  .second = chain_second, .picture = chain_picture
