"""The lease and record protocol holds in every state within the bounds; leave one demand out and it does not.

Each counterexample is written to standard output: `python -m pytest tests/protocol -rP -n0` shows them.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import pytest

from tests.protocol import check, explore, model
from tests.protocol.model import Bounds, Rules

CALM = Bounds(faults=0, others=0, renewals=0)
FAITHFUL = {
    "one-fault": Bounds(faults=1, others=0, renewals=0, horizon=7),
    "renewals-and-another-job": Bounds(faults=0, others=1, renewals=1, horizon=5),
    "one-fault-and-another-job": Bounds(faults=1, others=1, renewals=0, horizon=4),
    "two-faults": Bounds(faults=2, others=0, renewals=0, horizon=3),
    "three-holders": Bounds(holders=3, faults=0, others=0, renewals=0, horizon=5),
}
ACTIONS = {
    "one-fault": (
        *("acquire", "claim", "claim is refused", "claim, cut-before", "claim, cut-after", "reads again"),
        *("record rendered", "record rendered, cut-before", "record rendered, cut-after", "record rendered is refused"),
        *("record attempt", "record published", "fetch and compare", "effect", "effect, no answer", "finds the effect"),
        *("effect arrives late", "effect never arrives", "takeover by clock", "takeover by run end"),
        *("stop", "continue", "continue, the timer goes off", "crash", "the timer goes off"),
        *("delete-ref", "reset-branch to 0", "reset-branch to 1", "time passes"),
    ),
    "renewals-and-another-job": ("renew", "renew is refused", "release", "release is refused", "another job records"),
}
"""What a search must have tried: a model in which nothing happens breaks nothing either."""


class Mutant(NamedTuple):
    """A protocol with one demand left out, where that is seen, and what its shortest counterexample ends with."""

    rules: Rules
    bounds: Bounds
    broken: str
    last: str
    invariants: tuple[check.Invariant, ...] = ()


REMOVAL = Bounds(others=0, renewals=0, horizon=2)
SLOW_ARRIVAL = Bounds(faults=0, others=0, renewals=0, late=1, horizon=8)
"""With a margin of 3, lateness and skew together are less than the margin."""
MUTANTS = {
    "no-nonce": Mutant(Rules(nonce=False), CALM, "two processes hold the lease", "B: reads again"),
    "no-nonce-effects": Mutant(
        Rules(nonce=False), CALM, "the key has two effects", "effect arrives late", (check.one_effect,)
    ),
    "no-ancestor-check": Mutant(
        Rules(ancestor=False),
        Bounds(renewals=0),
        "a record that stands was called lost",
        "A: fetch and compare",
    ),
    "plain-lease-push": Mutant(
        Rules(expects_old=False), Bounds(others=0, horizon=4), "a lease of an earlier generation is alive", "B: claim"
    ),
    "expected-is-not-the-parent": Mutant(
        Rules(expects_parent=False),
        Bounds(faults=0, renewals=0),
        "an acknowledged receipt is missing",
        "A: record rendered",
    ),
    "margin-0": Mutant(Rules(margin=0), CALM, "two processes hold the lease", "B: claim"),
    "margin-0-effects": Mutant(
        Rules(margin=0, quiet=0), SLOW_ARRIVAL, "the key has two effects", "effect arrives late", (check.one_effect,)
    ),
    "not-found-trusted-at-once": Mutant(Rules(quiet=0), CALM, "the key has two effects", "effect arrives late"),
    "no-self-fence": Mutant(Rules(fence=-9), CALM, "the key has two effects", "effect arrives late"),
    "end-of-the-lease-not-recorded": Mutant(
        Rules(recorded_end=False), REMOVAL, "the key has two effects", "effect arrives late"
    ),
    "absent-taken-for-unchanged": Mutant(
        Rules(reread=False), REMOVAL, "a lease of an earlier generation is alive", "B: claim"
    ),
    "lease-counts-the-whole-ledger": Mutant(
        Rules(own_seq=False), Bounds(renewals=0, horizon=3), "the slot has two recorded renders", "B: record rendered"
    ),
}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", FAITHFUL)
def test_every_invariant_holds_in_every_state(name: str) -> None:
    found = check.search(Rules(), FAITHFUL[name])
    sys.stdout.write(f"{found.states} states, {found.moves} moves, depth {found.depth}, {found.seconds:.1f} s\n")
    assert not found.broken, explore.written(found)
    assert set(ACTIONS.get(name, ())) <= found.actions.keys()


@pytest.mark.parametrize("name", MUTANTS)
def test_a_demand_left_out_is_seen(name: str) -> None:
    mutant = MUTANTS[name]
    found = check.search(mutant.rules, mutant.bounds, *mutant.invariants)
    sys.stdout.write(f"{name}: {found.states} states\n{explore.written(found)}\n")
    assert found.broken == mutant.broken
    assert found.trace[0][0] == "start"
    assert found.trace[-1][0] == mutant.last


def test_the_margin_alone_keeps_effects_single_while_lateness_and_skew_are_less() -> None:
    found = check.search(Rules(margin=3, quiet=0), SLOW_ARRIVAL)
    assert not found.broken, explore.written(found)


def test_an_approved_order_that_nobody_may_send_is_seen() -> None:
    found = check.search(Rules(fence=3), CALM)
    assert found.broken == "an approved order can never be closed"


def test_what_the_ledger_calls_published_is_compared_with_the_target() -> None:
    token = model.Token(1, 1, 2, 1)
    branch = (model.Entry("rendered", token), model.Entry("published", token))
    world = next(model.starts(CALM))._replace(branch=branch)
    assert check.true_ledger(world) == "published without an effect"
    assert not check.true_ledger(world._replace(effects=1))


def test_a_generation_that_does_not_grow_is_seen() -> None:
    branch = tuple(model.Entry("attempt", model.Token(nonce, 1, 2, 1)) for nonce in (1, 2))
    assert check.growing(next(model.starts(CALM))._replace(branch=branch)) == "a generation does not grow"


def test_the_shortest_way_is_found_and_written() -> None:
    found = explore.explore(
        (0,),
        lambda n: ((f"A: add {step}", n + step) for step in (1, 2) if n < 5),
        lambda n: "five" if n == 5 else "",
        str,
    )
    assert [state for _, state in found.trace] == ["0", "1", "3", "5"]
    assert found.actions.keys() == {"add 1", "add 2"}
    assert explore.written(found).splitlines() == [
        "  0  start     0",
        "  1  A: add 1  1",
        "  2  A: add 2  3",
        "  3  A: add 2  5",
        "     broken: five",
    ]
