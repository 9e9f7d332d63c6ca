import type { Html } from "../../../../kit/html.ts";
import { Problem } from "../../../../kit/problem.ts";
import { type PageCall, type PageReply, retryAfter } from "../../../../platform/http/page.ts";
import type { Fields, FormError, FormSpec, Values } from "../../ui/form-spec.ts";

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
