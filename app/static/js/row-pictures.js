// What a method found on the first test images of the showcase, beside its name on a leaderboard: under a pointer that
// rests there, or with the focus. The pictures are those of the method's page. Escape closes them.
const DELAY = 350; // milliseconds
const LINKS = ".board tbody .name > a[href^='/methods/']";
const panel = Object.assign(document.createElement("div"), { className: "row-pictures", popover: "manual" });
panel.setAttribute("role", "group");
const known = new Map();
let timer, shown, hasPictures = true;

async function picturesOf(link) {
  const choice = document.querySelector("[data-showcase]").dataset.showcase; // not before: this script is asynchronous
  const answer = await fetch(`${link.getAttribute("href")}?showcase=${encodeURIComponent(choice)}`);
  const showcase = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#showcase");
  hasPictures = Boolean(showcase);
  const isOfBoard = showcase?.dataset.choice === choice;
  return isOfBoard ? [...showcase.querySelectorAll(".picture")].slice(0, 3).map((one) => document.importNode(one, true)) : [];
}

async function show(link) {
  if (!known.has(link)) known.set(link, picturesOf(link).catch(() => []));
  shown = link;
  const pictures = await known.get(link);
  if (shown !== link || !pictures.length) return;
  panel.replaceChildren(...pictures);
  panel.setAttribute("aria-label", `${link.textContent} on test images`);
  document.body.append(panel);
  panel.showPopover();
  const { bottom, top, left } = link.closest("th").getBoundingClientRect();
  const isBelow = bottom + panel.offsetHeight < innerHeight;
  panel.style.top = `${isBelow ? bottom : Math.max(0, top - panel.offsetHeight)}px`;
  panel.style.left = `${Math.max(0, Math.min(left, innerWidth - panel.offsetWidth))}px`;
}

function hide() {
  clearTimeout(timer);
  shown = null;
  if (panel.isConnected) panel.remove();
}

function soon(event) {
  const link = event.target.closest?.(LINKS);
  clearTimeout(timer);
  if (link && hasPictures && link !== shown) timer = setTimeout(show, DELAY, link);
  else if (!link && !panel.contains(event.target)) timer = setTimeout(hide, DELAY / 2);
}

if (matchMedia("(hover: hover)").matches) document.addEventListener("pointerover", soon);
document.addEventListener("focusin", soon);
document.addEventListener("scroll", hide, { capture: true, passive: true });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
