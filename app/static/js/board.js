// The leaderboard: filters as one types, and reads the row under the pointer or the focus out in full.
const table = document.querySelector(".board");
const filter = document.querySelector("[data-board-filter]");
const readout = document.querySelector("[data-readout]");

function describe(row, cell) {
  const method = row.querySelector(".name a").textContent;
  const rank = row.querySelector(".rank label > span:last-child").textContent.trim();
  const column = cell && cell.cellIndex > 1 ? table.tHead.rows[0].cells[cell.cellIndex].textContent.trim() : "";
  const parts = [`${rank}. ${method}`, row.dataset.people, row.dataset.affiliation];
  if (column) parts.push(`${column}: ${cell.textContent.trim()}`);
  return parts.filter(Boolean).join(" · ");
}

if (table && readout) {
  readout.hidden = false;
  const read = (event) => {
    const row = event.target.closest("tbody tr");
    if (row) readout.textContent = describe(row, event.target.closest("td, th"));
  };
  table.addEventListener("pointerover", read);
  table.addEventListener("focusin", read);
}

if (table && filter) {
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of table.tBodies[0].rows) {
      row.hidden = !words.every((word) => row.dataset.search.includes(word));
    }
  });
}
