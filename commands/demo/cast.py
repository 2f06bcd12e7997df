"""The demo's methods, with different quality: of its main challenge, and of its examples."""

from dataclasses import replace

from vocboard.commands.demo.methods import Method
from vocboard.commands.demo.scenes import PERSON
from vocboard.evaluator.editions import Training

DECLARATIONS = {
    Training.TRAINVAL: {
        "training_data": "The provided trainval data alone.",
        "training_annotation": "other_annotation",
    },
    Training.ANY: {
        "training_data": "ImageNet and the provided trainval data.",
        "training_annotation": "other_annotation",
        "flickr_images": "no",
    },
}

PUBLISHED = (
    Method(
        name="Part-based mixture",
        description="A mixture of deformable part models, rescored by context.",
        contributors="A. Almeida, P. Novak",
        affiliation="Institute for Visual Geometry",
        training=Training.TRAINVAL,
        skill=0.62,
    ),
    Method(
        name="Bag of words",
        description="Dense descriptors, a vocabulary of 4,000 words and a linear classifier.",
        contributors="K. Lindqvist",
        affiliation="Northern University",
        training=Training.TRAINVAL,
        skill=0.36,
    ),
    Method(
        name="Sliding window",
        description="One template per class, applied to an image pyramid. A baseline.",
        contributors="The organisers",
        affiliation="vocboard demo",
        training=Training.TRAINVAL,
        skill=0.2,
    ),
    Method(
        name="Hierarchical regions",
        description="Regions of a segmentation tree, described by shape, colour and texture.",
        contributors="S. Ito, M. Braun",
        affiliation="Lakeside Computer Vision Group",
        training=Training.TRAINVAL,
        skill=0.5,
    ),
    Method(
        name="Network from scratch",
        description="A convolutional network trained on the provided images alone.",
        contributors="T. Virtanen",
        affiliation="Open Perception Lab",
        training=Training.TRAINVAL,
        skill=0.7,
    ),
    Method(
        name="Region proposals",
        description="Proposals from a segmentation tree, classified by a pretrained network.",
        contributors="R. Okafor, S. Ito, M. Braun",
        affiliation="Lakeside Computer Vision Group",
        training=Training.ANY,
        skill=0.74,
    ),
    Method(
        name="Set prediction",
        description="Objects predicted as a set, matched to the ground truth during training.",
        contributors="L. Haddad, T. Virtanen",
        affiliation="Open Perception Lab",
        training=Training.ANY,
        skill=0.88,
    ),
    Method(
        name="Anchor grid",
        description="Boxes regressed from a grid of anchors in one pass.",
        contributors="C. Duarte",
        affiliation="Institute for Visual Geometry",
        training=Training.ANY,
        skill=0.66,
    ),
    Method(
        name="Frozen features",
        description="A linear layer on the features of a frozen network.",
        contributors="K. Lindqvist, E. Petrova",
        affiliation="Northern University",
        training=Training.ANY,
        skill=0.44,
    ),
    Method(
        name="Distilled student",
        description="A small network taught by Set prediction.",
        contributors="L. Haddad",
        affiliation="Open Perception Lab",
        training=Training.ANY,
        skill=0.79,
    ),
    Method(
        name="People and vehicles",
        description="Tuned for people and four kinds of vehicles; the other classes were not entered.",
        contributors="J. Moreau",
        affiliation="Traffic Observatory",
        training=Training.ANY,
        skill=0.82,
        only_classes=frozenset({PERSON, "car", "bus", "bicycle", "motorbike", "people", "cars"}),
    ),
)

# The participant's own, to show an unpublished and a withdrawn submission.
PRIVATE = Method(
    name="First attempt",
    description="Scored, and not published yet.",
    contributors="Demo Participant",
    affiliation="vocboard demo",
    training=Training.TRAINVAL,
    skill=0.55,
)
EXAMPLE = Method(  # for visitors to upload
    name="Example",
    description="An archive to upload.",
    contributors="Demo Participant",
    affiliation="vocboard demo",
    training=Training.TRAINVAL,
    skill=0.6,
)
WITHDRAWN = Method(
    name="Wrong checkpoint",
    description="Withdrawn by its author.",
    contributors="Demo Participant",
    affiliation="vocboard demo",
    training=Training.ANY,
    skill=0.1,
)


# Of the examples.


def _method(name: str, description: str, contributors: str, affiliation: str, skill: float, **figures: float) -> Method:
    return Method(name, description, contributors, affiliation, Training.ANY, skill, figures=figures)


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
    parameters=0.4,
    ms_per_image=31,
)
CANOPY = _method(
    "Canopy",
    "A transformer over image patches, trained with occlusions.",
    "H. Nakamura, J. Moreau",
    "Rural Robotics",
    0.82,
    parameters=86.6,
    ms_per_image=64,
)
WINDFALL = _method(
    "Windfall",
    "A small network for a camera on a tractor.",
    "O. Jansen",
    "Rural Robotics",
    0.58,
    parameters=3.2,
    ms_per_image=4.1,
)
GRAFTED = _method(
    "Grafted",
    "A detector for street scenes, with a new head for fruit.",
    "A. Almeida",
    "Institute for Visual Geometry",
    0.68,
    parameters=41.1,
    ms_per_image=22.5,
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
