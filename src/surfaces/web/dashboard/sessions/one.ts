import { type Html, html } from "../../../../kit/html.ts";
import { cooperative } from "../../../../kit/yield.ts";
import type { Member } from "../shared/call.ts";
import { seesOwn } from "../shared/sight.ts";
import { transcriptOf } from "./conversation.ts";
import { rail } from "./rail.ts";
import { causedList, mentionList } from "./related.ts";
import { sessionPage, visitOf } from "./visit.ts";

/** One session: what happened, turn by turn, and its facts beside it. */

export async function transcriptPage(call: Member): Promise<Html> {
  const visit = await visitOf(call);
  const yieldNow = cooperative(call.core.clock);
  const { failed, body, ...told } = await transcriptOf(visit);
  await yieldNow();
  // Errors and the brain are not open to who sees only what is theirs.
  const related = seesOwn(call) ? [] : [await causedList(visit), await mentionList(visit)];
  await yieldNow();
  return sessionPage(
    visit,
    "",
    html`<div class="with-rail">${failed}${rail(visit, { ...told, related })}${body}</div>`,
  );
}
