// Keeps My visits on the phone, so that it opens without a connection. The network goes first:
// what is kept is shown only where there is none, and goes with the session.
"use strict";

const KEPT = "sequoia";
const FILES = ["page.css", "page.js", "record.js", "icon.svg", "app.webmanifest"].map((name) => `/static/${name}`);
const VISITS = "/my";
// Visits of the day before yesterday are nobody's to see on a phone that was found.
const LONGEST = 48 * 3600 * 1000;
// A connection that hangs is none.
const PATIENCE = 5000;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((kept) => kept.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => { event.waitUntil(self.clients.claim()); });

async function keep(path, response) {
  const kept = await caches.open(KEPT);
  const lands = new URL(response.url).pathname;
  if (response.ok && lands === path) await kept.put(path, response.clone());
  // Who is signed out, or somebody else by now, has no visits here.
  else if (path === VISITS && (lands !== path || response.status === 403)) await kept.delete(path);
  return response;
}

async function find(path, isPage) {
  const kept = await caches.open(KEPT);
  const found = await kept.match(path);
  if (found && path === VISITS && Date.now() - Date.parse(found.headers.get("date")) > LONGEST) {
    await kept.delete(path);
    return Response.error();
  }
  if (found) return found;
  if (isPage && await kept.match(VISITS)) return Response.redirect(VISITS);
  return Response.error();
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const isPage = request.mode === "navigate";
  if (request.method !== "GET" || url.origin !== location.origin) return;
  const isKept = (url.pathname === VISITS && !url.search) || FILES.includes(url.pathname);
  if (!isKept && !isPage) return;
  const online = fetch(request, isKept && isPage ? { signal: AbortSignal.timeout(PATIENCE) } : {});
  event.respondWith(online
    .then((response) => (isKept ? keep(url.pathname, response) : response))
    .catch(() => find(url.pathname, isPage)));
});
