// The state of the page, and its start.
"use strict";

const state = {
  competition: competitions.find(each => each.task === "detection") || competitions[0] || null,
  items: [],  // see selectItems
  current: 0,  // index of the current item
  chosen: null,  // the highlighted object or result: {kind, index}
  visible: null  // part of the image: x, y, width and height in pixels; null for all of it
};

function byId(id) {
  return document.getElementById(id);
}

function formatNumber(value) {
  return value.toLocaleString("en-US");
}

function isChosen(kind, index) {
  return state.chosen !== null && state.chosen.kind === kind && state.chosen.index === index;
}

function draw() {
  drawPicture();
  drawTables();
}

// Make an item the current one, the nearest if there is no such item.
function goTo(place) {
  if (state.items.length) {
    state.current = Math.max(0, Math.min(state.items.length - 1, place));
    const {image, result, object} = state.items[state.current];
    state.chosen = result >= 0 ? {kind: "result", index: result} : object >= 0 ? {kind: "object", index: object} : null;
    state.visible = null;
    scrollToCurrent();
    history.replaceState(null, "", `#${encodeURIComponent(data.images[image])}`);
  }
  drawList();
  draw();
}

// Return what the address links to: "#image", or "#image/competition" and maybe "/result", and choose the competition.
function readAddress() {
  const [image, key, index] = location.hash.slice(1).split("/").map(decodeURIComponent);
  const competition = competitions.find(each => each.key === key), result = Number(index);
  if (!competition) return {image, result: null};
  byId("competition").value = key;
  const isThere = index && data.images[competition.image[result]] === image;
  return {image, result: isThere ? result : null};
}

function start() {
  document.title = `${data.edition}, ${data.imageSet}: vocboard view`;
  byId("title").textContent = `${data.edition}, ${data.imageSet}`;
  const counts = [`${formatNumber(imageCount)} images`, `${formatNumber(objects.image.length)} objects`];
  competitions.forEach(each => counts.push(`${formatNumber(each.image.length)} ${each.noun} in ${each.key}`));
  byId("summary").textContent = counts.join(" · ");
  fillChoices();
  fillChoicesOfCompetition();
  listenToControls();
  listenToPointers();
  listenToKeys();
  addEventListener("resize", () => { drawList(); draw(); });
  const linked = readAddress();
  applyFilters();
  const place = state.items.findIndex(item => data.images[item.image] === linked.image);
  if (place > 0) goTo(place);
  if (linked.result !== null) {
    state.chosen = {kind: "result", index: linked.result};
    draw();
  }
  document.documentElement.dataset.ready = "yes";
}

start();
