"use strict";

// The colours of the site's other pages: as chosen there, also in another tab, or as the system has them.
const dark = matchMedia("(prefers-color-scheme: dark)");

function show() {
  const chosen = /(?:^|; )vocboard_theme=(light|dark)(?:;|$)/.exec(document.cookie)?.[1];
  const theme = chosen ?? (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  document.documentElement.classList.toggle("dark-mode", theme === "dark");
}

show();
dark.addEventListener("change", show);
document.addEventListener("visibilitychange", show);
window.addEventListener("pageshow", show); // back from a page where another theme was chosen

const operations = document.getElementById("operations");

window.SwaggerUIBundle({
  domNode: operations,
  url: operations.dataset.document,
  // Its links would be inside of buttons, which keyboards and screen readers cannot use.
  deepLinking: false,
  docExpansion: "none", // subjects; with all operations at once, it stops after some of them
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
});
