import { KINDS, type Kind } from "../../../../formats/brain-kinds.ts";
import { getTeam, tierHas } from "../../../../identity/teams/teams.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { type Page, page } from "../../../../platform/http/page.ts";
import { listRepositories } from "../../../../record/brain/brain.ts";
import { buttonLink } from "../../ui/button.ts";
import type { Table } from "../../ui/list.ts";
import { anchor, badge, empty, pageHead } from "../../ui/parts.ts";
import { ago, bytes } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, kindName, link, repoName } from "../shared/links.ts";
import { listPage } from "../shared/list.ts";
import { readParams } from "../shared/params.ts";
import { proofPage } from "../shared/proof.ts";
import { changesPage } from "./changes.ts";
import { downloadPage, filePage } from "./file.ts";
import { repositoryPage } from "./repository.ts";
import { PARAMS, searchFilters, searchResults } from "./search.ts";
import { historyPage, versionsPage } from "./versions.ts";

/** The team's brain: all repositories and the search over them. */

async function brainPage(call: Member): Promise<Html> {
  const params = readParams(PARAMS, call.query);
  const repositories = listRepositories(call.core, call.session.team.id);
  const head = {
    title: "Brain",
    says: "Errors, decisions and notes that agents keep as markdown, by repository. Every version is kept.",
  };
  if (repositories.length === 0) return frame(call, { title: "Brain", main: html`${pageHead(head)}${noBrain(call)}` });
  const searching = params.q !== "";
  return listPage(call, {
    ...head,
    path: "/brain",
    id: "results",
    label: "Search the brain",
    filters: searchFilters(params, "Search all repositories"),
    ...(searching
      ? { body: await searchResults(call, params) }
      : { table: repositoryTable(call, repositories, params.kind), count: repositories.length }),
  });
}

type Repository = ReturnType<typeof listRepositories>[number];

function repositoryTable(call: Member, repositories: readonly Repository[], kind: Kind | undefined): Table<Repository> {
  const now = call.core.clock.now();
  const shown = repositories.filter((one) => kind === undefined || (one.kinds[kind] ?? 0) > 0);
  return {
    caption: "Repositories",
    columns: [
      {
        label: "Repository",
        heading: true,
        grow: true,
        cell: (repository) =>
          anchor(link(call, "/brain/repository", { repo: repository.repoKey, kind }), repoName(repository.repoKey)),
      },
      { label: "Contents", cell: (repository) => kindCounts(repository.kinds) },
      { label: "Files", numeric: true, cell: (repository) => repository.files },
      { label: "Size", numeric: true, cell: (repository) => bytes(repository.bytes) },
      {
        label: "Last snapshot",
        cell: (repository) =>
          html`${ago(repository.receivedAt, now)}<br><small class="muted">version ${repository.version} from ${deviceLink(call, repository)}</small>`,
      },
    ],
    rows: shown,
    empty: empty({
      title: `No repository with ${kind === undefined ? "files" : kindName(kind)}`,
      intro: "What a file holds is told from its name: errors.md, decisions/, security.md and so on.",
    }),
  };
}

const TONES = {
  error: "bad",
  security: "warn",
  "anti-pattern": "warn",
  decision: "good",
  session: "info",
  note: "neutral",
} as const;

function kindCounts(kinds: Repository["kinds"]): Content {
  return KINDS.filter((kind) => kinds[kind]).map(
    (kind) => html`${badge(TONES[kind], kinds[kind] === 1 ? kindName(kind) : `${kindName(kind)} ${kinds[kind]}`)} `,
  );
}

function noBrain(call: Member): Html {
  if (!tierHas(getTeam(call.core, call.session.team.id).tier, "brain"))
    return empty({
      title: "No brain",
      intro: "The team’s tier does not include one.",
    });
  return empty({
    title: "No brain yet",
    intro:
      "A connected machine publishes a repository’s brain whenever it changes: markdown in .claude/brain and docs/decisions, CLAUDE.md, AGENTS.md. It is then shown, searched and kept here. With a device token, a first one can be sent by hand:",
    code: `curl ${call.baseUrl}/api/brain/ingest \\
  -H "authorization: Bearer $DEVICE_TOKEN" \\
  -H "content-type: application/json" \\
  -d '{"version": 1, "repoKey": "acme/shop", "files": [
        {"path": "errors.md", "content": "# Errors\\n"}]}'`,
    actions: buttonLink("Connect a device", call.href("/devices")),
  });
}

export const brainPages: Page[] = [
  page({ id: "brain", method: "GET", path: "/brain", access: "member" }, brainPage),
  page({ id: "brainRepository", method: "GET", path: "/brain/repository", access: "member" }, repositoryPage),
  page({ id: "brainFile", method: "GET", path: "/brain/file", access: "member" }, filePage),
  page({ id: "brainDownload", method: "GET", path: "/brain/download", access: "member" }, downloadPage),
  page({ id: "brainVersions", method: "GET", path: "/brain/versions", access: "member" }, versionsPage),
  page({ id: "brainHistory", method: "GET", path: "/brain/history", access: "member" }, historyPage),
  page({ id: "brainProof", method: "GET", path: "/brain/snapshots/:id/proof", access: "member" }, (call) =>
    proofPage("snapshot", call),
  ),
  page({ id: "brainChanges", method: "GET", path: "/brain/changes", access: "member" }, changesPage),
];
