import * as v from "valibot";
import { type Html, html } from "../../../../kit/html.ts";
import { layOutJson } from "../../../../kit/json-indent.ts";
import {
  duplicatesOf,
  MAX_NOTE_CHARS,
  type RequestRow,
  STATUSES,
  type Status,
  titleOf,
} from "../../../../share/feature-requests/feature-requests.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { type FormError, formSpec, typed } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { anchor, codeBlock, columns, empty, facts, pageHead, section } from "../../ui/parts.ts";
import { ago, number, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { ByOperator } from "../shared/call.ts";
import { drawnWith } from "../shared/forms.ts";
import { senderOf, statusBadge, WORDS } from "./labels.ts";

/** One request: what was sent, what becomes of it, what repeats it. */

export const STATUS = formSpec({
  status: {
    kind: "select",
    label: "Status",
    options: STATUSES.map((value) => ({ value, label: `${WORDS[value].label}: ${WORDS[value].intro}` })),
    schema: v.picklist(STATUSES, "Choose one of the statuses."),
  },
  note: {
    kind: "textarea",
    label: "Note",
    rows: 3,
    maxLength: MAX_NOTE_CHARS,
    schema: v.optional(v.string()),
  },
});

/** What operators say of a request, as the form holds it. */
export const saidOf = ({ status, note }: { readonly status: Status; readonly note?: string | null | undefined }) => ({
  status,
  note: (note ?? "").replaceAll("\r\n", "\n").trim(),
});

export const MERGE = formSpec({
  into: {
    kind: "text",
    label: "It repeats",
    hint: "The id or the address of the other request.",
    required: true,
    maxLength: 500,
    autocomplete: "off",
    mono: true,
    schema: v.pipe(
      typed,
      v.transform((text) => /req_[\w-]{1,128}/.exec(text.slice(0, 500))?.[0] ?? ""),
      v.nonEmpty("Give the id of the other request; it begins with req_."),
    ),
  },
});

const MAX_DUPLICATES = 50;

/** @param similar requests that may ask for the same */
export function oneRequest(
  call: ByOperator,
  request: RequestRow,
  similar: readonly RequestRow[],
  error?: FormError,
): Html {
  const { core, href } = call;
  const now = core.clock.now();
  const { id, mergedInto } = request;
  const link = (to: string) => html`<a href="${href(`/requests/${to}`)}"><code>${to}</code></a>`;
  const main = html`${pageHead({
    title: titleOf(request, 60),
    crumbs: [{ label: "Requests", href: href("/requests") }, { label: id }],
  })}
${facts([
  { label: "Status", value: statusBadge(request) },
  { label: "Repeats", value: mergedInto && link(mergedInto) },
  { label: "Id", value: html`<code>${id}</code>` },
  { label: "Received", value: time(request.createdAt, now) },
  { label: "Changed", value: request.updatedAt !== request.createdAt && time(request.updatedAt, now) },
  {
    label: "Sender",
    value: html`<code>${senderOf(request)}</code> <small>the same for requests from one address, of which nothing else is kept</small>`,
  },
])}
${section({
  title: "What was sent",
  body: html`${codeBlock(request.text, { label: "Text", wrap: true, tall: true })}
${request.context !== "{}" && codeBlock(layOutJson(request.context), { label: "Context", titled: true, wrap: true, tall: true })}`,
})}
${mergedInto === null ? columns(changeSection(call, request, error), mergeSection(call, request, error)) : unmergeSection(call, request)}
${mergedInto === null && similar.length > 0 && similarSection(call, request, similar)}
${request.duplicates > 0 && duplicatesSection(call, request)}`;
  return frame(call, { title: titleOf(request, 60), main });
}

function changeSection(call: ByOperator, request: RequestRow, error?: FormError) {
  return section({
    title: "What becomes of it",
    intro: "Whoever has its id can ask for the status. The note stays among operators.",
    framed: true,
    body: STATUS.draw(call, {
      action: `/requests/${request.id}`,
      values: request,
      hidden: drawnWith(saidOf(request), call, error),
      error,
      submit: "Save",
    }),
  });
}

function mergeSection(call: ByOperator, { id }: RequestRow, error?: FormError) {
  return section({
    title: "Is it a duplicate?",
    intro: "A duplicate has the status of the request that it repeats. Nothing of it is lost.",
    framed: true,
    body: MERGE.draw(call, { action: `/requests/${id}/merge`, error, submit: "Merge" }),
  });
}

function unmergeSection(call: ByOperator, { id, status, note }: RequestRow) {
  return section({
    title: "A duplicate",
    intro: `Whoever asks for its status is told that of the request it repeats. Its own was “${WORDS[status].label}”.`,
    framed: true,
    body: html`${note !== null && facts([{ label: "Note", value: note }])}
${confirmButton(call, {
  action: `/requests/${id}/unmerge`,
  label: "Take the merge back",
  question: "Take the merge back? The request has its own status again.",
  confirm: "Take it back",
  look: "plain",
})}`,
  });
}

function similarSection(call: ByOperator, { id }: RequestRow, similar: readonly RequestRow[]) {
  const { core, href } = call;
  return section({
    title: "In similar words",
    intro: "Recent requests that may ask for the same.",
    body: table({
      caption: "Similar requests",
      columns: [
        {
          label: "Request",
          heading: true,
          grow: true,
          cell: (request) => anchor(href(`/requests/${request.id}`), titleOf(request, 160)),
        },
        { label: "Status", cell: statusBadge },
        { label: "Received", cell: (request) => ago(request.createdAt, core.clock.now()) },
        {
          label: "Merge",
          hidden: true,
          cell: (request) =>
            confirmButton(call, {
              action: `/requests/${id}/merge`,
              hidden: { into: request.id },
              label: "Merge into it",
              question: `Mark this request as a duplicate of “${titleOf(request)}”?`,
              confirm: "Merge",
              look: "plain",
              small: true,
            }),
        },
      ],
      rows: similar,
      empty: empty({ title: "Nothing similar", intro: "" }),
    }),
  });
}

function duplicatesSection({ core, href }: ByOperator, { id, duplicates }: RequestRow) {
  return section({
    title: "Duplicates",
    intro:
      duplicates > MAX_DUPLICATES
        ? `The newest ${MAX_DUPLICATES} of ${number(duplicates)}. They have the status of this request.`
        : "They have the status of this request.",
    body: table({
      caption: "Duplicates",
      columns: [
        {
          label: "Request",
          heading: true,
          grow: true,
          cell: (request) => anchor(href(`/requests/${request.id}`), titleOf(request, 160)),
        },
        { label: "Sender", cell: (request) => html`<code>${senderOf(request)}</code>` },
        { label: "Received", cell: (request) => ago(request.createdAt, core.clock.now()) },
      ],
      rows: duplicatesOf(core, id, MAX_DUPLICATES),
      empty: empty({ title: "No duplicates", intro: "" }),
    }),
  });
}
