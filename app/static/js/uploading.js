// What all forms with a file to upload share: the chosen file, drag and drop, progress, and the report put into the page.
const MEBIBYTE = 1024 * 1024;
export const form = document.querySelector("[data-upload]");
const report = document.querySelector("[data-report]");

export const part = (name) => form.querySelector(`[data-${name}]`);
export const size = (bytes) => (bytes < MEBIBYTE ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MEBIBYTE).toFixed(1)} MiB`);

export function showChosen() {
  const file = form.elements.archive.files[0];
  const chosen = part("chosen");
  chosen.hidden = !file;
  chosen.textContent = file ? `${file.name}, ${size(file.size)}` : "";
}

// The same file may be chosen again: after it was corrected, it has the same name.
export function askForAnother(title) {
  form.elements.archive.value = "";
  const heading = form.querySelector("#archive-title");
  if (title && heading) heading.textContent = title;
  showChosen();
}

export function clearReport() {
  report.replaceChildren();
}

export function say(message) {
  const note = document.createElement("div");
  note.className = "note bad";
  note.setAttribute("role", "alert");
  note.textContent = message;
  report.replaceChildren(note);
  report.focus();
}

export function setBusy(isBusy) {
  part("send").disabled = isBusy;
  part("progress").hidden = !isBusy;
  form.setAttribute("aria-busy", String(isBusy));
}

// Without a share, the bar only shows that something goes on.
export function progress(text, share) {
  const bar = form.querySelector("progress");
  if (share === undefined) bar.removeAttribute("value");
  else bar.value = 100 * share;
  part("progress-text").textContent = text;
}

export function sent(bytes, total) {
  if (bytes < total) progress(`${size(bytes)} of ${size(total)} sent`, bytes / total);
  else progress("Upload complete. The server is checking the files.");
}

// Shows the report of a page that the server has answered with, or what else it says; returns whether the file is wrong.
export function showReport(content, status) {
  const page = new DOMParser().parseFromString(content, "text/html");
  const found = page.querySelector("[data-report]");
  if (found && found.childElementCount) {
    report.replaceChildren(...found.childNodes);
    for (const button of report.querySelectorAll("[data-copy]")) button.hidden = false;
    document.dispatchEvent(new CustomEvent("contentchange"));
    report.focus();
    report.scrollIntoView({ block: "start" });
    return report.querySelector("[data-cause]") !== null;
  }
  const text = page.querySelector(".page-head p:not(.crumbs)") ?? page.querySelector("h1");
  say(text ? text.textContent : `The server answered ${status}.`);
  return false;
}

export function acceptFiles(chosen) {
  const drop = part("drop");
  const input = form.elements.archive;
  const hint = part("drop-hint");
  if (hint) hint.hidden = false;
  input.addEventListener("change", chosen);
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    if (!event.dataTransfer.files.length) return;
    const one = new DataTransfer();
    one.items.add(event.dataTransfer.files[0]);
    input.files = one.files;
    chosen();
  });
}
