/* The degree of each quantity of a tape as a polynomial in some variables: 0, 1, or OTHER. */
#include "numerics/expression_private.h"

enum { OTHER = 2 };

static int greater(int a, int b) { return a > b ? a : b; }

static bool has_two_operands(int op) {
  return cb_opcode_operands((cb_opcode)op) == 2 || (op >= CB_OP_LESS && op <= CB_OP_NOT_EQUAL);
}

static int degree_of(const cb_operation *o, const uint8_t *degree) {
  const int a = degree[o->a], b = has_two_operands(o->op) ? degree[o->b] : 0;
  switch (o->op) {
    case CB_OP_NEGATE: return a;
    case CB_OP_ADD:
    case CB_OP_SUBTRACT: return greater(a, b);
    case CB_OP_MULTIPLY: return a + b < OTHER ? a + b : OTHER;
    case CB_OP_DIVIDE: return b ? OTHER : a;
    case CB_OP_IF: return degree[o->c] ? OTHER : greater(a, b);
    default: return a || b ? OTHER : 0;
  }
}

bool cb_expression_is_affine(const cb_expression *e, int first, int count) {
  uint8_t degree[CB_TAPE_MAX];
  const int leaves = e->variables + e->constants;
  for (int k = 0; k < leaves; k++)
    degree[k] = k < e->variables && e->variable[k] >= first && e->variable[k] < first + count;
  for (int k = 0; k < e->operations; k++) degree[leaves + k] = (uint8_t)degree_of(&e->operation[k], degree);
  return degree[e->result] < OTHER;
}
