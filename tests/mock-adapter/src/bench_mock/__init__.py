"""Libraries that exist only to test bench."""
