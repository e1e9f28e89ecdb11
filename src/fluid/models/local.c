/* The local model of each face: added mass, lift and drag (fluid/local.h). */
#include <curvebody/fluid_model.h>

const cb_fluid_model_class cb_fluid_model_local = {
    .name = "local",
    .title = "local model of faces",
    .doc = "added mass, lift and drag on each face; what a fluid is without `model`",
    .added_mass = true,
};
