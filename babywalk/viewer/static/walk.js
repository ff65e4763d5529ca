// One walk as frames: what the walker does at each moment of the animation.

import { headingOf } from "./format.js";

export const EXPERT = "expert";
export const STOP = -1;

// Frames have the viewpoint `at`, the Baby-Step `step` or null, and the `decision` taken there, if recorded.
// Between frames k and k + 1 the walker goes from one viewpoint to the other, or stays.
export function framesOf(walk) {
  const { path, decisions, ends } = walk;
  if (decisions && decisions.length) {
    const frames = decisions.map(([step, at, choices, words, views]) => ({
      at,
      step,
      decision: { choices, words, views },
    }));
    const last = frames[frames.length - 1];
    frames.push({ at: path[path.length - 1], step: last.step, decision: null, end: true });
    for (let k = 0; k < frames.length - 1; k++) {
      const [here, next] = [frames[k].at, frames[k + 1].at];
      frames[k].decision.taken = here === next ? STOP : next;
    }
    return frames;
  }
  const frames = [];
  path.forEach((at, index) => {
    const before = frames[frames.length - 1];
    const step = ends ? Math.min(ends.filter((end) => end <= index).length, ends.length - 1) : null;
    if (before && before.at === at) before.step = step;
    else frames.push({ at, step, decision: null });
  });
  frames[frames.length - 1].end = true;
  return frames;
}

// The heading after each frame's arrival: that of the last move, at first that of the start.
export function headings(frames, house, start) {
  let heading = start;
  return frames.map((frame, k) => {
    const before = k ? frames[k - 1] : frame;
    if (before.at !== frame.at) {
      const [a, b] = [house.points[before.at], house.points[frame.at]];
      heading = headingOf(b[0] - a[0], b[1] - a[1]);
    }
    return heading;
  });
}

// The distance between two viewpoints in a straight line, in metres.
export function distance(house, a, b) {
  const [p, q] = [house.points[a], house.points[b]];
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

export function neighbours(house, at) {
  const found = [];
  for (const [a, b] of house.edges) {
    if (a === at) found.push(b);
    else if (b === at) found.push(a);
  }
  return found;
}
