// What all forms with a file to upload share: the chosen file, drag and drop, progress, and the report put into the page.
const MEBIBYTE = 1024 * 1024;
const MEASURED_SECONDS = 10;
const PACK = "Pack the files into one archive, for example with “tar czf results.tar.gz results/”, and drop that.";
export const form = document.querySelector("[data-upload]");
export const field = form?.dataset.upload || "archive"; // the name of the file's field
const report = document.querySelector("[data-report]");

export const part = (name) => form.querySelector(`[data-${name}]`);
export const size = (bytes) => (bytes < MEBIBYTE ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MEBIBYTE).toFixed(1)} MiB`);

export function showChosen() {
  const file = form.elements[field].files[0];
  const chosen = part("chosen");
  chosen.hidden = !file;
  chosen.textContent = file ? `${file.name}, ${size(file.size)}` : "";
}

// The same file may be chosen again: after it was corrected, it has the same name.
export function askForAnother(title) {
  form.elements[field].value = "";
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
  if (!isBusy && part("sending")) part("sending").textContent = "";
  form.setAttribute("aria-busy", String(isBusy));
}

// Without a share, the bar only shows that something goes on. Numbers that change all the time are not read out.
export function progress(text, share) {
  part("progress-text").setAttribute("aria-live", share > 0 ? "off" : "polite");
  if (!(share > 0)) measured = [];
  const bar = form.querySelector("progress");
  if (share === undefined) bar.removeAttribute("value");
  else bar.value = 100 * share;
  part("progress-text").textContent = text;
}

let measured = []; // [seconds, bytes sent] of the last seconds

// How fast the upload is and how long it will take; empty in its first second.
function pace(bytes, total) {
  const now = performance.now() / 1000;
  if (measured.length && bytes < measured[0][1]) measured = []; // another upload
  measured.push([now, bytes]);
  while (now - measured[0][0] > MEASURED_SECONDS && measured.length > 2) measured.shift();
  const [since, before] = measured[0];
  if (now - since < 1 || bytes === before) return "";
  const perSecond = (bytes - before) / (now - since);
  const seconds = Math.ceil((total - bytes) / perSecond);
  const left = seconds < 90 ? `${seconds} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
  return ` · ${size(perSecond)}/s · about ${left} left`;
}

export function sent(bytes, total) {
  if (bytes < total) progress(`${size(bytes)} of ${size(total)} sent${pace(bytes, total)}`, bytes / total);
  else progress("Upload complete. The server is checking the files.");
}

// Shows the report of a page that the server has answered with, or what else it says; returns whether the file is wrong.
export function showReport(content, status) {
  const page = new DOMParser().parseFromString(content, "text/html");
  const found = page.querySelector("[data-report]");
  if (found && found.childElementCount) {
    report.replaceChildren(...found.childNodes);
    for (const asked of report.querySelectorAll("input[type=checkbox][form]")) {
      document.querySelector(`form [data-question="${asked.name}"]`)?.remove(); // not asked twice
    }
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

// What is wrong with what was dropped; empty if it is one file.
function wronglyDropped({ files, items }) {
  if (files.length > 1) return `You dropped ${files.length} files. ${PACK}`;
  const entry = items[0]?.webkitGetAsEntry?.();
  return entry?.isDirectory ? `“${entry.name}” is a folder. ${PACK}` : "";
}

const hasFiles = (event) => event.dataTransfer?.types.includes("Files");

// A file that is dropped beside the form would replace the page, and with it all that was typed.
function ignoreFilesBeside(drop) {
  for (const name of ["dragover", "drop"]) {
    window.addEventListener(name, (event) => {
      if (!hasFiles(event) || drop.contains(event.target)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "none";
    });
  }
}

export function acceptFiles(chosen) {
  const drop = part("drop");
  ignoreFilesBeside(drop);
  const input = form.elements[field];
  const hint = part("drop-hint");
  if (hint) hint.hidden = false;
  input.addEventListener("change", chosen);
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  drop.addEventListener("dragleave", (event) => {
    if (!drop.contains(event.relatedTarget)) drop.classList.remove("over");
  });
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    const wrong = wronglyDropped(event.dataTransfer);
    if (wrong) {
      say(wrong);
      return;
    }
    const one = new DataTransfer();
    one.items.add(event.dataTransfer.files[0]);
    input.files = one.files;
    chosen();
  });
}
