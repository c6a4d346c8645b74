"""The commands of `bench` that come with bench_core, in the order people need them.

Each is a module of this package, loaded only when it is called, with `HELP` (one line), `add_arguments(parser)` and
`run(args)`, which returns the exit code. Another package offers a command with a module of the same form, registered
under the entry point group `bench.commands`: `report = "bench_report.command"`.
"""

NAMES = ("plan", "run", "validate", "list", "doctor", "sample", "env", "lock")
