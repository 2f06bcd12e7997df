"""Instance segmentation, region by region and pixel by pixel."""

Pixel = tuple[int, int]  # row, column
Region = set[Pixel]
Found = tuple[str, float, Region]  # image, confidence, pixels
Instance = tuple[str, Region]


def encode(region: Region, height: int, width: int) -> str:
    """COCO's compressed RLE, character by character."""
    runs, inside, length = [], False, 0
    for column in range(width):
        for row in range(height):
            if ((row, column) in region) != inside:
                runs.append(length)
                inside, length = not inside, 0
            length += 1
    runs.append(length)
    text = ""
    for place, run in enumerate(runs):
        number = run - runs[place - 2] if place > 2 else run
        more = True
        while more:
            digit = number & 0x1F
            number >>= 5
            more = number != (-1 if digit & 0x10 else 0)
            text += chr(48 + (digit | 0x20 if more else digit))
    return text


def overlap(found: Region, instance: Region, void: Region) -> float:
    """Intersection over union of pixels that are not void."""
    counted = found - void
    return len(counted & instance) / len(counted | instance)


def marks(
    found: list[Found], instances: list[Instance], void: dict[str, Region], threshold: float, strict: bool = False
) -> tuple[list[str], int]:
    """ "true" or "false" for each region by decreasing confidence, and how many instances there are to find."""
    taken: set[int] = set()
    result = []
    for image, _, region in sorted(found, key=lambda item: -item[1]):
        best, best_overlap = -1, 0.0
        for index, (where, instance) in enumerate(instances):
            if where == image and overlap(region, instance, void[image]) > best_overlap:
                best, best_overlap = index, overlap(region, instance, void[image])
        enough = best_overlap > threshold if strict else best_overlap >= threshold
        right = best >= 0 and enough and best not in taken
        if right:
            taken.add(best)
        result.append("true" if right else "false")
    return result, len(instances)
