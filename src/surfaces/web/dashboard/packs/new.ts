import { tierGate } from "../../../../identity/teams/teams.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { fail, notFound, Problem } from "../../../../kit/problem.ts";
import { type PageCall, type PageReply, page, redirect } from "../../../../platform/http/page.ts";
import { type FileList, listFiles, listRepositories } from "../../../../record/brain/brain.ts";
import { draftPack, findOwnPack, type PackDraft, publishPack } from "../../../../share/packs/packs.ts";
import { table } from "../../ui/list.ts";
import { anchor, empty, pageHead } from "../../ui/parts.ts";
import { ago } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by } from "../shared/call.ts";
import { type PackInput, packForm, readInput, requestOf, startInput } from "./form.ts";
import { previewBody } from "./preview.ts";

/** Publishing, in two steps: choose, then look at exactly what would be published. */

type Admin = PageCall<"admin">;

const PATH = "/packs/new";
/** 500 paths and a README, each byte spelled in three. */
const MAX_FORM_BYTES = 2 * 1024 * 1024;

const named = (repoKey: string) => (repoKey === "" ? "(no repository named)" : repoKey);

function framed(call: Admin, title: string, intro: Html | string, body: Html): Html {
  const crumbs = [{ label: "Packs", href: call.href("/packs") }, { label: title }];
  return frame(call, { title, main: html`${pageHead({ title, intro, crumbs })}\n${body}` });
}

/** Which repository's brain, where there are several. */
function repositoryPage(call: Admin): Html {
  const { core, session, query, href } = call;
  const now = core.clock.now();
  const repositories = listRepositories(core, session.team.id);
  const name = query.get("name");
  const address = (repo: string) => href(`${PATH}?${new URLSearchParams({ repo, ...(name ? { name } : {}) })}`);
  return framed(
    call,
    "Publish a pack",
    "Choose the repository whose brain it is made of.",
    table({
      caption: "Repositories",
      columns: [
        {
          label: "Repository",
          heading: true,
          grow: true,
          cell: (repository) => anchor(address(repository.repoKey), named(repository.repoKey)),
        },
        { label: "Files", numeric: true, cell: (repository) => repository.files },
        { label: "Last pushed", cell: (repository) => ago(repository.receivedAt, now) },
      ],
      rows: repositories,
      empty: empty({
        title: "No brain to publish from",
        intro:
          "A pack is made of files that one of the team’s devices pushed. Connect a device, and let its agent, or a script, push the brain.",
        code: `reckon code create --team "${session.team.name}"`,
      }),
    }),
  );
}

function formPage(call: Admin, brain: FileList, input: PackInput, wrong?: string): Html {
  const { core, session } = call;
  const isNamed = findOwnPack(core, session.team.id, input.name) !== undefined;
  return framed(
    call,
    isNamed ? `A new version of ${input.name}` : "Publish a pack",
    html`From the brain of ${named(input.repo)}. Nothing is published before you have seen it as others will.`,
    html`<div class="card">${packForm(call, { input, files: brain.files, named: isNamed, wrong })}</div>`,
  );
}

function brainOf({ core, session }: Admin, repo: string): FileList {
  const brain = listFiles(core, session.team.id, repo);
  if (!brain) fail(notFound, "The team has no brain of that repository.");
  return brain;
}

function startPage(call: Admin): Html {
  const { core, session, query } = call;
  const repositories = listRepositories(core, session.team.id);
  const repo = query.get("repo") ?? (repositories.length === 1 ? repositories[0]?.repoKey : undefined);
  if (repo === undefined) return repositoryPage(call);
  const brain = brainOf(call, repo);
  const files = brain.files.map((file) => file.path);
  return formPage(call, brain, startInput(core, session.team.id, repo, (query.get("name") ?? "").slice(0, 64), files));
}

const previewPage = (call: Admin, input: PackInput, draft: PackDraft, changed = false): Html =>
  framed(
    call,
    `${draft.title} ${draft.version}`,
    draft.leaks.length > 0
      ? "Nothing is published."
      : "This is what would be published, byte for byte. Nothing is published yet.",
    previewBody(call, input, draft, changed),
  );

/** Each step of the form: back to the fields, the preview, or publishing what the preview showed. */
async function takeForm(call: Admin): Promise<Html | PageReply> {
  const { core, session, form } = call;
  const input = readInput(form);
  const brain = brainOf(call, input.repo);
  if (form.has("edit")) return formPage(call, brain, input);
  try {
    const draft = await draftPack(core, session.team.id, requestOf(input));
    if (form.get("step") !== "publish") return previewPage(call, input, draft);
    // The brain may have been pushed again since: then what was looked at is not what would be published.
    if (form.get("sha256") !== draft.sha256) return { status: 409, body: previewPage(call, input, draft, true) };
    await publishPack(core, draft, by(call));
    return redirect(`/packs/${draft.name}`, `${draft.name} ${draft.version} is published.`);
  } catch (error) {
    if (!(error instanceof Problem) || error.row === tierGate) throw error;
    return { status: error.status, body: formPage(call, brain, input, error.message) };
  }
}

export const newPackPages = [
  page({ id: "packNew", method: "GET", path: PATH, access: "admin" }, startPage),
  page({ id: "packPublish", method: "POST", path: PATH, access: "admin", maxFormBytes: MAX_FORM_BYTES }, takeForm),
];
