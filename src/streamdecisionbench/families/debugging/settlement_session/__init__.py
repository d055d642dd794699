"""Debugging B: a settlement integration test under the debugger."""
