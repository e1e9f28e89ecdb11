/* Corners of two tetrahedra side by side, four each: for the suites of surfaces made from arrays. */
#ifndef CB_TESTS_TETRAHEDRA_H
#define CB_TESTS_TETRAHEDRA_H

static const double points[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                    {5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}};

#endif
