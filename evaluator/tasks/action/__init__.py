"""Action classification: is a given person performing an action?"""
