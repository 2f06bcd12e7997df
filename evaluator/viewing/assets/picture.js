// Draws the current image with its boxes, regions and label maps; zooms and moves it.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const ZOOM_STEP = 1.5;
const WHEEL_STEP = 1.2;
const MOVE_STEP = 0.15;  // of the visible part

function addSvg(parent, name, attributes) {
  const added = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => added.setAttribute(key, value));
  parent.append(added);
  return added;
}

function drawPicture() {
  const svg = byId("picture");
  svg.replaceChildren();
  if (!state.items.length) {
    byId("name").textContent = "nothing matches";
    svg.setAttribute("aria-label", "No image");
    return;
  }
  const {image} = state.items[state.current], filters = readFilters();
  const width = data.sizes[2 * image], height = data.sizes[2 * image + 1], name = data.images[image];
  if (!state.visible) state.visible = [0, 0, width, height];
  svg.setAttribute("viewBox", state.visible.join(" "));
  const space = svg.getBoundingClientRect();
  const scale = Math.max(state.visible[2] / (space.width || 1), state.visible[3] / (space.height || 1));
  byId("name").textContent =
    `${name} · ${width} × ${height} · ${formatNumber(state.current + 1)} of ${formatNumber(state.items.length)}`;
  svg.setAttribute("aria-label", `Image ${name} with ${objectsOf[image].length} annotated objects`);
  addSvg(svg, "rect", {x: 0, y: 0, width, height, class: "blank"});
  if (data.pictures.there[image]) {
    const href = `${data.pictures.folder}/${encodeURIComponent(name)}${data.pictures.suffix}`;
    addSvg(svg, "image", {href, x: 0, y: 0, width, height});
  }
  const map = addressOfMap(image, byId("map").value);
  if (map) addSvg(svg, "image", {href: map, x: 0, y: 0, width, height, class: "map"});
  drawObjects(svg, image, filters, scale);
  if (state.competition && byId("showFound").checked) drawResults(svg, image, filters, scale, height);
}

// Return the address of the chosen label map; null if the image has none.
function addressOfMap(image, map) {
  const name = data.images[image], ofTree = data.truthMaps[map];
  if (ofTree) return ofTree.there[image] ? `${ofTree.folder}/${encodeURIComponent(name)}.png` : null;
  return map && data.resultMaps[map].includes(name) ? `${map}/${encodeURIComponent(name)}.png` : null;
}

function drawObjects(svg, image, filters, scale) {
  const {competition} = state;
  objectsOf[image].filter(object => isOfClass(competition, object, filters.class)).forEach(object => {
    if (byId("showTruth").checked) {
      const mark = markOfObject(competition, object, filters.threshold);
      const name = nameOfClass(objects.class[object]);
      drawBox(svg, objects.box.slice(4 * object, 4 * object + 4), mark, name, isChosen("object", object), scale);
    }
    if (byId("showParts").checked) {
      objects.parts[object].forEach(([name, ...box]) => drawBox(svg, box, "part truth", name, false, scale));
    }
  });
}

function drawResults(svg, image, filters, scale, height) {
  const {competition} = state;
  const isFiltered = MARKS.includes(filters.kind) || filters.kind === "wrong";
  competition.ofImage[image].filter(result => matches(competition, result, filters)).forEach(result => {
    const chosen = isChosen("result", result);
    if (!chosen && isFiltered && !hasKind(competition.mark[result], filters.kind)) return;
    const mark = MARKS[competition.mark[result]];
    if (competition.region && competition.region[result]) {
      addSvg(svg, "path", {d: pathOfRegion(competition.region[result], height), class: `region ${mark}${chosen ? " chosen" : ""}`});
    }
    // A person has one box for all actions: it is drawn for the chosen one.
    if (!competition.box || (competition.task === "action" && !chosen && filters.class < 0)) return;
    const text = `${competition.names[competition.class[result]]} ${Number(competition.confidence[result].toPrecision(3))}`;
    drawBox(svg, competition.box.slice(4 * result, 4 * result + 4), mark, text, chosen, scale);
  });
}

// Draw a VOC box: from 1, right and bottom inside.
function drawBox(svg, [left, top, right, bottom], mark, text, chosen, scale) {
  const width = Math.max(right - left + 1, 0), height = Math.max(bottom - top + 1, 0);
  addSvg(svg, "rect", {x: left - 1, y: top - 1, width, height, class: `box ${mark}${chosen ? " chosen" : ""}`});
  if (text && byId("showLabels").checked) {
    const place = `translate(${left + 2 * scale} ${Math.max(top + 12 * scale, 12 * scale)}) scale(${scale})`;
    addSvg(svg, "text", {class: mark, x: 0, y: 0, transform: place}).textContent = text;
  }
}

// Return the pixels of a region as an SVG path, from COCO's compressed RLE, which runs down each column.
function pathOfRegion(text, height) {
  const parts = [];
  let pixel = 0;
  decodeRunLengths(text).forEach((length, index) => {
    const end = pixel + length;
    while (index % 2 && pixel < end) {
      const row = pixel % height, run = Math.min(end - pixel, height - row);
      parts.push(`M${Math.floor(pixel / height)} ${row}h1v${run}h-1z`);
      pixel += run;
    }
    pixel = end;
  });
  return parts.join("");
}

// Source: pycocotools, maskApi.c, rleFrString.
function decodeRunLengths(text) {
  const lengths = [];
  for (let place = 0; place < text.length;) {
    let number = 0, shift = 0, more = true;
    while (more) {
      const bits = text.charCodeAt(place++) - 48;
      number |= (bits & 31) << shift;
      shift += 5;
      more = (bits & 32) !== 0;
      if (!more && (bits & 16)) number |= -1 << shift;
    }
    if (lengths.length > 2) number += lengths[lengths.length - 2];
    lengths.push(number);
  }
  return lengths;
}

function fitPicture() {
  state.visible = null;
  drawPicture();
}

// Zoom around a point of the image, by default the middle of what is visible.
function zoom(factor, x, y) {
  if (!state.items.length || !state.visible) return;
  const [left, top, width, height] = state.visible;
  const centreX = x === undefined ? left + width / 2 : x, centreY = y === undefined ? top + height / 2 : y;
  state.visible = [
    centreX - (centreX - left) / factor, centreY - (centreY - top) / factor, width / factor, height / factor
  ];
  const {image} = state.items[state.current];
  const isWhole = state.visible[2] > 1.001 * data.sizes[2 * image] && state.visible[3] > 1.001 * data.sizes[2 * image + 1];
  if (isWhole) state.visible = null;
  drawPicture();
}

// Move the picture by pixels of the image.
function move(right, down) {
  if (!state.visible) return;
  const [left, top, width, height] = state.visible;
  state.visible = [left - right, top - down, width, height];
  drawPicture();
}

// Move by a step, for the keyboard.
function moveByStep(right, down) {
  if (state.visible) move(MOVE_STEP * right * state.visible[2], MOVE_STEP * down * state.visible[3]);
}

// Let the wheel and two fingers zoom, and the mouse or one finger move.
function listenToPointers() {
  const svg = byId("picture"), pointers = new Map();
  const toImage = event => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  svg.addEventListener("wheel", event => {
    event.preventDefault();
    const point = toImage(event);
    zoom(event.deltaY < 0 ? WHEEL_STEP : 1 / WHEEL_STEP, point.x, point.y);
  }, {passive: false});
  svg.addEventListener("pointerdown", event => {
    svg.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
  });
  ["pointerup", "pointercancel"].forEach(kind => svg.addEventListener(kind, event => pointers.delete(event.pointerId)));
  svg.addEventListener("pointermove", event => {
    const before = pointers.get(event.pointerId);
    if (!before || !state.visible) return;
    const other = [...pointers.values()].find(each => each.pointerId !== event.pointerId);
    if (other) {
      const distance = each => Math.hypot(each.clientX - other.clientX, each.clientY - other.clientY);
      const point = toImage(other);
      zoom(distance(event) / (distance(before) || 1), point.x, point.y);
    } else {
      const from = toImage(before), to = toImage(event);
      move(to.x - from.x, to.y - from.y);
    }
    pointers.set(event.pointerId, event);
  });
}
