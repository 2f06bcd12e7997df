"""Classes that look alike, of which a detector that confuses them is wrong in a milder way.

Source: D. Hoiem, Y. Chodpathumwan and Q. Dai, "Diagnosing Error in Object Detectors", ECCV 2012, section 2.1. Classes
of other editions have no groups: all other classes are dissimilar.
"""

GROUPS: tuple[frozenset[str], ...] = (
    frozenset({"aeroplane", "bicycle", "boat", "bus", "car", "motorbike", "train"}),  # vehicles
    frozenset({"bird", "cat", "cow", "dog", "horse", "person", "sheep"}),  # animals, people among them
    frozenset({"chair", "diningtable", "sofa"}),  # furniture
    frozenset({"aeroplane", "bird"}),  # what is in the air
)


def similar_to(name: str) -> frozenset[str]:
    """Return the other classes of the groups of a class.

    >>> sorted(similar_to("sofa"))
    ['chair', 'diningtable']
    """
    return frozenset().union(*(group for group in GROUPS if name in group)) - {name}
