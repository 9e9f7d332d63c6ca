import { type Content, html } from "../../../../kit/html.ts";
import { type Crumb, pageHead } from "../../ui/parts.ts";
import { frame } from "../frame.ts";
import type { ByOperator } from "../shared/call.ts";
import { text } from "../shared/params.ts";

/** What the pages of the installation share. */

interface Shown {
  readonly title: string;
  readonly intro: Content;
  readonly body: Content;
  readonly actions?: Content;
  /** On the way to a thing below one of the places. */
  readonly crumbs?: readonly Crumb[];
}

/** One of the installation's pages. */
export function settingsFrame(call: ByOperator, { title, intro, body, actions, crumbs }: Shown) {
  const main = html`${pageHead({ title, intro, ...(actions ? { actions } : {}), ...(crumbs ? { crumbs } : {}) })}
${body}`;
  return frame(call, { title, main });
}

/** What the lists of these pages are asked for. */
export const PARAMS = { q: text(200), after: text(300) };
