"""Ground truth of action: a label for each person and action.

Labels come from the actions' image sets or, if the tree has none, from the annotations.
"""

from vocboard.evaluator.image_sets import ImageSet, Key
from vocboard.evaluator.rules import TaskRules
from vocboard.evaluator.tasks.classification.truth import NEGATIVE, POSITIVE, LabelTruth
from vocboard.evaluator.tasks.image_set_files import Listed, Person, as_labels, file_of
from vocboard.evaluator.tasks.material import Material, people_array
from vocboard.evaluator.tasks.truth_reader import TruthReader


def _flags(listed: Listed, material: Material) -> dict[str, dict[Person, int]]:
    """Derive labels of people from the action flags in annotations; people without a flag have no label."""
    labels: dict[str, dict[Person, int]] = {name: {} for name in material.edition.actions}
    for image, name in enumerate(listed.images):
        for index, item in enumerate(material.objects(name), start=1):
            if listed.people is None or (image, index) in listed.people:
                for action, performed in (item.actions or {}).items():
                    if action in labels:
                        labels[action][image, index] = POSITIVE if performed else NEGATIVE
    return labels


class ActionTruthReader(TruthReader[LabelTruth]):
    """Reads the ground truth of action."""

    def read(self, key: Key, listed: Listed, rules: TaskRules, material: Material) -> tuple[ImageSet, LabelTruth | str]:
        """Return the public part and each action's labels, or why there are none.

        If `Action/test.txt` only lists images, the people are those in any action's list, or in the annotations.
        """
        sizes = material.sizes(listed.images)
        index = listed.index
        lists = {name: file_of(material.edition, key, name) for name in material.edition.actions}
        people = listed.people
        labels = {
            name: material.files.person_labels(file, index, people)
            for name, file in lists.items()
            if file in material.files
        }
        if not listed.images or len(labels) < len(lists):
            if reason := material.lacks_annotations(listed):
                return ImageSet(listed.images, sizes, None if people is None else people_array(people)), reason
            labels = _flags(listed, material) | labels
        if people is None:
            people = dict.fromkeys(sorted({person for of_action in labels.values() for person in of_action}), 0)
        material.check_people(listed, people, file_of(material.edition, key))
        position = {person: item for item, person in enumerate(people)}
        truth = {
            name: as_labels({position[person]: label for person, label in labels[name].items()})
            for name in material.edition.actions
        }
        return ImageSet(listed.images, sizes, people_array(people)), LabelTruth(truth)
