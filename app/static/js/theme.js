// The colour scheme: as the system has it, light, or dark. A cookie keeps it, so that the server's next page has it at
// once. A page to which one goes back is as it was, and asks the cookie here.
const ORDER = ["auto", "light", "dark"];
const YEAR_IN_SECONDS = 31_536_000;
const button = document.querySelector("[data-theme-toggle]");

function show(theme) {
  const root = document.documentElement;
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
  button.querySelector("[data-theme-name]").textContent = `Colours: ${theme}. Change.`;
  button.title = `Colours: ${theme}`;
  for (const drawing of button.querySelectorAll("[data-for]")) drawing.toggleAttribute("hidden", drawing.dataset.for !== theme);
}

if (button) {
  const current = () => document.documentElement.dataset.theme ?? "auto";
  button.classList.add("ready");
  const kept = () => /(?:^|; )vocboard_theme=(light|dark)(?:;|$)/.exec(document.cookie)?.[1] ?? "auto";
  show(kept());
  window.addEventListener("pageshow", () => show(kept()));
  button.addEventListener("click", () => {
    const next = ORDER[(ORDER.indexOf(current()) + 1) % ORDER.length];
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `vocboard_theme=${next}; path=/; max-age=${YEAR_IN_SECONDS}; samesite=lax${secure}`;
    show(next);
  });
}
