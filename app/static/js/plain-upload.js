// Ground truth and exports: drag and drop, progress, and the report put into the page, so that the chosen file is not lost.
const MEBIBYTE = 1024 * 1024;
const form = document.querySelector("[data-upload]");
const report = document.querySelector("[data-report]");

const part = (name) => form.querySelector(`[data-${name}]`);
const size = (bytes) => (bytes < MEBIBYTE ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MEBIBYTE).toFixed(1)} MiB`);

function showChosen() {
  const file = form.elements.archive.files[0];
  const chosen = part("chosen");
  chosen.hidden = !file;
  chosen.textContent = file ? `${file.name}, ${size(file.size)}` : "";
}

function say(message) {
  const note = document.createElement("div");
  note.className = "note bad";
  note.setAttribute("role", "alert");
  note.textContent = message;
  report.replaceChildren(note);
  report.focus();
}

function working(isWorking) {
  part("send").disabled = isWorking;
  part("cancel").hidden = !isWorking;
  part("progress").hidden = !isWorking;
  form.setAttribute("aria-busy", String(isWorking));
}

// The same file may be chosen again: after it was corrected, it has the same name.
function askForCorrected() {
  form.elements.archive.value = "";
  form.querySelector("#archive-title").textContent = "Choose the corrected archive";
  showChosen();
}

// The file comes last, so that the server knows the fields even if it stops reading the file.
function content() {
  const data = new FormData(form);
  const file = data.get("archive");
  data.delete("archive");
  data.append("archive", file);
  return data;
}

function progress(sent, total) {
  const bar = form.querySelector("progress");
  const text = part("progress-text");
  if (sent < total) {
    bar.value = (100 * sent) / total;
    text.textContent = `${size(sent)} of ${size(total)} sent`;
  } else {
    bar.removeAttribute("value");
    text.textContent = "Upload complete. The server is checking the files.";
  }
}

function answered(request) {
  working(false);
  if (request.status < 300) {
    location.assign(request.responseURL);
    return;
  }
  const page = new DOMParser().parseFromString(request.responseText, "text/html");
  const found = page.querySelector("[data-report]");
  if (found && found.childElementCount) {
    report.replaceChildren(...found.childNodes);
    for (const button of report.querySelectorAll("[data-copy]")) button.hidden = false;
    document.dispatchEvent(new CustomEvent("contentchange"));
    report.focus();
    report.scrollIntoView({ block: "start" });
    if (report.querySelector("[data-cause]")) askForCorrected();
  } else {
    const text = page.querySelector(".page-head p:not(.crumbs)") ?? page.querySelector("h1");
    say(text ? text.textContent : `The server answered ${request.status}.`);
  }
}

function send(event) {
  event.preventDefault();
  report.replaceChildren();
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "text/html");
  request.upload.addEventListener("progress", (step) => step.lengthComputable && progress(step.loaded, step.total));
  request.upload.addEventListener("load", () => progress(1, 1));
  request.addEventListener("load", () => answered(request));
  request.addEventListener("error", () => {
    working(false);
    say("The connection was lost before the server answered. Check “Submissions” to see whether the upload arrived, or try again.");
  });
  request.addEventListener("abort", () => {
    working(false);
    say("Cancelled. Nothing was stored.");
  });
  part("cancel").onclick = () => request.abort();
  working(true);
  progress(0, form.elements.archive.files[0].size);
  request.send(content());
}

if (form) {
  const drop = part("drop");
  const input = form.elements.archive;
  const hint = part("drop-hint");
  if (hint) hint.hidden = false;
  input.addEventListener("change", showChosen);
  form.addEventListener("submit", send);
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
    showChosen();
  });
  showChosen();
}
