/* Purcell's swimmer: a plane chain of slender links at zero Reynolds number, by resistive-force theory.
 *
 *   drag of a link of length l:  D = k_t diag(l, ratio l, turn l^3);  A, M as in bundle/chain.h, power = M_ij r_i' r_j'
 *   k_t: drag along a link per length;  ratio: drag across a link divided by drag along it
 *   turn: ratio/12 if it is not given, which follows from the drag across the link, integrated along it
 * Three links: headings theta - alpha_1, theta, theta + alpha_2, theta that of the middle link, which is the base.
 * Links and base are counted from 1. ratio = 2: infinitely thin links.
 * Source: Purcell, Am. J. Physics 45 (1977) 3, doi:10.1119/1.10903; Hatton & Choset, IEEE Trans. Robotics 29 (2013)
 * 615, doi:10.1109/TRO.2013.2251211. Units: radians, lengths; k_t in force time/length^2.
 */
#include "model.h"

#include <math.h>

typedef struct purcell {
  int links, base;
  double length, drag, ratio, turn;
  const cb_node *shares;
} purcell;

static const cb_param params[] = {
    {"links", CB_PARAM_INT, offsetof(purcell, links), "3", "", "[2, 12]", NULL, "number of links"},
    {"length", CB_PARAM_REAL, offsetof(purcell, length), "1", "length", "> 0", NULL, "total length of all links"},
    {"shares", CB_PARAM_NODE, offsetof(purcell, shares), "", "", "", NULL,
     "list: proportions of the lengths of the links; default: equal"},
    {"drag", CB_PARAM_REAL, offsetof(purcell, drag), "1", "force time/length^2", "> 0", NULL,
     "drag k_t along a link, per length"},
    {"ratio", CB_PARAM_REAL, offsetof(purcell, ratio), "2", "", "> 0", NULL,
     "drag across a link divided by drag along it"},
    {"turn", CB_PARAM_REAL, offsetof(purcell, turn), "nan", "", ">= 0", NULL,
     "rotational drag divided by k_t l^3; default: ratio/12"},
    {"base", CB_PARAM_INT, offsetof(purcell, base), "0", "", ">= 0", NULL,
     "link that carries the body frame; 0: the middle link"},
    {0},
};

static cb_status init(cb_bundle *b, const void *given) {
  const purcell *p = given;
  cb_chain c = {0};
  const cb_status status = cb_chain_shape(&c, p->links, p->length, p->shares, p->base);
  for (int k = 0; !status && k < c.links; k++) {
    const double l = c.length[k], turn = isnan(p->turn) ? p->ratio / 12 : p->turn;
    c.D[k][0] = p->drag * l;
    c.D[k][1] = p->drag * p->ratio * l;
    c.D[k][2] = p->drag * turn * l * l * l;
  }
  return status ? status : chain_init(b, &c);
}

const cb_bundle_class cb_bundle_purcell = {
    .name = "purcell",
    .title = "Purcell's swimmer",
    .doc = "a plane chain of slender links at zero Reynolds number",
    .params = params,
    .params_size = sizeof(purcell),
    .resistance = CB_RESISTANCE_DRAG,
    CB_CHAIN_FUNCTIONS,
};
