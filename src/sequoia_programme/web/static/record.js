// Outcomes are kept in the browser until the server has them; each has a key, so none is doubled.
// They are sent from any page. What waits, or was refused, is listed, and can be mended or left.
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
  const change = (key, values) => write(read().map((one) => (one.key === key ? { ...one, ...values } : one)));
  const fresh = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  const make = (tag, values, ...children) => {
    const made = Object.assign(document.createElement(tag), values);
    made.append(...children);
    return made;
  };
  let sending = false;

  function tell(text) {
    if (!place) return;
    const line = place.querySelector("[data-queue]");
    const count = unsent().length;
    line.hidden = !count && !text;
    const waiting = count === 1 ? place.dataset.waitingOne : place.dataset.waiting.replace("{n}", count);
    line.textContent = text || waiting;
    list();
  }

  // Another text for an entry. Where it may have arrived already, this one corrects it.
  function mend(entry, values) {
    const correct = entry.tried && !entry.wrong ? { correct: "1" } : {};
    change(entry.key, { key: fresh(), wrong: "", tried: false, fields: { ...entry.fields, ...correct, ...values } });
    tell("");
    flush();
  }

  function row(entry) {
    const { fields } = entry;
    const button = (text, act) => {
      const made = make("button", { type: "button", className: "small", textContent: text });
      made.addEventListener("click", act);
      return made;
    };
    const name = make("input", { value: fields.who, maxLength: 200 });
    name.setAttribute("aria-label", place.dataset.who);
    const state = make("select", {}, ...Object.entries(JSON.parse(place.dataset.states)).map(([one, said]) =>
      make("option", { value: one, textContent: said, selected: one === fields.state })));
    state.setAttribute("aria-label", `${place.dataset.state}: ${fields.who}`);
    const leave = button(place.dataset.discard, () => { remove(entry.key); mark(entry, ""); tell(""); });
    if (!entry.wrong) {
      state.addEventListener("change", () => mend(entry, { state: state.value }));
      return make("li", {}, make("b", { className: "grow", textContent: fields.who }), state, leave);
    }
    const values = () => ({ who: name.value, state: state.value });
    const made = make("li", { className: "wrong" }, make("p", { textContent: entry.wrong }), name, state,
      button(place.dataset.resend, () => mend(entry, values())),
      button(place.dataset.replace, () => mend(entry, { ...values(), correct: "1" })), leave);
    made.setAttribute("role", "alert");
    return made;
  }

  function list() {
    const lines = place.querySelector("[data-list]");
    // Nothing changes under the fingers of somebody who mends an entry.
    if (lines.contains(document.activeElement) && document.activeElement.tagName === "INPUT") return;
    lines.replaceChildren(...own().map(row));
    lines.hidden = !own().length;
    own().forEach((one) => mark(one, one.wrong ? "wrong" : "waiting"));
  }

  // Show on the form of a visit how its entry stands; nothing is done before the server has it.
  function mark(entry, how) {
    document.querySelectorAll("[data-outcome]").forEach((form) => {
      const value = (name) => (form.querySelector(`[type=hidden][name=${name}]`) || {}).value;
      if (value("who") !== entry.fields.who || value("date") !== entry.fields.date) return;
      form.classList.remove("waiting", "wrong");
      if (how) form.classList.add(how);
      form.querySelectorAll("button[name=state]").forEach((one) => {
        one.setAttribute("aria-pressed", String(how !== "" && how !== "wrong" && one.value === entry.fields.state));
      });
      if (how === "done" && !form.querySelector("[name=correct]")) {
        form.append(make("input", { type: "hidden", name: "correct", value: "1" }));
      }
    });
  }

  const post = (entry) => fetch("/record/send", {
    method: "POST",
    headers: { Accept: "application/json", "X-CSRF": document.body.dataset.csrf },
    body: new URLSearchParams({ ...entry.fields, key: entry.key }),
  });

  // A page that was kept on the phone has the token of a session that may be over.
  async function renew() {
    const response = await fetch("/my");
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const isSame = page.body.dataset.account === account && response.ok && !response.redirected;
    if (isSame) document.body.dataset.csrf = page.body.dataset.csrf;
    return isSame;
  }

  async function flush() {
    if (sending) return;
    sending = true;
    let message = "";
    const remarks = [];
    try {
      for (const entry of unsent()) {
        change(entry.key, { tried: true });
        let response = await post(entry);
        if ((response.status === 401 || response.status === 403) && await renew()) response = await post(entry);
        if (response.status === 401 || response.status === 403) { message = "signIn"; break; }
        if (response.status >= 500) break;
        const answer = await response.json();
        if (response.ok) {
          remove(entry.key);
          mark(entry, "done");
          remarks.push(...(answer.remarks || []));
        } else {
          change(entry.key, { wrong: answer.error });
          mark(entry, "wrong");
        }
        if (!unsent().length) message = "sent";
      }
    } catch { /* No connection: what waits stays. */ }
    sending = false;
    tell(place && (message || remarks.length) ? [place.dataset[message], ...remarks].join(" ").trim() : "");
  }

  function add(fields) {
    delete fields.csrf;
    const entry = { key: fresh(), fields, account };
    write([...read(), entry]);
    mark(entry, "waiting");
    tell("");
    flush();
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.matches("[data-leave]")) {
      if (unsent().length && !confirm(form.dataset.leave)) event.preventDefault();
      else if (window.caches) caches.delete("sequoia");
      return;
    }
    if (!form.matches("[data-outcome]")) return;
    event.preventDefault();
    add(Object.fromEntries(new FormData(form, event.submitter)));
    if (!form.querySelector("[type=hidden][name=who]")) form.reset();
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submit]")) event.target.form.submit();
  });

  if (document.querySelector("[data-offline]")) {
    if (navigator.serviceWorker) {
      // The page that began the script was not seen by it, and is fetched once more to be kept.
      const isSeen = navigator.serviceWorker.controller ? Promise.resolve() : new Promise((seen) => {
        navigator.serviceWorker.addEventListener("controllerchange", seen, { once: true });
      });
      navigator.serviceWorker.register("/offline.js").then(() => isSeen)
        .then(() => (location.search ? null : fetch("/my"))).catch(() => {});
    } else document.querySelector("[data-insecure]").hidden = false;
  }
  window.addEventListener("online", flush);
  setInterval(() => { if (unsent().length) flush(); }, 10000);
  tell("");
  if (unsent().length) flush();
}
