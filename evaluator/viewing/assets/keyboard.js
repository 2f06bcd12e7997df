// Keys. Those that scroll pages browse only while the list has the focus, so that the page can still be scrolled.
"use strict";

const PAGE_OF_ITEMS = 20;

function toggle(id) {
  byId(id).checked = !byId(id).checked;
  draw();
}

function nextMap() {
  const map = byId("map");
  map.selectedIndex = (map.selectedIndex + 1) % map.options.length;
  draw();
}

const LIST_KEYS = {
  ArrowUp: () => goTo(state.current - 1), ArrowDown: () => goTo(state.current + 1),
  PageUp: () => goTo(state.current - PAGE_OF_ITEMS), PageDown: () => goTo(state.current + PAGE_OF_ITEMS),
  Home: () => goTo(0), End: () => goTo(state.items.length - 1)
};
const KEYS = {
  ArrowLeft: () => goTo(state.current - 1), ArrowRight: () => goTo(state.current + 1),
  k: () => goTo(state.current - 1), j: () => goTo(state.current + 1),
  "+": () => zoom(ZOOM_STEP), "=": () => zoom(ZOOM_STEP), "-": () => zoom(1 / ZOOM_STEP), "0": fitPicture,
  a: () => toggle("showTruth"), p: () => toggle("showParts"), d: () => toggle("showFound"), l: () => toggle("showLabels"),
  s: nextMap, "/": () => byId("search").focus()
};
const SHIFT_KEYS = {
  ArrowLeft: () => moveByStep(1, 0), ArrowRight: () => moveByStep(-1, 0),
  ArrowUp: () => moveByStep(0, 1), ArrowDown: () => moveByStep(0, -1)
};

// Return the action of a key; undefined if it has none here.
function actionOf(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (event.shiftKey && SHIFT_KEYS[event.key]) return SHIFT_KEYS[event.key];
  if (event.target.id === "list" && LIST_KEYS[event.key]) return LIST_KEYS[event.key];
  return event.key.length > 1 || byId("shortcuts").checked ? KEYS[event.key] : undefined;
}

function listenToKeys() {
  document.addEventListener("keydown", event => {
    if (event.target.matches("input:not([type=checkbox]), select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const action = actionOf(event);
    if (!action) return;
    event.preventDefault();
    action();
  });
}
