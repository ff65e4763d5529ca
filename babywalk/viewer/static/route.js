// The address of a view: everything that is needed to show it again stands after the "#".

export function readRoute() {
  const route = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  return { view: "watch", ...route };
}

export function routeText(route) {
  const filled = Object.entries(route).filter(([, value]) => value !== undefined && value !== "");
  return `#${new URLSearchParams(filled)}`;
}

// Replace the address without a new entry in the history, or with one.
export function writeRoute(route, { push = false } = {}) {
  const text = routeText(route);
  if (text === location.hash) return;
  history[push ? "pushState" : "replaceState"](null, "", text);
}
