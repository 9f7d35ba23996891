"""Tests that inject the faults: `make faults` runs them all and prints one table."""
