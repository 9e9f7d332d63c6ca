import { type Content, type Html, html } from "../../../../kit/html.ts";
import { shellWord } from "../../../../kit/strings.ts";
import { page } from "../../../../platform/http/page.ts";
import { actButton } from "../../ui/confirm.ts";
import { CODE_PLACE } from "../../ui/connect-line.ts";
import { codeBlock, pageHead, section, tabs } from "../../ui/parts.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { choice, readParams } from "../shared/params.ts";
import { askAnAdmin, exchangeCommand, mayConnect } from "./connect.ts";

/** How agents report by themselves, over OpenTelemetry: the lines for each, with this server's address in them. */

export const OTEL_PATH = "/devices/opentelemetry";

/** What stands in the place of a token in files, where no variable is read. */
const TOKEN_PLACE = "THE-TOKEN";

/** A file of an agent's, whole. */
interface Setup {
  readonly label: string;
  readonly text: string;
}

interface Agent {
  readonly id: string;
  readonly name: string;
  /** What to do on one machine. */
  readonly own: (baseUrl: string) => readonly Setup[];
  /** What to lay on the machines of a fleet; absent where the agent knows of no such thing. */
  readonly managed?: (baseUrl: string) => readonly Setup[];
  readonly says: Content;
  readonly managedSays?: Content;
}

const SHELL = "In the shell's profile";

/** What every exporter reads. */
const exporter = (baseUrl: string): string[] => [
  `export OTEL_EXPORTER_OTLP_ENDPOINT=${shellWord(baseUrl)}`,
  "export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
  `export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20$RECKON_DEVICE_TOKEN"`,
];

const shell = (...lines: readonly string[]): Setup => ({ label: SHELL, text: lines.join("\n") });
const json = (value: unknown) => JSON.stringify(value, null, 2);

const codexToml = (baseUrl: string): string => `[otel]
log_user_prompt = true
exporter = { otlp-http = { endpoint = ${JSON.stringify(`${baseUrl}/v1/logs`)}, protocol = "json", headers = { authorization = "Bearer ${TOKEN_PLACE}" } } }`;

const AGENTS: readonly Agent[] = [
  {
    id: "claude-code",
    name: "Claude Code",
    own: (baseUrl) => [
      shell(
        ...exporter(baseUrl),
        "export CLAUDE_CODE_ENABLE_TELEMETRY=1 OTEL_LOGS_EXPORTER=otlp",
        "export OTEL_LOG_USER_PROMPTS=1 OTEL_LOG_TOOL_DETAILS=1",
      ),
    ],
    managed: (baseUrl) => [
      {
        label: "/etc/claude-code/managed-settings.json",
        text: json({
          env: {
            CLAUDE_CODE_ENABLE_TELEMETRY: "1",
            OTEL_LOGS_EXPORTER: "otlp",
            OTEL_LOG_USER_PROMPTS: "1",
            OTEL_LOG_TOOL_DETAILS: "1",
            OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
            OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl,
            OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${TOKEN_PLACE}`,
          },
        }),
      },
    ],
    says: html`The last line sends prompts, tools’ input and commits.`,
    managedSays: html`People cannot override it. On macOS it lies below <code>/Library/Application Support/ClaudeCode/</code>, on Windows below <code>C:\\Program Files\\ClaudeCode\\</code>.`,
  },
  {
    id: "codex",
    name: "Codex",
    own: (baseUrl) => [{ label: "~/.codex/config.toml", text: codexToml(baseUrl) }],
    managed: (baseUrl) => [{ label: "/etc/codex/config.toml", text: codexToml(baseUrl) }],
    says: html`It reads no variables: the token stands in the file. Without <code>log_user_prompt</code> prompts stay on the machine.`,
  },
  {
    id: "gemini-cli",
    name: "Gemini CLI",
    own: (baseUrl) => [
      shell(
        exporter(baseUrl)[2] as string,
        "export GEMINI_TELEMETRY_ENABLED=true GEMINI_TELEMETRY_TARGET=local GEMINI_TELEMETRY_OTLP_PROTOCOL=http",
        `export GEMINI_TELEMETRY_OTLP_ENDPOINT=${shellWord(baseUrl)}`,
      ),
    ],
    managed: (baseUrl) => [
      {
        label: "/etc/gemini-cli/settings.json",
        text: json({ telemetry: { enabled: true, target: "local", otlpProtocol: "http", otlpEndpoint: baseUrl } }),
      },
    ],
    says: html`The header is read from the environment alone, managed or not. Prompts are sent unless <code>GEMINI_TELEMETRY_LOG_PROMPTS=false</code>.`,
  },
  {
    id: "copilot-cli",
    name: "Copilot CLI",
    own: (baseUrl) => [shell(...exporter(baseUrl), "export COPILOT_OTEL_ENABLED=true")],
    says: html`It sends its model calls and tools as spans.`,
  },
  {
    id: "opencode",
    name: "opencode",
    own: (baseUrl) => [
      shell(...exporter(baseUrl), "export OTEL_BSP_SCHEDULE_DELAY=200"),
      { label: "opencode.json", text: json({ experimental: { openTelemetry: true } }) },
    ],
    says: html`When it exits it drops the calls that it has not sent: the last line has it send them at once.`,
  },
  {
    id: "others",
    name: "Others",
    own: (baseUrl) => [shell(...exporter(baseUrl))],
    says: html`Whatever has OpenTelemetry’s conventions for generative AI (<code>gen_ai.*</code>), OpenInference or Vercel’s AI SDK. There is no gRPC.`,
  },
];

const [FIRST] = AGENTS as [Agent, ...Agent[]];

function otelPage(call: Member): Html {
  const { baseUrl, href, query } = call;
  const { agent: id } = readParams({ agent: choice(AGENTS.map((one) => one.id)) }, query);
  const agent = AGENTS.find((one) => one.id === id) ?? FIRST;
  const blocks = (list: readonly Setup[]) =>
    list.map(({ label, text }) => codeBlock(text, { label, titled: true, wrap: true }));
  const managed = agent.managed?.(baseUrl);
  const main = html`${pageHead({
    title: "Without installing anything",
    intro: html`Agents export what they do over OpenTelemetry. Edited lines are not in it: <a href="${href("/docs/otlp")}">what becomes of it</a>.`,
    crumbs: [{ label: "Devices", href: href("/devices") }, { label: "OpenTelemetry" }],
  })}
${section({
  title: "A token for the machine",
  intro: mayConnect(call) ? "A connect code becomes one, good for 90 days." : askAnAdmin(call),
  actions: mayConnect(call) && actButton(call, { action: "/devices/codes", label: "Make a code", look: "primary" }),
  body: html`<div class="stack">${codeBlock(exchangeCommand(baseUrl, CODE_PLACE), { label: "Trade the code", titled: true, wrap: true })}${codeBlock("export RECKON_DEVICE_TOKEN=rkd_…", { label: "With its deviceToken", titled: true })}</div>`,
})}
${tabs(
  "Agents",
  AGENTS.map((one) => ({
    label: one.name,
    href: href(`${OTEL_PATH}?agent=${one.id}`),
    current: one === agent,
  })),
)}
${section({ title: "One machine", intro: agent.says, body: html`<div class="stack">${blocks(agent.own(baseUrl))}</div>` })}
${
  managed &&
  section({
    title: "A fleet",
    intro: html`With one token all machines are one device, with a token each they are told apart. ${agent.managedSays}`,
    body: html`<div class="stack">${blocks(managed)}</div>`,
  })
}`;
  return frame(call, { title: "Without installing anything", main });
}

export const otelPages = [
  page({ id: "openTelemetry", method: "GET", path: OTEL_PATH, access: "member", narrows: true }, otelPage),
];
