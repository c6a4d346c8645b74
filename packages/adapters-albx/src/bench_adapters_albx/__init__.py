"""Adapter for AlbumentationsX."""

import os

# Read once, when albumentations is imported: without them it posts usage statistics from a thread and writes a
# user-id file. Here, so that no module of this package can import the library before they stand.
os.environ["ALBUMENTATIONS_NO_TELEMETRY"] = "1"
os.environ["ALBUMENTATIONS_OFFLINE"] = "1"
