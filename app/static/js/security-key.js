// Forms that are answered by a security key: `data-creates` or `data-asks` has the options for the browser.
for (const form of document.querySelectorAll("form[data-creates], form[data-asks]")) {
  const isSupported = "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;
  if (!isSupported) continue;
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    if (form.elements.key.value) return;
    event.preventDefault();
    const failure = form.querySelector("[data-failure]");
    failure.hidden = true;
    try {
      const { creates, asks } = form.dataset;
      const credential = creates
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(creates)) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(JSON.parse(asks)) });
      form.elements.key.value = JSON.stringify(credential.toJSON());
      form.requestSubmit();
    } catch {
      failure.hidden = false;
    }
  });
}
