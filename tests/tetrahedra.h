/* The four corners of each of two separate tetrahedra, for the tests of surfaces made from arrays. */
#pragma once

static const double points[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                    {5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}};
