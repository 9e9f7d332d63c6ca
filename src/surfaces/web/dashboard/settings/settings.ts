import { html } from "../../../../kit/html.ts";
import { shellWord } from "../../../../kit/strings.ts";
import { page } from "../../../../platform/http/page.ts";
import { listKeys } from "../../../../platform/keys/keys.ts";
import { storageFacts } from "../../../../share/maintenance/maintenance.ts";
import { codeBlock, columns, facts, section } from "../../ui/parts.ts";
import { bytes, number, time } from "../../ui/units.ts";
import type { ByOperator } from "../shared/call.ts";
import { type AddressWarning, judgeArrival } from "./address.ts";
import { limitPages } from "./limits.ts";
import { settingsFrame } from "./parts.ts";
import { accountPagesOfAll } from "./people.ts";
import { ssoSettingsPages } from "./sso.ts";
import { teamPages } from "./teams.ts";

/** The installation, for who runs it: how it is reached, where its data lies, how to keep it. */

function installationPage(call: ByOperator) {
  const { core } = call;
  const storage = storageFacts(core);
  const { size, root } = storage.ledgerHead;
  const warnings = judgeArrival({
    peer: call.peer,
    forwardedFor: call.header("x-forwarded-for"),
    forwardedHost: call.header("x-forwarded-host"),
    forwardedProto: call.header("x-forwarded-proto"),
    host: call.header("host"),
    referer: call.header("referer"),
    baseUrl: call.baseUrl,
    trustedProxies: core.config.trustedProxies,
  });
  const body = html`${warnings.map(warning)}
${columns(
  section({
    title: "How it is reached",
    framed: true,
    body: facts([
      { label: "Base URL", value: call.baseUrl },
      { label: "Listens on", value: `${core.config.host} port ${core.config.port}` },
      { label: "Your address", value: call.ip() },
      { label: "Comes from", value: cameFrom(call) },
      { label: "Trusted proxies", value: core.config.trustedProxies.join(", ") || "none" },
      { label: "Metrics", value: core.config.metrics ?? "off" },
    ]),
  }),
  section({
    title: "Storage",
    framed: true,
    body: facts([
      { label: "Directory", value: html`<code>${storage.directory}</code>` },
      { label: "Database", value: bytes(storage.databaseBytes) },
      { label: "Write-ahead log", value: bytes(storage.walBytes) },
      { label: "Free space", value: bytes(storage.freeBytes) },
      { label: "Signing key", value: html`${signingKeyAge(call)}<code>reckon key rotate</code> makes a new one` },
      { label: "Program", value: `Reckon ${storage.program}, schema ${storage.schema}` },
      {
        label: "Ledger head",
        value: html`<code>${number(size)}:${root.toString("hex").slice(0, 16)}…</code>`,
      },
    ]),
  }),
)}
${section({
  id: "backups",
  title: "Backups",
  intro: "A backup is one file: the database and the signing keys. It is made while the server runs.",
  body: html`${codeBlock(`reckon backup /safe/place/reckon-$(date +%F).db --data ${shellWord(storage.directory)}`, { label: "Make a backup", titled: true })}
${codeBlock("reckon restore FILE --verify", { label: "Prove that it would restore; changes nothing", titled: true })}
${codeBlock(`reckon doctor --data ${shellWord(storage.directory)}`, { label: "Examine the data directory", titled: true })}
${codeBlock(`reckon ledger verify --anchor ${size}:${root.toString("hex")} --data ${shellWord(storage.directory)}`, { label: "Prove later that nothing up to now was changed; note this line elsewhere", titled: true })}`,
})}`;
  return settingsFrame(call, { title: "Settings", intro: "This installation. Only operators see these pages.", body });
}

function signingKeyAge({ core }: ByOperator) {
  const key = listKeys(core).find(({ retiredAt }) => retiredAt === null);
  return key && html`made ${time(key.createdAt, core.clock.now())}; `;
}

function cameFrom({ peer, ip, header }: ByOperator) {
  if (peer !== ip()) return `the proxy at ${peer}`;
  return header("x-forwarded-for") === null ? "you directly" : "a proxy that is not trusted";
}

const warning = ({ intro, setting }: AddressWarning) =>
  html`<div class="flash warn" role="status"><p>${intro}</p><p>Set <code>${setting}</code> and restart.</p></div>`;

export const settingsPages = [
  page({ id: "settings", method: "GET", path: "/settings", access: "operator" }, (call) => installationPage(call)),
  ...teamPages,
  ...accountPagesOfAll,
  ...limitPages,
  ...ssoSettingsPages,
];
