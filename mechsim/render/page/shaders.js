// What the graphics processor does. Light is added as light and turned into colours of the screen at the end.

const INSTANCED = `#version 300 es
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 axis_x;
layout(location = 3) in vec3 axis_y;
layout(location = 4) in vec3 axis_z;
layout(location = 5) in vec3 origin;
layout(location = 6) in vec4 colour; // and by how much it swells
uniform mat4 camera;
uniform float least; // how thick bars are at least, as a share of the distance: thinner than a pixel they would flicker

// A shape that swells has its true normals already; one that is only stretched has them bent by it.
vec3 turned() {
  vec3 sizes = max(vec3(length(axis_x), length(axis_y), length(axis_z)), vec3(1e-30));
  vec3 own = (colour.w > 0.0 ? normal : normal / sizes) / sizes;
  return normalize(axis_x * own.x + axis_y * own.y + axis_z * own.z);
}

vec3 placed() {
  vec3 at = origin + axis_x * place.x + axis_y * place.y + axis_z * place.z;
  float swell = colour.w > 0.0 ? max(colour.w, least * (camera * vec4(at, 1.0)).w) : 0.0;
  return at + swell * turned();
}
`;

const SHADOWED = `
uniform highp sampler2DShadow shadows;
uniform mat4 sun;
uniform float blur;

// The share of the light that arrives: several looks at the depth map around the place, each smoothed by the sampler.
float sunlight(vec3 place) {
  vec3 at = (sun * vec4(place, 1.0)).xyz * 0.5 + 0.5;
  if (at.z > 1.0 || any(lessThan(at.xy, vec2(0.0))) || any(greaterThan(at.xy, vec2(1.0)))) return 1.0;
  float sum = 0.0;
  for (int i = 11; i >= 0; i--) {
    float turn = 2.4 * float(i);
    vec2 aside = sqrt((float(i) + 0.5) / 12.0) * vec2(cos(turn), sin(turn));
    sum += texture(shadows, vec3(at.xy + blur * aside, at.z - 0.0012));
    // The outermost looks come first: where they agree, which is nearly everywhere, so do the others.
    if (i == 8 && (sum == 0.0 || sum == 4.0)) return sum / 4.0;
  }
  return sum / 12.0;
}
`;

const SHADERS = {
  // Depth as the light sees it.
  depth: [`${INSTANCED}
void main() { gl_Position = camera * vec4(placed(), 1.0); }`,
  `#version 300 es
precision highp float;
void main() {}`],

  // A key light with shadows, a fill light from where one stands, the sky above and the floor below, a little gloss.
  solid: [`${INSTANCED}
out vec3 seen_place;
out vec3 seen_normal;
out vec3 seen_colour;
void main() {
  seen_place = placed();
  seen_normal = turned();
  seen_colour = colour.rgb;
  gl_Position = camera * vec4(seen_place, 1.0);
}`,
  `#version 300 es
precision highp float;
in vec3 seen_place;
in vec3 seen_normal;
in vec3 seen_colour;
uniform vec3 eye;
uniform vec3 light;
uniform vec3 up;
uniform float grain; // a step of the depth map in the world
uniform float sky;
out vec4 result;
${SHADOWED}
void main() {
  vec3 n = normalize(seen_normal);
  vec3 v = normalize(eye - seen_place);
  float facing = dot(n, light);
  float arrived = facing > 0.0 ? sunlight(seen_place + 1.5 * grain * n) * facing : 0.0;
  float fill = max(dot(n, normalize(v + 0.35 * up)), 0.0);
  float above = 0.5 + 0.5 * dot(n, up);
  vec3 ambient = mix(vec3(0.16, 0.15, 0.145), vec3(0.34, 0.37, 0.41), above) * sky;
  vec3 lit = seen_colour * (ambient + 0.72 * arrived * vec3(1.0, 0.975, 0.93) + 0.34 * fill * vec3(0.92, 0.96, 1.0));
  float gloss = pow(max(dot(n, normalize(light + v)), 0.0), 48.0) * arrived;
  float rim = pow(1.0 - max(dot(n, v), 0.0), 4.0) * above;
  lit += vec3(0.2 * gloss) + 0.06 * rim * sky;
  result = vec4(pow(lit / (1.0 + 0.14 * lit), vec3(1.0 / 2.2)), 1.0);
}`],

  // The far side of everything, a little larger: what of it is seen is a thin dark line around the near side.
  outline: [`${INSTANCED}
uniform vec2 pixel; // a pixel in the cube that is drawn
uniform float width;
uniform float dark;
uniform float focus;
out vec3 seen_colour;
void main() {
  vec4 at = camera * vec4(placed(), 1.0);
  vec2 aside = (camera * vec4(turned(), 0.0)).xy / pixel;
  float thick = colour.w > 0.0 ? colour.w : min(length(axis_x), min(length(axis_y), length(axis_z)));
  // What is thin itself has a thinner line: a chain far away must not become black.
  at.xy += min(width, 0.22 * thick * focus / at.w) * pixel * aside / max(length(aside), 1e-6) * at.w;
  seen_colour = pow(colour.rgb * dark, vec3(1.0 / 2.2));
  gl_Position = at;
}`,
  `#version 300 es
precision highp float;
in vec3 seen_colour;
out vec4 result;
void main() { result = vec4(seen_colour, 1.0); }`],

  // Sharp edges, a little nearer than their faces.
  edge: [`${INSTANCED}
uniform float dark;
uniform vec3 eye;
out vec3 seen_colour;
void main() {
  vec4 at = camera * vec4(mix(placed(), eye, 0.0008), 1.0);
  seen_colour = pow(colour.rgb * dark, vec3(1.0 / 2.2));
  gl_Position = at;
}`,
  `#version 300 es
precision highp float;
in vec3 seen_colour;
out vec4 result;
void main() { result = vec4(seen_colour, 1.0) * 0.8; }`],

  // The floor: lines that fade with the distance, and shadows.
  floor: [`#version 300 es
layout(location = 0) in vec2 corner;
uniform mat4 camera;
uniform vec3 middle;
uniform vec3 east;
uniform vec3 north;
uniform float reach;
out vec3 seen_place;
out vec2 away;
void main() {
  away = corner * reach;
  seen_place = middle + away.x * east + away.y * north;
  gl_Position = camera * vec4(seen_place, 1.0);
}`,
  `#version 300 es
precision highp float;
in vec3 seen_place;
in vec2 away;
uniform float reach;
uniform float step_size;
uniform vec2 grid_shift;
uniform vec3 ink;
uniform vec3 shade;
uniform float strength;
uniform float from_above;
uniform float spread; // of a shadow, wider than on things
out vec4 result;
${SHADOWED}
float lines(vec2 at, float width) {
  vec2 wide = fwidth(at);
  vec2 off = abs(fract(at - 0.5) - 0.5) / max(wide, 1e-6);
  vec2 line = clamp(width + 0.5 - off, 0.0, 1.0) * clamp(1.2 - 2.0 * wide, 0.0, 1.0);
  return max(line.x, line.y);
}
void main() {
  float far = length(away) / reach;
  float fade = 1.0 - smoothstep(0.25, 1.0, far);
  vec2 at = (away + grid_shift) / step_size;
  float grid = max(0.16 * lines(at, 0.35), 0.3 * lines(at / 5.0, 0.6)) * fade * fade;
  float dark = strength * (1.0 - sunlight(seen_place)) * from_above * fade;
  float alpha = dark + grid * (1.0 - dark);
  result = vec4((shade * dark + ink * grid * (1.0 - dark)), alpha);
}`],

  // Where a point has been: bands of even width that fade with age. An instance is the way from one moment to the next.
  trace: [`#version 300 es
layout(location = 0) in vec2 corner;
layout(location = 1) in vec4 from; // and when
layout(location = 2) in vec4 until;
uniform mat4 camera;
uniform vec2 pixel;
uniform float now;
uniform float tail;
uniform float ratio;
out float age;
void main() {
  float share = clamp((now - from.w) / max(until.w - from.w, 1e-30), 0.0, 1.0);
  vec4 end = mix(from, until, share);
  float fade_from = clamp(1.0 - (now - from.w) / tail, 0.0, 1.0);
  float fade_end = clamp(1.0 - (now - end.w) / tail, 0.0, 1.0);
  vec4 a = camera * vec4(from.xyz, 1.0);
  vec4 b = camera * vec4(end.xyz, 1.0);
  vec2 way = (b.xy / b.w - a.xy / a.w) / pixel;
  vec2 ahead = length(way) > 1e-6 ? normalize(way) : vec2(1.0, 0.0);
  vec4 at = corner.x < 0.5 ? a : b;
  age = corner.x < 0.5 ? fade_from : fade_end;
  float half_width = 0.5 * ratio * (1.0 + 1.6 * age);
  at.xy += vec2(-ahead.y, ahead.x) * corner.y * half_width * pixel * at.w;
  gl_Position = at;
}`,
  `#version 300 es
precision highp float;
in float age;
uniform vec3 ink;
out vec4 result;
void main() {
  float alpha = 0.92 * pow(age, 1.4);
  result = vec4(ink * alpha, alpha);
}`],
};
