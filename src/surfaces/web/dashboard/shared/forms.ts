import * as v from "valibot";
import { type Html, html } from "../../../../kit/html.ts";
import { conflict, Problem } from "../../../../kit/problem.ts";
import { type PageCall, type PageReply, retryAfter } from "../../../../platform/http/page.ts";
import { confirmButton, type Place } from "../../ui/confirm.ts";
import { type FieldSpec, type Fields, type FormError, type FormSpec, typed, type Values } from "../../ui/form-spec.ts";
import { plural } from "../../ui/units.ts";

type Reply = Html | PageReply;

/** Does what a form asks for, or shows its page again with why not. @param again throws the problem where it is not the form's */
export async function handleForm<F extends Fields>(
  call: PageCall,
  form: FormSpec<F>,
  work: (values: Values<F>) => Reply | Promise<Reply>,
  again: (error: FormError) => Html | Promise<Html>,
): Promise<Reply> {
  try {
    return await work(form.read(call.form));
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    return { status: problem.status, headers: retryAfter(problem), body: await again({ form, problem }) };
  }
}

/** What stands in the fields of a form, by their names. */
type Texts<Name extends string> = Readonly<Record<Name, string>>;

/** Somebody else changed a field that whoever sent a form changed, too. */
class ChangedMeanwhile extends Problem {
  /** The values, as a query, that the next attempt is compared with: as first drawn, except for the change that the message names. */
  readonly drawn: string;
  constructor(message: string, drawn: URLSearchParams) {
    super(conflict, message);
    this.drawn = String(drawn);
  }
}

/**
 * A hidden field with the values that a form was drawn with, so that what somebody else changes meanwhile is not changed back. A form that
 * comes back with an error shows what was sent; this field still has the values of the first drawing.
 */
export const drawnWith = (values: Texts<string>, { form }: Pick<PageCall, "form">, error: FormError | undefined) => ({
  drawn:
    error?.problem instanceof ChangedMeanwhile
      ? error.problem.drawn
      : (form.get("drawn") ?? String(new URLSearchParams(values))),
});

/**
 * The fields that the sender of a form changed in it.
 * @param now the values in force
 * @param says the value that a field has now, e.g. `Seats is now 50`
 * @throws Problem 409 where somebody else has changed one of them since it was drawn
 */
export function changedFields<Name extends string>(
  { form }: Pick<PageCall, "form">,
  now: Texts<Name>,
  sent: Texts<Name>,
  says: (name: Name) => string,
): Name[] {
  const drawn = new URLSearchParams(form.get("drawn") ?? "");
  const drawnAs = (name: Name) => drawn.get(name) ?? now[name];
  const mine = (Object.keys(now) as Name[]).filter((name) => sent[name] !== drawnAs(name));
  const overtaken = mine.find((name) => drawnAs(name) !== now[name] && sent[name] !== now[name]);
  if (overtaken === undefined) return mine;
  drawn.set(overtaken, now[overtaken]);
  throw new ChangedMeanwhile(
    `Somebody changed this meanwhile: ${says(overtaken)}. Nothing was changed; send it again if yours is right.`,
    drawn,
  );
}

const LIFETIMES = [7, 30, 90, 365];

/** For how many days a token works. @param what it is called */
export const lifetimeField = (what: string) =>
  ({
    kind: "select",
    label: "Expires in",
    options: LIFETIMES.map((days) => ({ value: String(days), label: days === 365 ? "a year" : `${days} days` })),
    schema: v.pipe(
      typed,
      v.transform(Number),
      v.picklist(LIFETIMES, `${what} works for ${LIFETIMES.map((days) => plural(days, "day")).join(", ")}.`),
    ),
  }) as const satisfies FieldSpec;

/** A button that revokes a token, after a question. @param action where its form is posted */
export const revokeToken = (place: Place, action: string, { id, name }: { id: string; name: string }): Html =>
  confirmButton(place, {
    action,
    hidden: { id },
    label: html`Revoke<span class="vh"> ${name}</span>`,
    question: html`Revoke “${name}”? Whatever uses it is refused from now on. This cannot be undone.`,
    confirm: "Revoke token",
    small: true,
  });
