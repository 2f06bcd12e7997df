"""Development kit trees, as small as they can be."""

from pathlib import Path

from vocboard.evaluator.editions import load

CLASSES = load("VOC2012").classes
PRESENT = ("car", "person")


def write_tree(directory: Path, images: tuple[str, ...] = ("one", "two")) -> Path:
    """Write a VOC2012 tree for classification and detection alone, with a car and a person in every image.

    Returns:
        Its root, `VOC2012` in the directory.
    """
    root = directory / "VOC2012"
    lists, annotations = root / "ImageSets" / "Main", root / "Annotations"
    lists.mkdir(parents=True)
    annotations.mkdir()
    (lists / "test.txt").write_text("".join(f"{image}\n" for image in images))
    for name in CLASSES:
        label = 1 if name in PRESENT else -1
        (lists / f"{name}_test.txt").write_text("".join(f"{image} {label}\n" for image in images))
    box = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>50</xmax><ymax>50</ymax></bndbox>"
    objects = "".join(f"<object><name>{name}</name><difficult>0</difficult>{box}</object>" for name in PRESENT)
    size = "<size><width>500</width><height>375</height><depth>3</depth></size>"
    for image in images:
        text = f"<annotation><filename>{image}.jpg</filename>{size}{objects}</annotation>"
        (annotations / f"{image}.xml").write_text(text)
    return root
