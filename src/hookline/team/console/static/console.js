// The console's script: live runs, values of charts, keys, and parts of pages that are computed after the page is there.
// It builds no functions from text and asks only its own server.
"use strict";

const one = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

// Charts are drawn by the server. The script shows the values under the pointer, and zooms to what was dragged over.

function shown(value, unit) {
  if (value == null) return "";
  if (unit !== "ms") return value.toLocaleString("en");
  if (value >= 1000) return Number((value / 1000).toFixed(1)) + " s";
  return Number(value.toFixed(value < 10 ? 1 : 0)) + " ms";
}

const two = (number) => String(number).padStart(2, "0");

function localTime(seconds) {
  const at = new Date(seconds * 1000);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

function keepChart(figure) {
  const data = JSON.parse(figure.dataset.plot);
  const picture = one("svg", figure);
  const box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of [["class", "cursor"], ["y", 0], ["height", "100%"]]) box.setAttribute(name, value);
  picture.append(box);
  const column = (event) => {
    const area = picture.getBoundingClientRect();
    return Math.min(Math.max(Math.floor(((event.clientX - area.left) / area.width) * data.columns), 0), data.columns - 1);
  };
  const mark = (first, last) => {
    box.setAttribute("x", (100 * first) / data.columns + "%");
    box.setAttribute("width", (100 * (last - first + 1)) / data.columns + "%");
  };
  let from = null;
  picture.addEventListener("pointerdown", (event) => {
    if (event.button || !data.zoom) return;
    from = column(event);
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", (event) => {
    const at = column(event);
    mark(from === null ? at : Math.min(from, at), from === null ? at : Math.max(from, at));
    all(".at", figure).forEach((element, index) => (element.textContent = " " + shown(data.values[index][at], data.unit)));
    const when = new Date((data.begin + at * data.step) * 1000);
    one(".when", figure).textContent = when.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  });
  picture.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const [first, last] = [from, column(event)].sort((a, b) => a - b);
    from = null;
    if (first === last) return;
    const target = new URL(data.zoom, location.href);
    target.searchParams.delete("since");
    target.searchParams.set("from", localTime(data.begin + first * data.step));
    target.searchParams.set("to", localTime(data.begin + (last + 1) * data.step));
    location.href = target.href;
  });
  picture.addEventListener("pointerleave", () => {
    box.setAttribute("width", 0);
    all(".at, .when", figure).forEach((element) => (element.textContent = ""));
  });
}

// Parts that are computed later: asked for again until they are done.

async function reload(part) {
  while (part && part.dataset.state === "running" && part.dataset.reload) {
    let text = "";
    try {
      const answer = await fetch(part.dataset.reload, { cache: "no-store" });
      if (answer.status === 401) return;
      text = await answer.text();
    } catch {
      text = "";
    }
    if (text) {
      const box = document.createElement("template");
      box.innerHTML = text;
      let fresh = box.content.querySelector("#" + part.id);
      if (!fresh) {  // the page of an error
        fresh = document.createElement("p");
        fresh.className = "empty";
        fresh.textContent = "This could not be computed. Reload the page; the terminal of the console may say more.";
      }
      part.replaceWith(fresh);
      part = fresh;
    }
    if (part.dataset.state === "running") await new Promise((done) => setTimeout(done, 700));
  }
}

// Live runs: one stream for all tabs, held by whichever visible tab has the lock, and passed on to the others.

const live = { last: document.body.dataset.last || "", waiting: [], seen: new Set() };
const tabs = "BroadcastChannel" in self ? new BroadcastChannel("hookline-live") : null;

function state(word, text) {
  const button = one("#live");
  button.dataset.state = live.waiting.length ? "new" : word;
  one("#live-text").textContent = live.waiting.length ? `${live.waiting.length} new` : text;
}

const STATUS = {
  blocked: (run) => run.flags & 1, would_have_blocked: (run) => run.flags & 32, failed_open: (run) => run.flags & 2, failed: (run) => run.flags & 4, timed_out: (run) => run.flags & 8,
  passed: (run) => run.decision === 0, allowed: (run) => run.decision === 1, asked: (run) => run.decision === 2,
  slow: (run) => run.ms >= 1000, all: () => true,
  notable: (run) => run.flags & 39 || run.decision === 2 || run.ms >= 1000,
  untrusted: (run) => run.status === "untrusted", cancelled: (run) => run.status === "cancelled",
};

function wanted(run, filter, status) {
  for (const [name, text] of Object.entries(filter)) {
    if (name === "status") {
      if (status && !STATUS[text](run)) return false;
    } else if (name === "q") {
      if (!terms(text).every(([where, word]) => where.some((name) => String(run[name]).toLowerCase().includes(word)))) return false;
    } else if (run[name] !== text) return false;
  }
  return true;
}

const SEARCHED = { hook: ["hook"], session: ["session"], reason: ["reason"], agent: ["agent"], event: ["event"], call: ["q"] };

// As the server reads the search: `hook:x` looks there alone, other words in the call, the hook and the reason.
function terms(text) {
  return [...text.toLowerCase().matchAll(/(?:(\w+):)?("[^"]*"|\S+)/g)].slice(0, 8).map(([whole, name, word]) => {
    const bare = word.replace(/^"|"$/g, "") || word;
    return SEARCHED[name] ? [SEARCHED[name], bare] : [["q", "hook", "reason"], name ? whole : bare];
  });
}

function take(message) {
  const number = (id) => Number(id.slice(id.lastIndexOf("-") + 1));
  const born = (id) => id.slice(0, id.lastIndexOf("-"));
  if (message.id && born(message.id) === born(live.last) && number(message.id) <= number(live.last)) return;
  live.last = message.id || live.last;
  const list = one("#newest");
  const form = one("#filter");
  if (!list || !form) return;
  const filter = JSON.parse(form.dataset.filter || "{}");
  for (const run of message.runs) {
    if (wanted(run, filter, false)) count(run);
    if (wanted(run, filter, true)) live.waiting.push(run);
  }
  const reading = document.activeElement && list.contains(document.activeElement);
  if (scrollY < 160 && !reading) show();
  state("on", "live");
  const button = one("#new");
  if (button) {
    button.hidden = !live.waiting.length;
    button.textContent = `${live.waiting.length} new`;
  }
}

function count(run) {
  if (run.flags & 16) return;
  for (const element of all("[data-count]")) {
    const name = element.dataset.count;
    if (STATUS[name](run)) {
      const value = Number(element.textContent.replaceAll(",", "")) + 1;
      element.textContent = value.toLocaleString("en");
      element.closest(".stat").classList.remove("zero");
    }
  }
}

function show() {
  const list = one("#newest");
  if (!list) return;
  const box = document.createElement("template");
  // A call that is there already is drawn again, with its new hooks.
  const calls = new Map(live.waiting.splice(0).map((run) => [run.call, run.html]));
  for (const call of calls.keys()) one(`#newest > [data-call="${call}"]`)?.remove();
  box.innerHTML = [...calls.values()].reverse().join("");
  for (const row of box.content.children) row.classList.add("fresh");
  list.prepend(box.content);
  while (list.children.length > 200) list.lastElementChild.remove();
  const button = one("#new");
  if (button) button.hidden = true;
  state("on", "live");
}

function listen() {
  let source = null;
  let give = null;
  const open = () => {
    source = new EventSource("/live?after=" + encodeURIComponent(live.last));
    const pass = (event) => {
      const message = { id: event.lastEventId, runs: JSON.parse(event.data).runs || [] };
      tabs?.postMessage(message);
      take(message);
    };
    source.addEventListener("runs", pass);
    source.addEventListener("now", pass);
    // It was too slow, and the server let the oldest go: ask for all after the last one that came.
    source.addEventListener("lost", () => {
      source.close();
      open();
    });
    source.onopen = () => state("on", "live");
    source.onerror = () => state("off", source && source.readyState === EventSource.CLOSED ? "signed out" : "reconnecting");
  };
  const close = () => {
    source?.close();
    source = null;
    give?.();
    give = null;
  };
  const start = () => {
    if (document.hidden || give) return;
    if (!navigator.locks) return source || open();
    navigator.locks.request("hookline-live", { ifAvailable: false }, () => {
      if (document.hidden) return undefined;
      open();
      return new Promise((done) => (give = done));
    });
    state("on", "live");
  };
  if (tabs) tabs.onmessage = (event) => take(event.data);
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : start()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => event.persisted && start());
  start();
}

// Keys

const PAGES = { h: "/", r: "/runs", s: "/sessions", g: "/guards", t: "/time", j: "/jobs", b: "/backtests" };
let went = 0;

function move(step) {
  const rows = all(".runs > li > .run, .runs summary, .runs [open] .folded .run, .session, .job, .timeline a, .bars .name a, .matrix tbody a");
  const at = rows.indexOf(document.activeElement);
  const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function pressed(event) {
  const typing = event.target.matches("input, select, textarea, dialog *");
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const going = Date.now() - went < 1200;
  went = 0;
  if (going && PAGES[event.key]) location.href = PAGES[event.key];
  else if (event.key === "/") (one("#q") || one("#filter select"))?.focus();
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "n") show();
  else if (event.key === "g") went = Date.now();
  else if (event.key === "?") one("#keys").showModal();
  else return;
  event.preventDefault();
}

// Forms and buttons

function send(form) {
  const pairs = new URLSearchParams();
  for (const [name, text] of new FormData(form)) {
    if (text && !(name === "since" && text === "7d")) pairs.set(name, text);
  }
  if (pairs.has("from") || pairs.has("to")) pairs.delete("since");
  const query = pairs.toString();
  location.href = form.getAttribute("action") + (query ? "?" + query : "");
}

async function clicked(event) {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    await navigator.clipboard?.writeText(copy.dataset.copy);
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy"), 1500);
  }
  if (event.target.closest("#new, #live")) {
    scrollTo({ top: 0 });
    show();
  }
}

function start() {
  all(".plot").forEach(keepChart);
  all("[data-reload]").forEach(reload);
  if (one("[data-again-soon]")) setTimeout(() => location.reload(), 800);
  else listen();
  const form = one("#filter");
  form?.addEventListener("submit", (event) => (event.preventDefault(), send(form)));
  form?.addEventListener("change", (event) => event.target.matches("select") && send(form));
  document.addEventListener("keydown", pressed);
  document.addEventListener("click", clicked);
}

start();
