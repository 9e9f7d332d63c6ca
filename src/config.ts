import { BlockList, isIP } from "node:net";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { cidrList } from "./kit/address.ts";
import { MAX_UNPACKED_BYTES } from "./kit/blocks.ts";
import { readTextFile } from "./kit/bounded-text.ts";
import type { Quota } from "./kit/buckets.ts";
import { type Egress, type MailServer, mailServer, readEgress, senderAddress } from "./kit/egress.ts";
import { LAKE_SETTINGS } from "./kit/lake-settings.ts";
import { LOG_LEVELS } from "./kit/log.ts";
import { type Setting, setting } from "./kit/setting.ts";
import { baseUrl, every, headerName, hostPort, listenHost, oneOf, quota, text, whole } from "./kit/setting-values.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** A refusal to start for a reason the operator can mend; the message names the variable and a value that works. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const limit = (env: string, count: number, description: string) =>
  setting<Quota | null>({ env, fallback: { count, seconds: 60 }, shown: `${count}/60`, description, read: quota });
const size = (env: string, fallback: number, description: string) =>
  setting<number>({ env, fallback, description, read: whole(1, 1024 * MIB) });
/** Of texts that are sealed as they came: twice as large, because what stands for a secret may be longer, they still fit into a block. */
const sealedSize = (env: string, fallback: number, description: string) =>
  setting<number>({ env, fallback, description, read: whole(1, MAX_UNPACKED_BYTES / 2) });

/** Every setting with its default: `--help`, the documentation's table and the reader below all walk this list. */
export const SETTINGS = {
  data: setting<string>({
    env: "RECKON_DATA",
    flag: "--data",
    fallback: "./data",
    description: "directory that holds the database, the signing key and backups",
    read: text,
  }),
  host: setting<string>({
    env: "RECKON_HOST",
    flag: "--host",
    fallback: "127.0.0.1",
    description: "address to listen on",
    read: listenHost,
  }),
  port: setting<number>({
    env: "RECKON_PORT",
    flag: "--port",
    fallback: 4870,
    description: "port to listen on; 0 takes a free one",
    read: whole(0, 65535),
  }),
  baseUrl: setting<string | null>({
    env: "RECKON_BASE_URL",
    flag: "--base-url",
    fallback: null,
    shown: "http://HOST:PORT",
    description: "public address, sub-path included; every URL we emit begins with it",
    read: baseUrl,
  }),
  trustedProxies: setting<readonly string[]>({
    env: "RECKON_TRUSTED_PROXIES",
    flag: "--trusted-proxies",
    fallback: [],
    shown: "none",
    description: "comma-separated CIDR list; only from these peers is X-Forwarded-For believed",
    read: cidrList,
  }),
  adminEmail: setting<string | null>({
    env: "RECKON_ADMIN_EMAIL",
    fallback: null,
    shown: "none",
    description: "e-mail address of the first operator, whose account is made while there is none",
    read: text,
  }),
  adminPassword: setting<string | null>({
    env: "RECKON_ADMIN_PASSWORD",
    fallback: null,
    secret: true,
    shown: "none",
    description: "password of the first operator",
    read: text,
  }),
  licenseDays: setting<number>({
    env: "RECKON_LICENSE_DAYS",
    fallback: 30,
    description: "lifetime of a licence in days, capped by the paid period and its grace",
    read: whole(1, 3650),
  }),
  signing: setting<"on" | "off">({
    env: "RECKON_SIGNING",
    fallback: "on",
    description: "off: no key is made or read, and no licence is signed",
    read: oneOf(["on", "off"] as const),
  }),
  billing: setting<"on" | "off">({
    env: "RECKON_BILLING",
    fallback: "on",
    description: "off: nobody pays here, and teams are shown neither licences nor seats",
    read: oneOf(["on", "off"] as const),
  }),
  log: setting<(typeof LOG_LEVELS)[number]>({
    env: "RECKON_LOG",
    fallback: "info",
    description: `lowest level that is logged: ${LOG_LEVELS.join(", ")}`,
    read: oneOf(LOG_LEVELS),
  }),
  metrics: setting<string | null>({
    env: "RECKON_METRICS",
    fallback: null,
    shown: "off",
    description: "HOST:PORT of a separate listener for Prometheus text",
    read: hostPort,
  }),
  outbound: setting<Egress>({
    env: "RECKON_OUTBOUND",
    fallback: { hosts: [], private: false },
    shown: "nothing",
    description:
      "comma-separated HOST[:PORT] that may be called; `*.HOST` for all names below HOST, `+private` for private addresses",
    read: (raw) => {
      const egress = readEgress(raw);
      return "unreadable" in egress
        ? { wrong: `"${egress.unreadable}" is not HOST, HOST:PORT, *.HOST or +private` }
        : { value: egress };
    },
  }),
  smtpUrl: setting<MailServer | null>({
    env: "RECKON_SMTP_URL",
    fallback: null,
    shown: "none",
    description: "mail server: smtp://USER@HOST:587 (STARTTLS, required) or smtps://USER@HOST:465",
    read: mailServer,
  }),
  smtpPassword: setting<string | null>({
    env: "RECKON_SMTP_PASSWORD",
    fallback: null,
    secret: true,
    shown: "none",
    description: "password of the mail server's user",
    read: text,
  }),
  mailFrom: setting<string | null>({
    env: "RECKON_MAIL_FROM",
    fallback: null,
    shown: "reckon@HOST of the base URL",
    description: "address that mail comes from",
    read: senderAddress,
  }),
  proxySignIn: setting<string | null>({
    env: "RECKON_PROXY_SIGN_IN",
    fallback: null,
    shown: "off",
    description: "header in which a trusted proxy names who is signed in, by e-mail address, e.g. X-Forwarded-Email",
    read: headerName,
  }),
  passwords: setting<"all" | "operators">({
    env: "RECKON_PASSWORDS",
    fallback: "all",
    description: "who may sign in with a password: all, or operators only, while everybody else uses single sign-on",
    read: oneOf(["all", "operators"] as const),
  }),
  limitExchange: limit("RECKON_LIMIT_EXCHANGE", 10, "refused connect exchanges that an address may make"),
  limitSignIn: limit("RECKON_LIMIT_SIGN_IN", 20, "wrong passwords an address may try, over all accounts"),
  limitSso: limit("RECKON_LIMIT_SSO", 60, "single sign-ons an address may begin, and come back from"),
  limitDeviceCode: limit("RECKON_LIMIT_DEVICE_CODE", 20, "device authorizations an address may start"),
  limitDeviceToken: limit("RECKON_LIMIT_DEVICE_TOKEN", 240, "device authorization polls of an address"),
  limitRequestIntake: limit("RECKON_LIMIT_REQUEST_INTAKE", 10, "product requests an address may file"),
  limitRequestStatus: limit("RECKON_LIMIT_REQUEST_STATUS", 60, "times an address may ask what became of requests"),
  limitRead: limit("RECKON_LIMIT_READ", 60, "reads through a read token"),
  limitReadDaily: setting<number>({
    env: "RECKON_LIMIT_READ_DAILY",
    fallback: 1_000,
    description: "reads a day through a read token",
    read: whole(1, 1_000_000_000),
  }),
  limitApi: limit("RECKON_LIMIT_API", 300, "requests with an API token"),
  limitScim: limit("RECKON_LIMIT_SCIM", 1_500, "requests with a SCIM token"),
  limitTelemetry: limit("RECKON_LIMIT_TELEMETRY", 600, "telemetry batches of a team"),
  limitBrain: limit("RECKON_LIMIT_BRAIN", 120, "brain snapshots of a team"),
  limitTraces: limit("RECKON_LIMIT_TRACES", 300, "trace batches of a team"),
  limitInflation: limit(
    "RECKON_LIMIT_INFLATION",
    32 * MIB,
    "bytes that a device's compressed bodies may inflate to, beyond 20 times their size",
  ),
  maxTelemetryEntries: size("RECKON_MAX_TELEMETRY_ENTRIES", 1_000, "entries in a telemetry batch"),
  maxTelemetryBytes: sealedSize("RECKON_MAX_TELEMETRY_BYTES", 4 * MIB, "bytes of a telemetry batch, inflated"),
  maxTelemetryPayloadBytes: size("RECKON_MAX_TELEMETRY_PAYLOAD_BYTES", 64 * KIB, "bytes of one entry's payload"),
  maxBrainFiles: size("RECKON_MAX_BRAIN_FILES", 500, "files in a brain snapshot"),
  maxBrainFileBytes: sealedSize(
    "RECKON_MAX_BRAIN_FILE_BYTES",
    MIB + 4 * KIB,
    "bytes of one brain file, a publisher's cut-off footer included",
  ),
  maxBrainSnapshotBytes: size("RECKON_MAX_BRAIN_SNAPSHOT_BYTES", 8 * MIB, "bytes of a brain snapshot"),
  maxTraceSessions: size("RECKON_MAX_TRACE_SESSIONS", 200, "sessions in a trace batch"),
  maxTraceSpans: size("RECKON_MAX_TRACE_SPANS", 20_000, "spans in a trace batch"),
  maxTraceLabels: size("RECKON_MAX_TRACE_LABELS", 20_000, "labels in a trace batch"),
  maxTraceBytes: sealedSize("RECKON_MAX_TRACE_BYTES", 8 * MIB, "bytes of a trace batch"),
  sealAfterHours: setting<number>({
    env: "RECKON_SEAL_AFTER_HOURS",
    fallback: 24,
    description:
      "hours without a new entry after which the rest of a telemetry stream is compressed; likewise for spans of sessions",
    read: whole(1, 87_600),
  }),
  backupEvery: setting<number | null>({
    env: "RECKON_BACKUP_EVERY",
    fallback: null,
    shown: "off",
    description: "how often the server makes a backup by itself and verifies it, e.g. 24h",
    read: every,
  }),
  backupKeep: setting<number>({
    env: "RECKON_BACKUP_KEEP",
    fallback: 7,
    description: "how many of these backups are kept; the oldest goes once a newer one is verified",
    read: whole(1, 1_000),
  }),
  backupDir: setting<string | null>({
    env: "RECKON_BACKUP_DIR",
    fallback: null,
    shown: "backups/ in the data directory",
    description: "directory for these backups; it must exist",
    read: text,
  }),
  ...LAKE_SETTINGS,
  maxConnections: size("RECKON_MAX_CONNECTIONS", 4_096, "sockets held open at once"),
  workers: setting<number>({
    env: "RECKON_WORKERS",
    fallback: availableParallelism() > 1 ? availableParallelism() : 0,
    shown: "cores; 0 where there is one",
    description: "threads that read large bodies; 0: the thread that answers requests reads them, in slices",
    read: whole(0, 64),
  }),
  maxWalBytes: size("RECKON_MAX_WAL_BYTES", 256 * MIB, "bytes of write-ahead log above which a warning is logged"),
} as const;

/** The settings of one run, decided and frozen. */
export type Config = {
  readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
};

/** Settings of the command line, as typed. */
export type Settings = Partial<Record<keyof typeof SETTINGS, string>>;

/**
 * Decides the configuration: flags, then environment, then defaults. An empty variable counts as unset.
 * @throws ConfigError naming the first variable or flag that cannot be understood.
 */
export function readConfig(flags: Settings, env: Readonly<Record<string, string | undefined>>): Config {
  const decided: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(SETTINGS) as [keyof typeof SETTINGS, Setting<unknown>][]) {
    const flag = flags[name];
    // An unset variable of the shell gives an empty flag. To act elsewhere than meant would be worse than not at all.
    if (flag === "") throw new ConfigError(`${row.flag} is empty: leave it out, or give it a value`);
    const raw = flag ?? fromEnvironment(row.env, env);
    if (raw === undefined || raw === "") {
      decided[name] = row.fallback;
      continue;
    }
    const read = row.read(raw);
    if ("wrong" in read) throw new ConfigError(`${flag === undefined ? row.env : row.flag} ${read.wrong}`);
    decided[name] = read.value;
  }
  if (decided.proxySignIn !== null && (decided.trustedProxies as readonly string[]).length === 0)
    throw new ConfigError(
      "RECKON_PROXY_SIGN_IN needs RECKON_TRUSTED_PROXIES: the header is believed from these proxies only",
    );
  const { lake, lakeAccessKeyId, lakeSecretAccessKey } = decided as unknown as Config;
  if (lake?.kind === "s3" && (lakeAccessKeyId === null || lakeSecretAccessKey === null))
    throw new ConfigError(
      "RECKON_LAKE names a bucket, which needs RECKON_LAKE_ACCESS_KEY_ID and RECKON_LAKE_SECRET_ACCESS_KEY",
    );
  decided.data = resolve(decided.data as string);
  return Object.freeze(decided) as unknown as Config;
}

/** Reads a variable, or the file that `NAME_FILE` names (how containers hand over secrets). */
function fromEnvironment(name: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const file = env[`${name}_FILE`];
  if (!env[name] && file) {
    try {
      return readTextFile(file, 64 * KIB).trim();
    } catch (error) {
      throw new ConfigError(`${name}_FILE: ${(error as Error).message}`);
    }
  }
  return env[name];
}

/** The ranges from which forwarded addresses are believed, as a set that answers `check(address, family)`. */
export function proxyRanges(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", prefix] = range.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
