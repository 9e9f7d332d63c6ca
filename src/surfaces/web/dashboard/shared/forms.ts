import * as v from "valibot";
import type { Html } from "../../../../kit/html.ts";
import { Problem } from "../../../../kit/problem.ts";
import { type PageCall, type PageReply, retryAfter } from "../../../../platform/http/page.ts";
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
