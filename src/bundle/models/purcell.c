/* Purcell's swimmer: a plane chain of slender links at zero Reynolds number, by resistive-force theory.
 *
 *   drag of a link of length l:  D = k_t diag(l, ratio l, turn l^3);  A and M of bundle/chain.h, power = M_ij r_i' r_j'
 *   turn = ratio/12 is what the drag across gives when it is summed along the link
 * Three links: headings theta - alpha_1, theta, theta + alpha_2 about the middle one, which is the base. Links and base
 * are counted from 1. ratio = 2: infinitely thin links.
 * Source: Purcell, Am. J. Physics 45 (1977) 3, doi:10.1119/1.10903; Hatton & Choset, IEEE Trans. Robotics 29 (2013)
 * 615, doi:10.1109/TRO.2013.2251211. Radians, lengths; k_t in force time/length^2.
 */
#include "bundle/chain.h"
#include "model.h"

#include <math.h>

typedef struct purcell {
  int links, base;
  double length, drag, ratio, turn;
  const cb_node *shares;
} purcell;

static const cb_param params[] = {
    {"links", CB_PARAM_INT, offsetof(purcell, links), "3", "", "[2, 12]", NULL, "number of links"},
    {"length", CB_PARAM_REAL, offsetof(purcell, length), "1", "length", "> 0", NULL, "L, of all links"},
    {"shares", CB_PARAM_NODE, offsetof(purcell, shares), "", "", "", NULL,
     "list: lengths in proportion; even if absent"},
    {"drag", CB_PARAM_REAL, offsetof(purcell, drag), "1", "force time/length^2", "> 0", NULL, "k_t, along, by length"},
    {"ratio", CB_PARAM_REAL, offsetof(purcell, ratio), "2", "", "> 0", NULL, "of drag across to drag along"},
    {"turn", CB_PARAM_REAL, offsetof(purcell, turn), "nan", "", ">= 0", NULL, "rotational drag/(k_t l^3); ratio/12"},
    {"base", CB_PARAM_INT, offsetof(purcell, base), "0", "", ">= 0", NULL, "link of the body frame; 0: the middle"},
    {0},
};

static cb_status init(cb_bundle *b, const void *given) {
  const purcell *p = given;
  cb_chain c = {0};
  cb_status status = cb_chain_shape(&c, p->links, p->length, p->shares, p->base);
  for (int k = 0; !status && k < c.links; k++) {
    const double l = c.length[k], turn = isnan(p->turn) ? p->ratio / 12 : p->turn;
    c.D[k][0] = p->drag * l;
    c.D[k][1] = p->drag * p->ratio * l;
    c.D[k][2] = p->drag * turn * l * l * l;
  }
  if (!status) status = cb_model_init(b, "se2", 0, c.links - 1, cb_chain_names, &c, sizeof c);
  if (!status) b->points = c.links + 1, b->lines = c.links, b->line = cb_chain_lines;
  return status;
}

static cb_status on_jets(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {
  return cb_chain_on_jets(cb_model_params(b), r, A, M);
}

static cb_status connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  return cb_chain_connection(cb_model_params(b), r, A, dA, M, dM);
}

static cb_status picture(const cb_bundle *b, const double *r, const double *g, double (*x)[3]) {
  cb_chain_picture(cb_model_params(b), r, g, x);
  return CB_OK;
}

const cb_bundle_class cb_bundle_purcell = {
    .name = "purcell",
    .title = "Purcell's swimmer",
    .doc = "a plane chain of slender links at zero Reynolds number",
    .params = params,
    .params_size = sizeof(purcell),
    .init = init,
    .destroy = cb_model_destroy,
    .on_jets = on_jets,
    .connection = connection,
    .picture = picture,
};
