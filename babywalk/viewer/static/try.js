// Try: choose a start on the map, type an instruction, and watch agents follow it. Only with a server.

import { button, chooser, element, notice, replace } from "./dom.js";
import { counted, headingOf } from "./format.js";
import { createStage } from "./stage.js";
import { createInstruction } from "./text.js";
import { distance, neighbours } from "./walk.js";

const WAIT = 250; // milliseconds after the last key before the text is segmented
const KEPT = 12; // runs in the list
const TURN = 30; // degrees

export function createTry({ source, go }) {
  const { catalogue } = source;
  const stage = createStage({
    onchange: () => remember(),
    onpick: (viewpoint) => setStart(viewpoint),
  });
  const preview = createInstruction();
  const problem = element("div", {});
  const facts = element("div", { class: "cut" });
  const counter = element("span", { class: "quiet number" });
  const text = element("textarea", {
    id: "instruction",
    rows: 4,
    maxlength: catalogue.limits.text,
    placeholder: "Walk past the couch and stop by the bed.",
    oninput: () => typed(),
    onkeydown: (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
    },
  });
  const heading = element("input", {
    type: "number",
    min: -360,
    max: 360,
    step: 1,
    id: "heading",
    oninput: () => setHeading(Number(heading.value) || 0, false),
  });
  const houseField = element("div", {});
  const where = element("p", { class: "quiet", role: "status" });
  const able = catalogue.agents.filter((agent) => agent.follows).map((agent) => agent.name);
  const agentBoxes = able.map((name, k) =>
    element("input", { type: "checkbox", value: name, ...(k === 0 ? { checked: true } : {}), onchange: () => remember() }),
  );
  const agentsField = element(
    "fieldset",
    {},
    element("legend", { text: "Agents" }),
    ...able.map((name, k) => element("label", { class: "check" }, agentBoxes[k], name)),
    able.length ? null : element("p", { class: "quiet", text: "No agent that reads instructions was given. Start the page with one: babywalk view RUN --data DIR." }),
  );
  const runButton = button("Run", () => run(), { class: "primary run", "aria-keyshortcuts": "Control+Enter" });
  const runs = element("ol", { class: "runs" });
  const form = element(
    "div",
    { class: "picker try-form" },
    element("h1", { text: "Try" }),
    houseField,
    element("p", { class: "quiet", text: "Click on the map to choose the start; or focus the map and use the arrow keys." }),
    where,
    element(
      "div",
      { class: "fields row" },
      element("label", { class: "field", for: "heading" }, element("span", { text: "Heading, degrees" }), heading),
      button("↶ 30°", () => setHeading(degrees - TURN), { "aria-label": "Turn left by 30 degrees" }),
      button("↷ 30°", () => setHeading(degrees + TURN), { "aria-label": "Turn right by 30 degrees" }),
    ),
    element("label", { class: "field", for: "instruction" }, element("span", {}, "Instruction ", counter), text),
    element("div", { class: "preview" }, preview.node, facts),
    agentsField,
    runButton,
    problem,
    element("section", { class: "panel" }, element("h2", { text: "Runs" }), runs),
  );
  const node = element(
    "div",
    { class: "watch try" },
    form,
    element("div", { class: "main" }, stage.node),
    element("div", { class: "side" }, stage.panels.choices),
    element("div", { class: "below" }, stage.panels.views),
  );

  let house = null;
  let start = 0;
  let degrees = 0;
  let done = []; // runs, the newest first
  let count = 0;
  let timer = null;
  let segmented = 0;
  let [wantedTime, wantedFocus] = [0, ""];
  let ready = false;

  stage.map.node.tabIndex = 0;
  stage.map.node.setAttribute("aria-label", "Map. The arrow keys move the start to a neighbouring viewpoint.");
  stage.map.node.setAttribute("role", "application");
  stage.map.node.addEventListener("keydown", (event) => {
    const toward = { ArrowUp: 0, ArrowRight: 90, ArrowDown: 180, ArrowLeft: 270 }[event.key];
    if (toward === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const [x, y] = house.points[start];
    const turn = (to) => {
      const angle = (headingOf(house.points[to][0] - x, house.points[to][1] - y) * 180) / Math.PI;
      return Math.abs(((angle - toward + 540) % 360) - 180);
    };
    const near = neighbours(house, start).filter((to) => turn(to) <= 60);
    if (near.length) setStart(near.reduce((a, b) => (turn(a) <= turn(b) ? a : b)));
  });

  const chosen = () => agentBoxes.filter((box) => box.checked).map((box) => box.value);
  const shown = () => done.filter((one) => one.shown && one.house === house.scan);

  function remember() {
    if (!ready) return;
    const { t, focus, hide } = stage.state();
    go(
      {
        view: "try",
        house: house.scan,
        start: house.names[start],
        heading: String(degrees),
        text: text.value,
        agents: chosen().join(","),
        run: shown().length ? "1" : "",
        t: shown().length ? t : "",
        focus: shown().length ? focus : "",
        hide,
      },
      { quiet: true },
    );
  }

  function setStart(viewpoint) {
    start = viewpoint;
    for (const one of done) one.shown = false;
    show();
  }

  function setHeading(value, write = true) {
    degrees = write ? ((Math.round(value) % 360) + 360) % 360 : Math.max(-360, Math.min(360, value));
    if (write) heading.value = degrees;
    for (const one of done) one.shown = false;
    show();
  }

  function show({ at = 0, focus, hidden = [] } = {}) {
    const walks = shown().flatMap((one) => one.walks);
    const radians = (degrees * Math.PI) / 180;
    const scene = {
      house,
      heading: radians,
      text: "",
      steps: [],
      landmarks: [],
      walks: walks.length ? walks : [{ agent: "start", label: "Start", path: [start], waiting: true }],
    };
    stage.show(scene, { at, focus, hidden });
    const storey = house.floors.length > 1 ? `, storey ${house.points[start][3] + 1}` : "";
    where.textContent = `Start: viewpoint ${house.names[start]}${storey}`;
    showRuns();
    remember();
  }

  function typed() {
    counter.textContent = `${Array.from(text.value).length.toLocaleString("en")} / ${catalogue.limits.text.toLocaleString("en")}`;
    clearTimeout(timer);
    timer = setTimeout(cut, WAIT);
  }

  async function cut() {
    const mine = ++segmented;
    const value = text.value;
    if (!value.trim()) {
      replace(facts);
      preview.show("", {});
      remember();
      return;
    }
    try {
      const found = await source.segment(value);
      if (mine !== segmented) return;
      preview.show(value, found);
      replace(
        facts,
        element("p", { class: "quiet", text: `${counted(found.steps.length, "Baby-Step")}; landmarks: ${found.names.join(", ") || "none"}` }),
      );
    } catch (error) {
      if (mine === segmented) replace(facts, notice(error.message, "error"));
    }
    remember();
  }

  async function run({ at = 0, focus, hidden } = {}) {
    if (runButton.disabled) return;
    runButton.disabled = true;
    runButton.textContent = "Running …";
    try {
      const order = { house: house.scan, viewpoint: house.names[start], heading: degrees, text: text.value, agents: chosen() };
      if (!order.agents.length) throw new Error("Choose at least one agent.");
      const found = await source.follow(order);
      replace(problem, ...notes(found));
      const number = ++count;
      const walks = found.walks.map((walk) => ({
        ...walk,
        agent: `${walk.agent} #${number}`,
        text: order.text,
        heading: (order.heading * Math.PI) / 180,
      }));
      // Earlier runs stay on the map only if they were put there to compare.
      for (const one of done) one.shown = one.shown && one.pinned;
      done = [{ number, ...order, house: order.house, walks, shown: true, pinned: false }, ...done].slice(0, KEPT);
      show({ at, focus: focus || walks[0].agent, hidden });
    } catch (error) {
      replace(problem, notice(error.message, "error"));
    } finally {
      runButton.disabled = false;
      runButton.textContent = "Run";
    }
  }

  function notes(found) {
    const texts = found.walks.flatMap((walk) => [
      walk.unknown.length ? `${walk.agent} does not know: ${walk.unknown.join(", ")}.` : null,
      walk.unread ? `${walk.agent} did not read ${counted(walk.unread, "word")} beyond its limit.` : null,
    ]);
    return texts.filter(Boolean).map((one) => notice(one));
  }

  function showRuns() {
    replace(
      runs,
      ...done.map((one) => {
        const here = one.house === house.scan;
        const box = element("input", {
          type: "checkbox",
          ...(one.shown && here ? { checked: true } : {}),
          ...(here ? {} : { disabled: true }),
          onchange: () => {
            one.shown = box.checked;
            one.pinned = box.checked;
            show({ at: stage.end() });
          },
        });
        const results = one.walks.map((walk) => {
          const metres = here ? walk.path.reduce((sum, at, k) => (k ? sum + distance(house, walk.path[k - 1], at) : 0), 0) : null;
          return `${walk.agent}: ${counted(walk.path.length - 1, "move")}${metres === null ? "" : `, ${metres.toFixed(1)} m, ends at ${house.names[walk.path[walk.path.length - 1]]}`}`;
        });
        return element(
          "li",
          {},
          element("label", { class: "check" }, box, element("span", { class: "excerpt", text: one.text })),
          ...results.map((line) => element("p", { class: "quiet number", text: line })),
          button("Edit", () => edit(one), { class: "link", "aria-label": `Edit run ${one.number}` }),
        );
      }),
    );
    if (!done.length) replace(runs, element("li", { class: "quiet", text: "Nothing has run yet." }));
  }

  async function edit(one) {
    if (one.house !== house.scan) await openHouse(one.house);
    start = house.names.indexOf(one.viewpoint);
    [degrees, heading.value] = [one.heading, one.heading];
    text.value = one.text;
    for (const other of done) other.shown = other === one || (other.pinned && other.shown);
    typed();
    show({ at: 0 });
    text.focus();
  }

  async function openHouse(scan) {
    house = await source.house(scan);
    replace(
      houseField,
      chooser("House", catalogue.houses.map((name) => [name, name]), scan, async (name) => {
        try {
          await openHouse(name);
          start = 0;
          show();
        } catch (error) {
          replace(problem, notice(error.message, "error"));
        }
      }),
    );
  }

  return {
    node,
    async show(route) {
      if (!source.live) throw new Error("Typing instructions needs the live page: babywalk view RUN --data DIR.");
      const scan = route.house || (house && house.scan) || catalogue.houses[0];
      if (!catalogue.houses.includes(scan)) throw new Error(`There is no house ${scan} here.`);
      if (!house || house.scan !== scan) await openHouse(scan);
      const first = house.names.indexOf(route.start);
      start = first >= 0 ? first : start < house.names.length ? start : 0;
      degrees = Number.isFinite(Number(route.heading)) ? Number(route.heading || 0) : 0;
      heading.value = degrees;
      if (route.text !== undefined) text.value = route.text.slice(0, catalogue.limits.text);
      if (route.agents !== undefined) {
        const named = route.agents.split(",");
        for (const box of agentBoxes) box.checked = named.includes(box.value);
      }
      [wantedTime, wantedFocus] = [Number(route.t) || 0, route.focus];
      ready = true;
      typed();
      show();
      if (route.run === "1" && text.value.trim() && !done.length) {
        await run({ at: wantedTime, focus: wantedFocus, hidden: (route.hide || "").split(",").filter(Boolean) });
      }
    },
    fail(message) {
      replace(problem, notice(message, "error"));
      if (!source.live) replace(node, element("h1", { text: "Try" }), notice(message));
    },
    key(event) {
      if (event.key === " ") stage.toggle();
      else if (event.key === "ArrowRight") stage.step(1);
      else if (event.key === "ArrowLeft") stage.step(-1);
      else if (event.key === "Home") stage.seek(0);
      else if (event.key === "End") stage.seek(stage.end());
      else return false;
      return true;
    },
    leave: () => stage.pause(),
  };
}
