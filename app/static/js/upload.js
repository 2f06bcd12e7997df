// The archive is uploaded and checked as soon as it is chosen, resumably (tus); meanwhile people fill in the form, which
// then asks what the archive's competitions need. Without this script the form sends everything at once.
const MEBIBYTE = 1024 * 1024;
const RETRY_DELAYS = [0, 1000, 3000, 5000, 10000, 20000, 30000, 30000, 60000]; // milliseconds
const form = document.querySelector("[data-upload]");
const report = document.querySelector("[data-report]");
const tus = window.tus;

let running = null; // the upload in progress
let uploaded = null; // the id of the upload that has been checked

const part = (name) => form.querySelector(`[data-${name}]`);
const size = (bytes) => (bytes < MEBIBYTE ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MEBIBYTE).toFixed(1)} MiB`);
const csrf = () => ({ "X-CSRF-Token": form.elements.csrf_token.value });

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
  part("progress").hidden = !isWorking;
  form.setAttribute("aria-busy", String(isWorking));
}

function progress(text, share) {
  const bar = form.querySelector("progress");
  if (share === undefined) bar.removeAttribute("value");
  else bar.value = 100 * share;
  part("progress-text").textContent = text;
}

// The same file may be chosen again: after it was corrected, it has the same name.
function askForAnother(title) {
  form.elements.archive.value = "";
  if (title) form.querySelector("#archive-title").textContent = title;
  showChosen();
}

async function show(response) {
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
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
  say(text ? text.textContent : `The server answered ${response.status}.`);
  return false;
}

// What people have typed stays when the server's part of the form replaces it.
function replaceDeclarations(section) {
  const typed = new FormData(form);
  part("declarations").replaceChildren(...section.childNodes);
  for (const field of part("declarations").querySelectorAll("textarea[name]")) {
    if (typed.get(field.name)) field.value = typed.get(field.name);
  }
  for (const choice of part("declarations").querySelectorAll("input[type=radio], input[type=checkbox]")) {
    if (typed.has(choice.name)) choice.checked = typed.getAll(choice.name).includes(choice.value);
  }
  part("declarations").hidden = false;
}

async function check(upload) {
  progress("Upload complete. The server is checking the files.");
  const id = new URL(upload.url).pathname.split("/").pop();
  const address = new URL(form.dataset.check, location.href);
  address.searchParams.set("upload", id);
  const headers = { Accept: "text/html", ...csrf() };
  const response = await fetch(address, { method: "POST", headers });
  if (running !== upload) return;
  running = null;
  working(false);
  if (response.ok) {
    uploaded = id;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    part("checked").replaceChildren(...page.querySelector("[data-checked]").childNodes);
    replaceDeclarations(page.querySelector("[data-declarations]"));
    return;
  }
  const isRejected = await show(response);
  if (isRejected) upload.abort(true).catch(() => {}); // it is not needed any more
  askForAnother(isRejected ? "Choose the corrected archive" : "");
}

async function failed(upload, file, error) {
  if (running !== upload) return;
  running = null;
  working(false);
  askForAnother();
  const response = error.originalResponse;
  if (response) {
    let detail = "";
    try {
      detail = JSON.parse(response.getBody()).detail;
    } catch {
      // not from vocboard itself
    }
    say(detail || `The server answered ${response.getStatus()}.`);
    return;
  }
  try {
    await file.slice(0, 1).arrayBuffer();
    say("The connection to the server was lost. Choose the archive again: the upload continues where it stopped.");
  } catch {
    say("The archive was changed, moved or deleted after you chose it. Choose it again.");
  }
}

// A file that was changed on disk cannot be read any more: trying again is of no use.
async function stopIfChanged(upload, file) {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch (error) {
    upload.abort().catch(() => {});
    await failed(upload, file, error);
  }
}

function stop() {
  const upload = running;
  running = uploaded = null;
  upload?.abort(true).catch(() => {});
  part("checked").replaceChildren();
  working(false);
}

async function begin() {
  stop();
  report.replaceChildren();
  showChosen();
  const file = form.elements.archive.files[0];
  if (!file) return;
  const upload = new tus.Upload(file, {
    endpoint: new URL(form.dataset.uploads, location.href).href,
    headers: csrf(),
    metadata: { filename: file.name },
    retryDelays: RETRY_DELAYS,
    removeFingerprintOnSuccess: true,
    // Without an offset tus-js-client begins again. That a proxy's server restarts must not cost what has arrived.
    onAfterResponse: (request, response) => {
      const status = response.getStatus();
      if (request.getMethod() === "HEAD" && status >= 500) throw new Error(`The server answered ${status}.`);
    },
    onShouldRetry: (error) => {
      stopIfChanged(upload, file);
      const status = error.originalResponse?.getStatus() ?? 0;
      return status < 400 || status >= 500 || status === 409 || status === 423;
    },
    onProgress: (sent, total) => running === upload && progress(`${size(sent)} of ${size(total)} sent`, sent / total),
    onError: (error) => failed(upload, file, error),
    onSuccess: () => running === upload && check(upload).catch((error) => failed(upload, file, error)),
  });
  running = upload;
  working(true);
  progress("Connecting", 0);
  const previous = await upload.findPreviousUploads();
  if (running !== upload) return;
  if (previous.length) upload.resumeFromPreviousUpload(previous[0]);
  upload.start();
}

async function send(event) {
  event.preventDefault();
  if (!uploaded) {
    say("Choose an archive first.");
    return;
  }
  const data = new FormData(form);
  data.delete("archive");
  const address = new URL(form.action);
  address.searchParams.set("upload", uploaded);
  part("send").disabled = true;
  form.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(address, { method: "POST", headers: { Accept: "text/html" }, body: data });
    if (response.ok) location.assign(response.url);
    else if (await show(response)) {
      uploaded = null;
      part("checked").replaceChildren();
      askForAnother("Choose the corrected archive");
    }
  } catch {
    say("The connection to the server was lost. Submit again: a second attempt is not counted twice.");
  }
  part("send").disabled = false;
  form.setAttribute("aria-busy", "false");
}

if (form && tus?.isSupported) {
  const drop = part("drop");
  const input = form.elements.archive;
  part("drop-hint").hidden = false;
  part("declarations").hidden = true;
  part("send").textContent = "Submit";
  input.addEventListener("change", begin);
  part("cancel").addEventListener("click", () => {
    stop();
    askForAnother();
    say("Cancelled. Nothing was stored.");
  });
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
    begin();
  });
  if (input.files.length) begin(); // kept by the browser when the page was reloaded
}
