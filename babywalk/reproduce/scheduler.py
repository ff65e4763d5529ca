"""Where stages run: submitit executors, in processes on this machine or as job arrays on a SLURM cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from babywalk.common.errors import ConfigError, unknown
from babywalk.common.files import read_text
from babywalk.common.progress import log_line
from babywalk.reproduce.stage import Stage, failure_file, is_finished, log_file, record_failure, run_stage

EXECUTORS = ("local", "debug", "slurm")  # debug: one after the other, in this process
_POLL_SECONDS = 0.2
_FOREVER = 60 * 24 * 30  # minutes, a job's limit on this machine


def run_stages(
    folder: Path,
    stages: Iterable[Stage],
    *,
    executor: str = "local",
    jobs: int = 2,
    slurm: Mapping[str, Any] | None = None,
    run: Callable[[Path, Stage], None] = run_stage,
) -> list[Stage]:
    """Run all stages that are not finished, each after those it needs, at most `jobs` at a time.

    A stage that fails does not stop the others, but those that need it. Returns the stages that are not
    finished in the end.
    """
    submitter = _executor(folder, executor, slurm or {})
    waiting = {stage.name: stage for stage in stages if not is_finished(folder, stage)}
    unfinished: dict[str, Stage] = {}
    running: dict[str, tuple[Stage, Any]] = {}
    while waiting or running:
        for name, (stage, job) in list(running.items()):
            if executor == "debug" or job.done():
                del running[name]
                if _failure(folder, stage, job):
                    unfinished[name] = stage
        for name, stage in list(waiting.items()):
            if unfinished.keys() & set(stage.needs):
                unfinished[name] = waiting.pop(name)
        blocked = {*waiting, *running}
        ready = [stage for stage in waiting.values() if not blocked & set(stage.needs)][: jobs - len(running)]
        if ready:
            with submitter.batch():  # on SLURM, one job array
                submitted = [(stage, submitter.submit(run, folder, stage)) for stage in ready]
            for stage, job in submitted:
                log_line(f"{stage.name}: started, log in {log_file(folder, stage)}")
                running[stage.name] = (waiting.pop(stage.name), job)
        elif running and executor != "debug":
            time.sleep(_POLL_SECONDS)
    return list(unfinished.values())


def _failure(folder: Path, stage: Stage, job: Any) -> bool:
    """Whether a job that ended has failed; if so, this is shown and recorded."""
    error = job.exception()
    if error is None:
        log_line(f"{stage.name}: finished")
        return False
    if not failure_file(folder, stage).exists():  # the process of the stage did not get to write it
        record_failure(folder, stage, str(error))
    reason = read_text(failure_file(folder, stage)).splitlines()[0]
    log_line(f"{stage.name}: failed: {reason}")
    return True


def _executor(folder: Path, name: str, slurm: Mapping[str, Any]) -> Any:
    if name not in EXECUTORS:
        raise unknown("Executor", name, EXECUTORS)
    try:
        import submitit
    except ModuleNotFoundError:
        raise ConfigError(
            "Running experiments needs submitit. Install it with: pip install 'babywalk[reproduce]'."
        ) from None
    jobs = folder / "jobs"
    jobs.mkdir(parents=True, exist_ok=True)
    try:
        found = submitit.AutoExecutor(folder=jobs, cluster=name)
    except RuntimeError as error:  # no SLURM here
        raise ConfigError(f"Executor {name!r} cannot be used here: {error}") from None
    if name == "slurm":
        try:
            found.update_parameters(**{f"slurm_{key}": value for key, value in slurm.items()})
        except (NameError, ValueError, TypeError) as error:
            raise ConfigError(f"--slurm: {error}") from None
    else:
        found.update_parameters(timeout_min=_FOREVER)
    return found
