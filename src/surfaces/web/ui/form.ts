import { attributes, type Content, type Html, html } from "../../../kit/html.ts";
import { sentence } from "../../../kit/strings.ts";
import { button } from "./button.ts";
import { confirmStep, hiddenInputs } from "./confirm.ts";

/** A form that changes something. */
export interface Form {
  readonly action: string;
  readonly csrf: string;
  /** `field(…)`s, and whatever stands between them. */
  readonly fields: Content;
  /** What the submit button says. */
  readonly submit: Content;
  readonly hidden?: Readonly<Record<string, string>> | undefined;
  readonly danger?: boolean | undefined;
  /** A question to be answered before it is sent. */
  readonly confirm?: Content;
  /** What is wrong with the whole, above the fields. */
  readonly wrong?: Content;
  /** Stands beside the submit button, e.g. a link to cancel. */
  readonly beside?: Content;
}

/** Why a form was not taken: brought into sight, and read out first, however far down the page it stands. */
export const wrongFlash = (why: Content): Html =>
  html`<div class="flash wrong" role="alert" tabindex="-1" autofocus>${why}</div>`;

/** A form, posted, with the CSRF token as `_csrf`. */
export function form(shown: Form): Html {
  const { action, csrf, fields, submit, hidden, danger, confirm, wrong, beside } = shown;
  const look = danger ? "danger" : "primary";
  return html`<form method="post"${attributes({ action, class: "form" })}>${hiddenInputs({ _csrf: csrf, ...hidden })}
${wrong && wrongFlash(typeof wrong === "string" ? sentence(wrong) : wrong)}${fields}
<div class="actions">${confirm ? confirmStep({ label: submit, question: confirm, confirm: submit, look }) : button(submit, { look })}${beside}</div></form>`;
}
