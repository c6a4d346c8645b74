"""The plan: which jobs run, which files they write, how long it should take. Imports nothing heavy."""

import msgspec


class Job(msgspec.Struct, frozen=True):
    """One library in one cell, scenario and mode: one result file."""

    library: str
    group: str
    media: str
    scenario: str
    mode: str
    device: str
    transforms: tuple[str, ...]  # to be measured, in catalog order
    unsupported: tuple[str, ...]  # asked for, not offered by the library
    excluded: dict[str, str]  # transform -> the matrix's reason

    @property
    def file_name(self) -> str:
        """Path of the result file inside the run directory."""
        device = "" if self.device == "cpu" else f"_dev-{self.device}"
        return f"{self.scenario}/{self.library}_{self.mode}{device}_results.json"


class Plan(msgspec.Struct, frozen=True):
    jobs: tuple[Job, ...]
    excluded_jobs: dict[str, str]  # "library, scenario, mode, device" -> the matrix's reason
    estimated_minutes: float
