// The archive is uploaded and checked as soon as it is chosen, resumably (tus); meanwhile people fill in the form, which
// then asks what the archive's competitions need. Without this script the form sends everything at once.
import { acceptFiles, askForAnother, clearReport, form, part, progress, say, sent, setBusy, showChosen, showReport } from "./uploading.js";

const RETRY_DELAYS = [0, 1000, 3000, 5000, 10000, 20000, 30000, 30000, 60000]; // milliseconds
const CORRECTED = "Choose the corrected archive";
const ELSEWHERE =
  "Nothing was submitted: you have been signed out, or have to accept terms of the server first. Copy what you have typed, " +
  "reload this page, and choose the archive again. It is not sent again.";
const tus = window.tus;

let running = null; // the upload in progress
let uploaded = null; // the upload that has been checked

const csrf = () => ({ "X-CSRF-Token": form.elements.csrf_token.value });
const clock = (instant) => new Date(instant).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
// Sign-in, for example, where the answer should have been a part of the form, or a submission.
const isElsewhere = (response) => response.redirected && !new URL(response.url).pathname.startsWith("/submissions/");
const idOf = (upload) => new URL(upload.url).pathname.split("/").pop();

// What people have typed or chosen stays when the server's part of the form replaces it. What it asks about one archive
// is not answered for another.
function replaceDeclarations(section) {
  const typed = new FormData(form);
  const files = new Map([...part("declarations").querySelectorAll("input[type=file]")].map((field) => [field.name, field.files]));
  part("declarations").replaceChildren(...section.childNodes);
  for (const field of part("declarations").querySelectorAll("textarea[name], input[type=text]")) {
    if (typed.get(field.name)) field.value = typed.get(field.name);
  }
  for (const choice of part("declarations").querySelectorAll(":is(input[type=radio], input[type=checkbox]):not([data-question] *)")) {
    if (typed.has(choice.name)) choice.checked = typed.getAll(choice.name).includes(choice.value);
  }
  for (const field of part("declarations").querySelectorAll("input[type=file]")) {
    if (files.has(field.name)) field.files = files.get(field.name);
  }
  part("declarations").hidden = false;
}

// The browser has noted where the upload can be continued.
async function forget(upload) {
  const storage = tus.defaultOptions.urlStorage;
  for (const { urlStorageKey } of await upload.findPreviousUploads()) await storage.removeUpload(urlStorageKey);
}

// The server is not waited for: it forgets the upload by itself in a day.
async function remove(upload) {
  await forget(upload);
  upload.abort(true).catch(() => {});
}

// Where people look: the bar is at the top of a long form, and the button that they wait for at its end.
function showSent(bytes, total) {
  sent(bytes, total);
  part("sending").textContent = bytes < total ? `${Math.floor((100 * bytes) / total)} % of the archive sent` : "The server is checking the archive.";
}

// All has arrived: if the connection is lost now, nobody needs to choose the archive again.
async function askForCheck(upload) {
  const address = new URL(form.dataset.check, location.href);
  address.searchParams.set("upload", idOf(upload));
  for (const delay of RETRY_DELAYS) {
    try {
      showSent(1, 1);
      return await fetch(address, { method: "POST", headers: { Accept: "text/html", ...csrf() } });
    } catch (error) {
      if (running !== upload) return null;
      progress("Upload complete. The connection was lost. The check begins when it is back.");
      await new Promise((resolve) => setTimeout(resolve, Math.max(delay, 1000)));
      if (running !== upload) return null;
      if (delay === RETRY_DELAYS.at(-1)) throw error;
    }
  }
}

async function check(upload) {
  const response = await askForCheck(upload);
  if (running !== upload) return;
  running = null;
  setBusy(false);
  if (isElsewhere(response)) {
    askForAnother();
    say(ELSEWHERE);
    return;
  }
  if (response.ok) {
    uploaded = upload;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    part("checked").replaceChildren(...page.querySelector("[data-checked]").childNodes);
    replaceDeclarations(page.querySelector("[data-declarations]"));
    return;
  }
  const isRejected = showReport(await response.text(), response.status);
  // 409: it was begun for a phase that has closed since, and would only be continued.
  if (isRejected || response.status === 409) await remove(upload);
  askForAnother(isRejected ? CORRECTED : "");
}

async function failed(upload, file, error) {
  if (running !== upload) return;
  running = null;
  setBusy(false);
  askForAnother();
  const response = error.originalResponse;
  if (response) {
    let said = {};
    try {
      said = JSON.parse(response.getBody());
    } catch {
      // not from vocboard itself
    }
    const next = said.allowed_at ? ` The next upload is possible from ${clock(said.allowed_at)}.` : "";
    say((said.detail || `The server answered ${response.getStatus()}.`) + next);
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
  upload?.abort().catch(() => {});
  part("checked").replaceChildren();
  setBusy(false);
  return upload;
}

async function begin() {
  const file = form.elements.archive.files[0];
  stop();
  clearReport();
  showChosen();
  if (!file) return;
  if (!file.size) {
    askForAnother();
    say(`${file.name} is empty. Choose the archive with your result files.`);
    return;
  }
  const upload = new tus.Upload(file, {
    endpoint: new URL(form.dataset.uploads, location.href).href,
    headers: csrf(),
    metadata: { filename: file.name },
    retryDelays: RETRY_DELAYS,
    // Without an offset tus-js-client begins again. That a proxy's server restarts must not cost what has arrived.
    onAfterResponse: (request, response) => {
      const status = response.getStatus();
      if (request.getMethod() === "HEAD" && status >= 500) throw new Error(`The server answered ${status}.`);
    },
    onShouldRetry: (error) => {
      stopIfChanged(upload, file);
      const status = error.originalResponse?.getStatus() ?? 0;
      // 507: the disk is full. The answer says so; trying again now is of no use.
      const mayPass = status < 400 || (status >= 500 && status !== 507) || status === 409 || status === 423;
      if (mayPass && running === upload) progress("The connection was lost. The upload continues when it is back.");
      return mayPass;
    },
    onProgress: (bytes, total) => running === upload && showSent(bytes, total),
    onError: (error) => failed(upload, file, error),
    onSuccess: () => running === upload && check(upload).catch((error) => failed(upload, file, error)),
  });
  running = upload;
  setBusy(true);
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
  const upload = uploaded;
  const data = new FormData(form);
  data.delete("archive");
  const address = new URL(form.action);
  address.searchParams.set("upload", idOf(upload));
  part("send").disabled = true;
  part("sending").textContent = "The server is checking the archive and the form.";
  form.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(address, { method: "POST", headers: { Accept: "text/html" }, body: data });
    if (isElsewhere(response)) {
      say(ELSEWHERE);
    } else if (response.ok) {
      await forget(upload);
      location.assign(response.url);
    } else if (showReport(await response.text(), response.status)) {
      await forget(upload);
      uploaded = null;
      part("checked").replaceChildren();
      askForAnother(CORRECTED);
    }
  } catch {
    say("The connection to the server was lost. Submit again: a second attempt is not counted twice.");
  }
  part("send").disabled = false;
  part("sending").textContent = "";
  form.setAttribute("aria-busy", "false");
}

if (form && tus?.isSupported) {
  part("declarations").hidden = true;
  part("send").textContent = "Submit";
  acceptFiles(begin);
  part("cancel").addEventListener("click", () => {
    const upload = stop();
    if (upload) remove(upload);
    askForAnother();
    say("Cancelled. Nothing was stored.");
  });
  form.addEventListener("submit", send);
  if (form.elements.archive.files.length) begin(); // kept by the browser when the page was reloaded
}
