// The content of data.js: objects and results of each image, and what their marks are called.
//
// Browsers do not load modules from files, so these are scripts that share their top-level names. index.html loads
// them in order; view.js, the last, starts the page and has the state that the others read.
"use strict";

const data = window.VOCBOARD;
const objects = data.objects;
const imageCount = data.images.length;

// By number in data.js; see Mark in marks.py.
const MARKS = ["unjudged", "correct", "ignored", "duplicate", "location", "confused", "background", "positive", "negative", "wrong",
  "both"];
const DESCRIPTIONS = {
  unjudged: "not judged", correct: "correct", ignored: "ignored: matches a difficult object",
  duplicate: "wrong: duplicate", location: "wrong: location", confused: "wrong: class", both: "wrong: both location and class",
  background: "wrong: background", positive: "positive", negative: "negative", wrong: "wrong", missed: "missed",
  truth: "annotation", difficult: "difficult", found: "found"
};
const SHORT_DESCRIPTIONS = {
  unjudged: "not judged", correct: "correct", ignored: "ignored", duplicate: "duplicate", location: "location",
  confused: "class", both: "both", background: "background", positive: "positive", negative: "negative", wrong: "wrong"
};

function indicesByImage(images) {
  const lists = Array.from({length: imageCount}, () => []);
  images.forEach((image, index) => lists[image].push(index));
  return lists;
}

const objectsOf = indicesByImage(objects.image);
const isDifficult = objects.flags.map(flags => flags.includes("difficult"));
const competitions = data.competitions.map(each => {
  const foundBy = new Int32Array(objects.image.length).fill(-1);  // the correct result of each object
  each.mark.forEach((mark, index) => {
    if (MARKS[mark] === "correct" && each.object[index] >= 0) foundBy[each.object[index]] = index;
  });
  return {...each, ofImage: indicesByImage(each.image), foundBy};
});

const isWrong = mark => ["duplicate", "location", "confused", "both", "background", "wrong"].includes(MARKS[mark]);
const hasKind = (mark, kind) => kind === "all" || kind === MARKS[mark] || (kind === "wrong" && isWrong(mark));
const nameOfClass = index => typeof index === "number" ? data.classes[index] : index;

function describeMark(competition, mark) {
  if (mark !== "ignored" || competition.task === "detection") return DESCRIPTIONS[mark];
  return competition.task === "layout" ? "ignored" : "difficult: counts neither way";
}

// Whether an object is of a class, which can be an action or a type of part; -1 for any.
function isOfClass(competition, object, index) {
  if (index < 0) return true;
  const name = competition && competition.names[index];
  if (competition && competition.annotatedBy === "actions") return objects.actions[object].includes(name);
  if (competition && competition.annotatedBy === "parts") return objects.parts[object].some(part => part[0] === name);
  return objects.class[object] === index;
}

// Whether the competition has results that could find an object.
function isEntered(competition, object) {
  const index = objects.class[object];
  return competition && competition.task === "detection" && typeof index === "number" && competition.entered[index] &&
    data.detectionSets[objects.image[object]].includes(competition.imageSet);
}

// Whether no result of at least this confidence finds an object.
function isMissed(competition, object, threshold) {
  if (!isEntered(competition, object) || isDifficult[object]) return false;
  const result = competition.foundBy[object];
  return result < 0 || competition.confidence[result] < threshold;
}

function markOfObject(competition, object, threshold) {
  if (isDifficult[object]) return "ignored";
  return isMissed(competition, object, threshold) ? "missed" : "truth";
}
