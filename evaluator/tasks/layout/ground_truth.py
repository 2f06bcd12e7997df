"""Ground truth of person layout: the boxes of people and parts."""

from collections.abc import Sequence

import numpy as np

from vocboard.evaluator.annotations import AnnotatedObject
from vocboard.evaluator.image_sets import ImageSet, Key
from vocboard.evaluator.rules import LayoutProtocol, TaskRules
from vocboard.evaluator.tasks.image_set_files import Listed, Person, file_of
from vocboard.evaluator.tasks.layout.truth import LayoutTruth
from vocboard.evaluator.tasks.material import PERSON, Material, box_array, people_array
from vocboard.evaluator.tasks.truth_reader import TruthReader


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
        box=box_array([item.box for _, item in people]),
        difficult=np.array([item.difficult for _, item in people], dtype=np.bool_),
        part_person=np.array([index for index, _, _ in parts], dtype=np.int32),
        part_type=np.array([index for _, index, _ in parts], dtype=np.int8),
        part_box=box_array([box for _, _, box in parts]),
    )


class LayoutTruthReader(TruthReader[LayoutTruth]):
    """Reads the ground truth of layout."""

    def read(
        self, key: Key, listed: Listed, rules: TaskRules, material: Material
    ) -> tuple[ImageSet, LayoutTruth | str]:
        """Return the public part and the people with their parts, or why there are none."""
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
            file = file_of(material.edition, key)
            return ImageSet(listed.images, sizes), f"{file} names no people: its lines have no object index"
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
