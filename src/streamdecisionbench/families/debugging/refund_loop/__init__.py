"""Debugging A: a TypeScript refund quote that is tested in a watch loop."""
