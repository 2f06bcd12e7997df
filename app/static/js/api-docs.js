"use strict";

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
