"use strict";

// The colours of the site's other pages: as chosen there, or as the system has them.
const chosen = /(?:^|; )vocboard_theme=(light|dark)(?:;|$)/.exec(document.cookie)?.[1];
const theme = chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
document.documentElement.dataset.theme = theme;
document.documentElement.classList.toggle("dark-mode", theme === "dark");

const operations = document.getElementById("operations");

window.SwaggerUIBundle({
  domNode: operations,
  url: operations.dataset.document,
  // Its links would be inside of buttons, which keyboards and screen readers cannot use.
  deepLinking: false,
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
});
