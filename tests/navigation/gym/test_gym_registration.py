from __future__ import annotations

import subprocess
import sys

import gymnasium

from babywalk.navigation.gym import ENVIRONMENTS, register


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_every_task_has_an_id() -> None:
    assert set(ENVIRONMENTS) <= set(gymnasium.registry)
    assert sorted(ENVIRONMENTS.values()) == ["r2r", "r4r", "r6r", "r8r"]


def test_registering_twice_changes_nothing() -> None:
    before = dict(gymnasium.registry)
    register()
    assert gymnasium.registry == before


def test_an_id_with_its_module_needs_no_import(dollhouse) -> None:
    code = (
        "import gymnasium\n"
        f"env = gymnasium.make('babywalk.navigation.gym:babywalk/R4R-v0', data={str(dollhouse)!r})\n"
        "print(env.unwrapped.data.task.name, env.spec.id)"
    )
    assert run(code) == "r4r babywalk/R4R-v0"


def test_register_without_gymnasium_says_what_to_install() -> None:
    code = (
        "import sys\n"
        "sys.modules['gymnasium'] = None\n"
        "from babywalk.common.errors import ConfigError\n"
        "from babywalk.navigation.gym import register\n"
        "try:\n"
        "    register()\n"
        "except ConfigError as error:\n"
        "    print(error)"
    )
    assert run(code) == "Gymnasium is not installed. Run 'pip install \"babywalk[gym]\"'."


def test_importing_the_package_does_not_import_the_environments() -> None:
    code = "import sys, babywalk.navigation.gym; print('babywalk.navigation.gym.env' in sys.modules)"
    assert run(code) == "False"
