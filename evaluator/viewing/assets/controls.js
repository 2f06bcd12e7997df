// The form: its choices, the legend, and what happens if they change.
"use strict";

const FLAGS = ["difficult", "truncated", "occluded", "parts", "actions"];
const MAP_NAMES = {SegmentationClass: "true classes", SegmentationObject: "true objects"};

function addOption(select, value, text) {
  const option = document.createElement("option");
  option.value = value;
  option.textContent = text;
  select.append(option);
}

// Fill the choices that do not change.
function fillChoices() {
  competitions.forEach(each => addOption(byId("competition"), each.key, each.key));
  if (competitions.length) byId("competition").value = state.competition.key;
  else addOption(byId("competition"), "", "none");
  addOption(byId("folder"), "", "all");
  [...new Set(data.folders.flat())].forEach(name => addOption(byId("folder"), name, name));
  addOption(byId("map"), "", "none");
  Object.keys(data.truthMaps).forEach(folder => addOption(byId("map"), folder, MAP_NAMES[folder]));
  Object.keys(data.resultMaps).forEach(key => addOption(byId("map"), key, key));
}

// Fill the choices that depend on the competition, and its legend. Choices with the same text remain chosen.
function fillChoicesOfCompetition() {
  const {competition} = state, task = competition ? competition.task : "none", kinds = competition ? competition.kinds : [];
  refill(byId("class"), select => {
    addOption(select, "", "all");
    (competition ? competition.names : data.classes).forEach((name, index) => addOption(select, index, name));
  });
  refill(byId("kind"), select => {
    addOption(select, "all", "everything");
    addOption(select, "annotated", "images with objects of the class");
    kinds.forEach(kind => {
      const text = kind === "wrong" && kinds.length > 3 ? "wrong: all kinds" : describeMark(competition, kind);
      addOption(select, kind, text);
    });
    FLAGS.forEach(name => addOption(select, `flag:${name}`, `with ${name}${name.endsWith("s") ? "" : " objects"}`));
  });
  const noun = competition ? competition.noun : "results";
  byId("foundTitle").textContent = noun[0].toUpperCase() + noun.slice(1);
  fillLegend(task, kinds);
}

function refill(select, fill) {
  const before = select.selectedOptions[0] ? select.selectedOptions[0].textContent : "";
  select.replaceChildren();
  fill(select);
  const same = [...select.options].find(option => option.textContent === before);
  if (same) select.value = same.value;
}

function fillLegend(task, kinds) {
  const marks = ["truth", ...kinds.filter(kind => kind !== "wrong" || task === "layout")];
  if (!kinds.includes("ignored")) marks.push("ignored");
  byId("legend").replaceChildren(...marks.map(mark => {
    const entry = document.createElement("li"), svg = addSvg(entry, "svg", {viewBox: "0 0 26 8", "aria-hidden": "true"});
    addSvg(svg, "line", {x1: 0, y1: 4, x2: 26, y2: 4, class: mark});
    const ignored = task === "layout" ? "difficult, or ignored" : "difficult, or ignored for it";
    entry.append(mark === "ignored" ? ignored : DESCRIPTIONS[mark]);
    return entry;
  }));
}

// Apply the filters. The current image remains the current one if it still matches.
function applyFilters() {
  const competition = competitions.find(each => each.key === byId("competition").value) || null;
  if (competition !== state.competition) {
    state.competition = competition;
    state.chosen = null;
    fillChoicesOfCompetition();
  }
  const image = state.items.length ? state.items[state.current].image : -1;
  state.items = selectItems(competition, readFilters());
  const areResults = state.items.length > 0 && state.items[0].result >= 0;
  const count = formatNumber(state.items.length);
  byId("count").textContent = areResults ? `${count} ${competition.noun}` : `${count} of ${formatNumber(imageCount)} images`;
  goTo(areResults ? 0 : Math.max(0, state.items.findIndex(item => item.image === image)));
}

function listenToControls() {
  ["competition", "class", "kind", "folder"].forEach(id => byId(id).addEventListener("change", applyFilters));
  byId("order").addEventListener("change", () => {
    applyFilters();
    if (byId("order").value !== "image") goTo(0);  // to the most or least confident result, or the most errors
  });
  ["threshold", "search"].forEach(id => byId(id).addEventListener("input", applyFilters));
  ["showTruth", "showParts", "showFound", "showLabels", "map"].forEach(id => byId(id).addEventListener("change", draw));
  byId("filters").addEventListener("submit", event => event.preventDefault());
  byId("list").addEventListener("scroll", drawList);
  byId("previous").addEventListener("click", () => goTo(state.current - 1));
  byId("next").addEventListener("click", () => goTo(state.current + 1));
  byId("smaller").addEventListener("click", () => zoom(1 / ZOOM_STEP));
  byId("larger").addEventListener("click", () => zoom(ZOOM_STEP));
  byId("fit").addEventListener("click", fitPicture);
}
