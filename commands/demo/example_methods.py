"""The methods of the demo's example challenges."""

from dataclasses import replace

from vocboard.commands.demo.methods import Method
from vocboard.evaluator.editions import Training


def _method(name: str, description: str, contributors: str, affiliation: str, skill: float) -> Method:
    return Method(name, description, contributors, affiliation, Training.ANY, skill)


QUAYSIDE = _method(
    "Quayside",
    "A one-stage detector with a feature pyramid, fine-tuned on harbour scenes.",
    "M. Sorensen, I. Kaya",
    "Coastal Perception Group",
    0.72,
)
TIDELINE = _method(
    "Tideline",
    "Objects predicted as a set; images of all seasons during training.",
    "L. Haddad, T. Virtanen",
    "Open Perception Lab",
    0.85,
)
MOORING = _method(
    "Mooring",
    "A linear layer on the features of a frozen network, with boxes from a region proposer.",
    "K. Lindqvist, E. Petrova",
    "Northern University",
    0.46,
)
LIGHTHOUSE = _method(
    "Lighthouse",
    "An ensemble of three detectors, merged by weighted boxes.",
    "R. Okafor, S. Ito",
    "Lakeside Computer Vision Group",
    0.8,
)
WATERLINE = _method(
    "Waterline",
    "Templates applied to an image pyramid. A baseline.",
    "F. Brandt",
    "Port Authority Research",
    0.24,
)
BREAKWATER = _method(
    "Breakwater",
    "Boxes regressed from a grid of anchors in one pass.",
    "C. Duarte",
    "Institute for Visual Geometry",
    0.63,
)
FIRST_TRY = _method(
    "First try",
    "A network trained on the validation images for an evening.",
    "Demo Participant",
    "vocboard demo",
    0.5,
)

ORCHARDIST = _method(
    "Orchardist",
    "Colour histograms of proposals, classified by a forest of decision trees.",
    "P. Novak",
    "Institute for Visual Geometry",
    0.38,
)
CANOPY = _method(
    "Canopy",
    "A transformer over image patches, trained with occlusions.",
    "H. Nakamura, J. Moreau",
    "Rural Robotics",
    0.82,
)
WINDFALL = _method(
    "Windfall",
    "A small network for a camera on a tractor.",
    "O. Jansen",
    "Rural Robotics",
    0.58,
)
GRAFTED = _method(
    "Grafted",
    "A detector for street scenes, with a new head for fruit.",
    "A. Almeida",
    "Institute for Visual Geometry",
    0.68,
)
LEAKED = _method(
    "Perfect harvest",
    "A very large model.",
    "V. Quick",
    "Independent",
    0.97,
)


def improved(method: Method, name: str, skill: float) -> Method:
    """Return a later method of the same authors."""
    return replace(method, name=name, skill=skill)
