/* Trees of values from files and texts (yaml.h). Nodes are made from libyaml's events. We use events and not libyaml's
 * document, because each event has a place, and reading can stop at a limit before memory is used. */
#include "yaml/yaml.h"

#include "core/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* --- nodes from events --- */

/* A list or map that is being read. Its children are on the stack of values from index `first` on. */
typedef struct frame {
  cb_node *node;
  size_t first;
  int anchor;   /* index of the anchor of this list or map; -1: none */
  int height;   /* maximum depth of nested lists and maps in its children so far */
  size_t bytes; /* size of its children if every alias were written out */
} frame;

typedef struct anchor {
  const char *name;
  const cb_node *node; /* NULL until the value is complete */
  int height;
  size_t bytes;
} anchor;

typedef struct builder {
  yaml_parser_t parser;
  cb_arena *arena;
  const char *file, *source;
  size_t source_length;
  int column_shift, depth_outside;
  const cb_node **values; /* the stack of values that do not yet belong to a complete list or map */
  size_t n_values, capacity, n_nodes, expansion;
  frame frames[CB_YAML_DEEPEST + 1];
  int depth;
  anchor anchors[CB_YAML_MAX_ANCHORS];
  int n_anchors;
} builder;

static cb_node place(const builder *b, yaml_mark_t mark) {
  int shift = mark.line == 0 ? b->column_shift : 0;
  return (cb_node){
      .file = b->file, .line = b->column_shift < 0 ? 0 : (int)mark.line + 1, .column = (int)mark.column + 1 + shift};
}

static cb_status no_memory(const builder *b) { return cb_tree_no_memory(b->file); }

/* ---- errors of libyaml ---- */

static bool tab_at(const builder *b, size_t character) {
  size_t i = 0;
  for (size_t seen = 0; i < b->source_length; i++) {
    bool begins = ((unsigned char)b->source[i] & 0xc0) != 0x80;
    if (begins && seen++ == character) break;
  }
  return i < b->source_length && b->source[i] == '\t';
}

/* Finds the place of a byte by counting the lines before it. */
static cb_node place_of_byte(const builder *b, size_t offset) {
  size_t line = 0, start = 0;
  if (offset > b->source_length) offset = b->source_length;
  for (size_t i = 0; i < offset; i++)
    if (b->source[i] == '\n') {
      line++;
      start = i + 1;
    }
  return place(b, (yaml_mark_t){.line = line, .column = cb_count_characters(b->source + start, offset - start)});
}

/* Returns `texts` followed by the place of `at`, such as " line 1, column 2". Returns "" for an argument of the command
 * line, which has no lines. */
static cb_place_text texts_of(const char *texts, const cb_node *at) {
  cb_place_text out = {""};
  if (at->line) snprintf(out.text, sizeof out.text, "%s line %d, column %d", texts, at->line, at->column);
  return out;
}

/* Returns the place of a problem of the parser. If the last line of a text has no line break, libyaml reports the end
 * of the text with a line number that is too large by one. */
static cb_node place_of_problem(const builder *b, yaml_mark_t mark) {
  bool end = mark.index >= cb_count_characters(b->source, b->source_length);
  return end ? place_of_byte(b, b->source_length) : place(b, mark);
}

static cb_status fail_parser(const builder *b) {
  const yaml_parser_t *p = &b->parser;
  if (p->error == YAML_MEMORY_ERROR) return no_memory(b);
  if (p->error == YAML_READER_ERROR) {
    /* The reader gives an offset in bytes, but no line. */
    cb_node at = place_of_byte(b, p->problem_offset);
    return cb_node_fail(&at, "%s (byte %zu), expected UTF-8 text", p->problem, p->problem_offset);
  }
  cb_node at = place_of_problem(b, p->problem_mark);
  const char *tab = tab_at(b, p->problem_mark.index) ? "; tabs are not allowed for indentation, use spaces" : "";
  if (!p->context) return cb_node_fail(&at, "%s%s", p->problem ? p->problem : "not YAML", tab);
  cb_node context = place(b, p->context_mark);
  return cb_node_fail(&at, "%s %s%s%s", p->problem, p->context, texts_of(" which began at", &context).text, tab);
}

/* ---- nodes ---- */

static cb_status push_value(builder *b, const cb_node *node, int height, size_t bytes) {
  if (!b->values || b->n_values == b->capacity) {
    size_t capacity = b->capacity ? 2 * b->capacity : 64;
    const cb_node **values = realloc(b->values, capacity * sizeof *values);
    if (!values) return no_memory(b);
    b->values = values;
    b->capacity = capacity;
  }
  frame *in = &b->frames[b->depth];
  if (b->depth > 0 && in->node->kind == CB_NODE_MAP && (b->n_values - in->first) % 2 == 0) {
    if (node->kind != CB_NODE_SCALAR || !*node->text)
      return cb_node_fail(node, "expected a name as key, found %s",
                          node->kind == CB_NODE_LIST  ? "a list"
                          : node->kind == CB_NODE_MAP ? "a map"
                                                      : "nothing");
    if (strlen(node->text) > CB_YAML_LONGEST_KEY)
      return cb_node_fail(node, "the key has %zu bytes, expected at most %d", strlen(node->text), CB_YAML_LONGEST_KEY);
  }
  b->values[b->n_values++] = node;
  in->bytes += bytes;
  if (height > in->height) in->height = height;
  return CB_OK;
}

static cb_status new_node(builder *b, const yaml_event_t *event, const yaml_char_t *tag, cb_node **out) {
  cb_node at = place(b, event->start_mark);
  if (tag)
    return cb_node_fail(&at, "the tag '%s' is not supported, expected a value without a tag",
                        cb_quoted((const char *)tag, strlen((const char *)tag)).text);
  if (++b->n_nodes > CB_YAML_MAX_NODES) return cb_node_fail(&at, "expected at most %d values", CB_YAML_MAX_NODES);
  cb_node *node = cb_arena_alloc(b->arena, 1, sizeof *node);
  if (!node) return no_memory(b);
  *node = at;
  *out = node;
  return CB_OK;
}

/* Adds an anchor with that name for the value that is being read; *index is its index, or -1 if name is NULL. */
static cb_status new_anchor(builder *b, const cb_node *node, const yaml_char_t *name, int *index) {
  *index = -1;
  if (!name) return CB_OK;
  if (b->n_anchors == CB_YAML_MAX_ANCHORS)
    return cb_node_fail(node, "expected at most %d anchors", CB_YAML_MAX_ANCHORS);
  const char *copy = cb_arena_strdup(b->arena, (const char *)name);
  if (!copy) return no_memory(b);
  *index = b->n_anchors++;
  b->anchors[*index] = (anchor){.name = copy};
  return CB_OK;
}

static void end_anchor(builder *b, int index, const cb_node *node, int height, size_t bytes) {
  if (index < 0) return;
  b->anchors[index].node = node;
  b->anchors[index].height = height;
  b->anchors[index].bytes = bytes;
}

static bool is_null_text(const char *text) {
  return !*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 || strcmp(text, "Null") == 0 ||
         strcmp(text, "NULL") == 0;
}

/* Returns the column of text[0] if the file contains the text unchanged, in one line; otherwise 0. */
static int verbatim_column(const cb_node *node, const yaml_event_t *event, size_t length) {
  bool quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  if (event->start_mark.line != event->end_mark.line) return 0;
  size_t width = event->end_mark.column - event->start_mark.column - (quoted ? 2 : 0);
  return cb_count_characters(node->text, length) == width ? node->column + quoted : 0;
}

static cb_status add_scalar(builder *b, const yaml_event_t *event) {
  const yaml_char_t *tag = event->data.scalar.tag;
  size_t length = event->data.scalar.length;
  bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  cb_node *node = NULL;
  cb_status status = new_node(b, event, tag, &node);
  if (status != CB_OK) return status;
  if (memchr(event->data.scalar.value, 0, length))
    return cb_node_fail(node, "the text contains a zero byte: expected a text without one");

  node->kind = CB_NODE_SCALAR;
  if (plain && is_null_text((const char *)event->data.scalar.value))
    node->kind = CB_NODE_NULL;
  else {
    node->text = cb_arena_strndup(b->arena, (const char *)event->data.scalar.value, length);
    if (!node->text) return no_memory(b);
    node->text_column = verbatim_column(node, event, length);
  }

  int index;
  status = new_anchor(b, node, event->data.scalar.anchor, &index);
  if (status != CB_OK) return status;
  size_t bytes = sizeof *node + length;
  end_anchor(b, index, node, 0, bytes);
  return push_value(b, node, 0, bytes);
}

static cb_status add_alias(builder *b, const yaml_event_t *event) {
  cb_node at = place(b, event->start_mark);
  const char *name = (const char *)event->data.alias.anchor;
  cb_quote quote = cb_quoted(name, strlen(name));
  frame *in = &b->frames[b->depth];
  if (b->depth > 0 && in->node->kind == CB_NODE_MAP && (b->n_values - in->first) % 2 == 0)
    return cb_node_fail(&at, "expected a name as key, found the alias '*%s'", quote.text);
  if (++b->n_nodes > CB_YAML_MAX_NODES) return cb_node_fail(&at, "expected at most %d values", CB_YAML_MAX_NODES);

  int i = b->n_anchors - 1;
  while (i >= 0 && strcmp(b->anchors[i].name, name) != 0) i--;
  if (i < 0)
    return cb_node_fail(&at, "the alias '*%s' has no anchor before it: expected '&%s' earlier in the file", quote.text,
                        quote.text);
  const anchor *a = &b->anchors[i];
  if (!a->node)
    return cb_node_fail(&at, "the alias '*%s' is inside the value that it names: expected it after that value",
                        quote.text);
  b->expansion += a->bytes;
  if (b->expansion > CB_YAML_LARGEST_EXPANSION)
    return cb_node_fail(&at, "alias '*%s': expected aliases that expand to at most %d bytes together", quote.text,
                        CB_YAML_LARGEST_EXPANSION);
  if (b->depth_outside + b->depth + a->height > CB_YAML_DEEPEST)
    return cb_node_fail(&at, "alias '*%s': expected at most %d nested lists and maps", quote.text, CB_YAML_DEEPEST);
  return push_value(b, a->node, a->height, a->bytes);
}

static cb_status begin_collection(builder *b, const yaml_event_t *event, cb_node_kind kind) {
  bool map = kind == CB_NODE_MAP;
  cb_node *node = NULL;
  cb_status status = new_node(b, event, map ? event->data.mapping_start.tag : event->data.sequence_start.tag, &node);
  if (status != CB_OK) return status;
  node->kind = kind;
  if (b->depth_outside + b->depth >= CB_YAML_DEEPEST)
    return cb_node_fail(node, "expected at most %d nested lists and maps", CB_YAML_DEEPEST);
  int index;
  status = new_anchor(b, node, map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor, &index);
  if (status != CB_OK) return status;
  b->frames[++b->depth] = (frame){.node = node, .first = b->n_values, .anchor = index};
  return CB_OK;
}

/* ---- the end of a list or map ---- */

static int by_text_then_place(const void *a, const void *b) {
  const cb_node *x = *(const cb_node *const *)a, *y = *(const cb_node *const *)b;
  int order = strcmp(x->text, y->text);
  if (order == 0) order = (x->line > y->line) - (x->line < y->line);
  if (order == 0) order = (x->column > y->column) - (x->column < y->column);
  return order;
}

static cb_status check_duplicates(const builder *b, const cb_node *map) {
  if (map->count < 2) return CB_OK;
  const cb_node **sorted = malloc(map->count * sizeof *sorted);
  if (!sorted) return no_memory(b);
  memcpy(sorted, map->keys, map->count * sizeof *sorted);
  qsort(sorted, map->count, sizeof *sorted, by_text_then_place);
  const cb_node *first = NULL, *second = NULL;
  for (size_t i = 1; i < map->count; i++) {
    if (strcmp(sorted[i - 1]->text, sorted[i]->text) != 0) continue;
    /* If there are several duplicates, the first one in the file is reported. */
    bool earlier = !second || sorted[i]->line < second->line ||
                   (sorted[i]->line == second->line && sorted[i]->column < second->column);
    if (!earlier) continue;
    first = sorted[i - 1];
    second = sorted[i];
  }
  free(sorted);
  if (!second) return CB_OK;
  return cb_node_fail(second, "duplicate key '%s'%s", cb_quoted(second->text, strlen(second->text)).text,
                      texts_of(", first given at", first).text);
}

static cb_status end_collection(builder *b) {
  frame done = b->frames[b->depth];
  cb_node *node = done.node;
  size_t n = b->n_values - done.first, step = node->kind == CB_NODE_MAP ? 2 : 1;
  const cb_node **children = n ? b->values + done.first : NULL;

  node->count = n / step;
  node->items = cb_arena_alloc(b->arena, node->count, sizeof *node->items);
  if (node->kind == CB_NODE_MAP) node->keys = cb_arena_alloc(b->arena, node->count, sizeof *node->keys);
  if (!node->items || (step == 2 && !node->keys)) return no_memory(b);
  for (size_t i = 0; children && i < node->count; i++) {
    if (step == 2) node->keys[i] = children[2 * i];
    node->items[i] = children[step * i + step - 1];
  }
  if (step == 2) {
    cb_status status = check_duplicates(b, node);
    if (status != CB_OK) return status;
  }

  b->n_values = done.first;
  b->depth--;
  size_t bytes = done.bytes + sizeof *node;
  end_anchor(b, done.anchor, node, done.height + 1, bytes);
  return push_value(b, node, done.height + 1, bytes);
}

/* ---- the document ---- */

static cb_status take_event(builder *b, const yaml_event_t *event, int *documents) {
  switch (event->type) {
    case YAML_SCALAR_EVENT: return add_scalar(b, event);
    case YAML_ALIAS_EVENT: return add_alias(b, event);
    case YAML_SEQUENCE_START_EVENT: return begin_collection(b, event, CB_NODE_LIST);
    case YAML_MAPPING_START_EVENT: return begin_collection(b, event, CB_NODE_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return end_collection(b);
    case YAML_DOCUMENT_START_EVENT:
      if (++*documents > 1) {
        cb_node at = place(b, event->start_mark);
        return cb_node_fail(&at, "found a second document, expected only one");
      }
      return CB_OK;
    default: return CB_OK;
  }
}

static cb_status build(builder *b, const cb_node **root) {
  int documents = 0;
  for (bool end = false; !end;) {
    yaml_event_t event;
    if (!yaml_parser_parse(&b->parser, &event)) return fail_parser(b);
    cb_status status = take_event(b, &event, &documents);
    end = event.type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
    if (status != CB_OK) return status;
  }
  if (b->n_values > 0) {
    *root = b->values[0];
    return CB_OK;
  }
  cb_node *empty = cb_arena_alloc(b->arena, 1, sizeof *empty);
  if (!empty) return no_memory(b);
  *empty = place(b, (yaml_mark_t){0});
  *root = empty;
  return CB_OK;
}

cb_status cb_yaml_build(cb_arena *arena, const char *file, const char *text, size_t n, int column_shift, int depth,
                        const cb_node **root) {
  builder *b = calloc(1, sizeof *b);
  if (!b) return cb_tree_no_memory(file);
  b->arena = arena;
  b->file = file;
  b->source = text;
  b->source_length = n;
  b->column_shift = column_shift;
  b->depth_outside = depth;
  cb_status status;
  if (yaml_parser_initialize(&b->parser)) {
    yaml_parser_set_input_string(&b->parser, (const unsigned char *)text, n);
    yaml_parser_set_encoding(&b->parser, YAML_UTF8_ENCODING);
    status = build(b, root);
    yaml_parser_delete(&b->parser);
  } else {
    status = no_memory(b);
  }
  free(b->values);
  free(b);
  return status;
}

/* --- trees --- */

cb_status cb_tree_no_memory(const char *file) {
  return cb_fail(CB_ERROR_MEMORY, "no memory for the values of %s", file);
}

cb_status cb_yaml_read_text(const char *name, const char *text, size_t n, cb_tree **out) {
  if (n > CB_YAML_LARGEST)
    return cb_fail_placed(CB_ERROR_INPUT, "%s:1:1: error: the text has %zu bytes, expected at most %d", name, n,
                          CB_YAML_LARGEST);

  cb_tree *tree = calloc(1, sizeof *tree);
  cb_arena *arena = cb_arena_create();
  const size_t mark = cb_text_mark(text, n); /* libyaml would treat a byte order mark as a document */
  text += mark;
  n -= mark;
  const char *file = cb_arena_strdup(arena, name), *source = cb_arena_strndup(arena, text, n);
  const bool capacity = tree && file && source;
  const cb_status status =
      capacity ? cb_yaml_build(arena, file, source, n, 0, 0, &tree->root) : cb_tree_no_memory(name);
  if (capacity && status == CB_OK) {
    tree->arena = arena;
    tree->source = source;
    *out = tree;
    return CB_OK;
  }
  cb_arena_free(arena);
  free(tree);
  return status;
}

cb_status cb_yaml_read_file(const char *path, cb_tree **out) {
  char *text;
  size_t n;
  cb_status status = strcmp(path, "-") ? cb_read_whole_file(path, CB_YAML_LARGEST, &text, &n)
                                       : cb_read_standard_input(CB_YAML_LARGEST, &text, &n);
  if (status != CB_OK) return status;
  status = cb_yaml_read_text(path, text, n, out);
  free(text);
  return status;
}

cb_status cb_tree_read(const char *name, const char *text, cb_tree **out) {
  return cb_yaml_read_text(name, text, strlen(text), out);
}

cb_status cb_tree_over(const cb_tree *base, const cb_node *root, cb_tree **out) {
  cb_tree *tree = calloc(1, sizeof *tree);
  cb_arena *arena = tree ? cb_arena_create() : NULL;
  if (!arena) {
    free(tree);
    return cb_fail(CB_ERROR_MEMORY, "no memory for values");
  }
  *tree = (cb_tree){.arena = arena, .source = base->source, .root = root};
  *out = tree;
  return CB_OK;
}

void cb_tree_free(cb_tree *tree) {
  if (!tree) return;
  cb_arena_free(tree->arena);
  free(tree);
}

const cb_node *cb_tree_root(const cb_tree *tree) { return tree->root; }

const char *cb_tree_source(const cb_tree *tree) { return tree->source; }
