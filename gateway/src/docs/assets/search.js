// Search over the sections of all pages and the operations of the API. The index is loaded and built
// when the search field is used first.
const input = document.querySelector("#search");
const list = document.querySelector("#results");
const MINISEARCH = "/docs/assets/minisearch.js";
const MAX_RESULTS = 12;
const EXCERPT = 110;

let index;
let selected = -1;

async function load() {
  const [{ default: MiniSearch }, documents] = await Promise.all([
    import(MINISEARCH),
    fetch("/docs/search.json").then((response) => response.json()),
  ]);
  const search = new MiniSearch({
    fields: ["title", "page", "text"],
    storeFields: ["url", "page", "title", "text"],
    // quantity_exceeded is found as a whole and by its parts.
    tokenize: (text) => {
      const words = text.split(/[^\p{L}\p{N}_$-]+/u);
      return words.flatMap((word) => (/[_-]/.test(word) ? [word, ...word.split(/[_-]+/)] : word));
    },
    searchOptions: {
      boost: { title: 4, page: 2 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: "AND",
    },
  });
  search.addAll(documents);
  return search;
}

async function update() {
  index ??= load();
  const query = input.value.trim();
  const search = await index;
  if (query !== input.value.trim()) return;
  const results = query === "" ? [] : search.search(query).slice(0, MAX_RESULTS);
  list.replaceChildren(...(query !== "" && results.length === 0 ? [nothing()] : results.map(item)));
  select(-1);
  open(query !== "");
}

function item({ url, page, title, text }, at) {
  const element = document.createElement("li");
  element.id = `result-${at}`;
  element.setAttribute("role", "option");
  const link = document.createElement("a");
  link.href = url;
  link.tabIndex = -1;
  link.append(part("strong", title));
  if (page !== title) link.append(part("small", page));
  link.append(part("span", text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text));
  element.append(link);
  return element;
}

function part(name, text) {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

const nothing = () => part("li", "Nothing found");

function open(isOpen) {
  list.hidden = !isOpen;
  input.setAttribute("aria-expanded", String(isOpen));
}

function select(at) {
  const items = [...list.querySelectorAll("[role=option]")];
  selected = items.length === 0 ? -1 : Math.max(-1, Math.min(at, items.length - 1));
  for (const [n, each] of items.entries())
    each.setAttribute("aria-selected", String(n === selected));
  if (selected === -1) input.removeAttribute("aria-activedescendant");
  else {
    input.setAttribute("aria-activedescendant", items[selected].id);
    items[selected].scrollIntoView({ block: "nearest" });
  }
}

function follow() {
  const items = [...list.querySelectorAll("a")];
  const link = items[Math.max(selected, 0)];
  if (link === undefined) return;
  open(false);
  const { pathname, hash } = new URL(link.href);
  // The API reference reads the address when it starts.
  const reload = pathname === "/docs/api" && location.pathname === pathname;
  location.assign(link.href);
  if (reload && hash !== "") location.reload();
}

input.addEventListener("input", update);
input.addEventListener("focus", () => {
  index ??= load();
  if (input.value.trim() !== "") open(true);
});
input.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") select(selected + 1);
  else if (event.key === "ArrowUp") select(selected - 1);
  else if (event.key === "Enter") follow();
  else if (event.key === "Escape") open(false);
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]") != null;
  if (event.key !== "/" || isTyping) return;
  event.preventDefault();
  input.focus();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) open(false);
});
list.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (link === null) return;
  selected = [...list.querySelectorAll("a")].indexOf(link);
  event.preventDefault();
  follow();
});
