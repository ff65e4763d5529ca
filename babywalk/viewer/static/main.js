// The page: tabs, keyboard, theme, and the address of the view.

import { createCompare } from "./compare.js";
import { button, element, notice, replace } from "./dom.js";
import { readRoute, routeText, writeRoute } from "./route.js";
import { openSource } from "./source.js";
import { createTry } from "./try.js";
import { createWatch } from "./watch.js";

const TABS = [
  ["watch", "Watch"],
  ["try", "Try"],
  ["compare", "Compare"],
];
const KEYS = [
  ["Space", "play or pause"],
  ["← →", "one step back or forward"],
  ["Home End", "to the start or the end"],
  ["n p", "next or previous episode"],
  ["/", "search"],
  ["1 2 3", "Watch, Try, Compare"],
  ["?", "this list"],
];
const THEMES = ["auto", "light", "dark"];

function themeButton() {
  let theme = "auto";
  const label = () => `Theme: ${theme}`;
  const control = button(label(), () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    document.documentElement.dataset.theme = theme;
    control.textContent = label();
  }, { class: "link" });
  return control;
}

function keysDialog() {
  const dialog = element(
    "dialog",
    { "aria-label": "Keyboard" },
    element("h2", { text: "Keyboard" }),
    element("dl", {}, ...KEYS.flatMap(([keys, what]) => [element("dt", { text: keys }), element("dd", { text: what })])),
    button("Close", () => dialog.close(), { class: "primary" }),
  );
  return dialog;
}

async function start() {
  const app = document.getElementById("app");
  const source = await openSource();
  const views = {};
  const create = { watch: createWatch, try: createTry, compare: createCompare };
  const place = element("main", { id: "view", tabindex: -1 });
  const keys = keysDialog();
  let active = null;
  let route = readRoute();
  // Where each tab was left.
  const left = {};

  function go(next, { push = false, quiet = false } = {}) {
    if (quiet && next.view !== route.view) return; // a view that was left meanwhile
    route = next;
    left[route.view] = next;
    writeRoute(next, { push });
    if (!quiet) render();
  }

  async function render() {
    const name = create[route.view] ? route.view : "watch";
    if (active && active !== views[name]) active.leave();
    views[name] = views[name] || create[name]({ source, go });
    const view = views[name];
    if (active !== view) {
      active = view;
      replace(place, view.node);
    }
    for (const [tab, link] of Object.entries(links)) {
      if (tab === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = `${TABS.find(([tab]) => tab === name)[1]} · BabyWalk viewer`;
    try {
      await view.show(route);
    } catch (error) {
      view.fail(error.message);
    }
  }

  function open(tab) {
    const { task, split } = route;
    go(left[tab] || { view: tab, ...(tab === "try" ? {} : { task, split }) }, { push: true });
  }

  const links = Object.fromEntries(
    TABS.filter(([tab]) => source.live || tab !== "try").map(([tab, label]) => [
      tab,
      element("a", {
        href: routeText({ view: tab }),
        text: label,
        onclick: (event) => {
          event.preventDefault();
          open(tab);
        },
      }),
    ]),
  );
  replace(
    app,
    element("a", { class: "skip", href: "#view", text: "Skip to the content", onclick: (event) => { event.preventDefault(); place.focus(); } }),
    element(
      "header",
      {},
      element("span", { class: "brand", text: "BabyWalk" }),
      element("nav", { "aria-label": "Views" }, ...Object.values(links)),
      element("span", { class: "title", text: source.catalogue.title }),
      themeButton(),
      button("Keys", () => keys.showModal(), { class: "link", "aria-keyshortcuts": "?" }),
    ),
    place,
    keys,
  );

  window.addEventListener("popstate", () => {
    route = readRoute();
    render();
  });
  document.addEventListener("keydown", (event) => {
    const inField = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && !/^(range|checkbox)$/.test(event.target.type);
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    if (inField) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    // A key that operates the focused control is left to it.
    if (event.key === " " && /^(BUTTON|A|INPUT)$/.test(event.target.tagName)) return;
    if (event.target.type === "range" && event.key !== "n" && event.key !== "p") {
      if (!event.key.startsWith("Arrow") && event.key !== "Home" && event.key !== "End") return;
    }
    const number = ["1", "2", "3"].indexOf(event.key);
    if (event.key === "?") keys.showModal();
    else if (number >= 0) {
      if (links[TABS[number][0]]) open(TABS[number][0]);
    } else if (!active.key(event)) return;
    event.preventDefault();
  });
  await render();
}

start().catch((error) => {
  document.getElementById("app").replaceChildren(notice(`The page cannot be shown: ${error.message}`, "error"));
});
