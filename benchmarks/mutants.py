"""Mutation testing of model/ and processes/: python -m benchmarks.mutants.

Small changes are made to the code, one at a time, and the tests are run: a change that
no test notices (a survivor) is a fact that nothing holds. Cosmic Ray (`pip install
cosmic-ray`) makes the changes, in a clone; of the thousands that there are, `--sample`
are drawn with `--seed`. Each takes seconds if it is found, minutes if it survives.
Unions of types (`int | None`) are left alone, since they mean nothing at run time.
"""

import argparse
import random
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = (  # the quick ones first, since the first that fails ends a run
    "test_job", "test_cluster", "test_monitor", "test_nodes", "test_mutants",
    "test_rescheduling", "test_interference", "test_staging", "test_workload",
    "test_deschedule", "test_metrics", "test_state_machine", "test_fragmentation",
    "test_brute_force", "test_planners", "test_disciplines", "test_oracle",
    "test_invariants", "test_failures", "test_command_line", "test_run_folder",
    "test_learning", "test_generator", "test_trust", "test_hostile", "test_watch",
)  # fmt: skip
CONFIG = """
[cosmic-ray]
module-path = ["model", "processes"]
timeout = {timeout}
excluded-modules = []
test-command = "{python} -m pytest {how} {tests}"
[cosmic-ray.distributor]
name = "local"
[cosmic-ray.filters.operators-filter]
exclude-operators = ["core/ReplaceBinaryOperator_BitOr_.*"]
"""
HOW = "-x -q -p no:cacheprovider --hypothesis-seed=0"
LOST = "delete from {table} where job_id not in (select job_id from kept)"


def main() -> int:
    """Print the survivors and the share of the sample that was killed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=600.0, help="s, for a mutant")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clone, session = Path(folder) / "clone", "session.sqlite"
        subprocess.run(["git", "clone", "-q", ".", str(clone)], check=True)
        tests = " ".join(["model", "processes", *(f"tests/{t}.py" for t in TESTS)])
        text = CONFIG.format(
            timeout=asked.timeout, python=sys.executable, how=HOW, tests=tests
        )
        (clone / "mutants.toml").write_text(text)

        def tool(name: str, *words: str) -> None:
            path = Path(sys.executable).with_name(name)
            subprocess.run([str(path), *words], cwd=clone, check=True)

        tool("cosmic-ray", "init", "mutants.toml", session)
        tool("cr-filter-operators", session, "mutants.toml")
        draw(clone / session, asked.sample, asked.seed)
        tool("cosmic-ray", "exec", "mutants.toml", session)
        return report(clone / session)


def draw(session: Path, sample: int, seed: int) -> None:
    """Keep so many mutants of a session that has not been run."""
    with sqlite3.connect(session) as table:
        left_out = "select job_id from work_results"
        every = f"select job_id from work_items where job_id not in ({left_out})"
        place = "module_path, start_pos_row, start_pos_col, operator_name, occurrence"
        order = f"select job_id from mutation_specs where job_id in ({every}) order by "
        known = [row[0] for row in table.execute(order + place)]
        kept = random.Random(seed).sample(known, min(sample, len(known)))
        table.execute("create temp table kept (job_id)")
        table.executemany("insert into kept values (?)", [(name,) for name in kept])
        for name in ("work_results", "mutation_specs", "work_items"):
            table.execute(LOST.format(table=name))


def report(session: Path) -> int:
    """Print what survived; return 1 if that is more than 15 %."""
    with sqlite3.connect(session) as table:
        found = table.execute("select test_outcome, diff from work_results").fetchall()
    survivors = [diff for outcome, diff in found if outcome == "SURVIVED"]
    for diff in survivors:
        print(diff)
    print(f"{len(found) - len(survivors)} of {len(found)} mutants were killed")
    return 1 if len(survivors) > 0.15 * len(found) else 0


if __name__ == "__main__":
    sys.exit(main())
