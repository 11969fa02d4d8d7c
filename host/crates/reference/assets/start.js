// Shows the API's own description. A token that is entered stays in this page.
"use strict";

window.addEventListener("load", () => {
  SwaggerUIBundle({
    url: "/v1/openapi.json",
    dom_id: "#reference",
    deepLinking: true,
    docExpansion: "none",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    operationsSorter: "alpha",
    tagsSorter: "alpha",
    tryItOutEnabled: false,
    // Descriptions are checked by the server's own tests, and never sent elsewhere.
    validatorUrl: null,
    syntaxHighlight: { activated: false },
  });
});
