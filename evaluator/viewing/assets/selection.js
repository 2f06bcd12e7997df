// The items to browse: images, or single results by confidence.
"use strict";

// Return what is set in the form.
function readFilters() {
  const threshold = parseFloat(byId("threshold").value), kind = byId("kind").value;
  return {
    kind,
    flag: kind.startsWith("flag:") ? kind.slice(5) : null,
    order: byId("order").value,
    folder: byId("folder").value,
    text: byId("search").value.trim().toLowerCase(),
    threshold: Number.isNaN(threshold) ? -Infinity : threshold,
    class: byId("class").value === "" ? -1 : Number(byId("class").value)
  };
}

// Return the items that match the filters, in order: {image, result, object}, the last two -1 if there is none.
function selectItems(competition, filters) {
  const isByConfidence = competition && ["down", "up"].includes(filters.order);
  const isOfResults = filters.kind !== "missed" && filters.kind !== "annotated" && !filters.flag;
  return isByConfidence && isOfResults ? selectResults(competition, filters) : selectImages(competition, filters);
}

function isShown(image, filters) {
  return (filters.folder === "" || data.folders[image].includes(filters.folder)) &&
    (filters.text === "" || data.images[image].toLowerCase().includes(filters.text));
}

function matches(competition, result, filters) {
  return (filters.class < 0 || competition.class[result] === filters.class) &&
    competition.confidence[result] >= filters.threshold;
}

function selectResults(competition, filters) {
  const items = [];
  competition.image.forEach((image, result) => {
    if (matches(competition, result, filters) && hasKind(competition.mark[result], filters.kind) && isShown(image, filters)) {
      items.push({image, result, object: -1});
    }
  });
  const sign = filters.order === "down" ? -1 : 1;
  const confidence = item => competition.confidence[item.result];
  return items.sort((a, b) => sign * (confidence(a) - confidence(b)) || a.result - b.result);
}

function selectImages(competition, filters) {
  const items = [], errors = new Map();
  for (let image = 0; image < imageCount; image++) {
    if (!isShown(image, filters)) continue;
    const annotated = objectsOf[image].filter(object => isOfClass(competition, object, filters.class));
    const found = competition ? competition.ofImage[image].filter(result => matches(competition, result, filters)) : [];
    const missed = competition ? annotated.filter(object => isMissed(competition, object, filters.threshold)) : [];
    if (!isImageSelected(competition, filters, annotated, found, missed)) continue;
    items.push({image, result: -1, object: filters.kind === "missed" ? missed[0] : -1});
    errors.set(image, missed.length + found.filter(result => isWrong(competition.mark[result])).length);
  }
  if (filters.order === "errors") items.sort((a, b) => errors.get(b.image) - errors.get(a.image) || a.image - b.image);
  return items;
}

function isImageSelected(competition, filters, annotated, found, missed) {
  if (filters.kind === "missed") return missed.length > 0;
  if (filters.flag === "parts") return annotated.some(object => objects.parts[object].length);
  if (filters.flag === "actions") return annotated.some(object => objects.actions[object].length);
  if (filters.flag) return annotated.some(object => objects.flags[object].includes(filters.flag));
  if (filters.kind === "annotated") return annotated.length > 0;
  if (filters.kind === "all") return filters.class < 0 || annotated.length > 0 || found.length > 0;
  return found.some(result => hasKind(competition.mark[result], filters.kind));
}

// Return the text beside an item's image: a result, or the objects of an image.
function describeItem(competition, item) {
  if (item.result >= 0) {
    const name = competition.names[competition.class[item.result]];
    return `${competition.confidence[item.result]}  ${name}, ${SHORT_DESCRIPTIONS[MARKS[competition.mark[item.result]]]}`;
  }
  const counts = new Map();
  objectsOf[item.image].forEach(object => {
    const name = nameOfClass(objects.class[object]);
    counts.set(name, (counts.get(name) || 0) + 1);
  });
  return [...counts].map(([name, count]) => count > 1 ? `${count} ${name}` : name).join(", ");
}
