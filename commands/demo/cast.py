"""The demo's methods: at least five per competition, with different quality."""

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
