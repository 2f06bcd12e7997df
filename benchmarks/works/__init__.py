"""What is measured: each work with its data, our way of doing it, peers and floors."""

from collections.abc import Mapping

from benchmarks.contest import Work
from benchmarks.works import annotations, board, boxes, draining, labels, maps, scoring, start_up, uploading

WORKS: Mapping[str, Work] = {
    work.name: work
    for work in (
        boxes.DETECTION,
        boxes.ARCHIVE,
        maps.SEGMENTATION,
        labels.CLASSIFICATION,
        labels.ACTION,
        labels.LAYOUT,
        annotations.TREE,
        annotations.STORED,
        start_up.VALIDATE,
        uploading.UPLOAD,
        scoring.SCORING,
        scoring.EMBEDDED,
        draining.DRAINING,
        board.BOARD_PAGE,
        board.BOARD_JSON,
    )
}
