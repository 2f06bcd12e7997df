// On a narrow screen the row of competitions scrolls: bring the one that is shown into view.
const current = document.querySelector(":is(.tabs, .switch) [aria-current], .tiles > .here");
if (current) {
  const row = current.closest(".tabs, .switch, .tiles");
  row.scrollLeft = current.offsetLeft - row.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
}
