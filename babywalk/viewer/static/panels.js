// The panels beside the map: candidate actions, what is in view, measures.

import { element, replace } from "./dom.js";
import { LOWER_IS_BETTER, MEASURE_TITLES, headingOf, measured, percent, side, unit } from "./format.js";
import { STOP, distance, neighbours } from "./walk.js";

const COLUMNS = 12;
const AHEAD = 5; // the column of the grid that is straight ahead

function bearing(house, from, to) {
  const [a, b] = [house.points[from], house.points[to]];
  return headingOf(b[0] - a[0], b[1] - a[1]);
}

// The view of the panorama in which a neighbour lies: row 0 down, 1 level, 2 up.
export function viewOf(house, from, to) {
  const [a, b] = [house.points[from], house.points[to]];
  const rise = Math.atan2(b[2] - a[2], Math.hypot(b[0] - a[0], b[1] - a[1]));
  const row = Math.max(0, Math.min(2, Math.round(rise / (Math.PI / 6)) + 1));
  return row * COLUMNS + (Math.round(bearing(house, from, to) / (Math.PI / 6)) % COLUMNS);
}

function names(house, at, view) {
  return house.views ? house.views[at][view].map((label) => house.labels[label]) : [];
}

export function showChoices(node, house, frame, facing) {
  if (frame.end) {
    replace(node, element("p", { class: "quiet", text: "The walk has ended." }));
    return [];
  }
  const decision = frame.decision;
  const choices = decision
    ? [...decision.choices].sort((a, b) => b[1] - a[1])
    : neighbours(house, frame.at).map((viewpoint) => [viewpoint, null]);
  const rows = choices.map(([viewpoint, chance]) => {
    const stop = viewpoint === STOP;
    const where = stop ? "STOP" : side(bearing(house, frame.at, viewpoint), facing);
    const far = stop ? "" : `${distance(house, frame.at, viewpoint).toFixed(1)} m`;
    const seen = stop ? "" : names(house, frame.at, viewOf(house, frame.at, viewpoint)).slice(0, 2).join(", ");
    const taken = decision && decision.taken === viewpoint;
    const bar = element("span", { class: "bar" });
    bar.style.setProperty("--share", chance === null ? 0 : chance / 1000);
    return element(
      "li",
      { class: taken ? "taken" : null },
      element("span", { class: "what", text: stop ? where : `${where}${seen ? `: ${seen}` : ""}` }),
      element("span", { class: "number", text: far }),
      element("span", { class: "number", text: chance === null ? "" : percent(chance / 1000) }),
      bar,
      taken ? element("span", { class: "hidden", text: " (taken)" }) : null,
    );
  });
  const note = decision
    ? null
    : element("p", { class: "quiet", text: "Neighbouring viewpoints. The probabilities of this walk were not recorded." });
  replace(node, element("ol", { class: "actions" }, ...rows), note);
  return choices.filter(([, chance]) => chance !== null);
}

// The 36 views around a viewpoint as a table, straight ahead in the middle; shaded by attention.
export function showViews(node, house, frame, facing) {
  const weights = (frame.decision && frame.decision.views) || [];
  if (!house.views && !weights.length) {
    replace(node, element("p", { class: "quiet", text: "This data directory has no names of objects (features 'objects')." }));
    return;
  }
  const first = Math.round(facing / (Math.PI / 6)) - AHEAD + 2 * COLUMNS;
  const near = new Map(neighbours(house, frame.at).map((viewpoint) => [viewOf(house, frame.at, viewpoint), viewpoint]));
  const most = Math.max(1, ...weights);
  const heads = Array.from({ length: COLUMNS }, (_, k) => {
    const column = (first + k) % COLUMNS;
    const turn = k - AHEAD;
    const word = { [-5]: "", [-3]: "left", 0: "ahead", 3: "right", 6: "behind" }[turn];
    return element("th", { scope: "col", title: `heading ${column * 30} degrees`, text: word || `${turn > 0 ? "+" : "−"}${Math.abs(turn) * 30}°` });
  });
  const rows = [2, 1, 0].map((row) => {
    const cells = Array.from({ length: COLUMNS }, (_, k) => {
      const view = row * COLUMNS + ((first + k) % COLUMNS);
      const found = names(house, frame.at, view);
      const weight = weights[view] || 0;
      const cell = element(
        "td",
        { class: near.has(view) ? "door-way" : null, title: weight ? `attention ${weight} %` : null },
        ...found.map((name) => element("span", { text: name })),
      );
      cell.style.setProperty("--weight", (weight / most).toFixed(2));
      if (near.has(view)) cell.append(element("span", { class: "hidden", text: "(a way on)" }));
      return cell;
    });
    return element("tr", {}, element("th", { scope: "row", text: ["down", "level", "up"][row] }), ...cells);
  });
  const room = house.classes && house.classes[frame.at];
  const table = element(
    "table",
    { class: "views" },
    element("caption", { class: "hidden", text: "Objects in the 36 views" }),
    element("thead", {}, element("tr", {}, element("td"), ...heads)),
    element("tbody", {}, ...rows),
  );
  replace(
    node,
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Objects in the 36 views" }, table),
    room && !house.floors.some((floor) => floor.rooms.length)
      ? element("p", { class: "quiet", text: `Room class ${room}. Frames mark the ways on.` })
      : element("p", { class: "quiet", text: "Frames mark the ways on." }),
  );
}

// The measures of a few walks {label, colour, letter, values}: a row for each measure, the best value marked.
export function measureTable(measures, walks, caption) {
  const rows = measures.map((name) => {
    const values = walks.map((walk) => walk.values[name]);
    const known = values.filter((value) => value !== null && value !== undefined);
    const differ = name !== "PL" && new Set(known).size > 1;
    const best = differ ? (LOWER_IS_BETTER.has(name) ? Math.min(...known) : Math.max(...known)) : null;
    return element(
      "tr",
      {},
      element("th", { scope: "row", title: MEASURE_TITLES[name] }, name, element("small", { text: ` ${unit(name)}` })),
      ...values.map((value) => element("td", { class: best !== null && value === best ? "best" : null, text: measured(name, value) })),
    );
  });
  // With many walks the letters of the legend have to do.
  const name = walks.length > 2 ? "hidden" : null;
  const heads = walks.map((walk) =>
    element(
      "th",
      { scope: "col", title: walk.label },
      element("span", { class: `dot ${walk.colour}`, text: walk.letter }),
      element("span", { class: name, text: walk.label }),
    ),
  );
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      { class: "numbers measures" },
      element("caption", { class: "hidden", text: caption }),
      element("thead", {}, element("tr", {}, element("td"), ...heads)),
      element("tbody", {}, ...rows),
    ),
  );
}
