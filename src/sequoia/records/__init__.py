"""From a log of visits and sightings to models, beliefs and plans."""

from sequoia.records.log import Log, Seen, simulate_log

__all__ = ["Log", "Seen", "simulate_log"]
