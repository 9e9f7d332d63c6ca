import { posix } from "node:path";

/** A document that ships with the program and is read on the site. */
export interface Doc {
  /** Names it in addresses: `/docs/SLUG`. */
  readonly slug: string;
  /** Under docs/. */
  readonly file: string;
  /** One sentence, for the index and for agents that choose what to read. */
  readonly summary: string;
  /** Its commands name the address of a first start; here they name this installation's. */
  readonly localized?: boolean;
}

export interface DocGroup {
  readonly title: string;
  readonly docs: readonly Doc[];
}

/** The documentation in the order of its navigation. */
export const DOC_GROUPS: readonly DocGroup[] = [
  {
    title: "Use it",
    docs: [
      {
        slug: "capture",
        file: "capture.md",
        summary:
          "The capture client: what it reads and sends, what never leaves the machine, its commands, and what to do when nothing comes.",
        localized: true,
      },
      {
        slug: "otlp",
        file: "otlp.md",
        summary:
          "OpenTelemetry: what agents export by themselves, the variables for each agent and for a fleet, and what becomes of it.",
        localized: true,
      },
      {
        slug: "git-ai",
        file: "git-ai.md",
        summary: "Git AI: its notes kept here, how to set it up, and the prompt of any line of a commit.",
        localized: true,
      },
      {
        slug: "dashboard",
        file: "dashboard.md",
        summary: "The pages for people: accounts and roles, signing in, read tokens, command-line tools.",
      },
      {
        slug: "sso",
        file: "sso.md",
        summary:
          "Single sign-on by OpenID Connect: adding an issuer, what groups mean here, and what is refused and why.",
        localized: true,
      },
      {
        slug: "defects",
        file: "defects.md",
        summary: "Errors files: how to write their entries, what is counted of them, and the briefing for agents.",
      },
      {
        slug: "causes",
        file: "causes.md",
        summary: "Which prompt, session and commit a defect or a line of code came from, and how sure that is.",
      },
      {
        slug: "spend",
        file: "spend.md",
        summary: "What agents used and what it costs: which usages count, the prices, and your own.",
      },
      {
        slug: "marketplace",
        file: "marketplace.md",
        summary: "Brain packs: publishing, installing and checking them, and how their trust is ranked.",
        localized: true,
      },
      {
        slug: "redaction",
        file: "redaction.md",
        summary: "Which secrets are found in what agents send, and what becomes of them.",
      },
    ],
  },
  {
    title: "Build on it",
    docs: [
      {
        slug: "using-the-api",
        file: "api.md",
        summary:
          "The HTTP API in use: a device's life, telemetry, the brain, traces, sign-in for tools, with examples.",
        localized: true,
      },
      {
        slug: "read-api",
        file: "read-api.md",
        summary: "Reading sessions, entries, errors, devices, deliveries and spend with an API token, page by page.",
      },
      {
        slug: "mcp",
        file: "mcp.md",
        summary:
          "The Model Context Protocol: one line for each coding agent, the tools, what a token reads by them, and what is recorded.",
        localized: true,
      },
      {
        slug: "testing-agents",
        file: "testing-agents.md",
        summary:
          "A local instance with every credential, in which each state and failure can be brought about at will.",
      },
      {
        slug: "faults",
        file: "generated/faults.md",
        summary: "Every way in which a request can be refused, with status, code, shape and the operations that do.",
      },
    ],
  },
  {
    title: "Run it",
    docs: [
      {
        slug: "install",
        file: "install.md",
        summary: "Installing a release on each platform, and checking who made it and from what.",
      },
      {
        slug: "fleet",
        file: "fleet.md",
        summary: "Connecting many machines: codes for a fleet, managed settings, timers, updates, proxies, removal.",
        localized: true,
      },
      {
        slug: "operate",
        file: "operate.md",
        summary: "Running the server: reverse proxy, service, backup and restore, upgrades, installers, health.",
      },
      {
        slug: "sizing",
        file: "sizing.md",
        summary: "How large a machine has to be: disk, memory and times by developers, and when the next step is due.",
      },
      {
        slug: "remote",
        file: "remote.md",
        summary:
          "The command line from another machine: tokens that administer, which commands take which, what is recorded.",
      },
      {
        slug: "replicate",
        file: "replicate.md",
        summary:
          "A replica by Litestream, in a directory or S3: keys, a nightly check, and going on from it elsewhere.",
      },
      {
        slug: "lake",
        file: "lake.md",
        summary: "The record as Parquet in a directory or S3: tables, and how DuckDB, ClickHouse and Spark ask them.",
      },
      {
        slug: "move",
        file: "move.md",
        summary:
          "Moving a team to another server under load, with its part of the log; what devices and people notice.",
      },
      {
        slug: "monitoring",
        file: "monitoring.md",
        summary: "Figures for Prometheus and what each means, alert rules, and a board for Grafana.",
      },
      {
        slug: "notifications",
        file: "notifications.md",
        summary:
          "Webhooks, chats and mail: events with their payloads, signatures, retries, and what may leave the server.",
      },
      {
        slug: "retention",
        file: "retention.md",
        summary: "How long data is kept, holds, erasing people and what they sent, what remains, and exports.",
      },
      {
        slug: "configuration",
        file: "generated/configuration.md",
        summary: "Every setting with its default: flags, environment variables, quotas and size limits.",
      },
      {
        slug: "security",
        file: "security.md",
        summary: "What is protected against whom, what is not, and the life of every credential.",
      },
      {
        slug: "proofs",
        file: "proofs.md",
        summary:
          "Proofs for auditors: checking one, witnessing the log from elsewhere, the formats, with openssl and Go.",
      },
      {
        slug: "air-gap",
        file: "air-gap.md",
        summary: "Licences without a network: minting, carrying and checking them, with openssl alone if need be.",
      },
    ],
  },
];

export const DOCS: readonly Doc[] = DOC_GROUPS.flatMap(({ docs }) => docs);

/** Files that documents link to and that the site serves elsewhere. */
const ELSEWHERE: Readonly<Record<string, string>> = { "generated/openapi.json": "/openapi.json" };

/**
 * Where a relative link of a document leads on the site.
 * @param from the file that holds the link, under docs/
 * @returns a path of the site or a fragment; undefined when the site has no such page
 */
export function resolveDocLink(from: string, link: string): string | undefined {
  if (link.startsWith("#")) return link;
  const [path = "", fragment] = link.split("#", 2);
  const file = posix.normalize(posix.join(posix.dirname(from), path));
  const doc = DOCS.find((one) => one.file === file);
  const target = doc ? `/docs/${doc.slug}` : ELSEWHERE[file];
  return target && (fragment === undefined ? target : `${target}#${fragment}`);
}
