import { attributes, type Content, type Html, html } from "../../../kit/html.ts";

/** How a button looks: `primary` once a page, `danger` for what cannot be undone, `quiet` without a frame. */
export type Look = "primary" | "danger" | "quiet" | "plain";

/** What a button may be told. */
export interface ButtonOptions {
  readonly look?: Look | undefined;
  readonly small?: boolean | undefined;
  readonly name?: string | undefined;
  readonly value?: string | undefined;
}

/** The class list of a button. */
export function buttonClass(look: Look = "plain", small = false): string {
  return `button${look === "plain" ? "" : ` ${look}`}${small ? " small" : ""}`;
}

/** A submit button. */
export function button(label: Content, options: ButtonOptions = {}): Html {
  const { look, small, name, value } = options;
  return html`<button${attributes({ type: "submit", class: buttonClass(look, small), name, value })}>${label}</button>`;
}

/** A link that looks like a button. */
export function buttonLink(label: Content, href: string, options: Pick<ButtonOptions, "look" | "small"> = {}): Html {
  return html`<a${attributes({ class: buttonClass(options.look, options.small), href })}>${label}</a>`;
}
