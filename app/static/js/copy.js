// Buttons that copy the text of another element.
for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  const text = (source.value ?? source.textContent).trim();
  const label = (button.dataset.label ??= button.textContent); // not "Copied", of a second click
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = "Selected: copy it now";
  }
  setTimeout(() => (button.textContent = label), 2000);
});
