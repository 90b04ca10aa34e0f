"""The time by which leases are judged."""

from __future__ import annotations

from hz_team.adapters.lease_clock import Clock


class Clocks:
    """Three clocks that a test sets."""

    def __init__(self) -> None:
        self.server: int | None = None
        self.monotonic, self.wall = 100.0, 5000.0

    def clock(self) -> Clock:
        return Clock(lambda: self.server, lambda: self.monotonic, lambda: self.wall)


def test_without_a_server_it_is_the_ticks_own_time_and_what_passed_since() -> None:
    clocks = Clocks()
    clock = clocks.clock()
    clock.start(900)
    assert (clock.now(), clock.now(850), clock.now(950)) == (900, 900, 950)
    clocks.monotonic += 10
    assert clock.now() == 910
    clocks.wall += 3600  # the machine slept: the other clock stood still
    assert clock.now() == 4500
    clocks.wall -= 7200  # somebody set it back
    assert clock.now() == 910


def test_the_servers_time_counts_when_it_is_known_and_goes_on_between_its_words() -> None:
    clocks = Clocks()
    clock = clocks.clock()
    clock.start(900)
    clocks.server = 700
    assert (clock.now(), clock.now(900)) == (700, 700)
    clocks.monotonic += 5
    assert clock.now() == 705
    clocks.server = 704
    assert clock.now() == 704
    clocks.server = None
    clocks.monotonic += 5
    assert clock.now(2000) == 709


def test_what_is_left_is_not_changed_by_what_the_server_says_later() -> None:
    clocks = Clocks()
    clocks.server = 700
    clock = clocks.clock()
    clock.start(900)
    left = clock.countdown(730)
    assert left() == 30
    clocks.server = 500
    clock.now()
    clocks.wall += 12
    assert left() == 18
