// Every instant is written in UTC by the server; the reader's own time is put before it.
const local = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const zone = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" });
const STEPS = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000]];
const relative = new Intl.RelativeTimeFormat("en-GB", { numeric: "auto" });

const date = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const LONG_AGO = -30 * 86_400_000;

function ago(instant) {
  const distance = instant - Date.now();
  if (distance < LONG_AGO) return date.format(instant);
  const nearly = distance < 0 ? 0 : 0.04; // 90 days from now are 90 days, also a second later
  for (const [unit, length] of STEPS) {
    const whole = Math.trunc(distance / length + nearly);
    if (whole !== 0) return relative.format(whole, unit);
  }
  return "just now";
}

export function inLocalWords(instant) {
  const name = zone.formatToParts(instant).find((part) => part.type === "timeZoneName").value;
  return `${local.format(instant)} ${name}`;
}

export function localise(root = document) {
  for (const element of root.querySelectorAll("time[data-instant]:not([data-done])")) {
    const instant = new Date(element.dateTime);
    const utc = element.textContent.trim();
    element.dataset.done = "";
    if (element.dataset.instant === "ago") {
      element.textContent = ago(instant);
      element.title = `${local.format(instant)} (${element.title})`;
    } else if (instant.getTimezoneOffset() !== 0) {
      const aside = document.createElement("span");
      aside.className = "utc";
      aside.textContent = `(${utc})`;
      const own = document.createElement("span");
      own.textContent = inLocalWords(instant);
      element.replaceChildren(own, " ", aside);
    }
  }
}

localise();
document.addEventListener("contentchange", () => localise());
