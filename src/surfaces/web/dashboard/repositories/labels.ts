import { type Content, html } from "../../../../kit/html.ts";

export const none = html`<span class="none">–</span>`;

/** A share of 0 to 1 in percent; null where there is none. */
export const share = (of: number | null): Content => (of === null ? none : `${Math.round(of * 100)} %`);
