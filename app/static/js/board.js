// The leaderboard: filters as one types, colours the chosen methods, and reads the row under the pointer or the focus
// out in full. All state is in the address, as the server reads it, so that it survives a reload.
const table = document.querySelector(".board");
const filter = document.querySelector("[data-board-filter]");
const readout = document.querySelector("[data-readout]");
const bar = document.querySelector(".board-bar");
const frame = document.querySelector(".board-frame");

function nameOf(row) {
  return row.querySelector(".name > :first-child").textContent;
}

function describe(row, cell) {
  const rank = row.querySelector(".rank").textContent.trim();
  const head = cell && cell.cellIndex > 1 ? table.tHead.rows[0].cells[cell.cellIndex] : null;
  const column = head ? (head.firstElementChild ?? head).textContent.trim() : "";
  const parts = [rank === "–" ? nameOf(row) : `${rank}. ${nameOf(row)}`, row.querySelector(".name").title].filter(Boolean);
  if (column) parts.push(`${column}: ${cell.textContent.trim()}`);
  return parts.join(" · ");
}

if (table && readout) {
  const read = (event) => {
    const row = event.target.closest("tbody tr");
    readout.hidden = !row;
    if (row) readout.textContent = describe(row, event.target.closest("td, th"));
  };
  table.addEventListener("pointerover", read);
  table.addEventListener("focusin", read);
  const hide = () => { readout.hidden = true; };
  table.addEventListener("pointerleave", hide);
  table.addEventListener("focusout", hide);
}

if (frame) {
  const scroller = frame.querySelector(".board-scroll");
  const look = () => frame.toggleAttribute("data-more", scroller.scrollWidth - scroller.clientWidth - scroller.scrollLeft > 2);
  scroller.addEventListener("scroll", look, { passive: true });
  // The column that the rows are sorted by is beside those that stay in sight, not out of view.
  const sorted = table.tHead.querySelector("[aria-sort]");
  if (sorted && sorted.offsetLeft + sorted.offsetWidth > scroller.clientWidth) {
    scroller.scrollLeft = sorted.offsetLeft - Number.parseFloat(getComputedStyle(scroller).scrollPaddingLeft);
  }
  new ResizeObserver(look).observe(scroller);
}

// What the address, links and forms of the page say of one field.
function state(name, values) {
  const changed = (address) => {
    const url = new URL(address, location.href);
    url.searchParams.delete(name);
    if (name === "q") url.searchParams.delete("page");
    for (const value of values) url.searchParams.append(name, value);
    return url;
  };
  history.replaceState(null, "", changed(location.href));
  for (const link of document.querySelectorAll(".board thead a, .progress a, a[data-keep], .pages a")) {
    const href = link.getAttribute("href");
    const url = changed(href.startsWith("?") ? location.pathname + href : href);
    link.setAttribute("href", url.pathname + url.search + url.hash);
  }
  const search = document.querySelector(".board-tools form");
  if (!search || name === "q") return;
  for (const field of search.querySelectorAll(`input[type=hidden][name="${name}"]`)) field.remove();
  for (const value of values) search.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
}

if (table && filter) {
  const count = document.querySelector("[data-count]");
  const nothing = document.querySelector("[data-no-match]");
  const all = Number(count.dataset.count);
  const peopleOf = ({ dataset, title }) => dataset.people ?? title;
  const rows = [...table.tBodies[0].rows].filter((row) => !row.classList.contains("reported")).map((row) => [row, `${nameOf(row)} ${peopleOf(row.querySelector(".name"))}`.toLowerCase()]);
  // Rows that the server has left out because of the filter in the address are not here: ask it again.
  const isWhole = rows.length === all;
  filter.addEventListener("input", () => {
    if (!isWhole) return;
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [row, text] of rows) {
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) shown += 1;
    }
    count.textContent = words.length ? `${shown} of ${all} ${all === 1 ? "method" : "methods"}` : `${all} ${all === 1 ? "method" : "methods"}`;
    frame.hidden = shown === 0;
    nothing.hidden = shown > 0;
    state("q", words.length ? [filter.value.trim().replace(/\s+/g, " ")] : []);
  });
}

if (table && bar) {
  const max = Number(bar.dataset.max);
  const status = bar.querySelector("[data-choice-status]");
  const chips = bar.querySelector("[data-chips]");
  const boxes = [...table.querySelectorAll("input[name=method]")];
  const elsewhere = new Map([...bar.querySelectorAll("[data-elsewhere]")].map((field) => [field.value, field.dataset.name]));
  let chosen = new URLSearchParams(location.search).getAll("method");

  const show = () => {
    const here = new Map(boxes.map((box) => [box.value, box]));
    const listed = chosen.filter((id) => here.has(id) || elsewhere.has(id));
    const items = [];
    for (const [id, box] of here) {
      const number = listed.indexOf(id);
      const row = box.closest("tr");
      row.className = [...row.classList].filter((name) => !/^s\d+$/.test(name)).join(" ");
      if (number >= 0) row.classList.add(`s${number}`);
      box.checked = number >= 0;
    }
    listed.forEach((id, number) => {
      const item = document.createElement("li");
      item.className = `s${number}`;
      item.append(document.createElement("i"), here.has(id) ? nameOf(here.get(id).closest("tr")) : elsewhere.get(id));
      items.push(item);
    });
    chips.replaceChildren(...items);
    bar.classList.toggle("open", listed.length > 0);
  };
  table.addEventListener("change", (event) => {
    if (event.target.name !== "method") return;
    status.textContent = "";
    chosen = chosen.filter((id) => id !== event.target.value);
    if (event.target.checked) {
      if (chosen.length >= max) status.textContent = `At most ${max} methods.`;
      else chosen.push(event.target.value);
    }
    show();
    state("method", chosen);
  });
  bar.querySelector("[name=class]")?.addEventListener("change", (event) => state("class", [event.target.value]));
  bar.querySelector("[data-clear]").addEventListener("click", (event) => {
    event.preventDefault();
    chosen = [];
    elsewhere.clear();
    for (const field of bar.querySelectorAll("[data-elsewhere]")) field.remove();
    show();
    state("method", chosen);
  });
  // The order in which they were chosen, which gives the colours, is the address's.
  bar.addEventListener("formdata", (event) => {
    event.formData.delete("method");
    for (const id of chosen) event.formData.append("method", id);
  });
  show();
}
