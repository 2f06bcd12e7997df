// The slider of a showcase: shows so many results per image, on average. Without this, its form asks the server.
for (const slider of document.querySelectorAll("input[type=range][data-images]")) {
  const showcase = slider.closest("section");
  slider.addEventListener("input", () => {
    const shown = slider.value * slider.dataset.images;
    for (const one of showcase.querySelectorAll("[data-rank]")) one.toggleAttribute("hidden", one.dataset.rank >= shown);
    slider.form.querySelector("output").value = slider.value;
    for (const least of showcase.querySelectorAll("[data-least]")) {
      const found = showcase.querySelectorAll(`[data-series="${least.dataset.least}"] li[data-rank]:not([hidden])`);
      const last = [...found].sort((one, other) => other.dataset.rank - one.dataset.rank)[0];
      if (last) least.textContent = last.dataset.confidence;
    }
  });
}
