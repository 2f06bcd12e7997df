"use strict";
(() => {
  const data = window.VOCBOARD;
  const $ = id => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const MARKS = ["unjudged", "correct", "ignored", "repeated", "location", "confused", "background", "positive", "negative", "wrong"];
  const WORDS = {
    unjudged: "not judged", correct: "correct", ignored: "ignored: meets a difficult object",
    repeated: "wrong: repeated detection", location: "wrong: poor location", confused: "wrong: another class",
    background: "wrong: background", positive: "positive", negative: "negative", wrong: "wrong", missed: "missed", truth: "annotation", difficult: "difficult", found: "found"
  };
  const SHORT = {
    unjudged: "not judged", correct: "correct", ignored: "ignored", repeated: "repeated", location: "poor location",
    confused: "other class", background: "background", positive: "positive", negative: "negative", wrong: "wrong"
  };
  // The kinds of results to choose from, by task.
  const KINDS = {
    detection: ["correct", "wrong", "repeated", "location", "confused", "background", "ignored", "missed"],
    instance_segmentation: ["correct", "wrong", "repeated", "location", "background"],
    layout: ["correct", "wrong", "ignored"],
    classification: ["positive", "negative", "ignored"],
    action: ["positive", "negative"]
  };
  const isWrong = mark => (mark >= 3 && mark <= 6) || mark === 9;
  // Of confidences, what is ignored has only difficult objects.
  const word = mark => mark === "ignored" && competition.task !== "detection" ? (competition.task === "layout" ? "ignored" : "difficult: counts neither way") : WORDS[mark];
  const ROW = 28;
  const objects = data.objects;
  const count = data.images.length;

  // Positions of objects and detections by image, built once.
  const byImage = column => {
    const lists = Array.from({length: count}, () => []);
    column.forEach((image, place) => lists[image].push(place));
    return lists;
  };
  const objectsOf = byImage(objects.image);
  const difficult = objects.flags.map(flags => flags.includes("difficult"));
  const competitions = data.competitions.map(each => {
    const foundBy = new Int32Array(objects.image.length).fill(-1);
    each.mark.forEach((mark, place) => { if (mark === 1 && each.object[place] >= 0) foundBy[each.object[place]] = place; });
    return {...each, of: byImage(each.image), foundBy};
  });
  const className = index => typeof index === "number" ? data.classes[index] : index;
  const claimName = index => competition.names[index];
  // Whether an object is one of the class that is chosen, which may be an action or a type of part.
  function isOf(object, wanted) {
    if (wanted < 0) return true;
    if (competition && competition.task === "action") return objects.actions[object].includes(competition.names[wanted]);
    if (competition && competition.task === "layout") return objects.parts[object].some(part => part[0] === competition.names[wanted]);
    return objects.class[object] === wanted;
  }

  let competition = competitions.find(each => each.task === "detection") || competitions[0] || null;
  let items = [];      // [image, detection or -1, object or -1]
  let current = 0;
  let chosen = null;   // ["found" or "truth", place]
  let window_ = null;  // the part of the image that is shown: x, y, width, height

  const option = (select, value, text) => {
    const element = document.createElement("option");
    element.value = value; element.textContent = text; select.append(element);
  };
  const number = value => value.toLocaleString("en-US");

  function threshold() {
    const value = parseFloat($("threshold").value);
    return Number.isNaN(value) ? -Infinity : value;
  }
  function isEntered(object) {
    const index = objects.class[object];
    return competition && competition.task === "detection" && typeof index === "number" && competition.entered[index] &&
      data.folders[objects.image[object]].includes("Main");
  }
  function isMissed(object, least) {
    if (!isEntered(object) || difficult[object]) return false;
    const by = competition.foundBy[object];
    return by < 0 || competition.confidence[by] < least;
  }
  function fits(kind, mark) {
    const name = MARKS[mark];
    return kind === "all" || kind === name || (kind === "wrong" && isWrong(mark));
  }

  function select() {
    const kind = $("kind").value, order = $("order").value, folder = $("folder").value;
    const text = $("search").value.trim().toLowerCase(), least = threshold();
    const wanted = $("class").value === "" ? -1 : Number($("class").value);
    const isShown = image => (folder === "" || data.folders[image].includes(folder)) &&
      (text === "" || data.images[image].toLowerCase().includes(text));
    const flagged = kind.startsWith("flag:") ? kind.slice(5) : null;
    items = [];
    const confident = competition && (order === "down" || order === "up");
    if (confident && kind !== "missed" && !flagged && kind !== "annotated") {
      for (let place = 0; place < competition.image.length; place++) {
        if ((wanted < 0 || competition.class[place] === wanted) && competition.confidence[place] >= least &&
            fits(kind, competition.mark[place]) && isShown(competition.image[place])) {
          items.push([competition.image[place], place, -1]);
        }
      }
      const sign = order === "down" ? -1 : 1;
      items.sort((a, b) => sign * (competition.confidence[a[1]] - competition.confidence[b[1]]) || a[1] - b[1]);
      return;
    }
    const errors = new Map();
    for (let image = 0; image < count; image++) {
      if (!isShown(image)) continue;
      const true_ = objectsOf[image].filter(o => isOf(o, wanted));
      const found = competition ? competition.of[image].filter(d =>
        (wanted < 0 || competition.class[d] === wanted) && competition.confidence[d] >= least) : [];
      const missed = competition ? true_.filter(o => isMissed(o, least)) : [];
      let keep;
      if (kind === "missed") keep = missed.length;
      else if (flagged === "parts") keep = true_.some(o => objects.parts[o].length);
      else if (flagged === "actions") keep = true_.some(o => objects.actions[o].length);
      else if (flagged) keep = true_.some(o => objects.flags[o].includes(flagged));
      else if (kind === "annotated") keep = true_.length;
      else if (kind === "all") keep = wanted < 0 || true_.length || found.length;
      else keep = found.some(d => fits(kind, competition.mark[d]));
      if (!keep) continue;
      items.push([image, -1, kind === "missed" ? missed[0] : -1]);
      errors.set(image, missed.length + found.filter(d => isWrong(competition.mark[d])).length);
    }
    if (order === "errors") items.sort((a, b) => errors.get(b[0]) - errors.get(a[0]) || a[0] - b[0]);
  }

  function describe(item) {
    const [image, place] = item;
    if (place >= 0) {
      return `${competition.confidence[place]}  ${claimName(competition.class[place])}, ${SHORT[MARKS[competition.mark[place]]]}`;
    }
    const names = new Map();
    objectsOf[image].forEach(o => { const n = className(objects.class[o]); names.set(n, (names.get(n) || 0) + 1); });
    return [...names].map(([name, n]) => n > 1 ? `${n} ${name}` : name).join(", ");
  }

  function drawList() {
    const list = $("list"), first = Math.max(0, Math.floor(list.scrollTop / ROW) - 10);
    const last = Math.min(items.length, first + Math.ceil(list.clientHeight / ROW) + 20);
    $("space").style.height = `${items.length * ROW}px`;
    const rows = $("rows");
    rows.style.top = `${first * ROW}px`;
    rows.replaceChildren(...items.slice(first, last).map((item, place) => {
      const row = document.createElement("div"), id = document.createElement("span"), rest = document.createElement("span");
      row.className = "row"; row.id = `item${first + place}`; row.setAttribute("role", "option");
      row.setAttribute("aria-selected", first + place === current);
      id.className = "id"; id.textContent = data.images[item[0]];
      rest.className = "rest"; rest.textContent = describe(item);
      row.append(id, rest);
      row.addEventListener("click", () => go(first + place));
      return row;
    }));
    list.setAttribute("aria-activedescendant", `item${current}`);
  }

  function element(name, attributes, parent) {
    const made = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    parent.append(made);
    return made;
  }
  function drawBox(parent, column, place, kind, text, isChosen, scale) {
    const [left, top, right, bottom] = column.slice(4 * place, 4 * place + 4);
    const width = Math.max(right - left + 1, 0), height = Math.max(bottom - top + 1, 0);
    element("rect", {x: left - 1, y: top - 1, width, height, class: `box ${kind}${isChosen ? " chosen" : ""}`}, parent);
    if (text && $("showLabels").checked) {
      const label = element("text", {class: kind, x: 0, y: 0, transform: `translate(${left + 2 * scale} ${Math.max(top + 12 * scale, 12 * scale)}) scale(${scale})`}, parent);
      label.textContent = text;
    }
  }
  // The pixels of a region, from COCO's run-length encoding, as a path: each run is a column, or several.
  function regionPath(text, height) {
    const lengths = [];
    for (let place = 0; place < text.length;) {
      let number = 0, shift = 0, more = true;
      while (more) {
        const bits = text.charCodeAt(place++) - 48;
        number |= (bits & 31) << shift; shift += 5; more = (bits & 32) !== 0;
        if (!more && (bits & 16)) number |= -1 << shift;
      }
      if (lengths.length > 2) number += lengths[lengths.length - 2];
      lengths.push(number);
    }
    const parts = [];
    let pixel = 0;
    lengths.forEach((length, index) => {
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
  function truthKind(object) {
    if (!competition || !isEntered(object)) return difficult[object] ? "ignored" : "truth";
    if (difficult[object]) return "ignored";
    return isMissed(object, threshold()) ? "missed" : "truth";
  }

  function draw() {
    const svg = $("picture");
    svg.replaceChildren();
    if (!items.length) { $("name").textContent = "nothing matches"; drawTables(-1); return; }
    const [image] = items[current];
    const width = data.sizes[2 * image], height = data.sizes[2 * image + 1], name = data.images[image];
    if (!window_) window_ = [0, 0, width, height];
    svg.setAttribute("viewBox", window_.join(" "));
    const space = svg.getBoundingClientRect();
    const scale = Math.max(window_[2] / (space.width || 1), window_[3] / (space.height || 1));
    $("name").textContent = `${name} · ${width} × ${height} · ${number(current + 1)} of ${number(items.length)}`;
    svg.setAttribute("aria-label", `Image ${name} with ${objectsOf[image].length} annotated objects`);
    element("rect", {x: 0, y: 0, width, height, class: "blank"}, svg);
    if (data.pictures.there[image]) {
      element("image", {href: `${data.pictures.folder}/${encodeURIComponent(name)}${data.pictures.suffix}`, x: 0, y: 0, width, height}, svg);
    }
    const map = $("map").value;
    const truthMap = data.truthMaps[map];
    if (truthMap && truthMap.there[image]) {
      element("image", {href: `${truthMap.folder}/${encodeURIComponent(name)}.png`, x: 0, y: 0, width, height, class: "map"}, svg);
    } else if (map && !truthMap && data.resultMaps[map].includes(name)) {
      element("image", {href: `${map}/${encodeURIComponent(name)}.png`, x: 0, y: 0, width, height, class: "map"}, svg);
    }
    const least = threshold(), wanted = $("class").value === "" ? -1 : Number($("class").value);
    objectsOf[image].forEach(object => {
      if (!isOf(object, wanted)) return;
      if ($("showTruth").checked) {
        const isChosen = chosen && chosen[0] === "truth" && chosen[1] === object;
        drawBox(svg, objects.box, object, truthKind(object), className(objects.class[object]), isChosen, scale);
      }
      if ($("showParts").checked) {
        objects.parts[object].forEach(([part, ...box]) => drawBox(svg, box, 0, "part truth", part, false, scale));
      }
    });
    if (competition && $("showFound").checked) {
      const kind = $("kind").value;
      competition.of[image].forEach(place => {
        const isChosen = chosen && chosen[0] === "found" && chosen[1] === place;
        if (competition.confidence[place] < least || (wanted >= 0 && competition.class[place] !== wanted)) return;
        if (!isChosen && MARKS.includes(kind) && MARKS[competition.mark[place]] !== kind) return;
        if (!isChosen && kind === "wrong" && !isWrong(competition.mark[place])) return;
        const mark = MARKS[competition.mark[place]];
        if (competition.region && competition.region[place]) {
          element("path", {d: regionPath(competition.region[place], height), class: `region ${mark}${isChosen ? " chosen" : ""}`}, svg);
        }
        // A person's box is drawn for the action that is chosen; those of all actions would hide one another.
        if (!competition.box || (competition.task === "action" && !isChosen && wanted < 0)) return;
        const text = `${claimName(competition.class[place])} ${Number(competition.confidence[place].toPrecision(3))}`;
        drawBox(svg, competition.box, place, mark, text, isChosen, scale);
      });
    }
    drawTables(image);
  }

  function cell(row, text) {
    const made = document.createElement("td");
    made.textContent = text; row.append(made);
  }
  function tableRow(body, kind, place, texts) {
    const row = document.createElement("tr");
    if (chosen && chosen[0] === kind && chosen[1] === place) row.className = "chosen";
    texts.forEach(text => cell(row, text));
    row.tabIndex = 0;
    const choose = () => { chosen = [kind, place]; draw(); };
    row.addEventListener("click", choose);
    row.addEventListener("keydown", event => { if (event.key === "Enter") choose(); });
    body.append(row);
  }
  function drawTables(image) {
    const truth = $("truth").tBodies[0], found = $("found").tBodies[0];
    truth.replaceChildren(); found.replaceChildren();
    if (image < 0) return;
    objectsOf[image].forEach((object, place) => {
      const words = [...objects.flags[object], ...(objects.view[object] ? [objects.view[object]] : []),
        ...objects.parts[object].map(part => part[0]), ...objects.actions[object]];
      const kind = truthKind(object);
      const mark = !isEntered(object) ? "" : difficult[object] ? "difficult" : kind === "missed" ? "missed" : "found";
      tableRow(truth, "truth", object, [place + 1, className(objects.class[object]), words.join(", "), mark]);
    });
    if (!competition) return;
    const least = threshold();
    competition.of[image].filter(place => competition.confidence[place] >= least)
      .sort((a, b) => competition.confidence[b] - competition.confidence[a])
      .forEach(place => tableRow(found, "found", place,
        [competition.confidence[place], claimName(competition.class[place]), word(MARKS[competition.mark[place]])]));
  }

  function go(place, keepList) {
    if (!items.length) { drawList(); draw(); return; }
    const before = items[current] && items[current][0];
    current = Math.max(0, Math.min(items.length - 1, place));
    const [image, detection, object] = items[current];
    chosen = detection >= 0 ? ["found", detection] : object >= 0 ? ["truth", object] : null;
    if (image !== before || !keepList) window_ = null;
    const list = $("list"), top = current * ROW;
    if (top < list.scrollTop || top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 2;
    drawList(); draw();
    history.replaceState(null, "", `#${encodeURIComponent(data.images[image])}`);
  }
  // What can be chosen of a competition: its classes and kinds of results, and what the marks look like.
  function offer() {
    const task = competition ? competition.task : "none", kinds = KINDS[task] || [];
    const refill = (id, fill) => {
      const select = $(id), before = select.selectedOptions[0] ? select.selectedOptions[0].textContent : "";
      select.replaceChildren();
      fill(select);
      const same = [...select.options].find(each => each.textContent === before);
      if (same) select.value = same.value;
    };
    refill("class", select => {
      option(select, "", "all");
      (competition ? competition.names : data.classes).forEach((name, index) => option(select, index, name));
    });
    refill("kind", select => {
      option(select, "all", "everything");
      option(select, "annotated", "images with objects of the class");
      kinds.forEach(name => option(select, name, name === "wrong" && kinds.length > 3 ? "wrong: all kinds" : word(name)));
      ["difficult", "truncated", "occluded", "parts", "actions"].forEach(name => option(select, `flag:${name}`, `with ${name}${name.endsWith("s") ? "" : " objects"}`));
    });
    $("foundTitle").textContent = competition ? competition.noun[0].toUpperCase() + competition.noun.slice(1) : "Results";
    $("legend").replaceChildren();
    ["truth", ...kinds.filter(name => name !== "wrong" || task === "layout"), ...(kinds.includes("ignored") ? [] : ["ignored"])].forEach(kind => {
      const entry = document.createElement("li"), svg = element("svg", {viewBox: "0 0 26 8"}, entry);
      element("line", {x1: 0, y1: 4, x2: 26, y2: 4, class: kind}, svg);
      entry.append(kind === "ignored" ? (task === "layout" ? "difficult, or ignored" : "difficult, or ignored for it") : WORDS[kind]);
      $("legend").append(entry);
    });
  }
  function refresh() {
    const chosenNow = competitions.find(each => each.key === $("competition").value) || null;
    if (chosenNow !== competition) { competition = chosenNow; chosen = null; offer(); }
    const image = items.length ? items[current][0] : -1;
    select();
    $("count").textContent = `${number(items.length)} of ${number(count)} images`;
    if (items.length && items[0][1] >= 0) $("count").textContent = `${number(items.length)} ${competition.noun}`;
    current = Math.max(0, items.findIndex(item => item[0] === image));
    if (items.length && items[0][1] >= 0) current = 0;
    go(current);
  }
  function zoom(factor, x, y) {
    if (!items.length || !window_) return;
    const [left, top, width, height] = window_;
    const cx = x === undefined ? left + width / 2 : x, cy = y === undefined ? top + height / 2 : y;
    window_ = [cx - (cx - left) / factor, cy - (cy - top) / factor, width / factor, height / factor];
    const image = items[current][0];
    if (window_[2] > 1.001 * data.sizes[2 * image] && window_[3] > 1.001 * data.sizes[2 * image + 1]) window_ = null;
    draw();
  }
  function pointIn(event) {
    const svg = $("picture"), point = new DOMPoint(event.clientX, event.clientY);
    return point.matrixTransform(svg.getScreenCTM().inverse());
  }

  function start() {
    document.title = `${data.edition}, ${data.imageSet}: vocboard view`;
    $("title").textContent = `${data.edition}, ${data.imageSet}`;
    const parts = [`${number(count)} images`, `${number(objects.image.length)} objects`];
    competitions.forEach(each => parts.push(`${number(each.image.length)} ${each.noun} in ${each.key}`));
    $("summary").textContent = parts.join(" · ");
    competitions.forEach(each => option($("competition"), each.key, each.key));
    if (!competitions.length) option($("competition"), "", "none");
    else $("competition").value = competition.key;
    offer();
    option($("folder"), "", "all");
    [...new Set(data.folders.flat())].forEach(name => option($("folder"), name, name));
    option($("map"), "", "none");
    const mapNames = {SegmentationClass: "true classes", SegmentationObject: "true objects"};
    Object.keys(data.truthMaps).forEach(folder => option($("map"), folder, mapNames[folder]));
    Object.keys(data.resultMaps).forEach(key => option($("map"), key, key));
    ["competition", "class", "kind", "order", "folder"].forEach(id => $(id).addEventListener("change", refresh));
    ["threshold", "search"].forEach(id => $(id).addEventListener("input", refresh));
    ["showTruth", "showParts", "showFound", "showLabels", "map"].forEach(id => $(id).addEventListener("change", draw));
    $("filters").addEventListener("submit", event => event.preventDefault());
    $("list").addEventListener("scroll", drawList);
    $("previous").addEventListener("click", () => go(current - 1));
    $("next").addEventListener("click", () => go(current + 1));
    $("smaller").addEventListener("click", () => zoom(1 / 1.5));
    $("larger").addEventListener("click", () => zoom(1.5));
    $("fit").addEventListener("click", () => { window_ = null; draw(); });
    const svg = $("picture"), fingers = new Map();
    svg.addEventListener("wheel", event => {
      event.preventDefault();
      const point = pointIn(event);
      zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, point.x, point.y);
    }, {passive: false});
    svg.addEventListener("pointerdown", event => { svg.setPointerCapture(event.pointerId); fingers.set(event.pointerId, event); });
    ["pointerup", "pointercancel"].forEach(kind => svg.addEventListener(kind, event => fingers.delete(event.pointerId)));
    svg.addEventListener("pointermove", event => {
      const before = fingers.get(event.pointerId);
      if (!before || !window_) return;
      const others = [...fingers.values()].filter(each => each.pointerId !== event.pointerId);
      if (others.length) {
        const distance = each => Math.hypot(each.clientX - others[0].clientX, each.clientY - others[0].clientY);
        const point = pointIn(others[0]);
        zoom(distance(event) / (distance(before) || 1), point.x, point.y);
      } else {
        const from = pointIn(before), to = pointIn(event);
        window_ = [window_[0] + from.x - to.x, window_[1] + from.y - to.y, window_[2], window_[3]];
        draw();
      }
      fingers.set(event.pointerId, event);
    });
    document.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.matches("input:not([type=checkbox]), select")) {
        if (event.key === "Escape") event.target.blur();
        return;
      }
      const toggle = id => { $(id).checked = !$(id).checked; draw(); };
      const keys = {
        ArrowLeft: () => go(current - 1), k: () => go(current - 1), ArrowUp: () => go(current - 1),
        ArrowRight: () => go(current + 1), j: () => go(current + 1), ArrowDown: () => go(current + 1),
        PageUp: () => go(current - 20), PageDown: () => go(current + 20), Home: () => go(0), End: () => go(items.length - 1),
        "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), "0": () => { window_ = null; draw(); },
        a: () => toggle("showTruth"), p: () => toggle("showParts"), d: () => toggle("showFound"), l: () => toggle("showLabels"),
        s: () => { const map = $("map"); map.selectedIndex = (map.selectedIndex + 1) % map.options.length; draw(); },
        "/": () => $("search").focus()
      };
      if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
    });
    addEventListener("resize", () => { drawList(); draw(); });
    const wanted = decodeURIComponent(location.hash.slice(1));
    select();
    current = Math.max(0, items.findIndex(item => data.images[item[0]] === wanted));
    $("count").textContent = `${number(items.length)} of ${number(count)} images`;
    go(current);
    document.documentElement.dataset.ready = "yes";
  }
  start();
})();
