"""Classification: is there an object of a class in the image?"""
