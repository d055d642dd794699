"""Parameters of a generated suite, and the ranges that can be generated."""

from __future__ import annotations

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.worlds.generation.draws import SPLITS

WORDINGS = ("listed", "free")
SHORTEST, LONGEST = 30, 72
"""Steps of a generated scenario. Below, no session has room for its story; above, the evidence of
the last states no longer fits into a request of 4,000 tokens."""
CHANGES_TOLERANCE = 2
"""The changes of a scenario differ from `changes` by at most this many."""
NOISE_TOLERANCE = 0.1
"""The share of ticks with evidence that changes nothing differs from `noise` by at most this."""
_MOST_SCENARIOS = 1000


class Parameters(msgspec.Struct, frozen=True):
    """Everything a generated suite depends on, apart from the generator itself.

    `noise` is the share of ticks that carry at least one event that must change nothing.
    """

    seed: int
    families: tuple[str, ...]
    per_family: int = 10
    steps: int = 60
    changes: int = 22
    noise: float = 0.5
    wording: str = "listed"
    split: str = "eval"

    def check(self) -> None:
        """Refuse what cannot be met, with the range that can."""
        least, most = change_range(self.steps)
        ranges = (
            ("--per-family", self.per_family, 1, _MOST_SCENARIOS),
            ("--steps", self.steps, SHORTEST, LONGEST),
            ("--changes", self.changes, least, most),
            ("--noise", self.noise, 0.0, 0.8),
            ("--seed", self.seed, 0, 2**63 - 1),
        )
        for option, value, low, high in ranges:
            if not low <= value <= high:
                more = f" with --steps {self.steps}" if option == "--changes" else ""
                raise InputError(
                    f"{option} {value} cannot be generated",
                    fix=f"choose {low} to {high}{more}",
                )
        for option, word, known in (
            ("--split", self.split, SPLITS),
            ("--wording", self.wording, WORDINGS),
        ):
            if word not in known:
                raise InputError(
                    f"{option} {word!r} is not known", fix=f"choose {' or '.join(known)}"
                )


def change_range(steps: int) -> tuple[int, int]:
    """The least and the most changes that a scenario of this length can have.

    >>> change_range(60)
    (12, 24)
    """
    return -(-steps // 5), steps * 2 // 5
