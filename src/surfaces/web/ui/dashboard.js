/*
 * What the dashboard's pages do beyond HTML and beyond `script.js`, which the public pages share: search over everything, pages that
 * wait for something, and what was typed for whoever comes back. Everything works without this script.
 */
(() => {
  const opener = document.querySelector(".search-open");

  function make(name, properties = {}, ...children) {
    const { role, ...own } = properties;
    const element = Object.assign(document.createElement(name), own);
    if (role) element.setAttribute("role", role);
    element.append(...children);
    return element;
  }

  // Places opened lately, in this tab alone; kept apart by person and team.
  const RECENT = 6;
  const recentName = `reckon-recent ${opener?.dataset.recent}`;
  const here = location.pathname + location.search;

  /** Storage may be forbidden, or hold what somebody else wrote. */
  function recents() {
    try {
      return JSON.parse(sessionStorage.getItem(recentName) ?? "[]").filter(({ href }) => href !== here);
    } catch {
      return [];
    }
  }

  function rememberPlace() {
    const place = { title: document.title.replace(/ · Reckon$/, ""), context: "", href: here };
    try {
      sessionStorage.setItem(recentName, JSON.stringify([place, ...recents()].slice(0, RECENT + 1)));
    } catch {}
  }

  // Search: the link of the header opens a dialog in which arrows choose among what is found (ARIA's combobox with a list box). Where
  // no answer comes it leads to the page.
  const TYPED_MS = 100;
  const MIN_CHARS = 3;

  function searchDialog() {
    const input = make("input", {
      role: "combobox",
      id: "find",
      autocomplete: "off",
      spellcheck: false,
      maxLength: 100,
    });
    input.placeholder = "Search sessions, errors, brain, devices, people, docs";
    input.setAttribute("aria-label", "Search everything");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-controls", "find-list");
    const list = make("div", { role: "listbox", id: "find-list", className: "find-list", ariaLabel: "Found" });
    const said = make("p", { role: "status", className: "find-said" });
    const dialog = make("dialog", { className: "find", ariaLabel: "Search" }, input, list, said);
    document.body.append(dialog);

    let options = [];
    let chosen = -1;
    function choose(i) {
      options[chosen]?.setAttribute("aria-selected", "false");
      chosen = options.length === 0 ? -1 : (i + options.length) % options.length;
      const option = options[chosen];
      option?.setAttribute("aria-selected", "true");
      option?.scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", option?.id ?? "");
    }

    function optionOf({ title, context, href }) {
      const option = make("a", { role: "option", href, id: `find-${options.length}`, tabIndex: -1 });
      option.append(make("span", { dir: "auto", textContent: title }));
      if (context) option.append(make("small", { textContent: context }));
      option.setAttribute("aria-selected", "false");
      options.push(option);
      return option;
    }

    function show(groups, words) {
      options = [];
      const boxes = groups.map(({ label, hits }, i) => {
        const head = make("div", { className: "find-group", id: `find-group-${i}`, textContent: label });
        const box = make("div", { role: "group" }, head, ...hits.map(optionOf));
        box.setAttribute("aria-labelledby", head.id);
        return box;
      });
      list.replaceChildren(...boxes);
      input.setAttribute("aria-expanded", String(options.length > 0));
      said.textContent = words;
      choose(0);
    }

    function showRecent() {
      const hits = recents().slice(0, RECENT);
      show(hits.length > 0 ? [{ label: "Recent", hits }] : [], "");
    }

    const query = () => new URLSearchParams({ q: input.value.trim() });
    let timer;
    let running;
    async function look() {
      running?.abort();
      const typed = input.value.trim();
      if (typed === "") return showRecent();
      if (typed.length < MIN_CHARS) return show([], "Type at least three letters.");
      running = new AbortController();
      try {
        const reply = await fetch(`${opener.dataset.answers}?${query()}`, { signal: running.signal });
        const { groups } = await reply.json();
        const count = groups.reduce((sum, { hits }) => sum + hits.length, 0);
        show(groups, count === 0 ? `Nothing found for “${typed}”.` : count === 1 ? "1 result" : `${count} results`);
      } catch (error) {
        // Signed out meanwhile, or the server is away: go there and see.
        if (error?.name !== "AbortError") location.assign(`${opener.href}?${query()}`);
      }
    }

    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(look, TYPED_MS);
    });
    input.addEventListener("keydown", (event) => {
      // While a word is composed the keys are the input method's; Safari tells by the code alone.
      if (event.isComposing || event.keyCode === 229) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step === undefined && event.key !== "Enter") return;
      event.preventDefault();
      if (step) choose(chosen + step);
      else if (options[chosen]) options[chosen].click();
      else if (input.value.trim().length >= MIN_CHARS) location.assign(`${opener.href}?${query()}`);
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    let before;
    dialog.addEventListener("close", () => before?.focus?.());
    return () => {
      if (dialog.open) return dialog.close();
      before = document.activeElement;
      input.value = "";
      showRecent();
      dialog.showModal();
      input.focus();
    };
  }

  function setUpSearch() {
    let toggle;
    const open = (event) => {
      event.preventDefault();
      toggle ??= searchDialog();
      toggle();
    };
    if (/Mac|iP(hone|ad)/.test(navigator.platform)) opener.querySelector("kbd").textContent = "⌘K";
    opener.setAttribute("aria-haspopup", "dialog");
    opener.addEventListener("click", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) open(event);
    });
    document.addEventListener("keydown", (event) => {
      const held = event.ctrlKey || event.metaKey;
      if (held && !event.altKey && event.key.toLowerCase() === "k") return open(event);
      if (event.key !== "/" || held || event.altKey) return;
      // A list's own search is nearer.
      const typing = "input, textarea, select, [contenteditable], dialog";
      if (!document.querySelector("[data-search]") && !event.target.closest?.(typing)) open(event);
    });
  }

  // Pages that wait for what happens elsewhere ask every few seconds, while somebody looks, whether it has.
  function waitFor({ id, dataset }) {
    const look = async () => {
      try {
        const text = document.hidden ? undefined : await (await fetch(location.href)).text();
        const next = text && new DOMParser().parseFromString(text, "text/html").getElementById(id);
        if (text && next?.dataset.state !== dataset.state) return location.reload();
      } catch {}
      setTimeout(look, Number(dataset.poll) * 1_000);
    };
    setTimeout(look, Number(dataset.poll) * 1_000);
  }

  // What was typed comes back with the Back button, as to a form that was refused. Browsers forget it: Firefox on pages that no cache may
  // keep, all in fields that they are not to complete. It lies in the tab's history, at the page's own entry; passwords do not.
  function typedFields() {
    const typed = "input:not([type=hidden], [type=password]), select, textarea";
    return [...document.querySelectorAll(`main form[method=post] :is(${typed})`)].map((field) => {
      const { form, name, type, value, options } = field;
      const hidden = [...form.querySelectorAll("[type=hidden]:not([name=_csrf], [name=drawn])")].map(
        (one) => one.value,
      );
      const isBox = type === "checkbox" || type === "radio";
      const chosen = options && ([...options].find((one) => one.defaultSelected) ?? options[0]);
      return {
        ...{ field, property: isBox ? "checked" : "value" },
        drawn: isBox ? field.defaultChecked : options ? chosen?.value : field.defaultValue,
        // Of forms that look alike, each is about something else.
        place: JSON.stringify([form.getAttribute("action"), ...hidden, name, isBox && value]),
      };
    });
  }

  function keepTyped() {
    const changed = typedFields().filter(({ field, property, drawn }) => field[property] !== drawn);
    if (changed.length === 0 && !history.state?.typed) return;
    const typed = Object.fromEntries(changed.map(({ place, field, property }) => [place, field[property]]));
    history.replaceState({ ...history.state, typed }, "");
  }

  function bringTyped() {
    // Safari takes the state along to the same address, as after a form that was taken.
    if (!/back|reload/.test(performance.getEntriesByType("navigation")[0]?.type)) return;
    const typed = history.state?.typed ?? {};
    for (const { place, field, property, drawn } of typedFields())
      if (place in typed && field[property] === drawn) field[property] = typed[place];
  }

  // Safari keeps pages as they were left where they came without TLS: signed in, of another team, with forms that are not taken any more.
  function drawAnew({ persisted }) {
    if (!persisted) return;
    // The browser has emptied fields by now.
    removeEventListener("pagehide", keepTyped);
    location.reload();
  }

  // What has no room on its line says itself whole when it is pointed at.
  function sayWhole({ target }) {
    if (target.closest("[title], select, input")) return;
    for (let one = target; one; one = one.parentElement)
      if (one.scrollWidth > one.clientWidth && getComputedStyle(one).textOverflow === "ellipsis")
        one.title = one.textContent.trim();
  }

  document.addEventListener("pointerover", sayWhole);
  bringTyped();
  addEventListener("pagehide", keepTyped);
  addEventListener("pageshow", drawAnew);
  if (opener) {
    rememberPlace();
    if (window.HTMLDialogElement) setUpSearch();
  }
  for (const part of document.querySelectorAll("[data-poll][id]")) waitFor(part);
})();
