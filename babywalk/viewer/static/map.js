// A house from above: its storeys side by side, and walks in it. What moves is drawn in a layer of its own.

import { drawing, element, replace } from "./dom.js";
import { STOP } from "./walk.js";

const GAP = 10; // pixels between storeys
const NAME = 18; // pixels above a storey for its name
const LANE = 4; // pixels between walks that share an edge
const TALLEST = 620; // pixels

// The arrangement with the largest scale: columns of storeys, the lowest storey first.
function arrange(house, width, tallest) {
  const [x0, y0, x1, y1] = house.frame;
  const [wide, deep, count] = [x1 - x0, y1 - y0, house.floors.length];
  const name = count > 1 ? NAME : 0;
  let best = null;
  for (let columns = count; columns >= 1; columns--) {
    const rows = Math.ceil(count / columns);
    const scale = Math.min(
      (width - (columns - 1) * GAP) / (columns * wide),
      (tallest - rows * name - (rows - 1) * GAP) / (rows * deep),
    );
    if (!best || scale > best.scale) best = { columns, rows, scale };
  }
  const { columns, rows, scale } = best;
  const [across, down] = [wide * scale, deep * scale];
  const left = (width - columns * across - (columns - 1) * GAP) / 2;
  const boxes = house.floors.map((_, floor) => ({
    x: left + (floor % columns) * (across + GAP),
    y: Math.floor(floor / columns) * (down + name + GAP) + name,
    width: across,
    height: down,
  }));
  return { scale, boxes, name, height: rows * (down + name) + (rows - 1) * GAP, x0, y1 };
}

export function createMap({ onpick } = {}) {
  const base = drawing("svg", { class: "map-base", "aria-hidden": "true" });
  const over = drawing("svg", { class: "map-over", role: "img", "aria-label": "The house from above" });
  const node = element("div", { class: "map" }, base, over);
  let house = null;
  let plan = null;
  let lanes = new Map();
  let redraw = () => {};

  function place(viewpoint, floor = house.points[viewpoint][3]) {
    const [x, y] = house.points[viewpoint];
    const box = plan.boxes[floor];
    return [box.x + (x - plan.x0) * plan.scale, box.y + (plan.y1 - y) * plan.scale];
  }

  function rectangle(box, [, x0, y0, x1, y1], attributes) {
    return drawing("rect", {
      x: box.x + (x0 - plan.x0) * plan.scale,
      y: box.y + (plan.y1 - y1) * plan.scale,
      width: Math.max(1, (x1 - x0) * plan.scale),
      height: Math.max(1, (y1 - y0) * plan.scale),
      ...attributes,
    });
  }

  function label(box, shape, kind, written) {
    const [name, x0, y0, x1, y1] = shape;
    const size = kind === "room" ? 11 : 8.5;
    const middle = kind === "room" ? y1 - (0.5 * size + 5) / plan.scale : (y0 + y1) / 2;
    const long = name.length * size * 0.6;
    if (!name || long > (x1 - x0) * plan.scale || (y1 - y0) * plan.scale < size * 1.1) return null;
    const x = box.x + ((x0 + x1) / 2 - plan.x0) * plan.scale;
    const y = box.y + (plan.y1 - middle) * plan.scale;
    // A name that would overlap another is left out.
    const covers = ([ox, oy, half, tall]) => Math.abs(ox - x) < half + long / 2 && Math.abs(oy - y) < (tall + size) / 2;
    if (written.some(covers)) return null;
    written.push([x, y, long / 2, size]);
    const attributes = { class: `${kind}-name`, x, y: y + size * 0.35, "font-size": size, "text-anchor": "middle" };
    return drawing("text", { ...attributes, text: name });
  }

  function drawFloor(number) {
    const box = plan.boxes[number];
    const floor = house.floors[number];
    const parts = [drawing("rect", { class: "storey", ...box, rx: 6 })];
    if (plan.name) {
      const name = number === 0 ? "Storey 1, the lowest" : `Storey ${number + 1}`;
      parts.push(drawing("text", { class: "storey-name", x: box.x + 2, y: box.y - 6, text: name }));
    }
    for (const kind of ["room", "stair", "door"]) {
      const shapes = floor[kind === "stair" ? "stairs" : `${kind}s`];
      for (const shape of shapes) parts.push(rectangle(box, shape, { class: kind }));
    }
    for (const piece of floor.furniture) parts.push(rectangle(box, piece, { class: "furniture", rx: 2 }));
    const written = [];
    for (const room of floor.rooms) parts.push(label(box, room, "room", written));
    for (const piece of floor.furniture) parts.push(label(box, piece, "furniture", written));
    return parts;
  }

  // The halves of an edge: each on the storey of its viewpoint, or the whole on one.
  function halves(a, b, lane = 0) {
    const [f, g] = [house.points[a][3], house.points[b][3]];
    const shift = (p, q) => {
      // The side is the same in both directions of travel.
      const sign = a < b ? 1 : -1;
      const length = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1;
      const [dx, dy] = [(-(q[1] - p[1]) / length) * sign * lane, ((q[0] - p[0]) / length) * sign * lane];
      return [
        [p[0] + dx, p[1] + dy],
        [q[0] + dx, q[1] + dy],
      ];
    };
    const whole = shift(place(a, f), place(b, f));
    if (f === g) return [{ line: whole, from: 0, to: 1 }];
    const other = shift(place(a, g), place(b, g));
    return [
      { line: [whole[0], between(whole, 0.5)], from: 0, to: 0.5 },
      { line: [between(other, 0.5), other[1]], from: 0.5, to: 1 },
    ];
  }

  function drawGraph() {
    const edges = house.edges.flatMap(([a, b]) => halves(a, b).map(({ line }) => lineText(line)));
    const dots = house.points.map((_, viewpoint) => {
      const [x, y] = place(viewpoint);
      return drawing("circle", { cx: x, cy: y, r: 2.4, class: "viewpoint" });
    });
    return [drawing("path", { class: "edges", d: edges.join("") }), ...dots];
  }

  function scaleBar() {
    const metres = [20, 10, 5, 2, 1].find((size) => size * plan.scale <= 90) || 1;
    const y = plan.height + 14;
    return [
      drawing("path", { class: "scale", d: `M1,${y - 4}v4h${metres * plan.scale}v-4` }),
      drawing("text", { class: "storey-name", x: metres * plan.scale + 8, y, text: `${metres} m` }),
    ];
  }

  function layOut() {
    const width = Math.max(240, node.clientWidth || 640);
    plan = arrange(house, width, Math.min(TALLEST, Math.max(260, 0.62 * window.innerHeight)));
    const height = plan.height + 20;
    for (const layer of [base, over]) {
      layer.setAttribute("viewBox", `0 0 ${width} ${height}`);
      layer.setAttribute("height", height);
      layer.setAttribute("width", width);
    }
    node.style.height = `${height}px`;
    replace(base, ...house.floors.flatMap((_, floor) => drawFloor(floor)), ...drawGraph(), ...scaleBar());
  }

  const observer = new ResizeObserver(() => {
    if (house && plan && Math.abs(node.clientWidth - Number(base.getAttribute("width"))) > 1) {
      layOut();
      redraw();
    }
  });
  observer.observe(node);

  if (onpick) {
    over.addEventListener("click", (event) => {
      if (!house) return;
      const area = over.getBoundingClientRect();
      const [x, y] = [event.clientX - area.left, event.clientY - area.top];
      let [nearest, least] = [null, 18];
      house.points.forEach((_, viewpoint) => {
        const [px, py] = place(viewpoint);
        const far = Math.hypot(px - x, py - y);
        if (far < least) [nearest, least] = [viewpoint, far];
      });
      if (nearest !== null) onpick(nearest, [x, y]);
    });
  }

  return {
    node,
    over,
    // Show another house; `again` draws the walks whenever the layout changes.
    setHouse(record, again) {
      redraw = again;
      if (record !== house) {
        house = record;
        layOut();
      }
    },
    setLanes(count) {
      lanes = new Map(Array.from({ length: count }, (_, k) => [k, (k - (count - 1) / 2) * LANE]));
    },
    place,
    // The line of a move, by storey; see `halves`.
    line: (a, b, lane) => (a === b ? [] : halves(a, b, lanes.get(lane) || 0)),
    // Where a walker is on its way from a to b.
    position(a, b, share, lane) {
      if (a === b) return place(a);
      const parts = halves(a, b, lanes.get(lane) || 0);
      const part = parts.find(({ to }) => share <= to) || parts[parts.length - 1];
      return between(part.line, (share - part.from) / (part.to - part.from));
    },
  };
}

export function between([p, q], share) {
  return [p[0] + (q[0] - p[0]) * share, p[1] + (q[1] - p[1]) * share];
}

export function lineText([p, q]) {
  return `M${p[0].toFixed(1)},${p[1].toFixed(1)}L${q[0].toFixed(1)},${q[1].toFixed(1)}`;
}

// The walks of a stage on its map. `update` moves the walkers without touching anything else.
export function drawWalks(map, stage) {
  const { walks, focus } = stage;
  map.setLanes(walks.length);
  const layers = [];
  const walkers = [];
  walks.forEach((walk, lane) => {
    const lead = walk === focus;
    const group = drawing("g", { class: `walk ${walk.colour} ${lead ? "lead" : ""}` });
    const pieces = walk.frames.slice(0, -1).map((frame, k) => {
      const parts = map.line(frame.at, walk.frames[k + 1].at, lane);
      const d = parts.map(({ line }) => lineText(line)).join("");
      const step = lead && frame.step !== null ? `step s${frame.step % 8}` : "";
      const piece = drawing("g", { class: `move ${step}` });
      if (d) piece.append(drawing("path", { class: "rim", d }), drawing("path", { class: "inside", d }));
      group.append(piece);
      return piece;
    });
    const marker = drawing(
      "g",
      { class: `walker ${walk.colour} ${lead ? "lead" : ""}` },
      drawing("path", { class: "nose", d: "M-4.5,-9L0,-16L4.5,-9Z" }),
      drawing("circle", { r: lead ? 9 : 7.5 }),
    );
    const letter = drawing("text", { class: "letter", y: 3.5, "text-anchor": "middle", text: walk.letter });
    const carrier = drawing("g", {}, marker, letter);
    walkers.push({ walk, lane, pieces, marker, carrier, lead });
    layers.push(group);
  });
  const choices = drawing("g", { class: "choices" });
  const ends = [];
  const path = walks.find((walk) => walk.letter === "E") || focus;
  if (path) {
    const [sx, sy] = map.place(path.frames[0].at);
    ends.push(drawing("circle", { class: "start", cx: sx, cy: sy, r: 7 }));
    if (path.letter === "E" && path.frames.length > 1) {
      const [gx, gy] = map.place(path.frames[path.frames.length - 1].at);
      ends.push(drawing("path", { class: "goal", transform: `translate(${gx},${gy})`, d: STAR }));
    }
  }
  // The walk in focus is drawn last, over the others.
  const order = [...walkers].sort((a, b) => a.lead - b.lead);
  replace(
    map.over,
    ...order.map(({ walk }) => layers[walks.indexOf(walk)]),
    choices,
    ...ends,
    ...order.map(({ carrier }) => carrier),
  );
  return { walkers, choices };
}

const STAR = "M0,-11L2.9,-3.9L10.5,-3.4L4.7,1.5L6.5,8.9L0,4.8L-6.5,8.9L-4.7,1.5L-10.5,-3.4L-2.9,-3.9Z";

export function moveWalkers(map, { walkers }, time) {
  for (const { walk, lane, pieces, marker, carrier } of walkers) {
    const last = walk.frames.length - 1;
    const now = Math.min(time, last);
    const k = Math.min(Math.floor(now), Math.max(0, last - 1));
    const [a, b] = [walk.frames[k].at, walk.frames[Math.min(k + 1, last)].at];
    const [x, y] = map.position(a, b, now - k, lane);
    carrier.setAttribute("transform", `translate(${x.toFixed(1)},${y.toFixed(1)})`);
    const heading = walk.headings[now > k ? Math.min(k + 1, last) : k];
    marker.setAttribute("transform", `rotate(${((heading * 180) / Math.PI).toFixed(0)})`);
    pieces.forEach((piece, number) => {
      const done = number < now;
      if (piece.done !== done) {
        piece.done = done;
        piece.classList.toggle("done", done);
      }
    });
  }
}

// The candidate actions at the viewpoint where the walk in focus is.
export function drawChoices(map, group, at, choices) {
  replace(
    group,
    ...choices
      .filter(([viewpoint]) => viewpoint !== STOP && viewpoint !== at)
      .flatMap(([viewpoint, chance]) => {
        const size = 1.5 + 6 * Math.sqrt(chance / 1000);
        const [x, y] = map.place(viewpoint);
        return [drawing("circle", { cx: x, cy: y, r: size.toFixed(1) })];
      }),
  );
}
