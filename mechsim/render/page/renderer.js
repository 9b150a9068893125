// The renderer: a few passes of WebGL 2 over the instances of things. It keeps nothing that a lost context could not make
// again from the things.

const MAP = 2048; // the depth map of the light, pixels a side
const CORNERS = new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]);
const BAND = new Float32Array([0, -1, 1, -1, 0, 1, 1, 1]);

class Renderer {
  // Throws where there is no WebGL 2.
  constructor(canvas) {
    this.gl = canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "low-power" });
    if (!this.gl) throw new Error("no WebGL 2");
    this.canvas = canvas;
    [this.batches, this.traces, this.instances] = [[], new Map(), null];
    this.begin();
  }

  begin() {
    const { gl } = this;
    this.programs = Object.fromEntries(Object.entries(SHADERS).map(([name, texts]) => [name, programOf(gl, texts)]));
    this.flat = this.corners(CORNERS);
    this.map = depthMap(gl);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  corners(numbers) {
    const { gl } = this;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    filled(gl, gl.ARRAY_BUFFER, numbers);
    attribute(gl, 0, 2, 0, 0);
    return array;
  }

  // What is drawn from now on.
  load(things) {
    const { gl } = this;
    this.clear();
    this.things = things;
    this.instances = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    gl.bufferData(gl.ARRAY_BUFFER, things.instances.byteLength, gl.DYNAMIC_DRAW);
    this.batches = things.batches.map((batch) => this.batch(batch));
  }

  // What was made for the things before: a sweep shows many films, one after the other.
  clear() {
    const { gl } = this;
    for (const { arrays, buffers } of [...this.batches, ...this.traces.values()]) {
      arrays.forEach((array) => gl.deleteVertexArray(array));
      buffers.forEach((buffer) => gl.deleteBuffer(buffer));
    }
    gl.deleteBuffer(this.instances);
    this.traces.clear();
  }

  batch({ mesh, first, count }) {
    const { gl } = this;
    const wide = mesh.places.length / 3 > 65535 ? Uint32Array : Uint16Array;
    const places = filled(gl, gl.ARRAY_BUFFER, Float32Array.from(mesh.places));
    const normals = filled(gl, gl.ARRAY_BUFFER, Float32Array.from(mesh.normals));
    const buffers = [places, normals];
    const arrays = [mesh.triangles, mesh.edges].map((numbers) => {
      const array = gl.createVertexArray();
      gl.bindVertexArray(array);
      gl.bindBuffer(gl.ARRAY_BUFFER, places);
      attribute(gl, 0, 3, 0, 0);
      gl.bindBuffer(gl.ARRAY_BUFFER, normals);
      attribute(gl, 1, 3, 0, 0);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
      const [size, from] = [4 * INSTANCE, 4 * INSTANCE * first];
      for (let axis = 0; axis < 4; axis++) attribute(gl, 2 + axis, 3, size, from + 12 * axis, 1);
      attribute(gl, 6, 4, size, from + 48, 1);
      buffers.push(filled(gl, gl.ELEMENT_ARRAY_BUFFER, wide.from(numbers)));
      return array;
    });
    const kind = wide === Uint32Array ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT;
    return { arrays, buffers, counts: [mesh.triangles.length, mesh.edges.length], kind, instances: count };
  }

  // `look` has the camera's matrix, where the eye is, the floor and all colours.
  draw(look, traces) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, this.things.instances);
    gl.disable(gl.BLEND);
    this.drawDepth(look);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...look.paper, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.drawSolids(look);
    this.drawLines(look);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    this.drawFloor(look);
    traces.forEach((trace) => this.drawTrace(look, trace));
    gl.depthMask(true);
  }

  use(name, uniforms) {
    const { gl } = this;
    const { program, places } = this.programs[name];
    gl.useProgram(program);
    for (const [key, value] of Object.entries(uniforms)) setUniform(gl, places[key], value);
  }

  // One call for each mesh: all its instances. `which` is 0 for its triangles, 1 for its edges.
  drawBatches(which) {
    const { gl } = this;
    for (const { arrays, counts, kind, instances } of this.batches) {
      if (!counts[which]) continue;
      gl.bindVertexArray(arrays[which]);
      gl.drawElementsInstanced(which ? gl.LINES : gl.TRIANGLES, counts[which], kind, 0, instances);
    }
  }

  drawDepth({ sun }) {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.map.frame);
    gl.viewport(0, 0, MAP, MAP);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.5, 3);
    this.use("depth", { camera: sun, least: 0 });
    this.drawBatches(0);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  drawSolids({ camera, sun, eye, light, up, grain, sky, least }) {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.map.texture);
    gl.enable(gl.CULL_FACE);
    gl.cullFace(gl.BACK);
    this.use("solid", { camera, sun, eye, light, up, grain, sky, least, blur: 1.3 / MAP });
    this.drawBatches(0);
  }

  drawLines({ camera, eye, pixel, line, dark, focus, least }) {
    const { gl } = this;
    gl.cullFace(gl.FRONT);
    this.use("outline", { camera, pixel, width: line, dark, focus, least });
    this.drawBatches(0);
    gl.disable(gl.CULL_FACE);
    gl.enable(gl.BLEND);
    this.use("edge", { camera, eye, dark, least });
    this.drawBatches(1);
    gl.disable(gl.BLEND);
  }

  drawFloor({ camera, sun, floor }) {
    const { gl } = this;
    this.use("floor", { camera, sun, blur: 9 / MAP, ...floor });
    gl.bindVertexArray(this.flat);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  // `way` are places with their times, four numbers each; pieces `first` up to `last` are seen.
  drawTrace({ camera, pixel, ratio }, { way, first, last, now, tail, ink }) {
    const { gl } = this;
    if (last <= first) return;
    if (!this.traces.has(way)) this.traces.set(way, this.trace(way));
    const { arrays, buffers } = this.traces.get(way);
    gl.bindVertexArray(arrays[0]);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[0]);
    attribute(gl, 1, 4, 16, 16 * first, 1);
    attribute(gl, 2, 4, 16, 16 * (first + 1), 1);
    this.use("trace", { camera, pixel, now, tail, ratio, ink });
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, last - first);
  }

  trace(way) {
    const array = this.corners(BAND);
    return { arrays: [array], buffers: [filled(this.gl, this.gl.ARRAY_BUFFER, way)] };
  }
}

function attribute(gl, place, size, stride, offset, divisor = 0) {
  gl.enableVertexAttribArray(place);
  gl.vertexAttribPointer(place, size, gl.FLOAT, false, stride, offset);
  gl.vertexAttribDivisor(place, divisor);
}

function filled(gl, kind, numbers) {
  const buffer = gl.createBuffer();
  gl.bindBuffer(kind, buffer);
  gl.bufferData(kind, numbers, gl.STATIC_DRAW);
  return buffer;
}

function depthMap(gl) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, MAP, MAP);
  const settings = {
    TEXTURE_MIN_FILTER: gl.LINEAR, TEXTURE_MAG_FILTER: gl.LINEAR, TEXTURE_COMPARE_MODE: gl.COMPARE_REF_TO_TEXTURE,
    TEXTURE_COMPARE_FUNC: gl.LEQUAL, TEXTURE_WRAP_S: gl.CLAMP_TO_EDGE, TEXTURE_WRAP_T: gl.CLAMP_TO_EDGE,
  };
  for (const [name, value] of Object.entries(settings)) gl.texParameteri(gl.TEXTURE_2D, gl[name], value);
  const frame = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
  return { texture, frame };
}

function programOf(gl, texts) {
  const program = gl.createProgram();
  texts.forEach((text, number) => {
    const shader = gl.createShader(number ? gl.FRAGMENT_SHADER : gl.VERTEX_SHADER);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  });
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const told = gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader));
    throw new Error(`a shader does not compile: ${gl.getProgramInfoLog(program)} ${told.join(" ")}`);
  }
  const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
  const names = Array.from({ length: count }, (_, k) => gl.getActiveUniform(program, k).name);
  return { program, places: Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(program, name)])) };
}

function setUniform(gl, place, value) {
  if (!place) return;
  if (typeof value === "number") gl.uniform1f(place, value);
  else if (value.length === 2) gl.uniform2fv(place, value);
  else if (value.length === 3) gl.uniform3fv(place, value);
  else gl.uniformMatrix4fv(place, false, value);
}
