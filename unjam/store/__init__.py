"""Postgres holds the truth: puzzles, answers, batches and the queue of work."""
