"""What `import vocboard` offers to notebooks and scripts; `vocboard/__init__.py` has the names."""
