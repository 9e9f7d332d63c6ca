import type { Socket } from "node:net";
import { isIP } from "node:net";
import { type Core, slot } from "../../core.ts";
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

/** Mails that are kept in mind; one that is forgotten, as by a process that ends, goes to all once more. */
const MAX_PARTLY_TAKEN = 1_000;

/** By a mail's id whom it was taken for, where others of its addresses were refused for now. */
const partlyTaken = slot(() => new Map<string, readonly string[]>());

/** Where mail comes from, unless RECKON_MAIL_FROM says it. */
function senderOf({ config }: Core): string {
  const { hostname } = new URL(baseUrlOf(config));
  return config.mailFrom ?? `reckon@${isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? hostname : "localhost"}`;
}

/**
 * Hands a mail over to the mail server, for whom it did not take it before.
 * @returns what the server said, and whether some are to be tried again: a server that does not know a sender yet refuses each address
 *   once (RFC 6647)
 * @throws OutboundRefused before anything is sent; OutboundFailed when it is not taken
 */
export async function sendMail(core: Core, mail: Mail, signal: AbortSignal): Promise<Taken> {
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

async function converse(core: Core, mail: Mail, socket: Socket, ends: AbortSignal): Promise<Taken> {
  const { smtpUrl, smtpPassword } = core.config;
  if (smtpUrl === null) throw new Error("no mail server");
  // Loaded with the first mail: a server that sends none neither starts later nor is larger for it.
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection");
  const raw = await compose(core, mail);
  const before = partlyTaken(core).get(mail.messageId) ?? [];
  const to = mail.to.filter((address) => !before.includes(address));
  if (to.length === 0) return { text: "taken", isForAll: true };
  const { host, port, implicitTls, user } = smtpUrl;
  const { promise, resolve, reject } = Promise.withResolvers<Taken>();
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
    connection.send({ from: senderOf(core), to }, raw, (error, info) => {
      if (error) reject(error);
      else resolve(readReply(core, mail, before, info ?? {}));
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

/** A mail that the server took for some of those whom it is to. */
interface Taken {
  readonly text: string;
  readonly isForAll: boolean;
}

interface Reply {
  readonly response?: unknown;
  readonly accepted?: readonly string[] | undefined;
  readonly rejectedErrors?: readonly { readonly responseCode?: number | undefined }[] | undefined;
}

function readReply(core: Core, { to, messageId }: Mail, before: readonly string[], reply: Reply): Taken {
  const { response = "taken", accepted = [], rejectedErrors = [] } = reply;
  const isForAll = rejectedErrors.every(({ responseCode = 0 }) => responseCode >= 500);
  const known = partlyTaken(core);
  known.delete(messageId);
  if (!isForAll) known.set(messageId, [...before, ...accepted]);
  for (const oldest of known.keys()) if (known.size > MAX_PARTLY_TAKEN) known.delete(oldest);
  const refused =
    rejectedErrors.length === 0
      ? ""
      : `${rejectedErrors.length} of ${to.length} addresses refused (${reasonOf(rejectedErrors[0]).slice(0, 100)}); `;
  return { text: unnamed(`${refused}${response}`, to), isForAll };
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
    .replace(/; if the root CA is installed .*/, ": set NODE_EXTRA_CA_CERTS to the authority's file")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, 200)
    .toWellFormed();
}
