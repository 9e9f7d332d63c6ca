import { attributes, type Content, type Html, html } from "../../../kit/html.ts";

/** What a code block may be told. */
export interface CodeOptions {
  /** What it is; shown above it with `titled`, always read out. */
  readonly label?: string | undefined;
  readonly titled?: boolean | undefined;
  /** Breaks long lines instead of scrolling. */
  readonly wrap?: boolean | undefined;
  /** Limits its height; the rest scrolls. */
  readonly tall?: boolean | undefined;
}

/** A block of code or a command; the script adds a copy button. */
export function codeBlock(text: string, { label = "Code", titled, wrap, tall }: CodeOptions = {}): Html {
  const names = ["code", wrap && "wrap", tall && "tall"].filter(Boolean).join(" ");
  // The line break after the tag is the parser's to drop; one at the start of the text itself is kept.
  return html`<figure class="${names}" data-copy>${titled && html`<figcaption>${label}</figcaption>`}<pre${attributes({ tabindex: 0, role: "region", "aria-label": label })}>\n<code>${text}</code></pre></figure>`;
}

/** A credential that is shown once. */
export interface SecretOnce {
  readonly label: Content;
  readonly value: string;
  /** Why it is shown once and where it belongs. */
  readonly says: Content;
  /** More facts, e.g. `countdown(…)`. */
  readonly more?: Content;
}

/** A box for a credential shown once. One click selects it whole. */
export function secretOnce({ label, value, says, more }: SecretOnce): Html {
  return html`<div class="secret" data-copy><p class="secret-label">${label}</p><code class="secret-value">${value}</code><p class="says">${says}</p>${more && html`<p class="secret-more">${more}</p>`}</div>`;
}

/** Text of our own in which backticks mark code, as the API's descriptions are written. */
export function withCode(text: string): Html {
  return html`${text.split(/(`[^`]+`)/).map((part) => (/^`.+`$/.test(part) ? html`<code>${part.slice(1, -1)}</code>` : part))}`;
}
