"""A leaderboard from verified bundles: one static page, a report beside every row."""
