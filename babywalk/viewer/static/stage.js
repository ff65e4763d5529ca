// The stage: a house with walks in it, the player, and what the walk in focus reads, sees and decides.

import { button, element, replace } from "./dom.js";
import { counted } from "./format.js";
import { createMap, drawChoices, drawWalks, moveWalkers } from "./map.js";
import { showChoices, showViews } from "./panels.js";
import { createInstruction } from "./text.js";
import { EXPERT, distance, framesOf, headings } from "./walk.js";

const PACE = 1.4; // decisions per second at speed 1
const SPEEDS = [0.5, 1, 2, 4];

// `onchange` is told when what the address should hold has changed: the time, the focus, the shown walks.
export function createStage({ onchange, onpick }) {
  const map = createMap({ onpick });
  const text = createInstruction();
  const legend = element("div", { class: "legend", role: "group", "aria-label": "Paths" });
  const play = button("Play", () => toggle(), { class: "primary play", "aria-keyshortcuts": "Space" });
  const back = button("‹", () => step(-1), { "aria-label": "One step back", "aria-keyshortcuts": "ArrowLeft" });
  const on = button("›", () => step(1), { "aria-label": "One step forward", "aria-keyshortcuts": "ArrowRight" });
  const slider = element("input", {
    type: "range",
    class: "time",
    min: 0,
    step: "any",
    "aria-label": "Time",
    oninput: () => seek(Number(slider.value)),
    onchange: () => seek(Math.round(Number(slider.value))),
  });
  const clock = element("output", { class: "clock" });
  const pace = button("1×", () => setPace(SPEEDS[(SPEEDS.indexOf(speed) + 1) % SPEEDS.length]), { class: "pace", "aria-label": "Speed 1×" });
  const player = element("div", { class: "player" }, back, play, on, slider, clock, pace);
  const said = element("p", { class: "hidden", role: "status", "aria-live": "polite" });
  const choices = element("div", {});
  const views = element("div", {});
  const panels = {
    choices: panel("Actions", choices),
    views: panel("In view", views),
  };

  let [scene, walks, focus] = [null, [], null];
  let [time, speed, running, before] = [0, 1, null, null];
  let drawn = null;
  let shownFrame = null;

  const visible = () => walks.filter((walk) => !walk.hidden);
  const longest = () => Math.max(0, ...visible().map((walk) => walk.frames.length - 1));

  function setPace(next) {
    speed = next;
    pace.textContent = `${speed}×`;
    pace.setAttribute("aria-label", `Speed ${speed}×`);
  }

  function draw() {
    drawn = drawWalks(map, { walks: visible(), focus });
    shownFrame = null;
    slider.max = longest();
    showTime();
  }

  // Move everything to the present time; panels change only with the decision.
  function showTime() {
    moveWalkers(map, drawn, time);
    slider.value = time;
    const end = longest();
    clock.textContent = `${Math.floor(time)} / ${end}`;
    if (!focus) return;
    const number = Math.min(Math.floor(time), focus.frames.length - 1);
    const frame = focus.frames[number];
    if (frame === shownFrame) return;
    shownFrame = frame;
    slider.setAttribute("aria-valuetext", `step ${number} of ${focus.frames.length - 1}`);
    text.light(frame.end && !frame.decision ? lastStep(number) : frame.step, frame.decision ? frame.decision.words : NOTHING);
    const facing = focus.headings[number];
    drawChoices(map, drawn.choices, frame.at, showChoices(choices, scene.house, frame, facing));
    showViews(views, scene.house, frame, facing);
    if (!running) said.textContent = sentence(number, frame);
  }

  const lastStep = (number) => focus.frames[Math.max(0, number - 1)].step;

  function sentence(number, frame) {
    const step = frame.step === null ? "" : `, Baby-Step ${frame.step + 1}`;
    return `${focus.label}: step ${number} of ${focus.frames.length - 1}${step}${frame.end ? ", the end" : ""}`;
  }

  function seek(next) {
    time = Math.max(0, Math.min(next, longest()));
    showTime();
    if (!running) onchange();
  }

  function step(by) {
    pause();
    seek(by > 0 ? Math.floor(time) + 1 : Math.ceil(time) - 1);
  }

  function pause() {
    if (running) cancelAnimationFrame(running);
    running = null;
    play.textContent = "Play";
  }

  function start() {
    if (time >= longest()) time = 0;
    play.textContent = "Pause";
    before = null;
    running = requestAnimationFrame(tick);
  }

  function tick(now) {
    time += before === null ? 0 : ((now - before) / 1000) * PACE * speed;
    before = now;
    const end = longest();
    if (time >= end) {
      time = end;
      pause();
      showTime();
      shownFrame = null;
      showTime();
      onchange();
      return;
    }
    showTime();
    running = requestAnimationFrame(tick);
  }

  function toggle() {
    if (running) {
      pause();
      seek(Math.round(time));
    } else start();
  }

  function setFocus(walk) {
    focus = walk;
    walk.hidden = false;
    showText();
    showLegend();
    draw();
    onchange();
  }

  function showText() {
    const own = focus && focus.steps ? focus : scene;
    text.show(focus?.text ?? scene.text, { steps: own.steps, landmarks: own.landmarks, tokens: focus ? focus.tokens : [] });
  }

  function showLegend() {
    replace(
      legend,
      ...walks.map((walk) => {
        const moves = walk.path.filter((at, k) => k && at !== walk.path[k - 1]).length;
        return element(
          "div",
          { class: `entry ${walk === focus ? "focus" : ""}` },
          element("input", {
            type: "checkbox",
            "aria-label": `Show ${walk.label}`,
            onchange: (event) => {
              walk.hidden = !event.target.checked;
              if (walk.hidden && walk === focus) focus = visible()[0] || null;
              if (focus) showText();
              showLegend();
              draw();
              onchange();
            },
            ...(walk.hidden ? {} : { checked: true }),
          }),
          button(
            element("span", {}, element("span", { class: `dot ${walk.colour}`, text: walk.letter }), walk.label),
            () => setFocus(walk),
            { class: "link", "aria-pressed": String(walk === focus), title: `Follow ${walk.label}` },
          ),
          element("span", { class: "quiet", text: `${counted(moves, "move")}, ${metresOf(walk).toFixed(1)} m` }),
        );
      }),
    );
  }

  function metresOf(walk) {
    return walk.path.reduce((sum, at, k) => (k ? sum + distance(scene.house, walk.path[k - 1], at) : 0), 0);
  }

  const node = element("div", { class: "stage" }, legend, map.node, player, text.node, said);
  return {
    node,
    text,
    panels,
    map,
    // Show walks {agent, path, ...} of a scene {house, heading, text, steps, landmarks}.
    show(next, { focus: wanted, hidden = [], at = 0 } = {}) {
      pause();
      scene = next;
      let agents = 0;
      walks = next.walks.map((walk) => {
        const expert = walk.agent === EXPERT;
        const number = expert ? -1 : agents++;
        const frames = framesOf(walk);
        if (walk.waiting) frames[0].end = false;
        return {
          ...walk,
          label: walk.label || walk.agent,
          letter: expert ? "E" : String.fromCharCode(65 + (number % 26)),
          colour: expert ? "expert" : `a${number % 6}`,
          frames,
          headings: headings(frames, next.house, walk.heading ?? next.heading),
          hidden: hidden.includes(walk.agent),
        };
      });
      focus = walks.find((walk) => walk.agent === wanted && !walk.hidden) || visible().find((walk) => walk.decisions) || visible()[0] || null;
      map.setHouse(next.house, draw);
      showText();
      showLegend();
      time = Math.max(0, Math.min(at, longest()));
      draw();
      return walks;
    },
    state: () => ({
      t: time ? String(Math.round(time)) : "",
      focus: focus ? focus.agent : "",
      hide: walks.filter((walk) => walk.hidden).map((walk) => walk.agent).join(","),
    }),
    toggle,
    step,
    seek,
    pause,
    end: () => longest(),
    time: () => time,
  };
}

const NOTHING = [];

function panel(title, content) {
  return element("section", { class: "panel" }, element("h2", { text: title }), content);
}
