"""The names of tasks, metrics and curves, by which edition files, JSON and the database know them."""

from enum import StrEnum

from vocboard.evaluator.extensions import Group, members


class Task(StrEnum):
    """Kinds of competition. The values are used in edition files, JSON and the database."""

    CLASSIFICATION = "classification"
    DETECTION = "detection"
    SEGMENTATION = "segmentation"
    LAYOUT = "layout"
    ACTION = "action"
    INSTANCE_SEGMENTATION = "instance_segmentation"
    vars().update(members(Group.TASKS, vars()))


class Metric(StrEnum):
    """Metrics. The values are used in JSON and in the database; pages show titles."""

    AVERAGE_PRECISION = "average_precision"
    INTERSECTION_OVER_UNION = "intersection_over_union"
    PIXEL_ACCURACY = "pixel_accuracy"  # VOC2007: correctly labelled share of a class's true pixels
    ROC_AUC = "roc_auc"  # VOC2005 and 2006: area under the receiver operating characteristic
    EQUAL_ERROR_RATE = "equal_error_rate"  # VOC2005, as an accuracy: 1 - the rate where both kinds of error are equal
    REGION_AVERAGE_PRECISION_50 = "region_average_precision_50"  # overlap of one half; Hariharan et al. 2014
    REGION_AVERAGE_PRECISION_70 = "region_average_precision_70"
    AVERAGE_PRECISION_AREA = "area_under_curve"  # VOC2010's average precision for the editions that sample 11 points
    AVERAGE_PRECISION_WITH_DIFFICULT = "average_precision_with_difficult"
    # Those that cannot rank: in `only_secondary` of a task.
    AVERAGE_PRECISION_75 = "average_precision_75"  # overlap of three quarters
    AVERAGE_PRECISION_50_95 = "average_precision_50_95"  # mean over overlaps of 0.5, 0.55 ... 0.95, as in COCO
    AVERAGE_PRECISION_BY_CONFIDENCE = "average_precision_by_confidence"  # VOC2008 layout, see editions' notes
    WHOLE_PERSON_AVERAGE_PRECISION = "whole_person_average_precision"
    NORMALISED_AVERAGE_PRECISION = "normalised_average_precision"
    # Of some objects of a class; see evaluator/tasks/detection/subsets.py.
    AVERAGE_PRECISION_50_95_SMALL = "average_precision_50_95_small"
    AVERAGE_PRECISION_50_95_MEDIUM = "average_precision_50_95_medium"
    AVERAGE_PRECISION_50_95_LARGE = "average_precision_50_95_large"
    NORMALISED_AP_SIZE_EXTRA_SMALL = "normalised_average_precision_size_extra_small"
    NORMALISED_AP_SIZE_SMALL = "normalised_average_precision_size_small"
    NORMALISED_AP_SIZE_MEDIUM = "normalised_average_precision_size_medium"
    NORMALISED_AP_SIZE_LARGE = "normalised_average_precision_size_large"
    NORMALISED_AP_SIZE_EXTRA_LARGE = "normalised_average_precision_size_extra_large"
    NORMALISED_AP_ASPECT_EXTRA_TALL = "normalised_average_precision_aspect_extra_tall"
    NORMALISED_AP_ASPECT_TALL = "normalised_average_precision_aspect_tall"
    NORMALISED_AP_ASPECT_MEDIUM = "normalised_average_precision_aspect_medium"
    NORMALISED_AP_ASPECT_WIDE = "normalised_average_precision_aspect_wide"
    NORMALISED_AP_ASPECT_EXTRA_WIDE = "normalised_average_precision_aspect_extra_wide"
    NORMALISED_AP_TRUNCATED = "normalised_average_precision_truncated"
    NORMALISED_AP_NOT_TRUNCATED = "normalised_average_precision_not_truncated"
    NORMALISED_AP_OCCLUDED = "normalised_average_precision_occluded"
    NORMALISED_AP_NOT_OCCLUDED = "normalised_average_precision_not_occluded"
    NORMALISED_AP_VIEW_FRONTAL = "normalised_average_precision_view_frontal"
    NORMALISED_AP_VIEW_REAR = "normalised_average_precision_view_rear"
    NORMALISED_AP_VIEW_LEFT = "normalised_average_precision_view_left"
    NORMALISED_AP_VIEW_RIGHT = "normalised_average_precision_view_right"
    NORMALISED_AP_VIEW_SIDE = "normalised_average_precision_view_side"
    BEST_F1 = "best_f1"
    RECALL_1_PER_IMAGE = "recall_1_per_image"
    RECALL_10_PER_IMAGE = "recall_10_per_image"
    RECALL_100_PER_IMAGE = "recall_100_per_image"
    CALIBRATION_ERROR = "calibration_error"
    FORCED_CHOICE_ACCURACY = "forced_choice_accuracy"
    OVERALL_PIXEL_ACCURACY = "overall_pixel_accuracy"
    FREQUENCY_WEIGHTED_IOU = "frequency_weighted_iou"
    BOUNDARY_IOU = "boundary_iou"
    TRIMAP_ACCURACY = "trimap_accuracy"
    vars().update(members(Group.METRICS, vars()))


class CurveKind(StrEnum):
    """Kind of a curve; values are used in JSON and in the database."""

    PRECISION_RECALL = "precision_recall"
    ROC = "roc"
