// Ground truth and exports: drag and drop, progress, and the report put into the page, so that the chosen file is not lost.
import { acceptFiles, askForAnother, clearReport, form, part, say, sent, setBusy, showChosen, showReport } from "./uploading.js";

function setSending(isSending) {
  setBusy(isSending);
  part("cancel").hidden = !isSending;
}

// The file comes last, so that the server knows the fields even if it stops reading the file.
function content() {
  const data = new FormData(form);
  const file = data.get("archive");
  data.delete("archive");
  data.append("archive", file);
  return data;
}

function answered(request) {
  setSending(false);
  if (request.status < 300) location.assign(request.responseURL);
  else if (showReport(request.responseText, request.status)) askForAnother("Choose the corrected archive");
}

function send(event) {
  event.preventDefault();
  clearReport();
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "text/html");
  request.upload.addEventListener("progress", (step) => step.lengthComputable && sent(step.loaded, step.total));
  request.upload.addEventListener("load", () => sent(1, 1));
  request.addEventListener("load", () => answered(request));
  request.addEventListener("error", () => {
    setSending(false);
    say("The connection was lost before the server answered. Check “Submissions” to see whether the upload arrived, or try again.");
  });
  request.addEventListener("abort", () => {
    setSending(false);
    say("Cancelled. Nothing was stored.");
  });
  part("cancel").onclick = () => request.abort();
  setSending(true);
  sent(0, form.elements.archive.files[0].size);
  request.send(content());
}

if (form) {
  acceptFiles(showChosen);
  form.addEventListener("submit", send);
  showChosen();
}
