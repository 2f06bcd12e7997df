"""Imports point one way, as the README draws the architecture; read from the source, nothing is run."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

from vocboard.evaluator.editions import Task

ROOT = Path(__file__).parents[1]
PACKAGES = ("app", "client", "commands", "evaluator", "migrations", "worker")

# The only modules that know HTTP; `api` and `pages` handle requests, the others are what requests meet before.
WEB = (
    "app.api",
    "app.intake.body_limit",
    "app.intake.multipart",
    "app.intake.organisers",
    "app.intake.parts",
    "app.intake.receiving",
    "app.intake.requests",
    "app.intake.service",
    "app.main",
    "app.pages",
    "app.web",
)
WEB_LIBRARIES = ("fastapi", "starlette", "sse_starlette", "uvicorn")
# What reads the ground truth, or judges results by it; so does the half of each task's folder named here.
TRUTH = (
    "evaluator.diagnosis",
    "evaluator.evaluation",
    "evaluator.evidence",
    "evaluator.ground_truth",
    "evaluator.scoring",
    "evaluator.statistics",
    "evaluator.tasks.image_set_files",
    "evaluator.tasks.material",
    "evaluator.tasks.scorers",
    "evaluator.tasks.truth_reader",
)
KIT_OF_A_TASK = ("example", "view")  # above the packages of the development kit, which load them by name
TRUTH_OF_A_TASK = ("scoring", "metrics", "evidence", "ground_truth", "truth", *KIT_OF_A_TASK)
# What has more of a result than its viewer may see; `app.evaluations.results` and `visibility` take that away.
UNFILTERED_RESULTS = ("app.evaluations.curves", "app.evaluations.models", "app.evaluations.queries")
# Of `evaluator.tasks.parts`: they import a module of every task by its name.
LOADERS = ("task_classes", "task_modules", "task_parts")
# The commands of an installed server; a participant's installation has none of the packages that these need.
SERVER_COMMANDS = ("admin", "backups", "beat", "demo", "health", "migrate", "moving", "serve", "worker")


class Import(NamedTuple):
    """One name that a module imports: `from target import name`, or `import target` with an empty name.

    `is_by_name` is true for modules that are loaded by the names of tasks.
    """

    line: int
    target: str
    name: str
    is_by_name: bool = False


@cache
def modules() -> dict[str, Path]:
    """Return the files of all modules of ours by dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(module: str) -> tuple[Import, ...]:
    """Return what a module imports, also inside functions, for the type checker alone, and by the name of tasks."""
    path = modules()[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found: list[Import] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [Import(node.lineno, alias.name.removeprefix("vocboard."), "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            target = ".".join([*above, *filter(None, [node.module])]).removeprefix("vocboard.")
            found += [Import(node.lineno, target, alias.name) for alias in node.names]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in LOADERS
            and module != "evaluator.tasks.parts"
        ):
            part = ast.literal_eval(node.args[0])
            found += [Import(node.lineno, f"evaluator.tasks.{task}", part, True) for task in Task]
    return tuple(found)


def imported_module(found: Import) -> str:
    """Return the module that an import makes run: `from package import module` names one, too."""
    inner = f"{found.target}.{found.name}".removeprefix("vocboard.")
    return inner if inner in modules() else found.target


def within(module: str, *parents: str) -> bool:
    """Tell whether a module is one of these or inside one of them."""
    return any(module == parent or module.startswith(f"{parent}.") for parent in parents)


def violations(importers: Iterator[str] | list[str], *forbidden: str) -> list[str]:
    """Return where one of the importers imports something forbidden, as lines for a person to read."""
    return [
        f"{modules()[module].relative_to(ROOT)}:{found.line} imports {imported_module(found)}"
        for module in importers
        for found in imports(module)
        if within(imported_module(found), *forbidden)
    ]


def ours(*parents: str, but: tuple[str, ...] = ()) -> list[str]:
    """Return our modules within these, but for some."""
    return [module for module in modules() if within(module, *parents) and not within(module, *but)]


def test_reads_the_imports_that_it_judges() -> None:
    assert len(modules()) > 20
    assert "app.settings" in [imported_module(found) for found in imports("app.main")]


def test_reads_imports_by_the_name_of_tasks() -> None:
    assert "evaluator.tasks.layout.format" in [imported_module(found) for found in imports("evaluator.reading.results")]
    others = {module for module in ours("app", "evaluator", "worker") if "importlib" in modules()[module].read_text()}
    of_extensions = {"evaluator.editions.loader", "evaluator.extensions"}  # what is installed, and their files
    assert others == {"app.intake.reading_program", "evaluator.tasks.parts", *of_extensions}


def test_evaluator_imports_nothing_of_ours() -> None:
    others = [package for package in PACKAGES if package != "evaluator"]
    assert violations(ours("evaluator"), *others) == []


def test_evaluator_knows_no_web_no_database_no_settings() -> None:
    assert violations(ours("evaluator"), *WEB_LIBRARIES, "sqlalchemy", "celery", "pydantic", "pydantic_settings") == []


def test_app_imports_neither_worker_nor_commands() -> None:
    assert violations(ours("app"), "worker", "commands", "client", "migrations") == []


def test_worker_imports_neither_commands_nor_what_knows_http() -> None:
    assert violations(ours("worker"), "commands", "client", *WEB, *WEB_LIBRARIES) == []


def test_services_queries_and_models_know_no_http() -> None:
    assert violations(ours("app", but=WEB), *WEB, *WEB_LIBRARIES) == []


def test_api_and_pages_are_imported_by_the_application_alone() -> None:
    handlers = ("app.api", "app.pages")
    assert violations(ours("app", but=("app.main", *handlers)), *handlers) == []
    assert violations(ours("app.api"), "app.pages") == []
    assert violations(ours("app.pages"), "app.api") == []


def test_handlers_get_what_they_need_as_dependencies() -> None:
    """`app.web.dependencies` alone looks into the application's state, and makes what it finds there typed."""
    readers = {
        module
        for module in ours("app")
        for node in ast.walk(ast.parse(modules()[module].read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "state" and ast.unparse(node).endswith("app.state")
    }
    assert readers == {"app.web.dependencies"}


def test_models_import_no_service() -> None:
    for module in ours("app"):
        if module.endswith(".models"):
            for found in imports(module):
                target = imported_module(found)
                # A package that is one module has its tables there.
                allowed = not within(target, "app") or target.endswith(".models")
                allowed |= within(target, "app.database", "app.rate_limits")
                assert allowed, f"{module} imports {target} (line {found.line})"


def test_app_reaches_nothing_of_the_evaluator_that_reads_the_truth() -> None:
    """Neither directly nor through other modules of the evaluator: the web process cannot even name the truth."""
    came_from = {imported_module(found): module for module in ours("app") for found in imports(module)}
    waiting = list(came_from)
    while waiting:
        module = waiting.pop()
        if module not in modules() or not within(module, "evaluator"):
            continue
        parents = [module.rsplit(".", count)[0] for count in range(1, module.count(".") + 1)]
        for target in [*(imported_module(found) for found in imports(module)), *parents]:
            if target not in came_from:
                came_from[target] = module
                waiting.append(target)
    reached = sorted(module for module in came_from if within(module, *TRUTH) or is_truth_of_a_task(module))
    assert reached == [], "\n".join(f"{module} is imported by {came_from[module]}" for module in reached)


def is_truth_of_a_task(module: str) -> bool:
    """Tell whether a module is in the half of a task's folder that scores."""
    return within(module, "evaluator.tasks") and module.rpartition(".")[2] in TRUTH_OF_A_TASK


def test_each_task_has_a_half_that_the_web_process_may_not_import() -> None:
    halves = [module.split(".")[2] for module in modules() if is_truth_of_a_task(module) and module.count(".") == 3]
    assert set(halves) == set(Task)


def test_there_are_no_import_cycles() -> None:
    """Between modules, also through imports inside functions, and with what importing a module runs besides.

    Importing a module runs the `__init__` of every package around it; that of its own packages has begun already.
    Imports inside functions may save time at the start, and nothing else: they must not hide a cycle.
    """
    reached: dict[str, set[str]] = {}
    for module in modules():
        targets = {imported_module(found) for found in imports(module)}
        around = {target.rsplit(".", count)[0] for target in targets for count in range(1, target.count(".") + 1)}
        reached[module] = {target for target in targets | around if target in modules() and not within(module, target)}
    check_has_no_cycle(reached)


def test_there_are_no_import_cycles_between_packages() -> None:
    """Packages are the first level within `app`, `evaluator` ...: packages, and modules next to them.

    What is loaded by the name of tasks is left out: a package for all tasks does not depend on any of them.
    """
    reached: dict[str, set[str]] = {package_of(module): set() for module in modules()}
    for module in modules():
        written = [found for found in imports(module) if not found.is_by_name]
        targets = {package_of(target) for found in written if (target := imported_module(found)) in modules()}
        reached[package_of(module)] |= targets - {package_of(module)}
    check_has_no_cycle(reached)


def package_of(module: str) -> str:
    """Return the package that a module belongs to, at the first level.

    >>> package_of("app.web.csrf"), package_of("app.settings"), package_of("app")
    ('app.web', 'app.settings', 'app')
    """
    if within(module, "evaluator.tasks") and module.rpartition(".")[2] in KIT_OF_A_TASK:
        return "evaluator.tasks.kit"
    return ".".join(module.split(".")[:2])


def check_has_no_cycle(reached: dict[str, set[str]]) -> None:
    """Fail and name a cycle if there is one among modules or packages and what each of them imports."""
    try:
        TopologicalSorter(reached).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_participants_commands_need_no_server() -> None:
    of_the_server = tuple(f"commands.{name}" for name in SERVER_COMMANDS)
    participants = ours("client", "commands", but=of_the_server)
    assert violations(participants, "app", "worker", "migrations", *WEB_LIBRARIES, "sqlalchemy", "celery") == []


def test_no_package_uses_another_ones_private_names() -> None:
    for module in modules():
        for found in imports(module):
            private = [part for part in (*found.target.split("."), found.name) if is_private(part)]
            package = module if modules()[module].name == "__init__.py" else module.rpartition(".")[0]
            if private and within(found.target, *PACKAGES):
                assert within(found.target, package), f"{module}:{found.line} imports {found.target}.{found.name}"


def is_private(name: str) -> bool:
    """Tell whether a name is meant for its own package alone."""
    return name.startswith("_") and not name.startswith("__")


def test_pages_and_answers_have_no_way_to_results_but_the_one_that_decides_who_sees_what() -> None:
    assert violations(ours("app.api", "app.pages"), *UNFILTERED_RESULTS) == []
