// The list of items, and the tables with the content of the current image.
"use strict";

const HAS_LONG_NAMES = data.images.some(name => name.length > 16);  // which have a line of their own
const ROW_HEIGHT = HAS_LONG_NAMES ? 48 : 28;  // pixels; .row in view.css
const ROWS_AROUND = 10;  // drawn above and below the visible ones

// Draw the visible rows of the list only: there can be tens of thousands.
function drawList() {
  byId("list").classList.toggle("long", HAS_LONG_NAMES);
  const list = byId("list"), first = Math.max(0, Math.floor(list.scrollTop / ROW_HEIGHT) - ROWS_AROUND);
  const last = Math.min(state.items.length, first + Math.ceil(list.clientHeight / ROW_HEIGHT) + 2 * ROWS_AROUND);
  byId("space").style.height = `${state.items.length * ROW_HEIGHT}px`;
  byId("rows").style.top = `${first * ROW_HEIGHT}px`;
  byId("rows").replaceChildren(...state.items.slice(first, last).map((item, index) => makeRow(item, first + index)));
  if (state.current >= first && state.current < last) list.setAttribute("aria-activedescendant", `item${state.current}`);
  else list.removeAttribute("aria-activedescendant");
}

function makeRow(item, place) {
  const row = document.createElement("div"), id = document.createElement("span"), rest = document.createElement("span");
  row.className = "row";
  row.id = `item${place}`;
  row.setAttribute("role", "option");
  row.setAttribute("aria-selected", place === state.current);
  row.setAttribute("aria-posinset", place + 1);
  row.setAttribute("aria-setsize", state.items.length);
  id.className = "id";
  id.textContent = row.title = data.images[item.image];
  rest.className = "rest";
  rest.textContent = describeItem(state.competition, item);
  row.append(id, " ", rest);
  row.addEventListener("click", () => goTo(place));
  return row;
}

// Scroll the list so that the current item is visible.
function scrollToCurrent() {
  const list = byId("list"), top = state.current * ROW_HEIGHT;
  if (top < list.scrollTop || top + ROW_HEIGHT > list.scrollTop + list.clientHeight) {
    list.scrollTop = top - list.clientHeight / 2;
  }
}

function drawTables() {
  const truth = byId("truth").tBodies[0], found = byId("found").tBodies[0];
  truth.replaceChildren();
  found.replaceChildren();
  if (!state.items.length) return;
  const {competition} = state, {image} = state.items[state.current], {threshold} = readFilters();
  objectsOf[image].forEach((object, index) => {
    const flags = [
      ...objects.flags[object], ...(objects.view[object] ? [objects.view[object]] : []),
      ...objects.parts[object].map(part => part[0]), ...objects.actions[object]
    ];
    const mark = !isEntered(competition, object) ? "" : isDifficult[object] ? "difficult" :
      isMissed(competition, object, threshold) ? "missed" : "found";
    addTableRow(truth, "object", object, [index + 1, nameOfClass(objects.class[object]), flags.join(", "), mark]);
  });
  if (!competition) return;
  competition.ofImage[image].filter(result => competition.confidence[result] >= threshold)
    .sort((a, b) => competition.confidence[b] - competition.confidence[a])
    .forEach(result => addTableRow(found, "result", result, [
      competition.confidence[result], competition.names[competition.class[result]],
      describeMark(competition, MARKS[competition.mark[result]])
    ]));
}

// Add a row; its first cell is a button that chooses the object or result, so that the picture highlights it.
function addTableRow(body, kind, index, texts) {
  const row = body.insertRow(), button = document.createElement("button");
  button.type = "button";
  button.textContent = texts[0];
  button.setAttribute("aria-label", `Highlight ${texts.filter(text => text !== "").join(", ")}`);
  button.setAttribute("aria-pressed", isChosen(kind, index));
  row.className = isChosen(kind, index) ? "chosen" : "";
  row.insertCell().append(button);
  texts.slice(1).forEach(text => { row.insertCell().textContent = text; });
  row.addEventListener("click", () => {
    const place = [...body.rows].indexOf(row);
    state.chosen = {kind, index};
    draw();
    body.rows[place].querySelector("button").focus();
  });
}
