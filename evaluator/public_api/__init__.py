"""The public API of `import vocboard`; `vocboard/__init__.py` exports the names."""
