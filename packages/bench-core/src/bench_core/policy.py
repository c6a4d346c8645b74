"""The numbers that decide: defaults and thresholds, in one place. A profile or flag overrides those named in Config."""

# Shape of a run.
NUM_ITEMS = 32
NUM_RUNS = 5  # timed values per process
BLOCKS = 1  # measuring processes per worker process and transform, which share the values
PROCESSES = 10  # fresh worker processes per library: the unit that intervals come from
SEED = 20261201
THREADS = 1

# A timed value lasts at least this long: shorter passes over the items are looped.
MIN_VALUE_SEC = 0.01
# One pass over the items is run untimed before the first value of every block.
WARMUPS = 1
# Before every value, after the others' turns: the items are copied, and the operation runs untimed for so long.
WAKE_SEC = 0.005

# Passes over the items that the no-op row of a block is the mean of; the copy beside it takes one.
NOOP_PASSES = 20

# Preflight.
SLOW_THRESHOLD_SEC = 0.05  # per image; at or over it a transform is recorded slow
PREFLIGHT_ITEMS = 10

# Limits of one measurement, enforced from outside its process.
TIMEOUT_SEC = 120.0
TIMEOUT_FACTOR = 10.0  # or this many times what the preflight lets expect, if that is longer
START_TIMEOUT_SEC = 300.0  # import and decoding
GRACE_SEC = 15.0  # beyond these, until the conductor no longer waits for the worker that enforces them
STOP_SEC = 2.0  # a worker that is told to stop has so long to do it
POLL_SEC = 0.25  # between looks at whether a process that says nothing still lives
ENDING_SEC = 1.0  # a process that closed its pipe has so long to be seen to end
MEMORY_LIMIT_FRACTION = 0.8  # of the memory available when the run starts

# Statistics.
CONFIDENCE = 0.95  # of every printed interval
INTERVAL_PROCESSES = 3  # of fewer no interval is printed: of two, Student's t reaches 13 standard errors to each side
VERDICT_CONFIDENCE = 0.995  # an interval this sure must exclude a ratio of 1 before anybody is called faster
MIN_EFFECT = 0.02  # and the ratio must differ from 1 by at least this
UNPAIRED_MIN_EFFECT = 1.0  # twice as fast, between two runs: run after run, one library scatters by up to 27 %
RUN_MIN_EFFECT = 0.05  # `bench compare`: a change between runs that is smaller is not called one
RUN_FALSE_CALLS = 0.01  # and so much of what is called slower (or faster) may be false
UNSTABLE_CV = 0.10  # coefficient of variation of process medians over which a result is marked

# What is kept of an output.
THUMBNAIL_PX = 128
ERROR_LINES = 6  # last traceback lines that are recorded
LOG_MAX_BYTES = 4 * 1024**2  # of what one worker's library prints; it may print without end

# What a run is when nobody says otherwise, and where it goes, below the checkout.
RUNS = "results/runs"
DEVICE = "cpu"
ISOLATION = "fork"

# The plan's estimate of its own duration, from 2-core machines; it decides nothing.
ESTIMATE_START_SEC = 3.0  # a worker process: interpreter, one import of torch, decoding the items; one processor each
ESTIMATE_BLOCK_SEC = 0.1  # fork, pyperf's exchange and the reference rows, for every block
ESTIMATE_ITEM_SEC = 0.001  # a typical transform of a typical image
ESTIMATE_ITEMS = 64  # when all items are asked for: the embedded sample has so many

# What `bench doctor` warns about.
LOAD_FRACTION = 0.25  # 1-minute load over the number of processors
SWAP_USED_BYTES = 64 * 1024 * 1024
ENVIRONMENT_BYTES = 8 * 1024**3  # free disk that building one environment may need
RUN_BYTES = 512 * 1024**2  # free disk below which a run is likely to be cut short

# Scores of models.
# Intervals are drawn again when a run is read: other numbers for them need another schema version of scores.
BOOTSTRAP_RESAMPLES = 2000  # of the groups of structures, for the interval of a metric
BOOTSTRAP_VALUES = (
    400_000_000  # values looked at for quantiles and metrics of one's own: more, and there are fewer resamples
)
BOOTSTRAP_LEAST = 200  # but never fewer than these
REDRAWN_GROUPS = 25_000  # over more groups a reader does not draw intervals again: seconds, and half a gigabyte
BOOTSTRAP_LEAST_GROUPS = 5  # over fewer groups no interval is given
PERMUTATIONS = 9999  # flips of the signs of groups, for the p-value of a difference between two models
SCORE_BATCH_SIZE = 8  # structures a model is given at once
SCORE_SILENCE_SEC = 600.0  # a model that finishes no batch for so long is given up
SCORE_RUNS = "results/scores"
SCORE_CACHE = ".data/scores"  # datasets and neighbour lists by content, shared by the environments
