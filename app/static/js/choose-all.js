// One checkbox that ticks all others of its table.
for (const all of document.querySelectorAll("[data-choose-all]")) {
  const boxes = () => all.closest("table").querySelectorAll("tbody input[type=checkbox]");
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes()) box.checked = all.checked;
  });
  all.closest("table").addEventListener("change", () => {
    const ticked = [...boxes()].filter((box) => box.checked).length;
    all.checked = ticked === boxes().length;
    all.indeterminate = ticked > 0 && !all.checked;
  });
}
