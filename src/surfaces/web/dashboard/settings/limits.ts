import { SETTINGS } from "../../../../config.ts";
import { type Egress, egressText } from "../../../../kit/egress.ts";
import { type Content, html } from "../../../../kit/html.ts";
import { type LakePlace, lakeText } from "../../../../kit/lake-place.ts";
import { page } from "../../../../platform/http/page.ts";
import { type Column, table } from "../../ui/list.ts";
import { badge, section } from "../../ui/parts.ts";
import { bytes, duration, number, plural } from "../../ui/units.ts";
import type { ByOperator } from "../shared/call.ts";
import { settingsFrame } from "./parts.ts";

/** Every setting in force. They are read at the start, so the page shows and does not change them. */

type Name = keyof typeof SETTINGS;

const names = Object.keys(SETTINGS) as Name[];
const isQuota = (name: Name) => name.startsWith("limit");
/** Larger requests are refused. */
const isSize = (name: Name) => /^max(?:Telemetry|Brain|Trace)/.test(name);

const GROUPS: readonly { title: string; intro: string; holds: (name: Name) => boolean }[] = [
  {
    title: "Server",
    intro: "Flags of reckon serve come first, then variables, then defaults.",
    holds: (name) => !isQuota(name) && !isSize(name),
  },
  { title: "Quotas", intro: "COUNT/SECONDS, or off. Requests beyond that are answered 429.", holds: isQuota },
  { title: "Sizes", intro: "Larger requests are answered 413. Nothing of them is kept.", holds: isSize },
];

function shown(name: Name, value: unknown): Content {
  if ("secret" in SETTINGS[name]) return value === null ? "not set" : "set, not shown";
  if (value === null) return isQuota(name) ? "off" : "not set";
  if (Array.isArray(value)) return value.join(", ") || "none";
  if (name === "lake") return lakeText(value as LakePlace);
  if (name === "outbound") return egressText(value as Egress);
  if (typeof value === "object") {
    if (!("count" in value)) return "set";
    const { count, seconds } = value as { count: number; seconds: number };
    return `${number(count)} in ${plural(seconds, "second")}`;
  }
  if (typeof value !== "number") return String(value);
  if (name.endsWith("Every")) return duration(value);
  if (name.endsWith("Bytes")) return html`${bytes(value)} <small>${number(value)} B</small>`;
  return name === "port" ? String(value) : number(value);
}

function defaultOf(name: Name): Content {
  const row = SETTINGS[name];
  return row.shown !== undefined && !isQuota(name) ? row.shown : shown(name, row.fallback);
}

/** A description as the documentation has it: what stands between backticks is code. */
const marked = (description: string): Content =>
  description.split("`").map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part));

function limitsPage(call: ByOperator) {
  const { config } = call.core;
  const isDefault = (name: Name) => JSON.stringify(config[name]) === JSON.stringify(SETTINGS[name].fallback);
  const columns: Column<Name>[] = [
    {
      label: "Setting",
      heading: true,
      grow: true,
      cell: (name) => html`<code>${SETTINGS[name].env}</code><br><small>${marked(SETTINGS[name].description)}</small>`,
    },
    {
      label: "In force",
      cell: (name) => html`${shown(name, config[name])}${!isDefault(name) && html` ${badge("info", "set here")}`}`,
    },
    { label: "Default", cell: defaultOf },
  ];
  const body = GROUPS.map(({ title, intro, holds }) =>
    section({
      title,
      intro,
      body: table({ caption: title, columns, rows: names.filter(holds) }),
    }),
  );
  return settingsFrame(call, {
    title: "Configuration",
    intro: "What this server was started with. A change takes a restart.",
    body,
  });
}

export const limitPages = [
  page({ id: "settingsLimits", method: "GET", path: "/settings/limits", access: "operator" }, (call) =>
    limitsPage(call),
  ),
];
