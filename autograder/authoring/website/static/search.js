// Below each page that Sphinx's search has found, the sections that hold the words, each with a line of its text.
const MOST = 3;
const AROUND = 80;
const query = (new URLSearchParams(location.search).get("q") || "").trim().toLowerCase();
const words = query.split(/\s+/).filter(Boolean);

function matching(page) {
  const score = ([, title, text]) => {
    const all = `${title} ${text}`.toLowerCase();
    if (!words.every((word) => all.includes(word))) return 0;
    return 1 + all.split(query).length + 5 * title.toLowerCase().includes(query);
  };
  const scored = (SECTIONS[page] || []).map((section) => [score(section), section]);
  return scored.filter(([score]) => score).sort((a, b) => b[0] - a[0]).slice(0, MOST).map(([, section]) => section);
}

function line(text) {
  const lower = text.toLowerCase();
  const found = [query, ...words].find((word) => lower.includes(word)) || "";
  const at = Math.max(lower.indexOf(found), 0);
  const start = text.lastIndexOf(" ", Math.max(at - AROUND, 0)) + 1;
  const next = text.indexOf(" ", at + found.length + AROUND);
  const end = next < 0 ? text.length : next;
  const mark = document.createElement("mark");
  mark.textContent = text.slice(at, at + found.length);
  const after = text.slice(at + found.length, end) + (next < 0 ? "" : "…");
  return [": ", start ? "…" : "", text.slice(start, at), ...(found ? [mark] : []), after];
}

function fill(result) {
  const link = result.querySelector("a");
  if (!link || link.hash || result.querySelector(".sections")) return;
  const page = link.getAttribute("href").replace(/\.html.*$/, "");
  const list = document.createElement("ul");
  list.className = "sections";
  for (const [id, title, text] of matching(page)) {
    const item = document.createElement("li");
    const to = document.createElement("a");
    to.href = `${link.getAttribute("href")}#${id}`;
    to.textContent = title;
    item.append(to, ...line(text));
    list.append(item);
  }
  if (list.children.length) result.append(list);
}

const results = document.getElementById("search-results");
new MutationObserver(() => results.querySelectorAll("ul.search > li").forEach(fill)).observe(results, {
  childList: true,
  subtree: true,
});
