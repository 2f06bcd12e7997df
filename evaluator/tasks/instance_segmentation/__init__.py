"""Instance segmentation: which pixels belong to each object of a class?"""
