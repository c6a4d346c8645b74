"""The numbers that decide: defaults and thresholds, in one place. A profile or flag overrides those named in Config."""

# Shape of a run.
NUM_ITEMS = 32
NUM_RUNS = 6  # timed values per process
BLOCKS = 2  # alternations inside a process; even, so that reversing the order cancels a linear drift
PROCESSES = 5  # fresh worker processes per library
SEED = 20261201
THREADS = 1

# A timed value lasts at least this long: shorter passes over the items are looped.
MIN_VALUE_SEC = 0.01
# One pass over the items is run untimed before the first value of every block.
WARMUPS = 1

# Preflight.
SLOW_THRESHOLD_SEC = 0.05  # per image; at or over it a transform is recorded slow
PREFLIGHT_ITEMS = 10

# Limits of one measurement, enforced from outside its process.
TIMEOUT_SEC = 120.0
START_TIMEOUT_SEC = 300.0  # import and decoding
MEMORY_LIMIT_FRACTION = 0.8  # of the memory available when the run starts

# Statistics.
CONFIDENCE = 0.95  # of every printed interval
VERDICT_CONFIDENCE = 0.99  # an interval this sure must exclude a ratio of 1 before anybody is called faster
MIN_EFFECT = 0.02  # and the ratio must differ from 1 by at least this
UNSTABLE_CV = 0.10  # coefficient of variation of process medians over which a result is marked

# What is kept of an output.
THUMBNAIL_PX = 128
ERROR_LINES = 6  # last traceback lines that are recorded
