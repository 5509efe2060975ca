// The console's script: live runs, charts, keys, and parts of pages that are computed after the page is there.
// It builds no functions from text and asks only its own server.
"use strict";

const one = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

// Charts: data is in the element, colours are the variables of the page.

function colour(name) {
  const style = getComputedStyle(document.documentElement);
  return (style.getPropertyValue("--c-" + name) || style.getPropertyValue("--" + name)).trim();
}

function shown(value, unit) {
  if (value == null) return "-";
  if (unit !== "ms") return value.toLocaleString("en");
  if (value >= 1000) return Number((value / 1000).toFixed(1)) + " s";
  return Number(value.toFixed(value < 10 ? 1 : 0)) + " ms";
}

// A day where the marks are days or begin one, else the time.
function times(plot, splits) {
  const days = splits.length > 1 && splits[1] - splits[0] >= 86400;
  return splits.map((split) => {
    const at = new Date(split * 1000);
    const midnight = at.getHours() === 0 && at.getMinutes() === 0;
    if (days || midnight) return at.toLocaleDateString("en", { day: "numeric", month: "short" });
    return at.toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hour12: false });
  });
}

// On a scale of tens only the tens have marks.
function tens(plot, axis, low, high) {
  const marks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) marks.push(10 ** power);
  return marks.filter((mark) => mark >= low && mark <= high);
}

function draw(element) {
  const data = JSON.parse(element.dataset.plot);
  const axis = { stroke: colour("soft"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
  const series = data.series.map((each) => ({
    label: each.label,
    stroke: colour(each.colour),
    width: data.bars ? 0 : 1.75,
    fill: data.bars ? colour(each.colour) : data.series.length === 1 ? colour(each.colour) + "22" : undefined,
    points: { show: data.times.length < 3 },
    paths: data.bars ? uPlot.paths.bars({ size: [0.62, 24], align: 1, radius: 0.15 }) : undefined,
    value: (plot, value) => (value == null ? "" : shown(value, data.unit)),
  }));
  const options = {
    width: element.clientWidth,
    height: 152,
    padding: [8, 8, 0, 0],
    cursor: { y: false, drag: { x: false, y: false } },
    legend: { live: true, markers: { width: 0, fill: (plot, at) => colour(data.series[at - 1].colour) } },
    scales: { x: { time: true }, y: data.log ? { distr: 3 } : { range: (plot, low, high) => [0, Math.max(high * 1.08, 1)] } },
    axes: [
      { ...axis, grid: { show: false }, space: 70, size: 28, values: times },
      { ...axis, size: 52, ...(data.log ? { splits: tens, space: 12 } : {}), values: (plot, values) => values.map((value) => (value == null ? "" : shown(value, data.unit))) },
    ],
    series: [{ label: "Time", value: (plot, at) => (at == null ? "" : new Date(at * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })) }, ...series],
  };
  element.replaceChildren();
  element.plot = new uPlot(options, [data.times, ...data.series.map((each) => each.values)], element);
}

function drawAll() {
  all(".plot").forEach(draw);
}

function keepCharts() {
  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) drawAll();
    width = innerWidth;
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
  blocked: (run) => run.flags & 1, unanswered: (run) => run.flags & 2, failed: (run) => run.flags & 4, timed_out: (run) => run.flags & 8,
  passed: (run) => run.verdict === 0, allowed: (run) => run.verdict === 1, asked: (run) => run.verdict === 2,
  untrusted: (run) => run.status === "untrusted", cancelled: (run) => run.status === "cancelled",
};

function wanted(run, filter, status) {
  for (const [name, text] of Object.entries(filter)) {
    if (name === "status") {
      if (status && !STATUS[text](run)) return false;
    } else if (name === "q") {
      const call = run.q.toLowerCase();
      if (!text.toLowerCase().split(/\s+/).every((word) => call.includes(word))) return false;
    } else if (run[name] !== text) return false;
  }
  return true;
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
    if (name === "runs" || STATUS[name](run)) {
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
  box.innerHTML = live.waiting.splice(0).reverse().map((run) => run.html).join("");
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

const PLACES = { r: "/", s: "/sessions", g: "/guards", t: "/time", j: "/jobs", b: "/backtests" };
let went = 0;

function move(step) {
  const rows = all(".runs .run, .session, .job, .timeline a, .bars .name a, .matrix tbody a");
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
  if (going && PLACES[event.key]) location.href = PLACES[event.key];
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
  keepCharts();
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
