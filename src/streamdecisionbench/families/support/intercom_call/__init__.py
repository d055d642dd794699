"""Support B: two parcels and two intercom devices."""
