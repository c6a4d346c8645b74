"""The metrics a configuration may name: built in, registered, or a function of the user's own module."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

import msgspec
from bench_core import metrics, suggest
from bench_core.errors import BenchError
from bench_core.metrics import Floats, Function, Metric

_registered: dict[str, Function] = {}


class MetricFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A metric of one's own: `function` is "module:function", called with reference and predicted values.

    The values are in the unit of the target's other columns, and so is the result, unless `unit` says another one; an
    empty `unit` is a pure number. A module beside the configuration comes before an installed one.
    """

    name: str
    function: str
    unit: str | None = None
    folder: str | None = None  # in which the module lies; None where it is installed


def register_metric(name: str) -> Callable[[Function], Function]:
    """Offer a function of reference and predicted values, both of shape (m,), under a name.

    Raises:
        ValueError: the name is a built-in metric's.
    """
    if metrics.is_built_in(name):
        raise ValueError(f"{name} is a built-in metric")

    def register(function: Function) -> Function:
        _registered[name] = function
        return function

    return register


def registered_metrics() -> tuple[str, ...]:
    return tuple(_registered)


def find_metric(name: str, own: Sequence[MetricFile], factor: float = 1.0) -> Metric:
    """The metric called `name`, which the configuration's `own` come before.

    A metric of one's own is given values that are multiplied by `factor`.

    Raises:
        BenchError: there is none, or its function cannot be imported.
    """
    files = {metric.name: metric for metric in own}
    if name in files:
        return metrics.custom(_scaled(_imported(files[name]), factor))
    if name in _registered:
        return metrics.custom(_scaled(_registered[name], factor))
    if not metrics.is_built_in(name):
        raise suggest.unknown("metric", name, [*metrics.BUILT_IN, *files, *_registered])
    return metrics.built_in(name)


def _scaled(function: Function, factor: float) -> Function:
    def scaled(reference: Floats, predicted: Floats, /) -> float:
        return float(function(reference * factor, predicted * factor))

    return scaled


def _imported(metric: MetricFile) -> Function:
    where = f"custom metric {metric.name!r}: {metric.function}"
    module, _, name = metric.function.partition(":")
    try:
        with _first_on_path(metric.folder):
            found: Function = getattr(import_module(module), name)
    except Exception as error:  # whatever a module does when it is imported
        reason = f"{type(error).__name__}: {error}"
        raise BenchError(f"{where} cannot be imported ({' '.join(reason.split())})") from error
    if not callable(found):
        raise BenchError(f"{where} is no function")
    return found


@contextmanager
def _first_on_path(folder: str | None) -> Iterator[None]:
    """While it lasts, modules of `folder` come before installed ones."""
    if folder is None:
        yield
        return
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
