"""Uploads: limits, and how a body is streamed, validated and stored."""
