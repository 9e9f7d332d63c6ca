import * as v from "valibot";
import type { Core } from "../../../../core.ts";
import { visible } from "../../../../kit/escape-invisible.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { nextMinor } from "../../../../kit/versions.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import { findOwnPack, isOfPack, judgeSource, PACK_RULES, type PackRequest } from "../../../../share/packs/packs.ts";
import { formSpec, typed } from "../../ui/form-spec.ts";
import { bytes, plural } from "../../ui/units.ts";

const OTHER = "other";
const [NO_LICENSE, ...SPDX] = PACK_RULES.licenses;
const MAX_TYPED = 200_000;
const MAX_PATHS = 2_000;

const text = v.pipe(
  typed,
  v.transform((sent) => sent.slice(0, MAX_TYPED)),
);

/** What a pack is made of and called. */
const PACK = formSpec({
  repo: { kind: "hidden", schema: text },
  paths: {
    kind: "checkboxes",
    name: "path",
    label: "Files",
    hint: "Of the repository’s current brain. Files of packs that you installed are not ticked.",
    options: [],
  },
  name: {
    kind: "text",
    label: "Name",
    hint: "Lower-case words joined by dashes; unique among everybody’s packs, and for good.",
    required: true,
    maxLength: 64,
    mono: true,
    placeholder: "typescript-cookie-rules",
    schema: text,
  },
  version: {
    kind: "text",
    label: "Version",
    hint: "Three numbers, each version above the last: 1.0.0, 1.1.0. A pre-release such as 2.0.0-beta.1 is offered beside it.",
    required: true,
    maxLength: 64,
    mono: true,
    schema: text,
  },
  title: { kind: "text", label: "Title", maxLength: 100, schema: text },
  summary: { kind: "text", label: "Summary", hint: "What it is for, in one line.", maxLength: 200, schema: text },
  license: {
    kind: "select",
    label: "Licence",
    hint: "What others may do with it. Without one they may read it, no more.",
    options: [
      { value: NO_LICENSE, label: "None: all rights reserved" },
      ...SPDX.map((value) => ({ value, label: value })),
      { value: OTHER, label: "Another, named below" },
    ],
    schema: text,
  },
  licenseOther: { kind: "text", name: "license_other", label: "Another licence", maxLength: 100, schema: text },
  tags: {
    kind: "text",
    label: "Tags",
    hint: `Languages, frameworks, tools; at most ${PACK_RULES.maxTags}, with commas between.`,
    maxLength: 400,
    placeholder: "typescript, react",
    schema: text,
  },
  readme: {
    kind: "textarea",
    label: "README",
    hint: "Markdown: what the rules are about, where they come from.",
    rows: 8,
    mono: true,
    schema: text,
  },
});

/** What somebody typed, as it goes back to them. */
export type PackInput = ReturnType<typeof PACK.read>;

/** What the form begins with: nothing, or what the team's pack of that name has. */
export function startInput(
  core: Core,
  teamId: string,
  repo: string,
  name: string,
  files: readonly string[],
): PackInput {
  const pack = name === "" ? undefined : findOwnPack(core, teamId, name);
  const listed = pack && PACK_RULES.licenses.some((license) => license === pack.license);
  return {
    repo,
    name: pack?.name ?? "",
    version: pack ? nextMinor(pack.version) : "1.0.0",
    title: pack?.title ?? "",
    summary: pack?.summary ?? "",
    license: pack ? (listed ? pack.license : OTHER) : NO_LICENSE,
    licenseOther: pack && !listed ? pack.license : "",
    tags: pack?.tags.join(", ") ?? "",
    readme: pack?.readme ?? "",
    paths: files.filter((path) => !isOfPack(path) && judgeSource(path) === undefined),
  };
}

export function readInput(sent: URLSearchParams): PackInput {
  const input = PACK.read(sent);
  // Ticked boxes, or the list that the preview carries along; paths hold no line breaks.
  const carried = sent.get("paths");
  const paths = carried === null ? input.paths : carried.split(/\r?\n/).filter(Boolean);
  return { ...input, paths: paths.slice(0, MAX_PATHS) };
}

/** The fields as hidden inputs carry them from the preview on. */
export const hiddenFields = ({ licenseOther, paths, ...rest }: PackInput): Record<string, string> => ({
  ...rest,
  license_other: licenseOther,
  paths: paths.join("\n"),
});

export const requestOf = (input: PackInput): PackRequest => ({
  repoKey: input.repo,
  paths: input.paths,
  name: input.name,
  version: input.version,
  title: input.title,
  summary: input.summary,
  license: input.license === OTHER ? input.licenseOther : input.license,
  tags: input.tags.split(","),
  readme: input.readme,
});

const MAX_NOT_OFFERED = 20;

/** Files of the brain that no pack may hold, each with the reason. */
function notOffered(paths: readonly string[]): Html | false {
  const refused = paths.filter((path) => judgeSource(path) !== undefined);
  return (
    refused.length > 0 &&
    html`<details class="field"><summary>Not offered: ${plural(refused.length, "file")} that no pack may hold</summary><ul>${refused
      .slice(0, MAX_NOT_OFFERED)
      .map((path) => html`<li><code>${visible(path)}</code> ${judgeSource(path)}</li>`)}</ul>${
      refused.length > MAX_NOT_OFFERED && html`<p>And ${refused.length - MAX_NOT_OFFERED} more.</p>`
    }</details>`
  );
}

interface PackForm {
  readonly input: PackInput;
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly kind: string }[];
  /** Whether it is a new version of a pack, whose name stays. */
  readonly named: boolean;
  readonly wrong?: string | undefined;
}

/** The first step: which files, and what the pack is called. */
export function packForm(call: PageCall, { input, files, named, wrong }: PackForm): Html {
  const offered = files.filter(({ path }) => judgeSource(path) === undefined);
  return PACK.draw(call, {
    action: "/packs/new",
    values: input,
    wrong,
    hidden: { step: "preview" },
    vary: {
      paths: {
        options: offered.map(({ path, kind, bytes: size }) => ({
          value: path,
          label: path,
          hint: `${kind}, ${bytes(size)}`,
        })),
      },
      name: { readOnly: named },
    },
    layout: ({ paths, ...about }) => [paths, notOffered(files.map(({ path }) => path)), Object.values(about)],
    submit: "Preview",
  });
}
