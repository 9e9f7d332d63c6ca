/*
 * What the pages do beyond HTML; all works without it. Loaded in the head, it sets the chosen theme before the first paint. What
 * stands between the marks of the dashboard is left out of the script of the public pages (`assets.ts`).
 */
(() => {
  const root = document.documentElement;
  const THEMES = ["system", "light", "dark"];
  const STORED_THEME = "reckon-theme";

  /** Storage may be forbidden; a choice then lasts for one page. */
  function stored(name, value) {
    try {
      if (value === undefined) return localStorage.getItem(name);
      localStorage.setItem(name, value);
    } catch {}
    return null;
  }

  function applyTheme(theme) {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  }

  applyTheme(stored(STORED_THEME));
  root.classList.add("scripted");
  // <dashboard>
  root.classList.toggle("passkeys", "PublicKeyCredential" in window);
  // </dashboard>

  /** Finds below (and including) a node. */
  function all(selector, within = document) {
    const found = [...within.querySelectorAll(selector)];
    return within instanceof Element && within.matches(selector) ? [within, ...found] : found;
  }

  function make(name, properties = {}, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  // Announcements for screen readers.
  let announcer;
  function announce(text) {
    announcer ??= document.body.appendChild(make("div", { className: "vh", role: "status" }));
    announcer.textContent = "";
    // A region that is emptied and filled at once is not read again.
    setTimeout(() => {
      announcer.textContent = text;
    }, 50);
  }

  // Theme.
  function setUpTheme() {
    for (const button of all("[data-theme-switch]")) {
      const show = (theme) => {
        button.dataset.chosen = theme;
        button.title = `Theme: ${theme}`;
        const label = button.querySelector(".vh");
        if (label) label.textContent = `Theme: ${theme}`;
      };
      show(THEMES.includes(stored(STORED_THEME)) ? stored(STORED_THEME) : "system");
      button.addEventListener("click", () => {
        const next = THEMES[(THEMES.indexOf(button.dataset.chosen) + 1) % THEMES.length];
        stored(STORED_THEME, next);
        applyTheme(next);
        show(next);
      });
    }
  }

  // Instants stay in UTC, as in files and logs; the title tells the reader's own time before it.
  const local = new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  });

  function localTimes(within) {
    for (const time of all("time[datetime]", within)) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.getTime())) time.title = `${local.format(at)} · ${time.title}`;
    }
  }

  // <dashboard>
  // Countdowns run on the time that passed here, not on this computer's wall clock.
  function leftText(seconds) {
    if (seconds <= 0) return "expired";
    const two = (n) => String(n).padStart(2, "0");
    if (seconds >= 172_800) return `expires in ${Math.ceil(seconds / 86_400)} days`;
    const clock = `${two(Math.floor((seconds % 3_600) / 60))}:${two(seconds % 60)}`;
    return `expires in ${seconds >= 3_600 ? `${Math.floor(seconds / 3_600)}:` : ""}${clock}`;
  }

  const loadedAt = performance.now();
  const countedFrom = new WeakMap();

  function tick() {
    for (const time of all("time[data-left]")) {
      if (!countedFrom.has(time))
        countedFrom.set(time, document.readyState === "complete" ? performance.now() : loadedAt);
      const left = Math.ceil(Number(time.dataset.left) - (performance.now() - countedFrom.get(time)) / 1_000);
      const text = leftText(left);
      if (time.textContent !== text) time.textContent = text;
      time.classList.toggle("over", left <= 0);
    }
  }
  // </dashboard>

  // Copy buttons.
  async function copy(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    // Pages served without TLS have no clipboard object.
    const area = make("textarea", { value: text, className: "vh" });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("not copied");
  }

  function copyButtons(within) {
    for (const box of all("[data-copy]", within)) {
      const code = box.querySelector("code");
      if (!code || box.querySelector(".copy")) continue;
      const button = make("button", { type: "button", className: "button small copy", textContent: "Copy" });
      let back;
      button.addEventListener("click", async () => {
        let says = "Copied";
        try {
          await copy(code.textContent ?? "");
        } catch {
          says = "Press Ctrl+C";
          getSelection()?.selectAllChildren(code);
        }
        button.textContent = says;
        announce(says);
        clearTimeout(back);
        back = setTimeout(() => {
          button.textContent = "Copy";
        }, 2_000);
      });
      box.append(button);
    }
  }

  // <dashboard>
  // Questions before destructive acts: the revealed panel becomes a modal dialog.
  let questions = 0;

  function confirmDialogs(within) {
    for (const details of all("details[data-confirm]", within)) {
      const summary = details.querySelector("summary");
      const panel = details.querySelector(".confirm-panel");
      const actions = panel?.querySelector(".actions");
      if (!summary || !actions || !window.HTMLDialogElement) continue;
      const question = panel.querySelector("p");
      const dialog = make("dialog", { className: "confirm-dialog" });
      dialog.setAttribute("aria-label", summary.textContent?.trim() ?? "Confirm");
      const cancel = make("button", { type: "button", className: "button", textContent: "Cancel" });
      cancel.addEventListener("click", () => dialog.close());
      actions.append(cancel);
      dialog.append(panel);
      // Beside the summary, inside its form: the submit button in it still belongs to that form.
      details.after(dialog);
      summary.setAttribute("aria-haspopup", "dialog");
      summary.addEventListener("click", (event) => {
        event.preventDefault();
        // Fields are checked before the question is asked.
        if (!dialog.closest("form")?.reportValidity()) return;
        dialog.showModal();
        cancel.focus();
      });
      dialog.addEventListener("click", (event) => {
        if (event.target === dialog) dialog.close();
      });
      dialog.addEventListener("close", () => summary.focus());
      if (question) question.id ||= `question-${++questions}`;
      if (question) dialog.setAttribute("aria-describedby", question.id);
    }
  }
  // </dashboard>

  function autoForms(within) {
    for (const form of all("form[data-auto]", within)) {
      const typed = form.querySelector("input:not([type=hidden], [type=checkbox])");
      const apply = form.querySelector("[data-apply]");
      // What is typed is sent by the button or the Enter key.
      if (apply && !typed) apply.hidden = true;
      form.addEventListener("change", (event) => {
        if (event.target instanceof HTMLSelectElement || event.target?.type === "checkbox") form.requestSubmit();
      });
    }
    for (const form of all("form[method=get]", within))
      form.addEventListener("formdata", (event) => {
        for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
      });
  }

  /** A part of a page as it is now; null where it has none, or is another team's. */
  async function fetchPart(url, selector, signal) {
    const reply = await fetch(url, { headers: { accept: "text/html" }, signal });
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    // <dashboard>
    const [team, other] = [document, page].map((one) => one.querySelector("#team-switch [selected]")?.value);
    if (team !== other) return null;
    // </dashboard>
    return page.querySelector(selector);
  }

  // <dashboard>
  // Links that open something within a part of their page.
  function setUpSwaps() {
    let running;
    document.addEventListener("click", async (event) => {
      const link = event.target.closest?.("a[data-swap]");
      if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      const target = link.dataset.swap;
      running?.abort();
      running = new AbortController();
      try {
        const next = await fetchPart(link.href, target, running.signal);
        if (!next) return location.assign(link.href);
        document.querySelector(target)?.replaceWith(next);
        history.replaceState(history.state, "", link.href);
        enhance(next);
        document.getElementById(link.id)?.focus();
      } catch (error) {
        if (error?.name !== "AbortError") location.assign(link.href);
      }
    });
  }

  // Parts that change while they are looked at: the server tells when, and they are fetched anew.
  const REFRESH_MS = 2_000;
  const RETRY_MS = 30_000;
  const MAX_RETRIES = 5;
  const streams = new Map();

  const streamOf = (part) => (part.dataset.liveEvents ?? "").split("?")[0];

  /** Follows the parts of the page that change, while the page is seen: browsers have few connections for all their tabs. */
  function followLive() {
    const parts = window.EventSource && !document.hidden ? all("[data-live-events][id]") : [];
    for (const [path, stream] of streams)
      if (!parts.some((part) => streamOf(part) === path)) {
        stream.close();
        streams.delete(path);
      }
    for (const part of parts) if (!streams.has(streamOf(part))) openStream(part.id, part.dataset.liveEvents, 0);
  }

  function openStream(id, url, retries) {
    const source = new EventSource(url);
    const path = url.split("?")[0];
    let tries = retries;
    let timer;
    let last = 0;
    streams.set(path, {
      close() {
        clearTimeout(timer);
        source.close();
      },
    });
    const refresh = () => {
      clearTimeout(timer);
      timer = setTimeout(
        async () => {
          last = performance.now();
          if (!(await refreshPart(id))) refresh();
        },
        Math.max(0, last + REFRESH_MS - performance.now()),
      );
    };
    source.addEventListener("changed", refresh);
    source.addEventListener("open", () => {
      tries = 0;
    });
    source.addEventListener("error", () => {
      // After a broken connection the browser itself tries again; not after a refusal.
      if (source.readyState !== EventSource.CLOSED || tries >= MAX_RETRIES) return;
      timer = setTimeout(() => {
        const part = document.getElementById(id);
        if (part?.dataset.liveEvents) openStream(id, part.dataset.liveEvents, tries + 1);
      }, RETRY_MS);
    });
  }

  /** @returns false where it is to be tried again: somebody marks a text, writes in a field, or opened something meanwhile */
  async function refreshPart(id) {
    const old = document.getElementById(id);
    if (!old) return true;
    try {
      const { href } = location;
      const next = await fetchPart(href, `#${CSS.escape(id)}`);
      if (!next) return true;
      const selection = getSelection();
      if (selection && !selection.isCollapsed && old.contains(selection.anchorNode)) return false;
      if (location.href !== href || old.querySelector("dialog[open], :is(input, textarea, select):focus")) return false;
      const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 40;
      const kept = keepState(old, next);
      old.replaceWith(next);
      enhance(next);
      kept();
      if (atEnd) scrollTo({ top: document.documentElement.scrollHeight });
    } catch {
      // It stays as it was; the next change tries again.
    }
    return true;
  }

  /** The place of an element: the nearest element around it with an id, and its number among those of its kind there. */
  function placeIn(part, element) {
    const named = element.parentElement?.closest("[id]") ?? part;
    return `${named.id} ${[...named.querySelectorAll(element.localName)].indexOf(element)}`;
  }

  /** Carries over what is folded out, scrolled, and focused. @returns what sets the last two, once the part is there */
  function keepState(old, next) {
    const open = new Map(all("details", old).map((one) => [placeIn(old, one), one.open]));
    for (const one of all("details", next)) one.open = open.get(placeIn(next, one)) ?? one.open;
    const { activeElement } = document;
    const kept = all("*", old)
      .filter((one) => one === activeElement || one.scrollTop || one.scrollLeft)
      .map((one) => [one, placeIn(old, one), one.scrollLeft, one.scrollTop]);
    return () => {
      for (const [was, place, left, top] of kept) {
        const now = all(was.localName, next).find((one) => placeIn(next, one) === place);
        now?.scrollTo(left, top);
        if (was === activeElement) now?.focus({ preventScroll: true });
      }
    };
  }
  // </dashboard>

  const DEBOUNCE_MS = 200;

  function liveForms(within) {
    for (const form of all("form[data-live]", within)) {
      const target = form.dataset.live ?? "";
      const apply = form.querySelector("[data-apply]");
      if (!target.startsWith("#") || !document.querySelector(target)) continue;
      if (apply) apply.hidden = true;
      const kept = new Set(all("input[type=hidden]", form).map(({ name }) => name));
      let timer;
      let running;
      const run = async () => {
        clearTimeout(timer);
        running?.abort();
        const mine = new AbortController();
        running = mine;
        // A field named "action" would hide the property.
        const url = new URL(form.getAttribute("action") ?? "", location.href);
        url.search = String(new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== "")));
        const clear = form.querySelector("[data-clear]");
        if (clear) clear.hidden = ![...new FormData(form)].some(([name, value]) => value !== "" && !kept.has(name));
        const old = document.querySelector(target);
        old?.setAttribute("aria-busy", "true");
        try {
          const next = await fetchPart(url, target, mine.signal);
          // Signed out meanwhile: go there and see.
          if (!next) return location.assign(url);
          document.querySelector(target)?.replaceWith(next);
          history.replaceState(history.state, "", url);
          // <dashboard>
          for (const field of all("input[data-query]")) field.value = url.search.slice(1);
          for (const tab of all("a[data-keeps]")) {
            const kept = tab.dataset.keeps.split(" ");
            tab.search = String(new URLSearchParams([...url.searchParams].filter(([name]) => kept.includes(name))));
          }
          // </dashboard>
          enhance(next);
          const count = next.dataset.count ?? String(all("tbody tr, li", next).length);
          announce(count === "1" ? "1 result" : `${count} results`);
        } catch (error) {
          if (error?.name !== "AbortError") location.assign(url);
        }
      };
      form.addEventListener("input", (event) => {
        clearTimeout(timer);
        const now = event.target instanceof HTMLSelectElement || event.target?.type === "checkbox";
        timer = setTimeout(run, now ? 0 : DEBOUNCE_MS);
      });
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        run();
      });
    }
  }

  function setUpMenus() {
    const close = (unless) => {
      for (const menu of all("details[data-menu][open]")) if (!menu.contains(unless)) menu.open = false;
    };
    document.addEventListener("click", (event) => close(event.target));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      for (const menu of all("details[data-menu][open]")) {
        menu.open = false;
        menu.querySelector("summary")?.focus();
      }
    });
  }

  function setUpKeys() {
    document.addEventListener("keydown", (event) => {
      // Where "[" takes AltGr, browsers report Ctrl and Alt with it.
      const plain = !(event.ctrlKey || event.metaKey || event.altKey) || event.getModifierState("AltGraph");
      if (!plain || event.key.length !== 1) return;
      if (event.target.closest?.("input, textarea, select, [contenteditable], dialog")) return;
      const way = document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
      if (way) return way.click();
      if (event.key !== "/") return;
      const search = document.querySelector("[data-search]");
      if (!search) return;
      event.preventDefault();
      search.focus();
      search.select();
    });
  }

  // A frame that has nothing to scroll need not be a stop of the Tab key.
  const frames =
    window.ResizeObserver &&
    new ResizeObserver((entries) => {
      for (const { target } of entries) {
        const { scrollWidth, clientWidth, scrollHeight, clientHeight } = target;
        if (scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1) target.setAttribute("tabindex", "0");
        else target.removeAttribute("tabindex");
      }
    });

  // <dashboard>
  // A one-time link carries its token behind the "#", which is sent nowhere; a form takes it to the page.
  function openLink() {
    const form = document.querySelector("form[data-link]");
    const token = /^#(rkl_\w+)$/.exec(location.hash)?.[1];
    if (!form || !token) return;
    history.replaceState(history.state, "", location.pathname + location.search);
    form.elements.token.value = token;
    form.submit();
  }

  // Browsers send no "#" to servers: this keeps the place on the page that a link named while somebody signs in.
  function keepPlace() {
    const { hash } = location;
    for (const { form, value } of all("input[name=next]"))
      if (!value.includes("#")) form.elements.next.value = value + hash;
    for (const link of all(".sso a")) if (hash) link.search += encodeURIComponent(hash);
  }

  // Passkeys: the browser makes or uses one, and a form takes what came of it to the page.
  const bytesOf = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
  const textOf = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replace(/\+/g, "-")
      .replace(/\//g, "_")
      .replace(/=+$/, "");
  const passkeyIds = (text) =>
    text
      .split(" ")
      .filter(Boolean)
      .map((id) => ({ type: "public-key", id: bytesOf(id) }));

  async function makePasskey({ challenge, party, user, email, credentials }) {
    const { rawId, response } = await navigator.credentials.create({
      publicKey: {
        challenge: bytesOf(challenge),
        rp: { id: party, name: "Reckon" },
        user: { id: bytesOf(user), name: email, displayName: email },
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
        excludeCredentials: passkeyIds(credentials),
        authenticatorSelection: { userVerification: "preferred" },
        attestation: "none",
      },
    });
    return {
      credential: textOf(rawId),
      client_data: textOf(response.clientDataJSON),
      authenticator_data: textOf(response.getAuthenticatorData()),
      public_key: textOf(response.getPublicKey()),
    };
  }

  async function usePasskey({ challenge, party, credentials }) {
    const { rawId, response } = await navigator.credentials.get({
      publicKey: {
        challenge: bytesOf(challenge),
        rpId: party,
        allowCredentials: passkeyIds(credentials),
        userVerification: "preferred",
      },
    });
    return {
      credential: textOf(rawId),
      client_data: textOf(response.clientDataJSON),
      authenticator_data: textOf(response.authenticatorData),
      signature: textOf(response.signature),
    };
  }

  function passkeys(within) {
    if (!window.PublicKeyCredential) return;
    for (const place of all("[data-passkey]", within)) {
      const form = place.matches("form") ? place : place.querySelector("form");
      form.addEventListener("submit", async (event) => {
        if (form.elements.credential.value !== "") return;
        event.preventDefault();
        try {
          const made = await (place.dataset.passkey === "create" ? makePasskey : usePasskey)(place.dataset);
          for (const [name, value] of Object.entries(made)) form.elements[name].value = value;
          form.submit();
        } catch (error) {
          announce(error.message);
          form.querySelector(".passkey-problem")?.remove();
          const text = error.name === "NotAllowedError" ? "It was cancelled, or took too long." : error.message;
          form.prepend(make("p", { className: "flash wrong passkey-problem", textContent: text }));
        }
      });
    }
  }
  // </dashboard>

  /** Enhances a part of the page; run again on what is swapped in. */
  function enhance(within) {
    localTimes(within);
    copyButtons(within);
    // <dashboard>
    confirmDialogs(within);
    passkeys(within);
    // </dashboard>
    autoForms(within);
    liveForms(within);
    for (const frame of all("[data-scroll]", within)) frames?.observe(frame);
    // <dashboard>
    followLive();
    tick();
    // </dashboard>
  }

  function start() {
    setUpTheme();
    setUpMenus();
    setUpKeys();
    // <dashboard>
    setUpSwaps();
    document.addEventListener("visibilitychange", followLive);
    // </dashboard>
    enhance(document);
    // <dashboard>
    openLink();
    keepPlace();
    addEventListener("hashchange", openLink);
    setInterval(tick, 1_000);
    // </dashboard>
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
