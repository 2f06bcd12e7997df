// Suggests a URL name while the title is typed, until another is typed. Never in a field that has the focus: what is
// typed next would be added to it.
const title = document.getElementById("title");
const name = document.querySelector("[data-url-name]");

function suggested() {
  const plain = title.value.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, name.maxLength)
    .replace(/^-+|-+$/g, "");
}

if (name) {
  let isSuggested = !name.value;
  const suggest = () => {
    if (isSuggested && document.activeElement !== name) name.value = suggested();
  };
  name.addEventListener("input", () => {
    isSuggested = !name.value;
  });
  title.addEventListener("input", suggest);
  suggest(); // the title may have been typed before this script was there
}
