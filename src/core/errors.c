/* Failures kept on a stack of their own, one for each thread: those of a scope are the ones above its mark. What a scope
 * tells at its end stays above the mark until something else fails: the one around it can take it over. */
#include "core/errors.h"

#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256 }; /* that are kept: of more, the first in the order of reading */

typedef struct kept {
  char *text;
  cb_status status;
  cb_failure failure; /* with its place in the file that is read, if it has none of its own */
  bool bare;          /* the text has no place */
} kept;

static _Thread_local kept *stack;              /* [MOST], while a scope is open */
static _Thread_local size_t top, told, scopes; /* told: above top, by a scope that has ended */

cb_errors cb_errors_begin(void) {
  scopes++;
  return (cb_errors){.first = top, .status = CB_OK};
}

static void drop_told(void) {
  for (size_t i = top; i < top + told; i++) free(stack[i].text);
  told = 0;
}

/* False: no memory for it. */
static bool push(const cb_node *where, cb_status status, const cb_failure *f) {
  if (!stack) stack = calloc(MOST, sizeof *stack);
  if (!stack) return false;
  if (top == MOST) return true;
  kept *k = &stack[top];
  *k = (kept){strdup(cb_error_text()), status, *f, !f->placed};
  if (!k->text) return false;
  top++;
  if (!where || !where->file || (f->file && !strcmp(f->file, where->file))) return true;
  k->failure.file = where->file;
  k->failure.line = where->line;
  k->failure.column = where->column;
  return true;
}

cb_status cb_errors_add(cb_errors *errors, const cb_node *where, cb_status status) {
  const cb_failure last = cb_failure_last();
  if (!status) return CB_OK;
  if (!errors->status || status == CB_ERROR_MEMORY) errors->status = status;
  if (last.kept && told) {
    top += told;
    told = 0;
    return status;
  }
  drop_told();
  if (last.kind != CB_FAILURE_CONSEQUENCE && !push(where, status, &last)) errors->status = CB_ERROR_MEMORY;
  return status;
}

static bool before(const kept *a, const kept *b) {
  const cb_failure *f = &a->failure, *g = &b->failure;
  return f->line != g->line ? f->line < g->line : f->column < g->column;
}

/* Those from `first` on in order, each once. */
static void sort(size_t first) {
  for (size_t i = first + 1; i < top; i++)
    for (size_t j = i; j > first && before(&stack[j], &stack[j - 1]); j--) {
      const kept other = stack[j];
      stack[j] = stack[j - 1];
      stack[j - 1] = other;
    }
  size_t n = first;
  for (size_t i = first; i < top; i++) {
    bool again = false;
    for (size_t j = first; j < n; j++) again = again || !strcmp(stack[j].text, stack[i].text);
    if (again)
      free(stack[i].text);
    else
      stack[n++] = stack[i];
  }
  top = n;
}

static void put_line(cb_text *text, const kept *k) {
  if (text->length) cb_text_puts(text, "\n");
  if (k->bare && k->failure.file) {
    cb_text_puts(text, k->failure.file);
    cb_text_puts(text, cb_place_text_of(k->failure.line, k->failure.column).text);
  }
  cb_text_puts(text, k->text);
}

/* The last failure becomes what is kept from `first` on. */
static cb_status tell(size_t first) {
  const size_t n = top - first, most = n < CB_ERRORS_TOLD ? n : CB_ERRORS_TOLD;
  cb_failure known = stack[first].failure;
  cb_text text = {0};
  known.kept = true;
  known.placed = known.placed || n > 1;
  for (size_t i = 0; i < most; i++)
    if (n > 1)
      put_line(&text, &stack[first + i]);
    else
      cb_text_puts(&text, stack[first].text);
  if (n > most) {
    char more[48];
    snprintf(more, sizeof more, "\nand %zu more", n - most);
    cb_text_puts(&text, more);
  }
  cb_fail_lines(&known, stack[first].status, text.failed || !text.data ? stack[first].text : text.data);
  cb_text_free(&text);
  return stack[first].status;
}

cb_status cb_errors_end(cb_errors *errors) {
  cb_status status = errors->status;
  drop_told();
  if (status == CB_ERROR_MEMORY) {
    size_t i = errors->first;
    while (i < top && stack[i].status != CB_ERROR_MEMORY) i++;
    if (i < top)
      cb_fail_lines(&stack[i].failure, status, stack[i].text);
    else /* nor for its text */
      cb_fail(status, "no memory for what is wrong");
  }
  if (top > errors->first) {
    if (status != CB_ERROR_MEMORY) {
      sort(errors->first);
      status = tell(errors->first);
      told = top - errors->first;
    }
    for (size_t i = errors->first + told; i < top; i++) free(stack[i].text);
    top = errors->first;
  }
  if (--scopes == 0) {
    drop_told();
    free(stack);
    stack = NULL;
  }
  return status;
}

cb_status cb_fail_consequence(void) {
  return cb_fail_known(&(cb_failure){.kind = CB_FAILURE_CONSEQUENCE, .placed = true}, CB_ERROR_INPUT,
                       "of an error that was told");
}
