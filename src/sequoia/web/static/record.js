// Outcomes are kept in the browser until the server has them; each has a key, so none is doubled.
"use strict";
{
  const KEY = "sequoia outcomes";
  const place = document.querySelector("[data-record]");
  const read = () => JSON.parse(localStorage.getItem(KEY) || "[]");
  const write = (list) => localStorage.setItem(KEY, JSON.stringify(list));
  const own = (one) => one.account === place.dataset.account;
  let sending = false;

  function tell(text) {
    const line = document.querySelector("[data-queue]");
    const count = read().filter(own).length;
    line.hidden = !count && !text;
    const waiting = count === 1 ? place.dataset.waitingOne : place.dataset.waiting.replace("{n}", count);
    line.textContent = text || waiting;
  }

  // Show what is wrong with an entry, and let somebody decide.
  function complain(entry, words) {
    const box = document.createElement("div");
    box.className = "card wrong";
    box.setAttribute("role", "alert");
    const text = document.createElement("p");
    text.textContent = words;
    const button = (label, act) => {
      const made = Object.assign(document.createElement("button"), { type: "button", textContent: label });
      made.addEventListener("click", () => { box.remove(); act(); });
      return made;
    };
    box.append(text,
      button(place.dataset.replace, () => add({ ...entry.fields, correct: "1" })),
      button(place.dataset.discard, () => {}));
    document.querySelector("[data-wrong]").append(box);
  }

  async function flush() {
    if (sending) return;
    sending = true;
    let message = "";
    for (const entry of read().filter(own)) {
      let response;
      try {
        response = await fetch("/record/send", {
          method: "POST",
          headers: { Accept: "application/json", "X-CSRF": document.body.dataset.csrf },
          body: new URLSearchParams({ ...entry.fields, key: entry.key }),
        });
      } catch { break; }
      if (response.status === 401 || response.status === 403) { message = place.dataset.signIn; break; }
      if (response.status >= 500) break;
      write(read().filter((one) => one.key !== entry.key));
      if (!response.ok) complain(entry, (await response.json()).error);
      if (!read().some(own)) message = place.dataset.sent;
    }
    sending = false;
    tell(message);
  }

  function add(fields) {
    delete fields.csrf;
    const key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
    write([...read(), { key, fields, account: place.dataset.account }]);
    tell("");
    flush();
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("[data-outcome]")) return;
    event.preventDefault();
    add(Object.fromEntries(new FormData(form, event.submitter)));
    form.classList.add("done");
    form.querySelectorAll("button[name=state]").forEach((one) => {
      one.setAttribute("aria-pressed", String(one === event.submitter));
    });
    if (!form.querySelector("[name=correct]") && form.querySelector("[type=hidden][name=who]")) {
      form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "correct", value: "1" }));
    }
  });

  document.querySelector("[data-submit]").addEventListener("change", (event) => event.target.form.submit());
  window.addEventListener("online", flush);
  setInterval(() => { if (read().some(own)) flush(); }, 10000);
  tell("");
  flush();
}
