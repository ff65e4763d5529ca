// Watch: choose an episode, see its house, the expert's path and those of agents.

import { button, chooser, element, notice, replace } from "./dom.js";
import { collectionName, counted, measured } from "./format.js";
import { measureTable } from "./panels.js";
import { createStage } from "./stage.js";

const LISTED = 60; // episodes in the list at a time

export function createWatch({ source, go }) {
  const { catalogue } = source;
  // On a narrow screen the list is folded.
  const folded = element("details", { open: matchMedia("(min-width: 761px)").matches });
  const picker = element("aside", { class: "picker", "aria-label": "Episodes" }, folded);
  const list = element("ol", { class: "episodes" });
  const found = element("p", { class: "quiet", role: "status" });
  const more = button("Show more", () => showList(listed + LISTED), { class: "more" });
  const title = element("h1", { class: "episode-title", tabindex: -1 });
  const problem = element("div", {});
  const table = element("div", {});
  const stage = createStage({ onchange: () => remember() });
  const copy = button("Copy link", () => copyLink(), { class: "link" });
  const content = element(
    "div",
    { class: "main" },
    element("div", { class: "headline" }, title, copy),
    problem,
    stage.node,
  );
  const side = element(
    "div",
    { class: "side" },
    element("section", { class: "panel" }, element("h2", { text: "Measures" }), table),
    stage.panels.choices,
  );
  const below = element("div", { class: "below" }, stage.panels.views);
  const node = element("div", { class: "watch" }, picker, content, side, below);

  let route = {};
  let records = null;
  let rows = []; // numbers of the episodes that fit the search, sorted
  let listed = LISTED;
  let current = -1;
  let asked = 0;

  async function copyLink() {
    try {
      await navigator.clipboard.writeText(location.href);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "The link is in the address bar";
    }
    setTimeout(() => (copy.textContent = "Copy link"), 2000);
  }

  function remember() {
    if (records && current >= 0) go({ ...route, ...stage.state() }, { quiet: true });
  }

  // Sort keys: properties of the episode, and every measure of every agent.
  function sortKeys() {
    const keys = [
      ["", "Order of the file"],
      ["words", "Words"],
      ["metres", "Metres of the expert's path"],
    ];
    if (records.steps.length) keys.push(["steps", "Baby-Steps"]);
    for (const agent of Object.keys(records.scores)) {
      for (const name of catalogue.measures) keys.push([`${name} ${agent}`, `${name}, ${agent}`]);
    }
    return keys;
  }

  function values(key) {
    if (!key) return null;
    if (records[key] && key !== "scores") return records[key];
    const [name, ...agent] = key.split(" ");
    const scores = records.scores[agent.join(" ")];
    return scores ? scores[catalogue.measures.indexOf(name)] : null;
  }

  function filter() {
    const terms = (route.q || "").toLowerCase().split(/\s+/).filter(Boolean);
    const [least, most] = [Number(route.min || 0), Number(route.max || Infinity)];
    rows = records.ids.map((_, k) => k).filter((k) => {
      const text = records.texts[k].toLowerCase();
      return (
        (!route.house || catalogue.houses[records.houses[k]] === route.house) &&
        records.words[k] >= least &&
        records.words[k] <= most &&
        terms.every((term) => text.includes(term) || records.ids[k] === term)
      );
    });
    const by = values(route.sort);
    if (by) {
      const sign = route.order === "down" ? -1 : 1;
      const number = (k) => (by[k] === null ? Infinity : by[k]);
      rows.sort((a, b) => sign * (number(a) - number(b)) || a - b);
    }
  }

  function item(k) {
    const by = route.sort && !["words", "steps", "metres"].includes(route.sort) ? values(route.sort) : null;
    const facts = by
      ? `${route.sort.split(" ")[0]} ${measured(route.sort.split(" ")[0], by[k])}`
      : `${records.words[k]} words`;
    return element(
      "li",
      {},
      button(
        element(
          "span",
          {},
          element("span", { class: "id", text: records.ids[k] }),
          element("span", { class: "fact", text: facts }),
          element("span", { class: "excerpt", text: records.texts[k] }),
        ),
        () => go({ ...route, episode: records.ids[k], t: "" }, { push: true }),
        { class: "episode", "aria-current": k === current ? "true" : null },
      ),
    );
  }

  function showList(count = LISTED) {
    listed = count;
    replace(list, ...rows.slice(0, listed).map(item));
    more.hidden = rows.length <= listed;
    const all = records.total > records.ids.length ? ` of ${records.total.toLocaleString("en")} in the split` : "";
    found.textContent = rows.length === records.ids.length
      ? `${counted(rows.length, "episode")}${all}`
      : `${rows.length.toLocaleString("en")} of ${counted(records.ids.length, "episode")}`;
  }

  function change(changes) {
    route = { ...route, ...changes };
    go({ ...route, ...stage.state() }, { quiet: true });
    filter();
    showList();
  }

  function showPicker() {
    const tasks = [...new Set(catalogue.collections.map((one) => one.task))];
    const splits = catalogue.collections.filter((one) => one.task === route.task).map((one) => one.split);
    const used = [...new Set(records.houses)].map((number) => catalogue.houses[number]);
    const search = element("input", {
      type: "search",
      id: "search",
      placeholder: "words of the instruction",
      autocomplete: "off",
      value: route.q || "",
      oninput: () => change({ q: search.value }),
    });
    const length = (key, label) => {
      const input = element("input", {
        type: "number",
        min: 0,
        inputmode: "numeric",
        placeholder: label,
        "aria-label": key === "min" ? "Words at least" : "Words at most",
        value: route[key] || "",
        oninput: () => change({ [key]: input.value }),
      });
      return input;
    };
    const order = button(route.order === "down" ? "↓" : "↑", () => {
      change({ order: route.order === "down" ? "" : "down" });
      order.textContent = route.order === "down" ? "↓" : "↑";
      order.setAttribute("aria-label", route.order === "down" ? "Largest first" : "Smallest first");
    }, { "aria-label": route.order === "down" ? "Largest first" : "Smallest first", class: "order" });
    const open = (changes) => go({ view: "watch", task: route.task, split: route.split, ...changes }, { push: true });
    replace(
      folded,
      element("summary", { text: "Choose an episode" }),
      element(
        "div",
        { class: "fields" },
        chooser("Data set", tasks.map((task) => [task, task.toUpperCase()]), route.task, (task) => {
          const kept = catalogue.collections.find((one) => one.task === task && one.split === route.split);
          const any = kept || catalogue.collections.find((one) => one.task === task);
          open({ task, split: any.split });
        }),
        chooser("Split", splits.map((split) => [split, split]), route.split, (split) => open({ split })),
        chooser("House", [["", `all ${used.length}`], ...used.sort().map((scan) => [scan, scan])], route.house || "", (house) => change({ house })),
        element("div", { class: "field pair" }, element("span", { text: "Words" }), length("min", "from"), length("max", "to")),
        element("label", { class: "field wide" }, element("span", { text: "Search" }), search),
        element(
          "div",
          { class: "field wide sort" },
          chooser("Sort by", sortKeys(), route.sort || "", (sort) => change({ sort })),
          order,
        ),
      ),
      found,
      list,
      more,
    );
  }

  async function showEpisode(number) {
    const mine = ++asked;
    current = number;
    const episode = await source.episode(route.task, route.split, number, records.ids[number]);
    const house = await source.house(episode.house);
    if (mine !== asked) return;
    title.textContent = `${collectionName(route.task, route.split)} ${episode.id}`;
    document.title = `${episode.id} · BabyWalk viewer`;
    const walks = stage.show(
      { ...episode, house },
      {
        focus: route.focus,
        hidden: (route.hide || "").split(",").filter(Boolean),
        at: Number(route.t) || 0,
      },
    );
    const scored = walks
      .filter((walk) => records.scores[walk.agent])
      .map((walk) => ({
        ...walk,
        values: Object.fromEntries(catalogue.measures.map((name, k) => [name, records.scores[walk.agent][k][number]])),
      }));
    replace(
      table,
      scored.length
        ? measureTable(catalogue.measures, scored, "Measures of this episode")
        : element("p", { class: "quiet", text: records.agents.length ? "The goals of this split are not published, so nothing can be measured." : "Only the expert's path. Give runs or result files to compare." }),
    );
    showList(Math.max(listed, rows.indexOf(number) + 1));
    const chosen = list.querySelector("[aria-current]");
    if (chosen) list.scrollTop = Math.max(0, chosen.parentNode.offsetTop - list.offsetTop - 40);
  }

  return {
    node,
    async show(next) {
      const first = catalogue.collections[0];
      const task = next.task || first.task;
      const own = catalogue.collections.filter((one) => one.task === task);
      if (!own.length) throw new Error(`There is no data set ${task} here.`);
      const split = next.split || own[0].split;
      if (!own.some((one) => one.split === split)) throw new Error(`There is no split ${split} of ${task} here.`);
      const same = records && route.task === task && route.split === split;
      route = { ...next, view: "watch", task, split };
      if (!same) {
        replace(problem, notice(`Loading ${collectionName(task, split)} …`));
        records = null;
        const loaded = await source.collection(task, split);
        if (route.task !== task || route.split !== split) return;
        records = loaded;
      }
      filter();
      showPicker();
      replace(problem);
      const number = route.episode ? records.ids.indexOf(route.episode) : rows[0] ?? 0;
      if (number < 0 || !records.ids.length) {
        replace(list);
        throw new Error(
          records.ids.length
            ? `Episode ${route.episode} is not among the ${counted(records.ids.length, "episode")} shown here.`
            : `${collectionName(task, split)} has no episodes.`,
        );
      }
      await showEpisode(number);
    },
    fail(message) {
      stage.pause();
      replace(problem, notice(message, "error"));
    },
    key(event) {
      if (event.key === " ") stage.toggle();
      else if (event.key === "ArrowRight") stage.step(1);
      else if (event.key === "ArrowLeft") stage.step(-1);
      else if (event.key === "Home") stage.seek(0);
      else if (event.key === "End") stage.seek(stage.end());
      else if (event.key === "n" || event.key === "p") {
        const next = rows[rows.indexOf(current) + (event.key === "n" ? 1 : -1)];
        if (next !== undefined) go({ ...route, episode: records.ids[next], t: "" }, { push: true });
      } else if (event.key === "/") document.getElementById("search").focus();
      else return false;
      return true;
    },
    leave: () => stage.pause(),
    stage,
  };
}

