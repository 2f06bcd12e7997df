"""A challenge whose edition defines declarations: two numbers and a choice."""

from typing import Any

from sqlalchemy.orm import Session

from tests.support.factories import make_challenge
from tests.support.small_world import packed
from vocboard.app.challenges.models import Challenge

EDITION_FILE = """\
name = "Street"
title = "Street"
classes = ["car", "tram"]

[declarations.parameters]
title = "Parameters"
kind = "number"
unit = "million"

[declarations.ms_per_image]
title = "Time"
kind = "number"
unit = "ms per image"
required = false

[declarations.licence]
title = "Licence"
kind = "choice"
choices = { open = "Apache 2.0", none = "not released" }
required = false

[tasks.detection]
file = "{competition}_det_{image_set}_{class}.txt"
metric = "average_precision"
interpolation = "area"
declarations = { any = ["training_data", "parameters", "ms_per_image", "licence"] }

[[competitions]]
number = 1
task = "detection"
training = "any"
image_set = "test"
"""
RESULTS = packed([(f"comp1_det_test_{name}.txt", b"000001 0.5 1 1 9 9\n") for name in ("car", "tram")])
DECLARED = {"training_data": "COCO", "parameters": "25.6"}  # what is required


def street_challenge(session: Session, **given: Any) -> Challenge:
    """Make a challenge in comp1 of the edition; it takes submissions."""
    edition = {"edition": "", "edition_file": EDITION_FILE, "competitions": ["comp1"]}
    return make_challenge(session, **{**edition, "quota_count": 10, "slug": "street", **given})
