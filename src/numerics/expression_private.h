/* The tape of a parsed expression.
 *
 * Every quantity has a place in one array of values: the variables in use, then the constants, then the result of each
 * operation in order. Places are numbers ("refs"); an operation's operands stand before its result.
 * Jets live in slots, reused once a result is no longer needed, so that evaluation works on the C stack.
 */
#pragma once

#include <curvebody/expression.h>
#include <stdbool.h>
#include <stdint.h>

#define CB_TEXT_MAX 65536   /* bytes of text */
#define CB_DEPTH_MAX 200    /* nested parentheses, calls, signs and powers */
#define CB_TAPE_MAX 2048    /* refs: 16 kB for each array of doubles on the stack */
#define CB_SLOT_MAX 64      /* jets alive at once: at most 46 kB */
#define CB_PASSIVE 255      /* of `lowest` and `slot`: no derivative */

/* Functions come first, in the order of cb_expression_functions. */
typedef enum cb_opcode {
  CB_OP_SQRT, CB_OP_EXP, CB_OP_LOG, CB_OP_LOG10, CB_OP_POW,
  CB_OP_SIN, CB_OP_COS, CB_OP_TAN, CB_OP_COT, CB_OP_ASIN, CB_OP_ACOS, CB_OP_ATAN, CB_OP_ATAN2,
  CB_OP_SINH, CB_OP_COSH, CB_OP_TANH, CB_OP_COTH, CB_OP_ASINH, CB_OP_ACOSH, CB_OP_ATANH,
  CB_OP_ABS, CB_OP_SIGN, CB_OP_FLOOR, CB_OP_STEP, CB_OP_MIN, CB_OP_MAX, CB_OP_HYPOT, CB_OP_IF,
  CB_FUNCTION_COUNT,
  CB_OP_NEGATE = CB_FUNCTION_COUNT, CB_OP_ADD, CB_OP_SUBTRACT, CB_OP_MULTIPLY, CB_OP_DIVIDE,
  CB_OP_POWER_CONSTANT, /* a^b, b constant */
  CB_OP_POWER_INTEGER,  /* a^k */
  CB_OP_LESS, CB_OP_LESS_EQUAL, CB_OP_GREATER, CB_OP_GREATER_EQUAL, CB_OP_EQUAL, CB_OP_NOT_EQUAL,
  CB_OP_CONSTANT, CB_OP_VARIABLE /* leaves, while parsing only */
} cb_opcode;

/* if(condition, then, else) holds then, else, condition in a, b, c. */
typedef struct cb_operation {
  uint8_t op;
  uint8_t operands; /* operands that derivatives pass through: a, or a and b */
  int16_t k;        /* integer power */
  uint16_t a, b, c;
} cb_operation;

struct cb_expression {
  int variables, constants, operations; /* counts */
  int result;                           /* ref */
  double *constant;
  cb_operation *operation;
  uint8_t *variable; /* of the first refs: index into x */
  uint8_t *lowest;   /* by ref: first variable with a derivative that counts, or CB_PASSIVE */
  uint8_t *slot;     /* by ref: where its jet lives, or CB_PASSIVE */
};

/* The value of one operation on the array of values v. */
double cb_operation_value(const cb_operation *o, const double *v);

/* The same with its derivatives f_a, f_b. */
double cb_operation_slopes(const cb_operation *o, const double *v, double slope[2]);

/* A branch of an expression, owned by who asks for it. */
typedef struct cb_expression_branch {
  cb_expression *value;
  cb_expression *guard; /* the branch is the expression's where this is not negative; NULL: everywhere it is not less */
  bool plane;           /* of a tip, with a guard that knows how deep what is there has sunk */
  int tip;              /* the tips of cones before this operation have not been looked at */
} cb_expression_branch;

/* The branches of an expression that is the minimum of several near its hollow kinks, such as y - abs(x): at most so
 * many. Other kinks stay in them. Variables from `fixed` on belong to what meets the wall, and do not change. */
cb_status cb_expression_branches(const cb_expression *e, int fixed, int most, cb_expression_branch *branch, int *count);

/* The sides of an operation at which an expression may have a kink (expression_sides.c). */
bool cb_operation_has_sides(const cb_operation *o);
bool cb_expression_constant_at(const cb_expression *e, int ref, double *value);
/* The expression on side 0 or 1 of such an operation; of the cone hypot(a, b) the tangent planes at
 * angles side pi/4, and its axis, 0; for kink < 0 as it is. Roots of sums of squares are made abs and hypot.
 * CB_ERROR_INPUT: it is too long. */
enum { CB_CONE_PLANES = 8 };
cb_status cb_expression_side(const cb_expression *e, int kink, int side, cb_expression **out);
/* The margin of a side, not negative where it holds, and the lesser of this and the guard (NULL: no guard). */
cb_status cb_expression_guard(const cb_expression *e, int kink, int side, const cb_expression *guard,
                              cb_expression **out);
/* The same of the tangent planes of a cone: they hold where the wall's depth is more than twice what the cone, hypot,
 * makes of it, which is at the tip, or in what has sunk from there. */
cb_status cb_expression_tip_guard(const cb_expression *e, int tip, const cb_expression *guard, cb_expression **out);
typedef enum cb_border {
  CB_BORDER_NONE,   /* no kink, or one that is a ridge everywhere */
  CB_BORDER_HOLLOW, /* somewhere */
  CB_BORDER_LEAST,  /* and the expression is the lesser of both sides everywhere */
  CB_BORDER_JUMP    /* the expression is not continuous, or a side is not defined beyond the border */
} cb_border;
/* What the border is, where the guard is positive. */
cb_status cb_expression_border(const cb_expression *e, int kink, const cb_expression *guard, cb_border *out);

/* By how much a condition holds: a - b of a > b, the least of conditions that are multiplied or the greatest of those
 * that are added, |a| of what is no comparison. It is continuous where a and b are, and negative where the condition
 * does not hold (0 where nothing but a == b does not). */
double cb_expression_margin(const cb_expression *e, const double *x);

/* How many operands derivatives pass through. */
int cb_opcode_operands(cb_opcode op);

/* Function and constants by name; -1 or 0 if there is none. */
int cb_function_find(const char *name, size_t length);
int cb_constant_find(const char *name, size_t length, double *value);
extern const char *const cb_constant_names[]; /* ended by NULL */

/* A letter of other texts, in UTF-8, and what an expression has in its place; NULL if the text begins with none. */
typedef struct cb_expression_letter {
  const char *name, *text;
} cb_expression_letter;
const cb_expression_letter *cb_expression_letter_at(const char *text);

/* The tape under construction. Each call gives a ref within it, equal for equal subexpressions, or -1 when it is full.
 * Operations on constants are done at once. */
typedef struct cb_tape_node {
  cb_operation o;
  double value; /* of a constant */
} cb_tape_node;

typedef struct cb_tape {
  int count;
  cb_tape_node node[CB_TAPE_MAX];
} cb_tape;

int cb_tape_constant(cb_tape *t, double value);
int cb_tape_variable(cb_tape *t, int i);
int cb_tape_operation(cb_tape *t, cb_opcode op, int a, int b, int c);

/* The expression with that result, without what it does not use. CB_ERROR_INPUT if it needs too many slots. */
cb_status cb_tape_finish(const cb_tape *t, int result, cb_expression **out);

/* Is it affine in variables first .. first + count - 1, whatever the others are: a0 + sum a_i x_i with a_i of the
 * others? False where that cannot be read off its operations, as of X*X/X. */
bool cb_expression_is_affine(const cb_expression *e, int first, int count);
