"""Attacks on the ground truth of a running demo, through what a participant can upload and fetch."""
