"""DRR: a learned policy proposes nodes, and a look ahead over the queue chooses.

A network (`policy.py`) gives every node that has room a logit: what a tuned linear
scorer thinks of it, corrected by what was learned. From each of the best few
(`--look-ahead`) the queue is run forward as it stands, with the tuned scorer placing
the jobs that wait (`forward.py`); the node after which they wait least is taken, if
that is better by more than what the policy holds against it. What the look ahead finds
is in turn what the network learns from (`update.py`).

Needs duration estimates, the queue, and the mix of jobs. The look ahead follows strict
fifo, and knows GPUs of one type; where that is not the world, or a gang is to be
placed, the policy alone decides. A decision costs one pass of the network over the
nodes, and up to K replays of the next jobs in line. Design ours, after the public
record of SoCC 2025 (doi 10.1145/3772052.3772242); a policy that proposes and a search
that verifies, as in expert iteration (Anthony et al., NeurIPS 2017).
"""

from collections.abc import Callable, Sequence

import numpy as np

from model.capacity import Ints
from model.config import Settings
from model.job import WHOLE_GPU, Job, Placements
from schedulers.base import DEFAULTS, World
from schedulers.decision import Decision, PlannedMove, Reshuffle
from schedulers.drr.checkpoint import initial
from schedulers.drr.experience import DRAWN, OWN, TAUGHT, Account, Transition
from schedulers.drr.forward import Running, forward, look_ahead, scratch
from schedulers.drr.kernel import BIG, Choice
from schedulers.drr.observation import Observation, observe
from schedulers.drr.policy import KAPPA, logits
from schedulers.drr.state import Floats, State
from schedulers.drr.teachers import teacher_weights
from schedulers.drr.tuned import TunedLinear
from schedulers.queue import PendingQueue

PATIENCE = 60.0  # s that each waiting job may wait for one unit of the scorer's liking
MARGIN = 1.05  # by how much a wait must beat that of the policy's first choice
MOST, WORK = 400, 150_000  # jobs of a look ahead; jobs x nodes of all its branches
EXACT = 4  # looks ahead, of which one is run to the end for the learner
COLD = 1000  # decisions of the teacher that come first when starting from scratch


class DRR(TunedLinear):
    """Start the job where the queue behind it waits least, as far as can be seen.

    Attributes
    ----------
    parameters : of the network; a learner may change them at any time.
    tell : takes the transitions, if anyone learns.
    exact_every : while someone learns, every so many looks ahead all branches are run
        to the end, so that their waits can be learned from.
    """

    name = "DRR"
    learns = True
    planners = ("published", "useful")

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        super().__init__(world, settings)
        self.weights = teacher_weights(settings.teacher)
        self.parameters = initial(settings.init_from, world.rng)
        self.tell: Callable[[Transition], object] | None = None
        self.exact_every = EXACT
        self._settings = settings
        self._pending = PendingQueue()
        self._account = Account(WHOLE_GPU * int(world.capacity.num_gpus.sum()))
        self._most = settings.look_ahead_jobs or self._affordable()
        self._last: Transition | None = None
        self._deciding = False  # else someone only asks what would be
        self._decided: dict[str, list[Transition]] = {}  # by job, if it is to start
        self._looks = self.view.covers and settings.queue == "fifo"
        self._cold = COLD * (settings.use_imitation and settings.init_from == "scratch")
        self._counts = {"decisions": 0, "looks": 0, "corrected": 0}

    def _affordable(self) -> int:
        """Return over how many jobs a look ahead takes milliseconds at most."""
        branches = max(1, self._settings.look_ahead)
        return max(1, min(MOST, WORK // branches // len(self.capacity.nodes)))

    def welcomes(self, moves: Sequence[PlannedMove], now: float) -> bool:
        """Return whether the queue waits no longer after a round, as far as seen."""
        pending = self._pending
        if not (pending.entries and self._can_look(pending.head)):
            return True
        head, settings = pending.head, self._settings
        line = self.view.line(head, pending, self._most)
        if not len(line.submit):  # nothing that is planned could start it
            return True
        behind = float(len(pending) - len(line.submit))

        def cost(job: Job) -> float:
            return settings.cost_of_move(job.num_gpus * job.num_workers)

        def wait(state: State, running: Running) -> float:
            number = len(line.submit)
            return forward(
                self.weights, state, self.view.tables, running, line, number, now,
                (-1, 0), behind, np.inf, scratch(state, line),
            )  # fmt: skip

        stay = wait(self.view.state(head.request), self.view.running(now))
        moved = wait(*self.view.moved(moves, head.request, now, cost))
        return moved <= stay

    def _can_look(self, job: Job) -> bool:
        """Return whether a look ahead knows where this job and its likes fit."""
        return self._looks and not job.gpu_type

    def measures(self) -> dict[str, float]:
        """Return what DRR alone can tell, for summary.json.

        drr_decisions : nodes chosen among two or more.
        drr_looks : how many of these were looked ahead from.
        drr_corrected : how many times that changed the policy's first choice.
        """
        return {f"drr_{name}": number for name, number in self._counts.items()}

    def arrived(self, job: Job, now: float) -> None:
        """See `Scheduler.arrived`."""
        self.view.joined(job)

    def departed(self, job: Job) -> None:
        """See `Scheduler.departed`."""
        self.view.left(job)

    def decide(self, pending: PendingQueue, now: float) -> Decision | Reshuffle | None:
        """See `Scheduler.decide`."""
        self._pending = pending
        self._account.note(pending.milli, now)
        self._deciding, self._decided = True, {}
        try:
            decision = super().decide(pending, now)
        finally:
            self._deciding = False
        if isinstance(decision, Decision):
            job = decision.job
            self._pass_on(self._decided.get(job.job_id, []), now)
            self._account.note(pending.milli - job.total_milli, now)
        return decision

    def place(self, job: Job, now: float) -> Placements | None:
        """See `Scheduler.place`; only what was decided last is told to the learner."""
        self._decided.pop(job.job_id, None)
        return super().place(job, now)

    def choose_node(self, job: Job, now: float) -> int | None:
        """See `PlacingScheduler.choose_node`; for planners, by the scorer alone."""
        if not self._deciding:
            return super().choose_node(job, now)
        rooms = int(np.count_nonzero(self.capacity.fits(job.request)))
        if rooms == 0:
            return None
        if rooms == 1:
            return super().choose_node(job, now)
        seen = observe(self.weights, self.view, self.capacity, self._pending, job, now)
        chosen = self._decide_node(job, seen, rooms, now)
        self._gpu = int(seen.gpus[chosen])
        return int(seen.nodes[chosen])

    def _decide_node(self, job: Job, seen: Observation, rooms: int, now: float) -> int:
        """Return the place of a node in what is seen: by teacher, draw, policy or look.

        The learner is told of it.
        """
        self._counts["decisions"] += 1
        settings, how = self._settings, OWN
        believed = logits(self.parameters, seen, settings.use_attn).astype(float)
        looks = self._can_look(job) and min(settings.look_ahead, rooms) > 1
        looks &= job.num_workers == 1  # a gang's workers are placed one by one
        if self._cold > 0:
            self._cold, how = self._cold - 1, TAUGHT
            believed = np.where(seen.scores < BIG, -KAPPA * seen.scores, -np.inf)
        elif self.tell and settings.look_ahead < 2:
            how = DRAWN
            believed = believed + self.world.rng.gumbel(size=len(believed))
        ways = (-believed).argsort(kind="stable")[: min(settings.look_ahead, rooms)]
        node, waits = int(believed.argmax()), np.full(len(ways), np.inf)
        if looks:
            node = self._look(job, seen, believed, ways, waits, now)
        if self.tell:
            if not (waits < BIG).all():
                ways, waits = ways[:0], waits[:0]
            told = Transition(seen, node, how, ways, waits)
            self._decided.setdefault(job.job_id, []).append(told)
        return node

    def _look(
        self,
        job: Job,
        seen: Observation,
        believed: Floats,
        ways: Ints,
        waits: Floats,
        now: float,
    ) -> int:
        """Return the way after which the queue waits least; *waits* gets the waits."""
        pending = self._pending
        waiting = len(pending)
        if waiting < 2:
            return int(ways[0])
        line = self.view.line(job, pending, self._most)
        if len(line.submit) < 2:
            return int(ways[0])
        self._counts["looks"] += 1
        exact = self.tell is not None and self._counts["looks"] % self.exact_every == 0
        against = PATIENCE * waiting * (believed[ways[0]] - believed[ways]) / KAPPA
        state = self.view.state(job.request)
        best = look_ahead(
            self.weights,
            state,
            self.view.tables,
            self.view.running(now),
            line,
            now,
            float(waiting - len(line.submit)),
            Choice(seen.nodes[ways], seen.gpus[ways], against),
            MARGIN,
            exact,
            waits,
            scratch(state, line),
        )
        self._counts["corrected"] += best > 0
        if not exact:  # of those that ended early, only the best wait is known
            waits.fill(np.inf)
        return int(ways[best])

    def _pass_on(self, transitions: Sequence[Transition], now: float) -> None:
        """Complete each last transition by its reward, and tell the learner of it."""
        fragmentation = self.world.fragmentation
        for transition in transitions:
            fragmented = fragmentation.total / fragmentation.weight / WHOLE_GPU
            came = self._account.settle(fragmented, now)
            if self._last is not None and self.tell is not None:
                reward, waited, elapsed = came
                self.tell(
                    self._last._replace(reward=reward, waited=waited, elapsed=elapsed)
                )
            self._last = transition
