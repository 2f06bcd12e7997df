"""Segmentation: which class does each pixel belong to?"""
