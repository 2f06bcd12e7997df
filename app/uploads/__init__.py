"""Uploads: who may begin one and what it counts against, and how its body is streamed, checked and stored."""
