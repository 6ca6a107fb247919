// Outcomes are kept in the browser until the server has them; each has a key, so none is doubled.
// They are sent from any page; what contradicts the records waits for the page of recording.
"use strict";
{
  const KEY = "sequoia outcomes";
  const place = document.querySelector("[data-record]");
  const account = document.body.dataset.account;
  const read = () => JSON.parse(localStorage.getItem(KEY) || "[]");
  const write = (list) => localStorage.setItem(KEY, JSON.stringify(list));
  const own = () => read().filter((one) => one.account === account);
  const unsent = () => own().filter((one) => !one.wrong);
  const remove = (key) => write(read().filter((one) => one.key !== key));
  let sending = false;

  function tell(text) {
    if (!place) return;
    const line = document.querySelector("[data-queue]");
    const count = unsent().length;
    line.hidden = !count && !text;
    const waiting = count === 1 ? place.dataset.waitingOne : place.dataset.waiting.replace("{n}", count);
    line.textContent = text || waiting;
  }

  // Show what is wrong with entries, and let somebody decide.
  function complain() {
    if (!place) return;
    const boxes = own().filter((one) => one.wrong).map((entry) => {
      const box = document.createElement("div");
      box.className = "card wrong";
      box.setAttribute("role", "alert");
      const text = document.createElement("p");
      text.textContent = entry.wrong;
      const button = (label, act) => {
        const made = Object.assign(document.createElement("button"), { type: "button", textContent: label });
        made.addEventListener("click", () => { remove(entry.key); box.remove(); act(); });
        return made;
      };
      box.append(text,
        button(place.dataset.replace, () => add({ ...entry.fields, correct: "1" })),
        button(place.dataset.discard, () => tell("")));
      return box;
    });
    document.querySelector("[data-wrong]").replaceChildren(...boxes);
  }

  async function flush() {
    if (sending) return;
    sending = true;
    let message = "";
    const remarks = [];
    for (const entry of unsent()) {
      let response;
      try {
        response = await fetch("/record/send", {
          method: "POST",
          headers: { Accept: "application/json", "X-CSRF": document.body.dataset.csrf },
          body: new URLSearchParams({ ...entry.fields, key: entry.key }),
        });
      } catch { break; }
      if (response.status === 401 || response.status === 403) { message = "signIn"; break; }
      if (response.status >= 500) break;
      if (response.ok) {
        remove(entry.key);
        remarks.push(...((await response.json()).remarks || []));
      } else {
        const wrong = (await response.json()).error;
        write(read().map((one) => (one.key === entry.key ? { ...one, wrong } : one)));
        complain();
      }
      if (!unsent().length) message = "sent";
    }
    sending = false;
    tell(place && (message || remarks.length) ? [place.dataset[message], ...remarks].join(" ").trim() : "");
  }

  function add(fields) {
    delete fields.csrf;
    const key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
    write([...read(), { key, fields, account }]);
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

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submit]")) event.target.form.submit();
  });
  window.addEventListener("online", flush);
  setInterval(() => { if (unsent().length) flush(); }, 10000);
  complain();
  tell("");
  if (unsent().length) flush();
}
