"""The random draws behind intervals and tests of scores: the same for every model of a run, and when it is read."""

from bench_core.metrics import Ints, resample_weights
from bench_core.seeds import derive_seed


class Draws:
    """The resamples and flips of a run's seed. Resamples are kept: over many groups drawing them takes longest."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._weights: dict[int, Ints] = {}

    def weights(self, groups: int) -> Ints:
        """How often each of so many groups is drawn, in each resample: the same as behind the scores' own intervals."""
        if groups not in self._weights:
            self._weights = {groups: resample_weights(groups, derive_seed(self._seed, "bootstrap"))}  # one at a time
        return self._weights[groups]

    @property
    def flips(self) -> int:
        """The seed of flips."""
        return derive_seed(self._seed, "flips")
