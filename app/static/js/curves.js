// Draws the ticked curves without loading the page again. They are in the address, as the server reads it.
const form = document.querySelector("[data-curves]");
const plot = document.querySelector("[data-plot]");

async function draw() {
  const address = `?${new URLSearchParams(new FormData(form))}`;
  history.replaceState(null, "", address);
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-plot]");
  if (fresh && address === location.search) plot.replaceChildren(...fresh.childNodes);
}

if (form && plot) {
  for (const button of form.querySelectorAll("button")) button.hidden = true;
  form.addEventListener("change", draw);
}
