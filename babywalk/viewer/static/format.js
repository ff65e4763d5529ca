// Numbers and names as text, and the geometry of directions.

const METRES = new Set(["PL", "NE"]);
export const LOWER_IS_BETTER = new Set(["PL", "NE"]);
export const MEASURE_TITLES = {
  PL: "Path length, metres",
  NE: "Navigation error: metres from the end to the goal",
  SR: "Success rate: ends less than 3 m from the goal",
  OSR: "Oracle success rate: was less than 3 m from the goal at some point",
  SPL: "Success weighted by path length",
  CLS: "Coverage weighted by length score",
  nDTW: "Normalised dynamic time warping",
  SDTW: "Success weighted by nDTW",
};

// A measure: metres with one decimal, others in percent.
export function measured(name, value, digits = 1) {
  if (value === null || value === undefined) return "–";
  return METRES.has(name) ? value.toFixed(1) : (100 * value).toFixed(digits);
}

export function unit(name) {
  return METRES.has(name) ? "m" : "%";
}

export function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

export function percent(share) {
  return `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)} %`;
}

export function collectionName(task, split) {
  return `${task.toUpperCase()} ${split}`;
}

// The heading of an offset in radians, 0 north (+y) and growing clockwise.
export function headingOf(dx, dy) {
  const angle = Math.atan2(dx, dy);
  return angle < 0 ? angle + 2 * Math.PI : angle;
}

const SIDES = ["ahead", "ahead right", "right", "back right", "behind", "back left", "left", "ahead left"];

// A direction relative to a heading, in words.
export function side(heading, facing) {
  const turn = (((heading - facing) / (2 * Math.PI)) * 8 + 16) % 8;
  return SIDES[Math.round(turn) % 8];
}

export function mean(values) {
  const known = values.filter((value) => value !== null && value !== undefined);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}
