/* This header is included before every source file that the static analysers of gcc and clang check. They read one file
 * at a time, so this header states that the error functions do not return CB_OK. Otherwise, after
 * `if (!p) status = cb_fail(..)`, the analysers would assume that the code may go on with status = CB_OK and
 * p = NULL. */
#pragma once

#include "core/file.h"
#include "mjcf/mjcf_private.h"
#if __has_include(<hdf5.h>) /* the build of the MPI module has no hdf5.h */
#include "record/hdf5.h"
#endif
#include "yaml/yaml.h"
#include "numerics/mesh_builder.h"
#include "tree/scalar.h"

#define cb_fail(status, ...) ((void)(cb_fail)(status, __VA_ARGS__), (status))
#define cb_fail_placed(status, ...) ((void)(cb_fail_placed)(status, __VA_ARGS__), (status))
#define cb_fail_file(...) ((void)(cb_fail_file)(__VA_ARGS__), CB_ERROR_FILE)
#define cb_node_fail(...) ((void)(cb_node_fail)(__VA_ARGS__), CB_ERROR_INPUT)
#define cb_node_fail_at(...) ((void)(cb_node_fail_at)(__VA_ARGS__), CB_ERROR_INPUT)
#define cb_fail_unknown(...) ((void)(cb_fail_unknown)(__VA_ARGS__), CB_ERROR_INPUT)
#define cb_fail_no_class(...) ((void)(cb_fail_no_class)(__VA_ARGS__), CB_ERROR_INPUT)
#define cb_hdf5_fail(...) ((void)(cb_hdf5_fail)(__VA_ARGS__), CB_ERROR_FILE)

#define cb_tree_no_memory(file) ((void)(cb_tree_no_memory)(file), CB_ERROR_MEMORY)
#define cb_mesh_no_memory(b) ((void)(cb_mesh_no_memory)(b), CB_ERROR_MEMORY)
#define cb_mjcf_no_memory(r) ((void)(cb_mjcf_no_memory)(r), CB_ERROR_MEMORY)
