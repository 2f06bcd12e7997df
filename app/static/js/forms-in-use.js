// Knows whether somebody is filling in a form, which replacing or reloading a part of the page would empty.
const FIELDS = "input, select, textarea";
const RETRY_MS = 1000;
const touched = new Set();

document.addEventListener("input", (event) => touched.add(event.target));

function isChanged(field) {
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  return field.value !== field.defaultValue; // a select has no default value, and counts as changed
}

export function isInUse(part) {
  const focused = document.activeElement;
  if (focused?.matches(FIELDS) && part.contains(focused)) return true;
  return [...touched].some((field) => part.contains(field) && isChanged(field));
}

export function reloadWhenUnused() {
  if (isInUse(document)) setTimeout(reloadWhenUnused, RETRY_MS);
  else location.reload();
}
