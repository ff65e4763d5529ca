// Compare: tables and plots of several agents, and the episodes in which they differ most.

import { button, chooser, drawing, element, notice, replace } from "./dom.js";
import { LOWER_IS_BETTER, MEASURE_TITLES, collectionName, counted, mean, measured, unit } from "./format.js";

const SHOWN = 20;
const BIN = 20; // words

export function createCompare({ source, go }) {
  const { catalogue } = source;
  const { measures } = catalogue;
  const node = element("div", { class: "compare" });
  let route = {};
  let loaded = []; // records of collections with scores
  const agents = () => [...new Set(loaded.flatMap((records) => Object.keys(records.scores)))];
  const look = (agent) => {
    const number = agents().indexOf(agent);
    return { colour: `a${number % 6}`, letter: String.fromCharCode(65 + (number % 26)) };
  };
  const column = (records, agent, name) => records.scores[agent][measures.indexOf(name)];

  function change(changes) {
    route = { ...route, ...changes };
    go(route, { quiet: true });
    draw();
  }

  function sortable(name, label, title, extra = null) {
    const active = (route.by || "SDTW") === name;
    const down = active ? route.order !== "up" : !LOWER_IS_BETTER.has(name) && name !== "agent";
    return element(
      "th",
      { scope: "col", class: name === "set" ? "name" : null, "aria-sort": active ? (down ? "descending" : "ascending") : null, title },
      button(element("span", {}, label, extra, active ? (down ? " ↓" : " ↑") : ""), () =>
        change({ by: name, order: active ? (down ? "up" : "") : LOWER_IS_BETTER.has(name) || name === "agent" ? "up" : "" }), { class: "link" }),
    );
  }

  function meansTable() {
    const rows = loaded.flatMap((records) =>
      Object.keys(records.scores).map((agent) => ({
        agent,
        records,
        values: Object.fromEntries(measures.map((name) => [name, mean(column(records, agent, name))])),
      })),
    );
    const by = route.by || "SDTW";
    const sign = route.order === "up" ? 1 : -1;
    rows.sort((a, b) =>
      by === "agent"
        ? sign * a.agent.localeCompare(b.agent)
        : by === "set"
          ? sign * (loaded.indexOf(a.records) - loaded.indexOf(b.records))
          : sign * ((a.values[by] ?? 0) - (b.values[by] ?? 0)),
    );
    return element(
      "div",
      { class: "scroll" },
      element(
        "table",
        { class: "numbers means" },
        element("caption", { class: "hidden", text: "Means over episodes" }),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            sortable("agent", "Agent"),
            sortable("set", "Data set"),
            element("th", { scope: "col", text: "Episodes" }),
            ...measures.map((name) => sortable(name, name, MEASURE_TITLES[name], element("small", { text: ` ${unit(name)}` }))),
          ),
        ),
        element(
          "tbody",
          {},
          ...rows.map(({ agent, records, values }) =>
            element(
              "tr",
              {},
              element("th", { scope: "row" }, dot(agent), agent),
              element("td", { class: "name", text: collectionName(records.task, records.split) }),
              element("td", { text: records.ids.length.toLocaleString("en") }),
              ...measures.map((name) => element("td", { text: measured(name, values[name]) })),
            ),
          ),
        ),
      ),
    );
  }

  function dot(agent) {
    const { colour, letter } = look(agent);
    return element("span", { class: `dot ${colour}`, text: letter });
  }

  // Lines over named groups, one for each agent; a value is a share of 1 or null.
  function plot(title, groups, series) {
    const [width, height, left, bottom, top, right] = [560, 260, 42, 40, 14, 12];
    const shown = series.flatMap(({ values }) => values).filter((value) => value !== null);
    const most = Math.max(0.1, Math.ceil(10 * Math.max(0, ...shown)) / 10);
    const x = (k) => left + ((k + 0.5) / groups.length) * (width - left - right);
    const y = (value) => height - bottom - (value / most) * (height - bottom - top);
    const gap = [0.02, 0.05, 0.1, 0.2, 0.25].find((size) => most / size <= 5.001) || 0.5;
    const ticks = Array.from({ length: Math.floor(most / gap + 0.001) + 1 }, (_, k) => k * gap);
    const parts = ticks.flatMap((value) => [
      drawing("path", { class: "grid", d: `M${left},${y(value).toFixed(1)}H${width - right}` }),
      drawing("text", { class: "tick", x: left - 8, y: y(value) + 4, "text-anchor": "end", text: Math.round(100 * value) }),
    ]);
    groups.forEach((name, k) => {
      parts.push(drawing("text", { class: "tick", x: x(k), y: height - bottom + 18, "text-anchor": "middle", text: name }));
    });
    series.forEach(({ agent, values }, number) => {
      const { colour } = look(agent);
      const shift = (number - (series.length - 1) / 2) * 5;
      const points = values.map((value, k) => (value === null ? null : [x(k) + shift, y(value)])).filter(Boolean);
      const line = points.map(([px, py], k) => `${k ? "L" : "M"}${px.toFixed(1)},${py.toFixed(1)}`).join("");
      parts.push(drawing("path", { class: `line ${colour}`, d: line }));
      points.forEach(([px, py]) => parts.push(drawing("circle", { class: `point ${colour}`, cx: px, cy: py, r: 3.6 })));
    });
    const words = series
      .map(({ agent, values }) => `${agent}: ${values.map((value, k) => `${groups[k]} ${value === null ? "–" : (100 * value).toFixed(1)}`).join(", ")}`)
      .join("; ");
    return element(
      "figure",
      { class: "plot" },
      element("figcaption", { text: title }),
      element("div", { class: "legend quiet" }, ...series.map(({ agent }) => element("span", {}, dot(agent), agent))),
      drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}. ${words}` }, ...parts),
    );
  }

  function bySet() {
    const groups = loaded.map((records) => collectionName(records.task, records.split));
    return plot("SDTW in percent by data set", groups, agents().map((agent) => ({
      agent,
      values: loaded.map((records) => (records.scores[agent] ? mean(column(records, agent, "SDTW")) : null)),
    })));
  }

  function byLength(records) {
    const bins = [...new Set(records.words.map((count) => Math.floor(count / BIN)))].sort((a, b) => a - b);
    const shown = bins.slice(0, 12);
    const groups = shown.map((bin) => (bins.length > 6 ? `${bin * BIN}` : `${bin * BIN}–${bin * BIN + BIN - 1}`));
    const from = bins.length > 6 ? ` (groups of ${BIN} words, from)` : "";
    return plot(`SDTW in percent by words of the instruction${from}`, groups, Object.keys(records.scores).map((agent) => {
      const sdtw = column(records, agent, "SDTW");
      return { agent, values: shown.map((bin) => mean(sdtw.filter((_, k) => Math.floor(records.words[k] / BIN) === bin))) };
    }));
  }

  function differences(records) {
    const names = Object.keys(records.scores);
    if (names.length < 2) {
      return [element("p", { class: "quiet", text: "Give two runs or result files to see where they differ." })];
    }
    const [a, b] = [names.includes(route.a) ? route.a : names[0], names.includes(route.b) ? route.b : names[1]];
    const name = measures.includes(route.measure) ? route.measure : "SDTW";
    const [first, second] = [column(records, a, name), column(records, b, name)];
    const sign = LOWER_IS_BETTER.has(name) ? -1 : 1;
    const gaps = records.ids
      .map((_, k) => ({ k, gap: first[k] === null || second[k] === null ? null : first[k] - second[k] }))
      .filter(({ gap }) => gap)
      .sort((p, q) => Math.abs(q.gap) - Math.abs(p.gap) || p.k - q.k);
    const ahead = gaps.filter(({ gap }) => sign * gap > 0).length;
    const options = names.map((agent) => [agent, agent]);
    return [
      element(
        "div",
        { class: "fields row" },
        chooser("Measure", measures.map((one) => [one, one]), name, (measure) => change({ measure })),
        chooser("Agent", options, a, (value) => change({ a: value })),
        chooser("against", options, b, (value) => change({ b: value })),
      ),
      element("p", { class: "quiet", text: `${a} is better in ${counted(ahead, "episode")}, ${b} in ${counted(gaps.length - ahead, "episode")}; they are equal in ${counted(records.ids.length - gaps.length, "episode")}.` }),
      element(
        "div",
        { class: "scroll" },
        element(
          "table",
          { class: "numbers differences" },
          element("caption", { class: "hidden", text: "Episodes with the largest differences" }),
          element("thead", {}, element("tr", {}, ...["Episode", a, b, "difference", "Instruction"].map((text, k) => element("th", { scope: "col", class: k === 4 ? "name" : null, text })))),
          element(
            "tbody",
            {},
            ...gaps.slice(0, SHOWN).map(({ k, gap }) =>
              element(
                "tr",
                {},
                element("th", { scope: "row" }, element("a", { href: `#view=watch&task=${encodeURIComponent(records.task)}&split=${encodeURIComponent(records.split)}&episode=${encodeURIComponent(records.ids[k])}`, text: records.ids[k] })),
                element("td", { text: measured(name, first[k]) }),
                element("td", { text: measured(name, second[k]) }),
                element("td", { class: sign * gap > 0 ? "best" : null, text: `${gap > 0 ? "+" : "−"}${measured(name, Math.abs(gap))}` }),
                element("td", { class: "name excerpt", text: records.texts[k] }),
              ),
            ),
          ),
        ),
      ),
    ];
  }

  function draw() {
    if (!loaded.length) {
      replace(node, element("h1", { text: "Compare" }), notice("There is nothing to compare: give runs or result files of a split with goals."));
      return;
    }
    const records = loaded.find((one) => `${one.task}/${one.split}` === route.set) || loaded[0];
    const rest = catalogue.collections.filter((one) => !loaded.some((got) => got.task === one.task && got.split === one.split) && one.goals);
    replace(
      node,
      element("h1", { text: "Compare" }),
      element("section", { class: "panel" }, element("h2", { text: "Means" }), meansTable(),
        rest.length
          ? element("p", { class: "quiet" }, "Run on: ", ...rest.map((one) => button(collectionName(one.task, one.split), () => run(one), { class: "link" })))
          : null),
      element("div", { class: "plots" }, loaded.length > 1 ? element("section", { class: "panel" }, bySet()) : null, element("section", { class: "panel" }, byLength(records))),
      element(
        "section",
        { class: "panel" },
        element("h2", { text: "Where they differ most" }),
        loaded.length > 1
          ? element("div", { class: "fields row" }, chooser("Data set", loaded.map((one) => [`${one.task}/${one.split}`, collectionName(one.task, one.split)]), `${records.task}/${records.split}`, (set) => change({ set })))
          : null,
        ...differences(records),
      ),
    );
  }

  async function run(one) {
    const status = notice(`Running the agents on ${collectionName(one.task, one.split)} …`);
    node.append(status);
    try {
      await load([one]);
      change({ sets: loaded.map((got) => `${got.task}/${got.split}`).join(",") });
    } catch (error) {
      replace(status, error.message);
    }
  }

  async function load(wanted) {
    const got = await Promise.all(wanted.map((one) => source.collection(one.task, one.split)));
    loaded = [...loaded, ...got.filter((one) => Object.keys(one.scores).length && !loaded.includes(one))];
  }

  return {
    node,
    async show(next) {
      route = { ...next, view: "compare" };
      const { collections } = catalogue;
      const named = (route.sets || route.set || "").split(",");
      // A file holds everything; the server runs the agents when a data set is first opened.
      let wanted = source.live ? collections.filter((one) => named.includes(`${one.task}/${one.split}`)) : collections;
      if (!wanted.length) wanted = collections.filter((one) => one.task === next.task && one.split === next.split);
      if (!wanted.length) wanted = collections.slice(0, 1);
      wanted = wanted.filter((one) => !loaded.some((got) => got.task === one.task && got.split === one.split));
      if (wanted.length) {
        replace(node, notice("Loading measures …"));
        await load(wanted);
      }
      draw();
    },
    fail(message) {
      replace(node, element("h1", { text: "Compare" }), notice(message, "error"));
    },
    key: () => false,
    leave: () => {},
  };
}
