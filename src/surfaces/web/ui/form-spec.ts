import * as v from "valibot";
import { type Content, type Html, html } from "../../../kit/html.ts";
import { invalid, Problem } from "../../../kit/problem.ts";
import { type Place, takes } from "./confirm.ts";
import { type CheckboxesField, type CheckboxField, type Field, field, type Option } from "./field.ts";
import { type Form, form } from "./form.ts";

/** Forms said once: what their fields look like and what they take, for drawing them and for reading what was sent. */

type Filled = "name" | "value" | "values" | "error";
type Without<F, Names extends string> = F extends unknown ? Omit<F, Names> : never;
/** How a field looks, whatever is in it. */
type Look =
  | Without<Exclude<Field, CheckboxField | CheckboxesField>, Filled>
  | Omit<CheckboxesField, Filled>
  | Omit<CheckboxField, Exclude<Filled, "value"> | "checked">
  | { readonly kind: "hidden" };

export type FieldSpec = Look & {
  /** As the form sends it, where that is not the field's key. */
  readonly name?: string;
  /**
   * Reads what was sent: text (undefined where there is none), whether a box is ticked, or the values of those that are.
   * Its messages are shown to the person. Without one the text is taken as it is.
   */
  readonly schema?: v.GenericSchema;
};

export type Fields = Readonly<Record<string, FieldSpec>>;

type Sent<Kind> = Kind extends "checkbox" ? boolean : Kind extends "checkboxes" ? readonly string[] : string;

/** What a form was sent with. */
export type Values<F extends Fields> = {
  readonly [Key in keyof F]: F[Key] extends { readonly schema: infer Schema extends v.GenericSchema }
    ? v.InferOutput<Schema>
    : Sent<F[Key]["kind"]>;
};

/** What was sent will not do, by the keys of the fields. */
export class FormProblem extends Problem {
  readonly fields: Readonly<Record<string, string>>;
  constructor(fields: Readonly<Record<string, string>>) {
    super(invalid, Object.values(fields)[0] ?? {});
    this.fields = fields;
  }
}

/** Why a form was not taken. */
export interface FormError {
  readonly form: object;
  readonly problem: Problem;
}

/** The page that a form stands on. */
interface FormPlace extends Place {
  /** What was sent, when it comes back with an error. */
  readonly form: URLSearchParams;
}

interface Variation {
  readonly label?: Content;
  readonly hint?: Content;
  readonly options?: readonly Option[];
  readonly required?: boolean;
  readonly readOnly?: boolean;
  readonly rows?: number;
}

interface Shown<F extends Fields> extends Omit<Form, "csrf" | "fields"> {
  /** A path within this site. */
  readonly action: string;
  /** What stands in the fields at first. */
  readonly values?: { readonly [Key in keyof F]?: unknown };
  /** Ignored when it is of another form of the page. */
  readonly error?: FormError | undefined;
  /** What is different about a field on this page; false leaves it out. */
  readonly vary?: { readonly [Key in keyof F]?: Variation | false };
  /** Puts the fields otherwise than one below the other. */
  layout?(fields: { readonly [Key in keyof F]: Html | false }): Content;
}

/** A form: drawn with what is in force or, after an error, with what was sent. */
export interface FormSpec<F extends Fields> {
  /** @throws FormProblem (400) */
  read(sent: URLSearchParams): Values<F>;
  draw(place: FormPlace, shown: Shown<F>): Html;
}

/** Text, which may be missing: what schemas of fields begin with. */
export const typed = v.optional(v.string(), "");
const asSent = v.optional(v.unknown(), "");
export const trimmed = v.pipe(typed, v.trim());

function sentOf(spec: FieldSpec, name: string, sent: URLSearchParams): string | boolean | string[] | undefined {
  if (spec.kind === "checkboxes") return sent.getAll(name);
  if (spec.kind === "checkbox") return spec.value === undefined ? sent.has(name) : sent.get(name) === spec.value;
  return sent.get(name) ?? undefined;
}

/** @param summary stands above the form instead of the first message, which then stands at its field as all do */
export function formSpec<const F extends Fields>(fields: F, summary?: string): FormSpec<F> {
  const spec: FormSpec<F> = {
    read(sent) {
      const values: Record<string, unknown> = {};
      const errors: Record<string, string> = {};
      for (const [key, look] of Object.entries(fields)) {
        const result = v.safeParse(look.schema ?? asSent, sentOf(look, look.name ?? key, sent));
        if (result.success) values[key] = result.output;
        else errors[key] = result.issues[0].message;
      }
      if (Object.keys(errors).length > 0) throw new FormProblem(errors);
      return values as Values<F>;
    },
    draw: (place, shown) =>
      drawForm(fields, place, shown, summary, shown.error?.form === spec ? shown.error.problem : undefined),
  };
  return spec;
}

function drawForm(
  fields: Fields,
  place: FormPlace,
  shown: Shown<Fields>,
  summary: string | undefined,
  problem: Problem | undefined,
) {
  const { values = {}, vary = {}, layout, hidden, action, error: _, ...rest } = shown;
  if (!takes(place, action)) return html`<p class="says">As a viewer you change nothing here.</p>`;
  const atFields = summary !== undefined && problem instanceof FormProblem ? problem.fields : undefined;
  const kept: Record<string, string> = {};
  const drawn: Record<string, Html | false> = {};
  for (const [key, look] of Object.entries(fields)) {
    const name = look.name ?? key;
    const value = (problem ? sentOf(look, name, place.form) : undefined) ?? values[key];
    if (look.kind === "hidden") kept[name] = String(value ?? "");
    else drawn[key] = vary[key] !== false && drawField({ ...look, ...vary[key] }, name, value, atFields?.[key]);
  }
  return form({
    wrong: atFields ? summary : problem?.message,
    ...rest,
    action: place.href(action),
    csrf: place.csrf,
    hidden: { ...kept, ...hidden },
    fields: layout ? layout(drawn) : Object.values(drawn),
  });
}

function drawField(look: FieldSpec, name: string, value: unknown, error: string | undefined): Html {
  if (look.kind === "checkbox") return field({ ...look, name, error, checked: value === true });
  if (look.kind === "checkboxes") return field({ ...look, name, error, values: (value as string[] | undefined) ?? [] });
  // What was typed for a password never goes back.
  return field({ ...look, name, error, value: look.kind === "password" ? undefined : value } as Field);
}
