"""The metrics a configuration may name: built in, registered, or a function of the user's own module."""

from collections.abc import Callable, Sequence
from importlib import import_module

from bench_core import metrics
from bench_core.errors import BenchError
from bench_core.metrics import Function, Metric

_registered: dict[str, Function] = {}


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


def find_metric(name: str, own: Sequence[tuple[str, str]]) -> Metric:
    """The metric called `name`; `own` are (name, "module:function") of the configuration.

    Raises:
        BenchError: the function cannot be imported.
    """
    places = dict(own)
    if name in places:
        return metrics.custom(_imported(name, places[name]))
    if name in _registered:
        return metrics.custom(_registered[name])
    return metrics.built_in(name)


def _imported(name: str, place: str) -> Function:
    module, _, function = place.partition(":")
    try:
        found: Function = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise BenchError(f"custom metric {name!r}: {place} cannot be imported: {error}") from error
    return found
