"""Ground truth of detection and layout: the boxes of annotated objects, people and parts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.annotations import AnnotatedObject, Box
from evaluator.editions import LayoutProtocol, TaskRules
from evaluator.ground_truth.image_set_files import Listed, Person, file_of
from evaluator.ground_truth.material import PERSON, Material, people_array
from evaluator.ground_truth.model import DetectionTruth, Key, LayoutTruth
from evaluator.image_sets import ImageSet


def to_detect(listed: Listed, material: Material) -> tuple[ImageSet, DetectionTruth | str]:
    """Return the public half and the objects of the edition's classes, or why there are none to be had.

    Objects of other classes are no part of the challenge and are left out.
    """
    image_set = ImageSet(listed.images, material.sizes(listed.images))
    if reason := material.lacks_annotations(listed):
        return image_set, reason
    class_index = {name: index for index, name in enumerate(material.edition.classes)}
    found = [
        (image, class_index[item.name], item)
        for image, name in enumerate(listed.images)
        for item in material.objects(name)
        if item.name in class_index
    ]
    return image_set, DetectionTruth(
        image=np.array([image for image, _, _ in found], dtype=np.int32),
        class_index=np.array([index for _, index, _ in found], dtype=np.int16),
        box=_boxes([item.box for _, _, item in found]),
        difficult=np.array([item.difficult for _, _, item in found], dtype=np.bool_),
    )


def to_lay_out(key: Key, listed: Listed, rules: TaskRules, material: Material) -> tuple[ImageSet, LayoutTruth | str]:
    """Return the public half and the people with their parts, or why there are none to be had."""
    sizes = material.sizes(listed.images)
    if rules.layout_protocol is LayoutProtocol.WHOLE_PERSON_BY_BOX:
        public = ImageSet(listed.images, sizes)
        people = [
            ((image, index), item)
            for image, name in enumerate(listed.images)
            for index, item in enumerate(material.objects(name), start=1)
            if item.name == PERSON
        ]
    elif listed.people is None:
        return ImageSet(
            listed.images, sizes
        ), f"{file_of(material.edition, key)} names no people: its lines have no object index"
    else:
        public = ImageSet(listed.images, sizes, people_array(listed.people))
        material.check_people(listed, listed.people, file_of(material.edition, key))
        people = [
            ((image, index), item)
            for image, index in listed.people
            for item in material.objects(listed.images[image])[index - 1 : index]
        ]
    if reason := material.lacks_annotations(listed):
        return public, reason
    return public, _layout_truth(people, material.edition.parts)


def _layout_truth(people: Sequence[tuple[Person, AnnotatedObject]], part_types: Sequence[str]) -> LayoutTruth:
    type_index = {name: index for index, name in enumerate(part_types)}
    parts = [
        (index, type_index[part.name], part.box)
        for index, (_, item) in enumerate(people)
        for part in item.parts
        if part.name in type_index
    ]
    who = people_array([person for person, _ in people])
    return LayoutTruth(
        image=who[:, 0].copy(),
        object=who[:, 1].copy(),
        box=_boxes([item.box for _, item in people]),
        difficult=np.array([item.difficult for _, item in people], dtype=np.bool_),
        part_person=np.array([index for index, _, _ in parts], dtype=np.int32),
        part_type=np.array([index for _, index, _ in parts], dtype=np.int8),
        part_box=_boxes([box for _, _, box in parts]),
    )


def _boxes(boxes: Sequence[Box]) -> NDArray[np.float64]:
    return np.array(boxes, dtype=np.float64).reshape(-1, 4)
