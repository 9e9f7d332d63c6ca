import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { sameDigest, sha256 } from "../../kit/hash.ts";

/**
 * Passkeys: verifies what a browser's authenticator signs (Web Authentication Level 3). No attestation is asked for: the make of an
 * authenticator does not matter here.
 */

/** The site that a passkey belongs to. */
export interface RelyingParty {
  /** As browsers compare it: `https://reckon.example.com`. */
  readonly origin: string;
  /** The host. */
  readonly id: string;
}

/** A browser's message about a new passkey; each member in base64url. */
export interface Registration {
  readonly credentialId: string;
  readonly clientData: string;
  readonly authenticatorData: string;
  /** The public key as SPKI, in DER. */
  readonly publicKey: string;
}

/** A browser's message about the use of a passkey; each member in base64url. */
export interface Assertion {
  readonly credentialId: string;
  readonly clientData: string;
  readonly authenticatorData: string;
  readonly signature: string;
}

export interface RegisteredKey {
  readonly credentialId: Buffer;
  /** SPKI, in DER. */
  readonly publicKey: Buffer;
  readonly signCount: number;
}

const MAX_PART_CHARS = 8_192;
const MAX_ID_BYTES = 1_023;
const RP_ID_HASH_BYTES = 32;
const USER_PRESENT = 0x01;
const ATTESTED = 0x40;
/** Offset of the length of the credential's id, after hash, flags, counter and the authenticator's model (section 6.1). */
const ID_LENGTH_AT = 53;
/** Keys whose signatures are accepted: P-256, Ed25519, RSA of 2048 bits and more. */
const KEY_TYPES = new Set(["ec", "ed25519", "rsa"]);
const MIN_RSA_BITS = 2_048;

const bytesOf = (text: string): Buffer | undefined =>
  text.length > 0 && text.length <= MAX_PART_CHARS && /^[\w-]+$/.test(text)
    ? Buffer.from(text, "base64url")
    : undefined;

/** Whether the browser answered our challenge, on our origin (sections 7.1 and 7.2, steps on client data). */
function isOurs(clientData: Buffer, type: string, challenge: string, { origin }: RelyingParty): boolean {
  try {
    const said = JSON.parse(clientData.toString("utf8")) as Record<string, unknown>;
    return said.type === type && said.challenge === challenge && said.origin === origin && said.crossOrigin !== true;
  } catch {
    return false;
  }
}

interface AuthenticatorData {
  readonly flags: number;
  readonly signCount: number;
}

function readAuthenticatorData(data: Buffer, { id }: RelyingParty): AuthenticatorData | undefined {
  if (data.length < RP_ID_HASH_BYTES + 5) return undefined;
  if (!sameDigest(data.subarray(0, RP_ID_HASH_BYTES), sha256(id))) return undefined;
  const flags = data[RP_ID_HASH_BYTES] as number;
  return (flags & USER_PRESENT) === 0 ? undefined : { flags, signCount: data.readUInt32BE(RP_ID_HASH_BYTES + 1) };
}

function readKey(der: Buffer): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
    if (!KEY_TYPES.has(key.asymmetricKeyType ?? "")) return undefined;
    if (key.asymmetricKeyType === "ec" && namedCurve !== "prime256v1") return undefined;
    return key.asymmetricKeyType === "rsa" && modulusLength < MIN_RSA_BITS ? undefined : key;
  } catch {
    return undefined;
  }
}

/** Judges a new passkey (section 7.1). @param challenge base64url @returns undefined when it is not accepted */
export function verifyRegistration(
  sent: Registration,
  challenge: string,
  party: RelyingParty,
): RegisteredKey | undefined {
  const [credentialId, clientData, authenticatorData, publicKey] = [
    sent.credentialId,
    sent.clientData,
    sent.authenticatorData,
    sent.publicKey,
  ].map(bytesOf);
  if (!credentialId || !clientData || !authenticatorData || !publicKey || credentialId.length > MAX_ID_BYTES)
    return undefined;
  const read = readAuthenticatorData(authenticatorData, party);
  if (!read || (read.flags & ATTESTED) === 0 || !isOurs(clientData, "webauthn.create", challenge, party))
    return undefined;
  if (authenticatorData.length < ID_LENGTH_AT + 2) return undefined;
  const end = ID_LENGTH_AT + 2 + authenticatorData.readUInt16BE(ID_LENGTH_AT);
  if (!authenticatorData.subarray(ID_LENGTH_AT + 2, end).equals(credentialId)) return undefined;
  return readKey(publicKey) && { credentialId, publicKey, signCount: read.signCount };
}

/**
 * Judges the use of a passkey (section 7.2).
 * @returns its new count of signatures; undefined when it is not accepted, also when a copy signs beside the original
 */
export function verifyAssertion(
  sent: Assertion,
  { publicKey, signCount }: Pick<RegisteredKey, "publicKey" | "signCount">,
  challenge: string,
  party: RelyingParty,
): number | undefined {
  const [clientData, authenticatorData, signature] = [sent.clientData, sent.authenticatorData, sent.signature].map(
    bytesOf,
  );
  const key = readKey(publicKey);
  if (!clientData || !authenticatorData || !signature || !key) return undefined;
  const read = readAuthenticatorData(authenticatorData, party);
  if (!read || !isOurs(clientData, "webauthn.get", challenge, party)) return undefined;
  const signed = Buffer.concat([authenticatorData, sha256(clientData)]);
  if (!verify(key.asymmetricKeyType === "ed25519" ? null : "sha256", signed, key, signature)) return undefined;
  const counts = read.signCount !== 0 || signCount !== 0;
  return counts && read.signCount <= signCount ? undefined : read.signCount;
}
