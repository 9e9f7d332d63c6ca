import { type Core, slot } from "../../core.ts";
import { Html } from "../../kit/html.ts";
import type { PageReply } from "./page.ts";

/**
 * How long a repeated form counts as a double click. Later it is meant once more, such as one whose answer is a file that leaves its page
 * as it is.
 */
const KEPT_MS = 10_000;

/** Replies held at most. Beyond that number a form is done as often as it is sent. */
const MAX_KEPT = 500;

interface Sent {
  readonly reply: Promise<PageReply>;
  /** When it was answered; undefined while it is not. */
  answeredAt?: number;
}

/** Forms that are being answered, or were just now, by what was sent. */
const sentForms = slot(() => new Map<string, Sent>());

/** A streamed body can be sent only once. */
const isWhole = ({ body }: PageReply) =>
  body === undefined || typeof body === "string" || body instanceof Html || body instanceof Uint8Array;

/**
 * Does what a form asks for, or repeats the answer of just before: a second click shows what the first one did.
 * @param sent identifies the form, and the drawing of the page that it stands on
 */
export function answerOnce(core: Core, sent: string, work: () => Promise<PageReply>): Promise<PageReply> {
  const forms = sentForms(core);
  const now = core.clock.monotonic();
  for (const [key, { answeredAt = now }] of forms) if (now - answeredAt >= KEPT_MS) forms.delete(key);
  const before = forms.get(sent);
  if (before) return before.reply;
  if (forms.size >= MAX_KEPT) return work();
  const form: Sent = { reply: work() };
  forms.set(sent, form);
  form.reply.then(
    (reply) => {
      if ((reply.status ?? 200) < 400 && isWhole(reply)) form.answeredAt = core.clock.monotonic();
      else forms.delete(sent);
    },
    () => forms.delete(sent),
  );
  return form.reply;
}
