"use strict";

const operations = document.getElementById("operations");

window.SwaggerUIBundle({
  domNode: operations,
  url: operations.dataset.document,
  deepLinking: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
});
