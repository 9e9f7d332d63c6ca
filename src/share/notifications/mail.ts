import type { Socket } from "node:net";
import { isIP } from "node:net";
import type { Core } from "../../core.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { judgeMailHost, OutboundFailed, OutboundRefused, openSocket } from "../../platform/outbound/outbound.ts";
import type { Said } from "./words.ts";

/** Mail, as plain text, by SMTP with TLS. */

const TOTAL_MS = 20_000;

interface Mail extends Said {
  readonly to: readonly string[];
  /** The same for each try. */
  readonly messageId: string;
  readonly at: number;
}

/** Where mail comes from, unless RECKON_MAIL_FROM says it. */
function senderOf({ config }: Core): string {
  const { hostname } = new URL(baseUrlOf(config));
  return config.mailFrom ?? `reckon@${isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? hostname : "localhost"}`;
}

/**
 * Hands a mail over to the mail server.
 * @returns what the server said
 * @throws OutboundRefused before anything is sent; OutboundFailed when it is not taken
 */
export async function sendMail(core: Core, mail: Mail, signal: AbortSignal): Promise<string> {
  const { smtpUrl } = core.config;
  if (smtpUrl === null) throw new OutboundRefused("RECKON_SMTP_URL names no mail server.");
  const destination = judgeMailHost(core, smtpUrl.host, smtpUrl.port);
  const ends = AbortSignal.any([AbortSignal.timeout(TOTAL_MS), signal]);
  let socket: Socket | undefined;
  try {
    socket = await openSocket(core, destination, ends);
    return await converse(core, mail, socket, ends);
  } catch (error) {
    if (error instanceof OutboundRefused) throw error;
    const reason = ends.aborted ? "the mail server did not answer in time" : reasonOf(error);
    throw new OutboundFailed(unnamed(reason, mail.to), { cause: error });
  } finally {
    socket?.destroy();
  }
}

async function converse(core: Core, mail: Mail, socket: Socket, ends: AbortSignal): Promise<string> {
  const { smtpUrl, smtpPassword } = core.config;
  if (smtpUrl === null) throw new Error("no mail server");
  // Loaded with the first mail: a server that sends none neither starts later nor is larger for it.
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection");
  const raw = await compose(core, mail);
  const { host, port, implicitTls, user } = smtpUrl;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const connection = new SMTPConnection({
    connection: socket,
    host: host.replace(/^\[|\]$/g, ""),
    port,
    secure: implicitTls,
    requireTLS: true,
    name: new URL(baseUrlOf(core.config)).hostname,
    tls: { rejectUnauthorized: true, minVersion: "TLSv1.2" },
    maxResponseSize: 64 * 1024,
    socketCloseTimeout: 0,
  });
  connection.on("error", reject);
  connection.on("end", () => reject(new Error("the connection broke off")));
  ends.addEventListener("abort", () => reject(new Error("too slow")));
  const send = () =>
    connection.send({ from: senderOf(core), to: [...mail.to] }, raw, (error, info) => {
      if (error) reject(error);
      else resolve(takenText(info ?? {}, mail.to));
    });
  connection.connect((error) => {
    if (error) reject(error);
    else if (user === undefined) send();
    else connection.login({ user, pass: smtpPassword ?? "" }, (refused) => (refused ? reject(refused) : send()));
  });
  try {
    return await promise;
  } finally {
    connection.close();
  }
}

async function compose(core: Core, { to, title, lines, url, messageId, at }: Mail): Promise<Buffer> {
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const from = senderOf(core);
  const mime = new MailComposer({
    from: { name: "Reckon", address: from },
    to: to.map((address) => ({ name: "", address })),
    subject: `[Reckon] ${title}`,
    text: `${[title, "", ...lines, "", url].join("\n")}\n`,
    messageId: `<${messageId}@${from.split("@").at(-1)}>`,
    date: new Date(at),
    headers: { "Auto-Submitted": "auto-generated" },
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  return mime.build();
}

interface Taken {
  readonly response?: unknown;
  /** The addresses that were refused, and with what. */
  readonly rejected?: readonly unknown[] | undefined;
  readonly rejectedErrors?: readonly unknown[] | undefined;
}

/** What the server said of a mail that it took for some of those whom it is to. */
function takenText({ response = "taken", rejected = [], rejectedErrors = [] }: Taken, to: readonly string[]): string {
  const refused =
    rejected.length === 0
      ? ""
      : `${rejected.length} of ${to.length} addresses refused (${reasonOf(rejectedErrors[0] ?? "").slice(0, 100)}); `;
  return unnamed(`${refused}${response}`, to);
}

/** A server's reply may name whom a mail is to. It is kept, and erasing a person takes their address out of the channel alone. */
function unnamed(text: string, to: readonly string[]): string {
  const names = to.map((address) => RegExp.escape(address)).join("|");
  return text.replace(new RegExp(names, "gi"), "…");
}

/** What went wrong, in one line: the server's own reply where there is one. */
function reasonOf(error: unknown): string {
  const { response, code, message } = error as { response?: unknown; code?: unknown; message?: unknown };
  const text = typeof response === "string" ? response : `${code ?? ""} ${message ?? error}`;
  return text
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, 200)
    .toWellFormed();
}
