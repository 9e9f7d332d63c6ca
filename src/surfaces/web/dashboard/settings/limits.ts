import { SETTINGS } from "../../../../config.ts";
import { type Content, html } from "../../../../kit/html.ts";
import { page } from "../../../../platform/http/page.ts";
import { badge } from "../../ui/badge.ts";
import { section } from "../../ui/section.ts";
import { table } from "../../ui/table.ts";
import { bytes, number, plural } from "../../ui/units.ts";
import { type ByOperator, settingsFrame } from "./parts.ts";

/** Every setting in force. They are read at the start, so the page shows and does not change them. */

type Name = keyof typeof SETTINGS;

/** Never shown, whatever they hold. */
const SECRET: ReadonlySet<Name> = new Set(["adminPassword"]);

const names = Object.keys(SETTINGS) as Name[];
const isQuota = (name: Name) => name.startsWith("limit");
const isSize = (name: Name) => name.startsWith("max");

const GROUPS: readonly { title: string; says: string; holds: (name: Name) => boolean }[] = [
  {
    title: "Server",
    says: "Flags of reckon serve come first, then variables, then defaults.",
    holds: (name) => !isQuota(name) && !isSize(name),
  },
  { title: "Quotas", says: "COUNT/SECONDS, or off. Whoever draws more is answered 429.", holds: isQuota },
  { title: "Sizes", says: "What is larger is answered 413. Nothing of it is kept.", holds: isSize },
];

function shown(name: Name, value: unknown): Content {
  if (SECRET.has(name)) return value === null ? "not set" : "set, not shown";
  if (value === null) return isQuota(name) ? "off" : "not set";
  if (Array.isArray(value)) return value.join(", ") || "none";
  if (typeof value === "object") {
    const { count, seconds } = value as { count: number; seconds: number };
    return `${number(count)} in ${plural(seconds, "second")}`;
  }
  if (typeof value !== "number") return String(value);
  if (name.endsWith("Bytes")) return html`${bytes(value)} <small>${number(value)} B</small>`;
  return name === "port" ? String(value) : number(value);
}

function defaultOf(name: Name): Content {
  const row = SETTINGS[name];
  return "shown" in row && row.shown !== undefined && !isQuota(name) ? row.shown : shown(name, row.fallback);
}

function limitsPage(call: ByOperator) {
  const { config } = call.core;
  const row = (name: Name) => {
    const same = JSON.stringify(config[name]) === JSON.stringify(SETTINGS[name].fallback);
    const { env, description } = SETTINGS[name];
    return [
      html`<code>${env}</code><br><small>${description}</small>`,
      html`${shown(name, config[name])}${!same && html` ${badge("info", "set here")}`}`,
      defaultOf(name),
    ];
  };
  const body = GROUPS.map(({ title, says, holds }) =>
    section({
      title,
      says,
      body: table({
        caption: title,
        columns: [{ label: "Setting", heading: true, grow: true }, { label: "In force" }, { label: "Default" }],
        rows: names.filter(holds).map(row),
        empty: "",
      }),
    }),
  );
  return settingsFrame(call, {
    title: "Configuration",
    says: "What this server was started with. A change takes a restart.",
    body,
  });
}

export const limitPages = [
  page({ id: "settingsLimits", method: "GET", path: "/settings/limits", access: "operator" }, (call) =>
    limitsPage(call),
  ),
];
