/* The floating snake: a plane chain of uniform rods, without external forces and without momentum.
 *
 *   inertia of a link of mass m and length l:  D = m diag(1, 1, l^2/12)
 *   A and M as in bundle/chain.h;  M: twice the kinetic energy
 * The centre of mass does not move, so that the only net effect of a gait is a rotation about the centre of mass. Three
 * links: headings theta - alpha_1, theta, theta + alpha_2, theta that of the middle link, which is the base. Links and
 * base are counted from 1.
 * Source: Kelly & Murray, J. Robotic Systems 12 (1995) 417, doi:10.1002/rob.4620120607. Units: radians, lengths,
 * masses. The masses of all links must be above 0.
 */
#include "model.h"

typedef struct snake {
  int links, base;
  double length, mass;
  const cb_node *shares;
} snake;

static const cb_param params[] = {
    {"links", CB_PARAM_INT, offsetof(snake, links), "3", "", "[2, 12]", NULL, "number of links"},
    {"length", CB_PARAM_REAL, offsetof(snake, length), "3", "length", "> 0", NULL, "total length of all links"},
    {"mass", CB_PARAM_REAL, offsetof(snake, mass), "3", "mass", "> 0", NULL, "total mass of all links"},
    {"shares", CB_PARAM_NODE, offsetof(snake, shares), "", "", "", NULL,
     "list: proportions of the lengths and masses of the links; default: equal"},
    {"base", CB_PARAM_INT, offsetof(snake, base), "0", "", ">= 0", NULL,
     "link that carries the body frame; 0: the middle link"},
    {0},
};

static cb_status init(cb_bundle *b, const void *given) {
  const snake *p = given;
  cb_chain c = {0};
  const cb_status status = cb_chain_shape(&c, p->links, p->length, p->shares, p->base);
  for (int k = 0; !status && k < c.links; k++) {
    const double m = p->mass * c.length[k] / p->length;
    c.D[k][0] = c.D[k][1] = m;
    c.D[k][2] = m * c.length[k] * c.length[k] / 12;
  }
  return status ? status : chain_init(b, &c);
}

const cb_bundle_class cb_bundle_floating_snake = {
    .name = "floating_snake",
    .title = "floating snake",
    .doc = "a plane chain of uniform rods without momentum",
    .params = params,
    .params_size = sizeof(snake),
    .resistance = CB_RESISTANCE_INERTIA,
    CB_CHAIN_FUNCTIONS,
};
