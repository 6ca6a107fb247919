// What makes the page quicker to use; without it everything works, a page at a time.
"use strict";

const say = (text) => { document.getElementById("status").textContent = text; };

// Show another page in place of this one, without losing the place.
// The focus stays where it was, or goes to what went wrong.
async function show(response, push) {
  const focused = document.activeElement;
  const same = (place) => focused && focused.closest("main") && Array.from(place.querySelectorAll(focused.tagName))
    .find((one) => one.id ? one.id === focused.id : one.name === focused.name && one.value === focused.value
      && one.textContent === focused.textContent);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.querySelector("main");
  if (!fresh) { location.assign(response.url); return; }
  document.querySelector("main").replaceWith(fresh);
  document.title = page.title;
  document.body.dataset.csrf = page.body.dataset.csrf || "";
  if (push && response.redirected) history.replaceState(null, "", response.url);
  const message = fresh.querySelector("[role=alert]") || fresh.querySelector("[role=status]");
  say(message ? message.textContent : page.title);
  const place = fresh.querySelector("[role=alert] button, [aria-invalid=true]") || same(fresh) || (push && fresh);
  if (place) place.focus({ preventScroll: place === fresh });
  wait();
}

function wait() {
  const place = document.querySelector("[data-again]");
  if (place) setTimeout(again, Number(place.dataset.again) || 400);
}

async function again() {
  try { await show(await fetch(location.href), false); } catch { setTimeout(again, 3000); }
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-live]")) return;
  event.preventDefault();
  const content = new FormData(form, event.submitter);
  const buttons = form.querySelectorAll("button");
  buttons.forEach((one) => { one.disabled = true; });
  say(document.body.dataset.working);
  try {
    await show(await fetch(form.action, { method: "POST", body: new URLSearchParams(content) }), true);
  } catch {
    buttons.forEach((one) => { one.disabled = false; });
    form.submit();
  }
});

// A visit that is opened says why it is in the plan.
document.addEventListener("toggle", async (event) => {
  const visit = event.target;
  if (!visit.open || !visit.dataset.why || visit.dataset.said) return;
  visit.dataset.said = "1";
  const place = visit.querySelector("[data-here]");
  try {
    const response = await fetch(visit.dataset.why);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const part = page.querySelector("[data-part]");
    if (part) place.replaceChildren(...part.children);
  } catch { delete visit.dataset.said; }
}, true);

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) { window.print(); return; }
  const back = event.target.closest("[data-back]");
  if (back && history.length > 1) { event.preventDefault(); history.back(); }
  document.querySelectorAll("details.menu[open]").forEach((menu) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  document.querySelectorAll("details.menu[open]").forEach((menu) => {
    menu.open = false;
    menu.querySelector("summary").focus();
  });
});

// A sheet that is dropped on its place is chosen.
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    const place = event.target.closest && event.target.closest(".drop");
    if (kind !== "dragleave" && document.querySelector(".drop")) event.preventDefault();
    if (!place) return;
    place.classList.toggle("over", kind === "dragover");
    if (kind === "drop") place.querySelector("input").files = event.dataTransfer.files;
  });
}

// Names are suggested while somebody writes.
let asked = 0;
document.addEventListener("input", async (event) => {
  const input = event.target;
  if (!input.dataset || !input.dataset.suggest || input.value.length < 2) return;
  const turn = ++asked;
  const response = await fetch(`${input.dataset.suggest}?search=${encodeURIComponent(input.value)}`);
  if (turn !== asked || !response.ok) return;
  let list = document.getElementById("names");
  if (!list) {
    list = Object.assign(document.createElement("datalist"), { id: "names" });
    document.body.append(list);
  }
  input.setAttribute("list", "names");
  list.replaceChildren(...(await response.json()).map((name) =>
    Object.assign(document.createElement("option"), { value: name })));
});

wait();
