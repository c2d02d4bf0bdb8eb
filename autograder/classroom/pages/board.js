"use strict";
// The board's page. All that comes from the service is put in as text, never as HTML.
const SIGNS = { passed: "✓ passed", stuck: "! stuck", working: "… working", "": "○ not started" };
const ORDER = ["passed", "stuck", "working", ""];
const MOST_MESSAGES = 5;
const $ = (id) => document.getElementById(id);
const xsrf = document.querySelector("meta[name=xsrf]").content;
const query = new URLSearchParams(location.search);
let stream = null;

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function words(text) { // code stands between backticks
  return text.split("`").map((part, i) => (i % 2 ? element("code", { textContent: part }) : part));
}

function title(text) { // a long name may be broken after each of its underscores
  return text.split(/(?<=_)/).flatMap((part, i) => (i ? [element("wbr"), part] : [part]));
}

function bar(counts, all) {
  const names = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(names, "svg");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("viewBox", `0 0 ${Math.max(all, 1)} 1`);
  let left = 0;
  for (const state of ORDER.slice(0, 3)) {
    const part = document.createElementNS(names, "rect");
    part.setAttribute("class", state);
    part.setAttribute("x", left);
    part.setAttribute("width", counts[state]);
    part.setAttribute("height", 1);
    svg.append(part);
    left += counts[state];
  }
  return element("div", { className: "bar" }, svg);
}

function message(exercise, seen, open) {
  const summary = element("summary", {}, element("span", { className: "count", textContent: `${seen.students.length} × ` }), ...words(seen.told));
  const made = element("details", {}, summary, element("p", { className: "names", tabIndex: 0, textContent: seen.students.join(", ") }));
  if (seen.example) {
    made.append(element("p", { className: "names", textContent: `${seen.author} shares:` }));
    made.append(element("pre", { tabIndex: 0 }, element("code", { textContent: seen.example })));
  }
  made.dataset.key = JSON.stringify([exercise, seen.id]);
  made.open = open.has(made.dataset.key);
  return made;
}

function article(exercise, index, state, open) { // told by its title, such as "2.3 attend"
  const counts = Object.fromEntries(ORDER.map((name) => [name, 0]));
  for (const student of state.students) counts[student.states[index]] += 1;
  const some = ORDER.filter((name) => counts[name]);
  const told = some.map((name) => element("span", { className: name, textContent: SIGNS[name].replace(" ", ` ${counts[name]} `) }));
  const messages = state.messages[exercise].slice(0, MOST_MESSAGES).map((seen) => message(exercise, seen, open));
  const none = element("p", { className: "none", textContent: "No message." });
  return element("article", {}, element("h2", {}, ...title(state.titles[index])), bar(counts, state.students.length),
    element("p", { className: "counts" }, ...told), ...(messages.length ? messages : [none]));
}

function row(student) {
  const cells = student.states.map((state) => element("td", { className: state || "none", textContent: SIGNS[state] }));
  return element("tr", {}, element("th", { scope: "row", textContent: student.name }), ...cells, element("td", { textContent: student.handed_in }));
}

function inWords(date) { return date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" }); }

function show(state, when) {
  const open = new Set([...document.querySelectorAll("details[open]")].map((made) => made.dataset.key));
  const focused = document.activeElement.closest("details")?.dataset.key;
  $("exercises").replaceChildren(...state.exercises.map((name, i) => article(name, i, state, open)));
  // what had the focus keeps it
  if (focused) [...document.querySelectorAll("details")].find((made) => made.dataset.key === focused)?.querySelector("summary").focus();
  const heads = ["student", ...state.titles, "handed in"].map((name) => element("th", { scope: "col", textContent: name }));
  document.querySelector("thead").replaceChildren(element("tr", {}, ...heads));
  document.querySelector("tbody").replaceChildren(...state.students.map(row));
  $("printed").textContent = `${$("lesson").selectedOptions[0].text}, ${when}`; // on paper there are no controls
}

function say(text) { if ($("status").textContent !== text) $("status").textContent = text; }

function watch() {
  stream = new EventSource(`events?${new URLSearchParams({ lesson: $("lesson").value, _xsrf: xsrf })}`);
  stream.onopen = () => say("Live: the page follows the class.");
  stream.onmessage = (event) => show(JSON.parse(event.data), inWords(new Date()));
  stream.onerror = () => {
    say("The connection is lost. Trying again; if it stays lost, reload the page.");
    if (stream.readyState === EventSource.CLOSED) setTimeout(begin, 5000);
  };
}

async function ask(path, about = {}) {
  const answer = await fetch(`${path}?${new URLSearchParams(about)}`, { headers: { "X-XSRFToken": xsrf } });
  if (!answer.ok) say(answer.status === 403 ? "You are not logged in any more: reload the page." : "That cannot be shown.");
  return answer.ok ? answer.json() : null;
}

async function look() {
  const begins = new Date($("hour").value).getTime() / 1000;
  const state = await ask("past", { lesson: $("lesson").value, from: begins });
  if (!state) return;
  const hour = `the hour from ${inWords(new Date(begins * 1000))}`;
  show(state, hour);
  say(`${hour[0].toUpperCase()}${hour.slice(1)}: all messages seen in it, and the class at its end.`);
}

function begin() {
  stream?.close();
  $("due").textContent = $("lesson").selectedOptions[0]?.dataset.due ?? "";
  const past = $("hour").value !== "";
  $("live").setAttribute("aria-pressed", String(!past));
  const chosen = new URLSearchParams({ lesson: $("lesson").value });
  if (past) chosen.set("hour", $("hour").value);
  if (document.body.classList.contains("large")) chosen.set("large", "1");
  history.replaceState(null, "", `?${chosen}`);
  (past ? look : watch)();
}

function enlarge(large) {
  document.body.classList.toggle("large", large);
  $("large").setAttribute("aria-pressed", String(large));
  begin();
}

async function start() {
  const { lessons } = (await ask("lessons")) ?? { lessons: [] };
  $("lesson").append(...lessons.map(({ name, title, due }) => {
    const option = new Option(title, name, false, name === query.get("lesson"));
    option.dataset.due = due && `It is ${due}.`;
    return option;
  }));
  $("hour").value = query.get("hour") ?? "";
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("lesson").addEventListener("change", begin);
  $("hour").addEventListener("change", begin);
  $("live").addEventListener("click", () => { $("hour").value = ""; begin(); });
  $("large").addEventListener("click", () => enlarge(!document.body.classList.contains("large")));
  enlarge(query.has("large"));
}

start();
