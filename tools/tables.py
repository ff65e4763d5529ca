"""Write the generated sections of the documentation: tables whose figures stand elsewhere.

    python tools/tables.py            # write them
    python tools/tables.py --check    # name the pages that differ from what would be written

A section of a page begins with `<!-- generated: NAME -->` and ends with `<!-- end -->`. NAME is a function in
SECTIONS, or else a file docs/data/NAME.json whose rows are the table. Such a file also says when and how its
figures were measured; the sentence below a table is made from that. To add a table, add the two comments and
the file or the function.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from babywalk.common.tables import markdown
from babywalk.evaluation.paper import paper_rows

CHECKOUT = Path(__file__).parents[1]
DOCS = CHECKOUT / "docs"
DATA = DOCS / "data"
CARD = CHECKOUT / "weights" / "babywalk-r4r" / "README.md"
SECTION = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
FACTS = ("measured", "draw", "seeds", "split", "commands")  # of every file in docs/data
TASKS = ("R2R", "R4R", "R6R", "R8R")
LONG = TASKS[1:]
MEASURES = ("SR", "CLS", "nDTW", "SDTW")

Row = list[Any]
Scores = dict[str, dict[str, float]]  # by task and measure


def read(name: str) -> dict[str, Any]:
    """The fields of a data file."""
    fields: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return fields


def cell(value: Any) -> str:
    """A number with one decimal, several of them separated by " / ", or a text."""
    if isinstance(value, list):
        return " / ".join(map(cell, value))
    return f"{value:.1f}" if isinstance(value, float) else "" if value is None else str(value)


def table(columns: list[str], rows: Iterable[Row]) -> str:
    return markdown(columns, [[cell(value) for value in row] for row in rows])


def source(name: str) -> str:
    """When and how the figures of a data file were measured."""
    about = read(name)
    measured = f"{about['measured']} on {about['split']}, draw {about['draw']}, seeds: {about['seeds']}"
    links = f"[data](data/{name}.json), [commands]({about['commands']})"
    return f"*Measured in {measured}. The runs are not kept; {links}.*"


def plain(name: str) -> str:
    """The rows of a data file."""
    about = read(name)
    return f"{table(about['columns'], about['rows'])}\n\n{source(name)}"


def with_mean(name: str) -> str:
    """The rows of a data file, and the mean SDTW of the long tasks."""
    about = read(name)
    long = [about["columns"].index(task) for task in LONG]
    rows = [[*row, mean(row[place][1] for place in long)] for row in about["rows"]]
    return f"{table([*about['columns'], 'mean SDTW of R4R to R8R'], rows)}\n\n{source(name)}"


def real_houses(task: str) -> dict[str, Scores]:
    """The scores of each agent that was trained on a task in the real houses."""
    found: dict[str, Scores] = {}
    about = read("real-houses")
    for row in about["rows"]:
        fields = dict(zip(about["columns"], row, strict=True))
        if fields["trained on"] == task:
            found.setdefault(fields["agent"], {})[fields["task"]] = fields
    return found


def paper(task: str) -> dict[str, Scores]:
    """The scores of the paper's agents that were trained on a task."""
    found: dict[str, Scores] = {}
    for row in paper_rows("agents", task):
        found.setdefault(row.agent, {})[row.task.upper()] = row.measures
    return found


def card() -> Scores:
    """The scores on the card of the published weights."""
    header, *lines = [
        line for line in CARD.read_text().splitlines() if re.match(r"\| (\| PL|R\dR val)", line)
    ]
    names = [name.strip() for name in header.strip("|").split("|")][1:]
    found = {}
    for line in lines:
        label, *cells = line.strip("|").split("|")
        found[label.split()[0]] = dict(zip(names, (float(text.split()[0]) for text in cells), strict=True))
    return found


def all_measures(task: str) -> str:
    """Every measure of every agent in the real houses, and of some of the paper's."""
    columns = [""] + [f"{each} {name}" for each in TASKS for name in (*MEASURES, "95 %")]
    rows: list[Row] = []
    for agent, scores in real_houses(task).items():
        row: Row = [agent]
        for each in TASKS:
            found = scores[each]
            row += [found[name] for name in MEASURES] + [f"{found['low']:.1f}..{found['high']:.1f}"]
        rows.append(row)
    for agent in ("SEQ2SEQ", "RCM(fidelity)+", "BABYWALK", "BABYWALK+"):
        scores = paper(task)[agent]
        values = [value for each in TASKS for value in (*(scores[each][name] for name in MEASURES), "-")]
        rows.append([f"{agent} (paper)", *values])
    return f"{table(columns, rows)}\n\n{source('real-houses')}"


def summary(
    task: str, agents: dict[str, str], published: tuple[str, ...], extra: list[Row] | None = None
) -> str:
    """SDTW and CLS in the real houses; `agents` are their names in the data, by the row's name."""

    def row(name: str, scores: Scores) -> Row:
        return [name, *([scores[each]["SDTW"], scores[each]["CLS"]] for each in TASKS)]

    rows = list(extra or [])
    rows += [row(name, real_houses(task)[agent]) for name, agent in agents.items()]
    rows += [row(f"{agent} (paper, ResNet features)", paper(task)[agent]) for agent in published]
    return f"{table([f'trained on {task.upper()}', *TASKS], rows)}\n\n{source('real-houses')}"


def summary_r4r() -> str:
    scores = card()
    own = ["BABYWALK, published weights, full splits"]
    seq2seq = (
        "SEQ2SEQ, goal teacher",
        "SEQ2SEQ, goal teacher, RL",
        "SEQ2SEQ, path teacher",
        "SEQ2SEQ, path teacher, RL",
    )
    agents = {
        "BABYWALK, the same, samples": "BABYWALK, mean weights of seeds 0 and 1",
        **{name: name for name in seq2seq},
    }
    extra: Row = own + [[scores[each]["SDTW"], scores[each]["CLS"]] for each in TASKS]
    return summary("r4r", agents, ("BABYWALK+", "SEQ2SEQ"), [extra])


def summary_r2r() -> str:
    names = ("BABYWALK without memory", "BABYWALK with memory", "SEQ2SEQ")
    return summary("r2r", {name: name for name in names}, ("BABYWALK+",))


def dollhouse_stages_mean() -> str:
    """What each stage adds, the mean of the seeds."""
    rows: dict[str, list[Row]] = {}
    for stage, _, *scores in read("dollhouse-stages")["rows"]:
        rows.setdefault(stage, []).append(scores)
    found: list[Row] = []
    for stage, seeds in rows.items():
        means = [
            [mean(pair[place] for pair in task) for place in (0, 1)] for task in zip(*seeds, strict=True)
        ]
        found.append([stage, *means, mean(one[1] for one in means[1:])])
    columns = ["after", *TASKS, "mean SDTW of R4R to R8R"]
    return f"{table(columns, found)}\n\n{source('dollhouse-stages')}"


def agent_rows(agents: Iterable[str]) -> list[Row]:
    """SR / CLS / SDTW of agents in the Dollhouse: means, and the spread of SDTW over seeds."""
    found: list[Row] = []
    for agent in agents:
        rows = [row for row in read("dollhouse-agents")["rows"] if row[0] == agent]
        if not rows:
            continue
        cells = []
        for task in TASKS:
            seeds = [row[3:] for row in rows if row[2] == task]
            means = " / ".join(f"{mean(values):.1f}" for values in zip(*seeds, strict=True))
            sdtw = [values[-1] for values in seeds]
            cells.append(f"{means} ({min(sdtw):.1f} to {max(sdtw):.1f})" if len(seeds) > 1 else means)
        found.append([ROWS[agent], *cells, str(len({row[1] for row in rows}))])
    return found


def dollhouse_agents(agents: Iterable[str]) -> str:
    """A table of agents that were trained on R4R in the Dollhouse."""
    rows = agent_rows(agents)
    if not rows:
        return "Not measured yet."
    columns = ["SR / CLS / SDTW (SDTW of the worst and best seed)", *TASKS, "seeds"]
    return f"{table(columns, rows)}\n\n{source('dollhouse-agents')}"


ROWS = {
    "seq2seq": "SEQ2SEQ",
    "speaker-follower": "SF+",
    "rcm-goal": "RCM(goal)+",
    "rcm-fidelity": "RCM(fidelity)+",
    "regretful": "REGRETFUL+",
    "fast": "FAST+",
    "babywalk": "BABYWALK",
    "babywalk-plus": "BABYWALK+",
}
SECTIONS: dict[str, Callable[[], str]] = {
    "dollhouse-agents": lambda: dollhouse_agents(ROWS),
    **{f"reached-{agent}": partial(dollhouse_agents, [agent]) for agent in ROWS},
    "real-houses-r4r": lambda: all_measures("r4r"),
    "real-houses-r2r": lambda: all_measures("r2r"),
    "summary-r4r": summary_r4r,
    "summary-r2r": summary_r2r,
    "memories": lambda: with_mean("memories"),
    "stages": lambda: with_mean("stages"),
    "dollhouse-stages": lambda: with_mean("dollhouse-stages"),
    "dollhouse-stages-mean": dollhouse_stages_mean,
}


def section(name: str) -> str:
    """The content of a generated section."""
    return SECTIONS.get(name, lambda: plain(name))()


def generated(page: Path) -> str:
    """The text of a page with all of its generated sections written anew."""
    up = "../" if page.parent.parent == DOCS else ""

    def content(name: str) -> str:
        """With the links of a page in docs/ made those of this page."""
        return re.sub(r"\]\((?=[\w-]+[./])", f"]({up}", section(name))

    return SECTION.sub(lambda found: f"{found[1]}\n{content(found[2])}\n\n{found[3]}", page.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a page differs")
    check = parser.parse_args().check
    differing = [page for page in sorted(DOCS.rglob("*.md")) if generated(page) != page.read_text()]
    for page in differing:
        if not check:
            page.write_text(generated(page))
        print(f"{page.relative_to(CHECKOUT)}: {'differs from its data' if check else 'written'}.")
    raise SystemExit(1 if check and differing else 0)


if __name__ == "__main__":
    main()
