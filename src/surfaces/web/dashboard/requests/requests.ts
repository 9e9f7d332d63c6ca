import { type Html, html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { page, redirect } from "../../../../platform/http/page.ts";
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
import type { FormError } from "../../ui/form-spec.ts";
import { empty } from "../../ui/parts.ts";
import { ago, plural } from "../../ui/units.ts";
import { type ByOperator, by } from "../shared/call.ts";
import { changedFields, handleForm } from "../shared/forms.ts";
import { listPage } from "../shared/list.ts";
import { choice, readParams, selectFilter, text } from "../shared/params.ts";
import { senderOf, statusBadge, WORDS } from "./labels.ts";
import { MERGE, oneRequest, STATUS, saidOf } from "./one.ts";

/** What people and agents ask of the product, for who runs the installation. */

const PAGE = 50;
const PATH = "/requests";
const MAX_SIMILAR = 5;
const TITLE_CHARS = 140;
const PARAMS = { q: text(200), status: choice([...STATUSES, "merged"]) };

async function requestsPage(call: ByOperator): Promise<Html> {
  const { core, query, href, baseUrl } = call;
  const now = core.clock.now();
  const { q, status } = readParams(PARAMS, query);
  const cursor = { before: query.get("before") ?? undefined, after: query.get("after") ?? undefined };
  const found = await listRequests(core, { text: q, status }, PAGE, cursor);
  return listPage(call, {
    title: "Requests",
    intro:
      "What people and agents ask of the product. They follow its status by the id they were given. Equal senders are one address, of which only a keyed hash is kept.",
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
              intro: "No request matches. Search for other words or clear the filters.",
            })
          : empty({
              title: "No requests yet",
              intro: "Anybody can send one, without an account:",
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

function requestIn({ core, params }: ByOperator): RequestRow {
  const request = findRequest(core, params.id ?? "");
  if (!request) fail(notFound, "There is no such request.");
  return request;
}

const show = async (call: ByOperator, request: RequestRow, error?: FormError) =>
  oneRequest(
    call,
    request,
    request.mergedInto === null ? await similarRequests(call.core, request, MAX_SIMILAR) : [],
    error,
  );

const access = "operator";

export const requestPages = [
  page({ id: "requests", method: "GET", path: PATH, access }, requestsPage),
  page({ id: "request", method: "GET", path: `${PATH}/:id`, access }, (call) => show(call, requestIn(call))),
  page({ id: "requestChange", method: "POST", path: `${PATH}/:id`, access }, (call) => {
    const request = requestIn(call);
    return handleForm(
      call,
      STATUS,
      async (sent) => {
        const now = saidOf(request);
        const said = { status: `the status is “${WORDS[now.status].label}”`, note: "there is another note" };
        const mine = changedFields(call, now, saidOf(sent), (name) => `${said[name]} now`);
        const change = Object.fromEntries(mine.map((name) => [name, sent[name]]));
        await changeRequest(call.core, request.id, change, by(call));
        return redirect(`${PATH}/${request.id}`, "Saved.");
      },
      (error) => show(call, request, error),
    );
  }),
  page({ id: "requestMerge", method: "POST", path: `${PATH}/:id/merge`, access }, (call) => {
    const { core } = call;
    const request = requestIn(call);
    return handleForm(
      call,
      MERGE,
      async ({ into }) => {
        const { mergedInto } = await mergeRequest(core, request.id, into, by(call));
        const target = mergedInto === null ? undefined : findRequest(core, mergedInto);
        return redirect(`${PATH}/${request.id}`, `It is a duplicate of “${target ? titleOf(target) : into}” now.`);
      },
      (error) => show(call, request, error),
    );
  }),
  page({ id: "requestUnmerge", method: "POST", path: `${PATH}/:id/unmerge`, access }, async (call) => {
    const request = requestIn(call);
    await unmergeRequest(call.core, request.id, by(call));
    return redirect(`${PATH}/${request.id}`, "The merge is taken back.");
  }),
];
