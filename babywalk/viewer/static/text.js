// The instruction: Baby-Steps, landmarks, and words shaded by attention.

import { element, replace } from "./dom.js";

// The text in pieces between all borders of spans, each with what it belongs to.
function pieces(letters, steps, landmarks, tokens) {
  const borders = new Set([0, letters.length]);
  for (const [begin, end] of [...steps, ...landmarks, ...tokens]) borders.add(begin).add(end);
  const sorted = [...borders].sort((a, b) => a - b);
  const inside = (spans, begin) => spans.findIndex(([from, to]) => from <= begin && begin < to);
  return sorted.slice(0, -1).map((begin, k) => ({
    text: letters.slice(begin, sorted[k + 1]).join(""),
    step: inside(steps, begin),
    landmark: inside(landmarks, begin) >= 0,
    token: inside(tokens, begin),
  }));
}

export function createInstruction() {
  const node = element("div", { class: "instruction", lang: "en" });
  let words = []; // [element, step, number of the word in its step]
  let blocks = [];
  let shown = {};

  return {
    node,
    show(text, { steps = [], landmarks = [], tokens = [] }) {
      const letters = Array.from(text);
      const starts = tokens.map((flat) => pairs(flat));
      const first = [];
      let count = 0;
      for (const spans of starts) {
        first.push(count);
        count += spans.length;
      }
      const all = starts.flat();
      [words, blocks] = [[], []];
      shown = {};
      let block = null;
      const parts = [];
      for (const piece of pieces(letters, steps, landmarks, all)) {
        if (!block || block.step !== piece.step) {
          block = { step: piece.step, node: element("span", { class: "between" }) };
          if (piece.step >= 0) {
            const chip = element("span", { class: `chip s${piece.step % 8}`, text: piece.step + 1 });
            const name = element("span", { class: "hidden", text: `Baby-Step ${piece.step + 1}: ` });
            block.node = element("span", { class: "step" }, steps.length > 1 ? chip : null, name);
            blocks[piece.step] = block.node;
          }
          parts.push(block.node);
        }
        const part = element("span", { class: piece.landmark ? "landmark" : null, text: piece.text });
        if (piece.token >= 0 && piece.step >= 0) {
          words.push([part, piece.step, piece.token - (first[piece.step] || 0)]);
        }
        block.node.append(part);
      }
      replace(node, ...parts);
    },
    // Light a Baby-Step, and shade its words by attention in percent.
    light(step, weights = []) {
      if (shown.step === step && shown.weights === weights) return;
      shown = { step, weights };
      blocks.forEach((block, number) => {
        block.classList.toggle("lit", number === step);
        block.classList.toggle("dim", step !== null && number !== step);
      });
      const most = Math.max(1, ...weights);
      for (const [part, own, number] of words) {
        const weight = own === step ? weights[number] || 0 : 0;
        part.style.setProperty("--weight", (weight / most).toFixed(2));
        part.classList.toggle("attended", weight > 0);
        if (weight > 0) part.title = `attention ${weight} %`;
        else part.removeAttribute("title");
      }
    },
  };
}

function pairs(flat) {
  return Array.from({ length: flat.length / 2 }, (_, k) => [flat[2 * k], flat[2 * k + 1]]);
}
