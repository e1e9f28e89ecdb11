/* Articulated models in MJCF for the tests. They follow the descriptions of public models: Gymnasium's swimmer,
 * dm_control's swimmers and fish. Others are a swimmer with two hinges between neighbouring links, and arms with joints
 * of all types. */
#pragma once

#include <stdio.h>

/* Three capsules in a plane, in a dense fluid. Motors turn the two hinges. */
static const char three_links[] =
    "<mujoco model='three links in a plane'>\n"
    "  <compiler angle='degree' inertiafromgeom='true'/>\n"
    "  <option collision='predefined' density='4000' viscosity='.1' timestep='.01' integrator='RK4'/>\n"
    "  <default><joint armature='.1'/><geom density='1000'/></default>\n"
    "  <worldbody>\n"
    "    <geom type='plane' pos='0 0 -.1' size='40 40 .1'/>\n"
    "    <body name='front'>\n"
    "      <joint name='along' type='slide' axis='1 0 0'/>\n"
    "      <joint name='across' type='slide' axis='0 1 0'/>\n"
    "      <joint name='heading' axis='0 0 1'/>\n"
    "      <geom type='capsule' fromto='1.5 0 0 .5 0 0' size='.1'/>\n"
    "      <body name='middle' pos='.5 0 0'>\n"
    "        <joint name='first' axis='0 0 1' limited='true' range='-100 100'/>\n"
    "        <geom type='capsule' fromto='0 0 0 -1 0 0' size='.1'/>\n"
    "        <body name='back' pos='-1 0 0'>\n"
    "          <joint name='second' axis='0 0 1' limited='true' range='-100 100'/>\n"
    "          <geom type='capsule' fromto='0 0 0 -1 0 0' size='.1'/>\n"
    "        </body>\n"
    "      </body>\n"
    "    </body>\n"
    "  </worldbody>\n"
    "  <actuator>\n"
    "    <motor joint='first' gear='150' ctrllimited='true' ctrlrange='-1 1'/>\n"
    "    <motor joint='second' gear='150' ctrllimited='true' ctrlrange='-1 1'/>\n"
    "  </actuator>\n"
    "</mujoco>\n";

/* The links of three_links, free in space, with two hinges between neighbouring links. */
static const char swimmer_in_space[] =
    "<mujoco model='swimmer in space'>\n"
    "  <compiler angle='degree'/>\n"
    "  <option density='4000' viscosity='.1' timestep='.01' gravity='0 0 0'><flag contact='disable'/></option>\n"
    "  <default><joint armature='.05' damping='.5'/><geom type='capsule' density='1000' size='.1'/></default>\n"
    "  <worldbody>\n"
    "    <body name='front'>\n"
    "      <freejoint/>\n"
    "      <geom fromto='1.5 0 0 .5 0 0'/>\n"
    "      <body name='middle' pos='.5 0 0'>\n"
    "        <joint name='yaw1' axis='0 0 1'/>\n"
    "        <joint name='pitch1' axis='0 1 0'/>\n"
    "        <geom fromto='0 0 0 -1 0 0'/>\n"
    "        <body name='back' pos='-1 0 0'>\n"
    "          <joint name='yaw2' axis='0 0 1'/>\n"
    "          <joint name='pitch2' axis='0 1 0'/>\n"
    "          <geom fromto='0 0 0 -1 0 0'/>\n"
    "        </body>\n"
    "      </body>\n"
    "    </body>\n"
    "  </worldbody>\n"
    "  <actuator>\n"
    "    <motor joint='yaw1'/><motor joint='pitch1'/><motor joint='yaw2'/><motor joint='pitch2'/>\n"
    "  </actuator>\n"
    "  <keyframe><key name='bent' qpos='1 2 3 .9 .1 .2 -.3 .3 -.2 .5 .4' qvel='.1 .2 -.1 .1 .2 .3 .1 .2 .1 "
    "-.2'/></keyframe>\n"
    "</mujoco>\n";

/* A body, a tail of two parts and two fins with two hinges each. Position servos act on joints and fixed tendons, and a
 * motor pushes at the nose. */
static const char fish[] =
    "<mujoco model='fish'>\n"
    "  <compiler angle='degree' autolimits='true'/>\n"
    "  <option timestep='0.004' density='5000' integrator='RK4'><flag gravity='disable' "
    "constraint='disable'/></option>\n"
    "  <default>\n"
    "    <default class='fish'>\n"
    "      <joint type='hinge' limited='false' range='-60 60' damping='2e-5' solreflimit='.1 1' armature='2e-6'/>\n"
    "      <geom type='ellipsoid' density='3000'/>\n"
    "    </default>\n"
    "  </default>\n"
    "  <worldbody>\n"
    "    <body name='torso' pos='0 0 .1' childclass='fish'>\n"
    "      <freejoint name='root'/>\n"
    "      <geom name='body' size='.01 .08 .04'/>\n"
    "      <site name='nose' pos='0 .08 0'/>\n"
    "      <body name='tail1' pos='0 -.09 0'>\n"
    "        <joint name='tail1' axis='0 0 1' pos='0 .01 0'/>\n"
    "        <joint name='tail_twist' axis='0 1 0' pos='0 .01 0' range='-30 30'/>\n"
    "        <geom name='tail1' size='.001 .04 .02'/>\n"
    "        <body name='tail2' pos='0 -.028 .03' euler='10 0 0'>\n"
    "          <joint name='tail2' axis='0 0 1' pos='0 .02 -.02' stiffness='8e-5' springref='5'/>\n"
    "          <geom name='tail2' size='.001 .03 .015' euler='-30 0 0'/>\n"
    "        </body>\n"
    "      </body>\n"
    "      <body name='finright' pos='.01 0 0' euler='0 20 0'>\n"
    "        <joint name='finright_roll' axis='0 1 0'/>\n"
    "        <joint name='finright_pitch' axis='1 0 0' pos='0 .005 0' ref='10'/>\n"
    "        <geom size='.02 .01 .001' pos='.02 0 0'/>\n"
    "      </body>\n"
    "      <body name='finleft' pos='-.01 0 0' euler='0 -20 0'>\n"
    "        <joint name='finleft_roll' axis='0 1 0'/>\n"
    "        <joint name='finleft_pitch' axis='1 0 0' pos='0 .005 0'/>\n"
    "        <geom size='.02 .01 .001' pos='-.02 0 0'/>\n"
    "      </body>\n"
    "    </body>\n"
    "  </worldbody>\n"
    "  <tendon>\n"
    "    <fixed name='fins_flap'><joint joint='finleft_roll' coef='-.5'/><joint joint='finright_roll' "
    "coef='.5'/></fixed>\n"
    "    <fixed name='fins_sym' stiffness='1e-4' damping='1e-5'><joint joint='finleft_roll' coef='.5'/><joint "
    "joint='finright_roll' coef='.5'/></fixed>\n"
    "  </tendon>\n"
    "  <actuator>\n"
    "    <position name='tail' joint='tail1' ctrlrange='-1 1' kp='5e-4'/>\n"
    "    <position name='tail_twist' joint='tail_twist' ctrlrange='-1 1' kp='1e-4'/>\n"
    "    <position name='flap' tendon='fins_flap' ctrlrange='-1 1' kp='3e-4'/>\n"
    "    <position name='sym' tendon='fins_sym' ctrlrange='-1 1' kp='1e-4'/>\n"
    "    <position name='pitch_r' joint='finright_pitch' ctrlrange='-1 1' kp='1e-4'/>\n"
    "    <position name='pitch_l' joint='finleft_pitch' ctrlrange='-1 1' kp='1e-4'/>\n"
    "    <motor name='push' site='nose' gear='0 .01 0 0 0 0'/>\n"
    "  </actuator>\n"
    "  <keyframe>\n"
    "    <key name='bent' qpos='.1 .2 .3 .8 .1 .2 .3 .2 -.1 .3 .1 -.2 .3 .25' qvel='.1 0 .05 .3 -.2 .1 .5 .2 -.4 .3 .1 "
    "-.3 .2'/>\n"
    "  </keyframe>\n"
    "</mujoco>\n";

/* An arm on a stand and a raft with a mast. They have joints of all four types (free, ball, slide, hinge), springs,
 * dampers, and several types of actuators. */
static const char arms[] =
    "<mujoco model='arms'>\n"
    "  <compiler angle='degree' autolimits='true' eulerseq='XYZ'/>\n"
    "  <option density='300' viscosity='.2' wind='.3 -.2 .1' gravity='1 0 -5'><flag contact='disable'/></option>\n"
    "  <default>\n"
    "    <joint damping='.02'/>\n"
    "    <geom density='900'/>\n"
    "    <default class='stiff'><joint stiffness='.5' springref='20' armature='.01'/></default>\n"
    "  </default>\n"
    "  <worldbody>\n"
    "    <geom type='plane' size='1 1 1' pos='0 0 -9'/>\n"
    "    <body name='stand' pos='0 0 1' euler='10 20 30'>\n"
    "      <geom type='box' size='.2 .2 .2'/>\n"
    "      <body name='upper' pos='.3 0 0' euler='0 40 0' childclass='stiff'>\n"
    "        <joint name='turn' axis='1 2 3' pos='-.1 .05 0' ref='15'/>\n"
    "        <geom type='capsule' fromto='0 0 0 .4 0 0' size='.05'/>\n"
    "        <body name='plate' pos='.2 .1 0' euler='30 0 50'><geom type='box' size='.1 .15 .02'/></body>\n"
    "        <body name='lower' pos='.5 0 0' euler='20 30 40'>\n"
    "          <joint name='out' type='slide' axis='1 .5 0' ref='.1' stiffness='30' springref='.15'/>\n"
    "          <joint name='twist' axis='0 1 1' pos='0 .1 0'/>\n"
    "          <joint name='up' type='slide' axis='0 0 1' stiffness='20' springref='0'/>\n"
    "          <geom type='ellipsoid' size='.2 .1 .05' pos='.1 0 0' fluidshape='ellipsoid'/>\n"
    "          <site name='tip' pos='.2 .1 0' euler='10 20 30'/>\n"
    "          <body name='hand' pos='.3 0 0' euler='70 0 10'>\n"
    "            <joint name='wrist' type='ball' pos='-.05 0 .02' damping='.05' stiffness='.4' armature='0'/>\n"
    "            <geom type='box' size='.1 .05 .2'/>\n"
    "            <body name='finger' pos='0 0 .3' euler='0 0 90'>\n"
    "              <joint name='a' axis='0 1 0'/>\n"
    "              <joint name='b' axis='1 0 0'/>\n"
    "              <joint name='c' axis='0 0 1' pos='0 .02 0'/>\n"
    "              <geom type='cylinder' size='.05 .1' euler='0 90 0'/>\n"
    "            </body>\n"
    "          </body>\n"
    "        </body>\n"
    "      </body>\n"
    "    </body>\n"
    "    <body name='raft' pos='2 0 0' euler='0 0 25'>\n"
    "      <joint type='free' damping='.3'/>\n"
    "      <geom type='box' size='.3 .2 .1'/>\n"
    "      <body name='mast' pos='0 0 .1'><joint name='mast' axis='0 1 0' frictionloss='0' class='stiff'/><geom "
    "type='capsule' size='.03 .3' pos='0 0 .3'/></body>\n"
    "    </body>\n"
    "  </worldbody>\n"
    "  <tendon>\n"
    "    <fixed name='pull' stiffness='3' damping='.1' springlength='.2'><joint joint='turn' coef='.5'/><joint "
    "joint='twist' coef='-1'/><joint joint='a' coef='.7'/></fixed>\n"
    "  </tendon>\n"
    "  <actuator>\n"
    "    <motor name='m' joint='turn' gear='2' ctrlrange='-.4 .3'/>\n"
    "    <velocity name='v' joint='b' kv='.3'/>\n"
    "    <position name='p' joint='out' kp='4' gear='-2' forcerange='-3 3'/>\n"
    "    <general name='g' tendon='pull' gear='1.5' gainprm='2' biastype='affine' biasprm='.1 -.5 -.2'/>\n"
    "    <motor name='s' site='tip' gear='1 .5 0 0 .2 .1'/>\n"
    "    <motor name='r' jointinparent='mast' gear='.5'/>\n"
    "  </actuator>\n"
    "  <keyframe>\n"
    "    <key name='bent' qpos='.5 .2 -.3 .05 .8 .3 -.4 .2 .3 -.5 .7 2 .1 .2 .9 .1 .2 -.3 .4' qvel='.5 -.3 1 .2 .8 -.6 "
    ".9 1 -1 .5 .1 .2 .3 -.4 .5 .6 .7'/>\n"
    "  </keyframe>\n"
    "</mujoco>\n";

/* Writes the model of a plane swimmer of n thin boxes with hinges between them, moved by motors. */
static inline void write_swimmer(int n, char *out, size_t room) {
  size_t at = (size_t)snprintf(
      out, room,
      "<mujoco><compiler angle='radian' autolimits='true'/><option density='3000' timestep='.002'>"
      "<flag contact='disable' constraint='disable'/></option><default><joint axis='0 0 1' pos='0 -.05 0' "
      "armature='1e-6'/><default class='root'><joint armature='0'/></default><geom type='box' size='.001 .05 .01' "
      "mass='.01'/><motor gear='5e-4' ctrlrange='-1 1'/></default><worldbody><body name='head' pos='0 0 .05'>"
      "<joint class='root' type='slide' axis='1 0 0'/><joint class='root' type='slide' axis='0 1 0'/>"
      "<joint class='root'/><geom/>");
  for (int i = 1; i < n; i++)
    at += (size_t)snprintf(out + at, room - at,
                           "<body name='segment_%d' pos='0 .1 0'><joint name='joint_%d' range='-2 2'/><geom/>", i, i);
  for (int i = 0; i < n; i++) at += (size_t)snprintf(out + at, room - at, "</body>");
  at += (size_t)snprintf(out + at, room - at, "</worldbody><actuator>");
  for (int i = 1; i < n; i++)
    at += (size_t)snprintf(out + at, room - at, "<motor name='motor_%d' joint='joint_%d'/>", i, i);
  at += (size_t)snprintf(out + at, room - at, "</actuator><keyframe><key name='bent' qpos='0 0 0");
  for (int i = 1; i < n; i++) at += (size_t)snprintf(out + at, room - at, " %g", i % 2 ? .2 : -.15);
  snprintf(out + at, room - at, "'/></keyframe></mujoco>");
}
