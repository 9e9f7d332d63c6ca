import { attributes, type Content, escapeHtml, type Html, html, trustedHtml } from "../../../kit/html.ts";

interface Labelled {
  readonly name: string;
  readonly label: Content;
  readonly hint?: Content;
  /** What is wrong with the value; marks the field invalid. */
  readonly error?: string | null | undefined;
}

/** One of a list to choose from. */
export interface Option {
  readonly value: string;
  readonly label: string;
  readonly hint?: Content;
  /** Says something and cannot be chosen. */
  readonly disabled?: boolean;
}

/** A one-line input. */
interface InputField extends Labelled {
  readonly kind: "text" | "email" | "password" | "number" | "date";
  readonly value?: string | number | null | undefined;
  readonly required?: boolean | undefined;
  readonly autocomplete?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly min?: string | number | undefined;
  readonly max?: string | number | undefined;
  readonly step?: string | number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly autofocus?: boolean | undefined;
  readonly readOnly?: boolean | undefined;
  /** Monospace, no spell checking or capitals: codes, paths, patterns. */
  readonly mono?: boolean | undefined;
}

/** A box for several lines. */
interface TextareaField extends Labelled {
  readonly kind: "textarea";
  readonly value?: string | null | undefined;
  readonly rows?: number | undefined;
  readonly required?: boolean | undefined;
  readonly maxLength?: number | undefined;
  readonly placeholder?: string | undefined;
  readonly mono?: boolean | undefined;
}

/** A list to choose one of. */
interface SelectField extends Labelled {
  readonly kind: "select";
  readonly options: readonly Option[];
  readonly value?: string | null | undefined;
}

/** Round buttons to choose one of; each may carry a hint. */
interface RadiosField extends Labelled {
  readonly kind: "radios";
  readonly options: readonly Option[];
  readonly value?: string | null | undefined;
  readonly required?: boolean | undefined;
}

/** Boxes to tick: any of several values under one name. */
export interface CheckboxesField extends Labelled {
  readonly kind: "checkboxes";
  readonly options: readonly Option[];
  readonly values: readonly string[];
}

/** A single box to tick. */
export interface CheckboxField extends Labelled {
  readonly kind: "checkbox";
  readonly checked: boolean;
  /** What is sent when ticked; `on` by default. */
  readonly value?: string | undefined;
  readonly required?: boolean | undefined;
}

export type Field = InputField | TextareaField | SelectField | RadiosField | CheckboxesField | CheckboxField;

/** A labelled field with its hint and error tied to it. */
export function field(look: Field): Html {
  const id = `f-${look.name}`;
  if (look.kind === "radios" || look.kind === "checkboxes") return group(look, id);
  const { label, hint, error } = look;
  if (look.kind === "checkbox")
    return html`<div class="field check"><input type="checkbox"${attributes({ ...tied(look, id), value: look.value, checked: look.checked })}><div><label for="${id}">${label}</label>${notes(id, hint, error)}</div></div>`;
  return html`<div class="field"><label for="${id}">${label}${isOptional(look) && html` <span class="optional">optional</span>`}</label>${control(look, id)}${notes(id, hint, error)}</div>`;
}

function isOptional(look: InputField | TextareaField | SelectField): boolean {
  if (look.kind === "select" || look.required) return false;
  return look.kind === "textarea" || !look.readOnly;
}

function control(look: InputField | TextareaField | SelectField, id: string): Html {
  const shared = tied(look, id);
  if (look.kind === "select")
    return html`<select${attributes(shared)}>${options(look.options, look.value ?? "")}</select>`;
  const plain = look.mono ? { class: "mono", spellcheck: "false", autocapitalize: "off", autocorrect: "off" } : {};
  if (look.kind === "textarea") {
    const { rows = 4, maxLength: maxlength, placeholder } = look;
    // What is typed goes back as it is, signs of direction included.
    const kept = trustedHtml(escapeHtml(look.value ?? ""));
    // A parser drops one line break right after the tag; ours makes sure that it is not the value's own.
    return html`<textarea${attributes({ ...shared, rows, maxlength, placeholder, ...plain })}>\n${kept}</textarea>`;
  }
  const { kind: type, value, autocomplete, placeholder, min, max, step, autofocus } = look;
  const { minLength: minlength, maxLength: maxlength, readOnly: readonly } = look;
  const own = { type, value, autocomplete, placeholder, min, max, step, autofocus };
  return html`<input${attributes({ ...shared, ...own, minlength, maxlength, readonly, ...plain })}>`;
}

/** The options of a select. */
export function options(list: readonly Option[], chosen: string): Html {
  return html`${list.map(({ value, label, disabled }) => html`<option${attributes({ value, selected: value === chosen && !disabled, disabled })}>${label}</option>`)}`;
}

function group(look: RadiosField | CheckboxesField, id: string): Html {
  const { name, hint, error, label } = look;
  const type = look.kind === "checkboxes" ? "checkbox" : "radio";
  const chosen = look.kind === "checkboxes" ? look.values : [look.value ?? ""];
  const required = look.kind === "radios" ? look.required : undefined;
  return html`<fieldset class="field group"${attributes({ "aria-describedby": described(id, hint, error) })}><legend>${label}</legend>${notes(id, hint, error)}
${look.options.map(({ value, label, hint }, i) => {
  const own = `${id}-${i}`;
  const shared = { id: own, name, value, required, checked: chosen.includes(value) };
  return html`<div class="check"><input type="${type}"${attributes({ ...shared, "aria-describedby": hint ? `${own}-hint` : undefined })}><div><label for="${own}">${label}</label>${notes(own, hint, undefined)}</div></div>`;
})}</fieldset>`;
}

function tied({ name, hint, error, ...rest }: Labelled, id: string) {
  const required = "required" in rest && rest.required === true;
  return {
    id,
    name,
    required,
    "aria-describedby": described(id, hint, error),
    "aria-invalid": error ? "true" : undefined,
  };
}

function described(id: string, hint: Content, error: string | null | undefined): string | undefined {
  return [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
}

function notes(id: string, hint: Content, error: string | null | undefined): Html {
  return html`${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}${error && html`<p class="error" id="${id}-error">${error}</p>`}`;
}
