import * as v from "valibot";
import { freshenLinks, linksOfSession } from "../../insight/causes/causes.ts";
import { fail, notFound } from "../../kit/problem.ts";
import { Count } from "../../platform/http/fields.ts";
import { getSession } from "../../record/traces/traces.ts";
import { Document, Id, numberIn, TEAM, Text } from "./fields.ts";
import { CauseLink, EXAMPLE_LINK, linkOf, MAX_LINKS } from "./links.ts";
import { reading } from "./reading.ts";
import { EXAMPLE_SESSION, factsOf, SessionFacts } from "./session-facts.ts";
import { Verbatim } from "./verbatim.ts";

/** A session with what was sent of it, the errors put down to it, and the deliveries that hold it; its spans have a list of their own. */
export const sessionOne = reading(
  {
    id: "readSession",
    path: "/api/sessions/:id",
    numbered: true,
    summary: "Read one session",
    query: v.object(TEAM),
    ok: v.object({
      ok: v.literal(true),
      ...SessionFacts.entries,
      title: Text,
      agentVersion: Text,
      parentId: v.pipe(Text, v.description("The session that it was forked from, as its agent named that.")),
      spanCount: v.pipe(Count, v.description("They are at `/api/sessions/{id}/spans`.")),
      labelCount: Count,
      labels: v.pipe(v.array(Document), v.description("The first 500.")),
      errors: v.pipe(
        v.array(CauseLink),
        v.description("Errors that are put down to it, the newest first; 100 at most."),
      ),
      deliveries: v.pipe(v.array(Id), v.description("The deliveries that hold its latest state; 50 at most.")),
      document: Document,
    }),
    example: {
      ok: {
        ok: true,
        ...EXAMPLE_SESSION,
        title: null,
        agentVersion: "2.0.42",
        parentId: null,
        spanCount: 42,
        labelCount: 0,
        labels: [],
        errors: [EXAMPLE_LINK],
        deliveries: [12],
        document: { id: "b7c0a1", outcome: "success", prompts: [{ text: "Fix the login loop" }] },
      },
    },
  },
  async ({ core, teamId, params }) => {
    await freshenLinks(core);
    const session = await getSession(core, teamId, numberIn(params.id), false);
    if (!session) fail(notFound, "There is no such session.");
    const { title, agentVersion, parentId, spanCount, labelCount } = session;
    return {
      ...factsOf(core, session),
      ...{ title, agentVersion, parentId, spanCount, labelCount },
      labels: session.labels.map(({ document }) => new Verbatim(document)),
      errors: linksOfSession(core, teamId, session.id).slice(0, MAX_LINKS).map(linkOf),
      deliveries: session.deliveries.map(({ id }) => id),
      document: new Verbatim(session.document),
    };
  },
);
