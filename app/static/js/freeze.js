// Who types a date to freeze on means "On a date".
const date = document.getElementById("freezes_at");
const choice = document.querySelector('input[name="freeze"][value="date"]');

date.addEventListener("input", () => {
  if (date.value) choice.checked = true;
});
