// Shapes of unit size, which instances stretch along their axes and then let swell by a thickness: a bar of any length
// and radius is one line that has swollen, so all bars are one mesh.
//
// A mesh is { places, normals, triangles, edges }; edges are pairs of vertices.

const [FINE, COARSE] = [28, 14]; // sides of what is round; where there are very many things each is small

// Runs of [radius, height, normal outwards, normal upwards] from below to above, turned about z. Between runs is an edge.
function revolved(runs, sides) {
  const [places, normals, triangles, edges] = [[], [], [], []];
  runs.forEach((run, number) => {
    const first = places.length / 3;
    run.forEach(([radius, height, out, rise], level) => {
      for (let side = 0; side < sides; side++) {
        const turn = (2 * Math.PI * side) / sides;
        const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
        places.push(radius * cos, radius * sin, height);
        normals.push(out * cos, out * sin, rise);
        const [here, there] = [first + level * sides + side, first + level * sides + ((side + 1) % sides)];
        if (level < run.length - 1) triangles.push(here, there, there + sides, here, there + sides, here + sides);
        if (level === 0 && number > 0 && radius > 0) edges.push(here, there);
      }
    });
  });
  return { places, normals, triangles, edges };
}

function arc(middle, radius, height, start, end, steps) {
  return Array.from({ length: steps + 1 }, (_, step) => {
    const angle = start + ((end - start) * step) / steps;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    return [middle + radius * cos, height + radius * sin, cos, sin];
  });
}

function boxMesh() {
  const [places, normals, triangles] = [[], [], []];
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      const first = places.length / 3;
      for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const corner = [0, 0, 0];
        [corner[axis], corner[(axis + 1) % 3], corner[(axis + 2) % 3]] = [0.5 * side, 0.5 * u, 0.5 * v];
        places.push(...corner);
        normals.push(...[0, 1, 2].map((each) => (each === axis ? side : 0)));
      }
      const order = side > 0 ? [0, 1, 2, 0, 2, 3] : [0, 2, 1, 0, 3, 2];
      triangles.push(...order.map((corner) => first + corner));
    }
  }
  const edges = [0, 4].flatMap((face) => [0, 1, 2, 3].flatMap((k) => [face + k, face + ((k + 1) % 4)]));
  for (let k = 0; k < 4; k++) edges.push(k, 4 + k); // faces of x first: below, then above
  return { places, normals, triangles, edges };
}

// A spring's wire along z from 0 to 1, wound with radius 1 about it; its thickness is swell.
function coilMesh(turns, sides = 7) {
  const lead = 0.1;
  const steps = 18 * turns;
  const line = [[0, 0, 0]];
  for (let step = 0; step <= steps; step++) {
    const share = step / steps;
    const swell = Math.min(2 * turns * Math.min(share, 1 - share), 1);
    const [radius, turn] = [swell * (2 - swell), 2 * Math.PI * turns * share];
    line.push([radius * Math.sin(turn), radius * Math.cos(turn), lead + (1 - 2 * lead) * share]);
  }
  line.push([0, 0, 1]);
  const [places, normals, triangles] = [[], [], []];
  let across = [1, 0, 0];
  line.forEach((place, k) => {
    const way = minus(line[Math.min(k + 1, line.length - 1)], line[Math.max(k - 1, 0)]);
    const ahead = unit([way[0], way[1], 2.2 * turns * way[2]]); // as steep as at rest
    across = unit(plus(across, ahead, -dot(across, ahead)));
    const over = cross(ahead, across);
    for (let side = 0; side < sides; side++) {
      const turn = (2 * Math.PI * side) / sides;
      places.push(...place);
      normals.push(...plus(times(across, Math.cos(turn)), over, Math.sin(turn)));
      const [here, there] = [k * sides + side, k * sides + ((side + 1) % sides)];
      if (k < line.length - 1) triangles.push(here, there, there + sides, here, there + sides, here + sides);
    }
  });
  return { places, normals, triangles, edges: [] };
}

// What a fixed point stands on: a plate and a stand that narrows to it. The point is the origin, the plate is at z = -1.
function footMesh(sides) {
  const slope = Math.hypot(0.9, 0.34);
  return revolved([
    [[0, -1.16, 0, -1], [1, -1.16, 0, -1]],
    [[1, -1.16, 1, 0], [1, -1, 1, 0]],
    [[1, -1, 0, 1], [0.56, -1, 0, 1]],
    [[0.56, -1, 0.9 / slope, 0.34 / slope], [0.22, -0.1, 0.9 / slope, 0.34 / slope]],
    [[0.22, -0.1, 0, 1], [0, -0.1, 0, 1]],
  ], sides);
}

// Half a ball, of which only the normals are known: its radius is swell.
function barEnd(end, sides) {
  const quarter = arc(0, 1, 0, end < 0 ? -Math.PI / 2 : 0, end < 0 ? 0 : Math.PI / 2, Math.round(sides / 6));
  return quarter.map(([, , out, rise]) => [0, 0.5 * end, out, rise]);
}

const SHAPES = {
  box: boxMesh,
  sphere: (sides) => revolved([arc(0, 1, 0, -Math.PI / 2, Math.PI / 2, sides / 2)], sides),
  cylinder: (sides) => revolved([
    [[0, -0.5, 0, -1], [1, -0.5, 0, -1]],
    [[1, -0.5, 1, 0], [1, 0.5, 1, 0]],
    [[1, 0.5, 0, 1], [0, 0.5, 0, 1]],
  ], sides),
  cone: (sides) => revolved([
    [[0, -0.25, 0, -1], [1, -0.25, 0, -1]],
    [[1, -0.25, Math.SQRT1_2, Math.SQRT1_2], [0, 0.75, Math.SQRT1_2, Math.SQRT1_2]],
  ], sides),
  ring: (sides) => revolved([arc(0, 1, 0, 0, 2 * Math.PI, 16).map(([, , out, rise]) => [1, 0, out, rise])], 2 * sides),
  bar: (sides) => revolved([barEnd(-1, sides).concat(barEnd(1, sides))], Math.round(0.75 * sides)),
  foot: footMesh,
};

// A mesh by its name, by the number of turns of a spring (`coil 7`), or by its number among those of the film.
function meshOf(name, film, sides) {
  if (typeof name === "number") return unpackedMesh(film.data.meshes[name]);
  return name.startsWith("coil") ? coilMesh(Number(name.slice(5))) : SHAPES[name](sides);
}

function unpackedMesh({ scale, wide, places, normals, triangles, edges }) {
  const Index = wide ? Uint32Array : Uint16Array;
  return {
    places: Float32Array.from(new Int16Array(decodeBytes(places)), (step) => step * scale),
    normals: Float32Array.from(new Int8Array(decodeBytes(normals)), (step) => step / 127),
    triangles: new Index(decodeBytes(triangles)),
    edges: new Index(decodeBytes(edges)),
  };
}
