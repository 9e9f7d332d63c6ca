import { attributes, type Content, type Html, html } from "../../../kit/html.ts";
import { button, buttonClass, type Look } from "./button.ts";

/** What a form needs to know of the page it stands on. */
export interface Place {
  readonly csrf: string;
  /** An address within this site as it stands in links. */
  href(path: string): string;
  /** Whether whoever looks may send a form; where it is absent everybody may. */
  opens?(method: "POST", path: string): boolean;
}

/** Whether a form is drawn for whoever looks: one that they may not send is not. */
export const takes = (place: Place, action: string): boolean => place.opens?.("POST", action) ?? true;

/** An act that asks once before it is done. */
export interface Confirm {
  /** Where the form is posted: a path within this site. */
  readonly action: string;
  /** What the first button says, e.g. `Revoke`. */
  readonly label: Content;
  /** What the person is asked, naming the thing, e.g. `Revoke “build-7”? It cannot report until it connects again.` */
  readonly question: Content;
  /** What the second button says, e.g. `Revoke device`. */
  readonly confirm: Content;
  readonly hidden?: Readonly<Record<string, string>> | undefined;
  /** Of one that asks, `danger` unless told otherwise. */
  readonly look?: Look | undefined;
  readonly small?: boolean | undefined;
}

/** A button that does what it says at once. */
export function actButton(
  place: Place,
  { action, hidden, label, look, small }: Omit<Confirm, "question" | "confirm">,
): Html {
  return actForm(place, { action, hidden }, button(label, { look, small }));
}

/** A button that reveals a question and the real submit button; the script shows them as a modal dialog. */
export function confirmButton(place: Place, { action, hidden, ...step }: Confirm): Html {
  return actForm(place, { action, hidden }, confirmStep(step));
}

/** The form around the button of an act; nothing for whoever may not send it. */
function actForm(place: Place, { action, hidden }: Pick<Confirm, "action" | "hidden">, submit: Html): Html {
  if (!takes(place, action)) return html``;
  const { csrf, href } = place;
  return html`<form class="confirm-form" method="post"${attributes({ action: href(action) })}>${hiddenInputs({ _csrf: csrf, ...hidden })}${submit}</form>`;
}

/** The question and the button alone, to stand in a form of one's own in the place of its submit button. */
export function confirmStep({
  label,
  question,
  confirm,
  look = "danger",
  small = false,
}: Pick<Confirm, "label" | "question" | "confirm" | "look" | "small">): Html {
  // The first submit button of a form answers the Enter key in its fields; a disabled one makes that key do nothing.
  return html`<button type="submit" disabled hidden></button><details class="confirm" data-confirm><summary class="${buttonClass(look === "danger" ? "plain" : look, small)}${look === "danger" && " danger-text"}">${label}</summary>
<div class="confirm-panel"><p>${question}</p><div class="actions"><button type="submit" class="${buttonClass(look)}">${confirm}</button></div></div></details>`;
}

/** Hidden inputs of a form. */
export function hiddenInputs(values: Readonly<Record<string, string>>): Html {
  return html`${Object.entries(values).map(([name, value]) => html`<input type="hidden"${attributes({ name, value })}>`)}`;
}
