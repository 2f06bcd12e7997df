// Fetches the page again while something on it is unfinished, and puts the marked part of it in.
import { isInUse, reloadWhenUnused } from "./forms-in-use.js";
import { localise } from "./times.js";

const INTERVAL_MS = 2000;
const part = document.querySelector("[data-refresh]");

const named = (summary) => summary.closest("article, details.panel")?.querySelector("h3")?.textContent + summary.textContent;

function replace(fresh) {
  const opened = new Set([...part.querySelectorAll("details[open] > summary")].map(named));
  part.replaceChildren(...fresh.childNodes);
  for (const summary of part.querySelectorAll("details > summary")) {
    if (opened.has(named(summary))) summary.parentElement.open = true;
  }
  localise(part);
}

async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => undefined);
  const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
  if (page && !isInUse(part)) {
    const fresh = page.querySelector("[data-refresh]");
    if (fresh) replace(fresh);
    if (fresh?.dataset.unfinished === undefined) { // or this is the page to sign in
      // The message of the form that began it is out of date, now that it has ended.
      const address = new URL(location.href);
      address.searchParams.delete("done");
      history.replaceState(null, "", address);
      reloadWhenUnused();
      return;
    }
  }
  setTimeout(refresh, INTERVAL_MS);
}

if (part) setTimeout(refresh, INTERVAL_MS);
