/* The elastic rod and triangle of figures 2.13 to 2.19 of the thesis (see analysis/README.md), as texts of scenarios
 * without the key `integrator`. */
#pragma once

#define SCENARIO_BODY(space, kind, points, killing)          \
  "curvebody: 1\nspace: " space "\nbodies:\n  - kind: " kind \
  "\n    link: {spring: {stiffness: 1, rest: 1}}\n"          \
  "    place: {chart: polar, points: " points "}\n    motion: {killing: " killing ", speed: 1}\n"

#define SCENARIO_ROD_H3 SCENARIO_BODY("h3", "rod", "[[.5, pi/2, pi/2], [.5, pi/2, 3*pi/2]]", "boost_x")
#define SCENARIO_ROD_S3 SCENARIO_BODY("s3", "rod", "[[(pi-1)/2, pi/2, 0], [(pi+1)/2, pi/2, 0]]", "rotation_z")
#define SCENARIO_TRIANGLE_H3                                                                                    \
  SCENARIO_BODY("h3", "triangle", "[[acosh(cosh(1)/cosh(.5)), pi/2, 0], [.5, pi/2, pi/2], [.5, pi/2, 3*pi/2]]", \
                "boost_x")
#define SCENARIO_TRIANGLE_S3                                                                                        \
  SCENARIO_BODY("s3", "triangle", "[[pi/2, pi/2, acos(cos(1)/cos(.5))], [(pi-1)/2, pi/2, 0], [(pi+1)/2, pi/2, 0]]", \
                "rotation_z")

#define SCENARIO_LOBATTO "integrator: {name: lobatto, stages: 4, step: 0.01}\n"
