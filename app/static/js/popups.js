// Panels that open over the page (a question before an action, a menu) close with Escape, which puts the focus
// back on their button, and when something else is clicked.
const POPUPS = "details:is(.asking, .popup)[open]";

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const popup = document.activeElement?.closest(POPUPS) ?? document.querySelector(POPUPS);
  if (!popup) return;
  event.preventDefault();
  popup.open = false;
  popup.querySelector("summary").focus();
});

document.addEventListener("click", (event) => {
  for (const popup of document.querySelectorAll(POPUPS)) {
    if (!popup.contains(event.target)) popup.open = false;
  }
});
