"""What an order's job is given to read: each watch's snapshot against the job's base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team import registry, snapshot
from hz_team.errors import RemoteError
from hz_team.model.facet import Facets

if TYPE_CHECKING:
    from hz_team.model.facet import Item
    from hz_team.model.observation import Observations
    from hz_team.model.order import Order
    from hz_team.model.state import View
    from hz_team.ports import World


class Material:
    """Loads snapshots of one tick: those just seen, the others from the state, each once."""

    def __init__(self, world: World, view: View, seen: Observations) -> None:
        """Take what the tick looked at."""
        self._world, self._view = world, view
        looks = seen.looks.values()
        self._fresh = {look.cursor.snapshot: look.document for look in looks if look.document is not None}
        self._items: dict[str, tuple[Item, ...]] = {}
        self._kinds = {watch.id: watch.kind for watch in world.config.watches}

    def facets(self, order: Order) -> dict[str, Facets]:
        """Return what the watches of an order saw, by watch id. Raises RemoteError if a snapshot is lost."""
        return {
            watch: snapshot.compare(
                self._load(name),
                self._load(order.base.get(watch, "")),
                accumulates=registry.accumulates(self._kinds.get(watch, "")),
            )
            for watch, name in order.snapshot.items()
        }

    def sources(self, order: Order) -> dict[str, int]:
        """Return how many items of each watch are new to the order."""
        return {watch: len(facets.added) for watch, facets in self.facets(order).items()}

    def _load(self, name: str) -> tuple[Item, ...]:
        if not name:
            return ()
        if name not in self._items:
            self._items[name] = snapshot.items(self._bytes(name))
        return self._items[name]

    def _bytes(self, name: str) -> bytes:
        if name in self._fresh:
            return self._fresh[name] or b""
        path = f"facets/{name[:2]}/{name}.json"
        content = self._world.state.read(self._view, [path]).get(path)
        if content is None:  # nothing is known of it, and *unknown* is not *empty*: all would come again as new
            raise RemoteError(f"{path} is missing on the state branch; `hz-team receipts verify` tells what else is")
        return content


def given(items: dict[str, tuple[Item, ...]]) -> dict[str, Facets]:
    """Return items that come from a person's file or a look just now, all of them new."""
    return {watch: snapshot.compare(found, ()) for watch, found in items.items()}
