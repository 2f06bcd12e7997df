// Ground truth, exports, files: drag and drop, progress, and the report put into the page, so that the chosen file is not lost.
import { acceptFiles, askForAnother, clearReport, field, form, part, say, sent, setBusy, showChosen, showReport } from "./uploading.js";

const isSentAtOnce = form?.dataset.atOnce !== undefined; // as soon as the file is chosen
const LOOK = "The server may have taken it: look in another tab before you try again.";
let running = null; // the request that uploads

function setSending(isSending) {
  setBusy(isSending);
  part("cancel").hidden = !isSending;
}

// The file comes last, so that the server knows the fields even if it stops reading the file.
function content() {
  const data = new FormData(form);
  const file = data.get(field);
  data.delete(field);
  data.append(field, file);
  return data;
}

function answered(request) {
  setSending(false);
  if (request.status < 300) location.assign(request.responseURL);
  else if (showReport(request.responseText, request.status)) askForAnother("Choose the corrected archive");
}

function send(event) {
  event.preventDefault();
  const [before, request] = [running, new XMLHttpRequest()];
  running = request;
  before?.abort();
  clearReport();
  let isSent = false; // all of it, so that the server goes on even if nobody waits
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "text/html");
  request.upload.addEventListener("progress", (step) => step.lengthComputable && sent(step.loaded, step.total));
  request.upload.addEventListener("load", () => {
    isSent = true;
    sent(1, 1);
  });
  request.addEventListener("load", () => answered(request));
  request.addEventListener("error", () => {
    setSending(false);
    if (isSentAtOnce) askForAnother();
    say(`The connection was lost before the server answered. ${isSent ? LOOK : "Try again."}`);
  });
  request.addEventListener("abort", () => {
    setSending(false);
    if (isSentAtOnce && running === request) askForAnother();
    say(isSent ? `All had been sent when you cancelled. ${LOOK}` : "Cancelled. Nothing was stored.");
  });
  part("cancel").onclick = () => request.abort();
  setSending(true);
  sent(0, form.elements[field].files[0].size);
  request.send(content());
}

function chosen() {
  showChosen();
  if (isSentAtOnce && form.elements[field].files.length) form.requestSubmit();
}

if (form) {
  if (isSentAtOnce) part("send").hidden = true;
  acceptFiles(chosen);
  form.addEventListener("submit", send);
  chosen(); // before this script was there, or kept by the browser when the page was reloaded
}
