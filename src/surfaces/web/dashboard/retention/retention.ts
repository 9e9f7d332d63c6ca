import * as v from "valibot";
import { type Html, html } from "../../../../kit/html.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import {
  ADVISED_DAYS,
  lastRuns,
  MAX_DAYS,
  RETENTION_KINDS,
  type RetentionKind,
  retentionOf,
  setRetention,
} from "../../../../share/erasure/erasure.ts";
import { type FormError, formSpec, trimmed } from "../../ui/form-spec.ts";
import { codeBlock, facts, pageHead, section } from "../../ui/parts.ts";
import { number, plural, time } from "../../ui/units.ts";
import { holdSection } from "../evidence/erasures.ts";
import { frame } from "../frame.ts";
import { by } from "../shared/call.ts";
import { changedFields, drawnWith, handleForm } from "../shared/forms.ts";

/** For how long the team's records are kept, what is held all the same, and what the last night let go. */

const WHAT: Readonly<Record<RetentionKind, { label: string; hint: string }>> = {
  telemetry: { label: "Telemetry", hint: "Entries of telemetry. The figures of spend that were made of them stay." },
  brain: { label: "Brain", hint: "Earlier versions. The current brain of a repository stays, however old." },
  traces: { label: "Sessions", hint: "Sessions with their spans and labels, from their last change on." },
  reads: {
    label: "Reads",
    hint: "Questions asked with read tokens, unless another team of the person keeps them longer; reads of devices by MCP, and who opened whose session.",
  },
  audit: { label: "Audit", hint: "Who did what." },
  "web-sessions": { label: "Sign-ins", hint: "Sign-ins that are over, with address and browser." },
};

type Retention = ReturnType<typeof retentionOf>;

const WRONG = `Choose a whole number from 1 to ${number(MAX_DAYS)}, or leave it empty.`;
/** Null for ever. */
const days = v.pipe(
  trimmed,
  v.regex(/^\d{0,5}$/, WRONG),
  v.transform((text) => (text === "" ? null : Number(text))),
  v.check((kept) => kept === null || (kept >= 1 && kept <= MAX_DAYS), WRONG),
);

const fieldOf = (kind: RetentionKind) => ({
  kind: "number" as const,
  name: kind,
  label: `${WHAT[kind].label}, days`,
  hint: WHAT[kind].hint,
  placeholder: "for ever",
  min: 1,
  max: MAX_DAYS,
  schema: days,
});

const RETENTION = formSpec(
  {
    telemetry: fieldOf("telemetry"),
    brain: fieldOf("brain"),
    traces: fieldOf("traces"),
    reads: fieldOf("reads"),
    audit: fieldOf("audit"),
    "web-sessions": fieldOf("web-sessions"),
  },
  "Nothing was changed. See below what has to change.",
);

function retentionPage(call: PageCall<"admin">, error?: FormError): Html {
  const { core, session } = call;
  const keeps = retentionOf(core, session.team.id);
  const isShort = RETENTION_KINDS.some((kind) => (keeps[kind] ?? ADVISED_DAYS) < ADVISED_DAYS);
  const main = html`${pageHead({ title: "Retention", intro: html`For how long the records of ${session.team.name} are kept.` })}
${isShort && html`<div class="flash warn" role="status"><p>Something is kept for less than ${ADVISED_DAYS} days. Auditors of AI systems mostly ask for six months.</p></div>`}
${section({
  title: "Days",
  intro: "Older records are removed for good, once a day (UTC). Where a field is empty, they are kept for ever.",
  framed: true,
  body: RETENTION.draw(call, {
    action: "/retention",
    values: keeps,
    hidden: drawnWith(shownOf(keeps), call, error),
    submit: "Keep it so long",
    confirm: "Keep it so long? What is older is removed for good. That may begin within a minute.",
    error,
  }),
})}
${nights(call)}
${holdSection(call, "Records under a hold are neither removed nor erased. Operators place and release holds.")}
${section({
  id: "erase",
  title: "Erase now",
  intro: "Operators erase a person, a device, a session, an entry or a repository on the server's command line.",
  body: codeBlock("reckon erase --person ada@example.com --reason TEXT --dry-run", {
    label: "See what would be erased",
    titled: true,
  }),
})}`;
  return frame(call, { title: "Retention", main });
}

const shownOf = (keeps: Retention) =>
  Object.fromEntries(RETENTION_KINDS.map((kind) => [kind, `${keeps[kind] ?? ""}`])) as Record<RetentionKind, string>;

function keptNow(kind: RetentionKind, keeps: Retention): string {
  const now = keeps[kind];
  return `${WHAT[kind].label} is kept ${now === null ? "for ever" : `for ${plural(now, "day")}`} now`;
}

function nights({ core, session }: PageCall<"admin">): Html {
  const run = lastRuns(core).find(({ teamId }) => teamId === session.team.id);
  const counts = Object.entries(run?.counts ?? {});
  const words = counts.map(([name, count]) => `${name} ${number(count)}`).join(", ");
  return section({
    title: "Last night",
    framed: true,
    body: run
      ? facts([
          { label: "Began", value: time(run.at, core.clock.now()) },
          { label: "Done", value: time(run.completedAt, core.clock.now(), "not yet") },
          { label: "Let go", value: words || "nothing" },
        ])
      : html`<p class="says">No run yet.</p>`,
  });
}

function change(call: PageCall<"admin">) {
  const { core, session } = call;
  return handleForm(
    call,
    RETENTION,
    async (sent) => {
      let changed = false;
      const keeps = retentionOf(core, session.team.id);
      for (const kind of changedFields(call, shownOf(keeps), shownOf(sent), (one) => keptNow(one, keeps)))
        changed = (await setRetention(core, session.team.id, kind, sent[kind], by(call))) || changed;
      return redirect(
        "/retention",
        changed ? "It is kept so long from now on." : "Nothing differed, so nothing was changed.",
      );
    },
    (error) => retentionPage(call, error),
  );
}

export const retentionPages = [
  page({ id: "retention", method: "GET", path: "/retention", access: "admin" }, (call) => retentionPage(call)),
  page({ id: "changeRetention", method: "POST", path: "/retention", access: "admin" }, change),
];
