import { getCACertificates, setDefaultCACertificates } from "node:tls";

/** Reaching a server of ours from another machine: its address, whom its certificate is from, and why it does not answer. */

/** Whether a host name as `URL` has it is this machine's own: what is sent there needs no encryption. */
export const isLoopback = (hostname: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);

/**
 * Reads a server's address that may be sent to: https, or http on this machine alone.
 * @param insecure whether http to other machines is allowed
 * @param remedy what the message suggests where that would help
 * @throws Error saying what is wrong with it
 */
export function readServerUrl(
  text: string,
  insecure = false,
  remedy = "use https, or --insecure where the network is trusted",
): string {
  let url: URL;
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  } catch {
    throw new Error(`"${text}" is not the address of a server`);
  }
  if (url.protocol !== "https:" && !(url.protocol === "http:" && (isLoopback(url.hostname) || insecure)))
    throw new Error(`${url.protocol}//${url.host} would send everything unencrypted: ${remedy}`);
  if (url.username || url.password) throw new Error("the address holds a password: leave it out");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** Repeats a request with the certificates that the system trusts, when those that come with Node do not suffice. */
export async function trusting(request: () => Promise<Response>): Promise<Response> {
  try {
    return await request();
  } catch (error) {
    if (whyUntrusted(causeOf(error).code) !== undefined && trustSystem()) return request();
    throw error;
  }
}

interface Cause {
  readonly code?: string;
  readonly message?: string;
  readonly cause?: Cause;
}

/** The first cause of an error of `fetch`: behind a proxy it lies below another. */
function causeOf(error: unknown): Cause {
  const { cause } = error as Cause;
  return cause ? causeOf(cause) : (error as Cause);
}

const UNTRUSTED = /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_UNTRUSTED|UNABLE_TO_VERIFY)/;

/** What to do when a certificate is not trusted. @param code Node's error code @returns undefined for all other errors */
export const whyUntrusted = (code: string | undefined): string | undefined =>
  UNTRUSTED.test(code ?? "")
    ? `the server's certificate is not trusted (${code}): set NODE_EXTRA_CA_CERTS to the authority's file`
    : undefined;

/** Adds the certificates that the operating system trusts: a company's own authority is among them. @returns false when it did nothing new */
function trustSystem(): boolean {
  const known = getCACertificates("default");
  const all = [...new Set([...known, ...getCACertificates("system")])];
  if (all.length === known.length) return false;
  setDefaultCACertificates(all);
  return true;
}

/** What OpenSSL says of an answer that is no record of TLS, such as one in plain HTTP. */
const NOT_TLS = /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/;

/**
 * Whether the connection was cut before the whole reply had come: the server may have done what was asked.
 * @param error what `fetch` threw
 */
export const isCut = (error: unknown): boolean =>
  /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test(causeOf(error).code ?? "");

/** What Node says of a proxy that leads nowhere. */
const PROXY_REFUSES = /^Proxy (?:response|Authentication Required) \((\d{3})\)/;

/** @returns undefined where no proxy is the reason */
function whyNotThrough(message: string | undefined): string | undefined {
  // `fetch` has no words where what answers is a proxy that nobody named (Fetch standard, HTTP-network-or-cache fetch, step for 407).
  const status = message === "" ? "407" : PROXY_REFUSES.exec(message ?? "")?.[1];
  if (status === "407")
    return "a proxy on the way wants a sign-in (407): its name and password belong into the address in HTTPS_PROXY";
  return status && `the proxy that HTTPS_PROXY names does not lead there (${status})`;
}

/** Why nobody answered, for a person. @param error what `fetch` threw */
export function whyUnreached(error: unknown): string {
  const { code, message } = causeOf(error);
  if (/^(?:Timeout|Abort)Error$/.test((error as Error).name)) return "the server does not answer";
  if (isCut(error)) return "the connection was cut before the server had answered";
  if (code === "ECONNREFUSED") return "nothing listens at the server's address";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "the server's name is not known here";
  const untrusted = whyUntrusted(code);
  if (untrusted !== undefined) return untrusted;
  if (NOT_TLS.test(code ?? "")) return "what answers there does not speak TLS: is its address http:// or another port?";
  return whyNotThrough(message) ?? message ?? String(error);
}
