"""Detection: where are the objects of a class?"""
