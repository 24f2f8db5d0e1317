"""Imports point down only, and each folder keeps to what it is for."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BELOW = {
    "model": {"model"},
    "schedulers": {"schedulers", "model"},
    "processes": {"processes", "schedulers", "model"},
    "clusterdata": {"clusterdata", "model"},
    "analysis": {"analysis", "model"},
    "commands": {
        "commands",
        "processes",
        "schedulers",
        "clusterdata",
        "analysis",
        "model",
    },
}
NEVER = {
    "schedulers": {"simpy"},
    "analysis": {"simpy", "torch"},
    "clusterdata": {"simpy", "torch"},
    "processes": {"torch", "pathlib"},
}
FILES = [path for folder in BELOW for path in sorted((ROOT / folder).rglob("*.py"))]


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_from_its_own_layer_and_those_below(path):
    layer = path.relative_to(ROOT).parts[0]
    found = set(imports(path))

    assert not (found & set(BELOW)) - BELOW[layer]
    assert not found & NEVER.get(layer, set())


def makers(name):
    """Return the files that call something of that name."""
    return [
        path.name
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name
    ]


def test_only_the_cluster_makes_containers():
    assert set(makers("Stock")) == {"cluster.py"}
    assert makers("Container") == []


def test_schedulers_never_look_at_the_true_duration():
    """They may believe `estimate`; only the simulator knows `duration`."""
    for path in sorted((ROOT / "schedulers").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            is_duration = isinstance(node, ast.Attribute) and node.attr == "duration"
            assert not is_duration, f"{path.name}:{node.lineno}"


def test_files_and_functions_stay_small():
    """No long tail: at most 260 lines a file and 45 a function, docstring left out."""
    for path in [*FILES, ROOT / "run.py"]:
        text = path.read_text()
        assert text.count("\n") <= 260, path.name
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                first = node.body[1 if ast.get_docstring(node) else 0 :]
                lines = node.end_lineno - first[0].lineno + 1 if first else 0
                assert lines <= 45, f"{path.name}:{node.name}"
