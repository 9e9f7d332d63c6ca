import { actorOf } from "../../../../identity/accounts/accounts.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { fail, invalid, notFound, Problem } from "../../../../kit/problem.ts";
import { type PageReply, page, redirect } from "../../../../platform/http/page.ts";
import {
  changeRequest,
  findRequest,
  listRequests,
  mergeRequest,
  type RequestRow,
  STATUSES,
  similarRequests,
  titleOf,
  unmergeRequest,
} from "../../../../share/feature-requests/feature-requests.ts";
import { empty } from "../../ui/parts.ts";
import { ago, plural } from "../../ui/units.ts";
import type { ByOperator } from "../shared/call.ts";
import { listPage } from "../shared/list.ts";
import { choiceIn, selectFilter, textIn } from "../shared/params.ts";
import { senderOf, statusBadge, WORDS } from "./labels.ts";
import { oneRequest, type Wrong } from "./one.ts";

/** What people and agents ask of the product, for who runs the installation. */

const PAGE = 50;
const PATH = "/requests";
const MAX_SIMILAR = 5;
const TITLE_CHARS = 140;

async function requestsPage(call: ByOperator): Promise<Html> {
  const { core, query, href, baseUrl } = call;
  const now = core.clock.now();
  const q = textIn(query, "q", 200);
  const status = choiceIn(query, "status", [...STATUSES, "merged"]);
  const cursor = { before: query.get("before") ?? undefined, after: query.get("after") ?? undefined };
  const found = await listRequests(core, { text: q, status }, PAGE, cursor);
  return listPage(call, {
    title: "Requests",
    says: "What people and agents ask of the product. They follow its status by the id they were given. Equal senders are one address, of which only a keyed hash is kept.",
    wide: true,
    path: PATH,
    params: { q, status },
    id: "requests",
    label: "Filter requests",
    filters: [
      { kind: "search", name: "q", label: "Text, note or id", value: q },
      selectFilter({ name: "status", label: "Status", value: status ?? "" }, "All", [
        ...STATUSES.map((value) => ({ value, label: WORDS[value].label })),
        { value: "merged", label: "Duplicates" },
      ]),
    ],
    table: {
      caption: "Requests",
      columns: [
        {
          label: "Request",
          heading: true,
          grow: true,
          cell: (request) =>
            html`<a href="${href(`${PATH}/${request.id}`)}">${titleOf(request, TITLE_CHARS)}</a>${request.duplicates > 0 && html`<br><small>${plural(request.duplicates, "duplicate")}</small>`}`,
        },
        { label: "Status", cell: statusBadge },
        { label: "Sender", cell: (request) => html`<code>${senderOf(request)}</code>` },
        { label: "Received", cell: (request) => ago(request.createdAt, now) },
      ],
      rows: found.rows,
      empty:
        q || status
          ? empty({
              title: "Nothing like that",
              says: "No request matches. Search for other words or clear the filters.",
            })
          : empty({
              title: "No requests yet",
              says: "Anybody can send one, without an account:",
              code: `curl ${baseUrl}/api/requests/ingest -H 'content-type: application/json' -d '{"text": "Let the search match whole phrases."}'`,
            }),
    },
    pages: {
      first: found.newer !== undefined,
      newer: { after: found.newer },
      older: { before: found.older },
    },
  });
}

function wanted({ core, params }: ByOperator): RequestRow {
  const found = findRequest(core, params.id ?? "");
  if (!found) fail(notFound, "There is no such request.");
  return found;
}

const show = async (call: ByOperator, request: RequestRow, wrong?: Wrong) =>
  oneRequest(
    call,
    request,
    request.mergedInto === null ? await similarRequests(call.core, request, MAX_SIMILAR) : [],
    wrong,
  );

/** Does it, or shows the page again with what was wrong with what was sent. */
async function orAgain(
  call: ByOperator,
  request: RequestRow,
  form: Wrong["form"],
  work: () => Promise<PageReply>,
): Promise<Html | PageReply> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { status: error.status, body: await show(call, request, { form, text: error.message }) };
  }
}

const by = (call: ByOperator) => actorOf(call.session, call.ip());
const access = "operator";

export const requestPages = [
  page({ id: "requests", method: "GET", path: "/requests", access }, requestsPage),
  page({ id: "request", method: "GET", path: "/requests/:id", access }, (call) => show(call, wanted(call))),
  page({ id: "requestChange", method: "POST", path: "/requests/:id", access }, (call) => {
    const { core, form } = call;
    const request = wanted(call);
    return orAgain(call, request, "change", async () => {
      const status = STATUSES.find((one) => one === form.get("status"));
      if (!status) fail(invalid, "Choose one of the statuses.");
      await changeRequest(core, request.id, { status, note: form.get("note") ?? undefined }, by(call));
      return redirect(`${PATH}/${request.id}`, "Saved.");
    });
  }),
  page({ id: "requestMerge", method: "POST", path: "/requests/:id/merge", access }, (call) => {
    const { core, form } = call;
    const request = wanted(call);
    return orAgain(call, request, "merge", async () => {
      const into = /req_[\w-]{1,128}/.exec((form.get("into") ?? "").slice(0, 500))?.[0];
      if (into === undefined) fail(invalid, "Give the id of the other request; it begins with req_.");
      const { mergedInto } = await mergeRequest(core, request.id, into, by(call));
      const target = mergedInto === null ? undefined : findRequest(core, mergedInto);
      return redirect(`${PATH}/${request.id}`, `It is a duplicate of “${target ? titleOf(target) : into}” now.`);
    });
  }),
  page({ id: "requestUnmerge", method: "POST", path: "/requests/:id/unmerge", access }, async (call) => {
    const request = wanted(call);
    await unmergeRequest(call.core, request.id, by(call));
    return redirect(`${PATH}/${request.id}`, "The merge is taken back.");
  }),
];
