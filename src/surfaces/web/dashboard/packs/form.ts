import type { Core } from "../../../../core.ts";
import { visible } from "../../../../kit/escape-invisible.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { nextMinor } from "../../../../kit/versions.ts";
import {
  findOwnPack,
  isOfPack,
  judgeSource,
  LICENSES,
  MAX_TAGS,
  type PackRequest,
} from "../../../../share/packs/packs.ts";
import { field } from "../../ui/field.ts";
import { form } from "../../ui/form.ts";
import { bytes, plural } from "../../ui/units.ts";

/** What somebody typed, as it goes back to them. */
export interface PackInput {
  readonly repo: string;
  readonly name: string;
  readonly version: string;
  readonly title: string;
  readonly summary: string;
  readonly license: string;
  readonly licenseOther: string;
  readonly tags: string;
  readonly readme: string;
  readonly paths: readonly string[];
}

const OTHER = "other";
const [NO_LICENSE, ...SPDX] = LICENSES;

/** What the form begins with: nothing, or what the team's pack of that name has. */
export function startInput(
  core: Core,
  teamId: string,
  repo: string,
  name: string,
  files: readonly string[],
): PackInput {
  const pack = name === "" ? undefined : findOwnPack(core, teamId, name);
  const listed = pack && LICENSES.some((license) => license === pack.license);
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

const MAX_TYPED = 200_000;

export function readInput(fields: URLSearchParams): PackInput {
  const text = (name: string) => (fields.get(name) ?? "").slice(0, MAX_TYPED);
  // Ticked boxes, or the list that the preview carries along; paths hold no line breaks.
  const carried = fields.get("paths");
  const paths = carried === null ? fields.getAll("path") : carried.split(/\r?\n/).filter(Boolean);
  return {
    repo: text("repo"),
    name: text("name"),
    version: text("version"),
    title: text("title"),
    summary: text("summary"),
    license: text("license"),
    licenseOther: text("license_other"),
    tags: text("tags"),
    readme: text("readme"),
    paths: paths.slice(0, 2_000),
  };
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
  readonly action: string;
  readonly csrf: string;
  readonly input: PackInput;
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly kind: string }[];
  /** A pack that gets a new version: its name stays. */
  readonly named: boolean;
  readonly wrong?: string | undefined;
}

/** The first step: which files, and what the pack is called. */
export function packForm({ action, csrf, input, files, named, wrong }: PackForm): Html {
  const about = html`${field({
    kind: "text",
    name: "name",
    label: "Name",
    hint: "Lower-case words joined by dashes; unique among everybody’s packs, and for good.",
    value: input.name,
    required: true,
    readOnly: named,
    maxLength: 64,
    mono: true,
    placeholder: "typescript-cookie-rules",
  })}
${field({ kind: "text", name: "version", label: "Version", hint: "Three numbers, each version above the last: 1.0.0, 1.1.0. A pre-release such as 2.0.0-beta.1 is offered beside it.", value: input.version, required: true, maxLength: 64, mono: true })}
${field({ kind: "text", name: "title", label: "Title", value: input.title, maxLength: 100 })}
${field({ kind: "text", name: "summary", label: "Summary", hint: "What it is for, in one line.", value: input.summary, maxLength: 200 })}
${field({
  kind: "select",
  name: "license",
  label: "Licence",
  hint: "What others may do with it. Without one they may read it, no more.",
  value: input.license,
  options: [
    { value: NO_LICENSE, label: "None: all rights reserved" },
    ...SPDX.map((value) => ({ value, label: value })),
    { value: OTHER, label: "Another, named below" },
  ],
})}
${field({ kind: "text", name: "license_other", label: "Another licence", value: input.licenseOther, maxLength: 100 })}
${field({ kind: "text", name: "tags", label: "Tags", hint: `Languages, frameworks, tools; at most ${MAX_TAGS}, with commas between.`, value: input.tags, maxLength: 400, placeholder: "typescript, react" })}`;
  const chosen = html`${field({
    kind: "checkboxes",
    name: "path",
    label: "Files",
    hint: "Of the repository’s current brain. Files of packs that you installed are not ticked.",
    options: files
      .filter((file) => judgeSource(file.path) === undefined)
      .map((one) => ({ value: one.path, label: one.path, hint: `${one.kind}, ${bytes(one.bytes)}` })),
    values: input.paths,
  })}${notOffered(files.map((one) => one.path))}`;
  return form({
    action,
    csrf,
    wrong,
    hidden: { repo: input.repo, step: "preview" },
    fields: html`${chosen}
${about}
${field({ kind: "textarea", name: "readme", label: "README", hint: "Markdown: what the rules are about, where they come from.", value: input.readme, rows: 8, mono: true })}`,
    submit: "Preview",
  });
}
